//! `framegate claude-compat`: an upstream behind the flags and the control protocol of `claude`.

use crate::approvals::claude_table;
use crate::chat_completions::agent;
use crate::client::post;
use crate::proxy::Folder;
use crate::started::{PATIENCE, Started, filled, framegate, table};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

/// Where the command finds its upstream, and where it works.
struct Place {
    folder: Folder,
    options: Vec<String>,
}

impl Place {
    /// With a proxy of its own, whose upstream `fake` is the conversing fake.
    fn alone() -> Self {
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/upstreams/fake/agent.sh");
        Self::configured(&format!(
            "[[upstream]]\nname = \"fake\"\nkind = \"command\"\npreset = \"claude-code\"\nprogram = \"{program}\"\n"
        ))
    }

    /// With a proxy of its own and this configuration.
    fn configured(text: &str) -> Self {
        let folder = Folder::new();
        let config = folder.write("config.toml", &filled(text, &folder));
        Self { folder, options: vec!["--config".to_owned(), config] }
    }

    fn command(&self, upstream: &str, arguments: &[&str]) -> Command {
        command_in(&self.folder, &self.options, upstream, arguments)
    }

    /// Runs the command to its end, with this standard input.
    fn run_with(&self, arguments: &[&str], input: &str) -> Ran {
        ran(self.command("fake", arguments), input)
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, "")
    }
}

fn command_in(folder: &Folder, options: &[String], upstream: &str, arguments: &[&str]) -> Command {
    let mut command = framegate();
    command.arg("claude-compat").args(options).args(Some(upstream).filter(|name| !name.is_empty())).args(arguments);
    command.current_dir(folder.path("")).env("XDG_STATE_HOME", folder.path("state"));
    command.env_remove("CLAUDE_CODE_SDK_READS_SESSION_STATE").env_remove("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS");
    command
}

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Ran {
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}\n{}", self.out, self.err))
    }
}

fn ran(mut command: Command, input: &str) -> Ran {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The command may have ended without reading.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap().into()
}

/// A client of the control protocol.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    seen: Vec<Value>,
    last: u64,
}

/// The flags of a client that answers questions.
const STREAMING: [&str; 6] =
    ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json", "--permission-prompt-tool=stdio"];

impl Client {
    fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let line = line.unwrap();
                let message = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self { child, input, lines, seen: Vec::new(), last: 0 }
    }

    fn write(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn prompt(&mut self, text: &str) {
        self.write(&json!({
            "type": "user",
            "session_id": "",
            "message": {"role": "user", "content": text},
            "parent_tool_use_id": null,
            "uuid": format!("uuid of {text}"),
        }));
    }

    fn next(&mut self) -> Value {
        let message =
            self.lines.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("the command says nothing: {error}"));
        self.seen.push(message.clone());
        message
    }

    fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next();
            if fits(&message) {
                return message;
            }
        }
    }

    fn result(&mut self) -> Value {
        self.until(|message| message["type"] == "result")
    }

    /// Sends a request, and returns the response.
    fn ask(&mut self, request: &Value) -> Value {
        self.last += 1;
        let id = format!("request {}", self.last);
        self.write(&json!({"type": "control_request", "request_id": id, "request": request}));
        let is_answer =
            |message: &Value| message["type"] == "control_response" && message["response"]["request_id"] == id;
        self.until(is_answer)["response"].clone()
    }

    fn question(&mut self) -> Value {
        self.until(|message| message["request"]["subtype"] == "can_use_tool")
    }

    fn answer(&mut self, question: &Value, response: &Value) {
        let response = json!({"subtype": "success", "request_id": question["request_id"], "response": response});
        self.write(&json!({"type": "control_response", "response": response}));
    }

    /// A whole turn.
    fn turn(&mut self, text: &str) -> Value {
        self.seen.clear();
        self.prompt(text);
        self.result()
    }

    /// Whether the only call that was seen failed.
    fn has_failed_call(&self) -> bool {
        let blocks = self.seen.iter().filter_map(|message| message["message"]["content"].as_array()).flatten();
        let results: Vec<&Value> = blocks.filter(|block| block["type"] == "tool_result").collect();
        assert_eq!(results.len(), 1, "{:#?}", self.seen);
        results[0]["is_error"] == true
    }

    /// Closes standard input, and returns the exit code and standard error.
    fn leave(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        (self.child.wait().unwrap().code(), text)
    }
}

