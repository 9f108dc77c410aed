//! What is never in the log lines, at any level; and what the head of every answer contains.

use crate::auth::{bearer, secret, token};
use crate::client::{get, post};
use crate::http2::Http2;
use crate::proxy::{Folder, Proxy, recording};
use framegate_translators::contracts::names;

#[test]
fn payloads_and_tokens_are_never_logged() {
    const PLANTED: &str = "PLANTED-PAYLOAD-7f3a";
    for format in ["text", "json"] {
        let folder = Folder::new();
        let tokens = folder.write("tokens.toml", &token(&folder, "ui", "scopes = [\"read\", \"ingest\"]"));
        let proxy = Proxy::logging_to(
            &folder.path("log"),
            &[
                ("FRAMEGATE__AUTH__TOKENS_FILE", &tokens),
                ("FRAMEGATE__TELEMETRY__FILTER", "trace"),
                ("FRAMEGATE__TELEMETRY__FORMAT", format),
            ],
        );
        let authorization = bearer("ui");
        let authorized = [("authorization", &*authorization)];
        let text = String::from_utf8(recording("claude-code", "bash_ok.partial.ndjson")).unwrap();
        // Payload in a text and in an output; a record that is not JSON; an unknown type and an unknown field; a record that is
        // cut off.
        let planted = text.replace("\"text\":\"", &format!("\"text\":\"{PLANTED} "))
            + &format!(
                "{PLANTED} no json\n{{\"type\":\"new_type\",\"field\":\"{PLANTED}\"}}\n{{\"type\":\"assistant\",\"message\":\"{PLANTED}\"}}\n{{\"type\":\"result\",\"result\":\"{PLANTED}"
            );
        let made = post(proxy.address, "/v1/ingest/claude-code", &authorized, planted.as_bytes()).json();
        let run = made["runs"][0]["run_id"].as_str().unwrap_or_else(|| panic!("{made:#}"));
        for contract in names() {
            let path = format!("/v1/runs/{run}/events?contract={contract}");
            assert!(get(proxy.address, &path, &authorized).text().contains(PLANTED), "{contract}");
        }
        let guess = "GUESSED-TOKEN-91c2";
        assert_eq!(get(proxy.address, "/v1/runs", &[("authorization", &format!("Bearer {guess}"))]).status, 401);
        assert_eq!(get(proxy.address, &format!("/v1/runs?access_token={guess}"), &authorized).status, 400);
        let mut http2 = Http2::connect(proxy.address);
        assert_eq!(http2.get("/v1/runs", &authorized).status, 200);
        assert_eq!(http2.get("/v1/runs", &[("authorization", &format!("Bearer {guess}"))]).status, 401);
        proxy.signal("HUP");
        let log = folder.wait_for("log", "the configuration was reloaded");
        assert!(log.lines().count() > 20, "this level must log much:\n{log}");
        for (what, planted) in [("payload", PLANTED), ("token", &*secret("ui")), ("guess", guess)] {
            let leak = log.lines().find(|line| line.contains(planted));
            assert!(leak.is_none(), "the log has the {what}: {leak:?}");
        }
    }
}

#[test]
fn every_answer_has_the_security_headers() {
    let proxy = Proxy::start();
    for path in ["/healthz", "/v1/runs", "/nothing", "/v1/contracts", "/v1/events", "/v1/artifacts/wrong"] {
        let answer = get(proxy.address, path, &[]);
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin", "{path}");
        assert_eq!(answer.header("referrer-policy"), "no-referrer", "{path}");
        assert!(answer.header("content-security-policy").starts_with("default-src 'none'"), "{path}");
        assert!(!answer.headers.contains_key("strict-transport-security"), "{path} has no TLS");
    }
}
