//! Messages to runners that another proxy drives.
//!
//! Input: a message, and the run or session that it is for. Output: the outcome there, as if the runner were here. Never: a message that is
//! passed on twice; a message that two proxies deliver.

use super::{Ask, AskError};
use crate::log::StreamId;
use crate::runs::Runs;
use crate::upstream::{Handle, Handles, MessageError};
use framegate_translators::frame::{Decision, SharedStr, StreamKind};
use framegate_translators::host::{Answer, HostMessage, SendError};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use uuid::Uuid;

/// How long a runner may take to read a message.
const PATIENCE: Duration = Duration::from_secs(25);

/// How long the proxy that asks waits: until the other one has given up, and answered.
const LIMIT: Duration = Duration::from_secs(28);

/// A message between proxies.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Letter {
    to: Recipient,
    /// The name of the sender's token.
    by: String,
    message: Content,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Recipient {
    Run(Uuid),
    Session(Uuid),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Content {
    Prompt(String),
    Interrupt,
    Close,
    Answer {
        approval_id: String,
        decision: Decision,
        reason: Option<String>,
        scope: Option<String>,
        answers: Vec<Vec<String>>,
    },
}

/// The outcome of a message.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Delivered,
    Gone,
    AtWork,
    Leaving,
    Busy,
    UnknownQuestion(String),
    Answered(String),
    NotOpen(String),
    Invalid(String),
    Failed(String),
}

impl From<HostMessage> for Content {
    fn from(message: HostMessage) -> Self {
        match message {
            HostMessage::Prompt(prompt) => Self::Prompt(prompt),
            HostMessage::Interrupt => Self::Interrupt,
            HostMessage::Close => Self::Close,
            HostMessage::Answer { approval_id, answer } => Self::Answer {
                approval_id: approval_id.to_string(),
                decision: answer.decision,
                reason: answer.reason,
                scope: answer.scope.map(|scope| scope.to_string()),
                answers: answer.answers,
            },
        }
    }
}

impl From<Content> for HostMessage {
    fn from(content: Content) -> Self {
        match content {
            Content::Prompt(prompt) => Self::Prompt(prompt),
            Content::Interrupt => Self::Interrupt,
            Content::Close => Self::Close,
            Content::Answer { approval_id, decision, reason, scope, answers } => Self::Answer {
                approval_id: SharedStr::from(approval_id),
                answer: Answer { decision, reason, scope: scope.map(SharedStr::from), answers },
            },
        }
    }
}

impl From<Result<(), MessageError>> for Outcome {
    fn from(result: Result<(), MessageError>) -> Self {
        match result {
            Ok(()) => Self::Delivered,
            Err(MessageError::Gone) => Self::Gone,
            Err(MessageError::AtWork) => Self::AtWork,
            Err(MessageError::Leaving) => Self::Leaving,
            Err(MessageError::Busy) => Self::Busy,
            Err(MessageError::UnknownQuestion(id)) => Self::UnknownQuestion(id),
            Err(MessageError::Answered(id)) => Self::Answered(id),
            Err(MessageError::SendError(SendError::UnknownQuestion(id))) => Self::NotOpen(id.to_string()),
            Err(MessageError::SendError(error)) => Self::Invalid(error.to_string()),
            Err(MessageError::Failed(why)) => Self::Failed(why),
        }
    }
}

impl From<Outcome> for Result<(), MessageError> {
    fn from(outcome: Outcome) -> Self {
        Err(match outcome {
            Outcome::Delivered => return Ok(()),
            Outcome::Gone => MessageError::Gone,
            Outcome::AtWork => MessageError::AtWork,
            Outcome::Leaving => MessageError::Leaving,
            Outcome::Busy => MessageError::Busy,
            Outcome::UnknownQuestion(id) => MessageError::UnknownQuestion(id),
            Outcome::Answered(id) => MessageError::Answered(id),
            Outcome::NotOpen(id) => SendError::UnknownQuestion(SharedStr::from(id)).into(),
            Outcome::Invalid(why) => SendError::InvalidAnswer(why).into(),
            Outcome::Failed(why) => MessageError::Failed(why),
        })
    }
}

/// Sends a message to a run whose runner another proxy drives; `None` if no other proxy does.
pub async fn send_to_run(runs: &Runs, run: Uuid, message: HostMessage, by: &str) -> Option<Result<(), MessageError>> {
    send(runs, (StreamKind::Session, run), Recipient::Run(run), message, by).await
}

