//! The Responses API: who answers a request.
//!
//! Input: a request to `/v1/responses`. Output: the answer of the coding agent that its model names, or of the upstream of kind `responses`.
//! Never: a request that both get.
//!
//! `?upstream=` always names an upstream of kind `responses`. The body is read here only if there are both.

use super::json_body;
use super::models::Model;
use super::open_responses as agents;
use super::percent;
use super::problem::Problem;
use super::reply::Body;
use super::responses;
use super::route::Call;
use super::shared::Shared;
use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::{Request, Response, StatusCode};
use serde::Deserialize;

/// The path of [`create`].
pub(super) const PATH: &str = agents::PATH;

/// `POST /v1/responses`.
pub(super) async fn create(call: Call) -> Result<Response<Body>, Problem> {
    let Call { request, shared, .. } = call;
    let has_agents = Model::any_agent(&shared);
    if names_upstream(&request) || !has_agents {
        return Ok(responses::create(request, shared).await);
    }
    let headers = request.headers().clone();
    if shared.settings.responses.is_empty() {
        let body = agents::read(request, &shared).await?;
        return agents::create(body, &headers, &shared).await;
    }
    let request = buffered(request, &shared).await?;
    match names_agent(&request, &shared).await? {
        true => {
            let body = agents::read(request, &shared).await?;
            agents::create(body, &headers, &shared).await
        }
        false => Ok(responses::create(request, shared).await),
    }
}

fn names_upstream<B>(request: &Request<B>) -> bool {
    request.uri().query().unwrap_or_default().split('&').any(|pair| pair.starts_with("upstream="))
}

/// The size of a request that an upstream accepts, in bytes.
fn most_bytes(shared: &Shared) -> usize {
    let of_upstreams = shared.settings.responses.iter().map(|upstream| upstream.settings().max_request_bytes);
    usize::try_from(of_upstreams.max().unwrap_or_default()).unwrap_or(usize::MAX)
}

/// The request with its whole body, at most of the size that an upstream accepts.
async fn buffered<B>(request: Request<B>, shared: &Shared) -> Result<Request<Full<Bytes>>, Problem>
where
    B: hyper::body::Body<Data = Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let most = most_bytes(shared);
    let (head, body) = request.into_parts();
    // The permit bounds how many bodies are held at a time.
    let _place = responses::ingest_place(shared)?;
    let body = tokio::time::timeout(json_body::PATIENCE, Limited::new(body, most).collect()).await;
    let body =
        body.map_err(|_| Problem::new(StatusCode::REQUEST_TIMEOUT, "the request's body did not arrive in time"))?;
    let body = body.map_err(|error| {
        if error.is::<LengthLimitError>() {
            let detail = format!("the request has more than {most} bytes (max_request_bytes of the upstream)");
            return Problem::new(StatusCode::PAYLOAD_TOO_LARGE, detail);
        }
        Problem::bad_request("the request's body is incomplete")
    })?;
    let body = body.to_bytes();
    Ok(Request::from_parts(head, Full::new(body)))
}

/// Whether the request's model names a coding agent. A body that cannot be read is the upstream's to refuse.
///
/// # Errors
/// 413 if the body is too large once it is decompressed.
async fn names_agent(request: &Request<Full<Bytes>>, shared: &Shared) -> Result<bool, Problem> {
    #[derive(Deserialize)]
    struct Named {
        model: String,
    }
    let mut copy = Request::new(request.body().clone());
    copy.headers_mut().clone_from(request.headers());
    match json_body::read::<Named, _>(copy, most_bytes(shared), agents::FORM, shared).await {
        Ok(named) => Ok(Model::is_agent(&named.model, shared)),
        Err(problem) if problem.status() == StatusCode::PAYLOAD_TOO_LARGE => Err(problem),
        Err(_) => Ok(false),
    }
}

/// Whether the request is about a response of a coding agent.
fn is_of_agent(call: &Call) -> Result<bool, Problem> {
    let [id] = call.path.get()?;
    let id = percent::of_path(id);
    Ok(!names_upstream(&call.request) && id.is_some_and(|id| agents::knows(&id, &call.shared)))
}

/// `GET /v1/responses/{response_id}`.
pub(super) async fn retrieve(call: Call) -> Result<Response<Body>, Problem> {
    if is_of_agent(&call)? { agents::retrieve(call).await } else { responses::retrieve(call).await }
}

/// `GET /v1/responses/{response_id}/input_items`.
pub(super) async fn input_items(call: Call) -> Result<Response<Body>, Problem> {
    if is_of_agent(&call)? { agents::input_items(call).await } else { responses::input_items(call).await }
}

/// `POST /v1/responses/{response_id}/cancel`.
pub(super) async fn cancel(call: Call) -> Result<Response<Body>, Problem> {
    if is_of_agent(&call)? { agents::cancel(call).await } else { responses::cancel(call).await }
}

/// `DELETE /v1/responses/{response_id}`.
pub(super) async fn delete(call: Call) -> Result<Response<Body>, Problem> {
    if is_of_agent(&call)? { agents::delete(call).await } else { responses::delete(call).await }
}
