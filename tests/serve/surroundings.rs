//! The proxy's environment: the terminal closes, the clock is wrong, files and threads are limited.
#![cfg(target_os = "linux")]

use crate::client::{get, post};
use crate::proxy::{Folder, Proxy, another, recording, wrapped};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use std::fs::{File, OpenOptions};
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Command, Stdio};

const INGEST: &str = "/v1/ingest/claude-code";

/// A terminal: the end that the window holds, and the end of the programs in it.
fn terminal() -> (OwnedFd, File) {
    let window = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
    grantpt(&window).unwrap();
    unlockpt(&window).unwrap();
    let name = ptsname(&window, Vec::new()).unwrap();
    let inside = OpenOptions::new().read(true).write(true).open(Path::new(name.to_str().unwrap())).unwrap();
    (window, inside)
}

/// A command that runs its arguments in the terminal on its standard input. It resets SIGHUP, in case the caller ignores it.
fn terminal_session() -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=HUP", "setsid", "--ctty"]);
    command
}

/// A proxy in a separate terminal; `through` is the command that starts it there.
fn in_terminal(through: &[&str], settings: &[(&str, &str)]) -> (OwnedFd, Proxy) {
    let (window, inside) = terminal();
    let mut command = terminal_session();
    command.args(through);
    let command = wrapped(&mut command, settings);
    command.stdin(inside.try_clone().unwrap()).stderr(inside);
    (window, Proxy::started_as_is(command))
}

#[test]
fn the_proxy_stops_with_its_terminal_and_releases_the_port() {
    let (window, mut proxy) = in_terminal(&[], &[]);
    assert_eq!(get(proxy.address, "/healthz", &[]).status, 200);
    drop(window);
    assert!(proxy.wait().success(), "the proxy must drain");
    assert!(TcpStream::connect(proxy.address).is_err());
}

#[test]
fn in_a_terminal_sighup_without_a_hangup_reloads_the_configuration() {
    let folder = Folder::new();
    let config = folder.write("config.toml", "[telemetry]\nfilter = \"info\"\n");
    let (window, inside) = terminal();
    let log = File::create(folder.path("log")).unwrap();
    let mut command = terminal_session();
    let command = wrapped(&mut command, &[]);
    command.args(["--config", &config]).stdin(inside).stderr(log);
    let mut proxy = Proxy::started_as_is(command);
    proxy.signal("HUP");
    folder.wait_for("log", "the configuration was reloaded");
    assert_eq!(get(proxy.address, "/healthz", &[]).status, 200);
    // A shell that exits signals its jobs while its terminal still exists.
    proxy.signal("HUP");
    drop(window);
    assert!(proxy.wait().success());
    folder.wait_for("log", "the terminal was closed");
}

#[test]
fn under_nohup_the_proxy_outlives_its_terminal() {
    let folder = Folder::new();
    let config = folder.write("config.toml", "[telemetry]\nfilter = \"info\"\n");
    let (window, inside) = terminal();
    let log = File::create(folder.path("log")).unwrap();
    let mut command = Command::new("setsid");
    command.args(["--ctty", "nohup"]);
    let command = wrapped(&mut command, &[]);
    command.args(["--config", &config]).stdin(inside).stderr(log);
    let mut proxy = Proxy::started_as_is(command);
    drop(window);
    proxy.signal("HUP");
    folder.wait_for("log", "the configuration was reloaded");
    assert_eq!(get(proxy.address, "/healthz", &[]).status, 200);
    assert!(proxy.left().is_none() && proxy.terminate().success());
}

/// A library that makes programs see a different time; `None` if there is no C compiler.
fn wrong_clock(folder: &Folder) -> Option<String> {
    let source = folder.write(
        "clock.c",
        "#define _GNU_SOURCE\n#include <time.h>\n#include <stdlib.h>\n#include <unistd.h>\n#include <sys/syscall.h>\n\
         int clock_gettime(clockid_t id, struct timespec *t) {\n\
         long r = syscall(SYS_clock_gettime, id, t);\n\
         const char *at = getenv(\"WRONG_SECONDS\");\n\
         if (id == CLOCK_REALTIME && at) t->tv_sec = atoll(at);\n  return (int)r;\n}\n",
    );
    let library = folder.path("clock.so").to_str().unwrap().to_owned();
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o", &library, &source]).status();
    made.is_ok_and(|status| status.success()).then_some(library)
}

