//! The body of a request of the AI SDK's `useChat`.
//!
//! Input: the JSON of a request. Output: a prompt with its conversation, or answers to questions. Never: a file of the user's that is
//! left out silently.

use super::super::problem::Problem;
use super::super::prompt_files;
use super::super::transcript::{Message, Role, Transcript};
use framegate_translators::host::PromptFile;
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

/// A request.
#[derive(Debug)]
pub(super) struct ChatRequest {
    /// The chat, as the client names it.
    pub(super) chat_id: String,
    /// The runner's model; `None` for the upstream's own choice.
    pub(super) model: Option<String>,
    /// The runner's mode; `None` for the upstream's own choice.
    pub(super) mode: Option<String>,
    pub(super) action: Action,
}

/// What a request asks for.
#[derive(Debug)]
pub(super) enum Action {
    Prompt(Prompt),
    Answers(Answers),
}

/// The user's next message.
#[derive(Debug)]
pub(super) struct Prompt {
    pub(super) transcript: Transcript,
    /// The client's id of the user's message.
    pub(super) message_id: String,
    /// The id of the last answer before it, which is the id of its run; `None` if there is none.
    pub(super) last_answer: Option<String>,
    /// Whether the user wants another answer to a message that was answered.
    pub(super) is_again: bool,
}

/// The user's answers to questions of a run.
#[derive(Debug)]
pub(super) struct Answers {
    pub(super) run: Uuid,
    pub(super) answers: Vec<ApprovalAnswer>,
}

/// The answer to one question.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(super) struct ApprovalAnswer {
    pub(super) id: String,
    pub(super) approved: bool,
    #[serde(default)]
    pub(super) reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Body {
    id: String,
    messages: Vec<UiMessage>,
    #[serde(default)]
    trigger: Option<String>,
    #[serde(default, rename = "messageId")]
    message_id: Option<String>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    mode: Option<String>,
}

#[derive(Debug, Deserialize)]
struct UiMessage {
    #[serde(default)]
    id: String,
    role: String,
    #[serde(default)]
    parts: Vec<Value>,
}

impl ChatRequest {
    /// Reads a request.
    ///
    /// # Errors
    /// 400: what is wrong, and where.
    pub(super) fn read(body: Value) -> Result<Self, Problem> {
        let body: Body = serde_json::from_value(body).map_err(|error| {
            Problem::bad_request(format!(
                "the body is not a request of useChat ({{\"id\", \"messages\", \"trigger\"}}): {error}"
            ))
        })?;
        let Body { id: chat_id, messages, trigger, message_id, model, mode } = body;
        let is_again = match trigger.as_deref() {
            None | Some("submit-message") => false,
            Some("regenerate-message") => true,
            Some(other) => {
                let known = "submit-message or regenerate-message";
                return Err(Problem::bad_request(format!("unknown trigger {other:?}: use {known}")));
            }
        };
        if chat_id.is_empty() {
            return Err(Problem::bad_request("id is empty: it names the chat"));
        }
        // The user may have written something before the question was answered.
        let is_answered = |message: &&UiMessage| Some(&message.id) == message_id.as_ref() && has_answers(message);
        let answered = messages.iter().rfind(is_answered).filter(|_| !is_again);
        let action = match answered.or(messages.last()) {
            Some(last) if last.role == "assistant" => Action::Answers(answers(last)?),
            _ => Action::Prompt(prompt(&messages, is_again)?),
        };
        let some = |text: Option<String>| text.filter(|text| !text.is_empty());
        Ok(Self { chat_id, model: some(model), mode: some(mode), action })
    }
}

fn prompt(messages: &[UiMessage], is_again: bool) -> Result<Prompt, Problem> {
    let (mut instructions, mut conversation) = (Vec::new(), Vec::new());
    for (at, message) in messages.iter().enumerate() {
        let (text, files) = content_of(message, at)?;
        match message.role.as_str() {
            "system" => instructions.push(text),
            "user" => conversation.push(Message { role: Role::User, text, files }),
            "assistant" => conversation.push(Message::new(Role::Assistant, text)),
            other => {
                let detail = format!("messages[{at}] has the unknown role {other:?}: use system, user or assistant");
                return Err(Problem::bad_request(detail));
            }
        }
    }
    let transcript = Transcript::new(instructions, conversation.into_iter())
        .ok_or_else(|| Problem::bad_request("the last message must be the user's, with a text: it is the prompt"))?;
    let of = |role: &str| messages.iter().rfind(|message| message.role == role).map(|message| message.id.clone());
    let id = |role: &str| of(role).filter(|id| !id.is_empty());
    let message_id = id("user").ok_or_else(|| {
        Problem::bad_request("the user's message has no id: it distinguishes the message from one with the same text")
    })?;
    Ok(Prompt { transcript, message_id, last_answer: id("assistant"), is_again })
}

