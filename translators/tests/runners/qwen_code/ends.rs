//! How runs begin and end.

use super::records::*;
use serde_json::json;

fn ends(records: &[serde_json::Value]) -> Vec<String> {
    frame_lines(records).into_iter().filter(|line| line.starts_with("end ")).collect()
}

#[test]
fn an_announcement_begins_a_run_and_a_result_ends_it() {
    let one = |text: &str, id: &str| [init(), last_text(id, text), result(text, usage(1, 1))];
    let records = [one("a", "1"), one("b", "2")].concat();
    assert_eq!(ends(&records), ["end completed - \"a\"", "end completed - \"b\""]);
}

#[test]
fn a_run_whose_result_is_lost_ends_when_the_next_begins() {
    let records = [init(), last_text("1", "a"), init(), last_text("2", "b"), result("b", usage(1, 1))];
    assert_eq!(ends(&records), ["end interrupted stream_ended \"a\"", "end completed - \"b\""]);
    assert_eq!(ends(&[init(), init(), result("", usage(1, 1))]).len(), 1, "an announcement may be repeated");
}

#[test]
fn a_result_alone_is_a_run_with_its_text() {
    let lines = frame_lines(&[result("Only here.", usage(3, 1))]);
    assert_eq!(
        lines,
        ["start \"\"", "+ \"Only here.\"", "text 0 \"Only here.\"", "usage run 3/1", "end completed - \"Only here.\""]
    );
    assert_eq!(ends(&[failed("No model.")]), ["end failed error_during_execution \"-\""]);
}

#[test]
fn a_structured_result_is_the_final_text() {
    let records = [
        init(),
        call("a", "t", "structured_output", json!({"answer": 4})),
        returned("t", "Structured output accepted.", false, None),
        result("{\"answer\":4}", usage(1, 1)),
    ];
    assert_eq!(ends(&records), ["end completed - \"{\\\"answer\\\":4}\""]);
}

#[test]
fn calls_of_a_void_attempt_never_ran() {
    let skipped = "Skipped because the provider attempt was retried before execution.";
    let records = [init(), call("a", "t", "glob", json!({})), returned("t", skipped, true, None), retry(false)];
    assert!(frame_lines(&records).contains(&format!("failed t {skipped:?}")));
}

#[test]
fn questions_and_answers() {
    let ask = |id: &str, call: &str| {
        json!({"type": "control_request", "request_id": id, "request": {"subtype": "can_use_tool",
            "tool_name": "run_shell_command", "tool_use_id": call, "input": {"command": "x"},
            "permission_suggestions": [{"type": "allow", "label": "Allow", "description": "Execute: x"}]}})
    };
    let of = |outcome: (&str, bool)| {
        let records = [
            init(),
            call("a", "t", "run_shell_command", json!({"command": "x"})),
            ask("q", "t"),
            returned("t", outcome.0, outcome.1, None),
        ];
        let lines = frame_lines(&records);
        assert!(lines.contains(&"ask q Execute: x".to_owned()), "{lines:?}");
        lines.into_iter().find(|line| line.starts_with("answer ")).unwrap()
    };
    assert_eq!(of(("done", false)), "answer q approved");
    assert_eq!(of(("it failed", true)), "answer q approved");
    assert_eq!(of(("[Operation Cancelled] Reason: no", true)), "answer q rejected");
    assert_eq!(of(("[Operation Cancelled] Reason: gone. User intentionally cancelled.", true)), "answer q cancelled");
    // The host's own answer is in recordings of both directions.
    let answer = json!({"type": "control_response", "response": {"subtype": "success", "request_id": "q",
        "response": {"behavior": "deny", "message": "no"}}});
    let records = [init(), call("a", "t", "run_shell_command", json!({})), ask("q", "t"), answer];
    assert!(frame_lines(&records).contains(&"answer q rejected".to_owned()));
    // A question whose run ends is closed.
    let records =
        [init(), call("a", "t", "run_shell_command", json!({})), ask("q", "t"), failed("Operation cancelled.")];
    assert!(frame_lines(&records).contains(&"answer q cancelled".to_owned()));
}

#[test]
fn an_answer_to_the_host_names_the_session() {
    let answer = json!({"type": "control_response", "response": {"subtype": "success", "request_id": "req_1",
        "response": {"subtype": "initialize", "session_id": SESSION, "capabilities": {}}}});
    let all = frames(&[answer, init(), result("", usage(1, 1))]);
    assert!(all.iter().all(|frame| &*frame.stream.session.name == SESSION), "{all:#?}");
}

#[test]
fn sessions_in_turns_are_runs_of_their_own() {
    let other = |mut record: serde_json::Value| {
        record["session_id"] = json!("22222222-2222-4222-8222-222222222222");
        record
    };
    let calls = |id: &str| call(id, "call_001", "glob", json!({}));
    let records = [
        init(),
        other(init()),
        calls("a"),
        other(calls("b")),
        returned("call_001", "mine", false, None),
        other(returned("call_001", "yours", false, None)),
        result("", usage(1, 1)),
        other(result("", usage(1, 1))),
    ];
    let lines = frame_lines(&records);
    assert!(lines.contains(&"output call_001 \"mine\"".to_owned()), "{lines:?}");
    assert!(lines.contains(&"output call_001 \"yours\"".to_owned()), "{lines:?}");
    assert_eq!(ends(&records).len(), 2);
}

#[test]
fn unknown_parts_are_marked_and_kept() {
    for odd in [
        record("letter", json!({})),
        record("system", json!({"subtype": "weather"})),
        event(json!({"type": "weather"})),
        assistant("a", json!({"type": "image"}), no_usage(), None),
        event(json!({"type": "content_block_delta", "index": 0, "delta": {"type": "smell_delta"}})),
    ] {
        let lines = frame_lines(&[init(), odd.clone(), result("", usage(1, 1))]);
        assert!(lines.iter().any(|line| line.starts_with("record error unknown")), "{odd}: {lines:?}");
    }
}
