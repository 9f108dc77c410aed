//! Hand-made frames, and the messages derived from them.

use super::V1;
use crate::encode::{Encoder, EncoderOptions, Events};
use crate::frame::{
    ApprovalRequested, ApprovalResolved, BlockDelta, BlockText, Body, Decision, EndReason, ErrorReported, ErrorScope,
    Figures, Frame, LogLevel, MAX_OUTPUT_TOKENS, Provider, Session, SessionEnded, SharedStr, Stream, StreamKind,
    TaskEvent, TaskStatus, Tool, ToolCall, ToolKind, Usage, UsageScope, UserMessage,
};
use crate::json::to_raw;
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

struct Harness {
    stream: Arc<Stream>,
    encoder: Box<dyn Encoder>,
    options: EncoderOptions,
    next: u64,
}

impl Harness {
    fn of(kind: StreamKind, partial: bool) -> Self {
        let session = Arc::new(Session { id: Uuid::from_u128(2), name: SharedStr::from("s") });
        let provider = Provider { name: "lab", title: "Lab" };
        let stream = Arc::new(Stream { kind, id: Uuid::from_u128(1), session, origin_run: None, provider });
        let options = EncoderOptions { experimental: partial, ..EncoderOptions::default() };
        let encoder = (V1.encoder)(&stream, &options).unwrap();
        Self { stream, encoder, options, next: 0 }
    }

    /// A run whose first turn has begun.
    fn run(partial: bool) -> Self {
        let mut run = Self::of(StreamKind::Session, partial);
        assert!(run.takes(Body::SessionStarted { input: String::new() }).is_empty());
        assert_eq!(kinds(&run.takes(turn(0))), ["init"]);
        run
    }

    fn by(&mut self, parent: Option<&str>, body: Body) -> Vec<Value> {
        let (stream, seq, parent_tool_id) = (self.stream.clone(), self.next, parent.map(|call| tool(call).id));
        self.next += 1;
        let mut events = Events::default();
        self.encoder
            .frame(&Frame { stream, seq, timestamp_ms: 1000 + seq, parent_tool_id, given_id: None, body }, &mut events);
        events.iter().map(|event| serde_json::from_slice(event.payload).unwrap()).collect()
    }

    fn takes(&mut self, body: Body) -> Vec<Value> {
        self.by(None, body)
    }

    fn result(&mut self, end: SessionEnded) -> Value {
        self.takes(Body::SessionEnded(Box::new(end))).pop().unwrap()
    }

    /// Goes on with a restored state.
    fn restore(&mut self) {
        let saved = self.encoder.save().unwrap();
        let mut restored = (V1.encoder)(&self.stream, &self.options).unwrap();
        assert!(restored.restore(&saved));
        self.encoder = restored;
    }
}

/// The types of messages: the subtype, or the type of the stream event.
fn kinds(messages: &[Value]) -> Vec<&str> {
    let kind = |message: &Value, pointer: &str| message.pointer(pointer).and_then(Value::as_str).is_some();
    let of = |message: &Value| ["/event/type", "/subtype", "/type"].into_iter().find(|at| kind(message, at)).unwrap();
    messages.iter().map(|message| message.pointer(of(message)).unwrap().as_str().unwrap()).collect()
}

fn tool(call_id: &str) -> Tool {
    let id = Uuid::from_u128(call_id.bytes().fold(1, |sum, byte| sum << 8 | u128::from(byte)));
    Tool { id, call_id: SharedStr::from(call_id) }
}

fn started(call_id: &str, args: &Value) -> Body {
    let (name, kind) = (SharedStr::from("Bash"), ToolKind::Shell);
    Body::ToolStarted {
        call: Box::new(ToolCall { tool: tool(call_id), name, kind, args: to_raw(args) }),
        timeout_ms: None,
    }
}

fn stdout(call_id: &str, chunk: &str) -> Body {
    Body::ToolStdout { tool: tool(call_id), chunk: chunk.to_owned() }
}

