//! Chats of the AI SDK with a coding agent.

use crate::chat_completions::{agent, agent_with, client, read_by};
use crate::client::{Answer, get, post};
use crate::started::Started;
use serde_json::{Value, json};
use std::process::Command;

fn user(id: &str, text: &str) -> Value {
    json!({"id": id, "role": "user", "parts": [{"type": "text", "text": text}]})
}

fn assistant(id: &str, text: &str) -> Value {
    json!({"id": id, "role": "assistant", "parts": [{"type": "text", "text": text}]})
}

/// A part with a question, and the answer to it.
fn answered(approval: &str, approved: bool) -> Value {
    json!({"type": "dynamic-tool", "toolName": "Bash", "toolCallId": "c", "state": "approval-responded",
        "approval": {"id": approval, "approved": approved}})
}

fn submit(started: &Started, chat: &str, messages: &[Value]) -> Answer {
    let body = json!({"id": chat, "trigger": "submit-message", "messages": messages});
    post(started.proxy.address, "/ai-sdk/fake", &[], body.to_string().as_bytes())
}

/// The chunks of an answer, and whether `[DONE]` follows them.
fn chunks(answer: Answer) -> Vec<Value> {
    let status = answer.status;
    let text = answer.text();
    assert_eq!(status, 200, "{text}");
    let data: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    let [chunks @ .., "[DONE]"] = data.as_slice() else { panic!("{text}") };
    chunks.iter().map(|chunk| serde_json::from_str(chunk).unwrap()).collect()
}

fn kinds(chunks: &[Value]) -> Vec<&str> {
    chunks.iter().map(|chunk| chunk["type"].as_str().unwrap()).collect()
}

fn text(chunks: &[Value]) -> String {
    let deltas = chunks.iter().filter(|chunk| chunk["type"] == "text-delta");
    deltas.map(|chunk| chunk["delta"].as_str().unwrap()).collect()
}

#[test]
fn a_chat_continues_the_session_of_its_last_answer() {
    let started = agent(&[]);
    let first = submit(&started, "chat", &[user("u1", "hello")]);
    assert_eq!(first.header("x-vercel-ai-ui-message-stream"), "v1");
    let (session, run) = (first.header("framegate-session").to_owned(), first.header("framegate-run").to_owned());
    let first = chunks(first);
    assert_eq!((first[0]["messageId"].as_str(), text(&first).as_str()), (Some(run.as_str()), "Answer 1."));
    assert_eq!(kinds(&first).last(), Some(&"finish"));
    let history = [user("u1", "hello"), assistant(&run, "Answer 1."), user("u2", "more")];
    let second = submit(&started, "chat", &history);
    assert_eq!(second.header("framegate-session"), session);
    let newest = second.header("framegate-run").to_owned();
    assert_eq!(text(&chunks(second)), "Answer 2.");
    // The same message again is the same run, whatever the time.
    let again = submit(&started, "chat", &history);
    assert_eq!((again.header("framegate-run"), again.header("idempotency-replayed")), (newest.as_str(), "true"));
    assert_eq!(text(&chunks(again)), "Answer 2.");
    // Another answer to the same message is another run. Its session begins with the chat so far, because the old one has moved on.
    let regenerate = || {
        let body = json!({"id": "chat", "trigger": "regenerate-message", "messages": history});
        post(started.proxy.address, "/ai-sdk/fake", &[], body.to_string().as_bytes())
    };
    let one = regenerate();
    let one_run = one.header("framegate-run").to_owned();
    assert!(one_run != newest && one.header("framegate-session") != session);
    assert_eq!(text(&chunks(one)), "Answer 1.");
    let two = regenerate();
    assert!(![&newest, &one_run].contains(&&two.header("framegate-run").to_owned()), "the first answer was complete");
    assert_eq!(text(&chunks(two)), "Answer 1.");
    assert!(
        started.folder.read("prompts").contains(r"Assistant:\nAnswer 1.\n\nAnswer the user's next message:\n\nmore")
    );
}

