//! `framegate translate`: a filter from a runner's output to a contract's events.
//!
//! Input: bytes, as they arrive. Output: each event as soon as its record is read, or text for people; diagnostics on stderr. Never: memory that
//! grows with the length of the input, a gap in the sequence when the gate withholds an event.

use super::artifacts::ArtifactFiles;
use super::bad::{BadRecords, no_run};
use super::diagnostics::Diagnostics;
use super::input::{Input, is_stdin, shown};
use super::names::{self, ContractName, From, OutputName};
use super::output::{EventWriter, Form};
use super::serve::encoder_options;
use super::text::{self, TextArgs, View};
use super::{EXIT_CLEAN, EXIT_FAILED, EXIT_FINDINGS};
use crate::clock::{Arrival, Clock, Moment};
use crate::config::{GateMode, Redaction, Sources};
use crate::ingest::{IdentificationReporter, Settings};
use anyhow::{Context, bail};
use framegate_translators::artifacts::Bounds;
use framegate_translators::contracts::{CONTRACTS, Contract, DEFAULT, SseStyle};
use framegate_translators::encode::{EncoderOptions, EventRef, Events};
use framegate_translators::frame::Frame;
use framegate_translators::framing::Limits;
use framegate_translators::normalizer::EndHold;
use framegate_translators::pipeline::{Ingest, Tally, Translator};
use framegate_translators::sequence::{Identity, uuid_of};
use framegate_translators::when::FirstTime;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use uuid::Uuid;

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct Args {
    /// The runner that wrote the input; auto detects it from the first records
    #[arg(long, value_name = "RUNNER", value_parser = names::runner_or_auto())]
    from: From,
    /// The contract of the output, or text
    #[arg(long, value_name = "CONTRACT", value_parser = names::output())]
    to: OutputName,
    /// The framing of events in the output [default: ndjson]
    #[arg(long = "as", value_name = "FORM")]
    form: Option<Form>,
    /// The id of the first run: a UUID, or any text, from which a UUID is derived [default: a new one]; the ids of later runs
    /// and files are derived from it
    #[arg(long, value_name = "ID")]
    run_id: Option<String>,
    /// The id of the first session: a UUID, or any text, from which a UUID is derived [default: the runner's own]
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,
    /// The time, in milliseconds since 1970, for records without one; the clock then stands still. Without this option, a file
    /// starts at the first time in its records, and a pipe starts now
    #[arg(long, value_name = "N")]
    epoch_ms: Option<u64>,
    /// Also emit what the contract calls experimental
    #[arg(long)]
    experimental: bool,
    #[arg(long, help = names::user_messages("emit"))]
    user_messages: bool,
    /// Write large outputs, patches and images to this directory, by their SHA-256, with a preview in the events; without it
    /// nothing is cut
    #[arg(long, value_name = "DIR")]
    artifacts: Option<PathBuf>,
    /// What to do with an event that breaks its schema: off (do not check), warn (send it, and report it on stderr), enforce
    /// (report it, and withhold it: the contract's own error or gap event is written in its place) [default: as configured,
    /// else warn]
    #[arg(long, alias = "validate", value_name = "MODE", hide_possible_values = true)]
    gate: Option<GateMode>,
    /// Redact secrets before events are made [default, except for --to raw]
    #[arg(long, overrides_with = "no_redact")]
    redact: bool,
    /// Do not redact secrets [default for --to raw, which returns every record byte for byte]
    #[arg(long, overrides_with = "redact")]
    no_redact: bool,
    /// Exit with 1 if a record could not be read: not JSON, too large, of an unknown type
    #[arg(long)]
    strict: bool,
    /// How many bad records of a file, warnings and invalid events are reported one by one; the rest are counted
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    max_reports: u64,
    /// The configuration file, for [redaction], [gate], [hecate] and the limits of [ingest] [default: the one that FRAMEGATE_CONFIG names, or config.toml if it is there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    text: TextArgs,
    /// The files to read, one after the other, each a separate input; - is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    files: Vec<PathBuf>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (contract, is_text) = match args.to {
        OutputName::Contract(ContractName(contract)) => (contract, false),
        // Frames are inspected as those of the default contract, and have no events.
        OutputName::Text => (DEFAULT, true),
    };
    if is_text && (args.form.is_some() || args.gate.is_some()) {
        bail!("--as and --gate cannot be used with --to {}, which has no events", text::NAME);
    }
    if !is_text {
        args.text.refuse()?;
    }
    if contract.sse == SseStyle::Raw && args.form.is_some() {
        bail!("--as cannot be used with --to {}: the runner's own records keep their framing", contract.name);
    }
    if contract.log.is_none() && args.form == Some(Form::Log) {
        let with_log: Vec<&str> =
            CONTRACTS.iter().filter(|other| other.log.is_some()).map(|other| other.name).collect();
        bail!("{} has no log form (contracts with one: {})", contract.name, with_log.join(", "));
    }
    let config = Sources::new(args.config.clone(), std::env::vars_os())?.load()?;
    let store = args.artifacts.as_deref().map(ArtifactFiles::open).transpose()?;
    // `raw` is used to check and store recordings, so by default it loses nothing.
    let redacts = args.redact || (!args.no_redact && contract.sse != SseStyle::Raw);
    // `--redact` enables redaction whatever the configuration says.
    let redaction = Redaction { enabled: args.redact || config.redaction.enabled, ..config.redaction.clone() };
    let rules = if redacts { redaction.rules()?.map(Arc::new) } else { None };
    let (record_bytes, preview_bytes) = (config.ingest.max_record_bytes, config.ingest.preview_bytes);
    let options = EncoderOptions { experimental: args.experimental, ..encoder_options(&config) };
    let options = EncoderOptions {
        artifacts: options.artifacts || args.artifacts.is_some(),
        user_messages: options.user_messages || args.user_messages,
        ..options
    };
    let limits = Limits { record_bytes, preview_bytes };
    let reading = Settings { limits, redaction: rules, ..Settings::default() };
    let job = Job { args, contract: (!is_text).then_some(contract), reading, options, store };
    let mode = if is_text { GateMode::Off } else { args.gate.unwrap_or(config.gate.mode) };
    let mut diagnostics = Diagnostics::new(contract, mode, args.max_reports)?;
    let mut writer = if is_text {
        let is_replay = !args.files.iter().any(|path| is_stdin(path));
        Output::Text(Box::new(View::new(&args.text, false, is_replay)))
    } else {
        Output::Events(EventWriter::new(io::stdout().lock(), contract, args.form.unwrap_or(Form::Ndjson)))
    };
    let (mut failed, mut bad) = (false, false);
    for (nth, path) in args.files.iter().enumerate() {
        match job.file(nth, path, &mut diagnostics, &mut writer)? {
            Ok(tally) => bad |= tally.bad() > 0,
            Err(why) => {
                failed = true;
                // If stderr is closed, the message cannot be delivered.
                let _ = writeln!(io::stderr(), "error: {why}");
            }
        }
    }
    writer.finish().context("cannot write")?;
    // Each run in a text ends with its own sums.
    if !is_text {
        diagnostics.sum_up();
    }
    Ok(ExitCode::from(match (failed, bad && args.strict) {
        (true, _) => EXIT_FAILED,
        (false, true) => EXIT_FINDINGS,
        (false, false) => EXIT_CLEAN,
    }))
}

