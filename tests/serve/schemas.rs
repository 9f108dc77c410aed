//! The list of contracts, and their schemas.

use crate::client::{get, post};
use crate::proxy::Proxy;
use framegate_translators::contracts::{CONTRACTS, SseStyle, contract};
use serde_json::Value;

#[test]
fn every_contract_is_listed_with_working_links_to_its_schemas() {
    let proxy = Proxy::start();
    let listed = get(proxy.address, "/v1/contracts", &[]).json();
    let listed = listed["contracts"].as_array().unwrap();
    assert_eq!(listed.len(), CONTRACTS.len());
    for entry in listed {
        let name = entry["name"].as_str().unwrap();
        let known = contract(name).unwrap();
        let types = entry["types"].as_array().unwrap();
        assert_eq!(types.len(), known.schemas.len(), "{name}");
        for (link, file) in types.iter().zip(known.schemas) {
            assert_eq!(link["name"], file.kind);
            let answer = get(proxy.address, link["schema"].as_str().unwrap(), &[]);
            assert_eq!((answer.status, answer.header("content-type")), (200, "application/schema+json"));
            assert_eq!(answer.text(), file.text());
        }
        for media in entry["media_types"].as_array().unwrap() {
            assert!(media.as_str().unwrap().ends_with(&format!("; contract={name}")), "{media}");
        }
        if let Some(schema) = entry["schema"].as_str() {
            let bundle = get(proxy.address, schema, &[]).json();
            assert_eq!(bundle["$defs"].as_object().unwrap().len(), types.len());
            let document = get(proxy.address, entry["document_schema"].as_str().unwrap(), &[]);
            assert_eq!((document.status, document.header("content-type")), (200, "application/schema+json"));
            let document = document.text();
            assert_eq!(document, known.document_schema.unwrap().text());
            let id = serde_json::from_str::<Value>(&document).unwrap()["$id"].as_str().unwrap().to_owned();
            let by_id = id.strip_prefix("https://framegate.dev").unwrap();
            assert_eq!(get(proxy.address, by_id, &[]).status, 200, "{by_id}");
        } else {
            assert_eq!(name, "raw");
        }
    }
    let of = |name: &str| listed.iter().find(|entry| entry["name"] == name).unwrap();
    for known in CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty()) {
        let (name, entry) = (known.name, of(known.name));
        let (_, version) = name.rsplit_once('.').unwrap();
        let sse = if known.sse == SseStyle::Named { "named" } else { "bare" };
        let keys = ["version", "sse", "cursor", "type_key"].map(|key| entry[key].as_str());
        let expected = [Some(version), Some(sse), (known.verifier)().cursor_key(), Some(known.type_key)];
        assert_eq!(keys, expected, "{name}");
        assert!(entry["document"].as_str().is_some_and(|document| !document.is_empty()), "{name}");
    }
    assert_eq!(of("raw")["version"], Value::Null);
    assert_eq!(of("raw")["cursor"], "record");
    assert_eq!(of("raw")["media_types"][3], "application/octet-stream; contract=raw");
}

#[test]
fn a_schemas_id_resolves_on_the_proxy() {
    let proxy = Proxy::start();
    for contract in CONTRACTS.iter().filter(|contract| !contract.schemas.is_empty()) {
        let bundle = get(proxy.address, &format!("/schemas/{}.json", contract.name), &[]).json();
        for schema in bundle["$defs"].as_object().unwrap().values().chain([&bundle]) {
            let id = schema["$id"].as_str().unwrap();
            let path = id.strip_prefix("https://framegate.dev").unwrap();
            assert_eq!(&get(proxy.address, path, &[]).json(), schema, "{id}");
        }
    }
}

#[test]
fn an_unchanged_schema_is_not_sent_again() {
    let proxy = Proxy::start();
    let path = "/schemas/frames.v2/tool_started.json";
    let first = get(proxy.address, path, &[]);
    let etag = first.header("etag").to_owned();
    assert!(etag.starts_with('"') && etag.ends_with('"') && etag.len() > 10, "{etag}");
    assert_eq!(first.header("cache-control"), "max-age=3600");
    for known in [etag.clone(), format!("W/{etag}"), format!("\"other\", {etag}"), "*".to_owned()] {
        let again = get(proxy.address, path, &[("if-none-match", &known)]);
        assert_eq!((again.status, again.header("etag")), (304, etag.as_str()), "{known}");
    }
    let changed = get(proxy.address, path, &[("if-none-match", "\"other\"")]);
    assert_eq!((changed.status, changed.header("etag")), (200, etag.as_str()));
    assert_ne!(get(proxy.address, "/schemas/frames.v2/tool_ended.json", &[]).header("etag"), etag);
}

#[test]
fn an_unknown_schema_is_answered_with_where_to_find_them() {
    let proxy = Proxy::start();
    for path in [
        "/schemas",
        "/schemas/",
        "/schemas/frames.v9.json",
        "/schemas/frames.v2",
        "/schemas/frames.v2/no_such_type.json",
        "/schemas/frames/v2/no_such_type.schema.json",
        "/schemas/raw.json",
        "/schemas/../Cargo.toml",
    ] {
        let answer = get(proxy.address, path, &[]);
        assert_eq!((answer.status, answer.header("content-type")), (404, "application/problem+json"), "{path}");
        assert!(answer.json()["detail"].as_str().unwrap().contains("GET /v1/contracts"), "{path}");
    }
    let wrong = post(proxy.address, "/schemas/frames.v2.json", &[], b"");
    assert_eq!((wrong.status, wrong.header("allow")), (405, "GET, HEAD, OPTIONS"));
}
