//! Logs and transcripts that a session leaves behind.

use super::records::*;
use crate::durations::durations;
use framegate_translators::frame::Body;
use framegate_translators::framing::Limits;
use framegate_translators::recognise::{Recogniser, Verdict, Window};
use serde_json::{Value, json};

#[test]
fn an_old_transcript_has_whole_messages_without_record_ids() {
    let message = json!({"id": "m", "model": "claude-3", "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "Planning"},
        {"type": "tool_use", "id": "t", "name": "TodoWrite", "input": {"todos": [{"content": "a", "status": "pending"}]}},
    ], "stop_reason": null, "usage": {"input_tokens": 3, "output_tokens": 1}});
    let lines = frame_lines(&[
        with_session(json!({"type": "user", "message": {"role": "user", "content": "Do it"}})),
        with_session(json!({"type": "assistant", "message": message})),
        returned("t", json!("ok"), false, None),
        text("m2", "Done"),
        with_session(
            json!({"type": "result", "subtype": "success", "is_error": false, "result": "Done", "total_cost": 0.5,
            "usage": {"input_tokens": 3, "output_tokens": 9}}),
        ),
    ]);
    assert_eq!(
        lines,
        [
            "start \"Do it\"",
            "user \"Do it\" 0",
            "turn",
            "thought 0 \"hm\"",
            "text 1 \"Planning\"",
            "call t TodoWrite {\"todos\":[{\"content\":\"a\",\"status\":\"pending\"}]}",
            "plan pending a",
            "output t \"ok\"",
            "returned t 0",
            "turn over -",
            "turn",
            "text 0 \"Done\"",
            "turn over -",
            "usage run 3/9 Some(0.5)",
            "end completed - \"Done\"",
        ]
    );
}

#[test]
fn a_side_chain_in_an_old_transcript_belongs_to_the_child() {
    let block = |block: Value, stop: &str| json!({"id": stop, "model": "m", "content": [block], "stop_reason": stop, "usage": {"input_tokens": 1, "output_tokens": 2}});
    let lines = frame_lines(&[
        json!({"type": "summary", "summary": "old", "leafUuid": "x"}),
        entry("user", json!({"role": "user", "content": "Go"}), false),
        entry(
            "assistant",
            block(json!({"type": "tool_use", "id": "a", "name": "Task", "input": {"prompt": "p"}}), "tool_use"),
            false,
        ),
        entry("user", json!({"role": "user", "content": "p"}), true),
        entry("assistant", block(json!({"type": "text", "text": "child"}), "end_turn"), true),
        entry(
            "user",
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "child"}]}),
            false,
        ),
        entry("user", json!({"role": "user", "content": "Stop there"}), false),
    ]);
    assert_eq!(
        lines,
        [
            "start \"Go\"",
            "user \"Go\" 0",
            "turn",
            "usage turn 1/2 None",
            "call a Task {\"prompt\":\"p\"}",
            "agent a at 1",
            "  usage turn 1/2 None",
            "  text 0 \"child\"",
            "agent a completed",
            "output a \"child\"",
            "returned a 0",
            "start \"Stop there\"",
            "turn over tool_use",
            "usage run 2/4 None",
            "end interrupted stream_ended \"-\"",
            "user \"Stop there\" 0",
            "end interrupted stream_ended \"-\"",
        ]
    );
}

#[test]
fn parallel_side_chains_in_an_old_transcript_are_distinguished() {
    let at = |uuid: &str, parent: Value, kind: &str, message: Value, sidechain: bool| {
        let mut line = entry(kind, message, sidechain);
        line["uuid"] = json!(uuid);
        line["parentUuid"] = parent;
        line
    };
    let call = |id: &str, prompt: &str| json!({"id": "m", "model": "m", "stop_reason": null, "content": [{"type": "tool_use", "id": id, "name": "Task", "input": {"prompt": prompt}}]});
    let says =
        |id: &str| json!({"id": id, "model": "m", "stop_reason": null, "content": [{"type": "text", "text": id}]});
    let records = [
        at("1", Value::Null, "user", json!({"role": "user", "content": "Go"}), false),
        at("2", json!("1"), "assistant", call("a", "left"), false),
        at("3", json!("2"), "assistant", call("b", "right"), false),
        at("l1", Value::Null, "user", json!({"role": "user", "content": "left"}), true),
        at("r1", Value::Null, "user", json!({"role": "user", "content": "right"}), true),
        at("r2", json!("r1"), "assistant", says("from right"), true),
        at("l2", json!("l1"), "assistant", says("from left"), true),
        at("r3", json!("r2"), "assistant", says("right again"), true),
    ];
    let all = frames(&records);
    let tool = |call_id: &str| {
        let found = all.iter().find_map(|frame| match &frame.body {
            Body::ToolStarted { call, .. } if *call.tool.call_id == *call_id => Some(call.tool.id),
            _ => None,
        });
        found.unwrap()
    };
    let texts: Vec<_> = all
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::OutputTextCompleted(block) => Some((block.text.as_str(), frame.parent_tool_id.unwrap())),
            _ => None,
        })
        .collect();
    assert_eq!(texts, [("from right", tool("b")), ("from left", tool("a")), ("right again", tool("b"))]);
}

