//! Texts of turns that end early, snapshots of messages, and messages of the user.

use super::{Body, Frame, Value, alone, answer, bodies, json, prompt, stops, told, update, with_client};

#[test]
fn a_text_that_a_tool_followed_is_whole_although_the_turn_was_cancelled() {
    let named = |text: &str| {
        let content = json!({"type": "text", "text": text});
        update("S", &json!({"sessionUpdate": "agent_message_chunk", "messageId": "m", "content": content}))
    };
    let tool =
        update("S", &json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "sleep", "kind": "execute"}));
    let final_text = |messages: &[Value]| {
        let frames = alone(messages);
        let end = frames.iter().find_map(|frame| match &frame.body {
            Body::SessionEnded(end) => Some(end.final_text.clone()),
            _ => None,
        });
        end.unwrap()
    };
    assert_eq!(
        final_text(&[named("I will wait."), tool.clone(), stops(3, "cancelled")]).as_deref(),
        Some("I will wait.")
    );
    assert_eq!(final_text(&[named("I will"), tool, named(" wait"), stops(3, "cancelled")]), None);
}

fn message(kind: &str, id: &str, text: &str) -> Value {
    let block = json!({"type": "text", "text": text});
    let content = if kind.ends_with("chunk") { block } else { json!([block]) };
    update("S", &json!({"sessionUpdate": kind, "messageId": id, "content": content}))
}

fn texts(frames: &[Frame]) -> Vec<String> {
    let text = |frame: &Frame| match &frame.body {
        Body::OutputTextCompleted(completed) => Some(completed.text.clone()),
        _ => None,
    };
    frames.iter().filter_map(text).collect()
}

#[test]
fn a_snapshot_adds_only_what_its_message_has_not_said() {
    let lines = [
        message("agent_message_chunk", "a", "one "),
        message("agent_message_chunk", "b", "two"),
        message("agent_message", "a", "one "),
        message("agent_message", "a", "one and more"),
        message("agent_message", "b", "two"),
        message("agent_message", "a", "one and more"),
        message("agent_message", "b", "another"),
        message("agent_message", "b", "another"),
        stops(3, "end_turn"),
    ];
    assert_eq!(texts(&alone(&lines)), ["one ", "two", "and more", "another"]);
}

#[test]
fn messages_of_the_user_in_a_turn_are_told_apart_although_they_have_no_ids() {
    let user = |text: &str| {
        update("S", &json!({"sessionUpdate": "user_message_chunk", "content": {"type": "text", "text": text}}))
    };
    let lines = [
        prompt(3, "S"),
        user("go"),
        message("agent_message_chunk", "a", "one"),
        user("stop"),
        message("agent_message_chunk", "b", "two"),
        user("good"),
        message("agent_message_chunk", "c", "three"),
        stops(3, "end_turn"),
    ];
    let frames = with_client(&lines);
    let messages: Vec<(&str, &str)> = bodies(&frames, "user_message")
        .into_iter()
        .filter_map(|body| match body {
            Body::UserMessage(message) => Some((&*message.message_id, message.text.as_str())),
            _ => None,
        })
        .collect();
    let texts: Vec<&str> = messages.iter().map(|(_, text)| *text).collect();
    assert_eq!(
        texts,
        ["go", "stop", "good"],
        "the copy of the prompt is no message, and what contains it later is one"
    );
    let mut ids: Vec<&str> = messages.iter().map(|(id, _)| *id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 3);
}

#[test]
fn a_session_that_is_resumed_without_its_history_is_live() {
    let options = json!({"configOptions": [{"id": "mode", "category": "mode", "currentValue": "default"}]});
    let lines = [
        answer(0, &json!({"protocolVersion": 2})),
        answer(1, &options),
        message("user_message", "u", "And now?"),
        answer(2, &json!({"messageId": "u"})),
        update("S", &json!({"sessionUpdate": "state_update", "state": "running"})),
        message("agent_message_chunk", "a", "Now this."),
        update("S", &json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"})),
    ];
    assert_eq!(texts(&told(&lines)), ["Now this."]);
    // The answer to the loading of a session comes after its history.
    let history = [
        answer(0, &json!({"protocolVersion": 2})),
        message("user_message", "u", "And now?"),
        message("agent_message_chunk", "a", "Now this."),
        answer(1, &options),
    ];
    assert_eq!(texts(&told(&history)), Vec::<String>::new());
}
