//! The times that records carry.
//!
//! Input: records, messages and parts. Output: the time of each, in Unix epoch milliseconds. Never: the creation of a session taken for
//! the time of a later event about it.

use crate::decode::Record;
use crate::json::{Json, Object};
use crate::rfc3339::unix_ms;

/// The time of a record of any surface, in Unix epoch milliseconds.
pub(super) fn time_of(record: &Record<'_>) -> Option<u64> {
    let list = record.json.items();
    of_fields(&record.fields).or_else(|| list.iter().find_map(|item| of_fields(&item.object()?)))
}

fn of_fields(fields: &Object<'_>) -> Option<u64> {
    let created = |of: &Object<'_>| times_of(of)?.u64("created");
    // A session may be older than the event about it.
    let changed = |of: &Object<'_>| times_of(of)?.u64("updated").or_else(|| created(of));
    let of_event = |event: &Object<'_>| {
        let props = event.object("properties").or_else(|| event.object("data"))?;
        let reported = props.get("timestamp").and_then(timestamp).or_else(|| props.u64("time"));
        reported.or_else(|| changed(&props)).or_else(|| of_part(&props.object("part")?))
    };
    fields
        .get("timestamp")
        .and_then(timestamp)
        .or_else(|| created(fields))
        .or_else(|| of_event(fields))
        .or_else(|| of_event(&fields.object("payload")?))
}

/// The times of a message or session, or of an event about one.
fn times_of<'f>(fields: &Object<'f>) -> Option<Object<'f>> {
    fields.object("info").unwrap_or_else(|| fields.clone()).object("time")
}

/// A time in Unix epoch milliseconds, from a number of milliseconds or an ISO 8601 string.
pub(super) fn timestamp(value: Json<'_>) -> Option<u64> {
    value.u64().or_else(|| unix_ms(&value.str()?))
}

/// The last time that a part reports, in Unix epoch milliseconds.
pub(super) fn of_part(part: &Object<'_>) -> Option<u64> {
    let time = times(part)?;
    time.u64("end").or_else(|| time.u64("start"))
}

/// The times of a part.
pub(super) fn times<'p>(part: &Object<'p>) -> Option<Object<'p>> {
    part.object("time").or_else(|| part.object("state")?.object("time"))
}
