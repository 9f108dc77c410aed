//! The body of a request for a response of a coding agent.
//!
//! Input: the JSON of a request. Output: a prompt with its conversation, or answers to questions; and the form of the response that the client
//! wants. Never: a parameter that would change what the response means and is ignored; a client's tool; a file that the runner does not get.

use super::super::problem::Problem;
use super::super::prompt_files;
use super::super::transcript::{Message, Role, Transcript};
use framegate_translators::host::PromptFile;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// Parameters that a response does not name as ignored: hints and accounting, and those whose values are checked.
const QUIET: &[&str] = &[
    "include",
    "metadata",
    "parallel_tool_calls",
    "prompt_cache_key",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "stream_options",
    "text",
    "tool_choice",
    "tools",
    "truncation",
    "user",
];

/// How many ignored parameters a response names.
const MAX_IGNORED: usize = 32;

/// The API's limits of metadata: pairs, and the length of keys and values in characters.
const METADATA: (usize, usize, usize) = (16, 64, 512);

/// A request.
#[derive(Debug)]
pub(super) struct AgentRequest {
    /// The model as the client wrote it.
    pub(super) model: String,
    pub(super) input: Input,
    /// The response that the request continues.
    pub(super) previous: Option<String>,
    /// The session that the request continues.
    pub(super) conversation: Option<String>,
    /// The person who writes, if the client has several; empty if it names no one.
    pub(super) user: String,
    pub(super) stream: bool,
    pub(super) background: bool,
    pub(super) metadata: Map<String, Value>,
    /// The labels of the servers whose tools the client allows.
    pub(super) servers: Vec<String>,
    /// The names of parameters that have no effect on a coding agent.
    pub(super) ignored: Vec<String>,
}

/// What a request asks for.
#[derive(Debug)]
pub(super) enum Input {
    Prompt(Transcript),
    Answers(Vec<Approval>),
}

/// The answer to a question.
#[derive(Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Approval {
    pub(super) approval_request_id: String,
    pub(super) approve: bool,
    #[serde(default)]
    pub(super) reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Body {
    model: String,
    #[serde(default)]
    input: Value,
    #[serde(default)]
    instructions: Value,
    #[serde(default)]
    previous_response_id: Option<String>,
    #[serde(default)]
    conversation: Value,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    background: Option<bool>,
    #[serde(flatten)]
    more: Map<String, Value>,
}

/// 400 for a parameter.
pub(super) fn wrong(parameter: &str, detail: impl Into<String>) -> Problem {
    Problem::bad_request(detail).and("param", parameter)
}

impl AgentRequest {
    /// Reads a request.
    ///
    /// # Errors
    /// 400 with the parameter that is wrong or that cannot be met.
    pub(super) fn read(body: Value) -> Result<Self, Problem> {
        let body: Body = serde_json::from_value(body).map_err(|error| {
            Problem::bad_request(format!(
                "the body is not a request for a response ({{\"model\", \"input\"}}): {error}"
            ))
        })?;
        let Body { model, input, instructions, previous_response_id: previous, conversation, stream, background, more } =
            body;
        let servers = check(&more)?;
        let conversation = match conversation {
            Value::Null => None,
            Value::String(id) => Some(id),
            other => match other.get("id").and_then(Value::as_str) {
                Some(id) => Some(id.to_owned()),
                None => return Err(wrong("conversation", "conversation must be the id of a session, or {\"id\"}")),
            },
        };
        if previous.is_some() && conversation.is_some() {
            let detail = "previous_response_id and conversation both name what the request continues: omit one of them";
            return Err(wrong("conversation", detail));
        }
        let is_ignored = |(name, value): &(&String, &Value)| {
            !QUIET.contains(&name.as_str()) && !value.is_null() && is_word(name) && !is_default(name, value)
        };
        let ignored = more.iter().filter(is_ignored).map(|(name, _)| name.clone()).take(MAX_IGNORED).collect();
        let text = |name: &str| more.get(name).and_then(Value::as_str);
        Ok(Self {
            model,
            input: read_input(input, &instructions)?,
            previous: previous.filter(|id| !id.is_empty()),
            conversation: conversation.filter(|id| !id.is_empty()),
            user: text("safety_identifier").or_else(|| text("user")).unwrap_or_default().to_owned(),
            stream: stream.unwrap_or_default(),
            background: background.unwrap_or_default(),
            metadata: metadata(more.get("metadata"))?,
            servers,
            ignored,
        })
    }
}

