//! Questions that the server asks the client, and their answers.
//!
//! Input: server requests, `serverRequest/resolved`, the client's answers if the stream contains them, and the outcome of the
//! items in question. Output: `approval_requested` and `approval_resolved`. Never: a client's request id taken for a server's.
//! Both count from 0, so an approval's id is derived in a way that marks it as the server's.

use super::super::super::elicitation;
use super::super::super::json_rpc::request_id;
use super::super::items::{Status, changes_of, command_args, edit_args};
use super::super::snake;
use super::super::thread_context::ThreadContext;
use crate::frame::{ApprovalRequested, ApprovalResolved, Decision, RawJson, SharedStr};
use crate::host::SETTLED;
use crate::json::{Json, Kind, Object};
use crate::normalizer::Normalizer;
use crate::sequence::StreamKey;
use std::borrow::Cow;

/// The open questions.
#[derive(Debug, Default)]
pub(super) struct Approvals {
    open: Vec<PendingQuestion>,
}

#[derive(Debug)]
struct PendingQuestion {
    id: SharedStr,
    thread: SharedStr,
    /// The item in question. Its outcome reveals the answer.
    item: Option<SharedStr>,
    /// Whether the answer may be a refusal, so that "settled" alone does not reveal it.
    may_be_refused: bool,
    stream: StreamKey,
}

impl Approvals {
    /// Reports a question of the server. Requests that do not ask a person (calling a client tool, refreshing a token) are
    /// ignored.
    pub(super) fn asked(
        &mut self,
        context: &mut ThreadContext<'_>,
        thread: &str,
        method: &str,
        id: Json<'_>,
        params: &Object<'_>,
    ) {
        let item = params.str("itemId").or_else(|| params.str("callId"));
        let (tool_name, args, item) = match method {
            "item/commandExecution/requestApproval" | "execCommandApproval" => {
                ("bash", command_args(params.some("command")), item)
            }
            "item/fileChange/requestApproval" => {
                let args = item.as_deref().and_then(|item| context.turn.edits.get(item)).cloned();
                ("file_change", args.unwrap_or_else(crate::json::empty_object), item)
            }
            "applyPatchApproval" => {
                let changes = params.some("fileChanges").map(changes_of).unwrap_or_default();
                ("file_change", edit_args(&changes, "in_progress"), item)
            }
            // No later record reveals the answer to this one.
            "item/tool/requestUserInput" => ("request_user_input", question(params), None),
            // Whether it can be answered depends on the client: another client may be able to if this one cannot.
            "mcpServer/elicitation/request" => (elicitation::TOOL, question(params), None),
            "item/permissions/requestApproval" => ("request_permissions", question(params), None),
            _ => return,
        };
        let approval_id = request_id(id);
        if self.open.iter().any(|asked| asked.id == approval_id) {
            return;
        }
        let tool_id = item.as_deref().map(|item| context.tool(item).id);
        self.open.push(PendingQuestion {
            id: approval_id.clone(),
            thread: SharedStr::from(thread),
            item: item.as_deref().map(SharedStr::from),
            may_be_refused: method != "item/tool/requestUserInput",
            stream: context.target.stream,
        });
        let reason = params.str("reason").or_else(|| params.str("message")).map(Cow::into_owned);
        let request = ApprovalRequested { approval_id, tool_id, tool_name: SharedStr::from(tool_name), args, reason };
        context.normalizer.approval_requested(context.target, request);
    }

    /// Handles the client's answer from the stream. Returns `false` if the response does not answer a question.
    pub(super) fn answered(&mut self, id: Json<'_>, result: &Object<'_>, normalizer: &mut Normalizer) -> bool {
        let Some((decision, scope)) = decision(result) else { return false };
        let id = request_id(id);
        let Some(at) = self.open.iter().position(|asked| asked.id == id) else { return false };
        let asked = self.open.remove(at);
        normalizer.record_on(asked.stream);
        resolve(&asked, decision, None, scope, normalizer);
        true
    }

    /// Handles a settled question. The server does not report the answer; if an item is in question, its outcome will reveal
    /// it.
    pub(super) fn resolved(&mut self, id: Json<'_>, normalizer: &mut Normalizer) {
        let id = request_id(id);
        let settled = |asked: &PendingQuestion| asked.id == id && asked.item.is_none();
        if let Some(at) = self.open.iter().position(settled) {
            let asked = self.open.remove(at);
            // An audit must not show an approval that was never given.
            let (decision, reason) = match asked.may_be_refused {
                true => (Decision::Cancelled, SETTLED),
                false => (Decision::Approved, "answered"),
            };
            resolve(&asked, decision, Some(reason), None, normalizer);
        }
    }

    /// Resolves the questions about an item that runs (no status yet) or is over.
    pub(super) fn outcome(&mut self, thread: &str, item: &str, status: Option<Status>, normalizer: &mut Normalizer) {
        let decision = match status {
            Some(Status::Declined) => Decision::Rejected,
            Some(Status::Interrupted) => Decision::Cancelled,
            _ => Decision::Approved,
        };
        // The list is nearly always empty. An item may have more than one question.
        self.open.retain(|asked| {
            let is_it = *asked.thread == *thread && asked.item.as_deref() == Some(item);
            if is_it {
                resolve(asked, decision, None, None, normalizer);
            }
            !is_it
        });
    }

    /// Cancels the questions that are still open when their turn ends.
    pub(super) fn turn_over(&mut self, thread: &str, normalizer: &mut Normalizer) {
        self.open.retain(|asked| {
            let is_it = *asked.thread == *thread;
            if is_it {
                resolve(asked, Decision::Cancelled, Some("the turn ended"), None, normalizer);
            }
            !is_it
        });
    }
}

fn resolve(
    asked: &PendingQuestion,
    decision: Decision,
    reason: Option<&str>,
    scope: Option<&'static str>,
    normalizer: &mut Normalizer,
) {
    let answer = ApprovalResolved {
        approval_id: asked.id.clone(),
        decision,
        by: None,
        reason: reason.map(str::to_owned),
        scope: scope.map(SharedStr::from),
    };
    normalizer.approval_resolved(asked.stream, answer);
}

/// The subject of a question, without the ids that identify where it was asked.
fn question(params: &Object<'_>) -> RawJson {
    const BOOKS: [&str; 5] = ["threadId", "turnId", "itemId", "startedAtMs", "environmentId"];
    elicitation::args_of(params, &BOOKS)
}

/// The decision and scope of an answer; `None` if it is not an answer to a question.
fn decision(result: &Object<'_>) -> Option<(Decision, Option<&'static str>)> {
    if result.some("answers").is_some() || result.some("permissions").is_some() {
        return Some((Decision::Approved, None));
    }
    let word = result.some("decision").or_else(|| result.some("action"))?;
    let word = match word.kind() {
        Kind::Object => word.object()?.iter().next().map(|(word, _)| snake(word))?,
        _ => snake(&word.str()?),
    };
    Some(match word.as_str() {
        "accept" | "approved" => (Decision::Approved, Some("once")),
        "accept_for_session" | "approved_for_session" => (Decision::Approved, Some("session")),
        "decline" | "denied" => (Decision::Rejected, None),
        "cancel" | "abort" => (Decision::Cancelled, None),
        "timed_out" => (Decision::TimedOut, None),
        // The answer amends the rules, so it also permits later calls.
        word if word.starts_with("accept") || word.starts_with("approved") || word.starts_with("apply") => {
            (Decision::Approved, Some("always"))
        }
        // An unknown word decides nothing: what the item does next shows the decision.
        _ => return None,
    })
}
