//! Tool calls: proposed by a message, started and ended by events of their own.
//!
//! Input: calls, pieces of output, results. Output: tool frames. A shell command's output arrives up to three times: in pieces, as all of it so
//! far, and in the result. Never: output that is there twice; a command that failed reported as successful, although the runner
//! says `success`; a refused call reported as executed.

use super::decoder::{Copilot, Event};
use super::live::Live;
use super::plan;
use crate::frame::{
    Body, OutputStream, RawJson, SharedStr, SkillEvent, SkillMode, TIMED_OUT, Tool, ToolCall, ToolKind,
};
use crate::json::{Json, Kind, Object, empty_object, to_raw};
use crate::normalizer::{Normalizer, Target};

/// The codes of errors of calls that did not run. Those that ran have others, such as `failure` and `timeout`.
const REFUSED: &[&str] = &["denied", "rejected"];

/// A call that awaits its result.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) call: ToolCall,
    /// The caller.
    pub(super) target: Target,
    /// Whether it runs.
    started: bool,
    /// Its output so far.
    live: Live,
}

/// How a client displays a tool. The runner joins the name of a tool of an MCP server from two names; its own names have no hyphen.
fn kind_of(name: &str, args: &Object<'_>) -> ToolKind {
    match name {
        "bash" | "powershell" => ToolKind::Shell,
        "view" => ToolKind::Read,
        "create" => ToolKind::Write,
        "edit" | "apply_patch" | "str_replace_editor" => ToolKind::Edit,
        "grep" | "rg" | "glob" | "web_search" => ToolKind::Search,
        "web_fetch" => ToolKind::Fetch,
        "task" => ToolKind::Subagent,
        "sql" if args.str("query").is_some_and(|query| plan::is_of_plan(&query)) => ToolKind::Plan,
        name if name.contains('-') => ToolKind::Mcp,
        _ => ToolKind::Other,
    }
}

impl Copilot {
    /// Adds a piece to the arguments that the model is writing.
    pub(super) fn call_grows(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let Some(target) = self.speaker(event, normalizer) else { return };
        self.in_turn(target, normalizer);
        let data = &event.data;
        let (Some(id), Some(delta)) = (call_id(data), data.get("inputDelta").and_then(Json::utf16)) else { return };
        let is_known = self.run_of(target.stream).is_some_and(|run| run.calls.contains_key(&*id));
        let is_empty = delta.text.is_empty() && delta.low.is_none() && delta.high.is_none();
        if !is_known && !is_empty {
            let tool = self.new_tool(normalizer, target, &id);
            let name = SharedStr::from(&*data.str("toolName").unwrap_or_default());
            normalizer.tool_input(target, &tool, &name, delta);
        }
    }

    /// Handles a call that a message asks for.
    pub(super) fn call_requested(&mut self, target: Target, request: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(id) = call_id(request) else {
            return normalizer.add_error("a call without an id");
        };
        let tool = self.new_tool(normalizer, target, &id);
        self.called(target, tool, &id, "name", request, normalizer);
    }

    /// Handles the start of a call. The call is proposed first if no message asked for it.
    pub(super) fn call_starts(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let Some(target) = self.speaker(event, normalizer) else { return };
        self.in_turn(target, normalizer);
        let Some(id) = call_id(&event.data) else {
            return normalizer.add_error("a call without an id");
        };
        let tool = self.tool(normalizer, target.stream, &id);
        self.called(target, tool, &id, "toolName", &event.data, normalizer);
        self.runs(&id, normalizer);
    }

    /// Proposes a call, unless it is known. `id` is the runner's; the field `name` has the tool's name.
    fn called(
        &mut self,
        target: Target,
        tool: Tool,
        id: &str,
        name: &str,
        fields: &Object<'_>,
        normalizer: &mut Normalizer,
    ) {
        let is_over = normalizer.tool_known(target.stream, &tool) && !normalizer.tool_runs(target.stream, &tool);
        let Some(run) = self.run_of(target.stream) else { return };
        if is_over || run.calls.contains_key(id) {
            return;
        }
        let name = SharedStr::from(&*fields.str(name).unwrap_or_default());
        let input = fields.get("arguments");
        let args = input.and_then(Json::object).unwrap_or_default();
        let is_mcp = fields.some("mcpServerName").is_some();
        let kind = if is_mcp { ToolKind::Mcp } else { kind_of(&name, &args) };
        let call = ToolCall { tool: tool.clone(), name, kind, args: arguments(input) };
        normalizer.tool_proposed(target, call.clone());
        if kind == ToolKind::Subagent {
            self.agent_called(target, id, &tool, &args);
        }
        self.forget(normalizer);
        if let Some(run) = self.run_of(target.stream) {
            let call = Call { call, target, started: false, live: Live::default() };
            let id = if *tool.call_id == *id { tool.call_id } else { SharedStr::from(id) };
            run.calls.insert(id, call);
        }
    }

