//! Runs of requests that repeat their conversation, as those of Chat Completions and of the Responses API do.
//!
//! Input: a conversation that ends with a prompt. Output: the run that answers it, in the session that had the conversation so far. Never: a
//! second run for a request that was sent again; a session that had another conversation.

use super::conversations::prompts_of;
use super::digest::{Digest, digest, hex};
use super::models::Model;
use super::problem::Problem;
use super::repeats::Once;
use super::sessions::{self, Claim};
use super::shared::Shared;
use super::transcript::{Role, Transcript};
use crate::runs::labels::Labels;
use crate::runs::{Ask, Entry, Wire};
use bytes::Bytes;
use framegate_translators::contracts::FRAMES;
use framegate_translators::frame::StreamKind;
use framegate_translators::host::Opening;
use hyper::header::{HeaderMap, HeaderName};
use serde::Deserialize;
use std::sync::Arc;

/// How much of an answer is read at a time to compare it.
const AT_ONCE_BYTES: usize = 64 << 10;
const AT_ONCE_EVENTS: usize = 256;

/// A request with a conversation.
pub(super) struct Prompted<'r> {
    /// The path of the request.
    pub(super) path: &'static str,
    pub(super) headers: &'r HeaderMap,
    pub(super) transcript: &'r Transcript,
    /// The person who writes, if the client has several; empty if it names no one.
    pub(super) user: &'r str,
    pub(super) model: &'r Model,
    /// The client's name for the conversation that the request continues.
    pub(super) conversation: Option<&'r str>,
    /// The client's name for the answer that the request continues.
    pub(super) previous: Option<&'r str>,
}

/// The run that answers a request, and whether an earlier request started it. `named` finds the runner's own name of the session that the
/// request names, to which only the prompt is sent; it is not called for a request that is sent again, because the first one may have moved
/// the session on. `on_start` is called before another request sees the run.
///
/// # Errors
/// Why there is no run.
pub(super) async fn run_of(
    request: Prompted<'_>,
    named: impl FnOnce() -> Result<Option<String>, Problem> + Send,
    shared: &Arc<Shared>,
    on_start: impl FnOnce(&Entry) + Send + 'static,
) -> Result<(Arc<Entry>, bool), Problem> {
    let digest = digest_of(&request);
    let Prompted { path, headers, transcript, user, model, .. } = request;
    let once = Once::by_key(headers, path, digest)?.unwrap_or_else(|| Once::by_digest(headers, digest));
    let claimed = match sessions::claim(Some(once), shared).await? {
        Claim::Repeat(entry) => return Ok((entry, true)),
        Claim::New(claimed) => claimed,
    };
    let upstream = model.upstream.name();
    let caller = format!("{}\n{user}", shared.caller.name);
    let session = match named()? {
        Some(named) => Some(named),
        None => known_session(transcript, &caller, upstream, shared).await?,
    };
    let (prompt, files) = match session {
        Some(_) => (transcript.prompt.clone(), transcript.files.clone()),
        None => (transcript.opening_prompt(), transcript.opening_files()),
    };
    let opening = Opening { prompt, files, session, cwd: None, model: model.name.clone(), mode: model.mode.clone() };
    let prompts = transcript.earlier_prompts().chain([transcript.prompt.as_str()]);
    let prompts = prompts_of(&caller, upstream, prompts);
    let conversations = shared.conversations.clone();
    let order = sessions::Order { upstream: model.upstream.clone(), opening, labels: Labels::default() };
    let on_start = move |entry: &Entry| {
        conversations.add(prompts, entry.stream.id);
        on_start(entry);
    };
    Ok((claimed.start(order, on_start).await?, false))
}

