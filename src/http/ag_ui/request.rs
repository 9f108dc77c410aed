//! The body of a request of an AG-UI client: `RunAgentInput` of AG-UI 1.0.
//!
//! Input: the JSON of a request. Output: a conversation, or answers to questions. Never: a part of the user's message that is left out silently; the
//! client's tools, which no runner can call.

use super::super::decision::{Decided, Word, bare};
use super::super::digest::{Digest, digest, hex};
use super::super::problem::Problem;
use super::super::prompt_files;
use super::super::transcript::{Message, Role, Transcript};
use framegate_translators::frame::Decision;
use framegate_translators::host::{Answer, PromptFile};
use serde::Deserialize;
use serde_json::Value;

/// A request.
#[derive(Debug)]
pub(super) struct RunInput {
    /// The thread, as the client names it.
    pub(super) thread_id: String,
    /// The run, as the client names it.
    pub(super) run_id: String,
    /// The runner's model; `None` for the upstream's own choice.
    pub(super) model: Option<String>,
    /// The runner's mode; `None` for the upstream's own choice.
    pub(super) mode: Option<String>,
    /// The conversation. Empty if the client leaves it to the agent.
    pub(super) chat: Chat,
    /// Answers to questions, by their ids.
    pub(super) answers: Vec<(String, Answer)>,
    /// The fields that have no effect.
    pub(super) ignored: Vec<&'static str>,
}

/// A conversation as the client has it.
#[derive(Debug, Default)]
pub(super) struct Chat {
    instructions: Vec<String>,
    messages: Vec<Message>,
    /// The ids of the user's messages.
    user_ids: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Body {
    thread_id: String,
    run_id: String,
    #[serde(default)]
    messages: Vec<Said>,
    #[serde(default)]
    tools: Vec<Value>,
    #[serde(default)]
    context: Vec<Context>,
    #[serde(default)]
    state: Value,
    #[serde(default)]
    forwarded_props: Value,
    #[serde(default)]
    resume: Vec<Resume>,
}

#[derive(Debug, Deserialize)]
struct Said {
    #[serde(default)]
    id: String,
    role: String,
    #[serde(default)]
    content: Value,
}

#[derive(Debug, Deserialize)]
struct Context {
    #[serde(default)]
    description: String,
    #[serde(default)]
    value: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Resume {
    interrupt_id: String,
    status: Status,
    #[serde(default)]
    payload: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Resolved,
    Cancelled,
}

impl RunInput {
    /// Reads a request.
    ///
    /// # Errors
    /// 400: what is wrong, and where.
    pub(super) fn read(body: Value) -> Result<Self, Problem> {
        let body: Body = serde_json::from_value(body).map_err(|error| {
            let form = "{\"threadId\", \"runId\", \"messages\"}";
            Problem::bad_request(format!("the body is not a RunAgentInput ({form}): {error}"))
        })?;
        for (name, id) in [("threadId", &body.thread_id), ("runId", &body.run_id)] {
            if id.is_empty() {
                return Err(Problem::bad_request(format!("{name} is empty")));
            }
        }
        let has_state = |state: &Value| !state.is_null() && state.as_object().is_none_or(|state| !state.is_empty());
        let mut ignored = Vec::new();
        if !body.tools.is_empty() {
            ignored.push("tools");
        }
        // The state that the client has is the one that framegate gave it, which is the plan.
        if has_state(&body.state) && body.state.get("plan").is_none() {
            ignored.push("state");
        }
        let prop = |name: &str| {
            let text = body.forwarded_props.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
            text.map(str::to_owned)
        };
        let (model, mode) = (prop("model"), prop("mode"));
        let answers = body.resume.into_iter().enumerate();
        Ok(Self {
            thread_id: body.thread_id,
            run_id: body.run_id,
            model,
            mode,
            chat: Chat::read(body.messages, &body.context)?,
            answers: answers.map(|(at, resume)| answer(at, resume)).collect::<Result<_, _>>()?,
            ignored,
        })
    }
}

/// The answer to a question: a decision with what belongs to it, or a bare one.
fn answer(at: usize, resume: Resume) -> Result<(String, Answer), Problem> {
    let Resume { interrupt_id, status, payload } = resume;
    if status == Status::Cancelled {
        return Ok((interrupt_id, bare(Decision::Cancelled)));
    }
    let is_allowed = payload.as_bool().or_else(|| payload.get("approved").and_then(Value::as_bool));
    let answer = match (is_allowed, &payload) {
        (Some(true), _) => Some(Answer { reason: reason_of(&payload), ..bare(Decision::Approved) }),
        (Some(false), _) => Some(Answer { reason: reason_of(&payload), ..bare(Decision::Rejected) }),
        (None, Value::String(_)) => serde_json::from_value::<Word>(payload).ok().map(|word| bare(word.into())),
        (None, _) => serde_json::from_value::<Decided>(payload).ok().map(Answer::from),
    };
    let answer = answer.ok_or_else(|| {
        Problem::bad_request(format!(
            "resume[{at}].payload must be {{\"decision\": \"approved\" or \"rejected\", \"reason\"?, \"scope\"?, \"answers\"?}}, \
             or one of these two words, or true or false"
        ))
    })?;
    Ok((interrupt_id, answer))
}

fn reason_of(payload: &Value) -> Option<String> {
    payload.get("reason").and_then(Value::as_str).map(str::to_owned)
}

impl Chat {
    fn read(said: Vec<Said>, context: &[Context]) -> Result<Self, Problem> {
        let mut chat = Self::default();
        for (at, Said { id, role, content }) in said.into_iter().enumerate() {
            let role = match role.as_str() {
                "system" | "developer" => None,
                "user" => Some(Role::User),
                "assistant" => Some(Role::Assistant),
                "tool" => Some(Role::Tool),
                // What the agent showed besides its answers.
                "reasoning" | "activity" => continue,
                other => {
                    let known = "developer, system, user, assistant, tool, reasoning or activity";
                    let detail = format!("messages[{at}] has the unknown role {other:?}: use {known}");
                    return Err(Problem::bad_request(detail));
                }
            };
            let (text, files) = content_of(&content, role == Some(Role::User), at)?;
            match role {
                None => chat.instructions.push(text),
                Some(role) => {
                    if role == Role::User {
                        chat.user_ids.push(id);
                    }
                    chat.messages.push(Message { role, text, files });
                }
            }
        }
        let described = context.iter().map(|Context { description, value }| format!("{description}: {value}"));
        chat.instructions.extend(described);
        Ok(chat)
    }

