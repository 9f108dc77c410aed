//! Requests that are refused before the upstream is asked, in the format that the SDKs read.

use super::*;
use crate::client::connect;
use crate::scripted::Upstream;
use serde_json::json;

/// Sends a request by hand.
fn ask(gate: &Gate, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut stream = connect(gate.proxy.address);
    let has_host = headers.iter().any(|(name, _)| *name == "host");
    let host = if has_host { String::new() } else { format!("host: {}\r\n", gate.proxy.address) };
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    write!(stream, "{method} {path} HTTP/1.1\r\n{host}{headers}content-length: {}\r\n\r\n{body}", body.len()).unwrap();
    Answer::read(stream)
}

/// Fails unless an answer is an error in the SDKs' format; returns its message.
fn assert_refusal(answer: Answer, status: u16, code: &str) -> String {
    assert_eq!((answer.status, answer.header("content-type")), (status, "application/json"));
    let error = answer.json()["error"].clone();
    assert_eq!((&error["type"], &error["code"]), (&json!("framegate_error"), &json!(code)), "{error}");
    assert!(error["param"].is_null() && error.as_object().unwrap().len() == 4, "{error}");
    let message = error["message"].as_str().unwrap().to_owned();
    assert!(!message.is_empty());
    message
}

#[test]
fn refusals_have_the_error_format_of_the_sdks() {
    let upstream = Upstream::streaming(recorded("scripted__text-valid.sse"));
    let folder = Folder::new();
    folder.write("reads", "reads-0123456789abcdef");
    folder.write("asks", "asks-0123456789abcdef");
    let tokens = "[[token]]\nname = \"reads\"\nfile = \"reads\"\nscopes = [\"read\"]\n\
        [[token]]\nname = \"asks\"\nfile = \"asks\"\nscopes = [\"read\", \"control\"]\n";
    let tokens = folder.write("tokens.toml", tokens);
    let settings = [
        ("FRAMEGATE__AUTH__TOKENS_FILE", &*tokens),
        ("FRAMEGATE__LIMITS__REQUESTS_PER_SECOND", "1"),
        ("FRAMEGATE__LIMITS__REQUEST_BURST", "14"),
    ];
    let gate = Gate::with(&upstream, "max_request_bytes = 100", &settings);
    let reads = ("authorization", "Bearer reads-0123456789abcdef");
    let asks = ("authorization", "Bearer asks-0123456789abcdef");
    let path = "/v1/responses";
    let none = ask(&gate, "POST", path, &[], "{}");
    assert!(none.header("www-authenticate").starts_with("Bearer"));
    assert!(assert_refusal(none, 401, "unauthorized").contains("token"));
    let wrong = ask(&gate, "GET", "/v1/responses/resp_1", &[("authorization", "Bearer no")], "");
    assert!(wrong.header("www-authenticate").contains("invalid_token"));
    assert_refusal(wrong, 401, "unauthorized");
    let scope = ask(&gate, "POST", path, &[reads], "{}");
    assert!(scope.header("www-authenticate").contains("insufficient_scope"));
    assert!(assert_refusal(scope, 403, "not_allowed").contains("control"));
    let unknown = ask(&gate, "GET", "/v1/responses/resp_1/nothing/at/all", &[asks], "");
    assert_refusal(unknown, 404, "not_found");
    let method = ask(&gate, "PUT", path, &[asks], "{}");
    assert_eq!(method.header("allow"), "POST, OPTIONS");
    assert_refusal(method, 405, "method_not_allowed");
    assert_refusal(ask(&gate, "GET", path, &[asks], ""), 405, "method_not_allowed");
    assert_refusal(ask(&gate, "POST", path, &[asks], &"x".repeat(101)), 413, "request_too_large");
    assert_refusal(ask(&gate, "POST", path, &[asks, ("host", "elsewhere.example")], "{}"), 421, "host_not_allowed");
    assert_refusal(
        ask(&gate, "POST", path, &[asks, ("origin", "https://elsewhere.example")], "{}"),
        403,
        "not_allowed",
    );
    assert_refusal(ask(&gate, "POST", "/v1/responses?contract=none", &[asks], "{}"), 406, "not_acceptable");
    // Other paths answer with problem documents.
    let other = ask(&gate, "GET", "/v1/nothing", &[asks], "");
    assert_eq!((other.status, other.header("content-type")), (404, "application/problem+json"));
    let deadline = Instant::now() + Duration::from_secs(30);
    let limited = loop {
        let answer = ask(&gate, "POST", path, &[asks], "{}");
        if answer.status == 429 {
            break answer;
        }
        assert!(Instant::now() < deadline, "{}", answer.status);
    };
    assert!(limited.header("retry-after").parse::<u64>().is_ok_and(|seconds| seconds >= 1));
    assert_refusal(limited, 429, "limit");
}

#[test]
fn a_websocket_handshake_is_refused_with_a_hint_to_post() {
    let upstream = Upstream::streaming(recorded("scripted__text-valid.sse"));
    let gate = Gate::new(&upstream, "");
    let handshake = [
        ("connection", "Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    let answer = ask(&gate, "GET", "/v1/responses", &handshake, "");
    assert!(!answer.header("upgrade").is_empty());
    assert!(assert_refusal(answer, 426, "upgrade_required").contains("POST"));
    assert_eq!(ask(&gate, "GET", "/v1/responses", &[], "").status, 405, "no handshake");
    assert!(upstream.requests().is_empty());
}
