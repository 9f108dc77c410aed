//! Whether a long session costs more for each event than a short one.
//!
//! One message, or one command's output, comes in pieces: 100,000 of them in one session, and as many in sessions of
//! 1,000. The same number of events is decoded either way, so the ratio of the two times is what length costs: 1 where a
//! piece costs the same however long its message is by then.
//!
//! `cargo bench -p framegate-translators --bench long_session [-- SURFACE [PIECES]]`
//!
//! With PIECES, one session of that many is decoded, once and untimed, for a tool that counts instructions.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::indexing_slicing, missing_docs, reason = "a benchmark")]

use framegate_translators::framing::Limits;
use framegate_translators::pipeline::Ingest;
use framegate_translators::runners::RUNNERS;
use framegate_translators::sequence::Identity;
use std::fmt::Write;
use std::hint::black_box;
use std::time::{Duration, Instant};
use uuid::Uuid;

const EPOCH_MS: u64 = 1_770_000_000_000;
const LONG: usize = 100_000;
const SHORT: usize = 1_000;
const ROUNDS: usize = 7;
const CHUNK: usize = 64 << 10;
/// What stands for the piece in a record.
const PIECE: &str = "PIECE";
/// What stands for all of them.
const WHOLE: &str = "WHOLE";

/// A way in which a runner streams.
struct Surface {
    name: &'static str,
    runner: &'static str,
    sse: bool,
    before: &'static [&'static str],
    each: &'static str,
    after: &'static [&'static str],
}

const SURFACES: &[Surface] = &[
    Surface {
        name: "codex-text",
        runner: "codex",
        sse: false,
        before: &[
            r#"{"method":"turn/started","params":{"threadId":"0199-thread-0001","turn":{"id":"0199-turn-0001","items":[],"status":"inProgress","error":null}},"emittedAtMs":1770000000000}"#,
        ],
        each: r#"{"method":"item/agentMessage/delta","params":{"threadId":"0199-thread-0001","turnId":"0199-turn-0001","itemId":"msg_0001","delta":"PIECE"},"emittedAtMs":1770000000100}"#,
        after: &[
            r#"{"method":"item/completed","params":{"item":{"type":"agentMessage","id":"msg_0001","text":"WHOLE","phase":null},"threadId":"0199-thread-0001","turnId":"0199-turn-0001"},"emittedAtMs":1770000000200}"#,
            r#"{"method":"turn/completed","params":{"threadId":"0199-thread-0001","turn":{"id":"0199-turn-0001","items":[],"status":"completed","error":null}},"emittedAtMs":1770000000300}"#,
        ],
    },
    Surface {
        name: "codex-output",
        runner: "codex",
        sse: false,
        before: &[
            r#"{"method":"turn/started","params":{"threadId":"0199-thread-0001","turn":{"id":"0199-turn-0001","items":[],"status":"inProgress","error":null}},"emittedAtMs":1770000000000}"#,
            r#"{"method":"item/started","params":{"item":{"type":"commandExecution","id":"call_0001","command":"/bin/bash -lc 'seq 1 9'","status":"inProgress","aggregatedOutput":null,"exitCode":null},"threadId":"0199-thread-0001","turnId":"0199-turn-0001"},"emittedAtMs":1770000000050}"#,
        ],
        each: r#"{"method":"item/commandExecution/outputDelta","params":{"threadId":"0199-thread-0001","turnId":"0199-turn-0001","itemId":"call_0001","delta":"PIECE"},"emittedAtMs":1770000000100}"#,
        after: &[
            r#"{"method":"item/completed","params":{"item":{"type":"commandExecution","id":"call_0001","command":"/bin/bash -lc 'seq 1 9'","status":"completed","aggregatedOutput":"WHOLE","exitCode":0,"durationMs":40},"threadId":"0199-thread-0001","turnId":"0199-turn-0001"},"emittedAtMs":1770000000200}"#,
            r#"{"method":"turn/completed","params":{"threadId":"0199-thread-0001","turn":{"id":"0199-turn-0001","items":[],"status":"completed","error":null}},"emittedAtMs":1770000000300}"#,
        ],
    },
    Surface {
        name: "opencode-event",
        runner: "opencode",
        sse: true,
        before: &[
            r#"{"id":"evt_1","type":"session.status","properties":{"sessionID":"ses_0001","status":{"type":"busy"}}}"#,
            r#"{"id":"evt_2","type":"message.updated","properties":{"sessionID":"ses_0001","info":{"id":"msg_0001","role":"assistant","modelID":"m","time":{"created":1770000000000},"sessionID":"ses_0001"}}}"#,
            r#"{"id":"evt_3","type":"message.part.updated","properties":{"sessionID":"ses_0001","part":{"id":"prt_0001","messageID":"msg_0001","sessionID":"ses_0001","type":"text","text":"","time":{"start":1770000000050}}}}"#,
        ],
        each: r#"{"id":"evt_4","type":"message.part.delta","properties":{"sessionID":"ses_0001","messageID":"msg_0001","partID":"prt_0001","field":"text","delta":"PIECE"}}"#,
        after: &[
            r#"{"id":"evt_5","type":"message.part.updated","properties":{"sessionID":"ses_0001","part":{"id":"prt_0001","messageID":"msg_0001","sessionID":"ses_0001","type":"text","text":"WHOLE","time":{"start":1770000000050,"end":1770000000200}}}}"#,
            r#"{"id":"evt_6","type":"message.updated","properties":{"sessionID":"ses_0001","info":{"id":"msg_0001","role":"assistant","modelID":"m","time":{"created":1770000000000,"completed":1770000000250},"sessionID":"ses_0001"}}}"#,
            r#"{"id":"evt_7","type":"session.idle","properties":{"sessionID":"ses_0001"}}"#,
        ],
    },
    Surface {
        name: "opencode-next",
        runner: "opencode",
        sse: true,
        before: &[
            r#"{"id":"evt_1","type":"session.next.step.started","data":{"timestamp":1770000000000,"sessionID":"ses_0001","assistantMessageID":"msg_0001","model":{"id":"m"}}}"#,
            r#"{"id":"evt_2","type":"session.next.text.started","data":{"timestamp":1770000000050,"sessionID":"ses_0001","assistantMessageID":"msg_0001","textID":"text-0"}}"#,
        ],
        each: r#"{"id":"evt_3","type":"session.next.text.delta","data":{"timestamp":1770000000100,"sessionID":"ses_0001","assistantMessageID":"msg_0001","textID":"text-0","delta":"PIECE"}}"#,
        after: &[
            r#"{"id":"evt_4","type":"session.next.text.ended","data":{"timestamp":1770000000200,"sessionID":"ses_0001","assistantMessageID":"msg_0001","textID":"text-0","text":"WHOLE"}}"#,
            r#"{"id":"evt_5","type":"session.next.step.ended","data":{"timestamp":1770000000250,"sessionID":"ses_0001","assistantMessageID":"msg_0001","finish":"stop"}}"#,
        ],
    },
];

