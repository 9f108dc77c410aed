//! Long texts on disk: each is stored once, and every read returns the whole text.

use crate::instrumented::InstrumentedLog;
use crate::scratch::{Scratch, as_text, frames, log, log_of, number, read_as_text, run_of, wait};
use framegate::clock::Clock;
use framegate::config::GateMode;
use framegate::gate::Gate;
use framegate::log::sqlite::Options;
use framegate::log::{FrameLog, LogError, SqliteLog, stream_id};
use framegate::runs::Runs;
use framegate_translators::frame::{Body, Frame};
use rusqlite::Connection;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A message of 200 KB, which appears in two records.
const LONG: (&str, &str) = ("claude-code", "long_text_200k.ndjson");

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
fn a_long_text_is_stored_once_and_read_whole() {
    // All frames in one append; or each in its own append, where the first frame derived from a record repeats its text.
    for (copies, at_once) in [(1, usize::MAX), (2, 1)] {
        let scratch = Scratch::new(&format!("texts-{copies}"));
        let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
        let frames = frames(LONG.0, LONG.1, 1);
        let (run, text) = (run_of(&frames), final_text(&frames));
        for some in frames.chunks(at_once) {
            wait(log.append(some, Vec::new())).unwrap();
        }
        assert_eq!(read_as_text(&log, run), as_text(&frames, run));
        let (bytes, _) = wait(FrameLog::usage(&log)).unwrap();
        assert!(text.len() > 200_000 && (bytes as usize) < copies * text.len() + 40_000, "{bytes} for {}", text.len());
        drop(log);

        let database = Connection::open(scratch.path()).unwrap();
        assert!(number(&database, "SELECT count(*) FROM frames WHERE source IS NOT NULL") >= 3);
        assert_eq!(number(&database, "SELECT sum(octet_length(body) + 64) FROM frames"), bytes);
        // An audit sees complete bodies.
        let broken = "SELECT count(*) FROM events WHERE NOT json_valid(body)";
        assert_eq!(number(&database, broken), 0);
        let in_view: String = database.query_row("SELECT final_text FROM runs", [], |row| row.get(0)).unwrap();
        assert!(in_view == text);
        let in_view: String =
            database.query_row("SELECT text FROM texts WHERE length(text) > 1000", [], |row| row.get(0)).unwrap();
        assert!(in_view == text);
    }
}

/// A log that contains the long text, with the run's status.
fn log_with_texts(scratch: &Scratch) -> Vec<Arc<Frame>> {
    let frames = frames(LONG.0, LONG.1, 1);
    let log = Arc::new(SqliteLog::open(Options::new(scratch.path())).unwrap());
    wait(Runs::new(log, Gate::new(GateMode::Off).unwrap()).append(&frames)).unwrap();
    let holes = "SELECT count(*) FROM frames WHERE source IS NOT NULL";
    assert!(number(&Connection::open(scratch.path()).unwrap(), holes) >= 3);
    frames
}

#[test]
fn a_body_whose_shared_part_is_missing_is_reported_as_damaged() {
    for (nth, sql) in [
        "UPDATE frames SET source_bytes = source_bytes + 1000000",
        "UPDATE frames SET source_at = 9223372036854775807, source_bytes = 1 WHERE source IS NOT NULL",
        "UPDATE frames SET hole_at = 9223372036854775807 WHERE source IS NOT NULL",
        "UPDATE frames SET source = 1000 WHERE source IS NOT NULL",
        "UPDATE frames SET source = NULL WHERE source IS NOT NULL",
    ]
    .into_iter()
    .enumerate()
    {
        let scratch = Scratch::new(&format!("texts-damaged-{nth}"));
        let frames = log_with_texts(&scratch);
        Connection::open(scratch.path()).unwrap().execute_batch(sql).unwrap();
        let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
        // Frames before the damaged one can be read.
        let read = |from| wait(log.read(run_of(&frames), from, 1000));
        let said = read(0).and_then(|whole| read(whole.len() as u64)).unwrap_err().to_string();
        assert!(said.contains("a part of it refers to another frame"), "{sql}: {said}");
    }
}

