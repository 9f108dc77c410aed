//! `framegate import` of sessions that OpenCode keeps in its database.

use crate::import::{Machine, wait_until};
use crate::proxy::Proxy;
use framegate::clock::Clock;
use rusqlite::{Connection, params};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// The tables as the first release with a database made them.
const TABLES: &str = "
    PRAGMA journal_mode = wal;
    CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL, directory text NOT NULL,
        title text NOT NULL, version text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL);
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL,
        data text NOT NULL);
    CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL,
        time_updated integer NOT NULL, data text NOT NULL);
";

/// OpenCode's database.
struct Database {
    path: PathBuf,
    connection: Connection,
}

impl Database {
    fn new(path: &Path) -> Self {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let connection = Connection::open(path).unwrap();
        connection.execute_batch(TABLES).unwrap();
        Self { path: path.to_owned(), connection }
    }

    /// The database where OpenCode has it.
    fn of(machine: &Machine) -> Self {
        Self::new(&machine.path("home/.local/share/opencode/opencode.db"))
    }

    fn path(&self) -> &str {
        self.path.to_str().unwrap()
    }

    /// Stores an exported session, without the messages after the first `messages`.
    fn store(&self, exported: &Value, parent: Option<&str>, messages: usize) {
        let info = &exported["info"];
        let text = |field: &str| info[field].as_str().unwrap().to_owned();
        let created = info["time"]["created"].as_i64();
        let updated = match messages.checked_sub(1) {
            Some(last) => exported["messages"][last]["info"]["time"]["created"].as_i64(),
            None => created,
        };
        let session = "INSERT OR REPLACE INTO session VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        let (id, project, slug, directory) = (text("id"), text("projectID"), text("slug"), text("directory"));
        let values = params![id, project, parent, slug, directory, text("title"), text("version"), created, updated];
        self.connection.execute(session, values).unwrap();
        for message in exported["messages"].as_array().unwrap().iter().take(messages) {
            let (info, time) = (&message["info"], message["info"]["time"]["created"].as_i64());
            let values = params![info["id"].as_str(), id, time, time, without(info, &["id", "sessionID"])];
            self.connection.execute("INSERT OR REPLACE INTO message VALUES (?1, ?2, ?3, ?4, ?5)", values).unwrap();
            for part in message["parts"].as_array().unwrap() {
                let data = without(part, &["id", "sessionID", "messageID"]);
                let values = params![part["id"].as_str(), info["id"].as_str(), id, time, time, data];
                self.connection.execute("INSERT OR REPLACE INTO part VALUES (?1, ?2, ?3, ?4, ?5, ?6)", values).unwrap();
            }
        }
    }
}

fn without(value: &Value, fields: &[&str]) -> String {
    let mut value = value.clone();
    fields.iter().for_each(|field| drop(value.as_object_mut().unwrap().remove(*field)));
    value.to_string()
}

/// The session of the subagent that the recorded one started, with the texts, the call and the usage that the recorded feed has of it. `nth` is the
/// session that starts it.
fn subagent(nth: usize) -> Value {
    let id = format!("ses_{nth:06}_child");
    let (asked, first, second) = (1_795_293_067_700_i64, 1_795_293_068_000_i64, 1_795_293_070_000_i64);
    let finish = |id: &str, reason: &str, input: u64, output: u64| {
        json!({"id": format!("prt_{nth}{id}"), "type": "step-finish", "reason": reason, "cost": 0.25,
            "tokens": {"total": input + output, "input": input, "output": output, "reasoning": 0, "cache": {"read": 0, "write": 0}}})
    };
    let start = |id: &str| json!({"id": format!("prt_{nth}{id}"), "type": "step-start"});
    let info = |id: &str, at: i64, reason: &str| {
        json!({"id": format!("msg_{nth}{id}"), "role": "assistant", "finish": reason, "time": {"created": at, "completed": at + 500},
            "modelID": "big", "providerID": "fake"})
    };
    let glob = json!({"id": format!("prt_{nth}c2"), "type": "tool", "tool": "glob", "callID": "call_c1", "state": {"status": "completed",
        "input": {"pattern": "*.md"}, "output": "README.md", "title": "", "metadata": {}, "time": {"start": first, "end": first + 100}}});
    let text = json!({"id": format!("prt_{nth}c5"), "type": "text", "text": "The child found README.md.",
        "time": {"start": second, "end": second + 100}});
    json!({
        "info": {"id": id, "slug": "child", "projectID": "p", "directory": "/workspace", "title": "Find markdown (@general subagent)",
            "version": "1.18.33", "time": {"created": asked, "updated": second + 500}},
        "messages": [
            {"info": {"id": format!("msg_{nth}c0"), "role": "user", "time": {"created": asked}},
                "parts": [{"id": format!("prt_{nth}c0"), "type": "text", "text": "CHILD-ONE: find markdown files"}]},
            {"info": info("c1", first, "tool-calls"), "parts": [start("c1"), glob, finish("c3", "tool-calls", 150, 15)]},
            {"info": info("c2", second, "stop"), "parts": [start("c4"), text, finish("c6", "stop", 170, 9)]},
        ],
    })
}

