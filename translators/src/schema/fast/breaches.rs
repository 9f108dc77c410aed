//! What is wrong with a text that breaks its schema, told as the full validator tells it, without a DOM.
//!
//! In: a text that is JSON, and its shape. Out: every breach, in the full validator's order and words. Never: some of
//! the breaches. Where anything is not sure (a repeated key, an escape in a word, a property that only a schema of its own
//! allows), there is no answer, and the caller asks the full validator.
//!
//! The order within a value is that of the keywords in [`Shape::tell`]; among properties, that of the bytes of their names;
//! among items and branches, their own.

use super::format::is_ulid;
use super::{ArrayShape, ObjectShape, Rest, Shape, StringShape, is_integer};
use crate::json::scan::{Quoted, Scan};
use crate::json::{Json, Object};
use crate::schema::Breach;
use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

/// A text with more breaches than these goes to the full validator.
const MOST: usize = 256;

/// An `enum` of more values than these is told by the first of them and a count of the others.
const NAMED: usize = 3;

/// The types of values, in the order in which several are named.
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];
pub(super) const NULL: u8 = 1;
pub(super) const BOOLEAN: u8 = 1 << 1;
pub(super) const INTEGER: u8 = 1 << 2;
pub(super) const NUMBER: u8 = 1 << 3;
pub(super) const STRING: u8 = 1 << 4;
pub(super) const ARRAY: u8 = 1 << 5;
pub(super) const OBJECT: u8 = 1 << 6;
/// All of them.
pub(super) const TYPES_KNOWN: u8 = (1 << 7) - 1;

/// What is said of a value that breaks a schema.
#[derive(Debug)]
pub(super) struct Told {
    types: Option<Types>,
    pub(super) words: Option<Words>,
    /// What is said of a string that `pattern` refuses.
    misspelt: Option<String>,
    /// What is said of one that is shorter than `minLength`.
    too_short: String,
    /// What is said of an array with fewer items than `minItems`.
    too_few: String,
    /// What is said of a number below `minimum`.
    too_small: String,
    /// What is said of a number above `maximum`.
    too_large: String,
    /// It has `allOf`, whose conditions all hold for what is no object.
    pub(super) has_branches: bool,
}

/// `type`.
#[derive(Debug)]
struct Types {
    allowed: u8,
    message: String,
}

/// `enum` or `const`.
#[derive(Debug)]
pub(super) struct Words {
    words: Vec<String>,
    null: bool,
    keyword: &'static str,
    message: String,
}

/// Where a value stands.
#[derive(Clone, Copy)]
pub(super) enum Place<'p> {
    Whole,
    Field(&'p Place<'p>, &'p str),
    Item(&'p Place<'p>, usize),
}

/// The breaches so far.
#[derive(Debug, Default)]
pub(in super::super) struct Found<'s> {
    list: Vec<Entry<'s>>,
    /// Their pointers, one behind the other.
    pointers: String,
}

#[derive(Debug)]
struct Entry<'s> {
    /// Its rank in the object that is being read.
    rank: usize,
    keyword: &'static str,
    message: Cow<'s, str>,
    pointer: Range<usize>,
}

/// The rank of what is said of properties that may not be there: behind those of all properties that may.
const UNEXPECTED: usize = usize::MAX - 1;
/// The rank of a missing property where the full validator looks for it last.
const LAST: usize = usize::MAX;

impl Shape {
    /// Every breach of a text that is JSON, so none where it is valid; `None` where the full validator must say.
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

