//! Tools: an `mcp_call` item for each call.
//!
//! Input: calls, their arguments, their output, their end. Output: the item with its arguments, then what became of it, then the whole
//! item. Never: output before the call is over (the API has no event for it), or a call that a client would execute.

use super::encode::Response;
use super::items::{Call, CallStatus, ITEM_BYTES, Item, Quoted, cut, quoted};
use crate::contracts::tool_output::{ToolOutput, ToolOutputs};
use crate::encode::{Events, key};
use crate::frame::{Body, RawJson, SharedStr, Tool, ToolCall};
use crate::hash::HashMap;
use crate::json;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The error of a tool that failed without one.
const FAILED: &str = "the tool failed";

/// The error of a call without a result.
const NO_RESULT: &str = "the run ended before the call had a result";

/// The open calls of one run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Calls {
    open: HashMap<Uuid, OpenCall>,
    outputs: ToolOutputs,
    /// The working subagents: the call that started each of them, which may be over, and its item.
    subagents: HashMap<SharedStr, (Uuid, u64)>,
}

/// A call without a result.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenCall {
    index: u64,
    /// The pieces of its arguments, while they are streamed; `None` if they are too long to be joined.
    input: Option<String>,
    is_streaming: bool,
}

/// How a call ended.
struct Outcome {
    status: CallStatus,
    output: Option<String>,
    error: Option<String>,
}

/// A call's arguments, which the API writes as a string.
pub(super) fn arguments(args: &RawJson) -> Quoted {
    // What is not an object is the model's own text.
    if args.get().starts_with('"') { args.clone() } else { quoted(args.get()) }
}

impl Calls {
    /// The output that is held, in bytes.
    pub(super) fn held_bytes(&self) -> usize {
        let input = self.open.values().map(|call| call.input.as_ref().map_or(0, String::len)).sum::<usize>();
        self.outputs.held_bytes() + input
    }

    /// A tool starts, or gives output.
    pub(super) fn add_output(&mut self, body: &Body) {
        self.outputs.frame(body);
    }

    /// The item of a call that is open, or whose subagent works.
    pub(super) fn item(&self, tool: &Uuid) -> Option<u64> {
        let open = self.open.get(tool).map(|call| call.index);
        let of_subagent = || self.subagents.values().find(|(parent, _)| parent == tool).map(|(_, index)| *index);
        open.or_else(of_subagent)
    }

    /// A subagent starts.
    pub(super) fn subagent_started(&mut self, subagent_id: &SharedStr, tool: Option<Uuid>) {
        let Some(tool) = tool else { return };
        if let Some(index) = self.item(&tool) {
            self.subagents.insert(subagent_id.clone(), (tool, index));
        }
    }

    /// A subagent is done.
    pub(super) fn subagent_ended(&mut self, subagent_id: &SharedStr) {
        self.subagents.remove(subagent_id);
    }
}

impl Response {
    /// A piece of a call's arguments. The arguments of a subagent's call are not streamed.
    pub(super) fn input_delta(&mut self, tool: &Tool, name: &SharedStr, delta: &str, out: &mut Events) {
        if !self.calls.open.contains_key(&tool.id) {
            let index = self.open_call(tool, name, None, out);
            let call = OpenCall { index, input: Some(String::new()), is_streaming: true };
            self.calls.open.insert(tool.id, call);
        }
        let Some(call) = self.calls.open.get_mut(&tool.id).filter(|call| call.is_streaming) else { return };
        if delta.is_empty() {
            return;
        }
        call.input =
            call.input.take().filter(|input| input.len() + delta.len() <= ITEM_BYTES).map(|input| input + delta);
        let index = call.index;
        self.call_event("response.mcp_call_arguments.delta", index, Some((key!("delta"), &quoted(delta))), out);
    }

    fn open_call(&mut self, tool: &Tool, name: &SharedStr, parent: Option<u64>, out: &mut Events) -> u64 {
        let call = Call {
            call_id: tool.call_id.clone(),
            name: name.clone(),
            status: CallStatus::InProgress,
            arguments: quoted(""),
            output: None,
            error: None,
            question: None,
            parent,
        };
        let index = self.add(Item::Call(call), out);
        self.call_event("response.mcp_call.in_progress", index, None, out);
        index
    }

