//! Every recording in `open-responses.v1`, ended at some of its events and continued by another response: both are responses that the
//! API's clients accept, and together they have every item of the run.

use crate::support::*;
use framegate_translators::contracts::open_responses::{About, Segment, V1, queued};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use uuid::Uuid;

/// How many events of a run it is ended at.
const CUTS: usize = 16;

fn runs(recording: &Recording) -> BTreeMap<String, Vec<Value>> {
    let mut runs: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for event in events(recording.runner, &V1, &recording.bytes) {
        runs.entry(event["response_id"].as_str().unwrap().to_owned()).or_default().push(event);
    }
    runs
}

fn bytes(event: &Value) -> Vec<u8> {
    serde_json::to_vec(event).unwrap()
}

fn about(id: &str) -> About {
    let fields = json!({"previous_response_id": "before", "metadata": {"mine": "yes"}});
    About { id: id.to_owned(), fields: fields.as_object().unwrap().clone() }
}

/// The events of a run that ends before event `cut`, and those of the response that goes on.
fn cut(events: &[Value], cut: usize) -> (Vec<Value>, Vec<Value>) {
    let (before, after) = events.split_at(cut);
    let mut first = Segment::new(about("first"));
    let mut ended: Vec<Value> = before.iter().map(|event| first.event(&bytes(event)).unwrap()).collect();
    ended.extend(first.closing(1_800_000_000));
    let mut second = Segment::new(about("second"));
    before.iter().for_each(|event| second.skip(&bytes(event)));
    let mut gone_on = second.opening();
    gone_on.extend(after.iter().map(|event| second.event(&bytes(event)).unwrap()));
    (ended, gone_on)
}

/// What the official clients require.
fn accepted(events: &[Value], id: &str, what: &str) {
    let mut items: Vec<(Value, bool)> = Vec::new();
    for (number, event) in events.iter().enumerate() {
        assert_eq!((&event["sequence_number"], &event["response_id"]), (&json!(number), &json!(id)), "{what}: {event}");
        let at = event["output_index"].as_u64().map(|index| usize::try_from(index).unwrap());
        match (event["type"].as_str().unwrap(), at) {
            ("response.output_item.added", Some(at)) => {
                assert_eq!(at, items.len(), "{what}: clients append items");
                items.push((event["item"].clone(), false));
            }
            ("response.output_item.done", Some(at)) => {
                assert!(!items[at].1 && items[at].0["id"] == event["item"]["id"], "{what}: {event}");
                items[at] = (event["item"].clone(), true);
            }
            (_, Some(at)) => {
                let (item, is_done) = &items[at];
                assert!(!is_done && (event["item_id"] == item["id"]), "{what}: {event}");
            }
            _ => {}
        }
    }
    assert_eq!(events[0]["type"], "response.created", "{what}");
    assert!(items.iter().all(|(_, is_done)| *is_done), "{what}");
    let response = &events.last().unwrap()["response"];
    assert_eq!((&response["id"], &response["metadata"]["mine"]), (&json!(id), &json!("yes")), "{what}");
    let output = response["output"].as_array().unwrap();
    let ids = |items: &[&Value]| items.iter().map(|item| item["id"].clone()).collect::<Vec<_>>();
    let expected: Vec<&Value> = items.iter().map(|(item, _)| item).collect();
    if response["metadata"].get("omitted_items").is_none() {
        assert_eq!(ids(&output.iter().collect::<Vec<_>>()), ids(&expected), "{what}");
    }
}

