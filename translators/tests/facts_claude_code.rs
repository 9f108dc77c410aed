//! Every fact of every Claude Code recording, checked against the frames.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use framegate_translators::frame::{Body, EndReason, Frame, SessionEnded, StreamKind, Usage, UsageScope};
use framegate_translators::runners::{Runner, runner};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use support::{fixtures_dir, frames};
use uuid::Uuid;

fn claude() -> &'static Runner {
    runner("claude-code").unwrap()
}

fn manifest() -> serde_json::Map<String, Value> {
    let text = std::fs::read(fixtures_dir("claude-code").join("MANIFEST.json")).unwrap();
    let Value::Object(mut whole) = serde_json::from_slice(&text).unwrap() else { panic!("no object") };
    let Some(Value::Object(recordings)) = whole.remove("recordings") else { panic!("no recordings") };
    recordings
}

/// A recording with its facts and its frames.
struct Case {
    name: String,
    facts: Value,
    records: Vec<Value>,
    frames: Vec<Frame>,
}

fn read(name: &str) -> (Vec<Value>, Vec<Frame>) {
    let bytes = std::fs::read(fixtures_dir("claude-code").join(name)).unwrap();
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    (lines.filter_map(|line| serde_json::from_slice(line).ok()).collect(), frames(claude(), &bytes))
}

/// Runs a check on every recording, and tells all that fail at once.
fn each(check: impl Fn(&Case) -> Result<(), String>) {
    let mut failed = Vec::new();
    let mut checked = 0;
    for (name, entry) in manifest() {
        let (records, frames) = read(&name);
        let case = Case { facts: entry["facts"].clone(), name, records, frames };
        checked += 1;
        if let Err(why) = check(&case) {
            failed.push(format!("{}: {why}", case.name));
        }
    }
    assert!(checked > 100, "{checked}");
    assert!(failed.is_empty(), "{} of {checked}:\n{}", failed.len(), failed.join("\n"));
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, ours: &T, theirs: &T) -> Result<(), String> {
    if ours == theirs { Ok(()) } else { Err(format!("{what}: {ours:?} instead of {theirs:?}")) }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Whether a run's answer is its result. What a command of the runner printed is shown without the blank lines at its end.
fn is_answer(ours: &str, fact: &Value, case: &Case) -> bool {
    let trimmed = |fact: &Value| fact["text"].as_str().is_some_and(|text| text.trim_end() == ours);
    is_text(ours, fact) || (!case.synthetic().is_empty() && trimmed(fact))
}

/// Whether a text is the one of a fact, which may hold a long text by its size, head and tail.
fn is_text(ours: &str, fact: &Value) -> bool {
    if let Some(text) = fact.as_str().or_else(|| fact["text"].as_str()) {
        return ours == text;
    }
    fact["bytes_utf8"].as_u64() == Some(ours.len() as u64)
        && fact["chars_utf16"].as_u64() == Some(ours.encode_utf16().count() as u64)
        && ours.starts_with(fact["head"].as_str().unwrap())
        && ours.ends_with(fact["tail"].as_str().unwrap())
}

fn same_texts(what: &str, ours: &[&str], facts: &[Value]) -> Result<(), String> {
    let equal = ours.len() == facts.len() && ours.iter().zip(facts).all(|(ours, fact)| is_text(ours, fact));
    let brief = |texts: &[&str]| texts.iter().map(|text| text.chars().take(60).collect::<String>()).collect::<Vec<_>>();
    if equal { Ok(()) } else { Err(format!("{what}: {:?} instead of {facts:?}", brief(ours))) }
}

impl Case {
    /// `--output-format json` prints the result alone: what led to it cannot be seen.
    fn is_result_alone(&self) -> bool {
        self.name == "json_output.json"
    }

    fn ends(&self) -> Vec<(&Frame, &SessionEnded)> {
        let mut ends = Vec::new();
        for frame in &self.frames {
            if let Body::SessionEnded(end) = &frame.body {
                ends.push((frame, &**end));
            }
        }
        ends
    }

    /// Ids of the messages that the runner wrote itself, in the model's place.
    fn synthetic(&self) -> BTreeSet<&str> {
        let synthetic = self.records.iter().filter(|record| record["message"]["model"] == "<synthetic>");
        synthetic.filter_map(|record| record["message"]["id"].as_str()).collect()
    }

    fn incomplete(&self) -> BTreeSet<(&str, u64)> {
        let blocks = list(&self.facts["incomplete_blocks"]).iter();
        blocks.map(|block| (block["message_id"].as_str().unwrap(), block["block_index"].as_u64().unwrap())).collect()
    }

    /// The main thread's whole texts of the model.
    fn texts(&self) -> Vec<&str> {
        let (synthetic, incomplete) = (self.synthetic(), self.incomplete());
        let whole = |frame: &&Frame| frame.parent_tool_id.is_none();
        let texts = self.frames.iter().filter(whole).filter_map(|frame| match &frame.body {
            Body::OutputTextCompleted(block) => Some(block),
            _ => None,
        });
        let of_model = texts.filter(|block| !synthetic.contains(&*block.message_id));
        let whole = of_model.filter(|block| !incomplete.contains(&(&*block.message_id, block.block_index.into())));
        whole.map(|block| block.text.as_str()).collect()
    }

    fn usages(&self, scope: UsageScope) -> Vec<&Usage> {
        self.frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::UsageReported(usage) if usage.scope == scope && frame.parent_tool_id.is_none() => Some(&**usage),
                _ => None,
            })
            .collect()
    }

    /// Model messages of the main thread that left a trace in the stream.
    fn main_messages(&self) -> Vec<&Value> {
        let seen = |message: &&Value| {
            message["queue"] == "main"
                && (message["assistant_frames"].as_u64().is_some_and(|frames| frames > 0)
                    || message["in_stream_events"] == true)
        };
        list(&self.facts["messages"]).iter().filter(seen).collect()
    }
}

