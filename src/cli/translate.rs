//! `framegate translate`: a filter from a runner's output to a contract's events.
//!
//! In: bytes, as they come. Out: each event as soon as its record is in; diagnostics on stderr. Never: memory that grows
//! with the length of the input, a hole where the gate withheld an event.

use super::EXIT_CLEAN;
use super::artifacts::ArtifactFiles;
use super::diagnostics::Diagnostics;
use super::input::{Input, shown};
use super::names::{self, ContractName, From};
use super::output::{EventWriter, Form};
use crate::clock::{Arrival, Clock};
use crate::config::GateMode;
use crate::ingest::{Whose, unknown};
use anyhow::{Context, bail};
use framegate_translators::artifacts::Bounds;
use framegate_translators::contracts::{CONTRACTS, SseStyle};
use framegate_translators::encode::EncoderOptions;
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::{Ingest, Translator};
use framegate_translators::recognise::Window;
use framegate_translators::redact::{Rules, Settings};
use framegate_translators::sequence::{Identity, uuid_of};
use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Who wrote the input; auto finds it out from the first records
    #[arg(long, value_name = "RUNNER", value_parser = names::runner_or_auto())]
    from: From,
    /// The contract of the output
    #[arg(long, value_name = "CONTRACT", value_parser = names::contract())]
    to: ContractName,
    /// How events stand in the output [default: ndjson]
    #[arg(long = "as", value_name = "FORM")]
    form: Option<Form>,
    /// The id of the first run: a UUID, or any text that stands for one [default: a new one]
    #[arg(long, value_name = "ID")]
    run_id: Option<String>,
    /// The id of the first session: a UUID, or any text that stands for one [default: the runner's own]
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,
    /// The time, in milliseconds since 1970, for records that tell none; the clock then stands still
    #[arg(long, value_name = "N")]
    epoch_ms: Option<u64>,
    /// Also emit what the contract calls experimental
    #[arg(long)]
    experimental: bool,
    /// Write large outputs, patches and images to this directory, by their SHA-256, with a preview in the events; without it
    /// nothing is cut
    #[arg(long, value_name = "DIR")]
    artifacts: Option<PathBuf>,
    /// What becomes of an event that breaks its schema: off (not looked at), warn (sent, and told on stderr), enforce (told, and
    /// withheld: the contract's own error or gap event is written in its place)
    #[arg(long, alias = "validate", value_name = "MODE", default_value = "warn", hide_possible_values = true)]
    gate: GateMode,
    /// Redact secrets before anything is made of them [default, except for --to raw]
    #[arg(long, overrides_with = "no_redact")]
    redact: bool,
    /// Leave secrets where they are [default for --to raw, which gives every record back byte for byte]
    #[arg(long, overrides_with = "redact")]
    no_redact: bool,
    /// The file to read; - is the standard input
    #[arg(default_value = "-")]
    file: PathBuf,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let contract = args.to.0;
    if contract.sse == SseStyle::Raw && args.form.is_some() {
        bail!(
            "--as does not go with --to {}: the runner's own records are printed as the runner framed them",
            contract.name
        );
    }
    if contract.log.is_none() && args.form == Some(Form::Log) {
        let with_log: Vec<&str> =
            CONTRACTS.iter().filter(|other| other.log.is_some()).map(|other| other.name).collect();
        bail!("{} has no log form (contracts that have one: {})", contract.name, with_log.join(", "));
    }
    let cannot_read = || format!("cannot read {}", shown(&args.file));
    let mut input = Input::open(&args.file).with_context(cannot_read)?;
    let clock = args.epoch_ms.map_or(Clock::System, Clock::Fixed);
    let identity = Identity {
        run_id: args.run_id.as_deref().map_or_else(|| Clock::System.new_id(), uuid_of),
        session_id: args.session_id.as_deref().map(uuid_of),
    };
    let ingest = match args.from {
        From::Runner(runner) => Ingest::new(runner.0, None, Limits::default(), identity),
        From::Auto => Ingest::auto(None, Limits::default(), identity, Window::default()),
    };
    let store = args.artifacts.as_deref().map(ArtifactFiles::open).transpose()?;
    let ingest = if store.is_some() { ingest.with_artifacts(Bounds::default()) } else { ingest };
    // `raw` is what a recording is checked and kept with: there, losing nothing is what is asked for.
    let redacts = args.redact || (!args.no_redact && contract.sse != SseStyle::Raw);
    let ingest = if redacts { ingest.redacting(Arc::new(Rules::new(Settings::default())?)) } else { ingest };
    let options = EncoderOptions {
        experimental: args.experimental,
        artifacts: args.artifacts.is_some(),
        ..EncoderOptions::default()
    };
    let mut translator = Translator::new(ingest, contract, options);
    let mut diagnostics = Diagnostics::new(contract, args.gate)?;
    let mut whose = Whose::default();
    let mut writer = EventWriter::new(io::stdout().lock(), contract, args.form.unwrap_or(Form::Ndjson));
    let mut fed = Arrival::now(clock);
    let read = loop {
        // What waits for the next record does not wait longer than it may. A clock that stands still makes the output a
        // function of the input alone: there, nothing goes by time.
        if args.epoch_ms.is_none()
            && let Some(deadline) = translator.ingest().deadline()
        {
            match input.wait(fed.until(deadline)) {
                Ok(true) => {}
                Ok(false) => {
                    // By the clock of the last bytes: the system's may have been set since.
                    translator.flush(deadline, &mut |frame, events| diagnostics.pass(frame, events, &mut writer));
                    settle(&mut translator, &mut whose, store.as_ref())?;
                    writer.flush().context("cannot write")?;
                    continue;
                }
                Err(error) => break Err(error),
            }
        }
        let chunk = match input.next() {
            Ok([]) => break Ok(()),
            Ok(chunk) => chunk,
            Err(error) => break Err(error),
        };
        fed = Arrival::now(clock);
        translator.feed(chunk, fed.ms, &mut |frame, events| diagnostics.pass(frame, events, &mut writer));
        settle(&mut translator, &mut whose, store.as_ref())?;
        if translator.ingest().is_unknown() {
            break Ok(());
        }
        writer.flush().context("cannot write")?;
    };
    // An input that breaks off is ended like one that is over: whoever reads the output gets every run closed.
    translator.finish(clock.now_ms(), &mut |frame, events| diagnostics.pass(frame, events, &mut writer));
    settle(&mut translator, &mut whose, store.as_ref())?;
    if translator.ingest().is_unknown() {
        read.with_context(cannot_read)?;
        bail!("{}: {}; say whose it is with --from", shown(&args.file), unknown());
    }
    writer.finish().context("cannot write")?;
    diagnostics.sum_up(translator.records());
    read.with_context(cannot_read)?;
    Ok(ExitCode::from(EXIT_CLEAN))
}

/// What follows from what was translated last: nobody is told of an artifact much before it is there.
fn settle(translator: &mut Translator, whose: &mut Whose, store: Option<&ArtifactFiles>) -> anyhow::Result<()> {
    whose.tell(translator.ingest());
    match store {
        Some(store) => store.write(&translator.ingest().take_artifacts()),
        None => Ok(()),
    }
}