    /// Writes an event about a call, with a text.
    fn call_event(
        &mut self,
        kind: &'static str,
        index: u64,
        text: Option<(&'static crate::encode::Key, &Quoted)>,
        out: &mut Events,
    ) {
        let Some(id) = self.items.get(index).map(|item| item.id(&self.names.run, index)) else { return };
        self.writer.event(kind, out, |map| {
            map.text(key!("item_id"), &id);
            map.entry(key!("output_index"), &index);
            if let Some((key, text)) = text {
                map.raw(key, text.get());
            }
        });
    }

    /// A call was proposed or started; the first of both has its arguments.
    pub(super) fn call(&mut self, call: &ToolCall, parent: Option<Uuid>, out: &mut Events) {
        let arguments = arguments(&call.args);
        let Some(open) = self.calls.open.get_mut(&call.tool.id) else {
            let parent = parent.and_then(|parent| self.calls.item(&parent));
            let index = self.open_call(&call.tool, &call.name, parent, out);
            self.calls.open.insert(call.tool.id, OpenCall { index, input: None, is_streaming: false });
            self.call_event("response.mcp_call_arguments.delta", index, Some((key!("delta"), &arguments)), out);
            return self.arguments_done(index, arguments, out);
        };
        if std::mem::take(&mut open.is_streaming) {
            let (index, input) = (open.index, open.input.take());
            self.items.update_call(index, |held| held.name = call.name.clone());
            // The pieces say the same, possibly in another form. Then the client has them already.
            let joined = input.filter(|input| is_same(input, &call.args)).map(|input| quoted(&input));
            self.arguments_done(index, joined.unwrap_or(arguments), out);
        }
    }

    fn arguments_done(&mut self, index: u64, arguments: Quoted, out: &mut Events) {
        self.call_event("response.mcp_call_arguments.done", index, Some((key!("arguments"), &arguments)), out);
        self.items.update_call(index, |call| call.arguments = arguments);
    }

    /// A tool ran to its end.
    pub(super) fn tool_ended(&mut self, tool: &Tool, exit_code: i32, body: &Body, out: &mut Events) {
        let output = self.calls.outputs.frame(body).map_or_else(String::new, |ToolOutput { output, .. }| output);
        let failed = exit_code != 0;
        let status = if failed { CallStatus::Failed } else { CallStatus::Completed };
        let error = failed.then(|| format!("{FAILED} with exit code {exit_code}"));
        self.close_call(&tool.id, Outcome { status, output: Some(output), error }, out);
    }

    /// A tool never ran, was refused, or was interrupted.
    pub(super) fn tool_failed(&mut self, tool: &Tool, error: &str, body: &Body, out: &mut Events) {
        let output = self.calls.outputs.frame(body).map(|ToolOutput { output, .. }| output);
        let output = output.filter(|output| !output.is_empty());
        let error = if error.is_empty() { FAILED } else { error };
        let error = cut(error).unwrap_or_else(|| error.to_owned());
        self.close_call(&tool.id, Outcome { status: CallStatus::Failed, output, error: Some(error) }, out);
    }

    fn close_call(&mut self, tool: &Uuid, outcome: Outcome, out: &mut Events) {
        let Some(call) = self.calls.open.remove(tool) else { return };
        let index = call.index;
        if call.is_streaming {
            self.arguments_done(index, quoted(&call.input.unwrap_or_default()), out);
        }
        let kind = match outcome.status {
            CallStatus::Failed => "response.mcp_call.failed",
            CallStatus::Completed | CallStatus::InProgress => "response.mcp_call.completed",
        };
        self.call_event(kind, index, None, out);
        let Some(Item::Call(open)) = self.items.get(index).cloned() else { return };
        let Outcome { status, output, error } = outcome;
        let error = error.as_deref().map(quoted);
        let whole = Item::Call(Call { status, output: output.as_deref().map(quoted), error, ..open });
        self.item_event("response.output_item.done", index, &whole, out);
        let cut = output.as_deref().and_then(cut).as_deref().map(quoted);
        self.items.update(index, |item| {
            *item = whole.kept();
            if let (Item::Call(call), Some(cut)) = (item, cut) {
                call.output = Some(cut);
            }
        });
    }

    /// The run is over: no call stays open.
    pub(super) fn close_calls(&mut self, out: &mut Events) {
        let mut left: Vec<(u64, Uuid)> = self.calls.open.iter().map(|(tool, call)| (call.index, *tool)).collect();
        left.sort_unstable();
        for (_, tool) in left {
            let (status, error) = (CallStatus::Failed, Some(NO_RESULT.to_owned()));
            self.close_call(&tool, Outcome { status, output: None, error }, out);
        }
    }
}

/// Whether pieces of arguments, joined, are the arguments.
fn is_same(joined: &str, args: &RawJson) -> bool {
    if joined == args.get() {
        return true;
    }
    let value = |text: &str| json::value(text.as_bytes()).ok();
    match value(args.get()) {
        // What is not an object is the model's own text.
        Some(serde_json::Value::String(text)) => text == joined,
        args => args.is_some() && args == value(joined),
    }
}
