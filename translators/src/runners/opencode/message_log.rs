//! The messages of a session: their parts, and what was reported of them.
//!
//! Input: message and part ids. Output: the state of each part, and its position in its message. Never: an open message or part
//! forgotten within the limits below; memory that grows with the session.
//!
//! A complete message keeps its parts for a while. A server serialises an update when the update is sent, so the end of a
//! message may arrive before its parts.

use super::super::names::{self, NameMap};
use super::answer::ClosedBlock;
use super::failure::Failure;
use super::tools::Call;
use crate::frame::{PlanEntry, SharedStr};
use crate::normalizer::BlockKind;
use std::collections::VecDeque;

/// The maximum number of open messages. Beyond it, the oldest open message counts as complete.
const OPEN: usize = 64;
/// The number of complete messages that are remembered, so that a late update of one is not taken for a new message.
const CLOSED: usize = 256;
/// The number of those that keep their parts. A late part is compared with what was reported of it.
const KEPT: usize = 16;
/// The number of parts at which a message forgets its complete parts.
const PARTS: usize = 4096;

/// The messages of one session.
#[derive(Debug, Default)]
pub(super) struct MessageLog {
    /// The assistant's messages: the open ones, rarely more than two, and the newest complete ones.
    messages: NameMap<Message>,
    open: usize,
    begun: u64,
    /// The complete ones among them, oldest first.
    kept: VecDeque<SharedStr>,
    /// Messages that newer ones displaced, until their blocks are completed.
    left_open: VecDeque<SharedStr>,
    /// All complete messages that are remembered, oldest first.
    closed: VecDeque<SharedStr>,
    /// How often each message occurs in `closed`.
    times_closed: NameMap<u32>,
    /// The last reported plan.
    pub(super) plan: Vec<PlanEntry>,
}

/// An assistant message.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) id: SharedStr,
    /// The position among the messages. Newer messages have greater values.
    pub(super) order: u64,
    /// The model that writes it.
    pub(super) model: Option<SharedStr>,
    /// Whether its text is the summary of a compaction, and not an answer.
    pub(super) is_summary: bool,
    /// The summary, once complete.
    pub(super) summary: Option<String>,
    /// The number of model requests that started in it.
    pub(super) steps: u32,
    /// Its end, if its first update already reported it. The content is still to come.
    pub(super) early: Option<EarlyEnd>,
    /// Whether it was broken off, so that no text of it is an answer.
    pub(super) failed: bool,
    stage: MessageStage,
    parts: NameMap<MessagePart>,
    next_index: u32,
    forget_at: usize,
}

/// The stage of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MessageStage {
    /// It is being written.
    Open,
    /// It is complete. Late parts are still reported.
    Complete,
    /// Its run is over too.
    Over,
}

/// The end of a message, reported together with its start.
#[derive(Debug)]
pub(super) struct EarlyEnd {
    /// The failure that ended it; `None` if it succeeded.
    pub(super) failure: Option<Failure>,
}

/// A part of a message.
#[derive(Debug)]
pub(super) struct MessagePart {
    /// Its position in the message.
    pub(super) index: u32,
    /// How much of it was reported.
    pub(super) state: PartState,
}

/// How much of a part was reported.
#[derive(Debug)]
pub(super) enum PartState {
    /// Nothing.
    New,
    /// An open block.
    Block(BlockKind),
    /// A block that was closed before its whole text arrived.
    Left(ClosedBlock),
    Tool(Box<Call>),
    /// Everything.
    Done,
}

impl MessageLog {
    /// The message with this id, whether open or kept.
    pub(super) fn get(&mut self, id: &str) -> Option<&mut Message> {
        self.messages.get_mut(id)
    }

    /// The message with this id, opened if it is new.
    pub(super) fn message(&mut self, id: &str) -> &mut Message {
        let is_new = !self.messages.contains_key(id);
        if is_new && self.open >= OPEN {
            let open = self.messages.values().filter(|message| message.stage == MessageStage::Open);
            let oldest = open.min_by_key(|message| message.order).map(|message| message.id.clone());
            if let Some(oldest) = oldest {
                self.close(&oldest);
                if self.left_open.len() == KEPT {
                    self.left_open.pop_front();
                }
                self.left_open.push_back(oldest);
            }
        }
        self.open += usize::from(is_new);
        self.begun += 1;
        let order = self.begun;
        let id = names::own(&self.messages, id);
        self.messages.entry(id.clone()).or_insert_with(|| Message::new(id, order))
    }

    /// Whether the message is complete, or is a user message that was read.
    pub(super) fn is_closed(&self, id: &str) -> bool {
        self.times_closed.contains_key(id)
    }

    /// Whether the message can no longer be reported on: its run is over, or it was completed long ago.
    pub(super) fn is_past(&self, id: &str) -> bool {
        self.messages.get(id).map_or_else(|| self.is_closed(id), |message| message.stage == MessageStage::Over)
    }

    /// Closes a message. Returns it if it was open.
    pub(super) fn close(&mut self, id: &str) -> Option<&mut Message> {
        let message = self.messages.get_mut(id).filter(|message| message.stage == MessageStage::Open)?;
        (message.stage, message.early) = (MessageStage::Complete, None);
        let id = message.id.clone();
        self.open -= 1;
        self.keep(id.clone());
        self.messages.get_mut(&id)
    }

