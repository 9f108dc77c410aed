//! `framegate acp`: an upstream as an agent of the Agent Client Protocol.

use crate::chat_completions::{agent, agent_with};
use crate::client::post;
use crate::proxy::Folder;
use crate::started::{PATIENCE, Started, framegate};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

/// A client of an agent that runs as a program.
pub struct Client {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    /// The updates and questions that were read while an answer was awaited.
    pub seen: Vec<Value>,
    last: u64,
}

impl Client {
    fn start(command: Command) -> Self {
        Self::with_terminals(command, false)
    }

    pub fn with_terminals(mut command: Command, terminals: bool) -> Self {
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
        let mut client = Self { child, input, lines, seen: Vec::new(), last: 0 };
        // The capability that editors with terminals have is set by tests of them.
        let capabilities = json!({"session": {"notices": {}}, "_meta": {"terminal_output": terminals}});
        let initialize = json!({"protocolVersion": 1, "clientCapabilities": capabilities});
        assert_eq!(client.ask("initialize", initialize)["result"]["protocolVersion"], 1);
        client
    }

    /// An agent with a proxy of its own, whose upstream `fake` is the conversing fake.
    pub fn alone(folder: &Folder, arguments: &[&str]) -> Self {
        Self::start(Self::command(folder, arguments))
    }

    pub fn command(folder: &Folder, arguments: &[&str]) -> Command {
        let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/upstreams/fake/agent.sh");
        let table = format!(
            "[[upstream]]\nname = \"fake\"\nkind = \"command\"\npreset = \"claude-code\"\nprogram = \"{program}\"\n"
        );
        let config = folder.write("config.toml", &table);
        let mut command = framegate();
        command.args(["acp", "fake", "--config", &config]).args(arguments);
        command
    }

    /// An agent in front of a proxy.
    pub fn before(started: &Started, arguments: &[&str]) -> Self {
        Self::of_upstream("fake", started, arguments)
    }

    /// The same, for another upstream.
    pub fn of_upstream(upstream: &str, started: &Started, arguments: &[&str]) -> Self {
        let mut command = framegate();
        command.args(["acp", upstream, "--url", &format!("http://{}", started.proxy.address)]).args(arguments);
        command.env("XDG_STATE_HOME", started.folder.path("state"));
        Self::start(command)
    }

    fn write(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    pub fn tell(&mut self, method: &str, params: Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn send(&mut self, method: &str, params: Value) -> u64 {
        self.last += 1;
        self.write(&json!({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}));
        self.last
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    fn next(&self) -> Value {
        self.lines.recv_timeout(PATIENCE).unwrap_or_else(|error| panic!("the agent says nothing: {error}"))
    }

    /// Reads up to the answer to a request.
    pub fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next();
            if message.get("method").is_none() && message["id"] == id {
                return message;
            }
            self.seen.push(message);
        }
    }

    /// Reads up to a message that fits.
    pub fn until(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.next();
            self.seen.push(message.clone());
            if fits(&message) {
                return message;
            }
        }
    }

    pub fn question(&mut self) -> Value {
        self.until(|message| message["method"] == "session/request_permission")
    }

    pub fn choose(&mut self, question: &Value, option: &str) {
        let outcome = json!({"outcome": {"outcome": "selected", "optionId": option}});
        self.write(&json!({"jsonrpc": "2.0", "id": question["id"], "result": outcome}));
    }

    pub fn session_in(&mut self, folder: &Path) -> String {
        let answer = self.ask("session/new", json!({"cwd": folder, "mcpServers": []}));
        answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
    }

    pub fn prompt(&mut self, session: &str, text: &str) -> u64 {
        self.send("session/prompt", json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]}))
    }

    pub fn turn(&mut self, session: &str, text: &str) -> Value {
        self.seen.clear();
        let id = self.prompt(session, text);
        self.answer(id)
    }

    /// The updates of one kind that were seen.
    pub fn updates(&self, kind: &str) -> Vec<&Value> {
        let updates = self.seen.iter().map(|message| &message["params"]["update"]);
        updates.filter(|update| update["sessionUpdate"] == kind).collect()
    }

    pub fn text(&self) -> String {
        let chunks = self.updates("agent_message_chunk").into_iter();
        chunks.map(|chunk| chunk["content"]["text"].as_str().unwrap()).collect()
    }

    /// The status of the only call that was seen, at its end.
    fn call(&self) -> Value {
        assert_eq!(self.updates("tool_call").len(), 1, "{:#?}", self.seen);
        self.updates("tool_call_update").last().unwrap()["status"].clone()
    }

    /// Closes standard input, and returns the exit code and standard error.
    pub fn leave(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        let mut text = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        (self.child.wait().unwrap().code(), text)
    }
}

