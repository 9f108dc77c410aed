//! Paths and methods.

use super::body::{Body, empty, full};
use super::live::Live;
use super::problem::Problem;
use super::{Shared, access, artifacts, cors, events, feeds, guard, hecate, ingest, protect, run_status, schemas};
use crate::auth::Caller;
use crate::catalogue;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;

/// Answers a request, whatever it is.
pub(super) async fn answer(request: Request<Incoming>, shared: Arc<Shared>) -> Result<Response<Body>, Infallible> {
    let live = shared.control.live();
    let origin = cors::origin_of(request.headers(), &live);
    let mut response = match admit(&request, &shared, &live) {
        Ok(Admitted::Preflight(response)) => response,
        Ok(Admitted::Caller(caller)) => {
            let shared = Arc::new(Shared { caller, ..Shared::clone(&shared) });
            route(request, shared).await.unwrap_or_else(Problem::into_response)
        }
        Err(problem) => problem.into_response(),
    };
    protect::protect(response.headers_mut(), &live);
    cors::expose(response.headers_mut(), origin, &live);
    Ok(response)
}

/// A request that is not turned away.
enum Admitted {
    /// It is answered already.
    Preflight(Response<Body>),
    Caller(Arc<Caller>),
}

fn admit(request: &Request<Incoming>, shared: &Shared, live: &Live) -> Result<Admitted, Problem> {
    guard::admit(request, &shared.settings, live)?;
    // Browsers send no token with it.
    if let Some(response) = cors::preflight(request, live) {
        return Ok(Admitted::Preflight(response));
    }
    access::admit(request, shared, live).map(Admitted::Caller)
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
        // Every path of `access::ROUTES` is above; no other one comes here.
        _ => Err(Problem::not_found(format!("there is no path {path}"))),
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
