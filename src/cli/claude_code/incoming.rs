//! The lines of a client.
//!
//! Input: a line of standard input. Output: what the client wants. Never: the content of a line in an error.

use super::fields::Fields;
use crate::cli::bridge::Line;
use serde_json::{Value, json};

/// What a line is.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A prompt.
    Prompt(Prompt),
    /// A request of the control protocol.
    Request {
        /// The id for the answer.
        id: String,
        /// What it asks for.
        subtype: String,
        /// Its fields.
        fields: Value,
    },
    /// The answer to a request of ours: the response, or an error.
    Answer {
        /// The request's id.
        id: String,
        /// What the client said.
        outcome: Result<Value, String>,
    },
    /// Nothing that has an effect here.
    Nothing,
}

/// What a prompt says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Content {
    pub(super) text: String,
    /// Its images and documents, as the proxy takes them.
    pub(super) files: Vec<Value>,
}

/// A prompt of the client.
#[derive(Clone, Debug)]
pub(super) struct Prompt {
    /// The text and the files, or why the prompt cannot be sent.
    pub(super) content: Result<Content, String>,
    /// The client's id of the message; empty if it has none.
    pub(super) uuid: String,
    /// The message, to repeat it.
    pub(super) message: Option<Value>,
    /// The size of its line in bytes.
    pub(super) bytes: usize,
}

impl Prompt {
    /// A prompt that cannot be sent.
    fn refused(reason: String) -> Self {
        Self { content: Err(reason), uuid: String::new(), message: None, bytes: 0 }
    }
}

/// Reads a line.
///
/// # Errors
/// What is wrong with it.
pub(super) fn read(line: &Line) -> Result<Incoming, String> {
    let line = match line {
        Line::Whole(line) => line,
        // Only a prompt can be that long, and the client waits for its result.
        Line::TooLong(size) => {
            let reason = format!("a line of standard input is too long ({size} bytes)");
            return Ok(Incoming::Prompt(Prompt::refused(reason)));
        }
    };
    let fields = Fields::read(line).map_err(|error| format!("a line of standard input is no message: {error}"))?;
    match fields.text("type").as_str() {
        "user" => Ok(Incoming::Prompt(Prompt { bytes: line.len(), ..prompt(&fields) })),
        "control_request" => {
            let request = fields.value("request");
            let subtype = request.get("subtype").and_then(Value::as_str).unwrap_or_default().to_owned();
            match fields.text("request_id") {
                id if id.is_empty() => Err("a control_request has no request_id".to_owned()),
                id => Ok(Incoming::Request { id, subtype, fields: request }),
            }
        }
        "control_response" => {
            let response = fields.value("response");
            let text = |key: &str| response.get(key).and_then(Value::as_str).map(str::to_owned);
            let id = text("request_id").ok_or("a control_response has no request_id")?;
            let outcome = match text("subtype").as_deref() {
                Some("success") => Ok(response.get("response").cloned().unwrap_or_default()),
                _ => Err(text("error").unwrap_or_else(|| "the client failed".to_owned())),
            };
            Ok(Incoming::Answer { id, outcome })
        }
        "control_cancel_request" | "keep_alive" | "update_environment_variables" => Ok(Incoming::Nothing),
        "" => Err("a line of standard input has no type".to_owned()),
        other => Err(format!(
            "a line of standard input has the unknown type {:?}",
            other.chars().take(40).collect::<String>()
        )),
    }
}

/// The prompt of a user message, which has a result even if it cannot be sent.
fn prompt(fields: &Fields) -> Prompt {
    let Some(message) = fields.get::<Value>("message") else {
        return Prompt { uuid: fields.text("uuid"), ..Prompt::refused("a user message has no message".to_owned()) };
    };
    let mut content = content_of(message.get("content").unwrap_or(&Value::Null));
    if message.get("role").and_then(Value::as_str) != Some("user") {
        content = Err("a user message does not have the role user".to_owned());
    }
    if fields.get::<bool>("shouldQuery") == Some(false) {
        content = Err("a message that starts no turn (shouldQuery) is not supported".to_owned());
    }
    if fields.get::<String>("parent_tool_use_id").is_some() {
        content = Err("a message to a subagent (parent_tool_use_id) is not supported".to_owned());
    }
    Prompt { content, uuid: fields.text("uuid"), message: Some(message), bytes: 0 }
}

/// The text and the files of a message's content.
fn content_of(content: &Value) -> Result<Content, String> {
    let (mut texts, mut files) = (Vec::new(), Vec::new());
    match content {
        Value::String(text) => texts.push(text.as_str()),
        Value::Array(blocks) => {
            for block in blocks {
                match block.get("type").and_then(Value::as_str) {
                    Some("text") => {
                        texts.push(block.get("text").and_then(Value::as_str).ok_or("a text block has no text")?);
                    }
                    Some(kind @ ("image" | "document")) => files.push(file_of(kind, block)?),
                    Some(other) => {
                        return Err(format!(
                            "the prompt has content of the type {other:?}: only texts, images and documents can be sent"
                        ));
                    }
                    None => return Err("a block of the prompt has no type".to_owned()),
                }
            }
        }
        _ => return Err("the prompt has neither a text nor blocks as its content".to_owned()),
    }
    let text = texts.join("\n");
    match text.trim().is_empty() {
        true => Err("the prompt is empty: it needs a text".to_owned()),
        false => Ok(Content { text, files }),
    }
}

