//! The front of a long stream: how much of it is kept, and what is known of where the rest begins.
//!
//! In: how many frames and bytes of one stream may be kept, and for how long. Out: streams without their oldest frames, whose
//! later events are what they always were: what each encoder held at the first frame that stays is kept with it. Never: the
//! last frame of a stream dropped, a front dropped of which no encoder stands behind.

use super::recovery::LEFT_OPEN;
use super::view::{Place, SharedMarks};
use super::{Entry, Runs};
use crate::clock::Clock;
use crate::log::{Gone, LogError, Mark, MarkAt, Summary};
use framegate_translators::contracts::CONTRACTS;
use framegate_translators::encode::{EncoderOptions, Events};
use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;

/// How many frames lie between two marks that are made as a stream grows.
pub(super) const MARK_EVERY: u64 = 4096;

/// How much an encoder may hold at a mark that only saves time, in bytes.
const MARK_BYTES: usize = 64 << 10;

/// How many streams may wait for their marks; one that finds no place gets its marks with the next.
const WAITING: usize = 256;

/// How many frames are read at a time.
const AT_ONCE: usize = 512;

/// How far behind a mark the one before it may be, beside a part of the stream.
const REACH: u64 = 16 * MARK_EVERY;

/// How many frames go through the encoders in a row: whoever has something live to do on the same thread waits for that long,
/// some tenths of a millisecond.
const IN_A_ROW: usize = 32;

/// A front goes in pieces of an eighth of what may be kept, but no larger than this many frames, or bytes: an append waits
/// for it.
const MOST: (u64, u64) = (4096, 4 << 20);

/// For how many moments it is known which frames were there.
const MOMENTS: u32 = 32;

/// How much of one stream is kept; `None`: all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrontBounds {
    /// How many frames.
    pub max_frames: Option<u64>,
    /// How many bytes of frames, as the log counts them.
    pub max_bytes: Option<u64>,
    /// For how long after they were kept.
    pub max_age: Option<Duration>,
}

impl FrontBounds {
    /// Whether anything ever goes.
    pub(super) fn is_bounded(&self) -> bool {
        *self != Self::default()
    }
}

/// What is known of a stream's front.
#[derive(Debug, Default)]
pub(super) struct Front {
    pub(super) gone: Option<Gone>,
    /// Bytes that came since the log was asked how many there are; `None` before it was ever asked.
    bytes: Option<u64>,
    /// Moments, as time since the start of the process, which goes on when the clock is set; and how many frames were there
    /// by then.
    moments: VecDeque<(Duration, u64)>,
}

impl Front {
    /// Of a stream that was there before, with so many frames.
    pub(super) fn of_kept(gone: Option<Gone>, frames: u64) -> Self {
        Self { gone, bytes: None, moments: VecDeque::from([(Duration::ZERO, frames)]) }
    }

    /// So many frames are there now. Of moments that are close together the first is enough.
    fn note(&mut self, frames: u64, max_age: Duration, now: Duration) {
        let apart = max_age / MOMENTS;
        if self.moments.back().is_none_or(|(newest, _)| newest.saturating_add(apart) <= now) {
            self.moments.push_back((now, frames));
        }
    }

    /// How many frames were there before that moment. Moments that are not needed any more are forgotten.
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
    /// Keeps no more than that of one stream. Clients are served with `options`, but for the experimental groups, which each
    /// asks for.
    #[must_use]
    pub fn with_front_bounds(self, bounds: FrontBounds, options: EncoderOptions) -> Self {
        Self { fronts: bounds, options, ..self }
    }

