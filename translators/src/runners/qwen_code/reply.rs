//! The reply of one model call: its blocks, which arrive as stream events, as `assistant` records, or as both.
//!
//! Input: what events and records say about blocks. Output: texts and reasoning, each once. A reply consists of several `assistant`
//! records with ids of their own, and the wire's block indexes start at 0 in each; the frames have the id of the first record, and
//! indexes that count on. Never: a text that the runner abandoned, or that an interruption cut off, taken for the answer; the text
//! of an error of the API emitted as the assistant's text.
//!
//! A record does not say whether its text is complete. That shows in the next one, so a text without final figures stays open until
//! then. The same holds for the end of a text that looks like an error: it is withheld until the result confirms the error or
//! another record refutes it.

use super::decoder::Qwen;
use crate::frame::{SharedStr, Tool};
use crate::json::Utf16Text;
use crate::normalizer::{Block, BlockKind, Normalizer, Target};
use crate::sequence::StreamKey;
use uuid::Uuid;

/// How the runner begins the text of an error of the API.
const API_ERROR: &str = "[API Error: ";

/// The maximum size of what is withheld, in bytes. A longer text is no error of the API.
const MOST_WITHHELD: usize = 64 << 10;

/// The maximum number of streamed blocks of one record. Beyond it, a new block displaces the oldest.
const MOST_BLOCKS: usize = 256;

/// The maximum number of speakers with an open reply. Deltas of further ones are left to their whole records.
const MOST_SPEAKERS: usize = 256;

/// What became of a text whose record has ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate<'a> {
    /// It is complete.
    Complete,
    /// The runner abandoned it, or it was cut off.
    Cut,
    /// The run failed with this message, which may be the end of the text.
    Failed(&'a str),
}

/// What a block holds.
#[derive(Debug)]
pub(super) enum Content {
    Text,
    Reasoning,
    Tool { tool: Tool, name: SharedStr },
}

impl Content {
    fn kind(&self) -> Option<BlockKind> {
        match self {
            Self::Text => Some(BlockKind::Text),
            Self::Reasoning => Some(BlockKind::Reasoning),
            Self::Tool { .. } => None,
        }
    }
}

/// A streamed block.
#[derive(Debug)]
struct StreamedBlock {
    /// Its index on the wire.
    wire: u32,
    /// Its index in frames.
    index: u32,
    content: Content,
    withheld: Withheld,
}

/// The end of a text that may be an error.
#[derive(Debug, Default)]
struct Withheld {
    pieces: Vec<Utf16Text>,
    bytes: usize,
}

impl Withheld {
    fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    fn push(&mut self, piece: Utf16Text) {
        // A piece may be half of a surrogate pair alone.
        self.bytes += piece.text.len() + 2;
        self.pieces.push(piece);
    }

    fn text(&self) -> String {
        let mut half = None;
        self.pieces.iter().map(|piece| piece.clone().after(&mut half)).collect()
    }

    fn release(self, target: Target, block: Block<'_>, normalizer: &mut Normalizer) {
        for piece in self.pieces {
            normalizer.delta(target, block, piece);
        }
    }
}

/// A text whose record has ended, until its fate shows.
#[derive(Debug)]
struct PendingText {
    index: u32,
    withheld: Withheld,
    /// The whole text, if the deltas did not contain all of it.
    whole: Option<String>,
}

/// A reply.
#[derive(Debug)]
pub(super) struct Reply {
    /// The id of its first record.
    id: SharedStr,
    /// The index of the next block in frames.
    next_index: u32,
    streamed: Vec<StreamedBlock>,
    pending: Option<PendingText>,
    /// Its last record has arrived: the one with the figures.
    is_over: bool,
    /// Whether it asked for a call.
    pub(super) has_calls: bool,
}

impl Reply {
    fn new(id: &str) -> Self {
        Self {
            id: SharedStr::from(id),
            next_index: 0,
            streamed: Vec::new(),
            pending: None,
            is_over: false,
            has_calls: false,
        }
    }

    /// Whether it asked for no call, and nothing in it is open.
    pub(super) fn is_answered(&self) -> bool {
        !self.has_calls && self.pending.is_none()
    }

    fn next_index(&mut self) -> u32 {
        let index = self.next_index;
        self.next_index = index.saturating_add(1);
        index
    }

