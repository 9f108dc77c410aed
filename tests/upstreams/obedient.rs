//! The turns of a model that does what the words of the last prompt say.
//!
//! In: a request of a runner. Out: a turn. The words are those of `fake/agent.sh`, so that a client's script means the same with both;
//! only `endlessly` is new.

use crate::model::Say;
use serde_json::Value;
use std::path::Path;

/// A part of a conversation that decides the next turn.
enum Part {
    Prompt(String),
    ToolResult,
}

/// The turn after this conversation, which is that of Anthropic's Messages API or of OpenAI's Responses API.
pub fn turn(request: &Value, release: &Path, tool: &Say) -> Vec<Say> {
    let messages = request["messages"].as_array().or(request["input"].as_array()).unwrap();
    let parts: Vec<Part> = messages.iter().flat_map(parts).collect();
    let answer = Say::Answer(parts.iter().filter(|part| matches!(part, Part::Prompt(_))).count());
    let Some(Part::Prompt(prompt)) = parts.last() else { return vec![answer] };
    let says = |word: &str| prompt.contains(word);
    if says("secretly") {
        vec![Say::Thought("I wonder."), answer]
    } else if says("carefully") {
        vec![tool.clone()]
    } else if says("badly") {
        vec![Say::Refusal("it broke")]
    } else if says("slowly") {
        vec![Say::Text("I am at it."), Say::Until(release.to_owned()), answer]
    } else if says("endlessly") {
        vec![Say::Endless("word")]
    } else {
        vec![answer]
    }
}

fn parts(message: &Value) -> Vec<Part> {
    if message["type"] == "function_call_output" {
        return vec![Part::ToolResult];
    }
    if message["role"] != "user" {
        return Vec::new();
    }
    if let Some(text) = message["content"].as_str() {
        return prompt(text).into_iter().collect();
    }
    let blocks = message["content"].as_array().unwrap();
    if blocks.iter().any(|block| block["type"] == "tool_result") {
        return vec![Part::ToolResult];
    }
    blocks.iter().filter_map(|block| prompt(block["text"].as_str()?)).collect()
}

/// A prompt, unless the runner added the text itself.
fn prompt(text: &str) -> Option<Part> {
    let is_own = text.starts_with(['<', '[', '#']) || text.trim().is_empty();
    (!is_own).then(|| Part::Prompt(text.to_owned()))
}
