//! `framegate translate`: a filter from a runner's output to a contract's events.
//!
//! In: bytes, as they come. Out: each event as soon as its record is in; diagnostics on stderr. Never: memory that grows
//! with the length of the input, an event held back because its schema is broken.

use super::names::{self, ContractName, RunnerName};
use super::output::{EventWriter, Form};
use super::{EXIT_CLEAN, EXIT_FAILED};
use crate::clock::Clock;
use crate::config::GateMode;
use anyhow::{Context, bail};
use framegate_translators::contracts::{Contract, SseStyle};
use framegate_translators::encode::{EncoderOptions, EventRef};
use framegate_translators::frame::{Frame, StreamKind};
use framegate_translators::framing::Limits;
use framegate_translators::pipeline::{Ingest, Translator, is_last};
use framegate_translators::schema::Schemas;
use framegate_translators::sequence::{Identity, uuid_of};
use framegate_translators::warnings::Watch;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use uuid::Uuid;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Who wrote the input
    #[arg(long, value_name = "RUNNER", value_parser = names::runner())]
    from: RunnerName,
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
    /// What becomes of an event that breaks its schema: off (not looked at), warn (sent, and told on stderr)
    #[arg(long, value_name = "MODE", default_value = "warn", hide_possible_values = true)]
    validate: GateMode,
    /// The file to read; - is the standard input
    #[arg(default_value = "-")]
    file: PathBuf,
}

/// What is asked of the input at a time.
const CHUNK_BYTES: usize = 64 << 10;

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let contract = args.to.0;
    if contract.sse == SseStyle::Raw && args.form.is_some() {
        bail!(
            "--as does not go with --to {}: the runner's own records are printed as the runner framed them",
            contract.name
        );
    }
    let mut input = open(&args.file)?;
    let clock = args.epoch_ms.map_or(Clock::System, Clock::Fixed);
    let identity = Identity {
        run_id: args.run_id.as_deref().map_or_else(|| Clock::System.new_id(), uuid_of),
        session_id: args.session_id.as_deref().map(uuid_of),
    };
    let ingest = Ingest::new(args.from.0, None, Limits::default(), identity);
    let options = EncoderOptions { experimental: args.experimental };
    let mut translator = Translator::new(ingest, contract, options);
    let mut watch = Diagnostics::new(contract, args.validate)?;
    let mut writer = EventWriter::new(io::stdout().lock(), contract, args.form.unwrap_or(Form::Ndjson));
    let mut chunk = vec![0; CHUNK_BYTES];
    let read = loop {
        let length = match input.read(&mut chunk) {
            Ok(0) => break Ok(()),
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => break Err(error),
        };
        let chunk = chunk.get(..length).unwrap_or_default();
        translator.feed(chunk, clock.now_ms(), &mut |frame, events| watch.pass(frame, events, &mut writer));
        writer.flush().context("cannot write")?;
    };
    // An input that breaks off is ended like one that is over: whoever reads the output gets every run closed.
    translator.finish(clock.now_ms(), &mut |frame, events| watch.pass(frame, events, &mut writer));
    writer.finish().context("cannot write")?;
    watch.sum_up(translator.records());
    match read {
        Ok(()) => Ok(ExitCode::from(EXIT_CLEAN)),
        Err(error) => {
            let error = anyhow::Error::new(error).context(format!("cannot read {}", shown(&args.file)));
            writeln!(io::stderr(), "error: {error:#}")?;
            Ok(ExitCode::from(EXIT_FAILED))
        }
    }
}

/// Whether the path means the standard input.
pub(super) fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The path for people.
pub(super) fn shown(path: &Path) -> String {
    if is_stdin(path) { "the standard input".to_owned() } else { path.display().to_string() }
}

fn open(path: &Path) -> anyhow::Result<Box<dyn Read>> {
    if is_stdin(path) {
        return Ok(Box::new(io::stdin().lock()));
    }
    let file = File::open(path).with_context(|| format!("cannot read {}", shown(path)))?;
    Ok(Box::new(file))
}

/// What is said on stderr while events pass.
struct Diagnostics {
    schemas: Option<Schemas>,
    runs: HashMap<Uuid, Watch>,
    warnings: u64,
    breaches: u64,
}

impl Diagnostics {
    fn new(contract: &Contract, mode: GateMode) -> anyhow::Result<Self> {
        let schemas = match mode {
            GateMode::Warn if !contract.schemas.is_empty() => {
                Some(Schemas::compile(contract.schemas).map_err(anyhow::Error::msg)?)
            }
            GateMode::Warn | GateMode::Off => None,
        };
        Ok(Self { schemas, runs: HashMap::new(), warnings: 0, breaches: 0 })
    }

    fn pass<W: Write>(
        &mut self,
        frame: &Frame,
        events: &mut dyn Iterator<Item = EventRef<'_>>,
        writer: &mut EventWriter<W>,
    ) {
        self.watch(frame);
        for event in events {
            self.validate(frame, event);
            writer.event(event);
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

    fn validate(&mut self, frame: &Frame, event: EventRef<'_>) {
        let Some(schemas) = &self.schemas else { return };
        let Err(breaches) = schemas.check(event.kind, event.payload) else { return };
        self.breaches += 1;
        for breach in breaches {
            tracing::warn!(
                stream = %frame.stream.id,
                runner = frame.stream.provider,
                seq = frame.seq,
                event_type = event.kind,
                pointer = breach.pointer,
                rule = breach.keyword,
                "the event breaks its schema: {}",
                breach.message
            );
        }
    }

    fn sum_up(&self, records: u64) {
        let (warnings, breaches) = (self.warnings, self.breaches);
        if breaches > 0 {
            tracing::warn!(records, warnings, breaches, "done, with events that break their schemas");
        } else {
            tracing::info!(records, warnings, breaches, "done");
        }
    }
}
