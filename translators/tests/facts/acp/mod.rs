//! Every fact in the manifest about a recording of an ACP agent, checked against the frames: with the client's lines, which say
//! whose answer ends which turn, and without them.

mod cases;
mod rest;
mod runs;

use cases::{Case, cases};
use framegate_translators::frame::{Decision, EndReason};
use framegate_translators::framing::Limits;
use framegate_translators::recognise::{Recogniser, Verdict, Window};
use runs::{Run, ToolEnd, ToolFacts, runs_of, thread_texts};
use serde_json::Value;

/// Mismatches of all recordings, so that a failure shows all of them.
#[derive(Default)]
struct Findings(Vec<String>);

impl Findings {
    fn equal<T: PartialEq + std::fmt::Debug>(&mut self, case: &Case, what: &str, found: &T, expected: &T) {
        if found != expected {
            self.0.push(format!("{} {what}: {found:?}, expected {expected:?}", case.name));
        }
    }

    fn check(&mut self, case: &Case, what: &str, holds: bool, found: &dyn std::fmt::Debug) {
        if !holds {
            self.0.push(format!("{} {what}: {found:?}", case.name));
        }
    }

    fn finish(self) {
        assert!(self.0.is_empty(), "{} mismatches:\n{}", self.0.len(), self.0.join("\n"));
    }
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_recording_is_recognised_with_and_without_its_clients_lines() {
    let mut findings = Findings::default();
    for case in cases() {
        for (what, bytes) in [("agent", case.alone()), ("both", case.both())] {
            let mut recogniser = Recogniser::new(None, Limits::default(), Window::default());
            recogniser.feed(&bytes);
            let found = match recogniser.finish() {
                Verdict::Found(found) => Some((found.runner.name, found.record)),
                _ => None,
            };
            findings.equal(&case, what, &found, &Some(("acp", 0)));
        }
    }
    findings.finish();
}

/// The runs of a recording with its client's lines. One prompt is one run, in the order in which the prompts were sent.
fn with_client(case: &Case) -> Vec<Run> {
    runs_of(&case.frames_with_client())
}

#[test]
fn each_prompt_is_a_run_with_its_text() {
    let mut findings = Findings::default();
    for case in cases() {
        let runs = with_client(&case);
        let inputs: Vec<String> = runs.iter().map(|run| run.input.clone()).collect();
        let expected: Vec<String> = case.sent();
        findings.equal(&case, "inputs", &inputs, &expected);
    }
    findings.finish();
}

#[test]
fn texts_and_thoughts_are_told_once() {
    let mut findings = Findings::default();
    for case in cases() {
        for (run, prompt) in with_client(&case).iter().zip(case.prompts()) {
            let (expected, unfinished) = (strings(&prompt["texts"]), strings(&prompt["unfinished"]));
            let found: Vec<String> = run.texts.clone();
            if unfinished.is_empty() && !case.says_more() {
                findings.equal(&case, "texts", &found, &expected);
                continue;
            }
            // Texts that the agent itself says, such as an error, are in no script.
            let is_there = expected.iter().all(|text| found.concat().contains(text.trim()));
            findings.check(&case, "texts", is_there, &(&found, &expected));
            let is_cut =
                unfinished.is_empty() || found.iter().any(|text| unfinished.iter().any(|all| all.starts_with(text)));
            findings.check(&case, "unfinished texts", is_cut, &(&found, &unfinished));
        }
        for (run, prompt) in with_client(&case).iter().zip(case.prompts()) {
            let thinking = strings(&prompt["thinking"]);
            let told = run.thoughts.concat();
            findings.check(
                &case,
                "thoughts",
                thinking.iter().all(|text| told.contains(text.trim())),
                &(&told, &thinking),
            );
            findings.check(&case, "no thought", !thinking.is_empty() || told.is_empty(), &told);
        }
    }
    findings.finish();
}

#[test]
fn turns_end_as_the_answer_says() {
    let mut findings = Findings::default();
    for case in cases() {
        let runs = with_client(&case);
        for (run, prompt) in runs.iter().zip(case.prompts()) {
            let reason = prompt["stop_reason"].as_str();
            let expected = match reason {
                Some("cancelled") => EndReason::Interrupted,
                Some("refusal" | "max_turn_requests") => EndReason::Failed,
                Some(_) => EndReason::Completed,
                None if prompt["error_contains"].is_string() => EndReason::Failed,
                None if case.facts()["cut"] == true || case.facts()["terminal"] == "died" => EndReason::Interrupted,
                None => run.end.as_ref().unwrap().reason,
            };
            let end = run.end.as_ref().unwrap();
            findings.equal(&case, "end", &end.reason, &expected);
            if let Some(text) = prompt["error_contains"].as_str() {
                let message = end.message.clone().unwrap_or_default();
                findings.check(&case, "message", message.contains(text), &(&message, text));
                findings.check(&case, "error", run.errors.iter().any(|error| error.contains(text)), &run.errors);
            }
            if let Some(reason) = reason {
                findings.equal(&case, "stop reason", &run.stop_reason.as_deref(), &Some(reason));
            }
        }
        let last = runs.last().and_then(|run| run.end.clone()).and_then(|end| end.final_text);
        if case.facts()["terminal"] == "end_turn" && !case.says_more() {
            findings.equal(&case, "final text", &last.as_deref(), &case.facts()["final_text"].as_str());
        }
    }
    findings.finish();
}

#[test]
fn tools_have_their_arguments_output_and_outcome() {
    let mut findings = Findings::default();
    for case in cases() {
        let runs = with_client(&case);
        for call in case.facts()["tool_calls"].as_array().unwrap() {
            let Some(wire) = case.wire_tool(call) else { continue };
            let run = &runs[usize::try_from(call["prompt"].as_u64().unwrap()).unwrap()];
            let Some(tool) = run.tools.iter().find(|tool| tool.call_id == wire["id"]) else {
                findings.check(&case, "tool", false, &call["id"]);
                continue;
            };
            let name = wire["name"].as_str().unwrap_or_default();
            // A call that is first heard of in a question may be named later.
            let is_late = run.asked > 0 && wire["title"] == *tool.name;
            if !name.is_empty() && !is_late && wire["announced_by"] != "session/request_permission" {
                findings.equal(&case, "name", &&*tool.name, &name);
            }
            findings.check(&case, "a name", !tool.name.is_empty(), &tool.call_id);
            if wire["has_input"] == true {
                let expected: Vec<(&String, &Value)> = call["input"].as_object().into_iter().flatten().collect();
                // Agents add and rename fields, and leave out those that are for people.
                let for_people = ["description", "justification", "sandbox_permissions"];
                let is_there = expected.iter().all(|(key, value)| {
                    let told = || tool.args.to_string().contains(value.to_string().trim_matches('"'));
                    for_people.contains(&key.as_str()) || !value.is_string() || told()
                });
                findings.check(&case, "arguments", is_there, &(&tool.args, &call["input"]));
            }
            if let Some(text) = call["output_contains"].as_str()
                && case.tells_output()
            {
                // The text of a call that was refused is no output, but says why it failed.
                let told = match &tool.end {
                    Some(ToolEnd::Failed(error)) if tool.output.is_empty() => error,
                    _ => &tool.output,
                };
                // Nothing stands before the output of a command, unless an agent decorates it.
                let is_it = match call["tool"] == "bash" && !case.decorates_output() {
                    true => told.starts_with(text),
                    false => told.contains(text),
                };
                findings.check(&case, "output", is_it, &(told, text));
            }
            if call["outcome"] == "rejected" && matches!(tool.end, Some(ToolEnd::Failed(_))) {
                findings.equal(&case, "no output", &tool.output.as_str(), &"");
            }
            if let Some(description) = call["input"]["description"].as_str() {
                findings.check(&case, "description", !tool.output.contains(description), &tool.output);
            }
            if let Some(diff) = call["diff"].as_object() {
                let is_it = |change: &(String, String)| {
                    change.0 == diff["path"] && change.1.contains(diff["contains"].as_str().unwrap())
                };
                findings.check(&case, "diff", run.changes.iter().any(is_it), &(&run.changes, diff));
            }
            let end = tool.end.as_ref().unwrap();
            let fits = match call["outcome"].as_str().unwrap() {
                "success" => match call["exit_code"].as_i64() {
                    Some(code) if case.tells_exit_code() => *end == ToolEnd::Exit(i32::try_from(code).unwrap()),
                    _ => matches!(end, ToolEnd::Exit(_)),
                },
                "failed" => match call["exit_code"].as_i64() {
                    Some(code) if case.tells_exit_code() => *end == ToolEnd::Exit(i32::try_from(code).unwrap()),
                    _ => *end != ToolEnd::Exit(0),
                },
                "rejected" => matches!(end, ToolEnd::Failed(_)) || wire["status"] == "completed",
                "cancelled" | "none" => *end != ToolEnd::Exit(0) || wire["status"] == "completed",
                _ => true,
            };
            findings.check(&case, "outcome", fits, &(end, &call["outcome"], &call["exit_code"], &wire["status"]));
        }
    }
    findings.finish();
}

#[test]
fn questions_are_answered_as_the_client_did() {
    let mut findings = Findings::default();
    for case in cases() {
        let runs = with_client(&case);
        let found: Vec<(Decision, Option<String>)> = runs.iter().flat_map(|run| run.decisions.clone()).collect();
        let asked: usize = runs.iter().map(|run| run.asked).sum();
        findings.equal(&case, "questions and answers", &asked, &found.len());
        let mut expected: Vec<(Decision, Option<String>)> = Vec::new();
        for permission in case.facts()["permissions"].as_array().unwrap() {
            expected.push(match permission["answer"].as_str().unwrap() {
                "allow_once" => (Decision::Approved, Some("once".to_owned())),
                "allow_always" => (Decision::Approved, Some("always".to_owned())),
                "reject_once" => (Decision::Rejected, None),
                _ => (Decision::Cancelled, None),
            });
        }
        for form in case.facts()["elicitations"].as_array().into_iter().flatten() {
            let decision = if form[1] == "accept" { Decision::Approved } else { Decision::Rejected };
            expected.push((decision, None));
        }
        findings.equal(&case, "decisions", &found, &expected);
    }
    findings.finish();
}

#[test]
fn usage_is_that_of_the_prompt_or_absent() {
    let mut findings = Findings::default();
    for case in cases() {
        for (run, prompt) in with_client(&case).iter().zip(case.prompts()) {
            if let Some(expected) = case.tells_usage(prompt) {
                findings.equal(&case, "has usage", &run.usage.is_some(), &expected);
            }
            let Some(usage) = &run.usage else { continue };
            let cached = usage.cache_read_tokens.unwrap_or_default() + usage.cache_creation_tokens.unwrap_or_default();
            let found = (usage.input_tokens + cached, usage.output_tokens);
            let read = |value: &Value, keys: [&str; 2]| keys.iter().find_map(|key| value[*key].as_u64());
            let input = read(&prompt["usage"], ["input_tokens", "inputTokens"]);
            let output = read(&prompt["usage"], ["output_tokens", "outputTokens"]);
            if let (Some(input), Some(output)) = (input, output)
                && !case.asks_more()
            {
                findings.equal(&case, "usage", &found, &(input, output));
            }
        }
    }
    findings.finish();
}

#[test]
fn a_replayed_session_is_no_output() {
    let mut findings = Findings::default();
    for case in cases() {
        let replay = &case.facts()["replay"];
        for (with, frames) in [("client", case.frames_with_client()), ("agent", case.frames_of_agent())] {
            let runs = runs_of(&frames);
            for text in strings(&replay["texts"]).iter().chain(&strings(&replay["user_texts"])) {
                let is_told = runs.iter().any(|run| run.texts.concat().contains(text.as_str()));
                findings.check(&case, &format!("replayed, {with}"), !is_told, text);
            }
            for id in strings(&case.recording["wire"]["replayed_tools"]) {
                let is_told = runs.iter().any(|run| run.tools.iter().any(|tool| *tool.call_id == id));
                findings.check(&case, &format!("replayed tool, {with}"), !is_told, &id);
            }
        }
    }
    findings.finish();
}

#[test]
fn what_is_told_between_turns_is_in_the_thread() {
    for case in cases() {
        for text in strings(&case.facts()["outside_turns"]["texts"]) {
            let frames = case.frames_with_client();
            assert!(thread_texts(&frames).contains(&text), "{}", case.name);
            assert!(runs_of(&frames).iter().all(|run| !run.texts.contains(&text)), "{}", case.name);
        }
        if let Some(text) = case.facts()["other_session_text"].as_str() {
            assert!(thread_texts(&case.frames_with_client()).contains(&text.to_owned()), "{}", case.name);
        }
    }
}

/// The text of a call. If only the client's lines show that the call never ran, then its text is an error there, and the output
/// without them.
fn told(tool: &ToolFacts, alone: Option<&ToolFacts>) -> String {
    match (&tool.end, alone) {
        (Some(ToolEnd::Failed(error)), Some(alone)) if tool.output.is_empty() && alone.output == *error => {
            error.clone()
        }
        _ => tool.output.clone(),
    }
}

#[test]
fn an_agent_alone_says_the_same_except_for_what_only_its_client_says() {
    let mut findings = Findings::default();
    for case in cases() {
        if case.needs_client() {
            continue;
        }
        let (both, alone) = (with_client(&case), runs_of(&case.frames_of_agent()));
        let of_alone = |call_id: &str| alone.iter().flat_map(|run| &run.tools).find(|tool| tool.call_id == call_id);
        let view = |runs: &[Run]| -> Vec<_> {
            runs.iter()
                .map(|run| {
                    let of = |tool: &ToolFacts| (tool.name.clone(), told(tool, of_alone(&tool.call_id)));
                    let tools: Vec<_> = run.tools.iter().map(of).collect();
                    let end = run.end.as_ref().map(|end| (end.reason, end.final_text.clone()));
                    (run.texts.clone(), run.thoughts.clone(), tools, end)
                })
                .collect()
        };
        findings.equal(&case, "runs without the client's lines", &view(&alone), &view(&both));
    }
    findings.finish();
}
