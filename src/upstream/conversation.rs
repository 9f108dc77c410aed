//! What clients and the proxy say to one runner, and the outcome of each message.
//!
//! Input: the runner's records and the frames made of them, messages from clients, the time. Output: what to send to the
//! runner, one piece at a time; the decisions to record as frames. Never: waiting; a question answered twice; a question left
//! unanswered past the configured time; an answer recorded before it was passed on.
//!
//! The driver of the runner calls, in a loop: [`Conversation::step`]; [`Conversation::take_resolutions`], each for
//! `Ingest::resolve`; [`Conversation::take_sending`] and, once that is sent, [`Conversation::sent`]. Then it waits for the
//! runner's output (`Ingest::feed_to`), for a message to the runner ([`Conversation::deliver`]), or for
//! [`Conversation::deadline`].

mod prompts;
mod questions;
mod receiving;
#[cfg(test)]
mod tests;

use super::handles::{Entered, Envelope, Handle, Handles, MessageError};
use super::metering;
use crate::log::StreamId;
use crate::policy::{Policy, Verdict};
use crate::runs::Runs;
use crate::telemetry::metrics::UpstreamMeter;
use framegate_translators::frame::{ApprovalResolved, Decision, SharedStr, StreamKind};
use framegate_translators::host::{
    Answer, Dialogue, HostMessage, Offer, Opening, Outgoing, SendError, Served, ServiceError, ServiceRequest,
};
use framegate_translators::redact::{Rules, words_of};
use prompts::Prompts;
use questions::{Own, Questions, State};
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

/// How many sessions of one runner accept messages at a time. Beyond that, the session heard of least recently is dropped.
const MAX_SESSIONS: usize = 1024;
/// How many pieces may wait to be sent. Beyond that, requests from the runner that involve no person go unanswered.
const MAX_UNSENT: usize = 4096;
/// Delay before the proxy retries one of its own answers that could not be passed on, in milliseconds.
const TRY_AGAIN_MS: u64 = 1_000;
/// How often the proxy tries to pass on such an answer.
const MAX_TRIES: u32 = 5;

/// What a conversation needs.
pub struct Setup {
    /// The runner's protocol; `None` if it has none, so that the runner accepts no messages.
    pub dialogue: Option<Box<dyn Dialogue>>,
    /// The upstream's name, for rules that name upstreams.
    pub upstream: String,
    /// The rules that decide questions without asking a person.
    pub policy: Arc<Policy>,
    /// Registers the runs and sessions that accept messages.
    pub handles: Arc<Handles>,
    /// Counts runs and questions.
    pub meter: UpstreamMeter,
    /// The redaction rules for frames; `None` if redaction is off.
    pub redaction: Option<Arc<Rules>>,
}

/// The conversation with one runner.
pub struct Conversation {
    dialogue: Option<Box<dyn Dialogue>>,
    upstream: String,
    policy: Arc<Policy>,
    handles: Arc<Handles>,
    handle: Handle,
    runs: Vec<Run>,
    sessions: VecDeque<Session>,
    questions: Questions,
    /// What waits to be sent, oldest first.
    outbox: VecDeque<Queued>,
    underway: Option<Underway>,
    resolutions: Vec<(StreamId, ApprovalResolved)>,
    meter: UpstreamMeter,
    redaction: Option<Arc<Rules>>,
    prompts: Prompts,
}

/// A run in progress.
struct Run {
    id: Uuid,
    session: Arc<str>,
    /// Whether the run reported the prompt that it began with.
    told_prompt: bool,
    /// Who interrupted it through the proxy: a person's name, or a budget.
    interrupted_by: Option<String>,
    _entered: Entered,
}

struct Session {
    id: Uuid,
    name: Arc<str>,
    _entered: Entered,
}

/// One piece to send, and what follows once it is sent.
struct Queued {
    outgoing: Outgoing,
    then: Option<Then>,
}

struct Underway {
    /// The path, if the piece is an HTTP request.
    path: Option<String>,
    then: Option<Then>,
}

/// What to do once something has been passed on.
struct Then {
    done: Option<oneshot::Sender<Result<(), MessageError>>>,
    answered: Option<(StreamId, ApprovalResolved)>,
    /// The prompt's number.
    prompt: Option<u64>,
}

impl Conversation {
    /// Creates a conversation without messages, and the receiver of messages for [`Conversation::deliver`].
    pub fn new(setup: Setup) -> (Self, mpsc::Receiver<Envelope>) {
        let (handle, inbox) = Handle::new();
        let Setup { dialogue, upstream, policy, handles, meter, redaction } = setup;
        let conversation = Self {
            dialogue,
            upstream,
            policy,
            handles,
            handle,
            runs: Vec::new(),
            sessions: VecDeque::new(),
            questions: Questions::default(),
            outbox: VecDeque::new(),
            underway: None,
            resolutions: Vec::new(),
            meter,
            redaction,
            prompts: Prompts::default(),
        };
        (conversation, inbox)
    }

