//! Calls: what describes them, what refuses them, and ids that are used again.

use super::*;

fn told_of(kind: &str, id: &str, status: Value, text: Option<&str>) -> Value {
    let mut fields =
        json!({"sessionUpdate": kind, "toolCallId": id, "title": "t", "kind": "execute", "status": status});
    if let Some(text) = text {
        fields["content"] = json!([{"type": "content", "content": {"type": "text", "text": text}}]);
    }
    update("S", &fields)
}

fn announced(id: &str, status: &str, text: Option<&str>) -> Value {
    told_of("tool_call", id, json!(status), text)
}

fn updated(id: &str, status: &str, text: Option<&str>) -> Value {
    told_of("tool_call_update", id, json!(status), text)
}

fn question(id: u64, text: &str) -> Value {
    let call = json!({"toolCallId": "c", "title": "t",
        "content": [{"type": "content", "content": {"type": "text", "text": text}}]});
    let options = json!([{"optionId": "yes", "name": "yes", "kind": "allow_once"},
        {"optionId": "no", "name": "no", "kind": "reject_once"}]);
    ask(id, "session/request_permission", &json!({"sessionId": "S", "toolCall": call, "options": options}))
}

fn chosen(id: u64, option: &str) -> Value {
    answer(id, &json!({"outcome": {"outcome": "selected", "optionId": option}}))
}

/// The output and the ends of calls, and what became of questions.
fn brief(frames: &[Frame]) -> Vec<String> {
    let one = |frame: &Frame| match &frame.body {
        Body::ToolStarted { call, .. } => Some(format!("started {}", call.tool.call_id)),
        Body::ToolStdout { chunk, .. } => Some(format!("stdout {chunk}")),
        Body::ToolEnded { exit_code, .. } => Some(format!("ended {exit_code}")),
        Body::ToolFailed { error, .. } => Some(format!("failed {error}")),
        Body::ApprovalResolved(answer) => Some(answer.decision.as_str().to_owned()),
        _ => None,
    };
    frames.iter().filter_map(one).collect()
}

#[test]
fn what_describes_a_call_is_not_its_output() {
    let asked = [
        announced("c", "in_progress", Some("(Runs a command)")),
        question(0, "May I run it?"),
        updated("c", "in_progress", None),
        updated("c", "completed", Some("run it?")),
    ];
    assert_eq!(brief(&alone(&asked)), ["started c", "approved", "stdout run it?", "ended 0"]);
    let silent = [announced("c", "in_progress", Some("(Runs a command)")), updated("c", "completed", None)];
    assert_eq!(brief(&alone(&silent)), ["started c", "ended 0"]);
    let at_once = [announced("c", "completed", Some("done"))];
    assert_eq!(brief(&alone(&at_once)), ["started c", "stdout done", "ended 0"]);
}

#[test]
fn a_text_repeats_the_last_lines_of_the_output_or_is_new() {
    let last = |text: &str| {
        let frames = alone(&[
            announced("c", "in_progress", None),
            updated("c", "in_progress", Some("one\ntwo three\n")),
            updated("c", "completed", Some(text)),
        ]);
        brief(&frames)[2..].concat()
    };
    assert_eq!(last("two three"), "ended 0");
    assert_eq!(last("three"), "stdout threeended 0");
}

#[test]
fn a_call_that_was_refused_failed_and_has_no_output() {
    for (option, text, expected) in [
        ("no", None, ["started c", "rejected", "failed failed"]),
        ("no", Some("no, thanks"), ["started c", "rejected", "failed no, thanks"]),
        ("other", None, ["started c", "cancelled", "failed failed"]),
        ("yes", None, ["started c", "approved", "ended 1"]),
    ] {
        let frames = with_client(&[
            prompt(3, "S"),
            question(0, "May I?"),
            chosen(0, option),
            updated("c", "failed", text),
            stops(3, "end_turn"),
        ]);
        assert_eq!(brief(&frames), expected);
    }
    // The answer is not in the input, and a withdrawn question decides nothing.
    let frames = alone(&[question(0, "May I?"), updated("c", "failed", Some("it broke")), stops(3, "end_turn")]);
    assert_eq!(brief(&frames), ["started c", "cancelled", "stdout it broke", "ended 1"]);
    let withdraws = json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 0}});
    let frames = alone(&[question(0, "May I?"), withdraws, updated("c", "failed", None), stops(3, "end_turn")]);
    assert_eq!(brief(&frames), ["started c", "cancelled", "ended 1"]);
    // What exited did run.
    let mut exited = updated("c", "failed", Some("out"));
    exited["params"]["update"]["rawOutput"] = json!({"exitCode": 3});
    let frames = with_client(&[prompt(3, "S"), question(0, "May I?"), chosen(0, "no"), exited, stops(3, "end_turn")]);
    assert_eq!(brief(&frames), ["started c", "rejected", "stdout out", "ended 3"]);
}

