//! Full-text search over prompts, answers, reasoning, tool inputs and outputs, and errors.
//!
//! Input: the streams of the log, as they grow; questions. Output: the texts that have the words, newest first, with excerpts. Never: a text that
//! the log has dropped or pruned, or that redaction removed; a text outside what a caller may see; an append that waits for the index.
//!
//! `texts` finds the texts of a stream, `words` reads queries, `index` is the index in SQLite's FTS5, `indexer` keeps it up to date, `excerpt` shows
//! what was found.

mod excerpt;
mod index;
mod indexer;
mod page;
#[cfg(test)]
mod tests;
mod texts;
mod words;

pub use excerpt::Segment;
pub use page::{Page, cursor};
pub use texts::Kind;
pub use words::{MOST_TERMS, QUERY_BYTES};

use crate::log::LogError;
use crate::runs::{Entry, Runs};
use excerpt::Excerpts;
use framegate_translators::frame::StreamKind;
use index::{Index, Place, kind_tag, number_at};
use indexer::{Indexer, run_tag, runner_tag, session_tag};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use texts::Texts;
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

/// How many texts a page has if a request does not say, and at most.
pub const PAGE: (usize, usize) = (20, 100);

/// How many places are read from the index at a time.
const PLACES_AT_ONCE: usize = 128;

/// How many places one question looks at, at most: they may be outside what the caller sees.
const MOST_PLACES: usize = 4096;

/// How many frames of a text are read from the log at a time.
const FRAMES_AT_ONCE: usize = 128;

/// Settings of the search.
#[derive(Clone, Debug)]
pub struct Options {
    /// The file of the index; `None` if it is in memory.
    pub path: Option<PathBuf>,
    /// How many bytes of a text are indexed; the rest is not found.
    pub text_bytes: usize,
    /// How long a question may take in the index.
    pub patience: Duration,
}

/// What is looked for.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// What a person typed.
    pub words: String,
    /// Only texts of these kinds; empty for all.
    pub kinds: Vec<Kind>,
    /// Only texts of this runner's runs.
    pub runner: Option<&'static str>,
    /// Only texts of this session.
    pub session: Option<Uuid>,
    /// Only texts of this run, and of its tasks.
    pub run: Option<Uuid>,
    /// Only texts of this time or later, in Unix epoch milliseconds.
    pub since_ms: Option<u64>,
    /// Only texts before this time, in Unix epoch milliseconds.
    pub until_ms: Option<u64>,
    /// How many texts are returned at most.
    pub limit: usize,
    /// Where the page before ended: its [`Found::next`].
    pub after: Option<i64>,
}

/// A text that was found.
#[derive(Clone)]
pub struct Hit {
    /// Its stream.
    pub entry: Arc<Entry>,
    /// What the text is.
    pub kind: Kind,
    /// The number of its first frame in the stream.
    pub first_frame: u64,
    /// The number of its last frame.
    pub last_frame: u64,
    /// Time of the first frame, in Unix epoch milliseconds.
    pub timestamp_ms: u64,
    /// The part of the text with the words.
    pub excerpt: Vec<Segment>,
}

/// The answer to a question.
pub struct Found {
    /// The texts, newest first.
    pub hits: Vec<Hit>,
    /// Where the next page begins; `None` on the last page. A page may have fewer hits than asked for and still not be the last.
    pub next: Option<i64>,
    /// Whether all texts of the log are indexed.
    pub is_complete: bool,
}

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The query is wrong.
    #[error("{0}")]
    Query(String),
    /// The search took too long.
    #[error("the search took longer than {0:?}: use rarer words, or a shorter time (search.timeout_ms)")]
    Slow(Duration),
    /// The log or the index cannot be read.
    #[error("{0}")]
    Failed(String),
}

/// The search over the runs of a proxy.
pub struct Search {
    runs: Arc<Runs>,
    index: Arc<Index>,
    patience: Duration,
    is_complete: Arc<AtomicBool>,
}

impl Search {
    /// Opens the index. The texts are indexed by the returned task, until it is dropped. Must be called in a runtime.
    ///
    /// # Errors
    /// The index cannot be used.
    pub fn start(runs: Arc<Runs>, options: &Options) -> anyhow::Result<(Self, AbortOnDropHandle<()>)> {
        let (search, indexer) = Self::open(runs, options)?;
        Ok((search, AbortOnDropHandle::new(tokio::spawn(indexer.run()))))
    }

    /// Opens the index, and brings it up to date once.
    ///
    /// # Errors
    /// The index cannot be used, or the log cannot be read.
    pub async fn up_to_date(runs: Arc<Runs>, options: &Options) -> anyhow::Result<Self> {
        let (search, mut indexer) = Self::open(runs, options)?;
        indexer.catch_up().await?;
        search.is_complete.store(true, Ordering::Release);
        Ok(search)
    }

    fn open(runs: Arc<Runs>, options: &Options) -> anyhow::Result<(Self, Indexer)> {
        let index = Arc::new(match &options.path {
            Some(path) => Index::open(path)?,
            None => Index::in_memory()?,
        });
        let is_complete = Arc::new(AtomicBool::new(false));
        let indexer = Indexer::new(runs.clone(), index.clone(), options.text_bytes, is_complete.clone())?;
        Ok((Self { runs, index, patience: options.patience, is_complete }, indexer))
    }

