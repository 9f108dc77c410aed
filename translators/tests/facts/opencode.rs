//! Every fact in the manifest of OpenCode's recordings, checked against the frames.

mod frame_facts;

use crate::support::*;
use frame_facts::{FrameFacts, collect_facts};
use framegate_translators::frame::{Body, EndReason, Frame, StreamKind, Usage, UsageScope};
use framegate_translators::runners::{Runner, runner};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};

fn opencode() -> &'static Runner {
    runner("opencode").unwrap()
}

fn manifest() -> Vec<Value> {
    let text = std::fs::read(fixtures_dir("opencode").join("MANIFEST.json")).unwrap();
    let manifest: Value = serde_json::from_slice(&text).unwrap();
    manifest["recordings"].as_array().unwrap().clone()
}

fn ends(frames: &[Frame]) -> Vec<&framegate_translators::frame::SessionEnded> {
    let end = |frame: &'_ Frame| matches!(frame.body, Body::SessionEnded(_));
    frames
        .iter()
        .filter(|frame| end(frame))
        .map(|frame| match &frame.body {
            Body::SessionEnded(end) => &**end,
            _ => unreachable!(),
        })
        .collect()
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// Compares a text with the manifest, which has the length and the beginning of a long text.
fn same_text(actual: &str, fact: &Value) -> bool {
    match fact {
        Value::String(text) => actual == text,
        long => {
            // The recording has the whole text, which `long_texts_are_complete` compares.
            actual.encode_utf16().count() as u64 == long["length_utf16"].as_u64().unwrap()
                && actual.starts_with(long["starts"].as_str().unwrap())
        }
    }
}

struct Checked<'a> {
    file: &'a str,
    surface: &'a str,
    facts: &'a serde_json::Map<String, Value>,
}

