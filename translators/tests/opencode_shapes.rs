//! OpenCode's behaviour that no recording shows: small hand-written records, and what is told of them.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use framegate_translators::frame::{Body, Frame, StreamKind};
use framegate_translators::runners::runner;
use serde_json::{Value, json};
use support::frames;

/// What the records tell, one line for each frame that is no record; what a child session says is indented.
fn told(records: &[Value]) -> Vec<String> {
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    tell(&lines)
}

fn tell(input: &str) -> Vec<String> {
    frames(runner("opencode").unwrap(), input.as_bytes()).iter().filter_map(line).collect()
}

fn line(frame: &Frame) -> Option<String> {
    let words = match &frame.body {
        Body::ProviderEvent(event) if event.errors.is_empty() => return None,
        Body::ProviderEvent(event) => format!("fault {}", event.errors.join("; ")),
        Body::SessionStarted { input } => format!("run {input:?}"),
        Body::SessionEnded(end) => {
            let code = end.error_code.as_deref().unwrap_or("-");
            format!("end {} {code} {:?}", end.reason.as_str(), end.final_text.as_deref().unwrap_or_default())
        }
        Body::UserMessage(message) => format!("user {:?}", message.text),
        Body::TurnStarted { .. } => "turn".to_owned(),
        Body::TurnEnded { stop_reason, .. } => format!("turn ended {}", stop_reason.as_deref().unwrap_or("-")),
        Body::OutputTextDelta(delta) => format!("delta {:?}", delta.delta),
        Body::OutputTextCompleted(block) => format!("text {:?}", block.text),
        Body::ReasoningCompleted { block, opaque } => {
            format!("reasoning {:?} {}", block.text, opaque.as_ref().map_or("-", |opaque| opaque.get()))
        }
        Body::ToolCallProposed(call) => format!("proposed {}", call.tool.call_id),
        Body::ToolStarted { call, .. } => {
            format!("started {} {} {} {}", call.tool.call_id, call.name, call.kind.as_str(), call.args)
        }
        Body::ToolStdout { chunk, .. } => format!("out {chunk:?}"),
        Body::ToolStderr { chunk, .. } => format!("err {chunk:?}"),
        Body::ToolEnded { tool, exit_code, .. } => format!("ended {} {exit_code}", tool.call_id),
        Body::ToolFailed { tool, error } => format!("failed {} {error:?}", tool.call_id),
        Body::FileChanged(change) => format!("file {} {}", change.kind.as_str(), change.path),
        Body::UsageReported(usage) => format!("usage {} {}", usage.input_tokens, usage.output_tokens),
        Body::ApprovalRequested(request) => format!("asked {} {}", request.approval_id, request.tool_name),
        Body::ApprovalResolved(answer) => format!("answered {} {}", answer.approval_id, answer.decision.as_str()),
        Body::ErrorReported(error) => format!("error {} {:?}", error.code, error.message),
        Body::SubagentStarted { subagent_id, tool_id, .. } => {
            format!("subagent {subagent_id} {}", if tool_id.is_some() { "of a call" } else { "of no call" })
        }
        Body::SubagentEnded { status, summary, .. } => {
            format!("subagent {status} {:?}", summary.as_deref().unwrap_or_default())
        }
        Body::HistoryCompacted { trigger, summary, .. } => {
            format!("compacted {} {:?}", trigger.as_deref().unwrap_or("-"), summary.as_deref().unwrap_or_default())
        }
        other => other.kind().to_owned(),
    };
    let place = match (frame.stream.kind, frame.is_subagent()) {
        (StreamKind::Thread, _) => "thread: ",
        (_, true) => "  ",
        _ => "",
    };
    Some(format!("{place}{words}"))
}

fn event(kind: &str, properties: Value) -> Value {
    json!({"id": "evt", "type": kind, "properties": properties})
}

fn message(session: &str, id: &str, more: Value) -> Value {
    let mut info = json!({"id": id, "sessionID": session, "role": "assistant", "modelID": "m", "time": {"created": 1}});
    info.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event("message.updated", json!({"sessionID": session, "info": info}))
}

