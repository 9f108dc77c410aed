//! When and how a run begins and ends.

use super::records::*;
use framegate_translators::frame::Body;
use serde_json::{Value, json};

#[test]
fn a_question_can_be_withdrawn_or_answered_in_the_stream() {
    let ask = |id: &str, call_id: &str| json!({"type": "control_request", "request_id": id, "request": {"subtype": "can_use_tool", "tool_name": "Bash", "input": {}, "tool_use_id": call_id}});
    let lines = frame_lines(&[
        init(),
        call("m", "t1", "Bash", json!({"command": "a"})),
        ask("q1", "t1"),
        json!({"type": "control_cancel_request", "request_id": "q1"}),
        call("m", "t2", "Bash", json!({"command": "b"})),
        ask("q2", "t2"),
        json!({"type": "control_response", "response": {"subtype": "success", "request_id": "q2", "response": {"behavior": "deny", "message": "no"}}}),
        call("m", "t3", "Bash", json!({"command": "c"})),
        ask("q3", "t3"),
        result(""),
    ]);
    let asked: Vec<_> = lines.iter().filter(|line| line.contains("ask") || line.contains("answer")).collect();
    assert_eq!(
        asked,
        ["ask q1", "answer q1 cancelled", "ask q2", "answer q2 rejected", "ask q3", "answer q3 cancelled"]
    );
    assert!(lines.contains(&"failed t3 \"the run ended before the tool did\"".to_owned()), "{lines:#?}");
}

#[test]
fn a_failed_start_is_a_run() {
    let record = json!({"type": "result", "subtype": "error_during_execution", "is_error": true, "session_id": SESSION,
        "errors": ["No conversation found"], "usage": {"input_tokens": 0, "output_tokens": 0}, "total_cost_usd": 0});
    let lines = frame_lines(&[record]);
    assert_eq!(
        lines,
        [
            "start \"\"",
            "error run error_during_execution No conversation found",
            "end failed error_during_execution \"-\""
        ]
    );
}

#[test]
fn clearing_the_conversation_does_not_end_the_turn() {
    let other = "22222222-2222-4222-8222-222222222222";
    let mut init2 = init();
    init2["session_id"] = json!(other);
    let mut end = result("");
    end["session_id"] = json!(other);
    let lines = frame_lines(&[
        init(),
        with_session(json!({"type": "conversation_reset", "new_conversation_id": other})),
        init2,
        end,
    ]);
    assert_eq!(lines, ["start \"\"", "end completed - \"-\""]);
}

#[test]
fn running_totals_become_differences() {
    let turn = |total: f64| {
        let mut end = result("x");
        end["total_cost_usd"] = json!(total);
        end["usage"] = json!({"input_tokens": 1, "output_tokens": 2});
        [init(), end]
    };
    let lines = frame_lines(&[turn(0.5), turn(0.75), turn(0.25)].concat());
    let usages: Vec<_> = lines.iter().filter(|line| line.starts_with("usage")).collect();
    assert_eq!(usages, ["usage run 1/2 Some(0.5)", "usage run 1/2 Some(0.25)", "usage run 1/2 Some(0.25)"]);
}

#[test]
fn an_error_during_a_turn_does_not_end_the_run() {
    let error = with_session(
        json!({"type": "assistant", "error": "server_error", "is_api_error_message": true, "parent_tool_use_id": null,
        "message": {"id": "e", "model": "<synthetic>", "content": [{"type": "text", "text": "API Error"}], "stop_reason": "tool_use"}}),
    );
    let lines = frame_lines(&[
        init(),
        call("m", "t", "Bash", json!({"command": "a"})),
        error,
        returned("t", json!("Exit code 2\nbad"), true, None),
        text("m2", "went on"),
        result("went on"),
    ]);
    assert_eq!(
        lines,
        [
            "start \"\"",
            "turn",
            "call t Bash {\"command\":\"a\"}",
            "error turn server_error API Error",
            "output t \"Exit code 2\\nbad\"",
            "returned t 2",
            "turn over -",
            "turn",
            "text 0 \"went on\"",
            "turn over -",
            "end completed - \"went on\"",
        ]
    );
}

