//! The permit of an open event stream, and the rights of its reader.
//!
//! Input: the permit, the reader, and the settings as they change. Output: a signal when the reader's token was removed or has
//! other rights. Never: a stream that goes on without its reader's rights.

use super::limits::StreamSlot;
use super::live::Live;
use super::problem::Problem;
use crate::auth::Caller;
use hyper::StatusCode;
use std::sync::Arc;
use tokio::sync::watch;

/// What an open event stream holds: its permit and its reader's rights.
#[derive(Debug)]
pub(super) struct Lease {
    slot: StreamSlot,
    pub(super) caller: Arc<Caller>,
    live: watch::Receiver<Arc<Live>>,
}

impl Lease {
    pub(super) fn new(slot: StreamSlot, caller: Arc<Caller>, live: watch::Receiver<Arc<Live>>) -> Self {
        Self { slot, caller, live }
    }

    /// The permit alone, for a response whose reader's rights are not checked again.
    pub(super) fn into_slot(self) -> StreamSlot {
        self.slot
    }

    /// The outcome of `work`.
    ///
    /// # Errors
    /// That of `work`; 401 if the reader's token is removed, or its rights change, before it is done.
    pub(super) async fn during<T>(&mut self, work: impl Future<Output = Result<T, Problem>>) -> Result<T, Problem> {
        tokio::select! {
            biased;
            () = self.revoked() => {
                Err(Problem::new(StatusCode::UNAUTHORIZED, "the token was removed or has other rights now"))
            }
            outcome = work => outcome,
        }
    }

    /// Waits until the reader's token is removed, or its rights change.
    pub(super) async fn revoked(&mut self) {
        let caller = &self.caller;
        let is_other = |live: &Arc<Live>| !live.tokens.still_has(caller);
        // The sender lives as long as the server.
        let _ = self.live.wait_for(is_other).await;
    }
}
