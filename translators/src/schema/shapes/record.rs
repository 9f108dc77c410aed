//! The shape of a record: records of the same shape have the same violations.
//!
//! Input: a record that is already parsed, and the rules of its schema. Output: its shape: its keys in order, and for each value
//! the part that decides about violations. Never: one shape for two records with different violations; a stored value, except
//! short deciding texts.
//!
//! Where no keyword looks further than a value's type, the shape requires only that type. Elsewhere it requires the same text, or,
//! for a long text, a number or an array that satisfies the rules, that they are satisfied again. A record with a violation in a
//! long text has no shape.

use super::compare::{Ends, exact_type_of, is_of, same, type_of};
use crate::hash::Fingerprint;
use crate::json::scan::Scan;
use crate::json::{Fields, Json, Kind};
use crate::schema::rules::{ALL_TYPES, ARRAY, OBJECT, ObjectRules, Rest, Rules};
use std::borrow::Cow;

/// A record with more fields than this, including those of nested objects, has no shape.
const MOST_FIELDS: usize = 96;

/// A record whose keys and texts together are longer than this, in bytes, has no shape.
const MOST_BYTES: usize = 2 << 10;

/// A longer text, in bytes, is not stored.
const MOST_TEXT: usize = 48;

/// Valid arrays with more items than this are validated each time: they vary too much.
const ITEMS: usize = 2;

/// The shape of a record.
#[derive(Debug)]
pub(super) struct RecordShape(Box<[Slot]>);

/// Two fingerprints of a record that do not read the bytes of its keys: one of the lengths of its keys and the types of their
/// values, which records of the same shape mostly share, and one of how much each value contains.
pub(super) fn fingerprints(fields: Fields<'_, '_>) -> (Fingerprint, Fingerprint) {
    fields.iter().fold(Default::default(), |(shape, sizes): (Fingerprint, Fingerprint), (key, value, inner)| {
        let of = type_of(value);
        // For an array, only whether it is empty.
        let count = inner.map_or_else(|| usize::from(of == ARRAY && value.text().len() > 2), Fields::all);
        (shape.with(key.len() as u64 | u64::from(of) << 32), sizes.with(count as u64))
    })
}

/// One field of a shape.
#[derive(Debug)]
struct Slot {
    key: Key,
    value: Expected,
}

#[derive(Debug)]
struct Key {
    /// The first and last bytes, so that most keys are compared without a function call or a memory indirection.
    ends: Ends,
    text: Box<str>,
}

impl Key {
    fn new(text: &str) -> Self {
        Self { ends: Ends::of(text), text: text.into() }
    }

    fn is(&self, text: &str) -> bool {
        self.text.len() == text.len()
            && self.ends == Ends::of(text)
            && (text.len() <= Ends::WHOLE || same(&self.text, text))
    }
}

/// What a shape requires of a value.
#[derive(Debug)]
enum Expected {
    /// A bit set of types. All values of these types have the same violations.
    Types(u8),
    /// Exactly this text.
    Text(Box<str>),
    /// An object; this many following slots are its fields and their contents.
    Object(usize),
    /// An array; this many following slots are its items and their contents.
    Items(usize),
    /// The rules at the ends of these paths accept the value. They are evaluated each time.
    Accepted(Box<[Path]>),
}

/// The way from the rules of a record to the rules of one of its values.
type Path = Vec<Step>;

#[derive(Clone, Copy, Debug)]
enum Step {
    Property(usize),
    /// The rules for additional properties.
    Rest,
    Branch(usize),
    /// The rules for values of this type.
    Type(Kind),
    Items,
}

/// Rules for a value, with their path.
#[derive(Clone)]
struct Applied<'r> {
    rules: &'r Rules,
    path: Path,
}

impl<'r> Applied<'r> {
    fn inner(path: &Path, step: Step, rules: &'r Rules) -> Self {
        let mut path = path.clone();
        path.push(step);
        Self { rules, path }
    }

    /// The rules for values of one type, if there are separate ones.
    fn for_type(self, kind: Kind) -> Self {
        match self.rules.by_type.as_ref().and_then(|by_type| by_type.rules(kind)) {
            Some(rules) => Self::inner(&self.path, Step::Type(kind), rules),
            None => self,
        }
    }
}

impl RecordShape {
    /// The shape of a record; `None` if its violations depend on more than a shape, or if it exceeds a limit.
    pub(super) fn new(rules: &Rules, fields: Fields<'_, '_>) -> Option<Self> {
        let (mut slots, mut bytes) = (Vec::new(), 0);
        let applied = [Applied { rules, path: Path::new() }];
        ObjectsRules::of(&applied, fields)?.learn(fields, &mut slots, &mut bytes)?;
        (bytes <= MOST_BYTES).then(|| Self(slots.into()))
    }

