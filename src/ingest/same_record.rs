//! Compares records that arrived at different times.
//!
//! Input: records as their frames keep them. Output: whether they are the same bytes, and whether equal bytes mean that it is the same record. Never: an id
//! taken for unique that counts from 0 in each run.

use framegate_translators::frame::ProviderEvent;
use framegate_translators::json::{Json, Kind, Object};

/// How deep in a record the search for an id goes.
const ID_DEPTH: usize = 4;

/// How many items of an array the search for an id reads.
const ID_ITEMS: usize = 4;

/// Keys whose values identify one record, message, turn or call.
const ID_KEYS: &[&str] = &[
    "id",
    "uuid",
    "callID",
    "call_id",
    "itemId",
    "item_id",
    "messageID",
    "messageId",
    "message_id",
    "toolCallId",
    "turnId",
    "turn_id",
];

/// The least length of a unique id; shorter ids count from 0 in each run.
const ID_BYTES: usize = 16;

/// Whether two records arrived as the same bytes.
pub(super) fn is_same(one: &ProviderEvent, other: &ProviderEvent) -> bool {
    one.status == other.status && one.event_name == other.event_name && one.data == other.data && one.raw == other.raw
}

/// Whether an unreadable record is the start of another record.
pub(super) fn is_start_of(start: &ProviderEvent, whole: &ProviderEvent) -> bool {
    let (None, Some(start), Some(whole)) = (&start.data, &start.raw, &whole.data) else { return false };
    !start.is_empty() && whole.as_bytes().starts_with(start)
}

/// Whether a record carries something that no record of another run has: an id of its own, the time at which it was written, or the
/// usage of the session up to now.
pub(super) fn is_unique(record: &ProviderEvent, session: &str) -> bool {
    let Some(fields) = record.data.as_deref().and_then(Object::parse) else { return false };
    let is_response = |object: &Object<'_>| {
        object.str("object").is_some_and(|kind| kind == "response") && object.str("id").is_some_and(|id| !id.is_empty())
    };
    // A time is that of the record or of the message in it.
    let has_time = |object: &Object<'_>| object.get("timestamp").is_some();
    has_time(&fields)
        || fields.object("message").is_some_and(|message| has_time(&message))
        || is_response(&fields)
        || fields.object("response").is_some_and(|response| is_response(&response))
        || fields.object("usage").is_some_and(|usage| usage.u64("output_tokens").is_some_and(|tokens| tokens > 0))
        || has_id(&fields, session, ID_DEPTH)
}

/// Whether an object, or one within it, has an id other than the session's.
fn has_id(object: &Object<'_>, session: &str, depth: usize) -> bool {
    let within = |value: Json<'_>| value.object().is_some_and(|object| has_id(&object, session, depth - 1));
    object.iter().any(|(key, value)| match value.kind() {
        Kind::String => ID_KEYS.contains(&key) && value.str().is_some_and(|id| id.len() >= ID_BYTES && *id != *session),
        Kind::Object => depth > 0 && within(value),
        Kind::Array => depth > 0 && value.items().into_iter().take(ID_ITEMS).any(within),
        _ => false,
    })
}
