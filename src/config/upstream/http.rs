//! Settings that all HTTP upstreams share: the URL, the credentials and the connection.

use crate::config::table::settings;
use crate::features::WITHOUT_TLS;
use hyper::Uri;
use hyper::header::HeaderName;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Whose credentials requests to an upstream carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Authorization {
    /// No credentials.
    None,
    /// The secret in `secret_file` or `secret_env`.
    Configured,
    /// The client's own.
    Passthrough,
}

settings! {
    /// The URL, credentials and connection settings of an upstream.
    pub struct Http {
        /// URL: of a server, the prefix of `/responses`, such as `https://api.example/v1`; of a feed, the feed itself, such as
        /// `http://127.0.0.1:4096/event`, which may have a query.
        url: String = String::new();
        /// Credentials that requests carry: none, configured (`secret_file` or `secret_env`), or passthrough (those of the
        /// client; not for a feed).
        authorization: Authorization = Authorization::None;
        /// Header that carries the configured secret.
        credential_header: String = "authorization".to_owned();
        /// Scheme before the secret in `authorization`. Any other header has the secret alone.
        credential_scheme: String = "Bearer".to_owned();
        /// File with the secret on one line. Empty: none.
        secret_file: PathBuf = PathBuf::new();
        /// Environment variable with the secret. Empty: none.
        secret_env: String = String::new();
        /// Certificates to trust, as PEM. Empty: those of the machine.
        ca_file: PathBuf = PathBuf::new();
        /// Time to connect.
        connect_timeout_ms: u64 = 10_000, in 100..=600_000;
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
    if url.starts_with("https:") && !cfg!(feature = "tls") {
        report("url", format!("is an https URL, but {WITHOUT_TLS}"));
    }
}
