//! Tool calls.
//!
//! Input: the current state of a tool part: `pending`, `running`, `completed` or `error`. Output: the call's proposal, start,
//! output and end, each once. Never: a proposal without arguments (a pending call has none yet); success for a call that ran
//! and failed; output reported twice.
//!
//! `completed` only means that the tool returned a result. The exit code of a shell is in the metadata, and is null if the
//! shell was killed. The tool `invalid` marks a call that never reached a tool. `error` means either that the tool ran and
//! failed, or that the call was refused, malformed or cut off; only the text of the error tells these apart.

use super::files;
use super::message_log::{MessageLog, PartState};
use super::prompt::{inline_bytes, reference};
use super::session_context::SessionContext;
use super::tasks::TaskCall;
use crate::frame::{OutputStream, SharedStr, TIMED_OUT, Tool, ToolCall, ToolKind};
use crate::json::{Json, Object, empty_object, to_raw};
use serde_json::{Map, Value};
use std::borrow::Cow;
use uuid::Uuid;

/// A call, and what was reported of it.
#[derive(Debug)]
pub(super) struct Call {
    /// Its ids.
    pub(super) tool: Tool,
    /// The tool's name.
    pub(super) name: SharedStr,
    pub(super) started: bool,
    /// The last reported output, for tools that repeat their whole output in each update.
    shown: String,
}

/// What a `task` call reports about its child session.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) call: TaskCall,
    /// The child session, once it is known.
    pub(super) child: Option<SharedStr>,
    /// Whether the call is over.
    pub(super) is_over: bool,
}

impl Call {
    /// A call of which nothing was reported yet.
    pub(super) fn new(tool: Tool, name: &str) -> Self {
        Self { tool, name: SharedStr::from(name), started: false, shown: String::new() }
    }

    /// Starts the call; `proposed` tells whether a model requested it.
    pub(super) fn start(
        &mut self,
        context: &mut SessionContext<'_>,
        input: Option<Json<'_>>,
        at: Option<u64>,
        proposed: bool,
    ) {
        if std::mem::replace(&mut self.started, true) {
            return;
        }
        let now = context.normalizer.time_ms();
        context.normalizer.set_time(at.map_or(now, |at| at.min(now)));
        let call = ToolCall {
            tool: self.tool.clone(),
            name: self.name.clone(),
            kind: kind(&self.name),
            args: input.map_or_else(empty_object, arguments),
        };
        let timeout_ms = input.and_then(Json::object).and_then(|input| input.u64("timeout"));
        if proposed {
            context.normalizer.tool_proposed(context.target, call.clone());
        }
        context.normalizer.tool_started(
            context.target,
            call,
            timeout_ms.filter(|_| kind(&self.name) == ToolKind::Shell),
        );
        context.normalizer.set_time(now);
    }

    /// Reports the new part of the output. With `more_follows`, keeps the output to compare with the next update.
    fn output(&mut self, context: &mut SessionContext<'_>, output: &str, more_follows: bool) {
        let rest = unsaid(&self.shown, output);
        if !rest.is_empty() {
            context.normalizer.tool_output(context.target, &self.tool, OutputStream::Stdout, rest);
        }
        if more_follows {
            self.shown.clear();
            self.shown.push_str(output);
        }
    }
}

