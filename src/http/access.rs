//! The scope that each path requires.
//!
//! Input: a request's method, path and `Authorization`. Output: the caller, if it may request the path. Never: a token taken from anywhere but the header (URLs end up in logs and histories).

use super::live::Live;
use super::problem::Problem;
use super::route::Access;
use super::shared::Shared;
use crate::auth::Caller;
use hyper::header::{self, AUTHORIZATION, HeaderValue};
use hyper::{HeaderMap, Request, StatusCode};
use std::sync::Arc;

/// Identifies the caller, and checks whether it may make the request. `access` is what the route requires, `None` for a request
/// without a route: it still needs a valid token, because only such callers learn that there is no route.
///
/// # Errors
/// 401, 403 or 429.
pub(super) fn admit<B>(
    request: &Request<B>,
    access: Option<Access>,
    shared: &Shared,
    live: &Live,
) -> Result<Arc<Caller>, Problem> {
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
    let detail = match first {
        None => "a token is required: Authorization: Bearer TOKEN",
        Some(_) => "the token is not one of those that are accepted",
    };
    let problem = Problem::new(StatusCode::UNAUTHORIZED, detail);
    Err(problem.with(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge)))
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
