//! Reading: streams and their frames.
//!
//! In: a stream and a number. Out: its frames from there on. Never: more bytes at once than [`READ_BYTES`], one frame aside.

use super::database::{open_read_only, told};
use crate::log::{Gone, KeptStream, LogError};
use framegate_translators::frame::stored::{Header, read_body};
use framegate_translators::frame::{Frame, Stream};
use rusqlite::{Connection, Row, named_params};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;
use uuid::Uuid;

/// How many bytes of frames are read at a time.
const READ_BYTES: usize = 4 << 20;

/// Connections that only read.
#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    free: Semaphore,
}

impl Readers {
    pub(super) fn new(path: PathBuf, most: NonZeroUsize) -> Self {
        Self { path, idle: Mutex::default(), free: Semaphore::new(most.get()) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) async fn read(
        self: Arc<Self>,
        key: i64,
        stream: Arc<Stream>,
        from: u64,
        max: usize,
    ) -> Result<Vec<Arc<Frame>>, LogError> {
        self.with(move |database, path| read_frames(database, path, key, &stream, from, max)).await
    }

    /// Reads with a connection of its own.
    pub(super) async fn with<T: Send + 'static>(
        self: Arc<Self>,
        read: impl FnOnce(&Connection, &Path) -> Result<T, LogError> + Send + 'static,
    ) -> Result<T, LogError> {
        let readers = self.clone();
        let _free = self.free.acquire().await.map_err(|_| LogError::Closed)?;
        let work = move || {
            let idle = readers.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let database = match idle {
                Some(database) => database,
                None => open_read_only(&readers.path)?,
            };
            let found = read(&database, &readers.path)?;
            // A connection that failed is not used again.
            readers.idle.lock().unwrap_or_else(PoisonError::into_inner).push(database);
            Ok(found)
        };
        tokio::task::spawn_blocking(work).await.unwrap_or(Err(LogError::Closed))
    }
}

/// The frames of a stream from `from` on, at most `max`; fewer where they are large.
///
/// # Errors
/// The file cannot be read, or holds something that is no frame.
pub fn read_frames(
    database: &Connection,
    path: &Path,
    key: i64,
    stream: &Arc<Stream>,
    from: u64,
    max: usize,
) -> Result<Vec<Arc<Frame>>, LogError> {
    let failed = |error: rusqlite::Error| told(path, "cannot be read", &error);
    let sql = "SELECT f.seq, f.time_ms, f.parent_tool_id, f.body, f.hole_at, f.source_at, f.source_bytes, s.body FROM frames f \
               LEFT JOIN frames s ON s.stream = f.stream AND s.seq = f.source \
               WHERE f.stream = :stream AND f.seq >= :from ORDER BY f.seq LIMIT :max";
    let mut statement = database.prepare_cached(sql).map_err(failed)?;
    let (from, max) = (i64::try_from(from).unwrap_or(i64::MAX), i64::try_from(max).unwrap_or(i64::MAX));
    let mut rows = statement.query(named_params! {":stream": key, ":from": from, ":max": max}).map_err(failed)?;
    let (mut frames, mut bytes) = (Vec::new(), 0);
    while let Some(row) = rows.next().map_err(failed)? {
        let (frame, size) = frame_of(row, path, stream)?;
        frames.push(Arc::new(frame));
        bytes += size;
        if bytes >= READ_BYTES {
            break;
        }
    }
    Ok(frames)
}

