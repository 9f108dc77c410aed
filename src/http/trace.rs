//! `GET /v1/runs/{run_id}/trace`: what each frame of a run came from, and what came of it.
//!
//! Input: a run, a contract, the last frame that the client has. Output: a page of frames with their records, events and findings.
//! Never: a run that the caller may not see; more than a page in memory.

use super::events::{reader_of, run_of, unreadable, wanted_of};
use super::negotiate::{Form, Wanted, negotiate};
use super::problem::Problem;
use super::reply::{Body, json_response};
use super::route::Call;
use crate::runs::{TraceAsk, Traced};
use hyper::{Response, StatusCode};
use serde::Serialize;

/// A page ends after the frame with which it has this many bytes.
const PAGE_BYTES: usize = 4 << 20;

#[derive(Serialize)]
struct Page {
    object: &'static str,
    contract: &'static str,
    data: Vec<Traced>,
    has_more: bool,
    next_after: Option<u64>,
    rules_checked: bool,
}

/// Responds with a page.
pub(super) async fn of_run(call: Call) -> Result<Response<Body>, Problem> {
    let query = call.query()?;
    // There is only one form, so `Accept` may name any type of JSON.
    let wanted = Wanted { accept: None, forms: &[Form::Json], ..wanted_of(&call.request, &query, &call.shared) };
    let negotiated = negotiate(wanted).map_err(|detail| Problem::new(StatusCode::NOT_ACCEPTABLE, detail))?;
    let shared = &call.shared;
    let [run_id] = call.path.get()?;
    let entry = run_of(run_id, shared)?;
    let after = after(query.after.as_deref())?;
    let mut reader = reader_of(&entry, &negotiated, shared)?;
    let ask = TraceAsk {
        from: after.map_or(0, |after| after.saturating_add(1)),
        max_frames: query.limit.unwrap_or(shared.settings.page_default).min(shared.settings.page_max),
        max_bytes: PAGE_BYTES,
    };
    let trace = reader.trace(&shared.runs, ask).await.map_err(|error| unreadable(&error))?;
    let next_after = trace.items.last().map(|item| item.seq).or(after);
    Ok(json_response(&Page {
        object: "list",
        contract: negotiated.contract.name,
        data: trace.items,
        has_more: trace.has_more,
        next_after,
        rules_checked: trace.rules_checked,
    }))
}

/// The number of the last frame that the client has; `None`: it has none.
fn after(text: Option<&str>) -> Result<Option<u64>, Problem> {
    match text.map(str::parse::<i64>) {
        None | Some(Ok(-1)) => Ok(None),
        Some(Ok(number)) if number >= 0 => Ok(Some(number.unsigned_abs())),
        Some(_) => Err(Problem::bad_request("after must be the seq of the last received frame, or -1 for none")),
    }
}
