//! The rules of `acp.v1` streams.
//!
//! What the protocol says about the order of messages is a rule of the document, as far as an agent's messages alone show it. What
//! agents do although clients have problems with it is usual. The numbers and a few promises are framegate's own. The client's
//! `session/prompt`, `session/cancel` and answers to questions may be part of the stream; then more can be judged.

mod turn;

use super::{V1, withheld};
use crate::event_kind::kind_of;
use crate::verify::{Begin, Finding, Rule, Verifier};
use serde_json::Value;
use std::collections::HashMap;
use turn::Stream;

/// Every rule that is checked here.
pub(super) const RULES: &[Rule] = &[
    Rule::of_event("resume.repeat"),
    Rule::of_event("sequence.start"),
    Rule::of_event("sequence.gap"),
    Rule::of_event("sequence.repeat"),
    Rule::of_event("session.differs"),
    Rule::of_event("end.not_last"),
    Rule::of_event("end.other_run"),
    Rule::of_event("end.missing"),
    Rule::of_event("cancel.ignored"),
    Rule::between_events("message.shared"),
    Rule::between_events("call.unknown"),
    Rule::between_events("call.repeat"),
    Rule::between_events("call.reopened"),
    Rule::between_events("call.over"),
    Rule::between_events("call.left_open"),
    Rule::between_events("question.repeat"),
    Rule::between_events("question.unknown"),
    Rule::between_events("question.left_open"),
    Rule::of_event("tool_call.empty_name"),
    Rule::of_event("tool_call.empty_input"),
    Rule::between_events("tool_result.no_error_details"),
];

/// The key of a message's number.
const NUMBER: &str = "params._meta.framegate.seq";

/// The places of a message's number, which an answer has elsewhere.
const CURSOR: &str = "params._meta.framegate.seq|result._meta.framegate.seq|error.data.framegate.seq";

/// framegate's own data in a message.
pub(super) fn own(event: &Value) -> Option<&Value> {
    let places = ["/params/_meta/framegate", "/result/_meta/framegate", "/error/data/framegate"];
    places.into_iter().find_map(|place| event.pointer(place))
}

fn run_of(event: &Value) -> &str {
    own(event).and_then(|own| own.get("runId")).and_then(Value::as_str).unwrap_or_default()
}

#[derive(Default)]
pub(super) struct AcpRules {
    /// By the id that framegate adds; the messages of another agent have none.
    streams: HashMap<String, Stream>,
    begin: Begin,
}

impl Verifier for AcpRules {
    fn event(&mut self, event: &Value, findings: &mut Vec<Finding>) {
        let kind = kind_of(V1.type_key, event).unwrap_or_default();
        let seq = own(event).and_then(|own| own.get("seq")).and_then(Value::as_u64);
        let begin = &mut self.begin;
        let stream = self
            .streams
            .entry(run_of(event).to_owned())
            .or_insert_with(|| Stream::new(run_of(event), seq, &begin.next_stream()));
        stream.event(kind, seq, event, findings);
    }

    fn resume(&mut self, after: Option<&str>) -> Result<(), String> {
        self.begin = Begin::numbered(after)?;
        Ok(())
    }

    fn end(&mut self, findings: &mut Vec<Finding>) {
        self.streams.values().for_each(|stream| stream.end(findings));
    }

    fn stream<'e>(&self, event: &'e Value) -> &'e str {
        run_of(event)
    }

    fn reports_withheld(&self, event: &Value) -> bool {
        withheld::is_notice(event)
    }

    fn cursor_key(&self) -> Option<&'static str> {
        Some(CURSOR)
    }
}
