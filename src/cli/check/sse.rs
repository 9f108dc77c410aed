//! How events stand on an SSE stream: `id:` is the event's own cursor, `event:` its type where the contract says so.
//!
//! A wrong line is an error: a client would go on from the wrong place, or never see the event. One that is left out is a
//! warning, since no contract's document asks for it in so many words.

use framegate_translators::contracts::{Contract, SseStyle};
use framegate_translators::framing::Unit;
use framegate_translators::json::Json;
use framegate_translators::verify::{Finding, Severity};

/// The rules of one stream.
pub(super) struct SseRules {
    named: bool,
    type_key: &'static str,
    cursor_key: Option<&'static str>,
    /// The type of the last event.
    kind: Option<String>,
}

impl SseRules {
    /// The rules of a contract.
    pub(super) fn new(contract: &Contract) -> Self {
        Self {
            named: contract.sse == SseStyle::Named,
            type_key: contract.type_key,
            cursor_key: (contract.verifier)().cursor_key(),
            kind: None,
        }
    }

    /// The type of the event that was looked at last.
    pub(super) fn kind(&self) -> Option<&str> {
        self.kind.as_deref()
    }

    /// Looks at an event and at the lines around it.
    pub(super) fn event(&mut self, unit: &Unit<'_>, text: &str) -> Vec<Finding> {
        self.kind = None;
        let mut findings = Vec::new();
        if unit.cut {
            let message = "the input ends before the blank line that ends an event: a browser drops it";
            findings.push(Finding::error("sse.cut", "", message));
        }
        // An event that is no object has its finding already.
        let Some(fields) = Json::parse(text).ok().and_then(Json::object) else { return findings };
        let kind = fields.str(self.type_key);
        self.kind = kind.as_ref().map(|kind| kind.chars().take(64).collect());
        let name = unit.event_name;
        let pointer = |key: &str| format!("/{key}");
        match name {
            Some(name) if self.named && kind.as_deref().is_some_and(|kind| kind != name) => {
                let message = format!("the event: line is not the event's own {}", self.type_key);
                findings.push(Finding::error("sse.event", pointer(self.type_key), message));
            }
            None if self.named => {
                let message = format!("no event: line; it repeats the event's own {}", self.type_key);
                findings.push(warning("sse.event", pointer(self.type_key), message));
            }
            Some(name) if !self.named && name != "message" => {
                let message = "an event: line: clients that listen to plain messages never see this event";
                findings.push(Finding::error("sse.event", "", message));
            }
            _ => {}
        }
        let Some(key) = self.cursor_key else { return findings };
        let cursor = fields.some(key).map(|cursor| match cursor.str() {
            Some(text) => text.into_owned(),
            None => cursor.text().to_owned(),
        });
        match (id_of(unit.bytes), cursor) {
            (Some(id), Some(cursor)) if id != cursor.as_bytes() => {
                let message = format!("the id: line is not the event's own {key}: clients would go on from there");
                findings.push(Finding::error("sse.id", pointer(key), message));
            }
            (Some(_), None) => {
                let message = format!("an id: line on an event without {key}: there is no place to go on from");
                findings.push(Finding::error("sse.id", pointer(key), message));
            }
            (None, Some(_)) => {
                let message = format!("no id: line; it repeats the event's own {key}, so that clients can go on");
                findings.push(warning("sse.id", pointer(key), message));
            }
            _ => {}
        }
        findings
    }
}

fn warning(rule: &'static str, pointer: String, message: String) -> Finding {
    Finding { rule, pointer, message, severity: Severity::Warning }
}

/// The value of the last `id:` line. One with a NUL counts as none, as the HTML standard has it.
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
