//! The native paths of `hecate.v1`, and the run status of `sse.v1`.

use crate::client::{Event, get, post};
use crate::proxy::{Proxy, recording};
use serde_json::{Value, json};

const LIST: [(&str, &str); 1] = [("accept", "application/json")];

fn ingested(proxy: &Proxy, name: &str) -> (String, String) {
    let made = post(proxy.address, "/v1/ingest/claude-code", &[], &recording("claude-code", name)).json();
    let text = |key: &str| made["runs"][0][key].as_str().unwrap().to_owned();
    (text("run_id"), text("session_id"))
}

/// The events of a run on the neutral path, and the native path with the ids that they name.
fn native(proxy: &Proxy, run: &str) -> (Vec<Event>, String) {
    let events = get(proxy.address, &format!("/v1/runs/{run}/events?contract=hecate.v1"), &[]).events();
    let first = events[0].json();
    let text = |key: &str| first[key].as_str().unwrap().to_owned();
    let path = format!("/hecate/v1/tasks/{}/runs/{}/events", text("task_id"), text("run_id"));
    (events, path)
}

#[test]
fn a_run_of_a_task_is_a_stream_or_a_list() {
    let proxy = Proxy::start();
    let (run, session) = ingested(&proxy, "bash_ok.partial.ndjson");
    let (events, path) = native(&proxy, &run);
    let stream = get(proxy.address, &path, &[("accept", "text/event-stream")]);
    assert_eq!(stream.header("content-type"), "text/event-stream; contract=hecate.v1");
    assert_eq!(stream.header("x-accel-buffering"), "no");
    assert_eq!(stream.events(), events);
    assert_eq!(get(proxy.address, &path, &[]).events(), events, "a stream is the default");
    let by_uuid = format!("/hecate/v1/tasks/{session}/runs/{run}/events");
    assert_eq!(get(proxy.address, &by_uuid, &[]).events(), events);
    let all: Vec<Value> = events.iter().map(Event::json).collect();
    let list = get(proxy.address, &path, &LIST);
    assert_eq!(list.header("content-type"), "application/json");
    assert_eq!(list.json(), json!({"object": "list", "data": all}));
    let page = get(proxy.address, &format!("{path}?after_sequence=1&limit=2"), &[]).json();
    assert_eq!(page, json!({"object": "list", "data": all[2..4]}), "a limit selects a list");
    assert_eq!(get(proxy.address, &format!("{path}?after_sequence=0"), &LIST).json()["data"], json!(all[1..]));
    assert_eq!(get(proxy.address, &format!("{path}?after_sequence=-1"), &LIST).json()["data"], json!(all));
    let last = (all.len() - 1).to_string();
    assert_eq!(get(proxy.address, &path, &[("last-event-id", &last)]).status, 204);
    assert_eq!(
        get(proxy.address, &format!("{path}?after_sequence=0"), &[("last-event-id", "2")]).events(),
        events[3..]
    );
    assert_eq!(
        get(proxy.address, &format!("{path}?after_sequence=2"), &[("last-event-id", "0")]).events(),
        events[3..]
    );
}

#[test]
fn a_list_has_200_events_by_default_and_at_most_500() {
    let proxy = Proxy::start();
    let calls: String = (0..200)
        .map(|nth| {
            let call = json!({"type": "assistant", "session_id": "s", "message": {"id": format!("m{nth}"), "role": "assistant",
                "content": [{"type": "tool_use", "id": format!("t{nth}"), "name": "Bash", "input": {"command": "x"}}]}});
            let result = json!({"type": "user", "session_id": "s", "message": {"role": "user",
                "content": [{"type": "tool_result", "tool_use_id": format!("t{nth}"), "content": "y"}]}});
            format!("{call}\n{result}\n")
        })
        .collect();
    let made = post(proxy.address, "/v1/ingest/claude-code", &[], calls.as_bytes()).json();
    let run = made["runs"][0]["run_id"].as_str().unwrap();
    let (events, path) = native(&proxy, run);
    assert!(events.len() > 500, "{}", events.len());
    let count =
        |query: &str| get(proxy.address, &format!("{path}{query}"), &LIST).json()["data"].as_array().unwrap().len();
    assert_eq!((count(""), count("?limit=3"), count("?limit=500"), count("?limit=9999")), (200, 3, 500, 500));
}

