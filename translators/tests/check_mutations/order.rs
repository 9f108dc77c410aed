//! Streams of recordings with one thing wrong in their order. Which rule a document has for what is done stands beside it.

use crate::parsed;
use crate::support::*;
use framegate_translators::contracts::{Contract, contract};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::LazyLock;

/// What a document says of the stream of one run.
struct Words {
    contract: &'static str,
    type_key: &'static str,
    /// What names the run.
    run: &'static str,
    /// What stays the same besides.
    constant: &'static [&'static str],
    /// The number without a gap, where the document has one.
    number: Option<&'static str>,
    /// What is unique.
    id: &'static str,
    /// Types of which one comes first.
    first: &'static [&'static str],
    is_last: fn(&Value) -> bool,
    /// What may be put in anywhere in the midst of a run.
    filler: &'static str,
    /// Opened by one type and closed by another, by the value at a pointer.
    pairs: &'static [(&'static str, &'static [&'static str], &'static str)],
    /// Delta and completed text: types, and where their text is.
    text: Option<(&'static str, &'static str, &'static str, &'static str)>,
}

fn kind_in(event: &Value, kinds: &[&str]) -> bool {
    kinds.iter().any(|kind| event["type"] == *kind)
}

const ALL: &[Words] = &[
    // "`seq` starts at 0 and increments by 1"; "`session_ended` is the terminal frame".
    Words {
        contract: "frames.v1",
        type_key: "type",
        run: "session_id",
        constant: &[],
        number: Some("seq"),
        id: "id",
        first: &["session_started"],
        is_last: |event| event["type"] == "session_ended",
        filler: "provider_event",
        pairs: &[("tool_started", &["tool_ended", "tool_failed"], "/tool_id")],
        text: None,
    },
    Words {
        contract: "frames.v2",
        type_key: "type",
        run: "stream_id",
        // "Session streams may continue to include `session_id` as an alias".
        constant: &["session_id"],
        number: Some("seq"),
        id: "id",
        first: &["session_started"],
        is_last: |event| event["type"] == "session_ended",
        filler: "provider_event",
        pairs: &[
            ("tool_started", &["tool_ended", "tool_failed"], "/tool_id"),
            ("turn_started", &["turn_ended"], "/turn_index"),
            ("approval_requested", &["approval_resolved"], "/approval_id"),
            ("subagent_started", &["subagent_ended"], "/subagent_id"),
        ],
        text: Some(("output_text_delta", "/delta", "output_text_completed", "/text")),
    },
    // "`run_started` is first event"; "Exactly one terminal event"; "`session_id`/`run_id`: immutable".
    Words {
        contract: "sse.v1",
        type_key: "type",
        run: "run_id",
        constant: &["session_id"],
        number: None,
        id: "event_id",
        first: &["run_started"],
        is_last: |event| kind_in(event, &["run_completed", "run_failed", "run_interrupted"]),
        filler: "assistant_delta",
        pairs: &[("tool_call_proposed", &["tool_call_approved", "tool_call_rejected"], "/payload/approval_id")],
        text: None,
    },
    // "Sequential order within the run (0-indexed)".
    Words {
        contract: "agent-manager.v1",
        type_key: "eventType",
        run: "runId",
        constant: &[],
        number: Some("sequence"),
        id: "id",
        first: &[],
        is_last: |event| {
            let status = event["data"]["newStatus"].as_str().unwrap_or_default();
            event["eventType"] == "status" && ["complete", "failed", "cancelled"].contains(&status)
        },
        filler: "message",
        // "Emitted after a tool execution": a result has a call before it. A call may be the client's to run.
        pairs: &[],
        text: None,
    },
    // "a per-Session monotonic `seq`" on canonical events; "the persisted form of streamed text".
    Words {
        contract: "pixir.v1",
        type_key: "type",
        run: "session_id",
        constant: &[],
        number: Some("seq"),
        id: "id",
        first: &[],
        is_last: |event| {
            let status = event["data"]["status"].as_str().unwrap_or_default();
            event["type"] == "status" && ["done", "error", "interrupted"].contains(&status)
        },
        filler: "provider_usage",
        pairs: &[("tool_call", &["tool_result"], "/data/call_id")],
        text: Some(("text_delta", "/data/chunk", "assistant_message", "/data/text")),
    },
    // "Within a single `run_id`, `sequence` is gap-free and strictly increasing"; "the full text is `concat(deltas)`".
    Words {
        contract: "hecate.v1",
        type_key: "type",
        run: "run_id",
        constant: &["task_id", "session_id"],
        number: Some("sequence"),
        id: "event_id",
        first: &["run.queued", "run.started", "run.resumed_from_event"],
        is_last: |event| kind_in(event, &["run.finished", "run.failed", "run.cancelled"]),
        filler: "user.message",
        pairs: &[
            (
                "tool.invoked",
                &["tool.completed", "tool.failed", "tool.cancelled", "tool.timed_out"],
                "/data/tool_call_id",
            ),
            ("approval.requested", &["approval.resolved", "approval.timed_out"], "/data/approval_id"),
        ],
        text: Some(("assistant.text_delta", "/data/delta", "assistant.text_complete", "/data/text")),
    },
];

