//! The conversation with one client: its prompts, one after the other, as runs of the proxy.
//!
//! Input: the client's lines, and reports of what the proxy did. Output: messages for the client, and what to do at the proxy. Never: I/O; two
//! runs at once; a prompt without a result; a prompt that runs twice; a question that is answered twice; an unbounded queue.

mod control;
mod events;
mod prompts;
#[cfg(test)]
mod tests;

use super::fields::Fields;
use super::incoming::{self, Content, Incoming, Prompt};
use super::permissions::{Answerer, Permissions};
use super::replies;
use crate::cli::bridge::{Failure, Line, Order, Started};
use crate::clock::Clock;
use prompts::{Added, Prompts};
use serde_json::Value;
use std::collections::BTreeMap;
use uuid::Uuid;

/// What to do.
#[derive(Debug)]
pub(super) enum Action {
    /// Write a message for the client.
    Write(Fields),
    /// Start a run and follow its events; the number is that of the run.
    Start(u64, Order),
    /// Answer a question.
    Decide { turn: u64, run: Uuid, approval: String, decision: Value },
    /// Interrupt a run. A request of the client that waits for this is answered afterwards.
    Interrupt { run: Uuid, request: Option<String> },
    /// Remember the session for later processes: the client's id, and the id or name with which it continues.
    Remember { shown: String, session: String },
    /// Tell the user.
    Warn(String),
}

/// What happened.
#[derive(Debug)]
pub(super) enum Report {
    /// A run began, or why there is none. The text is the runner's own name of the session, if it is known.
    Started { turn: u64, outcome: Result<(Started, String), String> },
    /// The run has a message.
    Event { turn: u64, event: Fields },
    /// No more messages of the run come, for this reason.
    Ended { turn: u64, reason: String },
    /// An answer was not passed on.
    NotDecided { turn: u64, run: Uuid, approval: String, decision: Value, failure: Failure },
    /// An interruption was passed on, or why not.
    Interrupted { request: Option<String>, outcome: Result<(), String> },
}

/// The unchanging properties of a conversation.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) upstream: String,
    /// The directory of the runs; `None` for that of the upstream.
    pub(super) cwd: Option<String>,
    /// The directory of the client, for its messages.
    pub(super) shown_cwd: String,
    /// The model unless the client chooses another one.
    pub(super) model: Option<String>,
    pub(super) has_partial_messages: bool,
    pub(super) repeats_prompts: bool,
    pub(super) max_turns: Option<u64>,
    pub(super) states: States,
    /// Whether the name of the session is needed to continue it, because the proxy ends with the conversation.
    pub(super) names_sessions: bool,
    pub(super) clock: Clock,
}

/// Whether changes of the state are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum States {
    #[default]
    None,
    /// For the SDK alone.
    Host,
    /// For its user too.
    All,
}

/// The session of the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Session {
    /// The client's id; `None` before the first run of a session to which the client gave none.
    pub(super) shown: Option<String>,
    /// With which id or name it continues; `None` for a new session.
    pub(super) continues: Option<String>,
}

/// The conversation.
#[derive(Debug)]
pub(super) struct Conversation {
    settings: Settings,
    permissions: Permissions,
    session: Session,
    model: Option<String>,
    /// What precedes the first prompt of a new session.
    instructions: Vec<String>,
    waiting: Prompts,
    run: Option<Run>,
    turns: u64,
    questions: u64,
    /// Whether standard input has ended.
    has_ended: bool,
    /// Whether no further run begins.
    is_stopping: bool,
    /// Whether the last result was an error.
    has_failed: bool,
    /// The state that the client knows.
    state: &'static str,
    /// Which session is remembered.
    remembered: Option<(String, String)>,
    has_left_a_question: bool,
    is_initialized: bool,
    /// Why the client's last `initialize` was refused. Its prompts must not run, because what it asked for may be there to guard them.
    refusal: Option<String>,
}

/// The run in progress.
#[derive(Debug, Default)]
struct Run {
    turn: u64,
    /// `None` until the proxy has started it.
    id: Option<Uuid>,
    prompt: Option<Prompt>,
    /// The interruptions that wait until the run has begun.
    interruptions: Vec<Option<String>>,
    /// The runner's questions, by the id of the approval.
    questions: BTreeMap<String, Question>,
    /// The model messages of the main thread.
    messages: Vec<String>,
    /// Whether the run had too many turns, so that it was interrupted.
    is_over_limit: bool,
}

