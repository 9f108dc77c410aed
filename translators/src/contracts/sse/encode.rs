//! Frames to `sse.v1` events.

use crate::contracts::tool_output::{ToolOutput, ToolOutputs};
use crate::contracts::wire::{Times, as_object};
use crate::encode::{
    Encoder, EncoderOptions, EventId, Events, PreparedFields, StreamEncoder, Value, Word, data, encoder, key,
};
use crate::frame::{Body, Decision, EndReason, Frame, SessionEnded, SharedStr, Stream, StreamKind};
use crate::hash::{HashMap, HashSet};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::Arc;
use uuid::Uuid;

pub(super) fn new(stream: &Arc<Stream>, _: &EncoderOptions) -> Option<Box<dyn Encoder>> {
    if stream.kind != StreamKind::Session {
        return None;
    }
    Some(encoder(Sse {
        prefix: format!("evt_{}_", stream.id.simple()),
        shared: shared_fields(stream),
        times: Times::SECONDS,
        next: 0,
        outputs: ToolOutputs::default(),
        asked: HashMap::default(),
        refused: HashSet::default(),
    }))
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sse {
    /// The prefix of each event's id.
    #[serde(skip)]
    prefix: String,
    /// The constant fields of the envelope.
    #[serde(skip)]
    shared: PreparedFields,
    #[serde(skip)]
    times: Times,
    next: u64,
    outputs: ToolOutputs,
    /// The calls that wait for a decision, by approval.
    asked: HashMap<SharedStr, Uuid>,
    /// Calls that were refused: only the rejection is emitted for them.
    refused: HashSet<Uuid>,
}

data! {
    struct Status {
        status: Word,
    }

    struct Text<'a> {
        text: &'a str,
    }

    struct Proposed<'a> {
        approval_id: &'a str,
        tool_name: &'a str,
        args: &'a RawValue,
    }

    struct Approved<'a> {
        approval_id: &'a str,
    }

    struct Rejected<'a> {
        approval_id: &'a str,
        reason: &'a str,
    }

    struct ToolResult<'a> {
        tool_name: &'a str,
        success: bool,
        result: &'a str,
    }

    struct Completed<'a> {
        status: Word,
        final_text: &'a str,
        error_code: Option<&'a str>,
        message: Option<&'a str>,
    }

    struct Failed<'a> {
        status: Word,
        error_code: &'a str,
        message: &'a str,
    }
}

/// The envelope fields that all events of a run share.
pub(super) fn shared_fields(stream: &Stream) -> PreparedFields {
    PreparedFields::new(|map| {
        map.id(key!("session_id"), &stream.session.id);
        map.id(key!("run_id"), &stream.id);
    })
}

/// Writes an event.
pub(super) fn write(
    event_id: &str,
    shared: &PreparedFields,
    kind: &'static str,
    time: &str,
    payload: &impl Value,
    out: &mut Events,
) {
    out.object(kind, EventId::Text(event_id.to_owned()), |map| {
        map.text(key!("event_id"), event_id);
        map.prepared(shared);
        map.word(key!("type"), kind);
        map.time(key!("ts"), time);
        payload.field(key!("payload"), map);
    });
}

impl StreamEncoder for Sse {
    const STATE: &[u32] = &[2];

    fn frame(&mut self, frame: &Frame, out: &mut Events) {
        match &frame.body {
            Body::SessionStarted { .. } => self.event(frame, "run_started", &Status { status: Word("running") }, out),
            Body::OutputTextDelta(block) if !frame.is_subagent() && !block.delta.is_empty() => {
                self.event(frame, "assistant_delta", &Text { text: &block.delta }, out);
            }
            Body::ApprovalRequested(request) => {
                if let Some(tool_id) = request.tool_id {
                    self.asked.insert(request.approval_id.clone(), tool_id);
                }
                let args = as_object(&request.args);
                let payload =
                    Proposed { approval_id: &request.approval_id, tool_name: &request.tool_name, args: &args };
                self.event(frame, "tool_call_proposed", &payload, out);
            }
            Body::ApprovalResolved(answer) => {
                let tool_id = self.asked.remove(&answer.approval_id);
                if answer.decision == Decision::Approved {
                    let payload = Approved { approval_id: &answer.approval_id };
                    self.event(frame, "tool_call_approved", &payload, out);
                } else {
                    self.refused.extend(tool_id);
                    let reason = answer.reason.as_deref().unwrap_or(match answer.decision {
                        Decision::TimedOut => "timed_out",
                        Decision::Cancelled => "cancelled",
                        Decision::Approved | Decision::Rejected => "user_rejected",
                    });
                    let payload = Rejected { approval_id: &answer.approval_id, reason };
                    self.event(frame, "tool_call_rejected", &payload, out);
                }
            }
            Body::SessionEnded(end) => self.end(frame, end, out),
            body => {
                let result = self.outputs.frame(body);
                let refused = matches!(body, Body::ToolFailed { tool, .. } if self.refused.remove(&tool.id));
                if let Some(result) = result.filter(|_| !refused) {
                    let payload =
                        ToolResult { tool_name: &result.name, success: result.success, result: &result_text(&result) };
                    self.event(frame, "tool_result", &payload, out);
                }
            }
        }
    }

    fn held_bytes(&self) -> usize {
        self.outputs.held_bytes()
    }

    fn resumed(&self, state: Self) -> Self {
        let Self { next, outputs, asked, refused, .. } = state;
        Self { next, outputs, asked, refused, ..self.clone() }
    }
}

/// The id of a run's event with that number.
pub(super) fn event_id(run: &Uuid, number: u64) -> String {
    numbered(&format!("evt_{}_", run.simple()), number)
}

/// The same, from a prefix that already contains the run's id.
fn numbered(prefix: &str, number: u64) -> String {
    let digits = number.to_string();
    let zeros = "0000000000".get(digits.len()..).unwrap_or_default();
    [prefix, zeros, &digits].concat()
}

/// A tool's output, followed by its error unless the output already contains it.
fn result_text(result: &ToolOutput) -> Cow<'_, str> {
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
                let error_code = end.error_code.as_deref().filter(|code| !code.is_empty());
                let message = end.message.as_deref().filter(|_| error_code.is_some());
                let payload = Completed { status: Word("completed"), final_text, error_code, message };
                self.event(frame, "run_completed", &payload, out);
            }
            EndReason::Interrupted => {
                self.event(frame, "run_interrupted", &Status { status: Word("interrupted") }, out)
            }
            EndReason::Failed => {
                let payload = Failed {
                    status: Word("failed"),
                    error_code: end.error_code.as_deref().filter(|code| !code.is_empty()).unwrap_or("PROVIDER_ERROR"),
                    message: end.message.as_deref().unwrap_or_default(),
                };
                self.event(frame, "run_failed", &payload, out);
            }
        }
    }

    fn event(&mut self, frame: &Frame, kind: &'static str, payload: &impl Value, out: &mut Events) {
        let event_id = numbered(&self.prefix, self.next);
        self.next += 1;
        write(&event_id, &self.shared, kind, self.times.text(frame.timestamp_ms), payload, out);
    }
}

#[cfg(test)]
mod tests {
    use super::numbered;

    #[test]
    fn event_numbers_have_at_least_ten_digits() {
        for number in [0, 1, 9, 10, 123_456, 999_999_999, 9_999_999_999, 10_000_000_000, u64::MAX] {
            assert_eq!(numbered("evt_", number), format!("evt_{number:010}"));
        }
    }
}
