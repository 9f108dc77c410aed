//! Finds the violations in a text without a DOM, with the full validator's messages.
//!
//! Input: JSON text and the shape of its schema. Output: every violation, in the full validator's order and words. Never: an
//! incomplete list. If anything is uncertain (a repeated key, an escape in a word, a property that matches only the schema for
//! additional properties), there is no result and the caller asks the full validator.
//!
//! Order: within a value, the order of the keywords in [`Shape::tell`]; among properties, by the bytes of their names; among
//! items and branches, their own order.

use super::format::is_ulid;
use super::found::{Found, LAST, Place, UNEXPECTED};
use super::told::{ARRAY, BOOLEAN, INTEGER, NULL, NUMBER, OBJECT, STRING, Told};
use super::{ArrayShape, ObjectShape, Rest, Shape, StringShape, is_integer};
use crate::json::scan::{Quoted, Scan};
use crate::schema::Breach;

impl Shape {
    /// Every violation in a JSON text, empty if it is valid; `None` if the full validator must decide.
    pub fn breaches(&self, text: &str) -> Option<Vec<Breach>> {
        let (mut scan, mut found) = (Scan::new(text), Found::default());
        self.tell(&mut scan, Place::Whole, &mut found)?;
        scan.peek().is_none().then(|| found.breaches())
    }

    pub(super) fn tell<'s>(&'s self, scan: &mut Scan<'_>, place: Place<'_>, found: &mut Found<'s>) -> Option<()> {
        if self.any {
            return scan.value().map(drop);
        }
        let Some(told) = &self.told else { return self.reads(scan).then_some(()) };
        if let Some(by_type) = &self.by_type
            && by_type.tell(scan, place, found)?
        {
            return Some(());
        }
        let first = scan.peek()?;
        let start = *scan;
        match first {
            b'"' => {
                let text = scan.string()?;
                told.basics(STRING, Some(text), place, found)?;
                self.string.as_ref().map_or(Some(()), |shape| shape.tell(text, told, place, found))
            }
            b'{' => {
                told.basics(OBJECT, None, place, found)?;
                match &self.object {
                    Some(shape) => shape.tell(scan, place, found),
                    None => scan.value().map(drop),
                }
            }
            b'[' => {
                told.basics(ARRAY, None, place, found)?;
                match &self.array {
                    Some(shape) => shape.tell(scan, told, place, found),
                    None => scan.value().map(drop),
                }
            }
            first => {
                let text = scan.value()?;
                let kind = match first {
                    b'n' => NULL,
                    b't' | b'f' => BOOLEAN,
                    _ if is_integer(text) => INTEGER | NUMBER,
                    _ => NUMBER,
                };
                told.basics(kind, None, place, found)?;
                if kind & NUMBER == 0 { Some(()) } else { self.tell_bounds(text, told, place, found) }
            }
        }?;
        match self.object.as_ref().and_then(|object| object.variants.as_ref()) {
            Some(variants) if told.has_branches && first != b'{' => variants.tell_every(start, place, found),
            _ => Some(()),
        }
    }

    /// Reports violations of a number's bounds.
    pub(super) fn tell_bounds<'s>(
        &self,
        text: &str,
        told: &'s Told,
        place: Place<'_>,
        found: &mut Found<'s>,
    ) -> Option<()> {
        if self.minimum.is_none() && self.maximum.is_none() {
            return Some(());
        }
        let number: f64 = text.parse().ok()?;
        if self.minimum.is_some_and(|bound| number < bound) {
            found.push(place, "minimum", &*told.too_small)?;
        }
        if self.maximum.is_some_and(|bound| number > bound) {
            found.push(place, "maximum", &*told.too_large)?;
        }
        Some(())
    }
}

impl StringShape {
    pub(super) fn tell<'s>(
        &self,
        text: Quoted<'_>,
        told: &'s Told,
        place: Place<'_>,
        found: &mut Found<'s>,
    ) -> Option<()> {
        let is_free = self.spelling.is_none() && self.format.is_none() && self.ulid.is_none() && self.min_length == 0;
        if is_free {
            return Some(());
        }
        if text.escaped {
            return None;
        }
        let text = text.inner;
        if text.chars().take(self.min_length).count() < self.min_length {
            found.push(place, "minLength", &*told.too_short)?;
        }
        let is_spelled = self.spelling.as_ref().is_none_or(|spelling| spelling.accepts(text))
            && self.ulid.as_deref().is_none_or(|prefix| text.strip_prefix(prefix).is_some_and(is_ulid));
        if !is_spelled {
            found.push(place, "pattern", told.misspelt.as_deref()?)?;
        }
        match self.format {
            Some(format) if !format.is_kept_by(text)? => found.push(place, "format", format.message()),
            _ => Some(()),
        }
    }
}

