//! The valid range of each setting, and the constraints between settings.
//!
//! Input: a configuration. Output: the settings that contradict each other. Never: a range that applies to only one of the
//! sources.

use super::{Artifacts, Config, Server, error};
use crate::network::Network;
use framegate_translators::redact::SettingsError;

/// The bounds of every number: key, minimum, maximum.
pub(super) const RANGES: &[(&str, u64, u64)] = &[
    ("server.max_connections", 1, 1_000_000),
    ("server.reserved_connections", 0, 100_000),
    ("server.send_buffer_bytes", 0, 1 << 30),
    ("server.tcp_keepalive_ms", 0, 86_400_000),
    ("server.http2_max_streams", 1, 100_000),
    ("server.http2_ping_ms", 100, 3_600_000),
    ("server.http2_ping_timeout_ms", 100, 600_000),
    ("tls.handshake_timeout_ms", 100, 600_000),
    ("tls.reload_interval_ms", 0, 86_400_000),
    ("tls.hsts_seconds", 0, 1 << 32),
    ("limits.requests_per_second", 0, 1_000_000_000),
    ("limits.request_burst", 1, 1_000_000_000),
    ("limits.ingest_bytes_per_second", 0, 1 << 50),
    ("limits.ingest_burst_bytes", 1, 1 << 50),
    ("limits.max_event_streams", 1, 100_000_000),
    ("limits.max_event_streams_per_client", 1, 100_000_000),
    ("limits.max_event_streams_per_address", 1, 100_000_000),
    ("limits.max_ingests_per_client", 1, 1_000_000),
    ("limits.max_ingests_per_address", 1, 1_000_000),
    ("limits.max_connections_per_address", 1, 1_000_000),
    ("limits.max_open_runs", 1, 100_000_000),
    ("limits.max_records_per_run", 1, 1 << 50),
    ("server.header_read_timeout_ms", 100, 600_000),
    // The HTTP library does not accept less.
    ("server.max_header_bytes", 8192, 16 << 20),
    ("server.max_body_bytes", 0, 1 << 50),
    ("server.view_bytes", 0, 4 << 30),
    ("server.heartbeat_ms", 100, 3_600_000),
    ("server.sse_retry_ms", 0, 3_600_000),
    ("server.shutdown_grace_ms", 0, 3_600_000),
    ("server.shutdown_flush_ms", 0, 3_600_000),
    ("server.page_limit_default", 1, 100_000),
    ("server.page_limit_max", 1, 100_000),
    ("ingest.max_record_bytes", 1024, 4 << 30),
    ("ingest.max_open_tools", 16, 1_000_000),
    ("ingest.preview_bytes", 0, 1 << 20),
    ("ingest.start_timeout_ms", 0, 604_800_000),
    ("ingest.idle_timeout_ms", 0, 604_800_000),
    ("ingest.max_compression_ratio", 1, 1_000_000),
    ("ingest.max_decompressed_bytes", 0, 1 << 50),
    ("ingest.max_open", 1, 1_000_000),
    ("ingest.ahead_bytes", 0, 1 << 30),
    ("ingest.end_hold_ms", 0, 10_000),
    ("ingest.max_idempotency_keys", 0, 1_000_000),
    ("ingest.idempotency_key_ms", 0, 2_678_400_000),
    ("redaction.hold_ms", 0, 60_000),
    ("redaction.hold_secret_ms", 0, 60_000),
    ("redaction.hold_bytes", 1024, 64 << 20),
    ("log.fsync_interval_ms", 10, 3_600_000),
    ("log.queue_appends", 1, 65_536),
    ("log.read_connections", 1, 256),
    ("log.recent_bytes", 0, 1 << 40),
    ("log.max_runs", 1, 100_000_000),
    ("log.max_bytes", 1 << 20, 1 << 50),
    ("log.max_file_bytes", 0, 1 << 43),
    ("log.max_age_hours", 0, 1_000_000),
    ("approvals.timeout_ms", 1_000, 604_800_000),
    ("log.run_max_frames", 0, 1 << 40),
    ("log.run_max_bytes", 0, 1 << 50),
    ("log.run_max_age_hours", 0, 1_000_000),
    ("artifacts.inline_bytes", 0, 1 << 30),
    ("artifacts.preview_bytes", 0, 1 << 20),
    ("artifacts.max_bytes", 1024, 4 << 30),
    ("artifacts.max_open_bytes", 1024, 1 << 40),
    ("artifacts.max_total_bytes", 1 << 20, 1 << 50),
    ("hecate.task_budget_micros_usd", 0, 1 << 50),
    ("otlp.connect_timeout_ms", 100, 600_000),
    ("otlp.timeout_ms", 100, 600_000),
    ("otlp.queue_spans", 1, 1_000_000),
    ("otlp.batch_spans", 1, 65_536),
    ("otlp.interval_ms", 1, 600_000),
    ("otlp.max_open_spans", 1, 10_000_000),
];

