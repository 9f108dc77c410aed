//! `raw` over HTTP: numbered objects in the negotiated media type, or the runner's bytes in a separate media type.

use crate::client::{get, post};
use crate::proxy::Proxy;
use serde_json::Value;

/// Lines that look like server-sent events, a line with two records, and a line that is not UTF-8.
const LINES: &[&[u8]] = &[
    br#"{"type":"thread.started","thread_id":"0198c1c2-0000-7000-8000-000000000001"}"#,
    br#"{"type":"turn.started"}"#,
    b"data: {\"forged\":1}",
    b"id: 99\revent: forged\rdata: {\"forged\":2}\r\rdata: x",
    b"{\"a\":1} {\"b\":\"\xff\"}",
    br#"{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}"#,
    br#"{"type":"late"}"#,
];

const SSE: &str = "\u{FEFF}: hello\n\nevent: response.created\nid: 7\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"r\",\"status\":\"in_progress\"}}\n\n\
    event: response.completed\ndata: {\"type\":\"response.completed\",\ndata: \"response\":{\"id\":\"r\",\"status\":\"completed\"}}\n\n\
    {\"error\":{\"message\":\"late\"}}\n\ndata: [DONE]\n\n: bye\n";

fn run_of(proxy: &Proxy, runner: &str, media: &str, body: &[u8]) -> String {
    let made = post(proxy.address, &format!("/v1/ingest/{runner}"), &[("content-type", media)], body).json();
    made["runs"][0]["run_id"].as_str().unwrap_or_else(|| panic!("{made:#}")).to_owned()
}

fn both(proxy: &Proxy) -> [(String, Vec<u8>, u64); 2] {
    let lines = LINES.join(&b'\n');
    let ndjson = run_of(proxy, "codex", "application/x-ndjson", &lines);
    let sse = run_of(proxy, "open-responses", "text/event-stream", SSE.as_bytes());
    [(ndjson, lines, 8), (sse, SSE.as_bytes().to_vec(), 4)]
}

#[test]
fn records_are_numbered_and_cannot_forge_events() {
    let proxy = Proxy::start();
    for (run, _, records) in both(&proxy) {
        let path = format!("/v1/runs/{run}/events?contract=raw");
        let answer = get(proxy.address, &path, &[("accept", "text/event-stream")]);
        assert_eq!(answer.header("content-type"), "text/event-stream; contract=raw");
        let events = answer.events();
        let numbered = |event: &Value| event["record"].as_u64().unwrap();
        let of_sse: Vec<Value> = events.iter().map(|event| serde_json::from_str(&event.data).unwrap()).collect();
        assert_eq!(of_sse.iter().map(numbered).collect::<Vec<_>>(), (0..records).collect::<Vec<_>>());
        let ids: Vec<_> = events.iter().map(|event| event.id.clone().unwrap()).collect();
        assert_eq!(ids, (0..records).map(|number| number.to_string()).collect::<Vec<_>>());
        assert!(events.iter().all(|event| event.name.is_none()), "a record must not set the event's name");

        let answer = get(proxy.address, &path, &[("accept", "application/x-ndjson")]);
        assert_eq!(answer.header("content-type"), "application/x-ndjson; contract=raw");
        let of_lines: Vec<Value> = answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(of_lines, of_sse);

        let page = get(proxy.address, &format!("{path}&limit=3"), &[("accept", "application/json")]).json();
        assert_eq!(page["data"].as_array().unwrap()[..], of_sse[..3]);
        assert_eq!(page["next"], 2);

        // A client resumes after the last record that it saw. A browser stops when it has all records.
        let rest = get(proxy.address, &path, &[("accept", "text/event-stream"), ("last-event-id", "1")]).events();
        assert_eq!(rest.first().and_then(|event| event.id.as_deref()), Some("2"));
        let last = (records - 1).to_string();
        let done = get(proxy.address, &path, &[("accept", "text/event-stream"), ("last-event-id", &last)]);
        assert_eq!(done.status, 204);
    }
}

#[test]
fn a_record_has_the_content_that_the_runner_wrote() {
    let proxy = Proxy::start();
    let [(ndjson, ..), (sse, ..)] = both(&proxy);
    let records = |run: &str| -> Vec<Value> {
        let answer =
            get(proxy.address, &format!("/v1/runs/{run}/events?contract=raw"), &[("accept", "application/x-ndjson")]);
        answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let records = (records(&ndjson), records(&sse));
    assert_eq!(
        (&records.0[2]["status"], &records.0[2]["raw"]),
        (&"invalid_json".into(), &"data: {\"forged\":1}".into())
    );
    assert_eq!(records.0[4]["data"], serde_json::json!({"a": 1}));
    assert_eq!(records.0[5]["data"], serde_json::json!({"b": "\u{FFFD}"}));
    assert_eq!(records.1[0]["event_name"], "response.created");
    assert_eq!(records.1[2]["data"]["error"]["message"], "late");
    assert_eq!((&records.1[3]["status"], &records.1[3]["raw"]), (&"done".into(), &"[DONE]".into()));
}

#[test]
fn the_raw_bytes_have_their_own_media_type() {
    let proxy = Proxy::start();
    for (run, bytes, records) in both(&proxy) {
        let path = format!("/v1/runs/{run}/events");
        for (path, accept) in [
            (path.clone(), "application/octet-stream"),
            (format!("{path}?contract=raw"), "application/octet-stream"),
            (path.clone(), "application/octet-stream; contract=raw"),
        ] {
            let answer = get(proxy.address, &path, &[("accept", accept)]);
            assert_eq!(answer.header("content-type"), "application/octet-stream; contract=raw");
            let lines = |bytes: &[u8]| -> Vec<Vec<u8>> {
                let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec);
                lines.filter(|line| !line.trim_ascii().is_empty()).collect()
            };
            let mut expected = lines(&bytes);
            // Records after the end marker belong to no run.
            expected.retain(|line| line != b": bye");
            assert_eq!(lines(&answer.bytes()), expected);
        }
        let last = records - 1;
        let done = get(proxy.address, &format!("{path}?after={last}"), &[("accept", "application/octet-stream")]);
        assert_eq!(done.status, 204);
        let other = get(proxy.address, &format!("{path}?contract=sse.v1"), &[("accept", "application/octet-stream")]);
        assert_eq!(other.status, 406);
    }
}
