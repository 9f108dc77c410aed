//! Recognises a run that the log has from another output of its runner: the stream that a proxy saw, and the session file that the runner wrote.
//!
//! Input: a run of an imported file that is over, and the stored runs of its session; of all sessions of its runner, if the file does not name it. Output: the stored run that is the same. Never: a stored run
//! that is counted twice in one input; a run taken for another one because both are of the same session.
//!
//! The records differ, and so may the times: a stream without times of its own has those of its arrival. So two runs are the same if their prompts
//! do not contradict each other, and if they were at work at the same time, or ended with the same answer while the times may differ for that reason.

use super::bounds::Account;
use super::{is_cut, was_cut};
use crate::log::StreamId;
use crate::runs::{Entry, RunState, RunStatus, Runs, is_same_prompt};
use framegate_translators::frame::{Body, Frame};
use std::cmp::Reverse;
use std::collections::HashSet;
use std::sync::Arc;

/// The longest time in which a run arrives that was recorded before, in milliseconds. A runner takes longer for its work.
const AT_ONCE_MS: u64 = 1000;

/// How far the times of a stream may be from those of its session file if its records seldom have times, in milliseconds.
const CLOSE_MS: u64 = 5000;

/// How many stored runs of a session are compared.
const COMPARED: usize = 4096;

/// A stored run that is the same as one of the input.
pub(super) struct Found {
    pub(super) stored: Arc<Entry>,
    /// What the input says of it.
    pub(super) seen: RunStatus,
    /// Whether the run of the input replaces the stored one: it has the end of a run that was cut off, or more of its work.
    pub(super) is_replaced: bool,
}

/// The runs of one input, and the stored runs that it has shown again.
#[derive(Default)]
pub(super) struct Counterparts {
    taken: HashSet<StreamId>,
}

impl Counterparts {
    /// A run is of this input, or was found in it in another way, so it is no counterpart of a further one.
    pub(super) fn take(&mut self, run: StreamId) {
        self.taken.insert(run);
    }

    /// Whether the log has runs that the one with this first frame could be: runs that were not over when it began. The frame arrived at
    /// `arrived_ms`. If it has that time because its record has none, the run may be any.
    pub(super) fn may_have(&self, runs: &Runs, first: &Frame, arrived_ms: u64) -> bool {
        let has_own_time = first.timestamp_ms < arrived_ms;
        let is_named = !first.stream.session.name.is_empty();
        let could_be = |entry: &Arc<Entry>| {
            let status = entry.status();
            let is_close = !is_named || status.session_name.is_empty();
            let close = if is_close { CLOSE_MS } else { 0 };
            !has_own_time || end(&status).saturating_add(close) >= first.timestamp_ms
        };
        self.candidates(runs, first, 1, &could_be).next().is_some()
    }

    /// The stored runs that could be the one with this first frame, besides those that the input has shown, and meet the condition; at most `most`. Of
    /// two runs whose runner named no session, only equal records count.
    fn candidates<'r>(
        &'r self,
        runs: &'r Runs,
        first: &'r Frame,
        most: usize,
        is_wanted: &'r dyn Fn(&Arc<Entry>) -> bool,
    ) -> impl Iterator<Item = Arc<Entry>> + 'r {
        let is_wanted = move |entry: &Arc<Entry>| !self.taken.contains(&entry.id()) && is_wanted(entry);
        if first.stream.session.name.is_empty() {
            let is_named = |entry: &Arc<Entry>| !entry.stream.session.name.is_empty() && is_wanted(entry);
            return runs.of_runner(&first.stream, most, &is_named).into_iter();
        }
        let mut found = runs.of_session(&first.stream, COMPARED);
        found.retain(is_wanted);
        found.truncate(most);
        found.into_iter()
    }

    /// The stored run that is the same as the one with these frames, if the sender may see it.
    pub(super) fn find(&mut self, (runs, account): (&Runs, &Account), frames: &[Arc<Frame>]) -> Option<Found> {
        let first = frames.first()?;
        let seen = status_of(frames)?;
        let is_like = |entry: &Arc<Entry>| account.admits(&entry.stream) && likeness(&entry.status(), &seen).is_some();
        let stored = self
            .candidates(runs, first, COMPARED, &is_like)
            .filter_map(|entry| {
                let status = entry.status();
                let apart = status.started_at_ms.abs_diff(seen.started_at_ms);
                let likeness = likeness(&status, &seen)?;
                drop(status);
                Some((likeness, Reverse(apart), entry))
            })
            .max_by_key(|(likeness, apart, _)| (*likeness, *apart))
            .map(|(.., entry)| entry)?;
        self.take(stored.id());
        let is_cut = was_cut(&stored) && !is_cut(seen.error_code.as_deref());
        let is_replaced = is_cut || has_more_work(&stored.status(), &seen);
        Some(Found { stored, seen, is_replaced })
    }
}

