//! A frame log in memory: fast, bounded, gone with the process.
//!
//! Where it is full, whole streams go, the one that ended first before the others; a stream that is still open stays, and so does
//! one that the append itself goes on with.

use super::ended::{Ended, full_of};
use super::{ByStream, FrameLog, Gone, LogError, Mark, StreamId, Summary, stream_id, weight};
use async_trait::async_trait;
use framegate_translators::frame::{Frame, StreamKind};
use framegate_translators::pipeline::is_last;
use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// See the module.
#[derive(Debug)]
pub struct MemoryLog {
    max_bytes: u64,
    max_runs: usize,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    streams: ByStream<Kept>,
    ended: Ended,
    dropped: Vec<StreamId>,
    bytes: u64,
}

#[derive(Debug, Default)]
struct Kept {
    frames: VecDeque<Arc<Frame>>,
    /// How many were dropped in front of them.
    gone: u64,
    bytes: u64,
}

impl MemoryLog {
    /// An empty log that keeps about `max_bytes` of frames, and `max_runs` streams that are over.
    pub fn new(max_bytes: u64, max_runs: usize) -> Self {
        Self { max_bytes, max_runs, held: Mutex::default() }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // A panic under the lock would leave at worst a count that is off; frames are whole or absent.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// Drops streams that are over until there is room, but none of those frames.
    fn make_room(&mut self, bytes: u64, max_bytes: u64, max_runs: usize, spared: &[Arc<Frame>]) {
        if self.bytes + bytes <= max_bytes && self.ended.len() <= max_runs {
            return;
        }
        let spared: HashSet<StreamId> = spared.iter().map(|frame| stream_id(frame)).collect();
        while self.bytes + bytes > max_bytes || self.ended.len() > max_runs {
            let Some(oldest) = self.ended.iter().find(|id| !spared.contains(id)) else { return };
            self.ended.remove(oldest);
            if let Some(kept) = self.streams.remove(&oldest) {
                self.bytes -= kept.bytes;
                self.dropped.push(oldest);
            }
        }
    }

    /// Whether the frames follow on what is kept.
    fn follows(&self, frames: &[Arc<Frame>]) -> Result<(), LogError> {
        let mut ends: ByStream<u64> = ByStream::default();
        for frame in frames {
            let id = stream_id(frame);
            let end = |kept: &Kept| kept.gone + kept.frames.len() as u64;
            let expected = ends.entry(id).or_insert_with(|| self.streams.get(&id).map_or(0, end));
            if frame.seq != *expected {
                return Err(LogError::Sequence { stream: id.1, expected: *expected, found: frame.seq });
            }
            *expected += 1;
        }
        Ok(())
    }
}

#[async_trait]
impl FrameLog for MemoryLog {
    async fn append(&self, frames: &[Arc<Frame>], _: Vec<Summary>) -> Result<(), LogError> {
        let more: u64 = frames.iter().map(|frame| weight(frame)).sum();
        let mut held = self.held();
        held.follows(frames)?;
        held.make_room(more, self.max_bytes, self.max_runs, frames);
        // The last frames of a run always find room: without them its readers would wait for ever.
        let closing = frames.iter().any(|frame| is_last(frame));
        if held.bytes + more > self.max_bytes && !closing {
            return Err(LogError::Full { bytes: held.bytes, limit: self.max_bytes });
        }
        held.bytes += more;
        for frame in frames {
            let id = stream_id(frame);
            let kept = held.streams.entry(id).or_default();
            kept.bytes += weight(frame);
            kept.frames.push_back(frame.clone());
            if is_last(frame) && id.0 != StreamKind::Thread {
                held.ended.push(id);
            } else {
                held.ended.remove(id);
            }
        }
        // A run counts as soon as it is over; its bytes only when others need the room, so that it can still be read.
        held.make_room(0, u64::MAX, self.max_runs, &[]);
        Ok(())
    }

    async fn read(&self, stream: StreamId, from: u64, max: usize) -> Result<Vec<Arc<Frame>>, LogError> {
        let held = self.held();
        let Some(kept) = held.streams.get(&stream) else { return Ok(Vec::new()) };
        let from = usize::try_from(from.saturating_sub(kept.gone)).unwrap_or(usize::MAX).min(kept.frames.len());
        Ok(kept.frames.range(from..).take(max).cloned().collect())
    }

    async fn drop_front(&self, stream: StreamId, gone: Gone, _: Vec<Mark>) -> Result<(), LogError> {
        let mut held = self.held();
        let Held { streams, bytes, .. } = &mut *held;
        let Some(kept) = streams.get_mut(&stream) else { return Ok(()) };
        while kept.gone < gone.frames
            && let Some(frame) = kept.frames.pop_front()
        {
            kept.gone += 1;
            kept.bytes -= weight(&frame);
            *bytes -= weight(&frame);
        }
        if kept.frames.len() < kept.frames.capacity() / 4 {
            kept.frames.shrink_to(kept.frames.len() * 2);
        }
        Ok(())
    }

    async fn front_beyond(&self, stream: StreamId, max_bytes: u64) -> Result<u64, LogError> {
        let held = self.held();
        let Some(kept) = held.streams.get(&stream) else { return Ok(0) };
        let (mut first, mut bytes) = (kept.gone, kept.bytes);
        for frame in kept.frames.iter().take(kept.frames.len().saturating_sub(1)) {
            if bytes <= max_bytes {
                break;
            }
            bytes -= weight(frame);
            first += 1;
        }
        Ok(first)
    }

    async fn check_writable(&self) -> Result<(), LogError> {
        let held = self.held();
        let over = held.ended.iter().map(|id| held.streams.get(&id).map_or(0, |kept| kept.bytes));
        match full_of(held.bytes, self.max_bytes, over) {
            Some(bytes) => Err(LogError::Full { bytes, limit: self.max_bytes }),
            None => Ok(()),
        }
    }

    async fn usage(&self) -> Option<(u64, u64)> {
        let held = self.held();
        Some((held.bytes, held.streams.len() as u64))
    }

    async fn take_dropped(&self) -> Vec<StreamId> {
        std::mem::take(&mut self.held().dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::framing::Limits;
    use framegate_translators::pipeline::Ingest;
    use framegate_translators::runners::runner;
    use framegate_translators::sequence::Identity;
    use uuid::Uuid;

    #[tokio::test]
    async fn a_log_full_of_open_runs_takes_nothing_more_until_one_is_over() {
        let identity = Identity { run_id: Uuid::from_u128(1), session_id: None };
        let mut ingest = Ingest::new(runner("claude-code").unwrap(), None, Limits::default(), identity);
        let bytes = include_bytes!("../../tests/fixtures/claude-code/text_plain.ndjson");
        let mut frames: Vec<_> = ingest.feed(bytes, 1).map(Arc::new).collect();
        let last = frames.iter().position(|frame| is_last(frame)).unwrap();
        let ending = frames.split_off(last);
        let bytes: u64 = frames.iter().map(|frame| weight(frame)).sum();
        let log = MemoryLog::new(bytes, 10);
        assert!(log.check_writable().await.is_ok());
        log.append(&frames, Vec::new()).await.unwrap();
        assert_eq!(log.usage().await, Some((bytes, 1)));
        assert!(matches!(log.check_writable().await, Err(LogError::Full { limit, .. }) if limit == bytes));
        log.append(&ending, Vec::new()).await.unwrap();
        assert!(log.check_writable().await.is_ok());
    }
}
