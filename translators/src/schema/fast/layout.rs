//! What is wrong with every object of a layout.
//!
//! In: an object that was checked and taken apart, and its shape. Out: its layout: its keys in their order, and of each value
//! what decides what is wrong with it. Never: a layout of two objects with which different things are wrong; a value, besides
//! words that the schema knows, `null`, `true` and `false`.
//!
//! What one server sends has few layouts, so what is wrong with an object is most often known once its keys are compared.

use super::fields::{front, is_of};
use super::found::{Found, Place};
use super::told::TYPES_KNOWN;
use super::{ObjectShape, Rest, Shape};
use crate::json::{Fields, Json, Kind};

/// An object of more fields than these, those of the objects in it among them, has no layout.
const MOST_FIELDS: usize = 96;

/// Nor has one whose keys and words are longer than this, in bytes.
const MOST_BYTES: usize = 2 << 10;

/// A word that is longer than this, in bytes, is looked at each time.
const WORD: usize = 48;

/// The layout of an object.
#[derive(Debug)]
pub(in super::super) struct Layout(Box<[Slot]>);

/// The names of an object's own fields in a number: objects of one layout have the same one, and most others have another.
pub(in super::super) fn print(fields: Fields<'_, '_>) -> u64 {
    fields.iter().fold(0, |print: u64, (key, ..)| {
        (print.rotate_left(23) ^ front(key) ^ key.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    })
}

/// A field.
#[derive(Debug)]
struct Slot {
    key: Box<str>,
    value: Meant,
}

/// What is known of a value.
#[derive(Debug)]
enum Meant {
    /// Nothing is wrong with any value of these types, as bits.
    Of(u8),
    /// It is this text.
    Text(Box<str>),
    /// It is an object, and has the next so many slots.
    Object(usize),
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
    /// What holds for objects.
    Object,
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
        let mut slots = Vec::new();
        let looks = [Look { shape: self, way: Vec::new() }];
        Objects::of(&looks, fields)?.learn(fields, &mut slots, &mut 0)?;
        Some(Layout(slots.into()))
    }

    /// Whether an object has this layout, which was learnt by this shape.
    pub(in super::super) fn is_laid_out(&self, layout: &Layout, fields: Fields<'_, '_>) -> bool {
        let mut looked = Vec::new();
        agrees(&layout.0, fields, &mut looked)
            && looked.into_iter().all(|(known, value)| known.is_found_by(self, value) == Some(true))
    }

    fn at(&self, way: &[Step]) -> Option<&Self> {
        way.iter().try_fold(self, |shape, step| match *step {
            Step::Property(at) => shape.object.as_ref()?.properties.get(at).map(|(_, property)| property),
            Step::Branch(at) => shape.object.as_ref()?.variants.as_ref()?.branch(at),
            Step::Object => shape.by_type.as_ref()?.shape(Kind::Object),
        })
    }
}

/// Compares what is cheap to compare; gives what is left to be looked at.
fn agrees<'l, 'a>(mut slots: &'l [Slot], fields: Fields<'_, 'a>, looked: &mut Vec<(&'l Looked, Json<'a>)>) -> bool {
    for (key, value, inner) in fields.iter() {
        let Some((slot, rest)) = slots.split_first() else { return false };
        slots = rest;
        if **key != *slot.key {
            return false;
        }
        let fits = match &slot.value {
            Meant::Of(types) => is_of(*types, value),
            Meant::Text(text) => value.text() == &**text,
            Meant::Object(count) => match (slots.split_at_checked(*count), inner) {
                (Some((own, rest)), Some(inner)) => {
                    slots = rest;
                    agrees(own, inner, looked)
                }
                _ => false,
            },
            Meant::Looked(known) => {
                looked.push((known, value));
                true
            }
        };
        if !fits {
            return false;
        }
    }
    slots.is_empty()
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
                looks.push(Look { shape, way: after(&way, Step::Object) });
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
            *bytes += key.len();
            if slots.len() == MOST_FIELDS || *bytes > MOST_BYTES {
                return None;
            }
            let looks = self.at(key)?;
            let place = slots.len();
            // What is not known yet of an object: its slots come behind its own.
            slots.push(Slot { key: (**key).into(), value: Meant::Object(0) });
            let meant = if self.deciding.contains(&&**key) {
                text(value, bytes)
            } else {
                let plain = looks.iter().fold(TYPES_KNOWN, |all, look| all & look.shape.plain());
                match inner {
                    _ if is_of(plain, value) => Meant::Of(plain),
                    Some(inner) => {
                        Self::of(&looks, inner)?.learn(inner, slots, bytes)?;
                        Meant::Object(slots.len() - place - 1)
                    }
                    None => looked(&looks, value, bytes)?,
                }
            };
            slots.get_mut(place)?.value = meant;
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
