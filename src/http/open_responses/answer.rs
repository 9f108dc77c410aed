//! A response of a coding agent as a stream of events, or as an object.
//!
//! Input: a run, and the event at which the response begins. Output: its events and `[DONE]`, or the response as it is now. Never: an event of
//! another response of the run, except for what was open before.

use super::super::body::{ApiStream, DONE, Source, Waiting, api_events};
use super::super::events::{stream_headers, unreadable};
use super::super::lease::Lease;
use super::super::problem::Problem;
use super::super::reply::{Body, json_response};
use super::super::response_id::ResponseId;
use super::super::segment::{OnWait, Segment as UntilQuestion, asked_of, asks_person};
use super::super::sessions;
use super::super::shared::Shared;
use super::super::stored_events;
use super::super::threads::Wait;
use super::thread_name;
use crate::clock::Clock;
use crate::runs::{Entry, Wire};
use bytes::Bytes;
use framegate_translators::contracts::open_responses::{About, Segment, V1, queued};
use hyper::{Response, StatusCode};
use memchr::memmem;
use serde_json::{Value, json};
use std::sync::Arc;

/// The field of a kept response that says that a client cancelled it. It is not part of the response.
pub(super) const CANCELLED: &str = "framegate_cancelled";

/// What is known of a response besides the events of its run.
fn about(id: ResponseId, shared: &Shared) -> About {
    let mut fields = shared.kept_responses.find(id);
    fields.remove(CANCELLED);
    About { id: id.to_string(), fields }
}

/// The end of a response whose run waited for a person. A later response of the run begins there.
pub(super) fn end_of(entry: &Entry, id: ResponseId, shared: &Shared) -> Option<Wait> {
    let waits = shared.threads.find(thread_name(entry)).map(|thread| thread.waits).unwrap_or_default();
    waits.into_iter().find(|wait| wait.position > id.from)
}

/// When a response ended because its run waits for a person, in Unix epoch seconds: now, unless an earlier reader saw its end.
fn ended_at(entry: &Entry, id: ResponseId, shared: &Shared) -> u64 {
    end_of(entry, id, shared).map_or_else(now_seconds, |end| end.at)
}

/// Unix epoch seconds.
fn now_seconds() -> u64 {
    Clock::System.now_ms() / 1000
}

/// The response so far, from the events of the run before event `until`; and the number of the event that follows.
async fn read(
    entry: &Arc<Entry>,
    id: ResponseId,
    until: Option<u64>,
    shared: &Shared,
) -> Result<(Segment, u64), Problem> {
    let mut segment = Segment::new(about(id, shared));
    let mut has_begun = id.from == 0;
    let take = |number: u64, event: &[u8]| {
        if number < id.from {
            segment.skip(event);
        } else {
            if !has_begun {
                segment.opening();
                has_begun = true;
            }
            segment.event(event);
        }
        true
    };
    let next = stored_events::each(entry, &V1, until, shared, take).await?;
    if !has_begun {
        segment.opening();
    }
    Ok((segment, next))
}

/// The response as it is now.
pub(super) async fn object(entry: &Arc<Entry>, id: ResponseId, shared: &Arc<Shared>) -> Result<Value, Problem> {
    let mut end = end_of(entry, id, shared).map(|end| end.position);
    let waits = (end.is_none() && asks_person(entry, &shared.host.handles)).then(|| asked_of(entry));
    let (mut segment, next) = read(entry, id, end, shared).await?;
    // No reader has followed the run to its question: the response ends here.
    if let Some(asked) = waits.filter(|_| next > id.from) {
        shared.threads.waits(thread_name(entry), entry.stream.id, next, asked);
        end = Some(next);
    }
    if segment.is_over() {
        shared.repeats.delivered(entry.stream.id);
    }
    let closed = match end {
        Some(_) if !segment.is_over() => segment.closing(ended_at(entry, id, shared)).pop(),
        _ => None,
    };
    let closed = closed.and_then(|mut event| event.get_mut("response").map(Value::take));
    let mut response = match closed.or_else(|| segment.response()) {
        Some(response) => response,
        None => {
            let (stream, created_at) = (&entry.stream, entry.status().started_at_ms / 1000);
            let runner = stream.provider.name;
            queued(stream.id, stream.session.id, runner, runner, created_at, about(id, shared))
        }
    };
    let is_cancelled = shared.kept_responses.find(id).contains_key(CANCELLED);
    if is_cancelled
        && let Some(status @ Value::String(_)) = response.get_mut("status")
        && status == "incomplete"
    {
        *status = json!("cancelled");
    }
    Ok(response)
}

/// The whole response, once the run has ended or waits for a person.
pub(super) async fn whole(
    entry: &Arc<Entry>,
    id: ResponseId,
    mut lease: Lease,
    shared: &Arc<Shared>,
) -> Result<Response<Body>, Problem> {
    lease.during(until_end(entry, id, shared)).await?;
    Ok(json_response(&object(entry, id, shared).await?))
}

/// Waits until the response is complete.
async fn until_end(entry: &Arc<Entry>, id: ResponseId, shared: &Arc<Shared>) -> Result<(), Problem> {
    if end_of(entry, id, shared).is_some() {
        return Ok(());
    }
    let follower = sessions::follow(entry, &V1, Wire::Ndjson, id.from, shared).await?;
    let mut segment = UntilQuestion::new(follower, entry.clone(), shared.host.handles.clone(), on_wait(entry, shared));
    while segment.next().await.map_err(|error| unreadable(&error))?.is_some() {}
    if !segment.is_waiting() && segment.follower.was_cut() {
        let detail = "the proxy stopped before the run ended; the run's events are kept";
        return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail).without_retry());
    }
    Ok(())
}

