//! The client's terminals: output from before a call shows them, and output that is cut at its front.

use super::{Body, Frame, Value, answer, ask, json, prompt, stops, update, with_client};

fn output(id: u64) -> Value {
    ask(id, "terminal/output", &json!({"sessionId": "S", "terminalId": "t"}))
}

fn printed(id: u64, text: &str, truncated: bool, code: Option<i32>) -> Value {
    let exit = code.map_or(Value::Null, |code| json!({"exitCode": code, "signal": null}));
    answer(id, &json!({"output": text, "truncated": truncated, "exitStatus": exit}))
}

fn call(kind: &str, status: &str, shows_terminal: bool) -> Value {
    let content = if shows_terminal { json!([{"type": "terminal", "terminalId": "t"}]) } else { json!([]) };
    update(
        "S",
        &json!({"sessionUpdate": kind, "toolCallId": "c", "title": "make", "kind": "execute", "status": status,
            "content": content}),
    )
}

fn shell(frames: &[Frame]) -> (String, Vec<i32>) {
    let text = frames.iter().filter_map(|frame| match &frame.body {
        Body::ToolStdout { chunk, .. } => Some(chunk.as_str()),
        _ => None,
    });
    let codes = frames.iter().filter_map(|frame| match &frame.body {
        Body::ToolEnded { exit_code, .. } => Some(*exit_code),
        _ => None,
    });
    (text.collect(), codes.collect())
}

#[test]
fn the_call_that_shows_a_terminal_late_has_all_its_output_and_its_exit_code() {
    let lines = [
        prompt(3, "S"),
        call("tool_call", "pending", false),
        output(0),
        printed(0, "one\n", false, None),
        output(1),
        printed(1, "one\ntwo\n", false, Some(3)),
        call("tool_call_update", "completed", true),
        stops(3, "end_turn"),
    ];
    assert_eq!(shell(&with_client(&lines)), ("one\ntwo\n".to_owned(), vec![3]));
}

#[test]
fn an_output_that_is_cut_at_its_front_continues_the_one_before() {
    let lines = [
        prompt(3, "S"),
        call("tool_call", "in_progress", true),
        output(0),
        printed(0, "one\ntwo\n", false, None),
        output(1),
        printed(1, "wo\nthree\n", true, None),
        output(2),
        printed(2, "five\nsix\n", true, Some(0)),
        call("tool_call_update", "completed", true),
        stops(3, "end_turn"),
    ];
    assert_eq!(
        shell(&with_client(&lines)).0,
        "one\ntwo\nwo\nthree\nfive\nsix\n",
        "too little is left to find its place"
    );
    let long = "0123456789\n".repeat(40);
    let lines = [
        prompt(3, "S"),
        call("tool_call", "in_progress", true),
        output(0),
        printed(0, &long, false, None),
        output(1),
        printed(1, &format!("{}end\n", &long[100..]), true, Some(0)),
        call("tool_call_update", "completed", true),
        stops(3, "end_turn"),
    ];
    assert_eq!(shell(&with_client(&lines)), (format!("{long}end\n"), vec![0]));
}

#[test]
fn terminals_that_no_call_shows_are_bounded() {
    // One more than the bound: the call that shows the last one has no output of it.
    for (shown, output) in [(0, "text"), (63, "text"), (64, "")] {
        let mut lines = vec![prompt(3, "S")];
        for id in 0..65 {
            lines.push(ask(id, "terminal/output", &json!({"sessionId": "S", "terminalId": format!("t{id}")})));
            lines.push(printed(id, "text", false, None));
        }
        let mut call = call("tool_call", "completed", true);
        call["params"]["update"]["content"][0]["terminalId"] = json!(format!("t{shown}"));
        lines.extend([call, stops(3, "end_turn")]);
        assert_eq!(shell(&with_client(&lines)), (output.to_owned(), vec![0]), "t{shown}");
    }
}
