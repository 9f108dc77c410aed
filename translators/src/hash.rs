//! Hash maps, hash sets and hashes.
//!
//! Each record is looked up under several names and ids, so hashing is a large part of a small record's cost. The hash function
//! is fast and has a new seed in each process, so that an input cannot be prepared to cause collisions. A [`Fingerprint`] has no seed,
//! so its users also compare what it stands for. Never: a hash that is used beyond the process.

use foldhash::SharedSeed;
use foldhash::fast::{FoldHasher, RandomState, SeedableRandomState};
use std::hash::BuildHasher;

/// A hash map; create it with `default()`.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;

/// A hash set; create it with `default()`.
pub(crate) type HashSet<T> = std::collections::HashSet<T, RandomState>;

/// A hasher with the same results for the whole lifetime of the process.
pub(crate) fn hasher() -> FoldHasher<'static> {
    SeedableRandomState::with_seed(0, SharedSeed::global_random()).build_hasher()
}

/// A hash of words that arrive one by one. Equal sequences have equal fingerprints, others mostly different ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    /// The fingerprint of the sequence with one more word.
    pub(crate) fn with(self, word: u64) -> Self {
        Self((self.0.rotate_left(23) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// An index into this many slots.
    pub(crate) fn slot(self, slots: usize) -> usize {
        (self.0 >> 32) as usize % slots.max(1)
    }
}
