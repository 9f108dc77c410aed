//! Pruning: the front of a long stream is dropped, and the stream goes on from a checkpoint of each encoder.
//!
//! Input: limits on the frames, bytes and age of one stream. Output: streams without their oldest frames. Their later events
//! are the same as before, because the state of each encoder at the first kept frame is kept too. Never: the last frame of a
//! stream dropped; a front dropped before every encoder has passed it.

use crate::clock::Clock;
use crate::log::{Checkpoint, Gone, LogError};
use crate::runs::{Entry, Runs};
use framegate_translators::encode::EncoderOptions;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// A front is pruned in pieces: an eighth of what may be kept, but at most this many frames, or bytes. An append waits for it.
const MOST: (u64, u64) = (4096, 4 << 20);

/// How many samples of (time, frame count) are kept to tell the age of frames.
const MOMENTS: u32 = 32;

/// How much of one stream is kept. `None` in a field means no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruningBounds {
    /// Maximum number of frames.
    pub max_frames: Option<u64>,
    /// Maximum number of bytes of frames, as the log counts them.
    pub max_bytes: Option<u64>,
    /// Maximum age, counted from when the frames were kept.
    pub max_age: Option<Duration>,
}

impl PruningBounds {
    /// Whether any limit is set.
    pub(in crate::runs) fn is_bounded(&self) -> bool {
        *self != Self::default()
    }
}

/// How far a stream is pruned, and what is needed to tell how far it must be.
#[derive(Debug, Default)]
pub(in crate::runs) struct Pruning {
    pub(in crate::runs) gone: Option<Gone>,
    /// Bytes appended since the log was last asked for the stream's size; `None` before it was asked.
    bytes: Option<u64>,
    /// Samples: a time since the start of the process (so that setting the clock has no effect), and how many frames the stream
    /// had then.
    moments: VecDeque<(Duration, u64)>,
}

impl Pruning {
    /// For a stream that was kept before, with so many frames.
    pub(in crate::runs) fn of_kept(gone: Option<Gone>, frames: u64) -> Self {
        Self { gone, bytes: None, moments: VecDeque::from([(Duration::ZERO, frames)]) }
    }

    /// Takes a sample of the number of frames. Of samples close together only the first is kept.
    pub(super) fn note(&mut self, frames: u64, max_age: Duration, now: Duration) {
        let apart = max_age / MOMENTS;
        if self.moments.back().is_none_or(|(newest, _)| newest.saturating_add(apart) <= now) {
            self.moments.push_back((now, frames));
        }
    }

    /// How many frames the stream had before that time. Samples that are not needed any more are removed.
    pub(super) fn older_than(&mut self, then: Duration) -> u64 {
        let mut frames = 0;
        while let Some((_, there)) = self.moments.front().copied().filter(|(moment, _)| *moment < then) {
            frames = there;
            self.moments.pop_front();
        }
        frames
    }
}

impl Runs {
    /// Sets how much of each stream is kept. Clients are served with `options`, except that each client chooses the
    /// experimental groups and the user's messages itself.
    #[must_use]
    pub fn with_pruning(self, bounds: PruningBounds, options: EncoderOptions) -> Self {
        Self { pruning: bounds, options, ..self }
    }

    /// Called after frames were appended to a stream: `more` is their size in bytes. Prunes what exceeds the
    /// bounds.
    pub(in crate::runs) async fn prune_beyond_bounds(&self, entry: &Arc<Entry>, more: u64) {
        let PruningBounds { max_frames, max_bytes, .. } = self.pruning;
        if !self.pruning.is_bounded() {
            return;
        }
        let frames = entry.tail.borrow().frames;
        let (gone, is_due) = {
            let mut pruning = entry.pruning();
            pruning.bytes = pruning.bytes.map(|bytes| bytes + more);
            let piece = max_bytes.map(|most| piece(most, MOST.1));
            let is_due = piece.is_some_and(|piece| pruning.bytes.is_none_or(|bytes| bytes >= piece));
            if is_due {
                pruning.bytes = Some(0);
            }
            (pruning.gone.map_or(0, |gone| gone.frames), is_due)
        };
        let mut to = match max_frames {
            Some(most) if frames - gone > most => frames - most + piece(most, MOST.0),
            _ => 0,
        };
        if let Some(most) = max_bytes.filter(|_| is_due) {
            match self.log.first_within(entry.id(), most - piece(most, MOST.1)).await {
                Ok(first) => to = to.max(first),
                Err(error) => tracing::warn!(stream = %entry.stream.id, %error, "a stream could not be measured"),
            }
        }
        self.try_prune(entry, to, Clock::System.now_ms()).await;
    }

    pub(super) async fn try_prune(&self, entry: &Arc<Entry>, to: u64, now_ms: u64) {
        if let Err(error) = self.prune(entry, to, now_ms).await {
            tracing::warn!(stream = %entry.stream.id, %error, "the first frames of a stream could not be dropped");
        }
    }

    /// Drops the first frames of a stream, up to the frame with the number `to`. The last frame always stays.
    ///
    /// # Errors
    /// The log's error; nothing was dropped.
    pub async fn prune(&self, entry: &Arc<Entry>, to: u64, now_ms: u64) -> Result<(), LogError> {
        let to = to.min(entry.tail.borrow().frames.saturating_sub(1));
        let _turn = entry.prune_turn.lock().await;
        if to <= entry.gone().map_or(0, |gone| gone.frames) {
            return Ok(());
        }
        let mut points = self.resume_points_before(entry, to, true).await?;
        self.advance(entry, &mut points, to).await?;
        let last = self.log.read(entry.id(), to - 1, 1).await?;
        let last_ms = last.first().map_or(0, |frame| frame.timestamp_ms);
        let gone = Gone { frames: to, last_ms, pruned_ms: now_ms };
        let checkpoints: Vec<Checkpoint> =
            points.iter().filter_map(|(checkpoints, point)| checkpoints.save(point)).collect();
        self.log.prune(entry.id(), gone, checkpoints).await?;
        for (checkpoints, point) in points {
            checkpoints.begin_at(point);
        }
        entry.pruning().gone = Some(gone);
        entry.status().pruned_frames = to;
        self.mark_changed(entry.id());
        self.feed.forget_pruned(entry.id(), to);
        let artifacts = entry.artifact_refs().before(to);
        if let Some(store) = self.artifacts().filter(|_| !artifacts.is_empty())
            && let Err(error) = store.let_go(entry.id(), &artifacts).await
        {
            tracing::warn!(stream = %entry.stream.id, %error, "artifacts of dropped frames could not be dropped");
        }
        tracing::debug!(stream = %entry.stream.id, frames = to, "dropped the first frames of a stream");
        Ok(())
    }
}

/// How much is pruned at a time if `most` may be kept.
fn piece(most: u64, at_most: u64) -> u64 {
    (most / 8).clamp(1, at_most)
}