fn completed(session: &str, id: &str) -> Value {
    message(session, id, json!({"finish": "stop", "time": {"created": 1, "completed": 2}}))
}

fn part(session: &str, message: &str, id: &str, more: Value) -> Value {
    let mut part = json!({"id": id, "sessionID": session, "messageID": message});
    part.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    event("message.part.updated", json!({"sessionID": session, "part": part}))
}

fn asks(session: &str, id: &str, text: &str) -> Vec<Value> {
    let info = json!({"id": id, "sessionID": session, "role": "user", "time": {"created": 1}});
    vec![
        event("message.updated", json!({"sessionID": session, "info": info})),
        part(session, id, &format!("{id}-p"), json!({"type": "text", "text": text})),
    ]
}

fn status(session: &str, kind: &str) -> Value {
    event("session.status", json!({"sessionID": session, "status": {"type": kind}}))
}

fn idle(session: &str) -> Vec<Value> {
    vec![status(session, "idle"), event("session.idle", json!({"sessionID": session}))]
}

fn error(session: &str, name: &str, text: &str) -> Value {
    event("session.error", json!({"sessionID": session, "error": {"name": name, "data": {"message": text}}}))
}

fn says(session: &str, message: &str, id: &str, text: &str) -> Value {
    part(session, message, id, json!({"type": "text", "text": text, "time": {"start": 1, "end": 2}}))
}

fn tool(session: &str, message: &str, id: &str, call: &str, name: &str, state: Value) -> Value {
    part(session, message, id, json!({"type": "tool", "tool": name, "callID": call, "state": state}))
}

fn running(input: Value) -> Value {
    json!({"status": "running", "input": input, "time": {"start": 1}})
}

fn done(input: Value, output: &str, metadata: Value) -> Value {
    json!({"status": "completed", "input": input, "output": output, "title": "", "metadata": metadata, "time": {"start": 1, "end": 2}})
}

fn broken(text: &str) -> Value {
    json!({"status": "error", "input": {"a": 1}, "error": text, "time": {"start": 1, "end": 2}})
}

fn list(parts: impl IntoIterator<Item = Vec<Value>>) -> Vec<Value> {
    parts.into_iter().flatten().collect()
}

#[test]
fn a_full_context_is_not_the_end() {
    let records = list([
        asks("s", "u", "Go"),
        vec![
            status("s", "busy"),
            message("s", "a1", json!({})),
            error("s", "ContextOverflowError", "too long"),
            message(
                "s",
                "a1",
                json!({"time": {"created": 1, "completed": 2}, "error": {"name": "ContextOverflowError", "data": {"message": "too long"}}}),
            ),
            part("s", "u2", "c", json!({"type": "compaction", "auto": true, "overflow": true})),
            message("s", "a2", json!({"summary": true})),
            says("s", "a2", "t2", "The summary."),
            message("s", "a2", json!({"summary": true, "time": {"created": 1, "completed": 2}})),
            event("session.compacted", json!({"sessionID": "s"})),
            message("s", "a3", json!({})),
            says("s", "a3", "t3", "The answer."),
            completed("s", "a3"),
        ],
        idle("s"),
    ]);
    assert_eq!(
        told(&records),
        [
            "run \"Go\"",
            "user \"Go\"",
            "error context_overflow \"too long\"",
            "compacted auto \"The summary.\"",
            "delta \"The answer.\"",
            "text \"The answer.\"",
            "end completed - \"The answer.\""
        ]
    );
}

