//! `opencode run`: the meaning of the last lines.

use super::records::*;
use serde_json::{Value, json};

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
        json!({"id": "p", "messageID": message, "sessionID": "s", "type": "tool", "tool": "bash", "callID": "c", "state": failed_state("The user rejected permission to use this specific tool call.")}),
    )
}

fn run_end(records: &[Value]) -> String {
    frame_lines(records).last().unwrap().clone()
}

#[test]
fn the_last_step_determines_how_a_process_ended() {
    let failure = json!({"type": "error", "timestamp": 5, "sessionID": "s", "error": {"name": "ContextOverflowError", "data": {"message": "full"}}});
    let good = "end completed - \"\"";
    let cut = "end interrupted stream_ended \"\"";
    assert_eq!(run_end(&[start("a"), finish("a", "stop")]), good);
    assert_eq!(run_end(&[start("a"), finish("a", "length")]), "end completed max_output_tokens \"\"");
    assert_eq!(run_end(&[start("a")]), cut);
    assert_eq!(run_end(&[start("a"), finish("a", "tool-calls")]), cut);
    assert_eq!(run_end(&[start("a"), finish("a", "tool-calls"), start("b")]), cut);
    // A refusal stops the turn, unless the model gets the reason and continues.
    assert_eq!(run_end(&[start("a"), refused("a"), finish("a", "tool-calls")]), good);
    assert_eq!(run_end(&[start("a"), refused("a"), finish("a", "tool-calls"), start("b")]), cut);
    // An error need not be the last event.
    assert_eq!(run_end(&[start("a"), failure.clone()]), "end failed context_overflow \"\"");
    assert_eq!(run_end(&[failure.clone(), start("a"), finish("a", "stop")]), good);
}

#[test]
fn lines_of_another_session_belong_to_another_process() {
    let mut other = start("b");
    other["sessionID"] = json!("s2");
    assert_eq!(
        frame_lines(&[start("a"), finish("a", "stop"), other]),
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
fn lines_may_be_in_an_array_and_unknown_ones_are_kept() {
    let actual = input_lines(&format!(
        "[{},{}]\n{{\"type\":\"new_line\",\"sessionID\":\"s\"}}\n",
        start("a"),
        finish("a", "stop")
    ));
    assert_eq!(actual[2..4], ["turn", "turn ended stop"]);
    assert_eq!(actual[4..], ["record error unknown line type \"new_line\"", "end completed - \"\""]);
}

#[test]
fn the_step_after_an_overflow_is_a_compaction_whatever_follows() {
    let failure = json!({"type": "error", "timestamp": 5, "sessionID": "s", "error": {"name": "ContextOverflowError", "data": {"message": "full"}}});
    let text = |message: &str, text: &str, more: Value| {
        let mut part = json!({"id": format!("{message}-t"), "messageID": message, "sessionID": "s", "type": "text", "text": text, "time": {"start": 1, "end": 2}});
        part.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        run_line("text", part)
    };
    let summary = [failure, start("b"), text("b", "Summary.", json!({})), finish("b", "stop")];
    let answer = [start("d"), text("d", "Answer.", json!({})), finish("d", "stop")];
    let go_on = [text("c", "Continue", json!({"synthetic": true, "metadata": {"compaction_continue": true}}))];
    for between in [&go_on[..], &[]] {
        let lines = frame_lines(&[&summary[..], between, &answer].concat());
        let compacted: Vec<_> =
            lines.iter().enumerate().filter(|(_, line)| line.starts_with("compacted auto")).collect();
        assert_eq!(compacted.len(), 1, "{lines:#?}");
        let said = |text: &str| lines.iter().position(|line| line.contains(text)).unwrap();
        assert!(said("Summary.") < compacted[0].0 && compacted[0].0 < said("Answer."), "{lines:#?}");
        assert_eq!(lines.last().unwrap(), "end completed - \"Answer.\"");
    }
}
