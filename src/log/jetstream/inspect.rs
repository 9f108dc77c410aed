//! Looking at a log without taking part in it.
//!
//! Input: a log that is followed. Output: every stream that it has, with its status; what is needed to find damage. Never: a write; a stream
//! left out because a server was slow; a stream taken for damaged that a proxy has dropped meanwhile.

use super::JetstreamLog;
use super::engine::Failure;
use super::index::position;
use crate::log::{KeptStream, Loaded, Loading, LogError, StreamId};
use serde_json::json;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// After how long a silence the leader is asked whether there are further messages.
const LOOK: Duration = Duration::from_millis(500);

/// What is known of an artifact after its content was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArtifactState {
    /// Its id: its hash.
    pub id: String,
    /// Whether the content has that hash.
    pub is_whole: bool,
    /// Whether a stream refers to it.
    pub is_referred: bool,
}

impl JetstreamLog {
    /// Every stream that the log has now, in the order in which they began. Goes on to follow the news. Called once.
    ///
    /// # Errors
    /// The servers do not answer, or the log was loaded already.
    pub async fn kept(&self) -> Result<Vec<KeptStream>, LogError> {
        let Loading { loaded, mut news, .. } = self.load_all().await?;
        self.keep_up(async move { while news.recv().await.is_some() {} });
        Ok(loaded.into_streams())
    }

    /// Takes in everything that the log has now.
    pub(super) async fn load_all(&self) -> Result<Loading, LogError> {
        let news = self.news.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut news = news.ok_or(LogError::Closed)?;
        let mut loaded = Loaded::default();
        let (mut behind, mut last) = (0, None);
        let mut hearing = std::pin::pin!(self.hear_all());
        // The news of the last messages may come after the log has heard of them.
        while last.is_none_or(|(heard, _)| heard > 0 && behind < position(heard + 1)) {
            tokio::select! {
                heard = news.recv() => {
                    let heard = heard.ok_or(LogError::Closed)?;
                    behind = heard.behind;
                    heard.news.into_iter().for_each(|news| loaded.take_in(news));
                }
                heard = &mut hearing, if last.is_none() => last = Some(heard?),
            }
        }
        // Messages at the end may have been removed.
        let behind = last.map_or(behind, |(_, last)| behind.max(position(last + 1)));
        Ok(Loading { loaded, behind, news })
    }

    /// Waits until everything that the log has now was heard; returns the sequence up to which it was, and the sequence of the last
    /// message, which may have been removed. The news must be taken meanwhile.
    ///
    /// # Errors
    /// The servers do not answer, or send no messages although there are some.
    pub(super) async fn hear_all(&self) -> Result<(u64, u64), LogError> {
        let name = self.engine.names.frames_stream();
        let failed = |failure| self.engine.error(&failure);
        let last = self.engine.patiently(|| self.engine.last_sequence(&name)).await.map_err(failed)?;
        let (mut before, mut silent) = (0, Duration::ZERO);
        while tokio::time::timeout(LOOK, self.hear_up_to(last)).await.is_err() {
            // What is missing at the end may have been removed.
            let heard = self.heard();
            let which = json!({"seq": heard + 1, "next_by_subj": ">"});
            let next = self.engine.patiently(|| self.engine.message(&name, &which)).await.map_err(failed)?;
            if next.is_none_or(|(seq, ..)| seq > last) {
                break;
            }
            silent = if heard > before { Duration::ZERO } else { silent + LOOK };
            if silent >= self.engine.patience {
                let why = format!("they have messages up to {last}, but send none after {heard}");
                return Err(failed(Failure::Silent(why)));
            }
            before = heard;
        }
        let heard = self.heard();
        Ok((heard, last.max(heard)))
    }

    /// The number of the first frame that is kept of a stream now; `None` if the stream is not kept any more.
    ///
    /// # Errors
    /// The servers do not answer.
    pub async fn front(&self, id: StreamId) -> Result<Option<u64>, LogError> {
        self.hear_all().await?;
        Ok(self.index().get(id).map(super::index::Held::first))
    }

    /// The views that have a checkpoint of a stream at a frame.
    pub fn views_at(&self, id: StreamId, frame: u64) -> Vec<String> {
        let index = self.index();
        let at = index.checkpoints(id).iter().filter(|(_, note)| note.frame == frame);
        at.map(|(_, note)| note.view.to_string()).collect()
    }

    /// How many messages of the log could not be read so far.
    pub fn unread(&self) -> u64 {
        self.counts.unread.load(Ordering::Relaxed)
    }

    /// Where the log is: its prefix and servers.
    pub fn place(&self) -> String {
        self.engine.place()
    }
}
