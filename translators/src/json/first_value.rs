//! Reads the first value of a text that may hold several JSON values.
//!
//! Input: text. Output: the first value, fully checked and parsed if it is an object, and the remaining text. An error is the
//! ordinary parser's, with its line and column.

use super::{Json, Object, check};
use serde_json::value::RawValue;

/// What a text begins with.
#[derive(Debug)]
pub enum FirstValue<'a> {
    /// A JSON value.
    Value {
        /// The value.
        json: Json<'a>,
        /// Its fields, if it is an object.
        fields: Object<'a>,
        /// Whether it is certainly on one line.
        on_one_line: bool,
        /// Whether it certainly has no escape.
        unescaped: bool,
        /// The remaining text.
        rest: &'a str,
    },
    /// Only white space.
    Blank,
    /// Not JSON, with the parser's message.
    Invalid(serde_json::Error),
}

/// Reads one JSON value from the start of `text`; more text may follow it.
pub fn first_value(text: &str) -> FirstValue<'_> {
    let text = text.trim_start_matches([' ', '\n', '\r', '\t']);
    if text.starts_with('{') {
        // The common case: checked and parsed in one pass.
        if let Some(check::Apart { fields, length, on_one_line, unescaped }) = check::object(text) {
            let (whole, rest) = text.split_at(length);
            let (json, fields) = (Json(whole), Object::of(fields));
            return FirstValue::Value { json, fields, on_one_line, unescaped, rest };
        }
    }
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    match stream.next() {
        None => FirstValue::Blank,
        Some(Ok(raw)) => {
            let json = Json::new(raw);
            let rest = text.get(stream.byte_offset()..).unwrap_or_default();
            let fields = json.object().unwrap_or_default();
            FirstValue::Value { json, fields, on_one_line: false, unescaped: false, rest }
        }
        Some(Err(error)) => FirstValue::Invalid(error),
    }
}
