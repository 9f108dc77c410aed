//! Reads small JSON requests.
//!
//! Input: a body. Output: its value, or what is wrong with it. Never: more bytes read than the limit; an unbounded wait.

use super::coding::{self, coding_of};
use super::problem::Problem;
use super::shared::Shared;
use crate::compression::{Bounds, decoded};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body as HttpBody, Bytes};
use hyper::{Request, StatusCode};
use serde::de::DeserializeOwned;
use std::time::Duration;

/// How long the client may take to send the body.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// Reads a body of at most `most` bytes, or `server.max_body_bytes` if that is less. `form` describes the valid form for
/// errors.
pub(super) async fn read<T, B>(request: Request<B>, most: usize, form: &str, shared: &Shared) -> Result<T, Problem>
where
    T: DeserializeOwned,
    B: HttpBody<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let coding = coding_of(request.headers())?;
    let limit = shared.settings.max_body_bytes.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(most);
    let limit = limit.min(most);
    let body = tokio::time::timeout(PATIENCE, Limited::new(request.into_body(), limit).collect()).await;
    let body = match body {
        Err(_) => return Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "the request's body did not arrive in time")),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            let detail = format!("the request's body is too large: it has more than {limit} bytes");
            return Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail));
        }
        Ok(Err(_)) => return Err(Problem::bad_request("the request's body is incomplete")),
        Ok(Ok(body)) => body.to_bytes(),
    };
    let body = match coding {
        None => body,
        Some(coding) => {
            let bounds =
                Bounds { bytes: Some(limit as u64), ratio: shared.settings.max_compression, window: coding::WINDOW };
            let decoded = decoded(coding, &body, bounds);
            decoded.map_err(|error| Problem::bad_request(error.to_string()))?.into()
        }
    };
    serde_json::from_slice(&body)
        .map_err(|error| Problem::bad_request(format!("the body does not have the form {form}: {error}")))
}
