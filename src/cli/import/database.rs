//! Sessions that a runner keeps in a SQLite database.
//!
//! Input: a database, which its runner may be writing to, and the runner's queries. Output: its sessions, and each as a document that the runner's decoder
//! reads. Never: a change of the database; more of a session in memory than the largest record.

use crate::visible;
use framegate_translators::runners::{RUNNERS, Runner, SessionDatabase};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The first bytes of each database.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

/// How long a query waits for the runner's own transactions.
const PATIENCE: Duration = Duration::from_secs(5);

/// What has a meaning in a URI of SQLite.
const IN_URI: &AsciiSet = &CONTROLS.add(b'%').add(b'?').add(b'#');

/// A session in a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) id: String,
    /// Whether its agent has not ended its turn.
    pub(super) is_at_work: bool,
    of: SessionDatabase,
}

/// How many bytes a session may have.
#[derive(Clone, Copy, Debug)]
pub(super) struct Most {
    pub(super) bytes: usize,
    /// What sets it, for messages.
    pub(super) name: &'static str,
}

/// What the database says of a session.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) stored: Stored,
    pub(super) modified: SystemTime,
}

/// Whether a file is a SQLite database.
pub(super) fn is_database(path: &Path) -> bool {
    let mut front = [0; MAGIC.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut front)).is_ok() && front == *MAGIC
}

/// The runner whose sessions a database has: the one, or one of all, whose query it answers. `None` if it has other tables.
///
/// # Errors
/// The database cannot be read.
pub(super) fn owner(path: &Path, only: Option<&str>) -> io::Result<Option<(&'static Runner, SessionDatabase)>> {
    let database = open(path).map_err(failure)?;
    let is_meant = |runner: &&Runner| only.is_none_or(|only| only == runner.name);
    let of_runner =
        |runner: &'static Runner| runner.history.iter().filter_map(move |kept| Some((runner, kept.database?)));
    let mut known = RUNNERS.iter().filter(is_meant).flat_map(of_runner);
    Ok(known.find(|(_, queries)| database.prepare(queries.sessions).is_ok()))
}

/// What a database has.
#[derive(Clone, Debug, Default)]
pub(super) struct Sessions {
    pub(super) rows: Vec<Row>,
    /// Why other sessions cannot be imported.
    pub(super) damaged: Vec<String>,
}

/// The sessions of databases that have not changed since they were read.
#[derive(Default)]
pub(super) struct Unchanged(RefCell<HashMap<PathBuf, (Vec<State>, Sessions)>>);

/// The length of a file, and when it was last written; `None` if there is no such file.
type State = Option<(u64, SystemTime)>;

/// After how long a file that is written again certainly has another time.
const SETTLED: Duration = Duration::from_secs(2);

impl Unchanged {
    /// The sessions of a database.
    ///
    /// # Errors
    /// The database cannot be read, or has other tables than the runner's.
    pub(super) fn sessions(&self, path: &Path, queries: SessionDatabase) -> io::Result<Sessions> {
        let state = state(path);
        let mut known = self.0.borrow_mut();
        if let Some((_, sessions)) = known.get(path).filter(|(before, _)| *before == state) {
            return Ok(sessions.clone());
        }
        known.remove(path);
        let sessions = sessions(path, queries)?;
        let is_settled = |(_, modified): &(u64, SystemTime)| modified.elapsed().is_ok_and(|since| since > SETTLED);
        if state.iter().flatten().all(is_settled) {
            known.insert(path.to_owned(), (state, sessions.clone()));
        }
        Ok(sessions)
    }
}

/// The states of a database's files: the database, and its write-ahead log.
fn state(path: &Path) -> Vec<State> {
    let state = |path: &Path| {
        let metadata = std::fs::metadata(path).ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    };
    vec![state(path), state(&write_ahead_log(path))]
}

fn sessions(path: &Path, queries: SessionDatabase) -> io::Result<Sessions> {
    let read = || {
        let database = open(path)?;
        let mut query = database.prepare(queries.sessions)?;
        let mut rows = query.query([])?;
        let mut sessions = Sessions::default();
        while let Some(row) = rows.next()? {
            match session(row, queries) {
                Ok(row) => sessions.rows.push(row),
                Err(error) => {
                    let id = row.get::<_, String>(0).unwrap_or_else(|_| "with an id that is not a text".to_owned());
                    sessions.damaged.push(format!("session {}: {error}", visible::line(&id)));
                }
            }
        }
        Ok(sessions)
    };
    read().map_err(failure)
}

fn session(row: &rusqlite::Row<'_>, queries: SessionDatabase) -> rusqlite::Result<Row> {
    // A time that this system cannot represent counts as the earliest one.
    let modified = UNIX_EPOCH.checked_add(Duration::from_millis(row.get(1)?)).unwrap_or(UNIX_EPOCH);
    Ok(Row { stored: Stored { id: row.get(0)?, is_at_work: row.get(2)?, of: queries }, modified })
}

impl Stored {
    /// The session as its runner's decoder reads it.
    ///
    /// # Errors
    /// The database cannot be read, has the session no more, or has more of it than `most`.
    pub(super) fn document(&self, path: &Path, most: Most) -> io::Result<Vec<u8>> {
        let database = open(path).map_err(failure)?;
        let mut query = database.prepare(self.of.document).map_err(failure)?;
        let mut rows = query.query([&self.id]).map_err(failure)?;
        let mut document = Vec::new();
        while let Some(row) = rows.next().map_err(failure)? {
            let piece = row.get_ref(0).and_then(|piece| Ok(piece.as_bytes()?)).map_err(failure)?;
            if document.len() + piece.len() > most.bytes {
                let why = format!("it is larger than {} ({})", most.name, most.bytes);
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

/// Opens a database that its runner may be writing to; in a folder in which nothing can be written, one that does not change.
fn open(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let database = Connection::open_with_flags(path, flags)?;
    database.busy_timeout(PATIENCE)?;
    let read = database.pragma_query_value(None, "schema_version", |_| Ok(()));
    let cannot_lock = |error: &rusqlite::Error| error.sqlite_error_code() == Some(ErrorCode::CannotOpen);
    match read {
        // Readers coordinate through a file beside the database, which cannot be made here. A log of changes that is there could not be read.
        Err(error) if cannot_lock(&error) && !has_log(path) => {
            let path = utf8_percent_encode(&path.to_string_lossy(), IN_URI).to_string();
            Connection::open_with_flags(format!("file:{path}?immutable=1"), flags | OpenFlags::SQLITE_OPEN_URI)
        }
        read => read.map(|()| database),
    }
}

/// Whether changes of the database are in its write-ahead log.
fn has_log(path: &Path) -> bool {
    std::fs::metadata(write_ahead_log(path)).is_ok_and(|log| log.len() > 0)
}

fn write_ahead_log(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}

fn failure(error: rusqlite::Error) -> io::Error {
    io::Error::other(error)
}
