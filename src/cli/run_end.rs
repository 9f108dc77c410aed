//! How `framegate run` ends: the exit code, and the messages to the user if the run failed.
//!
//! Input: the program's exit, the states of its runs, and the signal that interrupted it. Output: an exit code; on stderr the
//! reason, the records that could not be read, and the last lines of both output streams. Never: success for a run that failed
//! or was broken off, a secret that redaction removed from a record.

use super::{EXIT_CLEAN, EXIT_FAILED, EXIT_FINDINGS};
use crate::ingest::counted;
use crate::platform::exit;
use crate::runs::{Entry, RunState, RunStatus, Runs};
use crate::upstream::command::Exit;
use framegate_translators::frame::{Body, StreamKind};
use std::io::{self, Write};
use std::sync::Arc;

/// How many of the last records are shown, and how many bad records are reported one by one.
const RECORDS: usize = 10;
const BAD_RECORDS: usize = 20;

/// The number of characters of a line that are shown.
const LINE_CHARS: usize = 400;

/// The number of frames at the end of a stream that are searched for its last records.
const FRAMES: u64 = 256;

/// How a run of a program ended.
pub(super) struct Ending {
    /// How the program exited.
    pub(super) exit: Exit,
    /// The number of the first signal that asked for an interruption.
    pub(super) signal: Option<u8>,
    /// The reason why there is no run; `None` if there is one.
    pub(super) no_run: Option<String>,
}

impl Ending {
    /// The exit code of the command.
    pub(super) fn code(&self, runs: &[RunStatus]) -> u8 {
        if let Some(signal) = self.signal {
            return 128 + signal;
        }
        let status = self.exit.status;
        let code = status.and_then(|status| status.code().or_else(|| exit::signal(status).map(|signal| 128 + signal)));
        match code.map(|code| u8::try_from(code).unwrap_or(EXIT_FAILED)) {
            Some(EXIT_CLEAN) if runs.is_empty() => EXIT_FAILED,
            Some(EXIT_CLEAN) if runs.iter().all(|run| run.state == RunState::Completed) => EXIT_CLEAN,
            Some(EXIT_CLEAN) => EXIT_FINDINGS,
            Some(code) => code,
            None => EXIT_FAILED,
        }
    }

    /// Prints how the run ended, unless there is nothing to report, and returns the exit code.
    pub(super) async fn tell(&self, runs: &Runs, entries: &[Arc<Entry>]) -> u8 {
        let statuses = of_runs(runs, entries);
        let code = self.code(&statuses);
        let mut lines = self.bad_records();
        if code != EXIT_CLEAN {
            lines.extend(self.reasons(&statuses));
        }
        // A user who interrupted the run knows why it ended.
        if code != EXIT_CLEAN && self.signal.is_none() {
            lines.extend(shown("the last records of the runner's output", &last_records(runs, entries).await));
            lines.extend(shown("the last lines of the runner's standard error", &self.exit.stderr));
        }
        let mut text = String::new();
        for line in lines {
            text.push_str(&line);
            text.push('\n');
        }
        // If stderr is closed, the messages cannot be delivered.
        let _ = io::stderr().write_all(text.as_bytes());
        code
    }

    fn reasons(&self, statuses: &[RunStatus]) -> Vec<String> {
        let mut reasons = Vec::new();
        for run in statuses.iter().filter(|run| run.state != RunState::Completed) {
            let how = match run.state {
                RunState::Failed => "failed",
                _ => "was interrupted",
            };
            let code = run.error_code.as_deref().map_or_else(String::new, |code| format!(" ({code})"));
            let message = run.message.as_deref().or(run.final_text.as_deref());
            let message = message.map_or_else(String::new, |message| format!(": {}", one_line(message)));
            reasons.push(format!("framegate: the run {how}{code}{message}"));
        }
        reasons.extend(self.no_run.iter().chain(&self.exit.cut).map(|why| format!("framegate: {why}")));
        if let Some(other) = self.exit.seen.as_ref().and_then(|seen| seen.mistaken) {
            reasons.push(format!("framegate: the runner's output looks like {other}"));
        }
        let status = self.exit.status.filter(|status| !status.success());
        reasons.extend(status.map(|status| format!("framegate: the runner exited: {status}")));
        reasons
    }

    fn bad_records(&self) -> Vec<String> {
        let Some(seen) = &self.exit.seen else { return Vec::new() };
        let bad_lines = seen.bad.iter().take(BAD_RECORDS).map(|bad| {
            format!("framegate: record {} of the runner at byte {}: {}", bad.record, bad.offset, one_line(&bad.message))
        });
        let mut lines: Vec<String> = bad_lines.collect();
        let more = seen.tally.bad().saturating_sub(lines.len() as u64);
        if more > 0 {
            lines.push(format!("framegate: {more} more bad records are not listed; {}", counted(&seen.tally)));
        }
        lines
    }
}

/// The statuses of the entries that are runs.
pub(super) fn of_runs(runs: &Runs, entries: &[Arc<Entry>]) -> Vec<RunStatus> {
    let entries = entries.iter().filter(|entry| entry.stream.kind == StreamKind::Session);
    entries.map(|entry| runs.shown_status(entry)).collect()
}

/// The last records of all streams, oldest first, as stored: redacted.
async fn last_records(runs: &Runs, entries: &[Arc<Entry>]) -> Vec<String> {
    let mut records = Vec::new();
    for entry in entries {
        let from = entry.tail().borrow().frames.saturating_sub(FRAMES);
        let Ok(frames) = runs.log().read(entry.id(), from, usize::try_from(FRAMES).unwrap_or(usize::MAX)).await else {
            continue;
        };
        for frame in frames {
            let Body::ProviderEvent(record) = &frame.body else { continue };
            let text = match (&record.data, &record.raw) {
                (Some(data), _) => data.to_string(),
                (None, Some(raw)) => String::from_utf8_lossy(raw).into_owned(),
                (None, None) => continue,
            };
            records.push((frame.timestamp_ms, one_line(&text)));
        }
    }
    records.sort_by_key(|(at, _)| *at);
    let first = records.len().saturating_sub(RECORDS);
    records.split_off(first).into_iter().map(|(_, text)| text).collect()
}

fn shown(what: &str, lines: &[String]) -> Vec<String> {
    if lines.is_empty() {
        return Vec::new();
    }
    let head = format!("framegate: {what}:");
    std::iter::once(head).chain(lines.iter().map(|line| format!("  {}", one_line(line)))).collect()
}

/// The text on one line, without control characters and cut to `LINE_CHARS`.
fn one_line(text: &str) -> String {
    let mut line: String =
        text.trim().chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(LINE_CHARS).collect();
    if text.trim().chars().nth(LINE_CHARS).is_some() {
        line.push('…');
    }
    line
}