/// Takes the call that a part is about out of its message, and whether a model requested it. `None` if everything of it was reported.
fn call(
    context: &mut SessionContext<'_>,
    message_log: &mut MessageLog,
    message_id: &str,
    part_id: &str,
    part: &Object<'_>,
) -> Option<(Box<Call>, bool)> {
    let message = message_log.message(message_id);
    let (most, stream) = (context.normalizer.most_open(), context.target.stream);
    message.forget_calls(most, |call| context.normalizer.tool_runs(stream, &call.tool));
    let proposed = message.steps > 0;
    let slot = message.part(part_id);
    if matches!(slot.state, PartState::Done) {
        return None;
    }
    let name = part.str("tool").unwrap_or_default();
    let mut call = match std::mem::replace(&mut slot.state, PartState::Done) {
        PartState::Tool(call) => call,
        _ => {
            let call_id = part.str("callID").unwrap_or_default();
            // A part without an id is identified by its position alone.
            let owner = if part_id.is_empty() { format!("{message_id}/{}", slot.index) } else { part_id.to_owned() };
            let mut tool = context.calls.claim(context.normalizer, context.scope, &call_id, &SharedStr::from(owner));
            if let Some(stand_in) = context.stand_in {
                tool.id = stand_in;
                context.calls.renamed(&tool);
            }
            Box::new(Call::new(tool, &name))
        }
    };
    if !call.started && *call.name != *name {
        call.name = SharedStr::from(&*name);
    }
    Some((call, proposed))
}

/// Starts a task call whose child session is known, and the child as its subagent. The call's end is left to its part.
pub(super) fn begin_task(
    context: &mut SessionContext<'_>,
    message_log: &mut MessageLog,
    message_id: &str,
    part: &Object<'_>,
    child: &str,
) -> Option<Tool> {
    let part_id = part.str("id").unwrap_or_default();
    let (mut call, proposed) = call(context, message_log, message_id, &part_id, part)?;
    let state = part.object("state").unwrap_or_default();
    let time = state.object("time").unwrap_or_default();
    call.start(context, state.get("input"), time.u64("start"), proposed);
    begin_subagent(context, &call.tool, child, &state);
    let tool = call.tool.clone();
    if let Some(slot) = message_log.message(message_id).known(&part_id) {
        slot.state = PartState::Tool(call);
    }
    Some(tool)
}

/// Whether a part is a call of the tool that starts subagents.
pub(super) fn is_task(part: &Object<'_>) -> bool {
    part.str("type").as_deref() == Some("tool")
        && part.str("tool").is_some_and(|name| kind(&name) == ToolKind::Subagent)
}

/// The child session that a part names, if it is a task call.
pub(super) fn child_of<'p>(part: &Object<'p>) -> Option<Cow<'p, str>> {
    if !is_task(part) {
        return None;
    }
    part.object("state")?.object("metadata")?.str("sessionId")
}

