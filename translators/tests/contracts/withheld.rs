//! The enforcing gate: the replacement for a withheld event, for every type of event.
//!
//! Encoders only write valid events, so the tests use other schemas, which forbid one type at a time.

use crate::support::*;
use framegate_translators::contracts::Contract;
use framegate_translators::encode::{EncoderOptions, EventId, EventRef};
use framegate_translators::event_kind::kind_of;
use framegate_translators::frame::Frame;
use framegate_translators::framing::Limits;
use framegate_translators::gate::{Gate, Verdict};
use framegate_translators::pipeline::Translator;
use framegate_translators::schema::{SchemaFile, Schemas};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Schemas that reject all events of the types for which the function returns true, and accept all others.
fn forbidding(contract: &Contract, forbidden: impl Fn(&str) -> bool) -> Schemas {
    let text = |kind: &str| if forbidden(kind) { r#"{"required":["what no event has"]}"# } else { "{}" };
    let files: Vec<SchemaFile> =
        contract.schemas.iter().map(|file| SchemaFile::new(file.kind, text(file.kind))).collect();
    Schemas::compile_with(&files, &[]).unwrap()
}

/// An event as it was sent.
#[derive(Clone, Debug, PartialEq)]
struct SentEvent {
    kind: &'static str,
    id: EventId,
    text: String,
    /// The type of the event that was withheld.
    instead_of: Option<&'static str>,
}

fn gated(recording: &Recording, contract: &'static Contract, schemas: &Schemas, enforce: bool) -> Vec<SentEvent> {
    gated_by(recording, contract, enforce, |_| schemas)
}

/// As [`gated`], with schemas chosen for each event by its number.
fn gated_by<'s>(
    recording: &Recording,
    contract: &'static Contract,
    enforce: bool,
    schemas: impl Fn(usize) -> &'s Schemas,
) -> Vec<SentEvent> {
    let options = EncoderOptions { experimental: true, ..EncoderOptions::default() };
    let mut translator = Translator::new(ingest(recording.runner, Limits::default()), contract, options);
    let mut sent = Vec::new();
    let mut sink = |frame: &Frame, events: &mut dyn Iterator<Item = EventRef<'_>>| {
        for event in events {
            let mut out: Vec<SentEvent> = Vec::new();
            let gate = Gate::new(contract, schemas(sent.len()), enforce);
            let verdict = gate.pass(frame, event, &mut |event| {
                let text = String::from_utf8(event.payload.to_vec()).unwrap();
                out.push(SentEvent { kind: event.kind, id: event.id.clone(), text, instead_of: None });
            });
            assert_eq!(out.len(), 1, "one event for each event");
            if let Verdict::Withheld(violations) = &verdict {
                assert_eq!(violations[0].keyword, "required");
                out[0].instead_of = Some(event.kind);
                assert_eq!(out[0].id, *event.id, "the cursor is that of the withheld event");
            }
            assert!(enforce || !matches!(verdict, Verdict::Withheld(_)));
            sent.append(&mut out);
        }
    };
    translator.feed(&recording.bytes, EPOCH_MS, &mut sink);
    translator.finish(EPOCH_MS, &mut sink);
    sent
}

/// Recordings that together contain every event type that any recording yields, a few for each type.
static BY_KIND: LazyLock<BTreeMap<&'static str, BTreeMap<&'static str, Vec<usize>>>> = LazyLock::new(|| {
    let mut found: BTreeMap<&'static str, BTreeMap<&'static str, Vec<usize>>> = BTreeMap::new();
    for contract in json_contracts() {
        let open = forbidding(contract, |_| false);
        let kinds = found.entry(contract.name).or_default();
        for (at, recording) in ALL.iter().enumerate() {
            for event in gated(recording, contract, &open, false) {
                let places = kinds.entry(event.kind).or_default();
                if places.len() < 3 && places.last() != Some(&at) {
                    places.push(at);
                }
            }
        }
    }
    found
});

static ALL: LazyLock<Vec<Recording>> = LazyLock::new(|| recordings().filter(|one| one.bytes.len() < 60_000).collect());

