//! The Responses API in front of a scripted upstream.

use crate::client::{Answer, connect, get, post};
use crate::holding::{Held, held, lets_go};
use crate::proxy::{Folder, Proxy, recording};
use crate::scripted::{Upstream, stream_head, wait_for_close, whole};
use crate::verdicts::is_told_as_failed;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::sync::Mutex;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

pub const REQUEST: &[u8] = br#"{"model":"lab-model","input":"Say hello","stream":true}"#;

/// A proxy in front of an upstream, with more settings of the upstream.
pub struct Gate {
    pub proxy: Proxy,
    folder: Folder,
}

impl Gate {
    pub fn new(upstream: &Upstream, more: &str) -> Self {
        Self::with(upstream, more, &[])
    }

    pub fn with(upstream: &Upstream, more: &str, settings: &[(&str, &str)]) -> Self {
        Self::at(&upstream.url(), more, settings)
    }

    pub fn at(url: &str, more: &str, settings: &[(&str, &str)]) -> Self {
        let folder = Folder::new();
        let table = format!("[[upstream]]\nname = \"lab\"\nkind = \"responses\"\nurl = \"{url}\"\n{more}\n");
        let config = folder.write("config.toml", &table);
        let proxy = Proxy::configured_with(&config, &folder.path("log"), settings);
        Self { proxy, folder }
    }

    pub fn ask(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let json = [("content-type", "application/json")];
        let headers: Vec<(&str, &str)> = json.iter().chain(headers).copied().collect();
        post(self.proxy.address, path, &headers, REQUEST)
    }

    pub fn get(&self, path: &str) -> Answer {
        get(self.proxy.address, path, &[])
    }

    pub fn runs(&self) -> Vec<Value> {
        self.get("/v1/runs").json()["data"].as_array().unwrap().clone()
    }

    /// Waits until the newest run is over.
    pub fn wait_for_end(&self) -> Value {
        self.wait_for("the run's end", |run| run["ended_at_ms"].is_u64())
    }

    pub fn wait_for(&self, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            let runs = self.runs();
            if let Some(run) = runs.first().filter(|run| is_so(run)) {
                return run.clone();
            }
            assert!(Instant::now() < deadline, "{what} does not come: {runs:?}\n{}", self.log());
            thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn log(&self) -> String {
        self.folder.read("log")
    }

    pub fn held(&self) -> Held {
        held(&self.proxy)
    }

    /// Waits until the proxy holds no more than it did.
    pub fn lets_go(&self, before: Held) {
        lets_go(&self.proxy, before);
    }

    pub fn metric(&self, line: &str) -> String {
        let text = self.get("/metrics").text();
        let found = text.lines().find_map(|found| found.strip_prefix(line)).unwrap_or_default();
        found.trim().to_owned()
    }
}

/// A recording without the marker behind its last event, which is of no run.
pub fn recorded(name: &str) -> Vec<u8> {
    let bytes = recording("open-responses", name);
    bytes.strip_suffix(b"data: [DONE]\n\n").unwrap_or(&bytes).to_vec()
}

pub fn events(bytes: &[u8]) -> Vec<String> {
    String::from_utf8(bytes.to_vec()).unwrap().split_inclusive("\n\n").map(str::to_owned).collect()
}

fn number(event: &str) -> u64 {
    let data = event.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    serde_json::from_str::<Value>(data).unwrap()["sequence_number"].as_u64().unwrap()
}

pub fn code(answer: Answer) -> (u16, String) {
    let status = answer.status;
    let error = answer.json();
    (status, error["error"]["code"].as_str().unwrap_or_default().to_owned())
}

/// Answers with the first of the events, and with the others when the test says so, or is over.
pub fn in_two(pieces: &[String], first: usize, go: mpsc::Receiver<()>) -> Upstream {
    let (first, rest) = (pieces[..first].concat(), pieces[first..].concat());
    let go = Mutex::new(go);
    Upstream::start(move |_, stream| {
        stream_head(stream);
        let _ = stream.write_all(first.as_bytes());
        let _ = go.lock().unwrap().recv_timeout(Duration::from_secs(30));
        let _ = stream.write_all(rest.as_bytes());
    })
}

/// What can be read until the answer ends, and whether it ended well.
pub fn until_torn(answer: Answer) -> (Vec<u8>, bool) {
    let (mut reader, _) = answer.into_raw();
    let mut bytes = Vec::new();
    let _ = reader.read_to_end(&mut bytes);
    let is_whole = bytes.ends_with(b"0\r\n\r\n");
    // Without the sizes of the chunks.
    let (mut body, mut rest) = (Vec::new(), &bytes[..]);
    while let Some(at) = rest.windows(2).position(|two| two == b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..at]).unwrap(), 16).unwrap();
        let end = (at + 2 + size).min(rest.len());
        body.extend_from_slice(&rest[at + 2..end]);
        rest = rest.get(end + 2..).unwrap_or_default();
    }
    (body, is_whole)
}

