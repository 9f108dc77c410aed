//! Drives one runner's output into the log.
//!
//! Input: chunks of bytes from any source. Output: frames in the log, and readers that are woken. Never: input far ahead of what the
//! log has stored (backpressure), or an open run after the end of the input.

mod bounds;
mod closing;
mod counterparts;
mod cut;
mod decoded;
mod drift;
mod factory;
#[cfg(test)]
mod history_tests;
mod hosted;
mod identification;
mod keep;
mod known_streams;
mod pipelined_append;
mod pump;
mod repeats;
mod same_record;
#[cfg(test)]
mod tests;
mod thread_records;

pub use bounds::Beyond;
pub use cut::{FEED_LOST, PROXY_STOPPING};
pub use decoded::{Decoded, RunSession};
pub use factory::{IngestFactory, Settings};
pub use identification::{IdentificationReporter, Seen, counted, unknown};
pub use pump::{Source, Stopped, pump, until_known};

use crate::clock::{Arrival, Clock, Moment};
use crate::log::LogError;
use crate::runs::labels::Labels;
use crate::runs::{Ingested, LOG_FAILED, Origin, Runs};
use bounds::{Account, Bounds};
use closing::{close_later, cut_short};
use cut::{LOG_FULL, is_cut, was_cut};
use framegate_translators::artifacts::Artifact;
use framegate_translators::decode::Record;
use framegate_translators::frame::Frame;
use framegate_translators::host::PromptFile;
use framegate_translators::normalizer::RunEnd;
use framegate_translators::pipeline::{self, Pause};
use keep::{keep, pause};
use known_streams::KnownStreams;
use repeats::Repeats;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// Why an ingest stopped before its end. All of its runs are closed, and it accepts no more input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IngestError {
    /// The log refused to append.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A limit or the sender's restriction forbids what the input would create.
    #[error(transparent)]
    Beyond(#[from] Beyond),
}

impl IngestError {
    /// The error code of the runs that were open at that time.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Log(error) if error.is_full() => LOG_FULL,
            Self::Log(_) => LOG_FAILED,
            Self::Beyond(_) => "limit",
        }
    }
}

/// Observes an ingest in order to talk to the runner.
pub trait Listener: Send {
    /// Receives the next record, unchanged.
    fn record(&mut self, record: &Record<'_>);

    /// Receives the frames decoded from the records before they are stored or delivered, and may record who took a decision.
    fn amend(&mut self, frames: &mut [Frame]);

    /// Receives the frames that were stored.
    fn frames(&mut self, frames: &[Arc<Frame>]);
}

/// One ingest.
pub struct Ingest {
    runs: Arc<Runs>,
    pipeline: pipeline::Ingest,
    ingested: Ingested,
    identification: IdentificationReporter,
    account: Account,
    clock: Clock,
    /// What the runs that begin in this input get.
    origin: Origin,
    /// The streams with ids of other proxies.
    known: KnownStreams,
    /// `None` if repeated runs are stored again.
    repeats: Option<Repeats>,
    /// When the last bytes arrived.
    fed: Arrival,
}

impl Ingest {
    /// An ingest with the settings of `runs` for what its frames hold. Called by [`IngestFactory`] alone.
    fn new(runs: Arc<Runs>, pipeline: pipeline::Ingest, bounds: Bounds) -> Self {
        let pipeline =
            pipeline.holding_ends(runs.end_hold()).remembering(runs.totals()).with_open_tools(runs.open_tools());
        let pipeline = match runs.artifact_bounds() {
            Some(bounds) => pipeline.with_artifacts(bounds),
            None => pipeline,
        };
        Self {
            runs,
            pipeline,
            ingested: Ingested::default(),
            identification: IdentificationReporter::default(),
            account: Account::new(bounds),
            clock: Clock::System,
            origin: Origin::default(),
            known: KnownStreams::default(),
            repeats: None,
            fed: Arrival::now(Clock::System),
        }
    }

    /// The input is a recording that began at this time (Unix epoch milliseconds). Records without a time of their own get times
    /// counted from there.
    #[must_use]
    pub fn recorded_at(self, unix_ms: u64) -> Self {
        let clock = Clock::Since(unix_ms, Moment::now());
        Self { clock, fed: Arrival::now(clock), ..self }
    }

    /// How long the next bytes may take before [`Ingest::flush`] is due. `None` if no record is waiting.
    pub fn patience(&self) -> Option<Duration> {
        Some(self.fed.until(self.pipeline.deadline()?))
    }

    /// The ingest as a whole has no reader, so it keeps no list of its steps.
    #[must_use]
    pub fn unfollowed(self) -> Self {
        Self { ingested: Ingested::unfollowed(), ..self }
    }

