//! Ingests the recordings of all runners over and over into a small log: the log stays within its bound, memory does not grow,
//! and nothing is refused.
//!
//! `FRAMEGATE_INGESTS` is the number of ingests for each kind of log (default 900).

use crate::client::{get, post};
use crate::proxy::Proxy;
use crate::scratch::Scratch;
use framegate_translators::runners::RUNNERS;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const MAX_BYTES: u64 = 4 << 20;

/// How much memory may grow between the first and the last third of the ingests, after each recording was ingested once. This
/// allows for fluctuation in the allocator and in page caches.
///
/// The first ingest of each kind of record increases memory by about 90 MiB in total, independent of what follows: 60 for the
/// schemas of the runners' surfaces, which are compiled with the first record of each (`ingest.drift = false` avoids this), 12
/// for the latest frames (`log.recent_bytes`), 6 for the redaction automata, and the page caches of SQLite's connections. One
/// allocator arena, or an allocator that returns freed memory at once, makes no difference: the memory is in use.
const GROWTH: u64 = 12 << 20;

/// Every recording of every runner, with the path that it is sent to.
fn recordings() -> Vec<(String, Vec<u8>)> {
    let fixtures = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut found = Vec::new();
    for runner in RUNNERS.iter().map(|runner| runner.name) {
        let mut files: Vec<PathBuf> =
            std::fs::read_dir(fixtures.join(runner)).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        for file in files {
            let is_recording = file.is_file() && file.file_name().is_none_or(|name| name != "MANIFEST.json");
            if is_recording {
                found.push((format!("/v1/ingest/{runner}"), std::fs::read(file).unwrap()));
            }
        }
    }
    assert!(found.len() > 300, "{}", found.len());
    found
}

/// The resident memory in bytes.
fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
}

/// The value of a metric.
fn metric(address: SocketAddr, name: &str) -> u64 {
    let text = get(address, "/metrics", &[]).text();
    let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("no {name} in {text}"));
    line.rsplit(' ').next().unwrap().parse::<f64>().unwrap() as u64
}

fn ingests_stay_within_bounds(kind: &str) {
    let ingests: usize = std::env::var("FRAMEGATE_INGESTS").ok().and_then(|text| text.parse().ok()).unwrap_or(900);
    let scratch = Scratch::new(&format!("retention-{kind}"));
    let (path, max_bytes) = (scratch.path().to_str().unwrap().to_owned(), MAX_BYTES.to_string());
    let proxy = Proxy::with(&[
        ("FRAMEGATE__LOG__KIND", kind),
        ("FRAMEGATE__LOG__PATH", &path),
        ("FRAMEGATE__LOG__FSYNC", "never"),
        ("FRAMEGATE__LOG__MAX_BYTES", &max_bytes),
        ("FRAMEGATE__ARTIFACTS__MAX_TOTAL_BYTES", "8388608"),
        ("FRAMEGATE__ARTIFACTS__MAX_BYTES", "4194304"),
        ("FRAMEGATE__TELEMETRY__FILTER", "off"),
        // Every ingest adds to the log.
        ("FRAMEGATE__INGEST__RECOGNISE_REPEATS", "false"),
    ]);
    let (recordings, next) = (recordings(), AtomicUsize::new(0));
    let (address, pid, begun) = (proxy.address, proxy.pid(), Instant::now());
    for (path, body) in &recordings {
        post(address, path, &[], body).text();
    }
    let warm = resident(pid);
    let (mut early, mut late, mut most, mut streams) = (0, 0, 0, 0);
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    loop {
                        let nth = next.fetch_add(1, Ordering::Relaxed);
                        if nth >= ingests {
                            return;
                        }
                        // Some recordings are sent twice in a row: the session continues its thread.
                        let (path, body) = &recordings[nth / 2 % recordings.len()];
                        let answer = post(address, path, &[], body);
                        let status = answer.status;
                        assert!(
                            !matches!(status, 507 | 503 | 429 | 500),
                            "ingest {nth} of {path}: {status} {}",
                            answer.text()
                        );
                    }
                })
            })
            .collect();
        while clients.iter().any(|client| !client.is_finished()) {
            let done = next.load(Ordering::Relaxed);
            let bytes = metric(address, "framegate_log_bytes");
            assert!(bytes <= MAX_BYTES, "{bytes} bytes are kept after {done} ingests");
            (most, streams) = (most.max(bytes), streams.max(metric(address, "framegate_log_streams")));
            let resident = resident(pid);
            if done > ingests * 2 / 3 {
                late = late.max(resident);
            } else if done <= ingests / 3 {
                early = early.max(resident);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        clients.into_iter().for_each(|client| client.join().unwrap());
    });
    let file = if kind == "sqlite" { scratch.path().metadata().unwrap().len() } else { 0 };
    eprintln!(
        "{kind}: {ingests} ingests in {} s; at most {most} of {MAX_BYTES} bytes and {streams} streams; memory {} KiB at first, at most {} KiB in \
         the first third and {} KiB in the last; file {} KiB",
        begun.elapsed().as_secs(),
        warm >> 10,
        early >> 10,
        late >> 10,
        file >> 10
    );
    // The log was full, and the newest runs are in it.
    assert!(most > MAX_BYTES / 2, "{most}");
    assert!(late <= early + GROWTH, "memory grew from {early} to {late}");
    // The remaining runs can be read.
    let runs = get(address, "/v1/runs?limit=20", &[]).json();
    for run in runs["data"].as_array().unwrap() {
        let id = run["run_id"].as_str().unwrap();
        let events = get(address, &format!("/v1/runs/{id}/events"), &[("accept", "application/x-ndjson")]).text();
        assert_eq!(events.lines().count() as u64, run["frames"].as_u64().unwrap(), "{run:#}");
    }
    assert_eq!(get(address, "/readyz", &[]).status, 200);
}

