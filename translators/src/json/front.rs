//! The front of a text that may hold several JSON values.
//!
//! In: text. Out: the value it begins with, checked whole and, where it is an object, taken apart; and what stands behind
//! it. A fault goes out in the ordinary parser's words, with its line and column.

use super::{Json, Object, check};
use serde_json::value::RawValue;

/// What stands at the front of a text.
#[derive(Debug)]
pub enum Front<'a> {
    /// A JSON value.
    Value {
        /// The value.
        json: Json<'a>,
        /// Its fields, where it is an object.
        fields: Object<'a>,
        /// Whether it surely stands on one line.
        on_one_line: bool,
        /// The text behind it.
        rest: &'a str,
    },
    /// Only white space.
    Blank,
    /// No JSON; the parser's message.
    Invalid(serde_json::Error),
}

/// Reads one JSON value from the front of `text`, which may hold more behind it.
pub fn front(text: &str) -> Front<'_> {
    let text = text.trim_start_matches([' ', '\n', '\r', '\t']);
    if text.starts_with('{') {
        // The usual case: checked and taken apart in one pass.
        if let Some(check::Apart { fields, length, on_one_line }) = check::object(text) {
            let (whole, rest) = text.split_at(length);
            return Front::Value { json: Json(whole), fields: Object::of(fields), on_one_line, rest };
        }
    }
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    match stream.next() {
        None => Front::Blank,
        Some(Ok(raw)) => {
            let json = Json::new(raw);
            let rest = text.get(stream.byte_offset()..).unwrap_or_default();
            Front::Value { json, fields: json.object().unwrap_or_default(), on_one_line: false, rest }
        }
        Some(Err(error)) => Front::Invalid(error),
    }
}