    /// The input is the feed of another proxy: its runs go on there, even if nothing arrives for a while.
    #[must_use]
    pub fn of_another_proxy(self) -> Self {
        Self { known: KnownStreams::live(), pipeline: self.pipeline.of_timed_feed(), ..self }
    }

    /// Gives the runs that begin in this input these labels.
    #[must_use]
    pub fn labelled(self, labels: Labels) -> Self {
        Self { origin: Origin { labels, ..self.origin }, ..self }
    }

    /// The runs that begin in this input belong to an upstream.
    #[must_use]
    pub fn of_upstream(self, name: &str) -> Self {
        Self { origin: Origin { upstream: Some(name.into()), ..self.origin }, ..self }
    }

    /// Assigns runs without a session of their own to this session.
    #[must_use]
    pub fn within_session(self, session: &str) -> Self {
        Self { pipeline: self.pipeline.within_session(session), ..self }
    }

    /// A run answers this prompt, which the proxy sends with these files: the next one, or one after it if other prompts wait.
    pub fn expect_prompt(&mut self, prompt: &str, files: &[PromptFile]) {
        self.pipeline.expect_prompt(prompt, files);
    }

    /// The name of the runner, once it is known.
    pub fn runner(&self) -> Option<&'static str> {
        self.pipeline.runner()
    }

    /// The next run answers none of the prompts that wait.
    pub fn forget_prompts(&mut self) {
        self.pipeline.forget_prompts();
    }

    /// Stores no run that the log already has. `is_complete`: the input was complete before it was sent.
    #[must_use]
    pub fn recognising_repeats(self, is_complete: bool) -> Self {
        Self { repeats: Some(Repeats::new(is_complete)), ..self }
    }

    /// The input is a session file that the runner has written: stores no run that the log already has, from whichever output of the
    /// runner.
    #[must_use]
    pub fn of_history(self) -> Self {
        Self { repeats: Some(Repeats::in_history()), origin: Origin { is_history: true, ..self.origin }, ..self }
    }

    /// Whether the runner is known.
    pub fn is_known(&self) -> bool {
        self.pipeline.is_known()
    }

    /// Whether the runner could not be recognised. Nothing was stored in that case.
    pub fn is_unknown(&self) -> bool {
        self.pipeline.is_unknown()
    }

    /// What the ingest creates. A reader can follow it from its beginning at any time.
    pub fn ingested(&self) -> Ingested {
        self.ingested.clone()
    }

    /// Records that input or an event arrives now.
    fn arrive(&mut self) -> Arrival {
        self.fed = Arrival::now(self.clock);
        self.fed
    }

    /// Processes the next bytes. When it returns, their frames are stored.
    ///
    /// # Errors
    /// Why the ingest stops.
    pub async fn feed(&mut self, chunk: &[u8]) -> Result<(), IngestError> {
        let arrived = self.arrive();
        let frames = self.pipeline.feed(chunk, arrived.ms).map(Arc::new).collect();
        self.take_in(frames, arrived.moment, None).await
    }

    /// As [`Ingest::feed`], with a listener.
    ///
    /// # Errors
    /// As for [`Ingest::feed`].
    pub async fn feed_to(&mut self, chunk: &[u8], listener: &mut dyn Listener) -> Result<(), IngestError> {
        let arrived = self.arrive();
        let mut ear = |record: &Record<'_>| listener.record(record);
        let mut frames: Vec<Frame> = self.pipeline.feed_heard(chunk, arrived.ms, Some(&mut ear)).collect();
        listener.amend(&mut frames);
        self.take_in(frames.into_iter().map(Arc::new).collect(), arrived.moment, Some(listener)).await
    }

    /// The input was silent until the deadline: processes the records that waited for more.
    ///
    /// # Errors
    /// As for [`Ingest::feed`].
    pub async fn flush(&mut self) -> Result<(), IngestError> {
        let (frames, pauses) = self.due();
        self.take_in(frames.into_iter().map(Arc::new).collect(), Moment::now(), None).await?;
        pause(&self.runs, &self.ingested, &pauses);
        Ok(())
    }

    /// Waits for `awaited`, and flushes records whose deadline passes meanwhile.
    ///
    /// # Errors
    /// As for [`Ingest::feed`].
    pub async fn while_waiting<T>(&mut self, awaited: impl Future<Output = T>) -> Result<T, IngestError> {
        let mut awaited = std::pin::pin!(awaited);
        while let Some(patience) = self.patience() {
            match tokio::time::timeout(patience, &mut awaited).await {
                Ok(came) => return Ok(came),
                Err(_) => self.flush().await?,
            }
        }
        Ok(awaited.await)
    }

