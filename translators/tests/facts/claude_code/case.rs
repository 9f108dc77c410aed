//! A recording with its facts, and comparisons.

use crate::support::{fixtures_dir, frames};
use framegate_translators::frame::{Body, Frame, SessionEnded, Usage, UsageScope};
use framegate_translators::runners::{Runner, runner};
use serde_json::Value;
use std::collections::BTreeSet;

pub fn claude() -> &'static Runner {
    runner("claude-code").unwrap()
}

pub fn manifest() -> serde_json::Map<String, Value> {
    let text = std::fs::read(fixtures_dir("claude-code").join("MANIFEST.json")).unwrap();
    let Value::Object(mut whole) = serde_json::from_slice(&text).unwrap() else { panic!("no object") };
    let Some(Value::Object(recordings)) = whole.remove("recordings") else { panic!("no recordings") };
    recordings
}

/// A recording with its facts and its frames.
pub struct Case {
    pub name: String,
    pub facts: Value,
    pub records: Vec<Value>,
    pub frames: Vec<Frame>,
}

pub fn read(name: &str) -> (Vec<Value>, Vec<Frame>) {
    let bytes = std::fs::read(fixtures_dir("claude-code").join(name)).unwrap();
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    (lines.filter_map(|line| serde_json::from_slice(line).ok()).collect(), frames(claude(), &bytes))
}

/// Runs a check on every recording, and reports all failures at once.
pub fn each(check: impl Fn(&Case) -> Result<(), String>) {
    let mut failed = Vec::new();
    let mut checked = 0;
    for (name, entry) in manifest() {
        let (records, frames) = read(&name);
        let case = Case { facts: entry["facts"].clone(), name, records, frames };
        checked += 1;
        if let Err(why) = check(&case) {
            failed.push(format!("{}: {why}", case.name));
        }
    }
    assert!(checked > 100, "{checked}");
    assert!(failed.is_empty(), "{} of {checked}:\n{}", failed.len(), failed.join("\n"));
}

pub fn same<T: PartialEq + std::fmt::Debug>(what: &str, ours: &T, theirs: &T) -> Result<(), String> {
    if ours == theirs { Ok(()) } else { Err(format!("{what}: {ours:?} instead of {theirs:?}")) }
}

pub fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Whether a run's answer is its result. The trailing blank lines of a command's output are not shown.
pub fn is_answer(ours: &str, fact: &Value, case: &Case) -> bool {
    let trimmed = |fact: &Value| fact["text"].as_str().is_some_and(|text| text.trim_end() == ours);
    is_text(ours, fact) || (!case.synthetic().is_empty() && trimmed(fact))
}

/// Whether a text matches a fact, which may describe a long text by its size, head and tail.
pub fn is_text(ours: &str, fact: &Value) -> bool {
    if let Some(text) = fact.as_str().or_else(|| fact["text"].as_str()) {
        return ours == text;
    }
    fact["bytes_utf8"].as_u64() == Some(ours.len() as u64)
        && fact["chars_utf16"].as_u64() == Some(ours.encode_utf16().count() as u64)
        && ours.starts_with(fact["head"].as_str().unwrap())
        && ours.ends_with(fact["tail"].as_str().unwrap())
}

pub fn same_texts(what: &str, ours: &[&str], facts: &[Value]) -> Result<(), String> {
    let equal = ours.len() == facts.len() && ours.iter().zip(facts).all(|(ours, fact)| is_text(ours, fact));
    let brief = |texts: &[&str]| texts.iter().map(|text| text.chars().take(60).collect::<String>()).collect::<Vec<_>>();
    if equal { Ok(()) } else { Err(format!("{what}: {:?} instead of {facts:?}", brief(ours))) }
}

impl Case {
    /// `--output-format json` prints only the result, not what led to it.
    pub fn is_result_alone(&self) -> bool {
        self.name == "json_output.json"
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

    /// The ids of messages that the runner wrote itself instead of the model.
    pub fn synthetic(&self) -> BTreeSet<&str> {
        let synthetic = self.records.iter().filter(|record| record["message"]["model"] == "<synthetic>");
        synthetic.filter_map(|record| record["message"]["id"].as_str()).collect()
    }

    pub fn incomplete(&self) -> BTreeSet<(&str, u64)> {
        let blocks = list(&self.facts["incomplete_blocks"]).iter();
        blocks.map(|block| (block["message_id"].as_str().unwrap(), block["block_index"].as_u64().unwrap())).collect()
    }

    /// The complete model texts of the main thread.
    pub fn texts(&self) -> Vec<&str> {
        let (synthetic, incomplete) = (self.synthetic(), self.incomplete());
        let whole = |frame: &&Frame| frame.parent_tool_id.is_none();
        let texts = self.frames.iter().filter(whole).filter_map(|frame| match &frame.body {
            Body::OutputTextCompleted(block) => Some(block),
            _ => None,
        });
        let of_model = texts.filter(|block| !synthetic.contains(&*block.message_id));
        let whole = of_model.filter(|block| !incomplete.contains(&(&*block.message_id, block.block_index.into())));
        whole.map(|block| block.text.as_str()).collect()
    }

    pub fn usages(&self, scope: UsageScope) -> Vec<&Usage> {
        self.frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::UsageReported(usage) if usage.scope == scope && frame.parent_tool_id.is_none() => Some(&**usage),
                _ => None,
            })
            .collect()
    }

    /// The model messages of the main thread that appear in the stream.
    pub fn main_messages(&self) -> Vec<&Value> {
        let seen = |message: &&Value| {
            message["queue"] == "main"
                && (message["assistant_frames"].as_u64().is_some_and(|frames| frames > 0)
                    || message["in_stream_events"] == true)
        };
        list(&self.facts["messages"]).iter().filter(seen).collect()
    }
}
