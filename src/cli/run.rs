//! `framegate run`: starts a runner in the same way as `serve`, and writes its translation while it runs.
//!
//! Input: the name of a configured upstream or of a preset, and a prompt, or the command line of a runner; keys that answer questions, on a terminal. Output: each event as soon
//! as its record is read, or text for people; the runner's standard error; the runner's exit status, or a status other than 0 if its run
//! failed. Never: a question that waits although no user can answer it (then the rules decide, and `approvals.unanswered` at once); a runner
//! that is left running.

mod show;

use super::named_upstream;
use super::names::{self, ContractName, OutputName, RunnerName};
use super::run_end::{Ending, of_runs};
use super::serve::{encoder_options, ingest_settings};
use super::text::{self, TextArgs, View};
use crate::auth::Restriction;
use crate::config::upstream::{Command, Kind, Upstream as Configured};
use crate::config::{Config, LogKind, Sources};
use crate::gate::Gate;
use crate::log::MemoryLog;
use crate::platform::paths;
use crate::platform::signals::EndSignals;
use crate::runs::labels::{Label, Labels};
use crate::runs::{FrameFollower, IngestFollower, Ingested, RunStatus, Runs, Wire};
use crate::shutdown::Phase;
use crate::upstream::Host;
use crate::upstream::command::{CommandUpstream, Launched};
use anyhow::{Context, anyhow, bail};
use framegate_translators::contracts::DEFAULT;
use framegate_translators::encode::EncoderOptions;
use framegate_translators::host::{HostMessage, Opening};
use framegate_translators::normalizer::EndHold;
use framegate_translators::runners::AGENTS;
use show::Show;
use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, OnceLock};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct Args {
    #[arg(help = upstream_help(), required_unless_present = "command")]
    upstream: Option<String>,
    /// The prompt for the runner; if it is - or missing, it is read from standard input
    prompt: Option<String>,
    /// A runner's program and its arguments, in which placeholders are replaced as in upstream.arguments. It gets the standard input,
    /// once that is complete
    #[arg(last = true, value_name = "COMMAND", requires = "from", conflicts_with_all = ["upstream", "session", "model", "mode"])]
    command: Vec<String>,
    /// The runner whose output COMMAND writes
    #[arg(long, value_name = "RUNNER", value_parser = names::runner(), requires = "command")]
    from: Option<RunnerName>,
    #[arg(long, value_name = "CONTRACT", value_parser = names::output(), help = to_help())]
    to: Option<OutputName>,
    /// The framing of events in the output [default: ndjson]
    #[arg(long = "as", value_name = "FORM")]
    form: Option<Form>,
    /// The session to continue, in the runner's spelling
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The directory that the runner works in [default: the upstream's, else the current one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// The model
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The mode in which the runner works, in the runner's spelling
    #[arg(long, value_name = "NAME")]
    mode: Option<String>,
    /// Also emit what the contract calls experimental
    #[arg(long)]
    experimental: bool,
    #[arg(long, help = names::user_messages("emit"))]
    user_messages: bool,
    /// A label of the run, for figures over runs; may be given several times
    #[arg(long = "label", value_name = "KEY:VALUE")]
    labels: Vec<Label>,
    /// Where the run's status goes when the runner has ended: a file of JSON with one line for each run, which `framegate stats
    /// --from` reads
    #[arg(long, value_name = "FILE")]
    status_file: Option<PathBuf>,
    /// The configuration file [default: the one that FRAMEGATE_CONFIG names, or config.toml if it is there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    text: TextArgs,
}

/// The exit codes in `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0     the run was completed, and the runner exited with 0
  1     the runner exited with 0, but the run failed or was interrupted
  2     there was no run; the runner could not be started; invalid arguments
  130   Ctrl-C interrupted the run (143: SIGTERM)
  other the runner's exit code; 128 plus the signal's number if a signal ended it";

/// The framing of events in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// One event per line
    Ndjson,
    /// Server-sent events
    Sse,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let to = output(args)?;
    if matches!(to, OutputName::Contract(_)) {
        args.text.refuse()?;
    }
    let config = Sources::new(args.config.clone(), std::env::vars_os())?.load()?;
    let labels = Labels::of(args.labels.iter().cloned())?;
    let mut status_file = args.status_file.as_deref().map(StatusFile::create).transpose()?;
    let (configured, settings) = upstream(&config, args)?;
    let prompt = match args.prompt.as_deref() {
        Some(prompt) if prompt != "-" => prompt.to_owned(),
        // A program that reads nothing need not wait.
        None if !args.command.is_empty() && std::io::stdin().is_terminal() => String::new(),
        None if std::io::stdin().is_terminal() => {
            bail!("no prompt was given: pass it as an argument or through a pipe")
        }
        _ => {
            let (mut text, most) = (String::new(), settings.max_prompt_bytes as u64);
            std::io::stdin().take(most + 1).read_to_string(&mut text).context("cannot read standard input")?;
            text
        }
    };
    let opening = Opening {
        prompt,
        files: Vec::new(),
        session: args.session.clone(),
        cwd: args.cwd.as_deref().map(absolute).transpose()?,
        model: args.model.clone(),
        mode: args.mode.clone(),
    };
    let log = Arc::new(MemoryLog::new(config.log.bytes_in(LogKind::Memory), config.log.max_runs));
    let gate = Gate::new(config.gate.mode).map_err(|error| anyhow!(error))?;
    let runs = Runs::new(log, gate)
        .with_view_bytes(config.server.view_bytes)
        .with_end_hold(EndHold::Ms(config.ingest.end_hold_ms))
        .with_open_tools(config.ingest.max_open_tools)
        .with_prices(super::prices::of(&config)?);
    let runs = Arc::new(runs);
    let mut policy = config.approvals.policy()?;
    if !matches!(to, OutputName::Text) || !show::can_ask() {
        policy.timeout_ms = 0;
    }
    let host = Host { policy: Arc::new(policy), ..Host::new(runs.clone(), ingest_settings(&config)?) };
    let upstream = CommandUpstream::new(&configured, settings, host.clone())
        .with_context(|| format!("unknown runner {:?}", configured.runner))?
        .relaying_stderr();
    // A program that is named with its arguments may need none.
    let upstream = if args.command.is_empty() { upstream } else { upstream.without_prompt() };
    let runtime = super::threads::runtime(0)?;
    let code = runtime.block_on(async {
        let begin: Box<dyn FnOnce(&Ingested) -> Output> = match to {
            OutputName::Contract(contract) => {
                let mut options = EncoderOptions { experimental: args.experimental, ..encoder_options(&config) };
                options.user_messages |= args.user_messages;
                let wire = if args.form == Some(Form::Sse) { Wire::Sse } else { Wire::Ndjson };
                let runs = runs.clone();
                Box::new(move |ingested| Output::Events(Box::new(ingested.follow(runs, contract.0, options, wire))))
            }
            OutputName::Text => {
                // From here on, the view has what the runner writes to standard error. It must not reach the terminal as it is.
                let view = Box::new(View::new(&args.text, false, false));
                let runs = runs.clone();
                Box::new(move |ingested| Output::Text(ingested.follow_frames(runs), view))
            }
        };
        let launched = upstream.launch(opening, Arc::<Restriction>::default(), &labels)?;
        let ingested = launched.ingested.clone();
        let output = begin(&ingested);
        let ending = follow(launched, output, &host).await?;
        let entries = ingested.entries();
        let code = ending.tell(&runs, &entries).await;
        if let Some(file) = &mut status_file {
            file.write(&of_runs(&runs, &entries))?;
        }
        anyhow::Ok(code)
    })?;
    Ok(ExitCode::from(code))
}

