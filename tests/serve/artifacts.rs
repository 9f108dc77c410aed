//! Artifacts: what the proxy stores of a run, and how it serves it.

use crate::client::{get, post};
use crate::proxy::{Proxy, recording, refusal};
use framegate_translators::contracts::names_with_schemas;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A run with one Bash call, whose output is too large for a frame.
fn run_with_output(output: &str) -> Vec<u8> {
    let init = json!({"type": "system", "subtype": "init", "session_id": "s-1", "model": "m", "tools": [], "cwd": "/"});
    let call = json!({"type": "assistant", "session_id": "s-1", "message": {"id": "m1", "role": "assistant", "model": "m",
        "content": [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "x"}}]}});
    let result = json!({"type": "user", "session_id": "s-1", "message": {"role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": output}]}});
    let end = json!({"type": "result", "subtype": "success", "is_error": false, "session_id": "s-1", "result": "done"});
    [init, call, result, end].iter().map(|record| format!("{record}\n")).collect::<String>().into_bytes()
}

fn ingested(proxy: &Proxy, bytes: &[u8]) -> String {
    let made = post(proxy.address, "/v1/ingest/claude-code", &[], bytes).json();
    made["runs"][0]["run_id"].as_str().unwrap_or_else(|| panic!("{made:#}")).to_owned()
}

fn events(proxy: &Proxy, run: &str, contract: &str) -> Vec<Value> {
    let events = get(proxy.address, &format!("/v1/runs/{run}/events?contract={contract}"), &[]).events();
    events.iter().map(crate::client::Event::json).collect()
}

fn written(events: &[Value]) -> Vec<&Value> {
    events.iter().filter(|event| event["type"] == "artifact_written").collect()
}

fn digest(bytes: impl AsRef<[u8]>) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_large_output_is_stored_whole_and_served_by_its_hash() {
    let proxy =
        Proxy::with(&[("FRAMEGATE__ARTIFACTS__INLINE_BYTES", "1000"), ("FRAMEGATE__ARTIFACTS__PREVIEW_BYTES", "10")]);
    let output = "0123456789".repeat(101);
    let run = ingested(&proxy, &run_with_output(&output));
    let frames = events(&proxy, &run, "frames.v2");
    let artifacts = written(&frames);
    assert_eq!(artifacts.len(), 1);
    let id = format!("sha256:{}", digest(&output));
    assert_eq!((&artifacts[0]["artifact_id"], &artifacts[0]["digest"]), (&json!(id), &json!(id)));
    assert_eq!((&artifacts[0]["bytes"], &artifacts[0]["kind"]), (&json!(1010), &json!("command_output")));
    assert_eq!(artifacts[0]["preview"], "0123456789");
    let chunks: Vec<&str> = frames.iter().filter_map(|frame| frame["chunk"].as_str()).collect();
    assert_eq!(chunks, ["0123456789"]);
    let ended = frames.iter().find(|frame| frame["type"] == "tool_ended").unwrap();
    assert_eq!(ended["artifacts"]["artifact_refs"][0]["artifact_id"], id);
    // The record is complete.
    let records =
        frames.iter().filter(|frame| frame["type"] == "provider_event").map(|frame| frame["data"].to_string());
    assert!(records.into_iter().any(|record| record.contains(&output)));
    let raw =
        get(proxy.address, &format!("/v1/runs/{run}/events?contract=raw"), &[("accept", "application/octet-stream")]);
    assert_eq!(raw.text().into_bytes(), run_with_output(&output));
    // Other contracts refer to the rest.
    let results: Vec<Value> =
        events(&proxy, &run, "sse.v1").into_iter().filter(|event| event["type"] == "tool_result").collect();
    assert_eq!(results[0]["payload"]["result"], format!("0123456789\n[1000 more bytes in artifact {id}]"));

    for path in [id.clone(), id.replace(':', "%3A"), digest(&output)] {
        let answer = get(proxy.address, &format!("/v1/artifacts/{path}"), &[]);
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
        assert_eq!(answer.header("etag"), format!("\"{id}\""));
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("content-security-policy"), "default-src 'none'; frame-ancestors 'none'; sandbox");
        assert_eq!(answer.header("cache-control"), "private, max-age=31536000, immutable");
        assert_eq!(answer.text(), output);
    }
    for tag in [format!("\"{id}\""), format!("\"other\", W/\"{id}\""), "*".to_owned()] {
        let answer = get(proxy.address, &format!("/v1/artifacts/{id}"), &[("if-none-match", &tag)]);
        assert_eq!((answer.status, answer.header("etag")), (304, &*format!("\"{id}\"")), "{tag}");
    }
    assert_eq!(get(proxy.address, &format!("/v1/artifacts/{id}"), &[("if-none-match", "\"other\"")]).status, 200);
    for (path, status) in [("sha256:00".to_owned(), 400), ("..%2Fetc".to_owned(), 400), ("0".repeat(64), 404)] {
        let answer = get(proxy.address, &format!("/v1/artifacts/{path}"), &[]);
        assert_eq!((answer.status, answer.header("content-type")), (status, "application/problem+json"), "{path}");
    }
    let wrong = post(proxy.address, &format!("/v1/artifacts/{id}"), &[], b"");
    assert_eq!((wrong.status, wrong.header("allow")), (405, "GET, HEAD, OPTIONS"));
}

