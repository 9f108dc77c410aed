//! `framegate log`: inspects a frame log, and maintains it while no proxy uses it.
//!
//! Input: a database file. Output: runs, events, findings, copies. `list`, `show`, `export`, `verify` and `backup` only read,
//! and work while a proxy writes; `import` and `prune` write, and are refused while a proxy has the database open.

mod export;
mod import;
mod maintain;
mod show;
pub(super) mod statuses;
mod verify;

use crate::config::{self, LogKind, Sources};
use crate::log::sqlite::{open_read_only, streams};
use crate::log::{KeptStream, LogError};
use anyhow::bail;
use framegate_translators::frame::{Frame, StreamKind};
use rusqlite::Connection;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// The minimum number of digits in an id prefix, and the length of a whole id.
const SHORTEST: usize = 4;
const ID_DIGITS: usize = 32;

/// How many ids are shown if a prefix is ambiguous.
const SHOWN: usize = 5;

/// How many frames are held in memory at once.
const AT_ONCE: usize = 1024;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The database file [default: log.path of the configuration]
    #[arg(long, value_name = "FILE", global = true)]
    db: Option<PathBuf>,
    /// The configuration file [default: config.toml, if it is there]
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the runs that are kept, newest first
    List(show::ListArgs),
    /// Print the status of a run as JSON, or the run as text
    Show(show::ShowArgs),
    /// Print the events of a run, or of all streams, in a contract, one per line
    Export(export::Args),
    /// Import frames that `export --to stored` printed
    Import(import::Args),
    /// Look for damage: missing sequence numbers, unreadable frames, inconsistent counters (exit code 1 if there is any)
    Verify,
    /// Drop runs that have ended, or the first frames of runs
    Prune(maintain::PruneArgs),
    /// Write a copy of the database as it is now
    Backup(maintain::BackupArgs),
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut config = Sources::new(args.config.clone(), std::env::vars_os())?.load()?;
    config.log.path = database_file(args.db.as_deref(), &config.log)?.to_owned();
    let settings = &config.log;
    let out = &mut std::io::BufWriter::new(std::io::stdout().lock());
    let code = match &args.command {
        Command::List(list) => show::list(list, &Database::open(&settings.path)?, out)?,
        Command::Show(run) => show::show(run, &Database::open(&settings.path)?, out)?,
        Command::Export(export) => export::run(export, &Database::open(&settings.path)?, out)?,
        Command::Import(import) => import::run(import, settings, out)?,
        Command::Verify => verify::run(&Database::open(&settings.path)?, out)?,
        Command::Prune(prune) => maintain::prune(prune, &config, out)?,
        Command::Backup(backup) => maintain::backup(backup, &Database::open(&settings.path)?, out)?,
    };
    out.flush()?;
    Ok(ExitCode::from(code))
}

/// The database file that a command reads: the named one, or that of the configuration.
///
/// # Errors
/// None is named, and the configured log is not a file.
pub(super) fn database_file<'p>(named: Option<&'p Path>, log: &'p config::Log) -> anyhow::Result<&'p Path> {
    match (named, log.kind) {
        (Some(path), _) => Ok(path),
        // A proxy with its log in memory may have had a database before.
        (None, LogKind::Sqlite | LogKind::Memory) => Ok(&log.path),
        (None, LogKind::Jetstream) => bail!(
            "this command reads a database file, but the configured log is at NATS servers (log.kind = \"jetstream\"): \
             name a file with --db, or ask a running proxy"
        ),
    }
}

/// A database that is opened read-only.
pub(super) struct Database {
    connection: Connection,
    path: PathBuf,
}

impl Database {
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        if !path.exists() {
            bail!("there is no frame log at {}; set it with --db, or log.path in the configuration", path.display());
        }
        Ok(Self { connection: open_read_only(path)?, path: path.to_owned() })
    }

    /// The streams and their keys, in the order in which they began.
    fn streams(&self) -> Result<Vec<(i64, KeptStream)>, LogError> {
        streams(&self.connection, &self.path)
    }

    /// Finds the stream by its id or an unambiguous prefix. A run takes precedence over other streams.
    pub(super) fn find(&self, text: &str) -> anyhow::Result<(i64, KeptStream)> {
        let digits: String = text.chars().filter(|letter| *letter != '-').collect::<String>().to_ascii_lowercase();
        let is_hex = digits.chars().all(|digit| digit.is_ascii_hexdigit());
        if !is_hex || !(SHORTEST..=ID_DIGITS).contains(&digits.len()) {
            bail!(
                "invalid run id {text:?}: use an id, or at least its first {SHORTEST} digits; `framegate log list` \
                   shows the ids"
            );
        }
        let is_meant = |kept: &KeptStream| kept.stream.id.simple().to_string().starts_with(&digits);
        let all: Vec<_> = self.streams()?.into_iter().filter(|(_, kept)| is_meant(kept)).collect();
        let (runs, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(_, kept)| kept.stream.kind == StreamKind::Session);
        let mut found = if runs.is_empty() { others } else { runs };
        if found.len() > 1 && digits.len() < ID_DIGITS {
            let shown: Vec<String> = found.iter().take(SHOWN).map(|(_, kept)| kept.stream.id.to_string()).collect();
            let more = if found.len() > SHOWN { ", …" } else { "" };
            bail!("{text:?} is the beginning of {} ids: {}{more}", found.len(), shown.join(", "));
        }
        if found.is_empty() {
            bail!("there is no run {text} in {}; `framegate log list` shows the stored runs", self.path.display());
        }
        Ok(found.swap_remove(0))
    }

    /// Passes each frame of a stream to `sink`.
    fn frames(
        &self,
        key: i64,
        kept: &KeptStream,
        sink: &mut dyn FnMut(&Arc<Frame>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut at = kept.gone.map_or(0, |gone| gone.frames);
        loop {
            let frames = crate::log::sqlite::read_frames(&self.connection, &self.path, key, &kept.stream, at, AT_ONCE)?;
            let Some(last) = frames.last() else { return Ok(()) };
            at = last.seq + 1;
            frames.iter().try_for_each(&mut *sink)?;
        }
    }

    /// Passes each frame of a stream to `sink`. Fails at the first missing frame.
    fn whole(
        &self,
        key: i64,
        kept: &KeptStream,
        sink: &mut dyn FnMut(&Arc<Frame>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let (stream, mut next) = (kept.stream.id, kept.gone.map_or(0, |gone| gone.frames));
        self.frames(key, kept, &mut |frame| {
            if frame.seq != next {
                return Err(LogError::Lacking { stream, frame: next }.into());
            }
            next += 1;
            sink(frame)
        })?;
        if next < kept.frames {
            return Err(LogError::Lacking { stream, frame: next }.into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_at_servers_is_never_looked_for_in_a_file() {
        let log = |kind| config::Log { kind, ..config::Log::default() };
        let named = Path::new("copy.db");
        assert_eq!(database_file(None, &log(LogKind::Sqlite)).unwrap(), Path::new("framegate.db"));
        assert_eq!(database_file(Some(named), &log(LogKind::Jetstream)).unwrap(), named);
        let error = database_file(None, &log(LogKind::Jetstream)).unwrap_err().to_string();
        assert!(error.contains("log.kind = \"jetstream\"") && error.contains("--db"), "{error}");
    }
}
