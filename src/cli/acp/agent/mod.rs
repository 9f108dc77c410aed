//! The agent's side of the protocol, without input and output.
//!
//! Input: lines from the client, and reports of what the proxy did. Output: messages for the client, and what to ask the proxy for. Never:
//! an update of a session before the answer that names it; two turns of one session at a time; a message of a turn after its answer;
//! a request of the client without an answer.

mod sessions;
#[cfg(test)]
mod tests;
mod turns;

use super::event::{Options, Reader};
use super::modes::{Mode, Modes};
use super::prompt::Prompt;
use super::rpc::{self, INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, Message, PARSE_ERROR, RpcError};
use super::session::{Record, Sessions};
use super::terminals::Terminals;
use crate::cli::bridge::{Line, Order, Started};
use crate::clock::Clock;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use uuid::Uuid;

/// The version of the protocol.
const VERSION: u16 = 1;

/// What the command line says.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    /// The name of the upstream.
    pub(super) upstream: String,
    /// The models that the client may choose; the first one is the default. Empty: that of the upstream.
    pub(super) models: Vec<String>,
    /// The modes that the client may choose; the first one is the default. Empty: those of the upstream.
    pub(super) modes: Vec<String>,
    /// Whether runs work in the client's directory.
    pub(super) sends_cwd: bool,
    /// The clock for ids and times.
    pub(super) clock: Clock,
}

/// What the agent asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Action {
    /// Write a message.
    Send(Value),
    /// Find out whether the proxy has the upstream, and report it for this request.
    Check { request: Value },
    /// Start a run, and report its messages for this turn.
    Start { turn: u64, order: OrderKey },
    /// Report the messages of a run after the one with this number, for this turn.
    Follow { turn: u64, run: Uuid, after: Option<u64> },
    /// Answer a question.
    Decide { run: Uuid, approval: String, decision: Value },
    /// Interrupt a run.
    Interrupt { run: Uuid },
    /// Read the runs of a session, and report their messages for this load if `replays`.
    Load { load: u64, session_id: Uuid, replays: bool },
    /// Keep what is known of a session.
    Remember(Record),
    /// Tell the user on standard error.
    Warn(String),
}

/// What to start.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OrderKey {
    pub(super) prompt: Prompt,
    pub(super) session_id: Option<Uuid>,
    pub(super) cwd: Option<String>,
    pub(super) model: Option<String>,
    pub(super) mode: Option<String>,
}

impl OrderKey {
    /// The request for the proxy.
    pub(super) fn of(self, upstream: &str) -> Order {
        let Self { prompt: Prompt { text: prompt, files }, session_id, cwd, model, mode } = self;
        let session_id = session_id.map(|id| id.to_string());
        Order { upstream: upstream.to_owned(), prompt, files, session_id, cwd, model, mode }
    }
}

/// A run of a session that is in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) run: Uuid,
    /// The number of its last message that was reported.
    pub(super) after: Option<u64>,
}

/// What the upstream can do.
#[derive(Clone, Debug, Default)]
pub(super) struct Abilities {
    /// Whether prompts may have images.
    pub(super) takes_images: bool,
    /// The modes that prompts may choose.
    pub(super) modes: Vec<Mode>,
    /// The mode of prompts that choose none; `None` for the choice of the runner.
    pub(super) mode: Option<String>,
}

/// What the proxy did.
#[derive(Debug)]
pub(super) enum Report {
    /// Whether the proxy has the upstream, and what it can do.
    Checked { request: Value, outcome: Result<Abilities, String> },
    /// Whether the run of a turn has begun.
    Started { turn: u64, outcome: Result<Started, String> },
    /// A message of a turn's run.
    Event { turn: u64, event: Value },
    /// The messages of a turn's run are over, and why.
    Ended { turn: u64, reason: String },
    /// An answer to a question was not passed on, and why.
    NotDecided { run: Uuid, approval: String, decision: Value, reason: String },
    /// The proxy could not be asked to interrupt a run, and why.
    NotInterrupted { run: Uuid, reason: String },
    /// A message of a session's history.
    History { load: u64, event: Value },
    /// The history is over. `None`: the proxy has no such session. Inside: the run in progress.
    Loaded { load: u64, outcome: Result<Option<Option<Open>>, String> },
}