/// Remembers where a response of the run ended because the run waits for a person.
fn on_wait(entry: &Arc<Entry>, shared: &Arc<Shared>) -> OnWait {
    let (threads, name, run) = (shared.threads.clone(), thread_name(entry), entry.stream.id);
    Box::new(move |position, asked| threads.waits(name, run, position, asked))
}

/// The response as a stream, after the event with number `after`.
pub(super) async fn stream(
    entry: &Arc<Entry>,
    id: ResponseId,
    after: Option<u64>,
    lease: Lease,
    shared: &Arc<Shared>,
) -> Result<Response<Body>, Problem> {
    let until = end_of(entry, id, shared).map(|end| end.position);
    let mut segment = if id.from == 0 {
        Segment::new(about(id, shared))
    } else {
        let mut before = Segment::new(about(id, shared));
        let skip = |_, event: &[u8]| {
            before.skip(event);
            true
        };
        stored_events::each(entry, &V1, Some(id.from), shared, skip).await?;
        before
    };
    let first = segment.opening().iter().filter(|event| is_after(event, after)).map(written).collect::<String>();
    // The numbers of a response that begins with its run are those of the run.
    let from = if id.from == 0 { after.map_or(0, |after| after.saturating_add(1)) } else { id.from };
    let follower = sessions::follow(entry, &V1, Wire::Sse, from, shared).await?;
    let mut rewrite = Rewrite { segment, number: from, until, after };
    let source = UntilQuestion::new(follower, entry.clone(), shared.host.handles.clone(), on_wait(entry, shared));
    let (repeats, open) = (shared.repeats.clone(), entry.clone());
    let on_end = move || {
        if open.status().ended {
            repeats.delivered(open.stream.id);
        }
    };
    let api = ApiStream {
        first: first.into(),
        last: DONE,
        waiting: Some(waiting(entry.clone(), id, after, shared.clone())),
        select: Some(Box::new(move |events| rewrite.apply(&events))),
        on_end: Some(Box::new(on_end)),
    };
    let negotiated = sessions::negotiated(&V1, shared);
    let source = Source::Segment(Box::new(source.until(until)));
    let mut response = Response::new(api_events(source, &negotiated, api, shared, lease));
    stream_headers(&mut response, &negotiated);
    Ok(response)
}

/// The end of a response whose run waits for a person.
fn waiting(entry: Arc<Entry>, id: ResponseId, after: Option<u64>, shared: Arc<Shared>) -> Waiting {
    Box::new(move |position| {
        Box::pin(async move {
            let (mut segment, _) = read(&entry, id, Some(position), &shared).await.ok()?;
            let closing = segment.closing(ended_at(&entry, id, &shared));
            let events: String = closing.iter().filter(|event| is_after(event, after)).map(written).collect();
            Some([events.as_bytes(), &DONE].concat().into())
        })
    })
}

fn is_after(event: &Value, after: Option<u64>) -> bool {
    after.is_none_or(|after| event.get("sequence_number").and_then(Value::as_u64).is_none_or(|number| number > after))
}

/// An event as a server-sent event.
fn written(event: &Value) -> String {
    let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
    format!("event: {kind}\ndata: {event}\n\n")
}

/// Changes the events of a run into those of one of its responses.
struct Rewrite {
    segment: Segment,
    /// The number of the next event in the run.
    number: u64,
    /// Where the response ends.
    until: Option<u64>,
    after: Option<u64>,
}

impl Rewrite {
    fn apply(&mut self, events: &[u8]) -> Bytes {
        let mut out = Vec::with_capacity(events.len() + 256);
        let mut rest = events;
        while !rest.is_empty() {
            let end = memmem::find(rest, b"\n\n").map_or(rest.len(), |end| end + 2);
            let (event, behind) = rest.split_at(end);
            rest = behind;
            let Some(data) = event.split(|&byte| byte == b'\n').find_map(|line| line.strip_prefix(b"data: ")) else {
                out.extend_from_slice(event);
                continue;
            };
            if self.until.is_some_and(|until| self.number >= until) {
                break;
            }
            self.number += 1;
            if self.segment.passes(data) {
                out.extend_from_slice(event);
            } else if let Some(event) = self.segment.event(data).filter(|event| is_after(event, self.after)) {
                out.extend_from_slice(written(&event).as_bytes());
            }
        }
        out.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    #[test]
    fn a_response_has_its_own_events_only() {
        let mut segment = Segment::new(About { id: "r".to_owned(), ..About::default() });
        segment.skip(br#"{"type":"response.created","sequence_number":0,"response":{}}"#);
        segment.opening();
        let mut rewrite = Rewrite { segment, number: 5, until: Some(7), after: Some(2) };
        let events = (5..9).fold(String::new(), |mut out, number| {
            let _ = write!(out, "event: x\ndata: {{\"type\":\"x\",\"sequence_number\":{number}}}\n\n");
            out
        });
        let out = rewrite.apply(format!(": heartbeat\n\n{events}").as_bytes());
        // The opening has numbers 0 and 1, the first event 2, which the client has.
        let expected = "{\"type\":\"x\",\"sequence_number\":3,\"response_id\":\"r\"}";
        let text = std::str::from_utf8(&out).unwrap();
        let data: Vec<Value> = text
            .lines()
            .filter_map(|line| line.strip_prefix("data: "))
            .map(|data| serde_json::from_str(data).unwrap())
            .collect();
        assert_eq!(data, [serde_json::from_str::<Value>(expected).unwrap()]);
        assert!(text.starts_with(": heartbeat\n\nevent: x\n"), "{text}");
    }
}