#[test]
fn a_transcript_names_the_child_and_the_reason_of_a_rejected_call() {
    let says =
        |id: &str| json!({"id": id, "model": "m", "stop_reason": null, "content": [{"type": "text", "text": id}]});
    let call = |id: &str| json!({"id": "m", "model": "m", "stop_reason": null, "content": [{"type": "tool_use", "id": id, "name": "Task", "input": {}}]});
    let child = |agent: &str, text: &str| {
        let mut line = entry("assistant", says(text), true);
        line["agentId"] = json!(agent);
        line["attributionAgent"] = json!("Explore");
        line
    };
    let mut denied = entry(
        "user",
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "b", "content": "no", "is_error": true}]}),
        false,
    );
    denied["toolDenialKind"] = json!("user-rejected");
    let lines = frame_lines(&[
        entry("user", json!({"role": "user", "content": "Go"}), false),
        entry("assistant", call("a"), false),
        child("a1b2", "one"),
        entry("assistant", call("b"), false),
        child("c3d4", "two"),
        child("a1b2", "three"),
        denied,
    ]);
    for line in ["agent a1b2 at 1", "agent c3d4 at 1", "agent c3d4 failed", "failed b \"no\""] {
        assert!(lines.iter().any(|actual| actual == line), "{line}: {lines:#?}");
    }
    assert_eq!(lines.iter().filter(|line| line.ends_with("at 1")).count(), 2, "{lines:#?}");
}

fn prompt(text: &str) -> Value {
    entry("user", json!({"role": "user", "content": text}), false)
}

/// A line of a version that does not write why the model stopped.
fn unstopped(id: &str, block: Value, output_tokens: u64) -> Value {
    let message = json!({"id": id, "model": "m", "content": [block], "stop_reason": null,
        "usage": {"input_tokens": 5, "output_tokens": output_tokens}});
    entry("assistant", message, false)
}

#[test]
fn a_transcript_without_stop_reasons_completes_answered_runs_and_counts_each_message_once() {
    let bash = |id: &str| json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}});
    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}]});
    let lines = frame_lines(&[
        prompt("one"),
        unstopped("m1", json!({"type": "text", "text": "Looking"}), 1),
        unstopped("m1", bash("t"), 7),
        entry("user", result, false),
        unstopped("m2", json!({"type": "text", "text": "Done"}), 3),
        prompt("two"),
        unstopped("m3", json!({"type": "text", "text": "Wait"}), 2),
        unstopped("m3", bash("u"), 4),
    ]);
    assert_eq!(
        lines,
        [
            "start \"one\"",
            "user \"one\" 0",
            "turn",
            "text 0 \"Looking\"",
            "call t Bash {}",
            "output t \"ok\"",
            "returned t 0",
            "usage turn 5/7 None",
            "turn over -",
            "turn",
            "text 0 \"Done\"",
            "start \"two\"",
            "usage turn 5/3 None",
            "turn over -",
            "usage run 10/10 None",
            "end completed - \"Done\"",
            "user \"two\" 0",
            "turn",
            "text 0 \"Wait\"",
            "call u Bash {}",
            "usage turn 5/4 None",
            "turn over -",
            "failed u \"the run ended before the tool did\"",
            "usage run 5/4 None",
            "end interrupted stream_ended \"Wait\"",
        ]
    );
}

