//! A session's messages that are being written: which parts they have, and what was said of them.
//!
//! In: message and part ids. Out: the state of each part, and its place in its message. Never: a message or part that is
//! forgotten while it is open, memory that grows with the session.

use super::super::names::{self, NameMap};
use super::tools::Call;
use crate::frame::{Name, PlanEntry};
use crate::ledger::BlockKind;
use std::collections::VecDeque;

/// How many messages may be open at once; one that is left open beyond that counts as complete.
const OPEN: usize = 64;
/// How many complete messages are remembered, so that a late update of one is not taken for a new message.
const CLOSED: usize = 256;
/// From how many parts on a message forgets those that are complete.
const PARTS: usize = 4096;

/// The messages of one session.
#[derive(Debug, Default)]
pub(super) struct Talk {
    /// The assistant's open messages. There are rarely more than two.
    open: NameMap<Message>,
    begun: u64,
    /// Messages that gave way to newer ones, until their blocks are completed.
    left_open: Vec<Message>,
    /// The complete ones, oldest first.
    closed: VecDeque<Name>,
    /// How often each of them is among those.
    times_closed: NameMap<u32>,
    /// The plan that was told last.
    pub(super) plan: Vec<PlanEntry>,
}

/// A message of the assistant.
#[derive(Debug)]
pub(super) struct Message {
    /// Its id.
    pub(super) id: Name,
    order: u64,
    /// The model that writes it.
    pub(super) model: Option<Name>,
    /// Its text is the summary of a compaction, and no answer.
    pub(super) is_summary: bool,
    /// The summary, once it is whole.
    pub(super) summary: Option<String>,
    /// How many model requests began in it.
    pub(super) steps: u32,
    parts: NameMap<Part>,
    next_index: u32,
    forget_at: usize,
}

/// A part of a message.
#[derive(Debug)]
pub(super) struct Part {
    /// Its place in the message.
    pub(super) index: u32,
    /// What was said of it.
    pub(super) state: PartState,
}

/// What was said of a part.
#[derive(Debug)]
pub(super) enum PartState {
    /// Nothing yet.
    New,
    /// A block that is open.
    Block(BlockKind),
    /// A tool call.
    Tool(Box<Call>),
    /// Everything.
    Done,
}

impl Talk {
    /// The open message of this id.
    pub(super) fn get(&mut self, id: &str) -> Option<&mut Message> {
        self.open.get_mut(id)
    }

    /// The message of this id, opened if it is new.
    pub(super) fn message(&mut self, id: &str) -> &mut Message {
        if self.open.len() >= OPEN && !self.open.contains_key(id) {
            let oldest = self.open.values().min_by_key(|message| message.order).map(|message| message.id.clone());
            let oldest = oldest.and_then(|oldest| self.close(&oldest));
            self.left_open.extend(oldest);
        }
        let id = names::own(&self.open, id);
        self.begun += 1;
        let order = self.begun;
        self.open.entry(id.clone()).or_insert_with(|| Message::new(id, order))
    }

    /// Whether the message is complete, or is not the assistant's and was read.
    pub(super) fn is_closed(&self, id: &str) -> bool {
        self.times_closed.contains_key(id)
    }

    /// Closes a message; gives it if it was open.
    pub(super) fn close(&mut self, id: &str) -> Option<Message> {
        let message = self.open.remove(id)?;
        self.remember(message.id.clone());
        Some(message)
    }

    /// The messages that gave way to newer ones since this was last asked.
    pub(super) fn take_left_open(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.left_open)
    }

    /// Nothing more is read of a message.
    pub(super) fn remember(&mut self, id: Name) {
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

    /// Closes every message.
    pub(super) fn close_all(&mut self) {
        self.left_open.clear();
        for (id, _) in std::mem::take(&mut self.open) {
            self.remember(id);
        }
    }

    /// Whether every message that was begun is complete.
    pub(super) fn is_complete(&self) -> bool {
        self.open.is_empty()
    }

    /// The open messages, oldest first.
    pub(super) fn open(&mut self) -> Vec<&mut Message> {
        let mut open: Vec<_> = self.open.values_mut().collect();
        open.sort_unstable_by_key(|message| message.order);
        open
    }
}

impl Message {
    fn new(id: Name, order: u64) -> Self {
        Self {
            id,
            order,
            model: None,
            is_summary: false,
            summary: None,
            steps: 0,
            parts: NameMap::default(),
            next_index: 0,
            forget_at: PARTS,
        }
    }

    /// The part of this id, if it was announced.
    pub(super) fn known(&mut self, id: &str) -> Option<&mut Part> {
        self.parts.get_mut(id)
    }

    /// The part of this id, which gets the next place if it is new. A part without an id is always new.
    pub(super) fn part(&mut self, id: &str) -> &mut Part {
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
            Part { index, state: PartState::New }
        })
    }

    /// The open blocks in the order of their places; they count as done from now on.
    pub(super) fn take_blocks(&mut self) -> Vec<(u32, BlockKind)> {
        let mut blocks: Vec<_> = self
            .parts
            .values_mut()
            .filter_map(|part| match part.state {
                PartState::Block(kind) => {
                    part.state = PartState::Done;
                    Some((part.index, kind))
                }
                _ => None,
            })
            .collect();
        blocks.sort_unstable_by_key(|&(index, _)| index);
        blocks
    }
}
