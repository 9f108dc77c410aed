//! The run of an input and what it has open.
//!
//! Input: the beginnings of agent runs, messages and calls. Output: the stream for a record's frames. Never: two open runs, because one
//! process works on one prompt at a time; unbounded memory for the calls that an input names.

use super::super::failure::Failure;
use super::super::names::NameMap;
use super::extension::Question;
use super::tools::Call;
use crate::derived::numbered;
use crate::frame::{Figures, SharedStr, Usage, UsageScope};
use crate::normalizer::{Covers, Normalizer, RunEnd, STREAM_ENDED};
use crate::sequence::StreamKey;
use std::collections::{BTreeMap, BTreeSet};

/// The open run.
#[derive(Debug)]
pub(super) struct Run {
    /// Its stream.
    pub(super) key: StreamKey,
    /// How many messages it has had.
    messages: u64,
    /// The assistant's message that is being written.
    pub(super) reply: Option<Reply>,
    /// Whether the message of a person that began is reported already.
    pub(super) is_said: bool,
    /// Calls without their result.
    pub(super) calls: NameMap<Call>,
    /// The number of calls at which those that no longer run are forgotten.
    pub(super) forget_at: usize,
    /// Questions of extensions that may be answered.
    pub(super) questions: Vec<Question>,
    /// The usage of the summaries that the runner made for itself.
    pub(super) summaries: Option<Figures>,
    /// The stop reason of the last reply; empty if there is none.
    pub(super) stop_reason: SharedStr,
    /// How the last reply ended; `None` before the first one.
    pub(super) last: Option<Last>,
    /// What the runner does after the end of an agent run.
    pub(super) after: After,
    /// Whether a line of a session file began it.
    pub(super) is_of_file: bool,
}

/// A message of the assistant that is being written.
#[derive(Debug)]
pub(super) struct Reply {
    /// The id of the message, which the runner does not give.
    pub(super) id: SharedStr,
    /// The calls that the reply contains so far, by the place of their block.
    pub(super) calls: Vec<(u32, SharedStr, SharedStr)>,
    /// The places of the blocks that are complete. The whole message repeats them.
    pub(super) ended: BTreeSet<u32>,
    /// The blocks whose end was reported last, with their place and text, and whether they are texts. They are complete once the reply goes
    /// on: with some providers every end comes when the reply is over, also if it broke off.
    pub(super) held: Vec<(u32, bool, String)>,
    /// Line ends after a piece of reasoning, by the place of the block. They separate it from a further part, and are left out of the
    /// whole reasoning if there is none.
    pub(super) separators: BTreeMap<u32, String>,
}

impl Reply {
    /// A reply that begins.
    pub(super) fn new(id: SharedStr) -> Self {
        Self { id, calls: Vec::new(), ended: BTreeSet::new(), held: Vec::new(), separators: BTreeMap::new() }
    }
}

/// How a reply ended.
#[derive(Debug)]
pub(super) enum Last {
    /// The model stopped for this reason.
    Stopped(SharedStr),
    /// The request failed. `is_reported`: a frame says so, and that the run goes on.
    Failed { failure: Failure, is_reported: bool },
    /// A client aborted it. The message may be empty.
    Aborted(String),
}

/// What follows the end of an agent run (`agent_end`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// The agent run goes on.
    Working,
    /// It ended, and a later record says that nothing follows.
    WillSettle,
    /// It ended. The version of the runner has no record that says whether something follows.
    Unsaid,
}

impl Run {
    fn new(key: StreamKey, is_of_file: bool) -> Self {
        Self {
            key,
            messages: 0,
            reply: None,
            is_said: false,
            calls: NameMap::default(),
            forget_at: 0,
            questions: Vec::new(),
            summaries: None,
            stop_reason: SharedStr::from(""),
            last: None,
            after: After::Working,
            is_of_file,
        }
    }

    /// An id for the next message.
    pub(super) fn next_message(&mut self, normalizer: &Normalizer) -> SharedStr {
        let number = self.messages;
        self.messages += 1;
        let id = normalizer.stream(self.key).map(|stream| numbered(&stream.id, "message-", number).to_string());
        SharedStr::from(id.unwrap_or_default())
    }

    /// Whether nothing was said in it.
    pub(super) fn is_empty(&self) -> bool {
        self.messages == 0
    }

    /// Reports the total of the run if it is more than the sum of its replies.
    pub(super) fn report_total(&mut self, normalizer: &mut Normalizer) {
        if let Some(summaries) = self.summaries.take() {
            let replies = normalizer.reported_usage(self.key).unwrap_or_default();
            let mut total = replies.clone();
            total.add(&summaries);
            normalizer.run_used(self.key, Usage::of(UsageScope::Run, None, &total), Covers::Run(Some(replies)));
        }
    }

    /// Ends it.
    pub(super) fn end(mut self, end: RunEnd, normalizer: &mut Normalizer) {
        self.report_total(normalizer);
        normalizer.end_run(self.key, end);
    }
}

/// The run of the input, if one is open.
#[derive(Debug, Default)]
pub(super) struct Runs {
    pub(super) open: Option<Run>,
}

impl Runs {
    /// The stream of the current record: that of the run, or else the session's thread.
    pub(super) fn stream(&mut self, normalizer: &mut Normalizer) -> StreamKey {
        match &self.open {
            Some(run) => run.key,
            None => normalizer.thread(),
        }
    }

    /// The open run; opens one if there is none.
    pub(super) fn ensure(&mut self, normalizer: &mut Normalizer) -> &mut Run {
        self.open.get_or_insert_with(|| Run::new(normalizer.open_run(""), false))
    }

    /// The open run of a session file; opens one if there is none.
    pub(super) fn ensure_of_file(&mut self, normalizer: &mut Normalizer) -> &mut Run {
        self.ensure_asked("", normalizer)
    }

    /// The open run of a session file; opens one with this prompt if there is none.
    pub(super) fn ensure_asked(&mut self, prompt: &str, normalizer: &mut Normalizer) -> &mut Run {
        self.open.get_or_insert_with(|| Run::new(normalizer.open_run(prompt), true))
    }
}

/// The end of a run whose own end is missing.
pub(super) fn lost(why: &str) -> RunEnd {
    RunEnd::interrupted(STREAM_ENDED, why)
}
