//! TLS: HTTP versions, certificates that change, and unusable certificates.

use crate::client::connect;
use crate::proxy::{Folder, Proxy, refusal};
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::sync::Arc;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

type Certificate = CertifiedKey<KeyPair>;

fn certificate() -> Certificate {
    generate_simple_self_signed(["localhost".to_owned()]).unwrap()
}

/// Writes the certificate's files where the proxy reads them. The key comes first, because the two files are not replaced
/// atomically.
fn install(folder: &Folder, certificate: &Certificate) -> [(&'static str, String); 2] {
    let key = folder.write("key.pem", &certificate.signing_key.serialize_pem());
    let chain = folder.write("cert.pem", &certificate.cert.pem());
    [("FRAMEGATE__TLS__CERTIFICATE_FILE", chain), ("FRAMEGATE__TLS__KEY_FILE", key)]
}

fn start(folder: &Folder, files: &[(&'static str, String)], more: &[(&str, &str)]) -> Proxy {
    let settings: Vec<(&str, &str)> =
        files.iter().map(|(key, value)| (*key, &**value)).chain(more.iter().copied()).collect();
    Proxy::logging_to(&folder.path("log"), &settings)
}

/// A client that trusts only this certificate.
fn client(address: SocketAddr, trusted: &Certificate, protocols: &[&str]) -> StreamOwned<ClientConnection, TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(trusted.cert.der().to_vec())).unwrap();
    let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
    let name = ServerName::try_from("localhost").unwrap();
    StreamOwned::new(ClientConnection::new(Arc::new(config), name).unwrap(), connect(address))
}

/// The complete answer to a request, or the error.
fn ask(address: SocketAddr, trusted: &Certificate) -> std::io::Result<String> {
    let mut stream = client(address, trusted, &["http/1.1"]);
    stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")?;
    let mut text = String::new();
    match stream.read_to_string(&mut text) {
        Ok(_) => Ok(text),
        // The answer is complete; only the TLS close notification is missing.
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(text),
        Err(error) => Err(error),
    }
}

#[test]
fn the_health_command_works_with_tls() {
    let (folder, own) = (Folder::new(), certificate());
    let files = install(&folder, &own);
    let proxy = start(&folder, &files, &[]);
    let address = proxy.address.to_string();
    let health = |args: &[&str], certificate: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_framegate"));
        command.arg("health").args(["--timeout-ms", "30000"]).args(args).current_dir(folder.path("."));
        if let Some(certificate) = certificate {
            let key = ("FRAMEGATE__TLS__KEY_FILE", &*files[1].1);
            let settings = [("FRAMEGATE__SERVER__LISTEN", &*address), (files[0].0, certificate), key];
            command.envs(settings);
        }
        let output = command.output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(text).unwrap())
    };
    let (url, ca) = (format!("https://localhost:{}", proxy.address.port()), files[0].1.as_str());
    let (code, text) = health(&[&url, "--ca-file", ca], None);
    assert!(code == Some(0) && text.contains("\"ok\""), "{text}");
    // This machine does not trust the certificate, and the certificate is not valid for the address.
    assert_eq!(health(&[&url], None).0, Some(1));
    let (code, text) = health(&[&format!("https://{address}"), "--ca-file", ca], None);
    assert!(code == Some(1) && text.contains("the TLS handshake failed"), "{text}");
    // With the proxy's own configuration, its certificate is known.
    let (code, text) = health(&[], Some(ca));
    assert!(code == Some(0) && text.contains("\"ok\""), "{text}");
    let other = folder.write("other.pem", &certificate().cert.pem());
    // The proxy is healthy, although the certificate on disk is not loaded yet or cannot be used.
    let (code, text) = health(&[], Some(&other));
    assert!(code == Some(0) && text.contains("\"ok\""), "{text}");
    assert!(text.contains("warning: the server's certificate is not the configured one"), "{text}");
    let (code, text) = health(&[], Some(&files[1].1));
    assert!(code == Some(0) && text.contains("warning: cannot use"), "{text}");
    // The token is only for servers that prove their identity; here it is not even read.
    let (code, text) = health(&["--token-file", "/no/such/file"], Some(ca));
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(health(&["--token-file", "/no/such/file", &url, "--ca-file", ca], None).0, Some(2));
    drop(proxy);
    assert_eq!(health(&[], Some(ca)).0, Some(1));
}

#[test]
fn the_image_checks_the_health_of_the_proxy_that_it_starts() {
    let dockerfile = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/Dockerfile")).unwrap();
    let command = |word: &str| {
        let line = dockerfile.lines().rfind(|line| line.trim_start().starts_with(word) && line.contains('[')).unwrap();
        serde_json::from_str::<Vec<String>>(&line[line.find('[').unwrap()..]).unwrap()
    };
    let (serve, lines) = (command("CMD [\"serve"), dockerfile.lines());
    let config = ["--config", "/etc/framegate/config.toml"];
    assert_eq!(serve[1..], config);
    let health: Vec<&str> = lines.skip_while(|line| !line.starts_with("HEALTHCHECK")).take(2).collect();
    let health = health.last().unwrap().trim().strip_prefix("CMD ").unwrap();
    let health: Vec<String> = serde_json::from_str(health).unwrap();
    assert_eq!(health, ["/usr/bin/framegate", "health", config[0], config[1]]);
}

