//! Hand-made frames, and the chunks derived from them.

use super::V1;
use crate::encode::{Encoder, EncoderOptions, Events, HOLD_MS};
use crate::frame::{
    ApprovalRequested, ApprovalResolved, BlockDelta, BlockText, Body, Decision, EndReason, ErrorReported, ErrorScope,
    Frame, PlanEntry, Provider, Session, SessionEnded, SharedStr, Stream, StreamKind, TaskEvent, TaskStatus, Tool,
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

    fn frame(&mut self, parent_tool_id: Option<Uuid>, body: Body) -> Frame {
        let seq = self.next;
        self.next += 1;
        Frame { stream: self.stream.clone(), seq, timestamp_ms: self.now_ms, parent_tool_id, given_id: None, body }
    }

    fn by(&mut self, parent: Option<&str>, body: Body) -> Vec<Value> {
        let frame = self.frame(parent.map(|call| tool(call).id), body);
        let mut events = Events::default();
        self.encoder.frame(&frame, &mut events);
        chunks(&events)
    }

    fn takes(&mut self, body: Body) -> Vec<Value> {
        self.by(None, body)
    }
}

/// The chunks without their envelope and without what every tool chunk has.
fn chunks(events: &Events) -> Vec<Value> {
    let bare = |payload: &[u8]| {
        let mut chunk: Value = serde_json::from_slice(payload).unwrap();
        for key in ["runId", "seq", "dynamic", "providerExecuted"] {
            chunk.as_object_mut().unwrap().remove(key);
        }
        chunk
    };
    events.iter().map(|event| bare(event.payload)).collect()
}

/// The types of chunks.
fn kinds(chunks: &[Value]) -> Vec<&str> {
    chunks.iter().map(|chunk| chunk["type"].as_str().unwrap()).collect()
}

fn tool(call_id: &str) -> Tool {
    let id = Uuid::from_u128(call_id.bytes().fold(1, |sum, byte| sum << 8 | u128::from(byte)));
    Tool { id, call_id: SharedStr::from(call_id) }
}

fn call(call_id: &str) -> Box<ToolCall> {
    let args = to_raw(&json!({"command": "ls"}));
    Box::new(ToolCall { tool: tool(call_id), name: SharedStr::from("Bash"), kind: ToolKind::Shell, args })
}

fn started(call_id: &str) -> Body {
    Body::ToolStarted { call: call(call_id), timeout_ms: None }
}

fn stdout(call_id: &str, chunk: &str) -> Body {
    Body::ToolStdout { tool: tool(call_id), chunk: chunk.to_owned() }
}

fn ended(call_id: &str) -> Body {
    Body::ToolEnded { tool: tool(call_id), exit_code: 3, duration_ms: 7, artifacts: None }
}

fn failed(call_id: &str, error: &str) -> Body {
    Body::ToolFailed { tool: tool(call_id), error: error.to_owned() }
}

fn text(message: &str, delta: &str) -> Body {
    Body::OutputTextDelta(BlockDelta { message_id: SharedStr::from(message), block_index: 0, delta: delta.to_owned() })
}

fn complete(message: &str, text: &str) -> Body {
    Body::OutputTextCompleted(BlockText { message_id: SharedStr::from(message), block_index: 0, text: text.to_owned() })
}

fn input(call_id: &str, delta: &str) -> Body {
    Body::ToolInputDelta { tool: tool(call_id), name: SharedStr::from("Bash"), delta: delta.to_owned() }
}

fn turn(turn_index: u32) -> Body {
    Body::TurnStarted { turn_index, model: Some(SharedStr::from("m")) }
}

fn asked(approval_id: &str, call_id: Option<&str>) -> Body {
    Body::ApprovalRequested(Box::new(ApprovalRequested {
        approval_id: SharedStr::from(approval_id),
        tool_id: call_id.map(|call_id| tool(call_id).id),
        tool_name: SharedStr::from("Bash"),
        args: to_raw(&json!({"command": "ls"})),
        reason: None,
    }))
}

fn answered(approval_id: &str, decision: Decision) -> Body {
    let approval_id = SharedStr::from(approval_id);
    Body::ApprovalResolved(Box::new(ApprovalResolved { approval_id, decision, by: None, reason: None, scope: None }))
}

