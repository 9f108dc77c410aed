//! Paths and methods.

use super::body::{Body, empty, full};
use super::problem::Problem;
use super::{Shared, artifacts, events, feeds, guard, hecate, ingest, run_status, schemas};
use crate::catalogue;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;

/// Answers a request, whatever it is.
pub(super) async fn answer(request: Request<Incoming>, shared: Arc<Shared>) -> Result<Response<Body>, Infallible> {
    let mut response = match guard::admit(&request, &shared.settings) {
        Ok(()) => route(request, shared).await.unwrap_or_else(Problem::into_response),
        Err(problem) => problem.into_response(),
    };
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    Ok(response)
}

async fn route(request: Request<Incoming>, shared: Arc<Shared>) -> Result<Response<Body>, Problem> {
    let path = request.uri().path().to_owned();
    let segments: Vec<&str> = path.split('/').skip(1).collect();
    match (request.method(), segments.as_slice()) {
        (&Method::POST, ["v1", "ingest", runner]) => ingest::ingest(request, runner, shared).await,
        (&Method::GET, ["v1", "runs"]) => events::list(&request, &shared),
        (&Method::GET, ["v1", "runs", run_id]) => events::status(run_id, &shared),
        (&Method::GET, ["v1", "runs", run_id, "events"]) => events::of_run(&request, run_id, shared).await,
        (&Method::GET, ["api", "v1", "sessions", session_id, "runs", run_id, "stream"]) => {
            Ok(events::native_sse(&request, session_id, run_id, shared).await)
        }
        (&Method::GET, ["api", "v1", "runs", run_id]) => Ok(run_status::of_run(run_id, &shared)),
        (&Method::GET, ["v1", "sessions", session_id, "events"]) => {
            feeds::of_session(&request, session_id, shared).await
        }
        (&Method::GET, ["v1", "events"]) => feeds::of_all(&request, shared).await,
        (&Method::GET, ["v1", "artifacts", artifact_id]) => artifacts::content(&request, artifact_id, &shared).await,
        (&Method::GET, ["hecate", "v1", "tasks", task_id, "runs", run_id, "events"]) => {
            Ok(hecate::answered(hecate::of_run(&request, task_id, run_id, shared).await))
        }
        (&Method::GET, ["hecate", "v1", "events", "stream"]) => Ok(hecate::answered(hecate::of_all(&request, &shared))),
        (&Method::GET, ["hecate", "v1", "artifacts", artifact_id]) => {
            Ok(hecate::answered(hecate::artifact(artifact_id, &shared).await))
        }
        (&Method::GET, ["v1", "contracts"]) => {
            let all = json!({"contracts": catalogue::contracts(), "runners": catalogue::runners()});
            Ok(json_response(&all))
        }
        (&Method::GET, ["schemas", path @ ..]) => schemas::schema(&path.join("/"), request.headers()),
        (&Method::GET, ["healthz"]) => Ok(json_response(&json!({"status": "ok"}))),
        (_, segments) => match allowed(segments) {
            Some(allow) => {
                let mut response =
                    Problem::new(StatusCode::METHOD_NOT_ALLOWED, format!("this path takes {allow}")).into_response();
                response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allow));
                Ok(response)
            }
            None => Err(Problem::not_found(format!("there is no path {path}"))),
        },
    }
}

/// The methods of a path that exists.
fn allowed(segments: &[&str]) -> Option<&'static str> {
    match segments {
        ["v1", "ingest", _] => Some("POST"),
        ["v1", "runs" | "contracts"] | ["healthz"] => Some("GET"),
        ["schemas", ..] => Some("GET"),
        ["v1", "runs", _] | ["v1", "runs", _, "events"] => Some("GET"),
        ["api", "v1", "sessions", _, "runs", _, "stream"] | ["api", "v1", "runs", _] => Some("GET"),
        ["v1", "sessions", _, "events"] | ["v1", "events"] | ["v1", "artifacts", _] => Some("GET"),
        ["hecate", "v1", "tasks", _, "runs", _, "events"] => Some("GET"),
        ["hecate", "v1", "events", "stream"] | ["hecate", "v1", "artifacts", _] => Some("GET"),
        _ => None,
    }
}

/// A JSON answer.
pub(super) fn json_response<T: serde::Serialize>(value: &T) -> Response<Body> {
    let mut response = Response::new(full(serde_json::to_vec(value).unwrap_or_default()));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// An answer without a body.
pub(super) fn no_content() -> Response<Body> {
    let mut response = Response::new(empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}
