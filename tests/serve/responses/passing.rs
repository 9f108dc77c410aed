//! What passes through unchanged and what does not: bodies, headers, tokens, errors.

use super::*;
use crate::client::{Answer, connect};
use crate::proxy::{Folder, recording};
use crate::scripted::{Upstream, stream_head, whole};
use serde_json::json;
use std::sync::Mutex;
use std::sync::mpsc;
use std::time::Duration;

#[test]
fn every_recorded_stream_passes_byte_for_byte_and_is_stored() {
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
        // The log is written first: when the client sees the end, the run has ended.
        assert!(gate.runs().iter().all(|run| run["ended_at_ms"].is_u64()), "{name}");
    }
    // All recordings that contain an event of a response become runs.
    let runs = gate.get("/v1/runs?limit=500").json()["data"].as_array().unwrap().len();
    assert!(runs + 5 > names.len(), "{runs} runs of {} recordings", names.len());
    upstream.wait_until_quiet();
}

#[test]
fn bytes_pass_without_delay() {
    let bytes = recorded("scripted__text-valid.sse");
    let pieces = events(&bytes);
    let (go, wait) = mpsc::channel::<()>();
    let (script, wait) = (pieces.clone(), Mutex::new(wait));
    let upstream = Upstream::start(move |_, stream| {
        stream_head(stream);
        for piece in &script {
            let _ = stream.write_all(piece.as_bytes());
            // The next piece is not sent before the client has this one.
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

/// The headers that Codex sends, and those that its server answers with.
const OF_CODEX: [(&str, &str); 8] = [
    ("originator", "codex_exec"),
    ("session-id", "01a20705-002f-7602-bf53-cad389683fa9"),
    ("thread-id", "01a20705-002f-7602-bf53-cad389683fa9"),
    ("version", "0.169.0"),
    ("x-codex-turn-metadata", "{\"turn_id\":\"1\"}"),
    ("x-codex-beta-features", "remote_compaction_v2"),
    ("chatgpt-account-id", "account"),
    ("x-client-request-id", "request"),
];

/// An answer with headers of every kind.
fn with_headers() -> Upstream {
    Upstream::start(|_, stream| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\nx-request-id: req_1\r\n\
            openai-version: 2020-10-01\r\nx-codex-primary-used-percent: 12\r\nx-models-etag: W/\"abc\"\r\nx-other: 1\r\n\
            x-other: 2\r\nset-cookie: secret=1\r\naccess-control-allow-origin: *\r\nalt-svc: h3=\":443\"\r\n\
            keep-alive: timeout=5\r\nx-of-the-hop: 1\r\nconnection: close, x-of-the-hop\r\n\r\n";
        let _ = stream.write_all(head.as_bytes());
        let _ = stream.write_all(&recorded("scripted__text-valid.sse"));
    })
}

#[test]
fn headers_pass_both_ways_except_hop_by_hop_headers_credentials_and_cookies() {
    let upstream = with_headers();
    let folder = Folder::new();
    let secret = folder.write("secret", "sk-upstream-0123456789\n");
    let gate = Gate::new(&upstream, &format!("authorization = \"configured\"\nsecret_file = \"{secret}\""));
    let own = [
        ("authorization", "Bearer of-the-client"),
        ("x-api-key", "of-the-client"),
        ("cookie", "a=b"),
        ("openai-beta", "responses=v1"),
        ("x-stainless-lang", "python"),
        ("idempotency-key", "once"),
        ("traceparent", "00-1-2-01"),
        ("accept-encoding", "gzip, deflate, br"),
        ("accept", "application/json"),
        ("x-of-the-client", "1"),
        ("connection", "close, x-stainless-hop"),
        ("x-stainless-hop", "1"),
        ("te", "trailers"),
        ("expect", "100-continue"),
    ];
    let headers: Vec<(&str, &str)> = own.iter().chain(&OF_CODEX).copied().collect();
    let answer = gate.ask("/v1/responses?include%5B%5D=usage&upstream=lab", &headers);
    // The interim answer (100) comes from the proxy itself.
    let answer = if answer.status == 100 { answer.next() } else { answer };
    assert_eq!(answer.status, 200);
    for (name, value) in [
        ("content-type", "text/event-stream; charset=utf-8"),
        ("x-request-id", "req_1"),
        ("openai-version", "2020-10-01"),
        ("x-codex-primary-used-percent", "12"),
        ("x-models-etag", "W/\"abc\""),
        ("x-other", "2"),
        ("set-cookie", ""),
        ("access-control-allow-origin", ""),
        ("alt-svc", ""),
        ("keep-alive", ""),
        ("x-of-the-hop", ""),
    ] {
        assert_eq!(answer.header(name), value, "{name}");
    }
    drop(answer.bytes());
    let seen = upstream.requests().remove(0);
    assert_eq!((&*seen.method, &*seen.path), ("POST", "/v1/responses?include%5B%5D=usage"));
    assert_eq!(seen.body, REQUEST);
    let upstreams = [
        ("authorization", "Bearer sk-upstream-0123456789"),
        ("host", &upstream.address.to_string()),
        ("accept-encoding", "identity"),
        ("accept", "application/json"),
        ("content-length", &REQUEST.len().to_string()),
        ("openai-beta", "responses=v1"),
        ("x-stainless-lang", "python"),
        ("idempotency-key", "once"),
        ("traceparent", "00-1-2-01"),
        ("x-of-the-client", "1"),
        ("cookie", ""),
        ("x-api-key", ""),
        ("x-stainless-hop", ""),
        ("te", ""),
        ("expect", ""),
    ];
    for (name, value) in upstreams.iter().chain(&OF_CODEX) {
        assert_eq!(seen.header(name), *value, "{name}");
    }
    assert!(!gate.log().contains("sk-upstream"));
}

#[test]
fn settings_remove_headers_or_list_those_that_pass() {
    let upstream = with_headers();
    let removing =
        "remove_request_headers = [\"x-codex-*\", \"Originator\"]\nremove_response_headers = [\"x-models-etag\"]";
    let gate = Gate::new(&upstream, removing);
    let answer = gate.ask("/v1/responses", &OF_CODEX);
    assert_eq!((answer.header("x-models-etag"), answer.header("x-codex-primary-used-percent")), ("", "12"));
    drop(answer.bytes());
    let listing = "request_headers = [\"content-type\", \"session-id\"]\nresponse_headers = []";
    let gate = Gate::new(&upstream, listing);
    let answer = gate.ask("/v1/responses", &OF_CODEX);
    assert_eq!(
        (answer.header("x-request-id"), answer.header("content-type")),
        ("", "text/event-stream; charset=utf-8")
    );
    drop(answer.bytes());
    let seen = upstream.requests();
    let of = |nth: usize| {
        ["originator", "x-codex-turn-metadata", "session-id", "version"].map(|name| seen[nth].header(name))
    };
    assert_eq!(of(0), ["", "", OF_CODEX[1].1, "0.169.0"]);
    assert_eq!(of(1), ["", "", OF_CODEX[1].1, ""]);
}

#[test]
fn a_translation_has_the_answers_headers_except_those_about_its_body() {
    let upstream = Upstream::start(|_, stream| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nx-models-etag: abc\r\netag: \"1\"\r\n\
            content-language: en\r\nconnection: close\r\n\r\n";
        let _ = stream.write_all(head.as_bytes());
        let _ = stream.write_all(&recorded("scripted__text-valid.sse"));
    });
    let gate = Gate::new(&upstream, "");
    let answer = gate.ask("/v1/responses?contract=sse.v1", &[]);
    let names = ["content-type", "x-models-etag", "etag", "content-language"];
    assert_eq!(names.map(|name| answer.header(name)), ["text/event-stream; contract=sse.v1", "abc", "", ""]);
}

#[test]
fn api_keys_of_the_client_pass_with_its_credentials() {
    let upstream = Upstream::streaming(recorded("scripted__text-valid.sse"));
    let gate = Gate::new(&upstream, "authorization = \"passthrough\"");
    drop(gate.ask("/v1/responses", &[("api-key", "azure"), ("cookie", "a=b")]).bytes());
    let seen = upstream.requests().remove(0);
    assert_eq!((seen.header("api-key"), seen.header("cookie")), ("azure", ""));
}

#[test]
fn a_token_of_the_proxy_is_never_passed_on() {
    let upstream = Upstream::streaming(recorded("scripted__text-valid.sse"));
    let folder = Folder::new();
    let token = folder.write("token", "0123456789abcdef0123456789abcdef\n");
    let passing = "authorization = \"passthrough\"";
    let gate = Gate::with(&upstream, passing, &[("FRAMEGATE__SERVER__TOKEN_FILE", &token)]);
    let own = ("authorization", "Bearer 0123456789abcdef0123456789abcdef");
    assert_eq!(gate.ask("/v1/responses", &[]).status, 401);
    drop(gate.ask("/v1/responses", &[own]).bytes());
    drop(gate.ask("/v1/responses", &[own, ("x-upstream-authorization", "Bearer sk-own")]).bytes());
    let seen = upstream.requests();
    assert_eq!(seen.len(), 2);
    assert_eq!((seen[0].header("authorization"), seen[1].header("authorization")), ("", "Bearer sk-own"));
    assert_eq!(seen[1].header("x-upstream-authorization"), "");
    drop(gate);
    // Without tokens, `Authorization` belongs to the client and is passed on.
    let gate = Gate::new(&upstream, passing);
    drop(gate.ask("/v1/responses", &[("authorization", "Bearer sk-own")]).bytes());
    assert_eq!(upstream.requests()[2].header("authorization"), "Bearer sk-own");
    drop(gate);
    let gate = Gate::new(&upstream, "");
    drop(gate.ask("/v1/responses", &[("authorization", "Bearer sk-own")]).bytes());
    assert_eq!(upstream.requests()[3].header("authorization"), "");
}

#[test]
fn requests_about_unknown_responses_pass_to_the_upstream() {
    let upstream = Upstream::start(|request, stream| {
        let body = json!({"id": "resp_up", "asked": format!("{} {}", request.method, request.path)}).to_string();
        whole(stream, "200 OK", "content-type: application/json\r\n", body.as_bytes());
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
        ("POST", "/v1/responses/compact"),
        ("POST", "/v1/responses/input_tokens?x=1"),
        ("GET", "/v1/models?client_version=0.169.0"),
        ("GET", "/v1/models/gpt-5.5"),
    ] {
        let answer = ask(method, path);
        assert_eq!(answer.status, 200);
        assert_eq!(answer.json()["asked"], format!("{method} {path}"));
    }
    let sent = upstream.requests().len();
    for id in ["..", "a%2Fb", "a%00", &"x".repeat(257)] {
        assert_eq!(ask("GET", &format!("/v1/responses/{id}")).status, 404, "{id}");
    }
    assert_eq!((sent, upstream.requests().len()), (8, 8));
    assert!(gate.runs().is_empty());
}

#[test]
fn a_complete_response_passes_and_is_stored_unless_it_continues_in_the_background() {
    let upstream = Upstream::start(|request, stream| {
        let status = request.header("x-client-request-id");
        let body = json!({"id": format!("resp_{status}"), "object": "response", "status": status, "model": "lab",
            "created_at": 1, "output": [{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": "Hello", "annotations": []}]}]});
        // Pretty-printed, as by some servers.
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
    assert_eq!(gate.runs().len(), 2, "a background response must not have a run yet");
}

#[test]
fn errors_of_the_upstream_pass_unchanged() {
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
fn unreadable_answers_are_refused_with_the_reason() {
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
        // Closes the connection without an answer.
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
    assert_eq!(upstream.requests().len(), 12, "a request was repeated, or a redirect followed");
    assert!(gate.runs().is_empty());
    upstream.wait_until_quiet();
    let closed_port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}/v1", listener.local_addr().unwrap())
    };
    let gate = Gate::at(&closed_port, "", &[]);
    let answer = gate.ask("/v1/responses", &[]);
    assert_eq!(answer.header("x-should-retry"), "true");
    assert_eq!(code(answer), (502, "upstream_unreachable".to_owned()));
}
