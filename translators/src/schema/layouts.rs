//! A cache of verdicts on external objects by their layout.
//!
//! Input: an object's fields and the shape of its schema. Output: the cached verdict for its layout. Never: more layouts than
//! the bound, a lock, or an eviction: one server sends few layouts.

use super::fast::{Glance, Layout, Shape};
use crate::json::Fields;
use std::sync::OnceLock;

/// Default limit of cached layouts for each kind of object.
const MOST: usize = 32;

/// How many slots are probed for a layout.
const PLACES: usize = 32;

/// The cached layouts of one kind of object, with the verdict for each.
#[derive(Debug)]
pub(super) struct Layouts<T>(Box<[OnceLock<Known<T>>]>);

#[derive(Debug)]
struct Known<T> {
    /// The fingerprint of the object that it was learnt from.
    glance: Glance,
    layout: Layout,
    said: T,
}

impl<T> Default for Layouts<T> {
    fn default() -> Self {
        Self::of(MOST)
    }
}

impl<T> Layouts<T> {
    /// A cache for `most` layouts.
    pub(super) fn of(most: usize) -> Self {
        Self((0..most).map(|_| OnceLock::new()).collect())
    }

    /// The verdict on an object; `None` if its layout is not cached.
    pub(super) fn said(&self, shape: &Shape, fields: Fields<'_, '_>) -> Option<&T> {
        let glance = Glance::of(fields);
        let known = || self.places(glance).map_while(OnceLock::get);
        let is_laid_out = |known: &&Known<T>| shape.is_laid_out(&known.layout, fields);
        let alike = || known().filter(|known| known.glance.print == glance.print);
        // Try those with an equal `filled` first: objects often differ only near their end, so a comparison is expensive.
        let best = alike().filter(|known| known.glance.filled == glance.filled).find(is_laid_out);
        let found = best.or_else(|| alike().filter(|known| known.glance.filled != glance.filled).find(is_laid_out));
        found.map(|known| &known.said)
    }

    /// Caches the verdict for all objects with this layout. `said` is called only if a slot is free. It returns `None` if the
    /// verdict is not certain.
    pub(super) fn learn(&self, shape: &Shape, fields: Fields<'_, '_>, said: impl FnOnce() -> Option<T>) {
        let glance = Glance::of(fields);
        if let Some(free) = self.places(glance).find(|place| place.get().is_none())
            && let Some(layout) = shape.layout(fields)
            && let Some(said) = said()
        {
            // If another thread took the slot first, this layout is learnt at another time.
            let _ = free.set(Known { glance, layout, said });
        }
    }

    /// The slots to probe for a layout. They fill in order, so a search may stop at the first free one.
    fn places(&self, glance: Glance) -> impl Iterator<Item = &OnceLock<Known<T>>> {
        let start = (glance.print >> 32) as usize % self.0.len().max(1);
        let (before, from) = self.0.split_at(start);
        from.iter().chain(before).take(PLACES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::RecordErrors;
    use crate::json::Json;

    fn shape() -> Shape {
        let schema = r#"{"type":"object","properties":{"w":{"type":"string","enum":["x","y"]},"n":{"type":"integer"},
            "o":{"type":"string"},"p":{"type":"string"},"q":{"type":"string"},"r":{"type":"string"}}}"#;
        Shape::compile(Json::parse(schema).unwrap()).unwrap()
    }

    /// Learns the faults of an object; returns those that were cached before.
    fn check(layouts: &Layouts<RecordErrors>, shape: &Shape, text: &str) -> Option<Vec<String>> {
        let object = Json::parse(text).unwrap();
        let fields = object.object().unwrap();
        let known = layouts.said(shape, fields.fields()).map(|faults| faults.to_vec());
        let found = shape.found_in(object, fields.fields()).unwrap();
        let told: RecordErrors = found.iter().map(|(pointer, _, message)| [pointer, message].join(" ")).collect();
        if let Some(known) = &known {
            assert_eq!(*known, *told, "{text}");
        }
        layouts.learn(shape, fields.fields(), || Some(told));
        known
    }

    #[test]
    fn of_one_layout_the_same_is_said() {
        let (layouts, shape) = (Layouts::default(), shape());
        assert_eq!(check(&layouts, &shape, r#"{"w":"x","n":1}"#), None);
        assert_eq!(check(&layouts, &shape, r#"{"w":"x","n":23}"#), Some(vec![]));
        assert_eq!(check(&layouts, &shape, r#"{"w":"y","n":1}"#), None, "the same keys, another word");
        assert_eq!(check(&layouts, &shape, r#"{"w":"x","n":1.5}"#), None, "the same keys, another type");
        let broken = Some(vec!["/n value is not of type \"integer\"".to_owned()]);
        assert_eq!(check(&layouts, &shape, r#"{"w":"x","n":2.5}"#), broken);
        assert_eq!(check(&layouts, &shape, r#"{"n":2,"w":"x"}"#), None, "another order");
    }

    #[test]
    fn no_more_layouts_are_kept_than_there_is_room_for() {
        let (layouts, shape) = (Layouts::of(4), shape());
        let object = |nth: usize| format!(r#"{{"n":{nth},"k{nth}":1}}"#);
        assert!((0..9).all(|nth| check(&layouts, &shape, &object(nth)).is_none()));
        let known: Vec<usize> = (0..9).filter(|&nth| check(&layouts, &shape, &object(nth)).is_some()).collect();
        assert_eq!(known, [0, 1, 2, 3], "the first ones stay");
        // Nor are more layouts with the same keys kept than slots are probed.
        let layouts = Layouts::of(96);
        let object = |nth: usize| {
            let word = |bit: usize| nth >> bit & 1 == 1;
            let words = (word(0), word(1), word(2), word(3), word(4), word(5));
            format!(
                r#"{{"w":{},"n":{},"o":{},"p":{},"q":{},"r":{}}}"#,
                words.0, words.1, words.2, words.3, words.4, words.5
            )
        };
        assert!((0..64).all(|nth| check(&layouts, &shape, &object(nth)).is_none()));
        let known = (0..64).filter(|&nth| check(&layouts, &shape, &object(nth)).is_some()).count();
        assert_eq!(known, PLACES);
    }
}
