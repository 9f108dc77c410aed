//! The `openai` packages of Python and Node: they get the same results through the proxy as directly.
//!
//! The clients are programs in tests/clients, with libraries at pinned versions.

use crate::client::{Event, get};
use crate::proxy::{Folder, recording};
use crate::responses::Gate;
use crate::scripted::{Upstream, stream_head, whole};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const STREAMS: [&str; 7] = [
    "scripted__text-valid.sse",
    "scripted__parallel-interleaved.sse",
    "scripted__reasoning-summary.sse",
    "azure-agentserver__failed.sse",
    "limited",
    "html",
    "broken",
];

/// The requested model selects the upstream's answer.
fn upstream() -> Upstream {
    Upstream::start(|request, stream| {
        let asked: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        match asked["model"].as_str().unwrap_or_default() {
            "limited" => whole(
                stream,
                "429 Too Many Requests",
                "content-type: application/json\r\nx-request-id: req_3\r\n",
                br#"{"error":{"message":"slow down","type":"requests","param":null,"code":"rate_limit_exceeded"}}"#,
            ),
            "html" => whole(stream, "503 Service Unavailable", "content-type: text/html\r\n", b"<html>later</html>"),
            "broken" => {
                let bytes = recording("open-responses", "scripted__text-valid.sse");
                let half = &bytes[..bytes.len() / 2];
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
                let _ = stream.write_all(format!("{head}{:x}\r\n", half.len()).as_bytes());
                let _ = stream.write_all(half);
                let _ = stream.write_all(b"\r\n");
                // The client is another program, so the test cannot observe when it has read these bytes.
                thread::sleep(Duration::from_millis(200));
            }
            "whole" => {
                let body = json!({"id": "resp_whole", "object": "response", "status": "completed", "model": "lab",
                    "created_at": 1, "output": [{"type": "message", "id": "msg_1", "role": "assistant",
                    "status": "completed", "content": [{"type": "output_text", "text": "Hello", "annotations": []}]}],
                    "parallel_tool_calls": true, "tool_choice": "auto", "tools": []});
                let headers = "content-type: application/json\r\nx-request-id: req_2\r\n";
                whole(stream, "200 OK", headers, body.to_string().as_bytes());
            }
            name => {
                stream_head(stream);
                for line in recording("open-responses", name).split_inclusive(|&byte| byte == b'\n') {
                    let _ = stream.write_all(line);
                    thread::sleep(Duration::from_millis(1));
                }
            }
        }
    })
}

fn run_client(mut command: Command, plan: &Value) -> Vec<Value> {
    command.arg(plan.to_string()).stdin(Stdio::null()).stderr(Stdio::inherit());
    for name in ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"] {
        command.env_remove(name);
    }
    let output = command.env("NO_PROXY", "*").output().unwrap();
    assert!(output.status.success(), "the client failed: {}", output.status);
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// Reads, in `hecate.v1`, the run that begins next while the other client continues.
fn watch(gate: &Gate, known: usize) -> (String, Vec<Event>) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let runs = gate.runs();
        if let Some(run) = runs.get(runs.len().wrapping_sub(known + 1)).filter(|_| runs.len() > known) {
            let run = run["run_id"].as_str().unwrap().to_owned();
            let events = get(gate.proxy.address, &format!("/v1/runs/{run}/events?contract=hecate.v1"), &[]).events();
            return (run, events);
        }
        assert!(Instant::now() < deadline, "no run after {known}");
        thread::sleep(Duration::from_millis(2));
    }
}

fn compare_with_and_without_the_proxy(command: impl Fn() -> Command) {
    let upstream = upstream();
    let plan = |base: String| json!({"base_url": base, "streams": STREAMS, "wholes": ["whole"]});
    let direct = run_client(command(), &plan(upstream.url()));
    for case in STREAMS {
        assert!(direct.iter().any(|said| said["case"] == case), "{case}");
    }
    assert!(direct.len() > 60, "{}", direct.len());
    let gate = Arc::new(Gate::new(&upstream, ""));
    let (watching, seen) = (gate.clone(), Arc::new(Mutex::new(Vec::new())));
    let found = seen.clone();
    let watcher = thread::spawn(move || {
        for known in 0..3 {
            found.lock().unwrap().push(watch(&watching, known));
        }
    });
    let through = run_client(command(), &plan(format!("http://{}/v1", gate.proxy.address)));
    for (at, (direct, through)) in direct.iter().zip(&through).enumerate() {
        assert_eq!(direct, through, "{at}");
    }
    assert_eq!(direct.len(), through.len());
    watcher.join().unwrap();
    // The other client read the same runs at the same time, and a replay returns the same events.
    for (run, live) in seen.lock().unwrap().iter() {
        let again = get(gate.proxy.address, &format!("/v1/runs/{run}/events?contract=hecate.v1"), &[]).events();
        assert!(live.len() > 3);
        assert_eq!(live, &again, "{run}");
    }
    // Kept responses: from any event on, and the last state.
    let gate = Gate::new(&upstream, "retrieve = \"kept\"");
    let first = json!({"streams": ["scripted__text-valid.sse"], "wholes": []});
    let retrieve = json!([{"id": "resp_lab", "after": null}, {"id": "resp_lab", "after": 5}]);
    let mut plan = first;
    plan["base_url"] = json!(format!("http://{}/v1", gate.proxy.address));
    plan["retrieve"] = retrieve;
    let said = run_client(command(), &plan);
    let values = |case: &str| -> Vec<Value> {
        said.iter().filter(|said| said["case"] == case && said["event"].is_string()).cloned().collect()
    };
    let (live, kept) = (values("scripted__text-valid.sse"), values("retrieve"));
    let after: Vec<&Value> = live.iter().filter(|said| said["value"]["sequence_number"].as_u64() > Some(5)).collect();
    assert!(!after.is_empty() && kept.len() == live.len() + after.len(), "{} {}", live.len(), kept.len());
    for (live, kept) in live.iter().chain(after).zip(&kept) {
        assert_eq!(live["value"], kept["value"]);
    }
    let whole = said.iter().rfind(|said| said["case"] == "retrieve").unwrap();
    assert_eq!(whole["value"]["status"], "completed");
}

