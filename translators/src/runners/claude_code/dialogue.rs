//! The host's half of the control protocol: `claude -p --input-format stream-json --permission-prompt-tool stdio`.
//!
//! Input: what the host wants to send, and the records of standard output. Output: lines for standard input. The command line
//! sets the session, the model and the directory. Never: a request of the runner left unanswered, even if this host does not
//! support it; a permission whose input is not byte for byte what was asked for.

use super::super::control_lines::{ControlLines, FIRST, with_field};
use super::super::elicitation::{Form, object_of};
use super::control::form_args;
use crate::decode::Record;
use crate::frame::{Decision, RawJson};
use crate::host::{
    Answer, Dialogue, FileContent, HostMessage, OpenQuestion, Opening, Outgoing, PendingQuestions, PromptFile,
    SendError,
};
use crate::json::{Json, Object, to_raw};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The text that the model reads if a refusal has no reason.
pub(super) const REFUSED: &str = "The user does not want this to be done.";

#[derive(Debug, Default)]
pub(super) struct Control {
    lines: ControlLines,
    /// Prompts that wait for the answer to the first request.
    prompts: Option<Vec<Value>>,
    /// Open questions, by the id of their request.
    asks: PendingQuestions<PendingQuestion>,
}

#[derive(Debug)]
enum PendingQuestion {
    Permission(Permission),
    /// An MCP server's question: its form, or why this host cannot fill it in.
    Elicitation {
        form: Result<Form, String>,
        args: RawJson,
    },
}

/// A permission request.
#[derive(Debug)]
struct Permission {
    input: RawJson,
    /// Rules that would permit similar calls from now on.
    rules: Vec<RawJson>,
    /// The texts of the questions, if the runner asks for choices instead of a permission.
    questions: Vec<String>,
}

/// The images that the model takes.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The documents that the model takes.
const PDF: &str = "application/pdf";

/// The content of a prompt: its files, then its text, as the model's documentation advises.
fn content_of(text: &str, files: &[PromptFile]) -> Value {
    let block = |file: &PromptFile| {
        let source = match &file.content {
            FileContent::Base64(data) => json!({"type": "base64", "media_type": file.media_type, "data": data}),
            FileContent::Url(url) => json!({"type": "url", "url": url}),
        };
        let kind = if file.is_image() { "image" } else { "document" };
        json!({"type": kind, "source": source})
    };
    files.iter().map(block).chain([json!({"type": "text", "text": text})]).collect()
}

/// The tool whose answer is sent as its permission.
pub(super) const QUESTIONS: &str = "AskUserQuestion";

impl Dialogue for Control {
    fn open(&mut self, opening: &Opening) {
        self.lines.request(&json!({"subtype": "initialize"}));
        self.prompts = Some(vec![content_of(&opening.prompt, &opening.files)]);
    }

    fn takes(&self, file: &PromptFile) -> bool {
        IMAGES.contains(&file.media_type.as_str()) || file.media_type == PDF || file.is_image() && file.is_elsewhere()
    }

    fn receive(&mut self, record: &Record<'_>) {
        let fields = &record.fields;
        match fields.str("type").as_deref() {
            Some("control_request") => self.asked_for(fields),
            Some("control_cancel_request") => {
                self.asks.remove(&fields.str("request_id").unwrap_or_default());
            }
            Some("control_response") => {
                let response = fields.object("response").unwrap_or_default();
                if response.str("request_id").as_deref() == Some(FIRST) {
                    for prompt in self.prompts.take().unwrap_or_default() {
                        self.lines.prompt(&prompt);
                    }
                }
            }
            // The turn is over, so its questions are closed.
            Some("result") => self.asks.retain(|_| false),
            _ => {}
        }
    }

    fn send(&mut self, _session: Option<&str>, message: &HostMessage) -> Result<(), SendError> {
        match message {
            HostMessage::Prompt(text) => match &mut self.prompts {
                Some(waiting) => waiting.push(content_of(text, &[])),
                None => self.lines.prompt(&content_of(text, &[])),
            },
            HostMessage::Interrupt => self.lines.request(&json!({"subtype": "interrupt"})),
            HostMessage::Answer { approval_id, answer } => {
                let no_question = || SendError::UnknownQuestion(approval_id.clone());
                let response = self.asks.get(approval_id).ok_or_else(no_question)?.response(answer)?;
                self.asks.remove(approval_id);
                self.lines.succeed(approval_id, &response);
            }
            HostMessage::Close => self.lines.close(),
        }
        Ok(())
    }

    fn take(&mut self) -> Vec<Outgoing> {
        self.lines.take()
    }

