//! Results for the recordings beyond the facts in their manifest.

use crate::support::{events, fixtures_dir, frames};
use framegate_translators::frame::{Body, Frame, StreamKind};
use framegate_translators::runners::{Runner, runner};
use std::collections::HashMap;
use uuid::Uuid;

fn opencode() -> &'static Runner {
    runner("opencode").unwrap()
}

fn frames_of(file: &str) -> Vec<Frame> {
    frames(opencode(), &std::fs::read(fixtures_dir("opencode").join(file)).unwrap())
}

#[test]
fn a_prompt_starts_its_run() {
    let of = |file: &str| {
        let frames = frames_of(file);
        let inputs: Vec<String> = frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::SessionStarted { input } => Some(input.clone()),
                _ => None,
            })
            .collect();
        let user: Vec<String> = frames
            .iter()
            .filter(|frame| !frame.is_subagent())
            .filter_map(|frame| match &frame.body {
                Body::UserMessage(message) => Some(message.text.clone()),
                _ => None,
            })
            .collect();
        (inputs, user)
    };
    let same = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        (words.clone(), words)
    };
    assert_eq!(of("event-revert.sse"), same(&["First", "Second", "Third"]));
    assert_eq!(of("event-old-tools.sse"), same(&["Go"]));
    assert_eq!(of("event-next-api.api.sse"), same(&["Go"]));
    assert_eq!(of("export-subagent.json"), same(&["Delegate"]));
    // A prompt that arrives while the session is busy is queued into the same run.
    let (inputs, user) = of("event-queued-prompt.sse");
    assert_eq!((inputs.as_slice(), user.len()), (&["First question".to_owned()][..], 2));
    assert_eq!(of("event-user-parts.sse").1, ["Look at @a.txt with @general"]);
}

#[test]
fn attachments_are_emitted_by_reference() {
    let frames = frames_of("event-user-parts.sse");
    let attachments: Vec<_> = frames
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::UserMessage(message) => Some(&message.attachments),
            _ => None,
        })
        .flatten()
        .collect();
    assert_eq!(attachments.len(), 1);
    assert_eq!(attachments[0].name.as_deref(), Some("a.txt"));
    let image = frames_of("run-read-image.ndjson");
    let artifacts: Vec<&str> = image
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::ToolEnded { artifacts, .. } => artifacts.as_ref().map(|artifacts| artifacts.get()),
            _ => None,
        })
        .collect();
    assert_eq!(artifacts, [r#"{"attachments":[{"bytes":70,"mime":"image/png"}]}"#]);
}

#[test]
fn approvals_are_requested_and_resolved() {
    let of = |file: &str| {
        let frames = frames_of(file);
        let tools: HashMap<Uuid, String> = frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::ToolStarted { call, .. } => Some((call.tool.id, call.tool.call_id.to_string())),
                _ => None,
            })
            .collect();
        let mut seen = Vec::new();
        for frame in &frames {
            match &frame.body {
                Body::ApprovalRequested(request) => {
                    seen.push(format!("{} for {}", request.tool_name, tools[&request.tool_id.unwrap()]));
                }
                Body::ApprovalResolved(answer) => {
                    seen.push(format!("{} {:?}", answer.decision.as_str(), answer.scope.as_deref()));
                }
                _ => {}
            }
        }
        seen
    };
    assert_eq!(of("event-permission-once.sse"), ["bash for call_1", "approved Some(\"once\")"]);
    assert_eq!(of("event-permission-always.sse"), ["bash for call_1", "approved Some(\"always\")"]);
    assert_eq!(of("event-permission-reject.sse"), ["bash for call_1", "rejected None"]);
    assert_eq!(of("event-question.sse"), ["question for call_q1", "approved Some(\"once\")"]);
}

#[test]
fn each_plan_is_emitted_once() {
    for file in ["event-todo.sse", "run-todo.ndjson"] {
        let plans: Vec<Vec<String>> = frames_of(file)
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::PlanUpdated { entries } => Some(entries.iter().map(|entry| entry.status.to_string()).collect()),
                _ => None,
            })
            .collect();
        assert_eq!(plans, [["in_progress", "pending"], ["completed", "cancelled"]], "{file}");
    }
}