#[test]
fn the_last_words_of_a_failed_run_come_before_its_end() {
    let failed = json!({"time": {"created": 1, "completed": 2}, "error": {"name": "UnknownError", "data": {"message": "{\"message\":\"boom\"}"}}});
    let records = list([
        asks("s", "u", "Go"),
        vec![
            status("s", "busy"),
            message("s", "a", json!({})),
            part("s", "a", "t", json!({"type": "text", "text": "", "time": {"start": 1}})),
            event(
                "message.part.delta",
                json!({"sessionID": "s", "messageID": "a", "partID": "t", "field": "text", "delta": "Half"}),
            ),
            error("s", "UnknownError", "{\"message\":\"boom\"}"),
        ],
        idle("s"),
        vec![says("s", "a", "t", "Half an answer"), message("s", "a", failed)],
        idle("s"),
    ]);
    assert_eq!(
        told(&records)[2..],
        [
            "delta \"Half\"",
            "error execution_error \"boom\"",
            "delta \" an answer\"",
            "text \"Half an answer\"",
            "end failed execution_error \"\""
        ]
    );
}

#[test]
fn a_run_that_waits_for_its_last_words_ends_without_them() {
    let begun = || {
        list([
            asks("s", "u", "Go"),
            vec![status("s", "busy"), message("s", "a", json!({})), error("s", "MessageAbortedError", "Aborted")],
            idle("s"),
        ])
    };
    let end = "end interrupted aborted \"\"";
    assert_eq!(told(&begun()).last().unwrap(), end, "the input ends");
    assert_eq!(told(&list([begun(), idle("s")])).last().unwrap(), end, "idle is said twice");
    let next = told(&list([begun(), asks("s", "u2", "Again"), vec![status("s", "busy")]]));
    assert_eq!(next[2..], [end, "run \"Again\"", "user \"Again\"", "end interrupted stream_ended \"\""]);
}

#[test]
fn an_abort_closes_what_waits_for_an_answer() {
    let asked = json!({"id": "per", "sessionID": "s", "permission": "bash", "patterns": ["x"], "metadata": {"command": "x"}, "tool": {"messageID": "a", "callID": "c"}});
    let records = list([
        asks("s", "u", "Go"),
        vec![
            status("s", "busy"),
            message("s", "a", json!({})),
            tool("s", "a", "p", "c", "bash", running(json!({"command": "x"}))),
            event("permission.asked", asked),
            error("s", "MessageAbortedError", "Aborted"),
        ],
        idle("s"),
        vec![
            tool("s", "a", "p", "c", "bash", broken("Tool execution aborted")),
            message(
                "s",
                "a",
                json!({"time": {"created": 1, "completed": 2}, "error": {"name": "MessageAbortedError", "data": {}}}),
            ),
        ],
    ]);
    assert_eq!(
        told(&records)[2..],
        [
            "started c bash shell {\"command\":\"x\"}",
            "asked per bash",
            "failed c \"Tool execution aborted\"",
            "answered per cancelled",
            "end interrupted aborted \"\""
        ]
    );
}

#[test]
fn a_listener_that_comes_late_gets_the_whole_text() {
    let delta = json!({"sessionID": "s", "messageID": "a", "partID": "t", "field": "text", "delta": "end."});
    let records = list([
        vec![
            event("message.part.delta", delta),
            says("s", "a", "t", "From the beginning to the end."),
            completed("s", "a"),
            message("s", "old", json!({"role": "user", "summary": {"diffs": []}})),
        ],
        idle("s"),
        vec![says("s", "a", "t", "From the beginning to the end."), completed("s", "a")],
    ]);
    assert_eq!(
        told(&records),
        [
            "run \"\"",
            "delta \"From the beginning to the end.\"",
            "text \"From the beginning to the end.\"",
            "end completed - \"From the beginning to the end.\""
        ]
    );
}

#[test]
fn a_message_that_nobody_answers_opens_no_run() {
    assert_eq!(told(&asks("s", "u", "Only so that you know")), ["thread: user \"Only so that you know\""]);
    let records = list([asks("s", "u", "Context"), asks("s", "u2", "Go"), vec![status("s", "busy")]]);
    assert_eq!(
        told(&records),
        ["thread: user \"Context\"", "run \"Go\"", "user \"Go\"", "end interrupted stream_ended \"\""]
    );
}

