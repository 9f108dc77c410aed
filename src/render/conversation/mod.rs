//! A run as a conversation: what a reader sees, and in which order.
//!
//! Input: the frames of one stream, from any of them on. Output: parts, each as soon as it is settled; the sums of the run; what is
//! going on. Terminals and documents show the same parts. Never: state that grows with the run; a frame that is shown twice; bytes
//! of a provider's record, which the frames after it describe.

mod calls;
mod part;
mod subagents;
mod texts;
mod totals;

pub(crate) use part::{Call, Outcome, Part, Speaker};
pub(crate) use totals::Totals;

use super::blocks::SegmentKind;
use super::describe::{self, Question};
use super::figures::{bytes, counted, short};
use calls::{Calls, Open};
use framegate_translators::artifacts::ArtifactKind;
use framegate_translators::frame::{
    ApprovalRequested, ApprovalResolved, Body, CheckpointAction, Frame, LogLevel, SessionEnded, SkillEvent, StreamKind,
    TaskEvent, Tool, ToolCall, ToolKind, UserMessage,
};
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use subagents::Subagents;
use texts::{Text, Texts, Thought};
use uuid::Uuid;

/// How many open questions are held.
const QUESTIONS: usize = 256;

/// Receives the parts.
pub(crate) type Sink<'s> = &'s mut dyn FnMut(&Speaker, Part<'_>);

/// What a run does at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Activity {
    /// A question waits for its answer.
    Asking(Question),
    /// A tool runs: its name and what it is about.
    Tool(String, String),
    /// The agent writes.
    Writing,
    /// The agent thinks.
    Thinking,
    /// None of these.
    Waiting,
}

/// One stream.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    texts: Texts,
    calls: Calls,
    subagents: Subagents,
    /// The questions that wait, oldest first.
    questions: VecDeque<Question>,
    totals: Totals,
    /// The hash of the newest prompt, which runners may repeat.
    prompt: Option<u64>,
    has_begun: bool,
    has_text: bool,
}

