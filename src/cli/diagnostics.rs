//! What a translation reports on stderr: the five warnings for each run, events that break their schemas, and a summary.
//!
//! Input: frames and their events, on their way out. Output: log lines with positions and rules, one for each kind of warning
//! in a run; the events, or the gate's replacements. Never: an event's payload in a log line, more lines for an input than were
//! requested.

use super::output::EventWriter;
use crate::config::GateMode;
use crate::gate::{self, Gate};
use framegate_translators::contracts::Contract;
use framegate_translators::encode::{EventRef, Events};
use framegate_translators::frame::{Frame, StreamKind};
use framegate_translators::gate::Verdict;
use framegate_translators::pipeline::{Tally, is_last};
use framegate_translators::runners::name_of;
use framegate_translators::schema::Violation;
use framegate_translators::warnings::{Warning, Watch};
use std::collections::{BTreeMap, HashMap};
use std::io::{IsTerminal, Write};
use uuid::Uuid;

/// Reports problems on stderr while events pass.
pub(super) struct Diagnostics {
    contract: &'static Contract,
    gate: Gate,
    runs: HashMap<Uuid, Watched>,
    /// The maximum number of lines of one kind for one input.
    most: u64,
    /// The number of lines about warnings for the current input.
    warning_lines: u64,
    /// The number of lines about broken events for the current input.
    violation_lines: u64,
    events: u64,
    warnings: u64,
    violations: u64,
    withheld: u64,
    records: Tally,
}

/// The warnings of one run.
#[derive(Default)]
struct Watched {
    watch: Watch,
    /// The first warning of each kind, with the count of that kind.
    found: BTreeMap<&'static str, Found>,
}

struct Found {
    runner: &'static str,
    seq: u64,
    message: &'static str,
    count: u64,
}

impl Diagnostics {
    /// Creates the diagnostics. At most `most` lines of one kind are reported for one input; the others are counted.
    ///
    /// # Errors
    /// A schema that cannot be compiled. The schemas of the built-in contracts can.
    pub(super) fn new(contract: &'static Contract, mode: GateMode, most: u64) -> anyhow::Result<Self> {
        let gate = Gate::only(mode, contract).map_err(anyhow::Error::msg)?;
        Ok(Self {
            contract,
            gate,
            runs: HashMap::new(),
            most,
            warning_lines: 0,
            violation_lines: 0,
            events: 0,
            warnings: 0,
            violations: 0,
            withheld: 0,
            records: Tally::default(),
        })
    }

    /// Inspects a frame and its events, and passes the events on.
    pub(super) fn pass<W: Write>(
        &mut self,
        frame: &Frame,
        events: &mut dyn Iterator<Item = EventRef<'_>>,
        writer: &mut EventWriter<W>,
    ) {
        self.watch(frame);
        let gate = self.gate.of(self.contract);
        for event in events {
            self.events += 1;
            let verdict = gate::pass(gate.as_ref(), frame, event, &mut |event| writer.event(event));
            let (withheld, violations) = match &verdict {
                Verdict::Kept => continue,
                Verdict::Broken(violations) => (false, violations),
                Verdict::Withheld(violations) => (true, violations),
            };
            self.violations += 1;
            self.withheld += u64::from(withheld);
            for violation in violations {
                if self.violation_lines < self.most {
                    tell(frame, event.kind, withheld, violation);
                }
                self.violation_lines += 1;
            }
        }
    }

    /// Inspects a frame that has no events.
    pub(super) fn pass_frame(&mut self, frame: &Frame) {
        self.watch(frame);
    }

    /// Passes on the events that are due at a pause. If one of them breaks its schema, returns `false`: it is reported with the
    /// next frame.
    pub(super) fn pass_at_pause<W: Write>(&mut self, events: &Events, writer: &mut EventWriter<W>) -> bool {
        if self.gate.of(self.contract).is_some_and(|gate| !gate.accepts(events)) {
            return false;
        }
        for event in events.iter() {
            self.events += 1;
            writer.event(event);
        }
        true
    }

