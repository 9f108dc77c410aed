//! The scope that each path requires.
//!
//! Input: a request's method, path and `Authorization`. Output: the caller, if it may request the path. Never: an endpoint
//! without a line in [`access_of`]; a token taken from anywhere but the header (URLs end up in logs and histories).

use super::live::Live;
use super::problem::Problem;
use super::routes::{Endpoint, Found};
use super::shared::Shared;
use crate::auth::{Caller, Scope};
use hyper::header::{self, AUTHORIZATION, HeaderValue};
use hyper::{HeaderMap, Request, StatusCode};
use std::sync::Arc;

/// What a path requires of its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Nothing: process monitors have no token.
    Open,
    /// A token with this scope, if tokens are configured.
    Needs(Scope),
}

const READ: Access = Access::Needs(Scope::Read);

/// The access that an endpoint requires. The match is exhaustive, so a new endpoint needs a line here.
fn access_of(endpoint: Endpoint) -> Access {
    match endpoint {
        Endpoint::Ingest => Access::Needs(Scope::Ingest),
        // They cost money, or change what the upstream keeps.
        Endpoint::ResponseCreate
        | Endpoint::ResponseCancel
        | Endpoint::ResponseDelete
        | Endpoint::ResponseCompact
        | Endpoint::ResponseTokens => Access::Needs(Scope::Control),
        Endpoint::StartRun | Endpoint::Approval | Endpoint::Interrupt | Endpoint::SessionMessages => {
            Access::Needs(Scope::Control)
        }
        Endpoint::Health | Endpoint::Ready => Access::Open,
        // It covers the runs of all callers.
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
        | Endpoint::Models
        | Endpoint::Model
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

/// Identifies the caller, and checks whether it may make the request.
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
        // An unknown path still needs a valid token: only such callers learn that it does not exist.
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
            let detail =
                format!("the token {:?} does not have the scope {scope:?} that this path requires", caller.name);
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

/// The caller that the request's token belongs to (RFC 6750, section 2.1).
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
    // Failed attempts count against a rate limit too, so that guessing is slow. They share one meter, with a name that no
    // token has.
    shared.meters.of("").request(&live.rates)?;
    // RFC 6750, section 3.1: without a token, the challenge contains no error.
    let challenge = match first {
        None => "Bearer realm=\"framegate\"",
        Some(_) => "Bearer realm=\"framegate\", error=\"invalid_token\"",
    };
    let problem = Problem::new(StatusCode::UNAUTHORIZED, "a token is required: Authorization: Bearer TOKEN");
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
    fn only_probes_are_open() {
        for route in ROUTES {
            let access = access_of(route.endpoint);
            let is_probe = matches!(route.path, "/healthz" | "/readyz");
            assert_eq!(access == Access::Open, is_probe, "{}", route.path);
            // Endpoints with an effect must need more than the scope `read`.
            let reads = route.method == Method::GET && !is_probe && route.path != "/metrics";
            assert_eq!(access == READ, reads, "{}", route.path);
        }
    }
}
