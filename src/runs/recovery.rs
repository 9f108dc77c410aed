//! Start with an existing log.
//!
//! Input: what the log has kept. Output: every stream known again, as it was. What was open when the proxy stopped is closed,
//! and its runs end as interrupted. Never: reading the frames of an ended stream, except for the last frame of a run with a
//! long final text; a proxy that does not start because a stream cannot be read, or cannot be closed yet.

use super::labels::Labels;
use super::retention::pruning::Pruning;
use super::{Entry, RunStatus, Runs};
use crate::log::{KeptStream, LogError};
use framegate_translators::encode::{Encoder, Events, NewEncoder};
use framegate_translators::frame::{Body, Frame, Stream, StreamKind};
use framegate_translators::normalizer::Reopened;
use std::collections::HashSet;
use std::sync::Arc;

impl Runs {
    /// Registers the streams that the log has kept. Open streams are closed at `now_ms` (Unix epoch milliseconds), or later if
    /// the log accepts nothing now ([`Runs::close_left_open`]). Called once, before anything is appended.
    ///
    /// # Errors
    /// The log's error, if it cannot be read at all.
    pub async fn recover(&self, now_ms: u64) -> Result<(), LogError> {
        if self.log.shared().is_some() {
            // What is open may belong to another proxy.
            return self.load_shared().await;
        }
        let streams = self.log.streams().await?;
        for kept in &streams {
            let gone = kept.gone.and_then(|gone| Some((kept.gone_position?, gone.frames.checked_sub(1)?)));
            self.feed.learn((kept.stream.kind, kept.stream.id), gone, &kept.runs);
        }
        self.feed.learnt();
        let broken: HashSet<_> = streams
            .iter()
            .filter(|kept| kept.stream.kind == StreamKind::Session && !kept.ended)
            .map(|kept| kept.stream.session.id)
            .collect();
        for kept in streams {
            let is_thread = kept.stream.kind == StreamKind::Thread;
            let is_run = kept.stream.kind == StreamKind::Session;
            // A thread never ends. Something can be open in it only if a run of its session was cut off.
            let is_open = if is_thread { broken.contains(&kept.stream.session.id) } else { !kept.ended };
            let status = if is_open { None } else { known_status(&kept) };
            match status {
                Some(mut status) => {
                    // Older versions did not store this flag.
                    let is_long = status.is_final_text_long.unwrap_or(status.final_text.is_none());
                    if is_run && is_long {
                        status.final_text = self.final_text(&kept).await;
                    }
                    self.learn(&kept, status);
                }
                None => self.reopen(&kept, is_open, now_ms).await,
            }
        }
        self.forget_dropped().await;
        Ok(())
    }

    /// The final text of an ended run, from its last frame.
    async fn final_text(&self, kept: &KeptStream) -> Option<String> {
        self.final_text_of(&kept.stream, kept.frames).await
    }

    /// The final text of an ended run with so many frames.
    pub(super) async fn final_text_of(&self, stream: &Arc<Stream>, frames: u64) -> Option<String> {
        match self.log.read((stream.kind, stream.id), frames.checked_sub(1)?, 1).await {
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

    pub(super) fn learn(&self, kept: &KeptStream, mut status: RunStatus) -> Arc<Entry> {
        status.pruned_frames = kept.gone.map_or(0, |gone| gone.frames);
        status.is_final_text_long = None;
        let frames = status.frames;
        status.running_total = status.running.take().or(status.running_total.take());
        if let Some(running) = &status.running_total {
            self.totals.learn(kept.stream.session.id, running);
        }
        let entry = Entry::new(kept.stream.clone(), status);
        *entry.pruning() = Pruning::of_kept(kept.gone, frames);
        self.registry.insert(entry)
    }

    /// Rebuilds a stream's status from its frames, and closes what they left open.
    async fn reopen(&self, kept: &KeptStream, close: bool, now_ms: u64) {
        let (stream, known) = (&kept.stream, known_status(kept));
        let unread = Entry::new(stream.clone(), RunStatus::of_stream(stream, 0));
        *unread.pruning() = Pruning::of_kept(kept.gone, 0);
        let (mut status, mut at): (Option<RunStatus>, u64) = (None, 0);
        let mut look = |frame: &Frame| {
            // The warnings were logged when the frames arrived.
            status.get_or_insert_with(|| self.begun(frame)).observe(frame, &mut Vec::new());
            at = frame.seq + 1;
        };
        let reopened = self.fold(&unread, &mut look).await;
        let mut status = match (status, known) {
            (None, known) => {
                let mut status = known.unwrap_or_else(|| RunStatus::of_stream(stream, kept.frames));
                status.ended = kept.ended;
                status
            }
            // Counts of pruned frames cannot be computed again, so the stored status is used.
            (Some(status), Some(known)) if kept.gone.is_some() => RunStatus { watch: status.watch, ..known },
            (Some(status), Some(known)) => RunStatus {
                events_checked: known.events_checked,
                validation_failures: known.validation_failures,
                events_withheld: known.events_withheld,
                exit: known.exit,
                labels: known.labels,
                workspace: known.workspace,
                ..status
            },
            (Some(status), None) => RunStatus { frames: at, labels: labels_of(kept), ..status },
        };
        status.frames = status.frames.max(kept.frames);
        let (run, runner, frames) = (status.run_id, status.runner, status.frames);
        let entry = self.learn(kept, status);
        let reopened = match reopened {
            Ok(reopened) => reopened,
            Err(error) => return entry.note_damage(&error),
        };
        let closing: Vec<Arc<_>> =
            if close { reopened.close(now_ms).into_iter().map(Arc::new).collect() } else { Vec::new() };
        if closing.is_empty() {
            return;
        }
        let kept = match self.append(&closing).await {
            // The stream's front, or the whole stream, is dropped to make room for its end.
            Err(LogError::Full { .. }) => self.cut_short(&entry, &Reopened::restarted()).await,
            kept => kept.map(drop),
        };
        let is_run = stream.kind == StreamKind::Session;
        match kept {
            Ok(()) if is_run => {
                tracing::warn!(%run, runner, frames, "a run that was open when the proxy stopped ends as interrupted");
            }
            Ok(()) => {}
            Err(error) => {
                if is_run {
                    tracing::warn!(
                        %run, runner, frames, %error,
                        "a run was open when the proxy stopped and cannot be closed yet"
                    );
                }
                self.close_later(&entry);
            }
        }
    }
}

/// What a stream left open, in the form of an encoder over its frames; and the name under which its checkpoints are stored.
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

/// The labels of a run whose status was not stored.
pub(super) fn labels_of(kept: &KeptStream) -> Labels {
    kept.labels.as_deref().and_then(|labels| serde_json::from_str(labels).ok()).unwrap_or_default()
}

/// The stored status, if it belongs to the stream's current state.
pub(super) fn known_status(kept: &KeptStream) -> Option<RunStatus> {
    let mut status: RunStatus = serde_json::from_str(kept.status.as_deref()?).ok()?;
    status.ended = kept.ended;
    status.opening = status.kept_opening.take();
    let calls = std::mem::take(&mut status.kept_calls);
    if let Some(tools) = &mut status.tools {
        tools.restore_calls(calls);
    }
    (status.frames == kept.frames).then_some(status)
}
