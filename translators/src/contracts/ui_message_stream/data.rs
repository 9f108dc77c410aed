//! The fields of each chunk.

use super::metadata::MessageMetadata;
use crate::contracts::live_output::Output;
use crate::encode::{Flat, Word, data};
use serde_json::value::RawValue;
use uuid::Uuid;

data! {
    pub(super) struct Start<'a> {
        pub(super) message_id: &'a Uuid => "messageId",
        pub(super) metadata: MessageMetadata<'a> => "messageMetadata",
    }

    pub(super) struct Metadata<'a> {
        pub(super) metadata: MessageMetadata<'a> => "messageMetadata",
    }

    pub(super) struct Finish<'a> {
        pub(super) finish_reason: Word => "finishReason",
        pub(super) metadata: Option<MessageMetadata<'a>> => "messageMetadata",
    }

    pub(super) struct Abort<'a> {
        pub(super) reason: Option<&'a str>,
    }

    pub(super) struct ErrorText<'a> {
        pub(super) error_text: &'a str => "errorText",
    }

    /// The start or the end of a text or reasoning part.
    pub(super) struct Part<'a> {
        pub(super) id: &'a str,
    }

    pub(super) struct Delta<'a> {
        pub(super) id: &'a str,
        pub(super) delta: &'a str,
    }

    /// The runner, not the client, executes the tool, and the client does not know it.
    pub(super) struct Executed {
        pub(super) dynamic: bool,
        pub(super) provider_executed: bool => "providerExecuted",
    }

    pub(super) struct InputStart<'a> {
        pub(super) tool_call_id: &'a str => "toolCallId",
        pub(super) tool_name: &'a str => "toolName",
        pub(super) executed: Flat<Executed>,
    }

    pub(super) struct InputDelta<'a> {
        pub(super) tool_call_id: &'a str => "toolCallId",
        pub(super) input_text_delta: &'a str => "inputTextDelta",
    }

    pub(super) struct InputAvailable<'a> {
        pub(super) tool_call_id: &'a str => "toolCallId",
        pub(super) tool_name: &'a str => "toolName",
        pub(super) input: &'a RawValue,
        pub(super) executed: Flat<Executed>,
        pub(super) tool_metadata: Option<ToolMetadata<'a>> => "toolMetadata",
    }

    pub(super) struct ToolMetadata<'a> {
        pub(super) kind: Option<Word>,
        pub(super) parent_tool_call_id: Option<&'a str> => "parentToolCallId",
    }

    pub(super) struct ApprovalRequest<'a> {
        pub(super) approval_id: &'a str => "approvalId",
        pub(super) tool_call_id: &'a str => "toolCallId",
        pub(super) reason: Option<&'a str>,
    }

    pub(super) struct ApprovalResponse<'a> {
        pub(super) approval_id: &'a str => "approvalId",
        pub(super) approved: bool,
        pub(super) reason: Option<&'a str>,
    }

    pub(super) struct OutputAvailable<'a> {
        pub(super) tool_call_id: &'a str => "toolCallId",
        pub(super) output: ToolOutput<'a>,
        pub(super) executed: Flat<Executed>,
        pub(super) preliminary: Option<bool>,
    }

    pub(super) struct ToolOutput<'a> {
        pub(super) stdout: &'a str,
        pub(super) stderr: &'a str,
        pub(super) exit_code: Option<i32>,
        pub(super) duration_ms: Option<u64>,
        pub(super) artifacts: Option<&'a RawValue>,
        pub(super) omitted_bytes: Option<u64>,
    }

    pub(super) struct OutputError<'a> {
        pub(super) tool_call_id: &'a str => "toolCallId",
        pub(super) error_text: &'a str => "errorText",
        pub(super) executed: Flat<Executed>,
    }

    pub(super) struct OutputDenied<'a> {
        pub(super) tool_call_id: &'a str => "toolCallId",
    }

    pub(super) struct Steering<'a> {
        pub(super) id: &'a str,
        pub(super) parts: Vec<SteeringPart<'a>>,
    }

    pub(super) struct SteeringPart<'a> {
        pub(super) kind: Word => "type",
        pub(super) text: &'a str,
    }

    pub(super) struct Plan<'a> {
        pub(super) id: Word,
        pub(super) data: PlanData<'a>,
    }

    pub(super) struct PlanData<'a> {
        pub(super) entries: Vec<Entry<'a>>,
    }

    pub(super) struct Entry<'a> {
        pub(super) content: &'a str,
        pub(super) status: &'a str,
        pub(super) priority: Option<&'a str>,
    }

    pub(super) struct FileChange<'a> {
        pub(super) data: FileChangeData<'a>,
    }

    pub(super) struct FileChangeData<'a> {
        pub(super) path: &'a str,
        pub(super) kind: Word,
        pub(super) tool_call_id: Option<&'a str> => "toolCallId",
        pub(super) diff: Option<&'a str>,
        pub(super) artifact_id: Option<&'a str> => "artifactId",
    }

    pub(super) struct Checkpoint<'a> {
        pub(super) id: Option<&'a Uuid>,
        pub(super) data: CheckpointData<'a>,
    }

    pub(super) struct CheckpointData<'a> {
        pub(super) status: Word,
        pub(super) checkpoint_id: Option<&'a Uuid> => "checkpointId",
        pub(super) label: Option<&'a str>,
        pub(super) files: Option<&'a [String]>,
        pub(super) created_at_ms: Option<u64> => "createdAtMs",
        pub(super) auto: Option<bool>,
        pub(super) tool_name: Option<&'a str> => "toolName",
        pub(super) action: Option<Word>,
        pub(super) error: Option<&'a str>,
    }

    pub(super) struct Notice<'a> {
        pub(super) data: NoticeData<'a>,
        pub(super) transient: bool,
    }

    pub(super) struct NoticeData<'a> {
        pub(super) level: Word,
        pub(super) code: Option<&'a str>,
        pub(super) message: &'a str,
    }

    pub(super) struct Task<'a> {
        pub(super) id: &'a Uuid,
        pub(super) data: TaskData<'a>,
    }

    pub(super) struct TaskData<'a> {
        pub(super) task_id: &'a Uuid => "taskId",
        pub(super) status: Word,
        pub(super) tool_name: Option<&'a str> => "toolName",
        pub(super) title: Option<&'a str>,
        pub(super) cwd: Option<&'a str>,
        pub(super) input: Option<&'a RawValue>,
        pub(super) output: ToolOutput<'a>,
        pub(super) error: Option<&'a str>,
    }
}

/// The same for each call.
pub(super) const EXECUTED: Flat<Executed> = Flat(Executed { dynamic: true, provider_executed: true });

/// The fields of a result with that output.
pub(super) fn fields(output: &Output) -> ToolOutput<'_> {
    ToolOutput {
        stdout: output.stdout(),
        stderr: output.stderr(),
        exit_code: None,
        duration_ms: None,
        artifacts: None,
        omitted_bytes: output.omitted_bytes(),
    }
}
