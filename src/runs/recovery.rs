//! The start on a log that was there before.
//!
//! In: what the log has kept. Out: every stream known again, as it was; what was open when the proxy stopped is closed, and
//! its runs end as interrupted. Never: a frame of a stream that is over read for it, but the last of a run whose final text is long.

use super::front::Front;
use super::{Entry, RunStatus, Runs};
use crate::log::{KeptStream, LogError, MarkAt};
use framegate_translators::encode::{Encoder, Events, NewEncoder};
use framegate_translators::frame::{Body, Frame, Stream, StreamKind};
use framegate_translators::ledger::Reopened;
use std::collections::HashSet;
use std::sync::Arc;

/// How many frames are read at a time.
const AT_ONCE: usize = 1024;

impl Runs {
    /// Learns of the runs that the log has kept. What is open in it is closed at `now_ms` (Unix epoch milliseconds). In the
    /// feed, what was kept stands stream by stream. Called once, before anything is appended.
    ///
    /// # Errors
    /// Whatever keeps the log from being read, or the closing frames from being kept.
    pub async fn recover(&self, now_ms: u64) -> Result<(), LogError> {
        let streams = self.log.streams().await?;
        let broken: HashSet<_> = streams
            .iter()
            .filter(|kept| kept.stream.kind == StreamKind::Session && !kept.ended)
            .map(|kept| kept.stream.session.id)
            .collect();
        for kept in streams {
            let is_thread = kept.stream.kind == StreamKind::Thread;
            let is_run = kept.stream.kind == StreamKind::Session;
            // A thread never ends. Something can be open in it only where its session's run was broken off.
            let is_open = if is_thread { broken.contains(&kept.stream.session.id) } else { !kept.ended };
            let status = if is_open { None } else { known_status(&kept) };
            match status {
                Some(mut status) => {
                    // An older version did not note it.
                    let is_long = status.is_final_text_long.unwrap_or(status.final_text.is_none());
                    if is_run && is_long {
                        status.final_text = self.final_text(&kept).await;
                    }
                    self.learn(&kept, status);
                }
                None => self.reopen(&kept, is_open, now_ms).await?,
            }
        }
        Ok(())
    }

    /// The final text of a run that is over, as its last frame has it.
    async fn final_text(&self, kept: &KeptStream) -> Option<String> {
        let stream = &kept.stream;
        match self.log.read((stream.kind, stream.id), kept.frames.checked_sub(1)?, 1).await {
            Ok(frames) => match &frames.first()?.body {
                Body::SessionEnded(end) => end.final_text.clone(),
                _ => None,
            },
            Err(error) => {
                tracing::warn!(run = %stream.id, %error, "the end of a run could not be read");
                None
            }
        }
    }

    fn learn(&self, kept: &KeptStream, mut status: RunStatus) {
        let gone = kept.gone.map_or(0, |gone| gone.frames);
        status.pruned_frames = gone;
        status.is_final_text_long = None;
        let frames = status.frames;
        let entry = Entry::new(kept.stream.clone(), status);
        *entry.front() = Front::of_kept(kept.gone, frames);
        self.feed.learn(entry.id(), gone, frames);
        self.insert(entry);
    }

    /// Learns from its frames what is known of a stream, and closes what they left open.
    async fn reopen(&self, kept: &KeptStream, close: bool, now_ms: u64) -> Result<(), LogError> {
        let (stream, known) = (&kept.stream, known_status(kept));
        let id = (stream.kind, stream.id);
        let mut at = kept.gone.map_or(0, |gone| gone.frames);
        let mut reopened = self.left_open(kept, at).await?;
        let mut status: Option<RunStatus> = None;
        loop {
            let frames = self.log.read(id, at, AT_ONCE).await?;
            let Some(last) = frames.last() else { break };
            at = last.seq + 1;
            for frame in &frames {
                reopened.frame(frame);
                // It was warned of when the frames came.
                status.get_or_insert_with(|| RunStatus::new(frame)).observe(frame, &mut Vec::new());
            }
        }
        let Some(mut status) = status else { return Ok(()) };
        match known {
            // What was counted of frames that are gone, nobody can count again.
            Some(known) if kept.gone.is_some() => status = RunStatus { watch: status.watch, ..known },
            Some(known) => {
                status.events_checked = known.events_checked;
                status.validation_failures = known.validation_failures;
                status.events_withheld = known.events_withheld;
                status.exit = known.exit;
            }
            None => status.frames = at,
        }
        let (run, runner) = (status.run_id, status.runner);
        self.learn(kept, status);
        let closing: Vec<Arc<_>> =
            if close { reopened.close(now_ms).into_iter().map(Arc::new).collect() } else { Vec::new() };
        if stream.kind == StreamKind::Session && !closing.is_empty() {
            tracing::warn!(%run, runner, frames = at, "a run was open when the proxy stopped; it ends as interrupted");
        }
        self.append(&closing).await.map(drop)
    }

    /// What the frames of a stream left open that are gone.
    async fn left_open(&self, kept: &KeptStream, gone: u64) -> Result<Reopened, LogError> {
        let stream = &kept.stream;
        if gone > 0 {
            let mark = self.log.mark((stream.kind, stream.id), LEFT_OPEN.0, &MarkAt::Frame(gone)).await?;
            match mark.and_then(|mark| Reopened::restore(stream.clone(), &mark.state)) {
                Some(reopened) => return Ok(reopened),
                None => tracing::warn!(stream = %stream.id, "what was open where the stream is cut is not known"),
            }
        }
        Ok(Reopened::new(stream.clone()))
    }
}

/// What a stream left open, as something that is made of its frames; and the name by which it is kept.
pub(super) const LEFT_OPEN: (&str, NewEncoder) =
    ("left open", |stream, _| Some(Box::new(LeftOpen(Reopened::new(stream.clone()), stream.clone()))));

struct LeftOpen(Reopened, Arc<Stream>);

impl Encoder for LeftOpen {
    fn frame(&mut self, frame: &Frame, _: &mut Events) {
        self.0.frame(frame);
    }

    fn fork(&self) -> Box<dyn Encoder> {
        let mut fork = Self(Reopened::new(self.1.clone()), self.1.clone());
        fork.restore(&self.0.save());
        Box::new(fork)
    }

    fn save(&self) -> Option<Vec<u8>> {
        Some(self.0.save())
    }

    fn restore(&mut self, saved: &[u8]) -> bool {
        Reopened::restore(self.1.clone(), saved).map(|reopened| self.0 = reopened).is_some()
    }
}

/// The status that was kept, where it is that of the stream as it is.
fn known_status(kept: &KeptStream) -> Option<RunStatus> {
    let mut status: RunStatus = serde_json::from_str(kept.status.as_deref()?).ok()?;
    status.ended = kept.ended;
    (status.frames == kept.frames).then_some(status)
}
