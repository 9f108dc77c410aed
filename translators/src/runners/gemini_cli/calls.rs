//! Tool calls, and what a successful one changed: files, the plan, and subagents.
//!
//! Input: calls and outcomes, from the stream or a chat file. Output: tool frames with their effects. The stream has no diffs, and nothing
//! that a subagent said. Never: a diff computed here; a plan of unbounded size; a call that was refused reported as executed.

use super::decoder::Gemini;
use super::outcome::{Outcome, Verdict};
use crate::frame::{
    Body, FileChangeKind, FileChanged, OutputStream, PlanEntry, RawJson, SharedStr, Tool, ToolCall, ToolKind,
};
use crate::json::{Json, Kind, Object, to_raw};
use crate::normalizer::{Normalizer, Target};

/// The maximum number of entries of a plan; further ones are left out.
const MOST_ENTRIES: usize = 1000;

/// The maximum size of a diff in bytes. A longer diff is left out; the record still contains it.
const MOST_DIFF: usize = 1 << 20;

/// The tool with which a subagent gives its answer and ends.
const SUBMIT: &str = "complete_task";

/// A call that awaits its result.
#[derive(Clone, Debug)]
pub(super) struct Call {
    tool: Tool,
    pub(super) kind: ToolKind,
    target: Target,
    args: RawJson,
    /// The subagent's id, if the call started one.
    agent: Option<SharedStr>,
    /// The file that it changes, with the runner's own diff; `None` if only the arguments name it.
    pub(super) change: Option<Change>,
    /// Whether a subagent gives its answer with it.
    is_answer: bool,
}

/// What a chat file says of a changed file.
#[derive(Clone, Debug)]
pub(super) struct Change {
    diff: Option<String>,
    path: Option<String>,
    kind: FileChangeKind,
}

impl Change {
    /// Reads the `resultDisplay` of a call; `None` if it has no diff.
    pub(super) fn of(display: &Object<'_>) -> Option<Self> {
        let diff = display.str("fileDiff")?;
        let kind = if display.bool("isNewFile") == Some(true) { FileChangeKind::Add } else { FileChangeKind::Modify };
        Some(Self {
            diff: Some(diff.into_owned()).filter(|diff| !diff.is_empty() && diff.len() <= MOST_DIFF),
            path: display.str("filePath").map(|path| path.into_owned()),
            kind,
        })
    }
}

/// How a client displays a tool.
fn kind_of(name: &str) -> ToolKind {
    match name {
        "run_shell_command" => ToolKind::Shell,
        "read_file" | "read_many_files" => ToolKind::Read,
        "write_file" => ToolKind::Write,
        "replace" | "edit" => ToolKind::Edit,
        "glob" | "grep_search" | "search_file_content" | "list_directory" | "google_web_search" => ToolKind::Search,
        "web_fetch" => ToolKind::Fetch,
        "write_todos" => ToolKind::Plan,
        "invoke_agent" => ToolKind::Subagent,
        name if name.starts_with("mcp_") => ToolKind::Mcp,
        _ => ToolKind::Other,
    }
}

/// The arguments: the object, or else a string with what the model wrote instead.
fn arguments(input: Option<Json<'_>>) -> RawJson {
    match input {
        Some(input) if matches!(input.kind(), Kind::Object | Kind::String) => input.to_raw(),
        Some(input) if !input.is_null() => to_raw(input.text()),
        _ => crate::json::empty_object(),
    }
}

impl Gemini {
    /// The model calls a tool. A call that is already known is not repeated. `id` is the runner's.
    pub(super) fn called(
        &mut self,
        target: Target,
        tool: Tool,
        id: &str,
        name: &str,
        input: Option<Json<'_>>,
        normalizer: &mut Normalizer,
    ) {
        if normalizer.tool_known(target.stream, &tool) {
            return;
        }
        let kind = kind_of(name);
        let args = arguments(input);
        let call = ToolCall { tool: tool.clone(), name: SharedStr::from(name), kind, args: args.clone() };
        normalizer.tool_proposed(target, call.clone());
        normalizer.tool_started(target, call, None);
        let open = Call { tool, kind, target, args, agent: None, change: None, is_answer: name == SUBMIT };
        let Some(run) = self.run(normalizer) else { return };
        if run.calls.len() >= run.forget_at.max(normalizer.most_open()) {
            let key = run.key;
            run.calls.retain(|_, call| normalizer.tool_runs(key, &call.tool));
            run.forget_at = run.calls.len() * 2;
        }
        let id = if *open.tool.call_id == *id { open.tool.call_id.clone() } else { SharedStr::from(id) };
        run.calls.insert(id, open);
    }

