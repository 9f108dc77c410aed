//! The fields of an object, and of the objects in it.
//!
//! In: fields, as a reader found them. Out: a field by its key, as what it ought to be. Never: a copy of a field: an object in
//! an object shares the list that its fields stand in.

use super::Json;
use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

/// The fields of one object, in their order. A copy shares them.
#[derive(Clone, Debug, Default)]
pub struct Object<'a> {
    /// Each followed by those of its own that are known; and those of the objects around this one.
    all: Rc<Vec<Field<'a>>>,
    /// Which of them are this object's.
    own: Range<usize>,
}

/// The fields of one object, borrowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields<'o, 'a>(&'o [Field<'a>]);

impl<'o, 'a> Fields<'o, 'a> {
    /// Each field in order: its key, its value, and the value's own fields where they are known.
    pub(crate) fn iter(self) -> impl Iterator<Item = (&'o Cow<'a, str>, Json<'a>, Option<Fields<'o, 'a>>)> {
        Siblings { rest: self.0 }.map(|(field, following)| (&field.key, field.value, field.own(following)))
    }

    /// How many there are, those of the objects in them that are known among them.
    pub(crate) fn all(self) -> usize {
        self.0.len()
    }

    /// A field's value, and the value's own fields where they are known; of a repeated key the last one.
    pub(crate) fn get(self, key: &str) -> Option<(Json<'a>, Option<Fields<'o, 'a>>)> {
        let (_, value, own) = self.iter().filter(|(name, ..)| **name == *key).last()?;
        Some((value, own))
    }
}

#[derive(Clone, Debug)]
pub(super) struct Field<'a> {
    pub(super) key: Cow<'a, str>,
    pub(super) value: Json<'a>,
    /// How many fields of the value's own follow, on all its levels; `None` where it was not taken apart.
    pub(super) inner: Option<u32>,
}

impl<'a> Field<'a> {
    /// The value's own fields, which are the first of those that follow.
    fn own<'o>(&self, following: &'o [Field<'a>]) -> Option<Fields<'o, 'a>> {
        following.get(..self.inner? as usize).map(Fields)
    }
}

/// The fields of one level.
struct Siblings<'o, 'a> {
    rest: &'o [Field<'a>],
}

impl<'o, 'a> Iterator for Siblings<'o, 'a> {
    /// A field, and what follows it.
    type Item = (&'o Field<'a>, &'o [Field<'a>]);

    fn next(&mut self) -> Option<Self::Item> {
        let (field, rest) = self.rest.split_first()?;
        self.rest = rest.get(field.inner.map_or(0, |inner| inner as usize)..).unwrap_or_default();
        Some((field, rest))
    }
}

impl<'a> Object<'a> {
    /// Checks and takes apart the text of one object; `None` where it is none.
    pub fn parse(text: &'a str) -> Option<Self> {
        Json::parse(text).ok()?.object()
    }

    /// The field's value; of a repeated key the last one, as in JavaScript.
    pub fn get(&self, key: &str) -> Option<Json<'a>> {
        self.find(key).map(|(field, _)| field.value)
    }

    fn find(&self, key: &str) -> Option<(&Field<'a>, &[Field<'a>])> {
        self.siblings().filter(|(field, _)| field.key == key).last()
    }

    pub(super) fn of(fields: Vec<Field<'a>>) -> Self {
        Self { own: 0..fields.len(), all: Rc::new(fields) }
    }

    fn siblings(&self) -> Siblings<'_, 'a> {
        Siblings { rest: self.fields().0 }
    }

    /// The fields, to look at without a copy.
    pub(crate) fn fields(&self) -> Fields<'_, 'a> {
        Fields(self.all.get(self.own.clone()).unwrap_or_default())
    }

    /// The field's value unless it is absent or `null`.
    pub fn some(&self, key: &str) -> Option<Json<'a>> {
        self.get(key).filter(|value| !value.is_null())
    }

    /// A string field.
    pub fn str(&self, key: &str) -> Option<Cow<'a, str>> {
        self.get(key)?.str()
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
        match field.inner {
            Some(inner) => {
                let start = self.own.end - following.len();
                Some(Object { all: self.all.clone(), own: start..start + inner as usize })
            }
            None => field.value.object(),
        }
    }

    /// An array field's items; empty where there is none.
    pub fn items(&self, key: &str) -> Vec<Json<'a>> {
        self.get(key).map(Json::items).unwrap_or_default()
    }

    /// All fields in order, repeated keys too.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Json<'a>)> {
        self.siblings().map(|(field, _)| (field.key.as_ref(), field.value))
    }

    /// Whether there is no field.
    pub fn is_empty(&self) -> bool {
        self.own.is_empty()
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.siblings().count()
    }
}
