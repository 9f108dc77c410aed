//! The output of running tools: the whole output for the result, and live output as an activity.
//!
//! Input: pieces of output with their times. Output: an activity for each tool that works for a while, with a list of pieces to which
//! each later event adds. Never: a text twice in one activity, a cost per piece that grows with the output, or a decision by a clock.
//!
//! Live output waits [`HOLD_MS`] for more: pieces that follow each other closely are one event, and a runner that reports a tool's
//! output together with its end gets no activity. The frames' times decide alone, so a replay has the same events as the live stream.

use super::data::Piece as PieceData;
use crate::encode::{HOLD_MS, Word};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use uuid::Uuid;

/// Maximum bytes that are held of each of a tool's streams; the rest is only counted.
pub(super) const MAX_BYTES: usize = 1 << 20;

/// The output of one tool.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Output {
    stdout: Held,
    stderr: Held,
    omitted_bytes: u64,
    /// The activity that shows the output.
    pub(super) activity: Option<Uuid>,
    /// The key of the live output that is due.
    due: Option<u64>,
}

/// One of a tool's streams.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Held {
    text: String,
    /// The length of the text that the activity has, or does without.
    shown: usize,
}

/// A piece of output.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece<'a> {
    Stdout(&'a str),
    /// Before the standard output so far.
    Front(&'a str),
    Stderr(&'a str),
}

impl Held {
    /// Appends as many whole characters as there is room for; returns the number of omitted bytes.
    fn append(&mut self, text: &str) -> u64 {
        let room = MAX_BYTES.saturating_sub(self.text.len());
        let (kept, rest) = text.split_at(text.floor_char_boundary(room.min(text.len())));
        self.text.push_str(kept);
        rest.len() as u64
    }

    /// Puts a late beginning in front. The activity does without it: the result follows with the tool's end.
    fn prepend(&mut self, text: &str) -> u64 {
        let shown = self.text.get(..self.shown).map(str::len).unwrap_or_default();
        let rest = std::mem::take(&mut self.text);
        let omitted = self.append(text);
        self.shown = (self.text.len() + shown).min(MAX_BYTES);
        let omitted = omitted + self.append(&rest);
        self.shown = self.text.floor_char_boundary(self.shown.min(self.text.len()));
        omitted
    }

    fn new_text(&self) -> &str {
        self.text.get(self.shown..).unwrap_or_default()
    }
}

impl Output {
    /// The number of bytes held.
    pub(super) fn held_bytes(&self) -> usize {
        self.stdout.text.len() + self.stderr.text.len()
    }

    /// Adds a piece.
    pub(super) fn add(&mut self, piece: Piece<'_>) {
        self.omitted_bytes += match piece {
            Piece::Stdout(text) => self.stdout.append(text),
            Piece::Stderr(text) => self.stderr.append(text),
            Piece::Front(text) => self.stdout.prepend(text),
        };
    }

    /// The pieces that the activity lacks.
    pub(super) fn new_pieces(&self) -> impl Iterator<Item = PieceData<'_>> {
        let streams = [("stdout", &self.stdout), ("stderr", &self.stderr)];
        streams.into_iter().filter_map(|(stream, held)| {
            let text = held.new_text();
            (!text.is_empty()).then_some(PieceData { stream: Word(stream), text })
        })
    }

    /// The activity has the output so far.
    pub(super) fn show(&mut self) {
        self.stdout.shown = self.stdout.text.len();
        self.stderr.shown = self.stderr.text.len();
        self.due = None;
    }

    /// The text of the result: the standard output, then the standard error.
    pub(super) fn text(&self) -> Cow<'_, str> {
        let (stdout, stderr) = (&self.stdout.text, &self.stderr.text);
        match (stdout.is_empty(), stderr.is_empty()) {
            (_, true) => Cow::Borrowed(stdout),
            (true, false) => Cow::Borrowed(stderr),
            (false, false) if stdout.ends_with('\n') => Cow::Owned([&**stdout, stderr].concat()),
            (false, false) => Cow::Owned([stdout, "\n", stderr].concat()),
        }
    }

    /// How many bytes the result lacks; `None` if none.
    pub(super) fn omitted_bytes(&self) -> Option<u64> {
        Some(self.omitted_bytes).filter(|bytes| *bytes > 0)
    }
}

/// The live output that is due, in the order of its times.
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
        if output.due.is_none() && output.new_pieces().next().is_some() {
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

    /// Whether output is due at that time.
    pub(super) fn is_due(&self, now_ms: u64) -> bool {
        self.waiting.first_key_value().is_some_and(|(_, (due_ms, _))| *due_ms <= now_ms)
    }

    /// The next tool whose output is due at that time, and when it became due.
    pub(super) fn take(&mut self, now_ms: u64) -> Option<(u64, Uuid)> {
        if !self.is_due(now_ms) {
            return None;
        }
        self.waiting.pop_first().map(|(_, due)| due)
    }
}
