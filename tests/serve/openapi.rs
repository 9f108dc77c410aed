//! Checks `GET /openapi.json` against the server that it describes.

use crate::client::{Answer, connect, get};
use crate::proxy::Proxy;
use std::collections::BTreeSet;
use std::io::Write;

fn ask(proxy: &Proxy, method: &str, path: &str) -> Answer {
    let mut stream = connect(proxy.address);
    let address = proxy.address;
    write!(stream, "{method} {path} HTTP/1.1\r\nhost: {address}\r\ncontent-length: 0\r\n\r\n").unwrap();
    Answer::read(stream)
}

/// A path that matches the pattern, with values that do not exist.
fn example(pattern: &str) -> String {
    let value = |segment: &str| match segment {
        "{runner}" => "claude-code".to_owned(),
        "{contract}" | "{version}" | "{file}" => "nothing".to_owned(),
        "{artifact_id}" => "0".repeat(64),
        parameter if parameter.starts_with('{') => "00000000-0000-4000-8000-000000000000".to_owned(),
        fixed => fixed.to_owned(),
    };
    pattern.split('/').map(value).collect::<Vec<_>>().join("/")
}

#[test]
fn every_path_accepts_exactly_the_described_methods() {
    let proxy = Proxy::start();
    let answer = get(proxy.address, "/openapi.json", &[]);
    assert!(answer.header("content-type").starts_with("application/vnd.oai.openapi+json"));
    let document = answer.json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    for (pattern, item) in document["paths"].as_object().unwrap() {
        let path = example(pattern);
        let described: BTreeSet<String> =
            item.as_object().unwrap().keys().filter(|key| *key != "parameters").map(|key| key.to_uppercase()).collect();
        let options = ask(&proxy, "OPTIONS", &path);
        assert_eq!(options.status, 204, "{path}");
        let mut allowed: BTreeSet<String> = options.header("allow").split(", ").map(str::to_owned).collect();
        assert!(allowed.remove("OPTIONS"));
        assert_eq!(allowed.remove("HEAD"), described.contains("GET"), "{path}");
        assert_eq!(allowed, described, "{path}");
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            // A feed does not end, but the response's head is sufficient.
            let answer = ask(&proxy, method, &path);
            if described.contains(method) {
                assert!(answer.status != 405 && answer.status < 500, "{method} {path}: {}", answer.status);
                let responses = &item[method.to_lowercase()]["responses"];
                assert!(responses.get(answer.status.to_string()).is_some(), "{method} {path}: {}", answer.status);
            } else {
                assert_eq!(answer.status, 405, "{method} {path}");
                assert_eq!(answer.header("allow"), options.header("allow"), "{method} {path}");
            }
        }
    }
}

#[test]
fn events_are_described_like_their_published_schemas() {
    let proxy = Proxy::start();
    let document = get(proxy.address, "/openapi.json", &[]).json();
    let components = document["components"]["schemas"].as_object().unwrap();
    for (name, component) in [("hecate.v1", "HecateV1Event"), ("frames.v2", "FramesV2Event"), ("sse.v1", "SseV1Event")]
    {
        let bundle = get(proxy.address, &format!("/schemas/{name}.json"), &[]).json();
        let types = bundle["$defs"].as_object().unwrap();
        let events = components[component]["oneOf"].as_array().unwrap();
        assert_eq!(events.len(), types.len(), "{name}");
        for event in events {
            let component = event["$ref"].as_str().unwrap().strip_prefix("#/components/schemas/").unwrap();
            let described = &components[component];
            let published =
                types.values().find(|schema| schema["properties"]["type"] == described["properties"]["type"]);
            assert_eq!(published.unwrap()["required"], described["required"], "{name} {component}");
        }
    }
}
