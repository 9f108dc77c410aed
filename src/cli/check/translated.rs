//! `framegate check --from`: translates a runner's output and checks the events.
//!
//! Input: a file as a runner wrote it. Output: violations of the contract by its events, the five warnings, and records that
//! cannot be read; each with the record that caused it. Never: a clock or a random id, so that two checks of a file report the
//! same.

use super::super::bad::{BadRecords, no_run};
use super::super::input::Input;
use super::super::names::From;
use super::place::{Place, Records};
use crate::ingest::{IdentificationReporter, Settings};
use framegate_translators::contracts::Contract;
use framegate_translators::encode::{EncoderOptions, EventRef};
use framegate_translators::frame::{Body, Frame, ProviderEvent, ProviderStatus, StreamKind};
use framegate_translators::pipeline::{Translator, is_last};
use framegate_translators::schema::Schemas;
use framegate_translators::sequence::{Identity, uuid_of};
use framegate_translators::verify::{Checker, Finding, Located, Severity};
use framegate_translators::warnings::{Warning, Watch};
use std::collections::HashMap;
use std::path::Path;
use uuid::Uuid;

/// Receives a finding, the text of the event, and its position in the file.
pub(super) type Sink<'s> = dyn FnMut(Located, Option<&str>, Place) + 's;

/// Checks one file. Returns how many events it produced, and why it could not be read to its end.
pub(super) fn read(
    path: &Path,
    from: From,
    contract: &'static Contract,
    schemas: &Schemas,
    reading: &Settings,
    sink: &mut Sink<'_>,
) -> (u64, Option<String>) {
    let mut input = match Input::open(path, "check") {
        Ok(input) => input,
        Err(error) => return (0, Some(error.to_string())),
    };
    // The ids do not matter here, so all files have the same.
    let identity = Identity { run_id: uuid_of("framegate check"), session_id: None };
    let mut translator =
        Translator::new(reading.pipeline(from.runner(), None, identity), contract, EncoderOptions::default());
    let (mut identification, mut bad) = (IdentificationReporter::default(), BadRecords::new(path, 0));
    let mut check = Check { checker: Checker::new(contract, schemas), records: Records::new(), runs: HashMap::new() };
    let broken = loop {
        let chunk = match input.next() {
            Ok([]) => break None,
            Ok(chunk) => chunk,
            Err(error) => break Some(error.to_string()),
        };
        check.records.feed(chunk);
        bad.feed(chunk);
        translator.feed(chunk, 0, &mut |frame, events| check.frame(frame, events, sink));
        identification.tell(translator.ingest());
        bad.tell(translator.ingest().take_bad());
        if translator.ingest().is_unknown() {
            break None;
        }
    };
    check.records.finish();
    translator.finish(0, &mut |frame, events| check.frame(frame, events, sink));
    identification.tell(translator.ingest());
    bad.tell(translator.ingest().take_bad());
    let tally = translator.ingest().tally();
    if broken.is_none() && (tally.runs == 0 || identification.mistaken().is_some()) {
        // The findings so far are kept. The end of the stream is not checked, because there is no run.
        let named = from.runner().map(|runner| runner.name);
        let why = no_run(&input, named, translator.ingest().runner(), &tally, identification.mistaken(), bad.first());
        return (check.checker.records(), Some(why));
    }
    check.checker.end(&mut |located| sink(located, None, Place::default()));
    (check.checker.records(), broken)
}

struct Check<'c> {
    checker: Checker<'c>,
    records: Records,
    runs: HashMap<Uuid, Watch>,
}

impl Check<'_> {
    fn frame(&mut self, frame: &Frame, events: &mut dyn Iterator<Item = EventRef<'_>>, sink: &mut Sink<'_>) {
        let place = match &frame.body {
            Body::ProviderEvent(_) => self.records.advance(),
            // A run's start is not derived from its record and precedes it.
            Body::SessionStarted { .. } => self.records.upcoming(),
            _ => self.records.current(),
        };
        let first = self.checker.records() + 1;
        for event in events {
            let text = std::str::from_utf8(event.payload).ok();
            self.checker.event(event.payload, &mut |located| {
                // The five warnings are found on frames, so that they also appear for contracts that cannot express their
                // cause.
                if !is_one_of_five(&located.finding) {
                    sink(located, text, place);
                }
            });
        }
        // A frame without events still belongs to a record.
        let record = if self.checker.records() >= first { first } else { 0 };
        let kind = frame.body.kind();
        let mut tell = |finding| sink(Located { record, kind: Some(kind.to_owned()), finding }, None, place);
        if let Body::ProviderEvent(record) = &frame.body {
            of_record(record).for_each(&mut tell);
        }
        if frame.stream.kind == StreamKind::Session {
            let run = frame.stream.id;
            for warning in self.runs.entry(run).or_default().frame(frame) {
                tell(Finding::of(warning, ""));
            }
            if is_last(frame) {
                self.runs.remove(&run);
            }
        }
    }
}

fn is_one_of_five(finding: &Finding) -> bool {
    finding.severity == Severity::Warning && Warning::ALL.iter().any(|warning| warning.code() == finding.rule)
}

/// The errors that the decoder found in a record.
fn of_record(record: &ProviderEvent) -> impl Iterator<Item = Finding> {
    let is_json = record.status != ProviderStatus::InvalidJson;
    let all = record.errors.iter().chain(&record.response_errors);
    all.map(move |error| match is_json {
        false => Finding::error("record.invalid", "", error.clone()),
        true => Finding::warning("record.errors", "", error.clone()),
    })
}