    /// Tells the dialogue what the proxy offers to the runner, before [`Conversation::open`].
    pub fn offer(&mut self, offer: Offer) {
        if let Some(dialogue) = &mut self.dialogue {
            dialogue.offer(offer);
        }
    }

    /// What the runner asks the proxy to do. Each result belongs to [`Conversation::served`].
    pub fn take_services(&mut self) -> Vec<ServiceRequest> {
        self.dialogue.as_mut().map(|dialogue| dialogue.take_services()).unwrap_or_default()
    }

    /// Passes on the result of such a request.
    pub fn served(&mut self, ticket: u64, result: Result<Served, ServiceError>) {
        if let Some(dialogue) = &mut self.dialogue {
            dialogue.served(ticket, result);
        }
    }

    /// Queues the opening messages.
    pub fn open(&mut self, opening: &Opening) {
        if let Some(dialogue) = &mut self.dialogue {
            dialogue.open(opening);
        }
    }

    /// Why the runner refused what it was opened for, in the runner's own words.
    pub fn refusal(&self) -> Option<&str> {
        self.dialogue.as_ref()?.refusal()
    }

    /// The number of runs in progress.
    pub fn open_runs(&self) -> usize {
        self.runs.len()
    }

    /// The number of prompts that have been sent but have not started a run yet.
    pub fn due_runs(&self) -> usize {
        self.prompts.due()
    }

    /// A number that changes whenever a prompt is sent and when a run begins or ends.
    pub fn turns(&self) -> u64 {
        self.prompts.changes
    }

    /// Stops waiting for runs of prompts that were sent.
    pub fn forget_due_runs(&mut self) {
        self.prompts.forget();
    }

    /// Closes what is open: nothing more arrives from the runner.
    pub fn over(&mut self, runs: &Runs) {
        metering::settle(&mut self.meter, runs);
        self.meter.unanswered(self.questions.clear());
    }

    /// Handles a message to the runner. Returns an interruption that the runner's protocol cannot express: the caller can use
    /// a signal instead.
    pub fn deliver(&mut self, envelope: Envelope) -> Option<Envelope> {
        let Envelope { message, to, by, done } = envelope;
        if let HostMessage::Answer { approval_id, answer } = message {
            let outcome = match self.find_question(to, &approval_id) {
                Err(error) => Err(error),
                Ok(stream) => match self.answer(stream, &approval_id, answer, Some(by)) {
                    Ok(answered) => {
                        self.collect(Then { done: Some(done), answered: Some(answered), prompt: None });
                        return None;
                    }
                    Err(error) => Err(error.into()),
                },
            };
            let _ = done.send(outcome);
            return None;
        }
        if let Some(outcome) = self.needs_no_interrupt(&message, to) {
            let _ = done.send(outcome);
            return None;
        }
        let session = self.session_of(to);
        let outcome = match &mut self.dialogue {
            Some(dialogue) => dialogue.send(session.as_deref(), &message),
            None => Err(SendError::Unsupported("this runner accepts only its first prompt")),
        };
        match outcome {
            Ok(()) => {
                let prompt = match &message {
                    HostMessage::Prompt(text) => Some(self.prompts.said(text)),
                    HostMessage::Interrupt => {
                        let is_meant = |run: &&mut Run| to.is_none_or(|to| to == (StreamKind::Session, run.id));
                        self.runs.iter_mut().filter(is_meant).for_each(|run| {
                            run.interrupted_by.get_or_insert_with(|| by.clone());
                        });
                        None
                    }
                    _ => None,
                };
                self.collect(Then { done: Some(done), answered: None, prompt });
            }
            Err(_) if message == HostMessage::Interrupt => return Some(Envelope { message, to, by, done }),
            Err(error) => {
                let _ = done.send(Err(error.into()));
            }
        }
        None
    }

    /// The outcome of an interrupt that must not reach the runner, because it could stop the next run: the run is being interrupted already,
    /// or it is over.
    fn needs_no_interrupt(&self, message: &HostMessage, to: Option<StreamId>) -> Option<Result<(), MessageError>> {
        let run_id = to.filter(|_| *message == HostMessage::Interrupt && self.dialogue.is_some());
        let (StreamKind::Session, run_id) = run_id? else { return None };
        match self.runs.iter().find(|run| run.id == run_id) {
            None => Some(Err(MessageError::Gone)),
            Some(run) => run.interrupted_by.is_some().then_some(Ok(())),
        }
    }

