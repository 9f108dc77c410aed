//! Checks that a run's status and all contracts report the same end.

use crate::client::get;
use serde_json::{Value, json};
use std::net::SocketAddr;

/// The last event of an ended run, in a contract.
fn last(address: SocketAddr, run: &str, contract: &str) -> Value {
    let path = format!("/v1/runs/{run}/events?contract={contract}");
    let text = get(address, &path, &[("accept", "application/x-ndjson")]).text();
    serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap_or_default()
}

/// Checks that a run failed with this code, in its status and in every contract that can express it.
pub fn assert_reported_as_failed(address: SocketAddr, run: &Value, code: &str) {
    assert_eq!((&run["state"], &run["error_code"]), (&json!("failed"), &json!(code)), "{run:#}");
    let (id, message) = (run["run_id"].as_str().unwrap(), &run["message"]);
    assert!(message.as_str().is_some_and(|message| !message.is_empty()), "{run:#}");
    let frame = last(address, id, "frames.v2");
    assert_eq!((&frame["type"], &frame["reason"]), (&json!("session_ended"), &json!("failed")), "{frame}");
    assert_eq!((&frame["error_code"], &frame["message"]), (&json!(code), message), "{frame}");
    let event = last(address, id, "sse.v1");
    assert_eq!((&event["type"], &event["payload"]["error_code"]), (&json!("run_failed"), &json!(code)), "{event}");
    assert_eq!(&event["payload"]["message"], message, "{event}");
    let event = last(address, id, "hecate.v1");
    assert_eq!((&event["type"], &event["data"]["code"]), (&json!("run.failed"), &json!(code)), "{event}");
    let event = last(address, id, "agent-manager.v1");
    assert_eq!((&event["data"]["newStatus"], &event["data"]["reason"]), (&json!("failed"), message), "{event}");
    let event = last(address, id, "pixir.v1");
    assert_eq!((&event["data"]["status"], &event["data"]["error_kind"]), (&json!("error"), &json!(code)), "{event}");
    let native = get(address, &format!("/api/v1/runs/{id}"), &[]).json();
    assert_eq!((&native["status"], &native["error_code"]), (&json!("failed"), &json!(code)), "{native}");
}
