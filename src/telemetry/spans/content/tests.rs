use super::messages::{Messages, Meter, Part, Role, Text};

fn meter(limit: usize, room: usize) -> Meter {
    Meter { limit, room, used: 0 }
}

#[test]
fn a_text_is_cut_between_characters_and_marked() {
    let mut all = meter(5, 100);
    let text = all.text("ab€cd");
    assert_eq!((&*text.shown(), text.omitted(), all.used), ("ab€… [2 bytes left out]", 2, 5));
    // 4 bytes end within the euro sign.
    let text = meter(4, 100).text("ab€cd");
    assert_eq!(&*text.shown(), "ab… [5 bytes left out]");
    let text = meter(100, 3).text("ab€cd");
    assert_eq!(&*text.shown(), "ab… [5 bytes left out]");
    assert_eq!(&*meter(7, 7).text("ab€cd").shown(), "ab€cd");
}

#[test]
fn pieces_are_joined_up_to_the_limit() {
    let mut all = meter(6, 100);
    let mut text = Text::default();
    for piece in ["ab", "cde", "fgh", "i"] {
        text.append(piece, &mut all);
    }
    assert_eq!((&*text.shown(), all.used), ("abcdef… [3 bytes left out]", 6));
    let mut text = Text::default();
    text.append("tail", &mut all);
    text.prepend("fr€", &mut all);
    assert_eq!((&*text.shown(), text.held(), all.used), ("fr€t… [3 bytes left out]", 6, 12));
    // Without room, the front takes the place of the tail.
    let (mut text, mut little) = (Text::default(), meter(100, 4));
    text.append("tail", &mut little);
    text.prepend("front", &mut little);
    assert_eq!((&*text.shown(), little.used), ("fron… [5 bytes left out]", 4));
}

#[test]
fn messages_of_one_attribute_share_its_limit() {
    let (mut messages, mut all) = (Messages::default(), meter(300, 10_000));
    for _ in 0..5 {
        messages.push(Role::User, &mut all, |meter| Part::Text(meter.text(&"z".repeat(100))));
    }
    assert!(messages.held() <= 300 && messages.held() == all.used.unsigned_abs(), "{messages:?}");
    let kept = messages.json(None).unwrap().matches('z').count();
    assert_eq!(kept as u64 + messages.omitted(), 500);
}

#[test]
fn json_has_the_form_of_the_conventions() {
    let (mut messages, mut all) = (Messages::default(), meter(1_000, 10_000));
    messages.extend(Role::Assistant, &mut all, |meter| Part::Reasoning(meter.text("so")));
    messages.extend(Role::Assistant, &mut all, |meter| Part::Call {
        id: "c1".into(),
        name: "Bash".into(),
        arguments: meter.text(r#"{"n":18446744073709551616,"s":"\ud83d"}"#),
    });
    let json = r#"[{"role":"assistant","parts":[{"type":"reasoning","content":"so"},{"type":"tool_call","id":"c1","name":"Bash","arguments":{"n":18446744073709551616,"s":"\ud83d"}}],"finish_reason":"tool_call"}]"#;
    assert_eq!(messages.json(Some("tool_call")).unwrap(), json, "arguments keep their text");
    let mut cut = Messages::default();
    cut.push(Role::Assistant, &mut meter(80, 10_000), |meter| Part::Call {
        id: "c1".into(),
        name: "Bash".into(),
        arguments: meter.text(r#"{"command":"a long one"}"#),
    });
    let json = cut.json(None).unwrap();
    assert!(json.contains(r#""arguments":"{\"command\":\"a lo… [8 bytes left out]""#), "{json}");
    assert_eq!(Messages::default().json(None), None);
}

#[test]
fn reasons_have_the_words_of_the_conventions() {
    for (given, calls_tool, expected) in [
        (Some("end_turn"), false, "stop"),
        (Some("tool_use"), true, "tool_call"),
        (Some("max_tokens"), false, "length"),
        (Some("refusal"), false, "content_filter"),
        (Some("paused"), false, "paused"),
        (None, true, "tool_call"),
        (None, false, "stop"),
    ] {
        assert_eq!(super::finish_reason(given, calls_tool), expected);
    }
}
