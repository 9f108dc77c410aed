//! Slow clients, and clients that are slow on purpose: their cost, and that other clients are not affected.

use crate::client::{Answer, Upload, connect, get};
use crate::proxy::Proxy;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const INGEST: &str = "/v1/ingest/claude-code";
const SESSION: &str = "5d3c1a6e-0d0e-4d47-9d0c-222222222222";

/// The records of a run with `pieces` pieces of text of this length.
fn run_of(pieces: usize, length: usize) -> Vec<Vec<u8>> {
    let event =
        |event: String| format!("{{\"type\":\"stream_event\",\"session_id\":\"{SESSION}\",\"event\":{event}}}\n");
    let mut records = vec![format!(
        "{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"{SESSION}\",\"model\":\"m\",\"tools\":[]}}\n"
    )];
    records.push(event("{\"type\":\"message_start\",\"message\":{\"id\":\"m1\",\"role\":\"assistant\"}}".into()));
    let start = "{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}";
    records.push(event(start.into()));
    for piece in 0..pieces {
        let text = format!("{piece:08} {}", "x".repeat(length));
        let delta = format!("{{\"type\":\"text_delta\",\"text\":\"{text}\"}}");
        records.push(event(format!("{{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{delta}}}")));
    }
    records.push(event("{\"type\":\"content_block_stop\",\"index\":0}".into()));
    records.push(event("{\"type\":\"message_stop\"}".into()));
    records.push(format!(
        "{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"x\",\"session_id\":\"{SESSION}\"}}\n"
    ));
    records.into_iter().map(String::into_bytes).collect()
}

fn newest_run(proxy: &Proxy) -> String {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        if let Some(run) = get(proxy.address, "/v1/runs", &[]).json()["data"][0]["run_id"].as_str() {
            return run.to_owned();
        }
        assert!(Instant::now() < deadline, "the ingest has no run");
        thread::sleep(Duration::from_millis(10));
    }
}

/// A client that requests events and does not read them.
fn stalled(proxy: &Proxy, path: &str) -> TcpStream {
    let mut stream = connect(proxy.address);
    write!(stream, "GET {path} HTTP/1.1\r\nhost: {}\r\n\r\n", proxy.address).unwrap();
    stream
}

/// The rest of a stream. The body is read in large pieces, because its bytes are compared.
fn body_of(stream: TcpStream) -> Vec<u8> {
    let answer = Answer::read(stream);
    assert_eq!(answer.status, 200);
    answer.bytes()
}

#[cfg(target_os = "linux")]
fn resident_kib(proxy: &Proxy) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{}/status", proxy.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// For each connection of a port, the bytes in the send queue that its client has not read.
#[cfg(target_os = "linux")]
fn send_queues(port: u16) -> Vec<u64> {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let local = format!(":{port:04X}");
    let lines = table.lines().skip(1).map(|line| line.split_whitespace().collect::<Vec<_>>());
    let of_port = lines.filter(|fields| fields[1].ends_with(&local) && fields[3] == "01");
    of_port.map(|fields| u64::from_str_radix(fields[4].split(':').next().unwrap(), 16).unwrap()).collect()
}

/// Waits until that many clients have unread bytes and no send queue grows any more. Returns the bytes in each queue.
#[cfg(target_os = "linux")]
pub fn wait_until_stalled(proxy: &Proxy, clients: usize) -> Vec<u64> {
    let (mut before, deadline) = (Vec::new(), Instant::now() + Duration::from_secs(60));
    loop {
        thread::sleep(Duration::from_millis(300));
        let mut now = send_queues(proxy.address.port());
        now.sort_unstable();
        if now == before && now.iter().filter(|bytes| **bytes > 0).count() >= clients {
            return now;
        }
        before = now;
        assert!(Instant::now() < deadline, "{before:?}");
    }
}

/// The number of frames between the start positions of stalled clients.
const STEP: usize = 30;

