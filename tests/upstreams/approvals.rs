//! Approval requests of runners: which clients are asked, which may answer, and what all readers receive.

use crate::client::{Answer, get, post};
use crate::proxy::Proxy;
use crate::started::Started;
use serde_json::{Value, json};

/// An upstream with a fake of Claude Code's protocol, which plays the scenario `play`.
pub fn claude(play: &str, more: &str) -> Started {
    Started::with(&claude_table(play, more), &[("FRAMEGATE__TELEMETRY__FILTER", "info")])
}

pub fn claude_table(play: &str, more: &str) -> String {
    format!(
        "{more}\n[[upstream]]\nname = \"fake\"\nkind = \"command\"\npreset = \"claude-code\"\n\
         program = \"{{folder}}/../{{fakes}}/claude.sh\"\ndirectories = [\"{{folder}}\"]\n\
         environment = {{ PLAY = \"{play}\", SECRET = \"{SECRET}\" }}\nlinger_ms = 60000\ninterrupt_grace_ms = 20000\n"
    )
    .replace("{folder}/../{fakes}", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/upstreams/fake"))
}

pub const SECRET: &str = "ghp_a1B2c3D4a1B2c3D4a1B2c3D4a1B2c3D4a1B2";

impl Started {
    pub fn answer(&self, run: &str, id: &str, answer: &Value) -> Answer {
        let path = format!("/v1/runs/{run}/approvals/{id}");
        post(self.proxy.address, &path, &[("content-type", "application/json")], answer.to_string().as_bytes())
    }

    pub fn decide(&self, run: &str, id: &str, decision: &str) -> u16 {
        self.answer(run, id, &json!({"decision": decision})).status
    }

    /// Waits until a request is pending, and returns the run's status.
    pub fn wait_for_question(&self, run: &str, id: &str) -> Value {
        self.wait_for(run, id, |status| status["pending_approvals"].as_array().unwrap().contains(&json!(id)))
    }

    pub fn decisions(&self, run: &str) -> Vec<String> {
        let frames = self.events(run, "frames.v2");
        let lines = frames.iter().filter(|frame| frame["type"] == "approval_resolved").map(|frame| {
            let word = |key: &str| frame[key].as_str().unwrap_or("-").to_owned();
            format!("{} {} by {}: {}", word("approval_id"), word("decision"), word("by"), word("reason"))
        });
        lines.collect()
    }
}

#[test]
fn approvals_and_denials_appear_in_every_contract() {
    let started = claude("two", "");
    let run = started.run();
    let status = started.wait_for_question(&run, "ask-one");
    assert_eq!(status["state"], "waiting_approval");
    let listed = &status["approvals"][0];
    assert_eq!((&listed["tool_name"], &listed["reason"]), (&json!("Bash"), &json!("it writes")), "{listed}");

    assert_eq!(started.decide(&run, "unknown", "approved"), 404);
    assert_eq!(started.answer(&run, "ask-one", &json!({"decision": "perhaps"})).status, 400);
    assert_eq!(started.answer(&run, "ask-one", &json!({"decision": "approved", "scope": "always"})).status, 422);
    let answer = started.answer(&run, "ask-one", &json!({"decision": "approved", "reason": "fine"}));
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["by"], "anonymous");
    started.wait_for_question(&run, "ask-two");
    assert_eq!(started.decide(&run, "ask-one", "rejected"), 409, "it is already answered");
    let answer = started.answer(&run, "ask-two", &json!({"decision": "deny", "reason": "not that one"}));
    assert_eq!(answer.status, 200);
    let status = started.wait_for_end(&run);
    assert_eq!((&status["state"], &status["approvals"]), (&json!("completed"), &json!([])), "{status}");
    assert_eq!(started.decide(&run, "ask-two", "approved"), 409, "the run has ended");
    assert_eq!(
        started.decisions(&run),
        ["ask-one approved by anonymous: fine", "ask-two rejected by anonymous: not that one"]
    );
    for (contract, words) in [
        ("sse.v1", ["tool_call_proposed", "tool_call_rejected"]),
        ("hecate.v1", ["approval.requested", "approval.resolved"]),
        ("pixir.v1", ["permission", "permission"]),
    ] {
        let events = started.events(&run, contract);
        let text = serde_json::to_string(&events).unwrap();
        for word in words {
            assert!(text.contains(word), "{contract} has no {word}: {text}");
        }
    }
    // The runner gets its original text back, although every reader sees it redacted.
    let answers = started.folder.read("answers");
    assert!(answers.contains(SECRET), "{answers}");
    let frames = serde_json::to_string(&started.events(&run, "frames.v2")).unwrap();
    assert!(!frames.contains(SECRET) && frames.contains("[REDACTED:"), "{frames}");
    assert!(!started.folder.read("log").contains(SECRET));
}