#[test]
fn an_id_that_is_used_again_is_another_call() {
    let call = |text: &str| [announced("c", "in_progress", None), updated("c", "completed", Some(text))];
    let frames =
        alone(&[call("a"), call("b"), [announced("c", "completed", Some("late")), stops(3, "end_turn")]].concat());
    assert_eq!(
        brief(&frames),
        ["started c", "stdout a", "ended 0", "started c#2", "stdout b", "ended 0"],
        "a repeated end is no call"
    );
    let ids: std::collections::HashSet<_> = bodies(&frames, "tool_started")
        .iter()
        .filter_map(|body| match body {
            Body::ToolStarted { call, .. } => Some(call.tool.id),
            _ => None,
        })
        .collect();
    assert_eq!(ids.len(), 2);
}

#[test]
fn a_question_whose_id_another_session_uses_again_is_withdrawn() {
    // Clients know open questions by their ids alone.
    let form = |session: &str| json!({"sessionId": session, "mode": "form", "message": "Which way?"});
    let asked = [ask(7, "elicitation/create", &form("S")), ask(7, "elicitation/create", &form("T"))];
    let frames = alone(&asked);
    let one = |frame: &Frame| match &frame.body {
        Body::ApprovalRequested(asked) => Some(format!("{} asks {}", frame.stream.session.name, asked.approval_id)),
        Body::ApprovalResolved(answer) => {
            let reason = answer.reason.as_deref().unwrap_or_default();
            Some(format!("{} {} {}: {reason}", frame.stream.session.name, answer.approval_id, answer.decision.as_str()))
        }
        _ => None,
    };
    let told: Vec<String> = frames.iter().filter_map(one).collect();
    let expected =
        ["S asks request-7", "S request-7 cancelled: its id was used again", "T asks request-7"].map(str::to_owned);
    assert_eq!(told[..3], expected);
}

#[test]
fn a_questions_form_of_the_arguments_does_not_replace_those_of_the_model() {
    let call = |kind: &str, more: Value| {
        let mut fields = json!({"sessionUpdate": kind, "toolCallId": "c", "title": "t", "kind": "edit"});
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        update("S", &fields)
    };
    let own = json!({"path": "a", "file_text": "one\ntwo\n"});
    let shown = json!({"fileName": "a", "diff": "+one\n+two\n"});
    let options = json!([{"optionId": "yes", "name": "yes", "kind": "allow_once"}]);
    let asked = json!({"sessionId": "S", "toolCall": {"toolCallId": "c", "rawInput": shown}, "options": options});
    let frames = alone(&[
        call("tool_call", json!({"status": "pending", "rawInput": own})),
        ask(0, "session/request_permission", &asked),
        call("tool_call_update", json!({"status": "in_progress"})),
        call(
            "tool_call_update",
            json!({"status": "completed",
            "content": [{"type": "diff", "path": "/w/a", "oldText": "", "newText": "one\ntwo\n"}]}),
        ),
    ]);
    let args: Vec<Value> = frames
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::ToolStarted { call, .. } => Some(serde_json::from_str(call.args.get()).unwrap()),
            Body::ApprovalRequested(asked) => Some(serde_json::from_str(asked.args.get()).unwrap()),
            _ => None,
        })
        .collect();
    assert_eq!(args, [own, shown]);
    let added = frames.iter().any(|frame| match &frame.body {
        Body::FileChanged(change) => {
            change.kind == FileChangeKind::Add && change.diff.as_deref().unwrap().starts_with("--- /dev/null\n")
        }
        _ => false,
    });
    assert!(added, "{frames:#?}");
}

#[test]
fn a_result_in_json_is_no_arguments() {
    let text = r#"{"now": 5}"#;
    let frames = alone(&[announced("c", "in_progress", None), updated("c", "completed", Some(text))]);
    assert_eq!(brief(&frames), ["started c", r#"stdout {"now": 5}"#, "ended 0"]);
    let Some(Body::ToolStarted { call, .. }) = bodies(&frames, "tool_started").first() else { panic!("{frames:#?}") };
    assert_eq!(call.args.get(), "{}");
}

#[test]
fn the_code_before_the_output_of_a_failed_command_is_its_exit_code() {
    let of = |status: &str| {
        let frames = alone(&[announced("c", "in_progress", None), updated("c", status, Some("Exit code 3\noops"))]);
        brief(&frames).pop().unwrap()
    };
    assert_eq!((of("failed").as_str(), of("completed").as_str()), ("ended 3", "ended 0"));
}

#[test]
fn a_question_is_answered_by_what_becomes_of_its_call() {
    let of = |text: Option<&str>| {
        let frames = alone(&[announced("c", "pending", None), question(0, "May I?"), updated("c", "failed", text)]);
        brief(&frames)[1..].join(", ")
    };
    assert_eq!(of(None), "cancelled, failed failed");
    assert_eq!(of(Some("The user rejected it")), "rejected, failed The user rejected it");
    let refused_by_system = of(Some("EACCES: permission denied, open '/etc/x'"));
    assert_eq!(refused_by_system, "cancelled, stdout EACCES: permission denied, open '/etc/x', ended 1");
}