impl Checked<'_> {
    fn list(&self, key: &str) -> Vec<String> {
        self.facts.get(key).map(strings).unwrap_or_default()
    }

    /// Checks the facts of one session, whose runs end with these frames.
    fn check(&self, actual: &FrameFacts, frames: &[Frame], main: bool) {
        let file = self.file;
        for key in self.facts.keys() {
            let known = [
                "texts",
                "reasoning",
                "tools",
                "finish_reasons",
                "steps",
                "final_text",
                "usage_sum",
                "cost",
                "terminal",
                "error",
                "note",
                "compaction_summary_texts",
                "synthetic_user_texts",
                "abandoned_text",
                "step_starts",
                "terminal_note",
                "removed_texts",
                "child",
                "by_session",
                "reasoning_hidden",
                "synthetic_texts",
                "tool_line_order",
                "child_tools_not_visible",
                "sessions",
            ];
            assert!(known.contains(&key.as_str()), "{file}: the fact {key} is checked nowhere");
        }
        self.texts(actual);
        self.reasoning(actual);
        self.tools(actual);
        self.usage(actual);
        if main {
            let reasons = strings(&self.facts["finish_reasons"]);
            assert_eq!(actual.stop_reasons, reasons, "{file}: finish reasons");
            assert_eq!(actual.stop_reasons.len() as u64, self.facts["steps"].as_u64().unwrap(), "{file}: steps");
            if let Some(starts) = self.facts.get("step_starts") {
                assert_eq!(actual.turns as u64, starts.as_u64().unwrap(), "{file}: step starts");
            }
            self.end(frames);
        } else {
            // Only the main thread has turns. A child's usage records show the number of its steps.
            assert_eq!(actual.usage.len() as u64, self.facts["steps"].as_u64().unwrap(), "{file}: steps of a child");
            assert_eq!(self.facts["finish_reasons"].as_array().unwrap().len(), actual.usage.len(), "{file}: steps");
            assert_eq!(
                actual.texts.last().map(String::as_str),
                self.facts["final_text"].as_str(),
                "{file}: last words"
            );
            let ended = frames.iter().find_map(|frame| match &frame.body {
                Body::SubagentEnded { status, summary, .. } => Some((status.to_string(), summary.clone())),
                _ => None,
            });
            let terminal = self.facts["terminal"].as_str().unwrap().to_owned();
            assert_eq!(ended, Some((terminal, actual.texts.last().cloned())), "{file}: end of a child");
        }
    }

    fn texts(&self, actual: &FrameFacts) {
        let file = self.file;
        let mut texts = self.facts["texts"].as_array().unwrap().clone();
        // Synthetic texts of the runner are not texts of the assistant.
        let synthetic = [self.list("synthetic_texts"), self.list("synthetic_user_texts")].concat();
        texts.retain(|text| !synthetic.iter().any(|synthetic| text == synthetic));
        for text in &synthetic {
            assert!(!actual.texts.contains(text) && !actual.user.contains(text), "{file}: {text:?}");
        }
        let summaries = self.summaries();
        for summary in &summaries {
            if self.surface == "run" {
                // On this surface a summary looks like an answer when it arrives. A later mark only says that there was a
                // compaction.
                assert!(actual.texts.contains(summary) && actual.compactions == [None], "{file}: compaction");
            } else {
                assert!(actual.compactions.contains(&Some(summary.clone())), "{file}: compaction");
                texts.retain(|text| text != summary);
            }
        }
        assert_eq!(actual.compactions.len(), summaries.len(), "{file}: compactions");
        let mut said = actual.texts.clone();
        if let Some(abandoned) = self.facts.get("abandoned_text").and_then(Value::as_str) {
            let at = said.iter().position(|text| text == abandoned).unwrap();
            said.remove(at);
        }
        assert_eq!(said.len(), texts.len(), "{file}: {said:?}");
        for (text, fact) in said.iter().zip(&texts) {
            assert!(same_text(text, fact), "{file}: {text:?} instead of {fact}");
        }
        for removed in self.list("removed_texts") {
            assert!(said.contains(&removed), "{file}: removed parts were emitted before");
        }
    }

    fn summaries(&self) -> Vec<String> {
        if self.file == "event-summarize.sse" {
            // For a manual compaction, the manifest lists the summary only among the texts, and as the final text.
            return vec![self.facts["final_text"].as_str().unwrap().to_owned()];
        }
        self.list("compaction_summary_texts")
    }

    fn reasoning(&self, actual: &FrameFacts) {
        assert_eq!(actual.reasoning, strings(&self.facts["reasoning"]), "{}: reasoning", self.file);
        for hidden in self.list("reasoning_hidden") {
            assert!(!actual.reasoning.contains(&hidden), "{}: hidden reasoning", self.file);
        }
    }

    fn tools(&self, actual: &FrameFacts) {
        let file = self.file;
        let facts = self.facts["tools"].as_array().unwrap();
        let visible: Vec<&Value> = facts.iter().filter(|tool| tool["visible"] != Value::Bool(false)).collect();
        assert_eq!(actual.tools.len(), visible.len(), "{file}: calls");
        for tool in &visible {
            let call = &actual.tools[tool["callID"].as_str().unwrap()];
            assert_eq!(call.name, tool["tool"].as_str().unwrap(), "{file}: name");
            assert_eq!(call.args, tool["input"], "{file}: input");
            assert_eq!(call.proposals, 1, "{file}: proposals");
            if let Some(scripted) = tool.get("scripted_tool") {
                assert_eq!(&call.args["tool"], scripted, "{file}: the tool that there is not");
                // `scripted_input` is the model's input, which the runner does not report.
                assert!(tool.get("scripted_input").is_some());
            }
            let said =
                [call.output.as_str(), call.errors.as_str(), call.failed.as_deref().unwrap_or_default()].concat();
            match tool["status"].as_str().unwrap() {
                // A call of an unknown tool is `completed`, but never ran.
                "completed" if call.name == "invalid" => assert!(call.failed.is_some(), "{file}: {}", call.name),
                "completed" => assert!(call.exit_code.is_some(), "{file}: {}", call.name),
                "error" => {
                    assert!(call.failed.is_some() != call.exit_code.is_some_and(|code| code != 0), "{file}: failure");
                    assert!(said.contains(tool["error_contains"].as_str().unwrap()), "{file}: {said:?}");
                }
                other => panic!("{file}: status {other}"),
            }
            if let Some(part) = tool.get("output_contains") {
                assert!(said.contains(part.as_str().unwrap()), "{file}: {said:?}");
            }
            if let Some(whole) = tool.get("output_equals") {
                assert_eq!(said, whole.as_str().unwrap(), "{file}: output");
            }
        }
        if let Some(order) = self.facts.get("tool_line_order") {
            assert_eq!(actual.order, strings(order), "{file}: order of results");
        }
        for hidden in self.list("child_tools_not_visible") {
            assert!(!actual.tools.contains_key(&hidden), "{file}: a child's call");
        }
    }

    fn usage(&self, actual: &FrameFacts) {
        let file = self.file;
        // In addition to its calls' usage, each run has their sum.
        let is_total = |usage: &&Usage| usage.scope == UsageScope::Run;
        let totals: u64 =
            actual.usage.iter().filter(is_total).map(|usage| usage.main_thread.as_ref().unwrap().input_tokens).sum();
        let has_total = actual.usage.iter().any(|usage| usage.scope == UsageScope::Run);
        let mut actual = FrameFacts { usage: actual.usage.clone(), ..FrameFacts::default() };
        actual.usage.retain(|usage| usage.scope == UsageScope::Turn);
        let actual = &actual;
        // A child session's frames are distinguishable from those of the run.
        let calls = actual.usage.iter().map(|usage| usage.input_tokens).sum::<u64>();
        assert!(!has_total || totals == calls, "{file}: total {totals}, calls {calls}");
        let sum = |of: fn(&Usage) -> u64| actual.usage.iter().map(of).sum::<u64>();
        let Some(facts) = self.facts["usage_sum"].as_object() else {
            assert!(actual.usage.is_empty(), "{file}: usage of a step that was never accounted");
            return;
        };
        let fact = |key: &str| facts[key].as_u64().unwrap();
        assert_eq!(sum(|usage| usage.input_tokens), fact("input"), "{file}: input");
        // The runner counts reasoning in addition to the output, frames count it as part of the output.
        assert_eq!(sum(|usage| usage.output_tokens), fact("output") + fact("reasoning"), "{file}: output");
        assert_eq!(sum(|usage| usage.reasoning_tokens.unwrap_or_default()), fact("reasoning"), "{file}: reasoning");
        assert_eq!(sum(|usage| usage.cache_read_tokens.unwrap_or_default()), fact("cache_read"), "{file}: cache");
        assert_eq!(sum(|usage| usage.cache_creation_tokens.unwrap_or_default()), fact("cache_write"), "{file}: cache");
        let cost: f64 = actual.usage.iter().filter_map(|usage| usage.cost_usd).sum();
        assert!((cost - self.facts["cost"].as_f64().unwrap()).abs() < 1e-9, "{file}: cost {cost}");
        assert!(actual.usage.iter().all(|usage| usage.cost_usd.is_some()), "{file}: each step has a price");
    }

    fn end(&self, frames: &[Frame]) {
        let file = self.file;
        let ends = ends(frames);
        let last = ends.last().unwrap();
        let terminal = self.facts["terminal"].as_str().unwrap();
        let (reason, code) = match terminal {
            "completed" if file == "run-length-finish.ndjson" => (EndReason::Completed, Some("max_output_tokens")),
            "completed" => (EndReason::Completed, None),
            // A refused permission stops the turn, and the runner reports success (exit code 0, no error).
            "blocked" => (EndReason::Completed, None),
            "aborted" => (EndReason::Interrupted, Some("aborted")),
            "interrupted" => (EndReason::Interrupted, Some("stream_ended")),
            "error" => (EndReason::Failed, last.error_code.as_deref()),
            other => panic!("{file}: terminal {other}"),
        };
        assert_eq!((last.reason, last.error_code.as_deref()), (reason, code), "{file}: end");
        assert_eq!(last.error_code.is_some(), last.message.is_some(), "{file}: message");
        let final_text = &self.facts["final_text"];
        match (terminal, final_text) {
            // The answer of a manual compaction is its summary, which is not a text of the assistant.
            _ if file == "event-summarize.sse" => assert!(last.final_text.is_none(), "{file}"),
            (_, Value::String(_) | Value::Object(_)) => {
                assert!(same_text(last.final_text.as_deref().unwrap(), final_text), "{file}: final text");
            }
            // The manifest has no final text for two sessions together; each session is checked separately.
            _ if self.facts.contains_key("by_session") => {}
            // An aborted run keeps its last complete text; the manifest only counts texts of complete steps. Neither includes
            // text that was cut off.
            ("aborted", _) if file == "event-abort-tool.sse" => {
                assert_eq!(last.final_text.as_deref(), Some("Slow one."));
            }
            _ => assert!(last.final_text.is_none(), "{file}: {:?}", last.final_text),
        }
        let Some(error) = self.facts.get("error") else {
            assert!(
                last.message.is_none()
                    || terminal == "interrupted"
                    || last.error_code.as_deref() == Some("max_output_tokens"),
                "{file}: {:?}",
                last.message
            );
            return;
        };
        if terminal == "aborted" {
            assert_eq!(error["name"], "MessageAbortedError", "{file}");
            return;
        }
        assert_eq!(error["name"], "APIError", "{file}: other errors have other codes");
        let reported: Vec<_> = frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::ErrorReported(error) => Some(error),
                _ => None,
            })
            .collect();
        assert_eq!(reported.len(), 1, "{file}: an error is reported once");
        let contains = error["message_contains"].as_str().unwrap();
        assert!(
            reported[0].message.contains(contains) && last.message.as_deref().unwrap().contains(contains),
            "{file}"
        );
        assert_eq!(reported[0].http_status.map(u64::from), error["statusCode"].as_u64(), "{file}");
        assert_eq!(Some(reported[0].retryable), error["isRetryable"].as_bool(), "{file}");
    }
}

