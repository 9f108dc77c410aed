//! The events of a run that are there already.
//!
//! Input: a run and a contract. Output: each event as JSON, from the first one on. Never: waiting for an event; more than a few hundred
//! events in memory.

use super::events::unreadable;
use super::problem::Problem;
use super::shared::Shared;
use crate::runs::{Ask, Entry, Wire};
use framegate_translators::contracts::{Contract, FRAMES};
use hyper::StatusCode;
use serde::Deserialize;
use std::sync::Arc;

/// How many events are read at a time.
const AT_ONCE: usize = 256;

/// How many frames at the beginning of a run may precede the prompt.
const BEFORE_PROMPT: u64 = 256;

/// Calls `take` with the number and the JSON of every event before number `until`, as long as it says that it wants more. Returns the
/// number of the event that follows the last one.
///
/// # Errors
/// The events cannot be read; 410 if the first ones are no longer stored.
pub(super) async fn each(
    entry: &Arc<Entry>,
    contract: &'static Contract,
    until: Option<u64>,
    shared: &Shared,
    take: impl FnMut(u64, &[u8]) -> bool,
) -> Result<u64, Problem> {
    read(entry, contract, until, false, shared, take).await
}

/// The same for all events that are still stored.
///
/// # Errors
/// The events cannot be read.
pub(super) async fn each_kept(
    entry: &Arc<Entry>,
    contract: &'static Contract,
    shared: &Shared,
    take: impl FnMut(u64, &[u8]) -> bool,
) -> Result<u64, Problem> {
    read(entry, contract, None, true, shared, take).await
}

async fn read(
    entry: &Arc<Entry>,
    contract: &'static Contract,
    until: Option<u64>,
    skips_gap: bool,
    shared: &Shared,
    mut take: impl FnMut(u64, &[u8]) -> bool,
) -> Result<u64, Problem> {
    let reader = shared.runs.reader(entry, contract, &shared.settings.encoder);
    let mut reader = reader.ok_or_else(|| {
        Problem::new(StatusCode::INTERNAL_SERVER_ERROR, format!("the run has no events in {}", contract.name))
    })?;
    let frames = entry.tail().borrow().frames;
    let mut from = 0;
    loop {
        let left = until.map_or(AT_ONCE as u64, |until| until.saturating_sub(from));
        let max_events = usize::try_from(left).unwrap_or(AT_ONCE).min(AT_ONCE);
        if max_events == 0 {
            return Ok(from);
        }
        let ask = Ask { from, frames, wire: Wire::Ndjson, max_bytes: usize::MAX, max_events, types: None };
        let batch = reader.read(&shared.runs, ask).await.map_err(|error| unreadable(&error))?;
        if batch.lost && !skips_gap {
            let detail = "the beginning of the run is no longer stored (log.run_max_bytes)";
            return Err(Problem::new(StatusCode::GONE, detail));
        }
        if batch.next <= from {
            return Ok(from);
        }
        let lines = batch.chunks.iter().flat_map(|chunk| chunk.split(|&byte| byte == b'\n'));
        for (number, line) in (from..).zip(lines.filter(|line| !line.is_empty())) {
            if !take(number, line) {
                return Ok(number + 1);
            }
        }
        from = batch.next;
    }
}

/// The prompt of a run; empty if the runner did not report it.
pub(super) async fn prompt_of(entry: &Arc<Entry>, shared: &Shared) -> Result<String, Problem> {
    #[derive(Deserialize)]
    struct Seen {
        #[serde(rename = "type")]
        kind: String,
        #[serde(default)]
        input: String,
        #[serde(default)]
        text: String,
    }
    let mut prompt = String::new();
    let look = |_, event: &[u8]| {
        let Ok(seen) = serde_json::from_slice::<Seen>(event) else { return true };
        match seen.kind.as_str() {
            "session_started" => prompt = seen.input,
            "user_message" => prompt = seen.text,
            "output_text_delta" | "reasoning_delta" | "tool_started" => return false,
            _ => {}
        }
        prompt.is_empty()
    };
    each(entry, FRAMES, Some(BEFORE_PROMPT), shared, look).await?;
    Ok(prompt)
}
