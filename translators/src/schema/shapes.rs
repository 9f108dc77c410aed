//! Verdicts cached by shape: what a schema says about one object holds for every object of the same shape.
//!
//! Input: the events of one type, or the parsed records of one kind. Output: the cached verdict on their shape. Never: a verdict that
//! depends on more than the shape, more verdicts than the bound, a lock, or an eviction: one server sends few shapes.
//!
//! A shape is an object's keys in order, and for each value the part that decides about violations. The shape of an
//! [`event`] is recorded by its writer; the shape of a [`record`] is compared field by field. A [`Fingerprint`] selects the cached
//! shapes that an object may have.

mod compare;
mod event;
mod record;

use super::rules::Rules;
use crate::encode::{EventShape, Field};
use crate::hash::Fingerprint;
use crate::json::Fields;
#[cfg(test)]
pub(super) use event::is_always_valid;
use record::RecordShape;
use std::sync::OnceLock;

/// Default limit of cached shapes for each type of event or kind of record.
const MOST: usize = 32;

/// How many slots are probed for a shape.
const PROBES: usize = 32;

/// The cached verdicts on one type of event or kind of record.
#[derive(Debug)]
pub(super) struct ShapeCache<V>(Box<[OnceLock<Entry<V>>]>);

#[derive(Debug)]
struct Entry<V> {
    fingerprint: Fingerprint,
    /// Of the record that the shape was made from.
    sizes: Fingerprint,
    shape: Shape,
    verdict: V,
}

#[derive(Debug)]
enum Shape {
    Event(Box<[Field]>),
    Record(RecordShape),
}

impl<V> Default for ShapeCache<V> {
    fn default() -> Self {
        Self::with_capacity(MOST)
    }
}

impl<V> ShapeCache<V> {
    /// A cache for at most this many shapes.
    pub(super) fn with_capacity(most: usize) -> Self {
        Self((0..most).map(|_| OnceLock::new()).collect())
    }

    /// The verdict on every event of this shape.
    pub(super) fn event(&self, shape: EventShape<'_>) -> Option<&V> {
        let fingerprint = shape.fingerprint();
        let is_same = |known: &&Entry<V>| {
            known.fingerprint == fingerprint
                && matches!(&known.shape, Shape::Event(fields) if **fields == *shape.fields)
        };
        // Nearly always the shape is in the first slot.
        let first = self.0.get(fingerprint.slot(self.0.len()))?.get()?;
        let known = Some(first).filter(is_same).or_else(|| self.alike(fingerprint).find(is_same))?;
        Some(&known.verdict)
    }

    /// The verdict on every record of this shape. `rules` must be those that its shape was made from.
    pub(super) fn record(&self, rules: &Rules, fields: Fields<'_, '_>) -> Option<&V> {
        let (fingerprint, sizes) = record::fingerprints(fields);
        let is_same = |known: &&Entry<V>| matches!(&known.shape, Shape::Record(shape) if shape.is_of(rules, fields));
        // Try those of equal sizes first: records often differ only near their end, so a comparison is expensive.
        let best = self.alike(fingerprint).filter(|known| known.sizes == sizes).find(is_same);
        let others = || self.alike(fingerprint).filter(|known| known.sizes != sizes).find(is_same);
        best.or_else(others).map(|known| &known.verdict)
    }

    /// Caches the verdict on a valid event, if every event of its shape is valid.
    pub(super) fn learn_event(&self, rules: &Rules, shape: EventShape<'_>, verdict: V) {
        self.learn(shape.fingerprint(), Fingerprint::default(), || {
            event::is_always_valid(rules, shape.fields).then(|| (Shape::Event(shape.fields.into()), verdict))
        });
    }

    /// Caches the verdict on a record, unless values decide about it that are not part of a shape.
    pub(super) fn learn_record(&self, rules: &Rules, fields: Fields<'_, '_>, verdict: impl FnOnce() -> V) {
        let (fingerprint, sizes) = record::fingerprints(fields);
        self.learn(fingerprint, sizes, || Some((Shape::Record(RecordShape::new(rules, fields)?), verdict())));
    }

    /// `make` is called only if a slot is free.
    fn learn(&self, fingerprint: Fingerprint, sizes: Fingerprint, make: impl FnOnce() -> Option<(Shape, V)>) {
        if let Some(free) = self.slots(fingerprint).find(|slot| slot.get().is_none())
            && let Some((shape, verdict)) = make()
        {
            // If another thread took the slot first, this shape is learnt at another time.
            let _ = free.set(Entry { fingerprint, sizes, shape, verdict });
        }
    }

