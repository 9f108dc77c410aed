//! A recording with its facts, and comparisons.

use crate::support::{fixtures_dir, frames};
use framegate_translators::frame::{Body, Frame, ProviderEvent, SessionEnded, Usage};
use framegate_translators::runners::{Runner, runner};
use serde_json::Value;
use std::sync::LazyLock;

/// One recording, its facts and its frames.
pub struct Case {
    pub name: String,
    pub facts: Value,
    pub whole: Value,
    pub frames: Vec<Frame>,
}

pub fn open_responses() -> &'static Runner {
    runner("open-responses").unwrap()
}

pub static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| {
    let dir = fixtures_dir("open-responses");
    let manifest: Value = serde_json::from_slice(&std::fs::read(dir.join("MANIFEST.json")).unwrap()).unwrap();
    let list = manifest["recordings"].as_array().unwrap().clone();
    let files = std::fs::read_dir(&dir)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "sse"));
    assert_eq!(list.len(), files.count(), "every recording has its facts");
    list.into_iter()
        .map(|whole| {
            let bytes = std::fs::read(dir.join(whole["file"].as_str().unwrap())).unwrap();
            Case {
                name: whole["name"].as_str().unwrap().to_owned(),
                facts: whole["facts"].clone(),
                frames: frames(open_responses(), &bytes),
                whole,
            }
        })
        .collect()
});

/// Checks a fact of every recording. `except` names recordings whose fact is known to differ, with the reason. It is a failure
/// if such a fact does not differ.
pub fn check(except: &[(&str, &str)], differs: impl Fn(&Case) -> Option<String>) {
    let mut wrong = Vec::new();
    for case in CASES.iter() {
        let excepted = except.iter().any(|(name, _)| *name == case.name);
        match differs(case) {
            Some(how) if !excepted => wrong.push(format!("{}: {how}", case.name)),
            None if excepted => wrong.push(format!("{} is an exception and need not be one", case.name)),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// Browsers drop an event without its blank line. framegate keeps it, and this event ends its run.
pub const CUT_EVENT: (&str, &str) =
    ("scripted__no-final-blank-line", "the facts leave out the cut event, which is response.completed");

/// Not an event by the rules of SSE, but a record for framegate.
pub const PLAIN_ERROR: (&str, &str) = ("scripted__http-error-json", "the body is a plain JSON error, not SSE");

pub fn same<T: PartialEq + std::fmt::Debug>(ours: T, theirs: T) -> Option<String> {
    (ours != theirs).then(|| format!("{ours:?} instead of {theirs:?}"))
}

impl Case {
    pub fn bodies(&self) -> impl Iterator<Item = &Body> {
        self.frames.iter().map(|frame| &frame.body)
    }

    pub fn records(&self) -> impl Iterator<Item = &ProviderEvent> {
        self.bodies().filter_map(|body| match body {
            Body::ProviderEvent(record) => Some(&**record),
            _ => None,
        })
    }

    pub fn ends(&self) -> Vec<&SessionEnded> {
        self.bodies().filter_map(|body| if let Body::SessionEnded(end) = body { Some(&**end) } else { None }).collect()
    }

    pub fn texts(&self) -> Vec<&str> {
        self.bodies()
            .filter_map(|body| if let Body::OutputTextCompleted(block) = body { Some(&*block.text) } else { None })
            .collect()
    }

    pub fn reasoning(&self) -> String {
        self.bodies()
            .filter_map(
                |body| if let Body::ReasoningCompleted { block, .. } = body { Some(&*block.text) } else { None },
            )
            .collect()
    }

    pub fn usage(&self) -> Vec<&Usage> {
        self.bodies()
            .filter_map(|body| if let Body::UsageReported(usage) = body { Some(&**usage) } else { None })
            .collect()
    }

    pub fn fact(&self, key: &str) -> &str {
        self.facts[key].as_str().unwrap_or_default()
    }
}
