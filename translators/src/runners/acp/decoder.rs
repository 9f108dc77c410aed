//! The decoder: which message it is, of which side, about which session.
//!
//! Input: JSON-RPC messages. Output: runs of sessions. Never: a run that ends by an answer to another request, if the client's
//! lines are there. Without them, an answer is read by its form, and the turn that it ends is known from the ids: a client that
//! numbers its requests leaves a gap for each turn that is not over.

use super::super::json_rpc::METHOD_NOT_FOUND;
use super::approvals;
use super::calls::Place;
use super::connection::{Answers, Connection, is_notification, is_of_client, is_own_load, is_own_prompt};
use super::content::prompt_of;
use super::ending::failure_of;
use super::requests::{AgentRequest, ClientRequest, Question, id_of};
use super::sessions::{Prompt, Replay, Session, Sessions};
use super::terminals::Printed;
use super::usage::{Cost, Counting};
use crate::decode::{Decoder, Record};
use crate::derived::numbered;
use crate::frame::{Body, ErrorScope, SharedStr, UserMessage};
use crate::json::{Json, Kind, Object};
use crate::normalizer::{Normalizer, Target};

/// Decodes the messages of a connection.
#[derive(Debug, Default)]
pub(super) struct Acp {
    pub(super) connection: Connection,
    pub(super) sessions: Sessions,
    /// The connection began in this input.
    pub(super) is_whole: bool,
    /// The session whose history is being replayed, if the client's lines are not there.
    pub(super) replaying: Option<SharedStr>,
    /// An answer shows that a session is open whose name no message has said since.
    pub(super) has_resumed: bool,
}

/// Notifications without a frame.
const SILENT: &[&str] = &["elicitation/complete", "initialized"];

/// Families of notifications and requests of single agents without a frame. Names that begin with `_` are an agent's own, too.
const OF_AGENTS: &[&str] = &["_", "qwen/", "craft/"];

/// Requests of the agent to its client that are no question to a person.
const SERVICES: &[&str] = &["fs/", "terminal/", "mcp/"];

impl Decoder for Acp {
    fn record(&mut self, record: &Record<'_>, normalizer: &mut Normalizer) {
        let fields = &record.fields;
        // The id of a request may be null.
        let id = fields.get("id");
        match (fields.str("method"), id) {
            (Some(method), Some(id)) if !(id.is_null() && is_notification(&method)) => {
                let params = fields.object("params").unwrap_or_default();
                if is_of_client(&method) && self.connection.is_hosted {
                    normalizer.unknown(format!("{method:?} is a request of clients"));
                    self.settle(normalizer);
                } else if is_of_client(&method) {
                    self.client_asks(&method, id, &params, normalizer);
                } else {
                    self.agent_asks(&method, id, &params, normalizer);
                }
            }
            (Some(method), _) => {
                let params = fields.object("params").unwrap_or_default();
                self.notification(&method, &params, normalizer);
            }
            (None, Some(id)) if fields.get("result").is_some() || fields.get("error").is_some() => {
                self.answer(id, fields, normalizer);
            }
            _ => {
                normalizer.unknown("neither a request, a notification nor an answer");
                normalizer.record_on_current();
            }
        }
    }

    fn sent(&mut self, message: &Object<'_>, normalizer: &mut Normalizer) {
        self.host_sends(message, normalizer);
    }

    fn end(&mut self, normalizer: &mut Normalizer) {
        for name in self.sessions.all_at_work() {
            let session = self.sessions.enter(&name, normalizer);
            let mut place = session.place(normalizer);
            session.turn.start_all(&mut place);
        }
    }
}

impl Session {
    /// The place for this session's frames.
    pub(super) fn place<'l>(&self, normalizer: &'l mut Normalizer) -> Place<'l> {
        let target = self.target(normalizer);
        let scope = normalizer.session_id_of(target.stream);
        Place { normalizer, target, scope }
    }
}