#[test]
fn a_question_ends_the_response_and_the_answer_continues_the_message() {
    for (approved, exit_code) in [(true, 0), (false, 1)] {
        let started = agent(&[]);
        let first = submit(&started, "chat", &[user("u1", "carefully")]);
        let run = first.header("framegate-run").to_owned();
        let first = chunks(first);
        let asked = first.iter().find(|chunk| chunk["type"] == "tool-approval-request").unwrap();
        let approval = asked["approvalId"].as_str().unwrap();
        assert_eq!(first.last().unwrap()["finishReason"], "tool-calls");
        assert_eq!(started.status(&run)["state"], "waiting_approval", "the run goes on");
        // A page that is opened now shows the question.
        let resumed = chunks(get(started.proxy.address, "/ai-sdk/fake/chat/stream", &[]));
        assert_eq!(resumed, first);
        let answers =
            [user("u1", "carefully"), json!({"id": run, "role": "assistant", "parts": [answered(approval, approved)]})];
        let second = submit(&started, "chat", &answers);
        assert_eq!(second.header("framegate-run"), run);
        let second = chunks(second);
        assert_eq!(kinds(&second)[..2], ["start", "start-step"]);
        assert_eq!(second[0]["messageId"], run.as_str());
        let decision = second.iter().find(|chunk| chunk["type"] == "tool-approval-response").unwrap();
        assert_eq!((&decision["approvalId"], &decision["approved"]), (&asked["approvalId"], &json!(approved)));
        let output = second.iter().find(|chunk| chunk["type"] == "tool-output-available").unwrap();
        assert_eq!(output["output"]["exit_code"], exit_code);
        assert_eq!((text(&second).as_str(), kinds(&second).last()), ("Answer 1.", Some(&"finish")));
        assert_eq!(started.folder.read("answers").contains("\"allow\""), approved);
        // The question is over: the rest of the message is sent again, and nothing is asked twice.
        assert_eq!(chunks(submit(&started, "chat", &answers)), second);
        assert_eq!(started.folder.read("answers").lines().count(), 1);
    }
}

#[test]
fn an_answer_that_is_asked_for_again_is_not_run_twice_at_once() {
    let started = agent(&[]);
    started.folder.write("end", "");
    let messages = [user("u1", "slowly")];
    let first = submit(&started, "chat", &messages);
    let first_run = first.header("framegate-run").to_owned();
    chunks(first);
    std::fs::remove_file(started.folder.path("end")).unwrap();
    let regenerate = || {
        let body = json!({"id": "chat", "trigger": "regenerate-message", "messages": messages});
        post(started.proxy.address, "/ai-sdk/fake", &[], body.to_string().as_bytes())
    };
    let (one, two) = (regenerate(), regenerate());
    let run = one.header("framegate-run").to_owned();
    assert!(run != first_run && two.header("framegate-run") == run);
    assert_eq!((one.header("idempotency-replayed"), two.header("idempotency-replayed")), ("", "true"));
    started.folder.write("end", "");
    assert_eq!(chunks(one), chunks(two));
}

#[test]
fn each_question_ends_a_response_and_lost_responses_are_sent_again() {
    let started = agent(&[]);
    let first = submit(&started, "chat", &[user("u1", "carefully, twice")]);
    let run = first.header("framegate-run").to_owned();
    let asked = |chunks: &[Value]| -> Vec<String> {
        let questions = chunks.iter().filter(|chunk| chunk["type"] == "tool-approval-request");
        questions.map(|chunk| chunk["approvalId"].as_str().unwrap().to_owned()).collect()
    };
    let one = asked(&chunks(first));
    assert_eq!(one.len(), 1);
    let with = |parts: &[Value]| {
        let message = json!({"id": run, "role": "assistant", "parts": parts});
        chunks(submit(&started, "chat", &[user("u1", "carefully, twice"), message]))
    };
    let second = with(&[answered(&one[0], true)]);
    let two = asked(&second);
    assert_eq!((two.len(), &second.last().unwrap()["finishReason"]), (1, &json!("tool-calls")));
    assert_ne!(two, one);
    // The client lost this response, so it sends the answer again.
    assert_eq!(with(&[answered(&one[0], true)]), second);
    let third = with(&[answered(&one[0], true), answered(&two[0], false)]);
    assert_eq!((asked(&third), text(&third).as_str()), (vec![], "Answer 1."));
    let unknown = json!({"id": run, "role": "assistant", "parts": [answered("unknown", true)]});
    assert_eq!(submit(&started, "chat", &[user("u1", "x"), unknown]).status, 404);
}

#[test]
fn a_question_that_a_rule_answers_does_not_end_the_response() {
    let rule = "[[approvals.rule]]\nname = \"all\"\ntool = \"Bash\"\ndecision = \"allow\"\n";
    let started = agent_with(rule, &[]);
    let all = chunks(submit(&started, "chat", &[user("u1", "carefully, twice")]));
    let decisions = all.iter().filter(|chunk| chunk["type"] == "tool-approval-response" && chunk["approved"] == true);
    assert_eq!((decisions.count(), text(&all).as_str()), (2, "Answer 1."));
}

