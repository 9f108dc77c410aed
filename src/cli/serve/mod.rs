//! `framegate serve`: the proxy.
//!
//! The first line on stdout contains the address, so that a caller that asked for port 0 learns the port.

mod hangup;
mod reload;
mod settings;
mod system;
mod upstreams;

use super::{EXIT_CLEAN, EXIT_CONFIGURATION, LogArgs, threads};
use crate::artifacts::{ArtifactStore, MemoryStore};
use crate::clock::{Clock, Moment};
use crate::config::{self, FsyncKind, LogKind, Sources};
use crate::gate::Gate;
use crate::http::{Listening, ServeError, Server, Settings};
use crate::log::sqlite::{self, Fsync};
use crate::log::{FrameLog, MemoryLog, SqliteLog};
use crate::runs::{PruningBounds, Runs};
use crate::{demo, telemetry};
use anyhow::{Context, anyhow};
use framegate_translators::artifacts::Bounds;
use framegate_translators::contracts::CONTRACTS;
use framegate_translators::normalizer::EndHold;
use framegate_translators::redact::Rules;
use framegate_translators::runners::RUNNERS;
use hangup::Terminal;
use reload::Reload;
pub(super) use settings::{encoder_options, ingest_settings};
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Notify, oneshot};
use uuid::Uuid;

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct Args {
    /// The configuration file [default: config.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The address and port to listen on, instead of the configured ones: 127.0.0.1:8080, or 8080, :8080, localhost:8080 for
    /// loopback
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// An origin whose pages may use the proxy from a browser, such as http://localhost:5173; may be given several times, and
    /// replaces server.cors_origins
    #[arg(long, value_name = "ORIGIN")]
    cors: Vec<String>,
    /// Offer a scripted agent as the upstream "demo", ingest the recordings that come with framegate, and show how to try both
    #[arg(long)]
    demo: bool,
}

/// The exit codes in `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0    the proxy was asked to stop and has stopped
  2    the proxy could not start or continue: the port is in use, the database cannot be used
  78   the configuration is invalid; starting again does not help until it is corrected";

pub(super) fn run(args: &Args, log_args: &LogArgs) -> anyhow::Result<ExitCode> {
    let (sources, config, mut settings) = match configured(args, log_args) {
        Ok(configured) => configured,
        Err(error) => return Ok(unusable(&error)),
    };
    config.contradictions().iter().for_each(|message| tracing::warn!("{message}"));
    system::fit_open_files(&mut settings);
    let runtime = threads::runtime(config.log.read_connections)?;
    system::outlive_large_files(&runtime)?;
    // Listen before opening the database: a proxy that cannot listen leaves no file.
    let listening = match runtime.block_on(Listening::at(&settings)) {
        Err(error @ ServeError::Open(_)) => return Ok(unusable(&error.into())),
        listening => listening?,
    };
    // The demo leaves no files.
    let kind = if args.demo { LogKind::Memory } else { config.log.kind };
    let max_artifact_bytes = config.artifacts.max_total_bytes;
    let (log, store): (Arc<dyn FrameLog>, Arc<dyn ArtifactStore>) = match kind {
        LogKind::Memory => (
            Arc::new(
                MemoryLog::new(config.log.max_bytes, config.log.max_runs)
                    .with_max_age(max_age(&config.log), Clock::System),
            ),
            Arc::new(MemoryStore::new(max_artifact_bytes)),
        ),
        LogKind::Sqlite => {
            let options = sqlite::Options { max_artifact_bytes, ..log_options(&config.log) };
            let log = Arc::new(SqliteLog::open(options)?);
            (log.clone(), log)
        }
    };
    let runs = Runs::new(log, Gate::new(config.gate.mode).map_err(|error| anyhow!(error))?)
        .with_view_bytes(config.server.view_bytes)
        .with_end_hold(EndHold::Ms(config.ingest.end_hold_ms))
        .with_open_tools(config.ingest.max_open_tools)
        .with_pruning(pruning_bounds(&config.log), settings.encoder.clone());
    let artifacts = &config.artifacts;
    let runs = if artifacts.enabled {
        let bounds = Bounds {
            inline_bytes: artifacts.inline_bytes,
            preview_bytes: artifacts.preview_bytes,
            max_bytes: artifacts.max_bytes,
            max_open_bytes: artifacts.max_open_bytes,
        };
        runs.with_artifacts(store, bounds)
    } else {
        runs
    };
    let reload = Reload { sources, config, log: log_args.clone() };
    let otlp = reload.config.otlp.clone();
    // The demo is for showing to others, so it redacts whatever the configuration says.
    let demo_rules = if args.demo { settings.ingest.redaction.clone().or(default_rules()?) } else { None };
    runtime.block_on(async {
        runs.recover(Clock::System.now_ms()).await?;
        let (runs, spans) = watched(runs, &otlp)?;
        let runs = Arc::new(runs);
        runs.start_checkpointing();
        let keeping = tokio::spawn(keep(runs.clone()));
        let closing = tokio::spawn({
            let runs = runs.clone();
            async move { runs.close_left_open().await }
        });
        let place = place_of(kind, &reload.config.log.path);
        let served = serve((listening, settings), runs.clone(), demo_rules, reload, &place).await;
        keeping.abort();
        closing.abort();
        runs.keep_counts().await;
        if let Some(spans) = spans {
            spans.stop().await;
        }
        served
    })?;
    Ok(ExitCode::from(EXIT_CLEAN))
}

