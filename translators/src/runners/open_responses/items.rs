//! The items of one response, and how events are matched to them.
//!
//! Input: the ids and indices in events. Output: a position in the list. Never: reliance on any one of them. Upstreams omit
//! indices (llama.cpp) or ids, use the index 0 for every item (ogx), never announce an item (open-responses-server), or change
//! all ids with every event (GitHub Copilot). So an event is matched first by id, then by the index among items of a suitable
//! kind, and then to the open item.

use super::item::{Item, ItemKind};
use crate::frame::SharedStr;
use crate::hash::HashMap;
use crate::json::Object;
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

/// How an event names its response and its item.
pub(super) struct Address<'a> {
    pub(super) response: Option<Cow<'a, str>>,
    id: Option<Cow<'a, str>>,
    index: Option<u64>,
}

impl<'a> Address<'a> {
    /// Reads the event's own fields. One upstream uses `id` instead of `item_id` in the last event of a call.
    pub(super) fn of(fields: &Object<'a>) -> Self {
        let (mut response, mut item_id, mut id, mut index) = (None, None, None, None);
        // One pass, because this runs for every event. If a key is repeated, the last one counts.
        for (key, value) in fields.iter() {
            match key {
                "item_id" => item_id = value.str().filter(|id| !id.is_empty()),
                "id" => id = value.str().filter(|id| !id.is_empty()),
                "output_index" => index = value.u64(),
                "response_id" => response = value.str(),
                _ => {}
            }
        }
        Self { response, id: item_id.or(id), index }
    }
}

/// The items of one response.
#[derive(Debug, Default)]
pub(super) struct Items {
    list: Vec<Item>,
    // There are usually few items, and looking a name up in a tree is then faster than hashing it.
    by_id: BTreeMap<SharedStr, usize>,
    by_call: BTreeMap<SharedStr, usize>,
    /// The newest item of a kind at an index. Two items at one index are common.
    by_index: BTreeMap<(u64, ItemKind), usize>,
    latest: BTreeMap<ItemKind, usize>,
    /// The response's id, from which the message ids of items without an id are derived.
    pub(super) response: Option<SharedStr>,
    /// Whether the upstream changes its ids with every event, so that they carry no information.
    pub(super) ids_rotate: bool,
}

impl Items {
    pub(super) fn get_mut(&mut self, at: usize) -> Option<&mut Item> {
        self.list.get_mut(at)
    }

