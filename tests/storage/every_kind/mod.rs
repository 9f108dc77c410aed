//! What every kind of log does: in memory, in a file, at servers.
//!
//! Input: a place where a log of one kind is. Output: the same outcomes in each. Never: a test that knows which kind it has.
//!
//! [`of_every_kind!`] makes the tests for one kind. Logs at servers have theirs in `tests/cluster`, which has the servers.

pub mod artifacts;
pub mod frames;

use framegate::artifacts::ArtifactStore;
use framegate::log::FrameLog;
use framegate::runs::Runs;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// A log with its artifacts.
pub struct Opened {
    pub log: Arc<dyn FrameLog>,
    pub store: Arc<dyn ArtifactStore>,
}

/// Where a log is.
pub trait Place {
    /// Opens the log, again if it was open before. A log that several proxies share needs runs if `has_runs`, which hear its news.
    fn open(&self, has_runs: bool) -> Opened;

    /// What logs of this place need to work.
    fn runtime(&self) -> &Runtime;
}

/// The runs of a log, as a proxy that starts has them.
pub fn started(place: &dyn Place, runs: Runs) -> Arc<Runs> {
    let runs = Arc::new(runs);
    place.runtime().block_on(runs.recover(0)).unwrap();
    let hearing = runs.clone();
    place.runtime().spawn(async move { hearing.hear_on().await });
    runs
}

/// A runtime for a place.
pub fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// The tests of one kind. `$place` makes a place in which nothing was stored yet; `$attribute` is an attribute of each test.
macro_rules! of_every_kind {
    ($place:expr, $attribute:meta) => {
        crate::every_kind::of_every_kind! { $place, $attribute:
            frames::survive_reopening,
            frames::with_any_timestamp_are_read_back,
            frames::of_concurrent_appends_are_read_in_order,
            frames::have_no_gap_after_an_append_whose_caller_stopped_waiting,
            frames::of_a_task_that_is_reopened_stay_complete,
            frames::keep_the_final_text_of_their_run,
            artifacts::are_read_back_by_digest_and_by_prefix,
            artifacts::that_only_a_front_refers_to_are_deleted_with_it,
            artifacts::of_media_outlive_their_record_until_the_message_about_them_is_pruned,
            artifacts::have_a_usage_and_streams_that_refer_to_them,
        }
    };
    ($place:expr, $attribute:meta: $($group:ident::$test:ident,)*) => {
        $(
            #[test]
            #[$attribute]
            fn $test() {
                crate::every_kind::$group::$test(&$place);
            }
        )*
    };
}
pub(crate) use of_every_kind;
