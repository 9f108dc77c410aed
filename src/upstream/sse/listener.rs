//! Listens to the ingest of a feed, for the conversation and for the tracking of its runs.
//!
//! Input: records and frames of the feed's ingest. Output: which runs are open, and which of them have been silent since the
//! feed was lost. Never: a run that has ended.

use super::Seen;
use super::copies::Copies;
use crate::clock::Clock;
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

/// The listener of one feed.
pub(super) struct FeedListener {
    pub(super) conversation: Conversation,
    pub(super) copies: Copies,
    open: Vec<Open>,
    seen: Arc<watch::Sender<Seen>>,
    /// Whether the feed has frames, most of which are no records.
    has_frames: bool,
}

struct Open {
    run: Uuid,
    session: Arc<str>,
    records: u64,
    /// When the feed was lost; `None` if the run was heard of since.
    lost: Option<Instant>,
}

impl FeedListener {
    pub(super) fn new(conversation: Conversation, seen: Arc<watch::Sender<Seen>>, has_frames: bool) -> Self {
        // Runs that an earlier ingest of the feed left open are closed, or accept no more messages.
        seen.send_modify(|seen| seen.open.clear());
        Self { conversation, copies: Copies::default(), open: Vec::new(), seen, has_frames }
    }

    pub(super) fn has_open_runs(&self) -> bool {
        !self.open.is_empty()
    }

    /// Publishes that the feed is connected. `continues`: nothing is missing, so a silent run is not lost.
    pub(super) fn connected(&mut self, continues: bool) {
        if continues {
            self.open.iter_mut().for_each(|open| open.lost = None);
        }
        self.seen.send_modify(|seen| seen.line.connected(Clock::System.now_ms()));
    }

    /// Publishes that the feed is disconnected, and why. Returns whether it was connected until now.
    pub(super) fn disconnected(&self, reason: &str) -> bool {
        let mut was_connected = false;
        self.seen.send_modify(|seen| was_connected = seen.line.disconnected(reason, Clock::System.now_ms()));
        was_connected
    }

    /// Marks the open runs after a loss of the feed: they may end during it.
    pub(super) fn lost(&mut self, now: Instant) {
        for open in &mut self.open {
            open.lost.get_or_insert(now);
        }
    }

    /// The runs that have been silent for this long since the feed was lost.
    pub(super) fn given_up(&self, now: Instant, after: Duration) -> Vec<Uuid> {
        self.open.iter().filter(|open| open.lost.is_some_and(|at| at + after <= now)).map(|open| open.run).collect()
    }

    /// When the first of them is due; `None` if there are none.
    pub(super) fn deadline(&self, after: Duration) -> Option<Instant> {
        self.open.iter().filter_map(|open| open.lost).min().map(|at| at + after)
    }

    /// Publishes the open runs, and the runs that began, including those that have already ended.
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

    /// Publishes the number of records of each open run. The set of open runs must not have changed since it was last
    /// published.
    fn tell_records(&self) {
        self.seen.send_modify(|seen| {
            for (seen, open) in seen.open.iter_mut().zip(&self.open) {
                seen.records = open.records;
            }
        });
    }
}

impl Listener for FeedListener {
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
                // Frames are missing, perhaps even the end.
                Body::GapDetected { .. } => {
                    if let Some(open) = self.open.iter_mut().find(|open| open.run == run) {
                        open.lost.get_or_insert_with(Instant::now);
                    }
                }
                body if self.has_frames || matches!(body, Body::ProviderEvent(_)) => {
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
        if self.has_frames {
            self.copies.note(frames);
        }
        if has_changed {
            self.tell(&begun);
        } else if has_records {
            self.tell_records();
        }
    }
}
