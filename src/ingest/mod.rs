//! Drives one runner's output into the log.
//!
//! In: chunks of bytes from wherever they come. Out: frames in the log, readers awake. Never: much more input than the log has
//! kept (that is the back-pressure), an open run behind the end of the input.

mod ahead;
mod bounds;
mod drift;
mod pump;
#[cfg(test)]
mod tests;
mod whose;

pub use bounds::{AHEAD_BYTES, Beyond, Bounds};
pub use pump::{Source, Stopped, pump, until_known};
pub use whose::{Whose, unknown};

use crate::clock::{Arrival, Clock, Moment};
use crate::log::{LogError, StreamId, stream_id};
use crate::runs::{Ingested, Runs};
use bounds::Account;
use framegate_translators::artifacts::Artifact;
use framegate_translators::decode::Record;
use framegate_translators::frame::{ApprovalResolved, Frame};
use framegate_translators::framing::{Framing, Limits};
use framegate_translators::ledger::RunEnd;
use framegate_translators::pipeline;
use framegate_translators::recognise::Window;
use framegate_translators::redact::Rules;
use framegate_translators::runners::Runner;
use framegate_translators::sequence::Identity;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// Why an ingest was stopped before its end; every run of it is closed, and nothing may be fed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IngestError {
    /// The log took nothing more.
    #[error(transparent)]
    Log(#[from] LogError),
    /// It made what it may not.
    #[error(transparent)]
    Beyond(#[from] Beyond),
}

impl IngestError {
    /// The code of runs that were open then.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Log(error) if error.is_full() => "log_full",
            Self::Log(_) => "log_failed",
            Self::Beyond(_) => "limit",
        }
    }
}

/// The code of a run that was open when the proxy stopped.
pub const PROXY_STOPPING: &str = "proxy_stopping";

/// Who listens while an ingest goes on, to speak to the runner.
pub trait Listener: Send {
    /// Hears the next record, as it came.
    fn record(&mut self, record: &Record<'_>);

    /// Sees the frames that are made of them, before they are kept or anybody else sees them, and may say of a decision whose
    /// it was.
    fn amend(&mut self, frames: &mut [Frame]);

    /// Hears what frames are kept now.
    fn frames(&mut self, frames: &[Arc<Frame>]);
}

/// One ingest.
pub struct Ingest {
    runs: Arc<Runs>,
    pipeline: pipeline::Ingest,
    ingested: Ingested,
    whose: Whose,
    account: Account,
    /// When the last bytes came.
    fed: Arrival,
}

impl Ingest {
    /// An ingest at the start of its input. Without `framing`, the first bytes tell it.
    pub fn new(runs: Arc<Runs>, runner: &Runner, framing: Option<Framing>, limits: Limits) -> Self {
        let identity = Identity { run_id: Clock::System.new_id(), session_id: None };
        Self::of(runs, pipeline::Ingest::new(runner, framing, limits, identity))
    }

    /// An ingest that finds out by itself whose output it reads; until it knows, no run begins.
    pub fn auto(runs: Arc<Runs>, framing: Option<Framing>, limits: Limits) -> Self {
        let identity = Identity { run_id: Clock::System.new_id(), session_id: None };
        Self::of(runs, pipeline::Ingest::auto(framing, limits, identity, Window::default()))
    }

    /// Compares each record with what is known of its runner.
    #[must_use]
    pub fn watching_drift(self) -> Self {
        Self { pipeline: self.pipeline.watching_drift(), ..self }
    }

    /// Redacts each record before anything is made of it.
    #[must_use]
    pub fn redacting(self, rules: Arc<Rules>) -> Self {
        Self { pipeline: self.pipeline.redacting(rules), ..self }
    }

    /// How long the next bytes may take; then [`Ingest::flush`] is due. `None` where no record waits for them.
    pub fn patience(&self) -> Option<Duration> {
        Some(self.fed.until(self.pipeline.deadline()?))
    }

    /// Nobody follows what it makes as a whole, so that it holds nothing for its length.
    #[must_use]
    pub fn unfollowed(self) -> Self {
        Self { ingested: Ingested::unfollowed(), ..self }
    }

    /// Makes no more than that.
    #[must_use]
    pub fn within(self, bounds: Bounds) -> Self {
        Self { account: Account::new(bounds), ..self }
    }

