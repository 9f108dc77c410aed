//! Notices to readers of the feed about events that they do not get.
//!
//! Input: the reason. A run was dropped, its log is damaged, or the reader's cursor cannot be used. Output: one event of the
//! contract, with a cursor of the feed. Never: a notice about events that the reader may not see.

use super::index::Step;
use super::{FeedEvent, FeedFollower};
use crate::clock::Clock;
use framegate_translators::dropped::Dropped;
use framegate_translators::encode::Events;
use framegate_translators::frame::{Session, SharedStr, Stream, StreamKind};
use framegate_translators::runners::OF_NOTICES;
use std::ops::Range;
use std::sync::Arc;
use uuid::Uuid;

impl FeedFollower {
    /// The notice for a dropped stream, sent once, at the step with its last frame. `events` is how many of its events this
    /// reader got.
    pub(super) fn notice(&self, step: &Step, missed: u64, events: u64) -> Option<FeedEvent> {
        let gone = self.runs.feed.gone_at(step).filter(|gone| gone.nth >= self.told_from)?;
        if missed >= gone.frames || !self.scope.has(&gone.stream) {
            return None;
        }
        (self.contract.encoder)(&gone.stream, &self.options)?;
        let counted = gone.events.get(self.contract.name).copied().unwrap_or_default();
        let dropped = Dropped {
            stream: &gone.stream,
            frames: missed..gone.frames,
            events: counted.max(events),
            at_ms: gone.at_ms,
            why: None,
        };
        self.told(&dropped, gone.last, 0)
    }

    /// The notice in place of frames that cannot be read.
    pub(super) fn unreadable(
        &self,
        stream: &Arc<Stream>,
        frames: Range<u64>,
        events: u64,
        place: u64,
    ) -> Option<FeedEvent> {
        let why = Some("the log is damaged here, and these frames cannot be read");
        let at_ms = Clock::System.now_ms();
        self.told(&Dropped { stream, frames, events, at_ms, why }, place, u32::MAX - 1)
    }

    /// The notice to a reader whose cursor is from another log, or older than what is remembered. It is not about a run: its
    /// ids are nil.
    pub(super) fn lost(&self) -> Option<FeedEvent> {
        let session = Arc::new(Session { id: self.scope.session.unwrap_or_default(), name: SharedStr::from("") });
        let provider = OF_NOTICES;
        let (kind, id) = (StreamKind::Session, Uuid::nil());
        let stream = Arc::new(Stream { kind, id, session, origin_run: None, provider });
        let why = match self.at.frame {
            0 => "this cursor is not one of this log: all that is kept follows, and some of it may be known already",
            _ => "this cursor is older than what is remembered of dropped runs: some of them may be missing",
        };
        let at_ms = Clock::System.now_ms();
        let dropped = Dropped { stream: &stream, frames: 0..1, events: 0, at_ms, why: Some(why) };
        // A client that reconnects with this cursor resumes where it was: after the last event of that frame that it saw.
        self.told(&dropped, self.at.frame, self.at.seen.saturating_sub(1))
    }

    fn told(&self, dropped: &Dropped<'_>, place: u64, nth: u32) -> Option<FeedEvent> {
        let mut out = Events::default();
        (self.contract.dropped)(dropped, &mut out);
        let event = out.iter().next().filter(|event| self.scope.wants(event.kind))?;
        let line = [event.payload, b"\n"].concat().into();
        Some(FeedEvent { cursor: self.runs.feed.cursor(place, nth), kind: event.kind, line })
    }
}
