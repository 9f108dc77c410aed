//! Settings that all HTTP upstreams share: the URL, the credentials and the connection.

use hyper::Uri;
use hyper::header::HeaderName;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Whose credentials requests to an upstream carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Authorization {
    /// No credentials.
    #[default]
    None,
    /// The secret in `secret_file` or `secret_env`.
    Configured,
    /// The client's own.
    Passthrough,
}

/// The URL, credentials and connection settings of an upstream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Http {
    /// Its URL. For a server, the prefix of `/responses`, such as `https://api.example/v1`; for a feed, the URL of the feed
    /// itself, such as `http://127.0.0.1:4096/event`.
    pub url: String,
    /// Whose credentials requests carry.
    pub authorization: Authorization,
    /// The header that carries the configured credentials.
    pub credential_header: String,
    /// The scheme before the secret in `authorization`. Any other header contains only the secret.
    pub credential_scheme: String,
    /// A file with the secret on one line. Empty: none.
    pub secret_file: PathBuf,
    /// An environment variable with the secret. Empty: none.
    pub secret_env: String,
    /// Root certificates to trust, as PEM. Empty: those of the machine.
    pub ca_file: PathBuf,
    /// The timeout for connecting.
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
    /// Checks constraints between settings. If `is_feed`, the URL may have a query, and passthrough is invalid because there
    /// are no clients.
    pub(super) fn check(&self, is_feed: bool, report: &mut dyn FnMut(&str, String)) {
        check_url(&self.url, is_feed, report);
        self.check_credentials(!is_feed, report);
    }

    fn check_credentials(&self, clients: bool, report: &mut dyn FnMut(&str, String)) {
        let (has_file, has_env) = (!self.secret_file.as_os_str().is_empty(), !self.secret_env.is_empty());
        match self.authorization {
            Authorization::Configured if has_file == has_env => {
                let message = "is \"configured\", so exactly one of secret_file and secret_env must be set";
                report("authorization", message.to_owned());
            }
            Authorization::None | Authorization::Passthrough if has_file || has_env => {
                let message =
                    "is not \"configured\", so the secret would not be used: remove it, or use \"configured\"";
                report("authorization", message.to_owned());
            }
            Authorization::Passthrough if !clients => {
                report(
                    "authorization",
                    "cannot be \"passthrough\": a feed has no client whose credentials could be passed on".to_owned(),
                );
            }
            _ => {}
        }
        let (scheme, header) = (&self.credential_scheme, self.credential_header.as_str());
        if scheme.is_empty() || !scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            report("credential_scheme", format!("{scheme:?} is not a scheme such as \"Bearer\" or \"Basic\""));
        }
        let is_reserved = ["host", "content-length", "transfer-encoding", "connection", "accept"].contains(&header);
        if HeaderName::from_bytes(header.as_bytes()).is_err() || is_reserved {
            report("credential_header", format!("{header:?} is not a header name that can carry a secret"));
        }
    }
}

/// Checks an upstream's URL. Only a feed's URL may have a query.
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
        report("url", format!("must be a URL of the form https://HOST:PORT/PATH, without a user{query}"));
    }
}
