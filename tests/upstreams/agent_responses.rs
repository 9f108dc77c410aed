//! Responses of coding agents over the Responses API.

use crate::chat_completions::{agent, agent_with};
use crate::client::{Answer, connect, get, post};
use crate::model::Model;
use crate::started::{PATIENCE, Started};
use serde_json::{Value, json};
use std::io::Write as _;
use std::time::{Duration, Instant};

const PATH: &str = "/v1/responses";

fn ask_with(started: &Started, headers: &[(&str, &str)], body: &Value) -> Answer {
    let mut with_model = json!({"model": "fake"});
    with_model.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
    post(started.proxy.address, PATH, headers, with_model.to_string().as_bytes())
}

fn ask(started: &Started, body: &Value) -> Answer {
    ask_with(started, &[], body)
}

fn delete(started: &Started, id: &str) -> Answer {
    let address = started.proxy.address;
    let mut stream = connect(address);
    write!(stream, "DELETE {PATH}/{id} HTTP/1.1\r\nhost: {address}\r\n\r\n").unwrap();
    Answer::read(stream)
}

fn ok(answer: Answer) -> Value {
    let status = answer.status;
    let body = answer.json();
    assert_eq!(status, 200, "{body:#}");
    body
}

fn at(started: &Started, id: &str, query: &str) -> Answer {
    get(started.proxy.address, &format!("{PATH}/{id}{query}"), &[])
}

/// The events of a streamed response, which ends with `[DONE]`.
fn events(answer: Answer) -> Vec<Value> {
    let status = answer.status;
    let text = answer.text();
    assert_eq!(status, 200, "{text}");
    let data: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    let [events @ .., "[DONE]"] = data.as_slice() else { panic!("{text}") };
    events.iter().map(|event| serde_json::from_str(event).unwrap()).collect()
}

fn text(response: &Value) -> String {
    let messages = response["output"].as_array().unwrap().iter().filter(|item| item["type"] == "message");
    messages.map(|message| message["content"][0]["text"].as_str().unwrap()).collect()
}

fn types(response: &Value) -> Vec<&str> {
    response["output"].as_array().unwrap().iter().map(|item| item["type"].as_str().unwrap()).collect()
}

fn item<'r>(response: &'r Value, kind: &str) -> &'r Value {
    response["output"].as_array().unwrap().iter().find(|item| item["type"] == kind).unwrap()
}

/// The answer to the question of a response.
fn answer_to(response: &Value, approve: bool) -> Value {
    json!([{"type": "mcp_approval_response", "approve": approve,
        "approval_request_id": item(response, "mcp_approval_request")["id"]}])
}

#[test]
fn a_response_is_a_run() {
    let started = agent(&[]);
    let body = json!({"model": "fake/opus", "input": "secretly", "instructions": "Be brief.", "temperature": 0.5,
        "metadata": {"ticket": "7"}});
    let answer = ask(&started, &body);
    assert_eq!(answer.header("framegate-ignored-parameters"), "temperature");
    let run = answer.header("framegate-run").to_owned();
    let response = ok(answer);
    assert_eq!(response["id"], format!("resp_{}", run.replace('-', "")));
    assert_eq!(
        (&response["object"], &response["status"], &response["model"]),
        (&json!("response"), &json!("completed"), &json!("opus"))
    );
    assert_eq!((types(&response), text(&response).as_str()), (vec!["reasoning", "message"], "Answer 1."));
    assert_eq!((&response["metadata"]["ticket"], &response["metadata"]["run_id"]), (&json!("7"), &json!(run)));
    assert_eq!((&response["usage"]["total_tokens"], &response["store"]), (&json!(17), &json!(true)));
    assert!(started.folder.read("prompts").contains(r"Be brief.\n\nsecretly"));
    // The same response later, its input, and its events.
    let id = response["id"].as_str().unwrap();
    assert_eq!(ok(at(&started, id, "")), response);
    let input = ok(at(&started, id, "/input_items"));
    assert_eq!(input["data"][0]["content"][0]["text"], "Be brief.\n\nsecretly");
    let all = events(at(&started, id, "?stream=true"));
    assert_eq!((&all[0]["type"], &all.last().unwrap()["response"]), (&json!("response.created"), &response));
    for after in [0, 3, all.len() - 2] {
        let rest = events(at(&started, id, &format!("?stream=true&starting_after={after}")));
        assert_eq!(rest, all[after + 1..], "{after}");
    }
    assert_eq!(at(&started, id, "?stream=true&starting_after=x").status, 400);
    // The run is there in every other contract.
    assert_eq!(started.events(&run, "sse.v1").last().unwrap()["type"], "run_completed");
}

