//! The real runners, at pinned versions (tests/runners), against a scripted model on loopback.
//!
//! `./test.sh` installs them and runs these tests in a network namespace that has only loopback.

use crate::client::{get, post};
use crate::model::{Model, Say};
use crate::started::Started;
use serde_json::{Value, json};
use std::path::PathBuf;

pub fn program(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/runners/node_modules/.bin").join(name);
    assert!(path.exists(), "{} is missing: npm ci --prefix tests/runners", path.display());
    path.display().to_string()
}

/// A proxy with one upstream `real`: a preset, the real program, and a separate home directory.
pub fn real(preset: &str, name: &str, model: &Model, more: &str) -> Started {
    let program = program(name);
    let (runner, _) = framegate_translators::runners::presets().find(|(_, known)| known.name == preset).unwrap();
    let modes: Vec<&str> = runner.modes.known.iter().map(|mode| mode.name).collect();
    let (settings, environment) = crate::real_vendors::needs(name, model);
    let tables = format!(
        "[[upstream]]\nname = \"real\"\nkind = \"command\"\npreset = \"{preset}\"\nprogram = \"{program}\"\n\
         modes = {modes:?}\ndirectories = [\"{{folder}}/work\"]\nstart_timeout_ms = 110000\npass_environment = [\"PATH\"]\n{settings}\
         [upstream.environment]\nHOME = \"{{folder}}/home\"\nLANG = \"C.UTF-8\"\nMODEL_KEY = \"test\"\n\
         ANTHROPIC_BASE_URL = \"http://{address}\"\nANTHROPIC_API_KEY = \"test\"\nDISABLE_TELEMETRY = \"1\"\n\
         DISABLE_ERROR_REPORTING = \"1\"\nDISABLE_AUTOUPDATER = \"1\"\nIS_SANDBOX = \"1\"\n\
         CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC = \"1\"\nOPENCODE_DISABLE_MODELS_FETCH = \"1\"\n\
         OPENCODE_DISABLE_AUTOUPDATE = \"1\"\n{environment}{more}\n",
        address = model.address,
    );
    let started = Started::with(&tables, &[("FRAMEGATE__TELEMETRY__FILTER", "info,framegate::stderr=debug")]);
    for folder in ["work", "home/.codex", "home/.config/opencode"] {
        std::fs::create_dir_all(started.folder.path(folder)).unwrap();
    }
    let codex = format!(
        "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\napproval_policy = \"on-request\"\nsandbox_mode = \"read-only\"\n\
         [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"http://{}/v1\"\nwire_api = \"responses\"\n\
         env_key = \"MODEL_KEY\"\nrequest_max_retries = 1\nstream_max_retries = 1\n",
        model.address
    );
    std::fs::write(started.folder.path("home/.codex/config.toml"), codex).unwrap();
    let opencode = json!({
        "model": "scripted/one",
        "small_model": "scripted/one",
        "autoupdate": false,
        "provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "name": "scripted",
            "options": {"baseURL": format!("http://{}/v1", model.address), "apiKey": "test"},
            "models": {"one": {"name": "one", "tool_call": true, "limit": {"context": 100_000, "output": 8_000}}}}},
    });
    std::fs::write(started.folder.path("home/.config/opencode/opencode.json"), opencode.to_string()).unwrap();
    crate::real_vendors::write_settings(&started, model);
    // `codex exec` requires a Git repository as its working directory.
    let git =
        std::process::Command::new("git").args(["init", "--quiet"]).current_dir(started.folder.path("work")).status();
    assert!(git.unwrap().success());
    started
}

pub fn order(prompt: &str) -> Value {
    json!({"upstream": "real", "prompt": prompt})
}

/// The runner's text appears in several contracts: in one event, or in pieces in several events.
fn assert_in_every_contract(started: &Started, run: &str, text: &str) {
    for contract in framegate_translators::contracts::names_with_schemas() {
        let events = started.events(run, contract);
        assert!(crate::texts::contain(&events, text), "{contract} lacks {text:?}: {events:#?}");
    }
}

/// Two prompts in one session: the second request to the model contains the first prompt.
pub fn continue_session(preset: &str, name: &str) {
    continue_session_after(preset, name, || ());
}

