//! What a host says to a runner, held against what the hosts of the recordings said, and against what the runner took.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "test code"
)]

mod support;

use framegate_translators::frame::{ApprovalRequested, ApprovalResolved, Body, Decision, Frame};
use framegate_translators::framing::Limits;
use framegate_translators::host::{Answer, Dialogue, Opening, Sending, Unsayable, Wish};
use framegate_translators::pipeline::Ingest;
use framegate_translators::redact::{Rules, Settings};
use framegate_translators::runners::runner;
use framegate_translators::sequence::Identity;
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

/// A host: it hears records, answers what is asked, and keeps what it sent.
struct Host {
    ingest: Ingest,
    dialogue: Box<dyn Dialogue>,
    sent: Vec<Sending>,
    frames: Vec<Frame>,
    now_ms: u64,
}

impl Host {
    fn new(name: &str) -> Self {
        let runner = runner(name).unwrap();
        let identity = Identity { run_id: Uuid::from_u128(7), session_id: None };
        let ingest = Ingest::new(runner, None, Limits::default(), identity)
            .redacting(Arc::new(Rules::new(Settings::default()).unwrap()));
        let dialogue = runner.dialogue.unwrap()();
        Self { ingest, dialogue, sent: Vec::new(), frames: Vec::new(), now_ms: 1_700_000_000_000 }
    }

    fn open(&mut self, opening: Opening) {
        self.dialogue.open(&opening);
        self.sent.extend(self.dialogue.take());
    }

    /// The runner's next bytes; gives the questions that they ask.
    fn hear(&mut self, bytes: &[u8]) -> Vec<ApprovalRequested> {
        self.now_ms += 1;
        let dialogue = &mut self.dialogue;
        let mut ear = |record: &framegate_translators::decode::Record<'_>| dialogue.hear(record);
        let mut frames: Vec<Frame> = self.ingest.feed_heard(bytes, self.now_ms, Some(&mut ear)).collect();
        if let Some(due) = self.ingest.deadline() {
            frames.extend(self.ingest.flush(due));
        }
        self.sent.extend(self.dialogue.take());
        let asked = |frame: &Frame| match &frame.body {
            Body::ApprovalRequested(request) => Some((**request).clone()),
            _ => None,
        };
        let asked = frames.iter().filter_map(asked).collect();
        self.frames.extend(frames);
        asked
    }

    fn say(&mut self, wish: Wish) -> Result<(), Unsayable> {
        self.dialogue.say(None, &wish)?;
        self.sent.extend(self.dialogue.take());
        Ok(())
    }

    /// Answers, and lets the frames tell it.
    fn answer(&mut self, id: &str, answer: Answer) -> Result<(), Unsayable> {
        let decision = answer.decision;
        self.say(Wish::Answer { approval_id: id.into(), answer })?;
        let asked_on =
            |frame: &&Frame| matches!(&frame.body, Body::ApprovalRequested(request) if *request.approval_id == *id);
        let stream = self.frames.iter().find(asked_on).map(|frame| (frame.stream.kind, frame.stream.id)).unwrap();
        let by = Some("ann".into());
        let resolved = ApprovalResolved { approval_id: id.into(), decision, by, reason: None, scope: None };
        let told: Vec<Frame> = self.ingest.resolve(stream, resolved, self.now_ms).collect();
        assert_eq!(told.len(), 1, "one frame tells it");
        self.frames.extend(told);
        Ok(())
    }

    fn finish(&mut self) {
        let frames: Vec<Frame> = self.ingest.finish(self.now_ms).collect();
        self.frames.extend(frames);
    }

    /// What was sent, as JSON.
    fn lines(&self) -> Vec<Value> {
        let line = |sending: &Sending| match sending {
            Sending::Input(bytes) => {
                assert_eq!(bytes.iter().filter(|&&byte| byte == b'\n').count(), 1, "one line");
                serde_json::from_slice(bytes).unwrap()
            }
            Sending::EndOfInput => json!("end"),
            Sending::Post { path, body } if body.is_empty() => json!([path]),
            Sending::Post { path, body } => json!([path, serde_json::from_slice::<Value>(body).unwrap()]),
        };
        self.sent.iter().map(line).collect()
    }

    /// The decisions: what, by whom. No question may have two, and none may be without.
    fn decisions(&self) -> Vec<String> {
        let (mut asked, mut told) = (Vec::new(), Vec::new());
        for frame in &self.frames {
            match &frame.body {
                Body::ApprovalRequested(request) => asked.push(request.approval_id.clone()),
                Body::ApprovalResolved(answer) => {
                    let at = asked.iter().position(|id| *id == answer.approval_id).expect("it was open");
                    asked.remove(at);
                    told.push(format!("{} by {}", answer.decision.as_str(), answer.by.as_deref().unwrap_or("runner")));
                }
                _ => {}
            }
        }
        assert!(asked.is_empty(), "{asked:?} has no end");
        told
    }
}

