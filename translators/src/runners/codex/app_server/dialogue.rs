//! The client's half of `codex app-server`: JSON-RPC lines.
//!
//! Input: what the host wants to send, and the server's lines. Output: the client's lines, each once the server is ready for
//! it: a thread after the handshake, a turn once its thread exists, the next turn when the previous one is over. Never: a
//! server request left unanswered, even if this client does not know the method; an answer to a question of another thread's
//! turn that is over.

use super::super::super::elicitation::{Form, object_of};
use super::super::super::json_rpc::{METHOD_NOT_FOUND, request_id};
use super::super::items::command_args;
use super::super::modes::{approval_policy, sandbox};
use super::thread_of;
use crate::decode::Record;
use crate::frame::{Decision, RawJson};
use crate::host::{
    Answer, Dialogue, HostMessage, OpenQuestion, Opening, Outgoing, PendingQuestions, PromptFile, SendError,
};
use crate::json::{Json, Object, empty_object, to_raw};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::VecDeque;

/// The maximum number of client requests that may await a response.
const MOST_AWAITED: usize = 64;

#[derive(Debug, Default)]
pub(in super::super) struct Client {
    out: Vec<Outgoing>,
    opening: Opening,
    next_id: u64,
    /// Sent requests that await their response.
    awaited: VecDeque<(u64, Request)>,
    thread: Option<String>,
    turn: Turn,
    /// Prompts for the next turns, in order.
    prompts: VecDeque<Value>,
    asks: PendingQuestions<PendingQuestion>,
    refusal: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    Initialize,
    Thread,
    Turn,
    Interrupt,
}

/// The turn of the client's thread.
#[derive(Debug, Default, PartialEq, Eq)]
enum Turn {
    /// No turn runs: the next one may start.
    #[default]
    None,
    /// A turn was requested. If `interrupt` is set, it must be interrupted once its id is known.
    Asked { interrupt: bool },
    /// The turn with this id runs.
    Runs(String),
}

/// A question that awaits its answer.
#[derive(Debug)]
struct PendingQuestion {
    /// The request's id, as the server wrote it.
    id: RawJson,
    thread: String,
    args: Option<RawJson>,
    wants: AnswerKind,
}

/// The kind of answer that a question takes.
#[derive(Debug)]
enum AnswerKind {
    /// One of today's decision words, and the amendment that would permit similar calls permanently.
    Decision { amendment: Option<RawJson> },
    /// One of the first versions' decision words.
    Review,
    /// Answers to questions with these ids.
    Answers(Vec<String>),
    /// The content of a form, or why this host cannot fill it in.
    Form(Result<Form, String>),
    /// The requested permissions.
    Permissions(RawJson),
}

/// The input of a turn: its images, then its text.
fn input_of(text: &str, files: &[PromptFile]) -> Value {
    let image = |file: &PromptFile| json!({"type": "image", "url": file.url()});
    files.iter().map(image).chain([json!({"type": "text", "text": text})]).collect()
}

impl Dialogue for Client {
    fn open(&mut self, opening: &Opening) {
        self.prompts.push_back(input_of(&opening.prompt, &opening.files));
        // The files are not needed again.
        self.opening = Opening { files: Vec::new(), ..opening.clone() };
        let params = json!({
            "clientInfo": {"name": "framegate", "title": "framegate", "version": env!("CARGO_PKG_VERSION")},
            "capabilities": {"experimentalApi": true, "requestAttestation": false},
        });
        self.request(Request::Initialize, "initialize", &params);
    }

    fn takes(&self, file: &PromptFile) -> bool {
        file.is_image()
    }

    fn receive(&mut self, record: &Record<'_>) {
        let fields = &record.fields;
        let params = fields.object("params").unwrap_or_default();
        match (fields.str("method"), fields.some("id")) {
            (Some(method), Some(id)) => self.server_asks(&method, id, &params),
            (Some(method), None) => self.notified(&method, &params),
            (None, Some(id)) => self.responded(id, fields),
            (None, None) => {}
        }
    }

