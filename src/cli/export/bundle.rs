//! The runs of an exported file, as the page reads them.
//!
//! Input: runs, whose events pass the gate as they do in a proxy. Output: JSON with the status, the frames, perhaps a trace, and the
//! artifacts of each run. Never: more bytes than the limit; a part that is left out and not counted; an artifact of another run.

use crate::artifacts::Key;
use crate::runs::{Ask, Entry, RunStatus, Runs, TraceAsk, Traced, Wire};
use anyhow::{Context, anyhow};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use framegate_translators::contracts::{Contract, FRAMES};
use framegate_translators::encode::EncoderOptions;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many frames are read at a time.
const AT_ONCE: usize = 256;

/// The form of the JSON.
const FORMAT: &str = "framegate.export.v1";

/// The contract of the traces.
pub(super) struct Wanted {
    pub(super) contract: &'static Contract,
    pub(super) options: EncoderOptions,
}

/// What is exported.
#[derive(Serialize)]
pub(super) struct Bundle {
    format: &'static str,
    generator: &'static str,
    runs: Vec<Run>,
    artifacts: BTreeMap<String, Content>,
    left_out_artifacts: Vec<String>,
    #[serde(skip)]
    wanted: Option<Wanted>,
    /// The limit, and what is left of it, in bytes.
    #[serde(skip)]
    room: (usize, usize),
}

#[derive(Serialize)]
struct Run {
    status: RunStatus,
    frames: Vec<Box<RawValue>>,
    /// How many of the last frames are missing because of the limit.
    left_out_frames: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Trace>,
}

#[derive(Serialize)]
struct Trace {
    contract: &'static str,
    items: Vec<Traced>,
    /// Whether the rules between events were checked on all items.
    rules_checked: bool,
    /// How many of the frames that are there are not traced because of the limit.
    left_out_items: u64,
}

#[derive(Serialize)]
struct Content {
    mime_type: String,
    base64: String,
}

impl Bundle {
    /// Starts without runs. `max_bytes` bounds the frames, events and artifacts together.
    pub(super) fn new(wanted: Option<Wanted>, max_bytes: usize) -> Self {
        Self {
            format: FORMAT,
            generator: concat!("framegate ", env!("CARGO_PKG_VERSION")),
            runs: Vec::new(),
            artifacts: BTreeMap::new(),
            left_out_artifacts: Vec::new(),
            wanted,
            room: (max_bytes, max_bytes),
        }
    }

    /// Adds a run, unless it is there already.
    ///
    /// # Errors
    /// It cannot be read.
    pub(super) async fn add(&mut self, runs: &Runs, entry: &Arc<Entry>) -> anyhow::Result<()> {
        let status = entry.status().clone();
        if self.runs.iter().any(|run| run.status.run_id == status.run_id) {
            return Ok(());
        }
        let (frames, left_out_frames, artifacts) = self.frames(runs, entry).await?;
        let trace = self.trace(runs, entry, frames.len()).await?;
        self.runs.push(Run { status, frames, left_out_frames, trace });
        for id in artifacts {
            self.artifact(runs, id).await?;
        }
        Ok(())
    }

    /// Takes room for a part; `false` if there is not enough.
    fn take(&mut self, bytes: usize) -> bool {
        let left = self.room.1.checked_sub(bytes);
        self.room.1 = left.unwrap_or(self.room.1);
        left.is_some()
    }

