//! Sessions that a runner keeps in a SQLite database.
//!
//! Input: a database, which its runner may be writing to, and the runner's queries. Output: its sessions, and each as a document that the runner's decoder
//! reads. Never: a change of the database; more of a session in memory than the largest record.

use framegate_translators::runners::{RUNNERS, Runner, SessionDatabase};
use rusqlite::{Connection, OpenFlags};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The first bytes of each database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// How long a query waits for the runner's own transactions.
const PATIENCE: Duration = Duration::from_secs(5);

/// A session in a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) id: String,
    /// Whether its agent has not ended its turn.
    pub(super) is_at_work: bool,
    of: SessionDatabase,
}

/// What the database says of a session.
pub(super) struct Row {
    pub(super) stored: Stored,
    pub(super) modified: SystemTime,
}

/// Whether a file is a SQLite database.
pub(super) fn is_database(path: &Path) -> bool {
    let mut front = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut front)).is_ok() && front == *MAGIC
}

/// The runner whose sessions a database has: the one, or one of all, whose query it answers.
pub(super) fn owner(path: &Path, only: Option<&str>) -> Option<(&'static Runner, SessionDatabase)> {
    let database = open(path).ok()?;
    let is_meant = |runner: &&Runner| only.is_none_or(|only| only == runner.name);
    let of_runner =
        |runner: &'static Runner| runner.history.iter().filter_map(move |kept| Some((runner, kept.database?)));
    RUNNERS.iter().filter(is_meant).flat_map(of_runner).find(|(_, queries)| database.prepare(queries.sessions).is_ok())
}

/// The sessions of a database.
///
/// # Errors
/// The database cannot be read, or has other tables than the runner's.
pub(super) fn sessions(path: &Path, queries: SessionDatabase) -> io::Result<Vec<Row>> {
    let read = || {
        let database = open(path)?;
        let mut query = database.prepare(queries.sessions)?;
        let rows = query.query_map([], |row| {
            let modified = UNIX_EPOCH + Duration::from_millis(row.get(1)?);
            let stored = Stored { id: row.get(0)?, is_at_work: row.get(2)?, of: queries };
            Ok(Row { stored, modified })
        })?;
        rows.collect::<rusqlite::Result<Vec<Row>>>()
    };
    read().map_err(failure)
}

impl Stored {
    /// The session as its runner's decoder reads it.
    ///
    /// # Errors
    /// The database cannot be read, has the session no more, or has more of it than `most` bytes.
    pub(super) fn document(&self, path: &Path, most: usize) -> io::Result<Vec<u8>> {
        let database = open(path).map_err(failure)?;
        let mut query = database.prepare(self.of.document).map_err(failure)?;
        let mut rows = query.query([&self.id]).map_err(failure)?;
        let mut document = Vec::new();
        while let Some(row) = rows.next().map_err(failure)? {
            let piece = row.get_ref(0).and_then(|piece| Ok(piece.as_bytes()?)).map_err(failure)?;
            if document.len() + piece.len() > most {
                let why = format!("it is larger than ingest.max_record_bytes ({most})");
                return Err(io::Error::new(ErrorKind::FileTooLarge, why));
            }
            document.extend_from_slice(piece);
        }
        if document.is_empty() {
            return Err(io::Error::new(ErrorKind::NotFound, "the database does not have it any more"));
        }
        Ok(document)
    }
}

fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(path, flags)?;
    database.busy_timeout(PATIENCE)?;
    Ok(database)
}

fn failure(error: rusqlite::Error) -> io::Error {
    io::Error::other(error)
}
