//! Inputs that break off and continue, and runs whose end is lost in the gap: for every runner and recording.

use crate::support::*;
use framegate_translators::frame::{Body, EndReason, Frame, StreamKind};
use framegate_translators::framing::Limits;
use std::collections::{HashMap, HashSet};
use uuid::Uuid;

/// The runs that are open after these frames.
fn open_runs(frames: &[Frame]) -> Vec<Uuid> {
    let mut open = Vec::new();
    for frame in frames.iter().filter(|frame| frame.stream.kind == StreamKind::Session) {
        match &frame.body {
            Body::SessionStarted { .. } => open.push(frame.stream.id),
            Body::SessionEnded(_) => open.retain(|run| *run != frame.stream.id),
            _ => {}
        }
    }
    open
}

/// Sequences have no gap. Each run has a start and one end, after which there are no frames.
fn well_formed(frames: &[Frame], name: &str) {
    let mut next: HashMap<(StreamKind, Uuid), u64> = HashMap::new();
    let mut over = HashSet::new();
    for frame in frames {
        let id = (frame.stream.kind, frame.stream.id);
        let seq = next.entry(id).or_default();
        assert_eq!(frame.seq, *seq, "{name}");
        *seq += 1;
        assert!(!over.contains(&id), "{name}: a frame after the end");
        if frame.stream.kind == StreamKind::Session {
            assert_eq!(matches!(frame.body, Body::SessionStarted { .. }), frame.seq == 0, "{name}");
            if matches!(frame.body, Body::SessionEnded(_)) {
                over.insert(id);
            }
        }
    }
    assert!(next.keys().all(|id| id.0 != StreamKind::Session || over.contains(id)), "{name}: a run without an end");
}

/// The positions at which a recording is cut: spread evenly, most of them within a record.
fn cuts(bytes: &[u8]) -> impl Iterator<Item = usize> {
    let length = bytes.len();
    (1..8).map(move |part| length * part / 8)
}

#[test]
fn every_open_run_reports_a_gap_and_the_input_continues() {
    for recording in recordings() {
        for cut in cuts(&recording.bytes) {
            let mut ingest = ingest(recording.runner, Limits::default());
            let mut frames: Vec<Frame> = ingest.feed(&recording.bytes[..cut], EPOCH_MS).collect();
            let gap: Vec<Frame> = ingest.gap("it was lost", EPOCH_MS).collect();
            let actual: Vec<Uuid> = gap
                .iter()
                .filter(|frame| matches!(&frame.body, Body::GapDetected { reason, .. } if reason == "it was lost"))
                .map(|frame| frame.stream.id)
                .collect();
            frames.extend(gap);
            // The incomplete record may have begun a run, which is open too.
            assert_eq!(actual, open_runs(&frames), "{} cut at {cut}", recording.name);
            frames.extend(ingest.feed(&recording.bytes[cut..], EPOCH_MS));
            frames.extend(ingest.finish(EPOCH_MS));
            well_formed(&frames, &recording.name);
        }
    }
}

#[test]
fn an_abandoned_run_ends_and_later_records_are_kept() {
    let mut given_up = 0;
    for recording in recordings() {
        for cut in cuts(&recording.bytes) {
            let mut ingest = ingest(recording.runner, Limits::default());
            let mut frames: Vec<Frame> = ingest.feed(&recording.bytes[..cut], EPOCH_MS).collect();
            frames.extend(ingest.gap("it was lost", EPOCH_MS));
            for run in open_runs(&frames) {
                frames.extend(ingest.give_up(run, "feed_lost", "nothing was heard of it", EPOCH_MS));
                let last = frames.iter().rfind(|frame| frame.stream.id == run).unwrap();
                let Body::SessionEnded(end) = &last.body else { panic!("{}: {:?}", recording.name, last.body) };
                assert_eq!((end.reason, end.error_code.as_deref()), (EndReason::Interrupted, Some("feed_lost")));
                given_up += 1;
            }
            assert_eq!(ingest.give_up(Uuid::nil(), "feed_lost", "", EPOCH_MS).count(), 0);
            frames.extend(ingest.feed(&recording.bytes[cut..], EPOCH_MS));
            frames.extend(ingest.finish(EPOCH_MS));
            let kept = frames.iter().filter(|frame| matches!(frame.body, Body::ProviderEvent(_))).count();
            // Frames that are read as frames are no records.
            assert!(
                recording.runner.is_of_frames || kept as u64 == ingest.records(),
                "{} cut at {cut}: {kept}",
                recording.name
            );
            well_formed(&frames, &recording.name);
        }
    }
    assert!(given_up > 500, "{given_up}");
}