fn end(reason: EndReason, final_text: Option<&str>) -> Body {
    Body::SessionEnded(Box::new(SessionEnded {
        reason,
        final_text: final_text.map(str::to_owned),
        error_code: None,
        message: (reason != EndReason::Completed).then(|| "no".to_owned()),
    }))
}

fn run() -> Harness {
    let mut run = Harness::of(StreamKind::Session);
    let start = run.takes(Body::SessionStarted { input: "go".to_owned() });
    let metadata = json!({"runId": run.stream.id, "sessionId": run.stream.session.id, "runner": "lab"});
    assert_eq!(start, [json!({"type": "start", "messageId": run.stream.id, "messageMetadata": metadata})]);
    run
}

#[test]
fn each_block_is_a_part_and_interleaved_blocks_stay_whole() {
    let mut run = run();
    assert_eq!(kinds(&run.takes(text("a", "1"))), ["start-step", "text-start", "text-delta"]);
    assert_eq!(kinds(&run.takes(text("b", "2"))), ["text-start", "text-delta"]);
    assert_eq!(run.takes(text("a", "3")), [json!({"type": "text-delta", "id": "text-0", "delta": "3"})]);
    assert_eq!(run.takes(complete("a", "13")), [json!({"type": "text-end", "id": "text-0"})]);
    // The rest of a block after a tool is a part of its own.
    assert_eq!(kinds(&run.takes(started("c"))), ["text-end", "tool-input-available"]);
    assert_eq!(run.takes(text("b", "4"))[0], json!({"type": "text-start", "id": "text-2"}));
    let last = run.takes(end(EndReason::Failed, None));
    assert_eq!(kinds(&last), ["text-end", "tool-output-error", "finish-step", "error", "finish"]);
}

#[test]
fn the_oldest_part_is_closed_if_too_many_are_open() {
    let mut run = run();
    for message in 0..16 {
        run.takes(text(&message.to_string(), "x"));
    }
    let one_more = run.takes(text("16", "x"));
    assert_eq!(one_more[0], json!({"type": "text-end", "id": "text-0"}));
    assert_eq!(kinds(&one_more), ["text-end", "text-start", "text-delta"]);
}

#[test]
fn a_final_text_that_was_never_emitted_is_a_part() {
    let mut run = run();
    run.takes(text("a", "One."));
    run.takes(complete("a", "One."));
    let last = run.takes(end(EndReason::Completed, Some("{\"answer\":2}")));
    assert_eq!(kinds(&last), ["text-start", "text-delta", "text-end", "finish-step", "finish"]);
    assert_eq!(last[1]["delta"], "{\"answer\":2}");
}

#[test]
fn a_step_goes_on_while_an_input_is_streamed() {
    let mut run = run();
    assert_eq!(kinds(&run.takes(turn(0))), ["message-metadata", "start-step"]);
    assert_eq!(kinds(&run.takes(input("c", "{"))), ["tool-input-start", "tool-input-delta"]);
    assert_eq!(run.takes(turn(1)), [] as [Value; 0]);
    assert_eq!(kinds(&run.takes(Body::ToolCallProposed(call("c")))), ["tool-input-available"]);
    assert_eq!(run.takes(started("c")), [] as [Value; 0], "a call has one input");
    assert_eq!(kinds(&run.takes(turn(2))), ["finish-step", "start-step"]);
}

#[test]
fn output_that_arrives_with_the_end_is_not_shown_before() {
    let mut run = run();
    run.takes(started("c"));
    assert_eq!(run.takes(stdout("c", "all")), [] as [Value; 0]);
    let output = json!({"stdout": "all", "stderr": "", "exit_code": 3, "duration_ms": 7});
    let expected = json!({"type": "tool-output-available", "toolCallId": "c", "output": output});
    assert_eq!(run.takes(ended("c")), [expected]);
}

#[test]
fn live_output_is_shown_after_a_pause_as_on_a_replay() {
    let mut run = run();
    run.takes(started("c"));
    run.takes(stdout("c", "a"));
    let (mut early, mut live) = (Events::default(), Events::default());
    assert!(run.encoder.paused(run.now_ms + HOLD_MS - 1, &mut early).is_none());
    assert!(run.encoder.paused(run.now_ms + HOLD_MS, &mut live).is_some());
    run.now_ms += HOLD_MS;
    let replayed = run.takes(stdout("c", "b"));
    let output = json!({"stdout": "a", "stderr": ""});
    let expected = json!({"type": "tool-output-available", "toolCallId": "c", "output": output, "preliminary": true});
    assert_eq!((chunks(&live), replayed), (vec![expected.clone()], vec![expected]));
}

