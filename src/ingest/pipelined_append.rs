//! Reading ahead: input that arrives during an append is decoded at once, and goes into the next append.
//!
//! Input: chunks of one input, in order. Output: appends, one at a time, in the same order. Never: an append that does not wait
//! for the previous one; an answer before the frames that it is about are kept; more than
//! [`Settings::ahead_bytes`](super::Settings) waiting for an append, plus what the last piece of input made.
//!
//! A log in memory finishes an append at once, so nothing is read ahead. A log on disk shares its transaction and its sync
//! among the chunks that arrived while it was busy.

use super::keep::{keep, pause};
use super::{Ingest, IngestError};
use crate::clock::Moment;
use crate::log::{LogError, stream_id, weight};
use crate::runs::{Ingested, Origin, Runs};
use framegate_translators::artifacts::Artifact;
use framegate_translators::frame::Frame;
use framegate_translators::pipeline::Pause;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

/// How many bytes of input are decoded at a time during an append.
const PIECE_BYTES: usize = 16 << 10;

/// Frames for one append, and the artifacts that they refer to.
#[derive(Default)]
struct Batch {
    frames: Vec<Arc<Frame>>,
    artifacts: Vec<Artifact>,
    /// Pauses after these frames.
    pauses: Vec<Pause>,
    bytes: u64,
    /// When the first bytes of the batch arrived.
    arrived: Option<Moment>,
}

impl Batch {
    fn is_empty(&self) -> bool {
        self.frames.is_empty() && self.artifacts.is_empty() && self.pauses.is_empty()
    }

    fn add(&mut self, frames: Vec<Arc<Frame>>, artifacts: Vec<Artifact>, arrived: Moment) {
        let content: u64 = artifacts.iter().map(|artifact| artifact.content.len() as u64).sum();
        self.bytes += frames.iter().map(|frame| weight(frame)).sum::<u64>() + content;
        self.arrived.get_or_insert(arrived);
        self.pauses.retain(|pause| !frames.iter().any(|frame| stream_id(frame) == pause.stream));
        if self.frames.is_empty() && self.artifacts.is_empty() {
            (self.frames, self.artifacts) = (frames, artifacts);
        } else {
            self.frames.extend(frames);
            self.artifacts.extend(artifacts);
        }
    }
}

/// A batch, and whether it was kept.
type Kept = (Batch, Result<(), LogError>);

/// A batch that was not kept, and the reason.
type Lost = Box<(Batch, IngestError)>;

type Append = Pin<Box<dyn Future<Output = Kept> + Send>>;

/// An ingest that reads ahead.
pub(super) struct PipelinedAppend {
    ingest: Ingest,
    under_way: Option<Append>,
    /// Frames that wait for the append in progress.
    next: Batch,
}

impl PipelinedAppend {
    pub(super) fn of(ingest: Ingest) -> Self {
        Self { ingest, under_way: None, next: Batch::default() }
    }

    pub(super) fn ingest(&self) -> &Ingest {
        &self.ingest
    }

    /// Whether an append is in progress.
    pub(super) fn is_busy(&self) -> bool {
        self.under_way.is_some()
    }

    /// Decodes the next bytes, as soon as there is room for their frames.
    ///
    /// # Errors
    /// The reason why the ingest stopped.
    pub(super) async fn take(&mut self, chunk: &[u8]) -> Result<(), IngestError> {
        let (mut arrived, mut rest) = (self.ingest.arrive(), chunk);
        // Frames get the time at which their bytes were decoded. Latency is measured from when the bytes arrived.
        let moment = arrived.moment;
        loop {
            // During an append, bytes are decoded in pieces, so that their frames do not exceed the limit by much. The frames
            // do not depend on where the pieces are cut.
            let cut = if self.is_busy() { rest.len().min(PIECE_BYTES) } else { rest.len() };
            if self.is_busy() && self.next.bytes + cut as u64 > self.ingest.account.ahead_bytes() {
                let went_on = self.go_on().await;
                self.or_close(went_on).await?;
                arrived = self.ingest.arrive();
                continue;
            }
            let (piece, behind) = rest.split_at(cut);
            let frames = self.ingest.pipeline.feed(piece, arrived.ms).map(Arc::new).collect();
            let gathered = self.gather(frames, moment).await;
            self.or_close(gathered).await?;
            if behind.is_empty() || self.ingest.is_unknown() {
                return Ok(());
            }
            rest = behind;
            let looked = self.look().await;
            self.or_close(looked).await?;
            arrived = self.ingest.arrive();
        }
    }

    /// Waits for `awaited`. In the meantime appends go on, and records that waited too long for more input are released. `None`
    /// if an append finished first and no other began. The caller can then restart its idle timeout: the time blocked on the
    /// log does not count.
    ///
    /// # Errors
    /// The reason why the ingest stopped.
    pub(super) async fn while_waiting<T>(
        &mut self,
        awaited: impl Future<Output = T>,
    ) -> Result<Option<T>, IngestError> {
        let mut awaited = pin!(awaited);
        loop {
            if !self.is_busy() && self.next.is_empty() {
                self.ingest.update_at_once().await;
            }
            let patience = self.ingest.patience();
            let is_busy = self.is_busy();
            let due = async {
                match patience {
                    Some(patience) => tokio::time::sleep(patience).await,
                    None => std::future::pending().await,
                }
            };
            let went_on = tokio::select! {
                biased;
                // Checked first, because readers wait for the append.
                went_on = self.go_on(), if is_busy => went_on,
                came = &mut awaited => return Ok(Some(came)),
                () = due => {
                    let (frames, pauses) = self.ingest.due();
                    let frames = frames.into_iter().map(Arc::new).collect();
                    match self.gather(frames, Moment::now()).await {
                        Ok(()) => self.pause(pauses).await,
                        lost => lost,
                    }
                }
            };
            self.or_close(went_on).await?;
            if is_busy && !self.is_busy() {
                return Ok(None);
            }
        }
    }

