//! `prune` and `backup`.

use super::Database;
use crate::cli::EXIT_CLEAN;
use crate::clock::Clock;
use crate::config;
use crate::log::sqlite::{Fsync, Lock, open_writable, remove, streams};
use anyhow::{Context, bail};
use rusqlite::backup::Backup;
use rusqlite::{Connection, OptionalExtension};
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// How many pages of a copy are made before others may write.
const BACKUP_PAGES: i32 = 256;

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = true)]
pub(super) struct PruneArgs {
    /// Drop what nothing was appended to for that long: 90m, 12h, 30d
    #[arg(long, value_name = "AGE", value_parser = age)]
    older_than: Option<Duration>,
    /// Keep only so many runs and tasks that are over, the newest
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
}

#[derive(Debug, clap::Args)]
pub(super) struct BackupArgs {
    /// The copy; must not be there yet
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

fn age(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is no age, such as 90m, 12h or 30d");
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

pub(super) fn prune(args: &PruneArgs, settings: &config::Log, out: &mut dyn Write) -> anyhow::Result<u8> {
    let path = &settings.path;
    if !path.exists() {
        bail!("there is no frame log {}; --db names one, or log.path in the configuration", path.display());
    }
    let lock = Lock::take(path)?;
    let database = open_writable(path, &lock, Fsync::Always, false, None)?;
    let now_ms = Clock::System.now_ms();
    let mut over = Vec::new();
    for (key, kept) in streams(&database, path)? {
        if kept.ended {
            let sql = "SELECT stored_ms FROM streams WHERE key = ?1";
            over.push((database.query_row(sql, [key], |row| row.get::<_, u64>(0))?, key, kept.frames));
        }
    }
    over.sort_unstable();
    let beyond = args.keep.map_or(0, |keep| over.len().saturating_sub(keep));
    let before =
        args.older_than.map_or(0, |age| now_ms.saturating_sub(u64::try_from(age.as_millis()).unwrap_or(u64::MAX)));
    let (mut runs, mut gone) = (0, 0);
    for (_, (_, key, frames)) in
        over.into_iter().enumerate().filter(|(nth, (stored_ms, ..))| *nth < beyond || *stored_ms < before)
    {
        remove(&database, key, now_ms).with_context(|| format!("cannot write {}", path.display()))?;
        (runs, gone) = (runs + 1, gone + frames);
    }
    writeln!(out, "{runs} runs and tasks dropped, {gone} frames")?;
    Ok(EXIT_CLEAN)
}

pub(super) fn backup(args: &BackupArgs, database: &Database, out: &mut dyn Write) -> anyhow::Result<u8> {
    if args.file.exists() {
        bail!("{} is there already; a copy overwrites nothing", args.file.display());
    }
    let context = || format!("cannot write the copy {}", args.file.display());
    let mut copy = Connection::open(&args.file).with_context(context)?;
    Backup::new(&database.connection, &mut copy)
        .and_then(|backup| backup.run_to_completion(BACKUP_PAGES, Duration::ZERO, None))
        .with_context(context)?;
    // A copy is one file: it must not need a write-ahead log beside it.
    let mode = copy.query_row("PRAGMA journal_mode = DELETE", [], |row| row.get::<_, String>(0)).optional();
    mode.with_context(context)?;
    writeln!(out, "{}", args.file.display())?;
    Ok(EXIT_CLEAN)
}
