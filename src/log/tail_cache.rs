//! The latest frames in memory, for live readers.
//!
//! Input: kept frames. Output: consecutive frames of a stream from a number on, if that frame is here. Never: a frame that is
//! not in the log, a frame after a gap, or more bytes than the limit.
//!
//! A reader that follows a run wants the newest frames: here it gets them without a query, and without a blocking thread.

use super::weight;
use framegate_translators::frame::Frame;
use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Maximum number of parts. Pruning can leave parts without any frame.
const PARTS: usize = 16 << 10;

/// The latest frames, by the keys of their streams.
#[derive(Debug)]
pub(super) struct TailCache<K> {
    max_bytes: u64,
    held: Mutex<Held<K>>,
}

#[derive(Debug)]
struct Held<K> {
    streams: HashMap<K, VecDeque<Arc<Frame>>>,
    /// For each added part its stream and last frame; the oldest part is first.
    parts: VecDeque<(K, u64)>,
    bytes: u64,
}

impl<K> Default for Held<K> {
    fn default() -> Self {
        Self { streams: HashMap::default(), parts: VecDeque::default(), bytes: 0 }
    }
}

impl<K> Default for TailCache<K> {
    fn default() -> Self {
        Self { max_bytes: 0, held: Mutex::default() }
    }
}

impl<K: Copy + Eq + Hash> TailCache<K> {
    /// Keeps at most about that many bytes of frames.
    pub(super) fn new(max_bytes: u64) -> Self {
        Self { max_bytes, held: Mutex::default() }
    }

    fn held(&self) -> MutexGuard<'_, Held<K>> {
        // If a panic poisoned the lock, at worst a counter is wrong; frames are complete or absent.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds consecutive frames of a stream that were kept.
    pub(super) fn add(&self, key: K, frames: &[Arc<Frame>]) {
        let Some((first, last)) = frames.first().zip(frames.last()).filter(|_| self.max_bytes > 0) else { return };
        let mut held = self.held();
        let follows = held.streams.get(&key).and_then(VecDeque::back).is_none_or(|back| back.seq + 1 == first.seq);
        if !follows {
            // The appender of the frames in between was cancelled before it could add them.
            held.forget(key);
        }
        held.streams.entry(key).or_default().extend(frames.iter().cloned());
        held.parts.push_back((key, last.seq));
        held.bytes += frames.iter().map(|frame| weight(frame)).sum::<u64>();
        while (held.bytes > self.max_bytes || held.parts.len() > PARTS)
            && let Some((key, last)) = held.parts.pop_front()
        {
            held.drop_front(key, last + 1);
        }
    }

    /// The frames of a stream from `from` on, at most `max`; `None` if the frame `from` is not here.
    pub(super) fn read(&self, key: K, from: u64, max: usize) -> Option<Vec<Arc<Frame>>> {
        let held = self.held();
        let frames = held.streams.get(&key)?;
        let (first, last) = frames.front().zip(frames.back())?;
        if from < first.seq || last.seq < from {
            return None;
        }
        let skip = usize::try_from(from - first.seq).ok()?;
        Some(frames.range(skip..).take(max).cloned().collect())
    }

    /// Removes the frames before that number, which were pruned.
    pub(super) fn drop_front(&self, key: K, to: u64) {
        self.held().drop_front(key, to);
    }

    /// Removes a dropped stream.
    pub(super) fn forget(&self, key: K) {
        self.held().forget(key);
    }
}

impl<K: Copy + Eq + Hash> Held<K> {
    fn drop_front(&mut self, key: K, to: u64) {
        let Some(frames) = self.streams.get_mut(&key) else { return };
        while let Some(frame) = frames.pop_front_if(|frame| frame.seq < to) {
            self.bytes -= weight(&frame);
        }
        if frames.is_empty() {
            self.streams.remove(&key);
        } else if frames.len() < frames.capacity() / 4 {
            frames.shrink_to(frames.len() * 2);
        }
    }

