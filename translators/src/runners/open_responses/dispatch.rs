//! Routes events about a response's items to the modules for them.
//!
//! Input: an event whose run is known. Output: the item that it concerns, and a call on the module for its kind. Approvals,
//! compactions and messages of other roles, which take one frame each, are reported here. Never: events of the response itself.

use super::call::{self, Completeness};
use super::event::{Event, Sort, Text, ToolStage};
use super::item::ItemKind;
use super::items::Address;
use super::run::Run;
use super::text::{self, CompletePart};
use super::{output, tool};
use crate::frame::{ApprovalRequested, ApprovalResolved, Body, Decision, LogLevel, SharedStr, UserMessage};
use crate::json::{Json, Object};
use crate::normalizer::Normalizer;

/// Decodes an event about a response's items.
pub(super) fn event(
    run: &mut Run,
    event: Event,
    address: &Address<'_>,
    fields: &Object<'_>,
    normalizer: &mut Normalizer,
) {
    let now_ms = normalizer.time_ms();
    let index = |key: &str| fields.u64(key).map(|index| u32::try_from(index).unwrap_or(u32::MAX));
    let part_index = |sort| index(if sort == Sort::Summary { "summary_index" } else { "content_index" });
    let most = normalizer.most_open();
    if run.items.len() >= most && !run.items.knows(address, fields) {
        if !std::mem::replace(&mut run.crowded, true) {
            let message = format!(
                "a response has more than {most} items (ingest.max_open_tools): those beyond are kept as records"
            );
            normalizer.push(run.target(), Body::LogEmitted { level: LogLevel::Warn, message });
        }
        return;
    }
    match event {
        Event::ItemAdded | Event::ItemDone => {
            let Some(object) = fields.get("item") else { return };
            let Some(item) = fields.object("item") else { return };
            // A call that is complete from the start may have no end event.
            let last = event == Event::ItemDone || call::is_whole(&item);
            let at = run.items.of_object(&item, fields.u64("output_index"), last, now_ms);
            if last {
                whole_item(run, at, object, &item, Completeness::Whole, normalizer);
            } else {
                call::handle_item(run, at, &item, Completeness::Begun, normalizer);
            }
        }
        Event::PartAdded(sort) | Event::PartDone(sort) => {
            let Some(object) = fields.object("part") else { return };
            let last = matches!(event, Event::PartDone(_));
            let kinds = match &*object.str("type").unwrap_or_default() {
                _ if sort == Sort::Summary => &[ItemKind::Reasoning][..],
                "reasoning_text" | "summary_text" => &[ItemKind::Reasoning, ItemKind::Message],
                _ => &[ItemKind::Message, ItemKind::Reasoning],
            };
            let Some(at) = run.items.find_or_make(address, kinds, last, now_ms) else { return };
            if !last {
                text::added(run, at, sort, part_index(sort));
                return;
            }
            let reasoning = run.items.get(at).is_some_and(|item| item.kind == ItemKind::Reasoning);
            let list = if sort == Sort::Summary { Text::Summary } else { Text::Said };
            if let Some((text, whole)) = text::part_text(&object, list, reasoning) {
                text::done(run, at, CompletePart::of(text, part_index(text.sort()), Some(&whole)), normalizer);
            }
        }
        Event::Delta(text) => {
            let Some(piece) = fields.get("delta").and_then(Json::utf16) else { return };
            if let Some(at) = speaker(run, text, address, false, now_ms) {
                text::delta(run, at, text, part_index(text.sort()), piece, normalizer);
            }
        }
        Event::Done(text, key) => {
            let whole = fields.str(key);
            if let Some(at) = speaker(run, text, address, true, now_ms) {
                text::done(run, at, CompletePart::of(text, part_index(text.sort()), whole.as_deref()), normalizer);
            }
        }
        Event::InputDelta(kind) => {
            let Some(piece) = fields.get("delta").and_then(Json::utf16) else { return };
            if let Some(at) = run.items.find_or_make(address, &[kind], false, now_ms) {
                call::input(run, at, piece, normalizer);
            }
        }
        Event::InputDone(kind, key) => {
            if let Some(at) = run.items.find_or_make(address, &[kind], true, now_ms) {
                call::input_done(run, at, fields, key, normalizer);
            }
        }
        Event::CommandOutput => {
            if let Some(at) = run.items.find_or_make(address, &[ItemKind::Output], true, now_ms) {
                output::of_command(run, at, fields, normalizer);
            }
        }
        Event::Stage(ItemKind::ToolList, ToolStage::Failed) => {
            let message = "an MCP server's tools could not be listed".to_owned();
            normalizer.push(run.target(), Body::LogEmitted { level: LogLevel::Warn, message });
        }
        Event::Stage(kind, stage) if stage != ToolStage::Runs && kind.is_call() => {
            if let Some(at) = run.items.find_or_make(address, &[kind], true, now_ms)
                && let Some(call) = run.items.get_mut(at).and_then(|item| item.call.as_mut())
            {
                call.on_server = true;
                call.verdict = Some(stage == ToolStage::Completed);
            }
        }
        _ => {}
    }
}

