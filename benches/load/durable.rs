//! Measures what a log on disk adds to an ingest over HTTP, up to the acknowledgement.
//!
//! There is one proxy for each kind of log. All of them run from the start and take turns at the same requests, so that other
//! load on the machine affects all equally. The processor time is that of the whole process from its first request to the end,
//! including work after the last answer.

use crate::proxy::Proxy;
use crate::wire;
use crate::{Scale, not_measured, row};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

const LOADS: [(&str, &str); 4] = [
    ("claude-code", "parallel_tools.partial.ndjson"),
    ("claude-code", "long_text_200k.ndjson"),
    ("codex", "appserver-long-stream.ndjson"),
    ("open-responses", "fastresponses__text.sse"),
];

/// The name of the row, `log.kind`, and `log.fsync`.
const LOGS: [(&str, &str, &str); 4] = [
    ("memory", "memory", "always"),
    ("sqlite never", "sqlite", "never"),
    ("sqlite interval", "sqlite", "interval"),
    ("sqlite always", "sqlite", "always"),
];

/// The approximate size of a request's body, in bytes.
pub(crate) const REQUEST_BYTES: usize = 2 << 20;

/// The wait for work after the last answer. It is longer than the sync interval.
const SETTLE: Duration = Duration::from_secs(2);

pub(crate) fn ingests(scale: Scale) {
    let loads = loads(scale);
    for at_once in [1, 16] {
        measure(scale, &loads, at_once, &files());
    }
}

/// The logs in memory, and at these servers.
#[cfg(feature = "jetstream")]
pub(crate) fn ingests_at(scale: Scale, servers: &[(&'static str, Vec<(&'static str, String)>)]) {
    let loads = loads(scale);
    let memory = ("memory", vec![("FRAMEGATE__LOG__KIND", "memory".to_owned())]);
    let logs: Vec<_> = [memory].into_iter().chain(servers.iter().cloned()).collect();
    for at_once in [1, 16] {
        measure(scale, &loads, at_once, &logs);
    }
}

/// The settings of the logs in [`LOGS`].
fn files() -> Vec<(&'static str, Vec<(&'static str, String)>)> {
    let dir = std::env::temp_dir().join(format!("framegate-durable-{}", std::process::id()));
    let settings = |name: &str, kind: &str, fsync: &str| {
        let dir = dir.join(name);
        std::fs::create_dir_all(&dir).unwrap();
        vec![
            ("FRAMEGATE__LOG__KIND", kind.to_owned()),
            ("FRAMEGATE__LOG__FSYNC", fsync.to_owned()),
            ("FRAMEGATE__LOG__PATH", dir.join("framegate.db").to_str().unwrap().to_owned()),
        ]
    };
    LOGS.iter().map(|(name, kind, fsync)| (*name, settings(name, kind, fsync))).collect()
}

fn loads(scale: Scale) -> Vec<(&'static str, Vec<u8>)> {
    LOADS
        .iter()
        .map(|(runner, name)| {
            let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
            let recording = std::fs::read(dir.join(runner).join(name)).unwrap();
            // Several runs in a row.
            (*runner, recording.repeat(scale.request_bytes.div_ceil(recording.len())))
        })
        .collect()
}

fn measure(
    scale: Scale,
    loads: &[(&'static str, Vec<u8>)],
    at_once: usize,
    logs: &[(&'static str, Vec<(&'static str, String)>)],
) {
    let proxies: Vec<Proxy> = logs
        .iter()
        .map(|(_, settings)| {
            // Large enough that nothing is evicted during the measurement.
            let room = [("FRAMEGATE__LOG__MAX_BYTES", "17179869184"), ("FRAMEGATE__LOG__MAX_RUNS", "1000000")];
            let settings = settings.iter().map(|(name, value)| (*name, value.as_str()));
            Proxy::start(&room.into_iter().chain(settings).collect::<Vec<_>>())
        })
        .collect();
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); logs.len()];
    let before: Vec<Option<Duration>> = proxies.iter().map(Proxy::processor_time).collect();
    // One round with 16 clients makes as many requests as 16 rounds with one.
    for _ in 0..scale.durable_rounds.div_ceil(at_once) {
        for (proxy, times) in proxies.iter().zip(&mut times) {
            thread::scope(|scope| {
                let clients: Vec<_> =
                    (0..at_once).map(|client| scope.spawn(move || requests(proxy, loads, client))).collect();
                clients.into_iter().for_each(|client| times.extend(client.join().unwrap()));
            });
        }
    }
    thread::sleep(SETTLE);
    let mut first = None;
    for (nth, (name, _)) in logs.iter().enumerate() {
        times[nth].sort_unstable();
        let median = times[nth][times[nth].len() / 2].as_secs_f64();
        let used = proxies[nth]
            .processor_time()
            .zip(before[nth])
            .map(|(after, before)| after.saturating_sub(before).as_secs_f64() / times[nth].len() as f64);
        let (of_memory, used_by_memory) = *first.get_or_insert((median, used));
        let used = used.zip(used_by_memory).map_or_else(not_measured, |(used, memory)| {
            format!("{:.1} ms of processor time ({:.2} x)", used * 1e3, used / memory)
        });
        row(
            &format!(
                "ingest of {:.1} MiB until acknowledged, {at_once} at once, {name}",
                scale.request_bytes as f64 / f64::from(1 << 20)
            ),
            &format!("median {:.1} ms ({:.2} x memory), {used}", median * 1e3, median / of_memory),
        );
    }
    drop(proxies);
    let _ = std::fs::remove_dir_all(std::env::temp_dir().join(format!("framegate-durable-{}", std::process::id())));
}

/// Sends each load once. Returns how long each took to be acknowledged.
fn requests(proxy: &Proxy, loads: &[(&'static str, Vec<u8>)], client: usize) -> Vec<Duration> {
    // Start each client with a different load.
    let order = (0..loads.len()).map(|nth| &loads[(nth + client) % loads.len()]);
    order
        .map(|(runner, body)| {
            let begin = Instant::now();
            let mut stream = wire::connect(proxy.address);
            write!(
                stream,
                "POST /v1/ingest/{runner} HTTP/1.1\r\nhost: {}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                proxy.address,
                body.len()
            )
            .unwrap();
            stream.write_all(body).unwrap();
            let mut answer = Vec::new();
            stream.read_to_end(&mut answer).unwrap();
            assert!(answer.starts_with(b"HTTP/1.1 201"), "{}", String::from_utf8_lossy(&answer));
            begin.elapsed()
        })
        .collect()
}
