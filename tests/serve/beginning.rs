//! How `serve` starts: the address, the location of the log, and which files it leaves if it cannot start.

use crate::client::{get, post};
use crate::proxy::{Folder, Proxy, recording};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::process::{Command, Stdio};

fn serve(folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate"));
    command.arg("serve").args(arguments).current_dir(folder.path("")).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The exit code and the standard error of a proxy that cannot start.
fn refused(folder: &Folder, arguments: &[&str]) -> (Option<i32>, String) {
    let output = serve(folder, arguments).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_start_on_a_taken_port_leaves_no_database() {
    let folder = Folder::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (code, err) = refused(&folder, &["--listen", &address]);
    assert_eq!(code, Some(2), "a retry may succeed: {err}");
    assert!(err.contains("another process listens there"), "{err}");
    let left: Vec<_> = std::fs::read_dir(folder.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn an_unusable_configuration_has_its_own_exit_code() {
    let folder = Folder::new();
    let config = folder.write("own.toml", "[server]\nlistn = \"127.0.0.1:0\"\n");
    for arguments in [
        &["--config", &config][..],
        &["--config", "/no/such/file"],
        &["--listen", "nowhere"],
        &["--listen", "0.0.0.0:0"],
        &["--log", "loud"],
    ] {
        let (code, err) = refused(&folder, arguments);
        assert_eq!(code, Some(78), "{arguments:?}: {err}");
        assert!(err.starts_with("error: "), "{arguments:?}: {err}");
    }
    let unit = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/framegate.service")).unwrap();
    assert!(
        unit.contains("\nRestartPreventExitStatus=78\n") && unit.contains("\nExecReload=/bin/kill -HUP $MAINPID\n")
    );
}

#[test]
fn a_port_alone_listens_on_loopback_and_the_logs_path_is_printed() {
    let folder = Folder::new();
    for listen in ["0", ":0", "localhost:0"] {
        let mut child = serve(&folder, &["--listen", listen]).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let (mut first, mut second) = (String::new(), String::new());
        out.read_line(&mut first).unwrap();
        out.read_line(&mut second).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert!(first.starts_with("framegate listens on http://127.0.0.1:"), "{listen}: {first}{err}");
        let database = folder.path("").canonicalize().unwrap().join("framegate.db");
        assert_eq!(second, format!("Its log is {}\n", database.display()), "{err}");
        assert!(database.exists());
    }
}

#[test]
fn a_limit_selects_a_page_unless_another_form_is_requested() {
    let proxy = Proxy::start();
    let made = post(proxy.address, "/v1/ingest/claude-code", &[], &recording("claude-code", "bash_ok.ndjson")).json();
    let (run, session) = (made["runs"][0]["run_id"].as_str().unwrap(), made["runs"][0]["session_id"].as_str().unwrap());
    for path in [format!("/v1/runs/{run}/events"), format!("/v1/sessions/{session}/events"), "/v1/events".to_owned()] {
        for accept in [&[][..], &[("accept", "*/*")], &[("accept", "application/json")]] {
            let answer = get(proxy.address, &format!("{path}?limit=2&contract=sse.v1"), accept);
            assert_eq!(
                (answer.status, answer.header("content-type")),
                (200, "application/json; contract=sse.v1"),
                "{path}"
            );
            let page: Value = answer.json();
            assert_eq!(page["data"].as_array().unwrap().len(), 2, "{path}: {page:#}");
        }
    }
    let stream = get(proxy.address, &format!("/v1/runs/{run}/events?limit=2"), &[("accept", "text/event-stream")]);
    assert!(stream.header("content-type").starts_with("text/event-stream"));
    let without = get(proxy.address, &format!("/v1/runs/{run}/events"), &[]);
    assert!(without.header("content-type").starts_with("text/event-stream"));
}
