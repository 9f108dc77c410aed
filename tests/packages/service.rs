//! The systemd unit: its exit codes and times are those of the program, and systemd accepts it.

use crate::packed::{ran, root, succeeds, text};
use crate::proxy::Folder;
use framegate::config::Config;
use std::fs;
use std::process::Command;

/// The values of a key in the unit, in the order of its lines.
fn values(key: &str) -> Vec<String> {
    let unit = text("packaging/framegate.service");
    let values = unit.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('=').map(str::to_owned));
    values.collect()
}

fn value(key: &str) -> String {
    let [value] = &values(key)[..] else { panic!("{key}: {:?}", values(key)) };
    value.clone()
}

#[test]
fn a_configuration_that_cannot_be_used_is_not_tried_again() {
    let folder = Folder::new();
    let never = value("RestartPreventExitStatus");
    for wrong in [
        "[server]\nlisten = \"nowhere\"\n",
        "[server]\nno_such_key = 1\n",
        "[server",
        "[auth]\ntokens_file = \"missing\"\n",
    ] {
        let config = folder.write("config.toml", wrong);
        let refused = ran(Command::new(env!("CARGO_BIN_EXE_framegate")).args(["serve", "--config", &config]));
        assert_eq!(refused.code.map(|code| code.to_string()), Some(never.clone()), "{wrong:?}: {refused:#?}");
    }
    // A port that is in use may become free, so systemd tries again.
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let mut serve = Command::new(env!("CARGO_BIN_EXE_framegate"));
    let refused = ran(serve.args(["serve", "--listen", &address]).env("FRAMEGATE__LOG__KIND", "memory"));
    assert!(refused.code.is_some_and(|code| code != 0 && code.to_string() != never), "{refused:#?}");
    assert_eq!(value("Restart"), "on-failure");
}

#[test]
fn the_service_has_time_to_stop() {
    let config = Config::default();
    let (server, webhooks) = (&config.server, &config.webhooks);
    let longest =
        server.shutdown_grace_ms + config.log.patience_ms + server.shutdown_flush_ms + webhooks.stop_timeout_ms;
    let limit: u64 = value("TimeoutStopSec").trim_end_matches('s').parse().unwrap();
    assert!(limit * 1000 > longest, "{limit} s, {longest} ms");
}

#[test]
fn the_service_runs_what_the_debian_package_installs() {
    let build = text("packaging/debian/build.py");
    assert!(value("ExecStart").starts_with("/usr/bin/framegate serve --config /etc/framegate/config.toml"));
    for path in ["usr/bin/framegate", "etc/framegate/config.toml", "usr/lib/systemd/system/framegate.service"] {
        assert!(build.contains(path), "{path}");
    }
    // The user that the package makes is the one of the unit, whose name it takes without `User=`.
    assert_eq!((value("DynamicUser"), values("User")), ("yes".into(), Vec::new()));
    assert!(text("packaging/debian/sysusers.conf").lines().any(|line| line.starts_with("u framegate ")));
}

#[test]
#[ignore = "needs systemd-analyze"]
fn systemd_accepts_the_unit() {
    // `--root` keeps the check from this machine's units, so the folder has what the unit refers to.
    let system = Folder::new();
    let units = system.path("usr/lib/systemd/system");
    for folder in [units.as_path(), &system.path("usr/bin"), &system.path("bin")] {
        fs::create_dir_all(folder).unwrap();
    }
    for target in ["basic", "multi-user", "network-online", "shutdown", "sysinit"] {
        fs::write(units.join(format!("{target}.target")), "[Unit]\nDescription=there\n").unwrap();
    }
    fs::copy(env!("CARGO_BIN_EXE_framegate"), system.path("usr/bin/framegate")).unwrap();
    fs::copy("/bin/kill", system.path("bin/kill")).unwrap();
    fs::copy(root().join("packaging/framegate.service"), units.join("framegate.service")).unwrap();
    let analyze = |arguments: &[&str]| {
        let root = format!("--root={}", system.path("").display());
        ran(Command::new("systemd-analyze").args(arguments).arg(root).arg("framegate.service"))
    };
    let verified = analyze(&["verify", "--man=no"]);
    assert!(verified.code == Some(0) && verified.err.is_empty(), "{verified:#?}");
    // From 0 (nothing is allowed) to 10, times 10. A unit without hardening has 9.6.
    let exposed = analyze(&["security", "--offline=true", "--threshold=15", "--no-pager"]);
    assert_eq!(exposed.code, Some(0), "{exposed:#?}");
}

#[test]
#[ignore = "needs strace and systemd-analyze"]
fn systemd_allows_the_calls_of_the_proxy() {
    let folder = Folder::new();
    let mut allowed = Vec::new();
    let expand = |set: &str| -> Vec<String> {
        let mut open = vec![set.to_owned()];
        let mut calls = Vec::new();
        while let Some(set) = open.pop() {
            let list = succeeds(Command::new("systemd-analyze").args(["syscall-filter", "--no-pager", &set]));
            let names = list.lines().skip(1).map(|line| line.trim().to_owned()).filter(|name| !name.starts_with('#'));
            let (sets, found): (Vec<String>, Vec<String>) = names.partition(|name| name.starts_with('@'));
            open.extend(sets);
            calls.extend(found);
        }
        calls
    };
    for filter in values("SystemCallFilter") {
        let (removes, sets) = filter.strip_prefix('~').map_or((false, &filter[..]), |sets| (true, sets));
        for set in sets.split_whitespace() {
            let calls = expand(set);
            assert!(calls.len() > 5, "{set}: {calls:?}");
            if removes {
                allowed.retain(|call| !calls.contains(call));
            } else {
                allowed.extend(calls);
            }
        }
    }
    // The proxy with its database, through a request and a reload, until it has stopped.
    let calls = folder.path("calls");
    let mut strace = Command::new("strace");
    strace.args(["--follow-forks", "--quiet=all", "--signal=none", "--output"]).arg(&calls);
    let database = folder.path("framegate.db");
    let settings = [("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", database.to_str().unwrap())];
    let mut proxy = crate::proxy::Proxy::started_by(&mut strace, &settings);
    let body = crate::proxy::recording("claude-code", "bash_ok.partial.ndjson");
    assert_eq!(crate::client::post(proxy.address, "/v1/ingest/claude-code", &[], &body).status, 201);
    let traced = succeeds(Command::new("pgrep").args(["--parent", &proxy.pid().to_string()]));
    for signal in ["-HUP", "-TERM"] {
        succeeds(Command::new("kill").args([signal, traced.trim()]));
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    assert_eq!(proxy.wait().code(), Some(0));
    let log = fs::read_to_string(calls).unwrap();
    let mut used: Vec<&str> =
        log.lines().filter_map(|line| line.split_whitespace().nth(1)?.split_once('(')).map(|(name, _)| name).collect();
    used.sort_unstable();
    used.dedup();
    assert!(used.contains(&"accept4") && used.contains(&"fsync"), "{used:?}");
    // strace sees the call that starts the program, which systemd makes before its filter; and SQLite gives its files to their owner
    // only if it runs as root, as these tests may.
    let others = ["execve", "fchown"];
    let refused: Vec<&&str> =
        used.iter().filter(|name| !others.contains(name) && !allowed.iter().any(|call| call == *name)).collect();
    assert!(refused.is_empty(), "the unit forbids {refused:?}");
}