impl Acp {
    fn client_asks(&mut self, method: &str, id: Json<'_>, params: &Object<'_>, normalizer: &mut Normalizer) {
        self.connection.has_client = true;
        let Some(id) = id_of(id) else {
            return normalizer.add_error("a request whose id is no number, no string and not null");
        };
        let session = params.str("sessionId").filter(|session| !session.is_empty());
        let name = session.map(|session| {
            self.sessions.enter(&session, normalizer);
            SharedStr::from(&*session)
        });
        let request = match (method, name) {
            ("initialize", _) => {
                self.is_whole = true;
                ClientRequest::Initialize
            }
            ("session/new" | "session/fork", _) => ClientRequest::New,
            ("session/load" | "session/resume", Some(name)) => {
                if let Some(session) = self.sessions.get(&name) {
                    session.replay = Replay::Runs;
                }
                ClientRequest::Load(name)
            }
            ("session/prompt", Some(name)) if self.is_prompt(&name, params) => {
                self.prompt(&name, id.clone(), params, normalizer);
                ClientRequest::Prompt(name)
            }
            (_, name) => ClientRequest::Other(name.unwrap_or_else(|| SharedStr::from(""))),
        };
        self.connection.client.insert(id, request);
        self.settle(normalizer);
    }

    /// Whether a prompt may begin a turn: it has content, and the client has the session. The agent refuses others.
    fn is_prompt(&mut self, name: &str, params: &Object<'_>) -> bool {
        let is_known = !self.is_whole || self.sessions.get(name).is_some_and(|session| session.is_open);
        is_known && params.get("prompt").is_some_and(|prompt| prompt.kind() == Kind::Array)
    }

    /// A prompt of the client begins a turn, or waits for the one that runs.
    fn prompt(&mut self, name: &SharedStr, id: SharedStr, params: &Object<'_>, normalizer: &mut Normalizer) {
        let (text, attachments) = params.get("prompt").map(prompt_of).unwrap_or_default();
        let message = UserMessage { message_id: SharedStr::from(""), text, attachments };
        let prompt = Prompt { id, message };
        let session = self.sessions.enter(name, normalizer);
        session.replay = Replay::No;
        if session.running.is_some() {
            session.enqueue(prompt);
        } else {
            self.begin(name, Some(prompt), String::new(), normalizer);
        }
    }

    /// Begins a turn.
    pub(super) fn begin(
        &mut self,
        name: &SharedStr,
        prompt: Option<Prompt>,
        input: String,
        normalizer: &mut Normalizer,
    ) {
        let session = self.sessions.enter(name, normalizer);
        session.close_between(normalizer);
        let input = prompt.as_ref().map_or(input, |prompt| prompt.message.text.clone());
        // The message of a user who is still speaking comes before the turn.
        let is_told = prompt.is_none() && !input.is_empty();
        let run = normalizer.open_run(input);
        normalizer.record_on(run);
        let mut id = None;
        if let Some(Prompt { id: of_request, mut message }) = prompt {
            id = Some(of_request);
            session.turn.prompt = Some(message.text.clone());
            let stream = normalizer.stream(run).map(|stream| stream.id).unwrap_or_default();
            message.message_id = SharedStr::from(numbered(&stream, "prompt-", 0).to_string());
            normalizer.push(Target::main(run), Body::UserMessage(Box::new(message)));
        }
        session.turn.follows_user = is_told;
        if !is_told {
            normalizer.turn_started(run, session.model.clone());
        }
        let sessions = &self.sessions;
        let assumed = match self.connection.is_alone() {
            false => None,
            true => self.connection.answered.next_unanswered(|number| sessions.is_assumed(number)),
        };
        self.sessions.began(name, run, id, assumed);
    }