fn main() {
    // `cargo test --benches` runs this too: one short round shows that it works.
    let args: Vec<String> = std::env::args().skip(1).collect();
    let quick = !args.iter().any(|arg| arg == "--bench");
    let mut words = args.iter().filter(|arg| !arg.starts_with('-'));
    let only = words.next();
    let pieces: Option<usize> = words.next().map(|pieces| pieces.parse().unwrap());
    let surfaces = SURFACES.iter().filter(|surface| only.is_none_or(|only| surface.name == only));
    if let Some(pieces) = pieces {
        for surface in surfaces {
            let (events, said) = decode(surface.runner, &session(surface, pieces));
            println!("{}: {pieces} pieces, {events} frames, {said} of them with a piece", surface.name);
        }
        return;
    }
    let long = if quick { SHORT * 2 } else { LONG };
    println!("{:16} {:>12} {:>12} {:>7}", "ns for a piece", format!("of {SHORT}"), format!("of {long}"), "ratio");
    for surface in surfaces {
        let (few, many) = (session(surface, SHORT), session(surface, long));
        let (mut few_times, mut many_times) = (Vec::new(), Vec::new());
        for _ in 0..if quick { 1 } else { ROUNDS } {
            few_times.push(timed(|| (0..long / SHORT).map(|_| decode(surface.runner, &few).1).sum(), long));
            many_times.push(timed(|| decode(surface.runner, &many).1, long));
        }
        let (few, many) = (median(few_times), median(many_times));
        let each = |time: Duration| time.as_secs_f64() * 1e9 / long as f64;
        println!("{:16} {:>12.0} {:>12.0} {:>7.2}", surface.name, each(few), each(many), each(many) / each(few));
    }
}

fn timed(decode: impl FnOnce() -> usize, pieces: usize) -> Duration {
    let start = Instant::now();
    assert_eq!(decode(), pieces, "every piece is said once");
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// The records of a session whose one text comes in so many pieces.
fn session(surface: &Surface, pieces: usize) -> Vec<u8> {
    let mut whole = String::new();
    let mut text = String::new();
    let record = |text: &mut String, record: &str| {
        let (head, tail) = if surface.sse { ("data: ", "\n\n") } else { ("", "\n") };
        text.extend([head, record, tail]);
    };
    for line in surface.before {
        record(&mut text, line);
    }
    for nth in 0..pieces {
        let mut piece = String::new();
        write!(piece, "word{nth} ").unwrap();
        record(&mut text, &surface.each.replace(PIECE, &piece));
        whole.push_str(&piece);
    }
    for line in surface.after {
        record(&mut text, &line.replace(WHOLE, &whole));
    }
    text.into_bytes()
}

/// How many frames the session gives, and in how many of them a piece is said.
fn decode(runner: &str, input: &[u8]) -> (usize, usize) {
    let runner = RUNNERS.iter().find(|known| known.name == runner).unwrap();
    let identity = Identity { run_id: Uuid::from_u128(1), session_id: None };
    let mut ingest = Ingest::new(runner, None, Limits::default(), identity);
    let (mut frames, mut said) = (0, 0);
    let mut count = |drained: std::vec::Drain<'_, framegate_translators::frame::Frame>| {
        for frame in drained {
            frames += 1;
            said += usize::from(matches!(frame.body.kind(), "output_text_delta" | "tool_stdout"));
            black_box(&frame);
        }
    };
    for chunk in input.chunks(CHUNK) {
        count(ingest.feed(chunk, EPOCH_MS));
    }
    count(ingest.finish(EPOCH_MS));
    (frames, said)
}