/// Handles an item as a whole, from its own last event or from the response's last snapshot.
pub(super) fn whole_item(
    run: &mut Run,
    at: usize,
    object: Json<'_>,
    fields: &Object<'_>,
    completeness: Completeness,
    normalizer: &mut Normalizer,
) {
    let target = run.target();
    let Some(item) = run.items.get_mut(at) else { return };
    let first = !item.finished;
    match item.kind {
        ItemKind::Message if fields.str("role").is_some_and(|role| role != "assistant") => {
            item.finished = true;
            if first && fields.str("role").is_some_and(|role| role == "user") {
                let text = fields
                    .items("content")
                    .into_iter()
                    .filter_map(|part| Some(part.object()?.str("text")?.into_owned()));
                let message =
                    UserMessage { message_id: item.message_id.clone(), text: text.collect(), attachments: Vec::new() };
                normalizer.push(target, Body::UserMessage(Box::new(message)));
            }
        }
        ItemKind::Message | ItemKind::Reasoning => {
            text::whole(run, at, object, fields, completeness == Completeness::Whole, normalizer)
        }
        ItemKind::Output => output::whole(run, at, fields, normalizer),
        kind if kind.is_call() => call::handle_item(run, at, fields, completeness, normalizer),
        _ if !first => {}
        ItemKind::ApprovalRequest => {
            item.finished = true;
            let approval_id = item.id.clone().unwrap_or_else(|| item.message_id.clone());
            let request = ApprovalRequested {
                approval_id,
                tool_id: None,
                tool_name: tool::name(ItemKind::ApprovalRequest, fields).unwrap_or_default(),
                args: tool::arguments(&fields.str("arguments").unwrap_or_default()),
                reason: None,
            };
            normalizer.approval_requested(target, request);
        }
        ItemKind::ApprovalResponse => {
            item.finished = true;
            let Some(approval_id) = fields.str("approval_request_id") else { return };
            let approved = fields.bool("approve").unwrap_or_default();
            let answer = ApprovalResolved {
                approval_id: SharedStr::from(&*approval_id),
                decision: if approved { Decision::Approved } else { Decision::Rejected },
                by: None,
                reason: fields.str("reason").map(std::borrow::Cow::into_owned),
                scope: None,
            };
            normalizer.approval_resolved(target.stream, answer);
        }
        ItemKind::Compaction => {
            item.finished = true;
            let compacted =
                Body::HistoryCompacted { trigger: None, tokens_before: None, tokens_after: None, summary: None };
            normalizer.push(target, compacted);
        }
        _ => item.finished = true,
    }
}

/// The item that a text belongs to. A message may contain reasoning, but only if the event names the message: some upstreams
/// send the reasoning that precedes a message with the message's index.
fn speaker(run: &mut Run, text: Text, address: &Address<'_>, last: bool, now_ms: u64) -> Option<usize> {
    if text == Text::Said {
        return run.items.find_or_make(address, &[ItemKind::Message], last, now_ms);
    }
    let message =
        run.items.named(address).filter(|&at| run.items.get(at).is_some_and(|it| it.kind == ItemKind::Message));
    message.or_else(|| run.items.find_or_make(address, &[ItemKind::Reasoning], last, now_ms))
}