impl Conversation {
    /// Takes the next frame.
    pub(crate) fn frame(&mut self, frame: &Frame, sink: Sink<'_>) {
        let parent = frame.parent_tool_id;
        let is_its_change = matches!(frame.body, Body::FileChanged(_)) || is_patch(&frame.body);
        if !is_its_change && let Some(open) = self.calls.take_waiting() {
            self.call(open, sink);
        }
        if !self.has_begun {
            self.has_begun = true;
            self.totals.started_ms = frame.timestamp_ms;
            // Other streams may begin with records, which are not shown.
            if frame.seq > 0 && frame.stream.kind == StreamKind::Session {
                let text = format!("the first {} of this run are not shown", counted(frame.seq, "frame"));
                sink(&Speaker::default(), Part::Gap(text));
            }
        }
        self.totals.newest_ms = frame.timestamp_ms;
        match &frame.body {
            Body::SessionStarted { input } if !input.trim().is_empty() => self.prompt(input, &[], parent, sink),
            Body::UserMessage(message) => self.user_message(message, parent, sink),
            Body::OutputTextDelta(delta) => {
                self.has_text |= parent.is_none();
                let (block, segments, ended) = self.texts.text(delta, parent);
                ended.into_iter().for_each(|text| self.end_text(text, sink));
                let speaker = self.subagents.speaker(parent);
                segments.into_iter().for_each(|segment| sink(&speaker, Part::Prose { block, segment }));
            }
            Body::OutputTextCompleted(block) => {
                self.has_text |= parent.is_none();
                let (text, segments) = self.texts.text_completed(block, parent);
                let speaker = self.subagents.speaker(parent);
                let block = text.number;
                segments.into_iter().for_each(|segment| sink(&speaker, Part::Prose { block, segment }));
                self.end_text(text, sink);
            }
            Body::ReasoningDelta(delta) => {
                if let Some(thought) = self.texts.thought(delta, parent) {
                    self.end_thought(&thought, sink);
                }
            }
            Body::ReasoningCompleted { block, .. } => {
                let thought = self.texts.thought_completed(block, parent);
                self.end_thought(&thought, sink);
            }
            Body::ToolCallProposed(call) => self.begin_call(call, parent, false, sink),
            Body::ToolStarted { call, .. } => {
                self.totals.calls += 1;
                self.begin_call(call, parent, true, sink);
            }
            Body::ToolStdout { tool, chunk }
            | Body::ToolStdoutTail { tool, chunk }
            | Body::ToolStderr { tool, chunk } => {
                self.calls.output(tool.id, chunk, false);
            }
            Body::ToolStdoutFront { tool, chunk } => self.calls.output(tool.id, chunk, true),
            Body::ToolEnded { tool, exit_code, duration_ms, artifacts } => {
                let outcome = Outcome::Ended { exit_code: *exit_code, duration_ms: *duration_ms };
                self.totals.failed_calls += u64::from(outcome.is_failure());
                if let Some(open) = self.calls.end(tool.id, outcome, artifacts.as_ref(), parent) {
                    self.call(open, sink);
                }
            }
            Body::ToolFailed { tool, error } => {
                self.totals.failed_calls += 1;
                if let Some(open) = self.calls.end(tool.id, Outcome::Failed(error.clone()), None, parent) {
                    self.call(open, sink);
                }
            }
            // The card of the change shows it.
            body if is_patch(body) => {}
            Body::FileChanged(change) => match self.calls.changed(change) {
                Ok(Some(open)) => self.call(open, sink),
                Ok(None) => {}
                Err(change) => {
                    if let Some(open) = self.calls.take_waiting() {
                        self.call(open, sink);
                    }
                    sink(&self.subagents.speaker(parent), Part::Changed(change));
                }
            },
            Body::PlanUpdated { entries } => sink(&self.subagents.speaker(parent), Part::Plan(entries)),
            Body::ApprovalRequested(request) => self.asked(request, parent, sink),
            Body::ApprovalResolved(answer) => self.decided(answer, parent, sink),
            Body::ErrorReported(error) => sink(&self.subagents.speaker(parent), Part::Error(error)),
            Body::SubagentStarted { subagent_id, tool_id, agent, task, depth } => {
                self.totals.subagents += 1;
                let speaker = self.subagents.begin(subagent_id, *tool_id, agent.as_ref(), *depth);
                sink(&speaker, Part::SubagentStarted { task: task.as_deref() });
            }
            Body::SubagentEnded { subagent_id, status, summary } => {
                let speaker = self.subagents.end(subagent_id);
                sink(&speaker, Part::SubagentEnded { status, summary: summary.as_deref() });
            }
            Body::TurnStarted { .. } => self.totals.turns += u64::from(parent.is_none()),
            Body::UsageReported(usage) => self.totals.add(usage),
            Body::GapDetected { first_seq, last_seq, reason } => {
                let lost = match (first_seq, last_seq) {
                    (Some(first), Some(last)) => format!("events {first} to {last} were lost: {reason}"),
                    _ => format!("events were lost: {reason}"),
                };
                sink(&self.subagents.speaker(parent), Part::Gap(lost));
            }
            Body::Task(event) => self.task(event, frame, sink),
            Body::SessionEnded(end) => self.ended(end, sink),
            body => {
                if let Some((level, text)) = notice(body) {
                    sink(&self.subagents.speaker(parent), Part::Notice { level, text });
                }
            }
        }
    }

    /// The stream ends here, though its last frame may be missing. Everything that is open is shown.
    pub(crate) fn finish(&mut self, sink: Sink<'_>) {
        let (thoughts, texts) = self.texts.take();
        thoughts.iter().for_each(|thought| self.end_thought(thought, sink));
        texts.into_iter().for_each(|text| self.end_text(text, sink));
        let calls: Vec<Open> = self.calls.take_waiting().into_iter().chain(self.calls.take_open()).collect();
        calls.into_iter().for_each(|open| self.call(open, sink));
    }

    /// The sums so far.
    pub(crate) fn totals(&self) -> &Totals {
        &self.totals
    }

