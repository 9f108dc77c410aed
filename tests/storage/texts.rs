//! Long texts on disk: each is kept once, and everything that is read is whole.

use crate::scratch::{Scratch, frames, wait};
use framegate::clock::Clock;
use framegate::config::GateMode;
use framegate::gate::Gate;
use framegate::log::sqlite::Options;
use framegate::log::{FrameLog, Gone, SqliteLog, StreamId, stream_id};
use framegate::runs::Runs;
use framegate_translators::frame::{Body, Frame, StreamKind};
use rusqlite::Connection;
use std::sync::Arc;

/// A message of 200 KB, which stands in two records.
const LONG: (&str, &str) = ("claude-code", "long_text_200k.ndjson");

fn run_of(frames: &[Arc<Frame>]) -> StreamId {
    frames.iter().map(|frame| stream_id(frame)).find(|(kind, _)| *kind == StreamKind::Session).unwrap()
}

/// What a log has of a stream, as text.
fn kept(log: &SqliteLog, stream: StreamId) -> Vec<String> {
    wait(async {
        let (mut found, mut at) = (Vec::new(), 0);
        loop {
            let more = log.read(stream, at, 3).await.unwrap();
            let Some(last) = more.last() else { return found };
            at = last.seq + 1;
            found.extend(more.iter().map(|frame| format!("{frame:?}")));
        }
    })
}

fn shown(frames: &[Arc<Frame>], stream: StreamId) -> Vec<String> {
    frames.iter().filter(|frame| stream_id(frame) == stream).map(|frame| format!("{frame:?}")).collect()
}

fn number(database: &Connection, sql: &str) -> u64 {
    database.query_row(sql, [], |row| row.get(0)).unwrap()
}

fn final_text(frames: &[Arc<Frame>]) -> String {
    frames
        .iter()
        .find_map(|frame| match &frame.body {
            Body::SessionEnded(end) => end.final_text.clone(),
            _ => None,
        })
        .unwrap()
}

#[test]
fn a_long_text_is_kept_once_and_read_whole() {
    // All frames in one append; and each in one of its own, where the first that is made of a record repeats it.
    for (copies, at_once) in [(1, usize::MAX), (2, 1)] {
        let scratch = Scratch::new(&format!("texts-{copies}"));
        let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
        let frames = frames(LONG.0, LONG.1, 1);
        let (run, text) = (run_of(&frames), final_text(&frames));
        for some in frames.chunks(at_once) {
            wait(log.append(some, Vec::new())).unwrap();
        }
        assert_eq!(kept(&log, run), shown(&frames, run));
        let (bytes, _) = wait(FrameLog::usage(&log)).unwrap();
        assert!(text.len() > 200_000 && (bytes as usize) < copies * text.len() + 40_000, "{bytes} for {}", text.len());
        drop(log);

        let database = Connection::open(scratch.path()).unwrap();
        assert!(number(&database, "SELECT count(*) FROM frames WHERE source IS NOT NULL") >= 3);
        assert_eq!(number(&database, "SELECT sum(octet_length(body) + 64) FROM frames"), bytes);
        // An audit sees whole bodies.
        let broken = "SELECT count(*) FROM events WHERE NOT json_valid(body)";
        assert_eq!(number(&database, broken), 0);
        let told: String = database.query_row("SELECT final_text FROM runs", [], |row| row.get(0)).unwrap();
        assert!(told == text);
        let told: String =
            database.query_row("SELECT text FROM texts WHERE length(text) > 1000", [], |row| row.get(0)).unwrap();
        assert!(told == text);
    }
}