static SMALL: LazyLock<Vec<Recording>> =
    LazyLock::new(|| recordings().filter(|recording| recording.bytes.len() < 20_000).collect());

type Runs = Vec<(String, Vec<Value>)>;

static RUNS: LazyLock<HashMap<&'static str, Runs>> =
    LazyLock::new(|| ALL.iter().map(|words| (words.contract, read_runs(words))).collect());

fn runs(words: &Words) -> &'static Runs {
    &RUNS[words.contract]
}

/// How many runs of a contract each thing is done to.
const RUNS_EACH: usize = 30;

/// The first run of each recording, as events of the contract.
fn read_runs(words: &Words) -> Runs {
    let contract = contract(words.contract).unwrap();
    SMALL
        .iter()
        .filter_map(|recording| {
            let mut events = parsed(recording, contract);
            if words.contract == "frames.v2" {
                events.retain(|event| event["stream_kind"] == "session");
            }
            let run = events.first()?[words.run].clone();
            events.retain(|event| event[words.run] == run);
            Some((recording.name.clone(), events))
        })
        .filter(|(_, events)| events.len() > 2)
        .collect()
}

/// Numbers and names the events anew, so that only what was done to their order is wrong.
fn renumber(words: &Words, events: &mut [Value]) {
    let mut next = 0;
    for (at, event) in events.iter_mut().enumerate() {
        if let Some(key) = words.number
            && !event[key].is_null()
        {
            event[key] = json!(next);
            next += 1;
        }
        event[words.id] = json!(match words.contract {
            "sse.v1" => format!("evt_{at:010}"),
            "hecate.v1" => format!("evt_{at:026}"),
            "pixir.v1" => format!("{at:016x}"),
            _ => format!("00000000-0000-5000-8000-{at:012x}"),
        });
    }
}

fn rules(contract: &'static Contract, events: &[Value]) -> Vec<(u64, &'static str, String)> {
    let ndjson: String = events.iter().map(|event| format!("{event}\n")).collect();
    errors_in(contract, ndjson.as_bytes())
        .into_iter()
        .map(|located| (located.record, located.finding.rule, located.finding.pointer))
        .collect()
}

/// Does something to each run and says what must be found: the event (counted from 1; 0 is the stream), the rule's names of
/// which one is right, and the pointer. `None` where it cannot be done to that run.
struct Broken {
    events: Vec<Value>,
    at: u64,
    rules: &'static [&'static str],
    pointer: String,
}

fn each(what: &str, edit: impl Fn(&Words, &[Value]) -> Option<Broken>) {
    for words in ALL {
        let contract = contract(words.contract).unwrap();
        let shown = runs(words).iter().filter_map(|(name, events)| Some((name, edit(words, events)?)));
        for (name, broken) in shown.take(RUNS_EACH) {
            let found = rules(contract, &broken.events);
            let Broken { at, rules, pointer, .. } = &broken;
            let is_found =
                found.iter().any(|(record, rule, place)| record == at && rules.contains(rule) && place == pointer);
            assert!(is_found, "{what}, {} of {name}: {rules:?} at {at}{pointer}, found {found:?}", words.contract);
        }
    }
}

fn is(words: &Words, event: &Value, kind: &str) -> bool {
    event[words.type_key] == kind
}

/// Whether a document has the rule at all, and some run shows it: each test says for which contracts it found a run.
fn applies(what: &str, contracts: &[&str], edit: impl Fn(&Words, &[Value]) -> Option<Broken>) {
    for words in ALL.iter().filter(|words| contracts.contains(&words.contract)) {
        assert!(
            runs(words).iter().any(|(_, events)| edit(words, events).is_some()),
            "{what}: no run of {} shows it",
            words.contract
        );
    }
    each(what, edit);
}

