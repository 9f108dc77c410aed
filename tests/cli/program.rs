//! Helpers for tests of the command line: ways to run the built binary.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code; not every test uses all"
)]

use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// The result of running the binary.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// Fails unless the exit code is `code`.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    /// Fails unless stderr contains all of these.
    #[track_caller]
    pub fn says(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.err.contains(part), "stderr should have {part:?}: {self:#?}");
        }
        self
    }

    /// Fails unless stdout contains all of these.
    #[track_caller]
    pub fn prints(self, parts: &[&str]) -> Self {
        for part in parts {
            assert!(self.out.contains(part), "stdout should have {part:?}: {self:#?}");
        }
        self
    }

    /// The lines of stdout, parsed.
    pub fn events(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Stdout, parsed.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.err))
    }
}

/// The binary, independent of the environment of the test run.
pub fn binary() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate"));
    command.env_remove("FRAMEGATE_LOG").env("NO_COLOR", "1");
    command
}

/// Runs the binary until it exits.
pub fn run(args: &[&str], input: impl AsRef<[u8]>) -> Ran {
    let mut child =
        binary().args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.as_ref().to_vec();
    // A child that does not read all input closes the pipe.
    let feed = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().unwrap();
    feed.join().unwrap();
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs the binary with a standard output that no process reads; returns the exit code and stderr.
pub fn run_without_reader(args: &[&str]) -> (Option<i32>, String) {
    let mut child =
        binary().args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// A recording of Claude Code.
pub fn recording(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/claude-code").join(name)
}

/// The path of a recording as text.
pub fn path(name: &str) -> String {
    recording(name).to_str().unwrap().to_owned()
}

/// The bytes of a recording.
pub fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(recording(name)).unwrap()
}

/// Events, one on each line.
pub fn ndjson(events: &[Value]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

/// A directory for the files of one test, removed at its end.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    /// Writes a file and returns its path.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// The path of a file that does not exist.
    pub fn missing(&self) -> String {
        self.0.join("missing").to_str().unwrap().to_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
