//! `import`: appends frames that `export --to stored` printed to a log. Frames that the log already has are skipped if they are
//! identical, so that an interrupted import can be repeated. In a log at NATS servers, the import has a lease of its own, which it gives
//! up at the end.

use crate::cli::serve::engine::{log_options, storage};
use crate::cli::{EXIT_CLEAN, input};
use crate::clock::Clock;
use crate::compression::Decompressing;
use crate::config::{Config, GateMode, LogKind};
use crate::gate::Gate;
use crate::log::{FrameLog, SqliteLog, StreamId, stream_id, weight};
use crate::runs::Runs;
use anyhow::{Context, anyhow, bail};
use framegate_translators::frame::Frame;
use framegate_translators::frame::stored::{StoredError, read_frame, write_frame};
use framegate_translators::runners::PROVIDERS;
use std::collections::{HashMap, VecDeque};
use std::io::{BufRead, BufReader, Read, Write};
use std::sync::Arc;
use tokio_util::task::AbortOnDropHandle;

/// How many bytes of frames are appended at once to a log at servers.
const BYTES_AT_ONCE: u64 = 4 << 20;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The file; `-` is standard input
    #[arg(value_name = "FILE")]
    file: std::path::PathBuf,
}

pub(super) fn run(args: &Args, config: &Config, out: &mut dyn Write) -> anyhow::Result<u8> {
    let source: Box<dyn Read> = if input::is_stdin(&args.file) {
        Box::new(std::io::stdin().lock())
    } else {
        let opened = std::fs::File::open(&args.file);
        Box::new(opened.with_context(|| format!("cannot read {}", input::shown(&args.file)))?)
    };
    let mut reader = BufReader::new(Decompressing::new(source));
    let runtime = crate::cli::threads::runtime(1)?;
    let (new, known) = runtime.block_on(async {
        let log: Arc<dyn FrameLog> = match config.log.kind {
            // As one of the proxies, for as long as the import takes.
            LogKind::Jetstream => storage(config, LogKind::Jetstream).await?.0,
            LogKind::Sqlite | LogKind::Memory => Arc::new(SqliteLog::open(log_options(&config.log))?),
        };
        let gate = Gate::new(GateMode::Off).map_err(|error| anyhow!(error))?;
        let runs = Arc::new(Runs::new(log.clone(), gate));
        runs.recover(Clock::System.now_ms()).await?;
        let hearing = runs.clone();
        let _hearing = AbortOnDropHandle::new(tokio::spawn(async move { hearing.hear_on().await }));
        let imported = import(&mut reader, log, runs.clone()).await;
        let imported = imported.with_context(|| format!("cannot import {}", input::shown(&args.file)));
        runs.leave_log().await;
        imported
    })?;
    writeln!(out, "{new} frames imported, {known} were already in the log")?;
    Ok(EXIT_CLEAN)
}

/// Appends all frames of the input. Returns how many were new, and how many the log had.
async fn import(reader: &mut dyn BufRead, log: Arc<dyn FrameLog>, runs: Arc<Runs>) -> anyhow::Result<(u64, u64)> {
    let mut import = Import { log, runs, next: HashMap::new(), batch: Batch::default(), kept: None, new: 0, known: 0 };
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
        let frame = read_frame(&line, PROVIDERS).map_err(|error| {
            let form = match error {
                StoredError::Json(_) => {
                    "; this reads what `framegate log export --to stored` writes, and `framegate import` other files"
                }
                _ => "",
            };
            anyhow!("line {number}: {error}{form}")
        })?;
        import.frame(frame).await.with_context(|| format!("line {number}"))?;
    }
    import.flush().await?;
    Ok((import.new, import.known))
}

/// Frames that are appended together.
#[derive(Default)]
struct Batch {
    frames: Vec<Arc<Frame>>,
    bytes: u64,
}

struct Import {
    log: Arc<dyn FrameLog>,
    runs: Arc<Runs>,
    /// The number of frames in each stream, including those in the batch.
    next: HashMap<StreamId, u64>,
    batch: Batch,
    /// The next frames of a stream that the log has already.
    kept: Option<(StreamId, VecDeque<Arc<Frame>>)>,
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
            self.batch.bytes += weight(&frame);
            self.batch.frames.push(Arc::new(frame));
            // What the servers can take at once is limited.
            let is_large = self.log.shared().is_some() && self.batch.bytes >= BYTES_AT_ONCE;
            if is_large || self.batch.frames.len() >= super::AT_ONCE {
                self.flush().await?;
            }
            return Ok(());
        }
        self.flush().await?;
        let kept = self.kept(id, frame.seq).await?;
        let stored = |frame: &Frame| {
            let mut line = Vec::new();
            write_frame(frame, &mut line);
            line
        };
        if kept.is_none_or(|kept| stored(&kept) != stored(&frame)) {
            bail!("frame {} of stream {} differs from the one in the log", frame.seq, id.1);
        }
        self.known += 1;
        Ok(())
    }

    /// The frame with that number, or a later one, that the log has. Frames are read ahead: they are asked for in order.
    async fn kept(&mut self, id: StreamId, seq: u64) -> anyhow::Result<Option<Arc<Frame>>> {
        let is_next = |frames: &VecDeque<Arc<Frame>>| frames.front().is_some_and(|frame| frame.seq == seq);
        let ahead = match self.kept.take() {
            Some((of, frames)) if of == id && is_next(&frames) => frames,
            _ => self.log.read(id, seq, super::AT_ONCE).await?.into(),
        };
        let (_, ahead) = self.kept.insert((id, ahead));
        Ok(ahead.pop_front())
    }

    async fn flush(&mut self) -> anyhow::Result<()> {
        let Batch { frames, .. } = std::mem::take(&mut self.batch);
        self.runs.append(&frames).await?;
        self.new += frames.len() as u64;
        Ok(())
    }
}