    fn question(&self, approval_id: &str) -> Option<OpenQuestion> {
        Some(match self.asks.get(approval_id)? {
            PendingQuestion::Permission(asked) => OpenQuestion {
                args: Some(asked.input.clone()),
                wants_answers: !asked.questions.is_empty(),
                unanswerable: None,
            },
            PendingQuestion::Elicitation { form, args } => OpenQuestion {
                args: Some(args.clone()),
                wants_answers: form.as_ref().is_ok_and(|form| !form.is_empty()),
                unanswerable: form.as_ref().err().cloned(),
            },
        })
    }
}

impl Control {
    fn asked_for(&mut self, fields: &Object<'_>) {
        let request = fields.object("request").unwrap_or_default();
        let request_id = fields.str("request_id").filter(|id| !id.is_empty());
        match (request.str("subtype").as_deref(), request_id) {
            // The decoder names the question the same way: by its request, or else by its call. Only a question with a request
            // id can be answered.
            (Some("can_use_tool"), Some(request_id)) => {
                self.asks.insert(&request_id, PendingQuestion::Permission(Permission::read(&request)));
            }
            (Some("elicitation"), Some(request_id)) => {
                let form = Form::asked(request.str("mode").as_deref(), request.some("requested_schema"));
                self.asks.insert(&request_id, PendingQuestion::Elicitation { form, args: form_args(&request) });
            }
            (subtype, Some(request_id)) => self.lines.refuse(&request_id, subtype),
            (_, None) => {}
        }
    }
}

impl PendingQuestion {
    fn response(&self, answer: &Answer) -> Result<RawJson, SendError> {
        let (form, none) = match self {
            Self::Permission(asked) => return asked.response(answer),
            Self::Elicitation { form, .. } => (form, Form::default()),
        };
        let form = match form {
            Ok(form) => form,
            Err(why) if answer.decision == Decision::Approved => return Err(SendError::InvalidAnswer(why.clone())),
            Err(_) => &none,
        };
        let (action, content) = form.response(answer)?;
        let action = to_raw(action);
        let content = content.as_ref().map(|content| ("content", content.get()));
        Ok(object_of([("action", action.get())].into_iter().chain(content)))
    }
}

impl Permission {
    fn read(request: &Object<'_>) -> Self {
        let input = request.get("input").filter(|input| input.object().is_some());
        let is_rule = |suggestion: &&Json<'_>| {
            suggestion.object().is_some_and(|fields| fields.str("type").as_deref() == Some("addRules"))
        };
        let is_question = request.str("tool_name").as_deref() == Some(QUESTIONS);
        let questions = input.and_then(Json::object).filter(|_| is_question);
        let questions = questions.map(|input| input.items("questions")).unwrap_or_default();
        let text = |question: Json<'_>| Some(question.object()?.str("question")?.into_owned());
        Self {
            input: input.map_or_else(crate::json::empty_object, Json::to_raw_as_it_came),
            rules: request
                .items("permission_suggestions")
                .iter()
                .filter(is_rule)
                .map(|rule| rule.to_raw_as_it_came())
                .collect(),
            questions: questions.into_iter().filter_map(text).collect(),
        }
    }

    fn response(&self, answer: &Answer) -> Result<RawJson, SendError> {
        if answer.decision != Decision::Approved {
            let message = answer.reason.as_deref().filter(|reason| !reason.is_empty()).unwrap_or(REFUSED);
            let mut denial = json!({"behavior": "deny", "message": message});
            if let (Decision::Cancelled, Some(denial)) = (answer.decision, denial.as_object_mut()) {
                denial.insert("interrupt".to_owned(), true.into());
            }
            return Ok(to_raw(&denial));
        }
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Allow<'a> {
            behavior: &'static str,
            updated_input: &'a RawValue,
            #[serde(skip_serializing_if = "Vec::is_empty")]
            updated_permissions: Vec<RawJson>,
        }
        let input = if self.questions.is_empty() { self.input.clone() } else { self.chosen(&answer.answers) };
        let updated_permissions = match answer.scope.as_deref() {
            None | Some("once") => Vec::new(),
            Some(_) if self.rules.is_empty() => {
                return Err(SendError::Unsupported(
                    "the runner offers no rule for this question: it can only be allowed once",
                ));
            }
            Some("session") => self.rules.iter().map(for_the_session).collect(),
            Some("always") => self.rules.clone(),
            Some(_) => return Err(SendError::Unsupported("this runner supports the scopes once, session and always")),
        };
        Ok(to_raw(&Allow { behavior: "allow", updated_input: &input, updated_permissions }))
    }

    /// The input with the answers to its questions added.
    fn chosen(&self, answers: &[Vec<String>]) -> RawJson {
        let chosen: BTreeMap<&str, String> =
            self.questions.iter().map(String::as_str).zip(answers.iter().map(|words| words.join(", "))).collect();
        let chosen = to_raw(&chosen);
        with_field(&self.input, "answers", &chosen)
    }
}

/// A rule that lasts as long as the session.
fn for_the_session(rule: &RawJson) -> RawJson {
    with_field(rule, "destination", &to_raw("session"))
}