/// Ingests 20 MB while `count` clients do not read, each from a different position. Returns the memory at that time, the bytes
/// that a reading client got, and the stalled clients.
#[cfg(target_os = "linux")]
fn with_stalled_clients(proxy: &Proxy, count: usize) -> (usize, Vec<u8>, Vec<TcpStream>) {
    let records = run_of(2_000, 10_000);
    let mut upload = Upload::start(proxy.address, INGEST, &[]);
    upload.send(&records[0]);
    let path = format!("/v1/runs/{}/events?contract=frames.v2", newest_run(proxy));
    // Half of them connect at the start, the other half when there is much to catch up with.
    let mut clients: Vec<TcpStream> = (0..count / 2).map(|_| stalled(proxy, &path)).collect();
    let reading = {
        let stream = stalled(proxy, &path);
        thread::spawn(move || body_of(stream))
    };
    for record in &records[1..] {
        upload.send(record);
    }
    assert_eq!(upload.finish().status, 201);
    let whole = reading.join().unwrap();
    clients.extend((0..count - count / 2).map(|at| stalled(proxy, &format!("{path}&after={}", at * STEP))));
    wait_until_stalled(proxy, count);
    (resident_kib(proxy), whole, clients)
}

#[test]
#[cfg(target_os = "linux")]
fn a_client_that_stops_reading_delays_no_one_stays_within_its_bound_and_catches_up() {
    const CLIENTS: usize = 200;
    const EACH_KIB: usize = 256;
    // A reader more than 64 KiB behind encodes for itself, so each stalled client has its own window.
    let settings = [("FRAMEGATE__SERVER__VIEW_BYTES", "65536")];
    let alone = with_stalled_clients(&Proxy::with(&settings), 0).0;
    let proxy = Proxy::with(&settings);
    let (resident, whole, clients) = with_stalled_clients(&proxy, CLIENTS);
    assert!(whole.len() > 40_000_000, "{}", whole.len());
    let grown = resident.saturating_sub(alone);
    eprintln!("{resident} KiB with {CLIENTS} stalled clients, {alone} KiB without");
    assert!(grown < CLIENTS * EACH_KIB, "{CLIENTS} stalled clients cost {grown} KiB");
    let (from_the_start, later) = clients.into_iter().enumerate().partition::<Vec<_>, _>(|(at, _)| *at < CLIENTS / 2);
    for (_, client) in from_the_start.into_iter().step_by(33) {
        assert!(body_of(client) == whole, "a client that resumes reading must get what the others got");
    }
    for (at, client) in later.into_iter().step_by(33) {
        let rest = body_of(client);
        // Every stream starts with the retry delay.
        let opening = rest.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        assert!(rest.starts_with(b"retry: "));
        let rest = &rest[opening..];
        let first = format!("id: {}\n", (at - CLIENTS / 2) * STEP + 1);
        assert!(rest.starts_with(first.as_bytes()) && whole.ends_with(rest), "from {first}");
    }
}

#[test]
fn a_reader_behind_a_window_of_any_size_gets_everything() {
    let records = run_of(1_500, 200);
    for view_bytes in ["0", "1", "4096", "4294967296"] {
        let proxy = Proxy::with(&[("FRAMEGATE__SERVER__VIEW_BYTES", view_bytes)]);
        let mut upload = Upload::start(proxy.address, INGEST, &[]);
        upload.send(&records[0]);
        let run = newest_run(&proxy);
        let paths = ["sse.v1", "frames.v2"].map(|contract| format!("/v1/runs/{run}/events?contract={contract}"));
        let behind = paths.each_ref().map(|path| stalled(&proxy, path));
        let reading = paths.each_ref().map(|path| {
            let stream = stalled(&proxy, path);
            thread::spawn(move || body_of(stream))
        });
        for record in &records[1..] {
            upload.send(record);
        }
        assert_eq!(upload.finish().status, 201);
        for ((path, behind), reading) in paths.iter().zip(behind).zip(reading) {
            let live = reading.join().unwrap();
            let text = String::from_utf8(live.clone()).unwrap();
            assert!((0..1_500).all(|piece| text.contains(&format!("{piece:08} "))), "{path} with {view_bytes}");
            assert!(body_of(behind) == live, "{path} with {view_bytes}: a stalled reader");
            assert!(body_of(stalled(&proxy, path)) == live, "{path} with {view_bytes}: replay");
        }
    }
}

