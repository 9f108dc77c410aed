//! The fields of an object and of its nested objects.
//!
//! Input: fields that a reader found. Output: a field by its key, as the expected type. Never: a copy of a field; a nested
//! object shares the list that contains its fields.

use super::Json;
use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

/// The fields of one object in order. A clone shares them.
#[derive(Clone, Debug, Default)]
pub struct Object<'a> {
    /// Each field is followed by its nested fields that are already parsed. May also include the fields of enclosing objects.
    all: Rc<Vec<Field<'a>>>,
    /// The range of this object's fields.
    own: Range<usize>,
}

/// The borrowed fields of one object.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'o, 'a>(&'o [Field<'a>]);

impl<'o, 'a> Fields<'o, 'a> {
    /// Each field in order: its key, its value, and the value's own fields if they are already parsed.
    pub(crate) fn iter(self) -> impl Iterator<Item = (&'o Cow<'a, str>, Json<'a>, Option<Fields<'o, 'a>>)> {
        Siblings { rest: self.0 }.map(|(field, following)| (&field.key, field.value, field.own(following)))
    }

    /// The number of fields, including the parsed nested ones.
    pub(crate) fn all(self) -> usize {
        self.0.len()
    }

    /// A field's value, and the value's own fields if they are already parsed. If the key is repeated, the last one counts.
    pub(crate) fn get(self, key: &str) -> Option<(Json<'a>, Option<Fields<'o, 'a>>)> {
        let (_, value, own) = self.iter().filter(|(name, ..)| **name == *key).last()?;
        Some((value, own))
    }
}

#[derive(Clone, Debug)]
pub(super) struct Field<'a> {
    pub(super) key: Cow<'a, str>,
    pub(super) value: Json<'a>,
    pub(super) read: Read,
}

/// What is known of a field's value from the pass that found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Read {
    /// Nothing.
    Nothing,
    /// It is a string without escapes.
    Plain,
    /// It is an object. This many nested fields follow, on all levels.
    Fields(u32),
}

impl<'a> Field<'a> {
    /// The value, if it is a string.
    fn str(&self) -> Option<Cow<'a, str>> {
        if self.read == Read::Plain { self.value.quoted().map(Cow::Borrowed) } else { self.value.str() }
    }

    /// The value's own fields: the first ones of `following`.
    fn own<'o>(&self, following: &'o [Field<'a>]) -> Option<Fields<'o, 'a>> {
        match self.read {
            Read::Fields(inner) => following.get(..inner as usize).map(Fields),
            Read::Nothing | Read::Plain => None,
        }
    }
}

/// The fields of one level.
struct Siblings<'o, 'a> {
    rest: &'o [Field<'a>],
}

impl<'o, 'a> Iterator for Siblings<'o, 'a> {
    /// A field, and the fields after it.
    type Item = (&'o Field<'a>, &'o [Field<'a>]);

    fn next(&mut self) -> Option<Self::Item> {
        let (field, rest) = self.rest.split_first()?;
        self.rest = match field.read {
            Read::Fields(inner) => rest.get(inner as usize..).unwrap_or_default(),
            Read::Nothing | Read::Plain => rest,
        };
        Some((field, rest))
    }
}

impl<'a> Object<'a> {
    /// Checks and parses the text of one object; `None` if it is not an object.
    pub fn parse(text: &'a str) -> Option<Self> {
        Json::parse(text).ok()?.object()
    }

    /// The field's value; if the key is repeated, the last one, as in JavaScript.
    pub fn get(&self, key: &str) -> Option<Json<'a>> {
        self.find(key).map(|(field, _)| field.value)
    }

    // Inlined, because the length of a constant key decides most comparisons.
    #[inline]
    fn find(&self, key: &str) -> Option<(&Field<'a>, &[Field<'a>])> {
        self.siblings().filter(|(field, _)| field.key == key).last()
    }

    pub(super) fn of(fields: Vec<Field<'a>>) -> Self {
        Self { own: 0..fields.len(), all: Rc::new(fields) }
    }

    fn siblings(&self) -> Siblings<'_, 'a> {
        Siblings { rest: self.fields().0 }
    }

    /// A borrowed view of the fields.
    pub(crate) fn fields(&self) -> Fields<'_, 'a> {
        Fields(self.all.get(self.own.clone()).unwrap_or_default())
    }

    /// The field's value unless it is absent or `null`.
    pub fn some(&self, key: &str) -> Option<Json<'a>> {
        self.get(key).filter(|value| !value.is_null())
    }

    /// A string field.
    #[inline]
    pub fn str(&self, key: &str) -> Option<Cow<'a, str>> {
        self.find(key)?.0.str()
    }

    /// An unsigned integer field.
    pub fn u64(&self, key: &str) -> Option<u64> {
        self.get(key)?.u64()
    }

    /// An integer field.
    pub fn i64(&self, key: &str) -> Option<i64> {
        self.get(key)?.i64()
    }

    /// A number field.
    pub fn f64(&self, key: &str) -> Option<f64> {
        self.get(key)?.f64()
    }

    /// A boolean field.
    pub fn bool(&self, key: &str) -> Option<bool> {
        self.get(key)?.bool()
    }

    /// An object field.
    pub fn object(&self, key: &str) -> Option<Object<'a>> {
        let (field, following) = self.find(key)?;
        match field.read {
            Read::Fields(inner) => {
                let start = self.own.end - following.len();
                Some(Object { all: self.all.clone(), own: start..start + inner as usize })
            }
            Read::Plain => None,
            Read::Nothing => field.value.object(),
        }
    }

    /// An array field's items; empty if there is no such field.
    pub fn items(&self, key: &str) -> Vec<Json<'a>> {
        self.get(key).map(Json::items).unwrap_or_default()
    }

    /// An array field's objects, in one pass. Other items are skipped; empty if there is no such field.
    pub(crate) fn objects(&self, key: &str) -> impl Iterator<Item = Object<'a>> + use<'a> {
        self.get(key).into_iter().flat_map(Json::objects).map(|(_, _, object)| object)
    }

    /// All fields in order, including repeated keys.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Json<'a>)> {
        self.siblings().map(|(field, _)| (field.key.as_ref(), field.value))
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.own.is_empty()
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        self.siblings().count()
    }
}
