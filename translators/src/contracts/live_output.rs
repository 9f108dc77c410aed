//! The output of running tools, for contracts that show all of it again whenever there is more.
//!
//! Input: pieces of output with their times. Output: the whole output so far, at useful moments. Never: a cost per piece that
//! grows with the output, or a decision by a clock.
//!
//! Each event has all output so far, so it is due only if the output has grown by a quarter since the last one. It waits
//! [`HOLD_MS`] for the tool's end: a runner that reports a tool's output together with its end gets no such event. The frames'
//! times decide alone, so a replay shows the same output as the live stream.

use crate::encode::HOLD_MS;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use uuid::Uuid;

/// Maximum bytes that are held of each of a tool's streams; the rest is only counted.
const MAX_BYTES: usize = 1 << 20;

/// The output of one tool.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    stdout: String,
    stderr: String,
    omitted_bytes: u64,
    /// The length of the output that was shown last.
    shown: usize,
    /// The key of the event that is due.
    due: Option<u64>,
}

/// A piece of output.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece<'a> {
    Stdout(&'a str),
    /// Before the standard output so far.
    Front(&'a str),
    Stderr(&'a str),
}

impl Output {
    /// The number of bytes held.
    pub(super) fn held_bytes(&self) -> usize {
        self.stdout.len() + self.stderr.len()
    }

    /// Adds a piece.
    pub(super) fn add(&mut self, piece: Piece<'_>) {
        self.omitted_bytes += match piece {
            Piece::Stdout(text) => append(&mut self.stdout, text),
            Piece::Stderr(text) => append(&mut self.stderr, text),
            Piece::Front(text) => {
                let rest = std::mem::take(&mut self.stdout);
                append(&mut self.stdout, text) + append(&mut self.stdout, &rest)
            }
        };
    }

    /// Whether the output has grown by a quarter since it was shown.
    pub(super) fn has_grown(&self) -> bool {
        self.held_bytes() > self.shown + self.shown / 4
    }

    /// The output so far is shown.
    pub(super) fn show(&mut self) {
        self.shown = self.held_bytes();
        self.due = None;
    }

    /// Whether there may be output that was not shown.
    pub(super) fn has_more(&self) -> bool {
        self.held_bytes() > self.shown || self.omitted_bytes > 0
    }

    /// Standard output, or the result of a tool without separate streams.
    pub(super) fn stdout(&self) -> &str {
        &self.stdout
    }

    /// Standard error.
    pub(super) fn stderr(&self) -> &str {
        &self.stderr
    }

    /// How many bytes were left out, if any.
    pub(super) fn omitted_bytes(&self) -> Option<u64> {
        Some(self.omitted_bytes).filter(|bytes| *bytes > 0)
    }
}

/// Appends as many whole characters as there is room for; returns the number of omitted bytes.
fn append(held: &mut String, text: &str) -> u64 {
    let room = MAX_BYTES.saturating_sub(held.len());
    let (kept, rest) = text.split_at(text.floor_char_boundary(room.min(text.len())));
    held.push_str(kept);
    rest.len() as u64
}

/// The events that are due, in the order of their times.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Due {
    /// By number: a later one is due at the same time or later.
    waiting: BTreeMap<u64, (u64, Uuid)>,
    next: u64,
}

impl Due {
    /// A tool's output has grown at that time.
    pub(super) fn add(&mut self, tool: Uuid, output: &mut Output, now_ms: u64) {
        if output.due.is_none() && output.has_grown() {
            self.waiting.insert(self.next, (now_ms.saturating_add(HOLD_MS), tool));
            output.due = Some(self.next);
            self.next += 1;
        }
    }

    /// A tool is over.
    pub(super) fn remove(&mut self, output: &Output) {
        if let Some(due) = output.due {
            self.waiting.remove(&due);
        }
    }

    /// Whether an event is due at that time.
    pub(super) fn is_due(&self, now_ms: u64) -> bool {
        self.waiting.first_key_value().is_some_and(|(_, (due_ms, _))| *due_ms <= now_ms)
    }

    /// The next tool whose output is due at that time.
    pub(super) fn take(&mut self, now_ms: u64) -> Option<Uuid> {
        if !self.is_due(now_ms) {
            return None;
        }
        self.waiting.pop_first().map(|(_, (_, tool))| tool)
    }
}