#[test]
fn the_cost_of_live_output_does_not_grow_with_its_square() {
    let mut run = run();
    run.takes(started("c"));
    let (mut shown, mut bytes) = (0, 0);
    for _ in 0..10_000 {
        run.now_ms += HOLD_MS;
        for chunk in run.takes(stdout("c", "0123456789")) {
            shown += 1;
            bytes += chunk["output"]["stdout"].as_str().unwrap().len();
        }
    }
    assert!(shown < 60 && bytes < 600_000, "{shown} results of {bytes} bytes");
    let last = run.takes(ended("c"));
    assert_eq!(last.last().unwrap()["output"]["stdout"].as_str().unwrap().len(), 100_000);
}

#[test]
fn output_beyond_the_bound_is_counted() {
    let mut run = run();
    run.takes(started("c"));
    let piece = "x".repeat(600 << 10);
    run.takes(stdout("c", &piece));
    run.takes(stdout("c", &piece));
    assert_eq!(run.encoder.held_bytes(), 1 << 20);
    let last = run.takes(ended("c"));
    assert_eq!(last[0]["output"]["omitted_bytes"], (1200 << 10) - (1 << 20));
    assert_eq!(run.encoder.held_bytes(), 0);
}

#[test]
fn a_refused_call_is_denied_when_the_runner_says_that_it_is_over() {
    let mut run = run();
    run.takes(started("c"));
    let request = json!({"type": "tool-approval-request", "approvalId": "q", "toolCallId": "c"});
    assert_eq!(run.takes(asked("q", Some("c"))), [request]);
    let response =
        json!({"type": "tool-approval-response", "approvalId": "q", "approved": false, "reason": "timed_out"});
    assert_eq!(run.takes(answered("q", Decision::TimedOut)), [response]);
    assert_eq!(run.takes(failed("c", "no")), [json!({"type": "tool-output-denied", "toolCallId": "c"})]);
    assert_eq!(run.takes(answered("q", Decision::Approved)), [] as [Value; 0], "it was answered");
}

#[test]
fn a_question_about_no_call_is_a_call_of_its_own() {
    let mut run = run();
    let own = run.takes(asked("q", None));
    assert_eq!(kinds(&own), ["start-step", "tool-input-available", "tool-approval-request"]);
    assert_eq!(own[2]["toolCallId"], "question-q");
    let answer = run.takes(answered("q", Decision::Approved));
    assert_eq!(kinds(&answer), ["tool-approval-response", "tool-output-available"]);
    // A second question about a call that waits already.
    run.takes(started("c"));
    run.takes(asked("one", Some("c")));
    let two = run.takes(asked("two", Some("c")));
    assert_eq!(two[0]["toolMetadata"], json!({"parentToolCallId": "c"}));
    let refused = run.takes(answered("two", Decision::Rejected));
    assert_eq!(kinds(&refused), ["tool-approval-response", "tool-output-denied"]);
    let last = run.takes(end(EndReason::Interrupted, None));
    assert_eq!(kinds(&last), ["tool-output-error", "finish-step", "abort"]);
}

#[test]
fn a_subagents_calls_name_the_call_that_started_it_and_its_text_is_left_out() {
    let mut run = run();
    run.takes(started("outer"));
    let subagent_id = SharedStr::from("s");
    let tool_id = Some(tool("outer").id);
    let begins = Body::SubagentStarted { subagent_id: subagent_id.clone(), tool_id, agent: None, task: None, depth: 1 };
    run.takes(begins);
    for left_out in [text("x", "nested"), input("inner", "{"), turn(0), Body::PlanUpdated { entries: Vec::new() }] {
        assert_eq!(run.by(Some("outer"), left_out), [] as [Value; 0]);
    }
    // The subagent works on after its call.
    run.takes(ended("outer"));
    let inner = run.by(Some("outer"), started("inner"));
    assert_eq!(inner[0]["toolMetadata"], json!({"kind": "shell", "parentToolCallId": "outer"}));
    let status = SharedStr::from("completed");
    run.takes(Body::SubagentEnded { subagent_id, status, summary: None });
    let late = run.by(Some("outer"), started("late"));
    assert_eq!(late[0]["toolMetadata"]["parentToolCallId"], tool("outer").id.to_string());
}