/// An exported session of one turn whose task call names the session of `subagent`.
fn delegating(nth: usize) -> Value {
    let mut session: Value =
        serde_json::from_str(&recorded().replace("ses_e0031c80dffeWGlRbFsEagqQmE", &format!("ses_{nth:06}_child")))
            .unwrap();
    session["info"]["id"] = json!(format!("ses_{nth:06}"));
    session
}

fn id_of(session: &Value) -> &str {
    session["info"]["id"].as_str().unwrap()
}

fn recorded() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/opencode");
    fs::read_to_string(folder.join("export-subagent.json")).unwrap()
}

/// A session of two turns, exported: the recorded one, and the same prompt and answer again, an hour later. `nth` makes its ids its own.
fn exported(nth: usize) -> Value {
    let recorded = recorded().replace("ses_e00320", &format!("ses_{nth:06}"));
    let renamed = |turn: &str| {
        recorded.replace("\"msg_", &format!("\"msg_{nth}{turn}")).replace("\"prt_", &format!("\"prt_{nth}{turn}"))
    };
    let (mut session, mut second): (Value, Value) =
        (serde_json::from_str(&renamed("a")).unwrap(), serde_json::from_str(&renamed("b")).unwrap());
    move_times(&mut second["messages"], 3_600_000);
    session["info"]["time"]["updated"] = json!(session["info"]["time"]["updated"].as_i64().unwrap() + 3_600_000);
    let later = second["messages"].as_array().unwrap().clone();
    session["messages"].as_array_mut().unwrap().extend(later);
    session
}

/// Adds to each time of Unix milliseconds in the value.
fn move_times(value: &mut Value, ms: i64) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| move_times(item, ms)),
        Value::Object(fields) => fields.iter_mut().for_each(|(_, field)| move_times(field, ms)),
        Value::Number(number) => {
            if let Some(time) = number.as_i64().filter(|time| *time > 1_000_000_000_000) {
                *value = json!(time + ms);
            }
        }
        _ => {}
    }
}

fn messages(session: &Value) -> usize {
    session["messages"].as_array().unwrap().len()
}

#[test]
fn a_database_has_the_sessions_that_the_runner_exports() {
    let machine = Machine::new("import-database");
    let database = Database::of(&machine);
    fs::create_dir_all(machine.path("exported")).unwrap();
    for nth in 0..3 {
        let session = exported(nth);
        database.store(&session, None, messages(&session));
        fs::write(machine.path("exported").join(format!("{nth}.json")), session.to_string()).unwrap();
    }
    // The session of a subagent is a part of another session, and one without messages has no run.
    let subagent = exported(8);
    database.store(&subagent, Some("ses_00000000000000000000000000"), messages(&subagent));
    database.store(&exported(9), None, 0);
    let listed = machine.import(&["--dry-run"]).exits(0).out;
    assert_eq!(listed.lines().count(), 3, "{listed}");
    assert!(listed.lines().all(|line| line.starts_with("opencode\t-\tsession ses_00000")), "{listed}");
    assert_eq!(machine.counted("stored.db", &[]), (6, 0));
    let exports = machine.path("exported");
    assert_eq!(machine.counted("exported.db", &[exports.to_str().unwrap()]), (6, 0));
    let runs = machine.runs("stored.db");
    assert_eq!(runs, machine.runs("exported.db"));
    assert!(runs.iter().all(|run| run["workspace"]["directory"] == "/workspace"), "{runs:#?}");
    // Again, by each way to name it, and with the runner's own export.
    let copy = machine.path("copy.sqlite");
    database.connection.execute("VACUUM INTO ?1", [copy.to_str().unwrap()]).unwrap();
    let folder = machine.path("home");
    for named in
        ["opencode", database.path(), copy.to_str().unwrap(), folder.to_str().unwrap(), exports.to_str().unwrap()]
    {
        assert_eq!(machine.counted("stored.db", &[named]), (0, 6), "{named}");
    }
    assert_eq!(machine.counted("elsewhere.db", &["--from", "opencode", database.path()]), (6, 0));
    assert_eq!(machine.runs("elsewhere.db"), runs);
}

