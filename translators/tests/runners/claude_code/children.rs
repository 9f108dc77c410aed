//! Subagents, and the attribution of their frames.

use super::records::*;
use framegate_translators::frame::Body;
use serde_json::json;

#[test]
fn nested_and_parallel_children_are_distinguished() {
    let agent = |id: &str, call_id: &str, parent| {
        let block = json!({"type": "tool_use", "id": call_id, "name": "Agent", "input": {"prompt": "p"}});
        assistant_message(id, block, parent)
    };
    let say = |id: &str, parent: &str| assistant_message(id, json!({"type": "text", "text": id}), Some(parent));
    let records = [
        init(),
        agent("m1", "a", None),
        agent("m1", "b", None),
        say("ma", "a"),
        agent("mb", "c", Some("b")),
        say("mc", "c"),
        say("ma2", "a"),
        returned("c", json!("c done"), false, Some("b")),
        returned("a", json!("a done"), false, None),
        returned("b", json!("b broke"), true, None),
        text("m2", "both"),
        result("both"),
    ];
    let lines = frame_lines(&records);
    let agents: Vec<_> = lines.iter().filter(|line| line.contains("agent ")).map(|line| line.trim()).collect();
    assert_eq!(
        agents,
        ["agent a at 1", "agent b at 1", "agent c at 2", "agent c completed", "agent a completed", "agent b failed"]
    );
    let frames = frames(&records);
    let parent_of = |message: &str| {
        let at = frames
            .iter()
            .find(|frame| matches!(&frame.body, Body::OutputTextCompleted(block) if *block.message_id == *message));
        at.unwrap().parent_tool_id
    };
    let tool = |call_id: &str| {
        let at = frames.iter().find_map(|frame| match &frame.body {
            Body::ToolStarted { call, .. } if *call.tool.call_id == *call_id => {
                Some((call.tool.id, frame.parent_tool_id))
            }
            _ => None,
        });
        at.unwrap()
    };
    assert_eq!(parent_of("ma2"), Some(tool("a").0));
    assert_eq!(parent_of("mc"), Some(tool("c").0));
    assert_eq!(tool("c").1, Some(tool("b").0));
    assert_eq!(lines.iter().filter(|line| line.starts_with("turn") && !line.contains("over")).count(), 2);
}

#[test]
fn a_child_that_outlives_the_run_continues_on_the_thread() {
    let mut launched = returned("a", json!("launched"), false, None);
    launched["tool_use_result"] = json!({"isAsync": true, "status": "async_launched", "agentId": "x"});
    let lines = frame_lines(&[
        init(),
        call("m", "a", "Agent", json!({"prompt": "p"})),
        launched,
        text("m2", "off it goes"),
        result("off it goes"),
        assistant_message("c", json!({"type": "text", "text": "report"}), Some("a")),
        system(
            json!({"subtype": "task_notification", "task_id": "x", "tool_use_id": "a", "status": "completed", "summary": "report"}),
        ),
    ]);
    assert!(lines.contains(&"thread   text 0 \"report\"".to_owned()), "{lines:#?}");
    assert!(lines.contains(&"task exited".to_owned()), "{lines:#?}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("start")).count(), 1);
}
