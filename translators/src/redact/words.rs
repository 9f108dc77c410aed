//! Where a word of a text begins.
//!
//! In: a text, a place in it. Out: whether a word may begin there. What stands before it may be a terminal's control sequence
//! (`ESC[1;32m`), whose last letter is no part of the word; its ESC is not asked for, since it is spelt in many ways (`\x1b`,
//! `\033`, `\e`, `^[`) and is often lost. Never: a look at more than the longest sequence has.

/// The longest parameters of a sequence that are looked at.
const LONGEST_SEQUENCE: usize = 32;
/// The same where each of their bytes may be spelt as an escape.
const LONGEST_SPELLING: usize = 6 * LONGEST_SEQUENCE;

const ESC: u8 = 0x1b;

fn parameter(byte: u8) -> bool {
    matches!(byte, b'0'..=b'?')
}

/// How much of the text before a place is made of such bytes.
fn run_before(text: &[u8], at: usize, most: usize, class: impl Fn(u8) -> bool) -> usize {
    let front = text.get(..at).unwrap_or_default();
    front.iter().rev().take(most).take_while(|byte| class(**byte)).count()
}

/// Where the sequence opens (its `[`) whose parameters go up to this place.
fn opening(text: &[u8], at: usize) -> Option<usize> {
    let opening = at.checked_sub(run_before(text, at, LONGEST_SEQUENCE, parameter) + 1)?;
    (text.get(opening) == Some(&b'[')).then_some(opening)
}

/// Whether what begins at this place goes on with a word.
pub(super) fn is_inside_a_word(text: &[u8], at: usize) -> bool {
    let Some((before, &byte)) = at.checked_sub(1).and_then(|before| Some((before, text.get(before)?))) else {
        return false;
    };
    (byte.is_ascii_alphanumeric() || byte == b'_') && !(byte.is_ascii_alphabetic() && opening(text, before).is_some())
}

/// Where the name begins that goes up to this place, at most so many bytes before it.
pub(super) fn name_start(text: &[u8], end: usize, most: usize, in_name: impl Fn(u8) -> bool) -> usize {
    let start = end - run_before(text, end, most, in_name);
    let Some(opening) = opening(text, start) else { return start };
    let rest = text.get(opening + 1..end).unwrap_or_default();
    let parameters = rest.iter().take_while(|byte| parameter(**byte)).count();
    // A bracket alone may be anything's.
    let is_sequence = parameters > 0 || opening.checked_sub(1).and_then(|before| text.get(before)) == Some(&ESC);
    let is_over = rest.get(parameters).is_some_and(u8::is_ascii_alphabetic);
    if is_sequence && is_over { start.max(opening + 1 + parameters + 1) } else { start }
}

/// Whether a word of a line is a sequence and nothing else.
pub(super) fn is_sequence(word: &[u8]) -> bool {
    let Some((last, parameters)) = word.strip_prefix(&[ESC, b'[']).and_then(<[u8]>::split_last) else { return false };
    last.is_ascii_alphabetic() && parameters.iter().all(|byte| parameter(*byte))
}

/// The end of a text that is a sequence which is not over.
pub(super) fn front_of_sequence(text: &[u8]) -> Option<usize> {
    if text.last() == Some(&ESC) {
        return Some(text.len() - 1);
    }
    let opening = opening(text, text.len())?;
    Some(opening - usize::from(text.get(..opening).is_some_and(|front| front.ends_with(&[ESC]))))
}

/// Whether a letter before this place may be an escape's, or the end of a sequence that is spelt with escapes.
pub(super) fn is_behind_an_escape(bytes: &[u8], at: usize) -> bool {
    let spelt = |byte: u8| parameter(byte) || byte.is_ascii_hexdigit() || matches!(byte, b'u' | b'[' | b'\\');
    let letter = at.saturating_sub(1);
    let size = run_before(bytes, letter, LONGEST_SPELLING, spelt).max(5).min(letter);
    bytes.get(letter - size..at).unwrap_or_default().contains(&b'\\')
}
