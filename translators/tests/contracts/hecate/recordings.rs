//! `hecate.v1` on the recordings.

use crate::support::*;
use framegate_translators::contracts::hecate::V1;
use framegate_translators::encode::{EncoderOptions, write_ndjson};
use framegate_translators::frame::Frame;
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Translator;
use serde_json::Value;
use std::collections::BTreeSet;

fn translate_with(recording: &Recording, options: &EncoderOptions) -> Vec<u8> {
    let mut translator = Translator::new(ingest(recording.runner, Limits::default()), &V1, options.clone());
    let mut out = Vec::new();
    let mut sink = |_: &Frame, events: &mut dyn Iterator<Item = framegate_translators::encode::EventRef<'_>>| {
        events.for_each(|event| write_ndjson(event, &mut out));
    };
    translator.feed(&recording.bytes, EPOCH_MS, &mut sink);
    translator.finish(EPOCH_MS, &mut sink);
    out
}

fn kinds(ndjson: &[u8]) -> BTreeSet<String> {
    let lines = ndjson.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice::<Value>(line).unwrap()["type"].as_str().unwrap().to_owned()).collect()
}

fn is_experimental(kind: &str) -> bool {
    ["assistant.thinking_", "artifact.", "tool.edit.", "tool.multi_edit.", "tool.file_write."]
        .iter()
        .any(|group| kind.starts_with(group))
}

#[test]
fn experimental_groups_are_valid_and_only_on_request() {
    let experimental =
        EncoderOptions { experimental: true, task_budget_micros_usd: Some(1_000), ..EncoderOptions::default() };
    let (mut core, mut all) = (BTreeSet::new(), BTreeSet::new());
    for recording in recordings() {
        let out = translate_with(&recording, &experimental);
        assert_clean(&V1, &out, &recording.name);
        all.extend(kinds(&out));
        core.extend(kinds(&translate_with(&recording, &EncoderOptions::default())));
    }
    assert_eq!(core.iter().find(|kind| is_experimental(kind)), None);
    assert!(core.iter().all(|kind| !kind.starts_with("cost.budget")), "no budget was set");
    for kind in [
        "artifact.created",
        "assistant.thinking_complete",
        "assistant.thinking_delta",
        "cost.budget_exceeded",
        "cost.budget_warning",
        "tool.edit.applied",
        "tool.edit.proposed",
        "tool.file_write.proposed",
        "tool.multi_edit.applied",
        "tool.multi_edit.proposed",
    ] {
        assert!(all.contains(kind), "{kind}");
    }
}

#[test]
fn user_messages_are_valid_and_only_on_request() {
    let options = EncoderOptions { user_messages: true, ..EncoderOptions::default() };
    let mut all = BTreeSet::new();
    for recording in recordings() {
        let out = translate_with(&recording, &options);
        assert_clean(&V1, &out, &recording.name);
        all.extend(kinds(&out));
    }
    assert!(all.contains("user.attachment") && all.contains("user.message"));
}

#[test]
fn event_types_of_the_recordings() {
    let mut core = BTreeSet::new();
    for recording in recordings() {
        core.extend(kinds(&translate_with(&recording, &EncoderOptions::default())));
    }
    for kind in [
        "approval.requested",
        "approval.resolved",
        "assistant.final_answer",
        "assistant.text_complete",
        "assistant.text_delta",
        "assistant.tool_call_proposed",
        "cost.tick",
        "error.upstream",
        "gap.run_disconnected",
        "run.cancelled",
        "run.failed",
        "run.finished",
        "run.started",
        "tool.cancelled",
        "tool.completed",
        "tool.failed",
        "tool.file_read.completed",
        "tool.glob.completed",
        "tool.grep.completed",
        "tool.invoked",
        "tool.shell.command",
        "tool.shell.exited",
        "tool.shell.output_chunk",
        "tool.started",
        "tool.todo_write.updated",
        "tool.web_fetch.requested",
        "tool.web_fetch.response",
        "tool.web_search.requested",
        "tool.web_search.response",
        "turn.completed",
        "turn.failed",
        "turn.started",
    ] {
        assert!(core.contains(kind), "{kind}");
    }
    assert_eq!(core.iter().find(|kind| kind.starts_with("user.")), None, "no part of the candidate core");
}

#[test]
fn a_run_that_is_cut_anywhere_is_valid() {
    let options = EncoderOptions { experimental: true, task_budget_micros_usd: Some(1), ..EncoderOptions::default() };
    for mut recording in recordings().filter(|recording| recording.bytes.len() < 20_000) {
        let bytes = std::mem::take(&mut recording.bytes);
        for cut in (0..bytes.len()).step_by((bytes.len() / 12).max(1)) {
            recording.bytes = bytes[..cut].to_vec();
            assert_clean(&V1, &translate_with(&recording, &options), &format!("{} cut at {cut}", recording.name));
        }
    }
}

#[test]
fn a_recording_in_hecate() {
    let runner = framegate_translators::runners::RUNNERS.iter().find(|runner| runner.name == "codex").unwrap();
    let recording = recordings_of(runner)
        .into_iter()
        .find(|recording| recording.name == "appserver-filechange-approval.ndjson")
        .unwrap();
    let options = EncoderOptions { experimental: true, ..EncoderOptions::default() };
    insta::assert_snapshot!(String::from_utf8(translate_with(&recording, &options)).unwrap());
}

#[test]
fn the_fast_validator_supports_every_schema() {
    // Events then need no second parse.
    for file in V1.schemas {
        let schema = framegate_translators::json::Json::parse(file.text()).unwrap();
        assert!(framegate_translators::schema::rules::Rules::compile(schema).is_some(), "{}", file.kind);
    }
}

#[test]
fn the_calls_of_a_subagent_that_outlives_its_call_name_that_call() {
    let runner = framegate_translators::runners::runner("claude-code").unwrap();
    let is_it = |recording: &Recording| recording.name == "subagent_background.ndjson";
    let recording = recordings_of(runner).into_iter().find(is_it).unwrap();
    let out = translate_with(&recording, &EncoderOptions::default());
    let lines = out.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let invoked: Vec<Value> = lines
        .map(|line| serde_json::from_slice::<Value>(line).unwrap())
        .filter(|event| event["type"] == "tool.invoked")
        .map(|event| event["data"].clone())
        .collect();
    let [agent, work] = invoked.as_slice() else { panic!("{invoked:#?}") };
    assert_eq!(work["parent_tool_call_id"], agent["tool_call_id"]);
}
