//! What endpoints are notified of, and the bodies of notifications.
//!
//! Input: frames that the log has kept, and the status of their run. Output: events with a body. Never: a prompt, an argument or an output, except the
//! title and the final text that the status of a run has; a text of unbounded length; randomness (an event that is found again has the same id).

use crate::budgets::BudgetPassed;
use crate::config::webhooks::EventKind;
use crate::log::{StreamId, stream_id};
use crate::prices::Usd;
use crate::runs::{RunStatus, Waiting};
use bytes::Bytes;
use framegate_translators::contracts::rfc3339_millis;
use framegate_translators::frame::{Body, EndReason, Frame, StreamKind};
use framegate_translators::pipeline::is_last;
use serde::Serialize;
use sha2::{Digest, Sha256};
use uuid::Uuid;

/// Something that happened in a run, before it is compared with the endpoints.
#[derive(Clone, Debug)]
pub(super) struct Note {
    pub(super) run: StreamId,
    pub(super) kind: EventKind,
    /// Time of the frame, in Unix epoch milliseconds.
    pub(super) at_ms: u64,
    /// The approval, if it is about one.
    pub(super) approval: Option<Waiting>,
    /// The budget, if it is about one.
    pub(super) budget: Option<SpentBudget>,
}

/// A budget that has passed a mark.
#[derive(Clone, Debug, Serialize)]
pub(super) struct SpentBudget {
    name: String,
    /// What the runs that share the amount have in common.
    account: String,
    spent_usd: Usd,
    limit_usd: Usd,
}

impl From<BudgetPassed> for Note {
    fn from(passed: BudgetPassed) -> Self {
        let BudgetPassed { run, at_ms, budget: name, account, spent, limit, is_limit } = passed;
        let kind = if is_limit { EventKind::BudgetSpent } else { EventKind::BudgetWarning };
        let budget = Some(SpentBudget { name, account, spent_usd: spent, limit_usd: limit });
        Self { run, kind, at_ms, approval: None, budget }
    }
}

impl Note {
    /// What a frame says; `None` for most frames.
    pub(super) fn of(frame: &Frame) -> Option<Self> {
        let (kind, approval) = match &frame.body {
            Body::SessionEnded(end) if is_last(frame) => {
                let kind = match end.reason {
                    EndReason::Completed => EventKind::RunCompleted,
                    EndReason::Failed => EventKind::RunFailed,
                    EndReason::Interrupted => EventKind::RunInterrupted,
                };
                (kind, None)
            }
            Body::ApprovalRequested(request) => {
                let waiting = Waiting {
                    approval_id: request.approval_id.to_string(),
                    tool_name: request.tool_name.to_string(),
                    reason: request.reason.clone(),
                    requested_at_ms: frame.timestamp_ms,
                    seq: frame.seq,
                };
                (EventKind::ApprovalRequested, Some(waiting))
            }
            _ => return None,
        };
        let is_of_run = frame.stream.kind == StreamKind::Session;
        is_of_run.then(|| Self { run: stream_id(frame), kind, at_ms: frame.timestamp_ms, approval, budget: None })
    }

    /// The id of the event. It has no full stop, which separates the parts of what is signed.
    fn id(&self) -> String {
        let digest = Sha256::new()
            .chain_update(self.run.1.as_bytes())
            .chain_update(self.kind.as_str())
            .chain_update(self.at_ms.to_be_bytes())
            .chain_update(self.approval.as_ref().map_or("", |approval| &approval.approval_id))
            .chain_update(self.budget.as_ref().map_or("", |budget| &budget.name))
            .chain_update(self.budget.as_ref().map_or("", |budget| &budget.account))
            .finalize();
        let short: u128 = digest.iter().take(16).fold(0, |all, byte| all << 8 | u128::from(*byte));
        format!("msg_{short:032x}")
    }
}

/// An event as it is sent.
#[derive(Clone, Debug)]
pub(super) struct Event {
    /// The id by which a receiver recognises an event that arrives twice.
    pub(super) id: String,
    pub(super) kind: EventKind,
    pub(super) run: Uuid,
    /// When it happened, in Unix epoch milliseconds.
    pub(super) at_ms: u64,
    /// The approval that it asks for.
    pub(super) approval: Option<String>,
    pub(super) body: Bytes,
}

#[derive(Serialize)]
struct Message<'a> {
    r#type: &'static str,
    timestamp: String,
    data: Data<'a>,
}

#[derive(Serialize)]
struct Data<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<Waiting>,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<SpentBudget>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upstream: Option<&'a str>,
    run: RunStatus,
    /// Whether a text was cut.
    is_cut: bool,
}

impl Event {
    /// The event of a note. `status` is the run's, as clients get it; `text_bytes` bounds each text of unbounded length.
    pub(super) fn of(note: Note, mut run: RunStatus, upstream: Option<&str>, text_bytes: usize) -> Self {
        let (id, kind, at_ms, stream) = (note.id(), note.kind, note.at_ms, note.run);
        let (mut approval, budget) = (note.approval, note.budget);
        let approval_id = approval.as_ref().map(|approval| approval.approval_id.clone());
        let mut is_cut = false;
        let mut cut = |text: &mut Option<String>| {
            if let Some(text) = text.as_mut().filter(|text| text.len() > text_bytes) {
                text.truncate(text.floor_char_boundary(text_bytes));
                is_cut = true;
            }
        };
        cut(&mut run.final_text);
        cut(&mut run.message);
        let approvals = run.approvals.iter_mut().chain(&mut approval);
        approvals.for_each(|waiting| cut(&mut waiting.reason));
        let message = Message {
            r#type: kind.as_str(),
            timestamp: rfc3339_millis(at_ms),
            data: Data { approval, budget, upstream, run, is_cut },
        };
        let body = serde_json::to_vec(&message).unwrap_or_else(|error| {
            // A status has only string keys and finite numbers.
            tracing::error!(%error, "the body of a notification could not be written");
            Vec::new()
        });
        Self { id, kind, run: stream.1, at_ms, approval: approval_id, body: body.into() }
    }
}
