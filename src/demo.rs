//! `serve --demo`: ingests recordings that are compiled into the program, one for each runner, so that a user without a runner
//! can watch events.
//!
//! Input: the built-in recordings. Output: their runs, record by record, slowly enough to read. Never: a file read at run time,
//! a pause after a record that shows nothing, a record that was not redacted.

use crate::ingest::{IngestError, IngestFactory, Settings};
use crate::runs::{Ingested, Runs};
use framegate_translators::frame::StreamKind;
use framegate_translators::framing::Limits;
use framegate_translators::redact::Rules;
use framegate_translators::runners::runner;
use framegate_translators::when::FirstTime;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// A recording: the runner, its bytes, and the separator between records.
type Recording = (&'static str, &'static [u8], &'static [u8]);

/// One recording for each runner, in playing order. If the runner can ask for approval, the recording contains a question and
/// its answer.
const RECORDINGS: [Recording; 4] = [
    ("claude-code", include_bytes!("../tests/fixtures/claude-code/control_permission.partial.ndjson"), b"\n"),
    ("codex", include_bytes!("../tests/fixtures/codex/appserver-approval-accept.ndjson"), b"\n"),
    ("opencode", include_bytes!("../tests/fixtures/opencode/event-permission-once.sse"), b"\n\n"),
    ("open-responses", include_bytes!("../tests/fixtures/open-responses/litellm__texttool.sse"), b"\n\n"),
];

/// The pause after a record that shows something.
const PACE: Duration = Duration::from_millis(250);

/// The pause while a question waits for its answer.
const THOUGHT: Duration = Duration::from_millis(1500);

/// Plays the recordings. Calls `started` with each runner and its run id as soon as the run has begun.
///
/// # Errors
/// Returns the error of the first ingest that fails.
pub async fn play(
    runs: Arc<Runs>,
    rules: Option<Arc<Rules>>,
    mut started: impl FnMut(&'static str, Uuid),
) -> Result<(), IngestError> {
    let factory = IngestFactory::new(runs, Settings { redaction: rules, ..Settings::default() });
    for (name, bytes, end) in RECORDINGS {
        let Some(runner) = runner(name) else { continue };
        let mut ingest = factory.ingest(Some(runner), None, Arc::default());
        if let Some(unix_ms) = FirstTime::new(Some(runner), None, Limits::default()).feed(bytes) {
            ingest = ingest.recorded_at(unix_ms);
        }
        let ingested = ingest.ingested();
        let (mut begun, mut seen) = (false, 0);
        for record in records(bytes, end) {
            ingest.feed(record).await?;
            let run = ingested.entries().into_iter().find(|entry| entry.stream.kind == StreamKind::Session);
            if let Some(run) = run.filter(|_| !begun) {
                begun = true;
                started(name, run.stream.id);
            }
            let (shown, waits) = shown(&ingested);
            // Do not pause after a record that shows nothing.
            if shown > seen {
                tokio::time::sleep(if waits { THOUGHT } else { PACE }).await;
            }
            seen = shown;
        }
        ingest.finish().await?;
    }
    Ok(())
}

/// The number of frames besides the records themselves, and whether an approval is pending.
fn shown(ingested: &Ingested) -> (u64, bool) {
    ingested.entries().iter().fold((0, false), |(shown, waits), entry| {
        let status = entry.status();
        (shown + status.frames.saturating_sub(status.records), waits || !status.pending_approvals.is_empty())
    })
}

/// Splits a recording into its records; each keeps its separator.
fn records<'r>(bytes: &'r [u8], end: &'r [u8]) -> impl Iterator<Item = &'r [u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let length = memchr::memmem::find(rest, end).map_or(rest.len(), |at| at + end.len());
        let (record, behind) = rest.split_at_checked(length).filter(|_| length > 0)?;
        rest = behind;
        Some(record)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_are_split_into_records_without_loss() {
        for (name, bytes, end) in RECORDINGS {
            let cut: Vec<&[u8]> = records(bytes, end).collect();
            assert!(cut.len() > 10, "{name}: {}", cut.len());
            assert_eq!(cut.concat(), bytes, "{name}");
        }
    }
}
