//! Splits units into records: the content of a line, a server-sent event or a document.
//!
//! Input: a [`Unit`]. Output: its records, at least one, and the parts that are not records. Never: a byte of the unit that
//! belongs to none of them (except blanks between values), or a copy of what can be borrowed.

use crate::frame::OVERSIZED;
use crate::framing::{Form, Unit};
use crate::json::{FirstValue, Json, Object, first_value};
use std::borrow::Cow;

/// One part of a unit.
#[derive(Debug)]
pub enum UnitPart<'p> {
    /// A JSON value.
    Value {
        /// The value.
        json: Json<'p>,
        /// Its fields, if it is an object.
        fields: Object<'p>,
        /// Its bytes within the unit.
        source: &'p [u8],
        /// Whether it is the whole content of the unit.
        whole: bool,
        /// Whether it is certainly on one line.
        on_one_line: bool,
        /// Whether it certainly has no escape.
        unescaped: bool,
        /// What is wrong with the bytes; invalid UTF-8 is read with replacement characters.
        broken: Option<&'p str>,
    },
    /// The end marker `[DONE]`.
    Done,
    /// Comments, and fields of an event stream without data.
    Rest,
    /// Not JSON.
    Invalid {
        /// Its bytes; only the beginning if it is too large.
        bytes: &'p [u8],
        /// What is wrong.
        error: String,
    },
}

/// Reads the parts of a unit.
pub fn read(unit: &Unit<'_>, sink: &mut dyn FnMut(UnitPart<'_>)) {
    if let Some(size) = unit.oversized {
        let error = format!(
            "record at byte {} has {size} bytes, {OVERSIZED}; its first {} are kept",
            unit.offset,
            unit.payload.len()
        );
        sink(UnitPart::Invalid { bytes: unit.payload, error });
        return;
    }
    if unit.form == Form::Rest {
        sink(UnitPart::Rest);
        return;
    }
    let (text, broken) = match simdutf8::basic::from_utf8(unit.payload) {
        Ok(text) => (Cow::Borrowed(text), None),
        Err(_) => {
            // The fast validator does not report the position.
            let valid = std::str::from_utf8(unit.payload).map_or_else(|error| error.valid_up_to(), str::len);
            let at = unit.offset + valid as u64;
            (String::from_utf8_lossy(unit.payload), Some(format!("invalid UTF-8 at byte {at}")))
        }
    };
    let is_stray = matches!(unit.form, Form::Stray | Form::Within);
    let broken = broken.or_else(|| is_stray.then(|| format!("line at byte {}: {STRAY}", unit.offset)));
    let body = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
    if !body.starts_with('{') && body.trim() == "[DONE]" {
        sink(UnitPart::Done);
        return;
    }
    values(unit, body, broken.as_deref(), sink);
}

/// The error of a line that is outside the events of its stream.
const STRAY: &str = "no field of an event stream; `data:` is missing before it";

/// Reads the values of one unit; each is a separate record.
fn values(unit: &Unit<'_>, body: &str, broken: Option<&str>, sink: &mut dyn FnMut(UnitPart<'_>)) {
    let mut rest = body;
    let mut first = true;
    loop {
        // The common case, in one pass: the unit is exactly one object.
        let (json, fields, (on_one_line, unescaped), tail) = match first_value(rest) {
            FirstValue::Blank if first => {
                sink(UnitPart::Invalid { bytes: unit.payload, error: "an empty record".to_owned() });
                return;
            }
            FirstValue::Blank => return,
            FirstValue::Value { json, fields, on_one_line, unescaped, rest } => {
                (json, fields, (on_one_line, unescaped), rest)
            }
            FirstValue::Invalid(error) => {
                let what = if unit.cut && error.is_eof() { "the input ended inside the record" } else { "not JSON" };
                let at = unit.offset + (body.len() - rest.len()) as u64;
                let bytes = if first { unit.payload } else { rest.as_bytes() };
                sink(UnitPart::Invalid { bytes, error: format!("{what} (record at byte {at}): {error}") });
                return;
            }
        };
        let whole = first && (tail.is_empty() || tail.trim().is_empty());
        let source =
            if whole { unit.payload } else { rest.get(..rest.len() - tail.len()).unwrap_or_default().as_bytes() };
        sink(UnitPart::Value { json, fields, source, whole, on_one_line, unescaped, broken });
        if whole {
            return;
        }
        rest = tail;
        first = false;
    }
}
