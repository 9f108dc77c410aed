//! The ids of frames that were read, and of the frames that are added to them.
//!
//! Input: the ids of the frames that are read, and the positions of those that are added. Output: whether an id is new; ids for
//! added frames. Never: an id twice among the newest [`REMEMBERED`] frames, or more ids in memory than that.
//!
//! A frame that was read keeps its id, which can be any. So no id that is derived from a stream and a number, as other runners'
//! frames have it, is free for an added frame: it may be the id of a frame that is still to come. An added frame's id is derived
//! from the first run id of this ingest instead, which no other proxy has used. If such an id is read nevertheless (the same
//! ingest ran twice, one on the output of the other), the frame that comes second has to give way: an added one gets another
//! id, and one that is read is refused.

use crate::derived::uuid_v5;
use crate::frame::Stream;
use crate::newest::Newest;
use uuid::Uuid;

/// How many ids are remembered.
const REMEMBERED: usize = 16_384;

/// The ids of the newest frames.
#[derive(Debug, Default)]
pub(super) struct GivenIds {
    /// What the ids of added frames are derived from; `None` if frames are not read, so that no frame needs a given id.
    seed: Option<Uuid>,
    newest: Newest<Uuid, REMEMBERED>,
}

impl GivenIds {
    /// From now on each frame has a given id.
    pub(super) fn begin(&mut self, seed: Uuid) {
        self.seed = Some(seed);
    }

    /// Whether one of the remembered frames has this id.
    pub(super) fn knows(&self, id: Uuid) -> bool {
        self.newest.has(&id)
    }

    /// Whether there were more frames than are remembered.
    pub(super) fn has_forgotten(&self) -> bool {
        self.newest.is_full()
    }

    /// Remembers the id of a frame; `false` if another one has it.
    pub(super) fn note(&mut self, id: Uuid) -> bool {
        self.newest.add(id)
    }

    /// The id of a frame that is added to a stream; `None` if it is the derived one.
    #[inline]
    pub(super) fn added(&mut self, stream: &Stream, seq: u64) -> Option<Uuid> {
        let seed = self.seed?;
        let mut id = uuid_v5(&seed, format!("added/{}/{}/{seq}", stream.kind.as_str(), stream.id).as_bytes());
        while !self.note(id) {
            id = uuid_v5(&seed, id.as_bytes());
        }
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_ids_are_remembered() {
        let (mut ids, most) = (GivenIds::default(), REMEMBERED as u128);
        assert!((0..most).all(|id| ids.note(Uuid::from_u128(id))));
        assert!(ids.has_forgotten());
        assert!(!ids.note(Uuid::from_u128(0)), "it is still known");
        assert!(ids.note(Uuid::from_u128(most)));
        assert!(!ids.knows(Uuid::from_u128(0)) && ids.knows(Uuid::from_u128(1)));
    }
}