#[test]
fn a_wrong_clock_affects_only_dates() {
    let folder = Folder::new();
    let Some(library) = wrong_clock(&folder) else { return };
    let bytes = recording("claude-code", "text_plain.ndjson");
    // A day before 1970, the beginning of 1970, the end of 9998, 9999 and 10000, and the year 33658.
    for seconds in ["-86400", "0", "253370764799", "253402300799", "253433836799", "1000000000000"] {
        let settings = [("LD_PRELOAD", &*library), ("WRONG_SECONDS", seconds)];
        let name = format!("log{seconds}");
        let proxy = Proxy::logging_to(&folder.path(&name), &settings);
        for _ in 0..2 {
            let answer = get(proxy.address, "/healthz", &[]);
            assert_eq!(answer.status, 200, "{seconds}");
            let date = answer.header("date").to_owned();
            assert!(date.is_empty() || date.ends_with(" GMT"), "{seconds}: {date}");
        }
        let made = post(proxy.address, INGEST, &[], &bytes).json();
        let run = made["runs"][0]["run_id"].as_str().unwrap_or_else(|| panic!("{seconds}: {made:#}"));
        for contract in framegate_translators::contracts::names_with_schemas() {
            let accept = [("accept", "application/x-ndjson")];
            let text = get(proxy.address, &format!("/v1/runs/{run}/events?contract={contract}"), &accept).text();
            assert!(text.lines().count() > 2, "{seconds} {contract}: {text}");
        }
        let status = get(proxy.address, &format!("/v1/runs/{run}"), &[]).json();
        assert_eq!(status["validation_failures"], serde_json::json!({}), "{seconds}: {status:#}");
        assert!(!folder.read(&name).contains("panicked"), "{}", folder.read(&name));
    }
}

#[test]
fn a_file_size_limit_ends_an_ingest_and_not_the_proxy() {
    // The position of the limit in a file determines what SQLite sees: a truncated write, or a refused one.
    for limit in [3_000_000, 2_999_999, 3_002_368, 3_145_728] {
        let folder = Folder::new();
        let database = folder.path("log.db").to_str().unwrap().to_owned();
        let log = File::create(folder.path("log")).unwrap();
        let mut command = Command::new("prlimit");
        command.arg(format!("--fsize={limit}")).stderr(log);
        let settings = [("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", &*database)];
        let mut proxy = Proxy::started_by(&mut command, &settings);
        let bytes = || another("claude-code", "bash_large.ndjson");
        let mut statuses = Vec::new();
        while statuses.len() < 400 && statuses.last().is_none_or(|status| *status == 201) {
            assert!(proxy.left().is_none(), "the signal ended the proxy after {} ingests", statuses.len());
            statuses.push(post(proxy.address, INGEST, &[], &bytes()).status);
        }
        assert_eq!(*statuses.last().unwrap(), 507, "{limit}: {statuses:?}\n{}", folder.read("log"));
        // The error stays the same on later attempts.
        for _ in 0..5 {
            let answer = post(proxy.address, INGEST, &[], &bytes());
            let status = answer.status;
            assert_eq!(status, 507, "{limit}: {}", answer.text());
        }
        assert!(proxy.left().is_none() && get(proxy.address, "/healthz", &[]).status == 200);
        let runs = get(proxy.address, "/v1/runs", &[]).json();
        let run = runs["data"].as_array().unwrap().last().unwrap()["run_id"].as_str().unwrap();
        let events = get(proxy.address, &format!("/v1/runs/{run}/events?contract=sse.v1"), &[]).events();
        assert!(events.len() > 3, "stored runs must be readable");
    }
}

#[test]
fn too_few_threads_are_reported_at_the_start() {
    // The limit does not apply to root, so it is tested as another user, who may not be able to execute the program.
    let other = ["--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let exe = env!("CARGO_BIN_EXE_framegate");
    let may = Command::new("setpriv").args(other).args([exe, "--version"]).stdout(Stdio::null()).status();
    if !may.is_ok_and(|status| status.success()) {
        return;
    }
    let mut command = Command::new("setpriv");
    command.args(other).args(["prlimit", "--nproc=4"]);
    let output = wrapped(&mut command, &[]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("threads") && said.contains("TasksMax=") && !said.contains("panicked"), "{said}");
}
