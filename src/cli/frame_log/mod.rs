//! `framegate log`: inspects a frame log, and maintains it.
//!
//! Input: a database file, or the log that several proxies share at NATS servers. Output: runs, events, findings, copies. `list`, `show`,
//! `export`, `verify` and `backup` only read, and work while a proxy writes. `import` and `prune` write: they are refused while a proxy
//! has the database open; at NATS servers, they work beside the proxies.

mod export;
mod file;
mod import;
mod maintain;
#[cfg(feature = "jetstream")]
mod servers;
mod show;
mod source;
pub(super) mod statuses;
mod verify;

pub(super) use source::{Source, choose, open};

use super::prices;
use crate::config::{Config, LogKind, Sources};
use anyhow::bail;
use file::Database;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// How many frames are held in memory at once.
const AT_ONCE: usize = 1024;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The database file [default: the log of the configuration]
    #[arg(long, value_name = "FILE", global = true)]
    db: Option<PathBuf>,
    /// The configuration file [default: the one that FRAMEGATE_CONFIG names, or config.toml if it is there]
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
    /// Print the events of a run, or of all streams, in a contract, one per line; or send the runs to an OpenTelemetry collector
    ///
    /// Exit code with --to otlp: 0 if the collector took all spans, 1 if some are missing there, 2 if it could not be reached.
    Export(export::Args),
    /// Import frames that `export --to stored` printed
    ///
    /// A run that is still open in the file ends as interrupted: in a database when that is opened next, at NATS servers as soon as a
    /// proxy there finds that no other one writes the run.
    Import(import::Args),
    /// Look for damage: missing sequence numbers, unreadable frames, inconsistent counters (exit code 1 if there is any)
    Verify,
    /// Drop runs that have ended, or the first frames of runs
    Prune(maintain::PruneArgs),
    /// Write a copy of the database as it is now; for a log at NATS servers, use export
    Backup(maintain::BackupArgs),
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut sources = Sources::new(args.config.clone(), std::env::vars_os())?;
    if let Command::Export(export) = &args.command
        && export.to == export::OTLP
    {
        sources = sources.with_opentelemetry(std::env::vars_os())?;
        sources.flags.extend(export.endpoint.iter().map(|url| ("otlp.endpoint".to_owned(), url.clone())));
    }
    let mut config = sources.load()?;
    choose(args.db.as_deref(), &mut config.log);
    let out = &mut std::io::BufWriter::new(std::io::stdout().lock());
    let code = match &args.command {
        Command::List(list) => show::list(list, &*open(&config)?, &prices::of(&config)?, out)?,
        Command::Show(run) => show::show(run, &*open(&config)?, &prices::of(&config)?, out)?,
        Command::Export(export) => export::run(export, &config, &*open(&config)?, out)?,
        Command::Import(import) => import::run(import, &config, out)?,
        Command::Verify => open(&config)?.verify(out)?,
        Command::Prune(prune) => prune_log(prune, &config, out)?,
        Command::Backup(backup) => {
            if config.log.kind == LogKind::Jetstream {
                bail!(
                    "backup copies a database file, but the log is at NATS servers (log.kind = \"jetstream\"): use \
                     `framegate log export --all --to stored`, or name a file with --db"
                );
            }
            maintain::backup(backup, &Database::open(&config.log.path)?, out)?
        }
    };
    out.flush()?;
    Ok(ExitCode::from(code))
}

fn prune_log(args: &maintain::PruneArgs, config: &Config, out: &mut dyn Write) -> anyhow::Result<u8> {
    match config.log.kind {
        #[cfg(feature = "jetstream")]
        LogKind::Jetstream => servers::prune(args, config, out),
        _ => maintain::prune(args, config, out),
    }
}