#[test]
fn a_log_on_disk_stays_within_its_bounds() {
    ingests_stay_within_bounds("sqlite");
}

#[test]
fn a_log_in_memory_stays_within_its_bounds() {
    ingests_stay_within_bounds("memory");
}

#[test]
fn an_endless_ingest_stays_within_the_limit_and_is_ended_cleanly() {
    for kind in ["sqlite", "memory"] {
        let scratch = Scratch::new(&format!("endless-{kind}"));
        let (path, max_bytes) = (scratch.path().to_str().unwrap().to_owned(), (1 << 20).to_string());
        let proxy = Proxy::with(&[
            ("FRAMEGATE__LOG__KIND", kind),
            ("FRAMEGATE__LOG__PATH", &path),
            ("FRAMEGATE__LOG__FSYNC", "never"),
            ("FRAMEGATE__LOG__MAX_BYTES", &max_bytes),
        ]);
        let session = "5d3c1a6e-0d0e-4d47-9d0c-222222222222";
        let mut body = format!(
            "{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"{session}\",\"model\":\"m\",\"tools\":[]}}\n"
        );
        for nth in 0..3000 {
            // Every text is unique, so that no text is shared between frames.
            let text: String = (0..60).map(|at| format!("{:x} ", (nth * 7919 + at * 104_729) % 1_000_003)).collect();
            body.push_str(&format!(
                "{{\"type\":\"assistant\",\"session_id\":\"{session}\",\"message\":{{\"id\":\"m{nth}\",\"role\":\"assistant\",\"content\":\
                 [{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}\n"
            ));
        }
        let answer = post(proxy.address, "/v1/ingest/claude-code", &[], body.as_bytes());
        let (status, text) = (answer.status, answer.text());
        assert_eq!(status, 507, "{kind}: {text}");
        assert!(metric(proxy.address, "framegate_log_bytes") <= 1 << 20);
        let runs = get(proxy.address, "/v1/runs", &[]).json();
        let run = &runs["data"][0];
        assert_eq!((&run["state"], &run["error_code"]), (&"interrupted".into(), &"log_full".into()), "{kind}: {run:#}");
        let id = run["run_id"].as_str().unwrap();
        let events = get(proxy.address, &format!("/v1/runs/{id}/events?contract=sse.v1"), &[]).events();
        assert_eq!(events.last().unwrap().name.as_deref(), Some("run_interrupted"));
        // Lines that belong to no run: their thread starts anew repeatedly.
        let junk = "this is no JSON, and whose it is nobody knows ".repeat(3000);
        let junk: String = (0..100).map(|nth| format!("{nth} {}\n", &junk[..20_000])).collect();
        assert_ne!(post(proxy.address, "/v1/ingest/claude-code", &[], junk.as_bytes()).status, 507);
        assert!(metric(proxy.address, "framegate_log_bytes") <= 1 << 20);
        assert_eq!(get(proxy.address, "/readyz", &[]).status, 200);
        assert_eq!(
            post(
                proxy.address,
                "/v1/ingest/claude-code",
                &[],
                &crate::proxy::recording("claude-code", "text_plain.ndjson")
            )
            .status,
            201
        );
    }
}
