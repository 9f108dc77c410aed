//! Maps from the names that runners give: of sessions, messages, parts and calls.
//!
//! In: a name as a record spells it. Out: what is known under it; the name is copied only where it is new. Never: an order
//! of iteration that reaches a frame.

use crate::frame::Name;
use crate::hash::{HashMap, HashSet};

/// What is known under a name.
pub(super) type NameMap<V> = HashMap<Name, V>;

/// A set of names.
pub(super) type NameSet = HashSet<Name>;

/// The value under a name, which is copied only where it is new.
pub(super) fn enter<'m, V: Default>(map: &'m mut NameMap<V>, name: &str) -> &'m mut V {
    let name = own(map, name);
    map.entry(name).or_default()
}

/// The name as the map has it, or a copy where it is new.
pub(super) fn own<V>(map: &NameMap<V>, name: &str) -> Name {
    map.get_key_value(name).map_or_else(|| Name::from(name), |(known, _)| known.clone())
}