/// The same, with a wait between the prompts.
pub fn continue_session_after(preset: &str, name: &str, wait: impl FnOnce()) {
    let model = Model::with_script(vec![vec![Say::Text("The first answer.")], vec![Say::Text("The second answer.")]]);
    let started = real(preset, name, &model, "");
    let run = started.run_of(&order("The first question."));
    let first = started.wait_for_end(&run);
    assert_eq!(first["state"], json!("completed"), "{first}\n{}", started.folder.read("log"));
    assert_in_every_contract(&started, &run, "first answer");
    wait();
    let mut again = order("The second question.");
    again["session_id"] = first["session_id"].clone();
    let run = started.run_of(&again);
    let second = started.wait_for_end(&run);
    assert_eq!(second["state"], json!("completed"), "{second}\n{}", started.folder.read("log"));
    assert_eq!(second["session_id"], first["session_id"]);
    assert_eq!(second["final_text"], json!("The second answer."));
    let last = model.requests().pop().unwrap().to_string();
    assert!(last.contains("The first question.") && last.contains("The first answer."), "{last}");
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn claude_code_continues_a_session() {
    continue_session("claude-code", "claude");
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn codex_exec_continues_a_session() {
    continue_session("codex-exec", "codex");
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn codex_app_server_continues_a_session() {
    continue_session("codex-app-server", "codex");
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn opencode_run_continues_a_session() {
    continue_session("opencode-run", "opencode");
}

pub fn answer(started: &Started, run: &str, approval: &str, answer: &Value) -> u16 {
    let path = format!("/v1/runs/{run}/approvals/{approval}");
    post(started.proxy.address, &path, &[], answer.to_string().as_bytes()).status
}

/// The id of the request that a run waits with.
pub fn pending_approval(started: &Started, run: &str) -> String {
    let has_one = |status: &Value| status["pending_approvals"].as_array().is_some_and(|waiting| !waiting.is_empty());
    let status = started.wait_for(run, "no approval is requested", has_one);
    assert_eq!(status["state"], json!("waiting_approval"));
    status["pending_approvals"][0].as_str().unwrap().to_owned()
}

/// One tool call is approved and one is denied: only the approved tool has an effect.
pub fn decide_two_calls(preset: &str, name: &str, call: impl Fn(&str) -> Say) {
    let (started, run) = decide(preset, name, call);
    assert_in_every_contract(&started, &run, "Well.");
}

/// The same. The runner may end its turn instead of going on after the denial.
pub fn decide(preset: &str, name: &str, call: impl Fn(&str) -> Say) -> (Started, String) {
    decide_ending("completed", preset, name, call)
}

/// The same, for a runner whose run has this state after the denial.
pub fn decide_ending(state: &str, preset: &str, name: &str, call: impl Fn(&str) -> Say) -> (Started, String) {
    let script = vec![
        vec![Say::Text("First this."), call("touch yes.txt")],
        vec![Say::Text("Then that."), call("touch no.txt")],
        vec![Say::Text("Well.")],
    ];
    let model = Model::with_script(script);
    let started = real(preset, name, &model, "");
    let run = started.run_of(&order("Do both."));
    let first = pending_approval(&started, &run);
    assert_eq!(answer(&started, &run, "nothing", &json!({"decision": "approved"})), 404);
    assert_eq!(answer(&started, &run, &first, &json!({"decision": "approved"})), 200);
    assert_eq!(answer(&started, &run, &first, &json!({"decision": "rejected"})), 409);
    let second = started.wait_for(&run, "no second approval is requested", |status| {
        status["pending_approvals"].as_array().is_some_and(|waiting| waiting.iter().any(|id| *id != json!(first)))
    });
    let second = second["pending_approvals"][0].as_str().unwrap().to_owned();
    assert!(started.folder.path("work/yes.txt").exists());
    let denied = json!({"decision": "rejected", "reason": "not that one"});
    assert_eq!(answer(&started, &run, &second, &denied), 200);
    let status = started.wait_for_end(&run);
    assert!(!started.folder.path("work/no.txt").exists(), "{status}");
    assert_eq!(status["state"], json!(state), "{status}\n{}", started.folder.read("log"));
    let frames = started.events(&run, "frames.v2");
    let of = |kind: &str| frames.iter().filter(|frame| frame["type"] == json!(kind)).count();
    assert_eq!((of("approval_requested"), of("approval_resolved")), (2, 2), "{frames:#?}");
    assert_eq!(answer(&started, &run, &second, &denied), 409, "an answer after the end");
    (started, run)
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn claude_code_asks_before_it_acts() {
    decide_two_calls("claude-code", "claude", |command| {
        Say::Tool("Bash", json!({"command": command, "description": "a file"}))
    });
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn codex_app_server_asks_before_it_acts() {
    decide_two_calls("codex-app-server", "codex", |command| {
        let why = "May this be done?";
        Say::Tool(
            "exec_command",
            json!({"cmd": command, "sandbox_permissions": "require_escalated", "justification": why}),
        )
    });
}

/// An interruption in the middle of a text: the run ends as interrupted, and its events contain the text so far.
pub fn interrupt_run(preset: &str, name: &str, streams_text: bool, more: &str) {
    let model = Model::with_script(vec![vec![Say::Endless("word")]]);
    let started = real(preset, name, &model, more);
    let run = started.run_of(&order("Talk."));
    if streams_text {
        let begin = std::time::Instant::now();
        while started.events_so_far(&run).matches("\"word \"").count() < 3 {
            assert!(begin.elapsed() < crate::started::PATIENCE, "no text arrives");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    } else {
        started.wait_for(&run, "the model gets no request", |_| !model.requests().is_empty());
    }
    if streams_text {
        let mut again = order("And this?");
        again["session_id"] = started.status(&run)["session_id"].clone();
        assert_eq!(started.start(&again).status, 409, "two runs at once in one session");
    }
    assert_eq!(started.interrupt(&run), 202);
    let status = started.wait_for_end(&run);
    assert_eq!(status["state"], json!("interrupted"), "{status}\n{}", started.folder.read("log"));
    let frames = started.events(&run, "frames.v2");
    assert_eq!(frames.iter().filter(|frame| frame["type"] == json!("session_ended")).count(), 1);
    started.leaves_nothing();
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn claude_code_is_interrupted() {
    interrupt_run("claude-code", "claude", true, "");
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn codex_app_server_is_interrupted() {
    interrupt_run("codex-app-server", "codex", true, "");
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn codex_exec_is_interrupted() {
    interrupt_run("codex-exec", "codex", false, "");
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn opencode_run_is_interrupted() {
    interrupt_run("opencode-run", "opencode", false, "");
}

/// A runner that accepts several prompts gets the next one in the same process.
pub fn send_message(preset: &str, name: &str) {
    let model = Model::with_script(vec![vec![Say::Text("One.")], vec![Say::Text("Two.")]]);
    let started = real(preset, name, &model, "");
    let run = started.run_of(&order("First."));
    let first = started.wait_for_end(&run);
    let leader = started.oldest();
    let session = first["session_id"].as_str().unwrap();
    let message = json!({"prompt": "Second."}).to_string();
    let sent = post(started.proxy.address, &format!("/v1/sessions/{session}/messages"), &[], message.as_bytes());
    assert_eq!(sent.status, 202);
    let begin = std::time::Instant::now();
    let second = loop {
        let newest = get(started.proxy.address, "/v1/runs", &[]).json()["data"][0].clone();
        if newest["run_id"] != json!(run) && newest["ended_at_ms"].is_u64() {
            break newest;
        }
        assert!(begin.elapsed() < crate::started::PATIENCE, "{newest}\n{}", started.folder.read("log"));
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    assert_eq!((&second["session_id"], &second["final_text"]), (&first["session_id"], &json!("Two.")), "{second}");
    assert!(leader.is_some() && started.oldest() == leader, "another process");
    has_answered_all(started);
}

/// Stops the proxy. None of the prompts that the runner got is reported as lost.
fn has_answered_all(mut started: Started) {
    assert!(started.proxy.terminate().success());
    started.wait_for_no_process();
    let log = started.folder.read("log");
    assert!(!log.contains("before it answered prompts"), "{log}");
}

/// Prompts that arrive while the runner works are in its runs, each of them once.
pub fn send_messages_during_a_run(preset: &str, name: &str, call: Say) {
    let script = vec![vec![call], vec![Say::Text("One.")], vec![Say::Text("Two.")], vec![Say::Text("Three.")]];
    let model = Model::with_script(script);
    let started = real(preset, name, &model, "");
    let run = started.run_of(&order("First."));
    let question = pending_approval(&started, &run);
    let session = started.status(&run)["session_id"].as_str().unwrap().to_owned();
    for prompt in ["Second.", "Third."] {
        let message = json!({"prompt": prompt}).to_string();
        let sent = post(started.proxy.address, &format!("/v1/sessions/{session}/messages"), &[], message.as_bytes());
        assert_eq!(sent.status, 202);
    }
    assert_eq!(answer(&started, &run, &question, &json!({"decision": "approved"})), 200);
    started.wait_for_end(&run);
    let begin = std::time::Instant::now();
    let prompts = loop {
        let mut runs = get(started.proxy.address, "/v1/runs", &[]).json()["data"].as_array().unwrap().clone();
        runs.reverse();
        let frames = runs.iter().flat_map(|run| started.events(run["run_id"].as_str().unwrap(), "frames.v2"));
        let said = frames.filter(|frame| frame["type"] == json!("user_message"));
        let prompts: Vec<String> = said.map(|frame| frame["text"].as_str().unwrap().to_owned()).collect();
        if prompts.concat().contains("Third.") && runs.iter().all(|run| run["ended_at_ms"].is_u64()) {
            break prompts;
        }
        assert!(begin.elapsed() < crate::started::PATIENCE, "{prompts:?} {runs:#?}\n{}", started.folder.read("log"));
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    assert_eq!(prompts, ["First.", "Second.", "Third."]);
    has_answered_all(started);
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn claude_code_takes_messages_during_a_run() {
    let call = Say::Tool("Bash", json!({"command": "touch a.txt", "description": "a file"}));
    send_messages_during_a_run("claude-code", "claude", call);
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn claude_code_takes_messages() {
    send_message("claude-code", "claude");
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn codex_app_server_takes_messages_during_a_run() {
    let call = Say::Tool(
        "exec_command",
        json!({"cmd": "touch a.txt", "sandbox_permissions": "require_escalated", "justification": "May it?"}),
    );
    send_messages_during_a_run("codex-app-server", "codex", call);
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn codex_app_server_takes_messages() {
    send_message("codex-app-server", "codex");
}
