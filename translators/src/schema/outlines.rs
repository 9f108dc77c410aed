//! The outlines of events that are surely valid, whatever their values.
//!
//! In: outlines, and the shape of the schema. Out: whether every event of an outline keeps the schema. Never: more outlines
//! than a bound, a lock.

use super::fast::Shape;
use crate::encode::Field;
use std::sync::OnceLock;

/// How many outlines of one type of event are kept.
const MOST: usize = 24;

/// The outlines of one type of event.
#[derive(Debug, Default)]
pub(super) struct Outlines([OnceLock<Box<[Field]>>; MOST]);

impl Outlines {
    /// Whether every event of that outline is valid, as found out before.
    pub(super) fn has(&self, outline: &[Field]) -> bool {
        // The first fields are the same in all events of a contract, so that two outlines differ towards their ends.
        let same = |known: &[Field]| known.len() == outline.len() && known.iter().rev().eq(outline.iter().rev());
        self.0.iter().map_while(OnceLock::get).any(|known| same(known))
    }

    /// Keeps an outline, if every event that has it is valid.
    pub(super) fn learn(&self, outline: &[Field], shape: &Shape) {
        if shape.holds_for_all(outline)
            && let Some(free) = self.0.iter().find(|slot| slot.get().is_none())
        {
            // Another thread may have been faster: then its outline stands there, and this one is learnt another time.
            let _ = free.set(outline.into());
        }
    }
}