fn ended(call_id: &str, exit_code: i32) -> Body {
    Body::ToolEnded { tool: tool(call_id), exit_code, duration_ms: 7, artifacts: None }
}

fn text(block_index: u32, delta: &str) -> Body {
    let message_id = SharedStr::from("m");
    Body::OutputTextDelta(BlockDelta { message_id, block_index, delta: delta.to_owned() })
}

fn complete(block_index: u32, text: &str) -> Body {
    Body::OutputTextCompleted(BlockText { message_id: SharedStr::from("m"), block_index, text: text.to_owned() })
}

fn input(call_id: &str, delta: &str) -> Body {
    Body::ToolInputDelta { tool: tool(call_id), name: SharedStr::from("Bash"), delta: delta.to_owned() }
}

fn turn(turn_index: u32) -> Body {
    Body::TurnStarted { turn_index, model: Some(SharedStr::from("m-1")) }
}

fn turn_ended(stop_reason: &str) -> Body {
    Body::TurnEnded { turn_index: 0, stop_reason: Some(SharedStr::from(stop_reason)), duration_ms: None }
}

fn usage(scope: UsageScope, model: Option<&str>, tokens: u64) -> Body {
    let figures = Figures { input_tokens: tokens, output_tokens: 1, ..Figures::default() };
    Body::UsageReported(Box::new(Usage::of(scope, model.map(SharedStr::from), &figures)))
}

fn end(reason: EndReason, code: Option<&str>, message: Option<&str>) -> SessionEnded {
    SessionEnded {
        reason,
        final_text: Some("Hello".to_owned()),
        error_code: code.map(SharedStr::from),
        message: message.map(str::to_owned),
    }
}

fn completed() -> SessionEnded {
    end(EndReason::Completed, None, None)
}

#[test]
fn a_streamed_block_is_repeated_before_its_stop() {
    let mut run = Harness::run(true);
    assert_eq!(kinds(&run.takes(text(0, "Hel"))), ["message_start", "content_block_start", "content_block_delta"]);
    run.restore();
    assert_eq!(kinds(&run.takes(text(0, "lo"))), ["content_block_delta"]);
    let done = run.takes(complete(0, "Hello"));
    assert_eq!(kinds(&done), ["assistant", "content_block_stop"]);
    assert_eq!(done[0]["message"]["content"], json!([{"type": "text", "text": "Hello"}]));
    assert_eq!(done[0]["message"]["id"], done[1]["api_message_id"]);
    assert_eq!(kinds(&run.takes(usage(UsageScope::Turn, None, 5))), [""; 0]);
    let ended = run.takes(turn_ended("completed"));
    assert_eq!(kinds(&ended), ["message_delta", "message_stop"]);
    assert_eq!(ended[0]["event"]["delta"]["stop_reason"], "end_turn");
    assert_eq!(ended[0]["event"]["usage"]["input_tokens"], 5);
    assert_eq!(kinds(&run.takes(Body::SessionEnded(Box::new(completed())))), ["success"]);
}

#[test]
fn without_partial_messages_only_finished_blocks_are_written() {
    let mut run = Harness::run(false);
    assert!(run.takes(text(0, "Hello")).is_empty());
    assert!(run.takes(input("c", "{}")).is_empty());
    assert_eq!(kinds(&run.takes(complete(0, "Hello"))), ["assistant"]);
    assert_eq!(kinds(&run.takes(started("c", &json!({})))), ["assistant"]);
    assert!(run.takes(turn_ended("tool_use")).is_empty());
    let result = run.result(completed());
    assert_eq!((&result["result"], &result["stop_reason"]), (&json!("Hello"), &json!("tool_use")));
}

