//! What an upstream of kind `sse` is set to.

use super::http::{Authorization, Credentials, check_credentials, check_url};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// An event feed that is followed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sse {
    /// The feed's URL, such as `http://127.0.0.1:4096/event`. Requests to its server begin at the root.
    pub url: String,
    /// Whether requests carry credentials: `none` or `configured`.
    pub authorization: Authorization,
    /// The header of the credentials.
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
    /// How long it may take until an answer begins.
    pub answer_timeout_ms: u64,
    /// How long the feed may be silent before it is connected to anew; 0: for ever.
    pub idle_timeout_ms: u64,
    /// The pause before it is connected to again, at first.
    pub reconnect_min_ms: u64,
    /// The same at most: it doubles with each attempt.
    pub reconnect_max_ms: u64,
    /// How long a run may be silent behind a loss of the feed before it ends as interrupted.
    pub lost_after_ms: u64,
    /// How long it may take until the feed tells of a run that was started.
    pub start_timeout_ms: u64,
}

impl Default for Sse {
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
            answer_timeout_ms: 30_000,
            idle_timeout_ms: 60_000,
            reconnect_min_ms: 500,
            reconnect_max_ms: 30_000,
            lost_after_ms: 60_000,
            start_timeout_ms: 30_000,
        }
    }
}

impl Sse {
    /// What no single value shows.
    pub(super) fn check(&self, report: &mut dyn FnMut(&str, String)) {
        check_url(&self.url, true, report);
        check_credentials(
            &Credentials {
                authorization: self.authorization,
                header: &self.credential_header,
                scheme: &self.credential_scheme,
                file: &self.secret_file,
                env: &self.secret_env,
            },
            false,
            report,
        );
        if self.reconnect_min_ms > self.reconnect_max_ms {
            let message =
                format!("{} is more than reconnect_max_ms, which is {}", self.reconnect_min_ms, self.reconnect_max_ms);
            report("reconnect_min_ms", message);
        }
    }
}
