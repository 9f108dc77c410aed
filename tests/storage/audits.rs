//! The queries of docs/storage.md, run against a database that was filled with recordings.

use crate::client::post;
use crate::proxy::{Proxy, expected, recording};
use crate::scratch::Scratch;
use framegate_translators::runners::RUNNERS;
use std::collections::BTreeSet;

/// The SQL blocks of the document.
fn queries() -> Vec<String> {
    let text = include_str!("../../docs/storage.md");
    let blocks = text.split("```sql\n").skip(1);
    blocks.map(|block| block.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn every_documented_query_returns_rows() {
    let scratch = Scratch::new("audits");
    let path = scratch.path().to_str().unwrap().to_owned();
    let proxy = Proxy::with(&[
        ("FRAMEGATE__LOG__KIND", "sqlite"),
        ("FRAMEGATE__LOG__PATH", &path),
        ("FRAMEGATE__INGEST__RECOGNISE_REPEATS", "false"),
    ]);
    let mut refused = BTreeSet::new();
    let mut unreadable = BTreeSet::new();
    for runner in RUNNERS.iter().map(|runner| runner.name) {
        // Recordings that contain no output of the runner that they are sent as.
        unreadable.extend(expected(runner, "refused").into_iter().map(|name| (runner, name)));
        let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(runner);
        for file in std::fs::read_dir(dir).unwrap().map(Result::unwrap) {
            let name = file.file_name().into_string().unwrap();
            if file.file_type().unwrap().is_file() && name != "MANIFEST.json" {
                let made = post(proxy.address, &format!("/v1/ingest/{runner}"), &[], &recording(runner, &name));
                let status = made.status;
                if status == 422 {
                    refused.insert((runner, name));
                } else {
                    assert_eq!(status, 201, "{name}: {}", made.text());
                }
            }
        }
    }
    assert_eq!(refused, unreadable, "`expected.refused` in MANIFEST.json");
    // The proxy is running: readers do not wait for it.
    let database = rusqlite::Connection::open_with_flags(&path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let queries = queries();
    assert!(queries.len() >= 3);
    for query in queries {
        let mut statement = database.prepare(&query).unwrap_or_else(|error| panic!("{error}: {query}"));
        let columns = statement.column_count();
        let mut rows = statement.query([]).unwrap();
        let (mut count, mut values) = (0, 0);
        while let Some(row) = rows.next().unwrap_or_else(|error| panic!("{error}: {query}")) {
            count += 1;
            values += (0..columns).filter(|at| row.get_ref(*at).unwrap() != rusqlite::types::ValueRef::Null).count();
        }
        assert!(count > 0 && values > count, "too few values in the result of {query}");
    }
    for view in ["runs", "turns", "events", "tool_calls", "file_changes", "usage", "texts", "approvals", "errors"] {
        let sql = format!("SELECT count(*) FROM {view}");
        let count: i64 = database.query_row(&sql, [], |row| row.get(0)).unwrap();
        assert!(count > 0, "{view} is empty");
    }
    // Runners have the same names as in the API.
    for view in ["runs", "events"] {
        let mut names = database.prepare(&format!("SELECT DISTINCT runner FROM {view} ORDER BY runner")).unwrap();
        let names: Vec<String> = names.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        // Frames keep the runner of their run.
        let runners = RUNNERS.iter().filter(|runner| !runner.is_of_frames);
        let mut known: Vec<&str> = runners.map(|runner| runner.name).collect();
        known.sort_unstable();
        assert_eq!(names, known, "{view}");
    }
    // Each model call of a main thread is a turn, and has the usage that its runner reported for it.
    let number = |sql: &str| -> i64 { database.query_row(sql, [], |row| row.get(0)).unwrap() };
    assert_eq!(
        number("SELECT count(*) FROM turns WHERE parent_tool_id IS NULL"),
        number("SELECT sum(turns) FROM runs")
    );
    assert_eq!(
        number("SELECT sum(output_tokens) FROM turns"),
        number(
            "SELECT sum(output_tokens) FROM usage u WHERE scope = 'turn' AND EXISTS (SELECT 1 FROM turns t WHERE t.run_id = u.run_id \
             AND t.parent_tool_id IS (SELECT parent_tool_id FROM events e WHERE e.stream_id = u.run_id AND e.seq = u.seq) AND t.seq < u.seq)"
        )
    );
    assert!(number("SELECT count(*) FROM turns WHERE ended AND duration_ms > 0 AND model IS NOT NULL") > 100);
    // Runs have what their status says about them.
    for column in ["title", "model", "directory", "branch"] {
        assert!(number(&format!("SELECT count({column}) FROM runs")) > 20, "{column}");
    }
    // A sum over the view equals the sum over the statuses.
    let calls: (i64, i64) = database
        .query_row(
            "SELECT (SELECT count(*) FROM tool_calls t JOIN runs r USING (run_id) WHERE outcome IN ('ended', 'failed', 'running') \
             AND EXISTS (SELECT 1 FROM frames f WHERE f.stream = r.stream AND f.type = 'tool_started' \
             AND f.body ->> '$.tool_started.call.tool.call_id' = t.call_id)), (SELECT sum(tool_calls) FROM runs)",
            [],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .unwrap();
    assert_eq!(calls.0, calls.1);
    assert!(calls.0 > 10);
}
