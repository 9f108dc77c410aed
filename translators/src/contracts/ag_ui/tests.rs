//! Hand-made frames, and the events derived from them.

use super::V1;
use super::writer::MAX_INTEGER;
use crate::encode::{Encoder, EncoderOptions, Events, HOLD_MS};
use crate::frame::{
    ApprovalRequested, ApprovalResolved, BlockDelta, BlockText, Body, Decision, EndReason, Frame, OutputStream,
    PlanEntry, Provider, RawJson, Session, SessionEnded, SharedStr, Stream, StreamKind, TaskEvent, TaskStatus, Tool,
    ToolCall, ToolKind, Usage, UsageScope, UserMessage,
};
use crate::json::to_raw;
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

struct Harness {
    stream: Arc<Stream>,
    encoder: Box<dyn Encoder>,
    next: u64,
    now_ms: u64,
}

impl Harness {
    fn of(kind: StreamKind) -> Self {
        let session = Arc::new(Session { id: Uuid::from_u128(2), name: SharedStr::from("s") });
        let provider = Provider { name: "lab", title: "Lab" };
        let stream = Arc::new(Stream { kind, id: Uuid::from_u128(1), session, origin_run: None, provider });
        let encoder = (V1.encoder)(&stream, &EncoderOptions::default()).unwrap();
        Self { stream, encoder, next: 0, now_ms: 1000 }
    }

    fn run() -> Self {
        let mut harness = Self::of(StreamKind::Session);
        harness.takes(Body::SessionStarted { input: "hi".to_owned() });
        harness
    }

    fn whole(&mut self, parent: Option<&str>, body: Body) -> Vec<Value> {
        let seq = self.next;
        self.next += 1;
        let parent_tool_id = parent.map(|call| tool(call).id);
        let frame =
            Frame { stream: self.stream.clone(), seq, timestamp_ms: self.now_ms, parent_tool_id, given_id: None, body };
        let mut events = Events::default();
        self.encoder.frame(&frame, &mut events);
        events.iter().map(|event| serde_json::from_slice(event.payload).unwrap()).collect()
    }

    fn by(&mut self, parent: Option<&str>, body: Body) -> Vec<Value> {
        self.whole(parent, body).into_iter().map(bare).collect()
    }

    fn takes(&mut self, body: Body) -> Vec<Value> {
        self.by(None, body)
    }
}

