//! Layouts: objects with the same layout have the same violations.
//!
//! Input: an object that was checked and parsed, and the shape of its schema. Output: its layout: its keys in order, and for
//! each value the part that decides about violations. Never: one layout for two objects with different violations; a stored
//! value, except short deciding words, `null`, `true` and `false`.
//!
//! One server sends few layouts, so comparing the keys usually settles what is wrong with an object.

use super::fields::{Ends, is_of, same, type_of};
use super::found::{Found, Place};
use super::told::{ARRAY, TYPES_KNOWN};
use super::{ObjectShape, Rest, Shape};
use crate::json::scan::Scan;
use crate::json::{Fields, Json, Kind};
use std::borrow::Cow;

/// An object with more fields than this, including those of nested objects, has no layout.
const MOST_FIELDS: usize = 96;

/// An object whose keys and words together are longer than this, in bytes, has no layout.
const MOST_BYTES: usize = 2 << 10;

/// A word longer than this, in bytes, is validated each time. An object whose type field is such a word has no layout.
const WORD: usize = 48;

/// Arrays with more items than this are validated each time: they vary too much.
const ITEMS: usize = 2;

/// The layout of an object.
#[derive(Debug)]
pub(in super::super) struct Layout(Box<[Slot]>);

/// A fingerprint of an object that does not read the bytes of its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Glance {
    /// A hash of the lengths of its keys and the types of their values. Objects with one layout mostly share it.
    pub(in super::super) print: u64,
    /// A hash of how much each value contains. Objects for which both hashes are equal most likely share a layout.
    pub(in super::super) filled: u64,
}

impl Glance {
    pub(in super::super) fn of(fields: Fields<'_, '_>) -> Self {
        let mix = |all: u64, one: u64| (all.rotate_left(23) ^ one).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let nothing = Self { print: 0, filled: 0 };
        fields.iter().fold(nothing, |Self { print, filled }, (key, value, inner)| {
            let of = type_of(value);
            // For an array, only whether it is empty.
            let count = inner.map_or_else(|| usize::from(of == ARRAY && value.text().len() > 2), Fields::all);
            Self {
                print: mix(print, key.len() as u64 | u64::from(of) << 32),
                filled: filled.rotate_left(5) ^ count as u64,
            }
        })
    }
}

/// One field of a layout.
#[derive(Debug)]
struct Slot {
    key: Key,
    value: Meant,
}

#[derive(Debug)]
struct Key {
    /// The first and last bytes, so that most keys are compared without a function call or a memory indirection.
    ends: Ends,
    text: Box<str>,
}

impl Key {
    fn of(text: &str) -> Self {
        Self { ends: Ends::of(text), text: text.into() }
    }

    fn is(&self, text: &str) -> bool {
        self.text.len() == text.len()
            && self.ends == Ends::of(text)
            && (text.len() <= Ends::WHOLE || same(&self.text, text))
    }
}

/// What a layout requires of a value.
#[derive(Debug)]
enum Meant {
    /// A bit set of types: every value of these types is valid.
    Of(u8),
    /// Exactly this text.
    Text(Box<str>),
    /// An object; this many following slots are its fields and their contents.
    Object(usize),
    /// An array; this many following slots are its items and their contents.
    Items(usize),
    /// The value is validated each time.
    Looked(Box<Looked>),
}

/// The expected violations of a value that is validated each time.
#[derive(Debug)]
struct Looked {
    /// The paths to the shapes that validate it.
    ways: Vec<Vec<Step>>,
    /// The violations that they report: pointers relative to the value, and messages.
    found: Vec<(String, String)>,
}

/// One step from a shape to a shape within it.
#[derive(Clone, Copy, Debug)]
enum Step {
    Property(usize),
    Branch(usize),
    /// The rules for values of this type.
    Type(Kind),
    Items,
}

/// A shape that validates a value, with its path.
#[derive(Clone)]
struct Look<'s> {
    shape: &'s Shape,
    way: Vec<Step>,
}

