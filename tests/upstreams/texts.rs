//! Texts in the events of any contract.

use serde_json::Value;
use std::collections::BTreeMap;

/// Whether a text is in an event, or in the strings that the same field has in successive events.
pub fn contain(events: &[Value], text: &str) -> bool {
    let mut fields = BTreeMap::new();
    events.iter().for_each(|event| collect(event, "", &mut fields));
    fields.values().any(|joined: &String| joined.contains(text))
}

fn collect(value: &Value, place: &str, fields: &mut BTreeMap<String, String>) {
    match value {
        Value::String(text) => fields.entry(place.to_owned()).or_default().push_str(text),
        Value::Array(items) => items.iter().for_each(|item| collect(item, place, fields)),
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| collect(member, &format!("{place}/{key}"), fields));
        }
        _ => {}
    }
}
