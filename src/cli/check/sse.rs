//! Checks the lines around an event on an SSE stream: `id:` is the event's own cursor, and `event:` its type if the contract
//! requires that line.
//!
//! A wrong line is an error: a client would resume from the wrong position, or never see the event. A missing line is a
//! warning, since no contract's document requires it explicitly. So is a correct `event:` line if the contract's document leaves
//! the form of streams open.

use framegate_translators::contracts::{Contract, SseStyle};
use framegate_translators::encode::EventId;
use framegate_translators::event_kind::kind_in;
use framegate_translators::framing::Unit;
use framegate_translators::json::{Json, Object};
use framegate_translators::verify::{Finding, Severity};

/// The rules for one stream.
pub(super) struct SseRules {
    style: SseStyle,
    is_strict: bool,
    type_key: &'static str,
    cursor_key: Option<&'static str>,
    /// The type of the last event.
    kind: Option<String>,
}

impl SseRules {
    /// Creates the rules of a contract. With `is_strict`, framegate is the writer.
    pub(super) fn new(contract: &Contract, is_strict: bool) -> Self {
        Self {
            style: contract.sse,
            is_strict,
            type_key: contract.type_key,
            cursor_key: (contract.verifier)().cursor_key(),
            kind: None,
        }
    }

    /// The type of the last event that was checked.
    pub(super) fn kind(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    /// Checks an event and the lines around it. An event inside a wrapper may have the wrapper's name.
    pub(super) fn event(&mut self, unit: &Unit<'_>, text: &str, is_wrapped: bool) -> Vec<Finding> {
        self.kind = None;
        let mut findings = Vec::new();
        if unit.cut {
            let message = "the input ends before the blank line that completes an event: browsers discard the event";
            findings.push(Finding::error("sse.cut", "", message));
        }
        // An event that is not an object has already been reported.
        let Some(fields) = Json::parse(text).ok().and_then(Json::object) else { return findings };
        let kind = kind_in(self.type_key, &fields);
        self.kind = kind.as_ref().map(|kind| kind.chars().take(64).collect());
        let name = unit.event_name;
        // Of several places, the first one.
        let pointer = |key: &str| format!("/{}", key.split('|').next().unwrap_or_default().replace('.', "/"));
        let is_named = self.style == SseStyle::Named;
        let is_open = self.style == SseStyle::Open && !self.is_strict;
        match name {
            Some("message") if is_open => {}
            Some("event") if is_open && is_wrapped => {}
            Some(name) if (is_named || is_open) && kind.as_deref().is_some_and(|kind| kind != name) => {
                let message = format!("the event: line differs from the event's own {}", self.type_key);
                findings.push(Finding::error("sse.event", pointer(self.type_key), message));
            }
            None if is_named => {
                let message = format!("no event: line; it should repeat the event's own {}", self.type_key);
                findings.push(warning("sse.event", pointer(self.type_key), message));
            }
            Some("event") if is_wrapped => {}
            Some(name) if !is_named && name != "message" => {
                let message = "there is an event: line: clients that listen for plain messages never see this event";
                let severity = if is_open { Severity::Warning } else { Severity::Error };
                findings.push(Finding { severity, ..Finding::error("sse.event", "", message) });
            }
            _ => {}
        }
        let Some(key) = self.cursor_key else { return findings };
        let cursor = key.split('|').find_map(|place| nested(&fields, place)).map(|cursor| match cursor.str() {
            Some(text) => text.into_owned(),
            None => cursor.text().to_owned(),
        });
        match (id_of(unit.bytes), cursor) {
            (Some(id), Some(cursor)) if id != cursor.as_bytes() => {
                let message =
                    format!("the id: line differs from the event's own {key}: clients would resume from there");
                findings.push(Finding::error("sse.id", pointer(key), message));
            }
            // The last event of a run may have an id for the run's end.
            (Some(id), None) if std::str::from_utf8(id).is_ok_and(|id| EventId::closing(id).is_some()) => {}
            (Some(_), None) => {
                let message = format!("an id: line on an event without {key}: clients cannot resume from it");
                findings.push(Finding::error("sse.id", pointer(key), message));
            }
            (None, Some(_)) => {
                let message =
                    format!("no id: line; it should repeat the event's own {key}, so that clients can resume");
                findings.push(warning("sse.id", pointer(key), message));
            }
            _ => {}
        }
        findings
    }
}

/// The value of a field that is not null. Dots separate the keys of nested objects.
fn nested<'a>(fields: &Object<'a>, key: &str) -> Option<Json<'a>> {
    match key.split_once('.') {
        Some((outer, inner)) => nested(&fields.object(outer)?, inner),
        None => fields.some(key),
    }
}

fn warning(rule: &'static str, pointer: String, message: String) -> Finding {
    Finding::warning(rule, pointer, message)
}

/// The value of the last `id:` line. An id with a NUL is ignored, as the HTML standard requires.
fn id_of(block: &[u8]) -> Option<&[u8]> {
    let mut values = block.split(|&byte| byte == b'\n').filter_map(|line| {
        let value = line.strip_prefix(b"id")?;
        if value.is_empty() {
            return Some(value);
        }
        let value = value.strip_prefix(b":")?;
        Some(value.strip_prefix(b" ").unwrap_or(value))
    });
    values.rfind(|value| !value.contains(&0))
}