/// A turn: from a prompt to its answer, or a run in progress that someone else started.
#[derive(Debug)]
struct Turn {
    session: String,
    /// The id of the request to answer; `None` if the client did not start the run.
    request: Option<Value>,
    run: Option<Uuid>,
    /// Whether the client has cancelled the turn.
    is_cancelled: bool,
    /// Its terminals, if the client shows them.
    terminals: Option<Terminals>,
}

/// A question that the client has not answered.
#[derive(Debug)]
struct Asked {
    turn: u64,
    run: Uuid,
    approval: String,
}

/// A history that is being read.
#[derive(Debug)]
struct Load {
    request: Value,
    session: String,
    /// Whether the session became known with this request.
    is_new: bool,
    /// The terminals of its runs, if the client shows them.
    terminals: Option<Terminals>,
}

/// The agent.
#[derive(Debug)]
pub(super) struct Agent {
    settings: Settings,
    is_initialized: bool,
    takes_notices: bool,
    /// Whether the client shows the output of commands as terminals.
    takes_terminals: bool,
    modes: Modes,
    sessions: Sessions,
    turns: BTreeMap<u64, Turn>,
    asked: BTreeMap<u64, Asked>,
    loads: BTreeMap<u64, Load>,
    /// The last number of a turn, a load or a request.
    last: u64,
    actions: Vec<Action>,
}

type Answered = Result<Option<Value>, RpcError>;

impl Agent {
    pub(super) fn new(settings: Settings, sessions: Sessions) -> Self {
        Self {
            settings,
            is_initialized: false,
            takes_notices: false,
            takes_terminals: false,
            modes: Modes::default(),
            sessions,
            turns: BTreeMap::new(),
            asked: BTreeMap::new(),
            loads: BTreeMap::new(),
            last: 0,
            actions: Vec::new(),
        }
    }

    /// Takes a line from the client.
    pub(super) fn line(&mut self, line: &Line) -> Vec<Action> {
        let message = match line {
            Line::Whole(line) => rpc::read(line),
            Line::TooLong(bytes) => {
                Err((Value::Null, RpcError::new(PARSE_ERROR, format!("the line of {bytes} bytes is too long"))))
            }
        };
        match message {
            Ok(Message::Request { id, method, params }) => match self.request(&id, &method, &params) {
                Ok(Some(result)) => self.send(rpc::result(&id, result)),
                // The answer follows.
                Ok(None) => {}
                Err(error) => self.send(rpc::error(&id, &error)),
            },
            Ok(Message::Notification { method, params }) => self.notification(&method, &params),
            Ok(Message::Answer { id, outcome }) => self.answer(&id, outcome),
            Err((id, error)) => self.send(rpc::error(&id, &error)),
        }
        std::mem::take(&mut self.actions)
    }

    /// Takes a report.
    pub(super) fn report(&mut self, report: Report) -> Vec<Action> {
        match report {
            Report::Checked { request, outcome } => self.checked(&request, outcome),
            Report::Started { turn, outcome } => self.started(turn, outcome),
            Report::Event { turn, event } => self.event(turn, event),
            Report::Ended { turn, reason } => self.end(turn, Err(reason)),
            Report::NotDecided { run, approval, decision, reason } => {
                self.not_decided(run, approval, &decision, &reason);
            }
            Report::NotInterrupted { run, reason } => self.not_interrupted(run, reason),
            Report::History { load, event } => self.history(load, event),
            Report::Loaded { load, outcome } => self.loaded(load, outcome),
        }
        std::mem::take(&mut self.actions)
    }

    fn request(&mut self, id: &Value, method: &str, params: &Value) -> Answered {
        if method != "initialize" && !self.is_initialized {
            return Err(RpcError::new(INVALID_REQUEST, "the first request must be initialize"));
        }
        match method {
            "initialize" => self.initialize(id, params),
            "authenticate" => Err(RpcError::params("no authentication is needed: authMethods is empty")),
            "session/new" => self.new_session(params),
            "session/load" => self.load(id, params, true),
            "session/resume" => self.load(id, params, false),
            "session/list" => {
                let cwd = params.get("cwd").and_then(Value::as_str);
                Ok(Some(json!({"sessions": self.sessions.list(cwd)})))
            }
            "session/close" => self.close(params),
            "session/prompt" => self.prompt(id, params),
            "session/set_mode" => self.set_mode(params),
            "session/set_config_option" => self.set_option(params),
            _ => Err(RpcError::new(METHOD_NOT_FOUND, format!("the method {method:?} is not supported"))),
        }
    }

