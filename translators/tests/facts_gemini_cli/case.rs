//! A recording with its facts, and comparisons.

use crate::support::{fixtures_dir, frames};
use framegate_translators::frame::{Body, Frame, SessionEnded, Usage, UsageScope};
use framegate_translators::runners::{Runner, runner};
use serde_json::Value;
use sha2::{Digest, Sha256};

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

pub fn same<T: PartialEq + std::fmt::Debug>(what: &str, ours: &T, theirs: &T) -> Result<(), String> {
    if ours == theirs { Ok(()) } else { Err(format!("{what}: {ours:?} instead of {theirs:?}")) }
}

pub fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Whether a text matches a fact, which describes a long text by its length and hash.
pub fn is_text(ours: &str, fact: &Value) -> bool {
    if let Some(text) = fact.as_str() {
        return ours == text;
    }
    let hash: String = Sha256::digest(ours.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    fact["sha256_utf8"] == *hash
}

pub fn same_texts(what: &str, ours: &[&str], facts: &[Value]) -> Result<(), String> {
    let equal = ours.len() == facts.len() && ours.iter().zip(facts).all(|(ours, fact)| is_text(ours, fact));
    if equal { Ok(()) } else { Err(format!("{what}: {ours:?} instead of {facts:?}")) }
}

impl Case {
    pub fn is_chat_file(&self) -> bool {
        self.surface == "session file"
    }

    pub fn is_stream(&self) -> bool {
        self.surface == "stream-json"
    }

    pub fn ends(&self) -> Vec<(&Frame, &SessionEnded)> {
        let mut ends = Vec::new();
        for frame in &self.frames {
            if let Body::SessionEnded(end) = &frame.body {
                ends.push((frame, &**end));
            }
        }
        ends
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
