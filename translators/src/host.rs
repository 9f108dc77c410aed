//! What a host says to a runner that takes input: prompts, answers, interruptions.
//!
//! In: what the host wants said, and the runner's own records as they came (before anything is redacted in them: an answer
//! may have to give back what was asked). Out: what is to be sent to the runner, in its own protocol. Never: reading or
//! writing, a clock, a decision; whether a question is answered, by whom and when is the host's affair.

mod waiting;

use crate::decode::Record;
use crate::frame::{Decision, Name, RawJson};

pub(crate) use waiting::Waiting;

/// What a runner is started with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// What it is to do.
    pub prompt: String,
    /// The runner's own name of the session that is to go on; `None` for a new one.
    pub session: Option<String>,
    /// The directory it works in; `None` for the one it is started in.
    pub cwd: Option<String>,
    /// The model; `None` for the runner's own choice.
    pub model: Option<String>,
}

/// What the host wants said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wish {
    /// The next prompt of the session.
    Prompt(String),
    /// What the runner is doing is to end; the runner stays.
    Interrupt,
    /// A question has its answer.
    Answer {
        /// The question: what its `approval_requested` frame calls `approval_id`.
        approval_id: Name,
        /// The answer.
        answer: Answer,
    },
    /// No prompt comes any more: the runner may leave when it is done.
    Close,
}

/// The answer to a question of the runner's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// What was decided.
    pub decision: Decision,
    /// Why, for the runner and its model to read.
    pub reason: Option<String>,
    /// How far it reaches (`once`, `session`, `always`); `None` is once.
    pub scope: Option<Name>,
    /// What was chosen or written, question by question, where choices or text were asked for.
    pub answers: Vec<Vec<String>>,
}

/// A question of the runner's, as it asked it.
#[derive(Clone, Debug)]
pub struct Asked {
    /// What is asked about: a frame's `args` may have lost what is redacted. `None` where the question itself does not say.
    pub args: Option<RawJson>,
    /// Whether a choice or a text is wanted, so that a bare yes is no answer.
    pub wants_answers: bool,
    /// Why nobody can answer it here, in words; a host rejects it at once, for this reason. `None` where somebody can.
    pub unanswerable: Option<String>,
}

/// The reason in an `approval_resolved` frame where a runner says that a question is settled, and not how.
pub const SETTLED: &str = "settled; the runner does not say how";

/// What is to be sent to the runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sending {
    /// Bytes for its standard input, whole lines.
    Input(Vec<u8>),
    /// Its standard input is over.
    EndOfInput,
    /// A request to its server.
    Post {
        /// The path and query, from the server's root.
        path: String,
        /// The body, which is JSON; empty where there is none.
        body: Vec<u8>,
    },
}

/// Why something cannot be said.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unsayable {
    /// The runner has no word for it in this form of use, as the sentence says.
    NoWord(&'static str),
    /// There is no such question, or it has its answer.
    NoQuestion(Name),
    /// What was chosen or written is none of what the question wants, as the sentence says.
    Unfit(String),
}

impl std::fmt::Display for Unsayable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoWord(sentence) => f.write_str(sentence),
            Self::Unfit(sentence) => f.write_str(sentence),
            Self::NoQuestion(id) => write!(f, "no question {:?} waits for an answer", &**id),
        }
    }
}

impl std::error::Error for Unsayable {}

/// The host's half of a conversation with one runner.
pub trait Dialogue: Send {
    /// What is said before the runner says anything.
    fn open(&mut self, opening: &Opening);

    /// Hears the next record of the runner's.
    fn hear(&mut self, record: &Record<'_>);

    /// Says something, at once or as soon as the runner's protocol lets it (see [`Dialogue::take`]); an answer is one sending.
    /// `session` is the runner's
    /// own name of the session that it is about; `None` for the one that was opened.
    ///
    /// # Errors
    /// It cannot be said. An answer that is an error leaves its question as it was.
    fn say(&mut self, session: Option<&str>, wish: &Wish) -> Result<(), Unsayable>;

    /// What is to be sent now, in order.
    fn take(&mut self) -> Vec<Sending>;

    /// A question that was heard and waits, as the runner asked it; `None` for any other.
    fn asked(&self, approval_id: &str) -> Option<Asked>;

    /// Why the runner does not do what it was opened for, as it said itself; `None` while nothing is known against it.
    fn refusal(&self) -> Option<&str> {
        None
    }

    /// What the runner's server answered to a [`Sending::Post`] of that path.
    fn replied(&mut self, path: &str, body: &[u8]) {
        let _ = (path, body);
    }
}
