//! Requests from pages of other origins (CORS).

use crate::client::{Answer, connect, get, post};
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
fn only_pages_of_configured_origins_may_read() {
    let proxy = Proxy::start();
    let own = get(proxy.address, "/v1/runs", &[("origin", &format!("http://{}", proxy.address))]);
    assert_eq!((own.status, own.header("access-control-allow-origin"), own.header("vary")), (200, "", ""));
    assert_eq!(get(proxy.address, "/v1/runs", &[("origin", ORIGIN)]).status, 403);
    let preflight = options(&proxy, "/v1/runs", &[("origin", "http://localhost:3000"), PREFLIGHT]);
    assert_eq!(preflight.header("access-control-allow-origin"), "");
}

#[test]
fn a_configured_origin_may_send_requests_and_no_other_may() {
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
    // A page can read the refusal too. Otherwise it would only see a network error.
    let refused = get(proxy.address, "/v1/runs", &[("origin", ORIGIN)]);
    assert_eq!((refused.status, refused.header("access-control-allow-origin")), (401, ORIGIN));
    for other in ["https://ui.example.evil.example", "http://ui.example", "https://ui.example:444", "null", "*"] {
        let answer = get(proxy.address, "/v1/runs", &[("origin", other), ("authorization", "Bearer s3cret")]);
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (403, ""), "{other}");
        assert_eq!(answer.header("vary"), "origin", "caches must distinguish the answers by origin");
        assert_eq!(options(&proxy, "/v1/runs", &[("origin", other), PREFLIGHT]).status, 403, "{other}");
    }
    assert_eq!(get(proxy.address, "/v1/runs", &[("authorization", "Bearer s3cret")]).header("vary"), "origin");
}

#[test]
fn an_invalid_origin_in_the_settings_prevents_the_start() {
    for wrong in ["*", "https://ui.example/", "ui.example", "https://", "HTTPS://UI.example", "https://*.example"] {
        let said = refusal(&[("FRAMEGATE__SERVER__CORS_ORIGINS", wrong)]);
        assert!(
            said.contains("FRAMEGATE__SERVER__CORS_ORIGINS") && said.contains("is not an origin"),
            "{wrong}: {said}"
        );
    }
}

#[test]
fn a_page_of_another_local_program_cannot_start_a_run() {
    let proxy = Proxy::start();
    let port = proxy.address.port();
    let own = format!("http://127.0.0.1:{port}");
    let order = b"{\"upstream\":\"claude\",\"prompt\":\"x\"}";
    for path in ["/v1/runs", "/v1/ingest/claude-code"] {
        for other in [
            "http://127.0.0.1:5173".to_owned(),
            "http://127.0.0.1".to_owned(),
            format!("https://127.0.0.1:{port}"),
            format!("http://localhost:{port}"),
            "null".to_owned(),
        ] {
            let answer = post(proxy.address, path, &[("origin", &other)], order);
            assert_eq!(answer.status, 403, "{path} {other}");
            assert!(answer.json()["detail"].as_str().unwrap().contains("--cors"), "{other}");
        }
        assert_ne!(post(proxy.address, path, &[("origin", &own)], order).status, 403, "{path}");
    }
}

#[test]
fn origins_of_the_command_line_replace_those_of_the_settings() {
    let arguments = ["--cors", "http://localhost:5173", "--cors", "http://127.0.0.1:3000"];
    let proxy = Proxy::with_arguments(&arguments, &[("FRAMEGATE__SERVER__CORS_ORIGINS", ORIGIN)]);
    for origin in ["http://localhost:5173", "http://127.0.0.1:3000"] {
        let answer = get(proxy.address, "/v1/runs", &[("origin", origin)]);
        assert_eq!((answer.status, answer.header("access-control-allow-origin")), (200, origin));
    }
    assert_eq!(
        get(proxy.address, "/v1/runs", &[("origin", ORIGIN)]).status,
        403,
        "the flag takes precedence over the setting"
    );
}

#[test]
fn a_trusted_proxy_forwards_the_origin_of_the_client() {
    let folder = Folder::new();
    let token = folder.write("token", "s3cret\n");
    let settings = [("FRAMEGATE__SERVER__ALLOWED_HOSTS", "gate.example"), ("FRAMEGATE__SERVER__TOKEN_FILE", &*token)];
    let trusting = Proxy::with(&[settings[0], settings[1], ("FRAMEGATE__SERVER__TRUSTED_PROXIES", "127.0.0.0/8, ::1")]);
    let other = Proxy::with(&settings);
    let status = |proxy: &Proxy, host: &str, proto: &str| {
        let headers = [
            ("authorization", "Bearer s3cret"),
            ("origin", "https://gate.example"),
            ("x-forwarded-host", host),
            ("x-forwarded-proto", proto),
        ];
        get(proxy.address, "/v1/runs", &headers).status
    };
    assert_eq!(status(&trusting, "gate.example", "https"), 200);
    assert_eq!(status(&trusting, "gate.example", "http"), 403);
    assert_eq!(status(&trusting, "gate.example:8443", "https"), 403);
    assert_eq!(status(&trusting, "evil.example", "https"), 421);
    assert_eq!(status(&other, "gate.example", "https"), 403, "the forwarding proxy is not trusted");
}

#[test]
fn pages_may_send_and_read_the_headers_of_the_sdks() {
    let proxy = Proxy::with(&[("FRAMEGATE__SERVER__CORS_ORIGINS", ORIGIN)]);
    let asked = "authorization,content-type,idempotency-key,openai-organization,openai-project,traceparent,tracestate,\
                 x-stainless-arch,X-Stainless-Retry-Count,x-stainless-some-new-one,x-upstream-authorization";
    let headers = [("origin", ORIGIN), PREFLIGHT, ("access-control-request-headers", asked)];
    let answer = options(&proxy, "/v1/responses", &headers);
    let allowed: Vec<String> =
        answer.header("access-control-allow-headers").split(", ").map(str::to_ascii_lowercase).collect();
    for name in asked.split(',') {
        assert!(allowed.contains(&name.to_ascii_lowercase()), "{name}: {allowed:?}");
    }
    // A header is not allowed just because it was requested, and no invalid name is echoed.
    let headers =
        [("origin", ORIGIN), PREFLIGHT, ("access-control-request-headers", "x-evil, x-stainless-\u{1}, cookie")];
    let other = options(&proxy, "/v1/responses", &headers);
    let names = other.header("access-control-allow-headers");
    assert!(!names.contains("x-evil") && !names.contains("cookie") && !names.contains("x-stainless-"), "{names}");
    let read = get(proxy.address, "/v1/runs", &[("origin", ORIGIN)]);
    for name in ["x-request-id", "retry-after", "location", "etag"] {
        assert!(read.header("access-control-expose-headers").contains(name), "{name}");
    }
}