#[test]
fn a_child_in_a_transcript_without_stop_reasons_is_counted_although_its_call_never_returned() {
    let call = json!({"type": "tool_use", "id": "a", "name": "Task", "input": {"prompt": "p"}});
    let mut child = unstopped("c", json!({"type": "text", "text": "child"}), 2);
    child["isSidechain"] = json!(true);
    let lines = frame_lines(&[prompt("Go"), unstopped("m", call, 3), child]);
    let used: Vec<_> = lines.iter().filter(|line| line.contains("usage")).collect();
    assert_eq!(used, ["  usage turn 5/2 None", "usage turn 5/3 None", "usage run 10/5 None"], "{lines:#?}");
}

#[test]
fn transcript_lines_with_the_sessions_of_both_surfaces_are_transcript_lines() {
    let own = [prompt("Go"), unstopped("m", json!({"type": "text", "text": "Gone"}), 3), prompt("Again")];
    let both = own.clone().map(with_session);
    let stream_only = both.clone().map(|mut line| {
        let fields = line.as_object_mut().unwrap();
        fields.remove("sessionId");
        fields.insert("parentUuid".to_owned(), Value::Null);
        line
    });
    let expected = frame_lines(&own);
    assert_eq!(expected.iter().filter(|line| line.starts_with("start")).count(), 2);
    for lines in [both, stream_only] {
        assert_eq!(frame_lines(&lines), expected);
        let session = frames(&lines)[0].stream.session.id;
        assert_eq!(session, frames(&own)[0].stream.session.id);
        assert_eq!(surface_of(&lines[0]), "transcript");
    }
    assert_eq!(surface_of(&text("m", "x")), "stream-json");
}

fn surface_of(record: &Value) -> &'static str {
    let mut recogniser = Recogniser::new(None, Limits::default(), Window::default());
    recogniser.feed(format!("{record}\n").as_bytes());
    let Verdict::Found(found) = recogniser.finish() else { panic!("not recognised: {record}") };
    found.surface.name
}

#[test]
fn a_shell_command_that_a_person_typed_is_a_prompt_and_its_output_a_log_line() {
    let mut notice = entry("system", Value::Null, false);
    notice["content"] = json!("Stop hook completed");
    notice["level"] = json!("warning");
    let lines = frame_lines(&[
        prompt("<bash-input>ls -l</bash-input>"),
        prompt("<bash-stdout>a.txt\n</bash-stdout><bash-stderr>careful</bash-stderr>"),
        prompt("<bash-input>true</bash-input>"),
        prompt("<bash-stdout></bash-stdout><bash-stderr></bash-stderr>"),
        notice,
    ]);
    assert_eq!(
        lines,
        [
            "start \"!ls -l\"",
            "user \"!ls -l\" 0",
            "info a.txt\ncareful",
            "start \"!true\"",
            "end completed - \"-\"",
            "user \"!true\" 0",
            "warn Stop hook completed",
            "end completed - \"-\"",
        ]
    );
}

#[test]
fn a_retried_request_in_a_transcript_has_the_code_and_the_words_of_the_provider() {
    let retry = |error: Value| {
        let mut record = entry("system", Value::Null, false);
        (record["subtype"], record["error"]) = (json!("api_error"), error);
        let lines = frame_lines(&[prompt("go"), record]);
        lines.into_iter().filter(|line| line.starts_with("error")).collect::<Vec<_>>()
    };
    let body = |kind: &str| json!({"error": {"type": "error", "error": {"type": kind, "message": "Slow down"}}});
    assert_eq!(retry(body("rate_limit_error")), ["error provider rate_limit Slow down"]);
    assert_eq!(retry(body("something_new")), ["error provider api_error Slow down"]);
    assert_eq!(retry(json!({"status": 529, "message": "Overloaded"})), ["error provider overloaded Overloaded"]);
    assert_eq!(retry(json!({"message": "reset", "error": {"error": {}}})), ["error provider api_error reset"]);
    assert_eq!(retry(Value::Null), ["error provider api_error the request failed"]);
}

/// The session's running totals.
fn totals(input: u64, output: u64, cost: f64) -> Value {
    json!({"type": "cost-state", "sessionId": SESSION, "totalCostUSD": cost, "hasUnknownModelCost": false,
        "modelUsage": {"m": {"inputTokens": input, "outputTokens": output, "costUSD": cost}}})
}

