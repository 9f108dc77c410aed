//! Tools, approvals, usage and subagents, for the main thread and for subagents alike.

use super::calls::Call;
use super::data::{
    PermissionDecision, ProviderUsage, SubagentEvent, ToolCall as CallData, ToolError, ToolErrorDetails, ToolResult,
};
use super::encode::Pixir;
use super::subagents::{Subagent, child_session_id};
use crate::contracts::tool_output::ToolOutput;
use crate::contracts::wire::as_object;
use crate::encode::{Events, Word};
use crate::frame::{ApprovalResolved, Body, Decision, Frame, ToolCall, Usage, UsageScope, is_left_by_run};

impl Pixir {
    pub(super) fn call(&mut self, call: &ToolCall, frame: &Frame, out: &mut Events) {
        let subagent_id = self.subagents.cause_of(frame);
        if !self.calls.begin(call, subagent_id.clone()) {
            return;
        }
        if subagent_id.is_none() {
            self.flush(frame, out);
        }
        let args = as_object(&call.args);
        let subagent_id = subagent_id.as_deref();
        let data = CallData { call_id: &call.tool.call_id, name: &call.name, args: &args, subagent_id };
        self.event(frame, "tool_call", &data, out);
    }

    pub(super) fn result(&mut self, call: &Call, output: &ToolOutput, frame: &Frame, out: &mut Events) {
        let error = output.error.as_deref().unwrap_or_default();
        let mut details = ToolErrorDetails {
            output: Some(&*output.output).filter(|output| !output.is_empty() && *output != error),
            ..ToolErrorDetails::default()
        };
        let (mut kind, mut artifacts) = (Word("tool_failed"), None);
        match &frame.body {
            Body::ToolEnded { exit_code, artifacts: stored, .. } => {
                kind = Word("tool_error");
                details.exit_code = Some(*exit_code);
                artifacts = stored.as_deref();
            }
            _ if call.denied => kind = Word("permission_denied"),
            _ if is_left_by_run(error) => (kind, details) = (Word("orphan_tool_call"), orphan(call, details)),
            _ => {}
        }
        let data = ToolResult {
            call_id: &call.call_id,
            ok: output.success,
            output: output.success.then_some(&*output.output),
            error: (!output.success).then_some(ToolError { kind, message: error, details }),
            artifacts,
            subagent_id: call.subagent_id.as_deref(),
        };
        self.event(frame, "tool_result", &data, out);
    }

    pub(super) fn decision(&mut self, answer: &ApprovalResolved, frame: &Frame, out: &mut Events) {
        let about = self.calls.answer(answer);
        let subagent_id = self.subagents.cause_of(frame);
        let data = PermissionDecision {
            call_id: about.call_id.as_deref().unwrap_or(&answer.approval_id),
            decision: Word(if answer.decision == Decision::Approved { "allow" } else { "deny" }),
            tool: about.tool_name.as_deref(),
            approval_id: &answer.approval_id,
            outcome: match answer.decision {
                Decision::Approved | Decision::Rejected => None,
                decision => Some(Word(decision.as_str())),
            },
            by: answer.by.as_deref(),
            reason: answer.reason.as_deref(),
            scope: answer.scope.as_deref(),
            subagent_id: subagent_id.as_deref(),
        };
        self.event(frame, "permission_decision", &data, out);
    }

    pub(super) fn usage(&mut self, usage: &Usage, frame: &Frame, out: &mut Events) {
        let (call_index, usage_summary) = match usage.scope {
            UsageScope::Turn => {
                let (index, summary) = self.usage.call(usage);
                (Some(index), summary)
            }
            UsageScope::Run => match self.usage.total(usage) {
                Some(summary) => (None, summary),
                None => return,
            },
        };
        let subagent_id = self.subagents.cause_of(frame);
        let data = ProviderUsage {
            model: usage.model.as_deref(),
            call_index,
            scope: Word(usage.scope.as_str()),
            usage_summary,
            subagent_id: subagent_id.as_deref(),
        };
        self.event(frame, "provider_usage", &data, out);
    }

    pub(super) fn subagent(
        &mut self,
        event: Word,
        status: &str,
        subagent: &Subagent,
        summary: Option<&str>,
        frame: &Frame,
        out: &mut Events,
    ) {
        let data = SubagentEvent {
            subagent_id: &subagent.id,
            child_session_id: &child_session_id(&subagent.id),
            event,
            status,
            agent: subagent.agent.as_deref(),
            task: subagent.task.as_deref(),
            depth: Some(subagent.depth),
            summary,
        };
        self.event(frame, "subagent_event", &data, out);
    }
}

/// The error details of a call that its run left without a result.
pub(super) fn orphan<'a>(call: &'a Call, details: ToolErrorDetails<'a>) -> ToolErrorDetails<'a> {
    ToolErrorDetails { call_id: Some(&call.call_id), tool: Some(&call.name), reason: Some("run_ended"), ..details }
}
