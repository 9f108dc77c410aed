//! `serve --demo`: recordings that come with the program are played in, one of them slowly, so that there is something to
//! watch without a runner at hand.

use crate::ingest::{Ingest, IngestError};
use crate::runs::Runs;
use framegate_translators::frame::StreamKind;
use framegate_translators::framing::Limits;
use framegate_translators::runners::Runner;
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// Played in at once: they can be replayed.
const FINISHED: &[&[u8]] = &[
    include_bytes!("../tests/fixtures/claude-code/text_plain.partial.ndjson"),
    include_bytes!("../tests/fixtures/claude-code/write_file.partial.ndjson"),
    include_bytes!("../tests/fixtures/claude-code/subagent.partial.ndjson"),
];

/// Played in slowly: it can be watched live.
const LIVE: &[u8] = include_bytes!("../tests/fixtures/claude-code/parallel_tools.partial.ndjson");

/// Time between two records of the live one.
const PACE: Duration = Duration::from_millis(600);

/// Plays the recordings. `started` gets the run id of the live one as soon as it has begun.
///
/// # Errors
/// Why an ingest stopped.
pub async fn play(runs: Arc<Runs>, runner: &Runner, started: impl FnOnce(Uuid)) -> Result<(), IngestError> {
    for recording in FINISHED {
        let mut ingest = Ingest::new(runs.clone(), runner, None, Limits::default());
        ingest.feed(recording).await?;
        ingest.finish().await?;
    }
    let mut ingest = Ingest::new(runs, runner, None, Limits::default());
    let ingested = ingest.ingested();
    let mut started = Some(started);
    for line in LIVE.split_inclusive(|&byte| byte == b'\n') {
        ingest.feed(line).await?;
        let run = ingested.entries().into_iter().find(|entry| entry.stream.kind == StreamKind::Session);
        if let Some((run, started)) = run.and_then(|run| started.take().map(|started| (run, started))) {
            started(run.stream.id);
        }
        tokio::time::sleep(PACE).await;
    }
    ingest.finish().await.map(drop)
}
