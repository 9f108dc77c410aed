//! The items of a response.
//!
//! Input: items as they begin and as they are complete. Output: each item as JSON, alone and in the terminal event. Never: more text than
//! [`ITEM_BYTES`] for each text and [`HELD_BYTES`] for all items, or work that grows with their number.
//!
//! A text that is too long is cut in the terminal event, and says so; arguments that are too long are `{}`, because they must be JSON.
//! `response.output_item.done` has both whole. If all items together are too long, the oldest ones lose their content: first arguments,
//! outputs and reasoning, then messages. If that is not enough, the oldest items are left out, and the response's metadata has their number.
//! The arguments of an open call are held in any case, and count when it is over.

use crate::encode::{Data, ObjectWriter, key};
use crate::frame::{RawJson, SharedStr};
use crate::json;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use uuid::Uuid;

/// The maximum length of a text in the terminal event; the length of arguments that are joined from pieces.
pub(super) const ITEM_BYTES: usize = 1 << 20;

/// The maximum length of all items in the terminal event.
const HELD_BYTES: usize = 4 << 20;

/// What an item takes besides its texts, at most.
const FIXED_BYTES: usize = 512;

/// Arguments up to this length are never left out.
const SHORT: usize = 128;

/// The text in place of one that is left out.
const LEFT_OUT: &str = "[left out: the response is too long]";

/// A string as JSON, so that it is escaped once, however often it is written.
pub(super) type Quoted = RawJson;

/// Escapes a text.
pub(super) fn quoted(text: &str) -> Quoted {
    json::to_raw(text)
}

/// The part of a text that the terminal event has.
pub(super) fn cut(text: &str) -> Option<String> {
    let rest = text.len().checked_sub(ITEM_BYTES).filter(|rest| *rest > 0)?;
    let kept = text.get(..text.floor_char_boundary(ITEM_BYTES)).unwrap_or_default();
    Some(format!("{kept}\n[{rest} more bytes]"))
}

/// What a response consists of.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) enum Item {
    /// A text block; `None` until it is complete.
    Message(Option<Quoted>),
    /// A block of reasoning; `None` until it is complete.
    Reasoning(Option<Quoted>),
    Call(Call),
    Question(Question),
    Answer(Answer),
}

/// A call of a tool.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Call {
    pub(super) call_id: SharedStr,
    pub(super) name: SharedStr,
    pub(super) status: CallStatus,
    pub(super) arguments: Quoted,
    pub(super) output: Option<Quoted>,
    pub(super) error: Option<Quoted>,
    /// The item of the last question about the call.
    pub(super) question: Option<u64>,
    /// The item of the call that started the subagent which makes this call.
    pub(super) parent: Option<u64>,
}

/// Whether a call is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum CallStatus {
    InProgress,
    Completed,
    Failed,
}

/// A question about a call, or about something that is no call.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Question {
    pub(super) approval_id: SharedStr,
    pub(super) name: SharedStr,
    pub(super) arguments: Quoted,
    /// The item of the call that started the subagent which asks.
    pub(super) parent: Option<u64>,
}

/// The answer to a question.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    /// The question's item.
    pub(super) question: u64,
    pub(super) approve: bool,
    pub(super) reason: Option<Quoted>,
}

impl Item {
    /// Whether more will be known about it.
    fn is_open(&self) -> bool {
        match self {
            Self::Message(text) | Self::Reasoning(text) => text.is_none(),
            Self::Call(call) => call.status == CallStatus::InProgress,
            Self::Question(_) | Self::Answer(_) => false,
        }
    }

    /// The item as the terminal event has it, with arguments of limited length.
    pub(super) fn kept(mut self) -> Self {
        if let Self::Call(Call { arguments, .. }) | Self::Question(Question { arguments, .. }) = &mut self
            && arguments.get().len() > ITEM_BYTES
        {
            *arguments = quoted("{}");
        }
        self
    }

    /// The text that it holds, in bytes.
    fn bytes(&self) -> usize {
        let of = |text: Option<&Quoted>| text.map_or(0, |text| text.get().len());
        FIXED_BYTES
            + match self {
                Self::Message(text) | Self::Reasoning(text) => of(text.as_ref()),
                Self::Call(call) if call.status == CallStatus::InProgress => call.call_id.len() + call.name.len(),
                Self::Call(call) => {
                    let names = call.call_id.len() + call.name.len();
                    names + of(Some(&call.arguments)) + of(call.output.as_ref()) + of(call.error.as_ref())
                }
                Self::Question(question) => {
                    question.approval_id.len() + question.name.len() + of(Some(&question.arguments))
                }
                Self::Answer(answer) => of(answer.reason.as_ref()),
            }
    }