#[test]
fn a_call_prints_the_answer_in_the_form_that_it_asks_for() {
    let place = Place::alone();
    let text = place.run(&["-p", "hello"]);
    assert_eq!((text.code, text.out.as_str()), (Some(0), "Answer 1.\n"), "{}", text.err);
    assert_eq!(text.err, "");
    let result = place.run(&["hello", "--print", "--output-format=json"]).json();
    assert_eq!(
        (&result["type"], &result["result"], &result["is_error"]),
        (&json!("result"), &json!("Answer 1."), &json!(false))
    );
    let all = place.run(&["-p", "secretly", "--output-format", "json", "--verbose"]).json();
    let kinds: Vec<&str> = all.as_array().unwrap().iter().map(|message| message["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["system", "assistant", "assistant", "result"]);
    let stream = place.run(&["-p", "secretly", "--output-format", "stream-json", "--include-partial-messages"]);
    let messages: Vec<Value> = stream.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(messages.iter().any(|message| message["event"]["delta"]["text"] == "Answer 1."), "{}", stream.out);
    let cwd = place.folder.path("").canonicalize().unwrap();
    assert_eq!((&messages[0]["subtype"], messages[0]["cwd"].as_str()), (&json!("init"), cwd.to_str()));
    let sessions: Vec<&Value> = messages.iter().map(|message| &message["session_id"]).collect();
    assert!(sessions.iter().all(|session| *session == sessions[0]), "{}", stream.out);
    // The prompt may be piped, alone or with that of the command line before it.
    assert_eq!(place.run_with(&["-p"], "hello").out, "Answer 1.\n");
    assert_eq!(place.run_with(&["-p", "first words"], "last words\n").code, Some(0));
    let prompts = place.folder.read("prompts");
    assert!(prompts.contains(r"first words\nlast words"), "{prompts}");
    let version = place.run(&["--version"]);
    assert_eq!((version.code, version.out.as_str()), (Some(0), "2.1.330 (Claude Code)\n"));
}

#[test]
fn a_failed_run_is_exit_code_1() {
    let place = Place::alone();
    let text = place.run(&["-p", "badly"]);
    assert_eq!(text.code, Some(1), "{}", text.err);
    assert!(text.out.contains("it broke"), "{}", text.out);
    let result = place.run(&["-p", "badly", "--output-format", "json"]);
    assert_eq!((result.code, &result.json()["is_error"]), (Some(1), &json!(true)));
    // A runner that exits before it begins a run.
    let place = Place::configured(&table("nothing", ""));
    let result = place.run(&["-p", "hello", "--output-format", "json"]);
    let failure = result.json();
    assert_eq!((result.code, &failure["subtype"]), (Some(1), &json!("error_during_execution")), "{failure:#}");
    assert!(failure["errors"][0].as_str().unwrap().contains("exited with status 4"), "{failure:#}");
}

#[test]
fn sessions_continue_in_later_processes() {
    let place = Place::alone();
    let first = place.run(&["-p", "hello", "--output-format", "json"]).json();
    let session = first["session_id"].as_str().unwrap();
    let second = place.run(&["-p", "hello", "--output-format", "json", "--resume", session]).json();
    assert_eq!((&second["result"], &second["session_id"]), (&json!("Answer 2."), &first["session_id"]));
    assert_eq!(place.run(&["-c", "-p", "hello"]).out, "Answer 3.\n");
    // An id of the client.
    let own = "018f0000-0000-7000-8000-00000000000a";
    let named = place.run(&["-p", "hello", "--output-format", "json", "--verbose", "--session-id", own]).json();
    assert!(named.as_array().unwrap().iter().all(|message| message["session_id"] == own), "{named:#}");
    let again = place.run(&["-p", "hello", "--output-format", "json", &format!("--resume={own}")]).json();
    assert_eq!((&again["result"], &again["session_id"]), (&json!("Answer 2."), &json!(own)));
    let taken = place.run(&["-p", "hello", "--session-id", own]);
    assert_eq!(taken.code, Some(1));
    assert!(taken.err.contains("already in use"), "{}", taken.err);
    // Another directory has no last session; an unremembered one is not the last.
    let quiet = place.run(&["-p", "hello", "--no-session-persistence"]);
    assert!(quiet.code == Some(0) && quiet.err.contains("the upstream stores its sessions"), "{}", quiet.err);
    assert_eq!(place.run(&["-c", "-p", "hello"]).out, "Answer 3.\n");
    let elsewhere = Place::alone();
    let none = elsewhere.run(&["-c", "-p", "hello"]);
    assert_eq!((none.code, none.out.as_str()), (Some(1), ""));
    assert!(none.err.contains("No conversation found to continue"), "{}", none.err);
}

#[test]
fn what_cannot_be_done_is_refused_before_anything_starts() {
    let place = Place::alone();
    for (arguments, expected) in [
        (&["-p", "hello", "--disallowedTools", "Bash"][..], "--disallowedTools is not supported"),
        (&["-p", "hello", "--permission-mode", "plan"], "plan is not supported"),
        (&["-p", "hello", "--modle", "x"], "Did you mean --model?"),
        (&["-p", "hello", "--system-prompt-file", "/no/such/file"], "/no/such/file"),
        (&["-p"], "Input must be provided"),
        (&["-p", "", "--output-format", "xml"], "Allowed choices are text, json, stream-json"),
    ] {
        let ran = place.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{arguments:?}");
        assert!(ran.err.contains(expected), "{arguments:?}: {}", ran.err);
    }
    assert!(!place.folder.path("prompts").exists());
    let unknown = ran(place.command("fame", &["-p", "hello"]), "");
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.err.contains("did you mean \"fake\"?"), "{}", unknown.err);
    let none = ran(place.command("", &["-p", "hello"]), "");
    assert!(none.code == Some(1) && none.err.contains("FRAMEGATE_UPSTREAM"), "{}", none.err);
    let mut command = place.command("", &["hello", "-p"]);
    command.env("FRAMEGATE_UPSTREAM", "fake");
    assert_eq!(ran(command, "").out, "Answer 1.\n");
    // Where nothing is lost, standard error says what has no effect.
    let ignored =
        place.run(&["-p", "hello", "--effort", "high", "--permission-mode", "acceptEdits", "--setting-sources="]);
    assert_eq!((ignored.code, ignored.err.lines().count()), (Some(0), 2), "{}", ignored.err);
}

#[test]
fn flags_decide_questions_without_a_user() {
    for (arguments, is_allowed) in [
        (&["-p", "carefully"][..], false),
        (&["-p", "carefully", "--permission-mode", "dontAsk"], false),
        (&["-p", "carefully", "--allowedTools", "Read,Write"], false),
        (&["-p", "carefully", "--allowedTools", "Bash(git *)"], false),
        (&["-p", "carefully", "--allowedTools", "Bash", "Read"], true),
        (&["-p", "carefully", "--dangerously-skip-permissions"], true),
        (&["-p", "carefully", "--permission-mode", "bypassPermissions"], true),
    ] {
        let place = Place::alone();
        let ran = place.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "Answer 1.\n"), "{arguments:?}: {}", ran.err);
        let answers = place.folder.read("answers");
        assert_eq!(answers.contains("\"allow\""), is_allowed, "{arguments:?}: {answers}");
        assert_eq!(answers.lines().count(), 1);
    }
    let place = Place::alone();
    let result = place.run(&["-p", "carefully", "--output-format", "json"]).json();
    assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");
}

