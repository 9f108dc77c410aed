//! `serve --demo` for a user without a coding agent: its upstream starts runs on every path that takes prompts.

use crate::client::{Answer, get, post};
use crate::proxy::{Folder, Proxy};
use crate::started::Started;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// A proxy with the demo's upstream.
pub fn demo() -> Started {
    Started { proxy: Proxy::with_arguments(&["--demo"], &[]), folder: Folder::new() }
}

impl Started {
    fn demo_run(&self, prompt: &str) -> String {
        self.run_of(&json!({"upstream": "demo", "prompt": prompt}))
    }

    /// The answer of an ended run.
    fn demo_answer(&self, run: &str) -> String {
        let events = self.events(run, "frames.v2");
        events.last().unwrap()["final_text"].as_str().unwrap_or_default().to_owned()
    }

    /// Waits for the question of a run, and answers it.
    fn settle(&self, run: &str, decision: &Value) {
        let status = self.wait_for(run, "no question", |status| status["state"] == "waiting_approval");
        let approval = status["pending_approvals"][0].as_str().unwrap();
        let path = format!("/v1/runs/{run}/approvals/{approval}");
        let answer = post(self.proxy.address, &path, &[], decision.to_string().as_bytes());
        json_of(answer, 200);
    }

    pub fn completed(&self, run: &str) -> Value {
        let status = self.wait_for_end(run);
        assert_eq!(status["state"], "completed", "{status:#}");
        for problems in ["warnings", "validation_failures"] {
            assert_eq!(status[problems], json!({}), "{status:#}");
        }
        status
    }
}

fn json_of(answer: Answer, expected: u16) -> Value {
    let status = answer.status;
    let text = answer.text();
    assert_eq!(status, expected, "{text}");
    serde_json::from_str(&text).unwrap()
}

