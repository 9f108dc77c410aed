//! Stores of artifacts.
//!
//! Input: artifacts, before the frames that refer to them are readable. Output: an artifact by its hash, or by the first part
//! of its hash. Never: two copies of the same bytes, an artifact of a run that is no longer kept, or a frame that waits for a
//! reader.

mod memory;

pub use memory::MemoryStore;

use crate::storage::{LogError, StreamId};
use async_trait::async_trait;
use framegate_translators::artifacts::Artifact;
use framegate_translators::contracts::CONTRACTS;
use std::sync::Arc;

/// The key to look up an artifact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The SHA-256 of its bytes.
    Digest([u8; 32]),
    /// The first 128 bits of the digest, most significant first. The ids of some contracts encode these.
    Front(u128),
}

impl Key {
    /// Parses `sha256:` and the digest in hex, the digest alone, or the id that a contract gives it; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        if let Some(front) = CONTRACTS.iter().find_map(|contract| contract.artifact_id?(text)) {
            return Some(Self::Front(front));
        }
        let hex = text.strip_prefix("sha256:").unwrap_or(text);
        let mut digest = [0; 32];
        let is_hex = hex.len() == 64 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
        for (at, byte) in digest.iter_mut().enumerate().filter(|_| is_hex) {
            *byte = u8::from_str_radix(hex.get(at * 2..at * 2 + 2)?, 16).ok()?;
        }
        is_hex.then_some(Self::Digest(digest))
    }

    /// The first 128 bits of the digest. Both kinds of key have them, so both find the same artifact.
    pub fn front(self) -> u128 {
        match self {
            Self::Front(front) => front,
            Self::Digest(digest) => digest.iter().take(16).fold(0, |front, byte| front << 8 | u128::from(*byte)),
        }
    }

    /// Whether the key belongs to that digest.
    pub fn fits(self, digest: &[u8; 32]) -> bool {
        match self {
            Self::Digest(own) => own == *digest,
            Self::Front(front) => front == Self::Digest(*digest).front(),
        }
    }
}

/// Error of a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The artifact alone is larger than the store's limit.
    #[error("the artifact has {bytes} bytes, but the store may hold at most {limit} (artifacts.max_total_bytes)")]
    TooLarge {
        /// The artifact's size in bytes.
        bytes: u64,
        /// The store's limit in bytes.
        limit: u64,
    },
    /// Error of the database that holds the artifacts.
    #[error(transparent)]
    Log(#[from] LogError),
}

/// A store of artifacts.
#[async_trait]
pub trait ArtifactStore: Send + Sync + 'static {
    /// Stores an artifact. Bytes that are already stored are stored only once, for all streams that refer to them.
    ///
    /// # Errors
    /// The reason why it could not be stored.
    async fn put(&self, artifact: Arc<Artifact>) -> Result<(), StoreError>;

    /// The artifact with that key, with the metadata of the first stream that had it; `None` if it is not kept, or not any
    /// more.
    ///
    /// # Errors
    /// The reason why the store cannot be read.
    async fn get(&self, key: Key) -> Result<Option<Arc<Artifact>>, StoreError>;

    /// The streams that refer to the artifact with that key. A caller that may see one of them may see the artifact.
    ///
    /// # Errors
    /// The reason why the store cannot be read.
    async fn streams(&self, key: Key) -> Result<Vec<StreamId>, StoreError>;

    /// Called when the stream's frames were dropped: removes its artifacts, unless another stream refers to them.
    ///
    /// # Errors
    /// The reason why they could not be removed.
    async fn drop_run(&self, stream: StreamId) -> Result<(), StoreError>;

    /// Called when no kept frame of the stream refers to the artifacts with these digests any more: removes them, unless
    /// another stream refers to them.
    ///
    /// # Errors
    /// The reason why they could not be removed.
    async fn let_go(&self, stream: StreamId, digests: &[[u8; 32]]) -> Result<(), StoreError>;

    /// How many bytes and how many artifacts are kept; `None` if finding out is expensive.
    async fn usage(&self) -> Option<(u64, u64)> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_parsed_in_every_spelling() {
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
