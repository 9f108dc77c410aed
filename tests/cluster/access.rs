//! Servers that let only proxies in.
//!
//! Input: servers with TLS, nkeys or accounts, and the files of a proxy. Output: proxies that share a log there; a clear message from those
//! whose files do not fit. Never: a proxy that starts without the log that it was configured for.

use crate::cli::{Ran, binary};
use crate::client::{get, post};
use crate::proxies::proxy;
use crate::proxy::{Folder, another};
use crate::reading::{same_feed, wait_until_alike};
use crate::servers::Servers;
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair};
use std::path::Path;
use std::process::Stdio;

const RECORDING: &str = "parallel_tools.partial.ndjson";

/// An operator with an account for the proxies.
const ACCOUNTS: &str = include_str!("credentials/accounts.conf");

/// The public key of the proxies that sign in with `proxy.nk`.
const PROXY_KEY: &str = include_str!("credentials/proxy.pub");

/// The path of a file with credentials.
fn credentials(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cluster/credentials").join(name).display().to_string()
}

/// An authority's certificate, and a certificate and key from it, as files with that name.
fn certificates(folder: &Folder, name: &str) -> [String; 3] {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let authority = params.self_signed(&key).unwrap().pem();
    let issuer = Issuer::new(params, key);
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    [("authority", authority), ("certificate", certificate.pem()), ("key", key.serialize_pem())]
        .map(|(kind, text)| folder.write(&format!("{name}-{kind}.pem"), &text))
}

/// Two proxies with these settings share a log.
fn share_a_log(servers: &Servers, settings: &[(&str, &str)]) {
    let proxies = ["proxy-0", "proxy-1"].map(|name| proxy(servers, name, settings));
    for proxy in &proxies {
        let made = post(proxy.address, "/v1/ingest/claude-code", &[], &another("claude-code", RECORDING));
        assert_eq!(made.status, 201);
        assert_eq!(get(proxy.address, "/readyz", &[]).status, 200);
    }
    assert_eq!(wait_until_alike(&proxies).len(), 2);
    same_feed(&proxies, "frames.v2");
}

/// What `framegate serve` says with these settings, with which it does not start.
#[track_caller]
fn refused(servers: &Servers, settings: &[(&str, &str)]) -> Ran {
    let mut command = binary();
    command.args(["serve", "--listen", "127.0.0.1:0"]).stdin(Stdio::null());
    command.envs([("FRAMEGATE__LOG__KIND", "jetstream"), ("FRAMEGATE__LOG__SERVERS", &*servers.urls().join(", "))]);
    command.env("FRAMEGATE__LOG__MAX_BYTES", "268435456").env("FRAMEGATE__LOG__PATIENCE_MS", "2000");
    command.envs(settings.iter().copied()).current_dir(std::env::temp_dir());
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let ran = Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) };
    assert!(!matches!(ran.code, None | Some(0)), "{ran:#?}");
    ran.says(&["the servers of the frame log", &servers.urls()[0]])
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn proxies_identify_themselves_with_certificates() {
    let folder = Folder::new();
    let [authority, certificate, key] = certificates(&folder, "servers");
    let [_, other_certificate, other_key] = certificates(&folder, "others");
    let servers = Servers::guarded(
        "tls",
        &format!("tls {{ cert_file: \"{certificate}\", key_file: \"{key}\", ca_file: \"{authority}\", verify: true }}"),
    );
    let trusting = ("FRAMEGATE__LOG__TLS_CA_FILE", &*authority);
    let with = |certificate, key| {
        [trusting, ("FRAMEGATE__LOG__TLS_CERT_FILE", certificate), ("FRAMEGATE__LOG__TLS_KEY_FILE", key)]
    };
    share_a_log(&servers, &with(&certificate, &key));
    refused(&servers, &[]).says(&["invalid peer certificate: UnknownIssuer"]);
    refused(&servers, &[trusting]);
    refused(&servers, &with(&other_certificate, &other_key));
    let missing = folder.path("missing.pem").display().to_string();
    refused(&servers, &[("FRAMEGATE__LOG__TLS_CA_FILE", &missing)]).says(&["log.tls_ca_file", &missing]);
    refused(&servers, &[("FRAMEGATE__LOG__TLS_CA_FILE", &key)])
        .says(&["log.tls_ca_file", "it has no certificate as PEM"]);
    refused(&servers, &with(&certificate, &missing)).says(&["log.tls_key_file", &missing]);
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn proxies_sign_in_with_an_nkey() {
    let users = format!("authorization {{ users: [ {{ nkey: {} }} ] }}", PROXY_KEY.trim());
    let servers = Servers::guarded("nats", &users);
    share_a_log(&servers, &[("FRAMEGATE__LOG__NKEY_FILE", &credentials("proxy.nk"))]);
    refused(&servers, &[]).says(&["authorization violation"]);
    refused(&servers, &[("FRAMEGATE__LOG__NKEY_FILE", &credentials("stranger.nk"))]).says(&["authorization violation"]);
    refused(&servers, &[("FRAMEGATE__LOG__NKEY_FILE", &credentials("proxy.pub"))])
        .says(&["log.nkey_file", "proxy.pub"]);
    // A seed of an account, not of a user.
    refused(&servers, &[("FRAMEGATE__LOG__NKEY_FILE", &credentials("account.nk"))]).says(&[
        "log.nkey_file",
        "account.nk",
        "of a user",
    ]);
    refused(&servers, &[("FRAMEGATE__LOG__NKEY_FILE", "/no/such/file")]).says(&["log.nkey_file", "/no/such/file"]);
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn proxies_sign_in_with_the_credentials_of_an_account() {
    let servers = Servers::guarded("nats", ACCOUNTS);
    share_a_log(&servers, &[("FRAMEGATE__LOG__CREDENTIALS_FILE", &credentials("proxy.creds"))]);
    refused(&servers, &[]).says(&["authorization violation"]);
    refused(&servers, &[("FRAMEGATE__LOG__CREDENTIALS_FILE", &credentials("proxy.nk"))])
        .says(&["log.credentials_file"]);
}