#[test]
fn a_queued_prompt_is_told_with_its_parts() {
    let second = asks("s", "u2", "Second");
    let records = list([
        asks("s", "u", "First"),
        vec![status("s", "busy"), message("s", "a", json!({})), second[0].clone(), says("s", "a", "t", "One.")],
        vec![second[1].clone(), completed("s", "a"), message("s", "a2", json!({})), says("s", "a2", "t2", "Two.")],
        vec![completed("s", "a2")],
        idle("s"),
    ]);
    assert_eq!(
        told(&records),
        [
            "run \"First\"",
            "user \"First\"",
            "delta \"One.\"",
            "text \"One.\"",
            "user \"Second\"",
            "delta \"Two.\"",
            "text \"Two.\"",
            "end completed - \"Two.\""
        ]
    );
}

#[test]
fn an_error_is_told_once_and_another_one_too() {
    let records = list([
        asks("s", "u", "Go"),
        vec![
            status("s", "busy"),
            error("s", "ContextOverflowError", "full"),
            error("s", "ContextOverflowError", "full"),
            error("s", "UnknownError", "boom"),
        ],
        idle("s"),
    ]);
    assert_eq!(
        told(&records)[2..],
        ["error context_overflow \"full\"", "error execution_error \"boom\"", "end failed execution_error \"\""]
    );
}

#[test]
fn a_prompt_that_fails_at_once_is_a_failed_run() {
    let records = list([asks("s", "u", "Go"), vec![error("s", "ProviderAuthError", "no key")], idle("s")]);
    assert_eq!(
        told(&records),
        [
            "run \"Go\"",
            "user \"Go\"",
            "error authentication_failed \"no key\"",
            "end failed authentication_failed \"\""
        ]
    );
}

#[test]
fn errors_and_events_of_no_session_are_the_servers() {
    let error =
        event("session.error", json!({"error": {"name": "APIError", "data": {"message": "down", "statusCode": 503}}}));
    assert_eq!(told(&[error]), ["thread: error overloaded \"down\""]);
    assert_eq!(told(&[event("brand.new", json!({}))]), ["thread: fault unknown event type \"brand.new\""]);
    assert_eq!(told(&[event("pty.created", json!({}))]), Vec::<String>::new());
}

#[test]
fn a_call_id_that_comes_again_is_another_call() {
    let step = |message: &str, part_id: &str, output: &str| {
        vec![
            part("s", message, &format!("{part_id}-s"), json!({"type": "step-start"})),
            tool("s", message, part_id, "call_0", "read", running(json!({"filePath": "f"}))),
            tool("s", message, part_id, "call_0", "read", done(json!({"filePath": "f"}), output, json!({}))),
            tool("s", message, part_id, "call_0", "read", done(json!({"filePath": "f"}), output, json!({}))),
        ]
    };
    let told = told(&list([step("a1", "p1", "one"), step("a2", "p2", "two")]));
    let calls: Vec<&String> =
        told.iter().filter(|line| !line.starts_with("turn") && !line.starts_with("run")).collect();
    assert_eq!(
        calls[..8],
        [
            "proposed call_0",
            "started call_0 read read {\"filePath\":\"f\"}",
            "out \"one\"",
            "ended call_0 0",
            "proposed p2",
            "started p2 read read {\"filePath\":\"f\"}",
            "out \"two\"",
            "ended p2 0"
        ]
    );
}

#[test]
fn an_error_is_a_failure_of_the_tool_or_of_the_call() {
    let of = |text: &str| {
        let told = told(&[tool("s", "a", "p", "c", "demo_add", broken(text))]);
        told[2..told.len() - 1].to_vec()
    };
    assert_eq!(of("division by zero"), ["err \"division by zero\"", "ended c 1"]);
    for words in [
        "The user rejected permission to use this specific tool call.",
        "The user rejected permission to use this specific tool call with the following feedback: no",
        "The user has specified a rule which prevents you from using this specific tool call.",
        "The user dismissed this question",
        "The demo_add tool was called with invalid arguments: x",
        "Tool execution aborted",
    ] {
        assert_eq!(of(words), [format!("failed c {words:?}")]);
    }
    let no_such_tool = tool("s", "a", "p", "c", "invalid", done(json!({"tool": "x"}), "no such tool", json!({})));
    assert_eq!(told(&[no_such_tool])[2], "failed c \"no such tool\"");
}