/// The file of an image or a document.
fn file_of(kind: &str, block: &Value) -> Result<Value, String> {
    let source = block.get("source").unwrap_or(&Value::Null);
    let text = |key: &str| source.get(key).and_then(Value::as_str);
    let name = block.get("title").and_then(Value::as_str);
    let mut file = match (text("type"), text("media_type"), text("data"), text("url")) {
        (Some("base64"), Some(media_type), Some(data), _) => json!({"media_type": media_type, "data": data}),
        (Some("url"), _, _, Some(url)) => {
            let media_type = if kind == "image" { "image/*" } else { "application/pdf" };
            json!({"media_type": media_type, "url": url})
        }
        _ => return Err(format!("a block of the type {kind:?} has no source of the type base64 or url")),
    };
    if let (Some(name), Some(file)) = (name, file.as_object_mut()) {
        file.insert("name".to_owned(), name.into());
    }
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Result<Incoming, String> {
        read(&Line::Whole(text.as_bytes().to_vec()))
    }

    fn text(message: &str) -> Result<String, String> {
        match line(message).unwrap() {
            Incoming::Prompt(prompt) => prompt.content.map(|content| content.text),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_prompt_is_a_text_or_text_blocks() {
        let of = |content: &str| text(&format!(r#"{{"type":"user","message":{{"role":"user","content":{content}}}}}"#));
        assert_eq!(of(r#""hi""#).unwrap(), "hi");
        assert_eq!(of(r#"[{"type":"text","text":"a"},{"type":"text","text":"b"}]"#).unwrap(), "a\nb");
        for (content, expected) in [
            (r#"[{"type":"image","source":{}}]"#, "\"image\""),
            (r#"[{"type":"audio"}]"#, "\"audio\""),
            (r#"[{"type":"image","source":{"type":"url","url":"https://a"}}]"#, "needs a text"),
            (r#""  ""#, "empty"),
            ("[]", "empty"),
            ("null", "neither"),
            (r#"[{"text":"a"}]"#, "no type"),
            (r#"[{"type":"text"}]"#, "no text"),
        ] {
            let error = of(content).unwrap_err();
            assert!(error.contains(expected), "{content}: {error}");
        }
        let message = r#""message":{"role":"user","content":"hi"}"#;
        assert!(
            text(&format!(r#"{{"type":"user",{message},"shouldQuery":false}}"#)).unwrap_err().contains("shouldQuery")
        );
        assert!(
            text(&format!(r#"{{"type":"user",{message},"parent_tool_use_id":"t"}}"#)).unwrap_err().contains("subagent")
        );
        assert!(text(&format!(r#"{{"type":"user",{message},"parent_tool_use_id":null,"session_id":""}}"#)).is_ok());
    }

    #[test]
    fn images_and_documents_are_files() {
        let content = json!([
            {"type": "text", "text": "look"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "YQ=="}},
            {"type": "image", "source": {"type": "url", "url": "https://a/b"}},
            {"type": "document", "title": "Plan", "source": {"type": "base64", "media_type": "application/pdf", "data": "Yg=="}},
        ]);
        let files = vec![
            json!({"media_type": "image/png", "data": "YQ=="}),
            json!({"media_type": "image/*", "url": "https://a/b"}),
            json!({"media_type": "application/pdf", "data": "Yg==", "name": "Plan"}),
        ];
        assert_eq!(content_of(&content), Ok(Content { text: "look".to_owned(), files }));
    }

    #[test]
    fn control_messages_are_read() {
        let request =
            line(r#"{"type":"control_request","request_id":"1","request":{"subtype":"set_model","model":"m"}}"#);
        assert!(matches!(request, Ok(Incoming::Request { id, subtype, fields })
            if id == "1" && subtype == "set_model" && fields["model"] == "m"));
        let answer = line(
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"1","response":{"behavior":"deny"}}}"#,
        );
        assert!(
            matches!(answer, Ok(Incoming::Answer { id, outcome: Ok(value) }) if id == "1" && value["behavior"] == "deny")
        );
        let answer =
            line(r#"{"type":"control_response","response":{"subtype":"error","request_id":"1","error":"no"}}"#);
        assert!(matches!(answer, Ok(Incoming::Answer { outcome: Err(error), .. }) if error == "no"));
        assert!(matches!(line(r#"{"type":"keep_alive"}"#), Ok(Incoming::Nothing)));
    }

    #[test]
    fn anything_else_is_an_error_without_the_content() {
        for (text, expected) in [
            ("hello secret", "no message"),
            ("[]", "no message"),
            ("{}", "no type"),
            (r#"{"type":"dance","secret":1}"#, "unknown type \"dance\""),
            (r#"{"type":"control_request","request":{}}"#, "no request_id"),
            (r#"{"type":"control_response","response":{}}"#, "no request_id"),
        ] {
            let error = line(text).unwrap_err();
            assert!(error.contains(expected) && !error.contains("secret"), "{text}: {error}");
        }
        assert!(line(&"[".repeat(100_000)).is_err());
    }

    /// The client waits for a result.
    #[test]
    fn a_user_message_that_cannot_be_sent_is_still_a_prompt() {
        let deep = format!(r#"{{"type":"user","message":{}1{}}}"#, "[".repeat(10_000), "]".repeat(10_000));
        for (message, expected) in [
            (r#"{"type":"user"}"#, "no message"),
            (&*deep, "no message"),
            (r#"{"type":"user","message":7}"#, "role"),
            (r#"{"type":"user","message":{"role":"assistant","content":"secret"}}"#, "role"),
        ] {
            let error = text(message).unwrap_err();
            assert!(error.contains(expected) && !error.contains("secret"), "{message:.80}: {error}");
        }
        let long = read(&Line::TooLong(9));
        assert!(matches!(long, Ok(Incoming::Prompt(Prompt { content: Err(error), .. })) if error.contains("9 bytes")));
    }
}
