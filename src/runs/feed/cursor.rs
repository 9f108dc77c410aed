//! Cursors of a feed: a sealed position among all frames.
//!
//! Input: a position and the index of one of its events, with the log's key. Output: 40 hex digits, always the same for the
//! same position; and back. Never: a cursor that reveals how many frames others made, or a cursor of another log accepted as
//! one of this log.
//!
//! The seal is of the SIV kind: a tag of the position under one part of the key, and the position masked with a stream derived
//! from the tag under another part. The PRF is SHA-256 over the key, a label for the purpose, and a message of fixed length.

use super::NoCursor;
use sha2::{Digest, Sha256};

/// Length of the position: 8 bytes for the frame, 4 for the event.
const PLACE: usize = 12;

/// Length of the tag, which precedes the position.
const TAG: usize = 8;

/// The key of a log's cursors.
pub(super) struct Seal([u8; 32]);

impl std::fmt::Debug for Seal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Seal")
    }
}

impl Seal {
    pub(super) fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// The cursor of an event.
    pub(super) fn seal(&self, frame: u64, nth: u32) -> String {
        let mut place = [0; PLACE];
        place
            .iter_mut()
            .zip(frame.to_be_bytes().into_iter().chain(nth.to_be_bytes()))
            .for_each(|(to, from)| *to = from);
        let tag: [u8; TAG] = first(&self.prf(b"tag", &place));
        let stream: [u8; PLACE] = first(&self.prf(b"stream", &tag));
        let hidden = place.iter().zip(stream).map(|(byte, mask)| byte ^ mask);
        let mut text = String::with_capacity(2 * (TAG + PLACE));
        for byte in tag.into_iter().chain(hidden) {
            for half in [byte >> 4, byte & 15] {
                text.push(char::from_digit(u32::from(half), 16).unwrap_or('0'));
            }
        }
        text
    }

    /// The position that a cursor names; `None` if the cursor is from another log.
    pub(super) fn open(&self, cursor: &str) -> Result<Option<(u64, u32)>, NoCursor> {
        let bytes = match unhex(cursor) {
            Some(bytes) => bytes,
            // The form of earlier versions, which was valid for one process only.
            None if is_of_a_process(cursor) => return Ok(None),
            None => return Err(NoCursor),
        };
        let (tag, hidden): ([u8; TAG], [u8; PLACE]) = (first(&bytes), first(bytes.get(TAG..).unwrap_or_default()));
        let stream: [u8; PLACE] = first(&self.prf(b"stream", &tag));
        let mut place = hidden;
        place.iter_mut().zip(stream).for_each(|(byte, mask)| *byte ^= mask);
        if first::<TAG>(&self.prf(b"tag", &place)) != tag {
            return Ok(None);
        }
        let frame = u64::from_be_bytes(first(&place));
        Ok(Some((frame, u32::from_be_bytes(first(place.get(8..).unwrap_or_default())))))
    }

    fn prf(&self, what_for: &[u8], message: &[u8]) -> [u8; 32] {
        Sha256::new().chain_update(self.0).chain_update(what_for).chain_update(message).finalize().into()
    }
}

/// The first `N` bytes; zeros for missing ones.
fn first<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    out
}

fn unhex(text: &str) -> Option<[u8; TAG + PLACE]> {
    if text.len() != 2 * (TAG + PLACE) {
        return None;
    }
    let mut out = [0; TAG + PLACE];
    for (byte, pair) in out.iter_mut().zip(text.as_bytes().chunks(2)) {
        let digit = |at: usize| pair.get(at).and_then(|digit| char::from(*digit).to_digit(16));
        *byte = u8::try_from(digit(0)? * 16 + digit(1)?).ok()?;
    }
    Some(out)
}

fn is_of_a_process(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    matches!(parts[..], [epoch, frame, nth] if epoch.len() == 12
        && epoch.chars().all(|digit| digit.is_ascii_hexdigit())
        && frame.parse::<u64>().is_ok() && nth.parse::<u32>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_opened_only_by_its_own_log_and_reveals_no_order() {
        let (seal, other) = (Seal::new([1; 32]), Seal::new([2; 32]));
        let places = [(0, 0), (1, 0), (1, 1), (2, 0), (u64::MAX, u32::MAX)];
        let cursors: Vec<String> = places.iter().map(|(frame, nth)| seal.seal(*frame, *nth)).collect();
        for (place, cursor) in places.iter().zip(&cursors) {
            assert_eq!(cursor.len(), 40);
            assert_eq!(seal.open(cursor), Ok(Some(*place)));
            assert_eq!(seal.open(&cursor.to_uppercase()), Ok(Some(*place)));
            assert_eq!(other.open(cursor), Ok(None));
            assert_eq!(&seal.seal(place.0, place.1), cursor);
        }
        // Neighbouring cursors have no more in common than any other two.
        for (one, next) in cursors.iter().zip(&cursors[1..]) {
            let same = one.bytes().zip(next.bytes()).filter(|(one, next)| one == next).count();
            assert!(same < 16, "{one} {next}");
        }
    }

    #[test]
    fn invalid_cursors_and_cursors_of_another_log_are_distinguished() {
        let seal = Seal::new([1; 32]);
        let changed = seal.seal(7, 0).replacen(|_: char| true, "x", 1);
        for text in
            ["", "nonsense", "1-2-3", "0123456789ab-x-0", &"0".repeat(39), &changed, "0123456789ab-1-2-3", "é-é"]
        {
            assert_eq!(seal.open(text), Err(NoCursor), "{text}");
        }
        for text in ["0123456789ab-5-0", &"0".repeat(40)] {
            assert_eq!(seal.open(text), Ok(None), "{text}");
        }
    }
}
