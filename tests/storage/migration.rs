//! Databases of older versions: a proxy that starts on them serves the same content as the version that wrote them.

use crate::client::{Event, get, post};
use crate::proxy::{Proxy, another};
use crate::restart::start;
use crate::restarts::{events_in_every_contract, runs, without_counters};
use crate::scratch::{Scratch, log, number};
use framegate::log::sqlite::LAYOUT;
use rusqlite::{Connection, params_from_iter, types::Value as Sql};
use serde_json::Value;
use std::path::Path;

/// The SQL that creates each layout from the previous one.
const STEPS: [&str; 5] = [
    include_str!("../../src/log/sqlite/v1.sql"),
    include_str!("../../src/log/sqlite/v2.sql"),
    include_str!("../../src/log/sqlite/v3.sql"),
    include_str!("../../src/log/sqlite/v4.sql"),
    include_str!("../../src/log/sqlite/v5.sql"),
];

/// The recordings in the databases: each runner, a long text that several frames share, a broken run.
const RECORDINGS: [(&str, &str); 6] = [
    ("claude-code", "long_text_200k.ndjson"),
    ("claude-code", "parallel_tools.partial.ndjson"),
    ("claude-code", "multi_turn_stdin.ndjson"),
    ("codex", "exec-text-plain.ndjson"),
    ("opencode", "event-text.sse"),
    ("open-responses", "fastresponses__text.sse"),
];

/// Creates a database of an older layout with the rows of a current one, as far as the older layout has columns for them.
fn downgrade(layout: usize, new: &Path, old: &Path) {
    let database = Connection::open(old).unwrap();
    database.execute_batch("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;").unwrap();
    database.pragma_update(None, "application_id", 0x6672_6D67).unwrap();
    for step in &STEPS[..layout] {
        database.execute_batch(step).unwrap();
    }
    database.pragma_update(None, "user_version", layout as i64).unwrap();
    database.execute("ATTACH ? AS new", [new.to_str().unwrap()]).unwrap();
    let names = |sql: &str, of: &[Sql]| -> Vec<String> {
        let mut statement = database.prepare(sql).unwrap();
        statement.query_map(params_from_iter(of), |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    let tables = names("SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'", &[]);
    assert!(tables.len() >= 5, "{tables:?}");
    for table in tables {
        let columns = names("SELECT name FROM pragma_table_info(?, 'main')", &[table.clone().into()]).join(", ");
        database.execute_batch(&format!("DELETE FROM main.{table}")).unwrap();
        let copy = format!("INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table}");
        database.execute_batch(&copy).unwrap();
    }
    let count = |sql: &str| number(&database, sql);
    assert_eq!(count("SELECT count(*) FROM main.frames"), count("SELECT count(*) FROM new.frames"));
    assert!(count("SELECT count(*) FROM main.frames WHERE source IS NOT NULL") > 0, "no text is shared between frames");
}

/// The events of the feed after a cursor, up to `most`.
fn feed(proxy: &Proxy, after: &str, most: usize) -> Vec<Event> {
    let mut answer = get(proxy.address, &format!("/v1/events?contract=frames.v2{after}"), &[]);
    (0..most).map_while(|_| answer.event()).collect()
}

/// The streams and numbers of the frames in the feed, in order.
fn positions(events: &[Event]) -> Vec<(Value, Value)> {
    events.iter().map(Event::json).map(|event| (event["stream_id"].clone(), event["seq"].clone())).collect()
}

#[test]
fn a_migrated_log_serves_the_same_runs_events_and_cursors() {
    let made = Scratch::new("migration-new");
    let proxy = start(&made, &[]);
    for (runner, name) in RECORDINGS {
        let answer = post(proxy.address, &format!("/v1/ingest/{runner}"), &[], &another(runner, name));
        assert_eq!(answer.status, 201, "{name}");
    }
    let before: Vec<Value> = runs(&proxy).into_iter().map(without_counters).collect();
    assert!(before.len() >= RECORDINGS.len());
    let ids: Vec<&str> = before.iter().map(|run| run["run_id"].as_str().unwrap()).collect();
    let events: Vec<_> = ids.iter().map(|id| events_in_every_contract(&proxy, id)).collect();
    let all = number(&Connection::open(made.path()).unwrap(), "SELECT count(*) FROM frames") as usize;
    let feed_before = feed(&proxy, "", all);
    assert_eq!(feed_before.len(), all);
    drop(proxy);

    for layout in [3, 4] {
        let old = Scratch::new(&format!("migration-{layout}"));
        downgrade(layout, &made.path(), &old.path());
        let proxy = start(&old, &[]);
        let after: Vec<Value> = runs(&proxy).into_iter().map(without_counters).collect();
        assert_eq!(after, before, "layout {layout}");
        for (id, events) in ids.iter().zip(&events) {
            assert!(events_in_every_contract(&proxy, id) == *events, "layout {layout}: {id}");
            // Each contract's cursors are still valid.
            for (contract, text) in events {
                let cursors: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("id: ")).collect();
                let Some(cursor) = cursors.get(cursors.len() / 2) else { continue };
                let path = format!("/v1/runs/{id}/events?contract={contract}");
                let headers = [("accept", "text/event-stream"), ("last-event-id", cursor)];
                let rest = get(proxy.address, &path, &headers).text();
                let rest: Vec<&str> = rest.lines().filter_map(|line| line.strip_prefix("id: ")).collect();
                assert_eq!(rest, cursors[cursors.len() / 2 + 1..], "layout {layout}: {contract} of {id}");
            }
        }
        // The order of all frames is unchanged.
        let again = feed(&proxy, "", all);
        assert_eq!(positions(&again), positions(&feed_before), "layout {layout}");
        // Layout 3 has no key for feed cursors: they survive from layout 4 on.
        let middle = all / 2;
        let cursor = if layout >= 4 { &feed_before[middle].id } else { &again[middle].id };
        let rest = feed(&proxy, &format!("&after={}", cursor.as_ref().unwrap()), all - middle - 1);
        assert_eq!(positions(&rest), positions(&feed_before[middle + 1..]), "layout {layout}");
        // New frames follow the existing ones.
        let answer = post(proxy.address, "/v1/ingest/codex", &[], &another("codex", "exec-text-plain.ndjson"));
        assert_eq!(answer.status, 201);
        drop(proxy);
        let database = Connection::open(old.path()).unwrap();
        let version: i64 = database.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
        assert_eq!(version, LAYOUT);
        let without = number(&database, "SELECT count(*) FROM frames WHERE checksum IS NULL") as usize;
        assert_eq!(without, if layout >= 4 { 0 } else { all });
        for run in &before {
            let id = run["run_id"].as_str().unwrap();
            let sql = "SELECT runner FROM runs WHERE run_id = ?";
            let runner: String = database.query_row(sql, [id], |row| row.get(0)).unwrap();
            assert_eq!(run["runner"], *runner);
        }
        let (is_well, said) = log(&old, &["verify"]);
        assert!(is_well && said.contains(" 0 findings"), "layout {layout}: {said}");
    }
}
