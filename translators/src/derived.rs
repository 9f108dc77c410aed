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
    // One piece is hashed quicker than three.
    let mut text = [0; LONGEST];
    let mut end = 0;
    for piece in [namespace.as_bytes(), prefix.as_bytes(), decimal(number, &mut [0; 20])] {
        let Some(room) = text.get_mut(end..end + piece.len()) else {
            return uuid_v5(namespace, format!("{prefix}{number}").as_bytes());
        };
        room.copy_from_slice(piece);
        end += piece.len();
    }
    of(Sha1::new().chain_update(text.get(..end).unwrap_or_default()))
}

/// How long a namespace and a numbered name usually are at most: what one block of the digest holds.
const LONGEST: usize = 55;

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
        for prefix in ["", "pixir/", "agent-manager/", "a-prefix-that-is-longer-than-what-one-block-can-hold/"] {
            for number in [0, 7, 1234, u64::MAX] {
                let name = format!("{prefix}{number}");
                assert_eq!(
                    numbered(&Uuid::NAMESPACE_DNS, prefix, number),
                    uuid_v5(&Uuid::NAMESPACE_DNS, name.as_bytes())
                );
            }
        }
    }
}
