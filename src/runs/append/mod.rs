//! Appending: frames become part of their streams, and readers are woken.
//!
//! Input: the frames of one ingest, and the artifacts that they refer to. Output: the frames as the log keeps them, numbered in
//! their streams; new statuses and tails. Never: a status or a tail that is ahead of the log; frames of which only some are
//! kept; a reader that is woken more than once for one append.

mod resequence;

pub(super) use resequence::Turns;

use super::shared_log::ATTEMPTS;
use super::workspace::thread_of;
use super::{Entry, Origin, RunStatus, Runs, status};
use crate::clock::Moment;
use crate::log::{ByStream, LogError, StreamId, Summary, stream_id, weight};
use framegate_translators::artifacts::Artifact;
use framegate_translators::frame::{Frame, Stream, StreamKind};
use framegate_translators::warnings::Warning;
use std::borrow::Cow;
use std::sync::Arc;

/// A stream that an append affects, with its status after the append.
pub(super) struct Touched {
    pub(super) id: StreamId,
    /// The number of the first frame.
    pub(super) first: u64,
    stream: Arc<Stream>,
    /// `None` if the stream is new.
    entry: Option<Arc<Entry>>,
    status: RunStatus,
    /// Warnings to report, each with the number of the frame that caused it.
    warned: Vec<(Warning, u64)>,
    /// The status as it is stored with the frames; only in a log that several proxies share.
    stored: Option<String>,
    /// The upstream of the stream, if it is new.
    upstream: Option<Arc<str>>,
}

impl Touched {
    fn new(runs: &Runs, first: &Frame, origin: &Origin) -> Self {
        let entry = runs.find(stream_id(first));
        let status = match &entry {
            Some(entry) => RunStatus { not_kept: None, ..entry.status().clone() },
            None if first.stream.kind == StreamKind::Session => {
                RunStatus { labels: origin.labels.clone(), ..runs.begun(first) }
            }
            None => RunStatus::new(first),
        };
        Self {
            id: stream_id(first),
            first: first.seq,
            stream: first.stream.clone(),
            entry,
            status,
            warned: Vec::new(),
            stored: None,
            upstream: origin.upstream.clone(),
        }
    }

    /// Whether this belongs to the append with which the log stored `status`. An append whose answer was lost may be stored after all, and its frames
    /// may have been sent again with other times.
    pub(super) fn is_of(&self, status: Option<&str>) -> bool {
        // A status that is too long is not stored.
        status.is_none_or(|status| self.stored.as_deref() == Some(status))
    }

    fn summary(&mut self) -> Summary {
        Summary::of(self.id, &mut self.status)
    }
}

impl Runs {
    /// Stores artifacts. Must be called before the frames that refer to them are appended. If the store rejects an artifact,
    /// this is logged and the run goes on: the record still has the content.
    pub async fn store(&self, artifacts: Vec<Artifact>) {
        let Some(store) = self.artifacts() else { return };
        for artifact in artifacts {
            let (run, id) = (artifact.stream.id, artifact.id());
            let entry = self.find((artifact.stream.kind, run)).filter(|_| self.pruning.is_bounded());
            // Not while the stream's front is being dropped: that may remove this artifact, if only the front has referred to
            // it so far.
            let _turn = match &entry {
                Some(entry) => {
                    let turn = entry.prune_turn.lock().await;
                    entry.artifact_refs().stored(&artifact);
                    Some(turn)
                }
                None => None,
            };
            if let Err(error) = store.put(Arc::new(artifact)).await {
                self.metrics.artifact_failed();
                tracing::warn!(%run, artifact = &*id, %error, "an artifact could not be stored");
            }
        }
    }

