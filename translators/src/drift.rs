//! Drift: where a runner's own output is no longer what we know of it.
//!
//! In: records of one surface. Out: what is unknown, missing or changed, counted by kind and place, each with the first
//! record that shows it. Never: a value of a record, unless it is a short word where only known words may stand; more
//! places than [`PLACES`], however much of the output drifts.
//!
//! What is known of a record is the schema of its kind, as [`Surface::schemas`] has it.

mod classify;
mod closed;
mod finding;
mod live;
#[cfg(test)]
mod tests;

pub use finding::{DriftFinding, DriftKey, DriftKind, Position};
pub use live::LiveDrift;

use crate::decode::Record;
use crate::json::Kind;
use crate::recognise::item_of;
use crate::runners::{Runner, Surface};
use crate::schema::Schemas;
use finding::Seen;
use std::collections::BTreeMap;
use std::sync::Arc;

/// So many places are told apart; what drifts beyond them is counted together.
pub const PLACES: usize = 1000;

/// So many places of one record are told.
const OF_A_RECORD: usize = 100;

/// Why nothing can be said of drift.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoDrift {
    /// There are no schemas of the surface.
    NothingKnown,
    /// A schema is none.
    Schema(String),
}

impl std::fmt::Display for NoDrift {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NothingKnown => f.write_str("nothing is known of this surface yet"),
            Self::Schema(error) => f.write_str(error),
        }
    }
}

impl std::error::Error for NoDrift {}

/// What is known of a surface, ready to be compared with records.
#[derive(Clone)]
pub struct Known {
    surface: &'static Surface,
    schemas: Arc<Schemas<Drifts>>,
}

/// What drifts in a record, each with what was expected there.
type Drifts = Box<[(DriftKey, String)]>;

impl Known {
    /// Compiles the surface's schemas, which may refer to each other.
    ///
    /// # Errors
    /// See [`NoDrift`].
    pub fn new(runner: &Runner, surface: &'static Surface) -> Result<Self, NoDrift> {
        if surface.schemas.is_empty() {
            return Err(NoDrift::NothingKnown);
        }
        let read = if runner.extensible { closed::read } else { |document| document };
        let schemas = Schemas::compile_each(surface.schemas, read).map_err(NoDrift::Schema)?;
        Ok(Self { surface, schemas: Arc::new(schemas) })
    }

    /// Compares a record with what is known of its kind; `sink` gets each drift with what was expected there. A list
    /// that is no kind of its own is compared item by item.
    pub fn compare(&self, record: &Record<'_>, sink: &mut dyn FnMut(&DriftKey, &str)) {
        match record.json.kind() {
            Kind::Object => self.one(record, sink),
            Kind::Array if (self.surface.kind_of)(record).is_some_and(|kind| self.schemas.knows(&kind)) => {
                self.one(record, sink);
            }
            Kind::Array => {
                for json in record.json.items() {
                    match item_of(record, json) {
                        Some(item) => self.one(&item, sink),
                        None => sink(&DriftKey::of_record(DriftKind::ChangedType, None), &no_object(json.kind())),
                    }
                }
            }
            kind => sink(&DriftKey::of_record(DriftKind::ChangedType, None), &no_object(kind)),
        }
    }

    fn one(&self, record: &Record<'_>, sink: &mut dyn FnMut(&DriftKey, &str)) {
        let Some(kind) = (self.surface.kind_of)(record) else {
            sink(&DriftKey::of_record(DriftKind::UnknownType, None), "the record does not say its type");
            return;
        };
        if let Some(known) = self.schemas.said(&kind, record.fields.fields()) {
            known.iter().for_each(|(key, expected)| sink(key, expected));
        } else if self.schemas.knows(&kind) {
            self.look(record, &kind).iter().for_each(|(key, expected)| sink(key, expected));
        } else {
            let expected = format!("no record of type {:?} is known", finding::short(&kind));
            sink(&DriftKey::of_record(DriftKind::UnknownType, Some(&kind)), &expected);
        }
    }

    /// What drifts in a record of a known kind. Where that depends on its layout alone it is kept for those like it.
    fn look(&self, record: &Record<'_>, kind: &str) -> Vec<(DriftKey, String)> {
        let (text, mut drifts, mut breaches) = (record.json.text(), Vec::new(), 0);
        if !self.schemas.surely_keeps(kind, text)
            && let Ok(value) = crate::json::value(text.as_bytes())
        {
            let errors = self.schemas.errors(kind, &value);
            breaches = errors.len();
            for error in classify::meant(errors) {
                classify::each(&error, kind, &mut |key, expected| {
                    if drifts.len() < OF_A_RECORD {
                        drifts.push((key, expected));
                    }
                });
            }
        }
        let is_of_names = |kind| matches!(kind, DriftKind::UnknownField | DriftKind::MissingField);
        if drifts.iter().all(|(key, _)| is_of_names(key.kind)) {
            let fields = record.fields.fields();
            self.schemas.keep_said(kind, record.json, fields, breaches, || drifts.clone().into());
        }
        drifts
    }
}

fn no_object(kind: Kind) -> String {
    format!("{} instead of an object", kind.as_str())
}

/// Counts the drift of one input.
pub struct Drift {
    known: Known,
    seen: BTreeMap<DriftKey, Seen>,
    more: u64,
    records: u64,
}

impl Drift {
    /// Nothing has come yet.
    ///
    /// # Errors
    /// See [`NoDrift`].
    pub fn new(runner: &Runner, surface: &'static Surface) -> Result<Self, NoDrift> {
        Ok(Self::of(Known::new(runner, surface)?))
    }

    /// Nothing has come yet of a surface that is compiled already.
    pub fn of(known: Known) -> Self {
        Self { known, seen: BTreeMap::new(), more: 0, records: 0 }
    }

    /// Takes the next record.
    pub fn record(&mut self, record: &Record<'_>) {
        self.record_with(record, &mut |_, _, _| {});
    }

    /// Takes the next record; `each` gets what drifts in it, whether it is new, and what is wrong.
    fn record_with(&mut self, record: &Record<'_>, each: &mut dyn FnMut(&DriftKey, bool, &str)) {
        self.records += 1;
        let at = Position { record: self.records, offset: record.offset };
        let Self { known, seen, more, .. } = self;
        known.compare(record, &mut |key, expected| {
            each(key, seen.len() < PLACES && !seen.contains_key(key), expected);
            count(seen, more, key, expected, at);
        });
    }

    /// The next record is no JSON.
    pub fn not_json(&mut self, offset: u64, error: String) {
        self.records += 1;
        let at = Position { record: self.records, offset };
        count(&mut self.seen, &mut self.more, &DriftKey::of_record(DriftKind::NotJson, None), &error, at);
    }

    /// The next record is the end marker, of which nothing is expected.
    pub fn done(&mut self) {
        self.records += 1;
    }

    /// How many records came so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// How often something drifted in a place beyond the first [`PLACES`].
    pub fn more(&self) -> u64 {
        self.more
    }

    /// What drifted, in the order of the records that showed it first.
    pub fn findings(&self) -> Vec<DriftFinding> {
        finding::all(&self.seen)
    }
}

fn count(seen: &mut BTreeMap<DriftKey, Seen>, more: &mut u64, key: &DriftKey, expected: &str, at: Position) {
    if let Some(known) = seen.get_mut(key) {
        known.count += 1;
    } else if seen.len() < PLACES {
        seen.insert(key.clone(), Seen { count: 1, first: at, expected: expected.to_owned() });
    } else {
        *more += 1;
    }
}