    /// Waits until everything that was decoded is kept.
    ///
    /// # Errors
    /// The reason why it was not kept.
    pub(super) async fn settle(&mut self) -> Result<(), IngestError> {
        let settled = self.settled().await;
        self.or_close(settled).await
    }

    /// Returns the ingest once everything decoded so far is kept.
    ///
    /// # Errors
    /// See [`PipelinedAppend::settle`].
    pub(super) async fn into_ingest(mut self) -> Result<Ingest, IngestError> {
        self.settle().await?;
        Ok(self.ingest)
    }

    /// Appends frames now, or adds them to the batch that waits.
    async fn gather(&mut self, frames: Vec<Arc<Frame>>, arrived: Moment) -> Result<(), Lost> {
        match self.ingest.allow(&frames) {
            Ok(()) => {
                let (frames, artifacts) = self.ingest.sift(frames, false).await;
                self.next.add(frames, artifacts, arrived);
                if self.is_busy() { Ok(()) } else { self.begin().await }
            }
            Err(beyond) => {
                // The frames before these may still be kept.
                let mut lost = match self.settled().await {
                    Ok(()) => Box::new((Batch::default(), beyond.into())),
                    Err(lost) => lost,
                };
                // These frames already have their numbers, and the frames that close the runs are numbered after them.
                lost.0.add(frames, Vec::new(), arrived);
                Err(lost)
            }
        }
    }

    /// Wakes the readers of paused streams once the frames before the pauses are kept.
    async fn pause(&mut self, pauses: Vec<Pause>) -> Result<(), Lost> {
        self.next.pauses.extend(pauses);
        if self.is_busy() { Ok(()) } else { self.begin().await }
    }

    async fn settled(&mut self) -> Result<(), Lost> {
        while self.is_busy() {
            self.go_on().await?;
        }
        Ok(())
    }

    /// Waits for the append in progress, then starts the next one. Cancel-safe: nothing is lost if the future is dropped.
    async fn go_on(&mut self) -> Result<(), Lost> {
        let Some(append) = &mut self.under_way else { return Ok(()) };
        let kept = append.await;
        self.under_way = None;
        self.over(kept)?;
        self.begin().await
    }

    /// Starts the next append if the one in progress has finished. Does not wait.
    async fn look(&mut self) -> Result<(), Lost> {
        let mut on = pin!(self.go_on());
        match poll_fn(|context| Poll::Ready(on.as_mut().poll(context))).await {
            Poll::Ready(went_on) => went_on,
            Poll::Pending => Ok(()),
        }
    }

    /// Starts to append what waits. With a log in memory, the append has finished on return.
    async fn begin(&mut self) -> Result<(), Lost> {
        if self.next.is_empty() {
            return Ok(());
        }
        let batch = std::mem::take(&mut self.next);
        let mut append: Append =
            Box::pin(append(self.ingest.runs.clone(), self.ingest.ingested(), self.ingest.origin.clone(), batch));
        match poll_fn(|context| Poll::Ready(append.as_mut().poll(context))).await {
            Poll::Ready(kept) => self.over(kept),
            Poll::Pending => {
                self.under_way = Some(append);
                Ok(())
            }
        }
    }

    fn over(&mut self, (mut batch, kept): Kept) -> Result<(), Lost> {
        let Err(error) = kept else { return Ok(()) };
        let Batch { frames, artifacts, arrived, .. } = std::mem::take(&mut self.next);
        if let Some(arrived) = arrived {
            batch.add(frames, artifacts, arrived);
        }
        Err(Box::new((batch, error.into())))
    }

    /// If a batch was lost, closes the ingest's runs.
    async fn or_close(&mut self, went: Result<(), Lost>) -> Result<(), IngestError> {
        let Err(lost) = went else { return Ok(()) };
        let (Batch { frames, artifacts, arrived, .. }, error) = *lost;
        self.ingest.runs.store(artifacts).await;
        Err(self.ingest.fail(frames, arrived.unwrap_or_else(Moment::now), error).await)
    }
}

async fn append(runs: Arc<Runs>, ingested: Ingested, origin: Origin, mut batch: Batch) -> Kept {
    runs.store(std::mem::take(&mut batch.artifacts)).await;
    let arrived = batch.arrived.unwrap_or_else(Moment::now);
    let kept = keep(&runs, &ingested, &batch.frames, (arrived, &origin)).await;
    if kept.is_ok() {
        if !batch.frames.is_empty() {
            ingested.wake(batch.frames.len(), arrived, false);
        }
        pause(&runs, &ingested, &batch.pauses);
    }
    (batch, kept)
}