#[test]
fn a_response_continues_the_session_of_the_one_before() {
    let started = agent(&[]);
    let first = ask(&started, &json!({"input": "hello"}));
    let session = first.header("framegate-session").to_owned();
    let first = ok(first);
    let next = json!({"input": "more", "previous_response_id": first["id"], "instructions": "Only at first."});
    let second = ask(&started, &next);
    assert_eq!(second.header("framegate-session"), session);
    let second = ok(second);
    assert_eq!((text(&second).as_str(), &second["previous_response_id"]), ("Answer 2.", &first["id"]));
    assert!(!started.folder.read("prompts").contains("Only at first."));
    // The session has moved on since the first one.
    let late = ask(&started, &json!({"input": "and this?", "previous_response_id": first["id"]}));
    assert_eq!(late.status, 400);
    assert_eq!(late.json()["error"]["param"], "previous_response_id");
    // By the session, by the whole conversation, and by the header.
    let third = ok(ask(&started, &json!({"input": "three", "conversation": {"id": session}})));
    assert_eq!(text(&third), "Answer 3.");
    let conversation = json!([{"role": "user", "content": "hi"}]);
    let one = ask(&started, &json!({"input": conversation}));
    let other = one.header("framegate-session").to_owned();
    let one = ok(one);
    let mut conversation = vec![json!({"role": "user", "content": "hi"})];
    conversation.extend(one["output"].as_array().unwrap().clone());
    conversation.push(json!({"role": "user", "content": "and?"}));
    let two = ask(&started, &json!({"input": conversation}));
    assert_eq!(two.header("framegate-session"), other);
    assert_eq!(text(&ok(two)), "Answer 2.");
    let named = ask_with(&started, &[("framegate-session", &other)], &json!({"input": "go"}));
    assert_eq!(text(&named.json()), "Answer 3.");
}

#[test]
fn a_question_completes_the_response_and_the_answer_begins_the_next() {
    for approve in [true, false] {
        let started = agent(&[]);
        let first = ask(&started, &json!({"input": "carefully, twice", "stream": approve}));
        let run = first.header("framegate-run").to_owned();
        let first = if approve { events(first).pop().unwrap()["response"].clone() } else { ok(first) };
        assert_eq!((types(&first), &first["status"]), (vec!["mcp_call", "mcp_approval_request"], &json!("completed")));
        assert_eq!(item(&first, "mcp_call")["status"], "in_progress");
        assert_eq!(started.status(&run)["state"], "waiting_approval", "the run goes on");
        assert_eq!(ok(at(&started, first["id"].as_str().unwrap(), ""))["output"], first["output"]);
        let answers = json!({"input": answer_to(&first, approve), "previous_response_id": first["id"]});
        let second = ok(ask(&started, &answers));
        let call = item(&second, "mcp_call");
        assert_eq!(
            (&call["id"], &call["status"]),
            (&item(&first, "mcp_call")["id"], &json!(if approve { "completed" } else { "failed" }))
        );
        assert_eq!(item(&second, "mcp_approval_response")["approve"], approve);
        assert_ne!(item(&second, "mcp_approval_request")["id"], item(&first, "mcp_approval_request")["id"]);
        assert_eq!((&second["previous_response_id"], second["id"] == first["id"]), (&first["id"], false));
        let streamed = json!({"input": answer_to(&second, approve), "stream": true});
        let third = events(ask(&started, &streamed));
        assert!((0..third.len()).all(|at| third[at]["sequence_number"] == at), "{third:#?}");
        let done = &third.last().unwrap()["response"];
        assert_eq!((text(done).as_str(), &done["status"]), ("Answer 1.", &json!("completed")));
        // What was lost is sent again: the answers are given once, and each response has its own events.
        assert_eq!(events(ask(&started, &streamed)), third);
        assert_eq!(ok(ask(&started, &answers))["output"], second["output"]);
        let id = second["id"].as_str().unwrap();
        let again = events(at(&started, id, "?stream=true"));
        assert_eq!(again.last().unwrap()["response"]["output"], second["output"]);
        let part = events(at(&started, id, "?stream=true&starting_after=2"));
        assert_eq!(part[..], again[3..]);
        assert_eq!(started.folder.read("answers").lines().count(), 2);
    }
}

