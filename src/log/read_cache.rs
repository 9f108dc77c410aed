//! Frames that were read from servers lately, for many readers of the same streams.
//!
//! Input: a stream, a number, and a function that reads from the servers. Output: frames from that number on. Never: the same frames read twice at
//! the same time, a frame after a gap, or more bytes kept than the limit.
//!
//! Readers that come from another proxy, all at once, ask for the same frames: from the same checkpoints on, piece by piece. The first one reads
//! a span of frames; the others wait for it.

use super::{LogError, weight};
use framegate_translators::frame::Frame;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most frames in a span.
const SPAN: u64 = 256;

/// The most spans. They may be short.
const SPANS: usize = 16 << 10;

/// The spans of all streams, by the keys of the streams.
#[derive(Debug)]
pub struct ReadCache<K> {
    max_bytes: u64,
    held: Mutex<Held<K>>,
}

#[derive(Debug)]
struct Held<K> {
    streams: HashMap<K, BTreeMap<u64, Kept>>,
    /// The spans, oldest first: the stream, the first frame, and which of the spans there. Some may be gone.
    order: VecDeque<(K, u64, u64)>,
    bytes: u64,
    next_id: u64,
}

#[derive(Debug)]
struct Kept {
    id: u64,
    /// How many frames it has; 0 while the first ones are read.
    frames: u64,
    bytes: u64,
    span: Arc<Span>,
}

/// Consecutive frames. The lock is held while more of them are read.
#[derive(Debug, Default)]
struct Span(tokio::sync::Mutex<Content>);

#[derive(Debug, Default)]
struct Content {
    frames: Vec<Arc<Frame>>,
    /// A read failed. Those who waited for it read on their own, side by side.
    failed: bool,
}

impl<K: Copy + Eq + Hash> ReadCache<K> {
    /// Keeps at most about that many bytes of frames.
    pub fn new(max_bytes: u64) -> Self {
        let held = Held { streams: HashMap::new(), order: VecDeque::new(), bytes: 0, next_id: 0 };
        Self { max_bytes, held: Mutex::new(held) }
    }

    fn held(&self) -> MutexGuard<'_, Held<K>> {
        // If a panic poisoned the lock, at worst a counter is wrong; frames are complete or absent.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The frames of a stream from `from` on, at most `max`. The stream has `end` frames; `from` is kept and less than that.
    /// `fetch` reads from a number on, at most as many frames as its second argument says.
    ///
    /// # Errors
    /// Those of `fetch`.
    pub async fn read<F>(
        &self,
        key: K,
        from: u64,
        max: usize,
        end: u64,
        fetch: impl Fn(u64, usize) -> F,
    ) -> Result<Vec<Arc<Frame>>, LogError>
    where
        F: Future<Output = Result<Vec<Arc<Frame>>, LogError>>,
    {
        if self.max_bytes == 0 {
            return fetch(from, max).await;
        }
        let (first, id, span) = self.held().span(key, from, self.max_bytes);
        let mut content = span.0.lock().await;
        let next = first + content.frames.len() as u64;
        let wanted = end.min(from.saturating_add(max as u64)).min(first + SPAN);
        if content.failed || next < from {
            drop(content);
            return fetch(from, max).await;
        }
        if next < wanted {
            let room = usize::try_from(first + SPAN - next).unwrap_or(usize::MAX);
            match fetch(next, room).await {
                Ok(more) => {
                    let follows = more.first().is_some_and(|frame| frame.seq == next);
                    if !follows {
                        // The front was dropped meanwhile.
                        content.failed = true;
                        self.held().remove(key, first, id);
                        drop(content);
                        return fetch(from, max).await;
                    }
                    self.held().grow(key, first, id, &more, self.max_bytes);
                    content.frames.extend(more);
                }
                Err(error) if next == from => {
                    content.failed = true;
                    self.held().remove(key, first, id);
                    return Err(error);
                }
                // What is here is an answer.
                Err(_) => {}
            }
        }
        let skip = usize::try_from(from - first).unwrap_or(usize::MAX);
        Ok(content.frames.iter().skip(skip).take(max).cloned().collect())
    }

    /// Removes the frames before that number, which were pruned.
    pub fn drop_front(&self, key: K, to: u64) {
        let mut held = self.held();
        let Some(spans) = held.streams.get_mut(&key) else { return };
        let kept = spans.split_off(&to);
        let dropped = std::mem::replace(spans, kept);
        if spans.is_empty() {
            held.streams.remove(&key);
        }
        held.bytes -= dropped.values().map(|kept| kept.bytes).sum::<u64>();
    }

    /// Removes a dropped stream.
    pub fn forget(&self, key: K) {
        self.drop_front(key, u64::MAX);
    }
}

