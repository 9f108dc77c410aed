//! Attributes of spans in the messages of OTLP.

use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::common::v1::{AnyValue, ArrayValue, KeyValue};

/// The longest name taken from a runner, in characters; longer names are truncated.
const NAME_CHARS: usize = 200;

/// A text.
pub(super) fn text(key: &str, value: impl Into<String>) -> KeyValue {
    attribute(key, Value::StringValue(value.into()))
}

/// A list of texts.
pub(super) fn texts(key: &str, values: impl IntoIterator<Item = String>) -> KeyValue {
    let values = values.into_iter().map(|text| AnyValue { value: Some(Value::StringValue(text)) }).collect();
    attribute(key, Value::ArrayValue(ArrayValue { values }))
}

/// A whole number.
pub(super) fn number(key: &str, value: i64) -> KeyValue {
    attribute(key, Value::IntValue(value))
}

/// A count, which is never as large as the largest number.
pub(super) fn count(key: &str, value: u64) -> KeyValue {
    number(key, i64::try_from(value).unwrap_or(i64::MAX))
}

/// True or false.
pub(super) fn truth(key: &str, value: bool) -> KeyValue {
    attribute(key, Value::BoolValue(value))
}

/// A name from a runner, up to the longest length.
pub(super) fn bounded(name: &str) -> String {
    name.chars().take(NAME_CHARS).collect()
}

fn attribute(key: &str, value: Value) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { value: Some(value) }), ..KeyValue::default() }
}
