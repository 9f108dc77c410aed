//! Streams of each runner with a given text, and shortcuts from them to redacted output.

use super::secrets::escaped;
use crate::support::{EPOCH_MS, fixtures_dir, identity};
use framegate_translators::contracts::Contract;
use framegate_translators::encode::{EncoderOptions, EventRef, write_ndjson, write_raw};
use framegate_translators::frame::{Body, Frame};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::{Ingest, Translator};
use framegate_translators::redact::{Rules, Settings};
use framegate_translators::runners::Runner;
use std::sync::{Arc, LazyLock};

pub static RULES: LazyLock<Arc<Rules>> = LazyLock::new(|| Arc::new(Rules::new(Settings::default()).unwrap()));

pub fn redacting(runner: &'static Runner, rules: &Arc<Rules>) -> Ingest {
    Ingest::new(runner, None, Limits::default(), identity()).redacting(rules.clone())
}

pub fn run(ingest: Ingest, contract: &'static Contract, chunks: &[&[u8]], flushes: bool) -> Vec<u8> {
    let mut translator =
        Translator::new(ingest, contract, EncoderOptions { experimental: true, ..EncoderOptions::default() });
    let mut out = Vec::new();
    let mut sink = |_: &Frame, events: &mut dyn Iterator<Item = EventRef<'_>>| {
        for event in events {
            if contract.name == framegate_translators::contracts::RECORDS.name {
                write_raw(event, &mut out)
            } else {
                write_ndjson(event, &mut out)
            }
        }
    };
    for chunk in chunks {
        translator.feed(chunk, EPOCH_MS, &mut sink);
        if flushes {
            translator.flush(u64::MAX, &mut sink);
        }
    }
    translator.finish(EPOCH_MS, &mut sink);
    out
}

pub fn redacted(runner: &'static Runner, contract: &'static Contract, bytes: &[u8]) -> Vec<u8> {
    run(redacting(runner, &RULES), contract, &[bytes], false)
}

pub fn has(text: &[u8], what: &str) -> bool {
    memchr::memmem::find(text, what.as_bytes()).is_some()
}

/// A template in the recordings of a runner, for inputs with a given text.
///
/// Each line is a record, in which the content of a string may be a placeholder: `{piece}` is a piece of the text, and a line
/// with it is repeated for each piece; `{text}` is the whole text; `{nested}` is the whole text in JSON that is in a string.
/// `"{number}"`, with its quotes, is the number of the record; `{number}` in a longer string has twelve digits.
fn template(runner: &str, file: &str, contains: &str) -> Vec<String> {
    let path = fixtures_dir(runner).join("templates").join(file);
    let text = std::fs::read_to_string(path);
    let text = text.unwrap_or_else(|error| panic!("add tests/fixtures/{runner}/templates/{file}, {contains}: {error}"));
    text.lines().map(|line| format!("{line}{}", if line.starts_with("data:") { "\n\n" } else { "\n" })).collect()
}

fn with_text(line: &str, text: &str) -> String {
    line.replace("{text}", &escaped(text, 1)).replace("{nested}", &escaped(text, 2))
}

/// The records with their numbers.
fn numbered(lines: Vec<String>) -> Vec<String> {
    let number = |(nth, line): (usize, String)| {
        line.replace("\"{number}\"", &nth.to_string()).replace("{number}", &format!("{nth:012}"))
    };
    lines.into_iter().enumerate().map(number).collect()
}

/// A stream of one runner with these pieces of one text, as records; the whole text is repeated at the end.
pub fn stream(name: &str, pieces: &[&str]) -> Vec<String> {
    let whole = pieces.concat();
    let lines =
        template(name, "pieces.txt", "a run that says one text, in `{piece}` and, if a record repeats it, `{text}`");
    let each = |line: String| -> Vec<String> {
        if !line.contains("{piece}") {
            return vec![with_text(&line, &whole)];
        }
        pieces.iter().map(|piece| line.replace("{piece}", &escaped(piece, 1))).collect()
    };
    numbered(lines.into_iter().flat_map(each).collect())
}

/// Whether a text is as expected. If no record of the runner shows that a text is over, the mark of a secret near its end may
/// take the rest with it.
pub fn agrees(runner: &str, told: &str, expected: &str) -> bool {
    let shows_end = || template(runner, "pieces.txt", "").iter().any(|line| line.contains("{text}"));
    told == expected || (told.ends_with(']') && expected.starts_with(told) && !shows_end())
}

/// A run of one runner with the text in a tool's arguments, its output, a diff, search results and an error, as far as the
/// runner has them.
pub fn places(name: &str, text: &str) -> Vec<u8> {
    let lines = template(name, "places.txt", "a run with `{text}` wherever its records can have a text");
    numbered(lines.iter().map(|line| with_text(line, text)).collect()).concat().into_bytes()
}

pub fn input(name: &str, pieces: &[&str]) -> Vec<u8> {
    stream(name, pieces).concat().into_bytes()
}

/// The text of a run's deltas.
pub fn run_text(frames: &[Frame]) -> String {
    frames
        .iter()
        .filter_map(|frame| match &frame.body {
            Body::OutputTextDelta(block) => Some(block.delta.as_str()),
            _ => None,
        })
        .collect()
}

pub fn frames_of(runner: &'static Runner, bytes: &[u8]) -> Vec<Frame> {
    let mut ingest = redacting(runner, &RULES);
    let mut frames: Vec<Frame> = ingest.feed(bytes, EPOCH_MS).collect();
    frames.extend(ingest.finish(EPOCH_MS));
    frames
}
