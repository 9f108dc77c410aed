//! Reads streams and their frames.
//!
//! Input: a stream and a number. Output: its frames from there on. Never: more than [`READ_BYTES`] at once, plus one frame; a
//! referenced body read again for each frame that refers to it.

use super::checksum::checksum;
use super::database::{failure, open_read_only};
use super::state::Files;
use crate::log::{DroppedStream, Gone, KeptStream, LogError, Run};
use framegate_translators::frame::stored::{Header, read_content};
use framegate_translators::frame::{Frame, Stream};
use framegate_translators::runners::PROVIDERS;
use rusqlite::{Connection, OptionalExtension, Row, named_params};
use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Semaphore;
use uuid::Uuid;

/// How many bytes of frames are read at a time.
const READ_BYTES: usize = 4 << 20;

/// How many referenced bodies are cached, and how many bytes of them. The frames of an append refer to few.
const SOURCES: (usize, usize) = (8, 8 << 20);

/// A pool of read-only connections.
#[derive(Debug)]
pub(super) struct Readers {
    path: PathBuf,
    files: Files,
    idle: Mutex<Vec<Connection>>,
    free: Semaphore,
}

impl Readers {
    pub(super) fn new(path: PathBuf, most: NonZeroUsize) -> Self {
        Self { files: Files::of(&path), path, idle: Mutex::default(), free: Semaphore::new(most.get()) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Closes the connections. A read that is in progress closes its own.
    pub(super) fn close(&self) {
        self.free.close();
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Runs `read` with a connection of its own.
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
                None => {
                    // Another file with this name must not be mistaken for the log.
                    readers.files.check()?;
                    open_read_only(&readers.path)?
                }
            };
            let found = read(&database, &readers.path)?;
            // Reached only on success: a connection that failed is not reused.
            let mut idle = readers.idle.lock().unwrap_or_else(PoisonError::into_inner);
            if !readers.free.is_closed() {
                idle.push(database);
            }
            Ok(found)
        };
        tokio::task::spawn_blocking(work).await.unwrap_or(Err(LogError::Closed))
    }
}

/// The frames of a stream from `from` on: at most `max`, fewer if they are large.
///
/// # Errors
/// The file cannot be read, or contains an invalid frame.
pub fn read_frames(
    database: &Connection,
    path: &Path,
    key: i64,
    stream: &Arc<Stream>,
    from: u64,
    max: usize,
) -> Result<Vec<Arc<Frame>>, LogError> {
    let failed = |error: rusqlite::Error| failure(path, "cannot be read", &error);
    let sql = "SELECT seq, time_ms, parent_tool_id, body, hole_at, source, source_at, source_bytes, checksum FROM frames \
               WHERE stream = :stream AND seq >= :from ORDER BY seq LIMIT :max";
    let mut statement = database.prepare_cached(sql).map_err(failed)?;
    let (from, max) = (i64::try_from(from).unwrap_or(i64::MAX), i64::try_from(max).unwrap_or(i64::MAX));
    let mut rows = statement.query(named_params! {":stream": key, ":from": from, ":max": max}).map_err(failed)?;
    let (mut frames, mut bytes, mut sources) = (Vec::new(), 0, Sources { database, key, held: VecDeque::new() });
    loop {
        // Frames read before an error are returned first; the next read starts at the error.
        let row = match rows.next() {
            Err(_) if !frames.is_empty() => break,
            row => row.map_err(failed)?,
        };
        let Some(row) = row else { break };
        let (frame, size) = match frame_of(row, path, stream, &mut sources) {
            Err(_) if !frames.is_empty() => break,
            found => found?,
        };
        if frames.last().is_some_and(|before: &Arc<Frame>| before.seq + 1 != frame.seq) {
            break;
        }
        frames.push(Arc::new(frame));
        bytes += size;
        if bytes >= READ_BYTES {
            break;
        }
    }
    Ok(frames)
}

/// A cache of bodies that other frames of the stream refer to.
struct Sources<'a> {
    database: &'a Connection,
    key: i64,
    /// By frame number; the newest is last.
    held: VecDeque<(u64, Vec<u8>)>,
}

/// Reads a referenced body.
const SOURCE: &str = "SELECT body FROM frames WHERE stream = ?1 AND seq = ?2";

impl Sources<'_> {
    /// The body of that frame; empty if there is none.
    fn of(&mut self, seq: u64) -> rusqlite::Result<&[u8]> {
        if let Some(at) = self.held.iter().position(|(held, _)| *held == seq) {
            return Ok(self.held.get(at).map_or(&[], |(_, body)| body));
        }
        let mut statement = self.database.prepare_cached(SOURCE)?;
        let found =
            statement.query_row((self.key, seq), |row| Ok(row.get_ref(0)?.as_bytes().unwrap_or_default().to_vec()));
        let body = found.optional()?.unwrap_or_default();
        let held = |held: &VecDeque<(u64, Vec<u8>)>| held.iter().map(|(_, body)| body.len()).sum::<usize>();
        while self.held.len() >= SOURCES.0 || (!self.held.is_empty() && held(&self.held) + body.len() > SOURCES.1) {
            self.held.pop_front();
        }
        self.held.push_back((seq, body));
        Ok(self.held.back().map_or(&[], |(_, body)| body))
    }
}

