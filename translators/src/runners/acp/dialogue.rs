//! The client's half of the protocol, version 1.
//!
//! Input: what the host wants to send, and the agent's lines. Output: the client's lines, each once the agent is ready for it:
//! `initialize`, `authenticate` if it is configured or the agent asks for it, the session, its model and mode, then one prompt at a
//! time. Requests for files and terminals go to the host, if it offers them. Never: a request of the agent left unanswered (what this
//! client does not offer is refused with the protocol's error); a prompt in another mode or with another model than the host chose; a question of an earlier turn left open.

mod asks;
mod services;
mod session;

use super::super::json_rpc::{INVALID_PARAMS, METHOD_NOT_FOUND, request_id};
use super::connection::{OWN_LOADS, OWN_PROMPT, is_notification};
use crate::decode::Record;
use crate::frame::{Decision, RawJson};
use crate::host::{
    Answer, Dialogue, FileContent, HostMessage, Offer, OpenQuestion, Opening, Outgoing, PendingQuestions, PromptFile,
    SendError, Served, ServiceError, ServiceRequest,
};
use crate::json::{Json, Kind, Object, to_raw};
use asks::Ask;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use services::Services;
use session::{Configuration, Resume};
use std::collections::VecDeque;

/// The version of the protocol that this client speaks.
const VERSION: u64 = 1;

/// The maximum number of questions that wait for a person. Further ones are cancelled at once.
const MOST_ASKS: usize = 512;

/// The code of the answer to a request that was withdrawn.
const REQUEST_CANCELLED: i32 = -32_800;

/// What a request of this client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    Initialize,
    Authenticate,
    Session,
    Configure,
    Prompt,
}

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Client {
    out: Vec<Outgoing>,
    next_id: u64,
    /// The request that awaits its answer. There is never a second one.
    awaited: Option<(String, Request)>,
    opening: Opening,
    /// The agent's answer to `initialize`: which of its abilities matter here.
    resume: Resume,
    takes_images: bool,
    /// The way to authenticate; taken when it is tried.
    method: Option<String>,
    session: Option<String>,
    /// What the session must still be told before its first prompt.
    configuration: Configuration,
    prompts: VecDeque<Vec<Value>>,
    services: Services,
    asks: PendingQuestions<Ask>,
    open_asks: usize,
    refusal: Option<String>,
}

fn content(text: &str, files: &[PromptFile]) -> Vec<Value> {
    let block = |file: &PromptFile| match &file.content {
        FileContent::Base64(data) => json!({"type": "image", "mimeType": file.media_type, "data": data}),
        FileContent::Url(url) => {
            json!({"type": "resource_link", "uri": url, "name": file.name.as_deref().unwrap_or("image")})
        }
    };
    files.iter().map(block).chain([json!({"type": "text", "text": text})]).collect()
}

impl Dialogue for Client {
    fn open(&mut self, opening: &Opening) {
        self.prompts.push_back(content(&opening.prompt, &opening.files));
        // The files are not needed again.
        self.opening = Opening { files: Vec::new(), ..opening.clone() };
        let params = json!({
            "protocolVersion": VERSION,
            "clientCapabilities": self.services.capabilities(),
            "clientInfo": {"name": "framegate", "title": "framegate", "version": env!("CARGO_PKG_VERSION")},
        });
        self.request(Request::Initialize, "initialize", &params);
    }

    fn offer(&mut self, offer: Offer) {
        self.services.offer = offer;
    }

    fn takes(&self, file: &PromptFile) -> bool {
        file.is_image()
    }

    fn take_services(&mut self) -> Vec<ServiceRequest> {
        self.services.take()
    }

    fn served(&mut self, ticket: u64, result: Result<Served, ServiceError>) {
        match self.services.end(ticket, result) {
            Some((id, Ok(result))) => self.respond(&id, &to_raw(&result)),
            Some((id, Err((code, message)))) => self.refuse(&id, code, &message),
            None => {}
        }
    }

    fn receive(&mut self, record: &Record<'_>) {
        let fields = &record.fields;
        let params = fields.object("params").unwrap_or_default();
        // The id of a request may be null.
        match (fields.str("method"), fields.get("id")) {
            (Some(method), Some(id)) if !(id.is_null() && is_notification(&method)) => {
                self.agent_asks(&method, id, &params);
            }
            (Some(method), _) if method == "$/cancel_request" => {
                if let Some(id) = params.some("requestId") {
                    self.cancel(&request_id(id));
                }
            }
            (None, Some(id)) if fields.get("result").is_some() || fields.some("error").is_some() => {
                self.answered(id, fields);
            }
            _ => {}
        }
    }

