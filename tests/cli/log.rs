//! `framegate log` on databases that a proxy wrote.

use crate::client::{Upload, get, post};
use crate::program::{Ran, Scratch, bytes, path, run};
use crate::proxy::Proxy;

/// A database with the runs of three recordings, written by a proxy that has been killed.
fn database(scratch: &Scratch) -> String {
    let db = format!("{}.db", scratch.missing());
    let proxy = Proxy::with(&[("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", &db)]);
    for name in ["multi_turn_stdin.ndjson", "parallel_tools.partial.ndjson"] {
        assert_eq!(post(proxy.address, "/v1/ingest/claude-code", &[], &bytes(name)).status, 201);
    }
    let codex = crate::proxy::recording("codex", "exec-text-plain.ndjson");
    assert_eq!(post(proxy.address, "/v1/ingest/codex", &[], &codex).status, 201);
    db
}

fn log(db: &str, args: &[&str]) -> Ran {
    run(&[&["log", "--db", db], args].concat(), "")
}

fn ids(db: &str) -> Vec<String> {
    let listed = log(db, &["list", "--json"]).exits(0);
    listed.events().iter().map(|run| run["run_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn runs_are_listed_and_shown() {
    let scratch = Scratch::new("log-list");
    let db = database(&scratch);
    let ids = ids(&db);
    assert_eq!(ids.len(), 5, "three turns, and two runs");
    let listed = log(&db, &["list", "--limit", "2"]).exits(0).prints(&["RUN", "codex", "completed", &ids[0], &ids[1]]);
    assert_eq!(listed.out.lines().count(), 3);
    listed.says(&["2 of 5 runs are shown, newest first; --limit 5 shows all of them"]);
    log(&db, &["list", "--json", "--limit", "1"]).exits(0).says(&["1 of 5 runs are shown"]);
    assert_eq!(log(&db, &["list", "--limit", "5"]).exits(0).err, "");
    assert_eq!(log(&db, &["list"]).exits(0).err, "");
    // A prefix identifies a run if no other id has the same prefix.
    let is_only = |front: &str| ids.iter().filter(|id| id.starts_with(front)).count() == 1;
    for id in &ids {
        let shortest = (4..=id.len()).map(|length| &id[..length]).find(|front| is_only(front)).unwrap();
        for front in [shortest, &shortest.to_uppercase(), &shortest.replace('-', ""), &id.replace('-', "")] {
            assert_eq!(log(&db, &["show", front]).exits(0).json()["run_id"], **id, "{front}");
        }
        let exported = log(&db, &["export", shortest, "--to", "frames.v2"]).exits(0);
        assert_eq!(exported.out, log(&db, &["export", id, "--to", "frames.v2"]).exits(0).out);
    }
    let shared = &ids[0][..4];
    let alike = ids.iter().filter(|id| id.starts_with(shared)).count();
    assert!(alike > 1, "runs created at the same time must share a prefix");
    let several = log(&db, &["show", shared]).exits(2);
    several.says(&[&format!("is the beginning of {alike} ids: ")]);
    log(&db, &["show", &ids[0][..3]]).exits(2).says(&["use an id, or at least its first 4 digits"]);
    let shown = log(&db, &["show", &ids[4]]).exits(0).json();
    assert_eq!(shown["run_id"], ids[4]);
    assert_eq!(shown["state"], "completed");
    log(&db, &["show", "nonsense"]).exits(2).says(&["invalid run id \"nonsense\"", "framegate log list"]);
    log(&db, &["show", "00000000-0000-0000-0000-000000000000"]).exits(2).says(&["there is no run"]);
    log("no-such.db", &["list"]).exits(2).says(&["there is no frame log at no-such.db", "--db"]);
}

#[test]
fn an_export_equals_what_the_proxy_serves_even_while_it_runs() {
    let scratch = Scratch::new("log-export");
    let db = database(&scratch);
    let proxy = Proxy::with(&[("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", &db)]);
    let ids = ids(&db);
    for contract in framegate_translators::contracts::names() {
        for id in &ids {
            let path = format!("/v1/runs/{id}/events?contract={contract}");
            // `raw` as NDJSON wraps each record; the bytes themselves have a different media type.
            let accept = if contract == framegate_translators::contracts::RECORDS.name {
                "application/octet-stream"
            } else {
                "application/x-ndjson"
            };
            let served = get(proxy.address, &path, &[("accept", accept)]).text();
            let exported = log(&db, &["export", id, "--to", contract]).exits(0);
            assert!(exported.out == served, "{contract} {id}");
            assert!(!served.is_empty());
        }
    }
    log(&db, &["export", &ids[0], "--to", "frame.v2"]).exits(2).says(&["did you mean \"frames.v2\"?", "stored"]);
    // Every record of the uploads is in some stream.
    let raw = log(&db, &["export", "--all", "--to", "raw"]).exits(0).out;
    let records = |text: &[u8]| text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
    let uploaded = records(&bytes("multi_turn_stdin.ndjson"))
        + records(&bytes("parallel_tools.partial.ndjson"))
        + records(&crate::proxy::recording("codex", "exec-text-plain.ndjson"));
    assert_eq!(records(raw.as_bytes()), uploaded);
}

#[test]
fn a_stored_export_can_be_imported_elsewhere_and_repeatedly() {
    let scratch = Scratch::new("log-import");
    let db = database(&scratch);
    let stored = log(&db, &["export", "--all", "--to", "stored"]).exits(0).out;
    let frames = stored.lines().count();
    let file = scratch.file("stored.ndjson", &stored);
    let other = scratch.missing() + "-other.db";
    log(&other, &["import", &file]).exits(0).prints(&[&format!("{frames} frames imported, 0 were already in the log")]);
    assert_eq!(log(&other, &["export", "--all", "--to", "stored"]).exits(0).out, stored);
    assert_eq!(log(&other, &["list", "--json"]).exits(0).out, log(&db, &["list", "--json"]).exits(0).out);
    log(&other, &["verify"]).exits(0).prints(&["0 findings"]);
    log(&other, &["import", &file]).exits(0).prints(&[&format!("0 frames imported, {frames} were already in the log")]);

    let changed = scratch.file("changed.ndjson", stored.replacen("\"input\":\"", "\"input\":\"x", 1));
    log(&other, &["import", &changed]).exits(2).says(&["line ", "differs from the one in the log"]);
    let gap = scratch.file("gap.ndjson", stored.lines().skip(1).collect::<Vec<_>>().join("\n"));
    let empty = scratch.missing() + "-empty.db";
    log(&empty, &["import", &gap]).exits(2).says(&["line 1", "does not follow: the log has 0 frames"]);
    let nonsense = scratch.file("nonsense.ndjson", "\n{\"v\":9}\n");
    log(&empty, &["import", &nonsense]).exits(2).says(&["line 2", "later version (form 9"]);
}

#[test]
fn writing_commands_are_refused_at_once_while_a_proxy_writes() {
    let scratch = Scratch::new("log-locked");
    let db = database(&scratch);
    let proxy = Proxy::with(&[("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", &db)]);
    let file = scratch.file("none.ndjson", "");
    log(&db, &["prune", "--keep", "0"]).exits(2).says(&["in use by another framegate", &db]);
    log(&db, &["import", &file]).exits(2).says(&["in use by another framegate"]);
    // There is no finding in the middle of an upload either.
    let mut upload = Upload::start(proxy.address, "/v1/ingest/claude-code", &[("accept", "application/x-ndjson")]);
    upload.send(bytes("text_plain.partial.ndjson").split_inclusive(|byte| *byte == b'\n').next().unwrap());
    assert!(upload.answer().line().is_some());
    log(&db, &["verify"]).exits(0).prints(&["0 findings"]);
    let copy = scratch.missing() + "-copy.db";
    log(&db, &["backup", &copy]).exits(0);
    log(&db, &["backup", &copy]).exits(2).says(&["already exists"]);
    drop(proxy);
    log(&copy, &["verify"]).exits(0).prints(&["0 findings"]);
    let stored = |db: &str| log(db, &["export", "--all", "--to", "stored"]).exits(0).out;
    assert_eq!(stored(&copy), stored(&db));
}

#[test]
fn every_kind_of_damage_to_a_database_is_found() {
    let scratch = Scratch::new("log-verify");
    let db = database(&scratch);
    log(&db, &["verify"]).exits(0).prints(&["streams", "0 findings"]);
    for (damage, expected) in [
        ("DELETE FROM frames WHERE stream = 1 AND seq = 3", "frame 4 follows after 3 frames"),
        ("UPDATE frames SET body = replace(body, 'e', 'a') WHERE stream = 1 AND seq = 2", "the checksum of frame 2"),
        ("UPDATE frames SET time_ms = time_ms + 1 WHERE stream = 1 AND seq = 2", "the checksum of frame 2"),
        (
            "UPDATE frames SET body = '{\"tool_begun\":{}}', checksum = NULL WHERE stream = 1 AND seq = 2",
            "unknown variant `tool_begun`",
        ),
        (
            "UPDATE frames SET time_ms = 5, checksum = NULL WHERE stream = 1 AND seq = 2",
            "time runs backwards at frame 2",
        ),
        ("UPDATE streams SET frames = frames + 1 WHERE key = 1", "but its row says"),
        (
            "UPDATE streams SET ended = 0 WHERE key = 1",
            "according to its frames it has ended, but according to its row it is open",
        ),
        ("UPDATE streams SET status = '{\"frames\":1}' WHERE key = 1", "but its status says 1"),
        (
            "INSERT INTO artifacts (hash, kind, media_type, bytes, bytes_total, created_ms, stream, content) \
             VALUES ('sha256:00', 'image', 'image/png', 1, 1, 0, '{}', x'00'); \
             INSERT INTO artifact_references VALUES ('session', 'x', last_insert_rowid())",
            "artifact sha256:00: its content does not match its hash",
        ),
        ("INSERT INTO frames (stream, seq, time_ms, type, body) VALUES (99, 0, 0, 'x', '{}')", "belong to no stream"),
    ] {
        // The proxy was killed, so a part of the database is in the write-ahead log.
        let copy = scratch.missing() + "-damaged.db";
        let _ = std::fs::remove_file(&copy);
        log(&db, &["backup", &copy]).exits(0);
        let damaged = rusqlite::Connection::open(&copy).unwrap();
        damaged.pragma_update(None, "foreign_keys", "OFF").unwrap();
        damaged.execute_batch(damage).unwrap();
        drop(damaged);
        log(&copy, &["verify"]).exits(1).prints(&[expected, "1 findings"]);
    }
}

#[test]
fn runs_are_pruned_by_count_and_by_age() {
    let scratch = Scratch::new("log-prune");
    let db = database(&scratch);
    let before = ids(&db);
    log(&db, &["prune", "--older-than", "1h"])
        .exits(0)
        .prints(&["dropped 0 runs, tasks and threads, 0 frames in total"]);
    log(&db, &["prune", "--keep", "2"]).exits(0).prints(&["runs, tasks and threads, "]);
    assert_eq!(ids(&db), before[..2]);
    log(&db, &["verify"]).exits(0).prints(&["0 findings"]);
    log(&db, &["prune", "--older-than", "0m"]).exits(0);
    assert!(ids(&db).len() <= 2);
    log(&db, &["prune"]).exits(2).says(&["--older-than"]);
    for age in ["", "5", "h", "-1h", "1.5h", "5 days", "99999999999999999999d", "é"] {
        log(&db, &["prune", &format!("--older-than={age}")]).exits(2).says(&["invalid age"]);
    }
    // A proxy can continue with the remaining database.
    let proxy = Proxy::with(&[("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", &db)]);
    let text = std::fs::read(path("text_plain.partial.ndjson")).unwrap();
    assert_eq!(post(proxy.address, "/v1/ingest/claude-code", &[], &text).status, 201);
}
