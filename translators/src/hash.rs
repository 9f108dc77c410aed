//! Maps, sets and numbers by hash.
//!
//! A record is looked up under several names and ids, so what their hash costs is much of what a small record costs. It is
//! a quick one, seeded anew in each process, so that no input can be made in advance whose names all fall together. Never: a
//! number that outlives the process or leaves it.

use foldhash::SharedSeed;
use foldhash::fast::{FoldHasher, RandomState, SeedableRandomState};
use std::hash::BuildHasher;

/// A map; made by `default()`.
pub(crate) type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;

/// A set; made by `default()`.
pub(crate) type HashSet<T> = std::collections::HashSet<T, RandomState>;

/// A hasher that gives the same number for the same things as long as the process lives.
pub(crate) fn hasher() -> FoldHasher<'static> {
    SeedableRandomState::with_seed(0, SharedSeed::global_random()).build_hasher()
}
