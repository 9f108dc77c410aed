//! Measures `framegate import`: a made-up history is imported, imported again, and imported by a process that is killed half-way and one that goes on. Fails unless the
//! logs have the same runs.
//!
//! `cargo bench --bench history -- --mb 2000` makes a history of 2 GB, in the target folder; without `--mb` it has 200 MB. `cargo test --benches` uses 4 MB.
//! `--program PATH` measures another framegate than the one of the benchmark's profile.

#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark"
)]

#[path = "../../tests/cli/kept.rs"]
mod kept;
mod made;

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// What an import did.
struct Imported {
    took: Duration,
    /// The highest resident memory in bytes.
    memory: u64,
    new: u64,
    known: u64,
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let is_short = !args.iter().any(|arg| arg == "--bench");
    let value = |flag: &str| args.iter().position(|arg| arg == flag).map(|at| args[at + 1].as_str());
    let mb: u64 = value("--mb").map_or(if is_short { 4 } else { 200 }, |mb| mb.parse().expect("--mb takes a number"));
    let program = value("--program").unwrap_or(env!("CARGO_BIN_EXE_framegate"));
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("history-{}", std::process::id()));
    let home = root.join("home");
    let (files, bytes) = made::write(&home, mb * 1_000_000);
    println!("{files} files, {:.0} MB", bytes as f64 / 1e6);
    let floor = round_trip(&home);
    show("records to values and back", floor, bytes);

    let once = import((program, &root), "once.db", None).unwrap();
    show_import("import", &once, bytes);
    let runs = listed((program, &root), "once.db");
    assert!(once.new > 0 && runs.values().sum::<u64>() <= once.new, "{} of {}", runs.len(), once.new);
    let again = import((program, &root), "once.db", None).unwrap();
    show_import("import again", &again, bytes);
    assert_eq!((again.new, again.known >= once.new), (0, true));
    assert!(listed((program, &root), "once.db") == runs, "the second import has changed the log");

    // This import may be faster than the first one.
    let is_killed = [2, 4, 8, 16].into_iter().any(|part| {
        for ending in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(root.join(format!("killed.db{ending}")));
        }
        import((program, &root), "killed.db", Some(once.took / part)).is_none()
    });
    assert!(is_killed, "the import was over before it could be killed");
    let half: u64 = listed((program, &root), "killed.db").values().sum();
    let rest = import((program, &root), "killed.db", None).unwrap();
    show_import("import after a kill", &rest, bytes);
    println!("  {half} runs before the kill, {} runs new after it", rest.new);
    assert!(listed((program, &root), "killed.db") == runs, "the log differs after the kill");
    let database = |name: &str| fs::metadata(root.join(name)).unwrap().len() as f64 / 1e6;
    println!("the database has {:.0} MB", database("once.db"));
    fs::remove_dir_all(&root).unwrap();
}

fn show(what: &str, took: Duration, bytes: u64) {
    println!("{what:28} {:7.1} s  {:6.0} MB/s", took.as_secs_f64(), bytes as f64 / 1e6 / took.as_secs_f64());
}

fn show_import(what: &str, imported: &Imported, bytes: u64) {
    show(what, imported.took, bytes);
    let Imported { memory, new, known, .. } = imported;
    println!("  {:.0} MB of memory, {new} runs new, {known} known", *memory as f64 / 1e6);
}

/// The program, and the folder with the history and the logs.
type Place<'p> = (&'p str, &'p Path);

fn framegate((program, root): Place<'_>) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("HOME", root.join("home"))
        .env("FRAMEGATE__LOG__MAX_RUNS", "100000000")
        .env("FRAMEGATE__LOG__MAX_BYTES", (1_u64 << 50).to_string())
        .current_dir(root);
    command
}

/// Imports the history. Kills the import after a time, if there is one; then `None`.
fn import(place: Place<'_>, database: &str, killed_after: Option<Duration>) -> Option<Imported> {
    let (begun, root) = (Instant::now(), place.1);
    let mut child = framegate(place)
        .args(["import", "--db", database, "--format", "json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(fs::File::create(root.join("errors")).unwrap())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut memory = 0;
    while child.try_wait().unwrap().is_none() {
        memory = memory.max(resident(&status));
        if killed_after.is_some_and(|after| begun.elapsed() > after) {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        thread::sleep(Duration::from_millis(5));
    }
    let took = begun.elapsed();
    let output = child.wait_with_output().unwrap();
    let errors = fs::read_to_string(root.join("errors")).unwrap();
    assert!(output.status.success(), "{}", errors.lines().take(20).collect::<Vec<_>>().join("\n"));
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    let total = |field: &str| summary["total"][field].as_u64().unwrap();
    Some(Imported { took, memory, new: total("new_runs"), known: total("known_runs") })
}

/// The highest resident memory of a process so far, in bytes.
fn resident(status: &str) -> u64 {
    let status = fs::read_to_string(status).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok()).unwrap_or_default() * 1024
}

/// How often each run is in a log, without what differs between two imports of the same files.
fn listed(place: Place<'_>, database: &str) -> BTreeMap<String, u64> {
    let output =
        framegate(place).args(["log", "--db", database, "list", "--json", "--limit", "100000000"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut runs = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let run = kept::comparable(serde_json::from_str(line).unwrap());
        *runs.entry(run.to_string()).or_default() += 1;
    }
    runs
}

/// The floor: each record is parsed into a value and written again.
fn round_trip(folder: &Path) -> Duration {
    let mut took = Duration::ZERO;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            took += round_trip(&path);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let begun = Instant::now();
        for line in text.lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            std::hint::black_box(serde_json::to_string(&record).unwrap());
        }
        took += begun.elapsed();
    }
    took
}
