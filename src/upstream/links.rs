//! What is said to runs while they go on, and to sessions between them.
//!
//! In: who wants something said to a run or a session, and what. Out: the same, to the task that drives the runner; its answer
//! back. Never: more waiting than one link's bound, something said to what is over without its sender being told.

use crate::log::StreamId;
use framegate_translators::frame::StreamKind;
use framegate_translators::host::{Unsayable, Wish};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

/// How many things may wait to be said over one link.
const WAITING: usize = 64;

/// Something to be said to a run.
#[derive(Debug)]
pub struct Said {
    /// What.
    pub wish: Wish,
    /// To which run, or to which session by its thread stream; `None` where the link stands for nothing else.
    pub to: Option<StreamId>,
    /// Who says it: the name of a token.
    pub by: String,
    /// Hears what became of it.
    pub done: oneshot::Sender<Result<(), SayError>>,
}

/// Why something was not said.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SayError {
    /// The run is over, or nobody can speak to it: it was pushed in, or belongs to an upstream that takes nothing.
    #[error("nobody can speak to this run: it is over, or it was not started by the proxy")]
    Gone,
    /// The runner has work to do, and is not to leave.
    #[error("the runner of this session is at work")]
    AtWork,
    /// The runner is about to leave.
    #[error("the runner of this session is about to leave; POST /v1/runs with its session_id starts another one")]
    Leaving,
    /// Too much waits already.
    #[error("{WAITING} things wait to be said to this run; try again later")]
    Busy,
    /// There is no such question.
    #[error("this run has no question {0:?}")]
    NoQuestion(String),
    /// The question has its answer.
    #[error("the question {0:?} was answered already")]
    Answered(String),
    /// The runner has no word for it.
    #[error(transparent)]
    Unsayable(#[from] Unsayable),
    /// It was passed on, and failed there.
    #[error("{0}")]
    Failed(String),
}

/// One end of what is said to a run.
#[derive(Clone, Debug)]
pub struct Link {
    to: mpsc::Sender<Said>,
    stands_for: Option<StreamId>,
}

impl Link {
    /// A link, and the end that the task of the run listens at.
    pub fn new() -> (Self, mpsc::Receiver<Said>) {
        let (to, from) = mpsc::channel(WAITING);
        (Self { to, stands_for: None }, from)
    }

    /// Says something, and waits until it is passed on.
    ///
    /// # Errors
    /// Why it was not.
    pub async fn say(&self, wish: Wish, by: &str) -> Result<(), SayError> {
        let (done, outcome) = oneshot::channel();
        let said = Said { wish, to: self.stands_for, by: by.to_owned(), done };
        self.to.try_send(said).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => SayError::Busy,
            mpsc::error::TrySendError::Closed(_) => SayError::Gone,
        })?;
        outcome.await.unwrap_or(Err(SayError::Gone))
    }
}

/// The links of the runs that go on, and of the sessions whose runners still listen.
#[derive(Debug, Default)]
pub struct Links {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    by_id: HashMap<StreamId, (u64, Link)>,
    /// Tells entries of the same session apart.
    number: u64,
    /// The sessions for which a runner is being started.
    claimed: HashSet<Uuid>,
}

impl Links {
    /// The link of a run; `None` where nobody can speak to it.
    pub fn find(&self, run_id: Uuid) -> Option<Link> {
        self.find_id((StreamKind::Session, run_id))
    }

    /// The link of a session; `None` where no runner of it listens.
    pub fn find_session(&self, session_id: Uuid) -> Option<Link> {
        self.find_id((StreamKind::Thread, session_id))
    }

    fn find_id(&self, id: StreamId) -> Option<Link> {
        self.lock().by_id.get(&id).map(|(_, link)| link.clone())
    }

    /// Claims a session for a runner that is being started, until what is given back is dropped; `None` where another one is
    /// being started for it.
    pub fn claim(self: &Arc<Self>, session_id: Uuid) -> Option<Claim> {
        let is_first = self.lock().claimed.insert(session_id);
        is_first.then(|| Claim { links: self.clone(), session_id })
    }

    /// Enters a run; it leaves when what is given back is dropped.
    pub fn enter(self: &Arc<Self>, run_id: Uuid, link: Link) -> Entered {
        self.enter_id((StreamKind::Session, run_id), link)
    }

    /// Enters a session, in the place of another runner of it.
    pub fn enter_session(self: &Arc<Self>, session_id: Uuid, link: Link) -> Entered {
        self.enter_id((StreamKind::Thread, session_id), link)
    }

    fn enter_id(self: &Arc<Self>, id: StreamId, link: Link) -> Entered {
        let mut entries = self.lock();
        entries.number += 1;
        let number = entries.number;
        entries.by_id.insert(id, (number, Link { stands_for: Some(id), ..link }));
        Entered { links: self.clone(), id, number }
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to start a runner for a session.
#[derive(Debug)]
pub struct Claim {
    links: Arc<Links>,
    session_id: Uuid,
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.links.lock().claimed.remove(&self.session_id);
    }
}

/// The entry of one run or session among the links.
#[derive(Debug)]
pub struct Entered {
    links: Arc<Links>,
    id: StreamId,
    number: u64,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut entries = self.links.lock();
        if entries.by_id.get(&self.id).is_some_and(|(number, _)| *number == self.number) {
            entries.by_id.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_said_to_a_run_that_left_is_told_so() {
        let links = Arc::new(Links::default());
        let (link, listening) = Link::new();
        let run_id = Uuid::from_u128(1);
        let entered = links.enter(run_id, link);
        let link = links.find(run_id).expect("the run was entered");
        drop(listening);
        assert!(matches!(link.say(Wish::Interrupt, "somebody").await, Err(SayError::Gone)));
        drop(entered);
        assert!(links.find(run_id).is_none());
    }

    #[test]
    fn a_session_is_left_by_its_last_runner_alone() {
        let links = Arc::new(Links::default());
        let session_id = Uuid::from_u128(2);
        let first = links.enter_session(session_id, Link::new().0);
        let second = links.enter_session(session_id, Link::new().0);
        drop(first);
        assert!(links.find_session(session_id).is_some(), "the second runner still listens");
        assert!(links.find(session_id).is_none(), "a session is no run");
        drop(second);
        assert!(links.find_session(session_id).is_none());
    }

    #[test]
    fn a_session_is_claimed_once_at_a_time() {
        let links = Arc::new(Links::default());
        let claim = links.claim(Uuid::from_u128(3));
        assert!(claim.is_some() && links.claim(Uuid::from_u128(3)).is_none());
        assert!(links.claim(Uuid::from_u128(4)).is_some(), "another session");
        drop(claim);
        assert!(links.claim(Uuid::from_u128(3)).is_some());
    }

    #[tokio::test]
    async fn no_more_waits_than_the_bound() {
        let (link, mut listening) = Link::new();
        let waiting: Vec<_> = (0..WAITING)
            .map(|_| {
                let link = link.clone();
                tokio::spawn(async move { link.say(Wish::Interrupt, "somebody").await })
            })
            .collect();
        tokio::task::yield_now().await;
        while listening.len() < WAITING {
            tokio::task::yield_now().await;
        }
        assert!(matches!(link.say(Wish::Interrupt, "one more").await, Err(SayError::Busy)));
        while let Ok(said) = listening.try_recv() {
            let _ = said.done.send(Ok(()));
        }
        for one in waiting {
            assert!(one.await.expect("it ran").is_ok());
        }
    }
}
