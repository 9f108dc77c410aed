//! What somebody must be allowed to ask for a path.
//!
//! In: a request's method, path and `Authorization`. Out: who asks, where the path may be asked for by it. Never: a path that
//! is answered without a line in [`access_of`], a token taken from anywhere but the header (URLs end in logs and histories).

use super::Shared;
use super::live::Live;
use super::problem::Problem;
use super::routes::{Endpoint, Found};
use crate::auth::{Caller, Scope};
use hyper::header::{self, AUTHORIZATION, HeaderValue};
use hyper::{HeaderMap, Request, StatusCode};
use std::sync::Arc;

/// What a path asks of whoever asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Nothing: whoever watches over the process has no token.
    Open,
    /// A token with that scope, where there are tokens.
    Needs(Scope),
}

const READ: Access = Access::Needs(Scope::Read);

/// What an endpoint asks. A new one does not compile without a line here.
fn access_of(endpoint: Endpoint) -> Access {
    match endpoint {
        Endpoint::Ingest => Access::Needs(Scope::Ingest),
        // They cost, or change what is kept elsewhere.
        Endpoint::ResponseCreate | Endpoint::ResponseCancel | Endpoint::ResponseDelete => Access::Needs(Scope::Control),
        Endpoint::StartRun | Endpoint::Approval | Endpoint::Interrupt | Endpoint::SessionMessages => {
            Access::Needs(Scope::Control)
        }
        Endpoint::Health | Endpoint::Ready => Access::Open,
        // It tells of everybody's runs.
        Endpoint::Metrics => Access::Needs(Scope::Admin),
        Endpoint::Runs
        | Endpoint::Upstreams
        | Endpoint::Run
        | Endpoint::RunEvents
        | Endpoint::SessionEvents
        | Endpoint::AllEvents
        | Endpoint::Artifact
        | Endpoint::Response
        | Endpoint::ResponseInput
        | Endpoint::Contracts
        | Endpoint::Schema
        | Endpoint::NativeSseStream
        | Endpoint::NativeSseRun
        | Endpoint::HecateRunEvents
        | Endpoint::HecateAllEvents
        | Endpoint::HecateArtifact
        | Endpoint::OpenApi => READ,
    }
}

/// Finds out who asks, and whether it may.
///
/// # Errors
/// 401, 403 or 429.
pub(super) fn admit<B>(
    request: &Request<B>,
    found: &Found<'_>,
    shared: &Shared,
    live: &Live,
) -> Result<Arc<Caller>, Problem> {
    let access = match found {
        Found::Route(route, _) => Some(access_of(route.endpoint)),
        // Whoever may ask is told that there is nothing to be had.
        Found::Path(_) | Found::Nothing => None,
    };
    if access == Some(Access::Open) {
        return Ok(Caller::nobody());
    }
    let caller = caller(request.headers(), shared, live)?;
    shared.meters.of(&caller.name).request(&live.rates)?;
    match access {
        Some(Access::Needs(scope)) if !caller.may(scope) => {
            let scope = scope.as_str();
            let detail = format!("the token {:?} has not the scope {scope:?}, which this path needs", caller.name);
            let challenge = format!("Bearer realm=\"framegate\", error=\"insufficient_scope\", scope=\"{scope}\"");
            let problem = Problem::new(StatusCode::FORBIDDEN, detail);
            Err(match HeaderValue::from_str(&challenge) {
                Ok(challenge) => problem.with(header::WWW_AUTHENTICATE, challenge),
                Err(_) => problem,
            })
        }
        _ => Ok(caller),
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
    use super::super::routes::ROUTES;
    use super::*;
    use hyper::Method;

    #[test]
    fn no_path_that_gives_or_takes_data_is_open() {
        for route in ROUTES {
            let access = access_of(route.endpoint);
            let is_probe = matches!(route.path, "/healthz" | "/readyz");
            assert_eq!(access == Access::Open, is_probe, "{}", route.path);
            // Reading does nothing, so nothing that does something may be had for it.
            let reads = route.method == Method::GET && !is_probe && route.path != "/metrics";
            assert_eq!(access == READ, reads, "{}", route.path);
        }
    }
}
