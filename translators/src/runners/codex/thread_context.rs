//! The context of a thread's records, and the state of its turn.
//!
//! Input: what a surface decoded. Output: calls on the normalizer, with the target and the scope of call ids filled in. Never:
//! knowledge specific to one surface; state that outlives the turn.

use super::super::names::NameMap;
use super::errors::Failure;
use super::usage::Tokens;
use crate::frame::{
    Body, Figures, FileChanged, LogLevel, OutputStream, PlanEntry, RawJson, SharedStr, Tool, ToolCall, ToolKind, Usage,
    UsageScope,
};
use crate::json::Utf16Text;
use crate::normalizer::{Block, BlockKind, Covers, Normalizer, Target};
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use uuid::Uuid;

/// The number of calls whose ids are cached. Further calls only cost the time to derive their ids again.
const AT_HAND: usize = 8;

/// The state of a thread's turn.
#[derive(Debug, Default)]
pub(super) struct Turn {
    /// The last reported plan.
    plan: Vec<PlanEntry>,
    /// The most recently named calls, with their scope. Records of one call usually arrive together.
    tools: VecDeque<(Uuid, Tool)>,
    /// Outputs whose deltas arrived before the whole.
    streamed: NameMap<StreamedOutput>,
    /// Searches that have started but not ended. The start does not contain the query, so the call is emitted with the end.
    pub(super) searches: Searches,
    /// Arguments of running edits. Approvals use them, and they supply the files that an edit's end leaves out.
    pub(super) edits: NameMap<RawJson>,
    /// Open blocks.
    blocks: Vec<(BlockKind, SharedStr, u32)>,
    /// The last reported error, so that the turn's end does not repeat it.
    fatal: Option<String>,
    /// The number of messages, reasonings and prompts without an id.
    pub(super) nameless: u32,
    /// The number of compactions that each kind of record reported, see [`CompactionRecord`].
    compactions: [u32; 3],
}

/// Searches that have started, in order.
#[derive(Debug, Default)]
pub(super) struct Searches {
    positions: NameMap<u64>,
    order: BTreeMap<u64, SharedStr>,
    next: u64,
}

impl Searches {
    /// Notes that a search has started. At most `most` searches are tracked.
    pub(super) fn begin(&mut self, id: &str, most: usize) {
        if self.positions.contains_key(id) || self.positions.len() >= most {
            return;
        }
        self.next += 1;
        let name = SharedStr::from(id);
        self.positions.insert(name.clone(), self.next);
        self.order.insert(self.next, name);
    }

    /// Removes a search that has ended.
    pub(super) fn end(&mut self, id: &str) {
        if let Some(position) = self.positions.remove(id) {
            self.order.remove(&position);
        }
    }

    fn into_ids(self) -> impl Iterator<Item = SharedStr> {
        self.order.into_values()
    }
}

/// The length and hash of the deltas of an output, so that they need not be kept. The hash does not depend on how the output
/// was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StreamedOutput {
    bytes: usize,
    /// The hash of all complete 8-byte words.
    hash: u64,
    /// The bytes after them.
    word: u64,
}

impl StreamedOutput {
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

/// Who requested a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Caller {
    Model,
    /// A person who typed a command.
    User,
}

impl Caller {
    /// Reads the `source` of a command, in any of its spellings.
    pub(super) fn of(source: Option<&str>) -> Self {
        if source.is_some_and(|source| super::snake(source) == "user_shell") { Self::User } else { Self::Model }
    }
}

/// The normalizer, with the context of one record.
pub(super) struct ThreadContext<'l> {
    pub(super) normalizer: &'l mut Normalizer,
    pub(super) target: Target,
    /// Separates equal call ids of different runs or sessions.
    pub(super) scope: Uuid,
    pub(super) turn: &'l mut Turn,
    /// The thread's depth in the tree of subagents.
    pub(super) depth: u32,
}

/// The kinds of records that report a compaction. Each compaction has one or more of them, in any order.
#[derive(Clone, Copy, Debug)]
pub(super) enum CompactionRecord {
    Item,
    /// An event, or a notification.
    Event,
    /// The line of a session file with the new history.
    History,
}