#[test]
fn pending_requests_are_repeated_to_late_readers() {
    let started = claude("two", "");
    let run = started.run();
    started.wait_for_question(&run, "ask-one");
    let address = started.proxy.address;
    for contract in ["frames.v2", "sse.v1", "hecate.v1"] {
        let path = format!("/v1/runs/{run}/events?contract={contract}");
        // Reads up to the request, and reconnects with the cursor of the last event so far.
        let mut stream = get(address, &path, &[("accept", "text/event-stream")]);
        let words = ["\"approval_requested\"", "\"tool_call_proposed\"", "\"approval.requested\""];
        let is_question = |data: &str| data.contains("ask-one") && words.iter().any(|word| data.contains(word));
        let question = std::iter::from_fn(|| stream.event()).find(|event| is_question(&event.data)).unwrap();
        let last = question.id.clone().unwrap_or_default();
        let mut again = get(address, &path, &[("accept", "text/event-stream"), ("last-event-id", &last)]);
        let repeated = again.event().unwrap();
        assert_eq!(repeated.data, question.data, "{contract}");
        assert_eq!(repeated.id, None, "{contract}: the cursor must not move");
        let lines = get(
            address,
            &format!("{path}&after={}", if last.parse::<u64>().is_ok() { "1000000" } else { &last }),
            &[("accept", "application/x-ndjson")],
        )
        .line();
        assert_eq!(lines.as_deref(), Some(question.data.as_str()), "{contract}");
        // A reader from the start gets no event twice.
        let mut whole = get(address, &path, &[("accept", "text/event-stream")]);
        let before = std::iter::from_fn(|| whole.event()).take_while(|event| event.data != question.data).count();
        assert!(before > 0, "{contract}");
    }
    for path in ["/v1/events?contract=frames.v2&after=latest", "/hecate/v1/events/stream?after=latest"] {
        let mut feed = get(address, path, &[("accept", "text/event-stream")]);
        let first = feed.event().unwrap();
        assert!(first.data.contains("ask-one") && first.id.is_none(), "{path}: {first:?}");
    }
    let mut filtered = get(
        address,
        "/v1/events?contract=frames.v2&after=latest&event_type=approval_resolved",
        &[("accept", "text/event-stream")],
    );
    assert_eq!(started.decide(&run, "ask-one", "approved"), 200);
    let first = filtered.event().unwrap();
    assert!(first.data.contains("approval_resolved") && first.id.is_some(), "{first:?}");
    // A request that has been answered is not repeated.
    started.wait_for_question(&run, "ask-two");
    let path = format!("/v1/runs/{run}/events?contract=frames.v2&after=1000000");
    let mut late = get(address, &path, &[("accept", "text/event-stream")]);
    assert!(late.event().unwrap().data.contains("ask-two"));
    started.decide(&run, "ask-two", "rejected");
    started.wait_for_end(&run);
}

