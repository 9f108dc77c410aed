//! Streams that more than one ingest speaks of: the thread of a session, a task that goes on.
//!
//! In: frames, numbered by the ingest that made them. Out: the same, numbered on from what is kept of their stream. Never: a
//! number twice, a time that runs backwards, two appends to one such stream at once. A run belongs to one ingest; its frames
//! are left as they are.

use super::Entry;
use crate::log::{StreamId, stream_id};
use framegate_translators::frame::{Frame, StreamKind};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::{Mutex, MutexGuard};

/// How many streams can be appended to at once; two that fall on one place wait for each other.
const PLACES: usize = 64;

/// Whose turn it is to append to a stream that others may append to.
pub(super) struct Turns([Mutex<()>; PLACES]);

impl Default for Turns {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::new(())))
    }
}

impl Turns {
    /// Waits until it is the turn of all streams of these frames.
    pub(super) async fn take(&self, frames: &[Arc<Frame>]) -> Vec<MutexGuard<'_, ()>> {
        let mut places: Vec<usize> =
            frames.iter().map(|frame| stream_id(frame)).filter(|id| is_shared(*id)).map(place).collect();
        // In one order for everybody, so that nobody waits in a circle.
        places.sort_unstable();
        places.dedup();
        let mut turns = Vec::with_capacity(places.len());
        for place in places.into_iter().filter_map(|place| self.0.get(place)) {
            turns.push(place.lock().await);
        }
        turns
    }
}

fn is_shared((kind, _): StreamId) -> bool {
    kind != StreamKind::Session
}

fn place((_, id): StreamId) -> usize {
    id.as_bytes().iter().fold(0, |sum, byte| (sum * 31 + usize::from(*byte)) % PLACES)
}

/// The frames with the numbers and times that they have in their streams.
pub(super) fn continued<'f>(
    frames: &'f [Arc<Frame>],
    find: &dyn Fn(StreamId) -> Option<Arc<Entry>>,
) -> Cow<'f, [Arc<Frame>]> {
    let mut ends: HashMap<StreamId, (u64, u64)> = HashMap::new();
    let mut renumbered: Option<Vec<Arc<Frame>>> = None;
    for (at, frame) in frames.iter().enumerate() {
        let id = stream_id(frame);
        if !is_shared(id) {
            if let Some(renumbered) = &mut renumbered {
                renumbered.push(frame.clone());
            }
            continue;
        }
        let (next_seq, last_ms) = ends.entry(id).or_insert_with(|| {
            find(id).map_or((0, 0), |entry| {
                let status = entry.status();
                (status.frames, status.updated_at_ms)
            })
        });
        let (seq, timestamp_ms) = (*next_seq, frame.timestamp_ms.max(*last_ms));
        (*next_seq, *last_ms) = (seq + 1, timestamp_ms);
        let is_same = seq == frame.seq && timestamp_ms == frame.timestamp_ms;
        if renumbered.is_none() && is_same {
            continue;
        }
        let renumbered = renumbered.get_or_insert_with(|| frames.iter().take(at).cloned().collect());
        renumbered.push(if is_same {
            frame.clone()
        } else {
            Arc::new(Frame { seq, timestamp_ms, ..Frame::clone(frame) })
        });
    }
    renumbered.map_or(Cow::Borrowed(frames), Cow::Owned)
}