    /// Closes and removes a message.
    pub(super) fn remove(&mut self, id: &str) {
        self.close(id);
        if let Some(message) = self.messages.remove(id) {
            self.kept.retain(|kept| *kept != message.id);
        }
    }

    /// Keeps a complete message. Drops the oldest one beyond `KEPT`.
    fn keep(&mut self, id: SharedStr) {
        if self.kept.len() == KEPT
            && let Some(oldest) = self.kept.pop_front()
        {
            self.messages.remove(&oldest);
        }
        self.kept.push_back(id.clone());
        self.remember(id);
    }

    /// Takes the messages that newer ones displaced since the last call.
    pub(super) fn take_left_open(&mut self) -> VecDeque<SharedStr> {
        std::mem::take(&mut self.left_open)
    }

    /// Takes the end of the oldest message whose end was reported with its start.
    pub(super) fn take_early(&mut self) -> Option<(SharedStr, EarlyEnd)> {
        let open = self.messages.values_mut().filter(|message| message.early.is_some());
        let message = open.min_by_key(|message| message.order)?;
        Some((message.id.clone(), message.early.take()?))
    }

    /// Forgets the ends that were reported with the start of a message, because another update follows for those messages.
    pub(super) fn forget_early(&mut self) {
        self.messages.values_mut().for_each(|message| message.early = None);
    }

    /// Remembers that a message is complete.
    pub(super) fn remember(&mut self, id: SharedStr) {
        if self.closed.len() == CLOSED
            && let Some(oldest) = self.closed.pop_front()
            && let Some(times) = self.times_closed.get_mut(&oldest)
        {
            *times -= 1;
            if *times == 0 {
                self.times_closed.remove(&oldest);
            }
        }
        *self.times_closed.entry(id.clone()).or_default() += 1;
        self.closed.push_back(id);
    }

    /// Closes every message, because their run is over.
    pub(super) fn close_all(&mut self) {
        self.left_open.clear();
        let open: Vec<SharedStr> = self.open().iter().map(|message| message.id.clone()).collect();
        for id in open {
            self.close(&id);
        }
        self.messages.values_mut().for_each(|message| message.stage = MessageStage::Over);
    }

    /// Whether every message that started is complete.
    pub(super) fn is_complete(&self) -> bool {
        self.open == 0
    }

    /// The open messages, oldest first.
    pub(super) fn open(&mut self) -> Vec<&mut Message> {
        self.at(MessageStage::Open)
    }

    /// The complete messages that may still receive parts, oldest first.
    pub(super) fn complete(&mut self) -> Vec<&mut Message> {
        self.at(MessageStage::Complete)
    }

    fn at(&mut self, stage: MessageStage) -> Vec<&mut Message> {
        let mut found: Vec<_> = self.messages.values_mut().filter(|message| message.stage == stage).collect();
        found.sort_unstable_by_key(|message| message.order);
        found
    }
}

impl Message {
    fn new(id: SharedStr, order: u64) -> Self {
        Self {
            id,
            order,
            model: None,
            is_summary: false,
            summary: None,
            steps: 0,
            early: None,
            failed: false,
            stage: MessageStage::Open,
            parts: NameMap::default(),
            next_index: 0,
            forget_at: PARTS,
        }
    }

    /// The part with this id, if it was announced.
    pub(super) fn known(&mut self, id: &str) -> Option<&mut MessagePart> {
        self.parts.get_mut(id)
    }

    /// The part with this id, which gets the next position if it is new. A part without an id is always new.
    pub(super) fn part(&mut self, id: &str) -> &mut MessagePart {
        if id.is_empty() {
            self.parts.remove("");
        }
        if self.parts.len() >= self.forget_at {
            self.parts.retain(|_, part| !matches!(part.state, PartState::Done));
            self.forget_at = PARTS.max(self.parts.len() * 2);
        }
        let next_index = &mut self.next_index;
        let id = names::own(&self.parts, id);
        self.parts.entry(id).or_insert_with(|| {
            let index = *next_index;
            *next_index = next_index.saturating_add(1);
            MessagePart { index, state: PartState::New }
        })
    }

    /// Forgets calls that no longer run: the normalizer closed them because too many were open.
    pub(super) fn forget_calls(&mut self, most: usize, runs: impl Fn(&Call) -> bool) {
        if self.parts.len() < self.forget_at.max(most) {
            return;
        }
        self.parts.retain(|_, part| match &part.state {
            PartState::Done => false,
            PartState::Tool(call) => !call.started || runs(call),
            _ => true,
        });
        self.forget_at = PARTS.max(self.parts.len() * 2);
    }

    /// The parts with open blocks, in the order of their positions.
    pub(super) fn blocks(&mut self) -> Vec<&mut MessagePart> {
        let is_open = |part: &&mut MessagePart| matches!(part.state, PartState::Block(_));
        let mut blocks: Vec<_> = self.parts.values_mut().filter(is_open).collect();
        blocks.sort_unstable_by_key(|part| part.index);
        blocks
    }
}
