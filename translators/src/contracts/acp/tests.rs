//! Hand-made frames, and the messages derived from them.

use super::V1;
use crate::encode::{Encoder, EncoderOptions, Events, HOLD_MS};
use crate::frame::{
    ApprovalRequested, ApprovalResolved, Attachment, BlockDelta, BlockText, Body, Decision, EndReason, ErrorReported,
    ErrorScope, FileChangeKind, FileChanged, Frame, OutputStream, PlanEntry, Provider, Session, SessionEnded,
    SharedStr, Stream, StreamKind, TaskEvent, TaskStatus, Tool, ToolCall, ToolKind, Usage, UsageScope, UserMessage,
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
    fn with(kind: StreamKind, options: &EncoderOptions) -> Self {
        let session = Arc::new(Session { id: Uuid::from_u128(2), name: SharedStr::from("s") });
        let provider = Provider { name: "lab", title: "Lab" };
        let stream = Arc::new(Stream { kind, id: Uuid::from_u128(1), session, origin_run: None, provider });
        let encoder = (V1.encoder)(&stream, options).unwrap();
        Self { stream, encoder, next: 0, now_ms: 1000 }
    }

    fn run() -> Self {
        Self::with(StreamKind::Session, &EncoderOptions::default())
    }

    fn by(&mut self, parent: Option<&str>, body: Body) -> Vec<Value> {
        let (seq, parent_tool_id) = (self.next, parent.map(|call| tool(call).id));
        self.next += 1;
        let frame =
            Frame { stream: self.stream.clone(), seq, timestamp_ms: self.now_ms, parent_tool_id, given_id: None, body };
        let mut events = Events::default();
        self.encoder.frame(&frame, &mut events);
        events.iter().map(|event| serde_json::from_slice(event.payload).unwrap()).collect()
    }

    fn takes(&mut self, body: Body) -> Vec<Value> {
        self.by(None, body)
    }

    /// The only message, which is an update: the update itself.
    fn update(&mut self, body: Body) -> Value {
        let [message] = &self.takes(body)[..] else { panic!("one message") };
        message["params"]["update"].clone()
    }
}

fn own(message: &Value) -> &Value {
    &message["params"]["_meta"]["framegate"]
}

/// The types of messages.
fn kinds(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| crate::event_kind::kind_of(V1.type_key, message).unwrap()).collect()
}

fn tool(call_id: &str) -> Tool {
    let id = Uuid::from_u128(call_id.bytes().fold(1, |sum, byte| sum << 8 | u128::from(byte)));
    Tool { id, call_id: SharedStr::from(call_id) }
}

fn id(call_id: &str) -> Value {
    json!(tool(call_id).id)
}

fn call_with(call_id: &str, kind: ToolKind, args: &Value) -> Box<ToolCall> {
    Box::new(ToolCall { tool: tool(call_id), name: SharedStr::from("Tool"), kind, args: to_raw(args) })
}

fn proposed(call_id: &str) -> Body {
    Body::ToolCallProposed(call_with(call_id, ToolKind::Shell, &json!({"command": "ls"})))
}

fn started(call_id: &str) -> Body {
    Body::ToolStarted { call: call_with(call_id, ToolKind::Shell, &json!({"command": "ls"})), timeout_ms: None }
}

fn stdout(call_id: &str, chunk: &str) -> Body {
    Body::ToolStdout { tool: tool(call_id), chunk: chunk.to_owned() }
}

fn ended(call_id: &str, exit_code: i32) -> Body {
    Body::ToolEnded { tool: tool(call_id), exit_code, duration_ms: 7, artifacts: None }
}

fn failed(call_id: &str) -> Body {
    Body::ToolFailed { tool: tool(call_id), error: "no".to_owned() }
}

fn delta(message: &str, block_index: u32, delta: &str) -> BlockDelta {
    BlockDelta { message_id: SharedStr::from(message), block_index, delta: delta.to_owned() }
}

fn complete(message: &str, text: &str) -> Body {
    Body::OutputTextCompleted(BlockText { message_id: SharedStr::from(message), block_index: 0, text: text.to_owned() })
}

fn asked(approval_id: &str, call_id: Option<&str>) -> Body {
    Body::ApprovalRequested(Box::new(ApprovalRequested {
        approval_id: SharedStr::from(approval_id),
        tool_id: call_id.map(|call_id| tool(call_id).id),
        tool_name: SharedStr::from("Bash"),
        args: to_raw(&json!({"command": "rm x"})),
        reason: Some("why".to_owned()),
    }))
}

