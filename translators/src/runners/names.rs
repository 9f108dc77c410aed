//! Maps from the names that runners give: of sessions, messages, parts and calls.
//!
//! A record is looked up under several of them, so their hash is most of what a small record would cost. It is seeded
//! anew in each process, so that no input can be made in advance whose names all fall together. Never: an order of
//! iteration that reaches a frame.

use crate::frame::Name;
use foldhash::fast::RandomState;
use std::collections::{HashMap, HashSet};

/// A map under keys that hash in a few instructions.
pub(super) type QuickMap<K, V> = HashMap<K, V, RandomState>;

/// What is known under a name.
pub(super) type NameMap<V> = QuickMap<Name, V>;

/// A set of names.
pub(super) type NameSet = HashSet<Name, RandomState>;

/// The value under a name, which is copied only where it is new.
pub(super) fn enter<'m, V: Default>(map: &'m mut NameMap<V>, name: &str) -> &'m mut V {
    let name = own(map, name);
    map.entry(name).or_default()
}

/// The name as the map has it, or a copy where it is new.
pub(super) fn own<V>(map: &NameMap<V>, name: &str) -> Name {
    map.get_key_value(name).map_or_else(|| Name::from(name), |(known, _)| known.clone())
}
