//! Tool calls: proposed and started by their whole block, ended by their result.
//!
//! Input: calls and outcomes, from either surface. Output: tool frames, and the effects of a result on files, plans, questions and
//! subagents. Never: a refused call reported as executed.

use super::decoder::Qwen;
use super::outcome::{Outcome, Verdict};
use crate::frame::{Body, OutputStream, RawJson, SharedStr, SkillEvent, SkillMode, Tool, ToolCall, ToolKind};
use crate::json::{Json, Kind, Object, to_raw};
use crate::normalizer::{Normalizer, Target};

/// A call that awaits its result.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// The runner's id.
    pub(super) id: SharedStr,
    /// Its own ids.
    pub(super) tool: Tool,
    /// The name of the tool.
    pub(super) name: SharedStr,
    /// How a client displays it.
    pub(super) kind: ToolKind,
    /// The caller.
    pub(super) target: Target,
    /// The arguments.
    pub(super) args: RawJson,
    /// How long it took in milliseconds, if the runner measured that before its result; `None` if unknown.
    pub(super) duration_ms: Option<u64>,
}

/// How a client displays a tool. A deferred tool is called by name through another one.
fn kind_of(name: &str, args: &Object<'_>) -> ToolKind {
    match name {
        "run_shell_command" => ToolKind::Shell,
        "read_file" | "read_many_files" | "zoom_image" => ToolKind::Read,
        "write_file" => ToolKind::Write,
        "edit" | "replace" | "notebook_edit" => ToolKind::Edit,
        "glob" | "grep_search" | "search_file_content" | "list_directory" | "web_search" | "tool_search" => {
            ToolKind::Search
        }
        "web_fetch" => ToolKind::Fetch,
        "todo_write" => ToolKind::Plan,
        "agent" | "task" => ToolKind::Subagent,
        "read_mcp_resource" => ToolKind::Mcp,
        "tool_call" => match args.str("name").as_deref() {
            Some("tool_call") | None => ToolKind::Other,
            Some(inner) => kind_of(inner, &Object::default()),
        },
        name if name.starts_with("mcp__") => ToolKind::Mcp,
        _ => ToolKind::Other,
    }
}

impl Qwen {
    /// Handles a whole call of the model: a block of the stream, or a part of a session file.
    pub(super) fn called(&mut self, target: Target, block: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(id) = block.str("id").filter(|id| !id.is_empty()) else {
            return normalizer.add_error("a call without an id");
        };
        let name = SharedStr::from(&*block.str("name").unwrap_or_default());
        let input = block.get("input").or_else(|| block.get("args"));
        let fields = input.and_then(Json::object).unwrap_or_default();
        let kind = kind_of(&name, &fields);
        let Some(run) = self.runs.run(target.stream) else { return };
        let open = run.open_call(&id, target.parent).map(|call| call.tool.call_id.clone());
        let is_open = open.is_some();
        let own = open.unwrap_or_else(|| run.call_ids.call(&id, target.parent, kind == ToolKind::Subagent));
        if let Some(reply) = run.replies.get_mut(&target.parent) {
            reply.forget_call(&own);
            reply.has_calls = true;
        }
        if is_open {
            return;
        }
        if let Some(file) = run.file.as_mut().filter(|_| target.parent.is_none()) {
            file.answered = false;
        }
        let args = arguments(input);
        let tool = self.tool(normalizer, target.stream, own);
        let call = ToolCall { tool: tool.clone(), name: name.clone(), kind, args: args.clone() };
        normalizer.tool_proposed(target, call.clone());
        normalizer.tool_started(target, call, fields.u64("timeout").filter(|_| kind == ToolKind::Shell));
        if kind == ToolKind::Subagent {
            self.agent_called(target, &tool, &fields);
        }
        if &*name == "task_stop"
            && let Some(task_id) = fields.str("task_id")
        {
            self.task_unwanted(&task_id, normalizer);
        }
        if &*name == "skill"
            && let Some(skill) = fields.str("skill")
        {
            let args = fields.some("args").filter(|args| matches!(args.kind(), Kind::String | Kind::Object));
            let event = SkillEvent::Invoked {
                name: SharedStr::from(&*skill),
                args: args.map(Json::to_raw),
                mode: SkillMode::Auto,
                effective_allowed_tools: None,
            };
            normalizer.push(target, Body::Skill(Box::new(event)));
        }
        self.forget_calls(target, normalizer);
        if let Some(run) = self.runs.run(target.stream) {
            let own = tool.call_id.clone();
            let id = if *own == *id { own.clone() } else { SharedStr::from(&*id) };
            run.calls.insert(own, Call { id, tool, name, kind, target, args, duration_ms: None });
        }
    }

    /// Forgets calls that no longer run: the normalizer closed them because too many were open.
    fn forget_calls(&mut self, target: Target, normalizer: &Normalizer) {
        let Some(run) = self
            .runs
            .run(target.stream)
            .filter(|run| run.calls.len().max(run.agents.len()) >= run.forget_at.max(normalizer.most_open()))
        else {
            return;
        };
        let key = run.key;
        run.calls.retain(|_, call| normalizer.tool_runs(key, &call.tool));
        let calls = &run.calls;
        run.agents.retain(|id, agent| agent.is_background || calls.contains_key(id));
        if run.agents.len() > normalizer.most_open() {
            run.agents.clear();
        }
        run.forget_at = run.calls.len().max(run.agents.len()) * 2;
    }

    /// Handles the result of a call. `target` is that of the record; the call's own target takes precedence.
    pub(super) fn returned(&mut self, target: Target, id: &str, mut outcome: Outcome, normalizer: &mut Normalizer) {
        let Some(run) = self.runs.run(target.stream) else { return };
        let own = run.returned_call(id, target.parent);
        let call = run.calls.remove(&own);
        let target = call.as_ref().map_or(target, |call| call.target);
        let tool = match &call {
            Some(call) => call.tool.clone(),
            None => self.tool(normalizer, target.stream, own),
        };
        let id = &*tool.call_id;
        outcome.duration_ms = outcome.duration_ms.or_else(|| call.as_ref().and_then(|call| call.duration_ms));
        self.answered(target, id, &outcome, normalizer);
        if let Some(call) = call.as_ref().filter(|_| outcome.verdict == Verdict::Ended(0)) {
            self.effects(call, &outcome.text, normalizer);
        }
        self.agent_returned(target, id, call.as_ref(), &outcome, normalizer);
        match outcome.verdict {
            Verdict::Ended(exit_code) => {
                if !outcome.text.is_empty() {
                    normalizer.tool_output(target, &tool, OutputStream::Stdout, outcome.text);
                }
                normalizer.tool_ended(target, &tool, exit_code, outcome.duration_ms, None);
            }
            Verdict::Refused | Verdict::Cancelled => normalizer.tool_failed(target, &tool, outcome.text),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deferred_tool_has_the_kind_of_what_it_calls() {
        let kind = |name: &str, args: &str| kind_of(name, &Object::parse(args).unwrap());
        assert_eq!(kind("tool_call", r#"{"name":"web_fetch","arguments":{}}"#), ToolKind::Fetch);
        assert_eq!(kind("tool_call", r#"{"name":"mcp__a__b"}"#), ToolKind::Mcp);
        assert_eq!(kind("tool_call", r#"{"name":"tool_call"}"#), ToolKind::Other);
        assert_eq!(kind("tool_call", "{}"), ToolKind::Other);
        assert_eq!(kind("frobnicate", "{}"), ToolKind::Other);
    }
}
