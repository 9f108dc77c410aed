//! SIGHUP: which settings are applied, which need a restart, and which are refused because they are wrong.

use crate::auth::{bearer, secret, token};
use crate::client::get;
use crate::proxy::{Folder, Proxy};

#[test]
fn a_reload_applies_settings_and_names_those_that_need_a_restart() {
    let folder = Folder::new();
    let tokens = folder.write("tokens.toml", &token(&folder, "old", "scopes = [\"read\"]"));
    let config = folder.write("config.toml", &format!("[auth]\ntokens_file = {tokens:?}\n"));
    let proxy = Proxy::configured_by(&config, &folder.path("log"));
    let status = |name: &str, headers: &[(&str, &str)]| {
        let authorization = bearer(name);
        let headers: Vec<_> = headers.iter().copied().chain([("authorization", &*authorization)]).collect();
        get(proxy.address, "/v1/runs", &headers).status
    };
    let from_ui = [("origin", "https://ui.example")];
    assert_eq!((status("old", &[]), status("new", &[]), status("old", &from_ui)), (200, 401, 403));
    folder.write("tokens.toml", &token(&folder, "new", "scopes = [\"read\"]"));
    let more = "[server]\ncors_origins = [\"https://ui.example\"]\nmax_connections = 7\n[telemetry]\nfilter = \"debug\"\n\
                [limits]\nrequests_per_second = 1\nrequest_burst = 4\n";
    folder.write("config.toml", &format!("[auth]\ntokens_file = {tokens:?}\n{more}"));
    proxy.signal("HUP");
    let log = folder.wait_for("log", "need a restart");
    assert_eq!((status("old", &[]), status("new", &[]), status("new", &from_ui)), (401, 200, 200));
    assert!(log.contains("server.cors_origins") && log.contains("telemetry.filter"), "{log}");
    let restart = log.lines().find(|line| line.contains("need a restart")).unwrap();
    assert!(restart.contains("server.max_connections") && !restart.contains("cors"), "{restart}");
    assert!((0..8).any(|_| status("new", &[]) == 429), "the new rate must apply");
}

#[test]
fn a_broken_configuration_changes_nothing() {
    let folder = Folder::new();
    let tokens = folder.write("tokens.toml", &token(&folder, "ui", "scopes = [\"read\"]"));
    let good = format!("[auth]\ntokens_file = {tokens:?}\n");
    let config = folder.write("config.toml", &good);
    let proxy = Proxy::configured_by(&config, &folder.path("log"));
    let works = || get(proxy.address, "/v1/runs", &[("authorization", &bearer("ui"))]).status == 200;
    for (text, said) in [
        (format!("{good}[server]\nmax_conections = 1\n"), "max_conections"),
        (format!("{good}[telemetry]\nfilter = \"loud\"\n"), "telemetry.filter"),
        ("[auth]\ntokens_file = \"not-there\"\n".to_owned(), "not-there: cannot be read"),
        ("[auth".to_owned(), "is not valid TOML"),
    ] {
        folder.write("config.toml", &text);
        proxy.signal("HUP");
        folder.wait_for("log", said);
        assert!(works(), "{said}");
    }
    // A token whose secret file is missing.
    folder.write("config.toml", &good);
    std::fs::remove_file(folder.path("ui")).unwrap();
    proxy.signal("HUP");
    let log = folder.wait_for("log", "cannot read");
    assert!(log.contains("token \\\"ui\\\"") || log.contains("token \"ui\""), "{log}");
    assert_eq!(log.matches("the configuration was not reloaded").count(), 5, "{log}");
    assert!(works() && !log.contains(&secret("ui")));
}

#[test]
fn a_reload_cannot_remove_the_token_of_a_public_address() {
    let folder = Folder::new();
    let tokens = folder.write("tokens.toml", &token(&folder, "ui", "scopes = [\"read\"]"));
    let config = folder.write("config.toml", &format!("[auth]\ntokens_file = {tokens:?}\n"));
    let proxy = Proxy::configured_with(&config, &folder.path("log"), &[("FRAMEGATE__SERVER__LISTEN", "0.0.0.0:0")]);
    folder.wait_for("log", "cross the network unencrypted");
    folder.write("config.toml", "");
    proxy.signal("HUP");
    folder.wait_for("log", "which other machines can reach");
    let local = std::net::SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, proxy.address.port()));
    assert_eq!(get(local, "/v1/runs", &[]).status, 401);
    assert_eq!(get(local, "/v1/runs", &[("authorization", &bearer("ui"))]).status, 200);
}
