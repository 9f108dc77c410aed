//! `GET /v1/search`: texts of runs that have the words of a query.
//!
//! Input: words, and which texts count. Output: a page of texts with excerpts, newest first. Never: a text of a run outside the caller's restriction.

use super::problem::Problem;
use super::reply::{Body, json_response};
use super::route::Call;
use crate::search::{PAGE, Page, Question, SearchError, cursor};
use hyper::{Response, StatusCode};

/// Responds with a page of texts.
pub(super) async fn of_runs(call: Call) -> Result<Response<Body>, Problem> {
    let query = call.query()?;
    let shared = call.shared;
    let Some(search) = &shared.search else {
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            "the search is off: set search.enabled (with a log at NATS servers also search.path), and start the proxy again; if both are set, its log says why",
        ));
    };
    let question = Question {
        words: query.q.ok_or_else(|| Problem::bad_request("q is missing: the words to look for, such as q=parser"))?,
        kinds: query.kinds,
        runner: query.runner,
        session: query.session_id,
        run: query.run_id,
        since_ms: query.since,
        until_ms: query.until,
        limit: query.limit.unwrap_or(PAGE.0).min(PAGE.1),
        after: query.after.as_deref().map(cursor).transpose().map_err(Problem::bad_request)?,
    };
    let found = search.find(&question, &|entry| shared.sees(entry)).await.map_err(problem)?;
    Ok(json_response(&Page::of(found, &shared.runs)))
}

fn problem(error: SearchError) -> Problem {
    match error {
        SearchError::Query(why) => Problem::bad_request(format!("q: {why}")),
        SearchError::Slow(_) => Problem::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
        SearchError::Failed(_) => Problem::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}
