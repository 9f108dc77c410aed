//! The recordings, with and without the lines of their clients.

use crate::support::{fixtures_dir, frames};
use framegate_translators::frame::Frame;
use framegate_translators::runners::{Runner, runner};
use serde_json::Value;

pub struct Case {
    pub name: String,
    /// The entry of the manifest.
    pub recording: Value,
}

fn read(name: &str) -> Vec<u8> {
    std::fs::read(fixtures_dir("acp").join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn acp() -> &'static Runner {
    runner("acp").unwrap()
}

pub fn cases() -> Vec<Case> {
    let manifest: Value = serde_json::from_slice(&read("MANIFEST.json")).unwrap();
    let recordings = manifest["recordings"].as_array().unwrap().clone();
    assert!(recordings.len() > 100);
    let name = |recording: &Value| recording["file"].as_str().unwrap().to_owned();
    recordings.into_iter().map(|recording| Case { name: name(&recording), recording }).collect()
}

/// The lines, each with its end.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

impl Case {
    pub fn facts(&self) -> &Value {
        &self.recording["facts"]
    }

    pub fn prompts(&self) -> &Vec<Value> {
        self.facts()["prompts"].as_array().unwrap()
    }

    fn stem(&self) -> &str {
        self.name.strip_suffix(".jsonl").unwrap()
    }

    /// The recording as it went through the client.
    pub fn both(&self) -> Vec<u8> {
        let (agent, client) = (read(&self.name), read(&format!("client/{}.jsonl", self.stem())));
        let order: Value = serde_json::from_slice(&read(&format!("client/{}.order.json", self.stem()))).unwrap();
        let (mut agent, mut client) = (lines(&agent).into_iter(), lines(&client).into_iter());
        let mut both = Vec::new();
        for part in order.as_array().unwrap() {
            let count = usize::try_from(part[1].as_u64().unwrap()).unwrap();
            let side = if part[0] == "client" { &mut client } else { &mut agent };
            side.take(count).for_each(|line| both.extend_from_slice(line));
        }
        agent.for_each(|line| both.extend_from_slice(line));
        both
    }

    /// What the agent wrote.
    pub fn alone(&self) -> Vec<u8> {
        read(&self.name)
    }

    pub fn frames_with_client(&self) -> Vec<Frame> {
        frames(acp(), &self.both())
    }

    pub fn frames_of_agent(&self) -> Vec<Frame> {
        frames(acp(), &self.alone())
    }

    fn agent(&self) -> &str {
        self.recording["agent"].as_str().unwrap()
    }

    fn scenario(&self) -> &str {
        self.recording["scenario"].as_str().unwrap()
    }

    /// The agent says something that is in no script: an error as a message, a repeated answer.
    pub fn says_more(&self) -> bool {
        let scenario = matches!(self.scenario(), "empty_reply" | "slash_command" | "cancel_text" | "v2");
        let of_agent = ["perm_cancelled.gemini", "queued.gemini", "broken_lines.fake", "max_tokens.vibe"];
        scenario || of_agent.contains(&self.stem())
    }

    /// The agent asked the model more often than the script has answers for.
    pub fn asks_more(&self) -> bool {
        matches!(self.stem(), "empty_reply.claude" | "perm_cancelled.gemini" | "bad_requests.copilot")
    }

    /// The texts of the prompts that the client sent to its sessions.
    pub fn sent(&self) -> Vec<String> {
        let client = read(&format!("client/{}.jsonl", self.stem()));
        let lines = client.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let lines = lines.map(|line| serde_json::from_slice::<Value>(line).unwrap());
        let prompts = lines.filter(|line| line["method"] == "session/prompt" && line["params"]["prompt"].is_array());
        let text = |line: Value| -> String {
            let blocks = line["params"]["prompt"].as_array().unwrap();
            let texts =
                blocks.iter().filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str());
            texts.collect::<Vec<_>>().join("\n")
        };
        prompts.filter(|line| line["params"]["sessionId"] != "no-such-session").map(text).collect()
    }

    /// The tool as the agent told it. An agent with ids of its own tells its tools in the order in which the model called them.
    pub fn wire_tool(&self, call: &Value) -> Option<Value> {
        let id = call["id"].as_str().unwrap();
        let tools = self.recording["wire"]["tools"].as_array().unwrap();
        let is_it = |tool: &&Value| {
            let own = tool["id"].as_str().unwrap();
            own == id || own.ends_with(&format!(":{id}")) || own.ends_with(&format!("__{id}"))
        };
        if self.agent() == "mistral-vibe" {
            let calls = self.facts()["tool_calls"].as_array().unwrap();
            assert_eq!(calls.len(), tools.len(), "{}", self.name);
            return calls.iter().position(|call| call["id"] == id).map(|at| tools[at].clone());
        }
        tools.iter().find(is_it).cloned()
    }

    /// Whether the agent tells what its tools return.
    pub fn tells_output(&self) -> bool {
        self.agent() != "gemini-cli"
    }

    /// Whether the agent writes something before what its commands return, or more than the script.
    pub fn decorates_output(&self) -> bool {
        matches!(self.agent(), "claude-agent-acp" | "copilot" | "qwen-code" | "sdk-fake")
    }

    /// Whether the exit code of a command is anywhere in the recording.
    pub fn tells_exit_code(&self) -> bool {
        !matches!(self.agent(), "gemini-cli" | "mistral-vibe")
    }

    /// Whether the agent's lines alone leave something open: which answer is whose, or what a client said.
    pub fn needs_client(&self) -> bool {
        let scenarios = [
            "bad_requests",
            "early_and_late",
            "unknown",
            "client_terminal",
            "client_fs",
            "perm_cancelled",
            "answer_without_reason",
        ];
        scenarios.contains(&self.scenario()) || self.stem() == "mode.gemini"
    }

    /// Whether the agent tells the usage of this prompt; `None` if neither the recording nor the script decides it.
    pub fn tells_usage(&self, prompt: &Value) -> Option<bool> {
        let has_tools = prompt["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty());
        match self.agent() {
            "kimi" => Some(false),
            "sdk-fake" => Some(self.scenario() == "all_kinds"),
            _ if self.says_more() || prompt["stop_reason"] != "end_turn" => None,
            // The usage of the last model call only.
            "opencode" | "kilo" => Some(!has_tools),
            // The total of the session, whose beginning must be in the input.
            "copilot" | "mistral-vibe" => Some(self.recording["part"].is_null() || self.recording["part"] == 1),
            _ => Some(true),
        }
    }
}
