//! `framegate export`: writes runs to one file that can be read without framegate.
//!
//! Input: recordings of any runner, and runs of a frame log. Output: one HTML file with the page, the runs and their artifacts; a
//! Markdown document of the conversations. Never: a file that is overwritten without being asked for; a reference to a network; text of a run that a browser could take for
//! markup; anything left out without saying so.

mod bundle;
#[cfg_attr(not(feature = "ui"), path = "no_html.rs")]
mod html;
mod markdown;
mod output;

use super::frame_log::{self, Source};
use super::names::{self, ContractName, From};
use super::recordings::Recordings;
use super::serve::engine;
use super::{EXIT_CLEAN, EXIT_FAILED, input};
use crate::config::{Config, LogKind, Redaction, Sources};
use crate::gate::Gate;
use crate::ingest::IngestFactory;
use crate::runs::{Entry, Runs};
use anyhow::{Context, anyhow, bail};
use bundle::{Bundle, Wanted};
use framegate_translators::artifacts::Bounds;
use framegate_translators::encode::EncoderOptions;
use framegate_translators::frame::StreamKind;
use framegate_translators::normalizer::EndHold;
use markdown::Markdown;
use output::Output;
use std::cell::OnceCell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use tokio::runtime::Runtime;

#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
#[command(group = clap::ArgGroup::new("output").args(["html", "md"]).required(true).multiple(true))]
pub(super) struct Args {
    /// What to write: recordings of any runner (- is standard input), and runs of the frame log, each by its id or a prefix of it
    /// that no other id has
    #[arg(value_name = "RUN|FILE", required = true)]
    what: Vec<String>,
    /// Write one HTML file, with everything that it needs inside; - is standard output
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the conversations as a Markdown document; - is standard output
    #[arg(long, value_name = "FILE")]
    md: Option<PathBuf>,
    /// Replace a file that exists
    #[arg(long)]
    force: bool,
    /// With --html: also what each frame became in this contract
    #[arg(long, requires = "html", value_name = "CONTRACT", value_parser = names::json_contract())]
    contract: Option<ContractName>,
    /// With --contract: also what the contract calls experimental
    #[arg(long, requires = "contract")]
    experimental: bool,
    #[arg(long, requires = "contract", help = names::user_messages("write"))]
    user_messages: bool,
    /// The runner that wrote the recordings; auto detects it from the first records
    #[arg(long, value_name = "RUNNER", value_parser = names::runner_or_auto(), default_value = "auto")]
    from: From,
    /// Do not redact secrets in the recordings. What a frame log has was redacted when it arrived, as configured then
    #[arg(long)]
    no_redact: bool,
    /// Maximum size of frames, events and artifacts together, and of the Markdown document, in bytes; what is beyond it is left
    /// out, and counted
    #[arg(long, value_name = "N", default_value_t = 64 << 20, value_parser = clap::value_parser!(u64).range(1024..=1 << 30))]
    max_bytes: u64,
    /// The database file of the frame log [default: the log of the configuration]
    #[arg(long, value_name = "FILE")]
    db: Option<PathBuf>,
    /// The configuration file [default: the one that FRAMEGATE_CONFIG names, or config.toml if it is there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// The exit codes in `--help`.
const EXIT_CODES: &str = "\
Exit codes:
  0   everything was written; what --max-bytes leaves out is counted on stderr and in the file
  2   a file or a run could not be read (the others were written), or the file could not be written; invalid arguments";

/// One of the arguments.
enum Subject {
    Recording(PathBuf),
    Run(String),
}

impl Subject {
    /// A file that exists is a recording, whatever its name is.
    fn of(text: &str) -> anyhow::Result<Self> {
        let path = Path::new(text);
        let is_id = text.len() >= 4 && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
        match () {
            () if input::is_stdin(path) || path.exists() => Ok(Self::Recording(path.to_owned())),
            () if is_id => Ok(Self::Run(text.to_owned())),
            () => bail!("there is no file {text:?}, and it is not the id of a run; `framegate log list` shows the ids"),
        }
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    // Before the runs are read and an existing file is replaced.
    if args.html.is_some() && !cfg!(feature = "ui") {
        html::document("")?;
    }
    let mut config = Sources::new(args.config.clone(), std::env::vars_os())?.load()?;
    // The file may be given to others, so it is redacted unless that is unwanted.
    config.redaction = Redaction { enabled: !args.no_redact, ..config.redaction };
    frame_log::choose(args.db.as_deref(), &mut config.log);
    let output = |path: &Option<PathBuf>| path.as_ref().map(|path| Output::new(path, args.force)).transpose();
    let (html, md) = (output(&args.html)?, output(&args.md)?);
    if matches!((&html, &md), (Some(Output::Stdout), Some(Output::Stdout))) {
        bail!("only one of --html and --md can be standard output");
    }
    let runtime = super::threads::runtime(1)?;
    let exporter = Exporter { args, config, log: OnceCell::new(), runtime };
    let wanted = args.contract.map(|contract| Wanted {
        contract: contract.0,
        options: EncoderOptions {
            experimental: args.experimental,
            user_messages: args.user_messages,
            ..super::serve::encoder_options(&exporter.config)
        },
    });
    let max_bytes = usize::try_from(args.max_bytes).unwrap_or(usize::MAX);
    let mut made = Made {
        bundle: html.is_some().then(|| Bundle::new(wanted, max_bytes)),
        markdown: md.is_some().then(|| Markdown::new(max_bytes)),
        runs: 0,
    };
    let mut has_failed = false;
    for subject in &args.what {
        let added = Subject::of(subject).and_then(|subject| match subject {
            Subject::Recording(path) => exporter.recording(&path, &mut made),
            Subject::Run(id) => exporter.stored(&id, &mut made),
        });
        if let Err(error) = added {
            has_failed = true;
            tell(&format!("error: {error:#}"));
        }
    }
    if made.runs == 0 {
        return Ok(ExitCode::from(EXIT_FAILED));
    }
    if let (Some(bundle), Some(output)) = (&made.bundle, html) {
        bundle.left_out().iter().for_each(|line| tell(line));
        output.write(html::document(&bundle.json()?)?.as_bytes())?;
    }
    if let (Some(markdown), Some(output)) = (&made.markdown, md) {
        markdown.left_out().iter().for_each(|line| tell(line));
        output.write(markdown.text().as_bytes())?;
    }
    Ok(ExitCode::from(if has_failed { EXIT_FAILED } else { EXIT_CLEAN }))
}

/// What is written, as far as it was asked for.
struct Made {
    bundle: Option<Bundle>,
    markdown: Option<Markdown>,
    runs: usize,
}

struct Exporter<'a> {
    args: &'a Args,
    config: Config,
    /// The frame log, once a run of it was asked for.
    log: OnceCell<Box<dyn Source>>,
    runtime: Runtime,
}

impl Exporter<'_> {
    /// Adds the runs of a recording.
    fn recording(&self, path: &Path, made: &mut Made) -> anyhow::Result<()> {
        let config = &self.config;
        let storage = self.runtime.block_on(engine::storage(config, LogKind::Memory))?;
        let runs = engine::runs(config, storage, &EncoderOptions::default())?.with_end_hold(EndHold::Input);
        let runs = Arc::new(runs);
        let recordings = Recordings {
            runtime: self.runtime.handle().clone(),
            factory: IngestFactory::new(runs.clone(), super::serve::ingest_settings(config)?),
            from: self.args.from,
            command: "export",
        };
        let entries = recordings.read(path, &mut |_| {}).map_err(|why| anyhow!(why))?;
        self.add(&runs, &entries, made)
    }