fn frame_of(
    row: &Row<'_>,
    path: &Path,
    stream: &Arc<Stream>,
    sources: &mut Sources<'_>,
) -> Result<(Frame, usize), LogError> {
    let failed = |error: rusqlite::Error| failure(path, "cannot be read", &error);
    let seq: u64 = row.get(0).map_err(failed)?;
    let damaged = |what: &str, detail: String| LogError::Damaged {
        path: path.to_owned(),
        detail: format!("{what} of frame {seq} of stream {}: {detail}", stream.id),
    };
    // A record may claim a time beyond 2^63; it is stored as a negative number.
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
            let (at, bytes): (usize, usize) = (row.get(6).map_err(failed)?, row.get(7).map_err(failed)?);
            let source = row.get::<_, Option<u64>>(5).map_err(failed)?;
            let source = source.map(|seq| sources.of(seq)).transpose().map_err(failed)?.unwrap_or_default();
            let part = at.checked_add(bytes).and_then(|end| source.get(at..end));
            let (Some((front, back)), Some(part)) = (text.split_at_checked(hole), part) else {
                return Err(damaged(
                    "the body",
                    "a part of it refers to another frame, which does not have that part".to_owned(),
                ));
            };
            whole.reserve(text.len() + bytes);
            [front, part, back].into_iter().for_each(|piece| whole.extend_from_slice(piece));
            &whole
        }
    };
    // Frames stored by an older layout have no checksum.
    let expected: Option<u32> = row.get(8).map_err(failed)?;
    if expected.is_some_and(|expected| expected != checksum(seq, timestamp_ms, parent_tool_id, text)) {
        return Err(damaged("the checksum", "it does not match the content".to_owned()));
    }
    let (given_id, body) = read_content(text).map_err(|error| damaged("the body", error.to_string()))?;
    Ok((Frame { stream: stream.clone(), seq, timestamp_ms, parent_tool_id, given_id, body }, text.len()))
}

/// The streams in a database and their keys, in the order in which they began.
///
/// # Errors
/// The file cannot be read, or contains an invalid stream.
pub fn streams(database: &Connection, path: &Path) -> Result<Vec<(i64, KeptStream)>, LogError> {
    let failed = |error: rusqlite::Error| failure(path, "cannot be read", &error);
    let sql = "SELECT key, kind, id, session_id, session_name, provider, origin_run, frames, ended, status, \
               pruned_frames, pruned_last_ms, pruned_ms, pruned_position \
               FROM streams ORDER BY key";
    let mut statement = database.prepare(sql).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    let mut streams = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        streams.push(stream_of(row, path)?);
    }
    Ok(streams)
}

/// The positions of a stream's frames among all frames, as runs of consecutive frames.
///
/// # Errors
/// The file cannot be read.
pub(super) fn runs_of(
    database: &Connection,
    path: &Path,
    key: i64,
    first: u64,
    frames: u64,
) -> Result<Vec<Run>, LogError> {
    let failed = |error: rusqlite::Error| failure(path, "cannot be read", &error);
    let mut at =
        database.prepare_cached("SELECT position FROM frames WHERE stream = ?1 AND seq = ?2").map_err(failed)?;
    let mut at = |seq: u64| at.query_row((key, seq), |row| row.get::<_, u64>(0)).optional().map_err(failed);
    let Some(last) = frames.checked_sub(1).filter(|last| *last >= first) else { return Ok(Vec::new()) };
    let (Some(from), Some(to)) = (at(first)?, at(last)?) else { return Ok(Vec::new()) };
    if to.checked_sub(from) == Some(last - first) {
        // Positions increase along a stream, so there are no other frames in between.
        return Ok(vec![Run { position: from, seq: first, frames: frames - first }]);
    }
    let sql = "SELECT seq, position FROM frames WHERE stream = ?1 AND seq >= ?2 ORDER BY seq";
    let mut statement = database.prepare_cached(sql).map_err(failed)?;
    let mut rows = statement.query((key, first)).map_err(failed)?;
    let mut runs: Vec<Run> = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let (seq, position): (u64, u64) = (row.get(0).map_err(failed)?, row.get(1).map_err(failed)?);
        match runs.last_mut() {
            Some(run) if run.seq + run.frames == seq && run.position + run.frames == position => run.frames += 1,
            _ => runs.push(Run { position, seq, frames: 1 }),
        }
    }
    Ok(runs)
}

/// The most recently dropped streams, in the order of the drops.
///
/// # Errors
/// The file cannot be read, or contains an invalid stream.
pub(super) fn dropped(database: &Connection, path: &Path) -> Result<Vec<DroppedStream>, LogError> {
    let failed = |error: rusqlite::Error| failure(path, "cannot be read", &error);
    let sql = "SELECT nth, kind, id, session_id, session_name, provider, origin_run, frames, position, dropped_ms, events \
               FROM dropped ORDER BY nth";
    let mut statement = database.prepare(sql).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(failed)? {
        let stream = header_of(row, path)?;
        let events: Option<String> = row.get(10).map_err(failed)?;
        found.push(DroppedStream {
            stream,
            frames: row.get(7).map_err(failed)?,
            position: row.get(8).map_err(failed)?,
            dropped_ms: row.get::<_, i64>(9).map_err(failed)?.cast_unsigned(),
            events: events.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default(),
        });
    }
    Ok(found)
}

