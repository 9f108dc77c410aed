//! ACP agents that behave in unusual or hostile ways, with and without their client's lines.

mod approvals;
mod calls;
mod errors;
mod terminals;
mod texts;
mod usage;

use crate::support::frames;
use framegate_translators::frame::{Body, Decision, EndReason, FileChangeKind, Frame, StreamKind, ToolKind};
use framegate_translators::runners::runner;
use serde_json::{Value, json};

/// The frames of these messages.
fn told(messages: &[Value]) -> Vec<Frame> {
    let lines: String = messages.iter().map(|message| format!("{message}\n")).collect();
    frames(runner("acp").unwrap(), lines.as_bytes())
}

fn ask(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn answer(id: u64, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn stops(id: u64, reason: &str) -> Value {
    answer(id, &json!({"stopReason": reason}))
}

fn update(session: &str, update: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}})
}

fn says(session: &str, text: &str) -> Value {
    update(session, &json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}))
}

fn prompt(id: u64, session: &str) -> Value {
    ask(id, "session/prompt", &json!({"sessionId": session, "prompt": [{"type": "text", "text": "go"}]}))
}

/// A connection with the sessions S and T, without the client's lines.
fn alone(messages: &[Value]) -> Vec<Frame> {
    let mut all = vec![
        answer(0, &json!({"protocolVersion": 1})),
        answer(1, &json!({"sessionId": "S"})),
        answer(2, &json!({"sessionId": "T"})),
    ];
    all.extend_from_slice(messages);
    told(&all)
}

/// The same connection with the client's lines.
fn with_client(messages: &[Value]) -> Vec<Frame> {
    let mut all = vec![ask(0, "initialize", &json!({"protocolVersion": 1})), answer(0, &json!({"protocolVersion": 1}))];
    for (id, session) in [(1, "S"), (2, "T")] {
        all.push(ask(id, "session/new", &json!({"cwd": "/w", "mcpServers": []})));
        all.push(answer(id, &json!({"sessionId": session})));
    }
    all.extend_from_slice(messages);
    told(&all)
}

/// The runs: their texts and how they ended.
fn runs(frames: &[Frame]) -> Vec<(String, EndReason)> {
    let ends = frames.iter().filter_map(|frame| match &frame.body {
        Body::SessionEnded(end) => Some((frame.stream.id, end.reason)),
        _ => None,
    });
    let text = |id| -> String {
        let of_run = frames.iter().filter(|frame| frame.stream.id == id);
        of_run
            .filter_map(|frame| match &frame.body {
                Body::OutputTextDelta(delta) => Some(delta.delta.as_str()),
                _ => None,
            })
            .collect()
    };
    ends.map(|(id, reason)| (text(id), reason)).collect()
}

fn bodies<'f>(frames: &'f [Frame], kind: &str) -> Vec<&'f Body> {
    frames.iter().map(|frame| &frame.body).filter(|body| body.kind() == kind).collect()
}

fn done(text: &str) -> (String, EndReason) {
    (text.to_owned(), EndReason::Completed)
}

#[test]
fn an_answer_ends_the_turn_of_its_own_request() {
    // The second prompt is answered first, after the first session has worked.
    let messages =
        [says("S", "a"), says("T", "b"), says("S", "a"), stops(4, "end_turn"), says("S", "a"), stops(3, "cancelled")];
    let expected = [done("b"), ("aaa".to_owned(), EndReason::Interrupted)];
    assert_eq!(runs(&alone(&messages)), expected, "known from the gaps in the ids");
    let [a, b, c, first, d, second] = messages;
    assert_eq!(runs(&with_client(&[prompt(3, "S"), a, prompt(4, "T"), b, c, first, d, second])), expected);
}

#[test]
fn an_answer_to_no_request_ends_nothing() {
    let frames = with_client(&[
        prompt(3, "S"),
        says("S", "a"),
        stops(77, "end_turn"),
        answer(0, &json!({"sessionId": "X"})),
        json!({"jsonrpc": "2.0", "id": "3", "result": {"stopReason": "end_turn"}}),
        json!({"jsonrpc": "2.0", "id": 99, "error": {"code": -32603, "message": "no"}}),
        says("S", "b"),
        stops(3, "end_turn"),
        stops(3, "refusal"),
    ]);
    assert_eq!(runs(&frames), [done("ab")]);
    let frames = alone(&[
        says("S", "a"),
        json!({"jsonrpc": "2.0", "id": "x", "result": {"stopReason": "end_turn"}}),
        says("S", "b"),
        stops(3, "end_turn"),
        stops(3, "end_turn"),
    ]);
    assert_eq!(runs(&frames), [done("ab")], "a second answer is no second run");
}

