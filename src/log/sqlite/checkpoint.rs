//! Moves the write-ahead log to the database, beside the thread that writes.
//!
//! In: that there is something to move. Out: pages in the database, synced as [`Fsync`] says. Never: a writer that waits for
//! it, but where the log has grown beyond what it may have (then he moves the rest himself), more than one move at a time.

use super::Fsync;
use super::database::open_beside;
use crate::log::LogError;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

/// How many bytes go to the write-ahead log before they are moved.
const EVERY_BYTES: u64 = 8 << 20;

/// How many pages a transaction writes besides its frames, about: the ends of both trees, and the row of the stream.
const PAGES_BESIDE: u64 = 3;

/// See the module.
#[derive(Debug)]
pub(super) struct Checkpointer {
    /// `None` once it is to end.
    due: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    page_bytes: u64,
    /// How many bytes were written since it was last asked.
    written: u64,
    failed: Arc<AtomicBool>,
}

impl Checkpointer {
    pub(super) fn new(path: &Path, fsync: Fsync) -> Result<Self, LogError> {
        let (database, page_bytes) = open_beside(path, fsync)?;
        let (due, asked) = sync_channel(1);
        let failed = Arc::new(AtomicBool::new(false));
        let has_failed = failed.clone();
        let work = move || {
            while asked.recv().is_ok() {
                // Whatever it could not move, it moves the next time, or the writer does.
                let moved = database.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
                has_failed.store(moved.is_err(), Ordering::Relaxed);
                if let Err(error) = moved {
                    tracing::error!(%error, "the frame log could not be synced");
                }
            }
        };
        let thread = std::thread::Builder::new().name("frame-log-move".to_owned()).spawn(work);
        let thread = thread.map_err(|error| LogError::Failed {
            path: path.to_owned(),
            what: "cannot have a thread to move pages",
            detail: error.to_string(),
        })?;
        Ok(Self { due: Some(due), thread: Some(thread), page_bytes, written: 0, failed })
    }

    /// A transaction with so many bytes of frames was committed.
    pub(super) fn wrote(&mut self, bytes: u64) {
        self.written += bytes + PAGES_BESIDE * self.page_bytes;
        if self.written >= EVERY_BYTES {
            self.ask();
        }
    }

    /// Whether the last time it could not.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Moves what there is, soon.
    pub(super) fn ask(&mut self) {
        self.written = 0;
        // Where one waits already, it will find this too.
        let _ = self.due.as_ref().map(|due| due.try_send(()));
    }
}

impl Drop for Checkpointer {
    fn drop(&mut self) {
        self.due = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