#[test]
fn a_session_that_has_grown_gets_its_further_runs() {
    let machine = Machine::new("import-database-grown");
    let database = Database::of(&machine);
    let session = exported(0);
    for stored in 0..=messages(&session) {
        database.store(&session, None, stored);
        machine.import(&["--db", "grown.db"]);
    }
    machine.counted("whole.db", &[]);
    assert_eq!(machine.runs("grown.db"), machine.runs("whole.db"));
    assert_eq!(machine.runs("whole.db").len(), 2);
}

#[test]
fn a_session_that_is_watched_appears_when_its_agent_has_answered() {
    let machine = Machine::new("import-database-watched");
    let database = Database::of(&machine);
    let mut session = exported(0);
    let now = i64::try_from(Clock::System.now_ms()).unwrap();
    let last = session["info"]["time"]["updated"].as_i64().unwrap();
    move_times(&mut session, now - last);
    let proxy = Proxy::start();
    let url = format!("http://{}", proxy.address);
    let states = || -> Vec<String> {
        let listed = crate::client::get(proxy.address, "/v1/runs?limit=1000", &[]).json();
        listed["data"].as_array().unwrap().iter().map(|run| run["state"].as_str().unwrap().to_owned()).collect()
    };
    // The first turn is complete; of the second one, the answer waits for a tool.
    let half = messages(&session) / 2;
    database.store(&session, None, half);
    let watching = machine.watch(&["--url", &url, "--watch", "opencode"]);
    wait_until("the first turn is not there", || states() == ["completed"]);
    database.store(&session, None, half + 2);
    // Longer than the time after which new sessions are searched for.
    thread::sleep(Duration::from_secs(7));
    assert_eq!(states(), ["completed"]);
    database.store(&session, None, messages(&session));
    wait_until("the second turn is not there", || states() == ["completed", "completed"]);
    watching.stop();
}

#[test]
fn a_copy_is_read_where_nothing_can_be_written() {
    let machine = Machine::new("import-database-copy");
    let database = Database::of(&machine);
    let session = exported(0);
    database.store(&session, None, messages(&session));
    database.connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let copy = machine.path("a copy #1?.db");
    let copy = copy.to_str().unwrap();
    fs::copy(database.path(), copy).unwrap();
    // SQLite cannot make the file through which readers and writers coordinate.
    std::os::unix::fs::symlink("nowhere", format!("{copy}-shm")).unwrap();
    assert_eq!(machine.counted("a.db", &[copy]), (2, 0));
    // The changes in a log beside it could not be read.
    fs::write(format!("{copy}-wal"), "changes").unwrap();
    machine.import(&["--db", "b.db", copy]).exits(2).says(&["a copy #1?.db", "unable to open database file"]);
}

#[test]
fn a_session_may_be_as_long_as_a_record() {
    let machine = Machine::new("import-database-limit");
    let database = Database::of(&machine);
    let session = exported(0);
    database.store(&session, None, messages(&session));
    let grown = "UPDATE part SET data = json_set(data, '$.text', printf('%.*c', 100000, 'x')) WHERE message_id = ?1";
    database.connection.execute(grown, [session["messages"][0]["info"]["id"].as_str()]).unwrap();
    let import = |database: &str, limit: u64| {
        let limit = ("FRAMEGATE__INGEST__MAX_RECORD_BYTES", &*limit.to_string());
        machine.import_with(&[limit], &["--db", database, "--format", "json"])
    };
    let bytes = import("any.db", 1 << 20).exits(0).json()["total"]["bytes"].as_u64().unwrap();
    assert!(bytes > 100_000, "{bytes}");
    assert_eq!(import("all.db", bytes).exits(0).json()["total"]["new_runs"], 2);
    import("none.db", bytes - 1).exits(2).says(&[&format!("larger than ingest.max_record_bytes ({})", bytes - 1)]);
}