#[test]
fn delayed_results_end_their_own_runs() {
    let numbered = |index: u64, text: &str| {
        let mut end = result(text);
        end["result_index"] = json!(index);
        end
    };
    let records = [
        init(),
        call("m0", "t", "Bash", json!({"command": "long"})),
        system(json!({"subtype": "task_started", "task_id": "b1", "tool_use_id": "t", "is_backgrounded": true})),
        returned("t", json!("started"), false, None),
        text("m1", "first"),
        init(),
        text("m2", "second"),
        init(),
        text("m3", "third"),
        numbered(1, "second"),
        numbered(0, "first"),
        numbered(2, "third"),
    ];
    let all = frames(&records);
    let mut ends = Vec::new();
    let mut starts = Vec::new();
    for frame in &all {
        match &frame.body {
            Body::SessionStarted { .. } => starts.push(frame.stream.id),
            Body::SessionEnded(end) => ends.push((frame.stream.id, end.final_text.clone().unwrap())),
            _ => {}
        }
    }
    let expected = [(starts[1], "second"), (starts[0], "first"), (starts[2], "third")];
    assert_eq!(ends, expected.map(|(id, text)| (id, text.to_owned())));
}

#[test]
fn a_prompt_before_its_turn_starts_the_run_without_base64() {
    let content = json!([
        {"type": "text", "text": "Look"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAECAw=="}},
    ]);
    let prompt = with_session(
        json!({"type": "user", "isReplay": true, "uuid": "u1", "message": {"role": "user", "content": content}}),
    );
    let all = frames(&[prompt.clone(), init(), text("m", "x"), result("x")]);
    let attached = all.iter().find_map(|frame| match &frame.body {
        Body::UserMessage(message) => Some(message.attachments[0].clone()),
        _ => None,
    });
    let attached = attached.unwrap();
    assert_eq!((attached.mime.as_deref(), attached.bytes), (Some("image/png"), Some(4)));
    let lines = frame_lines(&[prompt, init(), text("m", "x"), result("x")]);
    assert_eq!(lines[..2], ["start \"Look\"", "user \"Look\" 1"]);
    assert_eq!(lines.iter().filter(|line| line.starts_with("start")).count(), 1);
}

#[test]
fn a_typed_command_is_reported_verbatim() {
    let user = |text: &str| {
        with_session(json!({"type": "user", "isReplay": true, "message": {"role": "user", "content": text}}))
    };
    let lines = frame_lines(&[
        user(
            "<command-name>/compact</command-name>\n<command-message>compact</command-message>\n<command-args>keep it</command-args>",
        ),
        init(),
        system(json!({"subtype": "status", "status": "compacting"})),
        system(json!({"subtype": "status", "status": null, "compact_result": "success"})),
        system(json!({"subtype": "compact_boundary", "compact_metadata": {"trigger": "manual"}})),
        user("<local-command-stdout>Compacted</local-command-stdout>"),
        result(""),
    ]);
    assert_eq!(
        lines,
        [
            "start \"/compact keep it\"",
            "user \"/compact keep it\" 0",
            "status_changed",
            "status_changed",
            "compacted -",
            "info Compacted",
            "end completed - \"-\"",
        ]
    );
}

#[test]
fn an_interruption_without_a_terminal_reason_is_recognised() {
    let end = with_session(json!({"type": "result", "subtype": "error_during_execution", "is_error": true}));
    let stop = with_session(
        json!({"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "[Request interrupted by user]"}]}}),
    );
    let lines = frame_lines(&[init(), text("m", "half"), stop, end]);
    assert_eq!(lines.last().unwrap(), "end interrupted interrupted \"half\"");
}

#[test]
fn the_number_of_open_runs_is_bounded() {
    let said = |session: usize| {
        let mut record = text(&format!("m{session}"), "half");
        record["session_id"] = json!(format!("{session}"));
        record
    };
    // The first session continues: in its existing run, unless that one was ended.
    let runs = |count: usize| {
        let records: Vec<_> = (0..count).chain([0]).map(said).collect();
        frame_lines(&records).iter().filter(|line| line.starts_with("start ")).count()
    };
    assert_eq!(runs(256), 256);
    assert_eq!(runs(257), 258);
    let lines = frame_lines(&(0..300).map(said).collect::<Vec<_>>());
    let first_end = lines.iter().position(|line| line.starts_with("end ")).unwrap();
    let last_start = lines.iter().rposition(|line| line.starts_with("start ")).unwrap();
    assert!(first_end < last_start, "the oldest ends while others begin");
}

#[test]
fn equal_call_ids_of_two_sessions_in_one_input_are_different_calls() {
    let other = |mut record: Value| {
        record["session_id"] = json!("22222222-2222-4222-8222-222222222222");
        record
    };
    let ask = |request_id: &str, call_id: &str| {
        json!({"type": "control_request", "request_id": request_id,
            "request": {"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": call_id, "input": {}}})
    };
    let all = frames(&[
        init(),
        other(init()),
        call("m1", "t", "Bash", json!({"command": "one"})),
        other(call("m2", "t", "Bash", json!({"command": "two"}))),
        other(call("m2", "u", "Bash", json!({"command": "three"}))),
        text("m3", "still here"),
        // A question names no session.
        ask("r", "u"),
        other(returned("t", json!("of two"), false, None)),
        other(returned("u", json!("of three"), false, None)),
        returned("t", json!("of one"), false, None),
        result("One"),
        other(result("Two")),
    ]);
    let calls: Vec<_> = all
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::ToolStarted { call, .. } => Some((call.tool.id, frame.stream.id, call.args.get().to_owned())),
            _ => None,
        })
        .collect();
    assert_eq!(calls.len(), 3);
    for (word, at) in [("one", 0), ("two", 1), ("three", 2)] {
        let (id, stream, args) = &calls[at];
        assert!(args.contains(word));
        let output = all.iter().find_map(|frame| match &frame.body {
            Body::ToolStdout { tool, chunk } if *chunk == format!("of {word}") => Some((tool.id, frame.stream.id)),
            _ => None,
        });
        assert_eq!(output, Some((*id, *stream)), "{word}");
    }
    let answers = all.iter().filter(|frame| matches!(&frame.body, Body::ApprovalResolved(_)));
    let streams: Vec<_> = answers.map(|frame| frame.stream.id).collect();
    assert_eq!(streams, [calls[1].1], "the question belongs to the other session");
}

#[test]
fn a_turn_announced_in_the_middle_of_a_call_or_a_reply_is_that_of_the_next_process() {
    let begun = with_session(
        json!({"type": "stream_event", "parent_tool_use_id": null, "event": {"type": "message_start",
        "message": {"id": "m", "type": "message", "role": "assistant", "model": "claude-x", "content": [], "usage": {"input_tokens": 1, "output_tokens": 1}}}}),
    );
    let cut = "end interrupted stream_ended \"-\"";
    for middle in [call("m", "t1", "Bash", json!({"command": "sleep 9"})), begun] {
        let lines = frame_lines(&[init(), middle, init(), text("m2", "Two"), result("Two")]);
        assert_eq!(lines.iter().filter(|line| line.starts_with("start ")).count(), 2, "{lines:#?}");
        let ends: Vec<_> = lines.iter().filter(|line| line.starts_with("end ")).collect();
        assert_eq!(ends, [cut, "end completed - \"Two\""], "{lines:#?}");
    }
    // After a whole reply, the announcement may be that of the same process.
    let lines = frame_lines(&[init(), text("m", "One"), init(), text("m2", "Two"), result("Two")]);
    assert_eq!(lines.iter().filter(|line| line.starts_with("end ")).count(), 1, "{lines:#?}");
}
