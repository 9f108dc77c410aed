//! Texts of turns that end early.

use super::{Body, Value, alone, json, stops, update};

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