#[test]
fn blocks_that_overlap_are_numbered_by_their_start_and_more_than_a_few_are_streamed_whole() {
    let mut run = Harness::run(true);
    for index in 0..20 {
        let streamed = run.takes(text(index, "a"));
        assert_eq!(streamed.is_empty(), index >= 16, "{index}");
    }
    assert_eq!(run.takes(complete(3, "a"))[1]["event"]["index"], 3);
    let whole = run.takes(complete(18, "a"));
    assert_eq!(kinds(&whole), ["content_block_start", "content_block_delta", "assistant", "content_block_stop"]);
    assert_eq!(whole[0]["event"]["index"], 16);
    // The message goes on until its blocks are complete.
    assert!(run.takes(turn_ended("stop")).is_empty());
    assert!(kinds(&run.takes(complete(0, "a"))).ends_with(&["content_block_stop"]));
    let end = run.takes(Body::SessionEnded(Box::new(completed())));
    assert_eq!(kinds(&end).iter().filter(|kind| **kind == "content_block_stop").count(), 14);
    assert!(kinds(&end).ends_with(&["message_delta", "message_stop", "success"]));
}

#[test]
fn text_after_a_result_is_another_message() {
    let mut run = Harness::run(true);
    let call = run.takes(started("c", &json!({"command": "ls"})));
    assert_eq!(
        kinds(&call),
        ["message_start", "content_block_start", "content_block_delta", "assistant", "content_block_stop"]
    );
    assert_eq!(call[2]["event"]["delta"]["partial_json"], r#"{"command":"ls"}"#);
    run.takes(stdout("c", "a.txt"));
    let result = run.takes(ended("c", 0));
    assert_eq!(
        result[0]["message"]["content"],
        json!([{"type": "tool_result", "tool_use_id": "c", "content": "a.txt"}])
    );
    let next = run.takes(text(0, "One file"));
    assert_eq!(kinds(&next)[..3], ["message_delta", "message_stop", "message_start"]);
    assert_eq!(next[0]["event"]["delta"]["stop_reason"], "tool_use");
    assert_ne!(next[2]["api_message_id"], call[0]["api_message_id"]);
}

#[test]
fn an_input_that_is_cut_off_is_abandoned_with_its_turn() {
    let mut run = Harness::run(true);
    run.takes(input("c", "{\"a"));
    assert_eq!(kinds(&run.takes(turn_ended("stop"))), ["content_block_stop", "message_delta", "message_stop"]);
    // The whole call may still come.
    assert!(kinds(&run.takes(started("c", &json!({"a": 1})))).contains(&"assistant"));
}

#[test]
fn failures_of_tools_say_why() {
    let mut run = Harness::run(false);
    for (call, body, content, kind) in [
        ("a", ended("a", 2), "Exit code 2\nno", json!(null)),
        (
            "b",
            Body::ToolFailed { tool: tool("b"), error: "not found".to_owned() },
            "no\nnot found",
            json!([{"id": "b", "non_execution_kind": "cancelled"}]),
        ),
    ] {
        run.takes(started(call, &json!({})));
        run.takes(stdout(call, "no"));
        let message = run.takes(body).remove(0);
        let result = &message["message"]["content"][0];
        assert_eq!((&result["content"], &result["is_error"]), (&json!(content), &json!(true)));
        assert_eq!(message["tool_result_meta"], kind);
    }
    assert_eq!(run.result(completed())["num_turns"], 3);
}

#[test]
fn a_question_is_withdrawn_when_it_is_decided_and_a_refusal_is_listed() {
    let mut run = Harness::run(false);
    run.takes(started("c", &json!({"command": "ls"})));
    let ask = |id: &str| {
        Body::ApprovalRequested(Box::new(ApprovalRequested {
            approval_id: SharedStr::from(id),
            tool_id: Some(tool("c").id),
            tool_name: SharedStr::from("Bash"),
            args: to_raw(&json!({"command": "ls"})),
            reason: Some("why".to_owned()),
        }))
    };
    let asked = run.takes(ask("q")).remove(0);
    let request = json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "c",
        "decision_reason": "why"});
    assert_eq!(asked, json!({"type": "control_request", "request_id": "q", "request": request}));
    run.restore();
    let decision = Decision::Rejected;
    let approval_id = SharedStr::from("q");
    let answer = ApprovalResolved { approval_id, decision, by: None, reason: None, scope: None };
    let decided = run.takes(Body::ApprovalResolved(Box::new(answer)));
    assert_eq!(decided, [json!({"type": "control_cancel_request", "request_id": "q"})]);
    let failed = run.takes(Body::ToolFailed { tool: tool("c"), error: "no".to_owned() }).remove(0);
    assert_eq!(failed["tool_result_meta"][0]["non_execution_kind"], "user-rejected");
    run.takes(ask("r"));
    let end = run.takes(Body::SessionEnded(Box::new(completed())));
    assert_eq!(kinds(&end), ["control_cancel_request", "success"]);
    let denial = json!({"tool_name": "Bash", "tool_use_id": "c", "tool_input": {"command": "ls"}});
    assert_eq!(end[1]["permission_denials"], json!([denial]));
}