/// The digest of what makes two requests the same: not the form of the answer.
fn digest_of(request: &Prompted<'_>) -> Digest {
    let &Prompted { path, headers, transcript, user, model, conversation, previous } = request;
    let history =
        transcript.history.iter().flat_map(|message| [Some(message.role.as_str()), Some(message.text.as_str())]);
    let fields = [
        Some(path),
        Some(user),
        Some(model.upstream.name()),
        model.name.as_deref(),
        model.mode.as_deref(),
        conversation,
        headers.get(sessions::SESSION).and_then(|name| name.to_str().ok()),
        previous,
        Some(&transcript.instructions),
        Some(&transcript.prompt),
    ];
    let texts = hex(&digest(fields.into_iter().chain(history)));
    let urls: Vec<String> = transcript.opening_files().iter().map(|file| file.url().into_owned()).collect();
    digest([texts.as_str()].into_iter().chain(urls.iter().map(String::as_str)).map(Some))
}

/// The header of a request that chooses a mode.
pub(super) const MODE: HeaderName = HeaderName::from_static("framegate-mode");

/// The value of `Framegate-Mode`, the mode in which the runner works.
///
/// # Errors
/// 400 if it is no name.
pub(super) fn named_mode(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(MODE) else { return Ok(None) };
    let name = value.to_str().ok().map(str::trim).filter(|name| !name.is_empty());
    let detail = "Framegate-Mode must be the name of a mode, as in GET /v1/upstreams";
    name.map(|name| Some(name.to_owned())).ok_or_else(|| Problem::bad_request(detail))
}

/// The value of `Framegate-Session`, as the runner's own name of the session.
///
/// # Errors
/// 400 if it is not a name, 409 if the runner has no name for the session.
pub(super) fn named_session(headers: &HeaderMap, shared: &Shared) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(sessions::SESSION) else { return Ok(None) };
    let name = value.to_str().ok().map(str::trim).filter(|name| !name.is_empty());
    let detail = "Framegate-Session must be the id of a session, as in GET /v1/runs, or the runner's own name of it";
    let name = name.ok_or_else(|| Problem::bad_request(detail))?;
    sessions::runners_own(name.to_owned(), shared).map(Some)
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
        if !begins_with(&entry, &last.text, shared).await {
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

/// The texts of the main thread.
fn texts(chunks: &[Bytes]) -> impl Iterator<Item = String> {
    #[derive(Deserialize)]
    struct Event {
        #[serde(rename = "type")]
        kind: String,
        #[serde(default)]
        delta: String,
        #[serde(default)]
        parent_tool_id: Option<String>,
    }
    let lines = chunks.iter().flat_map(|chunk| chunk.split(|&byte| byte == b'\n')).filter(|line| !line.is_empty());
    let events = lines.filter_map(|line| serde_json::from_slice::<Event>(line).ok());
    let is_text = |event: &Event| event.kind == "output_text_delta" && event.parent_tool_id.is_none();
    events.filter(is_text).map(|event| event.delta)
}

/// Whether a run's answer so far begins with a text. White space is not compared, because clients trim it.
/// A run that cannot be read has no answer.
async fn begins_with(entry: &Arc<Entry>, text: &str, shared: &Arc<Shared>) -> bool {
    let mut wanted = text.chars().filter(|letter| !letter.is_whitespace()).peekable();
    let Some(mut reader) = shared.runs.reader(entry, FRAMES, &shared.settings.encoder) else { return false };
    let frames = entry.tail().borrow().frames;
    let mut from = 0;
    while wanted.peek().is_some() {
        let ask =
            Ask { from, frames, wire: Wire::Ndjson, max_bytes: AT_ONCE_BYTES, max_events: AT_ONCE_EVENTS, types: None };
        let batch = match reader.read(&shared.runs, ask).await {
            Ok(batch) if batch.next > from => batch,
            Ok(_) => return false,
            Err(error) => {
                tracing::warn!(%error, "an answer could not be compared with a conversation");
                return false;
            }
        };
        from = batch.next;
        for content in texts(&batch.chunks) {
            for letter in content.chars().filter(|letter| !letter.is_whitespace()) {
                match wanted.next() {
                    None => return true,
                    Some(expected) if expected != letter => return false,
                    Some(_) => {}
                }
            }
        }
    }
    true
}
