//! The front of a long stream: how much of the stream is kept, and what is needed to resume where the kept part begins.
//!
//! Input: limits on the frames, bytes and age of one stream. Output: streams without their oldest frames. Their later events
//! are the same as before, because the state of each encoder at the first kept frame is kept too. Never: the last frame of a
//! stream dropped; a front dropped before every encoder has passed it.

use super::recovery::LEFT_OPEN;
use super::view::{Place, SharedCheckpoints};
use super::{Entry, Runs};
use crate::clock::Clock;
use crate::log::{Checkpoint, CheckpointAt, Gone, LogError, Summary};
use framegate_translators::contracts::{CONTRACTS, NUMBERED_RECORDS};
use framegate_translators::encode::{EncoderOptions, Events};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;

/// Number of frames between two checkpoints that are made while a stream grows.
pub(super) const CHECKPOINT_EVERY: u64 = 4096;

/// Largest encoder state, in bytes, that is kept at a checkpoint whose only purpose is to save time.
const CHECKPOINT_BYTES: usize = 64 << 10;

/// How many streams may wait for their checkpoints. A stream that finds the queue full gets its checkpoints the next time.
const WAITING: usize = 256;

/// How many frames are read at a time.
const AT_ONCE: usize = 512;

/// How many frames the previous checkpoint may be before the next one. A part of the stream's length is added to this.
const REACH: u64 = 16 * CHECKPOINT_EVERY;

/// How many frames go through the encoders between two yields. Other tasks on the same thread wait for that long: some tenths
/// of a millisecond.
const IN_A_ROW: usize = 32;

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
    pub(super) fn is_bounded(&self) -> bool {
        *self != Self::default()
    }
}

/// What is known of a stream's front.
#[derive(Debug, Default)]
pub(super) struct Front {
    pub(super) gone: Option<Gone>,
    /// Bytes appended since the log was last asked for the stream's size; `None` before it was asked.
    bytes: Option<u64>,
    /// Samples: a time since the start of the process (so that setting the clock has no effect), and how many frames the stream
    /// had then.
    moments: VecDeque<(Duration, u64)>,
}

impl Front {
    /// Front of a stream that was kept before, with so many frames.
    pub(super) fn of_kept(gone: Option<Gone>, frames: u64) -> Self {
        Self { gone, bytes: None, moments: VecDeque::from([(Duration::ZERO, frames)]) }
    }

    /// Takes a sample of the number of frames. Of samples close together only the first is kept.
    fn note(&mut self, frames: u64, max_age: Duration, now: Duration) {
        let apart = max_age / MOMENTS;
        if self.moments.back().is_none_or(|(newest, _)| newest.saturating_add(apart) <= now) {
            self.moments.push_back((now, frames));
        }
    }

