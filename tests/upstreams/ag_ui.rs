//! Threads of AG-UI with a coding agent.

use crate::chat_completions::{agent, agent_with, client, read_by};
use crate::client::{Answer, get, post};
use crate::started::Started;
use serde_json::{Value, json};
use std::process::Command;

const PATH: &str = "/ag-ui/fake";

fn user(id: &str, text: &str) -> Value {
    json!({"id": id, "role": "user", "content": text})
}

fn assistant(id: &str, text: &str) -> Value {
    json!({"id": id, "role": "assistant", "content": text})
}

fn run(started: &Started, run: &str, messages: &[Value], more: Value) -> Answer {
    let mut body =
        json!({"threadId": "thread", "runId": run, "messages": messages, "tools": [], "context": [], "state": {}});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    post(started.proxy.address, PATH, &[("accept", "text/event-stream")], body.to_string().as_bytes())
}

fn say(started: &Started, name: &str, messages: &[Value]) -> Answer {
    run(started, name, messages, json!({}))
}

fn resolve(started: &Started, name: &str, messages: &[Value], answers: &[(&str, Value)]) -> Answer {
    let resume: Vec<Value> = answers
        .iter()
        .map(|(id, payload)| json!({"interruptId": id, "status": "resolved", "payload": payload}))
        .collect();
    run(started, name, messages, json!({"resume": resume}))
}

fn events(answer: Answer) -> Vec<Value> {
    let status = answer.status;
    let text = answer.text();
    assert_eq!(status, 200, "{text}");
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|event| serde_json::from_str(event).unwrap()).collect()
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

fn text(events: &[Value]) -> String {
    let deltas = events.iter().filter(|event| event["type"] == "TEXT_MESSAGE_CONTENT");
    deltas.map(|event| event["delta"].as_str().unwrap()).collect()
}