    pub(super) fn get(&self, at: usize) -> Option<&Item> {
        self.list.get(at)
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The item with the event's id.
    pub(super) fn named(&self, address: &Address<'_>) -> Option<usize> {
        self.by_id.get(address.id.as_deref()?).copied()
    }

    /// Whether an event can only be about a known item.
    pub(super) fn knows(&self, address: &Address<'_>, fields: &Object<'_>) -> bool {
        let id = fields.object("item").and_then(|item| item.str("id").map(|id| id.into_owned()));
        self.named(address).is_some() || id.is_some_and(|id| self.by_id.contains_key(&*id))
    }

    /// The item with this call id.
    pub(super) fn call(&self, call_id: &str) -> Option<usize> {
        self.by_call.get(call_id).copied()
    }

    /// The newest item of a kind.
    pub(super) fn newest(&self, kind: ItemKind) -> Option<usize> {
        self.latest.get(&kind).copied()
    }

    /// Finds the item of one of `kinds` that an event about a part concerns. With `last`, the event ends the part, and another
    /// id at the same index does not indicate another item. An item that was never announced is created with the first of
    /// `kinds`.
    pub(super) fn find_or_make(
        &mut self,
        address: &Address<'_>,
        kinds: &[ItemKind],
        last: bool,
        now_ms: u64,
    ) -> Option<usize> {
        if let Some(at) = self.find(address, kinds, last) {
            return Some(at);
        }
        let kind = *kinds.first()?;
        Some(self.add(kind, address.id.as_deref(), address.index, now_ms))
    }

    fn find(&mut self, address: &Address<'_>, kinds: &[ItemKind], last: bool) -> Option<usize> {
        let id = address.id.as_deref();
        if let Some(&at) = id.and_then(|id| self.by_id.get(id))
            && let Some(item) = self.list.get_mut(at)
            && kinds.contains(&item.kind)
        {
            item.confirmed = true;
            item.keeps_id |= item.id.as_deref() == id;
            return Some(at);
        }
        let rotate = self.ids_rotate;
        if let Some(index) = address.index
            && let Some(at) = kinds.iter().filter_map(|&kind| self.by_index.get(&(index, kind)).copied()).max()
            && let Some(item) = self.list.get(at)
            && (id.is_none()
                || item.id.is_none()
                || rotate
                || (!item.finished && (last || (item.announced && !item.is_other(id)))))
        {
            self.adopt(at, id);
            return Some(at);
        }
        let at = kinds.iter().filter_map(|&kind| self.newest(kind)).max()?;
        let item = self.list.get(at)?;
        let untouched = item.announced && !item.confirmed && !item.finished;
        // Two indices mean two items, unless one of the two ids is unknown or the ids keep changing.
        let elsewhere = || item.placed && address.index.zip(item.index).is_some_and(|(one, other)| one != other);
        let same = match (id, address.index) {
            (None, None) => !item.finished,
            (Some(_), None) => untouched || (!item.finished && (rotate || item.id.is_none())),
            (Some(_), Some(_)) => untouched && (rotate || item.id.is_none() || !elsewhere()),
            (None, Some(_)) => !item.finished && item.index.is_none(),
        };
        same.then(|| {
            self.adopt(at, id);
            at
        })
    }

    /// Notes another id that an event used for the item. Only one such id is remembered.
    fn adopt(&mut self, at: usize, id: Option<&str>) {
        let Some(item) = self.list.get_mut(at) else { return };
        item.confirmed = true;
        if let Some(id) = id
            && !self.ids_rotate
            && !item.aliased
        {
            item.aliased = true;
            self.by_id.entry(SharedStr::from(id)).or_insert(at);
        }
    }

    /// Finds or creates the item of an item object in a separate event. With `last`, the object is complete.
    pub(super) fn of_object(&mut self, fields: &Object<'_>, index: Option<u64>, last: bool, now_ms: u64) -> usize {
        let kind = kind_of(fields);
        // Calls with the same call id at two indices are two calls, though their outputs cannot be told apart.
        let named = self.by_name(fields, kind).filter(|&at| {
            let item = self.list.get(at);
            item.is_some_and(|item| {
                let elsewhere = index.is_some() && item.index.is_some() && item.index != index;
                !(item.finished && elsewhere) || fields.str("id").is_some_and(|id| self.by_id.get(&*id) == Some(&at))
            })
        });
        let known = named.or_else(|| {
            let at = index
                .and_then(|index| self.by_index.get(&(index, kind)).copied())
                .or_else(|| self.newest(kind).filter(|_| index.is_none()))?;
            let item = self.list.get(at)?;
            let open = !item.finished || self.ids_rotate;
            let same = if last { open } else { !item.announced && open };
            (same && may_be(item, fields)).then_some(at)
        });
        let at = known
            .unwrap_or_else(|| self.add(kind, fields.str("id").as_deref().filter(|id| !id.is_empty()), index, now_ms));
        if let Some(item) = self.list.get_mut(at) {
            item.placed |= index.is_some() && item.index == index;
        }
        self.learn(at, fields);
        at
    }

    /// Finds or creates the items of a whole output, in order. Names are matched before indices, so that a streamed item is
    /// never confused with its neighbour.
    pub(super) fn of_output(&mut self, output: &[Object<'_>], now_ms: u64) -> Vec<usize> {
        if output.is_empty() {
            return Vec::new();
        }
        let mut claimed = vec![false; self.list.len()];
        let mut claim = |at: usize| claimed.get_mut(at).is_some_and(|claimed| !std::mem::replace(claimed, true));
        let mut matched: Vec<Option<usize>> =
            output.iter().map(|fields| self.by_name(fields, kind_of(fields)).filter(|&at| claim(at))).collect();
        let mut left: HashMap<ItemKind, VecDeque<usize>> = HashMap::default();
        if matched.contains(&None) {
            for (at, item) in self.list.iter().enumerate() {
                if claimed.get(at) == Some(&false) {
                    left.entry(item.kind).or_default().push_back(at);
                }
            }
        }
        for (slot, fields) in matched.iter_mut().zip(output) {
            if slot.is_none()
                && let Some(queue) = left.get_mut(&kind_of(fields))
                && queue.front().and_then(|&at| self.list.get(at)).is_some_and(|item| may_be(item, fields))
            {
                *slot = queue.pop_front();
            }
        }
        let places = matched.into_iter().zip(output).enumerate();
        places
            .map(|(index, (slot, fields))| {
                let at = slot.unwrap_or_else(|| {
                    let id = fields.str("id").filter(|id| !id.is_empty());
                    self.add(kind_of(fields), id.as_deref(), Some(index as u64), now_ms)
                });
                self.learn(at, fields);
                at
            })
            .collect()
    }

    fn by_name(&self, fields: &Object<'_>, kind: ItemKind) -> Option<usize> {
        let of_kind = |&at: &usize| self.list.get(at).is_some_and(|item| item.kind == kind);
        let by_id = fields.str("id").and_then(|id| self.by_id.get(&*id).copied()).filter(of_kind);
        by_id.or_else(|| fields.str("call_id").and_then(|id| self.call(&id)).filter(of_kind))
    }

    fn learn(&mut self, at: usize, fields: &Object<'_>) {
        let Some(item) = self.list.get_mut(at) else { return };
        item.announced = true;
        item.learn(fields);
        if let Some(call_id) = item.call_id() {
            self.by_call.entry(call_id.clone()).or_insert(at);
        }
    }

    fn add(&mut self, kind: ItemKind, id: Option<&str>, index: Option<u64>, now_ms: u64) -> usize {
        let at = self.list.len();
        // An id that another item uses already cannot identify this one's blocks.
        let id = id.filter(|&id| self.ids_rotate || !self.by_id.contains_key(id));
        let name = id.map(SharedStr::from).unwrap_or_else(|| match &self.response {
            Some(response) => SharedStr::from(format!("{response}/{at}")),
            None => SharedStr::from(format!("item_{at}")),
        });
        let item = Item::new(kind, id.is_some(), name, index, now_ms);
        if let Some(id) = &item.id {
            self.by_id.entry(id.clone()).or_insert(at);
        }
        if let Some(index) = index {
            self.by_index.insert((index, kind), at);
        }
        self.latest.insert(kind, at);
        self.list.push(item);
        at
    }
}

fn kind_of(fields: &Object<'_>) -> ItemKind {
    fields.str("type").map_or(ItemKind::Other, |word| ItemKind::of(&word))
}

/// Whether an object may describe this item: two calls with different call ids are different, whatever else matches.
fn may_be(item: &Item, fields: &Object<'_>) -> bool {
    let given = fields.str("call_id").filter(|id| !id.is_empty());
    item.call_id().zip(given).is_none_or(|(known, given)| **known == *given)
}
