//! Webhooks: real receivers that verify signatures, refuse, hang, or want nothing more; restarts, stops, reloads, and what was given up.

use crate::client::{Upload, get, post};
use crate::proxy::{Folder, Proxy, another, recording, refusal_of};
use crate::scripted::{ReceivedRequest, Upstream, wait_for_close, whole};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use framegate::clock::Clock;
use hmac::{Hmac, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

/// Bytes of the secret with this name.
fn key(name: &str) -> Vec<u8> {
    format!("{name:-<32}").into_bytes()
}

fn secret(name: &str) -> String {
    format!("whsec_{}\n", STANDARD.encode(key(name)))
}

/// Whether a request has a signature by the secret with this name.
fn is_signed_by(request: &ReceivedRequest, name: &str) -> bool {
    let mut mac = Hmac::<Sha256>::new_from_slice(&key(name)).unwrap();
    mac.update(format!("{}.{}.", request.header("webhook-id"), request.header("webhook-timestamp")).as_bytes());
    mac.update(&request.body);
    let expected = format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
    request.header("webhook-signature").split(' ').any(|signature| signature == expected)
}

fn body(request: &ReceivedRequest) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

/// The kinds of events that a receiver got, without those that it refused.
fn kinds(receiver: &Upstream) -> Vec<String> {
    receiver.requests().iter().map(|request| body(request)["type"].as_str().unwrap().to_owned()).collect()
}

/// A receiver that answers with a status that can change.
fn answering(status: u16) -> (Upstream, Arc<AtomicU16>) {
    let status = Arc::new(AtomicU16::new(status));
    let current = status.clone();
    let receiver = Upstream::start(move |_, stream| {
        let status = current.load(Ordering::SeqCst);
        whole(stream, &format!("{status} Status"), "location: /elsewhere\r\n", b"{}");
    });
    (receiver, status)
}

/// The settings of an endpoint with one secret.
fn endpoint(folder: &Folder, name: &str, receiver: &Upstream, more: &str) -> String {
    let file = folder.write(&format!("{name}.secret"), &secret(name));
    format!(
        "[[webhooks.endpoint]]\nname = \"{name}\"\nurl = \"http://{}/hook?of={name}\"\nsecret_files = [{file:?}]\n\
         backoff_min_ms = 10\nbackoff_max_ms = 20\n{more}\n",
        receiver.address
    )
}

fn wait_until(what: &str, mut is: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is() {
        assert!(Instant::now() < deadline, "timed out waiting until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn metric(proxy: &Proxy, sample: &str) -> u64 {
    let text = get(proxy.address, "/metrics", &[]).text();
    let line = text.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    line.map_or(0, |value| value.trim().parse().unwrap())
}

fn outcome(proxy: &Proxy, webhook: &str, outcome: &str) -> u64 {
    metric(proxy, &format!("framegate_webhooks_total{{outcome=\"{outcome}\",webhook=\"{webhook}\"}}"))
}

/// Sends a run that is new and ends now. Returns its id.
fn run(proxy: &Proxy) -> String {
    ingest(proxy, "codex", &another("codex", "exec-command-ok.ndjson"))
}

fn ingest(proxy: &Proxy, runner: &str, input: &[u8]) -> String {
    let answer = post(proxy.address, &format!("/v1/ingest/{runner}?label=team:web"), &[], input);
    assert_eq!(answer.status, 201);
    answer.json()["runs"][0]["run_id"].as_str().unwrap().to_owned()
}

/// A recording whose records have no time, so that they happen now.
fn without_times(runner: &str, name: &str) -> Vec<u8> {
    String::from_utf8(another(runner, name)).unwrap().replace("\"timestamp\":", "\"was\":").into_bytes()
}

fn webhooks(config: &str, arguments: &[&str], settings: &[(&str, String)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_framegate"));
    command.arg("webhooks").args(arguments).args(["--config", config]);
    command.envs(settings.iter().map(|(name, value)| (*name, value))).output().unwrap()
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_run_is_sent_with_valid_signatures_until_the_endpoint_accepts_it() {
    let refusals = AtomicU16::new(0);
    let receiver = Upstream::start(move |_, stream| {
        let is_refused = refusals.fetch_add(1, Ordering::SeqCst) < 2;
        whole(stream, if is_refused { "500 Internal Server Error" } else { "204 No Content" }, "", b"");
    });
    let silent = Upstream::start(|_, stream| wait_for_close(stream));
    let folder = Folder::new();
    let mut settings = endpoint(&folder, "silent", &silent, "timeout_ms = 600000");
    settings += &endpoint(&folder, "ci", &receiver, "secret_env = [\"OLD_SECRET\"]\nlabels = { team = \"web\" }");
    settings += &endpoint(&folder, "api", &receiver, "labels = { team = \"api\" }");
    let config = folder.write("config.toml", &settings);
    let proxy = Proxy::configured_with(&config, &folder.path("log"), &[("OLD_SECRET", &secret("old"))]);
    let id = run(&proxy);
    wait_until("the delivery succeeds", || outcome(&proxy, "ci", "delivered") == 1);
    let requests = receiver.requests();
    assert_eq!(requests.len(), 3);
    let now = Clock::System.now_ms() / 1000;
    for request in &requests {
        assert_eq!((&*request.method, &*request.path), ("POST", "/hook?of=ci"));
        assert_eq!(request.header("content-type"), "application/json");
        assert!(request.header("user-agent").starts_with("framegate/"));
        assert!(is_signed_by(request, "ci") && is_signed_by(request, "old") && !is_signed_by(request, "silent"));
        assert!(now.abs_diff(request.header("webhook-timestamp").parse().unwrap()) < 60);
        assert_eq!(
            (request.header("webhook-id"), &request.body),
            (requests[0].header("webhook-id"), &requests[0].body)
        );
    }
    let body = body(&requests[0]);
    let status = get(proxy.address, &format!("/v1/runs/{id}"), &[]).json();
    assert_eq!((&body["type"], &body["data"]["run"]), (&"run.completed".into(), &status));
    assert_eq!(body["data"]["run"]["labels"]["team"], "web");
    let attempts =
        |answer| metric(&proxy, &format!("framegate_webhook_attempts_total{{answer=\"{answer}\",webhook=\"ci\"}}"));
    assert_eq!((attempts("5xx"), attempts("2xx")), (2, 1));
    // The endpoint that does not answer has its own queue.
    assert_eq!((silent.requests().len(), metric(&proxy, "framegate_webhooks_waiting{webhook=\"silent\"}")), (1, 1));
    assert_eq!(outcome(&proxy, "api", "delivered"), 0);
}

#[test]
fn failures_and_approvals_are_sent_and_approvals_that_are_answered_are_not() {
    let (receiver, _) = answering(200);
    let (late, _) = answering(200);
    let folder = Folder::new();
    let mut settings = endpoint(&folder, "all", &receiver, "approval_delay_ms = 0");
    settings += &endpoint(&folder, "late", &late, "approval_delay_ms = 2000");
    let config = folder.write("config.toml", &settings);
    let proxy = Proxy::configured_by(&config, &folder.path("log"));
    ingest(&proxy, "claude-code", &without_times("claude-code", "api_401.ndjson"));
    wait_until("the failure arrives", || kinds(&receiver) == ["run.failed"] && kinds(&late) == ["run.failed"]);
    let input = String::from_utf8(without_times("claude-code", "control_permission.ndjson")).unwrap();
    let asked = input.find("\"can_use_tool\"").map(|at| at + input[at..].find('\n').unwrap() + 1).unwrap();
    let mut upload = Upload::start(proxy.address, "/v1/ingest/claude-code", &[]);
    upload.send(&input.as_bytes()[..asked]);
    wait_until("the approval arrives", || kinds(&receiver).len() == 2);
    let request = &receiver.requests()[1];
    let body = body(request);
    assert!(is_signed_by(request, "all"));
    assert_eq!(body["type"], "approval.requested");
    assert_eq!(body["data"]["approval"]["tool_name"], "Bash");
    assert_eq!(body["data"]["run"]["state"], "waiting_approval");
    assert_eq!(body["data"]["run"]["pending_approvals"][0], body["data"]["approval"]["approval_id"]);
    assert!(!String::from_utf8_lossy(&request.body).contains("\"command\""), "arguments are not sent");
    upload.send(&input.as_bytes()[asked..]);
    assert_eq!(upload.finish().status, 201);
    wait_until("the end arrives", || kinds(&late).contains(&"run.completed".to_owned()));
    wait_until("the approvals of the late endpoint are settled", || outcome(&proxy, "late", "answered") == 2);
    assert!(!kinds(&late).contains(&"approval.requested".to_owned()));
}

#[test]
fn old_runs_are_not_sent() {
    let (receiver, _) = answering(200);
    let folder = Folder::new();
    let config = folder.write("config.toml", &endpoint(&folder, "ci", &receiver, ""));
    let proxy = Proxy::configured_by(&config, &folder.path("log"));
    // A whole recording has the times of its records.
    ingest(&proxy, "claude-code", &recording("claude-code", "bash_ok.ndjson"));
    wait_until("the run is compared", || outcome(&proxy, "ci", "too_old") > 0);
    let history = another("codex", "exec-command-ok.ndjson");
    assert_eq!(post(proxy.address, "/v1/ingest/codex?history=1", &[], &history).status, 201);
    let id = run(&proxy);
    wait_until("the new run arrives", || outcome(&proxy, "ci", "delivered") == 1);
    assert_eq!(body(&receiver.requests()[0])["data"]["run"]["run_id"], *id);
    assert_eq!(receiver.requests().len(), 1);
}

#[test]
fn a_restart_repeats_nothing_and_reports_runs_that_a_crash_interrupted() {
    let (receiver, _) = answering(200);
    let folder = Folder::new();
    let config = folder.write("config.toml", &endpoint(&folder, "ci", &receiver, ""));
    let path = folder.path("db").display().to_string();
    let stored = [("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", &*path)];
    let mut proxy = Proxy::configured_with(&config, &folder.path("log"), &stored);
    run(&proxy);
    wait_until("the run arrives", || outcome(&proxy, "ci", "delivered") == 1);
    assert!(proxy.terminate().success());
    let proxy = Proxy::configured_with(&config, &folder.path("log"), &stored);
    run(&proxy);
    wait_until("the second run arrives", || outcome(&proxy, "ci", "delivered") == 1);
    let mut upload = Upload::start(proxy.address, "/v1/ingest/codex", &[]);
    let input = another("codex", "exec-command-ok.ndjson");
    upload.send(&input[..=input.iter().position(|&byte| byte == b'\n').unwrap()]);
    wait_until("the run is open", || get(proxy.address, "/v1/runs?state=running", &[]).text().contains("run_id"));
    let open = get(proxy.address, "/v1/runs?state=running", &[]).json()["data"][0]["run_id"].clone();
    proxy.signal("KILL");
    drop(proxy);
    let proxy = Proxy::configured_with(&config, &folder.path("log"), &stored);
    wait_until("the interruption arrives", || outcome(&proxy, "ci", "delivered") == 1);
    assert_eq!(kinds(&receiver), ["run.completed", "run.completed", "run.interrupted"]);
    assert_eq!(body(&receiver.requests()[2])["data"]["run"]["run_id"], open);
}

#[test]
fn what_waits_when_the_proxy_stops_is_kept_and_can_be_sent_again() {
    let (receiver, status) = answering(503);
    let silent = Upstream::start(|_, stream| wait_for_close(stream));
    let folder = Folder::new();
    let long = "backoff_min_ms = 3600000\nbackoff_max_ms = 3600000";
    let slow = endpoint(&folder, "ci", &receiver, "").replace("backoff_min_ms = 10\nbackoff_max_ms = 20", long);
    let hanging = endpoint(&folder, "silent", &silent, "timeout_ms = 600000");
    let config = folder.write("config.toml", &format!("[webhooks]\nstop_timeout_ms = 500\n{slow}{hanging}"));
    let path = folder.path("db").display().to_string();
    let stored = [("FRAMEGATE__LOG__KIND", "sqlite".to_owned()), ("FRAMEGATE__LOG__PATH", path)];
    let settings: Vec<(&str, &str)> = stored.iter().map(|(name, value)| (*name, &**value)).collect();
    let mut proxy = Proxy::configured_with(&config, &folder.path("log"), &settings);
    let id = run(&proxy);
    wait_until("both endpoints have a request", || receiver.requests().len() == 1 && silent.requests().len() == 1);
    let begun = Instant::now();
    assert!(proxy.terminate().success());
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!(receiver.requests().len(), 2, "a last attempt");
    let listed = webhooks(&config, &["list", "--json"], &stored);
    let letters: Vec<Value> = text(&listed).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let names: BTreeSet<&str> = letters.iter().map(|letter| letter["webhook"].as_str().unwrap()).collect();
    assert_eq!(names, BTreeSet::from(["ci", "silent"]));
    for letter in &letters {
        let sent = &receiver.requests()[0];
        assert_eq!((&letter["run_id"], &letter["type"]), (&id.clone().into(), &"run.completed".into()));
        assert_eq!(
            (&letter["id"], &letter["body"]),
            (&sent.header("webhook-id").into(), &String::from_utf8_lossy(&sent.body).into())
        );
        assert!(letter["error"].as_str().unwrap().contains("the proxy stopped"), "{letter}");
    }
    let table = text(&webhooks(&config, &["list", "--webhook", "ci"], &stored));
    assert!(table.lines().count() == 1 && table.contains("2 attempts") && table.contains("answered 503"), "{table}");
    let again = webhooks(&config, &["redeliver", "--all", "--webhook", "ci"], &stored);
    assert_eq!((again.status.code(), receiver.requests().len()), (Some(1), 3), "{}", text(&again));
    status.store(200, Ordering::SeqCst);
    let wrong = webhooks(&config, &["redeliver", "msg_1"], &stored);
    assert!(wrong.status.code() == Some(2) && text(&wrong).contains("there is no notification \"msg_1\""));
    let wrong = webhooks(&config, &["redeliver", "--all", "--webhook", "cli"], &stored);
    let said = "there is no webhook \"cli\"; known: ci, silent";
    assert!(wrong.status.code() == Some(2) && text(&wrong).contains(said), "{}", text(&wrong));
    let again = webhooks(&config, &["redeliver", letters[0]["id"].as_str().unwrap(), "--webhook", "ci"], &stored);
    assert!(again.status.success() && text(&again).contains("delivered"), "{}", text(&again));
    let requests = receiver.requests();
    assert!(requests.len() == 4 && requests[3].body == requests[0].body && is_signed_by(&requests[3], "ci"));
    assert_eq!(text(&webhooks(&config, &["list", "--webhook", "ci"], &stored)), "");
    let log = folder.read("log");
    assert!(log.contains("a notification was given up") && !log.contains("whsec_"), "{log}");
}

#[test]
fn a_second_signal_keeps_what_waits_without_another_attempt() {
    let silent = Upstream::start(|_, stream| wait_for_close(stream));
    let folder = Folder::new();
    let failed = folder.path("failed").display().to_string();
    let head = format!("[webhooks]\nfailed_folder = {failed:?}\nstop_timeout_ms = 600000\n");
    let hanging = endpoint(&folder, "ci", &silent, "timeout_ms = 600000");
    let config = folder.write("config.toml", &format!("{head}{hanging}"));
    let mut proxy = Proxy::configured_by(&config, &folder.path("log"));
    run(&proxy);
    wait_until("the endpoint has a request", || silent.requests().len() == 1);
    proxy.signal("TERM");
    folder.wait_for("log", "shutdown requested");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(proxy.left(), None, "the proxy waits for the endpoint");
    assert!(proxy.terminate().success());
    assert_eq!(text(&webhooks(&config, &["list"], &[])).lines().count(), 1);
}

#[test]
fn deliveries_are_given_up_after_the_last_attempt_or_a_410_and_if_too_many_wait() {
    let (receiver, status) = answering(302);
    let silent = Upstream::start(|_, stream| wait_for_close(stream));
    let folder = Folder::new();
    let failed = folder.path("failed").display().to_string();
    let mut settings = format!("[webhooks]\nfailed_folder = {failed:?}\nstop_timeout_ms = 0\n");
    settings += &endpoint(&folder, "ci", &receiver, "attempts = 3");
    settings += &endpoint(&folder, "full", &silent, "queue = 1\ntimeout_ms = 600000");
    let config = folder.write("config.toml", &settings);
    let proxy = Proxy::configured_by(&config, &folder.path("log"));
    run(&proxy);
    wait_until("the last attempt fails", || outcome(&proxy, "ci", "given_up") == 1);
    assert_eq!(receiver.requests().len(), 3);
    assert!(receiver.requests().iter().all(|request| request.path == "/hook?of=ci"), "redirects are not followed");
    run(&proxy);
    wait_until("the full queue refuses", || outcome(&proxy, "full", "given_up") == 1);
    wait_until("the second run is given up", || outcome(&proxy, "ci", "given_up") == 2);
    status.store(410, Ordering::SeqCst);
    run(&proxy);
    wait_until("the endpoint is gone", || outcome(&proxy, "ci", "given_up") == 3);
    run(&proxy);
    wait_until("nothing more is sent", || outcome(&proxy, "ci", "gone") == 1);
    assert_eq!(receiver.requests().len(), 7);
    let listed = text(&webhooks(&config, &["list"], &[]));
    let mut reasons = String::new();
    for reason in ["redirects are not followed", "the endpoint answered 410", "too many notifications wait"] {
        let _ = write!(reasons, "{} ", listed.matches(reason).count());
    }
    assert_eq!(reasons, "2 1 3 ", "{listed}");
    // A reload asks again.
    status.store(200, Ordering::SeqCst);
    proxy.signal("HUP");
    folder.wait_for("log", "the configuration was reloaded");
    run(&proxy);
    wait_until("the endpoint accepts again", || outcome(&proxy, "ci", "delivered") == 1);
}

#[test]
fn a_reload_replaces_endpoints_and_secrets() {
    let (receiver, _) = answering(200);
    let (other, _) = answering(200);
    let folder = Folder::new();
    let config = folder.write("config.toml", "");
    let proxy = Proxy::configured_by(&config, &folder.path("log"));
    run(&proxy);
    let reload = |settings: &str, times: usize| {
        folder.write("config.toml", settings);
        proxy.signal("HUP");
        wait_until("the reload is logged", || {
            folder.read("log").matches("the configuration was reloaded").count() == times
        });
    };
    let first = endpoint(&folder, "ci", &receiver, "");
    reload(&first, 1);
    assert!(folder.read("log").contains("webhooks.endpoint"));
    run(&proxy);
    wait_until("the first run after the reload arrives", || receiver.requests().len() == 1);
    assert!(is_signed_by(&receiver.requests()[0], "ci"));
    // The content of the file changes, and the configuration does not.
    folder.write("ci.secret", &secret("new"));
    reload(&first, 2);
    run(&proxy);
    wait_until("the second run arrives", || receiver.requests().len() == 2);
    assert!(is_signed_by(&receiver.requests()[1], "new") && !is_signed_by(&receiver.requests()[1], "ci"));
    // A wrong secret changes nothing.
    folder.write("ci.secret", "whsec_c2hvcnQ=");
    proxy.signal("HUP");
    let log = folder.wait_for("log", "the configuration was not reloaded");
    assert!(log.contains("24 to 64 bytes in base64") && !log.contains("c2hvcnQ"), "{log}");
    run(&proxy);
    wait_until("the third run arrives", || receiver.requests().len() == 3);
    assert!(is_signed_by(&receiver.requests()[2], "new"));
    reload(&endpoint(&folder, "other", &other, ""), 3);
    run(&proxy);
    wait_until("the new endpoint has the run", || other.requests().len() == 1);
    assert_eq!(receiver.requests().len(), 3);
}

#[test]
fn an_endpoint_that_cannot_be_used_stops_the_start() {
    let folder = Folder::new();
    let (receiver, _) = answering(200);
    let good = endpoint(&folder, "ci", &receiver, "");
    for (settings, expected) in [
        (
            format!("{good}events = [\"run.done\"]"),
            "webhooks, endpoint \"ci\", events: unknown kind of event \"run.done\"",
        ),
        (good.replace("http://", "ftp://"), "webhooks, endpoint \"ci\", url: must be a URL"),
        (good.replace("ci.secret", "no.secret"), "webhooks, endpoint \"ci\", secret_files: cannot read"),
        (format!("{good}secret_env = [\"SHORT\"]"), "webhooks, endpoint \"ci\", secret_env: SHORT must be whsec_"),
    ] {
        let message = refusal_of(&folder.write("wrong.toml", &settings), &[("SHORT", "whsec_c2hvcnQ=")]);
        assert!(message.contains(expected) && !message.contains("c2hvcnQ"), "{expected:?}: {message}");
    }
}

#[test]
#[ignore = "needs node and tests/clients/node_modules: ./test.sh runs it"]
fn npm_standardwebhooks_verifies_what_is_sent() {
    let (receiver, _) = answering(200);
    let folder = Folder::new();
    let settings = endpoint(&folder, "ci", &receiver, "secret_env = [\"OLD_SECRET\"]");
    let config = folder.write("config.toml", &settings);
    let proxy = Proxy::configured_with(&config, &folder.path("log"), &[("OLD_SECRET", &secret("old"))]);
    run(&proxy);
    wait_until("the run arrives", || receiver.requests().len() == 1);
    let request = &receiver.requests()[0];
    let sent = String::from_utf8(request.body.clone()).unwrap();
    let plan =
        |name: &str, body: &str| json!({"secret": secret(name).trim(), "headers": request.headers, "body": body});
    let plan = json!([plan("ci", &sent), plan("old", &sent), plan("other", &sent), plan("ci", &format!("{sent} "))]);
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/standard_webhooks.mjs");
    let output = Command::new("node").args([program, &plan.to_string()]).output().unwrap();
    assert!(output.status.success(), "{}", text(&output));
    let verdicts: Vec<Value> = text(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(verdicts.len(), 4);
    for verdict in &verdicts[..2] {
        assert_eq!(verdict["event"], body(request));
    }
    for verdict in &verdicts[2..] {
        assert!(verdict["error"].as_str().unwrap().contains("No matching signature"), "{verdict}");
    }
}

#[test]
fn a_budget_that_is_passed_is_sent_with_its_figures() {
    let (receiver, _) = answering(200);
    let folder = Folder::new();
    let budget = |name: &str, usd: &str| {
        format!("[[budgets.limit]]\nname = \"{name}\"\nper = [\"label:team\"]\nusd = \"{usd}\"\nwarn_percent = 50\n")
    };
    let settings = endpoint(&folder, "ci", &receiver, "events = [\"budget.warning\", \"budget.spent\"]")
        + &budget("small", "0.0019")
        + &budget("exact", "0.00192")
        + &budget("large", "0.00193")
        + &budget("huge", "1");
    let proxy = Proxy::configured_with(&folder.write("config.toml", &settings), &folder.path("log"), &[]);
    // Costs 0.00192 US dollars.
    let id = ingest(&proxy, "claude-code", &without_times("claude-code", "bash_ok.ndjson"));
    wait_until("all marks are sent", || outcome(&proxy, "ci", "delivered") == 5);
    let mut sent: Vec<(String, Value, Value)> = receiver
        .requests()
        .iter()
        .map(|request| {
            assert!(is_signed_by(request, "ci"));
            let body = body(request);
            assert_eq!(body["data"]["run"]["run_id"], id);
            (
                body["data"]["budget"]["name"].as_str().unwrap().to_owned(),
                body["type"].clone(),
                body["data"]["budget"].clone(),
            )
        })
        .collect();
    sent.sort_by_key(|(name, kind, _)| (name.clone(), kind.to_string()));
    let marks: Vec<(&str, &Value)> = sent.iter().map(|(name, kind, _)| (name.as_str(), kind)).collect();
    // The run alone costs more than two budgets, so each of them passes both marks.
    let [spent, warning] = ["budget.spent", "budget.warning"].map(Value::from);
    assert_eq!(
        marks,
        [("exact", &spent), ("exact", &warning), ("large", &warning), ("small", &spent), ("small", &warning)]
    );
    let expected = json!({"name": "exact", "account": "team:web", "spent_usd": 0.00192, "limit_usd": 0.00192});
    assert_eq!(sent[0].2, expected);
    let ids: BTreeSet<String> =
        receiver.requests().iter().map(|request| request.header("webhook-id").to_owned()).collect();
    assert_eq!(ids.len(), 5, "each mark is an event of its own");
}

#[test]
fn labels_that_no_run_can_have_are_refused() {
    let (receiver, _) = answering(200);
    let folder = Folder::new();
    let settings = endpoint(&folder, "ci", &receiver, "labels = { \"the team\" = \"web\" }");
    let said = refusal_of(&folder.write("config.toml", &settings), &[]);
    assert!(said.contains("webhooks, endpoint \"ci\", labels: ") && said.contains("the team"), "{said}");
    let settings = "[[budgets.limit]]\nname = \"b\"\nper = [\"label:the team\"]\nusd = \"1\"\n";
    let said = refusal_of(&folder.write("config.toml", settings), &[]);
    assert!(said.contains("budgets, budget \"b\", per: ") && said.contains("the team"), "{said}");
}