#[test]
fn every_recorded_stream_passes_byte_for_byte_and_is_kept() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/open-responses");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".sse"))
        .collect();
    names.sort();
    assert!(names.len() > 50);
    let upstream = Upstream::start(|request, stream| {
        let name = request.header("x-client-request-id");
        stream_head(stream);
        let _ = stream.write_all(&recording("open-responses", name));
    });
    let gate = Gate::new(&upstream, "max_runs = 4");
    for name in &names {
        let answer = gate.ask("/v1/responses", &[("x-client-request-id", name)]);
        assert_eq!(answer.status, 200);
        assert!(answer.bytes() == recording("open-responses", name), "{name}");
        // Behind the log: who sees the end finds the run ended.
        assert!(gate.runs().iter().all(|run| run["ended_at_ms"].is_u64()), "{name}");
    }
    // All but those without an event of a response in them.
    let runs = gate.get("/v1/runs?limit=500").json()["data"].as_array().unwrap().len();
    assert!(runs + 5 > names.len(), "{runs} runs of {} recordings", names.len());
    upstream.wait_until_quiet();
}

#[test]
fn bytes_pass_at_the_pace_at_which_they_come() {
    let bytes = recorded("scripted__text-valid.sse");
    let pieces = events(&bytes);
    let (go, wait) = mpsc::channel::<()>();
    let (script, wait) = (pieces.clone(), Mutex::new(wait));
    let upstream = Upstream::start(move |_, stream| {
        stream_head(stream);
        for piece in &script {
            let _ = stream.write_all(piece.as_bytes());
            // The next one is not sent before the client has this one.
            wait.lock().unwrap().recv_timeout(Duration::from_secs(30)).unwrap();
        }
    });
    let gate = Gate::new(&upstream, "");
    let mut answer = gate.ask("/v1/responses", &[]);
    for piece in &pieces {
        let mut read = String::new();
        while !read.ends_with("\n\n") {
            read.push_str(&answer.line().unwrap());
            read.push('\n');
        }
        assert_eq!(&read, piece);
        go.send(()).unwrap();
    }
    assert_eq!(answer.line(), None);
}

#[test]
fn headers_pass_by_the_lists_alone() {
    let upstream = Upstream::streaming(recorded("scripted__text-valid.sse"));
    let folder = Folder::new();
    let secret = folder.write("secret", "sk-upstream-0123456789\n");
    let gate = Gate::new(&upstream, &format!("authorization = \"configured\"\nsecret_file = \"{secret}\""));
    let answer = gate.ask(
        "/v1/responses?include%5B%5D=usage&upstream=lab",
        &[
            ("authorization", "Bearer of-the-client"),
            ("cookie", "a=b"),
            ("openai-beta", "responses=v1"),
            ("x-stainless-lang", "python"),
            ("idempotency-key", "once"),
            ("accept-encoding", "gzip, deflate, br"),
            ("accept", "application/json"),
            ("x-secret-of-the-client", "1"),
            ("connection", "close, x-stainless-hop"),
            ("x-stainless-hop", "1"),
            ("expect", "100-continue"),
        ],
    );
    // The interim answer is the server's own.
    let answer = if answer.status == 100 { answer.next() } else { answer };
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "text/event-stream; charset=utf-8");
    assert_eq!((answer.header("x-request-id"), answer.header("openai-version")), ("req_1", "2020-10-01"));
    assert_eq!((answer.header("set-cookie"), answer.header("x-other")), ("", ""));
    drop(answer.bytes());
    let seen = upstream.seen().remove(0);
    assert_eq!((&*seen.method, &*seen.path), ("POST", "/v1/responses?include%5B%5D=usage"));
    assert_eq!(seen.body, REQUEST);
    assert_eq!(seen.header("authorization"), "Bearer sk-upstream-0123456789");
    assert_eq!(seen.header("host"), upstream.address.to_string());
    assert_eq!(seen.header("accept-encoding"), "identity");
    assert_eq!(seen.header("accept"), "application/json");
    assert_eq!(seen.header("content-length"), REQUEST.len().to_string());
    for (name, value) in [("openai-beta", "responses=v1"), ("x-stainless-lang", "python"), ("idempotency-key", "once")]
    {
        assert_eq!(seen.header(name), value, "{name}");
    }
    for name in ["cookie", "x-secret-of-the-client", "x-stainless-hop", "expect"] {
        assert_eq!(seen.header(name), "", "{name}");
    }
    assert!(!gate.log().contains("sk-upstream"));
}

