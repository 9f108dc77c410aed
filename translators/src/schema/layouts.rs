//! The layouts of objects that others sent, and what is said of all objects of each.
//!
//! In: an object's fields, and the shape of its schema. Out: what was said of those that are laid out like it. Never: more
//! layouts than a bound, a lock, a layout forgotten: a server keeps to its own.

use super::fast::{Glance, Layout, Shape};
use crate::json::Fields;
use std::sync::OnceLock;

/// How many layouts of one kind of object are kept, where nothing else is said.
const MOST: usize = 32;

/// How many places a layout may stand in.
const PLACES: usize = 32;

/// The layouts of one kind of object, with what is said of each.
#[derive(Debug)]
pub(super) struct Layouts<T>(Box<[OnceLock<Known<T>>]>);

#[derive(Debug)]
struct Known<T> {
    /// What was seen of the object from which it was learnt.
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
    /// Room for so many layouts.
    pub(super) fn of(most: usize) -> Self {
        Self((0..most).map(|_| OnceLock::new()).collect())
    }

    /// What is said of an object; `None` where its layout is not known.
    pub(super) fn said(&self, shape: &Shape, fields: Fields<'_, '_>) -> Option<&T> {
        let glance = Glance::of(fields);
        let known = || self.places(glance).map_while(OnceLock::get);
        let is_laid_out = |known: &&Known<T>| shape.is_laid_out(&known.layout, fields);
        let alike = || known().filter(|known| known.glance.print == glance.print);
        // First those that look the same: what differs is often found only towards the end.
        let best = alike().filter(|known| known.glance.filled == glance.filled).find(is_laid_out);
        let found = best.or_else(|| alike().filter(|known| known.glance.filled != glance.filled).find(is_laid_out));
        found.map(|known| &known.said)
    }

    /// Keeps what is said of every object that is laid out as this one. It is asked for where there is room, and is `None`
    /// where the shape was not sure of it.
    pub(super) fn learn(&self, shape: &Shape, fields: Fields<'_, '_>, said: impl FnOnce() -> Option<T>) {
        let glance = Glance::of(fields);
        if let Some(free) = self.places(glance).find(|place| place.get().is_none())
            && let Some(layout) = shape.layout(fields)
            && let Some(said) = said()
        {
            // Another thread may have been faster: then its layout stands there, and this one is learnt another time.
            let _ = free.set(Known { glance, layout, said });
        }
    }

    /// The places in which a layout may stand; behind the first one that is free it does not.
    fn places(&self, glance: Glance) -> impl Iterator<Item = &OnceLock<Known<T>>> {
        let start = (glance.print >> 32) as usize % self.0.len().max(1);
        let (before, from) = self.0.split_at(start);
        from.iter().chain(before).take(PLACES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Faults;
    use crate::json::Json;

    fn shape() -> Shape {
        let schema = r#"{"type":"object","properties":{"w":{"type":"string","enum":["x","y"]},"n":{"type":"integer"},
            "o":{"type":"string"},"p":{"type":"string"},"q":{"type":"string"},"r":{"type":"string"}}}"#;
        Shape::compile(Json::parse(schema).unwrap()).unwrap()
    }

    /// Learns what is wrong with an object; what was known of it before.
    fn check(layouts: &Layouts<Faults>, shape: &Shape, text: &str) -> Option<Vec<String>> {
        let object = Json::parse(text).unwrap();
        let fields = object.object().unwrap();
        let known = layouts.said(shape, fields.fields()).map(|faults| faults.to_vec());
        let found = shape.found_in(object, fields.fields()).unwrap();
        let told: Faults = found.iter().map(|(pointer, _, message)| [pointer, message].join(" ")).collect();
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
        // Nor are more kept of the same keys than places are looked at.
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
