//! What is said to runs while they go on.
//!
//! In: who wants something said to a run, and what. Out: the same, to the task that drives the run; its answer back. Never:
//! more waiting than one run's bound, something said to a run that is over without its sender being told.

use framegate_translators::host::{Unsayable, Wish};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

/// How many things may wait to be said to one run.
const WAITING: usize = 64;

/// Something to be said to a run.
#[derive(Debug)]
pub struct Said {
    /// What.
    pub wish: Wish,
    /// Who says it: the name of a token, or of a rule.
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
}

impl Link {
    /// A link, and the end that the task of the run listens at.
    pub fn new() -> (Self, mpsc::Receiver<Said>) {
        let (to, from) = mpsc::channel(WAITING);
        (Self { to }, from)
    }

    /// Says something, and waits until it is passed on.
    ///
    /// # Errors
    /// Why it was not.
    pub async fn say(&self, wish: Wish, by: &str) -> Result<(), SayError> {
        let (done, outcome) = oneshot::channel();
        let said = Said { wish, by: by.to_owned(), done };
        self.to.try_send(said).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => SayError::Busy,
            mpsc::error::TrySendError::Closed(_) => SayError::Gone,
        })?;
        outcome.await.unwrap_or(Err(SayError::Gone))
    }
}

/// The links of the runs that go on.
#[derive(Debug, Default)]
pub struct Links {
    of_runs: Mutex<HashMap<Uuid, Link>>,
}

impl Links {
    /// The link of a run; `None` where nobody can speak to it.
    pub fn find(&self, run_id: Uuid) -> Option<Link> {
        self.of_runs.lock().unwrap_or_else(PoisonError::into_inner).get(&run_id).cloned()
    }

    /// Enters a run; it leaves when what is given back is dropped.
    pub fn enter(self: &Arc<Self>, run_id: Uuid, link: Link) -> Entered {
        self.of_runs.lock().unwrap_or_else(PoisonError::into_inner).insert(run_id, link);
        Entered { links: self.clone(), run_id }
    }
}

/// The entry of one run among the links.
#[derive(Debug)]
pub struct Entered {
    links: Arc<Links>,
    run_id: Uuid,
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.links.of_runs.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.run_id);
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