    /// Leaves out what is long. An open item has nothing long yet, except for arguments.
    fn shorten(&mut self) {
        let text = |text: &mut Option<Quoted>| {
            if text.as_ref().is_some_and(|text| text.get().len() > LEFT_OUT.len()) {
                *text = Some(quoted(LEFT_OUT));
            }
        };
        let arguments = |arguments: &mut Quoted| {
            if arguments.get().len() > SHORT {
                *arguments = quoted("{}");
            }
        };
        match self {
            Self::Message(kept) | Self::Reasoning(kept) => text(kept),
            Self::Call(call) => {
                text(&mut call.output);
                text(&mut call.error);
                if call.status != CallStatus::InProgress {
                    arguments(&mut call.arguments);
                }
            }
            Self::Question(question) => arguments(&mut question.arguments),
            Self::Answer(answer) => text(&mut answer.reason),
        }
    }

    /// What its id begins with.
    fn prefix(&self) -> &'static str {
        match self {
            Self::Message(_) => "msg",
            Self::Reasoning(_) => "rs",
            Self::Call(_) => "mcp",
            Self::Question(_) => "mcpr",
            Self::Answer(_) => "mcpa",
        }
    }

    /// The id of the item at that index.
    pub(super) fn id(&self, run: &Uuid, index: u64) -> String {
        id(self.prefix(), run, index)
    }
}

fn id(prefix: &str, run: &Uuid, index: u64) -> String {
    format!("{prefix}_{}_{index}", run.simple())
}

/// The items of a run so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Items {
    list: VecDeque<Item>,
    /// How many of the oldest items are left out.
    left_out: u64,
    bytes: usize,
    /// Items before these indices have lost their content: messages, and everything else.
    messages: u64,
    others: u64,
}

impl Items {
    /// The text held, in bytes.
    pub(super) fn held_bytes(&self) -> usize {
        self.bytes
    }

    /// How many of the oldest items are left out.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The items, each with its index.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &Item)> {
        (self.left_out..).zip(&self.list)
    }

    /// The index of the next item.
    pub(super) fn next(&self) -> u64 {
        self.left_out + self.list.len() as u64
    }

    /// Adds an item.
    pub(super) fn push(&mut self, item: Item) {
        let index = self.next();
        self.bytes += item.bytes();
        self.list.push_back(item);
        self.bound(index);
    }

    fn at(&mut self, index: u64) -> Option<&mut Item> {
        let at = usize::try_from(index.checked_sub(self.left_out)?).ok()?;
        self.list.get_mut(at)
    }

    /// The item at that index.
    pub(super) fn get(&self, index: u64) -> Option<&Item> {
        self.list.get(usize::try_from(index.checked_sub(self.left_out)?).ok()?)
    }

    /// Changes what is known about an item.
    pub(super) fn update(&mut self, index: u64, change: impl FnOnce(&mut Item)) {
        let Some(item) = self.at(index) else { return };
        let before = item.bytes();
        change(item);
        let after = item.bytes();
        self.bytes = (self.bytes + after).saturating_sub(before);
        self.bound(index);
    }

    /// Changes what is known about a call.
    pub(super) fn update_call(&mut self, index: u64, change: impl FnOnce(&mut Call)) {
        self.update(index, |item| {
            if let Item::Call(call) = item {
                change(call);
            }
        });
    }

    /// Keeps the items within their bound after that one has changed.
    fn bound(&mut self, changed: u64) {
        if self.bytes <= HELD_BYTES {
            return;
        }
        let is_message = |item: &Item| matches!(item, Item::Message(_));
        // An item that was open when its turn came has its turn now.
        let passed = self.at(changed).map(|item| is_message(item));
        if passed.is_some_and(|is_message| changed < if is_message { self.messages } else { self.others }) {
            self.shorten(changed);
        }
        let end = self.next();
        for of_messages in [false, true] {
            let mut next = if of_messages { self.messages } else { self.others }.max(self.left_out);
            while next < end && self.bytes > HELD_BYTES {
                if self.at(next).is_some_and(|item| is_message(item) == of_messages) {
                    self.shorten(next);
                }
                next += 1;
            }
            *(if of_messages { &mut self.messages } else { &mut self.others }) = next;
        }
        while self.bytes > HELD_BYTES && self.list.front().is_some_and(|item| !item.is_open()) {
            let item = self.list.pop_front();
            self.bytes = self.bytes.saturating_sub(item.as_ref().map_or(0, Item::bytes));
            self.left_out += 1;
        }
    }

    fn shorten(&mut self, index: u64) {
        let Some(item) = self.at(index) else { return };
        let before = item.bytes();
        item.shorten();
        let after = item.bytes();
        self.bytes = (self.bytes + after).saturating_sub(before);
    }
}

