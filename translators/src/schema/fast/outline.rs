//! What a shape says of events by their outline alone.
//!
//! In: the keys of an object, and of what kind each value is. Out: `true` where every object of that outline is valid. Never:
//! `true` where it depends on a value.

use super::{ObjectShape, Rest, Shape, StringShape};
use crate::encode::{Field, Kind};

impl Shape {
    /// Whether every object with these fields is valid.
    pub(in super::super) fn holds_for_all(&self, outline: &[Field]) -> bool {
        let Some(object) = self.object.as_deref().filter(|_| self.by_type.is_none()) else { return false };
        if object.variants.is_some() {
            return false;
        }
        let mut seen = 0;
        let fits = outline.iter().all(|field| match object.position(field.key) {
            Some(at) => {
                seen |= 1 << at;
                object.properties.get(at).is_some_and(|(_, shape)| shape.takes_every(field.kind))
            }
            None => matches!(object.rest, Rest::Open),
        });
        fits && seen & object.required == object.required
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
            Kind::Integer => (self.integer || self.number) && self.minimum.is_none() && self.maximum.is_none(),
            Kind::Number => self.number && self.minimum.is_none() && self.maximum.is_none(),
            Kind::Uuid => string(&|shape| {
                let any = StringShape { format: None, min_length: 0, ..shape.clone() };
                // A format other than that of UUIDs says something else of them.
                any.is_free() && shape.min_length <= 36 && shape.format.is_none_or(|format| format.is_uuid())
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
            Kind::Unknown => false,
        }
    }
}

impl StringShape {
    /// Whether nothing is said of a string but how long it is at least.
    pub(super) fn is_free(&self) -> bool {
        self.one_of.is_none() && self.spelling.is_none() && self.format.is_none() && self.ulid.is_none()
    }
}

impl ObjectShape {
    pub(super) fn is_free(&self) -> bool {
        self.properties.is_empty() && self.required == 0 && matches!(self.rest, Rest::Open) && self.variants.is_none()
    }
}
