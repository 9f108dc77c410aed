//! Upstreams of kind `acp`: what an agent may have the proxy do, and agents that misbehave.

use crate::real::{answer, pending_approval};
use crate::started::Started;
use serde_json::{Value, json};

/// A proxy with a fake agent that behaves so. Its directory is `{folder}`.
fn agent(behaviour: &str, more: &str) -> Started {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/upstreams/fake/acp.sh");
    let table = format!(
        "[[upstream]]\nname = \"fake\"\nkind = \"acp\"\nprogram = \"{program}\"\narguments = [\"{behaviour}\"]\n\
         directories = [\"{{folder}}\"]\nexit_grace_ms = 500\nsignal_grace_ms = 500\n{more}\n"
    );
    let started = Started::with(&table, &[]);
    started.folder.write("a.txt", "one\ntwo\nthree\n");
    started
}

/// What the agent heard, as JSON.
fn heard(started: &Started) -> Vec<Value> {
    started.folder.read("heard").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The result or the code of the error with that id.
fn answer_to(heard: &[Value], id: u64) -> Value {
    let mut answers = heard.iter().filter(|line| line["id"] == json!(id) && line.get("method").is_none());
    let answer = answers.next().unwrap_or_else(|| panic!("{id} is not answered: {heard:#?}"));
    assert!(answers.next().is_none(), "{id} is answered twice");
    answer.get("result").or(answer["error"].get("code")).cloned().unwrap()
}

#[test]
fn an_agent_reads_and_writes_files_and_runs_commands() {
    let started = agent("services", "files = \"write\"\nterminals = true");
    let run = started.run();
    let status = started.wait_for_end(&run);
    assert_eq!((&status["state"], &status["final_text"]), (&json!("completed"), &json!("All is done.")), "{status}");
    let lines = heard(&started);
    let capabilities = &lines[0]["params"]["clientCapabilities"];
    assert_eq!(capabilities["fs"], json!({"readTextFile": true, "writeTextFile": true}));
    assert_eq!(capabilities["terminal"], true);
    assert_eq!(answer_to(&lines, 1), json!({"content": "two\n"}));
    assert_eq!(answer_to(&lines, 2), json!(-32602));
    assert_eq!(answer_to(&lines, 3), json!({}));
    assert_eq!(started.folder.read("new/b.txt"), "made");
    assert_eq!(answer_to(&lines, 5), json!({"exitCode": 4, "signal": null}));
    let output = answer_to(&lines, 6);
    let mut words: Vec<&str> = output["output"].as_str().unwrap().split_whitespace().collect();
    words.sort_unstable();
    assert_eq!(words, ["err", "out"]);
    assert_eq!((&output["truncated"], &output["exitStatus"]), (&json!(false), &json!({"exitCode": 4, "signal": null})));
    assert_eq!((answer_to(&lines, 7), answer_to(&lines, 8)), (json!({}), json!(-32002)));
    assert_eq!(answer_to(&lines, 10), json!(-32800));
    assert_eq!((answer_to(&lines, 11), answer_to(&lines, 12)), (json!(-32602), json!(-32601)));
    // The command that was never released ends with the agent.
    assert!(started.processes().iter().any(|words| words.contains("sleep 600")));
    started.leaves_nothing();
}

#[test]
fn nothing_is_offered_unless_it_is_configured() {
    for (more, read, create) in
        [("", json!(-32601), json!(-32601)), ("files = \"read\"", json!({"content": "two\n"}), json!(-32601))]
    {
        let started = agent("services", more);
        let run = started.run();
        assert_eq!(started.wait_for_end(&run)["state"], "completed");
        let lines = heard(&started);
        let capabilities = &lines[0]["params"]["clientCapabilities"];
        assert_eq!((&capabilities["fs"]["writeTextFile"], &capabilities["terminal"]), (&json!(false), &json!(false)));
        assert_eq!((answer_to(&lines, 1), answer_to(&lines, 3), answer_to(&lines, 4)), (read, json!(-32601), create));
        assert!(!started.folder.path("new").exists());
        started.leaves_nothing();
    }
}

#[test]
fn terminals_are_bounded_and_end_with_the_agent() {
    let started = agent("crowd", "terminals = true\nmax_terminals = 5");
    let run = started.run();
    let status = started.wait_for_end(&run);
    assert_eq!((&status["state"], &status["error_code"]), (&json!("failed"), &json!("runner_exited")), "{status}");
    let lines = heard(&started);
    let created = lines.iter().filter(|line| line["result"]["terminalId"].is_string()).count();
    let refused = lines.iter().filter(|line| line["error"]["code"].is_i64()).count();
    assert_eq!((created, refused), (5, 295));
    started.leaves_nothing();
}

#[test]
fn a_hostile_agent_gets_one_answer_to_each_request_and_one_run() {
    let started = agent("hostile", "files = \"read\"");
    let run = started.run();
    let question = pending_approval(&started, &run);
    assert_eq!(answer(&started, &run, &question, &json!({"decision": "approved"})), 422, "no option approves");
    assert_eq!(answer(&started, &run, &question, &json!({"decision": "rejected"})), 200);
    let status = started.wait_for(&run, "the run does not end", |status| status["ended_at_ms"].is_u64());
    assert_eq!((&status["state"], &status["final_text"]), (&json!("completed"), &json!("Still here.")), "{status}");
    let lines = heard(&started);
    assert_eq!((answer_to(&lines, 1), answer_to(&lines, 3)), (json!(-32602), json!(-32602)));
    let permission = answer_to(&lines, 2);
    assert_eq!(
        permission,
        json!({"outcome": {"outcome": "cancelled"}}),
        "a question without options has no other answer"
    );
    started.leaves_nothing();
}

#[test]
fn an_agent_is_not_silent_while_it_waits_for_an_answer() {
    let started = agent("hostile", "files = \"read\"\nidle_timeout_ms = 3000");
    let run = started.run();
    let question = pending_approval(&started, &run);
    // Longer than the agent may be silent.
    std::thread::sleep(std::time::Duration::from_millis(3500));
    assert_eq!(answer(&started, &run, &question, &json!({"decision": "rejected"})), 200);
    let status = started.wait_for_end(&run);
    assert_eq!((&status["state"], &status["final_text"]), (&json!("completed"), &json!("Still here.")), "{status}");
    started.leaves_nothing();
}

#[test]
fn a_silent_agent_ends_in_time() {
    let started = agent("silent", "idle_timeout_ms = 300\nstart_timeout_ms = 300");
    // It took the prompt, so the run has begun.
    let run = started.run();
    let status = started.wait_for_end(&run);
    assert_ne!(status["state"], "completed", "{status}");
    assert!(status["message"].as_str().is_some_and(|message| message.contains("idle_timeout_ms")), "{status}");
    started.leaves_nothing();
}

#[test]
fn a_configured_authentication_and_servers_are_used() {
    let servers = r#"{"mcpServers": {"files": {"command": "/bin/files"}, "far": {"url": "https://mcp.example/", "headers": {"k": "v"}}}}"#;
    let started = agent("", "authentication = \"login\"\nmcp_servers_file = \"{folder}/mcp.json\"");
    started.folder.write("mcp.json", servers);
    let run = started.run();
    assert_eq!(started.wait_for_end(&run)["final_text"], "Hello.");
    let lines = heard(&started);
    assert_eq!((&lines[1]["method"], &lines[1]["params"]), (&json!("authenticate"), &json!({"methodId": "login"})));
    let expected = json!([
        {"type": "http", "name": "far", "url": "https://mcp.example/", "headers": [{"name": "k", "value": "v"}]},
        {"name": "files", "command": "/bin/files", "args": [], "env": []},
    ]);
    assert_eq!(lines[2]["params"]["mcpServers"], expected);
    started.folder.write("mcp.json", r#"{"mcpServers": {"old": {"type": "sse", "url": "https://old.example/"}}}"#);
    let refused = started.start(&json!({"upstream": "fake", "prompt": "go"})).text();
    assert!(refused.contains("the agent cannot reach the MCP server"), "{refused}");
    started.folder.write("mcp.json", "{");
    let refused = started.start(&json!({"upstream": "fake", "prompt": "go"})).text();
    assert!(refused.contains("upstream.mcp_servers_file"), "{refused}");
    started.leaves_nothing();
    let started = agent("", "authentication = \"oauth\"");
    let refused = started.start(&json!({"upstream": "fake", "prompt": "go"})).text();
    assert!(refused.contains("does not offer the authentication") && refused.contains("key, login"), "{refused}");
    started.leaves_nothing();
}
