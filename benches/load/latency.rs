//! Measures the time from writing a record's first byte to reading its event's last byte, at a steady pace. The proxy's share
//! is that time minus the time that the same bytes take directly from the sender to the reader.

use crate::proxy::Proxy;
use crate::wire::{Upload, connect, events, read_until};
use crate::{Scale, records, row};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

const PER_SECOND: u64 = 10_000;
/// The number of digits, in nanoseconds, between two `@` marks in a piece of text.
const DIGITS: usize = 15;

pub(crate) fn one_run(scale: Scale) {
    let records = (PER_SECOND * scale.seconds) as usize;
    let straight = report("floor: the same bytes from sender to reader", straight(records));
    report("floor: the same through a relay of bytes", relayed(records));
    let whole = report("latency of a record, sse.v1, one run, 10,000 events/s", measured(1, records, &[]));
    added(straight, whole);
    let dir = std::env::temp_dir().join(format!("framegate-latency-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let path = dir.join("framegate.db");
    let settings = [
        ("FRAMEGATE__LOG__KIND", "sqlite"),
        ("FRAMEGATE__LOG__FSYNC", "interval"),
        ("FRAMEGATE__LOG__PATH", path.to_str().unwrap()),
    ];
    let times = measured(1, records, &settings);
    let _ = std::fs::remove_dir_all(&dir);
    let whole = report("the same, log on disk, fsync = interval", times);
    added(straight, whole);
}

/// The latency with these settings, after the floor.
pub(crate) fn one_run_with(what: &str, scale: Scale, settings: &[(&str, &str)]) {
    let records = (PER_SECOND * scale.seconds) as usize;
    let straight = report("floor: the same bytes from sender to reader", straight(records));
    let whole = report(what, measured(1, records, settings));
    added(straight, whole);
}

pub(crate) fn many_runs(scale: Scale) {
    let records = (PER_SECOND * scale.seconds) as usize;
    let what = format!("latency of a record, sse.v1, {} runs, together 10,000 events/s", scale.runs);
    let straight = report("floor: the same bytes from sender to reader, in one run", straight(records));
    let whole = report(&what, measured(scale.runs, records, &[]));
    added(straight, whole);
}

/// The median, the 99th and the 99.9th percentile.
type Quantiles = [Duration; 3];

fn report(what: &str, mut times: Vec<u64>) -> Quantiles {
    times.sort_unstable();
    let quantiles =
        [0.5, 0.99, 0.999].map(|share: f64| Duration::from_nanos(times[((times.len() - 1) as f64 * share) as usize]));
    let [half, most, nearly] = quantiles;
    row(what, &format!("p50 {half:.0?}  p99 {most:.0?}  p99.9 {nearly:.0?}  of {}", times.len()));
    quantiles
}

/// Prints the difference between the quantiles without and with the proxy.
fn added(straight: Quantiles, whole: Quantiles) {
    let [half, most, nearly] = std::array::from_fn(|nth| whole[nth].saturating_sub(straight[nth]));
    row("of that, added", &format!("p50 {half:.0?}  p99 {most:.0?}  p99.9 {nearly:.0?}"));
}

/// Each record contains the time at which it was written, and its event repeats it.
fn measured(runs: usize, records: usize, settings: &[(&str, &str)]) -> Vec<u64> {
    let proxy = Proxy::start(settings);
    let start = Instant::now();
    let mut readers = Vec::new();
    let mut uploads: Vec<Upload> = (0..runs)
        .map(|run| {
            let mut upload = Upload::start(proxy.address);
            upload.send(&records::opening(run));
            let path = loop {
                let newest = proxy.newest_run();
                if readers.iter().all(|(known, _)| *known != newest) {
                    break newest;
                }
                thread::sleep(Duration::from_millis(1));
            };
            let mut stream = events(proxy.address, &format!("/v1/runs/{path}/events?contract=sse.v1"), None);
            read_until(&mut stream, b"\n\n");
            readers.push((path, thread::spawn(move || times(stream, start))));
            upload
        })
        .collect();
    paced(records, start, |record, text| {
        let run = record % runs;
        uploads[run].send(&records::piece(run, text));
    });
    for (run, mut upload) in uploads.into_iter().enumerate() {
        upload.send(&records::closing(run));
        upload.finish();
    }
    let times: Vec<u64> = readers.into_iter().flat_map(|(_, reader)| reader.join().unwrap()).collect();
    assert_eq!(times.len(), records, "every record gives one event");
    times
}

/// Sends the same bytes directly to a reader on the other end of the connection.
fn straight(records: usize) -> Vec<u64> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut sender = connect(listener.local_addr().unwrap());
    let (reader, _) = listener.accept().unwrap();
    let start = Instant::now();
    let reader = thread::spawn(move || times(reader, start));
    paced(records, start, |_, text| sender.write_all(&records::piece(0, text)).unwrap());
    drop(sender);
    reader.join().unwrap()
}

/// Sends the same bytes through a thread that copies them to another socket.
fn relayed(records: usize) -> Vec<u64> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (mut sender, reader) = (connect(address), connect(address));
    let (mut from, _) = listener.accept().unwrap();
    let (mut to, _) = listener.accept().unwrap();
    to.set_nodelay(true).unwrap();
    let relay = thread::spawn(move || {
        let mut buffer = [0; 65_536];
        while let Ok(read @ 1..) = from.read(&mut buffer) {
            to.write_all(&buffer[..read]).unwrap();
        }
    });
    let start = Instant::now();
    let reader = thread::spawn(move || times(reader, start));
    paced(records, start, |_, text| sender.write_all(&records::piece(0, text)).unwrap());
    drop(sender);
    relay.join().unwrap();
    reader.join().unwrap()
}

/// Calls `send` at a steady pace, with a text that contains the current time.
fn paced(records: usize, epoch: Instant, mut send: impl FnMut(usize, &str)) {
    let begin = Instant::now();
    for record in 0..records {
        let due = Duration::from_nanos(record as u64 * 1_000_000_000 / PER_SECOND);
        // A sleep ends late by about the interval between two records. Late records are sent at once.
        if let Some(wait) = due.checked_sub(begin.elapsed()) {
            thread::sleep(wait);
        }
        send(record, &format!("@{:0DIGITS$}@", epoch.elapsed().as_nanos()));
    }
}

/// The transit time in nanoseconds of each time stamp that is found in the stream, until the stream ends.
fn times(mut stream: TcpStream, epoch: Instant) -> Vec<u64> {
    let (mut found, mut held, mut buffer) = (Vec::new(), Vec::new(), [0; 65_536]);
    loop {
        let read = stream.read(&mut buffer).unwrap();
        if read == 0 {
            return found;
        }
        let now = epoch.elapsed().as_nanos() as u64;
        held.extend_from_slice(&buffer[..read]);
        let mut at = 0;
        while let Some(mark) = held[at..].iter().position(|byte| *byte == b'@') {
            let Some(text) = held.get(at + mark + 1..at + mark + 1 + DIGITS) else { break };
            let sent = std::str::from_utf8(text).ok().and_then(|text| text.parse::<u64>().ok());
            found.extend(sent.map(|sent| now - sent));
            at += mark + 1 + if sent.is_some() { DIGITS + 1 } else { 0 };
            at = at.min(held.len());
        }
        let keep = held[at..].iter().position(|byte| *byte == b'@').map_or(held.len(), |mark| at + mark);
        held.drain(..keep);
        if held.len() < 2 && buffer[..read].ends_with(b"0\r\n\r\n") {
            return found;
        }
    }
}
