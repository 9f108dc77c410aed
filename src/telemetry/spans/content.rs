//! The content of a run's spans: messages, and the arguments and results of tools, in the form of the semantic conventions for generative AI.
//!
//! Input: the frames of one run, which were redacted before they were kept, and how many bytes may be held. Output: attributes of the
//! spans that end. Never: a text cut within a character; more bytes of text in one attribute than its limit; content of another run.
//!
//! The input of a turn is what its thread received since that thread's turn before: a prompt, or results of tools. Frames have no
//! system instructions and no definitions of tools.

mod messages;

use super::attributes::{count, text};
use framegate_translators::frame::{Body, EndReason, Frame, SessionEnded, SharedStr, Tool, ToolCall, UserMessage};
use messages::{Messages, Meter, PART_BYTES, Part, Role, Text};
use opentelemetry_proto::tonic::common::v1::KeyValue;
use std::collections::HashMap;
use uuid::Uuid;

const INPUT: &str = "gen_ai.input.messages";
const OUTPUT: &str = "gen_ai.output.messages";
const ARGUMENTS: &str = "gen_ai.tool.call.arguments";
const RESULT: &str = "gen_ai.tool.call.result";
const OMITTED: &str = "framegate.content.omitted_bytes";

/// The finish reason of a turn or a run that did not end by itself.
const ERROR: &str = "error";

/// A thread of a run: `None` is the main thread, a tool call is the subagent that it started.
type Thread = Option<Uuid>;

/// The content that the open spans of one run hold.
pub(super) struct Content {
    /// The most bytes of text in one attribute.
    limit: usize,
    held: usize,
    /// What people sent to the run.
    prompts: Messages,
    /// What the next turn of each thread receives.
    waiting: HashMap<Thread, Messages>,
    turns: HashMap<u32, Turn>,
    tools: HashMap<Uuid, OpenTool>,
    tasks: HashMap<SharedStr, Text>,
}

struct Turn {
    thread: Thread,
    input: Messages,
    output: Messages,
}

struct OpenTool {
    arguments: Text,
    result: Text,
}

/// Whether a frame has content.
pub(super) fn matters(body: &Body) -> bool {
    matches!(
        body,
        Body::UserMessage(_)
            | Body::OutputTextCompleted(_)
            | Body::ReasoningCompleted { .. }
            | Body::ToolCallProposed(_)
            | Body::ToolStdout { .. }
            | Body::ToolStdoutTail { .. }
            | Body::ToolStdoutFront { .. }
            | Body::ToolStderr { .. }
    )
}