    fn forget(&mut self, key: K) {
        if self.streams.contains_key(&key) {
            self.drop_front(key, u64::MAX);
            self.parts.retain(|(of, _)| *of != key);
        }
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

    fn frames() -> Vec<Arc<Frame>> {
        let identity = Identity { run_id: Uuid::from_u128(1), session_id: None };
        let mut ingest = Ingest::new(runner("claude-code").unwrap(), None, Limits::default(), identity);
        let bytes = include_bytes!("../../tests/fixtures/claude-code/text_plain.partial.ndjson");
        let mut frames: Vec<_> = ingest.feed(bytes, 1).map(Arc::new).collect();
        frames.extend(ingest.finish(1).map(Arc::new));
        frames.retain(|frame| frame.stream.id == Uuid::from_u128(1));
        frames
    }

    fn numbers(found: Option<Vec<Arc<Frame>>>) -> Option<Vec<u64>> {
        found.map(|frames| frames.iter().map(|frame| frame.seq).collect())
    }

    fn bytes(frames: &[Arc<Frame>]) -> u64 {
        frames.iter().map(|frame| weight(frame)).sum()
    }

    #[test]
    fn the_oldest_part_is_evicted_at_one_byte_over_the_bound() {
        let frames = frames();
        let (one, two, three) = (&frames[..3], &frames[3..5], &frames[5..9]);
        for too_much in [0, 1] {
            let cache = TailCache::new(bytes(&frames[..9]) - too_much);
            cache.add(1, one);
            cache.add(2, two);
            cache.add(1, &frames[3..5]);
            assert_eq!(numbers(cache.read(1, 0, 10)), Some(vec![0, 1, 2, 3, 4]));
            cache.forget(1);
            assert_eq!(numbers(cache.read(1, 0, 10)), None);
            cache.forget(2);
            assert_eq!(cache.held().bytes, 0);
            [one, two, three].iter().for_each(|part| cache.add(1, part));
            let first = if too_much == 0 { 0 } else { 3 };
            assert_eq!(cache.held().bytes, bytes(&frames[first..9]));
            assert_eq!(numbers(cache.read(1, 4, 3)), Some(vec![4, 5, 6]));
            assert!(cache.read(1, first as u64, 1).is_some());
            assert!(first == 0 || cache.read(1, first as u64 - 1, 1).is_none());
            // Frames after the last one here may still be in the database.
            assert!(cache.read(1, 9, 1).is_none());
        }
    }

    #[test]
    fn a_part_larger_than_the_bound_is_not_cached() {
        let frames = frames();
        let cache = TailCache::new(bytes(&frames) - 1);
        cache.add(1, &frames);
        assert!(cache.read(1, 0, 1).is_none());
        assert!(cache.held().bytes == 0 && cache.held().streams.is_empty() && cache.held().parts.is_empty());
        let none = TailCache::default();
        none.add(1, &frames[..1]);
        assert!(none.read(1, 0, 1).is_none());
    }

    #[test]
    fn parts_without_remaining_frames_are_forgotten() {
        let frames = frames();
        let cache = TailCache::new(u64::MAX);
        cache.add(1, &frames[..1]);
        for seq in 0..PARTS as u64 - 1 {
            cache.add(2, &[Arc::new(Frame { seq, ..Frame::clone(&frames[0]) })]);
            cache.drop_front(2, seq);
        }
        assert!(cache.held().parts.len() == PARTS && cache.read(1, 0, 1).is_some());
        cache.add(3, &frames[..1]);
        assert!(cache.held().parts.len() == PARTS && cache.read(1, 0, 1).is_none());
        assert!(cache.read(2, PARTS as u64 - 2, 1).is_some() && cache.read(3, 0, 1).is_some());
    }

    #[test]
    fn reads_do_not_cross_gaps_or_return_pruned_frames() {
        let frames = frames();
        let cache = TailCache::new(1 << 20);
        cache.add(1, &frames[..3]);
        cache.add(1, &frames[4..6]);
        assert_eq!(numbers(cache.read(1, 2, 10)), None);
        assert_eq!(numbers(cache.read(1, 4, 10)), Some(vec![4, 5]));
        cache.drop_front(1, 5);
        assert_eq!(numbers(cache.read(1, 4, 10)), None);
        assert_eq!(numbers(cache.read(1, 5, 10)), Some(vec![5]));
        assert_eq!(cache.held().bytes, weight(&frames[5]));
    }
}
