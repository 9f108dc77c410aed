//! `opencode export`: a run for each prompt.

use super::records::*;
use serde_json::{Value, json};

#[test]
fn an_exported_session_has_one_run_per_prompt() {
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
    // The document spans lines; the arguments of a call do not.
    let actual = input_lines(&serde_json::to_string_pretty(&document).unwrap());
    assert_eq!(
        actual,
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

/// The frames of an exported session with these messages, without those that repeat the document.
fn exported(messages: Value) -> Vec<String> {
    let document = json!({"info": {"id": "s", "version": "1.18.33"}, "messages": messages});
    input_lines(&serde_json::to_string_pretty(&document).unwrap())
}

fn asked(id: &str, text: &str) -> Value {
    json!({"info": {"id": id, "role": "user", "time": {"created": 1}},
        "parts": [{"id": format!("{id}-p"), "type": "text", "text": text}]})
}

/// A complete message that calls a tool.
fn calling(id: &str, name: &str, state: Value, more: Value) -> Value {
    let mut info =
        json!({"id": id, "role": "assistant", "finish": "tool-calls", "time": {"created": 1, "completed": 2}});
    info.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"info": info, "parts": [{"id": format!("{id}-p"), "type": "tool", "tool": name, "callID": id, "state": state}]})
}

fn answering(id: &str, text: &str) -> Value {
    json!({"info": {"id": id, "role": "assistant", "finish": "stop", "time": {"created": 1, "completed": 2}},
        "parts": [{"id": format!("{id}-p"), "type": "text", "text": text, "time": {"start": 1, "end": 2}}]})
}

fn ends_and_runs(lines: Vec<String>) -> Vec<String> {
    lines.into_iter().filter(|line| line.starts_with("end ") || line.starts_with("run ")).collect()
}

#[test]
fn a_refused_call_ends_its_turn() {
    let refused = || {
        calling("a", "bash", failed_state("The user rejected permission to use this specific tool call."), json!({}))
    };
    assert_eq!(exported(json!([asked("u", "One"), refused()])).last().unwrap(), "end completed - \"\"");
    let lines = exported(json!([asked("u", "One"), refused(), asked("v", "Two"), answering("b", "Yes.")]));
    assert_eq!(
        ends_and_runs(lines),
        ["run \"One\"", "end completed - \"\"", "run \"Two\"", "end completed - \"Yes.\""]
    );
    // With a reason, the model goes on.
    let working = calling("b", "bash", completed_state(json!({}), "", json!({})), json!({}));
    let lines = exported(json!([asked("u", "One"), refused(), working]));
    assert_eq!(lines.last().unwrap(), "end interrupted stream_ended \"\"");
}

#[test]
fn a_prompt_ends_the_run_before_it() {
    let working = calling("a", "bash", completed_state(json!({}), "", json!({})), json!({}));
    let lines = exported(json!([asked("u", "One"), working, asked("v", "Two"), answering("b", "Yes.")]));
    assert_eq!(
        ends_and_runs(lines),
        ["run \"One\"", "end interrupted stream_ended \"\"", "run \"Two\"", "end completed - \"Yes.\""]
    );
}

#[test]
fn a_result_that_follows_a_schema_is_the_answer() {
    let state = || completed_state(json!({"x": 1}), "Captured.", json!({"valid": true}));
    let structured = || calling("b", "StructuredOutput", state(), json!({"structured": {"x": [1, "a b"]}}));
    let lines = exported(json!([asked("u", "One"), answering("a", "Wait."), structured()]));
    assert_eq!(lines.last().unwrap(), r#"end completed - "{\"x\":[1,\"a b\"]}""#);
    let lines = exported(json!([asked("u", "One"), structured(), asked("v", "Two"), answering("c", "Yes.")]));
    assert_eq!(lines.last().unwrap(), "end completed - \"Yes.\"");
}

#[test]
fn the_copy_of_a_prompt_that_did_not_fit_is_no_prompt() {
    let user =
        |id: &str, parts: Value| json!({"info": {"id": id, "role": "user", "time": {"created": 1}}, "parts": parts});
    let said = |id: &str, text: &str| json!({"id": id, "type": "text", "text": text});
    let answer = |id: &str, text: &str, more: Value| {
        let parts = json!([{"id": format!("p-{text}"), "type": "text", "text": text, "time": {"start": 1, "end": 2}}]);
        let mut info = json!({"id": id, "role": "assistant", "time": {"created": 1, "completed": 2}});
        info.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"info": info, "parts": if text.is_empty() { json!([]) } else { parts }})
    };
    let overflow = json!({"error": {"name": "ContextOverflowError", "data": {"message": "full"}}});
    let compaction = |overflow: bool| json!([{"id": "k", "type": "compaction", "auto": true, "overflow": overflow}]);
    let image = json!({"id": "f", "type": "file", "mime": "image/png", "filename": "a.png", "url": "data:image/png;base64,AAAA"});
    let session = |overflows: bool, copy: &str| {
        exported(json!([
            user("u1", json!([said("1", "One")])),
            answer("a1", "First.", json!({})),
            user("u2", json!([said("2", "Go"), image])),
            answer("a2", "", overflow.clone()),
            user("c", compaction(overflows)),
            answer("a3", "Summary.", json!({"summary": true})),
            user("u3", json!([said("3", "Go"), said("4", copy)])),
            answer("a4", "Answer.", json!({})),
            user("u4", json!([said("5", "Go")])),
            answer("a5", "Again.", json!({})),
        ]))
    };
    let runs = |lines: &[String]| {
        let of = |line: &&String| line.starts_with("run ") || line.starts_with("user ") || line.starts_with("end ");
        lines.iter().filter(of).cloned().collect::<Vec<_>>()
    };
    let first = ["run \"One\"", "user \"One\"", "end completed - \"First.\"", "run \"Go\"", "user \"Go\""];
    let last = ["end completed - \"Answer.\"", "run \"Go\"", "user \"Go\"", "end completed - \"Again.\""];
    assert_eq!(runs(&session(true, "[Attached image/png: a.png]")), [first.as_slice(), &last].concat());
    // Another prompt, or a compaction for another reason.
    assert!(runs(&session(true, "and more")).contains(&"run \"Go\\nand more\"".to_owned()));
    assert!(runs(&session(false, "")).iter().filter(|line| *line == "run \"Go\"").count() == 3);
}