impl ArrayShape {
    pub(super) fn tell<'s>(
        &'s self,
        scan: &mut Scan<'_>,
        told: &'s Told,
        place: Place<'_>,
        found: &mut Found<'s>,
    ) -> Option<()> {
        if !scan.take(b'[') {
            return None;
        }
        let (mut count, first) = (0, found.len());
        while scan.begin_item() {
            match &self.items {
                Some(items) => items.tell(scan, Place::Item(&place, count), found)?,
                None => drop(scan.value()?),
            }
            count += 1;
        }
        if count < self.min_items {
            found.push(place, "minItems", &*told.too_few)?;
            found.first(first);
        }
        scan.take(b']').then_some(())
    }
}

impl ObjectShape {
    pub(super) fn tell<'s>(&'s self, scan: &mut Scan<'_>, place: Place<'_>, found: &mut Found<'s>) -> Option<()> {
        let (start, first) = (*scan, found.len());
        let (mut seen, mut next, mut unexpected) = (0u64, 0, Vec::new());
        loop {
            scan.begin_field();
            let (at, key) = match self.due(scan, next) {
                Some(at) => (Some(at), ""),
                None => match scan.key() {
                    None => break,
                    Some(key) if key.escaped => return None,
                    Some(key) => (self.position(key.inner), key.inner),
                },
            };
            match at.and_then(|at| Some((at, self.properties.get(at)?))) {
                // If a key is repeated, the full validator sees the last value.
                Some((at, _)) if seen & 1 << at != 0 => return None,
                Some((at, (name, property))) => {
                    let before = found.len();
                    property.tell(scan, Place::Field(&place, name), found)?;
                    found.rank(before, self.ranks.get(at)? + 1);
                    seen |= 1 << at;
                    next = at + 1;
                }
                None => match &self.rest {
                    Rest::Closed => {
                        unexpected.push(key);
                        scan.value()?;
                    }
                    Rest::Open => drop(scan.value()?),
                    Rest::Each(shape) if shape.reads(scan) => {}
                    Rest::Each(_) => return None,
                },
            }
        }
        if !scan.take(b'}') {
            return None;
        }
        self.tell_unexpected(unexpected, place, found)?;
        self.tell_missing(seen, place, found)?;
        found.sort(first);
        match &self.variants {
            Some(variants) => variants.tell(start, place, found),
            None => Some(()),
        }
    }

    /// Reports missing required properties; `seen` is the bit set of those that are present.
    pub(super) fn tell_missing<'s>(&'s self, seen: u64, place: Place<'_>, found: &mut Found<'s>) -> Option<()> {
        if seen & self.required == self.required {
            return Some(());
        }
        let first = found.len();
        let mut missing = self.required_in_order.iter().filter(|(at, _)| seen & 1 << at == 0);
        missing.try_for_each(|(_, message)| found.push(place, "required", &**message))?;
        // If a closed object has exactly one required property, the full validator looks for it during its pass over the
        // properties.
        if matches!(self.rest, Rest::Closed) && self.required_in_order.len() == 1 {
            found.rank(first, LAST);
        }
        Some(())
    }

    /// Reports properties that are not allowed.
    pub(super) fn tell_unexpected(&self, mut names: Vec<&str>, place: Place<'_>, found: &mut Found<'_>) -> Option<()> {
        if names.is_empty() {
            return Some(());
        }
        // If no property is allowed at all, the full validator reports each one separately.
        if self.properties.is_empty() {
            return None;
        }
        names.sort_unstable();
        names.dedup();
        let were = if names.len() == 1 { "was" } else { "were" };
        let message = format!("Additional properties are not allowed ('{}' {were} unexpected)", names.join("', '"));
        let first = found.len();
        found.push(place, "additionalProperties", message)?;
        found.rank(first, UNEXPECTED);
        Some(())
    }
}