#[test]
fn every_result_ends_a_run() {
    each(|case| {
        let ends = case.ends();
        let results = list(&case.facts["results"]);
        same("results", &(results.len() as u64), &case.facts["n_results"].as_u64().unwrap())?;
        if case.facts["has_terminal_result"] == false {
            same("runs", &ends.len(), &(results.len() + 1))?;
            let end = ends.last().unwrap().1;
            return same(
                "end",
                &(end.reason, end.error_code.as_deref()),
                &(EndReason::Interrupted, Some("stream_ended")),
            );
        }
        same("runs", &ends.len(), &results.len())?;
        for ((_, end), result) in ends.iter().zip(results) {
            let aborted = result["terminal_reason"].as_str().is_some_and(|reason| reason.starts_with("aborted"));
            let reason = match result["is_error"].as_bool().unwrap() {
                false => EndReason::Completed,
                true if aborted => EndReason::Interrupted,
                true => EndReason::Failed,
            };
            same("reason", &end.reason, &reason)?;
            same("error code", &end.error_code.is_some(), &(reason != EndReason::Completed))?;
            if reason == EndReason::Failed {
                if result["subtype"] == "success" {
                    same("message", &end.message.as_deref(), &result["result"]["text"].as_str())?;
                } else {
                    same("error code", &end.error_code.as_deref(), &result["subtype"].as_str())?;
                }
            }
        }
        Ok(())
    });
}

#[test]
fn every_record_is_kept_and_every_session_named() {
    each(|case| {
        let kept = case.frames.iter().filter(|frame| matches!(frame.body, Body::ProviderEvent(_))).count();
        same("records", &kept, &case.records.len())?;
        same("records", &(kept as u64), &case.facts["frames"].as_u64().unwrap())?;
        let runs = case.frames.iter().filter(|frame| frame.stream.kind == StreamKind::Session);
        let ours: BTreeSet<&str> = runs.map(|frame| &*frame.stream.session.name).collect();
        let theirs: BTreeSet<&str> = list(&case.facts["session_ids"]).iter().map(|id| id.as_str().unwrap()).collect();
        same("sessions", &ours, &theirs)
    });
}

