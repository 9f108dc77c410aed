//! The checkpoints of one stream in one contract that are in memory.
//!
//! Input: points that an encoder has reached. Output: the best point to start from. Never: more checkpoints than a limit,
//! however long the stream is, or more text in them than another limit. In a long stream every second checkpoint is removed
//! each time the limit is reached.

use super::ResumePoint;
use crate::log::CheckpointAt;
use framegate_translators::encode::{Encoder, EventId};

/// Number of frames between two checkpoints of a short stream.
const FRAMES_APART: u64 = 1024;

/// Maximum number of checkpoints of a stream.
const CHECKPOINTS: usize = 256;

/// Maximum of text that the encoders of all checkpoints may hold, in bytes.
const HELD_BYTES: usize = 4 << 20;

/// The checkpoints of one stream in one contract.
pub(super) struct CheckpointList {
    /// Ordered by frame. The first is the start of the kept part of the stream.
    list: Vec<ResumePoint>,
    apart: u64,
    held_bytes: usize,
}

impl CheckpointList {
    /// Starts with one checkpoint: the encoder at the start of the stream.
    pub(super) fn new(encoder: Box<dyn Encoder>) -> Self {
        let start = ResumePoint { frame: 0, event: 0, last: None, encoder };
        Self { list: vec![start], apart: FRAMES_APART, held_bytes: 0 }
    }

    /// Adds a checkpoint, if it is far enough from the last one and there is room for its text.
    pub(super) fn note(&mut self, frame: u64, held_bytes: usize, point: impl FnOnce() -> ResumePoint) {
        let newest = self.list.last().map_or(0, |point| point.frame);
        if frame < newest + self.apart || self.held_bytes + held_bytes > HELD_BYTES {
            return;
        }
        self.held_bytes += held_bytes;
        self.list.push(point());
        if self.list.len() > CHECKPOINTS {
            let mut index = 0;
            self.list.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.apart *= 2;
            self.held_bytes = self.list.iter().map(|point| point.encoder.held_bytes()).sum();
        }
    }

    /// The stream begins at that point from now on; everything before it is gone.
    pub(super) fn begin_at(&mut self, start: ResumePoint) {
        self.list.retain(|point| point.frame > start.frame);
        self.list.insert(0, start);
        self.held_bytes = self.list.iter().map(|point| point.encoder.held_bytes()).sum();
    }

    /// The start of the kept part, if it is the frame with that number.
    pub(super) fn start_at(&self, frame: u64) -> Option<ResumePoint> {
        self.list.first().filter(|start| start.frame == frame).map(ResumePoint::fork)
    }

    /// The last checkpoint that is not after that point, in a stream of `frames` frames.
    pub(super) fn before(&self, at: &CheckpointAt, frames: u64) -> Option<ResumePoint> {
        match at {
            CheckpointAt::Event(number) => self.before_event(*number),
            CheckpointAt::Frame(frame) => self.before_frame(*frame),
            CheckpointAt::Cursor(cursor) => self.before_cursor(cursor, frames),
        }
    }

    /// Whether the encoder can start at any frame, without the frames before it.
    pub(super) fn is_free(&self) -> bool {
        self.list.first().is_some_and(|start| start.encoder.first_event_of(0).is_some())
    }

    /// The last checkpoint that is not after that event.
    pub(super) fn before_event(&self, number: u64) -> Option<ResumePoint> {
        // If an encoder can start anywhere, events and frames may have the same numbers.
        self.anywhere(number).filter(|point| point.event == number).or_else(|| {
            let at = self.list.partition_point(|point| point.event <= number);
            self.list.get(at.checked_sub(1)?).map(ResumePoint::fork)
        })
    }

    /// The last checkpoint that is not after the first event of that frame.
    fn before_frame(&self, frame: u64) -> Option<ResumePoint> {
        self.anywhere(frame).or_else(|| {
            let at = self.list.partition_point(|point| point.frame <= frame);
            self.list.get(at.checked_sub(1)?).map(ResumePoint::fork)
        })
    }

