//! Later requests for a response: retrieve, delete, poll, cancel, resume; and when its run is in the log.

use super::*;
use crate::client::connect;
use crate::scripted::{ReceivedRequest, Upstream, whole};
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;

/// A server that stores responses. A background response is in progress until it was polled twice, or is cancelled.
fn server() -> Upstream {
    let kept = Mutex::new(HashMap::<String, (String, u32)>::new());
    Upstream::start(move |request: &ReceivedRequest, stream: &mut std::net::TcpStream| {
        let mut kept = kept.lock().unwrap();
        let asked: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let rest = request.path.strip_prefix("/v1/responses").unwrap();
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let json = "content-type: application/json\r\n";
        let mut respond = |id: &str, status: &str| {
            let output = if status == "completed" {
                json!([{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                    "content": [{"type": "output_text", "text": "Hello", "annotations": []}]}])
            } else {
                json!([])
            };
            let body = json!({"id": id, "object": "response", "status": status, "background": true, "model": "lab",
                "created_at": 1, "output": output, "prompt_cache_key": "of-the-server"});
            whole(stream, "200 OK", json, body.to_string().as_bytes());
        };
        let parts: Vec<&str> = rest.split('/').skip(1).collect();
        match (&*request.method, &*parts) {
            ("POST", []) => {
                let id = asked["metadata"]["id"].as_str().unwrap_or("resp_1").to_owned();
                let status = if asked["background"] == true { "queued" } else { "completed" };
                kept.insert(id.clone(), (status.to_owned(), 0));
                respond(&id, status);
            }
            ("GET", [_]) if query.contains("stream=true") => {
                stream_head(stream);
                let after = query.split("starting_after=").nth(1).and_then(|after| after.parse().ok());
                for event in events(&recorded("scripted__text-valid.sse")) {
                    if after.is_none_or(|after: u64| number(&event) > after) {
                        let _ = stream.write_all(event.as_bytes());
                    }
                }
            }
            (method, [id, ..]) => match kept.get_mut(*id) {
                None => {
                    let error = br#"{"error":{"message":"no such response","type":"invalid_request_error","param":null,"code":null}}"#;
                    whole(stream, "404 Not Found", json, error);
                }
                Some((status, polls)) => {
                    *polls += 1;
                    if status == "queued" && *polls > 2 {
                        *status = "completed".to_owned();
                    }
                    if parts.get(1) == Some(&"cancel") {
                        *status = "cancelled".to_owned();
                    }
                    respond(id, &status.clone());
                    if method == "DELETE" {
                        kept.remove(*id);
                    }
                }
            },
            _ => whole(stream, "404 Not Found", "", b""),
        }
    })
}

