//! Faults at random: proxies and servers are killed and stopped while many runs are ingested.
//!
//! Input: `CLUSTER_FAULTS` (how many, 4 unless set) and `CLUSTER_SEED` (which ones). Output: every acknowledged frame is there once and
//! in order at every proxy, and each run has one end. Never: two faults of servers at the same time, since one of three may be lost.

use crate::proxies::{kill, pause, proxy, resume};
use crate::proxy::{Proxy, another};
use crate::reading::{NDJSON, SSE, ends, events_path, ids, same, wait_for, wait_until_alike};
use crate::servers::Servers;
use serde_json::Value;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// How many runs are ingested at the same time.
const CLIENTS: usize = 50;

const SETTINGS: &[(&str, &str)] = &[
    ("FRAMEGATE__LOG__LEASE_MS", "5000"),
    ("FRAMEGATE__LOG__TIMEOUT_MS", "1000"),
    ("FRAMEGATE__LOG__PATIENCE_MS", "4000"),
];

/// The recordings, by runner.
const RECORDINGS: &[(&str, &str)] = &[
    ("claude-code", "parallel_tools.partial.ndjson"),
    ("claude-code", "bash_background.partial.ndjson"),
    ("codex", "exec-mixed-session.ndjson"),
];

/// A sequence of numbers that looks random and is the same for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number")))
}

/// Where the proxies are now.
struct Places(Mutex<[SocketAddr; 3]>);

impl Places {
    fn get(&self) -> MutexGuard<'_, [SocketAddr; 3]> {
        self.0.lock().unwrap()
    }
}

/// The lines of a chunked body, as far as they arrived whole.
fn lines(answer: &[u8]) -> Vec<String> {
    let head = answer.windows(4).position(|window| window == b"\r\n\r\n");
    let (Some(head), true) = (head, answer.starts_with(b"HTTP/1.1 200")) else { return Vec::new() };
    let (mut rest, mut body) = (&answer[head + 4..], Vec::new());
    while let Some(end) = rest.windows(2).position(|window| window == b"\r\n") {
        let size = str::from_utf8(&rest[..end]).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
        let Some(size) = size.filter(|size| *size > 0) else { break };
        let chunk = &rest[end + 2..];
        body.extend_from_slice(&chunk[..size.min(chunk.len())]);
        rest = chunk.get(size + 2..).unwrap_or_default();
    }
    let whole = body.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let text = String::from_utf8(body[..whole].to_vec()).unwrap();
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// Sends a recording line by line; returns the frames that the proxy acknowledged, by stream.
fn ingest(address: SocketAddr, (runner, name): (&str, &str), pause: Duration) -> HashMap<String, Vec<String>> {
    let body = another(runner, name);
    let Ok(mut stream) = TcpStream::connect_timeout(&address, Duration::from_secs(1)) else { return HashMap::new() };
    let head = format!(
        "POST /v1/ingest/{runner} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\
         accept: application/x-ndjson; contract=frames.v2\r\n\r\n"
    );
    let mut reading = stream.try_clone().unwrap();
    reading.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let reader = thread::spawn(move || {
        let (mut answer, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
        while let Ok(read) = reading.read(&mut buffer) {
            if read == 0 {
                break;
            }
            answer.extend_from_slice(&buffer[..read]);
        }
        answer
    });
    let mut is_open = stream.write_all(head.as_bytes()).is_ok();
    for line in body.split_inclusive(|&byte| byte == b'\n') {
        let chunk = [format!("{:x}\r\n", line.len()).as_bytes(), line, b"\r\n"].concat();
        is_open = is_open && stream.write_all(&chunk).is_ok();
        if !is_open {
            break;
        }
        thread::sleep(pause);
    }
    let _ = stream.write_all(b"0\r\n\r\n");
    let mut frames: HashMap<String, Vec<String>> = HashMap::new();
    for line in lines(&reader.join().unwrap()) {
        let frame: Value = serde_json::from_str(&line).unwrap();
        frames.entry(frame["stream_id"].as_str().unwrap().to_owned()).or_default().push(line);
    }
    frames
}

/// Starts a proxy. It exits if the servers have no leader for too long, and is started again then, as by a service manager.
fn started(servers: &Servers, name: &str) -> Proxy {
    wait_for("the proxy does not start", || {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| proxy(servers, name, SETTINGS))).ok()
    })
}