#[test]
fn a_question_that_another_client_answers_continues_the_message() {
    let started = agent(&[]);
    let first = submit(&started, "chat", &[user("u1", "carefully")]);
    let run = first.header("framegate-run").to_owned();
    let first = chunks(first);
    let asked = first.iter().find(|chunk| chunk["type"] == "tool-approval-request").unwrap();
    let approval = asked["approvalId"].as_str().unwrap();
    let path = format!("/v1/runs/{run}/approvals/{approval}");
    assert_eq!(post(started.proxy.address, &path, &[], br#"{"decision":"rejected"}"#).status, 200);
    started.wait_for_end(&run);
    let message = json!({"id": run, "role": "assistant", "parts": [answered(approval, true)]});
    let rest = chunks(submit(&started, "chat", &[user("u1", "carefully"), message]));
    let decision = rest.iter().find(|chunk| chunk["type"] == "tool-approval-response").unwrap();
    assert_eq!((&decision["approved"], text(&rest).as_str()), (&json!(false), "Answer 1."));
}

#[test]
fn a_chat_in_progress_is_resumed_and_refuses_another_prompt() {
    let started = agent(&[]);
    let nothing = || get(started.proxy.address, "/ai-sdk/fake/chat/stream", &[]).status;
    assert_eq!(nothing(), 204);
    let mut first = submit(&started, "chat", &[user("u1", "slowly")]);
    let run = first.header("framegate-run").to_owned();
    while !first.line().unwrap().contains("I am at it.") {}
    drop(first);
    let resumed = get(started.proxy.address, "/ai-sdk/fake/chat/stream", &[]);
    assert_eq!(resumed.header("framegate-run"), run);
    let busy = submit(&started, "chat", &[user("u1", "slowly"), assistant(&run, "I am"), user("u2", "and?")]);
    assert_eq!(busy.status, 409);
    assert_eq!(get(started.proxy.address, "/ai-sdk/fake/other/stream", &[]).status, 204);
    started.folder.write("end", "");
    let resumed = chunks(resumed);
    assert_eq!((kinds(&resumed)[0], text(&resumed).as_str()), ("start", "I am at it.Answer 1."));
    assert_eq!(nothing(), 204);
    let missing = submit(
        &started,
        "chat",
        &[json!({"id": "0190fed0-0000-7000-8000-000000000000", "role": "assistant",
        "parts": [answered("a", true)]})],
    );
    assert_eq!(missing.status, 404);
    assert_eq!(
        post(
            started.proxy.address,
            "/ai-sdk/fame",
            &[],
            b"{\"id\":\"c\",\"messages\":[{\"id\":\"u\",\"role\":\"user\",\"parts\":[{\"type\":\"text\",\"text\":\"x\"}]}]}"
        )
        .status,
        404
    );
}

#[test]
#[ignore = "needs node and tests/clients/node_modules: ./test.sh runs it"]
fn npm_ai_holds_a_conversation() {
    let started = agent(&[]);
    let mut command = Command::new("node");
    command.arg(client("ai_chat.mjs"));
    let said = read_by(command, &started);
    assert_eq!(
        said,
        [
            json!({"status": "ready", "text": ["Answer 1."], "reasoning": ["I wonder."]}),
            json!({"status": "ready", "text": ["Answer 2."], "reasoning": []}),
            json!({"asked": ["approval-requested"], "tool": "Bash", "input": {"command": "touch file"}}),
            json!({"status": "ready", "text": ["Answer 3."], "exit_codes": [0], "messages": 6}),
            json!({"asked": ["approval-requested"], "tool": "Bash", "input": {"command": "touch file"}}),
            json!({"status": "ready", "text": ["Answer 4."], "exit_codes": [1], "messages": 8}),
            json!({"status": "error", "error": "it broke"}),
            json!({"interrupted": ["I am at it."], "status": "ready"}),
            json!({"status": "ready", "text": ["Answer 2."]}),
            json!({"resumed": "I am at it.Answer 1.", "status": "ready"}),
            json!({"status": "error", "refused": true}),
        ]
    );
    let answers = started.folder.read("answers");
    assert_eq!((answers.matches("\"allow\"").count(), answers.matches("\"deny\"").count()), (1, 1), "{answers}");
}
