//! `session.next.*`: the newer events for a session's work, on `/event` and on `/api/event`.
//!
//! Input: steps, texts, reasoning and tool calls as separate events, with times in milliseconds or as ISO strings. Output: the
//! same frames as for messages and parts. Unlike there, arguments are streamed and no idle event exists: a run ends with a step
//! that fails or that finishes for any reason other than `tool-calls`.

use super::answer::{self, BlockPosition};
use super::failure::{Failure, retried};
use super::message_log::{Message, MessageLog, PartState};
use super::messages::COMES_LATE;
use super::parts;
use super::prompt::Prompt;
use super::session_context::SessionContext;
use super::sessions::Feed;
use super::tools::{self, Call, CallFailure};
use crate::frame::{OutputStream, SharedStr};
use crate::json::{Json, Object};
use crate::normalizer::{Block, BlockKind, Normalizer};

impl Feed {
    /// Decodes an event of this family; `kind` is the part of the type after the family's name.
    pub(super) fn session_next(&mut self, id: &SharedStr, kind: &str, props: &Object<'_>, normalizer: &mut Normalizer) {
        if self.session(id).classic {
            return;
        }
        let message_id = props.str("assistantMessageID").unwrap_or_default();
        match kind {
            "prompt.admitted" => {
                // A queued prompt is reported when its turn comes.
                if self.run_of(id).is_none() {
                    self.prompt(id, props, normalizer);
                    self.work(id, normalizer);
                }
            }
            "prompted" => {
                self.prompt(id, props, normalizer);
                self.work(id, normalizer);
                self.report_prompt(id, normalizer);
            }
            "step.started" => {
                self.work(id, normalizer);
                let model =
                    props.object("model").and_then(|model| model.str("id").map(|model| SharedStr::from(&*model)));
                self.with_context(id, normalizer, |context, message_log| {
                    let message = message_log.message(&message_id);
                    message.model = model;
                    parts::step_started(context, message);
                });
            }
            "step.ended" => {
                self.with_context(id, normalizer, |context, message_log| {
                    let model = message_log.close(&message_id).and_then(|message| {
                        parts::complete_blocks(context, message);
                        message.model.clone()
                    });
                    parts::step_finished(context, props, model, "finish");
                });
                if props.str("finish").as_deref() != Some("tool-calls") {
                    self.conclude(id, normalizer);
                }
            }
            "step.failed" => {
                if self.run_of(id).is_some() {
                    let failure = Failure::read(props.some("error"));
                    self.failed(id, failure, normalizer);
                    self.conclude(id, normalizer);
                }
            }
            "retried" => {
                self.with_context(id, normalizer, |context, _| context.normalizer.push(context.target, retried(props)));
            }
            _ => {
                let Some((family, step)) = kind.rsplit_once('.') else {
                    return unknown(kind, normalizer);
                };
                let block = match family {
                    "text" => Some(("textID", BlockKind::Text)),
                    "reasoning" => Some(("reasoningID", BlockKind::Reasoning)),
                    _ => None,
                };
                if let Some((key, block)) = block {
                    let part_id = props.str(key).unwrap_or_default();
                    if self.is_late(id, &message_id, &part_id, step == "ended", normalizer) {
                        return;
                    }
                    self.work(id, normalizer);
                    self.with_context(id, normalizer, |context, message_log| {
                        text_step(context, message_log, &message_id, &part_id, block, step, props)
                    });
                } else if let "tool" | "tool.input" = family {
                    let call_id = props.str("callID").unwrap_or_default();
                    let is_whole = matches!(step, "success" | "failed");
                    if self.is_late(id, &message_id, &owner(&message_id, &call_id), is_whole, normalizer) {
                        return;
                    }
                    self.work(id, normalizer);
                    self.with_context(id, normalizer, |context, message_log| {
                        tool(context, message_log, &message_id, kind, props)
                    });
                } else {
                    unknown(kind, normalizer);
                }
            }
        }
    }

    /// Whether the message of this event can no longer be reported on. If the event contains a whole text or result that was
    /// not reported, the loss is an error.
    fn is_late(
        &mut self,
        id: &SharedStr,
        message_id: &str,
        part_id: &str,
        is_whole: bool,
        normalizer: &mut Normalizer,
    ) -> bool {
        let message_log = &mut self.session(id).message_log;
        if !message_log.is_past(message_id) {
            return false;
        }
        let part =
            |message: &mut Message| message.known(part_id).is_none_or(|part| !matches!(part.state, PartState::Done));
        if is_whole && message_log.get(message_id).is_some_and(part) {
            normalizer.add_error(COMES_LATE);
        }
        true
    }

