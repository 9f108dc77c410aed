//! Records: their number and types, and the validation of events and responses.

use super::case::*;
use framegate_translators::frame::{ProviderEvent, ProviderStatus};
use serde_json::Value;
use std::collections::BTreeMap;

#[test]
fn every_record_is_kept() {
    let cut = ("scripted__truncated-mid-utf8", "the facts leave out the record that the input's end cuts off");
    let except = [CUT_EVENT, PLAIN_ERROR, cut];
    check(&except, |case| same(case.records().count() as u64, case.facts["n_events"].as_u64().unwrap()));
}

#[test]
fn the_end_marker_is_recognised() {
    check(&[], |case| {
        let done = case.records().filter(|record| record.status == ProviderStatus::Done).count();
        same(done, usize::from(case.facts["framing"]["done_sentinel"].as_str() != Some("absent")))
    });
}

#[test]
fn event_names_are_compared_with_types() {
    let except = [
        CUT_EVENT,
        ("scripted__type-only-in-event-name", "only the event name has the type, so there is nothing to compare"),
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

/// Compares how many events of each type break the published schema with how many break framegate's schemas.
fn verdicts(case: &Case, facts: &str, ours: impl Fn(&ProviderEvent) -> bool) -> Option<String> {
    // The facts count by reason, and an event may break the schema for several reasons. Only the types and the bounds of each
    // type's count are therefore comparable.
    let mut least: BTreeMap<String, u64> = BTreeMap::new();
    let mut most: BTreeMap<String, u64> = BTreeMap::new();
    for violation in case.facts["violations"].get(facts).and_then(Value::as_array).into_iter().flatten() {
        for (kind, count) in violation["by_type"].as_object().unwrap() {
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

/// The published schema refuses what the prose of the same document allows. The prose is right.
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
fn event_errors_match_the_published_schema() {
    let except = [PLAIN_ERROR, EXTENSIONS[0], EXTENSIONS[1]];
    check(&except, |case| {
        verdicts(case, "published", |record| record.errors.iter().any(|error| !error.starts_with("event name '")))
    });
}

#[test]
fn response_errors_match_the_published_schema() {
    check(&EXTENSIONS, |case| verdicts(case, "response_resource", |record| !record.response_errors.is_empty()));
}

#[test]
fn record_errors_contain_no_payload() {
    for case in CASES.iter() {
        for error in case.records().flat_map(|record| record.errors.iter().chain(&record.response_errors)) {
            assert!(error.len() < 300, "{}: {error}", case.name);
            assert!(!error.contains("lab-model") && !error.contains("Hello"), "{}: {error}", case.name);
        }
    }
    assert!(CASES.iter().all(|case| case.whole["sha256"].is_string()));
}