    /// The last checkpoint that is not after the event with that cursor, in a stream of `frames` frames.
    fn before_cursor(&self, cursor: &EventId, frames: u64) -> Option<ResumePoint> {
        let direct = match cursor {
            EventId::Number(number) => {
                let frame = frames.min(*number);
                self.anywhere(frame).filter(|point| point.event == frame)
            }
            _ => None,
        };
        direct.or_else(|| {
            // Cursors increase; text cursors do too, because they end in digits of fixed width.
            let at = self.list.partition_point(|point| match (&point.last, cursor) {
                (None, _) => true,
                (Some((EventId::Number(last), _)), EventId::Number(number)) => last <= number,
                (Some((EventId::Text(last), _)), EventId::Text(text)) => last <= text,
                _ => false,
            });
            self.list.get(at.checked_sub(1)?).map(ResumePoint::fork)
        })
    }

    /// The point before a frame, for an encoder that needs no earlier frames.
    pub(super) fn anywhere(&self, frame: u64) -> Option<ResumePoint> {
        let start = self.list.first()?;
        let event = start.encoder.first_event_of(frame)?;
        Some(ResumePoint { frame, event, last: None, encoder: start.encoder.fork() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::encode::Events;
    use framegate_translators::frame::Frame;

    /// An encoder that reports a fixed amount of held text.
    #[derive(Clone)]
    struct Holds(usize);

    impl Encoder for Holds {
        fn frame(&mut self, _: &Frame, _: &mut Events) {}

        fn fork(&self) -> Box<dyn Encoder> {
            Box::new(self.clone())
        }

        fn held_bytes(&self) -> usize {
            self.0
        }
    }

    fn note(checkpoints: &mut CheckpointList, frame: u64, held_bytes: usize) {
        let point = || ResumePoint { frame, event: frame, last: None, encoder: Box::new(Holds(held_bytes)) };
        checkpoints.note(frame, held_bytes, point);
    }

    #[test]
    fn checkpoints_are_few_and_spread_over_the_whole_stream() {
        let mut checkpoints = CheckpointList::new(Box::new(Holds(0)));
        for frame in (0..10_000_000).step_by(256) {
            note(&mut checkpoints, frame, 1);
            assert!(checkpoints.list.len() <= CHECKPOINTS);
        }
        for frame in [0, 1, 77_777, 5_000_000, 9_999_999] {
            let point = checkpoints.before_event(frame).unwrap();
            assert!(point.event <= frame && frame - point.event < 2 * 10_000_000 / CHECKPOINTS as u64 * 2, "{frame}");
        }
    }

    #[test]
    fn a_pruned_stream_begins_at_its_first_kept_frame() {
        let mut checkpoints = CheckpointList::new(Box::new(Holds(0)));
        for frame in (0..10_000).step_by(256) {
            note(&mut checkpoints, frame, 1);
        }
        checkpoints.begin_at(ResumePoint { frame: 5_000, event: 5_000, last: None, encoder: Box::new(Holds(7)) });
        assert!(checkpoints.start_at(0).is_none() && checkpoints.start_at(5_000).is_some());
        assert!(checkpoints.before_event(4_999).is_none());
        assert_eq!(checkpoints.before_frame(5_000).unwrap().encoder.held_bytes(), 7);
        assert!(checkpoints.before_frame(9_999).unwrap().frame > 7_000);
        assert_eq!(checkpoints.held_bytes, 7 + (checkpoints.list.len() - 1));
    }

    #[test]
    fn checkpoints_with_much_held_text_are_bounded() {
        let mut checkpoints = CheckpointList::new(Box::new(Holds(0)));
        for frame in (0..1_000_000).step_by(256) {
            note(&mut checkpoints, frame, 1 << 20);
        }
        assert!(checkpoints.list.iter().map(|point| point.encoder.held_bytes()).sum::<usize>() <= HELD_BYTES);
    }
}