/// Two prompts, questions that are allowed and denied, a failure and a cancelled turn.
fn hold_a_conversation(client: &mut Client, folder: &Folder) {
    let session = client.session_in(&folder.path(""));
    let end = client.turn(&session, "hello");
    assert_eq!(end["result"]["stopReason"], "end_turn", "{end}");
    assert_eq!(end["result"]["usage"]["outputTokens"], 2, "{end}");
    assert_eq!(client.text(), "Answer 1.");
    assert!(client.seen.iter().all(|message| message["params"]["sessionId"] == session.as_str()));
    assert_eq!(client.updates("session_info_update")[0]["title"], "hello");

    // The same session of the runner goes on.
    let id = client.prompt(&session, "carefully");
    client.seen.clear();
    let question = client.question();
    assert_eq!(question["params"]["toolCall"]["rawInput"], json!({"command": "touch file"}));
    client.choose(&question, "allow_once");
    assert_eq!(client.answer(id)["result"]["stopReason"], "end_turn");
    assert_eq!((client.text(), client.call()), ("Answer 2.".to_owned(), json!("completed")));
    assert!(client.seen.iter().all(|message| message["method"] != "$/cancel_request"));

    client.seen.clear();
    let id = client.prompt(&session, "carefully");
    let question = client.question();
    client.choose(&question, "reject_once");
    assert_eq!(client.answer(id)["result"]["stopReason"], "end_turn");
    assert_eq!(client.call(), "failed");
    // The fake offers no lasting permission for its calls, so this one is allowed once.
    let id = client.prompt(&session, "carefully");
    let question = client.question();
    client.choose(&question, "allow_always");
    assert_eq!(client.answer(id)["result"]["stopReason"], "end_turn");
    let answers = folder.read("answers");
    let answers: Vec<bool> = answers.lines().map(|answer| answer.contains("\"behavior\":\"allow\"")).collect();
    assert_eq!(answers, [true, false, true]);

    let end = client.turn(&session, "secretly");
    assert_eq!(end["result"]["stopReason"], "end_turn");
    assert_eq!(client.updates("agent_thought_chunk")[0]["content"]["text"], "I wonder.");

    let end = client.turn(&session, "badly");
    assert_eq!((&end["error"]["code"], &end["error"]["message"]), (&json!(-32603), &json!("it broke")), "{end}");

    client.seen.clear();
    let id = client.prompt(&session, "slowly");
    client.until(|message| message["params"]["update"]["content"]["text"] == "I am at it.");
    let second = client.prompt(&session, "meanwhile");
    assert_eq!(client.answer(second)["error"]["code"], -32600);
    client.tell("session/cancel", json!({"sessionId": session}));
    assert_eq!(client.answer(id)["result"]["stopReason"], "cancelled");
}

#[test]
fn an_agent_with_a_proxy_of_its_own_holds_a_conversation_in_the_clients_directory() {
    let folder = Folder::new();
    let mut client = Client::alone(&folder, &["--model", "small", "--model", "large"]);
    hold_a_conversation(&mut client, &folder);
    // The model that the client chooses is the runner's.
    let session = client.session_in(&folder.path(""));
    let option = json!({"sessionId": session, "configId": "model", "value": "large"});
    let options = client.ask("session/set_config_option", option)["result"]["configOptions"].clone();
    assert_eq!(options[0]["currentValue"], "large");
    client.turn(&session, "hello");
    let update = client.updates("config_option_update")[0]["configOptions"][0].clone();
    assert_eq!((&update["currentValue"], update["options"].as_array().unwrap().len()), (&json!("large"), 2));
    // Both sessions can be opened again with their history.
    let list = client.ask("session/list", json!({"cwd": folder.path("")}));
    let sessions = list["result"]["sessions"].as_array().unwrap().clone();
    assert_eq!((sessions.len(), &sessions[0]["sessionId"]), (2, &json!(session)));
    client.seen.clear();
    let load = json!({"sessionId": session, "cwd": folder.path(""), "mcpServers": []});
    assert!(client.ask("session/load", load).get("result").is_some());
    assert_eq!(client.updates("user_message_chunk")[0]["content"]["text"], "hello");
    assert_eq!(client.text(), "Answer 1.");
    let (code, error) = client.leave();
    assert_eq!(code, Some(0), "{error}");
    assert!(!error.contains("ERROR"), "{error}");
}