    /// Answers a question, with the texts of streams for which `sees` is true.
    ///
    /// # Errors
    /// See [`SearchError`].
    pub async fn find(
        &self,
        question: &Question,
        sees: &(dyn Fn(&Entry) -> bool + Sync),
    ) -> Result<Found, SearchError> {
        let words = words::expression(&question.words).map_err(SearchError::Query)?;
        let expression = selected(&words, question);
        let from = question.since_ms.map_or(0, number_at);
        let mut before = question.until_ms.map_or(i64::MAX, number_at).min(question.after.unwrap_or(i64::MAX));
        let is_complete = self.is_complete.load(Ordering::Acquire);
        let (mut found, mut looked) = (Vec::new(), 0);
        loop {
            let (index, expression, patience) = (self.index.clone(), expression.clone(), self.patience);
            let places =
                tokio::task::spawn_blocking(move || index.find(&expression, (from, before), PLACES_AT_ONCE, patience));
            let places = places
                .await
                .map_err(|error| SearchError::Failed(error.to_string()))?
                .map_err(|error| self.failed(&error))?;
            let is_last = places.len() < PLACES_AT_ONCE;
            looked += places.len();
            for place in places {
                if found.len() == question.limit {
                    return self.shown(found, words, Some(before), is_complete).await;
                }
                before = place.number;
                let Some(entry) = self.runs.find(place.stream).filter(|entry| sees(entry)) else { continue };
                if let Some((text, timestamp_ms)) = self.text(&place).await? {
                    found.push((entry, place, text, timestamp_ms));
                }
            }
            if is_last || looked >= MOST_PLACES {
                return self.shown(found, words, Some(before).filter(|_| !is_last), is_complete).await;
            }
        }
    }

    /// Adds the excerpts.
    async fn shown(
        &self,
        found: Vec<(Arc<Entry>, Place, String, u64)>,
        words: String,
        next: Option<i64>,
        is_complete: bool,
    ) -> Result<Found, SearchError> {
        let make = move || -> rusqlite::Result<Vec<Hit>> {
            let excerpts = Excerpts::new()?;
            let mut hits = Vec::with_capacity(found.len());
            for (entry, place, text, timestamp_ms) in found {
                let excerpt = excerpts.of(&text, &words)?;
                hits.extend(excerpt.map(|excerpt| Hit {
                    entry,
                    kind: place.kind,
                    first_frame: place.first,
                    last_frame: place.last,
                    timestamp_ms,
                    excerpt,
                }));
            }
            Ok(hits)
        };
        let hits = tokio::task::spawn_blocking(make).await.map_err(|error| SearchError::Failed(error.to_string()))?;
        Ok(Found { hits: hits.map_err(|error| self.failed(&error))?, next, is_complete })
    }

    /// The text at a place, with its time; `None` if the log does not have it any more.
    async fn text(&self, place: &Place) -> Result<Option<(String, u64)>, SearchError> {
        let (mut texts, mut out, mut at) = (Texts::default(), Vec::new(), place.first);
        while at <= place.last {
            let frames = match self.runs.log().read(place.stream, at, FRAMES_AT_ONCE).await {
                Ok(frames) => frames,
                Err(LogError::Dropped { .. }) => return Ok(None),
                Err(error) => return Err(SearchError::Failed(error.to_string())),
            };
            let Some(last) = frames.last().map(|frame| frame.seq) else { break };
            frames.iter().filter(|frame| frame.seq <= place.last).for_each(|frame| texts.frame(frame, &mut out));
            at = last + 1;
        }
        texts.end(&mut out);
        let text = out.into_iter().find(|text| text.first == place.first && text.kind == place.kind);
        Ok(text.map(|text| (text.text, text.time_ms)))
    }

    fn failed(&self, error: &rusqlite::Error) -> SearchError {
        match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::OperationInterrupted) => SearchError::Slow(self.patience),
            _ => SearchError::Failed(format!("the search index cannot be read: {error}")),
        }
    }
}

/// An expression for the words, and for the words by which streams and kinds are selected.
fn selected(words: &str, question: &Question) -> String {
    let mut out = format!("(body : ({words}))");
    let kinds: Vec<String> = question.kinds.iter().map(|kind| kind_tag(*kind)).collect();
    let tags = [
        question.run.map(run_tag),
        question.session.map(session_tag),
        question.runner.map(runner_tag),
        Some(kinds.join(" OR ")).filter(|kinds| !kinds.is_empty()),
    ];
    for tag in tags.into_iter().flatten() {
        out.push_str(&format!(" AND (tags : ({tag}))"));
    }
    out
}

/// The run that a stream belongs to: itself, or the one that started the task; `None` if that is unknown.
pub fn run_of(entry: &Entry) -> Option<Uuid> {
    match entry.stream.kind {
        StreamKind::Session => Some(entry.stream.id),
        _ => entry.stream.origin_run,
    }
}
