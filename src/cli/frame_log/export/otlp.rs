//! `export --to otlp`: sends the spans of stored runs to a collector.
//!
//! Input: streams of a log. Output: their spans, to the collector; a summary. Never: a span dropped because the collector is slow; more than a
//! batch and the open spans of one run in memory; a span with another id than that of the proxy, or of an earlier export.

use super::super::Source;
use super::super::source::Found;
use crate::cli::{EXIT_CLEAN, EXIT_FINDINGS};
use crate::config::Otlp;
use crate::telemetry::spans::{Bounds, Collector, Open, Refused, Span, size_of};
use anyhow::{Context, bail};
use framegate_translators::frame::StreamKind;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// The pauses between attempts: the first, which doubles up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How often progress is shown on a terminal.
const PROGRESS: Duration = Duration::from_millis(500);

/// What was sent.
#[derive(Default)]
struct Sums {
    /// Runs of which all spans were made.
    runs: u64,
    /// Runs that have not ended: the spans that are still open are missing.
    open: u64,
    /// Runs whose first frames were dropped: they have no spans.
    without_beginning: u64,
    /// Spans that the collector took.
    spans: u64,
    /// Spans that it rejected, although it took the rest of their requests.
    rejected: u64,
    /// Spans that were not made, because too many of a run were open.
    unopened: u64,
}

/// Sends batches, and waits for the collector.
struct Sending<'s> {
    settings: &'s Otlp,
    collector: Collector,
    runtime: Runtime,
    /// How long to wait for a collector that takes nothing; `None`: for ever.
    wait: Option<Duration>,
    batch: Vec<Span>,
    bytes: usize,
    sums: Sums,
    /// When progress was shown last, if stderr is a terminal.
    shown: Option<Instant>,
}

pub(super) fn run(
    streams: &[Found],
    settings: &Otlp,
    wait_seconds: u64,
    log: &dyn Source,
    out: &mut dyn Write,
) -> anyhow::Result<u8> {
    if settings.endpoint.is_empty() {
        bail!(
            "no collector is named: use --endpoint http://HOST:4318/v1/traces, otlp.endpoint in the configuration, or \
             OTEL_EXPORTER_OTLP_ENDPOINT"
        );
    }
    let mut sending = Sending {
        settings,
        collector: Collector::new(settings)?,
        runtime: tokio::runtime::Builder::new_current_thread().enable_all().build()?,
        wait: (wait_seconds > 0).then(|| Duration::from_secs(wait_seconds)),
        batch: Vec::new(),
        bytes: 0,
        sums: Sums::default(),
        shown: std::io::stderr().is_terminal().then(Instant::now),
    };
    let done = streams
        .iter()
        .filter(|found| found.kept.stream.kind == StreamKind::Session)
        .try_for_each(|found| sending.stream(found, log))
        .and_then(|()| sending.flush());
    sending.clear_progress();
    let sums = &sending.sums;
    done.with_context(|| format!("the export ended after {} spans; sending them again is harmless", sums.spans))?;
    sums.write(out)?;
    Ok(if sums.are_all() { EXIT_CLEAN } else { EXIT_FINDINGS })
}

impl Sending<'_> {
    fn stream(&mut self, found: &Found, log: &dyn Source) -> anyhow::Result<()> {
        if found.kept.first() > 0 {
            self.sums.without_beginning += 1;
            return Ok(());
        }
        let mut open = Open::new(Bounds::of(self.settings));
        let mut ended = Vec::new();
        log.whole(found, &mut |frame| {
            open.frame(frame, &mut ended);
            ended.drain(..).try_for_each(|span| self.add(span))
        })?;
        self.sums.unopened += open.take_refused();
        if open.has_open() {
            self.sums.open += 1;
        } else {
            self.sums.runs += 1;
        }
        Ok(())
    }

    fn add(&mut self, span: Span) -> anyhow::Result<()> {
        self.bytes += size_of(&span);
        self.batch.push(span);
        if self.batch.len() >= self.settings.batch_spans || self.bytes >= self.settings.batch_bytes {
            self.flush()?;
        }
        Ok(())
    }

    /// Sends the batch, and repeats that for as long as the collector may take it later.
    fn flush(&mut self) -> anyhow::Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        self.bytes = 0;
        let batch = self.collector.batch(std::mem::take(&mut self.batch))?;
        let (begun, mut pause, mut has_said) = (Instant::now(), FIRST_PAUSE, false);
        loop {
            let (message, after) = match self.runtime.block_on(self.collector.send(&batch)) {
                Ok(accepted) => {
                    let rejected = accepted.rejected.min(batch.spans);
                    self.sums.rejected += rejected;
                    self.sums.spans += batch.spans - rejected;
                    if rejected > 0 {
                        self.say(&format!("the collector rejected {rejected} spans: {}", accepted.message));
                    }
                    self.show_progress();
                    return Ok(());
                }
                Err(Refused::Later { message, after }) => (message, after),
                Err(Refused::Never(message)) => bail!("{}: {message}", self.settings.endpoint),
            };
            if self.wait.is_some_and(|wait| begun.elapsed() >= wait) {
                bail!("{}: {message}; it took nothing for {} s", self.settings.endpoint, begun.elapsed().as_secs());
            }
            if !std::mem::replace(&mut has_said, true) {
                self.say(&format!("waiting for the collector: {message}"));
            }
            std::thread::sleep(pause.max(after.unwrap_or_default()).min(LONGEST_PAUSE));
            pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
        }
    }

    /// Reports something on stderr.
    fn say(&self, message: &str) {
        self.clear_progress();
        // Nothing depends on stderr.
        let _ = writeln!(std::io::stderr(), "framegate: {message}");
    }

    fn show_progress(&mut self) {
        if self.shown.is_some_and(|shown| shown.elapsed() >= PROGRESS) {
            self.shown = Some(Instant::now());
            let _ = write!(std::io::stderr(), "\r\x1b[K{} runs, {} spans", self.sums.runs, self.sums.spans);
        }
    }

    fn clear_progress(&self) {
        if self.shown.is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

impl Sums {
    /// Whether the collector has all spans of all runs that have ended.
    fn are_all(&self) -> bool {
        self.rejected == 0 && self.unopened == 0 && self.without_beginning == 0
    }

    fn write(&self, out: &mut dyn Write) -> std::io::Result<()> {
        writeln!(out, "{} spans of {} runs sent", self.spans, self.runs + self.open)?;
        for (count, what) in [
            (self.open, "runs have not ended; send them again when they have"),
            (self.without_beginning, "runs were left out, because their first frames were dropped from the log"),
            (self.rejected, "spans were rejected by the collector"),
            (self.unopened, "spans were left out, because otlp.max_open_spans were open"),
        ] {
            if count > 0 {
                writeln!(out, "{count} {what}")?;
            }
        }
        Ok(())
    }
}
