//! A run that grows until the log is full: it ends in order, and its end stays within the log's bound.

use crate::scratch::{Scratch, wait};
use framegate::config::GateMode;
use framegate::gate::Gate;
use framegate::ingest::{IngestFactory, Settings};
use framegate::log::sqlite::Options;
use framegate::log::{FrameLog, MemoryLog, SqliteLog};
use framegate::runs::{Entry, Follower, RunState, Runs, Wire};
use framegate_translators::contracts::contract;
use framegate_translators::encode::EncoderOptions;
use framegate_translators::frame::StreamKind;
use framegate_translators::runners::runner;
use std::sync::Arc;

/// A run with `count` messages, each with a unique text.
fn messages(count: usize) -> Vec<String> {
    let session = "5d3c1a6e-0d0e-4d47-9d0c-444444444444";
    let mut lines = vec![format!(
        "{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"{session}\",\"model\":\"m\",\"tools\":[]}}\n"
    )];
    lines.extend((0..count).map(|nth| {
        let text: String = (0..40).map(|at| format!("{:x} ", (nth * 7919 + at * 104_729) % 1_000_003)).collect();
        format!(
            "{{\"type\":\"assistant\",\"session_id\":\"{session}\",\"message\":{{\"id\":\"m{nth}\",\"role\":\"assistant\",\"content\":\
             [{{\"type\":\"text\",\"text\":\"{text}\"}},{{\"type\":\"tool_use\",\"id\":\"t{nth}\",\"name\":\"Bash\",\"input\":{{}}}}]}}}}\n"
        )
    }));
    lines
}

/// One text in pieces. Its end repeats the whole text.
fn pieces(count: usize) -> Vec<String> {
    let session = "5d3c1a6e-0d0e-4d47-9d0c-555555555555";
    let event = |event: &str| {
        format!(
            "{{\"type\":\"stream_event\",\"session_id\":\"{session}\",\"parent_tool_use_id\":null,\"event\":{event}}}\n"
        )
    };
    let mut lines = vec![
        format!(
            "{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"{session}\",\"model\":\"m\",\"tools\":[]}}\n"
        ),
        event(
            "{\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"model\":\"m\",\"role\":\"assistant\",\"content\":[]}}",
        ),
        event("{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}"),
    ];
    lines.extend((0..count).map(|nth| {
        let text: String = (0..40).map(|at| format!("{:x} ", (nth * 7919 + at * 104_729) % 1_000_003)).collect();
        event(&format!(
            "{{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{text}\"}}}}"
        ))
    }));
    lines
}

#[test]
fn a_run_that_fills_the_log_is_ended_within_the_size_limit() {
    let frames_v2 = contract("frames.v2").unwrap();
    // The bound is reached at the first byte of an append, at the last, or at one between.
    let bounds: Vec<u64> = (0..24).map(|nth| 40_000 + nth * 97).collect();
    for (lines, max_bytes) in
        [messages(400), pieces(400)].iter().flat_map(|lines| bounds.iter().map(move |bytes| (lines, *bytes)))
    {
        for kind in ["sqlite", "memory"] {
            let scratch = Scratch::new(&format!("fills-{kind}"));
            let log: Arc<dyn FrameLog> = match kind {
                "memory" => Arc::new(MemoryLog::new(max_bytes, 10)),
                _ => Arc::new(SqliteLog::open(Options { max_bytes, ..Options::new(scratch.path()) }).unwrap()),
            };
            let runs = Arc::new(Runs::new(log.clone(), Gate::new(GateMode::Off).unwrap()));
            let assert_within_limit = async || {
                let (bytes, _) = log.usage().await.unwrap();
                assert!(bytes <= max_bytes, "{kind}: {bytes} of {max_bytes}");
            };
            wait(async {
                let mut ingest = IngestFactory::new(runs.clone(), Settings::default()).ingest(
                    runner("claude-code"),
                    None,
                    Arc::default(),
                );
                let mut lines = lines.iter();
                ingest.feed(lines.next().unwrap().as_bytes()).await.unwrap();
                let is_run = |entry: &Arc<Entry>| entry.stream.kind == StreamKind::Session;
                let entry = ingest.ingested().entries().into_iter().find(is_run).unwrap();
                let reader = runs.reader(&entry, frames_v2, &EncoderOptions::default()).unwrap();
                let mut follower = Follower::new(runs.clone(), reader, Wire::Ndjson, 0);
                let read = tokio::spawn(async move {
                    let mut bytes = Vec::new();
                    while let Some(batch) = follower.next().await.unwrap() {
                        batch.chunks.iter().for_each(|chunk| bytes.extend_from_slice(chunk));
                    }
                    String::from_utf8(bytes).unwrap()
                });
                let mut stopped = None;
                while stopped.is_none() {
                    stopped = ingest
                        .feed(lines.next().expect("the log must be full before the input ends").as_bytes())
                        .await
                        .err();
                    assert_within_limit().await;
                }
                assert_eq!(stopped.unwrap().code(), "log_full");
                let status = entry.status().clone();
                assert_eq!(
                    (status.ended, status.state, status.error_code.as_deref()),
                    (true, RunState::Interrupted, Some("log_full")),
                    "{kind} {max_bytes}"
                );
                assert!(!entry.is_dropped(), "{kind} {max_bytes}");
                let output = read.await.unwrap();
                let last: serde_json::Value = serde_json::from_str(output.lines().last().unwrap()).unwrap();
                assert_eq!((&last["type"], &last["error_code"]), (&"session_ended".into(), &"log_full".into()));
                assert_within_limit().await;
                // A later reader gets the same end.
                let reader = runs.reader(&entry, frames_v2, &EncoderOptions::default()).unwrap();
                let mut follower = Follower::new(runs.clone(), reader, Wire::Ndjson, 0);
                let mut end = None;
                while let Some(batch) = follower.next().await.unwrap() {
                    end = batch.chunks.last().cloned();
                }
                let end = String::from_utf8(end.unwrap().to_vec()).unwrap();
                assert!(end.contains("session_ended") && end.contains("log_full"), "{end}");
            });
        }
    }
}