#[test]
fn slow_headers_are_cut_off_while_others_are_served() {
    const ATTACKERS: usize = 150;
    let settings =
        [("FRAMEGATE__SERVER__HEADER_READ_TIMEOUT_MS", "1500"), ("FRAMEGATE__SERVER__MAX_CONNECTIONS", "200")];
    let proxy = Proxy::with(&settings);
    let begin = Instant::now();
    let mut open: Vec<TcpStream> = (0..ATTACKERS)
        .map(|_| {
            let mut stream = connect(proxy.address);
            stream.write_all(b"GET /v1/runs HTTP/1.1\r\nhost: localhost\r\nx-slow: ").unwrap();
            stream.set_nonblocking(true).unwrap();
            stream
        })
        .collect();
    let (mut served, mut served_before_the_limit) = (0, 0);
    while !open.is_empty() {
        // Bytes of the head do not extend the time limit.
        open.retain_mut(|stream| {
            let is_refused = stream.write_all(b"x").is_err();
            let mut answer = [0; 256];
            let is_closed = match stream.read(&mut answer) {
                Ok(read) => {
                    assert!(!answer[..read].starts_with(b"HTTP/1.1 200"));
                    read == 0
                }
                Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
            };
            !is_refused && !is_closed
        });
        assert_eq!(get(proxy.address, "/healthz", &[]).status, 200);
        served += 1;
        served_before_the_limit += usize::from(open.len() == ATTACKERS);
        assert!(begin.elapsed() < Duration::from_secs(20), "{} are still open", open.len());
        thread::sleep(Duration::from_millis(25));
    }
    assert!(begin.elapsed() >= Duration::from_millis(1400), "cut off before the limit: {:?}", begin.elapsed());
    assert!(served_before_the_limit > 0, "{served}");
}

#[test]
fn slow_headers_on_every_connection_only_delay_others() {
    let settings = [("FRAMEGATE__SERVER__HEADER_READ_TIMEOUT_MS", "700"), ("FRAMEGATE__SERVER__MAX_CONNECTIONS", "20")];
    let proxy = Proxy::with(&settings);
    let attackers: Vec<TcpStream> = (0..40)
        .map(|_| {
            let mut stream = connect(proxy.address);
            stream.write_all(b"GET /v1/runs HTTP/1.1\r\nhost: loc").unwrap();
            stream
        })
        .collect();
    // This request waits until two rounds of attackers have timed out.
    assert_eq!(get(proxy.address, "/healthz", &[]).status, 200);
    drop(attackers);
}

fn signal(proxy: &Proxy, name: &str) {
    let sent = Command::new("kill").args([name, &proxy.pid().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn an_upload_faster_than_the_proxy_reads_is_delayed_without_loss() {
    let proxy = Proxy::start();
    let records = run_of(1_500, 20_000);
    let mut upload = Upload::start(proxy.address, INGEST, &[]);
    upload.send(&records[0]);
    let run = newest_run(&proxy);
    // The stopped process reads nothing, like a log that hangs.
    signal(&proxy, "-STOP");
    let sent = Arc::new(AtomicUsize::new(0));
    let sender = {
        let (records, sent) = (records.clone(), sent.clone());
        thread::spawn(move || {
            for record in &records[1..] {
                upload.send(record);
                sent.fetch_add(1, Ordering::Relaxed);
            }
            upload.finish().status
        })
    };
    let mut before = usize::MAX;
    loop {
        thread::sleep(Duration::from_millis(300));
        let now = sent.load(Ordering::Relaxed);
        if now == before {
            break;
        }
        before = now;
    }
    let waiting = before < records.len() - 1;
    signal(&proxy, "-CONT");
    assert!(waiting, "the sockets took the whole upload");
    assert_eq!(sender.join().unwrap(), 201);
    let path = format!("/v1/runs/{run}/events?contract=raw");
    let mut answer = get(proxy.address, &path, &[("accept", "application/octet-stream")]);
    for (at, record) in records.iter().enumerate() {
        let line = answer.line().unwrap_or_else(|| panic!("record {at} of {} is missing", records.len()));
        assert!(line.as_bytes() == record.trim_ascii_end(), "record {at} differs: {:.200}", line);
    }
    assert_eq!(answer.line(), None);
}
