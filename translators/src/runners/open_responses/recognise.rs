//! Recognition of Open Responses events, and their kinds.

use super::event::Event;
use crate::decode::Record;
use crate::json::Kind;
use std::borrow::Cow;

/// A streamed event.
pub(super) fn event(record: &Record<'_>) -> Option<&'static str> {
    let fields = &record.fields;
    let declared = fields.str("type");
    let kind = declared.as_deref().or(record.event_name)?;
    // Types without this prefix also occur in other protocols.
    let known = kind.starts_with("response.") && Event::of(kind).is_of_a_response();
    let has_body = fields.get("response").is_some_and(|response| response.kind() == Kind::Object)
        || ["item_id", "output_index", "item", "delta", "sequence_number"].iter().any(|key| fields.get(key).is_some());
    (known && has_body).then_some("an event type of Open Responses, with a field of such events")
}

/// A response object that was not streamed.
pub(super) fn response(record: &Record<'_>) -> Option<&'static str> {
    let fields = &record.fields;
    let is_list = fields.get("output").is_some_and(|output| output.kind() == Kind::Array);
    let known = is_list && fields.str("object").as_deref() == Some("response") && fields.get("type").is_none();
    known.then_some("an object of type response, with its output")
}

/// The type of an event; all extensions share one kind.
pub(super) fn kind<'r>(record: &'r Record<'_>) -> Option<Cow<'r, str>> {
    let fields = &record.fields;
    let kind = match fields.str("type").filter(|kind| !kind.is_empty()) {
        Some(kind) => kind,
        None if record.event_name.is_some() => Cow::Borrowed(record.event_name?),
        None if fields.some("error").is_some() => Cow::Borrowed("error"),
        None if response(record).is_some() => Cow::Borrowed("response"),
        None => return None,
    };
    Some(if Event::of(&kind) == Event::Extension { Cow::Borrowed("extension") } else { kind })
}
