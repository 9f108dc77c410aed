//! The page in a browser: its files, their headers, and who may load them.

use crate::client::{get, post};
use crate::proxy::{Folder, Proxy};
use flate2::read::GzDecoder;
use serde_json::json;
use std::io::Read;
use std::path::Path;

/// The files, with their media types and their names in `ui/dist`.
const FILES: &[(&str, &str, &str)] = &[
    ("/", "text/html; charset=utf-8", "index.html"),
    ("/app.js", "text/javascript; charset=utf-8", "app.js"),
    ("/app.css", "text/css; charset=utf-8", "app.css"),
];

const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src \
                      'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

fn stored(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/dist").join(name)).unwrap()
}

#[test]
fn the_files_of_the_page_are_served_with_headers_that_restrict_it() {
    let proxy = Proxy::start();
    for (path, media_type, name) in FILES {
        let answer = get(proxy.address, path, &[]);
        assert_eq!((answer.status, answer.header("content-type")), (200, *media_type), "{path}");
        for (header, expected) in [
            ("content-security-policy", POLICY),
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", "no-cache"),
            ("vary", "accept-encoding"),
            ("content-encoding", ""),
        ] {
            assert_eq!(answer.header(header), expected, "{path} {header}");
        }
        assert_eq!(answer.text().as_bytes(), stored(name), "{path}");
    }
}

#[test]
fn an_unchanged_file_is_not_sent_again_and_each_coding_has_its_own_tag() {
    let proxy = Proxy::start();
    for (path, ..) in FILES {
        let plain = get(proxy.address, path, &[]);
        let compressed = get(proxy.address, path, &[("accept-encoding", "br, gzip")]);
        let tags = [plain.header("etag").to_owned(), compressed.header("etag").to_owned()];
        assert!(tags.iter().all(|tag| tag.starts_with('"') && tag.len() == 66), "{tags:?}");
        let is_compressed = compressed.header("content-encoding") == "gzip";
        assert_eq!(tags[0] != tags[1], is_compressed, "{path}");
        let again = get(proxy.address, path, &[("if-none-match", &tags[0])]);
        assert_eq!((again.status, again.header("etag")), (304, &*tags[0]));
        assert_eq!(again.header("content-security-policy"), POLICY);
        let again = get(proxy.address, path, &[("if-none-match", &tags[1]), ("accept-encoding", "gzip")]);
        assert_eq!((again.status, again.header("etag")), (304, &*tags[1]));
        if is_compressed {
            let other = get(proxy.address, path, &[("if-none-match", &tags[1])]);
            assert_eq!(other.status, 200, "the tag of the compressed form is not that of the plain one");
        }
    }
}

#[test]
fn a_compressed_file_is_the_file() {
    let proxy = Proxy::start();
    for (path, _, name) in FILES {
        let answer = get(proxy.address, path, &[("accept-encoding", "gzip")]);
        let (coding, length) =
            (answer.header("content-encoding").to_owned(), answer.header("content-length").to_owned());
        let (mut body, _) = answer.into_raw();
        let mut bytes = vec![0; length.parse().unwrap()];
        body.read_exact(&mut bytes).unwrap();
        if coding == "gzip" {
            let mut plain = Vec::new();
            GzDecoder::new(&*bytes).read_to_end(&mut plain).unwrap();
            assert!(bytes.len() < plain.len(), "{path}");
            bytes = plain;
        }
        assert_eq!(bytes, stored(name), "{path}");
    }
}

#[test]
fn the_page_needs_no_token_and_the_data_does() {
    let folder = Folder::new();
    let token = folder.write("token", "a-secret-token-for-tests\n");
    let proxy = Proxy::with(&[("FRAMEGATE__SERVER__TOKEN_FILE", &token)]);
    for (path, ..) in FILES {
        assert_eq!(get(proxy.address, path, &[]).status, 200, "{path}");
    }
    assert_eq!(get(proxy.address, "/v1/runs", &[]).status, 401);
    assert_eq!(get(proxy.address, "/v1/access", &[]).status, 401);
}

