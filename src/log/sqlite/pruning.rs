//! Pruning the front of a stream, and the checkpoints that replace it.
//!
//! Input: how many frames to prune, and the checkpoints. Output: stored checkpoints, and where a front of a given size would
//! end. Never: a front pruned without its checkpoints being stored (both are in one transaction), or a checkpoint before the
//! kept part.

use super::database::told;
use super::known_texts::{Moved, Place};
use super::writer::{ROW_BYTES, Writer};
use crate::log::{Checkpoint, CheckpointAt, Gone, LogError, StreamId, Summary};
use framegate_translators::encode::EventId;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, ToSql, named_params};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

impl Writer {
    /// Prunes a front. Does nothing if the stream was dropped since its key was looked up, even if it was appended to again.
    pub(super) fn prune(
        &mut self,
        id: StreamId,
        key: i64,
        gone: Gone,
        checkpoints: &[Checkpoint],
    ) -> Result<(), LogError> {
        if self.key_of(id) != Some(key) {
            return Ok(());
        }
        let (bytes, moved) =
            prune(self.database(), key, gone, checkpoints).map_err(|error| self.failed("cannot be written", &error))?;
        self.cut(id, gone.frames, bytes);
        self.shared.texts.cut(id, key, gone.frames, &moved);
        self.shared.tail_cache.drop_front(key, gone.frames);
        self.give_back();
        Ok(())
    }

    /// Stores checkpoints, with the same check as for pruning.
    pub(super) fn keep_checkpoints(
        &mut self,
        id: StreamId,
        key: i64,
        checkpoints: &[Checkpoint],
    ) -> Result<(), LogError> {
        if self.key_of(id) != Some(key) {
            return Ok(());
        }
        let keep = || -> rusqlite::Result<()> {
            let transaction = self.database().unchecked_transaction()?;
            checkpoints.iter().try_for_each(|checkpoint| insert(&transaction, key, checkpoint))?;
            transaction.commit()
        };
        keep().map_err(|error| self.failed("cannot be written", &error))?;
        self.has_written();
        Ok(())
    }

    pub(super) fn keep_status(&mut self, summaries: &[Summary]) -> Result<(), LogError> {
        let keep = || -> rusqlite::Result<()> {
            let transaction = self.database().unchecked_transaction()?;
            for summary in summaries {
                if let Some(key) = self.key_of(summary.stream) {
                    // A status is outdated if frames were appended in the meantime.
                    let sql = "UPDATE streams SET status = ?2 WHERE key = ?1 AND frames = json_extract(?2, '$.frames')";
                    transaction.prepare_cached(sql)?.execute((key, &summary.status))?;
                }
            }
            transaction.commit()
        };
        keep().map_err(|error| self.failed("cannot be written", &error))?;
        self.has_written();
        Ok(())
    }
}

/// Prunes a front in a transaction of its own. Returns the stream's new size in bytes, and the new locations of the texts that
/// only the front had.
fn prune(database: &Connection, key: i64, gone: Gone, checkpoints: &[Checkpoint]) -> rusqlite::Result<(u64, Moved)> {
    let transaction = database.unchecked_transaction()?;
    let freed: u64 = transaction
        .prepare_cached("SELECT coalesce(sum(octet_length(body) + ?3), 0) FROM frames WHERE stream = ?1 AND seq < ?2")?
        .query_row((key, gone.frames, ROW_BYTES), |row| row.get(0))?;
    let position: Option<u64> = transaction
        .prepare_cached("SELECT position FROM frames WHERE stream = ?1 AND seq = ?2")?
        .query_row((key, gone.frames.saturating_sub(1)), |row| row.get(0))
        .optional()?;
    let moved = inherit(&transaction, key, gone.frames)?;
    let kept: u64 = moved.keys().map(|(.., bytes)| *bytes as u64).sum();
    transaction.prepare_cached("DELETE FROM frames WHERE stream = ?1 AND seq < ?2")?.execute((key, gone.frames))?;
    transaction.prepare_cached("DELETE FROM marks WHERE stream = ?1 AND frame < ?2")?.execute((key, gone.frames))?;
    checkpoints.iter().try_for_each(|checkpoint| insert(&transaction, key, checkpoint))?;
    let bytes = transaction
        .prepare_cached(
            "UPDATE streams SET pruned_frames = :frames, pruned_position = :position, pruned_last_ms = :last, pruned_ms = :now, bytes = bytes - :freed + :kept, \
             status = json_set(status, '$.pruned_frames', :frames) WHERE key = :key RETURNING bytes",
        )?
        .query_row(
            named_params! {
                ":frames": gone.frames, ":last": gone.last_ms.cast_signed(), ":now": gone.pruned_ms.cast_signed(),
                ":freed": freed, ":kept": kept, ":key": key, ":position": position,
            },
            |row| row.get(0),
        )?;
    transaction.commit()?;
    Ok((bytes, moved))
}

