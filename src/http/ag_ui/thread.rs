//! A thread as it is: `GET /ag-ui/{upstream}/{thread_id}`.
//!
//! Input: a thread. Output: its messages and state as JSON; or as a run of the protocol that begins with snapshots and goes on with the run
//! in progress. Never: more than [`MAX_BYTES`] of events, or a run
//! whose beginning is no longer stored: it and those before it are then left out, and counted.

use super::super::digest::Digest;
use super::super::models::Model;
use super::super::percent;
use super::super::problem::Problem;
use super::super::reply::{Body, json_response};
use super::super::route::Call;
use super::super::sessions;
use super::super::shared::Shared;
use super::super::stored_events;
use super::super::threads::Thread;
use super::request::and_then;
use super::{newest, stream, thread_name};
use crate::runs::{Entry, RunStatus, Wire};
use framegate_translators::contracts::ag_ui::{Conversation, Names, Segment, V1};
use framegate_translators::frame::StreamKind;
use hyper::header::ACCEPT;
use hyper::{Response, StatusCode};
use serde_json::{Value, json};
use std::sync::Arc;
use uuid::Uuid;

/// The size of the events that a snapshot is made of, in bytes.
const MAX_BYTES: usize = 32 << 20;

/// `GET /ag-ui/{upstream}/{thread_id}`.
pub(in crate::http) async fn thread(call: Call) -> Result<Response<Body>, Problem> {
    let Call { request, path, shared, .. } = call;
    let [upstream, thread_id] = path.get()?;
    let [Some(upstream), Some(thread_id)] = [upstream, thread_id].map(percent::of_path) else {
        return Err(Problem::bad_request("the path is not valid UTF-8"));
    };
    let model = Model::find(&upstream, &shared)?;
    let thread = thread_name(&shared, model.upstream.name(), &thread_id);
    let (entry, known) = newest(thread, &thread_id, &shared).ok_or_else(|| {
        Problem::not_found(format!("there is no thread {thread_id:?}; POST to the upstream begins one"))
    })?;
    let accept = request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let wants_json = accept.contains("application/json") && !accept.contains("text/event-stream");
    let lease = shared.stream()?;
    let Snapshot { messages, state, omitted, segment, position, shown } = snapshot(&entry, &shared).await?;
    let known = known.map(|known| known.run);
    if known != Some(entry.stream.id) {
        // What follows in the thread continues these messages, unless another run has begun meanwhile.
        let begun = Thread::new(entry.stream.id, shown, Digest::default());
        shared.threads.found(thread, known, Thread { shown, ..begun });
    }
    if wants_json {
        let body = json!({"threadId": thread_id, "messages": messages, "state": state, "omittedRuns": omitted});
        return Ok(json_response(&body));
    }
    let run = entry.stream.id.to_string();
    let names = Names { thread: &thread_id, run: &run };
    let mut events = segment.opening(names);
    let openers = events.split_off(1.min(events.len()));
    let stamp = |event: Value| stamped(event, events.first());
    let snapshots = std::iter::once(json!({"type": "MESSAGES_SNAPSHOT", "messages": messages}));
    let snapshots = snapshots.chain(state.map(|state| json!({"type": "STATE_SNAPSHOT", "snapshot": state})));
    let snapshots = snapshots.chain((omitted > 0).then(|| notice_of(omitted)));
    let mut snapshots: Vec<Value> = snapshots.map(stamp).collect();
    events.append(&mut snapshots);
    if segment.is_over() {
        events.extend(segment.ending(names));
    } else {
        events.extend(openers);
    }
    let first = stream::written(&events);
    let follower = sessions::follow(&entry, &V1, Wire::Sse, position, &shared).await?;
    stream::streamed(&entry, follower, first, names, thread, lease, &shared)
}

/// The notice that the messages lack this many runs.
fn notice_of(omitted: usize) -> Value {
    let message = format!(
        "the messages lack {omitted} earlier runs of the thread, which are no longer stored or too long to show"
    );
    json!({"type": "CUSTOM", "name": "notice", "value": {"level": "warn", "code": "runs_omitted", "message": message}})
}

/// The event with the time and the run of another one.
fn stamped(mut event: Value, like: Option<&Value>) -> Value {
    if let (Some(fields), Some(like)) = (event.as_object_mut(), like) {
        for (key, value) in [("timestamp", like.get("timestamp")), ("metadata", like.get("metadata"))] {
            if let Some(value) = value {
                fields.insert(key.to_owned(), value.clone());
            }
        }
    }
    event
}

/// The session of a run as it is.
struct Snapshot {
    messages: Vec<Value>,
    state: Option<Value>,
    /// How many runs the messages lack, all older than those that they have.
    omitted: usize,
    /// What the run has open.
    segment: Segment,
    /// The number of the run's next event.
    position: u64,
    /// What identifies the prompts among the messages.
    shown: Digest,
}

async fn snapshot(newest: &Arc<Entry>, shared: &Arc<Shared>) -> Result<Snapshot, Problem> {
    let (mut bytes, mut runs) = (0_usize, Vec::new());
    let (mut segment, mut position) = (Segment::default(), 0);
    let session = session_runs(newest.stream.session.id, shared);
    let known = session.len();
    for entry in session {
        let is_newest = entry.stream.id == newest.stream.id;
        let mut events: Vec<Vec<u8>> = Vec::new();
        let take = |_, event: &[u8]| {
            bytes += event.len();
            if is_newest {
                segment.event(event);
            }
            events.push(event.to_vec());
            bytes <= MAX_BYTES
        };
        let next = match stored_events::each(&entry, &V1, None, shared, take).await {
            // Without its beginning, an earlier run has no messages to show.
            Err(problem) if !is_newest && is_gone(&problem) => break,
            read => read?,
        };
        if is_newest && bytes > MAX_BYTES {
            let detail = format!(
                "the newest run of the thread is too long for a snapshot: GET /v1/runs/{}/events has its events",
                entry.stream.id
            );
            return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail));
        }
        if is_newest {
            position = next;
        } else if bytes > MAX_BYTES {
            break;
        }
        runs.push((entry.stream.id, stored_events::prompt_of(&entry, shared).await?, events));
    }
    let omitted = known - runs.len();
    let (mut conversation, mut shown) = (Conversation::default(), Digest::default());
    for (run, prompt, events) in runs.into_iter().rev() {
        if !prompt.is_empty() {
            conversation.prompt(&format!("prompt-{run}"), &prompt);
            shown = and_then(shown, &prompt);
        }
        events.iter().for_each(|event| conversation.event(event));
    }
    let (messages, state) = conversation.finish();
    Ok(Snapshot { messages, state, omitted, segment, position, shown })
}

/// Whether a run, or its beginning, is no longer stored.
fn is_gone(problem: &Problem) -> bool {
    matches!(problem.status(), StatusCode::GONE | StatusCode::NOT_FOUND)
}

/// The runs of a session that the caller sees, newest first.
fn session_runs(session: Uuid, shared: &Shared) -> Vec<Arc<Entry>> {
    let of_session = |status: &RunStatus| status.session_id == session;
    let runs = shared.runs.list(&of_session, 0, usize::MAX).into_iter();
    runs.filter_map(|status| shared.find(StreamKind::Session, status.run_id)).collect()
}
