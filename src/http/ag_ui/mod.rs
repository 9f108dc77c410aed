//! Threads of AG-UI clients with a coding agent: `POST /ag-ui/{upstream}`, and `GET /ag-ui/{upstream}/{thread_id}`.
//!
//! Input: a `RunAgentInput`. Output: the run in `ag-ui.v1` under the client's names; it ends with an interrupt if a person must answer a
//! question, and the client's next request has the answer. Never: a prompt that runs twice; a run that ends because the client left.
//!
//! A thread is a session: each prompt continues the session of the thread's newest run.

mod request;
mod stream;
mod thread;

use super::control;
use super::digest::{Digest, digest};
use super::json_body;
use super::models::Model;
use super::percent;
use super::problem::Problem;
use super::repeats::Once;
use super::reply::Body;
use super::route::Call;
use super::sessions::{self, Claim};
use super::shared::Shared;
use super::stored_events;
use super::threads::Thread;
use crate::auth::Scope;
use crate::runs::Entry;
use crate::runs::labels::Labels;
use framegate_translators::contracts::ag_ui::{Names, V1};
use framegate_translators::frame::StreamKind;
use framegate_translators::host::Opening;
use hyper::{Response, StatusCode};
use request::RunInput;
use serde::Deserialize;
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;
pub(super) use thread::thread;
use uuid::Uuid;

/// The path.
pub(super) const PATH: &str = "/ag-ui/{upstream}";

/// `POST /ag-ui/{upstream}`.
pub(super) async fn create(call: Call) -> Result<Response<Body>, Problem> {
    let Call { request, path, shared, .. } = call;
    let [name] = path.get()?;
    let upstream = percent::of_path(name).ok_or_else(|| Problem::bad_request("the upstream is not valid UTF-8"))?;
    let form = "{\"threadId\", \"runId\", \"messages\"}";
    let body = json_body::read(request, shared.settings.max_prompt_body, form, &shared).await?;
    let input = RunInput::read(body)?;
    let mut model = Model::find(&upstream, &shared)?;
    model.name = input.model.clone().or(model.name);
    model.mode.clone_from(&input.mode);
    let thread = thread_name(&shared, model.upstream.name(), &input.thread_id);
    let names = Names { thread: &input.thread_id, run: &input.run_id };
    let lease = shared.stream()?;
    let (entry, from, is_repeat) = if input.answers.is_empty() {
        let (entry, is_repeat) = run_of(&input, &model, thread, &shared).await?;
        (entry, 0, is_repeat)
    } else {
        let (entry, from) = answered(&input, thread, &shared).await?;
        (entry, from, false)
    };
    let mut response = stream::response(&entry, from, names, thread, lease, &shared).await?;
    sessions::tell_outcome(&mut response, is_repeat, &input.ignored);
    Ok(response)
}

/// The name of a thread among those of all callers.
fn thread_name(shared: &Shared, upstream: &str, thread_id: &str) -> Digest {
    digest(["ag-ui", &shared.caller.name, upstream, thread_id].into_iter().map(Some))
}

/// The newest run of a thread's session, and what is known of it as a thread. A client may also name a session by its id, as in
/// `GET /v1/runs`.
fn newest(thread: Digest, thread_id: &str, shared: &Shared) -> Option<(Arc<Entry>, Option<Thread>)> {
    let known = shared.threads.find(thread);
    let of_thread = known.as_ref().and_then(|known| shared.find(StreamKind::Session, known.run));
    if !shared.caller.may(Scope::Read) {
        return of_thread.map(|entry| (entry, known));
    }
    let named = Uuid::try_parse(thread_id).ok();
    let session = of_thread.map(|entry| entry.stream.session.id).or(named)?;
    let run = sessions::newest_run(session, shared)?;
    let entry = shared.find(StreamKind::Session, run.run_id)?;
    Some((entry, known))
}

