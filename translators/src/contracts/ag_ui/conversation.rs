//! The messages that a client of the protocol makes of a run's events.
//!
//! Input: prompts, and events of the contract, in order. Output: the messages of `MESSAGES_SNAPSHOT`, and the state. Never: messages that
//! differ from those of the reducer of `@ag-ui/client`, except for their metadata, which is left out.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::HashMap;

/// A conversation so far.
#[derive(Debug, Default)]
pub struct Conversation {
    messages: Vec<Value>,
    /// The place of each message.
    places: HashMap<String, usize>,
    /// The id of the message that has the call, and the call's place in it.
    calls: HashMap<String, (String, usize)>,
    state: Option<Value>,
}

/// An event, as far as it matters here.
#[derive(Debug, Deserialize)]
struct Seen<'e> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'e, str>,
    #[serde(rename = "messageId", borrow, default)]
    message: Option<Cow<'e, str>>,
    #[serde(rename = "toolCallId", borrow, default)]
    call: Option<Cow<'e, str>>,
    #[serde(rename = "toolCallName", borrow, default)]
    name: Option<Cow<'e, str>>,
    #[serde(rename = "parentMessageId", borrow, default)]
    parent: Option<Cow<'e, str>>,
    #[serde(rename = "subagentRunId", borrow, default)]
    subagent: Option<Cow<'e, str>>,
    #[serde(borrow, default)]
    role: Option<Cow<'e, str>>,
    #[serde(borrow, default)]
    delta: Option<Cow<'e, str>>,
    #[serde(default)]
    content: Option<Value>,
    #[serde(rename = "activityType", borrow, default)]
    activity: Option<Cow<'e, str>>,
    #[serde(default)]
    patch: Vec<Patch>,
    #[serde(rename = "entityId", borrow, default)]
    entity: Option<Cow<'e, str>>,
    #[serde(rename = "encryptedValue", borrow, default)]
    encrypted: Option<Cow<'e, str>>,
    #[serde(default)]
    snapshot: Option<Value>,
}

/// One operation of a JSON Patch. The contract only adds.
#[derive(Debug, Deserialize)]
struct Patch {
    path: String,
    value: Value,
}

impl Conversation {
    /// Adds what a user wrote.
    pub fn prompt(&mut self, id: &str, text: &str) {
        self.push(id, json!({"id": id, "role": "user", "content": text}));
    }

    /// Takes the next event of the contract, as JSON. Something else is ignored.
    pub fn event(&mut self, event: &[u8]) {
        let Ok(seen) = serde_json::from_slice::<Seen<'_>>(event) else { return };
        let id = seen.message.as_deref().unwrap_or_default();
        match &*seen.kind {
            "TEXT_MESSAGE_START" => {
                let role = seen.role.as_deref().unwrap_or("assistant");
                self.push(id, attributed(json!({"id": id, "role": role, "content": ""}), &seen));
            }
            "REASONING_MESSAGE_START" => {
                self.push(id, attributed(json!({"id": id, "role": "reasoning", "content": ""}), &seen));
            }
            "TEXT_MESSAGE_CONTENT" | "REASONING_MESSAGE_CONTENT" => {
                append(self.message(id), "content", seen.delta.as_deref());
            }
            "REASONING_ENCRYPTED_VALUE" => {
                let message = self.message(seen.entity.as_deref().unwrap_or_default());
                if let (Some(message), Some(value)) = (message.and_then(Value::as_object_mut), &seen.encrypted) {
                    message.insert("encryptedValue".to_owned(), Value::from(&**value));
                }
            }
            "TOOL_CALL_START" => self.call_started(&seen),
            "TOOL_CALL_ARGS" => self.call_args(&seen),
            "TOOL_CALL_RESULT" => self.call_result(id, &seen),
            "ACTIVITY_SNAPSHOT" => self.activity(id, &seen),
            "ACTIVITY_DELTA" => self.patch(id, seen.patch),
            "STATE_SNAPSHOT" => self.state = seen.snapshot,
            _ => {}
        }
    }

    /// The messages, and the state if there is one.
    #[must_use]
    pub fn finish(self) -> (Vec<Value>, Option<Value>) {
        (self.messages, self.state)
    }

