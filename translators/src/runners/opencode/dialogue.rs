//! The client's half of `opencode serve`: requests to the server whose events are followed.
//!
//! Input: what the host wants to send, and the server's events. Output: requests, each for its session; one server has many
//! sessions. Never: a request path that event data could redirect; a question forgotten before the server reports it settled.

use crate::decode::Record;
use crate::frame::{Decision, RawJson};
use crate::host::{
    Answer, Dialogue, HostMessage, OpenQuestion, Opening, Outgoing, PendingQuestions, PromptFile, SendError,
};
use crate::json::{Json, Object, to_raw};
use serde_json::{Value, json};

#[derive(Debug, Default)]
pub(super) struct Client {
    out: Vec<Outgoing>,
    /// The opened session, once its id is known.
    session: Option<String>,
    /// Prompts that wait for the session id; `None` if no session was opened.
    prompts: Option<Vec<Value>>,
    model: Option<Value>,
    /// The agent that works on the prompts; `None` for the server's default.
    agent: Option<String>,
    /// The query of every request, which contains the directory.
    query: String,
    asks: PendingQuestions<PendingQuestion>,
    refusal: Option<String>,
}

/// A question that awaits its answer.
#[derive(Debug)]
struct PendingQuestion {
    session: String,
    /// The arguments of a permission.
    args: Option<RawJson>,
    wants: AnswerKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AnswerKind {
    Permission,
    /// A permission of the first release, which uses another path for the answer.
    OldPermission,
    Answers,
}

/// The path of the request that opens a session.
const SESSIONS: &str = "/session";

/// The parts of a prompt: its files, then its text.
fn parts_of(text: &str, files: &[PromptFile]) -> Value {
    let part = |file: &PromptFile| {
        let mut part = json!({"type": "file", "mime": file.media_type, "url": file.url()});
        if let (Some(name), Some(part)) = (&file.name, part.as_object_mut()) {
            part.insert("filename".to_owned(), name.clone().into());
        }
        part
    };
    files.iter().map(part).chain([json!({"type": "text", "text": text})]).collect()
}

impl Dialogue for Client {
    fn open(&mut self, opening: &Opening) {
        self.query = opening.cwd.as_deref().map(|cwd| format!("?directory={}", escaped(cwd))).unwrap_or_default();
        self.agent.clone_from(&opening.mode);
        // The command line's spelling: the provider, then the provider's name for the model.
        self.model = opening
            .model
            .as_deref()
            .and_then(|model| model.split_once('/'))
            .map(|(provider, model)| json!({"providerID": provider, "modelID": model}));
        match &opening.session {
            Some(session) => {
                self.session = Some(session.clone());
                self.prompt(session, &parts_of(&opening.prompt, &opening.files));
            }
            None => {
                self.prompts = Some(vec![parts_of(&opening.prompt, &opening.files)]);
                self.post(SESSIONS.to_owned(), Some(&json!({})));
            }
        }
    }

    fn takes(&self, _file: &PromptFile) -> bool {
        true
    }

    fn receive(&mut self, record: &Record<'_>) {
        let fields = &record.fields;
        let payload = fields.object("payload");
        let event = payload.as_ref().unwrap_or(fields);
        let kind = event.str("type").unwrap_or_default();
        let Some(props) = event.object("properties").or_else(|| event.object("data")) else { return };
        match &*kind {
            "permission.asked" | "permission.v2.asked" => self.asked_for(AnswerKind::Permission, &props),
            "permission.updated" => self.asked_for(AnswerKind::OldPermission, &props),
            "question.asked" | "question.v2.asked" => self.asked_for(AnswerKind::Answers, &props),
            "permission.replied"
            | "permission.v2.replied"
            | "question.replied"
            | "question.v2.replied"
            | "question.rejected"
            | "question.v2.rejected" => {
                let id = props.str("requestID").or_else(|| props.str("permissionID")).unwrap_or_default();
                self.asks.remove(&id);
            }
            // Its open questions can no longer be settled.
            "session.idle" | "session.deleted" => {
                let session = props.str("sessionID").or_else(|| props.object("info")?.str("id")).unwrap_or_default();
                self.asks.retain(|ask| ask.session != session);
            }
            _ => {}
        }
    }

