//! Texts: whole, streamed, broken, void, and errors that look like texts.

use super::records::*;
use serde_json::json;

fn texts(records: &[serde_json::Value]) -> Vec<String> {
    let is_text = |line: &String| ["text ", "thought ", "end ", "+ "].iter().any(|start| line.starts_with(start));
    frame_lines(records).into_iter().filter(is_text).collect()
}

#[test]
fn indexes_restart_in_each_record_and_the_blocks_of_a_reply_count_on() {
    let streamed = [
        init(),
        message_start("a"),
        block_start(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        event(
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}}),
        ),
        block_stop(),
        assistant("a", json!({"type": "thinking", "thinking": "Hm.", "signature": ""}), no_usage(), None),
        text_start(),
        text_delta("On"),
        text_delta("e."),
        block_stop(),
        text("b", "One."),
        block_start(0, json!({"type": "tool_use", "id": "t", "name": "glob", "input": {}})),
        event(
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{}"}}),
        ),
        block_stop(),
        call("c", "t", "glob", json!({})),
        message_stop(),
        returned("t", "x", false, None),
        message_start("d"),
        text_start(),
        text_delta("Two."),
        last_text("d", "Two."),
        message_stop(),
        result("Two.", usage(2, 2)),
    ];
    let lines = frame_lines(&streamed);
    assert_eq!(
        lines,
        [
            "start \"\"",
            "turn",
            "thought 0 \"Hm.\"",
            "+ \"On\"",
            "+ \"e.\"",
            "text 1 \"One.\"",
            "input t {}",
            "call t glob {}",
            "usage turn 1/1",
            "output t \"x\"",
            "returned t 0",
            "turn over -",
            "turn",
            "+ \"Two.\"",
            "text 0 \"Two.\"",
            "usage turn 1/1",
            "turn over -",
            "usage run 2/2",
            "end completed - \"Two.\"",
        ]
    );
    // Whole records give the same frames, but for the pieces.
    let is_whole = |record: &&serde_json::Value| record["type"] != "stream_event";
    let whole: Vec<_> = streamed.iter().filter(is_whole).cloned().collect();
    let without = |lines: Vec<String>| -> Vec<String> {
        lines.into_iter().filter(|line| !line.starts_with("+ ") && !line.starts_with("input ")).collect()
    };
    assert_eq!(without(frame_lines(&whole)), without(lines));
}

#[test]
fn an_error_of_the_api_in_a_block_of_its_own_is_no_text() {
    let error = "[API Error: 400 no]";
    assert_eq!(texts(&[init(), text("a", error), failed(error)]), ["end failed invalid_request \"-\""]);
    let streamed = [
        init(),
        message_start("a"),
        text_start(),
        text_delta(error),
        block_stop(),
        text("a", error),
        message_stop(),
        failed(error),
    ];
    assert_eq!(texts(&streamed), ["end failed invalid_request \"-\""]);
}

#[test]
fn an_error_that_is_glued_to_a_text_is_cut_off() {
    let error = "[API Error: Internal error.]";
    let whole = format!("Half of an ans{error}");
    let expected = ["+ \"Half of an ans\"", "text 0 \"Half of an ans\"", "end failed api_error \"-\""];
    assert_eq!(texts(&[init(), text("a", &whole), failed(error)]), expected);
    let streamed = [
        init(),
        message_start("a"),
        text_start(),
        text_delta("Half of an ans"),
        text_delta(error),
        block_stop(),
        text("a", &whole),
        message_stop(),
        failed(error),
    ];
    assert_eq!(texts(&streamed), expected);
}

#[test]
fn what_looks_like_an_error_and_is_none_is_emitted() {
    let said = "It prints [API Error: 400 no]";
    let expected = ["+ \"It prints \"", "+ \"[API Error: 400 no]\"", "text 0 \"It prints [API Error: 400 no]\""];
    for next in [result(said, usage(1, 1)), returned("t", "x", false, None), failed("another error")] {
        let lines = texts(&[init(), last_text("a", said), next.clone()]);
        assert_eq!(lines[..3], expected, "{next}");
    }
    // The end of the input settles it too.
    assert_eq!(texts(&[init(), last_text("a", said)])[..3], expected);
    // A quotation before the error stays.
    let both = "See [API Error: 1]. [API Error: 500 down]";
    let lines = texts(&[init(), text("a", both), failed("[API Error: 500 down]")]);
    assert_eq!(lines[2], "text 0 \"See [API Error: 1]. \"");
    assert_eq!(lines[3], "end failed server_error \"-\"");
}

#[test]
fn a_long_text_is_not_withheld() {
    let long = format!("[API Error: {}", "x".repeat(70_000));
    let streamed = [init(), message_start("a"), text_start(), text_delta(&long[..20]), text_delta(&long[20..])];
    let lines = texts(&streamed);
    assert!(lines.iter().filter(|line| line.starts_with("+ ")).count() == 2, "it is emitted before its end");
}