/// A question of the run.
#[derive(Debug)]
enum Question {
    /// The client was asked in this request about these arguments.
    Asked { request: String, input: Value },
    /// It was answered, or others answer it.
    Settled,
}

impl Conversation {
    pub(super) fn new(
        settings: Settings,
        permissions: Permissions,
        session: Session,
        instructions: Vec<String>,
    ) -> Self {
        Self {
            model: settings.model.clone(),
            settings,
            permissions,
            session,
            instructions,
            waiting: Prompts::default(),
            run: None,
            turns: 0,
            questions: 0,
            has_ended: false,
            is_stopping: false,
            has_failed: false,
            state: "idle",
            remembered: None,
            has_left_a_question: false,
            is_initialized: false,
            refusal: None,
        }
    }

    /// Takes a line of the client.
    pub(super) fn line(&mut self, line: &Line) -> Vec<Action> {
        match incoming::read(line) {
            Ok(Incoming::Prompt(prompt)) => self.prompt(prompt),
            Ok(Incoming::Request { id, subtype, fields }) => self.request(&id, &subtype, &fields),
            Ok(Incoming::Answer { id, outcome }) => self.answer(&id, &outcome),
            Ok(Incoming::Nothing) => Vec::new(),
            Err(error) => vec![Action::Warn(error)],
        }
    }

    /// Takes a prompt. One that the client sends again has its run already.
    pub(super) fn prompt(&mut self, mut prompt: Prompt) -> Vec<Action> {
        prompt.message = prompt.message.filter(|_| self.settings.repeats_prompts);
        if let Some(reason) = &self.refusal {
            prompt.content = Err(reason.clone());
        }
        let mut actions = Vec::new();
        match self.waiting.add(prompt) {
            Added::Waits => self.go_on(&mut actions),
            Added::Known(prompt) => self.repeat(&prompt, &mut actions),
            Added::Full => actions.push(self.failed("too many prompts wait")),
        }
        actions
    }

    /// No more lines of the client follow: nothing can be asked any more.
    pub(super) fn end(&mut self) -> Vec<Action> {
        self.has_ended = true;
        if self.permissions.answerer == Answerer::Client {
            self.permissions.answerer = Answerer::None;
        }
        let mut actions = Vec::new();
        let asked: Vec<String> = self.run.iter().flat_map(Run::asked).map(|(request, _)| request.to_owned()).collect();
        for request in asked {
            actions.extend(self.answer(&request, &Err("the client has closed its input".to_owned())));
        }
        actions
    }

    /// Begins no further run, and interrupts the one in progress.
    pub(super) fn stop(&mut self) -> Vec<Action> {
        self.is_stopping = true;
        self.has_ended = true;
        self.waiting.cancel_all();
        self.interrupt(None)
    }

    /// The exit code, once nothing more will happen.
    pub(super) fn exit_code(&self) -> Option<u8> {
        (self.has_ended && self.run.is_none() && self.waiting.is_empty()).then_some(u8::from(self.has_failed))
    }

    /// Takes a report.
    pub(super) fn report(&mut self, report: Report) -> Vec<Action> {
        let mut actions = Vec::new();
        match report {
            Report::Started { turn, outcome } if self.is_current(turn) => match outcome {
                Ok((started, name)) => self.started(&started, &name, &mut actions),
                Err(reason) => self.lost(&reason, &mut actions),
            },
            Report::Event { turn, event } if self.is_current(turn) => self.event(event, &mut actions),
            Report::Ended { turn, reason } if self.is_current(turn) => self.lost(&reason, &mut actions),
            Report::Started { .. } | Report::Event { .. } | Report::Ended { .. } => {}
            Report::NotDecided { turn, run, approval, decision, failure } => {
                self.not_decided(turn, run, approval, &decision, &failure, &mut actions);
            }
            Report::Interrupted { request, outcome } => match (request, outcome) {
                (Some(request), Ok(())) => actions.push(Action::Write(replies::success(&request, &self.receipt()))),
                (Some(request), Err(reason)) => actions.push(Action::Write(replies::error(&request, &reason))),
                (None, Ok(())) => {}
                (None, Err(reason)) => actions.push(Action::Warn(format!("the run was not interrupted: {reason}"))),
            },
        }
        actions
    }

