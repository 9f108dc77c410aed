//! Compares short texts and the types of values without function calls or unpredictable branches.
//!
//! Input: texts of keys and values. Output: whether they are equal, or of which type they are. Never: an allocation.

use crate::json::Json;
use crate::schema::rules::{ARRAY, BOOLEAN, FRACTION, INTEGER, NULL, OBJECT, STRING, is_integer};

/// Every number, as long as its text is not inspected.
const NUMBER: u8 = INTEGER | FRACTION;

/// A value's type as a bit. A number has two bits, because only its text tells whether it is an integer.
pub(super) fn type_of(value: Json<'_>) -> u8 {
    // The next type is unpredictable, so a table lookup is used instead of branches.
    #[allow(clippy::indexing_slicing, reason = "a byte is always in it, and it is made when this is compiled")]
    const TYPES: [u8; 256] = {
        let mut types = [NUMBER; 256];
        types[b'n' as usize] = NULL;
        types[b't' as usize] = BOOLEAN;
        types[b'f' as usize] = BOOLEAN;
        types[b'"' as usize] = STRING;
        types[b'[' as usize] = ARRAY;
        types[b'{' as usize] = OBJECT;
        types
    };
    let first = value.text().as_bytes().first();
    first.and_then(|first| TYPES.get(usize::from(*first))).copied().unwrap_or(NULL)
}

/// A value's type as exactly one bit.
pub(super) fn exact_type_of(value: Json<'_>) -> u8 {
    match type_of(value) {
        NUMBER if is_integer(value.text()) => INTEGER,
        NUMBER => FRACTION,
        other => other,
    }
}

/// Whether a value is of one of these types.
pub(super) fn is_of(types: u8, value: Json<'_>) -> bool {
    let of = type_of(value);
    let common = types & of;
    common == of || (common != 0 && common == exact_type_of(value))
}

/// The first and last bytes of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    front: u64,
    back: u64,
}

impl Ends {
    /// Two texts of the same length, up to this many bytes, are equal if their ends are equal.
    pub(super) const WHOLE: usize = 16;

    pub(super) fn of(text: &str) -> Self {
        match (text.as_bytes().first_chunk(), text.as_bytes().last_chunk()) {
            (Some(front), Some(back)) => Self { front: u64::from_le_bytes(*front), back: u64::from_le_bytes(*back) },
            _ => Self { front: word(text.as_bytes()), back: 0 },
        }
    }
}

/// Whether two texts are equal.
pub(super) fn same(one: &str, other: &str) -> bool {
    let chunks = |text| <str>::as_bytes(text).as_chunks::<8>().0;
    one.len() == other.len()
        && Ends::of(one) == Ends::of(other)
        && chunks(one).iter().zip(chunks(other)).skip(1).all(|(one, other)| one == other)
}

/// Packs fewer than eight bytes into a word.
fn word(text: &[u8]) -> u64 {
    match (text.first_chunk(), text.last_chunk()) {
        // The two chunks overlap if there are fewer than eight bytes.
        (Some(first), Some(last)) => {
            let behind = (text.len() - 4) * 8;
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << behind
        }
        _ => match *text {
            [one, two, three] => u64::from(u32::from_le_bytes([one, two, three, 0])),
            [one, two] => u64::from(u16::from_le_bytes([one, two])),
            [one] => u64::from(one),
            _ => 0,
        },
    }
}