#[test]
fn a_token_of_the_proxys_is_never_passed_on() {
    let upstream = Upstream::streaming(recorded("scripted__text-valid.sse"));
    let folder = Folder::new();
    let token = folder.write("token", "0123456789abcdef0123456789abcdef\n");
    let passing = "authorization = \"passthrough\"";
    let gate = Gate::with(&upstream, passing, &[("FRAMEGATE__SERVER__TOKEN_FILE", &token)]);
    let own = ("authorization", "Bearer 0123456789abcdef0123456789abcdef");
    assert_eq!(gate.ask("/v1/responses", &[]).status, 401);
    drop(gate.ask("/v1/responses", &[own]).bytes());
    drop(gate.ask("/v1/responses", &[own, ("x-upstream-authorization", "Bearer sk-own")]).bytes());
    let seen = upstream.seen();
    assert_eq!(seen.len(), 2);
    assert_eq!((seen[0].header("authorization"), seen[1].header("authorization")), ("", "Bearer sk-own"));
    assert_eq!(seen[1].header("x-upstream-authorization"), "");
    drop(gate);
    // Without tokens, `Authorization` is the client's own.
    let gate = Gate::new(&upstream, passing);
    drop(gate.ask("/v1/responses", &[("authorization", "Bearer sk-own")]).bytes());
    assert_eq!(upstream.seen()[2].header("authorization"), "Bearer sk-own");
    drop(gate);
    let gate = Gate::new(&upstream, "");
    drop(gate.ask("/v1/responses", &[("authorization", "Bearer sk-own")]).bytes());
    assert_eq!(upstream.seen()[3].header("authorization"), "");
}

#[test]
fn a_token_with_a_view_of_some_runs_makes_no_others() {
    let upstream = Upstream::streaming(recorded("scripted__text-valid.sse"));
    let folder = Folder::new();
    let mut tokens = String::new();
    for (name, more) in [
        ("all", ""),
        ("reads", ""),
        ("chats", "sessions = [\"chat-1\"]\n"),
        ("claude", "runners = [\"claude-code\"]\n"),
        ("responses", "runners = [\"open-responses\"]\n"),
    ] {
        folder.write(name, &format!("{name}-0123456789abcdef"));
        let scopes = if name == "reads" { "\"read\"" } else { "\"read\", \"control\"" };
        tokens += &format!("[[token]]\nname = \"{name}\"\nfile = \"{name}\"\nscopes = [{scopes}]\n{more}");
    }
    let tokens = folder.write("tokens.toml", &tokens);
    let gate = Gate::with(&upstream, "", &[("FRAMEGATE__AUTH__TOKENS_FILE", &tokens)]);
    let bearer = |name: &str| format!("Bearer {name}-0123456789abcdef");
    for (name, status) in [("all", 200), ("reads", 403), ("chats", 403), ("claude", 403), ("responses", 200)] {
        let answer = gate.ask("/v1/responses", &[("authorization", &bearer(name))]);
        assert_eq!(answer.status, status, "{name}");
        // To its end: then it is kept.
        drop(answer.bytes());
    }
    assert_eq!(upstream.seen().len(), 2);
    // What is kept is seen by whom it is for; the upstream is asked in the name of those alone who see everything.
    let ask = |name: &str, path: &str| get(gate.proxy.address, path, &[("authorization", &bearer(name))]).status;
    for (name, kept) in [("all", 200), ("reads", 200), ("chats", 404), ("claude", 404), ("responses", 200)] {
        assert_eq!(ask(name, "/v1/responses/resp_lab?stream=true"), kept, "{name}");
    }
    assert_eq!((ask("responses", "/v1/responses/resp_other"), upstream.seen().len()), (404, 2));
    assert_eq!((ask("all", "/v1/responses/resp_other"), upstream.seen().len()), (200, 3));
}

#[test]
fn another_client_reads_the_same_run_in_other_contracts_meanwhile() {
    let bytes = recorded("scripted__text-valid.sse");
    let pieces = events(&bytes);
    let (go, wait) = mpsc::channel::<()>();
    let upstream = in_two(&pieces, pieces.len() / 2, wait);
    let gate = Gate::new(&upstream, "");
    let own = gate.ask("/v1/responses", &[]);
    let run = gate.wait_for("the run", |run| run["response_id"].is_string());
    let id = run["run_id"].as_str().unwrap();
    let response = run["response_id"].as_str().unwrap().to_owned();
    // While it goes on: three contracts by the run, one by the response, and the raw records.
    let live: Vec<(&str, Answer)> = ["hecate.v1", "sse.v1", "agent-manager.v1"]
        .into_iter()
        .map(|contract| (contract, gate.get(&format!("/v1/runs/{id}/events?contract={contract}"))))
        .collect();
    let by_response = gate.get(&format!("/v1/responses/{response}?contract=hecate.v1"));
    let raw = gate.get(&format!("/v1/responses/{response}?stream=true"));
    go.send(()).unwrap();
    assert!(own.bytes() == bytes);
    assert_eq!(raw.header("content-type"), "text/event-stream; charset=utf-8");
    assert_eq!(String::from_utf8(raw.bytes()).unwrap(), String::from_utf8(bytes).unwrap());
    let mut hecate = Vec::new();
    for (contract, answer) in live {
        let read = answer.events();
        let again = gate.get(&format!("/v1/runs/{id}/events?contract={contract}")).events();
        assert!(read.len() > 2, "{contract}: {} events", read.len());
        assert_eq!(read, again, "{contract}");
        if contract == "hecate.v1" {
            hecate = read;
        }
    }
    assert_eq!(by_response.events(), hecate);
}

