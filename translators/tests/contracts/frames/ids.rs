//! The ids of frames that are read, added or closed later: each is there once.

use super::of_frames;
use crate::support::{EPOCH_MS, frames, ingest, lines};
use framegate_translators::contracts::FRAMES;
use framegate_translators::frame::{Body, Frame, StreamKind};
use framegate_translators::framing::Limits;
use framegate_translators::normalizer::Reopened;
use serde_json::{Value, json};
use std::collections::HashSet;
use uuid::Uuid;

fn ids(events: &[u8]) -> Vec<String> {
    let id = |line: Vec<u8>| serde_json::from_slice::<Value>(&line).unwrap()["id"].as_str().unwrap().to_owned();
    lines(events).into_iter().map(id).collect()
}

fn are_different(ids: &[String], what: &str) {
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "{what}");
}

/// The frames of one run of v1, whose ids are not derived from their numbers.
fn run_of_v1(count: u64) -> String {
    let run = "0198c0de-0000-7000-8000-0000000000f1";
    let id = |seq: u64| match seq {
        // Ids that framegate derives for other numbers of this stream.
        0..4 => derived(run, seq + 1),
        _ => format!("frame-{seq}"),
    };
    let mut text = String::new();
    for seq in 0..count {
        let mut frame = json!({"id": id(seq), "session_id": run, "timestamp_ms": 1, "seq": seq,
            "type": "output_text_delta", "delta": "x"});
        if seq == 0 {
            frame["type"] = json!("session_started");
            frame["input"] = json!("");
        }
        text += &format!("{frame}\n");
    }
    text
}

fn derived(stream: &str, seq: u64) -> String {
    let stream: Uuid = stream.parse().unwrap();
    let one = format!(
        "{{\"type\":\"session_started\",\"id\":\"a\",\"session_id\":\"{stream}\",\"timestamp_ms\":1,\"seq\":0,\"input\":\"\"}}\n"
    );
    let mut frame = frames(of_frames(), one.as_bytes()).swap_remove(0);
    frame.seq = seq;
    frame.derived_id().to_string()
}

#[test]
fn a_run_that_is_closed_has_no_id_twice() {
    for count in 1..8 {
        let all = frames(of_frames(), run_of_v1(count).as_bytes());
        are_different(&all.iter().map(|frame| frame.id().to_string()).collect::<Vec<_>>(), "closed at the end");
        assert!(all.iter().all(|frame| frame.given_id.is_some()), "{all:?}");
        // The proxy was killed after each frame.
        for cut in 1..all.len() {
            let mut reopened = Reopened::new(all[0].stream.clone());
            all[..cut].iter().for_each(|frame| reopened.frame(frame));
            let closing = reopened.close(EPOCH_MS);
            let whole = all[..cut].iter().chain(&closing);
            are_different(&whole.map(|frame| frame.id().to_string()).collect::<Vec<_>>(), "closed later");
        }
    }
}

#[test]
fn the_same_ingest_on_its_own_output_has_no_id_twice() {
    // A start that is missing and a record that is no frame: both are added to what is read.
    let input = run_of_v1(6).lines().skip(2).collect::<Vec<_>>().join("\n") + "\n{\"type\":\"x\"}\n";
    let mut bytes = input.into_bytes();
    for turn in 0..4 {
        let out = crate::support::translate(of_frames(), FRAMES, &bytes);
        are_different(&ids(&out), &format!("turn {turn}"));
        // Without one of its frames, another one is added in its place.
        bytes = lines(&out)
            .into_iter()
            .enumerate()
            .filter(|(at, _)| *at != 1)
            .flat_map(|(_, line)| [line, vec![b'\n']].concat())
            .collect();
    }
}

#[test]
fn a_run_that_was_given_up_takes_no_more_frames() {
    let text = run_of_v1(6);
    let cut = text.match_indices('\n').nth(3).unwrap().0 + 1;
    let mut ingest = ingest(of_frames(), Limits::default());
    let mut all: Vec<Frame> = ingest.feed(&text.as_bytes()[..cut], EPOCH_MS).collect();
    let run = all.iter().find(|frame| frame.stream.kind == StreamKind::Session).map(|frame| frame.stream.id);
    // The first frame of a run whose runner is not known yet is held back until the next one.
    all.extend(ingest.give_up(run.unwrap(), "feed_lost", "", EPOCH_MS));
    all.extend(ingest.feed(&text.as_bytes()[cut..], EPOCH_MS));
    all.extend(ingest.finish(EPOCH_MS));
    crate::support::well_formed(&all, "given up");
    let refused = all.iter().filter(|frame| match &frame.body {
        Body::ProviderEvent(record) => record.errors.first().is_some_and(|error| error == "its stream is over"),
        _ => false,
    });
    assert_eq!(refused.count(), 2);
}