fn fixture(path: &str) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/");
    std::fs::read_to_string(format!("{root}{path}")).unwrap()
}

fn lines(path: &str) -> Vec<Value> {
    fixture(path).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn decided(decision: Decision) -> Answer {
    Answer { decision, reason: None, scope: None, answers: Vec::new() }
}

fn scoped(scope: &str) -> Answer {
    Answer { scope: Some(scope.into()), ..decided(Decision::Approved) }
}

// --- Codex -------------------------------------------------------------------------------------------------------------

/// The lines of a recording's client, without what says who it is.
fn client(name: &str) -> Vec<Value> {
    let mut lines = lines(&format!("codex/client/{name}.jsonl"));
    for line in &mut lines {
        anonymous(line);
    }
    lines
}

fn anonymous(line: &mut Value) {
    if line["method"] == "initialize" {
        line["params"]["clientInfo"] = json!("somebody");
        line["params"]["capabilities"] = json!("some");
    }
}

/// Plays a recording to a host that asks what its client asked and answers as it did.
fn played(name: &str) -> Host {
    let client = client(name);
    let asks = |line: &&Value| line["method"] == "turn/start";
    let mut prompts =
        client.iter().filter(asks).map(|line| line["params"]["input"][0]["text"].as_str().unwrap().to_owned());
    let mut answers = client.iter().filter_map(|line| line["result"]["decision"].as_str());
    let interrupts = client.iter().any(|line| line["method"] == "turn/interrupt");
    let mut host = Host::new("codex");
    let cwd = Some("/workspace".to_owned());
    host.open(Opening { prompt: prompts.next().unwrap(), cwd, ..Opening::default() });
    for prompt in prompts {
        host.say(Wish::Prompt(prompt)).unwrap();
    }
    let mut interrupted = false;
    for line in fixture(&format!("codex/{name}.ndjson")).lines() {
        for request in host.hear(format!("{line}\n").as_bytes()) {
            let decision = match answers.next().expect("the client answered") {
                "accept" => Decision::Approved,
                "decline" => Decision::Rejected,
                other => panic!("{other}"),
            };
            host.answer(&request.approval_id, decided(decision)).unwrap();
        }
        if interrupts && !interrupted && line.contains("unifiedExecStartup") {
            interrupted = true;
            host.say(Wish::Interrupt).unwrap();
        }
    }
    host.finish();
    host
}

#[test]
fn codex_is_told_what_its_clients_told_it() {
    for name in [
        "appserver-approval-accept",
        "appserver-approval-decline",
        "appserver-filechange-approval",
        "appserver-interrupt-command",
        "appserver-two-turns",
        "appserver-text",
        "appserver-mixed",
        "appserver-compaction",
        "appserver-error-400",
        "appserver-subagent",
    ] {
        let mut sent = played(name).lines();
        for line in &mut sent {
            anonymous(line);
        }
        let mut expected = client(name);
        // Some of the recordings' clients say so, ours always does.
        for line in expected.iter_mut().filter(|line| line["method"] == "initialize") {
            anonymous(line);
        }
        assert_eq!(sent, expected, "{name}");
    }
}

#[test]
fn codex_decisions_are_the_hosts_and_told_once() {
    assert_eq!(played("appserver-approval-accept").decisions(), ["approved by ann"]);
    assert_eq!(played("appserver-approval-decline").decisions(), ["rejected by ann"]);
    assert_eq!(played("appserver-filechange-approval").decisions(), ["approved by ann", "rejected by ann"]);
}

/// A yes with what was chosen, question by question.
fn chosen(given: &[&[&str]]) -> Answer {
    let words = |words: &&[&str]| words.iter().map(|&word| word.to_owned()).collect();
    Answer { answers: given.iter().map(words).collect(), ..decided(Decision::Approved) }
}

/// A host with a thread and a running turn.
fn codex() -> Host {
    let mut host = Host::new("codex");
    host.open(Opening { prompt: "go".into(), session: Some("T".into()), model: Some("m".into()), cwd: None });
    host.hear(b"{\"id\":0,\"result\":{}}\n");
    host.hear(b"{\"id\":1,\"result\":{\"thread\":{\"id\":\"T\"}}}\n");
    host.hear(b"{\"id\":2,\"result\":{\"turn\":{\"id\":\"t1\"}}}\n");
    host.hear(b"{\"method\":\"turn/started\",\"params\":{\"threadId\":\"T\",\"turn\":{\"id\":\"t1\"}}}\n");
    host
}

fn codex_asks(host: &mut Host, id: &Value, method: &str, params: Value) -> Vec<ApprovalRequested> {
    let mut params = params;
    params["threadId"] = json!("T");
    params["itemId"] = json!("i1");
    host.hear(format!("{}\n", json!({"id": id, "method": method, "params": params})).as_bytes())
}

#[test]
fn codex_goes_on_with_a_thread() {
    let host = codex();
    assert_eq!(host.lines()[2], json!({"id": 1, "method": "thread/resume", "params": {"threadId": "T", "model": "m"}}));
    let start = json!({"threadId": "T", "input": [{"type": "text", "text": "go"}]});
    assert_eq!(host.lines()[3], json!({"id": 2, "method": "turn/start", "params": start}));
}

#[test]
fn codex_says_why_there_is_no_thread() {
    let mut host = Host::new("codex");
    host.open(Opening { prompt: "go".into(), session: Some("T".into()), ..Opening::default() });
    host.hear(b"{\"id\":0,\"result\":{}}\n");
    assert_eq!(host.dialogue.refusal(), None);
    host.hear(b"{\"id\":1,\"error\":{\"code\":-32600,\"message\":\"no rollout found for thread id T\"}}\n");
    assert_eq!(host.dialogue.refusal(), Some("no rollout found for thread id T"));
    assert_eq!(host.lines().len(), 3, "no turn is asked for");
}

#[test]
fn codex_answers_have_the_form_that_each_question_wants() {
    let command = json!({"command": "ls", "proposedExecpolicyAmendment": ["ls"]});
    let form = json!({"message": "fill in", "requestedSchema": {"properties": {
        "age": {"type": "integer"}, "name": {"type": "string"}, "ok": {"type": "boolean"}}}});
    let input = json!({"questions": [{"id": "a", "question": "A?"}, {"id": "b", "question": "B?"}]});
    let none = json!({});
    let permissions = json!({"permissions": {"network": {"enabled": true}}});
    let cases: Vec<(&str, &Value, Answer, Value)> = vec![
        ("item/commandExecution/requestApproval", &command, scoped("session"), json!({"decision": "acceptForSession"})),
        (
            "item/commandExecution/requestApproval",
            &command,
            scoped("always"),
            json!({"decision": {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["ls"]}}}),
        ),
        (
            "item/commandExecution/requestApproval",
            &command,
            decided(Decision::Cancelled),
            json!({"decision": "cancel"}),
        ),
        (
            "item/commandExecution/requestApproval",
            &command,
            decided(Decision::TimedOut),
            json!({"decision": "decline"}),
        ),
        ("execCommandApproval", &command, decided(Decision::Approved), json!({"decision": "approved"})),
        ("execCommandApproval", &command, decided(Decision::Rejected), json!({"decision": "denied"})),
        ("applyPatchApproval", &none, decided(Decision::Cancelled), json!({"decision": "abort"})),
        (
            "item/tool/requestUserInput",
            &input,
            chosen(&[&["x"], &["y", "z"]]),
            json!({"answers": {"a": {"answers": ["x"]}, "b": {"answers": ["y", "z"]}}}),
        ),
        ("item/tool/requestUserInput", &input, decided(Decision::Rejected), json!({"answers": {}})),
        (
            "mcpServer/elicitation/request",
            &form,
            chosen(&[&["41"], &["Ann"], &["true"]]),
            json!({"action": "accept", "content": {"age": 41, "name": "Ann", "ok": true}}),
        ),
        (
            "mcpServer/elicitation/request",
            &form,
            decided(Decision::Rejected),
            json!({"action": "decline", "content": null}),
        ),
        (
            "item/permissions/requestApproval",
            &permissions,
            scoped("session"),
            json!({"permissions": {"network": {"enabled": true}}, "scope": "session"}),
        ),
        (
            "item/permissions/requestApproval",
            &permissions,
            decided(Decision::Rejected),
            json!({"permissions": {}, "scope": "turn"}),
        ),
    ];
    for (nth, (method, params, answer, expected)) in cases.into_iter().enumerate() {
        let mut host = codex();
        // Ids are the server's: numbers or texts, given back as they came.
        let id = if nth % 2 == 0 { json!(nth) } else { json!(format!("n{nth}")) };
        let asked = codex_asks(&mut host, &id, method, params.clone());
        assert_eq!(asked.len(), 1, "{method}");
        host.answer(&asked[0].approval_id, answer.clone()).unwrap();
        assert_eq!(host.lines().last(), Some(&json!({"id": id, "result": expected})), "{method} {answer:?}");
        let again = host.say(Wish::Answer { approval_id: asked[0].approval_id.clone(), answer });
        assert!(matches!(again, Err(Unsayable::NoQuestion(_))), "{again:?}");
    }
}

