//! Properties of every registered runner and contract. A new one is covered without further code.

use crate::support::*;
use framegate_translators::contracts::{CONTRACTS, contract};
use framegate_translators::encode::{EncoderOptions, Events};
use framegate_translators::frame::{Body, Frame, ProviderStatus};
use framegate_translators::runners::{RUNNERS, Runner};
use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Recordings small enough to be mutated many times.
static SMALL: LazyLock<Vec<Recording>> =
    LazyLock::new(|| recordings().filter(|recording| recording.bytes.len() < 20_000).collect());

#[test]
fn every_recording_is_valid_in_every_contract() {
    for recording in recordings() {
        for contract in json_contracts() {
            let out = translate(recording.runner, contract, &recording.bytes);
            assert_clean(contract, &out, &recording.name);
        }
    }
}

/// A live reader gets held events at a pause, and a replay gets them with the next frame: the events must be the same.
#[test]
fn a_pause_emits_the_first_events_of_the_next_frame() {
    let mut due = 0;
    for recording in recordings() {
        let frames = frames(recording.runner, &recording.bytes);
        for contract in CONTRACTS {
            let mut encoders = HashMap::new();
            for frame in &frames {
                let new = || (contract.encoder)(&frame.stream, &EncoderOptions::default());
                let Some(encoder) = encoders.entry(frame.stream.id).or_insert_with(new) else { continue };
                let (mut live, mut replay) = (Events::default(), Events::default());
                let paused = encoder.paused(frame.timestamp_ms, &mut live);
                encoder.frame(frame, &mut replay);
                if let Some(mut paused) = paused {
                    due += 1;
                    paused.frame(frame, &mut live);
                    let payloads =
                        |events: &Events| events.iter().map(|event| event.payload.to_vec()).collect::<Vec<_>>();
                    assert_eq!(payloads(&live), payloads(&replay), "{} in {}", recording.name, contract.name);
                    assert_eq!(paused.save(), encoder.save(), "{} in {}", recording.name, contract.name);
                }
            }
        }
    }
    assert!(due > 0, "some recording has held output");
}

#[test]
fn raw_reproduces_every_recording() {
    let raw = contract("raw").unwrap();
    for recording in recordings().filter(|recording| !recording.runner.is_of_frames) {
        let out = translate(recording.runner, raw, &recording.bytes);
        if lines(&out) != lines(&recording.bytes) {
            let (ours, theirs) = (lines(&out), lines(&recording.bytes));
            let at = ours.iter().zip(&theirs).position(|(a, b)| a != b).unwrap_or(ours.len().min(theirs.len()));
            let show = |list: &[Vec<u8>]| {
                list.get(at).map(|line| String::from_utf8_lossy(&line[..line.len().min(300)]).into_owned())
            };
            panic!("{} line {at}: {:?} instead of {:?}", recording.name, show(&ours), show(&theirs));
        }
    }
}

#[test]
fn every_record_gives_exactly_one_provider_event_before_its_frames() {
    for recording in recordings().filter(|recording| !recording.runner.is_of_frames) {
        let mut ingest = ingest(recording.runner, framegate_translators::framing::Limits::default());
        let mut frames: Vec<Frame> = ingest.feed(&recording.bytes, EPOCH_MS).collect();
        frames.extend(ingest.finish(EPOCH_MS));
        let kept = frames.iter().filter(|frame| matches!(frame.body, Body::ProviderEvent(_))).count();
        assert_eq!(kept as u64, ingest.records(), "{}", recording.name);
        well_formed(&frames, &recording.name);
    }
}