#[test]
fn a_contract_is_answered_with_the_translation_of_the_same_run() {
    let upstream = Upstream::streaming(recorded("scripted__parallel-interleaved.sse"));
    let gate = Gate::new(&upstream, "");
    for (path, accept, media) in [
        ("/v1/responses?contract=hecate.v1", "application/json", "text/event-stream; contract=hecate.v1"),
        ("/v1/responses", "text/event-stream; contract=sse.v1", "text/event-stream; contract=sse.v1"),
        ("/v1/responses?contract=frames.v2", "application/x-ndjson", "application/x-ndjson; contract=frames.v2"),
    ] {
        let answer = gate.ask(path, &[("accept", accept)]);
        assert_eq!((answer.status, answer.header("content-type")), (200, media));
        assert_eq!(answer.header("x-request-id"), "req_1");
        let text = answer.text();
        let run = gate.wait_for_end();
        let id = run["run_id"].as_str().unwrap();
        let contract = media.rsplit('=').next().unwrap();
        let again = get(
            gate.proxy.address,
            &format!("/v1/runs/{id}/events?contract={contract}"),
            &[("accept", media.split(';').next().unwrap())],
        );
        assert_eq!(text, again.text());
        assert_eq!(upstream.seen().last().unwrap().header("accept"), "text/event-stream, application/json");
        assert_eq!(upstream.seen().last().unwrap().path, "/v1/responses");
    }
    assert_eq!(code(gate.ask("/v1/responses?contract=sse.v9", &[])), (406, "not_acceptable".to_owned()));
    assert_eq!(code(gate.ask("/v1/responses?upstream=other", &[])), (404, "not_found".to_owned()));
}

#[test]
fn a_replay_begins_behind_any_event() {
    let bytes = recorded("scripted__text-valid.sse");
    let upstream = Upstream::streaming(bytes.clone());
    let gate = Gate::new(&upstream, "");
    drop(gate.ask("/v1/responses", &[]).bytes());
    let all = events(&bytes);
    for (at, event) in all.iter().enumerate() {
        let after = number(event);
        let rest = gate.get(&format!("/v1/responses/resp_lab?stream=true&starting_after={after}")).text();
        assert_eq!(rest, all[at + 1..].concat(), "{after}");
    }
    assert_eq!(gate.get("/v1/responses/resp_lab?stream=true&starting_after=99999").text(), "");
    assert_eq!(code(gate.get("/v1/responses/resp_lab?stream=true&starting_after=x")).0, 400);
    // As it was told last.
    let last: Value = {
        let data = all.last().unwrap().lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
        serde_json::from_str(data).unwrap()
    };
    assert_eq!(gate.get("/v1/responses/resp_lab").json(), last["response"]);
    assert_eq!(upstream.seen().len(), 1, "nothing of it was asked of the upstream");
}

#[test]
fn a_response_is_kept_beyond_a_restart() {
    let bytes = recorded("scripted__text-valid.sse");
    let upstream = Upstream::streaming(bytes.clone());
    let folder = Folder::new();
    let log = folder.path("framegate.db");
    let settings = [("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", log.to_str().unwrap())];
    let mut gate = Gate::with(&upstream, "", &settings);
    drop(gate.ask("/v1/responses", &[]).bytes());
    assert!(gate.proxy.terminate().success());
    let gate = Gate::with(&upstream, "", &settings);
    assert!(gate.get("/v1/responses/resp_lab?stream=true").bytes() == bytes);
    assert_eq!(gate.get("/v1/responses/resp_lab").json()["status"], "completed");
}