    /// The frames, the number of those that are left out, and the ids of the artifacts.
    async fn frames(
        &mut self,
        runs: &Runs,
        entry: &Arc<Entry>,
    ) -> anyhow::Result<(Vec<Box<RawValue>>, u64, Vec<String>)> {
        #[derive(Deserialize)]
        struct Seen {
            r#type: String,
            artifact_id: Option<String>,
        }
        let mut reader = runs.reader(entry, FRAMES, &EncoderOptions::default()).context("the run has no frames")?;
        let all = entry.tail().borrow().frames;
        let (mut frames, mut artifacts, mut from) = (Vec::new(), Vec::new(), 0);
        loop {
            let ask =
                Ask { from, frames: all, wire: Wire::Ndjson, max_bytes: usize::MAX, max_events: AT_ONCE, types: None };
            let batch = reader.read(runs, ask).await?;
            if batch.next <= from {
                return Ok((frames, 0, artifacts));
            }
            let mut number = batch.next - batch.events;
            for line in batch.chunks.iter().flat_map(|chunk| chunk.split(|byte| *byte == b'\n')) {
                if line.is_empty() {
                    continue;
                }
                if !self.take(line.len()) {
                    return Ok((frames, all - number, artifacts));
                }
                let text = String::from_utf8_lossy(line).into_owned();
                if memchr::memmem::find(line, b"\"artifact_written\"").is_some()
                    && let Ok(Seen { r#type, artifact_id: Some(id) }) = serde_json::from_str(&text)
                    && r#type == "artifact_written"
                {
                    artifacts.push(id);
                }
                frames.push(RawValue::from_string(text)?);
                number += 1;
            }
            from = batch.next;
        }
    }

    /// The trace of the first `frames` frames that are kept.
    async fn trace(&mut self, runs: &Runs, entry: &Arc<Entry>, frames: usize) -> anyhow::Result<Option<Trace>> {
        let Some(Wanted { contract, options }) = &self.wanted else { return Ok(None) };
        let contract = *contract;
        let reader = runs.reader(entry, contract, options);
        let mut reader = reader.ok_or_else(|| anyhow!("{} has no events for the run", contract.name))?;
        let mut trace = Trace { contract: contract.name, items: Vec::new(), rules_checked: true, left_out_items: 0 };
        let mut from = 0;
        loop {
            let max_frames = frames.saturating_sub(trace.items.len()).min(AT_ONCE);
            if max_frames == 0 {
                return Ok(Some(trace));
            }
            let page = reader.trace(runs, TraceAsk { from, max_frames, max_bytes: usize::MAX }).await?;
            let Some(last) = page.items.last() else { return Ok(Some(trace)) };
            from = last.seq + 1;
            trace.rules_checked &= page.rules_checked;
            for mut item in page.items {
                // The frame is there already.
                item.frame = None;
                if !self.take(serde_json::to_vec(&item)?.len()) {
                    trace.left_out_items = (frames - trace.items.len()) as u64;
                    return Ok(Some(trace));
                }
                trace.items.push(item);
            }
        }
    }

    async fn artifact(&mut self, runs: &Runs, id: String) -> anyhow::Result<()> {
        if self.artifacts.contains_key(&id) || self.left_out_artifacts.contains(&id) {
            return Ok(());
        }
        let found = match (runs.artifacts(), Key::parse(&id)) {
            (Some(store), Some(key)) => store.get(key).await?,
            _ => None,
        };
        match found {
            Some(artifact) if self.take(artifact.content.len().div_ceil(3) * 4) => {
                let content =
                    Content { mime_type: artifact.mime.to_string(), base64: STANDARD.encode(&artifact.content) };
                self.artifacts.insert(id, content);
            }
            _ => self.left_out_artifacts.push(id),
        }
        Ok(())
    }

    /// What is left out, as lines for people.
    pub(super) fn left_out(&self) -> Vec<String> {
        let limit = self.room.0;
        let mut lines = Vec::new();
        for run in &self.runs {
            let id = run.status.run_id;
            if run.left_out_frames > 0 {
                let left = run.left_out_frames;
                lines.push(format!(
                    "run {id}: the last {left} frames are left out; the limit is {limit} bytes (--max-bytes)"
                ));
            }
            if run.status.pruned_frames > 0 {
                let gone = run.status.pruned_frames;
                lines.push(format!("run {id}: the first {gone} frames are missing; the log no longer has them"));
            }
            if let Some(trace) = run.trace.as_ref().filter(|trace| trace.left_out_items > 0) {
                let (left, contract) = (trace.left_out_items, trace.contract);
                lines.push(format!(
                    "run {id}: the events of the last {left} frames in {contract} are left out; the limit is {limit} bytes \
                     (--max-bytes)"
                ));
            }
        }
        if !self.left_out_artifacts.is_empty() {
            let left = self.left_out_artifacts.len();
            lines.push(format!(
                "{left} artifacts are left out: they are no longer stored, or beyond the limit of {limit} bytes (--max-bytes)"
            ));
        }
        lines
    }

    /// The JSON. It has no `<`, so that nothing in it can end the element that contains it, or begin another.
    ///
    /// # Errors
    /// It cannot be written as JSON (cannot happen).
    pub(super) fn json(&self) -> serde_json::Result<String> {
        // Outside of strings, JSON has no `<`.
        Ok(serde_json::to_string(self)?.replace('<', "\\u003c"))
    }
}