    fn send(&mut self, session: Option<&str>, message: &HostMessage) -> Result<(), SendError> {
        let session = session.map(str::to_owned).or_else(|| self.session.clone());
        match message {
            HostMessage::Answer { approval_id, answer } => {
                let no_question = || SendError::UnknownQuestion(approval_id.clone());
                let ask = self.asks.get(approval_id).ok_or_else(no_question)?;
                let (path, body) = ask.reply(approval_id, answer)?;
                self.post(path, body.as_ref());
            }
            HostMessage::Prompt(text) => match (session, &mut self.prompts) {
                (Some(session), _) => self.prompt(&session, &parts_of(text, &[])),
                (None, Some(waiting)) => waiting.push(parts_of(text, &[])),
                (None, None) => return Err(SendError::Unsupported("no session is open to receive a prompt")),
            },
            HostMessage::Interrupt => {
                let session = session.ok_or(SendError::Unsupported("no session is open"))?;
                self.post(format!("/session/{}/abort", escaped(&session)), None);
            }
            // The server continues without further input.
            HostMessage::Close => {}
        }
        Ok(())
    }

    fn take(&mut self) -> Vec<Outgoing> {
        std::mem::take(&mut self.out)
    }

    fn question(&self, approval_id: &str) -> Option<OpenQuestion> {
        let ask = self.asks.get(approval_id)?;
        Some(OpenQuestion {
            args: ask.args.clone(),
            wants_answers: ask.wants == AnswerKind::Answers,
            unanswerable: None,
        })
    }

    fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    fn replied(&mut self, path: &str, body: &[u8]) {
        if self.prompts.is_none() || path.split('?').next() != Some(SESSIONS) {
            return;
        }
        let text = String::from_utf8_lossy(body);
        let session = Object::parse(&text).and_then(|session| Some(session.str("id")?.into_owned()));
        match session {
            Some(session) => {
                for prompt in self.prompts.take().unwrap_or_default() {
                    self.prompt(&session, &prompt);
                }
                self.session = Some(session);
            }
            None => self.refusal = Some("the server's new session has no id".to_owned()),
        }
    }
}

impl Client {
    fn asked_for(&mut self, wants: AnswerKind, props: &Object<'_>) {
        let Some(id) = props.str("id").filter(|id| !id.is_empty()) else { return };
        let args = match wants {
            AnswerKind::Permission | AnswerKind::OldPermission => {
                props.get("metadata").filter(|value| value.object().is_some())
            }
            AnswerKind::Answers => None,
        };
        let session = props.str("sessionID").unwrap_or_default().into_owned();
        self.asks.insert(&id, PendingQuestion { session, args: args.map(Json::to_raw_as_it_came), wants });
    }

    fn prompt(&mut self, session: &str, parts: &Value) {
        let mut body = json!({"parts": parts});
        let agent = self.agent.as_deref().map(Value::from);
        for (key, value) in [("model", self.model.clone()), ("agent", agent)] {
            if let (Some(value), Some(body)) = (value, body.as_object_mut()) {
                body.insert(key.to_owned(), value);
            }
        }
        self.post(format!("/session/{}/prompt_async", escaped(session)), Some(&body));
    }

    fn post(&mut self, path: String, body: Option<&Value>) {
        let body = body.map(|body| to_raw(body).get().as_bytes().to_vec()).unwrap_or_default();
        self.out.push(Outgoing::Post { path: path + &self.query, body });
    }
}

impl PendingQuestion {
    fn reply(&self, id: &str, answer: &Answer) -> Result<(String, Option<Value>), SendError> {
        let (id, approved) = (escaped(id), answer.decision == Decision::Approved);
        let reply = match (approved, answer.scope.as_deref()) {
            (false, _) => "reject",
            (true, None | Some("once")) => "once",
            // The server keeps the permission as long as it runs.
            (true, Some("session" | "always")) => "always",
            (true, Some(_)) => {
                return Err(SendError::Unsupported("this runner supports the scopes once, session and always"));
            }
        };
        Ok(match self.wants {
            AnswerKind::Permission => {
                let mut body = json!({"reply": reply});
                // With a message, the model continues; without one, its turn ends.
                let message = answer
                    .reason
                    .as_deref()
                    .filter(|_| matches!(answer.decision, Decision::Rejected | Decision::TimedOut));
                if let (Some(message), Some(body)) = (message, body.as_object_mut()) {
                    body.insert("message".to_owned(), message.into());
                }
                (format!("/permission/{id}/reply"), Some(body))
            }
            AnswerKind::OldPermission => {
                let session = escaped(&self.session);
                (format!("/session/{session}/permissions/{id}"), Some(json!({"response": reply})))
            }
            AnswerKind::Answers if approved => {
                (format!("/question/{id}/reply"), Some(json!({"answers": answer.answers})))
            }
            AnswerKind::Answers => (format!("/question/{id}/reject"), None),
        })
    }
}

/// Escapes a path segment or query value. Bytes other than alphanumerics, `-`, `_` and `~` are percent-encoded.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
