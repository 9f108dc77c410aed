//! Inserts the rows of an append.
//!
//! Input: an append that fits. Output: its rows, as part of the caller's transaction. Never: a position that was used before,
//! or a reference to a text that is gone.

use super::append::Append;
use super::dedup::Hole;
use super::known_texts::{Known, Moved};
use super::writer::{Changes, Held, ROW_BYTES, Writer};
use crate::log::StreamId;
use framegate_translators::frame::Stream;
use framegate_translators::frame::stored::Header;
use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, named_params};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// Text that is known to be UTF-8.
struct Text<'a>(&'a [u8]);

impl ToSql for Text<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Text(self.0)))
    }
}

impl Writer {
    pub(super) fn insert(&self, append: &Append, changes: &mut Changes, now_ms: u64) -> rusqlite::Result<()> {
        let database = &self.database;
        let mut frame = database.prepare_cached(
            "INSERT INTO frames (stream, seq, time_ms, type, parent_tool_id, body, hole_at, source, source_at, source_bytes, \
             position, checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?;
        let mut progress = database.prepare_cached(
            "UPDATE streams SET last_ms = max(last_ms, :last_ms), stored_ms = :now, frames = :frames, bytes = :bytes, \
             ended = :ended, status = coalesce(:status, status) WHERE key = :key",
        )?;
        let (mut id, mut pieces) = ([0; 36], Vec::new());
        // By stream: texts that were pruned after deduplication found them. Each is stored again, once.
        let mut moved: HashMap<StreamId, Moved> = HashMap::new();
        for (nth, part) in append.streams.iter().enumerate() {
            let Some((first, last)) = part.rows.first().zip(part.rows.last()) else { continue };
            let mut held = match changes.held.get(&part.id).or_else(|| self.held.get(&part.id)) {
                Some(held) => *held,
                None => {
                    let key = changes.next_key;
                    changes.next_key += 1;
                    insert_stream(database, key, &part.stream, first.time_ms, now_ms)?;
                    changes.new.push((key, part.stream.clone()));
                    Held { key, ..Held::default() }
                }
            };
            let mut bytes = 0;
            for row in &part.rows {
                let mut body = append.bodies.get(row.body.clone()).unwrap_or_default();
                let moved = moved.entry(part.id).or_default();
                let there =
                    row.hole.as_ref().and_then(|hole| Some((&hole.part, source_of(hole, row.seq, &held, moved)?)));
                if let Some((part, _)) = there {
                    pieces.clear();
                    pieces.extend_from_slice(body.get(..part.start).unwrap_or_default());
                    pieces.extend_from_slice(body.get(part.end..).unwrap_or_default());
                    body = &pieces;
                }
                let (at, length) = (there.map(|(part, _)| part.start), there.map(|(part, _)| part.len()));
                let (source, source_at) = there.map(|(_, source)| source).unzip();
                let parent = row.parent.map(|parent| &*parent.hyphenated().encode_lower(&mut id));
                // Parameters are bound by position: names would be looked up for each frame.
                let (body, ms) = (Text(body), row.time_ms.cast_signed());
                let position = changes.next_position;
                changes.next_position += 1;
                frame.execute((
                    held.key,
                    row.seq,
                    ms,
                    row.kind,
                    parent,
                    &body,
                    at,
                    source,
                    source_at,
                    length,
                    position,
                    row.checksum,
                ))?;
                bytes += body.0.len() as u64 + ROW_BYTES;
            }
            held.frames += part.rows.len() as u64;
            held.bytes += bytes;
            changes.bytes += bytes;
            (held.ended, held.stored_ms) = (part.ended, now_ms);
            // The status is the one after the last frames of the append, so it is stored with the stream's last part.
            let is_last_part = append.streams.iter().skip(nth + 1).all(|later| later.id != part.id);
            let summary = append.summaries.iter().find(|summary| is_last_part && summary.stream == part.id);
            progress.execute(named_params! {
                ":last_ms": last.time_ms.cast_signed(), ":now": now_ms, ":frames": held.frames, ":bytes": held.bytes,
                ":ended": held.ended, ":status": summary.map(|summary| &summary.status), ":key": held.key,
            })?;
            changes.held.insert(part.id, held);
        }
        for (id, text) in &append.texts {
            let Some(held) = changes.held.get(id) else { continue };
            let learnt = learnt(text.as_ref().filter(|_| !held.ended), held, moved.get(id));
            changes.texts.extend(learnt.map(|text| (*id, text)));
        }
        Ok(())
    }
}

/// Where the text is stored that a body lacks. The frame that had it when deduplication found it may have been pruned since.
/// Then this body keeps the text, and others of the append refer to this body.
fn source_of(hole: &Hole, seq: u64, held: &Held, moved: &mut Moved) -> Option<(u64, usize)> {
    if hole.source >= held.gone && hole.key.is_none_or(|key| key == held.key) {
        return Some((hole.source, hole.source_at));
    }
    match moved.entry((hole.source, hole.source_at, hole.part.len())) {
        Entry::Occupied(known) => Some(*known.get()),
        Entry::Vacant(first) => {
            first.insert((seq, hole.part.start));
            None
        }
    }
}

/// What to remember of a stream's last long text once the append is kept. The outer `None` means no change.
fn learnt(text: Option<&Known>, held: &Held, moved: Option<&Moved>) -> Option<Option<Known>> {
    let Some(text) = text else { return Some(None) };
    let key = Some(held.key);
    if text.key.is_none() {
        return Some(Some(Known { key, ..text.clone() }));
    }
    // A text of an earlier append: pruning the front updates its location, but does not know where this append stored it again.
    let (seq, at) = *moved?.get(&(text.seq, text.at, text.bytes.len()))?;
    Some(Some(Known { key, seq, at, bytes: text.bytes.clone() }))
}

fn insert_stream(database: &Connection, key: i64, stream: &Stream, first_ms: u64, now_ms: u64) -> rusqlite::Result<()> {
    let header = Header::of(stream);
    let mut insert = database.prepare_cached(
        "INSERT INTO streams (key, kind, id, session_id, session_name, provider, origin_run, first_ms, last_ms, stored_ms, \
         frames, bytes, ended) VALUES (:key, :kind, :id, :session, :name, :provider, :origin, :ms, :ms, :now, 0, 0, 0)",
    )?;
    insert.execute(named_params! {
        ":key": key, ":kind": header.kind, ":id": header.id.to_string(), ":session": header.session_id.to_string(),
        ":name": header.session_name, ":provider": header.provider,
        ":origin": header.origin_run.map(|run| run.to_string()), ":ms": first_ms.cast_signed(), ":now": now_ms,
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_pruned_since_it_was_found_is_stored_again_once() {
        let held = Held { key: 7, gone: 10, ..Held::default() };
        let hole = |source, key| Hole { part: 30..2030, source, source_at: 5, key };
        let mut moved = Moved::new();
        // The text is there; or it is in this append.
        assert_eq!(source_of(&hole(10, Some(7)), 20, &held, &mut moved), Some((10, 5)));
        assert_eq!(source_of(&hole(19, None), 20, &held, &mut moved), Some((19, 5)));
        // The text was pruned, or was another stream's: the first body that lacks it stores it, and the next refers to that
        // one.
        for (seq, gone) in [(20, hole(9, Some(7))), (30, hole(12, Some(6)))] {
            assert_eq!(source_of(&gone, seq, &held, &mut moved), None);
            assert_eq!(source_of(&gone, seq + 1, &held, &mut moved), Some((seq, 30)));
        }
        // Later appends find it there. Nothing is reported for a text that did not move.
        let known = |key, seq, at| Known { key, seq, at, bytes: vec![b'x'; 2000].into() };
        let learnt = |text: Option<&Known>| learnt(text, &held, Some(&moved));
        assert_eq!(learnt(Some(&known(Some(7), 9, 5))), Some(Some(known(Some(7), 20, 30))));
        assert_eq!(learnt(Some(&known(Some(7), 11, 5))), None);
        assert_eq!(learnt(Some(&known(None, 40, 5))), Some(Some(known(Some(7), 40, 5))));
        assert_eq!(learnt(None), Some(None));
    }
}
