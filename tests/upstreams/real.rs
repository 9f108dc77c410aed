//! The real runners, of pinned versions (tests/runners), against a scripted model on loopback.
//!
//! `./test.sh` installs them and runs these tests in a network namespace that has nothing but loopback.

use crate::model::{Model, Say};
use crate::started::Started;
use serde_json::{Value, json};
use std::path::PathBuf;

pub fn program(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/runners/node_modules/.bin").join(name);
    assert!(path.exists(), "{} is missing: npm ci --prefix tests/runners", path.display());
    path.display().to_string()
}

/// A proxy with one upstream `real`: a preset, its real program, and a home of its own.
fn real(preset: &str, name: &str, model: &Model, more: &str) -> Started {
    let program = program(name);
    let tables = format!(
        "[[upstream]]\nname = \"real\"\nkind = \"command\"\npreset = \"{preset}\"\nprogram = \"{program}\"\n\
         directories = [\"{{folder}}/work\"]\npass_environment = [\"PATH\"]\n\
         [upstream.environment]\nHOME = \"{{folder}}/home\"\nLANG = \"C.UTF-8\"\nMODEL_KEY = \"test\"\n\
         ANTHROPIC_BASE_URL = \"http://{address}\"\nANTHROPIC_API_KEY = \"test\"\nDISABLE_TELEMETRY = \"1\"\n\
         DISABLE_ERROR_REPORTING = \"1\"\nDISABLE_AUTOUPDATER = \"1\"\nIS_SANDBOX = \"1\"\n\
         CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC = \"1\"\nOPENCODE_DISABLE_MODELS_FETCH = \"1\"\n\
         OPENCODE_DISABLE_AUTOUPDATE = \"1\"\n{more}\n",
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
    // `codex exec` wants to know that it may work there.
    let git =
        std::process::Command::new("git").args(["init", "--quiet"]).current_dir(started.folder.path("work")).status();
    assert!(git.unwrap().success());
    started
}

fn order(prompt: &str) -> Value {
    json!({"upstream": "real", "prompt": prompt})
}

/// What the runner says is told in three contracts at once.
fn is_told_everywhere(started: &Started, run: &str, text: &str) {
    for contract in ["frames.v2", "sse.v1", "agent-manager.v1", "hecate.v1"] {
        let events = started.events(run, contract);
        let said = events.iter().any(|event| event.to_string().contains(text));
        assert!(said, "{contract} does not say {text:?}: {events:#?}");
    }
}

/// Two prompts in one session: the model sees the first one when it is asked the second.
fn continues(preset: &str, name: &str) {
    let model = Model::plays(vec![vec![Say::Text("The first answer.")], vec![Say::Text("The second answer.")]]);
    let started = real(preset, name, &model, "");
    let run = started.run_of(&order("The first question."));
    let first = started.wait_for_end(&run);
    assert_eq!(first["state"], json!("completed"), "{first}\n{}", started.folder.read("log"));
    is_told_everywhere(&started, &run, "first answer");
    let mut again = order("The second question.");
    again["session_id"] = first["session_id"].clone();
    let run = started.run_of(&again);
    let second = started.wait_for_end(&run);
    assert_eq!(second["state"], json!("completed"), "{second}\n{}", started.folder.read("log"));
    assert_eq!(second["session_id"], first["session_id"]);
    assert_eq!(second["final_text"], json!("The second answer."));
    let last = model.asked().pop().unwrap().to_string();
    assert!(last.contains("The first question.") && last.contains("The first answer."), "{last}");
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn claude_code_continues_a_session() {
    continues("claude-code", "claude");
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn codex_exec_continues_a_session() {
    continues("codex-exec", "codex");
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn codex_app_server_continues_a_session() {
    continues("codex-app-server", "codex");
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn opencode_run_continues_a_session() {
    continues("opencode-run", "opencode");
}
