//! `framegate check --runner`: compares a runner's own output with the schemas that describe it.
//!
//! Input: files as the runner wrote them. Output: for each file, one finding for each kind of drift at each JSON path, with its
//! count and first position. Never: a file reported as clean because its surface has no schemas.

use super::super::input::{Input, name_of};
use super::place::Place;
use super::report::{self, Subject, Tally, UntilClosed};
use super::{Args, Found, end_of_file, verdict};
use anyhow::bail;
use framegate_translators::decode::Record;
use framegate_translators::drift::{Drift, DriftFinding, NoDrift, PLACES, SurfaceSchemas};
use framegate_translators::framing::{Limits, Reader, Unit};
use framegate_translators::recognise::{Recogniser, Verdict, Window};
use framegate_translators::records::{self, UnitPart};
use framegate_translators::runners::{Runner, Surface};
use framegate_translators::verify::{Finding, Located};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io;
use std::path::Path;
use std::process::ExitCode;

pub(super) fn run(args: &Args, runner: &'static Runner) -> anyhow::Result<ExitCode> {
    let mut surfaces = Surfaces { runner, compiled: HashMap::new() };
    let surface = match &args.surface {
        None => None,
        Some(name) => {
            let Some(surface) = runner.surfaces.iter().find(|surface| surface.name == name) else {
                bail!("{} has no surface {name:?} (known: {})", runner.name, surfaces.names());
            };
            if let Err(why) = surfaces.known(surface) {
                bail!("{why}");
            }
            Some(surface)
        }
    };
    // Findings count for the exit code even if the output's reader closes early.
    let mut out = UntilClosed::new(io::stdout().lock());
    let mut report = report::new(args.format, Subject::Runner(runner.name));
    let mut total = Tally::default();
    for path in &args.files {
        let name = name_of(path);
        let mut tally = Tally { files: 1, ..Tally::default() };
        let unreadable = match read(path, surface, &mut surfaces) {
            Err(why) => Some(why),
            Ok((surface, drift)) => {
                tally.surface = Some(surface.name);
                tally.events = drift.records();
                for (finding, drift) in findings(&drift) {
                    tally.count(&finding);
                    report.finding(
                        &mut out,
                        &name,
                        &Found { located: &finding, payload: None, drift: drift.as_ref(), place: Place::default() },
                    )?;
                }
                None
            }
        };
        end_of_file(path, &name, tally, unreadable, &mut *report, &mut out, &mut total)?;
    }
    report.end(&mut out, &total)?;
    Ok(verdict(&total))
}

/// Converts a file's drift to findings for a report.
fn findings(drift: &Drift) -> Vec<(Located, Option<DriftFinding>)> {
    let mut findings = Vec::new();
    for one in drift.findings() {
        let key = &one.key;
        let finding = Finding::error(key.kind.rule(), key.pointer.clone(), one.message.clone());
        let kind = Some(key.record_kind.clone()).filter(|kind| !kind.is_empty());
        findings.push((Located { record: one.first.record, kind, finding }, Some(one)));
    }
    let mut of_all = |rule, message| {
        findings.push((Located { record: 0, kind: None, finding: Finding::error(rule, "", message) }, None));
    };
    if drift.more() > 0 {
        of_all("drift.more", format!("{} more differences, beyond the first {PLACES} places", drift.more()));
    }
    if drift.records() == 0 {
        of_all("records.none", "no records in the file: a runner's output has at least one".to_owned());
    }
    findings
}

/// The known schemas of a runner's surfaces, compiled on first use.
struct Surfaces {
    runner: &'static Runner,
    compiled: HashMap<&'static str, SurfaceSchemas>,
}

impl Surfaces {
    fn known(&mut self, surface: &'static Surface) -> Result<SurfaceSchemas, String> {
        match self.compiled.entry(surface.name) {
            Entry::Occupied(known) => Ok(known.get().clone()),
            Entry::Vacant(room) => match SurfaceSchemas::new(self.runner, surface) {
                Ok(known) => Ok(room.insert(known).clone()),
                Err(NoDrift::NothingKnown) => {
                    Err(format!("{} ({}): {}", self.runner.name, surface.name, NoDrift::NothingKnown))
                }
                Err(NoDrift::Schema(error)) => Err(error),
            },
        }
    }

    fn names(&self) -> String {
        self.runner.surfaces.iter().map(|surface| surface.name).collect::<Vec<_>>().join(", ")
    }

    /// The surface that the first records show.
    fn shown(&self, verdict: Verdict) -> Result<&'static Surface, String> {
        match verdict {
            Verdict::Found(found) if found.runner.name == self.runner.name => Ok(found.surface),
            Verdict::Found(other) => Err(format!("the records look like {other}: {}", other.reason)),
            Verdict::Unknown | Verdict::Undecided => Err(format!(
                "the first records do not show the surface of {}; name it with --surface ({})",
                self.runner.name,
                self.names()
            )),
        }
    }
}

/// Reads one file to its end, or says why that failed.
fn read(
    path: &Path,
    surface: Option<&'static Surface>,
    surfaces: &mut Surfaces,
) -> Result<(&'static Surface, Drift), String> {
    let mut input = Input::open(path, "check").map_err(|error| error.to_string())?;
    let mut held = Vec::new();
    let surface = match surface {
        Some(surface) => surface,
        None => {
            let mut recogniser = Recogniser::new(None, Limits::default(), Window::default());
            let verdict = loop {
                let verdict = match input.next().map_err(|error| error.to_string())? {
                    [] => recogniser.finish(),
                    chunk => {
                        held.extend_from_slice(chunk);
                        recogniser.feed(chunk)
                    }
                };
                if !matches!(verdict, Verdict::Undecided) {
                    break verdict;
                }
            };
            surfaces.shown(verdict)?
        }
    };
    let mut comparison = Comparison {
        reader: Reader::sniffing(Limits::default()),
        drift: Drift::of(surfaces.known(surface)?),
        records: 0,
    };
    comparison.feed(&held);
    drop(held);
    loop {
        match input.next().map_err(|error| error.to_string())? {
            [] => return Ok((surface, comparison.finish())),
            chunk => comparison.feed(chunk),
        }
    }
}

/// The comparison of one file.
struct Comparison {
    reader: Reader,
    drift: Drift,
    records: u64,
}

impl Comparison {
    fn feed(&mut self, chunk: &[u8]) {
        let Self { reader, drift, records } = self;
        reader.feed(chunk, &mut |unit| compare(&unit, drift, records));
    }

    fn finish(self) -> Drift {
        let Self { mut reader, mut drift, mut records } = self;
        reader.finish(&mut |unit| compare(&unit, &mut drift, &mut records));
        drift
    }
}

fn compare(unit: &Unit<'_>, drift: &mut Drift, records: &mut u64) {
    records::read(unit, &mut |part| {
        match part {
            UnitPart::Value { json, fields, .. } => {
                let record = Record { json, fields, event_name: unit.event_name, index: *records, offset: unit.offset };
                drift.record(&record);
            }
            UnitPart::Done => drift.done(),
            UnitPart::Rest => {}
            UnitPart::Invalid { error, .. } => drift.not_json(unit.offset, error),
        }
        *records += 1;
    });
}