#[test]
fn no_record_is_unknown() {
    each(|case| {
        let errors = case.frames.iter().filter_map(|frame| match &frame.body {
            Body::ProviderEvent(record) => record.errors.first(),
            _ => None,
        });
        same("errors", &errors.collect::<Vec<_>>(), &Vec::new())
    });
}

#[test]
fn texts() {
    each(|case| {
        let facts = list(&case.facts["texts"]);
        let facts = if case.is_result_alone() { &facts[facts.len() - 1..] } else { facts };
        same_texts("texts", &case.texts(), facts)
    });
}

#[test]
fn final_text() {
    each(|case| {
        let ends = case.ends();
        let (_, end) = ends.last().unwrap();
        let ours = end.final_text.as_deref();
        let last = list(&case.facts["results"]).last();
        match (&case.facts["final_text"], last) {
            // The script has no text, and the runner gives an answer of its own: the output of a command, of a hook, or
            // of the model in the schema that was asked for.
            (Value::Null, Some(result)) if result["is_error"] == false => {
                let own = &result["result"];
                match ours {
                    None => same("final text", &own["text"], &Value::from("")),
                    Some(ours) => same("final text", &is_answer(ours, own, case), &true),
                }
            }
            (Value::Null, _) => same("final text", &ours, &None),
            (fact, _) => same_texts("final text", &[ours.unwrap_or("none")], std::slice::from_ref(fact)),
        }
    });
}

#[test]
fn each_runs_final_text_is_its_result() {
    each(|case| {
        for ((_, end), result) in case.ends().iter().zip(list(&case.facts["results"])) {
            let text = &result["result"];
            if result["is_error"] == true || text["text"] == "" {
                continue;
            }
            let ours = end.final_text.as_deref();
            let answer = ours.is_some_and(|ours| is_answer(ours, text, case));
            same(&format!("{ours:?} is {text}"), &answer, &true)?;
        }
        Ok(())
    });
}

#[test]
fn thinking() {
    each(|case| {
        let reasoning = case.frames.iter().filter_map(|frame| match &frame.body {
            Body::ReasoningCompleted { block, opaque } if frame.parent_tool_id.is_none() => Some((block, opaque)),
            _ => None,
        });
        let all: Vec<_> = reasoning.collect();
        let redacted = |block: &&Value| *block == "redacted_thinking";
        let hidden = case.main_messages().iter().flat_map(|m| list(&m["blocks"])).filter(redacted).count();
        let is_hidden = |opaque: &Option<framegate_translators::frame::RawJson>| {
            opaque.as_ref().is_some_and(|opaque| opaque.get().contains("\"redacted_thinking\""))
        };
        same("redacted", &all.iter().filter(|(_, opaque)| is_hidden(opaque)).count(), &hidden)?;
        for (block, opaque) in &all {
            same(&format!("seal of {:?}", block.text), &opaque.is_some(), &true)?;
        }
        let open = all.iter().filter(|(_, opaque)| !is_hidden(opaque));
        let ours: Vec<&str> = open.map(|(block, _)| block.text.as_str()).collect();
        same_texts("thinking", &ours, list(&case.facts["thinking"]))
    });
}

#[test]
fn incomplete_blocks() {
    each(|case| {
        for fact in list(&case.facts["incomplete_blocks"]) {
            let (id, index) = (fact["message_id"].as_str().unwrap(), fact["block_index"].as_u64().unwrap());
            let ours = case.frames.iter().find_map(|frame| match &frame.body {
                Body::OutputTextCompleted(block)
                    if *block.message_id == *id && u64::from(block.block_index) == index =>
                {
                    Some(block.text.as_str())
                }
                _ => None,
            });
            let said = fact["text_in_aborted_frame"].as_str().or(fact["text_in_stream_events"].as_str());
            same("cut text", &ours, &said.filter(|text| !text.is_empty()))?;
            same(
                "final text",
                &case.ends().iter().any(|(_, end)| end.final_text.as_deref() == ours && ours.is_some()),
                &false,
            )?;
        }
        Ok(())
    });
}

