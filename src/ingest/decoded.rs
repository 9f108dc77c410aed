//! An input that is decoded before its turn to be stored, so that several inputs can be decoded at once.
//!
//! Input: a whole input in memory. Output: its frames, the sessions that they belong to, and the permission to store them. Never: frames
//! stored whose decoder continued from running totals that another input has changed since.

use super::{Ingest, IngestError, Seen};
use crate::clock::Moment;
use framegate_translators::frame::{Figures, Frame, Stream, StreamKind};
use framegate_translators::normalizer::Memory;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use uuid::Uuid;

/// A decoded input.
pub struct Decoded {
    ingest: Ingest,
    frames: Vec<Arc<Frame>>,
    arrived: Moment,
    recalled: Arc<Recalled>,
}

/// The session of a run, as far as it decides which stored runs could be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RunSession {
    provider: &'static str,
    /// `None` if the runner did not name the session.
    id: Option<Uuid>,
}

impl RunSession {
    /// A session of a runner, as its frames name the runner. `id` is `None` if the runner did not name the session.
    pub fn of(provider: &'static str, id: Option<Uuid>) -> Self {
        Self { provider, id }
    }

    /// Whether a run of one session could be the same as a run of the other.
    pub fn may_share_runs(&self, other: &Self) -> bool {
        self.provider == other.provider && (self.id.is_none() || other.id.is_none() || self.id == other.id)
    }
}

/// The running totals that a decoder looked up.
struct Recalled {
    memory: Arc<dyn Memory>,
    answers: Mutex<Vec<(Uuid, Vec<Figures>)>>,
}

impl Recalled {
    /// Whether the decoder would find the same totals now.
    fn is_current(&self) -> bool {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.iter().all(|(session, totals)| self.memory.totals(*session) == *totals)
    }
}

impl Memory for Recalled {
    fn totals(&self, session: Uuid) -> Vec<Figures> {
        let totals = self.memory.totals(session);
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if !answers.iter().any(|(known, _)| *known == session) {
            answers.push((session, totals.clone()));
        }
        totals
    }
}

impl Ingest {
    /// Decodes a whole input, and stores nothing. The ingest must not have been fed before.
    pub fn decode(mut self, input: &[u8]) -> Decoded {
        let recalled = Arc::new(Recalled { memory: self.runs.totals(), answers: Mutex::default() });
        self.pipeline = self.pipeline.remembering(recalled.clone());
        let arrived = self.arrive();
        let mut frames: Vec<_> = self.pipeline.feed(input, arrived.ms).map(Arc::new).collect();
        frames.extend(self.pipeline.finish(self.clock.now_ms()).map(Arc::new));
        Decoded { ingest: self, frames, arrived: arrived.moment, recalled }
    }
}

impl Decoded {
    /// The sessions of its runs.
    pub fn sessions(&self) -> HashSet<RunSession> {
        let runs = self.frames.iter().map(|frame| &frame.stream).filter(|stream| stream.kind == StreamKind::Session);
        let id = |stream: &Stream| Some(stream.session.id).filter(|_| !stream.session.name.is_empty());
        runs.map(|stream| RunSession::of(stream.provider.name, id(stream))).collect()
    }

    /// Whether it would be decoded in the same way now. If not, the input must be decoded again.
    pub fn is_current(&self) -> bool {
        self.recalled.is_current()
    }

    /// Stores the frames, as [`Ingest::feed`] and [`Ingest::finish_seen`] do.
    ///
    /// # Errors
    /// As for [`Ingest::finish_seen`].
    pub async fn store(self) -> Result<Seen, IngestError> {
        let Self { mut ingest, frames, arrived, .. } = self;
        if let Err(beyond) = ingest.allow(&frames) {
            return Err(ingest.fail(frames, arrived, beyond.into()).await);
        }
        let (frames, artifacts) = ingest.sift(frames, true).await;
        ingest.runs.store(artifacts).await;
        ingest.close(frames, arrived).await?;
        ingest.update_stored().await;
        Ok(ingest.seen())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Totals that change.
    #[derive(Default)]
    struct Changing(Mutex<Vec<Figures>>);

    impl Memory for Changing {
        fn totals(&self, _: Uuid) -> Vec<Figures> {
            self.0.lock().unwrap().clone()
        }
    }

    #[test]
    fn what_was_decoded_is_current_until_the_totals_that_were_looked_up_change() {
        let memory = Arc::new(Changing::default());
        let recalled = Recalled { memory: memory.clone(), answers: Mutex::default() };
        let change = || memory.0.lock().unwrap().push(Figures::default());
        change();
        assert!(recalled.is_current(), "nothing was looked up");
        assert_eq!(recalled.totals(Uuid::nil()).len(), 1);
        assert!(recalled.is_current());
        change();
        assert!(!recalled.is_current());
        // The first answer counts: the decoder has used it.
        assert_eq!(recalled.totals(Uuid::nil()).len(), 2);
        assert!(!recalled.is_current());
    }
}