#[test]
fn what_is_not_kept_is_the_upstreams_to_answer() {
    let upstream = Upstream::start(|request, stream| {
        let said = json!({"id": "resp_up", "asked": format!("{} {}", request.method, request.path)}).to_string();
        whole(stream, "200 OK", "content-type: application/json\r\n", said.as_bytes());
    });
    let gate = Gate::new(&upstream, "");
    let ask = |method: &str, path: &str| {
        let mut stream = connect(gate.proxy.address);
        let host = gate.proxy.address;
        write!(stream, "{method} {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: 0\r\n\r\n").unwrap();
        Answer::read(stream)
    };
    for (method, path) in [
        ("GET", "/v1/responses/resp_up?include=x"),
        ("GET", "/v1/responses/resp_up/input_items?limit=2"),
        ("POST", "/v1/responses/resp_up/cancel"),
        ("DELETE", "/v1/responses/resp_up"),
    ] {
        let answer = ask(method, path);
        assert_eq!(answer.status, 200);
        assert_eq!(answer.json()["asked"], format!("{method} {path}"));
    }
    for id in ["..", "a%2Fb", "a%00", &"x".repeat(257)] {
        assert_eq!(ask("GET", &format!("/v1/responses/{id}")).status, 404, "{id}");
    }
    assert_eq!(upstream.seen().len(), 4);
    assert!(gate.runs().is_empty());
}

#[test]
fn a_whole_response_passes_and_is_kept_unless_it_goes_on_elsewhere() {
    let upstream = Upstream::start(|request, stream| {
        let status = request.header("x-client-request-id");
        let body = json!({"id": format!("resp_{status}"), "object": "response", "status": status, "model": "lab",
            "created_at": 1, "output": [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "Hello", "annotations": []}]}]});
        // Laid out for people, as some servers do.
        let body = serde_json::to_vec_pretty(&body).unwrap();
        whole(stream, "200 OK", "content-type: application/json\r\nx-request-id: req_2\r\n", &body);
    });
    let gate = Gate::new(&upstream, "");
    let answer = gate.ask("/v1/responses", &[("x-client-request-id", "completed")]);
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    assert_eq!(answer.header("x-request-id"), "req_2");
    let length: usize = answer.header("content-length").parse().unwrap();
    let body = answer.bytes();
    assert_eq!(body.len(), length);
    assert!(body.starts_with(b"{\n"));
    let run = gate.wait_for_end();
    assert_eq!((&run["state"], &run["response_id"]), (&json!("completed"), &json!("resp_completed")));
    assert_eq!(run["final_text"], "Hello");
    let translated = gate.ask("/v1/responses?contract=sse.v1", &[("x-client-request-id", "completed")]);
    assert!(translated.events().iter().any(|event| event.data.contains("Hello")));
    for path in ["/v1/responses", "/v1/responses?contract=sse.v1"] {
        let queued = gate.ask(path, &[("x-client-request-id", "queued")]);
        assert_eq!(queued.json()["status"], "queued", "{path}");
    }
    assert_eq!(gate.runs().len(), 2, "what goes on in the background has no run yet");
}

#[test]
fn errors_of_the_upstream_pass_as_they_are() {
    let upstream = Upstream::start(|request, stream| match request.header("x-client-request-id") {
        "429" => whole(
            stream,
            "429 Too Many Requests",
            "content-type: application/json\r\nretry-after: 7\r\nx-should-retry: true\r\n",
            br#"{"error":{"message":"slow down","type":"rate_limit","param":null,"code":"rate_limit_exceeded"}}"#,
        ),
        "502" => whole(stream, "502 Bad Gateway", "content-type: text/html\r\n", b"<html>bad</html>"),
        "401" => whole(stream, "401 Unauthorized", "", b""),
        _ => whole(stream, "418 Teapot", "content-type: application/json\r\ncontent-encoding: gzip\r\n", b"\x1f\x8b"),
    });
    let gate = Gate::new(&upstream, "");
    for path in ["/v1/responses", "/v1/responses?contract=hecate.v1"] {
        let limited = gate.ask(path, &[("x-client-request-id", "429")]);
        assert_eq!((limited.status, limited.header("retry-after")), (429, "7"));
        assert_eq!(limited.header("x-should-retry"), "true");
        assert_eq!(limited.json()["error"]["code"], "rate_limit_exceeded");
        let bad = gate.ask(path, &[("x-client-request-id", "502")]);
        assert_eq!((bad.status, bad.header("content-type")), (502, "text/html"));
        assert_eq!(bad.text(), "<html>bad</html>");
        assert_eq!(gate.ask(path, &[("x-client-request-id", "401")]).status, 401);
        let odd = gate.ask(path, &[("x-client-request-id", "418")]);
        assert_eq!((odd.status, odd.header("content-encoding")), (418, "gzip"));
        assert_eq!(odd.bytes(), b"\x1f\x8b");
    }
    assert!(gate.runs().is_empty());
}

