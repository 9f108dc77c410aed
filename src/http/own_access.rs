//! `GET /v1/access`: what the caller may do. `POST /v1/access/redeem`: a token in exchange for a code.
//!
//! Input: a caller, or a code from the link that the program printed. Output: the caller's scopes, or a token. Never: a code
//! that works twice; a token in an address, which ends up in histories; a comparison whose time reveals a code.

use super::json_body;
use super::problem::Problem;
use super::reply::{Body, json_response};
use super::route::Call;
use crate::auth::Scope;
use hyper::Response;
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::sync::{Mutex, PoisonError};
use subtle::ConstantTimeEq;

/// The size limit for the body of a request with a code, in bytes.
const MAX_BODY: usize = 4096;

/// A token that can be fetched once, with a code.
pub(super) struct OneTime {
    /// `None` after it was fetched, and if there never was a code.
    left: Mutex<Option<Secrets>>,
}

struct Secrets {
    code: [u8; 32],
    token: String,
}

impl OneTime {
    /// Exchanges this code for this token; `None`: no code is valid.
    pub(super) fn new(secrets: Option<(&str, &str)>) -> Self {
        let secrets =
            secrets.map(|(code, token)| Secrets { code: Sha256::digest(code).into(), token: token.to_owned() });
        Self { left: Mutex::new(secrets) }
    }

    /// The token, if the code is right and was not used before.
    fn redeem(&self, code: &str) -> Option<String> {
        let given: [u8; 32] = Sha256::digest(code).into();
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let is_right = left.as_ref().is_some_and(|secrets| secrets.code.ct_eq(&given).into());
        if is_right { left.take().map(|secrets| secrets.token) } else { None }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_works_once_and_a_wrong_one_does_not_use_it_up() {
        let one_time = OneTime::new(Some(("right", "secret")));
        assert_eq!(one_time.redeem("wrong"), None);
        assert_eq!(one_time.redeem(""), None);
        assert_eq!(one_time.redeem("right"), Some("secret".to_owned()));
        assert_eq!(one_time.redeem("right"), None);
        assert_eq!(OneTime::new(None).redeem(""), None);
    }
}