/// The status of the run with these frames.
fn status_of(frames: &[Arc<Frame>]) -> Option<RunStatus> {
    let first = frames.first()?;
    let run = (first.stream.kind, first.stream.id);
    let mut status = RunStatus::new(first);
    for frame in frames.iter().filter(|frame| (frame.stream.kind, frame.stream.id) == run) {
        status.observe(frame, &mut Vec::new());
    }
    Some(status)
}

/// Whether the run with these frames is a stored one of the same session with more work in it.
pub(super) fn adds_work(stored: &Entry, frames: &[Arc<Frame>]) -> bool {
    // Nearly all runs are of many records, so the frames are seldom read.
    is_of_document(&stored.status()) && status_of(frames).is_some_and(|seen| has_more_work(&stored.status(), &seen))
}

/// Whether a later state of the document that a stored run is from has more of that run, such as the work of its subagents. A run of a stream is
/// kept as it was seen, so that its id stays.
fn has_more_work(stored: &RunStatus, seen: &RunStatus) -> bool {
    let are_of_documents = is_of_document(stored) && is_of_document(seen);
    are_of_documents && used(stored) < used(seen) && likeness(stored, seen).is_some()
}

/// Whether a run is from one record that has a whole session. The record is in the first run of the session; the others have none.
fn is_of_document(status: &RunStatus) -> bool {
    status.records <= 1
}

/// All tokens of a run.
fn used(status: &RunStatus) -> u64 {
    let usage = &status.usage;
    let figures = [usage.input_tokens, usage.output_tokens, usage.cache_read_tokens, usage.cache_creation_tokens];
    figures.into_iter().flatten().fold(0, u64::saturating_add)
}

/// Whether the run with these frames ends only because its input does.
pub(super) fn ends_cut(frames: &[Arc<Frame>]) -> bool {
    let end = frames.iter().rev().find_map(|frame| match &frame.body {
        Body::SessionEnded(end) => Some(end.error_code.as_deref()),
        _ => None,
    });
    end.is_none_or(is_cut)
}

/// Why two runs are the same, the best reason last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    /// They were at work at the same time, and are of one session or have the same prompt.
    Time,
    /// They ended alike, and the times of one of them may not be its own.
    End,
    /// Both.
    TimeAndEnd,
}

fn likeness(stored: &RunStatus, seen: &RunStatus) -> Option<Likeness> {
    let titles = stored.title.as_ref().zip(seen.title.as_ref());
    let is_same_title = titles.is_some_and(|(stored, seen)| is_same_prompt(stored, seen));
    let is_nameless = stored.session_name.is_empty() && seen.session_name.is_empty();
    if is_nameless || stored.runner != seen.runner || (titles.is_some() && !is_same_title) {
        return None;
    }
    let is_same_session = stored.session_name == seen.session_name;
    let (is_same_answer, has_answer) = (answer(stored) == answer(seen), answer(seen).is_some());
    // What two runs have in common beside the time: other runs may be at work then.
    let is_related = is_same_session || is_same_title;
    if overlap(stored, seen) && is_same_answer && (is_related || has_answer) {
        return Some(Likeness::TimeAndEnd);
    }
    // Without an answer, what the runs did must be the same.
    let is_same_work = stored.state == seen.state && stored.tool_calls == seen.tool_calls;
    let has_foreign_times = arrived_at_once(stored) || arrived_at_once(seen);
    let is_same_end = is_same_answer && (has_answer || is_same_work);
    let is_same_here =
        (is_same_session && has_foreign_times) || (is_same_title && has_answer && distance(stored, seen) <= CLOSE_MS);
    if is_same_end && is_same_here {
        return Some(Likeness::End);
    }
    (overlap(stored, seen) && is_related).then_some(Likeness::Time)
}

/// Whether a run was sent as a whole after it had happened, so that its times may not be its own.
fn arrived_at_once(status: &RunStatus) -> bool {
    status.ended_at_ms.is_some_and(|ended| ended.saturating_sub(status.started_at_ms) <= AT_ONCE_MS)
}

/// What was said at the end, with white space folded.
fn answer(status: &RunStatus) -> Option<String> {
    let text = status.final_text.as_deref()?.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(text).filter(|text| !text.is_empty())
}

/// When a run ended, in Unix epoch milliseconds; never, if it is open.
fn end(status: &RunStatus) -> u64 {
    match status.state {
        RunState::Running | RunState::WaitingApproval => u64::MAX,
        _ => status.ended_at_ms.unwrap_or(status.updated_at_ms).max(status.started_at_ms),
    }
}

/// Whether two runs were at work at the same time, for at least half of the shorter one.
fn overlap(one: &RunStatus, other: &RunStatus) -> bool {
    let (from, to) = (one.started_at_ms.max(other.started_at_ms), end(one).min(end(other)));
    let shorter = (end(one) - one.started_at_ms).min(end(other) - other.started_at_ms);
    to >= from && to - from >= shorter.div_ceil(2)
}

