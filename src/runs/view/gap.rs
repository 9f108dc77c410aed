//! The gap at the front of a stream whose first frames were pruned.
//!
//! Input: a stream, and where its kept part begins. Output: the contract's own gap event, in place of all pruned events. Never:
//! a kept event reported as gone, or two events for one gap.

use super::window::write;
use super::{Ask, Batch, Single, Wire};
use crate::log::{Gone, LogError};
use crate::runs::checkpoints::SharedCheckpoints;
use crate::runs::{Entry, Runs};
use bytes::Bytes;
use framegate_translators::contracts::{Contract, SseStyle};
use framegate_translators::encode::{EventId, Events, Pruned};
use std::ops::Range;

/// Index of the gap event among the events of its frame: the last but one possible. A feed cursor that names it is thus after
/// every other event of the frame.
const NTH: u32 = u32::MAX - 1;

/// The pruned front of a stream in one contract.
#[derive(Debug)]
pub(super) struct Gap {
    pub(super) gone: Gone,
    /// The number of the first kept event.
    pub(super) event: u64,
    /// The last pruned event that has a cursor, and its number.
    pub(super) last: Option<(EventId, u64)>,
    /// The gap event; `None` if the contract has none.
    announcement: Option<Announcement>,
}

#[derive(Debug)]
struct Announcement {
    id: EventId,
    kind: &'static str,
    block: Bytes,
    payload: Range<usize>,
}

impl Gap {
    pub(super) async fn find(
        runs: &Runs,
        entry: &Entry,
        contract: &'static Contract,
        checkpoints: &SharedCheckpoints,
        gone: Gone,
    ) -> Result<Self, LogError> {
        let untold = || LogError::Untold { stream: entry.stream.id, frames: gone.frames, contract: contract.name };
        let point = checkpoints.start_of_kept(runs, entry, gone.frames).await?.ok_or_else(untold)?;
        let Gone { frames, last_ms, pruned_ms } = gone;
        let mut events = Events::default();
        point.encoder.pruned(&Pruned { stream: &entry.stream, frames, last_ms, pruned_ms }, &mut events);
        let announcement = events.iter().next().map(|event| {
            let mut block = Vec::new();
            write(contract, event, &mut block);
            let payload = match contract.sse {
                SseStyle::Raw => 0..block.len(),
                _ => block.len() - 2 - event.payload.len()..block.len() - 1,
            };
            Announcement { id: event.id.clone(), kind: event.kind, block: Bytes::from(block), payload }
        });
        Ok(Self { gone, event: point.event, last: point.last, announcement })
    }

    /// Whether the contract has an event for the gap.
    pub(super) fn is_announced(&self) -> bool {
        self.announcement.is_some()
    }

    /// The gap, for a reader that asked for a pruned event. Empty if all frames that it asked for are pruned.
    pub(super) fn batch(&self, ask: Ask<'_>) -> Batch {
        if ask.frames < self.gone.frames {
            return Batch { next: ask.from, ..Batch::default() };
        }
        let mut batch = Batch { next: self.event, frames: self.gone.frames, ..Batch::default() };
        match &self.announcement {
            Some(announcement) => {
                if ask.wants(announcement.kind) {
                    batch.events = 1;
                    batch.chunks.push(match ask.wire {
                        Wire::Sse => announcement.block.clone(),
                        Wire::Ndjson => announcement.block.slice(announcement.payload.clone()),
                    });
                }
                batch.ends_on_id = announcement.id != EventId::None;
                batch.last_id = Some(announcement.id.clone()).filter(|id| *id != EventId::None);
            }
            None => batch.lost = true,
        }
        batch
    }

    /// The gap event: its cursor, its type and its JSON, which ends in a line end; `None` if the contract has none.
    pub(super) fn event(&self) -> Option<(&EventId, &'static str, Bytes)> {
        let Announcement { id, kind, block, payload } = self.announcement.as_ref()?;
        Some((id, kind, block.slice(payload.clone())))
    }

    /// The gap as a single event.
    pub(super) fn single(&self) -> Option<Single> {
        let announcement = self.announcement.as_ref()?;
        let line = announcement.block.slice(announcement.payload.clone());
        Some(Single { kind: announcement.kind, frame: self.gone.frames.saturating_sub(1), nth: NTH, line })
    }

    /// Where a reader that has seen `seen` events of a pruned frame resumes. If it has seen the gap event, that is the first
    /// kept event. Otherwise it is a pruned event, if there is any, so that the reader gets the gap event.
    pub(super) fn at_frame(&self, frame: u64, seen: u32) -> u64 {
        let was_told = frame + 1 == self.gone.frames && seen > NTH;
        if was_told { self.event } else { self.event.saturating_sub(1) }
    }

    /// Where a reader with this cursor resumes, if the event of the cursor is pruned; otherwise `None`.
    pub(super) fn after(&self, cursor: &EventId) -> Option<u64> {
        let (last, number) = self.last.as_ref()?;
        match (cursor, last) {
            _ if cursor == last => Some(number + 1),
            (EventId::Number(cursor), EventId::Number(last)) if cursor < last => Some(self.event.saturating_sub(1)),
            (EventId::Text(cursor), EventId::Text(last)) if cursor < last => Some(self.event.saturating_sub(1)),
            _ => None,
        }
    }
}
