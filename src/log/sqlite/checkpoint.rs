//! Moves the write-ahead log to the database, beside the thread that writes.
//!
//! In: that there is something to move. Out: pages in the database, synced as [`Fsync`] says. Never: a writer that waits for
//! it, but where the log has grown beyond what it may have (then he moves the rest himself), more than one move at a time.

use super::Fsync;
use super::database::{CHECKPOINT_BYTES, open_beside, told};
use crate::log::LogError;
use rusqlite::Connection;
use rusqlite::hooks::Wal;
use std::ffi::c_int;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

/// How many bytes go to the write-ahead log before they are moved.
const EVERY_BYTES: u64 = 8 << 20;

/// See the module.
#[derive(Debug)]
pub(super) struct Checkpointer {
    /// `None` once it is to end.
    due: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// How many pages go to the write-ahead log before they are moved.
    every: u64,
    /// How many pages the write-ahead log has, whatever they are of, as of the writer's last transaction.
    pages: Arc<AtomicU64>,
    /// How many it had when it was last asked.
    asked: u64,
    failed: Arc<AtomicBool>,
}

impl Checkpointer {
    /// Beside the one who writes, which is where it is told what is written.
    pub(super) fn new(writer: &mut Connection, path: &Path, fsync: Fsync) -> Result<Self, LogError> {
        let (database, page_bytes) = open_beside(path, fsync)?;
        let pages = Arc::new(AtomicU64::new(0));
        let (there, most) = (pages.clone(), CHECKPOINT_BYTES / page_bytes);
        // It takes the place of SQLite's own, which moves what there is at that size.
        let hook = move |wal: &mut Wal, pages: c_int| {
            let pages = u64::try_from(pages).unwrap_or_default();
            there.store(pages, Ordering::Relaxed);
            if pages >= most {
                // The transaction is kept, whatever becomes of this; the next one tries again.
                let _ = wal.checkpoint();
            }
            Ok(())
        };
        writer.wal_hook(Some(hook)).map_err(|error| told(path, "cannot be opened", &error))?;
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
        Ok(Self { due: Some(due), thread: Some(thread), every: EVERY_BYTES / page_bytes, pages, asked: 0, failed })
    }

    /// Moves what there is where enough has come since the last time.
    pub(super) fn look(&mut self) {
        let pages = self.pages.load(Ordering::Relaxed);
        // It is written from its start again once all of it was moved.
        let before = if pages < self.asked { 0 } else { self.asked };
        if pages - before >= self.every {
            self.ask();
        }
    }

    /// Whether the last time it could not.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Moves what there is, soon.
    pub(super) fn ask(&mut self) {
        self.asked = self.pages.load(Ordering::Relaxed);
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
