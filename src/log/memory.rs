//! A frame log in memory: fast, bounded, gone when the process ends.
//!
//! If it is full, whole streams are dropped ([`Room`] decides which); an open run stays.

use super::room::{Room, RoomBounds};
use super::{ByStream, Checkpoint, FrameLog, Gone, LogError, Order, Place, StreamId, Summary, stream_id, weight};
use crate::clock::Clock;
use async_trait::async_trait;
use framegate_translators::frame::Frame;
use framegate_translators::pipeline::is_last;
use sha2::{Digest, Sha256};
use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A bounded frame log in memory.
#[derive(Debug)]
pub struct MemoryLog {
    max_age: Option<Duration>,
    clock: Clock,
    /// The key of feed cursors. It is random, so cursors of another process are rejected.
    secret: [u8; 32],
    held: Mutex<Held>,
}

#[derive(Debug)]
struct Held {
    streams: ByStream<Kept>,
    room: Room,
    dropped: Vec<StreamId>,
    /// The position of the next frame.
    next_position: u64,
}

#[derive(Debug, Default)]
struct Kept {
    frames: VecDeque<Arc<Frame>>,
    /// How many frames were pruned before them.
    gone: u64,
    bytes: u64,
    /// When the last append was, in Unix epoch milliseconds.
    stored_ms: u64,
}

impl MemoryLog {
    /// Creates an empty log that keeps about `max_bytes` of frames, and `max_runs` ended runs, as many tasks, and as many
    /// threads.
    pub fn new(max_bytes: u64, max_runs: usize) -> Self {
        let room = Room::new(RoomBounds { max_bytes, max_streams: max_runs });
        let held = Held { streams: ByStream::default(), room, dropped: Vec::new(), next_position: 1 };
        // Each id has 74 random bits.
        let random = (0..4).fold(Sha256::new(), |random, _| random.chain_update(Clock::System.new_id().as_bytes()));
        let secret = random.finalize().into();
        Self { max_age: None, clock: Clock::System, secret, held: Mutex::new(held) }
    }

