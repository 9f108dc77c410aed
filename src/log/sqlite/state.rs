//! The state row of the database, and whether the file is still the one that was opened.
//!
//! Input: commits, and checks before a write. Output: the position of the next frame; an error if the database was deleted or
//! replaced; a recorded loss if it holds less than was committed. Never: a position used twice.

use super::database::failure;
use super::watermark::Watermark;
use super::{Fsync, Options};
use crate::log::LogError;
use crate::platform::identity::Identity;
use rusqlite::Connection;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The one row of the table `state`.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The id of the database.
    pub(crate) database: Vec<u8>,
    /// The key that seals feed cursors.
    pub(crate) secret: Vec<u8>,
    /// The lowest position that no frame has ever had.
    pub(crate) next_position: u64,
    /// Streams whose last frame is below this position may have been dropped and forgotten.
    pub(crate) forgotten: u64,
}

impl Row {
    /// Reads the row.
    pub(crate) fn read(database: &Connection) -> rusqlite::Result<Self> {
        let sql = "SELECT database, secret, max(next_position, (SELECT coalesce(max(position), 0) + 1 FROM frames)), forgotten \
                   FROM state";
        database.query_row(sql, [], |row| {
            Ok(Self { database: row.get(0)?, secret: row.get(1)?, next_position: row.get(2)?, forgotten: row.get(3)? })
        })
    }
}

/// The state of an open log.
#[derive(Debug)]
pub(super) struct State {
    /// The position of the next frame.
    pub(super) next_position: u64,
    files: Files,
    watermark: Watermark,
}

impl State {
    pub(super) fn open(database: &Connection, options: &Options) -> Result<Self, LogError> {
        let path = &options.path;
        let row = Row::read(database).map_err(|error| failure(path, "cannot be read", &error))?;
        let (watermark, marked) = Watermark::open(path, &row.database);
        let mut next_position = row.next_position;
        if let Some(committed) = marked.filter(|committed| *committed > next_position) {
            let frames = committed - next_position;
            let cause = match options.fsync {
                Fsync::Always => {
                    "the write-ahead log was damaged or removed, or an older copy of the file took its place"
                }
                _ => {
                    "the machine lost power before log.fsync had them synced, or the write-ahead log was damaged or removed"
                }
            };
            tracing::error!(
                path = %path.display(), frames, position = next_position,
                "committed frames are missing from the frame log: {cause}; `framegate log verify` also reports this"
            );
            let sql = "INSERT INTO losses (noticed_ms, position, frames) VALUES (?1, ?2, ?3)";
            let noted = database.execute(sql, (options.clock.now_ms(), next_position, frames));
            if let Err(error) = noted {
                tracing::warn!(%error, "the loss could not be recorded in the frame log");
            }
            next_position = committed;
        }
        let mut state = Self { next_position, files: Files::of(path), watermark };
        state.watermark.write(next_position);
        Ok(state)
    }

    /// Records a commit; `next_position` is the position of the next frame.
    pub(super) fn committed(&mut self, next_position: u64) {
        if next_position > self.next_position {
            self.next_position = next_position;
            self.watermark.write(next_position);
        }
    }

    /// Checks that the database is still the file that was opened.
    pub(super) fn check_files(&self) -> Result<(), LogError> {
        self.files.check()
    }
}

/// The identity of the opened files.
#[derive(Debug)]
pub(super) struct Files {
    path: PathBuf,
    database: Option<Identity>,
    /// The write-ahead log, which is created by the first write.
    wal: OnceLock<Identity>,
}

impl Files {
    pub(super) fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), database: identity(path).ok().flatten(), wal: OnceLock::new() }
    }

    /// Checks that they are still there. A file that cannot be examined counts as there.
    pub(super) fn check(&self) -> Result<(), LogError> {
        let replaced = |what: &'static str, found: Option<Identity>| LogError::Replaced {
            path: self.path.clone(),
            what,
            how: if found.is_some() { "replaced by another file" } else { "deleted" },
        };
        if let (Some(opened), Ok(found)) = (self.database, identity(&self.path))
            && found != Some(opened)
        {
            return Err(replaced("the database", found));
        }
        let mut wal = self.path.as_os_str().to_owned();
        wal.push("-wal");
        let Ok(found) = identity(Path::new(&wal)) else { return Ok(()) };
        match (self.wal.get(), found) {
            (Some(opened), found) if found != Some(*opened) => Err(replaced("its write-ahead log", found)),
            (None, Some(found)) => {
                let _ = self.wal.set(found);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// `None` if the file does not exist.
fn identity(path: &Path) -> std::io::Result<Option<Identity>> {
    match Identity::at(path) {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
