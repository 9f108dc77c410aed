//! The waiting questions of one runner, and those that were answered.
//!
//! Input: questions and their outcomes. Output: the questions that are due. Never: more of either than its bound.

use crate::log::StreamId;
use crate::policy::Policy;
use framegate_translators::frame::{ApprovalRequested, Decision, RawJson, SharedStr};
use framegate_translators::host::SendError;
use std::collections::VecDeque;

/// How many questions of one runner may wait for an answer. Further questions are rejected.
const MAX_WAITING: usize = 256;
/// How many questions may wait for their rejection. Further questions are left to the runner.
const MAX_REFUSED: usize = 256;
/// How many settled questions are remembered, to distinguish a second answer from an answer to an unknown question.
const MAX_SETTLED: usize = 1024;

/// The state of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// The question has not been looked at.
    New,
    /// Waits for an answer until this time.
    Waits { until_ms: u64 },
    /// An answer is being passed on.
    Answering,
    /// The proxy's own answer could not be passed on and is retried at this time.
    Retries { at_ms: u64 },
    /// The proxy has given up on its own answer. Clients may still answer.
    Stuck,
    /// The question has been answered.
    Settled,
}

/// An answer that the proxy decided itself.
#[derive(Clone, Debug)]
pub(super) struct Own {
    pub(super) decision: Decision,
    pub(super) by: String,
    pub(super) reason: Option<String>,
}

impl Own {
    pub(super) fn too_many() -> Self {
        let reason = "too many questions wait already".to_owned();
        Self { decision: Decision::Rejected, by: "policy:limit".to_owned(), reason: Some(reason) }
    }

    pub(super) fn unanswerable(why: String) -> Self {
        Self { decision: Decision::Rejected, by: "policy:unanswerable".to_owned(), reason: Some(why) }
    }

    /// Rejects what the runner offers no way to approve; `None` if it was to be rejected.
    pub(super) fn refuse_instead(&mut self, error: &SendError) -> Option<()> {
        (self.decision == Decision::Approved).then(|| {
            self.decision = Decision::Rejected;
            self.reason = Some(format!("it could not be approved: {error}"));
        })
    }

    pub(super) fn too_late(policy: &Policy, wants_answers: bool) -> Self {
        let is_yes = policy.allow_unanswered && !wants_answers;
        let decision = if is_yes { Decision::Approved } else { Decision::TimedOut };
        let reason = match policy.timeout_ms {
            0 => "no client can answer here".to_owned(),
            _ => format!("nobody answered within {} ms", policy.timeout_ms),
        };
        Self { decision, by: "policy:timeout".to_owned(), reason: Some(reason) }
    }
}

#[derive(Debug)]
pub(super) struct Question {
    approval_id: SharedStr,
    pub(super) tool_name: SharedStr,
    /// The arguments as in the frame.
    pub(super) args: RawJson,
    pub(super) state: State,
    /// The state before the current answer was being passed on.
    before: State,
    /// The proxy's own answer, once decided.
    pub(super) own: Option<Own>,
    /// When the proxy's own answer is retried if passing it on fails.
    pub(super) retry_at_ms: u64,
    /// How often passing on the proxy's own answer was tried.
    pub(super) tries: u32,
    /// Whether the question arrived when too many were waiting.
    pub(super) is_too_much: bool,
}

