//! The Responses API, answered by coding agents.
//!
//! Input: a request whose model names an upstream. Output: its run in `open-responses.v1`, as a stream or as one object; kept responses by
//! id. Never: a tool call for the client to run; a second run for a request that is sent again; a run that ends because its client left.
//!
//! A response ends where its run waits for a person. The answer, an `mcp_approval_response`, begins the next response of the same run.

mod answer;
mod request;

use super::control;
use super::decision::bare;
use super::digest::{Digest, digest};
use super::json_body;
use super::models::Model;
use super::problem::Problem;
use super::prompted::{self, Prompted};
use super::reply::{Body, json_response};
use super::response_id::{ResponseId, run_of_item};
use super::route::Call;
use super::sessions;
use super::shared::Shared;
use super::stored_events;
use super::threads::Thread;
use crate::auth::Scope;
use crate::runs::Entry;
use framegate_translators::contracts::open_responses::V1;
use framegate_translators::frame::{Decision, StreamKind};
use framegate_translators::host::Answer;
use hyper::{HeaderMap, Response, StatusCode};
use request::{AgentRequest, Approval, Input, wrong};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// The path of [`create`].
pub(super) const PATH: &str = "/v1/responses";

/// The form of a request.
pub(super) const FORM: &str = "{\"model\", \"input\"}";

/// `POST /v1/responses` with the JSON of the request.
pub(super) async fn create(body: Value, headers: &HeaderMap, shared: &Arc<Shared>) -> Result<Response<Body>, Problem> {
    let request = AgentRequest::read(body)?;
    let model = Model { mode: prompted::named_mode(headers)?, ..Model::find(&request.model, shared)? };
    let runner = model.upstream.runner().provider.name;
    if let Some(other) = request.servers.iter().find(|server| *server != runner) {
        let detail =
            format!("the tools of {other:?} cannot be offered to a coding agent, which has its own, of {runner:?}");
        return Err(wrong("tools", detail));
    }
    let lease = shared.stream()?;
    let (entry, id, is_repeat) = match &request.input {
        Input::Prompt(transcript) => {
            let prompted = Prompted {
                path: PATH,
                headers,
                transcript,
                user: &request.user,
                model: &model,
                conversation: request.conversation.as_deref(),
                previous: request.previous.as_deref(),
            };
            let threads = shared.threads.clone();
            let owner = owner(shared);
            let on_start = move |entry: &Entry| {
                threads.begun(thread_name(entry), Thread::new(entry.stream.id, Digest::default(), owner));
            };
            let named = || session_of(&request, &model, headers, shared);
            let (entry, is_repeat) = prompted::run_of(prompted, named, shared, on_start).await?;
            let id = ResponseId { run: entry.stream.id, from: 0 };
            (entry, id, is_repeat)
        }
        Input::Answers(answers) => {
            let (entry, id) = answered(answers, &request, shared).await?;
            (entry, id, false)
        }
    };
    shared.kept_responses.add(id, fields_of(&request));
    let mut response = if request.stream {
        answer::stream(&entry, id, None, lease, shared).await?
    } else if request.background {
        json_response(&answer::object(&entry, id, shared).await?)
    } else {
        answer::whole(&entry, id, lease, shared).await?
    };
    sessions::name_run(&mut response, &entry);
    sessions::tell_outcome(&mut response, is_repeat, &request.ignored);
    Ok(response)
}

/// The name of a run's responses among the threads.
fn thread_name(entry: &Entry) -> Digest {
    digest([Some("responses"), Some(entry.stream.id.to_string().as_str())].into_iter())
}

/// What identifies the caller as the one who started a run.
fn owner(shared: &Shared) -> Digest {
    digest([Some(shared.caller.name.as_str())].into_iter())
}

/// Whether the caller may read the responses of a run: its own, or those of others with the scope `read`.
fn may_read(entry: &Entry, shared: &Shared) -> bool {
    let known = shared.threads.find(thread_name(entry));
    shared.caller.may(Scope::Read) || known.is_some_and(|thread| thread.identity == owner(shared))
}

