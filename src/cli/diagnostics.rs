//! What a translation says on stderr: the five warnings of each run, and events that break their schemas.
//!
//! In: frames and their events, on their way out. Out: log lines with places and rules; the events, or what the gate puts in
//! their place. Never: an event's payload.

use super::output::EventWriter;
use crate::config::GateMode;
use crate::gate::{self, Gate};
use framegate_translators::contracts::Contract;
use framegate_translators::encode::EventRef;
use framegate_translators::frame::{Frame, StreamKind};
use framegate_translators::gate::Verdict;
use framegate_translators::pipeline::is_last;
use framegate_translators::schema::Breach;
use framegate_translators::warnings::Watch;
use std::collections::HashMap;
use std::io::Write;
use uuid::Uuid;

/// What is said on stderr while events pass.
pub(super) struct Diagnostics {
    contract: &'static Contract,
    gate: Gate,
    runs: HashMap<Uuid, Watch>,
    warnings: u64,
    breaches: u64,
    withheld: u64,
}

impl Diagnostics {
    /// Nothing has passed yet.
    ///
    /// # Errors
    /// A schema that is none; the built-in contracts have no such.
    pub(super) fn new(contract: &'static Contract, mode: GateMode) -> anyhow::Result<Self> {
        let gate = Gate::only(mode, contract).map_err(anyhow::Error::msg)?;
        Ok(Self { contract, gate, runs: HashMap::new(), warnings: 0, breaches: 0, withheld: 0 })
    }

    /// Looks at a frame and its events, and hands the events on.
    pub(super) fn pass<W: Write>(
        &mut self,
        frame: &Frame,
        events: &mut dyn Iterator<Item = EventRef<'_>>,
        writer: &mut EventWriter<W>,
    ) {
        self.watch(frame);
        let gate = self.gate.of(self.contract);
        for event in events {
            let verdict = gate::pass(gate.as_ref(), frame, event, &mut |event| writer.event(event));
            let (withheld, breaches) = match &verdict {
                Verdict::Kept => continue,
                Verdict::Broken(breaches) => (false, breaches),
                Verdict::Withheld(breaches) => (true, breaches),
            };
            self.breaches += 1;
            self.withheld += u64::from(withheld);
            tell(frame, event.kind, withheld, breaches);
        }
    }

    fn watch(&mut self, frame: &Frame) {
        if frame.stream.kind != StreamKind::Session {
            return;
        }
        let run = frame.stream.id;
        for warning in self.runs.entry(run).or_default().frame(frame) {
            self.warnings += 1;
            let runner = frame.stream.provider;
            tracing::warn!(%run, runner, seq = frame.seq, code = warning.code(), "{}", warning.message());
        }
        if is_last(frame) {
            self.runs.remove(&run);
        }
    }

    /// The input is over.
    pub(super) fn sum_up(&self, records: u64) {
        let (warnings, breaches, withheld) = (self.warnings, self.breaches, self.withheld);
        if breaches > 0 {
            tracing::warn!(records, warnings, breaches, withheld, "done, with events that break their schemas");
        } else {
            tracing::info!(records, warnings, breaches, "done");
        }
    }
}

