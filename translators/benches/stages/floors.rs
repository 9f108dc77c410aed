//! The floors for the stages: the least work that a program can do with the same records.
//!
//! Input: a recording. Output: lines. Never: anything checked or derived.

use super::{Counts, written};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Parses each record to a `serde_json::Value` and writes it back as text.
pub(crate) fn round_trip(input: &[u8], out: &mut Vec<u8>) -> Counts {
    each_record(input, out, |line, out| {
        let Ok(value) = serde_json::from_slice::<serde_json::Value>(line) else { return false };
        serde_json::to_writer(out, &value).unwrap();
        true
    })
}

/// A field of a record, as raw text.
type Raw<'a> = Option<&'a RawValue>;

/// One struct for the records of all runners, which borrows from the text. The fields that distinguish records are parsed,
/// their contents stay raw text, and all other fields are skipped.
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

/// Parses each record to a struct that borrows from it, and writes the struct as text.
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
