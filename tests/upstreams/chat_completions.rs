//! Conversations with a coding agent over the Chat Completions API.

use crate::client::{Answer, get, post};
use crate::started::{PATIENCE, Started};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PATH: &str = "/v1/chat/completions";

/// A proxy with the upstream `fake`, an agent that counts the prompts of each session.
pub fn agent(settings: &[(&str, &str)]) -> Started {
    agent_with("", settings)
}

/// The same, with more in the configuration.
pub fn agent_with(more: &str, settings: &[(&str, &str)]) -> Started {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/upstreams/fake/agent.sh");
    let table = format!(
        "[[upstream]]\nname = \"fake\"\nkind = \"command\"\npreset = \"claude-code\"\nprogram = \"{program}\"\n\
         directories = [\"{{folder}}\"]\n{more}\n"
    );
    Started::with(&table, settings)
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn assistant(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

impl Started {
    fn chat_with(&self, headers: &[(&str, &str)], body: &Value) -> Answer {
        post(self.proxy.address, PATH, headers, body.to_string().as_bytes())
    }

    fn chat(&self, messages: &[Value]) -> Answer {
        self.chat_with(&[], &json!({"model": "fake", "messages": messages}))
    }

    /// The answer to a conversation, the session and the run.
    fn said(&self, messages: &[Value]) -> (String, String, String) {
        let answer = self.chat(messages);
        let (session, run) = (answer.header("framegate-session").to_owned(), answer.header("framegate-run").to_owned());
        let status = answer.status;
        let body = answer.json();
        assert_eq!(status, 200, "{body:#}");
        (body["choices"][0]["message"]["content"].as_str().unwrap().to_owned(), session, run)
    }

    pub fn run_ids(&self) -> Vec<String> {
        let runs = get(self.proxy.address, "/v1/runs", &[]).json();
        let ids = runs["data"].as_array().unwrap().iter().map(|run| run["run_id"].as_str().unwrap().to_owned());
        ids.collect()
    }

    /// Waits until this many runs exist; returns the newest.
    pub fn newest_of(&self, count: usize) -> String {
        let begin = Instant::now();
        loop {
            let runs = self.run_ids();
            if runs.len() >= count {
                return runs[0].clone();
            }
            assert!(begin.elapsed() < PATIENCE, "{runs:?}\n{}", self.folder.read("log"));
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn a_completion_is_the_whole_run() {
    let started = agent(&[]);
    let body =
        json!({"model": "fake/opus", "messages": [user("secretly")], "temperature": 0.5, "seed": 7, "user": "me"});
    let answer = started.chat_with(&[], &body);
    assert_eq!(answer.header("framegate-ignored-parameters"), "seed, temperature");
    let run = answer.header("framegate-run").to_owned();
    let completion = answer.json();
    let expected = json!({
        "id": format!("chatcmpl-{}", run.replace('-', "")),
        "object": "chat.completion",
        "created": completion["created"],
        "model": "opus",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "Answer 1.", "refusal": null,
            "reasoning_content": "I wonder."}, "logprobs": null, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 15, "completion_tokens": 2, "total_tokens": 17,
            "prompt_tokens_details": {"cached_tokens": 5}, "cost": 0.5},
    });
    assert_eq!(completion, expected);
    assert!(completion["created"].as_u64().unwrap() > 1_700_000_000);
    // The same run is there in every other contract.
    let events = started.events(&run, "sse.v1");
    assert_eq!(events.last().unwrap()["type"], "run_completed");
}

#[test]
fn chunks_end_with_done_and_have_the_usage_only_on_request() {
    let started = agent(&[]);
    for (include_usage, last) in [(false, "\"finish_reason\":\"stop\""), (true, "\"usage\":{\"prompt_tokens\":15")] {
        let options = json!({"include_usage": include_usage});
        let body = json!({"model": "fake", "messages": [user(&format!("go {include_usage}"))], "stream": true,
            "stream_options": options});
        let answer = started.chat_with(&[], &body);
        assert!(answer.header("content-type").starts_with("text/event-stream"), "{}", answer.header("content-type"));
        let text = answer.text();
        assert!(!text.contains("retry:"), "{text}");
        let data: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
        let [chunks @ .., done] = data.as_slice() else { panic!("{text}") };
        assert_eq!(*done, "[DONE]");
        assert!(chunks.last().unwrap().contains(last), "{text}");
        let content: String = chunks
            .iter()
            .map(|chunk| serde_json::from_str::<Value>(chunk).unwrap())
            .map(|chunk| chunk["choices"][0]["delta"]["content"].as_str().unwrap_or_default().to_owned())
            .collect();
        assert_eq!(content, "Answer 1.");
        assert_eq!(text.contains("\"choices\":[]"), include_usage);
    }
}

#[test]
fn a_conversation_continues_its_session() {
    let started = agent(&[]);
    let system = json!({"role": "system", "content": "Be brief."});
    let (one, session, _) = started.said(&[system.clone(), user("hello")]);
    assert_eq!(one, "Answer 1.");
    // Clients trim and reflow answers.
    let (two, same, run) = started.said(&[system, user("hello"), assistant(" Answer\n1. "), user("more")]);
    assert_eq!((two.as_str(), &same), ("Answer 2.", &session));
    // Another conversation that begins with the same words is another session.
    let (_, other, _) = started.said(&[user("hello")]);
    assert_ne!(other, session);
    let (three, same, _) =
        started.said(&[user("hello"), assistant("Answer 1."), user("more"), assistant("Answer 2."), user("and more")]);
    assert_eq!((three.as_str(), &same), ("Answer 3.", &session));
    // The session has moved on: another answer to an earlier prompt is wanted. The other session has the same conversation so far.
    let regenerated = [user("hello"), assistant("Answer 1."), user("more")];
    let (again, same, _) = started.said(&regenerated);
    assert_eq!((again.as_str(), &same), ("Answer 2.", &other));
    // Now no session has it, so the prompt of a new one contains the conversation.
    let (again, branch, _) = started.said(&regenerated);
    assert_eq!(again, "Answer 1.");
    assert!(branch != session && branch != other);
    // So it is if the client changed an answer.
    let (_, changed, _) = started.said(&[user("hello"), assistant("Never said."), user("x")]);
    assert!(![&session, &other, &branch].contains(&&changed));
    let prompts = started.folder.read("prompts");
    let prompts: Vec<&str> = prompts.lines().map(|line| line.split_once(r#""text":""#).unwrap().1).collect();
    let expected = [
        r"Be brief.\n\nhello",
        "more",
        "hello",
        "and more",
        "more",
        r"The conversation so far:\n\nUser:\nhello\n\nAssistant:\nAnswer 1.\n\nAnswer the user's next message:\n\nmore",
        r"The conversation so far:\n\nUser:\nhello\n\nAssistant:\nNever said.\n\nAnswer the user's next message:\n\nx",
    ];
    assert_eq!(prompts.len(), expected.len());
    for (prompt, expected) in prompts.iter().zip(expected) {
        assert!(prompt.starts_with(&format!("{expected}\"")), "{prompt}");
    }
    assert_eq!(started.status(&run)["session_id"], session.as_str());
}

#[test]
fn a_header_names_the_session() {
    let started = agent(&[]);
    let (_, session, run) = started.said(&[user("hello")]);
    let name = started.status(&run)["session_name"].as_str().unwrap().to_owned();
    for (nth, session_as) in [(2, &session), (3, &name)] {
        let body = json!({"model": "fake", "messages": [user("continue")]});
        let answer = started.chat_with(&[("framegate-session", session_as)], &body);
        assert_eq!(answer.header("framegate-session"), session);
        assert_eq!(answer.json()["choices"][0]["message"]["content"], format!("Answer {nth}."));
    }
    let wrong = started.chat_with(&[("framegate-session", " ")], &json!({"model": "fake", "messages": [user("x")]}));
    assert_eq!(wrong.status, 400);
}

#[test]
fn a_request_that_is_sent_again_starts_nothing() {
    let started = agent(&[]);
    let body = json!({"model": "fake", "messages": [user("slowly")]});
    let answers: Vec<(String, String)> = std::thread::scope(|scope| {
        let ask = || {
            let answer = started.chat_with(&[], &body);
            assert_eq!(answer.status, 200);
            let replayed = if answer.header("idempotency-replayed") == "true" { "replayed" } else { "new" };
            (answer.header("framegate-run").to_owned(), format!("{replayed} {}", answer.text().contains("Answer 1.")))
        };
        let asking: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        started.newest_of(1);
        started.folder.write("end", "");
        asking.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    let runs = started.run_ids();
    assert_eq!(runs.len(), 1);
    assert!(answers.iter().all(|(run, _)| *run == runs[0]), "{answers:?}");
    let mut outcomes: Vec<&str> = answers.iter().map(|(_, outcome)| outcome.as_str()).collect();
    outcomes.sort_unstable();
    assert_eq!(outcomes, ["new true", "replayed true", "replayed true", "replayed true"]);
    // After the end too, as a stream, if the client says that it tries again.
    let streamed = json!({"model": "fake", "messages": [user("slowly")], "stream": true});
    let again = started.chat_with(&[("x-stainless-retry-count", "1")], &streamed);
    assert_eq!((again.header("framegate-run"), again.header("idempotency-replayed")), (runs[0].as_str(), "true"));
    // A key makes the same words another prompt.
    let keyed = |key: &str, body: &Value| {
        let answer = started.chat_with(&[("idempotency-key", key)], body);
        (answer.status, answer.header("framegate-run").to_owned())
    };
    let first = keyed("one", &body);
    assert_eq!((first.0, first.1 != runs[0]), (200, true));
    assert_eq!(keyed("one", &body), first);
    assert_ne!(keyed("two", &body).1, first.1);
    assert_eq!(keyed("one", &json!({"model": "fake", "messages": [user("else")]})).0, 422);
    assert_eq!(started.run_ids().len(), 3);
    // So do runs that are started otherwise.
    let order = json!({"upstream": "fake", "prompt": "go"});
    let start = || {
        let answer =
            post(started.proxy.address, "/v1/runs", &[("idempotency-key", "one")], order.to_string().as_bytes());
        (answer.status, answer.json()["run_id"].clone())
    };
    let (created, repeated) = (start(), start());
    assert_eq!((created.0, repeated.0), (201, 200));
    assert_eq!(created.1, repeated.1);
    assert_eq!(started.run_ids().len(), 4);
    // The answer was delivered, so the same words are another prompt.
    assert_ne!(started.chat_with(&[], &body).header("framegate-run"), runs[0]);
    assert_eq!(started.run_ids().len(), 5);
}

#[test]
fn an_answer_that_was_not_delivered_is_sent_again() {
    // The proxy notices that a client has left when it sends something.
    let started = agent(&[("FRAMEGATE__SERVER__HEARTBEAT_MS", "100")]);
    let body = json!({"model": "fake", "messages": [user("slowly")], "stream": true});
    let mut first = started.chat_with(&[], &body);
    let run = first.header("framegate-run").to_owned();
    while !first.line().unwrap().contains("I am at it.") {}
    drop(first);
    let begin = Instant::now();
    let is_open = |line: &str| line.starts_with("framegate_clients{") && !line.ends_with(" 0");
    while get(started.proxy.address, "/metrics", &[]).text().lines().any(is_open) {
        assert!(begin.elapsed() < PATIENCE, "the stream of the client that left stays open");
        std::thread::sleep(Duration::from_millis(20));
    }
    started.folder.write("end", "");
    started.wait_for_end(&run);
    let again = started.chat_with(&[], &body);
    assert_eq!(again.header("framegate-run"), run);
    assert!(again.text().contains("Answer 1."));
    // Two people behind one token are not one.
    let of = |name: &str| json!({"model": "fake", "messages": [user("slowly")], "user": name});
    let (one, two) = (started.chat_with(&[], &of("one")), started.chat_with(&[], &of("two")));
    assert_ne!(one.header("framegate-run"), two.header("framegate-run"));
}

#[test]
fn a_prompt_for_a_session_at_work_is_refused_and_the_run_goes_on_without_its_client() {
    let started = agent(&[]);
    let body = json!({"model": "fake", "messages": [user("slowly")], "stream": true});
    let mut first = started.chat_with(&[], &body);
    let run = first.header("framegate-run").to_owned();
    while !first.line().unwrap().contains("I am at it.") {}
    drop(first);
    let next = started.chat(&[user("slowly"), assistant("I am at"), user("and now?")]);
    assert_eq!(next.status, 409);
    let error = next.json()["error"].clone();
    assert_eq!(error["code"], "conflict");
    assert!(error["message"].as_str().unwrap().contains(&run), "{error}");
    let session = started.status(&run)["session_id"].as_str().unwrap().to_owned();
    let other = json!({"model": "fake", "messages": [user("other")]});
    assert_eq!(started.chat_with(&[("framegate-session", &session)], &other).status, 409);
    started.folder.write("end", "");
    assert_eq!(started.wait_for_end(&run)["state"], "completed");
    let (answer, same, _) = started.said(&[user("slowly"), assistant("I am at"), user("and now?")]);
    assert_eq!((answer.as_str(), same), ("Answer 2.", session));
}

#[test]
fn errors_have_the_form_of_the_api() {
    let started = agent(&[("FRAMEGATE__PROMPTS__MAX_REQUEST_BYTES", "2000")]);
    let error = |body: &Value| {
        let answer = started.chat_with(&[], body);
        let status = answer.status;
        let error = answer.json()["error"].clone();
        (
            status,
            error["code"].as_str().unwrap().to_owned(),
            error["param"].clone(),
            error["message"].as_str().unwrap().to_owned(),
        )
    };
    let messages = [user("x")];
    let cases = [
        (
            json!({"model": "fale", "messages": messages}),
            404,
            "model_not_found",
            json!("model"),
            "did you mean \"fake\"",
        ),
        (json!({"model": "fake/", "messages": messages}), 404, "model_not_found", json!("model"), "followed by /"),
        (json!({"model": "fake", "messages": [user(" ")]}), 400, "bad_request", json!("messages"), "the user's"),
        (json!({"model": "fake", "messages": messages, "n": 3}), 400, "bad_request", json!("n"), "must be 1"),
        (json!({"model": "fake/-rm", "messages": messages}), 422, "not_possible", Value::Null, "model"),
        (
            json!({"model": "fake", "messages": [user(&"x".repeat(3000))]}),
            413,
            "request_too_large",
            Value::Null,
            "too large",
        ),
    ];
    for (body, status, code, parameter, message) in cases {
        let found = error(&body);
        assert_eq!((found.0, found.1.as_str(), &found.2), (status, code, &parameter), "{}", found.3);
        assert!(found.3.contains(message), "{}", found.3);
    }
    assert!(started.run_ids().is_empty());
    // At the limit, and one byte over it.
    let of_size = |size: usize| {
        let empty = json!({"model": "fake", "messages": [user("")]}).to_string().len();
        json!({"model": "fake", "messages": [user(&"x".repeat(size - empty))]})
    };
    assert_eq!((started.chat_with(&[], &of_size(2000)).status, error(&of_size(2001)).0), (200, 413));
    assert_eq!(get(started.proxy.address, PATH, &[]).status, 405);
    // A run that failed took place: an SDK must not start it again by itself.
    let failed = started.chat(&[user("badly")]);
    assert_eq!((failed.status, failed.header("x-should-retry")), (502, "false"));
    let message = failed.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("it broke"), "{message}");
    let streamed = json!({"model": "fake", "messages": [user("badly")], "stream": true});
    let text = started.chat_with(&[], &streamed).text();
    assert!(text.contains("\"error\":{\"message\":\"it broke\"") && text.ends_with("data: [DONE]\n\n"), "{text}");
}

#[test]
fn a_client_has_a_limited_number_of_open_runs() {
    let started = agent(&[("FRAMEGATE__LIMITS__MAX_STARTED_RUNS_PER_CLIENT", "1")]);
    let body = json!({"model": "fake", "messages": [user("slowly")], "stream": true});
    let first = started.chat_with(&[], &body);
    assert_eq!(first.status, 200);
    let refused = started.chat(&[user("another")]);
    assert_eq!(refused.status, 429);
    assert!(refused.header("retry-after").parse::<u32>().unwrap() > 0);
    assert!(refused.json()["error"]["message"].as_str().unwrap().contains("limits.max_started_runs_per_client"));
    let order = json!({"upstream": "fake", "prompt": "go"});
    assert_eq!(started.start(&order).status, 429, "the limit is the same on every path");
    started.folder.write("end", "");
    assert!(first.text().contains("Answer 1."));
    let begin = Instant::now();
    while started.chat(&[user("another")]).status == 429 {
        assert!(begin.elapsed() < PATIENCE, "the place is not released");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn upstreams_are_models() {
    let started = agent(&[]);
    let list = get(started.proxy.address, "/v1/models", &[]).json();
    let fake = json!({"id": "fake", "object": "model", "created": 0, "owned_by": "claude-code"});
    assert_eq!(list, json!({"object": "list", "data": [fake]}));
    assert_eq!(get(started.proxy.address, "/v1/models/fake", &[]).json(), fake);
    assert_eq!(get(started.proxy.address, "/v1/models/fake%2Fopus", &[]).json()["id"], "fake/opus");
    let unknown = get(started.proxy.address, "/v1/models/fame", &[]);
    assert_eq!((unknown.status, unknown.json()["error"]["code"].as_str()), (404, Some("model_not_found")));
}

/// What a client says about a conversation with the agent, one JSON object a line.
pub fn read_by(command: Command, started: &Started) -> Vec<Value> {
    let release = started.folder.path("end");
    read_with(command, &json!({"base_url": format!("http://{}/v1", started.proxy.address), "release": release}))
}

/// The same, of a client with this plan.
pub fn read_with(mut command: Command, plan: &Value) -> Vec<Value> {
    command.arg(plan.to_string()).stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.env("NO_PROXY", "*").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "the client failed: {}\n{text}", output.status);
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// Answers the question of each of these runs, which are counted from 1 as they begin.
pub fn answer_as_another_client(started: &Started, answers: [(usize, &str); 2]) {
    for (nth, decision) in answers {
        let run = started.newest_of(nth);
        let waits = |status: &Value| !status["pending_approvals"].as_array().unwrap().is_empty();
        let status = started.wait_for(&run, "no question", waits);
        let approval = status["pending_approvals"][0].as_str().unwrap();
        let path = format!("/v1/runs/{run}/approvals/{approval}");
        let body = json!({"decision": decision}).to_string();
        assert_eq!(post(started.proxy.address, &path, &[], body.as_bytes()).status, 200);
    }
}

/// A conversation with the `openai` package: whole, streamed, streamed with an allowed and with a denied call; an interrupt; errors.
fn hold_a_conversation(command: Command) {
    let started = agent(&[]);
    let said = std::thread::scope(|scope| {
        scope.spawn(|| answer_as_another_client(&started, [(3, "approved"), (4, "rejected")]));
        read_by(command, &started)
    });
    let question = |nth: u32| format!("Bash waits for approval ask-{nth}: touch file");
    assert_eq!(
        said,
        [
            json!({"models": ["fake"]}),
            json!({"content": "Answer 1.", "reasoning": "I wonder.", "finish_reason": "stop", "total_tokens": 17}),
            json!({"content": "Answer 2.", "finish_reason": "stop", "total_tokens": 17, "work": []}),
            json!({"content": "Answer 3.", "finish_reason": "stop", "total_tokens": 17,
                "work": [question(3), "Approval ask-3: approved by anonymous"]}),
            json!({"content": "Answer 4.", "finish_reason": "stop", "total_tokens": 17,
                "work": [question(4), "Approval ask-4: rejected by anonymous"]}),
            json!({"interrupted": "I am at it.", "code": "interrupted"}),
            json!({"content": "Answer 2."}),
            json!({"error": "NotFoundError", "code": "model_not_found", "param": "model"}),
            json!({"error": "BadRequestError", "code": "bad_request", "param": "tools"}),
            json!({"error": "APIError", "message": "it broke"}),
        ]
    );
    assert_eq!(started.run_ids().len(), 7, "no request may start a second run");
    assert!(started.folder.read("answers").contains("allow"));
}

pub fn client(script: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(script)
}

#[test]
#[ignore = "needs node and tests/clients/node_modules: ./test.sh runs it"]
fn npm_openai_holds_a_conversation() {
    let mut command = Command::new("node");
    command.arg(client("chat_conversation.mjs"));
    hold_a_conversation(command);
}

#[test]
#[ignore = "needs python3 and tests/clients/python_modules: ./test.sh runs it"]
fn python_openai_holds_a_conversation() {
    let mut command = Command::new("python3");
    command.arg(client("chat_conversation.py")).env("PYTHONPATH", client("python_modules"));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    hold_a_conversation(command);
}
