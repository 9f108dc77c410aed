//! No byte of an input is lost: `raw` prints every line again, for any bytes, framing and chunking.

use crate::support::{EPOCH_MS, identity, lines};
use framegate_translators::contracts::{Contract, contract};
use framegate_translators::encode::{EncoderOptions, EventRef, write_ndjson, write_raw};
use framegate_translators::frame::Frame;
use framegate_translators::framing::{Framing, Limits};
use framegate_translators::pipeline::{Ingest, Translator};
use framegate_translators::runners::{RUNNERS, Runner, runner};
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;

/// The output for an input in a contract, and the number of records.
fn printed(
    runner: &'static Runner,
    to: &'static Contract,
    framing: Option<Framing>,
    chunks: &[&[u8]],
) -> (Vec<u8>, u64) {
    let ingest = Ingest::new(runner, framing, Limits::default(), identity());
    let mut translator = Translator::new(ingest, to, EncoderOptions::default());
    let mut out = Vec::new();
    let mut sink = |_: &Frame, events: &mut dyn Iterator<Item = EventRef<'_>>| {
        for event in events {
            if to.name == framegate_translators::contracts::RECORDS.name {
                write_raw(event, &mut out)
            } else {
                write_ndjson(event, &mut out)
            }
        }
    };
    for chunk in chunks {
        translator.feed(chunk, EPOCH_MS, &mut sink);
    }
    translator.finish(EPOCH_MS, &mut sink);
    let records = translator.records();
    (out, records)
}

fn records(runner: &'static Runner, framing: Option<Framing>, text: &str) -> Vec<Value> {
    let out = printed(runner, contract("frames.v1").unwrap(), framing, &[text.as_bytes()]).0;
    let events = lines(&out).into_iter().map(|line| serde_json::from_slice::<Value>(&line).unwrap());
    events.filter(|event| event["type"] == "provider_event").collect()
}

#[test]
fn stray_lines_of_an_event_stream_are_records() {
    let open_responses = runner("open-responses").unwrap();
    let completed = r#"data: {"type":"response.completed","response":{"id":"r","status":"completed"}}"#;
    for (framing, text, status, error) in [
        (None, format!("{completed}\n\n{{\"error\":{{\"message\":\"m\"}}}}\n"), "event", "no field of an event stream"),
        (None, format!("{completed}\n{{\"error\":{{\"message\":\"m\"}}}}\n\n"), "event", "no field of an event stream"),
        (None, format!("{completed}\n\nInternal Server Error"), "invalid_json", "not JSON"),
        (Some(Framing::Sse), "error: {\"message\":\"m\"}\n\n".to_owned(), "invalid_json", "not JSON"),
        (None, ":{\"a\":1}\n{\"b\":1}\n{\"c\":1}\n".to_owned(), "invalid_json", "not JSON"),
    ] {
        let all = records(open_responses, framing, &text);
        let found = all.iter().find(|record| record["errors"].to_string().contains(error));
        assert_eq!(found.unwrap_or_else(|| panic!("{text}: {all:#?}"))["status"], status, "{text}");
    }
    // Comments and names without data are not an error.
    let all = records(open_responses, None, &format!("{completed}\n\n: bye\n\nevent: x\n\n"));
    assert_eq!((&all[1]["status"], &all[1]["errors"]), (&"event".into(), &serde_json::json!([])));
    assert_eq!((&all[1]["data"], &all[1]["raw"]), (&Value::Null, &": bye\n\nevent: x".into()));
    // An error without `data:` fails the open response.
    let created = r#"data: {"type":"response.created","response":{"id":"r","status":"in_progress"}}"#;
    let text = format!("{created}\n\n{{\"error\":{{\"message\":\"gone\"}}}}\n");
    let out = printed(open_responses, contract("sse.v1").unwrap(), None, &[text.as_bytes()]).0;
    assert!(String::from_utf8(out).unwrap().contains("run_failed"));
}

#[test]
fn comments_are_no_bad_records() {
    let completed = "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\"}}\n\n";
    for end in [": heartbeat\n\n", ": heartbeat", "event: x\n\n"] {
        let mut ingest = Ingest::new(runner("open-responses").unwrap(), None, Limits::default(), identity());
        ingest.feed(format!("{completed}{end}").as_bytes(), EPOCH_MS).for_each(drop);
        ingest.finish(EPOCH_MS).for_each(drop);
        let (bad, tally) = (ingest.take_bad(), ingest.tally());
        assert!(bad.iter().all(|bad| !bad.message.is_empty() && bad.record == 1), "{end:?}: {bad:?}");
        assert_eq!((tally.records, tally.invalid, tally.markers), (2, 0, 1), "{end:?}");
    }
}

/// Pieces of inputs in both framings, including malformed ones.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let usual = prop::sample::select(vec![
        &b"data: "[..],
        b"data:",
        b"event: x",
        b"event: ",
        b"id: 1",
        b"retry: 5",
        b"other: x",
        b": note",
        b":",
        b"\n",
        b"\n",
        b"\n",
        b"\n\n",
        b"\r\n",
        b"\r",
        b" ",
        b"\t",
        b"{\"a\":1}",
        b"{\"a\":\"\\ud83d\"}",
        b"{}{}",
        b"[1]",
        b"{",
        b"}",
        b"\n{\n",
        b"\n}\n",
        b"\n  \"a\": 1\n",
        b"[DONE]",
        b"data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\n",
        b"\xEF\xBB\xBF",
        b"\xff",
        b"nonsense",
        b"\0",
        b"{\"type\":\"turn.started\"}\n",
        b"{\"error\":{\"message\":\"m\"}}",
    ])
    .prop_map(<[u8]>::to_vec);
    prop_oneof![6 => usual, 1 => prop::collection::vec(any::<u8>(), 0..8)]
}

fn framing() -> impl Strategy<Value = Option<Framing>> {
    prop::sample::select(vec![None, Some(Framing::Sse), Some(Framing::Ndjson), Some(Framing::Document)])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, ..ProptestConfig::default() })]

    #[test]
    fn raw_reproduces_every_line(
        pieces in prop::collection::vec(piece(), 0..24),
        cuts in prop::collection::vec(any::<Index>(), 0..6),
        framing in framing(),
        which in any::<Index>(),
    ) {
        let bytes = pieces.concat();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let chunks: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
        let runner = which.get(RUNNERS);
        let raw = framegate_translators::contracts::RECORDS;
        let (out, count) = printed(runner, raw, framing, &chunks);
        prop_assert_eq!(lines(&out), lines(&bytes), "{:?}", String::from_utf8_lossy(&bytes));
        prop_assert_eq!(&printed(runner, raw, framing, &[&bytes]), &(out, count), "the cuts do not matter");
        // Every record is also in some stream of `frames.v1`.
        let (events, _) = printed(runner, contract("frames.v1").unwrap(), framing, &chunks);
        let kept = lines(&events).iter().filter(|line| {
            let event: Value = serde_json::from_slice(line).unwrap();
            event["type"] == "provider_event"
        }).count();
        prop_assert_eq!(kept as u64, count);
    }
}
