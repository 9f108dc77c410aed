//! The real runners in their modes, against a scripted model on loopback.

use crate::client::get;
use crate::model::{Model, Say};
use crate::real::real;
use crate::real_feed::Server;
use crate::started::Started;
use serde_json::{Value, json};

/// The status of a run in a mode at its end, or as soon as it asks for an approval.
fn run_in(started: &Started, upstream: &str, mode: &str) -> (String, Value) {
    let run = started.run_of(&json!({"upstream": upstream, "prompt": "Do it.", "mode": mode}));
    let settled = |status: &Value| {
        status["state"] != "running" && (status["ended_at_ms"].is_u64() || status["state"] == "waiting_approval")
    };
    let status = started.wait_for(&run, "the run neither asks nor ends", settled);
    (run, status)
}

/// Whether the runner says in its first records that it works in this mode.
fn is_told(started: &Started, run: &str, mode: &str) -> bool {
    let records = get(started.proxy.address, &format!("/v1/runs/{run}/events?contract=raw"), &[]).text();
    let records = records.replace('\\', "");
    records.contains(&format!("\"permissionMode\":\"{mode}\""))
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn claude_code_works_in_the_mode_of_the_request() {
    let write = |path: String| Say::Tool("Write", json!({"file_path": path, "content": "x"}));
    for (mode, asks) in [("default", true), ("acceptEdits", false)] {
        // The path of the file is known once the proxy has its folder, so the script names a relative one.
        let model = Model::with_script(vec![vec![write("made.txt".to_owned())], vec![Say::Text("Well.")]]);
        let started = real("claude-code", "claude", &model, "");
        let (run, status) = run_in(&started, "real", mode);
        assert_eq!(status["state"] == "waiting_approval", asks, "{mode}: {status}\n{}", started.folder.read("log"));
        assert_eq!(started.folder.path("work/made.txt").exists(), !asks, "{mode}");
        if asks {
            started.interrupt(&run);
            started.wait_for_end(&run);
        }
        assert!(is_told(&started, &run, mode), "{mode}");
    }
    let model = Model::with_script(vec![vec![Say::Text("A plan.")]]);
    let started = real("claude-code", "claude", &model, "");
    let (run, status) = run_in(&started, "real", "plan");
    assert_eq!(status["state"], "completed", "{status}");
    assert!(is_told(&started, &run, "plan"));
    assert!(model.requests()[0].to_string().contains("Plan mode is active"), "{}", model.requests()[0]);
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn codex_app_server_works_in_the_mode_of_the_request() {
    // Its own configuration is `read-only` with `on-request`.
    for (mode, asks) in [("read-only", true), ("full-access", false)] {
        let command =
            json!({"cmd": "touch made.txt", "sandbox_permissions": "require_escalated", "justification": "?"});
        let model = Model::with_script(vec![vec![Say::Tool("exec_command", command)], vec![Say::Text("Well.")]]);
        let started = real("codex-app-server", "codex", &model, "");
        let (run, status) = run_in(&started, "real", mode);
        assert_eq!(status["state"] == "waiting_approval", asks, "{mode}: {status}\n{}", started.folder.read("log"));
        if asks {
            started.interrupt(&run);
            started.wait_for_end(&run);
        }
        let said = model.requests()[0].to_string();
        let sandbox = if asks { "read-only" } else { "danger-full-access" };
        assert!(said.contains(sandbox), "the model is not told about {sandbox}: {said}");
    }
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn codex_exec_works_in_the_sandbox_of_the_mode() {
    let model = Model::with_script(vec![vec![Say::Text("One.")]]);
    let started = real("codex-exec", "codex", &model, "");
    let (_, status) = run_in(&started, "real", "auto");
    assert_eq!(status["state"], "completed", "{status}\n{}", started.folder.read("log"));
    let said = model.requests()[0].to_string();
    assert!(said.contains("workspace-write"), "{said}");
}

/// What OpenCode tells the model in the mode `plan`.
const PLANS: &str = "Plan mode";

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn opencode_works_with_the_agent_of_the_request() {
    for (mode, plans) in [("plan", true), ("build", false)] {
        let model = Model::with_script(vec![vec![Say::Text("One.")]]);
        let started = real("opencode-run", "opencode", &model, "");
        let (_, status) = run_in(&started, "real", mode);
        assert_eq!(status["state"], "completed", "{status}\n{}", started.folder.read("log"));
        let said = model.requests()[0].to_string();
        assert_eq!(said.contains(PLANS), plans, "{mode}: {said}");
    }
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn the_server_of_a_feed_works_with_the_agent_of_the_request() {
    let model = Model::with_script(vec![vec![Say::Text("One.")], vec![Say::Text("Two.")]]);
    let server = Server::start(&model);
    let started = server.followed();
    for (mode, plans) in [("plan", true), ("build", false)] {
        let (_, status) = run_in(&started, "code", mode);
        assert_eq!(status["state"], "completed", "{status}\n{}", started.folder.read("log"));
        let said = model.requests().pop().unwrap().to_string();
        assert_eq!(said.contains(PLANS), plans, "{mode}: {said}");
    }
}