/// How the child session of a call ended that is over, in words of its subagent; `None` if the call is not over.
pub(super) fn subagent_status(part: &Object<'_>) -> Option<&'static str> {
    let state = part.object("state")?;
    match &*state.str("status")? {
        "completed" => Some("completed"),
        "error" if CallFailure::of(&state) == CallFailure::CutOff => Some("cancelled"),
        "error" => Some("failed"),
        _ => None,
    }
}

/// Decodes a tool part.
pub(super) fn part(
    context: &mut SessionContext<'_>,
    message_log: &mut MessageLog,
    message_id: &str,
    part_id: &str,
    part: &Object<'_>,
) -> Option<Task> {
    let (mut call, proposed) = call(context, message_log, message_id, part_id, part)?;
    let state = part.object("state").unwrap_or_default();
    let metadata = state.object("metadata").unwrap_or_default();
    let time = state.object("time").unwrap_or_default();
    let status = state.str("status").unwrap_or_default();
    let is_task = is_task(part);
    let child = child_of(part);
    let mut is_over = false;
    match &*status {
        "pending" => {}
        "running" => {
            call.start(context, state.get("input"), time.u64("start"), proposed);
            if let Some(child) = child.as_ref().filter(|_| context.ended_call != Some(call.tool.id)) {
                begin_subagent(context, &call.tool, child, &state);
            }
            if let Some(output) = metadata.str("output") {
                call.output(context, &output, true);
            }
        }
        "completed" | "error" => {
            call.start(context, state.get("input"), time.u64("start"), proposed);
            let outcome = match &*status {
                "completed" => Ok(state.str("output").unwrap_or_default()),
                _ => Err(CallFailure::of(&state)),
            };
            let outcome = match (outcome, context.calls.was_refused(&call.tool)) {
                (Err(CallFailure::Failed), true) => Err(CallFailure::NeverRan),
                (outcome, _) => outcome,
            };
            if let Some(child) = child.as_ref().filter(|_| context.ended_call != Some(call.tool.id)) {
                begin_subagent(context, &call.tool, child, &state);
                // A child that was stopped has its last text after its call is over.
                if !context.child_speaks {
                    let (status, summary) = match &outcome {
                        Ok(output) => ("completed", Some(task_result(output).to_owned())),
                        Err(CallFailure::CutOff) => ("cancelled", None),
                        Err(_) => ("failed", None),
                    };
                    let summary = summary.filter(|summary| !summary.is_empty());
                    context.normalizer.subagent_ended(context.target.stream, child, status, summary);
                }
            }
            let duration = time.u64("end").and_then(|end| end.checked_sub(time.u64("start")?));
            match outcome {
                Ok(output) => completed(context, message_log, &mut call, &state, &output, duration),
                Err(trouble) => {
                    let error = state.str("error").unwrap_or_default();
                    end_badly(context, &call.tool, &error, trouble, duration);
                }
            }
            is_over = true;
        }
        other => context.normalizer.unknown(format!("unknown tool state {other:?}")),
    }
    let task = is_task.then(|| Task {
        call: task_call(call.tool.id, &state),
        child: child.map(|child| SharedStr::from(&*child)),
        is_over,
    });
    if !is_over && let Some(slot) = message_log.message(message_id).known(part_id) {
        slot.state = PartState::Tool(call);
    }
    task
}

fn completed(
    context: &mut SessionContext<'_>,
    message_log: &mut MessageLog,
    call: &mut Call,
    state: &Object<'_>,
    output: &str,
    duration_ms: Option<u64>,
) {
    let input = state.object("input").unwrap_or_default();
    let metadata = state.object("metadata").unwrap_or_default();
    if *call.name == *"invalid" {
        // The tool does not exist or the arguments are not JSON: nothing ran.
        context.normalizer.tool_failed(context.target, &call.tool, output);
        return;
    }
    call.output(context, output, false);
    files::changed(context, &call.tool, &call.name, &input, &metadata);
    match &*call.name {
        "todowrite" => {
            let todos = metadata.get("todos").or_else(|| input.get("todos"));
            if let Some(todos) = todos {
                files::plan(context, message_log, &todos.items());
            }
        }
        "skill" => files::skill(context, &input, &metadata),
        _ => {}
    }
    let artifacts = artifacts(&metadata, &state.items("attachments"));
    let code = exit_code(&metadata, || took_too_long(output));
    context.normalizer.tool_ended(context.target, &call.tool, code, duration_ms, artifacts);
}

/// The shell's exit code. If it was killed, the code is that of a timeout, or 1. 0 for every other tool.
pub(super) fn exit_code(metadata: &Object<'_>, took_too_long: impl FnOnce() -> bool) -> i32 {
    match metadata.get("exit") {
        None => 0,
        Some(exit) => match exit.i64() {
            Some(code) => i32::try_from(code).unwrap_or(1),
            None if took_too_long() => TIMED_OUT,
            None => 1,
        },
    }
}

/// Whether the note that the runner puts at the end of a shell's output says that the command took longer than it may.
pub(super) fn took_too_long(output: &str) -> bool {
    let Some(note) = output.strip_suffix("_metadata>") else { return false };
    let note = note.rsplit_once("_metadata>");
    note.is_some_and(|(_, note)| note.contains("terminated command after exceeding timeout"))
}

/// The kind of a call's error. If no person was asked, only the runner's fixed phrases identify it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallFailure {
    /// The tool ran and reported a failure.
    Failed,
    /// A person or a rule refused the call, or its arguments are invalid: it never ran.
    NeverRan,
    /// The call was stopped.
    CutOff,
}

