//! The start on a log that was there before.
//!
//! In: what the log has kept. Out: every stream known again, as it was; what was open when the proxy stopped is closed, and
//! its runs end as interrupted. Never: a frame of a stream that is over read for it.

use super::{Entry, RunStatus, Runs};
use crate::log::{KeptStream, LogError};
use framegate_translators::frame::{Stream, StreamKind};
use framegate_translators::ledger::Reopened;
use std::collections::HashSet;
use std::sync::Arc;

/// How many frames are read at a time.
const AT_ONCE: usize = 1024;

impl Runs {
    /// Learns of the runs that the log has kept. What is open in it is closed at `now_ms` (Unix epoch milliseconds). In the
    /// feed, what was kept stands stream by stream. Called once, before anything is appended.
    ///
    /// # Errors
    /// Whatever keeps the log from being read, or the closing frames from being kept.
    pub async fn recover(&self, now_ms: u64) -> Result<(), LogError> {
        let streams = self.log.streams().await?;
        let broken: HashSet<_> = streams
            .iter()
            .filter(|kept| kept.stream.kind == StreamKind::Session && !kept.ended)
            .map(|kept| kept.stream.session.id)
            .collect();
        for kept in streams {
            let is_thread = kept.stream.kind == StreamKind::Thread;
            // A thread never ends. Something can be open in it only where its session's run was broken off.
            let is_open = if is_thread { broken.contains(&kept.stream.session.id) } else { !kept.ended };
            let status = if is_open { None } else { known_status(&kept) };
            match status {
                Some(status) => self.learn(kept.stream, status),
                None => self.reopen(kept.stream, is_open, now_ms).await?,
            }
        }
        Ok(())
    }

    fn learn(&self, stream: Arc<Stream>, status: RunStatus) {
        self.feed.learn((stream.kind, stream.id), status.frames);
        self.insert(Entry::new(stream, status));
    }

    /// Learns from its frames what is known of a stream, and closes what they left open.
    async fn reopen(&self, stream: Arc<Stream>, close: bool, now_ms: u64) -> Result<(), LogError> {
        let mut reopened = Reopened::new(stream.clone());
        let mut status: Option<RunStatus> = None;
        let mut at = 0;
        loop {
            let frames = self.log.read((stream.kind, stream.id), at, AT_ONCE).await?;
            let Some(last) = frames.last() else { break };
            at = last.seq + 1;
            for frame in &frames {
                reopened.frame(frame);
                // It was warned of when the frames came.
                status.get_or_insert_with(|| RunStatus::new(frame)).observe(frame, &mut Vec::new());
            }
        }
        let Some(status) = status else { return Ok(()) };
        let (run, runner) = (status.run_id, status.runner);
        self.learn(stream.clone(), status);
        let closing: Vec<Arc<_>> =
            if close { reopened.close(now_ms).into_iter().map(Arc::new).collect() } else { Vec::new() };
        if stream.kind == StreamKind::Session && !closing.is_empty() {
            tracing::warn!(%run, runner, frames = at, "a run was open when the proxy stopped; it ends as interrupted");
        }
        self.append(&closing).await.map(drop)
    }
}

/// The status that was kept, where it is that of the stream as it is.
fn known_status(kept: &KeptStream) -> Option<RunStatus> {
    let mut status: RunStatus = serde_json::from_str(kept.status.as_deref()?).ok()?;
    status.ended = kept.ended;
    (status.frames == kept.frames).then_some(status)
}
