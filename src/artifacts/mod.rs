//! Where artifacts are kept.
//!
//! In: artifacts, before the frames that refer to them are readable. Out: an artifact by its hash, or by the front of it.
//! Never: two copies of the same bytes, an artifact of a run that is no longer kept, a frame that waits for a reader.

mod memory;

pub use memory::MemoryStore;

use crate::log::{LogError, StreamId};
use async_trait::async_trait;
use framegate_translators::artifacts::Artifact;
use std::sync::Arc;

/// What an artifact is asked for by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The SHA-256 of its bytes.
    Digest([u8; 32]),
    /// The first 128 bits of it, most significant first: what a Hecate id spells.
    Front(u128),
}

impl Key {
    /// Reads `sha256:` and the digest in hex, the digest alone, or `art_` and a ULID; `None` where it is none of these.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(front) = framegate_translators::contracts::hecate::ids::uuid_of("art_", text) {
            return Some(Self::Front(front.as_u128()));
        }
        let hex = text.strip_prefix("sha256:").unwrap_or(text);
        let mut digest = [0; 32];
        let is_hex = hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        for (at, byte) in digest.iter_mut().enumerate().filter(|_| is_hex) {
            *byte = u8::from_str_radix(hex.get(at * 2..at * 2 + 2)?, 16).ok()?;
        }
        is_hex.then_some(Self::Digest(digest))
    }

    /// The key under which both kinds find the same artifact.
    pub fn front(self) -> u128 {
        match self {
            Self::Front(front) => front,
            Self::Digest(digest) => digest.iter().take(16).fold(0, |front, byte| front << 8 | u128::from(*byte)),
        }
    }

    /// Whether it is the key of that digest.
    pub fn fits(self, digest: &[u8; 32]) -> bool {
        match self {
            Self::Digest(own) => own == *digest,
            Self::Front(front) => front == Self::Digest(*digest).front(),
        }
    }
}

/// Why a store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// One artifact alone is more than the store may hold.
    #[error(
        "an artifact of {bytes} bytes is more than the store may hold, which is {limit} (artifacts.max_total_bytes)"
    )]
    TooLarge {
        /// The artifact's size.
        bytes: u64,
        /// What the store may hold.
        limit: u64,
    },
    /// The database that they are kept in.
    #[error(transparent)]
    Log(#[from] LogError),
}

/// Keeps artifacts.
#[async_trait]
pub trait ArtifactStore: Send + Sync + 'static {
    /// Keeps an artifact. Bytes that are kept already are kept once, for each stream that refers to them.
    ///
    /// # Errors
    /// Whatever keeps the store from keeping it.
    async fn put(&self, artifact: Arc<Artifact>) -> Result<(), StoreError>;

    /// The artifact with that key, as the first stream told it; `None` where it is not kept, or not kept any more.
    ///
    /// # Errors
    /// Whatever keeps the store from being read.
    async fn get(&self, key: Key) -> Result<Option<Arc<Artifact>>, StoreError>;

    /// The streams that refer to the artifact with that key: whoever sees one of them sees it.
    ///
    /// # Errors
    /// Whatever keeps the store from being read.
    async fn streams(&self, key: Key) -> Result<Vec<StreamId>, StoreError>;

    /// The stream's frames are gone: what no other stream refers to goes too.
    ///
    /// # Errors
    /// Whatever keeps the store from dropping it.
    async fn drop_run(&self, stream: StreamId) -> Result<(), StoreError>;

    /// No frame of the stream that is kept refers to the artifacts with these digests any more: what no other stream refers to
    /// goes.
    ///
    /// # Errors
    /// Whatever keeps the store from dropping it.
    async fn let_go(&self, stream: StreamId, digests: &[[u8; 32]]) -> Result<(), StoreError>;

    /// How many bytes are kept, and how many artifacts; `None` where that is not known at little cost.
    async fn usage(&self) -> Option<(u64, u64)> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_in_every_spelling() {
        let hex = format!("{}{}", "f".repeat(32), "0".repeat(32));
        let digest = Key::parse(&hex).unwrap();
        assert_eq!(Key::parse(&format!("sha256:{hex}")), Some(digest));
        assert_eq!(Key::parse(&hex.to_uppercase()), Some(digest));
        let front = Key::parse("art_7ZZZZZZZZZZZZZZZZZZZZZZZZZ").unwrap();
        assert_eq!(front, Key::Front(u128::MAX));
        assert_eq!(digest.front(), front.front());
        let Key::Digest(bytes) = digest else { panic!("not a digest") };
        assert!(digest.fits(&bytes) && front.fits(&bytes) && !Key::Front(1).fits(&bytes));
        for wrong in
            ["", "sha256:", "sha256:xy", "art_", "art_8ZZZZZZZZZZZZZZZZZZZZZZZZZ", &hex[1..], "../../etc/passwd"]
        {
            assert_eq!(Key::parse(wrong), None, "{wrong}");
        }
    }
}
