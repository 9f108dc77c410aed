//! Ingest of a runner's output over HTTP.

use crate::client::{Upload, get, post};
use crate::proxy::{Proxy, recording};
use framegate_translators::runners::{RUNNERS, Runner, Sample};
use serde_json::json;

#[test]
fn an_ingest_answers_with_the_runs_it_created() {
    let proxy = Proxy::start();
    let answer =
        post(proxy.address, "/v1/ingest/claude-code", &[], &recording("claude-code", "multi_turn_stdin.ndjson"));
    assert_eq!(answer.status, 201);
    let made = answer.json();
    let runs = made["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 3, "{made:#}");
    for run in runs {
        assert_eq!(run["state"], "completed", "{made:#}");
        let again = get(proxy.address, &format!("/v1/runs/{}", run["run_id"].as_str().unwrap()), &[]).json();
        assert_eq!(&again, run);
    }
    let listed = get(proxy.address, "/v1/runs", &[]).json();
    let ids = |runs: &serde_json::Value| -> Vec<String> {
        runs.as_array().unwrap().iter().map(|run| run["run_id"].as_str().unwrap().to_owned()).collect()
    };
    let mut newest_first = ids(&made["runs"]);
    newest_first.reverse();
    assert_eq!(ids(&listed["data"]), newest_first);
}

#[test]
fn the_translation_is_streamed_back_while_the_input_arrives() {
    let proxy = Proxy::start();
    let bytes = recording("claude-code", "text_plain.partial.ndjson");
    let accept = [("accept", "text/event-stream; contract=sse.v1")];
    let mut upload = Upload::start(proxy.address, "/v1/ingest/claude-code", &accept);
    let mut lines = bytes.split_inclusive(|&byte| byte == b'\n');
    upload.send(lines.next().unwrap());
    let mut answer = upload.answer();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "text/event-stream; contract=sse.v1");
    assert_eq!(answer.event().unwrap().name.as_deref(), Some("run_started"));
    let mut text = String::new();
    for line in lines {
        upload.send(line);
        if line.windows(10).any(|part| part == b"text_delta") {
            let event = answer.event().unwrap();
            assert_eq!(event.name.as_deref(), Some("assistant_delta"));
            text.push_str(event.json()["payload"]["text"].as_str().unwrap());
        }
    }
    upload.end();
    let last = answer.event().unwrap().json();
    assert_eq!(last["type"], "run_completed");
    assert_eq!(last["payload"]["final_text"], text);
    assert!(answer.event().is_none());
}

#[test]
fn chunks_of_any_size_are_stored_byte_for_byte() {
    let proxy = Proxy::start();
    let bytes = recording("claude-code", "long_text_200k.ndjson");
    let sizes = [1, 2_047, 2_048, 2_049, 3, 9_000, 2_048, 2_048, 100];
    let mut upload = Upload::start(proxy.address, "/v1/ingest/claude-code", &[]);
    let (mut rest, mut sent) = (bytes.as_slice(), 0);
    for size in sizes.into_iter().cycle() {
        let (piece, rest_of_it) = rest.split_at(size.min(rest.len()));
        upload.send(piece);
        (rest, sent) = (rest_of_it, sent + 1);
        if rest.is_empty() {
            break;
        }
    }
    assert!(sent > sizes.len(), "each size must be used");
    let answer = upload.finish();
    let made = answer.json();
    let run = made["runs"][0]["run_id"].as_str().unwrap_or_else(|| panic!("{made:#}")).to_owned();
    let raw =
        get(proxy.address, &format!("/v1/runs/{run}/events?contract=raw"), &[("accept", "application/octet-stream")]);
    assert!(raw.bytes() == bytes, "the bytes differ");
}

#[test]
fn a_connection_that_breaks_ends_the_run_as_interrupted() {
    let proxy = Proxy::start();
    let bytes = recording("claude-code", "text_plain.partial.ndjson");
    let mut upload = Upload::start(proxy.address, "/v1/ingest/claude-code", &[("accept", "application/x-ndjson")]);
    upload.send(&bytes[..bytes.len() / 2]);
    let mut answer = upload.answer();
    assert!(answer.line().is_some());
    drop(answer);
    drop(upload);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    loop {
        let runs = get(proxy.address, "/v1/runs", &[]).json();
        if runs["data"][0]["state"] == "interrupted" {
            assert_eq!(runs["data"][0]["error_code"], "stream_ended");
            return;
        }
        assert!(std::time::Instant::now() < deadline, "{runs:#}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn an_unknown_runner_is_answered_with_the_known_ones() {
    let proxy = Proxy::start();
    let answer = post(proxy.address, "/v1/ingest/claude", &[], b"");
    assert_eq!(answer.status, 404);
    assert_eq!(answer.header("content-type"), "application/problem+json");
    assert!(answer.json()["detail"].as_str().unwrap().contains("claude-code"));
}

#[test]
fn invalid_records_are_stored_and_counted() {
    let proxy = Proxy::start();
    let bytes = b"not json\n{\"type\":\"no_such_type\"}\n{\"type\":\xff}\n{\"type\":\"assist";
    let result = br#"{"type":"result","subtype":"success","is_error":false,"session_id":"s","result":"ok"}"#;
    let answer = post(proxy.address, "/v1/ingest/claude-code", &[], &[&result[..], b"\n", bytes].concat());
    assert_eq!(answer.status, 201);
    let made = answer.json();
    assert_eq!(
        (&made["records"], &made["invalid_records"], &made["unknown_records"]),
        (&json!(5), &json!(3), &json!(1))
    );
    assert_eq!(made["runs"].as_array().unwrap().len(), 1);
    let clean = post(proxy.address, "/v1/ingest/claude-code", &[], result).json();
    assert_eq!((&clean["invalid_records"], &clean["unknown_records"]), (&json!(0), &json!(0)));
}

#[test]
fn a_body_without_any_known_record_is_refused_with_a_diagnosis() {
    let proxy = Proxy::start();
    for (body, counts, parts) in [
        (
            &b"not json\n{\"type\":\"no_such_type\"}\n"[..],
            (2, 1, 1),
            &["2 records: 1 not JSON, 1 of unknown types", "record 1 at byte 0: not JSON"][..],
        ),
        (b"", (0, 0, 0), &["(no records)"]),
        (b"\n\n", (0, 0, 0), &["(no records)"]),
    ] {
        let answer = post(proxy.address, "/v1/ingest/claude-code", &[], body);
        assert_eq!((answer.status, answer.header("content-type")), (422, "application/problem+json"));
        let problem = answer.json();
        assert_eq!(
            (&problem["records"], &problem["invalid_records"], &problem["unknown_records"]),
            (&json!(counts.0), &json!(counts.1), &json!(counts.2))
        );
        for part in parts {
            assert!(problem["detail"].as_str().unwrap().contains(part), "{problem:#}");
        }
    }
    let auto = post(proxy.address, "/v1/ingest/auto", &[], b"prose\n{\"type\":\"letter\"}\n").json();
    assert_eq!((&auto["status"], &auto["records"], &auto["invalid_records"]), (&json!(422), &json!(2), &json!(1)));
    assert!(auto["detail"].as_str().unwrap().contains("record 1 at byte 0: not JSON"), "{auto:#}");
    // The output of another runner is reported as such.
    let codex = recording("codex", "exec-text-plain.ndjson");
    let answer = post(proxy.address, "/v1/ingest/claude-code", &[], &codex);
    assert_eq!(answer.status, 422);
    let problem = answer.json();
    assert_eq!(problem["looks_like"], "codex");
    assert!(problem["detail"].as_str().unwrap().contains("send it to /v1/ingest/codex"), "{problem:#}");
}

#[test]
fn a_compressed_body_without_its_header_is_refused_with_the_command_that_reads_it() {
    let proxy = Proxy::start();
    for path in ["/v1/ingest/claude-code", "/v1/ingest/auto"] {
        for (body, what, reader) in [
            (&b"\x1F\x8B\x08\0junk\n"[..], "gzip", "gzip -dc"),
            (b"\x28\xB5\x2F\xFD\n", "zstd", "zstd -dc"),
            (b"\xFD7zXZ\0\n", "xz", "xz -dc"),
        ] {
            let answer = post(proxy.address, path, &[], body);
            assert_eq!(answer.status, 415, "{path} {what}");
            let problem = answer.json();
            let detail = problem["detail"].as_str().unwrap();
            assert!(detail.contains(what) && detail.contains(reader), "{detail}");
        }
    }
    assert_eq!(get(proxy.address, "/v1/runs", &[]).json()["data"], json!([]));
}

#[test]
fn a_complete_body_starts_at_its_recorded_time_and_a_live_one_now() {
    let run = |session: &str, time: &str| {
        format!(
            "{{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"{session}\"}}\n\
             {{\"type\":\"assistant\",\"session_id\":\"{session}\",\"timestamp\":\"{time}\",\"parent_tool_use_id\":null,\
             \"message\":{{\"id\":\"m{session}\",\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"hi\"}}]}}}}\n\
             {{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"session_id\":\"{session}\",\"result\":\"ok\"}}\n"
        )
    };
    let text = run("a", "2025-03-04T05:06:07.000Z") + &run("b", "2025-03-04T06:00:00.000Z");
    let times = |made: &serde_json::Value| -> Vec<u64> {
        made["runs"].as_array().unwrap().iter().map(|run| run["started_at_ms"].as_u64().unwrap()).collect()
    };
    for path in ["/v1/ingest/claude-code", "/v1/ingest/auto"] {
        let proxy = Proxy::start();
        let whole = times(&post(proxy.address, path, &[], text.as_bytes()).json());
        let first = 1_741_064_767_000;
        assert!((first..first + 60_000).contains(&whole[0]) && whole.is_sorted(), "{whole:?}");
        let mut upload = Upload::start(proxy.address, path, &[]);
        upload.send(text.as_bytes());
        let live = times(&upload.finish().json());
        assert!(live[0] > 1_790_000_000_000 && live.is_sorted(), "{live:?}");
    }
}

#[test]
fn auto_recognises_the_runner() {
    for Runner { name: runner, sample: Sample { file: name, bytes, .. }, .. } in RUNNERS {
        // Another proxy each time: the frames of a run are the same run as its records.
        let proxy = Proxy::start();
        let answer = post(proxy.address, "/v1/ingest/auto", &[], bytes);
        assert_eq!(answer.status, 201, "{name}");
        let auto = answer.json();
        let named = post(proxy.address, &format!("/v1/ingest/{runner}"), &[], bytes).json();
        assert_eq!(auto["records"], named["records"], "{name}");
        assert_eq!(auto["runs"][0]["runner"], named["runs"][0]["runner"], "{name}");
        assert_eq!(auto["runs"][0]["frames"], named["runs"][0]["frames"], "{name}");
    }
}

#[test]
fn auto_streams_its_answer_once_the_runner_is_recognised() {
    let proxy = Proxy::start();
    let bytes = recording("claude-code", "text_plain.partial.ndjson");
    let accept = [("accept", "text/event-stream; contract=sse.v1")];
    let mut upload = Upload::start(proxy.address, "/v1/ingest/auto", &accept);
    upload.send(b"{\"of\":\"nobody\"}\n");
    let (first, rest) = bytes.split_at(bytes.iter().position(|&byte| byte == b'\n').unwrap() + 1);
    upload.send(first);
    let mut answer = upload.answer();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.event().unwrap().name.as_deref(), Some("run_started"));
    upload.send(rest);
    upload.end();
    let events = answer.events();
    assert_eq!(events.last().unwrap().name.as_deref(), Some("run_completed"));
}

#[test]
fn auto_refuses_unrecognised_input() {
    let proxy = Proxy::start();
    for headers in [&[][..], &[("accept", "text/event-stream")][..]] {
        for body in [&b"{\"a\":1}\n"[..], b"", b"{\"a\":1}"] {
            let answer = post(proxy.address, "/v1/ingest/auto", headers, body);
            assert_eq!(answer.status, 422);
            assert_eq!(answer.header("content-type"), "application/problem+json");
            assert!(answer.json()["detail"].as_str().unwrap().contains("claude-code, codex, opencode, open-responses"));
        }
        // A last line without a line end is a record too.
        let answer = post(proxy.address, "/v1/ingest/auto", headers, b"{\"type\":\"turn.started\"}");
        assert!(answer.status == 201 || answer.status == 200, "{}", answer.status);
    }
    let runs = get(proxy.address, "/v1/runs", &[]).json();
    assert_eq!(runs["data"].as_array().unwrap().len(), 2, "{runs:#}");
}

#[test]
fn drift_is_counted_per_run() {
    let clean = recording("open-responses", "fastresponses__text.sse");
    let text = String::from_utf8(clean.clone()).unwrap();
    let deltas = text.matches("\"type\":\"response.output_text.delta\"").count();
    assert!(deltas > 1);
    let drifted = text.replace("\"delta\":", "\"piece\":") + "data: nonsense\n\n";
    let status = |proxy: &Proxy, bytes: &[u8]| {
        let made = post(proxy.address, "/v1/ingest/open-responses", &[], bytes).json();
        made["runs"][0]["drift"].clone()
    };
    let proxy = Proxy::start();
    assert_eq!(status(&proxy, &clean), serde_json::Value::Null);
    for _ in 0..2 {
        let drift = status(&proxy, drifted.as_bytes());
        assert_eq!(drift["unknown_field"], deltas, "{drift}");
        assert_eq!(drift["missing_field"], deltas, "{drift}");
    }
    let off = Proxy::with(&[("FRAMEGATE__INGEST__DRIFT", "false")]);
    assert_eq!(status(&off, drifted.as_bytes()), serde_json::Value::Null);
}

#[test]
fn any_number_of_interleaved_streams_is_followed_without_gaps() {
    let proxy = Proxy::start();
    // More streams than are read at a time, so that each one is paused and resumed.
    let round = |record: &str| (0..600).map(|at| record.replace("{at}", &at.to_string()) + "\n").collect::<String>();
    let unknown = r#"{"type":"nobody_knows","session_id":"s{at}"}"#;
    let begin = r#"{"type":"system","subtype":"init","session_id":"s{at}","model":"m","tools":[]}"#;
    let body = [unknown, unknown, begin, unknown].map(round).concat();
    let accept = [("accept", "application/x-ndjson; contract=frames.v2")];
    let answer = post(proxy.address, "/v1/ingest/claude-code", &accept, body.as_bytes());
    assert_eq!(answer.status, 200);
    let (mut next, mut records) = (std::collections::HashMap::new(), 0);
    for line in answer.text().lines() {
        let frame: serde_json::Value = serde_json::from_str(line).unwrap();
        let next: &mut u64 =
            next.entry((frame["stream_kind"].to_string(), frame["stream_id"].to_string())).or_default();
        assert_eq!(frame["seq"], *next, "{frame}");
        *next += 1;
        records += usize::from(frame["type"] == "provider_event");
    }
    assert_eq!(records, 2400);
    assert!(next.len() >= 1200, "{} streams", next.len());
}
