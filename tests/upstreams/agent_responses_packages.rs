//! The Responses API with the packages that ask it, in front of the fake runner.

use crate::chat_completions::{agent, client, read_by};
use serde_json::json;
use std::process::Command;

/// What the Agents SDK says about a response that ended like this: it names nothing else.
pub fn ended(how: &str) -> String {
    format!("OpenAI Responses request ended with unsuccessful terminal state \"response.{how}\".")
}

/// What a client of the SDKs says about responses of the agent.
fn hold_a_conversation(mut command: Command) {
    let started = agent(&[]);
    command.env("OPENAI_AGENTS_DISABLE_TRACING", "1");
    let said = read_by(command, &started);
    let call = |approve: bool| json!({"approved": approve, "call": if approve { "completed" } else { "failed" }});
    assert_eq!(
        said,
        [
            json!({"text": "Answer 1.", "reasoning": "I wonder.", "status": "completed", "total_tokens": 17}),
            json!({"text": "Answer 2.", "streamed": "Answer 2.", "last": "response.completed"}),
            json!({"asked": "Bash", "arguments": {"command": "touch file"}}),
            call(true),
            json!({"asked": "Bash", "arguments": {"command": "touch file"}}),
            call(false),
            json!({"status": "failed", "message": "it broke"}),
            json!({"background": true, "resumed": "Answer 1.", "retrieved": "I am at it.Answer 1."}),
            json!({"cancelled": "cancelled"}),
            json!({"error": "NotFoundError", "code": "model_not_found", "param": "model"}),
            json!({"error": "BadRequestError", "code": "bad_request", "param": "tools[0]"}),
        ]
    );
    let answers = started.folder.read("answers");
    assert_eq!((answers.matches("\"allow\"").count(), answers.matches("\"deny\"").count()), (1, 1), "{answers}");
}

#[test]
#[ignore = "needs node and tests/clients/node_modules: ./test.sh runs it"]
fn npm_openai_asks_for_responses() {
    let mut command = Command::new("node");
    command.arg(client("agent_responses.mjs"));
    hold_a_conversation(command);
}

#[test]
#[ignore = "needs python3 and tests/clients/python_modules: ./test.sh runs it"]
fn python_openai_asks_for_responses() {
    let mut command = Command::new("python3");
    command.arg(client("agent_responses.py")).env("PYTHONPATH", client("python_modules"));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    hold_a_conversation(command);
}

#[test]
#[ignore = "needs node and tests/clients/node_modules: ./test.sh runs it"]
fn npm_agents_sdk_and_langchain_use_an_agent_as_their_model() {
    let started = agent(&[]);
    let mut command = Command::new("node");
    command.arg(client("sdk_agents.mjs"));
    let said = read_by(command, &started);
    let langchain = json!({"langchain": "Answer 1.", "streamed": "Answer 2.", "tokens": 17});
    assert_eq!(
        said,
        [
            json!({"agents": "Answer 1."}),
            json!({"agents": "Answer 2.", "streamed": "Answer 2."}),
            json!({"interruptions": ["Bash"], "agents": "Answer 3."}),
            json!({"interruptions": ["Bash"], "agents": "Answer 4."}),
            json!({"failed": {"error": ended("failed")}}),
            json!({"interrupted": "I am at it.", "error": ended("incomplete")}),
            langchain.clone(),
            json!({"failed": {"error": "502 it broke"}}),
            langchain,
            json!({"failed": {"error": "it broke"}}),
        ]
    );
    let answers = started.folder.read("answers");
    assert_eq!((answers.matches("\"allow\"").count(), answers.matches("\"deny\"").count()), (1, 1), "{answers}");
}
