//! A real OpenCode server whose feed the proxy follows, and the real Codex with the proxy in front of its model. Both use a
//! scripted model on loopback.

use crate::client::{get, post};
use crate::model::{Model, Say};
use crate::proxy::Folder;
use crate::real::program;
use crate::started::{PATIENCE, Started};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// `opencode serve` with a separate home directory; killed when dropped.
pub struct Server {
    child: Child,
    pub folder: Folder,
    port: u16,
}

impl Server {
    pub fn start(model: &Model) -> Self {
        let folder = Folder::new();
        for name in ["work", "home/.config/opencode"] {
            std::fs::create_dir_all(folder.path(name)).unwrap();
        }
        let config = json!({
            "model": "scripted/one",
            "small_model": "scripted/one",
            "autoupdate": false,
            "permission": {"bash": "ask"},
            "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "name": "scripted",
                "options": {"baseURL": format!("http://{}/v1", model.address), "apiKey": "test"},
                "models": {"one": {"name": "one", "tool_call": true, "limit": {"context": 100_000, "output": 8_000}}}}},
        });
        std::fs::write(folder.path("home/.config/opencode/opencode.json"), config.to_string()).unwrap();
        // The port was free a moment ago. There is no way to reserve it.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = Command::new(program("opencode"))
            .args(["serve", "--hostname", "127.0.0.1", "--port", &port.to_string()])
            .current_dir(folder.path("work"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", folder.path("home"))
            .env("LANG", "C.UTF-8")
            .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
            .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self { child, folder, port };
        let begin = Instant::now();
        while !server.answers() {
            assert!(begin.elapsed() < PATIENCE, "the server does not answer");
            std::thread::sleep(Duration::from_millis(50));
        }
        server
    }

    /// A server that already listens may never answer its first requests, so the test asks until it gets an answer.
    fn answers(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) else { return false };
        stream.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
        let mut begin = [0; 12];
        write!(stream, "GET /session HTTP/1.1\r\nhost: 127.0.0.1:{}\r\nconnection: close\r\n\r\n", self.port).is_ok()
            && stream.read_exact(&mut begin).is_ok()
            && begin == *b"HTTP/1.1 200"
    }

    pub fn followed(&self) -> Started {
        let url = format!("http://127.0.0.1:{}/event", self.port);
        let table = format!(
            "[[upstream]]\nname = \"code\"\nkind = \"sse\"\nrunner = \"opencode\"\nurl = \"{url}\"\n\
                             modes = [\"build\", \"plan\"]\n"
        );
        Started::with(&table, &[])
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a run as soon as the feed is connected.
fn run(started: &Started, prompt: &str, session: Option<&Value>) -> String {
    let mut order = json!({"upstream": "code", "prompt": prompt});
    if let Some(session) = session {
        order["session_id"] = session.clone();
    }
    let begin = Instant::now();
    loop {
        let answer = started.start(&order);
        let status = answer.status;
        let json = answer.json();
        if status == 201 {
            return json["run_id"].as_str().unwrap().to_owned();
        }
        assert!(status == 503 && begin.elapsed() < PATIENCE, "{json}\n{}", started.folder.read("log"));
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn decide(started: &Started, run: &str, decision: &str) {
    let status = started.wait_for(run, "no approval is requested", |status| {
        !status["pending_approvals"].as_array().is_none_or(Vec::is_empty)
    });
    let pending = &status["pending_approvals"][0];
    let id = pending.as_str().or_else(|| pending["approval_id"].as_str()).unwrap();
    let path = format!("/v1/runs/{run}/approvals/{id}");
    let body = json!({"decision": decision, "reason": "as the test says"}).to_string();
    let answer = post(started.proxy.address, &path, &[("content-type", "application/json")], body.as_bytes());
    let status = answer.status;
    assert!(status < 300, "{status}: {}", answer.text());
}

fn assert_in_every_contract(started: &Started, run: &str, text: &str) {
    for contract in framegate_translators::contracts::names_with_schemas() {
        let events = started.events(run, contract);
        // The runner's own record always contains the text, so it does not count.
        let events: Vec<Value> = events.into_iter().filter(|event| event["type"] != "provider_event").collect();
        assert!(crate::texts::contain(&events, text), "{contract} lacks {text:?}: {events:#?}");
    }
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn an_opencode_server_is_followed_prompted_answered_and_interrupted() {
    let shell = |command: &str| Say::Tool("bash", json!({"command": command, "description": "writes a file"}));
    let model = Model::with_script(vec![
        vec![Say::Text("The first answer.")],
        vec![shell("echo yes > approved.txt")],
        vec![Say::Text("It is written.")],
        vec![shell("echo no > rejected.txt")],
        vec![Say::Text("It is not written.")],
        vec![Say::Endless("word ")],
    ]);
    let server = Server::start(&model);
    let started = server.followed();
    let first = run(&started, "The first question.", None);
    let status = started.wait_for_end(&first);
    assert_eq!(status["state"], json!("completed"), "{status}\n{}", started.folder.read("log"));
    assert_in_every_contract(&started, &first, "The first answer.");
    let session = &status["session_id"];
    // In the same session: one call is approved, another is rejected.
    let approved = run(&started, "Write a file.", Some(session));
    decide(&started, &approved, "approved");
    let status = started.wait_for_end(&approved);
    assert_eq!((&status["session_id"], &status["state"]), (session, &json!("completed")), "{status}");
    assert!(server.folder.path("work/approved.txt").exists());
    assert_in_every_contract(&started, &approved, "It is written.");
    let rejected = run(&started, "Write another file.", Some(session));
    decide(&started, &rejected, "rejected");
    let status = started.wait_for_end(&rejected);
    assert!(!server.folder.path("work/rejected.txt").exists(), "{status}");
    // Interrupted in the middle of its text.
    let interrupted = run(&started, "Go on and on.", None);
    let begin = Instant::now();
    while !started.events_so_far(&interrupted).contains("word") {
        assert!(begin.elapsed() < PATIENCE, "{}", started.folder.read("log"));
        std::thread::sleep(Duration::from_millis(50));
    }
    let path = format!("/v1/runs/{interrupted}/interrupt");
    assert!(post(started.proxy.address, &path, &[], b"").status < 300);
    let status = started.wait_for_end(&interrupted);
    assert_eq!(status["state"], json!("interrupted"), "{status}");
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn a_request_of_codex_through_the_proxy_becomes_a_run() {
    let model = Model::with_script(vec![vec![Say::Text("The answer behind the proxy.")]]);
    let table = format!(
        "[[upstream]]\nname = \"model\"\nkind = \"responses\"\nurl = \"http://{}/v1\"\nauthorization = \"passthrough\"\n",
        model.address
    );
    let started = Started::with(&table, &[]);
    for name in ["work", "home/.codex"] {
        std::fs::create_dir_all(started.folder.path(name)).unwrap();
    }
    let config = format!(
        "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\n[model_providers.scripted]\nname = \"scripted\"\n\
         base_url = \"http://{}/v1\"\nwire_api = \"responses\"\nenv_key = \"MODEL_KEY\"\nrequest_max_retries = 0\n\
         stream_max_retries = 0\n",
        started.proxy.address
    );
    std::fs::write(started.folder.path("home/.codex/config.toml"), config).unwrap();
    let output = Command::new(program("codex"))
        .args(["exec", "--skip-git-repo-check", "--json", "Say something."])
        .current_dir(started.folder.path("work"))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", started.folder.path("home"))
        .env("MODEL_KEY", "test")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("The answer behind the proxy."),
        "{text}\n{}",
        started.folder.read("log")
    );
    // The response to Codex is a run, in every contract.
    let runs = get(started.proxy.address, "/v1/runs", &[]).json();
    let run = runs["data"][0]["run_id"].as_str().unwrap();
    assert_eq!(started.wait_for_end(run)["state"], json!("completed"));
    assert_in_every_contract(&started, run, "The answer behind the proxy.");
}