#[test]
fn the_total_of_a_transcripts_run_is_the_growth_of_the_sessions_totals() {
    let answer = |id: &str| unstopped(id, json!({"type": "text", "text": id}), 3);
    let of_runs = |records: &[Value]| -> Vec<String> {
        frame_lines(records).into_iter().filter(|line| line.starts_with("usage run")).collect()
    };
    let two = [prompt("one"), answer("m1"), totals(100, 30, 0.5), prompt("two"), answer("m2"), totals(120, 40, 0.75)];
    assert_eq!(of_runs(&two), ["usage run 100/30 Some(0.5)", "usage run 20/10 Some(0.25)"]);
    let frames = frames(&two);
    let mains: Vec<_> = frames
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::UsageReported(usage) => Some(usage.main_thread.as_deref()?.input_tokens),
            _ => None,
        })
        .collect();
    assert_eq!(mains, [5, 5]);
    // Totals after several runs do not say what each of them used.
    let mut late = two.to_vec();
    late.remove(2);
    assert_eq!(of_runs(&late), ["usage run 5/3 None", "usage run 5/3 None"]);
    // A cleared conversation counts from zero, and a model without a known price makes the cost unknown.
    let mut cleared = two.to_vec();
    cleared[5] = totals(7, 4, 0.125);
    assert_eq!(of_runs(&cleared)[1], "usage run 7/4 Some(0.125)");
    let mut unknown = two.to_vec();
    unknown[2]["hasUnknownModelCost"] = json!(true);
    assert_eq!(of_runs(&unknown), ["usage run 100/30 None", "usage run 20/10 None"]);
}

/// A line at a time of one day.
fn at(time: &str, mut line: Value) -> Value {
    line["timestamp"] = json!(format!("2026-11-23T{time}Z"));
    line
}

#[test]
fn a_run_of_a_transcript_lasts_until_its_last_word_and_not_until_the_next_prompt() {
    let says = |id: &str, text: &str| unstopped(id, json!({"type": "text", "text": text}), 1);
    let queued = with_session(json!({"type": "queue-operation", "operation": "enqueue", "sessionId": SESSION}));
    let interrupted = entry("user", json!({"role": "user", "content": "[Request interrupted by user]"}), false);
    let records = [
        at("10:00:00.000", prompt("one")),
        at("10:00:05.000", says("m1", "Done")),
        at("11:00:00.000", queued),
        at("11:00:00.000", prompt("two")),
        at("11:00:07.000", says("m2", "Hm")),
        at("11:00:09.000", interrupted),
        at("12:00:00.000", prompt("three")),
        at("12:00:01.000", says("m3", "Yes")),
    ];
    assert_eq!(durations(&frames(&records)), [5_000, 9_000, 1_000]);
}

#[test]
fn a_fork_begins_with_the_lines_of_another_session_which_are_not_its_runs() {
    let says = |id: &str, text: &str| unstopped(id, json!({"type": "text", "text": text}), 1);
    let forked = |mut line: Value| {
        line["forkedFrom"] = json!({"sessionId": "99999999-9999-4999-8999-999999999999", "messageUuid": "m"});
        line
    };
    let lines =
        frame_lines(&[forked(prompt("before")), forked(says("m1", "Earlier")), prompt("here"), says("m2", "Now")]);
    let told = |start: &str| lines.iter().filter(|line| line.starts_with(start)).cloned().collect::<Vec<_>>();
    assert_eq!(
        (told("start"), told("end")),
        (vec!["start \"here\"".to_owned()], vec!["end completed - \"Now\"".to_owned()])
    );
}

#[test]
fn a_line_that_is_written_again_is_nothing_new() {
    let numbered = |number: u32, mut line: Value| {
        line["uuid"] = json!(format!("00000000-0000-4000-8000-{number:012}"));
        line
    };
    let conversation = [
        numbered(1, prompt("one")),
        numbered(2, unstopped("m1", json!({"type": "text", "text": "Done"}), 1)),
        numbered(3, prompt("two")),
        numbered(4, unstopped("m2", json!({"type": "text", "text": "Done too"}), 2)),
    ];
    let once = frame_lines(&conversation);
    let twice: Vec<Value> = conversation.iter().flat_map(|line| [line.clone(), line.clone()]).collect();
    assert_eq!(frame_lines(&twice), once);
    let again: Vec<Value> = conversation.iter().chain(&conversation).cloned().collect();
    assert_eq!(frame_lines(&again), once);
}
