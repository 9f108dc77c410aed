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