#[test]
fn codex_is_told_what_this_client_does_not_do() {
    let mut host = codex();
    assert!(codex_asks(&mut host, &json!(9), "item/tool/call", json!({"tool": "x"})).is_empty());
    let line = host.lines().pop().unwrap();
    assert_eq!((&line["id"], &line["error"]["code"]), (&json!(9), &json!(-32601)));
    // A scope that the question does not offer leaves it open.
    let asked = codex_asks(&mut host, &json!(1), "item/fileChange/requestApproval", json!({}));
    let refused = host.answer(&asked[0].approval_id, scoped("always"));
    assert!(matches!(refused, Err(Unsayable::NoWord(_))), "{refused:?}");
    host.answer(&asked[0].approval_id, scoped("once")).unwrap();
}

#[test]
fn codex_questions_end_with_their_turn_or_by_another_clients_answer() {
    let mut host = codex();
    let first = codex_asks(&mut host, &json!(1), "item/commandExecution/requestApproval", json!({"command": "a"}));
    let second = codex_asks(&mut host, &json!(2), "item/commandExecution/requestApproval", json!({"command": "b"}));
    host.hear(b"{\"method\":\"serverRequest/resolved\",\"params\":{\"threadId\":\"T\",\"requestId\":1}}\n");
    assert!(host.dialogue.asked(&first[0].approval_id).is_none());
    assert!(host.dialogue.asked(&second[0].approval_id).is_some());
    host.hear(b"{\"method\":\"turn/completed\",\"params\":{\"threadId\":\"T\",\"turn\":{\"id\":\"t1\",\"status\":\"interrupted\"}}}\n");
    assert!(host.dialogue.asked(&second[0].approval_id).is_none());
    host.finish();
    assert_eq!(host.decisions(), ["cancelled by runner", "cancelled by runner"]);
}