    fn watch(&mut self, frame: &Frame) {
        if frame.stream.kind != StreamKind::Session {
            return;
        }
        let run = frame.stream.id;
        let watched = self.runs.entry(run).or_default();
        for warning in watched.watch.frame(frame) {
            self.warnings += 1;
            watched.add(warning, frame);
        }
        if is_last(frame)
            && let Some(watched) = self.runs.remove(&run)
        {
            self.warn(run, watched);
        }
    }

    /// Writes one line for each kind of warning in a run that has ended.
    fn warn(&mut self, run: Uuid, watched: Watched) {
        for (code, Found { runner, seq, message, count }) in watched.found {
            if self.warning_lines < self.most {
                tracing::warn!(%run, runner, seq, code, count, "{message}{}", times(count));
            }
            self.warning_lines += 1;
        }
    }

    /// Ends one input, whose records are counted in `tally`.
    pub(super) fn end_input(&mut self, tally: &Tally) {
        let left: Vec<(Uuid, Watched)> = self.runs.drain().collect();
        left.into_iter().for_each(|(run, watched)| self.warn(run, watched));
        let said = [(&mut self.warning_lines, "warnings"), (&mut self.violation_lines, "schema violations")];
        for (lines, what) in said {
            let more = std::mem::take(lines).saturating_sub(self.most);
            if more > 0 {
                tracing::warn!("{more} more {what} are not listed (--max-reports)");
            }
        }
        let Tally { records, invalid, unknown, markers, runs } = *tally;
        self.records.records += records;
        self.records.invalid += invalid;
        self.records.unknown += unknown;
        self.records.markers += markers;
        self.records.runs += runs;
    }

    /// Reports the totals of all inputs. If stderr is a terminal, also prints them on one line.
    pub(super) fn sum_up(&self) {
        let Self { events, warnings, violations, withheld, .. } = *self;
        let Tally { records, invalid, unknown, runs, .. } = self.records;
        if violations > 0 {
            tracing::warn!(records, warnings, violations, withheld, "done; some events violate their schemas");
        } else {
            tracing::info!(runs, records, invalid, unknown, events, warnings, violations, "done");
        }
        if std::io::stderr().is_terminal() {
            let _ = writeln!(std::io::stderr(), "framegate: {}", self.summary());
        }
    }

    /// The totals on one line.
    fn summary(&self) -> String {
        let counted = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let Tally { records, invalid, unknown, runs, .. } = self.records;
        let mut text = format!("{}, {}", counted(runs, "run"), counted(records, "record"));
        let bad = [(invalid, "not JSON"), (unknown, "of unknown types")];
        let bad: Vec<String> =
            bad.iter().filter(|(count, _)| *count > 0).map(|(n, what)| format!("{n} {what}")).collect();
        if !bad.is_empty() {
            text.push_str(&format!(" ({})", bad.join(", ")));
        }
        text.push_str(&format!(", {}", counted(self.events, "event")));
        for (count, what) in [(self.warnings, "warning"), (self.violations, "invalid event")] {
            if count > 0 {
                text.push_str(&format!(", {}", counted(count, what)));
            }
        }
        text
    }
}

impl Watched {
    fn add(&mut self, warning: Warning, frame: &Frame) {
        let runner = name_of(frame.stream.provider.name);
        let first = || Found { runner, seq: frame.seq, message: warning.message(), count: 0 };
        self.found.entry(warning.code()).or_insert_with(first).count += 1;
    }
}

/// The count in words, if it is greater than one.
fn times(count: u64) -> String {
    if count > 1 { format!(" ({count} times in this run, first here)") } else { String::new() }
}

