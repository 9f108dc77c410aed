//! `framegate view`: shows recordings in a browser.
//!
//! Input: recordings of any runner, which may still be written by a pipe. Output: a proxy on loopback that has them in memory, and a
//! link to its page. Never: a file; a token in an address (the link has a code that works once); a request from the page
//! that changes anything; a browser that is opened without being asked for.

use super::bridge::{Embedded, Guest};
use super::browser::{self, Signpost};
use super::input::shown;
use super::names::{self, From};
use super::recordings::Recordings;
use super::stop::Stop;
use super::{EXIT_CLEAN, EXIT_FAILED};
use crate::config::Sources;
use crate::features::WITHOUT_UI;
use crate::ingest::IngestFactory;
use crate::runs::Ingested;
use anyhow::{Context, bail};
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::sync::mpsc;

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(super) struct Args {
    /// The recordings to show, each a separate input; - is standard input, which is shown while it arrives
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The runner that wrote the files; auto detects it from the first records
    #[arg(long, value_name = "RUNNER", value_parser = names::runner_or_auto(), default_value = "auto")]
    from: From,
    /// Open the link in a browser: the first command in $BROWSER that starts, else xdg-open or open
    #[arg(long)]
    open: bool,
    /// The configuration file, for [redaction], [gate], [log], [artifacts] and the limits of [ingest] [default: config.toml, if it
    /// is there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// The exit codes in `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0   Ctrl-C or SIGTERM ended it, and each file was read and has a run
  2   a file could not be read, is empty or from another runner, or has no run; invalid arguments. The other files
      are shown; without any, the command ends at once";

/// What the thread that reads the files reports.
enum Report {
    /// There is a run to look at.
    Begun,
    /// A file was read, or why not.
    File(Result<(PathBuf, usize), String>),
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if !cfg!(feature = "ui") {
        bail!("framegate view needs the page, but {WITHOUT_UI}");
    }
    let config = Sources::new(args.config.clone(), std::env::vars_os())?.load()?;
    let settings = super::serve::ingest_settings(&config)?;
    let runtime = super::threads::runtime(0)?;
    runtime.block_on(async {
        let mut stop = Stop::new()?;
        let guest = Guest::new();
        let embedded = Embedded::for_guest(config, &guest).await?;
        let recordings = Recordings {
            runtime: tokio::runtime::Handle::current(),
            factory: IngestFactory::new(embedded.runs().clone(), settings),
            from: args.from,
            command: "view",
        };
        let (reports, mut reported) = mpsc::unbounded_channel();
        let files = args.files.clone();
        // The thread may wait for a pipe for ever. It ends with the process.
        let reading = std::thread::Builder::new().name("recordings".to_owned());
        reading.spawn(move || read(&recordings, files, &reports)).context("cannot start a thread")?;
        let link = format!("http://{}/#code={}", embedded.address(), guest.code);
        let (mut is_shown, mut has_failed) = (false, false);
        let mut signpost = None;
        loop {
            // Ctrl-C often ends the writer of the pipe too. That its recording is incomplete is then no failure.
            let report = tokio::select! {
                biased;
                () = stop.requested() => break,
                report = reported.recv() => report,
            };
            match report {
                Some(Report::Begun) if !is_shown => {
                    is_shown = true;
                    signpost = show(&link, args.open)?;
                }
                Some(Report::Begun) => {}
                Some(Report::File(Ok((path, runs)))) => tell(&format!("{}: {}", shown(&path), counted(runs))),
                Some(Report::File(Err(why))) => {
                    has_failed = true;
                    tell(&format!("error: {why}"));
                }
                None if is_shown => {
                    stop.requested().await;
                    break;
                }
                None => break,
            }
        }
        embedded.stop().await;
        drop(signpost);
        anyhow::Ok(ExitCode::from(if has_failed { EXIT_FAILED } else { EXIT_CLEAN }))
    })
}

/// Reads all files, one after the other.
fn read(recordings: &Recordings, files: Vec<PathBuf>, reports: &mpsc::UnboundedSender<Report>) {
    for path in files {
        let mut is_begun = false;
        let mut begun = |ingested: &Ingested| {
            if !is_begun && ingested.has_runs() {
                is_begun = true;
                // The receiver is gone once the command ends.
                let _ = reports.send(Report::Begun);
            }
        };
        let read = recordings.read(&path, &mut begun);
        let _ = reports.send(Report::File(read.map(|runs| (path, runs.len()))));
    }
}

fn counted(runs: usize) -> String {
    if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") }
}

/// Prints the link, and opens it if that was asked for.
fn show(link: &str, open: bool) -> anyhow::Result<Option<Signpost>> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "{link}")?;
    stdout.flush()?;
    if std::io::stderr().is_terminal() {
        tell("The link works once, in one browser. Ctrl-C ends the command and forgets the recordings.");
    }
    if !open {
        return Ok(None);
    }
    let opened = browser::open(link);
    if let Err(error) = &opened {
        tell(&format!("cannot open a browser: {error}; open the link yourself"));
    }
    Ok(opened.ok())
}

/// Writes a line to stderr.
fn tell(line: &str) {
    // If stderr is closed, the line cannot be delivered.
    let _ = writeln!(std::io::stderr(), "{line}");
}