impl Content {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            held: 0,
            prompts: Messages::default(),
            waiting: HashMap::new(),
            turns: HashMap::new(),
            tools: HashMap::new(),
            tasks: HashMap::new(),
        }
    }

    /// How many bytes it holds.
    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Takes what a frame has, up to `room` bytes.
    pub(super) fn take(&mut self, frame: &Frame, room: usize) {
        let mut meter = Meter { limit: self.limit, room, used: 0 };
        self.take_with(frame, &mut meter);
        self.held = self.held.saturating_add_signed(meter.used);
    }

    fn take_with(&mut self, frame: &Frame, meter: &mut Meter) {
        let thread = frame.parent_tool_id;
        match &frame.body {
            Body::SessionStarted { input } if !input.is_empty() => {
                self.prompts.push(Role::User, meter, |meter| Part::Text(meter.text(input)));
                if let Some(waiting) = self.waiting(None, meter) {
                    waiting.push(Role::User, meter, |meter| Part::Text(meter.text(input)));
                }
            }
            Body::UserMessage(message) => self.message(thread, message, meter),
            Body::SubagentStarted { subagent_id, tool_id, task: Some(task), .. } => {
                if meter.entry()
                    && let Some(old) = self.tasks.insert(subagent_id.clone(), meter.text(task))
                {
                    self.release(old.held());
                }
                let of_subagent = tool_id.or(thread);
                if of_subagent.is_some()
                    && let Some(waiting) = self.waiting(of_subagent, meter)
                {
                    waiting.push(Role::User, meter, |meter| Part::Text(meter.text(task)));
                }
            }
            Body::TurnStarted { turn_index, .. } => {
                let input = self.waiting.remove(&thread).unwrap_or_default();
                if !meter.entry() {
                    self.held = self.held.saturating_sub(input.held());
                    return;
                }
                let turn = Turn { thread, input, output: Messages::default() };
                if let Some(old) = self.turns.insert(*turn_index, turn) {
                    self.release(old.input.held() + old.output.held());
                }
            }
            Body::OutputTextCompleted(block) => {
                self.output(thread, meter, |meter| Part::Text(meter.text(&block.text)));
            }
            // A provider may encrypt its reasoning: then there is no text.
            Body::ReasoningCompleted { block, .. } if !block.text.is_empty() => {
                self.output(thread, meter, |meter| Part::Reasoning(meter.text(&block.text)));
            }
            Body::ToolCallProposed(call) => self.output(thread, meter, |meter| Part::call(call, meter)),
            Body::ToolStarted { call, .. } => self.tool_started(call, meter),
            Body::ToolStdout { tool, chunk }
            | Body::ToolStdoutTail { tool, chunk }
            | Body::ToolStderr { tool, chunk } => {
                if let Some(tool) = self.tools.get_mut(&tool.id) {
                    tool.result.append(chunk, meter);
                }
            }
            Body::ToolStdoutFront { tool, chunk } => {
                if let Some(tool) = self.tools.get_mut(&tool.id) {
                    tool.result.prepend(chunk, meter);
                }
            }
            Body::ToolEnded { tool, .. } => self.tool_ended(thread, tool, "", meter),
            Body::ToolFailed { tool, error } => self.tool_ended(thread, tool, error, meter),
            _ => {}
        }
    }

    /// What a thread's next turn receives; `None` if there is no room for it.
    fn waiting(&mut self, thread: Thread, meter: &Meter) -> Option<&mut Messages> {
        let has_room = self.waiting.contains_key(&thread) || meter.has_room();
        has_room.then(|| self.waiting.entry(thread).or_default())
    }

    /// Counts an entry that was removed, with its texts.
    fn release(&mut self, texts: usize) {
        self.held = self.held.saturating_sub(PART_BYTES + texts);
    }

    /// The newest open turn of a thread.
    fn newest(&mut self, thread: Thread) -> Option<&mut Turn> {
        let open = self.turns.iter_mut().filter(|(_, turn)| turn.thread == thread);
        open.max_by_key(|(index, _)| **index).map(|(_, turn)| turn)
    }

    fn output(&mut self, thread: Thread, meter: &mut Meter, part: impl FnOnce(&mut Meter) -> Part) {
        if let Some(turn) = self.newest(thread) {
            turn.output.extend(Role::Assistant, meter, part);
        }
    }

    /// A message belongs to the turn that has not answered yet, otherwise to the next one. Runners may report a prompt twice: at the start
    /// of a run, and as a message.
    fn message(&mut self, thread: Thread, message: &UserMessage, meter: &mut Meter) {
        let add = |to: &mut Messages, meter: &mut Meter| {
            if !message.text.is_empty() && !to.has_text(&message.text) {
                to.push(Role::User, meter, |meter| Part::Text(meter.text(&message.text)));
            }
            for attachment in &message.attachments {
                if let Some(part) = Part::file(attachment) {
                    to.extend(Role::User, meter, |_| part);
                }
            }
        };
        if thread.is_none() {
            add(&mut self.prompts, meter);
        }
        let is_unanswered = self.newest(thread).is_some_and(|turn| turn.output.is_empty());
        let to =
            if is_unanswered { self.newest(thread).map(|turn| &mut turn.input) } else { self.waiting(thread, meter) };
        if let Some(to) = to {
            add(to, meter);
        }
    }

    fn tool_started(&mut self, call: &ToolCall, meter: &mut Meter) {
        if !meter.entry() {
            return;
        }
        let tool = OpenTool { arguments: meter.text(call.args.get()), result: Text::default() };
        if let Some(old) = self.tools.insert(call.tool.id, tool) {
            self.release(old.arguments.held() + old.result.held());
        }
    }

    /// The next turn of the thread reads the tool's result.
    fn tool_ended(&mut self, thread: Thread, tool: &Tool, error: &str, meter: &mut Meter) {
        let mut result = Text::default();
        if let Some(open) = self.tools.get_mut(&tool.id) {
            if !error.is_empty() && !open.result.is_empty() {
                open.result.append("\n", meter);
            }
            open.result.append(error, meter);
            result = open.result.clone();
        } else {
            // Not held: the copy below is counted.
            result.append(error, &mut Meter { limit: meter.limit, room: usize::MAX, used: 0 });
        }
        if let Some(waiting) = self.waiting(thread, meter) {
            let id = tool.call_id.clone();
            waiting.push(Role::Tool, meter, |meter| Part::Response { id, result: result.copied(meter) });
        }
    }

    /// The content of a turn that ends.
    pub(super) fn of_turn(&mut self, index: u32, stop_reason: Option<&str>, is_whole: bool) -> Vec<KeyValue> {
        let Some(turn) = self.turns.remove(&index) else { return Vec::new() };
        self.release(turn.input.held() + turn.output.held());
        let finish = if is_whole { finish_reason(stop_reason, turn.output.has_call()) } else { ERROR };
        let omitted = turn.input.omitted() + turn.output.omitted();
        with_omitted([(INPUT, turn.input.json(None)), (OUTPUT, turn.output.json(Some(finish)))], omitted)
    }

    /// The content of a tool that ends.
    pub(super) fn of_tool(&mut self, tool: Uuid) -> Vec<KeyValue> {
        let Some(tool) = self.tools.remove(&tool) else { return Vec::new() };
        self.release(tool.arguments.held() + tool.result.held());
        let omitted = tool.arguments.omitted() + tool.result.omitted();
        let shown = |text: &Text| (!text.is_empty()).then(|| text.shown().into_owned());
        with_omitted([(ARGUMENTS, shown(&tool.arguments)), (RESULT, shown(&tool.result))], omitted)
    }

    /// The content of a subagent that ends.
    pub(super) fn of_agent(&mut self, id: &SharedStr, summary: Option<&str>, is_whole: bool) -> Vec<KeyValue> {
        let task = self.tasks.remove(id).inspect(|task| self.release(task.held())).unwrap_or_default();
        let mut input = Messages::default();
        let mut meter = Meter { limit: self.limit, room: usize::MAX, used: 0 };
        if !task.is_empty() {
            input.push(Role::User, &mut meter, |meter| Part::Text(task.copied(meter)));
        }
        let finish = if is_whole { "stop" } else { ERROR };
        self.with_answer(input, summary, finish)
    }

    /// The content of the run, which ends.
    pub(super) fn of_run(mut self, end: &SessionEnded) -> Vec<KeyValue> {
        let finish = if end.reason == EndReason::Completed { "stop" } else { ERROR };
        let prompts = std::mem::take(&mut self.prompts);
        self.with_answer(prompts, end.final_text.as_deref(), finish)
    }

    fn with_answer(&self, input: Messages, answer: Option<&str>, finish: &str) -> Vec<KeyValue> {
        let mut output = Messages::default();
        let mut meter = Meter { limit: self.limit, room: usize::MAX, used: 0 };
        if let Some(answer) = answer.filter(|answer| !answer.is_empty()) {
            output.push(Role::Assistant, &mut meter, |meter| Part::Text(meter.text(answer)));
        }
        let omitted = input.omitted() + output.omitted();
        with_omitted([(INPUT, input.json(None)), (OUTPUT, output.json(Some(finish)))], omitted)
    }
}

fn with_omitted(content: [(&str, Option<String>); 2], omitted: u64) -> Vec<KeyValue> {
    let found = content.into_iter().filter_map(|(key, value)| Some(text(key, value?)));
    found.chain((omitted > 0).then(|| count(OMITTED, omitted))).collect()
}

/// The convention's word for the reason why a model stopped; the runner's own word if there is none.
fn finish_reason(reason: Option<&str>, calls_tool: bool) -> &str {
    match reason {
        None if calls_tool => "tool_call",
        None | Some("end_turn" | "stop" | "stop_sequence" | "completed") => "stop",
        Some("max_tokens" | "max_output_tokens" | "length" | "model_context_window_exceeded") => "length",
        Some("tool_use" | "toolUse" | "tool-calls" | "tool_calls") => "tool_call",
        Some("refusal" | "content-filter" | "content_filter") => "content_filter",
        Some(other) => other,
    }
}

#[cfg(test)]
mod tests;
