//! `prune` and `backup` of a database.

use super::file::Database;
use crate::cli::EXIT_CLEAN;
use crate::cli::serve::encoder_options;
use crate::cli::serve::engine::log_options;
use crate::clock::Clock;
use crate::config::{self, GateMode};
use crate::gate::Gate;
use crate::log::sqlite::{Fsync, Lock, give_back, open_writable, remove, streams};
use crate::log::{FrameLog, SqliteLog};
use crate::runs::{PruningBounds, Runs};
use anyhow::{Context, anyhow, bail};
use framegate_translators::frame::StreamKind;
use rusqlite::backup::Backup;
use rusqlite::{Connection, OptionalExtension};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How many pages are copied before other connections may write again.
const BACKUP_PAGES: i32 = 256;

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = true)]
pub(super) struct PruneArgs {
    /// Drop runs, tasks and threads that have received no frame for this long: 90m, 12h, 30d
    #[arg(long, value_name = "AGE", value_parser = age)]
    pub(super) older_than: Option<Duration>,
    /// Keep only the newest N ended runs, and as many tasks and threads
    #[arg(long, value_name = "N")]
    pub(super) keep: Option<usize>,
    /// Keep only the newest N frames of each run and task; at NATS servers, of those that are over
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) keep_frames: Option<u64>,
}

impl PruneArgs {
    /// The time before which idle streams are dropped, in Unix epoch milliseconds; 0 without an age.
    pub(super) fn before(&self, now_ms: u64) -> u64 {
        self.older_than.map_or(0, |age| now_ms.saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX)))
    }
}

#[derive(Debug, clap::Args)]
pub(super) struct BackupArgs {
    /// The copy; must not exist yet
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

fn age(text: &str) -> Result<Duration, String> {
    let wrong = || format!("invalid age {text:?}: use, for example, 90m, 12h or 30d");
    let (number, unit) = text.split_at_checked(text.len().saturating_sub(1)).ok_or_else(wrong)?;
    let seconds = match unit {
        "m" => 60,
        "h" => 3600,
        "d" => 86_400,
        _ => return Err(wrong()),
    };
    let number: u64 = number.parse().map_err(|_| wrong())?;
    number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(wrong)
}

pub(super) fn prune(args: &PruneArgs, settings: &config::Config, out: &mut dyn Write) -> anyhow::Result<u8> {
    let path = &settings.log.path;
    if args.older_than.is_some() || args.keep.is_some() {
        runs(args, &settings.log, out)?;
    } else if !path.exists() {
        bail!("there is no frame log at {}; set it with --db, or log.path in the configuration", path.display());
    }
    if let Some(keep) = args.keep_frames {
        prune_streams(keep, settings, out)?;
    }
    Ok(EXIT_CLEAN)
}

/// Drops the first frames of each stream. Runs that were left open are closed first, as on every start.
fn prune_streams(keep: u64, settings: &config::Config, out: &mut dyn Write) -> anyhow::Result<()> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start the async runtime")?;
    let (streams, frames) = runtime.block_on(async {
        let log: Arc<dyn FrameLog> = Arc::new(SqliteLog::open(log_options(&settings.log))?);
        let gate = Gate::new(GateMode::Off).map_err(|error| anyhow!(error))?;
        let runs = Runs::new(log, gate).with_pruning(PruningBounds::default(), encoder_options(settings));
        let now_ms = Clock::System.now_ms();
        runs.recover(now_ms).await?;
        let (mut streams, mut gone) = (0, 0);
        for entry in runs.entries() {
            let (frames, before) = (entry.tail().borrow().frames, entry.gone().map_or(0, |gone| gone.frames));
            runs.prune(&entry, frames.saturating_sub(keep), now_ms).await?;
            let more = entry.gone().map_or(0, |gone| gone.frames) - before;
            (streams, gone) = (streams + u64::from(more > 0), gone + more);
        }
        anyhow::Ok((streams, gone))
    })?;
    writeln!(out, "dropped the first frames of {streams} streams, {frames} frames in total")?;
    Ok(())
}

/// Drops whole runs, tasks and threads. An open run is never dropped.
fn runs(args: &PruneArgs, settings: &config::Log, out: &mut dyn Write) -> anyhow::Result<()> {
    let path = &settings.path;
    if !path.exists() {
        bail!("there is no frame log at {}; set it with --db, or log.path in the configuration", path.display());
    }
    let lock = Lock::take(path)?;
    let database = open_writable(path, &lock, Fsync::Always, false, None)?;
    let now_ms = Clock::System.now_ms();
    let mut idle: BTreeMap<&'static str, Vec<_>> = BTreeMap::new();
    for (key, kept) in streams(&database, path)? {
        let kind = kept.stream.kind;
        if kept.ended || kind != StreamKind::Session {
            let sql = "SELECT stored_ms FROM streams WHERE key = ?1";
            let frames = kept.frames - kept.gone.map_or(0, |gone| gone.frames);
            let stored_ms = database.query_row(sql, [key], |row| row.get::<_, u64>(0))?;
            idle.entry(kind.as_str()).or_default().push((stored_ms, key, frames));
        }
    }
    let before = args.before(now_ms);
    let (mut dropped, mut gone, mut given) = (0, 0, Ok(()));
    for mut streams in idle.into_values() {
        streams.sort_unstable();
        let beyond = args.keep.map_or(0, |keep| streams.len().saturating_sub(keep));
        let goes = |(nth, (stored_ms, ..)): &(usize, (u64, i64, u64))| *nth < beyond || *stored_ms < before;
        for (_, (_, key, frames)) in streams.into_iter().enumerate().filter(goes) {
            remove(&database, key, now_ms).with_context(|| format!("cannot write {}", path.display()))?;
            (dropped, gone) = (dropped + 1, gone + frames);
            given = give_back(&database);
        }
    }
    let forgotten = database.execute("DELETE FROM losses WHERE noticed_ms < ?1", [before]);
    forgotten.with_context(|| format!("cannot write {}", path.display()))?;
    writeln!(out, "dropped {dropped} runs, tasks and threads, {gone} frames in total")?;
    if let Err(error) = given {
        writeln!(out, "the file keeps the freed space for new frames: {error}")?;
    }
    Ok(())
}

pub(super) fn backup(args: &BackupArgs, database: &Database, out: &mut dyn Write) -> anyhow::Result<u8> {
    if args.file.exists() {
        bail!("{} already exists; a backup does not overwrite files", args.file.display());
    }
    let context = || format!("cannot write the copy {}", args.file.display());
    let mut copy = Connection::open(&args.file).with_context(context)?;
    Backup::new(&database.connection, &mut copy)
        .and_then(|backup| backup.run_to_completion(BACKUP_PAGES, Duration::ZERO, None))
        .with_context(context)?;
    // A copy is a single file: it must not need a write-ahead log next to it.
    let mode = copy.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get::<_, String>(0)).optional();
    mode.with_context(context)?;
    writeln!(out, "{}", args.file.display())?;
    Ok(EXIT_CLEAN)
}
