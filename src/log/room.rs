//! How full a log is, and which streams are dropped to make room.
//!
//! Input: streams as they grow, end, are pruned and are dropped. Output: whether an append fits, and which stream to drop for
//! it. Never: an open run dropped, a scan of all streams for an append, or a stream dropped for an append that would not fit
//! anyway.
//!
//! Only an open run must stay. Everything else (ended runs, tasks, threads) is *idle*, and is dropped in the order of the last
//! append to it. Open runs together may fill the log except for a reserve, which is for the frames that end them.

use super::{ByStream, LogError, StreamId};
use framegate_translators::frame::StreamKind;
use std::collections::{BTreeMap, HashSet};

/// `max_bytes / RESERVE` is reserved for the ends of runs once no idle stream is left to drop.
const RESERVE: u64 = 8;

/// The limits of a log.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoomBounds {
    /// Maximum number of bytes of frames.
    pub(super) max_bytes: u64,
    /// Maximum number of ended runs, of tasks, and of threads.
    pub(super) max_streams: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Held {
    bytes: u64,
    /// The stream's number in the order of the last appends; `None` for an open run.
    idle: Option<u64>,
}

/// The sizes of all streams, and the order in which the idle ones are dropped.
#[derive(Debug)]
pub(super) struct Room {
    pub(super) bounds: RoomBounds,
    streams: ByStream<Held>,
    /// Idle streams by an ever-increasing number: runs, tasks, and threads with all other kinds.
    idle: [BTreeMap<u64, StreamId>; 3],
    next: u64,
    bytes: u64,
    open_bytes: u64,
}

impl Room {
    pub(super) fn new(bounds: RoomBounds) -> Self {
        Self { bounds, streams: ByStream::default(), idle: Default::default(), next: 0, bytes: 0, open_bytes: 0 }
    }

    /// Records an append: the stream now has `bytes` bytes. `is_over` says whether it has ended.
    pub(super) fn grown(&mut self, stream: StreamId, bytes: u64, is_over: bool) {
        self.remove(stream);
        let idle = (is_over || stream.0 != StreamKind::Session).then_some(self.next);
        if let Some(number) = idle {
            self.next += 1;
            self.order_of(stream).map(|order| order.insert(number, stream));
        } else {
            self.open_bytes += bytes;
        }
        self.bytes += bytes;
        self.streams.insert(stream, Held { bytes, idle });
    }

    /// Records that the front of a stream was pruned: the stream now has `bytes` bytes. Its place in the order stays.
    pub(super) fn cut(&mut self, stream: StreamId, bytes: u64) {
        let Some(held) = self.streams.get_mut(&stream) else { return };
        self.bytes = self.bytes - held.bytes + bytes;
        if held.idle.is_none() {
            self.open_bytes = self.open_bytes - held.bytes + bytes;
        }
        held.bytes = bytes;
    }

    /// Removes a stream.
    pub(super) fn remove(&mut self, stream: StreamId) {
        let Some(held) = self.streams.remove(&stream) else { return };
        self.bytes -= held.bytes;
        match held.idle {
            Some(number) => drop(self.order_of(stream).and_then(|order| order.remove(&number))),
            None => self.open_bytes -= held.bytes,
        }
    }

    /// How many bytes are kept.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many streams are kept.
    pub(super) fn len(&self) -> usize {
        self.streams.len()
    }

    /// The idle streams: in each kind, the one idle longest comes first.
    pub(super) fn idle(&self) -> impl Iterator<Item = StreamId> {
        self.idle.iter().flat_map(BTreeMap::values).copied()
    }

    /// The size up to which an append may fill the log with open runs. Only the ends of runs may use the reserve.
    pub(super) fn limit(&self, is_closing: bool) -> u64 {
        let max = self.bounds.max_bytes;
        if is_closing { max } else { max - max / RESERVE }
    }

    /// The error, if `more` bytes would not fit even with every idle stream dropped.
    pub(super) fn refuses(&self, more: u64, is_closing: bool) -> Option<LogError> {
        let too_much = self.open_bytes.saturating_add(more) > self.limit(is_closing);
        too_much.then_some(LogError::Full { bytes: self.open_bytes, limit: self.bounds.max_bytes })
    }

    /// Whether `more` bytes exceed the limit at the current size.
    pub(super) fn lacks(&self, more: u64) -> bool {
        self.bytes.saturating_add(more) > self.bounds.max_bytes
    }

    /// Whether something must be dropped before `more` bytes are kept.
    pub(super) fn is_beyond(&self, more: u64) -> bool {
        self.lacks(more) || self.crowded().is_some()
    }

    /// The idle stream to drop next to make room for `more` bytes; `None` if there is room, or no stream is left. Streams in
    /// `kept` are never dropped. Streams in `spared` are dropped only for bytes, and only if no other is left.
    pub(super) fn next_to_go(&self, more: u64, kept: &[StreamId], spared: &HashSet<StreamId>) -> Option<StreamId> {
        let may_go = |id: &StreamId| !kept.contains(id);
        let unspared = |id: &StreamId| may_go(id) && !spared.contains(id);
        if !self.lacks(more) {
            return self.crowded().and_then(|class| self.first_of(class, unspared)).map(|(_, id)| id);
        }
        let first = |goes: &dyn Fn(&StreamId) -> bool| {
            (0..self.idle.len()).filter_map(|class| self.first_of(class, goes)).min_by_key(|(number, _)| *number)
        };
        first(&unspared).or_else(|| first(&may_go)).map(|(_, id)| id)
    }

