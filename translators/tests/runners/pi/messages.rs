//! Messages: each text, reasoning and prompt once, whatever repeats it.

use super::records::*;
use serde_json::json;

#[test]
fn a_message_that_comes_four_times_is_reported_once() {
    let whole = assistant(&text("Hello"), &stop());
    let agent_end = json!({"type": "agent_end", "messages": [whole], "willRetry": false}).to_string();
    check(
        &[
            BEGIN,
            TURN,
            &about("message_start", &user("Hi")),
            &about("message_end", &user("Hi")),
            &about("message_start", &assistant(&json!([]), &json!({"stopReason": "pending"}))),
            &update(&json!({"type": "text_start", "contentIndex": 0})),
            &update(&json!({"type": "text_delta", "contentIndex": 0, "delta": "Hel"})),
            &update(&json!({"type": "text_end", "contentIndex": 0, "content": "Hello"})),
            &about("message_end", &whole),
            &about("turn_end", &whole),
            &agent_end,
            SETTLED,
        ],
        &["session_started", "user_message Hi", "output_text_completed Hello", "session_ended completed Hello"],
    );
}

#[test]
fn a_whole_message_is_enough() {
    check(
        &[BEGIN, &about("message_end", &user("Hi")), &reply(&text("Hello"), &stop()), SETTLED],
        &["session_started", "user_message Hi", "output_text_completed Hello", "session_ended completed Hello"],
    );
}

#[test]
fn blocks_keep_their_places_and_empty_or_redacted_ones_are_left_out() {
    let content = json!([
        {"type": "thinking", "thinking": "Hm.", "thinkingSignature": "s"},
        {"type": "thinking", "thinking": "[Reasoning redacted]", "thinkingSignature": "s", "redacted": true},
        {"type": "text", "text": ""},
        {"type": "text", "text": "A"},
        {"type": "text", "text": "B"}
    ]);
    let delta =
        |index: u32, kind: &str, delta: &str| update(&json!({"type": kind, "contentIndex": index, "delta": delta}));
    check(
        &[
            BEGIN,
            &delta(0, "thinking_delta", "Hm."),
            &update(&json!({"type": "thinking_end", "contentIndex": 1, "content": "[Reasoning redacted]"})),
            &delta(4, "text_delta", "B"),
            &delta(3, "text_delta", "A"),
            &reply(&content, &stop()),
            SETTLED,
        ],
        &[
            "session_started",
            "reasoning_completed Hm.",
            "output_text_completed A",
            "output_text_completed B",
            "session_ended completed B",
        ],
    );
}

#[test]
fn half_of_a_surrogate_pair_waits_for_its_other_half() {
    let half = |delta: &str| {
        format!(
            r#"{{"type":"message_update","assistantMessageEvent":{{"type":"text_delta","contentIndex":0,"delta":"{delta}"}}}}"#
        )
    };
    let whole = reply(&text("a\u{1F44D}b"), &stop());
    let seen = brief(&[BEGIN, &half(r"a\ud83d"), &half(r"\udc4db"), &whole, SETTLED]);
    assert_eq!(of(&seen, "output_text_completed"), ["a\u{1F44D}b"]);
}

#[test]
fn updates_of_version_0_73_repeat_the_message_and_only_the_piece_is_read() {
    let so_far = |text: &str| assistant(&json!([{"type": "text", "text": text}]), &json!({"stopReason": "stop"}));
    let delta = |delta: &str, all: &str| {
        let partial = so_far(all);
        let event = json!({"type": "text_delta", "contentIndex": 0, "delta": delta, "partial": partial});
        json!({"type": "message_update", "assistantMessageEvent": event, "message": partial}).to_string()
    };
    let lines = [BEGIN, &delta("ab", "ab"), &delta("cd", "abcd"), &reply(&text("abcd"), &stop()), OLD_AGENT_END];
    check(&lines, &["session_started", "output_text_completed abcd", "session_ended completed abcd"]);
}

#[test]
fn the_pieces_of_arguments_name_their_call_in_both_versions() {
    let call = call("c", "bash", &json!({"command": "ls"}));
    let partial = assistant(&json!([call]), &json!({"stopReason": "stop"}));
    for start in [
        json!({"type": "toolcall_start", "contentIndex": 0, "id": "c", "toolName": "bash"}),
        json!({"type": "toolcall_start", "contentIndex": 0, "partial": partial}),
    ] {
        let piece = json!({"type": "toolcall_delta", "contentIndex": 0, "delta": "{\"command\""});
        let end = json!({"type": "toolcall_end", "contentIndex": 0, "toolCall": call});
        let seen = brief(&[BEGIN, &update(&start), &update(&piece), &update(&end)]);
        assert_eq!(seen[..3], ["session_started", "tool_input_delta", "tool_call_proposed c"], "{start}");
    }
}

#[test]
fn a_picture_in_a_prompt_is_an_attachment_and_the_prompt_of_the_system_is_nothing() {
    let mut prompt = user("Look");
    let image = json!({"type": "image", "data": "aGk=", "mimeType": "image/png"});
    prompt["content"].as_array_mut().unwrap().push(image);
    let system = json!({"role": "system", "content": "", "sections": {"preamble": "You are"}, "timestamp": 1});
    let lines = [about("message_start", &system), about("message_end", &system), about("message_start", &prompt)];
    let input = format!("{BEGIN}\n{}", lines.join("\n"));
    let pi = framegate_translators::runners::runner("pi").unwrap();
    let frames =
        crate::support::events(pi, framegate_translators::contracts::contract("frames.v2").unwrap(), input.as_bytes());
    let prompts: Vec<_> = frames.iter().filter(|frame| frame["type"] == "user_message").collect();
    assert_eq!(prompts.len(), 1);
    assert_eq!(prompts[0]["text"], "Look");
    assert_eq!(prompts[0]["attachments"][0]["mime"], "image/png");
}

#[test]
fn a_reply_that_broke_off_has_no_text_although_its_blocks_ended() {
    let broken = json!({"stopReason": "error", "errorMessage": "Stream ended early"});
    let whole = assistant(&text("Half of"), &broken);
    let begin = [
        BEGIN.to_owned(),
        about("message_end", &user("Hi")),
        update(&json!({"type": "text_delta", "contentIndex": 0, "delta": "Half of"})),
        update(&json!({"type": "text_end", "contentIndex": 0, "content": "Half of"})),
    ];
    let end = |more: &[String]| {
        let lines: Vec<&str> = begin.iter().chain(more).map(String::as_str).chain([SETTLED]).collect();
        brief(&lines).pop().unwrap()
    };
    assert_eq!(end(&[update(&json!({"type": "error"})), about("message_end", &whole)]), "session_ended failed error");
    let goes_on = update(&json!({"type": "thinking_start", "contentIndex": 1}));
    assert_eq!(end(&[goes_on, about("message_end", &whole)]), "session_ended failed error Half of");
}