    /// As [`Ingest::flush`], with a listener.
    ///
    /// # Errors
    /// As for [`Ingest::feed`].
    pub async fn flush_to(&mut self, listener: &mut dyn Listener) -> Result<(), IngestError> {
        let (mut frames, pauses) = self.due();
        listener.amend(&mut frames);
        self.take_in(frames.into_iter().map(Arc::new).collect(), Moment::now(), Some(listener)).await?;
        pause(&self.runs, &self.ingested, &pauses);
        Ok(())
    }

    /// The frames and the pauses that are due. The pauses come after all frames so far.
    fn due(&mut self) -> (Vec<Frame>, Vec<Pause>) {
        // The clock of the last bytes decides: the system's clock may have been set since.
        let due = self.pipeline.deadline().unwrap_or_default();
        let frames = self.pipeline.flush(due).collect();
        (frames, self.pipeline.take_pauses(due))
    }

    /// The input broke off and continues after a gap of unknown size.
    ///
    /// # Errors
    /// As for [`Ingest::feed`].
    pub async fn gap_to(&mut self, reason: &str, listener: &mut dyn Listener) -> Result<(), IngestError> {
        let frames = self.pipeline.gap(reason, self.clock.now_ms()).map(Arc::new).collect();
        self.take_in(frames, Moment::now(), Some(listener)).await
    }

    /// The input broke off and continues with the unit in which it did, so nothing is missing.
    pub fn resume(&mut self) {
        self.pipeline.resume();
    }

    /// Ends an open run whose end was lost.
    ///
    /// # Errors
    /// As for [`Ingest::feed`].
    pub async fn give_up_to(
        &mut self,
        run: Uuid,
        code: &str,
        message: &str,
        listener: &mut dyn Listener,
    ) -> Result<(), IngestError> {
        let frames = self.pipeline.give_up(run, code, message, self.clock.now_ms()).map(Arc::new).collect();
        self.take_in(frames, Moment::now(), Some(listener)).await
    }

    async fn take_in(
        &mut self,
        frames: Vec<Arc<Frame>>,
        arrived: Moment,
        listener: Option<&mut dyn Listener>,
    ) -> Result<(), IngestError> {
        let allowed = self.allow(&frames);
        let (frames, artifacts) = self.sift(frames, false).await;
        let kept = match allowed {
            Ok(()) => {
                self.runs.store(artifacts).await;
                keep(&self.runs, &self.ingested, &frames, (arrived, &self.origin)).await.map_err(IngestError::from)
            }
            Err(beyond) => Err(beyond.into()),
        };
        match kept {
            Ok(()) => {
                self.ingested.wake(frames.len(), arrived, false);
                self.update_at_once().await;
                if let Some(listener) = listener {
                    listener.frames(&frames);
                }
                Ok(())
            }
            Err(error) => Err(self.fail(frames, arrived, error).await),
        }
    }

    /// Reports new warnings and drift, and checks that the frames are allowed.
    fn allow(&mut self, frames: &[Arc<Frame>]) -> Result<(), Beyond> {
        self.identification.tell(&mut self.pipeline);
        drift::tell(&mut self.pipeline);
        self.account.admit(frames).and_then(|()| self.account.count(frames))
    }

    /// Collects the artifacts of the frames, and removes from both what the log already has. `is_closing`: nothing follows.
    async fn sift(&mut self, frames: Vec<Arc<Frame>>, is_closing: bool) -> (Vec<Arc<Frame>>, Vec<Artifact>) {
        let artifacts = self.take_artifacts();
        let log = (&*self.runs, &self.account);
        let (before, replaced) = (self.known.again().len(), self.known.replaced());
        let (frames, artifacts) = self.known.sift((frames, artifacts), log, is_closing).await;
        self.known.again().iter().skip(before).for_each(|entry| self.ingested.repeat(entry));
        self.ingested.replace(self.known.replaced() - replaced);
        let Some(repeats) = &mut self.repeats else { return (frames, artifacts) };
        let before = repeats.again().len();
        let sifted = repeats.sift(frames, artifacts, log, self.fed.ms).await;
        for entry in repeats.again().iter().skip(before) {
            self.ingested.repeat(entry);
            self.origin.workplace.remember(&entry.stream, &entry.status().workspace);
        }
        sifted
    }

