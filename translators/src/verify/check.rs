//! Checks a whole stream of a contract: each event by its schema, the stream by the contract's rules.
//!
//! Input: the text of each event, in order. Output: findings with the event's number. Never: event content in a finding.

use super::excuse::Excuses;
use super::{Basis, Finding, Rule, Severity, Verifier};
use crate::contract::Contract;
use crate::event_kind::{kind_of, kind_pointer};
use crate::schema::Schemas;
use crate::schema::document::DocumentSchema;
use serde_json::Value;

/// The rules that are checked for every contract.
pub const RULES: &[Rule] = &[Rule::of_event("json"), Rule::of_event("schema"), Rule::of_event("schema.type")];

/// A finding with its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// The event's number, from 1; 0 for the stream as a whole.
    pub record: u64,
    /// The event's type if it is a string, shortened to 64 characters.
    pub kind: Option<String>,
    /// What is wrong.
    pub finding: Finding,
}

/// The standard by which a stream is checked.
#[derive(Clone, Copy)]
pub enum Standard<'c> {
    /// What framegate itself writes: the schema of each event type, and every rule.
    Emitted(&'c Schemas),
    /// What the contract's document allows, from any writer.
    Document(&'c DocumentSchema),
}

impl std::fmt::Debug for Standard<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Emitted(_) => "Emitted",
            Self::Document(_) => "Document",
        })
    }
}

/// Checks one file of events.
///
/// ```
/// use framegate_translators::contracts::contract;
/// use framegate_translators::schema::Schemas;
/// use framegate_translators::verify::Checker;
///
/// let contract = contract("frames.v2").unwrap();
/// let schemas = Schemas::compile(contract.schemas).unwrap();
/// let (mut checker, mut rules) = (Checker::new(contract, &schemas), Vec::new());
/// checker.event(br#"{"type":"no such type"}"#, &mut |located| rules.push(located.finding.rule));
/// checker.end(&mut |located| rules.push(located.finding.rule));
/// assert_eq!(rules.first(), Some(&"schema.type"));
/// ```
pub struct Checker<'c> {
    contract: &'c Contract,
    standard: Standard<'c>,
    verifier: Box<dyn Verifier>,
    excuses: Excuses,
    records: u64,
    findings: Vec<Finding>,
}

impl<'c> Checker<'c> {
    /// A checker for framegate's own output, at the start of its input.
    pub fn new(contract: &'c Contract, schemas: &'c Schemas) -> Self {
        Self::by(contract, Standard::Emitted(schemas))
    }

    /// A checker at the start of its input.
    pub fn by(contract: &'c Contract, standard: Standard<'c>) -> Self {
        let verifier = (contract.verifier)();
        Self { contract, standard, verifier, excuses: Excuses::default(), records: 0, findings: Vec::new() }
    }

    /// Declares that the streams were resumed in the middle, the first one after the event with the cursor `after`.
    ///
    /// # Errors
    /// Why `after` is not a cursor of the contract.
    pub fn resume(&mut self, after: Option<&str>) -> Result<(), String> {
        self.verifier.resume(after)
    }

    /// Checks the next event.
    pub fn event(&mut self, text: &[u8], sink: &mut dyn FnMut(Located)) {
        match crate::json::value(text) {
            Ok(event) => self.value(&event, sink),
            Err(error) => {
                self.records += 1;
                let message = format!(
                    "not JSON (line {}, column {}): each event must be one JSON object",
                    error.line(),
                    error.column()
                );
                sink(Located { record: self.records, kind: None, finding: Finding::error("json", "", message) });
            }
        }
    }

    /// Checks the next event, already parsed.
    pub fn value(&mut self, event: &Value, sink: &mut dyn FnMut(Located)) {
        self.records += 1;
        let type_key = self.contract.type_key;
        let kind = kind_of(type_key, event);
        match kind {
            _ if !event.is_object() => {
                self.findings.push(Finding::error("json", "", "not an object: each event must be one JSON object"));
            }
            None => {
                let message = format!("missing {type_key}: it must name the event's type");
                self.findings.push(Finding::error("schema.type", kind_pointer(type_key, event), message));
            }
            Some(kind) => self.schema(kind, event),
        }
        if event.is_object() {
            self.verifier.event(event, &mut self.findings);
            self.apply_standard();
            self.excuses.event(self.contract, &*self.verifier, event, &mut self.findings);
        }
        let kind: Option<String> = kind.map(|kind| kind.chars().take(64).collect());
        let contract = self.contract;
        for finding in self.findings.drain(..) {
            assert_listed(contract, &finding);
            sink(Located { record: self.records, kind: kind.clone(), finding });
        }
    }

    /// The file is over.
    pub fn end(&mut self, sink: &mut dyn FnMut(Located)) {
        self.verifier.end(&mut self.findings);
        self.apply_standard();
        self.excuses.end(self.contract, &mut self.findings);
        let contract = self.contract;
        for finding in self.findings.drain(..) {
            assert_listed(contract, &finding);
            sink(Located { record: 0, kind: None, finding });
        }
    }

    /// Checks a single event by its type's schema.
    fn schema(&mut self, kind: &str, event: &Value) {
        let violations = match self.standard {
            Standard::Emitted(schemas) if schemas.knows(kind) => schemas.check_value(kind, event).map_err(Some),
            Standard::Emitted(_) => Err(None),
            Standard::Document(document) => document.check(kind, event),
        };
        match violations {
            Ok(()) => {}
            Err(None) => {
                let known: Vec<&str> = self.contract.schemas.iter().map(|file| file.kind).collect();
                let message =
                    format!("{} has no such event type; its types are {}", self.contract.name, known.join(", "));
                self.findings.push(Finding::error("schema.type", kind_pointer(self.contract.type_key, event), message));
            }
            Err(Some(violations)) => {
                for violation in violations {
                    let finding = Finding::error("schema", violation.pointer, violation.message);
                    // Two definitions may require the same.
                    if !self.findings.contains(&finding) {
                        self.findings.push(finding);
                    }
                }
            }
        }
    }

    /// Drops the findings about rules that only framegate promises, unless framegate is the writer.
    fn apply_standard(&mut self) {
        if matches!(self.standard, Standard::Document(_)) {
            self.findings.retain(|finding| finding.basis != Basis::Ours);
            for finding in self.findings.iter_mut().filter(|finding| finding.basis == Basis::Usual) {
                finding.severity = Severity::Warning;
            }
        }
    }

    /// The number of events so far.
    pub fn records(&self) -> u64 {
        self.records
    }
}

/// The rule of that name that the contract's streams are checked by.
pub(super) fn rule(contract: &Contract, name: &str) -> Option<&'static Rule> {
    contract.rules.iter().chain(RULES).find(|rule| rule.name == name)
}

/// Every finding is about a listed rule: users see the list, and withheld events excuse findings by it.
fn assert_listed(contract: &Contract, finding: &Finding) {
    debug_assert!(
        rule(contract, finding.rule).is_some(),
        "add the rule {:?} to the rules of {}, with a case in tests/cli/rules/",
        finding.rule,
        contract.name
    );
}
