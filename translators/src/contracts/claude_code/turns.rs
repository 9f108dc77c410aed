//! Model messages of the main thread.
//!
//! Input: turns, and what belongs to them. Output: the ids and stop reasons of model messages, and the stream events around their
//! blocks. Never: a message that ends before its blocks, except that a call's incomplete input is abandoned with its turn.

use super::blocks::OpenBlock;
use super::data::{Content, Delta, StreamEvent};
use super::encode::ClaudeCode;
use super::line::Text;
use super::words::StopReason;
use super::writer::Envelope;
use crate::encode::{Data, Events, Value, key};
use crate::frame::SharedStr;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The model message that is being written.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Message {
    pub(super) id: SharedStr,
    pub(super) model: SharedStr,
    /// The index of its next block.
    pub(super) next_index: u32,
    /// Its open blocks, which are streamed.
    pub(super) open: VecDeque<OpenBlock>,
    /// It has called tools.
    pub(super) has_calls: bool,
    /// A tool of the main thread has had its result since the message began.
    pub(super) is_answered: bool,
}

/// The id of the model message with that number, or of a message that belongs to none.
pub(super) fn message_id(uuid: &uuid::Uuid) -> SharedStr {
    SharedStr::from(format!("msg_{}", uuid.simple()))
}

impl ClaudeCode {
    pub(super) fn turn_started(&mut self, model: Option<&SharedStr>, out: &mut Events) {
        if let Some(model) = model.filter(|model| !model.is_empty()) {
            self.model = Some(model.clone());
        }
        self.begin_session(out);
        self.end_message(None, out);
    }

    pub(super) fn turn_ended(&mut self, stop_reason: Option<&str>, out: &mut Events) {
        if self.message.is_none() && self.partial && self.usage.is_pending() {
            // A turn without content is a message without blocks.
            self.begin_message(out);
        }
        if self.message.is_none() && stop_reason.is_some() {
            self.stop_reason = Some(StopReason::of(stop_reason, false));
        }
        self.end_message(stop_reason, out);
    }

    /// Begins a model message, unless one is open to more blocks.
    pub(super) fn begin_message(&mut self, out: &mut Events) {
        if self.message.as_ref().is_some_and(|message| message.is_answered && message.open.is_empty()) {
            self.end_message(None, out);
        }
        if self.message.is_some() {
            return;
        }
        self.begin_session(out);
        let id = message_id(&self.writer.derived("claude-code/message/", self.messages));
        self.messages += 1;
        let model = self.model();
        self.message = Some(Message {
            id: id.clone(),
            model: model.clone(),
            next_index: 0,
            open: VecDeque::new(),
            has_calls: false,
            is_answered: false,
        });
        self.stream_event(&StreamEvent::MessageStart { id: &id, model: &model }, out);
    }

    /// Ends the model message, unless a text of it is incomplete.
    pub(super) fn end_message(&mut self, stop_reason: Option<&str>, out: &mut Events) {
        self.abandon_inputs(out);
        let Some(message) = self.message.as_ref().filter(|message| message.open.is_empty()) else { return };
        let reason = StopReason::of(stop_reason, message.has_calls);
        self.stop_reason = Some(reason);
        if self.partial {
            let figures = self.usage.take_pending();
            let stop_reason = reason.as_str();
            self.stream_event(&StreamEvent::MessageDelta { stop_reason, figures: &figures }, out);
            self.stream_event(&StreamEvent::MessageStop, out);
        }
        self.message = None;
    }

    /// The run is over: reports calls whose message ended before their usage was known.
    pub(super) fn end_messages(&mut self, out: &mut Events) {
        let left: Vec<u32> =
            self.message.iter_mut().flat_map(|message| message.open.drain(..)).map(|block| block.index).collect();
        for index in left {
            self.stream_event(&StreamEvent::BlockStop { index }, out);
        }
        let last = self.stop_reason;
        if self.partial && self.usage.is_pending() {
            self.begin_message(out);
        }
        let is_empty = self.message.as_ref().is_some_and(|message| message.next_index == 0);
        self.end_message(None, out);
        if is_empty {
            self.stop_reason = last;
        }
    }

    /// Writes a stream event, if the reader asked for them.
    pub(super) fn stream_event(&mut self, event: &StreamEvent<'_>, out: &mut Events) {
        let Some(message) = self.message.as_ref().filter(|_| self.partial) else { return };
        self.writer.message("stream_event", Envelope::Thread(None), out, |map| {
            map.object(key!("event"), |map| event.fields(map));
            Text(&message.id).field(key!("api_message_id"), map);
        });
    }

    /// The index of the message's next block.
    pub(super) fn next_index(&mut self) -> u32 {
        let Some(message) = &mut self.message else { return 0 };
        let index = message.next_index;
        message.next_index += 1;
        index
    }

    /// Streams a whole block up to its end.
    pub(super) fn stream_whole(&mut self, start: Content<'_>, deltas: &[Delta<'_>], out: &mut Events) -> u32 {
        let index = self.next_index();
        self.stream_event(&StreamEvent::BlockStart { index, content: start }, out);
        for delta in deltas {
            self.stream_event(&StreamEvent::BlockDelta { index, delta: *delta }, out);
        }
        index
    }
}