/// The text and the files of a message. Tools, reasoning, sources and data are not part of what was said.
fn content_of(message: &UiMessage, at: usize) -> Result<(String, Vec<PromptFile>), Problem> {
    let (mut texts, mut files) = (Vec::new(), Vec::new());
    for (part_at, part) in message.parts.iter().enumerate() {
        let field = |key: &str| part.get(key).and_then(Value::as_str);
        match field("type") {
            Some("text") => texts.push(field("text").unwrap_or_default()),
            Some("file") if message.role == "user" => {
                let url = field("url").unwrap_or_default();
                let file = prompt_files::of_url(url, field("mediaType"), field("filename").map(str::to_owned));
                let detail = |what| Problem::bad_request(format!("messages[{at}].parts[{part_at}] {what}"));
                files.push(file.map_err(detail)?);
            }
            _ => {}
        }
    }
    Ok((texts.join("\n\n"), files))
}

/// Whether a part has the answer to a question.
fn responded(part: &Value) -> bool {
    part.get("state").and_then(Value::as_str) == Some("approval-responded")
}

fn has_answers(message: &UiMessage) -> bool {
    message.role == "assistant" && message.parts.iter().any(responded)
}

fn answers(message: &UiMessage) -> Result<Answers, Problem> {
    let read = |part: &Value| serde_json::from_value(part.get("approval").cloned().unwrap_or_default());
    let answers: Result<Vec<ApprovalAnswer>, _> =
        message.parts.iter().filter(|part| responded(part)).map(read).collect();
    let answers = answers.map_err(|error| {
        Problem::bad_request(format!("an answered part needs approval: {{\"id\", \"approved\", \"reason\"?}}: {error}"))
    })?;
    if answers.is_empty() {
        let detail = "the last message must be the user's, or the assistant's with an answered approval";
        return Err(Problem::bad_request(detail));
    }
    let run = Uuid::try_parse(&message.id);
    let run = run.map_err(|_| Problem::bad_request("the id of the answered message is not that of a run"))?;
    Ok(Answers { run, answers })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_users_message_is_a_prompt() {
        let read = ChatRequest::read(json!({
            "id": "chat", "trigger": "regenerate-message", "messageId": "x", "model": "opus",
            "messages": [
                {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "one"}]},
                {"id": "a1", "role": "assistant", "parts": [
                    {"type": "step-start"}, {"type": "text", "text": "first"}, {"type": "dynamic-tool", "state": "output-available"},
                    {"type": "text", "text": "second"},
                ]},
                {"id": "u2", "role": "user", "parts": [{"type": "text", "text": "two"}, {"type": "data-x", "data": 1}]},
            ],
        }))
        .unwrap();
        assert_eq!((read.chat_id.as_str(), read.model.as_deref()), ("chat", Some("opus")));
        let Action::Prompt(prompt) = read.action else { panic!("{read:?}") };
        assert!(prompt.is_again);
        assert_eq!((prompt.message_id.as_str(), prompt.last_answer.as_deref()), ("u2", Some("a1")));
        assert_eq!(prompt.transcript.prompt, "two");
        assert_eq!(prompt.transcript.history[1].text, "first\n\nsecond");
    }

    #[test]
    fn an_assistants_message_has_answers() {
        let run = Uuid::from_u128(7);
        let part = |state: &str, id: &str| json!({"type": "dynamic-tool", "state": state, "approval": {"id": id, "approved": false, "reason": "no"}});
        let body =
            |id: &str, parts: Value| json!({"id": "c", "messages": [{"id": id, "role": "assistant", "parts": parts}]});
        let asked = [part("approval-responded", "one"), part("approval-requested", "two")];
        let read = ChatRequest::read(body(&run.to_string(), json!(asked))).unwrap();
        let Action::Answers(answers) = read.action else { panic!("{read:?}") };
        let expected = ApprovalAnswer { id: "one".to_owned(), approved: false, reason: Some("no".to_owned()) };
        assert_eq!((answers.run, answers.answers), (run, vec![expected]));
        // The user wrote something before the answer.
        let mut later = body(&run.to_string(), json!(asked));
        later["messages"]
            .as_array_mut()
            .unwrap()
            .push(json!({"id": "u", "role": "user", "parts": [{"type": "text", "text": "x"}]}));
        assert!(matches!(ChatRequest::read(later.clone()).unwrap().action, Action::Prompt(_)));
        later["messageId"] = json!(run);
        assert!(matches!(ChatRequest::read(later).unwrap().action, Action::Answers(_)));
        for wrong in [body(&run.to_string(), json!([])), body("m", json!(asked))] {
            assert!(ChatRequest::read(wrong).is_err());
        }
    }

    #[test]
    fn wrong_requests_are_refused() {
        let user = json!([{"id": "u", "role": "user", "parts": [{"type": "text", "text": "x"}]}]);
        for (body, expected) in [
            (json!({"messages": user}), "missing field `id`"),
            (json!({"id": "", "messages": user}), "id is empty"),
            (json!({"id": "c", "messages": []}), "the last message"),
            (json!({"id": "c", "messages": user, "trigger": "now"}), "\"now\""),
            (json!({"id": "c", "messages": [{"role": "user", "parts": [{"type": "text", "text": "x"}]}]}), "has no id"),
            (
                json!({"id": "c", "messages": [{"id": "u", "role": "user", "parts": [{"type": "file"}]}]}),
                "messages[0].parts[0] must be an http",
            ),
            (json!({"id": "c", "messages": [{"id": "u", "role": "root", "parts": []}]}), "\"root\""),
        ] {
            let problem = ChatRequest::read(body.clone()).unwrap_err();
            assert!(problem.detail().contains(expected), "{body}: {}", problem.detail());
        }
    }
}
