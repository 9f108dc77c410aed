//! Streams that the proxy itself ends.
//!
//! Input: an open stream, and why it ends. Output: the frames that close what it left open, derived from the frames in the log.
//! Never: a log that exceeds its bound because of them (the stream's own front is dropped for its end, or the whole stream if
//! that is not enough); a stream that stays open because the log could not take its end at the time.

use super::recovery::LEFT_OPEN;
use super::{Entry, Runs};
use crate::clock::Clock;
use crate::log::{CheckpointAt, LogError};
use framegate_translators::frame::{Frame, StreamKind};
use framegate_translators::normalizer::{Reopened, RunEnd};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// How many frames are read at a time.
const AT_ONCE: usize = 1024;

/// Delay before streams that could not be closed are tried again: first and maximum.
const TRY_AGAIN: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

impl Runs {
    /// Ends a stream, closing what its frames in the log left open. If there is no room for its end, its front is dropped, then
    /// the whole stream.
    ///
    /// # Errors
    /// The log's error, unless the log has reached its own bound; the stream is unchanged.
    pub async fn cut_short(&self, entry: &Arc<Entry>, end: &RunEnd) -> Result<(), LogError> {
        if entry.status().ended || entry.is_dropped() {
            return Ok(());
        }
        match self.end_kept(entry, end).await {
            Err(LogError::Full { .. }) => {}
            Err(LogError::Dropped { .. }) => return Ok(()),
            done => return done,
        }
        self.prune(entry, u64::MAX, Clock::System.now_ms()).await?;
        match self.end_kept(entry, end).await {
            Err(LogError::Full { .. }) => {}
            Err(LogError::Dropped { .. }) => return Ok(()),
            done => return done,
        }
        tracing::warn!(stream = %entry.stream.id, "dropped a run that the log has no room to end");
        self.log.drop_stream(entry.id()).await?;
        self.forget_dropped().await;
        Ok(())
    }

    async fn end_kept(&self, entry: &Arc<Entry>, end: &RunEnd) -> Result<(), LogError> {
        let reopened = self.fold(entry, &mut |_| {}).await?;
        let closing: Vec<Arc<Frame>> =
            reopened.end(Clock::System.now_ms(), end.clone()).into_iter().map(Arc::new).collect();
        self.append(&closing).await.map(drop)
    }

    /// Computes what the frames of a stream leave open. `look` is called with each frame.
    pub(super) async fn fold(
        &self,
        entry: &Entry,
        look: &mut (dyn FnMut(&Frame) + Send),
    ) -> Result<Reopened, LogError> {
        let mut at = entry.gone().map_or(0, |gone| gone.frames);
        let mut reopened = Reopened::new(entry.stream.clone());
        if at > 0 {
            let checkpoint = self.log.checkpoint(entry.id(), LEFT_OPEN.0, &CheckpointAt::Frame(at)).await?;
            let known = entry.left_open().or(checkpoint.map(|checkpoint| checkpoint.state));
            match known.and_then(|state| Reopened::restore(entry.stream.clone(), &state)) {
                Some(known) => reopened = known,
                None => tracing::warn!(stream = %entry.stream.id, "the state before the first stored frame is unknown"),
            }
        }
        loop {
            let frames = self.log.read(entry.id(), at, AT_ONCE).await?;
            let Some(last) = frames.last() else { return Ok(reopened) };
            at = last.seq + 1;
            for frame in &frames {
                reopened.frame(frame);
                look(frame);
            }
        }
    }

    /// Remembers a stream for which the log did not accept the end.
    pub(super) fn close_later(&self, entry: &Arc<Entry>) {
        self.unclosed.lock().unwrap_or_else(PoisonError::into_inner).push(entry.clone());
    }

    /// Ends the streams that could not be closed when the proxy started, as soon as there is room. Returns once all are closed.
    pub async fn close_left_open(&self) {
        let (mut pause, most) = TRY_AGAIN;
        loop {
            let entries = std::mem::take(&mut *self.unclosed.lock().unwrap_or_else(PoisonError::into_inner));
            if entries.is_empty() {
                return;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(most);
            let mut left = Vec::new();
            for entry in entries {
                if !left.is_empty() {
                    // The same cause holds up the rest; they are tried again together.
                    left.push(entry);
                } else if let Err(error) = self.cut_short(&entry, &Reopened::restarted()).await {
                    tracing::debug!(stream = %entry.stream.id, %error, "a stream could not be closed yet");
                    left.push(entry);
                } else if entry.stream.kind == StreamKind::Session {
                    tracing::info!(run = %entry.stream.id, "a run that was open when the proxy stopped was closed");
                }
            }
            self.unclosed.lock().unwrap_or_else(PoisonError::into_inner).extend(left);
        }
    }
}
