//! A recording with the facts that its manifest states, and comparisons with them.

use super::{fixtures_dir, frames};
use framegate_translators::frame::{Body, Frame, SessionEnded, Usage, UsageScope};
use framegate_translators::runners::Runner;
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A recording with its facts and its frames.
pub struct Case {
    pub name: String,
    pub facts: Value,
    /// The records that the strict reader of this test can read: not those with half of a surrogate pair.
    pub records: Vec<Value>,
    /// The number of records.
    pub count: usize,
    pub frames: Vec<Frame>,
}

pub fn file_of(runner: &Runner, name: &str) -> Vec<u8> {
    std::fs::read(fixtures_dir(runner.name).join(name)).unwrap()
}

pub fn cases_of(runner: &'static Runner) -> Vec<Case> {
    let manifest: Value = serde_json::from_slice(&file_of(runner, "MANIFEST.json")).unwrap();
    let of = |entry: &Value| {
        let name = entry["file"].as_str().unwrap().to_owned();
        let bytes = file_of(runner, &name);
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let count = lines.clone().count();
        let mut records: Vec<Value> = lines.filter_map(|line| serde_json::from_slice(line).ok()).collect();
        // A whole document is a list of the records.
        if let [Value::Array(all)] = records.as_slice() {
            records = all.clone();
        }
        Case { facts: entry["facts"].clone(), records, count, frames: frames(runner, &bytes), name }
    };
    list(&manifest["recordings"]).iter().map(of).collect()
}

/// Runs a check on at least so many recordings, and reports all failures at once.
pub fn each_of(cases: &[Case], least: usize, check: impl Fn(&Case) -> Result<(), String>) {
    assert!(cases.len() >= least, "{}", cases.len());
    let failed: Vec<String> =
        cases.iter().filter_map(|case| check(case).err().map(|why| format!("{}: {why}", case.name))).collect();
    assert!(failed.is_empty(), "{} of {}:\n{}", failed.len(), cases.len(), failed.join("\n"));
}

/// The ends of runs.
pub fn ends_in(frames: &[Frame]) -> Vec<(&Frame, &SessionEnded)> {
    let mut ends = Vec::new();
    for frame in frames {
        if let Body::SessionEnded(end) = &frame.body {
            ends.push((frame, &**end));
        }
    }
    ends
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
    fact["length_utf16"].as_u64() == Some(ours.encode_utf16().count() as u64) && fact["sha256_utf8"] == *hash
}

pub fn same_texts(what: &str, ours: &[&str], facts: &[Value]) -> Result<(), String> {
    let equal = ours.len() == facts.len() && ours.iter().zip(facts).all(|(ours, fact)| is_text(ours, fact));
    if equal { Ok(()) } else { Err(format!("{what}: {ours:?} instead of {facts:?}")) }
}

impl Case {
    pub fn is_session_file(&self) -> bool {
        self.name.ends_with(".session.jsonl")
    }

    /// Whether the file has earlier prompts, which the facts leave out.
    pub fn has_earlier_prompts(&self) -> bool {
        self.name == "resume.3.session.jsonl"
    }

    pub fn ends(&self) -> Vec<(&Frame, &SessionEnded)> {
        ends_in(&self.frames)
    }

    /// The frames that belong to the facts: those of the last run, if the file has earlier prompts.
    pub fn own_frames(&self) -> Vec<&Frame> {
        let last = self.ends().last().map(|(frame, _)| frame.stream.id);
        let is_own = |frame: &&Frame| !self.has_earlier_prompts() || Some(frame.stream.id) == last;
        self.frames.iter().filter(is_own).collect()
    }

    /// The texts of the main thread, or of subagents.
    pub fn texts(&self, of_subagents: bool) -> Vec<&str> {
        let frames = self.own_frames().into_iter().filter(|frame| frame.parent_tool_id.is_some() == of_subagents);
        frames
            .filter_map(|frame| match &frame.body {
                Body::OutputTextCompleted(block) => Some(block.text.as_str()),
                _ => None,
            })
            .collect()
    }

    pub fn usages(&self, scope: UsageScope) -> Vec<(&Frame, &Usage)> {
        let mut found = Vec::new();
        for frame in self.own_frames() {
            match &frame.body {
                Body::UsageReported(usage) if usage.scope == scope => found.push((frame, &**usage)),
                _ => {}
            }
        }
        found
    }
}
