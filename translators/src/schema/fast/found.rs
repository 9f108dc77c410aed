//! Collects the violations in a text.
//!
//! Input: a place and the violation there. Output: the list, in the order of the assigned ranks. Never: a JSON pointer that is
//! built before there is a violation.

use crate::schema::Breach;
use std::borrow::Cow;
use std::ops::Range;

/// A text with more violations than this goes to the full validator.
const MOST: usize = 256;

/// The location of a value.
#[derive(Clone, Copy)]
pub(super) enum Place<'p> {
    Whole,
    Field(&'p Place<'p>, &'p str),
    Item(&'p Place<'p>, usize),
}

/// The violations so far.
#[derive(Debug, Default)]
pub(in super::super) struct Found<'s> {
    list: Vec<Entry<'s>>,
    /// All pointers, concatenated.
    pointers: String,
}

#[derive(Debug)]
struct Entry<'s> {
    /// Its rank within the object that is being read.
    rank: usize,
    keyword: &'static str,
    message: Cow<'s, str>,
    pointer: Range<usize>,
}

/// The rank for additional properties: after all allowed properties.
pub(super) const UNEXPECTED: usize = usize::MAX - 1;
/// The rank of a missing property if the full validator reports it last.
pub(super) const LAST: usize = usize::MAX;

impl<'s> Found<'s> {
    pub(super) fn push(
        &mut self,
        place: Place<'_>,
        keyword: &'static str,
        message: impl Into<Cow<'s, str>>,
    ) -> Option<()> {
        let start = self.pointers.len();
        place.write(&mut self.pointers);
        self.list.push(Entry { rank: 0, keyword, message: message.into(), pointer: start..self.pointers.len() });
        (self.list.len() <= MOST).then_some(())
    }

    /// Moves the last violation before those from index `from` on.
    pub(super) fn first(&mut self, from: usize) {
        if let Some(these) = self.list.get_mut(from..) {
            these.rotate_right(1);
        }
    }

    pub(in super::super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Assigns a rank to the violations from index `from` on, replacing ranks from nested objects.
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

    /// Each violation: the place as a JSON pointer, the keyword, the message.
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
    /// Appends the place as a JSON pointer.
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