/// The fields of a response that its request determines.
fn fields_of(request: &AgentRequest) -> Map<String, Value> {
    let fields = [
        ("previous_response_id", json!(request.previous)),
        ("background", json!(request.background)),
        ("store", json!(true)),
        ("metadata", Value::Object(request.metadata.clone())),
    ];
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// The runner's own name of the session that a request names; `None` if it names none.
fn session_of(
    request: &AgentRequest,
    model: &Model,
    headers: &HeaderMap,
    shared: &Arc<Shared>,
) -> Result<Option<String>, Problem> {
    if let Some(conversation) = &request.conversation {
        return sessions::runners_own(conversation.clone(), shared).map(Some);
    }
    let Some(previous) = &request.previous else { return prompted::named_session(headers, shared) };
    let refused = |detail: String| wrong("previous_response_id", detail).and("code", "previous_response_not_found");
    let found = find(previous, shared).filter(|(entry, _)| {
        // Another runner does not have the session.
        entry.stream.provider.name == model.upstream.runner().provider.name
    });
    let Some((entry, _)) = found else {
        return Err(refused(format!("there is no response {previous:?} of {}", model.upstream.name())));
    };
    let moved_on = || {
        let detail = format!("the session has moved on since {previous:?}: name its newest response");
        refused(detail)
    };
    sessions::continuable(&entry, shared)?.ok_or_else(moved_on).map(Some)
}

/// A response of a coding agent that the caller sees.
fn find(id: &str, shared: &Shared) -> Option<(Arc<Entry>, ResponseId)> {
    let id = ResponseId::parse(id)?;
    shared.find(StreamKind::Session, id.run).map(|entry| (entry, id))
}

/// Whether an id is that of a response of a coding agent that the caller sees.
pub(super) fn knows(id: &str, shared: &Shared) -> bool {
    find(id, shared).is_some()
}

fn found(id: &str, shared: &Shared) -> Result<(Arc<Entry>, ResponseId), Problem> {
    find(id, shared).ok_or_else(|| Problem::not_found(format!("there is no response {id:?}")))
}

/// Passes the answers of a request on. Returns the response that begins with them.
async fn answered(
    answers: &[Approval],
    request: &AgentRequest,
    shared: &Arc<Shared>,
) -> Result<(Arc<Entry>, ResponseId), Problem> {
    let unknown = |id: &str| {
        let detail = format!("there is no mcp_approval_request {id:?} of a run that waits for an answer");
        wrong("input", detail).and("code", "approval_request_not_found")
    };
    let mut by_item: HashMap<&str, &Approval> = HashMap::new();
    let mut run = None;
    for answer in answers {
        let of = run_of_item(&answer.approval_request_id).ok_or_else(|| unknown(&answer.approval_request_id))?;
        if *run.get_or_insert(of) != of {
            return Err(wrong(
                "input",
                "the answers are for questions of different runs: send one request for each run",
            ));
        }
        by_item.insert(&answer.approval_request_id, answer);
    }
    let first = answers.first().map(|answer| answer.approval_request_id.as_str()).unwrap_or_default();
    let entry = run.and_then(|run| shared.find(StreamKind::Session, run)).ok_or_else(|| unknown(first))?;
    let known = shared.threads.find(thread_name(&entry));
    if !may_read(&entry, shared) {
        return Err(unknown(first));
    }
    let is_of = |id: &ResponseId| id.run == entry.stream.id;
    if let Some(previous) = &request.previous
        && !ResponseId::parse(previous).is_some_and(|id| is_of(&id))
    {
        return Err(wrong("previous_response_id", "the questions that are answered belong to another response"));
    }
    let (questions, asked) = approval_ids(&entry, &by_item, shared).await?;
    if let Some(missing) = by_item.keys().find(|item| !questions.contains_key(**item)) {
        return Err(unknown(missing));
    }
    // The client also has what followed the question in the same response.
    let waits = known.map(|thread| thread.waits).unwrap_or_default();
    let from = waits.into_iter().map(|wait| wait.position).find(|position| *position >= asked).unwrap_or(asked);
    for answer in answers {
        let item = answer.approval_request_id.as_str();
        let decision = if answer.approve { Decision::Approved } else { Decision::Rejected };
        let given = Answer { reason: answer.reason.clone(), ..bare(decision) };
        let approval_id = questions.get(item).map(String::as_str).unwrap_or_default();
        control::answer_unless_over(&entry, approval_id, given, shared).await?;
    }
    let approvals: Vec<&str> = questions.values().map(String::as_str).collect();
    control::until_answered(&entry, &approvals).await;
    // A response that no reader has followed to its end has one now.
    shared.threads.waits(thread_name(&entry), entry.stream.id, from, digest(approvals.iter().copied().map(Some)));
    Ok((entry.clone(), ResponseId { run: entry.stream.id, from }))
}

/// The runner's ids of the questions of these items, and the number of the event that follows the last of them.
async fn approval_ids<'i>(
    entry: &Arc<Entry>,
    items: &HashMap<&'i str, &Approval>,
    shared: &Shared,
) -> Result<(HashMap<&'i str, String>, u64), Problem> {
    #[derive(Deserialize)]
    struct Event<'e> {
        #[serde(borrow)]
        item: Item<'e>,
    }
    #[derive(Deserialize)]
    struct Item<'e> {
        #[serde(borrow)]
        id: Cow<'e, str>,
        #[serde(borrow)]
        approval_id: Cow<'e, str>,
    }
    let (mut found, mut last) = (HashMap::new(), 0);
    let look = |number: u64, event: &[u8]| {
        if let Ok(Event { item }) = serde_json::from_slice::<Event<'_>>(event)
            && let Some((id, _)) = items.get_key_value(&*item.id)
        {
            found.insert(*id, item.approval_id.into_owned());
            last = number + 1;
        }
        true
    };
    stored_events::each_kept(entry, &V1, shared, look).await?;
    Ok((found, last))
}