fn ask(gate: &Gate, method: &str, path: &str, body: &Value) -> Answer {
    let mut stream = connect(gate.proxy.address);
    let (host, body) = (gate.proxy.address, if body.is_null() { String::new() } else { body.to_string() });
    let length = body.len();
    write!(stream, "{method} {path} HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
        .unwrap();
    Answer::read(stream)
}

fn background(id: &str, more: Value) -> Value {
    let mut body = json!({"model": "lab", "input": "hi", "background": true, "metadata": {"id": id}});
    if let (Some(body), Some(more)) = (body.as_object_mut(), more.as_object()) {
        body.extend(more.clone());
    }
    body
}

#[test]
fn a_response_is_retrieved_from_the_upstream_until_it_is_deleted() {
    let upstream = server();
    for retrieve in ["", "retrieve = \"kept\""] {
        let gate = Gate::new(&upstream, retrieve);
        let made = ask(&gate, "POST", "/v1/responses", &json!({"model": "lab", "input": "hi"}));
        assert_eq!(made.json()["status"], "completed");
        let asked = upstream.requests().len();
        assert_eq!(ask(&gate, "GET", "/v1/responses/resp_1", &Value::Null).json()["id"], "resp_1");
        assert_eq!(upstream.requests().len() - asked, usize::from(retrieve.is_empty()), "{retrieve}");
        assert_eq!(ask(&gate, "DELETE", "/v1/responses/resp_1", &Value::Null).status, 200);
        for path in ["/v1/responses/resp_1", "/v1/responses/resp_1/input_items"] {
            let gone = ask(&gate, "GET", path, &Value::Null);
            assert_eq!(gone.status, 404, "{retrieve} {path}");
            assert_eq!(gone.json()["error"]["message"], "no such response");
        }
        assert_eq!(gate.runs().len(), 1, "its run must stay");
    }
}

#[test]
fn a_polled_background_response_becomes_one_run() {
    let upstream = server();
    let gate = Gate::new(&upstream, "");
    let first = ask(&gate, "POST", "/v1/responses", &background("resp_a", json!({"prompt_cache_key": "thread"})));
    assert_eq!(first.json()["status"], "queued");
    assert!(gate.runs().is_empty());
    let poll = || ask(&gate, "GET", "/v1/responses/resp_a", &Value::Null).json()["status"].as_str().unwrap().to_owned();
    assert_eq!((poll(), poll()), ("queued".to_owned(), "queued".to_owned()));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(poll(), "completed"));
        }
    });
    // The run is complete when the client has the answer.
    let runs = gate.runs();
    assert_eq!(runs.len(), 1, "{runs:?}");
    assert_eq!((&runs[0]["state"], &runs[0]["response_id"]), (&json!("completed"), &json!("resp_a")));
    assert_eq!((&runs[0]["final_text"], &runs[0]["session_name"]), (&json!("Hello"), &json!("thread")));
    assert_eq!((poll(), gate.runs().len()), ("completed".to_owned(), 1));
}

#[test]
fn a_cancelled_background_response_becomes_one_run() {
    let upstream = server();
    let gate = Gate::new(&upstream, "");
    drop(ask(&gate, "POST", "/v1/responses", &background("resp_a", json!({}))).bytes());
    for _ in 0..2 {
        let answer = ask(&gate, "POST", "/v1/responses/resp_a/cancel", &Value::Null);
        assert_eq!(answer.json()["status"], "cancelled");
        let poll = ask(&gate, "GET", "/v1/responses/resp_a", &Value::Null);
        assert_eq!(poll.json()["status"], "cancelled");
        let runs = gate.runs();
        assert_eq!(
            (runs.len(), &runs[0]["state"], &runs[0]["error_code"]),
            (1, &json!("interrupted"), &json!("cancelled"))
        );
    }
}

#[test]
fn a_background_response_of_another_proxy_becomes_a_run_and_other_responses_do_not() {
    let upstream = server();
    let elsewhere = Gate::new(&upstream, "");
    drop(ask(&elsewhere, "POST", "/v1/responses", &background("resp_a", json!({}))).bytes());
    let gate = Gate::new(&upstream, "");
    for _ in 0..3 {
        drop(ask(&gate, "GET", "/v1/responses/resp_a", &Value::Null).bytes());
    }
    let runs = gate.runs();
    assert_eq!((runs.len(), &runs[0]["session_name"]), (1, &json!("of-the-server")));
    let plain = Upstream::start(|_, stream| {
        let body = json!({"id": "resp_b", "object": "response", "status": "completed", "output": []}).to_string();
        whole(stream, "200 OK", "content-type: application/json\r\n", body.as_bytes());
    });
    let gate = Gate::new(&plain, "");
    assert_eq!(ask(&gate, "GET", "/v1/responses/resp_b", &Value::Null).status, 200);
    assert!(gate.runs().is_empty(), "a response outside the background must not become a run");
}