const EVERY: &[&str] = &["frames.v1", "frames.v2", "sse.v1", "agent-manager.v1", "pixir.v1", "hecate.v1"];

#[test]
fn a_valid_run_and_the_same_renumbered_give_no_finding() {
    for words in ALL {
        let contract = contract(words.contract).unwrap();
        for (name, events) in runs(words) {
            let mut events = events.clone();
            assert_eq!(rules(contract, &events), [], "{name} in {}", words.contract);
            renumber(words, &mut events);
            assert_eq!(rules(contract, &events), [], "{name} in {}, renumbered", words.contract);
        }
    }
}

#[test]
fn the_first_event_is_the_one_that_the_document_names() {
    applies("no first event", &["frames.v1", "frames.v2", "sse.v1", "hecate.v1"], |words, events| {
        if words.first.is_empty() || words.first.iter().any(|first| is(words, &events[1], first)) {
            return None;
        }
        let mut events = events[1..].to_vec();
        renumber(words, &mut events);
        Some(Broken { events, at: 1, rules: &["start.missing"], pointer: String::new() })
    });
    applies("two first events", &["frames.v1", "frames.v2", "sse.v1"], |words, events| {
        if words.first.len() != 1 {
            return None;
        }
        let mut events = events.to_vec();
        events.insert(1, events[0].clone());
        renumber(words, &mut events);
        Some(Broken { events, at: 2, rules: &["start.repeat"], pointer: String::new() })
    });
}

#[test]
fn there_is_one_terminal_event_and_it_is_the_last() {
    applies("no end", EVERY, |words, events| {
        let events = events[..events.len() - 1].to_vec();
        // A Pixir log, which has no ephemeral events, has no terminal marker either.
        let is_log = words.contract == "pixir.v1" && events.iter().all(|event| !event["seq"].is_null());
        (!is_log).then(|| Broken { events, at: 0, rules: &["end.missing"], pointer: String::new() })
    });
    applies("two ends", EVERY, |words, events| {
        let mut events = events.to_vec();
        assert!((words.is_last)(events.last().unwrap()), "{} {:?}", words.contract, events.last());
        events.push(events.last().unwrap().clone());
        renumber(words, &mut events);
        let at = events.len() as u64;
        Some(Broken { events, at, rules: &["end.repeat", "end.not_last"], pointer: String::new() })
    });
    applies("something behind the end", EVERY, |words, events| {
        let mut events = events.to_vec();
        let filler = events.iter().find(|event| is(words, event, words.filler))?.clone();
        events.push(filler);
        renumber(words, &mut events);
        let at = events.len() as u64;
        Some(Broken { events, at, rules: &["end.not_last"], pointer: String::new() })
    });
}

#[test]
fn numbers_begin_at_0_and_have_no_gap_and_no_repeat() {
    const NUMBERED: &[&str] = &["frames.v1", "frames.v2", "agent-manager.v1", "pixir.v1", "hecate.v1"];
    let numbered = |words: &Words, events: &[Value]| -> Option<(&'static str, Vec<usize>)> {
        let key = words.number?;
        let places: Vec<usize> = (0..events.len()).filter(|at| !events[*at][key].is_null()).collect();
        (places.len() > 2).then_some((key, places))
    };
    applies("a gap", NUMBERED, |words, events| {
        let (key, places) = numbered(words, events)?;
        let mut events = events.to_vec();
        events.remove(places[1]);
        Some(Broken { events, at: places[2] as u64, rules: &["sequence.gap"], pointer: format!("/{key}") })
    });
    applies("a repeat", NUMBERED, |words, events| {
        let (key, places) = numbered(words, events)?;
        let mut events = events.to_vec();
        events[places[2]][key] = events[places[1]][key].clone();
        Some(Broken { events, at: places[2] as u64 + 1, rules: &["sequence.repeat"], pointer: format!("/{key}") })
    });
    applies("another start", NUMBERED, |words, events| {
        let (key, places) = numbered(words, events)?;
        let mut events = events.to_vec();
        for at in &places {
            events[*at][key] = json!(events[*at][key].as_u64().unwrap() + 1);
        }
        Some(Broken { events, at: places[0] as u64 + 1, rules: &["sequence.start"], pointer: format!("/{key}") })
    });
    applies("two in the wrong order", NUMBERED, |words, events| {
        let (key, places) = numbered(words, events)?;
        let mut events = events.to_vec();
        events.swap(places[1], places[2]);
        Some(Broken { events, at: places[1] as u64 + 1, rules: &["sequence.gap"], pointer: format!("/{key}") })
    });
}

