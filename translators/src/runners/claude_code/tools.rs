//! Tool calls: proposed and started by their whole block, ended by their result.
//!
//! Input: `tool_use` and `tool_result` blocks, and what the runner adds to the latter. Output: tool frames, and the effects of
//! a result on files, plans, questions and subagents. Never: base64 in a frame; a refused call reported as executed.

use super::decoder::Claude;
use super::outcome::{Outcome, Verdict, result_text};
use crate::frame::{
    Body, FileChanged, OutputStream, RawJson, SharedStr, SkillEvent, SkillMode, Tool, ToolCall, ToolKind,
};
use crate::json::{Json, Kind, Object, to_raw};
use crate::normalizer::{Normalizer, Target};

/// A call that awaits its result.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Its ids.
    pub(super) tool: Tool,
    /// The name of the tool.
    pub(super) name: SharedStr,
    /// How a client displays it.
    pub(super) kind: ToolKind,
    /// The caller.
    pub(super) target: Target,
    /// The arguments.
    pub(super) args: RawJson,
    /// Whether the runner reported the call as denied.
    pub(super) denied: bool,
}

/// How a client displays a tool.
pub(super) fn kind_of(name: &str) -> ToolKind {
    match name {
        "Bash" | "PowerShell" | "BashOutput" | "KillShell" | "KillBash" | "bash" | "bash_code_execution" => {
            ToolKind::Shell
        }
        "Read" | "NotebookRead" => ToolKind::Read,
        "Write" => ToolKind::Write,
        "Edit" | "MultiEdit" | "NotebookEdit" => ToolKind::Edit,
        "Glob" | "Grep" | "LS" | "WebSearch" | "web_search" | "ToolSearch" => ToolKind::Search,
        "WebFetch" | "web_fetch" => ToolKind::Fetch,
        "TodoWrite" | "TodoRead" | "TaskCreate" | "TaskUpdate" | "TaskList" | "TaskGet" => ToolKind::Plan,
        "Agent" | "Task" => ToolKind::Subagent,
        name if name.starts_with("mcp__") => ToolKind::Mcp,
        _ => ToolKind::Other,
    }
}

impl Claude {
    /// Handles the model's whole call.
    pub(super) fn call(&mut self, target: Target, block: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(id) = block.str("id").filter(|id| !id.is_empty()) else { return };
        let key = self.key(&id, normalizer);
        if self.calls.contains_key(&*key) {
            return;
        }
        let name = SharedStr::from(&*block.str("name").unwrap_or_default());
        let tool = self.new_tool(normalizer, target, &id);
        let kind = match block.str("type").as_deref() {
            Some("mcp_tool_use") => ToolKind::Mcp,
            _ => kind_of(&name),
        };
        let input = block.get("input");
        let fields = input.and_then(Json::object).unwrap_or_default();
        let args = arguments(input, &fields);
        let call = ToolCall { tool: tool.clone(), name: name.clone(), kind, args: args.clone() };
        normalizer.tool_proposed(target, call.clone());
        let timeout_ms = fields.u64("timeout").filter(|_| kind == ToolKind::Shell);
        normalizer.tool_started(target, call, timeout_ms);
        // The call's own id serves as key if it can, so that it is not copied.
        let key = if *key == *tool.call_id { tool.call_id.clone() } else { SharedStr::from(&*key) };
        if kind == ToolKind::Subagent {
            self.agent_called(key.clone(), target, &tool, &fields);
        }
        if matches!(&*name, "TaskStop" | "KillShell" | "KillBash")
            && let Some(task_id) = fields.str("task_id").or_else(|| fields.str("shell_id"))
        {
            self.task_unwanted(&task_id, &name, normalizer);
        }
        if &*name == "Skill"
            && let Some(skill) = fields.str("skill").or_else(|| fields.str("command"))
        {
            // A skill takes a string or an object. Anything else is not an argument.
            let is_args = |args: &Json<'_>| matches!(args.kind(), Kind::String | Kind::Object);
            let args = fields.some("args").filter(is_args).map(Json::to_raw);
            let name = SharedStr::from(&*skill);
            let event = SkillEvent::Invoked { name, args, mode: SkillMode::Auto, effective_allowed_tools: None };
            normalizer.push(target, Body::Skill(Box::new(event)));
        }
        self.forget_calls(normalizer);
        self.calls.insert(key, Call { tool, name, kind, target, args, denied: false });
    }

    /// Forgets calls that no longer run: the normalizer closed them because too many were open.
    fn forget_calls(&mut self, normalizer: &Normalizer) {
        if self.calls.len() < self.forget_at.max(normalizer.most_open()) {
            return;
        }
        self.calls.retain(|_, call| normalizer.tool_runs(call.target.stream, &call.tool));
        self.agents.retain(|id, agent| {
            agent.background || normalizer.tool_runs(agent.target.stream, &agent.tool) || self.calls.contains_key(id)
        });
        self.asks.retain(|_, ask| normalizer.is_open(ask.target.stream));
        self.forget_at = self.calls.len() * 2;
    }

