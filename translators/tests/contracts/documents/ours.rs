//! The documents allow what framegate writes, and each document schema defines every type.

use super::{document, passes};
use crate::support::{EPOCH_MS, ingest, json_contracts, recordings, set_kind};
use framegate_translators::contracts::contract;
use framegate_translators::encode::{EncoderOptions, EventRef};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Translator;
use framegate_translators::schema::document::{OTHER, types_of};
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[test]
fn every_recording_in_every_contract_conforms_to_the_document() {
    let all = EncoderOptions {
        experimental: true,
        thinking: true,
        user_messages: true,
        artifacts: true,
        task_budget_micros_usd: Some(1_000),
    };
    for known in json_contracts() {
        for options in [EncoderOptions::default(), all.clone()] {
            for recording in recordings().filter(|recording| recording.bytes.len() < 100_000) {
                let mut translator =
                    Translator::new(ingest(recording.runner, Limits::default()), known, options.clone());
                let mut events = Vec::new();
                let mut sink = |_: &_, more: &mut dyn Iterator<Item = EventRef<'_>>| {
                    more.for_each(|event| events.push(framegate_translators::json::value(event.payload).unwrap()));
                };
                translator.feed(&recording.bytes, EPOCH_MS, &mut sink);
                translator.finish(EPOCH_MS, &mut sink);
                passes(known.name, &recording.name, &events);
            }
        }
    }
}

#[test]
fn the_document_schema_covers_every_type() {
    for known in json_contracts() {
        let schema: Value = serde_json::from_str(known.document_schema.unwrap().text()).unwrap();
        let types: BTreeSet<&str> = types_of(&schema, known.type_key).collect();
        let listed = schema["anyOf"].as_array().unwrap().iter().map(|entry| entry["$ref"].as_str().unwrap());
        let listed: BTreeSet<&str> = listed.map(|entry| entry.strip_prefix("#/$defs/").unwrap()).collect();
        let mut defined = types.clone();
        if let Some(other) = schema["$defs"].get(OTHER) {
            defined.insert(OTHER);
            // A type that is part of another value cannot be listed: then it has a pattern that no named type has.
            let names = |place: &str| other["properties"][place]["not"]["enum"].as_array();
            match known.type_key.split('|').find_map(names) {
                Some(named) => {
                    let named: BTreeSet<&str> = named.iter().map(|kind| kind.as_str().unwrap()).collect();
                    assert_eq!(named, types, "{}: other is any type but these", known.name);
                }
                None => {
                    assert_eq!(other["properties"]["method"]["pattern"], "^_", "{}", known.name);
                    assert!(types.iter().all(|kind| !kind.starts_with('_')), "{}", known.name);
                }
            }
        }
        assert_eq!(listed, defined, "{}", known.name);
        let validator = jsonschema::options().should_validate_formats(true).build(&schema).unwrap();
        for file in known.schemas {
            assert!(types.contains(file.kind), "{} lacks {}", known.name, file.kind);
            let strict: Value = serde_json::from_str(file.text()).unwrap();
            for example in strict["examples"].as_array().unwrap() {
                assert_eq!(document(known.name).check(file.kind, example), Ok(()), "{} {}", known.name, file.kind);
                assert!(validator.is_valid(example), "{} {}", known.name, file.kind);
                let mut broken = example.clone();
                set_kind(known.type_key, &mut broken, "No Such");
                assert!(!validator.is_valid(&broken), "{} {}", known.name, file.kind);
                assert_eq!(document(known.name).check("No Such", &broken), Err(None), "{}", known.name);
            }
        }
    }
}

/// If a strict schema requires a field of the envelope and the document names the field, the document requires it too.
#[test]
fn an_event_without_its_envelope_is_found() {
    for (name, keys) in [
        ("frames.v1", &["id", "session_id", "seq", "timestamp_ms"][..]),
        ("frames.v2", &["id", "stream_kind", "stream_id", "seq", "timestamp_ms"]),
        ("sse.v1", &["event_id", "session_id", "run_id", "ts", "payload"]),
        ("agent-manager.v1", &["id", "runId", "sequence", "timestamp", "data"]),
        ("pixir.v1", &["id", "session_id", "ts", "data"]),
        ("hecate.v1", &["schema_version", "event_id", "run_id", "sequence", "occurred_at", "data"]),
    ] {
        for file in contract(name).unwrap().schemas {
            let strict: Value = serde_json::from_str(file.text()).unwrap();
            let example = &strict["examples"][0];
            for key in keys {
                let mut without = example.clone();
                without.as_object_mut().unwrap().remove(*key);
                assert!(document(name).check(file.kind, &without).is_err(), "{name} {} without {key}", file.kind);
                let mut other = example.clone();
                other[*key] = json!([1]);
                assert!(document(name).check(file.kind, &other).is_err(), "{name} {}: {key} is a list", file.kind);
            }
        }
    }
}