    /// Does what is due at `now_ms`, on any clock that never runs backwards: decides new questions by rule or lets them wait,
    /// and decides questions whose time is over as configured.
    pub fn step(&mut self, now_ms: u64) {
        for (stream, approval_id) in self.questions.due(now_ms) {
            self.decide(stream, &approval_id, now_ms);
        }
    }

    /// When [`Conversation::step`] must be called next, on the same clock; `None` if nothing waits.
    pub fn deadline(&self) -> Option<u64> {
        self.questions.deadline()
    }

    /// What to send next; `None` while something is being sent.
    pub fn take_sending(&mut self) -> Option<Outgoing> {
        if self.underway.is_some() {
            return None;
        }
        self.collect_all(None);
        let Queued { outgoing, then } = self.outbox.pop_front()?;
        let path = match &outgoing {
            Outgoing::Post { path, .. } => Some(path.clone()),
            Outgoing::Input(_) | Outgoing::EndOfInput => None,
        };
        self.underway = Some(Underway { path, then });
        Some(outgoing)
    }

    /// Reports the outcome of the last piece taken: the body of the server's answer if it was a request, or why sending
    /// failed.
    pub fn sent(&mut self, outcome: Result<Vec<u8>, String>) {
        let Some(Underway { path, then }) = self.underway.take() else { return };
        if let (Some(path), Ok(body), Some(dialogue)) = (&path, &outcome, &mut self.dialogue) {
            dialogue.replied(path, body);
        }
        if let Some(then) = then {
            self.finish(then, outcome.map(drop));
        }
    }

    /// The decisions passed on since the last call, each with the stream of its question.
    pub fn take_resolutions(&mut self) -> Vec<(StreamId, ApprovalResolved)> {
        std::mem::take(&mut self.resolutions)
    }

    /// The stream of a question that still waits for an answer.
    fn find_question(&self, to: Option<StreamId>, approval_id: &str) -> Result<StreamId, MessageError> {
        let of_session = self.runs.iter().find(|run| to == Some((StreamKind::Session, run.id)));
        // A question asked between runs can be answered through any run of the session.
        let thread = of_session.and_then(|run| self.sessions.iter().find(|session| session.name == run.session));
        let streams = to.into_iter().chain(thread.map(|session| (StreamKind::Thread, session.id)));
        let states = streams.filter_map(|stream| Some((stream, self.questions.state(stream, approval_id)?)));
        let mut answered = false;
        for (stream, state) in states {
            match state {
                State::New | State::Waits { .. } | State::Retries { .. } | State::Stuck => return Ok(stream),
                State::Answering | State::Settled => answered = true,
            }
        }
        let id = approval_id.to_owned();
        // The run may have ended since its handle was looked up. Its questions are forgotten then.
        let is_over = of_session.is_none() && to.is_some_and(|(kind, _)| kind == StreamKind::Session);
        Err(match answered {
            true => MessageError::Answered(id),
            false if is_over => MessageError::Gone,
            false => MessageError::UnknownQuestion(id),
        })
    }

    /// Translates an answer into the runner's protocol.
    fn answer(
        &mut self,
        stream: StreamId,
        approval_id: &SharedStr,
        answer: Answer,
        by: Option<String>,
    ) -> Result<(StreamId, ApprovalResolved), SendError> {
        let Some(dialogue) = &mut self.dialogue else {
            return Err(SendError::Unsupported(
                "this proxy takes no answers for the run; the proxy that has its runner does",
            ));
        };
        let no_question = || SendError::UnknownQuestion(approval_id.clone());
        let question = dialogue.question(approval_id).ok_or_else(no_question)?;
        if question.wants_answers && answer.decision == Decision::Approved && answer.answers.is_empty() {
            return Err(SendError::Unsupported("this question requires a choice or a text: send it in `answers`"));
        }
        let rules = self.redaction.as_deref();
        let shown = self.questions.find(stream, approval_id).map(|question| question.args.clone());
        let args: Vec<_> = question.args.iter().chain(&shown).collect();
        let reason = match (&answer.reason, rules) {
            (Some(reason), Some(rules)) => Some(rules.without_secrets(reason)),
            (Some(reason), None) => Some(reason.clone()),
            (None, _) => words_of(rules, &args, &answer.answers),
        };
        let resolved = ApprovalResolved {
            approval_id: approval_id.clone(),
            decision: answer.decision,
            by: by.map(SharedStr::from),
            reason,
            scope: answer.scope.clone(),
        };
        dialogue.send(None, &HostMessage::Answer { approval_id: approval_id.clone(), answer })?;
        self.questions.answering(stream, approval_id);
        self.handles.unask(stream, approval_id);
        Ok((stream, resolved))
    }