#[test]
fn only_one_of_several_concurrent_answers_counts() {
    let started = claude("many", "");
    let run = started.run();
    for nth in 1..=3 {
        started.wait_for_question(&run, &format!("ask-{nth}"));
    }
    for nth in 1..=3 {
        let id = format!("ask-{nth}");
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let (started, run, id) = (&started, &run, &id);
            let asked: Vec<_> = (0..8)
                .map(|who| {
                    let decision = if who % 2 == 0 { "approved" } else { "rejected" };
                    scope.spawn(move || started.decide(run, id, decision))
                })
                .collect();
            asked.into_iter().map(|one| one.join().unwrap()).collect()
        });
        let counted = statuses.iter().filter(|status| **status == 200).count();
        assert_eq!(counted, 1, "{statuses:?}");
        assert!(statuses.iter().all(|status| matches!(status, 200 | 409)), "{statuses:?}");
    }
    started.wait_for_end(&run);
    assert_eq!(started.folder.read("answers").lines().count(), 3, "the runner must get one answer to each request");
    assert_eq!(started.decisions(&run).len(), 3);
}

#[test]
fn rules_decide_before_clients_and_timeouts_after_them() {
    let rules = "[[approvals.rule]]\nname = \"touching\"\nupstream = \"fake\"\ntool = \"Bash\"\n\
                 arguments = { command = \"touch [a-z]+\" }\ndecision = \"allow\"\n\
                 [[approvals.rule]]\nname = \"elsewhere\"\nupstream = \"other\"\ndecision = \"deny\"\n";
    let started = claude("two", &format!("[approvals]\ntimeout_ms = 1000\n{rules}"));
    let run = started.run();
    started.wait_for_end(&run);
    assert_eq!(
        started.decisions(&run),
        ["ask-one approved by rule:touching: -", "ask-two timed_out by policy:timeout: nobody answered within 1000 ms"]
    );
    let answers = started.folder.read("answers");
    assert!(answers.contains("nobody answered within 1000 ms"), "the model must get the reason: {answers}");
    let hecate = serde_json::to_string(&started.events(&run, "hecate.v1")).unwrap();
    assert!(hecate.contains("approval.timed_out"), "{hecate}");

    let started = claude("two", "[approvals]\ntimeout_ms = 1000\nunanswered = \"allow\"");
    let run = started.run();
    started.wait_for_end(&run);
    let decisions = started.decisions(&run);
    assert!(decisions.iter().all(|line| line.contains("approved by policy:timeout")), "{decisions:?}");
}

