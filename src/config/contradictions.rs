//! Finds limits that can never be reached, or are of no use, because another limit is reached first, and filters that match nothing.
//!
//! Input: a valid configuration. Output: one sentence for each contradiction between settings, with a correction.
//! The proxy works with such settings, so they are warnings and not errors.

use super::{Config, LogKind};
use crate::defaults::DEMO_UPSTREAM;

impl Config {
    /// The contradictions between settings, as sentences for the log.
    pub fn contradictions(&self) -> Vec<String> {
        let (limits, connections) = (&self.limits, self.server.max_connections);
        let mut found = Vec::new();
        let most = limits.max_event_streams.saturating_add(self.ingest.max_open);
        if most > connections {
            found.push(format!(
                "limits.max_event_streams ({}) and ingest.max_open ({}) together exceed server.max_connections \
                 ({connections}), and over HTTP/1.1 each stream and each ingest needs a connection: raise \
                 server.max_connections to {most}, or lower them",
                limits.max_event_streams, self.ingest.max_open
            ));
        }
        for (part, value, whole, limit) in [
            (
                "limits.max_event_streams_per_client",
                limits.max_event_streams_per_client,
                "limits.max_event_streams",
                limits.max_event_streams,
            ),
            (
                "limits.max_event_streams_per_address",
                limits.max_event_streams_per_address,
                "limits.max_event_streams",
                limits.max_event_streams,
            ),
            ("limits.max_ingests_per_client", limits.max_ingests_per_client, "ingest.max_open", self.ingest.max_open),
            ("limits.max_ingests_per_address", limits.max_ingests_per_address, "ingest.max_open", self.ingest.max_open),
            (
                "limits.max_connections_per_address",
                limits.max_connections_per_address,
                "server.max_connections",
                connections,
            ),
        ] {
            if value > limit {
                found.push(format!(
                    "{part} ({value}) is more than {whole} ({limit}): a single client could use up all of them"
                ));
            }
        }
        let of_address = limits.max_event_streams_per_address.saturating_add(limits.max_ingests_per_address);
        if of_address > limits.max_connections_per_address {
            found.push(format!(
                "limits.max_event_streams_per_address ({}) and limits.max_ingests_per_address ({}) together exceed \
                 limits.max_connections_per_address ({}): raise it to {of_address}, or lower them",
                limits.max_event_streams_per_address,
                limits.max_ingests_per_address,
                limits.max_connections_per_address
            ));
        }
        let log = &self.log;
        if log.kind == LogKind::Jetstream && log.patience_ms >= log.lease_ms {
            found.push(format!(
                "log.patience_ms ({}) is not less than log.lease_ms ({}): a proxy may count as lost while its append still \
                 waits for the servers: lower log.patience_ms, or raise log.lease_ms",
                log.patience_ms, log.lease_ms
            ));
        }
        found.extend(self.unknown_upstreams());
        found
    }

    /// Filters that never match, because they name an upstream that is not configured.
    fn unknown_upstreams(&self) -> impl Iterator<Item = String> {
        let of_rules =
            self.approvals.rule.iter().map(|rule| (format!("approvals.rule {:?}", rule.name), &rule.upstream));
        let of_endpoints = self.webhooks.endpoint.iter().flat_map(|endpoint| {
            let place = format!("webhooks.endpoint {:?}", endpoint.name);
            endpoint.upstreams.iter().map(move |upstream| (place.clone(), upstream))
        });
        let is_known = |name: &str| name == DEMO_UPSTREAM || self.upstream.iter().any(|upstream| upstream.name == name);
        of_rules.chain(of_endpoints).filter(move |(_, name)| !name.is_empty() && !is_known(name)).map(|(place, name)| {
            format!("{place} names the upstream {name:?}, which is not configured, so it never matches: correct or remove it")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_consistent_and_contradictions_are_named() {
        assert_eq!(Config::default().contradictions(), Vec::<String>::new());
        let mut config = Config::default();
        config.limits.max_event_streams = 10_000;
        let [only] = &config.contradictions()[..] else { panic!("{:?}", config.contradictions()) };
        assert!(only.contains("limits.max_event_streams (10000)") && only.contains("to 10512"), "{only}");
        let mut config = Config::default();
        config.ingest.max_open = 100;
        let found = config.contradictions();
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().all(|message| message.contains("is more than ingest.max_open (100)")), "{found:?}");
        let rule = |upstream: &str| crate::config::approvals::Rule {
            name: "r".to_owned(),
            upstream: upstream.to_owned(),
            ..crate::config::approvals::Rule::default()
        };
        let mut config = Config::default();
        config.approvals.rule = vec![rule(""), rule("demo"), rule("claud")];
        config.webhooks.endpoint = vec![crate::config::webhooks::Endpoint {
            name: "ci".to_owned(),
            upstreams: vec!["claude".to_owned()],
            ..crate::config::webhooks::Endpoint::default()
        }];
        let [of_rule, of_endpoint] = &config.contradictions()[..] else { panic!("{:?}", config.contradictions()) };
        assert!(of_rule.contains("approvals.rule \"r\" names the upstream \"claud\""), "{of_rule}");
        assert!(of_endpoint.contains("webhooks.endpoint \"ci\" names the upstream \"claude\""), "{of_endpoint}");
        let mut config = Config::default();
        config.log.patience_ms = config.log.lease_ms;
        assert_eq!(config.contradictions(), Vec::<String>::new(), "only one kind of log has a lease");
        config.log.kind = LogKind::Jetstream;
        let [only] = &config.contradictions()[..] else { panic!("{:?}", config.contradictions()) };
        assert!(only.starts_with("log.patience_ms (15000) is not less than log.lease_ms (15000)"), "{only}");
    }
}
