//! What the stages are held against: the least that a program can do with the same records.
//!
//! In: a recording. Out: lines. Never: anything checked or derived.

use super::{Counts, written};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Each record to a `serde_json::Value` and back to text.
pub(crate) fn round_trip(input: &[u8], out: &mut Vec<u8>) -> Counts {
    each_record(input, out, |line, out| {
        let Ok(value) = serde_json::from_slice::<serde_json::Value>(line) else { return false };
        serde_json::to_writer(out, &value).unwrap();
        true
    })
}

/// A field of a record, as the text that it is.
type Raw<'a> = Option<&'a RawValue>;

/// The records of all runners as one struct that borrows from the text: what tells them apart is read, what they carry
/// stays the text that it is. What is not named here is stepped over.
#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct Typed<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    session_id: Raw<'a>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    timestamp: Raw<'a>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    message: Raw<'a>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    event: Raw<'a>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    params: Raw<'a>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    properties: Raw<'a>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    part: Raw<'a>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    item: Raw<'a>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    response: Raw<'a>,
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    delta: Raw<'a>,
}

/// Each record to a struct that borrows from it, and from that to the text of another.
pub(crate) fn typed(input: &[u8], out: &mut Vec<u8>) -> Counts {
    each_record(input, out, |line, out| {
        let Ok(record) = serde_json::from_slice::<Typed<'_>>(line) else { return false };
        serde_json::to_writer(out, &record).unwrap();
        true
    })
}

fn each_record(input: &[u8], out: &mut Vec<u8>, mut one: impl FnMut(&[u8], &mut Vec<u8>) -> bool) -> Counts {
    let mut counts = Counts::default();
    for line in input.split(|&byte| byte == b'\n') {
        let line = line.strip_prefix(b"data: ").unwrap_or(line);
        let before = out.len();
        if one(line, out) {
            out.push(b'\n');
            counts.events += 1;
            counts.bytes_out += written(out, before);
        }
    }
    counts
}
