//! Resume points: positions in a stream together with the encoder's state there, and the checkpoints that keep them beyond the
//! process.
//!
//! Input: frames, or a stored checkpoint. Output: the point after the frames, and its checkpoint. Never: events for a reader.

use super::SharedCheckpoints;
use super::keeper::CHECKPOINT_EVERY;
use crate::log::{Checkpoint, CheckpointAt, LogError};
use crate::runs::{Entry, Runs};
use framegate_translators::encode::{Encoder, EventId, Events};
use framegate_translators::frame::Frame;

/// A point from which a window can begin.
pub(in crate::runs) struct ResumePoint {
    /// The next frame to encode.
    pub(in crate::runs) frame: u64,
    /// The number of the next event.
    pub(in crate::runs) event: u64,
    /// The last event before this point that has a cursor, and its number.
    pub(in crate::runs) last: Option<(EventId, u64)>,
    /// The encoder, in its state at this point.
    pub(in crate::runs) encoder: Box<dyn Encoder>,
}

impl ResumePoint {
    /// A copy of the point, with its own encoder.
    pub(in crate::runs) fn fork(&self) -> Self {
        Self { frame: self.frame, event: self.event, last: self.last.clone(), encoder: self.encoder.fork() }
    }

    /// Encodes the next frame without keeping its events. Other frames are ignored.
    pub(in crate::runs) fn advance(&mut self, frame: &Frame, scratch: &mut Events) {
        if frame.seq != self.frame {
            return;
        }
        scratch.clear();
        self.encoder.frame(frame, scratch);
        for event in scratch.iter() {
            if event.id.is_logged() {
                self.last = Some((event.id.clone(), self.event));
            }
            self.event += 1;
        }
        self.frame += 1;
    }
}

impl SharedCheckpoints {
    /// The point of a stored checkpoint; `None` if the encoder cannot restore its state, which another version saved.
    fn restore(&self, entry: &Entry, checkpoint: Checkpoint) -> Option<ResumePoint> {
        let mut encoder = (self.0.make)(&entry.stream, &self.0.options)?;
        let Checkpoint { frame, event, last, state, .. } = checkpoint;
        encoder.restore(&state).then_some(ResumePoint { frame, event, last, encoder })
    }

    /// The checkpoint of a point; `None` if the encoder needs no state to start there, or cannot save its state.
    pub(in crate::runs) fn save(&self, point: &ResumePoint) -> Option<Checkpoint> {
        let ResumePoint { frame, event, last, encoder } = point;
        let view = self.0.name.clone();
        Some(Checkpoint { view, frame: *frame, event: *event, last: last.clone(), state: encoder.save()? })
    }

    /// The encoder's saved state at the start of the kept part, if the first `frames` frames are pruned.
    pub(in crate::runs) fn start_state(&self, frames: u64) -> Option<Vec<u8>> {
        self.with(|checkpoints| checkpoints.start_at(frames))?.encoder.save()
    }

    /// The last known point that is not after the requested one, in memory or in the log. A state that an older version left in
    /// the log is used only if nothing else will do: at the start of the kept part.
    pub(in crate::runs) async fn start(
        &self,
        runs: &Runs,
        entry: &Entry,
        at: &CheckpointAt,
    ) -> Result<Option<ResumePoint>, LogError> {
        let frames = entry.tail.borrow().frames;
        let (known, is_free) = self.with(|checkpoints| (checkpoints.before(at, frames), checkpoints.is_free()));
        // A short stream has no checkpoints, unless its front is pruned.
        let may_be_kept = frames >= CHECKPOINT_EVERY || entry.gone().is_some();
        if is_free || !may_be_kept || !runs.log().is_durable() {
            return Ok(known);
        }
        let kept = runs.log().checkpoint(entry.id(), &self.0.name, at).await?;
        let is_later = |checkpoint: &Checkpoint| known.as_ref().is_none_or(|known| known.frame < checkpoint.frame);
        let Some(point) = kept.filter(is_later).and_then(|checkpoint| self.restore(entry, checkpoint)) else {
            return Ok(known);
        };
        self.note(&point);
        Ok(Some(point))
    }

    /// The point where the kept part of a stream begins, if its first `frames` frames are pruned; `None` if no encoder can
    /// start there.
    pub(in crate::runs) async fn start_of_kept(
        &self,
        runs: &Runs,
        entry: &Entry,
        frames: u64,
    ) -> Result<Option<ResumePoint>, LogError> {
        let known =
            self.with(|checkpoints| checkpoints.start_at(frames).or_else(|| free(checkpoints.anywhere(frames)?)));
        if known.is_some() {
            return Ok(known);
        }
        let kept = runs.log().checkpoint(entry.id(), &self.0.name, &CheckpointAt::Frame(frames)).await?;
        let point =
            kept.filter(|checkpoint| checkpoint.frame == frames).and_then(|checkpoint| self.restore(entry, checkpoint));
        if let Some(point) = &point {
            self.with(|checkpoints| checkpoints.begin_at(point.fork()));
        }
        Ok(point)
    }
}

/// If an encoder can start anywhere, events are numbered like frames.
fn free(point: ResumePoint) -> Option<ResumePoint> {
    let last = point.event.checked_sub(1).map(|last| (EventId::Number(last), last));
    Some(ResumePoint { last, ..point })
}
