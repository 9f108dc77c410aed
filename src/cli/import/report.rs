//! What an import reports.
//!
//! Input: the files, and what became of each. Output: a line of progress on a terminal; messages about files that could not be read; a
//! summary by runner. Never: a line of progress in a pipe.

use super::find::Session;
use super::sink::{NotTaken, Sink, Taken};
use crate::clock::Moment;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::time::Duration;
use tokio::runtime::Handle;

/// The form of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Form {
    /// Lines for people
    Text,
    /// One JSON object
    Json,
}

/// How often the line of progress changes.
const EVERY: Duration = Duration::from_millis(200);

/// The width of the bar.
const BAR: usize = 24;

/// What was imported of a runner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
struct Sum {
    files: u64,
    bytes: u64,
    new_runs: u64,
    known_runs: u64,
    replaced_runs: u64,
    /// Files that have records, but no run.
    files_without_run: u64,
}

impl Sum {
    fn add(&mut self, taken: &Taken) {
        self.files += 1;
        self.bytes += taken.bytes;
        self.new_runs += taken.new;
        self.known_runs += taken.known;
        self.replaced_runs += taken.replaced;
        self.files_without_run += u64::from(taken.is_without_run);
    }
}

/// The state of an import.
pub(super) struct Progress {
    began: Moment,
    files: u64,
    bytes: u64,
    done_files: u64,
    done_bytes: u64,
    sums: BTreeMap<String, Sum>,
    total: Sum,
    failed: usize,
    /// How many files are left because the proxy does not answer.
    left: usize,
    /// When the line of progress was last printed; `None` if there is none.
    shown: Option<Moment>,
    is_shown: bool,
}

impl Progress {
    /// At the start of an import of these files. Others, `unreadable` in number, could not be read.
    pub(super) fn new(files: &[Session], unreadable: usize) -> Self {
        let now = Moment::now();
        Self {
            began: now,
            files: files.len() as u64,
            bytes: files.iter().filter_map(|file| file.bytes).sum(),
            done_files: 0,
            done_bytes: 0,
            sums: BTreeMap::new(),
            total: Sum::default(),
            failed: unreadable,
            left: 0,
            shown: std::io::stderr().is_terminal().then_some(now),
            is_shown: false,
        }
    }

    /// How many files could not be read, or are left.
    pub(super) fn failed(&self) -> usize {
        self.failed + self.left
    }

    /// A file is done.
    pub(super) fn take(&mut self, file: &Session, taken: Result<Taken, NotTaken>) {
        self.done_files += 1;
        match taken {
            Ok(taken) => {
                self.done_bytes += taken.bytes;
                // The size of a session in a database is known now.
                self.bytes += if file.bytes.is_none() { taken.bytes } else { 0 };
                let runner = taken.runner.clone().or_else(|| file.runner.map(str::to_owned)).unwrap_or_default();
                if !runner.is_empty() {
                    self.sums.entry(runner).or_default().add(&taken);
                }
                self.total.add(&taken);
                if taken.is_without_run {
                    self.clear();
                    tracing::warn!("{} has no run", file.name());
                }
            }
            Err(NotTaken::File(why)) => {
                self.done_bytes += file.bytes.unwrap_or_default();
                self.clear();
                self.failed += 1;
                tracing::error!("{why}");
            }
            Err(NotTaken::Proxy(why)) => {
                self.clear();
                self.done_files -= 1;
                self.left = usize::try_from(self.files - self.done_files).unwrap_or(usize::MAX);
                tracing::error!("{why}; {} of {} files are left: import again", self.left, self.files);
            }
        }
        if self.shown.is_some_and(|shown| shown.elapsed() >= EVERY) {
            self.show();
        }
    }

    fn show(&mut self) {
        self.shown = Some(Moment::now());
        self.is_shown = true;
        let part = if self.bytes == 0 { 1.0 } else { self.done_bytes as f64 / self.bytes as f64 };
        let full = ((part * BAR as f64) as usize).min(BAR);
        let line = format!(
            "\r\x1b[K[{}{}] {}/{} files, {}, {} runs new",
            "=".repeat(full),
            " ".repeat(BAR - full),
            self.done_files,
            self.files,
            rate(self.done_bytes, self.began.elapsed()),
            self.total.new_runs
        );
        let mut err = std::io::stderr().lock();
        // Progress that cannot be shown is no failure.
        let _ = err.write_all(line.as_bytes()).and_then(|()| err.flush());
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            let _ = std::io::stderr().lock().write_all(b"\r\x1b[K");
        }
    }

    /// Prints the summary. `sink` is where the runs are.
    ///
    /// # Errors
    /// Standard output cannot be written.
    pub(super) fn end(&mut self, form: Form, sink: &Sink, runtime: &Handle) -> anyhow::Result<()> {
        self.clear();
        let took = self.began.elapsed();
        let (dropped, place) = (sink.dropped(runtime), sink.place());
        if let Some((runs @ 1.., limits)) = dropped {
            tracing::warn!(
                "{runs} runs were dropped from {place}, because the log keeps at most {limits}: raise what is too low, and import again"
            );
        }
        let mut out = std::io::stdout().lock();
        match form {
            Form::Json => {
                // Null if a proxy has the log, which does not say.
                let dropped_runs = dropped.map(|(runs, _)| runs);
                let summary = serde_json::json!({
                    "runners": self.sums, "total": self.total, "failed_files": self.failed, "left_files": self.left,
                    "dropped_runs": dropped_runs, "duration_ms": u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
                });
                writeln!(out, "{summary}")?;
            }
            Form::Text => {
                for (runner, sum) in &self.sums {
                    let Sum { files, new_runs, known_runs, replaced_runs, .. } = sum;
                    let replaced = some(*replaced_runs, "replaced shorter ones");
                    writeln!(
                        out,
                        "{runner}: {new_runs} runs imported from {files} files, {known_runs} were in the log already{replaced}"
                    )?;
                }
                let rest = [
                    some(self.total.files_without_run, "files without a run"),
                    some(self.failed as u64, "files could not be read"),
                    some(self.left as u64, "files are left"),
                ]
                .concat();
                let rate = rate(self.total.bytes, took);
                let (new, seconds) = (self.total.new_runs, took.as_secs_f64());
                writeln!(out, "{new} runs imported into {place} in {seconds:.1} s ({rate}){rest}")?;
            }
        }
        Ok(())
    }
}

/// A further count of the summary, if it is not 0.
fn some(count: u64, what: &str) -> String {
    if count == 0 { String::new() } else { format!(", {count} {what}") }
}

fn rate(bytes: u64, took: Duration) -> String {
    let mb = bytes as f64 / 1e6;
    format!("{mb:.1} MB, {:.0} MB/s", mb / took.as_secs_f64().max(0.001))
}

/// Prints the files.
///
/// # Errors
/// Standard output cannot be written.
pub(super) fn list(files: &[Session], form: Form) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for file in files {
        let runner = file.runner.unwrap_or("auto");
        match form {
            Form::Json => {
                let session = file.stored.as_ref().map(|stored| &stored.id);
                let path = file.path.display().to_string();
                let line = serde_json::json!({
                    "path": path, "session": session, "runner": file.runner, "bytes": file.bytes,
                    "subagent_files": file.subagents.len(),
                });
                writeln!(out, "{line}")?;
            }
            Form::Text => {
                let bytes = file.bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string());
                writeln!(out, "{runner}\t{bytes}\t{}", file.name())?;
            }
        }
    }
    Ok(())
}