    fn of(runs: Arc<Runs>, pipeline: pipeline::Ingest) -> Self {
        let pipeline = match runs.artifact_bounds() {
            Some(bounds) => pipeline.with_artifacts(bounds),
            None => pipeline,
        };
        Self {
            runs,
            pipeline,
            ingested: Ingested::default(),
            whose: Whose::default(),
            account: Account::default(),
            fed: Arrival::now(Clock::System),
        }
    }

    /// Whether it is known whose output it is.
    pub fn is_known(&self) -> bool {
        self.pipeline.is_known()
    }

    /// Whether it could not be found out whose output it is. Nothing was kept of it then.
    pub fn is_unknown(&self) -> bool {
        self.pipeline.is_unknown()
    }

    /// What the ingest makes; can be followed from its beginning at any time.
    pub fn ingested(&self) -> Ingested {
        self.ingested.clone()
    }

    /// Something comes now.
    fn arrive(&mut self) -> Arrival {
        self.fed = Arrival::now(Clock::System);
        self.fed
    }

    /// Takes the next bytes. On return their frames are kept.
    ///
    /// # Errors
    /// Why nothing more is taken.
    pub async fn feed(&mut self, chunk: &[u8]) -> Result<(), IngestError> {
        let arrived = self.arrive();
        let frames = self.pipeline.feed(chunk, arrived.ms).map(Arc::new).collect();
        self.take_in(frames, arrived.moment, None).await
    }

    /// As [`Ingest::feed`], with somebody who listens.
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

    /// Nothing came in time: lets go what waited for it.
    ///
    /// # Errors
    /// As for [`Ingest::feed`].
    pub async fn flush(&mut self) -> Result<(), IngestError> {
        let frames = self.due().into_iter().map(Arc::new).collect();
        self.take_in(frames, Moment::now(), None).await
    }

    /// Waits for something, and meanwhile lets go what waited too long for more input.
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

    /// As [`Ingest::flush`], with somebody who listens.
    ///
    /// # Errors
    /// As for [`Ingest::feed`].
    pub async fn flush_to(&mut self, listener: &mut dyn Listener) -> Result<(), IngestError> {
        let mut frames = self.due();
        listener.amend(&mut frames);
        self.take_in(frames.into_iter().map(Arc::new).collect(), Moment::now(), Some(listener)).await
    }

    fn due(&mut self) -> Vec<Frame> {
        // By the clock of the last bytes: the system's may have been set since.
        let due = self.pipeline.deadline().unwrap_or_default();
        self.pipeline.flush(due).collect()
    }

    /// A question in an open stream was answered by the host: says so, once.
    ///
    /// # Errors
    /// As for [`Ingest::feed`].
    pub async fn resolve(&mut self, stream: StreamId, answer: ApprovalResolved) -> Result<(), IngestError> {
        let frames = self.pipeline.resolve(stream, answer, Clock::System.now_ms()).map(Arc::new).collect();
        self.take_in(frames, Moment::now(), None).await
    }

    /// The input broke off, and goes on behind a gap that nobody knows the size of.
    ///
    /// # Errors
    /// As for [`Ingest::feed`].
    pub async fn gap_to(&mut self, reason: &str, listener: &mut dyn Listener) -> Result<(), IngestError> {
        let frames = self.pipeline.gap(reason, Clock::System.now_ms()).map(Arc::new).collect();
        self.take_in(frames, Moment::now(), Some(listener)).await
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
        let frames = self.pipeline.give_up(run, code, message, Clock::System.now_ms()).map(Arc::new).collect();
        self.take_in(frames, Moment::now(), Some(listener)).await
    }

    async fn take_in(
        &mut self,
        frames: Vec<Arc<Frame>>,
        arrived: Moment,
        listener: Option<&mut dyn Listener>,
    ) -> Result<(), IngestError> {
        let kept = match self.allow(&frames) {
            Ok(()) => {
                self.store().await;
                keep(&self.runs, &self.ingested, &frames, arrived).await.map_err(IngestError::from)
            }
            Err(beyond) => Err(beyond.into()),
        };
        match kept {
            Ok(()) => {
                self.ingested.wake(frames.len(), arrived, false);
                if let Some(listener) = listener {
                    listener.frames(&frames);
                }
                Ok(())
            }
            Err(error) => Err(self.fail(frames, arrived, error).await),
        }
    }

