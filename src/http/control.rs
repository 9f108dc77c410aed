//! Messages from clients to runs in progress: answers to questions, interruptions, further prompts.
//!
//! Input: small JSON requests. Output: the outcome, once the message was passed on. Never: a message to a run that the sender
//! may not see; an answer reported as given before it was passed on.

use super::decision::Decided;
use super::json_body;
use super::limits::later;
use super::percent;
use super::problem::Problem;
use super::reply::{Body, json_response};
use super::route::Call;
use super::sessions;
use super::shared::Shared;
use crate::runs::Entry;
use crate::runs::labels::Labels;
use crate::upstream::{Handle, MessageError, elsewhere};
use framegate_translators::frame::{SharedStr, StreamKind};
use framegate_translators::host::{Answer, HostMessage, SendError};
use hyper::{Response, StatusCode};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use uuid::Uuid;

/// Size limit for an answer, in bytes.
const MAX_ANSWER: usize = 1 << 20;
/// How long the answer to a question may take to be stored after the runner has read it.
const UNTIL_STORED: Duration = Duration::from_secs(5);
/// How long a runner may take to read a message before the client receives an error.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    prompt: String,
}

/// `POST /v1/runs/{run_id}/approvals/{approval_id}`.
pub(super) async fn answer(call: Call) -> Result<Response<Body>, Problem> {
    let Call { request, path, shared, .. } = call;
    let [run_id, approval_id] = path.get()?;
    let form = "{\"decision\": \"approved\", \"rejected\" or \"cancelled\", \"reason\"?, \"scope\"?, \"answers\"?}";
    let approval_id =
        percent::of_path(approval_id).ok_or_else(|| Problem::bad_request("the approval id is not valid UTF-8"))?;
    // Look up the run first: an unknown run is reported without reading the body.
    let (run, recipient) = recipient_of(run_id, &shared)?;
    let given: Decided = json_body::read(request, MAX_ANSWER, form, &shared).await?;
    let answer = Answer::from(given);
    let decision = answer.decision.as_str();
    let message = HostMessage::Answer { approval_id: SharedStr::from(approval_id.as_str()), answer };
    send(&recipient, message, &shared).await?;
    #[derive(Serialize)]
    struct Reply<'t> {
        run_id: Uuid,
        approval_id: &'t str,
        decision: &'static str,
        by: &'t str,
    }
    Ok(json_response(&Reply { run_id: run, approval_id: &approval_id, decision, by: &shared.caller.name }))
}

/// `POST /v1/runs/{run_id}/interrupt`: 202. The run's last event reports how it ended.
pub(super) async fn interrupt(call: Call) -> Result<Response<Body>, Problem> {
    let ([run_id], shared) = (call.path.get()?, &call.shared);
    let (run, recipient) = recipient_of(run_id, shared)?;
    send(&recipient, HostMessage::Interrupt, shared).await?;
    #[derive(Serialize)]
    struct Reply {
        run_id: Uuid,
    }
    Ok(accepted(&Reply { run_id: run }))
}

/// `POST /v1/sessions/{session_id}/messages`: 202. The session's events report the run that the message begins.
pub(super) async fn message(call: Call) -> Result<Response<Body>, Problem> {
    let Call { request, path, shared, .. } = call;
    let [session_id] = path.get()?;
    let session = Uuid::try_parse(session_id)
        .map_err(|_| Problem::bad_request("the session id must be a UUID, as in GET /v1/runs"))?;
    if !shared.runs.knows_session(session, &shared.caller.restriction) {
        return Err(Problem::not_found(format!(
            "there is no session {session}; GET /v1/runs shows the stored sessions"
        )));
    }
    let recipient = match shared.host.handles.find_session(session) {
        Some(handle) => Recipient::Here(handle),
        None => Recipient::ElsewhereSession(session),
    };
    let Message { prompt } = json_body::read(request, shared.settings.max_prompt_body, "{\"prompt\"}", &shared).await?;
    if prompt.is_empty() {
        return Err(Problem::bad_request("the prompt is empty"));
    }
    sessions::affordable(Some(session), &Labels::default(), &shared)?;
    send(&recipient, HostMessage::Prompt(prompt), &shared).await?;
    #[derive(Serialize)]
    struct Reply {
        session_id: Uuid,
    }
    Ok(accepted(&Reply { session_id: session }))
}

/// Where the runner of a run or session is.
enum Recipient {
    Here(Handle),
    /// A run that this proxy does not drive, but another one may.
    ElsewhereRun(Uuid),
    /// A session that this proxy does not drive, but another one may.
    ElsewhereSession(Uuid),
}

/// Where the runner of a run is that the caller may see.
fn recipient_of(run_id: &str, shared: &Shared) -> Result<(Uuid, Recipient), Problem> {
    let id =
        Uuid::try_parse(run_id).map_err(|_| Problem::bad_request("the run id must be a UUID, as in GET /v1/runs"))?;
    let entry = shared
        .find(StreamKind::Session, id)
        .ok_or_else(|| Problem::not_found(format!("there is no run {id}; GET /v1/runs lists the stored runs")))?;
    if let Some(handle) = shared.host.handles.find(id) {
        return Ok((id, Recipient::Here(handle)));
    }
    if entry.status().ended {
        return Err(Problem::new(StatusCode::CONFLICT, "the run has ended and accepts no further input"));
    }
    Ok((id, Recipient::ElsewhereRun(id)))
}