#[test]
fn a_run_may_be_several_responses() {
    let (mut cuts, mut reopened) = (0, 0);
    for recording in recordings() {
        for (run, events) in runs(&recording) {
            let is_question = |at: &usize| *at > 0 && events[at - 1]["item"]["type"] == "mcp_approval_request";
            let places = (1..events.len()).step_by(events.len().div_ceil(CUTS));
            for at in places.chain((1..events.len()).filter(is_question)) {
                // A block is closed by several events at once, and a response does not end between them.
                let is_between = |event: &Value| {
                    let kind = event["type"].as_str().unwrap();
                    kind.ends_with("_text.done")
                        || kind.ends_with("_part.done")
                        || kind.ends_with("item.added")
                        || kind.ends_with("call.completed")
                        || kind.ends_with("call.failed")
                        || kind == "response.created"
                };
                if is_between(&events[at - 1]) {
                    continue;
                }
                let what = format!("{} {run} at {at}", recording.name);
                let (first, second) = cut(&events, at);
                accepted(&first, "first", &what);
                accepted(&second, "second", &what);
                assert_eq!(second[0]["response"]["previous_response_id"], "before");
                let done = |events: &[Value]| {
                    let done = events.iter().filter(|event| event["type"] == "response.output_item.done");
                    done.map(|event| event["item"]["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
                };
                let (whole, one, two) = (done(&events), done(&first), done(&second));
                let again = one.iter().filter(|id| two.contains(id)).count();
                assert_eq!(whole.len() + again, one.len() + two.len(), "{what}");
                assert!(whole.iter().all(|id| one.contains(id) || two.contains(id)), "{what}");
                cuts += 1;
                reopened += again;
            }
        }
    }
    assert!(cuts > 1000 && reopened > 200, "{cuts} {reopened}");
}

#[test]
fn only_the_whole_response_changes_in_a_response_that_begins_with_its_run() {
    let segment = Segment::new(about("first"));
    for (event, passes) in [
        (r#"{"type":"response.output_text.delta","delta":"{\"type\":\"response.created"}"#, true),
        (r#"{"type":"response.created","response":{}}"#, false),
        (r#"{"type":"response.failed","response":{}}"#, false),
    ] {
        assert_eq!(segment.passes(event.as_bytes()), passes, "{event}");
    }
    let mut later = Segment::new(about("second"));
    later.skip(br#"{"type":"response.created","response":{}}"#);
    assert!(!later.passes(br#"{"type":"response.output_text.delta","delta":"x"}"#));
}

#[test]
fn a_response_in_progress_has_what_is_complete() {
    let id = Uuid::from_u128(7);
    let waiting = queued(id, Uuid::from_u128(8), "codex", "m", 5, about("resp_x"));
    assert_eq!(
        (&waiting["id"], &waiting["status"], &waiting["metadata"]["mine"], &waiting["created_at"]),
        (&json!("resp_x"), &json!("queued"), &json!("yes"), &json!(5))
    );
    let mut segment = Segment::new(about("resp_x"));
    assert!(segment.response().is_none());
    let created = json!({"type": "response.created", "sequence_number": 0, "response": waiting});
    segment.event(&bytes(&created)).unwrap();
    let item = |id: &str| json!({"id": id, "type": "message", "status": "in_progress", "content": []});
    let event = |kind: &str, at: u64, item: Value| json!({"type": kind, "sequence_number": 1, "output_index": at, "item": item});
    for event in [
        event("response.output_item.added", 0, item("a")),
        event("response.output_item.done", 0, item("a")),
        event("response.output_item.added", 1, item("b")),
    ] {
        segment.event(&bytes(&event)).unwrap();
    }
    let response = segment.response().unwrap();
    assert_eq!((&response["status"], &response["output"]), (&json!("in_progress"), &json!([item("a")])));
}

#[test]
fn what_a_response_holds_is_bounded() {
    let mut segment = Segment::new(about("resp_x"));
    segment.event(br#"{"type":"response.created","sequence_number":0,"response":{"metadata":{}}}"#).unwrap();
    let long = "x".repeat(1 << 20);
    for at in 0..6_u64 {
        for kind in ["response.output_item.added", "response.output_item.done"] {
            let item = json!({"id": format!("i{at}"), "type": "message", "content": [{"text": long}]});
            segment
                .event(&bytes(&json!({"type": kind, "sequence_number": 1, "output_index": at, "item": item})))
                .unwrap();
        }
    }
    let response = segment.response().unwrap();
    assert_eq!(
        (response["output"].as_array().unwrap().len(), &response["metadata"]["omitted_items"]),
        (3, &json!("3"))
    );
}
