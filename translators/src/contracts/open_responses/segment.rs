//! One response among several that a run is.
//!
//! A client of the API answers a question with its next request. One run is then several responses: each ends where the run waits for a
//! person. A response that goes on repeats what was open before the question, under the same ids, because the client knows nothing of it.
//!
//! Input: the events of a run, in order. Output: the events of one of its responses, with numbers and indices from 0. Never: an item that
//! is left open; an item of another response; more than [`HELD_BYTES`] of complete items: the oldest are left out of the response, and its
//! metadata has their number.

use super::encode::Names;
use super::items::Items;
use super::response::{Resource, Status};
use crate::encode::{Data, EventId, Events};
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use uuid::Uuid;

/// What a response has besides the events of its run.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// The response's id.
    pub id: String,
    /// Fields of the response that its request determines. `metadata` is added to that of the run.
    pub fields: Map<String, Value>,
}

/// A response while it is read.
#[derive(Debug)]
pub struct Segment {
    about: About,
    /// The response as the run's first event has it.
    created: Option<Value>,
    /// The items of this response, with those that were open before it.
    items: Vec<Item>,
    /// Whether numbers and indices differ from those of the run.
    goes_on: bool,
    /// The number of the next event.
    next: u64,
    /// The response of the terminal event.
    terminal: Option<Value>,
    /// The complete items that are held, oldest first, and their size in bytes.
    done: VecDeque<u64>,
    held: usize,
    /// How many complete items are left out.
    left_out: u64,
}

/// The maximum size of complete items in a response that ends at a question, in bytes.
const HELD_BYTES: usize = 4 << 20;

/// An item of the response. Its place in the list is its index.
#[derive(Debug)]
struct Item {
    /// Its index in the run.
    index: u64,
    id: String,
    state: ItemState,
}

#[derive(Debug)]
enum ItemState {
    /// The events so far; pieces of one text are one event.
    Open(Vec<Value>),
    /// The item and its size, unless it is left out.
    Done(Option<(Value, usize)>),
}

/// The types of the events that have the whole response.
const LIFECYCLE: &[&str] =
    &["response.created", "response.in_progress", "response.completed", "response.incomplete", "response.failed"];

fn kind(event: &Value) -> &str {
    event.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn text<'v>(value: Option<&'v Value>, key: &str) -> &'v str {
    value.and_then(|value| value.get(key)).and_then(Value::as_str).unwrap_or_default()
}

fn set(event: &mut Value, key: &str, value: impl Into<Value>) {
    if let Some(fields) = event.as_object_mut() {
        fields.insert(key.to_owned(), value.into());
    }
}

impl Segment {
    /// A response that begins with the run.
    #[must_use]
    pub fn new(about: About) -> Self {
        Self {
            about,
            created: None,
            items: Vec::new(),
            goes_on: false,
            next: 0,
            terminal: None,
            done: VecDeque::new(),
            held: 0,
            left_out: 0,
        }
    }

    /// Takes an event of the run that precedes the response.
    pub fn skip(&mut self, event: &[u8]) {
        if let Ok(event) = serde_json::from_slice::<Value>(event) {
            self.goes_on = true;
            self.take(&event);
            self.items.retain(|item| matches!(item.state, ItemState::Open(_)));
            self.done.clear();
            self.held = 0;
        }
    }

    /// The events that begin the response: none if it begins with the run.
    pub fn opening(&mut self) -> Vec<Value> {
        if !self.goes_on {
            return Vec::new();
        }
        let mut events = Vec::new();
        if let Some(created) = &self.created {
            for kind in ["response.created", "response.in_progress"] {
                events.push(json!({"type": kind, "sequence_number": 0, "response": created}));
            }
        }
        let open = self.items.iter().filter_map(|item| match &item.state {
            ItemState::Open(events) => Some(events.clone()),
            ItemState::Done(_) => None,
        });
        events.extend(open.flatten());
        events.into_iter().map(|event| self.written(event)).collect()
    }

    /// Whether an event of the run, as JSON, is also an event of this response without a change.
    #[must_use]
    pub fn passes(&self, event: &[u8]) -> bool {
        let rest = event.strip_prefix(b"{\"type\":\"").unwrap_or_default();
        !self.goes_on && !LIFECYCLE.iter().any(|kind| rest.starts_with(kind.as_bytes()))
    }

