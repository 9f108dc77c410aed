//! Pages of other origins.

use crate::client::{Answer, connect, get};
use crate::proxy::{Folder, Proxy, refusal};
use std::io::Write;

const ORIGIN: &str = "https://ui.example";

fn options(proxy: &Proxy, path: &str, headers: &[(&str, &str)]) -> Answer {
    let mut stream = connect(proxy.address);
    write!(stream, "OPTIONS {path} HTTP/1.1\r\nhost: {}\r\n", proxy.address).unwrap();
    for (name, value) in headers {
        write!(stream, "{name}: {value}\r\n").unwrap();
    }
    stream.write_all(b"\r\n").unwrap();
    Answer::read(stream)
}

const PREFLIGHT: (&str, &str) = ("access-control-request-method", "GET");

#[test]
fn no_page_reads_anything_unless_its_origin_is_configured() {
    let proxy = Proxy::start();
    let own = get(proxy.address, "/v1/runs", &[("origin", "http://localhost:3000")]);
    assert_eq!((own.status, own.header("access-control-allow-origin"), own.header("vary")), (200, "", ""));
    assert_eq!(get(proxy.address, "/v1/runs", &[("origin", ORIGIN)]).status, 403);
    let preflight = options(&proxy, "/v1/runs", &[("origin", "http://localhost:3000"), PREFLIGHT]);
    assert_eq!(preflight.header("access-control-allow-origin"), "");
}

#[test]
fn a_configured_origin_may_ask_and_read_and_no_other_one() {
    let folder = Folder::new();
    let token = folder.write("token", "s3cret\n");
    let proxy = Proxy::with(&[
        ("FRAMEGATE__SERVER__CORS_ORIGINS", &format!("{ORIGIN}, http://127.0.0.1:3000")),
        ("FRAMEGATE__SERVER__TOKEN_FILE", &token),
    ]);
    // Browsers send no token with a preflight.
    let preflight = options(
        &proxy,
        "/v1/ingest/codex",
        &[("origin", ORIGIN), PREFLIGHT, ("access-control-request-private-network", "true")],
    );
    assert_eq!(preflight.status, 204);
    assert_eq!(preflight.header("access-control-allow-origin"), ORIGIN);
    assert_eq!(preflight.header("access-control-allow-methods"), "POST, OPTIONS");
    assert!(preflight.header("access-control-allow-headers").contains("authorization"));
    assert!(preflight.header("access-control-allow-headers").contains("last-event-id"));
    assert_eq!(preflight.header("access-control-allow-private-network"), "true");
    assert_eq!(preflight.header("vary"), "origin");
    assert!(!preflight.headers.contains_key("access-control-allow-credentials"));
    let answer = get(proxy.address, "/v1/runs", &[("origin", ORIGIN), ("authorization", "Bearer s3cret")]);
    assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, ORIGIN));
    assert!(answer.header("access-control-expose-headers").contains("retry-after"));
    // A refusal can be read too, or a page would only see that it failed.
    let refused = get(proxy.address, "/v1/runs", &[("origin", ORIGIN)]);
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (401, ORIGIN));
    for other in ["https://ui.example.evil.example", "http://ui.example", "https://ui.example:444", "null", "*"] {
        let answer = get(proxy.address, "/v1/runs", &[("origin", other), ("authorization", "Bearer s3cret")]);
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (403, ""), "{other}");
        assert_eq!(answer.header("vary"), "origin", "a cache must keep the answers apart");
        assert_eq!(options(&proxy, "/v1/runs", &[("origin", other), PREFLIGHT]).status, 403, "{other}");
    }
    assert_eq!(get(proxy.address, "/v1/runs", &[("authorization", "Bearer s3cret")]).header("vary"), "origin");
}

#[test]
fn an_origin_that_no_browser_sends_is_refused_at_the_start() {
    for wrong in ["*", "https://ui.example/", "ui.example", "https://", "HTTPS://UI.example", "https://*.example"] {
        let said = refusal(&[("FRAMEGATE__SERVER__CORS_ORIGINS", wrong)]);
        assert!(said.contains("FRAMEGATE__SERVER__CORS_ORIGINS") && said.contains("is no origin"), "{wrong}: {said}");
    }
}
