//! The clients' own packages in front of real runners: the scripts of tests/clients, which also talk to the fake runner.
//!
//! Each client sees a text, the reasoning, a tool that is allowed and one that is denied, an error of the model, an interrupt, and a further
//! prompt of the same session, as far as its protocol has them.

use crate::agent_responses_packages::ended;
use crate::chat_completions::{answer_as_another_client, client, read_with};
use crate::model::{Model, Say};
use crate::proxy::Folder;
use crate::react_page::Page;
use crate::real::real;
use crate::started::Started;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Only an allowed call adds a line to the file `done`.
const COMMAND: &str = "echo done >> done";

/// A real runner whose model does what the prompts say.
pub struct Runner {
    pub started: Started,
    model: Model,
    place: Folder,
}

impl Runner {
    pub fn claude_code() -> Self {
        Self::start("claude-code", "claude", Say::Tool("Bash", json!({"command": COMMAND, "description": "a line"})))
    }

    pub fn codex() -> Self {
        let why = "May this be done?";
        let input = json!({"cmd": COMMAND, "sandbox_permissions": "require_escalated", "justification": why});
        Self::start("codex-app-server", "codex", Say::Tool("exec_command", input))
    }

    fn start(preset: &str, name: &str, tool: Say) -> Self {
        let place = Folder::new();
        let model = Model::obedient(place.path("end"), tool);
        let started = real(preset, name, &model, "");
        Self { started, model, place }
    }

    /// The file that the model waits for when it works slowly.
    pub fn release(&self) -> PathBuf {
        self.place.path("end")
    }

    /// How many calls were made.
    pub fn calls(&self) -> usize {
        let text = std::fs::read_to_string(self.started.folder.path("work/done")).unwrap_or_default();
        text.lines().count()
    }

    fn read_by(&self, command: Command) -> Vec<Value> {
        let base_url = format!("http://{}/v1", self.started.proxy.address);
        read_with(command, &json!({"base_url": base_url, "release": self.release(), "upstream": "real"}))
    }

    /// Fails with the log if a client saw something else.
    #[track_caller]
    fn assert_seen(&self, said: &[Value], expected: &[Value]) {
        assert_eq!(said, expected, "{said:#?}\n{}", self.started.folder.read("log"));
    }
}

fn node(script: &str) -> Command {
    let mut command = Command::new("node");
    command.arg(client(script)).env("OPENAI_AGENTS_DISABLE_TRACING", "1");
    command
}