    /// How a number breaks its bounds.
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

impl Told {
    /// What a schema says of values that break it; `None` where it has keywords for values of types that it does not allow.
    pub(super) fn of(map: &Object<'_>) -> Option<Self> {
        let types = map.get("type").map(Types::of);
        let words = Words::of(map)?;
        let reached = match (&types, &words) {
            (Some(types), _) => types.as_ref()?.allowed,
            (None, Some(_)) => 0,
            (None, None) => OBJECT,
        };
        let has = |keywords: &[&str]| keywords.iter().any(|keyword| map.get(keyword).is_some());
        let all_are_reached = [
            (OBJECT, &["properties", "required", "additionalProperties", "if", "then"][..]),
            (ARRAY, &["items", "minItems"]),
            (STRING, &["pattern", "format", "minLength"]),
            (NUMBER | INTEGER, &["minimum", "maximum"]),
        ]
        .into_iter()
        .all(|(kind, keywords)| reached & kind != 0 || !has(keywords));
        let misspelt = map.str("pattern").map(|pattern| format!("value does not match \"{pattern}\""));
        let has_branches = map.get("allOf").is_some();
        let least = |keyword: &str, compared: &str, unit: &str| {
            let least = map.get(keyword).and_then(Json::u64).unwrap_or_default();
            format!("value {compared} than {least} {unit}{}", if least == 1 { "" } else { "s" })
        };
        // A bound as the full validator spells it, however the schema does.
        let bound = |keyword: &str, compared: &str| {
            let bound =
                map.get(keyword).map_or(Ok(serde_json::Value::Null), |bound| serde_json::from_str(bound.text()));
            bound.map(|bound| format!("value is {compared} than the {keyword} of {bound}")).ok()
        };
        let this = Self {
            types: types.flatten(),
            words,
            misspelt,
            too_short: least("minLength", "is shorter", "character"),
            too_few: least("minItems", "has less", "item"),
            too_small: bound("minimum", "less")?,
            too_large: bound("maximum", "greater")?,
            has_branches,
        };
        all_are_reached.then_some(this)
    }

    /// Those of these types of which every value keeps the keywords that look at values of every type.
    pub(super) fn all_of(&self, types: u8) -> u8 {
        let allowed = self.types.as_ref().map_or(TYPES_KNOWN, |types| types.allowed);
        let said = match &self.words {
            None => TYPES_KNOWN,
            Some(words) if words.null => NULL,
            Some(_) => 0,
        };
        types & allowed & said
    }

    /// The keywords that look at values of every type.
    pub(super) fn basics<'s>(
        &'s self,
        kind: u8,
        text: Option<Quoted<'_>>,
        place: Place<'_>,
        found: &mut Found<'s>,
    ) -> Option<()> {
        if let Some(types) = &self.types
            && types.allowed & kind == 0
        {
            found.push(place, "type", &*types.message)?;
        }
        let Some(words) = &self.words else { return Some(()) };
        let fits = match text {
            Some(text) if text.escaped => return None,
            Some(text) => words.words.iter().any(|word| word == text.inner),
            None => words.null && kind == NULL,
        };
        if fits { Some(()) } else { found.push(place, words.keyword, &*words.message) }
    }
}

impl Types {
    fn of(list: Json<'_>) -> Option<Self> {
        let names = match list.str() {
            Some(one) => vec![one],
            None => list.items().into_iter().map(Json::str).collect::<Option<_>>()?,
        };
        let allowed = names
            .iter()
            .try_fold(0, |bits, name| TYPES.iter().position(|known| known == name).map(|at| bits | 1 << at))?;
        let mut named = TYPES.iter().enumerate().filter(|(at, _)| allowed & 1 << at != 0).map(|(_, name)| name);
        let mut message = format!("value is not of type{} ", if names.len() == 1 { "" } else { "s" });
        write!(message, "\"{}\"", named.next()?).ok()?;
        named.try_for_each(|name| write!(message, ", \"{name}\"")).ok()?;
        Some(Self { allowed, message })
    }
}

impl Words {
    /// `Some(None)` where there is neither keyword, `None` where a value is neither a string nor null.
    #[allow(clippy::option_option, reason = "absent, unreadable and present differ")]
    fn of(map: &Object<'_>) -> Option<Option<Self>> {
        let (keyword, values) = match (map.get("enum"), map.get("const")) {
            (None, None) => return Some(None),
            (Some(list), None) => ("enum", list.items()),
            (None, Some(value)) => ("const", vec![value]),
            (Some(_), Some(_)) => return None,
        };
        let mut this = Self { words: Vec::new(), null: false, keyword, message: String::new() };
        let mut shown = Vec::new();
        for value in values {
            match value.str() {
                Some(word) => {
                    shown.push(serde_json::to_string(&word).ok()?);
                    this.words.push(word.into_owned());
                }
                None if value.is_null() => {
                    shown.push("null".to_owned());
                    this.null = true;
                }
                None => return None,
            }
        }
        this.message =
            if keyword == "const" { format!("{} was expected", shown.first()?) } else { not_one_of(&shown)? };
        Some(Some(this))
    }
}

