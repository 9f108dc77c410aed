//! The stand-in for a withheld event: a chunk with a piece of reasoning that has the message, since every other field would be part
//! of the answer. A finish, a usage or an error is replaced by an error with the code `event_withheld`.

use super::encode::{write_error, write_notice};
use crate::encode::Events;
use crate::gate::{CODE, NOTICE, Withheld};
use serde_json::Value;

pub(super) fn stand_in(withheld: &Withheld<'_>, out: &mut Events) {
    let Some(number) = withheld.number() else { return };
    if withheld.end().is_some() {
        return write_error(number, &withheld.frame.stream.id, CODE, &withheld.message(), out);
    }
    let frame = withheld.frame;
    let model = withheld.text(&["model"]).unwrap_or_else(|| frame.stream.provider.name.to_owned());
    write_notice(number, &frame.stream, frame.timestamp_ms, &model, &withheld.message(), out);
}

/// Whether an event is a stand-in for a withheld one.
pub(super) fn is_notice(event: &Value) -> bool {
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    text("/choices/0/delta/reasoning_content").starts_with(NOTICE) || text("/error/code") == CODE
}