/// The file for the statuses of the runs. It is created before the runner starts, so that a path that cannot be written is an error
/// at once.
struct StatusFile {
    file: File,
    path: PathBuf,
}

impl StatusFile {
    fn create(path: &Path) -> anyhow::Result<Self> {
        let file = File::create(path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(Self { file, path: path.to_owned() })
    }

    fn write(&mut self, statuses: &[RunStatus]) -> anyhow::Result<()> {
        let mut lines = Vec::new();
        for status in statuses {
            serde_json::to_writer(&mut lines, status)?;
            lines.push(b'\n');
        }
        self.file.write_all(&lines).with_context(|| format!("cannot write {}", self.path.display()))
    }
}

/// Where the output goes.
enum Output {
    Events(Box<IngestFollower>),
    Text(FrameFollower, Box<View>),
}

/// The form of the output: text on a terminal, unless the arguments say otherwise.
fn output(args: &Args) -> anyhow::Result<OutputName> {
    match (args.to, args.form) {
        (Some(OutputName::Text), Some(_)) => {
            bail!("--as cannot be used with --to {}, which has no events", text::NAME)
        }
        (Some(to), _) => Ok(to),
        (None, None) if std::io::stdout().is_terminal() => Ok(OutputName::Text),
        (None, _) => Ok(OutputName::Contract(ContractName(DEFAULT))),
    }
}

/// The help of `--to`.
fn to_help() -> String {
    format!(
        "The contract of the output, or {} [default: {} on a terminal, else {}]",
        text::NAME,
        text::NAME,
        DEFAULT.name
    )
}

/// Returns the upstream, which must be a program, and its settings.
fn upstream(config: &Config, args: &Args) -> anyhow::Result<(Configured, Command)> {
    let name = args.upstream.as_deref().unwrap_or_default();
    let of_command = args.from.zip(args.command.split_first());
    let is_command = of_command.is_some();
    let mut configured = match of_command {
        Some((runner, (program, arguments))) => named_upstream::of_command(runner.0, program, arguments),
        None => named_upstream::find(config, name)?,
    };
    let is_preset = is_command || !config.upstream.iter().any(|upstream| upstream.name == name);
    // The caller could have started it in any mode, unless the settings name some.
    if let Some(mode) = args.mode.as_ref().filter(|_| configured.modes.names.is_empty()) {
        configured.offer(std::slice::from_ref(mode)).map_err(|error| anyhow!("--mode: {error}"))?;
    }
    let Kind::Command(settings) = &mut configured.kind else {
        bail!("the upstream {name:?} does not start a program: its kind is neither \"command\" nor {:?}", AGENTS.name);
    };
    // There is only one prompt, so the runner may exit when it is done.
    settings.linger_ms = 0;
    if is_preset {
        // The caller could have started it in any directory.
        settings.directories = args.cwd.as_deref().and_then(|path| paths::canonical(path).ok()).into_iter().collect();
    }
    let settings = Command::clone(settings);
    Ok((configured, settings))
}

/// The help of the first argument.
fn upstream_help() -> String {
    format!("A configured upstream of kind \"command\", or a preset: {}", named_upstream::presets_help())
}

fn absolute(path: &Path) -> anyhow::Result<String> {
    let path = paths::canonical(path).with_context(|| format!("cannot use {}", path.display()))?;
    path.into_os_string().into_string().map_err(|path| anyhow!("{} is not valid Unicode", path.display()))
}

/// Writes the output until the runner has ended. The first signal interrupts the run, the second one ends the runner.
async fn follow(launched: Launched, output: Output, host: &Host) -> anyhow::Result<Ending> {
    let Launched { ingested, run, exit } = launched;
    let mut signals = EndSignals::listen().context("cannot listen for signals")?;
    let (shutdown, handles) = (host.shutdown.clone(), host.handles.clone());
    let (begun, mut known) = watch::channel(None::<Uuid>);
    let first_signal = Arc::new(OnceLock::new());
    let came = first_signal.clone();
    let interrupting = AbortOnDropHandle::new(tokio::spawn(async move {
        let mut has_interrupted = false;
        loop {
            let _ = came.set(signals.next().await.number());
            // The run's frames can be printed before `run` resolves. Wait for it if a run has begun.
            let has_begun = ingested.has_runs();
            let run = match known.wait_for(|run| run.is_some() || !has_begun).await {
                Ok(run) => *run,
                Err(_) => None,
            };
            match run.and_then(|run| handles.find(run)).filter(|_| !has_interrupted) {
                Some(handle) => {
                    has_interrupted = true;
                    tokio::spawn(async move { handle.send(HostMessage::Interrupt, "a signal").await });
                }
                None => shutdown.set(Phase::Cutting),
            }
        }
    }));
    let begins = async move {
        match run.await {
            Ok(Ok(run)) => {
                begun.send_replace(Some(run));
                None
            }
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => None,
        }
    };
    let written = async {
        let written = match output {
            Output::Events(mut follower) => write(&mut follower).await,
            Output::Text(mut follower, view) => match Show::new(*view, host.handles.clone()) {
                Ok(show) => show.follow(&mut follower).await,
                Err(error) => Err(error),
            },
        };
        if written.is_err() {
            // The output is closed, so the runner's work is of no use.
            host.shutdown.set(Phase::Cutting);
        }
        written
    };
    let (written, no_run) = tokio::join!(written, begins);
    let exit = exit.await.map_err(|_| anyhow!("lost control of the runner"))?;
    drop(interrupting);
    // A reader that closes the output early does not make a run successful that was ended for it.
    written.or_else(|error| if super::is_closed_pipe(&error) { Ok(()) } else { Err(error) })?;
    Ok(Ending { exit, signal: first_signal.get().copied(), no_run })
}

async fn write(follower: &mut IngestFollower) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    while let Some(batch) = follower.next().await? {
        for chunk in &batch.chunks {
            out.write_all(chunk).context("cannot write")?;
        }
        out.flush().context("cannot write")?;
    }
    Ok(())
}
