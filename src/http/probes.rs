//! `GET /healthz`, `GET /readyz` and `GET /metrics`: whether the process is alive, whether it accepts work, and its counters.
//!
//! Input: the state of the proxy. Output: 200, or 503 with every reason; counters as text. Never: a secret, the name of a run, or a frame.

use super::limits::SOON;
use super::problem::Problem;
use super::reply::{Body, full, json_response};
use super::route::Call;
use super::shared::Shared;
use crate::telemetry::metrics;
use crate::upstream::{Connection, ConnectionState};
use hyper::header::{self, HeaderValue};
use hyper::{Response, StatusCode};
use serde::Serialize;
use serde_json::json;
use std::time::Duration;

/// `GET /healthz`: always 200, as evidence that the process responds.
pub(super) async fn health(_: Call) -> Result<Response<Body>, Problem> {
    Ok(json_response(&json!({"status": "ok"})))
}

/// How long the log may take to report whether it is writable.
const PATIENCE: Duration = Duration::from_secs(2);

/// Why the proxy is not ready, or what is degraded.
#[derive(Debug, Serialize)]
struct Reason {
    code: &'static str,
    detail: String,
}

/// `GET /readyz`: 200 if the log accepts frames, the required feeds are connected, ingests are available and the proxy is not
/// stopping; otherwise 503 with the reasons. A feed that is not connected is listed in either case.
pub(super) async fn ready(call: Call) -> Result<Response<Body>, Problem> {
    let shared = &*call.shared;
    let mut reasons = Vec::new();
    if shared.shutdown.is_draining() {
        reasons.push(Reason { code: "stopping", detail: "the proxy is stopping".to_owned() });
    }
    let not_writable = match tokio::time::timeout(PATIENCE, shared.runs.log().check_writable()).await {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(error.to_string()),
        Err(_) => Some(format!("the log did not answer within {} ms", PATIENCE.as_millis())),
    };
    reasons.extend(not_writable.map(|detail| Reason { code: "log_not_writable", detail }));
    let is_full = shared.ingests.available_permits() == 0 && !shared.silent.has_room(SOON);
    if is_full && !shared.shutdown.is_draining() {
        let detail = format!("{} ingests are open, which is the limit (ingest.max_open)", shared.settings.max_ingests);
        reasons.push(Reason { code: "ingests_full", detail });
    }
    let is_ready = reasons.is_empty() && feeds(shared).all(|(_, connection)| !connection.is_required);
    reasons.extend(feeds(shared).map(|(name, connection)| Reason {
        code: "upstream_not_connected",
        detail: format!(
            "the feed of upstream {name:?} is {}; GET /v1/upstreams shows the reason",
            connection.state.as_str()
        ),
    }));
    if is_ready {
        let health = if reasons.is_empty() {
            json!({"status": "ready"})
        } else {
            json!({"status": "ready", "reasons": reasons})
        };
        return Ok(json_response(&health));
    }
    let mut response = json_response(&json!({"status": "not_ready", "reasons": reasons}));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    Ok(response)
}

/// `GET /metrics`.
pub(super) async fn metrics(call: Call) -> Result<Response<Body>, Problem> {
    let mut response = Response::new(full(call.shared.runs.scrape().await));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(metrics::CONTENT_TYPE));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

/// The feeds that are not connected.
fn feeds(shared: &Shared) -> impl Iterator<Item = (&str, Connection)> {
    let all = shared.upstreams.iter().filter_map(|upstream| Some((upstream.name(), upstream.connection()?)));
    all.filter(|(_, connection)| connection.state != ConnectionState::Connected)
}
