//! An upstream of kind `sse`, against a scripted server.

use crate::client::{get, post};
use crate::proxy::{Folder, Proxy, recording};
use crate::resources::{resources, wait_until_released};
use crate::scripted::{ReceivedRequest, Upstream, reset, stream_head, wait_for_close, whole};
use serde_json::{Value, json};
use std::io::Write;
use std::net::TcpStream;
use std::sync::Mutex;
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A server whose feed sends what the test tells it to, one connection after the other.
struct Server {
    upstream: Upstream,
    actions: Sender<Action>,
}

enum Action {
    Bytes(Vec<u8>),
    /// Close the connection.
    End,
    /// Reset the connection.
    Reset,
}

impl Server {
    fn start(answer: impl Fn(&ReceivedRequest, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let (actions, queue) = channel();
        let queue = Mutex::new(queue);
        let upstream = Upstream::start(move |request, stream| {
            if request.method != "GET" || !request.path.starts_with("/v1/event") {
                return answer(request, stream);
            }
            stream_head(stream);
            let queue = queue.lock().unwrap();
            while let Ok(action) = queue.recv_timeout(Duration::from_secs(60)) {
                match action {
                    Action::Bytes(bytes) if stream.write_all(&bytes).is_ok() => {}
                    Action::Reset => return reset(stream),
                    Action::Bytes(_) | Action::End => return,
                }
            }
        });
        Self { upstream, actions }
    }

    fn without_api() -> Self {
        Self::start(|_, stream| whole(stream, "404 Not Found", "", b""))
    }

    fn send(&self, bytes: &[u8]) {
        self.actions.send(Action::Bytes(bytes.to_vec())).unwrap();
    }

    fn close(&self) {
        self.actions.send(Action::End).unwrap();
    }

    /// Waits until the feed was requested `wanted` times; returns the requests.
    fn wait_for_connections(&self, wanted: usize) -> Vec<ReceivedRequest> {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let feeds: Vec<ReceivedRequest> =
                self.upstream.requests().into_iter().filter(|seen| seen.path.starts_with("/v1/event")).collect();
            if feeds.len() >= wanted {
                return feeds;
            }
            assert!(Instant::now() < deadline, "{} connections", feeds.len());
            thread::sleep(Duration::from_millis(10));
        }
    }
}

struct Follower {
    proxy: Proxy,
    folder: Folder,
}

impl Follower {
    fn of(server: &Server, more: &str) -> Self {
        Self::with(server, more, &[])
    }

    fn with(server: &Server, more: &str, settings: &[(&str, &str)]) -> Self {
        let folder = Folder::new();
        let url = format!("{}/event?directory=x", server.upstream.url());
        let table = format!(
            "[[upstream]]\nname = \"code\"\nkind = \"sse\"\nurl = \"{url}\"\nreconnect_min_ms = 20\n\
             reconnect_max_ms = 200\n{more}\n"
        );
        let config = folder.write("config.toml", &table);
        let proxy = Proxy::configured_with(&config, &folder.path("log"), settings);
        Self { proxy, folder }
    }

    fn runs(&self) -> Vec<Value> {
        get(self.proxy.address, "/v1/runs", &[]).json()["data"].as_array().unwrap().clone()
    }

