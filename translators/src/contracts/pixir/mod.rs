//! `pixir.v1`: session events as `spec/pixir.md` defines them, live and as a log.
//!
//! Input: the frames of a run. Output: canonical events, which are numbered by `seq` and define the history, and ephemeral ones
//! (`seq: null`), which are for live display. Never: the content of an attachment in an event (resources are identified by name
//! and hash), a call without exactly one result, or a subagent's text, reasoning or plan.
//!
//! How frames map to events:
//!
//! A run is one Pixir session. `session_id` is the run's id, because `seq` counts within the run from 0. An input with several
//! runs gives the lines of several logs, distinguished by `session_id`. The prompt is one `user_message`, whether the run's
//! start, a separate message, or both contain it. A `status` `thinking` accompanies it; if no prompt is known at the run's
//! start, the status accompanies the start. Deltas become `text_delta` and `reasoning_delta`. An `assistant_message` contains
//! the text of one message up to the next call, opaque item, turn, message or the end, and is emitted once that shows it to be
//! complete. A run whose result was never emitted as text gets one at its end. `reasoning` exists only if the provider gave an
//! opaque item; its `model` is `unknown` if the runner does not report it.
//!
//! A call is one `tool_call`, whether proposed or started, and gets one `tool_result`: `output` if it succeeded, otherwise an
//! `error` whose `kind` is `tool_error` (it ran and failed), `permission_denied`, `tool_failed` (it never ran) or
//! `orphan_tool_call` (the run ended first, as it does for calls that the client must execute). A `permission_decision` is
//! `allow` or `deny`. One that was never decided is `deny` with its `outcome`; one about no known call has its question's id as
//! `call_id`.
//!
//! What a subagent did has a `subagent_id`, so that a fold of the main thread can leave it out. Its beginning and end are
//! `subagent_event`s, and its own id determines its `child_session_id`. `provider_usage` represents one model call, with
//! `call_index`. A runner's own total adds only what its calls did not report (`scope` `run`), so that the sum over a log is
//! the run's usage.
//!
//! A skill that is invoked is a `skill_activation`. An automatic compaction is a `context_pressure` of the tier `recovery`
//! before its `history_compaction`. A retry, a gap and the runner's own states are a `status`. No frame produces `session_fork`
//! or `branch_summary`; the verifier knows them.
//!
//! The terminal marker is the last `status`: `done`, `error` or `interrupted`. It is not in the log. So a run that did not end
//! well also says so in the metadata of its last `assistant_message`, if text was pending: `partial`, `terminal_status`,
//! `error_kind`, `error_message`. A run that failed without pending text gets a message with empty text for this purpose, and
//! so does a run without any other canonical event. In an event stream the marker has an `id:` of its own, the last
//! number with `.end`. A client that saw it is done (204); a client that was cut off before it gets it.

mod calls;
mod data;
mod dropped;
mod encode;
mod ending;
mod message;
mod rules;
mod subagents;
#[cfg(test)]
mod tests;
mod usage;
mod withheld;
mod work;
mod writer;

use super::{Contract, SseStyle};
use crate::schema::schemas;

/// The contract.
pub(super) const V1: Contract = Contract {
    name: "pixir.v1",
    about: "session events with a durable log: canonical history, ephemeral live display",
    document: Some("Pixir.Event (ADR 0004)"),
    sse: SseStyle::Open,
    type_key: "type",
    // Only canonical events have a cursor.
    log: Some(|event| event.id.is_logged()),
    schemas: schemas!("pixir/v1": "user_message",
        "assistant_message",
        "reasoning",
        "skill_activation",
        "subagent_event",
        "session_fork",
        "branch_summary",
        "history_compaction",
        "provider_usage",
        "tool_call",
        "tool_result",
        "permission_decision",
        "text_delta",
        "reasoning_delta",
        "status",
        "plan",
        "context_pressure",
    ),
    document_schema: document_schema!("pixir/v1"),
    encoder: encode::new,
    verifier: || Box::new(rules::PixirRules::default()),
    rules: rules::RULES,
    withheld: withheld::stand_in,
    dropped: dropped::notice,
    notice_type: "status",
    announces_pruning: true,
    has_user_messages: false,
    artifact_id: None,
};

/// Whether an event of that type is for live display only.
fn is_ephemeral(kind: &str) -> bool {
    matches!(kind, "text_delta" | "reasoning_delta" | "status" | "plan" | "context_pressure")
}

/// Whether a `status` ends the turn.
fn is_terminal(status: &str) -> bool {
    matches!(status, "done" | "error" | "interrupted")
}

/// Whether text can be a session id. It is also the log's file name, so it is short, begins with a letter, digit or underscore,
/// and contains no separators. Non-ASCII characters are allowed except white space and control characters.
fn is_session_id(text: &str) -> bool {
    let is_word = |c: char| c == '_' || if c.is_ascii() { c.is_ascii_alphanumeric() } else { !is_blank(c) };
    let is_blank_or_separator = |c: char| !is_word(c) && c != '-' && c != '.';
    (1..=MAX_SESSION_ID).contains(&text.len()) && text.starts_with(is_word) && !text.contains(is_blank_or_separator)
}

/// Maximum length in bytes.
const MAX_SESSION_ID: usize = 235;

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}
