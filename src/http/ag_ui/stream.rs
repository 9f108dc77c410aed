//! A run as the runs of the protocol that a client asked for.
//!
//! Input: a run, the number of an event, and the client's names. Output: `RUN_STARTED`, the beginnings of what is open at that event, the
//! events from there on, and an end: the run's own, or an interrupt if a person must answer. Never: a run of the protocol without an end,
//! unless the connection breaks.

use super::super::body::{ApiStream, Source, Waiting, api_events};
use super::super::digest::Digest;
use super::super::events::stream_headers;
use super::super::lease::Lease;
use super::super::problem::Problem;
use super::super::reply::Body;
use super::super::segment::Segment as UntilQuestion;
use super::super::sessions;
use super::super::shared::Shared;
use super::super::stored_events;
use crate::runs::{Entry, Follower, Wire};
use bytes::Bytes;
use framegate_translators::contracts::ag_ui::{Names, Segment, V1};
use hyper::Response;
use memchr::memmem;
use serde_json::Value;
use std::sync::Arc;

/// What the last event of a run contains, before its names. Inside a string, its quotes would be escaped.
const FINISHED: &[u8] = b"{\"type\":\"RUN_FINISHED\"";

/// The run from event `from` on.
pub(super) async fn response(
    entry: &Arc<Entry>,
    from: u64,
    names: Names<'_>,
    thread: Digest,
    lease: Lease,
    shared: &Arc<Shared>,
) -> Result<Response<Body>, Problem> {
    // The first event is the beginning of the run, which has other names here.
    let from = from.max(1);
    let follower = sessions::follow(entry, &V1, Wire::Sse, from, shared).await?;
    let first = written(&open_at(entry, from, shared).await?.opening(names));
    streamed(entry, follower, first, names, thread, lease, shared)
}

/// The events of a follower after `first`, under the client's names.
pub(super) fn streamed(
    entry: &Arc<Entry>,
    follower: Follower,
    first: Bytes,
    names: Names<'_>,
    thread: Digest,
    lease: Lease,
    shared: &Arc<Shared>,
) -> Result<Response<Body>, Problem> {
    let (threads, run) = (shared.threads.clone(), entry.stream.id);
    let on_wait = Box::new(move |position, asked| threads.waits(thread, run, position, asked));
    let until = UntilQuestion::new(follower, entry.clone(), shared.host.handles.clone(), on_wait);
    let negotiated = sessions::negotiated(&V1, shared);
    let rename = Rename { thread: names.thread.to_owned(), run: names.run.to_owned() };
    let api = ApiStream {
        first,
        waiting: Some(interrupt(entry.clone(), rename.clone(), shared.clone())),
        select: Some(Box::new(move |events| rename.apply(events))),
        ..ApiStream::default()
    };
    let mut response = Response::new(api_events(Source::Segment(Box::new(until)), &negotiated, api, shared, lease));
    stream_headers(&mut response, &negotiated);
    sessions::name_run(&mut response, entry);
    Ok(response)
}

/// What a run has open before event `position`.
pub(super) async fn open_at(entry: &Arc<Entry>, position: u64, shared: &Shared) -> Result<Segment, Problem> {
    let mut segment = Segment::default();
    let take = |_, event: &[u8]| {
        segment.event(event);
        true
    };
    stored_events::each(entry, &V1, Some(position), shared, take).await?;
    Ok(segment)
}

/// The end of a response that waits for a person.
fn interrupt(entry: Arc<Entry>, names: Rename, shared: Arc<Shared>) -> Waiting {
    Box::new(move |position| {
        Box::pin(async move {
            let segment = open_at(&entry, position, &shared).await.ok()?;
            Some(written(&segment.closing(Names { thread: &names.thread, run: &names.run })))
        })
    })
}

/// Events as server-sent events.
pub(super) fn written(events: &[Value]) -> Bytes {
    events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>().into()
}

/// The client's names, which replace those of framegate in the last event.
#[derive(Clone, Debug)]
struct Rename {
    thread: String,
    run: String,
}

impl Rename {
    fn apply(&self, events: Bytes) -> Bytes {
        let Some(at) = memmem::rfind(&events, FINISHED) else { return events };
        let (before, last) = events.split_at(at);
        let end = memmem::find(last, b"\n\n").unwrap_or(last.len());
        let (event, after) = last.split_at(end);
        let Ok(mut event) = serde_json::from_slice::<Value>(event) else { return events };
        if let Some(fields) = event.as_object_mut() {
            fields.insert("threadId".to_owned(), self.thread.as_str().into());
            fields.insert("runId".to_owned(), self.run.as_str().into());
        }
        [before, event.to_string().as_bytes(), after].concat().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_event_gets_the_clients_names() {
        let rename = Rename { thread: "t".to_owned(), run: "r".to_owned() };
        let text = r#"data: {"type":"CUSTOM","value":"{\"type\":\"RUN_FINISHED\""}"#;
        let end = r#"data: {"type":"RUN_FINISHED","threadId":"a","runId":"b","outcome":{"type":"success"}}"#;
        let events = Bytes::from(format!("{text}\n\n{end}\n\n"));
        let renamed = rename.apply(events);
        let expected = r#"data: {"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"success"}}"#;
        let text_of = |bytes: &Bytes| String::from_utf8(bytes.to_vec()).unwrap();
        let (before, after) = text_of(&renamed).split_once("\n\n").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
        assert_eq!(before, text);
        let parsed = |text: &str| serde_json::from_str::<Value>(text.trim_start_matches("data: ").trim()).unwrap();
        assert_eq!(parsed(&after), parsed(expected));
        let other = Bytes::from(format!("{text}\n\n"));
        assert_eq!(rename.apply(other.clone()), other);
    }
}