/// A frame that is read is no record: it is taken over, or kept as a record that says why not.
#[test]
fn every_record_of_frames_gives_one_frame() {
    let mut count = 0;
    for recording in recordings().filter(|recording| recording.runner.is_of_frames) {
        let written: Vec<serde_json::Value> =
            lines(&recording.bytes).iter().map(|line| serde_json::from_slice(line).unwrap()).collect();
        let word = |frame: &serde_json::Value, key: &str| frame[key].as_str().unwrap().to_owned();
        let types: HashSet<String> = written.iter().map(|frame| word(frame, "type")).collect();
        let (mut expected, mut found) = (HashMap::<String, Vec<String>>::new(), HashMap::<String, Vec<String>>::new());
        for frame in &written {
            expected.entry(word(frame, "session_id")).or_default().push(word(frame, "type"));
        }
        let all = frames(recording.runner, &recording.bytes);
        well_formed(&all, &recording.name);
        // The older version has no complete texts, so they are added.
        for frame in all.iter().filter(|frame| types.contains(frame.body.kind())) {
            found.entry(frame.stream.id.to_string()).or_default().push(frame.body.kind().to_owned());
        }
        assert_eq!(found, expected, "{}", recording.name);
        // With a number that is none, each becomes a record with an error.
        for (at, frame) in written.iter().enumerate() {
            let mut wrong = frame.clone();
            wrong["seq"] = serde_json::json!("none");
            let all = frames(recording.runner, format!("{wrong}\n").as_bytes());
            let [Frame { body: Body::ProviderEvent(record), .. }] = &all[..] else { panic!("{all:?}") };
            assert!(!record.errors.is_empty(), "{} line {at}", recording.name);
        }
        count += written.len();
    }
    assert!(count > 100, "{count}");
}

/// The document says: "Provider adapters emit `provider_event` for every SSE event (no drops)."
#[test]
fn frame_contracts_contain_every_record_in_some_stream() {
    for recording in recordings().filter(|recording| !recording.runner.is_of_frames) {
        let mut ingest = ingest(recording.runner, framegate_translators::framing::Limits::default());
        let _ = ingest.feed(&recording.bytes, EPOCH_MS).count() + ingest.finish(EPOCH_MS).count();
        for name in ["frames.v1", "frames.v2"] {
            let events = events(recording.runner, contract(name).unwrap(), &recording.bytes);
            let kept = events.iter().filter(|event| event["type"] == "provider_event").count();
            assert_eq!(kept as u64, ingest.records(), "{} in {name}", recording.name);
        }
    }
}

/// JSON's grammar allows half of a surrogate pair, but strict parsers refuse it. `data` and everything derived from the record
/// have U+FFFD in its place, and `raw` returns the original record.
#[test]
fn strict_parsers_read_every_line_and_raw_keeps_lone_surrogates() {
    let lone = r#"{"type":"item.started","item":{"id":"i","type":"command_execution","command":"\ud83d \udc00\ude00","x\uD800":[]}}"#;
    let call = r#"{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"\ud83d"}}]}}"#;
    let deltas = r#"{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"f","call_id":"c","name":"\ude00","arguments":"{\"a\":\"\\ud83d\"}"}}"#;
    for runner in RUNNERS {
        for line in [lone, call, deltas, r#"{"type":"\ud83d","\udfff":"\ud83d\ude00"}"#] {
            let bytes = format!("{line}\n").into_bytes();
            for contract in json_contracts() {
                for event in lines(&translate(runner, contract, &bytes)) {
                    let read = serde_json::from_slice::<serde_json::Value>(&event);
                    assert!(read.is_ok(), "{} {read:?}: {}", contract.name, String::from_utf8_lossy(&event));
                }
            }
            let raw = translate(runner, contract("raw").unwrap(), &bytes);
            assert_eq!(String::from_utf8_lossy(&raw), String::from_utf8_lossy(&bytes), "{}", runner.name);
            let events = events(runner, contract("frames.v1").unwrap(), &bytes);
            let kept: Vec<_> = events.iter().filter(|event| event["type"] == "provider_event").collect();
            assert_eq!(kept.len(), 1);
            let is_told = kept[0]["data"].to_string().contains('\u{FFFD}');
            assert_eq!(is_told.then_some(line), kept[0]["raw"].as_str(), "{}", runner.name);
        }
    }
}

