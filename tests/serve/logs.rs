//! The proxy's own log lines.

use crate::client::{get, post};
use crate::proxy::{Proxy, recording};
use serde_json::Value;

#[test]
fn each_log_line_is_an_object_with_its_run_and_without_queries() {
    let file = std::env::temp_dir().join(format!("framegate-log-{}", std::process::id()));
    let settings = [("FRAMEGATE__TELEMETRY__FORMAT", "json"), ("FRAMEGATE__TELEMETRY__FILTER", "debug")];
    let mut proxy = Proxy::logging(&settings, std::fs::File::create(&file).unwrap());
    let bytes = recording("claude-code", "bash_ok.ndjson");
    let made = post(proxy.address, "/v1/ingest/claude-code", &[], &bytes).json();
    let run = &made["runs"][0];
    get(proxy.address, "/v1/runs?state=running&session_id=s3cret", &[]);
    assert!(proxy.terminate().success());
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    assert!(!text.contains("s3cret"), "{text}");
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |message: &str| {
        let found = lines.iter().find(|line| line["message"] == message);
        found.unwrap_or_else(|| panic!("no {message:?} in {text}"))
    };
    for message in ["a run began", "a run ended"] {
        let line = of(message);
        assert_eq!((&line["run"], &line["session"]), (&run["run_id"], &run["session_id"]), "{line}");
        assert_eq!(line["runner"], "claude-code");
        assert_eq!(line["span"]["runner"], "claude-code", "{line}");
    }
    assert_eq!(of("a run ended")["reason"], "completed");
    let asked = lines.iter().find(|line| line["message"] == "request" && line["path"] == "/v1/runs").unwrap();
    assert_eq!((&asked["method"], &asked["status"]), (&"GET".into(), &400.into()), "{asked}");
    assert!(asked["span"]["peer"].as_str().unwrap().starts_with("127.0.0.1:"), "{asked}");
}
