//! Every recording in every contract, checked by an independent judge for each contract. A judge is written from the contract's
//! document and uses only the translation: no schema, no verifier.

mod agent_manager;
mod frames;
mod hecate;
mod pixir;
mod sse;

use crate::support::{Recording, recordings, translate};
use framegate_translators::contracts::contract;
use serde_json::Value;
use std::collections::BTreeMap;

/// The input of a judge: one run's events, and their origin.
struct Run {
    what: String,
    events: Vec<Value>,
}

/// Every run of every recording in a contract: the events that share the values of these keys.
fn runs(name: &str, keys: &[&str]) -> Vec<Run> {
    let mut runs = Vec::new();
    for recording in recordings() {
        let mut of_recording: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        for event in events(&recording, name) {
            let run = keys.iter().map(|key| text(&event, key)).collect::<Vec<_>>().join("/");
            of_recording.entry(run).or_default().push(event);
        }
        for (run, events) in of_recording {
            runs.push(Run {
                what: format!("{} of {}/{} ({run})", name, recording.runner.name, recording.name),
                events,
            });
        }
    }
    assert!(runs.len() > 200, "{}: {} runs", name, runs.len());
    runs
}

/// The parsed events. A strict parser would refuse half of a surrogate pair.
fn events(recording: &Recording, name: &str) -> Vec<Value> {
    translate(recording.runner, contract(name).unwrap(), &recording.bytes)
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| framegate_translators::json::value(line).unwrap())
        .collect()
}

fn text(event: &Value, key: &str) -> String {
    event[key].as_str().unwrap_or_else(|| panic!("{key} is text: {event}")).to_owned()
}

/// Checks that an object has exactly these keys.
fn has_keys(what: &str, event: &Value, keys: &[&str]) {
    let mut found: Vec<&str> = event.as_object().unwrap().keys().map(String::as_str).collect();
    let mut keys = keys.to_vec();
    found.sort_unstable();
    keys.sort_unstable();
    assert_eq!(found, keys, "{what}: {event}");
}

/// Checks that the numbers are 0, 1, 2, …
fn counts_from_0(what: &str, numbers: impl Iterator<Item = u64>) {
    for (due, number) in numbers.enumerate() {
        assert_eq!(number, due as u64, "{what}");
    }
}

/// Whether the text is an RFC 3339 time in UTC with `Z`: `2026-02-14T21:03:00Z`, with or without a fraction.
fn is_utc_time(text: &str) -> bool {
    let Some((whole, rest)) = text.split_at_checked(19) else { return false };
    let shape = whole.bytes().zip("0000-00-00T00:00:00".bytes()).all(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        other => byte == other,
    });
    let fraction = rest.strip_suffix('Z');
    shape
        && fraction.is_some_and(|fraction| {
            fraction.is_empty()
                || fraction.strip_prefix('.').is_some_and(|f| !f.is_empty() && f.bytes().all(|b| b.is_ascii_digit()))
        })
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[test]
fn times_are_distinguished_from_other_text() {
    for (text, is) in [
        ("2026-02-14T21:03:00Z", true),
        ("2026-02-14T21:03:00.123Z", true),
        ("2026-02-14T21:03:00.Z", false),
        ("2026-02-14 21:03:00Z", false),
        ("2026-02-14T21:03:00+01:00", false),
        ("", false),
    ] {
        assert_eq!(is_utc_time(text), is, "{text}");
    }
}
