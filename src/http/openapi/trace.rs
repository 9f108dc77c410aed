//! The description of `GET /v1/runs/{run_id}/trace`.

use super::shapes::object;
use super::{body, described, merged, problems};
use crate::runs::FindingKind;
use framegate_translators::contracts::FRAMES;
use serde_json::{Value, json};

/// `GET /v1/runs/{run_id}/trace`.
pub(in crate::http) fn trace() -> Value {
    described(
        "getRunTrace",
        "A page of a run's frames, each with the record that it came from, the events that it produced in a contract, and \
         what was noticed about it.",
        merged(&[
            json!({"200": body("A page.", "application/json", "Trace")}),
            problems(&[400, 404, 406, 410, 500], "Problem"),
        ]),
        &["contract", "experimental", "user_messages", "after_frame", "limit"],
    )
}

pub(super) fn schemas() -> Value {
    let text = json!({"type": "string"});
    let seq = json!({"type": "integer", "minimum": 0});
    let list = |items: &str| json!({"type": "array", "items": {"$ref": format!("#/components/schemas/{items}")}});
    let kinds: Vec<Value> = FindingKind::ALL.iter().map(|kind| json!(kind)).collect();
    json!({
        "Trace": object(&["object", "contract", "data", "has_more", "next_after", "rules_checked"], &json!({
            "object": {"const": "list"}, "contract": text, "data": list("TracedFrame"),
            "has_more": {"type": "boolean", "description": "Whether the run has more frames now."},
            "next_after": {"type": ["integer", "null"],
                "description": "The `after` of the next page; null if there are no frames yet."},
            "rules_checked": {"type": "boolean", "description": "Whether the contract's rules between events were checked. \
                They are checked on pages that begin in the first 2048 frames of a run."}})),
        "TracedFrame": object(&["seq", "frame", "record", "events", "findings"], &json!({
            "seq": seq,
            "frame": {"type": "object", "description": format!("The frame as an event of `{}`. For frames that are not kept any more, their `gap_detected`.", FRAMES.name)},
            "record": {"type": ["integer", "null"], "minimum": 0, "description": "The number of the upstream record that the \
                frame came from, as in `raw`: the latest one at that time; null before the first one."},
            "events": list("TracedEvent"), "findings": list("TraceFinding")})),
        "TracedEvent": object(&["cursor", "type", "event", "withheld", "violations"], &json!({
            "cursor": {"type": ["string", "null"], "description": "The event's `id:`; null if it has none."},
            "type": text,
            "event": {"type": "object", "description": "What clients get, byte for byte."},
            "withheld": {"type": "boolean", "description": "Whether it stands in for an event that the gate withheld."},
            "withheld_type": {"type": "string", "description": "The type of the withheld event."},
            "violations": list("TraceViolation")})),
        "TraceViolation": object(&["rule", "severity", "path", "message"], &json!({
            "rule": {"type": "string", "description": "`schema`, or a rule of the contract."},
            "severity": {"enum": ["error", "warning"]},
            "path": {"type": "string", "description": "A JSON pointer into the event; of a withheld event, into that."},
            "message": text})),
        "TraceFinding": object(&["kind", "code", "message"], &json!({
            "kind": {"enum": kinds}, "code": text, "message": text,
            "path": {"type": "string", "description": "A JSON pointer into the frame."}})),
    })
}