/// Whether a parameter's name can be part of a header.
fn is_word(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether the value is what the proxy does anyway.
fn is_default(name: &str, value: &Value) -> bool {
    name == "store" && value.as_bool() == Some(true)
}

/// Refuses parameters that a coding agent cannot meet and whose absence would change what the response means. Returns the labels of the
/// servers whose tools the client allows.
fn check(more: &Map<String, Value>) -> Result<Vec<String>, Problem> {
    let mut servers = Vec::new();
    let is_off = more.get("tool_choice").and_then(Value::as_str) == Some("none");
    let tools = more.get("tools").and_then(Value::as_array).into_iter().flatten();
    for (at, tool) in tools.enumerate().filter(|_| !is_off) {
        let text = |key: &str| tool.get(key).and_then(Value::as_str);
        match (text("type"), text("server_label")) {
            (Some("mcp"), Some(label)) => servers.push(label.to_owned()),
            _ => {
                let parameter = format!("tools[{at}]");
                let detail =
                    format!("{parameter} cannot be offered to a coding agent, which runs its own tools; omit it");
                return Err(wrong(&parameter, detail));
            }
        }
    }
    let format = more.get("text").and_then(|text| text.get("format")).and_then(|format| format.get("type"));
    if format.and_then(Value::as_str).is_some_and(|format| format != "text") {
        return Err(wrong("text.format", "a coding agent answers with text; omit text.format, or use the type text"));
    }
    if more.get("prompt").is_some_and(|prompt| !prompt.is_null()) {
        return Err(wrong("prompt", "a coding agent has no stored prompts; send the text in input"));
    }
    Ok(servers)
}

fn metadata(given: Option<&Value>) -> Result<Map<String, Value>, Problem> {
    let (pairs, key_length, value_length) = METADATA;
    let given = match given {
        None | Some(Value::Null) => return Ok(Map::new()),
        Some(Value::Object(given)) if given.len() <= pairs => given,
        Some(_) => return Err(wrong("metadata", format!("metadata must be an object of at most {pairs} pairs"))),
    };
    let fits = |text: &str, length: usize| text.chars().take(length + 1).count() <= length;
    for (key, value) in given {
        if !fits(key, key_length) || !value.as_str().is_some_and(|value| fits(value, value_length)) {
            let detail = format!(
                "the keys of metadata have at most {key_length} characters; its values are texts of at most {value_length}"
            );
            return Err(wrong("metadata", detail));
        }
    }
    Ok(given.clone())
}

fn read_input(input: Value, instructions: &Value) -> Result<Input, Problem> {
    let items = match input {
        Value::String(text) => vec![json!({"role": "user", "content": text})],
        Value::Array(items) => items,
        _ => return Err(wrong("input", "input must be a text or a list of items: it is the prompt of the next run")),
    };
    let mut said = match instructions {
        Value::String(text) => vec![text.clone()],
        Value::Null => Vec::new(),
        _ => return Err(wrong("instructions", "instructions must be a text")),
    };
    let (mut messages, mut answers): (Vec<Message>, Vec<Approval>) = (Vec::new(), Vec::new());
    // The item of the last answer.
    let mut answer_at = 0;
    for (at, item) in items.into_iter().enumerate() {
        let text = |key: &str| item.get(key).and_then(Value::as_str);
        match text("type").unwrap_or("message") {
            "message" => {
                let role = match text("role").unwrap_or_default() {
                    "system" | "developer" => None,
                    "user" => Some(Role::User),
                    "assistant" => Some(Role::Assistant),
                    other => {
                        let known = "user, assistant, system or developer";
                        let parameter = format!("input[{at}].role");
                        return Err(wrong(&parameter, format!("unknown role {other:?}: use {known}")));
                    }
                };
                // An answer that the agent went on after is history. One that it did not would be lost.
                if !answers.is_empty() && role != Some(Role::Assistant) {
                    let detail = format!(
                        "input[{answer_at}] answers a question, so it must end the input, but input[{at}] is a message: send the answer \
                         first, and the message with the id of the response to it"
                    );
                    return Err(wrong(&format!("input[{answer_at}]"), detail));
                }
                let (text, files) = content_of(item.get("content").unwrap_or(&Value::Null), at)?;
                match role {
                    None => said.push(text),
                    Some(role) => push(&mut messages, Message { role, text, files }),
                }
                answers.clear();
            }
            "mcp_approval_response" => {
                let answer = serde_json::from_value(item.clone()).map_err(|error| {
                    let form = "{\"approval_request_id\", \"approve\", \"reason\"?}";
                    wrong(&format!("input[{at}]"), format!("input[{at}] must have the form {form}: {error}"))
                })?;
                answers.push(answer);
                answer_at = at;
            }
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" | "computer_call_output" => {
                let text = item.get("output").map_or_else(String::new, |output| match output {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                });
                push(&mut messages, Message::new(Role::Tool, text));
                answers.clear();
            }
            // What the agent did before it answered, as the client had it from an earlier response.
            "mcp_approval_request" | "item_reference" => {}
            _ => answers.clear(),
        }
    }
    if !answers.is_empty() {
        return Ok(Input::Answers(answers));
    }
    let transcript = Transcript::new(said, messages.into_iter());
    transcript.map(Input::Prompt).ok_or_else(|| {
        wrong("input", "input must end with the user's message, with a text, or with an mcp_approval_response: it is the prompt of the next run")
    })
}

