//! Ids derived from names: version 5 UUIDs (RFC 9562, section 5.5), so that a replay produces the same ids.
//!
//! Input: a namespace and a name. Output: the id. Never: randomness. Each frame has such an id, so the hash is computed by a
//! crate that uses the processor's SHA-1 instructions if available.

use sha1::{Digest, Sha1};
use uuid::{Builder, Uuid};

/// The id of `name` within `namespace`.
pub(crate) fn uuid_v5(namespace: &Uuid, name: &[u8]) -> Uuid {
    let short = in_one_block([namespace.as_bytes(), name]);
    short.unwrap_or_else(|| of(Sha1::new().chain_update(namespace.as_bytes()).chain_update(name)))
}

/// The id of the name formed by `prefix` and a decimal number.
pub(crate) fn numbered(namespace: &Uuid, prefix: &str, number: u64) -> Uuid {
    let short = in_one_block([namespace.as_bytes(), prefix.as_bytes(), decimal(number, &mut [0; 20])]);
    short.unwrap_or_else(|| uuid_v5(namespace, format!("{prefix}{number}").as_bytes()))
}

/// The id of the name that is only a decimal number, as all frames have it. It always fits into one block.
pub(crate) fn of_number(namespace: &Uuid, number: u64) -> Uuid {
    let mut block = [0; BLOCK];
    let mut end = 0;
    if let Some((front, digits)) = block.split_first_chunk_mut() {
        *front = *namespace.as_bytes();
        end = front.len() + write_decimal(number, digits);
    }
    of_block(block, end)
}

/// The id of a message of these pieces; `None` if it does not fit into one block.
fn in_one_block<const PIECES: usize>(pieces: [&[u8]; PIECES]) -> Option<Uuid> {
    let mut block = [0; BLOCK];
    let mut end = 0;
    for piece in pieces {
        block.get_mut(end..end + piece.len()).filter(|_| end + piece.len() <= LONGEST)?.copy_from_slice(piece);
        end += piece.len();
    }
    Some(of_block(block, end))
}

/// The block size of the hash in bytes.
const BLOCK: usize = 64;

/// Maximum length of a message that fits into one block with its end mark and length.
const LONGEST: usize = BLOCK - 9;

/// The id of a message of `length` bytes at the start of an otherwise zeroed block. It computes the hash in one round, without
/// the buffers that longer messages need (FIPS 180-4, sections 5.1.1 and 6.1).
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
    let size = write_decimal(value, digits);
    digits.get(..size).unwrap_or_default()
}

/// Writes `value` in decimal at the start of `place`, which has room for it. Returns the number of digits.
fn write_decimal(value: u64, place: &mut [u8]) -> usize {
    let size = value.checked_ilog10().unwrap_or_default() as usize + 1;
    let mut rest = value;
    for slot in place.iter_mut().take(size).rev() {
        *slot = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    size
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
    fn an_id_does_not_depend_on_the_number_of_blocks() {
        for length in 0..80 {
            let name = vec![b'n'; length];
            let long = of(Sha1::new().chain_update(Uuid::NAMESPACE_DNS.as_bytes()).chain_update(&name));
            assert_eq!(uuid_v5(&Uuid::NAMESPACE_DNS, &name), long, "{length}");
        }
    }

    #[test]
    fn decimal_matches_the_standard_formatting() {
        for value in [0, 7, 10, 99, 100, 12_345, u64::MAX] {
            assert_eq!(decimal(value, &mut [0; 20]), value.to_string().as_bytes());
        }
    }

    #[test]
    fn a_number_is_a_name() {
        for number in [0, 7, 10, 99, 100, 12_345, u64::MAX] {
            let expected = uuid_v5(&Uuid::NAMESPACE_DNS, number.to_string().as_bytes());
            assert_eq!(of_number(&Uuid::NAMESPACE_DNS, number), expected, "{number}");
        }
    }

    #[test]
    fn a_numbered_name_equals_the_formatted_one() {
        // The cases: namespace, prefix and number fit into one block; only some of them fit; not even the prefix fits.
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
