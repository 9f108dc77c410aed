//! `pixir.v1` on every recording: the log, the live stream, and both compared with the frames.

use crate::support::*;
use framegate_translators::contracts::{Contract, contract};
use framegate_translators::encode::{EncoderOptions, EventRef, write_ndjson};
use framegate_translators::frame::{Body, Frame, StreamKind, UsageScope};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Translator;
use framegate_translators::runners::runner;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

fn pixir() -> &'static Contract {
    contract("pixir.v1").unwrap()
}

/// The events that belong to the contract's log, as lines.
fn log_of(recording: &Recording) -> Vec<u8> {
    let stays = pixir().log.unwrap();
    let mut translator =
        Translator::new(ingest(recording.runner, Limits::default()), pixir(), EncoderOptions::default());
    let mut out = Vec::new();
    let mut sink = |_: &Frame, events: &mut dyn Iterator<Item = EventRef<'_>>| {
        for event in events.filter(|event| stays(*event)) {
            write_ndjson(event, &mut out);
        }
    };
    translator.feed(&recording.bytes, EPOCH_MS, &mut sink);
    translator.finish(EPOCH_MS, &mut sink);
    out
}

fn parsed(ndjson: &[u8]) -> Vec<Value> {
    ndjson
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

/// Rebuilds the history of each session, as it would be sent to a model.
fn fold(events: &[Value]) -> BTreeMap<String, Vec<String>> {
    let mut canonical: Vec<&Value> = events.iter().filter(|event| !event["seq"].is_null()).collect();
    canonical.sort_by_key(|event| event["seq"].as_u64());
    let mut history: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for event in canonical {
        let data = &event["data"];
        let line = match event["type"].as_str().unwrap() {
            "user_message" => format!("user: {}", data["text"]),
            "assistant_message" => format!("assistant: {}", data["text"]),
            "reasoning" => format!("reasoning: {}", data["item"]),
            "tool_call" => format!("call {}: {} {}", data["call_id"], data["name"], data["args"]),
            "tool_result" => format!("result {}: {}{}", data["call_id"], data["output"], data["error"]),
            "history_compaction" => format!("compacted: {}", data["summary"]),
            _ => continue,
        };
        history.entry(event["session_id"].as_str().unwrap().to_owned()).or_default().push(line);
    }
    history
}

#[test]
fn the_log_equals_the_history_of_the_live_stream() {
    let mut folded = 0;
    for recording in recordings() {
        let log = log_of(&recording);
        let (log_events, live) = (parsed(&log), events(recording.runner, pixir(), &recording.bytes));
        assert_eq!(fold(&log_events), fold(&live), "{}", recording.name);
        let canonical: Vec<Value> = live.into_iter().filter(|event| !event["seq"].is_null()).collect();
        assert_eq!(log_events, canonical, "{}", recording.name);
        assert_clean(pixir(), &log, &recording.name);
        folded += fold(&log_events).values().map(Vec::len).sum::<usize>();
    }
    assert!(folded > 1000, "{folded}");
}

#[test]
fn envelopes_follow_the_document() {
    let mut ids = BTreeSet::new();
    for recording in recordings() {
        ids.clear();
        for event in events(recording.runner, pixir(), &recording.bytes) {
            let keys: BTreeSet<&str> = event.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(keys, BTreeSet::from(["id", "session_id", "seq", "ts", "type", "data"]));
            let id = event["id"].as_str().unwrap();
            assert!(id.len() == 16 && id.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)), "{id}");
            assert!(ids.insert(id.to_owned()), "{id}");
            let ts = event["ts"].as_str().unwrap();
            assert!(ts.len() == 27 && ts.as_bytes()[19] == b'.' && ts.ends_with('Z'), "{ts}");
            let ephemeral = ["text_delta", "reasoning_delta", "status", "plan", "context_pressure"];
            assert_eq!(event["seq"].is_null(), ephemeral.contains(&event["type"].as_str().unwrap()));
        }
    }
}

/// The frames and events of each run of a recording.
fn runs(recording: &Recording) -> BTreeMap<String, (Vec<Frame>, Vec<Value>)> {
    let mut runs: BTreeMap<String, (Vec<Frame>, Vec<Value>)> = BTreeMap::new();
    for frame in frames(recording.runner, &recording.bytes) {
        if frame.stream.kind == StreamKind::Session {
            runs.entry(frame.stream.id.to_string()).or_default().0.push(frame);
        }
    }
    for event in events(recording.runner, pixir(), &recording.bytes) {
        runs.get_mut(event["session_id"].as_str().unwrap()).unwrap().1.push(event);
    }
    runs
}

fn of_kind<'e>(events: &'e [Value], kind: &'e str) -> impl Iterator<Item = &'e Value> {
    events.iter().filter(move |event| event["type"] == kind)
}

fn final_text(frames: &[Frame]) -> Option<&str> {
    frames.iter().find_map(|frame| match &frame.body {
        Body::SessionEnded(end) => end.final_text.as_deref(),
        _ => None,
    })
}

