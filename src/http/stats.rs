//! `GET /v1/stats`: figures over the runs that the caller may see, as JSON or CSV.
//!
//! Input: what makes a group, and which runs count. Output: rows, and their total. Never: a run outside the caller's restriction; a lock
//! that is held while all runs are visited; a worker that is busy with one answer for long.

use super::problem::Problem;
use super::query::Query;
use super::reply::{Body, full, json_response};
use super::route::Call;
use crate::stats::{Question, Stats};
use hyper::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, HeaderValue, VARY};
use hyper::{Response, StatusCode};

/// How many steps are taken before other tasks get their turn: less than a millisecond of work.
const STEPS_AT_ONCE: usize = 512;

/// Responds with the figures.
pub(super) async fn of_runs(call: Call) -> Result<Response<Body>, Problem> {
    let accept = call.request.headers().get(ACCEPT).and_then(|accept| accept.to_str().ok());
    let form = Form::preferred(accept)
        .ok_or_else(|| Problem::new(StatusCode::NOT_ACCEPTABLE, "the figures are application/json or text/csv"))?;
    let question = question(call.query()?)?;
    let mut stats = Stats::with_prices(question, call.shared.runs.prices().clone());
    let mut steps = 0;
    for entry in call.shared.runs.newest_first() {
        if call.shared.sees(&entry) {
            steps += stats.add(&entry.status());
        }
        steps += 1;
        if steps >= STEPS_AT_ONCE {
            steps = 0;
            tokio::task::yield_now().await;
        }
    }
    let report = stats.report();
    let mut response = match form {
        Form::Json => json_response(&report),
        Form::Csv => {
            let mut response = Response::new(full(report.csv()));
            let kind = HeaderValue::from_static("text/csv; charset=utf-8; header=present");
            response.headers_mut().insert(CONTENT_TYPE, kind);
            response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
            response
        }
    };
    response.headers_mut().insert(VARY, HeaderValue::from_static("accept"));
    Ok(response)
}

fn question(query: Query) -> Result<Question, Problem> {
    if let (Some(since), Some(until)) = (query.since, query.until)
        && since > until
    {
        return Err(Problem::bad_request(format!("since ({since}) is after until ({until}), so no run can count")));
    }
    Ok(Question { runs: query.runs(), by: query.by, zone: query.tz, since_ms: query.since, until_ms: query.until })
}

/// The form of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Json,
    Csv,
}

impl Form {
    /// The form that an `Accept` header prefers; JSON if it has no preference, `None` if it permits neither.
    fn preferred(accept: Option<&str>) -> Option<Self> {
        let accept = accept.map(str::trim).filter(|accept| !accept.is_empty()).unwrap_or("*/*");
        let json = weight(accept, ["application/json", "application/*", "*/*"]);
        let csv = weight(accept, ["text/csv", "text/*", "*/*"]);
        match (json > 0.0, csv > 0.0) {
            (_, true) if csv > json => Some(Self::Csv),
            (true, _) => Some(Self::Json),
            _ => None,
        }
    }
}

/// The weight of a media type: that of the most specific of its ranges in the header; 0 if there is none.
fn weight(accept: &str, ranges: [&str; 3]) -> f32 {
    let of = |range: &str| {
        accept.split(',').find_map(|part| {
            let mut words = part.split(';').map(str::trim);
            let is_it = words.next().is_some_and(|name| name.eq_ignore_ascii_case(range));
            let q = words.find_map(|word| word.strip_prefix("q=").or_else(|| word.strip_prefix("Q=")));
            is_it.then(|| q.map_or(1.0, |q| q.parse().unwrap_or(0.0)))
        })
    };
    ranges.into_iter().find_map(of).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_is_only_sent_to_a_client_that_prefers_it() {
        for (accept, form) in [
            (None, Some(Form::Json)),
            (Some(""), Some(Form::Json)),
            (Some("*/*"), Some(Form::Json)),
            (Some("application/json"), Some(Form::Json)),
            (Some("text/csv"), Some(Form::Csv)),
            (Some("TEXT/CSV; charset=utf-8"), Some(Form::Csv)),
            (Some("text/*"), Some(Form::Csv)),
            (Some("text/csv, */*;q=0.1"), Some(Form::Csv)),
            (Some("text/csv;q=0.2, application/json;q=0.3"), Some(Form::Json)),
            (Some("text/csv;q=0, */*"), Some(Form::Json)),
            (Some("application/json;q=0, */*"), Some(Form::Csv)),
            (Some("text/html,application/xhtml+xml,*/*;q=0.8"), Some(Form::Json)),
            (Some("text/html"), None),
            (Some("text/csv;q=0"), None),
            (Some("text/csv;q=high"), None),
        ] {
            assert_eq!(Form::preferred(accept), form, "{accept:?}");
        }
    }
}