    fn send(&mut self, session: Option<&str>, message: &HostMessage) -> Result<(), SendError> {
        let is_ours = session.is_none_or(|session| self.session.as_deref().is_none_or(|own| own == session));
        if !is_ours {
            return Err(SendError::Unsupported("this process serves another session"));
        }
        match message {
            HostMessage::Prompt(_) if self.refusal.is_some() => {
                return Err(SendError::Unsupported("the agent's session did not begin"));
            }
            HostMessage::Prompt(text) => {
                self.prompts.push_back(content(text, &[]));
                self.begin_turn();
            }
            HostMessage::Interrupt => self.interrupt()?,
            HostMessage::Answer { approval_id, answer } => {
                let no_question = || SendError::UnknownQuestion(approval_id.clone());
                let ask = self.asks.get(approval_id).ok_or_else(no_question)?;
                let (id, result) = (ask.id.clone(), ask.result(answer)?);
                self.take_ask(approval_id);
                self.respond(&id, &result);
                if answer.decision == Decision::Cancelled {
                    self.interrupt()?;
                }
            }
            HostMessage::Close => self.out.push(Outgoing::EndOfInput),
        }
        Ok(())
    }

    fn take(&mut self) -> Vec<Outgoing> {
        std::mem::take(&mut self.out)
    }

    fn question(&self, approval_id: &str) -> Option<OpenQuestion> {
        self.asks.get(approval_id).map(Ask::question)
    }

    fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }
}

impl Client {
    fn is_in_turn(&self) -> bool {
        matches!(self.awaited, Some((_, Request::Prompt)))
    }

    fn agent_asks(&mut self, method: &str, id: Json<'_>, params: &Object<'_>) {
        let raw = id.to_raw_as_it_came();
        if Services::is_service(method) {
            let begun = match params.str("sessionId") {
                Some(session) if self.is_session(&session) => self.services.begin(method, id, params),
                _ => Err((INVALID_PARAMS, "the request names no session of this client".to_owned())),
            };
            return begun.unwrap_or_else(|(code, message)| self.refuse(&raw, code, &message));
        }
        let Some(ask) = Ask::read(method, raw.clone(), params) else {
            return self.refuse(&raw, METHOD_NOT_FOUND, &format!("this client does not support {method}"));
        };
        let named = params.str("sessionId");
        let is_ours = named.is_none() || named.as_deref() == self.session.as_deref();
        let key = request_id(id);
        let is_known = self.asks.get(&key).is_some();
        if !is_ours || is_known || !self.is_in_turn() || self.open_asks >= MOST_ASKS {
            // A question about another session or outside of a turn cannot be shown.
            return self.respond(&raw, &ask.cancelled());
        }
        self.open_asks += 1;
        self.asks.insert(&key, ask);
    }

    fn take_ask(&mut self, key: &str) -> Option<Ask> {
        let ask = self.asks.remove(key)?;
        self.open_asks = self.open_asks.saturating_sub(1);
        Some(ask)
    }

    /// The session of this client, also while it is being opened.
    fn is_session(&self, name: &str) -> bool {
        self.session.as_deref().or(self.opening.session.as_deref()) == Some(name)
    }

    fn cancel(&mut self, key: &str) {
        if let Some(id) = self.services.withdraw(key) {
            return self.refuse(&id, REQUEST_CANCELLED, "the request was cancelled");
        }
        if let Some(ask) = self.take_ask(key) {
            self.respond(&ask.id.clone(), &ask.cancelled());
        }
    }

    /// Answers all open questions as cancelled: their turn is cancelled or over.
    fn cancel_asks(&mut self) {
        let asks = std::mem::take(&mut self.asks);
        self.open_asks = 0;
        for ask in asks.into_all() {
            self.respond(&ask.id.clone(), &ask.cancelled());
        }
    }

    fn answered(&mut self, id: Json<'_>, fields: &Object<'_>) {
        if id.kind() != Kind::String {
            return;
        }
        let is_it = |(known, _): &mut (String, Request)| id.str().as_deref() == Some(known.as_str());
        let Some((_, request)) = self.awaited.take_if(is_it) else { return };
        if let Some(error) = fields.some("error") {
            return self.failed(request, error);
        }
        let result = fields.object("result").unwrap_or_default();
        match request {
            Request::Initialize => self.greeted(&result),
            Request::Authenticate => self.begin_session(),
            Request::Session => {
                let session =
                    self.opening.session.clone().or_else(|| result.str("sessionId").map(|id| id.into_owned()));
                let Some(session) = session.filter(|session| !session.is_empty()) else {
                    return self.give_up("the agent's session has no id");
                };
                self.session = Some(session);
                match Configuration::read(&self.opening, &result) {
                    Ok(configuration) => self.configuration = configuration,
                    Err(why) => return self.give_up(&why),
                }
                self.configure();
            }
            Request::Configure => self.configure(),
            Request::Prompt => {
                self.cancel_asks();
                self.begin_turn();
            }
        }
    }

    fn failed(&mut self, request: Request, error: Json<'_>) {
        let message = super::ending::failure_of(error).message;
        let code = error.object().and_then(|error| error.i64("code"));
        match request {
            Request::Session if code == Some(session::AUTHENTICATION_REQUIRED) => match self.method.take() {
                Some(method) => self.authenticate(&method),
                None => self.give_up(&message),
            },
            // Some agents say that they continue sessions, but only do so by loading them.
            Request::Session if code == Some(METHOD_NOT_FOUND.into()) && self.resume.falls_back() => {
                self.begin_session()
            }
            // The run has failed; its session goes on.
            Request::Prompt => {
                self.cancel_asks();
                self.begin_turn();
            }
            Request::Initialize | Request::Authenticate | Request::Session | Request::Configure => {
                self.give_up(&message)
            }
        }
    }

