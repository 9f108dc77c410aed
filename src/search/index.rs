//! The index: which words are in which texts.
//!
//! Input: texts with their places, in batches; queries. Output: the places of the texts with the words, newest first. Never: a text (the index has
//! words and places only, the log has the texts); a batch that is stored in part; another program's file changed.
//!
//! The index can be made again from the log, so a file that is damaged, or of another version, is removed and made again.

use super::texts::{Kind, Text};
use super::words::prepared;
use crate::log::StreamId;
use crate::log::sqlite::Lock;
use anyhow::{Context, bail};
use framegate_translators::frame::StreamKind;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use uuid::Uuid;

/// `frms`, as SQLite's `application_id`.
const APPLICATION_ID: i64 = 0x6672_6D73;

/// The version of the index. One of another version is made again.
const VERSION: i64 = 1;

/// The bits of a text's number below its time: many texts may be of one millisecond.
const NUMBER_BITS: u32 = 20;

/// The latest time that a number can have, in Unix epoch milliseconds.
const MOST_MS: u64 = i64::MAX.cast_unsigned() >> NUMBER_BITS;

/// Size of the writer's page cache.
const CACHE_KIB: i64 = 16 << 10;

const TABLES: &str = "
CREATE TABLE streams (
    key INTEGER PRIMARY KEY, kind TEXT NOT NULL, id BLOB NOT NULL, began_ms INTEGER NOT NULL, next INTEGER NOT NULL, UNIQUE (id, kind)
) STRICT;
CREATE TABLE texts (
    id INTEGER PRIMARY KEY, stream INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL, kind INTEGER NOT NULL,
    UNIQUE (stream, first, kind)
) STRICT;
CREATE VIRTUAL TABLE words USING fts5(body, tags, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2');
";

/// How far a stream is indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Indexed {
    /// When the stream began: one with the same id that began at another time is another stream.
    pub(super) began_ms: u64,
    /// The number of the first frame whose texts are not indexed.
    pub(super) next: u64,
}

/// What is new of one stream.
#[derive(Debug)]
pub(super) struct News {
    pub(super) stream: StreamId,
    pub(super) indexed: Indexed,
    /// Words by which all texts of the stream can be selected.
    pub(super) tags: String,
    /// Texts from this frame on are removed first: an earlier process may have indexed them.
    pub(super) again_from: Option<u64>,
    /// Texts that begin before this frame are removed: the log has pruned it.
    pub(super) pruned: u64,
    pub(super) texts: Vec<Text>,
}

/// The place of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Its number. Later texts have higher numbers.
    pub(super) number: i64,
    pub(super) stream: StreamId,
    pub(super) kind: Kind,
    pub(super) first: u64,
    pub(super) last: u64,
}

/// The index.
pub(super) struct Index {
    /// Its file, with connections that read while the writer writes; `None` if it is in memory. They are closed before the writer's, which
    /// removes the write-ahead log.
    readers: Option<(PathBuf, Mutex<Vec<Connection>>)>,
    writer: Mutex<Connection>,
    _lock: Option<Lock>,
}

/// The lowest number of a text of this time.
pub(super) fn number_at(time_ms: u64) -> i64 {
    (time_ms.min(MOST_MS) << NUMBER_BITS).cast_signed()
}

/// The word by which texts of a kind are selected.
pub(super) fn kind_tag(kind: Kind) -> String {
    format!("k{}", kind as u8)
}

impl Index {
    /// An index in memory.
    ///
    /// # Errors
    /// SQLite's.
    pub(super) fn in_memory() -> anyhow::Result<Self> {
        let writer = Connection::open_in_memory()?;
        writer.execute_batch(TABLES)?;
        Ok(Self { writer: Mutex::new(writer), readers: None, _lock: None })
    }

