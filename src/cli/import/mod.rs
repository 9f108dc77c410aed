//! `framegate import`: imports the sessions that runners keep on this machine.
//!
//! Input: the folders of runners, or files and folders that are named. Output: their runs, in their own times, in the log or at a running proxy;
//! how many were new. Never: a run that is stored twice, however often its file is imported, or although a proxy saw it as it happened; a
//! file that is changed.

mod database;
mod find;
mod merged;
mod pieces;
mod report;
mod sink;
mod subagents;
mod tail;
mod turns;
mod watch;

use super::names::{self, RunnerName};
use super::runs_at::RunsAt;
use super::serve::engine::{self, Upkeep};
use super::{EXIT_CLEAN, EXIT_FAILED, serve};
use crate::clock::Clock;
use crate::config::{self, Config, FsyncKind, LogKind};
use crate::ingest::IngestFactory;
use crate::runs::labels::{Label, Labels};
use anyhow::{Context, bail};
use find::{Machine, Session, Target};
use framegate_translators::encode::EncoderOptions;
use framegate_translators::normalizer::EndHold;
use framegate_translators::runners::RUNNERS;
use report::Progress;
use sink::{NotTaken, Sink};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, mpsc};
use std::thread;
use tokio::runtime::{Handle, Runtime};
use turns::Turns;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Names of runners, whose sessions on this machine are imported, or files and folders [default: all runners]
    #[arg(value_name = "RUNNER|PATH")]
    what: Vec<OsString>,
    /// The runner that wrote the files [default: their records tell]
    #[arg(long, value_parser = names::runner())]
    from: Option<RunnerName>,
    /// A label for the imported runs; may be given several times
    #[arg(long = "label", value_name = "KEY:VALUE")]
    labels: Vec<Label>,
    /// Go on, and import what runners write from now on
    #[arg(long)]
    watch: bool,
    /// List the files, and import nothing
    #[arg(long, conflicts_with = "watch")]
    dry_run: bool,
    /// The form of the summary
    #[arg(long, value_name = "FORM", default_value = "text")]
    format: report::Form,
    #[command(flatten)]
    at: RunsAt,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let labels = Labels::of(args.labels.iter().cloned())?;
    let targets: Vec<Target> = args.what.iter().cloned().map(Target::of).collect();
    let variable = |name: &str| std::env::var_os(name);
    let machine = Machine {
        home: std::env::home_dir(),
        variable: &variable,
        unchanged: database::Unchanged::default(),
        known: subagents::Known::default(),
    };
    let search = || find::sessions(&targets, args.from, &machine);
    let (mut files, unreadable) = search();
    for (path, error) in &unreadable {
        tracing::error!("cannot read {}: {error}", super::input::shown(path));
    }
    if files.is_empty() && !args.watch {
        bail!("{}", nothing(&targets, &machine));
    }
    if args.dry_run {
        report::list(&files, args.format)?;
        return Ok(exit(unreadable.len()));
    }
    if args.watch {
        // Those are imported when their agents have ended their turns.
        files.retain(|file| !file.is_at_work(watch::SILENCE));
    }
    let runtime = super::threads::runtime(1)?;
    let (sink, _upkeep) = open(args, &runtime)?;
    let mut progress = Progress::new(&files, unreadable.len());
    take_all(&sink, &files, &labels, runtime.handle(), &mut progress);
    progress.end(args.format, &sink, runtime.handle())?;
    let failed = progress.failed();
    if args.watch {
        watch::follow(&sink, &files, &search, &labels, runtime.handle())?;
    }
    runtime.block_on(sink.close());
    Ok(exit(failed))
}

/// Imports the files, several at once if the sink allows it.
fn take_all(sink: &Sink, files: &[Session], labels: &Labels, runtime: &Handle, progress: &mut Progress) {
    let turns = Turns::default();
    let (done, taken) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..sink.files_at_once().min(files.len()) {
            let (done, turns) = (done.clone(), &turns);
            scope.spawn(move || {
                loop {
                    let place = turns.place();
                    let Some(file) = files.get(place.number()) else { break };
                    let taken = sink.take(file, labels, place, runtime);
                    let is_over = matches!(taken, Err(NotTaken::Proxy(_)));
                    if done.send((file, taken)).is_err() || is_over {
                        break;
                    }
                }
            });
        }
        drop(done);
        for (file, taken) in taken {
            progress.take(file, taken);
        }
    });
}

