//! The result of matching at a position of a text, including "undecided" at the end of the text.

use super::class::Class;
use super::pem::Armour;
use std::ops::Range;

/// What begins at a position.
#[derive(Debug)]
pub(super) enum Found {
    /// Nothing.
    No,
    /// A secret. With [`Open`], it may continue in the following text.
    Full(Range<usize>, Option<Open>),
    /// The text ends where a secret may have begun.
    Tail(Tail),
    /// The value of a secret key in JSON begins here.
    Value(usize),
}

/// The end of a text that may be the beginning of a secret.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    /// The start of the text that must be kept for the next reading.
    pub(super) start: usize,
    /// Where the secret would begin.
    pub(super) from: usize,
    /// How long to wait for the following text, and the position from which units wait.
    pub(super) wait: Wait,
    pub(super) held: usize,
    /// How the secret continues if its text is released or redacted without the following text.
    pub(super) open: Option<Open>,
    /// Where the secret ends if nothing follows. `None` if the text would then not be one.
    pub(super) end: Option<usize>,
}

/// How long the end of a text waits for the following text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wait {
    /// The text is kept but does not wait: it has no part of a secret yet.
    No,
    /// The text may be the beginning of something that looks like a secret. Or it is certainly a secret and can be redacted
    /// at any time.
    Short,
    /// The text looks like a secret, but too little of it has arrived.
    Long,
}

/// A secret that may continue in the following text.
#[derive(Clone, Debug)]
pub(super) enum Open {
    /// It continues through bytes of this class, for at most this many bytes.
    Class(Class, usize),
    /// It continues to the end of the armour, at the level at which it was found.
    Armour { level: usize, armour: Armour },
}

/// The maximum length of a value of a key, and of a private key.
pub(super) const LONGEST: usize = 32 << 10;
/// The maximum length of a name before a value.
pub(super) const LONGEST_NAME: usize = 256;

impl Tail {
    /// Text from `start` on that must be kept but does not wait.
    pub(super) fn context(start: usize, text: &[u8]) -> Self {
        Self { start, from: text.len(), wait: Wait::No, held: text.len(), open: None, end: None }
    }

    /// Text from `start` on that waits.
    pub(super) fn waiting(start: usize, wait: Wait) -> Self {
        Self { start, from: start, wait, held: start, open: None, end: None }
    }
}

impl Open {
    /// The only level at which the secret can end. `None` if it can end at any level.
    pub(super) fn level(&self) -> Option<usize> {
        match self {
            Self::Class(..) => None,
            Self::Armour { level, .. } => Some(*level),
        }
    }

    /// How many bytes of a text, at one level, still belong to the secret, and how the secret continues after them.
    pub(super) fn swallow(self, text: &[u8]) -> (usize, Option<Self>) {
        match self {
            Self::Class(class, left) => {
                let size = whole(text, class.run(text, 0).min(left));
                (size, (size == text.len() && size < left).then(|| Self::Class(class, left - size)))
            }
            Self::Armour { level, armour } => {
                let (size, armour) = armour.go_on(text);
                (size, armour.map(|armour| Self::Armour { level, armour }))
            }
        }
    }
}

/// The end of the UTF-8 character that contains a position.
fn whole(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().take(3).take_while(|byte| matches!(byte, 0x80..=0xBF)).count()
}
