//! `framegate check`: a conformance check for a contract's events from any producer, and for a runner's own output.
//!
//! Input: files of events, as NDJSON, server-sent events or a JSON list; or files of a runner's output in any form that
//! `translate` reads. Such output is compared with the runner's known schemas, or translated and checked against a contract.
//! Output: what is wrong, where, and what would be right; an exit code for CI. Never: an event's payload, unless requested;
//! success for an empty input.
//!
//! Events are judged by the contract's document; with `--strict`, by framegate's own promises. Events that framegate translates
//! here (`--from`) are always judged strictly.

mod drift;
mod events;
mod place;
mod report;
mod sse;
mod translated;

use super::input::{Input, name_of, shown};
use super::names::{self, ContractName, From, RunnerName};
use super::{EXIT_CLEAN, EXIT_FAILED, EXIT_FINDINGS};
use crate::config::Sources;
use crate::ingest::Settings;
use events::EventReader;
use framegate_translators::contracts::Contract;
use framegate_translators::drift::DriftFinding;
use framegate_translators::schema::Schemas;
use framegate_translators::schema::document::DocumentSchema;
use framegate_translators::verify::{Located, Severity, Standard};
use place::Place;
use report::{Format, Report, Subject, Tally, UntilClosed};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

#[derive(Debug, clap::Args)]
#[group(skip)]
#[command(after_help = EXIT_CODES)]
#[command(group = clap::ArgGroup::new("what").args(["contract", "runner"]).required(true))]
pub(super) struct Args {
    /// The contract that the events should comply with
    #[arg(long, value_name = "NAME", value_parser = names::json_contract())]
    contract: Option<ContractName>,
    /// The runner whose output should match what is known of it
    #[arg(long, value_name = "NAME", value_parser = names::runner())]
    runner: Option<RunnerName>,
    /// The runner that wrote the files, or auto; they are translated to the contract first
    #[arg(long, value_name = "RUNNER", value_parser = names::runner_or_auto(), requires = "contract", conflicts_with = "runner")]
    from: Option<From>,
    /// The form of the runner's output [default: detected from the first records]
    #[arg(long, value_name = "NAME", requires = "runner", conflicts_with = "contract")]
    surface: Option<String>,
    /// Check by framegate's own standard: every field that it writes, every rule that it follows [default: what the
    /// contract's document allows]
    #[arg(long, conflicts_with = "runner")]
    strict: bool,
    /// The file holds streams that a client resumed in the middle: earlier events are not reported as missing
    #[arg(long, conflicts_with_all = ["runner", "from"])]
    resumed: bool,
    /// The file holds a stream that a client resumed after the event with this cursor: earlier events must not be repeated
    #[arg(long, value_name = "CURSOR", allow_hyphen_values = true, conflicts_with_all = ["runner", "from", "resumed"])]
    after: Option<String>,
    /// How findings are printed
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Also print the event that a finding is about; it may contain anything that the runner saw
    #[arg(long, conflicts_with = "runner")]
    show_payload: bool,
    /// The configuration file, for the [redaction] of what --from translates [default: the one that FRAMEGATE_CONFIG names, or config.toml if it is there]
    #[arg(long, value_name = "FILE", requires = "from")]
    config: Option<PathBuf>,
    /// The files to read; - is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    files: Vec<PathBuf>,
}

/// The exit codes in `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0   no errors; there may be warnings
  1   there are findings
  2   a file could not be read; with --from: it is empty or from another runner, or has no run; invalid arguments";

/// A finding, ready for a report.
struct Found<'a> {
    located: &'a Located,
    /// The event's text, if it was requested and there is one.
    payload: Option<&'a str>,
    /// How often and where the drift was found; equal drifts are one finding.
    drift: Option<&'a DriftFinding>,
    /// The position in the file.
    place: Place,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match (&args.contract, &args.runner) {
        (Some(contract), _) => contract_gate(args, contract.0),
        (None, Some(runner)) => drift::run(args, runner.0),
        (None, None) => anyhow::bail!("nothing to check against: use --contract or --runner"),
    }
}

