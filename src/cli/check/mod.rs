//! `framegate check`: a conformance gate for the events of a contract, whoever made them, and for a runner's own output.
//!
//! In: files of events, as NDJSON, server-sent events or a JSON list; or files of a runner's output, in any form that is
//! translated, to be compared with what is known of the runner or, translated, with a contract. Out: what is wrong with them, where, and what would be right; an exit code for a pipeline. Never: an event's
//! payload, unless it was asked for; success over nothing.

mod drift;
mod events;
mod place;
mod report;
mod sse;
mod translated;

use super::input::{Input, is_stdin, shown};
use super::names::{self, ContractName, From, RunnerName};
use super::{EXIT_CLEAN, EXIT_FAILED, EXIT_FINDINGS};
use events::EventReader;
use framegate_translators::contracts::Contract;
use framegate_translators::drift::DriftFinding;
use framegate_translators::schema::Schemas;
use framegate_translators::verify::{Located, Severity};
use place::Place;
use report::{Format, Report, Subject, Tally, UntilClosed};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
#[group(skip)]
#[command(group = clap::ArgGroup::new("what").args(["contract", "runner"]).required(true))]
pub(super) struct Args {
    /// The contract that the events should keep
    #[arg(long, value_name = "NAME", value_parser = names::json_contract())]
    contract: Option<ContractName>,
    /// The runner whose output should still be what is known of it
    #[arg(long, value_name = "NAME", value_parser = names::runner())]
    runner: Option<RunnerName>,
    /// The files are this runner's output, or auto, and are translated to the contract first
    #[arg(long, value_name = "RUNNER", value_parser = names::runner_or_auto(), requires = "contract", conflicts_with = "runner")]
    from: Option<From>,
    /// The form of the runner's output [default: shown by the first records]
    #[arg(long, value_name = "NAME", requires = "runner", conflicts_with = "contract")]
    surface: Option<String>,
    /// How findings are printed
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Also print the event that a finding is about; it may hold anything that the runner saw
    #[arg(long, conflicts_with = "runner")]
    show_payload: bool,
    /// The files to read; - is the standard input
    #[arg(value_name = "FILE", default_value = "-")]
    files: Vec<PathBuf>,
}

/// Something that is wrong, ready for a report.
struct Found<'a> {
    located: &'a Located,
    /// The event's text, where it was asked for and there is one.
    payload: Option<&'a str>,
    /// How often and where it was found, where all that is alike is one finding.
    drift: Option<&'a DriftFinding>,
    /// Where in the file it is.
    place: Place,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match (&args.contract, &args.runner) {
        (Some(contract), _) => contract_gate(args, contract.0),
        (None, Some(runner)) => drift::run(args, runner.0),
        (None, None) => anyhow::bail!("nothing to check against: give --contract or --runner"),
    }
}

fn contract_gate(args: &Args, contract: &'static Contract) -> anyhow::Result<ExitCode> {
    let schemas = Schemas::compile(contract.schemas).map_err(anyhow::Error::msg)?;
    // Findings count even when nobody reads them to their end.
    let mut out = UntilClosed::new(io::stdout().lock());
    let mut report = report::new(args.format, Subject::Contract(contract.name));
    let mut total = Tally::default();
    for path in &args.files {
        let name = if is_stdin(path) { "stdin".to_owned() } else { path.display().to_string() };
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
            Some(from) => translated::read(path, from, contract, &schemas, &mut sink),
            None => {
                let mut reader = EventReader::new(contract, &schemas);
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

/// A file is over: says so to the report, and on stderr where it could not be read.
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
        // Whether anybody reads stderr is not this gate's business.
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

/// Reads one file to its end, or says why that cannot be done.
fn read(path: &Path, reader: &mut EventReader<'_>, sink: &mut translated::Sink<'_>) -> Result<(), String> {
    let mut input = Input::open(path).map_err(|error| error.to_string())?;
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