    /// Closes the open runs after frames that were created but not stored. Returns the reason.
    async fn fail(&mut self, frames: Vec<Arc<Frame>>, arrived: Moment, error: IngestError) -> IngestError {
        self.pipeline.cut_by(RunEnd::interrupted(error.code(), error.to_string()));
        // The frames are already numbered, so they are stored together with the frames that close the runs.
        let closing = self.pipeline.finish(self.clock.now_ms()).map(Arc::new);
        let mut all: Vec<_> = frames.into_iter().chain(closing).collect();
        self.known.give_up(&mut all);
        if let Some(repeats) = &mut self.repeats {
            repeats.give_up(&mut all);
        }
        match &error {
            IngestError::Log(unknown) if unknown.is_unreachable() => self.close_at_the_log(all, unknown.clone()).await,
            // The first error is the cause; an error from closing adds nothing.
            _ => drop(self.close(all, arrived).await),
        }
        error
    }

    /// The reason for a missing end is known: runs that are open at [`Ingest::finish`] end with it.
    pub fn cut_by(&mut self, end: RunEnd) {
        self.pipeline.cut_by(end);
    }

    /// The proxy stops before the input is over: runs that are open at [`Ingest::finish`] say so.
    pub fn cut_by_stop(&mut self) {
        let message = "the proxy stopped before the runner said how the run ended";
        self.cut_by(RunEnd::interrupted(PROXY_STOPPING, message));
    }

    /// The input is over: closes the open runs. Returns the number of records, or `None` if the runner was never recognised.
    ///
    /// # Errors
    /// The log's errors, or a limit that the last of the input exceeds.
    pub async fn finish(self) -> Result<Option<u64>, IngestError> {
        let seen = self.finish_seen().await?;
        Ok((!seen.is_unknown).then_some(seen.tally.records))
    }

    /// As [`Ingest::finish`]; returns what the input was.
    ///
    /// # Errors
    /// As for [`Ingest::finish`].
    pub async fn finish_seen(mut self) -> Result<Seen, IngestError> {
        let arrived = Moment::now();
        let frames: Vec<_> = self.pipeline.finish(self.clock.now_ms()).map(Arc::new).collect();
        self.identification.tell(&mut self.pipeline);
        drift::tell(&mut self.pipeline);
        let allowed = self.account.admit(&frames);
        let (frames, artifacts) = self.sift(frames, true).await;
        self.runs.store(artifacts).await;
        self.close(frames, arrived).await?;
        allowed?;
        self.update_stored().await;
        Ok(self.seen())
    }

    /// All frames so far are stored: updates earlier runs by them.
    async fn update_stored(&mut self) {
        let Some(repeats) = &mut self.repeats else { return };
        let before = repeats.replaced();
        repeats.update_stored(&self.runs).await;
        self.ingested.replace(repeats.replaced() - before);
    }

    /// The same, if that must not wait for the end of the input.
    async fn update_at_once(&mut self) {
        if self.repeats.as_ref().is_some_and(Repeats::updates_at_once) {
            self.update_stored().await;
        }
    }

    /// Describes the input so far.
    fn seen(&mut self) -> Seen {
        Seen {
            tally: self.pipeline.tally(),
            is_unknown: self.pipeline.is_unknown(),
            bad: self.pipeline.take_bad(),
            mistaken: self.identification.mistaken(),
        }
    }

    /// Stores the last frames, without those that the sender may not create.
    async fn close(&mut self, mut frames: Vec<Arc<Frame>>, arrived: Moment) -> Result<(), LogError> {
        frames.retain(|frame| self.account.admits(&frame.stream));
        self.store().await;
        let kept = keep(&self.runs, &self.ingested, &frames, (arrived, &self.origin)).await;
        self.account.close();
        match &kept {
            Err(error) if !cut_short(&self.runs, &self.ingested, &frames, error).await => {
                tokio::spawn(close_later(self.runs.clone(), self.ingested.clone(), frames, error.clone()));
            }
            _ => self.ingested.wake(frames.len(), arrived, true),
        }
        kept
    }

    /// Ends the runs at what the log has of them, since it may have some of these frames.
    async fn close_at_the_log(&mut self, mut frames: Vec<Arc<Frame>>, error: LogError) {
        frames.retain(|frame| self.account.admits(&frame.stream));
        self.account.close();
        tokio::spawn(close_later(self.runs.clone(), self.ingested.clone(), frames, error));
    }

    async fn store(&mut self) {
        let artifacts = self.take_artifacts();
        self.runs.store(artifacts).await;
    }

    fn take_artifacts(&mut self) -> Vec<Artifact> {
        let mut artifacts = self.pipeline.take_artifacts();
        artifacts.retain(|artifact| self.account.admits(&artifact.stream));
        artifacts
    }
}
