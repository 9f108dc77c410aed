//! The Claude Agent SDK drives other runners with `framegate claude-compat` in place of Claude Code.

use crate::chat_completions::agent;
use crate::model::{Model, Say};
use crate::proxy::Folder;
use crate::real::real;
use crate::started::Started;
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
        let questions: Vec<&Value> = turn["asked"].as_array().unwrap().iter().map(|question| &question["input"]).collect();
        assert_eq!(questions, if asked { vec![&input] } else { Vec::new() }, "{step}: {turn:#}");
        assert_eq!(turn["denials"], u64::from(failed), "{step}: {turn:#}");
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
