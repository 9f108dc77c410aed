//! Signatures of notifications, by the specification Standard Webhooks 1.0.
//!
//! Input: secrets, and what is sent. Output: the value of `webhook-signature`, with one signature for each secret. Never: a secret in a message.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::fmt;
use std::ops::RangeInclusive;

/// What secrets begin with.
const PREFIX: &str = "whsec_";

/// How many bytes a secret has, by the specification.
const BYTES: RangeInclusive<usize> = 24..=64;

/// A secret that an endpoint knows too.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Secret(Vec<u8>);

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}

/// The text is not a secret.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be {PREFIX} and {} to {} bytes in base64; create one with `echo {PREFIX}$(openssl rand -base64 32)`",
    BYTES.start(),
    BYTES.end()
)]
pub(super) struct NoSecret;

impl Secret {
    /// Reads a secret. The prefix may be absent.
    pub(super) fn read(text: &str) -> Result<Self, NoSecret> {
        let text = text.trim();
        let bytes = STANDARD.decode(text.strip_prefix(PREFIX).unwrap_or(text)).map_err(|_| NoSecret)?;
        if BYTES.contains(&bytes.len()) { Ok(Self(bytes)) } else { Err(NoSecret) }
    }

    fn sign(&self, parts: [&[u8]; 5]) -> String {
        #[expect(clippy::expect_used, reason = "HMAC takes keys of every length")]
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("a key of any length");
        parts.iter().for_each(|part| mac.update(part));
        format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
    }
}

/// The signatures of a notification, separated by spaces.
pub(super) fn signatures(secrets: &[Secret], id: &str, timestamp: &str, body: &[u8]) -> String {
    let parts = [id.as_bytes(), b".", timestamp.as_bytes(), b".", body];
    secrets.iter().map(|secret| secret.sign(parts)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_that_of_the_reference_implementation() {
        // The example in the tests of the reference libraries.
        let secret = Secret::read("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let (id, body) = ("msg_p5jXN8AQM9LWM0D4loKWxJek", br#"{"test": 2432232314}"#);
        let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(signatures(std::slice::from_ref(&secret), id, "1614265330", body), expected);
        let old = Secret::read(&STANDARD.encode([7; 24])).unwrap();
        let both = signatures(&[secret, old.clone()], id, "1614265330", body);
        let of_old = signatures(&[old], id, "1614265330", body);
        assert_eq!(both, format!("{expected} {of_old}"), "one signature for each secret, in their order");
    }

    #[test]
    fn a_secret_has_24_to_64_bytes_in_base64() {
        for (bytes, is_one) in [(0, false), (23, false), (24, true), (64, true), (65, false)] {
            let text = STANDARD.encode(vec![1; bytes]);
            for text in [format!("whsec_{text}"), format!(" {text}\n")] {
                assert_eq!(Secret::read(&text).is_ok(), is_one, "{text:?}");
            }
        }
        let error = Secret::read("whsec_not base64").unwrap_err().to_string();
        assert!(error.contains("whsec_ and 24 to 64 bytes") && !error.contains("not base64"), "{error}");
        assert_eq!(format!("{:?}", Secret(vec![1; 24])), "Secret");
    }
}
