//! `chat-completions.v1`: a run as one streamed answer of the Chat Completions API.
//!
//! Input: the frames of a run. Output: chunks with one choice, and an error object if the run failed or was interrupted. Never: a
//! `tool_calls` delta (the runner executes its tools itself, and a client would run them again), a subagent's text, or more than one
//! end.

mod dropped;
mod encode;
mod progress;
mod rules;
mod usage;
mod withheld;

use super::{Contract, SseStyle};
use crate::schema::schemas;

/// The type of a chunk.
const CHUNK: &str = "chat.completion.chunk";

/// The type of an error.
const ERROR: &str = "error";

/// The contract.
pub const V1: Contract = Contract {
    name: "chat-completions.v1",
    about: "a run as one streamed chat completion: text, reasoning and tools as reasoning, usage",
    document: Some("Chat Completions API, streaming"),
    sse: SseStyle::Bare,
    type_key: "object",
    log: None,
    schemas: schemas!("chat-completions/v1": "chat.completion.chunk", "error"),
    document_schema: document_schema!("chat-completions/v1"),
    encoder: encode::new,
    verifier: || Box::new(rules::ChatRules::default()),
    rules: rules::RULES,
    withheld: withheld::stand_in,
    dropped: dropped::notice,
    notice_type: ERROR,
    announces_pruning: false,
    has_user_messages: false,
    artifact_id: None,
};
