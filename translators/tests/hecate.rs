//! `hecate.v1` on the recordings.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use framegate_translators::contracts::hecate::V1;
use framegate_translators::encode::EncoderOptions;
use framegate_translators::frame::Frame;
use framegate_translators::framing::{Limits, write_ndjson};
use framegate_translators::pipeline::Translator;
use serde_json::Value;
use std::collections::BTreeSet;
use support::*;

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
fn experimental_groups_are_clean_and_come_only_when_asked_for() {
    let experimental = EncoderOptions { experimental: true, task_budget_micros_usd: Some(1_000) };
    let (mut core, mut all) = (BTreeSet::new(), BTreeSet::new());
    for recording in recordings() {
        let out = translate_with(&recording, &experimental);
        assert_clean(&V1, &out, &recording.name);
        all.extend(kinds(&out));
        core.extend(kinds(&translate_with(&recording, &EncoderOptions::default())));
    }
    assert_eq!(core.iter().find(|kind| is_experimental(kind)), None);
    assert!(core.iter().all(|kind| !kind.starts_with("cost.budget")), "no budget was set");
    let more: Vec<&str> = all.difference(&core).map(String::as_str).collect();
    eprintln!("{core:#?}");
    assert_eq!(
        more,
        [
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
        ]
    );
}