fn frame_of(row: &Row<'_>, path: &Path, stream: &Arc<Stream>) -> Result<(Frame, usize), LogError> {
    let failed = |error: rusqlite::Error| told(path, "cannot be read", &error);
    let seq: u64 = row.get(0).map_err(failed)?;
    let damaged = |what: &str, detail: String| LogError::Damaged {
        path: path.to_owned(),
        detail: format!("{what} of frame {seq} of stream {}: {detail}", stream.id),
    };
    // Times beyond 2^63, which a record may claim, are kept as SQLite's numbers below 0.
    let timestamp_ms = row.get::<_, i64>(1).map_err(failed)?.cast_unsigned();
    let parent = row.get_ref(2).map_err(failed)?.as_str_or_null();
    let parent = parent.map_err(|error| damaged("the parent_tool_id", error.to_string()))?;
    let parent_tool_id =
        parent.map(Uuid::try_parse).transpose().map_err(|error| damaged("the parent_tool_id", error.to_string()))?;
    let text = row.get_ref(3).map_err(failed)?.as_bytes().map_err(|error| damaged("the body", error.to_string()))?;
    let mut whole = Vec::new();
    let text = match row.get::<_, Option<usize>>(4).map_err(failed)? {
        None => text,
        Some(hole) => {
            let (at, bytes): (usize, usize) = (row.get(5).map_err(failed)?, row.get(6).map_err(failed)?);
            let source = row.get_ref(7).map_err(failed)?.as_bytes_or_null().ok().flatten().unwrap_or_default();
            let part = at.checked_add(bytes).and_then(|end| source.get(at..end));
            let (Some((front, back)), Some(part)) = (text.split_at_checked(hole), part) else {
                return Err(damaged(
                    "the body",
                    "a part of it stands in another frame, and that one has it not".to_owned(),
                ));
            };
            whole.reserve(text.len() + bytes);
            [front, part, back].into_iter().for_each(|piece| whole.extend_from_slice(piece));
            &whole
        }
    };
    let body = read_body(text).map_err(|error| damaged("the body", error.to_string()))?;
    Ok((Frame { stream: stream.clone(), seq, timestamp_ms, parent_tool_id, body }, text.len()))
}

/// The streams that a database has and their keys, in the order in which they began.
///
/// # Errors
/// The file cannot be read, or holds something that is no stream.
pub fn streams(database: &Connection, path: &Path) -> Result<Vec<(i64, KeptStream)>, LogError> {
    let failed = |error: rusqlite::Error| told(path, "cannot be read", &error);
    let sql = "SELECT key, kind, id, session_id, session_name, provider, origin_run, frames, ended, status, \
               pruned_frames, pruned_last_ms, pruned_ms \
               FROM streams ORDER BY key";
    let mut statement = database.prepare(sql).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    let mut streams = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        streams.push(stream_of(row, path)?);
    }
    Ok(streams)
}

fn stream_of(row: &Row<'_>, path: &Path) -> Result<(i64, KeptStream), LogError> {
    let failed = |error: rusqlite::Error| told(path, "cannot be read", &error);
    let key: i64 = row.get(0).map_err(failed)?;
    let damaged =
        |detail: String| LogError::Damaged { path: path.to_owned(), detail: format!("row {key} of streams: {detail}") };
    let id = |column: usize| -> Result<Option<Uuid>, LogError> {
        let text: Option<String> = row.get(column).map_err(failed)?;
        text.map(|text| Uuid::try_parse(&text)).transpose().map_err(|error| damaged(error.to_string()))
    };
    let needed = |column: usize| id(column)?.ok_or_else(|| damaged("an id is missing".to_owned()));
    let header = Header {
        kind: row.get(1).map_err(failed)?,
        id: needed(2)?,
        session_id: needed(3)?,
        session_name: row.get(4).map_err(failed)?,
        provider: row.get(5).map_err(failed)?,
        origin_run: id(6)?,
    };
    let stream = Arc::new(header.into_stream().map_err(|error| damaged(error.to_string()))?);
    let (frames, ended) = (row.get(7).map_err(failed)?, row.get(8).map_err(failed)?);
    let ms = |column: usize| row.get::<_, Option<i64>>(column).map(|ms| ms.unwrap_or_default().cast_unsigned());
    let gone = match row.get(10).map_err(failed)? {
        0 => None,
        frames => Some(Gone { frames, last_ms: ms(11).map_err(failed)?, pruned_ms: ms(12).map_err(failed)? }),
    };
    Ok((key, KeptStream { stream, frames, gone, ended, status: row.get(9).map_err(failed)? }))
}