#[test]
fn subagent_texts() {
    each(|case| {
        let texts = case.frames.iter().filter_map(|frame| match &frame.body {
            Body::OutputTextCompleted(block) if frame.parent_tool_id.is_some() => Some(block.text.as_str()),
            _ => None,
        });
        let shown = list(&case.facts["subagent_texts"]).iter().filter(|fact| fact["has_assistant_frame"] == true);
        let shown: Vec<Value> = shown.map(|fact| fact["text"].clone()).collect();
        same_texts("texts of subagents", &texts.collect::<Vec<_>>(), &shown)
    });
}

/// What the frames tell of a call.
#[derive(Debug, Default)]
struct Told<'f> {
    name: &'f str,
    args: Value,
    tool_id: Uuid,
    parent: Option<Uuid>,
    proposed: usize,
    started: usize,
    output: String,
    exit_code: Option<i32>,
    error: Option<&'f str>,
}

fn calls(frames: &[Frame]) -> HashMap<&str, Told<'_>> {
    let mut calls: HashMap<&str, Told<'_>> = HashMap::new();
    for frame in frames {
        match &frame.body {
            Body::ToolCallProposed(call) => {
                let told = calls.entry(&call.tool.call_id).or_default();
                told.proposed += 1;
                told.parent = frame.parent_tool_id;
            }
            Body::ToolStarted { call, .. } => {
                let told = calls.entry(&call.tool.call_id).or_default();
                told.started += 1;
                told.name = &call.name;
                told.tool_id = call.tool.id;
                told.args = serde_json::from_str(call.args.get()).unwrap();
            }
            Body::ToolStdout { tool, chunk } => calls.entry(&tool.call_id).or_default().output.push_str(chunk),
            Body::ToolEnded { tool, exit_code, .. } => {
                calls.entry(&tool.call_id).or_default().exit_code = Some(*exit_code);
            }
            Body::ToolFailed { tool, error } => calls.entry(&tool.call_id).or_default().error = Some(error),
            _ => {}
        }
    }
    calls
}

#[test]
fn tool_calls() {
    each(|case| {
        if case.is_result_alone() {
            return same("calls", &calls(&case.frames).len(), &0);
        }
        let ours = calls(&case.frames);
        let facts = list(&case.facts["tool_calls"]);
        // What the provider runs itself is not in the script's list.
        let own: BTreeSet<&str> = ours.keys().copied().filter(|id| !id.starts_with("srvtoolu_")).collect();
        same("calls", &own, &facts.iter().map(|fact| fact["id"].as_str().unwrap()).collect())?;
        for fact in facts {
            let id = fact["id"].as_str().unwrap();
            let told = &ours[id];
            same("times proposed and started", &(told.proposed, told.started), &(1, 1))?;
            same("name", &told.name, &fact["name"].as_str().unwrap())?;
            let input = fact.get("input_in_assistant_frame").unwrap_or(&fact["input"]);
            same("input", &told.args, input)?;
            let parent = fact["parent_tool_use_id"].as_str().map(|parent| ours[parent].tool_id);
            same("parent", &told.parent, &parent)?;
            let ran = told.exit_code.is_some();
            same("one end", &(ran != told.error.is_some()), &true)?;
            match fact["outcome"].as_str().unwrap() {
                "success" => same("exit code", &told.exit_code, &Some(0))?,
                "error" => same("failure", &(told.exit_code.is_none_or(|code| code != 0)), &true)?,
                "no_result" => same("failure", &told.error.is_some(), &true)?,
                other => panic!("unknown outcome {other}"),
            }
            let output = told.output.as_str().to_owned() + told.error.unwrap_or_default();
            if let Some(part) = fact["output_contains"].as_str() {
                same(&format!("{part:?} in {output:?}"), &output.contains(part), &true)?;
            }
            for block in list(&fact["output_block_types"]) {
                let noted = match block.as_str().unwrap() {
                    "image" => output.contains("[image/png, 75 bytes]") || output.contains("[image/"),
                    "tool_reference" | "text" => !output.is_empty(),
                    other => panic!("unknown block {other}"),
                };
                same("noted", &noted, &true)?;
            }
            same("base64", &output.contains("iVBORw0KGgo"), &false)?;
        }
        Ok(())
    });
}

