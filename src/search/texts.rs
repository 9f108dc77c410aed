//! The texts of a stream that can be found.
//!
//! Input: the frames of one stream, in order. Output: prompts, answers, reasoning, tool inputs, tool outputs and errors, each with the frames
//! that have it. Never: a record of a runner (its texts are in the other frames); the text of one frame twice; more than a bounded number of
//! bytes of outputs that are still open.

use framegate_translators::frame::{Body, Frame, TaskEvent};
use framegate_translators::json::{Json, Kind as JsonKind};
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// The size at which a part of an output is found on its own, in bytes.
const PIECE_BYTES: usize = 16 << 10;

/// How many frames a part of an output spans at most.
const PIECE_FRAMES: u64 = 512;

/// How many outputs of a stream are open at most; all parts end when there are more.
const MOST_OPEN: usize = 256;

/// How deep in the arguments of a call texts are looked for.
const DEPTH: usize = 64;

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// What a person, or a program in their place, asked.
    Prompt,
    /// What the assistant said.
    Answer,
    /// What the model thought.
    Reasoning,
    /// The arguments of a tool call.
    ToolInput,
    /// What a tool or a background task printed or returned.
    ToolOutput,
    /// What went wrong.
    Error,
}

impl Kind {
    /// Every kind, in the order of their numbers in an index.
    pub const ALL: [Self; 6] =
        [Self::Prompt, Self::Answer, Self::Reasoning, Self::ToolInput, Self::ToolOutput, Self::Error];

    /// Reads a list of names, separated by commas; empty for all.
    ///
    /// # Errors
    /// A name is unknown.
    pub fn list(text: &str) -> Result<Vec<Self>, String> {
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        let kind = |name: &str| {
            let found = Self::ALL.into_iter().find(|kind| kind.as_str() == name);
            found.ok_or_else(|| crate::config::unknown("kind", name, Self::ALL.into_iter().map(Self::as_str)))
        };
        names.map(kind).collect()
    }

    /// Its name in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Answer => "answer",
            Self::Reasoning => "reasoning",
            Self::ToolInput => "tool_input",
            Self::ToolOutput => "tool_output",
            Self::Error => "error",
        }
    }
}

/// A text, and the frames that have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) kind: Kind,
    /// The number of its first frame.
    pub(super) first: u64,
    /// The number of its last frame. Frames between them may belong to other texts.
    pub(super) last: u64,
    /// Time of the first frame, in Unix epoch milliseconds.
    pub(super) time_ms: u64,
    pub(super) text: String,
}

/// Finds the texts of one stream.
#[derive(Debug, Default)]
pub(super) struct Texts {
    /// The prompt with which the run began: a message may repeat it.
    prompt: Option<String>,
    /// Calls whose arguments were found, and that have not ended.
    called: HashSet<Uuid>,
    /// Parts of outputs that have not ended.
    open: HashMap<Uuid, Text>,
}

impl Texts {
    /// Takes the next frame, and adds the texts that end with it.
    pub(super) fn frame(&mut self, frame: &Frame, out: &mut Vec<Text>) {
        let whole = |kind: Kind, text: &str, out: &mut Vec<Text>| {
            if !text.trim().is_empty() {
                let (seq, time_ms) = (frame.seq, frame.timestamp_ms);
                out.push(Text { kind, first: seq, last: seq, time_ms, text: text.to_owned() });
            }
        };
        match &frame.body {
            Body::SessionStarted { input } => {
                whole(Kind::Prompt, input, out);
                self.prompt = Some(input.trim().to_owned()).filter(|input| !input.is_empty());
            }
            Body::UserMessage(message) => {
                // Only the first message of a run repeats its prompt.
                let prompt = self.prompt.take();
                if prompt.as_deref() != Some(message.text.trim()) || frame.is_subagent() {
                    whole(Kind::Prompt, &message.text, out);
                }
            }
            Body::SubagentStarted { task: Some(task), .. } => whole(Kind::Prompt, task, out),
            Body::OutputTextCompleted(block) => whole(Kind::Answer, &block.text, out),
            Body::ReasoningCompleted { block, .. } => whole(Kind::Reasoning, &block.text, out),
            Body::ToolCallProposed(call) | Body::ToolStarted { call, .. } => {
                self.bound(out);
                if self.called.insert(call.tool.id) {
                    whole(Kind::ToolInput, &arguments(&call.name, call.args.get()), out);
                }
            }
            Body::ToolStdout { tool, chunk }
            | Body::ToolStdoutTail { tool, chunk }
            | Body::ToolStdoutFront { tool, chunk }
            | Body::ToolStderr { tool, chunk } => self.piece(tool.id, chunk, frame, out),
            Body::ToolEnded { tool, .. } => self.tool_ends(tool.id, out),
            Body::ToolFailed { tool, error } => {
                self.tool_ends(tool.id, out);
                whole(Kind::Error, error, out);
            }
            Body::ErrorReported(error) => whole(Kind::Error, &error.message, out),
            Body::Task(event) => match &**event {
                TaskEvent::Spawned { tool_name, args, .. } => {
                    whole(Kind::ToolInput, &arguments(tool_name, args.get()), out);
                }
                TaskEvent::OutputDelta { task_id, chunk, .. } => self.piece(*task_id, chunk, frame, out),
                TaskEvent::Status { status, error, .. } => {
                    if let Some(error) = error {
                        whole(Kind::Error, error, out);
                    }
                    if status.is_terminal() {
                        self.end(out);
                    }
                }
                _ => {}
            },
            Body::SessionEnded(end) => {
                self.end(out);
                if let Some(message) = &end.message {
                    whole(Kind::Error, message, out);
                }
            }
            _ => {}
        }
    }

