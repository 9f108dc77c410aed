//! `framegate view`: a proxy of its own, and a link that works once.

use crate::client::{get, post};
use crate::program::{Scratch, binary, path, run};
use framegate_translators::runners::RUNNERS;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

/// A running `framegate view`.
struct View {
    child: Child,
    address: SocketAddr,
    code: String,
}

impl View {
    /// Starts it, and waits for its link.
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let parts = line.trim().strip_prefix("http://").and_then(|link| link.split_once("/#code="));
        let Some((address, code)) = parts else {
            let mut err = String::new();
            child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
            panic!("no link in {line:?}: {err}");
        };
        Self { address: address.parse().unwrap(), code: code.to_owned(), child }
    }

    fn of(args: &[&str]) -> Self {
        Self::start(binary().arg("view").args(args).stdin(Stdio::null()))
    }

    fn redeem(&self, code: &str) -> (u16, Value) {
        let body = json!({"code": code}).to_string();
        let answer = post(self.address, "/v1/access/redeem", &[], body.as_bytes());
        (answer.status, answer.json())
    }

    /// The header with the token.
    fn enter(&self) -> String {
        let (status, answer) = self.redeem(&self.code);
        assert_eq!(status, 200, "{answer}");
        format!("Bearer {}", answer["token"].as_str().unwrap())
    }

    fn runs(&self, bearer: &str) -> Vec<Value> {
        let listed = get(self.address, "/v1/runs?limit=500", &[("authorization", bearer)]).json();
        listed["data"].as_array().unwrap().clone()
    }

    /// The runs, once there are so many and all are over. The files are read while the page is already served.
    fn ended_runs(&self, bearer: &str, count: usize) -> Vec<Value> {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
        loop {
            let runs = self.runs(bearer);
            if runs.len() >= count && runs.iter().all(|run| run["ended_at_ms"].is_u64()) {
                return runs;
            }
            assert!(std::time::Instant::now() < deadline, "{runs:?}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// Ends it as Ctrl-C does. Returns the exit code and stderr.
    fn end(mut self) -> (Option<i32>, String) {
        let kill = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        let mut err = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (self.child.wait().unwrap().code(), err)
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_code_of_the_link_is_exchanged_for_a_token_once() {
    let view = View::of(&[&path("bash_ok.partial.ndjson")]);
    assert!(view.address.ip().is_loopback());
    assert_eq!(get(view.address, "/", &[]).status, 200);
    assert_eq!(get(view.address, "/v1/runs", &[]).status, 401);
    assert_eq!(get(view.address, "/v1/runs", &[("authorization", &format!("Bearer {}", view.code))]).status, 401);
    assert_eq!(view.redeem("").0, 404);
    assert_eq!(view.redeem(&view.code[1..]).0, 404, "a wrong code does not use up the right one");
    let bearer = view.enter();
    assert!(bearer.len() > 40 && !bearer.contains(&view.code));
    let (status, again) = view.redeem(&view.code);
    assert_eq!(status, 404);
    assert!(again["detail"].as_str().unwrap().contains("used before"), "{again}");
    let runs = view.ended_runs(&bearer, 1);
    assert_eq!((runs.len(), &runs[0]["state"]), (1, &json!("completed")));
    let access = get(view.address, "/v1/access", &[("authorization", &bearer)]).json();
    assert_eq!((&access["tokens_required"], &access["scopes"]), (&json!(true), &json!(["read"])));
    for path in ["/v1/ingest/auto", "/v1/runs", "/v1/responses"] {
        assert_eq!(post(view.address, path, &[("authorization", &bearer)], b"{}").status, 403, "{path}");
    }
    let (code, err) = view.end();
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("bash_ok.partial.ndjson: 1 run"), "{err}");
}

#[test]
fn recordings_of_all_runners_are_shown_together() {
    let scratch = Scratch::new("view-all");
    let files: Vec<String> = RUNNERS.iter().map(|runner| scratch.file(runner.name, runner.sample.bytes)).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let view = View::of(&files);
    let bearer = view.enter();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    let mut seen: Vec<String> = Vec::new();
    // Frames keep the runner of their run.
    while seen.len() < RUNNERS.iter().filter(|runner| !runner.is_of_frames).count() {
        assert!(std::time::Instant::now() < deadline, "{seen:?}");
        std::thread::sleep(std::time::Duration::from_millis(20));
        seen = view.runs(&bearer).iter().map(|run| run["runner"].as_str().unwrap().to_owned()).collect();
        seen.sort();
        seen.dedup();
    }
    let (code, err) = view.end();
    assert_eq!(code, Some(0), "{err}");
}

#[test]
fn a_file_that_is_not_understood_is_reported_and_the_others_are_shown() {
    let scratch = Scratch::new("view-odd");
    let odd = scratch.file("odd.txt", "hello\nworld\n");
    let packed = scratch.file("packed.bz2", b"BZh91AY&SY\n");
    let missing = scratch.missing();
    let view = View::of(&[&odd, &packed, &missing, &path("text_plain.ndjson")]);
    let bearer = view.enter();
    assert_eq!(view.ended_runs(&bearer, 1).len(), 1);
    let (code, err) = view.end();
    assert_eq!(code, Some(2), "{err}");
    for part in ["odd.txt", "not recognised as output of any runner", "| framegate view", "No such file"] {
        assert!(err.contains(part), "{part}: {err}");
    }
    // Without anything to show, it ends at once and prints no link.
    let ended = run(&["view", &odd, &packed], "").exits(2).says(&["odd.txt", "packed.bz2"]);
    assert_eq!(ended.out, "");
    run(&["view"], "").exits(2);
}

#[test]
fn a_pipe_is_shown_while_it_arrives() {
    let text = String::from_utf8(crate::program::bytes("bash_ok.partial.ndjson")).unwrap();
    let half = text.split_inclusive('\n').take(6).collect::<String>();
    let mut command = binary();
    command.args(["view", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(half.as_bytes()).unwrap();
    stdin.flush().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let (address, code) = line.trim().strip_prefix("http://").and_then(|link| link.split_once("/#code=")).unwrap();
    let view = View { address: address.parse().unwrap(), code: code.to_owned(), child };
    let bearer = view.enter();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while view.runs(&bearer).is_empty() {
        assert!(std::time::Instant::now() < deadline);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(view.runs(&bearer)[0]["state"], "running");
    stdin.write_all(&text.as_bytes()[half.len()..]).unwrap();
    drop(stdin);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while view.runs(&bearer)[0]["state"] != "completed" {
        assert!(std::time::Instant::now() < deadline);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(view.end().0, Some(0));
    // While it waits for a pipe, Ctrl-C ends it.
    let mut command = binary();
    command.args(["view", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut waiting = command.spawn().unwrap();
    // `wait` closes the child's standard input, whose end would be a failure of its own.
    let _open = waiting.stdin.take();
    while !catches_interrupts(waiting.id()) {
        assert!(std::time::Instant::now() < deadline);
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-INT", &waiting.id().to_string()]).status().unwrap().success());
    assert_eq!(waiting.wait().unwrap().code(), Some(0));
}

/// Whether a process has a handler for SIGINT, as Linux reports it.
fn catches_interrupts(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    // Bit n - 1 stands for signal n.
    u64::from_str_radix(caught.trim(), 16).unwrap() & (1 << 1) != 0
}

#[test]
fn secrets_are_redacted_and_a_browser_is_opened_only_if_asked() {
    let scratch = Scratch::new("view-open");
    let secret = format!("ghp_{}", &"A1b2C3d4E5f6G7h8I9j0".repeat(2)[..36]);
    let text = String::from_utf8(crate::program::bytes("text_plain.ndjson")).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    let session = serde_json::from_str::<Value>(first).unwrap()["session_id"].clone();
    let message = json!({"type": "assistant", "session_id": session, "message": {"id": "m", "role": "assistant",
        "content": [{"type": "text", "text": format!("the token is {secret} ")}]}});
    let file = scratch.file("secret.ndjson", format!("{first}\n{message}\n{rest}"));
    let opened = scratch.file("opened", "");
    let browser = scratch.file("browser.sh", format!("#!/bin/sh\necho \"$1\" > '{opened}'\n"));
    assert!(Command::new("chmod").args(["+x", &browser]).status().unwrap().success());
    let start =
        |args: &[&str]| View::start(binary().arg("view").args(args).env("BROWSER", &browser).stdin(Stdio::null()));
    let view = start(&[&file]);
    let bearer = view.enter();
    let run = view.ended_runs(&bearer, 1)[0]["run_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/runs/{run}/events?contract=frames.v2");
    let frames = get(view.address, &path, &[("authorization", &bearer), ("accept", "application/x-ndjson")]).text();
    assert!(frames.contains("[REDACTED:") && !frames.contains(&secret));
    assert_eq!(std::fs::read_to_string(&opened).unwrap(), "");
    drop(view);
    let view = start(&["--open", &file]);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let shown = loop {
        let opened = std::fs::read_to_string(&opened).unwrap();
        if let Some(path) = opened.strip_suffix('\n') {
            break std::path::PathBuf::from(path);
        }
        assert!(std::time::Instant::now() < deadline, "{opened:?}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    // Other users must not see the code, neither in the arguments of the browser nor in the file.
    let link = format!("http://{}/#code={}", view.address, view.code);
    let page = std::fs::read_to_string(&shown).unwrap();
    assert!(page.contains(&format!("http-equiv=\"refresh\" content=\"0; url={link}\"")), "{page}");
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&shown.metadata().unwrap().permissions()) & 0o777, 0o600);
    assert_eq!(view.end().0, Some(0));
    assert!(!shown.exists());
}