#[test]
fn the_proxy_serves_tls_with_the_negotiated_protocol() {
    let (folder, own) = (Folder::new(), certificate());
    let proxy = start(&folder, &install(&folder, &own), &[]);
    let answer = ask(proxy.address, &own).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    assert!(answer.contains("strict-transport-security: max-age=31536000"), "{answer}");
    assert!(ask(proxy.address, &certificate()).is_err(), "another certificate must not be trusted");
    for (offered, chosen) in [(&["h2", "http/1.1"][..], Some("h2")), (&["http/1.1"], Some("http/1.1")), (&[], None)] {
        let mut stream = client(proxy.address, &own, offered);
        stream.conn.complete_io(&mut stream.sock).unwrap();
        assert_eq!(stream.conn.alpn_protocol(), chosen.map(str::as_bytes));
    }
    // Without TLS there is no answer.
    let mut plain = connect(proxy.address);
    plain.write_all(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut rest = Vec::new();
    let _ = plain.read_to_end(&mut rest);
    assert!(!String::from_utf8_lossy(&rest).contains("HTTP/1.1"));
}

#[test]
fn curl_uses_http2_with_and_without_tls() {
    let Ok(version) = Command::new("curl").arg("--version").output() else {
        println!("skipped: curl is missing");
        return;
    };
    if !String::from_utf8_lossy(&version.stdout).contains("HTTP2") {
        println!("skipped: this curl does not support HTTP/2");
        return;
    }
    let curl = |arguments: &[&str]| {
        let mut output = Command::new("curl");
        output.args(["-sS", "-o", "/dev/null", "-w", "%{http_version} %{http_code}"]);
        let output = output.args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let (folder, own) = (Folder::new(), certificate());
    let secure = start(&folder, &install(&folder, &own), &[]);
    let port = secure.address.port();
    let trusted = folder.path("cert.pem");
    let resolve = format!("localhost:{port}:127.0.0.1");
    let url = format!("https://localhost:{port}/healthz");
    let secured = ["--cacert", trusted.to_str().unwrap(), "--resolve", &resolve, &url];
    assert_eq!(curl(&[&["--http2"], &secured[..]].concat()), "2 200");
    assert_eq!(curl(&[&["--http1.1"], &secured[..]].concat()), "1.1 200");
    let plain = Proxy::start();
    let url = format!("http://{}/healthz", plain.address);
    assert_eq!(curl(&["--http2-prior-knowledge", &url]), "2 200");
    assert_eq!(curl(&["--http1.1", &url]), "1.1 200");
}

#[test]
fn a_new_certificate_is_loaded_automatically_and_a_broken_one_is_not() {
    let (folder, first, second) = (Folder::new(), certificate(), certificate());
    let proxy = start(&folder, &install(&folder, &first), &[("FRAMEGATE__TLS__RELOAD_INTERVAL_MS", "50")]);
    assert!(ask(proxy.address, &first).is_ok());
    folder.write("cert.pem", "-----BEGIN CERTIFICATE-----\nbroken\n");
    let log = folder.wait_for("log", "the old one stays");
    assert!(log.contains("cert.pem"), "{log}");
    assert!(ask(proxy.address, &first).is_ok(), "the old certificate must stay");
    install(&folder, &second);
    folder.wait_for("log", "new connections use it");
    assert!(ask(proxy.address, &second).is_ok());
    assert!(ask(proxy.address, &first).is_err());
}

#[test]
fn a_new_certificate_is_loaded_on_a_signal() {
    let (folder, first, second) = (Folder::new(), certificate(), certificate());
    let proxy = start(&folder, &install(&folder, &first), &[("FRAMEGATE__TLS__RELOAD_INTERVAL_MS", "0")]);
    assert!(ask(proxy.address, &first).is_ok());
    // Only the key was replaced, so it does not match the certificate.
    folder.write("key.pem", &second.signing_key.serialize_pem());
    proxy.signal("HUP");
    let log = folder.wait_for("log", "the configuration was not reloaded");
    assert!(log.contains("does not match the certificate"), "{log}");
    assert!(ask(proxy.address, &first).is_ok(), "the old certificate must stay");
    install(&folder, &second);
    proxy.signal("HUP");
    folder.wait_for("log", "the configuration was reloaded");
    assert!(ask(proxy.address, &second).is_ok());
}

#[test]
fn an_unusable_certificate_prevents_the_start() {
    let (folder, own, other) = (Folder::new(), certificate(), certificate());
    let files = install(&folder, &own);
    let (chain, key) = (&files[0].1, &files[1].1);
    let other_key = folder.write("other.pem", &other.signing_key.serialize_pem());
    let nothing = folder.write("nothing.pem", "nothing\n");
    let missing = folder.path("missing.pem").to_str().unwrap().to_owned();
    for (chain, key, said) in [
        (&missing, key, "missing.pem: No such file"),
        (chain, &missing, "missing.pem: No such file"),
        (&nothing, key, "tls.certificate_file: cannot use"),
        (chain, &nothing, "tls.key_file: cannot use"),
        (key, chain, "tls.certificate_file: cannot use"),
        (chain, &other_key, "does not match the certificate"),
        (&String::new(), key, "TLS needs both"),
        (chain, &String::new(), "TLS needs both"),
    ] {
        let text = refusal(&[("FRAMEGATE__TLS__CERTIFICATE_FILE", chain), ("FRAMEGATE__TLS__KEY_FILE", key)]);
        assert!(text.contains(said), "{said:?} is not in: {text}");
        assert!(!text.contains("PRIVATE KEY-----"), "{text}");
    }
}

#[test]
fn an_endless_handshake_is_cut_off() {
    let (folder, own) = (Folder::new(), certificate());
    let more = [("FRAMEGATE__TLS__HANDSHAKE_TIMEOUT_MS", "200"), ("FRAMEGATE__SERVER__MAX_CONNECTIONS", "1")];
    let proxy = start(&folder, &install(&folder, &own), &more);
    let mut silent = connect(proxy.address);
    assert_eq!(silent.read(&mut [0]).unwrap_or_default(), 0, "the connection must be closed");
    assert!(ask(proxy.address, &own).is_ok(), "its slot must be free again");
}
