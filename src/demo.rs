//! `serve --demo`: ingests the samples of all runners, so that a user without a runner
//! can watch events, and offers an upstream whose runner is a script, so that this user can start runs.
//!
//! Input: the samples, which are compiled into the program. Output: their runs, record by record, slowly enough to read; the
//! settings of the upstream. Never: a file read at run time, a pause after a record that shows nothing, a record that was not redacted.

use crate::config::upstream::{Command, Kind, Modes, Preset, Upstream};
use crate::defaults::DEMO_UPSTREAM;
use crate::ingest::{IngestError, IngestFactory, Settings};
use crate::runs::{Ingested, Runs};
use framegate_translators::framing::{Framing, Limits};
use framegate_translators::redact::Rules;
use framegate_translators::runners::{DEMO_PRESET, Freedom, RUNNERS, Sample, demo};
use framegate_translators::when::FirstTime;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// The pause after a record that shows something.
const PACE: Duration = Duration::from_millis(250);

/// The pause while a question waits for its answer.
const THOUGHT: Duration = Duration::from_millis(1500);

/// The name of the upstream with the scripted agent.
pub const UPSTREAM: &str = DEMO_UPSTREAM;

/// The maximum number of its concurrent runs, including those that wait for a further prompt.
const MAX_RUNS: usize = 64;

/// The upstream: this program, as a scripted agent. Its runs may work in any directory, because they only mention it.
///
/// # Errors
/// The path of this program is unknown, or is not Unicode.
pub fn upstream() -> std::io::Result<Option<Upstream>> {
    let Some((runner, _)) = demo() else { return Ok(None) };
    let path = std::env::current_exe()?;
    let program = path.into_os_string().into_string();
    let program = program.map_err(|_| std::io::Error::other("the path of this program is not Unicode"))?;
    let directories = std::env::current_dir().into_iter().chain([PathBuf::from("/")]).collect();
    let preset = Preset::of(runner, &DEMO_PRESET);
    let settings = Command { preset, program, directories, linger_ms: 60_000, ..Command::default() };
    let kind = Kind::Command(Box::new(settings));
    let runner_name = runner.name.to_owned();
    let mut upstream =
        Upstream { name: UPSTREAM.to_owned(), runner: runner_name, max_runs: MAX_RUNS, modes: Modes::default(), kind };
    upstream.modes.names = upstream.modes_up_to(Freedom::Edits);
    Ok(Some(upstream))
}

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
    for runner in RUNNERS {
        let (name, Sample { bytes, framing, .. }) = (runner.name, runner.sample);
        let mut ingest = factory.ingest(Some(runner), None, Arc::default());
        if let Some(unix_ms) = FirstTime::new(Some(runner), None, Limits::default()).feed(bytes) {
            ingest = ingest.recorded_at(unix_ms);
        }
        let ingested = ingest.ingested();
        let (mut begun, mut seen) = (false, 0);
        for record in records(bytes, framing) {
            ingest.feed(record).await?;
            let run = ingested.first_run();
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
fn records(bytes: &[u8], framing: Framing) -> impl Iterator<Item = &[u8]> {
    let end: &[u8] = if framing == Framing::Sse { b"\n\n" } else { b"\n" };
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
    use framegate_translators::runners::Runner;

    #[test]
    fn recordings_are_split_into_records_without_loss() {
        for Runner { name, sample, .. } in RUNNERS {
            let cut: Vec<&[u8]> = records(sample.bytes, sample.framing).collect();
            assert!(cut.len() > 10, "the sample of {name} has {} records: use a recording of a whole run", cut.len());
            assert_eq!(cut.concat(), sample.bytes, "{name}");
        }
    }
}
