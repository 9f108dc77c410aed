//! Finds the violations in an object that is already parsed.
//!
//! Input: the fields of an object, and of the objects in it as far as they are parsed. Output: the same as [`super::breaches`]
//! on its text. Never: a look at an unconstrained value, or a search for the end of a value.

use super::found::{Found, Place};
use super::told::{ARRAY, BOOLEAN, INTEGER, NULL, NUMBER, OBJECT, STRING, TYPES_KNOWN};
use super::{ArrayShape, ObjectShape, Rest, Shape, StringShape, is_integer};
use crate::json::scan::{Quoted, Scan, mark};
use crate::json::{Fields, Json, Kind};
use std::borrow::Cow;

/// What is needed to find a property, and to see from a value's type that it is valid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head {
    /// The first bytes of the name, and its length.
    front: u64,
    length: usize,
    /// Bit set of the types whose values are all valid.
    plain: u8,
}

impl Head {
    pub(super) fn of(name: &str, shape: &Shape) -> Self {
        Self { front: front(name), length: name.len(), plain: shape.plain() }
    }

    /// Whether a value is certainly valid by its type.
    fn takes(self, value: Json<'_>) -> bool {
        is_of(self.plain, value)
    }
}

/// Whether a value is of one of these types.
pub(super) fn is_of(types: u8, value: Json<'_>) -> bool {
    let of = type_of(value);
    types & of != 0 || (of == NUMBER && types & INTEGER != 0 && is_integer(value.text()))
}

/// A value's type as a bit; every number is [`NUMBER`].
pub(super) fn type_of(value: Json<'_>) -> u8 {
    // The next type is unpredictable, so a table lookup is used instead of branches.
    #[allow(clippy::indexing_slicing, reason = "a byte is always in it, and it is made when this is compiled")]
    const TYPES: [u8; 256] = {
        let mut types = [NUMBER; 256];
        types[b'n' as usize] = NULL;
        types[b't' as usize] = BOOLEAN;
        types[b'f' as usize] = BOOLEAN;
        types[b'"' as usize] = STRING;
        types[b'[' as usize] = ARRAY;
        types[b'{' as usize] = OBJECT;
        types
    };
    let first = value.text().as_bytes().first();
    first.and_then(|first| TYPES.get(usize::from(*first))).copied().unwrap_or(NULL)
}

/// The first and last bytes of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    front: u64,
    back: u64,
}

impl Ends {
    /// Two texts of the same length, up to this many bytes, are equal if their ends are equal.
    pub(super) const WHOLE: usize = 16;

    pub(super) fn of(text: &str) -> Self {
        match (text.as_bytes().first_chunk(), text.as_bytes().last_chunk()) {
            (Some(front), Some(back)) => Self { front: u64::from_le_bytes(*front), back: u64::from_le_bytes(*back) },
            _ => Self { front: word(text.as_bytes()), back: 0 },
        }
    }
}

/// Whether two texts are equal, without a function call: most of them are short.
pub(super) fn same(one: &str, other: &str) -> bool {
    let chunks = |text| <str>::as_bytes(text).as_chunks::<8>().0;
    one.len() == other.len()
        && Ends::of(one) == Ends::of(other)
        && chunks(one).iter().zip(chunks(other)).skip(1).all(|(one, other)| one == other)
}

/// The first eight bytes of a name; if it is shorter, the name itself.
pub(super) fn front(name: &str) -> u64 {
    name.as_bytes().first_chunk().map_or_else(|| word(name.as_bytes()), |bytes| u64::from_le_bytes(*bytes))
}

/// Packs fewer than eight bytes into a word.
fn word(text: &[u8]) -> u64 {
    match (text.first_chunk(), text.last_chunk()) {
        // The two chunks overlap if there are fewer than eight bytes.
        (Some(first), Some(last)) => {
            let behind = (text.len() - 4) * 8;
            u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << behind
        }
        _ => match *text {
            [one, two, three] => u64::from(u32::from_le_bytes([one, two, three, 0])),
            [one, two] => u64::from(u16::from_le_bytes([one, two])),
            [one] => u64::from(one),
            _ => 0,
        },
    }
}

impl Shape {
    /// Bit set of the types whose values all conform to the schema.
    pub(super) fn plain(&self) -> u8 {
        if self.any {
            return TYPES_KNOWN;
        }
        if let Some(by_type) = &self.by_type {
            let of = |(kind, bits): (Kind, u8)| by_type.shape(kind).map_or(0, |shape| shape.plain() & bits);
            return [
                (Kind::Null, NULL),
                (Kind::Bool, BOOLEAN),
                (Kind::String, STRING),
                (Kind::Array, ARRAY),
                (Kind::Object, OBJECT),
            ]
            .into_iter()
            .map(of)
            .fold(0, |all, bits| all | bits);
        }
        let Some(told) = self.told.as_ref().filter(|told| !told.has_branches) else { return 0 };
        let is_unbounded = self.minimum.is_none() && self.maximum.is_none();
        let numbers = if is_unbounded { INTEGER | NUMBER } else { 0 };
        let strings = if self.string.as_ref().is_none_or(StringShape::is_any) { STRING } else { 0 };
        let is_any = |shape: &ArrayShape| shape.items.is_none() && shape.min_items == 0;
        let arrays = if self.array.as_ref().is_none_or(is_any) { ARRAY } else { 0 };
        let objects = if self.object.as_deref().is_none_or(ObjectShape::is_free) { OBJECT } else { 0 };
        told.all_of(NULL | BOOLEAN | numbers | strings | arrays | objects)
    }