fn answered(approval_id: &str, decision: Decision) -> Body {
    let approval_id = SharedStr::from(approval_id);
    Body::ApprovalResolved(Box::new(ApprovalResolved { approval_id, decision, by: None, reason: None, scope: None }))
}

fn end(reason: EndReason, code: Option<&str>) -> Body {
    let (error_code, message) = (code.map(SharedStr::from), code.map(|code| format!("about {code}")));
    Body::SessionEnded(Box::new(SessionEnded { reason, final_text: Some("done".to_owned()), error_code, message }))
}

fn changed(call_id: Option<&str>, path: &str, diff: Option<&str>) -> Body {
    Body::FileChanged(Box::new(FileChanged {
        tool_id: call_id.map(|call_id| tool(call_id).id),
        path: path.to_owned(),
        kind: FileChangeKind::Modify,
        diff: diff.map(str::to_owned),
        artifact_id: None,
    }))
}

fn user(text: &str) -> Body {
    let file = Attachment {
        kind: SharedStr::from("image"),
        mime: Some(SharedStr::from("image/png")),
        artifact_id: Some(SharedStr::from("sha256:00")),
        name: None,
        bytes: Some(3),
    };
    let message_id = SharedStr::from("u");
    Body::UserMessage(Box::new(UserMessage { message_id, text: text.to_owned(), attachments: vec![file] }))
}

#[test]
fn each_block_has_an_id_of_its_own() {
    let mut run = Harness::run();
    let first = run.update(Body::OutputTextDelta(delta("m", 0, "Hel")));
    assert_eq!(first["content"], json!({"type": "text", "text": "Hel"}));
    let more = run.update(Body::OutputTextDelta(delta("m", 0, "lo")));
    assert_eq!(more["messageId"], first["messageId"]);
    // The runner may have one id for text and reasoning.
    let thought = run.update(Body::ReasoningDelta(delta("m", 0, "so")));
    assert_eq!(
        (&thought["sessionUpdate"], thought["messageId"] == first["messageId"]),
        (&json!("agent_thought_chunk"), false)
    );
    assert_eq!(run.takes(complete("m", "Hello")), Vec::<Value>::new());
    assert_ne!(run.update(Body::OutputTextDelta(delta("m", 0, "again")))["messageId"], first["messageId"]);
    assert_eq!(run.takes(Body::OutputTextDelta(delta("m", 1, ""))), Vec::<Value>::new());
    // A subagent's text is not the assistant's.
    assert_eq!(run.by(Some("c"), Body::OutputTextDelta(delta("s", 0, "x"))), Vec::<Value>::new());
}

#[test]
fn a_call_is_announced_changed_and_over_once() {
    let mut run = Harness::run();
    let input = Body::ToolInputDelta { tool: tool("c"), name: SharedStr::from("Tool"), delta: "{".to_owned() };
    let expected = json!({"sessionUpdate": "tool_call", "toolCallId": id("c"), "title": "Tool", "name": "Tool", "status": "pending"});
    assert_eq!(run.update(input.clone()), expected);
    assert_eq!(run.takes(input), Vec::<Value>::new());
    let known = run.update(proposed("c"));
    assert_eq!((&known["sessionUpdate"], &known["status"]), (&json!("tool_call_update"), &json!("pending")));
    assert_eq!(
        (&known["title"], &known["kind"], &known["rawInput"]),
        (&json!("ls"), &json!("execute"), &json!({"command": "ls"}))
    );
    let running = json!({"sessionUpdate": "tool_call_update", "toolCallId": id("c"), "status": "in_progress"});
    assert_eq!(run.update(started("c")), running);
    run.takes(stdout("c", "out"));
    run.takes(Body::ToolStderr { tool: tool("c"), chunk: "err".to_owned() });
    let over = run.update(ended("c", 3));
    let texts = json!([
        {"type": "content", "content": {"type": "text", "text": "out"}},
        {"type": "content", "content": {"type": "text", "text": "err"}},
    ]);
    assert_eq!((&over["status"], &over["content"]), (&json!("failed"), &texts));
    assert_eq!(over["rawOutput"], json!({"exit_code": 3, "duration_ms": 7}));
    // What the runner says again about a call that is over changes nothing.
    for body in [proposed("c"), started("c"), stdout("c", "x"), ended("c", 0), failed("c")] {
        assert_eq!(run.takes(body), Vec::<Value>::new());
    }
}