#[test]
fn a_forked_encoder_continues_like_the_original() {
    for recording in SMALL.iter() {
        let frames = frames(recording.runner, &recording.bytes);
        for contract in CONTRACTS {
            // One encoder for each stream, and another one that is replaced by its fork after each frame.
            let mut encoders = HashMap::new();
            for frame in &frames {
                let key = (frame.stream.kind, frame.stream.id);
                let new =
                    || (contract.encoder)(&frame.stream, &EncoderOptions { experimental: true, ..Default::default() });
                let Some((whole, forked)) = encoders.entry(key).or_insert_with(|| new().zip(new())) else { continue };
                let (mut expected, mut found) = (Events::default(), Events::default());
                whole.frame(frame, &mut expected);
                let next = forked.fork();
                // The original's further work does not affect its fork.
                forked.frame(frame, &mut Events::default());
                *forked = next;
                forked.frame(frame, &mut found);
                let list = |events: &Events| -> Vec<_> {
                    events.iter().map(|event| (event.id.clone(), event.payload.to_vec())).collect()
                };
                assert_eq!(list(&found), list(&expected), "{} {} {}", recording.name, contract.name, frame.seq);
            }
        }
    }
}

/// The properties that must hold for any bytes from a runner.
fn survives(runner: &'static Runner, bytes: &[u8], what: &str) {
    well_formed(&frames(runner, bytes), what);
    for contract in json_contracts() {
        assert_clean(contract, &translate(runner, contract, bytes), what);
    }
}

#[test]
fn sessions_that_overlap_may_ask_with_the_same_id() {
    let recording = SMALL.iter().find(|recording| recording.name == "elicitation_b.fake.jsonl").unwrap();
    let text = String::from_utf8(recording.bytes.clone()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    // A question that names no session, the text of another session, and the end of a turn.
    for order in [[3, 0, 0, 5, 3], [3, 5, 3, 7, 3]] {
        let bytes: String = order.iter().map(|at| format!("{}\n", lines[*at])).collect();
        survives(recording.runner, bytes.as_bytes(), &recording.name);
    }
}

#[test]
fn a_truncated_input_ends_every_run_once() {
    for recording in SMALL.iter() {
        // Every position around a record's end; elsewhere in steps.
        let bytes = &recording.bytes;
        let mut cuts: Vec<usize> = (0..bytes.len()).step_by((bytes.len() / 40).max(1)).collect();
        for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            cuts.extend([at, at + 1, (at + 2).min(bytes.len())]);
        }
        for cut in cuts {
            let what = format!("{} cut at {cut}", recording.name);
            well_formed(&frames(recording.runner, &bytes[..cut]), &what);
        }
        let v2 = contract("frames.v2").unwrap();
        for cut in (0..bytes.len()).step_by((bytes.len() / 8).max(1)) {
            let what = format!("{} cut at {cut}", recording.name);
            assert_clean(v2, &translate(recording.runner, v2, &bytes[..cut]), &what);
        }
    }
}

#[test]
fn hostile_lines_do_not_panic() {
    let deep = format!("{{\"type\":{}1{}}}\n", "[".repeat(10_000), "]".repeat(10_000));
    let long = format!("{{\"type\":\"x\",\"text\":\"{}\"}}\n", "a".repeat(5_000_000));
    for runner in RUNNERS {
        for text in [
            "",
            "\n\n",
            "{",
            "[",
            "nonsense\n",
            "null\n",
            "42\n\"x\"\n[]\n[{}]\n{}\n",
            "{}{}{}\n",
            "{\"type\":null}\n",
            "{\"type\":{}}\n",
            "{\"type\":\"\\ud83d\"}\n",
            "{\"\\ud83d\":1}\n",
            "{\"type\":1e400,\"a\":-0}\n",
            "{\"type\":\"a\",\"type\":\"b\"}\n",
            "\u{0}\u{0}\n",
            "data: {}\n\n",
            "data: [DONE]\n\ndata: [DONE]\n\n",
            "event: x\ndata: nonsense\n\n",
            "\u{FEFF}{\"type\":\"x\"}\n",
            &deep,
            &long,
        ] {
            survives(runner, text.as_bytes(), &format!("{} {:?}", runner.name, text.get(..text.len().min(40))));
        }
        survives(runner, b"{\"type\":\"\xff\xfe\"}\n\xff\n", runner.name);
    }
}

