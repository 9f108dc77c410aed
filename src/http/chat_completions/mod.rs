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

use super::conversations::prompts_of;
use super::digest::{Digest, digest};
use super::idempotency::REPLAYED;
use super::json_body;
use super::models::Model;
use super::problem::Problem;
use super::repeats::Once;
use super::reply::Body;
use super::route::Call;
use super::sessions::{self, Claim};
use super::shared::Shared;
use super::transcript::{Role, Transcript};
use crate::runs::Entry;
use framegate_translators::frame::StreamKind;
use framegate_translators::host::Opening;
use hyper::Response;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use request::ChatRequest;
use serde_json::Value;
use std::sync::Arc;

/// The path.
pub(super) const PATH: &str = "/v1/chat/completions";

/// The header of a response that names the parameters that had no effect.
const IGNORED: HeaderName = HeaderName::from_static("framegate-ignored-parameters");

/// `POST /v1/chat/completions`.
pub(super) async fn create(call: Call) -> Result<Response<Body>, Problem> {
    let (request, shared) = (call.request, call.shared);
    let headers = request.headers().clone();
    let body: Value =
        json_body::read(request, shared.settings.max_prompt_body, "{\"model\", \"messages\"}", &shared).await?;
    let request = ChatRequest::read(body)?;
    let model = Model::find(&request.model, &shared)?;
    let named = session_header(&headers)?;
    let lease = shared.stream()?;
    let (entry, is_repeat) = run_of(&request, &model, named, &headers, &shared).await?;
    let mut response = if request.stream {
        answer::stream(&entry, request.include_usage, lease, &shared).await?
    } else {
        answer::whole(&entry, lease, &shared).await?
    };
    sessions::name_run(&mut response, &entry);
    let headers = response.headers_mut();
    if !request.ignored.is_empty() {
        let names = request.ignored.join(", ");
        tracing::info!(parameters = names, "parameters of a chat completion were ignored");
        if let Ok(names) = HeaderValue::from_str(&names) {
            headers.insert(IGNORED, names);
        }
    }
    if is_repeat {
        headers.insert(REPLAYED, HeaderValue::from_static("true"));
    }
    Ok(response)
}

/// The run that answers a request, and whether an earlier request started it.
async fn run_of(
    request: &ChatRequest,
    model: &Model,
    named: Option<String>,
    headers: &HeaderMap,
    shared: &Arc<Shared>,
) -> Result<(Arc<Entry>, bool), Problem> {
    let named = named.map(|named| sessions::runners_own(named, shared)).transpose()?;
    let digest = digest_of(request, model, named.as_deref());
    let once = Once::by_key(headers, PATH, digest)?.unwrap_or_else(|| Once::by_digest(headers, digest));
    let claimed = match sessions::claim(Some(once), shared).await? {
        Claim::Repeat(entry) => return Ok((entry, true)),
        Claim::New(claimed) => claimed,
    };
    let transcript = &request.transcript;
    let upstream = model.upstream.name();
    let caller = author(request, shared);
    let session = match named {
        Some(named) => Some(named),
        None => known_session(transcript, &caller, upstream, shared).await?,
    };
    let prompt = if session.is_some() { transcript.prompt.clone() } else { transcript.opening_prompt() };
    let opening = Opening { prompt, session, cwd: None, model: model.name.clone() };
    let prompts = transcript.earlier_prompts().chain([transcript.prompt.as_str()]);
    let prompts = prompts_of(&caller, upstream, prompts);
    let conversations = shared.conversations.clone();
    let order = sessions::Order { upstream: model.upstream.clone(), opening };
    let entry = claimed.start(order, move |entry| conversations.add(prompts, entry.stream.id)).await?;
    Ok((entry, false))
}

/// Who writes the prompts: the caller, and the person that the caller names.
fn author(request: &ChatRequest, shared: &Shared) -> String {
    format!("{}\n{}", shared.caller.name, request.user)
}

/// The digest of what makes two requests the same: not the form of the answer.
fn digest_of(request: &ChatRequest, model: &Model, session: Option<&str>) -> Digest {
    let transcript = &request.transcript;
    let history =
        transcript.history.iter().flat_map(|message| [Some(message.role.as_str()), Some(message.text.as_str())]);
    let fields = [
        Some(PATH),
        Some(&request.user),
        Some(model.upstream.name()),
        model.name.as_deref(),
        session,
        Some(&transcript.instructions),
        Some(&transcript.prompt),
    ];
    digest(fields.into_iter().chain(history))
}

/// The value of `Framegate-Session`.
fn session_header(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(sessions::SESSION) else { return Ok(None) };
    let name = value.to_str().ok().map(str::trim).filter(|name| !name.is_empty());
    let detail = "Framegate-Session must be the id of a session, as in GET /v1/runs, or the runner's own name of it";
    name.map(|name| Some(name.to_owned())).ok_or_else(|| Problem::bad_request(detail))
}

/// The runner's name of the session that a conversation continues; `None` if there is none, or if the session has moved on.
///
/// # Errors
/// 409 if a run of the session is in progress.
async fn known_session(
    transcript: &Transcript,
    caller: &str,
    upstream: &str,
    shared: &Arc<Shared>,
) -> Result<Option<String>, Problem> {
    let Some(last) = transcript.history.iter().rfind(|message| message.role == Role::Assistant) else {
        return Ok(None);
    };
    let mut busy = None;
    for run in shared.conversations.find(prompts_of(caller, upstream, transcript.earlier_prompts())) {
        let Some(entry) = shared.find(StreamKind::Session, run) else { continue };
        if !answer::begins_with(&entry, &last.text, shared).await {
            continue;
        }
        match sessions::continuable(&entry, shared) {
            Ok(Some(session)) => return Ok(Some(session)),
            Ok(None) => {}
            Err(problem) => busy = Some(problem),
        }
    }
    busy.map_or(Ok(None), Err)
}