    /// Tells what is new in frames that were just made, and whether they may be.
    fn allow(&mut self, frames: &[Arc<Frame>]) -> Result<(), Beyond> {
        self.whose.tell(&mut self.pipeline);
        drift::tell(&mut self.pipeline);
        self.account.admit(frames).and_then(|()| self.account.count(frames))
    }

    /// Closes what is open, behind the frames that were made and are not kept. Gives the reason back.
    async fn fail(&mut self, frames: Vec<Arc<Frame>>, arrived: Moment, error: IngestError) -> IngestError {
        self.pipeline.cut_by(RunEnd::interrupted(error.code(), error.to_string()));
        // The frames are numbered: they go in with those that close the runs, which always find room.
        let closing = self.pipeline.finish(Clock::System.now_ms()).map(Arc::new);
        let all: Vec<_> = frames.into_iter().chain(closing).collect();
        // What kept it from going on says more than what keeps it from being closed.
        let _ = self.close(all, arrived).await;
        error
    }

    /// It is known why the input ends without the runner's word: runs that are open at [`Ingest::finish`] end like that.
    pub fn cut_by(&mut self, end: RunEnd) {
        self.pipeline.cut_by(end);
    }

    /// The proxy stops before the input is over: runs that are open at [`Ingest::finish`] say so.
    pub fn cut_by_stop(&mut self) {
        let message = "the proxy stopped before the runner said how the run ended";
        self.cut_by(RunEnd::interrupted(PROXY_STOPPING, message));
    }

    /// The input is over, well or badly: what is open is closed. Gives the number of records; `None` where nobody knows
    /// whose they are.
    ///
    /// # Errors
    /// The log's, or that the last of the input was what may not be made.
    pub async fn finish(mut self) -> Result<Option<u64>, IngestError> {
        let arrived = Moment::now();
        let frames: Vec<_> = self.pipeline.finish(Clock::System.now_ms()).map(Arc::new).collect();
        self.whose.tell(&mut self.pipeline);
        drift::tell(&mut self.pipeline);
        let allowed = self.account.admit(&frames);
        self.close(frames, arrived).await?;
        allowed?;
        Ok((!self.pipeline.is_unknown()).then(|| self.pipeline.records()))
    }

    /// Keeps the last frames that there are. Those that the sender may not make are left out.
    async fn close(&mut self, mut frames: Vec<Arc<Frame>>, arrived: Moment) -> Result<(), LogError> {
        frames.retain(|frame| self.account.admits(&frame.stream));
        self.store().await;
        let kept = keep(&self.runs, &self.ingested, &frames, arrived).await;
        self.account.close();
        if kept.is_err() {
            tokio::spawn(close_later(self.runs.clone(), self.ingested.clone(), frames));
        } else {
            self.ingested.wake(frames.len(), arrived, true);
        }
        kept
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

/// How long is waited before closing frames are tried again, at first and at most.
const TRY_AGAIN: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

/// Tries until the frames that close an ingest's runs find room, so that no reader waits for ever. What was never
/// acknowledged, because the log took none of a run, is not brought in later.
async fn close_later(runs: Arc<Runs>, ingested: Ingested, frames: Vec<Arc<Frame>>) {
    let is_known = |frame: &&Arc<Frame>| runs.find(stream_id(frame)).is_some();
    let frames: Vec<_> = frames.iter().filter(is_known).cloned().collect();
    let (mut pause, most) = TRY_AGAIN;
    let mut made = 0;
    while !frames.is_empty() {
        tokio::time::sleep(pause).await;
        match keep(&runs, &ingested, &frames, Moment::now()).await {
            Ok(()) => {
                made = frames.len();
                break;
            }
            Err(error) => tracing::warn!(%error, "runs could not be closed yet"),
        }
        pause = (pause * 2).min(most);
    }
    ingested.wake(made, Moment::now(), true);
}

async fn keep(runs: &Runs, ingested: &Ingested, frames: &[Arc<Frame>], arrived: Moment) -> Result<(), LogError> {
    let frames = runs.append_arrived(frames, arrived).await?;
    for group in frames.chunk_by(|one, other| stream_id(one) == stream_id(other)) {
        let Some(last) = group.last() else { continue };
        if let Some(entry) = runs.find(stream_id(last)) {
            ingested.step(&entry, last.seq + 1);
        }
    }
    Ok(())
}