#[test]
fn a_front_that_goes_leaves_the_texts_that_are_referred_to() {
    let scratch = Scratch::new("texts-front");
    let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
    let frames = frames(LONG.0, LONG.1, 1);
    let run = run_of(&frames);
    let mine: Vec<_> = frames.iter().filter(|frame| stream_id(frame) == run).cloned().collect();
    // The record with the text goes while the run is open; what comes behind it can refer to it no more.
    let delta = mine.iter().position(|frame| frame.body.kind() == "output_text_delta").unwrap();
    let (before, behind) = mine.split_at(delta + 1);
    wait(log.append(before, Vec::new())).unwrap();
    let gone = Gone { frames: delta as u64, last_ms: 5, pruned_ms: 6 };
    wait(log.drop_front(run, gone, Vec::new())).unwrap();
    wait(log.append(behind, Vec::new())).unwrap();
    assert_eq!(kept(&log, run), shown(&mine[delta..], run));
    let (bytes, _) = wait(FrameLog::usage(&log)).unwrap();
    drop(log);
    let database = Connection::open(scratch.path()).unwrap();
    assert_eq!(number(&database, "SELECT sum(octet_length(body) + 64) FROM frames"), bytes);
    assert_eq!(number(&database, "SELECT bytes FROM streams"), bytes);
    assert_eq!(number(&database, "SELECT count(*) FROM frames WHERE source < (SELECT min(seq) FROM frames)"), 0);
    drop(database);
    let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
    assert_eq!(kept(&log, run), shown(&mine[delta..], run));
}

#[test]
fn a_body_whose_other_part_is_not_there_is_told_as_damaged() {
    let scratch = Scratch::new("texts-damaged");
    let frames = frames(LONG.0, LONG.1, 1);
    let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
    wait(log.append(&frames, Vec::new())).unwrap();
    drop(log);
    let damage = |sql: &str| {
        Connection::open(scratch.path()).unwrap().execute_batch(sql).unwrap();
        let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
        wait(log.read(run_of(&frames), 0, 1000)).unwrap_err().to_string()
    };
    for sql in [
        "UPDATE frames SET source_bytes = source_bytes + 1000000",
        "UPDATE frames SET source_at = 9223372036854775807, source_bytes = 1 WHERE source IS NOT NULL",
        "UPDATE frames SET hole_at = 9223372036854775807 WHERE source IS NOT NULL",
        "UPDATE frames SET source = 1000 WHERE source IS NOT NULL",
    ] {
        let said = damage(sql);
        assert!(said.contains("a part of it stands in another frame"), "{sql}: {said}");
    }
}

#[test]
fn the_final_text_of_a_run_is_there_after_a_start() {
    let scratch = Scratch::new("texts-status");
    let open = || {
        let log = Arc::new(SqliteLog::open(Options::new(scratch.path())).unwrap());
        Arc::new(Runs::new(log, Gate::new(GateMode::Off).unwrap()))
    };
    let (long, short) = (frames(LONG.0, LONG.1, 1), frames("claude-code", "text_plain.partial.ndjson", 2));
    let runs = open();
    wait(runs.append(&long)).unwrap();
    wait(runs.append(&short)).unwrap();
    drop(runs);
    let database = Connection::open(scratch.path()).unwrap();
    assert!(number(&database, "SELECT max(length(status)) FROM streams") < 3_000);
    drop(database);
    let runs = open();
    wait(runs.recover(Clock::System.now_ms())).unwrap();
    for frames in [&long, &short] {
        let entry = runs.find(run_of(frames)).unwrap();
        assert!(entry.status().final_text == Some(final_text(frames)));
    }
}

#[test]
fn a_database_of_layout_2_is_read() {
    let scratch = Scratch::new("layout-2");
    Connection::open(scratch.path()).unwrap().execute_batch(include_str!("layout_2.sql")).unwrap();
    let log = SqliteLog::open(Options { check: true, ..Options::new(scratch.path()) }).unwrap();
    let found = wait(log.streams()).unwrap();
    let (stream, gone) = (&found[0].stream, found[0].gone.unwrap());
    assert_eq!((gone.frames, gone.last_ms, found[0].frames), (2, 1_769_999_999_999, 7));
    let read = wait(log.read((stream.kind, stream.id), 0, 100)).unwrap();
    assert_eq!(read.iter().map(|frame| frame.seq).collect::<Vec<_>>(), [2, 3, 4, 5, 6]);
    drop(log);
    let database = Connection::open(scratch.path()).unwrap();
    let told = |sql: &str| database.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
    assert_eq!(told("SELECT final_text FROM runs"), "Done.");
    assert_eq!(told("SELECT name FROM tool_calls"), "Bash");
}