    /// Frames were appended to a stream, `more` bytes of them, and it had `before` of them before: lets go what is too much.
    pub(super) async fn bound_front(&self, entry: &Arc<Entry>, before: u64, more: u64) {
        let frames = entry.tail.borrow().frames;
        if frames / MARK_EVERY > before / MARK_EVERY
            && let Some(scribe) = self.scribe.get()
        {
            // A full queue is one that is worked at.
            let _ = scribe.try_send(entry.id());
        }
        let FrontBounds { max_frames, max_bytes, .. } = self.fronts;
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
            match self.log.front_beyond(entry.id(), most - piece(most, MOST.1)).await {
                Ok(first) => to = to.max(first),
                Err(error) => tracing::warn!(stream = %entry.stream.id, %error, "a stream could not be measured"),
            }
        }
        self.let_go(entry, to, Clock::System.now_ms()).await;
    }

    /// Lets go of frames that are too old, of all streams: so long after the start of the process, at `now_ms` (Unix epoch
    /// milliseconds). How old frames are is known by these calls alone.
    pub async fn drop_aged(&self, since_start: Duration, now_ms: u64) {
        let Some(max_age) = self.fronts.max_age else { return };
        for entry in self.entries() {
            let to = {
                let (mut front, frames) = (entry.front(), entry.tail.borrow().frames);
                let to = front.older_than(since_start.saturating_sub(max_age));
                front.note(frames, max_age, since_start);
                to
            };
            self.let_go(&entry, to, now_ms).await;
        }
    }

    async fn let_go(&self, entry: &Arc<Entry>, to: u64, now_ms: u64) {
        if let Err(error) = self.drop_front(entry, to, now_ms).await {
            tracing::warn!(stream = %entry.stream.id, %error, "the front of a stream could not be dropped");
        }
    }

    /// Drops the first frames of a stream, up to the one with the number `to`; its last frame stays in any case.
    ///
    /// # Errors
    /// The log's: then nothing was dropped.
    pub async fn drop_front(&self, entry: &Arc<Entry>, to: u64, now_ms: u64) -> Result<(), LogError> {
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
        let marks: Vec<Mark> = places.iter().filter_map(|(marks, place)| marks.mark(place)).collect();
        self.log.drop_front(entry.id(), gone, marks).await?;
        for (marks, place) in places {
            marks.begin_at(place);
        }
        entry.front().gone = Some(gone);
        entry.status().pruned_frames = to;
        self.feed.forget_front(entry.id(), to);
        let artifacts = entry.referred().before(to);
        if let Some(store) = self.artifacts().filter(|_| !artifacts.is_empty())
            && let Err(error) = store.let_go(entry.id(), &artifacts).await
        {
            tracing::warn!(stream = %entry.stream.id, %error, "artifacts of a front that is gone could not be dropped");
        }
        tracing::debug!(stream = %entry.stream.id, frames = to, "the front of a stream made room");
        Ok(())
    }

    /// Where the encoders of a stream stand that need to know what came before: each at the last known place before a frame.
    /// With `all`, those that nobody has asked for yet, too.
    async fn places_before(
        &self,
        entry: &Arc<Entry>,
        frame: u64,
        all: bool,
    ) -> Result<Vec<(SharedMarks, Place)>, LogError> {
        let mut wanted: Vec<SharedMarks> = Vec::new();
        for contract in CONTRACTS {
            for experimental in [false, true] {
                let options = EncoderOptions { experimental, ..self.options.clone() };
                wanted.extend(entry.marks(contract.name, contract.encoder, &options).map(|(_, marks)| marks));
            }
        }
        if all {
            wanted.extend(entry.all_marks());
            if self.log.is_durable() {
                wanted
                    .extend(entry.marks(LEFT_OPEN.0, LEFT_OPEN.1, &EncoderOptions::default()).map(|(_, marks)| marks));
            }
        }
        wanted.retain(|marks| !marks.is_free());
        let mut places: Vec<(SharedMarks, Place)> = Vec::new();
        for marks in wanted {
            if places.iter().any(|(known, _)| known.is(&marks)) {
                continue;
            }
            if let Some(place) = marks.start(self, entry, &MarkAt::Frame(frame)).await? {
                places.push((marks, place));
            }
        }
        // One that stands where nothing goes on can say nothing of what is kept either.
        let kept = entry.gone().map_or(0, |gone| gone.frames);
        places.retain(|(_, place)| place.frame >= kept);
        Ok(places)
    }

    /// Brings encoders to a frame.
    async fn pass(&self, entry: &Entry, places: &mut [(SharedMarks, Place)], to: u64) -> Result<(), LogError> {
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

    /// Begins to make marks of long streams, in the background, so that the first reader in a contract need not go through all
    /// of one; a log that outlives the process keeps them. Ends with the runs.
    pub fn start_marking(self: &Arc<Self>) {
        let (scribe, mut streams) = mpsc::channel(WAITING);
        if self.scribe.set(scribe).is_err() {
            return;
        }
        let runs = Arc::downgrade(self);
        tokio::spawn(async move {
            while let Some(stream) = streams.recv().await {
                let Some(runs) = runs.upgrade() else { return };
                let Some(entry) = runs.find(stream) else { continue };
                if let Err(error) = runs.mark(&entry).await {
                    tracing::debug!(stream = %entry.stream.id, %error, "marks could not be kept");
                }
            }
        });
    }

    /// Makes the marks that a stream is due.
    ///
    /// # Errors
    /// The log's.
    pub async fn mark(&self, entry: &Arc<Entry>) -> Result<(), LogError> {
        let frames = entry.tail.borrow().frames;
        let mut at = entry.marked.load(Ordering::Relaxed) + MARK_EVERY;
        if at > frames {
            return Ok(());
        }
        let mut places = self.places_before(entry, at, false).await?;
        // An encoder that holds too much to be kept leaves no marks: it is not brought from far behind again and again.
        places.retain(|(_, place)| place.frame + REACH + at / 64 >= at);
        while at <= frames {
            self.pass(entry, &mut places, at).await?;
            let is_small = |place: &Place| place.encoder.held_bytes() <= MARK_BYTES;
            if self.log.is_durable() {
                let worth = places.iter().filter(|(_, place)| is_small(place));
                let marks: Vec<Mark> = worth.filter_map(|(marks, place)| marks.mark(place)).collect();
                self.log.keep_marks(entry.id(), marks).await?;
            }
            places.iter().for_each(|(marks, place)| marks.note(place));
            entry.marked.store(at, Ordering::Relaxed);
            at += MARK_EVERY;
        }
        Ok(())
    }

    /// Keeps what readers counted since the last time, so that it outlives the process.
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
            tracing::warn!(%error, "what was counted of runs could not be kept");
        }
    }

    /// Every stream.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        self.streams.read().unwrap_or_else(PoisonError::into_inner).by_id.values().cloned().collect()
    }
}

/// How much goes at once of what may be kept.
fn piece(most: u64, at_most: u64) -> u64 {
    (most / 8).clamp(1, at_most)
}
