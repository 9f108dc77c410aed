//! The parts of assistant messages.
//!
//! Input: the current state of a part, and the target of its session's output. Output: blocks, tool calls, turns and usage, each
//! reported once, however often the part is repeated. Never: a synthetic text or a compaction's summary reported as the
//! assistant's answer.

use super::super::stops::Stop;
use super::answer::{self, BlockPosition};
use super::failure::retried;
use super::message_log::{Message, MessageLog, PartState};
use super::session_context::{SessionContext, filled};
use super::tools::{self, Task};
use super::usage;
use crate::frame::SharedStr;
use crate::json::{Json, Object, Utf16Text};
use crate::normalizer::{Block, BlockKind};
use std::borrow::Cow;

/// The error for a delta of a text that is already closed.
pub(super) const PIECE_COMES_LATE: &str = "a piece of a text came after the text was closed";

/// Decodes a part of an assistant message. `delta` is the new piece, if the update contains one (first release). Returns what a
/// `task` call reports about its child session.
pub(super) fn assistant(
    context: &mut SessionContext<'_>,
    message_log: &mut MessageLog,
    message_id: &str,
    part: &Object<'_>,
    delta: Option<Json<'_>>,
) -> Option<Task> {
    let kind = part.str("type").unwrap_or_default();
    let id = part.str("id").unwrap_or_default();
    for left in message_log.take_left_open() {
        if let Some(message) = message_log.get(&left) {
            complete_blocks(context, message);
        }
    }
    context.failing |= message_log.get(message_id).is_some_and(|message| message.failed);
    match &*kind {
        "tool" => return tools::part(context, message_log, message_id, &id, part),
        "text" | "reasoning" => {
            let message = message_log.message(message_id);
            if is_injected(part) {
                message.part(&id).state = PartState::Done;
            } else if message.is_summary && kind == "text" {
                summary(message, &id, part);
            } else {
                let kind = if kind == "text" { BlockKind::Text } else { BlockKind::Reasoning };
                block(context, message, &id, kind, part, delta);
            }
        }
        "step-start" => {
            if let Some(message) = first_time(message_log, message_id, &id) {
                step_started(context, message);
            }
        }
        "step-finish" => {
            if let Some(message) = first_time(message_log, message_id, &id) {
                let model = message.model.clone();
                step_finished(context, part, model, "reason");
            }
        }
        "retry" => {
            if first_time(message_log, message_id, &id).is_some() {
                context.normalizer.push(context.target, retried(part));
            }
        }
        // Tools report the contents of these parts, or only the runner's own store has them.
        "patch" | "snapshot" | "file" | "agent" | "subtask" | "compaction" => {
            message_log.message(message_id).part(&id);
        }
        other => {
            message_log.message(message_id).part(&id);
            context.normalizer.unknown(format!("unknown part type {other:?}"));
        }
    }
    None
}

/// The message, unless this part was read before.
fn first_time<'t>(message_log: &'t mut MessageLog, message_id: &str, part_id: &str) -> Option<&'t mut Message> {
    let message = message_log.message(message_id);
    let part = message.part(part_id);
    let first = matches!(part.state, PartState::New);
    part.state = PartState::Done;
    first.then_some(message)
}

/// Starts a model request. Blocks that an earlier attempt in the same message left open are cut off.
pub(super) fn step_started(context: &mut SessionContext<'_>, message: &mut Message) {
    cut_blocks(context, message);
    message.steps += 1;
    if context.is_main() {
        context.answer.stop = None;
        context.normalizer.turn_started(context.target.stream, message.model.clone());
    }
}

/// Ends a model request and reports its usage.
pub(super) fn step_finished(
    context: &mut SessionContext<'_>,
    step: &Object<'_>,
    model: Option<SharedStr>,
    reason: &str,
) {
    if context.is_main() && !context.normalizer.in_turn(context.target.stream) {
        // The feed was joined after the step started.
        context.normalizer.turn_started(context.target.stream, model.clone());
    }
    if let Some(body) = usage::of_step(step, model, context.old) {
        context.normalizer.push(context.target, body);
    }
    if context.is_main() {
        let reason = step.str(reason).filter(|reason| !reason.is_empty());
        context.answer.stop = reason.as_deref().and_then(|reason| Some((Stop::of(reason)?, SharedStr::from(reason))));
        context.normalizer.turn_ended(context.target.stream, reason.map(|reason| SharedStr::from(&*reason)));
    }
}

