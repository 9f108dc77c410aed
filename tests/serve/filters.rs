//! Query parameters of lists and streams: filters, limits, and invalid values.

use crate::client::{get, post};
use crate::proxy::{Proxy, recording};

#[test]
fn a_runner_has_one_name_in_every_answer() {
    let proxy = Proxy::start();
    let input = recording("open-responses", "scripted__text-valid.sse");
    let made = post(proxy.address, "/v1/ingest/open-responses", &[], &input).json();
    assert_eq!(made["runs"][0]["runner"], "open-responses", "{made:#}");
    let claude = recording("claude-code", "text_plain.ndjson");
    assert_eq!(post(proxy.address, "/v1/ingest/claude-code", &[], &claude).status, 201);
    let count =
        |query: &str| get(proxy.address, &format!("/v1/runs{query}"), &[]).json()["data"].as_array().unwrap().len();
    assert_eq!(count(""), 2);
    assert_eq!((count("?runner=open-responses"), count("?runner=claude-code"), count("?runner=codex")), (1, 1, 0));
    assert_eq!((count("?state=completed"), count("?state=running")), (2, 0));
    let run = made["runs"][0]["run_id"].as_str().unwrap();
    assert_eq!(get(proxy.address, &format!("/v1/runs/{run}"), &[]).json()["runner"], "open-responses");
    // Frames use the document's name.
    let page = get(proxy.address, &format!("/v1/runs/{run}/events?contract=frames.v2&limit=2"), &[]).json();
    assert_eq!(page["data"][1]["provider"], "openresponses", "{page:#}");
    let metrics = get(proxy.address, "/metrics", &[]).text();
    assert!(metrics.contains("runner=\"open-responses\"") && !metrics.contains("openresponses"), "{metrics}");
}

#[test]
fn invalid_parameters_are_refused_with_the_valid_values() {
    let proxy = Proxy::start();
    let input = recording("claude-code", "text_plain.ndjson");
    let made = post(proxy.address, "/v1/ingest/claude-code", &[], &input).json();
    let run = made["runs"][0]["run_id"].as_str().unwrap();
    let session = made["runs"][0]["session_id"].as_str().unwrap();
    for (path, part) in [
        ("/v1/runs?runner=openresponses".to_owned(), "open-responses"),
        ("/v1/runs?state=finished".to_owned(), "running, waiting_approval, completed, failed, interrupted"),
        ("/v1/runs?limit=many".to_owned(), "limit must be a whole number"),
        ("/v1/runs?skip=-1".to_owned(), "skip must be a whole number"),
        ("/v1/runs?after=3".to_owned(), "limit, skip, session_id, runner, state"),
        ("/v1/runs?session_id=abc".to_owned(), "session_id must be a UUID"),
        (format!("/v1/runs/{run}?fields=all"), "this path has no parameters"),
        (format!("/v1/runs/{run}/events?experimental=maybe"), "1, true, 0 or false"),
        (format!("/v1/runs/{run}/events?runner=codex"), "contract, experimental, after, limit"),
        (format!("/v1/runs/{run}/events?limit=0"), "1 or more"),
        (format!("/v1/sessions/{session}/events?event_type=nothing"), "session_started"),
        ("/v1/events?event_type=run.started".to_owned(), "event_type of frames.v2"),
        ("/v1/events?contract=hecate.v1&event_type=session_started".to_owned(), "run.started"),
        ("/v1/events?limit=1&limit=2".to_owned(), "given twice"),
    ] {
        let answer = get(proxy.address, &path, &[]);
        assert_eq!(answer.status, 400, "{path}");
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(part), "{path}: {detail}");
    }
    let refused = post(proxy.address, "/v1/ingest/claude-code?runner=codex", &[], &input);
    assert_eq!((refused.status, refused.json()["detail"].as_str().unwrap().contains("contract")), (400, true));
}

#[test]
fn a_limit_selects_a_page_or_ends_the_stream() {
    let proxy = Proxy::start();
    let input = recording("claude-code", "text_plain.ndjson");
    let made = post(proxy.address, "/v1/ingest/claude-code", &[], &input).json();
    let run = made["runs"][0]["run_id"].as_str().unwrap();
    for path in ["/v1/events?contract=frames.v2&".to_owned(), format!("/v1/runs/{run}/events?contract=frames.v2&")] {
        for accept in [&[][..], &[("accept", "*/*")], &[("accept", "application/json")]] {
            let page = get(proxy.address, &format!("{path}limit=3"), accept);
            assert!(page.header("content-type").starts_with("application/json"), "{path} {accept:?}");
            assert_eq!(page.json()["data"].as_array().unwrap().len(), 3);
        }
        let stream = [("accept", "text/event-stream")];
        let first = get(proxy.address, &format!("{path}limit=3"), &stream).text();
        assert_eq!(first.matches("data: ").count(), 3, "{first}");
        assert!(!first.contains("stopping"), "the stream must end because of its limit: {first}");
        // The last id is the cursor for the rest.
        let last = first.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap();
        let rest = get(proxy.address, &format!("{path}limit=2&after={last}"), &stream).events();
        assert_eq!(rest.len(), 2);
        assert_eq!(rest[0].json()["seq"], 3, "{path}");
        let lines = get(proxy.address, &format!("{path}limit=4"), &[("accept", "application/x-ndjson")]).text();
        assert_eq!(lines.lines().count(), 4);
    }
    let hecate = get(proxy.address, "/hecate/v1/events/stream?limit=2", &[]).events();
    assert_eq!(hecate.len(), 2);
    // In contracts with events without a cursor, the stream ends at an event with one.
    let pixir = get(
        proxy.address,
        &format!("/v1/runs/{run}/events?contract=pixir.v1&limit=1"),
        &[("accept", "text/event-stream")],
    );
    assert!(pixir.events().last().unwrap().id.is_some());
}