    /// Takes the next event of the run. Returns it as an event of the response.
    pub fn event(&mut self, event: &[u8]) -> Option<Value> {
        let event: Value = serde_json::from_slice(event).ok()?;
        self.take(&event);
        Some(self.written(event))
    }

    /// Whether the run has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.terminal.is_some()
    }

    /// The events that end the response because the run waits for a person, at `now` in Unix epoch seconds.
    pub fn closing(&mut self, now: u64) -> Vec<Value> {
        let mut events = Vec::new();
        for at in 0..self.items.len() {
            let Some(Item { index, state: ItemState::Open(so_far), .. }) = self.items.get(at) else { continue };
            let closing = close(*index, so_far);
            closing.iter().for_each(|event| self.take(event));
            events.extend(closing);
        }
        let response = self.snapshot("completed", Some(now));
        events.push(json!({"type": "response.completed", "sequence_number": 0, "response": response}));
        events.into_iter().map(|event| self.written(event)).collect()
    }

    /// The response so far: that of the terminal event, or one in progress with the items that are complete. `None` before the run's
    /// first event.
    #[must_use]
    pub fn response(&self) -> Option<Value> {
        match &self.terminal {
            Some(terminal) => Some(self.presented(terminal.clone())),
            None => self.created.is_some().then(|| self.presented(self.snapshot("in_progress", None))),
        }
    }

    /// The response with the items that are complete.
    fn snapshot(&self, status: &str, completed_at: Option<u64>) -> Value {
        let done = self.items.iter().filter_map(|item| match &item.state {
            ItemState::Done(Some((item, _))) => Some(item.clone()),
            ItemState::Done(None) | ItemState::Open(_) => None,
        });
        let output: Vec<Value> = done.collect();
        let mut response = self.created.clone().unwrap_or_default();
        if self.left_out > 0
            && let Some(metadata) = response.get_mut("metadata")
        {
            set(metadata, "omitted_items", self.left_out.to_string());
        }
        set(&mut response, "status", status);
        set(&mut response, "completed_at", completed_at);
        set(&mut response, "output", output);
        response
    }

    /// Remembers what an event says.
    fn take(&mut self, event: &Value) {
        let index = event.get("output_index").and_then(Value::as_u64);
        match (kind(event), index) {
            ("response.created", _) => self.created = event.get("response").cloned(),
            ("response.completed" | "response.incomplete" | "response.failed", _) => {
                self.terminal = event.get("response").cloned();
            }
            ("response.output_item.added", Some(index)) => {
                let id = text(event.get("item"), "id").to_owned();
                self.items.push(Item { index, id, state: ItemState::Open(vec![event.clone()]) });
            }
            ("response.output_item.done", Some(index)) => {
                let whole = event.get("item").cloned().unwrap_or_default();
                let bytes = whole.to_string().len();
                if let Some(item) = self.item(index) {
                    item.state = ItemState::Done(Some((whole, bytes)));
                    self.hold(index, bytes);
                }
            }
            (_, Some(index)) => {
                if let Some(Item { state: ItemState::Open(events), .. }) = self.item(index) {
                    add(events, event);
                }
            }
            _ => {}
        }
    }

    /// Leaves out the oldest complete items if they are too large together.
    fn hold(&mut self, index: u64, bytes: usize) {
        self.held += bytes;
        self.done.push_back(index);
        while self.held > HELD_BYTES {
            let Some(oldest) = self.done.pop_front() else { break };
            if let Some(ItemState::Done(done)) = self.item(oldest).map(|item| &mut item.state) {
                let bytes = done.take().map_or(0, |(_, bytes)| bytes);
                self.held = self.held.saturating_sub(bytes);
                self.left_out += 1;
            }
        }
    }

    fn item(&mut self, index: u64) -> Option<&mut Item> {
        self.items.iter_mut().rfind(|item| item.index == index)
    }

    /// The event with the names, the number and the index that it has in this response.
    fn written(&mut self, mut event: Value) -> Value {
        if LIFECYCLE.contains(&kind(&event))
            && let Some(response) = event.get_mut("response").map(Value::take)
        {
            let response = self.presented(response);
            set(&mut event, "response", response);
        }
        set(&mut event, "response_id", self.about.id.as_str());
        if self.goes_on {
            if let Some(index) = event.get("output_index").and_then(Value::as_u64) {
                let at = self.items.iter().rposition(|item| item.index == index);
                set(&mut event, "output_index", at.unwrap_or_default());
            }
            set(&mut event, "sequence_number", self.next);
            self.next += 1;
        } else if let Some(number) = event.get("sequence_number").and_then(Value::as_u64) {
            // The closing events have no number of the run.
            let number = number.max(self.next);
            set(&mut event, "sequence_number", number);
            self.next = number + 1;
        }
        event
    }

    /// The response with its own id and fields, and without items of other responses.
    fn presented(&self, mut response: Value) -> Value {
        set(&mut response, "id", self.about.id.as_str());
        for (key, value) in &self.about.fields {
            match (response.get_mut(key).and_then(Value::as_object_mut), value) {
                (Some(ours), Value::Object(theirs)) => ours.extend(theirs.clone()),
                _ => set(&mut response, key, value.clone()),
            }
        }
        if self.goes_on
            && let Some(output) = response.get_mut("output").and_then(Value::as_array_mut)
        {
            let is_ours = |item: &Value| self.items.iter().any(|ours| ours.id == text(Some(item), "id"));
            output.retain(is_ours);
        }
        response
    }
}

