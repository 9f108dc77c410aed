//! Indexes the texts of all streams, behind the log.
//!
//! Input: the streams that have changed. Output: batches for the index. Never: an append that waits for the index; a text that the log does not
//! have (frames are read from it, so they are redacted as it has them); a stream that keeps the others waiting.
//!
//! What is not in the index yet is found when the proxy starts again: each stream's place in the index is stored with its texts. A place is never
//! behind the first frame of an output that has not ended.

use super::index::{Index, Indexed, News};
use super::texts::Texts;
use crate::log::{LogError, StreamId};
use crate::runs::{Changed, Entry, Runs};
use framegate_translators::frame::StreamKind;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How many frames of a stream are read before other streams get their turn.
const FRAMES_AT_ONCE: usize = 512;

/// How many bytes of texts are stored in one batch.
const BATCH_BYTES: usize = 4 << 20;

/// The streams whose new texts are in one batch, at most.
const BATCH_STREAMS: usize = 256;

/// How long appends are collected before they are indexed.
const PAUSE: Duration = Duration::from_millis(250);

/// How long the indexer waits after an error before it tries again.
const RETRY: Duration = Duration::from_secs(10);

/// How many streams are held at most of which something more may come.
const MOST_OPEN: usize = 1024;

/// What is known of a stream that is being indexed.
struct Reading {
    texts: Texts,
    /// The number of the next frame to read.
    next: u64,
    began_ms: u64,
    pruned: u64,
    /// Set until its first batch is stored.
    again_from: Option<u64>,
}

/// Indexes until it is dropped.
pub(super) struct Indexer {
    runs: Arc<Runs>,
    index: Arc<Index>,
    text_bytes: usize,
    changed: Arc<Changed>,
    /// How far each stream is in the index.
    indexed: HashMap<StreamId, Indexed>,
    /// The streams whose end is not indexed.
    reading: HashMap<StreamId, Reading>,
    waiting: VecDeque<StreamId>,
    is_waiting: HashSet<StreamId>,
    /// Whether everything is indexed, for answers.
    is_complete: Arc<AtomicBool>,
}

impl Indexer {
    /// Begins with what the index has.
    ///
    /// # Errors
    /// The index cannot be read.
    pub(super) fn new(
        runs: Arc<Runs>,
        index: Arc<Index>,
        text_bytes: usize,
        is_complete: Arc<AtomicBool>,
    ) -> rusqlite::Result<Self> {
        let changed = runs.changed();
        let indexed = index.streams()?;
        let mut indexer = Self {
            runs,
            index,
            text_bytes,
            changed,
            indexed,
            reading: HashMap::new(),
            waiting: VecDeque::new(),
            is_waiting: HashSet::new(),
            is_complete,
        };
        // The newest first: they are looked for most.
        let newest = indexer.runs.newest_first();
        let others = indexer.runs.entries();
        let gone: Vec<StreamId> = indexer.indexed.keys().copied().collect();
        for id in newest.iter().chain(&others).map(|entry| entry.id()).chain(gone) {
            indexer.queue(id);
        }
        Ok(indexer)
    }

    fn queue(&mut self, id: StreamId) {
        if matches!(id.0, StreamKind::Session | StreamKind::Task) && self.is_waiting.insert(id) {
            self.waiting.push_back(id);
        }
    }

