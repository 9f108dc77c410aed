//! Content of messages and tools.
//!
//! Input: content blocks and the content of tools, of both versions. Output: their texts, changed files and terminals. Never: the
//! data of an image or a sound as text.

use super::files::{self, Change};
use crate::frame::{Attachment, SharedStr};
use crate::json::{Json, Kind, Object, Utf16Text};
use std::borrow::Cow;

/// The text of one content block as it came; `None` if it has none.
pub(super) fn piece_of(block: &Object<'_>) -> Option<Utf16Text> {
    match block.str("type").as_deref() {
        Some("text") => block.get("text").and_then(Json::utf16),
        Some("resource_link") => {
            let uri = block.str("uri")?;
            let name = block.str("name").filter(|name| !name.is_empty()).unwrap_or_else(|| uri.clone());
            Some(plain(format!("[{name}]({uri})")))
        }
        Some("resource") => block.object("resource")?.get("text").and_then(Json::utf16),
        _ => None,
    }
}

fn plain(text: String) -> Utf16Text {
    Utf16Text { low: None, text, high: None }
}

/// The text of content blocks, one after the other.
pub(super) fn text_of(blocks: Json<'_>) -> String {
    let one = |block: Json<'_>| block.object().and_then(|block| piece_of(&block)).map(Utf16Text::into_string);
    match blocks.kind() {
        Kind::Array => blocks.items().into_iter().filter_map(one).collect(),
        _ => one(blocks).unwrap_or_default(),
    }
}

/// A prompt: its text, and what is attached to it.
pub(super) fn prompt_of(blocks: Json<'_>) -> (String, Vec<Attachment>) {
    let (mut texts, mut attachments) = (Vec::new(), Vec::new());
    for block in blocks.items().into_iter().filter_map(Json::object) {
        let kind = block.str("type").unwrap_or_default();
        if kind == "text" {
            texts.extend(block.str("text").map(Cow::into_owned));
            continue;
        }
        let inner = block.object("resource");
        let fields = inner.as_ref().unwrap_or(&block);
        attachments.push(Attachment {
            kind: SharedStr::from(if matches!(&*kind, "image" | "audio") { &kind } else { "file" }),
            mime: fields.str("mimeType").map(|mime| SharedStr::from(&*mime)),
            artifact_id: None,
            name: fields.str("name").or_else(|| fields.str("uri")).map(Cow::into_owned),
            bytes: fields.u64("size"),
        });
    }
    (texts.join("\n"), attachments)
}

/// The content of a tool.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// The text; `None` if there is no text item.
    pub(super) text: Option<String>,
    pub(super) changes: Vec<Change>,
    pub(super) terminals: Vec<SharedStr>,
}

impl Content {
    /// Reads the list of content items.
    pub(super) fn read(items: Json<'_>) -> Self {
        let mut content = Self::default();
        for item in items.items().into_iter().filter_map(Json::object) {
            content.add(&item);
        }
        content
    }

    /// Reads one item.
    pub(super) fn add(&mut self, item: &Object<'_>) {
        match item.str("type").as_deref() {
            Some("content") => {
                let piece = item.object("content").and_then(|block| piece_of(&block));
                if let Some(piece) = piece {
                    self.text.get_or_insert_default().push_str(&piece.into_string());
                }
            }
            Some("diff") => self.changes.extend(files::changes(item)),
            Some("terminal") => {
                self.terminals.extend(item.str("terminalId").map(|id| SharedStr::from(&*id)));
            }
            _ => {}
        }
    }
}

/// The text of a tool's raw output: the whole value if it is a string, otherwise the field that has the text.
pub(super) fn raw_text(output: Json<'_>) -> Option<String> {
    match output.kind() {
        Kind::String => output.utf16().map(Utf16Text::into_string),
        Kind::Array => {
            let text: String =
                output.items().into_iter().filter_map(|item| item.object()?.str("text").map(Cow::into_owned)).collect();
            (!text.is_empty()).then_some(text)
        }
        Kind::Object => {
            let fields = output.object()?;
            let read = |key: &&str| match fields.get(key)? {
                // The result of an MCP server.
                list if list.kind() == Kind::Array && *key == "content" => raw_text(list),
                text => text.str().filter(|text| !text.is_empty()).map(Cow::into_owned),
            };
            ["output", "content", "text", "stdout", "formatted_output", "stderr", "error", "message"]
                .iter()
                .find_map(read)
        }
        Kind::Number | Kind::Bool | Kind::Null => None,
    }
}

/// The text inside a fence of Markdown, if the whole text is one.
pub(super) fn unfenced(text: &str) -> &str {
    let inner = || {
        let (first, rest) = text.split_once('\n')?;
        let fence = first.get(..first.len() - first.trim_start_matches('`').len()).filter(|fence| fence.len() >= 3)?;
        let body = rest.trim_end_matches('\n').strip_suffix(fence)?;
        (!body.contains(fence)).then_some(body)
    };
    inner().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_around_the_whole_text_is_removed() {
        assert_eq!(unfenced("```console\none\n```"), "one\n");
        assert_eq!(unfenced("````\n```\nx\n```\n````\n"), "```\nx\n```\n");
        for text in ["one", "```\none", "before\n```\none\n```", "``\none\n``", "```a\nb\n```\nc\n```"] {
            assert_eq!(unfenced(text), text);
        }
    }

    #[test]
    fn the_text_of_a_raw_output_is_in_one_of_several_places() {
        for (output, text) in [
            (r#""plain""#, Some("plain")),
            (r#"{"output":"of a shell"}"#, Some("of a shell")),
            (
                r#"{"content":[{"type":"text","text":"hi "},{"type":"image"},{"type":"text","text":"there"}]}"#,
                Some("hi there"),
            ),
            (r#"{"content":[],"text":"beside it"}"#, Some("beside it")),
            (r#"{"output":[{"text":"no result"}]}"#, None),
            (r#"{"content":{"text":"no list"}}"#, None),
            ("7", None),
        ] {
            assert_eq!(raw_text(Json::parse(output).unwrap()).as_deref(), text, "{output}");
        }
    }
}