    /// Handles a call's result. `target` is that of the record; the call's own target takes precedence.
    pub(super) fn tool_result(
        &mut self,
        target: Target,
        block: &Object<'_>,
        outcome: &Outcome<'_>,
        normalizer: &mut Normalizer,
    ) {
        let Some(id) = block.str("tool_use_id").filter(|id| !id.is_empty()) else { return };
        let key = self.key(&id, normalizer);
        let call = self.calls.remove(&*key);
        let target = call.as_ref().map_or(target, |call| call.target);
        if call.is_none() && self.runs.run(target.stream).is_none() {
            // The call's run is over; its end closed the call.
            return;
        }
        self.acts(target);
        let text = result_text(block.get("content"));
        let is_error = block.bool("is_error") == Some(true);
        let verdict = outcome.verdict(is_error, &text, call.as_ref());
        self.answered(&key, &verdict, outcome, normalizer);
        let tool = match &call {
            Some(call) => call.tool.clone(),
            None => self.tool(normalizer, target, &id),
        };
        if let Some(call) = call.as_ref().filter(|_| !is_error) {
            self.effects(call, &text, outcome, normalizer);
        }
        if call.as_ref().is_none_or(|call| call.kind == ToolKind::Subagent) {
            self.agent_returned(&key, &tool, call.as_ref(), !is_error, outcome.result, normalizer);
        }
        match verdict {
            Verdict::Ended(exit_code) => {
                if !text.is_empty() {
                    normalizer.tool_output(target, &tool, OutputStream::Stdout, text);
                }
                normalizer.tool_ended(target, &tool, exit_code, outcome.duration_ms(), None);
            }
            Verdict::Refused(error) | Verdict::Cancelled(error) => normalizer.tool_failed(target, &tool, error),
        }
    }

    /// Reports the further effects of a successful call.
    fn effects(&mut self, call: &Call, text: &str, outcome: &Outcome<'_>, normalizer: &mut Normalizer) {
        let result = outcome.result.and_then(Json::object).unwrap_or_default();
        match call.kind {
            ToolKind::Write | ToolKind::Edit => {
                let args = Object::parse(call.args.get()).unwrap_or_default();
                if let Some(change) = super::files::change(&call.name, &args, &result, text) {
                    let change = FileChanged { tool_id: Some(call.tool.id), ..change };
                    normalizer.push(call.target, Body::FileChanged(Box::new(change)));
                }
            }
            ToolKind::Plan => {
                let args = Object::parse(call.args.get()).unwrap_or_default();
                let plan = &mut self.runs.session(normalizer).plan;
                if let Some(entries) = plan.update(&call.name, &args, &result, text) {
                    normalizer.push(call.target, Body::PlanUpdated { entries });
                }
            }
            ToolKind::Shell => {
                if let Some(task_id) = result.str("backgroundTaskId").filter(|id| !id.is_empty()) {
                    self.task_begins(&task_id, Some(call), None, normalizer);
                }
            }
            _ => {}
        }
    }

    /// Handles the result of a tool that the provider ran. It is part of the model's own message.
    pub(super) fn server_result(&mut self, target: Target, block: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(id) = block.str("tool_use_id").filter(|id| !id.is_empty()) else { return };
        let content = block.get("content");
        let error = content.and_then(Json::object).and_then(|content| content.str("error_code").map(String::from));
        let key = self.key(&id, normalizer);
        let call = self.calls.remove(&*key);
        let (target, tool) = match call {
            Some(call) => (call.target, call.tool),
            None => (target, self.tool(normalizer, target, &id)),
        };
        let failed = error.is_some() || block.bool("is_error") == Some(true);
        let text = error.unwrap_or_else(|| result_text(content));
        if !text.is_empty() {
            normalizer.tool_output(target, &tool, OutputStream::Stdout, text);
        }
        normalizer.tool_ended(target, &tool, i32::from(failed), None, None);
    }
}

/// The arguments: the original object, or a string if the model did not write an object.
fn arguments(input: Option<Json<'_>>, fields: &Object<'_>) -> RawJson {
    let unparsed = fields.object("__unparsedToolInput").and_then(|unparsed| unparsed.get("raw"));
    match (unparsed, input) {
        (Some(raw), _) if raw.kind() == crate::json::Kind::String => raw.to_raw(),
        (_, Some(input)) if input.kind() == crate::json::Kind::Object => input.to_raw(),
        (_, Some(input)) if input.kind() == crate::json::Kind::String => input.to_raw(),
        (_, Some(input)) if !input.is_null() => to_raw(input.text()),
        _ => crate::json::empty_object(),
    }
}
