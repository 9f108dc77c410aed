//! Where a thread's records are told, and what is remembered of its turn.
//!
//! In: what a surface understood. Out: calls on the ledger with the place and the scope of call ids filled in. Never:
//! anything that a surface alone knows, or memory that outlives the turn.

use super::super::names::NameMap;
use super::errors::Failure;
use crate::frame::{
    Body, FileChanged, LogLevel, Name, OutputStream, PlanEntry, RawJson, Tool, ToolCall, ToolKind, UsageScope,
};
use crate::json::Utf16Text;
use crate::ledger::{Block, BlockKind, Ledger, Place};
use std::borrow::Cow;
use std::collections::VecDeque;
use uuid::Uuid;

/// How many calls' names are kept at hand. More calls at a time only cost the time to name them again.
const AT_HAND: usize = 8;

/// What is remembered of a thread's turn.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// The plan that was told last.
    plan: Vec<PlanEntry>,
    /// The calls that were named last, each in its scope: what is told of one call comes together.
    tools: VecDeque<(Uuid, Tool)>,
    /// Outputs of which pieces came before the whole.
    streamed: NameMap<Streamed>,
    /// Searches of which only the beginning was told: it does not say what is searched.
    pub(super) searches: Vec<Name>,
    /// Arguments of edits that run, for the questions about them.
    pub(super) edits: NameMap<RawJson>,
    /// Blocks that are being written.
    blocks: Vec<(BlockKind, Name, u32)>,
    /// The error that was told last, so that the turn's end does not repeat it.
    fatal: Option<String>,
    /// Counts the messages, reasonings and prompts that have no id.
    pub(super) nameless: u32,
    /// Compactions, as items and as records of their own: each has one of them or both, in either order.
    compactions: (u32, u32),
}

/// Pieces of an output: how long they are, and what they are, without keeping them. Where the cuts between them were does
/// not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Streamed {
    bytes: usize,
    /// Of the whole words so far.
    hash: u64,
    /// The bytes behind them.
    word: u64,
}

impl Streamed {
    const EMPTY: Self = Self { bytes: 0, hash: 0xcbf2_9ce4_8422_2325, word: 0 };

    fn add(&mut self, piece: &str) {
        let to_word = (8 - self.bytes % 8) % 8;
        let (head, mut rest) = piece.as_bytes().split_at(to_word.min(piece.len()));
        head.iter().for_each(|&byte| self.byte(byte));
        while let Some((word, tail)) = rest.split_first_chunk() {
            self.fold(u64::from_le_bytes(*word));
            self.bytes += word.len();
            rest = tail;
        }
        rest.iter().for_each(|&byte| self.byte(byte));
    }

    fn byte(&mut self, byte: u8) {
        self.word |= u64::from(byte) << (self.bytes % 8 * 8);
        self.bytes += 1;
        if self.bytes.is_multiple_of(8) {
            let word = std::mem::take(&mut self.word);
            self.fold(word);
        }
    }

    fn fold(&mut self, word: u64) {
        let product = (self.hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.hash = product ^ (product >> 32);
    }

    fn is(&self, text: &str) -> bool {
        let mut other = Self::EMPTY;
        other.add(text);
        other == *self
    }
}

/// One record's view of the ledger.
pub(super) struct Stage<'l> {
    pub(super) ledger: &'l mut Ledger,
    pub(super) place: Place,
    /// Keeps equal call ids of different runs or sessions apart.
    pub(super) scope: Uuid,
    pub(super) turn: &'l mut Turn,
    /// How deep in the tree of subagents the thread is.
    pub(super) depth: u32,
}

