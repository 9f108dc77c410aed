//! Hand-made frames, and the events derived from them.

use framegate_translators::contracts::hecate::V1;
use framegate_translators::encode::{Encoder, EncoderOptions, Events};
use framegate_translators::frame::{
    ApprovalRequested, ApprovalResolved, BlockDelta, BlockText, Body, Decision, EndReason, ErrorReported, ErrorScope,
    Frame, RawJson, Session, SessionEnded, SharedStr, Stream, StreamKind, Tool, ToolCall, ToolKind, Usage, UsageScope,
};
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

pub fn uuid(number: u128) -> Uuid {
    Uuid::from_u128(number)
}

pub fn stream(kind: StreamKind) -> Arc<Stream> {
    let session = Arc::new(Session { id: uuid(2), name: SharedStr::from("s") });
    Arc::new(Stream {
        kind,
        id: uuid(1),
        session,
        origin_run: None,
        provider: framegate_translators::runners::runner("codex").unwrap().provider,
    })
}

pub fn raw(value: &Value) -> RawJson {
    framegate_translators::json::to_raw(value)
}

pub fn tool(call_id: &str) -> Tool {
    Tool {
        id: Uuid::from_u128(call_id.bytes().fold(1, |sum, byte| sum << 8 | u128::from(byte))),
        call_id: SharedStr::from(call_id),
    }
}

pub fn call(call_id: &str, name: &str, kind: ToolKind, args: &Value) -> ToolCall {
    ToolCall { tool: tool(call_id), name: SharedStr::from(name), kind, args: raw(args) }
}

pub fn started(call: ToolCall) -> Body {
    Body::ToolStarted { call: Box::new(call), timeout_ms: None }
}

pub fn stdout(call_id: &str, chunk: &str) -> Body {
    Body::ToolStdout { tool: tool(call_id), chunk: chunk.to_owned() }
}

pub fn exited(call_id: &str, exit_code: i32) -> Body {
    Body::ToolEnded { tool: tool(call_id), exit_code, duration_ms: 7, artifacts: None }
}

pub fn ended(reason: EndReason, code: Option<&str>, message: Option<&str>, final_text: Option<&str>) -> Body {
    Body::SessionEnded(Box::new(SessionEnded {
        reason,
        final_text: final_text.map(str::to_owned),
        error_code: code.map(SharedStr::from),
        message: message.map(str::to_owned),
    }))
}

pub fn text_delta(message_id: &str, block_index: u32, delta: &str) -> Body {
    Body::OutputTextDelta(BlockDelta { message_id: SharedStr::from(message_id), block_index, delta: delta.to_owned() })
}

pub fn block(message_id: &str, block_index: u32, text: &str) -> BlockText {
    BlockText { message_id: SharedStr::from(message_id), block_index, text: text.to_owned() }
}

pub fn usage(scope: UsageScope, input_tokens: u64, cost_usd: Option<f64>) -> Body {
    Body::UsageReported(Box::new(Usage {
        scope,
        input_tokens,
        output_tokens: 2,
        cache_read_tokens: Some(10),
        cache_creation_tokens: Some(100),
        cost_usd,
        ..Usage::default()
    }))
}

pub fn turn_ended(turn_index: u32, stop_reason: Option<&str>) -> Body {
    Body::TurnEnded { turn_index, stop_reason: stop_reason.map(SharedStr::from), duration_ms: Some(0) }
}

pub fn error(scope: ErrorScope, code: &str, attempt: Option<u32>, max_attempts: Option<u32>) -> Body {
    Body::ErrorReported(Box::new(ErrorReported {
        scope,
        code: SharedStr::from(code),
        message: "no".to_owned(),
        retryable: true,
        attempt,
        max_attempts,
        http_status: Some(529),
    }))
}

pub fn asked(approval_id: &str, call_id: &str) -> Body {
    Body::ApprovalRequested(Box::new(ApprovalRequested {
        approval_id: SharedStr::from(approval_id),
        tool_id: Some(tool(call_id).id),
        tool_name: SharedStr::from("bash"),
        args: raw(&json!({"command": "rm -rf x"})),
        reason: None,
    }))
}

pub fn answered(approval_id: &str, decision: Decision, by: Option<&str>) -> Body {
    Body::ApprovalResolved(Box::new(ApprovalResolved {
        approval_id: SharedStr::from(approval_id),
        decision,
        by: by.map(SharedStr::from),
        reason: Some("why".to_owned()),
        scope: Some(SharedStr::from("once")),
    }))
}

pub fn refused(call_id: &str, error: &str) -> Body {
    Body::ToolFailed { tool: tool(call_id), error: error.to_owned() }
}

/// One run, frame by frame.
pub struct Run {
    stream: Arc<Stream>,
    encoder: Box<dyn Encoder>,
    seq: u64,
    pub now_ms: u64,
    pub parent: Option<Uuid>,
}

impl Run {
    pub fn new(options: &EncoderOptions) -> Self {
        let stream = stream(StreamKind::Session);
        let encoder = (V1.encoder)(&stream, options).unwrap();
        let mut run = Self { stream, encoder, seq: 0, now_ms: 1_770_000_000_000, parent: None };
        assert_eq!(run.kinds(Body::SessionStarted { input: String::new() }), ["run.started"]);
        run
    }

    pub fn core() -> Self {
        Self::new(&EncoderOptions::default())
    }

    pub fn experimental() -> Self {
        Self::new(&EncoderOptions { experimental: true, ..EncoderOptions::default() })
    }

    /// A run in its first turn.
    pub fn in_turn(mut self) -> Self {
        assert_eq!(self.kinds(Body::TurnStarted { turn_index: 0, model: None }), ["turn.started"]);
        self
    }

    /// The complete events of a frame, each checked against its schema.
    pub fn events(&mut self, body: Body) -> Vec<Value> {
        let frame = Frame {
            stream: self.stream.clone(),
            seq: self.seq,
            timestamp_ms: self.now_ms,
            parent_tool_id: self.parent,
            given_id: None,
            body,
        };
        self.seq += 1;
        let mut events = Events::default();
        self.encoder.frame(&frame, &mut events);
        let schemas = crate::support::schemas(&V1);
        events
            .iter()
            .map(|event| {
                assert_eq!(schemas.check(event), Ok(()), "{}", String::from_utf8_lossy(event.payload));
                serde_json::from_slice(event.payload).unwrap()
            })
            .collect()
    }

    /// The types and data of a frame's events.
    pub fn encode(&mut self, body: Body) -> Vec<(String, Value)> {
        let events = self.events(body);
        events.into_iter().map(|event| (event["type"].as_str().unwrap().to_owned(), event["data"].clone())).collect()
    }

    pub fn kinds(&mut self, body: Body) -> Vec<String> {
        self.encode(body).into_iter().map(|(kind, _)| kind).collect()
    }

    /// The data of the frame's only event.
    pub fn one(&mut self, kind: &str, body: Body) -> Value {
        let mut events = self.encode(body);
        assert_eq!(events.len(), 1, "{events:?}");
        let (found, data) = events.remove(0);
        assert_eq!(found, kind);
        data
    }
}

pub fn data(pairs: &[(&str, Value)]) -> Vec<(String, Value)> {
    pairs.iter().map(|(kind, data)| ((*kind).to_owned(), data.clone())).collect()
}

pub fn empty() -> Value {
    json!({})
}