fn exit(failed: usize) -> ExitCode {
    ExitCode::from(if failed == 0 { EXIT_CLEAN } else { EXIT_FAILED })
}

/// Opens the log, or finds the proxy.
fn open(args: &Args, runtime: &Runtime) -> anyhow::Result<(Sink, Option<Upkeep>)> {
    if let Some((proxy, url)) = args.at.proxy()? {
        return Ok((Sink::Proxy { proxy: Box::new(proxy), url: url.to_owned() }, None));
    }
    let mut config = args.at.config()?;
    if config.log.fsync == FsyncKind::Always {
        // After a power failure the import is repeated, so it need not wait for the disk at every run.
        config.log.fsync = FsyncKind::Interval;
    }
    let (runs, upkeep) = runtime.block_on(runs(&config, config.log.kind)).with_context(|| in_use(&config))?;
    let factory = IngestFactory::new(runs.clone(), serve::ingest_settings(&config)?);
    let place = match config.log.kind {
        LogKind::Jetstream => format!("the log {} at NATS servers", config.log.prefix),
        _ => shown(&config.log.path),
    };
    Ok((Sink::Log { factory, runs, place, limits: limits(&config.log) }, Some(upkeep)))
}

/// What a log keeps at most, for messages.
fn limits(log: &config::Log) -> String {
    let mut limits = format!("{} runs (log.max_runs), {} bytes (log.max_bytes)", log.max_runs, log.bytes_in(log.kind));
    if log.max_age_hours > 0 {
        limits += &format!(", {} hours (log.max_age_hours)", log.max_age_hours);
    }
    if log.kind == LogKind::Sqlite && log.max_file_bytes > 0 {
        limits += &format!(", a file of {} bytes (log.max_file_bytes)", log.max_file_bytes);
    }
    limits
}

/// What to do if the log cannot be opened.
fn in_use(config: &Config) -> String {
    match config.log.kind {
        LogKind::Jetstream => "the log cannot be opened".to_owned(),
        _ => "the log cannot be opened; if a proxy has it open, name the proxy: framegate import --url URL".to_owned(),
    }
}

async fn runs(config: &Config, kind: LogKind) -> anyhow::Result<(Arc<crate::runs::Runs>, Upkeep)> {
    let storage = engine::storage(config, kind).await?;
    // The last record of a file is the last one of its run.
    let runs = engine::runs(config, storage, &EncoderOptions::default())?.with_end_hold(EndHold::Input);
    let runs = Arc::new(runs);
    runs.recover(Clock::System.now_ms()).await?;
    let upkeep = Upkeep::start(&runs);
    Ok((runs, upkeep))
}

/// Says where sessions were looked for.
fn nothing(targets: &[Target], machine: &Machine<'_>) -> String {
    let is_meant = |name: &'static str| targets.is_empty() || targets.contains(&Target::Runner(name));
    let mut without = Vec::new();
    let mut places = Vec::new();
    for runner in RUNNERS.iter().filter(|runner| is_meant(runner.name)) {
        let found = find::places(runner, machine);
        if found.is_empty() && !targets.is_empty() {
            without.push(runner.name);
        }
        places.extend(found);
    }
    let mut message = "there are no sessions to import".to_owned();
    if targets.iter().any(|target| matches!(target, Target::Path(_))) {
        message += &format!("; in folders, files that end in {} are read", find::ENDINGS.join(", "));
    }
    if !places.is_empty() {
        message += &format!("; looked for {}", places.join(", "));
    }
    if !without.is_empty() {
        message += &format!("; {} keeps no files that framegate reads: name files that it printed", without.join(", "));
    }
    message
}

/// A file's path for messages.
fn shown(path: &Path) -> String {
    super::input::shown(path)
}

/// Whether a file has changed since it was read.
fn has_changed(before: &Session, now: &Session) -> bool {
    (before.bytes, before.modified) != (now.bytes, now.modified)
}