#[test]
fn artifacts_other_than_images_and_text_are_downloads() {
    let proxy = Proxy::start();
    let html = "<script>alert(1)</script>";
    let record = json!({"type": "user", "session_id": "s", "message": {"role": "user", "content": [
        {"type": "document", "source": {"type": "base64", "media_type": "text/html", "data": "PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg=="}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/svg+xml", "data": "PHN2Zy8+"}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAECAw=="}},
        {"type": "text", "text": "look"}]}});
    let run = ingested(&proxy, format!("{record}\n").as_bytes());
    let frames = events(&proxy, &run, "frames.v2");
    let message = frames.iter().find(|frame| frame["type"] == "user_message").unwrap();
    let attached: Vec<&str> =
        message["attachments"].as_array().unwrap().iter().map(|one| one["artifact_id"].as_str().unwrap()).collect();
    assert_eq!(attached[0], format!("sha256:{}", digest(html)));
    for (id, media_type, shown) in [
        (attached[0], "application/octet-stream", false),
        (attached[1], "application/octet-stream", false),
        (attached[2], "image/png", true),
    ] {
        let answer = get(proxy.address, &format!("/v1/artifacts/{id}"), &[]);
        assert_eq!((answer.status, answer.header("content-type")), (200, media_type));
        assert_eq!(answer.header("content-disposition") == "inline", shown);
        assert_eq!(answer.header("content-disposition").starts_with("attachment; filename=\""), !shown);
    }
    // Only the records themselves contain the bytes; no other event does.
    for contract in names_with_schemas() {
        let events = events(&proxy, &run, contract);
        let mut derived = events.iter().filter(|event| event["type"] != "provider_event");
        assert!(derived.all(|event| !event.to_string().contains("AAECAw")), "{contract}");
    }
}