#[test]
fn ids_are_unique_and_sort_where_the_document_says_so() {
    applies("an id twice", EVERY, |words, events| {
        let mut events = events.to_vec();
        events[2][words.id] = events[1][words.id].clone();
        let rules = if words.contract == "sse.v1" { &["id.order"][..] } else { &["id.repeat"] };
        Some(Broken { events, at: 3, rules, pointer: format!("/{}", words.id) })
    });
    applies("unsorted ids", &["sse.v1", "hecate.v1"], |words, events| {
        if !["sse.v1", "hecate.v1"].contains(&words.contract) {
            return None;
        }
        let mut events = events.to_vec();
        let (one, two) = (events[1][words.id].clone(), events[2][words.id].clone());
        events[1][words.id] = two;
        events[2][words.id] = one;
        Some(Broken { events, at: 3, rules: &["id.order"], pointer: format!("/{}", words.id) })
    });
}

#[test]
fn what_names_a_stream_stays_the_same() {
    applies("another constant id", &["frames.v2", "sse.v1", "hecate.v1"], |words, events| {
        let key = words.constant.first()?;
        let mut events = events.to_vec();
        let other = if words.contract == "hecate.v1" {
            json!("task_00000000000000000000000000")
        } else {
            json!("00000000-0000-5000-8000-00000000ffff")
        };
        events[1][*key] = other;
        Some(Broken { events, at: 2, rules: &["id.changed", "id.alias"], pointer: format!("/{key}") })
    });
    // An event of another run is the first one of a stream that has no beginning, and leaves a gap in its own.
    applies("another run", EVERY, |words, events| {
        let key = words.number;
        let at = (1..events.len() - 1).find(|at| key.is_none_or(|key| !events[*at][key].is_null()))?;
        let mut events = events.to_vec();
        events[at][words.run] = match words.contract {
            "hecate.v1" => json!("run_00000000000000000000000000"),
            _ => json!("00000000-0000-5000-8000-00000000ffff"),
        };
        if words.contract == "frames.v2" {
            events[at]["session_id"] = events[at]["stream_id"].clone();
        }
        let is_zero = key.is_some_and(|key| events[at][key] == 0);
        let rules: &[&str] = match key {
            // The first number of a Pixir session may be in the midst of its stream.
            Some(_) if is_zero => &["end.missing", "sequence.start"],
            Some(_) => &["sequence.start"],
            None => &["start.missing"],
        };
        if is_zero {
            return None;
        }
        let pointer = key.map(|key| format!("/{key}")).unwrap_or_default();
        Some(Broken { events, at: at as u64 + 1, rules, pointer })
    });
}

