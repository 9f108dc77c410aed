//! `framegate run`: starts a runner as `serve` does, and writes its translation as it goes.
//!
//! In: the name of a configured upstream or of a preset, a prompt. Out: each event as soon as its record is in; the runner's
//! exit status. Never: a question that waits for ever (nobody is there to answer: rules and the time-out decide), a runner
//! that is left behind.

use super::EXIT_FAILED;
use super::names::{self, ContractName};
use crate::auth::Restriction;
use crate::config::upstream::{Command, Kind, Preset, Upstream as Configured};
use crate::config::{Config, Sources, unknown};
use crate::gate::Gate;
use crate::log::MemoryLog;
use crate::runs::{IngestFollower, Runs, Wire};
use crate::stopping::Phase;
use crate::upstream::Host;
use crate::upstream::command::{CommandUpstream, Exit, Launched};
use anyhow::{Context, anyhow, bail};
use framegate_translators::encode::EncoderOptions;
use framegate_translators::frame::StreamKind;
use framegate_translators::framing::Limits;
use framegate_translators::host::{Opening, Wish};
use std::io::{IsTerminal, Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A configured upstream of kind "command", or a preset: claude-code, codex-exec, codex-app-server, opencode-run
    upstream: String,
    /// What the runner is to do; - or nothing: the standard input
    prompt: Option<String>,
    /// The contract of the output
    #[arg(long, value_name = "CONTRACT", value_parser = names::contract(), default_value = "frames.v2")]
    to: ContractName,
    /// How events stand in the output
    #[arg(long = "as", value_name = "FORM", default_value = "ndjson")]
    form: Form,
    /// The session that goes on, in the runner's spelling
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// The directory that the runner works in [default: the upstream's, else this one]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// The model
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Also emit what the contract calls experimental
    #[arg(long)]
    experimental: bool,
    /// The configuration file [default: config.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// How events stand in the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Form {
    /// One event a line
    Ndjson,
    /// Server-sent events
    Sse,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let config = Sources::new(args.config.clone(), std::env::vars_os())?.load()?;
    let (configured, settings) = upstream(&config, args)?;
    let prompt = match args.prompt.as_deref() {
        Some(prompt) if prompt != "-" => prompt.to_owned(),
        None if std::io::stdin().is_terminal() => bail!("no prompt is given: name it, or pipe it in"),
        _ => {
            let (mut text, most) = (String::new(), settings.max_prompt_bytes as u64);
            std::io::stdin().take(most + 1).read_to_string(&mut text).context("cannot read the standard input")?;
            text
        }
    };
    let opening = Opening {
        prompt,
        session: args.session.clone(),
        cwd: args.cwd.as_deref().map(absolute).transpose()?,
        model: args.model.clone(),
    };
    let log = Arc::new(MemoryLog::new(config.log.max_bytes, config.log.max_runs));
    let gate = Gate::new(config.gate.mode).map_err(|error| anyhow!(error))?;
    let runs = Arc::new(Runs::new(log, gate).with_view_bytes(config.server.view_bytes));
    let host = Host {
        records_per_run: config.limits.max_records_per_run,
        ahead_bytes: config.ingest.ahead_bytes,
        limits: Limits { record_bytes: config.ingest.max_record_bytes, preview_bytes: config.ingest.preview_bytes },
        drift: config.ingest.drift,
        policy: Arc::new(config.approvals.policy()?),
        redaction: config.redaction.rules()?.map(Arc::new),
        ..Host::new(runs.clone())
    };
    let upstream = CommandUpstream::new(&configured, settings, host.clone())
        .with_context(|| format!("there is no runner {:?}", configured.runner))?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start")?;
    let exit = runtime.block_on(async {
        let launched = upstream.launch(opening, Arc::<Restriction>::default())?;
        let options = EncoderOptions { experimental: args.experimental, ..EncoderOptions::default() };
        let wire = if args.form == Form::Sse { Wire::Sse } else { Wire::Ndjson };
        let follower = launched.ingested.follow(runs, args.to.0, options, wire);
        follow(launched, follower, &host).await
    })?;
    Ok(code_of(&exit))
}

