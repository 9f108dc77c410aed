//! Delivers messages to runs in progress, and to sessions between their runs.
//!
//! Input: a message and the run or session that it is for. Output: the message, to the task that drives the runner; the
//! outcome, back to the sender. Never: more waiting messages than a handle's bound; a message to an ended run whose sender
//! does not learn that it was not delivered.

use crate::log::StreamId;
use framegate_translators::frame::{SharedStr, StreamKind};
use framegate_translators::host::{HostMessage, SendError};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{mpsc, oneshot};
use uuid::Uuid;

/// How many messages may wait on one handle.
const WAITING: usize = 64;

/// A message to a run.
#[derive(Debug)]
pub struct Envelope {
    /// The message.
    pub message: HostMessage,
    /// The run, or the session by its thread stream; `None` if the handle is not registered for a run or session.
    pub to: Option<StreamId>,
    /// The sender: the name of a token.
    pub by: String,
    /// Receives the outcome.
    pub done: oneshot::Sender<Result<(), MessageError>>,
}

/// Why a message was not delivered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MessageError {
    /// The run has ended or accepts no messages: it was sent in, or its upstream accepts none.
    #[error("this run accepts no input: it has ended, or the proxy did not start it")]
    Gone,
    /// The runner is busy and does not close.
    #[error("the runner of this session is busy")]
    AtWork,
    /// The runner is about to exit.
    #[error("the runner of this session is about to exit; POST /v1/runs with the session_id starts another one")]
    Leaving,
    /// Too many messages wait already.
    #[error("{WAITING} messages are waiting for this run; try again later")]
    Busy,
    /// The run has no such question.
    #[error("this run has no question {0:?}")]
    UnknownQuestion(String),
    /// The question has already been answered.
    #[error("the question {0:?} was already answered")]
    Answered(String),
    /// The runner's protocol cannot express the message.
    #[error(transparent)]
    SendError(#[from] SendError),
    /// The message was passed on and failed there.
    #[error("{0}")]
    Failed(String),
}

/// The sending end for messages to a run.
#[derive(Clone, Debug)]
pub struct Handle {
    to: mpsc::Sender<Envelope>,
    stands_for: Option<StreamId>,
}

impl Handle {
    /// Creates a handle and the receiver for the task that drives the run.
    pub fn new() -> (Self, mpsc::Receiver<Envelope>) {
        let (to, from) = mpsc::channel(WAITING);
        (Self { to, stands_for: None }, from)
    }

    /// Sends a message and waits until it is passed on.
    ///
    /// # Errors
    /// Why it was not passed on.
    pub async fn send(&self, message: HostMessage, by: &str) -> Result<(), MessageError> {
        let (done, outcome) = oneshot::channel();
        let envelope = Envelope { message, to: self.stands_for, by: by.to_owned(), done };
        self.to.try_send(envelope).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => MessageError::Busy,
            mpsc::error::TrySendError::Closed(_) => MessageError::Gone,
        })?;
        outcome.await.unwrap_or(Err(MessageError::Gone))
    }
}

/// The handles of runs in progress, and of sessions whose runners still accept messages.
#[derive(Debug, Default)]
pub struct Handles {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    by_id: HashMap<StreamId, (u64, Handle)>,
    /// Distinguishes successive entries of the same session.
    number: u64,
    /// Sessions for which a runner is being started.
    claimed: HashSet<Uuid>,
    /// The questions of each stream that no rule answers and whose answer is not being passed on.
    asked: HashMap<StreamId, HashSet<SharedStr>>,
}

impl Handles {
    /// The handle of a run; `None` if the run accepts no messages.
    pub fn find(&self, run_id: Uuid) -> Option<Handle> {
        self.find_id((StreamKind::Session, run_id))
    }

    /// The handle of a session; `None` if no runner of it accepts messages.
    pub fn find_session(&self, session_id: Uuid) -> Option<Handle> {
        self.find_id((StreamKind::Thread, session_id))
    }

    fn find_id(&self, id: StreamId) -> Option<Handle> {
        self.lock().by_id.get(&id).map(|(_, handle)| handle.clone())
    }

    /// Claims a session for a runner that is being started, until the returned claim is dropped. `None` if another runner is
    /// being started for the session.
    pub fn claim(self: &Arc<Self>, session_id: Uuid) -> Option<Claim> {
        let is_first = self.lock().claimed.insert(session_id);
        is_first.then(|| Claim { handles: self.clone(), session_id })
    }

    /// Records that a person must answer a question. Has no effect if the stream is not registered.
    pub(super) fn ask(&self, stream: StreamId, approval_id: &SharedStr) {
        let mut entries = self.lock();
        if entries.by_id.contains_key(&stream) {
            entries.asked.entry(stream).or_default().insert(approval_id.clone());
        }
    }

    /// Records that no person needs to answer a question: it is settled, or an answer is being passed on.
    pub(super) fn unask(&self, stream: StreamId, approval_id: &str) {
        let mut entries = self.lock();
        if let Some(asked) = entries.asked.get_mut(&stream) {
            asked.remove(approval_id);
        }
    }