/// The ids of the interrupts that a run of the protocol ended with.
fn interrupts(events: &[Value]) -> Vec<String> {
    let interrupts = events.last().unwrap()["outcome"]["interrupts"].as_array();
    interrupts.into_iter().flatten().map(|interrupt| interrupt["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_thread_is_a_session() {
    let started = agent(&[]);
    let first = say(&started, "r1", &[user("u1", "hello")]);
    let (session, first_run) = (first.header("framegate-session").to_owned(), first.header("framegate-run").to_owned());
    assert!(first.header("content-type").starts_with("text/event-stream"));
    let first = events(first);
    let (start, end) = (&first[0], first.last().unwrap());
    assert_eq!((&start["threadId"], &start["runId"]), (&json!("thread"), &json!("r1")));
    assert_eq!(
        (&end["threadId"], &end["runId"], &end["outcome"]["type"]),
        (&json!("thread"), &json!("r1"), &json!("success"))
    );
    assert_eq!(start["metadata"]["runId"], first_run.as_str());
    assert_eq!(text(&first), "Answer 1.");
    // The same run again is the same run.
    let again = say(&started, "r1", &[user("u1", "hello")]);
    assert_eq!((again.header("framegate-run"), again.header("idempotency-replayed")), (first_run.as_str(), "true"));
    assert_eq!(events(again), first);
    let history = [user("u1", "hello"), assistant("a1", "Answer 1."), user("u2", "more")];
    let second = say(&started, "r2", &history);
    assert_eq!(second.header("framegate-session"), session);
    assert_eq!(text(&events(second)), "Answer 2.");
    // Only the new message.
    let third = say(&started, "r3", &[user("u3", "and more")]);
    assert_eq!(third.header("framegate-session"), session);
    assert_eq!(text(&events(third)), "Answer 3.");
    // Another client names the session by its id.
    let body = json!({"threadId": session, "runId": "r4", "messages": [user("u9", "hello again")]});
    let other = post(started.proxy.address, PATH, &[], body.to_string().as_bytes());
    assert_eq!(text(&events(other)), "Answer 4.");
    // An edited message begins another session with the conversation so far.
    let edited = say(&started, "r5", &[user("u1", "good day"), assistant("a1", "Answer 1."), user("u2", "more")]);
    assert_ne!(edited.header("framegate-session"), session);
    assert_eq!(text(&events(edited)), "Answer 1.");
    assert!(
        started
            .folder
            .read("prompts")
            .contains(r"User:\ngood day\n\nAssistant:\nAnswer 1.\n\nAnswer the user's next message:\n\nmore")
    );
}

#[test]
fn a_question_interrupts_the_run_and_the_answer_is_the_next_run() {
    for (payload, approved) in [(json!({"decision": "approved"}), true), (json!(false), false)] {
        let started = agent(&[]);
        let messages = [user("u1", "carefully, twice")];
        let first = events(say(&started, "r1", &messages));
        let end = first.last().unwrap();
        assert_eq!((&end["type"], &end["runId"]), (&json!("RUN_FINISHED"), &json!("r1")));
        let [interrupt] = end["outcome"]["interrupts"].as_array().unwrap().as_slice() else { panic!("{end}") };
        let call = first.iter().find(|event| event["type"] == "TOOL_CALL_START").unwrap();
        assert_eq!(
            (&interrupt["reason"], &interrupt["toolCallId"], &interrupt["metadata"]["args"]),
            (&json!("tool_approval"), &call["toolCallId"], &json!({"command": "touch file"}))
        );
        let one = interrupt["id"].as_str().unwrap().to_owned();
        // A new prompt is refused while the run waits.
        let busy = say(&started, "r2", &[user("u1", "carefully, twice"), user("u2", "and?")]);
        assert_eq!(busy.status, 409);
        let answers = [(one.as_str(), payload.clone())];
        let both = resolve(&started, "r2", &[user("u1", "carefully, twice"), user("u2", "and?")], &answers);
        assert_eq!(both.status, 409);
        assert!(both.text().contains("a new prompt"));
        let second = events(resolve(&started, "r2", &messages, &answers));
        assert_eq!((&second[0]["type"], &second[0]["runId"]), (&json!("RUN_STARTED"), &json!("r2")));
        let decision = second.iter().find(|event| event["name"] == "approval_resolved").unwrap();
        assert_eq!(decision["value"]["approvalId"], one.as_str());
        let result = second.iter().find(|event| event["type"] == "TOOL_CALL_RESULT").unwrap();
        assert_eq!((&result["toolCallId"], result["content"] == "done"), (&call["toolCallId"], approved));
        let two = interrupts(&second);
        assert_eq!(two.len(), 1);
        // The client lost this response, so it sends the answer again.
        assert_eq!(events(resolve(&started, "r2", &messages, &answers)), second);
        let cancelled = json!({"resume": [{"interruptId": two[0], "status": "cancelled"}]});
        let third = events(run(&started, "r3", &messages, cancelled));
        assert_eq!((interrupts(&third).len(), text(&third).as_str()), (0, "Answer 1."));
        assert_eq!(started.folder.read("answers").lines().count(), 2);
        assert_eq!(resolve(&started, "r4", &messages, &[("unknown", json!(true))]).status, 404);
    }
}

#[test]
fn a_question_that_a_rule_answers_does_not_interrupt() {
    let rule = "[[approvals.rule]]\nname = \"all\"\ntool = \"Bash\"\ndecision = \"allow\"\n";
    let started = agent_with(rule, &[]);
    let all = events(say(&started, "r", &[user("u1", "carefully, twice")]));
    assert_eq!((interrupts(&all).len(), text(&all).as_str()), (0, "Answer 1."));
}

#[test]
fn a_thread_shows_its_messages_and_goes_on_with_the_run_in_progress() {
    let started = agent(&[]);
    let at = |accept: &str| get(started.proxy.address, "/ag-ui/fake/thread", &[("accept", accept)]);
    assert_eq!(at("application/json").status, 404);
    events(say(&started, "r1", &[user("u1", "secretly")]));
    let first = at("application/json").json();
    let roles = |thread: &Value| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        thread["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| (text(&message["role"]), text(&message["content"])))
            .collect()
    };
    let pair = |role: &str, content: &str| (role.to_owned(), content.to_owned());
    let expected = [pair("user", "secretly"), pair("reasoning", "I wonder."), pair("assistant", "Answer 1.")];
    assert_eq!((roles(&first), &first["threadId"]), (expected.to_vec(), &json!("thread")));
    let over = events(at("text/event-stream"));
    assert_eq!(kinds(&over), ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
    assert_eq!(over[1]["messages"], first["messages"]);
    // A page that is opened while a run is in progress.
    let history = [user("u1", "secretly"), assistant("a", "Answer 1."), user("u2", "slowly")];
    let mut open = say(&started, "r2", &history);
    while !open.line().unwrap().contains("I am at it.") {}
    drop(open);
    let live = at("*/*");
    started.folder.write("end", "");
    let live = events(live);
    let expected = [expected.as_slice(), &[pair("user", "slowly"), pair("assistant", "I am at it.")]].concat();
    assert_eq!(roles(&live[1]), expected);
    assert_eq!((text(&live).as_str(), kinds(&live).last()), ("Answer 2.", Some(&"RUN_FINISHED")));
    // A run that waits for a person.
    let history = [
        user("u1", "secretly"),
        assistant("a", "x"),
        user("u2", "slowly"),
        assistant("b", "x"),
        user("u3", "carefully"),
    ];
    let asked = interrupts(&events(say(&started, "r3", &history)));
    let waiting = events(at("*/*"));
    assert_eq!((interrupts(&waiting), kinds(&waiting)[1]), (asked, "MESSAGES_SNAPSHOT"));
}

#[test]
fn a_thread_is_shown_without_runs_that_are_no_longer_stored() {
    let rule = "[[approvals.rule]]\nname = \"all\"\ntool = \"Bash\"\ndecision = \"allow\"\n";
    let started = agent_with(rule, &[("FRAMEGATE__LOG__RUN_MAX_FRAMES", "24")]);
    let ran = |nth: usize, prompt: &str| {
        // Where the beginning is dropped at once, the answer may already be 410.
        drop(say(&started, &format!("r{nth}"), &[user(&format!("u{nth}"), prompt)]));
        started.wait_for_end(&started.newest_of(nth))
    };
    let at = || get(started.proxy.address, "/ag-ui/fake/thread", &[("accept", "application/json")]);
    let first = ran(1, "carefully, twice");
    let first =
        started.wait_for(first["run_id"].as_str().unwrap(), "all frames", |status| status["pruned_frames"].is_u64());
    assert_eq!(at().status, 410, "the newest run");
    let second = ran(2, "hello");
    assert!(second["pruned_frames"].is_null(), "{second:#}");
    let shown = at().json();
    let texts: Vec<&Value> = shown["messages"].as_array().unwrap().iter().map(|message| &message["content"]).collect();
    assert_eq!(texts, ["hello", "Answer 2."]);
    assert_eq!(shown["omittedRuns"], 1);
    let notices = |events: &[Value]| {
        let notices = events.iter().filter(|event| event["name"] == "notice");
        notices.map(|notice| notice["value"]["code"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(notices(&events(get(started.proxy.address, "/ag-ui/fake/thread", &[]))), ["runs_omitted"]);
    // The thread goes on.
    assert_eq!(ran(3, "and more")["session_id"], first["session_id"]);
}

#[test]
fn messages_of_a_snapshot_continue_the_session() {
    let started = agent(&[]);
    let context = json!({"context": [{"description": "Page", "value": "1"}]});
    let first = run(&started, "r1", &[user("u1", "hello")], context);
    let session = first.header("framegate-session").to_owned();
    events(first);
    for (at, thread) in [(2, "thread"), (3, session.as_str())] {
        let path = format!("/ag-ui/fake/{thread}");
        let shown = get(started.proxy.address, &path, &[("accept", "application/json")]).json();
        let mut messages = shown["messages"].as_array().unwrap().clone();
        messages.push(user(&format!("u{at}"), "more"));
        let body = json!({"threadId": thread, "runId": format!("r{at}"), "messages": messages});
        let next = post(started.proxy.address, PATH, &[], body.to_string().as_bytes());
        assert_eq!(next.header("framegate-session"), session, "{thread}");
        assert_eq!(text(&events(next)), format!("Answer {at}."));
    }
    // The first thread goes on after the session was continued by its id.
    assert_eq!(text(&events(say(&started, "r9", &[user("u9", "and more")]))), "Answer 4.");
    events(say(&started, "r10", &[user("u10", "badly")]));
    let over = events(get(started.proxy.address, "/ag-ui/fake/thread", &[]));
    assert_eq!(kinds(&over).last(), Some(&"RUN_ERROR"));
}

#[test]
fn wrong_requests_start_nothing() {
    let started = agent(&[]);
    let send = |path: &str, body: &Value| {
        let answer = post(started.proxy.address, path, &[], body.to_string().as_bytes());
        (answer.status, answer.text())
    };
    let message = json!([user("u", "x")]);
    for (path, body, status, expected) in [
        ("/ag-ui/fame", json!({"threadId": "t", "runId": "r", "messages": message}), 404, "did you mean"),
        (PATH, json!({"runId": "r", "messages": message}), 400, "threadId"),
        (PATH, json!({"threadId": "t", "runId": "r", "messages": []}), 400, "the last message must be"),
        (PATH, json!({"threadId": "t", "runId": "r", "messages": [user("u", " ")]}), 400, "the last message must be"),
        (
            PATH,
            json!({"threadId": "t", "runId": "r", "messages": [{"role": "user", "content": [{"type": "image"}]}]}),
            400,
            "needs a source",
        ),
        (
            PATH,
            json!({"threadId": "t", "runId": "r", "messages": message, "resume": [{"interruptId": "q", "status": "resolved", "payload": true}]}),
            404,
            "no run whose questions",
        ),
    ] {
        let (found, detail) = send(path, &body);
        assert!(found == status && detail.contains(expected), "{body}: {found} {detail}");
    }
    let runs = get(started.proxy.address, "/v1/runs", &[]).json();
    assert_eq!(runs["data"], json!([]));
    // What has no effect is named.
    let ignored = run(&started, "r", &[user("u", "x")], json!({"tools": [{"name": "t"}]}));
    assert_eq!(ignored.header("framegate-ignored-parameters"), "tools");
}

#[test]
fn a_failed_run_is_an_error_of_the_protocol() {
    let started = agent(&[]);
    let failed = events(say(&started, "r", &[user("u1", "badly")]));
    let end = failed.last().unwrap();
    assert_eq!((&end["type"], &end["message"]), (&json!("RUN_ERROR"), &json!("it broke")));
    // The next prompt goes on in the session.
    let next = events(say(&started, "r2", &[user("u1", "badly"), user("u2", "better")]));
    assert_eq!(text(&next), "Answer 2.");
}

#[test]
#[ignore = "needs node and tests/clients/node_modules: ./test.sh runs it"]
fn npm_ag_ui_holds_a_conversation() {
    let started = agent(&[]);
    let mut command = Command::new("node");
    command.arg(client("ag_ui_thread.mjs"));
    let said = read_by(command, &started);
    let tool = |nth: u32, content: &str| {
        json!({"interrupts": ["tool_approval"], "then": ["assistant", "tool", "assistant"], "result": content,
            "text": format!("Answer {nth}."), "warnings": []})
    };
    assert_eq!(
        said,
        [
            json!({"roles": ["user", "reasoning", "assistant"], "text": "Answer 1.", "warnings": []}),
            json!({"roles": ["user", "assistant"], "text": "Answer 2.", "warnings": []}),
            tool(3, "done"),
            tool(4, "refused"),
            json!({"failed": "it broke"}),
            json!({"interrupted": "I am at it.", "outcome": "cancelled"}),
            json!({"text": "Answer 2."}),
            json!({"opened": ["user", "assistant"], "text": "I am at it.Answer 1.", "pending": 0, "warnings": []}),
            json!({"refused": true}),
        ]
    );
    let answers = started.folder.read("answers");
    assert_eq!((answers.matches("\"allow\"").count(), answers.matches("\"deny\"").count()), (1, 1), "{answers}");
}
