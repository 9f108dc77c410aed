//! The fields of a frame, with the type that its document gives them.
//!
//! Input: an object. Output: its fields, or the first one that is missing or has another type. An absent field that may be null
//! is null. Never: a default for a field that is required; an id refused because it is no UUID, which writers of v1 do not always use.

use crate::derived::uuid_v5;
use crate::frame::{RawJson, RecordErrors, SharedStr};
use crate::json::{Json, Kind, Object};
use crate::sequence::uuid_of;
use serde::de::DeserializeOwned;
use std::borrow::Cow;
use std::fmt;
use uuid::Uuid;

/// A field that is missing, or has another type.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) key: &'static str,
    pub(super) expected: &'static str,
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not a frame: {} must be {}", self.key, self.expected)
    }
}

/// The result of reading a part of a frame.
pub(super) type Read<T> = Result<T, Wrong>;

/// The fields of one object.
#[derive(Clone, Copy)]
pub(super) struct Fields<'r, 'a> {
    object: &'r Object<'a>,
    /// The stream of the frame; nil until it is known.
    stream: Uuid,
}

impl<'r, 'a> Fields<'r, 'a> {
    pub(super) fn new(object: &'r Object<'a>) -> Self {
        Self { object, stream: Uuid::nil() }
    }

    pub(super) fn in_stream(self, stream: Uuid) -> Self {
        Self { stream, ..self }
    }
    fn required<T>(&self, key: &'static str, expected: &'static str, read: impl Fn(Json<'a>) -> Option<T>) -> Read<T> {
        self.object.get(key).and_then(read).ok_or(Wrong { key, expected })
    }

    fn nullable<T>(
        &self,
        key: &'static str,
        expected: &'static str,
        read: impl Fn(Json<'a>) -> Option<T>,
    ) -> Read<Option<T>> {
        self.object.some(key).map(|value| read(value).ok_or(Wrong { key, expected })).transpose()
    }

    pub(super) fn text(&self, key: &'static str) -> Read<String> {
        self.required(key, "a string", |value| value.str().map(String::from))
    }

    pub(super) fn borrowed(&self, key: &'static str) -> Read<Cow<'a, str>> {
        self.required(key, "a string", Json::str)
    }

    pub(super) fn nullable_text(&self, key: &'static str) -> Read<Option<String>> {
        self.nullable(key, "a string or null", |value| value.str().map(String::from))
    }

    pub(super) fn name(&self, key: &'static str) -> Read<SharedStr> {
        self.required(key, "a string", |value| value.str().map(SharedStr::from))
    }

    /// A string that is not empty.
    pub(super) fn filled(&self, key: &'static str) -> Read<SharedStr> {
        self.required(key, "a string that is not empty", filled)
    }

    fn nullable_filled(&self, key: &'static str) -> Read<Option<SharedStr>> {
        self.nullable(key, "a string that is not empty, or null", filled)
    }

    pub(super) fn nullable_name(&self, key: &'static str) -> Read<Option<SharedStr>> {
        self.nullable(key, "a string or null", |value| value.str().map(SharedStr::from))
    }

    /// The id of a stream or a checkpoint. Another string has the UUID that is derived from it.
    pub(super) fn id(&self, key: &'static str) -> Read<Uuid> {
        Ok(uuid_of(&self.filled(key)?))
    }

    pub(super) fn nullable_id(&self, key: &'static str) -> Read<Option<Uuid>> {
        Ok(self.nullable_filled(key)?.map(|id| uuid_of(&id)))
    }

    /// The id of a call. Another string names a call of this stream only.
    pub(super) fn tool_id(&self, key: &'static str) -> Read<Uuid> {
        Ok(self.of_call(&self.filled(key)?))
    }

    pub(super) fn nullable_tool_id(&self, key: &'static str) -> Read<Option<Uuid>> {
        Ok(self.nullable_filled(key)?.map(|id| self.of_call(&id)))
    }

    fn of_call(&self, id: &str) -> Uuid {
        Uuid::try_parse(id).unwrap_or_else(|_| uuid_v5(&self.stream, id.as_bytes()))
    }

    pub(super) fn number<T: TryFrom<u64>>(&self, key: &'static str) -> Read<T> {
        self.required(key, "a non-negative integer in range", |value| T::try_from(value.u64()?).ok())
    }

    pub(super) fn nullable_number<T: TryFrom<u64>>(&self, key: &'static str) -> Read<Option<T>> {
        self.nullable(key, "a non-negative integer in range, or null", |value| T::try_from(value.u64()?).ok())
    }

    pub(super) fn exit_code(&self, key: &'static str) -> Read<i32> {
        self.required(key, "a 32-bit integer", |value| i32::try_from(value.i64()?).ok())
    }

    pub(super) fn nullable_exit_code(&self, key: &'static str) -> Read<Option<i32>> {
        self.nullable(key, "a 32-bit integer or null", |value| i32::try_from(value.i64()?).ok())
    }

    pub(super) fn nullable_decimal(&self, key: &'static str) -> Read<Option<f64>> {
        let read = |value: Json<'a>| value.f64().filter(|number| number.is_finite() && *number >= 0.0);
        self.nullable(key, "a non-negative number or null", read)
    }

    pub(super) fn flag(&self, key: &'static str) -> Read<bool> {
        self.required(key, "a boolean", Json::bool)
    }

    /// Arguments: an object, or a string where the model's arguments were none.
    pub(super) fn args(&self, key: &'static str) -> Read<RawJson> {
        self.required(key, "an object or a string", |value| is_args(value).then(|| value.to_raw()))
    }

    /// Arguments; `None` if they are null.
    pub(super) fn nullable_args(&self, key: &'static str) -> Read<Option<RawJson>> {
        self.nullable(key, "an object, a string or null", |value| is_args(value).then(|| value.to_raw()))
    }

    /// An object as it came.
    pub(super) fn record(&self, key: &'static str) -> Read<RawJson> {
        self.required(key, "an object", |value| is_object(value).then(|| value.to_raw()))
    }

    /// An object as it came; `None` if it is null.
    pub(super) fn nullable_record(&self, key: &'static str) -> Read<Option<RawJson>> {
        self.nullable(key, "an object or null", |value| is_object(value).then(|| value.to_raw()))
    }

    /// One of the words of an enumeration.
    pub(super) fn word<T: DeserializeOwned>(&self, key: &'static str, expected: &'static str) -> Read<T> {
        self.required(key, expected, |value| serde_json::from_str(value.text()).ok())
    }

    /// Whatever the stored form of the field's type accepts.
    pub(super) fn whole<T: DeserializeOwned>(&self, key: &'static str, expected: &'static str) -> Read<T> {
        self.word(key, expected)
    }

    pub(super) fn nullable_whole<T: DeserializeOwned>(
        &self,
        key: &'static str,
        expected: &'static str,
    ) -> Read<Option<T>> {
        self.nullable(key, expected, |value| serde_json::from_str(value.text()).ok())
    }

    pub(super) fn texts(&self, key: &'static str) -> Read<Vec<String>> {
        self.whole(key, "a list of strings")
    }

    pub(super) fn nullable_texts(&self, key: &'static str) -> Read<Option<Vec<String>>> {
        self.nullable(key, "a list of strings or null", |value| serde_json::from_str(value.text()).ok())
    }

    pub(super) fn errors(&self, key: &'static str) -> Read<RecordErrors> {
        Ok(self.nullable_texts(key)?.unwrap_or_default().into())
    }

    /// A list of objects.
    pub(super) fn list<T>(&self, key: &'static str, read: impl Fn(Fields<'_, 'a>) -> Read<T>) -> Read<Vec<T>> {
        let items =
            self.required(key, "a list of objects", |value| value.text().starts_with('[').then(|| value.items()))?;
        items
            .into_iter()
            .map(|item| {
                let object = item.object().ok_or(Wrong { key, expected: "a list of objects" })?;
                read(Fields { object: &object, stream: self.stream })
            })
            .collect()
    }

    pub(super) fn object<T>(&self, key: &'static str, read: impl Fn(Fields<'_, 'a>) -> Read<T>) -> Read<Option<T>> {
        match self.nullable(key, "an object or null", Json::object)? {
            Some(object) => read(Fields { object: &object, stream: self.stream }).map(Some),
            None => Ok(None),
        }
    }
}

fn filled(value: Json<'_>) -> Option<SharedStr> {
    value.str().filter(|text| !text.is_empty()).map(SharedStr::from)
}

fn is_object(value: Json<'_>) -> bool {
    value.kind() == Kind::Object
}

fn is_args(value: Json<'_>) -> bool {
    is_object(value) || value.kind() == Kind::String
}