#[test]
fn rules_never_answer_a_question_with_choices() {
    let rules = "[approvals]\nunanswered = \"allow\"\n[[approvals.rule]]\ndecision = \"allow\"\n";
    let started = claude("question", rules);
    let run = started.run();
    started.wait_for_question(&run, "ask-one");
    let answer = started.answer(&run, "ask-one", &json!({"decision": "approved"}));
    assert_eq!(answer.status, 422);
    assert!(answer.json()["detail"].as_str().unwrap().contains("`answers`"));
    let answer = started.answer(&run, "ask-one", &json!({"decision": "approved", "answers": ["Blue"]}));
    assert_eq!(answer.status, 200);
    started.wait_for_end(&run);
    let answers = started.folder.read("answers");
    assert!(answers.contains(r#""answers":{"Which?":"Blue"}"#), "{answers}");
    assert_eq!(started.decisions(&run), ["ask-one approved by anonymous: Blue"]);
}

#[test]
fn withdrawn_and_abandoned_requests_accept_no_answer() {
    let started = claude("withdraws", "");
    let run = started.run();
    started.wait_for_question(&run, "ask-one");
    started.folder.write("withdraw", "");
    started.wait_for(&run, "the request is not withdrawn", |status| status["approvals"] == json!([]));
    assert_eq!(started.decide(&run, "ask-one", "approved"), 409);
    started.folder.write("leave", "");
    started.wait_for_end(&run);
    assert_eq!(started.decisions(&run), ["ask-one cancelled by -: -"]);

    let started = claude("leaves", "");
    let run = started.run();
    started.wait_for_question(&run, "ask-one");
    started.folder.write("leave", "");
    let status = started.wait_for_end(&run);
    assert_eq!(status["approvals"], json!([]));
    assert_eq!(started.decide(&run, "ask-one", "approved"), 409);
    let decisions = started.decisions(&run);
    assert_eq!(decisions.len(), 1);
    assert!(decisions[0].starts_with("ask-one cancelled by -"), "{decisions:?}");
}

#[test]
fn an_answer_that_does_not_reach_the_runner_does_not_count() {
    let started = claude("closed", "");
    let run = started.run();
    started.wait_for_question(&run, "ask-one");
    assert_eq!(started.decide(&run, "ask-one", "approved"), 502);
    assert_eq!(started.status(&run)["pending_approvals"], json!(["ask-one"]), "the request must stay open");
    started.folder.write("leave", "");
    started.wait_for_end(&run);
    assert!(started.decisions(&run)[0].starts_with("ask-one cancelled"));
}

#[test]
fn a_run_is_interrupted_through_the_protocol_and_its_session_continues() {
    let started = claude("long", "");
    let run = started.run();
    let address = started.proxy.address;
    let interrupt = |run: &str| post(address, &format!("/v1/runs/{run}/interrupt"), &[], b"").status;
    assert_eq!(interrupt(&run), 202);
    let status = started.wait_for_end(&run);
    assert_eq!(status["state"], "interrupted", "{status}");
    assert!(status["message"].as_str().unwrap().ends_with(" interrupted the run"), "{status}");
    assert_eq!(interrupt(&run), 409, "the run has ended");
    let session = status["session_id"].as_str().unwrap();
    let message = |session: &str, body: &Value| {
        post(address, &format!("/v1/sessions/{session}/messages"), &[], body.to_string().as_bytes()).status
    };
    assert_eq!(message(session, &json!({"prompt": ""})), 400);
    assert_eq!(message(session, &json!({"text": "x"})), 400);
    assert_eq!(message("00000000-0000-0000-0000-000000000001", &json!({"prompt": "x"})), 404);
    assert_eq!(message(session, &json!({"prompt": "go on"})), 202);
    let runs = format!("/v1/runs?session_id={session}");
    let begin = std::time::Instant::now();
    let second = loop {
        let list = get(address, &runs, &[]).json();
        let is_new = |status: &&Value| status["run_id"] != json!(run) && status["ended_at_ms"].is_u64();
        if let Some(status) = list["data"].as_array().unwrap().iter().find(is_new) {
            break status.clone();
        }
        assert!(begin.elapsed() < crate::started::PATIENCE, "no second run: {list}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    assert_eq!((&second["state"], &second["final_text"]), (&json!("completed"), &json!("and on it goes")), "{second}");
    let heard = started.folder.read("heard");
    assert!(heard.contains("\"interrupt\"") && heard.contains("go on"), "{heard}");
    // When the runner has exited, the session takes no more messages.
    started.kill("/bin/sh");
    started.wait_for_no_process();
    let begin = std::time::Instant::now();
    while message(session, &json!({"prompt": "x"})) != 409 {
        assert!(begin.elapsed() < crate::started::PATIENCE, "the session still accepts messages");
    }
}

#[test]
fn codex_requests_approval_and_can_be_interrupted() {
    let table = claude_table("", "").replace("claude-code", "codex-app-server").replace("claude.sh", "codex.sh");
    let started = Started::with(&table, &[]);
    let run = started.run();
    started.wait_for_question(&run, "request-0");
    assert_eq!(started.decide(&run, "request-0", "approved"), 200);
    started.wait_for_question(&run, "request-1");
    assert_eq!(started.decide(&run, "request-1", "rejected"), 200);
    started.wait_for(&run, "the run does not continue", |status| status["state"] == "running");
    assert_eq!(post(started.proxy.address, &format!("/v1/runs/{run}/interrupt"), &[], b"").status, 202);
    assert_eq!(started.wait_for_end(&run)["state"], "interrupted");
    let decisions = started.decisions(&run);
    assert_eq!(decisions, ["request-0 approved by anonymous: -", "request-1 rejected by anonymous: -"]);
    let frames = serde_json::to_string(&started.events(&run, "frames.v2")).unwrap();
    assert!(frames.contains("tool_ended") && frames.contains("declined"), "{frames}");
}

#[test]
fn a_refusal_by_the_runner_is_quoted() {
    let table = claude_table("refuses", "").replace("claude-code", "codex-app-server").replace("claude.sh", "codex.sh");
    let started = Started::with(&table, &[]);
    let answer = started.start(&json!({"upstream": "fake", "prompt": "x", "session_id": "gone"}));
    assert_eq!(answer.status, 502);
    let detail = answer.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("no rollout found for that thread"), "{detail}");
    started.wait_for_no_process();
}

#[test]
fn answers_need_the_control_scope_and_a_visible_run() {
    let folder = crate::proxy::Folder::new();
    let (control, reader, other) = ("c".repeat(40), "r".repeat(40), "o".repeat(40));
    let mut tokens = String::new();
    for (name, secret, more) in [
        ("hand", &control, "scopes = [\"control\", \"read\"]"),
        ("eye", &reader, "scopes = [\"read\"]"),
        ("stranger", &other, "scopes = [\"control\", \"read\"]\nsessions = [\"somebody-elses\"]"),
    ] {
        let file = folder.write(name, secret);
        tokens.push_str(&format!("[[token]]\nname = \"{name}\"\nfile = \"{file}\"\n{more}\n"));
    }
    let tokens = folder.write("tokens.toml", &tokens);
    let started = Started::with(&claude_table("two", ""), &[("FRAMEGATE__AUTH__TOKENS_FILE", &tokens)]);
    let address = started.proxy.address;
    let with = |secret: &str| format!("Bearer {secret}");
    let order = json!({"upstream": "fake", "prompt": "go"}).to_string();
    let run = post(address, "/v1/runs", &[("authorization", &with(&control))], order.as_bytes()).json();
    let run = run["run_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/runs/{run}/approvals/ask-one");
    let begin = std::time::Instant::now();
    loop {
        let status = get(address, &format!("/v1/runs/{run}"), &[("authorization", &with(&control))]).json();
        if status["state"] == "waiting_approval" {
            break;
        }
        assert!(begin.elapsed() < crate::started::PATIENCE, "{status}");
    }
    let say = |secret: Option<&str>, path: &str| {
        let with = secret.map(with);
        let headers: Vec<(&str, &str)> = with.iter().map(|with| ("authorization", with.as_str())).collect();
        post(address, path, &headers, b"{\"decision\":\"rejected\"}")
    };
    for path in [path.clone(), format!("/v1/runs/{run}/interrupt")] {
        assert_eq!(say(None, &path).status, 401, "{path}");
        assert_eq!(say(Some(&reader), &path).status, 403, "{path}");
        assert_eq!(say(Some(&other), &path).status, 404, "{path}");
    }
    let answer = say(Some(&control), &path);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.json()["by"], "hand");
}

#[test]
fn a_restart_closes_pending_requests() {
    let folder = crate::proxy::Folder::new();
    let log = folder.path("log.db");
    let settings = [("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", log.to_str().unwrap())];
    let started = Started::with(&claude_table("two", ""), &settings);
    let run = started.run();
    started.wait_for_question(&run, "ask-one");
    started.proxy.signal("KILL");
    drop(started);
    let proxy = Proxy::with(&settings);
    let status = get(proxy.address, &format!("/v1/runs/{run}"), &[]).json();
    assert_eq!((&status["state"], &status["approvals"]), (&json!("interrupted"), &json!([])), "{status}");
    let path = format!("/v1/runs/{run}/approvals/ask-one");
    assert_eq!(post(proxy.address, &path, &[], b"{\"decision\":\"approved\"}").status, 409);
    let path = format!("/v1/runs/{run}/events?contract=frames.v2");
    let text = get(proxy.address, &path, &[("accept", "application/x-ndjson")]).text();
    assert!(text.contains("\"approval_resolved\"") && text.contains("\"cancelled\""), "{text}");
}

#[test]
fn an_ingested_run_cannot_be_controlled() {
    let proxy = Proxy::start();
    let mut upload = crate::client::Upload::start(proxy.address, "/v1/ingest/claude-code", &[]);
    upload.send(b"{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}\n");
    let begin = std::time::Instant::now();
    let run = loop {
        let list = get(proxy.address, "/v1/runs", &[]).json();
        if let Some(run) = list["data"][0]["run_id"].as_str() {
            break run.to_owned();
        }
        assert!(begin.elapsed() < crate::started::PATIENCE, "no run");
    };
    let answer = post(proxy.address, &format!("/v1/runs/{run}/interrupt"), &[], b"");
    assert_eq!(answer.status, 409);
    assert!(answer.json()["detail"].as_str().unwrap().contains("the proxy did not start it"));
    assert_eq!(post(proxy.address, "/v1/runs/nonsense/interrupt", &[], b"").status, 400);
    upload.finish();
}

#[test]
fn approvals_and_runs_are_counted_by_upstream() {
    let rules = "[approvals]\ntimeout_ms = 1000\n[[approvals.rule]]\nname = \"touch\"\ntool = \"Bash\"\n\
         arguments = { command = \"touch.*\" }\ndecision = \"allow\"\n";
    let started = claude("two", rules);
    let run = started.run();
    let open = "framegate_upstream_runs_open{upstream=\"fake\"}";
    let by =
        |who: &str| started.metric(&format!("framegate_approvals_answered_total{{by=\"{who}\",upstream=\"fake\"}}"));
    let runs_started = "framegate_upstream_runs_started_total{upstream=\"fake\"}";
    started.wait_for_question(&run, "ask-two");
    assert_eq!((started.metric(runs_started), started.metric(open), by("rule")), (1, 1, 1));
    started.wait_for_end(&run);
    assert_eq!((by("timeout"), by("client"), by("end")), (1, 0, 0));
    assert_eq!(started.metric("framegate_approvals_asked_total{upstream=\"fake\"}"), 2);
    let ended = "framegate_upstream_runs_ended_total{reason=\"completed\",upstream=\"fake\"}";
    assert_eq!((started.metric(ended), started.metric(open)), (1, 0));
    for (play, file, who) in [("withdraws", "withdraw", "end"), ("leaves", "leave", "end"), ("question", "", "client")]
    {
        let started = claude(play, "");
        let run = started.run();
        started.wait_for_question(&run, "ask-one");
        if file.is_empty() {
            let answer = json!({"decision": "approved", "answers": ["Red"]});
            assert_eq!(started.answer(&run, "ask-one", &answer).status, 200);
        } else {
            started.folder.write(file, "");
            started.folder.write("leave", "");
        }
        started.wait_for_end(&run);
        let name = format!("framegate_approvals_answered_total{{by=\"{who}\",upstream=\"fake\"}}");
        let begin = std::time::Instant::now();
        while started.metric(&name) != 1 {
            assert!(begin.elapsed() < crate::started::PATIENCE, "{play}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

#[test]
fn a_secret_in_a_reason_reaches_only_the_runner() {
    let started = claude("two", "");
    let run = started.run();
    started.wait_for_question(&run, "ask-one");
    let reason = format!("with {SECRET} it works");
    let answer = started.answer(&run, "ask-one", &json!({"decision": "rejected", "reason": reason}));
    assert_eq!(answer.status, 200);
    started.wait_for_question(&run, "ask-two");
    assert_eq!(started.decide(&run, "ask-two", "approved"), 200);
    started.wait_for_end(&run);
    assert!(started.folder.read("answers").contains(&reason), "the model must get the reason");
    let first = "ask-one rejected by anonymous: with [REDACTED:github-token] it works";
    assert_eq!(started.decisions(&run), [first, "ask-two approved by anonymous: -"]);
}