    /// Indexes what there is, and then what comes.
    pub(super) async fn run(mut self) {
        loop {
            if let Err(error) = self.catch_up().await {
                tracing::warn!(%error, "texts could not be indexed for the search; the proxy tries again");
                tokio::time::sleep(RETRY).await;
                continue;
            }
            self.is_complete.store(self.changed.is_empty(), Ordering::Release);
            self.changed.wait().await;
            self.is_complete.store(false, Ordering::Release);
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Indexes everything that the log has.
    ///
    /// # Errors
    /// The log cannot be read, or the index cannot be written.
    pub(super) async fn catch_up(&mut self) -> anyhow::Result<()> {
        loop {
            for id in self.changed.take() {
                self.queue(id);
            }
            if self.waiting.is_empty() {
                return Ok(());
            }
            let (mut batch, mut bytes) = (Vec::new(), 0);
            while bytes < BATCH_BYTES && batch.len() < BATCH_STREAMS {
                let Some(id) = self.waiting.pop_front() else { break };
                self.is_waiting.remove(&id);
                let news = match self.read(id).await {
                    Ok(news) => news,
                    Err(error) => {
                        self.queue(id);
                        return Err(error);
                    }
                };
                if let Some(news) = news {
                    bytes += news.texts.iter().map(|text| text.text.len()).sum::<usize>();
                    batch.push(news);
                }
            }
            self.store(batch).await?;
        }
    }

    /// Reads what is new of a stream. `None`: nothing.
    async fn read(&mut self, id: StreamId) -> anyhow::Result<Option<News>> {
        let Some(entry) = self.runs.find(id).filter(|entry| !entry.is_dropped()) else {
            self.reading.remove(&id);
            if self.indexed.contains_key(&id) {
                let index = self.index.clone();
                tokio::task::spawn_blocking(move || index.drop_stream(id)).await??;
                self.indexed.remove(&id);
            }
            return Ok(None);
        };
        let pruned = entry.gone().map_or(0, |gone| gone.frames);
        let tail = *entry.tail().borrow();
        let mut reading = match self.reading.remove(&id) {
            Some(reading) => reading,
            None => match self.begin(&entry, pruned, tail.frames) {
                Some(reading) => reading,
                None => return Ok(None),
            },
        };
        let mut texts = Vec::new();
        let frames = match self.runs.log().read(id, reading.next, FRAMES_AT_ONCE).await {
            Ok(frames) => frames,
            // A part that is damaged stays out of the index.
            Err(error @ (LogError::Dropped { .. } | LogError::Damaged { .. })) => {
                tracing::debug!(stream = %id.1, %error, "the texts of a stream are not indexed");
                return Ok(None);
            }
            Err(error) => return Err(error.into()),
        };
        for frame in &frames {
            reading.texts.frame(frame, &mut texts);
            reading.next = frame.seq + 1;
        }
        let is_behind = reading.next < tail.frames && !frames.is_empty();
        if tail.ended && !is_behind {
            reading.texts.end(&mut texts);
        }
        for text in &mut texts {
            text.text.truncate(text.text.floor_char_boundary(self.text_bytes));
        }
        let next = reading.texts.open_from().unwrap_or(reading.next);
        let again_from = reading.again_from.take();
        let is_pruned = pruned > reading.pruned;
        reading.pruned = pruned;
        let indexed = Indexed { began_ms: reading.began_ms, next };
        let is_new = self.indexed.get(&id) != Some(&indexed) || !texts.is_empty() || is_pruned;
        if is_behind {
            self.queue(id);
        }
        if is_behind || !tail.ended {
            self.make_place();
            self.reading.insert(id, reading);
        }
        Ok(is_new.then(|| News { stream: id, indexed, tags: tags(&entry), again_from, pruned, texts }))
    }

    /// Begins to read a stream where its index ends. `None`: all of it is indexed.
    fn begin(&self, entry: &Entry, pruned: u64, frames: u64) -> Option<Reading> {
        let began_ms = entry.status().started_at_ms;
        let known = self.indexed.get(&entry.id()).filter(|known| known.began_ms == began_ms && known.next <= frames);
        let next = known.map_or(0, |known| known.next);
        if known.is_some() && next == frames && pruned == 0 {
            return None;
        }
        let again_from = self.indexed.contains_key(&entry.id()).then_some(next);
        Some(Reading { texts: Texts::default(), next, began_ms, pruned: 0, again_from })
    }

    /// Bounds the streams of which something is held.
    fn make_place(&mut self) {
        if self.reading.len() >= MOST_OPEN
            && let Some(id) = self.reading.keys().next().copied()
        {
            // It is read again from the place that is stored.
            self.reading.remove(&id);
        }
    }

    async fn store(&mut self, batch: Vec<News>) -> anyhow::Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        let index = self.index.clone();
        let stored = tokio::task::spawn_blocking(move || (index.store(&batch), batch)).await;
        let (stored, batch) = stored?;
        for news in batch {
            match &stored {
                Ok(()) => {
                    self.indexed.insert(news.stream, news.indexed);
                }
                // What was read is lost, so it is read again.
                Err(_) => {
                    self.reading.remove(&news.stream);
                    self.queue(news.stream);
                }
            }
        }
        Ok(stored?)
    }
}

/// The words by which the texts of a stream are selected.
fn tags(entry: &Entry) -> String {
    let stream = &entry.stream;
    let run = stream.origin_run.filter(|_| stream.kind != StreamKind::Session).unwrap_or(stream.id);
    format!("{} {} {}", run_tag(run), session_tag(stream.session.id), runner_tag(entry.status().runner))
}

/// The word by which the texts of a run are selected.
pub(super) fn run_tag(run: uuid::Uuid) -> String {
    format!("r{}", run.simple())
}

/// The word by which the texts of a session are selected.
pub(super) fn session_tag(session: uuid::Uuid) -> String {
    format!("s{}", session.simple())
}

/// The word by which the texts of a runner's runs are selected.
pub(super) fn runner_tag(runner: &str) -> String {
    let letters: String = runner.chars().filter(char::is_ascii_alphanumeric).collect();
    format!("p{letters}")
}
