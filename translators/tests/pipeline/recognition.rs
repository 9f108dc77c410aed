//! Recognition: every recording is recognised as its own runner's output, and none of its records as another runner's.

use crate::support::*;
use framegate_translators::decode::Record;
use framegate_translators::framing::{Limits, Reader};
use framegate_translators::json::Object;
use framegate_translators::pipeline::Ingest;
use framegate_translators::recognise::{Recogniser, Verdict, Window, recognise, recognise_as};
use framegate_translators::records::{UnitPart, read};
use framegate_translators::runners::{RUNNERS, runner};

/// What `MANIFEST.json` expects of a recording: the surface, by its file name, and whether it can be recognised at all. Not
/// recognisable are inputs without a record, an error without any hint of its origin, and events of another interface.
fn surface_of(recording: &Recording) -> Option<String> {
    let expected = expected(recording.runner);
    if expected["unrecognised"].as_array().is_some_and(|names| names.iter().any(|name| *name == *recording.name)) {
        return None;
    }
    if let [only] = recording.runner.surfaces {
        return Some(only.name.to_owned());
    }
    let matches = |pattern: &str| match pattern.split_once('*') {
        Some((start, end)) => recording.name.starts_with(start) && recording.name.ends_with(end),
        None => recording.name == pattern,
    };
    let surfaces = expected["surfaces"].as_array();
    let found = surfaces.and_then(|all| all.iter().find(|surface| matches(surface[0].as_str().unwrap())));
    let found = found.unwrap_or_else(|| {
        let name = recording.runner.name;
        panic!("add the surface of {} to `expected.surfaces` in tests/fixtures/{name}/MANIFEST.json", recording.name)
    });
    Some(found[1].as_str().unwrap().to_owned())
}

fn each_record(bytes: &[u8], mut each: impl FnMut(&Record<'_>)) {
    let mut index = 0;
    let mut reader = Reader::sniffing(Limits::default());
    let mut sink = |unit: framegate_translators::framing::Unit<'_>| {
        read(&unit, &mut |part| {
            if let UnitPart::Value { json, fields, .. } = part {
                each(&Record { json, fields, event_name: unit.event_name, index, offset: unit.offset });
            }
            index += 1;
        });
    };
    reader.feed(bytes, &mut sink);
    reader.finish(&mut sink);
}

#[test]
fn no_record_is_attributed_to_another_runner() {
    let mut records = 0u64;
    for recording in recordings() {
        each_record(&recording.bytes, |record| {
            records += 1;
            for other in RUNNERS.iter().filter(|other| other.name != recording.runner.name) {
                let found = recognise_as(other, record, None);
                let start = &record.json.text()[..record.json.text().floor_char_boundary(200)];
                assert!(found.is_none(), "{}: {found:?}: {start}", recording.name);
            }
        });
    }
    assert!(records > 5000, "only {records} records were looked at");
}

#[test]
fn every_recording_is_recognised_by_its_first_record() {
    for recording in recordings() {
        let mut recogniser = Recogniser::new(None, Limits::default(), Window::default());
        recogniser.feed(&recording.bytes);
        match recogniser.finish() {
            Verdict::Found(found) => {
                let named = (found.runner.name, Some(found.surface.name));
                assert_eq!(named, (recording.runner.name, surface_of(&recording).as_deref()), "{}", recording.name);
                assert_eq!(found.record, 0, "{}: {found:?}", recording.name);
            }
            _ => assert_eq!(surface_of(&recording), None, "{} is not recognised", recording.name),
        }
    }
}

#[test]
fn held_bytes_are_read_like_any_others() {
    for recording in recordings().filter(|recording| surface_of(recording).is_some()) {
        let expected = frames(recording.runner, &recording.bytes);
        let mut ingest = Ingest::auto(None, Limits::default(), identity(), Window::default());
        let mut found = Vec::new();
        for chunk in recording.bytes.chunks(777) {
            found.extend(ingest.feed(chunk, EPOCH_MS));
        }
        found.extend(ingest.finish(EPOCH_MS));
        assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{}", recording.name);
        assert_eq!(ingest.recognised().unwrap().runner.name, recording.runner.name);
    }
}

fn nonsense(records: usize) -> Vec<u8> {
    b"{\"a\":1}\n".repeat(records)
}

const INIT: &[u8] = b"{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n";

