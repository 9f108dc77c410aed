//! `GET /healthz` and `GET /readyz`: whether the process lives, and whether work may be sent to it.
//!
//! In: the state of the proxy. Out: 200, or 503 with every reason. Never: a secret, a name of a run, a frame.

use super::Shared;
use super::body::Body;
use super::router::json_response;
use hyper::{Response, StatusCode};
use serde::Serialize;
use serde_json::json;
use std::time::Duration;

/// `GET /healthz`: whoever reads this is told that the process answers.
pub(super) fn health() -> Response<Body> {
    json_response(&json!({"status": "ok"}))
}

/// How long the log may take to say whether it can be written.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why no work may be sent.
#[derive(Debug, Serialize)]
struct Reason {
    code: &'static str,
    detail: String,
}

/// `GET /readyz`: 200 where the log takes frames and the proxy is not stopping, else 503 with the reasons.
pub(super) async fn ready(shared: &Shared) -> Response<Body> {
    let mut reasons = Vec::new();
    if shared.stopping.is_draining() {
        reasons.push(Reason { code: "stopping", detail: "the proxy is stopping".to_owned() });
    }
    let not_writable = match tokio::time::timeout(PATIENCE, shared.runs.log().check_writable()).await {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(_) => Some(format!("the log did not answer within {} ms", PATIENCE.as_millis())),
    };
    reasons.extend(not_writable.map(|detail| Reason { code: "log_not_writable", detail }));
    if shared.ingests.available_permits() == 0 && !shared.stopping.is_draining() {
        let detail = format!("{} ingests are open, which is the limit (ingest.max_open)", shared.settings.max_ingests);
        reasons.push(Reason { code: "ingests_full", detail });
    }
    if reasons.is_empty() {
        return json_response(&json!({"status": "ready"}));
    }
    let mut response = json_response(&json!({"status": "not_ready", "reasons": reasons}));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response
}
