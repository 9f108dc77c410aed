//! The parts of the assistant's messages.
//!
//! In: a part as it is now, and where its session speaks. Out: blocks, tool calls, turns and usage, each said once however
//! often the part is repeated. Never: a synthetic text, or the summary of a compaction, as the assistant's answer.

use super::failure::retried;
use super::stage::{Stage, filled};
use super::talk::{Message, PartState, Talk};
use super::tools::{self, Task};
use super::usage;
use crate::frame::Name;
use crate::json::{Json, Object, Utf16Text};
use crate::ledger::{Block, BlockKind};

/// Reads a part of an assistant's message. `delta` is the new piece, where the update brings it (first release). Gives
/// what a `task` call says of its child session.
pub(super) fn assistant(
    stage: &mut Stage<'_>,
    talk: &mut Talk,
    message_id: &str,
    part: &Object<'_>,
    delta: Option<Json<'_>>,
) -> Option<Task> {
    let kind = part.str("type").unwrap_or_default();
    let id = part.str("id").unwrap_or_default();
    for mut message in talk.take_left_open() {
        complete_blocks(stage, &mut message);
    }
    match &*kind {
        "tool" => return tools::part(stage, talk, message_id, &id, part),
        "text" | "reasoning" => {
            let injected = part.bool("synthetic") == Some(true) || part.bool("ignored") == Some(true);
            let message = talk.message(message_id);
            if injected {
                message.part(&id).state = PartState::Done;
            } else if message.is_summary && kind == "text" {
                summary(message, &id, part);
            } else {
                let kind = if kind == "text" { BlockKind::Text } else { BlockKind::Reasoning };
                block(stage, message, &id, kind, part, delta);
            }
        }
        "step-start" => {
            if let Some(message) = first_time(talk, message_id, &id) {
                step_started(stage, message);
            }
        }
        "step-finish" => {
            if let Some(message) = first_time(talk, message_id, &id) {
                let model = message.model.clone();
                step_finished(stage, part, model, "reason");
            }
        }
        "retry" => {
            if first_time(talk, message_id, &id).is_some() {
                stage.ledger.push(stage.place, retried(part));
            }
        }
        // What they tell is told by tools, or is only known to the runner's own store.
        "patch" | "snapshot" | "file" | "agent" | "subtask" | "compaction" => {
            talk.message(message_id).part(&id);
        }
        other => {
            talk.message(message_id).part(&id);
            stage.ledger.fault(format!("unknown part type {other:?}"));
        }
    }
    None
}

/// The message, unless this part was read before.
fn first_time<'t>(talk: &'t mut Talk, message_id: &str, part_id: &str) -> Option<&'t mut Message> {
    let message = talk.message(message_id);
    let part = message.part(part_id);
    let first = matches!(part.state, PartState::New);
    part.state = PartState::Done;
    first.then_some(message)
}

/// A model request begins to answer. What an earlier attempt in the same message said stays open for ever.
pub(super) fn step_started(stage: &mut Stage<'_>, message: &mut Message) {
    cut_blocks(stage, message);
    message.steps += 1;
    if stage.is_main() {
        stage.ledger.turn_started(stage.place.stream, message.model.clone());
    }
}

/// A model request is accounted.
pub(super) fn step_finished(stage: &mut Stage<'_>, step: &Object<'_>, model: Option<Name>, reason: &str) {
    if stage.is_main() && !stage.ledger.in_turn(stage.place.stream) {
        // We came too late to hear it begin.
        stage.ledger.turn_started(stage.place.stream, model.clone());
    }
    if let Some(body) = usage::of_step(step, model, stage.old) {
        stage.ledger.push(stage.place, body);
    }
    if stage.is_main() {
        let reason = step.str(reason).filter(|reason| !reason.is_empty());
        stage.ledger.turn_ended(stage.place.stream, reason.map(|reason| Name::from(&*reason)));
    }
}

fn block_of(message_id: &str, index: u32, kind: BlockKind) -> Block<'_> {
    Block { kind, message_id, index }
}

fn block(
    stage: &mut Stage<'_>,
    message: &mut Message,
    part_id: &str,
    kind: BlockKind,
    part: &Object<'_>,
    delta: Option<Json<'_>>,
) {
    let message_id = message.id.clone();
    let Some(text) = part.get("text") else { return };
    let state = message.part(part_id);
    let is_new = matches!(state.state, PartState::New);
    if !is_new && !matches!(state.state, PartState::Block(_)) {
        return;
    }
    state.state = PartState::Block(kind);
    let block = block_of(&message_id, state.index, kind);
    let is_over = part.object("time").is_some_and(|time| time.some("end").is_some());
    if !is_over {
        // The piece alone tells what is new, unless we came too late to hear what was before it.
        let piece = delta.filter(|delta| !is_new || delta.text() == text.text()).unwrap_or(text);
        let whole = piece.text() == text.text();
        let mut piece = piece.utf16().unwrap_or_default();
        if whole && let Some(said) = stage.ledger.said(stage.place, block) {
            let Some(rest) = piece.text.strip_prefix(said) else { return };
            piece.text = rest.to_owned();
        }
        if piece != Utf16Text::default() {
            stage.ledger.delta(stage.place, block, piece);
        }
        return;
    }
    state.state = PartState::Done;
    let snapshot = text.str().unwrap_or_default();
    let opaque = filled(part.get("metadata")).filter(|_| kind == BlockKind::Reasoning).map(Json::to_raw);
    if snapshot.is_empty() && opaque.is_none() && stage.ledger.said(stage.place, block).is_none() {
        return;
    }
    if stage.failing {
        stage.ledger.cut(stage.place, block, Some(&snapshot));
    } else {
        stage.ledger.complete(stage.place, block, Some(&snapshot), opaque);
    }
}

/// A piece of a part that was announced. Without the announcement nobody knows what it is a piece of, or what came before
/// it; the part's last update has the whole.
pub(super) fn delta(stage: &mut Stage<'_>, message: &mut Message, part_id: &str, piece: Json<'_>) {
    let message_id = message.id.clone();
    if let Some(part) = message.known(part_id)
        && let PartState::Block(kind) = part.state
        && let Some(piece) = piece.utf16()
    {
        stage.ledger.delta(stage.place, block_of(&message_id, part.index, kind), piece);
    }
}

fn summary(message: &mut Message, part_id: &str, part: &Object<'_>) {
    message.part(part_id).state = PartState::Done;
    if part.object("time").is_some_and(|time| time.some("end").is_some()) {
        message.summary = part.str("text").map(std::borrow::Cow::into_owned);
    }
}

/// Cuts off the blocks that an attempt or an aborted message leaves open.
pub(super) fn cut_blocks(stage: &mut Stage<'_>, message: &mut Message) {
    for (index, kind) in message.take_blocks() {
        let block = block_of(&message.id, index, kind);
        if stage.ledger.said(stage.place, block).is_some() {
            stage.ledger.cut(stage.place, block, None);
        }
    }
}

/// Completes the blocks that a complete message leaves open.
pub(super) fn complete_blocks(stage: &mut Stage<'_>, message: &mut Message) {
    if stage.failing {
        return cut_blocks(stage, message);
    }
    for (index, kind) in message.take_blocks() {
        let block = block_of(&message.id, index, kind);
        if stage.ledger.said(stage.place, block).is_some() {
            stage.ledger.complete(stage.place, block, None, None);
        }
    }
}