    /// The user's messages: their ids and texts.
    fn users(&self) -> impl Iterator<Item = (&str, &str)> {
        let texts = self.messages.iter().filter(|message| message.role == Role::User);
        self.user_ids.iter().map(String::as_str).zip(texts.map(|message| message.text.as_str()))
    }

    /// What identifies the user's messages so far: their texts, because the ids in a snapshot of the messages are others.
    pub(super) fn said(&self) -> Digest {
        chained(self.users()).last().unwrap_or_default()
    }

    /// What identifies the user's last message.
    pub(super) fn last_id(&self) -> Digest {
        digest([self.user_ids.last().map(String::as_str)].into_iter())
    }

    /// What the user wrote and attached since the prompt of the thread's newest run; `None` if the conversation is not that of the thread.
    ///
    /// `said` identifies the user's messages up to that prompt, as the client or as a snapshot has them; `last_id` the last of them.
    pub(super) fn new_prompt(&self, said: &[Digest], last_id: Digest) -> Option<(String, Vec<PromptFile>)> {
        let written: Vec<&Message> = self.messages.iter().filter(|message| message.role == Role::User).collect();
        let known = chained(self.users()).rposition_of(said);
        let is_alone = !self.messages.iter().any(|message| message.role == Role::Assistant);
        let new = match known {
            Some(at) if at + 1 < written.len() => written.get(at + 1..)?,
            // Clients that leave the conversation to the agent send only the new message.
            _ if is_alone && self.last_id() != last_id => &written,
            _ => return None,
        };
        let prompt = new.iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n\n");
        let files = new.iter().flat_map(|message| &message.files).cloned().collect();
        (!prompt.trim().is_empty()).then_some((prompt, files))
    }

    /// The conversation with the prompt at its end; `None` if it does not end with a prompt.
    pub(super) fn transcript(&self) -> Option<Transcript> {
        Transcript::new(self.instructions.clone(), self.messages.iter().cloned())
    }