    fn send(&mut self, session: Option<&str>, message: &HostMessage) -> Result<(), SendError> {
        let is_ours = session.is_none_or(|session| self.thread.as_deref().is_none_or(|thread| thread == session));
        if !is_ours {
            return Err(SendError::Unsupported("this process serves another thread"));
        }
        match message {
            HostMessage::Prompt(text) => {
                self.prompts.push_back(input_of(text, &[]));
                self.begin_turn();
            }
            HostMessage::Interrupt => self.interrupt()?,
            HostMessage::Answer { approval_id, answer } => {
                let no_question = || SendError::UnknownQuestion(approval_id.clone());
                let ask = self.asks.get(approval_id).ok_or_else(no_question)?;
                let (id, result) = (ask.id.clone(), ask.wants.result(answer)?);
                self.asks.remove(approval_id);
                self.respond(&id, &result);
            }
            HostMessage::Close => self.out.push(Outgoing::EndOfInput),
        }
        Ok(())
    }

    fn take(&mut self) -> Vec<Outgoing> {
        std::mem::take(&mut self.out)
    }

    fn question(&self, approval_id: &str) -> Option<OpenQuestion> {
        let ask = self.asks.get(approval_id)?;
        let wants_answers = match &ask.wants {
            AnswerKind::Answers(_) => true,
            AnswerKind::Form(form) => form.as_ref().is_ok_and(|form| !form.is_empty()),
            AnswerKind::Decision { .. } | AnswerKind::Review | AnswerKind::Permissions(_) => false,
        };
        let unanswerable = match &ask.wants {
            AnswerKind::Form(form) => form.as_ref().err().cloned(),
            _ => None,
        };
        Some(OpenQuestion { args: ask.args.clone(), wants_answers, unanswerable })
    }

    fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }
}