#[test]
fn an_interrupt_of_codex_waits_for_the_turns_name() {
    let mut host = Host::new("codex");
    host.open(Opening { prompt: "go".into(), ..Opening::default() });
    assert!(host.say(Wish::Interrupt).is_err(), "nothing runs");
    host.hear(b"{\"id\":0,\"result\":{}}\n{\"id\":1,\"result\":{\"thread\":{\"id\":\"T\"}}}\n");
    let before = host.lines().len();
    host.say(Wish::Interrupt).unwrap();
    assert_eq!(host.lines().len(), before);
    host.hear(b"{\"method\":\"turn/started\",\"params\":{\"threadId\":\"T\",\"turn\":{\"id\":\"t1\"}}}\n");
    let interrupt = json!({"id": 3, "method": "turn/interrupt", "params": {"threadId": "T", "turnId": "t1"}});
    assert_eq!(host.lines()[before..], [interrupt]);
}

// --- Claude Code -------------------------------------------------------------------------------------------------------

#[test]
fn claude_code_gets_back_what_it_asked_about_and_the_frames_tell_who_answered() {
    let mut host = Host::new("claude-code");
    host.open(Opening { prompt: "go".into(), ..Opening::default() });
    assert_eq!(host.lines().len(), 1, "the prompt waits for the answer to the first request");
    for line in fixture("claude-code/control_permission.ndjson").lines() {
        for request in host.hear(format!("{line}\n").as_bytes()) {
            let answer = match request.args.get().contains("precious") {
                true => Answer { reason: Some("not that one".into()), ..decided(Decision::Rejected) },
                false => decided(Decision::Approved),
            };
            host.answer(&request.approval_id, answer).unwrap();
        }
    }
    host.finish();
    let input = json!({"command": "touch allowed.txt && echo made", "description": "Make"});
    let respond = |id: &str, response: Value| {
        let response = json!({"subtype": "success", "request_id": id, "response": response});
        json!({"type": "control_response", "response": response})
    };
    let message = json!({"role": "user", "content": [{"type": "text", "text": "go"}]});
    assert_eq!(
        host.lines(),
        [
            json!({"type": "control_request", "request_id": "req_1", "request": {"subtype": "initialize"}}),
            json!({"type": "user", "message": message, "parent_tool_use_id": null, "session_id": ""}),
            respond("6f71cd90-0a4d-48c3-850b-8520402fcbf3", json!({"behavior": "allow", "updatedInput": input})),
            respond("fa606863-b187-45e3-9a79-560c2105b112", json!({"behavior": "deny", "message": "not that one"})),
        ]
    );
    assert_eq!(host.decisions(), ["approved by ann", "rejected by ann"]);
}