impl<K: Copy + Eq + Hash> Held<K> {
    /// The span that has a frame, or into which it would be read; a new one if there is none.
    fn span(&mut self, key: K, from: u64, max_bytes: u64) -> (u64, u64, Arc<Span>) {
        let spans = self.streams.entry(key).or_default();
        // A span of few, large frames may not reach as far as the frame. Then readers that begin there share another one.
        if let Some((first, kept)) = spans.range(..=from).next_back()
            && from - first < SPAN
            && (kept.frames == 0 || from - first <= kept.frames)
        {
            return (*first, kept.id, kept.span.clone());
        }
        let (id, span) = (self.next_id, Arc::<Span>::default());
        self.next_id += 1;
        spans.insert(from, Kept { id, frames: 0, bytes: 0, span: span.clone() });
        self.order.push_back((key, from, id));
        self.evict(max_bytes);
        (from, id, span)
    }

    /// Counts frames that a span got.
    fn grow(&mut self, key: K, first: u64, id: u64, more: &[Arc<Frame>], max_bytes: u64) {
        let spans = self.streams.get_mut(&key);
        // Nothing is counted for a span that was removed meanwhile.
        let Some(kept) = spans.and_then(|spans| spans.get_mut(&first)).filter(|kept| kept.id == id) else { return };
        let bytes = more.iter().map(|frame| weight(frame)).sum::<u64>();
        kept.frames += more.len() as u64;
        kept.bytes += bytes;
        self.bytes += bytes;
        self.evict(max_bytes);
    }

    /// Removes the oldest spans beyond the limits.
    fn evict(&mut self, max_bytes: u64) {
        while (self.bytes > max_bytes || self.order.len() > SPANS)
            && let Some((key, first, id)) = self.order.pop_front()
        {
            self.remove(key, first, id);
        }
    }