#[test]
fn what_cannot_be_read_is_refused_with_the_reason() {
    let upstream = Upstream::start(|request, stream| match request.header("x-client-request-id") {
        "redirect" => whole(stream, "307 Temporary Redirect", "location: http://127.0.0.1:1/v1/responses\r\n", b""),
        "html" => whole(stream, "200 OK", "content-type: text/html\r\n", b"<html>log in</html>"),
        "gzip" => {
            let headers = "content-type: text/event-stream\r\ncontent-encoding: gzip\r\n";
            whole(stream, "200 OK", headers, b"\x1f\x8b\x08");
        }
        "nonsense" => {
            let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.2\r\n\r\n");
        }
        "endless" => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n");
            while stream.write_all(&[b'x'; 4096]).is_ok() {}
        }
        // It closes the connection without a word.
        _ => {}
    });
    let gate = Gate::new(&upstream, "");
    for path in ["/v1/responses", "/v1/responses?contract=sse.v1"] {
        for (case, status, wanted, retry) in [
            ("redirect", 502, "upstream_redirects", "false"),
            ("html", 502, "upstream_not_a_response", "false"),
            ("gzip", 502, "upstream_compresses", "false"),
            ("nonsense", 502, "upstream_lost", "false"),
            ("endless", 502, "upstream_lost", "false"),
            ("closes", 502, "upstream_lost", "false"),
        ] {
            let answer = gate.ask(path, &[("x-client-request-id", case)]);
            assert_eq!(answer.header("x-should-retry"), retry, "{case}");
            assert_eq!(code(answer), (status, wanted.to_owned()), "{case}");
        }
    }
    assert_eq!(upstream.seen().len(), 12, "nothing was asked twice, and no redirect was followed");
    assert!(gate.runs().is_empty());
    upstream.wait_until_quiet();
    let nobody = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/v1", listener.local_addr().unwrap())
    };
    let gate = Gate::at(&nobody, "", &[]);
    let answer = gate.ask("/v1/responses", &[]);
    assert_eq!(answer.header("x-should-retry"), "true");
    assert_eq!(code(answer), (502, "upstream_unreachable".to_owned()));
}

#[test]
fn an_upstream_that_stalls_is_given_up_in_time() {
    let bytes = recorded("scripted__text-valid.sse");
    let begun = events(&bytes)[..4].concat();
    let script = begun.clone();
    let upstream = Upstream::start(move |request, stream| {
        if request.header("x-client-request-id") == "body" {
            stream_head(stream);
            let _ = stream.write_all(script.as_bytes());
        } else if request.header("x-client-request-id") == "head" {
            stream_head(stream);
        }
        wait_for_close(stream);
    });
    let gate = Gate::new(&upstream, "answer_timeout_ms = 300\nidle_timeout_ms = 300");
    for path in ["/v1/responses", "/v1/responses?contract=sse.v1"] {
        assert_eq!(code(gate.ask(path, &[])), (504, "upstream_timeout".to_owned()));
    }
    assert!(gate.runs().is_empty());
    // The head, and then nothing: the client sees that it is not whole, or, where there is no run yet, an error.
    let (body, is_whole) = until_torn(gate.ask("/v1/responses", &[("x-client-request-id", "head")]));
    assert_eq!((&*body, is_whole), (&b""[..], false));
    let translated = gate.ask("/v1/responses?contract=sse.v1", &[("x-client-request-id", "head")]);
    assert_eq!(code(translated), (502, "upstream_lost".to_owned()));
    // In the middle: the run ends and says why.
    let (body, is_whole) = until_torn(gate.ask("/v1/responses", &[("x-client-request-id", "body")]));
    assert_eq!((String::from_utf8(body).unwrap(), is_whole), (begun, false));
    let run = gate.wait_for_end();
    is_told_as_failed(gate.proxy.address, &run, "upstream_silent");
    let translated = gate.ask("/v1/responses?contract=frames.v2", &[("x-client-request-id", "body")]).events();
    assert!(translated.last().unwrap().data.contains("upstream_silent"), "{:?}", translated.last());
    upstream.wait_until_quiet();
}

#[test]
fn an_upstream_that_breaks_off_in_an_event_leaves_nothing_open_and_loses_nothing() {
    let bytes = recorded("scripted__text-valid.sse");
    let pieces = events(&bytes);
    let half = pieces[..5].concat() + &pieces[5][..pieces[5].len() / 2];
    let script = half.clone();
    let upstream = Upstream::start(move |_, stream| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
        let _ = stream.write_all(format!("{head}{:x}\r\n{script}\r\n", script.len()).as_bytes());
    });
    let gate = Gate::new(&upstream, "");
    let (body, is_whole) = until_torn(gate.ask("/v1/responses", &[]));
    assert_eq!((String::from_utf8(body).unwrap(), is_whole), (half.clone(), false));
    let run = gate.wait_for_end();
    is_told_as_failed(gate.proxy.address, &run, "upstream_lost");
    // The half record is kept too.
    assert_eq!((&run["records"], &run["invalid_records"]), (&json!(6), &json!(1)));
    let raw = gate.get("/v1/responses/resp_lab?stream=true").text();
    assert_eq!(raw.trim_end(), half.trim_end());
    upstream.wait_until_quiet();
}