#[test]
fn a_refused_call_never_ran_whatever_its_words() {
    let asked = json!({"id": "que", "sessionID": "s", "questions": [{"question": "Which?"}], "tool": {"messageID": "a", "callID": "c"}});
    let records = [
        message("s", "a", json!({})),
        event("question.asked", asked),
        tool("s", "a", "p", "c", "question", running(json!({"questions": []}))),
        event("question.rejected", json!({"sessionID": "s", "requestID": "que"})),
        tool("s", "a", "p", "c", "question", broken("new words")),
    ];
    assert_eq!(
        told(&records)[1..5],
        [
            "asked que question",
            "started c question other {\"questions\":[]}",
            "answered que rejected",
            "failed c \"new words\""
        ]
    );
}

#[test]
fn a_step_whose_beginning_was_missed_is_a_turn() {
    let finish = json!({"type": "step-finish", "reason": "stop", "cost": 0, "tokens": {"total": 3, "input": 1, "output": 2, "reasoning": 0, "cache": {"read": 0, "write": 0}}});
    assert_eq!(told(&[part("s", "a", "f", finish)])[1..4], ["turn", "usage 1 2", "turn ended stop"]);
}

#[test]
fn a_patch_tells_each_file() {
    let files = json!({"files": [
        {"filePath": "/w/a", "relativePath": "a", "type": "add", "patch": "+a"},
        {"filePath": "/w/b", "type": "update", "patch": "+b"},
        {"filePath": "/w/c", "type": "delete", "patch": "-c"}]});
    let record = tool("s", "a", "p", "c", "apply_patch", done(json!({"patchText": "x"}), "ok", files));
    let told = told(&[record]);
    assert_eq!(told[1], "started c apply_patch edit {\"patchText\":\"x\"}");
    assert_eq!(told[3..6], ["file add /w/a", "file modify /w/b", "file delete /w/c"]);
}

#[test]
fn a_command_of_the_users_is_no_proposal() {
    let records = [
        message("s", "a", json!({})),
        tool("s", "a", "p", "x1", "bash", running(json!({"command": "ls"}))),
        tool("s", "a", "p", "x1", "bash", done(json!({"command": "ls"}), "f\n", json!({"output": "f\n"}))),
    ];
    assert_eq!(told(&records)[1..4], ["started x1 bash shell {\"command\":\"ls\"}", "out \"f\\n\"", "ended x1 0"]);
}

#[test]
fn a_child_never_speaks_on_the_main_thread() {
    let child = |id: &str| event("session.created", json!({"sessionID": id, "info": {"id": id, "parentID": "s"}}));
    let pending = |id: &str| tool("s", "a", id, id, "task", json!({"status": "pending", "input": {}, "raw": ""}));
    let asked = json!({"id": "per", "sessionID": "k1", "permission": "bash", "patterns": [], "metadata": {}});
    let records = list([
        asks("s", "u", "Go"),
        vec![status("s", "busy"), message("s", "a", json!({})), pending("t1"), pending("t2"), child("k1")],
        // Two calls wait, and nobody knows yet for which of them the child works.
        vec![status("k1", "busy"), message("k1", "k-a", json!({})), says("k1", "k-a", "k-t", "Child.")],
        vec![event("permission.asked", asked), completed("k1", "k-a")],
        idle("k1"),
        vec![completed("s", "a")],
        idle("s"),
    ]);
    assert_eq!(
        told(&records)[2..],
        [
            "subagent k1 of no call",
            "  delta \"Child.\"",
            "  text \"Child.\"",
            "  asked per bash",
            "subagent completed \"\"",
            "  answered per cancelled",
            "end completed - \"\""
        ]
    );
}

