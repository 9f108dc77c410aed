//! A session's messages that are being written: which parts they have, and what was said of them.
//!
//! In: message and part ids. Out: the state of each part, and its place in its message. Never: a message or part that is
//! forgotten while it is open, memory that grows with the session.
//!
//! A message that is complete keeps its parts for a while: a server writes an update down when its turn to be sent comes, so
//! that its end may be told ahead of its parts.

use super::super::names::{self, NameMap};
use super::answer::Left;
use super::failure::Failure;
use super::tools::Call;
use crate::frame::{Name, PlanEntry};
use crate::ledger::BlockKind;
use std::collections::VecDeque;

/// How many messages may be open at once; one that is left open beyond that counts as complete.
const OPEN: usize = 64;
/// How many complete messages are remembered, so that a late update of one is not taken for a new message.
const CLOSED: usize = 256;
/// How many of these keep their parts, so that what is new in a late part is known from what was told.
const KEPT: usize = 16;
/// From how many parts on a message forgets those that are complete.
const PARTS: usize = 4096;

/// The messages of one session.
#[derive(Debug, Default)]
pub(super) struct Talk {
    /// The assistant's messages: the open ones, of which there are rarely more than two, and the newest of the complete ones.
    messages: NameMap<Message>,
    open: usize,
    begun: u64,
    /// The complete ones among them, oldest first.
    kept: VecDeque<Name>,
    /// Messages that gave way to newer ones, until their blocks are completed.
    left_open: VecDeque<Name>,
    /// Every message that is complete, oldest first.
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
    /// Newer messages have greater ones.
    pub(super) order: u64,
    /// The model that writes it.
    pub(super) model: Option<Name>,
    /// Its text is the summary of a compaction, and no answer.
    pub(super) is_summary: bool,
    /// The summary, once it is whole.
    pub(super) summary: Option<String>,
    /// How many model requests began in it.
    pub(super) steps: u32,
    /// How it ends, where its first update said so already. What it holds is still to come.
    pub(super) early: Option<Early>,
    /// It was broken off, so that no text of it is an answer.
    pub(super) failed: bool,
    stage: Stage,
    parts: NameMap<Part>,
    next_index: u32,
    forget_at: usize,
}

/// How far a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It is being written.
    Open,
    /// It is complete. Where a part of it still comes, it is told.
    Complete,
    /// So is its run.
    Over,
}

/// The end of a message that was told with its beginning.
#[derive(Debug)]
pub(super) struct Early {
    /// What went wrong.
    pub(super) failure: Option<Failure>,
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
    /// A block that was closed before its whole text came.
    Left(Left),
    /// A tool call.
    Tool(Box<Call>),
    /// Everything.
    Done,
}

impl Talk {
    /// The message of this id, whether open or kept.
    pub(super) fn get(&mut self, id: &str) -> Option<&mut Message> {
        self.messages.get_mut(id)
    }

    /// The message of this id, opened if it is new.
    pub(super) fn message(&mut self, id: &str) -> &mut Message {
        let is_new = !self.messages.contains_key(id);
        if is_new && self.open >= OPEN {
            let open = self.messages.values().filter(|message| message.stage == Stage::Open);
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

    /// Whether the message is complete, or is not the assistant's and was read.
    pub(super) fn is_closed(&self, id: &str) -> bool {
        self.times_closed.contains_key(id)
    }

    /// Whether nothing is told of the message any more: its run is over, or it is long complete.
    pub(super) fn is_past(&self, id: &str) -> bool {
        self.messages.get(id).map_or_else(|| self.is_closed(id), |message| message.stage == Stage::Over)
    }

    /// Closes a message; gives it if it was open.
    pub(super) fn close(&mut self, id: &str) -> Option<&mut Message> {
        let message = self.messages.get_mut(id).filter(|message| message.stage == Stage::Open)?;
        (message.stage, message.early) = (Stage::Complete, None);
        let id = message.id.clone();
        self.open -= 1;
        self.keep(id.clone());
        self.messages.get_mut(&id)
    }

    /// Nothing more is read of a message.
    pub(super) fn remove(&mut self, id: &str) {
        self.close(id);
        if let Some(message) = self.messages.remove(id) {
            self.kept.retain(|kept| *kept != message.id);
        }
    }

    /// A message that is complete.
    fn keep(&mut self, id: Name) {
        if self.kept.len() == KEPT
            && let Some(oldest) = self.kept.pop_front()
        {
            self.messages.remove(&oldest);
        }
        self.kept.push_back(id.clone());
        self.remember(id);
    }

    /// The messages that gave way to newer ones since this was last asked.
    pub(super) fn take_left_open(&mut self) -> VecDeque<Name> {
        std::mem::take(&mut self.left_open)
    }

    /// The oldest open message whose end was told with its beginning, and that end.
    pub(super) fn take_early(&mut self) -> Option<(Name, Early)> {
        let open = self.messages.values_mut().filter(|message| message.early.is_some());
        let message = open.min_by_key(|message| message.order)?;
        Some((message.id.clone(), message.early.take()?))
    }

    /// Messages whose end was told with their beginning have another update before them.
    pub(super) fn forget_early(&mut self) {
        self.messages.values_mut().for_each(|message| message.early = None);
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

    /// Closes every message: their run is over.
    pub(super) fn close_all(&mut self) {
        self.left_open.clear();
        let open: Vec<Name> = self.open().iter().map(|message| message.id.clone()).collect();
        for id in open {
            self.close(&id);
        }
        self.messages.values_mut().for_each(|message| message.stage = Stage::Over);
    }

    /// Whether every message that was begun is complete.
    pub(super) fn is_complete(&self) -> bool {
        self.open == 0
    }

    /// The open messages, oldest first.
    pub(super) fn open(&mut self) -> Vec<&mut Message> {
        self.at(Stage::Open)
    }

    /// The complete messages of which something may still come, oldest first.
    pub(super) fn complete(&mut self) -> Vec<&mut Message> {
        self.at(Stage::Complete)
    }

    fn at(&mut self, stage: Stage) -> Vec<&mut Message> {
        let mut found: Vec<_> = self.messages.values_mut().filter(|message| message.stage == stage).collect();
        found.sort_unstable_by_key(|message| message.order);
        found
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
            early: None,
            failed: false,
            stage: Stage::Open,
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

    /// The parts whose blocks are open, in the order of their places.
    pub(super) fn blocks(&mut self) -> Vec<&mut Part> {
        let is_open = |part: &&mut Part| matches!(part.state, PartState::Block(_));
        let mut blocks: Vec<_> = self.parts.values_mut().filter(is_open).collect();
        blocks.sort_unstable_by_key(|part| part.index);
        blocks
    }
}
