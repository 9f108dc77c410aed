//! Streams that a client resumed in the middle, for every contract: framegate's output, cut after any event.

use super::found;
use crate::support::{frames, json_contracts, recordings};
use framegate_translators::encode::{EncoderOptions, Events};
use framegate_translators::frame::StreamKind;
use framegate_translators::verify::{Located, Severity};
use serde_json::Value;

fn errors(found: Vec<Located>) -> Vec<(u64, &'static str)> {
    let errors = found.into_iter().filter(|located| located.finding.severity == Severity::Error);
    errors.map(|located| (located.record, located.finding.rule)).collect()
}

/// The events of the first run of each recording.
fn runs(name: &'static str) -> Vec<(String, Vec<Value>)> {
    let contract = framegate_translators::contracts::contract(name).unwrap();
    let small = recordings().filter(|recording| recording.bytes.len() < 12_000);
    let runs = small.filter_map(|recording| {
        let mut frames = frames(recording.runner, &recording.bytes);
        let run = frames.iter().find(|frame| frame.stream.kind == StreamKind::Session)?.stream.clone();
        frames.retain(|frame| frame.stream.kind == run.kind && frame.stream.id == run.id);
        let mut encoder = (contract.encoder)(&run, &EncoderOptions::default())?;
        let mut events = Events::default();
        frames.iter().for_each(|frame| encoder.frame(frame, &mut events));
        let parse = |payload: &[u8]| framegate_translators::json::value(payload).unwrap();
        Some((recording.name.clone(), events.iter().map(|event| parse(event.payload)).collect::<Vec<Value>>()))
    });
    runs.filter(|(_, events)| events.len() > 4).take(40).collect()
}

/// The cursor of an event, whose key may be nested, and in one of several places.
fn cursor_of(event: &Value, key: &str) -> Option<String> {
    let within = |place: &str| place.split('.').fold(event, |value, key| &value[key]);
    let found = key.split('|').map(within).find(|value| !value.is_null());
    match found.unwrap_or(&Value::Null) {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        number => Some(number.to_string()),
    }
}

#[test]
fn a_stream_resumed_after_any_event_passes() {
    for contract in json_contracts() {
        let key = (contract.verifier)().cursor_key();
        let mut cuts = 0;
        for (name, events) in runs(contract.name) {
            for at in 1..events.len() {
                let rest = &events[at..];
                let cursor = events[..at].iter().rev().find_map(|event| cursor_of(event, key?));
                let what = format!("{name} in {} after event {at}", contract.name);
                assert_eq!(errors(found(contract.name, rest, Some(None))), [], "{what}");
                cuts += usize::from(key.is_none() || cursor.is_some());
                let Some(cursor) = cursor else { continue };
                assert_eq!(errors(found(contract.name, rest, Some(Some(&cursor)))), [], "{what}, after {cursor}");
            }
        }
        assert!(cuts > 100, "{}: {cuts}", contract.name);
    }
}

#[test]
fn repeated_and_lost_events_after_a_resume_are_found() {
    for contract in json_contracts() {
        // Without a cursor in the events, a repeat cannot be detected.
        let Some(key) = (contract.verifier)().cursor_key() else { continue };
        for (name, events) in runs(contract.name) {
            let numbered: Vec<usize> = (0..events.len()).filter(|at| cursor_of(&events[*at], key).is_some()).collect();
            let [.., one, two] = numbered[..] else { continue };
            let cursor = |at: usize| cursor_of(&events[at], key).unwrap();
            let what = format!("{name} in {}", contract.name);
            // The last event that the client has is repeated.
            let again = errors(found(contract.name, &events[one..], Some(Some(&cursor(one)))));
            assert_eq!(again.first(), Some(&(1, "resume.repeat")), "{what}");
            // The whole stream is repeated.
            let all = errors(found(contract.name, &events, Some(Some(&cursor(one)))));
            assert!(all.iter().any(|(_, rule)| *rule == "resume.repeat"), "{what}: {all:?}");
            // An event after the cursor is missing. This cannot be detected if numbers need not be dense.
            let Some(before) = numbered.iter().rev().nth(2) else { continue };
            let lost = errors(found(contract.name, &events[one + 1..two + 1], Some(Some(&cursor(*before)))));
            let is_dense = !["sse.v1", "pixir.v1", "open-responses.v1"].contains(&contract.name);
            assert_eq!(lost.iter().any(|(_, rule)| *rule == "sequence.gap"), is_dense, "{what}: {lost:?}");
            // A resumed stream must still end.
            let cut = found(contract.name, &events[1..events.len() - 1], Some(None));
            let missed = cut.iter().any(|located| located.finding.rule == "end.missing");
            // A log has no end, and a stream of v1 frames does not say whether it belongs to a run.
            let need_not = ["pixir.v1", "frames.v1"].contains(&contract.name);
            assert!(missed || need_not, "{what}: {cut:?}");
        }
    }
}