#[test]
fn what_is_opened_is_closed() {
    const PAIRED: &[&str] = &["frames.v1", "frames.v2", "sse.v1", "pixir.v1", "hecate.v1"];
    for nth in 0..4 {
        let open = |words: &Words, events: &[Value]| {
            let (opens, closes, id) = words.pairs.get(nth)?;
            let from = events.iter().position(|event| is(words, event, opens))?;
            let name = events[from].pointer(id)?.clone();
            let is_end =
                |event: &Value| closes.iter().any(|close| is(words, event, close)) && event.pointer(id) == Some(&name);
            let to = events.iter().position(is_end)?;
            // Where a name comes again, what is left has a partner.
            let again = events.iter().skip(to + 1).any(|event| event.pointer(id) == Some(&name));
            (!again).then(|| (from, to, (*id).to_owned()))
        };
        let contracts: &[&str] = match nth {
            0 => PAIRED,
            1 => &["frames.v2", "hecate.v1"],
            _ => &["frames.v2"],
        };
        applies("closed and never opened", contracts, |words, events| {
            let (from, _, pointer) = open(words, events)?;
            let name = events[from].pointer(&pointer).cloned();
            let mut events = events.to_vec();
            events.remove(from);
            renumber(words, &mut events);
            // The first event of the thing's own: others may name it before it is open, or after it is closed.
            let speaks = |event: &Value| {
                let kind = event[words.type_key].as_str().unwrap();
                let own = words.pairs[nth].1.contains(&kind)
                    || ["tool_stdout", "tool_stderr"].contains(&kind)
                    || kind.starts_with("tool.");
                own && event.pointer(&pointer).cloned() == name
            };
            let at = events.iter().position(speaks)? as u64 + 1;
            Some(Broken { events, at, rules: &["pair.not_open"], pointer })
        });
        applies("opened and never closed", contracts, |words, events| {
            let (_, to, _) = open(words, events)?;
            let mut events = events.to_vec();
            events.remove(to);
            renumber(words, &mut events);
            let at = if words.contract == "pixir.v1" { 0 } else { events.len() as u64 };
            Some(Broken { events, at, rules: &["pair.left_open"], pointer: String::new() })
        });
        applies("opened twice", contracts, |words, events| {
            let (from, _, pointer) = open(words, events)?;
            let mut events = events.to_vec();
            events.insert(from + 1, events[from].clone());
            renumber(words, &mut events);
            Some(Broken { events, at: from as u64 + 2, rules: &["pair.opened_twice"], pointer })
        });
        applies("closed twice", contracts, |words, events| {
            let (_, to, pointer) = open(words, events)?;
            let mut events = events.to_vec();
            events.insert(to + 1, events[to].clone());
            renumber(words, &mut events);
            Some(Broken { events, at: to as u64 + 2, rules: &["pair.not_open", "turn.not_open"], pointer })
        });
    }
    // A result that nothing called.
    each("a result without its call", |words, events| {
        if words.contract != "agent-manager.v1" {
            return None;
        }
        let mut events = events.to_vec();
        let at = events.iter().position(|event| is(words, event, "tool_result"))?;
        events[at]["data"]["toolName"] = json!("never called");
        Some(Broken { events, at: at as u64 + 1, rules: &["pair.not_open"], pointer: "/data/toolName".to_owned() })
    });
}

#[test]
fn a_completed_text_is_its_deltas() {
    const WITH_TEXT: &[&str] = &["frames.v2", "pixir.v1", "hecate.v1"];
    let spoken = |words: &Words, events: &[Value]| {
        let (delta, said, whole, text) = words.text?;
        let at = events.iter().position(|event| is(words, event, delta))?;
        // The text that these deltas belong to: in all three contracts the next one, where only one voice speaks.
        let to = at + events[at..].iter().position(|event| is(words, event, whole))?;
        let all: String = events[at..to]
            .iter()
            .filter(|event| is(words, event, delta))
            .map(|event| event.pointer(said).unwrap().as_str().unwrap())
            .collect();
        (events[to].pointer(text)? == all.as_str() && !all.is_empty()).then_some((at, to, said, text))
    };
    applies("a delta says something else", WITH_TEXT, |words, events| {
        let (at, to, said, text) = spoken(words, events)?;
        let mut events = events.to_vec();
        *events[at].pointer_mut(said).unwrap() = json!("something that nobody said");
        Some(Broken { events, at: to as u64 + 1, rules: &["text.differs"], pointer: text.to_owned() })
    });
    applies("a delta comes twice", WITH_TEXT, |words, events| {
        let (at, to, said, text) = spoken(words, events)?;
        if events[at].pointer(said)? == "" {
            return None;
        }
        let mut events = events.to_vec();
        events.insert(at + 1, events[at].clone());
        renumber(words, &mut events);
        Some(Broken { events, at: to as u64 + 2, rules: &["text.differs"], pointer: text.to_owned() })
    });
    applies("the text says more", WITH_TEXT, |words, events| {
        let (_, to, _, text) = spoken(words, events)?;
        let mut events = events.to_vec();
        let more = format!("{}!", events[to].pointer(text)?.as_str()?);
        *events[to].pointer_mut(text).unwrap() = json!(more);
        Some(Broken { events, at: to as u64 + 1, rules: &["text.differs"], pointer: text.to_owned() })
    });
}

/// "emitted as the first event of the new run when an agent resumes from a checkpoint".
#[test]
fn a_hecate_run_resumes_at_its_beginning_only() {
    each("resumed in the midst", |words, events| {
        if words.contract != "hecate.v1" {
            return None;
        }
        let mut events = events.to_vec();
        let mut resumed = events[0].clone();
        resumed["type"] = json!("run.resumed_from_event");
        resumed["data"] = json!({"from_run_id": resumed["run_id"], "from_sequence": 1});
        events.insert(1, resumed);
        renumber(words, &mut events);
        Some(Broken { events, at: 2, rules: &["start.repeat"], pointer: String::new() })
    });
}
