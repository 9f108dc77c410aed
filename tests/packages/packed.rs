//! The packages, made once for all tests of this program by `packaging/release.sh`, and what every installed framegate must do.

use crate::client::{Upload, get};
use crate::proxy::{Folder, Proxy, recording};
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// A recording, and options that make its translation a function of it.
const TRANSLATE: [&str; 10] = [
    "translate",
    "--from",
    "claude-code",
    "--to",
    "sse.v1",
    "--run-id",
    "01980000-0000-7000-8000-000000000001",
    "--epoch-ms",
    "1795293610721",
    "tests/fixtures/claude-code/bash_ok.partial.ndjson",
];

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

pub fn text(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The Rust target of this machine. Cargo's binary needs the C library of the system, unlike a released one.
pub fn target() -> String {
    format!("{}-unknown-linux-gnu", std::env::consts::ARCH)
}

/// An empty folder that stays, for packages to look at after the tests.
pub fn lasting_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The result of a command.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// Runs a command with an input until it exits.
pub fn ran_with(command: &mut Command, input: &str) -> Ran {
    let command = command.current_dir(root()).env_remove("FRAMEGATE_LOG").env("NO_COLOR", "1");
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    // A command that reads no input closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

pub fn ran(command: &mut Command) -> Ran {
    ran_with(command, "")
}

/// Runs a command that must succeed; returns what it printed.
#[track_caller]
pub fn succeeds(command: &mut Command) -> String {
    let ran = ran(command);
    assert_eq!(ran.code, Some(0), "{command:?}: {ran:#?}");
    ran.out
}

/// The folder of the packages, with the binary that cargo built.
pub fn dist() -> &'static Path {
    static DIST: OnceLock<PathBuf> = OnceLock::new();
    DIST.get_or_init(|| {
        let binaries = lasting_folder("binaries");
        let binary = binaries.join(target()).join("framegate");
        fs::create_dir_all(binary.parent().unwrap()).unwrap();
        succeeds(Command::new("strip").arg("-o").arg(&binary).arg(env!("CARGO_BIN_EXE_framegate")));
        // The debug information of a build for tests is large, and says nothing about the packages.
        fs::write(binary.with_extension("debug"), "the debug information").unwrap();
        let dist = lasting_folder("dist");
        let script = root().join("packaging/release.sh");
        // The lowest level is the fastest.
        succeeds(Command::new(script).arg(binaries).arg(&dist).env("COMPRESSION_LEVEL", "1"));
        dist
    })
}

/// The package whose name begins and ends so.
#[track_caller]
pub fn package(begin: &str, end: &str) -> PathBuf {
    let files = fs::read_dir(dist()).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = files
        .filter(|path| {
            path.file_name().unwrap().to_str().is_some_and(|name| name.starts_with(begin) && name.ends_with(end))
        })
        .collect();
    assert_eq!(found.len(), 1, "{begin}…{end}: {found:?}");
    found.remove(0)
}

/// Fails unless `program` does what the binary itself does: output, input, exit codes, signals.
pub fn is_framegate(program: &dyn Fn() -> Command) {
    let said = succeeds(program().arg("--version"));
    assert_eq!(said, format!("framegate {VERSION}\n"));
    let expected = succeeds(Command::new(env!("CARGO_BIN_EXE_framegate")).args(TRANSLATE));
    assert!(expected.contains("run_completed"), "{expected}");
    assert_eq!(succeeds(program().args(TRANSLATE)), expected);
    let found = ran_with(program().args(["check", "--contract", "sse.v1", "-"]), "{}\n");
    assert!(found.code == Some(1) && found.out.contains("start.missing"), "{found:#?}");
    let missing = ran(program().args(["check", "--contract", "sse.v1", "no-such-file"]));
    assert!(missing.code == Some(2) && missing.err.contains("no-such-file"), "{missing:#?}");

    // Signals reach the proxy, and its exit code comes back.
    for signal in ["INT", "TERM"] {
        let folder = Folder::new();
        let mut proxy = serve(program, &folder);
        assert_eq!(get(proxy.address, "/healthz", &[]).status, 200);
        proxy.signal("HUP");
        folder.wait_for("log", "the configuration was reloaded");
        proxy.signal(signal);
        assert_eq!(proxy.wait().code(), Some(0), "{signal}");
        assert!(TcpStream::connect(proxy.address).is_err(), "the proxy is still running after SIG{signal}");
    }
}

/// Starts the proxy; `log` in the folder gets its log lines.
pub fn serve(program: &dyn Fn() -> Command, folder: &Folder) -> Proxy {
    let mut command = program();
    command.args(["serve", "--listen", "127.0.0.1:0", "--log", "info"]).env("FRAMEGATE__LOG__KIND", "memory");
    // Long enough for a test to see that the proxy waits.
    command.env("FRAMEGATE__SERVER__SHUTDOWN_GRACE_MS", "30000");
    let log = fs::File::create(folder.path("log")).unwrap();
    command.current_dir(std::env::temp_dir()).stderr(log);
    Proxy::started_as_is(&mut command)
}

/// An ingest that keeps a proxy from stopping until it has ended.
pub fn open_ingest(proxy: &Proxy) -> Upload {
    let bytes = recording("claude-code", "bash_ok.partial.ndjson");
    let end = bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let mut upload = Upload::start(proxy.address, "/v1/ingest/claude-code", &[]);
    upload.send(&bytes[..end]);
    let deadline = Instant::now() + Duration::from_secs(20);
    while !get(proxy.address, "/v1/runs", &[]).json()["data"][0].is_object() {
        assert!(Instant::now() < deadline, "no run");
        std::thread::sleep(Duration::from_millis(10));
    }
    upload
}
