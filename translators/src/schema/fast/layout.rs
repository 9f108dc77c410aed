//! What is wrong with every object of a layout.
//!
//! In: an object that was checked and taken apart, and its shape. Out: its layout: its keys in their order, and of each value
//! what decides what is wrong with it. Never: a layout of two objects with which different things are wrong; a value, besides
//! short words that decide, `null`, `true` and `false`.
//!
//! What one server sends has few layouts, so what is wrong with an object is most often known once its keys are compared.

use super::fields::{Ends, is_of, same, type_of};
use super::found::{Found, Place};
use super::told::{ARRAY, TYPES_KNOWN};
use super::{ObjectShape, Rest, Shape};
use crate::json::scan::Scan;
use crate::json::{Fields, Json, Kind};
use std::borrow::Cow;

/// An object of more fields than these, those of the objects in it among them, has no layout.
const MOST_FIELDS: usize = 96;

/// Nor has one whose keys and words are longer than this, in bytes.
const MOST_BYTES: usize = 2 << 10;

/// A word that is longer than this, in bytes, is looked at each time; an object that such a one decides has no layout.
const WORD: usize = 48;

/// So is an array of more items than these: they come in too many ways.
const ITEMS: usize = 2;

/// The layout of an object.
#[derive(Debug)]
pub(in super::super) struct Layout(Box<[Slot]>);

/// What is seen of an object without a look at its keys' letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Glance {
    /// How long its own keys are and of what types their values, in a number: objects of one layout mostly have the same one.
    pub(in super::super) print: u64,
    /// How much is in each value, in a number: of objects with the same print, those with the same one as well are most likely
    /// of one layout.
    pub(in super::super) filled: u64,
}

impl Glance {
    pub(in super::super) fn of(fields: Fields<'_, '_>) -> Self {
        let mix = |all: u64, one: u64| (all.rotate_left(23) ^ one).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let nothing = Self { print: 0, filled: 0 };
        fields.iter().fold(nothing, |Self { print, filled }, (key, value, inner)| {
            let of = type_of(value);
            // Of an array is only seen whether it is empty.
            let count = inner.map_or_else(|| usize::from(of == ARRAY && value.text().len() > 2), Fields::all);
            Self {
                print: mix(print, key.len() as u64 | u64::from(of) << 32),
                filled: filled.rotate_left(5) ^ count as u64,
            }
        })
    }
}

/// A field.
#[derive(Debug)]
struct Slot {
    key: Key,
    value: Meant,
}

#[derive(Debug)]
struct Key {
    /// The first and the last bytes, so that most keys are compared without a call, and without a look elsewhere.
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

/// What is known of a value.
#[derive(Debug)]
enum Meant {
    /// Nothing is wrong with any value of these types, as bits.
    Of(u8),
    /// It is this text.
    Text(Box<str>),
    /// It is an object; the next so many slots are its fields and what is in them.
    Object(usize),
    /// It is an array; the next so many slots are its items and what is in them.
    Items(usize),
    /// It is looked at each time.
    Looked(Box<Looked>),
}

/// What is wrong with a value that is looked at each time.
#[derive(Debug)]
struct Looked {
    /// The ways to the shapes that look at it.
    ways: Vec<Vec<Step>>,
    /// What they find: pointers from the value on, and messages.
    found: Vec<(String, String)>,
}

/// The way from a shape to one in it.
#[derive(Clone, Copy, Debug)]
enum Step {
    Property(usize),
    Branch(usize),
    /// What holds for values of this type.
    Type(Kind),
    Items,
}

/// A shape that looks at a value.
#[derive(Clone)]
struct Look<'s> {
    shape: &'s Shape,
    way: Vec<Step>,
}

impl Shape {
    /// The layout of an object of which it is sure what is wrong with it; `None` where it has none.
    pub(in super::super) fn layout(&self, fields: Fields<'_, '_>) -> Option<Layout> {
        let (mut slots, mut bytes) = (Vec::new(), 0);
        let looks = [Look { shape: self, way: Vec::new() }];
        Objects::of(&looks, fields)?.learn(fields, &mut slots, &mut bytes)?;
        (bytes <= MOST_BYTES).then(|| Layout(slots.into()))
    }

    /// Whether an object has this layout, which was learnt by this shape.
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

/// What is left to be looked at.
type Left<'l, 'a> = Vec<(&'l Looked, Json<'a>)>;

/// Compares an object that is taken apart, as far as that is cheap.
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
    /// The slots of what is in the value, which are the first of those that follow.
    fn own<'l>(&self, following: &mut &'l [Self]) -> Option<&'l [Self]> {
        let (Meant::Object(count) | Meant::Items(count)) = &self.value else { return None };
        let (own, rest) = following.split_at_checked(*count)?;
        *following = rest;
        Some(own)
    }

    /// Compares the value that comes, as far as that is cheap.
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

/// Compares an object that is not taken apart.
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
    /// Whether what is found in a value is the same; `None` where that is not sure.
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

/// The shapes that look at the fields of an object.
struct Objects<'s> {
    shapes: Vec<(&'s ObjectShape, Vec<Step>)>,
    /// The fields whose words decide which shapes these are.
    deciding: Vec<&'s str>,
}

impl<'s> Objects<'s> {
    /// `None` where it is not sure which ones.
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
            // What has escapes in it is compared as it is spelled.
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

    /// The shapes that look at a field; `None` where one does of which nothing can be told.
    fn at(&self, key: &str) -> Option<Vec<Look<'s>>> {
        let mut looks = Vec::new();
        for (object, way) in &self.shapes {
            match object.position(key) {
                Some(at) => {
                    let (_, shape) = object.properties.get(at)?;
                    looks.push(Look { shape, way: after(way, Step::Property(at)) });
                }
                None if matches!(object.rest, Rest::Each(_)) => return None,
                // What is said of a key that may not be there depends on nothing else.
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

/// Adds a slot; behind it, those that `meant` adds are what is in its value.
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

/// What decides what is wrong with a value; the slots of what is in it are added.
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

/// The shapes that look at the items of an array; `None` where more than those and their number decides.
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

/// What is known of a value that is no object, or one whose fields are not known.
fn looked(looks: &[Look<'_>], value: Json<'_>, bytes: &mut usize) -> Option<Meant> {
    let mut all = Vec::new();
    for look in looks {
        let mut found = Found::default();
        look.shape.tell_value(value, Place::Whole, &mut found)?;
        all.extend(found.iter().map(|(at, _, message)| (at.to_owned(), message.to_owned())));
    }
    Some(match value.kind() {
        Kind::Null | Kind::Bool => text(value, bytes),
        // So that an object whose list is filled by and by is seen to be another one without a look at the list.
        Kind::Array if value.text() == "[]" => text(value, bytes),
        Kind::String if all.is_empty() && value.text().len() <= WORD => text(value, bytes),
        _ => {
            *bytes += all.iter().map(|(at, message)| at.len() + message.len()).sum::<usize>();
            Meant::Looked(Box::new(Looked { ways: looks.iter().map(|look| look.way.clone()).collect(), found: all }))
        }
    })
}