/// Adds an event of an open item. A piece is added to the one before it.
fn add(events: &mut Vec<Value>, event: &Value) {
    let is_piece = kind(event).ends_with(".delta");
    let last = events.last_mut().filter(|last| is_piece && kind(last) == kind(event));
    match (last.and_then(|last| last.get_mut("delta")), event.get("delta")) {
        (Some(Value::String(text)), Some(Value::String(more))) => text.push_str(more),
        _ => events.push(event.clone()),
    }
}

/// The events that close an item after these.
fn close(index: u64, so_far: &[Value]) -> Vec<Value> {
    let Some(mut item) = so_far.first().and_then(|added| added.get("item")).cloned() else { return Vec::new() };
    let id = text(Some(&item), "id").to_owned();
    let of_kind = |wanted: &str| so_far.iter().filter(move |event| kind(event) == wanted).collect::<Vec<_>>();
    let joined = |wanted: &str| of_kind(wanted).iter().map(|event| text(Some(event), "delta")).collect::<String>();
    let event = |kind: &str, fields: Value| {
        let mut event = json!({"type": kind, "sequence_number": 0, "item_id": id, "output_index": index});
        if let (Some(event), Value::Object(fields)) = (event.as_object_mut(), fields) {
            event.extend(fields);
        }
        event
    };
    let mut events = Vec::new();
    match text(Some(&item), "type") {
        "message" => {
            let text = joined("response.output_text.delta");
            let part = json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
            events.push(event("response.output_text.done", json!({"content_index": 0, "text": text, "logprobs": []})));
            events.push(event("response.content_part.done", json!({"content_index": 0, "part": part})));
            set(&mut item, "content", vec![part]);
        }
        "reasoning" => {
            let text = joined("response.reasoning_summary_text.delta");
            let part = json!({"type": "summary_text", "text": text});
            events.push(event("response.reasoning_summary_text.done", json!({"summary_index": 0, "text": text})));
            events.push(event("response.reasoning_summary_part.done", json!({"summary_index": 0, "part": part})));
            set(&mut item, "summary", vec![part]);
        }
        _ => {
            let whole = of_kind("response.mcp_call_arguments.done");
            if let Some(arguments) = whole.last().and_then(|event| event.get("arguments")) {
                set(&mut item, "arguments", arguments.clone());
            }
        }
    }
    events
        .push(json!({"type": "response.output_item.done", "sequence_number": 0, "output_index": index, "item": item}));
    events
}

/// The response of a run that has no events yet. `created_at` is in Unix epoch seconds; `model` is the runner's name if it is unknown.
#[must_use]
pub fn queued(run: Uuid, session: Uuid, runner: &'static str, model: &str, created_at: u64, about: About) -> Value {
    let names = Names { run, session, runner };
    let items = Items::default();
    let status = Status { word: "queued", ..Status::IN_PROGRESS };
    let resource = Resource { names: &names, created_at, model, status: &status, items: &items, usage: None };
    let mut out = Events::default();
    out.object("response", EventId::Number(0), |map| resource.fields(map));
    let response = out.iter().next().and_then(|event| serde_json::from_slice(event.payload).ok());
    Segment::new(about).presented(response.unwrap_or_default())
}