#[test]
fn an_answer_that_a_prompt_follows_is_refused_and_not_lost() {
    let started = agent(&[]);
    let first = ok(ask(&started, &json!({"input": "carefully"})));
    let mut both = answer_to(&first, true).as_array().unwrap().clone();
    both.push(json!({"role": "user", "content": "and then hello"}));
    for body in [json!({"input": both}), json!({"input": both, "previous_response_id": first["id"]})] {
        let refused = ask(&started, &body);
        let status = refused.status;
        let error = refused.json()["error"].clone();
        assert_eq!((status, &error["param"]), (400, &json!("input[0]")), "{error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("input[0]") && message.contains("input[1]"), "{message}");
    }
    assert_eq!(get(started.proxy.address, "/v1/runs", &[]).json()["data"].as_array().unwrap().len(), 1);
    assert!(!started.folder.path("answers").exists());
    // One after the other, and the answer as a part of the history.
    let second = ok(ask(&started, &json!({"input": both[..1], "previous_response_id": first["id"]})));
    assert_eq!(text(&second), "Answer 1.");
    let mut history = vec![json!({"role": "user", "content": "carefully"})];
    history.extend(first["output"].as_array().unwrap().clone());
    history.push(both[0].clone());
    history.extend(second["output"].as_array().unwrap().clone());
    history.push(both[1].clone());
    assert_eq!(text(&ok(ask(&started, &json!({"input": history})))), "Answer 2.");
}

#[test]
fn a_response_that_ended_at_a_question_does_not_change() {
    for stream in [true, false] {
        let started = agent(&[]);
        let first = ask(&started, &json!({"input": "carefully", "stream": stream}));
        let first = if stream { events(first).pop().unwrap()["response"].clone() } else { ok(first) };
        let id = first["id"].as_str().unwrap();
        assert!(first["completed_at"].is_u64(), "{first}");
        // The times are in seconds.
        std::thread::sleep(std::time::Duration::from_millis(1100));
        assert_eq!(ok(at(&started, id, "")), first);
        assert_eq!(events(at(&started, id, "?stream=true")).pop().unwrap()["response"], first);
        ok(ask(&started, &json!({"input": answer_to(&first, true)})));
        assert_eq!(ok(at(&started, id, "")), first);
    }
}

#[test]
fn a_response_in_the_background_is_polled_and_cancelled() {
    let started = agent(&[]);
    let answer = ask(&started, &json!({"input": "slowly", "background": true}));
    let run = answer.header("framegate-run").to_owned();
    let response = ok(answer);
    assert!(["queued", "in_progress"].contains(&response["status"].as_str().unwrap()), "{response:#}");
    assert_eq!(response["background"], true);
    let id = response["id"].as_str().unwrap();
    started.wait_for(&run, "no text", |_| text(&ok(at(&started, id, ""))) == "I am at it.");
    assert_eq!(ok(at(&started, id, ""))["status"], "in_progress");
    let cancelled = ok(post(started.proxy.address, &format!("{PATH}/{id}/cancel"), &[], b""));
    assert_eq!((&cancelled["status"], text(&cancelled).as_str()), (&json!("cancelled"), "I am at it."));
    assert_eq!(ok(at(&started, id, "")), cancelled);
    assert_eq!(ok(post(started.proxy.address, &format!("{PATH}/{id}/cancel"), &[], b"")), cancelled);
    started.wait_for_end(&run);
    let deleted = delete(&started, id);
    assert_eq!((deleted.status, deleted.json()["error"]["code"].as_str()), (400, Some("not_supported")));
}

/// Asks for a response until it is no longer in progress.
fn polled(started: &Started, response: &Value) -> Value {
    let id = response["id"].as_str().unwrap();
    let begin = Instant::now();
    loop {
        let response = ok(at(started, id, ""));
        if !["queued", "in_progress"].contains(&response["status"].as_str().unwrap()) {
            return response;
        }
        assert!(begin.elapsed() < PATIENCE, "{response:#}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_question_completes_a_response_that_is_polled() {
    let started = agent(&[]);
    let asked = |input: Value, previous: &Value| {
        let body = json!({"input": input, "background": true, "previous_response_id": previous});
        polled(&started, &ok(ask(&started, &body)))
    };
    let first = asked(json!("carefully, twice"), &Value::Null);
    assert_eq!((types(&first), &first["status"]), (vec!["mcp_call", "mcp_approval_request"], &json!("completed")));
    let second = asked(answer_to(&first, true), &first["id"]);
    assert_eq!(types(&second).last(), Some(&"mcp_approval_request"));
    // A response that is over cannot be cancelled.
    let path = format!("{PATH}/{}/cancel", first["id"].as_str().unwrap());
    assert_eq!(ok(post(started.proxy.address, &path, &[], b""))["output"], first["output"]);
    let third = asked(answer_to(&second, true), &second["id"]);
    assert_eq!((text(&third).as_str(), &third["status"]), ("Answer 1.", &json!("completed")));
    assert_eq!(ok(at(&started, first["id"].as_str().unwrap(), ""))["output"], first["output"]);
    // The same words after another response are another prompt.
    let fourth = asked(json!("continue"), &third["id"]);
    let fifth = asked(json!("continue"), &fourth["id"]);
    assert_eq!((text(&fourth).as_str(), text(&fifth).as_str()), ("Answer 2.", "Answer 3."));
}

#[test]
fn a_token_without_read_gets_only_its_own_responses() {
    let folder = crate::proxy::Folder::new();
    let (one, two) = ("1".repeat(40), "2".repeat(40));
    let mut tokens = String::new();
    for (name, secret) in [("one", &one), ("two", &two)] {
        let file = folder.write(name, secret);
        tokens.push_str(&format!("[[token]]\nname = \"{name}\"\nfile = \"{file}\"\nscopes = [\"control\"]\n"));
    }
    let tokens = folder.write("tokens.toml", &tokens);
    let started = agent(&[("FRAMEGATE__AUTH__TOKENS_FILE", &tokens)]);
    let by = |secret: &str, path: &str, body: &Value| {
        let answer = post(
            started.proxy.address,
            path,
            &[("authorization", &format!("Bearer {secret}"))],
            body.to_string().as_bytes(),
        );
        (answer.status, answer.json())
    };
    let (status, asked) = by(&one, PATH, &json!({"model": "fake", "input": "carefully"}));
    assert_eq!(status, 200, "{asked}");
    let answer = json!({"model": "fake", "input": answer_to(&asked, true)});
    assert_eq!(by(&two, PATH, &answer).0, 400, "the question is another caller's");
    let (status, done) = by(&one, PATH, &answer);
    assert_eq!((status, text(&done).as_str()), (200, "Answer 1."));
    let cancel = format!("{PATH}/{}/cancel", done["id"].as_str().unwrap());
    let (_, shown) = by(&two, &cancel, &json!({}));
    assert_eq!(shown, json!({"id": done["id"], "object": "response", "status": "completed"}));
    assert_eq!(by(&one, &cancel, &json!({})).1, done);
}

#[test]
fn a_failed_run_is_a_failed_response() {
    let started = agent(&[]);
    let failed = ok(ask(&started, &json!({"input": "badly"})));
    assert_eq!((&failed["status"], &failed["error"]["message"]), (&json!("failed"), &json!("it broke")));
    let streamed = events(ask(&started, &json!({"input": "badly", "stream": true})));
    assert_eq!(streamed.last().unwrap()["type"], "response.failed");
}

#[test]
fn a_request_that_is_sent_again_is_the_same_run() {
    let started = agent(&[]);
    let headers = [("idempotency-key", "one")];
    let first = ask_with(&started, &headers, &json!({"input": "hello"}));
    let second = ask_with(&started, &headers, &json!({"input": "hello"}));
    assert_eq!(
        (second.header("framegate-run"), second.header("idempotency-replayed")),
        (first.header("framegate-run"), "true")
    );
    assert_eq!(ask_with(&started, &headers, &json!({"input": "other"})).status, 422);
    let first = ok(first);
    assert_eq!(first, ok(second));
    // The session has moved on with the first request, or is at work for it.
    let twice = |headers: &[(&str, &str)], body: Value| {
        let one = ask_with(&started, headers, &body);
        let two = ask_with(&started, headers, &body);
        let status = two.status;
        let (run, replayed) = (two.header("framegate-run").to_owned(), two.header("idempotency-replayed").to_owned());
        assert_eq!(
            (status, run.as_str(), replayed.as_str()),
            (200, one.header("framegate-run"), "true"),
            "{body}: {}",
            two.text()
        );
        ok(one)
    };
    let next = twice(&[("idempotency-key", "two")], json!({"input": "more", "previous_response_id": first["id"]}));
    assert_eq!(text(&next), "Answer 2.");
    let slow = json!({"input": "slowly", "background": true, "previous_response_id": next["id"]});
    twice(&[], slow.clone());
    let mut other = slow;
    other["input"] = json!("and more");
    assert_eq!(ask(&started, &other).status, 409);
    started.folder.write("end", "");
}

#[test]
fn a_rule_answers_without_ending_the_response() {
    let rule = "[[approvals.rule]]\nname = \"all\"\ntool = \"Bash\"\ndecision = \"allow\"\n";
    let started = agent_with(rule, &[]);
    let response = ok(ask(&started, &json!({"input": "carefully, twice"})));
    assert_eq!(text(&response), "Answer 1.");
    assert_eq!(types(&response).iter().filter(|kind| **kind == "mcp_approval_response").count(), 2);
}

#[test]
fn wrong_requests_start_nothing() {
    let started = agent(&[]);
    let unknown = "mcpr_0190fed0000070008000000000000001_2";
    for (body, status, parameter, expected) in [
        (json!({"model": "fame", "input": "x"}), 404, "model", "did you mean"),
        (json!({"input": ""}), 400, "input", "must end with"),
        (json!({"input": "x", "tools": [{"type": "function", "name": "f"}]}), 400, "tools[0]", "its own tools"),
        (json!({"input": "x", "tools": [{"type": "mcp", "server_label": "other"}]}), 400, "tools", "\"other\""),
        (json!({"input": "x", "previous_response_id": "resp_7"}), 400, "previous_response_id", "resp_7"),
        (
            json!({"input": [{"type": "mcp_approval_response", "approval_request_id": unknown, "approve": true}]}),
            400,
            "input",
            unknown,
        ),
        (
            json!({"input": [{"type": "mcp_approval_response", "approval_request_id": "x", "approve": true}]}),
            400,
            "input",
            "\"x\"",
        ),
    ] {
        let answer = ask(&started, &body);
        let found = answer.status;
        let error = answer.json()["error"].clone();
        assert_eq!((found, error["param"].as_str()), (status, Some(parameter)), "{body}: {error}");
        assert!(error["message"].as_str().unwrap().contains(expected), "{body}: {error}");
    }
    assert_eq!(get(started.proxy.address, "/v1/runs", &[]).json()["data"], json!([]));
    let own =
        json!({"input": "x", "tools": [{"type": "mcp", "server_label": "claude-code", "server_url": "http://x"}]});
    assert_eq!(ask(&started, &own).status, 200);
}

#[test]
fn the_model_decides_who_answers() {
    let model = Model::with_script(Vec::new());
    let lab = format!(
        "[[upstream]]\nname = \"lab\"\nkind = \"responses\"\nurl = \"http://{}/v1\"\nauthorization = \"passthrough\"\n\
         max_request_bytes = 100000\n",
        model.address
    );
    let started = agent_with(&lab, &[("FRAMEGATE__PROMPTS__MAX_REQUEST_BYTES", "50000")]);
    let runner = |answer: Answer| {
        let body = ok(answer);
        body["metadata"]["runner"].as_str().unwrap_or("none").to_owned()
    };
    assert_eq!(runner(ask(&started, &json!({"input": "hello"}))), "claude-code");
    let passed = |path: &str, body: &Value| {
        let answer = post(started.proxy.address, path, &[], body.to_string().as_bytes());
        let status = answer.status;
        (status, answer.text())
    };
    let (status, text) = passed(PATH, &json!({"model": "gpt", "input": "hello", "stream": true}));
    assert!(status == 200 && text.contains("\"resp_1\"") && text.contains("A title"), "{text}");
    let (_, text) = passed("/v1/responses?upstream=lab", &json!({"model": "fake", "input": "hello", "stream": true}));
    assert!(text.contains("A title"), "{text}");
    // A body that is not JSON is the upstream's to refuse.
    assert!(passed(PATH, &json!("x".repeat(1000))).1.contains("A title"));
    assert_eq!(passed(PATH, &json!({"model": "gpt", "input": "x".repeat(100_000)})).0, 413);
    // A request for the agent that is too large for it does not go to the server.
    let (status, text) = passed(PATH, &json!({"model": "fake", "input": "x".repeat(60_000)}));
    assert!(status == 413 && text.contains("framegate_error"), "{text}");
    let runs = get(started.proxy.address, "/v1/runs?runner=claude-code", &[]).json();
    assert_eq!(runs["data"].as_array().unwrap().len(), 1);
    assert_eq!(at(&started, "resp_1", "").text(), "{}", "the upstream answers");
}