#[test]
fn claude_codes_questions_are_answered_by_their_texts() {
    let mut host = Host::new("claude-code");
    host.open(Opening { prompt: "go".into(), ..Opening::default() });
    let mut asked = 0;
    for line in fixture("claude-code/control_ask_user.ndjson").lines() {
        for request in host.hear(format!("{line}\n").as_bytes()) {
            asked += 1;
            assert!(host.dialogue.asked(&request.approval_id).unwrap().wants_answers);
            let answers = vec![vec!["Blue".to_owned()]];
            host.answer(&request.approval_id, Answer { answers, ..decided(Decision::Approved) }).unwrap();
        }
    }
    assert_eq!(asked, 1);
    let response = &host.lines()[2]["response"]["response"];
    assert_eq!(response["updatedInput"]["answers"], json!({"Which color?": "Blue"}));
    assert_eq!(response["updatedInput"]["questions"][0]["header"], "Color", "what was asked is given back with it");
}

#[test]
fn claude_code_is_interrupted_and_asked_again_in_its_own_words() {
    let mut host = Host::new("claude-code");
    host.open(Opening { prompt: "go".into(), ..Opening::default() });
    host.say(Wish::Prompt("and then".into())).unwrap();
    host.hear(fixture("claude-code/control_interrupt.partial.ndjson").lines().next().unwrap().as_bytes());
    host.hear(b"\n");
    host.say(Wish::Interrupt).unwrap();
    host.say(Wish::Close).unwrap();
    let lines = host.lines();
    assert_eq!(lines[1]["message"]["content"][0]["text"], "go");
    assert_eq!(lines[2]["message"]["content"][0]["text"], "and then");
    assert_eq!(
        lines[3],
        json!({"type": "control_request", "request_id": "req_2", "request": {"subtype": "interrupt"}})
    );
    assert_eq!(lines[4], "end");
}

/// A permission request with these fields besides.
fn claude_asks(host: &mut Host, id: &str, more: Value) -> Vec<ApprovalRequested> {
    let mut request = json!({"subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": format!("toolu_{id}")});
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let line = json!({"type": "control_request", "request_id": id, "request": request});
    host.hear(format!("{line}\n").as_bytes())
}