#[test]
fn a_child_that_is_called_again_is_begun_again() {
    let call = |id: &str, state: fn(Value, Value) -> Value| {
        tool(
            "s",
            "a",
            id,
            id,
            "task",
            state(
                json!({"prompt": "Do", "subagent_type": "general"}),
                json!({"sessionId": "k", "parentSessionId": "s"}),
            ),
        )
    };
    let begin = |input: Value, metadata: Value| json!({"status": "running", "input": input, "metadata": metadata, "time": {"start": 1}});
    let end = |input: Value, metadata: Value| {
        done(input, "<task id=\"k\">\n<task_result>\nReport.\n</task_result>\n</task>", metadata)
    };
    let records = list([
        vec![message("s", "a", json!({})), call("t1", begin), status("k", "busy"), says("k", "k1", "k1-t", "One.")],
        vec![completed("k", "k1")],
        idle("k"),
        vec![
            call("t1", end),
            call("t2", begin),
            status("k", "busy"),
            says("k", "k2", "k2-t", "Two."),
            completed("k", "k2"),
        ],
        idle("k"),
        vec![call("t2", end)],
    ]);
    let told = told(&records);
    let subagent: Vec<&String> = told
        .iter()
        .filter(|line| line.contains("subagent k") || line.contains("subagent completed") || line.contains("text"))
        .collect();
    assert_eq!(
        subagent,
        [
            "subagent k of a call",
            "  text \"One.\"",
            "subagent completed \"Report.\"",
            "subagent k of a call",
            "  text \"Two.\"",
            "subagent completed \"Report.\""
        ]
    );
}

#[test]
fn a_sync_record_without_its_twin_counts() {
    let sync = |id: &str, event: &Value| json!({"directory": "/w", "payload": {"type": "sync", "id": id, "syncEvent": {"id": id, "type": format!("{}.1", event["type"].as_str().unwrap()), "seq": 1, "aggregateID": "s", "data": event["properties"]}}});
    let said = says("s", "a", "t", "Once.");
    let mut twin = said.clone();
    twin["id"] = json!("e1");
    let records = [sync("e1", &said), json!({"directory": "/w", "payload": twin}), sync("e2", &completed("s", "a"))];
    assert_eq!(told(&records)[1..3], ["delta \"Once.\"", "text \"Once.\""]);
    assert_eq!(told(&records).len(), 4);
}

#[test]
fn opaque_reasoning_is_kept() {
    let reasoning = part(
        "s",
        "a",
        "r",
        json!({"type": "reasoning", "text": "", "metadata": {"openai": {"reasoningEncryptedContent": "x"}}, "time": {"start": 1, "end": 2}}),
    );
    assert_eq!(told(&[reasoning])[1], "reasoning \"\" {\"openai\":{\"reasoningEncryptedContent\":\"x\"}}");
    let nothing = part("s", "a", "r", json!({"type": "reasoning", "text": "", "time": {"start": 1, "end": 2}}));
    assert_eq!(told(&[nothing]), ["run \"\"", "end interrupted stream_ended \"\""]);
}

