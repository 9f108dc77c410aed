//! `framegate import`: the sessions that runners keep on a machine.

use crate::kept;
use crate::program::{Ran, Scratch, binary};
use crate::proxy::Proxy;
use flate2::Compression;
use flate2::write::GzEncoder;
use framegate_translators::runners::{RUNNERS, Runner};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The maximum time that a test waits for an expected state.
const PATIENCE: Duration = Duration::from_secs(60);

/// A home directory, and a database beside it.
pub struct Machine {
    pub scratch: Scratch,
    root: PathBuf,
}

impl Machine {
    pub fn new(name: &str) -> Self {
        let scratch = Scratch::new(name);
        let root = PathBuf::from(scratch.missing()).parent().unwrap().to_owned();
        Self { scratch, root }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// A file of a runner's history, whose stars are `name`.
    fn session(&self, runner: &Runner, name: &str) -> PathBuf {
        kept::file(&self.path("home"), kept::of_files(runner).unwrap(), name)
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = binary();
        command.args(["import"]).args(args).env("HOME", self.path("home")).current_dir(&self.root);
        for variable in RUNNERS.iter().flat_map(|runner| runner.history).map(|history| history.variable) {
            if !variable.is_empty() {
                command.env_remove(variable);
            }
        }
        command
    }

    pub fn import(&self, args: &[&str]) -> Ran {
        self.import_with(&[], args)
    }

    /// Imports with variables of the environment.
    pub fn import_with(&self, variables: &[(&str, &str)], args: &[&str]) -> Ran {
        let output = self.command(args).envs(variables.iter().copied()).stdin(Stdio::null()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Begins an import that goes on.
    pub fn watch(&self, args: &[&str]) -> Watching {
        Watching(self.command(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }

    /// Imports into the database, and returns how many runs were new, and how many were known.
    pub fn counted(&self, database: &str, args: &[&str]) -> (u64, u64) {
        let summary = self.import(&[&["--db", database, "--format", "json"], args].concat()).exits(0).json();
        (summary["total"]["new_runs"].as_u64().unwrap(), summary["total"]["known_runs"].as_u64().unwrap())
    }

    /// How many frames the database has in each kind of stream.
    fn frames(&self, database: &str) -> Vec<(String, u64)> {
        let database = rusqlite::Connection::open(self.path(database)).unwrap();
        let mut query = database
            .prepare("SELECT s.kind, count(*) FROM frames f JOIN streams s ON s.key = f.stream GROUP BY 1 ORDER BY 1")
            .unwrap();
        query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
    }

    /// The runs of the database, without what differs between two imports of the same files.
    pub fn runs(&self, database: &str) -> Vec<Value> {
        let database = self.path(database);
        let listed = crate::program::run(
            &["log", "--db", database.to_str().unwrap(), "list", "--json", "--limit", "100000"],
            "",
        );
        let mut runs: Vec<Value> = listed.exits(0).events().into_iter().map(kept::comparable).collect();
        runs.sort_by_key(Value::to_string);
        runs
    }
}

/// An import that goes on until it is stopped; killed when dropped.
pub struct Watching(Child);

impl Watching {
    /// Stops it as Ctrl-C does.
    pub fn stop(mut self) {
        let interrupted = Command::new("kill").args(["-INT", &self.0.id().to_string()]).status().unwrap();
        assert!(interrupted.success());
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The recordings of session files, with the stream of the same session if there is one.
fn recorded(runner: &Runner) -> Vec<(PathBuf, Option<PathBuf>)> {
    let with_stream = |(session, stem): (PathBuf, String)| {
        let named = ["ndjson", "jsonl"].map(|ending| session.with_file_name(format!("{stem}.{ending}")));
        (session, named.into_iter().find(|path| path.is_file()))
    };
    kept::recorded(runner).into_iter().map(with_stream).collect()
}

/// The runners that keep files which their decoders read.
fn runners() -> impl Iterator<Item = &'static Runner> {
    RUNNERS.iter().filter(|runner| kept::of_files(runner).is_some())
}

/// Waits for a state.
#[track_caller]
pub fn wait_until(what: &str, is_there: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_there() {
        assert!(Instant::now() < deadline, "{what}");
        thread::sleep(Duration::from_millis(50));
    }
}

/// Puts the recorded sessions of all runners where each keeps them. Returns how many files that are.
fn furnish(machine: &Machine) -> usize {
    let mut files = 0;
    for runner in runners() {
        for (nth, (file, _)) in recorded(runner).into_iter().enumerate() {
            fs::copy(file, machine.session(runner, &nth.to_string())).unwrap();
            files += 1;
        }
    }
    files
}

#[test]
fn the_sessions_of_a_machine_are_imported_once_and_in_their_own_times() {
    let machine = Machine::new("import-once");
    let files = furnish(&machine);
    assert_eq!(machine.import(&["--dry-run"]).exits(0).out.lines().count(), files);
    let (new, _) = machine.counted("a.db", &["--label", "from:history"]);
    assert!(new as usize > files, "{new} runs of {files} files");
    let runs = machine.runs("a.db");
    // Files of resumed sessions begin with the same runs; the longest ones stay.
    assert!(runs.len() > files && runs.len() as u64 <= new, "{} of {new}", runs.len());
    let present = fs::metadata(machine.path("a.db")).unwrap().modified().unwrap();
    let present = u64::try_from(present.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis()).unwrap();
    for run in &runs {
        assert!(run["started_at_ms"].as_u64().unwrap() + 60_000 < present, "{run:#}");
        assert_eq!(run["labels"]["from"], "history");
    }
    let seen: BTreeMap<&str, usize> = runs.iter().fold(BTreeMap::new(), |mut seen, run| {
        *seen.entry(run["runner"].as_str().unwrap()).or_default() += 1;
        seen
    });
    assert_eq!(seen.len(), runners().count(), "{seen:?}");
    let (again, known) = machine.counted("a.db", &[]);
    assert_eq!((again, known >= new), (0, true), "{known} of {new}");
    assert_eq!(machine.runs("a.db"), runs);
    let frames = machine.frames("a.db");
    machine.counted("a.db", &[]);
    assert_eq!(machine.frames("a.db"), frames, "records outside of runs are stored once too");
    // One runner, and one file.
    let runner = runners().next().unwrap();
    let (new, _) = machine.counted("b.db", &[runner.name]);
    assert!(new as usize >= seen[runner.name], "{new}");
    let file = machine.session(runner, "0");
    machine
        .import(&["--db", "c.db", file.to_str().unwrap()])
        .exits(0)
        .prints(&[runner.name, "0 were in the log already"]);
}

#[test]
fn a_session_that_has_grown_and_an_import_that_was_killed_make_no_run_twice() {
    let machine = Machine::new("import-grown");
    furnish(&machine);
    machine.counted("whole.db", &[]);
    let whole = machine.runs("whole.db");
    // Every file is cut in its middle, imported, and imported again when it is whole.
    let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for runner in runners() {
        for nth in 0..recorded(runner).len() {
            let path = machine.session(runner, &nth.to_string());
            let bytes = fs::read(&path).unwrap();
            fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
            files.push((path, bytes));
        }
    }
    // A file that is too short has no run yet.
    machine.import(&["--db", "grown.db"]);
    files.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    machine.counted("grown.db", &[]);
    assert_eq!(machine.runs("grown.db"), whole);
    for millis in [20, 60, 120, 200] {
        let mut import =
            machine.command(&["--db", "killed.db"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(millis));
        let _ = import.kill();
        import.wait().unwrap();
    }
    machine.counted("killed.db", &[]);
    assert_eq!(machine.runs("killed.db"), whole);
}

#[test]
fn copies_that_are_imported_at_the_same_time_make_no_run_twice() {
    let machine = Machine::new("import-copies");
    furnish(&machine);
    machine.counted("whole.db", &[]);
    let whole = machine.runs("whole.db");
    // Copies of different lengths, the shorter ones also after the longer ones.
    for runner in runners() {
        for nth in 0..recorded(runner).len() {
            let bytes = fs::read(machine.session(runner, &nth.to_string())).unwrap();
            for (copy, part) in [(0, 2), (1, 4), (2, 3), (3, 4), (4, 1)] {
                let lines = bytes.split_inclusive(|byte| *byte == b'\n');
                let all = lines.clone().count();
                let front: Vec<u8> = lines.take((all * part).div_ceil(4)).flatten().copied().collect();
                fs::write(machine.session(runner, &format!("{nth}-copy-{copy}")), front).unwrap();
            }
        }
    }
    // A file that is too short has no run.
    machine.import(&["--db", "copies.db"]);
    assert_eq!(machine.runs("copies.db"), whole);
}

#[test]
fn a_file_has_the_same_runs_whether_it_is_decoded_whole_or_in_pieces() {
    let machine = Machine::new("import-pieces");
    let runner = runners().next().unwrap();
    let recording = fs::read(&recorded(runner).last().unwrap().0).unwrap();
    let text = recording.strip_suffix(b"\n").unwrap();
    let import = |name: &str, bytes: &[u8]| {
        let file = machine.scratch.file(&format!("{name}.jsonl"), bytes);
        let database = format!("{name}.db");
        machine.counted(&database, &["--from", runner.name, &file]);
        machine.runs(&database)
    };
    let expected = import("short", &recording);
    assert!(!expected.is_empty());
    // White space behind the last record makes the file as long as the longest that is decoded whole.
    let whole = 8 << 20;
    for size in [whole - 1, whole, whole + 1] {
        let mut padded = text.to_vec();
        padded.resize(size - 1, b' ');
        padded.push(b'\n');
        assert_eq!(import(&size.to_string(), &padded), expected, "{size} bytes");
    }
}

#[test]
fn a_stream_and_the_session_file_of_the_same_run_are_one_run() {
    let machine = Machine::new("import-both");
    let mut pairs = 0;
    for runner in runners() {
        let (sessions, streams): (Vec<_>, Vec<_>) =
            recorded(runner).into_iter().filter_map(|(session, stream)| Some((session, stream?))).unzip();
        pairs += sessions.len();
        let import = |database: &str, files: &[PathBuf]| {
            let files = files.iter().map(|file| file.to_str().unwrap());
            let database = format!("{}-{database}", runner.name);
            machine.counted(&database, &["--from", runner.name].into_iter().chain(files).collect::<Vec<_>>());
            machine.runs(&database)
        };
        let alone = import("alone.db", &sessions);
        let count = |runs: &[Value]| {
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            for run in runs {
                *counts.entry(format!("{} {}", run["title"], run["final_text"])).or_default() += 1;
            }
            counts
        };
        for (database, first, second) in
            [("stream-first.db", &streams, &sessions), ("session-first.db", &sessions, &streams)]
        {
            import(database, first);
            let both = import(database, second);
            let surplus = || format!("{:#?}\n{:#?}", count(&alone), count(&both));
            assert_eq!(both.len(), alone.len(), "{database}, {}: {}", runner.name, surplus());
        }
    }
    assert!(pairs > 100, "{pairs}");
}

#[test]
fn a_running_proxy_takes_sessions_and_follows_those_that_grow() {
    let machine = Machine::new("import-url");
    let proxy = Proxy::start();
    let url = format!("http://{}", proxy.address);
    let runner = runners().next().unwrap();
    let recordings = recorded(runner);
    fs::copy(&recordings[0].0, machine.session(runner, "first")).unwrap();
    let runs = || {
        let listed = crate::client::get(proxy.address, "/v1/runs?limit=1000", &[]).json();
        listed["data"].as_array().unwrap().clone()
    };
    let summary = machine.import(&["--url", &url, "--format", "json"]).exits(0).json();
    let new = summary["total"]["new_runs"].as_u64().unwrap();
    assert_eq!((new as usize, summary["failed_files"].as_u64()), (runs().len(), Some(0)));
    machine.import(&["--url", &url]).exits(0).prints(&["0 runs imported"]);

    let watching = machine.watch(&["--url", &url, "--watch", runner.name]);
    // A file that appears while it is watched, line by line.
    let text = String::from_utf8(fs::read(&recordings.last().unwrap().0).unwrap()).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let path = machine.session(runner, "second");
    let mut file = OpenOptions::new().create(true).append(true).open(&path).unwrap();
    let before = runs().len();
    let records = || runs().iter().map(|run| run["records"].as_u64().unwrap()).sum::<u64>();
    let recorded_before = records();
    for line in &lines[..lines.len() / 2] {
        file.write_all(line.as_bytes()).unwrap();
    }
    wait_until("the run is not there while its file grows", || runs().len() > before);
    for line in &lines[lines.len() / 2..] {
        file.write_all(line.as_bytes()).unwrap();
    }
    machine.counted("alone.db", &["--from", runner.name, path.to_str().unwrap()]);
    let alone: u64 = machine.runs("alone.db").iter().map(|run| run["records"].as_u64().unwrap()).sum();
    wait_until("the end of the run is not there", || records() == recorded_before + alone);
    watching.stop();
    wait_until("the run does not end", || runs().iter().all(|run| run["ended_at_ms"].is_u64()));
    let all = runs().len();
    machine.import(&["--url", &url]).exits(0).prints(&["0 runs imported"]);
    assert_eq!(runs().len(), all);
}

#[test]
fn a_file_that_is_replaced_while_it_is_watched_is_read_again_at_once() {
    let machine = Machine::new("import-replaced");
    let runner = runners().next().unwrap();
    let recordings = recorded(runner);
    let mut texts: Vec<String> = recordings.iter().take(3).map(|(file, _)| fs::read_to_string(file).unwrap()).collect();
    texts.sort_by_key(String::len);
    let expected = |text: &str, name: &str| {
        let file = machine.scratch.file(&format!("{name}.jsonl"), text);
        machine.counted(&format!("{name}.db"), &["--from", runner.name, &file]);
        machine.runs(&format!("{name}.db"))
    };
    let alone: Vec<Vec<Value>> =
        texts.iter().enumerate().map(|(nth, text)| expected(text, &format!("alone-{nth}"))).collect();
    let named = |runs: &[Value]| {
        let name = |run: &Value| (run["session_id"].to_string(), run["title"].to_string());
        runs.iter().map(name).collect::<BTreeSet<_>>()
    };
    let proxy = Proxy::start();
    let url = format!("http://{}", proxy.address);
    let path = machine.session(runner, "one");
    fs::write(&path, &texts[0]).unwrap();
    let watching = machine.watch(&["--url", &url, "--watch", runner.name]);
    let listed = || {
        let listed = crate::client::get(proxy.address, "/v1/runs?limit=1000", &[]).json();
        listed["data"].as_array().unwrap().clone()
    };
    let has = |nth: usize| named(&alone[nth]).is_subset(&named(&listed()));
    wait_until("the first file is not there", || has(0));
    // The same file gets longer content of another session, in one step.
    let begun = Instant::now();
    OpenOptions::new().write(true).open(&path).unwrap().write_all(texts[1].as_bytes()).unwrap();
    wait_until("the content that was overwritten is not there", || has(1));
    // Another file takes its place.
    let other = machine.path("other.jsonl");
    fs::write(&other, &texts[2]).unwrap();
    fs::rename(&other, &path).unwrap();
    wait_until("the file that took the place is not there", || has(2));
    assert!(begun.elapsed() < Duration::from_secs(50), "files are read again at once: {:?}", begun.elapsed());
    watching.stop();
    let all: BTreeSet<_> = alone.iter().flat_map(|runs| named(runs)).collect();
    assert_eq!(named(&listed()), all);
}

#[test]
fn a_file_without_a_run_is_no_failure() {
    let machine = Machine::new("import-no-run");
    let runner = runners().next().unwrap();
    let (file, _) = recorded(runner).remove(0);
    let text = fs::read_to_string(file).unwrap();
    let path = machine.session(runner, "short");
    fs::write(&path, text.lines().next().unwrap().to_owned() + "\n").unwrap();
    let ran = machine.import(&["--db", "a.db"]).exits(0);
    ran.says(&["short", "has no run"]).prints(&["0 runs imported", "1 files without a run"]);
    let summary = machine.import(&["--db", "a.db", "--format", "json"]).exits(0).json();
    assert_eq!((&summary["total"]["files_without_run"], &summary["failed_files"]), (&1.into(), &0.into()));
}

#[test]
fn an_import_stops_when_its_proxy_is_gone() {
    let machine = Machine::new("import-gone");
    let files = furnish(&machine);
    // Nothing listens there any more.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let ran = machine.import(&["--url", &format!("http://{address}"), "--format", "json"]).exits(2);
    assert_eq!(ran.err.matches("does not answer").count(), 1, "{}", ran.err);
    assert!(ran.err.contains(&format!("{files} of {files} files are left")), "{}", ran.err);
    assert_eq!((&ran.json()["left_files"], &ran.json()["failed_files"]), (&files.into(), &0.into()));
}

#[test]
fn what_cannot_be_imported_is_named_and_keeps_nothing_else_out() {
    let machine = Machine::new("import-wrong");
    machine.import(&[]).exits(2).says(&["there are no sessions to import; looked for", "home"]);
    let runner = runners().next().unwrap();
    let (good, _) = recorded(runner).remove(0);
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&fs::read(&good).unwrap()).unwrap();
    let packed = encoder.finish().unwrap();
    machine.scratch.file("whole.jsonl.gz", &packed);
    let cut = machine.scratch.file("cut.jsonl.gz", &packed[..packed.len() / 2]);
    let prose = machine.scratch.file("notes.jsonl", "Dear reader,\n");
    let ran = machine.import(&["--db", "a.db", machine.root.to_str().unwrap(), "/no/such/file"]).exits(2);
    ran.says(&[&cut, "ends in the middle of its gzip data", &prose, "no run was found", "/no/such/file"])
        .prints(&["3 files could not be read", " runs imported"]);
    assert!(!machine.runs("a.db").is_empty());
    // A proxy has the database open.
    let database = machine.path("a.db");
    let _proxy =
        Proxy::with(&[("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", database.to_str().unwrap())]);
    let refused = machine.import(&["--db", "a.db", good.to_str().unwrap()]);
    assert_ne!(refused.code, Some(0));
    refused.says(&["if a proxy has it open", "--url"]);
}

#[test]
fn an_import_says_how_many_runs_the_log_had_to_drop() {
    let machine = Machine::new("import-limits");
    furnish(&machine);
    let import = |database: &str, most: &str| {
        let ran = machine
            .import_with(&[("FRAMEGATE__LOG__MAX_RUNS", most)], &["--db", database, "--format", "json"])
            .exits(0);
        (ran.json()["dropped_runs"].as_u64().unwrap(), ran.err)
    };
    let (dropped, err) = import("all.db", "1000");
    assert_eq!((dropped, err.contains("were dropped")), (0, false), "{err}");
    let all = machine.runs("all.db").len() as u64;
    let (dropped, err) = import("few.db", "10");
    let kept = machine.runs("few.db").len() as u64;
    // A run that is replaced by a longer one is not counted, unless it was dropped before.
    assert!((1..=10).contains(&kept) && kept + dropped >= all, "{kept} and {dropped} of {all}");
    let said = format!("{dropped} runs were dropped from few.db, because the log keeps at most 10 runs (log.max_runs)");
    assert!(err.contains(&said), "{err}");
}
