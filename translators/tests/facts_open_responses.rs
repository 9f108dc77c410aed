//! The facts that were written down about each recording of Open Responses, checked against the frames.

#![allow(missing_docs, clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use framegate_translators::frame::{Body, EndReason, Frame, ProviderEvent, ProviderStatus, SessionEnded, Usage};
use framegate_translators::runners::{Runner, runner};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use support::{fixtures_dir, frames};

/// One recording, its facts and its frames.
struct Case {
    name: String,
    facts: Value,
    whole: Value,
    frames: Vec<Frame>,
}

fn open_responses() -> &'static Runner {
    runner("open-responses").unwrap()
}

static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let dir = fixtures_dir("open-responses");
    let manifest: Value = serde_json::from_slice(&std::fs::read(dir.join("MANIFEST.json")).unwrap()).unwrap();
    let list = manifest["recordings"].as_array().unwrap().clone();
    let files = std::fs::read_dir(&dir)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "sse"));
    assert_eq!(list.len(), files.count(), "every recording has its facts");
    list.into_iter()
        .map(|whole| {
            let bytes = std::fs::read(dir.join(whole["file"].as_str().unwrap())).unwrap();
            Case {
                name: whole["name"].as_str().unwrap().to_owned(),
                facts: whole["facts"].clone(),
                frames: frames(open_responses(), &bytes),
                whole,
            }
        })
        .collect()
});

