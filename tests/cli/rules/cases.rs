//! Ways to break a stream, and the expected findings.

use crate::program::{ndjson, run};
use serde_json::Value;
use std::collections::BTreeSet;

/// The cases of one contract.
pub struct Suite {
    pub contract: &'static str,
    pub clean: fn() -> Vec<Value>,
    pub number: fn(&mut [Value]),
    pub cases: &'static [Case],
}

/// One way to break a clean stream, and the findings (event number, rule) that it causes with `--strict`.
pub struct Case {
    /// Applied before the events are numbered.
    pub edit: fn(&mut Vec<Value>),
    /// Applied afterwards.
    pub renumber: fn(&mut Vec<Value>),
    pub expected: &'static [(u64, &'static str)],
    /// The subset of these findings under the document alone; `None` if it is the same set.
    pub of_document: Option<&'static [(u64, &'static str)]>,
}

pub const fn case(edit: fn(&mut Vec<Value>), expected: &'static [(u64, &'static str)]) -> Case {
    Case { edit, renumber: |_| {}, expected, of_document: None }
}

pub const fn numbered(renumber: fn(&mut Vec<Value>), expected: &'static [(u64, &'static str)]) -> Case {
    Case { edit: |_| {}, renumber, expected, of_document: None }
}

impl Case {
    /// Under the document alone, only these findings are reported.
    pub const fn but(self, of_document: &'static [(u64, &'static str)]) -> Self {
        Self { of_document: Some(of_document), ..self }
    }
}

/// The findings for a stream: the number of the event (0: the stream as a whole), and the rule.
pub fn findings(contract: &str, events: &[Value], more: &[&str]) -> Vec<(u64, String)> {
    let args = [&["check", "--contract", contract, "--format", "json"], more].concat();
    let report = run(&args, ndjson(events)).json();
    let list = report["findings"].as_array().unwrap();
    list.iter()
        .map(|finding| (finding["record"].as_u64().unwrap_or_default(), finding["rule"].as_str().unwrap().to_owned()))
        .collect()
}

/// Runs the cases; returns the rules that reported something.
pub fn fire(contract: &str, clean: fn() -> Vec<Value>, number: fn(&mut [Value]), cases: &[Case]) -> BTreeSet<String> {
    let mut events = clean();
    number(&mut events);
    assert_eq!(findings(contract, &events, &["--strict"]), [], "{contract}: the clean stream");
    assert_eq!(findings(contract, &events, &[]), [], "{contract}: the clean stream");
    let (mut fired, mut wrong) = (BTreeSet::new(), Vec::new());
    for (nth, case) in cases.iter().enumerate() {
        let mut events = clean();
        (case.edit)(&mut events);
        number(&mut events);
        (case.renumber)(&mut events);
        let found = findings(contract, &events, &["--strict"]);
        let of_document = case.of_document.unwrap_or(case.expected);
        for (args, found, expected) in
            [("--strict", &found, case.expected), ("", &findings(contract, &events, &[]), of_document)]
        {
            let expected: Vec<(u64, String)> = expected.iter().map(|(at, rule)| (*at, (*rule).to_owned())).collect();
            if *found != expected {
                wrong.push(format!("case {nth} {args}: {found:?} instead of {expected:?}"));
            }
        }
        fired.extend(found.into_iter().map(|(_, rule)| rule));
    }
    assert!(wrong.is_empty(), "{contract}: {wrong:#?}");
    fired
}

/// The position of the first event of a type.
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
