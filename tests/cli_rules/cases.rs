//! Ways to break a stream, and what is found then.

use crate::cli::{ndjson, run};
use serde_json::Value;
use std::collections::BTreeSet;

/// One way to break a stream: what is done to the clean one, and which findings (event number, rule) that gives.
pub struct Case {
    /// Done before the events are numbered.
    pub edit: fn(&mut Vec<Value>),
    /// Done afterwards.
    pub renumber: fn(&mut Vec<Value>),
    pub expected: &'static [(u64, &'static str)],
}

pub const fn case(edit: fn(&mut Vec<Value>), expected: &'static [(u64, &'static str)]) -> Case {
    Case { edit, renumber: |_| {}, expected }
}

pub const fn numbered(renumber: fn(&mut Vec<Value>), expected: &'static [(u64, &'static str)]) -> Case {
    Case { edit: |_| {}, renumber, expected }
}

/// The findings of a stream: the number of the event (0: of the stream), and the rule.
pub fn findings(contract: &str, events: &[Value]) -> Vec<(u64, String)> {
    let report = run(&["check", "--contract", contract, "--format", "json"], ndjson(events)).json();
    let list = report["findings"].as_array().unwrap();
    list.iter()
        .map(|finding| (finding["record"].as_u64().unwrap_or_default(), finding["rule"].as_str().unwrap().to_owned()))
        .collect()
}

/// Runs the cases; gives the rules that fired.
pub fn fire(contract: &str, clean: fn() -> Vec<Value>, number: fn(&mut [Value]), cases: &[Case]) -> BTreeSet<String> {
    let mut events = clean();
    number(&mut events);
    assert_eq!(findings(contract, &events), [], "{contract}: the clean stream");
    let (mut fired, mut wrong) = (BTreeSet::new(), Vec::new());
    for (nth, case) in cases.iter().enumerate() {
        let mut events = clean();
        (case.edit)(&mut events);
        number(&mut events);
        (case.renumber)(&mut events);
        let found = findings(contract, &events);
        let expected: Vec<(u64, String)> = case.expected.iter().map(|(at, rule)| (*at, (*rule).to_owned())).collect();
        if found != expected {
            wrong.push(format!("case {nth}: {found:?} instead of {expected:?}"));
        }
        fired.extend(found.into_iter().map(|(_, rule)| rule));
    }
    assert!(wrong.is_empty(), "{contract}: {wrong:#?}");
    fired
}

/// The place of the first event of a type.
pub fn at(events: &[Value], kind: &str) -> usize {
    let is = |event: &Value| event["type"] == kind || event["eventType"] == kind;
    events.iter().position(is).unwrap()
}

pub fn drop_kind(events: &mut Vec<Value>, kind: &str) {
    events.remove(at(events, kind));
}

pub fn double(events: &mut Vec<Value>, kind: &str) {
    let at = at(events, kind);
    events.insert(at, events[at].clone());
}

pub fn set(events: &mut [Value], kind: &str, pointer: &str, value: Value) {
    let at = at(events, kind);
    *events[at].pointer_mut(pointer).unwrap() = value;
}

pub const RUN: &str = "00000000-0000-5000-8000-00000000000a";

pub const OTHER: &str = "00000000-0000-5000-8000-00000000000b";

pub const TOOL: &str = "00000000-0000-5000-8000-00000000000c";

pub fn expected(cases: &[Case]) -> BTreeSet<String> {
    cases.iter().flat_map(|case| case.expected).map(|(_, rule)| (*rule).to_owned()).collect()
}
