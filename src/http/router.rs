//! From requests to endpoints: the guard, then the table of routes, then whoever answers.

use super::body::{Body, empty, full};
use super::live::Live;
use super::problem::Problem;
use super::routes::{Endpoint, Found, all_methods, allowed, find};
use super::{
    Shared, access, artifacts, control, cors, events, feeds, guard, hecate, ingest, openapi, probes, protect,
    responses, run_status, schemas, upstreams,
};
use crate::auth::Caller;
use crate::catalogue;
use crate::telemetry::metrics;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Version};
use serde_json::json;
use std::convert::Infallible;
use std::sync::Arc;

/// Answers a request, whatever it is.
pub(super) async fn answer(request: Request<Incoming>, shared: Arc<Shared>) -> Result<Response<Body>, Infallible> {
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let found = find(&method, &path);
    let label = match &found {
        Found::Route(route, _) | Found::Path(route) => route.path,
        Found::Nothing => metrics::NO_ROUTE,
    };
    let live = shared.control.live();
    let origin = cors::origin_of(request.headers(), &live);
    let is_http1 = request.version() < Version::HTTP_2;
    let mut response = match admit(&request, &found, &shared, &live) {
        Ok(Admitted::Preflight(response)) => response,
        Ok(Admitted::Caller(caller)) => {
            let shared = Arc::new(Shared { caller, ..Shared::clone(&shared) });
            route(request, found, shared).await.unwrap_or_else(Problem::into_response)
        }
        Err(problem) => problem.into_response(),
    };
    protect::protect(response.headers_mut(), &live);
    cors::expose(response.headers_mut(), origin, &live);
    // HTTP/2 has its own word for it.
    if is_http1 && shared.stopping.is_draining() {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    // Without the query, which may hold what is not for logs.
    tracing::debug!(%method, path, route = label, status = response.status().as_u16(), "request");
    shared.runs.metrics().request(&method, label, response.status());
    Ok(response)
}

/// A request that is not turned away.
enum Admitted {
    /// It is answered already.
    Preflight(Response<Body>),
    Caller(Arc<Caller>),
}

fn admit(request: &Request<Incoming>, found: &Found<'_>, shared: &Shared, live: &Live) -> Result<Admitted, Problem> {
    guard::admit(request, &shared.settings, live)?;
    // Browsers send no token with it.
    if let Some(response) = cors::preflight(request, live) {
        return Ok(Admitted::Preflight(response));
    }
    access::admit(request, found, shared, live).map(Admitted::Caller)
}

async fn route(request: Request<Incoming>, found: Found<'_>, shared: Arc<Shared>) -> Result<Response<Body>, Problem> {
    let (route, values) = match found {
        Found::Route(route, values) => (route, values),
        Found::Path(route) if request.method() == Method::OPTIONS => return Ok(allow(&allowed(route.path))),
        Found::Path(route) => {
            let allowed = allowed(route.path);
            let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, format!("this path takes {allowed}"));
            return Ok(with_allow(problem.into_response(), &allowed));
        }
        Found::Nothing if request.method() == Method::OPTIONS && request.uri().path() == "*" => {
            return Ok(allow(all_methods()));
        }
        Found::Nothing => {
            let path = request.uri().path();
            let known = "GET /openapi.json lists the paths, GET /v1/contracts those of schemas";
            return Err(Problem::not_found(format!("there is no path {path}; {known}")));
        }
    };
    if shared.stopping.is_draining() && !route.endpoint.is_probe() {
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, "the proxy is stopping; try again later"));
    }
    match (route.endpoint, values.as_slice()) {
        (Endpoint::Ingest, [runner]) => ingest::ingest(request, runner, shared).await,
        (Endpoint::StartRun, []) => upstreams::start(request, &shared).await,
        (Endpoint::Upstreams, []) => Ok(upstreams::list(&shared)),
        (Endpoint::Runs, []) => events::list(&request, &shared),
        (Endpoint::Run, [run_id]) => events::status(run_id, &shared),
        (Endpoint::Approval, [run_id, approval_id]) => control::answer(request, run_id, approval_id, &shared).await,
        (Endpoint::Interrupt, [run_id]) => control::interrupt(run_id, &shared).await,
        (Endpoint::SessionMessages, [session_id]) => control::message(request, session_id, &shared).await,
        (Endpoint::RunEvents, [run_id]) => events::of_run(&request, run_id, shared).await,
        (Endpoint::SessionEvents, [session_id]) => feeds::of_session(&request, session_id, shared).await,
        (Endpoint::AllEvents, []) => feeds::of_all(&request, shared).await,
        (Endpoint::Artifact, [artifact_id]) => artifacts::content(&request, artifact_id, &shared).await,
        (Endpoint::ResponseCreate, []) => Ok(responses::create(request, shared).await),
        (Endpoint::Response, [id]) => Ok(responses::retrieve(request, id, shared).await),
        (Endpoint::ResponseInput, [id]) => Ok(responses::pass(request, id, "/input_items", shared).await),
        (Endpoint::ResponseCancel, [id]) => Ok(responses::pass(request, id, "/cancel", shared).await),
        (Endpoint::ResponseDelete, [id]) => Ok(responses::pass(request, id, "", shared).await),
        (Endpoint::Contracts, []) => {
            let all = json!({"contracts": catalogue::contracts(), "runners": catalogue::runners()});
            Ok(json_response(&all))
        }
        (Endpoint::Schema, segments) => schemas::schema(&segments.join("/"), request.headers()),
        (Endpoint::NativeSseStream, [session_id, run_id]) => {
            Ok(events::native_sse(&request, session_id, run_id, shared).await)
        }
        (Endpoint::NativeSseRun, [run_id]) => Ok(run_status::of_run(run_id, &shared)),
        (Endpoint::HecateRunEvents, [task_id, run_id]) => {
            Ok(hecate::answered(hecate::of_run(&request, task_id, run_id, shared).await))
        }
        (Endpoint::HecateAllEvents, []) => Ok(hecate::answered(hecate::of_all(&request, &shared).await)),
        (Endpoint::HecateArtifact, [artifact_id]) => Ok(hecate::answered(hecate::artifact(artifact_id, &shared).await)),
        (Endpoint::Health, []) => Ok(probes::health()),
        (Endpoint::Ready, []) => Ok(probes::ready(&shared).await),
        (Endpoint::Metrics, []) => Ok(metrics_text(&shared).await),
        (Endpoint::OpenApi, []) => Ok(openapi::answer()),
        // A pattern whose parameters are not those that its endpoint takes: a test asks every route.
        (endpoint, _) => {
            tracing::error!(?endpoint, route = route.path, "the route does not fit its endpoint");
            Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "this path cannot be answered"))
        }
    }
}

/// `GET /metrics`.
async fn metrics_text(shared: &Shared) -> Response<Body> {
    let mut response = Response::new(full(shared.runs.scrape().await));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(metrics::CONTENT_TYPE));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The answer to `OPTIONS`.
fn allow(methods: &str) -> Response<Body> {
    with_allow(no_content(), methods)
}

fn with_allow(mut response: Response<Body>, methods: &str) -> Response<Body> {
    if let Ok(methods) = HeaderValue::from_str(methods) {
        response.headers_mut().insert(header::ALLOW, methods);
    }
    response
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
