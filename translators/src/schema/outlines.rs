//! A cache of outlines whose events are certainly valid, whatever their values.
//!
//! Input: outlines and the shape of the schema. Output: whether every event with an outline conforms to the schema. Never: more
//! outlines than the bound, or a lock.

use super::fast::Shape;
use crate::encode::{Field, Outline};
use std::sync::OnceLock;

/// Limit of cached outlines for each event type.
const MOST: usize = 24;

/// The cached outlines of one event type.
#[derive(Debug, Default)]
pub(super) struct Outlines([OnceLock<(u64, Box<[Field]>)>; MOST]);

impl Outlines {
    /// Whether this outline is cached, so that every event with it is valid.
    pub(super) fn has(&self, outline: Outline<'_>) -> bool {
        // Compare the fingerprints first, so that usually only one candidate is compared in full.
        let mut known = self.0.iter().map_while(OnceLock::get);
        known.any(|(print, known)| *print == outline.print() && **known == *outline.fields)
    }

    /// Caches an outline if every event with it is valid.
    pub(super) fn learn(&self, outline: Outline<'_>, shape: &Shape) {
        if shape.holds_for_all(outline.fields)
            && let Some(free) = self.0.iter().find(|slot| slot.get().is_none())
        {
            // If another thread took the slot first, this outline is learnt at another time.
            let _ = free.set((outline.print(), outline.fields.into()));
        }
    }
}