    fn agent_asks(&mut self, method: &str, id: Json<'_>, params: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(key) = id_of(id) else {
            return normalizer.add_error("a request whose id is no number, no string and not null");
        };
        let name = self.session_of(params, normalizer);
        let request = match method {
            "session/request_permission" | "elicitation/create" => {
                let is_permission = method == "session/request_permission";
                let name = name.unwrap_or_else(|| SharedStr::from(""));
                self.ensure_turn(&name, normalizer);
                let stream = self.sessions.enter(&name, normalizer).place(normalizer).target.stream;
                self.withdraw(&key, |question| question.stream != stream, "its id was used again", normalizer);
                let session = self.sessions.enter(&name, normalizer);
                let mut place = session.place(normalizer);
                session.turn.texts.interrupted(place.normalizer);
                if is_permission {
                    session.turn.permission(&name, id, params, &mut place)
                } else {
                    session.turn.start_ready(&mut place);
                    approvals::elicitation(&name, id, params, &mut place)
                }
            }
            "terminal/output" | "terminal/wait_for_exit" => {
                let terminal = params.str("terminalId").map(|id| SharedStr::from(&*id));
                match name.zip(terminal) {
                    Some((session, terminal)) => AgentRequest::Terminal { session, terminal },
                    None => AgentRequest::Silent,
                }
            }
            _ => {
                let is_known = SERVICES.iter().chain(OF_AGENTS).any(|family| method.starts_with(family));
                if !is_known {
                    normalizer.unknown(format!("unknown request {method:?}"));
                }
                AgentRequest::Silent
            }
        };
        self.connection.agent.insert(key, request);
        self.settle(normalizer);
    }

    /// The session that a message is about: the one that it names, or the one of the prompt that it names.
    fn session_of(&mut self, params: &Object<'_>, normalizer: &mut Normalizer) -> Option<SharedStr> {
        let of_request = || {
            let id = params.some("requestId").and_then(id_of)?;
            match self.connection.client.get(&id)? {
                ClientRequest::Prompt(session) | ClientRequest::Load(session) | ClientRequest::Other(session) => {
                    Some(session.clone())
                }
                ClientRequest::Initialize | ClientRequest::New => None,
            }
        };
        let own = params.str("sessionId").filter(|session| !session.is_empty());
        let name = own.map(|session| SharedStr::from(&*session)).or_else(of_request);
        let name = name.or_else(|| self.sessions.at_work()).or_else(|| self.sessions.named.clone());
        if let Some(name) = &name {
            self.sessions.enter(name, normalizer);
        }
        name
    }

    fn notification(&mut self, method: &str, params: &Object<'_>, normalizer: &mut Normalizer) {
        match method {
            "session/update" => self.update(params, normalizer),
            "session/cancel" if self.connection.is_hosted => {
                normalizer.unknown(format!("{method:?} is a notification of clients"));
            }
            "session/cancel" => {
                self.connection.has_client = true;
                if let Some(name) = params.str("sessionId") {
                    self.sessions.enter(&name, normalizer).turn.cancelled = true;
                }
            }
            "$/cancel_request" => {
                if let Some(id) = params.some("requestId").and_then(id_of) {
                    self.withdraw(&id, |_| true, "withdrawn by the agent", normalizer);
                }
            }
            _ => {
                self.session_of(params, normalizer);
                let is_known = SILENT.contains(&method) || OF_AGENTS.iter().any(|family| method.starts_with(family));
                if !is_known {
                    normalizer.unknown(format!("unknown notification {method:?}"));
                }
            }
        }
        self.settle(normalizer);
    }

    /// Withdraws a question of the agent.
    fn withdraw(&mut self, id: &str, is_meant: impl Fn(&Question) -> bool, reason: &str, normalizer: &mut Normalizer) {
        let request = self.connection.agent.get(id).cloned();
        if let Some(AgentRequest::Permission(question) | AgentRequest::Elicitation(question)) = request
            && is_meant(&question)
        {
            let session = self.sessions.enter(&question.session, normalizer);
            session.turn.withdrawn(&question, reason, normalizer);
        }
    }

    /// Puts the record of the current message on the turn of the session that was named last.
    pub(super) fn settle(&mut self, normalizer: &mut Normalizer) {
        let Some(name) = self.sessions.named.clone() else { return };
        if let Some(running) = self.sessions.get(&name).and_then(|session| session.running.as_ref()) {
            normalizer.record_on(running.run);
        }
    }

    fn answer(&mut self, id: Json<'_>, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(key) = id_of(id) else {
            return normalizer.add_error("an answer whose id is no number, no string and not null");
        };
        let result = fields.object("result").unwrap_or_default();
        let error = fields.some("error");
        if let Some(error) = error.filter(|_| id.is_null() && !self.connection.awaits(&key)) {
            // The other side could not read a message.
            self.refused(error, normalizer);
            return self.settle(normalizer);
        }
        match self.connection.answers(&key, fields) {
            Answers::Agent(request) => self.client_answers(request, &result, normalizer),
            Answers::Client(request) => self.agent_answers(request, &key, &result, error, normalizer),
            Answers::Unseen => self.unseen(&key, &result, error, normalizer),
            Answers::Nothing => normalizer.add_error("an answer to a request that does not wait for one"),
        }
        self.settle(normalizer);
    }

    /// The client's answer to a request of the agent.
    pub(super) fn client_answers(&mut self, request: AgentRequest, result: &Object<'_>, normalizer: &mut Normalizer) {
        match request {
            AgentRequest::Permission(question) => {
                let session = self.sessions.enter(&question.session.clone(), normalizer);
                session.turn.permitted(question, result, normalizer);
            }
            AgentRequest::Elicitation(question) => {
                self.sessions.enter(&question.session.clone(), normalizer);
                approvals::filled_in(question, result, normalizer);
            }
            AgentRequest::Terminal { session, terminal } => {
                let session = self.sessions.enter(&session, normalizer);
                let output = result.str("output");
                let exit = result.object("exitStatus");
                let code = exit.as_ref().unwrap_or(result).i64("exitCode").and_then(|code| i32::try_from(code).ok());
                let mut place = session.place(normalizer);
                // A terminal's output is cut at its front if it is too long.
                let is_cut = result.bool("truncated") == Some(true);
                let printed = if is_cut { Printed::End } else { Printed::Whole };
                let output = output.as_deref().map(|text| printed(text.as_bytes()));
                session.turn.terminal(&terminal, output, code, &mut place);
            }
            AgentRequest::Silent => {}
        }
    }

    /// The agent's answer to a request that is in the input.
    fn agent_answers(
        &mut self,
        request: ClientRequest,
        id: &SharedStr,
        result: &Object<'_>,
        error: Option<Json<'_>>,
        normalizer: &mut Normalizer,
    ) {
        match request {
            ClientRequest::Prompt(name) => {
                self.sessions.enter(&name, normalizer);
                self.prompt_answered(&name, id, result, error, normalizer);
                return;
            }
            ClientRequest::Initialize => self.greeted(result),
            ClientRequest::New => self.opened(result, normalizer),
            ClientRequest::Load(name) if error.is_some() => self.sessions.live(&name),
            ClientRequest::Load(name) => self.loaded(&name, result, normalizer),
            ClientRequest::Other(name) if !name.is_empty() => {
                self.sessions.enter(&name, normalizer).configured(result);
            }
            ClientRequest::Other(_) => {}
        }
        if let Some(error) = error {
            self.refused(error, normalizer);
        }
    }

    /// An answer to a request that is not in the input, because the client's lines are not.
    fn unseen(&mut self, id: &SharedStr, result: &Object<'_>, error: Option<Json<'_>>, normalizer: &mut Normalizer) {
        let is_own = is_own_prompt(id);
        if id.starts_with('"') && !is_own && self.connection.answered.are_numbers() {
            // The client of this connection numbers its requests.
            return normalizer.add_error("an answer to a request that does not wait for one");
        }
        if let Some(error) = error {
            match self.failed_turn(id, is_own, error) {
                Some(name) => self.end_unseen(&name, result, Some(error), normalizer),
                None => self.refused(error, normalizer),
            }
        } else if result.str("stopReason").is_some() {
            let name = self.sessions.assumed(id).or_else(|| self.sessions.at_work());
            let name = name.or_else(|| self.sessions.named.clone());
            self.end_unseen(&name.unwrap_or_else(|| SharedStr::from("")), result, None, normalizer);
        } else if result.u64("protocolVersion").is_some() {
            self.is_whole = true;
            self.greeted(result);
        } else if is_own_load(id) {
            let replaying = self.replaying.take();
            let named = result.str("sessionId").filter(|name| !name.is_empty()).map(|name| SharedStr::from(&*name));
            if let Some(name) = named.or(replaying).or_else(|| self.sessions.named.clone()) {
                self.loaded(&name, result, normalizer);
            }
        } else if result.str("sessionId").is_some() {
            match self.replaying.take().filter(|name| result.str("sessionId").as_deref() == Some(&**name)) {
                Some(name) => self.loaded(&name, result, normalizer),
                None => self.opened(result, normalizer),
            }
        } else if result.str("messageId").is_none() {
            let is_of_session = || ["configOptions", "modes", "models"].iter().any(|key| result.some(key).is_some());
            if let Some(name) = self.replaying.take() {
                self.loaded(&name, result, normalizer);
                return;
            }
            let mut is_open = false;
            if let Some(name) = self.sessions.named.clone() {
                let session = self.sessions.enter(&name, normalizer);
                session.configured(result);
                is_open = session.is_open;
            }
            self.has_resumed |= !is_open && is_of_session();
        }
    }

    /// The session whose turn failed with an error; `None` if the error more probably answers another request.
    fn failed_turn(&self, id: &SharedStr, is_own: bool, error: Json<'_>) -> Option<SharedStr> {
        if let Some(name) = self.sessions.assumed(id) {
            return Some(name);
        }
        let named = || self.sessions.at_work().or_else(|| self.sessions.named.clone());
        if is_own {
            return named();
        }
        // The other codes of JSON-RPC and of the protocol say that a request was wrong.
        let code = error.object().and_then(|error| error.i64("code")).unwrap_or_default();
        let is_request = (-32_768..=-32_000).contains(&code) && code != -32_603;
        let is_later = || {
            let number: u64 = id.parse().ok()?;
            Some(number > self.sessions.number_of(&self.sessions.at_work()?)?)
        };
        if is_request || code == i64::from(METHOD_NOT_FOUND) || is_later() == Some(true) { None } else { named() }
    }

    fn greeted(&mut self, result: &Object<'_>) {
        let agent = result.object("agentInfo").or_else(|| result.object("info"));
        let name = agent.as_ref().and_then(|agent| agent.str("name"));
        self.connection.counting = name.map(|name| Counting::of(&name)).unwrap_or_default();
    }

    /// A new session.
    fn opened(&mut self, result: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(name) = result.str("sessionId").filter(|name| !name.is_empty()) else { return };
        let session = self.sessions.enter(&name, normalizer);
        if !session.is_open {
            (session.is_new, session.cost) = (true, Cost::fresh());
        }
        session.is_open = true;
        session.configured(result);
    }

    /// A session whose history was replayed, or which just continues.
    fn loaded(&mut self, name: &SharedStr, result: &Object<'_>, normalizer: &mut Normalizer) {
        let session = self.sessions.enter(name, normalizer);
        session.is_open = true;
        session.configured(result);
        // Only the next prompt of the client shows that the history is over.
        if !self.connection.has_client {
            let may_go_on = session.replay == Replay::Runs && session.has_history && !session.has_ids;
            session.replay = if may_go_on { Replay::MayGoOn } else { Replay::No };
        }
    }

    /// An error that ends no turn.
    fn refused(&mut self, error: Json<'_>, normalizer: &mut Normalizer) {
        let target = match self.sessions.named.clone().and_then(|name| self.sessions.get(&name).map(|_| name)) {
            Some(name) => self.sessions.enter(&name, normalizer).target(normalizer),
            None => Target::main(normalizer.thread()),
        };
        normalizer.push(target, failure_of(error).body(ErrorScope::Provider));
    }
}
