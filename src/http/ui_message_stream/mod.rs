//! Chats of the AI SDK (`useChat`), answered by coding agents.
//!
//! Input: a chat with the user's next message, or with answers to questions; a chat to resume. Output: the run in
//! `ui-message-stream.v1`, up to its end or to a question that a person must answer. Never: a second run for a message that is sent
//! again; a run that ends because its client left.
//!
//! A message's id is the id of its run, so the session of a chat is the session of the run that gave the last answer. The client answers
//! a question with its next request, which continues the same message.

mod request;

use super::body::{ApiStream, DONE, Source, api_events};
use super::control;
use super::decision::bare;
use super::digest::{Digest, digest, hex};
use super::events::stream_headers;
use super::json_body;
use super::lease::Lease;
use super::models::Model;
use super::percent;
use super::problem::Problem;
use super::repeats::Once;
use super::reply::{Body, no_content};
use super::route::Call;
use super::segment::Segment;
use super::sessions::{self, Claim};
use super::shared::Shared;
use super::stored_events;
use super::threads::Thread;
use crate::auth::Scope;
use crate::runs::labels::Labels;
use crate::runs::{Entry, Wire};
use bytes::Bytes;
use framegate_translators::contracts::ui_message_stream::V1;
use framegate_translators::frame::{Decision, StreamKind};
use framegate_translators::host::{Answer, Opening};
use hyper::Response;
use hyper::header::{HeaderName, HeaderValue};
use memchr::memmem;
use request::{Action, Answers, ChatRequest, Prompt};
use serde::Deserialize;
use std::borrow::Cow;
use std::future::ready;
use std::sync::Arc;
use uuid::Uuid;

/// The path.
pub(super) const PATH: &str = "/ai-sdk/{upstream}";

/// The header by which clients recognise the protocol, and its version.
const PROTOCOL: (HeaderName, HeaderValue) =
    (HeaderName::from_static("x-vercel-ai-ui-message-stream"), HeaderValue::from_static("v1"));

/// The end of a stream that waits for the user.
const WAITING: &str = "data: {\"type\":\"finish-step\"}\n\ndata: {\"type\":\"finish\",\"finishReason\":\"tool-calls\"}\n\ndata: [DONE]\n\n";

/// What a chunk with a question contains. Inside a string, its quotes would be escaped.
const QUESTION: &[u8] = b"\"type\":\"tool-approval-request\"";

/// `POST /ai-sdk/{upstream}`.
pub(super) async fn create(call: Call) -> Result<Response<Body>, Problem> {
    let Call { request, path, shared, .. } = call;
    let [name] = path.get()?;
    let upstream = percent::of_path(name).ok_or_else(|| Problem::bad_request("the upstream is not valid UTF-8"))?;
    let form = "{\"id\", \"messages\", \"trigger\"}";
    let body = json_body::read(request, shared.settings.max_prompt_body, form, &shared).await?;
    let request = ChatRequest::read(body)?;
    let mut model = Model::find(&upstream, &shared)?;
    model.name = request.model.or(model.name);
    model.mode = request.mode;
    let thread = thread_name(&shared, model.upstream.name(), &request.chat_id);
    let lease = shared.stream()?;
    match request.action {
        Action::Prompt(prompt) => {
            let (entry, is_repeat) = run_of(&prompt, &model, thread, &shared).await?;
            let mut response = stream(&entry, 0, Bytes::new(), thread, lease, &shared).await?;
            sessions::tell_outcome::<&str>(&mut response, is_repeat, &[]);
            Ok(response)
        }
        Action::Answers(answers) => continued(answers, thread, lease, &shared).await,
    }
}

/// `GET /ai-sdk/{upstream}/{chat_id}/stream`: the run in progress from its beginning; 204 if there is none.
pub(super) async fn resume(call: Call) -> Result<Response<Body>, Problem> {
    let ([upstream, chat], shared) = (call.path.get()?, &call.shared);
    let [Some(upstream), Some(chat)] = [upstream, chat].map(percent::of_path) else {
        return Err(Problem::bad_request("the path is not valid UTF-8"));
    };
    let model = Model::find(&upstream, shared)?;
    let thread = thread_name(shared, model.upstream.name(), &chat);
    let run = shared.threads.find(thread).and_then(|thread| shared.find(StreamKind::Session, thread.run));
    match run.filter(|entry| !entry.status().ended) {
        Some(entry) => stream(&entry, 0, Bytes::new(), thread, shared.stream()?, shared).await,
        None => Ok(no_content()),
    }
}

/// The name of a chat among those of all callers.
fn thread_name(shared: &Shared, upstream: &str, chat_id: &str) -> Digest {
    digest(["ai-sdk", &shared.caller.name, upstream, chat_id].into_iter().map(Some))
}

/// The run that answers a prompt, and whether an earlier request started it.
async fn run_of(
    prompt: &Prompt,
    model: &Model,
    thread: Digest,
    shared: &Arc<Shared>,
) -> Result<(Arc<Entry>, bool), Problem> {
    let (message, identity) = identity(prompt, model, thread, shared);
    let claimed = match sessions::claim(Some(Once::by_message(identity)), shared).await? {
        Claim::Repeat(entry) => return Ok((entry, true)),
        Claim::New(claimed) => claimed,
    };
    let session = session_of(prompt, model, shared)?;
    let transcript = &prompt.transcript;
    let (text, files) = match session {
        Some(_) => (transcript.prompt.clone(), transcript.files.clone()),
        None => (transcript.opening_prompt(), transcript.opening_files()),
    };
    let opening =
        Opening { prompt: text, files, session, cwd: None, model: model.name.clone(), mode: model.mode.clone() };
    let threads = shared.threads.clone();
    let order = sessions::Order { upstream: model.upstream.clone(), opening, labels: Labels::default() };
    let on_start = move |entry: &Entry| {
        threads.begun(thread, Thread::new(entry.stream.id, message, identity));
    };
    Ok((claimed.start(order, on_start).await?, false))
}

