//! The real Codex with the proxy between it and its model, configured as docs/upstreams.md describes.

use crate::client::get;
use crate::model::{Model, Say};
use crate::real::program;
use crate::started::{PATIENCE, Started};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const TOKEN: &str = "a-token-of-the-proxy-0123456789";

/// A proxy with tokens in front of the model. Clients send their own credentials for the model.
fn proxy(model: &Model) -> Started {
    let table = format!(
        "[[upstream]]\nname = \"openai\"\nkind = \"responses\"\nurl = \"http://{}/v1\"\nauthorization = \"passthrough\"\n",
        model.address
    );
    let folder = crate::proxy::Folder::new();
    let token = folder.write("token", TOKEN);
    let started = Started::with(&table, &[("FRAMEGATE__SERVER__TOKEN_FILE", &token)]);
    for folder in ["work", "home/.codex"] {
        std::fs::create_dir_all(started.folder.path(folder)).unwrap();
    }
    started
}

/// The output of `codex exec`, and how long it took.
fn codex(started: &Started, config: &str, prompt: &[&str]) -> (Vec<Value>, String, Duration) {
    let config = config.replace("http://127.0.0.1:8080", &format!("http://{}", started.proxy.address));
    std::fs::write(started.folder.path("home/.codex/config.toml"), format!("model = \"gpt-5.5\"\n{config}")).unwrap();
    let begun = Instant::now();
    let output = Command::new(program("codex"))
        .args(["exec", "--json", "--skip-git-repo-check"])
        .args(prompt)
        .current_dir(started.folder.path("work"))
        .env_clear()
        .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
        .env("HOME", started.folder.path("home"))
        .env("FRAMEGATE_TOKEN", TOKEN)
        .env("UPSTREAM_AUTHORIZATION", "Bearer sk-of-the-user")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let (events, errors) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr).into_owned());
    assert!(output.status.success(), "{events}\n{errors}\n{}", started.folder.read("log"));
    let events = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (events, errors, begun.elapsed())
}

fn runs(started: &Started) -> Vec<Value> {
    let bearer = format!("Bearer {TOKEN}");
    let answer = get(started.proxy.address, "/v1/runs", &[("authorization", &bearer)]);
    answer.json()["data"].as_array().unwrap().clone()
}

/// The configuration for Codex in the documentation.
fn documented() -> String {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/upstreams.md")).unwrap();
    let section = text.split("### Codex through framegate").nth(1).unwrap();
    let block = section.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(block.contains("model_provider"), "{block}");
    block.to_owned()
}

/// One turn with two requests, and a second turn through `codex exec resume`.
fn works_through_the_proxy(config: &str) -> (Started, Model, Duration) {
    let model = Model::with_script(vec![
        vec![Say::Text("First this."), Say::Tool("exec_command", json!({"cmd": "echo hello"}))],
        vec![Say::Text("Done.")],
        vec![Say::Text("Again.")],
    ]);
    let started = proxy(&model);
    let (events, errors, took) = codex(&started, config, &["Say hello."]);
    let failures: Vec<&Value> = events
        .iter()
        .filter(|event| event["type"] == json!("error") || event["item"]["type"] == json!("error"))
        .collect();
    assert!(failures.is_empty(), "{failures:?}\n{errors}");
    let thread = events.iter().find_map(|event| event["thread_id"].as_str()).unwrap().to_owned();
    let (again, ..) = codex(&started, config, &["resume", &thread, "Once more."]);
    assert!(again.iter().any(|event| event["item"]["text"] == json!("Again.")), "{again:?}");
    // Three requests are three runs in one session, which is Codex's thread.
    let runs = runs(&started);
    assert_eq!(runs.len(), 3, "{runs:#?}");
    let sessions: BTreeSet<&str> = runs.iter().map(|run| run["session_id"].as_str().unwrap()).collect();
    assert_eq!(sessions, BTreeSet::from([&*thread]));
    assert!(runs.iter().all(|run| run["state"] == json!("completed")), "{runs:#?}");
    for head in model.headers() {
        assert_eq!(head["authorization"], "Bearer sk-of-the-user");
        assert_eq!((&*head["session-id"], &*head["originator"]), (&*thread, "codex_exec"), "{head:?}");
        assert!(
            head.contains_key("x-codex-turn-metadata") && !head.contains_key("x-upstream-authorization"),
            "{head:?}"
        );
    }
    (started, model, took)
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn codex_works_through_the_proxy_as_documented() {
    works_through_the_proxy(&documented());
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn codex_falls_back_from_a_websocket_without_delay() {
    let config = documented().replace("wire_api = ", "supports_websockets = true\nwire_api = ");
    let (_started, model, took) = works_through_the_proxy(&config);
    // Without an immediate answer that it understands, Codex tries seven times, for more than six seconds.
    assert!(took < PATIENCE / 2, "{took:?}");
    assert_eq!(model.headers().len(), 3);
}