/// Each refusal by the proxy raises the package's exception for it, with the message.
fn check_typed_errors(command: impl Fn() -> Command) {
    const KEYS: [&str; 2] = ["asks-0123456789abcdef", "reads-0123456789abcdef"];
    let upstream = upstream();
    let folder = Folder::new();
    for (name, key) in ["asks", "reads"].iter().zip(KEYS) {
        folder.write(name, key);
    }
    let tokens = "[[token]]\nname = \"asks\"\nfile = \"asks\"\nscopes = [\"read\", \"control\"]\n\
        [[token]]\nname = \"reads\"\nfile = \"reads\"\nscopes = [\"read\"]\n";
    let tokens = folder.write("tokens.toml", tokens);
    let settings = [
        ("FRAMEGATE__AUTH__TOKENS_FILE", &*tokens),
        ("FRAMEGATE__LIMITS__REQUESTS_PER_SECOND", "1"),
        ("FRAMEGATE__LIMITS__REQUEST_BURST", "2"),
    ];
    let gate = Gate::with(&upstream, "max_request_bytes = 200", &settings);
    let large = "x".repeat(300);
    let mut refused = vec![
        json!({"model": "whole", "key": "unknown"}),
        json!({"model": "whole", "key": KEYS[1]}),
        json!({"id": "nothing/at/all", "key": KEYS[1]}),
    ];
    // Enough requests to exceed the limit.
    refused.extend((0..30).map(|_| json!({"model": large})));
    let base = format!("http://{}/v1", gate.proxy.address);
    let plan = json!({"base_url": base, "api_key": KEYS[0], "streams": [], "wholes": [], "refused": refused});
    let said = run_client(command(), &plan);
    let is = |said: &Value, error: &str, status: u64, code: &str| {
        let has_message = said["message"].as_str().is_some_and(|message| !message.is_empty());
        has_message && said["error"] == error && said["status"] == status && said["code"] == code
    };
    assert!(is(&said[0], "AuthenticationError", 401, "unauthorized"), "{}", said[0]);
    assert!(is(&said[1], "PermissionDeniedError", 403, "not_allowed"), "{}", said[1]);
    assert!(is(&said[2], "NotFoundError", 404, "not_found"), "{}", said[2]);
    let error = said[3]["error"].as_str().unwrap().to_owned();
    assert!(is(&said[3], &error, 413, "request_too_large"), "{}", said[3]);
    let limited = said.iter().find(|said| is(said, "RateLimitError", 429, "limit"));
    let limited = limited.unwrap_or_else(|| panic!("no request is over the rate: {said:?}"));
    assert!(limited["retry"].is_string(), "{limited}");
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

fn python() -> Command {
    let mut command = Command::new("python3");
    command.arg(folder().join("openai_client.py")).env("PYTHONPATH", folder().join("python_modules"));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

fn node() -> Command {
    let mut command = Command::new("node");
    command.arg(folder().join("openai.mjs"));
    command
}

#[test]
#[ignore = "needs python3 and tests/clients/python_modules: ./test.sh runs it"]
fn python_openai_gets_the_same_through_the_proxy() {
    compare_with_and_without_the_proxy(python);
}

#[test]
#[ignore = "needs python3 and tests/clients/python_modules: ./test.sh runs it"]
fn python_openai_raises_typed_errors() {
    check_typed_errors(python);
}

#[test]
#[ignore = "needs node and tests/clients/node_modules: ./test.sh runs it"]
fn npm_openai_raises_typed_errors() {
    check_typed_errors(node);
}

#[test]
#[ignore = "needs node and tests/clients/node_modules: ./test.sh runs it"]
fn npm_openai_gets_the_same_through_the_proxy() {
    compare_with_and_without_the_proxy(node);
}