/// The run that answers the prompt of a request, and whether an earlier request started it.
async fn run_of(
    input: &RunInput,
    model: &Model,
    thread: Digest,
    shared: &Arc<Shared>,
) -> Result<(Arc<Entry>, bool), Problem> {
    let chat = &input.chat;
    let (said, last_id) = (chat.said(), chat.last_id());
    let identity = digest_of(input, model, thread);
    let claimed = match sessions::claim(Some(Once::by_message(identity)), shared).await? {
        Claim::Repeat(entry) => return Ok((entry, true)),
        Claim::New(claimed) => claimed,
    };
    let transcript = chat.transcript().ok_or_else(|| {
        Problem::bad_request(
            "the last message must be the user's, with a text: it is the prompt; or resume has answers",
        )
    })?;
    let newest = newest(thread, &input.thread_id, shared);
    let is_of_runner = |entry: &Arc<Entry>| entry.stream.provider.name == model.upstream.runner().provider.name;
    let newest = newest.filter(|(entry, _)| is_of_runner(entry));
    let mut going_on = None;
    if let Some((entry, known)) = &newest {
        let prompt = match known {
            Some(known) => chat.new_prompt(&[known.message, known.shown], known.identity),
            None => Some((transcript.prompt.clone(), transcript.files.clone())),
        };
        // A run in progress is in the way of any other prompt of the thread.
        let session = sessions::continuable(entry, shared)?;
        going_on = prompt.zip(session).map(|both| (both, known.as_ref().map(|known| known.shown).unwrap_or_default()));
    }
    let ((prompt, files), session, before) = match going_on {
        Some(((prompt, session), shown)) => (prompt, Some(session), shown),
        None => ((transcript.opening_prompt(), transcript.opening_files()), None, Digest::default()),
    };
    let shown = request::and_then(before, &shown_as(&prompt, shared));
    let opening = Opening { prompt, files, session, cwd: None, model: model.name.clone(), mode: model.mode.clone() };
    let threads = shared.threads.clone();
    let order = sessions::Order { upstream: model.upstream.clone(), opening, labels: Labels::default() };
    let on_start = move |entry: &Entry| {
        threads.begun(thread, Thread { shown, ..Thread::new(entry.stream.id, said, last_id) });
    };
    Ok((claimed.start(order, on_start).await?, false))
}

/// A prompt as a snapshot shows it.
fn shown_as(prompt: &str, shared: &Shared) -> String {
    let rules = &shared.host.factory.settings().redaction;
    rules.as_ref().map_or_else(|| prompt.to_owned(), |rules| rules.without_secrets(prompt))
}

/// What identifies a request that is sent again: the client's name of the run, and what it says.
fn digest_of(input: &RunInput, model: &Model, thread: Digest) -> Digest {
    let [thread, said, last] = [thread, input.chat.said(), input.chat.last_id()].map(|part| super::digest::hex(&part));
    let (name, mode) = (model.name.as_deref(), model.mode.as_deref());
    digest([Some(thread.as_str()), Some(&input.run_id), name, mode, Some(&said), Some(&last)].into_iter())
}

/// Passes the answers of a request on. Returns the run, and the number of the event at which the client's last run ended.
async fn answered(input: &RunInput, thread: Digest, shared: &Arc<Shared>) -> Result<(Arc<Entry>, u64), Problem> {
    let (entry, known) = newest(thread, &input.thread_id, shared).ok_or_else(|| {
        let detail = format!("the thread {:?} has no run whose questions are answered", input.thread_id);
        Problem::not_found(detail)
    })?;
    if known.as_ref().is_some_and(|known| input.chat.goes_beyond(&[known.message, known.shown])) {
        let detail =
            "the request has answers and a new prompt: the run goes on with the answers; send the prompt after its end";
        return Err(Problem::new(StatusCode::CONFLICT, detail));
    }
    let ids: HashSet<&str> = input.answers.iter().map(|(id, _)| id.as_str()).collect();
    let asked = after_questions(&entry, &ids, shared).await?;
    // The client also has what followed the question in the same response.
    let waits = known.filter(|thread| thread.run == entry.stream.id).map(|thread| thread.waits).unwrap_or_default();
    let from = waits.into_iter().map(|wait| wait.position).find(|position| *position >= asked).unwrap_or(asked);
    for (id, answer) in &input.answers {
        control::answer_unless_over(&entry, id, answer.clone(), shared).await?;
    }
    control::until_answered(&entry, &ids.iter().copied().collect::<Vec<_>>()).await;
    Ok((entry, from))
}

/// The number of the event that follows the last of these questions.
///
/// # Errors
/// 404 if the run lacks one of them.
async fn after_questions(entry: &Arc<Entry>, ids: &HashSet<&str>, shared: &Shared) -> Result<u64, Problem> {
    #[derive(Deserialize)]
    struct Custom<'e> {
        #[serde(borrow)]
        name: Cow<'e, str>,
        #[serde(borrow)]
        value: Asked<'e>,
    }
    #[derive(Deserialize)]
    struct Asked<'e> {
        #[serde(rename = "approvalId", borrow)]
        approval_id: Cow<'e, str>,
    }
    let (mut found, mut last) = (HashSet::new(), 0);
    let look = |number: u64, event: &[u8]| {
        if let Ok(custom) = serde_json::from_slice::<Custom<'_>>(event)
            && custom.name == "approval_requested"
            && let Some(id) = ids.get(&*custom.value.approval_id)
        {
            found.insert(*id);
            last = number + 1;
        }
        true
    };
    stored_events::each_kept(entry, &V1, shared, look).await?;
    match ids.iter().find(|id| !found.contains(*id)) {
        Some(unknown) => Err(Problem::not_found(format!("the run of the thread has no question {unknown:?}"))),
        None => Ok(last),
    }
}
