//! Responses that are kept: replayed, or as they were told last.
//!
//! In: a response's id, and the `sequence_number` of the last event that was seen. Out: the records behind it, as they came
//! (what was redacted aside), then those that are still to come; or the last response object. Never: a response of which the
//! caller may not see the run.

use super::{Asked, Failure};
use crate::http::Shared;
use crate::http::body::{Body, Source, events, full};
use crate::http::events::{events_of, stream_headers, unreadable};
use crate::http::negotiate::{Form, Negotiated};
use crate::log::LogError;
use crate::runs::{Entry, Follower, RunState, RunStatus, Runs, Wire};
use crate::upstream::responses::LOST;
use framegate_translators::contracts::raw::RAW;
use framegate_translators::encode::EncoderOptions;
use framegate_translators::frame::{Body as FrameBody, Frame};
use framegate_translators::json::Object;
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response};
use std::sync::Arc;

/// How many frames are read at a time.
const AT_ONCE: usize = 512;

/// How far behind a run's end its last response object is looked for, in frames.
const BACK: u64 = 64;

/// The answer from what is kept; `None` where the upstream is to be asked.
pub(super) async fn answer(
    request: &Request<Incoming>,
    id: &str,
    asked: &Asked,
    shared: &Arc<Shared>,
) -> Result<Option<Response<Body>>, Failure> {
    let Some(entry) = shared.runs.find_response(id).filter(|entry| shared.sees(entry)) else { return Ok(None) };
    if let Some(negotiated) = asked.negotiated(request, shared)? {
        return Ok(Some(events_of(request, &asked.query, entry, negotiated, shared.clone()).await?));
    }
    if asked.stream {
        return replay(&entry, asked.starting_after, shared).await.map(Some);
    }
    // One that the request names must be there; without any, what is kept is all that there is.
    let has_upstream = asked.upstream.is_some() || !shared.settings.responses.is_empty();
    if has_upstream && !asked.upstream(shared)?.settings().gives_kept {
        return Ok(None);
    }
    if has_upstream && shared.caller.restriction.is_open() && broke_off(&entry.status()) {
        return Ok(None);
    }
    let Some(object) = last_object(&shared.runs, &entry).await.map_err(|error| unreadable(&error))? else {
        return Ok(None);
    };
    let mut response = Response::new(full(object));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(Some(response))
}

/// What broke off here may have gone on at the upstream.
fn broke_off(run: &RunStatus) -> bool {
    run.state == RunState::Interrupted || run.error_code.as_deref().is_some_and(|code| LOST.contains(&code))
}

/// The records behind that event, then live.
async fn replay(entry: &Arc<Entry>, after: Option<u64>, shared: &Arc<Shared>) -> Result<Response<Body>, Failure> {
    let options = EncoderOptions::default();
    let negotiated = Negotiated { contract: &RAW, options: options.clone(), form: Form::Sse };
    let from = match after {
        None => 0,
        Some(after) => records_up_to(&shared.runs, entry, after).await.map_err(|error| unreadable(&error))?,
    };
    let Some(reader) = shared.runs.reader(entry, &RAW, &options) else {
        return Err(super::Refusal::Inside.into());
    };
    let follower = Follower::new(shared.runs.clone(), reader, Wire::Sse, from);
    let lease = shared.stream()?;
    let mut response = Response::new(events(Source::Run(Box::new(follower)), &negotiated, shared, lease));
    stream_headers(&mut response, &negotiated);
    // What the upstream itself would say.
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    Ok(response)
}

/// How many records of a run there are before the first one whose `sequence_number` is beyond `after`. One without a number
/// belongs to the one before it.
async fn records_up_to(runs: &Runs, entry: &Entry, after: u64) -> Result<u64, LogError> {
    let (mut at, mut records) = (0, 0);
    loop {
        let frames = runs.log().read(entry.id(), at, AT_ONCE).await?;
        let Some(last) = frames.last() else { return Ok(records) };
        at = last.seq + 1;
        for frame in &frames {
            let FrameBody::ProviderEvent(record) = &frame.body else { continue };
            let number = record.data.as_deref().and_then(Object::parse).and_then(|data| data.u64("sequence_number"));
            if number.is_some_and(|number| number > after) {
                return Ok(records);
            }
            records += 1;
        }
    }
}

/// The response as it was told last.
async fn last_object(runs: &Runs, entry: &Entry) -> Result<Option<String>, LogError> {
    let mut end = entry.tail().borrow().frames;
    while end > 0 {
        let start = end.saturating_sub(BACK);
        let (mut at, mut found) = (start, None);
        while at < end {
            let frames = runs.log().read(entry.id(), at, usize::try_from(end - at).unwrap_or(AT_ONCE)).await?;
            let Some(last) = frames.last() else { break };
            at = last.seq + 1;
            found = frames.iter().rev().find_map(|frame| object_of(frame)).or(found);
        }
        if found.is_some() {
            return Ok(found);
        }
        end = start;
    }
    Ok(None)
}

/// The response object of a record.
fn object_of(frame: &Frame) -> Option<String> {
    let FrameBody::ProviderEvent(record) = &frame.body else { return None };
    let text = record.data.as_deref()?;
    let data = Object::parse(text)?;
    let is_response = data.str("object").is_some_and(|object| object == "response");
    let object = data.get("response").map(|response| response.text()).or_else(|| is_response.then_some(text))?;
    Object::parse(object).map(|_| object.to_owned())
}