#[test]
fn every_fact_of_every_recording_is_in_the_frames() {
    let mut checked = HashSet::new();
    for recording in manifest() {
        let file = recording["file"].as_str().unwrap();
        checked.insert(file.to_owned());
        let bytes = std::fs::read(fixtures_dir("opencode").join(file)).unwrap();
        let frames = frames(opencode(), &bytes);
        let facts = recording["facts"].as_object().unwrap();
        let surface = recording["surface"].as_str().unwrap();
        let of_runs = || frames.iter().filter(|frame| frame.stream.kind == StreamKind::Session);
        let checker = Checked { file, surface, facts };
        checker.check(&collect_facts(of_runs().filter(|frame| !frame.is_subagent())), &frames, true);
        if let Some(child) = facts.get("child").and_then(Value::as_object) {
            let actual = collect_facts(of_runs().filter(|frame| frame.is_subagent()));
            if surface == "export" {
                // An exported document does not contain child sessions, which are exported separately.
                assert!(actual.texts.is_empty() && actual.tools.is_empty());
            } else {
                Checked { file, surface, facts: child }.check(&actual, &frames, false);
            }
        }
        let sessions: Vec<&str> = recording
            .get("sessions")
            .map(|list| list.as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect())
            .unwrap_or_default();
        for (facts, session) in facts.get("by_session").and_then(Value::as_array).into_iter().flatten().zip(&sessions) {
            let own: Vec<Frame> = of_runs().filter(|frame| *frame.stream.session.name == **session).cloned().collect();
            Checked { file, surface, facts: facts.as_object().unwrap() }.check(&collect_facts(own.iter()), &own, true);
        }
        number_of_runs(&recording, file, &frames);
        if let Some(order) = recording.get("tool_line_order") {
            assert_eq!(collect_facts(of_runs()).order, strings(order), "{file}: order of the lines");
        }
    }
    let files: HashSet<String> = recordings_of(opencode()).into_iter().map(|recording| recording.name).collect();
    assert_eq!(checked, files, "every recording is in the manifest");
}

