//! The rules of stream events, and of `assistant` messages that repeat streamed blocks.
//!
//! Input: the events of one session, and the blocks of its `assistant` messages. Output: findings. Never: a comparison of a call's
//! input, which the CLI normalises.

use crate::verify::{Basis, Finding};
use serde_json::Value;
use std::collections::HashMap;

/// The model messages of a session that are being streamed.
#[derive(Default)]
pub(super) struct Streamed {
    open: HashMap<String, Message>,
    /// The message that events without an id belong to.
    last: String,
    is_cut: bool,
}

#[derive(Default)]
struct Message {
    next_index: u64,
    /// The open blocks by index.
    open: HashMap<u64, Block>,
    is_cut: bool,
}

#[derive(Default)]
struct Block {
    kind: String,
    text: String,
    /// Whether an `assistant` message has the block.
    is_repeated: bool,
}

fn text<'e>(event: &'e Value, pointer: &str) -> &'e str {
    event.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn usual(rule: &'static str, pointer: &str, message: &str) -> Finding {
    Finding::error(rule, pointer, message).on(Basis::Usual)
}

impl Streamed {
    pub(super) fn new(is_cut: bool) -> Self {
        Self { is_cut, ..Self::default() }
    }

    pub(super) fn event(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        let kind = text(event, "/event/type");
        let named = match kind {
            "message_start" => text(event, "/event/message/id"),
            _ => text(event, "/api_message_id"),
        };
        if !named.is_empty() {
            named.clone_into(&mut self.last);
        }
        if kind == "message_start" {
            if self.open.insert(self.last.clone(), Message::default()).is_some() {
                findings.push(usual("message.opened_twice", "/event/message/id", "this message is already open"));
            }
            return;
        }
        if matches!(kind, "ping" | "error") {
            return;
        }
        if !self.open.contains_key(&self.last) {
            if !self.is_cut {
                let message = "no message_start precedes this event";
                findings.push(Finding::error("message.not_open", "/event", message));
            }
            // What follows is judged within the message.
            self.open.insert(self.last.clone(), Message { is_cut: true, ..Message::default() });
        }
        if kind == "message_stop" {
            if let Some(message) = self.open.remove(&self.last) {
                message.end(findings);
            }
        } else if let Some(message) = self.open.get_mut(&self.last) {
            message.event(kind, event, findings);
        }
    }

    /// A block of an `assistant` message. Its event stream, if there is one, has not ended.
    pub(super) fn block(&mut self, message: &str, block: &Value, place: &str, findings: &mut Vec<Finding>) {
        let kind = text(block, "/type");
        let key = match kind {
            "text" => "text",
            "thinking" => "thinking",
            _ => return,
        };
        let Some(message) = self.open.get_mut(message).filter(|message| !message.is_cut) else { return };
        let mut open: Vec<(&u64, &mut Block)> =
            message.open.iter_mut().filter(|(_, block)| block.kind == kind && !block.is_repeated).collect();
        open.sort_unstable_by_key(|(index, _)| **index);
        let said = block.get(key).and_then(Value::as_str).unwrap_or_default();
        let at = open.iter().position(|(_, block)| block.text == said);
        match at.and_then(|at| open.into_iter().nth(at)) {
            Some((_, block)) => block.is_repeated = true,
            None => {
                let message = "no open block of this message was streamed with this text";
                findings.push(usual("block.differs", &format!("{place}/{key}"), message));
            }
        }
    }

    /// The last run is over.
    pub(super) fn end(&mut self, findings: &mut Vec<Finding>) {
        for (_, message) in self.open.drain() {
            findings.push(usual("message.left_open", "", "a message has no message_stop"));
            drop(message);
        }
    }
}

impl Message {
    fn event(&mut self, kind: &str, event: &Value, findings: &mut Vec<Finding>) {
        let index = event.pointer("/event/index").and_then(Value::as_u64).unwrap_or_default();
        match kind {
            "content_block_start" => {
                if index != self.next_index && !self.is_cut {
                    let message = format!("index must be {}: blocks are numbered from 0 without gaps", self.next_index);
                    findings.push(usual("block.order", "/event/index", &message));
                }
                self.next_index = index + 1;
                let block = Block {
                    kind: text(event, "/event/content_block/type").to_owned(),
                    text: [text(event, "/event/content_block/text"), text(event, "/event/content_block/thinking")]
                        .concat(),
                    is_repeated: false,
                };
                self.open.insert(index, block);
            }
            "content_block_delta" => match self.open.get_mut(&index) {
                Some(block) => {
                    for key in ["/event/delta/text", "/event/delta/thinking"] {
                        block.text.push_str(text(event, key));
                    }
                }
                None => self.missing(findings),
            },
            "content_block_stop" if self.open.remove(&index).is_none() => self.missing(findings),
            _ => {}
        }
    }

    fn missing(&self, findings: &mut Vec<Finding>) {
        if !self.is_cut {
            findings.push(Finding::error("block.not_open", "/event/index", "no open block has this index"));
        }
    }

    fn end(self, findings: &mut Vec<Finding>) {
        for _ in self.open {
            findings.push(usual("block.left_open", "/event", "a block has no content_block_stop"));
        }
    }
}