fn block(
    context: &mut SessionContext<'_>,
    message: &mut Message,
    part_id: &str,
    kind: BlockKind,
    part: &Object<'_>,
    delta: Option<Json<'_>>,
) {
    let message_id = message.id.clone();
    let Some(text) = part.get("text") else { return };
    let index = message.part(part_id).index;
    let spot = BlockPosition { block: Block { kind, message_id: &message_id, index }, order: message.order };
    let state = message.part(part_id);
    let is_new = matches!(state.state, PartState::New);
    match state.state {
        PartState::New | PartState::Block(_) => {}
        PartState::Left(_) => {
            if let Some(text) = whole(part) {
                answer::late(context, spot, &mut state.state, &text);
            }
            return;
        }
        _ => return,
    }
    state.state = PartState::Block(kind);
    let block = spot.block;
    let is_over = part.object("time").is_some_and(|time| time.some("end").is_some());
    if !is_over {
        // The delta alone is the new text, unless the feed was joined after earlier deltas.
        let piece = delta.filter(|delta| !is_new || delta.text() == text.text()).unwrap_or(text);
        let whole = piece.text() == text.text();
        let mut piece = piece.utf16().unwrap_or_default();
        if whole && let Some(emitted) = context.normalizer.text_so_far(context.target, block) {
            let Some(rest) = piece.text.strip_prefix(emitted) else { return };
            piece.text = rest.to_owned();
        }
        if piece != Utf16Text::default() {
            context.normalizer.delta(context.target, block, piece);
        }
        return;
    }
    state.state = PartState::Done;
    let snapshot = text.str().unwrap_or_default();
    let opaque = filled(part.get("metadata")).filter(|_| kind == BlockKind::Reasoning).map(Json::to_raw);
    if snapshot.is_empty() && opaque.is_none() && context.normalizer.text_so_far(context.target, block).is_none() {
        return;
    }
    // Trailing whitespace that the runner omits does not count as a difference.
    let is_trimmed = |emitted: &str| emitted.len() > snapshot.len() && emitted.trim_end() == snapshot;
    let whole =
        Some(&*snapshot).filter(|_| !context.normalizer.text_so_far(context.target, block).is_some_and(is_trimmed));
    answer::close(context, spot, whole, opaque);
}

/// Handles a delta of an announced part. Without the announcement, neither its kind nor the text before it is known; the part's
/// last update contains the whole text.
pub(super) fn delta(context: &mut SessionContext<'_>, message: &mut Message, part_id: &str, piece: Json<'_>) {
    let message_id = message.id.clone();
    let Some(part) = message.known(part_id) else { return };
    match part.state {
        PartState::Block(kind) => {
            let block = Block { kind, message_id: &message_id, index: part.index };
            if let Some(piece) = piece.utf16() {
                context.normalizer.delta(context.target, block, piece);
            }
        }
        PartState::Left(_) => context.normalizer.add_error(PIECE_COMES_LATE),
        _ => {}
    }
}

fn summary(message: &mut Message, part_id: &str, part: &Object<'_>) {
    message.part(part_id).state = PartState::Done;
    if part.object("time").is_some_and(|time| time.some("end").is_some()) {
        message.summary = part.str("text").map(Cow::into_owned);
    }
}

/// Cuts off the blocks that a failed attempt or an aborted message leaves open.
pub(super) fn cut_blocks(context: &mut SessionContext<'_>, message: &mut Message) {
    leave_blocks(context, message, true);
}

/// Completes the blocks that a complete message leaves open.
pub(super) fn complete_blocks(context: &mut SessionContext<'_>, message: &mut Message) {
    leave_blocks(context, message, false);
}

fn leave_blocks(context: &mut SessionContext<'_>, message: &mut Message, cut: bool) {
    let (id, order) = (message.id.clone(), message.order);
    for part in message.blocks() {
        let PartState::Block(kind) = part.state else { continue };
        let block = Block { kind, message_id: &id, index: part.index };
        // A block without any text so far may still arrive whole.
        if let Some(left) = answer::leave(context, BlockPosition { block, order }, cut) {
            part.state = PartState::Left(left);
        }
    }
}

/// Whether a part contains something that was not reported: a whole text, or the end of a call.
pub(super) fn is_news(message: &mut Message, part: &Object<'_>) -> bool {
    let of_summary = message.is_summary;
    let state = message.known(&part.str("id").unwrap_or_default()).map(|part| &part.state);
    match &*part.str("type").unwrap_or_default() {
        kind @ ("text" | "reasoning") if !(is_injected(part) || of_summary && kind == "text") => match state {
            Some(PartState::Done) => false,
            Some(PartState::Left(left)) => whole(part).is_some_and(|text| !left.is_whole(&text)),
            _ => whole(part).is_some(),
        },
        "tool" => {
            let status = part.object("state").and_then(|state| state.str("status").map(|status| status.into_owned()));
            !matches!(state, Some(PartState::Done)) && matches!(status.as_deref(), Some("completed" | "error"))
        }
        _ => false,
    }
}

/// The text of a complete part; `None` if the part is incomplete or has no text.
fn whole<'p>(part: &Object<'p>) -> Option<Cow<'p, str>> {
    part.object("time")?.some("end")?;
    part.str("text").filter(|text| !text.is_empty())
}

/// Whether the runner inserted the text into the message.
fn is_injected(part: &Object<'_>) -> bool {
    part.bool("synthetic") == Some(true) || part.bool("ignored") == Some(true)
}
