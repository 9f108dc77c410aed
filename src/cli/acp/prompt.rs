//! The content of a prompt as the one text that runners take.
//!
//! Input: content blocks. Output: the text, with links in their places and embedded files at the end. Never: a block that is left out
//! silently.

use super::rpc::RpcError;
use serde_json::Value;

/// The text of a prompt.
///
/// # Errors
/// The prompt is empty, or has a block that is no text.
pub(super) fn text_of(prompt: &Value) -> Result<String, RpcError> {
    let blocks = prompt.as_array().ok_or_else(|| RpcError::params("prompt must be a list of content blocks"))?;
    let (mut text, mut files) = (String::new(), String::new());
    for (at, block) in blocks.iter().enumerate() {
        let part = |key: &str| {
            let found = block.get(key).and_then(Value::as_str);
            found.ok_or_else(|| RpcError::params(format!("prompt[{at}].{key} must be a text")))
        };
        match part("type")? {
            "text" => text.push_str(part("text")?),
            "resource_link" => {
                let (uri, name) = (part("uri")?, part("name")?);
                text.push_str(&link(name, uri));
            }
            "resource" => {
                let resource = block.get("resource").unwrap_or(&Value::Null);
                let (uri, content) = (resource["uri"].as_str(), resource["text"].as_str());
                let (Some(uri), Some(content)) = (uri, content) else {
                    let message =
                        format!("prompt[{at}].resource must have a uri and a text: other content is not supported");
                    return Err(RpcError::params(message));
                };
                let name = uri.rsplit('/').find(|part| !part.is_empty()).unwrap_or(uri);
                text.push_str(&link(name, uri));
                files.push_str(&format!("\n<context ref=\"{uri}\">\n{content}\n</context>"));
            }
            kind => {
                let message =
                    format!("prompt[{at}] is of the type {kind:?}: only text, links and embedded texts are supported");
                return Err(RpcError::params(message));
            }
        }
    }
    text.push_str(&files);
    if text.trim().is_empty() {
        return Err(RpcError::params("the prompt is empty"));
    }
    Ok(text)
}

fn link(name: &str, uri: &str) -> String {
    format!("[@{name}]({uri})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
        assert_eq!(text_of(&prompt).unwrap(), expected);
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
                json!([{"type": "text", "text": "a"}, {"type": "image", "data": "", "mimeType": "image/png"}]),
                "prompt[1]",
            ),
            (json!([{"type": "resource", "resource": {"uri": "a", "blob": "AA=="}}]), "prompt[0].resource"),
            (json!([{"type": "resource_link", "uri": "a"}]), "prompt[0].name"),
        ] {
            let error = text_of(&prompt).unwrap_err();
            assert!(error.message.contains(part), "{error:?}");
            assert_eq!(error.code, super::super::rpc::INVALID_PARAMS);
        }
    }
}