#[test]
fn the_first_release_speaks_its_own_way() {
    let old = |kind: &str, properties: Value| json!({"type": kind, "properties": properties});
    let text = |text: &str, delta: Option<&str>, end: bool| {
        let mut part =
            json!({"id": "t", "sessionID": "s", "messageID": "a", "type": "text", "text": text, "time": {"start": 1}});
        if end {
            part["time"]["end"] = json!(2);
        }
        let mut properties = json!({"part": part});
        if let Some(delta) = delta {
            properties["delta"] = json!(delta);
        }
        old("message.part.updated", properties)
    };
    let info = |more: Value| {
        let mut info = json!({"id": "a", "sessionID": "s", "role": "assistant", "time": {"created": 1}});
        info.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        old("message.updated", json!({"info": info}))
    };
    let permission = json!({"id": "per", "type": "bash", "pattern": "ls", "sessionID": "s", "messageID": "a", "callID": "c", "title": "ls", "metadata": {"command": "ls"}, "time": {"created": 1}});
    let finish = json!({"part": {"id": "f", "sessionID": "s", "messageID": "a", "type": "step-finish", "reason": "stop", "cost": 0, "tokens": {"input": 9, "output": 7, "reasoning": 5, "cache": {"read": 0, "write": 0}}}});
    let records = [
        info(json!({})),
        old("permission.updated", permission),
        old("permission.replied", json!({"sessionID": "s", "permissionID": "per", "response": "always"})),
        text("Ab", Some("Ab"), false),
        text("Ab c ", Some(" c "), false),
        text("Ab c", None, true),
        old("message.part.updated", finish),
        // An abort says idle before it says why.
        old("session.idle", json!({"sessionID": "s"})),
        old(
            "session.error",
            json!({"sessionID": "s", "error": {"name": "MessageAbortedError", "data": {"message": "x"}}}),
        ),
        info(
            json!({"time": {"created": 1, "completed": 2}, "error": {"name": "MessageAbortedError", "data": {"message": "x"}}}),
        ),
    ];
    assert_eq!(
        told(&records)[1..],
        [
            "asked per bash",
            "answered per approved",
            "delta \"Ab\"",
            "delta \" c \"",
            "text \"Ab c \"",
            "turn",
            "usage 9 7",
            "turn ended stop",
            "end interrupted aborted \"Ab c \""
        ]
    );
}

#[test]
fn the_newer_surface_fails_in_its_own_words() {
    let next = |kind: &str, more: Value| {
        let mut data = json!({"sessionID": "s", "timestamp": 5, "assistantMessageID": "a"});
        data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"id": "e", "type": format!("session.next.{kind}"), "data": data})
    };
    let records = [
        next("prompted", json!({"messageID": "u", "prompt": {"text": "Go"}})),
        next("step.started", json!({"model": {"id": "m"}})),
        next("tool.called", json!({"callID": "c", "tool": "bash", "input": {"command": "x"}})),
        next("tool.failed", json!({"callID": "c", "error": {"type": "unknown", "message": "broke"}})),
        next("step.failed", json!({"error": {"type": "provider", "message": "down"}})),
        next("something", json!({})),
    ];
    assert_eq!(
        told(&records),
        [
            "run \"Go\"",
            "user \"Go\"",
            "turn",
            "proposed c",
            "started c bash shell {\"command\":\"x\"}",
            "err \"broke\"",
            "ended c 1",
            "error provider \"down\"",
            "turn ended -",
            "end failed provider \"\"",
            "thread: fault unknown event type \"session.next.something\""
        ]
    );
}

// --- opencode run ---

fn run_line(kind: &str, part: Value) -> Value {
    json!({"type": kind, "timestamp": 5, "sessionID": "s", "part": part})
}

fn start(message: &str) -> Value {
    run_line(
        "step_start",
        json!({"id": format!("{message}-s"), "messageID": message, "sessionID": "s", "type": "step-start"}),
    )
}

fn finish(message: &str, reason: &str) -> Value {
    run_line(
        "step_finish",
        json!({"id": format!("{message}-f"), "messageID": message, "sessionID": "s", "type": "step-finish", "reason": reason}),
    )
}

fn refused(message: &str) -> Value {
    run_line(
        "tool_use",
        json!({"id": "p", "messageID": message, "sessionID": "s", "type": "tool", "tool": "bash", "callID": "c", "state": broken("The user rejected permission to use this specific tool call.")}),
    )
}

fn run_end(records: &[Value]) -> String {
    told(records).last().unwrap().clone()
}

