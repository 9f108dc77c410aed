//! Drift reports: what is changed in a record is told by its right name.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "test code")]

mod support;

use framegate_translators::decode::Record;
use framegate_translators::drift::{Drift, DriftFinding};
use framegate_translators::framing::{Limits, Reader, Unit};
use framegate_translators::records::{Part, read};
use framegate_translators::runners::{Surface, runner};
use support::*;

fn drift(surface: &'static Surface, bytes: &[u8]) -> Drift {
    let mut drift = Drift::new(surface).unwrap();
    let mut index = 0;
    let mut sink = |unit: Unit<'_>| {
        read(&unit, &mut |part| {
            match part {
                Part::Value { json, fields, .. } => {
                    drift.record(&Record { json, fields, event_name: unit.event_name, index, offset: unit.offset });
                }
                Part::Invalid { error, .. } => drift.not_json(unit.offset, error),
                Part::Done => {}
            }
            index += 1;
        });
    };
    let mut reader = Reader::sniffing(Limits::default());
    reader.feed(bytes, &mut sink);
    reader.finish(&mut sink);
    drift
}

#[test]
fn survey() {
    let surface = &runner("open-responses").unwrap().surfaces[0];
    for recording in recordings_of(runner("open-responses").unwrap()) {
        let d = drift(surface, &recording.bytes);
        println!("== {} {}", recording.name, d.records());
        for DriftFinding { key, count, first, message, suggestion } in d.findings() {
            println!(
                "  {:?} {} {} x{count} @{}:{} {message} | {suggestion}",
                key.kind, key.record_kind, key.pointer, first.record, first.offset
            );
        }
    }
}