impl Config {
    /// Checks constraints between settings. Returns the key to report and the problem.
    pub(super) fn cross_check(&self) -> Vec<(&'static str, String)> {
        let mut found = Vec::new();
        let Server { page_limit_default, page_limit_max, default_contract, allowed_hosts, .. } = &self.server;
        if page_limit_default > page_limit_max {
            let message = format!("{page_limit_default} is more than server.page_limit_max ({page_limit_max})");
            found.push(("server.page_limit_default", message));
        }
        if framegate_translators::contracts::contract(default_contract).is_none() {
            let known = framegate_translators::contracts::CONTRACTS.iter().map(|contract| contract.name);
            found.push(("server.default_contract", error::unknown("contract", default_contract, known)));
        }
        if allowed_hosts.iter().any(|host| host.trim().is_empty()) {
            found.push(("server.allowed_hosts", "contains an empty host name; remove it".to_owned()));
        }
        if let Some(wrong) = self.server.cors_origins.iter().find(|origin| !is_origin(origin)) {
            let message = format!(
                "{wrong:?} is not an origin such as \"https://ui.example\": only a scheme, a host and a port, without \
                 \"*\""
            );
            found.push(("server.cors_origins", message));
        }
        if let Some(error) = self.server.trusted_proxies.iter().find_map(|text| text.parse::<Network>().err()) {
            found.push(("server.trusted_proxies", error.to_string()));
        }
        let (has_certificate, has_key) = (is_set(&self.tls.certificate_file), is_set(&self.tls.key_file));
        if has_certificate && !has_key {
            found.push(("tls.key_file", "is empty, but tls.certificate_file is set: TLS needs both".to_owned()));
        }
        if has_key && !has_certificate {
            found.push(("tls.certificate_file", "is empty, but tls.key_file is set: TLS needs both".to_owned()));
        }
        if self.ingest.preview_bytes > self.ingest.max_record_bytes {
            let message = format!(
                "{} is more than ingest.max_record_bytes ({})",
                self.ingest.preview_bytes, self.ingest.max_record_bytes
            );
            found.push(("ingest.preview_bytes", message));
        }
        if self.log.path.as_os_str().is_empty() {
            found.push((
                "log.path",
                "is empty; set it to the path of the database file, such as \"framegate.db\"".to_owned(),
            ));
        }
        let Artifacts { inline_bytes, preview_bytes, max_bytes, max_total_bytes, .. } = self.artifacts;
        for (key, value, other, most) in [
            ("artifacts.preview_bytes", preview_bytes, "artifacts.inline_bytes", inline_bytes as u64),
            ("artifacts.inline_bytes", inline_bytes, "artifacts.max_bytes", max_bytes as u64),
            // An artifact occupies slightly more than its size.
            ("artifacts.max_bytes", max_bytes, "half of artifacts.max_total_bytes", max_total_bytes / 2),
        ] {
            if value as u64 > most {
                found.push((key, format!("{value} is more than {other} ({most})")));
            }
        }
        if let Err(error) = self.redaction.rules() {
            let key = match &error {
                SettingsError::Pattern(..) => "redaction.patterns",
                SettingsError::Rule(_) => "redaction.disabled_rules",
                SettingsError::Key(_) => "redaction.keys",
            };
            found.push((key, error.to_string()));
        }
        if let Err(error) = super::filter::filter(&self.telemetry.filter) {
            found.push(("telemetry.filter", error.to_string()));
        }
        self.otlp.cross_check(&mut found);
        found
    }
}

fn is_set(path: &std::path::Path) -> bool {
    !path.as_os_str().is_empty()
}

/// Whether a browser would send this text as an `Origin` (RFC 6454, section 6.2): in lower case, without a path.
fn is_origin(text: &str) -> bool {
    let is_of_name = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "-._:[]".contains(letter);
    text.split_once("://").is_some_and(|(scheme, host)| {
        let is_scheme = scheme.starts_with(|letter: char| letter.is_ascii_lowercase())
            && scheme
                .chars()
                .all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || "+-.".contains(letter));
        is_scheme && !host.is_empty() && host.chars().all(is_of_name)
    })
}
