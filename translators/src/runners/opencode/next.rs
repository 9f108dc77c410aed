//! `session.next.*`: the newer events for a session's work, on `/event` and on `/api/event`.
//!
//! Input: steps, texts, reasoning and tool calls as separate events, with times in milliseconds or as ISO strings. Output: the
//! same frames as for messages and parts. Unlike there, arguments are streamed and no idle event exists: a run ends with a step
//! that fails or that finishes for any reason other than `tool-calls`.

use super::answer::{self, Spot};
use super::failure::{Failure, retried};
use super::messages::COMES_LATE;
use super::parts;
use super::prompt::Prompt;
use super::sessions::Feed;
use super::stage::Stage;
use super::talk::{Message, PartState, Talk};
use super::tools::{self, Call, Trouble};
use crate::frame::{Body, OutputStream, SharedStr};
use crate::json::{Json, Object};
use crate::normalizer::{Block, BlockKind, Normalizer};

impl Feed {
    /// Decodes an event of this family; `kind` is the part of the type after the family's name.
    pub(super) fn next(&mut self, id: &SharedStr, kind: &str, props: &Object<'_>, normalizer: &mut Normalizer) {
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
                self.tell_prompt(id, normalizer);
            }
            "step.started" => {
                self.work(id, normalizer);
                let model =
                    props.object("model").and_then(|model| model.str("id").map(|model| SharedStr::from(&*model)));
                self.on_stage(id, normalizer, |stage, talk| {
                    let message = talk.message(&message_id);
                    message.model = model;
                    parts::step_started(stage, message);
                });
            }
            "step.ended" => {
                self.on_stage(id, normalizer, |stage, talk| {
                    let model = talk.close(&message_id).and_then(|message| {
                        parts::complete_blocks(stage, message);
                        message.model.clone()
                    });
                    parts::step_finished(stage, props, model, "finish");
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
                self.on_stage(id, normalizer, |stage, _| stage.normalizer.push(stage.place, retried(props)));
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
                    self.on_stage(id, normalizer, |stage, talk| {
                        said(stage, talk, &message_id, &part_id, block, step, props)
                    });
                } else if let "tool" | "tool.input" = family {
                    let call_id = props.str("callID").unwrap_or_default();
                    let is_whole = matches!(step, "success" | "failed");
                    if self.is_late(id, &message_id, &owner(&message_id, &call_id), is_whole, normalizer) {
                        return;
                    }
                    self.work(id, normalizer);
                    self.on_stage(id, normalizer, |stage, talk| tool(stage, talk, &message_id, kind, props));
                } else {
                    unknown(kind, normalizer);
                }
            }
        }
    }

    /// Whether the message of this event can no longer be reported on. If the event contains a whole text or result that was
    /// not reported, the loss is a fault.
    fn is_late(
        &mut self,
        id: &SharedStr,
        message_id: &str,
        part_id: &str,
        is_whole: bool,
        normalizer: &mut Normalizer,
    ) -> bool {
        let talk = &mut self.session(id).talk;
        if !talk.is_past(message_id) {
            return false;
        }
        let part =
            |message: &mut Message| message.known(part_id).is_none_or(|part| !matches!(part.state, PartState::Done));
        if is_whole && talk.get(message_id).is_some_and(part) {
            normalizer.fault(COMES_LATE);
        }
        true
    }

    fn prompt(&mut self, id: &SharedStr, props: &Object<'_>, normalizer: &mut Normalizer) {
        let message_id = props.str("messageID").unwrap_or_default();
        if self.session(id).talk.is_closed(&message_id) {
            return;
        }
        self.tell_prompt(id, normalizer);
        let words = props.object("prompt").unwrap_or_default();
        let mut prompt = Prompt::new(&message_id);
        prompt.say(&words.str("text").unwrap_or_default());
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

fn said(
    stage: &mut Stage<'_>,
    talk: &mut Talk,
    message_id: &str,
    part_id: &str,
    kind: BlockKind,
    step: &str,
    props: &Object<'_>,
) {
    let message = talk.message(message_id);
    let index = message.part(part_id).index;
    let spot = Spot { block: Block { kind, message_id, index }, order: message.order };
    let part = message.part(part_id);
    match part.state {
        PartState::New | PartState::Block(_) => {}
        PartState::Left(_) if step == "ended" => {
            return answer::late(stage, spot, &mut part.state, &props.str("text").unwrap_or_default());
        }
        PartState::Left(_) if step == "delta" => return stage.normalizer.fault(parts::PIECE_COMES_LATE),
        _ => return,
    }
    let block = spot.block;
    part.state = PartState::Block(kind);
    match step {
        "started" => {}
        "delta" => {
            if let Some(piece) = props.get("delta").and_then(Json::utf16) {
                stage.normalizer.delta(stage.place, block, piece);
            }
        }
        "ended" => {
            part.state = PartState::Done;
            let text = props.str("text").unwrap_or_default();
            let opaque = super::stage::filled(props.get("providerMetadata")).map(Json::to_raw);
            if !text.is_empty() || opaque.is_some() || stage.normalizer.said(stage.place, block).is_some() {
                answer::close(stage, spot, Some(&text), opaque);
            }
        }
        other => stage.normalizer.unknown(format!("unknown step {other:?} of a text")),
    }
}

/// A call has no part id here, and its own id may equal a text's id.
fn owner(message_id: &str, call_id: &str) -> SharedStr {
    SharedStr::from(format!("{message_id}/{call_id}"))
}

fn tool(stage: &mut Stage<'_>, talk: &mut Talk, message_id: &str, kind: &str, props: &Object<'_>) {
    let call_id = props.str("callID").unwrap_or_default();
    let owner = owner(message_id, &call_id);
    let message = talk.message(message_id);
    let part = message.part(&owner);
    if let PartState::New = part.state {
        let tool = stage.calls.claim(stage.normalizer, stage.scope, &call_id, &owner);
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
            let delta = props.str("delta").unwrap_or_default().into_owned();
            let body = Body::ToolInputDelta { tool: call.tool.clone(), name: call.name.clone(), delta };
            stage.normalizer.push(stage.place, body);
        }
        "tool.called" => call.start(stage, props.get("input"), None, true),
        "tool.progress" => call.start(stage, None, None, true),
        "tool.success" => {
            call.start(stage, None, None, true);
            for piece in props.items("content").into_iter().filter_map(Json::object) {
                if let Some(text) = piece.str("text").filter(|text| !text.is_empty()) {
                    stage.normalizer.tool_output(stage.place, &call.tool, OutputStream::Stdout, text);
                }
            }
            let structured = props.object("structured").unwrap_or_default();
            stage.normalizer.tool_ended(stage.place, &call.tool, tools::exit_code(&structured), None, None);
            part.state = PartState::Done;
        }
        "tool.failed" => {
            call.start(stage, None, None, true);
            let error = Failure::read(props.some("error")).message;
            tools::end_badly(stage, &call.tool, &error, Trouble::read(&error), None);
            part.state = PartState::Done;
        }
        other => stage.normalizer.unknown(format!("unknown event type \"session.next.{other}\"")),
    }
}