#[test]
fn usage_is_told_by_model_if_the_calls_add_up() {
    let table = |bodies: Vec<Body>| {
        let mut run = Harness::run(false);
        bodies.into_iter().for_each(|body| drop(run.takes(body)));
        let result = run.result(completed());
        let models = result["modelUsage"].as_object().unwrap().clone();
        models.into_iter().map(|(name, entry)| (name, entry["inputTokens"].as_u64().unwrap())).collect::<Vec<_>>()
    };
    let call = |model: Option<&str>, tokens| usage(UsageScope::Turn, model, tokens);
    let total = |model: Option<&str>, tokens| {
        let figures = Figures { input_tokens: tokens, output_tokens: 2, ..Figures::default() };
        Body::UsageReported(Box::new(Usage::of(UsageScope::Run, model.map(SharedStr::from), &figures)))
    };
    let named = |pairs: &[(&str, u64)]| pairs.iter().map(|(name, sum)| ((*name).to_owned(), *sum)).collect::<Vec<_>>();
    assert_eq!(table(vec![]), []);
    assert_eq!(table(vec![call(None, 3), call(None, 4)]), named(&[("m-1", 7)]));
    assert_eq!(table(vec![call(Some("a"), 3), call(Some("b"), 4), total(None, 7)]), named(&[("a", 3), ("b", 4)]));
    assert_eq!(table(vec![call(Some("a"), 3), call(Some("b"), 4), total(None, 9)]), named(&[("m-1", 9)]));
    assert_eq!(table(vec![call(Some("a"), 3), total(Some("c"), 9)]), named(&[("c", 9)]));
}

#[test]
fn ends_have_the_clis_subtypes() {
    let (failed, interrupted) = (EndReason::Failed, EndReason::Interrupted);
    for (end, subtype, terminal, says) in [
        (end(EndReason::Completed, Some(MAX_OUTPUT_TOKENS), None), "success", "completed", "Hello"),
        (end(failed, Some("overloaded"), Some("busy")), "success", "api_error", "busy"),
        (end(failed, Some("error_max_turns"), Some("10 turns")), "error_max_turns", "max_turns", "10 turns"),
        (end(interrupted, Some("aborted"), None), "error_during_execution", "aborted_streaming", "aborted"),
    ] {
        let is_error = end.reason != EndReason::Completed;
        let result = Harness::run(false).result(end);
        assert_eq!((&result["subtype"], &result["terminal_reason"]), (&json!(subtype), &json!(terminal)));
        assert_eq!(result["is_error"], is_error);
        let said = result.get("result").unwrap_or(&result["errors"][0]);
        assert_eq!(said, says, "{result:#}");
    }
    let mut run = Harness::run(false);
    run.takes(started("c", &json!({})));
    assert_eq!(run.result(end(interrupted, None, None))["terminal_reason"], "aborted_tools");
}

