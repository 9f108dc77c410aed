//! The commands of docs/upstreams.md, verbatim, with each of the real runners.

use crate::model::{Model, Say};
use crate::real::real;
use crate::real_feed::Server;
use crate::started::{PATIENCE, Started};
use serde_json::{Value, json};
use std::process::Command;
use std::time::{Duration, Instant};

/// The document's commands for clients that start and control runs, in order.
struct Commands {
    list: String,
    start: String,
    status: String,
    approve: String,
    interrupt: String,
    say_more: String,
}

impl Commands {
    fn read() -> Self {
        let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/upstreams.md")).unwrap();
        let section = text.split("\n## Start and control runs\n").nth(1).unwrap().split("\n## ").next().unwrap();
        let mut lines = section.lines().filter(|line| line.starts_with("curl ")).map(|line| {
            // Without the comment after the command.
            line.split("  #").next().unwrap().trim_end().to_owned()
        });
        let mut next = |path: &str| {
            let line = lines.next().unwrap_or_else(|| panic!("the document has no command for {path}"));
            assert!(line.contains(path), "{line} is not for {path}");
            line
        };
        let commands = Self {
            list: next("/v1/upstreams"),
            start: next("/v1/runs -d"),
            status: next("/v1/runs/$RUN"),
            approve: next("/approvals/$APPROVAL"),
            interrupt: next("/interrupt"),
            say_more: next("/messages"),
        };
        assert_eq!(lines.next(), None, "a command that is not tested");
        commands
    }
}

/// A shell with the variables that the commands use.
struct Shell<'s> {
    started: &'s Started,
    upstream: &'s str,
    names: Vec<(&'static str, String)>,
}

impl Shell<'_> {
    fn run(&self, command: &str) -> Value {
        let command = command
            .replace("http://127.0.0.1:8080", &format!("http://{}", self.started.proxy.address))
            .replace("\"claude\"", &format!("\"{}\"", self.upstream));
        let output =
            Command::new("sh").args(["-euc", &command]).envs(self.names.iter().cloned()).env("NO_PROXY", "*").output();
        let output = output.unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{command}: {error}: {output:?}"))
    }

    fn set(&mut self, name: &'static str, value: &Value) -> String {
        let value = value.as_str().unwrap_or_else(|| panic!("{name}: {value}")).to_owned();
        self.names.retain(|(known, _)| *known != name);
        self.names.push((name, value.clone()));
        value
    }
}

