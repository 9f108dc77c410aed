//! Closes a stream that broke off, such as the open runs of a proxy that was killed.
//!
//! Input: the frames of one stream, read from the log. Output: the frames that close what they left open, numbered from where
//! the stream stopped. Never: a time before the stream's last frame (even if the clock was set back), or a frame after a
//! stream's end.

use super::{Normalizer, RunEnd, StreamState};
use crate::frame::{Body, Frame, SessionEnded, Stream, StreamKind, is_last};
use crate::saved;
use crate::sequence::Identity;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The code of a run that was open when the proxy stopped.
pub const PROXY_RESTARTED: &str = "proxy_restarted";

/// The code of a run that was open when its proxy was lost, and that another proxy closed.
pub const PROXY_LOST: &str = "proxy_lost";

/// The version of the saved state.
const STATE: u32 = 1;

/// What the frames of one stream left open.
#[derive(Debug)]
pub struct Reopened {
    stream: Arc<Stream>,
    left: SavedState,
}

/// The part that does not depend on the stream's identity.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedState {
    open: StreamState,
    next_seq: u64,
    last_ms: u64,
    ended: bool,
    /// The stream was read from frames, so each frame has a given id.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    has_given_ids: bool,
    /// How the run ended, if its last frame was still held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    end: Option<Box<SessionEnded>>,
}

impl Reopened {
    /// A stream in which nothing is open yet.
    pub fn new(stream: Arc<Stream>) -> Self {
        Self { stream, left: SavedState::default() }
    }

    /// Processes the stream's next frame.
    pub fn frame(&mut self, frame: &Frame) {
        let left = &mut self.left;
        left.next_seq = frame.seq + 1;
        left.last_ms = left.last_ms.max(frame.timestamp_ms);
        left.ended |= is_last(frame);
        left.has_given_ids |= frame.given_id.is_some();
        if let Body::ProviderEvent(record) = &frame.body
            && record.ends_run.is_some()
        {
            left.end.clone_from(&record.ends_run);
        }
        left.open.note(frame);
    }

    /// Whether the stream has already ended.
    pub fn is_over(&self) -> bool {
        self.left.ended
    }

    /// Serialises the state for [`Reopened::restore`], which may run in another process.
    pub fn save(&self) -> Vec<u8> {
        // The state consists of strings, numbers and lists, so it always has a JSON form.
        saved::save(STATE, &self.left).unwrap_or_default()
    }

    /// Restores the state after the frames that were processed before [`Reopened::save`]; `None` if another version saved it.
    pub fn restore(stream: Arc<Stream>, saved: &[u8]) -> Option<Self> {
        Some(Self { stream, left: saved::restore(STATE, saved)? })
    }

    /// How runs end that were open when the proxy stopped.
    pub fn restarted() -> RunEnd {
        RunEnd::interrupted(PROXY_RESTARTED, "the proxy stopped before the run ended")
    }

    /// Closes what is open, and the run or task itself, at `now_ms` (Unix epoch milliseconds) or at the time of the last frame,
    /// whichever is later. Returns no frames if the stream is over, or for a thread with nothing open.
    pub fn close(self, now_ms: u64) -> Vec<Frame> {
        self.end(now_ms, Self::restarted())
    }

    /// Like [`Reopened::close`], with another reason.
    pub fn end(self, now_ms: u64, end: RunEnd) -> Vec<Frame> {
        let SavedState { open, next_seq, last_ms, ended, has_given_ids, end: noted } = self.left;
        if ended {
            return Vec::new();
        }
        let identity = Identity { run_id: self.stream.id, session_id: None };
        let mut normalizer = Normalizer::new(self.stream.provider, identity);
        normalizer.time_ms = now_ms.max(last_ms);
        if has_given_ids {
            normalizer.give_ids();
        }
        let kind = self.stream.kind;
        let key = normalizer.sequencer.resume(self.stream, next_seq, last_ms);
        normalizer.open.insert(key, open);
        let why = end.message.clone().unwrap_or_default();
        match kind {
            StreamKind::Session => {
                normalizer.runs.insert(key);
                let noted = noted.map(|end| {
                    let SessionEnded { reason, final_text, error_code, message } = *end;
                    RunEnd { reason, final_text, error_code, message }
                });
                normalizer.end_run(key, noted.unwrap_or(end));
                normalizer.release_ends();
            }
            StreamKind::Task => {
                normalizer.close_all(key, &why);
                normalizer.end_task(key, &why);
            }
            StreamKind::Thread | StreamKind::Artifact => normalizer.close_all(key, &why),
        }
        normalizer.take().collect()
    }
}