    /// Drops idle streams `max_age` after the last append to them. Open runs stay.
    #[must_use]
    pub fn with_max_age(self, max_age: Option<Duration>, clock: Clock) -> Self {
        Self { max_age, clock, ..self }
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // If a panic poisoned the lock, at worst a counter is wrong; frames are complete or absent.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// Drops idle streams until there is room. Streams of `frames` are dropped only if no other is left.
    fn make_room(&mut self, bytes: u64, frames: &[Arc<Frame>]) {
        if !self.room.is_beyond(bytes) {
            return;
        }
        let spared: HashSet<StreamId> = frames.iter().map(|frame| stream_id(frame)).collect();
        while let Some(oldest) = self.room.next_to_go(bytes, &[], &spared) {
            self.forget(oldest);
        }
    }

    fn forget(&mut self, stream: StreamId) {
        self.room.remove(stream);
        if self.streams.remove(&stream).is_some() {
            self.dropped.push(stream);
        }
    }

    /// Checks that the frames follow the kept ones.
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
    async fn append(&self, frames: &[Arc<Frame>], _: Vec<Summary>) -> Result<Place, LogError> {
        let more: u64 = frames.iter().map(|frame| weight(frame)).sum();
        let now_ms = self.clock.now_ms();
        let mut held = self.held();
        held.follows(frames)?;
        if let Some(full) = held.room.refuses(more, frames.iter().any(|frame| is_last(frame))) {
            return Err(full);
        }
        held.make_room(more, frames);
        // If no other stream was left, the stream that the append continues may have been dropped: then its numbers do not
        // follow.
        held.follows(frames)?;
        for group in frames.chunk_by(|one, other| stream_id(one) == stream_id(other)) {
            let Some((first, last)) = group.first().zip(group.last()) else { continue };
            let id = stream_id(first);
            let Held { streams, room, .. } = &mut *held;
            let kept = streams.entry(id).or_default();
            kept.bytes += group.iter().map(|frame| weight(frame)).sum::<u64>();
            kept.frames.extend(group.iter().cloned());
            kept.stored_ms = now_ms;
            room.grown(id, kept.bytes, is_last(last));
        }
        // An ended run counts at once towards the number of runs. Its bytes are only freed when others need the room, so that
        // it can still be read.
        held.make_room(0, &[]);
        let first = held.next_position;
        held.next_position += frames.len() as u64;
        Ok(Place { first, behind: held.next_position })
    }

    fn order(&self) -> Order {
        Order { secret: self.secret, next: self.held().next_position, ..Order::default() }
    }

    async fn read(&self, stream: StreamId, from: u64, max: usize) -> Result<Vec<Arc<Frame>>, LogError> {
        let held = self.held();
        let kept = held.streams.get(&stream).ok_or(LogError::Dropped { stream: stream.1 })?;
        let from = usize::try_from(from.saturating_sub(kept.gone)).unwrap_or(usize::MAX).min(kept.frames.len());
        Ok(kept.frames.range(from..).take(max).cloned().collect())
    }

    async fn prune(&self, stream: StreamId, gone: Gone, _: Vec<Checkpoint>) -> Result<(), LogError> {
        let mut held = self.held();
        let Held { streams, room, .. } = &mut *held;
        let Some(kept) = streams.get_mut(&stream) else { return Ok(()) };
        while kept.gone < gone.frames
            && let Some(frame) = kept.frames.pop_front()
        {
            kept.gone += 1;
            kept.bytes -= weight(&frame);
        }
        room.cut(stream, kept.bytes);
        if kept.frames.len() < kept.frames.capacity() / 4 {
            kept.frames.shrink_to(kept.frames.len() * 2);
        }
        Ok(())
    }

    async fn first_within(&self, stream: StreamId, max_bytes: u64) -> Result<u64, LogError> {
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
        self.held().room.refuses(1, false).map_or(Ok(()), Err)
    }

    async fn make_room(&self) {
        self.held().make_room(0, &[]);
    }

    async fn usage(&self) -> Option<(u64, u64)> {
        let held = self.held();
        Some((held.room.bytes(), held.room.len() as u64))
    }

    async fn drop_stream(&self, stream: StreamId) -> Result<(), LogError> {
        self.held().forget(stream);
        Ok(())
    }

    async fn drop_aged(&self) {
        let Some(max_age) = self.max_age else { return };
        let before_ms = self.clock.now_ms().saturating_sub(u64::try_from(max_age.as_millis()).unwrap_or(u64::MAX));
        let mut held = self.held();
        let is_old = |id: &StreamId| held.streams.get(id).is_some_and(|kept| kept.stored_ms < before_ms);
        let old: Vec<StreamId> = held.room.idle().filter(is_old).collect();
        old.into_iter().for_each(|id| held.forget(id));
    }

    async fn take_dropped(&self) -> Vec<StreamId> {
        std::mem::take(&mut self.held().dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::frame::{Stream, StreamKind};
    use framegate_translators::framing::Limits;
    use framegate_translators::pipeline::Ingest;
    use framegate_translators::runners::runner;
    use framegate_translators::sequence::Identity;
    use uuid::Uuid;

    #[tokio::test]
    async fn a_log_full_of_open_runs_accepts_nothing_until_one_ends() {
        let identity = Identity { run_id: Uuid::from_u128(1), session_id: None };
        let mut ingest = Ingest::new(runner("claude-code").unwrap(), None, Limits::default(), identity);
        let bytes = include_bytes!("../../tests/fixtures/claude-code/text_plain.ndjson");
        let mut frames: Vec<_> = ingest.feed(bytes, 1).map(Arc::new).collect();
        frames.extend(ingest.finish(1).map(Arc::new));
        let last = frames.iter().position(|frame| is_last(frame)).unwrap();
        let ending = frames.split_off(last);
        let bytes: u64 = frames.iter().map(|frame| weight(frame)).sum();
        // Seven eighths of it are for open runs.
        let max_bytes = bytes * 8 / 7;
        let log = MemoryLog::new(max_bytes, 10);
        assert!(log.check_writable().await.is_ok());
        log.append(&frames, Vec::new()).await.unwrap();
        assert_eq!(log.usage().await, Some((bytes, 1)));
        assert!(matches!(log.check_writable().await, Err(LogError::Full { limit, .. }) if limit == max_bytes));
        log.append(&ending, Vec::new()).await.unwrap();
        assert!(log.check_writable().await.is_ok());
    }

    #[tokio::test]
    async fn aged_streams_of_any_kind_are_dropped_and_open_runs_stay() {
        let identity = Identity { run_id: Uuid::from_u128(1), session_id: None };
        let mut ingest = Ingest::new(runner("claude-code").unwrap(), None, Limits::default(), identity);
        let bytes = include_bytes!("../../tests/fixtures/claude-code/text_plain.ndjson");
        let mut frames: Vec<_> = ingest.feed(bytes, 1).collect();
        frames.extend(ingest.finish(1));
        let run: Vec<_> = frames.into_iter().map(Arc::new).filter(|frame| frame.stream.id.as_u128() == 1).collect();
        let Stream { session, origin_run, provider, .. } = &*run[0].stream;
        let (kind, id, session) = (StreamKind::Thread, Uuid::from_u128(2), session.clone());
        let stream = Arc::new(Stream { kind, id, session, origin_run: *origin_run, provider: *provider });
        let thread = [Arc::new(Frame { stream, ..Frame::clone(run.iter().find(|frame| !is_last(frame)).unwrap()) })];
        let ids = [stream_id(&thread[0]), stream_id(&run[0])];
        let there = async |log: &MemoryLog| {
            let mut there = Vec::new();
            for id in ids {
                there.push(log.read(id, 0, 1).await.is_ok_and(|frames| !frames.is_empty()));
            }
            there
        };
        let aged = |now_ms| (Some(Duration::from_secs(1)), Clock::Fixed(now_ms));
        for (is_over, left) in [(false, [false, true]), (true, [false, false])] {
            let (max_age, clock) = aged(1_000);
            let mut log = MemoryLog::new(1 << 20, 10).with_max_age(max_age, clock);
            let end = run.iter().position(|frame| is_last(frame)).unwrap();
            log.append(&run[..end + usize::from(is_over)], Vec::new()).await.unwrap();
            log.append(&thread, Vec::new()).await.unwrap();
            (log.max_age, log.clock) = aged(2_000);
            log.drop_aged().await;
            assert_eq!(there(&log).await, [true, true]);
            (log.max_age, log.clock) = aged(2_001);
            log.drop_aged().await;
            assert_eq!(there(&log).await, left);
        }
    }
}
