//! A separate proxy for each test, on a port that the system chooses.

use crate::client::get;
use serde_json::Value;
use std::collections::BTreeSet;
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

    /// Starts with settings, given as environment variables.
    pub fn with(settings: &[(&str, &str)]) -> Self {
        Self::logging(settings, Stdio::null())
    }

    /// As [`Proxy::with`], with log lines sent to `log`.
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

    /// The same, with log lines appended to a file.
    pub fn logging_to(log: &Path, settings: &[(&str, &str)]) -> Self {
        let log = std::fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        Self::started(command(settings).stderr(log))
    }

    /// Starts with arguments of `serve`.
    pub fn with_arguments(arguments: &[&str], settings: &[(&str, &str)]) -> Self {
        Self::started(command(settings).args(arguments).stderr(Stdio::null()))
    }

    /// Starts through another program that executes it: `prlimit`, `setsid`, …
    pub fn started_by(wrapper: &mut Command, settings: &[(&str, &str)]) -> Self {
        Self::started(wrapped(wrapper, settings))
    }

    /// Starts a complete command.
    pub fn started_as_is(command: &mut Command) -> Self {
        Self::started(command)
    }

    /// The exit status; `None` if the process is still running.
    pub fn left(&mut self) -> Option<std::process::ExitStatus> {
        self.child.try_wait().unwrap()
    }

    /// Waits until the process exits on its own.
    pub fn wait(&mut self) -> std::process::ExitStatus {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            if let Some(status) = self.left() {
                return status;
            }
            assert!(Instant::now() < deadline, "the proxy is still running");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Starts with a configuration file; log lines are appended to `log`.
    pub fn configured_by(config: &str, log: &Path) -> Self {
        Self::configured_with(config, log, &[])
    }

    /// The same, with settings on top.
    pub fn configured_with(config: &str, log: &Path, settings: &[(&str, &str)]) -> Self {
        let log = std::fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        Self::started(command(settings).args(["--config", config]).stderr(log))
    }

    /// Sends a signal to the proxy: `HUP`, `TERM`.
    pub fn signal(&self, name: &str) {
        let kill = Command::new("kill").args([&format!("-{name}"), &self.child.id().to_string()]).status().unwrap();
        assert!(kill.success());
    }

    /// Waits until `/readyz` reports the shutdown.
    pub fn wait_until_stopping(&self) {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let answer = get(self.address, "/readyz", &[]);
            if answer.status == 503 {
                assert_eq!(answer.json()["reasons"][0]["code"], "stopping");
                return;
            }
            assert!(Instant::now() < deadline, "the proxy is still ready");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks the proxy to stop, and waits until it has exited.
    pub fn terminate(&mut self) -> std::process::ExitStatus {
        self.signal("TERM");
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < deadline, "the proxy did not stop");
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

/// A command that runs the proxy through `wrapper`.
pub fn wrapped<'c>(wrapper: &'c mut Command, settings: &[(&str, &str)]) -> &'c mut Command {
    let ours = command(settings);
    wrapper.arg(ours.get_program()).args(ours.get_args());
    wrapper.envs(ours.get_envs().filter_map(|(name, value)| Some((name, value?))));
    wrapper.current_dir(std::env::temp_dir())
}

/// Starts a proxy that must refuse to start; returns its message.
pub fn refusal(settings: &[(&str, &str)]) -> String {
    refused(&mut command(settings))
}

/// The same, with a configuration file and settings on top.
pub fn refusal_of(config: &str, settings: &[(&str, &str)]) -> String {
    refused(command(settings).args(["--config", config]))
}

fn refused(command: &mut Command) -> String {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(!child.wait().unwrap().success(), "the proxy started: {text}");
    text
}

pub fn recording(runner: &str, name: &str) -> Vec<u8> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(runner).join(name);
    std::fs::read(path).unwrap()
}

/// The names of recordings in a list of what a runner's `MANIFEST.json` expects.
pub fn expected(runner: &str, list: &str) -> BTreeSet<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(runner).join("MANIFEST.json");
    let manifest: Value = std::fs::read(path).map_or(Value::Null, |text| serde_json::from_slice(&text).unwrap());
    let names = manifest["expected"][list].as_array().into_iter().flatten();
    names.map(|name| name.as_str().unwrap().to_owned()).collect()
}

/// A variant of the recording in which every record is new. Identical records would be stored once.
pub fn another(runner: &str, name: &str) -> Vec<u8> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let text = String::from_utf8(recording(runner, name)).unwrap();
    let number = format!("{{\"another\":{},", NEXT.fetch_add(1, Ordering::Relaxed));
    let text = format!("\n{text}")
        .replace("\n{\"", &format!("\n{number}\""))
        .replace("\ndata: {\"", &format!("\ndata: {number}\""));
    text.trim_start_matches('\n').as_bytes().to_vec()
}

/// A folder for one test, removed when dropped.
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

    /// Writes a file, and returns its path as text.
    pub fn write(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        // Replaced atomically, because the proxy may read it at any time.
        let new = self.path(".part");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, &path).unwrap();
        path.to_str().unwrap().to_owned()
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Waits until a file contains the text.
    pub fn wait_for(&self, name: &str, text: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let read = self.read(name);
            if read.contains(text) {
                return read;
            }
            assert!(Instant::now() < deadline, "{name} does not contain {text:?}:\n{read}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
