//! The live answer of an ingest: it contains what this ingest produced, and nothing that others sent to the same streams.

use crate::auth::{bearer, token};
use crate::client::{Upload, get, post};
use crate::proxy::{Folder, Proxy, another};
use framegate_translators::contracts::names;

const INGEST: &str = "/v1/ingest/claude-code";
const SESSION: &str = "5d3c1a6e-0d0e-4d47-9d0c-333333333333";
const MEDIA: [&str; 2] = ["text/event-stream", "application/x-ndjson"];

/// A record outside any run: it goes to a stream that all ingests of its session share.
fn remark(text: &str) -> Vec<u8> {
    format!("{{\"type\":\"mystery\",\"session_id\":\"{SESSION}\",\"text\":\"{text}\"}}\n").into_bytes()
}

#[test]
fn an_ingest_token_reads_nothing_that_others_sent() {
    let folder = Folder::new();
    let tokens = [token(&folder, "one", "scopes = [\"ingest\"]"), token(&folder, "two", "scopes = [\"ingest\"]")];
    let proxy = Proxy::with(&[("FRAMEGATE__AUTH__TOKENS_FILE", &folder.write("tokens.toml", &tokens.concat()))]);
    let (one, two) = (bearer("one"), bearer("two"));
    let others = post(proxy.address, INGEST, &[("authorization", &one)], &remark("the other's secret"));
    // The type of the record is unknown, so the answer reports an error; the record is stored nevertheless.
    assert_eq!(others.status, 422);
    for contract in names() {
        for media in MEDIA {
            let accept = format!("{media}; contract={contract}");
            let headers = [("authorization", &*two), ("accept", &*accept)];
            let answer = post(proxy.address, INGEST, &headers, &remark(&format!("mine in {contract}")));
            assert_eq!(answer.status, 200, "{accept}");
            let text = String::from_utf8(answer.bytes()).unwrap();
            assert!(!text.contains("secret"), "{accept}: {text}");
            // Nor does it contain what earlier ingests of this loop sent.
            let others = names().filter(|other| *other != contract);
            for other in others {
                assert!(!text.contains(&format!("mine in {other}")), "{accept}: {text}");
            }
            if ["frames.v2", "raw"].contains(&contract) {
                assert!(text.contains(&format!("mine in {contract}")), "{accept}: {text}");
            }
        }
    }
}

#[test]
fn concurrent_ingests_of_one_session_each_get_their_own_frames() {
    let proxy = Proxy::start();
    let accept = [("accept", "application/x-ndjson; contract=frames.v2")];
    let mut uploads: Vec<Upload> = (0..2).map(|_| Upload::start(proxy.address, INGEST, &accept)).collect();
    let mut answers: Vec<_> = uploads.iter().map(Upload::answer).collect();
    for turn in 0..3 {
        for (who, (upload, answer)) in uploads.iter_mut().zip(&mut answers).enumerate() {
            let text = format!("ingest {who}, turn {turn}");
            upload.send(&remark(&text));
            // The record is stored once the ingest's own answer contains it.
            let line = answer.line().unwrap();
            assert!(line.contains(&text), "{text}: {line}");
        }
    }
    for (mut upload, mut answer) in uploads.into_iter().zip(answers) {
        upload.end();
        let rest: Vec<String> = std::iter::from_fn(|| answer.line()).collect();
        assert!(rest.iter().all(|line| !line.contains("turn")), "{rest:?}");
    }
    let page = get(proxy.address, "/v1/events?contract=frames.v2&limit=100", &[]).json();
    let remarks = page["data"].as_array().unwrap().iter().filter(|frame| frame.to_string().contains("turn")).count();
    assert_eq!(remarks, 6, "{page:#}");
}

#[test]
fn a_task_continued_by_another_ingest_is_streamed_from_there_on() {
    let proxy = Proxy::start();
    let accept = [("accept", "application/x-ndjson; contract=frames.v2")];
    let ids = || {
        let input = another("claude-code", "task_tools.ndjson");
        let answer = String::from_utf8(post(proxy.address, INGEST, &accept, &input).bytes()).unwrap();
        let id = |line: &str| {
            let frame: serde_json::Value = serde_json::from_str(line).unwrap();
            (frame["stream_id"].to_string(), frame["seq"].as_u64())
        };
        answer.lines().map(id).collect::<Vec<_>>()
    };
    let (first, second) = (ids(), ids());
    assert!(!first.is_empty());
    assert!(second.iter().all(|frame| !first.contains(frame)), "a frame of an earlier ingest is repeated");
}
