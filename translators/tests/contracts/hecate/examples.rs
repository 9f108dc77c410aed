//! The example of each schema is valid, and becomes invalid without any of the required parts.

use crate::support::*;
use framegate_translators::contracts::hecate::V1;
use serde_json::{Value, json};

fn schema_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn every_example_is_valid_and_every_required_field_is_needed() {
    let schemas = schemas(&V1);
    let mut required = 0;
    for file in V1.schemas {
        let schema = schema_of(file.text());
        let example = &schema["examples"][0];
        assert_eq!(schemas.check_value(file.kind, example), Ok(()), "{}", file.kind);
        assert!(schemas.check_text(file.kind, &example.to_string()).is_ok(), "{}", file.kind);
        for place in ["", "/data"] {
            let of = if place.is_empty() { &schema["required"] } else { &schema["properties"]["data"]["required"] };
            for key in of.as_array().into_iter().flatten() {
                let mut broken = example.clone();
                broken.pointer_mut(place).unwrap().as_object_mut().unwrap().remove(key.as_str().unwrap()).unwrap();
                assert!(schemas.check_value(file.kind, &broken).is_err(), "{} without {key}", file.kind);
                required += 1;
            }
        }
    }
    assert!(required > 63 * 7);
}

#[test]
fn the_envelope_is_closed_and_data_is_open() {
    let schemas = schemas(&V1);
    for file in V1.schemas {
        let example = schema_of(file.text())["examples"][0].clone();
        for (pointer, value, valid) in [
            ("/more", json!(1), false),
            ("/data/more", json!(1), true),
            ("/data", json!(null), false),
            ("/schema_version", json!("2"), false),
            ("/sequence", json!(-1), false),
            ("/sequence", json!(0), true),
            ("/occurred_at", json!("now"), false),
            ("/occurred_at", json!("2026-05-03T12:23:45.123456789+02:00"), true),
            ("/event_id", json!("evt_01JXMZH000000000000000000U"), false),
            ("/run_id", json!("01JXMZH0000000000000000000"), false),
            ("/run_id", json!("run_01JXMZH00000000000000000000"), false),
            ("/session_id", json!("sess_01JXMZH0000000000000000000"), false),
            ("/session_id", json!(null), false),
        ] {
            let mut event = example.clone();
            let (parent, key) = pointer.rsplit_once('/').unwrap();
            event.pointer_mut(parent).unwrap()[key] = value;
            assert_eq!(schemas.check_value(file.kind, &event).is_ok(), valid, "{} {pointer}", file.kind);
            assert_eq!(schemas.check_text(file.kind, &event.to_string()).is_ok(), valid, "{} {pointer}", file.kind);
        }
        for absent in ["task_id", "session_id"] {
            let mut event = example.clone();
            event.as_object_mut().unwrap().remove(absent);
            assert!(schemas.check_value(file.kind, &event).is_ok(), "{} without {absent}", file.kind);
        }
    }
}
