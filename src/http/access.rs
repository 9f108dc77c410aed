//! Which paths there are, and what somebody must be allowed to ask for each of them.
//!
//! In: a request's method, path and `Authorization`. Out: who asks, where the path may be asked for by it. Never: a path that
//! is answered without standing in [`ROUTES`], a token taken from anywhere but the header (URLs end in logs and histories).

use super::Shared;
use super::live::Live;
use super::problem::Problem;
use crate::auth::{Caller, Scope};
use hyper::header::{self, AUTHORIZATION, HeaderValue};
use hyper::{HeaderMap, Method, Request, StatusCode};
use std::sync::Arc;

/// What a path asks of whoever asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Nothing: whoever watches over the process has no token.
    Open,
    /// A token with that scope, where there are tokens.
    Needs(Scope),
}

/// A method on a path. `{name}` stands for one segment, `{name...}` for all that follow, if any.
#[derive(Clone, Debug)]
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    pub(super) access: Access,
}

const fn route(method: Method, path: &'static str, access: Access) -> Route {
    Route { method, path, access }
}

const READ: Access = Access::Needs(Scope::Read);

/// Every path. What does not stand here is answered with 404.
pub(super) const ROUTES: &[Route] = &[
    route(Method::POST, "/v1/ingest/{runner}", Access::Needs(Scope::Ingest)),
    route(Method::GET, "/v1/runs", READ),
    route(Method::GET, "/v1/runs/{run_id}", READ),
    route(Method::GET, "/v1/runs/{run_id}/events", READ),
    route(Method::GET, "/api/v1/sessions/{session_id}/runs/{run_id}/stream", READ),
    route(Method::GET, "/api/v1/runs/{run_id}", READ),
    route(Method::GET, "/v1/sessions/{session_id}/events", READ),
    route(Method::GET, "/v1/events", READ),
    route(Method::GET, "/v1/artifacts/{artifact_id}", READ),
    route(Method::GET, "/hecate/v1/tasks/{task_id}/runs/{run_id}/events", READ),
    route(Method::GET, "/hecate/v1/events/stream", READ),
    route(Method::GET, "/hecate/v1/artifacts/{artifact_id}", READ),
    route(Method::GET, "/v1/contracts", READ),
    route(Method::GET, "/schemas/{path...}", READ),
    route(Method::GET, "/healthz", Access::Open),
];

/// Whether a path is one of a pattern.
fn fits(pattern: &str, path: &str) -> bool {
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return true,
            (Some(part), None) => return part.ends_with("...}"),
            (Some(part), Some(_)) if part.starts_with('{') => {
                if part.ends_with("...}") {
                    return true;
                }
            }
            (Some(part), Some(segment)) if part == segment => {}
            _ => return false,
        }
    }
}

/// The methods of a path; none where there is no such path.
pub(super) fn methods(path: &str) -> Vec<&'static str> {
    let mut methods: Vec<&'static str> = Vec::new();
    for route in ROUTES.iter().filter(|route| fits(route.path, path)) {
        methods.push(if route.method == Method::POST { "POST" } else { "GET" });
    }
    methods.dedup();
    methods
}

/// Finds out who asks, and whether it may.
///
/// # Errors
/// 401, 403, 404, 405 or 429.
pub(super) fn admit<B>(request: &Request<B>, shared: &Shared, live: &Live) -> Result<Arc<Caller>, Problem> {
    let path = request.uri().path();
    let route = ROUTES.iter().find(|route| route.method == request.method() && fits(route.path, path));
    if let Some(Route { access: Access::Open, .. }) = route {
        return Ok(Caller::nobody());
    }
    let caller = caller(request.headers(), shared, live)?;
    shared.meters.of(&caller.name).request(&live.rates)?;
    let Some(route) = route else {
        let allow = methods(path).join(", ");
        if allow.is_empty() {
            return Err(Problem::not_found(format!("there is no path {path}")));
        }
        let problem = Problem::new(StatusCode::METHOD_NOT_ALLOWED, format!("this path takes {allow}"));
        return Err(match HeaderValue::from_str(&allow) {
            Ok(allow) => problem.with(header::ALLOW, allow),
            Err(_) => problem,
        });
    };
    match route.access {
        Access::Needs(scope) if !caller.may(scope) => {
            let scope = scope.as_str();
            let detail = format!("the token {:?} has not the scope {scope:?}, which this path needs", caller.name);
            let challenge = format!("Bearer realm=\"framegate\", error=\"insufficient_scope\", scope=\"{scope}\"");
            let problem = Problem::new(StatusCode::FORBIDDEN, detail);
            Err(match HeaderValue::from_str(&challenge) {
                Ok(challenge) => problem.with(header::WWW_AUTHENTICATE, challenge),
                Err(_) => problem,
            })
        }
        Access::Needs(_) | Access::Open => Ok(caller),
    }
}

/// Whoever has the request's token (RFC 6750, section 2.1).
fn caller(headers: &HeaderMap, shared: &Shared, live: &Live) -> Result<Arc<Caller>, Problem> {
    if live.tokens.is_empty() {
        return Ok(Caller::anonymous());
    }
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let (first, second) = (given.next(), given.next());
    let secret = first.filter(|_| second.is_none()).and_then(|value| value.to_str().ok()).and_then(bearer);
    if let Some(caller) = secret.and_then(|secret| live.tokens.caller(secret)) {
        return Ok(caller);
    }
    // Whoever guesses is slowed down like everybody else; all of them are one client, of a name that no token has.
    shared.meters.of("").request(&live.rates)?;
    // RFC 6750, section 3.1: whoever gave no token is not told of an error.
    let challenge = match first {
        None => "Bearer realm=\"framegate\"",
        Some(_) => "Bearer realm=\"framegate\", error=\"invalid_token\"",
    };
    let problem = Problem::new(StatusCode::UNAUTHORIZED, "a token is needed: Authorization: Bearer TOKEN");
    Err(problem.with(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge)))
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_whole_paths() {
        for (pattern, path, expected) in [
            ("/v1/runs", "/v1/runs", true),
            ("/v1/runs", "/v1/runs/", false),
            ("/v1/runs/{run_id}", "/v1/runs/x", true),
            ("/v1/runs/{run_id}", "/v1/runs", false),
            ("/v1/runs/{run_id}", "/v1/runs/x/events", false),
            ("/v1/runs/{run_id}/events", "/v1/runs/x/events", true),
            ("/schemas/{path...}", "/schemas/a/b.json", true),
            ("/schemas/{path...}", "/schemas", true),
            ("/schemas/{path...}", "/schemas2", false),
            ("/v1/runs", "/V1/runs", false),
        ] {
            assert_eq!(fits(pattern, path), expected, "{pattern} {path}");
        }
    }

    #[test]
    fn no_path_that_gives_or_takes_data_is_open() {
        for route in ROUTES {
            let is_probe = matches!(route.path, "/healthz" | "/readyz");
            assert_eq!(route.access == Access::Open, is_probe, "{}", route.path);
            // Reading does nothing, so nothing that does something may be had for it.
            assert_eq!(route.access == READ, route.method == Method::GET && !is_probe, "{}", route.path);
        }
    }

    #[test]
    fn no_route_stands_behind_another_that_takes_its_requests() {
        for (at, route) in ROUTES.iter().enumerate() {
            let first = ROUTES.iter().position(|one| one.method == route.method && fits(one.path, route.path));
            assert_eq!(first, Some(at), "{}", route.path);
        }
    }
}