/// Makes one fault, and repairs it.
fn fault(dice: &mut Dice, servers: &mut Servers, proxies: &mut [Proxy; 3], places: &Places, number: u64) -> String {
    let (kind, victim) = (dice.roll(4), usize::try_from(dice.roll(3)).unwrap());
    // Some stops are longer than a lease.
    let long = if dice.roll(6) == 0 { 6_000 } else { 0 };
    let length = Duration::from_millis(100 + dice.roll(1_500) + long);
    match kind {
        0 => {
            servers.kill(victim);
            thread::sleep(length);
            servers.start(victim);
            servers.wait_ready();
        }
        1 => {
            servers.pause(victim);
            thread::sleep(length);
            servers.resume(victim);
        }
        2 => {
            kill(&mut proxies[victim]);
            thread::sleep(length);
            proxies[victim] = started(servers, &format!("proxy-{victim}-{number}"));
            places.get()[victim] = proxies[victim].address;
        }
        _ => {
            pause(&proxies[victim]);
            thread::sleep(length);
            resume(&proxies[victim]);
        }
    }
    format!(
        "{} {victim} for {} ms",
        ["server killed", "server stopped", "proxy killed", "proxy stopped"][kind as usize],
        length.as_millis()
    )
}

#[test]
#[ignore = "needs nats-server (NATS_SERVER)"]
fn no_acknowledged_frame_is_lost_or_doubled_whatever_fails() {
    let (faults, seed) = (setting("CLUSTER_FAULTS", 4), setting("CLUSTER_SEED", 1));
    let mut servers = Servers::three();
    let mut proxies = ["proxy-0", "proxy-1", "proxy-2"].map(|name| proxy(&servers, name, SETTINGS));
    let places = Places(Mutex::new([0, 1, 2].map(|nth: usize| proxies[nth].address)));
    let (is_over, acknowledged) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let history = thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (is_over, acknowledged, places) = (&is_over, &acknowledged, &places);
            scope.spawn(move || {
                let mut dice = Dice(seed + 1000 + client as u64);
                while !is_over.load(Ordering::Relaxed) {
                    let recording = RECORDINGS[usize::try_from(dice.roll(RECORDINGS.len() as u64)).unwrap()];
                    let address = places.get()[usize::try_from(dice.roll(3)).unwrap()];
                    let frames = ingest(address, recording, Duration::from_millis(20 + dice.roll(150)));
                    acknowledged.lock().unwrap().extend(frames);
                    thread::sleep(Duration::from_millis(100 + dice.roll(400)));
                }
            });
        }
        let mut dice = Dice(seed);
        let mut history = Vec::new();
        // A panic here must not leave the clients waiting.
        let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for number in 0..faults {
                thread::sleep(Duration::from_millis(300 + dice.roll(1_500)));
                history.push(fault(&mut dice, &mut servers, &mut proxies, &places, number));
            }
        }));
        is_over.store(true, Ordering::Relaxed);
        made.map(|()| history).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    servers.wait_ready();
    let acknowledged = acknowledged.into_inner().unwrap();
    let count: usize = acknowledged.iter().map(|(_, frames)| frames.len()).sum();
    eprintln!("{} streams, {count} acknowledged frames; faults: {history:#?}", acknowledged.len());
    assert!(acknowledged.len() > CLIENTS && count > 1_000, "{} streams, {count} frames", acknowledged.len());
    // Runs of lost proxies end after their leases.
    wait_for("the proxies do not agree", || {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| wait_until_alike(&proxies))).ok()
    });
    let listed = wait_until_alike(&proxies);
    let runs = ids(&listed);
    for run in &runs {
        assert_eq!(ends(&proxies[0], run).len(), 1, "{run}");
    }
    for (stream, frames) in acknowledged {
        // Threads and tasks are read through their sessions elsewhere.
        if !runs.contains(&stream) {
            continue;
        }
        let there = same(&proxies, &events_path(&stream, "frames.v2"), NDJSON);
        let there = String::from_utf8(there).unwrap();
        let there: Vec<&str> = there.lines().filter(|line| !line.is_empty()).collect();
        let numbers = there.iter().map(|line| serde_json::from_str::<Value>(line).unwrap()["seq"].as_u64().unwrap());
        assert!(numbers.eq(0..there.len() as u64), "{stream} has a gap");
        let same = there.iter().zip(&frames).take_while(|(there, seen)| there == seen).count();
        assert!(
            same == frames.len(),
            "{stream}: {} frames were acknowledged, {} are there; frame {same} was\n{:?}\nand is\n{:?}",
            frames.len(),
            there.len(),
            frames.get(same),
            there.get(same)
        );
    }
    // The feed has at least the acknowledged frames. A page has at most 100,000.
    let events = count.min(90_000);
    assert!(!same(&proxies, &format!("/v1/events?contract=frames.v2&limit={events}"), SSE).is_empty());
}