/// Adds a message. An answer may consist of several.
fn push(messages: &mut Vec<Message>, message: Message) {
    match messages.last_mut().filter(|last| message.role == Role::Assistant && last.role == message.role) {
        Some(last) => last.text = format!("{}\n\n{}", last.text, message.text),
        None => messages.push(message),
    }
}

/// The text and the files of a message's content, which is a text or a list of parts.
fn content_of(content: &Value, at: usize) -> Result<(String, Vec<PromptFile>), Problem> {
    let parts = match content {
        Value::String(text) => return Ok((text.clone(), Vec::new())),
        Value::Array(parts) => parts,
        _ => {
            let parameter = format!("input[{at}].content");
            return Err(wrong(&parameter, format!("{parameter} must be a text or a list of parts")));
        }
    };
    let (mut texts, mut files) = (Vec::with_capacity(parts.len()), Vec::new());
    for (part_at, part) in parts.iter().enumerate() {
        let text = |key: &str| part.get(key).and_then(Value::as_str);
        let parameter = || format!("input[{at}].content[{part_at}]");
        match (text("type").unwrap_or_default(), text("text").or_else(|| text("refusal"))) {
            ("input_text" | "output_text" | "text" | "refusal", Some(text)) => texts.push(text.to_owned()),
            (kind @ ("input_image" | "input_file"), _) => {
                let file = file_of(kind, part);
                files.push(file.map_err(|what| wrong(&parameter(), format!("{} {what}", parameter())))?);
            }
            (kind, _) => {
                let detail = format!("{} has the type {kind:?}: runners get texts, images and files", parameter());
                return Err(wrong(&parameter(), detail));
            }
        }
    }
    Ok((texts.concat(), files))
}