#[test]
fn a_stream_with_a_withheld_type_follows_the_contract() {
    for contract in json_contracts() {
        for (kind, places) in &BY_KIND[contract.name] {
            let schemas = forbidding(contract, |other| other == *kind);
            for at in places {
                let recording = &ALL[*at];
                let sent = gated(recording, contract, &schemas, true);
                assert!(sent.iter().any(|event| event.instead_of == Some(kind)), "{kind}");
                let ndjson: String = sent.iter().map(|event| format!("{}\n", event.text)).collect();
                let wrong = errors_in(contract, ndjson.as_bytes());
                assert!(wrong.is_empty(), "{} without {kind}, {}: {wrong:?}\n{ndjson}", contract.name, recording.name);
                assert_eq!(sent, gated(recording, contract, &schemas, true), "the same again");
            }
        }
    }
}

/// Schemas that accept everything and schemas that reject everything, for each contract.
static OPEN_AND_SHUT: LazyLock<Vec<(&'static Contract, [Schemas; 2])>> = LazyLock::new(|| {
    json_contracts().map(|one| (one, [forbidding(one, |_| false), forbidding(one, |_| true)])).collect()
});

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// Whichever events are withheld, the checker accepts the rest. It would not accept it without the replacements.
    #[test]
    fn check_accepts_streams_with_withheld_events(
        at in any::<prop::sample::Index>(), picks in prop::collection::vec(prop::bool::weighted(0.2), 1..400),
    ) {
        let recording = at.get(ALL.as_slice());
        for (contract, schemas) in OPEN_AND_SHUT.iter() {
            let choose = |nth: usize| &schemas[usize::from(picks[nth % picks.len()])];
            let sent = gated_by(recording, contract, true, choose);
            let ndjson: String = sent.iter().map(|event| format!("{}\n", event.text)).collect();
            let wrong = errors_in(contract, ndjson.as_bytes());
            prop_assert!(wrong.is_empty(), "{} {}: {wrong:?}\n{ndjson}", contract.name, recording.name);
        }
    }
}

#[test]
fn check_accepts_streams_of_nothing_but_stand_ins() {
    for recording in ALL.iter() {
        for (contract, [_, shut]) in OPEN_AND_SHUT.iter() {
            let sent = gated(recording, contract, shut, true);
            let ndjson: String = sent.iter().map(|event| format!("{}\n", event.text)).collect();
            let wrong = errors_in(contract, ndjson.as_bytes());
            assert!(wrong.is_empty(), "{} {}: {wrong:?}\n{ndjson}", contract.name, recording.name);
        }
    }
}

#[test]
fn check_accepts_streams_whose_last_event_alone_is_withheld() {
    for recording in ALL.iter() {
        for (contract, schemas) in OPEN_AND_SHUT.iter() {
            let last = gated(recording, contract, &schemas[0], true).len().saturating_sub(1);
            let sent = gated_by(recording, contract, true, |nth| &schemas[usize::from(nth == last)]);
            let ndjson: String = sent.iter().map(|event| format!("{}\n", event.text)).collect();
            let wrong = errors_in(contract, ndjson.as_bytes());
            assert!(wrong.is_empty(), "{} {}: {wrong:?}\n{ndjson}", contract.name, recording.name);
        }
    }
}

#[test]
fn a_notice_excuses_one_finding() {
    let line = |sequence: u64, kind: &str, data: Value| {
        let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        serde_json::json!({
            "schema_version": "1", "event_id": format!("evt_01ARZ3NDEKTSV4RRFFQ69G5F{sequence:02}"),
            "run_id": format!("run_{id}"), "sequence": sequence, "occurred_at": "2026-05-03T10:23:45Z", "type": kind, "data": data,
        })
    };
    let notice = serde_json::json!({
        "first_pruned_sequence": 1, "last_pruned_sequence": 1, "pruned_at": "2026-05-03T10:23:45Z",
        "reason": "event withheld: tool.invoked breaks its schema at /data (required)",
    });
    let over = |call: &str| serde_json::json!({"tool_call_id": call, "tool_name": "bash", "kind": "shell"});
    let lease = serde_json::json!({"worker_id": "w", "lease_until": "2026-05-03T10:23:45Z"});
    let end = serde_json::json!({"final_status": "completed", "duration_ms": 1});
    let stream = |calls: [&str; 3]| -> String {
        let [one, two, three] = calls;
        let events = [
            line(0, "run.started", lease.clone()),
            line(1, "gap.events_pruned", notice.clone()),
            line(2, "tool.started", over(one)),
            line(3, "tool.started", over(two)),
            line(4, "tool.completed", over(three)),
            line(5, "run.finished", end.clone()),
        ];
        events.iter().map(|event| format!("{event}\n")).collect()
    };
    let hecate = framegate_translators::contracts::contract("hecate.v1").unwrap();
    assert_eq!(errors_in(hecate, stream(["a", "a", "a"]).as_bytes()), []);
    let wrong = errors_in(hecate, stream(["a", "a", "b"]).as_bytes());
    assert_eq!(wrong.iter().map(|one| (one.record, one.finding.rule)).collect::<Vec<_>>(), [(5, "pair.not_open")]);
    let without = stream(["a", "a", "a"]).replace("event withheld: ", "retention ");
    assert_eq!(errors_in(hecate, without.as_bytes()).len(), 3, "a gap of another kind excuses nothing");
}

