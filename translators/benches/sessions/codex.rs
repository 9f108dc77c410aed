//! Codex, the lines of its app-server.

use super::{Session, Shape};

const TURN: &str = r#"{"method":"turn/started","params":{"threadId":"0199-thread-0001","turn":{"id":"0199-turn-0001","items":[],"status":"inProgress","error":null}},"emittedAtMs":1770000000000}"#;
const TURN_ENDS: &str = r#"{"method":"turn/completed","params":{"threadId":"0199-thread-0001","turn":{"id":"0199-turn-0001","items":[],"status":"completed","error":null}},"emittedAtMs":1770000000300}"#;

pub(super) const SESSIONS: &[Session] = &[
    Session {
        name: "codex-text",
        runner: "codex",
        shape: Shape::Deltas,
        sse: false,
        before: &[TURN],
        before_agent: &[],
        each: &[
            r#"{"method":"item/agentMessage/delta","params":{"threadId":"0199-thread-0001","turnId":"0199-turn-0001","itemId":"msg_0001","delta":"PIECE"},"emittedAtMs":1770000000100}"#,
        ],
        after_agent: &[],
        after: &[
            r#"{"method":"item/completed","params":{"item":{"type":"agentMessage","id":"msg_0001","text":"WHOLE","phase":null},"threadId":"0199-thread-0001","turnId":"0199-turn-0001"},"emittedAtMs":1770000000200}"#,
            TURN_ENDS,
        ],
        gives: "output_text_delta",
    },
    Session {
        name: "codex-tools",
        runner: "codex",
        shape: Shape::Tools,
        sse: false,
        before: &[TURN],
        before_agent: &[],
        each: &[
            r#"{"method":"item/started","params":{"item":{"type":"commandExecution","id":"call_NTH","command":"/bin/bash -lc 'seq 1 9'","status":"inProgress","aggregatedOutput":null,"exitCode":null},"threadId":"0199-thread-0001","turnId":"0199-turn-0001"},"emittedAtMs":1770000000050}"#,
            r#"{"method":"item/completed","params":{"item":{"type":"commandExecution","id":"call_NTH","command":"/bin/bash -lc 'seq 1 9'","status":"completed","aggregatedOutput":"PIECE","exitCode":0,"durationMs":40},"threadId":"0199-thread-0001","turnId":"0199-turn-0001"},"emittedAtMs":1770000000200}"#,
        ],
        after_agent: &[],
        after: &[TURN_ENDS],
        gives: "tool_started",
    },
    Session {
        name: "codex-output",
        runner: "codex",
        shape: Shape::Output,
        sse: false,
        before: &[
            TURN,
            r#"{"method":"item/started","params":{"item":{"type":"commandExecution","id":"call_0001","command":"/bin/bash -lc 'make'","status":"inProgress","aggregatedOutput":null,"exitCode":null},"threadId":"0199-thread-0001","turnId":"0199-turn-0001"},"emittedAtMs":1770000000050}"#,
        ],
        before_agent: &[],
        each: &[
            r#"{"method":"item/commandExecution/outputDelta","params":{"threadId":"0199-thread-0001","turnId":"0199-turn-0001","itemId":"call_0001","delta":"PIECE"},"emittedAtMs":1770000000100}"#,
        ],
        after_agent: &[],
        after: &[
            r#"{"method":"item/completed","params":{"item":{"type":"commandExecution","id":"call_0001","command":"/bin/bash -lc 'make'","status":"completed","aggregatedOutput":"WHOLE","exitCode":0,"durationMs":40},"threadId":"0199-thread-0001","turnId":"0199-turn-0001"},"emittedAtMs":1770000000200}"#,
            TURN_ENDS,
        ],
        gives: "tool_stdout",
    },
    Session {
        name: "codex-agents",
        runner: "codex",
        shape: Shape::Subagents,
        sse: false,
        before: &[TURN],
        before_agent: &[
            r#"{"method":"item/started","params":{"item":{"type":"collabAgentToolCall","id":"call_agent_AGENT","tool":"spawnAgent","status":"inProgress","senderThreadId":"0199-thread-0001","receiverThreadIds":[],"prompt":"SUBTASK","model":"","agentsStates":{}},"threadId":"0199-thread-0001","turnId":"0199-turn-0001"},"emittedAtMs":1770000000050}"#,
            r#"{"method":"item/completed","params":{"item":{"type":"collabAgentToolCall","id":"call_agent_AGENT","tool":"spawnAgent","status":"completed","senderThreadId":"0199-thread-0001","receiverThreadIds":["0199-child-AGENT"],"prompt":"SUBTASK","model":"m","agentsStates":{"0199-child-AGENT":{"status":"pendingInit","message":null}}},"threadId":"0199-thread-0001","turnId":"0199-turn-0001"},"emittedAtMs":1770000000060}"#,
            r#"{"method":"turn/started","params":{"threadId":"0199-child-AGENT","turn":{"id":"0199-turn-child-AGENT","items":[],"status":"inProgress","error":null}},"emittedAtMs":1770000000070}"#,
        ],
        each: &[
            r#"{"method":"item/agentMessage/delta","params":{"threadId":"0199-child-AGENT","turnId":"0199-turn-child-AGENT","itemId":"msg_AGENT","delta":"PIECE"},"emittedAtMs":1770000000100}"#,
        ],
        after_agent: &[
            r#"{"method":"turn/completed","params":{"threadId":"0199-child-AGENT","turn":{"id":"0199-turn-child-AGENT","items":[],"status":"completed","error":null}},"emittedAtMs":1770000000280}"#,
        ],
        after: &[TURN_ENDS],
        gives: "output_text_delta",
    },
];
