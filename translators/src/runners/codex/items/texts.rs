//! Written text: assistant messages, reasoning, plans and user messages.

use super::super::thread_context::ThreadContext;
use super::Item;
use crate::frame::{Attachment, Body, PlanEntry, SharedStr, UserMessage};
use crate::json::{Json, Object};
use crate::normalizer::Block;
use std::borrow::Cow;

/// Reports a message. An unfinished one may contain the text so far.
pub(super) fn message(context: &mut ThreadContext<'_>, item: &Item<'_>, done: bool) {
    let text = match item.str("text", "text") {
        Some(text) => text,
        None => Cow::Owned(parts(item.get("content", "content")).concat()),
    };
    let block = Block::text(&item.id, 0);
    if !done {
        context.so_far(block, &text);
    } else if !text.is_empty() || context.normalizer.text_so_far(context.target, block).is_some() {
        context.complete(block, &text, None);
    }
}

/// Reports reasoning: one block for each part of the summary, and separate blocks for the raw text.
pub(super) fn reasoning(context: &mut ThreadContext<'_>, item: &Item<'_>, done: bool) {
    if let Some(text) = item.str("text", "text") {
        let block = Block::reasoning(&item.id, 0);
        match done {
            false => context.so_far(block, &text),
            true if !text.is_empty() => context.complete(block, &text, None),
            true => {}
        }
        return;
    }
    if !done {
        return;
    }
    let blocks = |context: &mut ThreadContext<'_>, id: &str, texts: Vec<String>| {
        for (index, text) in (0..).zip(texts) {
            if !text.is_empty() {
                context.complete(Block::reasoning(id, index), &text, None);
            }
        }
    };
    blocks(context, &item.id, parts(item.get("summary_text", "summary")));
    blocks(context, &raw_reasoning(&item.id), parts(item.get("raw_content", "content")));
}

/// The message id of raw reasoning, which is separate from the summary's.
pub(in super::super) fn raw_reasoning(id: &str) -> String {
    format!("{id}/content")
}

/// The texts of a list of strings, or of parts with a `text`.
fn parts(list: Option<Json<'_>>) -> Vec<String> {
    let text = |part: Json<'_>| part.str().or_else(|| part.object()?.str("text")).map(Cow::into_owned);
    list.map(Json::items).unwrap_or_default().into_iter().filter_map(text).collect()
}

pub(super) fn user(context: &mut ThreadContext<'_>, item: &Item<'_>) {
    let content = item.get("content", "content").map(Json::items).unwrap_or_default();
    let message = user_message(&item.id, &content);
    context.emit(Body::UserMessage(Box::new(message)));
}

/// A person's message: its texts joined by newlines, everything else by reference.
pub(in super::super) fn user_message(id: &str, content: &[Json<'_>]) -> UserMessage {
    let (mut text, mut attachments) = (String::new(), Vec::new());
    for part in content.iter().filter_map(|part| part.object()) {
        match part.str("text") {
            Some(more) => {
                if !text.is_empty() {
                    text.push('\n');
                }
                text.push_str(&more);
            }
            None => attachments.push(attachment(&part)),
        }
    }
    UserMessage { message_id: SharedStr::from(id), text, attachments }
}

pub(in super::super) fn attachment(part: &Object<'_>) -> Attachment {
    let kind = match part.str("type").map(|kind| super::snake(&kind)).as_deref() {
        Some("image" | "local_image" | "input_image") => "image",
        Some("audio" | "local_audio" | "input_audio") => "audio",
        _ => "file",
    };
    let link = ["path", "url", "image_url", "name"].iter().find_map(|key| part.str(key));
    let data = link.as_deref().and_then(|link| link.strip_prefix("data:"));
    let mime = data.and_then(|data| data.split([';', ',']).next()).filter(|mime| !mime.is_empty()).map(SharedStr::from);
    let name = link.filter(|link| !link.starts_with("data:")).map(Cow::into_owned);
    Attachment { kind: SharedStr::from(kind), mime, artifact_id: None, name, bytes: None }
}

/// Reports a to-do list, whose entries are either done or not.
pub(super) fn todo_list(context: &mut ThreadContext<'_>, item: &Item<'_>) {
    let entries = item.get("items", "items").map(Json::items).unwrap_or_default().into_iter().filter_map(|entry| {
        let fields = entry.object()?;
        let status = if fields.bool("completed").unwrap_or_default() { "completed" } else { "pending" };
        Some(PlanEntry { content: fields.str("text")?.into_owned(), status: SharedStr::from(status), priority: None })
    });
    context.plan(entries.collect());
}

/// The steps of a plan, with their status.
pub(in super::super) fn plan_entries(plan: Json<'_>) -> Vec<PlanEntry> {
    let entry = |step: Json<'_>| {
        let fields = step.object()?;
        let status = super::snake(&fields.str("status").unwrap_or(Cow::Borrowed("pending")));
        Some(PlanEntry { content: fields.str("step")?.into_owned(), status: SharedStr::from(status), priority: None })
    };
    plan.items().into_iter().filter_map(entry).collect()
}