#[test]
fn how_a_process_ended_is_told_by_its_last_step() {
    let failure = json!({"type": "error", "timestamp": 5, "sessionID": "s", "error": {"name": "ContextOverflowError", "data": {"message": "full"}}});
    let good = "end completed - \"\"";
    let cut = "end interrupted stream_ended \"\"";
    assert_eq!(run_end(&[start("a"), finish("a", "stop")]), good);
    assert_eq!(run_end(&[start("a"), finish("a", "length")]), good);
    assert_eq!(run_end(&[start("a")]), cut);
    assert_eq!(run_end(&[start("a"), finish("a", "tool-calls")]), cut);
    assert_eq!(run_end(&[start("a"), finish("a", "tool-calls"), start("b")]), cut);
    // A refusal stops the turn, unless the model is told why and goes on.
    assert_eq!(run_end(&[start("a"), refused("a"), finish("a", "tool-calls")]), good);
    assert_eq!(run_end(&[start("a"), refused("a"), finish("a", "tool-calls"), start("b")]), cut);
    // An error need not be the last word.
    assert_eq!(run_end(&[start("a"), failure.clone()]), "end failed context_overflow \"\"");
    assert_eq!(run_end(&[failure.clone(), start("a"), finish("a", "stop")]), good);
}

#[test]
fn lines_of_another_session_are_of_another_process() {
    let mut other = start("b");
    other["sessionID"] = json!("s2");
    assert_eq!(
        told(&[start("a"), finish("a", "stop"), other]),
        [
            "run \"\"",
            "turn",
            "turn ended stop",
            "end completed - \"\"",
            "run \"\"",
            "turn",
            "turn ended -",
            "end interrupted stream_ended \"\""
        ]
    );
}

#[test]
fn lines_may_come_in_an_array_and_unknown_ones_are_kept() {
    let told =
        tell(&format!("[{},{}]\n{{\"type\":\"new_line\",\"sessionID\":\"s\"}}\n", start("a"), finish("a", "stop")));
    assert_eq!(told[2..4], ["turn", "turn ended stop"]);
    assert_eq!(told[4..], ["fault unknown line type \"new_line\"", "end completed - \"\""]);
}

// --- opencode export ---

#[test]
fn an_exported_session_has_a_run_for_each_prompt() {
    let user =
        |id: &str, parts: Value| json!({"info": {"id": id, "role": "user", "time": {"created": 1}}, "parts": parts});
    let text =
        |text: &str| json!([{"id": format!("p-{text}"), "type": "text", "text": text, "time": {"start": 1, "end": 2}}]);
    let answer = |id: &str, parts: Value, more: Value| {
        let mut info = json!({"id": id, "role": "assistant", "time": {"created": 1, "completed": 2}});
        info.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"info": info, "parts": parts})
    };
    let document = json!({"info": {"id": "s", "version": "1.18.33"}, "messages": [
        user("u1", json!([{"id": "1", "type": "text", "text": "One"}])),
        answer("a1", text("First."), json!({})),
        user("c", json!([{"id": "2", "type": "compaction", "auto": true}])),
        answer("a2", text("Summary."), json!({"summary": true})),
        user("c2", json!([{"id": "3", "type": "text", "text": "Continue", "synthetic": true, "metadata": {"compaction_continue": true}}])),
        answer("a3", text("Second."), json!({})),
        user("u2", json!([{"id": "4", "type": "text", "text": "Two"}])),
        answer("a4", json!([]), json!({"error": {"name": "APIError", "data": {"message": "no", "statusCode": 400}}})),
        user("u3", json!([{"id": "5", "type": "text", "text": "Three"}])),
        answer("a5", json!([{"id": "6", "type": "tool", "tool": "bash", "callID": "c", "state": running(json!({"command": "x"}))}]), json!({"time": {"created": 1}})),
    ]});
    // The document spans lines; what it says of a call does not.
    let told = tell(&serde_json::to_string_pretty(&document).unwrap());
    assert_eq!(
        told,
        [
            "run \"One\"",
            "user \"One\"",
            "delta \"First.\"",
            "text \"First.\"",
            "compacted auto \"Summary.\"",
            "delta \"Second.\"",
            "text \"Second.\"",
            "end completed - \"Second.\"",
            "run \"Two\"",
            "user \"Two\"",
            "error invalid_request \"no\"",
            "end failed invalid_request \"\"",
            "run \"Three\"",
            "user \"Three\"",
            "started c bash shell {\"command\":\"x\"}",
            "failed c \"the run ended before the tool did\"",
            "end interrupted stream_ended \"\""
        ]
    );
}