    /// What is going on.
    pub(crate) fn activity(&self) -> Activity {
        if let Some(question) = self.questions.front() {
            return Activity::Asking(question.clone());
        }
        if let Some(call) = self.calls.running() {
            return Activity::Tool(call.name.to_string(), call.subject.clone());
        }
        match self.texts.activity() {
            (true, _) => Activity::Writing,
            (false, true) => Activity::Thinking,
            (false, false) => Activity::Waiting,
        }
    }

    /// What the newest text has that is not settled yet, and who writes it.
    pub(crate) fn preview(&self) -> Option<(Speaker, SegmentKind, String)> {
        let (parent, kind, text) = self.texts.preview()?;
        Some((self.subagents.speaker(parent), kind, text))
    }

    fn prompt(
        &mut self,
        text: &str,
        attachments: &[framegate_translators::frame::Attachment],
        parent: Option<Uuid>,
        sink: Sink<'_>,
    ) {
        let mut hasher = DefaultHasher::new();
        (text.trim(), parent).hash(&mut hasher);
        self.prompt = Some(hasher.finish());
        sink(&self.subagents.speaker(parent), Part::Prompt { text, attachments });
    }

    fn user_message(&mut self, message: &UserMessage, parent: Option<Uuid>, sink: Sink<'_>) {
        let mut hasher = DefaultHasher::new();
        (message.text.trim(), parent).hash(&mut hasher);
        let is_known = self.prompt.take() == Some(hasher.finish()) && message.attachments.is_empty();
        if !is_known {
            self.prompt(&message.text, &message.attachments, parent, sink);
        }
    }

    fn begin_call(&mut self, call: &ToolCall, parent: Option<Uuid>, is_started: bool, sink: Sink<'_>) {
        if let Some(open) = self.calls.begin(call, parent, is_started) {
            self.call(open, sink);
        }
    }

    /// A call that is over. The plan and the subagent that it caused are shown already.
    fn call(&mut self, open: Open, sink: Sink<'_>) {
        let speaker = self.subagents.speaker(open.parent);
        let id = open.id();
        let call = open.into_call();
        let is_shown = match call.kind {
            ToolKind::Plan => true,
            ToolKind::Subagent => self.subagents.is_known(&id),
            _ => false,
        };
        if call.outcome.is_failure() || !is_shown {
            sink(&speaker, Part::Call(Box::new(call)));
        }
    }

    fn end_text(&mut self, text: Text, sink: Sink<'_>) {
        let speaker = self.subagents.speaker(text.parent());
        let (block, segments) = text.finish();
        segments.into_iter().for_each(|segment| sink(&speaker, Part::Prose { block, segment }));
    }

    fn end_thought(&mut self, thought: &Thought, sink: Sink<'_>) {
        // A provider may hide its reasoning.
        if !thought.text.trim().is_empty() {
            let part = Part::Thought { text: &thought.text, chars: thought.chars };
            sink(&self.subagents.speaker(thought.parent()), part);
        }
    }

    fn asked(&mut self, request: &ApprovalRequested, parent: Option<Uuid>, sink: Sink<'_>) {
        if self.questions.iter().any(|question| question.approval_id == request.approval_id) {
            return;
        }
        let question = describe::question(request);
        sink(&self.subagents.speaker(parent), Part::Asked(&question));
        if self.questions.len() >= QUESTIONS {
            self.questions.pop_front();
        }
        self.questions.push_back(question);
    }

    fn decided(&mut self, answer: &ApprovalResolved, parent: Option<Uuid>, sink: Sink<'_>) {
        let at = self.questions.iter().position(|question| question.approval_id == answer.approval_id);
        let question = at.and_then(|at| self.questions.remove(at));
        sink(&self.subagents.speaker(parent), Part::Decided { question, answer });
    }

