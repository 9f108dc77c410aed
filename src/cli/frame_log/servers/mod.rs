//! A log at NATS servers that is read, or pruned, beside the proxies that use it.
//!
//! Input: the configuration that the proxies have. Output: what the log had when it was opened. Never: a lease, or a stream closed whose proxy
//! is lost; a write, except by [`prune`]; a stream that is missing because a server was slow.

mod prune;
mod verify;

pub(super) use prune::prune;

use super::AT_ONCE;
use super::source::{Found, Listed, Sink, Source};
use crate::cli::serve::engine::{Storage, jetstream};
use crate::config::{Config, GateMode};
use crate::gate::Gate;
use crate::log::jetstream::{Excerpt, JetstreamLog, Role};
use crate::log::{Checkpoint, CheckpointAt, FrameLog, KeptStream, LogError};
use crate::runs::{RunStatus, Runs};
use anyhow::anyhow;
use framegate_translators::contracts::rfc3339_millis;
use framegate_translators::frame::{Frame, StreamKind};
use std::borrow::Cow;
use std::io::Write;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// A log that is opened for reading.
pub(super) struct Servers {
    log: Arc<JetstreamLog>,
    /// What the log had when it was opened, in the order in which the streams began.
    streams: Vec<KeptStream>,
    runtime: Runtime,
}

impl Servers {
    pub(super) fn open(config: &Config) -> anyhow::Result<Self> {
        let runtime = crate::cli::threads::runtime(1)?;
        let (log, streams) = runtime.block_on(async {
            let log = jetstream(config, Role::Observer).await?;
            let streams = log.kept().await?;
            anyhow::Ok((log, streams))
        })?;
        Ok(Self { log, streams, runtime })
    }

    /// The frames of a stream from `at` on that it had when the log was opened. They begin later if a proxy has dropped the front
    /// meanwhile.
    fn read(&self, kept: &KeptStream, at: u64) -> Result<Vec<Arc<Frame>>, LogError> {
        let mut frames = self.runtime.block_on(self.log.read(kept.id(), at, AT_ONCE))?;
        frames.retain(|frame| frame.seq < kept.frames);
        Ok(frames)
    }

    /// The runs, newest first.
    fn runs(&self) -> impl Iterator<Item = &KeptStream> {
        self.streams.iter().rev().filter(|kept| kept.stream.kind == StreamKind::Session)
    }

    /// The status of a stream. One that is too long for a header is derived from the frames.
    fn status_of<'k>(&self, kept: &'k KeptStream) -> Option<Cow<'k, str>> {
        match &kept.status {
            Some(status) => Some(Cow::Borrowed(status)),
            None => self.status_from_frames(kept).ok().flatten().map(Cow::Owned),
        }
    }

    fn status_from_frames(&self, kept: &KeptStream) -> anyhow::Result<Option<String>> {
        let excerpt = Excerpt::of(self.log.clone(), vec![kept.clone()]);
        let gate = Gate::new(GateMode::Off).map_err(|error| anyhow!(error))?;
        let runs = Runs::new(Arc::new(excerpt), gate);
        self.runtime.block_on(runs.recover(0))?;
        let Some(entry) = runs.find(kept.id()) else { return Ok(None) };
        let status = serde_json::to_string(&*entry.status())?;
        Ok(Some(status))
    }
}

impl Source for Servers {
    fn place(&self) -> String {
        self.log.place()
    }

    fn streams(&self) -> anyhow::Result<Vec<Found>> {
        Ok(self.streams.iter().map(|kept| Found { key: 0, kept: kept.clone() }).collect())
    }

    fn status(&self, found: &Found) -> anyhow::Result<Option<String>> {
        match &found.kept.status {
            Some(status) => Ok(Some(status.clone())),
            None => self.status_from_frames(&found.kept),
        }
    }

    fn frames(&self, found: &Found, sink: Sink<'_>) -> anyhow::Result<()> {
        let mut at = found.kept.first();
        while at < found.kept.frames {
            let frames = self.read(&found.kept, at)?;
            let Some(last) = frames.last() else { return Ok(()) };
            at = last.seq + 1;
            frames.iter().try_for_each(&mut *sink)?;
        }
        Ok(())
    }

    fn views_at(&self, found: &Found, frame: u64) -> anyhow::Result<Vec<String>> {
        Ok(self.log.views_at(found.kept.id(), frame))
    }

    fn checkpoint(&self, found: &Found, view: &str, frame: u64) -> anyhow::Result<Option<Checkpoint>> {
        let at = CheckpointAt::Frame(frame);
        Ok(self.runtime.block_on(self.log.checkpoint(found.kept.id(), view, &at))?)
    }

    fn list(&self, limit: usize, sink: &mut dyn FnMut(&Listed) -> anyhow::Result<()>) -> anyhow::Result<()> {
        self.runs().take(limit).try_for_each(|kept| {
            let text = self.status_of(kept);
            let status: Option<RunStatus> = text.as_deref().and_then(|status| serde_json::from_str(status).ok());
            let (stream, session) = (&kept.stream, &kept.stream.session);
            sink(&Listed {
                run: stream.id.to_string(),
                provider: stream.provider.name.to_owned(),
                state: status.as_ref().map_or_else(String::new, |status| status.state.as_str().to_owned()),
                frames: i64::try_from(kept.frames).unwrap_or(i64::MAX),
                started: status.map_or_else(String::new, |status| rfc3339_millis(status.started_at_ms)),
                session: if session.name.is_empty() { session.id.to_string() } else { session.name.to_string() },
                status: text.map(Cow::into_owned),
            })
        })
    }

    fn list_statuses(&self, limit: usize, sink: &mut dyn FnMut(&str) -> anyhow::Result<()>) -> anyhow::Result<()> {
        self.runs().filter_map(|kept| self.status_of(kept)).take(limit).try_for_each(|status| sink(&status))
    }

    fn count(&self, _with_status: bool) -> anyhow::Result<usize> {
        // A status that is not stored is derived from the frames.
        Ok(self.runs().count())
    }

    fn each_status(&self, sink: &mut dyn FnMut(Option<&str>)) -> anyhow::Result<()> {
        self.runs().for_each(|kept| sink(self.status_of(kept).as_deref()));
        Ok(())
    }

    fn verify(&self, out: &mut dyn Write) -> anyhow::Result<u8> {
        verify::run(self, out)
    }

    fn excerpt(&self, found: Found) -> Storage {
        let excerpt = Arc::new(Excerpt::of(self.log.clone(), vec![found.kept]));
        (excerpt.clone(), excerpt)
    }
}