/// A kept frame that refers to a pruned one.
struct Heir {
    position: i64,
    seq: u64,
    hole_at: usize,
    text: Place,
}

/// Moves each text that later frames share with the first `gone` frames into the first of those later frames; the others refer
/// to that one. Part of the caller's transaction.
fn inherit(database: &Connection, key: i64, gone: u64) -> rusqlite::Result<Moved> {
    let heirs = database
        .prepare_cached(
            "SELECT position, seq, hole_at, source, source_at, source_bytes FROM frames \
             WHERE stream = ?1 AND source < ?2 AND seq >= ?2 ORDER BY source, seq",
        )?
        .query_map((key, gone), |row| {
            let text = (row.get(3)?, row.get(4)?, row.get(5)?);
            Ok(Heir { position: row.get(0)?, seq: row.get(1)?, hole_at: row.get(2)?, text })
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let mut body = database.prepare_cached("SELECT body FROM frames WHERE stream = ?1 AND seq = ?2")?;
    let mut refer = database.prepare_cached("UPDATE frames SET source = ?2, source_at = ?3 WHERE position = ?1")?;
    let mut fill = database.prepare_cached(
        "UPDATE frames SET body = CAST(substr(CAST(body AS BLOB), 1, hole_at) || ?2 || substr(CAST(body AS BLOB), hole_at + 1) AS TEXT), \
         hole_at = NULL, source = NULL, source_at = NULL, source_bytes = NULL WHERE position = ?1",
    )?;
    let mut moved = Moved::new();
    for of_one in heirs.chunk_by(|one, other| one.text.0 == other.text.0) {
        let Some(source) = of_one.first().map(|heir| heir.text.0) else { continue };
        let found =
            body.query_row((key, source), |row| Ok(row.get_ref(0)?.as_bytes_or_null()?.unwrap_or_default().to_vec()));
        let source = found.optional()?.unwrap_or_default();
        for Heir { position, seq, hole_at, text } in of_one {
            if let Some((seq, at)) = moved.get(text) {
                refer.execute((position, seq, at))?;
                continue;
            }
            // A damaged reference stays as it is, and is reported when the frame is read.
            let end = text.1.checked_add(text.2);
            if let Some(part) = end.and_then(|end| source.get(text.1..end)) {
                fill.execute((position, part))?;
                moved.insert(*text, (*seq, *hole_at));
            }
        }
    }
    Ok(moved)
}

/// A cursor in the form of a column.
struct Cursor<'a>(&'a EventId);

impl ToSql for Cursor<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self.0 {
            EventId::None | EventId::Closing(_) => ToSqlOutput::Owned(Value::Null),
            EventId::Number(number) => ToSqlOutput::Owned(Value::Integer(number.cast_signed())),
            EventId::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        })
    }
}

fn insert(database: &Connection, key: i64, checkpoint: &Checkpoint) -> rusqlite::Result<()> {
    let last = checkpoint.last.as_ref();
    let mut insert = database.prepare_cached(
        "INSERT OR REPLACE INTO marks (stream, view, frame, event, last, last_event, state) \
         VALUES (:stream, :view, :frame, :event, :last, :last_event, :state)",
    )?;
    insert.execute(named_params! {
        ":stream": key, ":view": &*checkpoint.view, ":frame": checkpoint.frame, ":event": checkpoint.event,
        ":last": Cursor(last.map_or(&EventId::None, |(id, _)| id)), ":last_event": last.map(|(_, number)| number),
        ":state": checkpoint.state,
    })?;
    Ok(())
}