    fn task(&mut self, event: &TaskEvent, frame: &Frame, sink: Sink<'_>) {
        let TaskEvent::Spawned { task_id, tool_name, args, .. } = event else { return self.task_event(event, sink) };
        let tool = Tool { id: *task_id, call_id: "".into() };
        let call = ToolCall { tool, name: tool_name.clone(), kind: ToolKind::Shell, args: args.clone() };
        self.begin_call(&call, frame.parent_tool_id, true, sink);
    }

    fn task_event(&mut self, event: &TaskEvent, sink: Sink<'_>) {
        match event {
            TaskEvent::OutputDelta { task_id, chunk, .. } => self.calls.output(*task_id, chunk, false),
            TaskEvent::Status { task_id, status, exit_code, artifacts, error, .. } if status.is_terminal() => {
                let outcome = match (exit_code, error) {
                    (_, Some(error)) => Outcome::Failed(error.clone()),
                    (Some(exit_code), None) => {
                        Outcome::Ended { exit_code: *exit_code, duration_ms: self.totals.duration_ms() }
                    }
                    (None, None) => Outcome::Failed(format!("the task has {}", status.as_str())),
                };
                if let Some(open) = self.calls.end(*task_id, outcome, artifacts.as_ref(), None) {
                    self.call(open, sink);
                }
            }
            _ => {}
        }
    }

    fn ended(&mut self, end: &SessionEnded, sink: Sink<'_>) {
        self.finish(sink);
        // A runner that reports only its result has no other text.
        if let Some(text) = end.final_text.as_deref().filter(|text| !self.has_text && !text.is_empty()) {
            let block = framegate_translators::frame::BlockText {
                message_id: "".into(),
                block_index: 0,
                text: text.to_owned(),
            };
            let (text, segments) = self.texts.text_completed(&block, None);
            let block = text.number;
            segments.into_iter().for_each(|segment| sink(&Speaker::default(), Part::Prose { block, segment }));
            self.end_text(text, sink);
        }
        sink(&Speaker::default(), Part::Ended { end, totals: &self.totals });
    }
}

/// Whether the frame is a diff that was stored, which the frame of the change follows.
fn is_patch(body: &Body) -> bool {
    matches!(body, Body::ArtifactWritten(artifact) if &*artifact.kind == ArtifactKind::Patch.as_str())
}

/// The frames that are shown as one line.
fn notice(body: &Body) -> Option<(LogLevel, String)> {
    let info = |text: String| Some((LogLevel::Info, text));
    match body {
        Body::LogEmitted { level, message } if *level != LogLevel::Debug => Some((*level, message.clone())),
        Body::CheckpointCreated { label, files, .. } => {
            info(format!("checkpoint {label:?} of {}", counted(files.len() as u64, "file")))
        }
        Body::CheckpointRewound { label, files, .. } => {
            info(format!("back to checkpoint {label:?}: {}", counted(files.len() as u64, "file")))
        }
        Body::CheckpointFailed { action, error } => {
            let action = match action {
                CheckpointAction::Create => "made",
                CheckpointAction::Rewind => "restored",
            };
            Some((LogLevel::Warn, format!("a checkpoint could not be {action}: {error}")))
        }
        Body::HistoryCompacted { tokens_before, tokens_after, .. } => info(match (tokens_before, tokens_after) {
            (Some(before), Some(after)) => {
                format!("the history was compacted from {} to {} tokens", short(*before), short(*after))
            }
            (Some(before), None) => format!("the history was compacted from {} tokens", short(*before)),
            _ => "the history was compacted".to_owned(),
        }),
        Body::ArtifactWritten(artifact) => {
            info(format!("stored {} of {}: {}", artifact.kind, bytes(artifact.bytes), artifact.digest))
        }
        Body::Skill(event) => match &**event {
            SkillEvent::Invoked { name, .. } => info(format!("skill {name}")),
            SkillEvent::Warning { name, detail, .. } => {
                Some((LogLevel::Warn, format!("skill {}: {detail}", name.as_deref().unwrap_or("?"))))
            }
            SkillEvent::CatalogUpdated { .. } | SkillEvent::Loaded { .. } => None,
        },
        _ => None,
    }
}
