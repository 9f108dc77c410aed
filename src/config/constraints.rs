//! What makes a value wrong besides its type and its range: its form, and its relation to other settings.
//!
//! Input: a configuration in which every value is in its range. Output: the settings that cannot be used, each with what is
//! wrong.

use super::{Artifacts, Config, Server, UiEnabled, error};
use crate::features::{WITHOUT_TLS, WITHOUT_UI};
use crate::network::Network;
use framegate_translators::redact::SettingsError;

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
        } else if let Some(wrong) = allowed_hosts.iter().find(|host| !is_host(host)) {
            let message = format!(
                "{wrong:?} is not a host such as \"gate.example\" or \"gate.example:8443\": only a name and a port, without \"*\""
            );
            found.push(("server.allowed_hosts", message));
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
        if has_certificate && !cfg!(feature = "tls") {
            found.push(("tls.certificate_file", format!("is set, but {WITHOUT_TLS}")));
        }
        if has_key && !has_certificate {
            found.push(("tls.certificate_file", "is empty, but tls.key_file is set: TLS needs both".to_owned()));
        }
        if self.ui.enabled == UiEnabled::On && !cfg!(feature = "ui") {
            found.push(("ui.enabled", format!("is \"on\", but {WITHOUT_UI}")));
        }
        if self.ingest.preview_bytes > self.ingest.max_record_bytes {
            let message = format!(
                "{} is more than ingest.max_record_bytes ({})",
                self.ingest.preview_bytes, self.ingest.max_record_bytes
            );
            found.push(("ingest.preview_bytes", message));
        }
        self.log.cross_check(&mut found);
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
                SettingsError::Key(_) | SettingsError::TooLarge(_) => "redaction.keys",
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

pub(super) fn is_set(path: &std::path::Path) -> bool {
    !path.as_os_str().is_empty()
}

/// Whether a browser would send this text as an `Origin` (RFC 6454, section 6.2): in lower case, without a path.
/// Whether a `Host` header can have this value.
fn is_host(text: &str) -> bool {
    text.chars().all(|letter| letter.is_ascii_alphanumeric() || "-._:[]".contains(letter))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    /// The settings that cannot be used, each with what is wrong.
    fn refused(config: &Config) -> Vec<String> {
        config.cross_check().into_iter().map(|(key, message)| format!("{key} {message}")).collect()
    }

    #[test]
    fn settings_of_a_feature_are_refused_by_a_build_without_it() {
        let mut config = Config::default();
        assert_eq!(refused(&config), Vec::<String>::new());
        (config.tls.certificate_file, config.tls.key_file) = ("a.pem".into(), "a.key".into());
        config.ui.enabled = UiEnabled::On;
        let mut expected = Vec::new();
        if !cfg!(feature = "tls") {
            expected.push(format!("tls.certificate_file is set, but {WITHOUT_TLS}"));
        }
        if !cfg!(feature = "ui") {
            expected.push(format!("ui.enabled is \"on\", but {WITHOUT_UI}"));
        }
        assert_eq!(refused(&config), expected);
    }
}
