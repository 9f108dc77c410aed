//! Tools whose result is content: MCP calls, client tools, outputs of functions.

use super::super::thread_context::ThreadContext;
use super::{Item, Status, arguments};
use crate::frame::{OutputStream, ToolKind};
use crate::json::{Json, Kind};
use std::borrow::Cow;

pub(super) fn mcp(context: &mut ThreadContext<'_>, item: &Item<'_>, done: bool) {
    let text = |key| item.str(key, key).unwrap_or_default();
    let name = format!("mcp__{}__{}", text("server"), text("tool"));
    context.begin(&item.id, &name, ToolKind::Mcp, || arguments(item.get("arguments", "arguments")));
    if !done {
        return;
    }
    let result = item.get("result", "result");
    if let Some(result) = result {
        context.output(&item.id, OutputStream::Stdout, result_text(result));
    }
    let error = item.get("error", "error").map(error_text);
    if let Some(error) = &error {
        context.output(&item.id, OutputStream::Stderr, error);
    }
    match item.status() {
        Some(Status::Declined) => context.fail(&item.id, "declined"),
        status => {
            let says_error = result
                .and_then(Json::object)
                .and_then(|result| result.bool("isError").or_else(|| result.bool("is_error")));
            let failed = status == Some(Status::Failed) || error.is_some() || says_error == Some(true);
            context.end(&item.id, i32::from(failed), item.duration_ms());
        }
    }
}

/// Reports a client tool, under the client's name for it.
pub(super) fn dynamic(context: &mut ThreadContext<'_>, item: &Item<'_>, done: bool) {
    let tool = item.str("tool", "tool").unwrap_or(Cow::Borrowed("dynamic_tool_call"));
    let name = match item.str("namespace", "namespace") {
        Some(namespace) if !namespace.is_empty() => Cow::Owned(format!("{namespace}__{tool}")),
        _ => tool,
    };
    context.begin(&item.id, &name, ToolKind::Other, || arguments(item.get("arguments", "arguments")));
    if !done {
        return;
    }
    if let Some(content) = item.get("content_items", "contentItems") {
        context.output(&item.id, OutputStream::Stdout, content_text(content));
    }
    if let Some(error) = item.get("error", "error") {
        context.output(&item.id, OutputStream::Stderr, error_text(error));
    }
    let well = item.get("success", "success").and_then(Json::bool).unwrap_or(item.status() != Some(Status::Failed));
    context.end(&item.id, i32::from(!well), item.duration_ms());
}

/// Reports the output of a call that has no item of its own.
pub(super) fn function_output(context: &mut ThreadContext<'_>, item: &Item<'_>) {
    let name = item.str("name", "name").unwrap_or_default();
    context.begin(&item.id, &name, ToolKind::Other, crate::json::empty_object);
    if let Some(output) = item.get("output", "output") {
        context.output(&item.id, OutputStream::Stdout, content_text(output));
    }
    context.end(&item.id, 0, item.duration_ms());
}

/// The text of an MCP result: its content blocks, or else its structured content.
pub(in super::super) fn result_text(result: Json<'_>) -> String {
    let Some(fields) = result.object() else { return content_text(result) };
    let text = fields.some("content").map(content_text).unwrap_or_default();
    if !text.is_empty() {
        return text;
    }
    let structured = fields.some("structured_content").or_else(|| fields.some("structuredContent"));
    structured.map(|value| value.text().to_owned()).unwrap_or_default()
}

/// The text of an error: its message, or else its content.
pub(in super::super) fn error_text(error: Json<'_>) -> String {
    match error.object().and_then(|fields| fields.str("message")) {
        Some(message) => message.into_owned(),
        None => content_text(error),
    }
}

/// The text of content: a string, or parts joined by newlines. Parts that are not text are named, not copied.
pub(in super::super) fn content_text(content: Json<'_>) -> String {
    match content.kind() {
        Kind::Null => String::new(),
        Kind::String => content.str().unwrap_or_default().into_owned(),
        Kind::Array => {
            let mut text = String::new();
            for part in content.items() {
                if !text.is_empty() && !text.ends_with('\n') {
                    text.push('\n');
                }
                text.push_str(&part_text(part));
            }
            text
        }
        _ => content.text().to_owned(),
    }
}

fn part_text(part: Json<'_>) -> String {
    let Some(fields) = part.object() else { return content_text(part) };
    if let Some(text) = fields.str("text") {
        return text.into_owned();
    }
    let kind = fields.str("type").unwrap_or_default();
    let mime = fields.str("mimeType").or_else(|| fields.str("mime_type")).unwrap_or_default();
    match &*kind {
        "image" | "input_image" | "inputImage" | "audio" | "input_audio" | "encrypted_content" => {
            let space = if mime.is_empty() { "" } else { " " };
            format!("[{}{space}{mime}]", super::snake(&kind).trim_start_matches("input_"))
        }
        _ => part.text().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_parts_are_joined_and_binary_parts_described() {
        let text = |json: &str| content_text(Json::parse(json).unwrap());
        assert_eq!(text(r#"[{"type":"text","text":"a"},{"type":"inputText","text":"b"}]"#), "a\nb");
        assert_eq!(text(r#"[{"type":"image","data":"AAAA","mimeType":"image/png"}]"#), "[image image/png]");
        assert_eq!(text(r#""plain""#), "plain");
        assert_eq!(result_text(Json::parse(r#"{"content":[],"structuredContent":{"a":1}}"#).unwrap()), r#"{"a":1}"#);
    }
}