/// Where the output goes.
enum Output<W: Write> {
    Events(EventWriter<W>),
    Text(Box<View>),
}

impl<W: Write> Output<W> {
    fn frame(&mut self, frame: &Frame, events: &mut dyn Iterator<Item = EventRef<'_>>, diagnostics: &mut Diagnostics) {
        match self {
            Self::Events(writer) => diagnostics.pass(frame, events, writer),
            Self::Text(view) => {
                diagnostics.pass_frame(frame);
                view.frame(frame);
            }
        }
    }

    fn pause(&mut self, events: &Events, diagnostics: &mut Diagnostics) -> bool {
        match self {
            Self::Events(writer) => diagnostics.pass_at_pause(events, writer),
            Self::Text(_) => true,
        }
    }

    /// Waits a moment for input, and draws again if there is none; returns whether the input can be read. Without something to draw,
    /// it does not wait.
    fn tick(&mut self, input: &Input) -> io::Result<bool> {
        match self {
            Self::Text(view) if view.is_live() && !input.wait(text::TICK)? => {
                // It is an error of the output, not of the input.
                view.tick().unwrap_or_else(|error| view.keep(error));
                Ok(false)
            }
            _ => Ok(true),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Events(writer) => writer.flush(),
            Self::Text(view) => view.flush(),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Events(writer) => writer.finish(),
            Self::Text(view) => view.finish(),
        }
    }
}

/// The settings that apply to every file.
struct Job<'a> {
    args: &'a Args,
    /// `None`: frames are shown as text.
    contract: Option<&'static Contract>,
    reading: Settings,
    options: EncoderOptions,
    store: Option<ArtifactFiles>,
}

