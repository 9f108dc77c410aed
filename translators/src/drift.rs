//! Drift: where a runner's output differs from its known schemas.
//!
//! Input: records of one surface. Output: what is unknown, missing or changed, counted by kind and place, each with the first
//! record that shows it. Never: a value from a record, except a short word where only known words are allowed; or more places
//! than [`PLACES`], however much of the output drifts.
//!
//! The known schema of a record is the one for its kind in [`Surface::schemas`].

#[cfg_attr(not(feature = "validation"), path = "drift/no_validator.rs")]
mod classify;
mod closed;
mod finding;
mod live;
#[cfg(test)]
mod tests;

pub use crate::frame::DriftKind;
pub use finding::{DriftFinding, DriftKey, Position};
pub use live::LiveDrift;

use crate::decode::Record;
use crate::json::Kind;
use crate::recognise::item_of;
use crate::runners::{Runner, Surface};
use crate::schema::{Judged, Schemas, ValidationError};
use finding::Occurrences;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many places are distinguished; drift in further places is only counted in total.
pub const PLACES: usize = 1000;

/// How many places of one record are reported.
const OF_A_RECORD: usize = 100;

/// Why drift cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoDrift {
    /// The surface has no schemas.
    NothingKnown,
    /// A schema is invalid.
    Schema(String),
}

impl std::fmt::Display for NoDrift {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NothingKnown => f.write_str("this surface has no schemas yet"),
            Self::Schema(error) => f.write_str(error),
        }
    }
}

impl std::error::Error for NoDrift {}

/// The compiled schemas of a surface.
#[derive(Clone)]
pub struct SurfaceSchemas {
    surface: &'static Surface,
    schemas: Arc<Schemas<Drifts>>,
}

/// The drift in a record, each with what was expected there.
type Drifts = Box<[(DriftKey, String)]>;

impl SurfaceSchemas {
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

    /// Compares a record with the schema of its kind; `sink` gets each drift with what was expected there. A list that is not
    /// itself a known kind is compared item by item.
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
            sink(&DriftKey::of_record(DriftKind::UnknownType, None), "the record has no type");
            return;
        };
        let fields = record.fields.fields();
        match self.schemas.verdict(&kind, record.json, fields, |errors| drifts(&kind, errors)) {
            Some(drifts) => drifts.iter().for_each(|(key, expected)| sink(key, expected)),
            None => {
                let expected = format!("unknown record type {:?}", finding::short(&kind));
                sink(&DriftKey::of_record(DriftKind::UnknownType, Some(&kind)), &expected);
            }
        }
    }
}

/// The drift in a record of a known kind. If only fields are missing or unknown, it is the same in all records of the same shape.
fn drifts(kind: &str, errors: Vec<ValidationError<'_>>) -> Judged<Drifts> {
    let mut drifts = Vec::new();
    for error in classify::relevant(errors) {
        classify::each(&error, kind, &mut |key, expected| {
            if drifts.len() < OF_A_RECORD {
                drifts.push((key, expected));
            }
        });
    }
    let is_of_names =
        |(key, _): &(DriftKey, String)| matches!(key.kind, DriftKind::UnknownField | DriftKind::MissingField);
    Judged { is_reusable: drifts.iter().all(is_of_names), verdict: drifts.into() }
}

fn no_object(kind: Kind) -> String {
    format!("{} instead of an object", kind.as_str())
}

/// Counts the drift of one input.
pub struct Drift {
    known: SurfaceSchemas,
    seen: BTreeMap<DriftKey, Occurrences>,
    more: u64,
    records: u64,
}

impl Drift {
    /// A counter at the start of its input.
    ///
    /// # Errors
    /// See [`NoDrift`].
    pub fn new(runner: &Runner, surface: &'static Surface) -> Result<Self, NoDrift> {
        Ok(Self::of(SurfaceSchemas::new(runner, surface)?))
    }

    /// A counter at the start of its input, for an already compiled surface.
    pub fn of(known: SurfaceSchemas) -> Self {
        Self { known, seen: BTreeMap::new(), more: 0, records: 0 }
    }

    /// Processes the next record.
    pub fn record(&mut self, record: &Record<'_>) {
        self.record_with(record, &mut |_, _, _| {});
    }

    /// Processes the next record; `each` gets each drift, whether it is new, and what was expected.
    fn record_with(&mut self, record: &Record<'_>, each: &mut dyn FnMut(&DriftKey, bool, &str)) {
        self.records += 1;
        let at = Position { record: self.records, offset: record.offset };
        let Self { known, seen, more, .. } = self;
        known.compare(record, &mut |key, expected| {
            each(key, seen.len() < PLACES && !seen.contains_key(key), expected);
            count(seen, more, key, expected, at);
        });
    }

    /// Counts a record that is not JSON.
    pub fn not_json(&mut self, offset: u64, error: String) {
        self.records += 1;
        let at = Position { record: self.records, offset };
        count(&mut self.seen, &mut self.more, &DriftKey::of_record(DriftKind::NotJson, None), &error, at);
    }

    /// Counts an end marker, which has no schema.
    pub fn done(&mut self) {
        self.records += 1;
    }

    /// The number of records so far.
    pub fn records(&self) -> u64 {
        self.records
    }

    /// How often something drifted outside the first [`PLACES`] places.
    pub fn more(&self) -> u64 {
        self.more
    }

    /// All drift, in the order of the records that showed it first.
    pub fn findings(&self) -> Vec<DriftFinding> {
        finding::all(&self.seen)
    }
}

fn count(seen: &mut BTreeMap<DriftKey, Occurrences>, more: &mut u64, key: &DriftKey, expected: &str, at: Position) {
    if let Some(known) = seen.get_mut(key) {
        known.count += 1;
    } else if seen.len() < PLACES {
        seen.insert(key.clone(), Occurrences { count: 1, first: at, expected: expected.to_owned() });
    } else {
        *more += 1;
    }
}