fn contract_gate(args: &Args, contract: &'static Contract) -> anyhow::Result<ExitCode> {
    let schemas = Schemas::compile(contract.schemas).map_err(anyhow::Error::msg)?;
    let redaction = match args.from {
        Some(_) => Sources::new(args.config.clone(), std::env::vars_os())?.load()?.redaction.rules()?.map(Arc::new),
        None => None,
    };
    let reading = Settings { redaction, ..Settings::default() };
    let document = contract.document_schema.map(|file| DocumentSchema::compile(file, contract.type_key));
    let document = document.transpose().map_err(anyhow::Error::msg)?;
    let standard = match &document {
        Some(document) if !args.strict => Standard::Document(document),
        _ => Standard::Emitted(&schemas),
    };
    // Findings count for the exit code even if the output's reader closes early.
    let mut out = UntilClosed::new(io::stdout().lock());
    let mut report = report::new(args.format, Subject::Contract(contract.name));
    let mut total = Tally::default();
    for path in &args.files {
        let name = name_of(path);
        let mut tally = Tally::default();
        let mut written = Ok(());
        let mut sink = |located: Located, payload: Option<&str>, place: Place| {
            tally.count(&located);
            let payload = payload.filter(|_| args.show_payload);
            if written.is_ok() {
                written = report.finding(&mut out, &name, &Found { located: &located, payload, drift: None, place });
            }
        };
        let (events, unreadable) = match args.from {
            Some(from) => translated::read(path, from, contract, &schemas, &reading, &mut sink),
            None => {
                let mut reader = EventReader::new(contract, standard);
                if args.resumed || args.after.is_some() {
                    let resumed = reader.resume(args.after.as_deref());
                    resumed.map_err(|why| anyhow::anyhow!("--after of {}: {why}", contract.name))?;
                }
                let read = read(path, &mut reader, &mut sink);
                (reader.records(), read.err())
            }
        };
        written?;
        tally.files = 1;
        tally.events = events;
        end_of_file(path, &name, tally, unreadable, &mut *report, &mut out, &mut total)?;
    }
    report.end(&mut out, &total)?;
    Ok(verdict(&total))
}

/// Ends a file: updates the report, and writes to stderr if the file could not be read.
fn end_of_file(
    path: &Path,
    name: &str,
    mut tally: Tally,
    unreadable: Option<String>,
    report: &mut dyn Report,
    out: &mut dyn Write,
    total: &mut Tally,
) -> io::Result<()> {
    if let Some(why) = &unreadable {
        tally.unreadable = 1;
        // If stderr is closed, the error cannot be reported.
        let _ = writeln!(io::stderr(), "error: cannot read {}: {why}", shown(path));
    }
    report.file(out, name, &tally, unreadable.as_deref())?;
    total.add(&tally);
    Ok(())
}

fn verdict(total: &Tally) -> ExitCode {
    ExitCode::from(match total {
        Tally { unreadable: 1.., .. } => EXIT_FAILED,
        Tally { errors: 1.., .. } => EXIT_FINDINGS,
        _ => EXIT_CLEAN,
    })
}

/// Reads one file to its end, or says why that failed.
fn read(path: &Path, reader: &mut EventReader<'_>, sink: &mut translated::Sink<'_>) -> Result<(), String> {
    let mut input = Input::open(path, "check").map_err(|error| error.to_string())?;
    loop {
        match input.next().map_err(|error| error.to_string())? {
            [] => return reader.finish(sink),
            chunk => reader.feed(chunk, sink)?,
        }
    }
}

impl Tally {
    fn count(&mut self, located: &Located) {
        match located.finding.severity {
            Severity::Error => self.errors += 1,
            Severity::Warning => self.warnings += 1,
        }
    }
}
