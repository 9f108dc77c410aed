//! Streams to which more than one ingest appends: the thread of a session, a task that continues.
//!
//! Input: frames, numbered by the ingest that made them. Output: the same frames, renumbered to follow the kept frames of their
//! stream. Never: a number twice, a time that runs backwards, or two concurrent appends to one such stream. A run belongs to
//! one ingest; its frames are left unchanged.

use crate::log::{StreamId, stream_id};
use crate::runs::Entry;
use framegate_translators::frame::{Frame, StreamKind};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::{Mutex, MutexGuard};

/// Number of locks. Two streams that fall on the same lock wait for each other.
const PLACES: usize = 64;

/// Locks for appending to streams that more than one ingest may append to.
pub(in crate::runs) struct Turns([Mutex<()>; PLACES]);

impl Default for Turns {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::new(())))
    }
}

impl Turns {
    /// Waits for the locks of all streams of these frames.
    pub(super) async fn take(&self, frames: &[Arc<Frame>]) -> Vec<MutexGuard<'_, ()>> {
        let mut places: Vec<usize> =
            frames.iter().map(|frame| stream_id(frame)).filter(|id| is_shared(*id)).map(place).collect();
        // Locked in a fixed order, to avoid deadlock.
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

/// The frames with their final numbers and times in their streams.
pub(super) fn resequenced<'f>(
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
