//! Dispatches requests: first the guard, then the route table, then the endpoint.

use super::limits::{SOON, later};
use super::live::Live;
use super::problem::Problem;
use super::reply::{Body, full, json_response, no_content};
use super::routes::{Endpoint, Found, all_methods, allowed, find};
use super::shared::Shared;
use super::visit::Visit;
use super::{
    access, artifacts, control, cors, events, feeds, guard, hecate, ingest, openapi, probes, protect, responses,
    run_status, schemas, upstreams,
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
use std::time::Duration;

/// Answers any request.
pub(super) async fn answer(
    request: Request<Incoming>,
    visit: Visit,
    shared: Arc<Shared>,
) -> Result<Response<Body>, Infallible> {
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
    let refused = if responses::is_of_sdks(&path) { responses::refused } else { Problem::into_response };
    let mut response = match admit(&request, visit, &found, &shared, &live) {
        Ok(Admitted::Preflight(response)) => response,
        Ok(Admitted::Caller(caller)) => {
            let address = visit.client(request.headers(), &live);
            let shared = Arc::new(Shared { caller, address, ..Shared::clone(&shared) });
            route(request, found, shared).await.unwrap_or_else(refused)
        }
        Err(problem) => refused(problem),
    };
    protect::protect(response.headers_mut(), &live);
    cors::expose(response.headers_mut(), origin, &live);
    // HTTP/2 signals this itself (GOAWAY).
    if is_http1 && shared.stopping.is_draining() {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    // Log the path without the query, which may contain sensitive values.
    tracing::debug!(%method, path, route = label, status = response.status().as_u16(), "request");
    shared.runs.metrics().request(&method, label, response.status());
    Ok(response)
}

/// The result of the checks that precede routing.
enum Admitted {
    /// A preflight, with its response.
    Preflight(Response<Body>),
    Caller(Arc<Caller>),
}

fn admit(
    request: &Request<Incoming>,
    visit: Visit,
    found: &Found<'_>,
    shared: &Shared,
    live: &Live,
) -> Result<Admitted, Problem> {
    guard::admit(request, visit, &shared.settings, live)?;
    let is_probe = matches!(found, Found::Route(route, _) if route.endpoint.is_probe());
    if visit.is_reserved && !is_probe {
        let detail = "the maximum number of connections is open (server.max_connections, \
                      limits.max_connections_per_address); try again later";
        return Err(later(StatusCode::SERVICE_UNAVAILABLE, detail.to_owned(), SOON));
    }
    // Browsers send preflights without a token.
    if let Some(response) = cors::preflight(request, live) {
        return Ok(Admitted::Preflight(response));
    }
    access::admit(request, found, shared, live).map(Admitted::Caller)
}

async fn route(request: Request<Incoming>, found: Found<'_>, shared: Arc<Shared>) -> Result<Response<Body>, Problem> {
    let (route, values) = match found {
        Found::Route(route, values) => (route, values),
        Found::Path(route) if request.method() == Method::OPTIONS => return Ok(allow(&allowed(route.path))),
        Found::Path(route) if route.endpoint == Endpoint::ResponseCreate && responses::wants_websocket(&request) => {
            return Ok(responses::upgrade_refused());
        }
        Found::Path(route) => {
            let allowed = allowed(route.path);
            let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, format!("this path supports {allowed}"));
            return Err(match HeaderValue::from_str(&allowed) {
                Ok(allowed) => problem.with(header::ALLOW, allowed),
                Err(_) => problem,
            });
        }
        Found::Nothing if request.method() == Method::OPTIONS && request.uri().path() == "*" => {
            return Ok(allow(all_methods()));
        }
        Found::Nothing => {
            let path = request.uri().path();
            let known = "GET /openapi.json lists the paths, GET /v1/contracts lists the paths of schemas";
            return Err(Problem::not_found(format!("there is no path {path}; {known}")));
        }
    };
    if shared.stopping.is_draining() && !route.endpoint.is_probe() {
        let detail = "the proxy is stopping; try again later".to_owned();
        return Err(later(StatusCode::SERVICE_UNAVAILABLE, detail, Duration::from_secs(1)));
    }
    match (route.endpoint, values.as_slice()) {
        (Endpoint::Ingest, [runner]) => ingest::ingest(request, runner, shared).await,
        (Endpoint::StartRun, []) => upstreams::start(request, &shared).await,
        (Endpoint::Upstreams, []) => Ok(upstreams::list(&shared)),
        (Endpoint::Runs, []) => events::list(&request, &shared),
        (Endpoint::Run, [run_id]) => events::status(&request, run_id, &shared),
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
        (Endpoint::ResponseCompact, []) => Ok(responses::pass_path(request, "/responses/compact", shared).await),
        (Endpoint::ResponseTokens, []) => Ok(responses::pass_path(request, "/responses/input_tokens", shared).await),
        (Endpoint::Models, []) => Ok(responses::pass_path(request, "/models", shared).await),
        (Endpoint::Model, [model]) => Ok(responses::pass_path(request, &format!("/models/{model}"), shared).await),
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
        // The pattern's parameters do not match those of the endpoint. A test covers every route, so this does not happen.
        (endpoint, _) => {
            tracing::error!(?endpoint, route = route.path, "the route does not match its endpoint");
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

/// The response to `OPTIONS`.
fn allow(methods: &str) -> Response<Body> {
    with_allow(no_content(), methods)
}

fn with_allow(mut response: Response<Body>, methods: &str) -> Response<Body> {
    if let Ok(methods) = HeaderValue::from_str(methods) {
        response.headers_mut().insert(header::ALLOW, methods);
    }
    response
}
