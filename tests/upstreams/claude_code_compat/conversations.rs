//! Conversations over the control protocol.

use super::{Client, Place, Ran, STREAMING, before};
use crate::approvals::claude_table;
use crate::chat_completions::agent;
use crate::client::post;
use crate::proxy::Folder;
use crate::started::{PATIENCE, framegate};
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;
use std::time::Instant;

/// Prompts, questions, control requests, a failure, an interruption.
fn hold_a_conversation(mut client: Client, folder: &Folder) {
    let initialized = client.ask(&json!({"subtype": "initialize", "hooks": null, "systemPrompt": [""]}));
    assert_eq!((&initialized["subtype"], &initialized["response"]["commands"]), (&json!("success"), &json!([])));
    let first = client.turn("hello");
    assert_eq!((&first["result"], &first["usage"]["output_tokens"]), (&json!("Answer 1."), &json!(2)));

    let command = json!({"command": "touch file"});
    let other = json!({"command": "rm file"});
    for (response, is_allowed) in [
        (json!({"behavior": "allow", "updatedInput": command}), true),
        (json!({"behavior": "deny", "message": "not that one"}), false),
        (json!({"behavior": "allow", "updatedInput": other}), false),
        (json!({"behavior": "perhaps"}), false),
    ] {
        client.seen.clear();
        client.prompt("carefully");
        let question = client.question();
        assert_eq!((&question["request"]["tool_name"], &question["request"]["input"]), (&json!("Bash"), &command));
        client.answer(&question, &response);
        let end = client.result();
        assert_eq!((&end["subtype"], &end["session_id"]), (&json!("success"), &first["session_id"]));
        assert_eq!(client.has_failed_call(), !is_allowed, "{response}");
        let withdrawn = client.seen.iter().filter(|message| message["type"] == "control_cancel_request").count();
        assert_eq!(withdrawn, 0, "the client answered itself");
    }
    let answers = folder.read("answers");
    let behaviors: Vec<bool> = answers.lines().map(|answer| answer.contains("\"allow\"")).collect();
    assert_eq!(behaviors, [true, false, false, false]);
    assert!(answers.contains("not that one") && answers.contains("arguments cannot be changed here"), "{answers}");

    let failed = client.turn("badly");
    assert_eq!(failed["is_error"], true, "{failed}");
    assert_eq!(client.ask(&json!({"subtype": "set_model", "model": "large"}))["subtype"], "success");
    client.turn("hello");
    assert!(client.seen.iter().any(|message| message["subtype"] == "init" && message["model"] == "large"));
    let refused = client.ask(&json!({"subtype": "mcp_status"}));
    assert!(refused["error"].as_str().unwrap().contains("mcp_status"), "{refused}");
    assert_eq!(client.ask(&json!({"subtype": "set_permission_mode", "mode": "bypassPermissions"}))["subtype"], "error");
    assert_eq!(client.ask(&json!({"subtype": "set_permission_mode", "mode": "dontAsk"}))["subtype"], "success");
    client.turn("carefully");
    assert!(client.has_failed_call());
    assert!(client.seen.iter().all(|message| message["type"] != "control_request"), "dontAsk asks nothing");

    // An image with a text and without one, a kind that no runner takes, and lines that are no messages.
    let send = |client: &mut Client, content: Value| {
        let message = json!({"role": "user", "content": content});
        client.write(&json!({"type": "user", "message": message, "parent_tool_use_id": null}));
        client.result()
    };
    let of = |media_type: &str| json!({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": "AAAA"}});
    let text = json!({"type": "text", "text": "look"});
    let seen = send(&mut client, json!([text, of("image/png")]));
    assert_eq!(seen["is_error"], false, "{seen}");
    for (content, expected) in [
        (json!([of("image/png")]), "needs a text"),
        (json!([text, of("image/tiff")]), "image/tiff"),
        (json!([text, {"type": "audio"}]), "audio"),
    ] {
        let refused = send(&mut client, content);
        assert!(refused["errors"][0].as_str().unwrap().contains(expected), "{refused}");
    }
    for line in ["nonsense", "", "[1]", &"[".repeat(10_000), r#"{"type":"dance"}"#] {
        writeln!(client.input.as_mut().unwrap(), "{line}").unwrap();
    }
    // What was meant as a prompt has a result.
    let message = json!({"role": "assistant", "content": "hello"});
    let long = format!("{{\"type\":\"user\",\"pad\":\"{}\"}}", "x".repeat(64 << 20));
    for (line, expected) in [(json!({"type": "user", "message": message}).to_string(), "role"), (long, "too long")] {
        writeln!(client.input.as_mut().unwrap(), "{line}").unwrap();
        let refused = client.result();
        assert!(refused["errors"][0].as_str().unwrap().contains(expected), "{refused}");
    }

    // An interruption; another prompt waits behind the run.
    client.seen.clear();
    client.prompt("slowly");
    client.until(|message| message["message"]["content"][0]["text"] == "I am at it.");
    let behind = client.prompt("hello");
    let receipt = client.ask(&json!({"subtype": "interrupt"}));
    assert_eq!(receipt["response"]["still_queued"], json!([behind]), "{receipt}");
    let interrupted = client.seen.iter().find(|message| message["type"] == "result").cloned();
    let interrupted = interrupted.unwrap_or_else(|| client.result());
    assert_eq!(interrupted["subtype"], "error_during_execution", "{interrupted}");
    // The prompt that waits is answered, although the input ends.
    drop(client.input.take());
    let last = client.result();
    assert_eq!((&last["subtype"], &last["session_id"]), (&json!("success"), &first["session_id"]), "{last}");
    let (code, error) = client.leave();
    assert_eq!(code, Some(0), "{error}");
    assert!(
        error.contains("no message") && error.contains("unknown type \"dance\"") && !error.contains("nonsense"),
        "{error}"
    );
}

#[test]
fn a_client_holds_a_conversation_with_a_proxy_of_its_own() {
    let place = Place::alone();
    hold_a_conversation(Client::start(place.command("fake", &STREAMING)), &place.folder);
}

#[test]
fn a_client_holds_a_conversation_in_front_of_a_proxy() {
    let started = agent(&[]);
    hold_a_conversation(Client::start(before(&started, &STREAMING)), &started.folder);
}

#[test]
fn other_clients_of_a_proxy_answer_too() {
    let started = agent(&[]);
    let newest_question = || {
        let begin = Instant::now();
        loop {
            let runs = crate::client::get(started.proxy.address, "/v1/runs", &[]).json();
            if let Some(approval) = runs["data"][0]["pending_approvals"][0].as_str() {
                return format!("/v1/runs/{}/approvals/{approval}", runs["data"][0]["run_id"].as_str().unwrap());
            }
            assert!(begin.elapsed() < PATIENCE, "no question: {runs:#}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    };
    let approve = || {
        let path = newest_question();
        assert_eq!(post(started.proxy.address, &path, &[], br#"{"decision":"approved"}"#).status, 200);
    };
    // The client is asked too: its question is withdrawn.
    let mut client = Client::start(before(&started, &STREAMING));
    client.prompt("carefully");
    let question = client.question();
    approve();
    client.result();
    let withdrawn = client.seen.iter().find(|message| message["type"] == "control_cancel_request").unwrap();
    assert_eq!(withdrawn["request_id"], question["request_id"]);
    client.answer(&question, &json!({"behavior": "deny", "message": "late"}));
    let (code, error) = client.leave();
    assert_eq!((code, error.as_str()), (Some(0), ""));
    // A call without a permission prompt leaves the question to them.
    let mut child = before(&started, &["-p", "carefully"]);
    let child = child.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    approve();
    let ran = Ran::from(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "Answer 1.\n"), "{}", ran.err);
    assert!(ran.err.contains("another client of the proxy has to answer"), "{}", ran.err);
    // Unless the flags say that there is no user.
    let ran = Ran::from(before(&started, &["-p", "carefully", "--permission-prompts", "none"]).output().unwrap());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(started.folder.read("answers").matches("\"allow\"").count(), 2);
    // A directory that the upstream does not allow, and the proxy's own one.
    let elsewhere = |arguments: &[&str]| {
        let url = format!("http://{}", started.proxy.address);
        let mut command = framegate();
        command.args(["claude-compat", "--url", &url]).args(arguments).current_dir("/");
        command.env("XDG_STATE_HOME", started.folder.path("state")).stdin(Stdio::null());
        Ran::from(command.output().unwrap())
    };
    let refused = elsewhere(&["fake", "-p", "hello"]);
    assert!(refused.code == Some(1) && refused.out.contains("directories"), "{} {}", refused.out, refused.err);
    assert_eq!(elsewhere(&["--no-cwd", "fake", "-p", "hello"]).out, "Answer 1.\n");
    let unknown = elsewhere(&["fame", "-p", "hello"]);
    assert!(unknown.code == Some(1) && unknown.err.contains("it has: fake"), "{}", unknown.err);
}

#[test]
fn choices_of_the_user_reach_the_runner() {
    let place = Place::configured(&claude_table("question", ""));
    let mut client = Client::start(place.command("fake", &STREAMING));
    client.prompt("go");
    let question = client.question();
    let mut updated = question["request"]["input"].clone();
    assert_eq!(updated["questions"][0]["question"], "Which?");
    updated["answers"] = json!({"Which?": "Blue"});
    client.answer(&question, &json!({"behavior": "allow", "updatedInput": updated}));
    assert_eq!(client.result()["is_error"], false);
    let answers = place.folder.read("answers");
    assert!(answers.contains(r#""answers":{"Which?":"Blue"}"#), "{answers}");
    client.leave();
    // An approval without a choice is no answer.
    let place = Place::configured(&claude_table("question", ""));
    let mut client = Client::start(place.command("fake", &STREAMING));
    client.prompt("go");
    let question = client.question();
    client.answer(&question, &json!({"behavior": "allow"}));
    client.result();
    assert!(place.folder.read("answers").contains("\"deny\""));
    let (_, error) = client.leave();
    assert!(error.contains("the call is denied"), "{error}");
    // A client that closes its input can answer no more.
    let place = Place::configured(&claude_table("question", ""));
    let mut client = Client::start(place.command("fake", &STREAMING));
    client.prompt("go");
    client.question();
    let (code, error) = client.leave();
    assert_eq!(code, Some(0), "{error}");
    assert!(place.folder.read("answers").contains("the client has closed its input"));
}

#[test]
fn prompts_are_repeated_and_the_state_is_told_if_asked_for() {
    let place = Place::alone();
    let mut command = place.command("fake", &STREAMING);
    command.arg("--replay-user-messages").env("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1");
    let mut client = Client::start(command);
    client.turn("hello");
    let repeated: Vec<&Value> = client.seen.iter().filter(|message| message["isReplay"] == true).collect();
    assert_eq!(repeated.len(), 1);
    let repeated = repeated[0].clone();
    assert_eq!((&repeated["uuid"], &repeated["message"]["content"]), (&json!("prompt 1"), &json!("hello")));
    let idle = client.until(|message| message["state"] == "idle");
    assert_eq!(idle["sdk_host_only"], true);
    assert_eq!(client.seen[0]["state"], "running");
    // A prompt that is sent again is repeated again, but runs once.
    client.prompt_again("hello", "prompt 1");
    let again = client.until(|message| message["isReplay"] == true);
    assert_eq!((&again["uuid"], &again["message"]), (&repeated["uuid"], &repeated["message"]));
    assert_eq!(client.turn("hello")["result"], "Answer 2.");
    client.leave();
    assert_eq!(place.folder.read("prompts").lines().count(), 2);
}

#[test]
fn a_client_that_does_not_read_is_still_heard() {
    let place = Place::alone();
    let mut client = Client::start(place.command("fake", &STREAMING));
    // Far more answers than a pipe holds: the client reads none of them before it has written everything.
    let unknown = json!({"subtype": "unknown", "pad": "x".repeat(500)});
    for _ in 0..5000 {
        client.write(&json!({"type": "control_request", "request_id": "n", "request": unknown}));
    }
    assert_eq!(client.turn("hello")["result"], "Answer 1.");
    client.leave();
}