#[test]
fn a_void_attempt_is_not_the_answer() {
    let records = [init(), text("a", "Half"), retry(false), failed("[API Error: 500 down]")];
    assert_eq!(texts(&records), ["+ \"Half\"", "text 0 \"Half\"", "end failed server_error \"-\""]);
    let records = [init(), text("a", "Half"), retry(false), last_text("b", "Whole."), result("Whole.", usage(1, 1))];
    assert_eq!(texts(&records).last().unwrap(), "end completed - \"Whole.\"");
}

#[test]
fn a_text_that_is_preserved_goes_on_in_the_same_block() {
    let records = [
        init(),
        message_start("a"),
        text_start(),
        text_delta("Half"),
        retry(true),
        text_delta("The whole."),
        block_stop(),
        last_text("a", "HalfThe whole."),
        message_stop(),
        result("HalfThe whole.", usage(1, 1)),
    ];
    assert_eq!(
        texts(&records),
        ["+ \"Half\"", "+ \"The whole.\"", "text 0 \"HalfThe whole.\"", "end completed - \"HalfThe whole.\""]
    );
}

#[test]
fn an_interrupted_text_is_not_the_answer() {
    let records = [init(), text("a", "One two"), failed("Operation cancelled.")];
    assert_eq!(texts(&records), ["+ \"One two\"", "text 0 \"One two\"", "end interrupted interrupted \"-\""]);
    // Without a result, a text without figures was cut off as well.
    assert_eq!(texts(&[init(), text("a", "One two")]).last().unwrap(), "end interrupted stream_ended \"-\"");
    let whole = texts(&[init(), last_text("a", "One two")]);
    assert_eq!(whole.last().unwrap(), "end interrupted stream_ended \"One two\"");
}

#[test]
fn a_server_without_figures_still_has_answers() {
    let zeros = json!({"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 0});
    let lines = frame_lines(&[init(), text("a", "Done."), result("Done.", zeros)]);
    assert_eq!(
        lines,
        ["start \"\"", "turn", "+ \"Done.\"", "text 0 \"Done.\"", "turn over -", "end completed - \"Done.\""]
    );
}

#[test]
fn a_record_that_arrives_twice_is_emitted_once() {
    let records = [init(), last_text("a", "Done."), last_text("a", "Done."), result("Done.", usage(1, 1))];
    assert_eq!(texts(&records).len(), 3);
}

#[test]
fn a_whole_text_that_contradicts_its_pieces_is_an_error_of_its_record() {
    let records = [init(), message_start("a"), text_start(), text_delta("abc"), last_text("a", "xyz")];
    let lines = frame_lines(&records);
    assert!(lines.iter().any(|line| line.starts_with("record error")), "{lines:?}");
    assert!(lines.contains(&"text 0 \"abc\"".to_owned()), "{lines:?}");
}

#[test]
fn a_piece_that_is_missing_is_taken_from_the_whole_text() {
    let records =
        [init(), message_start("a"), text_start(), text_delta("ab"), last_text("a", "abc"), result("abc", usage(1, 1))];
    assert_eq!(texts(&records)[..3], ["+ \"ab\"", "+ \"c\"", "text 0 \"abc\""]);
}

#[test]
fn a_surrogate_pair_in_two_pieces_is_one_character() {
    let delta = |text: &str| {
        format!(
            r#"{{"type":"stream_event","session_id":"{SESSION}","event":{{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{text}"}}}}}}"#
        )
    };
    let mut bytes = lines_of(&[init(), message_start("a"), text_start()]);
    bytes.extend(format!("{}\n{}\n", delta("a\\ud83d"), delta("\\udc4db")).into_bytes());
    bytes.extend(lines_of(&[last_text("a", "a👍b"), result("a👍b", usage(1, 1))]));
    let lines: Vec<String> = crate::support::frames(qwen(), &bytes).iter().filter_map(line).collect();
    assert_eq!(lines[2..5], ["+ \"a\"", "+ \"👍b\"", "text 0 \"a👍b\""]);
}

#[test]
fn half_of_a_surrogate_pair_in_the_arguments_waits_for_its_other_half() {
    let begin = event(json!({"type": "content_block_start", "index": 0,
        "content_block": {"type": "tool_use", "id": "c", "name": "edit", "input": {}}}));
    let piece = |text: &str| {
        let delta = json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": "HALF"}});
        serde_json::to_string(&event(delta)).unwrap().replace("HALF", text)
    };
    let begun = [init(), message_start("m"), begin].map(|record| record.to_string());
    let mut lines = begun.to_vec();
    lines.extend([piece(r"a\ud83d"), piece(r"\udc4db")]);
    let all = crate::support::frames(qwen(), lines.join("\n").as_bytes());
    let told: Vec<String> = all.iter().filter_map(line).filter(|line| line.starts_with("input ")).collect();
    assert_eq!(told, ["input c a", "input c \u{1F44D}b"]);
}
