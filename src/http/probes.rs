//! `GET /healthz` and `GET /readyz`: whether the process lives, and whether work may be sent to it.
//!
//! In: the state of the proxy. Out: 200, or 503 with every reason. Never: a secret, a name of a run, a write.

use super::Shared;
use super::body::Body;
use super::router::json_response;
use hyper::{Response, StatusCode};
use serde::Serialize;
use serde_json::json;

/// `GET /healthz`: whoever reads this is told that the process answers.
pub(super) fn health() -> Response<Body> {
    json_response(&json!({"status": "ok"}))
}

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
    if let Err(error) = shared.runs.log().check_writable().await {
        reasons.push(Reason { code: "log_not_writable", detail: error.to_string() });
    }
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
