//! Digests of requests.
//!
//! Input: the parts of a request that make it the same request. Output: 32 bytes. Never: the same digest for other parts.

use sha2::{Digest as _, Sha256};

/// A SHA-256.
pub(super) type Digest = [u8; 32];

/// The digest of fields in order. An absent field differs from an empty one.
pub(super) fn digest<'f>(fields: impl Iterator<Item = Option<&'f str>>) -> Digest {
    let mut digest = Sha256::new();
    for field in fields {
        let length = field.map_or(u64::MAX, |field| field.len() as u64);
        digest.update(length.to_be_bytes());
        digest.update(field.unwrap_or_default());
    }
    digest.finalize().into()
}

/// A digest in hexadecimal.
pub(super) fn hex(digest: &Digest) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_separate() {
        let of = |fields: &[Option<&str>]| digest(fields.iter().copied());
        let digests =
            [of(&[Some("ab")]), of(&[Some("a"), Some("b")]), of(&[Some("ab"), None]), of(&[Some("ab"), Some("")])];
        for (at, one) in digests.iter().enumerate() {
            assert!(digests.iter().skip(at + 1).all(|other| other != one));
        }
    }
}