impl Shape {
    /// The layout of an object; `None` if its violations are not certain or it exceeds a limit.
    pub(in super::super) fn layout(&self, fields: Fields<'_, '_>) -> Option<Layout> {
        let (mut slots, mut bytes) = (Vec::new(), 0);
        let looks = [Look { shape: self, way: Vec::new() }];
        Objects::of(&looks, fields)?.learn(fields, &mut slots, &mut bytes)?;
        (bytes <= MOST_BYTES).then(|| Layout(slots.into()))
    }

    /// Whether an object has this layout, which was learnt from this shape.
    pub(in super::super) fn is_laid_out(&self, layout: &Layout, fields: Fields<'_, '_>) -> bool {
        let mut left = Vec::new();
        agrees(&layout.0, fields, &mut left)
            && left.into_iter().all(|(known, value)| known.is_found_by(self, value) == Some(true))
    }

    fn at(&self, way: &[Step]) -> Option<&Self> {
        way.iter().try_fold(self, |shape, step| match *step {
            Step::Property(at) => shape.object.as_ref()?.properties.get(at).map(|(_, property)| property),
            Step::Branch(at) => shape.object.as_ref()?.variants.as_ref()?.branch(at),
            Step::Type(kind) => shape.by_type.as_ref()?.shape(kind),
            Step::Items => shape.array.as_ref()?.items.as_deref(),
        })
    }
}

/// The values that must still be validated.
type Left<'l, 'a> = Vec<(&'l Looked, Json<'a>)>;

/// Compares a parsed object with its slots; collects what is expensive in `left`.
fn agrees<'l, 'a>(mut slots: &'l [Slot], fields: Fields<'_, 'a>, left: &mut Left<'l, 'a>) -> bool {
    for (key, value, inner) in fields.iter() {
        let Some((slot, rest)) = slots.split_first() else { return false };
        slots = rest;
        if !slot.key.is(key) {
            return false;
        }
        let fits = match (&slot.value, inner) {
            (Meant::Of(types), _) => is_of(*types, value),
            (Meant::Text(text), _) => same(text, value.text()),
            (Meant::Looked(known), _) => {
                left.push((known, value));
                true
            }
            (Meant::Object(_), Some(inner)) => slot.own(&mut slots).is_some_and(|own| agrees(own, inner, left)),
            (Meant::Object(_) | Meant::Items(_), _) => slot.reads(&mut slots, &mut Scan::new(value.text()), left),
        };
        if !fits {
            return false;
        }
    }
    slots.is_empty()
}

impl Slot {
    /// The slots of the value's contents: the first of the following ones.
    fn own<'l>(&self, following: &mut &'l [Self]) -> Option<&'l [Self]> {
        let (Meant::Object(count) | Meant::Items(count)) = &self.value else { return None };
        let (own, rest) = following.split_at_checked(*count)?;
        *following = rest;
        Some(own)
    }

    /// Compares the next value with this slot; collects what is expensive in `left`.
    fn reads<'l, 'a>(&'l self, following: &mut &'l [Self], scan: &mut Scan<'a>, left: &mut Left<'l, 'a>) -> bool {
        match &self.value {
            Meant::Object(_) => self.own(following).is_some_and(|own| reads_object(own, scan, left)),
            Meant::Items(_) => self.own(following).is_some_and(|own| reads_items(own, scan, left)),
            Meant::Of(types) => scan.json().is_some_and(|value| is_of(*types, value)),
            Meant::Text(text) => scan.value().is_some_and(|value| same(text, value)),
            Meant::Looked(known) => scan.json().map(|value| left.push((known, value))).is_some(),
        }
    }
}

/// Compares an object that is not parsed yet.
fn reads_object<'l, 'a>(mut slots: &'l [Slot], scan: &mut Scan<'a>, left: &mut Left<'l, 'a>) -> bool {
    if scan.peek() != Some(b'{') {
        return false;
    }
    while let Some(key) = scan.key() {
        let Some((slot, rest)) = slots.split_first() else { return false };
        slots = rest;
        if !slot.key.is(key.inner) || !slot.reads(&mut slots, scan, left) {
            return false;
        }
    }
    slots.is_empty() && scan.take(b'}')
}

