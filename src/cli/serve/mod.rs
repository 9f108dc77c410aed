//! `framegate serve`: the proxy.
//!
//! The first line on stdout contains the address, so that a caller that asked for port 0 learns the port.

pub(in crate::cli) mod engine;
mod reload;
mod settings;
mod system;
mod upstreams;

use super::{EXIT_CLEAN, EXIT_CONFIGURATION, LogArgs, threads};
use crate::budgets::{self, Budgets};
use crate::clock::Clock;
use crate::config::budgets::Budget;
use crate::config::{self, LogKind, Sources};
use crate::http::{Listening, ServeError, Server, Settings};
use crate::platform::hangup::{Hangups, Terminal};
use crate::platform::limits;
use crate::platform::signals::EndSignals;
use crate::prices::Prices;
use crate::runs::Runs;
use crate::search::Search;
use crate::webhooks::{Delivering, Target, Webhooks};
use crate::{demo, telemetry, webhooks};
use anyhow::Context;
use engine::Upkeep;
use framegate_translators::contracts::CONTRACTS;
use framegate_translators::redact::Rules;
use framegate_translators::runners::RUNNERS;
use reload::Reload;
pub(super) use settings::{encoder_options, ingest_settings, settings};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct Args {
    /// The configuration file [default: the one that FRAMEGATE_CONFIG names, or config.toml if it is there]
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

/// How long after a hangup the terminal may still close: a shell that ends signals its jobs first.
const TERMINAL_CLOSES: Duration = Duration::from_secs(1);

/// The exit codes in `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0    the proxy was asked to stop and has stopped
  2    the proxy could not start or continue: the port is in use, the database cannot be used
  78   the configuration is invalid; starting again does not help until it is corrected";

pub(super) fn run(args: &Args, log_args: &LogArgs) -> anyhow::Result<ExitCode> {
    let Configured { sources, config, mut settings, prices, targets, budgets } = match configured(args, log_args) {
        Ok(configured) => configured,
        Err(error) => return Ok(unusable(&error)),
    };
    config.contradictions().iter().for_each(|message| tracing::warn!("{message}"));
    system::fit_open_files(&mut settings);
    let runtime = threads::runtime(config.log.read_connections)?;
    runtime.block_on(async { limits::outlive_large_files() }).context("cannot listen for signals")?;
    // Listen before opening the database: a proxy that cannot listen leaves no file.
    let listening = match runtime.block_on(Listening::at(&settings)) {
        Err(error @ ServeError::Open(_)) => return Ok(unusable(&error.into())),
        listening => listening?,
    };
    // The demo leaves no files.
    let kind = if args.demo { LogKind::Memory } else { config.log.kind };
    let runs = engine::runs(&config, runtime.block_on(engine::storage(&config, kind))?, &settings.encoder)?;
    let runs = runs.with_prices(prices.clone());
    let budgets = Budgets::new(budgets, config.budgets.max_accounts);
    let runs = runs.watched_by(budgets.clone());
    let mut reload =
        Reload { sources, config, log: log_args.clone(), prices, webhooks: None, budgets: budgets.clone() };
    let otlp = reload.config.otlp.clone();
    let (runs, webhooks) = Webhooks::of(runs, engine::webhook_options(&reload.config, kind), targets);
    // The demo is for showing to others, so it redacts whatever the configuration says.
    let demo_rules = if args.demo { settings.ingest.redaction.clone().or(default_rules()?) } else { None };
    runtime.block_on(async {
        runs.recover(Clock::System.now_ms()).await?;
        let (runs, spans) = watched(runs, &otlp)?;
        let runs = Arc::new(runs);
        let delivering = webhooks.start(runs.clone());
        reload.webhooks = Some(delivering.control());
        let upkeep = Upkeep::start(&runs);
        let (search, indexing) = started_search(&reload.config, kind, &runs).unzip();
        let place = place_of(kind, &reload.config.log);
        let parts = Parts { runs: runs.clone(), search, delivering, budgets };
        let served = serve((listening, settings), parts, demo_rules, reload, &place).await;
        runs.keep_counts().await;
        drop((upkeep, indexing));
        runs.leave_log().await;
        if let Some(spans) = spans {
            spans.stop().await;
        }
        served
    })?;
    Ok(ExitCode::from(EXIT_CLEAN))
}

/// What the proxy starts with.
struct Configured {
    sources: Sources,
    config: config::Config,
    settings: Settings,
    prices: Prices,
    targets: Vec<Target>,
    budgets: Vec<Budget>,
}

/// Reads the configuration, and sets up logging.
fn configured(args: &Args, log_args: &LogArgs) -> anyhow::Result<Configured> {
    let mut sources = Sources::new(args.config.clone(), std::env::vars_os())?.with_opentelemetry(std::env::vars_os())?;
    let listen = args.listen.iter().map(|listen| ("server.listen".to_owned(), listen.clone()));
    sources.flags.extend(listen);
    if !args.cors.is_empty() {
        sources.flags.push(("server.cors_origins".to_owned(), args.cors.join(",")));
    }
    let mut config = sources.load()?;
    // The demo prints to the terminal, so routine log lines are suppressed.
    // Its log is in memory, and small.
    config.search.enabled |= args.demo;
    if args.demo && config.telemetry.filter == config::Telemetry::default().filter {
        config.telemetry.filter = "warn".to_owned();
    }
    telemetry::init(&log_args.over(&config.telemetry))?;
    let mut settings = settings::settings(&config)?;
    // An upstream of that name in the configuration has priority.
    if args.demo && settings.upstreams.iter().all(|upstream| upstream.name != demo::UPSTREAM) {
        settings.upstreams.extend(demo::upstream().context("cannot offer the demo's agent")?);
    }
    let prices = super::prices::of(&config)?;
    let targets = webhooks::targets(&config.webhooks.endpoint)?;
    let budgets = budgets::of(&config.budgets.limit)?;
    Ok(Configured { sources, config, settings, prices, targets, budgets })
}

/// Reports a configuration that cannot be used. Starting again is useless until it changes.
fn unusable(error: &anyhow::Error) -> ExitCode {
    // If stderr is closed, the error cannot be reported.
    let _ = writeln!(std::io::stderr(), "error: {error:#}");
    ExitCode::from(EXIT_CONFIGURATION)
}

/// Starts the search, if it is on. A proxy whose index cannot be used, such as on a full disk, serves everything else.
fn started_search(config: &config::Config, kind: LogKind, runs: &Arc<Runs>) -> Option<(Search, AbortOnDropHandle<()>)> {
    let options = engine::search_options(config, kind)?;
    Search::start(runs.clone(), &options)
        .inspect_err(|error| tracing::error!("the search is off until the proxy starts again: {error:#}"))
        .ok()
}

/// The redaction rules of the default configuration.
fn default_rules() -> anyhow::Result<Option<Arc<Rules>>> {
    Ok(config::Redaction::default().rules()?.map(Arc::new))
}

/// The location of the log, as shown to users.
fn place_of(kind: LogKind, log: &config::Log) -> String {
    match kind {
        LogKind::Memory => "Its log is in memory and is lost when the process ends".to_owned(),
        LogKind::Sqlite => {
            let path = std::path::absolute(&log.path).unwrap_or_else(|_| log.path.clone());
            format!("Its log is {}", path.display())
        }
        LogKind::Jetstream => format!("Its log is {} at {}", log.prefix, log.servers.join(", ")),
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

/// What works beside the server.
struct Parts {
    runs: Arc<Runs>,
    search: Option<Search>,
    delivering: Delivering,
    budgets: Arc<Budgets>,
}

async fn serve(
    (listening, settings): (Listening, Settings),
    Parts { runs, search, delivering, budgets }: Parts,
    demo: Option<Arc<Rules>>,
    mut reload: Reload,
    place: &str,
) -> anyhow::Result<()> {
    let scheme = if settings.live.tls.is_some() { "https" } else { "http" };
    // Install the handlers before printing the address: a signal without a handler ends the process.
    let mut end_signals = EndSignals::listen().context("cannot listen for signals")?;
    let terminal = Terminal::at_start();
    let mut hangups = Hangups::listen().context("cannot listen for signals")?;
    let mut server = Server::on(listening, settings, runs.clone())?.with_budgets(budgets.clone());
    let _keeping = budgets.start(runs.clone(), server.handles(), Some(delivering.listener()));
    if let Some(search) = search {
        server = server.with_search(Arc::new(search));
    }
    let address = server.address();
    // Written at once. A caller that only wants the address reads no further than the first line.
    say(&format!("framegate listens on {scheme}://{address}\n{place}\n"))?;
    tracing::info!(%address, "listening");
    let control = server.control();
    let (hang_up, mut hung_up) = oneshot::channel();
    let reloading = tokio::spawn(async move {
        while hangups.next().await.is_some() {
            if !terminal.is_gone() {
                reload.take_up(&control);
                if terminal.is_followed() {
                    tokio::time::sleep(TERMINAL_CLOSES).await;
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
    let (first, again) = (CancellationToken::new(), CancellationToken::new());
    let signals = [(first.clone(), "shutdown requested"), (again.clone(), "shutdown requested again")];
    tokio::spawn(async move {
        for (signal, message) in signals {
            tokio::select! {
                _ = end_signals.next() => {}
                Ok(()) = &mut hung_up, if !hung_up.is_terminated() => {}
            }
            tracing::info!("{message}");
            signal.cancel();
        }
    });
    server.serve(first.cancelled_owned(), again.clone().cancelled_owned()).await;
    delivering.stop(again.cancelled()).await;
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
