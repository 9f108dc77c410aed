//! The results of tool calls.

use super::records::*;
use serde_json::json;

#[test]
fn a_repeated_call_id_is_another_call() {
    let step = |message: &str, part_id: &str, output: &str| {
        vec![
            part("s", message, &format!("{part_id}-s"), json!({"type": "step-start"})),
            tool("s", message, part_id, "call_0", "read", running(json!({"filePath": "f"}))),
            tool("s", message, part_id, "call_0", "read", completed_state(json!({"filePath": "f"}), output, json!({}))),
            tool("s", message, part_id, "call_0", "read", completed_state(json!({"filePath": "f"}), output, json!({}))),
        ]
    };
    let actual = frame_lines(&list([step("a1", "p1", "one"), step("a2", "p2", "two")]));
    let calls: Vec<&String> =
        actual.iter().filter(|line| !line.starts_with("turn") && !line.starts_with("run")).collect();
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
fn errors_of_tools_and_of_calls_are_distinguished() {
    let of = |text: &str| {
        let actual = frame_lines(&[tool("s", "a", "p", "c", "demo_add", failed_state(text))]);
        actual[2..actual.len() - 1].to_vec()
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
    let no_such_tool =
        tool("s", "a", "p", "c", "invalid", completed_state(json!({"tool": "x"}), "no such tool", json!({})));
    assert_eq!(frame_lines(&[no_such_tool])[2], "failed c \"no such tool\"");
}

#[test]
fn a_rejected_call_never_ran_whatever_its_message() {
    let asked = json!({"id": "que", "sessionID": "s", "questions": [{"question": "Which?"}], "tool": {"messageID": "a", "callID": "c"}});
    let records = [
        message("s", "a", json!({})),
        event("question.asked", asked),
        tool("s", "a", "p", "c", "question", running(json!({"questions": []}))),
        event("question.rejected", json!({"sessionID": "s", "requestID": "que"})),
        tool("s", "a", "p", "c", "question", failed_state("new words")),
    ];
    assert_eq!(
        frame_lines(&records)[1..5],
        [
            "asked que question",
            "started c question other {\"questions\":[]}",
            "answered que rejected",
            "failed c \"new words\""
        ]
    );
}

#[test]
fn a_patch_reports_each_file() {
    let files = json!({"files": [
        {"filePath": "/w/a", "relativePath": "a", "type": "add", "patch": "+a"},
        {"filePath": "/w/b", "type": "update", "patch": "+b"},
        {"filePath": "/w/c", "type": "delete", "patch": "-c"}]});
    let record = tool("s", "a", "p", "c", "apply_patch", completed_state(json!({"patchText": "x"}), "ok", files));
    let actual = frame_lines(&[record]);
    assert_eq!(actual[1], "started c apply_patch edit {\"patchText\":\"x\"}");
    assert_eq!(actual[3..6], ["file add /w/a", "file modify /w/b", "file delete /w/c"]);
}

#[test]
fn a_command_of_the_user_is_not_proposed() {
    let records = [
        message("s", "a", json!({})),
        tool("s", "a", "p", "x1", "bash", running(json!({"command": "ls"}))),
        tool("s", "a", "p", "x1", "bash", completed_state(json!({"command": "ls"}), "f\n", json!({"output": "f\n"}))),
    ];
    assert_eq!(
        frame_lines(&records)[1..4],
        ["started x1 bash shell {\"command\":\"ls\"}", "out \"f\\n\"", "ended x1 0"]
    );
}
