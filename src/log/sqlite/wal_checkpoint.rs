//! Moves pages from the write-ahead log to the database, in a thread beside the writer.
//!
//! Input: requests for a checkpoint. Output: pages in the database, synced as [`Fsync`] says. Never: two checkpoints at once,
//! or a writer that waits for one. Exception: if the write-ahead log exceeds its limit, the writer runs a checkpoint itself.

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

/// How many bytes are written to the write-ahead log between two checkpoints.
const EVERY_BYTES: u64 = 8 << 20;

/// The checkpoint thread.
#[derive(Debug)]
pub(super) struct Checkpointer {
    /// `None` once the thread is to end.
    due: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// How many pages are written to the write-ahead log between two checkpoints.
    every: u64,
    /// Size of the write-ahead log in pages after the writer's last transaction. Pages that are already moved count too.
    pages: Arc<AtomicU64>,
    /// The size at the last request.
    asked: u64,
    failed: Arc<AtomicBool>,
}

impl Checkpointer {
    /// Starts the thread, and installs a hook on the writer's connection that reports the size of the write-ahead log.
    pub(super) fn new(writer: &mut Connection, path: &Path, fsync: Fsync) -> Result<Self, LogError> {
        let (database, page_bytes) = open_beside(path, fsync)?;
        let pages = Arc::new(AtomicU64::new(0));
        let (there, most) = (pages.clone(), CHECKPOINT_BYTES / page_bytes);
        // Replaces SQLite's own hook, which runs a checkpoint at that size.
        let hook = move |wal: &mut Wal, pages: c_int| {
            let pages = u64::try_from(pages).unwrap_or_default();
            there.store(pages, Ordering::Relaxed);
            if pages >= most {
                // The transaction is committed in any case; if this fails, the next transaction tries again.
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
                // Pages that it could not move are moved by the next checkpoint, or by the writer.
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
            what: "has no thread for checkpoints",
            detail: error.to_string(),
        })?;
        Ok(Self { due: Some(due), thread: Some(thread), every: EVERY_BYTES / page_bytes, pages, asked: 0, failed })
    }

    /// Requests a checkpoint if enough was written since the last request.
    pub(super) fn look(&mut self) {
        let pages = self.pages.load(Ordering::Relaxed);
        // If the size went down, everything had been moved, and the write-ahead log was written from its start again.
        let before = if pages < self.asked { 0 } else { self.asked };
        if pages - before >= self.every {
            self.ask();
        }
    }

    /// Whether the last checkpoint failed.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed)
    }

    /// Requests a checkpoint.
    pub(super) fn ask(&mut self) {
        self.asked = self.pages.load(Ordering::Relaxed);
        // If a request is already waiting, its checkpoint covers this one too.
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
