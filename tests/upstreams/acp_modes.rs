//! `framegate acp`: the modes that a client chooses, and the terminals that it shows.

use crate::acp_agent::Client;
use crate::chat_completions::agent_with;
use crate::proxy::Folder;
use crate::started::framegate;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

/// The ids of the modes of a session.
fn modes(answer: &Value) -> Vec<&str> {
    let modes = answer["result"]["modes"]["availableModes"].as_array().unwrap_or_else(|| panic!("{answer}"));
    modes.iter().map(|mode| mode["id"].as_str().unwrap()).collect()
}

#[test]
fn the_client_chooses_the_mode_of_the_next_prompts() {
    let folder = Folder::new();
    let mut client = Client::alone(&folder, &[]);
    let answer = client.ask("session/new", json!({"cwd": folder.path(""), "mcpServers": []}));
    // The modes in which the runner acts without questions are only offered if the user names them.
    assert_eq!(modes(&answer), ["as-configured", "default", "plan", "dontAsk", "acceptEdits"]);
    let session = answer["result"]["sessionId"].as_str().unwrap().to_owned();
    client.turn(&session, "hello");
    let set =
        |client: &mut Client, mode: &str| client.ask("session/set_mode", json!({"sessionId": session, "modeId": mode}));
    let refused = set(&mut client, "bypassPermissions");
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(set(&mut client, "plan")["result"], json!({}));
    client.turn(&session, "hello");
    let option = json!({"sessionId": session, "configId": "mode", "value": "acceptEdits"});
    let options = client.ask("session/set_config_option", option)["result"]["configOptions"].clone();
    // The model that the runner reported is an option too.
    let option = |at: usize| (options[at]["id"].as_str().unwrap(), options[at]["currentValue"].as_str().unwrap());
    assert_eq!([option(0), option(1)], [("model", "m"), ("mode", "acceptEdits")]);
    client.turn(&session, "hello");
    assert_eq!(folder.read("modes").lines().collect::<Vec<_>>(), ["none", "plan", "acceptEdits"]);
    let load = json!({"sessionId": session, "cwd": folder.path(""), "mcpServers": []});
    assert_eq!(client.ask("session/load", load)["result"]["modes"]["currentModeId"], "acceptEdits");
    client.leave();

    let mut client = Client::alone(&folder, &["--mode", "bypassPermissions", "--mode", "plan"]);
    let answer = client.ask("session/new", json!({"cwd": folder.path(""), "mcpServers": []}));
    assert_eq!(modes(&answer), ["bypassPermissions", "plan"]);
    let session = answer["result"]["sessionId"].as_str().unwrap().to_owned();
    client.turn(&session, "hello");
    assert_eq!(folder.read("modes").lines().last(), Some("bypassPermissions"));
    client.leave();

    let output = Client::command(&folder, &["--mode", "pln"]).stdin(Stdio::null()).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success()
            && error.contains("--mode: unknown mode of the runner claude-code \"pln\", did you mean \"plan\"?"),
        "{error}"
    );
}

#[test]
fn the_modes_of_a_running_proxy_are_those_of_its_settings() {
    let started = agent_with("modes = [\"plan\"]\nmode = \"default\"", &[]);
    let mut client = Client::before(&started, &[]);
    let answer = client.ask("session/new", json!({"cwd": started.folder.path(""), "mcpServers": []}));
    assert_eq!(modes(&answer), ["default", "plan"]);
    assert_eq!(answer["result"]["modes"]["currentModeId"], "default");
    client.leave();
    let mut command = framegate();
    command.args(["acp", "fake", "--mode", "acceptEdits", "--url", &format!("http://{}", started.proxy.address)]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}});
    let mut input = child.stdin.take().unwrap();
    writeln!(input, "{initialize}").unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("does not offer the mode \\\"acceptEdits\\\"; it offers: default, plan"), "{line}");
    drop(input);
    child.wait().unwrap();
}

/// The updates about the only call, in order.
fn call_updates(client: &Client) -> Vec<&Value> {
    let updates = client.seen.iter().map(|message| &message["params"]["update"]);
    updates.filter(|update| !update["toolCallId"].is_null()).collect()
}

#[test]
fn a_client_with_terminals_gets_the_output_of_commands_as_terminals() {
    let folder = Folder::new();
    let mut client = Client::with_terminals(Client::command(&folder, &[]), true);
    let session = client.session_in(&folder.path(""));
    let id = client.prompt(&session, "carefully");
    let question = client.question();
    client.choose(&question, "allow_once");
    client.answer(id);
    let updates = call_updates(&client);
    let call = &updates[0]["toolCallId"];
    assert_eq!((&updates[0]["sessionUpdate"], &updates[0]["kind"]), (&json!("tool_call"), &json!("execute")));
    assert_eq!(updates[0]["content"], json!([{"type": "terminal", "terminalId": call}]));
    assert_eq!(updates[0]["_meta"]["terminal_info"]["terminal_id"], *call);
    let end = updates.last().unwrap();
    assert_eq!(end["status"], "completed");
    assert_eq!(end["_meta"]["terminal_output"], json!({"terminal_id": call, "data": "done"}));
    assert_eq!(end["_meta"]["terminal_exit"], json!({"terminal_id": call, "exit_code": 0, "signal": null}));
    assert!(updates[1..].iter().all(|update| update.get("content").is_none()), "{updates:#?}");
    client.leave();

    // With partial messages, the arguments of a call are streamed, and a question comes before its result.
    let mut command = framegate();
    command.args(["acp", "demo"]);
    let mut client = Client::with_terminals(command, true);
    let session = client.session_in(&folder.path(""));
    let id = client.prompt(&session, "run it");
    let question = client.question();
    client.choose(&question, "allow_once");
    client.answer(id);
    let command = question["params"]["toolCall"]["toolCallId"].clone();
    let updates: Vec<&Value> =
        call_updates(&client).into_iter().filter(|update| update["toolCallId"] == command).collect();
    assert_eq!(updates[0]["sessionUpdate"], "tool_call", "{updates:#?}");
    assert_eq!(updates[0]["content"], json!([{"type": "terminal", "terminalId": command}]));
    let end = updates.last().unwrap();
    assert!(end["_meta"]["terminal_output"]["data"].as_str().unwrap().contains("pretended to run"), "{end}");
    let before = client.seen.iter().position(|message| message["params"]["update"] == *updates[0]).unwrap();
    let asked = client.seen.iter().position(|message| *message == question).unwrap();
    assert!(before < asked, "a call is announced before its question");
    client.leave();
}
