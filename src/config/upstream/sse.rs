//! What an upstream of kind `sse` is set to.

use serde::{Deserialize, Serialize};

/// An event feed that is followed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Sse {
    /// The feed's URL.
    pub url: String,
}

impl Sse {
    /// What no single value shows.
    pub(super) fn check(&self, report: &mut dyn FnMut(&str, String)) {
        if self.url.is_empty() {
            report("url", "is missing".to_owned());
        }
    }
}
