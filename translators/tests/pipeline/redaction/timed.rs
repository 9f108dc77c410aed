//! Records that arrive at given times, and the output of the redaction stage alone.

use super::harness::RULES;
use framegate_translators::framing::{Form, Unit};
use framegate_translators::redact::{Order, Pieces, Redacted, Redactor};

const TABLE: &[Pieces] = &[Pieces { parent: &[], leaves: &[&["delta"]], above: &[], order: Order::Parallel }];

/// The payloads of the output, in order. Held records are released at their deadline, and all of them at the end.
pub fn redacted(records: &[(u64, String)]) -> Vec<String> {
    let mut redactor = Redactor::new(RULES.clone(), TABLE);
    let mut out = Vec::new();
    let mut sink = |redacted: Redacted<'_>| out.push(String::from_utf8(redacted.unit.payload.to_vec()).unwrap());
    for (now, record) in records {
        while let Some(due) = redactor.deadline().filter(|due| due <= now) {
            redactor.flush_due(due, &mut sink);
        }
        let bytes = record.as_bytes();
        let form = Form::Line;
        let unit = Unit { bytes, payload: bytes, event_name: None, offset: 0, oversized: None, cut: false, form };
        redactor.unit(&unit, *now, &mut sink);
    }
    redactor.flush(&mut sink);
    out
}