/// An item of a response as JSON.
pub(super) struct Shown<'a> {
    pub(super) run: &'a Uuid,
    /// The server that executes the tools.
    pub(super) runner: &'static str,
    pub(super) index: u64,
    pub(super) item: &'a Item,
}

impl Data for Shown<'_> {
    fn fields(&self, map: &mut ObjectWriter<'_>) {
        map.text(key!("id"), &self.item.id(self.run, self.index));
        let status = if self.item.is_open() { "in_progress" } else { "completed" };
        match self.item {
            Item::Message(text) => {
                map.word(key!("type"), "message");
                map.word(key!("status"), status);
                map.word(key!("role"), "assistant");
                map.list(key!("content"), text.as_slice(), |map, text| output_text(text.get(), map));
            }
            Item::Reasoning(text) => {
                map.word(key!("type"), "reasoning");
                map.word(key!("status"), status);
                map.list(key!("summary"), text.as_slice(), |map, text| summary_text(text.get(), map));
            }
            Item::Call(call) => self.call(call, map),
            Item::Question(question) => {
                map.word(key!("type"), "mcp_approval_request");
                self.tool(&question.name, &question.arguments, map);
                map.text(key!("approval_id"), &question.approval_id);
                self.parent(question.parent, map);
            }
            Item::Answer(answer) => {
                map.word(key!("type"), "mcp_approval_response");
                map.text(key!("approval_request_id"), &id("mcpr", self.run, answer.question));
                map.entry(key!("approve"), &answer.approve);
                map.raw(key!("reason"), answer.reason.as_ref().map_or("null", |reason| reason.get()));
            }
        }
    }
}

impl Shown<'_> {
    fn call(&self, call: &Call, map: &mut ObjectWriter<'_>) {
        map.word(key!("type"), "mcp_call");
        map.word(
            key!("status"),
            match call.status {
                CallStatus::InProgress => "in_progress",
                CallStatus::Completed => "completed",
                CallStatus::Failed => "failed",
            },
        );
        match call.question {
            Some(question) => map.text(key!("approval_request_id"), &id("mcpr", self.run, question)),
            None => map.raw(key!("approval_request_id"), "null"),
        }
        self.tool(&call.name, &call.arguments, map);
        map.raw(key!("output"), call.output.as_ref().map_or("null", |output| output.get()));
        match &call.error {
            Some(error) => map.object(key!("error"), |map| {
                map.word(key!("type"), "mcp_tool_execution_error");
                map.list(key!("content"), &[error], |map, error| {
                    map.word(key!("type"), "text");
                    map.raw(key!("text"), error.get());
                });
            }),
            None => map.raw(key!("error"), "null"),
        }
        if !call.call_id.is_empty() {
            map.text(key!("call_id"), &call.call_id);
        }
        self.parent(call.parent, map);
    }

    fn tool(&self, name: &str, arguments: &Quoted, map: &mut ObjectWriter<'_>) {
        map.word(key!("server_label"), self.runner);
        map.text(key!("name"), name);
        map.raw(key!("arguments"), arguments.get());
    }

    fn parent(&self, parent: Option<u64>, map: &mut ObjectWriter<'_>) {
        if let Some(parent) = parent {
            map.text(key!("parent_item_id"), &id("mcp", self.run, parent));
        }
    }
}

/// The fields of a part with text; `text` is JSON.
pub(super) fn output_text(text: &str, map: &mut ObjectWriter<'_>) {
    map.word(key!("type"), "output_text");
    map.raw(key!("text"), text);
    map.raw(key!("annotations"), "[]");
    map.raw(key!("logprobs"), "[]");
}

/// The fields of a part of a summary; `text` is JSON.
pub(super) fn summary_text(text: &str, map: &mut ObjectWriter<'_>) {
    map.word(key!("type"), "summary_text");
    map.raw(key!("text"), text);
}
