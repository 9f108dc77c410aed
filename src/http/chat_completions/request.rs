//! The body of a chat completion request.
//!
//! Input: the JSON of a request. Output: the prompt, the conversation before it, and the form of the answer that the client wants; or the
//! parameter that cannot be met. Never: a parameter that would change what the answer means and is ignored; a client's tool.

use super::super::problem::Problem;
use super::super::prompt_files;
use super::super::transcript::{Message, Role, Transcript};
use framegate_translators::host::PromptFile;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Parameters that a response does not name as ignored: hints and accounting, and those whose values are checked.
const QUIET: &[&str] = &[
    "functions",
    "logprobs",
    "metadata",
    "modalities",
    "n",
    "parallel_tool_calls",
    "prompt_cache_key",
    "prompt_cache_retention",
    "response_format",
    "safety_identifier",
    "service_tier",
    "store",
    "tool_choice",
    "tools",
    "user",
];

/// How many ignored parameters a response names.
const MAX_IGNORED: usize = 32;

/// A request.
#[derive(Debug)]
pub(super) struct ChatRequest {
    /// The model as the client wrote it.
    pub(super) model: String,
    /// The conversation.
    pub(super) transcript: Transcript,
    /// The person who writes, if the client has several; empty if it names no one.
    pub(super) user: String,
    /// Whether the answer is a stream of chunks.
    pub(super) stream: bool,
    /// Whether the stream has a chunk with the usage.
    pub(super) include_usage: bool,
    /// The names of parameters that have no effect on a coding agent.
    pub(super) ignored: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Body {
    model: String,
    messages: Vec<RawMessage>,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    stream_options: Option<StreamOptions>,
    #[serde(flatten)]
    more: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct RawMessage {
    role: String,
    #[serde(default)]
    content: Value,
}

/// 400 for a parameter.
fn wrong(parameter: &str, detail: impl Into<String>) -> Problem {
    Problem::bad_request(detail).and("param", parameter)
}

impl ChatRequest {
    /// Reads a request.
    ///
    /// # Errors
    /// 400 with the parameter that is wrong or that cannot be met.
    pub(super) fn read(body: Value) -> Result<Self, Problem> {
        let body: Body = serde_json::from_value(body).map_err(|error| {
            Problem::bad_request(format!(
                "the body is not a chat completion request ({{\"model\", \"messages\"}}): {error}"
            ))
        })?;
        check(&body.more)?;
        let (mut instructions, mut messages) = (Vec::new(), Vec::new());
        for (at, message) in body.messages.iter().enumerate() {
            let (text, files) = content_of(&message.content, at, &message.role)?;
            let role = match message.role.as_str() {
                "system" | "developer" => {
                    instructions.push(text);
                    continue;
                }
                "user" => Role::User,
                "assistant" => Role::Assistant,
                "tool" | "function" => Role::Tool,
                other => {
                    let known = "system, developer, user, assistant or tool";
                    return Err(wrong(&format!("messages[{at}].role"), format!("unknown role {other:?}: use {known}")));
                }
            };
            messages.push(Message { role, text, files });
        }
        let transcript = Transcript::new(instructions, messages.into_iter()).ok_or_else(|| {
            wrong("messages", "the last message must be the user's, with a text: it is the prompt of the next run")
        })?;
        let is_quiet = |name: &String| QUIET.contains(&name.as_str());
        let is_set = |value: &Value| !value.is_null();
        let ignored = body.more.iter().filter(|(name, value)| !is_quiet(name) && is_set(value) && is_word(name));
        Ok(Self {
            model: body.model,
            transcript,
            user: person(&body.more),
            stream: body.stream.unwrap_or_default(),
            include_usage: body.stream_options.unwrap_or_default().include_usage.unwrap_or_default(),
            ignored: ignored.map(|(name, _)| name.clone()).take(MAX_IGNORED).collect(),
        })
    }
}

/// The person whom the client names.
fn person(more: &Map<String, Value>) -> String {
    let name = |key: &str| more.get(key).and_then(Value::as_str);
    name("safety_identifier").or_else(|| name("user")).unwrap_or_default().to_owned()
}

/// Whether a parameter's name can be part of a header.
fn is_word(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Refuses parameters that a coding agent cannot meet and whose absence would change what the answer means.
fn check(more: &Map<String, Value>) -> Result<(), Problem> {
    let is_filled = |name: &str| more.get(name).and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    for name in ["tools", "functions"] {
        if is_filled(name) && more.get("tool_choice").and_then(Value::as_str) != Some("none") {
            let detail = format!("{name} cannot be offered to a coding agent, which runs its own tools; omit {name}");
            return Err(wrong(name, detail));
        }
    }
    let text = |name: &str, key: &str| more.get(name).and_then(|value| value.get(key)).and_then(Value::as_str);
    if text("response_format", "type").is_some_and(|form| form != "text") {
        return Err(wrong(
            "response_format",
            "a coding agent answers with text; omit response_format, or use the type text",
        ));
    }
    if more.get("n").is_some_and(|count| !count.is_null() && count.as_u64() != Some(1)) {
        return Err(wrong("n", "a run has one answer: n must be 1"));
    }
    if more.get("logprobs").and_then(Value::as_bool) == Some(true) {
        return Err(wrong("logprobs", "a coding agent reports no log probabilities; omit logprobs"));
    }
    let modalities = more.get("modalities").and_then(Value::as_array).into_iter().flatten();
    if modalities.clone().any(|modality| modality != "text") {
        return Err(wrong("modalities", "a coding agent answers with text; omit modalities, or use [\"text\"]"));
    }
    Ok(())
}

/// The text and the files of a message's content, which is a text or a list of parts.
fn content_of(content: &Value, at: usize, role: &str) -> Result<(String, Vec<PromptFile>), Problem> {
    let parts = match content {
        Value::Null if role != "user" => return Ok(<(String, Vec<PromptFile>)>::default()),
        Value::String(text) => return Ok((text.clone(), Vec::new())),
        Value::Array(parts) => parts,
        _ => {
            let parameter = format!("messages[{at}].content");
            return Err(wrong(&parameter, format!("{parameter} must be a text or a list of parts")));
        }
    };
    let (mut texts, mut files) = (Vec::with_capacity(parts.len()), Vec::new());
    for (part_at, part) in parts.iter().enumerate() {
        let parameter = || format!("messages[{at}].content[{part_at}]");
        let kind = part.get("type").and_then(Value::as_str).unwrap_or_default();
        let text = part.get(if kind == "refusal" { "refusal" } else { "text" }).and_then(Value::as_str);
        match (kind, text) {
            ("text" | "refusal", Some(text)) => texts.push(text.to_owned()),
            ("text" | "refusal", None) => return Err(wrong(&parameter(), format!("{} has no {kind}", parameter()))),
            ("image_url" | "file", _) if role == "user" => {
                let file = file_of(kind, part);
                files.push(file.map_err(|what| wrong(&parameter(), format!("{} {what}", parameter())))?);
            }
            _ => {
                let detail = format!("{} has the type {kind:?}: runners get texts, images and files", parameter());
                return Err(wrong(&parameter(), detail));
            }
        }
    }
    Ok((texts.concat(), files))
}

fn file_of(kind: &str, part: &Value) -> Result<PromptFile, String> {
    let of = part.get(kind).unwrap_or(&Value::Null);
    let text = |key: &str| of.get(key).and_then(Value::as_str);
    match (kind, text("url"), text("file_data")) {
        ("image_url", Some(url), _) => prompt_files::image(url),
        ("file", _, Some(data)) => prompt_files::named(data, text("filename")),
        ("file", ..) => Err("has no file.file_data: there are no uploaded files to name by file_id".to_owned()),
        _ => Err("has no image_url.url".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(messages: &Value) -> Result<ChatRequest, Problem> {
        ChatRequest::read(json!({"model": "m", "messages": messages}))
    }

    fn refusal(body: &Value) -> (Value, String) {
        let problem = ChatRequest::read(body.clone()).unwrap_err();
        let shown = serde_json::to_value(&problem).unwrap();
        (shown["param"].clone(), problem.detail().to_owned())
    }

    #[test]
    fn the_prompt_is_what_follows_the_last_answer() {
        let request = read(&json!([
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "one"},
            {"role": "assistant", "content": "first"},
            {"role": "user", "content": [{"type": "text", "text": "two "}, {"type": "text", "text": "parts"}]},
            {"role": "user", "content": "three"},
        ]))
        .unwrap()
        .transcript;
        assert_eq!((request.prompt.as_str(), request.instructions.as_str()), ("two parts\n\nthree", "Be brief."));
        assert_eq!(request.earlier_prompts().collect::<Vec<_>>(), ["one"]);
        assert_eq!(request.history.last().unwrap().text, "first");
        assert_eq!(
            request.opening_prompt(),
            "Be brief.\n\nThe conversation so far:\n\nUser:\none\n\nAssistant:\nfirst\n\nAnswer the user's next message:\n\ntwo \
             parts\n\nthree"
        );
        let alone = read(&json!([{"role": "user", "content": "go"}])).unwrap().transcript;
        assert_eq!(alone.opening_prompt(), "go");
    }

    #[test]
    fn what_cannot_be_met_is_refused_with_its_parameter() {
        let user = json!([{"role": "user", "content": "x"}]);
        let tool = json!({"type": "function", "function": {"name": "f"}});
        let cases = [
            (json!({"messages": user}), Value::Null, "missing field `model`"),
            (json!([]), Value::Null, "chat completion request"),
            (json!({"model": "m", "messages": user, "tools": [tool]}), json!("tools"), "runs its own tools"),
            (json!({"model": "m", "messages": user, "n": 2}), json!("n"), "must be 1"),
            (json!({"model": "m", "messages": user, "logprobs": true}), json!("logprobs"), "omit"),
            (json!({"model": "m", "messages": user, "modalities": ["text", "audio"]}), json!("modalities"), "text"),
            (
                json!({"model": "m", "messages": user, "response_format": {"type": "json_object"}}),
                json!("response_format"),
                "answers with text",
            ),
            (json!({"model": "m", "messages": []}), json!("messages"), "the user's"),
            (json!({"model": "m", "messages": [{"role": "user", "content": " \n"}]}), json!("messages"), "the user's"),
            (json!({"model": "m", "messages": [{"role": "user"}]}), json!("messages[0].content"), "a text or a list"),
            (
                json!({"model": "m", "messages": [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]}),
                json!("messages"),
                "the last message",
            ),
            (
                json!({"model": "m", "messages": [{"role": "root", "content": "x"}]}),
                json!("messages[0].role"),
                "\"root\"",
            ),
            (
                json!({"model": "m", "messages": [{"role": "user", "content": [{"type": "image_url"}]}]}),
                json!("messages[0].content[0]"),
                "has no image_url.url",
            ),
            (
                json!({"model": "m", "messages": [{"role": "user", "content": [{"type": "file", "file": {"file_id": "f"}}]}]}),
                json!("messages[0].content[0]"),
                "file_data",
            ),
            (
                json!({"model": "m", "messages": [{"role": "user", "content": [{"type": "input_audio"}]}]}),
                json!("messages[0].content[0]"),
                "\"input_audio\"",
            ),
        ];
        for (body, parameter, expected) in cases {
            let (named, detail) = refusal(&body);
            assert_eq!(named, parameter, "{body}: {detail}");
            assert!(detail.contains(expected), "{body}: {detail}");
        }
    }

    #[test]
    fn images_and_files_belong_to_the_users_messages() {
        let image = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,YQ==", "detail": "low"}});
        let file =
            json!({"type": "file", "file": {"file_data": "data:application/pdf;base64,YQ==", "filename": "a.pdf"}});
        let first = json!([{"type": "text", "text": "one"}, image]);
        let transcript = read(&json!([
            {"role": "user", "content": first},
            {"role": "assistant", "content": "first"},
            {"role": "user", "content": [file]},
            {"role": "user", "content": "two"},
        ]))
        .unwrap()
        .transcript;
        let types = |files: &[PromptFile]| files.iter().map(|file| file.media_type.clone()).collect::<Vec<_>>();
        assert_eq!((transcript.prompt.as_str(), types(&transcript.files)), ("two", vec!["application/pdf".to_owned()]));
        assert_eq!(types(&transcript.opening_files()), ["image/png", "application/pdf"]);
    }

    #[test]
    fn hints_are_ignored_and_named_if_they_would_have_an_effect() {
        let body = json!({
            "model": "m", "messages": [{"role": "user", "content": "x"}], "stream": true, "n": 1, "temperature": 0.2, "seed": null,
            "user": "u", "tools": [], "response_format": {"type": "text"}, "stream_options": {"include_usage": true},
            "bad name\n": 1,
        });
        let request = ChatRequest::read(body).unwrap();
        assert_eq!(request.ignored, ["temperature"]);
        assert!(request.stream && request.include_usage);
    }

    #[test]
    fn the_names_of_ignored_parameters_are_bounded() {
        let ignored = |more: Map<String, Value>| {
            let mut body = json!({"model": "m", "messages": [{"role": "user", "content": "x"}]});
            body.as_object_mut().unwrap().extend(more);
            ChatRequest::read(body).unwrap().ignored
        };
        let many = (0..=MAX_IGNORED).map(|nth| (format!("p{nth}"), json!(1))).collect();
        assert_eq!(ignored(many).len(), MAX_IGNORED);
        let long = [64, 65].map(|length| ("x".repeat(length), json!(1)));
        assert_eq!(ignored(long.into_iter().collect()), ["x".repeat(64)]);
    }
}