/// What identifies a prompt: the message in its chat, with what precedes it; and what identifies the request.
///
/// The user may want several answers to one message. The next one can be asked for once the run of the last one has ended.
fn identity(prompt: &Prompt, model: &Model, thread: Digest, shared: &Shared) -> (Digest, Digest) {
    let name = hex(&thread);
    let fields = [
        Some(name.as_str()),
        model.name.as_deref(),
        model.mode.as_deref(),
        Some(&prompt.message_id),
        prompt.last_answer.as_deref(),
        Some(&prompt.transcript.prompt),
    ];
    let message = digest(fields.into_iter());
    let Some(newest) = shared.threads.find(thread).filter(|_| prompt.is_again) else { return (message, message) };
    let is_open = shared.find(StreamKind::Session, newest.run).is_some_and(|entry| !entry.status().ended);
    if is_open && newest.message == message {
        return (message, newest.identity);
    }
    (message, digest([hex(&message), newest.run.to_string()].iter().map(|field| Some(field.as_str()))))
}

/// The runner's name of the session that gave the last answer; `None` if there is none, or if the session has moved on.
///
/// # Errors
/// 409 if a run of the session is in progress.
fn session_of(prompt: &Prompt, model: &Model, shared: &Shared) -> Result<Option<String>, Problem> {
    let run = prompt.last_answer.as_deref().and_then(|id| Uuid::try_parse(id).ok());
    let entry = run.and_then(|run| shared.find(StreamKind::Session, run));
    let is_of_runner = |entry: &Arc<Entry>| entry.stream.provider.name == model.upstream.runner().provider.name;
    entry.filter(is_of_runner).map_or(Ok(None), |entry| sessions::continuable(&entry, shared))
}

/// Passes the user's answers on, and streams what follows of the same message.
async fn continued(
    answers: Answers,
    thread: Digest,
    lease: Lease,
    shared: &Arc<Shared>,
) -> Result<Response<Body>, Problem> {
    let run = answers.run;
    let known = shared.threads.find(thread).filter(|thread| thread.run == run);
    let entry = shared.find(StreamKind::Session, run).filter(|_| known.is_some() || shared.caller.may(Scope::Read));
    let entry =
        entry.ok_or_else(|| Problem::not_found(format!("there is no run {run}, whose questions are answered")))?;
    let ids: Vec<&str> = answers.answers.iter().map(|answer| answer.id.as_str()).collect();
    let asked = after_questions(&entry, &ids, shared).await?;
    // The client also has what followed the question in the same response.
    let waits = known.map(|thread| thread.waits).unwrap_or_default();
    let from = waits.into_iter().map(|wait| wait.position).find(|position| *position >= asked).unwrap_or(asked);
    for answer in &answers.answers {
        let decision = if answer.approved { Decision::Approved } else { Decision::Rejected };
        let given = Answer { reason: answer.reason.clone(), ..bare(decision) };
        control::answer_unless_over(&entry, &answer.id, given, shared).await?;
    }
    control::until_answered(&entry, &ids).await;
    let first =
        format!("data: {{\"type\":\"start\",\"messageId\":\"{run}\"}}\n\ndata: {{\"type\":\"start-step\"}}\n\n");
    stream(&entry, from, first.into(), thread, lease, shared).await
}

/// The number of the event that follows the last of these questions.
///
/// # Errors
/// 404 if the run has none of them.
async fn after_questions(entry: &Arc<Entry>, ids: &[&str], shared: &Shared) -> Result<u64, Problem> {
    #[derive(Deserialize)]
    struct Asked<'e> {
        #[serde(rename = "approvalId", borrow)]
        approval_id: Cow<'e, str>,
    }
    let mut found = None;
    let look = |number: u64, event: &[u8]| {
        if memmem::find(event, QUESTION).is_some() {
            let asked = serde_json::from_slice::<Asked<'_>>(event);
            found = found.max(asked.is_ok_and(|asked| ids.contains(&&*asked.approval_id)).then_some(number + 1));
        }
        true
    };
    stored_events::each_kept(entry, &V1, shared, look).await?;
    found.ok_or_else(|| Problem::not_found("the run has none of the questions that are answered"))
}

/// The events of a run from number `from` on, after `first`.
async fn stream(
    entry: &Arc<Entry>,
    from: u64,
    first: Bytes,
    thread: Digest,
    lease: Lease,
    shared: &Arc<Shared>,
) -> Result<Response<Body>, Problem> {
    let follower = sessions::follow(entry, &V1, Wire::Sse, from, shared).await?;
    let (threads, run) = (shared.threads.clone(), entry.stream.id);
    let on_wait = Box::new(move |position, asked| threads.waits(thread, run, position, asked));
    let source = Source::Segment(Box::new(Segment::new(follower, entry.clone(), shared.host.handles.clone(), on_wait)));
    let negotiated = sessions::negotiated(&V1, shared);
    let api = ApiStream {
        first,
        last: DONE,
        waiting: Some(Box::new(|_| Box::pin(ready(Some(Bytes::from_static(WAITING.as_bytes())))))),
        ..ApiStream::default()
    };
    let mut response = Response::new(api_events(source, &negotiated, api, shared, lease));
    stream_headers(&mut response, &negotiated);
    let (name, version) = PROTOCOL;
    response.headers_mut().insert(name, version);
    sessions::name_run(&mut response, entry);
    Ok(response)
}