impl Client {
    fn server_asks(&mut self, method: &str, id: Json<'_>, params: &Object<'_>) {
        let Some((wants, args)) = AnswerKind::read(method, params) else {
            let error = json!({"code": METHOD_NOT_FOUND, "message": format!("this client does not support {method}")});
            #[derive(Serialize)]
            struct Line<'l> {
                id: &'l RawValue,
                error: &'l serde_json::Value,
            }
            return self.line(&Line { id: &id.to_raw_as_it_came(), error: &error });
        };
        let ask = PendingQuestion { id: id.to_raw_as_it_came(), thread: thread_of(params).into_owned(), args, wants };
        self.asks.insert(&request_id(id), ask);
    }

    fn notified(&mut self, method: &str, params: &Object<'_>) {
        let thread = thread_of(params);
        let is_ours = self.thread.as_deref() == Some(&*thread);
        match method {
            "turn/started" if is_ours => {
                let turn = params.object("turn").and_then(|turn| Some(turn.str("id")?.into_owned()));
                self.turn_named(turn);
            }
            "turn/completed" => {
                self.asks.retain(|ask| ask.thread != thread);
                if is_ours {
                    self.turn = Turn::None;
                    self.begin_turn();
                }
            }
            "serverRequest/resolved" => {
                if let Some(id) = params.some("requestId") {
                    self.asks.remove(&request_id(id));
                }
            }
            _ => {}
        }
    }

    fn responded(&mut self, id: Json<'_>, fields: &Object<'_>) {
        let Some(at) = self.awaited.iter().position(|(known, _)| Some(*known) == id.u64()) else { return };
        let Some((_, request)) = self.awaited.remove(at) else { return };
        if let Some(error) = fields.object("error") {
            let message = error.str("message").unwrap_or_default().into_owned();
            return self.failed(request, message);
        }
        let result = fields.object("result").unwrap_or_default();
        match request {
            Request::Initialize => {
                self.line(&json!({"method": "initialized"}));
                self.begin_thread();
            }
            Request::Thread => {
                let thread = result.object("thread").and_then(|thread| Some(thread.str("id")?.into_owned()));
                match thread {
                    Some(thread) => self.thread = Some(thread),
                    None => return self.failed(request, "the server's thread has no id".to_owned()),
                }
                self.begin_turn();
            }
            Request::Turn => {
                let turn = result.object("turn").and_then(|turn| Some(turn.str("id")?.into_owned()));
                // A turn that already started and ended does not run.
                if matches!(self.turn, Turn::Asked { .. }) {
                    self.turn_named(turn);
                }
            }
            Request::Interrupt => {}
        }
    }

    fn failed(&mut self, request: Request, message: String) {
        match request {
            // The turn may have ended in the meantime.
            Request::Interrupt => {}
            Request::Turn => {
                self.turn = Turn::None;
                self.refusal = Some(message);
                self.begin_turn();
            }
            Request::Initialize | Request::Thread => self.refusal = Some(message),
        }
    }

    fn begin_thread(&mut self) {
        let Opening { session, cwd, model, mode, .. } = self.opening.clone();
        let mut params = serde_json::Map::new();
        let (method, thread) = match &session {
            Some(thread) => ("thread/resume", Some(("threadId", thread))),
            None => ("thread/start", None),
        };
        let given = [cwd.as_ref().map(|cwd| ("cwd", cwd)), model.as_ref().map(|model| ("model", model)), thread];
        for (key, value) in given.into_iter().flatten() {
            params.insert(key.to_owned(), value.clone().into());
        }
        let mode = mode.as_deref();
        let of_mode = [("sandbox", mode.and_then(sandbox)), ("approvalPolicy", mode.and_then(approval_policy))];
        for (key, word) in of_mode {
            if let Some(word) = word {
                params.insert(key.to_owned(), word.into());
            }
        }
        self.request(Request::Thread, method, &params);
    }

    /// Starts the next turn, if none runs and a prompt is waiting.
    fn begin_turn(&mut self) {
        let (Some(thread), Turn::None) = (&self.thread, &self.turn) else { return };
        let Some(input) = self.prompts.pop_front() else { return };
        let params = json!({"threadId": thread, "input": input});
        self.turn = Turn::Asked { interrupt: false };
        self.request(Request::Turn, "turn/start", &params);
    }

    fn turn_named(&mut self, turn: Option<String>) {
        let Some(turn) = turn else { return };
        let interrupt = self.turn == Turn::Asked { interrupt: true };
        self.turn = Turn::Runs(turn);
        if interrupt {
            // Cannot fail: the turn runs and has an id.
            let _ = self.interrupt();
        }
    }

    fn interrupt(&mut self) -> Result<(), SendError> {
        match (&mut self.turn, &self.thread) {
            (Turn::Asked { interrupt }, _) => *interrupt = true,
            (Turn::Runs(turn), Some(thread)) => {
                let params = json!({"threadId": thread, "turnId": turn});
                self.request(Request::Interrupt, "turn/interrupt", &params);
            }
            (Turn::None | Turn::Runs(_), _) => return Err(SendError::Unsupported("no turn is running")),
        }
        Ok(())
    }

    fn request<P: Serialize>(&mut self, request: Request, method: &str, params: &P) {
        #[derive(Serialize)]
        struct Line<'l, P> {
            id: u64,
            method: &'l str,
            params: &'l P,
        }
        let id = self.next_id;
        self.next_id += 1;
        self.awaited.push_back((id, request));
        if self.awaited.len() > MOST_AWAITED {
            self.awaited.pop_front();
        }
        self.line(&Line { id, method, params });
    }

    fn respond(&mut self, id: &RawJson, result: &RawJson) {
        #[derive(Serialize)]
        struct Line<'l> {
            id: &'l RawValue,
            result: &'l RawValue,
        }
        self.line(&Line { id, result });
    }

    fn line<T: Serialize>(&mut self, value: &T) {
        let mut line = to_raw(value).get().as_bytes().to_vec();
        line.push(b'\n');
        self.out.push(Outgoing::Input(line));
    }
}

