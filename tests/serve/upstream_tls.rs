//! Upstreams with TLS: which certificates are trusted, and the error for others.

use crate::authority::Authority;
use crate::proxy::{Folder, Proxy, recording};
use crate::responses::{Gate, code};
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::process::Command;
use std::thread;

#[test]
fn an_upstream_needs_the_configured_authority_and_its_own_name() {
    let (ours, other, folder) = (Authority::new("ours"), Authority::new("other"), Folder::new());
    let trusted = folder.write("ours.pem", &ours.pem);
    let ca_file = format!("ca_file = \"{trusted}\"");
    let bytes = recording("open-responses", "scripted__text-valid.sse");
    let good = ours.start_server("127.0.0.1", bytes.clone());
    let gate = Gate::at(&format!("https://{good}/v1"), &ca_file, &[]);
    let answer = gate.ask("/v1/responses", &[]);
    assert_eq!(answer.status, 200);
    assert!(answer.bytes() == bytes);
    assert_eq!(gate.wait_for_end()["state"], "completed");
    let plain = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
            }
        });
        address
    };
    for (what, address, expected) in [
        ("an authority that is not trusted", other.start_server("127.0.0.1", bytes.clone()), "UnknownIssuer"),
        ("another name", ours.start_server("elsewhere.example", bytes), "not valid for name \"127.0.0.1\""),
        ("no TLS", plain, "corrupt message"),
    ] {
        let gate = Gate::at(&format!("https://{address}/v1"), &ca_file, &[]);
        for path in ["/v1/responses", "/v1/responses?contract=sse.v1"] {
            let answer = gate.ask(path, &[]);
            // Nothing was sent, so the client may retry.
            assert_eq!(answer.header("x-should-retry"), "true");
            assert_eq!(code(answer), (502, "upstream_unreachable".to_owned()), "{what}");
            let said = gate.ask(path, &[]).json()["error"]["message"].as_str().unwrap().to_owned();
            assert!(said.contains(expected), "{what}: {said}");
        }
        assert!(gate.runs().is_empty(), "{what}");
    }
}

#[test]
fn a_feed_needs_the_configured_authority_and_its_own_name() {
    let (ours, other, folder) = (Authority::new("ours"), Authority::new("other"), Folder::new());
    let trusted = folder.write("ours.pem", &ours.pem);
    let bytes = recording("opencode", "event-text.sse");
    let start = |address: SocketAddr| {
        let folder = Folder::new();
        let table = format!(
            "[[upstream]]\nname = \"code\"\nkind = \"sse\"\nurl = \"https://{address}/event\"\nca_file = \"{trusted}\"\n"
        );
        let config = folder.write("config.toml", &table);
        (Proxy::configured_by(&config, &folder.path("log")), folder)
    };
    let (proxy, log) = start(ours.start_server("127.0.0.1", bytes.clone()));
    log.wait_for("log", "a run ended");
    let runs = crate::client::get(proxy.address, "/v1/runs", &[]).json();
    assert_eq!(runs["data"][0]["state"], "completed", "{runs:#}");
    for (address, expected) in [
        (other.start_server("127.0.0.1", bytes.clone()), "UnknownIssuer"),
        (ours.start_server("elsewhere.example", bytes), "not valid for name"),
    ] {
        let (proxy, log) = start(address);
        let said = log.wait_for("log", "a feed is not connected");
        assert!(said.contains(expected), "{said}");
        assert_eq!(crate::client::get(proxy.address, "/v1/runs", &[]).json()["data"], serde_json::json!([]));
    }
}

#[test]
fn unreadable_certificates_prevent_the_start() {
    let folder = Folder::new();
    let nothing = folder.path("nothing.pem").display().to_string();
    let text = folder.write("text.pem", "no certificate");
    let broken = folder.write("broken.pem", "-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n");
    for (file, expected) in [(nothing, "No such file"), (text, "BEGIN CERTIFICATE"), (broken, "cannot be read as PEM")]
    {
        for kind in ["responses", "sse"] {
            let table = format!(
                "[[upstream]]\nname = \"lab\"\nkind = \"{kind}\"\nurl = \"https://127.0.0.1:1/v1\"\nca_file = \"{file}\"\n"
            );
            let config = folder.write("config.toml", &table);
            let output = Command::new(env!("CARGO_BIN_EXE_framegate"))
                .args(["serve", "--config", &config])
                .env("FRAMEGATE__SERVER__LISTEN", "127.0.0.1:0")
                .env("FRAMEGATE__LOG__KIND", "memory")
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!output.status.success() && said.contains(&file) && said.contains(expected), "{kind}: {said}");
            assert!(said.contains("lab") || kind == "sse", "{said}");
        }
    }
}
