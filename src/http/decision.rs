//! The answer to a question as clients write it, on every path.
//!
//! Input: JSON. Output: the answer that the runner gets. Never: a word that only looks like a decision.

use framegate_translators::frame::{Decision, SharedStr};
use framegate_translators::host::Answer;
use serde::Deserialize;

/// A decision, in the words of several APIs.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Word {
    #[serde(alias = "approve", alias = "allow")]
    Approved,
    #[serde(alias = "reject", alias = "deny")]
    Rejected,
    #[serde(alias = "cancel")]
    Cancelled,
}

/// The answer to one question: one text, or several.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Words {
    One(String),
    Many(Vec<String>),
}

/// A decision with what belongs to it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Decided {
    decision: Word,
    reason: Option<String>,
    scope: Option<String>,
    #[serde(default)]
    answers: Vec<Words>,
}

impl From<Word> for Decision {
    fn from(word: Word) -> Self {
        match word {
            Word::Approved => Self::Approved,
            Word::Rejected => Self::Rejected,
            Word::Cancelled => Self::Cancelled,
        }
    }
}

impl From<Decided> for Answer {
    fn from(decided: Decided) -> Self {
        let words = |words| match words {
            Words::One(word) => vec![word],
            Words::Many(words) => words,
        };
        Self {
            decision: decided.decision.into(),
            reason: decided.reason,
            scope: decided.scope.map(SharedStr::from),
            answers: decided.answers.into_iter().map(words).collect(),
        }
    }
}

/// A bare decision.
pub(super) fn bare(decision: Decision) -> Answer {
    Answer { decision, reason: None, scope: None, answers: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_accepts_only_known_decisions_and_fields() {
        let read = |text: &str| serde_json::from_str::<Decided>(text).map(Answer::from);
        for (word, is) in [
            ("approved", Decision::Approved),
            ("allow", Decision::Approved),
            ("deny", Decision::Rejected),
            ("cancel", Decision::Cancelled),
        ] {
            assert_eq!(read(&format!("{{\"decision\":\"{word}\"}}")).unwrap(), bare(is));
        }
        let answers = read(r#"{"decision":"approved","answers":["a",["b","c"]]}"#).unwrap().answers;
        assert_eq!(answers, [vec!["a".to_owned()], vec!["b".to_owned(), "c".to_owned()]]);
        for wrong in [
            "{}",
            r#"{"decision":"timed_out"}"#,
            r#"{"decision":"approved","answer":["a"]}"#,
            r#"{"decision":"approved","answers":[1]}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