#[test]
fn a_client_that_leaves_does_not_take_its_response_along() {
    let bytes = recorded("scripted__text-valid.sse");
    let (left, has_left) = mpsc::channel::<()>();
    let (pieces, has_left) = (events(&bytes), Mutex::new(has_left));
    let upstream = Upstream::start(move |_, stream| {
        stream_head(stream);
        let _ = stream.write_all(pieces[..3].concat().as_bytes());
        let _ = has_left.lock().unwrap().recv_timeout(Duration::from_secs(30));
        for piece in &pieces[3..] {
            let _ = stream.write_all(piece.as_bytes());
            thread::sleep(Duration::from_millis(5));
        }
    });
    let gate = Gate::new(&upstream, "");
    let before = gate.held();
    for path in ["/v1/responses", "/v1/responses?contract=frames.v2"] {
        let before = gate.runs().len();
        let mut answer = gate.ask(path, &[]);
        assert!(answer.line().is_some());
        drop(answer);
        left.send(()).unwrap();
        let run = gate.wait_for("the end of a run more", |run| run["ended_at_ms"].is_u64());
        assert!(gate.runs().len() > before);
        assert_eq!(run["state"], "completed");
        assert!(gate.get("/v1/responses/resp_lab?stream=true").bytes() == bytes);
    }
    upstream.wait_until_quiet();
    gate.lets_go(before);
}

#[test]
fn where_it_is_configured_a_response_is_given_up_with_its_client() {
    let bytes = recorded("scripted__text-valid.sse");
    let pieces = events(&bytes);
    let upstream = Upstream::start(move |_, stream| {
        stream_head(stream);
        let _ = stream.write_all(pieces[..3].concat().as_bytes());
        // Until nobody reads any more: a word that is no event.
        while stream.write_all(b": still here\n\n").is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    });
    // Of a client that left, the proxy learns by what it writes to it: in a contract, by its heartbeat at the latest.
    let gate = Gate::with(&upstream, "cancel_on_disconnect = true", &[("FRAMEGATE__SERVER__HEARTBEAT_MS", "100")]);
    for path in ["/v1/responses", "/v1/responses?contract=frames.v2"] {
        let mut answer = gate.ask(path, &[]);
        assert!(answer.line().is_some());
        drop(answer);
        let run = gate.wait_for_end();
        assert_eq!((&run["state"], &run["error_code"]), (&json!("interrupted"), &json!("client_left")));
        upstream.wait_until_quiet();
    }
}

#[test]
fn a_client_that_does_not_read_is_closed_and_the_run_goes_on() {
    let created = events(&recorded("scripted__text-valid.sse"))[0].clone();
    let last = events(&recorded("scripted__text-valid.sse")).pop().unwrap();
    let upstream = Upstream::start(move |_, stream| {
        stream_head(stream);
        let _ = stream.write_all(created.as_bytes());
        let delta = json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0,
            "content_index": 0, "sequence_number": 2, "delta": "x".repeat(60_000), "logprobs": []});
        for _ in 0..400 {
            if write!(stream, "event: response.output_text.delta\ndata: {delta}\n\n").is_err() {
                return;
            }
        }
        let _ = stream.write_all(last.as_bytes());
    });
    let gate = Gate::new(&upstream, "client_buffer_bytes = 65536\nslow_client_ms = 300");
    let answer = gate.ask("/v1/responses", &[]);
    let run = gate.wait_for_end();
    assert_eq!(run["state"], "completed");
    assert_eq!(run["records"], 402);
    let (body, is_whole) = until_torn(answer);
    assert!(!is_whole && body.len() < 24_000_000, "{} bytes", body.len());
    assert!(gate.log().contains("read too slowly"), "{}", gate.log());
    upstream.wait_until_quiet();
}