fn tell(frame: &Frame, event_type: &'static str, withheld: bool, breaches: &[Breach]) {
    for breach in breaches {
        tracing::warn!(
            stream = %frame.stream.id,
            runner = frame.stream.provider,
            seq = frame.seq,
            event_type,
            withheld,
            pointer = breach.pointer,
            rule = breach.keyword,
            "the event breaks its schema: {}",
            breach.message
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::output::Form;
    use super::*;
    use framegate_translators::contracts::frames::V2;
    use framegate_translators::encode::{EventId, Outline};
    use framegate_translators::frame::{Body, Session, Stream, UserMessage};
    use std::sync::{Arc, Mutex, PoisonError};

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn frame(kind: StreamKind) -> Frame {
        let id = Uuid::from_u128(7);
        let session = Arc::new(Session { id, name: "s".into() });
        let stream = Stream { kind, id, session, origin_run: None, provider: "codex" };
        let message = UserMessage { message_id: "m".into(), text: String::new(), attachments: Vec::new() };
        Frame {
            stream: Arc::new(stream),
            seq: 5,
            timestamp_ms: 0,
            parent_tool_id: None,
            body: Body::UserMessage(Box::new(message)),
        }
    }

    /// Subscribers of two threads see each other's first use of a log line, so only one is there at a time.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    /// Passes one event; gives the log, the output, and the counts.
    fn pass(mode: GateMode, frame: &Frame, payload: &str) -> (Vec<serde_json::Value>, String, (u64, u64)) {
        let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let (log, mut out) = (Sink::default(), Vec::new());
        let to = log.clone();
        let subscriber = tracing_subscriber::fmt().json().flatten_event(true).with_writer(move || to.clone()).finish();
        let mut diagnostics = Diagnostics::new(&V2, mode).unwrap();
        let mut writer = EventWriter::new(&mut out, &V2, Form::Ndjson);
        tracing::subscriber::with_default(subscriber, || {
            let event = EventRef {
                kind: "user_message",
                id: &EventId::Number(5),
                payload: payload.as_bytes(),
                known: &[],
                outline: Outline::default(),
            };
            diagnostics.pass(frame, &mut std::iter::once(event), &mut writer);
        });
        writer.finish().unwrap();
        let log = log.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = log.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let lines = lines.map(|line| serde_json::from_slice(line).unwrap()).collect();
        (lines, String::from_utf8(out).unwrap(), (diagnostics.warnings, diagnostics.breaches))
    }

    #[test]
    fn a_broken_event_is_told_and_counted_and_sent_all_the_same() {
        let payload = r#"{"type":"user_message","text":["SECRET"]}"#;
        let (log, out, counts) = pass(GateMode::Warn, &frame(StreamKind::Thread), payload);
        assert_eq!(out, format!("{payload}\n"));
        assert_eq!(counts, (0, 1));
        let text = log.iter().find(|line| line["pointer"] == "/text").expect("the wrong type is told");
        assert_eq!((text["rule"].as_str(), text["event_type"].as_str()), (Some("type"), Some("user_message")));
        assert_eq!((text["seq"].as_u64(), text["runner"].as_str()), (Some(5), Some("codex")));
        assert!(!format!("{log:?}").contains("SECRET"));
        let (log, out, counts) = pass(GateMode::Off, &frame(StreamKind::Thread), payload);
        assert_eq!((log.len(), out, counts), (0, format!("{payload}\n"), (0, 0)));
    }

    #[test]
    fn a_broken_event_is_withheld_and_its_place_is_taken() {
        let payload = r#"{"type":"user_message","text":["SECRET"]}"#;
        let (log, out, counts) = pass(GateMode::Enforce, &frame(StreamKind::Thread), payload);
        assert_eq!(counts, (0, 1));
        assert!(log.iter().all(|line| line["withheld"] == true), "{log:?}");
        let event: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!((event["type"].as_str(), event["seq"].as_u64()), (Some("gap_detected"), Some(5)));
        assert_eq!((event["first_seq"].as_u64(), event["last_seq"].as_u64()), (Some(5), Some(5)));
        assert!(event["reason"].as_str().unwrap().contains("user_message"), "{out}");
        assert!(!format!("{log:?}{out}").contains("SECRET"));
    }

    #[test]
    fn a_run_is_warned_of_with_its_id_runner_number_and_code() {
        let (log, _, counts) = pass(GateMode::Off, &frame(StreamKind::Session), "{}");
        assert_eq!(counts, (1, 0));
        assert_eq!(log[0]["code"], "message.empty_content");
        assert_eq!(log[0]["run"], Uuid::from_u128(7).to_string());
        assert_eq!((log[0]["runner"].as_str(), log[0]["seq"].as_u64()), (Some("codex"), Some(5)));
    }
}
