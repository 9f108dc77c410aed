//! Hash maps, hash sets and hashes.
//!
//! Each record is looked up under several names and ids, so hashing is a large part of a small record's cost. The hash function
//! is fast and has a new seed in each process, so that an input cannot be prepared to cause collisions. Never: a hash that is
//! used beyond the process.

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
