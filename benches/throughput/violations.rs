//! Events that break their schema, for measuring the cost of a violation.

use crate::stages::{Counts, Encoders};
use framegate_translators::contracts::Contract;
use framegate_translators::encode::Events;
use framegate_translators::frame::Frame;
use framegate_translators::schema::Schemas;
use std::collections::HashMap;
use std::hint::black_box;

/// How many events of each type are checked.
const OF_EACH_KIND: usize = 20;

/// A way to break an event: its name, and a function that breaks the text of a valid event.
pub(crate) type Way = (&'static str, fn(&str) -> Option<String>);

/// The ways that are measured.
pub(crate) const WAYS: [Way; 3] = [("time", spoil_time), ("missing", leave_time_out), ("surplus", add_field)];

/// The keys of the timestamp that every envelope has.
const TIMES: [&str; 4] = ["\"timestamp_ms\":", "\"ts\":", "\"timestamp\":", "\"occurred_at\":"];

/// An event as it is, and broken in one way.
pub(crate) struct Sample {
    kind: &'static str,
    pub(crate) valid: String,
    pub(crate) broken: String,
}

/// Returns some events of each type, without those that `way` does not break.
pub(crate) fn few_of_each_kind(
    frames: &[Vec<Frame>],
    contract: &'static Contract,
    schemas: &Schemas,
    (_, break_one): Way,
) -> Vec<Sample> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let mut samples = Vec::new();
    for frames in frames.iter().take(200) {
        let mut encoders = Encoders::new(contract);
        let mut events = Events::default();
        for frame in frames {
            events.clear();
            encoders.frame(frame, &mut events);
            for event in events.iter() {
                let count = counts.entry(event.kind).or_default();
                *count += 1;
                if *count <= OF_EACH_KIND {
                    let valid = std::str::from_utf8(event.payload).unwrap().to_owned();
                    let broken = break_one(&valid).filter(|broken| schemas.check_text(event.kind, broken).is_err());
                    samples.extend(broken.map(|broken| Sample { kind: event.kind, valid, broken }));
                }
            }
        }
    }
    samples
}

/// Makes the envelope's timestamp invalid: a string gets a wrong format, a number becomes a boolean.
fn spoil_time(valid: &str) -> Option<String> {
    let (at, key) = TIMES.iter().find_map(|key| Some((valid.find(key)?, key)))?;
    let mut broken = valid.to_owned();
    let value = at + key.len();
    match valid[value..].strip_prefix('"') {
        Some(_) => broken.insert_str(value + 1, "no "),
        None => broken.insert_str(value, "true,\"_\":"),
    }
    Some(broken)
}

/// Renames the timestamp, so that it is missing and an unknown field is present.
fn leave_time_out(valid: &str) -> Option<String> {
    TIMES.iter().find(|key| valid.contains(**key)).map(|key| valid.replacen(key, "\"_\":", 1))
}

/// Adds a field. This only breaks the schema of a closed object.
fn add_field(valid: &str) -> Option<String> {
    Some(valid.replacen('{', "{\"_\":null,", 1))
}

pub(crate) fn check(schemas: &Schemas, event: &Sample, text: &str, is_valid: bool) -> Counts {
    assert_eq!(black_box(schemas.check_text(event.kind, text)).is_ok(), is_valid, "{text}");
    Counts { events: 1, bytes_out: 0 }
}
