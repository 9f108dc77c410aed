//! A proxy of its own for each test, on a port that the system chooses.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
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
        Self::started(command(settings).stderr(log))
    }

    fn started(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit("://").next().and_then(|address| address.parse().ok());
        let address = address.unwrap_or_else(|| panic!("no address in {line:?}"));
        Self { child, address }
    }

    /// The same, with its log lines in a file.
    pub fn logging_to(log: &Path, settings: &[(&str, &str)]) -> Self {
        let log = std::fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        Self::started(command(settings).stderr(log))
    }

    /// The same, by a configuration file.
    pub fn configured_by(config: &str, log: &Path) -> Self {
        Self::configured_with(config, log, &[])
    }

    /// The same, and settings on top.
    pub fn configured_with(config: &str, log: &Path, settings: &[(&str, &str)]) -> Self {
        let log = std::fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        Self::started(command(settings).args(["--config", config]).stderr(log))
    }

    /// Sends it a signal: `HUP`, `TERM`.
    pub fn signal(&self, name: &str) {
        let kill = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status().unwrap();
        assert!(kill.success());
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks it to stop, and waits until it has.
    pub fn terminate(&mut self) -> std::process::ExitStatus {
        self.signal("TERM");
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
    refused(&mut command(settings))
}

/// The same, by a configuration file, with settings on top.
#[cfg(feature = "otel")]
pub fn refusal_of(config: &str, settings: &[(&str, &str)]) -> String {
    refused(command(settings).args(["--config", config]))
}

fn refused(command: &mut Command) -> String {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(!child.wait().unwrap().success(), "it started: {text}");
    text
}

pub fn recording(runner: &str, name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(runner).join(name);
    std::fs::read(path).unwrap()
}

/// A folder of a test's own; gone when dropped.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("framegate-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file, and gives its path as text.
    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        // Whole or not at all, as whoever reads it meanwhile expects.
        let new = self.path(".part");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, &path).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Waits until a file has that text.
    pub fn wait_for(&self, name: &str, text: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let read = self.read(name);
            if read.contains(text) {
                return read;
            }
            assert!(Instant::now() < deadline, "{name} never says {text:?}:\n{read}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
