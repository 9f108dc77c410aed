//! Dispatches requests: first the guard, then the route table, then the handler.

use super::limits::{SOON, later};
use super::live::Live;
use super::problem::Problem;
use super::query::Query;
use super::reply::{Body, no_content};
use super::route::{Call, PathValues};
use super::routes::{Found, all_methods, allowed, find};
use super::shared::Shared;
use super::visit::Visit;
use super::{access, cors, events, guard, hecate, responses, responses_api, sdk_errors, security_headers};
use crate::auth::Caller;
use crate::telemetry::metrics;
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Version};
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
    let refused = match &path {
        path if sdk_errors::is_of_sdks(path) => sdk_errors::refused,
        path if path.starts_with("/api/v1/") => events::native_refused,
        path if path.starts_with("/hecate/v1/") => hecate::refused,
        _ => Problem::into_response,
    };
    let mut response = match admit(&request, visit, &found, &shared, &live) {
        Ok(Admitted::Preflight(response)) => response,
        Ok(Admitted::Caller(caller)) => {
            let address = visit.client(request.headers(), &live);
            let shared = Arc::new(Shared { caller, address, ..Shared::clone(&shared) });
            route(request, found, shared).await.unwrap_or_else(refused)
        }
        Err(problem) => refused(problem),
    };
    security_headers::add(response.headers_mut(), &live);
    cors::expose(response.headers_mut(), origin, &live);
    // HTTP/2 signals this itself (GOAWAY).
    if is_http1 && shared.shutdown.is_draining() {
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
    let is_probe = matches!(found, Found::Route(route, _) if route.is_probe);
    if visit.is_reserved && !is_probe {
        let detail = "the maximum number of connections is open (server.max_connections, \
                      limits.max_connections_per_address); try again later";
        return Err(later(StatusCode::SERVICE_UNAVAILABLE, detail.to_owned(), SOON));
    }
    // Browsers send preflights without a token.
    if let Some(response) = cors::preflight(request, live) {
        return Ok(Admitted::Preflight(response));
    }
    access::admit(request, found.access(), shared, live).map(Admitted::Caller)
}

async fn route(request: Request<Incoming>, found: Found<'_>, shared: Arc<Shared>) -> Result<Response<Body>, Problem> {
    let (route, values) = match found {
        Found::Route(route, values) => (route, values),
        Found::Path(route) if request.method() == Method::OPTIONS => return Ok(allow(&allowed(route.path))),
        Found::Path(route) if route.path == responses_api::PATH && responses::wants_websocket(&request) => {
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
    if shared.shutdown.is_draining() && !route.is_probe {
        let detail = "the proxy is stopping; try again later".to_owned();
        return Err(later(StatusCode::SERVICE_UNAVAILABLE, detail, Duration::from_secs(1)));
    }
    if !route.is_probe {
        // In a log that several proxies share, a client may ask for what it has just seen at another one.
        shared.runs.catch_up().await;
    }
    // A route with parameters reads them itself.
    if route.query.is_empty() && !route.allows_others {
        Query::read(request.uri().query(), route.query)?;
    }
    let call = Call { request, path: PathValues::new(&values), known: route.query, shared };
    (route.handler)(call).await
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