    /// Whether the user wrote something after the request that `said` identifies.
    pub(super) fn goes_beyond(&self, said: &[Digest]) -> bool {
        let count = self.user_ids.len();
        chained(self.users()).rposition_of(said).is_some_and(|at| at + 1 < count)
    }
}

/// What identifies the user's messages up to each one.
fn chained<'c>(users: impl Iterator<Item = (&'c str, &'c str)>) -> impl Iterator<Item = Digest> {
    users.scan(Digest::default(), |before, (_, text)| {
        *before = and_then(*before, text);
        Some(*before)
    })
}

/// What identifies a user's messages and the one that follows.
pub(super) fn and_then(before: Digest, text: &str) -> Digest {
    digest([Some(hex(&before).as_str()), Some(text)].into_iter())
}

trait LastPosition: Iterator<Item = Digest> + Sized {
    fn rposition_of(self, wanted: &[Digest]) -> Option<usize> {
        self.enumerate().filter(|(_, digest)| wanted.contains(digest)).map(|(at, _)| at).last()
    }
}

impl<I: Iterator<Item = Digest>> LastPosition for I {}

/// The text and the files of a message.
fn content_of(content: &Value, is_user: bool, at: usize) -> Result<(String, Vec<PromptFile>), Problem> {
    let (mut texts, mut files) = (Vec::new(), Vec::new());
    match content {
        Value::String(text) => texts.push(text.as_str()),
        Value::Array(parts) => {
            for (part_at, part) in parts.iter().enumerate() {
                let field = |key: &str| part.get(key).and_then(Value::as_str);
                match field("type") {
                    Some("text") => texts.push(field("text").unwrap_or_default()),
                    kind if is_user => {
                        let file = file_of(kind.unwrap_or("unknown"), part);
                        let detail = |what| Problem::bad_request(format!("messages[{at}].content[{part_at}] {what}"));
                        files.push(file.map_err(detail)?);
                    }
                    _ => {}
                }
            }
        }
        // An assistant's message may have only calls.
        Value::Null if !is_user => {}
        _ => {
            let detail = format!("messages[{at}].content must be a text or a list of parts");
            return Err(Problem::bad_request(detail));
        }
    }
    Ok((texts.join("\n\n"), files))
}

/// The file of a part, in today's form or as `binary` of earlier versions.
fn file_of(kind: &str, part: &Value) -> Result<PromptFile, String> {
    let text = |of: &Value, key: &str| of.get(key).and_then(Value::as_str).map(str::to_owned);
    let (source, name) = (part.get("source").unwrap_or(part), text(part, "filename"));
    let media_type = text(source, "mimeType");
    match (kind, text(source, "type").as_deref()) {
        ("image" | "document", Some("data")) => {
            prompt_files::of_data(&media_type.unwrap_or_default(), text(source, "value").unwrap_or_default(), name)
        }
        ("image" | "document", Some("url")) => {
            let url = text(source, "value").unwrap_or_default();
            match media_type {
                None if kind == "image" => prompt_files::image(&url),
                media_type => prompt_files::of_url(&url, media_type.as_deref(), name),
            }
        }
        ("binary", _) => match (text(part, "data"), text(part, "url")) {
            (Some(data), _) => prompt_files::of_data(&media_type.unwrap_or_default(), data, name),
            (None, Some(url)) => prompt_files::of_url(&url, media_type.as_deref(), name),
            (None, None) => Err("has neither data nor url".to_owned()),
        },
        ("image" | "document", _) => Err("needs a source of the type data or url".to_owned()),
        _ => Err(format!("is of the type {kind:?}: runners get texts, images and documents")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn input(fields: Value) -> Result<RunInput, Problem> {
        let mut body = json!({"threadId": "t", "runId": "r"});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        RunInput::read(body)
    }

    fn chat(messages: &[(&str, &str)]) -> Chat {
        let said = messages.iter().enumerate();
        let said: Vec<Value> =
            said.map(|(at, (role, text))| json!({"id": at.to_string(), "role": role, "content": text})).collect();
        input(json!({"messages": said})).unwrap().chat
    }

    #[test]
    fn a_request_has_a_conversation_and_a_model() {
        let read = input(json!({
            "forwardedProps": {"model": "opus", "mode": "plan"},
            "tools": [{"name": "t"}],
            "state": {"plan": []},
            "context": [{"description": "Page", "value": "1"}],
            "messages": [
                {"id": "s", "role": "developer", "content": "Be brief."},
                {"id": "u", "role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
                {"id": "a", "role": "assistant", "toolCalls": []},
                {"id": "x", "role": "activity", "content": {}},
                {"id": "v", "role": "user", "content": "three"},
            ],
        }))
        .unwrap();
        assert_eq!(read.mode.as_deref(), Some("plan"));
        assert_eq!((read.model.as_deref(), read.ignored.as_slice()), (Some("opus"), &["tools"][..]));
        let transcript = read.chat.transcript().unwrap();
        assert_eq!(transcript.prompt, "three");
        assert_eq!(transcript.instructions, "Be brief.\n\nPage: 1");
        assert_eq!(transcript.history[0].text, "one\n\ntwo");
    }

    /// The text of the new prompt.
    fn new_text(chat: &Chat, said: Digest, last_id: Digest) -> Option<String> {
        chat.new_prompt(&[said], last_id).map(|(text, _)| text)
    }

    #[test]
    fn the_users_images_and_documents_belong_to_the_prompt() {
        let source = json!({"type": "data", "value": "YQ==", "mimeType": "image/png"});
        let content = json!([
            {"type": "text", "text": "look"},
            {"type": "image", "source": source},
            {"type": "image", "source": {"type": "url", "value": "https://a/b.gif"}},
            {"type": "document", "source": {"type": "url", "value": "https://a/b", "mimeType": "application/pdf"}},
            {"type": "binary", "mimeType": "image/png", "data": "YQ==", "filename": "b"},
        ]);
        let read = input(json!({"messages": [{"id": "u", "role": "user", "content": content}]})).unwrap();
        let (text, files) = read.chat.new_prompt(&[], Digest::default()).unwrap();
        let types: Vec<&str> = files.iter().map(|file| file.media_type.as_str()).collect();
        assert_eq!((text.as_str(), types), ("look", vec!["image/png", "image/gif", "application/pdf", "image/png"]));
        assert_eq!(read.chat.transcript().unwrap().files, files);
    }

    #[test]
    fn the_prompt_is_what_the_thread_has_not_had() {
        let first = chat(&[("user", "one")]);
        let (said, id) = (first.said(), first.last_id());
        let next = chat(&[("user", "one"), ("assistant", "1"), ("user", "two"), ("user", "three")]);
        assert_eq!(new_text(&next, said, id).unwrap(), "two\n\nthree");
        // The answer failed before it had a text.
        assert_eq!(new_text(&chat(&[("user", "one"), ("user", "two")]), said, id).unwrap(), "two");
        // Another answer to the same message, and an edited message.
        assert_eq!(first.new_prompt(&[said], id), None);
        let edited = chat(&[("user", "uno"), ("assistant", "1"), ("user", "two")]);
        assert_eq!(edited.new_prompt(&[said], id), None);
        // Only the new message.
        let mut alone = chat(&[("user", "one")]);
        alone.user_ids[0] = "new".to_owned();
        assert_eq!(new_text(&alone, said, id).unwrap(), "one");
        assert!(next.goes_beyond(&[said]) && !first.goes_beyond(&[said]) && !edited.goes_beyond(&[said]));
    }

    #[test]
    fn answers_have_several_forms() {
        let decision = |payload: Value| {
            let read = input(json!({"resume": [{"interruptId": "q", "status": "resolved", "payload": payload}]}));
            read.map(|read| read.answers[0].1.decision)
        };
        for (payload, expected) in [
            (json!(true), Decision::Approved),
            (json!("reject"), Decision::Rejected),
            (json!({"approved": false}), Decision::Rejected),
            (json!({"decision": "approved", "answers": ["a", ["b", "c"]]}), Decision::Approved),
        ] {
            assert_eq!(decision(payload.clone()).unwrap(), expected, "{payload}");
        }
        for wrong in [json!(null), json!({}), json!("maybe"), json!({"decision": "approved", "answers": [1]})] {
            assert!(decision(wrong.clone()).unwrap_err().detail().contains("resume[0].payload"), "{wrong}");
        }
        let cancelled = input(json!({"resume": [{"interruptId": "q", "status": "cancelled"}]})).unwrap();
        assert_eq!((cancelled.answers[0].0.as_str(), cancelled.answers[0].1.decision), ("q", Decision::Cancelled));
    }

    #[test]
    fn wrong_requests_are_refused() {
        let user = |content: Value| json!({"messages": [{"id": "u", "role": "user", "content": content}]});
        for (fields, expected) in [
            (json!({"threadId": ""}), "threadId is empty"),
            (json!({"runId": 7}), "not a RunAgentInput"),
            (json!({"messages": [{"role": "root", "content": "x"}]}), "\"root\""),
            (user(json!([{"type": "image"}])), "messages[0].content[0] needs a source"),
            (user(json!([{"type": "binary", "mimeType": "a/b", "id": "x"}])), "has neither data nor url"),
            (
                user(json!([{"type": "audio", "source": {"type": "url", "value": "https://a"}}])),
                "messages[0].content[0] is of the type \"audio\"",
            ),
            (user(json!(7)), "messages[0].content must be"),
            (json!({"resume": [{"interruptId": "q", "status": "done"}]}), "not a RunAgentInput"),
        ] {
            let problem = input(fields.clone()).unwrap_err();
            assert!(problem.detail().contains(expected), "{fields}: {}", problem.detail());
        }
    }
}