fn reads_items<'l, 'a>(mut slots: &'l [Slot], scan: &mut Scan<'a>, left: &mut Left<'l, 'a>) -> bool {
    if !scan.take(b'[') {
        return false;
    }
    while scan.begin_item() {
        let Some((slot, rest)) = slots.split_first() else { return false };
        slots = rest;
        if !slot.reads(&mut slots, scan, left) {
            return false;
        }
    }
    slots.is_empty() && scan.take(b']')
}

impl Looked {
    /// Whether a value has the expected violations; `None` if that is uncertain.
    fn is_found_by(&self, root: &Shape, value: Json<'_>) -> Option<bool> {
        let mut known = self.found.iter();
        for way in &self.ways {
            let mut found = Found::default();
            root.at(way)?.tell_value(value, Place::Whole, &mut found)?;
            if !found
                .iter()
                .all(|(at, _, message)| known.next().is_some_and(|known| known.0 == at && known.1 == message))
            {
                return Some(false);
            }
        }
        Some(known.next().is_none())
    }
}

/// The shapes that validate the fields of an object.
struct Objects<'s> {
    shapes: Vec<(&'s ObjectShape, Vec<Step>)>,
    /// The fields whose words select these shapes.
    deciding: Vec<&'s str>,
}

impl<'s> Objects<'s> {
    /// `None` if the selection is uncertain.
    fn of(looks: &[Look<'s>], fields: Fields<'_, '_>) -> Option<Self> {
        let mut this = Self { shapes: Vec::new(), deciding: Vec::new() };
        let mut looks = looks.to_vec();
        while let Some(Look { shape, way }) = looks.pop() {
            if shape.any {
                continue;
            }
            shape.told.as_ref()?;
            if let Some(shape) = shape.by_type.as_ref().and_then(|by_type| by_type.shape(Kind::Object)) {
                looks.push(Look { shape, way: after(&way, Step::Type(Kind::Object)) });
            } else if let Some(object) = &shape.object {
                if let Some(variants) = &object.variants {
                    this.deciding.push(variants.key());
                    for at in variants.meant_in(fields)? {
                        looks.push(Look { shape: variants.branch(at)?, way: after(&way, Step::Branch(at)) });
                    }
                }
                this.shapes.push((object, way));
            }
        }
        Some(this)
    }

    fn learn(&self, fields: Fields<'_, '_>, slots: &mut Vec<Slot>, bytes: &mut usize) -> Option<()> {
        for (key, value, inner) in fields.iter() {
            // Layouts compare keys as they are spelled, so a key with escapes has none.
            let Cow::Borrowed(key) = *key else { return None };
            let looks = self.at(key)?;
            slot(key, slots, bytes, |slots, bytes| {
                if self.deciding.contains(&key) {
                    return (value.text().len() <= WORD).then(|| text(value, bytes));
                }
                meant(&looks, value, inner, slots, bytes)
            })?;
        }
        Some(())
    }

    /// The shapes that validate a field; `None` if one of them has no messages.
    fn at(&self, key: &str) -> Option<Vec<Look<'s>>> {
        let mut looks = Vec::new();
        for (object, way) in &self.shapes {
            match object.position(key) {
                Some(at) => {
                    let (_, shape) = object.properties.get(at)?;
                    looks.push(Look { shape, way: after(way, Step::Property(at)) });
                }
                None if matches!(object.rest, Rest::Each(_)) => return None,
                // The message for a property that is not allowed depends only on its key.
                None => {}
            }
        }
        Some(looks)
    }
}

fn after(way: &[Step], step: Step) -> Vec<Step> {
    let mut way = way.to_vec();
    way.push(step);
    way
}

