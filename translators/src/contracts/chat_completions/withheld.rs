//! The stand-in for a withheld event: a chunk that has the message as reasoning, since every other field would be part of the answer. It
//! has the role if it is the first chunk, and the `finish_reason` `stop` if the withheld chunk had one. A withheld usage leaves a chunk
//! without choices, and a withheld error another error with the code `event_withheld`.

use super::ERROR;
use super::encode::{Delta, shared_fields, write_delta, write_error};
use crate::encode::{EventId, Events, key};
use crate::gate::{CODE, NOTICE, Withheld};
use crate::json::{Json, Object};
use serde_json::Value;

pub(super) fn stand_in(withheld: &Withheld<'_>, out: &mut Events) {
    let Some(number) = withheld.number() else { return };
    let (frame, message) = (withheld.frame, withheld.message());
    if withheld.event.kind == ERROR {
        return write_error(number, &frame.stream.id, CODE, &message, out);
    }
    let text = std::str::from_utf8(withheld.event.payload).unwrap_or_default();
    let event = Json::parse(text).ok();
    let event = event.and_then(Json::object).unwrap_or_default();
    let created = event.u64("created").unwrap_or(frame.timestamp_ms / 1000);
    let model = withheld.text(&["model"]).unwrap_or_else(|| frame.stream.provider.name.to_owned());
    let shared = shared_fields(&frame.stream.id, created, &model);
    let choices = event.items("choices");
    let Some(choice) = choices.first().copied().and_then(Json::object) else {
        return out.object(super::CHUNK, EventId::Number(number), |map| {
            map.prepared(&shared);
            map.raw(key!("choices"), "[]");
        });
    };
    let delta = Delta::Notice { text: &message, is_first: number == 0 };
    write_delta(number, &shared, &delta, has_finished(&choice).then_some("stop"), out);
}

fn has_finished(choice: &Object<'_>) -> bool {
    choice.str("finish_reason").is_some()
}

/// Whether an event is a stand-in for a withheld one.
pub(super) fn is_notice(event: &Value) -> bool {
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    text("/choices/0/delta/reasoning_content").starts_with(NOTICE) || text("/error/code") == CODE
}