#[test]
fn live_output_waits_and_grows() {
    let mut run = Harness::run();
    run.takes(started("c"));
    run.takes(stdout("c", "a\n"));
    run.now_ms += HOLD_MS;
    let shown = run.takes(stdout("c", "b\n"));
    assert_eq!(shown[0]["params"]["update"]["content"][0]["content"]["text"], "a\n");
    let mut events = Events::default();
    let after = run.encoder.paused(run.now_ms + HOLD_MS, &mut events).unwrap();
    assert_eq!(events.iter().count(), 1);
    run.encoder = after;
    run.now_ms += HOLD_MS;
    // Nothing is new at the end, so the content stays.
    let over = run.update(ended("c", 0));
    assert_eq!((&over["status"], over.get("content")), (&json!("completed"), None));
    // The volume is at most a multiple of the output.
    let mut run = Harness::run();
    run.takes(started("c"));
    let mut bytes = 0;
    for _ in 0..2000 {
        run.now_ms += HOLD_MS;
        bytes += run.takes(stdout("c", &"x".repeat(100))).iter().map(|event| event.to_string().len()).sum::<usize>();
    }
    assert!(bytes < 2_000_000, "{bytes}");
}

#[test]
fn an_edit_shows_the_change_that_it_proposes_and_then_the_one_that_was_made() {
    let args = json!({"file_path": "/a", "old_string": "1", "new_string": "2"});
    let edit = || Body::ToolStarted { call: call_with("c", ToolKind::Edit, &args), timeout_ms: None };
    let mut run = Harness::run();
    let start = run.update(edit());
    assert_eq!(start["content"], json!([{"type": "diff", "path": "/a", "oldText": "1", "newText": "2"}]));
    assert_eq!(start["locations"], json!([{"path": "/a"}]));
    run.takes(stdout("c", "done"));
    let diff = "--- /a\n+++ /a\n@@ -1 +1 @@\n-1\n+2\n@@ -9 +9 @@\n-8\n+9\n";
    assert_eq!(run.takes(changed(Some("c"), "/a", Some(diff))), Vec::<Value>::new());
    let over = run.update(ended("c", 0));
    assert_eq!(over["content"][1], json!({"type": "diff", "path": "/a", "oldText": "8\n", "newText": "9\n"}));
    assert_eq!(over["rawOutput"]["output"], "done");
    // Without a reported change the proposed one stays; an error replaces it.
    for (exit_code, content) in
        [(0, Value::Null), (1, json!([{"type": "content", "content": {"type": "text", "text": "x"}}]))]
    {
        let mut run = Harness::run();
        run.takes(edit());
        run.takes(stdout("c", "x"));
        assert_eq!(run.update(ended("c", exit_code))["content"], content);
    }
    // The protocol forbids relative paths.
    let own = run.update(changed(None, "a", Some(diff)));
    assert_eq!((&own["status"], own.get("locations")), (&json!("completed"), None));
    assert_eq!(own["content"], json!([{"type": "content", "content": {"type": "text", "text": diff}}]));
}

#[test]
fn a_question_waits_until_it_is_decided_or_its_call_is_over() {
    let mut run = Harness::run();
    run.takes(proposed("c"));
    let question = run.takes(asked("q", Some("c")));
    assert_eq!(kinds(&question), ["request_permission"]);
    assert_eq!((&question[0]["id"], &question[0]["params"]["toolCall"]["toolCallId"]), (&json!("q"), &id("c")));
    assert_eq!(own(&question[0])["reason"], "why");
    assert_eq!(run.takes(asked("q", Some("c"))), Vec::<Value>::new());
    let decided = run.takes(answered("q", Decision::Rejected));
    assert_eq!(kinds(&decided), ["cancel_request"]);
    assert_eq!((&decided[0]["params"]["requestId"], &own(&decided[0])["decision"]), (&json!("q"), &json!("rejected")));
    assert_eq!(run.takes(answered("q", Decision::Rejected)), Vec::<Value>::new());
    assert_eq!(own(&run.takes(failed("c"))[0])["failure"], "denied");
    // A question about no call, or about one that is over, has its own.
    for (call, decision, status) in [(None, Decision::Approved, "completed"), (Some("c"), Decision::TimedOut, "failed")]
    {
        let question = run.takes(asked("r", call));
        assert_eq!(kinds(&question), ["tool_call", "request_permission"]);
        let over = run.takes(answered("r", decision));
        assert_eq!(kinds(&over), ["cancel_request", "tool_call_update"]);
        assert_eq!(over[1]["params"]["update"]["status"], status);
    }
    // The call may follow its question.
    assert_eq!(kinds(&run.takes(asked("s", Some("d")))), ["tool_call", "request_permission"]);
    assert_eq!(kinds(&run.takes(answered("s", Decision::Approved))), ["cancel_request"]);
    assert_eq!(run.update(started("d"))["status"], "in_progress");
    run.takes(asked("t", Some("d")));
    assert_eq!(kinds(&run.takes(ended("d", 0))), ["cancel_request", "tool_call_update"]);
}

