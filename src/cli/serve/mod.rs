//! `framegate serve`: the proxy.
//!
//! The first line on stdout says where it listens, so that whoever started it with port 0 can find it.

mod reload;
mod settings;
mod upstreams;

use super::{EXIT_CLEAN, LogArgs};
use crate::artifacts::{ArtifactStore, MemoryStore};
use crate::clock::{Clock, Moment};
use crate::config::{self, FsyncKind, LogKind, Sources};
use crate::gate::Gate;
use crate::http::{Server, Settings};
use crate::log::sqlite::{self, Fsync};
use crate::log::{FrameLog, MemoryLog, SqliteLog};
use crate::runs::{FrontBounds, Runs};
use crate::{demo, telemetry};
use anyhow::{Context, anyhow};
use framegate_translators::artifacts::Bounds;
use framegate_translators::runners::runner;
use reload::Reload;
pub(super) use settings::encoder_options;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;
use uuid::Uuid;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The configuration file [default: config.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The address and port to listen on, instead of the configured ones
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,
    /// Play in the recordings that come with framegate, and say how to watch them
    #[arg(long)]
    demo: bool,
}

pub(super) fn run(args: &Args, log_args: &LogArgs) -> anyhow::Result<ExitCode> {
    let mut sources = Sources::new(args.config.clone(), std::env::vars_os())?;
    let listen = args.listen.iter().map(|listen| ("server.listen".to_owned(), listen.clone()));
    sources.flags.extend(listen);
    let config = sources.load()?;
    telemetry::init(&log_args.over(&config.telemetry))?;
    let settings = settings::settings(&config)?;
    // The demo leaves nothing behind.
    let kind = if args.demo { LogKind::Memory } else { config.log.kind };
    let max_artifact_bytes = config.artifacts.max_total_bytes;
    let (log, store): (Arc<dyn FrameLog>, Arc<dyn ArtifactStore>) = match kind {
        LogKind::Memory => (
            Arc::new(MemoryLog::new(config.log.max_bytes, config.log.max_runs)),
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
        .with_front_bounds(front_bounds(&config.log), settings.encoder.clone());
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
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start")?;
    let reload = Reload { sources, config, log: log_args.clone() };
    let otlp = reload.config.otlp.clone();
    runtime.block_on(async {
        runs.recover(Clock::System.now_ms()).await?;
        let (runs, spans) = watched(runs, &otlp)?;
        let runs = Arc::new(runs);
        runs.start_marking();
        let keeping = tokio::spawn(keep(runs.clone()));
        let served = serve(settings, runs.clone(), args.demo, reload).await;
        keeping.abort();
        runs.keep_counts().await;
        if let Some(spans) = spans {
            spans.stop().await;
        }
        served
    })?;
    Ok(ExitCode::from(EXIT_CLEAN))
}

/// Lets the runs be told to the collector of the settings, where one is named.
#[cfg(feature = "otel")]
fn watched(runs: Runs, otlp: &config::Otlp) -> anyhow::Result<(Runs, Option<telemetry::spans::Sending>)> {
    if otlp.endpoint.is_empty() {
        return Ok((runs, None));
    }
    let (spans, sending) = telemetry::spans::start(otlp, runs.metrics().clone())?;
    Ok((runs.watched_by(spans), Some(sending)))
}

/// A build without the feature: a configuration that names a collector was refused before.
#[cfg(not(feature = "otel"))]
fn watched(runs: Runs, _: &config::Otlp) -> anyhow::Result<(Runs, Option<Untold>)> {
    Ok((runs, None))
}

/// What there is nothing of.
#[cfg(not(feature = "otel"))]
enum Untold {}

#[cfg(not(feature = "otel"))]
impl Untold {
    async fn stop(self) {
        match self {}
    }
}

/// How often frames that are too old are looked for, and what was counted of runs is kept.
const KEEP_EVERY: Duration = Duration::from_secs(60);

async fn keep(runs: Arc<Runs>) {
    let start = Moment::now();
    loop {
        tokio::time::sleep(KEEP_EVERY).await;
        runs.drop_aged(start.elapsed(), Clock::System.now_ms()).await;
        runs.keep_counts().await;
    }
}

/// What the settings mean for the front of one run.
fn front_bounds(log: &config::Log) -> FrontBounds {
    let some = |number: u64| Some(number).filter(|number| *number > 0);
    FrontBounds {
        max_frames: some(log.run_max_frames),
        max_bytes: some(log.run_max_bytes),
        max_age: some(log.run_max_age_hours).map(|hours| Duration::from_secs(hours * 3600)),
    }
}

/// What the settings mean for the database.
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
        max_age: (log.max_age_hours > 0).then(|| Duration::from_secs(log.max_age_hours * 3600)),
        check: log.check_on_open,
        max_file_bytes: Some(log.max_file_bytes).filter(|bytes| *bytes > 0),
        recent_bytes: log.recent_bytes,
        ..sqlite::Options::new(&log.path)
    }
}

async fn serve(settings: Settings, runs: Arc<Runs>, with_demo: bool, mut reload: Reload) -> anyhow::Result<()> {
    let scheme = if settings.live.tls.is_some() { "https" } else { "http" };
    // Before anybody is told where it listens: a signal that nobody waits for ends the process.
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for signals")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for signals")?;
    let mut hangup = signal(SignalKind::hangup()).context("cannot listen for signals")?;
    let server = Server::bind(settings, runs.clone()).await?;
    let address = server.address();
    say(&format!("framegate listens on {scheme}://{address}\n"))?;
    tracing::info!(%address, "listening");
    let control = server.control();
    let reloading = tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            reload.take_up(&control);
        }
    });
    if with_demo {
        tokio::spawn(async move {
            let Some(runner) = runner("claude-code") else { return };
            let told = |run: Uuid| {
                let _ = say(&demo_text(&format!("{scheme}://{address}"), run));
            };
            if let Err(error) = demo::play(runs, runner, told).await {
                tracing::error!(%error, "the demo stopped");
            }
        });
    }
    // The first signal drains, the second one does not wait for it.
    let (told, again) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let signals = [told.clone(), again.clone()];
    tokio::spawn(async move {
        for signal in signals {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            tracing::info!("told to stop");
            signal.notify_one();
        }
    });
    server.serve(async move { told.notified().await }, async move { again.notified().await }).await;
    reloading.abort();
    Ok(())
}

fn demo_text(base: &str, run: Uuid) -> String {
    format!(
        "\nA recorded Claude Code run is being played in now. Watch it, translated, live:\n\n  \
         curl -N '{base}/v1/runs/{run}/events?contract=sse.v1'\n\n\
         The same run in another contract, and what else there is:\n\n  \
         curl -N '{base}/v1/runs/{run}/events?contract=agent-manager.v1'\n  \
         curl '{base}/v1/runs'\n\n"
    )
}

fn say(text: &str) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}