#[test]
fn verify_finds_frames_whose_shared_part_is_missing() {
    for (nth, (sql, found)) in [
        // The frame does not exist; it is a later one; it lacks a part itself.
        ("UPDATE frames SET source = 1000 WHERE source IS NOT NULL", None),
        (
            "UPDATE frames SET source = (SELECT max(seq) FROM frames) WHERE seq = \
             (SELECT min(seq) FROM frames WHERE source IS NOT NULL)",
            Some(1),
        ),
        (
            "UPDATE frames SET source = (SELECT min(seq) FROM frames WHERE source IS NOT NULL) WHERE seq = \
             (SELECT max(seq) FROM frames WHERE source IS NOT NULL)",
            Some(1),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let scratch = Scratch::new(&format!("texts-verify-{nth}"));
        log_with_texts(&scratch);
        let (ok, said) = log(&scratch, &["verify"]);
        assert!(ok && said.contains(" 0 findings"), "{said}");
        let database = Connection::open(scratch.path()).unwrap();
        let holes = number(&database, "SELECT count(*) FROM frames WHERE source IS NOT NULL");
        database.execute_batch(sql).unwrap();
        drop(database);
        let (ok, said) = log(&scratch, &["verify"]);
        let told = format!("{} frames refer to a text that no earlier frame has", found.unwrap_or(holes));
        assert!(!ok && said.contains(&told), "{sql}: {said}");
    }
}

#[test]
fn shared_texts_survive_backup_export_import_and_pruning() {
    let scratch = Scratch::new("texts-commands");
    let frames = log_with_texts(&scratch);
    let run = run_of(&frames);
    let is_all = |name: &str, frames: &[Arc<Frame>]| {
        let log = SqliteLog::open(Options::new(scratch.dir().join(name))).unwrap();
        assert_eq!(read_as_text(&log, run), as_text(frames, run), "{name}");
        let (bytes, _) = wait(FrameLog::usage(&log)).unwrap();
        bytes
    };
    let bytes = is_all("framegate.db", &frames);
    let (ok, said) = log(&scratch, &["backup", "copy.db"]);
    assert!(ok, "{said}");
    assert_eq!(is_all("copy.db", &frames), bytes);
    let (ok, stored) = log(&scratch, &["export", "--all", "--to", "stored"]);
    assert!(ok);
    std::fs::write(scratch.dir().join("stored"), &stored).unwrap();
    let (ok, said) = log_of("other.db", &scratch, &["import", "stored"]);
    assert!(ok && said.contains(&format!("{} frames imported", frames.len())), "{said}");
    assert_eq!(is_all("other.db", &frames), bytes);
    // A second import: all frames exist and are identical.
    let (ok, said) = log_of("other.db", &scratch, &["import", "stored"]);
    assert!(ok && said.contains(&format!("{} were already in the log", frames.len())), "{said}");

    let mine: Vec<_> = frames.iter().filter(|frame| stream_id(frame) == run).cloned().collect();
    for keep in [4, 2] {
        let (ok, said) = log(&scratch, &["prune", "--keep-frames", &keep.to_string()]);
        assert!(ok && said.contains("dropped the first frames of "), "{said}");
        assert!(is_all("framegate.db", &mine[mine.len() - keep..]) <= bytes);
        let (ok, said) = log(&scratch, &["verify"]);
        assert!(ok && said.contains(" 0 findings"), "{said}");
    }
}

#[test]
fn interleaved_streams_in_one_append_store_each_text_once() {
    let scratch = Scratch::new("texts-turns");
    let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
    let (one, two) = (frames(LONG.0, LONG.1, 1), frames(LONG.0, LONG.1, 2));
    let of_run = |frames: &[Arc<Frame>]| -> Vec<Arc<Frame>> {
        frames.iter().filter(|frame| stream_id(frame) == run_of(frames)).cloned().collect()
    };
    let (mine, other) = (of_run(&one), of_run(&two));
    // The first run's record with the text, the other run's record, then the frames derived from the first.
    let at = mine.iter().position(|frame| frame.body.kind() == "output_text_delta").unwrap();
    let turns = [&mine[..at], &other[..at], &mine[at..], &other[at..]].concat();
    wait(log.append(&turns, Vec::new())).unwrap();
    let (text, (bytes, _)) = (final_text(&one).len(), wait(FrameLog::usage(&log)).unwrap());
    assert!((bytes as usize) < 2 * (text + 40_000), "{bytes} for two of {text}");
    assert_eq!(read_as_text(&log, run_of(&one)), as_text(&one, run_of(&one)));
    assert_eq!(read_as_text(&log, run_of(&two)), as_text(&two, run_of(&two)));
}

#[test]
fn later_frames_never_refer_to_a_failed_append() {
    let scratch = Scratch::new("texts-failed");
    let log = SqliteLog::open(Options::new(scratch.path())).unwrap();
    let frames = frames(LONG.0, LONG.1, 1);
    let run = run_of(&frames);
    let mine: Vec<_> = frames.iter().filter(|frame| stream_id(frame) == run).cloned().collect();
    let record = mine.iter().position(|frame| frame.body.kind() == "output_text_delta").unwrap() - 1;
    wait(log.append(&mine[..record], Vec::new())).unwrap();
    // The text of this append is not stored, because one of its frames is missing.
    let with_gap = [&mine[record..=record + 1], &mine[record + 3..]].concat();
    let failed = wait(log.append(&with_gap, Vec::new()));
    assert!(matches!(failed, Err(LogError::Sequence { .. })), "{failed:?}");
    for some in mine[record..].chunks(2) {
        wait(log.append(some, Vec::new())).unwrap();
    }
    assert_eq!(read_as_text(&log, run), as_text(&mine, run));
    drop(log);
    let database = Connection::open(scratch.path()).unwrap();
    assert!(number(&database, "SELECT count(*) FROM frames WHERE source IS NOT NULL") >= 3);
    let sql =
        "SELECT count(*) FROM frames f JOIN frames s ON s.seq = f.source WHERE s.source IS NOT NULL OR s.seq >= f.seq";
    assert_eq!(number(&database, sql), 0);
}

#[test]
fn the_final_text_of_a_run_survives_a_restart() {
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
fn a_start_reads_no_run_whose_status_has_its_final_text() {
    let scratch = Scratch::new("texts-start");
    let open = || {
        let log = Arc::new(InstrumentedLog::open(&scratch));
        (log.clone(), Runs::new(log, Gate::new(GateMode::Off).unwrap()))
    };
    let long = frames(LONG.0, LONG.1, 1);
    let others: Vec<_> = (2..5).map(|run| frames("claude-code", "text_plain.partial.ndjson", run)).collect();
    let failed: Vec<_> = (5..8).map(|run| frames("claude-code", "api_401.ndjson", run)).collect();
    let all = [&[long][..], &others, &failed].concat();
    let (_, runs) = open();
    for frames in &all {
        wait(runs.append(frames)).unwrap();
    }
    drop(runs);
    let texts = |runs: &Runs| -> Vec<Option<String>> {
        all.iter().map(|frames| runs.find(run_of(frames)).unwrap().status().final_text.clone()).collect()
    };
    let expected: Vec<_> = all
        .iter()
        .map(|frames| {
            frames.iter().find_map(|frame| match &frame.body {
                Body::SessionEnded(end) => Some(end.final_text.clone()),
                _ => None,
            })
        })
        .map(Option::unwrap)
        .collect();
    assert!(
        expected.iter().filter(|text| text.is_none()).count() >= 3 && expected[0].as_ref().unwrap().len() > 200_000
    );
    let (log, runs) = open();
    wait(runs.recover(Clock::System.now_ms())).unwrap();
    assert!(texts(&runs) == expected);
    assert_eq!(log.reads.load(Ordering::Relaxed), 1);
    let status = runs.find(run_of(&all[0])).unwrap().status().clone();
    assert!(!serde_json::to_string(&status).unwrap().contains("is_final_text_long"));
    drop((log, runs));
    // A status written by a version that did not store the flag: each such status is checked.
    let database = Connection::open(scratch.path()).unwrap();
    let forget = "UPDATE streams SET status = json_remove(status, '$.is_final_text_long')";
    assert_eq!(database.execute(forget, []).unwrap() as u64, number(&database, "SELECT count(*) FROM streams"));
    drop(database);
    let (_, runs) = open();
    wait(runs.recover(Clock::System.now_ms())).unwrap();
    assert!(texts(&runs) == expected);
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
    let query = |sql: &str| database.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap();
    assert_eq!(query("SELECT final_text FROM runs"), "Done.");
    assert_eq!(query("SELECT name FROM tool_calls"), "Bash");
}
