//! Making checkpoints: advances encoders over a stream, and saves their states.
//!
//! Input: streams that have grown, or that are about to lose their front. Output: a checkpoint of every encoder that clients
//! can ask for. Never: an append that waits for the checkpoints of a growing stream, or other tasks that wait for long.

use super::{ResumePoint, SharedCheckpoints};
use crate::log::{Checkpoint, CheckpointAt, LogError};
use crate::runs::recovery::LEFT_OPEN;
use crate::runs::{Entry, Runs};
use framegate_translators::contracts::{CONTRACTS, NUMBERED_RECORDS};
use framegate_translators::encode::{EncoderOptions, Events};
use std::sync::Arc;
use std::sync::atomic::Ordering;
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

impl Runs {
    /// Called after frames were appended to a stream that had `before` frames: asks the background task for the checkpoints
    /// that are due.
    pub(in crate::runs) fn request_checkpoints(&self, entry: &Entry, before: u64) {
        let frames = entry.tail.borrow().frames;
        if frames / CHECKPOINT_EVERY > before / CHECKPOINT_EVERY
            && let Some(checkpointer) = self.checkpointer.get()
        {
            // If the queue is full, the task is busy; the checkpoints are made the next time.
            let _ = checkpointer.try_send(entry.id());
        }
    }

    /// The encoders of a stream that depend on earlier frames, each at its last known point before a frame. With `all`, also
    /// those that no reader has asked for yet.
    pub(in crate::runs) async fn resume_points_before(
        &self,
        entry: &Arc<Entry>,
        frame: u64,
        all: bool,
    ) -> Result<Vec<(SharedCheckpoints, ResumePoint)>, LogError> {
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
        let mut points: Vec<(SharedCheckpoints, ResumePoint)> = Vec::new();
        for checkpoints in wanted {
            if points.iter().any(|(known, _)| known.is(&checkpoints)) {
                continue;
            }
            if let Some(point) = checkpoints.start(self, entry, &CheckpointAt::Frame(frame)).await? {
                points.push((checkpoints, point));
            }
        }
        // An encoder whose point is before the kept frames cannot be advanced, so it cannot make events of the kept frames
        // either.
        let kept = entry.gone().map_or(0, |gone| gone.frames);
        points.retain(|(_, point)| point.frame >= kept);
        Ok(points)
    }

    /// Advances the encoders to a frame.
    pub(in crate::runs) async fn advance(
        &self,
        entry: &Entry,
        points: &mut [(SharedCheckpoints, ResumePoint)],
        to: u64,
    ) -> Result<(), LogError> {
        let mut scratch = Events::unwritten();
        let mut at = points.iter().map(|(_, point)| point.frame).min().unwrap_or(to);
        while at < to {
            let most = usize::try_from(to - at).unwrap_or(AT_ONCE).min(AT_ONCE);
            let frames = self.log.read(entry.id(), at, most).await?;
            match frames.first() {
                Some(first) if first.seq == at => {}
                _ => return Err(LogError::Gone { stream: entry.stream.id, frames: at }),
            }
            for some in frames.chunks(IN_A_ROW) {
                for frame in some {
                    points.iter_mut().for_each(|(_, point)| point.advance(frame, &mut scratch));
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
        let (checkpointer, mut streams) = mpsc::channel(WAITING);
        if self.checkpointer.set(checkpointer).is_err() {
            return;
        }
        let runs = Arc::downgrade(self);
        tokio::spawn(async move {
            while let Some(stream) = streams.recv().await {
                let Some(runs) = runs.upgrade() else { return };
                let Some(entry) = runs.find(stream) else { continue };
                if let Err(error) = runs.make_checkpoints(&entry).await {
                    tracing::debug!(stream = %entry.stream.id, %error, "checkpoints could not be stored");
                }
            }
        });
    }

    /// Makes the checkpoints that are due for a stream.
    ///
    /// # Errors
    /// The log's error.
    pub async fn make_checkpoints(&self, entry: &Arc<Entry>) -> Result<(), LogError> {
        let frames = entry.tail.borrow().frames;
        let mut at = entry.checkpointed.load(Ordering::Relaxed) + CHECKPOINT_EVERY;
        if at > frames {
            return Ok(());
        }
        let mut points = self.resume_points_before(entry, at, false).await?;
        // An encoder whose state is too large leaves no checkpoints. It is skipped, so that it is not advanced over a long
        // distance again and again.
        points.retain(|(_, point)| point.frame + REACH + at / 64 >= at);
        while at <= frames {
            self.advance(entry, &mut points, at).await?;
            let is_small = |point: &ResumePoint| point.encoder.held_bytes() <= CHECKPOINT_BYTES;
            if self.log.is_durable() {
                let worth = points.iter().filter(|(_, point)| is_small(point));
                let checkpoints: Vec<Checkpoint> =
                    worth.filter_map(|(checkpoints, point)| checkpoints.save(point)).collect();
                self.log.keep_checkpoints(entry.id(), checkpoints).await?;
            }
            points.iter().for_each(|(checkpoints, point)| checkpoints.note(point));
            entry.checkpointed.store(at, Ordering::Relaxed);
            at += CHECKPOINT_EVERY;
        }
        Ok(())
    }
}