#[test]
fn a_runner_ends_with_its_client() {
    let folder = Folder::new();
    let mut client = Client::alone(&folder, &[]);
    let session = client.session_in(&folder.path(""));
    client.prompt(&session, "slowly");
    client.until(|message| message["params"]["update"]["content"]["text"] == "I am at it.");
    let pid = client.child.id();
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    let (code, error) = client.leave();
    assert_eq!(code, Some(0), "{error}");
    for child in children.split_whitespace() {
        assert!(!Path::new("/proc").join(child).exists(), "the runner {child} is still there");
    }
}

#[test]
fn an_agent_in_front_of_a_proxy_shares_its_runs_with_other_clients() {
    let started = agent(&[]);
    let mut client = Client::before(&started, &[]);
    hold_a_conversation(&mut client, &started.folder);
    // Another client answers a question of the editor's run: the editor's question is withdrawn.
    let session = client.session_in(&started.folder.path(""));
    client.seen.clear();
    let id = client.prompt(&session, "carefully");
    let question = client.question();
    let run = question["params"]["_meta"]["framegate"]["runId"].as_str().unwrap().to_owned();
    let status = started.wait_for(&run, "no question", |status| !status["pending_approvals"][0].is_null());
    let approval = status["pending_approvals"][0].as_str().unwrap();
    let path = format!("/v1/runs/{run}/approvals/{approval}");
    assert_eq!(post(started.proxy.address, &path, &[], br#"{"decision":"approved"}"#).status, 200);
    let end = client.answer(id);
    assert_eq!(end["result"]["stopReason"], "end_turn");
    let withdrawn = client.seen.iter().find(|message| message["method"] == "$/cancel_request").unwrap();
    assert_eq!(withdrawn["params"]["requestId"], question["id"]);
    // The editor leaves during a run, which goes on. The next editor finds the session by its id, with the run in progress.
    let id = client.prompt(&session, "slowly");
    let update = client.until(|message| message["params"]["update"]["content"]["text"] == "I am at it.");
    let slow = update["params"]["_meta"]["framegate"]["runId"].as_str().unwrap().to_owned();
    let (code, error) = client.leave();
    assert_eq!(code, Some(0), "{id}: {error}");
    assert_eq!(started.status(&slow)["state"], "running");
    let mut client = Client::before(&started, &[]);
    let listed = client.ask("session/list", json!({}))["result"]["sessions"].clone();
    assert_eq!((&listed[0]["sessionId"], &listed[0]["title"]), (&json!(session), &json!("carefully")));
    let load = json!({"sessionId": session, "cwd": started.folder.path(""), "mcpServers": []});
    assert!(client.ask("session/load", load.clone()).get("error").is_none());
    let prompts: Vec<&Value> =
        client.updates("user_message_chunk").into_iter().map(|chunk| &chunk["content"]["text"]).collect();
    assert_eq!(prompts, ["carefully", "slowly"]);
    assert!(client.text().ends_with("I am at it."), "{}", client.text());
    assert!(client.seen.iter().all(|message| message["method"] == "session/update"), "{:#?}", client.seen);
    started.folder.write("end", "");
    client.until(|message| message["params"]["update"]["content"]["text"] == "Answer 2.");
    // Then the session goes on.
    started.wait_for_end(&slow);
    let begin = Instant::now();
    let end = loop {
        let end = client.turn(&session, "more");
        if end["error"]["code"] != -32600 {
            break end;
        }
        assert!(begin.elapsed() < PATIENCE, "the run that was followed does not end: {end}");
    };
    assert_eq!(end["result"]["stopReason"], "end_turn", "{end}");
    assert_eq!(client.text(), "Answer 3.");
    // A session that another client began is opened by the proxy's id.
    let run = started.run_of(&json!({"upstream": "fake", "prompt": "of another client"}));
    let status = started.wait_for_end(&run);
    client.seen.clear();
    let load = json!({"sessionId": status["session_id"], "cwd": started.folder.path(""), "mcpServers": []});
    assert!(client.ask("session/load", load).get("error").is_none());
    assert_eq!(client.updates("user_message_chunk")[0]["content"]["text"], "of another client");
    client.leave();
}

#[test]
fn a_session_is_opened_without_what_is_no_longer_stored() {
    let rule = "[[approvals.rule]]\nname = \"all\"\ntool = \"Bash\"\ndecision = \"allow\"\n";
    let started = agent_with(rule, &[("FRAMEGATE__LOG__RUN_MAX_FRAMES", "24")]);
    let run = |prompt: &str, session: &Value| {
        let run = started.run_of(&json!({"upstream": "fake", "prompt": prompt, "session_id": session}));
        started.wait_for_end(&run)
    };
    let first = run("carefully, twice", &Value::Null);
    let first =
        started.wait_for(first["run_id"].as_str().unwrap(), "all frames", |status| status["pruned_frames"].is_u64());
    let session = first["session_id"].clone();
    let second = run("hello", &session);
    assert!(second["pruned_frames"].is_null(), "{second:#}");
    let mut client = Client::before(&started, &[]);
    let load = |session: &Value, started: &Started| json!({"sessionId": session, "cwd": started.folder.path(""), "mcpServers": []});
    let loaded = client.ask("session/load", load(&session, &started));
    assert!(loaded.get("error").is_none(), "{loaded}");
    assert_eq!(client.updates("user_message_chunk")[0]["content"]["text"], "hello");
    assert_eq!(client.text(), "Answer 2.");
    let notices = client.updates("notice");
    assert!(notices.len() == 1 && notices[0]["title"].as_str().unwrap().contains("left out"), "{notices:?}");
    let end = client.turn(session.as_str().unwrap(), "hello");
    assert_eq!((&end["result"]["stopReason"], client.text().as_str()), (&json!("end_turn"), "Answer 3."));
    client.leave();
    // A run in progress goes on, with the question that waits.
    let started = agent_with("", &[("FRAMEGATE__LOG__RUN_MAX_FRAMES", "4")]);
    let run = started.run_of(&json!({"upstream": "fake", "prompt": "carefully"}));
    let is_asked = |status: &Value| !status["pending_approvals"][0].is_null() && status["pruned_frames"].is_u64();
    let status = started.wait_for(&run, "no question, or all frames", is_asked);
    let mut client = Client::before(&started, &[]);
    let loaded = client.ask("session/load", load(&status["session_id"], &started));
    assert!(loaded.get("error").is_none(), "{loaded}");
    assert_eq!(client.updates("notice").len(), 1);
    let question = client.question();
    client.choose(&question, "allow_once");
    started.wait_for_end(&run);
    assert!(started.folder.read("answers").contains("\"allow\""));
    client.leave();
}

#[test]
fn what_the_proxy_refuses_is_the_error_of_a_request() {
    let started = agent(&[]);
    let mut client = Client::before(&started, &[]);
    let session = client.session_in(Path::new("/"));
    let end = client.turn(&session, "hello");
    assert_eq!(end["error"]["code"], -32603);
    assert!(end["error"]["message"].as_str().unwrap().contains("directories"), "{end}");
    let none = json!({"sessionId": "018f0000-0000-7000-8000-000000000000", "cwd": "/", "mcpServers": []});
    assert_eq!(client.ask("session/load", none)["error"]["code"], -32002);
    client.leave();
    // In the upstream's own directory.
    let mut client = Client::before(&started, &["--no-cwd"]);
    let session = client.session_in(Path::new("/"));
    assert_eq!(client.turn(&session, "hello")["result"]["stopReason"], "end_turn");
    // The proxy is lost while a prompt is in progress.
    let id = client.prompt(&session, "slowly");
    client.until(|message| message["params"]["update"]["content"]["text"] == "I am at it.");
    let Started { mut proxy, folder } = started;
    proxy.signal("KILL");
    proxy.wait();
    // Nothing ends the runner of a proxy that was killed, so it ends by itself.
    folder.write("end", "");
    client.tell("session/cancel", json!({"sessionId": session}));
    let end = client.answer(id);
    assert_eq!(end["result"]["stopReason"], "cancelled", "{end}");
    drop(folder);
}

#[test]
fn bad_arguments_and_lines_are_reported() {
    let folder = Folder::new();
    let config = folder.write("config.toml", "");
    let failing = |arguments: &[&str]| {
        let output = framegate().args(["acp"]).args(arguments).stdin(Stdio::null()).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(failing(&["none", "--config", &config]).contains("claude-code"));
    assert!(failing(&["fake", "--url", "localhost:1"]).contains("http://HOST:PORT"));
    assert!(failing(&["fake", "--no-cwd"]).contains("--url"));
    let missing = folder.path("token");
    assert!(
        failing(&["fake", "--url", "http://localhost:1", "--token-file", missing.to_str().unwrap()]).contains("token")
    );

    let started = agent(&[]);
    let mut command = framegate();
    command.args(["acp", "fame", "--url", &format!("http://{}", started.proxy.address)]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let deep = "[".repeat(10_000);
    let long = "x".repeat((64 << 20) + 1);
    for line in ["nonsense", "", &deep, &long, r#"{"id":1,"method":"initialize","params":{"protocolVersion":1}}"#] {
        writeln!(input, "{line}").unwrap();
    }
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
    let mut answers: Vec<Value> = (0..4).map(|_| next()).collect();
    // The last line ends with the input.
    input.write_all(br#"{"id":2,"method":"session/new","params":{}}"#).unwrap();
    drop(input);
    answers.push(next());
    let mut codes: Vec<i64> = answers.iter().map(|answer| answer["error"]["code"].as_i64().unwrap()).collect();
    codes.sort_unstable();
    assert_eq!(codes, [-32700, -32700, -32700, -32603, -32600], "{answers:#?}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_client_that_does_not_read_is_still_heard() {
    let folder = Folder::new();
    let mut client = Client::alone(&folder, &[]);
    // Far more answers than a pipe holds: the client reads none of them before it has written everything.
    let request = json!({"jsonrpc": "2.0", "id": "n", "method": "_own/unknown", "params": {"pad": "x".repeat(500)}});
    for _ in 0..5000 {
        client.write(&request);
    }
    let session = client.session_in(&folder.path(""));
    assert_eq!(client.turn(&session, "hello")["result"]["stopReason"], "end_turn");
    client.leave();
}

#[test]
#[ignore = "needs node and tests/clients/node_modules: ./test.sh runs it"]
fn npm_acp_client_drives_an_agent() {
    let started = agent_with("modes = [\"default\", \"plan\"]", &[]);
    let folder = Folder::new();
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/upstreams/fake/agent.sh");
    let table = format!(
        "[[upstream]]\nname = \"fake\"\nkind = \"command\"\npreset = \"claude-code\"\nprogram = \"{program}\"\n"
    );
    let config = folder.write("config.toml", &table);
    let url = format!("http://{}", started.proxy.address);
    for (place, arguments) in [(&started.folder, ["--url", &url]), (&folder, ["--config", &config])] {
        let plan = json!({
            "program": env!("CARGO_BIN_EXE_framegate"),
            "arguments": ["acp", "fake", arguments[0], arguments[1]],
            "cwd": place.path(""),
        });
        let mut command = Command::new("node");
        command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/acp_agent.mjs")).arg(plan.to_string());
        command.env("XDG_STATE_HOME", place.path("state")).env("NO_PROXY", "*");
        let output = command.stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success(), "the client failed: {}", output.status);
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(said["invalid"], json!([]), "{said:#}");
        assert_eq!(said["complaints"], json!([]), "{said:#}");
        let turns = said["turns"].as_array().unwrap();
        let of = |at: usize, key: &str| turns[at][key].clone();
        let reasons: Vec<Value> = (0..turns.len()).map(|at| of(at, "end")).collect();
        assert_eq!(
            reasons,
            ["end_turn", "end_turn", "end_turn", "end_turn", "it broke", "cancelled", "end_turn"],
            "{said:#}"
        );
        assert_eq!((of(0, "text"), of(1, "text")), (json!("Answer 1."), json!("Answer 2.")));
        assert_eq!((of(1, "calls"), of(2, "calls")), (json!(["completed"]), json!(["failed"])));
        assert_eq!(of(3, "thought"), "I wonder.");
        assert_eq!(
            said["history"],
            json!({"user": ["hello", "carefully", "carefully", "secretly", "badly", "slowly", "hello"], "calls": 2})
        );
        assert_eq!(said["list"], json!(["hello"]));
        let mode = &said["mode"];
        let offered = mode["offered"].as_array().unwrap();
        assert_eq!(offered[..3], [json!("as-configured"), json!("default"), json!("plan")], "{said:#}");
        assert_eq!((&mode["options"], &mode["seen"]), (&json!(["mode"]), &json!(["plan", "default"])));
        assert_eq!(mode["refused"], -32602);
        assert_eq!(place.read("modes").lines().last(), Some("default"));
    }
}