/// Sends a message to a session whose runner another proxy drives; `None` if no other proxy does.
pub async fn send_to_session(
    runs: &Runs,
    session: Uuid,
    message: HostMessage,
    by: &str,
) -> Option<Result<(), MessageError>> {
    // The newest run of the session is where its runner is.
    let entry = runs.newest_first().into_iter().find(|entry| entry.stream.session.id == session)?;
    send(runs, entry.id(), Recipient::Session(session), message, by).await
}

async fn send(
    runs: &Runs,
    stream: StreamId,
    to: Recipient,
    message: HostMessage,
    by: &str,
) -> Option<Result<(), MessageError>> {
    let letter = Letter { to, by: by.to_owned(), message: message.into() };
    Some(match Ask::Deliver(letter).send::<Outcome>(runs, stream, LIMIT).await? {
        Ok(outcome) => outcome.into(),
        Err(error @ AskError::TooLarge(_)) => Err(SendError::InvalidAnswer(error.to_string()).into()),
        Err(error) => Err(MessageError::Failed(error.to_string())),
    })
}

/// Delivers a message of another proxy.
pub(super) async fn deliver(handles: &Handles, letter: Letter) -> Outcome {
    let Letter { to, by, message } = letter;
    let handle: Option<Handle> = match to {
        Recipient::Run(run) => handles.find(run),
        Recipient::Session(session) => handles.find_session(session),
    };
    let Some(handle) = handle else { return Outcome::Gone };
    match tokio::time::timeout(PATIENCE, handle.send(message.into(), &by)).await {
        Ok(result) => result.into(),
        Err(_) => Outcome::Failed("the runner has not read the input yet; it may still do so".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[tokio::test]
    async fn a_message_and_its_outcome_are_the_same_at_the_other_proxy() {
        let handles = Arc::new(Handles::default());
        let (run, (handle, mut listening)) = (Uuid::from_u128(1), Handle::new());
        let _entered = handles.enter(run, handle);
        let answer = Answer {
            decision: Decision::Rejected,
            reason: Some("no".to_owned()),
            scope: Some(SharedStr::from("once")),
            answers: vec![vec!["a".to_owned()]],
        };
        let messages = [
            HostMessage::Interrupt,
            HostMessage::Close,
            HostMessage::Prompt("go on".to_owned()),
            HostMessage::Answer { approval_id: SharedStr::from("ask"), answer },
        ];
        for message in messages {
            let letter = Letter { to: Recipient::Run(run), by: "ann".to_owned(), message: message.clone().into() };
            let letter = serde_json::to_vec(&letter).unwrap();
            let delivering = tokio::spawn({
                let handles = handles.clone();
                async move { deliver(&handles, serde_json::from_slice(&letter).unwrap()).await }
            });
            let envelope = listening.recv().await.unwrap();
            assert_eq!((envelope.message, envelope.by.as_str()), (message, "ann"));
            envelope.done.send(Err(MessageError::Answered("ask".to_owned()))).unwrap();
            let outcome = serde_json::to_vec(&delivering.await.unwrap()).unwrap();
            let outcome: Outcome = serde_json::from_slice(&outcome).unwrap();
            assert!(matches!(outcome.into(), Err(MessageError::Answered(id)) if id == "ask"));
        }
        let letter = Letter { to: Recipient::Run(Uuid::nil()), by: String::new(), message: Content::Interrupt };
        assert!(matches!(deliver(&handles, letter).await, Outcome::Gone));
    }

    #[test]
    fn every_error_keeps_its_meaning() {
        let errors = || {
            [
                MessageError::Gone,
                MessageError::AtWork,
                MessageError::Leaving,
                MessageError::Busy,
                MessageError::UnknownQuestion("q".to_owned()),
                MessageError::Answered("q".to_owned()),
                MessageError::SendError(SendError::UnknownQuestion(SharedStr::from("q"))),
                MessageError::SendError(SendError::InvalidAnswer("why".to_owned())),
                MessageError::Failed("why".to_owned()),
            ]
        };
        for (sent, there) in errors().into_iter().zip(errors()) {
            let back: Result<(), MessageError> = Outcome::from(Err(sent)).into();
            assert_eq!(format!("{:?}", back.unwrap_err()), format!("{there:?}"));
        }
    }
}