impl ThreadContext<'_> {
    pub(super) fn tool(&mut self, call_id: &str) -> Tool {
        let tools = &mut self.turn.tools;
        let at_hand = tools.iter().find(|(scope, tool)| *tool.call_id == *call_id && *scope == self.scope);
        if let Some((_, tool)) = at_hand {
            return tool.clone();
        }
        let tool = self.normalizer.newest_tool(self.target.stream, self.scope, call_id);
        if tools.len() == AT_HAND {
            tools.pop_back();
        }
        tools.push_front((self.scope, tool.clone()));
        tool
    }

    /// Handles the first mention of a call. It is a new one if an earlier call with the id is over.
    pub(super) fn first_mention(&mut self, call_id: &str) {
        let tool = self.tool(call_id);
        if self.normalizer.tool_known(self.target.stream, &tool) {
            self.normalizer.tool_of_new_call(self.target, self.scope, call_id);
            self.turn.tools.retain(|(scope, tool)| *tool.call_id != *call_id || *scope != self.scope);
        }
    }

    pub(super) fn runs(&mut self, call_id: &str) -> bool {
        let tool = self.tool(call_id);
        self.normalizer.tool_runs(self.target.stream, &tool)
    }

    /// Proposes and starts a tool call, once.
    pub(super) fn begin(&mut self, call_id: &str, name: &str, kind: ToolKind, args: impl FnOnce() -> RawJson) {
        self.begin_by(Caller::Model, call_id, name, kind, args);
    }

    /// As [`ThreadContext::begin`], but without a proposal if a person runs the tool.
    pub(super) fn begin_by(
        &mut self,
        caller: Caller,
        call_id: &str,
        name: &str,
        kind: ToolKind,
        args: impl FnOnce() -> RawJson,
    ) {
        let tool = self.tool(call_id);
        if !self.normalizer.is_open(self.target.stream) || self.normalizer.tool_known(self.target.stream, &tool) {
            return;
        }
        let call = ToolCall { tool, name: SharedStr::from(name), kind, args: args() };
        if caller == Caller::Model {
            self.normalizer.tool_proposed(self.target, call.clone());
        }
        self.normalizer.tool_started(self.target, call, None);
    }

    /// Reports a delta of a running tool's output.
    pub(super) fn stream(&mut self, call_id: &str, piece: &str) {
        let tool = self.tool(call_id);
        if piece.is_empty() || !self.normalizer.tool_runs(self.target.stream, &tool) {
            return;
        }
        let is_full = self.turn.streamed.len() >= self.normalizer.most_open();
        match self.turn.streamed.get_mut(call_id) {
            Some(streamed) => streamed.add(piece),
            None if is_full => {}
            None => self.turn.streamed.entry(tool.call_id.clone()).or_insert(StreamedOutput::EMPTY).add(piece),
        }
        self.normalizer.tool_output_tail(self.target, &tool, piece);
    }

    pub(super) fn output(&mut self, call_id: &str, stream: OutputStream, chunk: impl Into<String> + AsRef<str>) {
        if !chunk.as_ref().is_empty() {
            let tool = self.tool(call_id);
            self.normalizer.tool_output(self.target, &tool, stream, chunk);
        }
    }

    /// Reports a tool's whole output, without repeating the deltas. The deltas may lack the beginning, which the runner does
    /// not stream.
    pub(super) fn whole_output(&mut self, call_id: &str, whole: Cow<'_, str>) {
        let Some(streamed) = self.turn.streamed.remove(call_id) else {
            self.output(call_id, OutputStream::Stdout, whole);
            return;
        };
        let Some(front) = whole.len().checked_sub(streamed.bytes) else { return };
        match whole.split_at_checked(front) {
            Some((_, "")) => {}
            Some((missing, emitted)) if streamed.is(emitted) => {
                if !missing.is_empty() {
                    let tool = self.tool(call_id);
                    self.normalizer.tool_output_front(self.target, &tool, missing);
                }
                return;
            }
            _ => {}
        }
        if let Some((emitted, missing)) = whole.split_at_checked(streamed.bytes)
            && streamed.is(emitted)
        {
            self.output(call_id, OutputStream::Stdout, missing);
        }
    }

    pub(super) fn end(&mut self, call_id: &str, exit_code: i32, duration_ms: Option<u64>) {
        let tool = self.tool(call_id);
        self.turn.streamed.remove(call_id);
        self.normalizer.tool_ended(self.target, &tool, exit_code, duration_ms, None);
    }

    pub(super) fn fail(&mut self, call_id: &str, error: impl Into<String>) {
        let tool = self.tool(call_id);
        self.turn.streamed.remove(call_id);
        self.normalizer.tool_failed(self.target, &tool, error);
    }

    pub(super) fn emit(&mut self, body: Body) {
        self.normalizer.push(self.target, body);
    }

    pub(super) fn log(&mut self, level: LogLevel, message: impl Into<String>) {
        self.emit(Body::LogEmitted { level, message: message.into() });
    }

    pub(super) fn file_changed(&mut self, change: FileChanged) {
        self.emit(Body::FileChanged(Box::new(change)));
    }

    /// Reports the whole plan, unless it is unchanged.
    pub(super) fn plan(&mut self, entries: Vec<PlanEntry>) {
        if self.turn.plan != entries {
            self.turn.plan.clone_from(&entries);
            self.emit(Body::PlanUpdated { entries });
        }
    }

    /// Reports that the runner replaced part of its history. A compaction that is recorded twice is reported once.
    pub(super) fn compaction(&mut self, by: CompactionRecord, summary: Option<String>) {
        let known = self.turn.compactions.iter().copied().max().unwrap_or_default();
        let Some(count) = self.turn.compactions.get_mut(by as usize) else { return };
        *count = count.saturating_add(1);
        if *count > known {
            self.emit(Body::HistoryCompacted { trigger: None, tokens_before: None, tokens_after: None, summary });
        }
    }

    /// Reports the usage of a model call.
    pub(super) fn call_used(&mut self, tokens: Tokens, model: Option<SharedStr>) {
        self.normalizer.call_used(self.target, tokens.usage(UsageScope::Turn, model));
    }

    /// Reports the usage of the main thread's turn; `running` is the thread's running total after it.
    pub(super) fn run_used(&mut self, tokens: Tokens, model: Option<SharedStr>, running: Option<Box<Figures>>) {
        let usage = Usage { running, ..tokens.usage(UsageScope::Run, model) };
        self.normalizer.run_used(self.target.stream, usage, Covers::MainThread);
    }

    /// Reports an error that ends the turn. The turn's end often repeats it.
    pub(super) fn fatal(&mut self, failure: &Failure<'_>) {
        if self.turn.fatal.as_deref() != Some(&*failure.message) {
            self.turn.fatal = Some(failure.message.clone().into_owned());
            self.emit(Body::ErrorReported(Box::new(failure.fatal())));
        }
    }

    /// Reports a retry. The runner silently abandons the blocks that were being written, so they are cut off.
    pub(super) fn retry(&mut self, failure: &Failure<'_>) {
        for (kind, message_id, index) in std::mem::take(&mut self.turn.blocks) {
            let block = Block { kind, message_id: &message_id, index };
            if self.normalizer.text_so_far(self.target, block).is_some() {
                self.normalizer.cut(self.target, block, None);
            }
        }
        self.emit(Body::ErrorReported(Box::new(failure.retry())));
    }

    /// Adds a delta to a block.
    pub(super) fn delta(&mut self, block: Block<'_>, piece: Utf16Text) {
        if self.normalizer.text_so_far(self.target, block).is_none() {
            self.turn.blocks.push((block.kind, SharedStr::from(block.message_id), block.index));
        }
        self.normalizer.delta(self.target, block, piece);
    }

    /// Reports the undelivered rest of a block, given its text so far.
    pub(super) fn so_far(&mut self, block: Block<'_>, text: &str) {
        let emitted = self.normalizer.text_so_far(self.target, block).unwrap_or_default();
        if let Some(more) = text.strip_prefix(emitted)
            && !more.is_empty()
        {
            self.delta(block, Utf16Text { low: None, text: more.to_owned(), high: None });
        }
    }

    pub(super) fn complete(&mut self, block: Block<'_>, text: &str, opaque: Option<RawJson>) {
        let open = |(kind, id, index): &(BlockKind, SharedStr, u32)| {
            *kind == block.kind && *index == block.index && **id == *block.message_id
        };
        if let Some(at) = self.turn.blocks.iter().position(open) {
            self.turn.blocks.swap_remove(at);
        }
        self.normalizer.complete(self.target, block, Some(text), opaque);
    }

    /// Handles the end of the turn. Emits the searches whose end never arrived, so that nothing is lost.
    pub(super) fn end_of_turn(&mut self) {
        for call_id in std::mem::take(&mut self.turn.searches).into_ids() {
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
        fn an_output_is_recognised_in_any_chunking(pieces in prop::collection::vec("[a-c\u{e9}]{0,20}", 0..8)) {
            let mut streamed = StreamedOutput::EMPTY;
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
