//! A recording with its facts, and comparisons.

pub use crate::support::facts::{ends_in, is_text, list, same, same_texts, text};
use crate::support::{fixtures_dir, frames};
use framegate_translators::frame::{Body, Frame, SessionEnded, Usage, UsageScope};
use framegate_translators::runners::{Runner, runner};
use serde_json::Value;

pub fn gemini() -> &'static Runner {
    runner("gemini-cli").unwrap()
}

/// A recording with its facts and its frames.
pub struct Case {
    pub name: String,
    pub surface: String,
    pub facts: Value,
    pub count: usize,
    pub frames: Vec<Frame>,
}

pub fn cases() -> Vec<Case> {
    let bytes_of = |name: &str| std::fs::read(fixtures_dir("gemini-cli").join(name)).unwrap();
    let manifest: Value = serde_json::from_slice(&bytes_of("MANIFEST.json")).unwrap();
    let of = |entry: &Value| {
        let name = text(&entry["file"]).to_owned();
        let surface = text(&entry["surface"]).to_owned();
        let bytes = bytes_of(&name);
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).count();
        let count = if surface == "json" { 1 } else { lines };
        Case { facts: entry["facts"].clone(), count, frames: frames(gemini(), &bytes), surface, name }
    };
    list(&manifest["recordings"]).iter().map(of).collect()
}

/// Runs a check on every recording with facts, and reports all failures at once.
pub fn each(check: impl Fn(&Case) -> Result<(), String>) {
    let cases = cases();
    assert!(cases.len() > 110, "{}", cases.len());
    let with_facts = cases.iter().filter(|case| case.facts.get("texts").is_some());
    let failed: Vec<String> =
        with_facts.filter_map(|case| check(case).err().map(|why| format!("{}: {why}", case.name))).collect();
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), cases.len(), failed.join("\n"));
}

impl Case {
    pub fn is_chat_file(&self) -> bool {
        self.surface == "session file"
    }

    pub fn is_stream(&self) -> bool {
        self.surface == "stream-json"
    }

    pub fn ends(&self) -> Vec<(&Frame, &SessionEnded)> {
        ends_in(&self.frames)
    }

    /// The frames that belong to the facts: a chat file has those of earlier prompts as well.
    pub fn own_frames(&self) -> Vec<&Frame> {
        let last = self.ends().last().map(|(frame, _)| frame.stream.id);
        self.frames.iter().filter(|frame| Some(frame.stream.id) == last).collect()
    }

    pub fn texts(&self) -> Vec<&str> {
        let frames = self.own_frames().into_iter();
        frames
            .filter_map(|frame| match &frame.body {
                Body::OutputTextCompleted(block) => Some(block.text.as_str()),
                _ => None,
            })
            .collect()
    }

    pub fn usages(&self, scope: UsageScope) -> Vec<&Usage> {
        let mut found = Vec::new();
        for frame in self.own_frames() {
            match &frame.body {
                Body::UsageReported(usage) if usage.scope == scope => found.push(&**usage),
                _ => {}
            }
        }
        found
    }
}
