//! What is known of the records of Open Responses: one schema for each event type, one for the response object, and one for
//! all extensions.
//!
//! The events that carry a response are known with it here. Where faults are found ([`super::validation`]), it is checked apart
//! from its event, so that its faults can be told apart.

use crate::schema::SchemaFile;

/// Where schemas stand from this folder.
macro_rules! files {
    ($($folder:literal: $($kind:literal),+;)+) => {
        &[$($(SchemaFile {
            kind: $kind,
            text: include_str!(concat!("../../../../schemas/runners/open-responses/", $folder, $kind, ".schema.json")),
        }),+),+]
    };
}

/// Every kind.
pub(super) const SCHEMAS: &[SchemaFile] = files! {
    "": "response";
    "sse/":
    "response.completed",
    "response.created",
    "response.failed",
    "response.in_progress",
    "response.incomplete",
    "response.queued",
    "extension";
    "events/":
    "error",
    "image_edit.completed",
    "image_edit.partial_image",
    "image_generation.completed",
    "image_generation.partial_image",
    "response.apply_patch_call_operation_diff.delta",
    "response.apply_patch_call_operation_diff.done",
    "response.audio.delta",
    "response.audio.done",
    "response.audio.transcript.delta",
    "response.audio.transcript.done",
    "response.code_interpreter_call.completed",
    "response.code_interpreter_call.in_progress",
    "response.code_interpreter_call.interpreting",
    "response.code_interpreter_call_code.delta",
    "response.code_interpreter_call_code.done",
    "response.compaction.compacting",
    "response.content_part.added",
    "response.content_part.done",
    "response.custom_tool_call_input.delta",
    "response.custom_tool_call_input.done",
    "response.file_search_call.completed",
    "response.file_search_call.in_progress",
    "response.file_search_call.searching",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.image_generation_call.completed",
    "response.image_generation_call.generating",
    "response.image_generation_call.in_progress",
    "response.image_generation_call.partial_image",
    "response.mcp_call.completed",
    "response.mcp_call.failed",
    "response.mcp_call.in_progress",
    "response.mcp_call_arguments.delta",
    "response.mcp_call_arguments.done",
    "response.mcp_list_tools.completed",
    "response.mcp_list_tools.failed",
    "response.mcp_list_tools.in_progress",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.annotation.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.reasoning.delta",
    "response.reasoning.done",
    "response.reasoning_summary_part.added",
    "response.reasoning_summary_part.done",
    "response.reasoning_summary_text.delta",
    "response.reasoning_summary_text.done",
    "response.reasoning_text.delta",
    "response.reasoning_text.done",
    "response.refusal.delta",
    "response.refusal.done",
    "response.shell_call_command.added",
    "response.shell_call_command.delta",
    "response.shell_call_command.done",
    "response.shell_call_output_content.delta",
    "response.shell_call_output_content.done",
    "response.web_search_call.completed",
    "response.web_search_call.in_progress",
    "response.web_search_call.searching";
};