impl Question {
    pub(super) fn new(request: &ApprovalRequested) -> Self {
        Self {
            approval_id: request.approval_id.clone(),
            tool_name: request.tool_name.clone(),
            args: request.args.clone(),
            state: State::New,
            before: State::New,
            own: None,
            retry_at_ms: 0,
            tries: 0,
            is_too_much: false,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct Questions {
    waiting: Vec<(StreamId, Question)>,
    settled: VecDeque<(StreamId, SharedStr)>,
}

impl Questions {
    /// Adds a question. Returns `false` if it already waits or too many do. A settled question that is asked again waits
    /// again.
    pub(super) fn add(&mut self, stream: StreamId, mut question: Question) -> bool {
        let is_full = self.waiting.len() >= MAX_WAITING + MAX_REFUSED;
        if is_full || self.find(stream, &question.approval_id).is_some() {
            return false;
        }
        question.is_too_much = self.waiting.len() >= MAX_WAITING;
        self.settled.retain(|(of, id)| *of != stream || *id != question.approval_id);
        self.waiting.push((stream, question));
        true
    }

    pub(super) fn find(&mut self, stream: StreamId, approval_id: &str) -> Option<&mut Question> {
        let is_it = |(of, question): &&mut (StreamId, Question)| *of == stream && *question.approval_id == *approval_id;
        self.waiting.iter_mut().find(is_it).map(|(_, question)| question)
    }

    /// The state of a question; `None` if the question is unknown.
    pub(super) fn state(&self, stream: StreamId, approval_id: &str) -> Option<State> {
        let is_it = |(of, question): &&(StreamId, Question)| *of == stream && *question.approval_id == *approval_id;
        let waiting = self.waiting.iter().find(is_it).map(|(_, question)| question.state);
        let settled = || self.settled.iter().any(|(of, id)| *of == stream && **id == *approval_id);
        waiting.or_else(|| settled().then_some(State::Settled))
    }

    /// Records that an answer is being passed on.
    pub(super) fn answering(&mut self, stream: StreamId, approval_id: &str) {
        if let Some(question) = self.find(stream, approval_id) {
            question.before = question.state;
            question.state = State::Answering;
        }
    }

    /// Records that the answer could not be passed on; the question waits again.
    pub(super) fn failed(&mut self, stream: StreamId, approval_id: &str) {
        let Some(question) = self.find(stream, approval_id) else { return };
        question.state = match question.own {
            Some(_) => State::Retries { at_ms: question.retry_at_ms },
            None => question.before,
        };
    }

    /// Whether a question waits for a person.
    pub(super) fn waits(&mut self, stream: StreamId, approval_id: &str) -> bool {
        self.find(stream, approval_id).is_some_and(|question| matches!(question.state, State::Waits { .. }))
    }

    /// Settles a question. Returns `false` if it is not waiting, for example because it was settled before.
    pub(super) fn settle(&mut self, stream: StreamId, approval_id: &str) -> bool {
        let is_it = |(of, question): &(StreamId, Question)| *of == stream && *question.approval_id == *approval_id;
        let Some(at) = self.waiting.iter().position(is_it) else { return false };
        let (_, question) = self.waiting.remove(at);
        self.settled.push_back((stream, question.approval_id));
        if self.settled.len() > MAX_SETTLED {
            self.settled.pop_front();
        }
        true
    }

    /// Removes the questions of a stream that ended. Returns how many of them were waiting.
    pub(super) fn forget(&mut self, stream: StreamId) -> usize {
        let before = self.waiting.len();
        self.waiting.retain(|(of, _)| *of != stream);
        self.settled.retain(|(of, _)| *of != stream);
        before - self.waiting.len()
    }

    /// Removes all questions. Returns how many were waiting.
    pub(super) fn clear(&mut self) -> usize {
        self.settled.clear();
        std::mem::take(&mut self.waiting).len()
    }

    /// The questions that must be decided at `now_ms`.
    pub(super) fn due(&self, now_ms: u64) -> Vec<(StreamId, SharedStr)> {
        let due = self.waiting.iter().filter(|(_, question)| due_at(question).is_some_and(|due_at| due_at <= now_ms));
        due.map(|(stream, question)| (*stream, question.approval_id.clone())).collect()
    }

    /// When the next question must be decided; `None` if none has a deadline.
    pub(super) fn deadline(&self) -> Option<u64> {
        self.waiting.iter().filter_map(|(_, question)| due_at(question)).min()
    }
}

fn due_at(question: &Question) -> Option<u64> {
    match question.state {
        State::New => Some(0),
        State::Waits { until_ms: at_ms } | State::Retries { at_ms } => Some(at_ms),
        State::Answering | State::Stuck | State::Settled => None,
    }
}
