//! The answer to a chat completion request: the run's `chat-completions.v1` events as a stream, or gathered in one completion.
//!
//! Input: a run. Output: chunks and `[DONE]`; one completion; or the run's error. Never: a chunk with the usage that the client did not
//! ask for, because many clients expect a choice in each chunk.

use super::super::body::{ApiStream, DONE, Select, Source, api_events};
use super::super::events::{stream_headers, unreadable};
use super::super::lease::Lease;
use super::super::problem::Problem;
use super::super::reply::{Body, json_response};
use super::super::sdk_errors::error;
use super::super::sessions;
use super::super::shared::Shared;
use crate::runs::{Entry, Wire};
use bytes::Bytes;
use framegate_translators::contracts::chat_completions::V1;
use hyper::header::HeaderValue;
use hyper::{Response, StatusCode};
use memchr::memmem;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What only a chunk with the usage contains. Inside a string, its quotes would be escaped.
const NO_CHOICES: &[u8] = b"\"choices\":[]";

/// The longest completion that is gathered, in bytes.
const MAX_COMPLETION: usize = 64 << 20;

/// The run as a stream of chunks.
pub(super) async fn stream(
    entry: &Arc<Entry>,
    include_usage: bool,
    lease: Lease,
    shared: &Arc<Shared>,
) -> Result<Response<Body>, Problem> {
    let follower = sessions::follow(entry, &V1, Wire::Sse, 0, shared).await?;
    let negotiated = sessions::negotiated(&V1, shared);
    let select = if include_usage { None } else { Some(Box::new(without_usage) as Select) };
    let (repeats, run) = (shared.repeats.clone(), entry.stream.id);
    let on_end: Box<dyn FnOnce() + Send> = Box::new(move || repeats.delivered(run));
    let api = ApiStream { last: DONE, select, on_end: Some(on_end), ..ApiStream::default() };
    let mut response = Response::new(api_events(Source::Run(Box::new(follower)), &negotiated, api, shared, lease));
    stream_headers(&mut response, &negotiated);
    Ok(response)
}

/// Server-sent events without those that have no choice.
fn without_usage(events: Bytes) -> Bytes {
    if memmem::find(&events, NO_CHOICES).is_none() {
        return events;
    }
    let mut kept = Vec::with_capacity(events.len());
    let mut rest: &[u8] = &events;
    while !rest.is_empty() {
        let end = memmem::find(rest, b"\n\n").map_or(rest.len(), |end| end + 2);
        let (event, behind) = rest.split_at(end);
        if memmem::find(event, NO_CHOICES).is_none() {
            kept.extend_from_slice(event);
        }
        rest = behind;
    }
    kept.into()
}

/// One event of the contract, as far as a completion needs it.
#[derive(Debug, Deserialize)]
struct Event {
    #[serde(default)]
    id: String,
    #[serde(default)]
    created: u64,
    #[serde(default)]
    model: String,
    #[serde(default)]
    choices: Vec<ChunkChoice>,
    usage: Option<Box<serde_json::value::RawValue>>,
    error: Option<RunError>,
}

#[derive(Debug, Deserialize)]
struct ChunkChoice {
    delta: Delta,
    finish_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Delta {
    content: Option<String>,
    reasoning_content: Option<String>,
}

#[derive(Debug, Deserialize)]
struct RunError {
    message: String,
    code: String,
}

/// A completion, as the API gives it without `stream`.
#[derive(Debug, Serialize)]
struct Completion {
    id: String,
    object: &'static str,
    created: u64,
    model: String,
    choices: [Choice; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Box<serde_json::value::RawValue>>,
}

#[derive(Debug, Serialize)]
struct Choice {
    index: u8,
    message: Message,
    logprobs: (),
    finish_reason: String,
}

#[derive(Debug, Default, Serialize)]
struct Message {
    role: &'static str,
    content: String,
    refusal: (),
    #[serde(skip_serializing_if = "String::is_empty")]
    reasoning_content: String,
}

/// The whole run as one completion, once the run has ended.
pub(super) async fn whole(
    entry: &Arc<Entry>,
    mut lease: Lease,
    shared: &Arc<Shared>,
) -> Result<Response<Body>, Problem> {
    lease.during(gathered(entry, shared)).await
}

async fn gathered(entry: &Arc<Entry>, shared: &Arc<Shared>) -> Result<Response<Body>, Problem> {
    let mut follower = sessions::follow(entry, &V1, Wire::Ndjson, 0, shared).await?;
    let mut message = Message { role: "assistant", ..Message::default() };
    let (mut id, mut created, mut model) = (String::new(), 0, String::new());
    let (mut finish, mut usage) = (None, None);
    while let Some(batch) = follower.next().await.map_err(|error| unreadable(&error))? {
        for event in events_of(&batch.chunks) {
            if let Some(failed) = event.error {
                shared.repeats.delivered(entry.stream.id);
                return Ok(failure(&failed));
            }
            for choice in event.choices {
                message.content.push_str(choice.delta.content.as_deref().unwrap_or_default());
                message.reasoning_content.push_str(choice.delta.reasoning_content.as_deref().unwrap_or_default());
                finish = choice.finish_reason.or(finish);
            }
            usage = event.usage.or(usage);
            (id, created, model) = (event.id, event.created, event.model);
        }
        if message.content.len() + message.reasoning_content.len() > MAX_COMPLETION {
            let detail = format!("the answer has more than {MAX_COMPLETION} bytes: request it with \"stream\": true");
            return Err(Problem::new(StatusCode::BAD_GATEWAY, detail).without_retry());
        }
    }
    let Some(finish_reason) = finish else {
        let detail = "the proxy stopped before the run ended; the run's events are kept";
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).without_retry());
    };
    shared.repeats.delivered(entry.stream.id);
    let choice = Choice { index: 0, message, logprobs: (), finish_reason };
    Ok(json_response(&Completion { id, object: "chat.completion", created, model, choices: [choice], usage }))
}

fn events_of(chunks: &[Bytes]) -> impl Iterator<Item = Event> {
    let lines = chunks.iter().flat_map(|chunk| chunk.split(|&byte| byte == b'\n')).filter(|line| !line.is_empty());
    lines.filter_map(|line| serde_json::from_slice(line).ok())
}

/// The error of a run. An SDK must not send the request again by itself: the run took place.
fn failure(failed: &RunError) -> Response<Body> {
    let mut response = error(StatusCode::BAD_GATEWAY, &failed.code, &failed.message);
    response.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_chunk_with_the_usage_is_left_out() {
        let text = r#"id: 0
data: {"choices":[{"delta":{"content":"\"choices\":[]"}}]}

"#;
        let usage = "id: 1\ndata: {\"choices\":[],\"usage\":{}}\n\n";
        let error = "id: 2\ndata: {\"error\":{}}\n\n";
        let kept = |events: &[&str]| without_usage(Bytes::from(events.concat()));
        assert_eq!(kept(&[text]), text);
        assert_eq!(kept(&[text, usage, error]), [text, error].concat());
        assert_eq!(kept(&[usage]), "");
    }
}
