//! The sessions that the real runners keep, at pinned versions, as `framegate import` finds them.

use crate::model::{Model, Say};
use crate::real::{order, real};
use crate::started::Started;
use serde_json::{Value, json};
use std::process::Command;

/// Imports the sessions in the home directory of the runners. Returns how many runs were new, and how many were known.
fn import(started: &Started, args: &[&str]) -> (Value, Value) {
    let output = Command::new(env!("CARGO_BIN_EXE_framegate"))
        .args(["import", "--format", "json"])
        .args(args)
        .env_clear()
        .env("HOME", started.folder.path("home"))
        .current_dir(started.folder.path("work"))
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    (summary["total"]["new_runs"].clone(), summary["total"]["known_runs"].clone())
}

/// A run that the proxy saw is in its log once, although the runner has kept it; in another log, it is imported.
fn keep(preset: &str, name: &str) {
    let model = Model::with_script(vec![vec![Say::Text("An answer to keep.")]]);
    let started = real(preset, name, &model, "");
    let run = started.run_of(&order("A question to keep."));
    let seen = started.wait_for_end(&run);
    assert_eq!(seen["state"], json!("completed"), "{seen}\n{}", started.folder.read("log"));
    let url = format!("http://{}", started.proxy.address);
    assert_eq!(import(&started, &["--url", &url]), (json!(0), json!(1)));
    let database = started.folder.path("kept.db");
    let database = database.to_str().unwrap();
    assert_eq!(import(&started, &["--db", database]), (json!(1), json!(0)));
    let listed = Command::new(env!("CARGO_BIN_EXE_framegate"))
        .args(["log", "--db", database, "list", "--json"])
        .output()
        .unwrap();
    let kept: Value = serde_json::from_slice(&listed.stdout).unwrap();
    for field in ["runner", "state", "final_text"] {
        assert_eq!(kept[field], seen[field], "{field}: {kept:#}\n{seen:#}");
    }
    assert!(kept["title"].as_str().unwrap().contains("A question to keep."), "{kept:#}");
}

macro_rules! kept {
    ($($test:ident: $preset:literal, $program:literal;)+) => {
        $(
            #[test]
            #[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
            fn $test() {
                keep($preset, $program);
            }
        )+
    };
}

kept! {
    claude_code_keeps_sessions: "claude-code", "claude";
    codex_exec_keeps_sessions: "codex-exec", "codex";
    opencode_run_keeps_sessions: "opencode-run", "opencode";
    gemini_cli_keeps_sessions: "gemini-cli", "gemini";
    qwen_code_keeps_sessions: "qwen-code", "qwen";
    pi_keeps_sessions: "pi", "pi";
    copilot_keeps_sessions: "copilot", "copilot";
}
