//! Hand-made frames, and the events derived from them.

use super::V1;
use crate::encode::{Encoder, EncoderOptions, Events};
use crate::frame::{
    ApprovalRequested, ApprovalResolved, BlockDelta, BlockText, Body, Decision, EndReason, Frame, Provider, Session,
    SessionEnded, SharedStr, Stream, StreamKind, Tool, ToolCall, ToolKind, Usage, UsageScope,
};
use crate::json::to_raw;
use crate::schema::Schemas;
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

struct Harness {
    stream: Arc<Stream>,
    encoder: Box<dyn Encoder>,
    next: u64,
}

impl Harness {
    fn new() -> Self {
        let session = Arc::new(Session { id: Uuid::from_u128(2), name: SharedStr::from("s") });
        let provider = Provider { name: "lab", title: "Lab" };
        let (kind, id) = (StreamKind::Session, Uuid::from_u128(1));
        let stream = Arc::new(Stream { kind, id, session, origin_run: None, provider });
        let encoder = (V1.encoder)(&stream, &EncoderOptions::default()).unwrap();
        Self { stream, encoder, next: 0 }
    }

    /// A run with a turn.
    fn begun() -> Self {
        let mut run = Self::new();
        assert_eq!(run.takes(Body::SessionStarted { input: "go".to_owned() }), [] as [Value; 0]);
        let model = Some(SharedStr::from("m"));
        let events = run.takes(Body::TurnStarted { turn_index: 0, model });
        assert_eq!(kinds(&events), ["response.created", "response.in_progress"]);
        assert!(
            events.iter().all(|event| event["response"]["model"] == "m" && event["response"]["output"] == json!([]))
        );
        run
    }

    fn by(&mut self, parent: Option<&str>, body: Body) -> Vec<Value> {
        let (seq, parent_tool_id) = (self.next, parent.map(|call| tool(call).id));
        self.next += 1;
        let frame =
            Frame { stream: self.stream.clone(), seq, timestamp_ms: 1500, parent_tool_id, given_id: None, body };
        let mut events = Events::default();
        self.encoder.frame(&frame, &mut events);
        events.iter().map(|event| serde_json::from_slice(event.payload).unwrap()).collect()
    }

    fn takes(&mut self, body: Body) -> Vec<Value> {
        self.by(None, body)
    }