    fn prompt(&mut self, id: &SharedStr, props: &Object<'_>, normalizer: &mut Normalizer) {
        let message_id = props.str("messageID").unwrap_or_default();
        if self.session(id).message_log.is_closed(&message_id) {
            return;
        }
        self.report_prompt(id, normalizer);
        let words = props.object("prompt").unwrap_or_default();
        let mut prompt = Prompt::new(&message_id);
        prompt.push(&words.str("text").unwrap_or_default());
        for file in words.items("files").into_iter().filter_map(Json::object) {
            prompt.attach(&file);
        }
        self.session(id).prompt = Some(prompt);
    }
}

fn unknown(kind: &str, normalizer: &mut Normalizer) {
    let known = [
        "compaction.",
        "shell.",
        "revert.",
        "agent.switched",
        "model.switched",
        "moved",
        "synthetic",
        "context.updated",
    ];
    if !known.iter().any(|known| kind.starts_with(known)) {
        normalizer.unknown(format!("unknown event type \"session.next.{kind}\""));
    }
}

fn text_step(
    context: &mut SessionContext<'_>,
    message_log: &mut MessageLog,
    message_id: &str,
    part_id: &str,
    kind: BlockKind,
    step: &str,
    props: &Object<'_>,
) {
    let message = message_log.message(message_id);
    let index = message.part(part_id).index;
    let spot = BlockPosition { block: Block { kind, message_id, index }, order: message.order };
    let part = message.part(part_id);
    match part.state {
        PartState::New | PartState::Block(_) => {}
        PartState::Left(_) if step == "ended" => {
            return answer::late(context, spot, &mut part.state, &props.str("text").unwrap_or_default());
        }
        PartState::Left(_) if step == "delta" => return context.normalizer.add_error(parts::PIECE_COMES_LATE),
        _ => return,
    }
    let block = spot.block;
    part.state = PartState::Block(kind);
    match step {
        "started" => {}
        "delta" => {
            if let Some(piece) = props.get("delta").and_then(Json::utf16) {
                context.normalizer.delta(context.target, block, piece);
            }
        }
        "ended" => {
            part.state = PartState::Done;
            let text = props.str("text").unwrap_or_default();
            let opaque = super::session_context::filled(props.get("providerMetadata")).map(Json::to_raw);
            if !text.is_empty() || opaque.is_some() || context.normalizer.text_so_far(context.target, block).is_some() {
                answer::close(context, spot, Some(&text), opaque);
            }
        }
        other => context.normalizer.unknown(format!("unknown step {other:?} of a text")),
    }
}

/// A call has no part id here, and its own id may equal a text's id.
fn owner(message_id: &str, call_id: &str) -> SharedStr {
    SharedStr::from(format!("{message_id}/{call_id}"))
}

fn tool(
    context: &mut SessionContext<'_>,
    message_log: &mut MessageLog,
    message_id: &str,
    kind: &str,
    props: &Object<'_>,
) {
    let call_id = props.str("callID").unwrap_or_default();
    let owner = owner(message_id, &call_id);
    let message = message_log.message(message_id);
    let part = message.part(&owner);
    if let PartState::New = part.state {
        let tool = context.calls.claim(context.normalizer, context.scope, &call_id, &owner);
        part.state = PartState::Tool(Box::new(Call::new(tool, "")));
    }
    let PartState::Tool(call) = &mut part.state else { return };
    if let Some(name) = props.str("name").or_else(|| props.str("tool"))
        && !call.started
    {
        call.name = SharedStr::from(&*name);
    }
    match kind {
        "tool.input.started" | "tool.input.ended" => {}
        "tool.input.delta" => {
            let piece = props.get("delta").and_then(Json::utf16).unwrap_or_default();
            context.normalizer.tool_input(context.target, &call.tool, &call.name, piece);
        }
        "tool.called" => call.start(context, props.get("input"), None, true),
        "tool.progress" => call.start(context, None, None, true),
        "tool.success" => {
            call.start(context, None, None, true);
            let mut took_too_long = false;
            for piece in props.items("content").into_iter().filter_map(Json::object) {
                if let Some(text) = piece.str("text").filter(|text| !text.is_empty()) {
                    took_too_long |= tools::took_too_long(&text);
                    context.normalizer.tool_output(context.target, &call.tool, OutputStream::Stdout, text);
                }
            }
            let structured = props.object("structured").unwrap_or_default();
            let code = tools::exit_code(&structured, || took_too_long);
            context.normalizer.tool_ended(context.target, &call.tool, code, None, None);
            part.state = PartState::Done;
        }
        "tool.failed" => {
            call.start(context, None, None, true);
            let error = Failure::read(props.some("error")).message;
            tools::end_badly(context, &call.tool, &error, CallFailure::read(&error), None);
            part.state = PartState::Done;
        }
        other => context.normalizer.unknown(format!("unknown event type \"session.next.{other}\"")),
    }
}
