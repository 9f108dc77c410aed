//! What an upstream of kind `responses` is set to.

use serde::{Deserialize, Serialize};

/// A server of the Responses API that requests are forwarded to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Responses {
    /// The server's URL, such as `https://api.example/v1`.
    pub url: String,
}

impl Responses {
    /// What no single value shows.
    pub(super) fn check(&self, report: &mut dyn FnMut(&str, String)) {
        if self.url.is_empty() {
            report("url", "is missing".to_owned());
        }
    }
}