    /// Ends the parts of outputs that are open.
    pub(super) fn end(&mut self, out: &mut Vec<Text>) {
        let mut ended: Vec<Text> = self.open.drain().map(|(_, text)| text).collect();
        ended.retain(|text| !text.text.trim().is_empty());
        ended.sort_by_key(|text| text.first);
        out.extend(ended);
        self.called.clear();
    }

    /// The number of the first frame whose text has not ended; `None` if there is none.
    pub(super) fn open_from(&self) -> Option<u64> {
        self.open.values().map(|text| text.first).min()
    }

    fn piece(&mut self, id: Uuid, chunk: &str, frame: &Frame, out: &mut Vec<Text>) {
        if let Some(text) = self.open.get(&id)
            && (text.text.len() >= PIECE_BYTES || frame.seq - text.first >= PIECE_FRAMES)
        {
            self.output_ends(id, out);
        }
        self.bound(out);
        let (first, time_ms) = (frame.seq, frame.timestamp_ms);
        let new = || Text { kind: Kind::ToolOutput, first, last: first, time_ms, text: String::new() };
        let text = self.open.entry(id).or_insert_with(new);
        text.last = frame.seq;
        text.text.push_str(chunk);
    }

    fn tool_ends(&mut self, id: Uuid, out: &mut Vec<Text>) {
        self.called.remove(&id);
        self.output_ends(id, out);
    }

    fn output_ends(&mut self, id: Uuid, out: &mut Vec<Text>) {
        out.extend(self.open.remove(&id).filter(|text| !text.text.trim().is_empty()));
    }

    fn bound(&mut self, out: &mut Vec<Text>) {
        if self.open.len() >= MOST_OPEN || self.called.len() >= MOST_OPEN {
            self.end(out);
        }
    }
}

/// The name of a tool, and the texts and numbers of its arguments, one on a line.
fn arguments(name: &str, args: &str) -> String {
    let mut out = name.to_owned();
    if let Ok(args) = Json::parse(args) {
        leaves(args, DEPTH, &mut out);
    }
    out
}

fn leaves(value: Json<'_>, depth: usize, out: &mut String) {
    match value.kind() {
        JsonKind::Object | JsonKind::Array if depth == 0 => {}
        JsonKind::Object => {
            let object = value.object();
            object.iter().flat_map(|object| object.iter()).for_each(|(_, value)| leaves(value, depth - 1, out));
        }
        JsonKind::Array => value.items().into_iter().for_each(|value| leaves(value, depth - 1, out)),
        JsonKind::Null | JsonKind::Bool => {}
        JsonKind::Number | JsonKind::String => {
            out.push('\n');
            out.push_str(&value.str().unwrap_or_else(|| value.text().into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::frame::Tool;
    use framegate_translators::framing::Limits;
    use framegate_translators::pipeline::Ingest;
    use framegate_translators::runners::runner;
    use framegate_translators::sequence::Identity;

    /// A chunk of a tool's output.
    fn chunk(seq: u64, tool: u128, chunk: &str) -> Frame {
        let identity = Identity { run_id: Uuid::from_u128(1), session_id: Some(Uuid::from_u128(2)) };
        let mut ingest = Ingest::new(runner("claude-code").unwrap(), None, Limits::default(), identity);
        let input = include_bytes!("../../tests/fixtures/claude-code/text_plain.ndjson");
        let first = ingest.feed(input, 1).next().unwrap();
        let tool = Tool { id: Uuid::from_u128(tool), call_id: "call".into() };
        Frame { seq, body: Body::ToolStdout { tool, chunk: chunk.to_owned() }, ..first }
    }

    fn feed(texts: &mut Texts, frame: &Frame) -> Vec<(u64, u64, usize)> {
        let mut out = Vec::new();
        texts.frame(frame, &mut out);
        out.iter().map(|text| (text.first, text.last, text.text.len())).collect()
    }

    #[test]
    fn an_output_is_found_in_parts_of_bounded_size_and_span() {
        let mut texts = Texts::default();
        assert_eq!(feed(&mut texts, &chunk(0, 1, &"x".repeat(PIECE_BYTES - 1))), []);
        assert_eq!(feed(&mut texts, &chunk(1, 1, "y")), [], "below the size, the part goes on");
        assert_eq!(feed(&mut texts, &chunk(2, 1, "z")), [(0, 1, PIECE_BYTES)]);
        assert_eq!(texts.open_from(), Some(2));
        assert_eq!(feed(&mut texts, &chunk(2 + PIECE_FRAMES - 1, 1, "z")), []);
        assert_eq!(feed(&mut texts, &chunk(2 + PIECE_FRAMES, 1, "z")), [(2, 2 + PIECE_FRAMES - 1, 2)]);
    }

    #[test]
    fn the_outputs_that_are_open_are_bounded() {
        let mut texts = Texts::default();
        for tool in 0..MOST_OPEN as u64 {
            assert_eq!(feed(&mut texts, &chunk(tool, u128::from(tool), "x")), []);
        }
        let ended = feed(&mut texts, &chunk(MOST_OPEN as u64, u128::MAX, "x"));
        assert_eq!((ended.len(), ended[0], texts.open_from()), (MOST_OPEN, (0, 0, 1), Some(MOST_OPEN as u64)));
    }
}
