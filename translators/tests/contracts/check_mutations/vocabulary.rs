//! The rules of each document for the stream of one run, and helpers that change such streams.

use super::parsed;
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
    /// Whether an event shows what kind its stream is. If not, only the end of a run shows that its start is missing.
    pub names_kind: bool,
    /// Whether an event is in a run's stream.
    pub is_of_run: fn(&Value) -> bool,
    /// Another key with the name of the run.
    pub alias: Option<&'static str>,
    /// An id for the event at a position.
    pub nth_id: fn(usize) -> String,
    /// The name of another run.
    pub other_run: &'static str,
    /// Another value of the first constant key.
    pub other_constant: &'static str,
    /// Whether ids are in ascending order.
    pub has_sorted_ids: bool,
    /// The rule about an id that occurs twice.
    pub id_twice: &'static [&'static str],
    /// Whether the document defines a log, in which events without a number are absent: the terminal one, for example.
    pub has_log: bool,
}

pub fn kind_in(event: &Value, kinds: &[&str]) -> bool {
    kinds.iter().any(|kind| event["type"] == *kind)
}

/// The vocabularies of the contracts, from their files.
pub fn all() -> impl Iterator<Item = &'static Vocabulary> {
    let of_each = [
        super::frames::VOCABULARIES,
        super::sse::VOCABULARIES,
        super::agent_manager::VOCABULARIES,
        super::pixir::VOCABULARIES,
        super::hecate::VOCABULARIES,
    ];
    of_each.into_iter().flatten()
}

pub static SMALL: LazyLock<Vec<Recording>> =
    LazyLock::new(|| recordings().filter(|recording| recording.bytes.len() < 20_000).collect());

pub type Runs = Vec<(String, Vec<Value>)>;

pub static RUNS: LazyLock<HashMap<&'static str, Runs>> =
    LazyLock::new(|| all().map(|vocabulary| (vocabulary.contract, read_runs(vocabulary))).collect());

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
            events.retain(vocabulary.is_of_run);
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
        event[vocabulary.id] = json!((vocabulary.nth_id)(at));
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
    all().for_each(|vocabulary| each_of(vocabulary, what, &edit));
}

/// Like [`each`], for one contract.
pub fn each_of(vocabulary: &Vocabulary, what: &str, edit: impl Fn(&Vocabulary, &[Value]) -> Option<Mutation>) {
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

pub fn is_kind(vocabulary: &Vocabulary, event: &Value, kind: &str) -> bool {
    event[vocabulary.type_key] == kind
}

/// Checks that a rule applies to the contracts for which `has_rule` is true: for each one, the change can be applied to at least
/// one run.
pub fn applies(
    what: &str,
    has_rule: impl Fn(&Vocabulary) -> bool,
    edit: impl Fn(&Vocabulary, &[Value]) -> Option<Mutation>,
) {
    for vocabulary in all().filter(|vocabulary| has_rule(vocabulary)) {
        assert!(
            runs(vocabulary).iter().any(|(_, events)| edit(vocabulary, events).is_some()),
            "{what}: no run of {} shows it",
            vocabulary.contract
        );
    }
    each(what, edit);
}

pub fn every(_: &Vocabulary) -> bool {
    true
}
