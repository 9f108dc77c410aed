//! Concurrent orders for one session: only one at a time is accepted. Also how long a runner waits for its next prompt.

use crate::client::{get, post};
use crate::started::{PATIENCE, Started};
use serde_json::{Value, json};
use std::sync::mpsc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The session of the fakes, by the runner's own id.
const THREAD: &str = "01a1ffc9-90a9-7072-b240-f837ac957f3f";

/// A fake runner of the control protocol that plays the scenario `play`.
fn claude(play: &str, more: &str) -> Started {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/upstreams/fake/claude.sh");
    let table = format!(
        "[[upstream]]\nname = \"fake\"\nkind = \"command\"\npreset = \"claude-code\"\nprogram = \"{program}\"\n\
         directories = [\"{{folder}}\"]\nenvironment = {{ PLAY = \"{play}\" }}\n{more}\n"
    );
    Started::with(&table, &[])
}

impl Started {
    fn message(&self, session: &Value, prompt: &str) -> (u16, String) {
        let path = format!("/v1/sessions/{}/messages", session.as_str().unwrap());
        let answer = post(self.proxy.address, &path, &[], json!({"prompt": prompt}).to_string().as_bytes());
        (answer.status, answer.text())
    }

    fn runs(&self) -> Vec<Value> {
        get(self.proxy.address, "/v1/runs", &[]).json()["data"].as_array().unwrap().clone()
    }

    fn wait_for_runs(&self, what: &str, is_so: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        let begin = Instant::now();
        loop {
            let runs = self.runs();
            if is_so(&runs) {
                return runs;
            }
            assert!(begin.elapsed() < PATIENCE, "{what}: {runs:#?}\n{}", self.folder.read("log"));
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn only_one_of_several_concurrent_orders_for_a_session_starts_a_run() {
    let more = "resume_arguments = [\"gated\", \"{fixtures}\", \"{session}\"]";
    let started = Started::fake("gated", more);
    let order = json!({"upstream": "fake", "prompt": "go", "session_id": THREAD});
    let began = format!("began {THREAD}\n");
    let (sender, answers) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            let (sender, order, started) = (sender.clone(), &order, &started);
            scope.spawn(move || {
                let answer = started.start(order);
                let status = answer.status;
                sender.send((status, answer.json())).unwrap();
            });
        }
        for _ in 0..5 {
            let (status, problem) = answers.recv_timeout(PATIENCE).unwrap();
            assert_eq!((status, &problem["status"]), (409, &json!(409)), "{problem}");
            assert_eq!(problem["detail"], "another run of this session is being started");
        }
        // The accepted run cannot begin yet. The other orders have been answered, so a process for one of them would exist by
        // now.
        started.folder.wait_for("starts", &began);
        assert_eq!(started.folder.read("starts"), began);
        // Another session is not affected.
        let starting =
            scope.spawn(|| started.start(&json!({"upstream": "fake", "prompt": "go", "session_id": "another"})).status);
        started.folder.write("begin", "");
        let (status, run) = answers.recv_timeout(PATIENCE).unwrap();
        assert_eq!(status, 201, "{run}");
        // While the run is open, by either name of the session.
        for session in [THREAD, run["session_id"].as_str().unwrap()] {
            let refused = started.start(&json!({"upstream": "fake", "prompt": "go", "session_id": session}));
            assert_eq!(refused.status, 409);
            let detail = refused.json()["detail"].as_str().unwrap().to_owned();
            assert!(detail.contains("a run of this session is open"), "{detail}");
        }
        started.folder.write("end", "");
        started.wait_for_end(run["run_id"].as_str().unwrap());
        assert_eq!(starting.join().unwrap(), 201);
    });
    started.wait_for_runs("not both runs end", |runs| {
        runs.len() == 2 && runs.iter().all(|run| run["ended_at_ms"].is_u64())
    });
    let starts = started.folder.read("starts");
    assert_eq!(starts.matches(&began).count(), 1, "a refused order started a process: {starts}");
    // After the run's end the next one may begin, although the first one could not be started.
    assert_eq!(started.start(&order).status, 201);
    started.wait_for_no_process();
}

#[test]
fn a_failed_order_releases_its_session() {
    let more = "resume_arguments = [\"nothing\", \"{fixtures}\", \"{session}\"]";
    let started = Started::fake("well", more);
    let order = json!({"upstream": "fake", "prompt": "go", "session_id": THREAD});
    for _ in 0..2 {
        assert_eq!(started.start(&order).status, 502, "a session in use would be 409");
    }
    started.wait_for_no_process();
}

#[test]
fn a_further_prompt_is_checked_like_the_first_one() {
    let started = claude("chat", "linger_ms = 60000\nmax_prompt_bytes = 100");
    let run = started.run();
    let session = started.status(&run)["session_id"].clone();
    let (status, detail) = started.message(&session, &"x".repeat(101));
    assert_eq!(status, 422, "{detail}");
    assert!(detail.contains("upstream.max_prompt_bytes"), "{detail}");
    let (status, detail) = started.message(&session, "  ");
    assert!(status == 422 && detail.contains("the prompt is empty"), "{status} {detail}");
}

