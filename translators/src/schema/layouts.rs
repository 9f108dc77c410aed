//! The layouts of objects that others sent, and what is wrong with all objects of each.
//!
//! In: an object's fields, and the shape of its schema. Out: what is known to be wrong with it. Never: more layouts than a
//! bound, a lock, a layout forgotten: a server keeps to its own.

use super::fast::{Layout, Shape, print};
use crate::frame::Faults;
use crate::json::Fields;
use std::sync::OnceLock;

/// How many layouts of one kind of object are kept, where nothing else is said.
const MOST: usize = 32;

/// How many places a layout may stand in.
const PLACES: usize = 12;

/// The layouts of one kind of object.
#[derive(Debug)]
pub(super) struct Layouts(Box<[OnceLock<Known>]>);

#[derive(Debug)]
struct Known {
    /// The layout's keys, in a number.
    print: u64,
    layout: Layout,
    faults: Faults,
}

impl Default for Layouts {
    fn default() -> Self {
        Self::of(MOST)
    }
}

impl Layouts {
    /// Room for so many layouts.
    pub(super) fn of(most: usize) -> Self {
        Self((0..most).map(|_| OnceLock::new()).collect())
    }

    /// What is wrong with an object; `None` where its layout is not known.
    pub(super) fn faults(&self, shape: &Shape, fields: Fields<'_, '_>) -> Option<&Faults> {
        let print = print(fields);
        let mut known = self.places(print).map_while(OnceLock::get);
        let same = |known: &&Known| known.print == print && shape.is_laid_out(&known.layout, fields);
        known.find(same).map(|known| &known.faults)
    }

    /// Keeps what is wrong with every object that is laid out as this one, of which the shape was sure.
    pub(super) fn learn(&self, shape: &Shape, fields: Fields<'_, '_>, faults: &Faults) {
        let print = print(fields);
        if let Some(free) = self.places(print).find(|place| place.get().is_none())
            && let Some(layout) = shape.layout(fields)
        {
            // Another thread may have been faster: then its layout stands there, and this one is learnt another time.
            let _ = free.set(Known { print, layout, faults: faults.clone() });
        }
    }

    /// The places in which a layout may stand; behind the first one that is free it does not.
    fn places(&self, print: u64) -> impl Iterator<Item = &OnceLock<Known>> {
        let start = (print >> 32) as usize % self.0.len().max(1);
        let (before, from) = self.0.split_at(start);
        from.iter().chain(before).take(PLACES)
    }
}