impl Job<'_> {
    /// Translates one file to its end. Returns the counts of its records, or why it could not be read.
    ///
    /// # Errors
    /// The output failed, which ends the whole command.
    fn file<W: Write>(
        &self,
        nth: usize,
        path: &Path,
        diagnostics: &mut Diagnostics,
        writer: &mut Output<W>,
    ) -> anyhow::Result<Result<Tally, String>> {
        let cannot_read = |error: &io::Error| format!("cannot read {}: {error}", shown(path));
        let mut input = match Input::open(path, "translate") {
            Ok(input) => input,
            Err(error) => return Ok(Err(cannot_read(&error))),
        };
        let clock = match self.clock(&mut input) {
            Ok(clock) => clock,
            Err(error) => return Ok(Err(cannot_read(&error))),
        };
        let ingest = self.ingest(nth, input.is_whole());
        let mut translator = match self.contract {
            Some(contract) => Translator::new(ingest, contract, self.options.clone()),
            None => Translator::without_events(ingest),
        };
        let (mut identification, mut bad) =
            (IdentificationReporter::default(), BadRecords::new(path, self.args.max_reports));
        let mut fed = Arrival::now(clock);
        let read = loop {
            // What is held for the next record must not wait past its deadline. With `--epoch-ms` the output is a function of
            // the input alone, so no timer runs.
            if self.args.epoch_ms.is_none()
                && let Some(deadline) = translator.ingest().deadline()
            {
                match input.wait(fed.until(deadline)) {
                    Ok(true) => {}
                    Ok(false) => {
                        // Uses the clock time of the last bytes: the system clock may have been set since.
                        translator.flush(deadline, &mut |frame, events| writer.frame(frame, events, diagnostics));
                        translator.pause(deadline, &mut |events| writer.pause(events, diagnostics));
                        self.settle(&mut translator, &mut identification, &mut bad)?;
                        writer.flush().context("cannot write")?;
                        continue;
                    }
                    Err(error) => break Err(error),
                }
            }
            // What is drawn is kept up to date while the input is silent.
            match writer.tick(&input) {
                Ok(true) => {}
                Ok(false) => continue,
                Err(error) => break Err(error),
            }
            let chunk = match input.next() {
                Ok([]) => break Ok(()),
                Ok(chunk) => chunk,
                Err(error) => break Err(error),
            };
            fed = Arrival::now(clock);
            bad.feed(chunk);
            translator.feed(chunk, fed.ms, &mut |frame, events| writer.frame(frame, events, diagnostics));
            self.settle(&mut translator, &mut identification, &mut bad)?;
            if translator.ingest().is_unknown() {
                break Ok(());
            }
            writer.flush().context("cannot write")?;
        };
        // An input that breaks off is finished like a complete one, so that every run in the output is closed.
        translator.finish(clock.now_ms(), &mut |frame, events| writer.frame(frame, events, diagnostics));
        self.settle(&mut translator, &mut identification, &mut bad)?;
        writer.flush().context("cannot write")?;
        let tally = translator.ingest().tally();
        bad.end(&tally);
        diagnostics.end_input(&tally);
        if let Err(error) = read {
            return Ok(Err(cannot_read(&error)));
        }
        // A run that was decoded from another runner's records does not count as a run.
        if tally.runs == 0 || identification.mistaken().is_some() {
            let named = self.args.from.runner().map(|runner| runner.name);
            let recognised = translator.ingest().runner();
            let why = no_run(&input, named, recognised, &tally, identification.mistaken(), bad.first());
            return Ok(Err(format!("cannot read {}: {why}", shown(path))));
        }
        Ok(Ok(tally))
    }

    /// Chooses the clock for a file: a recording starts at the first time in its records.
    fn clock(&self, input: &mut Input) -> io::Result<Clock> {
        if let Some(epoch_ms) = self.args.epoch_ms {
            return Ok(Clock::Fixed(epoch_ms));
        }
        let mut found = None;
        if input.is_whole() {
            let mut first = FirstTime::new(self.args.from.runner(), None, self.reading.limits);
            input.look_ahead(LOOK_AHEAD_BYTES, |bytes| {
                found = first.feed(bytes);
                found.is_some()
            })?;
            found = found.or_else(|| first.finish());
        }
        Ok(found.map_or(Clock::System, |ms| Clock::Since(ms, Moment::now())))
    }

    fn ingest(&self, nth: usize, is_whole: bool) -> Ingest {
        let args = self.args;
        let run_id = args.run_id.as_deref().map_or_else(|| Clock::System.new_id(), |id| nth_id(id, nth));
        // Only the first file belongs to the given session. A further file has its own session.
        let session_id = args.session_id.as_deref().filter(|_| nth == 0).map(uuid_of);
        let identity = Identity { run_id, session_id };
        let ingest = self.reading.pipeline(args.from.runner(), None, identity);
        // A file is complete, and a fixed clock has no timers. Neither is live.
        let is_live = args.epoch_ms.is_none() && !is_whole;
        let ingest = ingest.holding_ends(if is_live { EndHold::default() } else { EndHold::Input });
        if self.store.is_some() { ingest.with_artifacts(Bounds::default()) } else { ingest }
    }

    /// Handles the results of the last call. Artifacts are written before the events that name them are flushed.
    fn settle(
        &self,
        translator: &mut Translator,
        identification: &mut IdentificationReporter,
        bad: &mut BadRecords,
    ) -> anyhow::Result<()> {
        identification.tell(translator.ingest());
        bad.tell(translator.ingest().take_bad());
        match &self.store {
            Some(store) => store.write(&translator.ingest().take_artifacts()),
            None => Ok(()),
        }
    }
}

/// The exit codes in `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0   each file was read and has a run; records that could not be read are reported on stderr
  1   with --strict: a record could not be read
  2   a file could not be read, is empty or from another runner, or has no run; invalid arguments";

/// How many bytes of a file are read ahead to find its first time.
const LOOK_AHEAD_BYTES: usize = 1 << 20;

/// The id of the first run in a file: the given id for the first file, an id derived from it for later ones.
fn nth_id(id: &str, nth: usize) -> Uuid {
    match nth {
        0 => uuid_of(id),
        nth => uuid_of(&format!("{}/file/{nth}", uuid_of(id))),
    }
}