#[test]
fn equal_ids_of_both_sides_are_told_apart() {
    let question = json!({"sessionId": "S", "toolCall": {"toolCallId": "c", "title": "t", "rawInput": {"a": 1}},
        "options": [{"optionId": "o", "name": "o", "kind": "allow_always"}]});
    let frames = with_client(&[
        prompt(3, "S"),
        ask(3, "session/request_permission", &question),
        answer(3, &json!({"outcome": {"outcome": "selected", "optionId": "o"}})),
        says("S", "a"),
        stops(3, "end_turn"),
    ]);
    assert_eq!(runs(&frames), [done("a")]);
    let [Body::ApprovalResolved(resolved)] = bodies(&frames, "approval_resolved")[..] else { panic!() };
    assert_eq!((resolved.decision, resolved.scope.as_deref()), (Decision::Approved, Some("always")));
}

#[test]
fn an_option_that_was_not_offered_is_no_approval() {
    for options in [json!([]), json!([{"optionId": "o", "name": "o", "kind": "allow_always_and_more"}])] {
        let question = json!({"sessionId": "S", "toolCall": {"toolCallId": "c"}, "options": options});
        let frames = with_client(&[
            prompt(3, "S"),
            ask(0, "session/request_permission", &question),
            answer(0, &json!({"outcome": {"outcome": "selected", "optionId": "o"}})),
            stops(3, "end_turn"),
        ]);
        let [Body::ApprovalResolved(resolved)] = bodies(&frames, "approval_resolved")[..] else { panic!() };
        assert_eq!(resolved.decision, Decision::Cancelled);
    }
}

#[test]
fn what_becomes_of_a_tool_answers_its_question() {
    let question = |id: u64| {
        ask(
            id,
            "session/request_permission",
            &json!({"sessionId": "S", "toolCall": {"toolCallId": "c", "kind": "execute"}, "options": []}),
        )
    };
    let ends = |fields: Value| {
        let mut fields = fields;
        fields["sessionUpdate"] = json!("tool_call_update");
        fields["toolCallId"] = json!("c");
        update("S", &fields)
    };
    for (fields, decision) in [
        (json!({"status": "completed"}), Decision::Approved),
        (json!({"status": "failed", "_meta": {"terminal_exit": {"exit_code": 3}}}), Decision::Approved),
        (json!({"status": "failed", "rawOutput": "User refused permission"}), Decision::Rejected),
        (json!({"status": "failed", "rawOutput": "it broke"}), Decision::Cancelled),
    ] {
        let frames = alone(&[question(0), ends(fields), stops(3, "end_turn")]);
        let [Body::ApprovalResolved(resolved)] = bodies(&frames, "approval_resolved")[..] else { panic!() };
        assert_eq!(resolved.decision, decision);
    }
}

#[test]
fn the_claimed_version_does_not_count() {
    let state = |state: &str, reason: Option<&str>| {
        update("S", &json!({"sessionUpdate": "state_update", "state": state, "stopReason": reason}))
    };
    // Version 1, and the states of version 2, with an answer of version 1 behind them.
    let messages = [state("running", None), says("S", "a"), state("idle", Some("end_turn")), stops(3, "end_turn")];
    assert_eq!(runs(&alone(&messages)), [done("a")]);
    let with: Vec<Value> = std::iter::once(prompt(3, "S")).chain(messages).collect();
    assert_eq!(runs(&with_client(&with)), [done("a")]);
    // Version 2, and the answers of version 1.
    let frames = told(&[
        answer(0, &json!({"protocolVersion": 2})),
        answer(1, &json!({"sessionId": "S"})),
        says("S", "a"),
        stops(2, "end_turn"),
    ]);
    assert_eq!(runs(&frames), [done("a")]);
    // The answer of version 2 only takes the prompt.
    let frames = with_client(&[
        prompt(3, "S"),
        answer(3, &json!({"messageId": "m"})),
        says("S", "a"),
        state("idle", Some("cancelled")),
    ]);
    assert_eq!(runs(&frames), [("a".to_owned(), EndReason::Interrupted)]);
}

#[test]
fn a_prompt_that_waits_has_its_own_run() {
    let frames = with_client(&[
        prompt(3, "S"),
        says("S", "a"),
        prompt(4, "S"),
        says("S", "b"),
        stops(3, "cancelled"),
        says("S", "c"),
        stops(4, "end_turn"),
    ]);
    assert_eq!(runs(&frames), [("ab".to_owned(), EndReason::Interrupted), done("c")]);
    // The second one is refused while the first one runs.
    let refused = json!({"jsonrpc": "2.0", "id": 4, "error": {"code": -32600, "message": "busy"}});
    let frames = with_client(&[
        prompt(3, "S"),
        says("S", "a"),
        prompt(4, "S"),
        refused.clone(),
        says("S", "b"),
        stops(3, "end_turn"),
    ]);
    assert_eq!(runs(&frames), [(String::new(), EndReason::Failed), done("ab")]);
    assert_eq!(runs(&alone(&[says("S", "a"), refused, says("S", "b"), stops(3, "end_turn")])), [done("ab")]);
}