#[test]
fn errors_are_retries_messages_or_lines() {
    let mut run = Harness::run(false);
    let mut error = |scope, attempt: Option<u32>| {
        let error = ErrorReported {
            scope,
            code: SharedStr::from("overloaded_error"),
            message: "busy".to_owned(),
            retryable: true,
            attempt,
            max_attempts: attempt.map(|_| 3),
            http_status: Some(529),
        };
        run.takes(Body::ErrorReported(Box::new(error))).remove(0)
    };
    let retry = error(ErrorScope::Provider, Some(1));
    assert_eq!((&retry["subtype"], &retry["error"]), (&json!("api_retry"), &json!("overloaded")));
    assert_eq!(error(ErrorScope::Provider, None)["subtype"], "informational");
    let said = error(ErrorScope::Turn, None);
    assert_eq!((&said["error"], &said["message"]["model"]), (&json!("overloaded"), &json!("<synthetic>")));
    assert!(run.takes(Body::LogEmitted { level: LogLevel::Debug, message: "x".to_owned() }).is_empty());
}

#[test]
fn subagents_are_tasks_and_their_messages_name_the_call() {
    let mut run = Harness::run(true);
    run.takes(started("c", &json!({})));
    let begin = Body::SubagentStarted {
        subagent_id: SharedStr::from("agent"),
        tool_id: Some(tool("c").id),
        agent: Some(SharedStr::from("explorer")),
        task: Some("Count\nthe files".to_owned()),
        depth: 1,
    };
    let task = run.takes(begin).remove(0);
    assert_eq!((&task["description"], &task["prompt"]), (&json!("Count"), &json!("Count\nthe files")));
    assert!(run.by(Some("c"), text(0, "Three")).is_empty());
    assert_eq!(run.by(Some("c"), complete(0, "Three"))[0]["parent_tool_use_id"], "c");
    // The call may be over before its subagent.
    run.takes(ended("c", 0));
    assert_eq!(run.by(Some("c"), started("d", &json!({})))[0]["parent_tool_use_id"], "c");
    let status = SharedStr::from("interrupted");
    let over = run.takes(Body::SubagentEnded { subagent_id: SharedStr::from("agent"), status, summary: None });
    assert_eq!((&over[0]["tool_use_id"], &over[0]["status"]), (&json!("c"), &json!("stopped")));
}

#[test]
fn a_background_task_has_no_init_and_no_result() {
    let mut task = Harness::of(StreamKind::Task, true);
    let task_id = Uuid::from_u128(1);
    let spawned = TaskEvent::Spawned {
        task_id,
        tool_name: SharedStr::from("Bash"),
        args: crate::json::empty_object(),
        cwd: None,
        title: Some("make".to_owned()),
        execution_mode: crate::frame::ExecutionMode::Pipes,
        origin_session_id: None,
        artifacts: None,
    };
    assert_eq!(kinds(&task.takes(Body::Task(Box::new(spawned)))), ["task_started"]);
    task.restore();
    let status = TaskEvent::Status {
        task_id,
        status: TaskStatus::Failed,
        exit_code: Some(2),
        started_at_ms: None,
        ended_at_ms: Some(9),
        artifacts: None,
        error: Some("no".to_owned()),
    };
    let over = task.takes(Body::Task(Box::new(status)));
    assert_eq!(kinds(&over), ["task_updated", "task_notification"]);
    assert_eq!(over[0]["patch"], json!({"status": "failed", "end_time": 9, "error": "no"}));
    assert_eq!(over[1]["summary"], "make failed (exit code 2)");
}

