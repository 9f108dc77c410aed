//! Makes characters visible that a terminal would obey, or that a reader could not see.
//!
//! Input: text from a run or a client, or the name of a file. Output: the same text, in which control characters are pictures (`␛`, `␇`)
//! and invisible format characters their numbers (`‹U+202E›`). Never: a control character other than a line end, a bidi override, an invisible character
//! without its number, a long pile of combining marks.

use std::borrow::Cow;
use std::fmt::Write;
use unicode_width::UnicodeWidthChar;

/// How many combining marks on one character are kept.
const MARKS: usize = 8;

/// Characters that are invisible, or that change the order or the shape of others: format characters, fillers, variation selectors.
const INVISIBLE: &[(char, char)] = &[
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{600}', '\u{605}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{6dd}', '\u{6dd}'),
    ('\u{70f}', '\u{70f}'),
    ('\u{890}', '\u{891}'),
    ('\u{8e2}', '\u{8e2}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{2028}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1345f}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];

/// The picture of a line end.
const LINE_END: char = '⏎';

/// Text of one line: a line end is a picture too, and a tab is a space.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    neutral(text, true)
}

/// Text of several lines: line ends and tabs stay. A `\r` before a line end is dropped.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    neutral(text, false)
}

fn neutral(text: &str, is_line: bool) -> Cow<'_, str> {
    if text.bytes().all(|byte| (b' '..0x7f).contains(&byte) || (!is_line && matches!(byte, b'\n' | b'\t'))) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let (mut previous, mut marks) = (None, 0);
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let next = chars.peek().copied();
        match char {
            '\r' if next == Some('\n') => continue,
            '\n' if is_line => out.push(LINE_END),
            '\t' if is_line => out.push(' '),
            '\n' | '\t' => out.push(char),
            _ if char.is_control() => push_control(char, &mut out),
            _ if is_invisible(char) && !belongs(char, previous, next) => push_number(char, &mut out),
            _ if is_invisible(char) => {
                // It belongs to the character before it.
                out.push(char);
                previous = Some(char);
                continue;
            }
            _ if char.width() == Some(0) => {
                marks += 1;
                match marks {
                    1..=MARKS => out.push(char),
                    // Once for all that is left out.
                    _ if marks == MARKS + 1 => out.push(char::REPLACEMENT_CHARACTER),
                    _ => {}
                }
                previous = Some(char);
                continue;
            }
            _ => out.push(char),
        }
        marks = 0;
        previous = Some(char);
    }
    Cow::Owned(out)
}

fn push_control(char: char, out: &mut String) {
    match u32::from(char) {
        code @ 0..0x20 => out.extend(char::from_u32(0x2400 + code)),
        0x7f => out.push('␡'),
        _ => push_number(char, out),
    }
}

fn push_number(char: char, out: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(out, "‹U+{:04X}›", u32::from(char));
}

/// Whether the character has no shape of its own.
fn is_invisible(char: char) -> bool {
    let at = INVISIBLE.partition_point(|(_, last)| *last < char);
    INVISIBLE.get(at).is_some_and(|(first, _)| *first <= char)
}

/// Whether an invisible character does what it is for between these two: it joins letters or pictures, or selects the form of one.
fn belongs(char: char, previous: Option<char>, next: Option<char>) -> bool {
    let has_shape = |char: Option<char>| {
        char.is_some_and(|char| {
            !char.is_ascii() && !char.is_control() && !char.is_whitespace() && (!is_invisible(char) || is_form(char))
        })
    };
    match char {
        '\u{200c}' | '\u{200d}' => has_shape(previous) && has_shape(next),
        _ if is_form(char) => {
            let is_key = |char: char| char.is_ascii_digit() || matches!(char, '#' | '*');
            has_shape(previous.filter(|char| !is_form(*char)))
                || (previous.is_some_and(is_key) && next == Some('\u{20e3}'))
        }
        _ => false,
    }
}

/// The selectors between text and picture.
fn is_form(char: char) -> bool {
    matches!(char, '\u{fe0e}' | '\u{fe0f}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn control_characters_are_pictures() {
        assert_eq!(line("a\x1b[31mb\x07\x7f\0"), "a␛[31mb␇␡␀");
        assert_eq!(line("a\u{9b}2Jb\u{85}c"), "a‹U+009B›2Jb‹U+0085›c");
        assert_eq!(line("name\nof a\r\nfile\tx"), "name⏎of a⏎file x");
        assert_eq!(text("one\r\ntwo\rthree\t\n"), "one\ntwo␍three\t\n");
    }

    #[test]
    fn invisible_characters_are_numbers() {
        assert_eq!(text("a\u{202e}b\u{2066}c\u{200b}d\u{feff}"), "a‹U+202E›b‹U+2066›c‹U+200B›d‹U+FEFF›");
        assert_eq!(text("x\u{e0041}\u{fe0f}y\u{200d}z"), "x‹U+E0041›‹U+FE0F›y‹U+200D›z");
        assert_eq!(text("\u{2028}\u{ad}\u{3164}"), "‹U+2028›‹U+00AD›‹U+3164›");
    }

    #[test]
    fn joiners_and_forms_stay_where_scripts_and_pictures_need_them() {
        for kept in [
            "👩\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}",
            "1\u{fe0f}\u{20e3}",
            "می\u{200c}خواهم",
            "क\u{200d}ष",
            "e\u{301}",
            "🏳\u{fe0f}\u{200d}🌈",
        ] {
            assert_eq!(text(kept), kept);
        }
        // A second selector could hide data.
        assert_eq!(text("❤\u{fe0f}\u{fe0f}"), "❤\u{fe0f}‹U+FE0F›");
    }

    #[test]
    fn a_pile_of_marks_is_cut() {
        let pile = format!("e{}x", "\u{301}".repeat(100));
        assert_eq!(text(&pile), format!("e{}\u{fffd}x", "\u{301}".repeat(MARKS)));
    }

    proptest! {
        #[test]
        fn nothing_is_left_that_a_terminal_obeys(any in any::<String>(), mut chars in prop::collection::vec(any::<char>(), 0..50)) {
            chars.extend(any.chars());
            let any: String = chars.into_iter().collect();
            for out in [line(&any), text(&any)] {
                prop_assert!(out.chars().all(|char| !char.is_control() || matches!(char, '\n' | '\t')));
                let is_hidden = |char| matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}');
                prop_assert!(!out.contains(is_hidden));
            }
            prop_assert!(!line(&any).contains(['\n', '\t']));
            // What is neutral already stays.
            let once = text(&any).into_owned();
            prop_assert_eq!(text(&once), once.as_str());
        }
    }
}
