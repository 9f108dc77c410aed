//! The adapter that makes an [`Encoder`] of what a contract implements.
//!
//! Input: a [`StreamEncoder`], which writes frames as events and whose serialised fields are its state. Output: an encoder that
//! can be copied, saved and restored. Never: a state of another version read as one of this version.

use super::{Encoder, Events, Pruned};
use crate::frame::Frame;
use crate::saved;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The encoder of one stream, as a contract implements it. Fields that follow from the stream and the options are not
/// serialised.
pub(crate) trait StreamEncoder: Clone + Send + Serialize + DeserializeOwned + 'static {
    /// The version of the serialised state, and older versions that have the same form. Raise it when the meaning changes.
    const STATE: &[u32];

    /// See [`Encoder::frame`].
    fn frame(&mut self, frame: &Frame, out: &mut Events);

    /// A restored state, completed by the fields of this encoder that are not serialised.
    fn resumed(&self, state: Self) -> Self;

    /// See [`Encoder::paused`].
    fn paused(&self, _until_ms: u64, _out: &mut Events) -> Option<Self> {
        None
    }

    /// See [`Encoder::held_bytes`].
    fn held_bytes(&self) -> usize {
        0
    }

    /// See [`Encoder::first_event_of`].
    fn first_event_of(&self, _frame: u64) -> Option<u64> {
        None
    }

    /// See [`Encoder::uses_options`].
    fn uses_options(&self) -> bool {
        false
    }

    /// See [`Encoder::pruned`].
    fn pruned(&self, _pruned: &Pruned<'_>, _out: &mut Events) {}
}

/// Makes an encoder.
pub(crate) fn encoder<E: StreamEncoder>(encoder: E) -> Box<dyn Encoder> {
    Box::new(Adapter(encoder))
}

struct Adapter<E>(E);

impl<E: StreamEncoder> Encoder for Adapter<E> {
    fn frame(&mut self, frame: &Frame, out: &mut Events) {
        self.0.frame(frame, out);
    }

    fn paused(&self, until_ms: u64, out: &mut Events) -> Option<Box<dyn Encoder>> {
        self.0.paused(until_ms, out).map(encoder)
    }

    fn fork(&self) -> Box<dyn Encoder> {
        encoder(self.0.clone())
    }

    fn held_bytes(&self) -> usize {
        self.0.held_bytes()
    }

    fn first_event_of(&self, frame: u64) -> Option<u64> {
        self.0.first_event_of(frame)
    }

    fn uses_options(&self) -> bool {
        self.0.uses_options()
    }

    fn save(&self) -> Option<Vec<u8>> {
        // An encoder that can start anywhere has no state.
        if self.first_event_of(0).is_some() {
            return None;
        }
        saved::save(*E::STATE.first()?, &self.0)
    }

    fn restore(&mut self, saved: &[u8]) -> bool {
        let state = E::STATE.iter().find_map(|version| saved::restore(*version, saved));
        state.map(|state| self.0 = self.0.resumed(state)).is_some()
    }

    fn pruned(&self, pruned: &Pruned<'_>, out: &mut Events) {
        self.0.pruned(pruned, out);
    }
}