    /// Takes the streamed block that a whole block of this kind ends.
    fn take(&mut self, kind: BlockKind) -> Option<StreamedBlock> {
        let at = self.streamed.iter().position(|block| block.content.kind() == Some(kind))?;
        Some(self.streamed.remove(at))
    }

    /// Forgets the streamed block of a call.
    pub(super) fn forget_call(&mut self, call_id: &str) {
        self.streamed
            .retain(|block| !matches!(&block.content, Content::Tool { tool, .. } if *tool.call_id == *call_id));
    }
}

impl Qwen {
    /// The reply that a speaker is writing.
    pub(super) fn reply(&mut self, target: Target) -> Option<&mut Reply> {
        self.runs.run(target.stream)?.replies.get_mut(&target.parent)
    }

    /// Begins a reply; on the main thread it is a turn. A reply that is still open ends.
    pub(super) fn begin_reply(
        &mut self,
        target: Target,
        id: &str,
        model: Option<SharedStr>,
        normalizer: &mut Normalizer,
    ) {
        self.leave(target, Fate::Complete, normalizer);
        let Some(run) = self.runs.run(target.stream) else { return };
        if run.replies.len() >= MOST_SPEAKERS {
            return;
        }
        run.replies.insert(target.parent, Reply::new(id));
        if target.parent.is_none() {
            self.runs.begin_turn(normalizer, target.stream, model);
        }
    }

    /// Begins a reply with a record, unless the record continues one.
    pub(super) fn continue_reply(
        &mut self,
        target: Target,
        id: &str,
        model: Option<SharedStr>,
        normalizer: &mut Normalizer,
    ) {
        if self.reply(target).is_none_or(|reply| reply.is_over) {
            self.begin_reply(target, id, model, normalizer);
        }
    }

    /// Begins a streamed block.
    pub(super) fn block_starts(&mut self, target: Target, wire: u32, content: Content, normalizer: &mut Normalizer) {
        self.settle(target, Fate::Complete, normalizer);
        let Some(reply) = self.reply(target) else { return };
        let before = reply.streamed.iter().position(|block| block.wire == wire);
        let before = before.or((reply.streamed.len() == MOST_BLOCKS).then_some(0));
        let before = before.map(|at| reply.streamed.remove(at));
        let index = reply.next_index();
        reply.streamed.push(StreamedBlock { wire, index, content, withheld: Withheld::default() });
        let id = reply.id.clone();
        if let Some(before) = before {
            close(target, &id, before, normalizer);
        }
    }

    /// Adds a piece to a streamed block.
    pub(super) fn block_grows(&mut self, target: Target, wire: u32, piece: Utf16Text, normalizer: &mut Normalizer) {
        let Some(reply) = self.reply(target) else { return };
        let id = reply.id.clone();
        let Some(block) = reply.streamed.iter_mut().rev().find(|block| block.wire == wire) else { return };
        if piece.text.is_empty() && piece.low.is_none() && piece.high.is_none() {
            return;
        }
        let index = block.index;
        match &block.content {
            Content::Text => {
                let at = Block::text(&id, index);
                if block.withheld.is_empty() && !piece.text.starts_with(API_ERROR) {
                    return normalizer.delta(target, at, piece);
                }
                block.withheld.push(piece);
                if block.withheld.bytes > MOST_WITHHELD {
                    std::mem::take(&mut block.withheld).release(target, at, normalizer);
                }
            }
            Content::Reasoning => normalizer.delta(target, Block::reasoning(&id, index), piece),
            Content::Tool { tool, name } => {
                let (tool, name) = (tool.clone(), name.clone());
                normalizer.tool_input(target, &tool, &name, piece);
            }
        }
    }

    /// Handles the whole text of a block. `is_final` says that the model call is known to be complete.
    pub(super) fn whole_text(&mut self, target: Target, text: &str, is_final: bool, normalizer: &mut Normalizer) {
        self.settle(target, Fate::Complete, normalizer);
        let Some(reply) = self.reply(target) else { return };
        let id = reply.id.clone();
        let (index, mut withheld, is_streamed) = match reply.take(BlockKind::Text) {
            Some(block) => (block.index, block.withheld, true),
            None => (reply.next_index(), Withheld::default(), false),
        };
        let block = Block::text(&id, index);
        let (mut whole, mut is_settled) = (None, is_final);
        if is_streamed {
            let said = normalizer.text_so_far(target, block).unwrap_or_default().to_owned() + &withheld.text();
            if said != text {
                whole = Some(text.to_owned());
                // A contradiction is an error of this record.
                is_settled |= !text.starts_with(&said);
            }
        } else {
            let (said, error) = split_error(text);
            if !said.is_empty() {
                normalizer.delta(target, block, whole_piece(said));
            }
            if !error.is_empty() {
                withheld.push(whole_piece(error));
            }
        }
        is_settled &= withheld.is_empty();
        let pending = PendingText { index, withheld, whole };
        if let Some(reply) = self.reply(target) {
            reply.pending = Some(pending);
        }
        if is_settled {
            self.settle(target, Fate::Complete, normalizer);
        }
    }

