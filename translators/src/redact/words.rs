//! Finds the beginnings of words.
//!
//! Input: a text and a position in it. Output: whether a word may begin there. A terminal's control sequence (`ESC[1;32m`)
//! may precede the word, and its last letter is not part of the word. The ESC is not required: it is spelt in many ways
//! (`\x1b`, `\033`, `\e`, `^[`) and is often lost. Never: a search beyond the maximum length of a sequence.

/// The maximum length of a sequence's parameters.
const LONGEST_SEQUENCE: usize = 32;

const ESC: u8 = 0x1b;

fn parameter(byte: u8) -> bool {
    matches!(byte, b'0'..=b'?')
}

/// The length of the run of bytes of a class before a position, at most `most`.
fn run_before(text: &[u8], at: usize, most: usize, class: impl Fn(u8) -> bool) -> usize {
    let front = text.get(..at).unwrap_or_default();
    front.iter().rev().take(most).take_while(|byte| class(**byte)).count()
}

/// The position of the `[` of a control sequence whose parameters end at `at`.
pub(super) fn opening(text: &[u8], at: usize) -> Option<usize> {
    let opening = at.checked_sub(run_before(text, at, LONGEST_SEQUENCE, parameter) + 1)?;
    (text.get(opening) == Some(&b'[')).then_some(opening)
}

/// Whether the byte at a position continues a word.
pub(super) fn is_inside_a_word(text: &[u8], at: usize) -> bool {
    let Some((before, &byte)) = at.checked_sub(1).and_then(|before| Some((before, text.get(before)?))) else {
        return false;
    };
    (byte.is_ascii_alphanumeric() || byte == b'_') && !(byte.is_ascii_alphabetic() && opening(text, before).is_some())
}

/// Whether an escape of a string ends at a position, so that a word may begin there.
pub(super) fn is_behind_an_escape(text: &[u8], at: usize) -> bool {
    let front = text.get(..at).unwrap_or_default();
    let is_code = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    matches!(front, [.., b'\\', b'a'..=b'z'])
        || matches!(front.last_chunk::<6>(), Some([b'\\', b'u', digits @ ..]) if is_code(digits))
}

/// The start of the name that ends at `end`, at most `most` bytes before it.
pub(super) fn name_start(text: &[u8], end: usize, most: usize, in_name: impl Fn(u8) -> bool) -> usize {
    let start = end - run_before(text, end, most, in_name);
    let Some(opening) = opening(text, start) else { return start };
    let rest = text.get(opening + 1..end).unwrap_or_default();
    let parameters = rest.iter().take_while(|byte| parameter(**byte)).count();
    // A bracket alone does not prove a control sequence.
    let is_sequence = parameters > 0 || opening.checked_sub(1).and_then(|before| text.get(before)) == Some(&ESC);
    let is_over = rest.get(parameters).is_some_and(u8::is_ascii_alphabetic);
    if is_sequence && is_over { start.max(opening + 1 + parameters + 1) } else { start }
}

/// Whether a word of a line is only a control sequence.
pub(super) fn is_sequence(word: &[u8]) -> bool {
    let Some((last, parameters)) = word.strip_prefix(&[ESC, b'[']).and_then(<[u8]>::split_last) else { return false };
    last.is_ascii_alphabetic() && parameters.iter().all(|byte| parameter(*byte))
}

/// The start of an unfinished control sequence at the end of a text.
pub(super) fn front_of_sequence(text: &[u8]) -> Option<usize> {
    if text.last() == Some(&ESC) {
        return Some(text.len() - 1);
    }
    let opening = opening(text, text.len())?;
    Some(opening - usize::from(text.get(..opening).is_some_and(|front| front.ends_with(&[ESC]))))
}
