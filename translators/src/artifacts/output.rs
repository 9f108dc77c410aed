//! The output of one tool, held until the tool ends.
//!
//! Input: pieces. Output: how much of each is emitted now, and the whole at the end. Never: more held than the bounds allow, or
//! a piece held after one that was cut.

use super::Bounds;

/// The stream and position of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Standard output, after the earlier pieces.
    Stdout,
    /// Standard output, before the earlier pieces.
    Front,
    /// Standard error.
    Stderr,
}

/// The output of a tool so far.
#[derive(Debug, Default)]
pub(super) struct Output {
    stdout: Channel,
    stderr: Channel,
}

#[derive(Debug, Default)]
struct Channel {
    text: String,
    /// How many bytes arrived.
    bytes: u64,
    /// How many of them were emitted.
    shown: usize,
    is_large: bool,
}

impl Output {
    /// Adds a piece, of which at most `room` more bytes may be held. Returns how many bytes of it to emit now.
    pub(super) fn push(&mut self, part: Piece, chunk: &str, bounds: &Bounds, room: usize) -> usize {
        let room = room.min(bounds.max_bytes.saturating_sub(self.held()));
        let channel = if part == Piece::Stderr { &mut self.stderr } else { &mut self.stdout };
        channel.hold(chunk, part == Piece::Front, room);
        channel.show(chunk, bounds)
    }

    /// The number of held bytes.
    pub(super) fn held(&self) -> usize {
        self.stdout.text.len() + self.stderr.text.len()
    }

    /// Whether the output is too large for frames.
    pub(super) fn is_large(&self) -> bool {
        self.stdout.is_large || self.stderr.is_large
    }

    /// The total bytes of standard output and of standard error.
    pub(super) fn bytes(&self) -> (u64, u64) {
        (self.stdout.bytes, self.stderr.bytes)
    }

    /// Standard output, then standard error.
    pub(super) fn into_text(self) -> String {
        let mut text = self.stdout.text;
        text.push_str(&self.stderr.text);
        text
    }
}

impl Channel {
    fn hold(&mut self, chunk: &str, is_front: bool, room: usize) {
        // After a piece that was cut, a later piece would be in the wrong place.
        let is_whole = self.text.len() as u64 == self.bytes;
        self.bytes += chunk.len() as u64;
        let cut = chunk.floor_char_boundary(room.min(chunk.len()));
        let kept = chunk.get(..cut).unwrap_or_default();
        if !is_front {
            if is_whole {
                self.text.push_str(kept);
            }
        } else if cut == chunk.len() {
            self.text.insert_str(0, kept);
        } else {
            // The front is inserted before the earlier pieces, whose end is cut to make room for it.
            let most = self.text.len() + room;
            let front = chunk.floor_char_boundary(most.min(chunk.len()));
            let rest = self.text.floor_char_boundary(most.saturating_sub(front).min(self.text.len()));
            self.text.truncate(if front == chunk.len() { rest } else { 0 });
            self.text.insert_str(0, chunk.get(..front).unwrap_or_default());
        }
    }

    fn show(&mut self, chunk: &str, bounds: &Bounds) -> usize {
        if self.is_large {
            return 0;
        }
        if self.shown + chunk.len() <= bounds.inline_bytes {
            self.shown += chunk.len();
            return chunk.len();
        }
        self.is_large = true;
        let room = bounds.preview_bytes.saturating_sub(self.shown);
        let cut = chunk.floor_char_boundary(room.min(chunk.len()));
        self.shown += cut;
        cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BOUNDS: Bounds = Bounds { inline_bytes: 10, preview_bytes: 4, max_bytes: 20, max_open_bytes: 100 };

    #[test]
    fn output_is_inline_up_to_the_bound() {
        let mut output = Output::default();
        assert_eq!(output.push(Piece::Stdout, "0123456789", &BOUNDS, 100), 10);
        assert!(!output.is_large());
        assert_eq!(output.push(Piece::Stdout, "x", &BOUNDS, 100), 0);
        assert!(output.is_large());
        assert_eq!(output.push(Piece::Stderr, "errors", &BOUNDS, 100), 6, "each stream has its own bound");
        assert_eq!(output.into_text(), "0123456789xerrors");
        let mut output = Output::default();
        assert_eq!(output.push(Piece::Stdout, "0123456789x", &BOUNDS, 100), 4, "what is known to be large is cut");
        assert_eq!(output.push(Piece::Stdout, "y", &BOUNDS, 100), 0);
    }

    #[test]
    fn a_late_beginning_is_put_first_even_without_room() {
        let mut output = Output::default();
        output.push(Piece::Stdout, "behind", &BOUNDS, 100);
        output.push(Piece::Front, "before ", &BOUNDS, 100);
        assert_eq!(output.into_text(), "before behind");
        let mut output = Output::default();
        output.push(Piece::Stdout, "0123456789abcdef", &BOUNDS, 100);
        output.push(Piece::Front, "FRONT ", &BOUNDS, 100);
        assert_eq!(output.bytes().0, 22);
        assert_eq!(output.into_text(), "FRONT 0123456789abcd");
    }

    proptest! {
        #[test]
        fn held_output_is_a_prefix_of_the_output(pieces in prop::collection::vec("[aé€]{0,9}", 0..12), room in 0usize..40) {
            let mut output = Output::default();
            for piece in &pieces {
                let left = room.saturating_sub(output.held());
                output.push(Piece::Stdout, piece, &BOUNDS, left);
            }
            let whole = pieces.concat();
            prop_assert_eq!(output.bytes().0, whole.len() as u64);
            prop_assert!(output.held() <= room.min(BOUNDS.max_bytes));
            let held = output.into_text();
            prop_assert!(whole.starts_with(&held));
            let most = room.min(BOUNDS.max_bytes).min(whole.len());
            prop_assert!(held.len() + 3 > most, "nothing is left out that there is room for");
        }
    }
}