#[test]
fn nothing_of_a_run_is_lost_or_repeated() {
    let (mut texts, mut prompts, mut tokens) = (0, 0, 0);
    let mut corrected = BTreeSet::new();
    for recording in recordings() {
        for (frames, events) in runs(&recording).values() {
            let name = &recording.name;
            let main = || frames.iter().filter(|frame| !frame.is_subagent());
            let spoken: String = main()
                .filter_map(|frame| match &frame.body {
                    Body::OutputTextCompleted(block) => Some(block.text.as_str()),
                    _ => None,
                })
                .collect();
            let kept: String =
                of_kind(events, "assistant_message").filter_map(|event| event["data"]["text"].as_str()).collect();
            let chunks: String =
                of_kind(events, "text_delta").filter_map(|event| event["data"]["chunk"].as_str()).collect();
            if !spoken.is_empty() {
                // If no block contains the final text, it is a separate message.
                let unsaid = final_text(frames).filter(|text| !spoken.contains(text));
                if unsaid.is_some() {
                    corrected.insert(name.clone());
                }
                let whole = format!("{spoken}{}", unsaid.unwrap_or_default());
                assert_eq!((&kept, &chunks), (&whole, &spoken), "{name}");
                texts += 1;
            }
            let said: Vec<&str> = main()
                .filter_map(|frame| match &frame.body {
                    Body::UserMessage(message) => Some(message.text.as_str()),
                    _ => None,
                })
                .collect();
            let actual: Vec<&str> =
                of_kind(events, "user_message").filter_map(|event| event["data"]["text"].as_str()).collect();
            let Body::SessionStarted { input } = &frames[0].body else { panic!("{name}") };
            if input.is_empty() || said.contains(&input.as_str()) {
                assert_eq!(actual, said, "{name}");
            } else {
                assert_eq!(actual[0], input, "{name}");
                assert_eq!(actual[1..], said, "{name}");
            }
            prompts += actual.len();
            tokens += usage_adds_up(frames, events, name);
        }
    }
    // The pieces of the first one's text arrive out of order; the other one's answer is the argument of a call.
    let unsaid = ["scripted__out-of-order.sse", "subagent.subagent1.jsonl"];
    assert_eq!(corrected.into_iter().collect::<Vec<_>>(), unsaid);
    assert!(texts > 100 && prompts > 50 && tokens > 1000, "{texts} {prompts} {tokens}");
}

fn usage_adds_up(frames: &[Frame], events: &[Value], name: &str) -> u64 {
    let sum = |scope: UsageScope| {
        let of_scope = frames.iter().filter_map(|frame| match &frame.body {
            Body::UsageReported(usage) if usage.scope == scope => Some(usage.output_tokens),
            _ => None,
        });
        of_scope.sum::<u64>()
    };
    let actual: u64 = of_kind(events, "provider_usage")
        .filter_map(|event| event["data"]["usage_summary"]["output_tokens"].as_u64())
        .sum();
    assert_eq!(actual, sum(UsageScope::Turn).max(sum(UsageScope::Run)), "{name}");
    actual
}

#[test]
fn every_call_has_one_result_and_subagents_are_marked() {
    let (mut calls, mut marked) = (0, 0);
    for recording in recordings() {
        for (frames, events) in runs(&recording).values() {
            let ids = |kind: &str| -> Vec<String> {
                let mut ids: Vec<String> =
                    of_kind(events, kind).map(|event| event["data"]["call_id"].to_string()).collect();
                ids.sort();
                ids
            };
            assert_eq!(ids("tool_call"), ids("tool_result"), "{}", recording.name);
            let mut known: Vec<String> = frames
                .iter()
                .filter_map(|frame| match &frame.body {
                    Body::ToolCallProposed(call) | Body::ToolStarted { call, .. } => {
                        Some(Value::from(&*call.tool.call_id).to_string())
                    }
                    _ => None,
                })
                .collect();
            known.sort();
            known.dedup();
            assert_eq!(ids("tool_call"), known, "{}", recording.name);
            calls += known.len();
            marked += of_kind(events, "tool_call").filter(|event| event["data"].get("subagent_id").is_some()).count();
        }
    }
    assert!(calls > 100 && marked > 3, "{calls} {marked}");
}

#[test]
fn canonical_events_contain_no_file_content() {
    for recording in recordings() {
        let log = String::from_utf8(log_of(&recording)).unwrap();
        for line in log.lines().filter(|line| !line.contains("\"type\":\"reasoning\"")) {
            assert!(!line.contains(";base64,"), "{}: {}", recording.name, &line[..200]);
            let longest = line
                .split(|c: char| !c.is_ascii_alphanumeric() && c != '+' && c != '/')
                .filter(|word| word.bytes().any(|byte| byte != word.as_bytes()[0]))
                .map(str::len)
                .max();
            assert!(longest.unwrap_or_default() < 1000, "{}: {}", recording.name, &line[..200]);
        }
    }
}

#[test]
fn schemas_contain_valid_examples() {
    let mut examples = 0;
    for file in pixir().schemas {
        let schema: Value = serde_json::from_str(file.text()).unwrap();
        assert!(schema["$id"].as_str().unwrap().ends_with(&format!("/pixir/v1/{}.schema.json", file.kind)));
        for example in schema["examples"].as_array().unwrap() {
            assert_eq!(schemas(pixir()).check_value(file.kind, example), Ok(()), "{}", file.kind);
            examples += 1;
        }
    }
    assert_eq!(examples, 17);
}

/// The number, type and data of each event, one event on each line.
fn short(runner_name: &str, name: &str) -> String {
    let bytes = std::fs::read(fixtures_dir(runner_name).join(name)).unwrap();
    let runner = runner(runner_name).unwrap();
    events(runner, pixir(), &bytes)
        .iter()
        .map(|event| format!("{} {} {}\n", event["seq"], event["type"].as_str().unwrap(), event["data"]))
        .collect()
}

#[test]
fn golden_runs() {
    for (runner, name) in [
        ("claude-code", "control_permission.partial.ndjson"),
        ("claude-code", "subagent.partial.ndjson"),
        ("claude-code", "killed_sigkill.partial.ndjson"),
        ("codex", "appserver-error-400.ndjson"),
        ("codex", "rollout-exec-compaction.jsonl"),
        ("opencode", "event-todo.sse"),
        ("open-responses", "aimock__tool.sse"),
    ] {
        insta::assert_snapshot!(format!("{runner}__{name}"), short(runner, name));
    }
}
