//! `pixir.v1`: session events as `spec/pixir.md` has them, live and as a log.
//!
//! In: the frames of a run. Out: canonical events, which are numbered by `seq` and define the history, and ephemeral ones
//! (`seq: null`), which are for live display. Never: the content of an attachment in an event (resources stand by name and
//! hash), a call without exactly one result, a subagent's text, reasoning or plan.
//!
//! What each frame becomes. A run is one Pixir session: `session_id` is the run's id, since `seq` counts within it from 0;
//! an input of several runs gives the lines of several logs, told apart by it. The prompt is one `user_message`, whether the
//! run's start told it, a message of its own, or both; a `status` `thinking` goes with it, and with the run's start where no
//! prompt is known yet. Deltas become `text_delta` and `reasoning_delta`. An `assistant_message` holds the text of one message
//! up to the next call, opaque item, turn, message or the end, and comes when that shows it to be whole; a run whose result
//! was never said as text gets one at its end. `reasoning` exists only where the provider gave an opaque item.
//!
//! A call is one `tool_call`, whether proposed or started, and gets one `tool_result`: `output` where it went well, else an
//! `error` whose `kind` is `tool_error` (it ran and failed), `permission_denied`, `tool_failed` (it never ran) or
//! `orphan_tool_call` (the run ended first, as it does for calls that the client is to run). A `permission_decision` is
//! `allow` or `deny`; one that nobody took is `deny` with its `outcome`, and one about no known call has its question's id
//! for `call_id`. What a subagent did carries `subagent_id`, so that a fold of the main thread can leave it out; its
//! beginning and end are `subagent_event`s, and its own id names its `child_session_id`. `provider_usage` stands for one
//! model call, with `call_index`; a runner's own total adds only what its calls did not say (`scope` `run`), so that the sum
//! over a log is the run's usage. A skill that is invoked is a `skill_activation`; an automatic compaction is a
//! `context_pressure` of the tier `recovery` before its `history_compaction`; a retry, a gap and the runner's own states are a
//! `status`. Nothing gives rise to `session_fork` and `branch_summary`; they are known to the verifier.
//!
//! The terminal marker is the last `status`: `done`, `error` or `interrupted`. It is not in the log, so a run that ended
//! otherwise than well says so in the metadata of its last `assistant_message` too, where text was pending: `partial`,
//! `terminal_status`, `error_kind`, `error_message`. A run that failed with no text pending gets a message with empty text for
//! it. The marker has no cursor: whoever resumes behind the last canonical event gets it again.

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
use crate::encode::EventId;
use crate::schema::SchemaFile;

macro_rules! schemas {
    ($($kind:literal),+ $(,)?) => {
        &[$(SchemaFile {
            kind: $kind,
            text: include_str!(concat!("../../../../schemas/pixir/v1/", $kind, ".schema.json")),
        }),+]
    };
}

/// The contract.
pub const V1: Contract = Contract {
    name: "pixir.v1",
    about: "session events with a durable log: canonical history, ephemeral live display",
    document: Some("Pixir.Event (ADR 0004)"),
    sse: SseStyle::Bare,
    type_key: "type",
    // Only canonical events have a cursor.
    log: Some(|event| *event.id != EventId::None),
    schemas: schemas!(
        "user_message",
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
    encoder: encode::new,
    verifier: || Box::new(rules::PixirRules::default()),
    withheld: withheld::stand_in,
    dropped: dropped::notice,
};

/// Whether an event of that type is for live display only.
fn is_ephemeral(kind: &str) -> bool {
    matches!(kind, "text_delta" | "reasoning_delta" | "status" | "plan" | "context_pressure")
}

/// Whether a `status` ends the turn.
fn is_terminal(status: &str) -> bool {
    matches!(status, "done" | "error" | "interrupted")
}

/// Whether text can name a session: it also names the log's file, so it is short, begins with a letter, digit or underscore,
/// and has no separators in it. Beyond ASCII everything but white space and controls passes.
fn is_session_id(text: &str) -> bool {
    let is_word = |c: char| c == '_' || if c.is_ascii() { c.is_ascii_alphanumeric() } else { !is_blank(c) };
    let is_blank_or_separator = |c: char| !is_word(c) && c != '-' && c != '.';
    (1..=MAX_SESSION_ID).contains(&text.len()) && text.starts_with(is_word) && !text.contains(is_blank_or_separator)
}

/// In bytes.
const MAX_SESSION_ID: usize = 235;

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c.is_control()
}
