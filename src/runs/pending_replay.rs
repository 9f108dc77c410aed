//! Pending approval requests, sent again to readers that start after them.
//!
//! Input: where a reader starts. Output: the unchanged events of the approval requests before that point that are still
//! unanswered. Never: a cursor with them, so that a client that reconnects resumes where it was.

use super::view::Read;
use super::{Entry, FeedFollower, Reader, Runs, Wire};
use crate::log::LogError;
use bytes::Bytes;
use framegate_translators::contracts::{Contract, RECORDS, SseStyle};
use framegate_translators::encode::EncoderOptions;
use framegate_translators::frame::StreamKind;
use std::sync::Arc;

/// Maximum number of events for one frame.
const EVENTS: usize = 64;

/// The frames of the approval requests that are pending in a stream.
fn waiting(entry: &Entry) -> Vec<u64> {
    entry.status().approvals.iter().map(|waiting| waiting.seq).collect()
}

impl Runs {
    /// The events of a stream's pending approval requests that are before the event with number `before` and whose types are
    /// wanted; and how many they are.
    ///
    /// # Errors
    /// The log's error.
    pub async fn pending_replay(
        &self,
        entry: &Arc<Entry>,
        contract: &'static Contract,
        options: &EncoderOptions,
        before: u64,
        is_wanted: &(dyn Fn(&str) -> bool + Sync),
        wire: Wire,
    ) -> Result<(Bytes, u64), LogError> {
        let (mut out, mut events) = (Vec::new(), 0);
        if contract.name != RECORDS.name
            && let Some(mut reader) = self.reader(entry, contract, options)
        {
            for seq in waiting(entry) {
                events += self.replay_frame(&mut reader, seq, before, is_wanted, wire, &mut out).await?;
            }
        }
        Ok((Bytes::from(out), events))
    }

    /// Writes the events of one frame that are before the event with number `before`.
    async fn replay_frame(
        &self,
        reader: &mut Reader,
        seq: u64,
        before: u64,
        is_wanted: &(dyn Fn(&str) -> bool + Sync),
        wire: Wire,
        out: &mut Vec<u8>,
    ) -> Result<u64, LogError> {
        let from = reader.at_frame(self, seq, 0).await?;
        let read = Read { from, frames: seq + 1, max_bytes: usize::MAX, max_events: EVENTS };
        let (found, _) = reader.events(self, read).await?;
        let is_named = reader.contract().sse == SseStyle::Named;
        let mut events = 0;
        for (_, event) in (from..before).zip(found).filter(|(_, event)| is_wanted(event.kind)) {
            if wire == Wire::Sse {
                if is_named {
                    out.extend_from_slice(format!("event: {}\n", event.kind).as_bytes());
                }
                out.extend_from_slice(b"data: ");
            }
            out.extend_from_slice(&event.line);
            if wire == Wire::Sse {
                out.push(b'\n');
            }
            events += 1;
        }
        Ok(events)
    }
}

impl FeedFollower {
    /// The events of all pending approval requests that the reader may see and that are before its start position; and how many
    /// they are. Must be called before the first events are read.
    ///
    /// # Errors
    /// The log's error.
    pub async fn pending_replay(&mut self, wire: Wire) -> Result<(Bytes, u64), LogError> {
        let (runs, types) = (self.runs().clone(), self.types().map(<[String]>::to_vec));
        let is_wanted = |kind: &str| types.as_ref().is_none_or(|types| types.iter().any(|one| one == kind));
        let is_waiting = |status: &super::RunStatus| !status.approvals.is_empty() && !status.ended;
        let (mut out, mut events) = (Vec::new(), 0);
        for status in runs.list(&is_waiting, 0, usize::MAX) {
            let entry = runs.find((StreamKind::Session, status.run_id)).filter(|entry| self.sees(entry));
            let Some((entry, mut reader)) = entry.and_then(|entry| Some((entry.clone(), self.reader_of(&entry)?)))
            else {
                continue;
            };
            for seq in waiting(&entry) {
                if self.is_behind(entry.id(), seq) {
                    events += runs.replay_frame(&mut reader, seq, u64::MAX, &is_wanted, wire, &mut out).await?;
                }
            }
        }
        Ok((Bytes::from(out), events))
    }
}
