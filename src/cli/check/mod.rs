//! `framegate check`: a conformance gate for the events of a contract, whoever made them.
//!
//! In: files of events, as NDJSON, server-sent events or a JSON list. Out: what is wrong with them, where, and what would
//! be right; an exit code for a pipeline. Never: an event's payload, unless it was asked for; success over nothing.

mod events;
mod report;
mod sse;

use super::input::{Input, is_stdin, shown};
use super::names::{self, ContractName};
use super::{EXIT_CLEAN, EXIT_FAILED, EXIT_FINDINGS};
use events::EventReader;
use framegate_translators::schema::Schemas;
use framegate_translators::verify::{Located, Severity};
use report::{Format, Tally, UntilClosed};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The contract that the events should keep
    #[arg(long, value_name = "NAME", value_parser = names::json_contract())]
    contract: ContractName,
    /// How findings are printed
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
    /// Also print the event that a finding is about; it may hold anything that the runner saw
    #[arg(long)]
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
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let contract = args.contract.0;
    let schemas = Schemas::compile(contract.schemas).map_err(anyhow::Error::msg)?;
    // Findings count even when nobody reads them to their end.
    let mut out = UntilClosed::new(io::stdout().lock());
    let mut report = report::new(args.format, contract);
    let mut total = Tally::default();
    for path in &args.files {
        let name = if is_stdin(path) { "stdin".to_owned() } else { path.display().to_string() };
        let mut tally = Tally::default();
        let mut written = Ok(());
        let mut reader = EventReader::new(contract, &schemas);
        let read = read(path, &mut reader, &mut |located, payload| {
            tally.count(&located);
            let payload = payload.filter(|_| args.show_payload);
            if written.is_ok() {
                written = report.finding(&mut out, &name, &Found { located: &located, payload });
            }
        });
        written?;
        tally.files = 1;
        tally.events = reader.records();
        if let Err(why) = &read {
            tally.unreadable = 1;
            // Whether anybody reads stderr is not this gate's business.
            let _ = writeln!(io::stderr(), "error: cannot read {}: {why}", shown(path));
        }
        report.file(&mut out, &name, &tally, read.as_ref().err().map(String::as_str))?;
        total.add(&tally);
    }
    report.end(&mut out, &total)?;
    Ok(ExitCode::from(match total {
        Tally { unreadable: 1.., .. } => EXIT_FAILED,
        Tally { errors: 1.., .. } => EXIT_FINDINGS,
        _ => EXIT_CLEAN,
    }))
}

/// Reads one file to its end, or says why that cannot be done.
fn read(path: &Path, reader: &mut EventReader<'_>, sink: &mut dyn FnMut(Located, Option<&str>)) -> Result<(), String> {
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