impl CallFailure {
    /// The trouble of a call in the state `error`.
    fn of(state: &Object<'_>) -> Self {
        let interrupted = state.object("metadata").is_some_and(|metadata| metadata.bool("interrupted") == Some(true));
        if interrupted { Self::CutOff } else { Self::read(&state.str("error").unwrap_or_default()) }
    }

    /// The trouble described by an error text.
    pub(super) fn read(error: &str) -> Self {
        const CUT_OFF: [&str; 2] = ["Tool execution aborted", "Task cancelled"];
        const RULE: &str = "The user has specified a rule which prevents";
        let wrong_arguments = || error.starts_with("The ") && error.contains(" tool was called with invalid arguments");
        if CUT_OFF.iter().any(|words| error.starts_with(words)) {
            Self::CutOff
        } else if is_refusal(error) || error.starts_with(RULE) || wrong_arguments() {
            Self::NeverRan
        } else {
            Self::Failed
        }
    }
}

/// Whether a person refused the call. This stops the turn, unless the person gives a reason.
pub(super) fn is_refusal(error: &str) -> bool {
    error.starts_with("The user rejected permission") || error.starts_with("The user dismissed this question")
}

/// Ends a call whose tool returned an error.
pub(super) fn end_badly(
    context: &mut SessionContext<'_>,
    tool: &Tool,
    error: &str,
    trouble: CallFailure,
    duration_ms: Option<u64>,
) {
    if trouble != CallFailure::Failed {
        return context.normalizer.tool_failed(context.target, tool, error);
    }
    if !error.is_empty() {
        context.normalizer.tool_output(context.target, tool, OutputStream::Stderr, error);
    }
    context.normalizer.tool_ended(context.target, tool, 1, duration_ms, None);
}

fn begin_subagent(context: &mut SessionContext<'_>, tool: &Tool, child: &str, state: &Object<'_>) {
    let TaskCall { tool, agent, task, .. } = task_call(tool.id, state);
    context.normalizer.subagent_started(context.target, child, Some(tool), agent, task, context.depth + 1);
}

/// The task call described by a tool part.
pub(super) fn task_call(tool: Uuid, state: &Object<'_>) -> TaskCall {
    let input = state.object("input").unwrap_or_default();
    let description = input.str("description").or_else(|| state.str("title")).unwrap_or_default();
    TaskCall {
        tool,
        description: Box::from(&*description),
        agent: input.str("subagent_type").filter(|agent| !agent.is_empty()).map(|agent| SharedStr::from(&*agent)),
        task: input.str("prompt").or_else(|| input.str("description")).map(Cow::into_owned),
    }
}

/// The child's report, without the tags around it.
fn task_result(output: &str) -> &str {
    let inner = || {
        let (_, rest) = output.split_once("<task_result>")?;
        let (inner, _) = rest.rsplit_once("</task_result>")?;
        Some(inner.trim_matches('\n'))
    };
    inner().unwrap_or(output)
}

/// The new part of an output that is repeated as a whole. Beyond a limit the runner drops the beginning; the end of the last
/// reported output is then searched for.
fn unsaid<'o>(shown: &str, output: &'o str) -> &'o str {
    const TAIL: usize = 512;
    if let Some(rest) = output.strip_prefix(shown) {
        return rest;
    }
    let tail = shown.get(shown.ceil_char_boundary(shown.len().saturating_sub(TAIL))..).unwrap_or_default();
    match output.find(tail) {
        Some(at) => output.get(at + tail.len()..).unwrap_or_default(),
        None => output,
    }
}

/// The model's arguments: an object or a string unchanged, anything else as a string.
pub(super) fn arguments(input: Json<'_>) -> crate::frame::RawJson {
    use crate::json::Kind;
    match input.kind() {
        Kind::Object | Kind::String => input.to_raw(),
        Kind::Null => empty_object(),
        _ => to_raw(input.text()),
    }
}