/// The upstream of that name, as it is configured, or as its preset has it.
fn upstream(config: &Config, args: &Args) -> anyhow::Result<(Configured, Command)> {
    let name = args.upstream.as_str();
    let found = config.upstream.iter().find(|upstream| upstream.name == name).cloned();
    let configured = match found {
        Some(found) => found,
        None => preset(name, args).with_context(|| {
            let configured = config.upstream.iter().map(|upstream| upstream.name.as_str());
            let known: Vec<&str> = configured.chain(PRESETS.iter().map(|(name, _)| *name)).collect();
            unknown("upstream or preset", name, known.into_iter())
        })?,
    };
    let Kind::Command(settings) = &configured.kind else {
        bail!("the upstream {name:?} starts no program: its kind is another one");
    };
    // One prompt is all that comes: the runner may leave when it is done.
    let settings = Command { linger_ms: 0, ..Command::clone(settings) };
    Ok((configured, settings))
}

const PRESETS: [(&str, Preset); 4] = [
    ("claude-code", Preset::ClaudeCode),
    ("codex-exec", Preset::CodexExec),
    ("codex-app-server", Preset::CodexAppServer),
    ("opencode-run", Preset::OpencodeRun),
];

/// A preset without settings. Whoever calls us is where the runner may work.
fn preset(name: &str, args: &Args) -> Option<Configured> {
    let (name, preset) = PRESETS.iter().find(|(known, _)| *known == name)?;
    let directories = args.cwd.as_deref().and_then(|path| path.canonicalize().ok()).into_iter().collect();
    let kind = Kind::Command(Box::new(Command { preset: *preset, directories, ..Command::default() }));
    let (name, runner) = ((*name).to_owned(), preset.runner().to_owned());
    Some(Configured { name, runner, max_runs: 1, kind })
}

fn absolute(path: &std::path::Path) -> anyhow::Result<String> {
    let path = path.canonicalize().with_context(|| format!("{} cannot be used", path.display()))?;
    path.into_os_string().into_string().map_err(|path| anyhow!("{} is no Unicode text", path.display()))
}

/// Writes what comes until it is over. The first signal interrupts the run, the second one ends the runner.
async fn follow(launched: Launched, mut follower: IngestFollower, host: &Host) -> anyhow::Result<Exit> {
    let Launched { ingested, run, exit } = launched;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for signals")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for signals")?;
    let (stopping, links) = (host.stopping.clone(), host.links.clone());
    let (begun, mut known) = watch::channel(None::<Uuid>);
    let signals = AbortOnDropHandle::new(tokio::spawn(async move {
        let mut told = false;
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            // What is kept of a run is printed before its task tells of it.
            let has_begun = ingested.entries().iter().any(|entry| entry.stream.kind == StreamKind::Session);
            let run = match known.wait_for(|run| run.is_some() || !has_begun).await {
                Ok(run) => *run,
                Err(_) => None,
            };
            match run.and_then(|run| links.find(run)).filter(|_| !told) {
                Some(link) => {
                    told = true;
                    tokio::spawn(async move { link.say(Wish::Interrupt, "a signal").await });
                }
                None => stopping.set(Phase::Cutting),
            }
        }
    }));
    let begins = async move {
        match run.await {
            Ok(Ok(run)) => {
                begun.send_replace(Some(run));
                None
            }
            Ok(Err(error)) => Some(error),
            Err(_) => None,
        }
    };
    let written = async {
        let written = write(&mut follower).await;
        if written.is_err() {
            // Nobody reads on: the runner's work is for nobody.
            host.stopping.set(Phase::Cutting);
        }
        written
    };
    let (written, failed) = tokio::join!(written, begins);
    let exit = exit.await.map_err(|_| anyhow!("the runner could not be driven"))?;
    drop(signals);
    written?;
    if let Some(failed) = failed {
        let _ = writeln!(std::io::stderr(), "framegate: {failed}");
    }
    Ok(exit)
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

/// The runner's exit status, as a shell gives it.
fn code_of(exit: &Exit) -> ExitCode {
    use std::os::unix::process::ExitStatusExt;
    if let Some(cut) = &exit.cut {
        let _ = writeln!(std::io::stderr(), "framegate: {cut}");
    }
    let code = exit.status.and_then(|status| status.code().or_else(|| status.signal().map(|signal| 128 + signal)));
    code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::from(EXIT_FAILED), ExitCode::from)
}
