//! Frames to `sse.v1` events.

use crate::contracts::tool_output::{ToolOutput, ToolOutputs};
use crate::contracts::wire::{as_object, rfc3339_seconds};
use crate::encode::{Encoder, EncoderOptions, EventId, Events};
use crate::frame::{Body, Decision, EndReason, Frame, Name, SessionEnded, Stream, StreamKind};
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use uuid::Uuid;

pub(super) fn new(stream: &Arc<Stream>, _: &EncoderOptions) -> Option<Box<dyn Encoder>> {
    (stream.kind == StreamKind::Session).then(|| Box::new(Sse::default()) as Box<dyn Encoder>)
}

#[derive(Clone, Default)]
struct Sse {
    next: u64,
    outputs: ToolOutputs,
    /// The calls that wait for a decision, by approval.
    asked: HashMap<Name, Uuid>,
    /// Calls that were not allowed: the rejection is all that is told of them.
    refused: HashSet<Uuid>,
}

#[derive(Serialize)]
pub(super) struct Envelope<'a, P> {
    pub(super) event_id: &'a str,
    pub(super) session_id: String,
    pub(super) run_id: String,
    pub(super) r#type: &'static str,
    pub(super) ts: String,
    pub(super) payload: P,
}

#[derive(Serialize)]
struct Status {
    status: &'static str,
}

#[derive(Serialize)]
struct Text<'a> {
    text: &'a str,
}

#[derive(Serialize)]
struct Proposed<'a> {
    approval_id: &'a str,
    tool_name: &'a str,
    args: &'a RawValue,
}

#[derive(Serialize)]
struct Approved<'a> {
    approval_id: &'a str,
}

#[derive(Serialize)]
struct Rejected<'a> {
    approval_id: &'a str,
    reason: &'a str,
}

#[derive(Serialize)]
struct ToolResult<'a> {
    tool_name: &'a str,
    success: bool,
    result: &'a str,
}

#[derive(Serialize)]
struct Completed<'a> {
    status: &'static str,
    final_text: &'a str,
}

#[derive(Serialize)]
struct Failed<'a> {
    status: &'static str,
    error_code: &'a str,
    message: &'a str,
}

impl Encoder for Sse {
    fn frame(&mut self, frame: &Frame, out: &mut Events) {
        match &frame.body {
            Body::SessionStarted { .. } => self.event(frame, "run_started", Status { status: "running" }, out),
            Body::OutputTextDelta(block) if !frame.is_subagent() && !block.delta.is_empty() => {
                self.event(frame, "assistant_delta", Text { text: &block.delta }, out);
            }
            Body::ApprovalRequested(request) => {
                if let Some(tool_id) = request.tool_id {
                    self.asked.insert(request.approval_id.clone(), tool_id);
                }
                let args = as_object(&request.args);
                let payload =
                    Proposed { approval_id: &request.approval_id, tool_name: &request.tool_name, args: &args };
                self.event(frame, "tool_call_proposed", payload, out);
            }
            Body::ApprovalResolved(answer) => {
                let tool_id = self.asked.remove(&answer.approval_id);
                if answer.decision == Decision::Approved {
                    let payload = Approved { approval_id: &answer.approval_id };
                    self.event(frame, "tool_call_approved", payload, out);
                } else {
                    self.refused.extend(tool_id);
                    let reason = answer.reason.as_deref().unwrap_or(match answer.decision {
                        Decision::TimedOut => "timed_out",
                        Decision::Cancelled => "cancelled",
                        Decision::Approved | Decision::Rejected => "user_rejected",
                    });
                    let payload = Rejected { approval_id: &answer.approval_id, reason };
                    self.event(frame, "tool_call_rejected", payload, out);
                }
            }
            Body::SessionEnded(end) => self.end(frame, end, out),
            body => {
                let result = self.outputs.frame(body);
                let refused = matches!(body, Body::ToolFailed { tool, .. } if self.refused.remove(&tool.id));
                if let Some(result) = result.filter(|_| !refused) {
                    let payload =
                        ToolResult { tool_name: &result.name, success: result.success, result: &said(&result) };
                    self.event(frame, "tool_result", payload, out);
                }
            }
        }
    }

    fn fork(&self) -> Box<dyn Encoder> {
        Box::new(self.clone())
    }

    fn held_bytes(&self) -> usize {
        self.outputs.held_bytes()
    }
}

/// The id of a run's event of that number.
pub(super) fn event_id(run: &Uuid, number: u64) -> String {
    format!("evt_{}_{number:010}", run.simple())
}

/// What a tool gave, and why it failed where the one does not say the other.
fn said(result: &ToolOutput) -> Cow<'_, str> {
    match result.error.as_deref().filter(|error| !result.output.contains(*error)) {
        None => Cow::Borrowed(&result.output),
        Some(error) if result.output.is_empty() => Cow::Borrowed(error),
        Some(error) => Cow::Owned(format!("{}\n{error}", result.output.trim_end_matches('\n'))),
    }
}

impl Sse {
    fn end(&mut self, frame: &Frame, end: &SessionEnded, out: &mut Events) {
        match end.reason {
            EndReason::Completed => {
                let final_text = end.final_text.as_deref().unwrap_or_default();
                self.event(frame, "run_completed", Completed { status: "completed", final_text }, out);
            }
            EndReason::Interrupted => self.event(frame, "run_interrupted", Status { status: "interrupted" }, out),
            EndReason::Failed => {
                let payload = Failed {
                    status: "failed",
                    error_code: end.error_code.as_deref().filter(|code| !code.is_empty()).unwrap_or("PROVIDER_ERROR"),
                    message: end.message.as_deref().unwrap_or_default(),
                };
                self.event(frame, "run_failed", payload, out);
            }
        }
    }

    fn event<P: Serialize>(&mut self, frame: &Frame, kind: &'static str, payload: P, out: &mut Events) {
        let event_id = event_id(&frame.stream.id, self.next);
        self.next += 1;
        let envelope = Envelope {
            event_id: &event_id,
            session_id: frame.stream.session.id.to_string(),
            run_id: frame.stream.id.to_string(),
            r#type: kind,
            ts: rfc3339_seconds(frame.timestamp_ms),
            payload,
        };
        out.json(kind, EventId::Text(event_id.clone()), &envelope);
    }
}
