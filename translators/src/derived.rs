//! Ids that are derived from names: UUIDs of version 5 (RFC 9562, section 5.5), so that a replay gives them again.
//!
//! In: a namespace and a name. Out: the id. Never: anything random. Each frame has such an id, so the digest is taken by a
//! crate that uses the processor's own SHA-1 where it has one.

use sha1::{Digest, Sha1};
use uuid::{Builder, Uuid};

/// The id of `name` within `namespace`.
pub(crate) fn uuid_v5(namespace: &Uuid, name: &[u8]) -> Uuid {
    of(Sha1::new().chain_update(namespace.as_bytes()).chain_update(name))
}

/// The id of the name that is `prefix` and a number in decimal.
pub(crate) fn numbered(namespace: &Uuid, prefix: &str, number: u64) -> Uuid {
    let mut block = [0; BLOCK];
    let mut end = 0;
    for piece in [namespace.as_bytes(), prefix.as_bytes(), decimal(number, &mut [0; 20])] {
        let Some(room) = block.get_mut(end..end + piece.len()).filter(|_| end + piece.len() <= LONGEST) else {
            return uuid_v5(namespace, format!("{prefix}{number}").as_bytes());
        };
        room.copy_from_slice(piece);
        end += piece.len();
    }
    of_block(block, end)
}

/// What one round of the digest takes, in bytes.
const BLOCK: usize = 64;

/// How long a text is at most of which one block holds all, with the mark of its end and its length behind it.
const LONGEST: usize = BLOCK - 9;

/// The id of a text of so many bytes at the front of a block that is empty otherwise: the digest in one round, without the
/// buffers that longer texts need (FIPS 180-4, sections 5.1.1 and 6.1).
fn of_block(mut block: [u8; BLOCK], length: usize) -> Uuid {
    if let Some(mark) = block.get_mut(length) {
        *mark = 0x80;
    }
    if let Some(bits) = block.last_chunk_mut::<8>() {
        *bits = (length as u64 * 8).to_be_bytes();
    }
    let mut state: [u32; 5] = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0];
    sha1::compress(&mut state, &[block.into()]);
    let [a, b, c, d, _] = state.map(u128::from);
    Builder::from_sha1_bytes((a << 96 | b << 64 | c << 32 | d).to_be_bytes()).into_uuid()
}

fn of(digest: Sha1) -> Uuid {
    let digest = digest.finalize();
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
    Builder::from_sha1_bytes(bytes).into_uuid()
}

/// Writes `value` in decimal without allocating.
fn decimal(value: u64, digits: &mut [u8; 20]) -> &[u8] {
    let mut rest = value;
    let mut start = digits.len();
    for (at, slot) in digits.iter_mut().enumerate().rev() {
        *slot = b'0' + (rest % 10) as u8;
        rest /= 10;
        start = at;
        if rest == 0 {
            break;
        }
    }
    digits.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_rfc() {
        let id = uuid_v5(&Uuid::NAMESPACE_DNS, b"www.example.com");
        assert_eq!(id.to_string(), "2ed6657d-e927-568b-95e1-2665a8aea6a2");
    }

    #[test]
    fn decimal_is_the_usual_spelling() {
        for value in [0, 7, 10, 99, 100, 12_345, u64::MAX] {
            assert_eq!(decimal(value, &mut [0; 20]), value.to_string().as_bytes());
        }
    }

    #[test]
    fn a_numbered_name_is_the_name_with_its_number() {
        // With the longest, one block holds no part of them; with others all, or all but the length behind it.
        let prefixes = (0..80).map(|length| "a-prefix/".chars().cycle().take(length).collect::<String>());
        for (prefix, number) in
            prefixes.flat_map(|prefix| [0, 7, 1234, u64::MAX].map(|number| (prefix.clone(), number)))
        {
            let name = format!("{prefix}{number}");
            let expected = uuid_v5(&Uuid::NAMESPACE_DNS, name.as_bytes());
            assert_eq!(numbered(&Uuid::NAMESPACE_DNS, &prefix, number), expected, "{name}");
        }
    }
}