/// Reads the configuration, and sets up logging.
fn configured(args: &Args, log_args: &LogArgs) -> anyhow::Result<(Sources, config::Config, Settings)> {
    let mut sources = Sources::new(args.config.clone(), std::env::vars_os())?;
    let listen = args.listen.iter().map(|listen| ("server.listen".to_owned(), listen.clone()));
    sources.flags.extend(listen);
    if !args.cors.is_empty() {
        sources.flags.push(("server.cors_origins".to_owned(), args.cors.join(",")));
    }
    let mut config = sources.load()?;
    // The demo prints to the terminal, so routine log lines are suppressed.
    if args.demo && config.telemetry.filter == config::Telemetry::default().filter {
        config.telemetry.filter = "warn".to_owned();
    }
    telemetry::init(&log_args.over(&config.telemetry))?;
    let mut settings = settings::settings(&config)?;
    // An upstream of that name in the configuration has priority.
    if args.demo && settings.upstreams.iter().all(|upstream| upstream.name != demo::UPSTREAM) {
        settings.upstreams.extend(demo::upstream().context("cannot offer the demo's agent")?);
    }
    Ok((sources, config, settings))
}

/// Reports a configuration that cannot be used. Starting again is useless until it changes.
fn unusable(error: &anyhow::Error) -> ExitCode {
    // If stderr is closed, the error cannot be reported.
    let _ = writeln!(std::io::stderr(), "error: {error:#}");
    ExitCode::from(EXIT_CONFIGURATION)
}

/// The redaction rules of the default configuration.
fn default_rules() -> anyhow::Result<Option<Arc<Rules>>> {
    Ok(config::Redaction::default().rules()?.map(Arc::new))
}

/// The location of the log, as shown to users.
fn place_of(kind: LogKind, path: &Path) -> String {
    match kind {
        LogKind::Memory => "Its log is in memory and is lost when the process ends".to_owned(),
        LogKind::Sqlite => {
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            format!("Its log is {}", path.display())
        }
    }
}

/// Sends the runs to the configured OTLP collector, if there is one.
#[cfg(feature = "otel")]
fn watched(runs: Runs, otlp: &config::Otlp) -> anyhow::Result<(Runs, Option<telemetry::spans::Sending>)> {
    if otlp.endpoint.is_empty() {
        return Ok((runs, None));
    }
    let (spans, sending) = telemetry::spans::start(otlp, runs.metrics().clone())?;
    Ok((runs.watched_by(spans), Some(sending)))
}

/// A build without the feature. A configuration that names a collector has been refused before.
#[cfg(not(feature = "otel"))]
fn watched(runs: Runs, _: &config::Otlp) -> anyhow::Result<(Runs, Option<Untold>)> {
    Ok((runs, None))
}

/// Uninhabited: without the feature there is no exporter to stop.
#[cfg(not(feature = "otel"))]
enum Untold {}

#[cfg(not(feature = "otel"))]
impl Untold {
    async fn stop(self) {
        match self {}
    }
}

/// The interval of dropping old frames and of storing the counters of runs.
const KEEP_EVERY: Duration = Duration::from_secs(60);

async fn keep(runs: Arc<Runs>) {
    let start = Moment::now();
    loop {
        tokio::time::sleep(KEEP_EVERY).await;
        runs.drop_aged(start.elapsed(), Clock::System.now_ms()).await;
        runs.forget_dropped().await;
        runs.keep_counts().await;
    }
}

/// The limits beyond which the first frames of a run are pruned, from the settings.
fn pruning_bounds(log: &config::Log) -> PruningBounds {
    let some = |number: u64| Some(number).filter(|number| *number > 0);
    PruningBounds {
        max_frames: some(log.run_max_frames),
        max_bytes: some(log.run_max_bytes),
        max_age: some(log.run_max_age_hours).map(|hours| Duration::from_secs(hours * 3600)),
    }
}