    /// Whether a record has this shape, which was made from these rules.
    pub(super) fn is_of(&self, rules: &Rules, fields: Fields<'_, '_>) -> bool {
        let mut left = Vec::new();
        agrees(&self.0, fields, &mut left)
            && left.into_iter().all(|(paths, value)| {
                paths.iter().all(|path| at(rules, path).is_some_and(|rules| rules.accepts(value.text(), &[])))
            })
    }
}

fn at<'r>(rules: &'r Rules, path: &[Step]) -> Option<&'r Rules> {
    path.iter().try_fold(rules, |rules, step| match *step {
        Step::Property(at) => rules.object.as_ref()?.properties.get(at).map(|(_, property)| property),
        Step::Rest => match &rules.object.as_ref()?.rest {
            Rest::Each(rules) => Some(&**rules),
            Rest::Closed | Rest::Open => None,
        },
        Step::Branch(at) => rules.object.as_ref()?.variants.as_ref()?.branch(at),
        Step::Type(kind) => rules.by_type.as_ref()?.rules(kind),
        Step::Items => rules.array.as_ref()?.items.as_deref(),
    })
}

/// The values that rules must still accept.
type Left<'l, 'a> = Vec<(&'l [Path], Json<'a>)>;

/// Compares a parsed object with its slots; collects what is expensive in `left`.
fn agrees<'l, 'a>(mut slots: &'l [Slot], fields: Fields<'_, 'a>, left: &mut Left<'l, 'a>) -> bool {
    for (key, value, inner) in fields.iter() {
        let Some((slot, rest)) = slots.split_first() else { return false };
        slots = rest;
        if !slot.key.is(key) {
            return false;
        }
        let fits = match (&slot.value, inner) {
            (Expected::Types(types), _) => is_of(*types, value),
            (Expected::Text(text), _) => same(text, value.text()),
            (Expected::Accepted(paths), _) => {
                left.push((paths, value));
                true
            }
            (Expected::Object(_), Some(inner)) => slot.own(&mut slots).is_some_and(|own| agrees(own, inner, left)),
            (Expected::Object(_) | Expected::Items(_), _) => slot.reads(&mut slots, &mut Scan::new(value.text()), left),
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
        let (Expected::Object(count) | Expected::Items(count)) = &self.value else { return None };
        let (own, rest) = following.split_at_checked(*count)?;
        *following = rest;
        Some(own)
    }

    /// Compares the next value with this slot; collects what is expensive in `left`.
    fn reads<'l, 'a>(&'l self, following: &mut &'l [Self], scan: &mut Scan<'a>, left: &mut Left<'l, 'a>) -> bool {
        match &self.value {
            Expected::Object(_) => self.own(following).is_some_and(|own| reads_object(own, scan, left)),
            Expected::Items(_) => self.own(following).is_some_and(|own| reads_items(own, scan, left)),
            Expected::Types(types) => scan.json().is_some_and(|value| is_of(*types, value)),
            Expected::Text(text) => scan.value().is_some_and(|value| same(text, value)),
            Expected::Accepted(paths) => scan.json().map(|value| left.push((paths, value))).is_some(),
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

/// All rules for the fields of an object.
struct ObjectsRules<'r> {
    rules: Vec<(&'r ObjectRules, Path)>,
    /// The fields whose words select these rules.
    deciding: Vec<&'r str>,
}

impl<'r> ObjectsRules<'r> {
    /// `None` if the selection is uncertain.
    fn of(applied: &[Applied<'r>], fields: Fields<'_, '_>) -> Option<Self> {
        let mut this = Self { rules: Vec::new(), deciding: Vec::new() };
        let mut open: Vec<_> = applied.to_vec();
        while let Some(applied) = open.pop() {
            let Applied { rules, path } = applied.for_type(Kind::Object);
            if rules.same_for_all & OBJECT != 0 {
                continue;
            }
            let object = rules.object.as_deref()?;
            if let Some(variants) = &object.variants {
                this.deciding.push(variants.key());
                for at in variants.branches_in(fields)? {
                    open.push(Applied::inner(&path, Step::Branch(at), variants.branch(at)?));
                }
            }
            this.rules.push((object, path));
        }
        Some(this)
    }

    fn learn(&self, fields: Fields<'_, '_>, slots: &mut Vec<Slot>, bytes: &mut usize) -> Option<()> {
        for (key, value, inner) in fields.iter() {
            // Shapes compare keys as they are spelled, so a record with an escaped key has none.
            let Cow::Borrowed(key) = *key else { return None };
            let applied = self.at(key)?;
            slot(key, slots, bytes, |slots, bytes| {
                if self.deciding.contains(&key) {
                    return text(value, bytes);
                }
                expected(&applied, value, inner, slots, bytes)
            })?;
        }
        Some(())
    }

    /// The rules for a field.
    fn at(&self, key: &str) -> Option<Vec<Applied<'r>>> {
        let mut all = Vec::new();
        for (object, path) in &self.rules {
            match (object.position(key), &object.rest) {
                (Some(at), _) => {
                    let (_, rules) = object.properties.get(at)?;
                    all.push(Applied::inner(path, Step::Property(at), rules));
                }
                (None, Rest::Each(rules)) => all.push(Applied::inner(path, Step::Rest, rules)),
                // The violation of a property that is not allowed depends only on its key.
                (None, Rest::Closed | Rest::Open) => {}
            }
        }
        Some(all)
    }
}

/// Adds a slot. The slots that `make` adds after it describe the value's contents.
fn slot(
    key: &str,
    slots: &mut Vec<Slot>,
    bytes: &mut usize,
    make: impl FnOnce(&mut Vec<Slot>, &mut usize) -> Option<Expected>,
) -> Option<()> {
    *bytes += key.len();
    if slots.len() == MOST_FIELDS || *bytes > MOST_BYTES {
        return None;
    }
    let place = slots.len();
    slots.push(Slot { key: Key::new(key), value: Expected::Types(0) });
    let value = match make(slots, bytes)? {
        Expected::Object(_) => Expected::Object(slots.len() - place - 1),
        Expected::Items(_) => Expected::Items(slots.len() - place - 1),
        other => other,
    };
    slots.get_mut(place)?.value = value;
    Some(())
}

/// What a shape requires of a value. Adds the slots for its contents.
fn expected(
    applied: &[Applied<'_>],
    value: Json<'_>,
    inner: Option<Fields<'_, '_>>,
    slots: &mut Vec<Slot>,
    bytes: &mut usize,
) -> Option<Expected> {
    let of = exact_type_of(value);
    let all = |bits: fn(&Rules) -> u8| applied.iter().fold(ALL_TYPES, |all, applied| all & bits(applied.rules));
    let valid = all(Rules::valid_types);
    if valid & of != 0 {
        return Some(Expected::Types(valid));
    }
    if all(|rules| rules.same_for_all) & of != 0 {
        return Some(Expected::Types(of));
    }
    let is_accepted = || applied.iter().all(|applied| applied.rules.accepts(value.text(), &[]));
    let accepted = || Expected::Accepted(applied.iter().map(|applied| applied.path.clone()).collect());
    match value.kind() {
        Kind::Object => {
            let own = value.object()?;
            let fields = inner.unwrap_or_else(|| own.fields());
            ObjectsRules::of(applied, fields)?.learn(fields, slots, bytes)?;
            Some(Expected::Object(0))
        }
        // An empty list is compared as text, so that a record whose list fills over time differs without validating the list.
        Kind::Array if value.text() == "[]" => text(value, bytes),
        Kind::Array => {
            let items = value.items();
            let are_few = items.len() <= ITEMS && items.iter().all(|item| item.kind() == Kind::Object);
            if !are_few && is_accepted() {
                return Some(accepted());
            }
            let applied = items_of(applied)?;
            for item in items {
                slot("", slots, bytes, |slots, bytes| expected(&applied, item, None, slots, bytes))?;
            }
            Some(Expected::Items(0))
        }
        Kind::String if value.text().len() <= MOST_TEXT => text(value, bytes),
        Kind::String | Kind::Number if is_accepted() => Some(accepted()),
        _ => text(value, bytes),
    }
}

/// The rules for the items of an array; `None` if more than the items and their count decides.
fn items_of<'r>(applied: &[Applied<'r>]) -> Option<Vec<Applied<'r>>> {
    let mut items = Vec::new();
    for applied in applied {
        let Applied { rules, path } = applied.clone().for_type(Kind::Array);
        if rules.same_for_all & ARRAY == 0
            && let Some(rules) = &rules.array.as_ref()?.items
        {
            items.push(Applied::inner(&path, Step::Items, rules));
        }
    }
    Some(items)
}

/// A value that must be the same; `None` if it is too long.
fn text(value: Json<'_>, bytes: &mut usize) -> Option<Expected> {
    *bytes += value.text().len();
    (value.text().len() <= MOST_TEXT).then(|| Expected::Text(value.text().into()))
}