impl AnswerKind {
    /// The kind of answer that a request takes, and its subject if the request contains it; `None` if the request does not ask
    /// a person.
    fn read(method: &str, params: &Object<'_>) -> Option<(Self, Option<RawJson>)> {
        let command = || Some(command_args(params.some("command")));
        Some(match method {
            "item/commandExecution/requestApproval" => {
                let amendment = params.some("proposedExecpolicyAmendment").map(Json::to_raw_as_it_came);
                (Self::Decision { amendment }, command())
            }
            "item/fileChange/requestApproval" => (Self::Decision { amendment: None }, None),
            "execCommandApproval" => (Self::Review, command()),
            "applyPatchApproval" => (Self::Review, None),
            "item/tool/requestUserInput" => {
                let id = |question: Json<'_>| Some(question.object()?.str("id")?.into_owned());
                (Self::Answers(params.items("questions").into_iter().filter_map(id).collect()), None)
            }
            "mcpServer/elicitation/request" => {
                (Self::Form(Form::asked(params.str("mode").as_deref(), params.some("requestedSchema"))), None)
            }
            "item/permissions/requestApproval" => {
                (Self::Permissions(params.some("permissions").map_or_else(empty_object, Json::to_raw_as_it_came)), None)
            }
            _ => return None,
        })
    }

    fn result(&self, answer: &Answer) -> Result<RawJson, SendError> {
        let approved = answer.decision == Decision::Approved;
        let scope = answer.scope.as_deref().unwrap_or("once");
        if approved && !matches!(scope, "once" | "session" | "always") {
            return Err(SendError::Unsupported("this runner supports the scopes once, session and always"));
        }
        let too_far = SendError::Unsupported("the runner does not offer an approval with this scope");
        let result = match (self, answer.decision) {
            (Self::Decision { amendment }, Decision::Approved) => match (scope, amendment) {
                ("once", _) => to_raw(&json!({"decision": "accept"})),
                ("session", _) => to_raw(&json!({"decision": "acceptForSession"})),
                (_, Some(amendment)) => accepted_for_good(amendment),
                (_, None) => return Err(too_far),
            },
            (Self::Decision { .. }, Decision::Cancelled) => to_raw(&json!({"decision": "cancel"})),
            (Self::Decision { .. }, _) => to_raw(&json!({"decision": "decline"})),
            (Self::Review, Decision::Approved) => match scope {
                "once" => to_raw(&json!({"decision": "approved"})),
                "session" => to_raw(&json!({"decision": "approved_for_session"})),
                _ => return Err(too_far),
            },
            (Self::Review, Decision::Cancelled) => to_raw(&json!({"decision": "abort"})),
            (Self::Review, _) => to_raw(&json!({"decision": "denied"})),
            (Self::Answers(_), Decision::Approved) if scope != "once" => return Err(too_far),
            (Self::Answers(questions), _) => {
                let none = Vec::new();
                let given = if approved { &answer.answers } else { &none };
                let answers: serde_json::Map<_, _> = questions
                    .iter()
                    .zip(given)
                    .map(|(question, words)| (question.clone(), json!({"answers": words})))
                    .collect();
                to_raw(&json!({"answers": answers}))
            }
            (Self::Form(Err(why)), Decision::Approved) => return Err(SendError::InvalidAnswer(why.clone())),
            (Self::Form(form), _) => {
                let none = Form::default();
                let (action, content) = form.as_ref().unwrap_or(&none).response(answer)?;
                let (action, content) = (to_raw(action), content.unwrap_or_else(|| to_raw(&())));
                object_of([("action", action.get()), ("content", content.get())].into_iter())
            }
            (Self::Permissions(permissions), Decision::Approved) => match scope {
                "always" => return Err(too_far),
                _ => granted(permissions, if scope == "once" { "turn" } else { "session" }),
            },
            (Self::Permissions(_), _) => granted(&empty_object(), "turn"),
        };
        Ok(result)
    }
}

fn accepted_for_good(amendment: &RawJson) -> RawJson {
    #[derive(Serialize)]
    struct Amendment<'a> {
        execpolicy_amendment: &'a RawValue,
    }
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Accept<'a> {
        accept_with_execpolicy_amendment: Amendment<'a>,
    }
    #[derive(Serialize)]
    struct Decided<'a> {
        decision: Accept<'a>,
    }
    let amendment = Amendment { execpolicy_amendment: amendment };
    to_raw(&Decided { decision: Accept { accept_with_execpolicy_amendment: amendment } })
}

fn granted(permissions: &RawJson, scope: &'static str) -> RawJson {
    #[derive(Serialize)]
    struct Granted<'a> {
        permissions: &'a RawValue,
        scope: &'static str,
    }
    to_raw(&Granted { permissions, scope })
}