/// The last checkpoint of a view that is not after a place.
pub(crate) fn checkpoint(
    database: &Connection,
    path: &Path,
    key: i64,
    view: &str,
    at: &CheckpointAt,
) -> Result<Option<Checkpoint>, LogError> {
    let failed = |error: rusqlite::Error| told(path, "cannot be read", &error);
    let (number, cursor);
    let (place, value): (_, &dyn ToSql) = match at {
        CheckpointAt::Event(event) => {
            number = i64::try_from(*event).unwrap_or(i64::MAX);
            ("event <= ?3", &number)
        }
        CheckpointAt::Frame(frame) => {
            number = i64::try_from(*frame).unwrap_or(i64::MAX);
            ("frame <= ?3", &number)
        }
        CheckpointAt::Cursor(id) => {
            cursor = Cursor(id);
            ("(last IS NULL OR last <= ?3)", &cursor)
        }
    };
    let sql = format!(
        "SELECT frame, event, last, last_event, state FROM marks WHERE stream = ?1 AND view = ?2 AND {place} \
         ORDER BY frame DESC LIMIT 1"
    );
    let mut statement = database.prepare_cached(&sql).map_err(failed)?;
    statement.query_row((key, view, value), |row| checkpoint_of(row, view)).optional().map_err(failed)
}

/// The names of the views that have a checkpoint at a frame.
pub(crate) fn views_at(database: &Connection, key: i64, frame: u64) -> rusqlite::Result<Vec<String>> {
    let mut statement = database.prepare("SELECT view FROM marks WHERE stream = ?1 AND frame = ?2 ORDER BY view")?;
    statement.query_map((key, frame), |row| row.get(0))?.collect()
}

fn checkpoint_of(row: &Row<'_>, view: &str) -> rusqlite::Result<Checkpoint> {
    let last_event: Option<u64> = row.get(3)?;
    let last = match row.get_ref(2)? {
        ValueRef::Integer(number) => Some(EventId::Number(number.cast_unsigned())),
        ValueRef::Text(text) => Some(EventId::Text(String::from_utf8_lossy(text).into_owned())),
        _ => None,
    };
    Ok(Checkpoint {
        view: Arc::from(view),
        frame: row.get(0)?,
        event: row.get(1)?,
        last: last.zip(last_event),
        state: row.get(4)?,
    })
}

/// The number of the first frame such that at most `max_bytes` of a stream remain if the frames before it are pruned.
pub(super) fn first_within(database: &Connection, path: &Path, key: i64, max_bytes: u64) -> Result<u64, LogError> {
    let failed = |error: rusqlite::Error| told(path, "cannot be read", &error);
    let sql = "SELECT seq, octet_length(body), source, source_at, source_bytes FROM frames WHERE stream = ?1 ORDER BY seq DESC";
    let mut statement = database.prepare_cached(sql).map_err(failed)?;
    let mut rows = statement.query([key]).map_err(failed)?;
    // Texts that later frames share with earlier ones: one of the later frames will have to keep each.
    let mut wanted: HashMap<u64, HashMap<(u64, u64), u64>> = HashMap::new();
    let (mut first, mut bytes) = (None, 0u64);
    while let Some(row) = rows.next().map_err(failed)? {
        let seq: u64 = row.get(0).map_err(failed)?;
        let from_here: u64 = wanted.remove(&seq).map_or(0, |texts| texts.into_values().sum());
        bytes = bytes.saturating_sub(from_here).saturating_add(row.get::<_, u64>(1).map_err(failed)? + ROW_BYTES);
        if let Some(source) = row.get::<_, Option<u64>>(2).map_err(failed)? {
            let (at, length): (u64, u64) = (row.get(3).map_err(failed)?, row.get(4).map_err(failed)?);
            if wanted.entry(source).or_default().insert((at, length), length).is_none() {
                bytes = bytes.saturating_add(length);
            }
        }
        // The last frame always stays, however large it is.
        if bytes > max_bytes && first.is_some() {
            break;
        }
        first = Some(seq);
    }
    Ok(first.unwrap_or_default())
}
