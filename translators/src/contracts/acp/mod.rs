//! `acp.v1`: a run as the messages of an agent in version 1 of the Agent Client Protocol (ACP), from a prompt to its answer.
//!
//! Input: the frames of a run or of a background task. Output: JSON-RPC messages as an agent writes them on its standard output:
//! `session/update` notifications, `session/request_permission` requests, `$/cancel_request` notifications, and the answer of
//! `session/prompt`. Never: an update or a question about a call before its `tool_call`, a change of a call that is completed or
//! failed, an answer while a question waits, a message after the answer, a kind of update that needs a capability of the client, or
//! `null` for an optional field.
//!
//! The type of an event is the kind of its update, or its method without the part before `/`, or `result` or `error` for the answer.
//!
//! How frames map to messages:
//!
//! - **Ids.** `params.sessionId` is the session's id and the answer's `id` the run's id: a bridge to a client that chose other ones
//!   replaces both. framegate's own data is in `params._meta.framegate`, in `result._meta.framegate`, or in `error.data.framegate`.
//! - **Text and reasoning** are chunks. Each block of a message has a `messageId` of its own: clients join chunks of one id.
//! - **The user's messages** are left out: a client knows its prompt. With the option for user messages they are
//!   `user_message_chunk`, as in a replay for `session/load`.
//! - **Calls.** `tool_call` announces a call, and `tool_call_update` reports its arguments, that it runs, its live output and its end.
//!   `toolCallId` is the tool's UUID, which no other run of the session has. A result has the output as `content` and the exit
//!   code in `rawOutput`. `content` replaces, so live output is all output so far, see `live_output`.
//! - **Edits.** The arguments of an edit are shown as `diff`, if they have both texts and an absolute path. The diff that the runner
//!   reports replaces them, hunk by hunk; a diff of a relative path is text.
//! - **Questions** are requests whose `id` is the approval's id. Every decision is followed by a `$/cancel_request`, which a client
//!   that answered ignores. A question about no open call has a call of its own.
//! - **Subagents.** Their calls and questions are included, with the call that started them as `parentToolCallId`. Their text,
//!   reasoning and plans are left out: the protocol cannot mark them. A subagent that no call started is a call.
//! - **The model** is a `config_option_update`. A plan is a `plan` with the protocol's own words.
//! - **Everything else** (errors that the run survived, logs, gaps, compactions, checkpoints, usage) is in `_meta.framegate` of a
//!   `session_info_update` without other fields, which every client accepts: the kinds `notice` and `compaction_update` may be sent
//!   only to clients that offer them, and `usage_update` needs the size of the context.
//! - **The end.** Open calls fail, open questions are cancelled, and the answer follows. A run that was stopped is `cancelled`. A run
//!   that failed, or whose outcome is lost, is an error.
//! - **Background tasks** are streams of one call each, without an answer.

mod blocks;
mod calls;
mod content;
mod data;
mod describe;
mod diff;
mod dropped;
mod encode;
mod ending;
mod notices;
mod questions;
mod rules;
mod subagents;
mod task;
#[cfg(test)]
mod tests;
mod tools;
mod usage;
mod withheld;
mod writer;

use super::{Contract, SseStyle};
use crate::schema::schemas;

/// The contract.
pub(super) const V1: Contract = Contract {
    name: "acp.v1",
    about: "messages of the Agent Client Protocol: session updates, permission requests, the answer of a prompt",
    document: Some("Agent Client Protocol, version 1"),
    sse: SseStyle::Bare,
    type_key: "params.update.sessionUpdate|method|result|error",
    log: None,
    schemas: schemas!("acp/v1": "agent_message_chunk",
        "agent_thought_chunk",
        "user_message_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
        "config_option_update",
        "session_info_update",
        "request_permission",
        "cancel_request",
        "result",
        "error",
    ),
    document_schema: document_schema!("acp/v1"),
    encoder: encode::new,
    verifier: || Box::new(rules::AcpRules::default()),
    rules: rules::RULES,
    withheld: withheld::stand_in,
    dropped: dropped::notice,
    notice_type: "error",
    announces_pruning: false,
    has_user_messages: true,
    artifact_id: None,
};