#[test]
fn calls_that_never_ran_have_failed() {
    each(|case| {
        let ours = calls(&case.frames);
        for result in list(&case.facts["results"]) {
            for denial in list(&result["permission_denials"]) {
                let id = denial["tool_use_id"].as_str().or(denial.as_str()).unwrap();
                same(&format!("denied {id}"), &ours[id].error.is_some(), &true)?;
            }
        }
        for record in &case.records {
            for block in list(&record["message"]["content"]) {
                let text = block["content"].as_str().unwrap_or_default();
                if block["type"] == "tool_result" && text.starts_with("<tool_use_error>") {
                    let id = block["tool_use_id"].as_str().unwrap();
                    same(&format!("refused {id}"), &ours[id].error.is_some(), &true)?;
                }
            }
        }
        Ok(())
    });
}

#[test]
fn turns() {
    each(|case| {
        if case.is_result_alone() {
            return Ok(());
        }
        let messages = case.main_messages();
        let models: Vec<&str> = case
            .frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::TurnStarted { model, .. } => model.as_deref(),
                _ => None,
            })
            .collect();
        same("turns", &models, &messages.iter().map(|message| message["model"].as_str().unwrap()).collect())?;
        // Whole frames do not say why the model stopped.
        let streamed = case.name.contains(".partial.");
        let stops = case.frames.iter().filter_map(|frame| match &frame.body {
            Body::TurnEnded { stop_reason, .. } => Some(stop_reason.as_deref()),
            _ => None,
        });
        for (ours, message) in stops.zip(&messages) {
            let known = message["stop_reason"].as_str();
            if ours.is_some() || (streamed && message["broken"].is_null()) {
                same("stop reason", &ours, &known)?;
            }
        }
        Ok(())
    });
}

fn tokens(usage: &Usage) -> [Option<u64>; 4] {
    [Some(usage.input_tokens), Some(usage.output_tokens), usage.cache_read_tokens, usage.cache_creation_tokens]
}

fn fact_tokens(usage: &Value) -> [Option<u64>; 4] {
    ["input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"]
        .map(|key| usage[key].as_u64())
}

#[test]
fn usage_of_turns() {
    each(|case| {
        let ours: Vec<_> = case.usages(UsageScope::Turn).into_iter().map(tokens).collect();
        let known = |message: &&&Value| {
            message["broken"].is_null()
                && (message["in_stream_events"] == true || message["streamed"] == false)
                && !case.incomplete().iter().any(|(id, _)| message["message_id"] == **id)
        };
        let messages = case.main_messages();
        let theirs: Vec<_> = messages.iter().filter(known).map(|message| fact_tokens(&message["usage"])).collect();
        same("usage", &ours, &theirs)
    });
}

#[test]
fn usage_of_runs() {
    each(|case| {
        let mut ours = case.usages(UsageScope::Run).into_iter();
        let raw = case.records.iter().filter(|record| record["type"] == "result");
        let mut before: Option<f64> = None;
        for (result, raw) in list(&case.facts["results"]).iter().zip(raw) {
            let total = result["total_cost_usd"].as_f64().unwrap();
            // The single result of `--output-format json` tells its totals alone, and they are the run's.
            let grown = raw.get("model_usage_since_last_result").unwrap_or(&raw["modelUsage"]).as_object().unwrap();
            let grown_cost: f64 = grown.values().map(|figures| figures["costUSD"].as_f64().unwrap()).sum();
            // The total of a resumed session starts where the earlier process stopped.
            if let Some(before) = before {
                same("growth of the total", &((total - before - grown_cost).abs() < 1e-9), &true)?;
            }
            before = Some(total);
            let told = fact_tokens(&result["usage"]);
            let sum = |key| Some(grown.values().map(|figures| figures[key].as_u64().unwrap()).sum());
            let theirs = if told.iter().flatten().all(|figure| *figure == 0) {
                // The main loop's figures are left at zero: the growth of the totals is all that the runner tells.
                ["inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"].map(sum)
            } else {
                told
            };
            if theirs.iter().flatten().all(|figure| *figure == 0) && grown_cost == 0.0 {
                continue;
            }
            let Some(usage) = ours.next() else { return Err("no usage".to_owned()) };
            same("tokens", &tokens(usage), &theirs)?;
            same("cost", &usage.cost_usd.is_some_and(|cost| (cost - grown_cost).abs() < 1e-9), &true)?;
        }
        same("further usages", &ours.count(), &0)
    });
}