/// Checks a fact of every recording. `except` names recordings whose fact is known to differ, with the reason; one that
/// does not differ after all is a failure too.
fn check(except: &[(&str, &str)], differs: impl Fn(&Case) -> Option<String>) {
    let mut wrong = Vec::new();
    for case in CASES.iter() {
        let excepted = except.iter().any(|(name, _)| *name == case.name);
        match differs(case) {
            Some(how) if !excepted => wrong.push(format!("{}: {how}", case.name)),
            None if excepted => wrong.push(format!("{} is an exception and need not be one", case.name)),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Browsers drop an event without its blank line. Nothing is dropped here, and this event ends its run.
const CUT_EVENT: (&str, &str) =
    ("scripted__no-final-blank-line", "the facts leave out the cut event, which is response.completed");

/// No event by the rules of SSE, and a record for us.
const PLAIN_ERROR: (&str, &str) = ("scripted__http-error-json", "the body is a plain JSON error, not SSE");

fn same<T: PartialEq + std::fmt::Debug>(ours: T, theirs: T) -> Option<String> {
    (ours != theirs).then(|| format!("{ours:?} instead of {theirs:?}"))
}

impl Case {
    fn bodies(&self) -> impl Iterator<Item = &Body> {
        self.frames.iter().map(|frame| &frame.body)
    }

    fn records(&self) -> impl Iterator<Item = &ProviderEvent> {
        self.bodies().filter_map(|body| match body {
            Body::ProviderEvent(record) => Some(&**record),
            _ => None,
        })
    }

    fn ends(&self) -> Vec<&SessionEnded> {
        self.bodies().filter_map(|body| if let Body::SessionEnded(end) = body { Some(&**end) } else { None }).collect()
    }

    fn texts(&self) -> Vec<&str> {
        self.bodies()
            .filter_map(|body| if let Body::OutputTextCompleted(block) = body { Some(&*block.text) } else { None })
            .collect()
    }

    fn reasoning(&self) -> String {
        self.bodies()
            .filter_map(
                |body| if let Body::ReasoningCompleted { block, .. } = body { Some(&*block.text) } else { None },
            )
            .collect()
    }

    fn usage(&self) -> Vec<&Usage> {
        self.bodies()
            .filter_map(|body| if let Body::UsageReported(usage) = body { Some(&**usage) } else { None })
            .collect()
    }

    fn fact(&self, key: &str) -> &str {
        self.facts[key].as_str().unwrap_or_default()
    }
}

#[test]
fn every_record_is_there() {
    let cut = ("scripted__truncated-mid-utf8", "the facts leave out the record that the input's end cuts off");
    let except = [CUT_EVENT, PLAIN_ERROR, cut];
    check(&except, |case| same(case.records().count() as u64, case.facts["n_events"].as_u64().unwrap()));
}

#[test]
fn the_end_marker_is_seen_where_it_is() {
    check(&[], |case| {
        let done = case.records().filter(|record| record.status == ProviderStatus::Done).count();
        same(done, usize::from(case.facts["framing"]["done_sentinel"].as_str() != Some("absent")))
    });
}

#[test]
fn event_names_are_compared_with_types() {
    let except = [
        CUT_EVENT,
        (
            "scripted__type-only-in-event-name",
            "the type stands in the event name alone, so there is nothing to compare",
        ),
    ];
    check(&except, |case| {
        let names = case.facts["framing"]["names"].as_object()?;
        let named =
            case.records().filter(|record| record.status == ProviderStatus::Event && record.event_name.is_some());
        let differ = |record: &&ProviderEvent| record.errors.iter().any(|error| error.starts_with("event name '"));
        let differs = case.records().filter(differ).count() as u64;
        same(
            (named.count() as u64, differs),
            (
                names["equal"].as_u64().unwrap() + names["different"].as_u64().unwrap(),
                names["different"].as_u64().unwrap(),
            ),
        )
    });
}

#[test]
fn the_text_is_said_once() {
    let except = [
        (
            "scripted__out-of-order",
            "two deltas are swapped on the wire: frames tell them as they came, the final text is right",
        ),
        ("scripted__no-final-blank-line", "no exception of the text"),
    ];
    check(&except[..1], |case| {
        let deltas: String = case
            .bodies()
            .filter_map(|body| if let Body::OutputTextDelta(block) = body { Some(&*block.delta) } else { None })
            .collect();
        let whole = case.texts().concat();
        let expected = format!("{}{}", case.fact("final_text"), case.fact("refusal"));
        same((&*deltas, &*whole), (&*expected, &*expected))
    });
}

#[test]
fn the_final_text_is_that_of_the_last_message() {
    check(&[], |case| {
        let ends = case.ends();
        let Some(end) = ends.first() else { return same(case.fact("final_text"), "") };
        let all = format!("{}{}", case.fact("final_text"), case.fact("refusal"));
        let ours = end.final_text.as_deref().unwrap_or_default();
        match case.name.as_str() {
            "scripted__phase-two-messages" => same(ours, "Final."),
            _ if end.reason == EndReason::Completed || end.error_code.as_deref() == Some("max_output_tokens") => {
                same(ours, &*all)
            }
            // What broke off has the text of what was whole by then.
            _ => (!ours.is_empty() && ours != all).then(|| format!("{ours:?} is not {all:?}")),
        }
    });
}

#[test]
fn reasoning_is_said_once() {
    check(&[], |case| {
        let (text, summary) = (case.fact("reasoning_text"), case.fact("reasoning_summary"));
        // The gateway streams its reasoning as a summary and repeats it as content.
        let expected = if case.name == "litellm__reasoning" { text.to_owned() } else { format!("{text}{summary}") };
        same(case.reasoning(), expected)
    });
}

#[test]
fn function_calls_are_proposed_and_never_started() {
    let except = [("scripted__incomplete-toolcall", "a call whose arguments were cut off is not proposed")];
    check(&except, |case| {
        let facts = case.facts.get("function_calls_from_terminal").unwrap_or(&case.facts["function_calls"]);
        let mut expected: Vec<(String, String, Value)> = facts
            .as_array()
            .unwrap()
            .iter()
            .map(|call| {
                let text = call["arguments"].as_str().unwrap();
                let parsed = serde_json::from_str::<Value>(text).ok().filter(Value::is_object);
                // A call without arguments has an empty object.
                let empty = text.is_empty().then(|| Value::Object(serde_json::Map::new()));
                let args = parsed.or(empty).unwrap_or_else(|| Value::String(text.to_owned()));
                (call["call_id"].as_str().unwrap().to_owned(), call["name"].as_str().unwrap().to_owned(), args)
            })
            .collect();
        let hosted = case.bodies().filter_map(|body| match body {
            Body::ToolStarted { call, .. } => Some(&*call.tool.call_id),
            _ => None,
        });
        let hosted: BTreeSet<&str> = hosted.collect();
        let mut ours: Vec<(String, String, Value)> = case
            .bodies()
            .filter_map(|body| match body {
                Body::ToolCallProposed(call) if !hosted.contains(&*call.tool.call_id) => Some((
                    call.tool.call_id.to_string(),
                    call.name.to_string(),
                    serde_json::from_str(call.args.get()).unwrap(),
                )),
                _ => None,
            })
            .collect();
        // Proposals come as calls become whole, the facts in the order of the output.
        ours.sort_by(|a, b| a.0.cmp(&b.0));
        expected.sort_by(|a, b| a.0.cmp(&b.0));
        same(ours, expected)
    });
}

#[test]
fn hosted_tools_run_to_their_end() {
    let mut hosted = 0;
    for case in CASES.iter() {
        let mut expected: BTreeSet<String> = BTreeSet::new();
        let mut secrets: Vec<String> = Vec::new();
        for record in case.records() {
            let Some(data) = &record.data else { continue };
            let data: Value = serde_json::from_str(data).unwrap();
            let item = &data["item"];
            let kind = item["type"].as_str().unwrap_or_default();
            let hosted = ["web_search_call", "file_search_call", "image_generation_call", "code_interpreter_call"];
            if data["type"] == "response.output_item.done" && hosted.contains(&kind) {
                expected.insert(format!("{} {}", item["id"].as_str().unwrap(), kind.trim_end_matches("_call")));
            }
            secrets.extend(item["result"].as_str().map(str::to_owned));
            secrets.extend(data["partial_image_b64"].as_str().map(str::to_owned));
        }
        let started: BTreeSet<String> = case
            .bodies()
            .filter_map(|body| match body {
                Body::ToolStarted { call, .. } => Some(format!("{} {}", call.tool.call_id, call.name)),
                _ => None,
            })
            .collect();
        let ended = case.bodies().filter(|body| matches!(body, Body::ToolEnded { exit_code: 0, .. })).count();
        assert_eq!(started, expected, "{}", case.name);
        assert_eq!(ended, expected.len(), "{}", case.name);
        hosted += ended;
        for body in case.bodies().filter(|body| !matches!(body, Body::ProviderEvent(_))) {
            let shown = format!("{body:?}");
            assert!(!secrets.iter().any(|secret| shown.contains(secret)), "{}: an image in a frame", case.name);
        }
    }
    assert!(hosted >= 3, "{hosted} hosted calls");
}

#[test]
fn streamed_arguments_are_the_proposed_ones() {
    check(&[], |case| {
        let mut streamed: BTreeMap<&str, String> = BTreeMap::new();
        for body in case.bodies() {
            match body {
                Body::ToolInputDelta { tool, delta, .. } => streamed.entry(&tool.call_id).or_default().push_str(delta),
                Body::ToolCallProposed(call) => {
                    let Some(text) = streamed.get(&*call.tool.call_id) else { continue };
                    let args: Value = serde_json::from_str(call.args.get()).unwrap();
                    let agrees = match &args {
                        Value::String(args) => args == text,
                        object => serde_json::from_str::<Value>(text).is_ok_and(|streamed| streamed == *object),
                    };
                    if !agrees {
                        return Some(format!("{text:?} was streamed, {args} proposed"));
                    }
                }
                _ => {}
            }
        }
        None
    });
}

#[test]
fn usage_is_counted_once() {
    check(&[CUT_EVENT], |case| {
        let ours = case.usage();
        let usage = &case.facts["usage"];
        if usage.is_null() {
            return same(ours.len(), 0);
        }
        let either =
            |name: &str, chat: &str| usage.get(name).or_else(|| usage.get(chat)).and_then(Value::as_u64).unwrap();
        let cached = usage["input_tokens_details"]["cached_tokens"].as_u64();
        let expected = (
            1,
            either("input_tokens", "prompt_tokens"),
            either("output_tokens", "completion_tokens"),
            cached,
            usage["output_tokens_details"]["reasoning_tokens"].as_u64(),
        );
        let Some(told) = ours.first() else { return Some("no usage".to_owned()) };
        let input = told.input_tokens + told.cache_read_tokens.unwrap_or_default();
        same((ours.len(), input, told.output_tokens, told.cache_read_tokens, told.reasoning_tokens), expected)
    });
}

#[test]
fn each_recording_is_one_run_that_ends_as_it_should() {
    let except = [CUT_EVENT];
    check(&except, |case| {
        let ends = case.ends();
        let records = case.records().count();
        let no_response = case.name == "scripted__chat-chunks" || records == 0;
        if no_response {
            return same(ends.len(), 0);
        }
        if ends.len() != 1 {
            return Some(format!("{} runs", ends.len()));
        }
        let error = case.facts["error_events"].as_array().is_some() || case.name == "scripted__http-error-json";
        let expected = match case.facts["terminal_status"].as_str() {
            Some("completed") => EndReason::Completed,
            Some("failed") => EndReason::Failed,
            Some("incomplete") => EndReason::Interrupted,
            None if error => EndReason::Failed,
            None => EndReason::Interrupted,
            Some(other) => panic!("{other}"),
        };
        same(ends[0].reason, expected)
    });
}

#[test]
fn why_a_run_ended_is_told() {
    check(&[], |case| {
        let end = case.ends().first().copied();
        let stop = case.bodies().find_map(|body| match body {
            Body::TurnEnded { stop_reason, .. } => stop_reason.as_deref(),
            _ => None,
        });
        if let Some(reason) = case.facts["incomplete_details"]["reason"].as_str() {
            return same((end?.error_code.as_deref(), stop), (Some(reason), Some(reason)));
        }
        let told = case.facts.get("response_error").or_else(|| {
            case.facts["error_events"].get(0).map(|event| event["body"].get("error").unwrap_or(&event["body"]))
        });
        let told = told?;
        let errors: Vec<_> = case
            .bodies()
            .filter_map(|body| match body {
                Body::ErrorReported(error) => Some((&*error.code, &*error.message)),
                _ => None,
            })
            .collect();
        let expected = (told["code"].as_str().unwrap(), told["message"].as_str().unwrap());
        let ended = (end?.error_code.as_deref().unwrap_or_default(), end?.message.as_deref().unwrap_or_default());
        same((errors, ended), (vec![expected], expected))
    });
}

#[test]
fn what_follows_the_end_is_on_the_thread() {
    check(&[], |case| {
        let mut ended = false;
        let mut behind: Vec<String> = Vec::new();
        for body in case.bodies() {
            match body {
                Body::SessionEnded(_) => ended = true,
                Body::ProviderEvent(record) if ended => behind.push(match record.status {
                    ProviderStatus::Done => "[DONE]".to_owned(),
                    _ => record.event_name.as_deref().unwrap_or_default().to_owned(),
                }),
                _ => {}
            }
        }
        match case.facts.get("events_after_terminal") {
            Some(facts) => {
                let facts: Vec<&str> = facts.as_array().unwrap().iter().map(|event| event.as_str().unwrap()).collect();
                same(behind.iter().map(String::as_str).collect(), facts)
            }
            None => (behind.iter().any(|event| event != "[DONE]")).then(|| format!("{behind:?}")),
        }
    });
}

/// How many events of each type break the published schema, and how many by our schemas.
fn verdicts(case: &Case, facts: &str, ours: impl Fn(&ProviderEvent) -> bool) -> Option<String> {
    // The facts count by reason: an event may break the schema in several ways, so only the types are comparable, and for
    // each type the bounds of the count.
    let mut least: BTreeMap<String, u64> = BTreeMap::new();
    let mut most: BTreeMap<String, u64> = BTreeMap::new();
    for breach in case.facts["violations"].get(facts).and_then(Value::as_array).into_iter().flatten() {
        for (kind, count) in breach["by_type"].as_object().unwrap() {
            let count = count.as_u64().unwrap();
            let kind = kind_of_fact(kind);
            let slot = least.entry(kind.clone()).or_default();
            *slot = (*slot).max(count);
            *most.entry(kind).or_default() += count;
        }
    }
    let mut found: BTreeMap<String, u64> = BTreeMap::new();
    for record in case.records().filter(|record| record.status == ProviderStatus::Event && ours(record)) {
        *found.entry(kind_of_record(record)).or_default() += 1;
    }
    let wrong: Vec<String> = least
        .keys()
        .chain(found.keys())
        .filter(|kind| {
            let count = found.get(*kind).copied().unwrap_or_default();
            count < least.get(*kind).copied().unwrap_or_default()
                || count > most.get(*kind).copied().unwrap_or_default()
        })
        .map(|kind| format!("{kind}: {:?} instead of {:?}", found.get(kind), least.get(kind)))
        .collect();
    (!wrong.is_empty()).then(|| wrong.join("; "))
}

/// The published schema refuses what the prose of the same document allows; the prose is right.
const EXTENSIONS: [(&str, &str); 2] = [
    ("fastresponses__ext", "items of an implementor's own type, slug:name, are legal"),
    ("scripted__extension-prefixed", "events and items of an implementor's own type, slug:name, are legal"),
];

fn kind_of_fact(kind: &str) -> String {
    if kind.starts_with('<') || kind == "None" { String::new() } else { kind.to_owned() }
}

fn kind_of_record(record: &ProviderEvent) -> String {
    let data: Value = serde_json::from_str(record.data.as_ref().unwrap()).unwrap();
    data["type"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn events_are_judged_as_the_published_schema_judges_them() {
    let except = [PLAIN_ERROR, EXTENSIONS[0], EXTENSIONS[1]];
    check(&except, |case| {
        verdicts(case, "published", |record| record.errors.iter().any(|error| !error.starts_with("event name '")))
    });
}

#[test]
fn responses_are_judged_as_the_published_schema_judges_them() {
    check(&EXTENSIONS, |case| verdicts(case, "response_resource", |record| !record.response_errors.is_empty()));
}

#[test]
fn faults_carry_no_payload() {
    for case in CASES.iter() {
        for error in case.records().flat_map(|record| record.errors.iter().chain(&record.response_errors)) {
            assert!(error.len() < 300, "{}: {error}", case.name);
            assert!(!error.contains("lab-model") && !error.contains("Hello"), "{}: {error}", case.name);
        }
    }
    assert!(CASES.iter().all(|case| case.whole["sha256"].is_string()));
}

/// One connection may carry many responses: each is the run that it would be alone.
#[test]
fn recordings_behind_one_another_are_the_same_runs() {
    let ended = |case: &&Case| case.facts["terminal_event"].is_string() && !case.name.starts_with("scripted__bom");
    let said = |frames: &[Frame]| -> Vec<String> {
        let mut all = Vec::new();
        for frame in frames {
            match &frame.body {
                Body::OutputTextDelta(block) | Body::ReasoningDelta(block) => all.push(block.delta.clone()),
                Body::ToolCallProposed(call) => all.push(format!("{} {}", call.name, call.args)),
                Body::SessionEnded(end) => {
                    all.push(format!("{:?} {:?} {:?}", end.reason, end.final_text, end.error_code))
                }
                _ => {}
            }
        }
        all
    };
    let mut bytes = Vec::new();
    let mut expected = Vec::new();
    for case in CASES.iter().filter(ended) {
        bytes.extend(std::fs::read(fixtures_dir("open-responses").join(case.whole["file"].as_str().unwrap())).unwrap());
        bytes.extend_from_slice(b"\n\n");
        expected.extend(said(&case.frames));
    }
    assert_eq!(said(&frames(open_responses(), &bytes)), expected);
}

#[test]
fn a_recording_as_frames() {
    let bytes = std::fs::read(fixtures_dir("open-responses").join("scripted__web-search.sse")).unwrap();
    let v2 = framegate_translators::contracts::contract("frames.v2").unwrap();
    let lines = String::from_utf8(support::translate(open_responses(), v2, &bytes)).unwrap();
    // The records themselves are the recording; only what is derived from them is of interest.
    let derived: Vec<&str> = lines.lines().filter(|line| !line.contains("\"type\":\"provider_event\"")).collect();
    insta::assert_snapshot!(derived.join("\n"));
}
