//! Checks a whole stream of a contract: each event by its schema, the stream by the contract's rules.
//!
//! In: the text of each event, in order. Out: findings with the event's number. Never: a payload in a finding.

use super::excuse::Excuses;
use super::{Finding, Verifier};
use crate::contracts::Contract;
use crate::schema::Schemas;
use serde_json::Value;

/// A finding and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Counts the events from 1, as people count lines; 0 for the stream as a whole.
    pub record: u64,
    /// The event's type, where it has one that is text; shortened to 64 characters.
    pub kind: Option<String>,
    /// What is wrong.
    pub finding: Finding,
}

/// Checks one file of events.
pub struct Checker<'c> {
    contract: &'c Contract,
    schemas: &'c Schemas,
    verifier: Box<dyn Verifier>,
    excuses: Excuses,
    records: u64,
    findings: Vec<Finding>,
}

impl<'c> Checker<'c> {
    /// A checker at the start of its input.
    pub fn new(contract: &'c Contract, schemas: &'c Schemas) -> Self {
        let verifier = (contract.verifier)();
        Self { contract, schemas, verifier, excuses: Excuses::default(), records: 0, findings: Vec::new() }
    }

    /// Takes the next event.
    pub fn event(&mut self, text: &[u8], sink: &mut dyn FnMut(Located)) {
        match crate::json::value(text) {
            Ok(event) => self.value(&event, sink),
            Err(error) => {
                self.records += 1;
                let message = format!(
                    "not JSON (line {}, column {}): one JSON object for each event",
                    error.line(),
                    error.column()
                );
                sink(Located { record: self.records, kind: None, finding: Finding::error("json", "", message) });
            }
        }
    }

    /// Takes the next event, parsed.
    pub fn value(&mut self, event: &Value, sink: &mut dyn FnMut(Located)) {
        self.records += 1;
        let type_key = self.contract.type_key;
        let kind = event.get(type_key).and_then(Value::as_str);
        match kind {
            _ if !event.is_object() => {
                self.findings.push(Finding::error("json", "", "not an object: each event is one JSON object"));
            }
            None => {
                let message = format!("no {type_key}: it names the event's type");
                self.findings.push(Finding::error("schema.type", format!("/{type_key}"), message));
            }
            Some(kind) if !self.schemas.knows(kind) => {
                let known: Vec<&str> = self.contract.schemas.iter().map(|file| file.kind).collect();
                let message = format!("{} has no such event type; it has {}", self.contract.name, known.join(", "));
                self.findings.push(Finding::error("schema.type", format!("/{type_key}"), message));
            }
            Some(kind) => {
                for breach in self.schemas.check_value(kind, event).err().unwrap_or_default() {
                    self.findings.push(Finding::error("schema", breach.pointer, breach.message));
                }
            }
        }
        if event.is_object() {
            self.verifier.event(event, &mut self.findings);
            self.excuses.event(&*self.verifier, event, &mut self.findings);
        }
        let kind: Option<String> = kind.map(|kind| kind.chars().take(64).collect());
        for finding in self.findings.drain(..) {
            sink(Located { record: self.records, kind: kind.clone(), finding });
        }
    }

    /// The file is over.
    pub fn end(&mut self, sink: &mut dyn FnMut(Located)) {
        self.verifier.end(&mut self.findings);
        self.excuses.end(&mut self.findings);
        for finding in self.findings.drain(..) {
            sink(Located { record: 0, kind: None, finding });
        }
    }

    /// How many events came so far.
    pub fn records(&self) -> u64 {
        self.records
    }
}