    /// Whether a person must answer one of these questions of a run.
    pub fn asks_person(&self, run_id: Uuid, approval_ids: &[String]) -> bool {
        let entries = self.lock();
        let asked = entries.asked.get(&(StreamKind::Session, run_id));
        asked.is_some_and(|asked| approval_ids.iter().any(|id| asked.contains(id.as_str())))
    }

    /// Registers a run until the returned guard is dropped.
    pub fn enter(self: &Arc<Self>, run_id: Uuid, handle: Handle) -> Entered {
        self.enter_id((StreamKind::Session, run_id), handle)
    }

    /// Registers a session until the returned guard is dropped. Replaces the entry of another runner of the session.
    pub fn enter_session(self: &Arc<Self>, session_id: Uuid, handle: Handle) -> Entered {
        self.enter_id((StreamKind::Thread, session_id), handle)
    }

    fn enter_id(self: &Arc<Self>, id: StreamId, handle: Handle) -> Entered {
        let mut entries = self.lock();
        entries.number += 1;
        let number = entries.number;
        entries.by_id.insert(id, (number, Handle { stands_for: Some(id), ..handle }));
        Entered { handles: self.clone(), id, number }
    }

    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right to start a runner for a session.
#[derive(Debug)]
pub struct Claim {
    handles: Arc<Handles>,
    session_id: Uuid,
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.handles.lock().claimed.remove(&self.session_id);
    }
}

/// Keeps the entry of one run or session registered.
#[derive(Debug)]
pub struct Entered {
    handles: Arc<Handles>,
    id: StreamId,
    number: u64,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut entries = self.handles.lock();
        if entries.by_id.get(&self.id).is_some_and(|(number, _)| *number == self.number) {
            entries.by_id.remove(&self.id);
            entries.asked.remove(&self.id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_message_to_a_run_that_is_gone_is_an_error() {
        let handles = Arc::new(Handles::default());
        let (handle, listening) = Handle::new();
        let run_id = Uuid::from_u128(1);
        let entered = handles.enter(run_id, handle);
        let handle = handles.find(run_id).expect("the run was entered");
        drop(listening);
        assert!(matches!(handle.send(HostMessage::Interrupt, "somebody").await, Err(MessageError::Gone)));
        drop(entered);
        assert!(handles.find(run_id).is_none());
    }

    #[test]
    fn a_session_stays_registered_until_its_last_runner_leaves() {
        let handles = Arc::new(Handles::default());
        let session_id = Uuid::from_u128(2);
        let first = handles.enter_session(session_id, Handle::new().0);
        let second = handles.enter_session(session_id, Handle::new().0);
        drop(first);
        assert!(handles.find_session(session_id).is_some(), "the second runner must stay registered");
        assert!(handles.find(session_id).is_none(), "a session must not be found as a run");
        drop(second);
        assert!(handles.find_session(session_id).is_none());
    }

    #[test]
    fn a_question_waits_for_a_person_until_it_is_answered_or_its_run_ends() {
        let handles = Arc::new(Handles::default());
        let (run, question) = ((StreamKind::Session, Uuid::from_u128(5)), SharedStr::from("ask"));
        let ids = ["ask".to_owned()];
        handles.ask(run, &question);
        assert!(!handles.asks_person(run.1, &ids), "the run is not registered");
        let entered = handles.enter(run.1, Handle::new().0);
        handles.ask(run, &question);
        assert!(handles.asks_person(run.1, &ids) && !handles.asks_person(run.1, &["other".to_owned()]));
        handles.unask(run, "ask");
        assert!(!handles.asks_person(run.1, &ids));
        handles.ask(run, &question);
        drop(entered);
        assert!(!handles.asks_person(run.1, &ids) && handles.lock().asked.is_empty());
    }

    #[test]
    fn a_session_has_at_most_one_claim() {
        let handles = Arc::new(Handles::default());
        let claim = handles.claim(Uuid::from_u128(3));
        assert!(claim.is_some() && handles.claim(Uuid::from_u128(3)).is_none());
        assert!(handles.claim(Uuid::from_u128(4)).is_some(), "another session");
        drop(claim);
        assert!(handles.claim(Uuid::from_u128(3)).is_some());
    }

    #[tokio::test]
    async fn waiting_messages_are_bounded() {
        let (handle, mut listening) = Handle::new();
        let waiting: Vec<_> = (0..WAITING)
            .map(|_| {
                let handle = handle.clone();
                tokio::spawn(async move { handle.send(HostMessage::Interrupt, "somebody").await })
            })
            .collect();
        tokio::task::yield_now().await;
        while listening.len() < WAITING {
            tokio::task::yield_now().await;
        }
        assert!(matches!(handle.send(HostMessage::Interrupt, "one more").await, Err(MessageError::Busy)));
        while let Ok(envelope) = listening.try_recv() {
            let _ = envelope.done.send(Ok(()));
        }
        for one in waiting {
            assert!(one.await.expect("the task ran").is_ok());
        }
    }
}