/// References to files that contain more than the output.
fn artifacts(metadata: &Object<'_>, attachments: &[Json<'_>]) -> Option<crate::frame::RawJson> {
    let mut refs = Map::new();
    if let Some(path) = metadata.str("outputPath") {
        refs.insert("output_path".to_owned(), Value::from(&*path));
    }
    let files: Vec<Value> = attachments
        .iter()
        .filter_map(|file| file.object())
        .map(|file| {
            let mut entry = Map::new();
            for key in ["mime", "filename"] {
                if let Some(text) = file.str(key) {
                    entry.insert(key.to_owned(), Value::from(&*text));
                }
            }
            if let Some(url) = file.get("url") {
                if let Some(url) = reference(url) {
                    entry.insert("url".to_owned(), Value::from(url));
                } else if let Some(bytes) = inline_bytes(url) {
                    entry.insert("bytes".to_owned(), Value::from(bytes));
                }
            }
            Value::Object(entry)
        })
        .collect();
    if !files.is_empty() {
        refs.insert("attachments".to_owned(), Value::Array(files));
    }
    (!refs.is_empty()).then(|| to_raw(&Value::Object(refs)))
}

/// How a client displays a tool. A name with an underscore that is not one of the runner's own belongs to an MCP server:
/// `SERVER_TOOL`.
pub(super) fn kind(name: &str) -> ToolKind {
    match name {
        "bash" | "shell" => ToolKind::Shell,
        "read" | "list" | "ls" | "lsp" => ToolKind::Read,
        "write" => ToolKind::Write,
        "edit" | "multiedit" | "patch" | "apply_patch" => ToolKind::Edit,
        "glob" | "grep" | "websearch" | "codesearch" => ToolKind::Search,
        "webfetch" => ToolKind::Fetch,
        "todowrite" | "todoread" => ToolKind::Plan,
        "task" => ToolKind::Subagent,
        "plan_enter" | "plan_exit" => ToolKind::Other,
        name if name.contains('_') => ToolKind::Mcp,
        _ => ToolKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_new_part_of_an_output_is_emitted() {
        assert_eq!(unsaid("", "a"), "a");
        assert_eq!(unsaid("one\n", "one\ntwo\n"), "two\n");
        assert_eq!(unsaid("one\ntwo\n", "...\n\ntwo\nthree\n"), "...\n\ntwo\nthree\n");
        let shown: String = (0..2000).map(|line| format!("{line}\n")).collect();
        let later: String = (900..2100).map(|line| format!("{line}\n")).collect();
        let rest: String = (2000..2100).map(|line| format!("{line}\n")).collect();
        assert_eq!(unsaid(&shown, &format!("...\n\n{later}")), rest);
    }

    #[test]
    fn the_note_at_the_end_of_an_output_says_whether_the_command_took_too_long() {
        let said = "shell tool terminated command after exceeding timeout 1500 ms. Retry with a larger timeout.";
        assert!(took_too_long(&format!("a\n\n<shell_metadata>\n{said}\n</shell_metadata>")));
        assert!(took_too_long(&format!("<bash_metadata>\n{said}\n</bash_metadata>")));
        assert!(!took_too_long(&format!("a {said}\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>")));
        assert!(!took_too_long(said));
        let metadata = |text| exit_code(&Object::parse(text).unwrap(), || true);
        assert_eq!(metadata(r#"{"exit":null}"#), TIMED_OUT);
        assert_eq!((metadata(r#"{"exit":3}"#), metadata("{}")), (3, 0));
    }

    #[test]
    fn the_childs_report_is_found_in_the_output() {
        assert_eq!(task_result("<task id=\"x\">\n<task_result>\nDone.\n</task_result>\n</task>"), "Done.");
        assert_eq!(task_result("plain"), "plain");
    }

    #[test]
    fn arguments_are_an_object_or_a_string() {
        let text = |json| arguments(Json::parse(json).unwrap()).get().to_owned();
        assert_eq!(text("{\"a\":1}"), "{\"a\":1}");
        assert_eq!(text("[1]"), "\"[1]\"");
        assert_eq!(text("null"), "{}");
    }
}
