//! The rules about items and their parts.
//!
//! Input: the events of one response that are about items, and its terminal event. Output: findings, each of which points to the item's
//! id, so that one withheld event explains all that it causes. Never: a comparison of arguments with their pieces, which may be the
//! same JSON in another form.

use super::usual;
use crate::verify::Finding;
use crate::warnings::{Warning, is_unnamed};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// The items of one response, by their place in its output.
#[derive(Debug, Default)]
pub(super) struct ItemRules {
    items: BTreeMap<u64, Item>,
    /// The beginning is missing, so it is unknown what was opened there.
    is_cut: bool,
}

#[derive(Debug, Default)]
struct Item {
    id: String,
    kind: String,
    is_done: bool,
    /// The parts, by the kind of their index and the index.
    parts: HashMap<(&'static str, u64), Part>,
    arguments: Option<String>,
}

#[derive(Debug, Default)]
struct Part {
    is_open: bool,
    text: String,
}

/// What an event does with a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Begin,
    Piece,
    Text,
    End,
}

/// What an event does with a part; `None` if it is about no part.
fn step(kind: &str) -> Option<Step> {
    Some(match kind {
        "response.content_part.added" | "response.reasoning_summary_part.added" => Step::Begin,
        "response.output_text.delta"
        | "response.refusal.delta"
        | "response.reasoning.delta"
        | "response.reasoning_text.delta"
        | "response.reasoning_summary_text.delta" => Step::Piece,
        "response.output_text.done"
        | "response.refusal.done"
        | "response.reasoning.done"
        | "response.reasoning_text.done"
        | "response.reasoning_summary_text.done" => Step::Text,
        "response.content_part.done" | "response.reasoning_summary_part.done" => Step::End,
        _ => return None,
    })
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The text of an event, a part or a refusal.
fn text_of(value: &Value) -> &str {
    ["text", "refusal"].into_iter().find_map(|key| value.get(key).and_then(Value::as_str)).unwrap_or_default()
}

impl ItemRules {
    /// The beginning is missing.
    pub(super) fn cut(&mut self) {
        self.is_cut = true;
    }

    /// An event that is not about the whole response.
    pub(super) fn event(&mut self, kind: &str, event: &Value, findings: &mut Vec<Finding>) {
        let Some(index) = event.get("output_index").and_then(Value::as_u64) else { return };
        match (kind, event.get("item")) {
            ("response.output_item.added", Some(item)) => self.added(index, item, findings),
            ("response.output_item.done", Some(item)) => self.done(index, item, findings),
            _ => self.within(kind, index, event, findings),
        }
    }

    fn added(&mut self, index: u64, item: &Value, findings: &mut Vec<Finding>) {
        let next = self.items.last_key_value().map_or(0, |(last, _)| last + 1);
        if self.items.contains_key(&index) {
            let message = "an item with this output_index was added before";
            findings.push(Finding::error("pair.opened_twice", "/output_index", message));
        } else if index != next && !(self.is_cut && self.items.is_empty()) {
            let message = "items must be added in the order of their output_index: readers append them";
            findings.push(usual("item.order", "/output_index", message));
        }
        let (id, kind) = (text(item, "id").to_owned(), text(item, "type").to_owned());
        self.items.insert(index, Item { id, kind, ..Item::default() });
    }

    /// The open item that an event is about.
    fn open(&mut self, index: u64, pointer: &str, findings: &mut Vec<Finding>) -> Option<&mut Item> {
        let item = self.items.get_mut(&index);
        let is_known = item.is_some();
        let open = item.filter(|item| !item.is_done);
        if open.is_none() && (is_known || !self.is_cut) {
            let message =
                "the item is not open: response.output_item.added comes first, response.output_item.done last";
            findings.push(Finding::error("pair.not_open", pointer, message));
        }
        open
    }

    fn done(&mut self, index: u64, item: &Value, findings: &mut Vec<Finding>) {
        warnings(item, findings);
        let Some(open) = self.open(index, "/item/id", findings) else { return };
        open.is_done = true;
        if open.id != text(item, "id") || open.kind != text(item, "type") {
            let message = "the item has another id or type than when it was added";
            findings.push(Finding::error("item.changed", "/item/id", message));
            return;
        }
        if open.parts.values().any(|part| part.is_open) {
            let message = "a part of the item is still open";
            findings.push(Finding::error("part.left_open", "/item/id", message));
        }
        for ((of, at), part) in &open.parts {
            let list = if *of == "summary_index" { "summary" } else { "content" };
            let at = usize::try_from(*at).unwrap_or(usize::MAX);
            let whole = item.get(list).and_then(|list| list.get(at)).map(text_of).unwrap_or_default();
            if whole != part.text {
                findings.push(usual("text.differs", "/item/id", "the text of the item differs from its pieces"));
            }
        }
        if open.arguments.as_ref().is_some_and(|arguments| arguments != text(item, "arguments")) {
            let message = "the arguments of the item differ from those of its arguments.done";
            findings.push(usual("arguments.differs", "/item/id", message));
        }
    }

    /// An event between the first and the last one of its item.
    fn within(&mut self, kind: &str, index: u64, event: &Value, findings: &mut Vec<Finding>) {
        let is_cut = self.is_cut;
        let Some(item) = self.open(index, "/item_id", findings) else { return };
        let id = text(event, "item_id");
        if !id.is_empty() && id != item.id {
            findings.push(Finding::error("item.changed", "/item_id", "the item at this output_index has another id"));
        }
        if kind.ends_with("_arguments.done") {
            item.arguments = Some(text(event, "arguments").to_owned());
        }
        let Some(step) = step(kind) else { return };
        let of = if event.get("summary_index").is_some() { "summary_index" } else { "content_index" };
        let at = event.get(of).and_then(Value::as_u64).unwrap_or_default();
        let is_new = !item.parts.contains_key(&(of, at));
        let part = item.parts.entry((of, at)).or_default();
        if step == Step::Begin {
            if !is_new {
                let message = "a part with this index was added before";
                findings.push(Finding::error("part.opened_twice", "/item_id", message));
            }
            part.is_open = true;
            return;
        }
        if !part.is_open && !is_cut {
            let message = "the part is not open: it must be added before, and done after, its text";
            findings.push(Finding::error("part.not_open", "/item_id", message));
        }
        let whole = match step {
            Step::Begin => return,
            Step::Piece => return part.text.push_str(text(event, "delta")),
            Step::Text => text_of(event),
            Step::End => {
                part.is_open = false;
                event.get("part").map(text_of).unwrap_or_default()
            }
        };
        if whole != part.text {
            findings.push(usual("text.differs", "/item_id", "the whole text differs from its pieces"));
        }
    }

    /// The terminal event.
    pub(super) fn terminal(&mut self, response: &Value, findings: &mut Vec<Finding>) {
        let open = self.items.values().filter(|item| !item.is_done).count();
        if open > 0 {
            let message = format!("{open} item(s) still open: each needs response.output_item.done before the end");
            findings.push(Finding::error("pair.left_open", "", message));
        }
        let output = response.get("output").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let is_incomplete = |item: &Value| text(item, "status") == "incomplete";
        let early = output.iter().rev().skip(1).any(is_incomplete);
        if early || (output.last().is_some_and(is_incomplete) && text(response, "status") != "incomplete") {
            let message = "an incomplete item must be the last one of an incomplete response";
            findings.push(Finding::error("item.incomplete", "/response/output", message));
        }
        if self.is_cut {
            return;
        }
        let omitted = response.pointer("/metadata/omitted_items").and_then(Value::as_str);
        let omitted = omitted.and_then(|items| items.parse().ok()).unwrap_or_default();
        let expected = self.items.values().skip(omitted).map(|item| (item.id.as_str(), item.kind.as_str()));
        if !expected.eq(output.iter().map(|item| (text(item, "id"), text(item, "type")))) {
            let message = "the output differs from the items of the stream: readers take it for the whole response";
            findings.push(usual("output.differs", "", message));
        }
    }
}

/// What may be wrong with a call.
fn warnings(item: &Value, findings: &mut Vec<Finding>) {
    if !["mcp_call", "function_call"].contains(&text(item, "type")) {
        return;
    }
    if is_unnamed(text(item, "name")) {
        findings.push(Finding::of(Warning::ToolCallName, "/item/name"));
    }
    if ["", "{}", "null"].contains(&text(item, "arguments").trim()) {
        findings.push(Finding::of(Warning::ToolCallInput, "/item/arguments"));
    }
    let has_details = item.get("error").is_some_and(|error| !error.is_null()) || !text(item, "output").is_empty();
    if text(item, "status") == "failed" && !has_details {
        findings.push(Finding::of(Warning::ToolResultDetails, "/item/error"));
    }
}