/// Adds a slot. The slots that `meant` adds after it describe the value's contents.
fn slot(
    key: &str,
    slots: &mut Vec<Slot>,
    bytes: &mut usize,
    meant: impl FnOnce(&mut Vec<Slot>, &mut usize) -> Option<Meant>,
) -> Option<()> {
    *bytes += key.len();
    if slots.len() == MOST_FIELDS || *bytes > MOST_BYTES {
        return None;
    }
    let place = slots.len();
    slots.push(Slot { key: Key::of(key), value: Meant::Of(0) });
    let value = match meant(slots, bytes)? {
        Meant::Object(_) => Meant::Object(slots.len() - place - 1),
        Meant::Items(_) => Meant::Items(slots.len() - place - 1),
        other => other,
    };
    slots.get_mut(place)?.value = value;
    Some(())
}

/// What a layout requires of a value. Adds the slots for its contents.
fn meant(
    looks: &[Look<'_>],
    value: Json<'_>,
    inner: Option<Fields<'_, '_>>,
    slots: &mut Vec<Slot>,
    bytes: &mut usize,
) -> Option<Meant> {
    let plain = looks.iter().fold(TYPES_KNOWN, |all, look| all & look.shape.plain());
    if is_of(plain, value) {
        return Some(Meant::Of(plain));
    }
    match (value.kind(), inner) {
        (Kind::Object, Some(inner)) => Objects::of(looks, inner)?.learn(inner, slots, bytes)?,
        (Kind::Object, None) => {
            let object = value.object()?;
            Objects::of(looks, object.fields())?.learn(object.fields(), slots, bytes)?;
        }
        (Kind::Array, _) => {
            let items = value.items();
            let are_few = (1..=ITEMS).contains(&items.len()) && items.iter().all(|item| item.kind() == Kind::Object);
            let Some(looks) = items_of(looks).filter(|_| are_few) else { return looked(looks, value, bytes) };
            for item in items {
                slot("", slots, bytes, |slots, bytes| meant(&looks, item, None, slots, bytes))?;
            }
            return Some(Meant::Items(0));
        }
        _ => return looked(looks, value, bytes),
    }
    Some(Meant::Object(0))
}

/// The shapes that validate the items of an array; `None` if more than the items and their count decides.
fn items_of<'s>(looks: &[Look<'s>]) -> Option<Vec<Look<'s>>> {
    let mut items = Vec::new();
    for Look { shape, way } in looks {
        let mut look = Look { shape, way: way.clone() };
        if let Some(shape) = shape.by_type.as_ref().and_then(|by_type| by_type.shape(Kind::Array)) {
            look = Look { shape, way: after(way, Step::Type(Kind::Array)) };
        }
        if look.shape.any {
            continue;
        }
        if look.shape.told.as_ref()?.has_branches || look.shape.by_type.is_some() {
            return None;
        }
        if let Some(shape) = look.shape.array.as_ref().and_then(|array| array.items.as_deref()) {
            items.push(Look { shape, way: after(&look.way, Step::Items) });
        }
    }
    Some(items)
}

fn text(value: Json<'_>, bytes: &mut usize) -> Meant {
    *bytes += value.text().len();
    Meant::Text(value.text().into())
}

/// What a layout requires of a value that is not an object.
fn looked(looks: &[Look<'_>], value: Json<'_>, bytes: &mut usize) -> Option<Meant> {
    let mut all = Vec::new();
    for look in looks {
        let mut found = Found::default();
        look.shape.tell_value(value, Place::Whole, &mut found)?;
        all.extend(found.iter().map(|(at, _, message)| (at.to_owned(), message.to_owned())));
    }
    Some(match value.kind() {
        Kind::Null | Kind::Bool => text(value, bytes),
        // An empty list is compared as text, so that an object whose list fills over time differs without validating the list.
        Kind::Array if value.text() == "[]" => text(value, bytes),
        Kind::String if all.is_empty() && value.text().len() <= WORD => text(value, bytes),
        _ => {
            *bytes += all.iter().map(|(at, message)| at.len() + message.len()).sum::<usize>();
            Meant::Looked(Box::new(Looked { ways: looks.iter().map(|look| look.way.clone()).collect(), found: all }))
        }
    })
}
