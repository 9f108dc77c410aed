//! What upstreams that are reached over HTTP have in common: where they are, and what they are told of who asks.

use hyper::Uri;
use hyper::header::HeaderName;
use serde::{Deserialize, Serialize};
use std::path::Path;

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

/// The settings of credentials.
pub(super) struct Credentials<'s> {
    pub(super) authorization: Authorization,
    pub(super) header: &'s str,
    pub(super) scheme: &'s str,
    pub(super) file: &'s Path,
    pub(super) env: &'s str,
}

/// Checks an upstream's URL. A feed's may have a query.
pub(super) fn check_url(url: &str, with_query: bool, report: &mut dyn FnMut(&str, String)) {
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

/// Checks the settings of credentials. `clients` says that there are clients whose own could be passed through.
pub(super) fn check_credentials(credentials: &Credentials<'_>, clients: bool, report: &mut dyn FnMut(&str, String)) {
    let Credentials { authorization, header, scheme, file, env } = credentials;
    let (has_file, has_env) = (!file.as_os_str().is_empty(), !env.is_empty());
    match authorization {
        Authorization::Configured if has_file == has_env => {
            let message = "is \"configured\", so exactly one of secret_file and secret_env says where the secret is";
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
    if scheme.is_empty() || !scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        report("credential_scheme", format!("{scheme:?} is no scheme, such as \"Bearer\" or \"Basic\""));
    }
    let is_reserved = ["host", "content-length", "transfer-encoding", "connection", "accept"].contains(header);
    if HeaderName::from_bytes(header.as_bytes()).is_err() || is_reserved {
        report("credential_header", format!("{header:?} is no header's name that could carry a secret"));
    }
}
