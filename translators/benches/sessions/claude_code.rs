//! Claude Code, `--output-format stream-json`; with partial messages if the text arrives in pieces.

use super::{Session, Shape};

const INIT: &str =
    r#"{"type":"system","subtype":"init","session_id":"a2d54fc6-831a-4f18-8adb-000000000001","model":"m","tools":[]}"#;
const RESULT: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"a2d54fc6-831a-4f18-8adb-000000000001"}"#;

pub(super) const SESSIONS: &[Session] = &[
    Session {
        name: "claude-text",
        runner: "claude-code",
        shape: Shape::Deltas,
        sse: false,
        before: &[
            INIT,
            r#"{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","role":"assistant"}},"session_id":"a2d54fc6-831a-4f18-8adb-000000000001","parent_tool_use_id":null,"uuid":"b8342c65-dc22-4ad7-9760-0afad64d5add"}"#,
            r#"{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}},"session_id":"a2d54fc6-831a-4f18-8adb-000000000001","parent_tool_use_id":null,"uuid":"b8342c65-dc22-4ad7-9760-0afad64d5add"}"#,
        ],
        before_agent: &[],
        each: &[
            r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"PIECE"}},"session_id":"a2d54fc6-831a-4f18-8adb-000000000001","parent_tool_use_id":null,"uuid":"b8342c65-dc22-4ad7-9760-0afad64d5add"}"#,
        ],
        after_agent: &[],
        after: &[
            r#"{"type":"assistant","message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"WHOLE"}]},"session_id":"a2d54fc6-831a-4f18-8adb-000000000001","parent_tool_use_id":null,"uuid":"b8342c65-dc22-4ad7-9760-0afad64d5add"}"#,
            r#"{"type":"stream_event","event":{"type":"content_block_stop","index":0},"session_id":"a2d54fc6-831a-4f18-8adb-000000000001","parent_tool_use_id":null,"uuid":"b8342c65-dc22-4ad7-9760-0afad64d5add"}"#,
            r#"{"type":"stream_event","event":{"type":"message_stop"},"session_id":"a2d54fc6-831a-4f18-8adb-000000000001","parent_tool_use_id":null,"uuid":"b8342c65-dc22-4ad7-9760-0afad64d5add"}"#,
            RESULT,
        ],
        gives: "output_text_delta",
    },
    Session {
        name: "claude-tools",
        runner: "claude-code",
        shape: Shape::Tools,
        sse: false,
        before: &[INIT],
        before_agent: &[],
        each: &[
            r#"{"type":"assistant","message":{"id":"msg_NTH","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"toolu_NTH","name":"Read","input":{"file_path":"/workspace/NTH.txt"}}]},"parent_tool_use_id":null,"session_id":"a2d54fc6-831a-4f18-8adb-000000000001","uuid":"c7d5a290-d430-47ed-b1d9-2e878fc115f2"}"#,
            r#"{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_NTH","type":"tool_result","content":"PIECE","is_error":false}]},"parent_tool_use_id":null,"session_id":"a2d54fc6-831a-4f18-8adb-000000000001","uuid":"60a37b70-0229-41b8-9ece-4c85642c9448"}"#,
        ],
        after_agent: &[],
        after: &[RESULT],
        gives: "tool_started",
    },
    Session {
        name: "claude-output",
        runner: "claude-code",
        shape: Shape::Output,
        sse: false,
        before: &[INIT],
        before_agent: &[],
        each: &[
            r#"{"type":"assistant","message":{"id":"msg_NTH","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"toolu_NTH","name":"Bash","input":{"command":"make NTH"}}]},"parent_tool_use_id":null,"session_id":"a2d54fc6-831a-4f18-8adb-000000000001","uuid":"c7d5a290-d430-47ed-b1d9-2e878fc115f2"}"#,
            r#"{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_NTH","type":"tool_result","content":"PIECE","is_error":false}]},"parent_tool_use_id":null,"session_id":"a2d54fc6-831a-4f18-8adb-000000000001","uuid":"60a37b70-0229-41b8-9ece-4c85642c9448"}"#,
        ],
        after_agent: &[],
        after: &[RESULT],
        gives: "tool_stdout",
    },
    Session {
        name: "claude-agents",
        runner: "claude-code",
        shape: Shape::Subagents,
        sse: false,
        before: &[INIT],
        before_agent: &[
            r#"{"type":"assistant","message":{"id":"msg_agent_AGENT","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"toolu_agent_AGENT","name":"Agent","input":{"description":"Count","prompt":"Count the files","subagent_type":"general-purpose"}}]},"parent_tool_use_id":null,"session_id":"a2d54fc6-831a-4f18-8adb-000000000001","uuid":"9f5e2105-8a73-4e85-be6c-b53e98d7114d"}"#,
            r#"{"type":"system","subtype":"task_started","task_id":"a_AGENT","tool_use_id":"toolu_agent_AGENT","description":"Count","subagent_type":"general-purpose","task_type":"local_agent","prompt":"Count the files","uuid":"912e82c8-18bb-472d-81aa-383df29ad381","session_id":"a2d54fc6-831a-4f18-8adb-000000000001"}"#,
        ],
        each: &[
            r#"{"type":"assistant","message":{"id":"msg_sub_NTH","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"PIECE"}]},"parent_tool_use_id":"toolu_agent_AGENT","session_id":"a2d54fc6-831a-4f18-8adb-000000000001","uuid":"ac2994a4-971b-41c5-aa92-679b805808b4"}"#,
        ],
        after_agent: &[
            r#"{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_agent_AGENT","type":"tool_result","content":"There is 1 file.","is_error":false}]},"parent_tool_use_id":null,"session_id":"a2d54fc6-831a-4f18-8adb-000000000001","uuid":"60a37b70-0229-41b8-9ece-4c85642c9448"}"#,
        ],
        after: &[RESULT],
        gives: "output_text_delta",
    },
];
