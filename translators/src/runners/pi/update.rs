//! The pieces of a reply.
//!
//! Input: `message_update` records. Version 0.73 repeats the whole message in each of them; only the piece is read. Output: deltas of
//! text, reasoning and arguments, whole blocks, whole calls. Never: the usage in an update, which is a running total of the same reply.

use super::decoder::Pi;
use super::run::Reply;
use crate::frame::SharedStr;
use crate::json::{Json, Object, Utf16Text};
use crate::normalizer::{Block, Normalizer, Target};

impl Pi {
    pub(super) fn message_update(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(event) = fields.object("assistantMessageEvent") else { return };
        let run = self.runs.ensure(normalizer);
        if run.reply.is_none() {
            // The beginning of the reply is missing.
            let id = run.next_message(normalizer);
            run.reply = Some(Reply::new(id));
        }
        let Some(reply) = run.reply.as_mut() else { return };
        let target = Target::main(run.key);
        let index = event.u64("contentIndex").and_then(|index| u32::try_from(index).ok()).unwrap_or_default();
        let piece = event.get("delta").and_then(Json::utf16).filter(|piece| !is_empty(piece));
        let whole = event.str("content");
        let kind = event.str("type").unwrap_or_default();
        if !matches!(&*kind, "text_end" | "thinking_end" | "error") {
            for (index, is_text, whole) in std::mem::take(&mut reply.held) {
                normalizer.complete(target, block_of(&reply.id, index, is_text), Some(&whole), None);
                reply.ended.insert(index);
            }
        }
        match &*kind {
            "text_delta" | "text_end" | "thinking_delta" | "thinking_end" if reply.ended.contains(&index) => {}
            "text_delta" => {
                if let Some(piece) = piece {
                    normalizer.delta(target, Block::text(&reply.id, index), piece);
                }
            }
            "thinking_delta" => {
                let Some(mut piece) = piece else { return };
                let is_separator =
                    piece.low.is_none() && piece.high.is_none() && piece.text.bytes().all(|byte| byte == b'\n');
                let held = reply.separators.len();
                let before = reply.separators.remove(&index).unwrap_or_default();
                piece.text.insert_str(0, &before);
                if is_separator && held < normalizer.most_open() {
                    reply.separators.insert(index, piece.text);
                } else {
                    normalizer.delta(target, Block::reasoning(&reply.id, index), piece);
                }
            }
            "text_end" | "thinking_end" => {
                let is_text = kind == "text_end";
                reply.separators.remove(&index);
                let block = block_of(&reply.id, index, is_text);
                // Redacted reasoning has no pieces, and only the whole message says that the words at its end are the runner's.
                let is_known = normalizer.text_so_far(target, block).is_some();
                let whole = whole.filter(|whole| !whole.is_empty() && (is_text || is_known));
                let is_held = reply.held.iter().any(|(held, ..)| *held == index);
                let has_room = reply.ended.len() + reply.held.len() < normalizer.most_open();
                if let Some(whole) = whole.filter(|_| has_room && !is_held) {
                    reply.held.push((index, is_text, whole.into_owned()));
                }
            }
            "toolcall_start" => {
                let text = |key: &str| SharedStr::from(&*event.str(key).unwrap_or_default());
                let (id, name) = match (text("id"), partial_call(&event, index)) {
                    (id, Some((known, name))) if id.is_empty() => (known, name),
                    (id, _) => (id, text("toolName")),
                };
                if !id.is_empty() && reply.calls.len() < normalizer.most_open() {
                    reply.calls.push((index, id, name));
                }
            }
            "toolcall_delta" => {
                let call = reply.calls.iter().rev().find(|(at, ..)| *at == index);
                if let (Some((_, id, name)), Some(piece)) = (call, piece) {
                    let (id, name) = (id.clone(), name.clone());
                    let tool = self.tool(target, &id, normalizer);
                    normalizer.tool_input(target, &tool, &name, piece);
                }
            }
            "toolcall_end" => {
                if let Some(call) = event.object("toolCall") {
                    self.called(target, &call, normalizer);
                }
            }
            "text_start" | "thinking_start" | "start" | "done" | "error" => {}
            other => normalizer.unknown(format!("unknown update {other:?}")),
        }
    }
}

fn block_of(message_id: &SharedStr, index: u32, is_text: bool) -> Block<'_> {
    if is_text { Block::text(message_id, index) } else { Block::reasoning(message_id, index) }
}

/// The id and the name of a call that begins, from the message so far. Version 0.73 has them nowhere else.
fn partial_call(event: &Object<'_>, index: u32) -> Option<(SharedStr, SharedStr)> {
    let content = event.object("partial")?.items("content");
    let block = content.get(usize::try_from(index).ok()?)?.object()?;
    Some((SharedStr::from(&*block.str("id")?), SharedStr::from(&*block.str("name").unwrap_or_default())))
}

fn is_empty(piece: &Utf16Text) -> bool {
    piece.text.is_empty() && piece.low.is_none() && piece.high.is_none()
}
