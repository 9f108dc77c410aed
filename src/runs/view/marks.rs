//! Marks: places in a stream from which its events can be encoded without the frames before.
//!
//! In: windows that were advanced. Out: the best place to begin from. Never: more marks than a bound, however long the stream
//! is, or more text in them than another bound: of a longer stream every second one is forgotten, again and again.

use super::window::{Place, Window};
use framegate_translators::encode::{Encoder, EventId};

/// How many frames lie between two marks of a short stream.
const FRAMES_APART: u64 = 1024;

/// How many marks a stream has at most.
const MARKS: usize = 256;

/// How much text the encoders of all marks may hold, in bytes.
const HELD_BYTES: usize = 4 << 20;

/// The marks of one stream in one contract.
pub(super) struct Marks {
    /// In order; the first is the start of the stream.
    list: Vec<Place>,
    apart: u64,
    held_bytes: usize,
}

impl Marks {
    /// The encoder at the start of the stream.
    pub(super) fn new(encoder: Box<dyn Encoder>) -> Self {
        let start = Place { frame: 0, event: 0, last: None, encoder };
        Self { list: vec![start], apart: FRAMES_APART, held_bytes: 0 }
    }

    /// Takes note of where a window stands, if that is worth a mark.
    pub(super) fn note(&mut self, window: &Window) {
        let newest = self.list.last().map_or(0, |place| place.frame);
        if window.next_frame() < newest + self.apart || self.held_bytes + window.held_bytes() > HELD_BYTES {
            return;
        }
        self.held_bytes += window.held_bytes();
        self.list.push(window.place());
        if self.list.len() > MARKS {
            let mut index = 0;
            self.list.retain(|_| {
                index += 1;
                index % 2 == 1
            });
            self.apart *= 2;
            self.held_bytes = self.list.iter().map(|place| place.encoder.held_bytes()).sum();
        }
    }

    /// The last mark that is not behind that event.
    pub(super) fn before_event(&self, number: u64) -> Option<Place> {
        // Where an encoder can begin anywhere, events and frames may have the same numbers.
        self.anywhere(number).filter(|place| place.event == number).or_else(|| {
            let at = self.list.partition_point(|place| place.event <= number);
            self.list.get(at.checked_sub(1)?).map(Place::fork)
        })
    }

    /// The last mark that is not behind the first event of that frame.
    pub(super) fn before_frame(&self, frame: u64) -> Option<Place> {
        self.anywhere(frame).or_else(|| {
            let at = self.list.partition_point(|place| place.frame <= frame);
            self.list.get(at.checked_sub(1)?).map(Place::fork)
        })
    }

    /// The last mark behind which the event with that cursor may stand, in a stream of that many frames.
    pub(super) fn before_cursor(&self, cursor: &EventId, frames: u64) -> Option<Place> {
        let direct = match cursor {
            EventId::Number(number) => {
                let frame = frames.min(*number);
                self.anywhere(frame).filter(|place| place.event == frame)
            }
            _ => None,
        };
        direct.or_else(|| {
            // Cursors go up, text ones too: they end in digits of one width.
            let at = self.list.partition_point(|place| match (&place.last, cursor) {
                (None, _) => true,
                (Some((EventId::Number(last), _)), EventId::Number(number)) => last <= number,
                (Some((EventId::Text(last), _)), EventId::Text(text)) => last <= text,
                _ => false,
            });
            self.list.get(at.checked_sub(1)?).map(Place::fork)
        })
    }

    /// The place before a frame, for an encoder that needs nothing of the frames before.
    fn anywhere(&self, frame: u64) -> Option<Place> {
        let start = self.list.first()?;
        let event = start.encoder.first_event_of(frame)?;
        Some(Place { frame, event, last: None, encoder: start.encoder.fork() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::encode::Events;
    use framegate_translators::frame::Frame;

    /// An encoder that holds as much text as it is told.
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

    fn window(frame: u64, held_bytes: usize) -> Window {
        Window::at(Place { frame, event: frame, last: None, encoder: Box::new(Holds(held_bytes)) })
    }

    #[test]
    fn marks_stay_few_and_spread_over_the_whole_stream() {
        let mut marks = Marks::new(Box::new(Holds(0)));
        for frame in (0..10_000_000).step_by(256) {
            marks.note(&window(frame, 1));
            assert!(marks.list.len() <= MARKS);
        }
        for frame in [0, 1, 77_777, 5_000_000, 9_999_999] {
            let place = marks.before_event(frame).unwrap();
            assert!(place.event <= frame && frame - place.event < 2 * 10_000_000 / MARKS as u64 * 2, "{frame}");
        }
    }

    #[test]
    fn encoders_that_hold_much_text_are_not_kept() {
        let mut marks = Marks::new(Box::new(Holds(0)));
        for frame in (0..1_000_000).step_by(256) {
            marks.note(&window(frame, 1 << 20));
        }
        assert!(marks.list.iter().map(|place| place.encoder.held_bytes()).sum::<usize>() <= HELD_BYTES);
    }
}
