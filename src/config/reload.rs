//! Which settings a running proxy can change, and which need a restart.
//!
//! Input: the active configuration, and a new one. Output: the keys that changed. Never: a value, since it may be the path of a
//! secret's file.

use super::source::sections;
use super::{Config, Limits, Tls};
use figment::value::Dict;

/// The settings that a running proxy can change; all others need a restart.
const RELOADED: &[&str] = &[
    "auth.tokens_file",
    "limits.ingest_burst_bytes",
    "limits.ingest_bytes_per_second",
    "limits.max_connections_per_address",
    "limits.max_event_streams",
    "limits.max_event_streams_per_address",
    "limits.max_event_streams_per_client",
    "limits.max_ingests_per_address",
    "limits.max_ingests_per_client",
    "limits.request_burst",
    "limits.requests_per_second",
    "server.allowed_hosts",
    "server.cors_origins",
    "server.token_file",
    "server.trusted_proxies",
    "telemetry.filter",
    "tls.certificate_file",
    "tls.hsts_seconds",
    "tls.key_file",
];

/// The keys in which two configurations differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Those that a running proxy can change.
    pub reloaded: Vec<String>,
    /// Those that need a restart.
    pub restart: Vec<String>,
}

impl Config {
    /// This configuration, with the settings of `new` that a running proxy can change.
    #[must_use]
    pub fn reloaded(&self, new: Self) -> Self {
        let switches_tls =
            self.tls.certificate_file.as_os_str().is_empty() != new.tls.certificate_file.as_os_str().is_empty();
        let mut config = self.clone();
        config.auth = new.auth;
        config.server.allowed_hosts = new.server.allowed_hosts;
        config.server.cors_origins = new.server.cors_origins;
        config.server.token_file = new.server.token_file;
        config.server.trusted_proxies = new.server.trusted_proxies;
        config.telemetry.filter = new.telemetry.filter;
        let Limits { max_open_runs, max_records_per_run, .. } = self.limits;
        config.limits = Limits { max_open_runs, max_records_per_run, ..new.limits };
        if !switches_tls {
            let Tls { certificate_file, key_file, hsts_seconds, .. } = new.tls;
            config.tls = Tls { certificate_file, key_file, hsts_seconds, ..config.tls };
        }
        config
    }

    /// The settings that differ in `new`.
    pub fn changes(&self, new: &Self) -> Changes {
        let (new_upstream, new_rules) = (&new.upstream, &new.approvals.rule);
        let (old, new) = (sections(self), sections(new));
        // TLS cannot be switched on or off while the proxy runs; only its files can change.
        let has_tls = |sections: &Dict| value(sections, "tls", "certificate_file") != Some("");
        let switches_tls = has_tls(&old) != has_tls(&new);
        let mut changes = Changes::default();
        for (section, keys) in &new {
            for (key, value) in keys.as_dict().into_iter().flatten() {
                let before = old.get(section).and_then(|section| section.as_dict()?.get(key));
                if before.is_some_and(|before| before == value) {
                    continue;
                }
                let path = format!("{section}.{key}");
                let waits = switches_tls && section == "tls";
                if RELOADED.contains(&path.as_str()) && !waits {
                    changes.reloaded.push(path);
                } else {
                    changes.restart.push(path);
                }
            }
        }
        if self.approvals.rule != *new_rules {
            changes.restart.push("approvals.rule".to_owned());
        }
        if self.upstream != *new_upstream {
            changes.restart.push(super::load::UPSTREAM.to_owned());
        }
        changes
    }
}

fn value<'s>(sections: &'s Dict, section: &str, key: &str) -> Option<&'s str> {
    sections.get(section)?.as_dict()?.get(key)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_divided_into_reloaded_and_restart() {
        let old = Config::default();
        assert_eq!(old.changes(&old.clone()), Changes::default());
        let mut new = Config::default();
        new.server.allowed_hosts = vec!["gate.example".to_owned()];
        new.server.max_connections = 1;
        new.approvals.rule = vec![crate::config::approvals::Rule::default()];
        new.telemetry.filter = "debug".to_owned();
        let changes = old.changes(&new);
        assert_eq!(changes.reloaded, ["server.allowed_hosts", "telemetry.filter"]);
        assert_eq!(changes.restart, ["server.max_connections", "approvals.rule"]);
        let reloaded = old.reloaded(new.clone());
        assert_eq!(reloaded.server.allowed_hosts, new.server.allowed_hosts);
        assert_eq!(reloaded.server.max_connections, old.server.max_connections);
        assert_eq!(reloaded.changes(&new), Changes { reloaded: Vec::new(), restart: changes.restart });
    }

    #[test]
    fn a_reload_cannot_enable_tls() {
        let (without, mut with) = (Config::default(), Config::default());
        with.tls.certificate_file = "a.pem".into();
        with.tls.key_file = "a.key".into();
        assert_eq!(without.changes(&with).restart, ["tls.certificate_file", "tls.key_file"]);
        let mut renewed = with.clone();
        renewed.tls.certificate_file = "b.pem".into();
        assert_eq!(with.changes(&renewed).reloaded, ["tls.certificate_file"]);
    }

    #[test]
    fn every_reloadable_setting_exists() {
        let known = sections(&Config::default());
        for path in RELOADED {
            let (section, key) = path.split_once('.').unwrap();
            assert!(known[section].as_dict().unwrap().contains_key(key), "{path}");
        }
    }
}