    /// Opens the index in a file; creates it if it does not exist.
    ///
    /// # Errors
    /// Another process uses the file, it is not an index, or it cannot be written.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let lock = Lock::take(path)?;
        let writer = match open_file(path).with_context(|| format!("{} cannot be opened", path.display()))? {
            Some(writer) => writer,
            None => {
                tracing::warn!(path = %path.display(), "the search index is damaged or of another version; it is made again");
                for suffix in ["", "-wal", "-shm"] {
                    let mut name = path.as_os_str().to_owned();
                    name.push(suffix);
                    match std::fs::remove_file(&name) {
                        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                            return Err(error).with_context(|| format!("{} cannot be removed", path.display()));
                        }
                        _ => {}
                    }
                }
                open_file(path)?.context("the new search index cannot be used")?
            }
        };
        Ok(Self { writer: Mutex::new(writer), readers: Some((path.to_owned(), Mutex::default())), _lock: Some(lock) })
    }

    fn writer(&self) -> MutexGuard<'_, Connection> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far each stream is indexed.
    pub(super) fn streams(&self) -> rusqlite::Result<HashMap<StreamId, Indexed>> {
        let database = self.writer();
        let mut statement = database.prepare("SELECT kind, id, began_ms, next FROM streams")?;
        let rows = statement.query_map([], |row| {
            let indexed = Indexed { began_ms: row.get(2)?, next: row.get(3)? };
            Ok((row.get::<_, String>(0)?, Uuid::from_bytes(row.get(1)?), indexed))
        })?;
        let mut found = HashMap::new();
        for row in rows {
            let (kind, id, indexed) = row?;
            found.extend(stream_kind(&kind).map(|kind| ((kind, id), indexed)));
        }
        Ok(found)
    }

    /// Stores a batch, all or nothing.
    pub(super) fn store(&self, batch: &[News]) -> rusqlite::Result<()> {
        let mut database = self.writer();
        let transaction = database.transaction()?;
        let mut texts = Vec::new();
        for news in batch {
            let key = key_of(&transaction, news)?;
            if let Some(from) = news.again_from {
                remove(&transaction, key, from, u64::MAX)?;
            }
            if news.pruned > 0 {
                remove(&transaction, key, 0, news.pruned)?;
            }
            texts.extend(news.texts.iter().map(|text| (text, key, &news.tags)));
        }
        // FTS5 writes texts together as long as their numbers increase.
        texts.sort_by_key(|(text, ..)| text.time_ms);
        let mut numbers: HashMap<u64, i64> = HashMap::new();
        {
            let mut last_of = transaction.prepare_cached("SELECT max(id) FROM texts WHERE id >= ?1 AND id < ?2")?;
            let mut text_row = transaction.prepare_cached(
                "INSERT OR IGNORE INTO texts (id, stream, first, last, kind) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            let mut words = transaction.prepare_cached("INSERT INTO words (rowid, body, tags) VALUES (?1, ?2, ?3)")?;
            for (text, key, tags) in texts {
                let (least, beyond) = (number_at(text.time_ms), number_at(text.time_ms.saturating_add(1)));
                let next = match numbers.get(&text.time_ms) {
                    Some(next) => *next,
                    None => {
                        let last: Option<i64> = last_of.query_row([least, beyond], |row| row.get(0))?;
                        last.map_or(least, |last| last + 1)
                    }
                };
                numbers.insert(text.time_ms, next + 1);
                if text_row.execute(params![next, key, text.first, text.last, text.kind as u8])? > 0 {
                    words.execute(params![next, prepared(&text.text), format!("{tags} {}", kind_tag(text.kind))])?;
                }
            }
        }
        transaction.commit()
    }

    /// Removes a stream with all of its texts.
    pub(super) fn drop_stream(&self, (kind, id): StreamId) -> rusqlite::Result<()> {
        let mut database = self.writer();
        let transaction = database.transaction()?;
        let key: Option<i64> = transaction
            .query_row(
                "SELECT key FROM streams WHERE id = ?1 AND kind = ?2",
                params![id.as_bytes(), kind.as_str()],
                |row| row.get(0),
            )
            .optional()?;
        if let Some(key) = key {
            remove(&transaction, key, 0, u64::MAX)?;
            transaction.execute("DELETE FROM streams WHERE key = ?1", [key])?;
        }
        transaction.commit()
    }

    /// The texts that an FTS5 expression finds with numbers from `from` and before `before`, the last first; at most `most`.
    /// `patience` limits the time.
    pub(super) fn find(
        &self,
        expression: &str,
        (from, before): (i64, i64),
        most: usize,
        patience: Duration,
    ) -> rusqlite::Result<Vec<Place>> {
        let Some((path, idle)) = &self.readers else {
            return find(&self.writer(), expression, (from, before), most, patience);
        };
        let pooled = idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let reader = match pooled {
            Some(reader) => reader,
            None => {
                Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?
            }
        };
        let found = find(&reader, expression, (from, before), most, patience);
        idle.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
        found
    }
}

