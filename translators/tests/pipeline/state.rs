//! The saved state of an encoder: a restored encoder continues identically, whatever part of the stream was pruned.

use crate::support::*;
use framegate_translators::contracts::{CONTRACTS, Contract};
use framegate_translators::encode::{Encoder, EncoderOptions, EventId, Events, Pruned};
use framegate_translators::frame::{Frame, StreamKind};
use framegate_translators::normalizer::Reopened;
use serde_json::Value;
use std::collections::HashMap;

type EncodedEvents = Vec<(EventId, Vec<u8>)>;

fn encoded(events: &Events) -> EncodedEvents {
    events.iter().map(|event| (event.id.clone(), event.payload.to_vec())).collect()
}

fn new(contract: &Contract, frame: &Frame, experimental: bool) -> Option<Box<dyn Encoder>> {
    (contract.encoder)(&frame.stream, &EncoderOptions { experimental, ..Default::default() })
}

fn takes(encoder: &mut dyn Encoder, frame: &Frame) -> EncodedEvents {
    let mut events = Events::default();
    encoder.frame(frame, &mut events);
    encoded(&events)
}

#[test]
fn an_encoder_continues_from_a_saved_state() {
    for recording in recordings().filter(|recording| recording.bytes.len() < 20_000) {
        let frames = frames(recording.runner, &recording.bytes);
        for contract in CONTRACTS {
            let mut encoders = HashMap::new();
            for frame in &frames {
                let key = (frame.stream.kind, frame.stream.id);
                let make = || new(contract, frame, true);
                let Some((whole, resumed)) = encoders.entry(key).or_insert_with(|| make().zip(make())) else {
                    continue;
                };
                // The resumed encoder is recreated from saved bytes after each frame.
                if let Some(saved) = resumed.save() {
                    *resumed = make().unwrap();
                    assert!(resumed.restore(&saved), "{} {}", contract.name, String::from_utf8_lossy(&saved));
                } else {
                    assert!(resumed.first_event_of(7).is_some(), "{}: it needs no state, or has one", contract.name);
                }
                let (expected, found) = (takes(&mut **whole, frame), takes(&mut **resumed, frame));
                assert_eq!(found, expected, "{} {} {}", recording.name, contract.name, frame.seq);
            }
        }
    }
}

/// A state with sorted lists: sets and maps are saved in no particular order.
fn in_order(state: Value) -> Value {
    match state {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.into_iter().map(in_order).collect();
            items.sort_by_key(Value::to_string);
            Value::Array(items)
        }
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, in_order(value))).collect(),
        other => other,
    }
}

#[test]
fn an_encoder_that_writes_no_events_reaches_the_same_state() {
    let state = |encoder: &dyn Encoder| encoder.save().map(|saved| in_order(serde_json::from_slice(&saved).unwrap()));
    let cursors = |events: &Events| events.iter().map(|event| (event.kind, event.id.clone())).collect::<Vec<_>>();
    for recording in recordings().filter(|recording| recording.bytes.len() < 20_000) {
        let frames = frames(recording.runner, &recording.bytes);
        for (contract, experimental) in CONTRACTS.iter().flat_map(|contract| [(contract, false), (contract, true)]) {
            let mut encoders = HashMap::new();
            for (nth, frame) in frames.iter().enumerate() {
                let key = (frame.stream.kind, frame.stream.id);
                let make = || new(contract, frame, experimental);
                let Some((written, unwritten)) = encoders.entry(key).or_insert_with(|| make().zip(make())) else {
                    continue;
                };
                let what = format!("{} {} {}", recording.name, contract.name, frame.seq);
                if nth % 5 == 4 {
                    // From time to time a reader takes the events.
                    assert_eq!(takes(&mut **unwritten, frame), takes(&mut **written, frame), "{what}");
                    continue;
                }
                let (mut full, mut empty) = (Events::default(), Events::unwritten());
                written.frame(frame, &mut full);
                unwritten.frame(frame, &mut empty);
                assert_eq!(cursors(&empty), cursors(&full), "{what}");
                assert!(empty.iter().all(|event| event.payload.is_empty()), "{what}");
                assert_eq!(state(&**unwritten), state(&**written), "{what}");
            }
        }
    }
}