    /// Adds a message, unless there is one with this id.
    fn push(&mut self, id: &str, message: Value) {
        if !self.places.contains_key(id) {
            self.places.insert(id.to_owned(), self.messages.len());
            self.messages.push(message);
        }
    }

    fn message(&mut self, id: &str) -> Option<&mut Value> {
        self.messages.get_mut(*self.places.get(id)?)
    }

    /// The call is part of the message that it belongs to, or of a message of its own.
    fn call_started(&mut self, seen: &Seen<'_>) {
        let (Some(call), Some(name)) = (seen.call.as_deref(), seen.name.as_deref()) else { return };
        if self.calls.contains_key(call) {
            return;
        }
        let has_role = |message: &Value, role: &str| message.get("role").and_then(Value::as_str) == Some(role);
        let parent = seen.parent.as_deref();
        let id = match parent.and_then(|parent| self.message(parent)) {
            Some(message) if !has_role(message, "assistant") => call,
            _ => parent.unwrap_or(call),
        };
        self.push(id, attributed(json!({"id": id, "role": "assistant"}), seen));
        let new = json!({"id": call, "type": "function", "function": {"name": name, "arguments": ""}});
        let Some(message) = self.message(id).and_then(Value::as_object_mut) else { return };
        let calls = message.entry("toolCalls").or_insert_with(|| json!([]));
        let Some(calls) = calls.as_array_mut() else { return };
        let at = calls.len();
        calls.push(new);
        self.calls.insert(call.to_owned(), (id.to_owned(), at));
    }

    fn call_args(&mut self, seen: &Seen<'_>) {
        let Some((id, at)) = seen.call.as_deref().and_then(|call| self.calls.get(call).cloned()) else { return };
        let call = self.message(&id).and_then(|message| message.pointer_mut(&format!("/toolCalls/{at}/function")));
        append(call, "arguments", seen.delta.as_deref());
    }

    /// A result follows the message with its call, and the results that are there.
    fn call_result(&mut self, id: &str, seen: &Seen<'_>) {
        let Some(call) = seen.call.as_deref() else { return };
        let content = seen.content.clone().unwrap_or_default();
        let message = json!({"id": id, "toolCallId": call, "role": "tool", "content": content});
        let message = attributed(message, seen);
        let Some(owner) = self.calls.get(call).and_then(|(id, _)| self.places.get(id).copied()) else {
            return self.push(id, message);
        };
        let is_result = |message: &Value| message.get("role").and_then(Value::as_str) == Some("tool");
        let results = self.messages.iter().skip(owner + 1).take_while(|message| is_result(message)).count();
        let at = owner + 1 + results;
        if at < self.messages.len() {
            self.places.values_mut().filter(|place| **place >= at).for_each(|place| *place += 1);
        }
        self.messages.insert(at, message);
        self.places.insert(id.to_owned(), at);
    }

    fn activity(&mut self, id: &str, seen: &Seen<'_>) {
        let new = json!({"id": id, "role": "activity", "activityType": seen.activity, "content": seen.content});
        let new = attributed(new, seen);
        match self.message(id) {
            Some(message) => *message = new,
            None => self.push(id, new),
        }
    }

    fn patch(&mut self, id: &str, patch: Vec<Patch>) {
        let Some(content) = self.message(id).and_then(|message| message.get_mut("content")) else { return };
        for Patch { path, value } in patch {
            let Some((parent, key)) = path.rsplit_once('/') else { continue };
            match content.pointer_mut(parent) {
                Some(Value::Array(items)) if key == "-" => items.push(value),
                Some(Value::Object(members)) => drop(members.insert(key.to_owned(), value)),
                _ => {}
            }
        }
    }
}

/// The message with the subagent that it belongs to.
fn attributed(mut message: Value, seen: &Seen<'_>) -> Value {
    if let (Some(subagent), Some(message)) = (&seen.subagent, message.as_object_mut()) {
        message.insert("subagentRunId".to_owned(), Value::from(&**subagent));
    }
    message
}

/// Appends to a text in place.
fn append(object: Option<&mut Value>, key: &str, delta: Option<&str>) {
    let member = object.and_then(Value::as_object_mut).and_then(|map: &mut Map<String, Value>| map.get_mut(key));
    if let (Some(Value::String(text)), Some(delta)) = (member, delta) {
        text.push_str(delta);
    }
}
