//! The stored form of frames: JSON, one object for each frame's body, externally tagged by its type in snake case:
//! `{"tool_ended":{"tool":{"id":…,"call_id":…},"exit_code":0,"duration_ms":12,"artifacts":null}}`.
//!
//! Input: a frame, or the bytes that one was written to. Output: the other one. Payloads that arrived as JSON (`args`, `data`,
//! `opaque`) are stored as their original text: key order, number spelling, duplicate keys and lone surrogates are preserved.
//! Bytes (`raw`, `block`) are a string if they are UTF-8, otherwise `{"hex":"…"}`.
//!
//! The reader accepts only what this version or an older one wrote. An unknown type or field is an error, because a frame that
//! was read without a part of it would also be served without it. Older versions did not write newer fields, so every added
//! field is an `Option` or has a default; tests read frames of every version from a file. Never: a wire form. Clients get
//! theirs from a contract.

use super::{Body, Frame, Provider, Session, Stream, StreamKind};
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::fmt;
use std::sync::Arc;
use uuid::Uuid;

/// The version of the stored form. It is raised when an older reader could misread the new form.
pub const VERSION: u32 = 1;

/// Why bytes cannot be read as a stored frame.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoredError {
    /// The text is not a stored frame; the parser's message has the position.
    Json(serde_json::Error),
    /// A later version wrote it.
    Version(u32),
    /// No known runner has this `provider`.
    Provider {
        /// The stored name.
        name: String,
        /// Those that are known.
        known: Vec<&'static str>,
    },
}

impl fmt::Display for StoredError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => write!(f, "not a stored frame: {error}"),
            Self::Version(version) => {
                write!(f, "stored by a later version (form {version}; this version reads forms up to {VERSION})")
            }
            Self::Provider { name, known } => write!(f, "unknown provider {name:?} (known: {})", known.join(", ")),
        }
    }
}

impl std::error::Error for StoredError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Json(error) => Some(error),
            Self::Version(_) | Self::Provider { .. } => None,
        }
    }
}

impl From<serde_json::Error> for StoredError {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}

/// Appends the stored form of a body.
pub fn write_body(body: &Body, out: &mut Vec<u8>) {
    let start = out.len();
    // Writing to memory cannot fail, and all our maps have string keys.
    if serde_json::to_writer(&mut *out, body).is_err() {
        out.truncate(start);
        return;
    }
    if let Body::ProviderEvent(record) = body
        && let Some(data) = &record.data
    {
        // The object in `{"provider_event":{…}}` is never empty, so the record's text can be appended as its last field.
        out.truncate(out.len().saturating_sub(2));
        out.extend_from_slice(b",\"data\":");
        out.extend_from_slice(data.as_bytes());
        out.extend_from_slice(b"}}");
    }
}

/// Appends the stored form of what a frame adds to its position: its body, followed by its given id if it has one
/// (`{"tool_ended":{…},"id":"…"}`).
pub fn write_content(frame: &Frame, out: &mut Vec<u8>) {
    write_body(&frame.body, out);
    if let Some(id) = frame.given_id {
        out.pop();
        out.extend_from_slice(GIVEN_ID.as_bytes());
        out.extend_from_slice(id.hyphenated().encode_lower(&mut Uuid::encode_buffer()).as_bytes());
        out.extend_from_slice(b"\"}");
    }
}

/// Reads what [`write_content`] wrote: the given id and the body.
///
/// # Errors
/// [`StoredError::Json`] if the bytes are not a stored body, with the position.
pub fn read_content(bytes: &[u8]) -> Result<(Option<Uuid>, Body), StoredError> {
    // A body alone ends with two braces.
    let given = bytes.strip_suffix(b"\"}").and_then(|rest| {
        let (rest, id) = rest.split_at_checked(rest.len().checked_sub(uuid::fmt::Hyphenated::LENGTH)?)?;
        Some((rest.strip_suffix(GIVEN_ID.as_bytes())?, Uuid::try_parse_ascii(id).ok()?))
    });
    match given {
        None => Ok((None, read_body(bytes)?)),
        Some((body, id)) => Ok((Some(id), read_body(&[body, b"}"].concat())?)),
    }
}

/// What is between a body and its given id.
const GIVEN_ID: &str = ",\"id\":\"";

/// Reads a body.
///
/// # Errors
/// [`StoredError::Json`] if the bytes are not a stored body, with the position.
pub fn read_body(bytes: &[u8]) -> Result<Body, StoredError> {
    Ok(serde_json::from_slice(bytes)?)
}

/// Appends a frame and its stream's header as one line of JSON with its line end: the format of `framegate log export`.
pub fn write_frame(frame: &Frame, out: &mut Vec<u8>) {
    let line = Line::<()> {
        v: VERSION,
        stream: Header::of(&frame.stream),
        seq: frame.seq,
        timestamp_ms: frame.timestamp_ms,
        parent_tool_id: frame.parent_tool_id,
        id: frame.given_id,
        body: (),
    };
    let start = out.len();
    if serde_json::to_writer(&mut *out, &line).is_err() {
        out.truncate(start);
        return;
    }
    out.truncate(out.len().saturating_sub(1));
    out.extend_from_slice(b",\"body\":");
    write_body(&frame.body, out);
    out.extend_from_slice(b"}\n");
}

