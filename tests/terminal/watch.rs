//! `framegate watch`: follows a proxy, and answers questions by keys.

use crate::client::{get, post};
use crate::proxy::Proxy;
use crate::window::{PATIENCE, Window};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn demo() -> Proxy {
    Proxy::with_arguments(&["--demo"], &[])
}

fn start(proxy: &Proxy, prompt: &str) -> String {
    let order = json!({"upstream": "demo", "prompt": prompt}).to_string();
    let answer = post(proxy.address, "/v1/runs", &[("content-type", "application/json")], order.as_bytes());
    let status = answer.status;
    let json = answer.json();
    assert_eq!(status, 201, "{json}");
    json["run_id"].as_str().unwrap().to_owned()
}

fn wait_for(proxy: &Proxy, run: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let begin = Instant::now();
    loop {
        let status = get(proxy.address, &format!("/v1/runs/{run}"), &[]).json();
        if is_so(&status) {
            return status;
        }
        assert!(begin.elapsed() < PATIENCE, "{status:#}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn url(proxy: &Proxy) -> String {
    format!("http://{}", proxy.address)
}

/// Presses a key until the window shows this: a question must have been shown for a moment before a key counts.
pub fn press_until(window: &mut Window, key: &str, text: &str) {
    let begin = Instant::now();
    std::thread::sleep(Duration::from_millis(500));
    while !window.text().contains(text) {
        assert!(begin.elapsed() < PATIENCE, "no {text:?} in:\n{}", window.text());
        window.press(key);
        std::thread::sleep(Duration::from_millis(500));
    }
}

#[test]
fn keys_answer_the_questions_of_a_run() {
    let proxy = demo();
    let run = start(&proxy, "Write a note and run a command");
    let mut window = Window::run(&["watch", &run, "--url", &url(&proxy)], 90, &[]);
    window.wait_for("y approve · n reject");
    assert!(!window.is_cooked());
    // Several bytes at once are not a key.
    window.press("yyyy");
    press_until(&mut window, "y", "✓ Edit approved");
    window.wait_until("the second question", |text| text.contains("Bash") && text.contains("y approve"));
    press_until(&mut window, "n", "✗ Bash rejected");
    assert_eq!(window.wait().code(), Some(0), "{}", window.text());
    let text = window.text();
    assert!(text.contains("✓ completed") && !text.contains("y approve") && !text.contains("● "), "{text}");
    assert!(window.is_cooked());
    let status = wait_for(&proxy, &run, |status| status["state"] == "completed");
    assert_eq!(status["pending_approvals"], json!([]), "{status:#}");
}

#[test]
fn digits_choose_and_other_clients_may_answer_first() {
    let proxy = demo();
    let mut window = Window::run(&["watch", "--url", &url(&proxy)], 120, &[]);
    window.wait_for("Ctrl-C ends");
    let run = start(&proxy, "Let me choose a colour and write a note");
    window.wait_for("choose · n reject");
    press_until(&mut window, "1", "✓ AskUserQuestion approved");
    window.wait_for("y approve");
    let status = wait_for(&proxy, &run, |status| status["state"] == "waiting_approval");
    let approval = status["pending_approvals"][0].as_str().unwrap();
    let path = format!("/v1/runs/{run}/approvals/{approval}");
    let other = post(proxy.address, &path, &[], br#"{"decision": "rejected", "reason": "I was first"}"#);
    assert_eq!(other.status, 200);
    window.wait_for("✗ Edit rejected");
    window.wait_for("I was first");
    window.wait_for("✓ completed");
    // All runs: each line has the label of its run.
    let label = &run[run.len() - 6..];
    let text = window.text();
    assert!(text.lines().any(|line| line.starts_with(label) && line.contains("✓ completed")), "{text}");
    window.press("\x03");
    assert_eq!(window.wait().code(), Some(130));
    assert!(window.is_cooked());
    let text = window.text();
    assert!(!text.contains("Ctrl-C ends") && !text.contains("y approve"), "{text}");
}

#[test]
fn without_a_terminal_it_only_follows() {
    let proxy = demo();
    let run = start(&proxy, "Write a note");
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate"));
    command.args(["watch", &run[run.len() - 8..], "--url", &url(&proxy)]).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("? Edit wants an approval")));
    let status = wait_for(&proxy, &run, |status| status["state"] == "waiting_approval");
    let approval = status["pending_approvals"][0].as_str().unwrap();
    let path = format!("/v1/runs/{run}/approvals/{approval}");
    post(proxy.address, &path, &[], br#"{"decision": "approved"}"#);
    let rest: String = lines.map(|line| line + "\n").collect();
    assert!(rest.contains("✓ Edit approved") && rest.contains("✓ completed") && !rest.contains('\x1b'), "{rest}");
    assert!(child.wait().unwrap().success());
    // The run is kept: it can be shown again, and an unknown one is an error.
    let again =
        Command::new(env!("CARGO_BIN_EXE_framegate")).args(["watch", &run, "--url", &url(&proxy)]).output().unwrap();
    assert!(String::from_utf8(again.stdout).unwrap().contains("✓ completed"));
    for (run, expected) in [
        ("ffffffff-0000-4000-8000-000000000000", "there is no run"),
        ("ffffffff", "there is no run"),
        ("xyz", "invalid run id"),
    ] {
        let wrong =
            Command::new(env!("CARGO_BIN_EXE_framegate")).args(["watch", run, "--url", &url(&proxy)]).output().unwrap();
        let err = String::from_utf8(wrong.stderr).unwrap();
        assert!(wrong.status.code() == Some(2) && err.contains(expected), "{err}");
    }
}

#[test]
fn a_lost_connection_leaves_nothing_out_and_repeats_nothing() {
    let proxy = demo();
    let relay = Relay::to(proxy.address);
    let run = start(&proxy, "Count slowly");
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate"));
    // Wide enough for each message about the connection to be one line.
    let wide = ["--width", "1000"];
    command.args(["watch", &run, "--url", &format!("http://{}", relay.address)]).args(wide).stdin(Stdio::null());
    let child = command.stdout(Stdio::piped()).spawn().unwrap();
    for _ in 0..4 {
        std::thread::sleep(Duration::from_millis(700));
        relay.cut();
    }
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && relay.connections() > 1, "{text}");
    let direct = Command::new(env!("CARGO_BIN_EXE_framegate"))
        .args(["watch", &run, "--url", &url(&proxy)])
        .args(wide)
        .output()
        .unwrap();
    let without_messages: Vec<&str> =
        text.lines().filter(|line| !line.contains("connection is lost") && !line.contains("connected again")).collect();
    let dense = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(dense(&without_messages.join("\n")), dense(&String::from_utf8(direct.stdout).unwrap()), "{text}");
}

#[test]
fn a_proxy_that_is_not_there_is_reported() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_framegate")).args(["watch", "--url", "http://127.0.0.1:1"]).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && err.contains("does not answer"), "{err}");
}

/// Passes connections on, and cuts them.
struct Relay {
    address: std::net::SocketAddr,
    open: std::sync::Arc<std::sync::Mutex<Vec<std::net::TcpStream>>>,
    count: std::sync::Arc<std::sync::atomic::AtomicUsize>,
}

impl Relay {
    fn to(proxy: std::net::SocketAddr) -> Self {
        use std::net::{TcpListener, TcpStream};
        use std::sync::atomic::Ordering;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let relay = Self {
            address: listener.local_addr().unwrap(),
            open: std::sync::Arc::default(),
            count: std::sync::Arc::default(),
        };
        let (open, count) = (relay.open.clone(), relay.count.clone());
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                count.fetch_add(1, Ordering::Relaxed);
                let server = TcpStream::connect(proxy).unwrap();
                for (from, to) in [(&client, &server), (&server, &client)] {
                    let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    std::thread::spawn(move || {
                        let _ = std::io::copy(&mut from, &mut to);
                        let _ = to.shutdown(std::net::Shutdown::Both);
                    });
                }
                open.lock().unwrap().extend([client, server]);
            }
        });
        relay
    }

    fn cut(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    }

    fn connections(&self) -> usize {
        self.count.load(std::sync::atomic::Ordering::Relaxed)
    }
}