#[test]
fn a_stand_in_is_valid_and_names_the_withheld_event_without_its_content() {
    let mut silent = BTreeSet::new();
    for contract in json_contracts() {
        let schemas = forbidding(contract, |_| true);
        for places in BY_KIND[contract.name].values() {
            for event in gated(&ALL[places[0]], contract, &schemas, true) {
                let withheld = event.instead_of.unwrap();
                let real = framegate_translators::contracts::contract(contract.name).unwrap();
                let parsed: Value = serde_json::from_str(&event.text).unwrap();
                assert_eq!(crate::support::schemas(real).check_value(event.kind, &parsed), Ok(()), "{}", event.text);
                assert_eq!(kind_of(contract.type_key, &parsed), Some(event.kind));
                assert!(event.text.len() < 1200, "{}", event.text);
                if !event.text.contains(&format!("event withheld: {withheld} breaks its schema")) {
                    assert_eq!(event.kind, withheld, "{}", event.text);
                    silent.insert((contract.name, event.kind));
                }
            }
        }
    }
    // An event that the contract needs, such as the first or the last one, may be replaced by one of its type, which has no room for
    // the notice. A new contract's are added by `INSTA_UPDATE=always`.
    insta::assert_debug_snapshot!(silent);
}

/// The contract's own replacement, from its document.
#[test]
fn each_contract_has_its_own_stand_in() {
    for (contract, withheld, expected) in [
        ("frames.v1", "tool_started", "provider_event"),
        ("frames.v1", "session_ended", "session_ended"),
        ("frames.v2", "tool_started", "gap_detected"),
        ("frames.v2", "session_ended", "session_ended"),
        ("frames.v2", "tool_task_status", "tool_task_status"),
        ("sse.v1", "assistant_delta", "tool_result"),
        ("sse.v1", "run_completed", "run_failed"),
        ("sse.v1", "run_interrupted", "run_interrupted"),
        ("agent-manager.v1", "metric", "error"),
        ("agent-manager.v1", "status", "status"),
        ("pixir.v1", "text_delta", "status"),
        ("pixir.v1", "tool_call", "assistant_message"),
        ("pixir.v1", "tool_result", "tool_result"),
        ("hecate.v1", "run.started", "gap.events_pruned"),
        ("hecate.v1", "tool.invoked", "gap.events_pruned"),
        ("hecate.v1", "run.finished", "run.failed"),
        ("hecate.v1", "run.cancelled", "run.cancelled"),
    ] {
        let contract = framegate_translators::contracts::contract(contract).unwrap();
        let schemas = forbidding(contract, |kind| kind == withheld);
        let places = &BY_KIND[contract.name][withheld];
        let events: Vec<SentEvent> = places.iter().flat_map(|at| gated(&ALL[*at], contract, &schemas, true)).collect();
        let stand_ins: Vec<&SentEvent> = events.iter().filter(|event| event.instead_of == Some(withheld)).collect();
        assert!(stand_ins.iter().any(|event| event.kind == expected), "{} {withheld}: {stand_ins:?}", contract.name);
    }
}

#[test]
fn a_warning_gate_sends_invalid_events() {
    for contract in json_contracts() {
        let (open, closed) = (forbidding(contract, |_| false), forbidding(contract, |_| true));
        assert_eq!(gated(&ALL[0], contract, &open, false), gated(&ALL[0], contract, &closed, false));
    }
}
