//! A real agent that speaks ACP, with the proxy as its client: OpenCode, at the pinned version, against a scripted model.

use crate::model::{Model, Say};
use crate::real::{answer, continue_session, interrupt_run, order, pending_approval, real, send_message};
use crate::started::Started;
use serde_json::{Value, json};

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn opencode_acp_continues_a_session() {
    continue_session("opencode-acp", "opencode");
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn opencode_acp_is_interrupted() {
    interrupt_run("opencode-acp", "opencode", true, "");
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn opencode_acp_takes_messages() {
    send_message("opencode-acp", "opencode");
}

/// OpenCode asks before each command, and the model wants to run one.
fn asking(command: &'static str) -> (Started, String) {
    let call = Say::Tool("bash", json!({"command": command, "description": "a file"}));
    let model = Model::with_script(vec![vec![Say::Text("First this."), call], vec![Say::Text("Well.")]]);
    let started = real("opencode-acp", "opencode", &model, "");
    let path = started.folder.path("home/.config/opencode/opencode.json");
    let mut settings: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    settings["permission"] = json!({"bash": "ask"});
    std::fs::write(path, settings.to_string()).unwrap();
    let run = started.run_of(&order("Do it."));
    (started, run)
}

fn count(events: &[Value], kind: &str) -> usize {
    events.iter().filter(|event| event["type"] == json!(kind)).count()
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn opencode_acp_runs_an_approved_command() {
    let (started, run) = asking("touch yes.txt");
    let approval = pending_approval(&started, &run);
    assert!(!started.folder.path("work/yes.txt").exists(), "it waits for the answer");
    assert_eq!(answer(&started, &run, &approval, &json!({"decision": "approved"})), 200);
    let status = started.wait_for_end(&run);
    assert_eq!((&status["state"], &status["final_text"]), (&json!("completed"), &json!("Well.")), "{status}");
    assert!(started.folder.path("work/yes.txt").exists());
    let frames = started.events(&run, "frames.v2");
    assert_eq!((count(&frames, "approval_requested"), count(&frames, "approval_resolved")), (1, 1), "{frames:#?}");
    assert_eq!(count(&frames, "tool_ended"), 1, "{frames:#?}");
    started.leaves_nothing();
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn opencode_acp_leaves_a_denied_command_out() {
    let (started, run) = asking("touch no.txt");
    let approval = pending_approval(&started, &run);
    assert_eq!(answer(&started, &run, &approval, &json!({"decision": "rejected"})), 200);
    let status = started.wait_for_end(&run);
    assert!(!started.folder.path("work/no.txt").exists(), "{status}");
    let frames = started.events(&run, "frames.v2");
    let resolved = frames.iter().find(|frame| frame["type"] == "approval_resolved").unwrap();
    assert_eq!(resolved["decision"], "rejected");
    assert_eq!(count(&frames, "tool_failed"), 1, "{frames:#?}");
    started.leaves_nothing();
}

#[test]
#[ignore = "needs node and tests/runners/node_modules: ./test.sh runs it"]
fn an_acp_agent_that_dies_in_a_turn_fails_its_run() {
    let model = Model::with_script(vec![vec![Say::Endless("word")]]);
    let started = real("opencode-acp", "opencode", &model, "");
    let run = started.run_of(&order("Talk."));
    started.wait_for(&run, "the model gets no request", |_| !model.requests().is_empty());
    let agent = started.oldest().unwrap();
    assert!(std::process::Command::new("kill").args(["-9", &agent.to_string()]).status().unwrap().success());
    let status = started.wait_for_end(&run);
    assert_ne!(status["state"], json!("completed"), "{status}");
    started.leaves_nothing();
}