#[test]
fn the_end_withdraws_questions_closes_calls_and_answers() {
    for (body, kind, expected) in [
        (end(EndReason::Completed, None), "result", json!("end_turn")),
        (end(EndReason::Interrupted, Some("aborted")), "result", json!("cancelled")),
        (end(EndReason::Interrupted, Some("stream_ended")), "error", Value::Null),
        (end(EndReason::Failed, Some("overloaded")), "error", Value::Null),
    ] {
        let mut run = Harness::run();
        run.takes(started("c"));
        run.takes(asked("q", Some("c")));
        let said = run.takes(body);
        assert_eq!(kinds(&said), ["agent_message_chunk", "cancel_request", "tool_call_update", kind]);
        assert_eq!(own(&said[2])["failure"], "no_result");
        let last = &said[3];
        assert_eq!((&last["id"], &last["result"]["stopReason"]), (&json!(Uuid::from_u128(1)), &expected), "{last}");
        assert!(kind == "result" || last["error"]["code"] == -32603, "{last}");
    }
    // The final text is not repeated.
    let mut run = Harness::run();
    run.takes(complete("m", "done"));
    assert_eq!(kinds(&run.takes(end(EndReason::Completed, None))), ["result"]);
}

#[test]
fn the_answer_has_the_usage_of_the_run() {
    let usage = |scope| {
        Body::UsageReported(Box::new(Usage {
            scope,
            input_tokens: 10,
            output_tokens: 5,
            cache_read_tokens: Some(100),
            cost_usd: Some(0.5),
            ..Usage::default()
        }))
    };
    let mut run = Harness::run();
    run.takes(usage(UsageScope::Turn));
    let so_far = run.takes(usage(UsageScope::Turn));
    let sum = json!({"totalTokens": 230, "inputTokens": 20, "outputTokens": 10, "cachedReadTokens": 200});
    assert_eq!((&own(&so_far[0])["usage"], &own(&so_far[0])["costUsd"]), (&sum, &json!(1.0)));
    assert_eq!(run.takes(usage(UsageScope::Run)), Vec::<Value>::new());
    let answer = run.takes(end(EndReason::Completed, None)).pop().unwrap();
    assert_eq!(answer["result"]["usage"]["totalTokens"], 115);
    assert_eq!(answer["result"]["_meta"]["framegate"]["costUsd"], 0.5);
}

#[test]
fn what_only_some_clients_understand_is_data_of_framegate() {
    let mut run = Harness::run();
    let error = ErrorReported {
        scope: ErrorScope::Turn,
        code: SharedStr::from("overloaded"),
        message: "later".to_owned(),
        retryable: true,
        attempt: None,
        max_attempts: None,
        http_status: None,
    };
    let compacted = Body::HistoryCompacted { trigger: None, tokens_before: Some(9), tokens_after: None, summary: None };
    for (body, key) in [(Body::ErrorReported(Box::new(error)), "notice"), (compacted, "compaction")] {
        let said = run.takes(body);
        assert_eq!(said[0]["params"]["update"], json!({"sessionUpdate": "session_info_update"}));
        assert!(own(&said[0]).get(key).is_some(), "{}", said[0]);
    }
    let entry = |content: &str, status: &str, priority: Option<&str>| PlanEntry {
        content: content.to_owned(),
        status: SharedStr::from(status),
        priority: priority.map(SharedStr::from),
    };
    let plan = vec![entry("", "cancelled", Some("urgent")), entry("b", "blocked", Some("low"))];
    assert_eq!(
        run.update(Body::PlanUpdated { entries: plan })["entries"],
        json!([
            {"content": "(no text)", "priority": "medium", "status": "completed"},
            {"content": "b", "priority": "low", "status": "pending"},
        ])
    );
    let turn = |model: &str| Body::TurnStarted { turn_index: 0, model: Some(SharedStr::from(model)) };
    assert_eq!(run.update(turn("m"))["configOptions"][0]["currentValue"], "m");
    assert_eq!(run.takes(turn("m")), Vec::<Value>::new());
}