    /// Decides a question that is new or that was not answered in time.
    fn decide(&mut self, stream: StreamId, approval_id: &SharedStr, now_ms: u64) {
        let asked = self.dialogue.as_ref().and_then(|dialogue| dialogue.question(approval_id));
        let Some(question) = self.questions.find(stream, approval_id) else { return };
        let Some(asked) = asked else {
            // The runner reported a question that the dialogue does not know. The proxy cannot answer it; the runner may.
            question.state = State::Stuck;
            return;
        };
        if question.own.is_none() {
            let policy = &self.policy;
            let own = match question.state {
                _ if question.is_too_much => Some(Own::too_many()),
                _ if asked.unanswerable.is_some() => asked.unanswerable.clone().map(Own::unanswerable),
                State::New => policy
                    .rule(&self.upstream, &question.tool_name, asked.args.as_ref().unwrap_or(&question.args))
                    .and_then(|rule| {
                        let decision = match rule.verdict() {
                            // Bare approval is not a valid answer to a question that asks for a choice or a text.
                            Verdict::Allow if asked.wants_answers => return None,
                            Verdict::Allow => Decision::Approved,
                            Verdict::Deny => Decision::Rejected,
                            Verdict::Ask => return None,
                        };
                        let reason = rule.reason().map(str::to_owned);
                        Some(Own { decision, by: format!("rule:{}", rule.name()), reason })
                    }),
                _ => Some(Own::too_late(policy, asked.wants_answers)),
            };
            if own.is_none() {
                question.state = State::Waits { until_ms: now_ms.saturating_add(policy.timeout_ms) };
                self.handles.ask(stream, approval_id);
            }
            question.own = own;
        }
        let Some(Own { decision, by, reason }) = question.own.clone() else { return };
        question.tries += 1;
        if question.tries > MAX_TRIES {
            tracing::warn!(
                approval = &**approval_id,
                "a question stays open because its answer could not be passed on"
            );
            question.state = State::Stuck;
            return;
        }
        question.retry_at_ms = now_ms.saturating_add(TRY_AGAIN_MS);
        let answer = Answer { decision, reason, scope: None, answers: Vec::new() };
        match self.answer(stream, approval_id, answer, Some(by)) {
            Ok(answered) => self.collect(Then { done: None, answered: Some(answered), prompt: None }),
            Err(error) => {
                tracing::warn!(approval = &**approval_id, %error, "a question cannot be answered");
                if let Some(question) = self.questions.find(stream, approval_id) {
                    question.state = match question.own.as_mut().and_then(|own| own.refuse_instead(&error)) {
                        Some(()) => State::Retries { at_ms: now_ms },
                        None => State::Stuck,
                    };
                }
            }
        }
    }

    /// Queues what the dialogue wants to send. `then` follows the last piece, or runs at once if there is nothing to send.
    fn collect(&mut self, then: Then) {
        if let Some(then) = self.collect_all(Some(then)) {
            self.finish(then, Ok(()));
        }
    }

    fn collect_all(&mut self, mut then: Option<Then>) -> Option<Then> {
        let mut sendings = self.dialogue.as_mut().map(|dialogue| dialogue.take()).unwrap_or_default().into_iter();
        while let Some(outgoing) = sendings.next() {
            if self.outbox.len() >= MAX_UNSENT && then.is_none() {
                tracing::warn!(
                    "a runner asks many questions but does not read the answers; further questions are not answered"
                );
                break;
            }
            let then = if sendings.len() == 0 { then.take() } else { None };
            self.outbox.push_back(Queued { outgoing, then });
        }
        then
    }

    fn finish(&mut self, then: Then, outcome: Result<(), String>) {
        let Then { done, answered, prompt } = then;
        if let (Some(number), Err(_)) = (prompt, &outcome) {
            self.prompts.failed(number);
        }
        if let Some((stream, answer)) = answered {
            match &outcome {
                Ok(()) => {
                    if self.questions.settle(stream, &answer.approval_id) {
                        self.meter.answered(&answer, true);
                        self.resolutions.push((stream, answer));
                    }
                }
                Err(error) => {
                    tracing::warn!(approval = &*answer.approval_id, %error, "an answer could not be passed on");
                    self.questions.failed(stream, &answer.approval_id);
                    if self.questions.waits(stream, &answer.approval_id) {
                        self.handles.ask(stream, &answer.approval_id);
                    }
                }
            }
        }
        if let Some(done) = done {
            let _ = done.send(outcome.map_err(MessageError::Failed));
        }
    }

    /// The runner's own name of the session that a message is addressed to.
    fn session_of(&self, to: Option<StreamId>) -> Option<Arc<str>> {
        let name = match to? {
            (StreamKind::Session, id) => self.runs.iter().find(|run| run.id == id).map(|run| run.session.clone()),
            (_, id) => self.sessions.iter().find(|session| session.id == id).map(|session| session.name.clone()),
        };
        name.filter(|name| !name.is_empty())
    }
}
