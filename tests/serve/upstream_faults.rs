//! Faults in upstreams of kind `responses`, in clients and in logs: each leads to a definite end and leaks nothing.

use crate::client::{get, post};
use crate::http2::Http2;
use crate::responses::{Gate, code, events, read_body, recorded, two_part_upstream};
use crate::scripted::{Upstream, reset, stream_head, wait_for_close, whole};
use crate::verdicts::assert_reported_as_failed;
use serde_json::json;
use std::io::Write;
use std::sync::Mutex;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

fn interrupt(gate: &Gate, run: &str) -> u16 {
    post(gate.proxy.address, &format!("/v1/runs/{run}/interrupt"), &[], b"").status
}

#[test]
fn a_reset_in_an_event_ends_the_run_and_keeps_what_arrived() {
    let pieces = events(&recorded("scripted__text-valid.sse"));
    let half = pieces[..5].concat() + &pieces[5][..pieces[5].len() / 2];
    let (go, wait) = mpsc::channel::<()>();
    let (script, wait) = (half.clone(), Mutex::new(wait));
    let upstream = Upstream::start(move |_, stream| {
        stream_head(stream);
        let _ = stream.write_all(script.as_bytes());
        let _ = wait.lock().unwrap().recv_timeout(Duration::from_secs(30));
        reset(stream);
    });
    let gate = Gate::new(&upstream, "");
    let resources = gate.resources();
    for path in ["/v1/responses", "/v1/responses?contract=frames.v2"] {
        let answer = gate.ask(path, &[]);
        gate.wait_for("the five records", |run| run["records"].as_u64() == Some(5));
        go.send(()).unwrap();
        let (body, is_whole) = read_body(answer);
        let is_verbatim = path == "/v1/responses";
        // In a contract the end is an event, and the answer is complete.
        assert_eq!(is_whole, !is_verbatim);
        assert!(!is_verbatim || body == half.as_bytes(), "{}", String::from_utf8_lossy(&body));
        let run = gate.wait_for_end();
        assert!(run["message"].as_str().unwrap().contains("reset"), "{run}");
        assert_eq!((&run["records"], &run["invalid_records"]), (&json!(6), &json!(1)));
        assert_reported_as_failed(gate.proxy.address, &run, "upstream_lost");
        upstream.wait_until_quiet();
        gate.wait_until_released(resources);
    }
    let ended = "framegate_upstream_runs_ended_total{reason=\"upstream_lost\",upstream=\"lab\"}";
    assert_eq!(gate.metric(ended), "2");
    assert_eq!(gate.metric("framegate_upstream_runs_open{upstream=\"lab\"}"), "0");
}