    /// How many frames the stream had before that time. Samples that are not needed any more are removed.
    fn older_than(&mut self, then: Duration) -> u64 {
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
    /// experimental groups itself.
    #[must_use]
    pub fn with_pruning(self, bounds: PruningBounds, options: EncoderOptions) -> Self {
        Self { fronts: bounds, options, ..self }
    }

    /// Called after frames were appended to a stream: `more` is their size in bytes, `before` the number of frames before the
    /// append. Prunes what exceeds the bounds.
    pub(super) async fn prune_beyond_bounds(&self, entry: &Arc<Entry>, before: u64, more: u64) {
        let frames = entry.tail.borrow().frames;
        if frames / CHECKPOINT_EVERY > before / CHECKPOINT_EVERY
            && let Some(scribe) = self.scribe.get()
        {
            // If the queue is full, the task is busy; the checkpoints are made the next time.
            let _ = scribe.try_send(entry.id());
        }
        let PruningBounds { max_frames, max_bytes, .. } = self.fronts;
        if !self.fronts.is_bounded() {
            return;
        }
        let (gone, is_due) = {
            let mut front = entry.front();
            front.bytes = front.bytes.map(|bytes| bytes + more);
            let piece = max_bytes.map(|most| piece(most, MOST.1));
            let is_due = piece.is_some_and(|piece| front.bytes.is_none_or(|bytes| bytes >= piece));
            if is_due {
                front.bytes = Some(0);
            }
            (front.gone.map_or(0, |gone| gone.frames), is_due)
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

    /// Prunes frames that are too old, in all streams. `since_start` is the time since the start of the process, `now_ms` is in
    /// Unix epoch milliseconds. The age of frames is only known from these calls.
    pub async fn drop_aged(&self, since_start: Duration, now_ms: u64) {
        self.log.drop_aged().await;
        let Some(max_age) = self.fronts.max_age else { return };
        for entry in self.entries() {
            let to = {
                let (mut front, frames) = (entry.front(), entry.tail.borrow().frames);
                let to = front.older_than(since_start.saturating_sub(max_age));
                front.note(frames, max_age, since_start);
                to
            };
            self.try_prune(&entry, to, now_ms).await;
        }
    }

    async fn try_prune(&self, entry: &Arc<Entry>, to: u64, now_ms: u64) {
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
        let _turn = entry.dropping.lock().await;
        if to <= entry.gone().map_or(0, |gone| gone.frames) {
            return Ok(());
        }
        let mut places = self.places_before(entry, to, true).await?;
        self.pass(entry, &mut places, to).await?;
        let last = self.log.read(entry.id(), to - 1, 1).await?;
        let last_ms = last.first().map_or(0, |frame| frame.timestamp_ms);
        let gone = Gone { frames: to, last_ms, pruned_ms: now_ms };
        let checkpoints: Vec<Checkpoint> =
            places.iter().filter_map(|(checkpoints, place)| checkpoints.checkpoint(place)).collect();
        self.log.prune(entry.id(), gone, checkpoints).await?;
        for (checkpoints, place) in places {
            checkpoints.begin_at(place);
        }
        entry.front().gone = Some(gone);
        entry.status().pruned_frames = to;
        self.feed.forget_pruned(entry.id(), to);
        let artifacts = entry.referred().before(to);
        if let Some(store) = self.artifacts().filter(|_| !artifacts.is_empty())
            && let Err(error) = store.let_go(entry.id(), &artifacts).await
        {
            tracing::warn!(stream = %entry.stream.id, %error, "artifacts of dropped frames could not be dropped");
        }
        tracing::debug!(stream = %entry.stream.id, frames = to, "dropped the first frames of a stream");
        Ok(())
    }

    /// The encoders of a stream that depend on earlier frames, each at its last known place before a frame. With `all`, also
    /// those that no reader has asked for yet.
    async fn places_before(
        &self,
        entry: &Arc<Entry>,
        frame: u64,
        all: bool,
    ) -> Result<Vec<(SharedCheckpoints, Place)>, LogError> {
        let mut wanted: Vec<SharedCheckpoints> = Vec::new();
        // `raw` has two forms, each with a view of its own.
        for contract in CONTRACTS.iter().chain([NUMBERED_RECORDS]) {
            // Clients choose these two options; the others are the same for all clients.
            for (experimental, user_messages) in [(false, false), (true, false), (false, true), (true, true)] {
                let user_messages = user_messages || self.options.user_messages;
                let options = EncoderOptions { experimental, user_messages, ..self.options.clone() };
                let checkpoints = entry.checkpoints(contract.view_name(), contract.name, contract.encoder, &options);
                wanted.extend(checkpoints.map(|(_, checkpoints)| checkpoints));
            }
        }
        if all {
            wanted.extend(entry.all_checkpoints());
            wanted.extend(
                entry
                    .checkpoints(LEFT_OPEN.0, LEFT_OPEN.0, LEFT_OPEN.1, &EncoderOptions::default())
                    .map(|(_, checkpoints)| checkpoints),
            );
        }
        wanted.retain(|checkpoints| !checkpoints.is_free());
        let mut places: Vec<(SharedCheckpoints, Place)> = Vec::new();
        for checkpoints in wanted {
            if places.iter().any(|(known, _)| known.is(&checkpoints)) {
                continue;
            }
            if let Some(place) = checkpoints.start(self, entry, &CheckpointAt::Frame(frame)).await? {
                places.push((checkpoints, place));
            }
        }
        // An encoder whose place is before the kept frames cannot be advanced, so it cannot make events of the kept frames
        // either.
        let kept = entry.gone().map_or(0, |gone| gone.frames);
        places.retain(|(_, place)| place.frame >= kept);
        Ok(places)
    }

    /// Advances the encoders to a frame.
    async fn pass(&self, entry: &Entry, places: &mut [(SharedCheckpoints, Place)], to: u64) -> Result<(), LogError> {
        let mut scratch = Events::unwritten();
        let mut at = places.iter().map(|(_, place)| place.frame).min().unwrap_or(to);
        while at < to {
            let most = usize::try_from(to - at).unwrap_or(AT_ONCE).min(AT_ONCE);
            let frames = self.log.read(entry.id(), at, most).await?;
            match frames.first() {
                Some(first) if first.seq == at => {}
                _ => return Err(LogError::Gone { stream: entry.stream.id, frames: at }),
            }
            for some in frames.chunks(IN_A_ROW) {
                for frame in some {
                    places.iter_mut().for_each(|(_, place)| place.pass(frame, &mut scratch));
                }
                tokio::task::yield_now().await;
            }
            at += frames.len() as u64;
        }
        Ok(())
    }

    /// Starts the background task that makes checkpoints of long streams, so that the first reader in a contract need not
    /// encode all of a stream. A durable log keeps the checkpoints. The task ends when the runs are dropped.
    pub fn start_checkpointing(self: &Arc<Self>) {
        let (scribe, mut streams) = mpsc::channel(WAITING);
        if self.scribe.set(scribe).is_err() {
            return;
        }
        let runs = Arc::downgrade(self);
        tokio::spawn(async move {
            while let Some(stream) = streams.recv().await {
                let Some(runs) = runs.upgrade() else { return };
                let Some(entry) = runs.find(stream) else { continue };
                if let Err(error) = runs.checkpoint(&entry).await {
                    tracing::debug!(stream = %entry.stream.id, %error, "marks could not be stored");
                }
            }
        });
    }

    /// Makes the checkpoints that are due for a stream.
    ///
    /// # Errors
    /// The log's error.
    pub async fn checkpoint(&self, entry: &Arc<Entry>) -> Result<(), LogError> {
        let frames = entry.tail.borrow().frames;
        let mut at = entry.checkpointed.load(Ordering::Relaxed) + CHECKPOINT_EVERY;
        if at > frames {
            return Ok(());
        }
        let mut places = self.places_before(entry, at, false).await?;
        // An encoder whose state is too large leaves no checkpoints. It is skipped, so that it is not advanced over a long
        // distance again and again.
        places.retain(|(_, place)| place.frame + REACH + at / 64 >= at);
        while at <= frames {
            self.pass(entry, &mut places, at).await?;
            let is_small = |place: &Place| place.encoder.held_bytes() <= CHECKPOINT_BYTES;
            if self.log.is_durable() {
                let worth = places.iter().filter(|(_, place)| is_small(place));
                let checkpoints: Vec<Checkpoint> =
                    worth.filter_map(|(checkpoints, place)| checkpoints.checkpoint(place)).collect();
                self.log.keep_checkpoints(entry.id(), checkpoints).await?;
            }
            places.iter().for_each(|(checkpoints, place)| checkpoints.note(place));
            entry.checkpointed.store(at, Ordering::Relaxed);
            at += CHECKPOINT_EVERY;
        }
        Ok(())
    }

    /// Saves what readers counted since the last call, so that it outlives the process.
    pub async fn keep_counts(&self) {
        if !self.log.is_durable() {
            return;
        }
        let changed = self.entries().into_iter().filter(|entry| entry.has_counted.swap(false, Ordering::Relaxed));
        let summaries: Vec<Summary> = changed.map(|entry| Summary::of(entry.id(), &mut entry.status())).collect();
        if summaries.is_empty() {
            return;
        }
        if let Err(error) = self.log.keep_status(summaries).await {
            tracing::warn!(%error, "the counters of runs could not be stored");
        }
    }

    /// Returns every stream.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        self.streams.read().unwrap_or_else(PoisonError::into_inner).by_id.values().cloned().collect()
    }
}

/// How much is pruned at a time if `most` may be kept.
fn piece(most: u64, at_most: u64) -> u64 {
    (most / 8).clamp(1, at_most)
}