#[test]
fn errors() {
    each(|case| {
        let reported: Vec<_> = case
            .frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::ErrorReported(error) => Some(error),
                _ => None,
            })
            .collect();
        let retries: Vec<_> = case.records.iter().filter(|record| record["subtype"] == "api_retry").collect();
        let ours: Vec<_> = reported.iter().filter_map(|error| error.attempt.zip(error.max_attempts)).collect();
        let small = |value: &Value| u32::try_from(value.as_u64().unwrap()).unwrap();
        same("retries", &ours, &retries.iter().map(|r| (small(&r["attempt"]), small(&r["max_retries"]))).collect())?;
        for result in list(&case.facts["results"]) {
            let Some(status) = result["api_error_status"].as_u64() else { continue };
            let said = reported
                .iter()
                .any(|error| error.attempt.is_none() && error.http_status.map(u64::from) == Some(status));
            same("status", &said, &true)?;
        }
        // An error's text is said once, and not as the assistant's.
        for error in case.records.iter().filter(|record| record["is_api_error_message"] == true) {
            let text = error["message"]["content"][0]["text"].as_str().unwrap();
            same("times said", &reported.iter().filter(|error| error.message == text).count(), &1)?;
            same(
                "as text",
                &case
                    .frames
                    .iter()
                    .any(|frame| matches!(&frame.body, Body::OutputTextCompleted(block) if block.text == text)),
                &false,
            )?;
        }
        Ok(())
    });
}

#[test]
fn questions_become_approvals_with_an_end() {
    each(|case| {
        let asked = case.records.iter().filter(|record| record["request"]["subtype"] == "can_use_tool");
        let asked: Vec<&str> = asked.map(|record| record["request_id"].as_str().unwrap()).collect();
        let mut requested = Vec::new();
        let mut resolved = Vec::new();
        for frame in &case.frames {
            match &frame.body {
                Body::ApprovalRequested(ask) => requested.push(&*ask.approval_id),
                Body::ApprovalResolved(answer) => resolved.push((&*answer.approval_id, answer.decision.as_str())),
                _ => {}
            }
        }
        same("questions", &requested, &asked)?;
        let decisions: Vec<&str> = resolved.iter().map(|(_, decision)| *decision).collect();
        match &*case.name {
            "control_permission.ndjson" | "control_permission.partial.ndjson" => {
                same("answers", &decisions, &vec!["approved", "rejected"])
            }
            "control_ask_user.ndjson" => same("answers", &decisions, &vec!["approved"]),
            _ => same("answers", &decisions.len(), &asked.len()),
        }
    });
}