fn python(script: &str) -> Command {
    let mut command = Command::new("python3");
    command.arg(client(script)).env("PYTHONPATH", client("python_modules")).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// The Responses API, with the `openai` package.
fn ask_for_responses(runner: &Runner, command: Command, tool: &str) {
    let said = runner.read_by(command);
    let asked = json!({"asked": tool, "arguments": said[2]["arguments"]});
    let call = |approve: bool| json!({"approved": approve, "call": if approve { "completed" } else { "failed" }});
    assert!(asked["arguments"].to_string().contains(COMMAND), "{asked}");
    assert!(said[0]["total_tokens"].as_u64().is_some_and(|count| count > 0), "{said:#?}");
    assert!(said[6]["message"].as_str().is_some_and(|message| message.contains("it broke")), "{said:#?}");
    runner.assert_seen(
        &said,
        &[
            json!({"text": "Answer 1.", "reasoning": "I wonder.", "status": "completed", "total_tokens": said[0]["total_tokens"]}),
            json!({"text": "Answer 2.", "streamed": "Answer 2.", "last": "response.completed"}),
            asked.clone(),
            call(true),
            asked,
            call(false),
            json!({"status": "failed", "message": said[6]["message"]}),
            json!({"background": true, "resumed": "Answer 1.", "retrieved": "I am at it.Answer 1."}),
            json!({"cancelled": "cancelled"}),
            json!({"error": "NotFoundError", "code": "model_not_found", "param": "model"}),
            json!({"error": "BadRequestError", "code": "bad_request", "param": "tools[0]"}),
        ],
    );
    assert_eq!(runner.calls(), 1);
}

#[test]
#[ignore = "needs node, tests/runners/node_modules and tests/clients/node_modules: ./test.sh runs it"]
fn claude_code_answers_openai_responses_in_node() {
    ask_for_responses(&Runner::claude_code(), node("agent_responses.mjs"), "Bash");
}

#[test]
#[ignore = "needs python3, tests/runners/node_modules and tests/clients/python_modules: ./test.sh runs it"]
fn claude_code_answers_openai_responses_in_python() {
    ask_for_responses(&Runner::claude_code(), python("agent_responses.py"), "Bash");
}

#[test]
#[ignore = "needs node, tests/runners/node_modules and tests/clients/node_modules: ./test.sh runs it"]
fn codex_answers_openai_responses_in_node() {
    ask_for_responses(&Runner::codex(), node("agent_responses.mjs"), "bash");
}

/// Chat Completions, with the `openai` package. This protocol has no approvals, so another client answers them.
fn hold_a_chat(command: Command) {
    let runner = Runner::claude_code();
    let said = std::thread::scope(|scope| {
        scope.spawn(|| answer_as_another_client(&runner.started, [(3, "approved"), (4, "rejected")]));
        runner.read_by(command)
    });
    let tokens = |at: usize| said[at]["total_tokens"].as_u64().filter(|count| *count > 0);
    let whole = |nth: usize| {
        let work = &said[nth]["work"];
        json!({"content": format!("Answer {nth}."), "finish_reason": "stop", "total_tokens": tokens(nth), "work": work})
    };
    for (nth, decision) in [(3, "approved by anonymous"), (4, "rejected by anonymous")] {
        let [question, answer] = said[nth]["work"].as_array().unwrap().as_slice() else { panic!("{said:#?}") };
        assert!(question.as_str().unwrap().contains(COMMAND), "{question}");
        assert!(answer.as_str().unwrap().contains(decision), "{answer}");
    }
    let failure = said.last().unwrap()["message"].clone();
    assert!(failure.as_str().is_some_and(|message| message.contains("it broke")), "{said:#?}");
    runner.assert_seen(
        &said,
        &[
            json!({"models": ["real"]}),
            json!({"content": "Answer 1.", "reasoning": "I wonder.", "finish_reason": "stop", "total_tokens": tokens(1)}),
            json!({"content": "Answer 2.", "finish_reason": "stop", "total_tokens": tokens(2), "work": []}),
            whole(3),
            whole(4),
            json!({"interrupted": "I am at it.", "code": "aborted_streaming"}),
            json!({"content": "Answer 2."}),
            json!({"error": "NotFoundError", "code": "model_not_found", "param": "model"}),
            json!({"error": "BadRequestError", "code": "bad_request", "param": "tools"}),
            json!({"error": "APIError", "message": failure}),
        ],
    );
    assert_eq!(runner.calls(), 1);
}

#[test]
#[ignore = "needs node, tests/runners/node_modules and tests/clients/node_modules: ./test.sh runs it"]
fn claude_code_chats_with_openai_in_node() {
    hold_a_chat(node("chat_conversation.mjs"));
}

#[test]
#[ignore = "needs python3, tests/runners/node_modules and tests/clients/python_modules: ./test.sh runs it"]
fn claude_code_chats_with_openai_in_python() {
    hold_a_chat(python("chat_conversation.py"));
}

#[test]
#[ignore = "needs node, tests/runners/node_modules and tests/clients/node_modules: ./test.sh runs it"]
fn claude_code_is_the_model_of_the_agents_sdk_and_of_langchain() {
    let runner = Runner::claude_code();
    let said = runner.read_by(node("sdk_agents.mjs"));
    let tokens = |at: usize| said[at]["tokens"].as_u64().filter(|count| *count > 0);
    let failed = |at: usize| {
        let failed = &said[at]["failed"];
        assert!(failed["error"].as_str().is_some_and(|error| error.contains("it broke")), "{said:#?}");
        failed
    };
    let langchain = |at: usize| json!({"langchain": "Answer 1.", "streamed": "Answer 2.", "tokens": tokens(at)});
    runner.assert_seen(
        &said,
        &[
            json!({"agents": "Answer 1."}),
            json!({"agents": "Answer 2.", "streamed": "Answer 2."}),
            json!({"interruptions": ["Bash"], "agents": "Answer 3."}),
            json!({"interruptions": ["Bash"], "agents": "Answer 4."}),
            json!({"failed": {"error": ended("failed")}}),
            json!({"interrupted": "I am at it.", "error": ended("incomplete")}),
            langchain(6),
            json!({"failed": failed(7)}),
            langchain(8),
            json!({"failed": failed(9)}),
        ],
    );
    assert_eq!(runner.calls(), 1);
}

#[test]
#[ignore = "needs node, tests/runners/node_modules and tests/clients/node_modules: ./test.sh runs it"]
fn claude_code_holds_a_conversation_with_ag_ui() {
    let runner = Runner::claude_code();
    let said = runner.read_by(node("ag_ui_thread.mjs"));
    let tool = |nth: usize, at: usize| {
        json!({"interrupts": ["tool_approval"], "then": ["assistant", "tool", "assistant"], "result": said[at]["result"],
            "text": format!("Answer {nth}."), "warnings": []})
    };
    let failure = said[4]["failed"].clone();
    assert!(failure.as_str().is_some_and(|message| message.contains("it broke")), "{said:#?}");
    runner.assert_seen(
        &said,
        &[
            json!({"roles": ["user", "reasoning", "assistant"], "text": "Answer 1.", "warnings": []}),
            json!({"roles": ["user", "assistant"], "text": "Answer 2.", "warnings": []}),
            tool(3, 2),
            tool(4, 3),
            json!({"failed": failure}),
            json!({"interrupted": "I am at it.", "outcome": "cancelled"}),
            json!({"text": "Answer 2."}),
            json!({"opened": ["user", "assistant"], "text": "I am at it.Answer 1.", "pending": 0, "warnings": []}),
            json!({"refused": true}),
        ],
    );
    assert_eq!(runner.calls(), 1);
}

#[test]
#[ignore = "needs node, tests/runners/node_modules and tests/clients/node_modules: ./test.sh runs it"]
fn claude_code_holds_a_conversation_with_the_ai_sdk() {
    let runner = Runner::claude_code();
    let said = runner.read_by(node("ai_chat.mjs"));
    let asked = json!({"asked": ["approval-requested"], "tool": "Bash", "input": said[2]["input"]});
    assert!(asked["input"].to_string().contains(COMMAND), "{said:#?}");
    let failure = said[6]["error"].clone();
    assert!(failure.as_str().is_some_and(|message| message.contains("it broke")), "{said:#?}");
    runner.assert_seen(
        &said,
        &[
            json!({"status": "ready", "text": ["Answer 1."], "reasoning": ["I wonder."]}),
            json!({"status": "ready", "text": ["Answer 2."], "reasoning": []}),
            asked.clone(),
            json!({"status": "ready", "text": ["Answer 3."], "exit_codes": [0], "messages": 6}),
            asked,
            json!({"status": "ready", "text": ["Answer 4."], "exit_codes": ["output-denied"], "messages": 8}),
            json!({"status": "error", "error": failure}),
            json!({"interrupted": ["I am at it."], "status": "ready"}),
            json!({"status": "ready", "text": ["Answer 2."]}),
            json!({"resumed": "I am at it.Answer 1.", "status": "ready"}),
            json!({"status": "error", "refused": true}),
        ],
    );
    assert_eq!(runner.calls(), 1);
}

#[test]
#[ignore = "needs node, tests/runners/node_modules, examples/react-chat/node_modules and a browser in CHROMIUM: ./test.sh runs it"]
fn claude_code_chats_in_a_browser() {
    assert!(std::env::var_os("CHROMIUM").is_some(), "CHROMIUM must be the path of a Chromium");
    let runner = Runner::claude_code();
    let page = Page::start(runner.started.proxy.address);
    let said = read_with(
        node("react_chat_runner.mjs"),
        &json!({"url": page.url, "upstream": "real", "release": runner.release()}),
    );
    let failure = said[4]["failed"].clone();
    assert!(failure.as_str().is_some_and(|message| message.contains("it broke")), "{said:#?}");
    runner.assert_seen(
        &said,
        &[
            json!({"reasoning": 1}),
            json!({"Approve": "output-available"}),
            json!({"Deny": "output-denied"}),
            json!({"resumed": ["I am at it.", "Answer 1."]}),
            json!({"failed": failure, "errors": []}),
        ],
    );
    assert_eq!(runner.calls(), 1);
}

/// An editor with the package of the Agent Client Protocol.
fn work_in_an_editor(runner: &Runner) {
    let url = format!("http://{}", runner.started.proxy.address);
    let plan = json!({
        "program": env!("CARGO_BIN_EXE_framegate"),
        "arguments": ["acp", "real", "--url", url],
        "cwd": runner.started.folder.path("work"),
        "unoffered": "none",
    });
    let mut command = node("acp_agent.mjs");
    command.arg(plan.to_string()).env("XDG_STATE_HOME", runner.started.folder.path("state")).env("NO_PROXY", "*");
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}\n{}", runner.started.folder.read("log"));
    let said: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&said["invalid"], &said["complaints"]), (&json!([]), &json!([])), "{said:#}");
    let turns = said["turns"].as_array().unwrap();
    let of = |at: usize, key: &str| turns[at][key].clone();
    let ends: Vec<Value> = (0..turns.len()).map(|at| of(at, "end")).collect();
    let failure = ends[4].clone();
    assert!(failure.as_str().is_some_and(|message| message.contains("it broke")), "{said:#}");
    let done = json!("end_turn");
    let expected = [&done, &done, &done, &done, &failure, &json!("cancelled"), &done].map(Value::clone);
    assert_eq!(ends, expected, "{said:#}\n{}", runner.started.folder.read("log"));
    let texts = [0, 1, 2, 3].map(|at| of(at, "text"));
    assert_eq!(texts, ["Answer 1.", "Answer 2.", "Answer 3.", "Answer 4."].map(Value::from), "{said:#}");
    assert_eq!((of(1, "calls"), of(2, "calls")), (json!(["completed"]), json!(["failed"])), "{said:#}");
    assert_eq!((of(3, "thought"), of(5, "text")), (json!("I wonder."), json!("I am at it.")), "{said:#}");
    assert_eq!(said["history"]["calls"], 2, "{said:#}");
    assert_eq!(said["list"], json!(["hello"]));
    assert_eq!(said["mode"]["refused"], -32602, "{said:#}");
    assert_eq!(runner.calls(), 1);
}

#[test]
#[ignore = "needs node, tests/runners/node_modules and tests/clients/node_modules: ./test.sh runs it"]
fn claude_code_works_in_an_editor_of_the_acp_package() {
    work_in_an_editor(&Runner::claude_code());
}
