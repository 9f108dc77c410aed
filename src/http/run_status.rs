//! `GET /api/v1/runs/{run_id}`: a run's status in the form of `spec/sse-v1.md`, for a client that cannot replay.
//!
//! Input: a run id. Output: `status`, and the fields of the run's terminal event. Never: a field for which the run has no
//! value yet.

use super::events::native_error;
use super::problem::Problem;
use super::reply::{Body, json_response};
use super::route::Call;
use crate::runs::{RunState, RunStatus};
use framegate_translators::contracts::rfc3339_seconds;
use framegate_translators::frame::StreamKind;
use hyper::{Response, StatusCode};
use serde::Serialize;
use uuid::Uuid;

#[derive(Serialize)]
struct Status {
    run_id: Uuid,
    session_id: Uuid,
    status: RunState,
    started_at: String,
    updated_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    final_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// Responds with the status. An unknown run has the error form of the document.
pub(super) async fn of_run(call: Call) -> Result<Response<Body>, Problem> {
    call.query()?;
    let [run_id] = call.path.get()?;
    let run = Uuid::try_parse(run_id).ok().and_then(|id| call.shared.find(StreamKind::Session, id));
    Ok(match run {
        None => native_error(StatusCode::NOT_FOUND, "RUN_NOT_FOUND", "no such run"),
        Some(entry) => json_response(&status(&entry.status())),
    })
}

fn status(run: &RunStatus) -> Status {
    let is = |state: RunState| run.state == state;
    Status {
        run_id: run.run_id,
        session_id: run.session_id,
        status: run.state,
        started_at: rfc3339_seconds(run.started_at_ms),
        updated_at: rfc3339_seconds(run.updated_at_ms),
        ended_at: run.ended_at_ms.map(rfc3339_seconds),
        // The same values as in the terminal events.
        final_text: is(RunState::Completed).then(|| run.final_text.clone().unwrap_or_default()),
        error_code: is(RunState::Failed).then(|| {
            run.error_code.clone().filter(|code| !code.is_empty()).unwrap_or_else(|| "PROVIDER_ERROR".to_owned())
        }),
        message: is(RunState::Failed).then(|| run.message.clone().unwrap_or_default()),
    }
}