    /// Starts a call that was proposed.
    fn runs(&mut self, id: &str, normalizer: &mut Normalizer) {
        let Some(call) = self.run.as_mut().and_then(|run| run.calls.get_mut(id)) else { return };
        if !call.started {
            call.started = true;
            let timeout = Object::parse(call.call.args.get()).and_then(|args| args.u64("timeout"));
            normalizer.tool_started(
                call.target,
                call.call.clone(),
                timeout.filter(|_| call.call.kind == ToolKind::Shell),
            );
        }
    }

    /// Forgets calls that are over for the normalizer, and subagents without a call.
    pub(super) fn forget(&mut self, normalizer: &Normalizer) {
        let most = normalizer.most_open();
        let Some(run) = &mut self.run else { return };
        let count = run.calls.len().max(run.agents.len()).max(run.agent_calls.len()).max(run.questions.len());
        if count < run.forget_at.max(most) {
            return;
        }
        let key = run.key;
        run.calls.retain(|_, call| call.started && normalizer.tool_runs(key, &call.call.tool));
        let calls = &run.calls;
        run.agents.retain(|id, agent| agent.is_background || calls.contains_key(id));
        if run.agents.len() > most {
            run.agents.clear();
        }
        let agents = &run.agents;
        run.agent_calls.retain(|_, call_id| agents.contains_key(&**call_id));
        run.questions.retain(|id, _| normalizer.approval_waits(key, id));
        run.forget_at = count_of([run.calls.len(), run.agents.len(), run.agent_calls.len(), run.questions.len()]) * 2;
    }

    /// Adds a piece of a command's output.
    pub(super) fn shell_output(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let data = &event.data;
        let (Some(id), Some(text)) = (call_id(data), data.str("text").filter(|text| !text.is_empty())) else { return };
        let stream = match data.str("stream").as_deref() {
            Some("stderr") => OutputStream::Stderr,
            _ => OutputStream::Stdout,
        };
        // The record of its start may be lost.
        self.runs(&id, normalizer);
        let Some(call) = self.run.as_mut().and_then(|run| run.calls.get_mut(&*id)) else { return };
        if call.live.piece(&text) {
            normalizer.tool_output(call.target, &call.call.tool, stream, text);
        }
    }

    /// Adds what is new in all the output so far.
    pub(super) fn output_so_far(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let data = &event.data;
        let (Some(id), Some(text)) = (call_id(data), data.str("partialOutput")) else { return };
        self.runs(&id, normalizer);
        let Some(call) = self.run.as_mut().and_then(|run| run.calls.get_mut(&*id)) else { return };
        if let Some(new) = call.live.so_far(&text) {
            normalizer.tool_output(call.target, &call.call.tool, OutputStream::Stdout, new);
        }
    }

    /// Handles the result of a call.
    pub(super) fn call_ends(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let Some(target) = self.speaker(event, normalizer) else { return };
        let data = &event.data;
        let Some(id) = call_id(data) else {
            return normalizer.add_error("a result without a call");
        };
        let error = data.object("error");
        let message = error.as_ref().and_then(|error| error.str("message")).unwrap_or_default();
        let result = data.object("result").unwrap_or_default();
        let content = result.str("content").unwrap_or_default();
        let failed = data.bool("success") == Some(false) || (data.bool("success").is_none() && error.is_some());
        let never_ran = failed && never_ran(error.as_ref(), &message);
        if !never_ran {
            self.runs(&id, normalizer);
        }
        let call = self.run_of(target.stream).and_then(|run| run.calls.remove(&*id));
        let (target, tool) = match &call {
            Some(call) => (call.target, call.call.tool.clone()),
            None => (target, self.tool(normalizer, target.stream, &id)),
        };
        if let Some(call) = call.as_ref().filter(|_| !failed) {
            self.effects(call, data, normalizer);
        }
        let text = if failed && !message.is_empty() { message } else { content };
        self.agent_returned(target, &id, failed, &text, normalizer);
        if never_ran {
            if let Some(call) = call.filter(|call| !call.started) {
                normalizer.tool_started(call.target, call.call, None);
            }
            return normalizer.tool_failed(target, &tool, text);
        }
        let live = call.map(|call| call.live).unwrap_or_default();
        let rest = if failed { live.after(&text) } else { live.rest(&text) };
        if !rest.is_empty() {
            normalizer.tool_output(target, &tool, OutputStream::Stdout, rest);
        }
        let code = data.object("shellExecution").and_then(|shell| shell.i64("exitCode"));
        let code = code.map(|code| i32::try_from(code).unwrap_or(1));
        let took_too_long = || error.and_then(|error| error.str("code")).is_some_and(|code| code == "timeout");
        let code = if failed {
            code.filter(|code| *code != 0).unwrap_or_else(|| if took_too_long() { TIMED_OUT } else { 1 })
        } else {
            code.unwrap_or(0)
        };
        normalizer.tool_ended(target, &tool, code, None, None);
    }

