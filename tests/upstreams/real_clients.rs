//! The real runners behind every path that takes prompts: two prompts of one conversation in the words of each protocol.

use crate::acp_agent::Client;
use crate::client::{Answer, post};
use crate::model::{Model, Say};
use crate::real::real;
use crate::started::Started;
use serde_json::{Value, json};

/// The questions and answers of each conversation.
const QUESTIONS: [&str; 2] = ["The first question.", "The second question."];
const ANSWERS: [&str; 2] = ["The first answer.", "The second answer."];

fn ask(started: &Started, path: &str, body: &Value) -> Answer {
    let answer = post(started.proxy.address, path, &[], body.to_string().as_bytes());
    let status = answer.status;
    assert_eq!(status, 200, "{path}\n{}", started.folder.read("log"));
    answer
}

/// The data of an event stream.
fn events(answer: Answer) -> Vec<Value> {
    let text = answer.text();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    data.map(|event| serde_json::from_str(event).unwrap()).collect()
}

fn deltas(events: &[Value], kind: &str) -> String {
    let deltas = events.iter().filter(|event| event["type"] == kind);
    deltas.map(|event| event["delta"].as_str().unwrap()).collect()
}

fn by_chat_completions(started: &Started) -> Vec<String> {
    let mut messages: Vec<Value> = Vec::new();
    let answer = |question: &&str| {
        messages.push(json!({"role": "user", "content": question}));
        let answer = ask(started, "/v1/chat/completions", &json!({"model": "real", "messages": messages})).json();
        let text = answer["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
        messages.push(json!({"role": "assistant", "content": text}));
        text
    };
    QUESTIONS.iter().map(answer).collect()
}

fn by_responses(started: &Started) -> Vec<String> {
    let mut previous = Value::Null;
    let answer = |question: &&str| {
        let body = json!({"model": "real", "input": question, "previous_response_id": previous, "stream": true});
        let events = events(ask(started, "/v1/responses", &body));
        let last = events.last().unwrap();
        assert_eq!(last["type"], "response.completed");
        previous = last["response"]["id"].clone();
        deltas(&events, "response.output_text.delta")
    };
    QUESTIONS.iter().map(answer).collect()
}

fn by_ai_sdk(started: &Started) -> Vec<String> {
    let mut messages: Vec<Value> = Vec::new();
    let answer = |question: &&str| {
        messages.push(json!({"id": question, "role": "user", "parts": [{"type": "text", "text": question}]}));
        let body = json!({"id": "chat", "trigger": "submit-message", "messages": messages});
        let chunks = events(ask(started, "/ai-sdk/real", &body));
        let (id, text) = (chunks[0]["messageId"].clone(), deltas(&chunks, "text-delta"));
        messages.push(json!({"id": id, "role": "assistant", "parts": [{"type": "text", "text": text}]}));
        text
    };
    QUESTIONS.iter().map(answer).collect()
}

fn by_ag_ui(started: &Started) -> Vec<String> {
    let answer = |question: &&str| {
        let messages = [json!({"id": question, "role": "user", "content": question})];
        let body = json!({"threadId": "thread", "runId": question, "messages": messages, "tools": [], "context": [], "state": {}});
        deltas(&events(ask(started, "/ag-ui/real", &body)), "TEXT_MESSAGE_CONTENT")
    };
    QUESTIONS.iter().map(answer).collect()
}

fn by_acp(started: &Started) -> Vec<String> {
    let mut client = Client::of_upstream("real", started, &[]);
    let session = client.session_in(&started.folder.path("work"));
    let mut answer = |question: &&str| {
        let end = client.turn(&session, question);
        assert_eq!(end["result"]["stopReason"], "end_turn", "{end}");
        client.text()
    };
    let answers = QUESTIONS.iter().map(&mut answer).collect();
    let (code, error) = client.leave();
    assert_eq!(code, Some(0), "{error}");
    answers
}

/// A way to hold a conversation with the upstream `real`.
type Path = (&'static str, fn(&Started) -> Vec<String>);

const PATHS: [Path; 5] = [
    ("Chat Completions", by_chat_completions),
    ("Responses", by_responses),
    ("AI SDK", by_ai_sdk),
    ("AG-UI", by_ag_ui),
    ("ACP", by_acp),
];

fn converse(preset: &str, name: &str) {
    let script = PATHS.iter().flat_map(|_| ANSWERS.map(|answer| vec![Say::Text(answer)])).collect();
    let model = Model::with_script(script);
    let started = real(preset, name, &model, "");
    for (at, (path, hold)) in PATHS.iter().enumerate() {
        assert_eq!(hold(&started), ANSWERS, "{path}\n{}", started.folder.read("log"));
        let requests = model.requests();
        assert_eq!(requests.len(), 2 * (at + 1), "{path}: a prompt was sent twice");
        // The session has only this conversation, and the runner knows it by itself.
        let last = requests.last().unwrap().to_string();
        assert!(ANSWERS.iter().zip([1, 0]).all(|(text, count)| last.matches(text).count() == count), "{path}: {last}");
        assert!(QUESTIONS.iter().all(|text| last.contains(text)), "{path}: {last}");
        assert!(!last.contains("The conversation so far"), "{path}: the session must continue: {last}");
    }
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn claude_code_holds_conversations() {
    converse("claude-code", "claude");
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn codex_exec_holds_conversations() {
    converse("codex-exec", "codex");
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn codex_app_server_holds_conversations() {
    converse("codex-app-server", "codex");
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn opencode_run_holds_conversations() {
    converse("opencode-run", "opencode");
}

/// An editor allows one call and rejects another: only the first one has an effect.
fn decide_in_an_editor(preset: &str, name: &str, call: impl Fn(&str) -> Say) {
    let script = vec![
        vec![Say::Text("First this."), call("touch yes.txt")],
        vec![Say::Text("Then that."), call("touch no.txt")],
        vec![Say::Text("Well.")],
        vec![Say::Endless("on and on ")],
    ];
    let model = Model::with_script(script);
    let started = real(preset, name, &model, "");
    let mut client = Client::of_upstream("real", &started, &[]);
    let session = client.session_in(&started.folder.path("work"));
    let id = client.prompt(&session, "Do both.");
    let first = client.question();
    assert!(first["params"]["toolCall"]["title"].as_str().unwrap().contains("touch yes.txt"), "{first}");
    client.choose(&first, "allow_once");
    let second = client.question();
    client.choose(&second, "reject_once");
    let end = client.answer(id);
    assert_eq!(end["result"]["stopReason"], "end_turn", "{end}\n{}", started.folder.read("log"));
    assert!(started.folder.path("work/yes.txt").exists() && !started.folder.path("work/no.txt").exists());
    assert!(client.text().ends_with("Well."), "{}", client.text());
    let statuses: Vec<&Value> = client.updates("tool_call_update").iter().map(|update| &update["status"]).collect();
    assert!(statuses.contains(&&json!("completed")) && statuses.contains(&&json!("failed")), "{statuses:?}");
    // A turn that is cancelled.
    client.seen.clear();
    let id = client.prompt(&session, "Go on.");
    client.until(|message| message["params"]["update"]["sessionUpdate"] == "agent_message_chunk");
    client.tell("session/cancel", json!({"sessionId": session}));
    assert_eq!(client.answer(id)["result"]["stopReason"], "cancelled");
    client.leave();
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn claude_code_asks_in_an_editor() {
    decide_in_an_editor("claude-code", "claude", |command| {
        Say::Tool("Bash", json!({"command": command, "description": "a file"}))
    });
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn codex_app_server_asks_in_an_editor() {
    decide_in_an_editor("codex-app-server", "codex", |command| {
        let input =
            json!({"cmd": command, "sandbox_permissions": "require_escalated", "justification": "May this be done?"});
        Say::Tool("exec_command", input)
    });
}

/// An image reaches the model through the runner.
fn look_at_an_image(preset: &str, name: &str) {
    let model = Model::with_script(vec![vec![Say::Text("A dot.")]]);
    let started = real(preset, name, &model, "");
    // A white square.
    let data = "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAD0lEQVR4nGP4jwMwDC0JALoev0Ewkwr8AAAAAElFTkSuQmCC";
    let url = format!("data:image/png;base64,{data}");
    let content = json!([{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": url}}]);
    let body = json!({"model": "real", "messages": [{"role": "user", "content": content}]});
    let answer = ask(&started, "/v1/chat/completions", &body).json();
    assert_eq!(answer["choices"][0]["message"]["content"], "A dot.", "{answer}");
    let request = model.requests().pop().unwrap().to_string();
    assert!(request.contains("iVBORw0KGgo") && request.contains("What is it?"), "{request}");
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn claude_code_looks_at_an_image() {
    look_at_an_image("claude-code", "claude");
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn codex_app_server_looks_at_an_image() {
    look_at_an_image("codex-app-server", "codex");
}