/// The time between the end of one run and the beginning of the other, in milliseconds; 0 if they overlap.
fn distance(one: &RunStatus, other: &RunStatus) -> u64 {
    one.started_at_ms.max(other.started_at_ms).saturating_sub(end(one).min(end(other)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// A run that ended, of a named session.
    fn run(title: Option<&str>, answer: Option<&str>, (from, to): (u64, u64)) -> RunStatus {
        let status = json!({"run_id": uuid::Uuid::from_u128(1), "session_id": uuid::Uuid::from_u128(2), "session_name": "s",
            "runner": "codex", "title": title, "state": "completed", "started_at_ms": from, "updated_at_ms": to,
            "ended_at_ms": to, "frames": 9, "records": 3, "invalid_records": 0, "records_with_errors": 0, "tool_calls": 1,
            "usage": {}, "warnings": {}, "pending_approvals": [], "final_text": answer});
        serde_json::from_value(status).unwrap()
    }

    fn nameless(mut status: RunStatus) -> RunStatus {
        status.session_name.clear();
        status
    }

    /// Long enough not to have arrived at once.
    const LONG: u64 = 10 * AT_ONCE_MS;

    #[test]
    fn runs_of_a_session_are_the_same_if_they_were_at_work_at_the_same_time() {
        let seen = run(Some("Fix it"), Some("Done."), (LONG, 2 * LONG));
        let stored = |title, answer, times| likeness(&run(title, answer, times), &seen);
        assert_eq!(stored(None, Some(" Done.\n"), (LONG, 2 * LONG)), Some(Likeness::TimeAndEnd));
        assert_eq!(stored(None, Some("Half"), (LONG, 2 * LONG)), Some(Likeness::Time));
        // At least half of the shorter one.
        let half = LONG + LONG / 2;
        assert_eq!(stored(None, Some("x"), (half, half + LONG)), Some(Likeness::Time));
        assert_eq!(stored(None, Some("x"), (half + 1, half + 1 + LONG)), None);
        // The prompts contradict each other.
        assert_eq!(stored(Some("Break it"), Some("Done."), (LONG, 2 * LONG)), None);
        // A run that is still open.
        let mut open = run(None, None, (LONG, LONG));
        (open.state, open.ended_at_ms) = (RunState::Running, None);
        assert_eq!(likeness(&open, &seen), Some(Likeness::Time));
    }

    #[test]
    fn a_stream_without_times_of_its_own_counts_by_its_answer() {
        let seen = run(Some("Fix it"), Some("Done."), (LONG, 2 * LONG));
        let stored = |answer, took| likeness(&run(None, answer, (9 * LONG, 9 * LONG + took)), &seen);
        assert_eq!(stored(Some("Done."), AT_ONCE_MS), Some(Likeness::End));
        assert_eq!(stored(Some("Done."), AT_ONCE_MS + 1), None, "its times are its own");
        assert_eq!(stored(Some("Other."), 0), None);
        // Without an answer, what was done counts.
        let mut failed = run(None, None, (9 * LONG, 9 * LONG));
        let seen = run(Some("Fix it"), None, (LONG, 2 * LONG));
        assert_eq!(likeness(&failed, &seen), Some(Likeness::End));
        failed.tool_calls += 1;
        assert_eq!(likeness(&failed, &seen), None);
    }

    #[test]
    fn a_document_with_more_work_replaces_an_earlier_state_of_it() {
        let of = |records: u64, tokens: u64| {
            let mut status = run(Some("Fix it"), Some("Done."), (LONG, 2 * LONG));
            (status.records, status.usage.input_tokens, status.usage.output_tokens) = (records, Some(tokens), Some(1));
            status
        };
        assert!(has_more_work(&of(1, 10), &of(1, 20)) && has_more_work(&of(0, 10), &of(1, 11)));
        assert!(!has_more_work(&of(1, 10), &of(1, 10)), "the same again");
        assert!(!has_more_work(&of(1, 20), &of(1, 10)), "the runner's export of it, without subagents");
        assert!(!has_more_work(&of(3, 10), &of(1, 20)), "a stream");
        let mut later = of(1, 20);
        (later.started_at_ms, later.ended_at_ms) = (9 * LONG, Some(10 * LONG));
        assert!(!has_more_work(&of(1, 10), &later), "another run");
    }

    #[test]
    fn a_stream_without_a_session_needs_the_prompt_and_the_answer() {
        let seen = run(Some("Fix it"), Some("Done."), (LONG, 2 * LONG));
        let stored = |title, answer, from| likeness(&nameless(run(title, answer, (from, from + LONG))), &seen);
        let end = 2 * LONG;
        assert_eq!(stored(Some("Fix it"), Some("Done."), end + CLOSE_MS), Some(Likeness::End));
        assert_eq!(stored(Some("Fix it"), Some("Done."), end + CLOSE_MS + 1), None);
        assert_eq!(stored(None, Some("Done."), end + 1), None);
        assert_eq!(stored(None, Some("Done."), LONG), Some(Likeness::TimeAndEnd));
        assert_eq!(stored(None, None, LONG), None, "another run may be at work at that time");
        // Neither names the session: only equal records count, which are compared elsewhere.
        let both = nameless(seen.clone());
        assert_eq!(likeness(&both, &both), None);
    }
}