    fn is_current(&self, turn: u64) -> bool {
        self.run.as_ref().is_some_and(|run| run.turn == turn)
    }

    /// Starts the next run, if there is none.
    fn go_on(&mut self, actions: &mut Vec<Action>) {
        while self.run.is_none() && !self.is_stopping {
            let Some(mut prompt) = self.waiting.next() else { break };
            match std::mem::replace(&mut prompt.content, Ok(Content::default())) {
                Ok(Content { text, files }) => {
                    let new = self.session.continues.is_none();
                    let before = self.instructions.iter().filter(|_| new).map(String::as_str);
                    let text = before.chain([text.as_str()]).collect::<Vec<_>>().join("\n\n");
                    self.turns += 1;
                    let order = Order {
                        upstream: self.settings.upstream.clone(),
                        prompt: text,
                        files,
                        session_id: self.session.continues.clone(),
                        cwd: self.settings.cwd.clone(),
                        model: self.model.clone(),
                        mode: None,
                    };
                    self.run = Some(Run { turn: self.turns, prompt: Some(prompt), ..Run::default() });
                    actions.push(Action::Start(self.turns, order));
                }
                Err(reason) => actions.push(self.failed(&reason)),
            }
        }
        self.tell_state(actions);
    }

    fn started(&mut self, started: &Started, name: &str, actions: &mut Vec<Action>) {
        let at_proxy = started.session_id.to_string();
        let shown = self.session.shown.get_or_insert_with(|| at_proxy.clone()).clone();
        // The proxy knows the session by its id as long as it runs.
        self.session.continues = Some(at_proxy.clone());
        let session = if self.settings.names_sessions && !name.is_empty() { name.to_owned() } else { at_proxy };
        let remembered = (shown.clone(), session.clone());
        if self.remembered.as_ref() != Some(&remembered) {
            self.remembered = Some(remembered);
            actions.push(Action::Remember { shown, session });
        }
        if let Some(run) = &mut self.run {
            run.id = Some(started.run_id);
            let interruptions = std::mem::take(&mut run.interruptions);
            actions.extend(interruptions.into_iter().map(|request| Action::Interrupt { run: started.run_id, request }));
        }
        self.tell_state(actions);
    }

    /// The run is over without a result.
    fn lost(&mut self, reason: &str, actions: &mut Vec<Action>) {
        let Some(run) = self.run.take() else { return };
        for request in run.interruptions.into_iter().flatten() {
            actions.push(Action::Write(replies::success(&request, &self.receipt())));
        }
        for question in run.questions.into_values() {
            if let Question::Asked { request, .. } = question {
                actions.push(Action::Write(events::withdrawal(&request)));
            }
        }
        actions.push(self.failed(reason));
        self.go_on(actions);
    }

    /// The result of a prompt that led to none.
    fn failed(&mut self, reason: &str) -> Action {
        self.has_failed = true;
        let uuid = self.new_id();
        let session = self.session.shown.get_or_insert_with(|| uuid.clone()).clone();
        Action::Write(replies::failure(reason, &session, &uuid))
    }

    fn new_id(&self) -> String {
        self.settings.clock.new_id().to_string()
    }

    /// Writes the state if it has changed.
    fn tell_state(&mut self, actions: &mut Vec<Action>) {
        let state = match &self.run {
            Some(run) if run.asked().next().is_some() => "requires_action",
            Some(_) => "running",
            None => "idle",
        };
        let Some(session) = self.session.shown.clone().filter(|_| self.state != state) else { return };
        self.state = state;
        if self.settings.states != States::None {
            let is_for_host = self.settings.states == States::Host;
            actions.push(Action::Write(replies::state(state, is_for_host, &session, &self.new_id())));
        }
    }
}

impl Run {
    /// The questions that the client has not answered: the requests, and the arguments.
    fn asked(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.questions.values().filter_map(|question| match question {
            Question::Asked { request, input } => Some((request.as_str(), input)),
            Question::Settled => None,
        })
    }
}