    fn notification(&mut self, method: &str, params: &Value) {
        match method {
            "session/cancel" => {
                let session = params.get("sessionId").and_then(Value::as_str).unwrap_or_default();
                if let Some(turn) = self.sessions.get(session).and_then(|session| session.turn) {
                    self.cancel(turn);
                }
            }
            "$/cancel_request" => {
                let request = params.get("requestId");
                let turn =
                    self.turns.iter().find(|(_, turn)| turn.request.is_some() && turn.request.as_ref() == request);
                if let Some(turn) = turn.map(|(number, _)| *number) {
                    self.cancel(turn);
                }
            }
            // A notification has no answer, even if it is unknown.
            _ => {}
        }
    }

    fn initialize(&mut self, id: &Value, params: &Value) -> Answered {
        if !params.get("protocolVersion").is_some_and(Value::is_u64) {
            return Err(RpcError::params("protocolVersion must be a number"));
        }
        self.takes_notices = params.pointer("/clientCapabilities/session/notices").is_some_and(Value::is_object);
        let terminals = params.pointer("/clientCapabilities/_meta/terminal_output");
        self.takes_terminals = terminals.and_then(Value::as_bool).unwrap_or_default();
        self.actions.push(Action::Check { request: id.clone() });
        Ok(None)
    }

    fn checked(&mut self, request: &Value, outcome: Result<Abilities, String>) {
        let modes = outcome.and_then(|Abilities { takes_images, modes, mode }| {
            Ok((takes_images, Modes::new(modes, mode.as_deref(), &self.settings.modes)?))
        });
        let takes_images = match modes {
            Ok((takes_images, modes)) => {
                self.modes = modes;
                takes_images
            }
            Err(reason) => return self.send(rpc::error(request, &RpcError::new(INTERNAL_ERROR, reason))),
        };
        self.is_initialized = true;
        let result = json!({
            "protocolVersion": VERSION,
            "agentInfo": {
                "name": "framegate",
                "title": format!("{} (framegate)", self.settings.upstream),
                "version": env!("CARGO_PKG_VERSION"),
            },
            "agentCapabilities": {
                "loadSession": true,
                "promptCapabilities": {"image": takes_images, "audio": false, "embeddedContext": true},
                "mcpCapabilities": {"http": false, "sse": false},
                "sessionCapabilities": {"list": {}, "resume": {}, "close": {}},
            },
            "authMethods": [],
        });
        self.send(rpc::result(request, result));
    }

    fn reader<'r>(&'r self, session: &'r str) -> Reader<'r> {
        let mode = self.sessions.get(session).and_then(|session| session.mode.as_deref());
        let options = Options { models: &self.settings.models, modes: &self.modes, mode };
        Reader { session, takes_notices: self.takes_notices, options }
    }

    /// The terminals of a run, if the client shows them.
    fn terminals(&self) -> Option<Terminals> {
        self.takes_terminals.then(Terminals::default)
    }

    /// Sends an update of a session's run, unless its terminals let it wait.
    fn send_update(&mut self, id: &str, update: Value, terminals: &mut Option<Terminals>) {
        self.note_model(id, &update);
        let cwd = self.sessions.get(id).map(|session| session.cwd.as_str()).unwrap_or_default();
        let shown = match terminals {
            Some(terminals) => terminals.adapt(update, cwd),
            None => Some(update),
        };
        shown.into_iter().for_each(|update| self.send(update));
    }

    fn send(&mut self, message: Value) {
        self.actions.push(Action::Send(message));
    }
}

fn at_work() -> RpcError {
    RpcError::new(INVALID_REQUEST, "a prompt of this session is in progress; session/cancel ends it")
}

fn text<'v>(params: &'v Value, key: &str) -> Result<&'v str, RpcError> {
    params.get(key).and_then(Value::as_str).ok_or_else(|| RpcError::params(format!("{key} must be a text")))
}
