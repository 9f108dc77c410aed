//! `open-responses.v1`: a run as one streamed response of Open Responses, the open form of the OpenAI Responses API.
//!
//! Input: the frames of a run. Output: the streaming events of one response, which `client.responses.stream` of the `openai` packages
//! folds. Never: a `function_call` (the runner executes its tools itself, and a client would execute them again), an event type that
//! the packages do not know (they refuse it), an event after the terminal one, or an item that is left open.
//!
//! How frames map to events:
//!
//! - **The response.** `response.created` and `response.in_progress` come with the first turn or the first content, because they name
//!   the model. Then follow the items, and one terminal event with all items in their order. Each event has a `sequence_number`, from 0
//!   without gaps. framegate adds `response_id`, which tells the runs of a feed apart.
//! - **Text** is a `message` for each block, with one `output_text` part.
//! - **Reasoning** is a `reasoning` item for each block, with one part of its summary. It is the summary because only its events have
//!   the same name everywhere: for raw reasoning, Open Responses says `response.reasoning.delta`, which the `openai` package for
//!   JavaScript refuses, and OpenAI says `response.reasoning_text.delta`, which Open Responses does not have.
//! - **Tools** are `mcp_call` items whose server is the runner: the API's own item for a tool that was executed elsewhere, with arguments,
//!   output and error. Open Responses leaves such items to `slug:name` types, but no client shows those. `call_id` is the runner's own id.
//! - **Approvals** are `mcp_approval_request` and `mcp_approval_response` items, which are complete at once. `approval_id` is the runner's
//!   id of the question. The call names its request.
//! - **Subagents.** Their calls and questions are items, with the item of the call that started them as `parent_item_id`. Their text and
//!   reasoning are left out: a reader would take them for the answer.
//! - **The end.** `response.completed`; `response.incomplete` if a limit or a content filter cut the answer off, or if the run was
//!   interrupted; `response.failed`.
//! - **Left out**: turns, plans, checkpoints, file changes, notices, the user's messages, and background tasks.
//!
//! The terminal event repeats the items, so their content is held until then, within the bounds of the module `items`.

mod approvals;
mod calls;
mod dropped;
mod encode;
mod ending;
mod items;
mod response;
mod rules;
mod segment;
#[cfg(test)]
mod tests;
mod texts;
mod withheld;
mod writer;

use super::{Contract, SseStyle};
use crate::schema::schemas;
pub use segment::{About, Segment, queued};

/// The contract.
pub const V1: Contract = Contract {
    name: "open-responses.v1",
    about: "a run as one streamed response: text, reasoning, tools with their output, approvals, usage",
    document: Some("Open Responses 2026-04-24 (OpenAI Responses API), streaming"),
    sse: SseStyle::Named,
    type_key: "type",
    log: None,
    schemas: schemas!("open-responses/v1": "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.output_item.done",
        "response.content_part.added",
        "response.content_part.done",
        "response.output_text.delta",
        "response.output_text.done",
        "response.reasoning_summary_part.added",
        "response.reasoning_summary_part.done",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary_text.done",
        "response.mcp_call.in_progress",
        "response.mcp_call_arguments.delta",
        "response.mcp_call_arguments.done",
        "response.mcp_call.completed",
        "response.mcp_call.failed",
        "response.completed",
        "response.incomplete",
        "response.failed",
        "error",
    ),
    document_schema: document_schema!("open-responses/v1"),
    encoder: encode::new,
    verifier: || Box::new(rules::OpenResponsesRules::default()),
    rules: rules::RULES,
    withheld: withheld::stand_in,
    dropped: dropped::notice,
    notice_type: "error",
    announces_pruning: false,
    has_user_messages: false,
    artifact_id: None,
};