#[test]
fn no_fault_leaks_a_task_or_a_socket() {
    let pieces = events(&recorded("scripted__text-valid.sse"));
    let begun = pieces[..4].concat();
    let upstream = Upstream::start(move |request, stream| match request.header("x-client-request-id") {
        "closes" => {}
        "resets" => reset(stream),
        "stalls" => wait_for_close(stream),
        "html" => whole(stream, "200 OK", "content-type: text/html\r\n", b"<html>"),
        "redirects" => whole(stream, "302 Found", "location: http://127.0.0.1:1/\r\n", b""),
        "fails" => whole(stream, "500 Oops", "content-type: application/json\r\n", b"{}"),
        "short" => {
            let _ =
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{");
        }
        how => {
            stream_head(stream);
            let _ = stream.write_all(begun.as_bytes());
            match how {
                "breaks" => {}
                "breaks in an event" => drop(stream.write_all(b"event: response.output_text.delta\ndata: {\"de")),
                "resets in an event" => {
                    let _ = stream.write_all(b"event: response.output_text.delta\ndata: {\"de");
                    reset(stream);
                }
                _ => wait_for_close(stream),
            }
        }
    });
    let gate = Gate::new(&upstream, "answer_timeout_ms = 200\nidle_timeout_ms = 200");
    // One request first, so that lazily created resources exist.
    drop(gate.ask("/v1/responses", &[("x-client-request-id", "breaks")]).into_raw());
    gate.wait_for_end();
    upstream.wait_until_quiet();
    let resources = gate.resources();
    let mut ended = 1;
    for how in [
        "closes",
        "resets",
        "stalls",
        "html",
        "redirects",
        "fails",
        "short",
        "breaks",
        "breaks in an event",
        "resets in an event",
        "falls silent",
    ] {
        for path in ["/v1/responses", "/v1/responses?contract=hecate.v1"] {
            let headers = [("x-client-request-id", how), ("connection", "close")];
            drop(read_body(gate.ask(path, &headers)));
            // A client that disconnects at once.
            drop(gate.ask(path, &headers));
        }
        upstream.wait_until_quiet();
        gate.wait_until_released(resources);
        if how.starts_with("breaks") || how.ends_with("in an event") || how == "falls silent" {
            ended += 4;
        }
        let runs = gate.runs();
        assert!(runs.len() <= ended, "{how}: {} runs", runs.len());
        assert!(runs.iter().all(|run| run["state"] == "failed"), "{how}: {runs:#?}");
    }
    assert_eq!(gate.metric("framegate_upstream_runs_open{upstream=\"lab\"}"), "0");
    assert_eq!(gate.metric("framegate_ingests_open{runner=\"open-responses\"}"), "0");
}

#[test]
fn an_interrupted_response_releases_its_upstream() {
    let pieces = events(&recorded("scripted__text-valid.sse"));
    let begun = pieces[..4].concat();
    let upstream = Upstream::start(move |_, stream| {
        stream_head(stream);
        let _ = stream.write_all(begun.as_bytes());
        wait_for_close(stream);
    });
    let gate = Gate::new(&upstream, "");
    let resources = gate.resources();
    for path in ["/v1/responses", "/v1/responses?contract=sse.v1"] {
        let answer = gate.ask(path, &[("connection", "close")]);
        let run = gate.wait_for("the run", |run| run["ended_at_ms"].is_null() && run["records"].as_u64() >= Some(4));
        let id = run["run_id"].as_str().unwrap();
        // The run accepts no messages.
        let prompt = post(
            gate.proxy.address,
            &format!("/v1/sessions/{}/messages", run["session_id"].as_str().unwrap()),
            &[],
            br#"{"prompt":"and now"}"#,
        );
        assert_eq!(prompt.status, 409);
        let approval = format!("/v1/runs/{id}/approvals/any");
        let approve = || post(gate.proxy.address, &approval, &[], br#"{"decision":"approved"}"#).status;
        assert_eq!(approve(), 422, "no approval is requested");
        assert_eq!(interrupt(&gate, id), 202);
        let (body, is_whole) = read_body(answer);
        let text = String::from_utf8(body).unwrap();
        if path == "/v1/responses" {
            assert!(!is_whole, "an interrupted answer must not be complete");
        } else {
            assert!(is_whole && text.contains("run_interrupted"), "{text}");
        }
        let run = gate.wait_for_end();
        assert_eq!((&run["state"], &run["error_code"]), (&json!("interrupted"), &json!("interrupted")));
        assert_eq!(run["message"], "it was interrupted by anonymous");
        upstream.wait_until_quiet();
        assert_eq!((interrupt(&gate, id), approve()), (409, 409), "the run has ended");
        gate.wait_until_released(resources);
    }
    assert_eq!(gate.metric("framegate_upstream_requests_total{outcome=\"interrupted\",upstream=\"lab\"}"), "2");
}

#[test]
fn a_full_log_ends_the_run_and_not_the_answer() {
    let pieces = events(&recorded("scripted__text-valid.sse"));
    let delta = json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0,
        "content_index": 0, "sequence_number": 2, "delta": "x".repeat(400_000), "logprobs": []});
    let huge = format!("event: response.output_text.delta\ndata: {delta}\n\n");
    let whole = [pieces[0].clone(), huge.repeat(6), pieces[pieces.len() - 1].clone()].concat();
    let upstream = Upstream::streaming(whole.clone().into_bytes());
    let gate = Gate::with(&upstream, "", &[("FRAMEGATE__LOG__MAX_BYTES", "1048576")]);
    let resources = gate.resources();
    let answer = gate.ask("/v1/responses", &[]);
    assert_eq!(answer.status, 200);
    assert!(answer.bytes() == whole.as_bytes(), "the client must get the whole answer");
    let run = gate.wait_for_end();
    assert_eq!((&run["state"], &run["error_code"]), (&json!("interrupted"), &json!("log_full")), "{run}");
    assert!(gate.log().contains("its client still gets it"), "{}", gate.log());
    let ended = "framegate_upstream_runs_ended_total{reason=\"log_full\",upstream=\"lab\"}";
    assert_eq!(gate.metric(ended), "1");
    upstream.wait_until_quiet();
    gate.wait_until_released(resources);
    // In a contract, the log is the only source of events, and the last event reports the end.
    let events = gate.ask("/v1/responses?contract=frames.v2", &[]).events();
    assert!(events.last().unwrap().data.contains("\"error_code\":\"log_full\""), "{:?}", events.last());
}

