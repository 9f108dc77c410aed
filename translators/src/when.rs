//! Finds when an input began: the first time in its records.
//!
//! Input: the beginning of an input, read ahead. Output: Unix epoch milliseconds. Never: a time that is not from a record, or
//! more input inspected than the caller feeds.

use crate::decode::Record;
use crate::framing::{Framing, Limits, Reader, Unit, UnitSink};
use crate::records::{self, UnitPart};
use crate::runners::{RUNNERS, Runner};

/// Searches for the first time at the beginning of an input.
#[derive(Debug)]
pub struct FirstTime {
    reader: Reader,
    runner: Option<&'static Runner>,
    found: Option<u64>,
}

impl FirstTime {
    /// A search at the start of an input. If `runner` is `None`, records of any runner count; if `framing` is `None`, it is
    /// detected from the first bytes.
    pub fn new(runner: Option<&'static Runner>, framing: Option<Framing>, limits: Limits) -> Self {
        let reader = framing.map_or_else(|| Reader::sniffing(limits), |framing| Reader::new(framing, limits));
        Self { reader, runner, found: None }
    }

    /// Feeds the next bytes; returns the time once a record has one.
    pub fn feed(&mut self, chunk: &[u8]) -> Option<u64> {
        self.read(|reader, sink| reader.feed(chunk, sink))
    }

    /// The input is over.
    pub fn finish(&mut self) -> Option<u64> {
        self.read(Reader::finish)
    }

    fn read(&mut self, step: impl FnOnce(&mut Reader, &mut UnitSink<'_>)) -> Option<u64> {
        let Self { reader, runner, found } = self;
        if found.is_none() {
            step(reader, &mut |unit| {
                if found.is_none() {
                    *found = time_of(&unit, *runner);
                }
            });
        }
        *found
    }
}

fn time_of(unit: &Unit<'_>, runner: Option<&'static Runner>) -> Option<u64> {
    let mut found = None;
    records::read(unit, &mut |part| {
        let UnitPart::Value { json, fields, .. } = part else { return };
        let record = Record { json, fields, event_name: unit.event_name, index: 0, offset: unit.offset };
        let from_record = || match runner {
            Some(runner) => (runner.time)(&record),
            None => RUNNERS.iter().find_map(|runner| (runner.time)(&record)),
        };
        found = found.or_else(from_record).filter(|ms| *ms > 0);
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runners::runner;

    fn first(name: Option<&str>, text: &str) -> Option<u64> {
        let mut time = FirstTime::new(name.map(|name| runner(name).unwrap()), None, Limits::default());
        for byte in text.as_bytes() {
            time.feed(&[*byte]);
        }
        time.finish()
    }

    #[test]
    fn the_first_time_is_found_after_records_without_one() {
        for (name, text, expected) in [
            (
                "claude-code",
                "{\"type\":\"system\"}\n{\"type\":\"assistant\",\"timestamp\":\"2026-01-02T03:04:05.006Z\"}\n{\"timestamp\":\"2027-01-01T00:00:00Z\"}\n",
                1_767_323_045_006,
            ),
            ("claude-code", "[{\"type\":\"system\"},{\"timestamp\":\"2026-01-02T03:04:05.006Z\"}]", 1_767_323_045_006),
            (
                "codex",
                "{\"id\":0,\"result\":{}}\n{\"method\":\"x\",\"emittedAtMs\":1767323045006}\n",
                1_767_323_045_006,
            ),
            (
                "codex",
                "{\"type\":\"session_meta\",\"timestamp\":\"2026-01-02T03:04:05.006Z\",\"payload\":{}}",
                1_767_323_045_006,
            ),
            ("opencode", "{\"type\":\"text\",\"timestamp\":1767323045006,\"sessionID\":\"s\"}\n", 1_767_323_045_006),
            (
                "opencode",
                "data: {\"type\":\"server.connected\",\"properties\":{}}\n\ndata: {\"type\":\"session.updated\",\"properties\":{\"info\":{\"time\":{\"created\":1,\"updated\":1767323045006}}}}\n\n",
                1_767_323_045_006,
            ),
            (
                "opencode",
                "{\"info\":{\"id\":\"ses_1\",\"time\":{\"created\":1767323045006,\"updated\":1767323045999}},\"messages\":[]}",
                1_767_323_045_006,
            ),
            (
                "open-responses",
                "data: {\"type\":\"response.created\",\"response\":{\"created_at\":1767323045}}\n\n",
                1_767_323_045_000,
            ),
        ] {
            assert_eq!(first(Some(name), text), Some(expected), "{name}: {text}");
            assert_eq!(first(None, text), Some(expected), "auto: {text}");
        }
    }

    #[test]
    fn invalid_times_are_skipped() {
        for text in [
            "",
            "{}\nnot json\n",
            "{\"timestamp\":\"soon\"}\n",
            "{\"timestamp\":0}\n",
            "{\"response\":{\"created_at\":-1}}\n",
        ] {
            assert_eq!(first(None, text), None, "{text}");
        }
    }
}
