//! The content of a prompt as the text and the files that runners take.
//!
//! Input: content blocks. Output: the text, with links in their places and embedded texts at the end; images and other embedded files. Never: a
//! block that is left out silently.

use super::rpc::RpcError;
use serde_json::{Value, json};

/// A prompt.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Prompt {
    pub(super) text: String,
    /// Its files, as the proxy takes them.
    pub(super) files: Vec<Value>,
}

impl Prompt {
    /// Reads content blocks.
    ///
    /// # Errors
    /// The prompt has no text, or a block that no runner takes.
    pub(super) fn read(blocks: &Value) -> Result<Self, RpcError> {
        let blocks = blocks.as_array().ok_or_else(|| RpcError::params("prompt must be a list of content blocks"))?;
        let (mut text, mut embedded, mut files) = (String::new(), String::new(), Vec::new());
        for (at, block) in blocks.iter().enumerate() {
            let part = |key: &str| {
                let found = block.get(key).and_then(Value::as_str);
                found.ok_or_else(|| RpcError::params(format!("prompt[{at}].{key} must be a text")))
            };
            match part("type")? {
                "text" => text.push_str(part("text")?),
                "resource_link" => text.push_str(&link(part("name")?, part("uri")?)),
                "image" => files.push(json!({"media_type": part("mimeType")?, "data": part("data")?})),
                "resource" => {
                    let member = |key: &str| block.get("resource")?.get(key)?.as_str();
                    let uri = member("uri").unwrap_or_default();
                    let name = uri.rsplit('/').find(|part| !part.is_empty()).unwrap_or(uri);
                    match (member("text"), member("blob"), member("mimeType")) {
                        (Some(content), ..) => {
                            text.push_str(&link(name, uri));
                            embedded.push_str(&format!("\n<context ref=\"{uri}\">\n{content}\n</context>"));
                        }
                        (None, Some(data), Some(media_type)) => {
                            files.push(json!({"media_type": media_type, "data": data, "name": name}));
                        }
                        _ => {
                            let message = format!("prompt[{at}].resource must have a text, or a blob and its mimeType");
                            return Err(RpcError::params(message));
                        }
                    }
                }
                kind => {
                    let message = format!(
                        "prompt[{at}] is of the type {kind:?}: only texts, links, images and embedded files are supported"
                    );
                    return Err(RpcError::params(message));
                }
            }
        }
        text.push_str(&embedded);
        if text.trim().is_empty() {
            return Err(RpcError::params("the prompt is empty: it needs a text"));
        }
        Ok(Self { text, files })
    }
}

fn link(name: &str, uri: &str) -> String {
    format!("[@{name}]({uri})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_stay_in_place_and_embedded_files_follow_the_text() {
        let prompt = json!([
            {"type": "text", "text": "Compare "},
            {"type": "resource_link", "uri": "file:///a/one.rs", "name": "one.rs"},
            {"type": "text", "text": " with "},
            {"type": "resource", "resource": {"uri": "file:///a/two.rs", "text": "fn two() {}"}},
            {"type": "text", "text": "."},
        ]);
        let expected = "Compare [@one.rs](file:///a/one.rs) with [@two.rs](file:///a/two.rs).\n<context \
                        ref=\"file:///a/two.rs\">\nfn two() {}\n</context>";
        assert_eq!(Prompt::read(&prompt).unwrap(), Prompt { text: expected.to_owned(), files: Vec::new() });
        let prompt = json!([
            {"type": "text", "text": "Look"},
            {"type": "image", "mimeType": "image/png", "data": "YQ=="},
            {"type": "resource", "resource": {"uri": "file:///a.pdf", "mimeType": "application/pdf", "blob": "Yg=="}},
        ]);
        let files = vec![
            json!({"media_type": "image/png", "data": "YQ=="}),
            json!({"media_type": "application/pdf", "data": "Yg==", "name": "a.pdf"}),
        ];
        assert_eq!(Prompt::read(&prompt).unwrap(), Prompt { text: "Look".to_owned(), files });
    }

    #[test]
    fn what_is_not_text_is_named_in_the_error() {
        for (prompt, part) in [
            (json!(null), "list"),
            (json!([]), "empty"),
            (json!([{"type": "text", "text": " "}]), "empty"),
            (json!([{"type": "text"}]), "prompt[0].text"),
            (json!([{"text": "a"}]), "prompt[0].type"),
            (
                json!([{"type": "text", "text": "a"}, {"type": "audio", "data": "", "mimeType": "audio/wav"}]),
                "prompt[1]",
            ),
            (json!([{"type": "image", "data": "YQ=="}]), "prompt[0].mimeType"),
            (json!([{"type": "image", "data": "YQ==", "mimeType": "image/png"}]), "needs a text"),
            (json!([{"type": "resource", "resource": {"uri": "a", "blob": "AA=="}}]), "prompt[0].resource"),
            (json!([{"type": "resource_link", "uri": "a"}]), "prompt[0].name"),
        ] {
            let error = Prompt::read(&prompt).unwrap_err();
            assert!(error.message.contains(part), "{error:?}");
            assert_eq!(error.code, super::super::rpc::INVALID_PARAMS);
        }
    }
}