    fn order_of(&mut self, stream: StreamId) -> Option<&mut BTreeMap<u64, StreamId>> {
        self.idle.get_mut(class(stream))
    }

    /// A kind with more streams than allowed.
    fn crowded(&self) -> Option<usize> {
        self.idle.iter().position(|streams| streams.len() > self.bounds.max_streams)
    }

    fn first_of(&self, class: usize, goes: impl Fn(&StreamId) -> bool) -> Option<(u64, StreamId)> {
        self.idle.get(class)?.iter().find(|(_, id)| goes(id)).map(|(number, id)| (*number, *id))
    }
}

/// The index of the kinds that are counted together.
fn class((kind, _): StreamId) -> usize {
    match kind {
        StreamKind::Session => 0,
        StreamKind::Task => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    fn of(kind: StreamKind, number: u128) -> StreamId {
        (kind, Uuid::from_u128(number))
    }

    fn room(max_bytes: u64, max_streams: usize) -> Room {
        Room::new(RoomBounds { max_bytes, max_streams })
    }

    /// Drops streams until there is room for `more` bytes. Returns their numbers.
    fn drop_until_room(room: &mut Room, more: u64, spared: &[StreamId]) -> Vec<u128> {
        let spared = spared.iter().copied().collect();
        let mut gone = Vec::new();
        while let Some(id) = room.next_to_go(more, &[], &spared) {
            room.remove(id);
            gone.push(id.1.as_u128());
        }
        gone
    }

    #[test]
    fn the_longest_idle_stream_of_any_kind_is_dropped_first_and_open_runs_stay() {
        let mut room = room(800, 100);
        let all = [
            of(StreamKind::Session, 1),
            of(StreamKind::Thread, 2),
            of(StreamKind::Task, 3),
            of(StreamKind::Session, 4),
            of(StreamKind::Session, 5),
        ];
        for id in all {
            room.grown(id, 100, id.1.as_u128() != 4);
        }
        // Another append to the first thread.
        room.grown(all[1], 150, false);
        assert_eq!((room.bytes(), room.len()), (550, 5));
        assert_eq!(drop_until_room(&mut room, 250, &[]), [0; 0]);
        assert_eq!(drop_until_room(&mut room, 251, &[]), [1]);
        assert_eq!(drop_until_room(&mut room, 400, &[]), [3]);
        // A spared stream is dropped only if no other is left.
        assert_eq!(drop_until_room(&mut room, 700, &[all[1]]), [5, 2]);
        assert_eq!(drop_until_room(&mut room, 701, &[]), [0; 0]);
        assert_eq!((room.bytes(), room.len()), (100, 1));
    }

    #[test]
    fn each_kind_is_counted_separately() {
        let mut room = room(1_000_000, 2);
        for number in 0..4 {
            room.grown(of(StreamKind::Thread, number), 1, false);
            room.grown(of(StreamKind::Session, 10 + number), 1, true);
            room.grown(of(StreamKind::Session, 20 + number), 1, false);
        }
        assert!(room.is_beyond(0));
        assert_eq!(drop_until_room(&mut room, 0, &[]), [10, 11, 0, 1]);
        assert!(!room.is_beyond(0));
        assert_eq!(room.len(), 8);
    }

    #[test]
    fn a_reserve_of_room_is_only_for_the_ends_of_runs() {
        let mut room = room(800, 10);
        let open = of(StreamKind::Session, 1);
        room.grown(open, 600, false);
        assert!(room.refuses(100, false).is_none() && room.refuses(200, true).is_none());
        assert!(matches!(room.refuses(101, false), Some(LogError::Full { bytes: 600, limit: 800 })));
        assert!(room.refuses(201, true).is_some());
        // An ended run counts only until its room is needed.
        room.grown(of(StreamKind::Session, 2), 200, true);
        assert!(room.refuses(100, false).is_none() && room.lacks(1));
        room.cut(open, 50);
        assert!(room.refuses(650, false).is_none() && room.refuses(651, false).is_some());
        assert_eq!(room.bytes(), 250);
    }

    #[test]
    fn a_stream_is_ordered_by_its_last_append_alone() {
        let mut room = room(1_000_000, 1_000);
        for number in [1, 2, 3] {
            room.grown(of(StreamKind::Task, number), 1, true);
        }
        for _ in 0..100 {
            room.grown(of(StreamKind::Task, 1), 1, true);
        }
        assert_eq!(room.idle().map(|(_, id)| id.as_u128()).collect::<Vec<_>>(), [2, 3, 1]);
        room.remove(of(StreamKind::Task, 3));
        room.remove(of(StreamKind::Task, 3));
        assert_eq!((room.len(), room.bytes()), (2, 2));
    }
}