#[test]
fn a_record_over_the_limit_is_reported_and_the_stream_continues() {
    use framegate_translators::framing::Limits;
    let limits = Limits { record_bytes: 4096, preview_bytes: 16 };
    for recording in SMALL.iter() {
        let mut bytes = recording.bytes.clone();
        let sse = bytes.starts_with(b"data:") || bytes.starts_with(b"event:") || bytes.starts_with(b":");
        if sse || bytes.starts_with(b"{\n") || bytes.is_empty() {
            continue;
        }
        let huge = format!("{{\"type\":\"{}\"}}\n", "x".repeat(5000));
        bytes.splice(0..0, huge.into_bytes());
        let mut ingest = ingest(recording.runner, limits);
        let mut all: Vec<Frame> = ingest.feed(&bytes, EPOCH_MS).collect();
        all.extend(ingest.finish(EPOCH_MS));
        well_formed(&all, &recording.name);
        let Some(Body::ProviderEvent(record)) =
            all.iter().map(|frame| &frame.body).find(|body| matches!(body, Body::ProviderEvent(_)))
        else {
            panic!("{}: no record", recording.name)
        };
        assert_eq!(record.status, ProviderStatus::InvalidJson);
        assert_eq!(record.raw.as_ref().unwrap().len(), 16);
        assert!(record.errors[0].contains("5011 bytes"), "{:?}", record.errors);
    }
}

fn pick(index: &Index) -> &'static Recording {
    &SMALL[index.index(SMALL.len())]
}

proptest! {

    #[test]
    fn chunk_boundaries_do_not_matter(which in any::<Index>(), cuts in prop::collection::vec(any::<Index>(), 1..40)) {
        let recording = pick(&which);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(recording.bytes.len() + 1)).collect();
        cuts.extend([0, recording.bytes.len()]);
        cuts.sort_unstable();
        let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &recording.bytes[pair[0]..pair[1]]).collect();
        for contract in CONTRACTS {
            let whole = translate(recording.runner, contract, &recording.bytes);
            let parts = translate_chunks(recording.runner, contract, chunks.iter().copied());
            prop_assert!(whole == parts, "{} in {}", recording.name, contract.name);
        }
    }

    #[test]
    fn changed_bytes_do_not_break_the_invariants(which in any::<Index>(), changes in prop::collection::vec((any::<Index>(), any::<u8>()), 1..8)) {
        let recording = pick(&which);
        let mut bytes = recording.bytes.clone();
        for (at, byte) in changes {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = byte;
            }
        }
        survives(recording.runner, &bytes, &recording.name);
    }

    #[test]
    fn moved_repeated_and_missing_records_do_not_break_the_invariants(which in any::<Index>(), order in prop::collection::vec(any::<Index>(), 1..60)) {
        let recording = pick(&which);
        let separator: &[u8] = if recording.bytes.starts_with(b"{") { b"\n" } else { b"\n\n" };
        let text = String::from_utf8_lossy(&recording.bytes).into_owned();
        let records: Vec<&str> = text.split(std::str::from_utf8(separator).unwrap()).filter(|record| !record.is_empty()).collect();
        prop_assume!(!records.is_empty());
        let mut bytes = Vec::new();
        for index in order {
            bytes.extend_from_slice(records[index.index(records.len())].as_bytes());
            bytes.extend_from_slice(separator);
        }
        survives(recording.runner, &bytes, &recording.name);
    }

    #[test]
    fn wrong_types_do_not_break_the_invariants(which in any::<Index>(), at in any::<Index>(), with in prop::sample::select(vec!["null", "0", "-1", "\"\"", "[]", "{}", "true", "1e99", "\"\\ud83d\"", "[[]]", "{\"type\":1}"])) {
        let recording = pick(&which);
        // Replaces one value with another, at any position of a value.
        let text = String::from_utf8_lossy(&recording.bytes).into_owned();
        let places: Vec<usize> = text.match_indices(':').map(|(at, _)| at + 1).collect();
        prop_assume!(!places.is_empty());
        let place = places[at.index(places.len())];
        let rest = &text[place..];
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<serde_json::Value>();
        prop_assume!(matches!(values.next(), Some(Ok(_))));
        let end = place + values.byte_offset();
        let changed = format!("{}{with}{}", &text[..place], &text[end..]);
        survives(recording.runner, changed.as_bytes(), &recording.name);
    }
}