#[test]
fn transcripts_tell_what_their_streams_tell() {
    let mut compared = 0;
    for (name, entry) in manifest() {
        for transcript in list(&entry["transcripts"]) {
            let file = transcript["file"].as_str().unwrap();
            let (_, told) = read(file);
            let (records, stream) = read(&name);
            let streamed = Case { name: name.clone(), facts: entry["facts"].clone(), records, frames: stream };
            let facts = list(&streamed.facts["tool_calls"]);
            let (ours, theirs) = (calls(&told), calls(&streamed.frames));
            let is_child = file.contains(".sub1.");
            // What runs in a side chain has a file of its own; a resumed session's begins with the earlier run.
            let resumed = name.starts_with("resume.") || name.starts_with("continue_fork.");
            for fact in facts.iter().filter(|fact| fact["parent_tool_use_id"].is_string() == is_child) {
                let id = fact["id"].as_str().unwrap();
                let Some(ours) = ours.get(id) else { panic!("{file}: no call {id}") };
                let theirs = &theirs[id];
                let of = |told: &Told<'_>| {
                    (told.name.to_owned(), told.args.clone(), told.tool_id, told.exit_code, told.output.clone())
                };
                assert_eq!(of(ours), of(theirs), "{file}");
                assert_eq!(ours.error, theirs.error, "{file}");
            }
            let texts: Vec<&str> = told
                .iter()
                .filter_map(|frame| match &frame.body {
                    Body::OutputTextCompleted(block) => Some(block.text.as_str()),
                    _ => None,
                })
                .collect();
            let expected: Vec<&str> = if is_child {
                list(&streamed.facts["subagent_texts"])
                    .iter()
                    .map(|fact| fact["text"]["text"].as_str().or(fact["text"].as_str()).unwrap())
                    .collect()
            } else {
                streamed.texts()
            };
            if resumed {
                assert!(texts.ends_with(&expected) && texts.len() > expected.len(), "{file}: {texts:?}");
            } else {
                assert_eq!(texts, expected, "{file}");
            }
            let unknown = told.iter().filter_map(|frame| match &frame.body {
                Body::ProviderEvent(record) => record.errors.first(),
                _ => None,
            });
            assert_eq!(unknown.collect::<Vec<_>>(), Vec::<&String>::new(), "{file}");
            let ends: Vec<_> = told
                .iter()
                .filter_map(|frame| match &frame.body {
                    Body::SessionEnded(end) => Some(end.reason),
                    _ => None,
                })
                .collect();
            assert!(!ends.is_empty(), "{file}");
            let went_well = list(&streamed.facts["results"]).iter().all(|result| result["is_error"] == false);
            if went_well {
                assert!(ends.iter().all(|end| *end == EndReason::Completed), "{file}: {ends:?}");
            }
            compared += 1;
        }
    }
    assert!(compared >= 30, "{compared}");
}

/// The final texts of the runs, session by session.
fn answers(frames: &[Frame]) -> Vec<(String, EndReason, Option<String>)> {
    let mut answers: Vec<_> = frames
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::SessionEnded(end) => {
                Some((frame.stream.session.name.to_string(), end.reason, end.final_text.clone()))
            }
            _ => None,
        })
        .collect();
    // Stable: the runs of one session stay in their order.
    answers.sort_by(|a, b| a.0.cmp(&b.0));
    answers
}

#[test]
fn one_input_can_hold_many_sessions() {
    let read_lines = |name: &str| {
        let bytes = std::fs::read(fixtures_dir("claude-code").join(name)).unwrap();
        let lines: Vec<Vec<u8>> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        lines
    };
    let names: Vec<String> = manifest().keys().filter(|name| name.ends_with(".ndjson")).cloned().collect();
    let (mut one_by_one, mut together) = (Vec::new(), Vec::new());
    for name in &names {
        let mut lines = read_lines(name);
        if let Some(last) = lines.last_mut().filter(|last| !last.ends_with(b"\n")) {
            last.push(b'\n');
        }
        one_by_one.extend(answers(&frames(claude(), &lines.concat())));
        together.extend(lines.concat());
    }
    one_by_one.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(answers(&frames(claude(), &together)), one_by_one);

    // Record by record in turn, as a gateway of several runners would pass them on. Control records name no session.
    let whole = names
        .iter()
        .filter(|name| !name.starts_with("control_") && !name.contains("continue_") && !name.contains("resume"));
    let mut inputs: Vec<_> = whole.map(|name| read_lines(name).into_iter()).collect();
    let mut mixed = Vec::new();
    loop {
        let round: Vec<Vec<u8>> = inputs.iter_mut().filter_map(Iterator::next).collect();
        if round.is_empty() {
            break;
        }
        for mut line in round {
            if !line.ends_with(b"\n") {
                line.push(b'\n');
            }
            mixed.extend(line);
        }
    }
    let expected: Vec<_> = one_by_one
        .into_iter()
        .filter(|(session, ..)| mixed.windows(session.len()).any(|window| window == session.as_bytes()))
        .collect();
    assert_eq!(answers(&frames(claude(), &mixed)), expected);
}
