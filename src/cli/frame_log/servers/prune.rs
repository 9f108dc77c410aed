//! `prune` of a log at NATS servers.
//!
//! Input: what may stay. Output: streams and fronts dropped, which every proxy hears of. Never: an open run dropped; the front of a
//! stream dropped that a proxy may still write: its next append would be refused.

use crate::cli::EXIT_CLEAN;
use crate::cli::frame_log::maintain::PruneArgs;
use crate::cli::serve::encoder_options;
use crate::cli::serve::engine::jetstream;
use crate::clock::Clock;
use crate::config::{Config, GateMode};
use crate::gate::Gate;
use crate::log::LogError;
use crate::log::jetstream::Role;
use crate::runs::{PruningBounds, Runs};
use anyhow::anyhow;
use std::io::Write;
use std::sync::Arc;
use tokio_util::task::AbortOnDropHandle;

pub(in crate::cli::frame_log) fn prune(args: &PruneArgs, config: &Config, out: &mut dyn Write) -> anyhow::Result<u8> {
    let runtime = crate::cli::threads::runtime(1)?;
    runtime.block_on(async {
        let log = jetstream(config, Role::Maintainer).await?;
        let gate = Gate::new(GateMode::Off).map_err(|error| anyhow!(error))?;
        let runs = Runs::new(log.clone(), gate).with_pruning(PruningBounds::default(), encoder_options(config));
        let (runs, now_ms) = (Arc::new(runs), Clock::System.now_ms());
        runs.recover(now_ms).await?;
        let hearing = runs.clone();
        let _hearing = AbortOnDropHandle::new(tokio::spawn(async move { hearing.hear_on().await }));
        if args.older_than.is_some() || args.keep.is_some() {
            let (streams, frames) = log.drop_idle(args.before(now_ms), args.keep).await?;
            writeln!(out, "dropped {streams} runs, tasks and threads, {frames} frames in total")?;
        }
        if let Some(keep) = args.keep_frames {
            runs.catch_up().await;
            fronts(&runs, keep, now_ms, out).await?;
        }
        Ok(EXIT_CLEAN)
    })
}

/// Drops the first frames of each stream that is over.
async fn fronts(runs: &Runs, keep: u64, now_ms: u64, out: &mut dyn Write) -> anyhow::Result<()> {
    let (mut streams, mut gone, mut open) = (0, 0, 0);
    for entry in runs.entries() {
        let (frames, before) = (entry.tail().borrow().frames, entry.gone().map_or(0, |gone| gone.frames));
        if !entry.status().ended {
            open += u64::from(frames - before > keep);
            continue;
        }
        match runs.prune(&entry, frames.saturating_sub(keep), now_ms).await {
            Ok(()) => {}
            // A proxy has dropped it meanwhile.
            Err(LogError::Dropped { .. }) => continue,
            Err(error) => return Err(error.into()),
        }
        let more = entry.gone().map_or(0, |gone| gone.frames) - before;
        (streams, gone) = (streams + u64::from(more > 0), gone + more);
    }
    writeln!(out, "dropped the first frames of {streams} streams, {gone} frames in total")?;
    if open > 0 {
        writeln!(out, "{open} streams are longer and keep their first frames, because a proxy may still write them")?;
    }
    Ok(())
}