    /// Ends the run; returns its last event's response.
    fn completes(&mut self) -> Value {
        let mut events = self.takes(end(EndReason::Completed, None));
        events.pop().unwrap()["response"].take()
    }
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

fn tool(call_id: &str) -> Tool {
    let id = Uuid::from_u128(call_id.bytes().fold(1, |sum, byte| sum << 8 | u128::from(byte)));
    Tool { id, call_id: SharedStr::from(call_id) }
}

fn call(call_id: &str, args: &Value) -> Box<ToolCall> {
    let (name, kind) = (SharedStr::from("Bash"), ToolKind::Shell);
    Box::new(ToolCall { tool: tool(call_id), name, kind, args: to_raw(args) })
}

fn started(call_id: &str) -> Body {
    Body::ToolStarted { call: call(call_id, &json!({"command": "ls"})), timeout_ms: None }
}

fn stdout(call_id: &str, chunk: &str) -> Body {
    Body::ToolStdout { tool: tool(call_id), chunk: chunk.to_owned() }
}

fn ended(call_id: &str, exit_code: i32) -> Body {
    Body::ToolEnded { tool: tool(call_id), exit_code, duration_ms: 7, artifacts: None }
}

fn input(call_id: &str, delta: &str) -> Body {
    Body::ToolInputDelta { tool: tool(call_id), name: SharedStr::from("Bash"), delta: delta.to_owned() }
}

fn text(message: &str, delta: &str) -> Body {
    Body::OutputTextDelta(BlockDelta { message_id: SharedStr::from(message), block_index: 0, delta: delta.to_owned() })
}

fn complete(message: &str, text: &str) -> Body {
    Body::OutputTextCompleted(BlockText { message_id: SharedStr::from(message), block_index: 0, text: text.to_owned() })
}

fn end(reason: EndReason, final_text: Option<&str>) -> Body {
    let (final_text, message) = (final_text.map(str::to_owned), None);
    Body::SessionEnded(Box::new(SessionEnded { reason, final_text, error_code: None, message }))
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

#[test]
fn a_text_is_an_item_and_the_end_repeats_it() {
    let mut run = Harness::begun();
    let first = run.takes(text("a", "One "));
    assert_eq!(
        kinds(&first),
        ["response.output_item.added", "response.content_part.added", "response.output_text.delta"]
    );
    let id = "msg_00000000000000000000000000000001_0";
    assert_eq!((&first[0]["item"]["id"], &first[2]["item_id"]), (&json!(id), &json!(id)));
    assert_eq!(kinds(&run.takes(text("a", "two"))), ["response.output_text.delta"]);
    let done = run.takes(complete("a", "One two"));
    assert_eq!(kinds(&done), ["response.output_text.done", "response.content_part.done", "response.output_item.done"]);
    assert_eq!((&done[0]["text"], &done[1]["part"]["text"]), (&json!("One two"), &json!("One two")));
    let response = run.completes();
    assert_eq!(response["output"], json!([done[2]["item"]]));
    let facts = ["status", "created_at", "completed_at", "usage"].map(|key| &response[key]);
    assert_eq!(facts, [&json!("completed"), &json!(1), &json!(1), &Value::Null]);
}

#[test]
fn blocks_of_one_time_are_items_of_their_own() {
    let mut run = Harness::begun();
    run.takes(text("a", "A"));
    run.takes(text("b", "B"));
    assert_eq!(run.takes(text("a", "a"))[0]["output_index"], 0);
    assert_eq!(run.takes(complete("b", "B"))[2]["output_index"], 1);
    run.takes(complete("a", "Aa"));
    let response = run.completes();
    let texts: Vec<&Value> =
        response["output"].as_array().unwrap().iter().map(|item| &item["content"][0]["text"]).collect();
    assert_eq!(texts, ["Aa", "B"]);
}

#[test]
fn an_answer_that_was_never_said_is_said_at_the_end() {
    let mut run = Harness::new();
    let events = run.takes(end(EndReason::Completed, Some("{}")));
    assert_eq!((events.len(), &events[0]["response"]["model"]), (9, &json!("lab")));
    assert_eq!((kinds(&events)[4], &events[4]["delta"]), ("response.output_text.delta", &json!("{}")));
    assert_eq!(events[8]["response"]["output"][0]["content"][0]["text"], "{}");
}

#[test]
fn a_call_has_its_arguments_then_its_output() {
    let mut run = Harness::begun();
    let begin = run.takes(started("c"));
    assert_eq!(
        kinds(&begin),
        [
            "response.output_item.added",
            "response.mcp_call.in_progress",
            "response.mcp_call_arguments.delta",
            "response.mcp_call_arguments.done"
        ]
    );
    assert_eq!((&begin[0]["item"]["arguments"], &begin[3]["arguments"]), (&json!(""), &begin[2]["delta"]));
    assert_eq!(run.takes(stdout("c", "a\n")), [] as [Value; 0]);
    let done = run.takes(ended("c", 0));
    assert_eq!(kinds(&done), ["response.mcp_call.completed", "response.output_item.done"]);
    let expected = json!({
        "id": "mcp_00000000000000000000000000000001_0", "type": "mcp_call", "status": "completed",
        "approval_request_id": null, "server_label": "lab", "name": "Bash", "arguments": "{\"command\":\"ls\"}",
        "output": "a\n", "error": null, "call_id": "c",
    });
    assert_eq!((&done[1]["item"], &run.completes()["output"]), (&expected, &json!([expected])));
}

#[test]
fn a_tool_that_fails_has_an_error_beside_its_output() {
    let mut run = Harness::begun();
    run.takes(started("c"));
    run.takes(stdout("c", "no such file\n"));
    let done = run.takes(ended("c", 2));
    assert_eq!(done[0]["type"], "response.mcp_call.failed");
    let item = &done[1]["item"];
    assert_eq!((&item["status"], &item["output"]), (&json!("failed"), &json!("no such file\n")));
    assert_eq!(item["error"]["content"][0]["text"], "the tool failed with exit code 2");
    run.takes(Body::ToolCallProposed(call("d", &json!({}))));
    let never = run.takes(Body::ToolFailed { tool: tool("d"), error: String::new() });
    let item = &never[1]["item"];
    assert_eq!((&item["output"], &item["error"]["content"][0]["text"]), (&Value::Null, &json!("the tool failed")));
    run.takes(started("e"));
    let left = run.takes(end(EndReason::Completed, None));
    assert_eq!(left[0]["type"], "response.mcp_call.failed");
    assert_eq!(left[2]["response"]["output"][2]["status"], "failed");
}

#[test]
fn streamed_arguments_are_their_pieces_unless_they_contradict_the_call() {
    for (pieces, expected) in [
        (["{\"command\": ", "\"ls\"}"], "{\"command\": \"ls\"}"),
        (["{\"command\":", "\"rm\"}"], "{\"command\":\"ls\"}"),
        (["{\"comm", ""], "{\"command\":\"ls\"}"),
    ] {
        let mut run = Harness::begun();
        for piece in pieces {
            run.takes(input("c", piece));
        }
        let done = run.takes(started("c"));
        assert_eq!(kinds(&done), ["response.mcp_call_arguments.done"]);
        assert_eq!(done[0]["arguments"], expected);
        assert_eq!(run.takes(ended("c", 0))[1]["item"]["arguments"], expected);
    }
    // What is not an object is the model's own text.
    let mut run = Harness::begun();
    let wrong = run.takes(Body::ToolCallProposed(call("c", &json!("ls -l"))));
    assert_eq!(wrong[3]["arguments"], "ls -l");
}

#[test]
fn a_question_and_its_answer_are_items_and_the_call_names_the_question() {
    let mut run = Harness::begun();
    run.takes(Body::ToolCallProposed(call("c", &json!({}))));
    let question = run.takes(asked("q", Some("c")));
    assert_eq!(kinds(&question), ["response.output_item.added", "response.output_item.done"]);
    let id = question[0]["item"]["id"].clone();
    assert_eq!(
        (&question[0]["item"]["approval_id"], question[0]["item"]["type"].as_str().unwrap()),
        (&json!("q"), "mcp_approval_request")
    );
    // The same question again is another one, and only the last one is answered.
    let again = run.takes(asked("q", Some("c")))[0]["item"]["id"].clone();
    assert_ne!(id, again);
    let answer = run.takes(answered("q", Decision::TimedOut));
    let facts = ["approval_request_id", "approve", "reason"].map(|key| answer[1]["item"][key].clone());
    assert_eq!(facts, [again.clone(), json!(false), json!("timed_out")]);
    assert_eq!(run.takes(answered("q", Decision::Approved)), [] as [Value; 0]);
    assert_eq!(run.takes(ended("c", 0))[1]["item"]["approval_request_id"], again);
}

#[test]
fn a_subagent_has_calls_and_no_text() {
    let mut run = Harness::begun();
    run.takes(started("task"));
    let body = Body::SubagentStarted {
        subagent_id: SharedStr::from("s"),
        tool_id: Some(tool("task").id),
        agent: None,
        task: None,
        depth: 1,
    };
    run.takes(body);
    assert_eq!(run.by(Some("task"), text("a", "hidden")), [] as [Value; 0]);
    assert_eq!(run.by(Some("task"), input("c", "{}")), [] as [Value; 0]);
    // The call that started the subagent may be over.
    run.takes(ended("task", 0));
    let call = run.by(Some("task"), started("c"));
    assert_eq!(call[0]["item"]["parent_item_id"], "mcp_00000000000000000000000000000001_0");
    run.takes(Body::SubagentEnded {
        subagent_id: SharedStr::from("s"),
        status: SharedStr::from("completed"),
        summary: None,
    });
    let late = run.by(Some("task"), started("d"));
    assert_eq!(late[0]["item"].get("parent_item_id"), None);
}

#[test]
fn required_figures_that_are_unknown_are_zero() {
    let mut run = Harness::begun();
    let (scope, cache_creation_tokens) = (UsageScope::Run, Some(5));
    let usage = Usage { scope, input_tokens: 10, output_tokens: 2, cache_creation_tokens, ..Usage::default() };
    run.takes(Body::UsageReported(Box::new(usage)));
    let expected = json!({
        "input_tokens": 15, "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 5}, "output_tokens": 2,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 17,
    });
    assert_eq!(run.completes()["usage"], expected);
}

const MIB: usize = 1 << 20;

#[test]
fn a_long_text_is_whole_in_its_item_and_cut_at_the_end() {
    let mut run = Harness::begun();
    let long = "é".repeat(MIB);
    run.takes(text("a", &long));
    let done = run.takes(complete("a", &long));
    assert_eq!(done[2]["item"]["content"][0]["text"], long);
    let response = run.completes();
    let kept = response["output"][0]["content"][0]["text"].as_str().unwrap();
    let (text, note) = kept.split_at(MIB);
    assert!(long.starts_with(text));
    assert_eq!(note, format!("\n[{MIB} more bytes]"));
    assert_eq!(response["metadata"].get("omitted_items"), None);
}

#[test]
fn the_oldest_outputs_go_first_and_messages_last() {
    let mut run = Harness::begun();
    let long = "x".repeat(MIB - 10_000);
    run.takes(text("a", "The plan."));
    run.takes(complete("a", "The plan."));
    for nth in 0..8 {
        run.takes(started(&nth.to_string()));
        run.takes(stdout(&nth.to_string(), &long));
        assert_eq!(run.takes(ended(&nth.to_string(), 0))[1]["item"]["output"].as_str().unwrap().len(), long.len());
        assert!(run.encoder.held_bytes() <= 4 * MIB);
    }
    let response = run.completes();
    let output = response["output"].as_array().unwrap();
    assert_eq!((output.len(), &output[0]["content"][0]["text"]), (9, &json!("The plan.")));
    let lengths: Vec<bool> = output[1..].iter().map(|call| call["output"].as_str().unwrap().len() < 100).collect();
    assert_eq!(lengths, [true, true, true, true, false, false, false, false]);
    assert!(output[1]["output"].as_str().unwrap().contains("left out"));
}

#[test]
fn the_number_of_items_is_bounded_too() {
    let mut run = Harness::begun();
    for nth in 0..20_000_u64 {
        let name = nth.to_string();
        run.takes(text(&name, &name));
        run.takes(complete(&name, &name));
        assert!(run.encoder.held_bytes() <= 4 * MIB);
    }
    let response = run.completes();
    let output = response["output"].as_array().unwrap();
    let omitted: usize = response["metadata"]["omitted_items"].as_str().unwrap().parse().unwrap();
    assert_eq!(output.len() + omitted, 20_000);
    assert!(output.len() > 5_000, "{}", output.len());
    assert_eq!(output.last().unwrap()["content"][0]["text"], "19999");
    let schemas = Schemas::compile(V1.schemas).unwrap();
    let event = json!({"type": "response.completed", "sequence_number": 1, "response_id": "r", "response": response});
    assert_eq!(schemas.check_value("response.completed", &event), Ok(()));
}

#[test]
fn long_arguments_and_outputs_are_whole_in_their_item() {
    let mut run = Harness::begun();
    run.takes(text("a", "Before."));
    run.takes(complete("a", "Before."));
    let args = json!({"text": "x".repeat(5 * MIB)});
    let begun = run.takes(Body::ToolStarted { call: call("c", &args), timeout_ms: None });
    assert_eq!(begun[3]["arguments"].as_str().unwrap(), args.to_string());
    // Each stream of a tool may have 1 MiB.
    run.takes(stdout("c", &"\n".repeat(MIB)));
    run.takes(Body::ToolStderr { tool: tool("c"), chunk: "e".repeat(MIB) });
    let done = run.takes(ended("c", 1));
    let item = &done[1]["item"];
    assert_eq!(
        (item["arguments"].as_str().unwrap().len(), item["output"].as_str().unwrap().len()),
        (args.to_string().len(), 2 * MIB)
    );
    let response = run.completes();
    assert_eq!(response["output"][0]["content"][0]["text"], "Before.");
    let kept = &response["output"][1];
    assert_eq!(
        (&kept["arguments"], &kept["error"]["content"][0]["text"]),
        (&json!("{}"), &json!("the tool failed with exit code 1"))
    );
    assert!(kept["output"].as_str().unwrap().ends_with(&format!("\n[{MIB} more bytes]")));
}
