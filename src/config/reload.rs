//! Which settings a running proxy can change, and which need a restart.
//!
//! Input: the active configuration, and a new one. Output: the keys that changed. Never: a value, since it may be the path of a
//! secret's file.

use super::table::{Section, value};
use super::{Config, SECTIONS};

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
    pub fn reloaded(&self, mut new: Self) -> Self {
        if self.switches_tls(&new) {
            new.tls = self.tls.clone();
        }
        let mut config = self.clone();
        config.webhooks.endpoint = std::mem::take(&mut new.webhooks.endpoint);
        config.budgets.limit = std::mem::take(&mut new.budgets.limit);
        config.take_reloaded(new);
        config
    }

    /// TLS cannot be switched on or off while the proxy runs; only its files can change.
    fn switches_tls(&self, new: &Self) -> bool {
        let is_on = |config: &Self| !config.tls.certificate_file.as_os_str().is_empty();
        is_on(self) != is_on(new)
    }

    /// The settings that differ in `new`, in alphabetical order.
    pub fn changes(&self, new: &Self) -> Changes {
        let (old_values, new_values) = (value(self), value(new));
        let mut changes = Changes::default();
        for Section { name, settings, .. } in SECTIONS {
            let waits = *name == "tls" && self.switches_tls(new);
            for setting in *settings {
                let path = format!("{name}.{}", setting.key);
                if old_values.find_ref(&path) == new_values.find_ref(&path) {
                    continue;
                }
                if setting.reloads && !waits { changes.reloaded.push(path) } else { changes.restart.push(path) }
            }
        }
        if self.budgets.limit != new.budgets.limit {
            changes.reloaded.push("budgets.limit".to_owned());
        }
        if self.webhooks.endpoint != new.webhooks.endpoint {
            changes.reloaded.push("webhooks.endpoint".to_owned());
        }
        changes.reloaded.sort_unstable();
        changes.restart.sort_unstable();
        if self.approvals.rule != new.approvals.rule {
            changes.restart.push("approvals.rule".to_owned());
        }
        if self.upstream != new.upstream {
            changes.restart.push(super::load::UPSTREAM.to_owned());
        }
        changes
    }
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
        new.webhooks.endpoint = vec![crate::config::webhooks::Endpoint::default()];
        new.budgets.limit = vec![crate::config::budgets::Limit::default()];
        let changes = old.changes(&new);
        assert_eq!(
            changes.reloaded,
            ["budgets.limit", "server.allowed_hosts", "telemetry.filter", "webhooks.endpoint"]
        );
        assert_eq!(changes.restart, ["server.max_connections", "approvals.rule"]);
        let reloaded = old.reloaded(new.clone());
        assert_eq!(reloaded.webhooks.endpoint, new.webhooks.endpoint);
        assert_eq!(reloaded.budgets.limit, new.budgets.limit);
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
}
