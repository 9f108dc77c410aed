//! `[otlp]`: the constraints on the collector that receives spans of runs, turns and tools.

use super::{Otlp, OtlpProtocol};
use crate::features::WITHOUT_TLS;
use hyper::Uri;
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, HeaderName, TE, TRANSFER_ENCODING};

/// The error for an endpoint in a build without the feature.
const NOT_BUILT: &str =
    "is set, but this framegate was built without OpenTelemetry; build it with cargo build --release --features otel";

impl Otlp {
    /// Checks constraints between settings. Adds the key to report and the problem.
    pub(super) fn cross_check(&self, found: &mut Vec<(&'static str, String)>) {
        if self.batch_spans > self.queue_spans {
            let message = format!("{} is more than otlp.queue_spans ({})", self.batch_spans, self.queue_spans);
            found.push(("otlp.batch_spans", message));
        }
        if !self.endpoint.is_empty() {
            if !cfg!(feature = "otel") {
                found.push(("otlp.endpoint", NOT_BUILT.to_owned()));
            }
            if !is_endpoint(&self.endpoint) {
                let form = match self.protocol {
                    OtlpProtocol::Grpc => "http://HOST:PORT",
                    OtlpProtocol::Protobuf | OtlpProtocol::Json => "http://HOST:PORT/v1/traces",
                };
                found.push(("otlp.endpoint", format!("must be a URL of the form {form}, without a user or a query")));
            }
            if self.endpoint.starts_with("https:") && !cfg!(feature = "tls") {
                found.push(("otlp.endpoint", format!("is an https URL, but {WITHOUT_TLS}")));
            }
        }
        let lists = [
            ("otlp.header_files", self.header_files.keys().collect::<Vec<_>>()),
            ("otlp.header_env", self.header_env.keys().collect()),
        ];
        for (key, names) in lists {
            for name in names {
                if !HeaderName::from_bytes(name.as_bytes()).is_ok_and(|name| Self::may_add(&name)) {
                    found.push((key, format!("{name:?} is not a header name that can be added")));
                }
            }
        }
        if self.header_list_env.contains(['=', ',']) {
            let message = "must be the name of an environment variable, not the list itself";
            found.push(("otlp.header_list_env", message.to_owned()));
        }
        if self.service_name.trim().is_empty() {
            found.push(("otlp.service_name", "is empty; use a name such as \"framegate\"".to_owned()));
        }
        if self.resource_attributes.contains_key("service.name") {
            let message = "contains service.name, which has a setting of its own: otlp.service_name";
            found.push(("otlp.resource_attributes", message.to_owned()));
        }
        let lower = |name: &String| name.to_ascii_lowercase();
        if let Some(twice) =
            self.header_env.keys().find(|name| self.header_files.keys().any(|known| lower(known) == lower(name)))
        {
            found.push(("otlp.header_env", format!("{twice:?} is also in otlp.header_files")));
        }
    }
}

impl Otlp {
    /// Whether a header can be added to requests, and does not describe their bodies.
    pub(crate) fn may_add(name: &HeaderName) -> bool {
        ![HOST, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, TE, TRANSFER_ENCODING].contains(name)
            && !name.as_str().starts_with("grpc-")
    }
}

fn is_endpoint(url: &str) -> bool {
    url.parse::<Uri>().is_ok_and(|url| {
        let is_http = matches!(url.scheme_str(), Some("http" | "https"));
        let is_plain = url.authority().is_some_and(|authority| !authority.as_str().contains('@'));
        is_http && is_plain && url.host().is_some_and(|host| !host.is_empty()) && url.query().is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn wrong(otlp: &Otlp) -> String {
        let mut found = Vec::new();
        otlp.cross_check(&mut found);
        found.iter().map(|(key, message)| format!("{key}: {message}\n")).collect()
    }

    #[test]
    fn errors_name_the_setting() {
        assert_eq!(wrong(&Otlp::default()), "");
        for bad in ["collector:4318", "ftp://c/v1/traces", "http://user@c/v1/traces", "http:///x", "http://c/?a=b"] {
            let otlp = Otlp { endpoint: bad.to_owned(), ..Otlp::default() };
            assert!(wrong(&otlp).contains("otlp.endpoint: must be a URL"), "{bad}");
        }
        let otlp = Otlp { batch_spans: 11, queue_spans: 10, ..Otlp::default() };
        assert_eq!(wrong(&otlp), "otlp.batch_spans: 11 is more than otlp.queue_spans (10)\n");
        assert_eq!(wrong(&Otlp { batch_spans: 10, queue_spans: 10, ..Otlp::default() }), "");
        let files = [("a b".to_owned(), PathBuf::new()), ("Host".to_owned(), PathBuf::new())];
        let otlp = Otlp { header_files: files.into(), ..Otlp::default() };
        assert!(wrong(&otlp).contains("\"a b\" is not a header name") && wrong(&otlp).contains("\"Host\" is not"));
        let otlp = Otlp {
            header_files: [("X-Key".to_owned(), PathBuf::from("f"))].into(),
            header_env: [("x-key".to_owned(), "KEY".to_owned())].into(),
            ..Otlp::default()
        };
        assert!(wrong(&otlp).contains("\"x-key\" is also in otlp.header_files"));
    }

    #[test]
    fn a_build_without_the_feature_names_the_command_to_build_it() {
        let message = wrong(&Otlp { endpoint: "http://127.0.0.1:4318/v1/traces".to_owned(), ..Otlp::default() });
        if cfg!(feature = "otel") {
            assert_eq!(message, "");
        } else {
            assert!(message.contains("cargo build --release --features otel"), "{message}");
        }
    }
}
