//! Kept responses: replayed, or as the last response object.
//!
//! Input: a response's id, and the `sequence_number` of the last event that the client saw. Output: the records after it as
//! they arrived (except for redactions), then those still to come; or the last response object. Never: a response whose run
//! the caller may not see.

use super::{Asked, Failure};
use crate::http::body::{Source, events};
use crate::http::events::{events_of, stream_headers, unreadable};
use crate::http::negotiate::{Form, Negotiated};
use crate::http::reply::{Body, full};
use crate::http::shared::Shared;
use crate::log::LogError;
use crate::runs::{Entry, Follower, Runs, Wire};
use crate::upstream::responses;
use framegate_translators::contracts::RECORDS;
use framegate_translators::encode::EncoderOptions;
use framegate_translators::frame::{Body as FrameBody, Frame};
use framegate_translators::json::Object;
use hyper::body::Incoming;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response};
use std::sync::Arc;

/// How many frames are read at a time.
const AT_ONCE: usize = 512;

/// How many frames are examined for the beginning of a response.
const AT_BEGIN: usize = 16;

/// How many frames are searched at a time, from the end of a run backwards, for its last response object.
const BACK: u64 = 64;

/// The answer from what is kept; `None` if the upstream must be asked.
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
    // An upstream that the request names must exist. If none is configured, only kept responses can be served.
    let has_upstream = asked.upstream.is_some() || !shared.settings.responses.is_empty();
    let upstream = if has_upstream { Some(asked.upstream(shared)?) } else { None };
    let broke_off = responses::broke_off(&entry.status());
    if asked.stream {
        if let Some(upstream) = upstream {
            let begin = begin(&shared.runs, &entry).await.map_err(|error| unreadable(&error))?;
            let goes_on = broke_off && (begin.is_background || upstream.goes_on(id));
            if goes_on || !begin.is_before(asked.starting_after) {
                return Ok(None);
            }
        }
        return replay(&entry, asked.starting_after, shared).await.map(Some);
    }
    if upstream.is_some_and(|upstream| !upstream.settings().gives_kept || broke_off) {
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

/// The beginning of a kept response.
#[derive(Debug, Default)]
struct Begin {
    /// Whether its first record is an event.
    is_event: bool,
    /// The `sequence_number` of the first record.
    number: Option<u64>,
    /// Whether it was requested with `background`.
    is_background: bool,
}

impl Begin {
    /// Whether all events after `after` are kept.
    fn is_before(&self, after: Option<u64>) -> bool {
        // The first number is 0; some servers begin with 1.
        self.is_event && self.number.is_none_or(|first| first <= after.unwrap_or(0).saturating_add(1))
    }
}

async fn begin(runs: &Runs, entry: &Entry) -> Result<Begin, LogError> {
    let mut begin = None;
    for frame in runs.log().read(entry.id(), 0, AT_BEGIN).await? {
        let FrameBody::ProviderEvent(record) = &frame.body else { continue };
        let Some(data) = record.data.as_deref().and_then(Object::parse) else { continue };
        let first = begin.get_or_insert_with(|| Begin {
            is_event: data.str("type").is_some(),
            number: data.u64("sequence_number"),
            is_background: false,
        });
        let response = data.object("response");
        let says = response.as_ref().unwrap_or(&data).get("background").is_some_and(|value| value.text() == "true");
        first.is_background |= says;
    }
    Ok(begin.unwrap_or_default())
}

/// The records after the given event, then live.
async fn replay(entry: &Arc<Entry>, after: Option<u64>, shared: &Arc<Shared>) -> Result<Response<Body>, Failure> {
    let options = EncoderOptions::default();
    let negotiated = Negotiated { contract: RECORDS, options: options.clone(), form: Form::Sse };
    let from = match after {
        None => 0,
        Some(after) => records_up_to(&shared.runs, entry, after).await.map_err(|error| unreadable(&error))?,
    };
    let Some(reader) = shared.runs.reader(entry, RECORDS, &options) else {
        return Err(super::Refusal::Inside.into());
    };
    let follower = Follower::new(shared.runs.clone(), reader, Wire::Sse, from);
    let lease = shared.stream()?;
    let mut response = Response::new(events(Source::Run(Box::new(follower)), &negotiated, shared, lease));
    stream_headers(&mut response, &negotiated);
    // The value that the upstream itself would send.
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8"));
    Ok(response)
}

/// The number of records of a run before the first one whose `sequence_number` is greater than `after`. A record without a
/// number belongs to the record before it.
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

/// The latest response object of the run; `None` if it has none.
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

/// The response object in a record.
fn object_of(frame: &Frame) -> Option<String> {
    let FrameBody::ProviderEvent(record) = &frame.body else { return None };
    let text = record.data.as_deref()?;
    let data = Object::parse(text)?;
    let is_response = data.str("object").is_some_and(|object| object == "response");
    let object = data.get("response").map(|response| response.text()).or_else(|| is_response.then_some(text))?;
    Object::parse(object).map(|_| object.to_owned())
}
