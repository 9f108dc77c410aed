//! Small JSON requests: what somebody wants done.
//!
//! In: a body. Out: what it says, or what is wrong with it. Never: more of it read than may be, or for longer than that.

use super::Shared;
use super::problem::Problem;
use http_body_util::{BodyExt, Limited};
use hyper::body::{Body as HttpBody, Bytes};
use hyper::{Request, StatusCode};
use serde::de::DeserializeOwned;
use std::time::Duration;

/// How long the client may take for it.
const PATIENCE: Duration = Duration::from_secs(60);

/// Reads a request of at most `most` bytes, or `server.max_body_bytes` where that is less; `form` says what is right.
pub(super) async fn read<T, B>(request: Request<B>, most: usize, form: &str, shared: &Shared) -> Result<T, Problem>
where
    T: DeserializeOwned,
    B: HttpBody<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let limit = shared.settings.max_body_bytes.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(most);
    let body = tokio::time::timeout(PATIENCE, Limited::new(request.into_body(), limit.min(most)).collect()).await;
    let body = match body {
        Err(_) => return Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "the request's body did not come")),
        Ok(Err(_)) => {
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "the request's body is too large, or broke off"));
        }
        Ok(Ok(body)) => body.to_bytes(),
    };
    serde_json::from_slice(&body)
        .map_err(|error| Problem::bad_request(format!("the body is none of the form {form}: {error}")))
}
