//! Long runs: the memory of a frame, the time to resume, and that memory is bounded.

use crate::proxy::Proxy;
use crate::wire::{Upload, events, read_until};
use crate::{Scale, not_measured, records, row};
use std::time::{Duration, Instant};

/// The number of records in one chunk of an upload.
const AT_ONCE: usize = 200;

pub(crate) fn frames_and_resuming(scale: Scale) {
    for count in scale.stored_records {
        let proxy = Proxy::start(&[("FRAMEGATE__LOG__MAX_BYTES", "17179869184")]);
        ingest(&proxy, 1, 100);
        let before = proxy.resident();
        let input = ingest(&proxy, 2, count);
        let grown = before.zip(proxy.resident()).map(|(before, after)| after.saturating_sub(before));
        let run = proxy.newest_run();
        let frames = proxy.frames(&run);
        if frames > 10_000 {
            row(
                &format!("memory of a stored frame, {frames} frames"),
                &grown.map_or_else(not_measured, |grown| {
                    format!("{} bytes (its record: {})", grown / frames, input as u64 * 2 / frames)
                }),
            );
        }
        let near_the_end = (frames - 10).to_string();
        resume(&proxy, &run, "frames.v2", &near_the_end, frames, "first reader");
        // Text cursors end in a number; the first event shows their form.
        let mut stream = events(proxy.address, &format!("/v1/runs/{run}/events?contract=sse.v1"), None);
        let head = String::from_utf8(read_until(&mut stream, b"\n\n")).unwrap();
        drop(stream);
        let id = head.lines().find_map(|line| line.strip_prefix("id: ")).unwrap();
        let digits = id.len() - id.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (prefix, number) = id.split_at(digits);
        let cursor = format!("{prefix}{:0width$}", count - 5, width = number.len());
        for reader in ["first reader", "later reader"] {
            resume(&proxy, &run, "sse.v1", &cursor, frames, reader);
        }
    }
}

/// A long run is taken in by one proxy, and resumed near its end at another one.
#[cfg(feature = "jetstream")]
pub(crate) fn resuming_elsewhere(scale: Scale, writer: &Proxy, reader: &Proxy) {
    let begin = Instant::now();
    ingest(writer, 1, scale.stored_records[1]);
    let took = begin.elapsed();
    let run = writer.newest_run();
    let frames = writer.frames(&run);
    row(
        &format!("taking in one run of {frames} frames"),
        &format!("{:.0} frames/s", frames as f64 / took.as_secs_f64()),
    );
    let near_the_end = (frames - 10).to_string();
    for proxy in [writer, reader] {
        let at = if std::ptr::eq(proxy, writer) { "at its proxy" } else { "at another proxy" };
        for order in ["first reader", "later reader"] {
            resume(proxy, &run, "frames.v2", &near_the_end, frames, &format!("{order} {at}"));
        }
    }
}

fn resume(proxy: &Proxy, run: &str, contract: &str, cursor: &str, frames: u64, reader: &str) {
    let path = format!("/v1/runs/{run}/events?contract={contract}");
    let mut times: Vec<Duration> = Vec::new();
    // Only one request can be the first reader.
    for _ in 0..if reader.starts_with("first reader") { 1 } else { 9 } {
        let begin = Instant::now();
        let mut stream = events(proxy.address, &path, Some(cursor));
        read_until(&mut stream, b"\n\n");
        times.push(begin.elapsed());
    }
    times.sort_unstable();
    row(
        &format!("resuming near the end of {frames} frames, {contract}, {reader}"),
        &format!("{:.2?} to the first event", times[times.len() / 2]),
    );
}

/// Ingests one run; returns the size of its records.
fn ingest(proxy: &Proxy, session: usize, records: usize) -> usize {
    ingest_watched(proxy, session, records, records, &mut || {})
}