/// Reads a frame that [`write_frame`] wrote, of one of the `known` providers. The line end is optional.
pub fn read_frame(line: &[u8], known: &[Provider]) -> Result<Frame, StoredError> {
    #[derive(Deserialize)]
    struct Version {
        v: u32,
    }
    // A later version may have any fields, so check the version first.
    let Version { v } = serde_json::from_slice(line)?;
    if v > VERSION {
        return Err(StoredError::Version(v));
    }
    let line: Line<Body> = serde_json::from_slice(line)?;
    Ok(Frame {
        stream: Arc::new(line.stream.into_stream(known)?),
        seq: line.seq,
        timestamp_ms: line.timestamp_ms,
        parent_tool_id: line.parent_tool_id,
        given_id: line.id,
        body: line.body,
    })
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<B> {
    v: u32,
    stream: Header,
    seq: u64,
    timestamp_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_tool_id: Option<Uuid>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<Uuid>,
    #[serde(skip_serializing)]
    body: B,
}

/// A stream's properties in their stored form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The wire value of the [`StreamKind`].
    pub kind: String,
    /// The stream.
    pub id: Uuid,
    /// Its session.
    pub session_id: Uuid,
    /// The session in the runner's spelling; "" if the runner never named it.
    pub session_name: String,
    /// The run that started a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin_run: Option<Uuid>,
    /// The runner's name.
    pub provider: String,
}

impl Header {
    /// The stored form of a stream's properties.
    pub fn of(stream: &Stream) -> Self {
        Self {
            kind: stream.kind.as_str().to_owned(),
            id: stream.id,
            session_id: stream.session.id,
            session_name: stream.session.name.to_string(),
            origin_run: stream.origin_run,
            provider: stream.provider.name.to_owned(),
        }
    }

    /// Converts it back to the stream, of one of the `known` providers.
    ///
    /// # Errors
    /// [`StoredError`] if the kind or the provider is unknown.
    pub fn into_stream(self, known: &[Provider]) -> Result<Stream, StoredError> {
        let kind = StreamKind::ALL.into_iter().find(|kind| kind.as_str() == self.kind);
        let kind = kind.ok_or_else(|| serde_json::Error::custom(format!("unknown stream kind {:?}", self.kind)))?;
        let provider = known.iter().find(|known| known.name == self.provider).copied();
        let unknown = || StoredError::Provider {
            name: self.provider.clone(),
            known: known.iter().map(|known| known.name).collect(),
        };
        let provider = provider.ok_or_else(unknown)?;
        Ok(Stream {
            kind,
            id: self.id,
            session: Arc::new(Session { id: self.session_id, name: Arc::from(self.session_name) }),
            origin_run: self.origin_run,
            provider,
        })
    }
}

/// Reads a JSON value as text.
pub(super) fn json_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<str>>, D::Error> {
    // Do not deserialise an `Option`: `null` is a value too.
    Box::<RawValue>::deserialize(deserializer).map(|value| Some(value.into()))
}

/// Bytes: a string if they are UTF-8, otherwise `{"hex":"…"}`.
pub(super) mod bytes {
    use super::{Deserializer, Hex, MapAccess, Serialize, Serializer, Visitor, fmt};
    use serde::de::Error;

    type Bytes = Option<Box<[u8]>>;

    pub(in super::super) fn serialize<S: Serializer>(bytes: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
        match bytes.as_deref().map(|bytes| (bytes, std::str::from_utf8(bytes))) {
            None => serializer.serialize_none(),
            Some((_, Ok(text))) => serializer.serialize_str(text),
            Some((bytes, Err(_))) => {
                let hex = bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut hex, byte| {
                    hex.extend([byte >> 4, byte & 15].map(|half| char::from_digit(half.into(), 16).unwrap_or('0')));
                    hex
                });
                Hex { hex }.serialize(serializer)
            }
        }
    }

    pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        deserializer.deserialize_any(BytesVisitor)
    }

    struct BytesVisitor;

    impl<'de> Visitor<'de> for BytesVisitor {
        type Value = Bytes;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a string, or an object with the bytes under \"hex\"")
        }

        fn visit_unit<E: Error>(self) -> Result<Bytes, E> {
            Ok(None)
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<Bytes, E> {
            Ok(Some(text.as_bytes().into()))
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Bytes, A::Error> {
            let (Some(("hex", hex)), None) =
                (map.next_entry::<&str, std::borrow::Cow<'de, str>>()?, map.next_key::<&str>()?)
            else {
                return Err(A::Error::custom("expected exactly one field, \"hex\""));
            };
            unhex(&hex).map(Some).ok_or_else(|| A::Error::custom("\"hex\" must consist of hexadecimal bytes"))
        }
    }

    fn unhex(hex: &str) -> Option<Box<[u8]>> {
        let (pairs, []) = hex.as_bytes().as_chunks::<2>() else { return None };
        let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
    }
}

#[derive(Serialize)]
struct Hex {
    hex: String,
}