    fn alike(&self, fingerprint: Fingerprint) -> impl Iterator<Item = &Entry<V>> {
        let known = self.slots(fingerprint).map_while(OnceLock::get);
        known.filter(move |known| known.fingerprint == fingerprint)
    }

    /// The slots to probe. They fill in order, so a search may stop at the first free one.
    fn slots(&self, fingerprint: Fingerprint) -> impl Iterator<Item = &OnceLock<Entry<V>>> {
        let (before, from) = self.0.split_at(fingerprint.slot(self.0.len()));
        from.iter().chain(before).take(PROBES)
    }
}

#[cfg(test)]
pub(super) fn have_same_shape(rules: &Rules, one: Fields<'_, '_>, other: Fields<'_, '_>) -> Option<bool> {
    Some(RecordShape::new(rules, one)?.is_of(rules, other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;

    fn rules() -> Rules {
        let schema = r#"{"type":"object","properties":{"w":{"type":"string","enum":["x","y"]},"n":{"type":"integer"},
            "a":{"enum":["x"]},"b":{"enum":["x"]},"c":{"enum":["x"]},"d":{"enum":["x"]},"e":{"enum":["x"]}}}"#;
        Rules::compile(Json::parse(schema).unwrap()).unwrap()
    }

    /// Caches a record's text as the verdict on it; returns the one that was cached before.
    fn learn(cache: &ShapeCache<String>, rules: &Rules, text: &str) -> Option<String> {
        let object = Json::parse(text).unwrap().object().unwrap();
        let known = cache.record(rules, object.fields()).cloned();
        cache.learn_record(rules, object.fields(), || text.to_owned());
        known
    }

    #[test]
    fn records_of_the_same_shape_share_a_verdict() {
        let (cache, rules) = (ShapeCache::default(), rules());
        let learn = |text: &str| learn(&cache, &rules, text);
        assert_eq!(learn(r#"{"w":"x","n":1}"#), None);
        assert_eq!(learn(r#"{"w":"x","n":23}"#).as_deref(), Some(r#"{"w":"x","n":1}"#));
        assert_eq!(learn(r#"{"w":"y","n":1}"#), None, "the same keys, another word");
        assert_eq!(learn(r#"{"w":"x","n":1.5}"#), None, "the same keys, another type");
        assert_eq!(learn(r#"{"w":"x","n":2.5}"#).as_deref(), Some(r#"{"w":"x","n":1.5}"#));
        assert_eq!(learn(r#"{"w":"z","n":1}"#), None, "a word that is not allowed");
        assert_eq!(learn(r#"{"w":"z","n":2}"#).as_deref(), Some(r#"{"w":"z","n":1}"#));
        assert_eq!(learn(r#"{"n":2,"w":"x"}"#), None, "another order");
        let long = format!(r#"{{"w":"{}"}}"#, "z".repeat(60));
        assert_eq!((learn(&long), learn(&long)), (None, None), "a long text that violates the schema");
    }

    #[test]
    fn a_full_cache_keeps_its_first_shapes() {
        let (cache, rules) = (ShapeCache::with_capacity(4), rules());
        let object = |nth: usize| format!(r#"{{"n":{nth},"k{nth}":1}}"#);
        assert!((0..9).all(|nth| learn(&cache, &rules, &object(nth)).is_none()));
        let known: Vec<usize> = (0..9).filter(|&nth| learn(&cache, &rules, &object(nth)).is_some()).collect();
        assert_eq!(known, [0, 1, 2, 3]);
        assert_eq!(learn(&ShapeCache::with_capacity(0), &rules, &object(0)), None);
        // Of shapes with the same fingerprint, no more are kept than slots are probed.
        let cache = ShapeCache::with_capacity(96);
        let object = |nth: usize| {
            let word = |bit: usize| if nth >> bit & 1 == 1 { "x" } else { "y" };
            let fields = ["w", "a", "b", "c", "d", "e"].iter().enumerate();
            let fields: Vec<String> = fields.map(|(bit, key)| format!(r#""{key}":"{}""#, word(bit))).collect();
            format!("{{{}}}", fields.join(","))
        };
        assert!((0..64).all(|nth| learn(&cache, &rules, &object(nth)).is_none()));
        let known = (0..64).filter(|&nth| learn(&cache, &rules, &object(nth)).is_some()).count();
        assert_eq!(known, PROBES);
    }
}