/// An event without its time, its stream and its number.
fn bare(mut event: Value) -> Value {
    let fields = event.as_object_mut().unwrap();
    fields.remove("timestamp");
    let metadata = fields["metadata"].as_object_mut().unwrap();
    metadata.remove("runId");
    metadata.remove("seq");
    if metadata.is_empty() {
        fields.remove("metadata");
    }
    event
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

fn tool(call_id: &str) -> Tool {
    let id = Uuid::from_u128(call_id.bytes().fold(1, |sum, byte| sum << 8 | u128::from(byte)));
    Tool { id, call_id: SharedStr::from(call_id) }
}

fn id(call_id: &str) -> String {
    tool(call_id).id.to_string()
}

fn call_with(call_id: &str, args: &Value) -> Body {
    let call =
        ToolCall { tool: tool(call_id), name: SharedStr::from("Bash"), kind: ToolKind::Shell, args: to_raw(args) };
    Body::ToolStarted { call: Box::new(call), timeout_ms: None }
}

fn started(call_id: &str) -> Body {
    call_with(call_id, &json!({"command": "ls"}))
}

fn input(call_id: &str, delta: &str) -> Body {
    Body::ToolInputDelta { tool: tool(call_id), name: SharedStr::from("Bash"), delta: delta.to_owned() }
}

fn stdout(call_id: &str, chunk: &str) -> Body {
    Body::ToolStdout { tool: tool(call_id), chunk: chunk.to_owned() }
}

fn stderr(call_id: &str, chunk: &str) -> Body {
    Body::ToolStderr { tool: tool(call_id), chunk: chunk.to_owned() }
}

fn ended(call_id: &str) -> Body {
    Body::ToolEnded { tool: tool(call_id), exit_code: 3, duration_ms: 7, artifacts: None }
}

fn failed(call_id: &str, error: &str) -> Body {
    Body::ToolFailed { tool: tool(call_id), error: error.to_owned() }
}

fn piece(message: &str, delta: &str) -> BlockDelta {
    BlockDelta { message_id: SharedStr::from(message), block_index: 0, delta: delta.to_owned() }
}

fn block(message: &str, text: &str) -> BlockText {
    BlockText { message_id: SharedStr::from(message), block_index: 0, text: text.to_owned() }
}

fn said(message: &str, delta: &str) -> Body {
    Body::OutputTextDelta(piece(message, delta))
}

fn turn(turn_index: u32) -> Body {
    Body::TurnStarted { turn_index, model: Some(SharedStr::from("m")) }
}

fn subagent(subagent_id: &str, call_id: &str) -> Body {
    Body::SubagentStarted {
        subagent_id: SharedStr::from(subagent_id),
        tool_id: Some(tool(call_id).id),
        agent: Some(SharedStr::from("explorer")),
        task: Some("count".to_owned()),
        depth: 1,
    }
}

fn subagent_ended(subagent_id: &str, status: &str) -> Body {
    Body::SubagentEnded {
        subagent_id: SharedStr::from(subagent_id),
        status: SharedStr::from(status),
        summary: Some("1 file".to_owned()),
    }
}

fn end(reason: EndReason) -> Body {
    Body::SessionEnded(Box::new(SessionEnded { reason, final_text: None, error_code: None, message: None }))
}

fn usage(scope: UsageScope, model: &str, input_tokens: u64) -> Body {
    Body::UsageReported(Box::new(Usage {
        scope,
        model: Some(SharedStr::from(model)),
        input_tokens,
        output_tokens: 5,
        cache_read_tokens: Some(2),
        ..Usage::default()
    }))
}

#[test]
fn a_run_is_a_run_of_the_protocol() {
    let mut harness = Harness::of(StreamKind::Session);
    let first = harness.whole(None, Body::SessionStarted { input: "hi".to_owned() });
    let (run, thread) = (Uuid::from_u128(1).to_string(), Uuid::from_u128(2).to_string());
    let metadata = json!({"runId": run, "seq": 0, "runner": "lab"});
    assert_eq!(
        first,
        [json!({"type": "RUN_STARTED", "timestamp": 1000, "threadId": thread, "runId": run,
            "protocolVersion": "1.0", "metadata": metadata})]
    );
    let step = harness.takes(turn(0));
    assert_eq!(step, [json!({"type": "STEP_STARTED", "stepName": "turn-0", "metadata": {"model": "m"}})]);
    // A turn without an end ends with the next one.
    assert_eq!(kinds(&harness.takes(turn(1))), ["STEP_FINISHED", "STEP_STARTED"]);
    assert_eq!(kinds(&harness.takes(end(EndReason::Completed))), ["STEP_FINISHED", "RUN_FINISHED"]);
}

#[test]
fn each_block_is_a_message_with_a_fresh_id() {
    let mut harness = Harness::run();
    let one = harness.takes(said("a", "He"));
    assert_eq!(kinds(&one), ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT"]);
    let thought = harness.takes(Body::ReasoningDelta(piece("a", "hm")));
    assert_eq!(kinds(&thought), ["REASONING_START", "REASONING_MESSAGE_START", "REASONING_MESSAGE_CONTENT"]);
    // A block of a subagent that the runner names the same is another message.
    let other = harness.by(Some("t"), said("a", "xx"));
    assert_eq!(other[0]["subagentRunId"], id("t"));
    let more = harness.takes(said("a", "llo"));
    assert_eq!(more, [json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": one[0]["messageId"], "delta": "llo"})]);
    assert_eq!(kinds(&harness.takes(Body::OutputTextCompleted(block("a", "Hello")))), ["TEXT_MESSAGE_END"]);
    let again = harness.takes(said("a", "Bye"));
    let ids = [&one[0], &thought[0], &other[0], &again[0]].map(|event| event["messageId"].as_str().unwrap());
    assert!((1..4).all(|at| !ids[..at].contains(&ids[at])), "{ids:?}");
    let last = harness.takes(end(EndReason::Interrupted));
    let open = ["REASONING_MESSAGE_END", "REASONING_END", "TEXT_MESSAGE_END", "TEXT_MESSAGE_END", "RUN_FINISHED"];
    assert_eq!(kinds(&last), open);
    assert_eq!(last[4]["outcome"], json!({"type": "cancelled"}));
}

#[test]
fn the_opaque_form_of_reasoning_is_what_only_its_provider_can_read() {
    for (opaque, expected) in [
        (json!({"thinking": "hm", "signature": "s1g"}), "s1g"),
        (json!({"summary": [], "encrypted_content": "gAA"}), "gAA"),
        (json!("plain"), "plain"),
        (json!([1]), "[1]"),
    ] {
        let mut harness = Harness::run();
        harness.takes(Body::ReasoningDelta(piece("a", "hm")));
        let opaque: Option<RawJson> = Some(to_raw(&opaque));
        let events = harness.takes(Body::ReasoningCompleted { block: block("a", "hm"), opaque });
        assert_eq!(kinds(&events), ["REASONING_MESSAGE_END", "REASONING_ENCRYPTED_VALUE", "REASONING_END"]);
        assert_eq!((&events[1]["encryptedValue"], &events[1]["entityId"]), (&json!(expected), &events[0]["messageId"]));
    }
}

#[test]
fn arguments_are_streamed_or_sent_once() {
    let mut harness = Harness::run();
    let first = harness.takes(input("a", "{\"command\""));
    assert_eq!(kinds(&first), ["TOOL_CALL_START", "TOOL_CALL_ARGS"]);
    assert_eq!(first[0]["metadata"], json!({"callId": "a"}));
    assert_eq!(first[0]["toolCallId"], id("a"));
    assert_eq!(kinds(&harness.takes(input("a", ":\"ls\"}"))), ["TOOL_CALL_ARGS"]);
    let complete = harness.takes(started("a"));
    assert_eq!(complete, [json!({"type": "TOOL_CALL_END", "toolCallId": id("a"), "metadata": {"kind": "shell"}})]);
    assert_eq!(harness.takes(started("a")), [] as [Value; 0]);
    // Nothing was streamed.
    assert_eq!(kinds(&harness.takes(input("b", ""))), ["TOOL_CALL_START"]);
    let whole = harness.takes(started("b"));
    assert_eq!(kinds(&whole), ["TOOL_CALL_ARGS", "TOOL_CALL_END"]);
    assert_eq!(whole[0]["delta"], r#"{"command":"ls"}"#);
    let text = harness.takes(call_with("c", &json!("SELECT 1;")));
    assert_eq!(text[1]["delta"], "SELECT 1;");
    assert_eq!(kinds(&harness.takes(call_with("d", &json!("")))), ["TOOL_CALL_START", "TOOL_CALL_END"]);
}

#[test]
fn a_call_belongs_to_the_text_before_it() {
    let mut harness = Harness::run();
    let text = harness.takes(said("a", "Look:"))[0]["messageId"].clone();
    assert_eq!(harness.takes(started("a"))[0]["parentMessageId"], text);
    assert_eq!(harness.takes(started("b"))[0]["parentMessageId"], text);
    assert!(harness.by(Some("a"), started("s"))[0].get("parentMessageId").is_none());
    harness.takes(ended("a"));
    assert!(harness.takes(started("c"))[0].get("parentMessageId").is_none());
}

#[test]
fn a_result_has_both_streams_and_how_the_tool_ended() {
    let mut harness = Harness::run();
    harness.takes(started("a"));
    harness.takes(stderr("a", "oops"));
    harness.takes(stdout("a", "tail"));
    harness.takes(Body::ToolStdoutFront { tool: tool("a"), chunk: "front ".to_owned() });
    let result = harness.takes(ended("a"));
    assert_eq!((&result[0]["content"], &result[0]["role"]), (&json!("front tail\noops"), &json!("tool")));
    assert_eq!(result[0]["metadata"], json!({"exitCode": 3, "durationMs": 7}));
    assert_eq!(harness.takes(ended("a")), [] as [Value; 0]);
    // What a runner repeats about a call that is over would be appended to it.
    assert_eq!(harness.takes(input("a", "{")), [] as [Value; 0]);
    assert_eq!(harness.takes(started("a")), [] as [Value; 0]);
    // A call that is refused, then one that fails without a word.
    let ask = ApprovalRequested {
        approval_id: SharedStr::from("q"),
        tool_id: Some(tool("b").id),
        tool_name: SharedStr::from("Bash"),
        args: to_raw(&json!({})),
        reason: None,
    };
    harness.takes(started("b"));
    let asked = harness.takes(Body::ApprovalRequested(Box::new(ask)));
    let value = json!({"approvalId": "q", "toolCallId": id("b"), "toolName": "Bash", "args": {}});
    assert_eq!(asked, [json!({"type": "CUSTOM", "name": "approval_requested", "value": value})]);
    let answer = ApprovalResolved {
        approval_id: SharedStr::from("q"),
        decision: Decision::Rejected,
        by: None,
        reason: Some("no".to_owned()),
        scope: None,
    };
    let answered = harness.takes(Body::ApprovalResolved(Box::new(answer)));
    assert_eq!(answered[0]["value"], json!({"approvalId": "q", "decision": "rejected", "reason": "no"}));
    let denied = harness.takes(failed("b", "not allowed"));
    assert_eq!((&denied[0]["content"], &denied[0]["metadata"]), (&json!("not allowed"), &json!({"failure": "denied"})));
    harness.takes(started("c"));
    let silent = harness.takes(failed("c", ""));
    assert_eq!(
        (&silent[0]["content"], &silent[0]["metadata"]),
        (&json!("the tool failed"), &json!({"failure": "failed"}))
    );
}

#[test]
fn output_is_live_only_if_the_tool_works_on() {
    let mut harness = Harness::run();
    harness.takes(started("a"));
    assert_eq!(harness.takes(stdout("a", "1")), [] as [Value; 0]);
    assert_eq!(kinds(&harness.takes(ended("a"))), ["TOOL_CALL_RESULT"]);
    harness.takes(started("b"));
    harness.takes(stdout("b", "one"));
    harness.takes(stdout("b", " two"));
    harness.now_ms += HOLD_MS;
    // The pause and the next frame write the same event.
    let mut paused = Events::default();
    assert!(harness.encoder.paused(harness.now_ms, &mut paused).is_some());
    let paused: Vec<Value> = paused.iter().map(|event| bare(serde_json::from_slice(event.payload).unwrap())).collect();
    let live = harness.takes(stderr("b", "three"));
    assert_eq!(live, paused);
    let output = json!([{"stream": "stdout", "text": "one two"}]);
    assert_eq!(live[0]["content"], json!({"toolCallId": id("b"), "output": output}));
    harness.now_ms += 10 * HOLD_MS;
    let later = harness.whole(None, stdout("b", "four"));
    assert_eq!(later[0]["timestamp"], 1000 + 2 * HOLD_MS);
    let patch = json!([{"op": "add", "path": "/output/-", "value": {"stream": "stderr", "text": "three"}}]);
    assert_eq!((&later[0]["patch"], &later[0]["messageId"]), (&patch, &live[0]["messageId"]));
    // A late beginning is in the result only; the activity has the rest once.
    harness.takes(Body::ToolStdoutFront { tool: tool("b"), chunk: "zero ".to_owned() });
    harness.now_ms += HOLD_MS;
    let rest = harness.takes(ended("b"));
    assert_eq!(kinds(&rest), ["ACTIVITY_DELTA", "TOOL_CALL_RESULT"]);
    assert_eq!(rest[0]["patch"][0]["value"]["text"], "four");
    assert_eq!(rest[1]["content"], "zero one twofour\nthree");
}

#[test]
fn output_beyond_the_limit_is_counted() {
    let mut harness = Harness::run();
    harness.takes(started("a"));
    let mebibyte = "é".repeat(1 << 19);
    harness.takes(stdout("a", &mebibyte));
    harness.takes(stdout("a", "more"));
    assert_eq!(harness.encoder.held_bytes(), 1 << 20);
    let result = harness.takes(ended("a"));
    assert_eq!(result[0]["metadata"]["omittedBytes"], 4);
    assert_eq!(result[0]["content"].as_str().unwrap(), mebibyte);
}

#[test]
fn a_subagent_has_an_id_for_each_invocation() {
    let mut harness = Harness::run();
    harness.takes(started("t"));
    let first = harness.takes(subagent("x", "t"));
    let expected = json!({"type": "SUBAGENT_STARTED", "subagentRunId": first[0]["subagentRunId"], "name": "explorer",
        "description": "count", "parentToolCallId": id("t"), "metadata": {"subagentId": "x"}});
    assert_eq!(first, [expected]);
    let call = harness.by(Some("t"), started("n"));
    assert!(call.iter().all(|event| event["subagentRunId"] == first[0]["subagentRunId"]), "{call:?}");
    // A nested subagent names its parent.
    let nested = harness.by(Some("t"), subagent("y", "n"));
    assert_eq!(nested[0]["parentSubagentRunId"], first[0]["subagentRunId"]);
    let ended = harness.by(Some("t"), subagent_ended("y", "failed"));
    assert_eq!((kinds(&ended)[0], &ended[0]["message"]), ("SUBAGENT_ERROR", &json!("1 file")));
    let done = harness.takes(subagent_ended("x", "completed"));
    assert_eq!((kinds(&done)[0], &done[0]["result"]), ("SUBAGENT_FINISHED", &json!("1 file")));
    // Late frames still belong to it while its call is open.
    assert_eq!(harness.by(Some("t"), said("m", "late"))[0]["subagentRunId"], first[0]["subagentRunId"]);
    let again = harness.takes(subagent("x", "t"));
    assert_ne!(again[0]["subagentRunId"], first[0]["subagentRunId"]);
    let last = harness.takes(end(EndReason::Failed));
    let closing = ["TEXT_MESSAGE_END", "TOOL_CALL_RESULT", "TOOL_CALL_RESULT", "SUBAGENT_ERROR", "RUN_ERROR"];
    assert_eq!(kinds(&last), closing);
}

#[test]
fn a_plan_of_the_main_thread_is_the_state() {
    let plan = || Body::PlanUpdated {
        entries: vec![PlanEntry { content: "Read".to_owned(), status: SharedStr::from("pending"), priority: None }],
    };
    let mut harness = Harness::run();
    let state = json!({"plan": [{"content": "Read", "status": "pending"}]});
    assert_eq!(harness.takes(plan()), [json!({"type": "STATE_SNAPSHOT", "snapshot": state})]);
    let other = harness.by(Some("t"), plan());
    assert_eq!((kinds(&other)[0], &other[0]["name"], &other[0]["value"]), ("CUSTOM", &json!("plan"), &state));
}

#[test]
fn a_users_message_in_the_middle_is_a_message() {
    let from_user = |text: &str| {
        Body::UserMessage(Box::new(UserMessage {
            message_id: SharedStr::from("u"),
            text: text.to_owned(),
            attachments: Vec::new(),
        }))
    };
    let mut harness = Harness::run();
    assert_eq!(harness.takes(from_user("the prompt")), [] as [Value; 0]);
    harness.takes(said("a", "ok"));
    let steering = harness.takes(from_user("also b"));
    assert_eq!(kinds(&steering), ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"]);
    assert_eq!((&steering[0]["role"], &steering[1]["delta"]), (&json!("user"), &json!("also b")));
}

#[test]
fn usage_counts_cached_tokens_as_input() {
    let mut harness = Harness::run();
    let so_far = harness.takes(usage(UsageScope::Turn, "m", 10));
    let value = json!({"model": "m", "inputTokens": 12, "outputTokens": 5, "totalTokens": 17, "cachedInputTokens": 2});
    assert_eq!((&so_far[0]["name"], &so_far[0]["value"]), (&json!("usage"), &value));
    // With several models the sum has none.
    let so_far = harness.takes(usage(UsageScope::Turn, "n", 10));
    assert_eq!((&so_far[0]["value"]["totalTokens"], so_far[0]["value"].get("model")), (&json!(34), None));
    let so_far = harness.takes(usage(UsageScope::Turn, "n", 10));
    assert!(so_far[0]["value"].get("model").is_none(), "{so_far:?}");
    assert_eq!(harness.takes(usage(UsageScope::Run, "m", u64::MAX)), [] as [Value; 0]);
    let last = harness.takes(end(EndReason::Completed));
    assert_eq!(last[0]["usage"][0]["inputTokens"], MAX_INTEGER);
    assert_eq!(last[0]["usage"][0]["totalTokens"], MAX_INTEGER);
}

#[test]
fn a_call_that_only_the_client_can_have_executed_is_pending() {
    for (reason, is_pending) in [(EndReason::Completed, true), (EndReason::Interrupted, false)] {
        let mut harness = Harness::run();
        harness.takes(started("a"));
        harness.takes(input("b", "{"));
        let last = harness.takes(end(reason));
        let pending = &last.last().unwrap()["outcome"]["pendingToolCallIds"];
        if is_pending {
            // The arguments of the second call were cut off.
            assert_eq!(kinds(&last), ["TOOL_CALL_END", "TOOL_CALL_RESULT", "RUN_FINISHED"]);
            assert_eq!(pending, &json!([id("a")]));
        } else {
            assert_eq!(kinds(&last), ["TOOL_CALL_RESULT", "TOOL_CALL_END", "TOOL_CALL_RESULT", "RUN_FINISHED"]);
            assert_eq!((pending, &last[0]["metadata"]["failure"]), (&Value::Null, &json!("no_result")));
        }
    }
}

#[test]
fn an_answer_that_was_never_said_is_said_at_the_end() {
    let mut harness = Harness::run();
    harness.takes(said("a", "Hello"));
    harness.takes(Body::OutputTextCompleted(block("a", "Hello")));
    let ending = |text: &str| {
        let final_text = Some(text.to_owned());
        let code = Some(SharedStr::from("max_output_tokens"));
        let end = SessionEnded { reason: EndReason::Completed, final_text, error_code: code, message: None };
        Body::SessionEnded(Box::new(end))
    };
    let last = harness.takes(ending("{\"a\":1}"));
    assert_eq!(kinds(&last), ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "RUN_FINISHED"]);
    assert_eq!(last[3]["metadata"], json!({"errorCode": "max_output_tokens"}));
    let mut harness = Harness::run();
    harness.takes(said("a", "Hello"));
    harness.takes(Body::OutputTextCompleted(block("a", "Hello")));
    assert_eq!(kinds(&harness.takes(ending("Hello\n"))), ["RUN_FINISHED"]);
}

#[test]
fn a_task_is_a_run_with_one_activity() {
    let mut harness = Harness::of(StreamKind::Task);
    let task_id = Uuid::from_u128(1);
    let status = |status, exit_code| {
        let event = TaskEvent::Status {
            task_id,
            status,
            exit_code,
            started_at_ms: None,
            ended_at_ms: None,
            artifacts: None,
            error: None,
        };
        Body::Task(Box::new(event))
    };
    // The start of the task is unknown.
    let first = harness.takes(status(TaskStatus::Running, None));
    assert_eq!(kinds(&first), ["RUN_STARTED", "ACTIVITY_SNAPSHOT", "ACTIVITY_DELTA"]);
    let output =
        TaskEvent::OutputDelta { task_id, stream: OutputStream::Stderr, chunk: "oops".to_owned(), artifacts: None };
    let more = harness.takes(Body::Task(Box::new(output)));
    assert_eq!(more[0]["patch"][0]["value"], json!({"stream": "stderr", "text": "oops"}));
    let last = harness.takes(status(TaskStatus::Exited, Some(2)));
    assert_eq!(kinds(&last), ["ACTIVITY_DELTA", "RUN_FINISHED"]);
    let patch =
        json!([{"op": "add", "path": "/status", "value": "exited"}, {"op": "add", "path": "/exitCode", "value": 2}]);
    assert_eq!(last[0]["patch"], patch);
    let mut harness = Harness::of(StreamKind::Task);
    assert_eq!(kinds(&harness.takes(status(TaskStatus::Failed, None))).last(), Some(&"RUN_ERROR"));
}

#[test]
fn times_are_integers_that_the_client_accepts() {
    let mut harness = Harness::of(StreamKind::Session);
    harness.now_ms = u64::MAX;
    let first = harness.whole(None, Body::SessionStarted { input: String::new() });
    assert_eq!(first[0]["timestamp"], MAX_INTEGER);
}
