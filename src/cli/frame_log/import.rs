//! `import`: appends frames that `export --to stored` printed to a log. Frames that the log already has are skipped if they are
//! identical, so that an interrupted import can be repeated.

use crate::cli::serve::engine::log_options;
use crate::cli::{EXIT_CLEAN, input};
use crate::clock::Clock;
use crate::config::GateMode;
use crate::gate::Gate;
use crate::log::{FrameLog, SqliteLog, StreamId, stream_id};
use crate::runs::Runs;
use anyhow::{Context, anyhow, bail};
use framegate_translators::frame::Frame;
use framegate_translators::frame::stored::{read_frame, write_frame};
use framegate_translators::runners::PROVIDERS;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::Arc;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The file; `-` is standard input
    #[arg(value_name = "FILE")]
    file: std::path::PathBuf,
}

pub(super) fn run(args: &Args, settings: &crate::config::Log, out: &mut dyn Write) -> anyhow::Result<u8> {
    let source: Box<dyn Read> = if input::is_stdin(&args.file) {
        Box::new(std::io::stdin().lock())
    } else {
        let opened = std::fs::File::open(&args.file);
        Box::new(opened.with_context(|| format!("cannot read {}", input::shown(&args.file)))?)
    };
    let mut reader = BufReader::new(source);
    let runtime = crate::cli::threads::runtime(1)?;
    let (new, known) = runtime.block_on(async {
        let log: Arc<dyn FrameLog> = Arc::new(SqliteLog::open(log_options(settings))?);
        let gate = Gate::new(GateMode::Off).map_err(|error| anyhow!(error))?;
        let runs = Runs::new(log.clone(), gate);
        runs.recover(Clock::System.now_ms()).await?;
        let mut import = Import { log, runs, next: HashMap::new(), batch: Vec::new(), new: 0, known: 0 };
        let (mut line, mut number) = (Vec::new(), 0u64);
        loop {
            line.clear();
            number += 1;
            if reader.read_until(b'\n', &mut line).context("cannot read the input")? == 0 {
                break;
            }
            if line.trim_ascii().is_empty() {
                continue;
            }
            let frame = read_frame(&line, PROVIDERS).with_context(|| format!("line {number}"))?;
            import.frame(frame).await.with_context(|| format!("line {number}"))?;
        }
        import.flush().await?;
        anyhow::Ok((import.new, import.known))
    })?;
    writeln!(out, "{new} frames imported, {known} were already in the log")?;
    Ok(EXIT_CLEAN)
}

struct Import {
    log: Arc<dyn FrameLog>,
    runs: Runs,
    /// The number of frames in each stream, including those in the batch.
    next: HashMap<StreamId, u64>,
    batch: Vec<Arc<Frame>>,
    new: u64,
    known: u64,
}

impl Import {
    async fn frame(&mut self, frame: Frame) -> anyhow::Result<()> {
        let id = stream_id(&frame);
        let next = self.next.entry(id).or_insert_with(|| self.runs.find(id).map_or(0, |entry| entry.status().frames));
        if frame.seq > *next && *next == 0 {
            bail!(
                "frame {} of stream {} does not follow: the log has 0 frames of that stream; if the exporting log has \
                 dropped the first frames, use `framegate log backup` to copy what the remaining frames depend on",
                frame.seq,
                id.1
            );
        }
        if frame.seq > *next {
            bail!("frame {} of stream {} does not follow: the log has {next} frames of that stream", frame.seq, id.1);
        }
        if frame.seq == *next {
            *next += 1;
            self.batch.push(Arc::new(frame));
            if self.batch.len() >= super::AT_ONCE {
                self.flush().await?;
            }
            return Ok(());
        }
        self.flush().await?;
        let kept = self.log.read(id, frame.seq, 1).await?;
        let stored = |frame: &Frame| {
            let mut line = Vec::new();
            write_frame(frame, &mut line);
            line
        };
        if kept.first().is_none_or(|kept| stored(kept) != stored(&frame)) {
            bail!("frame {} of stream {} differs from the one in the log", frame.seq, id.1);
        }
        self.known += 1;
        Ok(())
    }

    async fn flush(&mut self) -> anyhow::Result<()> {
        self.runs.append(&self.batch).await?;
        self.new += self.batch.len() as u64;
        self.batch.clear();
        Ok(())
    }
}
