//! Streams of other producers, as the documents describe them: a stream that the document allows passes, and violations are
//! found. The streams are based on the documents' own examples and on the spellings of the projects that the documents come
//! from.

mod acp;
mod ag_ui;
mod agent_manager;
mod claude_code;
mod frames;
mod hecate;
mod open_responses;
mod ours;
mod pixir;
mod resumed;
mod sse;
mod ui_message_stream;

use framegate_translators::contracts::contract;
use framegate_translators::schema::document::DocumentSchema;
use framegate_translators::verify::{Checker, Located, Severity, Standard};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

/// The document schema of a contract.
pub fn document(name: &str) -> &'static DocumentSchema {
    static ALL: LazyLock<Mutex<HashMap<String, &'static DocumentSchema>>> = LazyLock::new(Mutex::default);
    let contract = contract(name).unwrap();
    ALL.lock().unwrap().entry(name.to_owned()).or_insert_with(|| {
        let file = contract.document_schema.unwrap();
        Box::leak(Box::new(DocumentSchema::compile(file, contract.type_key).unwrap()))
    })
}

/// All findings in a stream, judged by its document. `after` is set if the stream was resumed.
pub fn found(name: &str, events: &[Value], after: Option<Option<&str>>) -> Vec<Located> {
    let mut checker = Checker::by(contract(name).unwrap(), Standard::Document(document(name)));
    if let Some(after) = after {
        checker.resume(after).unwrap();
    }
    let mut found = Vec::new();
    for event in events {
        checker.event(event.to_string().as_bytes(), &mut |located| found.push(located));
    }
    checker.end(&mut |located| found.push(located));
    found
}

fn rules_with(found: &[Located], severity: Severity) -> Vec<(u64, &'static str)> {
    let of = found.iter().filter(|located| located.finding.severity == severity);
    of.map(|located| (located.record, located.finding.rule)).collect()
}

/// Fails unless the stream conforms.
pub fn passes(name: &str, what: &str, events: &[Value]) {
    let found = found(name, events, None);
    assert_eq!(rules_with(&found, Severity::Error), [], "{name}, {what}: {found:#?}");
}

/// Fails unless the stream has exactly these errors.
pub fn fails(name: &str, what: &str, events: &[Value], expected: &[(u64, &str)]) {
    let found = found(name, events, None);
    assert_eq!(rules_with(&found, Severity::Error), expected, "{name}, {what}: {found:#?}");
}

/// Fails unless the stream conforms and has exactly these warnings.
pub fn warns(name: &str, what: &str, events: &[Value], expected: &[(u64, &str)]) {
    passes(name, what, events);
    assert_eq!(rules_with(&found(name, events, None), Severity::Warning), expected, "{name}, {what}");
}