    /// Every violation in an object, empty if it is valid; `None` if the full validator must decide.
    pub(in super::super) fn found_in(&self, object: Json<'_>, fields: Fields<'_, '_>) -> Option<Found<'_>> {
        let mut found = Found::default();
        self.tell_fields(object, fields, Place::Whole, &mut found)?;
        Some(found)
    }

    pub(super) fn tell_fields<'s>(
        &'s self,
        value: Json<'_>,
        fields: Fields<'_, '_>,
        place: Place<'_>,
        found: &mut Found<'s>,
    ) -> Option<()> {
        if self.any {
            return Some(());
        }
        let Some(told) = &self.told else { return self.reads(&mut Scan::new(value.text())).then_some(()) };
        if let Some(shape) = self.by_type.as_ref().and_then(|by_type| by_type.shape(Kind::Object)) {
            return shape.tell_fields(value, fields, place, found);
        }
        told.basics(OBJECT, None, place, found)?;
        match &self.object {
            Some(shape) => shape.tell_fields(value, fields, place, found),
            None => Some(()),
        }
    }

    /// Reports how a value violates the schema. If it is an object, its fields are not parsed yet.
    pub(super) fn tell_value<'s>(&'s self, value: Json<'_>, place: Place<'_>, found: &mut Found<'s>) -> Option<()> {
        if self.any {
            return Some(());
        }
        let Some(told) = &self.told else { return self.reads(&mut Scan::new(value.text())).then_some(()) };
        let kind = value.kind();
        if let Some(shape) = self.by_type.as_ref().and_then(|by_type| by_type.shape(kind)) {
            return shape.tell_value(value, place, found);
        }
        let is_nothing_else_said = self.by_type.is_none() && !told.has_branches;
        match (kind, &self.array) {
            (Kind::Array, None) if is_nothing_else_said => told.basics(ARRAY, None, place, found),
            (Kind::String, _) if is_nothing_else_said => {
                let inner = value.quoted()?;
                let is_read = told.words.is_some() || self.string.as_ref().is_some_and(|shape| !shape.is_any());
                let text = Quoted { inner, escaped: is_read && mark(inner.as_bytes()).is_some() };
                told.basics(STRING, Some(text), place, found)?;
                self.string.as_ref().map_or(Some(()), |shape| shape.tell(text, told, place, found))
            }
            (Kind::Null, _) if is_nothing_else_said => told.basics(NULL, None, place, found),
            (Kind::Bool, _) if is_nothing_else_said => told.basics(BOOLEAN, None, place, found),
            (Kind::Number, _) if is_nothing_else_said => {
                let kind = if is_integer(value.text()) { INTEGER | NUMBER } else { NUMBER };
                told.basics(kind, None, place, found)?;
                self.tell_bounds(value.text(), told, place, found)
            }
            _ => self.tell(&mut Scan::new(value.text()), place, found),
        }
    }
}

impl ObjectShape {
    fn tell_fields<'s>(
        &'s self,
        value: Json<'_>,
        fields: Fields<'_, '_>,
        place: Place<'_>,
        found: &mut Found<'s>,
    ) -> Option<()> {
        let first = found.len();
        let (mut seen, mut next, mut unexpected) = (0u64, 0, Vec::new());
        for (key, value, inner) in fields.iter() {
            // Objects with an escaped key are left to the full validator.
            let Cow::Borrowed(key) = *key else { return None };
            let at = self.position_from(next, key);
            if let Some((at, head)) = at.and_then(|at| Some((at, self.heads.get(at)?)))
                && seen & 1 << at == 0
                && head.takes(value)
            {
                seen |= 1 << at;
                next = at + 1;
                continue;
            }
            match at.and_then(|at| Some((at, self.properties.get(at)?))) {
                // If a key is repeated, the full validator sees the last value.
                Some((at, _)) if seen & 1 << at != 0 => return None,
                Some((at, (name, property))) => {
                    let before = found.len();
                    let place = Place::Field(&place, name);
                    match inner {
                        Some(inner) => property.tell_fields(value, inner, place, found)?,
                        None => property.tell_value(value, place, found)?,
                    }
                    if found.len() > before {
                        found.rank(before, self.ranks.get(at)? + 1);
                    }
                    seen |= 1 << at;
                    next = at + 1;
                }
                None => match &self.rest {
                    Rest::Closed => unexpected.push(key),
                    Rest::Open => {}
                    Rest::Each(shape) if shape.reads(&mut Scan::new(value.text())) => {}
                    Rest::Each(_) => return None,
                },
            }
        }
        self.tell_unexpected(unexpected, place, found)?;
        self.tell_missing(seen, place, found)?;
        found.sort(first);
        match &self.variants {
            Some(variants) => variants.tell_fields(value, fields, place, found),
            None => Some(()),
        }
    }

    /// The index of a property. The search starts at `next`, because keys are mostly in order.
    fn position_from(&self, next: usize, name: &str) -> Option<usize> {
        let (before, after) = self.heads.split_at_checked(next)?;
        let (front, length) = (front(name), name.len());
        let is_it = |at: usize, head: &Head| {
            head.front == front
                && head.length == length
                && (length <= 8 || self.properties.get(at).is_some_and(|(known, _)| known == name))
        };
        let find = |part: &[Head], from: usize| {
            let mut places = part.iter().enumerate().map(|(nth, head)| (from + nth, head));
            places.find(|(at, head)| is_it(*at, head)).map(|(at, _)| at)
        };
        find(after, next).or_else(|| find(before, 0))
    }
}