#[test]
fn an_error_that_answers_the_prompt_fails_the_run() {
    let failed = json!({"jsonrpc": "2.0", "id": 3, "error": {"code": 429, "message": "slow down", "data": {"details": "later"}}});
    for frames in [
        alone(&[says("S", "a"), failed.clone()]),
        with_client(&[prompt(3, "S"), says("S", "a"), failed.clone()]),
        alone(&[failed]),
    ] {
        let [Body::ErrorReported(error)] = bodies(&frames, "error_reported")[..] else { panic!() };
        assert_eq!((error.message.as_str(), error.http_status), ("slow down: later", Some(429)));
        assert_eq!((&*error.code, error.retryable), ("rate_limit", true));
        assert_eq!(runs(&frames)[0].1, EndReason::Failed);
    }
}

#[test]
fn an_agent_that_exits_in_the_middle_leaves_nothing_open() {
    let call =
        update("S", &json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "rawInput": {"a": 1}}));
    let question = ask(
        0,
        "session/request_permission",
        &json!({"sessionId": "S", "toolCall": {"toolCallId": "c"}, "options": []}),
    );
    let frames = with_client(&[prompt(3, "S"), says("S", "half"), call, question]);
    assert_eq!(runs(&frames), [("half".to_owned(), EndReason::Interrupted)]);
    for (opens, closes) in [
        ("tool_started", "tool_failed"),
        ("approval_requested", "approval_resolved"),
        ("output_text_delta", "output_text_completed"),
    ] {
        assert_eq!((bodies(&frames, opens).len(), bodies(&frames, closes).len()), (1, 1), "{closes}");
    }
}

