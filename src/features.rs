//! What a build without a feature says about a setting or a request that needs it.
//!
//! Input: none. Output: the end of a sentence whose subject is the setting or the request. Never: a decision; callers ask `cfg!`.

/// Without `tls`.
pub(crate) const WITHOUT_TLS: &str =
    "this framegate was built without TLS; build it with cargo build --release --features tls";

/// Without `ui`.
pub(crate) const WITHOUT_UI: &str =
    "this framegate was built without the page; build it with cargo build --release --features ui";