/// `GET /v1/responses/{response_id}`.
pub(super) async fn retrieve(call: Call) -> Result<Response<Body>, Problem> {
    let [id] = call.path.get()?;
    let (entry, id) = found(id, &call.shared)?;
    let (mut stream, mut after) = (false, None);
    for pair in call.request.uri().query().unwrap_or_default().split('&') {
        match pair.split_once('=') {
            Some(("stream", value)) => stream = matches!(value, "true" | "1"),
            Some(("starting_after", value)) => {
                let wrong = |_| wrong("starting_after", "starting_after must be the sequence_number of an event");
                after = Some(value.parse().map_err(wrong)?);
            }
            _ => {}
        }
    }
    let mut response = if stream {
        let lease = call.shared.stream()?;
        answer::stream(&entry, id, after, lease, &call.shared).await?
    } else {
        json_response(&answer::object(&entry, id, &call.shared).await?)
    };
    sessions::name_run(&mut response, &entry);
    Ok(response)
}

/// `GET /v1/responses/{response_id}/input_items`.
pub(super) async fn input_items(call: Call) -> Result<Response<Body>, Problem> {
    let [id] = call.path.get()?;
    let (entry, id) = found(id, &call.shared)?;
    // The input of a response that goes on after a question is the answer to it, which the response repeats.
    let prompt = if id.from == 0 { stored_events::prompt_of(&entry, &call.shared).await? } else { String::new() };
    let id = format!("msg_{}_prompt", entry.stream.id.simple());
    let items: Vec<Value> = (!prompt.is_empty())
        .then(|| {
            json!({"id": id, "type": "message", "role": "user", "status": "completed",
                "content": [{"type": "input_text", "text": prompt}]})
        })
        .into_iter()
        .collect();
    let first = items.first().map(|item| item.get("id").cloned());
    Ok(json_response(&json!({"object": "list", "data": items, "first_id": first, "last_id": first, "has_more": false})))
}

/// `POST /v1/responses/{response_id}/cancel`: interrupts the run.
pub(super) async fn cancel(call: Call) -> Result<Response<Body>, Problem> {
    let shared = &call.shared;
    let [id] = call.path.get()?;
    let (entry, id) = found(id, shared)?;
    let is_newest = answer::end_of(&entry, id, shared).is_none();
    if is_newest && !entry.status().ended {
        control::interrupt_and_wait(&entry, shared).await?;
        shared.kept_responses.add(id, Map::new());
        shared.kept_responses.set(id, answer::CANCELLED, json!(true));
    }
    let response = answer::object(&entry, id, shared).await?;
    if may_read(&entry, shared) {
        return Ok(json_response(&response));
    }
    let shown = ["id", "object", "status"].into_iter();
    let shown: Map<String, Value> =
        shown.filter_map(|key| Some((key.to_owned(), response.get(key)?.clone()))).collect();
    Ok(json_response(&shown))
}

/// `DELETE /v1/responses/{response_id}`.
pub(super) async fn delete(call: Call) -> Result<Response<Body>, Problem> {
    let [id] = call.path.get()?;
    found(id, &call.shared)?;
    let detail = "a run is stored as long as the settings in [log] say, and cannot be deleted";
    Err(Problem::new(StatusCode::BAD_REQUEST, detail).and("code", "not_supported"))
}

/// Reads the body of a request.
pub(super) async fn read<B>(request: hyper::Request<B>, shared: &Shared) -> Result<Value, Problem>
where
    B: hyper::body::Body<Data = bytes::Bytes>,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    json_body::read(request, shared.settings.max_prompt_body, FORM, shared).await
}