#[test]
fn errors_have_the_form_of_the_original_api() {
    let proxy = Proxy::start();
    let (run, session) = ingested(&proxy, "bash_ok.ndjson");
    let (_, path) = native(&proxy, &run);
    let (other, _) = ingested(&proxy, "text_plain.ndjson");
    for (path, status, part) in [
        (format!("/hecate/v1/tasks/{session}/runs/run_0/events"), 404, "run_0"),
        (format!("/hecate/v1/tasks/{session}/runs/{other}/events"), 404, "of task"),
        (format!("/hecate/v1/tasks/task_0/runs/{run}/events"), 404, "task_0"),
        (format!("{path}?after_sequence=x"), 400, "after_sequence must be a non-negative integer"),
        (format!("{path}?after_sequence=-2"), 400, "after_sequence must be a non-negative integer"),
        (format!("{path}?limit=0"), 400, "limit must be"),
        (format!("{path}?contract=sse.v1"), 406, "only supports hecate.v1"),
        ("/hecate/v1/events/stream?task_id=x".to_owned(), 400, "task_id"),
        ("/hecate/v1/events/stream?after_sequence=x".to_owned(), 400, "after"),
    ] {
        let answer = get(proxy.address, &path, &[]);
        assert_eq!((answer.status, answer.header("content-type")), (status, "application/json"), "{path}");
        let body = answer.json();
        assert!(body["error"]["message"].as_str().unwrap().contains(part), "{path}: {body}");
        assert_eq!(body.as_object().unwrap().len(), 1);
    }
    assert_eq!(get(proxy.address, &path, &[("accept", "text/html")]).status, 406);
}

#[test]
fn the_cross_run_feed_has_the_events_of_all_runs_and_its_own_cursors() {
    let proxy = Proxy::start();
    let (one, session) = ingested(&proxy, "bash_ok.ndjson");
    let (two, _) = ingested(&proxy, "text_plain.ndjson");
    let expected: Vec<String> =
        [&one, &two].iter().flat_map(|run| native(&proxy, run).0).map(|event| event.data).collect();
    let mut answer = get(proxy.address, "/hecate/v1/events/stream", &[]);
    assert_eq!(answer.header("content-type"), "text/event-stream; contract=hecate.v1");
    let seen: Vec<Event> = expected.iter().map(|_| answer.event().unwrap()).collect();
    assert_eq!(seen.iter().map(|event| event.data.clone()).collect::<Vec<_>>(), expected);
    assert!(seen.iter().all(|event| event.name.is_none()));
    let last = seen[seen.len() - 2].id.as_deref().unwrap();
    let mut resumed = get(proxy.address, "/hecate/v1/events/stream", &[("last-event-id", last)]);
    assert_eq!(resumed.event().as_ref(), seen.last());
    let task = seen[0].json()["task_id"].as_str().unwrap().to_owned();
    for id in [task, session] {
        let path = format!("/hecate/v1/events/stream?task_id={id}&event_type=run.finished");
        let event = get(proxy.address, &path, &[]).event().unwrap().json();
        assert_eq!((&event["type"], &event["run_id"]), (&json!("run.finished"), &seen[0].json()["run_id"]));
    }
}