/// The stream that columns 1 to 6 of a row describe; column 0 is its key.
fn header_of(row: &Row<'_>, path: &Path) -> Result<Arc<Stream>, LogError> {
    let failed = |error: rusqlite::Error| failure(path, "cannot be read", &error);
    let key: i64 = row.get(0).map_err(failed)?;
    let damaged = |detail: String| LogError::Damaged {
        path: path.to_owned(),
        detail: format!("row {key} of the streams: {detail}"),
    };
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
    Ok(Arc::new(header.into_stream(PROVIDERS).map_err(|error| damaged(error.to_string()))?))
}

fn stream_of(row: &Row<'_>, path: &Path) -> Result<(i64, KeptStream), LogError> {
    let failed = |error: rusqlite::Error| failure(path, "cannot be read", &error);
    let stream = header_of(row, path)?;
    let (frames, ended) = (row.get(7).map_err(failed)?, row.get(8).map_err(failed)?);
    let ms = |column: usize| row.get::<_, Option<i64>>(column).map(|ms| ms.unwrap_or_default().cast_unsigned());
    let gone = match row.get(10).map_err(failed)? {
        0 => None,
        frames => Some(Gone { frames, last_ms: ms(11).map_err(failed)?, pruned_ms: ms(12).map_err(failed)? }),
    };
    let gone_position = row.get(13).map_err(failed)?;
    let (status, key) = (row.get(9).map_err(failed)?, row.get(0).map_err(failed)?);
    Ok((key, KeptStream { stream, frames, gone, gone_position, ended, status, labels: None, runs: Vec::new() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{FrameLog, SqliteLog, sqlite::Options, stream_id};
    use framegate_translators::framing::Limits;
    use framegate_translators::pipeline::Ingest;
    use framegate_translators::runners::runner;
    use framegate_translators::sequence::Identity;
    use rusqlite::StatementStatus;
    use serde_json::json;

    fn runs_of(database: &Connection, sql: &str) -> i32 {
        database.prepare_cached(sql).unwrap().get_status(StatementStatus::Run)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_body_that_many_frames_share_is_read_once() {
        let dir = std::env::temp_dir().join(format!("framegate-reader-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let path = dir.join("log.db");
        // One record with many texts.
        let text = |nth: usize| json!({"type": "text", "text": format!("{nth} of many; ").repeat(150)});
        let message = json!({"id": "m", "role": "assistant", "content": (0..100).map(text).collect::<Vec<_>>()});
        let session = "5d3c1a6e-0d0e-4d47-9d0c-333333333333";
        let identity = Identity { run_id: Uuid::from_u128(1), session_id: None };
        let mut ingest = Ingest::new(runner("claude-code").unwrap(), None, Limits::default(), identity);
        let record = json!({"type": "assistant", "session_id": session, "message": message});
        let mut frames: Vec<_> = ingest.feed(format!("{record}\n").as_bytes(), 1).map(Arc::new).collect();
        frames.extend(ingest.finish(1).map(Arc::new));
        let id = stream_id(&frames[0]);
        frames.retain(|frame| stream_id(frame) == id);
        let log = SqliteLog::open(Options::new(&path)).unwrap();
        log.append(&frames, Vec::new()).await.unwrap();

        let database = open_read_only(&path).unwrap();
        let (key, kept) = streams(&database, &path).unwrap().remove(0);
        let sql = "SELECT count(*), count(DISTINCT source), min(source) FROM frames WHERE source IS NOT NULL";
        let counts = |row: &Row<'_>| Ok((row.get::<_, u32>(0)?, row.get::<_, u32>(1)?, row.get::<_, u64>(2)?));
        let (holes, sources, source) = database.query_row(sql, [], counts).unwrap();
        assert!(holes >= 100 && sources == 1, "{holes} of {sources}");
        let read = read_frames(&database, &path, key, &kept.stream, 0, 10_000).unwrap();
        assert_eq!(format!("{read:?}"), format!("{frames:?}"));
        assert_eq!(runs_of(&database, SOURCE), 1);

        // The cache holds exactly this many: one more, and the first body is read again.
        let mut held = Sources { database: &database, key, held: VecDeque::new() };
        let expected = held.of(source).unwrap().to_vec();
        for nth in 1..SOURCES.0 as u64 {
            held.of(source + nth).unwrap();
        }
        assert_eq!((runs_of(&database, SOURCE), held.of(source).unwrap()), (1 + SOURCES.0 as i32, &*expected));
        assert_eq!(runs_of(&database, SOURCE), 1 + SOURCES.0 as i32);
        held.of(source + SOURCES.0 as u64).unwrap();
        held.of(source).unwrap();
        assert_eq!(runs_of(&database, SOURCE), 1 + SOURCES.0 as i32 + 2);
        drop((database, log));
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
