//! What upstreams that are reached over HTTP have in common: where they are, and what they are told of who asks.

use hyper::Uri;
use hyper::header::HeaderName;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Whose credentials requests to an upstream carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Authorization {
    /// Nobody's.
    #[default]
    None,
    /// Those of `secret_file` or `secret_env`.
    Configured,
    /// The client's.
    Passthrough,
}

/// Where an upstream is, and how it is connected to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Http {
    /// Its URL: of a server what `/responses` stands behind, such as `https://api.example/v1`; of a feed its own, such as
    /// `http://127.0.0.1:4096/event`.
    pub url: String,
    /// Whose credentials requests carry.
    pub authorization: Authorization,
    /// The header of the configured credentials.
    pub credential_header: String,
    /// How they stand in `authorization`; in any other header the secret stands alone.
    pub credential_scheme: String,
    /// A file with the secret on one line; empty: none.
    pub secret_file: PathBuf,
    /// An environment variable with the secret; empty: none.
    pub secret_env: String,
    /// Certificates to trust, as PEM; empty: those that the machine trusts.
    pub ca_file: PathBuf,
    /// How long a connection may take.
    pub connect_timeout_ms: u64,
}

impl Default for Http {
    fn default() -> Self {
        Self {
            url: String::new(),
            authorization: Authorization::None,
            credential_header: "authorization".to_owned(),
            credential_scheme: "Bearer".to_owned(),
            secret_file: PathBuf::new(),
            secret_env: String::new(),
            ca_file: PathBuf::new(),
            connect_timeout_ms: 10_000,
        }
    }
}

impl Http {
    /// What no single value shows. `is_feed`: the URL may have a query, and there are no clients whose credentials could be
    /// passed through.
    pub(super) fn check(&self, is_feed: bool, report: &mut dyn FnMut(&str, String)) {
        check_url(&self.url, is_feed, report);
        self.check_credentials(!is_feed, report);
    }

    fn check_credentials(&self, clients: bool, report: &mut dyn FnMut(&str, String)) {
        let (has_file, has_env) = (!self.secret_file.as_os_str().is_empty(), !self.secret_env.is_empty());
        match self.authorization {
            Authorization::Configured if has_file == has_env => {
                let message =
                    "is \"configured\", so exactly one of secret_file and secret_env says where the secret is";
                report("authorization", message.to_owned());
            }
            Authorization::None | Authorization::Passthrough if has_file || has_env => {
                let message = "is not \"configured\", and there is a secret that nobody would be sent";
                report("authorization", message.to_owned());
            }
            Authorization::Passthrough if !clients => {
                report("authorization", "cannot be \"passthrough\": nobody's request stands behind a feed".to_owned());
            }
            _ => {}
        }
        let (scheme, header) = (&self.credential_scheme, self.credential_header.as_str());
        if scheme.is_empty() || !scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            report("credential_scheme", format!("{scheme:?} is no scheme, such as \"Bearer\" or \"Basic\""));
        }
        let is_reserved = ["host", "content-length", "transfer-encoding", "connection", "accept"].contains(&header);
        if HeaderName::from_bytes(header.as_bytes()).is_err() || is_reserved {
            report("credential_header", format!("{header:?} is no header's name that could carry a secret"));
        }
    }
}

/// Checks an upstream's URL. A feed's may have a query.
fn check_url(url: &str, with_query: bool, report: &mut dyn FnMut(&str, String)) {
    if url.is_empty() {
        report("url", "is missing".to_owned());
        return;
    }
    let is_one = url.parse::<Uri>().is_ok_and(|url| {
        let is_http = matches!(url.scheme_str(), Some("http" | "https"));
        let is_plain = url.authority().is_some_and(|authority| !authority.as_str().contains('@'));
        is_http && is_plain && url.host().is_some_and(|host| !host.is_empty()) && (with_query || url.query().is_none())
    });
    if !is_one {
        let query = if with_query { "" } else { " or a query" };
        report("url", format!("is no URL of the form https://HOST:PORT/PATH, without a user{query}"));
    }
}