/// What is said of an object without a property that must be there.
pub(super) fn missing(name: &str) -> Option<String> {
    serde_json::to_string(name).ok().map(|name| format!("{name} is a required property"))
}

fn not_one_of(shown: &[String]) -> Option<String> {
    let others = shown.len().checked_sub(NAMED).filter(|more| *more > 0).map(|more| more + 1);
    Some(match (shown, others) {
        ([first, second, ..], Some(others)) => {
            format!("value is not one of {first}, {second} or {others} other candidates")
        }
        ([one], None) => format!("value is not one of {one}"),
        ([all @ .., last], None) => format!("value is not one of {} or {last}", all.join(", ")),
        _ => return None,
    })
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
                // Of a repeated key, the full validator sees the last value.
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

    /// The properties that must be there and are not; `seen` has those that are, as bits.
    pub(super) fn tell_missing<'s>(&'s self, seen: u64, place: Place<'_>, found: &mut Found<'s>) -> Option<()> {
        if seen & self.required == self.required {
            return Some(());
        }
        let first = found.len();
        let mut missing = self.required_in_order.iter().filter(|(at, _)| seen & 1 << at == 0);
        missing.try_for_each(|(_, message)| found.push(place, "required", &**message))?;
        // The full validator looks for the one property that a closed object must have as it goes through those that it has.
        if matches!(self.rest, Rest::Closed) && self.required_in_order.len() == 1 {
            found.rank(first, LAST);
        }
        Some(())
    }

    /// The properties that may not be there.
    pub(super) fn tell_unexpected(&self, mut names: Vec<&str>, place: Place<'_>, found: &mut Found<'_>) -> Option<()> {
        if names.is_empty() {
            return Some(());
        }
        // Of an object that may have none at all, each is told by itself.
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

impl<'s> Found<'s> {
    fn push(&mut self, place: Place<'_>, keyword: &'static str, message: impl Into<Cow<'s, str>>) -> Option<()> {
        let start = self.pointers.len();
        place.write(&mut self.pointers);
        self.list.push(Entry { rank: 0, keyword, message: message.into(), pointer: start..self.pointers.len() });
        (self.list.len() <= MOST).then_some(())
    }

    /// Puts the last breach before those from here on.
    fn first(&mut self, from: usize) {
        if let Some(these) = self.list.get_mut(from..) {
            these.rotate_right(1);
        }
    }

    pub(in super::super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Gives the breaches from here on a rank, whatever rank they had further down.
    pub(super) fn rank(&mut self, from: usize, rank: usize) {
        self.list.iter_mut().skip(from).for_each(|entry| entry.rank = rank);
    }

    pub(super) fn sort(&mut self, from: usize) {
        if let Some(these) = self.list.get_mut(from..)
            && !these.is_sorted_by_key(|entry| entry.rank)
        {
            these.sort_by_key(|entry| entry.rank);
        }
    }

    /// Each breach: the place as a JSON pointer, the keyword, what is wrong.
    pub(in super::super) fn iter(&self) -> impl Iterator<Item = (&str, &'static str, &str)> {
        self.list
            .iter()
            .map(|entry| (self.pointers.get(entry.pointer.clone()).unwrap_or_default(), entry.keyword, &*entry.message))
    }

    pub(in super::super) fn breaches(&self) -> Vec<Breach> {
        let breach = |(pointer, keyword, message): (&str, &str, &str)| Breach {
            pointer: pointer.to_owned(),
            keyword: keyword.to_owned(),
            message: message.to_owned(),
        };
        self.iter().map(breach).collect()
    }
}

impl Place<'_> {
    /// Writes the place as a JSON pointer.
    fn write(self, pointer: &mut String) {
        match self {
            Self::Whole => {}
            Self::Field(parent, name) => {
                parent.write(pointer);
                pointer.push('/');
                for letter in name.chars() {
                    match letter {
                        '~' => pointer.push_str("~0"),
                        '/' => pointer.push_str("~1"),
                        letter => pointer.push(letter),
                    }
                }
            }
            Self::Item(parent, at) => {
                parent.write(pointer);
                pointer.push('/');
                pointer.push_str(&at.to_string());
            }
        }
    }
}
