//! Messages from clients to runs in progress: answers to questions, interruptions, further prompts.
//!
//! Input: small JSON requests. Output: the outcome, once the message was passed on. Never: a message to a run that the sender
//! may not see; an answer reported as given before it was passed on.

use super::json_body;
use super::limits::later;
use super::percent;
use super::problem::Problem;
use super::reply::{Body, json_response};
use super::route::Call;
use super::shared::Shared;
use crate::runs::Entry;
use crate::upstream::{Handle, MessageError};
use framegate_translators::frame::{Decision, SharedStr, StreamKind};
use framegate_translators::host::{Answer, HostMessage, SendError};
use hyper::{Response, StatusCode};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use uuid::Uuid;

/// Size limit for an answer, in bytes.
const MAX_ANSWER: usize = 1 << 20;
/// How long a runner may take to read a message before the client receives an error.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    #[serde(alias = "approve", alias = "allow")]
    Approved,
    #[serde(alias = "reject", alias = "deny")]
    Rejected,
    #[serde(alias = "cancel")]
    Cancelled,
}

/// The answer to one question: one text, or several.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Words {
    One(String),
    Many(Vec<String>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Answered {
    decision: Word,
    reason: Option<String>,
    scope: Option<String>,
    #[serde(default)]
    answers: Vec<Words>,
}

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
    let (run, handle) = handle_of(run_id, &shared)?;
    let given: Answered = json_body::read(request, MAX_ANSWER, form, &shared).await?;
    let decision = match given.decision {
        Word::Approved => Decision::Approved,
        Word::Rejected => Decision::Rejected,
        Word::Cancelled => Decision::Cancelled,
    };
    let words = |words| match words {
        Words::One(word) => vec![word],
        Words::Many(words) => words,
    };
    let answer = Answer {
        decision,
        reason: given.reason,
        scope: given.scope.map(SharedStr::from),
        answers: given.answers.into_iter().map(words).collect(),
    };
    let message = HostMessage::Answer { approval_id: SharedStr::from(approval_id.as_str()), answer };
    send(&handle, message, &shared).await?;
    #[derive(Serialize)]
    struct Reply<'t> {
        run_id: Uuid,
        approval_id: &'t str,
        decision: &'static str,
        by: &'t str,
    }
    let decision = decision.as_str();
    Ok(json_response(&Reply { run_id: run, approval_id: &approval_id, decision, by: &shared.caller.name }))
}

/// `POST /v1/runs/{run_id}/interrupt`: 202. The run's last event reports how it ended.
pub(super) async fn interrupt(call: Call) -> Result<Response<Body>, Problem> {
    let ([run_id], shared) = (call.path.get()?, &call.shared);
    let (run, handle) = handle_of(run_id, shared)?;
    send(&handle, HostMessage::Interrupt, shared).await?;
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
    let handle = shared.host.handles.find_session(session).ok_or_else(|| {
        let detail =
            "no runner of this session accepts prompts; start one that continues the session with POST /v1/runs and \
             its session_id";
        Problem::new(StatusCode::CONFLICT, detail)
    })?;
    let Message { prompt } = json_body::read(request, shared.settings.max_prompt_body, "{\"prompt\"}", &shared).await?;
    if prompt.is_empty() {
        return Err(Problem::bad_request("the prompt is empty"));
    }
    send(&handle, HostMessage::Prompt(prompt), &shared).await?;
    #[derive(Serialize)]
    struct Reply {
        session_id: Uuid,
    }
    Ok(accepted(&Reply { session_id: session }))
}

/// The handle of a run that the caller may see.
fn handle_of(run_id: &str, shared: &Shared) -> Result<(Uuid, Handle), Problem> {
    let id =
        Uuid::try_parse(run_id).map_err(|_| Problem::bad_request("the run id must be a UUID, as in GET /v1/runs"))?;
    let entry = shared
        .find(StreamKind::Session, id)
        .ok_or_else(|| Problem::not_found(format!("there is no run {id}; GET /v1/runs lists the stored runs")))?;
    if let Some(handle) = shared.host.handles.find(id) {
        return Ok((id, handle));
    }
    let detail = match entry.status().ended {
        true => "the run has ended and accepts no further input",
        false => "this run accepts no input, because the proxy did not start it",
    };
    Err(Problem::new(StatusCode::CONFLICT, detail))
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
    let Some(handle) = shared.host.handles.find(entry.stream.id) else {
        let detail = "this run accepts no input, because the proxy did not start it";
        return if entry.status().ended { Ok(()) } else { Err(Problem::new(StatusCode::CONFLICT, detail)) };
    };
    let message = HostMessage::Answer { approval_id: SharedStr::from(approval_id), answer };
    match passed_on(&handle, message, shared).await? {
        Ok(())
        | Err(
            MessageError::Answered(_) | MessageError::Gone | MessageError::SendError(SendError::UnknownQuestion(_)),
        ) => Ok(()),
        Err(error) => Err(problem_of(&error)),
    }
}

async fn send(handle: &Handle, message: HostMessage, shared: &Shared) -> Result<(), Problem> {
    passed_on(handle, message, shared).await?.map_err(|error| problem_of(&error))
}

/// Passes a message on.
///
/// # Errors
/// 504 if the runner has not read it in time.
async fn passed_on(
    handle: &Handle,
    message: HostMessage,
    shared: &Shared,
) -> Result<Result<(), MessageError>, Problem> {
    tokio::time::timeout(PATIENCE, handle.send(message, &shared.caller.name)).await.map_err(|_| {
        let detail = "the runner has not read the input yet; it may still do so";
        Problem::new(StatusCode::GATEWAY_TIMEOUT, detail)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_accepts_only_known_decisions_and_fields() {
        let read = |text: &str| serde_json::from_str::<Answered>(text);
        for (word, is) in
            [("approved", "Approved"), ("allow", "Approved"), ("deny", "Rejected"), ("cancel", "Cancelled")]
        {
            let given = read(&format!("{{\"decision\":\"{word}\"}}")).unwrap();
            assert_eq!(format!("{:?}", given.decision), is);
        }
        assert_eq!(read(r#"{"decision":"approved","answers":["a",["b","c"]]}"#).unwrap().answers.len(), 2);
        for wrong in [
            "{}",
            r#"{"decision":"timed_out"}"#,
            r#"{"decision":"approved","answer":["a"]}"#,
            r#"{"decision":"approved","answers":[1]}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