#[test]
fn a_message_of_the_user_is_steering_unless_it_is_the_prompt() {
    let said = |text: &str| {
        let message_id = SharedStr::from("u");
        Body::UserMessage(Box::new(UserMessage { message_id, text: text.to_owned(), attachments: Vec::new() }))
    };
    let mut run = run();
    run.takes(turn(0));
    assert_eq!(run.takes(said("go")), [] as [Value; 0]);
    run.takes(text("a", "x"));
    let parts = json!([{"type": "text", "text": "stop"}]);
    let steering = json!({"type": "steering-message", "id": "u", "parts": parts});
    assert_eq!(run.takes(said("stop")), [json!({"type": "text-end", "id": "text-0"}), steering]);
}

#[test]
fn usage_is_the_sum_of_the_calls_then_the_runners_total() {
    let usage = |scope, input_tokens, cost_usd| {
        Body::UsageReported(Box::new(Usage { scope, input_tokens, cost_usd, ..Usage::default() }))
    };
    let mut run = run();
    run.takes(usage(UsageScope::Turn, 1, None));
    let sum = run.by(Some("c"), usage(UsageScope::Turn, 2, None));
    assert_eq!(sum[0]["messageMetadata"], json!({"usage": {"inputTokens": 3, "outputTokens": 0}}));
    assert_eq!(run.takes(usage(UsageScope::Run, 4, Some(0.5))), [] as [Value; 0]);
    let last = run.takes(end(EndReason::Completed, None));
    let total = json!({"usage": {"inputTokens": 4, "outputTokens": 0, "costUsd": 0.5}});
    assert_eq!(last, [json!({"type": "finish", "finishReason": "stop", "messageMetadata": total})]);
}

#[test]
fn an_error_that_the_run_survives_is_a_transient_notice() {
    let error = ErrorReported {
        scope: ErrorScope::Provider,
        code: SharedStr::from("overloaded"),
        message: "busy".to_owned(),
        retryable: true,
        attempt: Some(1),
        max_attempts: None,
        http_status: None,
    };
    let data = json!({"level": "warn", "code": "overloaded", "message": "busy"});
    let expected = json!({"type": "data-notice", "data": data, "transient": true});
    assert_eq!(run().takes(Body::ErrorReported(Box::new(error))), [expected]);
}

#[test]
fn a_plan_replaces_the_plan_before() {
    let status = SharedStr::from("pending");
    let entries = vec![PlanEntry { content: "one".to_owned(), status, priority: None }];
    let data = json!({"entries": [{"content": "one", "status": "pending"}]});
    let expected = json!({"type": "data-plan", "id": "plan", "data": data});
    assert_eq!(run().takes(Body::PlanUpdated { entries }), [expected]);
}

#[test]
fn a_background_task_is_a_message_of_its_own() {
    let mut task = Harness::of(StreamKind::Task);
    let task_id = task.stream.id;
    let status = |status| {
        Body::Task(Box::new(TaskEvent::Status {
            task_id,
            status,
            exit_code: Some(0),
            started_at_ms: None,
            ended_at_ms: None,
            artifacts: None,
            error: None,
        }))
    };
    assert_eq!(kinds(&task.takes(status(TaskStatus::Running))), ["start", "data-task"]);
    let last = task.takes(status(TaskStatus::Exited));
    assert_eq!(kinds(&last), ["data-task", "finish"]);
    assert_eq!(last[0]["id"], task_id.to_string());
    assert_eq!(kinds(&Harness::of(StreamKind::Task).takes(status(TaskStatus::Failed)))[2..], ["error", "finish"]);
    assert_eq!(kinds(&Harness::of(StreamKind::Task).takes(status(TaskStatus::Cancelled)))[2..], ["abort"]);
}

#[test]
fn two_open_calls_with_one_id_have_one_result_at_the_end() {
    let mut run = run();
    run.takes(started("c"));
    let twin = ToolCall { tool: Tool { id: Uuid::from_u128(9), ..tool("c") }, ..*call("c") };
    run.takes(Body::ToolStarted { call: Box::new(twin), timeout_ms: None });
    run.takes(started("d"));
    let last = run.takes(end(EndReason::Completed, None));
    let results = last.iter().filter(|chunk| chunk["type"] == "tool-output-error");
    assert_eq!(results.map(|chunk| chunk["toolCallId"].as_str().unwrap()).collect::<Vec<_>>(), ["c", "d"]);
}