#[test]
fn a_state_of_another_version_is_ignored() {
    let recording = recordings().next().unwrap();
    let frames = frames(recording.runner, &recording.bytes);
    let run: Vec<&Frame> = frames.iter().filter(|frame| frame.stream.kind == StreamKind::Session).collect();
    for contract in CONTRACTS {
        let mut encoder = new(contract, run[0], false).unwrap();
        let Some(saved) = encoder.save() else { continue };
        let saved = String::from_utf8(saved).unwrap();
        let (lead, rest) = saved.split_once("\"version\":").unwrap();
        let later = format!("{lead}\"version\":4000000000{}", rest.trim_start_matches(|c: char| c.is_ascii_digit()));
        for other in ["", "{}", "null", &later, &saved[1..]] {
            assert!(!encoder.restore(other.as_bytes()), "{}: {other}", contract.name);
        }
        if let Some((front, back)) = saved.split_once("\"state\":{") {
            let more = format!("{front}\"state\":{{\"of_a_later_version\":1,{back}");
            assert!(!encoder.restore(more.replace(",}", "}").as_bytes()), "{}: {more}", contract.name);
        }
        let first = takes(&mut *new(contract, run[0], false).unwrap(), run[0]);
        assert_eq!(takes(&mut *encoder, run[0]), first, "{}", contract.name);
    }
}

#[test]
fn one_event_replaces_the_dropped_ones_at_the_last_position() {
    let mut notices = HashMap::new();
    for recording in recordings().filter(|recording| recording.bytes.len() < 20_000) {
        let frames = frames(recording.runner, &recording.bytes);
        for contract in json_contracts() {
            let schemas = schemas(contract);
            let mut streams: HashMap<_, (Box<dyn Encoder>, Option<EventId>, u64)> = HashMap::new();
            for frame in &frames {
                let key = (frame.stream.kind, frame.stream.id);
                let Some(encoder) = new(contract, frame, false) else { continue };
                let (encoder, last, events) = streams.entry(key).or_insert((encoder, None, 0));
                let (stream, frames, ms) = (&frame.stream, frame.seq, frame.timestamp_ms);
                let mut gap = Events::default();
                if frames > 0 {
                    encoder.pruned(&Pruned { stream, frames, last_ms: ms, pruned_ms: ms + 1 }, &mut gap);
                }
                let what = format!("{} {} {}", recording.name, contract.name, frame.seq);
                let gaps: Vec<_> = gap.iter().collect();
                assert!(gaps.len() <= usize::from(*events > 0), "{what}: {}", gaps.len());
                for event in gaps {
                    schemas.check(event).unwrap_or_else(|violations| panic!("{what}: {violations:?}"));
                    // An event that the contract's log excludes has no cursor.
                    let is_live_only = contract.log.is_some_and(|is_in_log| !is_in_log(event));
                    let expected = last.clone().filter(|_| !is_live_only);
                    assert_eq!(*event.id, expected.unwrap_or(EventId::None), "{what}");
                    *notices.entry(contract.name).or_insert(0) += 1;
                }
                let (before, mut after) = (encoder.save(), Events::default());
                encoder.frame(frame, &mut after);
                assert!(before.is_none() || frames == 0 || *events > 0 || gap.is_empty(), "{what}");
                *events += after.iter().count() as u64;
                *last =
                    after.iter().map(|event| event.id.clone()).filter(|id| *id != EventId::None).last().or(last.take());
            }
        }
    }
    let announcing = || json_contracts().filter(|contract| contract.announces_pruning).map(|contract| contract.name);
    assert!(announcing().all(|name| notices.get(name).is_some_and(|count| *count > 50)), "{notices:?}");
    assert_eq!(notices.len(), announcing().count(), "the other contracts have no such notice");
}

#[test]
fn a_stream_restored_after_every_frame_closes_identically() {
    for recording in recordings().filter(|recording| recording.bytes.len() < 20_000) {
        let frames = frames(recording.runner, &recording.bytes);
        let mut streams: HashMap<_, (Reopened, Reopened)> = HashMap::new();
        for (nth, frame) in frames.iter().enumerate() {
            let key = (frame.stream.kind, frame.stream.id);
            let make = || Reopened::new(frame.stream.clone());
            let (whole, resumed) = streams.entry(key).or_insert_with(|| (make(), make()));
            *resumed = Reopened::restore(frame.stream.clone(), &resumed.save()).unwrap();
            whole.frame(frame);
            resumed.frame(frame);
            if nth % 7 == 0 {
                let close = |one: &Reopened| {
                    let one = Reopened::restore(frame.stream.clone(), &one.save()).unwrap();
                    one.close(EPOCH_MS).iter().map(|frame| format!("{frame:?}")).collect::<Vec<_>>()
                };
                assert_eq!(close(resumed), close(whole), "{} {nth}", recording.name);
            }
        }
        for (whole, resumed) in streams.into_values() {
            let list = |one: Reopened| one.close(EPOCH_MS).iter().map(|frame| format!("{frame:?}")).collect::<Vec<_>>();
            assert_eq!(list(resumed), list(whole), "{}", recording.name);
        }
    }
}
