//! Held run ends: a run's last frame comes after the records that still belong to the run.
//!
//! Input: how a run ended, and when the bytes that reported it arrived. Output: the run that a late record belongs to, and the
//! ends that are due. Never: more than [`MOST`] held ends, a lost end, or an end that is held past its deadline once the caller
//! checks.
//!
//! Only `session_ended` is held. The other closing frames of a run (texts, tools, turns) are emitted at once.

use crate::frame::{Body, SessionEnded, SharedStr};
use crate::sequence::StreamKey;
use uuid::Uuid;

/// Maximum number of held ends; one more releases the oldest.
const MOST: usize = 64;

/// How long the end of a run is held for late records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndHold {
    /// Until the next run or the end of the input: for input that is already complete.
    Input,
    /// The same, but at most this many milliseconds; 0 disables holding.
    Ms(u64),
}

/// The default hold for live input, in milliseconds.
pub const END_HOLD_MS: u64 = 100;

impl Default for EndHold {
    fn default() -> Self {
        Self::Ms(END_HOLD_MS)
    }
}

/// The held end of one run.
#[derive(Debug)]
pub(super) struct HeldEnd {
    pub(super) run: StreamKey,
    /// The thread stream of the run's session.
    pub(super) thread: StreamKey,
    /// When the run ended: the timestamp of its last frame, unless a later record follows.
    pub(super) time_ms: u64,
    /// When the bytes that ended it arrived, on the caller's clock.
    pub(super) since_ms: u64,
    /// Subagents that still work; they may end before the run's last frame.
    pub(super) alive: Vec<(SharedStr, Option<Uuid>)>,
    pub(super) end: Box<SessionEnded>,
}

/// The held ends, oldest first.
#[derive(Debug, Default)]
pub(super) struct HeldEnds {
    hold: EndHold,
    ends: Vec<HeldEnd>,
    /// When the last bytes arrived.
    arrived_ms: u64,
}

impl HeldEnds {
    pub(super) fn hold_for(&mut self, hold: EndHold) {
        self.hold = hold;
    }

    /// Whether ends are held at all.
    pub(super) fn is_enabled(&self) -> bool {
        self.hold != EndHold::Ms(0)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Whether this run's end is held.
    pub(super) fn has(&self, run: StreamKey) -> bool {
        self.ends.iter().any(|held| held.run == run)
    }

    /// The thread stream of the session of a run whose end is held.
    pub(super) fn thread_of(&self, run: StreamKey) -> Option<StreamKey> {
        self.ends.iter().rfind(|held| held.run == run).map(|held| held.thread)
    }

    /// Adds an end; returns the oldest one if there are too many.
    pub(super) fn push(&mut self, held: HeldEnd) -> Option<HeldEnd> {
        self.ends.push(held);
        (self.ends.len() > MOST).then(|| self.ends.remove(0))
    }

    /// The stream for a frame that was emitted on `stream`. A late record and its log lines go to the run whose end is held.
    /// Any other frame for a run that is over goes to its session's thread stream.
    pub(super) fn destination(&self, stream: StreamKey, body: &Body) -> StreamKey {
        let held = self.ends.iter().rfind(|held| held.run == stream || held.thread == stream);
        match (held, body) {
            (None, _) => stream,
            (Some(held), Body::ProviderEvent(_) | Body::LogEmitted { .. }) => held.run,
            // The normalizer has already dropped the end of a subagent that was not working.
            (Some(held), Body::SubagentEnded { .. }) if held.run == stream => held.run,
            (Some(held), _) => held.thread,
        }
    }

    /// Removes and returns a subagent that was still working when its run ended.
    pub(super) fn take_alive(&mut self, run: StreamKey, subagent_id: &str) -> Option<(SharedStr, Option<Uuid>)> {
        let held = self.ends.iter_mut().find(|held| held.run == run)?;
        let at = held.alive.iter().position(|(alive, _)| **alive == *subagent_id)?;
        Some(held.alive.swap_remove(at))
    }

    /// When the oldest end must be released at the latest, on the caller's clock.
    pub(super) fn deadline(&self) -> Option<u64> {
        let EndHold::Ms(most) = self.hold else { return None };
        self.ends.iter().map(|held| held.since_ms.saturating_add(most)).min()
    }

    /// Bytes arrive. If the clock was set back, the deadlines move back with it.
    pub(super) fn arrive(&mut self, now_ms: u64) {
        self.arrived_ms = now_ms;
        for held in &mut self.ends {
            held.since_ms = held.since_ms.min(now_ms);
        }
    }

    /// When the last bytes arrived.
    pub(super) fn arrived_ms(&self) -> u64 {
        self.arrived_ms
    }

    /// Takes the ends that are due.
    pub(super) fn take_due(&mut self, now_ms: u64) -> Vec<HeldEnd> {
        let EndHold::Ms(most) = self.hold else { return Vec::new() };
        self.ends.extract_if(.., |held| held.since_ms.saturating_add(most) <= now_ms).collect()
    }

    /// Takes all of them.
    pub(super) fn take_all(&mut self) -> Vec<HeldEnd> {
        std::mem::take(&mut self.ends)
    }
}