fn tell(frame: &Frame, event_type: &'static str, withheld: bool, violation: &Violation) {
    tracing::warn!(
        stream = %frame.stream.id,
        runner = name_of(frame.stream.provider.name),
        seq = frame.seq,
        event_type,
        withheld,
        pointer = violation.pointer,
        rule = violation.keyword,
        "the event violates its schema: {}",
        violation.message
    );
}

#[cfg(test)]
mod tests {
    use super::super::output::Form;
    use super::*;
    use framegate_translators::contracts::DEFAULT;
    use framegate_translators::encode::{EventId, EventShape};
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
        let stream = Stream {
            kind,
            id,
            session,
            origin_run: None,
            provider: framegate_translators::runners::runner("codex").unwrap().provider,
        };
        let message = UserMessage { message_id: "m".into(), text: String::new(), attachments: Vec::new() };
        Frame {
            stream: Arc::new(stream),
            seq: 5,
            timestamp_ms: 0,
            parent_tool_id: None,
            given_id: None,
            body: Body::UserMessage(Box::new(message)),
        }
    }

    /// Subscribers in two threads can affect each other's first use of a log line, so these tests run one at a time.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

    /// Passes one event; returns the log, the output, and the counts.
    fn pass(mode: GateMode, frame: &Frame, payload: &str) -> (Vec<serde_json::Value>, String, (u64, u64)) {
        let _guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let (log, mut out) = (Sink::default(), Vec::new());
        let to = log.clone();
        let subscriber = tracing_subscriber::fmt().json().flatten_event(true).with_writer(move || to.clone()).finish();
        let mut diagnostics = Diagnostics::new(DEFAULT, mode, 20).unwrap();
        let mut writer = EventWriter::new(&mut out, DEFAULT, Form::Ndjson);
        tracing::subscriber::with_default(subscriber, || {
            let event = EventRef {
                kind: "user_message",
                id: &EventId::Number(5),
                payload: payload.as_bytes(),
                known: &[],
                shape: EventShape::default(),
            };
            diagnostics.pass(frame, &mut std::iter::once(event), &mut writer);
            diagnostics.end_input(&Tally::default());
        });
        writer.finish().unwrap();
        let log = log.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = log.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
        let lines = lines.map(|line| serde_json::from_slice(line).unwrap()).collect();
        (lines, String::from_utf8(out).unwrap(), (diagnostics.warnings, diagnostics.violations))
    }

    #[test]
    fn in_mode_warn_an_invalid_event_is_logged_counted_and_written() {
        let payload = r#"{"type":"user_message","text":["SECRET"]}"#;
        let (log, out, counts) = pass(GateMode::Warn, &frame(StreamKind::Thread), payload);
        assert_eq!(out, format!("{payload}\n"));
        assert_eq!(counts, (0, 1));
        let text = log.iter().find(|line| line["pointer"] == "/text").expect("the wrong type must be reported");
        assert_eq!((text["rule"].as_str(), text["event_type"].as_str()), (Some("type"), Some("user_message")));
        assert_eq!((text["seq"].as_u64(), text["runner"].as_str()), (Some(5), Some("codex")));
        assert!(!format!("{log:?}").contains("SECRET"));
        let (log, out, counts) = pass(GateMode::Off, &frame(StreamKind::Thread), payload);
        assert_eq!((log.len(), out, counts), (0, format!("{payload}\n"), (0, 0)));
    }

    #[test]
    fn in_mode_enforce_an_invalid_event_is_replaced() {
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
    fn a_warning_has_the_id_runner_number_and_code_of_its_run() {
        let (log, _, counts) = pass(GateMode::Off, &frame(StreamKind::Session), "{}");
        assert_eq!(counts, (1, 0));
        assert_eq!(log[0]["code"], "message.empty_content");
        assert_eq!(log[0]["run"], Uuid::from_u128(7).to_string());
        assert_eq!((log[0]["runner"].as_str(), log[0]["seq"].as_u64()), (Some("codex"), Some(5)));
        assert_eq!((log.len(), log[0]["count"].as_u64()), (1, Some(1)));
    }
}