    /// Keeps the frames of one ingest, then wakes their readers: once for each stream, however many frames it got. Returns the
    /// frames as they were kept: a thread or task stream that an earlier ingest began continues its numbers.
    ///
    /// # Errors
    /// The log's error; no frame was kept.
    pub async fn append<'f>(&self, frames: &'f [Arc<Frame>]) -> Result<Cow<'f, [Arc<Frame>]>, LogError> {
        self.append_arrived(frames, Moment::now(), &Origin::default()).await
    }

    /// Like [`Runs::append`], for frames whose bytes arrived at `arrived`. Runs that begin with these frames get what the origin has.
    ///
    /// # Errors
    /// As for [`Runs::append`].
    pub async fn append_arrived<'f>(
        &self,
        frames: &'f [Arc<Frame>],
        arrived: Moment,
        origin: &Origin,
    ) -> Result<Cow<'f, [Arc<Frame>]>, LogError> {
        if frames.is_empty() {
            return Ok(Cow::Borrowed(frames));
        }
        let _turns = self.turns.take(frames).await;
        let mut attempts = 0;
        let (frames, grown) = loop {
            self.forget_dropped().await;
            let frames = resequence::resequenced(frames, &|id| self.find(id));
            let touched = self.touched(&frames, origin);
            let begun = Moment::now();
            let kept = self.append_once(&frames, touched, arrived).await;
            if let Err((LogError::Sequence { .. }, touched)) = &kept
                && self.went(touched, &mut attempts).await
            {
                continue;
            }
            self.metrics.appended(begun.elapsed(), kept.is_ok());
            match kept {
                Ok(grown) => break (frames, grown),
                Err((error, touched)) => {
                    let why = if error.is_full() { "log_full" } else { "log_failed" };
                    // If another proxy has written to the stream, nothing of it waits here.
                    let is_waiting = self.log.shared().is_none() || !matches!(error, LogError::Sequence { .. });
                    touched
                        .iter()
                        .filter_map(|known| known.entry.as_ref().filter(|_| is_waiting))
                        .for_each(|entry| entry.status().not_kept = Some(why));
                    return Err(error);
                }
            }
        };
        self.metrics.kept(&frames);
        for watcher in self.watchers.iter().filter(|watcher| !origin.is_history || watcher.wants_history()) {
            watcher.kept(&frames);
        }
        for frame in frames.iter() {
            status::tell_bounds(frame);
            self.totals.frame(frame);
            self.count_cost(frame);
        }
        self.forget_dropped().await;
        // One pass over the frames, however many streams they belong to.
        let mut by_stream: ByStream<Vec<&Arc<Frame>>> = ByStream::default();
        for frame in frames.iter() {
            by_stream.entry(stream_id(frame)).or_default().push(frame);
        }
        for (entry, before) in grown {
            if before == 0 && self.log.shared().is_none() {
                self.forget_gone(entry.id()).await;
            }
            let mine = by_stream.remove(&entry.id()).unwrap_or_default();
            if self.artifacts.is_some() && self.pruning.is_bounded() {
                let mut refs = entry.artifact_refs();
                mine.iter().for_each(|frame| refs.frame(frame));
            }
            self.request_checkpoints(&entry, before);
            self.prune_beyond_bounds(&entry, mine.iter().map(|frame| weight(frame)).sum()).await;
        }
        Ok(frames)
    }

    /// Appends frames, and registers them with their streams. Returns the streams, each with the number of frames it had before.
    async fn append_once(
        &self,
        frames: &[Arc<Frame>],
        mut touched: Vec<Touched>,
        arrived: Moment,
    ) -> Result<Vec<(Arc<Entry>, u64)>, (LogError, Vec<Touched>)> {
        let summaries =
            if self.log.is_durable() { touched.iter_mut().map(Touched::summary).collect() } else { Vec::new() };
        if self.log.shared().is_some() {
            for (known, summary) in touched.iter_mut().zip(&summaries) {
                known.stored = Some(summary.status.clone());
            }
            let before: Vec<(StreamId, u64)> = touched.iter().map(|known| (known.id, known.first)).collect();
            let expected = self.shared_order.expect(touched);
            return match self.log.append(frames, summaries).await {
                Ok(place) => {
                    if !self.shared_order.wait_for(place.behind).await {
                        return Err((LogError::Closed, expected.take_back()));
                    }
                    Ok(before.into_iter().filter_map(|(id, before)| Some((self.find(id)?, before))).collect())
                }
                Err(error) => Err((error, expected.take_back())),
            };
        }
        match self.log.append(frames, summaries).await {
            Ok(place) => {
                let grown = touched.into_iter().map(|known| self.register(known, arrived)).collect();
                // No await between the log's answer and this call: the feed would have to wait for the positions.
                self.feed.append(place.first, frames, self.log.take_abandoned(), arrived);
                Ok(grown)
            }
            Err(error) => Err((error, touched)),
        }
    }

    /// Gives a stream its status after frames that the log has. Returns it with the number of frames it had before.
    pub(super) fn register(&self, known: Touched, arrived: Moment) -> (Arc<Entry>, u64) {
        let before = known.entry.as_ref().map_or(0, |entry| entry.tail.borrow().frames);
        let entry = match known.entry {
            Some(entry) => {
                self.registry.learn(&entry, &known.status);
                entry
            }
            None => {
                let entry = Entry::new(known.stream, known.status.clone());
                self.registry.insert(Entry { upstream: known.upstream, ..entry })
            }
        };
        for (warning, seq) in known.warned {
            self.metrics.warned(known.status.runner, warning);
            known.status.tell(warning, seq);
        }
        entry.adopt(known.status, arrived);
        self.mark_changed(entry.id());
        (entry, before)
    }

    /// The streams that the frames belong to, with their statuses after the frames.
    fn touched(&self, frames: &[Arc<Frame>], origin: &Origin) -> Vec<Touched> {
        // Usually there is only one stream, and a `Touched` is large.
        let mut touched: Vec<Touched> = Vec::with_capacity(1);
        let mut places: ByStream<usize> = ByStream::default();
        let mut last = 0;
        for frame in frames {
            let id = stream_id(frame);
            // Most frames belong to the same stream as the frame before.
            let at = match touched.get(last).filter(|known| known.id == id) {
                Some(_) => last,
                None => *places.entry(id).or_insert_with(|| {
                    let mut new = Touched::new(self, frame, origin);
                    let thread = thread_of(&frame.stream);
                    if let Some(thread) = touched.iter().find(|known| known.id == thread && new.id != thread) {
                        new.status.workspace.complete(thread.status.workspace.clone());
                    }
                    touched.push(new);
                    touched.len() - 1
                }),
            };
            last = at;
            if let Some(known) = touched.get_mut(at) {
                known.status.observe(frame, &mut known.warned);
            }
        }
        for new in touched.iter_mut().filter(|known| known.entry.is_none() && known.id.0 == StreamKind::Session) {
            origin.workplace.share(&new.stream, &mut new.status);
        }
        touched
    }

    /// Whether a stream was evicted after its frames were numbered: then the frames start a new stream. Each stream causes at
    /// most one retry. A stream that is not in the log cannot be evicted, and the turn keeps other ingests from appending to
    /// it. In a log that several proxies share, also whether another proxy appended to a thread or a task first.
    async fn went(&self, touched: &[Touched], attempts: &mut u32) -> bool {
        self.forget_dropped().await;
        if self.log.shared().is_some() {
            *attempts += 1;
            self.catch_up().await;
            let is_overtaken = |known: &Touched| {
                known.id.0 != StreamKind::Session
                    && self.find(known.id).map_or(0, |entry| entry.frames()) != known.first
            };
            if *attempts < ATTEMPTS && touched.iter().any(is_overtaken) {
                return true;
            }
        }
        touched.iter().any(|known| known.entry.is_some() && self.find(known.id).is_none())
    }

    /// The ingest of a stream reports a pause after the newest frame. Wakes the readers: an encoder may hold an event back that
    /// is due now.
    pub fn pause(&self, id: StreamId, until_ms: u64) {
        if let Some(entry) = self.find(id) {
            entry.tail.send_modify(|tail| (tail.paused_until_ms, tail.arrived) = (Some(until_ms), None));
        }
    }
}
