//! Facts that only a few recordings have.

use super::cases::{Case, cases};
use super::runs::{ToolEnd, runs_of};
use framegate_translators::frame::{Body, Frame, LogLevel, PlanEntry, ProviderStatus, StreamKind, ToolKind};
use serde_json::Value;
use std::collections::BTreeSet;

/// The recordings with a fact, and the fact. There is at least one.
fn with(fact: &str) -> Vec<(Case, Value)> {
    let found = cases().into_iter().map(|case| {
        let value = case.facts()[fact].clone();
        (case, value)
    });
    let found: Vec<_> = found.filter(|(_, value)| !value.is_null()).collect();
    assert!(!found.is_empty(), "no recording has {fact}");
    found
}

fn items(value: &Value) -> &Vec<Value> {
    value.as_array().unwrap()
}

#[test]
fn the_last_plan_is_that_of_the_script() {
    for (case, plan) in with("plan_final") {
        let frames = case.frames_with_client();
        let plans: Vec<&Vec<PlanEntry>> = frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::PlanUpdated { entries } => Some(entries),
                _ => None,
            })
            .collect();
        let read = |entry: &PlanEntry| (entry.content.clone(), entry.status.to_string());
        let found: Vec<(String, String)> = plans.last().unwrap().iter().map(read).collect();
        let text = |entry: &Value, key: &str| entry[key].as_str().unwrap().to_owned();
        let expected: Vec<_> =
            items(&plan).iter().map(|entry| (text(entry, "content"), text(entry, "status"))).collect();
        assert_eq!(found, expected, "{}", case.name);
        assert!(plans.windows(2).all(|two| two[0] != two[1]), "{}: an unchanged plan is told once", case.name);
    }
}

#[test]
fn compactions_have_their_summaries() {
    for (case, compactions) in with("compactions") {
        let frames = case.frames_with_client();
        let found: Vec<Option<&str>> = frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::HistoryCompacted { summary, .. } => Some(summary.as_deref()),
                _ => None,
            })
            .collect();
        let expected: Vec<_> = items(&compactions).iter().map(|compaction| compaction["summary"].as_str()).collect();
        assert_eq!(found, expected, "{}", case.name);
    }
}

#[test]
fn notices_are_logged() {
    for (case, notices) in with("notices") {
        let frames = case.frames_with_client();
        for notice in items(&notices) {
            let level = if notice[0] == "error" { LogLevel::Error } else { LogLevel::Warn };
            let is_it = |frame: &&Frame| match &frame.body {
                Body::LogEmitted { level: found, message } => {
                    *found == level && message.starts_with(notice[1].as_str().unwrap())
                }
                _ => false,
            };
            assert_eq!(frames.iter().filter(is_it).count(), 1, "{}: {notice}", case.name);
        }
    }
}

#[test]
fn the_usage_of_an_answer_has_all_its_figures_and_the_cost() {
    for (case, expected) in with("usage_response") {
        let runs = runs_of(&case.frames_with_client());
        let usage = runs[0].usage.as_ref().unwrap();
        let figure = |key: &str| expected[key].as_u64();
        // The total of the answer says that the input contains what was cached.
        let cached = figure("cache_read_tokens").unwrap() + figure("cache_creation_tokens").unwrap();
        assert_eq!(Some(usage.input_tokens + cached), figure("input_tokens"), "{}", case.name);
        assert_eq!(Some(usage.output_tokens), figure("output_tokens"));
        assert_eq!(usage.cache_read_tokens, figure("cache_read_tokens"));
        assert_eq!(usage.cache_creation_tokens, figure("cache_creation_tokens"));
        assert_eq!(usage.reasoning_tokens, figure("reasoning_tokens"));
        assert_eq!(usage.cost_usd, case.facts()["context"]["cost"].as_f64());
    }
}

#[test]
fn output_that_is_replaced_is_told_once() {
    for (case, outputs) in with("output_once") {
        for (id, text) in outputs.as_object().unwrap() {
            let runs = runs_of(&case.frames_with_client());
            let tool = runs.iter().flat_map(|run| &run.tools).find(|tool| tool.call_id == *id).unwrap();
            let text = text.as_str().unwrap();
            assert_eq!(tool.output.matches(text).count(), 1, "{}: {:?}", case.name, tool.output);
        }
    }
}

