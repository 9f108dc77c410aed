//! `GET /v1/access`: what the caller may do. `POST /v1/access/redeem`: a token in exchange for a code.
//!
//! Input: a caller, or a code from the link that the program printed. Output: the caller's scopes, or a token. Never: a code
//! that works twice; a token in an address, which ends up in histories.

use super::json_body;
use super::problem::Problem;
use super::reply::{Body, json_response};
use super::route::Call;
use crate::auth::Scope;
use hyper::Response;
use serde::Deserialize;
use serde_json::json;

/// The size limit for the body of a request with a code, in bytes.
const MAX_BODY: usize = 4096;

/// Responds with the scopes of the caller's token. Without tokens, every caller has every scope.
pub(super) async fn of_caller(call: Call) -> Result<Response<Body>, Problem> {
    let shared = &call.shared;
    let scopes = Scope::ALL.into_iter().filter(|scope| shared.caller.may(*scope)).map(Scope::as_str);
    Ok(json_response(&json!({
        "tokens_required": !shared.control.live().tokens.is_empty(),
        "scopes": scopes.collect::<Vec<_>>(),
        "version": env!("CARGO_PKG_VERSION"),
    })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    code: String,
}

/// Responds with the token that belongs to the code.
pub(super) async fn redeem(call: Call) -> Result<Response<Body>, Problem> {
    let Call { request, shared, .. } = call;
    // Guesses count like wrong tokens.
    shared.meters.of("").request(&shared.control.live().rates)?;
    let request: Request = json_body::read(request, MAX_BODY, "{\"code\": \"…\"}", &shared).await?;
    let token = shared.one_time.redeem(&request.code);
    let token = token.ok_or_else(|| {
        Problem::not_found("there is no such code, or it was used before; start framegate view again for a new link")
    })?;
    Ok(json_response(&json!({"token": token})))
}