#[test]
fn the_window_is_bounded_in_records() {
    let window = Window { records: 8, bytes: 1 << 20 };
    for (before, known) in [(7, true), (8, false)] {
        let mut ingest = Ingest::auto(None, Limits::default(), identity(), window);
        for line in [nonsense(before).as_slice(), INIT] {
            assert!(ingest.feed(line, EPOCH_MS).count() == 0 || known);
        }
        assert_eq!(ingest.recognised().is_some(), known, "{before} records before it");
        assert_eq!(ingest.is_unknown(), !known);
        assert_eq!(ingest.records(), if known { 8 } else { 0 });
        let more = ingest.finish(EPOCH_MS).count();
        assert_eq!(more > 0, known);
    }
}

#[test]
fn the_window_is_bounded_in_bytes_but_holds_at_least_one_record() {
    let window = Window { records: 64, bytes: 100 };
    let one = |bytes: usize| format!("{{\"a\":\"{}\"}}\n", "x".repeat(bytes - 9)).into_bytes();
    for (first, known) in [(99, true), (100, false)] {
        let mut recogniser = Recogniser::new(None, Limits::default(), window);
        recogniser.feed(&one(first));
        assert_eq!(matches!(recogniser.feed(INIT), Verdict::Found(_)), known, "{first} bytes before it");
    }
    let long =
        format!("{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"x\":\"{}\"}}\n", "y".repeat(500));
    let mut recogniser = Recogniser::new(None, Limits::default(), window);
    let (head, tail) = long.as_bytes().split_at(300);
    assert!(matches!(recogniser.feed(head), Verdict::Undecided));
    assert!(matches!(recogniser.feed(tail), Verdict::Found(_)));
}

#[test]
fn held_bytes_are_bounded_even_without_a_record_end() {
    let limits = Limits { record_bytes: 1000, preview_bytes: 10 };
    let mut ingest = Ingest::auto(None, limits, identity(), Window { records: 4, bytes: 100 });
    for at in 0..=11 {
        assert_eq!(ingest.is_unknown(), at > 11, "after {} bytes", at * 100);
        assert_eq!(ingest.feed(&[b'x'; 100], EPOCH_MS).count(), 0);
    }
    assert!(ingest.is_unknown());
}

#[test]
fn an_input_of_another_runner_is_reported_once_and_kept() {
    for recording in recordings().filter(|recording| surface_of(recording).is_some()) {
        for said in RUNNERS {
            let mut ingest = Ingest::new(said, None, Limits::default(), identity());
            let mut actual = Vec::new();
            let half = recording.bytes.len() / 2;
            let mut kept = ingest.feed(&recording.bytes[..half], EPOCH_MS).filter(is_record).count();
            actual.extend(ingest.mistaken());
            kept += ingest.feed(&recording.bytes[half..], EPOCH_MS).filter(is_record).count();
            actual.extend(ingest.mistaken());
            kept += ingest.finish(EPOCH_MS).filter(is_record).count();
            actual.extend(ingest.mistaken());
            let actual: Vec<&str> = actual.iter().map(|other| other.runner.name).collect();
            let expected = if said.name == recording.runner.name { vec![] } else { vec![recording.runner.name] };
            assert_eq!(actual, expected, "{} as {}", recording.name, said.name);
            // Frames that are read as frames are no records.
            let is_taken_over = said.is_of_frames && recording.runner.is_of_frames;
            assert_eq!(kept as u64 == ingest.records(), !is_taken_over, "{} as {}", recording.name, said.name);
        }
    }
}

fn is_record(frame: &framegate_translators::frame::Frame) -> bool {
    matches!(frame.body, framegate_translators::frame::Body::ProviderEvent(_))
}

#[test]
fn ambiguous_records_are_not_recognised() {
    for text in [
        r#"{"type":"error","message":"no"}"#,
        r#"{"type":"result"}"#,
        r#"{"jsonrpc":"2.0","method":"session/update","params":{}}"#,
        r#"{"type":"message","content":"hi"}"#,
        r#"{"type":"response.created"}"#,
        r#"{"prompt":"hi"}"#,
        r#"{"type":1,"session_id":2,"message":{}}"#,
        r#"["type","session_id"]"#,
        "null",
    ] {
        each_record(text.as_bytes(), |record| assert!(recognise(record, None).is_none(), "{text}"));
    }
    // A record that two runners would recognise is not recognised.
    let both = r#"{"type":"response.created","response":{},"properties":{}}"#;
    let fields = Object::parse(both).unwrap();
    assert!(fields.len() == 3);
    each_record(both.as_bytes(), |record| {
        assert!(recognise_as(runner("opencode").unwrap(), record, None).is_some());
        assert!(recognise_as(runner("open-responses").unwrap(), record, None).is_some());
        assert!(recognise(record, None).is_none());
    });
}
