//! What is heard of a feed: by the conversation, and by whoever watches over its runs.
//!
//! In: records and frames of the feed's ingest. Out: which runs are open, when each was heard of last, which were open when
//! the feed was lost. Never: a run that is over.

use super::Seen;
use crate::ingest::Listener;
use crate::upstream::Conversation;
use framegate_translators::decode::Record;
use framegate_translators::frame::{Body, Frame, StreamKind};
use framegate_translators::pipeline::is_last;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;
use uuid::Uuid;

/// See the module.
pub(super) struct Ears {
    pub(super) conversation: Conversation,
    open: Vec<Open>,
    seen: Arc<watch::Sender<Seen>>,
}

struct Open {
    run: Uuid,
    session: Arc<str>,
    records: u64,
    /// When the feed was lost, where nothing was heard of the run since.
    lost: Option<Instant>,
}

impl Ears {
    pub(super) fn new(conversation: Conversation, seen: Arc<watch::Sender<Seen>>) -> Self {
        // What another ingest of the feed left open is closed, or nobody speaks to it any more.
        seen.send_modify(|seen| seen.open.clear());
        Self { conversation, open: Vec::new(), seen }
    }

    pub(super) fn has_open_runs(&self) -> bool {
        !self.open.is_empty()
    }

    /// Whether the feed is connected.
    pub(super) fn connected(&self, is_connected: bool) {
        self.seen.send_modify(|seen| seen.is_connected = is_connected);
    }

    /// The feed is lost: what is open may have ended meanwhile.
    pub(super) fn lost(&mut self, now: Instant) {
        self.connected(false);
        for open in &mut self.open {
            open.lost.get_or_insert(now);
        }
    }

    /// Runs of which nothing was heard for that long since the feed was lost.
    pub(super) fn given_up(&self, now: Instant, after: Duration) -> Vec<Uuid> {
        self.open.iter().filter(|open| open.lost.is_some_and(|at| at + after <= now)).map(|open| open.run).collect()
    }

    /// When the first of them is due.
    pub(super) fn deadline(&self, after: Duration) -> Option<Instant> {
        self.open.iter().filter_map(|open| open.lost).min().map(|at| at + after)
    }

    /// Tells of the open runs, and of those that began, be it that they are over already.
    fn tell(&self, begun: &[(Arc<str>, Uuid)]) {
        let seen = |open: &Open| super::Open { session: open.session.clone(), run: open.run, records: open.records };
        let open = self.open.iter().map(seen).collect();
        self.seen.send_modify(|seen| {
            seen.open = open;
            for begun in begun {
                seen.begins(begun.clone());
            }
        });
    }

    /// Tells how many records the open runs have, which are those that were told of last.
    fn tell_records(&self) {
        self.seen.send_modify(|seen| {
            for (seen, open) in seen.open.iter_mut().zip(&self.open) {
                seen.records = open.records;
            }
        });
    }
}

impl Listener for Ears {
    fn record(&mut self, record: &Record<'_>) {
        self.conversation.record(record);
    }

    fn amend(&mut self, frames: &mut [Frame]) {
        self.conversation.amend(frames);
    }

    fn frames(&mut self, frames: &[Arc<Frame>]) {
        let (mut has_changed, mut has_records, mut begun) = (false, false, Vec::new());
        for frame in frames.iter().filter(|frame| frame.stream.kind == StreamKind::Session) {
            let (run, session) = (frame.stream.id, &frame.stream.session.name);
            match &frame.body {
                Body::SessionStarted { .. } => {
                    has_changed = true;
                    begun.push((session.clone(), run));
                    self.open.push(Open { run, session: session.clone(), records: 0, lost: None });
                }
                Body::ProviderEvent(_) => {
                    if let Some(open) = self.open.iter_mut().find(|open| open.run == run) {
                        open.lost = None;
                        open.records += 1;
                        has_records = true;
                    }
                }
                _ => {}
            }
            if is_last(frame) {
                has_changed = true;
                self.open.retain(|open| open.run != run);
            }
        }
        self.conversation.frames(frames);
        if has_changed {
            self.tell(&begun);
        } else if has_records {
            self.tell_records();
        }
    }
}