#[test]
fn an_edit_becomes_a_patch_object_with_events() {
    let proxy = Proxy::with(&[("FRAMEGATE__HECATE__ARTIFACTS", "true")]);
    let run = ingested(&proxy, &recording("claude-code", "write_file.partial.ndjson"));
    let hecate = events(&proxy, &run, "hecate.v1");
    let kinds: Vec<&str> = hecate.iter().filter_map(|event| event["type"].as_str()).collect();
    let created: Vec<&Value> = hecate.iter().filter(|event| event["type"] == "artifact.created").collect();
    assert_eq!(created.len(), 1, "each artifact is created once: {kinds:?}");
    let id = created[0]["data"]["artifact_id"].as_str().unwrap();
    let proposed = hecate.iter().find(|event| event["type"] == "tool.file_write.proposed").unwrap();
    assert_eq!(proposed["data"]["patch_artifact_id"], id);
    let object = get(proxy.address, &format!("/hecate/v1/artifacts/{id}"), &[]);
    assert_eq!((object.status, object.header("content-type")), (200, "application/json"));
    let object = object.json();
    assert_eq!(object["object"], "artifact");
    let data = &object["data"];
    assert_eq!((&data["id"], &data["kind"], &data["status"]), (&json!(id), &json!("patch"), &json!("applied")));
    let diff = data["diff"].as_str().unwrap();
    let additions = diff.lines().filter(|line| line.starts_with('+') && !line.starts_with("+++ ")).count();
    assert_eq!(data["stats"], json!({"additions": additions, "deletions": 0, "hunks": 1}));
    assert_eq!(data["produced_by_run_id"], hecate[0]["run_id"]);
    assert_eq!(data["produced_by_tool_call_id"], proposed["data"]["tool_call_id"]);
    assert_eq!((&data["applied_at"], &data["reverted_at"]), (&data["created_at"], &Value::Null));
    assert_eq!(get(proxy.address, &format!("/v1/artifacts/{id}"), &[]).text(), diff);
    // Artifact events are not emitted by default.
    let core = Proxy::start();
    let run = ingested(&core, &recording("claude-code", "write_file.partial.ndjson"));
    assert!(events(&core, &run, "hecate.v1").iter().all(|event| event["type"] != "artifact.created"));
    for path in ["art_00000000000000000000000000", "nonsense"] {
        let answer = get(core.address, &format!("/hecate/v1/artifacts/{path}"), &[]);
        assert_eq!(answer.status, 404);
        assert!(answer.json()["error"]["message"].as_str().unwrap().contains(path));
    }
}

#[test]
fn without_artifacts_nothing_is_cut_or_stored() {
    let proxy = Proxy::with(&[("FRAMEGATE__ARTIFACTS__ENABLED", "false")]);
    let output = "x".repeat(200_000);
    let run = ingested(&proxy, &run_with_output(&output));
    let frames = events(&proxy, &run, "frames.v2");
    assert!(written(&frames).is_empty());
    assert!(frames.iter().any(|frame| frame["chunk"] == *output));
    assert_eq!(get(proxy.address, &format!("/v1/artifacts/{}", digest(&output)), &[]).status, 404);
}

#[test]
fn artifacts_are_evicted_with_their_runs_and_by_the_stores_limit() {
    let proxy = Proxy::with(&[("FRAMEGATE__LOG__MAX_RUNS", "1")]);
    let outputs: Vec<String> = (0..3).map(|nth| format!("{nth}").repeat(100_000)).collect();
    for output in &outputs {
        ingested(&proxy, &run_with_output(output));
    }
    let status = |output: &String| get(proxy.address, &format!("/v1/artifacts/{}", digest(output)), &[]).status;
    assert_eq!((status(&outputs[0]), status(&outputs[2])), (404, 200));
    let small = Proxy::with(&[
        ("FRAMEGATE__ARTIFACTS__MAX_TOTAL_BYTES", "1048576"),
        ("FRAMEGATE__ARTIFACTS__MAX_BYTES", "524288"),
    ]);
    let outputs: Vec<String> = (0..3).map(|nth| format!("{nth}").repeat(500_000)).collect();
    for output in &outputs {
        ingested(&small, &run_with_output(output));
    }
    let status = |output: &String| get(small.address, &format!("/v1/artifacts/{}", digest(output)), &[]).status;
    assert_eq!((status(&outputs[0]), status(&outputs[1]), status(&outputs[2])), (404, 200, 200));
}

#[test]
fn contradictory_settings_are_refused() {
    let said = refusal(&[("FRAMEGATE__ARTIFACTS__PREVIEW_BYTES", "100"), ("FRAMEGATE__ARTIFACTS__INLINE_BYTES", "10")]);
    assert!(said.contains("ARTIFACTS__PREVIEW_BYTES") && said.contains("artifacts.inline_bytes (10)"), "{said}");
    let said = refusal(&[("FRAMEGATE__ARTIFACTS__MAX_TOTAL_BYTES", "1048576")]);
    assert!(said.contains("artifacts.max_bytes"), "{said}");
}
