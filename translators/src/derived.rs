//! Ids that are derived from names: UUIDs of version 5 (RFC 9562, section 5.5), so that a replay gives them again.
//!
//! In: a namespace and a name. Out: the id. Never: anything random. Each frame has such an id, so the digest is taken by a
//! crate that uses the processor's own SHA-1 where it has one.

use sha1::{Digest, Sha1};
use uuid::{Builder, Uuid};

/// The id of `name` within `namespace`.
pub(crate) fn uuid_v5(namespace: &Uuid, name: &[u8]) -> Uuid {
    let digest = Sha1::new().chain_update(namespace.as_bytes()).chain_update(name).finalize();
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
    Builder::from_sha1_bytes(bytes).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_rfc() {
        let id = uuid_v5(&Uuid::NAMESPACE_DNS, b"www.example.com");
        assert_eq!(id.to_string(), "2ed6657d-e927-568b-95e1-2665a8aea6a2");
    }
}
