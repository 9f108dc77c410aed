//! `POST /v1/runs`: a configured upstream starts a run. `GET /v1/upstreams`: lists the upstreams.
//!
//! Input: upstream, prompt and options, as a JSON object. Output: the run's status as soon as there is a run. Never: a run
//! that the caller may not see; a setting of the upstream in a response.

use super::json_body;
use super::limits::later;
use super::problem::Problem;
use super::reply::{Body, json_response};
use super::route::Call;
use super::shared::Shared;
use crate::config::unknown;
use crate::runs::RunStatus;
use crate::upstream::StartError;
use framegate_translators::frame::StreamKind;
use framegate_translators::host::Opening;
use framegate_translators::runners::Runner;
use hyper::header::{HeaderValue, LOCATION};
use hyper::{Response, StatusCode};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use uuid::Uuid;

/// Size limit for a request, in bytes: twice the longest prompt that an upstream can accept, to leave room for JSON escapes.
const MAX_BODY: usize = 16 << 20;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    upstream: String,
    prompt: String,
    session_id: Option<String>,
    cwd: Option<String>,
    model: Option<String>,
}

/// Starts a run.
pub(super) async fn start(call: Call) -> Result<Response<Body>, Problem> {
    let (request, shared) = (call.request, &*call.shared);
    let form = "{\"upstream\", \"prompt\", \"session_id\"?, \"cwd\"?, \"model\"?}";
    let order: Order = json_body::read(request, MAX_BODY, form, shared).await?;
    let Some(upstream) = shared.upstreams.find(&order.upstream) else {
        let known: Vec<&str> = shared.upstreams.iter().map(|upstream| upstream.name()).collect();
        let detail = if known.is_empty() {
            "no upstream that starts runs is configured ([[upstream]] of kind \"command\")".to_owned()
        } else {
            unknown("upstream", &order.upstream, known.into_iter())
        };
        return Err(Problem::not_found(detail));
    };
    let session = order.session_id.map(|session| runners_own(session, shared)).transpose()?;
    let restriction = &shared.caller.restriction;
    let is_of = |list: &[String], name: &str| list.is_empty() || list.iter().any(|known| known == name);
    // A token that is restricted to existing runs can never see a new one.
    if !restriction.runs.is_empty()
        || !is_of(&restriction.runners, upstream.runner().name)
        || !is_of(&restriction.sessions, session.as_deref().unwrap_or_default())
    {
        return Err(Problem::new(StatusCode::FORBIDDEN, "the token is restricted to other sessions or runners"));
    }
    let opening = Opening { prompt: order.prompt, session, cwd: order.cwd, model: order.model };
    let run = upstream.start(opening, restriction.clone()).await.map_err(|error| problem_of(&error))?;
    let status: Option<RunStatus> = shared.find(StreamKind::Session, run).map(|entry| entry.status().clone());
    let status =
        status.ok_or_else(|| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the run was already dropped"))?;
    let mut response = json_response(&status);
    *response.status_mut() = StatusCode::CREATED;
    if let Ok(location) = HeaderValue::from_str(&format!("/v1/runs/{run}")) {
        response.headers_mut().insert(LOCATION, location);
    }
    Ok(response)
}

/// The runner's own name of a session. A known session may also be given by the proxy's id.
fn runners_own(session: String, shared: &Shared) -> Result<String, Problem> {
    let Ok(id) = Uuid::try_parse(&session) else { return Ok(session) };
    let of_session =
        |status: &RunStatus| status.session_id == id && shared.find(StreamKind::Session, status.run_id).is_some();
    match shared.runs.list(&of_session, 0, 1).pop() {
        Some(known) if known.session_name.is_empty() => Err(Problem::new(
            StatusCode::CONFLICT,
            "the run has no session name of the runner, so the session cannot be continued",
        )),
        Some(known) => Ok(known.session_name),
        None => Ok(session),
    }
}

fn problem_of(error: &StartError) -> Problem {
    let detail = error.to_string();
    match error {
        StartError::Full(_) | StartError::Busy(_) => {
            later(StatusCode::SERVICE_UNAVAILABLE, detail, Duration::from_secs(1))
        }
        StartError::LogFull(_) => Problem::new(StatusCode::INSUFFICIENT_STORAGE, detail),
        StartError::Conflict(_) => Problem::new(StatusCode::CONFLICT, detail),
        StartError::Refused(_) => Problem::new(StatusCode::UNPROCESSABLE_ENTITY, detail),
        StartError::Failed(_) => Problem::new(StatusCode::BAD_GATEWAY, detail),
    }
}

/// Lists the upstreams, with what a client needs to use them.
pub(super) async fn list(call: Call) -> Result<Response<Body>, Problem> {
    #[derive(Serialize)]
    struct Listed<'u> {
        name: &'u str,
        kind: &'static str,
        runner: &'static str,
        /// The path to request a run; absent if clients cannot start runs here.
        #[serde(skip_serializing_if = "Option::is_none")]
        path: Option<String>,
        takes_prompts: bool,
        takes_messages: bool,
        /// The state of its lasting connection; absent if it has none.
        #[serde(flatten)]
        connection: Option<Connected>,
    }
    #[derive(Serialize)]
    struct Connected {
        state: &'static str,
        since_ms: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
    #[derive(Serialize)]
    struct List<'u> {
        upstreams: Vec<Listed<'u>>,
    }
    let shared = &*call.shared;
    let runners = &shared.caller.restriction.runners;
    let is_seen = |runner: &'static Runner| runners.is_empty() || runners.iter().any(|known| known == runner.name);
    let upstreams = shared.upstreams.iter().filter(|upstream| is_seen(upstream.runner())).map(|upstream| Listed {
        name: upstream.name(),
        kind: upstream.kind(),
        runner: upstream.runner().name,
        path: upstream.path(),
        takes_prompts: upstream.takes_prompts(),
        takes_messages: upstream.takes_messages(),
        connection: upstream.connection().map(|connection| Connected {
            state: connection.state.as_str(),
            since_ms: connection.since_ms,
            reason: connection.reason,
        }),
    });
    Ok(json_response(&List { upstreams: upstreams.collect() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_log_is_507_and_a_busy_proxy_503() {
        let status = |error| problem_of(&error).status().as_u16();
        assert_eq!(status(StartError::LogFull("the log is full".to_owned())), 507);
        assert_eq!(status(StartError::Busy("the proxy is stopping".to_owned())), 503);
    }
}