#[test]
fn a_gigabyte_in_one_event_passes_in_bounded_memory() {
    const MIB: usize = 1 << 20;
    let pieces = events(&recorded("scripted__text-valid.sse"));
    let (first, last) = (pieces[0].clone(), pieces[pieces.len() - 1].clone());
    let upstream = Upstream::start(move |_, stream| {
        stream_head(stream);
        let _ = stream.write_all(first.as_bytes());
        let _ = stream.write_all(b"event: response.output_text.delta\ndata: {\"delta\":\"");
        let piece = vec![b'x'; MIB];
        for _ in 0..1024 {
            if stream.write_all(&piece).is_err() {
                return;
            }
        }
        let _ = stream.write_all(b"\"}\n\n");
        let _ = stream.write_all(last.as_bytes());
    });
    let settings = [("FRAMEGATE__INGEST__MAX_RECORD_BYTES", "1048576")];
    let gate = Gate::with(&upstream, "", &settings);
    let own = gate.ask("/v1/responses", &[]);
    let (mut reader, _) = own.into_raw();
    let mut buffer = vec![0; MIB];
    let mut read = 0;
    while let Ok(more @ 1..) = reader.read(&mut buffer) {
        read += more;
    }
    assert!(read > 1024 * MIB, "{read}");
    let run = gate.wait_for_end();
    assert_eq!((&run["state"], &run["records"], &run["invalid_records"]), (&json!("completed"), &json!(3), &json!(1)));
    let status = std::fs::read_to_string(format!("/proc/{}/status", gate.proxy.pid())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 256 * 1024, "{peak} KiB at the most");
}

#[test]
fn a_request_at_the_limit_passes_and_one_over_it_does_not() {
    let upstream = Upstream::streaming(recorded("scripted__text-valid.sse"));
    let limit = REQUEST.len();
    for (limit, status) in [(limit, 200), (limit - 1, 413)] {
        let gate = Gate::new(&upstream, &format!("max_request_bytes = {limit}"));
        let told = gate.ask("/v1/responses", &[]);
        assert_eq!(told.status, status);
        // Its length is not told beforehand.
        let mut stream = connect(gate.proxy.address);
        let head = format!("POST /v1/responses HTTP/1.1\r\nhost: {}\r\ntransfer-encoding: chunked", gate.proxy.address);
        let body = String::from_utf8(REQUEST.to_vec()).unwrap();
        write!(stream, "{head}\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len()).unwrap();
        assert_eq!(Answer::read(stream).status, status);
    }
}

#[test]
fn there_are_as_many_responses_at_a_time_as_there_may_be() {
    let upstream = Upstream::start(|_, stream| {
        stream_head(stream);
        wait_for_close(stream);
    });
    let gate = Gate::new(&upstream, "max_runs = 2\nidle_timeout_ms = 3000");
    let held = [gate.ask("/v1/responses", &[]), gate.ask("/v1/responses", &[])];
    let refused = gate.ask("/v1/responses", &[]);
    assert!(!refused.header("retry-after").is_empty());
    assert_eq!(code(refused), (503, "limit".to_owned()));
    drop(held);
    // Given back when they are over.
    upstream.wait_until_quiet();
    let deadline = Instant::now() + Duration::from_secs(30);
    while gate.ask("/v1/responses", &[]).status != 200 {
        assert!(Instant::now() < deadline);
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_proxy_that_stops_lets_a_response_come_to_its_end_and_cuts_it_when_it_takes_too_long() {
    let bytes = recorded("scripted__text-valid.sse");
    let pieces = events(&bytes);
    for (grace, outcome) in [("20000", true), ("100", false)] {
        let (go, wait) = mpsc::channel::<()>();
        let upstream = in_two(&pieces, 3, wait);
        let mut gate = Gate::with(&upstream, "", &[("FRAMEGATE__SERVER__SHUTDOWN_GRACE_MS", grace)]);
        let answer = gate.ask("/v1/responses", &[]);
        gate.wait_for("the run", |run| run["records"].as_u64() >= Some(3));
        gate.proxy.signal("TERM");
        if outcome {
            thread::sleep(Duration::from_millis(50));
            go.send(()).unwrap();
            assert!(answer.text().contains("response.completed"));
        } else {
            let (body, is_whole) = until_torn(answer);
            assert!(!is_whole);
            assert!(String::from_utf8(body).unwrap().contains(": framegate is stopping"));
        }
        assert!(gate.proxy.terminate().success());
    }
}

#[test]
fn requests_are_counted_by_their_upstream_and_how_they_ended() {
    let upstream = Upstream::streaming(recorded("scripted__text-valid.sse"));
    let gate = Gate::new(&upstream, "");
    drop(gate.ask("/v1/responses", &[]).bytes());
    let line = "framegate_upstream_requests_total{outcome=\"finished\",upstream=\"lab\"}";
    let deadline = Instant::now() + Duration::from_secs(30);
    while gate.metric(line) != "1" {
        assert!(Instant::now() < deadline, "{}", gate.metric(line));
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(gate.metric("framegate_ingests_open{runner=\"open-responses\"}"), "0");
    assert_eq!(gate.metric("framegate_ingests_ended_total{reason=\"finished\",runner=\"open-responses\"}"), "1");
}
