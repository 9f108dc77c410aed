//! Writes events to a byte stream in the requested form.
//!
//! Input: events in order. Output: bytes, as soon as they are complete. Never: more than `HELD_BYTES` and one event held back;
//! a write after a failed one.

use framegate_translators::contracts::{Contract, SseStyle};
use framegate_translators::encode::{EventRef, write_ndjson, write_raw, write_sse};
use std::io::{self, Write};

/// The framing of events in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Form {
    /// One event per line
    Ndjson,
    /// Server-sent events
    Sse,
    /// One JSON list
    List,
    /// The contract's own log: its durable events, one per line
    Log,
}

/// Writes one contract's events.
pub(super) struct EventWriter<W> {
    out: W,
    held: Vec<u8>,
    layout: Layout,
    result: io::Result<()>,
}

enum Layout {
    Raw,
    Ndjson,
    /// Only the events for which the function returns true.
    Log(fn(EventRef<'_>) -> bool),
    Sse {
        named: bool,
    },
    List {
        close: &'static str,
        empty: bool,
    },
}

/// The buffer is written as soon as it reaches this size.
const HELD_BYTES: usize = 256 << 10;

impl<W: Write> EventWriter<W> {
    /// Creates a writer. An envelope's opening goes into the buffer.
    pub(super) fn new(out: W, contract: &Contract, form: Form) -> Self {
        let mut held = Vec::new();
        let layout = match (contract.sse, form) {
            (SseStyle::Raw, _) => Layout::Raw,
            (_, Form::Ndjson) => Layout::Ndjson,
            (_, Form::Log) => contract.log.map_or(Layout::Ndjson, Layout::Log),
            (style, Form::Sse) => Layout::Sse { named: style == SseStyle::Named },
            // Lists of hecate.v1 have an envelope.
            (_, Form::List) if contract.name.starts_with("hecate.") => {
                held.extend_from_slice(b"{\"object\":\"list\",\"data\":[");
                Layout::List { close: "]}", empty: true }
            }
            (_, Form::List) => {
                held.push(b'[');
                Layout::List { close: "]", empty: true }
            }
        };
        Self { out, held, layout, result: Ok(()) }
    }

    /// Appends an event. The next [`flush`](Self::flush) returns the error if a write failed.
    pub(super) fn event(&mut self, event: EventRef<'_>) {
        if self.result.is_err() {
            return;
        }
        match &mut self.layout {
            Layout::Raw => write_raw(event, &mut self.held),
            Layout::Ndjson => write_ndjson(event, &mut self.held),
            Layout::Log(stays) if !stays(event) => {}
            Layout::Log(_) => write_ndjson(event, &mut self.held),
            Layout::Sse { named } => write_sse(event, *named, &mut self.held),
            Layout::List { empty, .. } => {
                // The comma is written before the next event, so that an event need not wait until it is known whether it is
                // the last.
                let lead: &[u8] = if std::mem::take(empty) { b"\n" } else { b",\n" };
                self.held.extend_from_slice(lead);
                self.held.extend_from_slice(event.payload);
            }
        }
        if self.held.len() >= HELD_BYTES {
            self.result = self.write();
        }
    }

    /// Writes the buffered events.
    ///
    /// # Errors
    /// The output's error, from this flush or from a write since the last flush.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        std::mem::replace(&mut self.result, Ok(()))?;
        self.write()?;
        self.out.flush()
    }

    /// Ends the output after the last event.
    ///
    /// # Errors
    /// The output's error.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if let Layout::List { close, empty } = self.layout {
            if !empty {
                self.held.push(b'\n');
            }
            self.held.extend_from_slice(close.as_bytes());
            self.held.push(b'\n');
        }
        self.flush()
    }

    fn write(&mut self) -> io::Result<()> {
        let written = self.out.write_all(&self.held);
        self.held.clear();
        self.held.shrink_to(HELD_BYTES * 2);
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::contracts::contract;
    use framegate_translators::encode::{EventId, EventShape};

    fn written(contract: &Contract, form: Form, payloads: &[&str]) -> String {
        let mut out = Vec::new();
        let mut writer = EventWriter::new(&mut out, contract, form);
        for (at, payload) in payloads.iter().enumerate() {
            let id = EventId::Number(at as u64);
            writer.event(EventRef {
                kind: "kind",
                id: &id,
                payload: payload.as_bytes(),
                known: &[],
                shape: EventShape::default(),
            });
            writer.flush().unwrap();
        }
        writer.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_form_has_its_framing() {
        let v2 = contract("frames.v2").unwrap();
        let two = ["{\"a\":1}", "{\"b\":2}"];
        assert_eq!(written(v2, Form::Ndjson, &two), "{\"a\":1}\n{\"b\":2}\n");
        assert_eq!(written(v2, Form::Sse, &two), "id: 0\ndata: {\"a\":1}\n\nid: 1\ndata: {\"b\":2}\n\n");
        assert_eq!(written(v2, Form::List, &two), "[\n{\"a\":1},\n{\"b\":2}\n]\n");
        assert_eq!(written(v2, Form::List, &[]), "[]\n");
        assert_eq!(written(v2, Form::Ndjson, &[]), "");
        let named = contract("sse.v1").unwrap();
        assert_eq!(written(named, Form::Sse, &["{}"]), "id: 0\nevent: kind\ndata: {}\n\n");
        assert_eq!(written(contract("raw").unwrap(), Form::Ndjson, &["x"]), "x\n");
    }

    #[test]
    fn a_log_contains_only_numbered_events() {
        let pixir = contract("pixir.v1").unwrap();
        let mut out = Vec::new();
        let mut writer = EventWriter::new(&mut out, pixir, Form::Log);
        for (id, payload) in [(EventId::None, "{\"live\":1}"), (EventId::Number(0), "{\"kept\":1}")] {
            writer.event(EventRef {
                kind: "kind",
                id: &id,
                payload: payload.as_bytes(),
                known: &[],
                shape: EventShape::default(),
            });
        }
        writer.finish().unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "{\"kept\":1}\n");
    }

    #[test]
    fn a_hecate_list_has_its_envelope() {
        let hecate = contract("hecate.v1").unwrap();
        assert_eq!(written(hecate, Form::List, &["{}"]), "{\"object\":\"list\",\"data\":[\n{}\n]}\n");
        assert_eq!(written(hecate, Form::List, &[]), "{\"object\":\"list\",\"data\":[]}\n");
    }

    #[test]
    fn a_write_error_is_returned_at_the_next_flush_and_stops_writing() {
        struct Full(usize);
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                self.0 += 1;
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut out = Full(0);
        let mut writer = EventWriter::new(&mut out, contract("frames.v2").unwrap(), Form::Ndjson);
        let large = vec![b'x'; HELD_BYTES];
        for _ in 0..3 {
            writer.event(EventRef {
                kind: "kind",
                id: &EventId::None,
                payload: &large,
                known: &[],
                shape: EventShape::default(),
            });
        }
        assert_eq!(writer.flush().unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(out.0, 1);
    }
}