#[test]
fn budget_and_thinking_events_follow_the_settings() {
    let kinds = |settings: &[(&str, &str)], name: &str| -> Vec<String> {
        let proxy = Proxy::with(settings);
        let (run, _) = ingested(&proxy, name);
        native(&proxy, &run).0.iter().map(|event| event.json()["type"].as_str().unwrap().to_owned()).collect()
    };
    let has = |kinds: &[String], kind: &str| kinds.iter().any(|one| one == kind);
    let plain = kinds(&[], "bash_ok.partial.ndjson");
    assert!(!has(&plain, "cost.budget_exceeded"));
    let tight = kinds(&[("FRAMEGATE__HECATE__TASK_BUDGET_MICROS_USD", "1")], "bash_ok.partial.ndjson");
    assert!(has(&tight, "cost.budget_warning") && has(&tight, "cost.budget_exceeded"), "{tight:?}");
    let thinks = |settings: &[(&str, &str)]| {
        has(&kinds(settings, "thinking_text.partial.ndjson"), "assistant.thinking_complete")
    };
    assert!(!thinks(&[]));
    assert!(thinks(&[("FRAMEGATE__HECATE__THINKING", "true")]));
}

#[test]
fn errors_on_native_paths_have_the_form_of_the_document() {
    let proxy = Proxy::start();
    let (run, session) = ingested(&proxy, "text_plain.ndjson");
    let stream = format!("/api/v1/sessions/{session}/runs/{run}/stream");
    for (path, status, code) in [
        (format!("{stream}?foo=1"), 400, "BAD_REQUEST"),
        (format!("/api/v1/runs/{run}?foo=1"), 400, "BAD_REQUEST"),
        ("/api/v1/nothing".to_owned(), 404, "NOT_FOUND"),
    ] {
        let answer = get(proxy.address, &path, &[]);
        assert_eq!((answer.status, answer.header("content-type")), (status, "application/json"), "{path}");
        assert_eq!(answer.json()["error"]["code"], code, "{path}");
    }
    let wrong = post(proxy.address, &stream, &[], b"");
    assert_eq!((wrong.status, wrong.json()["error"]["code"].as_str()), (405, Some("METHOD_NOT_ALLOWED")));
    for (path, status) in [("/hecate/v1/events/stream?foo=1", 400), ("/hecate/v1/nothing", 404)] {
        let answer = get(proxy.address, path, &[]);
        assert_eq!((answer.status, answer.header("content-type")), (status, "application/json"), "{path}");
        assert!(answer.json()["error"]["message"].is_string(), "{path}");
    }
}

#[test]
fn the_status_of_a_run_matches_its_terminal_event() {
    let proxy = Proxy::start();
    let (run, session) = ingested(&proxy, "text_plain.ndjson");
    let events = get(proxy.address, &format!("/v1/runs/{run}/events?contract=sse.v1"), &[]).events();
    let (first, last) = (events[0].json(), events.last().unwrap().json());
    let answer = get(proxy.address, &format!("/api/v1/runs/{run}"), &[]);
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    let status = answer.json();
    assert_eq!(
        status,
        json!({
            "run_id": run, "session_id": session, "status": "completed",
            "started_at": first["ts"], "updated_at": last["ts"], "ended_at": last["ts"],
            "final_text": last["payload"]["final_text"],
        })
    );
    let cut = &recording("claude-code", "text_plain.ndjson");
    let line_end = cut.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    let made = post(proxy.address, "/v1/ingest/claude-code", &[], &cut[..line_end]).json();
    let run = made["runs"][0]["run_id"].as_str().unwrap();
    let status = get(proxy.address, &format!("/api/v1/runs/{run}"), &[]).json();
    assert_eq!(status["status"], "interrupted");
    assert!(status.get("final_text").is_none() && status.get("error_code").is_none(), "{status}");
    for unknown in ["nonsense", "00000000-0000-4000-8000-000000000000"] {
        let answer = get(proxy.address, &format!("/api/v1/runs/{unknown}"), &[]);
        assert_eq!(answer.status, 404);
        let expected = json!({"error": {"code": "RUN_NOT_FOUND", "message": "no such run", "details": {}}});
        assert_eq!(answer.json(), expected);
    }
    let wrong = post(proxy.address, &format!("/api/v1/runs/{run}"), &[], b"");
    assert_eq!((wrong.status, wrong.header("allow")), (405, "GET, HEAD, OPTIONS"));
}