#[test]
fn file_changes_are_emitted_with_their_call() {
    let of = |file: &str| -> Vec<(String, bool)> {
        frames_of(file)
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::FileChanged(change) => {
                    assert!(change.tool_id.is_some());
                    Some((format!("{} {}", change.kind.as_str(), change.path), change.diff.is_some()))
                }
                _ => None,
            })
            .collect()
    };
    let change = |words: &str, diff| (words.to_owned(), diff);
    assert_eq!(of("run-write.ndjson"), [change("add /workspace/hello.txt", false)]);
    assert_eq!(of("run-edit.ndjson"), [change("modify /workspace/app.py", true)]);
    assert_eq!(
        of("event-tools.sse"),
        [change("add /workspace/new.py", false), change("modify /workspace/new.py", true)]
    );
    assert_eq!(of("run-edit-fail.ndjson"), []);
}

#[test]
fn a_subagents_output_is_attributed_to_its_call() {
    let frames = frames_of("event-subagent.sse");
    let mut task = None;
    let mut inside = false;
    for frame in frames.iter().filter(|frame| frame.stream.kind == StreamKind::Session) {
        match &frame.body {
            Body::ToolStarted { call, .. } if &*call.name == "task" => task = Some(call.tool.id),
            Body::SubagentStarted { tool_id, agent, depth, .. } => {
                assert_eq!((*tool_id, agent.as_deref(), *depth), (task, Some("general"), 1));
                inside = true;
            }
            Body::SubagentEnded { status, .. } => {
                assert_eq!(&**status, "completed");
                inside = false;
            }
            _ => {}
        }
        if frame.is_subagent() {
            assert!(inside && frame.parent_tool_id == task, "{:?}", frame.body);
        }
    }
    assert!(task.is_some() && !inside);
    // The aborted child emits its last text after its call has ended.
    let ended: Vec<String> = frames_of("event-abort-subagent.sse")
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::ToolFailed { error, .. } => Some(error.clone()),
            Body::OutputTextCompleted(block) => Some(block.text.clone()),
            Body::SubagentEnded { status, .. } => Some(status.to_string()),
            Body::SessionEnded(end) => Some(end.reason.as_str().to_owned()),
            _ => None,
        })
        .collect();
    assert_eq!(ended, ["Task cancelled", "Child words ", "cancelled", "interrupted"]);
}

#[test]
fn a_retry_is_an_error_that_does_not_end_the_run() {
    for (file, message) in
        [("event-retry-429.sse", "Slow down"), ("event-drop-retry.sse", "Connection reset by server")]
    {
        let errors: Vec<_> = frames_of(file)
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::ErrorReported(error) => Some((error.message.clone(), error.retryable, error.attempt)),
                _ => None,
            })
            .collect();
        assert_eq!(errors, [(message.to_owned(), true, Some(1))], "{file}");
    }
}

#[test]
fn both_feeds_give_the_same_frames() {
    let bodies = |file: &str| -> Vec<String> {
        frames_of(file)
            .iter()
            .filter(|frame| frame.stream.kind == StreamKind::Session && !matches!(frame.body, Body::ProviderEvent(_)))
            .map(|frame| format!("{:?}", frame.body))
            .collect()
    };
    assert_eq!(bodies("event-global-text.global.sse"), bodies("event-global-text.instance.sse"));
    assert_eq!(bodies("event-next-api.api.sse"), bodies("event-next-api.instance.sse"));
}

#[test]
fn arguments_are_streamed_on_the_newer_surface() {
    let mut pieces = String::new();
    for frame in frames_of("event-next-api.api.sse") {
        if let Body::ToolInputDelta { delta, name, .. } = &frame.body {
            assert_eq!(&**name, "bash");
            pieces.push_str(delta);
        }
    }
    assert_eq!(pieces, "{\"command\": \"echo next\"}");
}

#[test]
fn two_recordings_as_frames() {
    let v2 = framegate_translators::contracts::contract("frames.v2").unwrap();
    for file in ["run-cost.ndjson", "event-subagent.sse"] {
        let bytes = std::fs::read(fixtures_dir("opencode").join(file)).unwrap();
        let actual: String = events(opencode(), v2, &bytes)
            .iter()
            .filter(|event| event["type"] != "provider_event")
            .map(|event| format!("{event}\n"))
            .collect();
        insta::assert_snapshot!(file, actual);
    }
}
