//! Problems in a configuration, with enough context to fix them.

use super::SECTIONS;
use crate::platform::files::EMPTY;
use crate::suggest::nearest;
use figment::providers::{Format, Toml};
use std::fmt::Write;

/// A configuration that cannot be used, with all its problems.
#[derive(Debug, thiserror::Error)]
#[error("the configuration is invalid: {}", .problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("; "))]
pub struct ConfigError {
    /// The problems; at least one.
    pub problems: Vec<Problem>,
}

impl ConfigError {
    /// Adds a hint if the default file has none of framegate's sections: it may belong to another program.
    pub(super) fn of_default_file(mut self, text: &str) -> Self {
        let is_ours = |key: &String| SECTIONS.iter().any(|section| section.name == key) || key == super::load::UPSTREAM;
        let parsed: Result<figment::value::Dict, _> = Toml::from_str(text);
        if !text.trim().is_empty() && !parsed.is_ok_and(|file| file.keys().any(is_ours)) {
            let message = format!(
                "if this file belongs to another program, name framegate's own with --config FILE ({EMPTY} for none)"
            );
            self.problems.push(Problem { place: super::DEFAULT_FILE.to_owned(), message });
        }
        self
    }
}

/// One problem in a configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct Problem {
    /// The source and the key: `config.toml, server.listen`, or `FRAMEGATE__SERVER__LISTEN`.
    pub place: String,
    /// The problem, and what would be correct.
    pub message: String,
}

impl From<Problem> for ConfigError {
    fn from(problem: Problem) -> Self {
        Self { problems: vec![problem] }
    }
}

/// A message that `given` is unknown, with the nearest known name and a list of all known names.
pub(crate) fn unknown<'n>(what: &str, given: &str, known: impl Iterator<Item = &'n str> + Clone) -> String {
    let mut message = format!("unknown {what} {given:?}");
    if let Some(name) = nearest(given, known.clone()) {
        let _ = write!(message, ", did you mean {name:?}?");
    }
    let _ = write!(message, " (known: {})", known.collect::<Vec<_>>().join(", "));
    message
}
