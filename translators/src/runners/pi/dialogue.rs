//! The client's half of RPC mode: `pi --mode rpc`.
//!
//! Input: what the host wants to send, and the records of standard output. Output: commands for standard input, one JSON object a line. The
//! command line sets the session and the model. Never: a choice that the extension did not offer; a prompt that the runner refuses
//! because it works on another one.

use super::extension::Asked;
use crate::decode::Record;
use crate::frame::{Decision, RawJson};
use crate::host::{
    Answer, Dialogue, FileContent, HostMessage, OpenQuestion, Opening, Outgoing, PendingQuestions, PromptFile,
    SendError,
};
use crate::json::{Json, Object};
use serde_json::{Value, json};

/// The images that the runner takes.
const IMAGES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

#[derive(Debug, Default)]
pub(super) struct Rpc {
    outgoing: Vec<Outgoing>,
    /// Whether an agent run is in progress.
    works: bool,
    questions: PendingQuestions<Question>,
    refusal: Option<String>,
}

/// A question of an extension.
#[derive(Debug)]
struct Question {
    asked: Asked,
    args: RawJson,
    options: Vec<String>,
    /// Whether it was asked while an agent run was in progress. It is closed with the run.
    is_of_run: bool,
}

/// Whether an answer refuses a prompt.
fn refuses_prompt(response: &Object<'_>) -> bool {
    response.bool("success") == Some(false) && response.str("command").as_deref() == Some("prompt")
}

impl Dialogue for Rpc {
    fn open(&mut self, opening: &Opening) {
        // Its answer names the session, which no other record of this mode does.
        self.command(&json!({"id": "state", "type": "get_state"}));
        self.prompt(&opening.prompt, &opening.files);
    }

    fn takes(&self, file: &PromptFile) -> bool {
        IMAGES.contains(&file.media_type.as_str()) && !file.is_elsewhere()
    }

    fn receive(&mut self, record: &Record<'_>) {
        let fields = &record.fields;
        match fields.str("type").as_deref() {
            Some("agent_start") => self.works = true,
            // Version 0.73 does not say whether more follows.
            Some("agent_end") if fields.get("willRetry").is_none() => self.works = false,
            Some("agent_settled") => {
                self.works = false;
                self.questions.retain(|question| !question.is_of_run);
            }
            Some("extension_ui_request") => {
                if let (Some(asked), Some(id)) = (Asked::of(fields), fields.str("id").filter(|id| !id.is_empty())) {
                    self.questions.insert(&id, Question::read(asked, fields, self.works));
                }
            }
            Some("response") if !self.works && refuses_prompt(fields) => {
                self.refusal = Some(fields.str("error").unwrap_or_default().into_owned());
            }
            _ => {}
        }
    }

    fn send(&mut self, _session: Option<&str>, message: &HostMessage) -> Result<(), SendError> {
        match message {
            HostMessage::Prompt(text) => self.prompt(text, &[]),
            HostMessage::Interrupt => self.command(&json!({"type": "abort"})),
            HostMessage::Answer { approval_id, answer } => {
                let no_question = || SendError::UnknownQuestion(approval_id.clone());
                let mut response = self.questions.get(approval_id).ok_or_else(no_question)?.response(answer)?;
                self.questions.remove(approval_id);
                if let Some(fields) = response.as_object_mut() {
                    fields.insert("type".to_owned(), json!("extension_ui_response"));
                    fields.insert("id".to_owned(), json!(&**approval_id));
                }
                self.command(&response);
            }
            HostMessage::Close => self.outgoing.push(Outgoing::EndOfInput),
        }
        Ok(())
    }

    fn take(&mut self) -> Vec<Outgoing> {
        std::mem::take(&mut self.outgoing)
    }

    fn question(&self, approval_id: &str) -> Option<OpenQuestion> {
        let question = self.questions.get(approval_id)?;
        Some(OpenQuestion {
            args: Some(question.args.clone()),
            wants_answers: question.asked != Asked::Confirm,
            unanswerable: None,
        })
    }

    fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }
}

impl Rpc {
    fn command(&mut self, command: &Value) {
        let mut line = command.to_string().into_bytes();
        line.push(b'\n');
        self.outgoing.push(Outgoing::Input(line));
    }

    /// Sends a prompt. If the runner works, the prompt follows what it works on.
    fn prompt(&mut self, text: &str, files: &[PromptFile]) {
        let image = |file: &PromptFile| match &file.content {
            FileContent::Base64(data) => Some(json!({"type": "image", "data": data, "mimeType": file.media_type})),
            FileContent::Url(_) => None,
        };
        let mut command = json!({"type": "prompt", "message": text, "streamingBehavior": "followUp"});
        let images: Vec<Value> = files.iter().filter_map(image).collect();
        if let (false, Some(fields)) = (images.is_empty(), command.as_object_mut()) {
            fields.insert("images".to_owned(), images.into());
        }
        self.command(&command);
    }
}

impl Question {
    fn read(asked: Asked, request: &Object<'_>, is_of_run: bool) -> Self {
        let options = request.items("options").into_iter().filter_map(Json::str).map(String::from);
        Self { asked, args: asked.args(request), options: options.collect(), is_of_run }
    }

    fn response(&self, answer: &Answer) -> Result<Value, SendError> {
        if !matches!(answer.scope.as_deref(), None | Some("once")) {
            return Err(SendError::Unsupported("an extension of pi asks each time: an answer is valid once"));
        }
        let is_approved = answer.decision == Decision::Approved;
        match self.asked {
            Asked::Confirm => Ok(json!({"confirmed": is_approved})),
            _ if !is_approved => Ok(json!({"cancelled": true})),
            asked => {
                let words: Vec<&String> = answer.answers.iter().flatten().collect();
                let [word] = words.as_slice() else {
                    return Err(SendError::InvalidAnswer(format!("one answer is needed, not {}", words.len())));
                };
                if asked == Asked::Select && !self.options.contains(word) {
                    let known = self.options.join(", ");
                    return Err(SendError::InvalidAnswer(format!("{word:?} is none of the choices: {known}")));
                }
                Ok(json!({"value": word}))
            }
        }
    }
}