#[test]
fn instructions_and_the_model_reach_the_runner() {
    let place = Place::alone();
    place.folder.write("more", "And kind.");
    let flags = ["--system-prompt", "Be brief.", "--append-system-prompt-file", "more", "--model", "large"];
    let all = place.run(&[&["-p", "hello", "--output-format", "json", "--verbose"], &flags[..]].concat()).json();
    assert_eq!(all[0]["model"], "large");
    let again = all[0]["session_id"].as_str().unwrap();
    place.run(&[&["-p", "more", "--resume", again], &flags[..]].concat());
    let prompts = place.folder.read("prompts");
    let lines: Vec<&str> = prompts.lines().collect();
    assert!(lines[0].contains(r"Be brief.\n\nAnd kind.\n\nhello") && !lines[1].contains("brief"), "{prompts}");
}

#[test]
fn a_run_with_too_many_turns_ends() {
    let place = Place::alone();
    let one = place.run(&["-p", "hello", "--max-turns", "1", "--output-format", "json"]).json();
    assert_eq!((&one["subtype"], &one["result"]), (&json!("success"), &json!("Answer 1.")));
    let ran =
        place.run(&["-p", "carefully twice", "--max-turns", "1", "--output-format", "json", "--allowedTools", "Bash"]);
    let result = ran.json();
    assert_eq!((ran.code, &result["subtype"]), (Some(1), &json!("error_max_turns")), "{result:#}");
    assert_eq!(result["errors"], json!(["Reached maximum number of turns (1)"]));
}

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

    // An interruption; another prompt waits behind the run.
    client.seen.clear();
    client.prompt("slowly");
    client.until(|message| message["message"]["content"][0]["text"] == "I am at it.");
    client.prompt("hello");
    let receipt = client.ask(&json!({"subtype": "interrupt"}));
    assert_eq!(receipt["response"]["still_queued"], json!(["uuid of hello"]), "{receipt}");
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