#[test]
fn a_full_disk_ends_no_answer_and_the_run_is_closed_once_there_is_room() {
    let whole = {
        let pieces = events(&recorded("scripted__text-valid.sse"));
        let delta = json!({"type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0,
            "content_index": 0, "sequence_number": 2, "delta": "x".repeat(400_000), "logprobs": []});
        let huge = format!("event: response.output_text.delta\ndata: {delta}\n\n");
        [pieces[0].clone(), huge.repeat(6), pieces[pieces.len() - 1].clone()].concat()
    };
    let upstream = Upstream::streaming(whole.clone().into_bytes());
    let folder = crate::proxy::Folder::new();
    let path = folder.path("framegate.db");
    let of_size = |size| {
        [
            ("FRAMEGATE__LOG__KIND", "sqlite"),
            ("FRAMEGATE__LOG__PATH", path.to_str().unwrap()),
            ("FRAMEGATE__LOG__MAX_FILE_BYTES", size),
        ]
    };
    let mut gate = Gate::with(&upstream, "", &of_size("1048576"));
    let answer = gate.ask("/v1/responses", &[]);
    assert!(answer.bytes() == whole.as_bytes(), "the client must get the whole answer");
    assert!(gate.log().contains("no room on disk"), "{}", gate.log());
    let kept = gate.runs()[0]["records"].as_u64().unwrap();
    assert!(gate.proxy.terminate().success());
    let gate = Gate::with(&upstream, "", &of_size("0"));
    let run = gate.wait_for_end();
    assert_eq!((&run["state"], &run["records"]), (&json!("interrupted"), &json!(kept)), "{run}");
}

#[test]
fn a_stored_response_is_retrieved_from_the_upstream_unless_configured_otherwise() {
    let bytes = recorded("scripted__text-valid.sse");
    let (stream, asked) = (bytes.clone(), json!({"id": "resp_lab", "object": "response", "status": "from there"}));
    let answer = asked.to_string();
    let upstream = Upstream::start(move |request, to| {
        if request.method == "POST" {
            stream_head(to);
            let _ = to.write_all(&stream);
        } else {
            whole(to, "200 OK", "content-type: application/json\r\n", answer.as_bytes());
        }
    });
    let second = format!(
        "[[upstream]]\nname = \"kept\"\nkind = \"responses\"\nretrieve = \"kept\"\nurl = \"{}\"",
        upstream.url()
    );
    let gate = Gate::new(&upstream, &second);
    drop(gate.ask("/v1/responses", &[]).bytes());
    gate.wait_for_end();
    assert_eq!(gate.get("/v1/responses/resp_lab?include=x").json(), asked);
    assert_eq!(upstream.requests().last().unwrap().path, "/v1/responses/resp_lab?include=x");
    // Each upstream has its own setting.
    assert_eq!(gate.get("/v1/responses/resp_lab?upstream=kept").json()["status"], "completed");
    assert_eq!(code(gate.get("/v1/responses/resp_lab?upstream=none")).0, 404);
    // The response's events are kept in both cases.
    assert!(gate.get("/v1/responses/resp_lab?stream=true").bytes() == bytes);
    assert_eq!(upstream.requests().len(), 2);
}

#[test]
fn a_client_may_disconnect_at_any_point() {
    let pieces = events(&recorded("scripted__text-valid.sse"));
    let gate_of = |wait| {
        let upstream = two_part_upstream(&pieces, 3, wait);
        let gate = Gate::new(&upstream, "");
        (upstream, gate)
    };
    let request = crate::responses::REQUEST;
    for path in ["/v1/responses", "/v1/responses?contract=agent-manager.v1"] {
        let (go, wait) = mpsc::channel::<()>();
        let (upstream, gate) = gate_of(wait);
        let resources = gate.resources();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            gate.proxy.address,
            request.len()
        );
        let whole = [head.as_bytes(), request].concat();
        // Cut in the head, after the head, and in the body: the upstream never gets a complete request.
        for cut in [10, head.len() - 2, head.len(), head.len() + 10] {
            let mut stream = crate::client::connect(gate.proxy.address);
            stream.write_all(&whole[..cut]).unwrap();
            drop(stream);
        }
        // After the request, before an answer.
        let mut stream = crate::client::connect(gate.proxy.address);
        stream.write_all(&whole).unwrap();
        gate.wait_for("the run", |run| run["records"].as_u64() >= Some(1));
        drop(stream);
        go.send(()).unwrap();
        let run = gate.wait_for_end();
        assert_eq!(run["state"], "completed", "{path}: {run}");
        assert_eq!(gate.runs().len(), 1, "{path}");
        upstream.wait_until_quiet();
        gate.wait_until_released(resources);
    }
}