/// The same, with messages of `in_message` records. Calls `after_chunk` after each chunk of the upload.
fn ingest_watched(
    proxy: &Proxy,
    session: usize,
    records: usize,
    in_message: usize,
    after_chunk: &mut dyn FnMut(),
) -> usize {
    let mut upload = Upload::start(proxy.address);
    upload.send(&records::opening(session));
    let (mut batch, mut bytes) = (Vec::new(), 0);
    for record in 0..records {
        if record > 0 && record.is_multiple_of(in_message) {
            batch.extend(records::next_message(session, record / in_message));
        }
        batch.extend(records::piece(session, &format!("piece {record:09} of a text ")));
        if (record + 1) % AT_ONCE == 0 || record + 1 == records {
            bytes += batch.len();
            upload.send(&batch);
            batch.clear();
            after_chunk();
        }
    }
    upload.send(&records::closing(session));
    upload.finish();
    bytes
}

/// Runs are added to and evicted from a log that holds only a few of them.
pub(crate) fn flat(scale: Scale) {
    let proxy = Proxy::start(&[("FRAMEGATE__LOG__MAX_BYTES", "67108864")]);
    let (records, mut sizes, begin) = (10_000, Vec::new(), Instant::now());
    for run in 0..scale.flat_runs {
        ingest(&proxy, run, records);
        sizes.extend(proxy.resident().map(|bytes| bytes >> 20));
    }
    let took = begin.elapsed();
    let frames = scale.flat_runs as u64 * records as u64 * 2;
    // The log is filled during the first tenth.
    let full = &sizes[sizes.len() / 10..];
    row(
        &format!("memory over {frames} frames in runs of 20,000, log.max_bytes 64 MiB"),
        &full.iter().min().zip(full.iter().max()).map_or_else(not_measured, |(least, most)| {
            format!("{least} to {most} MiB ({:.0} frames/s taken)", frames as f64 / took.as_secs_f64())
        }),
    );
}

/// How many frames are kept of a run while it is open.
const KEPT: &str = "20000";

/// The number of records in each message. The memory of a run includes its longest message.
const IN_MESSAGE: usize = 10_000;

/// One very long run, in a log that keeps only its last frames.
pub(crate) fn one_run(scale: Scale) {
    for kind in ["memory", "sqlite"] {
        let dir = std::env::temp_dir().join(format!("framegate-load-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let path = dir.join("framegate.db");
        let proxy = Proxy::start(&[
            ("FRAMEGATE__LOG__KIND", kind),
            ("FRAMEGATE__LOG__PATH", path.to_str().unwrap()),
            ("FRAMEGATE__LOG__FSYNC", "interval"),
            ("FRAMEGATE__LOG__RUN_MAX_FRAMES", KEPT),
        ]);
        let (mut sizes, mut pieces, begin) = (Vec::new(), 0_usize, Instant::now());
        ingest_watched(&proxy, 1, scale.long_run / 2, IN_MESSAGE, &mut || {
            pieces += 1;
            if pieces.is_multiple_of(10) {
                sizes.extend(proxy.resident().map(|bytes| bytes >> 20));
            }
        });
        let took = begin.elapsed();
        let run = proxy.newest_run();
        let frames = proxy.frames(&run);
        // The first tenth fills the log. Comparing the two halves after it shows whether memory grows.
        let full = &sizes[sizes.len() / 10..];
        let most = |sizes: &[u64]| sizes.iter().max().copied().unwrap_or_default();
        let (first, second) = full.split_at(full.len() / 2);
        row(
            &format!("memory over one run of {frames} frames, {KEPT} kept, {kind} log"),
            &full.iter().min().map_or_else(not_measured, |least| {
                let (first, second, rate) = (most(first), most(second), frames as f64 / took.as_secs_f64());
                format!("{least} to {first} MiB, then up to {second} MiB ({rate:.0} frames/s taken)")
            }),
        );
        drop(proxy);
        let _ = std::fs::remove_dir_all(&dir);
    }
}
