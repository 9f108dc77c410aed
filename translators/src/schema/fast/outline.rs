//! Decides from an outline alone whether events are valid.
//!
//! Input: the keys of an object and the kind of each value. Output: `true` if every object with that outline is valid. Never:
//! `true` if validity depends on a value.

use super::format::Format;
use super::{ObjectShape, Rest, Shape, StringShape};
use crate::encode::{Field, Kind};
use std::slice::Iter;

impl Shape {
    /// Whether every object with these fields is valid.
    pub(in super::super) fn holds_for_all(&self, outline: &[Field]) -> bool {
        let mut fields = outline.iter();
        self.takes_every_object(&mut fields) && fields.as_slice().is_empty()
    }

    /// Whether every object with the next fields, up to their end, is valid.
    fn takes_every_object(&self, fields: &mut Iter<'_, Field>) -> bool {
        if self.any {
            skip(fields);
            return true;
        }
        let object = self.object.as_deref().filter(|_| self.by_type.is_none());
        object.is_some_and(|object| object.takes_every(fields))
    }

    /// Whether every array of objects with the next outlines is valid.
    fn takes_every_array(&self, sorts: &mut Iter<'_, Field>) -> bool {
        let array = self.array.as_ref().filter(|array| self.by_type.is_none() && array.min_items <= 1);
        match array.map(|array| &array.items) {
            _ if self.any => skip(sorts),
            Some(None) => skip(sorts),
            Some(Some(items)) => {
                while let Some(Field { kind: Kind::Fields, .. }) = sorts.next() {
                    if !items.takes_every_object(sorts) {
                        return false;
                    }
                }
            }
            None => return false,
        }
        true
    }

    /// Whether every value of that kind is valid.
    fn takes_every(&self, kind: Kind) -> bool {
        if self.any {
            return true;
        }
        if self.by_type.is_some() {
            return false;
        }
        let string = |fits: &dyn Fn(&StringShape) -> bool| self.string.as_ref().is_some_and(fits);
        match kind {
            Kind::Null => self.null,
            Kind::Bool => self.bool,
            Kind::Unsigned => {
                let is_low = self.minimum.is_none_or(|bound| bound <= 0.0);
                (self.integer || self.number) && is_low && self.maximum.is_none()
            }
            Kind::Integer => {
                let is_low = self.minimum.is_none_or(|bound| bound <= f64::from(i32::MIN));
                let is_high = self.maximum.is_none_or(|bound| bound >= f64::from(i32::MAX));
                (self.integer || self.number) && is_low && is_high
            }
            Kind::Number => self.number && self.minimum.is_none() && self.maximum.is_none(),
            Kind::Amount => self.number && self.minimum.is_none_or(|bound| bound <= 0.0) && self.maximum.is_none(),
            Kind::Uuid => string(&|shape| shape.takes_every(36, |format| format.is_uuid())),
            Kind::Time => string(&|shape| shape.takes_every(20, |format| !format.is_uuid())),
            Kind::Ulid(prefix) => string(&|shape| {
                let is_prefix = shape.ulid.as_deref().is_none_or(|wanted| wanted == prefix);
                let rest = StringShape { ulid: None, ..shape.clone() };
                is_prefix && rest.takes_every(26, |_| false)
            }),
            Kind::EmptyText => string(&|shape| shape.is_free() && shape.min_length == 0),
            Kind::Text => string(&|shape| shape.is_free() && shape.min_length <= 1),
            Kind::Word(word) => string(&|shape| shape.accepts_plain(word)),
            Kind::EmptyArray => self.array.as_ref().is_some_and(|shape| shape.min_items == 0),
            Kind::Texts => self.array.as_ref().is_some_and(|shape| {
                let items = shape.items.as_ref();
                shape.min_items <= 1
                    && items.is_none_or(|items| items.takes_every(Kind::EmptyText) && items.takes_every(Kind::Text))
            }),
            Kind::Object => self.object.as_deref().is_some_and(ObjectShape::is_free),
            // These are decided by what follows them, which is handled elsewhere.
            Kind::Fields | Kind::Items | Kind::End | Kind::Unknown => false,
        }
    }
}

impl StringShape {
    /// Whether a string is unconstrained except for its minimum length.
    pub(super) fn is_free(&self) -> bool {
        self.one_of.is_none() && self.spelling.is_none() && self.format.is_none() && self.ulid.is_none()
    }

    /// Whether every string of at least this length is valid, if it has the formats that `has` accepts.
    fn takes_every(&self, length: usize, has: impl Fn(Format) -> bool) -> bool {
        let unformed = Self { format: None, ..self.clone() };
        unformed.is_free() && self.min_length <= length && self.format.is_none_or(has)
    }
}

impl ObjectShape {
    fn takes_every(&self, fields: &mut Iter<'_, Field>) -> bool {
        let mut seen = 0;
        while let Some(field) = fields.next() {
            let property = match (field.kind, self.position(field.key.name())) {
                (Kind::End, _) => break,
                (_, None) if matches!(self.rest, Rest::Open) => None,
                (_, None) => return false,
                (_, Some(at)) => {
                    seen |= 1 << at;
                    self.properties.get(at).map(|(_, shape)| shape)
                }
            };
            let fits = match (field.kind, property) {
                (Kind::Fields | Kind::Items, None) => {
                    skip(fields);
                    true
                }
                (Kind::Fields, Some(shape)) => shape.takes_every_object(fields),
                (Kind::Items, Some(shape)) => shape.takes_every_array(fields),
                (kind, Some(shape)) => shape.takes_every(kind),
                (_, None) => true,
            };
            if !fits {
                return false;
            }
        }
        seen & self.required == self.required && self.variants.is_none()
    }

    pub(super) fn is_free(&self) -> bool {
        self.properties.is_empty() && self.required == 0 && matches!(self.rest, Rest::Open) && self.variants.is_none()
    }
}

/// Skips past the end of the current object or array.
fn skip(fields: &mut Iter<'_, Field>) {
    let mut open = 1;
    while open > 0
        && let Some(field) = fields.next()
    {
        match field.kind {
            Kind::Fields | Kind::Items => open += 1,
            Kind::End => open -= 1,
            _ => {}
        }
    }
}
