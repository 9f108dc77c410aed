//! The last long text of each stream, for later appends to refer to.
//!
//! Input: the location of a text once its append is kept, and its new location once the front of its stream is pruned. Output:
//! the same, for the next append. Never: more bytes than the limit, or a location that the writer has not kept.

use crate::log::StreamId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum length of a text that is remembered for later appends.
pub(super) const REMEMBERED: usize = 1 << 20;

/// Maximum number of bytes remembered in all streams.
const REMEMBERED_ALL: usize = 16 << 20;

/// A part of a body: the frame's number, the offset, and the length.
pub(super) type Place = (u64, usize, usize);

/// Parts that were pruned, and where the same bytes are now: the frame's number and the offset.
pub(super) type Moved = HashMap<Place, (u64, usize)>;

/// The last long text of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    /// The stream's key; `None` for a text in the current append.
    pub(super) key: Option<i64>,
    pub(super) seq: u64,
    pub(super) at: usize,
    pub(super) bytes: Arc<[u8]>,
}

impl Known {
    /// Its location in the stream with that key after the first `gone` frames were pruned; `None` if it is gone.
    fn behind(self, key: i64, gone: u64, moved: &Moved) -> Option<Self> {
        if self.key == Some(key) && self.seq >= gone {
            return Some(self);
        }
        let (seq, at) = *moved.get(&(self.seq, self.at, self.bytes.len()))?;
        Some(Self { key: Some(key), seq, at, ..self })
    }
}

/// The last long text of each stream.
#[derive(Debug, Default)]
pub(super) struct KnownTexts(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    of: HashMap<StreamId, Known>,
    bytes: usize,
}

impl KnownTexts {
    pub(super) fn of(&self, stream: StreamId) -> Option<Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).of.get(&stream).cloned()
    }

    /// Sets the last long text of a stream; `None` if it has none to refer to.
    pub(super) fn learn(&self, stream: StreamId, known: Option<Known>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).learn(stream, known);
    }

    /// Updates the location after the front of a stream was pruned.
    pub(super) fn cut(&self, stream: StreamId, key: i64, gone: u64, moved: &Moved) {
        let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = remembered.of.get(&stream).cloned() {
            remembered.learn(stream, known.behind(key, gone, moved));
        }
    }
}

impl Remembered {
    fn learn(&mut self, stream: StreamId, known: Option<Known>) {
        let more = known.as_ref().map_or(0, |known| known.bytes.len());
        if self.bytes + more > REMEMBERED_ALL {
            // The texts only save space; nothing depends on them.
            *self = Self::default();
        }
        let before = match known {
            Some(known) => self.of.insert(stream, known),
            None => self.of.remove(&stream),
        };
        self.bytes = self.bytes + more - before.map_or(0, |before| before.bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembered_texts_are_bounded() {
        let texts = KnownTexts::default();
        let stream = |nth: u128| (framegate_translators::frame::StreamKind::Session, uuid::Uuid::from_u128(nth));
        let known = || Some(Known { key: Some(1), seq: 0, at: 0, bytes: vec![b'x'; REMEMBERED].into() });
        for nth in 0..100 {
            texts.learn(stream(nth), known());
            assert!(texts.of(stream(nth)).is_some());
            let remembered = texts.0.lock().unwrap();
            let sum: usize = remembered.of.values().map(|known| known.bytes.len()).sum();
            assert!(sum == remembered.bytes && sum <= REMEMBERED_ALL);
        }
        texts.learn(stream(99), known());
        texts.learn(stream(99), None);
        assert!(texts.of(stream(99)).is_none());
        let remembered = texts.0.lock().unwrap();
        assert_eq!(remembered.of.values().map(|known| known.bytes.len()).sum::<usize>(), remembered.bytes);
    }

    #[test]
    fn a_text_is_found_where_pruning_moved_it() {
        let known = |key, seq| Known { key, seq, at: 3, bytes: vec![b'x'; 2000].into() };
        let moved = Moved::from([((4, 3, 2000), (9, 7))]);
        // Four cases: it stays; it was moved; it is gone; it belongs to another stream with the same id.
        assert_eq!(known(Some(1), 5).behind(1, 5, &moved), Some(known(Some(1), 5)));
        assert_eq!(known(Some(1), 4).behind(1, 5, &moved), Some(Known { at: 7, ..known(Some(1), 9) }));
        assert_eq!(known(Some(1), 3).behind(1, 5, &moved), None);
        assert_eq!(known(Some(2), 8).behind(1, 5, &moved), None);
        let (texts, stream) =
            (KnownTexts::default(), (framegate_translators::frame::StreamKind::Task, uuid::Uuid::nil()));
        texts.learn(stream, Some(known(Some(1), 4)));
        texts.cut(stream, 1, 5, &moved);
        assert_eq!(texts.of(stream).map(|known| (known.seq, known.at)), Some((9, 7)));
        texts.cut(stream, 1, 10, &Moved::new());
        assert_eq!(texts.of(stream), None);
        assert_eq!(texts.0.lock().unwrap().bytes, 0);
    }
}