#[test]
fn the_arguments_are_those_at_the_start_of_the_work() {
    let call = |fields: &Value| {
        let mut fields = fields.clone();
        fields["sessionUpdate"] = json!("tool_call_update");
        fields["toolCallId"] = json!("c");
        update("S", &fields)
    };
    let text = |text: &str| json!([{"type": "content", "content": {"type": "text", "text": text}}]);
    let args = |frames: &[Frame]| match bodies(frames, "tool_started")[..] {
        [Body::ToolStarted { call, .. }] => (call.args.get().to_owned(), call.kind),
        _ => panic!("one call"),
    };
    // They grow while the model writes them; then an update says something else.
    let growing = [
        call(&json!({"kind": "execute", "rawInput": {}})),
        call(&json!({"rawInput": {"command": "l"}})),
        call(&json!({"rawInput": {"command": "ls"}})),
        says("S", "x"),
        call(&json!({"status": "completed"})),
    ];
    assert_eq!(args(&alone(&growing)), (r#"{"command":"ls"}"#.to_owned(), ToolKind::Shell));
    // They are shown as content, and a question comes before `rawInput`.
    let question = ask(
        0,
        "session/request_permission",
        &json!({"sessionId": "S", "toolCall": {"toolCallId": "c"}, "options": []}),
    );
    let shown = [
        call(&json!({"status": "pending", "content": text("")})),
        call(&json!({"status": "in_progress", "content": text("{\"command\": ")})),
        call(&json!({"status": "in_progress", "content": text("{\"command\": \"ls\"}")})),
        question,
        call(&json!({"status": "completed", "content": text("out")})),
    ];
    let frames = alone(&shown);
    assert_eq!(args(&frames).0, r#"{"command": "ls"}"#);
    let [Body::ToolStdout { chunk, .. }] = bodies(&frames, "tool_stdout")[..] else {
        panic!("only the output is output")
    };
    assert_eq!(chunk, "out");
}

#[test]
fn output_that_is_replaced_is_told_once() {
    let call = |status: &str, text: &str| {
        update(
            "S",
            &json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": status, "rawInput": {"a": 1},
            "content": [{"type": "content", "content": {"type": "text", "text": text}}]}),
        )
    };
    let output = |frames: &[Frame]| -> String {
        bodies(frames, "tool_stdout")
            .iter()
            .map(|body| match body {
                Body::ToolStdout { chunk, .. } => chunk.as_str(),
                _ => "",
            })
            .collect()
    };
    let grows = [call("in_progress", "1\n"), call("in_progress", "1\n2\n"), call("completed", "2")];
    assert_eq!(output(&alone(&grows)), "1\n2\n");
    let shrinks = [
        call("in_progress", "working"),
        call("in_progress", "still"),
        call("completed", "result"),
        call("completed", "again"),
    ];
    assert_eq!(output(&alone(&shrinks)), "working\nresult");
}

#[test]
fn nothing_is_told_of_a_history() {
    let user = update(
        "U",
        &json!({"sessionUpdate": "user_message_chunk", "messageId": "u", "content": {"type": "text", "text": "old"}}),
    );
    let frames =
        alone(&[user.clone(), says("U", "old"), answer(3, &json!({})), says("U", "new"), stops(4, "end_turn")]);
    assert_eq!(runs(&frames), [done("new")]);
    let load = ask(3, "session/load", &json!({"sessionId": "U", "cwd": "/w", "mcpServers": []}));
    let frames = with_client(&[
        load,
        user,
        says("U", "old"),
        answer(3, &json!(null)),
        says("U", "older"),
        prompt(4, "U"),
        says("U", "new"),
        stops(4, "end_turn"),
    ]);
    assert_eq!(runs(&frames), [done("new")]);
    assert!(
        !bodies(&frames, "output_text_delta")
            .iter()
            .any(|body| matches!(body, Body::OutputTextDelta(delta) if delta.delta.starts_with("old")))
    );
}

#[test]
fn floods_are_bounded_and_closed() {
    let mut messages = vec![prompt(3, "S")];
    for nth in 0..12_000_u64 {
        messages.push(ask(nth, "terminal/create", &json!({"sessionId": "S", "command": "x"})));
        messages.push(update("S", &json!({"sessionUpdate": "tool_call", "toolCallId": format!("c{nth}"), "title": "t", "status": "in_progress",
            "content": [{"type": "terminal", "terminalId": format!("t{nth}")}]})));
        messages
            .push(update(&format!("session-{nth}"), &json!({"sessionUpdate": "usage_update", "used": 1, "size": 2})));
        messages.push(update("S", &json!({"sessionUpdate": "agent_message_chunk", "messageId": format!("m{nth}"), "content": {"type": "text", "text": "x"}})));
    }
    messages.push(stops(3, "end_turn"));
    let frames = with_client(&messages);
    let count = |kind: &str| bodies(&frames, kind).len();
    assert_eq!((count("tool_started"), count("tool_failed") + count("tool_ended")), (12_000, 12_000));
    assert_eq!(count("output_text_completed"), 12_000);
    assert_eq!(count("session_ended"), 1);
}

#[test]
fn output_that_cannot_be_decoded_is_reported() {
    let chunk = |data: Value| {
        let fields = json!({"sessionUpdate": "terminal_output_chunk", "terminalId": "x", "data": data});
        let frames = with_client(&[prompt(5, "S"), update("S", &fields), stops(5, "end_turn")]);
        let records = frames.iter().filter_map(|frame| match &frame.body {
            Body::ProviderEvent(record) => Some(record.errors.join("; ")),
            _ => None,
        });
        records.collect::<String>()
    };
    for wrong in [json!("a b"), json!("a"), json!(1), json!({})] {
        assert_eq!(chunk(wrong.clone()), "the output of a terminal is not base64", "{wrong}");
    }
    for right in [json!("aGk="), json!("aGk"), json!("-_8"), json!(""), Value::Null] {
        assert_eq!(chunk(right.clone()), "", "{right}");
    }
}

#[test]
fn fields_of_a_wrong_type_are_tolerated() {
    let kinds = [
        "tool_call",
        "tool_call_update",
        "plan",
        "agent_message",
        "user_message",
        "terminal_update",
        "state_update",
        "usage_update",
        "notice",
        "compaction_update",
        "plan_update",
        "tool_call_content_chunk",
    ];
    let values = [json!(null), json!(7), json!("x"), json!([]), json!([7]), json!({}), json!(true)];
    let mut messages = vec![says("S", "a")];
    for kind in kinds {
        for value in &values {
            for key in [
                "toolCallId",
                "content",
                "rawInput",
                "rawOutput",
                "status",
                "entries",
                "plan",
                "state",
                "cost",
                "_meta",
                "messageId",
                "terminalId",
                "locations",
            ] {
                let mut fields = json!({"sessionUpdate": kind, "toolCallId": "c", "messageId": "m"});
                fields[key] = value.clone();
                messages.push(update("S", &fields));
            }
        }
    }
    messages.push(stops(3, "end_turn"));
    let frames = alone(&messages);
    let records = frames.iter().filter(|frame| matches!(frame.body, Body::ProviderEvent(_))).count();
    assert_eq!(records, messages.len() + 3, "every record is kept");
    assert_eq!(runs(&frames).last().map(|run| run.1), Some(EndReason::Completed));
    assert!(frames.iter().any(|frame| frame.stream.kind == StreamKind::Session));
}
