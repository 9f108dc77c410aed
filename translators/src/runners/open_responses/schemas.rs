//! The known records of Open Responses: one schema for each event type, one for the response object, and one for all
//! extensions.
//!
//! In [`SCHEMAS`], the events that carry a response include its schema. Validation ([`super::validation`]) checks the response
//! separately from its event, so that their errors are reported separately.

use crate::schema::{SchemaFile, schema_file};

/// A schema and its path relative to this folder.
macro_rules! file {
    ($kind:expr, $folder:literal) => {
        schema_file!(concat!("runners/open-responses", $folder), $kind)
    };
}

macro_rules! lists {
    (
        with_response: $($carrier:literal),+;
        published: $($published:literal),+;
        wider: $($wider:literal),+;
    ) => {
        /// The published event types, without the response inside them.
        pub(super) static PUBLISHED: &[SchemaFile] =
            &[$(file!($carrier, "/events"),)+ $(file!($published, "/events")),+];

        /// Further event types that other implementations send.
        pub(super) static WIDER: &[SchemaFile] = &[$(file!($wider, "/events")),+];

        /// Every kind of record.
        pub(super) static SCHEMAS: &[SchemaFile] = &[
            RESPONSE,
            file!("extension", "/sse"),
            $(file!($carrier, "/sse"),)+
            $(file!($published, "/events"),)+
            $(file!($wider, "/events")),+
        ];
    };
}

/// The response object and its components.
pub(super) static RESPONSE: SchemaFile = file!("response", "");

lists! {
    with_response:
        "response.completed",
        "response.created",
        "response.failed",
        "response.in_progress",
        "response.incomplete",
        "response.queued";
    published:
        "error",
        "response.content_part.added",
        "response.content_part.done",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
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
        "response.refusal.delta",
        "response.refusal.done";
    wider:
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
        "response.custom_tool_call_input.delta",
        "response.custom_tool_call_input.done",
        "response.file_search_call.completed",
        "response.file_search_call.in_progress",
        "response.file_search_call.searching",
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
        "response.reasoning_text.delta",
        "response.reasoning_text.done",
        "response.shell_call_command.added",
        "response.shell_call_command.delta",
        "response.shell_call_command.done",
        "response.shell_call_output_content.delta",
        "response.shell_call_output_content.done",
        "response.web_search_call.completed",
        "response.web_search_call.in_progress",
        "response.web_search_call.searching";
}
