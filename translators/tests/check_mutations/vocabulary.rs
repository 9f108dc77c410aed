//! The rules of each document for the stream of one run, and helpers that change such streams.

use crate::parsed;
use crate::support::*;
use framegate_translators::contracts::{Contract, contract};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::LazyLock;

/// The rules of a document for the stream of one run.
pub struct Vocabulary {
    pub contract: &'static str,
    pub type_key: &'static str,
    /// The key that names the run.
    pub run: &'static str,
    /// Other keys that are constant within a run.
    pub constant: &'static [&'static str],
    /// The key of the number without gaps; `None` if the document has none.
    pub number: Option<&'static str>,
    /// The key of the unique id.
    pub id: &'static str,
    /// The types of the first event; one of them must come first.
    pub first: &'static [&'static str],
    pub is_last: fn(&Value) -> bool,
    /// A type that may occur anywhere in the middle of a run.
    pub filler: &'static str,
    /// Types that open and types that close an object, and the pointer to the object's name.
    pub pairs: &'static [(&'static str, &'static [&'static str], &'static str)],
    /// Delta and completed text: the types, and the pointers to their text.
    pub text: Option<(&'static str, &'static str, &'static str, &'static str)>,
}

pub fn kind_in(event: &Value, kinds: &[&str]) -> bool {
    kinds.iter().any(|kind| event["type"] == *kind)
}

pub const ALL: &[Vocabulary] = &[
    // "`seq` starts at 0 and increments by 1"; "`session_ended` is the terminal frame".
    Vocabulary {
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
    Vocabulary {
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
    Vocabulary {
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
    Vocabulary {
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
        // "Emitted after a tool execution": a result follows its call. A call may lack a result, because the client may have to
        // run it.
        pairs: &[],
        text: None,
    },
    // "a per-Session monotonic `seq`" on canonical events; "the persisted form of streamed text".
    Vocabulary {
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
    Vocabulary {
        contract: "hecate.v1",
        type_key: "type",
        run: "run_id",
        constant: &["task_id", "session_id"],
        number: Some("sequence"),
        id: "event_id",
        first: &["run.queued", "run.started", "run.resumed_from_event"],
        is_last: |event| kind_in(event, &["run.finished", "run.failed", "run.cancelled"]),
        filler: "cost.tick",
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

pub static SMALL: LazyLock<Vec<Recording>> =
    LazyLock::new(|| recordings().filter(|recording| recording.bytes.len() < 20_000).collect());

pub type Runs = Vec<(String, Vec<Value>)>;

pub static RUNS: LazyLock<HashMap<&'static str, Runs>> =
    LazyLock::new(|| ALL.iter().map(|vocabulary| (vocabulary.contract, read_runs(vocabulary))).collect());

pub fn runs(vocabulary: &Vocabulary) -> &'static Runs {
    &RUNS[vocabulary.contract]
}

/// The number of runs of a contract that each change is applied to.
pub const RUNS_EACH: usize = 30;

/// The first run of each recording, as events of the contract.
pub fn read_runs(vocabulary: &Vocabulary) -> Runs {
    let contract = contract(vocabulary.contract).unwrap();
    SMALL
        .iter()
        .filter_map(|recording| {
            let mut events = parsed(recording, contract);
            if vocabulary.contract == "frames.v2" {
                events.retain(|event| event["stream_kind"] == "session");
            }
            let run = events.first()?[vocabulary.run].clone();
            events.retain(|event| event[vocabulary.run] == run);
            Some((recording.name.clone(), events))
        })
        .filter(|(_, events)| events.len() > 2)
        .collect()
}

/// Renumbers and renames the events, so that only the change to their order remains wrong.
pub fn renumber(vocabulary: &Vocabulary, events: &mut [Value]) {
    let mut next = 0;
    for (at, event) in events.iter_mut().enumerate() {
        if let Some(key) = vocabulary.number
            && !event[key].is_null()
        {
            event[key] = json!(next);
            next += 1;
        }
        event[vocabulary.id] = json!(match vocabulary.contract {
            "sse.v1" => format!("evt_{at:010}"),
            "hecate.v1" => format!("evt_{at:026}"),
            "pixir.v1" => format!("{at:016x}"),
            _ => format!("00000000-0000-5000-8000-{at:012x}"),
        });
    }
}

pub fn rules(contract: &'static Contract, events: &[Value]) -> Vec<(u64, &'static str, String)> {
    let ndjson: String = events.iter().map(|event| format!("{event}\n")).collect();
    errors_in(contract, ndjson.as_bytes())
        .into_iter()
        .map(|located| (located.record, located.finding.rule, located.finding.pointer))
        .collect()
}

/// A changed run and the expected finding: the event (counted from 1; 0 is the stream), the acceptable rules, and the pointer.
pub struct Mutation {
    pub events: Vec<Value>,
    pub at: u64,
    pub rules: &'static [&'static str],
    pub pointer: String,
}

pub fn each(what: &str, edit: impl Fn(&Vocabulary, &[Value]) -> Option<Mutation>) {
    for vocabulary in ALL {
        let contract = contract(vocabulary.contract).unwrap();
        let shown = runs(vocabulary).iter().filter_map(|(name, events)| Some((name, edit(vocabulary, events)?)));
        for (name, broken) in shown.take(RUNS_EACH) {
            let found = rules(contract, &broken.events);
            let Mutation { at, rules, pointer, .. } = &broken;
            let is_found =
                found.iter().any(|(record, rule, place)| record == at && rules.contains(rule) && place == pointer);
            assert!(is_found, "{what}, {} of {name}: {rules:?} at {at}{pointer}, found {found:?}", vocabulary.contract);
        }
    }
}

pub fn is_kind(vocabulary: &Vocabulary, event: &Value, kind: &str) -> bool {
    event[vocabulary.type_key] == kind
}

/// Checks that a rule applies to the contracts: for each one, the change can be applied to at least one run.
pub fn applies(what: &str, contracts: &[&str], edit: impl Fn(&Vocabulary, &[Value]) -> Option<Mutation>) {
    for vocabulary in ALL.iter().filter(|vocabulary| contracts.contains(&vocabulary.contract)) {
        assert!(
            runs(vocabulary).iter().any(|(_, events)| edit(vocabulary, events).is_some()),
            "{what}: no run of {} shows it",
            vocabulary.contract
        );
    }
    each(what, edit);
}

pub const EVERY: &[&str] = &["frames.v1", "frames.v2", "sse.v1", "agent-manager.v1", "pixir.v1", "hecate.v1"];