    /// Handles the whole reasoning of a block.
    pub(super) fn whole_reasoning(&mut self, target: Target, text: &str, normalizer: &mut Normalizer) {
        self.settle(target, Fate::Complete, normalizer);
        let Some(reply) = self.reply(target) else { return };
        let index = reply.take(BlockKind::Reasoning).map_or_else(|| reply.next_index(), |block| block.index);
        let id = reply.id.clone();
        normalizer.complete(target, Block::reasoning(&id, index), Some(text), None);
    }

    /// The record is over: blocks that it should have ended will never end. `is_last` says that the reply has no more records.
    pub(super) fn record_ends(&mut self, target: Target, is_last: bool, normalizer: &mut Normalizer) {
        let Some(reply) = self.reply(target) else { return };
        reply.is_over |= is_last;
        let (id, left) = (reply.id.clone(), std::mem::take(&mut reply.streamed));
        for block in left {
            close(target, &id, block, normalizer);
        }
    }

    /// Ends the text whose record has ended.
    pub(super) fn settle(&mut self, target: Target, fate: Fate<'_>, normalizer: &mut Normalizer) {
        let Some(reply) = self.reply(target) else { return };
        let Some(PendingText { index, mut withheld, whole }) = reply.pending.take() else { return };
        let id = reply.id.clone();
        let block = Block::text(&id, index);
        let mut is_error = false;
        if let Fate::Failed(error) = fate
            && let Some(said) = withheld.text().strip_suffix(error).filter(|_| !withheld.is_empty())
        {
            is_error = true;
            withheld = Withheld::default();
            if !said.is_empty() {
                withheld.push(whole_piece(said));
            }
        }
        withheld.release(target, block, normalizer);
        match fate {
            Fate::Complete => {
                normalizer.complete(target, block, whole.as_deref(), None);
            }
            // The whole text ends with the error.
            _ if is_error && normalizer.text_so_far(target, block).is_none() => {}
            _ => normalizer.cut(target, block, whole.as_deref().filter(|_| !is_error)),
        }
    }

    /// Ends the speaker's reply.
    pub(super) fn leave(&mut self, target: Target, fate: Fate<'_>, normalizer: &mut Normalizer) {
        self.settle(target, fate, normalizer);
        let Some(reply) = self.runs.run(target.stream).and_then(|run| run.replies.remove(&target.parent)) else {
            return;
        };
        for block in reply.streamed {
            close(target, &reply.id, block, normalizer);
        }
    }

    /// Ends all replies of a run.
    pub(super) fn leave_all(&mut self, key: StreamKey, fate: Fate<'_>, normalizer: &mut Normalizer) {
        let Some(run) = self.runs.run(key) else { return };
        let mut speakers: Vec<Option<Uuid>> = run.replies.keys().copied().collect();
        speakers.sort_unstable();
        for parent in speakers {
            self.leave(Target { stream: key, parent }, fate, normalizer);
        }
    }
}

/// Closes a streamed block whose record has not arrived.
fn close(target: Target, id: &str, block: StreamedBlock, normalizer: &mut Normalizer) {
    let Some(kind) = block.content.kind() else { return };
    let at = Block { kind, message_id: id, index: block.index };
    block.withheld.release(target, at, normalizer);
    if normalizer.text_so_far(target, at).is_some() {
        normalizer.cut(target, at, None);
    }
}

/// Divides a text into what the model said and what may be an error after it.
fn split_error(text: &str) -> (&str, &str) {
    let fits = |at: &usize| text.len() - at <= MOST_WITHHELD;
    let at = text.find(API_ERROR).filter(fits).or_else(|| text.rfind(API_ERROR).filter(fits));
    at.and_then(|at| text.split_at_checked(at)).unwrap_or((text, ""))
}

fn whole_piece(text: &str) -> Utf16Text {
    Utf16Text { low: None, text: text.to_owned(), high: None }
}
