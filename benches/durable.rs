//! Measures the cost of durability: the same load into the memory log and into SQLite, as ratios within one run.
//!
//! Rounds of all logs alternate, so that other load on the machine affects all equally; the median round counts. The load is
//! recordings, fed in chunks by concurrent ingests, like uploads over sockets. Run with `cargo bench --bench durable`; `cargo
//! test --benches` runs one short round.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    reason = "a benchmark"
)]

use framegate::config::GateMode;
use framegate::gate::Gate;
use framegate::ingest::{IngestFactory, Settings};
use framegate::log::sqlite::{Fsync, Options};
use framegate::log::{FrameLog, MemoryLog, SqliteLog};
use framegate::runs::Runs;
use framegate_translators::runners::runner;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The size of an upload's chunk, similar to a read from a socket.
const CHUNK_BYTES: usize = 16 << 10;

const LOADS: [(&str, &str); 4] = [
    ("claude-code", "parallel_tools.partial.ndjson"),
    ("claude-code", "long_text_200k.ndjson"),
    ("codex", "exec-text-plain.ndjson"),
    ("open-responses", "fastresponses__text.sse"),
];

const LOGS: [(&str, Option<Fsync>); 4] = [
    ("memory", None),
    ("sqlite never", Some(Fsync::Never)),
    ("sqlite interval", Some(Fsync::Interval(Duration::from_secs(1)))),
    ("sqlite always", Some(Fsync::Always)),
];

fn main() {
    let is_short = !std::env::args().any(|argument| argument == "--bench");
    let (rounds, uploads) = if is_short { (1, 2) } else { (9, 40) };
    let loads: Vec<(&str, Vec<u8>)> = LOADS
        .iter()
        .map(|(runner, name)| {
            let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
            (*runner, std::fs::read(dir.join(runner).join(name)).expect("the recording is there"))
        })
        .collect();
    let bytes: usize = loads.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() * uploads;
    for at_once in [1, 16] {
        let mut times = vec![Vec::new(); LOGS.len()];
        for _ in 0..rounds {
            for (times, (_, fsync)) in times.iter_mut().zip(LOGS) {
                times.push(round(fsync, &loads, uploads, at_once));
            }
        }
        times.iter_mut().for_each(|times| times.sort_unstable());
        let middle: Vec<Duration> = times.iter().map(|times| times[times.len() / 2]).collect();
        println!("{at_once} ingests at once, {} MiB each round:", bytes >> 20);
        for ((name, _), time) in LOGS.iter().zip(&middle) {
            let ratio = time.as_secs_f64() / middle[0].as_secs_f64();
            println!("  {name:16} {:7.1} ms  {ratio:.2} x memory", time.as_secs_f64() * 1e3);
        }
    }
}

fn round(fsync: Option<Fsync>, loads: &[(&'static str, Vec<u8>)], uploads: usize, at_once: usize) -> Duration {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("durable-{}.db", std::process::id()));
    let files = ["", "-wal", "-shm", "-lock"].map(|end| PathBuf::from(format!("{}{end}", path.display())));
    let remove = || files.iter().for_each(|file| drop(std::fs::remove_file(file)));
    remove();
    let log: Arc<dyn FrameLog> = match fsync {
        None => Arc::new(MemoryLog::new(1 << 30, 1_000_000)),
        Some(fsync) => Arc::new(SqliteLog::open(Options { fsync, ..Options::new(&path) }).unwrap()),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let runs = Arc::new(Runs::new(log, Gate::new(GateMode::Off).unwrap()));
    let work: Vec<(&'static str, Vec<u8>)> = loads.iter().cycle().take(loads.len() * uploads).cloned().collect();
    let queue = Arc::new(std::sync::Mutex::new(work));
    let factory = IngestFactory::new(runs, Settings::default());
    let start = Instant::now();
    runtime.block_on(async {
        let workers: Vec<_> = (0..at_once)
            .map(|_| {
                let (factory, queue) = (factory.clone(), queue.clone());
                tokio::spawn(async move {
                    loop {
                        let Some((name, bytes)) = queue.lock().unwrap().pop() else { return };
                        let mut ingest = factory.ingest(runner(name), None, Arc::default());
                        for chunk in bytes.chunks(CHUNK_BYTES) {
                            ingest.feed(chunk).await.unwrap();
                        }
                        ingest.finish().await.unwrap();
                    }
                })
            })
            .collect();
        for worker in workers {
            worker.await.unwrap();
        }
    });
    let time = start.elapsed();
    drop(factory);
    drop(runtime);
    remove();
    time
}