#[test]
fn user_messages_are_optional_and_not_repeated() {
    let start = || Body::SessionStarted { input: "do it".to_owned() };
    let mut run = Harness::run();
    assert_eq!(kinds(&run.takes(start())), ["session_info_update"]);
    assert_eq!(run.takes(user("do it")), Vec::<Value>::new());
    let options = EncoderOptions { user_messages: true, ..EncoderOptions::default() };
    let mut run = Harness::with(StreamKind::Session, &options);
    assert_eq!(kinds(&run.takes(start())), ["session_info_update", "user_message_chunk"]);
    let again = run.takes(user("do  it"));
    assert_eq!(again.len(), 1, "{again:?}");
    let expected =
        json!({"type": "resource_link", "uri": "sha256:00", "name": "image", "mimeType": "image/png", "size": 3});
    assert_eq!(again[0]["params"]["update"]["content"], expected);
    run.takes(Body::OutputTextDelta(delta("m", 0, "x")));
    assert_eq!(kinds(&run.takes(user("do it"))), ["user_message_chunk", "user_message_chunk"]);
}

#[test]
fn subagents_without_a_call_are_calls() {
    let mut run = Harness::run();
    let subagent_started = |tool_id| Body::SubagentStarted {
        subagent_id: SharedStr::from("a"),
        tool_id,
        agent: Some(SharedStr::from("explorer")),
        task: Some("look".to_owned()),
        depth: 1,
    };
    assert_eq!(run.takes(subagent_started(Some(tool("c").id))), Vec::<Value>::new());
    let start = run.update(subagent_started(None));
    assert_eq!((&start["title"], &start["status"]), (&json!("look"), &json!("in_progress")));
    let over = Body::SubagentEnded {
        subagent_id: SharedStr::from("a"),
        status: SharedStr::from("completed"),
        summary: Some("found".to_owned()),
    };
    let over = run.update(over);
    assert_eq!((&over["toolCallId"], &over["status"]), (&start["toolCallId"], &json!("completed")));
    // A subagent's call names the call that started it.
    assert_eq!(own(&run.by(Some("c"), started("d"))[0])["parentToolCallId"], id("c"));
}

#[test]
fn a_task_is_a_call_in_its_own_stream() {
    let mut task = Harness::with(StreamKind::Task, &EncoderOptions::default());
    let task_id = Uuid::from_u128(1);
    let output = |chunk: &str| {
        let chunk = chunk.to_owned();
        Body::Task(Box::new(TaskEvent::OutputDelta { task_id, stream: OutputStream::Pty, chunk, artifacts: None }))
    };
    let status = |status, exit_code| {
        Body::Task(Box::new(TaskEvent::Status {
            task_id,
            status,
            exit_code,
            started_at_ms: None,
            ended_at_ms: None,
            artifacts: None,
            error: None,
        }))
    };
    let messages = task.takes(output("a"));
    assert_eq!(kinds(&messages), ["tool_call", "tool_call_update"]);
    assert_eq!(messages[0]["params"]["update"]["toolCallId"], json!(task_id));
    assert_eq!(task.takes(status(TaskStatus::Running, None)), Vec::<Value>::new());
    let over = task.update(status(TaskStatus::Exited, Some(2)));
    assert_eq!((&over["status"], &over["rawOutput"]), (&json!("failed"), &json!({"exit_code": 2})));
    assert_eq!(task.takes(output("b")), Vec::<Value>::new());
}

#[test]
fn a_restored_encoder_goes_on_with_the_same_ids() {
    let options = EncoderOptions { user_messages: true, ..EncoderOptions::default() };
    let mut run = Harness::with(StreamKind::Session, &options);
    run.takes(Body::OutputTextDelta(delta("m", 0, "a")));
    run.takes(started("c"));
    run.takes(asked("q", Some("c")));
    let saved = run.encoder.save().unwrap();
    let mut other = Harness::with(StreamKind::Session, &options);
    assert!(other.encoder.restore(&saved));
    other.next = run.next;
    for body in [
        Body::OutputTextDelta(delta("m", 0, "b")),
        user("x"),
        answered("q", Decision::Approved),
        end(EndReason::Failed, None),
    ] {
        assert_eq!(run.takes(body.clone()), other.takes(body));
    }
}
