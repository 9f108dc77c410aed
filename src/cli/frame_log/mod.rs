//! `framegate log`: what is in a frame log, and what can be done with it while nobody serves it.
//!
//! In: a database file. Out: runs, events, findings, copies. `list`, `show`, `export`, `verify` and `backup` only read, also
//! while a proxy writes; `import` and `prune` write, and are refused while one does.

mod export;
mod import;
mod maintain;
mod show;
mod verify;

use crate::config::Sources;
use crate::log::sqlite::{open_read_only, streams};
use crate::log::{KeptStream, LogError};
use anyhow::{Context, bail};
use framegate_translators::frame::{Frame, StreamKind};
use rusqlite::Connection;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use uuid::Uuid;

/// How many frames are held at a time.
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
    /// Print the status of a run as JSON
    Show(show::ShowArgs),
    /// Print the events of a run, or of all streams, in a contract; one a line
    Export(export::Args),
    /// Take in frames that `export --to stored` printed
    Import(import::Args),
    /// Look for damage: gaps, frames that are none, books that do not agree (exit code 1 where there is some)
    Verify,
    /// Drop runs that are over, or the first frames of runs
    Prune(maintain::PruneArgs),
    /// Write a copy of the database as it is now
    Backup(maintain::BackupArgs),
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut config = Sources::new(args.config.clone(), std::env::vars_os())?.load()?;
    if let Some(path) = &args.db {
        config.log.path.clone_from(path);
    }
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

/// A database that is only read.
struct Database {
    connection: Connection,
    path: PathBuf,
}

impl Database {
    fn open(path: &Path) -> anyhow::Result<Self> {
        if !path.exists() {
            bail!("there is no frame log {}; --db names one, or log.path in the configuration", path.display());
        }
        Ok(Self { connection: open_read_only(path)?, path: path.to_owned() })
    }

    /// The streams and their keys, in the order in which they began.
    fn streams(&self) -> Result<Vec<(i64, KeptStream)>, LogError> {
        streams(&self.connection, &self.path)
    }

    /// The stream of that id; a run before the others.
    fn find(&self, id: &str) -> anyhow::Result<(i64, KeptStream)> {
        let id = Uuid::try_parse(id).with_context(|| format!("{id:?} is no run id; `framegate log list` has them"))?;
        let mut found: Vec<_> = self.streams()?.into_iter().filter(|(_, kept)| kept.stream.id == id).collect();
        found.sort_by_key(|(_, kept)| kept.stream.kind != StreamKind::Session);
        let first = found.into_iter().next();
        first.with_context(|| format!("there is no run {id} in {}", self.path.display()))
    }

    /// Gives each frame of a stream to `sink`.
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
}