fn file_of(kind: &str, part: &Value) -> Result<PromptFile, String> {
    let text = |key: &str| part.get(key).and_then(Value::as_str);
    let name = text("filename");
    match (kind, text("image_url"), text("file_data"), text("file_url")) {
        ("input_image", Some(url), ..) => prompt_files::image(url),
        ("input_image", ..) => Err("has no image_url: there are no uploaded files to name by file_id".to_owned()),
        (_, _, Some(data), _) => prompt_files::named(data, name),
        (_, _, _, Some(url)) => {
            let media_type = name.or(url.split(['?', '#']).next()).and_then(prompt_files::media_type_of);
            prompt_files::of_url(url, media_type, name.map(str::to_owned))
        }
        _ => Err("has neither file_data nor file_url: there are no uploaded files to name by file_id".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: Value) -> Result<AgentRequest, Problem> {
        let mut body = json!({"model": "claude", "input": "hello"});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        AgentRequest::read(body)
    }

    fn transcript(fields: Value) -> Transcript {
        match read(fields).unwrap().input {
            Input::Prompt(transcript) => transcript,
            Input::Answers(answers) => panic!("{answers:?}"),
        }
    }

    #[test]
    fn an_input_is_a_conversation() {
        assert_eq!(transcript(json!({})).prompt, "hello");
        let read = transcript(json!({
            "instructions": "Be brief.",
            "input": [
                {"role": "developer", "content": "And polite."},
                {"role": "user", "content": [{"type": "input_text", "text": "one"}]},
                {"type": "reasoning", "id": "rs", "summary": []},
                {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "May I?"}]},
                {"type": "mcp_approval_request", "id": "mcpr"},
                {"type": "mcp_approval_response", "approval_request_id": "mcpr", "approve": true},
                {"type": "mcp_call", "id": "mcp"},
                {"type": "message", "role": "assistant", "content": "Done."},
                {"role": "user", "content": "two"},
            ],
        }));
        assert_eq!((read.instructions.as_str(), read.prompt.as_str()), ("Be brief.\n\nAnd polite.", "two"));
        let history: Vec<&str> = read.history.iter().map(|message| message.text.as_str()).collect();
        assert_eq!(history, ["one", "May I?\n\nDone."]);
    }

    #[test]
    fn answers_are_the_last_items() {
        let answer = |id: &str, approve: bool| json!({"type": "mcp_approval_response", "approval_request_id": id, "approve": approve});
        let request = json!({"type": "mcp_approval_request", "id": "b"});
        let input = json!([{"role": "user", "content": "x"}, answer("a", true), {"type": "mcp_call"}, request, answer("b", false)]);
        let Input::Answers(answers) = read(json!({"input": input})).unwrap().input else { panic!() };
        let expected = Approval { approval_request_id: "b".to_owned(), approve: false, reason: None };
        assert_eq!(answers, [expected]);
    }

    #[test]
    fn what_cannot_be_met_is_named() {
        let answer = |id: &str| json!({"type": "mcp_approval_response", "approval_request_id": id, "approve": true});
        for (fields, parameter) in [
            (json!({"tools": [{"type": "mcp", "server_label": "x"}, {"type": "function"}]}), "tools[1]"),
            (json!({"text": {"format": {"type": "json_schema"}}}), "text.format"),
            (json!({"prompt": {"id": "p"}}), "prompt"),
            (json!({"metadata": {"a": 1}}), "metadata"),
            (json!({"metadata": {"a": "x".repeat(513)}}), "metadata"),
            (json!({"metadata": (0..17).map(|at| (at.to_string(), json!("x"))).collect::<Map<_, _>>()}), "metadata"),
            (json!({"conversation": 7}), "conversation"),
            (json!({"conversation": "c", "previous_response_id": "r"}), "conversation"),
            (json!({"instructions": []}), "instructions"),
            (json!({"input": null}), "input"),
            (json!({"input": []}), "input"),
            (json!({"input": " "}), "input"),
            (json!({"input": [{"role": "assistant", "content": "x"}]}), "input"),
            (json!({"input": [{"role": "root", "content": "x"}]}), "input[0].role"),
            (json!({"input": [{"role": "user", "content": 7}]}), "input[0].content"),
            (json!({"input": [{"role": "user", "content": [{"type": "input_image"}]}]}), "input[0].content[0]"),
            (
                json!({"input": [{"role": "user", "content": [{"type": "input_file", "file_id": "f"}]}]}),
                "input[0].content[0]",
            ),
            (json!({"input": [{"role": "user", "content": [{"type": "input_audio"}]}]}), "input[0].content[0]"),
            (json!({"input": [{"type": "mcp_approval_response", "approve": true}]}), "input[0]"),
            (json!({"input": [answer("a"), {"role": "user", "content": "x"}]}), "input[0]"),
            (
                json!({"input": [{"role": "user", "content": "x"}, answer("a"), answer("b"), {"role": "user", "content": "y"}]}),
                "input[2]",
            ),
            (json!({"input": [answer("a"), {"role": "system", "content": "x"}]}), "input[0]"),
        ] {
            let problem = read(fields.clone()).unwrap_err();
            assert_eq!(problem.member("param").and_then(Value::as_str), Some(parameter), "{fields}");
        }
        assert!(read(json!({"model": 7})).is_err());
    }

    #[test]
    fn images_and_files_belong_to_the_prompt() {
        let read = transcript(json!({"input": [{"role": "user", "content": [
            {"type": "input_text", "text": "look"},
            {"type": "input_image", "image_url": "https://a/b"},
            {"type": "input_file", "filename": "a.pdf", "file_data": "YQ=="},
            {"type": "input_file", "file_url": "https://a/b.md"},
        ]}]}));
        let types: Vec<&str> = read.files.iter().map(|file| file.media_type.as_str()).collect();
        assert_eq!(types, ["image/*", "application/pdf", "text/markdown"]);
    }

    #[test]
    fn metadata_may_be_as_large_as_the_api_allows() {
        let (pairs, key, value) = METADATA;
        let full: Map<_, _> = (0..pairs).map(|at| (format!("{at:0key$}"), json!("é".repeat(value)))).collect();
        assert_eq!(read(json!({"metadata": full})).unwrap().metadata, full);
        let long_key = Map::from_iter([("k".repeat(key + 1), json!("x"))]);
        assert!(read(json!({"metadata": long_key})).is_err());
    }

    #[test]
    fn what_has_no_effect_is_listed() {
        let read = read(json!({
            "temperature": 1, "store": false, "max_output_tokens": null, "truncation": "auto", "tools": [{"type": "function"}],
            "tool_choice": "none", "reasoning": {"effort": "high"}, "user": "u", "metadata": {"a": "b"}, "background": true,
        }))
        .unwrap();
        assert_eq!(read.ignored, ["reasoning", "store", "temperature"]);
        assert!(read.background && read.user == "u" && read.metadata.len() == 1 && read.servers.is_empty());
        assert!(
            super::AgentRequest::read(json!({"model": "m", "input": "x", "store": true})).unwrap().ignored.is_empty()
        );
    }
}