/// Waits until `probe` returns something.
fn wait_until<T>(started: &Started, what: &str, mut probe: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(found) = probe() {
            return found;
        }
        assert!(begin.elapsed() < PATIENCE, "{what}\n{}", started.folder.read("log"));
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Starts a run that asks for approval, answers it, sends a message to its session, and interrupts the resulting run.
fn run_every_command(started: &Started, upstream: &str, is_done: impl Fn() -> bool) {
    let commands = Commands::read();
    let mut shell = Shell { started, upstream, names: Vec::new() };
    let listed = shell.run(&commands.list);
    let one = listed["upstreams"].as_array().unwrap().iter().find(|one| one["name"] == upstream);
    let one = one.unwrap_or_else(|| panic!("{listed}"));
    assert_eq!((&one["path"], &one["takes_messages"]), (&json!("/v1/runs"), &json!(true)));
    // A feed may not be connected yet.
    let run = wait_until(started, "the run does not start", || {
        let answer = shell.run(&commands.start);
        assert!(answer["run_id"].is_string() || answer["status"] == 503, "{answer}");
        Some(answer["run_id"].clone()).filter(Value::is_string)
    });
    let first = shell.set("RUN", &run);
    let asked = wait_until(started, "no approval is requested", || {
        let id = shell.run(&commands.status)["pending_approvals"][0].clone();
        Some(id).filter(Value::is_string)
    });
    shell.set("APPROVAL", &asked);
    assert!(!is_done(), "the tool ran before it was approved");
    let answered = shell.run(&commands.approve);
    assert_eq!((&answered["decision"], &answered["run_id"]), (&json!("approved"), &run), "{answered}");
    let status = started.wait_for_end(&first);
    assert_eq!(status["state"], "completed", "{status}\n{}", started.folder.read("log"));
    assert!(is_done());
    shell.set("SESSION", &status["session_id"]);
    let sent = shell.run(&commands.say_more);
    assert_eq!(sent["session_id"], status["session_id"], "{sent}");
    let second = wait_until(started, "no second run starts", || {
        let newest = crate::client::get(started.proxy.address, "/v1/runs", &[]).json()["data"][0].clone();
        Some(newest).filter(|newest| newest["run_id"] != run)
    });
    let second = shell.set("RUN", &second["run_id"]);
    wait_until(started, "the runner emits no text", || started.events_so_far(&second).contains("word").then_some(()));
    let interrupted = shell.run(&commands.interrupt);
    assert_eq!(interrupted["run_id"], second.as_str(), "{interrupted}");
    let status = started.wait_for_end(&second);
    assert_eq!(status["state"], "interrupted", "{status}");
}

/// A call that needs approval, a text after it, and an endless text.
fn script(call: Say) -> Vec<Vec<Say>> {
    vec![vec![call], vec![Say::Text("Well.")], vec![Say::Endless("word")]]
}

fn command(preset: &str, name: &str, call: impl Fn(&str) -> Say) {
    let model = Model::with_script(script(call("echo yes > yes.txt")));
    let started = real(preset, name, &model, "");
    run_every_command(&started, "real", || started.folder.path("work/yes.txt").exists());
    started.leaves_nothing();
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn the_documented_commands_work_with_claude_code() {
    command("claude-code", "claude", |command| Say::Tool("Bash", json!({"command": command, "description": "a file"})));
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn the_documented_commands_work_with_codex() {
    command("codex-app-server", "codex", |command| {
        let why = "May this be done?";
        Say::Tool(
            "exec_command",
            json!({"cmd": command, "sandbox_permissions": "require_escalated", "justification": why}),
        )
    });
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn the_documented_commands_work_with_opencode() {
    let call = Say::Tool("bash", json!({"command": "echo yes > yes.txt", "description": "writes a file"}));
    let model = Model::with_script(script(call));
    let server = Server::start(&model);
    let started = server.followed();
    run_every_command(&started, "code", || server.folder.path("work/yes.txt").exists());
}

/// A user without a coding agent: the demo asks before it fixes anything, and a run that waits can be interrupted.
#[test]
#[ignore = "needs curl: ./test.sh runs it"]
fn curl_runs_the_documented_commands_with_the_demo() {
    let started = crate::demo::demo();
    let commands = Commands::read();
    let mut shell = Shell { started: &started, upstream: "demo", names: Vec::new() };
    assert_eq!(shell.run(&commands.list)["upstreams"][0]["takes_messages"], json!(true));
    let start = |shell: &mut Shell<'_>| {
        let run = shell.run(&commands.start)["run_id"].clone();
        let run = shell.set("RUN", &run);
        let asked = wait_until(&started, "no approval is requested", || {
            Some(shell.run(&commands.status)["pending_approvals"][0].clone()).filter(Value::is_string)
        });
        shell.set("APPROVAL", &asked);
        run
    };
    let first = start(&mut shell);
    assert_eq!(shell.run(&commands.approve)["decision"], "approved");
    let session = started.completed(&first)["session_id"].clone();
    let waiting = start(&mut shell);
    assert_eq!(shell.run(&commands.interrupt)["run_id"], waiting.as_str());
    assert_eq!(started.wait_for_end(&waiting)["state"], "interrupted");
    let session = shell.set("SESSION", &session);
    assert_eq!(shell.run(&commands.say_more)["session_id"], session.as_str());
    started.completed(&started.second_run(&session, &first));
}

#[test]
fn the_document_has_every_command() {
    let commands = Commands::read();
    assert!(
        commands.start.starts_with("curl http://127.0.0.1:8080/v1/runs -d '{\"upstream\": \"claude\""),
        "{}",
        commands.start
    );
}