#[test]
fn a_resumed_background_response_becomes_a_run() {
    let upstream = server();
    let gate = Gate::new(&upstream, "");
    let all = events(&recorded("scripted__text-valid.sse"));
    let body = background("resp_lab", json!({"prompt_cache_key": "thread"}));
    drop(ask(&gate, "POST", "/v1/responses", &body).bytes());
    let asked = |after: Option<u64>| {
        let after = after.map(|after| format!("&starting_after={after}")).unwrap_or_default();
        gate.get(&format!("/v1/responses/resp_lab?stream=true{after}")).text()
    };
    let from = number(&all[3]);
    assert_eq!(asked(Some(from)), all[4..].concat());
    let run = gate.runs().remove(0);
    assert_eq!((&run["state"], &run["session_name"]), (&json!("completed"), &json!("thread")));
    let before = upstream.requests().len();
    // The kept part is served from the log. For the rest the upstream is asked, and that is not a second run.
    assert_eq!((asked(Some(from)), upstream.requests().len()), (all[4..].concat(), before));
    assert_eq!((asked(None), upstream.requests().len()), (all.concat(), before + 1));
    assert_eq!(gate.runs().len(), 1);
}

#[test]
fn a_broken_background_response_is_resumed_at_the_upstream() {
    let all: Vec<String> = events(&recorded("scripted__text-valid.sse"))
        .into_iter()
        .map(|event| event.replace("\"background\":false", "\"background\":true"))
        .collect();
    let script = all.clone();
    let upstream = Upstream::start(move |request, stream| {
        stream_head(stream);
        let half = script.len() / 2;
        let part = if request.method == "POST" { &script[..half] } else { &script[half..] };
        let _ = stream.write_all(part.concat().as_bytes());
    });
    let gate = Gate::new(&upstream, "");
    drop(gate.ask("/v1/responses", &[("session-id", "thread")]).bytes());
    let broken = gate.wait_for_end();
    assert_eq!(broken["error_code"], "upstream_lost");
    let after = number(&all[all.len() / 2 - 1]);
    let rest = gate.get(&format!("/v1/responses/resp_lab?stream=true&starting_after={after}")).text();
    assert_eq!(rest, all[all.len() / 2..].concat());
    let runs = gate.runs();
    assert_eq!((runs.len(), &runs[0]["state"]), (2, &json!("completed")));
    assert_eq!(runs[0]["session_id"], broken["session_id"]);
}

#[test]
fn the_run_is_stored_when_its_client_has_the_whole_answer() {
    let upstream = server();
    let folder = Folder::new();
    let log = folder.path("framegate.db");
    let settings = [("FRAMEGATE__LOG__KIND", "sqlite"), ("FRAMEGATE__LOG__PATH", log.to_str().unwrap())];
    let gate = Gate::with(&upstream, "", &settings);
    for nth in 0..40 {
        let id = format!("resp_{nth}");
        let answer = ask(&gate, "POST", "/v1/responses", &json!({"model": "lab", "metadata": {"id": id}}));
        let length: usize = answer.header("content-length").parse().unwrap();
        let (mut reader, _) = answer.into_raw();
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let run = gate.runs().remove(0);
        assert_eq!((&run["response_id"], &run["state"]), (&json!(id), &json!("completed")), "{nth}");
    }
}

#[test]
fn the_run_is_stored_when_its_client_has_the_last_event_of_an_open_connection() {
    let all = events(&recorded("scripted__text-valid.sse"));
    let last = all.last().unwrap().clone();
    let go = Arc::new(Mutex::new(false));
    let (script, gone) = (all.clone(), go.clone());
    let upstream = Upstream::start(move |_, stream| {
        stream_head(stream);
        let _ = stream.write_all(script.concat().as_bytes());
        while !*gone.lock().unwrap() {
            thread::sleep(Duration::from_millis(5));
        }
    });
    let gate = Gate::new(&upstream, "");
    for nth in 1..=20 {
        let mut answer = gate.ask("/v1/responses", &[]);
        let data = last.lines().find(|line| line.starts_with("data:")).unwrap();
        while answer.line().is_none_or(|line| line != data) {}
        let runs = gate.runs();
        assert_eq!((runs.len(), &runs[0]["state"]), (nth, &json!("completed")), "{nth}");
    }
    *go.lock().unwrap() = true;
}
