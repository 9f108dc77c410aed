//! A host's messages to an interactive runner: prompts, answers, interruptions.
//!
//! Input: the host's messages, and the runner's own records before redaction (an answer may have to repeat what was asked).
//! Output: what to send to the runner, in its own protocol. Never: I/O, a clock, or a decision; the host decides whether, when
//! and by whom a question is answered.

mod pending_questions;
mod prompt_file;
mod services;

use crate::decode::Record;
use crate::frame::{Decision, RawJson, SharedStr};

pub(crate) use pending_questions::PendingQuestions;
pub use prompt_file::{FileContent, PromptFile};
pub use services::{Offer, Served, Service, ServiceError, ServiceRequest, TerminalExit};

/// The options with which a runner is started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// The first prompt.
    pub prompt: String,
    /// The files that belong to the prompt. The runner must take them ([`Dialogue::takes`]).
    pub files: Vec<PromptFile>,
    /// The runner's own name of the session to continue; `None` for a new session.
    pub session: Option<String>,
    /// The working directory; `None` for the one in which it is started.
    pub cwd: Option<String>,
    /// The model; `None` for the runner's own choice.
    pub model: Option<String>,
    /// The name of a mode of the runner ([`Modes`](crate::runners::Modes)), in which it works on this and further prompts; `None` for
    /// the runner's own choice.
    pub mode: Option<String>,
}

/// A message that the host wants to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostMessage {
    /// The next prompt of the session.
    Prompt(String),
    /// Stop the current work; the runner keeps running.
    Interrupt,
    /// Answer a question.
    Answer {
        /// The question's id: the `approval_id` of its `approval_requested` frame.
        approval_id: SharedStr,
        /// The answer.
        answer: Answer,
    },
    /// No more prompts follow: the runner may exit when it is done.
    Close,
}

/// The answer to a runner's question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What was decided.
    pub decision: Decision,
    /// Why; for the runner and its model.
    pub reason: Option<String>,
    /// How far the decision reaches (`once`, `session`, `always`); `None` means once.
    pub scope: Option<SharedStr>,
    /// The choices or texts for each question, if the runner asked for any.
    pub answers: Vec<Vec<String>>,
}

/// A runner's question, as the runner asked it.
#[derive(Clone, Debug)]
pub struct OpenQuestion {
    /// The arguments to approve, unredacted, unlike those in a frame. `None` if the question does not contain them.
    pub args: Option<RawJson>,
    /// Whether the runner needs a choice or a text, so that a plain approval is not an answer.
    pub wants_answers: bool,
    /// Why this question cannot be answered here, as a message; a host rejects it at once with this reason. `None` if it can be
    /// answered.
    pub unanswerable: Option<String>,
}

/// The reason in an `approval_resolved` frame if a runner reports that a question is settled, but not how.
pub const SETTLED: &str = "settled; the runner does not say how";

/// What to send to the runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outgoing {
    /// Bytes for its standard input, in whole lines.
    Input(Vec<u8>),
    /// Close its standard input.
    EndOfInput,
    /// A request to its server.
    Post {
        /// The path and query, from the server's root.
        path: String,
        /// The JSON body; empty if there is none.
        body: Vec<u8>,
    },
}

/// Why a message cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError {
    /// The runner's protocol has no message for it in this mode; the text explains.
    Unsupported(&'static str),
    /// There is no such question, or it is already answered.
    UnknownQuestion(SharedStr),
    /// The choices or texts do not fit the question, or the prompt is not accepted; the text explains.
    InvalidAnswer(String),
}

impl std::fmt::Display for SendError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unsupported(sentence) => f.write_str(sentence),
            Self::InvalidAnswer(sentence) => f.write_str(sentence),
            Self::UnknownQuestion(id) => write!(f, "no open question {:?}", &**id),
        }
    }
}

impl std::error::Error for SendError {}

/// The host's side of a conversation with one runner.
pub trait Dialogue: Send {
    /// Prepares the messages that are sent before the runner sends anything.
    fn open(&mut self, opening: &Opening);

    /// Whether the runner takes such a file with a prompt.
    fn takes(&self, _file: &PromptFile) -> bool {
        false
    }

    /// Processes the runner's next record.
    fn receive(&mut self, record: &Record<'_>);

    /// Queues a message, to be sent at once or as soon as the runner's protocol allows (see [`Dialogue::take`]). An answer is
    /// exactly one sending. `session` is the runner's own name of the session; `None` for the one that was opened.
    ///
    /// # Errors
    /// The message cannot be sent. After an error, a question stays open.
    fn send(&mut self, session: Option<&str>, message: &HostMessage) -> Result<(), SendError>;

    /// Takes what is to be sent now, in order.
    fn take(&mut self) -> Vec<Outgoing>;

    /// An open question as the runner asked it; `None` if there is no such question.
    fn question(&self, approval_id: &str) -> Option<OpenQuestion>;

    /// Why the runner refuses to work, in its own words; `None` while no reason is known.
    fn refusal(&self) -> Option<&str> {
        None
    }

    /// Tells the runner what the host offers, before [`Dialogue::open`]. A protocol without such requests ignores it.
    fn offer(&mut self, _offer: Offer) {}

    /// Takes the requests that the host is to carry out now.
    fn take_services(&mut self) -> Vec<ServiceRequest> {
        Vec::new()
    }

    /// Processes the result of a request, which is passed on to the runner unless the runner withdrew the request.
    fn served(&mut self, ticket: u64, result: Result<Served, ServiceError>) {
        let _ = (ticket, result);
    }

    /// Processes the server's response to a [`Outgoing::Post`] of that path.
    fn replied(&mut self, path: &str, body: &[u8]) {
        let _ = (path, body);
    }
}
