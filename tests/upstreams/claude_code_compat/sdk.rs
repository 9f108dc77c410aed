//! The Claude Agent SDK drives other runners with the command in place of Claude Code.

use crate::chat_completions::agent;
use crate::model::{Model, Say};
use crate::proxy::Folder;
use crate::real::real;
use crate::real_feed::Server;
use crate::real_packages::Runner;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

/// Which SDK.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sdk {
    Node,
    Python,
}

/// A program that stands in for `claude`, as the documentation has it.
fn wrapper(folder: &Folder, arguments: &str) -> String {
    let program = env!("CARGO_BIN_EXE_framegate");
    let path = folder.write("claude", &format!("#!/bin/sh\nexec {program} claude-compat {arguments} \"$@\"\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Lets an SDK drive the program. Returns what it saw in each step.
fn driven(sdk: Sdk, plan: &Value) -> BTreeMap<String, Value> {
    let clients = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients");
    let mut command = match sdk {
        Sdk::Node => {
            let mut command = Command::new("node");
            command.arg(format!("{clients}/claude_compat.mjs"));
            command
        }
        Sdk::Python => {
            let mut command = Command::new("python3");
            command.arg(format!("{clients}/claude_compat_client.py"));
            command.env("PYTHONPATH", format!("{clients}/python_modules")).env("PYTHONDONTWRITEBYTECODE", "1");
            command
        }
    };
    command.arg(plan.to_string()).env("NO_PROXY", "*").env("FRAMEGATE__LOG__KIND", "memory");
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "the SDK failed: {}\n{said}", output.status);
    let steps = said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    steps.map(|step| (step["step"].as_str().unwrap().to_owned(), step)).collect()
}

/// The steps against the conversing fake.
fn drive_the_fake(sdk: Sdk, folder: &Folder, arguments: &str) {
    let plan = json!({
        "program": wrapper(folder, arguments),
        "cwd": folder.path(""),
        "env": {"XDG_STATE_HOME": folder.path("state")},
        "prompts": {"text": "secretly", "tool": "carefully", "failure": "badly", "slow": "slowly"},
    });
    let is_alone = !arguments.starts_with("--url");
    let said = driven(sdk, &plan);
    let of = |step: &str| said.get(step).unwrap_or_else(|| panic!("{step} is missing in {said:#?}"));
    let error = |step: &str| of(step)["error"].as_str().unwrap_or_default().to_owned();
    let text = of("text");
    assert_eq!((&text["text"], &text["streamed"]), (&json!("Answer 1."), &json!("Answer 1.")), "{text:#}");
    assert_eq!((&text["thinking"], &text["result"]["subtype"]), (&json!("I wonder."), &json!("success")), "{text:#}");
    assert_eq!((error("text"), text["models"].as_array().unwrap().len()), (String::new(), 1), "{text:#}");

    let input = json!({"command": "touch file"});
    for (step, asked, failed) in [
        ("allowed", true, false),
        ("denied", true, true),
        ("changed", true, true),
        ("unasked", false, true),
        ("bypassed", false, false),
        ("tool", true, false),
        ("refused", false, true),
    ] {
        let turn = of(step);
        let calls = json!([{"name": "Bash", "input": input, "failed": failed}]);
        assert_eq!((&turn["calls"], &turn["result"]["is_error"]), (&calls, &json!(false)), "{step}: {turn:#}");
        let questions: Vec<&Value> =
            turn["asked"].as_array().unwrap().iter().map(|question| &question["input"]).collect();
        assert_eq!(questions, if asked { vec![&input] } else { Vec::new() }, "{step}: {turn:#}");
        // Another proxy leaves a question that its client does not take to its timeout, which is not the client's denial.
        let is_denied = failed && (step != "unasked" || is_alone);
        assert_eq!(turn["denials"], u64::from(is_denied), "{step}: {turn:#}");
        assert!(turn["withdrawn"].as_u64().is_none_or(|count| count == 0), "{step}: {turn:#}");
    }
    // The session goes on: each prompt of it is counted by the runner.
    assert_eq!((&of("allowed")["text"], &of("unasked")["text"]), (&json!("Answer 2."), &json!("Answer 5.")));
    assert_eq!((&of("allowed")["session"], &of("bypassed")["text"]), (&text["session"], &json!("Answer 1.")));
    let failure = of("failure");
    assert_eq!(failure["result"]["is_error"], true, "{failure:#}");
    assert!(error("failure").contains("it broke"), "{failure:#}");
    let own = json!("018f0000-0000-7000-8000-00000000000a");
    assert_eq!((&of("named")["session"], &of("named")["text"]), (&own, &json!("Answer 1.")));
    assert_eq!((&of("continued")["session"], &of("continued")["text"]), (&own, &json!("Answer 2.")));
    assert!(!error("forbidden").is_empty());

    // Several prompts in one process.
    assert_eq!((&of("first")["text"], &of("tool")["text"]), (&json!("Answer 1."), &json!("Answer 2.")));
    let interrupted = of("interrupted");
    assert_eq!(interrupted["result"]["subtype"], "error_during_execution", "{interrupted:#}");
    assert_eq!(interrupted["text"], "I am at it.", "{interrupted:#}");
    assert_eq!((&of("model")["models"], &of("model")["session"]), (&json!(["other"]), &of("first")["session"]));
    let end = of("end");
    assert!(end["refused"][0].as_str().unwrap().contains("plan is not supported"), "{end:#}");
    match sdk {
        Sdk::Node => {
            assert!(error("hooks").contains("does not support hooks"), "{:#}", of("hooks"));
            assert!(error("forbidden").contains("--disallowedTools is not supported"), "{:#}", of("forbidden"));
            assert_eq!((&end["done"], &end["interrupted"]), (&json!(true), &json!({"still_queued": []})), "{end:#}");
            assert!(end["refused"][1].as_str().unwrap().contains("mcp_status"), "{end:#}");
        }
        Sdk::Python => {
            let both = of("both");
            assert_eq!(both["results"], json!(["Answer 1.", "Answer 2."]), "{both:#}");
            assert_eq!((both["asked"].as_array().unwrap().len(), &both["denials"]), (2, &json!(0)), "{both:#}");
            assert_eq!(end["info"]["output_style"], "default");
        }
    }
}

fn drive_alone(sdk: Sdk) {
    let folder = Folder::new();
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/upstreams/fake/agent.sh");
    let table = format!(
        "[[upstream]]\nname = \"fake\"\nkind = \"command\"\npreset = \"claude-code\"\nprogram = \"{program}\"\n"
    );
    let config = folder.write("config.toml", &table);
    drive_the_fake(sdk, &folder, &format!("--config {config} fake"));
}

#[test]
#[ignore = "needs node and tests/clients/node_modules: ./test.sh runs it"]
fn npm_claude_compat_drives_a_proxy_of_its_own() {
    drive_alone(Sdk::Node);
}

#[test]
#[ignore = "needs python3 and tests/clients/python_modules: ./test.sh runs it"]
fn python_claude_compat_drives_a_proxy_of_its_own() {
    drive_alone(Sdk::Python);
}

#[test]
#[ignore = "needs node and tests/clients/node_modules: ./test.sh runs it"]
fn npm_claude_compat_drives_another_proxy() {
    let started = agent(&[("FRAMEGATE__APPROVALS__TIMEOUT_MS", "5000")]);
    drive_the_fake(Sdk::Node, &started.folder, &format!("--url http://{} fake", started.proxy.address));
}

#[test]
#[ignore = "needs python3 and tests/clients/python_modules: ./test.sh runs it"]
fn python_claude_compat_drives_another_proxy() {
    let started = agent(&[("FRAMEGATE__APPROVALS__TIMEOUT_MS", "5000")]);
    drive_the_fake(Sdk::Python, &started.folder, &format!("--url http://{} fake", started.proxy.address));
}

/// The steps that every real runner can take which asks before it acts.
fn drive_a_runner_that_asks(program: &str, work: &str, state: &str, only: &[&str]) -> BTreeMap<String, Value> {
    let plan = json!({
        "program": program,
        "cwd": work,
        "env": {"XDG_STATE_HOME": state},
        "prompts": {"text": "The first question.", "tool": "Write a file.", "slow": "Go on and on."},
        "only": only,
    });
    let said = driven(Sdk::Node, &plan);
    let of = |step: &str| said.get(step).unwrap_or_else(|| panic!("{step} is missing in {said:#?}"));
    assert_eq!((&of("text")["text"], &of("text")["error"]), (&json!("The first answer."), &Value::Null), "{said:#?}");
    assert_eq!(of("text")["streamed"], "The first answer.");
    for (step, file, failed) in [("allowed", "yes.txt", false), ("denied", "no.txt", true)] {
        let turn = of(step);
        assert_eq!(turn["asked"].as_array().unwrap().len(), 1, "{turn:#}");
        assert!(turn["asked"][0]["input"].to_string().contains(file), "{turn:#}");
        let [call] = turn["calls"].as_array().unwrap().as_slice() else { panic!("{turn:#}") };
        assert_eq!(call["failed"], failed, "{turn:#}");
        assert_eq!(turn["session"], of("text")["session"], "{turn:#}");
    }
    assert_eq!(of("allowed")["result"]["is_error"], false, "{said:#?}");
    said
}

/// Every step of a conversation with the real Claude Code behind the command.
fn drive_the_real_claude_code(sdk: Sdk) {
    let runner = Runner::claude_code();
    let folder = &runner.started.folder;
    let path = |name: &str| folder.path(name).display().to_string();
    let plan = json!({
        "program": wrapper(folder, &format!("--config {} real", path("config.toml"))),
        "cwd": path("work"),
        "env": {"XDG_STATE_HOME": path("state")},
        "prompts": {"text": "secretly", "tool": "carefully", "failure": "badly", "slow": "slowly"},
        "only": ["text", "allowed", "denied", "failure", "end"],
    });
    let said = driven(sdk, &plan);
    let of = |step: &str| said.get(step).unwrap_or_else(|| panic!("{step} is missing in {said:#?}"));
    let text = of("text");
    assert_eq!((&text["text"], &text["streamed"]), (&json!("Answer 1."), &json!("Answer 1.")), "{text:#}");
    assert_eq!((&text["thinking"], &text["error"]), (&json!("I wonder."), &Value::Null), "{text:#}");
    for (step, answer, failed) in
        [("allowed", "Answer 2.", false), ("denied", "Answer 3.", true), ("tool", "Answer 2.", false)]
    {
        let turn = of(step);
        assert_eq!((&turn["text"], &turn["result"]["is_error"]), (&json!(answer), &json!(false)), "{step}: {turn:#}");
        let [call] = turn["calls"].as_array().unwrap().as_slice() else { panic!("{step}: {turn:#}") };
        assert_eq!((&call["name"], &call["failed"]), (&json!("Bash"), &json!(failed)), "{step}: {turn:#}");
        let [asked] = turn["asked"].as_array().unwrap().as_slice() else { panic!("{step}: {turn:#}") };
        assert_eq!(asked["input"], call["input"], "{step}: {turn:#}");
        assert_eq!(turn["denials"], u64::from(failed), "{step}: {turn:#}");
    }
    assert_eq!(of("denied")["session"], text["session"]);
    let failure = of("failure");
    assert_eq!(failure["result"]["is_error"], true, "{failure:#}");
    assert!(failure.to_string().contains("it broke"), "{failure:#}");
    // Several prompts in one process, of one session.
    let interrupted = of("interrupted");
    assert_eq!(interrupted["result"]["subtype"], "error_during_execution", "{interrupted:#}");
    assert_eq!(interrupted["text"], "I am at it.", "{interrupted:#}");
    let next = of("model");
    assert_eq!((&next["models"], &next["session"]), (&json!(["other"]), &of("first")["session"]), "{next:#}");
    assert_eq!((&next["text"], &next["result"]["is_error"]), (&json!("Answer 4."), &json!(false)), "{next:#}");
    let refused = of("refused");
    assert_eq!((&refused["asked"], &refused["calls"][0]["failed"]), (&json!([]), &json!(true)), "{refused:#}");
    assert_eq!(runner.calls(), 2, "{said:#?}");
}

#[test]
#[ignore = "needs node, tests/runners/node_modules and tests/clients/node_modules: ./test.sh runs it"]
fn claude_compat_drives_the_real_claude_code_in_node() {
    drive_the_real_claude_code(Sdk::Node);
}

#[test]
#[ignore = "needs python3, tests/runners/node_modules and tests/clients/python_modules: ./test.sh runs it"]
fn claude_compat_drives_the_real_claude_code_in_python() {
    drive_the_real_claude_code(Sdk::Python);
}

#[test]
#[ignore = "needs node, tests/runners/node_modules and tests/clients/node_modules: ./test.sh runs it"]
fn claude_compat_drives_the_real_codex() {
    let shell = |command: &str| {
        Say::Tool(
            "exec_command",
            json!({"cmd": command, "sandbox_permissions": "require_escalated", "justification": "May this be done?"}),
        )
    };
    let model = Model::with_script(vec![
        vec![Say::Text("The first answer.")],
        vec![shell("touch yes.txt")],
        vec![Say::Text("It is written.")],
        vec![shell("touch no.txt")],
        vec![Say::Text("It is not written.")],
        // In one process.
        vec![Say::Text("The second answer.")],
        vec![shell("touch again.txt")],
        vec![Say::Text("It is written again.")],
        vec![Say::Endless("word ")],
        vec![Say::Text("The third answer.")],
        vec![shell("touch never.txt")],
        vec![Say::Text("It is never written.")],
    ]);
    let started = real("codex-app-server", "codex", &model, "");
    let path = |name: &str| started.folder.path(name).display().to_string();
    let program = wrapper(&started.folder, &format!("--config {} real", path("config.toml")));
    let only = ["text", "allowed", "denied", "end"];
    let said = drive_a_runner_that_asks(&program, &path("work"), &path("state"), &only);
    let exists = |name: &str| started.folder.path("work").join(name).exists();
    assert!(exists("yes.txt") && exists("again.txt") && !exists("no.txt") && !exists("never.txt"), "{said:#?}");
    assert_eq!(
        (&said["first"]["text"], &said["model"]["text"]),
        (&json!("The second answer."), &json!("The third answer."))
    );
    assert_eq!(said["interrupted"]["result"]["subtype"], "error_during_execution", "{said:#?}");
    assert_eq!((&said["model"]["models"], &said["model"]["session"]), (&json!(["other"]), &said["first"]["session"]));
    let last = model.requests().pop().unwrap().to_string();
    assert!(last.contains("The second answer.") && last.contains("The third answer."), "{last}");
}

#[test]
#[ignore = "needs node, tests/runners/node_modules and tests/clients/node_modules: ./test.sh runs it"]
fn claude_compat_drives_a_real_opencode_server() {
    let shell = |command: &str| Say::Tool("bash", json!({"command": command, "description": "writes a file"}));
    let model = Model::with_script(vec![
        vec![Say::Text("The first answer.")],
        vec![shell("touch yes.txt")],
        vec![Say::Text("It is written.")],
        vec![shell("touch no.txt")],
        vec![Say::Text("It is not written.")],
    ]);
    let server = Server::start(&model);
    let started = server.followed();
    let path = |name: &str| started.folder.path(name).display().to_string();
    let program = wrapper(&started.folder, &format!("--url http://{} --no-cwd code", started.proxy.address));
    let only = ["text", "allowed", "denied"];
    drive_a_runner_that_asks(&program, &path(""), &path("state"), &only);
    assert!(server.folder.path("work/yes.txt").exists() && !server.folder.path("work/no.txt").exists());
}

#[test]
#[ignore = "needs node, tests/runners/node_modules and tests/clients/node_modules: ./test.sh runs it"]
fn claude_compat_resumes_the_real_opencode() {
    let model = Model::with_script(vec![vec![Say::Text("The first answer.")], vec![Say::Text("The second answer.")]]);
    let started = real("opencode-run", "opencode", &model, "");
    let path = |name: &str| started.folder.path(name).display().to_string();
    let program = wrapper(&started.folder, &format!("--config {} real", path("config.toml")));
    let call = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(["-p", "--output-format", "json"]).args(arguments).current_dir(path("work"));
        command.env("XDG_STATE_HOME", path("state")).env("FRAMEGATE__LOG__KIND", "memory").stdin(Stdio::null());
        let output = command.output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        serde_json::from_slice::<Value>(&output.stdout).unwrap_or_else(|_| panic!("{error}"))
    };
    let first = call(&["The first question."]);
    assert_eq!(first["result"], "The first answer.", "{first:#}");
    // The runner's name of the session is not the id that the client knows.
    let second = call(&["The second question.", "--resume", first["session_id"].as_str().unwrap()]);
    assert_eq!(
        (&second["result"], &second["session_id"]),
        (&json!("The second answer."), &first["session_id"]),
        "{second:#}"
    );
    let last = model.requests().pop().unwrap().to_string();
    assert!(last.contains("The first question.") && last.contains("The first answer."), "{last}");
}