#[test]
fn what_is_redacted_in_frames_is_given_back_as_it_was() {
    let mut host = Host::new("claude-code");
    host.hear(br#"{"type":"system","subtype":"init","session_id":"s","model":"m"}"#);
    host.hear(b"\n");
    let secret = format!("ghp_{}", "a1B2c3D4".repeat(5).split_at(36).0);
    // A lone surrogate and a number that no double holds pass through as well.
    let input = format!(r#"{{"command":"push {secret}","odd":"\ud800","big":12345678901234567890123}}"#);
    let line = format!(
        r#"{{"type":"control_request","request_id":"r1","request":{{"subtype":"can_use_tool","tool_name":"Bash","input":{input}}}}}"#
    );
    let asked = host.hear(format!("{line}\n").as_bytes());
    assert!(!asked[0].args.get().contains(&secret), "{}", asked[0].args);
    assert!(host.dialogue.asked("r1").unwrap().args.unwrap().get().contains(&secret), "a rule looks at the truth");
    host.answer("r1", decided(Decision::Approved)).unwrap();
    let Some(Sending::Input(sent)) = host.sent.last() else { panic!("nothing was sent") };
    let sent = String::from_utf8(sent.clone()).unwrap();
    assert!(sent.contains(&format!("\"updatedInput\":{input}")), "{sent}");
}

#[test]
fn a_lasting_permission_of_claude_codes_is_one_that_it_offered() {
    let rule = json!({"type": "addRules", "rules": [{"toolName": "Bash"}], "behavior": "allow", "destination": "localSettings"});
    let mode = json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"});
    let offered = json!({"permission_suggestions": [rule, mode], "input": {}});
    let mut host = Host::new("claude-code");
    host.hear(b"{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n");
    for (id, scope, destination) in [("a", "always", "localSettings"), ("b", "session", "session")] {
        claude_asks(&mut host, id, offered.clone());
        host.answer(id, scoped(scope)).unwrap();
        let permissions = &host.lines().pop().unwrap()["response"]["response"]["updatedPermissions"];
        assert_eq!(permissions.as_array().unwrap().len(), 1, "rules alone: {permissions}");
        assert_eq!(permissions[0]["destination"], destination);
    }
    claude_asks(&mut host, "c", json!({"input": {}}));
    assert!(matches!(host.answer("c", scoped("session")), Err(Unsayable::NoWord(_))));
    assert!(matches!(host.answer("c", scoped("for a while")), Err(Unsayable::NoWord(_))));
    host.answer("c", decided(Decision::Cancelled)).unwrap();
    assert_eq!(host.lines().pop().unwrap()["response"]["response"]["interrupt"], true);
}

#[test]
fn claude_codes_other_requests_get_an_answer_too() {
    let mut host = Host::new("claude-code");
    for (request, expected) in [
        (
            json!({"subtype": "hook_callback"}),
            json!({"subtype": "error", "request_id": "r", "error": "this host answers no hook_callback requests"}),
        ),
        (json!({}), json!({"subtype": "error", "request_id": "r", "error": "this host answers no nameless requests"})),
    ] {
        let line = json!({"type": "control_request", "request_id": "r", "request": request});
        host.hear(format!("{line}\n").as_bytes());
        assert_eq!(host.lines().pop().unwrap()["response"], expected);
    }
}

/// Fields in an order of their own, which is the order of the answers.
const FORM: &str =
    r#"{"type":"object","properties":{"zone":{"type":"string"},"count":{"type":"integer"}},"required":["zone"]}"#;

#[test]
fn a_form_of_an_mcp_servers_is_filled_in_field_by_field() {
    let claude = |host: &mut Host, id: &str, mode: &str, schema: &str| {
        let line = format!(
            r#"{{"type":"control_request","request_id":"{id}","request":{{"subtype":"elicitation","mcp_server_name":"docs","message":"Where?","mode":"{mode}","requested_schema":{schema}}}}}"#
        );
        host.hear(format!("{line}\n").as_bytes())
    };
    let mut host = Host::new("claude-code");
    host.hear(b"{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n");
    let asked = claude(&mut host, "a", "form", FORM);
    assert_eq!((&*asked[0].tool_name, asked[0].reason.as_deref()), ("mcp_elicitation", Some("Where?")));
    assert!(asked[0].args.get().contains(FORM), "{}", asked[0].args);
    assert!(host.dialogue.asked("a").unwrap().wants_answers);
    let unfit = host.answer("a", chosen(&[&["here"], &["many"]])).unwrap_err();
    assert_eq!(unfit.to_string(), "the field \"count\" wants a whole number");
    host.answer("a", chosen(&[&["here"], &["2"]])).unwrap();
    let response = |host: &mut Host| host.lines().pop().unwrap()["response"].clone();
    let content = json!({"action": "accept", "content": {"zone": "here", "count": 2}});
    assert_eq!(response(&mut host), json!({"subtype": "success", "request_id": "a", "response": &content}));
    claude(&mut host, "b", "form", FORM);
    host.answer("b", decided(Decision::Rejected)).unwrap();
    assert_eq!(response(&mut host)["response"], json!({"action": "decline"}));
    // An address to go to: whoever says yes will.
    claude(&mut host, "c", "url", FORM);
    assert!(!host.dialogue.asked("c").unwrap().wants_answers);
    host.answer("c", decided(Decision::Approved)).unwrap();
    assert_eq!(response(&mut host)["response"], json!({"action": "accept"}));
    claude(&mut host, "d", "form", FORM);
    host.answer("d", decided(Decision::Cancelled)).unwrap();
    assert_eq!(response(&mut host)["response"], json!({"action": "cancel"}));
    claude(&mut host, "e", "form", FORM);
    host.hear(b"{\"type\":\"control_cancel_request\",\"request_id\":\"e\"}\n");
    assert!(host.dialogue.asked("e").is_none());
    host.finish();
    let decisions =
        ["approved by ann", "rejected by ann", "approved by ann", "cancelled by ann", "cancelled by runner"];
    assert_eq!(host.decisions(), decisions);
    // Codex: the same form, in the same order.
    let mut host = codex();
    let codex_form = |host: &mut Host, id: u64, schema: &str| {
        let params = format!(
            r#"{{"threadId":"T","mode":"form","serverName":"docs","message":"Where?","requestedSchema":{schema}}}"#
        );
        let line = format!(r#"{{"id":{id},"method":"mcpServer/elicitation/request","params":{params}}}"#);
        host.hear(format!("{line}\n").as_bytes())
    };
    let asked = codex_form(&mut host, 7, FORM);
    assert!(asked[0].args.get().contains(FORM), "{}", asked[0].args);
    host.answer(&asked[0].approval_id, chosen(&[&["here"], &["2"]])).unwrap();
    assert_eq!(host.lines().last(), Some(&json!({"id": 7, "result": content})));
    // One that nobody can fill in here is asked about all the same; the host refuses it, and says why.
    let why = "its field \"place\" is of the type \"object\"";
    let unfit = r#"{"properties":{"place":{"type":"object"}}}"#;
    let asked = codex_form(&mut host, 8, unfit);
    assert_eq!(host.dialogue.asked(&asked[0].approval_id).unwrap().unanswerable.as_deref(), Some(why));
    assert_eq!(host.answer(&asked[0].approval_id, chosen(&[&["x"]])), Err(Unsayable::Unfit(why.to_owned())));
    host.answer(&asked[0].approval_id, decided(Decision::Rejected)).unwrap();
    let declined = json!({"id": 8, "result": {"action": "decline", "content": null}});
    assert_eq!(host.lines().last(), Some(&declined));
    // What redaction takes from the frames, the host still has.
    let secret = r#"{"properties":{"password":{"type":"string","default":"x1y2z3"}}}"#;
    let asked = codex_form(&mut host, 9, secret);
    assert!(!asked[0].args.get().contains("x1y2z3"), "{}", asked[0].args);
    host.answer(&asked[0].approval_id, chosen(&[&["p"]])).unwrap();
    assert_eq!(host.lines().last().unwrap()["result"]["content"], json!({"password": "p"}));
    for scope in ["session", "always"] {
        let asked = codex_form(&mut host, 10, FORM);
        let lasting = Answer { answers: vec![vec!["here".into()]], ..scoped(scope) };
        let refused = host.answer("request-10", lasting);
        assert!(matches!(refused, Err(Unsayable::NoWord(_))), "{asked:?} {refused:?}");
    }
    // Another client's answer to a form may have been any; only the answer to questions is one.
    host.hear(b"{\"method\":\"serverRequest/resolved\",\"params\":{\"threadId\":\"T\",\"requestId\":10}}\n");
    codex_asks(&mut host, &json!(11), "item/tool/requestUserInput", json!({"questions": []}));
    host.hear(b"{\"method\":\"serverRequest/resolved\",\"params\":{\"threadId\":\"T\",\"requestId\":11}}\n");
    let decisions = host.decisions();
    assert_eq!(decisions[decisions.len() - 2..], ["cancelled by runner", "approved by runner"]);
    let settled = |frame: &Frame| matches!(&frame.body, Body::ApprovalResolved(answer) if answer.reason.as_deref() == Some(framegate_translators::host::SETTLED));
    assert_eq!(host.frames.iter().filter(|frame| settled(frame)).count(), 1);
    // Claude Code: alike.
    let mut host = Host::new("claude-code");
    host.hear(b"{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n");
    let asked = claude(&mut host, "f", "form", unfit);
    assert_eq!(host.dialogue.asked("f").unwrap().unanswerable.as_deref(), Some(why), "{asked:?}");
    host.answer("f", decided(Decision::Rejected)).unwrap();
    assert_eq!(response(&mut host)["response"], json!({"action": "decline"}));
    claude(&mut host, "g", "form", secret);
    let lasting = Answer { answers: vec![vec!["p".into()]], ..scoped("always") };
    assert!(matches!(host.answer("g", lasting), Err(Unsayable::NoWord(_))));
    host.answer("g", chosen(&[&["p"]])).unwrap();
    assert_eq!(response(&mut host)["response"]["content"], json!({"password": "p"}));
}

#[test]
fn a_question_of_claude_codes_that_is_withdrawn_or_left_behind_takes_no_answer() {
    let mut host = Host::new("claude-code");
    host.hear(b"{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n");
    for id in ["a", "b", "c"] {
        claude_asks(&mut host, id, json!({"input": {}}));
    }
    host.hear(b"{\"type\":\"control_cancel_request\",\"request_id\":\"a\"}\n");
    assert!(host.dialogue.asked("a").is_none() && host.dialogue.asked("b").is_some());
    host.answer("c", decided(Decision::Approved)).unwrap();
    host.hear(
        b"{\"type\":\"result\",\"subtype\":\"success\",\"session_id\":\"s\",\"is_error\":false,\"result\":\"\"}\n",
    );
    assert!(host.dialogue.asked("b").is_none());
    let late = host.say(Wish::Answer { approval_id: "b".into(), answer: decided(Decision::Approved) });
    assert!(matches!(late, Err(Unsayable::NoQuestion(_))));
    host.finish();
    assert_eq!(host.decisions(), ["cancelled by runner", "approved by ann", "cancelled by runner"]);
}

// --- OpenCode ----------------------------------------------------------------------------------------------------------

/// Plays a feed to a host that answers each question so.
fn feed(name: &str, answer: &Answer) -> Host {
    let mut host = Host::new("opencode");
    for block in fixture(&format!("opencode/{name}.sse")).split_inclusive("\n\n") {
        for request in host.hear(block.as_bytes()) {
            host.answer(&request.approval_id, answer.clone()).unwrap();
        }
    }
    host.finish();
    host
}

#[test]
fn opencode_is_answered_where_it_takes_answers_and_its_own_word_is_no_second_decision() {
    let once = feed("event-permission-once", &decided(Decision::Approved));
    assert_eq!(once.lines(), [json!(["/permission/per_1ffca71ba001Ef12n4yfMlBcKc/reply", {"reply": "once"}])]);
    assert_eq!(once.decisions(), ["approved by ann"]);
    let always = feed("event-permission-always", &scoped("always"));
    assert_eq!(always.lines(), [json!(["/permission/per_1ffcc67ae001LTH4EO0832lXB2/reply", {"reply": "always"}])]);
    let no = Answer { reason: Some("no".into()), ..decided(Decision::Rejected) };
    let rejected = feed("event-permission-reject", &no);
    let reply = json!({"reply": "reject", "message": "no"});
    assert_eq!(rejected.lines(), [json!(["/permission/per_1ffcb084b001ANNoypQMe1ROzv/reply", reply])]);
    assert_eq!(rejected.decisions(), ["rejected by ann"]);
    let blue = Answer { answers: vec![vec!["Blue".into()]], ..decided(Decision::Approved) };
    let question = feed("event-question", &blue);
    assert_eq!(question.lines(), [json!(["/question/que_1ffcb9d08001mhiRnGuAcf7M1n/reply", {"answers": [["Blue"]]}])]);
    let waved = feed("event-question", &decided(Decision::Rejected));
    assert_eq!(waved.lines(), [json!(["/question/que_1ffcb9d08001mhiRnGuAcf7M1n/reject"])]);
}

fn opencode_event(host: &mut Host, event: &Value) -> Vec<ApprovalRequested> {
    host.hear(format!("data: {event}\n\n").as_bytes())
}

#[test]
fn opencodes_sessions_are_opened_prompted_and_aborted() {
    let mut host = Host::new("opencode");
    let model = Some("prov/some/model".to_owned());
    host.open(Opening { prompt: "one".into(), session: None, cwd: Some("/a b/../c".into()), model });
    host.say(Wish::Prompt("two".into())).unwrap();
    assert_eq!(host.lines(), [json!(["/session?directory=%2Fa%20b%2F%2E%2E%2Fc", {}])]);
    host.dialogue.replied("/session?directory=%2Fa%20b%2F%2E%2E%2Fc", br#"{"id":"ses_1"}"#);
    host.say(Wish::Interrupt).unwrap();
    host.dialogue.say(Some("ses/2?x"), &Wish::Interrupt).unwrap();
    host.sent.extend(host.dialogue.take());
    let lines = host.lines();
    let model = json!({"providerID": "prov", "modelID": "some/model"});
    assert_eq!(lines[1][1], json!({"parts": [{"type": "text", "text": "one"}], "model": model}));
    assert!(lines[1][0].as_str().unwrap().starts_with("/session/ses_1/prompt_async?directory="));
    assert_eq!(lines[2][1]["parts"][0]["text"], "two");
    assert!(lines[3][0].as_str().unwrap().starts_with("/session/ses_1/abort?"));
    assert!(lines[4][0].as_str().unwrap().starts_with("/session/ses%2F2%3Fx/abort?"), "no id leads astray");
}

#[test]
fn opencode_says_why_there_is_no_session() {
    let mut host = Host::new("opencode");
    host.open(Opening { prompt: "one".into(), ..Opening::default() });
    host.dialogue.replied("/session", b"{}");
    assert!(host.dialogue.refusal().is_some());
    let mut nobody = Host::new("opencode");
    assert!(matches!(nobody.say(Wish::Interrupt), Err(Unsayable::NoWord(_))));
    assert!(matches!(nobody.say(Wish::Prompt("x".into())), Err(Unsayable::NoWord(_))));
}

#[test]
fn opencodes_questions_wait_until_the_server_settles_them() {
    let mut host = Host::new("opencode");
    let ask = |id: &str, kind: &str, more: Value| {
        let mut props = json!({"id": id, "sessionID": "ses_1", "permission": "bash", "metadata": {"command": "ls"}});
        props.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"id": "evt_1", "type": kind, "properties": props})
    };
    opencode_event(&mut host, &ask("per_1", "permission.asked", json!({})));
    let answer = || Wish::Answer { approval_id: "per_1".into(), answer: decided(Decision::Approved) };
    host.say(answer()).unwrap();
    host.say(answer()).expect("the first may have been lost on its way");
    let replied = json!({"sessionID": "ses_1", "requestID": "per_1", "reply": "once"});
    opencode_event(&mut host, &json!({"id": "evt_2", "type": "permission.replied", "properties": replied}));
    assert!(matches!(host.say(answer()), Err(Unsayable::NoQuestion(_))));
    // The first release's words and path.
    opencode_event(&mut host, &ask("per_2", "permission.updated", json!({})));
    host.say(Wish::Answer { approval_id: "per_2".into(), answer: decided(Decision::Rejected) }).unwrap();
    let last = host.lines().pop().unwrap();
    assert_eq!(last, json!(["/session/ses_1/permissions/per_2", {"response": "reject"}]));
    // A session that falls idle has nothing left to be answered; nor has one of the global feed.
    let idle = json!({"id": "evt_3", "type": "session.idle", "properties": {"sessionID": "ses_1"}});
    opencode_event(&mut host, &json!({"directory": "/w", "payload": idle}));
    assert!(host.dialogue.asked("per_2").is_none());
}