#[test]
fn a_message_and_an_order_for_one_session_exclude_each_other() {
    let started = claude("chat", "linger_ms = 60000\nexit_grace_ms = 60000");
    let first = started.wait_for_end(&started.run());
    let session = &first["session_id"];
    let order = json!({"upstream": "fake", "prompt": "go", "session_id": session});
    // The message arrived first: its runner stays, although its run does not exist yet.
    assert_eq!(started.message(session, "the second").0, 202);
    let refused = started.start(&order);
    assert_eq!(refused.status, 409);
    let detail = refused.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("a run of this session is open"), "{detail}");
    // A further message is queued.
    assert_eq!(started.message(session, "the third").0, 202);
    started.folder.write("answer", "");
    started.wait_for_runs("there are not three completed runs", |runs| {
        runs.len() == 3 && runs.iter().all(|run| run["state"] == "completed" && run["session_id"] == *session)
    });
    let heard = started.folder.read("heard");
    assert!(heard.find("the second").unwrap() < heard.find("the third").unwrap(), "{heard}");
    // The order arrived first: the runner is exiting, and accepts no message.
    std::thread::scope(|scope| {
        let ordered = scope.spawn(|| started.start(&order).status);
        started.folder.wait_for("eof", "over");
        let (status, detail) = started.message(session, "too late");
        assert_eq!(status, 409);
        assert!(detail.contains("about to exit"), "{detail}");
        assert_eq!(started.start(&order).status, 409, "another order");
        started.folder.write("leave", "");
        assert_eq!(ordered.join().unwrap(), 201);
    });
    started.leaves_nothing();
}

#[test]
fn a_runner_stays_until_every_prompt_has_had_its_run() {
    // Each sleep in this test is longer than these times together: a runner that does not wait for its prompts is gone by then.
    // Nothing observable marks that moment, so the test has to let the time pass.
    let started = claude("turns", "linger_ms = 0\nexit_grace_ms = 100\nsignal_grace_ms = 100");
    let first = started.run();
    let session = started.status(&first)["session_id"].clone();
    for prompt in ["the second", "the third"] {
        assert_eq!(started.message(&session, prompt).0, 202);
    }
    let completed = |runs: &[Value]| runs.iter().filter(|run| run["state"] == "completed").count();
    started.folder.write("end", "");
    for nth in 1..=2 {
        started.wait_for_runs("the previous run does not end", |runs| completed(runs) == nth);
        std::thread::sleep(Duration::from_millis(500));
        started.folder.write(&format!("answer{nth}"), "");
    }
    started.wait_for_runs("there are not three completed runs", |runs| runs.len() == 3 && completed(runs) == 3);
    // Afterwards the runner exits.
    started.wait_for_no_process();
}

#[test]
fn a_runner_that_was_sent_a_signal_accepts_no_prompt() {
    let started = claude("heedless", "interrupt_grace_ms = 50\nsignal_grace_ms = 600000");
    let run = started.run();
    let session = started.status(&run)["session_id"].clone();
    assert_eq!(started.interrupt(&run), 202);
    started.folder.wait_for("signalled", "over");
    let (status, detail) = started.message(&session, "too late");
    assert_eq!(status, 409, "{detail}");
    assert!(detail.contains("about to exit"), "{detail}");
    started.leaves_nothing();
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the end of a run is measured with the same clock")]
fn a_runner_waits_for_its_next_prompt_as_long_as_configured() {
    let started = claude("chat", "linger_ms = 400");
    started.folder.write("leave", "");
    started.folder.write("answer", "");
    let resources = started.resources();
    let run = started.wait_for_end(&started.run());
    started.wait_for_no_process();
    let now = u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap();
    let waited = now - run["ended_at_ms"].as_u64().unwrap();
    assert!(waited >= 400, "it exited after {waited} ms");
    let id = run["run_id"].as_str().unwrap();
    let status = started.wait_for(id, "its exit is not reported", |status| status["exit"].is_object());
    assert_eq!((&status["exit"], &status["state"]), (&json!({"status": 0}), &json!("completed")));
    let (status, detail) = started.message(&run["session_id"], "too late");
    assert_eq!(status, 409);
    assert!(detail.contains("POST /v1/runs and its session_id"), "{detail}");
    started.wait_until_released(resources);
}

#[test]
fn a_runner_that_does_not_exit_is_signalled() {
    let started = claude("stays", "linger_ms = 0\nexit_grace_ms = 300\nsignal_grace_ms = 300");
    let run = started.run();
    let status = started.wait_for(&run, "its exit is not reported", |status| status["exit"].is_object());
    assert_eq!((&status["exit"], &status["state"]), (&json!({"signal": 15}), &json!("completed")), "{status}");
    started.wait_for_no_process();
}

#[test]
fn a_prompt_is_reported_if_its_runner_dies_before_it_takes_it() {
    let started = claude("turns", "linger_ms = 60000");
    let run = started.run();
    let session = started.status(&run)["session_id"].clone();
    assert_eq!(started.message(&session, "Is my password=q7ZkVx2mPtWj8RbYn4Lc safe?").0, 202);
    started.kill("/bin/sh");
    assert_eq!(started.wait_for_end(&run)["state"], json!("failed"));
    let events = started.events(&run, "frames.v2");
    let reported: Vec<&Value> = events.iter().filter(|event| event["type"] == json!("log_emitted")).collect();
    let message = "the runner ended before it answered this prompt: Is my password=[REDACTED:assignment] safe?";
    assert_eq!(reported.len(), 1, "{events:#?}");
    assert_eq!((&reported[0]["level"], &reported[0]["message"]), (&json!("warn"), &json!(message)));
    let log = started.folder.read("log");
    assert!(log.contains("the runner ended before it answered prompts that it had received"), "{log}");
}
