//! Events that break their schema, to find out what a breach costs.

use crate::stages::{Counts, Encoders};
use framegate_translators::contracts::Contract;
use framegate_translators::encode::Events;
use framegate_translators::frame::Frame;
use framegate_translators::schema::Schemas;
use std::collections::HashMap;
use std::hint::black_box;

/// How many events of each type are checked.
const OF_EACH_KIND: usize = 20;

/// An event as it is, and with a time that is none.
pub(crate) struct Sample {
    kind: &'static str,
    pub(crate) valid: String,
    pub(crate) broken: String,
}

pub(crate) fn few_of_each_kind(frames: &[Vec<Frame>], contract: &'static Contract) -> Vec<Sample> {
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
                    samples.extend(break_one(event.kind, valid));
                }
            }
        }
    }
    samples
}

/// Spoils the time that every envelope has.
fn break_one(kind: &'static str, valid: String) -> Option<Sample> {
    for (key, wrong) in [
        ("\"timestamp_ms\":", "true,\"_\":"),
        ("\"ts\":\"", "no "),
        ("\"timestamp\":\"", "no "),
        ("\"occurred_at\":\"", "no "),
    ] {
        if let Some(at) = valid.find(key) {
            let mut broken = valid.clone();
            broken.insert_str(at + key.len(), wrong);
            return Some(Sample { kind, valid, broken });
        }
    }
    None
}

pub(crate) fn check(schemas: &Schemas, event: &Sample, text: &str, is_valid: bool) -> Counts {
    assert_eq!(black_box(schemas.check_text(event.kind, text)).is_ok(), is_valid, "{text}");
    Counts { events: 1, bytes_out: 0 }
}