#[test]
fn readers_of_an_open_run_receive_its_failure() {
    let pieces = events(&recorded("scripted__text-valid.sse"));
    let (go, wait) = mpsc::channel::<()>();
    let (begun, wait) = (pieces[..4].concat(), Mutex::new(wait));
    let upstream = Upstream::start(move |_, stream| {
        stream_head(stream);
        let _ = stream.write_all(begun.as_bytes());
        let _ = wait.lock().unwrap().recv_timeout(Duration::from_secs(30));
        reset(stream);
    });
    let gate = Gate::new(&upstream, "");
    let (address, own) = (gate.proxy.address, gate.ask("/v1/responses", &[]));
    let run = gate.wait_for("the run", |run| run["records"].as_u64() >= Some(4));
    let id = run["run_id"].as_str().unwrap().to_owned();
    let readers: Vec<_> = [("sse.v1", "run_failed"), ("hecate.v1", "run.failed"), ("agent-manager.v1", "failed")]
        .into_iter()
        .map(|(contract, word)| {
            let path = format!("/v1/runs/{id}/events?contract={contract}");
            let mut stream = get(address, &path, &[("accept", "text/event-stream")]);
            assert!(stream.event().is_some());
            thread::spawn(move || {
                let last = stream.events().pop().unwrap();
                assert!(last.data.contains(word) && last.data.contains("upstream"), "{contract}: {last:?}");
            })
        })
        .collect();
    go.send(()).unwrap();
    for reader in readers {
        reader.join().unwrap();
    }
    drop(own);
}

#[test]
fn a_response_can_be_started_with_a_prompt() {
    let bytes = recorded("scripted__text-valid.sse");
    let upstream = Upstream::start(move |request, stream| {
        let asked = String::from_utf8_lossy(&request.body).into_owned();
        if asked.contains("too often") {
            whole(stream, "429 Too Many Requests", "content-type: application/json\r\n", b"{}");
        } else {
            stream_head(stream);
            let _ = stream.write_all(&bytes);
        }
    });
    let gate = Gate::new(&upstream, "cancel_on_disconnect = true");
    let resources = gate.resources();
    let order = |order: serde_json::Value| {
        post(gate.proxy.address, "/v1/runs", &[("content-type", "application/json")], order.to_string().as_bytes())
    };
    let started =
        order(json!({"upstream": "lab", "prompt": "Say hello", "model": "lab-model", "session_id": "conv_1"}));
    assert_eq!(started.status, 201);
    let location = started.header("location").to_owned();
    let run = started.json();
    assert_eq!(location, format!("/v1/runs/{}", run["run_id"].as_str().unwrap()));
    assert_eq!(gate.wait_for_end()["state"], "completed");
    let seen = upstream.requests().remove(0);
    assert_eq!(
        (&*seen.method, &*seen.path, seen.header("content-type")),
        ("POST", "/v1/responses", "application/json")
    );
    let asked: serde_json::Value = serde_json::from_slice(&seen.body).unwrap();
    assert_eq!(asked, json!({"model": "lab-model", "input": "Say hello", "conversation": "conv_1", "stream": true}));
    let refused = order(json!({"upstream": "lab", "prompt": "too often", "model": "m"}));
    assert_eq!(refused.status, 502);
    assert!(refused.json()["detail"].as_str().unwrap().contains("429"));
    upstream.wait_until_quiet();
    gate.wait_until_released(resources);
    assert_eq!(gate.runs().len(), 1);
}

#[test]
fn a_started_response_survives_the_disconnect_of_its_client() {
    let bytes = recorded("scripted__text-valid.sse");
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let upstream = Upstream::start(move |_, stream| {
        let _ = wait.lock().unwrap().recv_timeout(Duration::from_secs(60));
        stream_head(stream);
        let _ = stream.write_all(&bytes);
    });
    let gate = Gate::new(&upstream, "cancel_on_disconnect = true");
    let resources = gate.resources();
    let order = json!({"upstream": "lab", "prompt": "Say hello", "model": "lab-model"}).to_string();
    Http2::connect(gate.proxy.address).send_and_disconnect("/v1/runs", order, || !upstream.requests().is_empty());
    go.send(()).unwrap();
    assert_eq!(gate.wait_for_end()["state"], "completed");
    upstream.wait_until_quiet();
    gate.wait_until_released(resources);
}