fn before(started: &Started, arguments: &[&str]) -> Command {
    let url = format!("http://{}", started.proxy.address);
    command_in(&started.folder, &["--url".to_owned(), url], "fake", arguments)
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
    assert_eq!((&repeated[0]["uuid"], &repeated[0]["message"]["content"]), (&json!("uuid of hello"), &json!("hello")));
    let idle = client.until(|message| message["state"] == "idle");
    assert_eq!(idle["sdk_host_only"], true);
    assert_eq!(client.seen[0]["state"], "running");
    client.leave();
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

/// The processes that work in a folder.
fn processes_in(folder: &Path) -> usize {
    let folder = folder.canonicalize().unwrap();
    let cwd = |entry: std::fs::DirEntry| std::fs::read_link(entry.path().join("cwd")).ok();
    std::fs::read_dir("/proc").unwrap().flatten().filter_map(cwd).filter(|cwd| cwd.starts_with(&folder)).count()
}

fn wait_for_no_process(folder: &Folder) {
    let begin = Instant::now();
    while processes_in(&folder.path("")) > 0 {
        assert!(begin.elapsed() < PATIENCE, "a runner is left");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn a_signal_interrupts_the_run() {
    for (name, code) in [("-INT", 130), ("-TERM", 143)] {
        let place = Place::configured(&claude_table("long", ""));
        let mut client = Client::start(place.command("fake", &STREAMING));
        client.prompt("go");
        client.until(|message| message["type"] == "assistant");
        signal(&client.child, name);
        assert_eq!(client.result()["subtype"], "error_during_execution");
        assert_eq!(client.child.wait().unwrap().code(), Some(code));
        wait_for_no_process(&place.folder);
    }
}

#[test]
fn a_run_ends_if_the_client_closes_the_output() {
    let place = Place::configured(&claude_table("long", ""));
    let mut command = place.command("fake", &["-p", "go", "--output-format", "stream-json"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
    wait_for_no_process(&place.folder);
}

#[test]
fn a_command_that_is_killed_leaves_no_runner() {
    let place = Place::configured(&claude_table("long", ""));
    let mut client = Client::start(place.command("fake", &STREAMING));
    client.prompt("go");
    client.until(|message| message["type"] == "assistant");
    client.child.kill().unwrap();
    client.child.wait().unwrap();
    wait_for_no_process(&place.folder);
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
