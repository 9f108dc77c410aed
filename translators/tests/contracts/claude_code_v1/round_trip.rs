//! The messages of every run of every runner, read back as Claude Code's output: no drift, no error, and the same facts.

use super::facts::{CallResult, Facts};
use crate::support::*;
use framegate_translators::contracts::contract;
use framegate_translators::decode::Record;
use framegate_translators::drift::{Drift, SurfaceSchemas};
use framegate_translators::encode::{EncoderOptions, Events, write_ndjson};
use framegate_translators::frame::{Body, Frame, ProviderStatus, StreamKind};
use framegate_translators::framing::{Limits, Reader, Unit};
use framegate_translators::records::{UnitPart, read};
use framegate_translators::runners::runner;
use std::sync::LazyLock;
use uuid::Uuid;

/// The messages of these frames of one stream, one on each line.
pub fn messages(frames: &[Frame], options: &EncoderOptions) -> Vec<u8> {
    let mut encoder = (contract("claude-code.v1").unwrap().encoder)(&frames[0].stream, options).unwrap();
    let mut out = Vec::new();
    let mut events = Events::default();
    for frame in frames {
        events.clear();
        encoder.frame(frame, &mut events);
        events.iter().for_each(|event| write_ndjson(event, &mut out));
    }
    out
}

/// The frames of each run in a recording.
pub fn runs(recording: &Recording) -> Vec<Vec<Frame>> {
    let mut runs: Vec<(Uuid, Vec<Frame>)> = Vec::new();
    for frame in frames(recording.runner, &recording.bytes) {
        if frame.stream.kind != StreamKind::Session {
            continue;
        }
        match runs.iter_mut().find(|(id, _)| *id == frame.stream.id) {
            Some((_, run)) => run.push(frame),
            None => runs.push((frame.stream.id, vec![frame])),
        }
    }
    runs.into_iter().map(|(_, frames)| frames).collect()
}

/// Fails unless the lines match the schemas of Claude Code's output.
fn has_no_drift(lines: &[u8], what: &str) {
    static KNOWN: LazyLock<SurfaceSchemas> = LazyLock::new(|| {
        let claude = runner("claude-code").unwrap();
        SurfaceSchemas::new(claude, &claude.surfaces[0]).unwrap()
    });
    let mut drift = Drift::of(KNOWN.clone());
    let mut index = 0;
    let mut sink = |unit: Unit<'_>| {
        read(&unit, &mut |part| {
            if let UnitPart::Value { json, fields, .. } = part {
                drift.record(&Record { json, fields, event_name: unit.event_name, index, offset: unit.offset });
            }
            index += 1;
        });
    };
    let mut reader = Reader::sniffing(Limits::default());
    reader.feed(lines, &mut sink);
    reader.finish(&mut sink);
    let found = drift.findings();
    assert!(found.is_empty() && index > 0, "{what}: {found:#?}\n{}", String::from_utf8_lossy(lines));
}

/// The same facts in the CLI's words.
fn as_expected(facts: &mut Facts) {
    let end = &mut facts.end;
    match &*end.reason {
        // The reason of an interruption is the place where the CLI stopped.
        "interrupted" => (end.error_code, end.message) = Default::default(),
        "failed" => end.final_text.clear(),
        // The message about a limit names the stop reason.
        _ => end.message.clear(),
    }
    end.error_code = match (&*end.reason, &*end.error_code) {
        ("failed", "invalid_request_error") => "invalid_request".to_owned(),
        ("failed", "api_error") => "server_error".to_owned(),
        // A code that the SDK does not declare is `unknown` in the message about the error.
        ("failed", "error" | "execution_error" | "upstream_stream_error" | "invalid_stream") => "unknown".to_owned(),
        ("failed", code) if code.parse::<i64>().is_ok() => "unknown".to_owned(),
        // A completed run tells why it is incomplete by its stop reason, or in the message about it.
        ("completed", "incomplete" | "loop_detected" | "no_answer" | "stopped_by_hook") => String::new(),
        (_, code) => code.to_owned(),
    };
    for call in facts.calls.values_mut() {
        if let CallResult::Ended { ok: false, output } = &mut call.result {
            // A failed command tells its exit code; a failed tool says at least that it failed.
            let rest = output
                .strip_prefix("Exit code ")
                .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '-'));
            if let Some(rest) = rest {
                *output = rest.trim().to_owned();
            }
            if output == "the tool failed" {
                output.clear();
            }
        }
    }
}

#[test]
fn every_run_survives_the_way_back() {
    let claude = runner("claude-code").unwrap();
    let mut failures = Vec::new();
    let mut count = 0;
    for recording in recordings() {
        for run in runs(&recording) {
            for (partial, user_messages) in [(false, false), (true, false), (true, true)] {
                let what = format!("{}/{} partial={partial}", recording.runner.name, recording.name);
                let options = EncoderOptions { experimental: partial, user_messages, ..EncoderOptions::default() };
                let lines = messages(&run, &options);
                has_no_drift(&lines, &what);
                assert!(
                    !lines.windows(3).any(|at| matches!(at, [0xE2, 0x80, 0xA8 | 0xA9])),
                    "{what}: a line separator"
                );
                let back = frames(claude, &lines);
                for frame in &back {
                    if let Body::ProviderEvent(record) = &frame.body {
                        let is_fine = record.errors.is_empty() && record.status == ProviderStatus::Event;
                        assert!(is_fine, "{what}: {record:?}");
                    }
                }
                let again: Vec<Frame> =
                    back.iter().filter(|frame| frame.stream.kind == StreamKind::Session).cloned().collect();
                well_formed(&again, &what);
                assert!(again.iter().all(|frame| frame.stream.id == again[0].stream.id), "{what}: several runs");
                assert_eq!(again[0].stream.session.id, run[0].stream.session.id, "{what}");
                let (mut expected, mut found) = (Facts::of(&run), Facts::of(&again));
                as_expected(&mut expected);
                as_expected(&mut found);
                if !partial {
                    // The usage of a call is in stream events only.
                    (expected.calls_used, found.calls_used) = Default::default();
                }
                if expected != found {
                    failures.push(format!("{what}:\n{expected:#?}\n{found:#?}\n{}", String::from_utf8_lossy(&lines)));
                }
                count += 1;
            }
        }
    }
    for failure in failures.iter().take(200) {
        println!("{failure}\n");
    }
    assert!(failures.is_empty(), "{} of {count}", failures.len());
    assert!(count > 1000, "{count}");
}
