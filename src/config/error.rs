//! What is wrong with a configuration, told so that it can be put right.

use crate::nearest::nearest;
use std::fmt::Write;

/// A configuration that cannot be used: everything that is wrong with it.
#[derive(Debug, thiserror::Error)]
#[error("the configuration cannot be used: {}", .problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("; "))]
pub struct ConfigError {
    /// At least one.
    pub problems: Vec<Problem>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Problem {
    /// The source and the key: `config.toml, server.listen`, or `FRAMEGATE__SERVER__LISTEN`.
    pub place: String,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl From<Problem> for ConfigError {
    fn from(problem: Problem) -> Self {
        Self { problems: vec![problem] }
    }
}

/// Says that there is no such thing, which one may have been meant, and which ones there are.
pub(crate) fn unknown<'n>(what: &str, given: &str, known: impl Iterator<Item = &'n str> + Clone) -> String {
    let mut message = format!("there is no {what} {given:?}");
    if let Some(name) = nearest(given, known.clone()) {
        let _ = write!(message, ", did you mean {name:?}?");
    }
    let _ = write!(message, " (known: {})", known.collect::<Vec<_>>().join(", "));
    message
}