impl Stage<'_> {
    pub(super) fn tool(&mut self, call_id: &str) -> Tool {
        let tools = &mut self.turn.tools;
        let at_hand = tools.iter().find(|(scope, tool)| *tool.call_id == *call_id && *scope == self.scope);
        if let Some((_, tool)) = at_hand {
            return tool.clone();
        }
        let tool = self.ledger.tool(self.scope, call_id);
        if tools.len() == AT_HAND {
            tools.pop_back();
        }
        tools.push_front((self.scope, tool.clone()));
        tool
    }

    pub(super) fn runs(&mut self, call_id: &str) -> bool {
        let tool = self.tool(call_id);
        self.ledger.tool_runs(self.place.stream, &tool)
    }

    /// A tool is called and runs: the proposal and the start, once.
    pub(super) fn begin(&mut self, call_id: &str, name: &str, kind: ToolKind, args: impl FnOnce() -> RawJson) {
        let tool = self.tool(call_id);
        if !self.ledger.is_open(self.place.stream) || self.ledger.tool_known(self.place.stream, &tool) {
            return;
        }
        let call = ToolCall { tool, name: Name::from(name), kind, args: args() };
        self.ledger.tool_proposed(self.place, call.clone());
        self.ledger.tool_started(self.place, call, None);
    }

    /// A piece of a running tool's output.
    pub(super) fn stream(&mut self, call_id: &str, piece: &str) {
        let tool = self.tool(call_id);
        if piece.is_empty() || !self.ledger.tool_runs(self.place.stream, &tool) {
            return;
        }
        match self.turn.streamed.get_mut(call_id) {
            Some(streamed) => streamed.add(piece),
            None => self.turn.streamed.entry(tool.call_id.clone()).or_insert(Streamed::EMPTY).add(piece),
        }
        self.ledger.tool_output(self.place, &tool, OutputStream::Stdout, piece);
    }

    pub(super) fn output(&mut self, call_id: &str, stream: OutputStream, chunk: impl Into<String> + AsRef<str>) {
        if !chunk.as_ref().is_empty() {
            let tool = self.tool(call_id);
            self.ledger.tool_output(self.place, &tool, stream, chunk);
        }
    }

    /// The whole output. What pieces said already is not said again; they may lack the beginning, which the runner does
    /// not stream.
    pub(super) fn whole_output(&mut self, call_id: &str, whole: Cow<'_, str>) {
        let Some(streamed) = self.turn.streamed.remove(call_id) else {
            self.output(call_id, OutputStream::Stdout, whole);
            return;
        };
        let Some(front) = whole.len().checked_sub(streamed.bytes) else { return };
        match whole.split_at_checked(front) {
            Some((_, "")) => {}
            Some((missing, said)) if streamed.is(said) => {
                if !missing.is_empty() {
                    let tool = self.tool(call_id);
                    self.ledger.tool_output_front(self.place, &tool, missing);
                }
                return;
            }
            _ => {}
        }
        if let Some((said, missing)) = whole.split_at_checked(streamed.bytes)
            && streamed.is(said)
        {
            self.output(call_id, OutputStream::Stdout, missing);
        }
    }

    pub(super) fn end(&mut self, call_id: &str, exit_code: i32, duration_ms: Option<u64>) {
        let tool = self.tool(call_id);
        self.turn.streamed.remove(call_id);
        self.ledger.tool_ended(self.place, &tool, exit_code, duration_ms, None);
    }

    pub(super) fn fail(&mut self, call_id: &str, error: impl Into<String>) {
        let tool = self.tool(call_id);
        self.turn.streamed.remove(call_id);
        self.ledger.tool_failed(self.place, &tool, error);
    }

    pub(super) fn say(&mut self, body: Body) {
        self.ledger.push(self.place, body);
    }

    pub(super) fn log(&mut self, level: LogLevel, message: impl Into<String>) {
        self.say(Body::LogEmitted { level, message: message.into() });
    }

    pub(super) fn file_changed(&mut self, change: FileChanged) {
        self.say(Body::FileChanged(Box::new(change)));
    }

    /// The whole plan; one that is repeated unchanged is not told again.
    pub(super) fn plan(&mut self, entries: Vec<PlanEntry>) {
        if self.turn.plan != entries {
            self.turn.plan.clone_from(&entries);
            self.say(Body::PlanUpdated { entries });
        }
    }

    /// The runner replaced a part of its history. Where it says so twice, it is told once.
    pub(super) fn compaction(&mut self, by_item: bool, summary: Option<String>) {
        let (items, records) = &mut self.turn.compactions;
        let (this, other) = if by_item { (items, records) } else { (records, items) };
        *this += 1;
        if *this > *other {
            self.say(Body::HistoryCompacted { trigger: None, tokens_before: None, tokens_after: None, summary });
        }
    }

    pub(super) fn usage(&mut self, tokens: super::usage::Tokens, scope: UsageScope, model: Option<Name>) {
        self.say(Body::UsageReported(Box::new(tokens.usage(scope, model))));
    }

    /// An error after which the turn ends; the turn's end often repeats it.
    pub(super) fn fatal(&mut self, failure: &Failure<'_>) {
        if self.turn.fatal.as_deref() != Some(&*failure.message) {
            self.turn.fatal = Some(failure.message.clone().into_owned());
            self.say(Body::ErrorReported(Box::new(failure.fatal())));
        }
    }

    /// The runner tries again: what was being written is abandoned without a word.
    pub(super) fn retry(&mut self, failure: &Failure<'_>) {
        for (kind, message_id, index) in std::mem::take(&mut self.turn.blocks) {
            let block = Block { kind, message_id: &message_id, index };
            if self.ledger.said(self.place, block).is_some() {
                self.ledger.cut(self.place, block, None);
            }
        }
        self.say(Body::ErrorReported(Box::new(failure.retry())));
    }

    /// A piece of a block.
    pub(super) fn delta(&mut self, block: Block<'_>, piece: Utf16Text) {
        if self.ledger.said(self.place, block).is_none() {
            self.turn.blocks.push((block.kind, Name::from(block.message_id), block.index));
        }
        self.ledger.delta(self.place, block, piece);
    }

    /// The whole of a block, so far: what its pieces did not say is said.
    pub(super) fn so_far(&mut self, block: Block<'_>, text: &str) {
        let said = self.ledger.said(self.place, block).unwrap_or_default();
        if let Some(more) = text.strip_prefix(said)
            && !more.is_empty()
        {
            self.delta(block, Utf16Text { low: None, text: more.to_owned(), high: None });
        }
    }

    /// A block is complete.
    pub(super) fn complete(&mut self, block: Block<'_>, text: &str, opaque: Option<RawJson>) {
        let open = |(kind, id, index): &(BlockKind, Name, u32)| {
            *kind == block.kind && *index == block.index && **id == *block.message_id
        };
        if let Some(at) = self.turn.blocks.iter().position(open) {
            self.turn.blocks.swap_remove(at);
        }
        self.ledger.complete(self.place, block, Some(text), opaque);
    }

    /// The turn is over: what was begun and never told is told now, so that nothing is left out.
    pub(super) fn end_of_turn(&mut self) {
        for call_id in std::mem::take(&mut self.turn.searches) {
            self.begin(&call_id, "web_search", ToolKind::Search, crate::json::empty_object);
        }
        *self.turn = Turn::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn an_output_is_known_again_however_it_was_cut(pieces in prop::collection::vec("[a-c\u{e9}]{0,20}", 0..8)) {
            let mut streamed = Streamed::EMPTY;
            pieces.iter().for_each(|piece| streamed.add(piece));
            let whole = pieces.concat();
            prop_assert_eq!(streamed.bytes, whole.len());
            prop_assert!(streamed.is(&whole));
            let longer = format!("{whole}x");
            prop_assert!(!streamed.is(&longer));
            if let Some(rest) = whole.strip_prefix('a') {
                let other = format!("b{rest}");
                prop_assert!(!streamed.is(&other));
            }
        }
    }
}
