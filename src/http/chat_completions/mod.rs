//! The Chat Completions API, answered by coding agents.
//!
//! Input: a conversation, and a model that names an upstream. Output: the run of its last prompt in `chat-completions.v1`, as chunks or
//! as one completion; errors in the form that the API's SDKs read. Never: a tool call for the client to run; a second run for a request
//! that is sent again; a run that ends because its client left.
//!
//! The session of a conversation is the one that `Framegate-Session` names, or the one whose prompts and last answer the conversation
//! repeats ([`super::conversations`]). Otherwise it is a new one, whose first prompt contains the conversation so far.

mod answer;
mod request;

use super::json_body;
use super::models::Model;
use super::problem::Problem;
use super::prompted::{self, Prompted};
use super::reply::Body;
use super::route::Call;
use super::sessions;
use hyper::Response;
use request::ChatRequest;
use serde_json::Value;

/// The path.
pub(super) const PATH: &str = "/v1/chat/completions";

/// `POST /v1/chat/completions`.
pub(super) async fn create(call: Call) -> Result<Response<Body>, Problem> {
    let (request, shared) = (call.request, call.shared);
    let headers = request.headers().clone();
    let body: Value =
        json_body::read(request, shared.settings.max_prompt_body, "{\"model\", \"messages\"}", &shared).await?;
    let request = ChatRequest::read(body)?;
    let model = Model { mode: prompted::named_mode(&headers)?, ..Model::find(&request.model, &shared)? };
    let lease = shared.stream()?;
    let prompted = Prompted {
        path: PATH,
        headers: &headers,
        transcript: &request.transcript,
        user: &request.user,
        model: &model,
        conversation: None,
        previous: None,
    };
    let named = || prompted::named_session(&headers, &shared);
    let (entry, is_repeat) = prompted::run_of(prompted, named, &shared, |_| {}).await?;
    let mut response = if request.stream {
        answer::stream(&entry, request.include_usage, lease, &shared).await?
    } else {
        answer::whole(&entry, lease, &shared).await?
    };
    sessions::name_run(&mut response, &entry);
    sessions::tell_outcome(&mut response, is_repeat, &request.ignored);
    Ok(response)
}