#[test]
fn lines_that_are_no_json_are_kept_and_marked() {
    for (case, count) in with("lines_not_json") {
        for frames in [case.frames_with_client(), case.frames_of_agent()] {
            let is_invalid = |frame: &&Frame| match &frame.body {
                Body::ProviderEvent(record) => record.status == ProviderStatus::InvalidJson,
                _ => false,
            };
            let found = u64::try_from(frames.iter().filter(is_invalid).count()).unwrap();
            // A byte order mark may be skipped, and blank lines are no records.
            let least = count.as_u64().unwrap() - 3;
            assert!((least..=count.as_u64().unwrap()).contains(&found), "{}: {found} of {count}", case.name);
        }
    }
}

#[test]
fn an_unknown_update_is_marked_unless_it_is_the_agents_own() {
    for (case, kinds) in with("unknown_updates") {
        let frames = case.frames_with_client();
        for kind in items(&kinds).iter().map(|kind| kind.as_str().unwrap()) {
            let is_known = kind.starts_with('_') || kind.starts_with("plan_");
            let mark = format!("unknown update {kind:?}");
            let is_marked = frames.iter().any(|frame| match &frame.body {
                Body::ProviderEvent(record) => record.errors.iter().any(|error| error.contains(&mark)),
                _ => false,
            });
            assert_eq!(is_marked, !is_known, "{}: {kind}", case.name);
        }
    }
}

#[test]
fn an_update_of_a_tool_that_was_not_announced_is_a_tool() {
    for (case, ids) in with("tool_updates_without_call") {
        let runs = runs_of(&case.frames_with_client());
        for id in items(&ids).iter().map(|id| id.as_str().unwrap()) {
            let tool = runs.iter().flat_map(|run| &run.tools).find(|tool| tool.call_id == id).unwrap();
            assert_eq!(tool.end, Some(ToolEnd::Exit(0)), "{}", case.name);
        }
    }
}

#[test]
fn sessions_are_told_apart() {
    for case in cases() {
        let frames = case.frames_with_client();
        let of_runs = frames.iter().filter(|frame| frame.stream.kind == StreamKind::Session);
        let sessions: BTreeSet<_> = of_runs.map(|frame| frame.stream.session.id).collect();
        let prompted: BTreeSet<u64> = case.prompts().iter().filter_map(|prompt| prompt["session"].as_u64()).collect();
        assert_eq!(sessions.len(), prompted.len(), "{}", case.name);
    }
}

#[test]
fn the_kind_of_a_tool_is_what_its_agent_says() {
    for case in cases() {
        let frames = case.frames_with_client();
        for frame in &frames {
            let Body::ToolStarted { call, .. } = &frame.body else { continue };
            let tools = items(&case.recording["wire"]["tools"]);
            let Some(wire) = tools.iter().find(|tool| tool["id"] == *call.tool.call_id) else { continue };
            let expected: &[ToolKind] = match wire["kind"].as_str() {
                Some("execute") => &[ToolKind::Shell],
                // A tool that finds files may be one that reads for its agent.
                Some("read") => &[ToolKind::Read, ToolKind::Search],
                Some("edit") => &[ToolKind::Edit, ToolKind::Write],
                Some("delete" | "move") => &[ToolKind::Edit],
                Some("search") => &[ToolKind::Search],
                Some("fetch") => &[ToolKind::Fetch],
                _ => &[ToolKind::Other, ToolKind::Plan],
            };
            // A call that is first heard of in a question may be described later.
            let is_late = wire["announced_by"] == "session/request_permission" && call.kind == ToolKind::Other;
            assert!(is_late || expected.contains(&call.kind), "{}: {wire}: {:?}", case.name, call.kind);
        }
    }
}

#[test]
fn a_recording_has_the_tools_that_its_agent_told_and_no_others() {
    for case in cases() {
        let tools = items(&case.recording["wire"]["tools"]);
        let expected: BTreeSet<&str> = tools.iter().map(|tool| tool["id"].as_str().unwrap()).collect();
        for frames in [case.frames_with_client(), case.frames_of_agent()] {
            let runs = runs_of(&frames);
            let found: Vec<&str> = runs.iter().flat_map(|run| &run.tools).map(|tool| tool.call_id.as_str()).collect();
            assert_eq!(found.len(), tools.len(), "{}: {found:?}", case.name);
            assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected, "{}", case.name);
        }
    }
}