#[test]
fn other_hosts_and_origins_do_not_get_the_page() {
    let proxy = Proxy::start();
    for (path, ..) in FILES {
        assert_eq!(get(proxy.address, path, &[("origin", "https://evil.example")]).status, 403, "{path}");
        let mut stream = crate::client::connect(proxy.address);
        use std::io::Write;
        write!(stream, "GET {path} HTTP/1.1\r\nhost: evil.example\r\n\r\n").unwrap();
        assert_eq!(crate::client::Answer::read(stream).status, 421, "{path}");
        assert_eq!(post(proxy.address, path, &[], b"{}").status, 405, "{path}");
    }
}

#[test]
fn the_page_is_off_by_default_where_other_machines_can_reach_it() {
    let folder = Folder::new();
    let token = folder.write("token", "a-secret-token-for-tests\n");
    let wide = ("FRAMEGATE__SERVER__LISTEN", "0.0.0.0:0");
    let with = |enabled: Option<&str>, is_wide: bool| {
        let mut settings = vec![("FRAMEGATE__SERVER__TOKEN_FILE", &*token)];
        settings.extend(is_wide.then_some(wide));
        settings.extend(enabled.map(|enabled| ("FRAMEGATE__UI__ENABLED", enabled)));
        let proxy = Proxy::with(&settings);
        let address = std::net::SocketAddr::from(([127, 0, 0, 1], proxy.address.port()));
        FILES.iter().map(|(path, ..)| get(address, path, &[]).status).collect::<Vec<_>>()
    };
    assert_eq!(with(None, false), [200; 3]);
    assert_eq!(with(Some("auto"), false), [200; 3]);
    assert_eq!(with(Some("off"), false), [404; 3]);
    assert_eq!(with(None, true), [404; 3]);
    assert_eq!(with(Some("on"), true), [200; 3]);
}

#[test]
fn a_caller_learns_what_its_token_permits() {
    let proxy = Proxy::start();
    let access = get(proxy.address, "/v1/access", &[]).json();
    let all = ["ingest", "read", "control", "admin"];
    assert_eq!(access, json!({"tokens_required": false, "scopes": all, "version": env!("CARGO_PKG_VERSION")}));

    let folder = Folder::new();
    let names = [("reader", &["read"][..]), ("sender", &["ingest"]), ("both", &["control", "read"])];
    let tokens: String = names
        .iter()
        .map(|(name, scopes)| {
            let file = folder.write(name, &format!("the-secret-of-{name}\n"));
            format!("[[token]]\nname = {name:?}\nscopes = {scopes:?}\nfile = {file:?}\n")
        })
        .collect();
    let tokens = folder.write("tokens.toml", &tokens);
    let proxy = Proxy::with(&[("FRAMEGATE__AUTH__TOKENS_FILE", &tokens)]);
    for (name, scopes) in names {
        let bearer = format!("Bearer the-secret-of-{name}");
        let answer = get(proxy.address, "/v1/access", &[("authorization", &bearer)]);
        assert_eq!(answer.status, 200, "any token may ask, whatever its scopes are");
        let access = answer.json();
        let expected: Vec<&str> = all.into_iter().filter(|scope| scopes.contains(scope)).collect();
        assert_eq!((&access["tokens_required"], &access["scopes"]), (&json!(true), &json!(expected)), "{name}");
    }
    assert_eq!(get(proxy.address, "/v1/access", &[("authorization", "Bearer the-secret-of-no-token")]).status, 401);
}

#[test]
fn a_proxy_without_codes_redeems_none() {
    let proxy = Proxy::start();
    for (body, status) in
        [(r#"{"code":""}"#, 404), (r#"{"code":"x"}"#, 404), ("{}", 400), (r#"{"code":1}"#, 400), ("", 400)]
    {
        assert_eq!(post(proxy.address, "/v1/access/redeem", &[], body.as_bytes()).status, status, "{body}");
    }
}