    /// A call of a subagent starts it. `agent` is the subagent's id, if the runner gives one.
    pub(super) fn delegates(&mut self, id: &str, agent: Option<&str>, normalizer: &mut Normalizer) {
        let Some(run) = self.run(normalizer) else { return };
        let starts = |call: &&mut Call| call.kind == ToolKind::Subagent && call.agent.is_none();
        let Some(call) = run.calls.get_mut(id).filter(starts) else { return };
        let args = Object::parse(call.args.get()).unwrap_or_default();
        let agent = SharedStr::from(agent.unwrap_or(id));
        let name = args.str("agent_name").map(|name| SharedStr::from(&*name));
        let task = args.str("prompt").or_else(|| args.str("objective")).map(|task| task.into_owned());
        call.agent = Some(agent.clone());
        normalizer.subagent_started(call.target, &agent, Some(call.tool.id), name, task, 1);
    }

    /// The answer of a subagent, which is the argument of its last call; `None` if the call is another one.
    pub(super) fn submitted(&mut self, id: &str, normalizer: &Normalizer) -> Option<String> {
        let call = self.run(normalizer)?.calls.get(id).filter(|call| call.is_answer)?;
        let args = Object::parse(call.args.get())?;
        let result = args.get("result")?;
        match result.object() {
            Some(fields) => {
                Some(fields.str("response").map_or_else(|| result.text().to_owned(), |text| text.into_owned()))
            }
            None => result.str().map(|text| text.into_owned()),
        }
    }

    /// A call has its result.
    pub(super) fn returned(&mut self, target: Target, id: &str, outcome: &Outcome, normalizer: &mut Normalizer) {
        let call = self.run(normalizer).and_then(|run| run.calls.remove(id));
        let tool = call.as_ref().map_or_else(|| tool(target, id, false, normalizer), |call| call.tool.clone());
        if let Some(call) = &call {
            if outcome.verdict == Verdict::Ended(0) {
                call.effects(normalizer);
            }
            if let Some(agent) = &call.agent {
                let status = if outcome.verdict == Verdict::Ended(0) { "completed" } else { "failed" };
                let summary = Some(outcome.text.clone()).filter(|text| !text.is_empty());
                normalizer.subagent_ended(target.stream, agent, status, summary);
            }
        }
        match outcome.verdict {
            Verdict::Ended(exit_code) => {
                if !outcome.text.is_empty() {
                    normalizer.tool_output(target, &tool, OutputStream::Stdout, outcome.text.as_str());
                }
                normalizer.tool_ended(target, &tool, exit_code, None, None);
            }
            Verdict::Refused => normalizer.tool_failed(target, &tool, outcome.text.as_str()),
        }
    }
}

/// The ids of the newest call with this id, or of a new one. They are derived within the session, so they are the same in every run.
pub(super) fn tool(target: Target, call_id: &str, is_new: bool, normalizer: &mut Normalizer) -> Tool {
    let scope = normalizer.session_id_of(target.stream);
    match is_new {
        true => normalizer.tool_of_new_call(target, scope, call_id),
        false => normalizer.newest_tool(target.stream, scope, call_id),
    }
}

impl Call {
    /// Reports what the call changed: the arguments say it, since the result does not.
    fn effects(&self, normalizer: &mut Normalizer) {
        let args = Object::parse(self.args.get()).unwrap_or_default();
        match self.kind {
            ToolKind::Write | ToolKind::Edit => {
                let change = self.change.as_ref();
                let path = args.str("file_path").map(|path| path.into_owned());
                let Some(path) = path.or_else(|| change?.path.clone()) else { return };
                // The stream does not say whether a written file is new. An edit of nothing creates one.
                let creates = self.kind == ToolKind::Edit && args.str("old_string").is_some_and(|old| old.is_empty());
                let guess = if creates { FileChangeKind::Add } else { FileChangeKind::Modify };
                let body = FileChanged {
                    tool_id: Some(self.tool.id),
                    path,
                    kind: change.map_or(guess, |change| change.kind),
                    diff: change.and_then(|change| change.diff.clone()),
                    artifact_id: None,
                };
                normalizer.push(self.target, Body::FileChanged(Box::new(body)));
            }
            ToolKind::Plan => {
                let todos = args.items("todos").into_iter().take(MOST_ENTRIES).filter_map(Json::object);
                let entries = todos.filter_map(|todo| {
                    Some(PlanEntry {
                        content: todo.str("description")?.into_owned(),
                        status: SharedStr::from(todo.str("status").as_deref().unwrap_or("pending")),
                        priority: None,
                    })
                });
                normalizer.push(self.target, Body::PlanUpdated { entries: entries.collect() });
            }
            _ => {}
        }
    }
}