    fn remove(&mut self, key: K, first: u64, id: u64) {
        let Some(spans) = self.streams.get_mut(&key) else { return };
        if spans.get(&first).is_some_and(|kept| kept.id == id)
            && let Some(kept) = spans.remove(&first)
        {
            self.bytes -= kept.bytes;
        }
        if spans.is_empty() {
            self.streams.remove(&key);
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
    use std::sync::atomic::{AtomicU64, Ordering};
    use tokio::sync::Semaphore;
    use uuid::Uuid;

    /// Servers that have frames, let reads through one by one, and count them.
    struct Source {
        frames: Vec<Arc<Frame>>,
        gate: Semaphore,
        reads: AtomicU64,
        /// How many frames they give at a time.
        most: usize,
        failing: bool,
    }

    impl Source {
        fn new(count: u64) -> Self {
            let identity = Identity { run_id: Uuid::from_u128(1), session_id: None };
            let mut ingest = Ingest::new(runner("claude-code").unwrap(), None, Limits::default(), identity);
            let bytes = include_bytes!("../../tests/fixtures/claude-code/text_plain.partial.ndjson");
            let frame = ingest.feed(bytes, 1).next().unwrap();
            let frames = (0..count).map(|seq| Arc::new(Frame { seq, ..frame.clone() })).collect();
            let gate = Semaphore::new(Semaphore::MAX_PERMITS);
            Self { frames, gate, reads: AtomicU64::new(0), most: usize::MAX, failing: false }
        }

        async fn read(&self, cache: &ReadCache<u8>, from: u64, max: usize) -> Result<Vec<u64>, LogError> {
            let end = self.frames.len() as u64;
            let found = cache.read(1, from, max, end, |from, max| self.fetch(from, max)).await?;
            Ok(found.iter().map(|frame| frame.seq).collect())
        }

        async fn fetch(&self, from: u64, max: usize) -> Result<Vec<Arc<Frame>>, LogError> {
            self.reads.fetch_add(1, Ordering::Relaxed);
            self.gate.acquire().await.unwrap().forget();
            if self.failing {
                return Err(LogError::Closed);
            }
            Ok(self.frames.iter().skip(usize::try_from(from).unwrap()).take(max.min(self.most)).cloned().collect())
        }

        fn reads(&self) -> u64 {
            self.reads.swap(0, Ordering::Relaxed)
        }

        fn bytes(&self, count: usize) -> u64 {
            self.frames[..count].iter().map(|frame| weight(frame)).sum()
        }
    }

    fn numbers(range: std::ops::Range<u64>) -> Vec<u64> {
        range.collect()
    }

    /// Reads a stream piece by piece, as a reader does.
    async fn read_all(source: &Source, cache: &ReadCache<u8>, mut from: u64, max: usize) -> Vec<u64> {
        let mut found = Vec::new();
        while from < source.frames.len() as u64 {
            let more = source.read(cache, from, max).await.unwrap();
            assert!(!more.is_empty() && more.len() <= max);
            from += more.len() as u64;
            found.extend(more);
        }
        found
    }

    #[tokio::test]
    async fn many_readers_cost_one_read_of_each_span_and_each_gets_all_frames() {
        let source = Source::new(3 * SPAN + 7);
        let cache = ReadCache::new(u64::MAX);
        let readers = (0..40_usize).map(|reader| read_all(&source, &cache, reader as u64, 1 + reader * 11));
        for (from, found) in futures_util::future::join_all(readers).await.into_iter().enumerate() {
            assert_eq!(found, numbers(from as u64..3 * SPAN + 7));
        }
        assert!(source.reads() <= 40 + 3, "readers that begin elsewhere have spans of their own");
        assert_eq!(read_all(&source, &cache, 0, 100).await.len() as u64, 3 * SPAN + 7);
        assert_eq!(source.reads(), 0);
    }

    #[tokio::test]
    async fn a_tail_that_grows_is_read_from_where_it_was() {
        let mut source = Source::new(10);
        let cache = ReadCache::new(u64::MAX);
        assert_eq!(source.read(&cache, 4, 100).await.unwrap(), numbers(4..10));
        source.frames = Source::new(14).frames;
        assert_eq!(source.read(&cache, 10, 100).await.unwrap(), numbers(10..14));
        assert_eq!(source.read(&cache, 4, 100).await.unwrap(), numbers(4..14));
        assert_eq!(source.reads(), 2);
        assert_eq!(cache.held().order.len(), 1);
        assert_eq!(cache.held().bytes, source.bytes(10));
    }

    #[tokio::test]
    async fn readers_that_begin_behind_a_short_span_share_another_one() {
        let mut source = Source::new(14);
        source.most = 3;
        let cache = ReadCache::new(u64::MAX);
        assert_eq!(source.read(&cache, 0, 100).await.unwrap(), numbers(0..3));
        for _ in 0..5 {
            assert_eq!(source.read(&cache, 9, 3).await.unwrap(), numbers(9..12));
        }
        assert_eq!(source.reads(), 2);
        assert_eq!(read_all(&source, &cache, 0, 100).await, numbers(0..14));
    }

    #[tokio::test]
    async fn a_span_is_removed_at_one_byte_over_the_limit() {
        let source = Source::new(2 * SPAN);
        let span = usize::try_from(SPAN).unwrap();
        for (too_much, kept) in [(0, 2 * span), (1, span)] {
            let cache = ReadCache::new(source.bytes(2 * span) - too_much);
            read_all(&source, &cache, 0, span).await;
            assert_eq!(cache.held().bytes, source.bytes(kept));
        }
    }

    #[tokio::test]
    async fn readers_that_wait_for_a_read_that_fails_read_on_their_own() {
        let mut source = Source::new(5);
        (source.failing, source.gate) = (true, Semaphore::new(0));
        let cache = ReadCache::new(u64::MAX);
        let readers = futures_util::future::join_all((0..3).map(|_| source.read(&cache, 0, 5)));
        let opened = async {
            tokio::task::yield_now().await;
            assert_eq!(source.reads(), 1);
            source.gate.add_permits(1);
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
            assert_eq!(source.reads(), 2, "side by side");
            source.gate.add_permits(10);
        };
        let (found, ()) = tokio::join!(readers, opened);
        assert!(found.iter().all(Result::is_err));
        source.failing = false;
        source.gate.add_permits(10);
        assert_eq!(source.read(&cache, 0, 5).await.unwrap(), numbers(0..5));
        // What is here is an answer although the servers are away.
        source.frames = Source::new(9).frames;
        source.failing = true;
        assert_eq!(source.read(&cache, 2, 9).await.unwrap(), numbers(2..5));
        assert!(source.read(&cache, 5, 9).await.is_err());
    }

    #[tokio::test]
    async fn the_oldest_spans_are_removed_and_pruned_frames_are_not_returned() {
        let source = Source::new(4 * SPAN);
        let span = usize::try_from(SPAN).unwrap();
        let cache = ReadCache::new(source.bytes(2 * span));
        read_all(&source, &cache, 0, span).await;
        assert_eq!((source.reads(), cache.held().bytes), (4, source.bytes(2 * span)));
        assert_eq!(source.read(&cache, 3 * SPAN, 1).await.unwrap(), [3 * SPAN]);
        assert_eq!(source.reads(), 0);
        cache.drop_front(1, 2 * SPAN + 1);
        assert_eq!(cache.held().bytes, source.bytes(span));
        assert_eq!(source.read(&cache, 2 * SPAN + 1, 1).await.unwrap(), [2 * SPAN + 1]);
        assert_eq!(source.reads(), 1);
        cache.forget(1);
        assert!(cache.held().bytes == 0 && cache.held().streams.is_empty());
        for _ in 0..2 * SPANS {
            source.read(&cache, 0, 1).await.unwrap();
            cache.forget(1);
        }
        assert!(cache.held().order.len() <= SPANS);
        let none = ReadCache::new(0);
        source.reads();
        source.read(&none, 0, 1).await.unwrap();
        source.read(&none, 0, 1).await.unwrap();
        assert_eq!(source.reads(), 2);
    }
}