    fn log(&self) -> anyhow::Result<&dyn Source> {
        if let Some(log) = self.log.get() {
            return Ok(&**log);
        }
        let opened = frame_log::open(&self.config)?;
        Ok(&**self.log.get_or_init(|| opened))
    }

    /// Adds a run of the frame log.
    fn stored(&self, id: &str, made: &mut Made) -> anyhow::Result<()> {
        let log = self.log()?;
        let found = log.find(id)?;
        let stream = found.kept.id();
        if stream.0 != StreamKind::Session {
            bail!("{id} is not a run but a {}; `framegate log list` shows the runs", stream.0.as_str());
        }
        let (frames, artifacts) = log.excerpt(found);
        let gate = Gate::new(self.config.gate.mode).map_err(|error| anyhow!(error))?;
        let runs = Runs::new(frames, gate).with_artifacts(artifacts, Bounds::default());
        self.runtime.block_on(runs.recover(0))?;
        let entry = runs.find(stream).with_context(|| format!("the run {id} was dropped from the log meanwhile"))?;
        self.add(&runs, &[entry], made)
    }

    fn add(&self, runs: &Runs, entries: &[Arc<Entry>], made: &mut Made) -> anyhow::Result<()> {
        for entry in entries {
            if let Some(bundle) = &mut made.bundle {
                self.runtime.block_on(bundle.add(runs, entry))?;
            }
            if let Some(markdown) = &mut made.markdown {
                self.runtime.block_on(markdown.add(runs, entry))?;
            }
            made.runs += 1;
        }
        Ok(())
    }
}

/// Writes a line to stderr.
fn tell(line: &str) {
    // If stderr is closed, the line cannot be delivered.
    let _ = writeln!(io::stderr(), "{line}");
}