    fn wait_for(&self, what: &str, is_so: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let runs = self.runs();
            if is_so(&runs) {
                return runs;
            }
            assert!(Instant::now() < deadline, "{what}: {runs:?}\n{}", self.folder.read("log"));
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn events(&self, run: &Value, contract: &str) -> Vec<Value> {
        let run = run["run_id"].as_str().unwrap();
        let path = format!("/v1/runs/{run}/events?contract={contract}&limit=500");
        let page = get(self.proxy.address, &path, &[("accept", "application/json")]).json();
        page["data"].as_array().unwrap().clone()
    }

    fn wait_for_records(&self, records: u64) {
        self.wait_for("the records do not arrive", |runs| {
            runs.first().is_some_and(|run| run["records"].as_u64() >= Some(records))
        });
    }
}

fn events(name: &str) -> Vec<Vec<u8>> {
    let text = String::from_utf8(recording("opencode", name)).unwrap();
    text.split_inclusive("\n\n").map(|event| event.as_bytes().to_vec()).collect()
}

fn position_of(events: &[Vec<u8>], word: &str) -> usize {
    events.iter().position(|event| String::from_utf8_lossy(event).contains(word)).unwrap()
}

fn all_ended(runs: &[Value]) -> bool {
    !runs.is_empty() && runs.iter().all(|run| run["ended_at_ms"].is_u64())
}

#[test]
fn a_feed_becomes_runs_in_every_contract() {
    let server = Server::without_api();
    let follower = Follower::of(&server, "");
    server.send(&recording("opencode", "event-two-sessions.sse"));
    let runs = follower.wait_for("not both runs end", |runs| runs.len() == 2 && all_ended(runs));
    assert!(runs.iter().all(|run| run["state"] == "completed" && run["runner"] == "opencode"), "{runs:?}");
    for contract in ["hecate.v1", "sse.v1", "agent-manager.v1"] {
        assert!(follower.events(&runs[0], contract).len() > 3, "{contract}");
    }
    let seen = server.wait_for_connections(1).remove(0);
    assert_eq!((&*seen.path, seen.header("accept")), ("/v1/event?directory=x", "text/event-stream"));
    assert_eq!(seen.header("accept-encoding"), "identity");
}

#[test]
fn the_loss_of_a_feed_is_reported_in_the_run_and_the_run_continues() {
    continue_after_a_loss(Action::End, "the server ended it");
}

#[test]
fn a_reset_in_an_event_is_handled_like_any_loss() {
    continue_after_a_loss(Action::Reset, "reset");
}

fn continue_after_a_loss(how: Action, expected: &str) {
    let server = Server::without_api();
    let follower = Follower::of(&server, "");
    let all = events("event-text.sse");
    let half = all.len() / 2;
    server.send(&all[..half].concat());
    // The connection breaks in the middle of an event.
    server.send(&all[half][..all[half].len() / 2]);
    follower.wait_for_records(3);
    let before = resources(&follower.proxy);
    server.actions.send(how).unwrap();
    server.wait_for_connections(2);
    server.send(&all[half..].concat());
    let runs = follower.wait_for("the run does not end", all_ended);
    assert_eq!((runs.len(), &runs[0]["state"]), (1, &json!("completed")));
    wait_until_released(&follower.proxy, before);
    let frames = follower.events(&runs[0], "frames.v2");
    let gaps: Vec<&Value> = frames.iter().filter(|frame| frame["type"] == "gap_detected").collect();
    assert_eq!(gaps.len(), 1, "{frames:?}");
    let reason = gaps[0]["reason"].as_str().unwrap();
    // The server does not number its events.
    let unknown = "what it sent until it was back is not known";
    assert!(reason.contains("the feed was lost") && reason.contains(expected) && reason.ends_with(unknown), "{reason}");
    // The incomplete event is kept as an invalid record. After it, parsing starts afresh.
    assert_eq!(runs[0]["invalid_records"], 1);
    for contract in ["hecate.v1", "agent-manager.v1", "pixir.v1"] {
        assert!(json!(follower.events(&runs[0], contract)).to_string().contains("the feed was lost"), "{contract}");
    }
}

#[test]
fn a_run_whose_end_was_lost_is_ended_and_the_next_prompt_starts_another() {
    let server = Server::without_api();
    let follower = Follower::of(&server, "lost_after_ms = 200");
    let all = events("event-text.sse");
    let before_end = position_of(&all, "\"type\":\"session.idle\"").min(all.len() - 1).saturating_sub(4);
    server.send(&all[..before_end].concat());
    follower.wait_for_records(3);
    server.close();
    let runs = follower.wait_for("the run does not end", all_ended);
    assert_eq!((&runs[0]["state"], &runs[0]["error_code"]), (&json!("interrupted"), &json!("feed_lost")));
    // The same session again, from its beginning, with as much as is known of it.
    server.wait_for_connections(2);
    server.send(&all.concat());
    let runs = follower.wait_for("no other run ends", |runs| runs.len() == 2 && all_ended(runs));
    assert_eq!(runs[0]["session_id"], runs[1]["session_id"]);
    assert_eq!(runs[0]["state"], "completed");
}

#[test]
fn a_run_that_the_log_refused_does_not_answer_the_next_prompt() {
    let server = Server::start(|_, stream| whole(stream, "204 No Content", "", b""));
    let full = [("FRAMEGATE__LOG__MAX_BYTES", "1048576")];
    let follower = Follower::with(&server, "start_timeout_ms = 1000", &full);
    let all = events("event-text.sse");
    let delta = all[position_of(&all, "message.part.delta")].clone();
    let end = position_of(&all, "message.part.delta");
    let delta = String::from_utf8(delta).unwrap();
    let (head, tail) = delta.split_once("\"delta\":\"").unwrap();
    let huge = format!("{head}\"delta\":\"{}{tail}", "x".repeat(400_000));
    server.send(&all[..end].concat());
    let runs = follower.wait_for("no run starts", |runs| !runs.is_empty());
    let session = runs[0]["session_name"].as_str().unwrap().to_owned();
    for _ in 0..6 {
        server.send(huge.as_bytes());
    }
    let log = follower.folder.wait_for("log", "a feed could not be stored");
    assert!(!log.contains("panicked"), "{log}");
    server.wait_for_connections(2);
    let order = json!({"upstream": "code", "prompt": "again", "session_id": session}).to_string();
    let deadline = Instant::now() + Duration::from_secs(30);
    let answer = loop {
        let headers = [("content-type", "application/json")];
        let answer = post(follower.proxy.address, "/v1/runs", &headers, order.as_bytes());
        if answer.status != 503 {
            break answer;
        }
        assert!(Instant::now() < deadline);
        thread::sleep(Duration::from_millis(20));
    };
    let status = answer.status;
    assert_eq!(status, 502, "{}", answer.text());
}

#[test]
fn a_feed_with_ids_is_resumed_after_the_last_complete_event() {
    let server = Server::without_api();
    let _follower = Follower::of(&server, "");
    server.send(b"retry: 30\nid: 41\ndata: {\"type\":\"server.connected\",\"properties\":{}}\n\n");
    server.send(b"id: 42\ndata: {\"type\":\"server.conn");
    server.close();
    let seen = server.wait_for_connections(2);
    assert_eq!((seen[0].header("last-event-id"), seen[1].header("last-event-id")), ("", "41"));
}

#[test]
fn an_unusable_server_is_retried_with_growing_pauses() {
    let (go, asked) = (Mutex::new(0), Mutex::new(Vec::new()));
    let upstream = Upstream::start(move |_, stream| {
        let mut nth = go.lock().unwrap();
        asked.lock().unwrap().push(Instant::now());
        *nth += 1;
        match *nth {
            1 => whole(stream, "503 Service Unavailable", "", b""),
            2 => whole(stream, "302 Found", "location: http://127.0.0.1:1/\r\n", b""),
            3 => whole(stream, "200 OK", "content-type: text/html\r\n", b"<html>"),
            4 => whole(stream, "200 OK", "content-type: text/event-stream\r\ncontent-encoding: gzip\r\n", b"\x1f"),
            5 => {}
            _ => {
                stream_head(stream);
                let _ = stream.write_all(&recording("opencode", "event-text.sse"));
                wait_for_close(stream);
            }
        }
    });
    let server = Server { upstream, actions: channel().0 };
    let follower = Follower::of(&server, "");
    follower.wait_for("the run does not end", all_ended);
    let log = follower.folder.read("log");
    for reason in ["503", "302", "is not an event stream", "compresses"] {
        assert!(log.contains(reason), "{reason}: {log}");
    }
    assert!(log.contains("pause_ms=20") && log.contains("pause_ms=40") && log.contains("pause_ms=200"), "{log}");
}

#[test]
fn a_silent_feed_is_reconnected() {
    let server = Server::without_api();
    let follower = Follower::of(&server, "idle_timeout_ms = 300");
    let all = events("event-text.sse");
    server.send(&all[..all.len() / 2].concat());
    follower.wait_for_records(3);
    // The proxy closes the connection; the server only notices when it writes.
    let deadline = Instant::now() + Duration::from_secs(30);
    while !follower.folder.read("log").contains("said nothing for 300 ms") {
        assert!(Instant::now() < deadline);
        thread::sleep(Duration::from_millis(20));
    }
    server.close();
    server.wait_for_connections(2);
}

#[test]
fn an_approval_is_answered_once_through_the_servers_api() {
    let server = Server::start(|_, stream| whole(stream, "200 OK", "content-type: application/json\r\n", b"true"));
    let folder = Folder::new();
    let secret = folder.write("secret", "b3BlbmNvZGU6aHVudGVyMg==\n");
    let credentials =
        format!("authorization = \"configured\"\ncredential_scheme = \"Basic\"\nsecret_file = \"{secret}\"");
    let follower = Follower::of(&server, &credentials);
    let all = events("event-permission-once.sse");
    let asked = position_of(&all, "permission.asked");
    server.send(&all[..=asked].concat());
    let runs = follower.wait_for("no approval is requested", |runs| {
        runs.first().is_some_and(|run| !run["pending_approvals"].as_array().unwrap().is_empty())
    });
    let (run, question) = (runs[0]["run_id"].as_str().unwrap(), runs[0]["pending_approvals"][0].as_str().unwrap());
    let path = format!("/v1/runs/{run}/approvals/{question}");
    let answer =
        post(follower.proxy.address, &path, &[("content-type", "application/json")], br#"{"decision":"approved"}"#);
    let status = answer.status;
    assert!(status < 300, "{status}: {}", answer.text());
    let reply = server.upstream.requests().into_iter().find(|seen| seen.method == "POST").unwrap();
    assert_eq!(reply.path, format!("/permission/{question}/reply"));
    assert_eq!(serde_json::from_slice::<Value>(&reply.body).unwrap(), json!({"reply": "once"}));
    assert_eq!(reply.header("authorization"), "Basic b3BlbmNvZGU6aHVudGVyMg==");
    let again =
        post(follower.proxy.address, &path, &[("content-type", "application/json")], br#"{"decision":"rejected"}"#);
    assert_eq!(again.status, 409);
    server.send(&all[asked + 1..].concat());
    follower.wait_for("the run does not end", all_ended);
    assert_eq!(server.upstream.requests().iter().filter(|seen| seen.method == "POST").count(), 1);
}

#[test]
fn a_run_is_started_through_the_servers_api() {
    let all = events("event-text.sse");
    let text = String::from_utf8(all.concat()).unwrap();
    let session = text.split("\"sessionID\":\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let made = format!("{{\"id\":\"{session}\"}}");
    let (go, goes) = channel::<()>();
    let go = Mutex::new(go);
    let server = Server::start(move |request, stream| {
        let (status, body) = match &*request.path {
            "/session" => ("200 OK", made.as_bytes()),
            _ => {
                let _ = go.lock().unwrap().send(());
                ("204 No Content", &b""[..])
            }
        };
        whole(stream, status, "content-type: application/json\r\n", body);
    });
    let follower = Follower::of(&server, "");
    let order = |body: &Value| {
        let headers = [("content-type", "application/json")];
        post(follower.proxy.address, "/v1/runs", &headers, body.to_string().as_bytes())
    };
    let elsewhere = order(&json!({"upstream": "code", "prompt": "hi", "cwd": "/etc"}));
    assert!((400..500).contains(&elsewhere.status), "{}", elsewhere.status);
    server.wait_for_connections(1);
    let actions = server.actions.clone();
    let sender = thread::spawn(move || {
        goes.recv_timeout(Duration::from_secs(30)).unwrap();
        actions.send(Action::Bytes(all.concat())).unwrap();
    });
    // The feed counts as connected as soon as the response head has been read.
    let deadline = Instant::now() + Duration::from_secs(30);
    let started = loop {
        let answer = order(&json!({"upstream": "code", "prompt": "Say hello"}));
        if answer.status != 503 {
            break answer;
        }
        assert!(Instant::now() < deadline);
        thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(started.status, 201);
    assert_eq!(started.json()["session_name"], session);
    sender.join().unwrap();
    let runs = follower.wait_for("the run does not end", all_ended);
    assert_eq!((runs.len(), &runs[0]["state"]), (1, &json!("completed")));
    let prompts: Vec<(String, Value)> = server
        .upstream
        .requests()
        .into_iter()
        .filter(|seen| seen.method == "POST")
        .map(|seen| (seen.path, serde_json::from_slice(&seen.body).unwrap_or_default()))
        .collect();
    assert_eq!(prompts[0].0, "/session");
    assert_eq!(prompts[1].0, format!("/session/{session}/prompt_async"));
    assert_eq!(prompts[1].1["parts"][0]["text"], "Say hello");
}

#[test]
fn a_shutdown_does_not_wait_for_an_idle_feed_and_closes_open_runs() {
    let server = Server::without_api();
    let mut follower = Follower::of(&server, "");
    server.send(&recording("opencode", "event-text.sse"));
    follower.wait_for("the run does not end", all_ended);
    let begun = Instant::now();
    assert!(follower.proxy.terminate().success());
    assert!(begun.elapsed() < Duration::from_secs(9), "{:?}", begun.elapsed());
    drop(follower);
    let server = Server::without_api();
    let folder = Folder::new();
    let log = folder.path("framegate.db");
    let settings = [
        ("FRAMEGATE__LOG__KIND", "sqlite"),
        ("FRAMEGATE__LOG__PATH", log.to_str().unwrap()),
        ("FRAMEGATE__SERVER__SHUTDOWN_GRACE_MS", "100"),
    ];
    let mut follower = Follower::with(&server, "", &settings);
    let all = events("event-text.sse");
    server.send(&all[..all.len() / 2].concat());
    follower.wait_for_records(3);
    assert!(follower.proxy.terminate().success());
    let follower = Follower::with(&server, "", &settings);
    let runs = follower.runs();
    assert_eq!((&runs[0]["state"], &runs[0]["error_code"]), (&json!("interrupted"), &json!("proxy_stopping")));
}