/// Opens or creates the file. `None` if it is an index that cannot be used.
fn open_file(path: &Path) -> anyhow::Result<Option<Connection>> {
    let database = Connection::open(path)?;
    let number = |pragma: &str| database.query_row(pragma, [], |row| row.get::<_, i64>(0));
    let found = number("PRAGMA application_id")
        .and_then(|id| Ok((id, number("PRAGMA user_version")?, number("SELECT count(*) FROM sqlite_schema")?)));
    let (id, version, tables) = match found {
        Ok(found) => found,
        Err(error) if matches!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::DatabaseCorrupt)) => {
            return Ok(None);
        }
        Err(error) => return Err(error.into()),
    };
    if id != APPLICATION_ID && (tables > 0 || version > 0) {
        bail!("it is another program's SQLite database");
    }
    if id == APPLICATION_ID && version != VERSION {
        return Ok(None);
    }
    database.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    // Nothing is lost that cannot be made again, and the file stays sound.
    database.pragma_update(None, "synchronous", "NORMAL")?;
    database.pragma_update(None, "cache_size", -CACHE_KIB)?;
    if id != APPLICATION_ID {
        database.execute_batch(TABLES)?;
        database.pragma_update(None, "application_id", APPLICATION_ID)?;
        database.pragma_update(None, "user_version", VERSION)?;
    }
    Ok(Some(database))
}

fn key_of(database: &Connection, news: &News) -> rusqlite::Result<i64> {
    let (kind, id) = news.stream;
    let mut statement = database.prepare_cached(
        "INSERT INTO streams (kind, id, began_ms, next) VALUES (?1, ?2, ?3, ?4) \
         ON CONFLICT (id, kind) DO UPDATE SET began_ms = excluded.began_ms, next = excluded.next RETURNING key",
    )?;
    statement
        .query_row(params![kind.as_str(), id.as_bytes(), news.indexed.began_ms, news.indexed.next], |row| row.get(0))
}

/// Removes the texts of a stream that begin at `from` or later, and before `to`.
fn remove(database: &Connection, stream: i64, from: u64, to: u64) -> rusqlite::Result<()> {
    let bounds = params![stream, from.min(i64::MAX.cast_unsigned()), to.min(i64::MAX.cast_unsigned())];
    let numbers = {
        let mut statement =
            database.prepare_cached("SELECT id FROM texts WHERE stream = ?1 AND first >= ?2 AND first < ?3")?;
        statement.query_map(bounds, |row| row.get::<_, i64>(0))?.collect::<rusqlite::Result<Vec<_>>>()?
    };
    let mut words = database.prepare_cached("DELETE FROM words WHERE rowid = ?1")?;
    let mut texts = database.prepare_cached("DELETE FROM texts WHERE id = ?1")?;
    for number in numbers {
        words.execute([number])?;
        texts.execute([number])?;
    }
    Ok(())
}

fn find(
    database: &Connection,
    expression: &str,
    (from, before): (i64, i64),
    most: usize,
    patience: Duration,
) -> rusqlite::Result<Vec<Place>> {
    let handle = database.get_interrupt_handle();
    let (done, is_done) = std::sync::mpsc::channel::<()>();
    let run = || {
        let mut statement = database.prepare_cached(
            "SELECT words.rowid, streams.kind, streams.id, texts.kind, texts.first, texts.last FROM words \
             JOIN texts ON texts.id = words.rowid JOIN streams ON streams.key = texts.stream \
             WHERE words MATCH ?1 AND words.rowid >= ?2 AND words.rowid < ?3 ORDER BY words.rowid DESC LIMIT ?4",
        )?;
        let rows = statement.query_map(params![expression, from, before, most], |row| {
            let kind = Kind::ALL.get(row.get::<_, usize>(3)?).copied();
            let stream = stream_kind(&row.get::<_, String>(1)?);
            let (number, first, last) = (row.get(0)?, row.get(4)?, row.get(5)?);
            let id = Uuid::from_bytes(row.get(2)?);
            Ok(stream.zip(kind).map(|(stream, kind)| Place { number, stream: (stream, id), kind, first, last }))
        })?;
        rows.filter_map(Result::transpose).collect()
    };
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if is_done.recv_timeout(patience).is_err_and(|error| error == std::sync::mpsc::RecvTimeoutError::Timeout) {
                handle.interrupt();
            }
        });
        let found = run();
        drop(done);
        found
    })
}

fn stream_kind(name: &str) -> Option<StreamKind> {
    StreamKind::ALL.into_iter().find(|kind| kind.as_str() == name)
}
