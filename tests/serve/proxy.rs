//! A proxy of its own for each test, on a port that the system chooses.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub struct Proxy {
    child: Child,
    pub address: SocketAddr,
}

impl Proxy {
    /// Starts with the defaults.
    pub fn start() -> Self {
        Self::with(&[])
    }

    /// Starts with settings: pairs of environment variables.
    pub fn with(settings: &[(&str, &str)]) -> Self {
        Self::logging(settings, Stdio::null())
    }

    /// As [`Proxy::with`]; its log lines go to `log`.
    pub fn logging(settings: &[(&str, &str)], log: impl Into<Stdio>) -> Self {
        let mut child = command(settings).stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit("http://").next().and_then(|address| address.parse().ok());
        let address = address.unwrap_or_else(|| panic!("no address in {line:?}"));
        Self { child, address }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to stop, and waits until it has.
    pub fn terminate(&mut self) -> std::process::ExitStatus {
        let kill = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "it did not stop");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(settings: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate"));
    command.arg("serve").env("FRAMEGATE__SERVER__LISTEN", "127.0.0.1:0").stdin(Stdio::null());
    command.env("FRAMEGATE__LOG__KIND", "memory");
    command.current_dir(std::env::temp_dir()).envs(settings.iter().copied());
    command
}

/// Starts a proxy that must refuse to; gives what it says.
pub fn refusal(settings: &[(&str, &str)]) -> String {
    let mut child = command(settings).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(!child.wait().unwrap().success(), "it started: {text}");
    text
}

pub fn recording(runner: &str, name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(runner).join(name);
    std::fs::read(path).unwrap()
}
