//! Incomplete answers, with the same rules for all runners. A length limit is `completed` with `max_output_tokens`, a content
//! filter is `failed` with `content_filter`, and the answer so far is delivered. An interruption delivers the last complete
//! text.

use super::{data, ends, events_of};
use serde_json::{Value, json};

const ANSWER: &str = "As far as it";

/// A case: its description, its runner, and its records.
type Case = (&'static str, &'static str, Vec<Value>);

fn claude(records: Vec<Value>) -> Vec<Value> {
    let mut all = vec![json!({"type": "system", "subtype": "init", "session_id": "s", "model": "m"})];
    all.extend(records);
    all
}

fn claude_text(stop: Value) -> Value {
    json!({"type": "assistant", "session_id": "s", "message": {"id": "m", "model": "x", "stop_reason": stop,
        "content": [{"type": "text", "text": ANSWER}]}})
}

fn claude_error(code: &str) -> Value {
    json!({"type": "assistant", "session_id": "s", "error": code, "is_api_error_message": true,
        "message": {"id": "e", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error: no more"}]}})
}

fn claude_result(is_error: bool, stop: &str) -> Value {
    json!({"type": "result", "subtype": "success", "is_error": is_error, "session_id": "s", "stop_reason": stop,
        "result": if is_error { "API Error: no more" } else { ANSWER }})
}

fn transcript(stop: &str) -> Vec<Value> {
    let entry = |kind: &str, uuid: &str, message: Value| {
        json!({"type": kind, "uuid": uuid, "parentUuid": null, "sessionId": "s", "isSidechain": false,
            "timestamp": "2026-02-02T02:40:00.000Z", "message": message})
    };
    vec![
        entry("user", "1", json!({"role": "user", "content": "Go."})),
        entry(
            "assistant",
            "2",
            json!({"id": "m", "role": "assistant", "model": "x", "stop_reason": stop,
            "content": [{"type": "text", "text": ANSWER}]}),
        ),
    ]
}

fn codex_exec(reason: &str) -> Vec<Value> {
    let message = format!("Incomplete response returned, reason: {reason}");
    vec![
        json!({"type": "thread.started", "thread_id": "t"}),
        json!({"type": "turn.started"}),
        json!({"type": "item.completed", "item": {"id": "item_0", "type": "agent_message", "text": ANSWER}}),
        json!({"type": "error", "message": message}),
        json!({"type": "turn.failed", "error": {"message": message}}),
    ]
}

fn codex_server(reason: &str) -> Vec<Value> {
    let note = |method: &str, params: Value| json!({"method": method, "params": params, "emittedAtMs": 1});
    let message = format!("Incomplete response returned, reason: {reason}");
    let error = json!({"message": message, "codexErrorInfo": "other", "additionalDetails": null});
    vec![
        note("turn/started", json!({"threadId": "t", "turn": {"id": "u", "items": [], "status": "inProgress"}})),
        note(
            "item/completed",
            json!({"threadId": "t", "turnId": "u",
            "item": {"type": "agentMessage", "id": "m", "text": ANSWER}}),
        ),
        note("error", json!({"threadId": "t", "turnId": "u", "willRetry": false, "error": error})),
        note(
            "turn/completed",
            json!({"threadId": "t",
            "turn": {"id": "u", "items": [], "status": "failed", "error": error}}),
        ),
    ]
}

fn codex_file(reason: &str) -> Vec<Value> {
    let line =
        |payload: Value| json!({"timestamp": "2026-02-02T02:40:00.000Z", "type": "event_msg", "payload": payload});
    let message = format!("Incomplete response returned, reason: {reason}");
    vec![
        line(json!({"type": "task_started", "turn_id": "u"})),
        line(json!({"type": "agent_message", "message": ANSWER})),
        line(
            json!({"type": "task_complete", "turn_id": "u", "last_agent_message": null, "error": {"message": message}}),
        ),
    ]
}

fn step(reason: &str) -> Value {
    json!({"id": "p3", "messageID": "m", "sessionID": "s", "type": "step-finish", "reason": reason, "cost": 0,
        "tokens": {"input": 1, "output": 2, "reasoning": 0, "cache": {"read": 0, "write": 0}}})
}

fn text_part() -> Value {
    json!({"id": "p2", "messageID": "m", "sessionID": "s", "type": "text", "text": ANSWER, "time": {"start": 1, "end": 2}})
}

fn opencode_run(more: Vec<Value>) -> Vec<Value> {
    let line = |kind: &str, part: Value| json!({"type": kind, "timestamp": 3, "sessionID": "s", "part": part});
    let start = json!({"id": "p1", "messageID": "m", "sessionID": "s", "type": "step-start"});
    [vec![line("step_start", start), line("text", text_part())], more].concat()
}

fn opencode_feed(reason: Option<&str>, error: Option<&str>) -> Vec<Value> {
    let event = |kind: &str, properties: Value| json!({"id": "e", "type": kind, "properties": properties});
    let info = |completed: bool| {
        let mut info =
            json!({"id": "m", "sessionID": "s", "role": "assistant", "modelID": "x", "time": {"created": 1}});
        if completed {
            info["time"]["completed"] = json!(4);
            info["error"] = error.map_or(Value::Null, |name| json!({"name": name, "data": {}}));
        }
        event("message.updated", json!({"sessionID": "s", "info": info}))
    };
    let part = |part: Value| event("message.part.updated", json!({"sessionID": "s", "part": part, "time": 3}));
    let mut records = vec![
        event("session.status", json!({"sessionID": "s", "status": {"type": "busy"}})),
        info(false),
        part(json!({"id": "p1", "messageID": "m", "sessionID": "s", "type": "step-start"})),
        part(text_part()),
    ];
    records.extend(reason.map(|reason| part(step(reason))));
    records.extend(
        error.map(|name| event("session.error", json!({"sessionID": "s", "error": {"name": name, "data": {}}}))),
    );
    records.push(info(true));
    records.push(event("session.status", json!({"sessionID": "s", "status": {"type": "idle"}})));
    records.push(event("session.idle", json!({"sessionID": "s"})));
    records
}

fn opencode_next(finish: &str) -> Vec<Value> {
    let event = |kind: &str, data: Value| {
        let mut data = data;
        data["timestamp"] = json!(1);
        data["sessionID"] = json!("s");
        json!({"id": "e", "type": format!("session.next.{kind}"), "data": data})
    };
    vec![
        event("prompted", json!({"messageID": "u", "prompt": {"text": "Go."}, "delivery": "now"})),
        event("step.started", json!({"assistantMessageID": "m", "agent": "build", "model": {"id": "x"}})),
        event("text.started", json!({"assistantMessageID": "m", "textID": "t"})),
        event("text.ended", json!({"assistantMessageID": "m", "textID": "t", "text": ANSWER})),
        event(
            "step.ended",
            json!({"assistantMessageID": "m", "finish": finish, "cost": 0,
            "tokens": {"input": 1, "output": 2, "reasoning": 0, "cache": {"read": 0, "write": 0}}}),
        ),
    ]
}

fn opencode_export(reason: &str) -> Vec<Value> {
    let parts = json!([{"id": "p1", "type": "step-start"}, text_part(), step(reason)]);
    vec![json!({"info": {"id": "s", "version": "1.18.33"}, "messages": [
        {"info": {"id": "u", "role": "user", "time": {"created": 1}}, "parts": [{"id": "p0", "type": "text", "text": "Go."}]},
        {"info": {"id": "m", "role": "assistant", "modelID": "x", "finish": reason, "time": {"created": 1, "completed": 4}},
            "parts": parts}]})]
}

fn response(reason: Value, kind: &str, streamed: bool) -> Vec<Value> {
    let item = json!({"type": "message", "id": "m", "role": "assistant", "status": "incomplete",
        "content": [{"type": "output_text", "text": ANSWER, "annotations": []}]});
    let response = json!({"id": "r", "object": "response", "status": "incomplete", "incomplete_details": reason,
        "model": "x", "output": [item]});
    if !streamed {
        return vec![response];
    }
    let delta = json!({"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0, "delta": ANSWER});
    vec![
        json!({"type": "response.created", "response": {"id": "r", "object": "response", "status": "in_progress", "output": []}}),
        delta,
        json!({"type": kind, "response": response}),
    ]
}

fn limits() -> Vec<Case> {
    let because = |reason: &str| json!({"reason": reason});
    vec![
        (
            "claude, whole",
            "claude-code",
            claude(vec![claude_text(json!("max_tokens")), claude_result(false, "max_tokens")]),
        ),
        (
            "claude, error",
            "claude-code",
            claude(vec![
                claude_text(Value::Null),
                claude_error("max_output_tokens"),
                claude_result(true, "max_tokens"),
            ]),
        ),
        ("claude, transcript", "claude-code", transcript("max_tokens")),
        ("codex exec", "codex", codex_exec("max_output_tokens")),
        ("codex app-server", "codex", codex_server("max_output_tokens")),
        ("codex session file", "codex", codex_file("max_output_tokens")),
        (
            "opencode run",
            "opencode",
            opencode_run(vec![
                json!({"type": "step_finish", "timestamp": 4, "sessionID": "s", "part": step("length")}),
            ]),
        ),
        (
            "opencode run, error",
            "opencode",
            opencode_run(vec![json!({"type": "error", "timestamp": 4, "sessionID": "s",
            "error": {"name": "MessageOutputLengthError", "data": {}}})]),
        ),
        ("opencode feed", "opencode", opencode_feed(Some("length"), None)),
        ("opencode feed, error", "opencode", opencode_feed(None, Some("MessageOutputLengthError"))),
        ("opencode next", "opencode", opencode_next("length")),
        ("opencode export", "opencode", opencode_export("length")),
        ("responses", "open-responses", response(because("max_output_tokens"), "response.incomplete", true)),
        ("responses, completed", "open-responses", response(because("max_tokens"), "response.completed", true)),
        ("responses, whole", "open-responses", response(because("max_output_tokens"), "", false)),
    ]
}

fn filters() -> Vec<Case> {
    let because = |reason: &str| json!({"reason": reason});
    vec![
        ("claude, whole", "claude-code", claude(vec![claude_text(json!("refusal")), claude_result(false, "refusal")])),
        (
            "claude, error",
            "claude-code",
            claude(vec![claude_text(Value::Null), claude_error("invalid_request"), claude_result(true, "refusal")]),
        ),
        ("claude, transcript", "claude-code", transcript("refusal")),
        ("codex exec", "codex", codex_exec("content_filter")),
        ("codex app-server", "codex", codex_server("content_filter")),
        ("codex session file", "codex", codex_file("content_filter")),
        (
            "opencode run",
            "opencode",
            opencode_run(vec![
                json!({"type": "step_finish", "timestamp": 4, "sessionID": "s", "part": step("content-filter")}),
            ]),
        ),
        (
            "opencode run, error",
            "opencode",
            opencode_run(vec![json!({"type": "error", "timestamp": 4, "sessionID": "s",
            "error": {"name": "ContentFilterError", "data": {"message": "no"}}})]),
        ),
        ("opencode feed", "opencode", opencode_feed(Some("content-filter"), None)),
        ("opencode feed, error", "opencode", opencode_feed(None, Some("ContentFilterError"))),
        ("opencode next", "opencode", opencode_next("content-filter")),
        ("opencode export", "opencode", opencode_export("content-filter")),
        ("responses", "open-responses", response(because("content_filter"), "response.incomplete", true)),
        ("responses, whole", "open-responses", response(because("content_filter"), "", false)),
    ]
}

#[test]
fn a_length_limit_completes_a_run_with_its_code() {
    for (what, runner, records) in limits() {
        let expected = [("completed".to_owned(), "max_output_tokens".to_owned(), ANSWER.to_owned())];
        assert_eq!(ends(runner, &records), expected, "{what}");
        let message = super::frames(runner, &records, &["session_ended"])[0]["message"].clone();
        assert!(!message.as_str().unwrap().is_empty(), "{what}");
    }
}

#[test]
fn a_content_filter_fails_a_run_and_keeps_its_answer() {
    for (what, runner, records) in filters() {
        let expected = [("failed".to_owned(), "content_filter".to_owned(), ANSWER.to_owned())];
        assert_eq!(ends(runner, &records), expected, "{what}");
    }
}

#[test]
fn each_contract_reports_a_truncated_answer() {
    for (what, runner, records) in limits() {
        let sse = events_of(runner, "sse.v1", &records);
        let end = data(&sse, "type", "run_completed", "payload");
        assert_eq!(
            (&end[0]["final_text"], &end[0]["error_code"]),
            (&json!(ANSWER), &json!("max_output_tokens")),
            "{what}"
        );

        let manager = events_of(runner, "agent-manager.v1", &records);
        let messages = data(&manager, "eventType", "message", "data");
        assert_eq!(messages.iter().filter(|message| message["content"] == ANSWER).count(), 1, "{what}: {messages:#?}");
        let errors = data(&manager, "eventType", "error", "data");
        assert_eq!(
            errors.iter().map(|error| &error["code"]).collect::<Vec<_>>(),
            [&json!("max_output_tokens")],
            "{what}"
        );
        assert_eq!(data(&manager, "eventType", "status", "data").last().unwrap()["newStatus"], "complete", "{what}");

        let pixir = events_of(runner, "pixir.v1", &records);
        let status = data(&pixir, "type", "status", "data");
        let end = status.last().unwrap();
        assert_eq!((&end["status"], &end["error_kind"]), (&json!("done"), &json!("max_output_tokens")), "{what}");
        let answers = data(&pixir, "type", "assistant_message", "data");
        let last = answers.last().unwrap();
        assert_eq!(last["metadata"]["error_kind"], "max_output_tokens", "{what}: {answers:#?}");
        assert!(answers.iter().any(|answer| answer["text"] == ANSWER), "{what}");

        let hecate = events_of(runner, "hecate.v1", &records);
        let end = data(&hecate, "type", "run.finished", "data");
        assert_eq!(
            (&end[0]["final_status"], &end[0]["code"]),
            (&json!("completed"), &json!("max_output_tokens")),
            "{what}"
        );
        assert_eq!(data(&hecate, "type", "assistant.final_answer", "data")[0]["summary"], ANSWER, "{what}");
        assert!(data(&hecate, "type", "turn.failed", "data").is_empty(), "{what}: the turn is over, and not failed");
    }
}

#[test]
fn each_contract_reports_a_filtered_answer() {
    for (what, runner, records) in filters() {
        let sse = events_of(runner, "sse.v1", &records);
        assert_eq!(data(&sse, "type", "run_failed", "payload")[0]["error_code"], "content_filter", "{what}");
        let manager = events_of(runner, "agent-manager.v1", &records);
        let codes = data(&manager, "eventType", "error", "data");
        assert!(codes.iter().any(|error| error["code"] == "content_filter"), "{what}: {codes:#?}");
        assert_eq!(data(&manager, "eventType", "status", "data").last().unwrap()["newStatus"], "failed", "{what}");
        let pixir = events_of(runner, "pixir.v1", &records);
        let status = data(&pixir, "type", "status", "data");
        assert_eq!(status.last().unwrap()["error_kind"], "content_filter", "{what}");
        let hecate = events_of(runner, "hecate.v1", &records);
        assert_eq!(data(&hecate, "type", "run.failed", "data")[0]["code"], "content_filter", "{what}");
    }
}

#[test]
fn an_incomplete_response_completes_with_its_reason_as_code() {
    let ended = |reason: Value| ends("open-responses", &response(reason, "response.incomplete", true)).remove(0);
    let completed = |code: &str| ("completed".to_owned(), code.to_owned(), ANSWER.to_owned());
    assert_eq!(ended(Value::Null), completed("incomplete"));
    assert_eq!(ended(json!({"reason": "max_tool_calls"})), completed("max_tool_calls"));
    assert_eq!(ended(json!({"reason": "cancelled"})).0, "interrupted");
}

#[test]
fn an_interruption_delivers_the_last_whole_text() {
    let note = |method: &str, params: Value| json!({"method": method, "params": params, "emittedAtMs": 1});
    let cases: Vec<Case> = vec![
        (
            "claude",
            "claude-code",
            claude(vec![
                claude_text(Value::Null),
                json!({"type": "assistant", "session_id": "s", "aborted": true, "message": {"id": "n", "model": "x",
                "content": [{"type": "text", "text": "And then"}]}}),
                json!({"type": "result", "subtype": "error_during_execution", "is_error": true, "session_id": "s",
                "terminal_reason": "aborted_streaming", "errors": []}),
            ]),
        ),
        ("claude, killed", "claude-code", claude(vec![claude_text(Value::Null)])),
        ("codex exec, killed", "codex", codex_exec("x")[..3].to_vec()),
        (
            "codex app-server",
            "codex",
            vec![
                note(
                    "turn/started",
                    json!({"threadId": "t", "turn": {"id": "u", "items": [], "status": "inProgress"}}),
                ),
                note(
                    "item/completed",
                    json!({"threadId": "t", "turnId": "u", "item": {"type": "agentMessage", "id": "m", "text": ANSWER}}),
                ),
                note(
                    "item/agentMessage/delta",
                    json!({"threadId": "t", "turnId": "u", "itemId": "n", "delta": "And then"}),
                ),
                note(
                    "turn/completed",
                    json!({"threadId": "t", "turn": {"id": "u", "items": [], "status": "interrupted"}}),
                ),
            ],
        ),
        ("opencode run, killed", "opencode", opencode_run(Vec::new())),
        ("opencode feed", "opencode", opencode_feed(None, Some("MessageAbortedError"))),
        ("opencode next, cut", "opencode", opencode_next("x")[..4].to_vec()),
        ("responses", "open-responses", {
            let mut records = response(Value::Null, "response.completed", true);
            let done = json!({"type": "response.output_text.done", "item_id": "m", "output_index": 0, "content_index": 0, "text": ANSWER});
            records.insert(2, done);
            records[3]["response"]["status"] = json!("cancelled");
            records[3]["response"]["output"] = json!([]);
            records
        }),
    ];
    for (what, runner, records) in cases {
        let (reason, _, text) = ends(runner, &records).remove(0);
        assert_eq!((reason.as_str(), text.as_str()), ("interrupted", ANSWER), "{what}");
    }
}

/// The end of a run whose input ends after the host interrupted it.
fn interrupted_by_host(records: &[Value]) -> (String, String, String) {
    use framegate_translators::frame::Body;
    use framegate_translators::normalizer::RunEnd;
    let runner = framegate_translators::runners::runner("opencode").unwrap();
    let mut ingest = crate::support::ingest(runner, framegate_translators::framing::Limits::default());
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    let mut frames: Vec<_> = ingest.feed(lines.join("\n").as_bytes(), 1).collect();
    ingest.cut_by(RunEnd::interrupted("interrupted", "ada interrupted the run"));
    frames.extend(ingest.finish(2));
    let end = frames.iter().find_map(|frame| match &frame.body {
        Body::SessionEnded(end) => Some(end.clone()),
        _ => None,
    });
    let end = end.unwrap();
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    (end.reason.as_str().to_owned(), text(end.error_code.as_deref()), text(end.final_text.as_deref()))
}

#[test]
fn an_interrupted_opencode_run_ends_as_interrupted() {
    let interrupted = ("interrupted".to_owned(), "interrupted".to_owned(), ANSWER.to_owned());
    let error = |name: &str| json!({"type": "error", "timestamp": 4, "sessionID": "s", "error": {"name": name, "data": {"message": "x"}}});
    let finish = |reason: &str| json!({"type": "step_finish", "timestamp": 4, "sessionID": "s", "part": step(reason)});
    assert_eq!(interrupted_by_host(&opencode_run(Vec::new())), interrupted, "in the middle");
    assert_eq!(interrupted_by_host(&opencode_run(vec![error("UnknownError")])), interrupted, "an error on the way out");
    assert_eq!(interrupted_by_host(&opencode_run(vec![error("MessageAbortedError")])), interrupted);
    assert_eq!(interrupted_by_host(&opencode_run(vec![finish("tool-calls")])), interrupted, "between two steps");
    assert_eq!(interrupted_by_host(&opencode_run(vec![finish("stop")])).0, "completed", "it was done by then");
}