    /// The session cannot begin. Prompts that wait are never sent.
    fn give_up(&mut self, why: &str) {
        self.refusal = Some(why.to_owned());
        self.prompts.clear();
    }

    fn greeted(&mut self, result: &Object<'_>) {
        let version = result.get("protocolVersion");
        if version.and_then(Json::u64) != Some(VERSION) {
            let version =
                version.map_or_else(|| "none".to_owned(), |version| version.text().chars().take(20).collect());
            return self
                .give_up(&format!("the agent speaks version {version} of the protocol, but not version {VERSION}"));
        }
        let capabilities = result.object("agentCapabilities").unwrap_or_default();
        self.resume = Resume::read(&capabilities);
        let prompts = capabilities.object("promptCapabilities");
        self.takes_images = prompts.and_then(|prompts| prompts.bool("image")) == Some(true);
        let offer = &self.services.offer;
        if let Err(why) = session::supports(&capabilities, &offer.mcp_servers) {
            return self.give_up(&why);
        }
        match offer.authentication.clone() {
            // A configured method is used in any case: some agents only say with their first prompt that they need it.
            Some(method) => match session::offers(result, &method) {
                Ok(()) => self.authenticate(&method),
                Err(why) => self.give_up(&why),
            },
            None => {
                self.method = session::method(result);
                self.begin_session();
            }
        }
    }

    fn authenticate(&mut self, method: &str) {
        self.request(Request::Authenticate, "authenticate", &json!({"methodId": method}));
    }

    fn begin_session(&mut self) {
        match session::request(&self.opening, self.resume, &self.services.offer.mcp_servers) {
            Ok((method, params)) => self.request(Request::Session, method, &params),
            Err(why) => self.give_up(why),
        }
    }

    /// Tells the session the next part of its configuration, then sends the first prompt.
    fn configure(&mut self) {
        let Some(session) = self.session.clone() else { return };
        match self.configuration.next(&session) {
            Some((method, params)) => self.request(Request::Configure, method, &params),
            None => self.begin_turn(),
        }
    }

    /// Sends the next prompt, if no request is open.
    fn begin_turn(&mut self) {
        let (Some(session), None, true) = (&self.session, &self.awaited, self.configuration.is_done()) else { return };
        let Some(prompt) = self.prompts.pop_front() else { return };
        if !self.takes_images && prompt.iter().any(|block| block["type"] == "image") {
            return self.give_up("the agent takes no images");
        }
        let params = json!({"sessionId": session, "prompt": prompt});
        self.request(Request::Prompt, "session/prompt", &params);
    }

    fn interrupt(&mut self) -> Result<(), SendError> {
        let Some(session) = self.session.clone() else {
            return Err(SendError::Unsupported("no turn is running"));
        };
        if !self.is_in_turn() {
            // The turn of the run is over; only its end is not reported yet.
            return Ok(());
        }
        self.line(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}));
        self.cancel_asks();
        Ok(())
    }

    fn request<P: Serialize>(&mut self, request: Request, method: &str, params: &P) {
        #[derive(Serialize)]
        struct Line<'l, P> {
            jsonrpc: &'static str,
            id: &'l str,
            method: &'l str,
            params: &'l P,
        }
        self.next_id += 1;
        let [load, resume] = OWN_LOADS;
        let prefix = match method {
            "session/prompt" => OWN_PROMPT,
            "session/load" => load,
            "session/resume" => resume,
            _ => "request-",
        };
        let id = format!("{prefix}{}", self.next_id);
        self.line(&Line { jsonrpc: "2.0", id: &id, method, params });
        self.awaited = Some((id, request));
    }

    fn respond(&mut self, id: &RawJson, result: &RawJson) {
        #[derive(Serialize)]
        struct Line<'l> {
            jsonrpc: &'static str,
            id: &'l RawValue,
            result: &'l RawValue,
        }
        self.line(&Line { jsonrpc: "2.0", id, result });
    }

    fn refuse(&mut self, id: &RawJson, code: i32, message: &str) {
        #[derive(Serialize)]
        struct Line<'l> {
            jsonrpc: &'static str,
            id: &'l RawValue,
            error: Value,
        }
        self.line(&Line { jsonrpc: "2.0", id, error: json!({"code": code, "message": message}) });
    }

    fn line<T: Serialize>(&mut self, value: &T) {
        let mut line = to_raw(value).get().as_bytes().to_vec();
        line.push(b'\n');
        self.out.push(Outgoing::Input(line));
    }
}

/// Whether an answer permits more than the one call in question.
fn scope_of(answer: &Answer) -> Result<&str, SendError> {
    let scope = answer.scope.as_deref().unwrap_or("once");
    if answer.decision == Decision::Approved && !matches!(scope, "once" | "session" | "always") {
        return Err(SendError::Unsupported("this runner supports the scopes once, session and always"));
    }
    Ok(scope)
}