#[test]
fn what_a_database_does_not_have_is_named() {
    let machine = Machine::new("import-database-wrong");
    let database = Database::of(&machine);
    let (good, bad, large) = (exported(0), exported(1), exported(2));
    for session in [&good, &bad, &large] {
        database.store(session, None, messages(session));
    }
    let broken = "UPDATE message SET data = '{\"role\":' WHERE id = ?1";
    database.connection.execute(broken, [bad["messages"][0]["info"]["id"].as_str()]).unwrap();
    let grown = "UPDATE part SET data = json_set(data, '$.text', printf('%.*c', 40000, 'x')) WHERE message_id = ?1";
    database.connection.execute(grown, [large["messages"][0]["info"]["id"].as_str()]).unwrap();
    let other = machine.path("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE session (id text)").unwrap();
    let id = |session: &Value| session["info"]["id"].as_str().unwrap().to_owned();
    let limit = ("FRAMEGATE__INGEST__MAX_RECORD_BYTES", "40000");
    machine
        .import_with(&[limit], &["--db", "a.db", "opencode", other.to_str().unwrap()])
        .exits(2)
        .says(&[
            &id(&bad),
            "malformed JSON",
            &id(&large),
            "ingest.max_record_bytes (40000)",
            "other.db",
            "a runner keeps sessions",
        ])
        .prints(&["opencode: 2 runs imported from 1 files", "3 files could not be read"]);
    machine
        .import(&["--db", "b.db", "--from", "codex", database.path()])
        .exits(2)
        .says(&["not one in which codex keeps sessions"]);
}

#[test]
fn a_session_with_a_damaged_row_keeps_no_other_session_out() {
    let machine = Machine::new("import-database-damaged");
    let database = Database::of(&machine);
    for nth in 0..2 {
        database.store(&exported(nth), None, messages(&exported(nth)));
    }
    let damaged = exported(0)["info"]["id"].as_str().unwrap().to_owned();
    database.connection.execute("UPDATE session SET time_updated = 'soon' WHERE id = ?1", [&damaged]).unwrap();
    machine
        .import(&["--db", "a.db"])
        .exits(2)
        .says(&["opencode.db", &format!("session {damaged}: Invalid column type Text")])
        .prints(&["opencode: 2 runs imported from 1 files", "1 files could not be read"]);
}

#[test]
fn a_run_has_what_its_subagents_used() {
    let machine = Machine::new("import-database-subagent");
    let database = Database::of(&machine);
    let (parent, child) = (delegating(0), subagent(0));
    let usage = |log: &str| {
        let runs = machine.runs(log);
        assert_eq!(runs.len(), 1, "{runs:#?}");
        runs[0]["usage"].clone()
    };
    // A log of an earlier import, which left subagents out.
    database.store(&parent, None, messages(&parent));
    assert_eq!(machine.counted("a.db", &[]), (1, 0));
    assert_eq!((&usage("a.db")["input_tokens"], &usage("a.db")["output_tokens"]), (&json!(680), &json!(40)));
    database.store(&child, Some(id_of(&parent)), messages(&child));
    let replaced = machine.import(&["--db", "a.db", "--format", "json"]).exits(0).json();
    assert_eq!(replaced["total"]["replaced_runs"], 1, "{replaced:#}");
    // The sums of the session and of its child in the facts of the recorded feed.
    let whole = usage("a.db");
    assert_eq!((&whole["input_tokens"], &whole["output_tokens"]), (&json!(680 + 320), &json!(40 + 24)));
    assert_eq!(whole["cost_usd"], json!(0.5));
    let run = machine.runs("a.db").remove(0);
    assert_eq!((&run["tool_calls"], &run["final_text"]), (&json!(2), &json!("The subagent found README.md.")));
    // Again, and into a new log; and the runner's own export, which has less, changes nothing.
    let export = machine.path("export.json");
    fs::write(&export, parent.to_string()).unwrap();
    assert_eq!(machine.counted("a.db", &[]), (0, 1));
    assert_eq!(machine.counted("a.db", &[export.to_str().unwrap()]), (0, 1));
    assert_eq!(machine.counted("b.db", &[]), (1, 0));
    assert_eq!(usage("a.db"), whole);
    assert_eq!(machine.runs("b.db"), machine.runs("a.db"));
}

#[test]
fn a_session_is_read_again_when_its_subagent_has_written() {
    let machine = Machine::new("import-database-subagent-later");
    let database = Database::of(&machine);
    let (parent, child) = (delegating(0), subagent(0));
    let proxy = Proxy::start();
    let url = format!("http://{}", proxy.address);
    let tokens = || -> Vec<Value> {
        let listed = crate::client::get(proxy.address, "/v1/runs?limit=1000", &[]).json();
        listed["data"].as_array().unwrap().iter().map(|run| run["usage"]["input_tokens"].clone()).collect()
    };
    database.store(&parent, None, messages(&parent));
    database.store(&child, Some(id_of(&parent)), messages(&child) - 1);
    let watching = machine.watch(&["--url", &url, "--watch", "opencode"]);
    wait_until("the run is not there", || tokens() == [json!(680 + 150)]);
    let mut late = child.clone();
    move_times(&mut late["messages"][2], 60_000);
    database.store(&late, Some(id_of(&parent)), messages(&late));
    wait_until("the rest of the subagent is not there", || tokens() == [json!(680 + 320)]);
    watching.stop();
}