/// How long idle streams are kept; `None` means without limit.
fn max_age(log: &config::Log) -> Option<Duration> {
    (log.max_age_hours > 0).then(|| Duration::from_secs(log.max_age_hours * 3600))
}

/// The options of the database, from the settings.
pub(super) fn log_options(log: &config::Log) -> sqlite::Options {
    let at_least_one = |number: usize| NonZeroUsize::new(number).unwrap_or(NonZeroUsize::MIN);
    sqlite::Options {
        fsync: match log.fsync {
            FsyncKind::Always => Fsync::Always,
            FsyncKind::Interval => Fsync::Interval(Duration::from_millis(log.fsync_interval_ms)),
            FsyncKind::Never => Fsync::Never,
        },
        queue: at_least_one(log.queue_appends),
        readers: at_least_one(log.read_connections),
        max_runs: log.max_runs,
        max_bytes: log.max_bytes,
        max_age: max_age(log),
        check: log.check_on_open,
        max_file_bytes: Some(log.max_file_bytes).filter(|bytes| *bytes > 0),
        recent_bytes: log.recent_bytes,
        ..sqlite::Options::new(&log.path)
    }
}

async fn serve(
    (listening, settings): (Listening, Settings),
    runs: Arc<Runs>,
    demo: Option<Arc<Rules>>,
    mut reload: Reload,
    place: &str,
) -> anyhow::Result<()> {
    let scheme = if settings.live.tls.is_some() { "https" } else { "http" };
    // Install the handlers before printing the address: a signal without a handler ends the process.
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for signals")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for signals")?;
    let terminal = Terminal::at_start();
    let mut hangup = signal(SignalKind::hangup()).context("cannot listen for signals")?;
    let server = Server::on(listening, settings, runs.clone())?;
    let address = server.address();
    // Written at once. A caller that only wants the address reads no further than the first line.
    say(&format!("framegate listens on {scheme}://{address}\n{place}\n"))?;
    tracing::info!(%address, "listening");
    let control = server.control();
    let (hang_up, mut hung_up) = oneshot::channel();
    let reloading = tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            if !terminal.is_gone() {
                reload.take_up(&control);
                if terminal.is_followed() {
                    tokio::time::sleep(hangup::SOON).await;
                }
            }
            if terminal.is_gone() {
                tracing::info!("the terminal was closed");
                let _ = hang_up.send(());
                // Further SIGHUPs mean the same.
                return;
            }
        }
    });
    if let Some(rules) = demo {
        tokio::spawn(async move {
            let base = format!("{scheme}://{address}");
            let mut is_first = true;
            let on_run = |name: &str, run: Uuid| {
                let intro = if std::mem::take(&mut is_first) { demo_intro(&base) } else { String::new() };
                let _ = say(&format!("{intro}{}", demo_run(&base, name, run)));
            };
            match demo::play(runs, Some(rules), on_run).await {
                Ok(()) => drop(say("\nAll recordings have been played; their runs can still be read.\n")),
                Err(error) => tracing::error!(%error, "the demo failed"),
            }
        });
    }
    // The first signal drains, the second one cuts the draining short.
    let (first, again) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let signals = [(first.clone(), "shutdown requested"), (again.clone(), "shutdown requested again")];
    tokio::spawn(async move {
        for (signal, message) in signals {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
                Ok(()) = &mut hung_up, if !hung_up.is_terminated() => {}
            }
            tracing::info!("{message}");
            signal.notify_one();
        }
    });
    server.serve(async move { first.notified().await }, async move { again.notified().await }).await;
    reloading.abort();
    Ok(())
}

fn demo_intro(base: &str) -> String {
    let contracts: Vec<&str> = CONTRACTS.iter().map(|contract| contract.name).collect();
    let demo = demo::UPSTREAM;
    format!(
        "\nThe upstream {demo:?} starts runs. Unless the configuration has its own, it is a script and needs no model:\n\n  curl \
             '{base}/v1/runs' -d '{{\"upstream\": \"{demo}\", \"prompt\": \"Make a plan, then write a note\"}}'\n\nRecordings \
             of {} runners are being ingested. To watch them all live in one contract:\n\n  curl -N \
             '{base}/v1/events?contract=sse.v1'\n\nThe list of runs, and one run in each contract ({}):\n\n  curl \
             '{base}/v1/runs'\n",
        RUNNERS.len(),
        contracts.join(", ")
    )
}

fn demo_run(base: &str, runner: &str, run: Uuid) -> String {
    format!("\n{runner}:\n  curl -N '{base}/v1/runs/{run}/events?contract=hecate.v1'\n")
}

fn say(text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}