#[test]
fn lines_have_no_separators_and_texts_stay_the_same() {
    let mut run = Harness::run(true);
    let said = "a\u{2028}b\u{2029}";
    let args = json!({"command": said});
    let mut events = Events::default();
    for (seq, body) in [text(0, said), complete(0, said), started("c", &args)].into_iter().enumerate() {
        let (stream, seq) = (run.stream.clone(), seq as u64);
        run.encoder
            .frame(&Frame { stream, seq, timestamp_ms: 0, parent_tool_id: None, given_id: None, body }, &mut events);
    }
    for event in events.iter() {
        assert!(!std::str::from_utf8(event.payload).unwrap().contains(['\u{2028}', '\u{2029}']));
    }
    let contents: Vec<Value> = events
        .iter()
        .filter_map(|event| {
            serde_json::from_slice::<Value>(event.payload).unwrap().pointer("/message/content/0").cloned()
        })
        .collect();
    assert!(contents.iter().any(|content| content["text"] == said));
    assert!(contents.iter().any(|content| content["input"] == args));
}

#[test]
fn what_is_held_is_bounded() {
    let mut run = Harness::run(false);
    run.takes(started("c", &json!("not an object")));
    for _ in 0..3 {
        run.takes(stdout("c", &"x".repeat(1 << 20)));
    }
    assert_eq!(run.encoder.held_bytes(), 1 << 20);
    let result = run.takes(ended("c", 0)).remove(0);
    assert!(result["message"]["content"][0]["content"].as_str().unwrap().ends_with("\n[2097152 more bytes]"));
    assert_eq!(run.encoder.held_bytes(), 0);
}

#[test]
fn the_users_messages_are_repeated_on_request_only() {
    let message = || {
        let message_id = SharedStr::from("u");
        Body::UserMessage(Box::new(UserMessage { message_id, text: "Hi".to_owned(), attachments: vec![] }))
    };
    assert!(Harness::run(false).takes(message()).is_empty());
    let mut run = Harness::of(StreamKind::Session, false);
    run.options.user_messages = true;
    run.encoder = (V1.encoder)(&run.stream, &run.options).unwrap();
    let said = run.takes(message());
    assert_eq!(kinds(&said), ["init", "user"]);
    assert_eq!(said[0]["model"], "lab", "the model is not known yet");
    assert_eq!((&said[1]["isReplay"], &said[1]["message"]["content"][0]["text"]), (&json!(true), &json!("Hi")));
}

#[test]
fn two_open_calls_never_have_the_same_id() {
    let of = |number: u128| Tool { id: Uuid::from_u128(number), call_id: SharedStr::from("c") };
    let started = |number| {
        let name = SharedStr::from("Bash");
        let call =
            ToolCall { tool: of(number), name, kind: ToolKind::Shell, args: to_raw(&json!({"a": number.to_string()})) };
        Body::ToolStarted { call: Box::new(call), timeout_ms: None }
    };
    let ended = |number| Body::ToolEnded { tool: of(number), exit_code: 0, duration_ms: 1, artifacts: None };
    let input =
        |number| Body::ToolInputDelta { tool: of(number), name: SharedStr::from("Bash"), delta: "{".to_owned() };
    let mut run = Harness::run(true);
    let id_in = |events: &[Value], place: &str| {
        events.iter().find_map(|event| event.pointer(place)).and_then(Value::as_str).unwrap().to_owned()
    };
    let (block, whole) = ("/event/content_block/id", "/message/content/0/id");
    let first = run.takes(started(1));
    assert_eq!((id_in(&first, block).as_str(), id_in(&first, whole).as_str()), ("c", "c"));
    // The input of the second call begins while the first one is open, and is complete after its end.
    let second = id_in(&run.takes(input(2)), block);
    assert_eq!(second, Uuid::from_u128(2).to_string());
    run.takes(ended(1));
    assert_eq!(id_in(&run.takes(started(2)), whole), second);
    let result = run.takes(ended(2));
    assert_eq!(id_in(&result, "/message/content/0/tool_use_id"), second);
    assert_eq!(id_in(&run.takes(started(3)), whole), "c", "the id is free again");
}