/// Answers a question of a run that the caller sees. A question that is over already is no error.
///
/// # Errors
/// The run has no such question or accepts no answers, the answer does not fit, or it was not passed on.
pub(super) async fn answer_unless_over(
    entry: &Entry,
    approval_id: &str,
    answer: Answer,
    shared: &Shared,
) -> Result<(), Problem> {
    let recipient = match shared.host.handles.find(entry.stream.id) {
        Some(handle) => Recipient::Here(handle),
        None if entry.status().ended => return Ok(()),
        None => Recipient::ElsewhereRun(entry.stream.id),
    };
    let message = HostMessage::Answer { approval_id: SharedStr::from(approval_id), answer };
    match passed_on(&recipient, message, shared).await? {
        Ok(())
        | Err(
            MessageError::Answered(_) | MessageError::Gone | MessageError::SendError(SendError::UnknownQuestion(_)),
        ) => Ok(()),
        Err(error) => Err(problem_of(&error)),
    }
}

/// Waits until the run no longer asks these questions, but not for long: what follows an answer is read after it.
pub(super) async fn until_answered(entry: &Entry, approvals: &[&str]) {
    let mut tail = entry.tail();
    let asks = || entry.status().pending_approvals.iter().any(|id| approvals.contains(&&**id));
    let answered = async {
        loop {
            tail.borrow_and_update();
            if !asks() || tail.changed().await.is_err() {
                return;
            }
        }
    };
    if tokio::time::timeout(UNTIL_STORED, answered).await.is_err() {
        tracing::warn!("an answer was passed on, but the run still asks the question");
    }
}

/// Interrupts a run, and waits until it has ended.
///
/// # Errors
/// The run accepts no input, or it has not ended in time.
pub(super) async fn interrupt_and_wait(entry: &Entry, shared: &Shared) -> Result<(), Problem> {
    let recipient = match recipient_of(&entry.stream.id.to_string(), shared) {
        Ok((_, recipient)) => recipient,
        Err(_) if entry.status().ended => return Ok(()),
        Err(problem) => return Err(problem),
    };
    match passed_on(&recipient, HostMessage::Interrupt, shared).await? {
        Ok(()) | Err(MessageError::Gone) => {}
        Err(error) => return Err(problem_of(&error)),
    }
    let mut tail = entry.tail();
    let ended = async { while !tail.borrow_and_update().ended && tail.changed().await.is_ok() {} };
    tokio::time::timeout(PATIENCE, ended).await.map_err(|_| {
        let detail = "the run was asked to end, but has not ended yet; it may still do so";
        Problem::new(StatusCode::GATEWAY_TIMEOUT, detail)
    })
}

async fn send(recipient: &Recipient, message: HostMessage, shared: &Shared) -> Result<(), Problem> {
    passed_on(recipient, message, shared).await?.map_err(|error| problem_of(&error))
}

/// Passes a message on.
///
/// # Errors
/// 504 if the runner has not read it in time; 409 if no proxy drives the runner.
async fn passed_on(
    recipient: &Recipient,
    message: HostMessage,
    shared: &Shared,
) -> Result<Result<(), MessageError>, Problem> {
    let by = &shared.caller.name;
    let passing = async {
        match recipient {
            Recipient::Here(handle) => Some(handle.send(message, by).await),
            Recipient::ElsewhereRun(run) => elsewhere::send_to_run(&shared.runs, *run, message, by).await,
            Recipient::ElsewhereSession(id) => elsewhere::send_to_session(&shared.runs, *id, message, by).await,
        }
    };
    let passed = tokio::time::timeout(PATIENCE, passing).await.map_err(|_| {
        let detail = "the runner has not read the input yet; it may still do so";
        Problem::new(StatusCode::GATEWAY_TIMEOUT, detail)
    })?;
    passed.ok_or_else(|| {
        let detail = match recipient {
            Recipient::ElsewhereSession(_) => {
                "no runner of this session accepts prompts; start one that continues the session with POST /v1/runs \
                 and its session_id"
            }
            _ => "this run accepts no input, because the proxy did not start it",
        };
        Problem::new(StatusCode::CONFLICT, detail)
    })
}

fn problem_of(error: &MessageError) -> Problem {
    let detail = error.to_string();
    let status = match error {
        MessageError::UnknownQuestion(_) => StatusCode::NOT_FOUND,
        // `UnknownQuestion` of the dialogue: the runner settled the question in the meantime.
        MessageError::Gone
        | MessageError::AtWork
        | MessageError::Leaving
        | MessageError::Answered(_)
        | MessageError::SendError(SendError::UnknownQuestion(_)) => StatusCode::CONFLICT,
        MessageError::SendError(_) => StatusCode::UNPROCESSABLE_ENTITY,
        MessageError::Failed(_) => StatusCode::BAD_GATEWAY,
        MessageError::Busy => return later(StatusCode::SERVICE_UNAVAILABLE, detail, Duration::from_secs(1)),
    };
    Problem::new(status, detail)
}

fn accepted<T: Serialize>(value: &T) -> Response<Body> {
    let mut response = json_response(value);
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}
