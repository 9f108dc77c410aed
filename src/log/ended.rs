//! Streams that are over, in the order in which they ended.
//!
//! In: that a stream is over, that one was gone on with or went. Out: which ended before the others. Never: a stream twice, one
//! that was gone on with since, a walk through all of them for one.

use super::{ByStream, StreamId};
use std::collections::BTreeMap;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// By a number that only rises.
    order: BTreeMap<u64, StreamId>,
    numbers: ByStream<u64>,
    next: u64,
}

impl Ended {
    /// A stream is over now: behind all others, also where it had ended before.
    pub(super) fn push(&mut self, stream: StreamId) {
        let number = self.next;
        self.next += 1;
        if let Some(before) = self.numbers.insert(stream, number) {
            self.order.remove(&before);
        }
        self.order.insert(number, stream);
    }

    /// A stream is not over any more, or it went.
    pub(super) fn remove(&mut self, stream: StreamId) {
        if let Some(number) = self.numbers.remove(&stream) {
            self.order.remove(&number);
        }
    }

    /// All of them, the one that ended first before the others.
    pub(super) fn iter(&self) -> impl Iterator<Item = StreamId> {
        self.order.values().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }
}

/// How many of `bytes` must stay, where those alone are as many as there may be; `None` where there is room, or some can be made
/// by dropping streams that are over and have so many bytes each. No more of them are looked at than would go.
pub(super) fn full_of(bytes: u64, max_bytes: u64, over: impl Iterator<Item = u64>) -> Option<u64> {
    let mut stays = bytes;
    for goes in over {
        if stays < max_bytes {
            break;
        }
        stays = stays.saturating_sub(goes);
    }
    (stays >= max_bytes).then_some(stays)
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::frame::StreamKind;
    use uuid::Uuid;

    #[test]
    fn each_stream_stands_once_at_the_place_of_its_last_end() {
        let stream = |nth| (StreamKind::Task, Uuid::from_u128(nth));
        let mut ended = Ended::default();
        let order = |ended: &Ended| ended.iter().map(|(_, id)| id.as_u128()).collect::<Vec<_>>();
        [1, 2, 3].map(stream).into_iter().for_each(|id| ended.push(id));
        assert_eq!(order(&ended), [1, 2, 3]);
        for _ in 0..100 {
            ended.push(stream(1));
        }
        assert_eq!((order(&ended), ended.len()), (vec![2, 3, 1], 3));
        ended.remove(stream(3));
        ended.remove(stream(3));
        assert_eq!((order(&ended), ended.len()), (vec![2, 1], 2));
        ended.push(stream(3));
        assert_eq!(order(&ended), [2, 1, 3]);
        assert_eq!(ended.numbers.len(), ended.order.len());
    }

    #[test]
    fn what_must_stay_fills_a_log_and_no_more_is_looked_at_than_would_go() {
        assert_eq!(full_of(9, 10, [5].into_iter()), None);
        assert_eq!(full_of(10, 10, [].into_iter()), Some(10));
        assert_eq!(full_of(15, 10, [5].into_iter()), Some(10));
        assert_eq!(full_of(15, 10, [6].into_iter()), None);
        assert_eq!(full_of(30, 10, [5, 5, 5, 5].into_iter()), Some(10));
        let mut looked = 0;
        assert_eq!(full_of(12, 10, (0..10_000).map(|_| 2).inspect(|_| looked += 1)), None);
        assert!(looked <= 3, "{looked}");
    }
}
