//! OpenCode, its event feeds.

use super::{Session, Shape};

const BUSY: &str =
    r#"{"id":"evt_1","type":"session.status","properties":{"sessionID":"ses_0001","status":{"type":"busy"}}}"#;
const MESSAGE: &str = r#"{"id":"evt_2","type":"message.updated","properties":{"sessionID":"ses_0001","info":{"id":"msg_0001","role":"assistant","modelID":"m","time":{"created":1770000000000},"sessionID":"ses_0001"}}}"#;
const MESSAGE_ENDS: &str = r#"{"id":"evt_6","type":"message.updated","properties":{"sessionID":"ses_0001","info":{"id":"msg_0001","role":"assistant","modelID":"m","time":{"created":1770000000000,"completed":1770000000250},"sessionID":"ses_0001"}}}"#;
const IDLE: &str = r#"{"id":"evt_7","type":"session.idle","properties":{"sessionID":"ses_0001"}}"#;

pub(super) const SESSIONS: &[Session] = &[
    Session {
        name: "opencode-text",
        runner: "opencode",
        shape: Shape::Deltas,
        sse: true,
        before: &[
            BUSY,
            MESSAGE,
            r#"{"id":"evt_3","type":"message.part.updated","properties":{"sessionID":"ses_0001","part":{"id":"prt_0001","messageID":"msg_0001","sessionID":"ses_0001","type":"text","text":"","time":{"start":1770000000050}}}}"#,
        ],
        before_agent: &[],
        each: &[
            r#"{"id":"evt_4","type":"message.part.delta","properties":{"sessionID":"ses_0001","messageID":"msg_0001","partID":"prt_0001","field":"text","delta":"PIECE"}}"#,
        ],
        after_agent: &[],
        after: &[
            r#"{"id":"evt_5","type":"message.part.updated","properties":{"sessionID":"ses_0001","part":{"id":"prt_0001","messageID":"msg_0001","sessionID":"ses_0001","type":"text","text":"WHOLE","time":{"start":1770000000050,"end":1770000000200}}}}"#,
            MESSAGE_ENDS,
            IDLE,
        ],
        gives: "output_text_delta",
    },
    Session {
        name: "opencode-next",
        runner: "opencode",
        shape: Shape::Deltas,
        sse: true,
        before: &[
            r#"{"id":"evt_1","type":"session.next.step.started","data":{"timestamp":1770000000000,"sessionID":"ses_0001","assistantMessageID":"msg_0001","model":{"id":"m"}}}"#,
            r#"{"id":"evt_2","type":"session.next.text.started","data":{"timestamp":1770000000050,"sessionID":"ses_0001","assistantMessageID":"msg_0001","textID":"text-0"}}"#,
        ],
        before_agent: &[],
        each: &[
            r#"{"id":"evt_3","type":"session.next.text.delta","data":{"timestamp":1770000000100,"sessionID":"ses_0001","assistantMessageID":"msg_0001","textID":"text-0","delta":"PIECE"}}"#,
        ],
        after_agent: &[],
        after: &[
            r#"{"id":"evt_4","type":"session.next.text.ended","data":{"timestamp":1770000000200,"sessionID":"ses_0001","assistantMessageID":"msg_0001","textID":"text-0","text":"WHOLE"}}"#,
            r#"{"id":"evt_5","type":"session.next.step.ended","data":{"timestamp":1770000000250,"sessionID":"ses_0001","assistantMessageID":"msg_0001","finish":"stop"}}"#,
        ],
        gives: "output_text_delta",
    },
    Session {
        name: "opencode-tools",
        runner: "opencode",
        shape: Shape::Tools,
        sse: true,
        before: &[BUSY, MESSAGE],
        before_agent: &[],
        each: &[
            r#"{"id":"evt_3","type":"message.part.updated","properties":{"sessionID":"ses_0001","part":{"type":"tool","tool":"glob","callID":"call_NTH","state":{"status":"running","input":{"pattern":"*.md"},"time":{"start":1770000000060}},"id":"prt_NTH","sessionID":"ses_0001","messageID":"msg_0001"}}}"#,
            r#"{"id":"evt_4","type":"message.part.updated","properties":{"sessionID":"ses_0001","part":{"type":"tool","tool":"glob","callID":"call_NTH","state":{"status":"completed","input":{"pattern":"*.md"},"output":"PIECE","metadata":{"count":1},"title":"","time":{"start":1770000000060,"end":1770000000070}},"id":"prt_NTH","sessionID":"ses_0001","messageID":"msg_0001"}}}"#,
        ],
        after_agent: &[],
        after: &[MESSAGE_ENDS, IDLE],
        gives: "tool_started",
    },
    Session {
        name: "opencode-output",
        runner: "opencode",
        shape: Shape::Output,
        sse: true,
        before: &[BUSY, MESSAGE],
        before_agent: &[],
        each: &[
            r#"{"id":"evt_4","type":"message.part.updated","properties":{"sessionID":"ses_0001","part":{"type":"tool","tool":"bash","callID":"call_NTH","state":{"status":"completed","input":{"command":"make"},"output":"PIECE","metadata":{"exit":0},"title":"","time":{"start":1770000000060,"end":1770000000070}},"id":"prt_NTH","sessionID":"ses_0001","messageID":"msg_0001"}}}"#,
        ],
        after_agent: &[],
        after: &[MESSAGE_ENDS, IDLE],
        gives: "tool_stdout",
    },
    Session {
        name: "opencode-agents",
        runner: "opencode",
        shape: Shape::Subagents,
        sse: true,
        before: &[BUSY, MESSAGE],
        before_agent: &[
            r#"{"id":"evt_3","type":"session.created","properties":{"sessionID":"ses_child_AGENT","info":{"id":"ses_child_AGENT","parentID":"ses_0001","title":"Find (@general subagent)","agent":"general","time":{"created":1770000000010,"updated":1770000000010}}}}"#,
            r#"{"id":"evt_4","type":"message.part.updated","properties":{"sessionID":"ses_0001","part":{"type":"tool","tool":"task","callID":"call_agent_AGENT","state":{"title":"Find","metadata":{"parentSessionId":"ses_0001","sessionId":"ses_child_AGENT"},"status":"running","input":{"description":"Find","prompt":"Find","subagent_type":"general"},"time":{"start":1770000000020}},"id":"prt_agent_AGENT","messageID":"msg_0001","sessionID":"ses_0001"}}}"#,
            r#"{"id":"evt_5","type":"message.updated","properties":{"sessionID":"ses_child_AGENT","info":{"id":"msg_child_AGENT","role":"assistant","modelID":"m","time":{"created":1770000000030},"sessionID":"ses_child_AGENT"}}}"#,
            r#"{"id":"evt_6","type":"message.part.updated","properties":{"sessionID":"ses_child_AGENT","part":{"id":"prt_child_AGENT","messageID":"msg_child_AGENT","sessionID":"ses_child_AGENT","type":"text","text":"","time":{"start":1770000000040}}}}"#,
        ],
        each: &[
            r#"{"id":"evt_7","type":"message.part.delta","properties":{"sessionID":"ses_child_AGENT","messageID":"msg_child_AGENT","partID":"prt_child_AGENT","field":"text","delta":"PIECE"}}"#,
        ],
        after_agent: &[
            r#"{"id":"evt_8","type":"session.idle","properties":{"sessionID":"ses_child_AGENT"}}"#,
            r#"{"id":"evt_9","type":"message.part.updated","properties":{"sessionID":"ses_0001","part":{"type":"tool","tool":"task","callID":"call_agent_AGENT","state":{"status":"completed","input":{"description":"Find","prompt":"Find","subagent_type":"general"},"output":"found","metadata":{"parentSessionId":"ses_0001","sessionId":"ses_child_AGENT"},"title":"Find","time":{"start":1770000000020,"end":1770000000260}},"id":"prt_agent_AGENT","messageID":"msg_0001","sessionID":"ses_0001"}}}"#,
        ],
        after: &[MESSAGE_ENDS, IDLE],
        gives: "output_text_delta",
    },
];