    /// Handles a skill that was loaded into the conversation.
    pub(super) fn skill_invoked(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let Some(target) = self.speaker(event, normalizer) else { return };
        let Some(name) = event.data.str("name").filter(|name| !name.is_empty()) else { return };
        let allowed = event.data.get("allowedTools").filter(|tools| tools.kind() == Kind::Array);
        let invoked = SkillEvent::Invoked {
            name: SharedStr::from(&*name),
            args: None,
            mode: match event.data.str("trigger").as_deref() {
                Some("user-invoked") => SkillMode::Manual,
                _ => SkillMode::Auto,
            },
            effective_allowed_tools: allowed
                .map(|tools| tools.items().into_iter().filter_map(|tool| Some(tool.str()?.into_owned())).collect()),
        };
        normalizer.push(target, Body::Skill(Box::new(invoked)));
    }
}

fn count_of(lengths: [usize; 4]) -> usize {
    lengths.into_iter().max().unwrap_or_default()
}

fn call_id<'a>(fields: &Object<'a>) -> Option<std::borrow::Cow<'a, str>> {
    fields.str("toolCallId").filter(|id| !id.is_empty())
}

/// Whether a call failed before it ran: it was denied, or there is no such tool.
fn never_ran(error: Option<&Object<'_>>, message: &str) -> bool {
    let code = error.and_then(|error| error.str("code"));
    let is_missing = message.strip_prefix("Tool '").is_some_and(|rest| rest.ends_with("' does not exist."));
    is_missing || code.is_some_and(|code| REFUSED.contains(&&*code))
}

/// The arguments: the object, or else a string with what the model wrote instead.
fn arguments(input: Option<Json<'_>>) -> RawJson {
    match input {
        Some(input) if matches!(input.kind(), Kind::Object | Kind::String) => input.to_raw(),
        Some(input) if !input.is_null() => to_raw(input.text()),
        _ => empty_object(),
    }
}

impl Call {
    /// Its ids.
    pub(super) fn tool(&self) -> &Tool {
        &self.call.tool
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_of_servers_have_a_hyphen_and_tables_of_the_plan_are_the_plan() {
        let kind = |name: &str, args: &str| kind_of(name, &Object::parse(args).unwrap());
        assert_eq!(kind("demo-echo", "{}"), ToolKind::Mcp);
        assert_eq!(kind("read_bash", "{}"), ToolKind::Other);
        assert_eq!(kind("sql", r#"{"query":"SELECT 1"}"#), ToolKind::Other);
        assert_eq!(kind("sql", r#"{"query":"UPDATE todos SET status = 'done'"}"#), ToolKind::Plan);
    }

    #[test]
    fn only_refusals_and_missing_tools_never_ran() {
        fn error(code: &str) -> Object<'_> {
            Object::parse(code).unwrap()
        }
        assert!(never_ran(Some(&error(r#"{"code":"denied"}"#)), "Permission denied"));
        assert!(never_ran(Some(&error(r#"{"code":"failure"}"#)), "Tool 'frobnicate' does not exist."));
        assert!(!never_ran(Some(&error(r#"{"code":"failure"}"#)), "Path does not exist"));
        assert!(!never_ran(Some(&error(r#"{"code":"timeout"}"#)), "It took too long"));
        assert!(!never_ran(None, ""));
    }
}