fn number_of_runs(recording: &Value, file: &str, frames: &[Frame]) {
    // The manifest counts the idle events of the first session.
    let first = recording.get("sessions").and_then(|sessions| sessions[0].as_str());
    let is_of_first = |frame: &&Frame| first.is_none_or(|first| *frame.stream.session.name == *first);
    let of_first: Vec<Frame> = frames.iter().filter(is_of_first).cloned().collect();
    let runs = ends(&of_first).len() as u64;
    let sessions = recording.get("sessions").map_or(1, |sessions| sessions.as_array().unwrap().len());
    assert!(sessions > 1 || runs == ends(frames).len() as u64, "{file}: runs of a child");
    let terminal = recording["facts"]["terminal"].as_str().unwrap();
    match recording.get("idle_events_of_root").and_then(Value::as_u64) {
        // The newer surface has no idle event.
        Some(0) | None => assert_eq!(runs, 1, "{file}: runs"),
        // After an abort or an error, the idle event occurs twice.
        Some(idle) if matches!(terminal, "aborted" | "error") => assert_eq!(runs, idle / 2, "{file}: runs"),
        Some(idle) => assert_eq!(runs, idle, "{file}: runs"),
    }
}

#[test]
fn every_record_is_kept_and_none_is_unknown() {
    for recording in manifest() {
        let file = recording["file"].as_str().unwrap();
        let bytes = std::fs::read(fixtures_dir("opencode").join(file)).unwrap();
        let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
        for frame in &frames(opencode(), &bytes) {
            let Body::ProviderEvent(event) = &frame.body else { continue };
            assert!(event.errors.is_empty(), "{file}: {:?}", event.errors);
            let data = framegate_translators::json::value(event.data.as_ref().unwrap().as_bytes()).unwrap();
            let event = data.get("payload").unwrap_or(&data);
            *kinds.entry(event["type"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
        }
        let facts = recording.get("events").or_else(|| recording.get("lines"));
        let facts: Option<BTreeMap<String, u64>> = facts.map(|facts| {
            let facts = facts.as_object().unwrap();
            facts.iter().map(|(kind, count)| (kind.clone(), count.as_u64().unwrap())).collect()
        });
        match facts {
            Some(facts) => assert_eq!(kinds, facts, "{file}"),
            // An exported session is one record.
            None => assert_eq!(kinds.values().sum::<u64>(), 1, "{file}"),
        }
    }
}

/// The recording's JSON objects.
fn values(bytes: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(bytes).unwrap();
    text.lines()
        .map(|line| line.strip_prefix("data:").unwrap_or(line).trim())
        .filter(|line| line.starts_with('{'))
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

/// The parts in a recording, each in its last state.
fn last_parts(bytes: &[u8]) -> BTreeMap<String, Value> {
    let mut parts = BTreeMap::new();
    for value in values(bytes) {
        let event = value.get("payload").unwrap_or(&value);
        let part = event.get("part").or_else(|| event.get("properties").and_then(|properties| properties.get("part")));
        if let Some(part) = part {
            parts.insert(part["id"].as_str().unwrap().to_owned(), part.clone());
        }
    }
    parts
}

#[test]
fn exit_codes_and_outputs_match_the_recording() {
    let mut codes = HashSet::new();
    for recording in recordings_of(opencode()) {
        let actual = collect_facts(frames(opencode(), &recording.bytes).iter());
        for part in last_parts(&recording.bytes).values().filter(|part| part["type"] == "tool") {
            let state = &part["state"];
            if state["status"] != "completed" || part["tool"] == "invalid" {
                continue;
            }
            let call = &actual.tools[part["callID"].as_str().unwrap()];
            let exit = match state["metadata"].get("exit") {
                None => 0,
                Some(Value::Null) if state["output"].as_str().unwrap().contains("exceeding timeout") => 124,
                Some(Value::Null) => 1,
                Some(code) => code.as_i64().unwrap() as i32,
            };
            codes.insert(exit);
            assert_eq!(call.exit_code, Some(exit), "{}", recording.name);
            assert_eq!(call.output, state["output"].as_str().unwrap(), "{}: output, said once", recording.name);
        }
    }
    assert_eq!(codes, HashSet::from([0, 1, 3, 124]), "good, killed, failed, and too long");
}

#[test]
fn long_texts_are_complete() {
    let mut longest = 0;
    for recording in recordings_of(opencode()) {
        let actual = collect_facts(frames(opencode(), &recording.bytes).iter());
        for part in last_parts(&recording.bytes).values().filter(|part| part["type"] == "text") {
            let text = part["text"].as_str().unwrap_or_default();
            if part["time"].get("end").is_some() && part.get("synthetic").is_none() && text.len() > 100 {
                longest = longest.max(text.len());
                assert!(actual.texts.iter().any(|actual| actual == text), "{}", recording.name);
            }
        }
    }
    assert!(longest > 200_000, "the long text is among them: {longest}");
}
