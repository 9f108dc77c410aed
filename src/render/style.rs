//! Styled text, and how it is written.
//!
//! Input: lines of spans. Output: text, with our own escape sequences for colours if colours are wanted. Never: an escape sequence
//! that changes anything but the look of the text after it; a style that lasts beyond its line.

use std::fmt::Write;

/// A colour of the terminal's own palette.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words speak for themselves")]
pub(crate) enum Colour {
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
}

/// How a span looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Style {
    /// The colour of the letters; `None` for the terminal's default.
    pub(crate) colour: Option<Colour>,
    /// Bold letters.
    pub(crate) is_bold: bool,
    /// Faint letters.
    pub(crate) is_dim: bool,
    /// Slanted letters.
    pub(crate) is_italic: bool,
    /// Underlined letters.
    pub(crate) is_underlined: bool,
    /// Crossed out letters.
    pub(crate) is_struck: bool,
}

impl Style {
    /// The terminal's default.
    pub(crate) const PLAIN: Self =
        Self { colour: None, is_bold: false, is_dim: false, is_italic: false, is_underlined: false, is_struck: false };
    /// Bold letters.
    pub(crate) const BOLD: Self = Self { is_bold: true, ..Self::PLAIN };
    /// Faint letters.
    pub(crate) const DIM: Self = Self { is_dim: true, ..Self::PLAIN };

    /// Letters of this colour.
    pub(crate) const fn of(colour: Colour) -> Self {
        Self { colour: Some(colour), ..Self::PLAIN }
    }

    /// The same with bold letters.
    pub(crate) const fn bold(self) -> Self {
        Self { is_bold: true, ..self }
    }

    /// The same with faint letters.
    pub(crate) const fn dim(self) -> Self {
        Self { is_dim: true, ..self }
    }

    /// Appends the escape sequence that begins the style.
    fn begin(self, out: &mut String) {
        let flags =
            [(self.is_bold, 1), (self.is_dim, 2), (self.is_italic, 3), (self.is_underlined, 4), (self.is_struck, 9)];
        let colour = self.colour.map(|colour| match colour {
            Colour::Red => 31,
            Colour::Green => 32,
            Colour::Yellow => 33,
            Colour::Blue => 34,
            Colour::Magenta => 35,
            Colour::Cyan => 36,
        });
        let codes = flags.into_iter().filter_map(|(is_set, code)| is_set.then_some(code)).chain(colour);
        out.push_str("\x1b[");
        for (nth, code) in codes.enumerate() {
            // Writing to a string cannot fail.
            let _ = write!(out, "{}{code}", if nth == 0 { "" } else { ";" });
        }
        out.push('m');
    }
}

/// The end of every style.
const RESET: &str = "\x1b[0m";

/// Text of one style. It has no control characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The text, in which nothing is left to make visible.
    pub(crate) text: String,
    /// Its style.
    pub(crate) style: Style,
}

impl Span {
    /// A span of text that is neutral already.
    pub(crate) fn new(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }
}

/// The spans of one line, without its end.
pub(crate) type Line = Vec<Span>;

/// Appends a line and its end. White space at the end of the line is left out.
pub(crate) fn write_line(line: &[Span], has_colour: bool, out: &mut String) {
    write_spans(line, has_colour, out);
    out.push('\n');
}

/// Appends a line without its end.
pub(crate) fn write_spans(line: &[Span], has_colour: bool, out: &mut String) {
    let used = line.iter().rposition(|span| !span.text.trim_end().is_empty()).map_or(0, |at| at + 1);
    let mut current = Style::PLAIN;
    for (nth, span) in line.iter().take(used).enumerate() {
        let text = if nth + 1 == used { span.text.trim_end() } else { &span.text };
        if text.is_empty() {
            continue;
        }
        if has_colour && span.style != current {
            if current != Style::PLAIN {
                out.push_str(RESET);
            }
            if span.style != Style::PLAIN {
                span.style.begin(out);
            }
            current = span.style;
        }
        out.push_str(text);
    }
    if current != Style::PLAIN {
        out.push_str(RESET);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(line: &[Span], has_colour: bool) -> String {
        let mut out = String::new();
        write_line(line, has_colour, &mut out);
        out
    }

    #[test]
    fn a_style_ends_with_its_span() {
        let red = Style::of(Colour::Red);
        let spans = [
            Span::new("a", red),
            Span::new("b", red),
            Span::new("c", Style::PLAIN),
            Span::new("d  ", red.bold()),
            Span::new("  ", Style::DIM),
        ];
        assert_eq!(written(&spans, true), "\x1b[31mab\x1b[0mc\x1b[1;31md\x1b[0m\n");
        assert_eq!(written(&spans, false), "abcd\n");
        assert_eq!(written(&[Span::new("  ", red)], true), "\n");
    }
}
