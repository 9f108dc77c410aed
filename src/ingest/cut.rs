//! Why a run ended although its runner has not said so: its input, its proxy or the log broke off.
//!
//! Input: the error code of a run. Output: whether the run may be only the beginning of what its runner did. Never: a runner's own error.

use crate::runs::{Entry, LOG_FAILED};
use framegate_translators::normalizer::{PROXY_LOST, PROXY_RESTARTED, STREAM_ENDED};

/// The error code of a run that ended because the log was full.
pub(super) const LOG_FULL: &str = "log_full";

/// The error code of a run that was open when the proxy stopped.
pub const PROXY_STOPPING: &str = "proxy_stopping";

/// The error code of a run whose end was lost with its feed.
pub const FEED_LOST: &str = "feed_lost";

/// The error codes of runs that ended because their input, their proxy or the log did. The runner has not said how they ended.
const CUT: &[&str] = &[STREAM_ENDED, PROXY_RESTARTED, PROXY_LOST, PROXY_STOPPING, FEED_LOST, LOG_FAILED, LOG_FULL];

/// Whether a stored run is only the beginning of what its runner did, as far as is known.
pub(super) fn was_cut(entry: &Entry) -> bool {
    is_cut(entry.status().error_code.as_deref())
}

/// The same for a run with this error code.
pub(super) fn is_cut(code: Option<&str>) -> bool {
    code.is_some_and(|code| CUT.contains(&code))
}