#[test]
fn a_run_is_asked_answered_and_continued() {
    let started = demo();
    let run = started.demo_run("Make a plan, write a note and run a command");
    started.settle(&run, &json!({"decision": "approved"}));
    started.wait_for(&run, "the first question stays", |status| status["approvals"][0]["tool_name"] != "Edit");
    started.settle(&run, &json!({"decision": "rejected", "reason": "not now"}));
    let status = started.completed(&run);
    let answer = started.demo_answer(&run);
    assert!(answer.contains("You allowed Edit") && answer.contains("You did not allow Bash (not now)"), "{answer}");
    let kinds: Vec<String> =
        started.events(&run, "frames.v2").into_iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect();
    for kind in ["reasoning_delta", "plan_updated", "file_changed", "usage_reported", "tool_failed"] {
        assert!(kinds.iter().any(|other| other == kind), "no {kind} in {kinds:?}");
    }
    // A further prompt for the same process, which remembers the first one.
    let session = status["session_id"].as_str().unwrap();
    let path = format!("/v1/sessions/{session}/messages");
    let sent = post(started.proxy.address, &path, &[], br#"{"prompt": "What did I say earlier?"}"#);
    json_of(sent, 202);
    let second = started.second_run(session, &run);
    started.completed(&second);
    let answer = started.demo_answer(&second);
    assert!(answer.contains("Earlier you said: “Make a plan, write a note and run a command”"), "{answer}");
    // A new process for the same session says that it knows nothing.
    let third =
        started.run_of(&json!({"upstream": "demo", "prompt": "What did I say earlier?", "session_id": session}));
    assert_eq!(started.completed(&third)["session_id"], session);
    assert!(started.demo_answer(&third).contains("only knows that id"));
}

impl Started {
    /// Waits for the other run of a session with two runs.
    pub fn second_run(&self, session: &str, first: &str) -> String {
        let path = format!("/v1/runs?session_id={session}");
        let begin = std::time::Instant::now();
        loop {
            let runs = get(self.proxy.address, &path, &[]).json();
            let other = runs["data"].as_array().unwrap().iter().find(|run| run["run_id"] != first);
            if let Some(other) = other {
                return other["run_id"].as_str().unwrap().to_owned();
            }
            assert!(begin.elapsed() < crate::started::PATIENCE, "{runs:#}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

#[test]
fn a_slow_run_is_interrupted_and_a_failing_one_fails() {
    let started = demo();
    let slow = started.demo_run("Count slowly");
    started.wait_for(&slow, "no text", |_| started.events_so_far(&slow).contains(r#""delta":"count ""#));
    let path = format!("/v1/runs/{slow}/interrupt");
    assert_eq!(post(started.proxy.address, &path, &[], b"").status, 202);
    let status = started.wait_for_end(&slow);
    assert_eq!(status["state"], "interrupted", "{status:#}");
    // The agent itself stopped: it was not killed.
    assert!(status["exit"].is_null(), "{status:#}");
    let failing = started.demo_run("Please fail");
    let status = started.wait_for_end(&failing);
    assert_eq!(status["state"], "failed", "{status:#}");
    assert!(status["message"].as_str().unwrap().contains("no provider was asked"), "{status:#}");
}

#[test]
fn every_path_that_takes_prompts_reaches_the_demo() {
    let started = demo();
    let address = started.proxy.address;
    let send = |path: &str, body: &Value| post(address, path, &[], body.to_string().as_bytes());
    let models = get(address, "/v1/models", &[]).json();
    assert_eq!(models["data"][0]["id"], "demo", "{models}");
    let messages = [json!({"role": "user", "content": "Hello"})];
    let chat = json_of(send("/v1/chat/completions", &json!({"model": "demo/opus", "messages": messages})), 200);
    let said = chat["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(said.contains("You said: “Hello”") && said.contains("the model opus"), "{chat:#}");
    let first = json_of(send("/v1/responses", &json!({"model": "demo", "input": "Hello"})), 200);
    assert_eq!(first["status"], "completed", "{first:#}");
    let order = json!({"model": "demo", "input": "remember?", "previous_response_id": first["id"]});
    let second = json_of(send("/v1/responses", &order), 200);
    assert!(second.to_string().contains("A new process continues the session"), "{second:#}");
    let message = json!({"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Hello"}]});
    let chat = json!({"id": "c", "trigger": "submit-message", "messages": [message]});
    let text = send("/ai-sdk/demo", &chat).text();
    assert!(text.contains("reasoning-delta") && text.ends_with("data: [DONE]\n\n"), "{text}");
    let run = json!({"threadId": "t", "runId": "r", "messages": [{"id": "u1", "role": "user", "content": "Hello"}],
        "state": {}, "tools": [], "context": [], "forwardedProps": {}});
    let text = send("/ag-ui/demo", &run).text();
    assert!(text.contains("RUN_STARTED") && text.contains("RUN_FINISHED"), "{text}");
}

#[test]
fn an_upstream_of_the_configuration_has_priority() {
    let folder = Folder::new();
    let config = folder.write(
        "config.toml",
        "[[upstream]]\nname = \"demo\"\nkind = \"command\"\nrunner = \"codex\"\nprogram = \"true\"\narguments = [\"{prompt}\"]\n",
    );
    let proxy = Proxy::with_arguments(&["--demo", "--config", &config], &[]);
    let upstreams = get(proxy.address, "/v1/upstreams", &[]).json();
    assert_eq!(upstreams["upstreams"].as_array().unwrap().len(), 1, "{upstreams}");
    assert_eq!(upstreams["upstreams"][0]["runner"], "codex");
}

/// The command that `serve --demo` prints.
#[test]
#[ignore = "needs curl: ./test.sh runs it"]
fn curl_starts_a_run_with_the_printed_command() {
    let folder = Folder::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_framegate"))
        .args(["serve", "--demo", "--listen", "0"])
        .current_dir(folder.path(""))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    let is_command = |line: &String| line.contains("curl") && line.contains("\"prompt\"");
    let command = out.lines().map(|line| line.unwrap()).find(is_command).unwrap();
    let output = Command::new("sh").args(["-c", &command]).env("NO_PROXY", "*").output().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let status: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    assert!(status["run_id"].is_string(), "{status}");
}

#[test]
fn the_agent_is_a_hidden_command_that_reads_lines() {
    let framegate = || Command::new(env!("CARGO_BIN_EXE_framegate"));
    let help = framegate().arg("--help").output().unwrap();
    assert!(!String::from_utf8(help.stdout).unwrap().contains("demo-agent"));
    let input =
        folder_with_input("nonsense\n{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"Hello\"}}\n");
    let output = framegate()
        .args(["demo-agent", "--resume", "s-1"])
        .stdin(Stdio::from(std::fs::File::open(input.path("input")).unwrap()))
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "a line is not a JSON object\n");
    let lines = String::from_utf8(output.stdout).unwrap();
    let last: Value = serde_json::from_str(lines.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&last["type"], &last["is_error"], &last["session_id"]),
        (&json!("result"), &json!(false), &json!("s-1"))
    );
}

fn folder_with_input(text: &str) -> Folder {
    let folder = Folder::new();
    folder.write("input", text);
    folder
}
