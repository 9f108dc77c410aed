//! Checks that a frame of a long session costs no more than a frame of a short one.
//!
//! The long sessions are one message in 500,000 pieces (a million frames), 100,000 tool calls, 50 MB of tool output, and 64
//! subagents that take turns. Each is compared with sessions of about 1,000 frames that have as many frames in total. The ratio
//! of the two times is therefore the cost of length: 1 if a piece costs the same however long the session is.
//!
//! `cargo bench -p framegate-translators --bench long_session [-- SESSION [PIECES]]`
//!
//! With PIECES, one session of that length is decoded once and not timed, for a tool that counts instructions.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::indexing_slicing, missing_docs, reason = "a benchmark")]

mod sessions;
#[allow(dead_code, unused_imports, reason = "of the stages, only decoding is needed here")]
mod stages;

use framegate_translators::contracts::CONTRACTS;
use framegate_translators::encode::Events;
use framegate_translators::runners::RUNNERS;
use sessions::{Session, Shape};
use stages::{Encoders, decode_into, ingest};
use std::hint::black_box;
use std::time::{Duration, Instant};

const ROUNDS: usize = 5;
/// The approximate number of frames in a short session.
const SHORT_FRAMES: usize = 1_000;

fn main() {
    // `cargo test --benches` runs this too; one short round shows that it works.
    let args: Vec<String> = std::env::args().skip(1).collect();
    let quick = !args.iter().any(|arg| arg == "--bench");
    let mut words = args.iter().filter(|arg| !arg.starts_with('-'));
    let only = words.next();
    let pieces: Option<usize> = words.next().map(|pieces| pieces.parse().unwrap());
    let sessions = sessions::all().filter(|session| only.is_none_or(|only| session.name == only));
    if let Some(pieces) = pieces {
        for session in sessions {
            let frames = decode(session, &session.bytes(pieces), pieces);
            println!("{}: {pieces} pieces, {frames} frames", session.name);
        }
        return;
    }
    let rounds = if quick { 1 } else { ROUNDS };
    println!(
        "{:18} {:>9} {:>9} {:>9} {:>6}   {:>9} {:>9} {:>6}",
        "ns per frame", "frames", "short", "long", "ratio", "short", "long", "ratio"
    );
    println!("{:18} {:>36}   {:>26}", "", "decoded", "and in every contract");
    for session in sessions {
        let pieces = if quick { 200 } else { long(session.shape) };
        let input = session.bytes(pieces);
        let frames = decode(session, &input, pieces);
        // The number of pieces in a short session, such that all short sessions together have about as many frames.
        let few = (pieces * SHORT_FRAMES).div_ceil(frames).min(pieces);
        let short = session.bytes(few);
        let (short_frames, times) = (decode(session, &short, few), pieces / few);
        let decoded = compare(rounds, frames, short_frames * times, |is_long| {
            if is_long {
                decode(session, &input, pieces);
            } else {
                (0..times).for_each(|_| assert_eq!(decode(session, &short, few), short_frames));
            }
        });
        let encoded = compare(rounds, frames, short_frames * times, |is_long| {
            if is_long {
                encode(session, &input);
            } else {
                (0..times).for_each(|_| encode(session, &short));
            }
        });
        println!(
            "{:18} {:>9} {:>9.0} {:>9.0} {:>6.2}   {:>9.0} {:>9.0} {:>6.2}",
            session.name,
            frames,
            decoded.0,
            decoded.1,
            decoded.1 / decoded.0,
            encoded.0,
            encoded.1,
            encoded.1 / encoded.0,
        );
    }
}

/// The number of pieces in a long session of this shape.
fn long(shape: Shape) -> usize {
    match shape {
        Shape::Deltas => 500_000,
        Shape::Tools | Shape::Subagents => 100_000,
        Shape::Output => (50 << 20) / sessions::OUTPUT_BYTES,
    }
}

/// The nanoseconds for a frame of the short sessions and of the long one: medians of alternating rounds.
fn compare(rounds: usize, long_frames: usize, short_frames: usize, mut run: impl FnMut(bool)) -> (f64, f64) {
    let (mut short, mut long) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        for (is_long, times) in [(false, &mut short), (true, &mut long)] {
            let start = Instant::now();
            run(is_long);
            times.push(start.elapsed());
        }
    }
    let each = |times: Vec<Duration>, frames: usize| median(times).as_secs_f64() * 1e9 / frames as f64;
    (each(short, short_frames), each(long, long_frames))
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// The number of frames in the session.
fn decode(session: &Session, input: &[u8], pieces: usize) -> usize {
    let runner = RUNNERS.iter().find(|known| known.name == session.runner).unwrap();
    let (mut frames, mut said) = (0, 0);
    decode_into(ingest(runner), input, &mut |frame| {
        frames += 1;
        said += usize::from(frame.body.kind() == session.gives);
        black_box(&frame);
    });
    assert_eq!(said, pieces, "{}: each piece must produce one {}", session.name, session.gives);
    frames
}

/// Decodes the session, and encodes each frame in every contract.
fn encode(session: &Session, input: &[u8]) {
    let runner = RUNNERS.iter().find(|known| known.name == session.runner).unwrap();
    let mut encoders: Vec<Encoders> = CONTRACTS.iter().map(Encoders::new).collect();
    let mut events = Events::default();
    decode_into(ingest(runner), input, &mut |frame| {
        for encoder in &mut encoders {
            events.clear();
            encoder.frame(&frame, &mut events);
            black_box(&events);
        }
    });
}
