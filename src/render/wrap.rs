//! Breaks lines at a width in columns.
//!
//! Input: spans, which may contain line ends. Output: lines that fit, except where an address or a single character is wider than the
//! line. Never: a character cut in two, or time that grows faster than the text.

use super::style::{Line, Span, Style};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// The columns between two tab stops.
const TAB: usize = 4;

/// Where lines may be broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Breaks {
    /// Between words. White space at a break is dropped.
    Words,
    /// Between any two characters; white space stays.
    Anywhere,
}

/// How many columns a text has.
pub(crate) fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.graphemes(true).map(UnicodeWidthStr::width).sum() }
}

/// How many columns a line has.
pub(crate) fn line_width(line: &[Span]) -> usize {
    line.iter().map(|span| width(&span.text)).sum()
}

/// The beginning of a text that has at most this many columns; with `…` at its end if something was cut.
pub(crate) fn shortened(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 1;
    for grapheme in text.graphemes(true) {
        used += grapheme.width();
        if used > columns {
            break;
        }
        out.push_str(grapheme);
    }
    out.push('…');
    out
}

/// A line that has at most this many columns.
pub(crate) fn shortened_line(line: &[Span], columns: usize) -> Line {
    let mut left = columns;
    let mut out = Line::new();
    for (nth, span) in line.iter().enumerate() {
        let rest: usize = line.iter().skip(nth).map(|span| width(&span.text)).sum();
        if rest <= left {
            out.extend(line.iter().skip(nth).cloned());
            break;
        }
        let own = width(&span.text);
        if own < left {
            left -= own;
            out.push(span.clone());
            continue;
        }
        let text = if own == left { format!("{}…", span.text) } else { span.text.clone() };
        out.push(Span::new(shortened(&text, left), span.style));
        break;
    }
    out
}

/// One character as a reader sees it.
#[derive(Clone, Copy)]
struct Cell<'a> {
    text: &'a str,
    width: usize,
    style: Style,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    /// Text after which a line may be broken: scripts without spaces between words.
    Wide,
    Space,
    LineEnd,
}

fn cells(spans: &[Span]) -> Vec<Cell<'_>> {
    let mut cells = Vec::new();
    for span in spans {
        for text in span.text.graphemes(true) {
            let (kind, width) = match text {
                "\n" | "\r\n" => (Kind::LineEnd, 0),
                "\t" => (Kind::Space, TAB),
                " " => (Kind::Space, 1),
                _ => match text.width() {
                    0 | 1 => (Kind::Text, text.width()),
                    width => (Kind::Wide, width),
                },
            };
            cells.push(Cell { text, width, style: span.style, kind });
        }
    }
    cells
}

/// Breaks the spans so that each line has at most `columns` columns, at least 1.
pub(crate) fn wrap(spans: &[Span], columns: usize, breaks: Breaks) -> Vec<Line> {
    let cells = cells(spans);
    let columns = columns.max(1);
    let mut lines = Vec::new();
    let mut rest: &[Cell<'_>] = &cells;
    let mut begins = true;
    loop {
        if begins && breaks == Breaks::Words {
            rest = indented_at_most(rest, columns / 2);
        }
        let (taken, next, is_end) = first_line(rest, columns, breaks);
        begins = next.checked_sub(1).and_then(|last| rest.get(last)).is_some_and(|cell| cell.kind == Kind::LineEnd);
        lines.push(joined(rest.get(..taken).unwrap_or_default()));
        if is_end {
            return lines;
        }
        rest = rest.get(next..).unwrap_or_default();
    }
}

/// The cells without the part of their indentation that is wider than `columns`: it would fill lines that have no text.
fn indented_at_most<'c, 't>(cells: &'c [Cell<'t>], columns: usize) -> &'c [Cell<'t>] {
    let spaces = cells.iter().take_while(|cell| cell.kind == Kind::Space).count();
    cells.get(spaces.saturating_sub(columns)..).unwrap_or_default()
}

/// The cells of the first line, where the next one begins, and whether there is none.
fn first_line(cells: &[Cell<'_>], columns: usize, breaks: Breaks) -> (usize, usize, bool) {
    let mut used = 0;
    // The last place where the line may end, and where the next one begins then.
    let mut place = None;
    let mut is_address = false;
    let mut is_word_start = true;
    for (at, cell) in cells.iter().enumerate() {
        if cell.kind == Kind::LineEnd {
            return (at, at + 1, false);
        }
        if is_word_start && cell.kind != Kind::Space {
            is_address = begins_address(cells.get(at..).unwrap_or_default());
        }
        is_word_start = cell.kind == Kind::Space;
        let is_droppable = breaks == Breaks::Words && cell.kind == Kind::Space;
        if used + cell.width > columns && at > 0 && !is_droppable {
            match (breaks, place) {
                (Breaks::Words, Some((end, next))) => return (end, next, false),
                (Breaks::Words, None) if is_address => {}
                _ => return (at, at, false),
            }
        }
        if is_droppable {
            let spaces =
                cells.get(at..).map_or(0, |rest| rest.iter().take_while(|cell| cell.kind == Kind::Space).count());
            let is_first = at > 0 && cells.get(at - 1).is_some_and(|cell| cell.kind != Kind::Space);
            if is_first {
                place = Some((at, at + spaces));
            }
            if used + cell.width > columns {
                let (end, next) = place.filter(|(_, next)| *next == at + spaces).unwrap_or((at, at + spaces));
                // A line end after the spaces ends this line, not an empty one.
                let is_ended = cells.get(next).is_some_and(|cell| cell.kind == Kind::LineEnd);
                return (end, next + usize::from(is_ended), next >= cells.len());
            }
        }
        used += cell.width;
        if breaks == Breaks::Words && cell.kind == Kind::Wide && at + 1 < cells.len() {
            place = Some((at + 1, at + 1));
        }
    }
    (cells.len(), cells.len(), true)
}

/// Whether the word is an address, which is easier to use whole.
fn begins_address(cells: &[Cell<'_>]) -> bool {
    let start: String = cells.iter().take(12).map(|cell| cell.text).collect();
    start.find("://").is_some_and(|at| start.find(' ').is_none_or(|space| at < space))
}

fn joined(cells: &[Cell<'_>]) -> Line {
    let mut line = Line::new();
    for cell in cells {
        let text = if cell.text == "\t" { "    " } else { cell.text };
        match line.last_mut().filter(|span| span.style == cell.style) {
            Some(span) => span.text.push_str(text),
            None => line.push(Span::new(text, cell.style)),
        }
    }
    line
}

/// Puts `first` before the first line, and `rest` before the others.
pub(crate) fn prefixed(lines: Vec<Line>, first: &[Span], rest: &[Span]) -> Vec<Line> {
    let add = |(nth, line): (usize, Line)| [if nth == 0 { first } else { rest }, &line].concat();
    lines.into_iter().enumerate().map(add).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wrapped(text: &str, columns: usize, breaks: Breaks) -> Vec<String> {
        let lines = wrap(&[Span::new(text, Style::PLAIN)], columns, breaks);
        lines.into_iter().map(|line| line.into_iter().map(|span| span.text).collect()).collect()
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("one two  three", 8, Breaks::Words), ["one two", "three"]);
        assert_eq!(wrapped("one two", 7, Breaks::Words), ["one two"]);
        assert_eq!(wrapped("one two ", 7, Breaks::Words), ["one two"]);
        assert_eq!(wrapped("abcdefgh", 3, Breaks::Words), ["abc", "def", "gh"]);
        assert_eq!(wrapped("a\n\nb", 3, Breaks::Words), ["a", "", "b"]);
        assert_eq!(wrapped("a abcdef", 4, Breaks::Words), ["a", "abcd", "ef"]);
        assert_eq!(wrapped("abc \nd", 3, Breaks::Words), ["abc", "d"]);
        assert_eq!(wrapped("abc \n", 3, Breaks::Words), ["abc", ""]);
        assert_eq!(wrapped("你好 世界", 4, Breaks::Words), ["你好", "世界"]);
        assert_eq!(wrapped("", 4, Breaks::Words), [""]);
        assert_eq!(wrapped("  in", 4, Breaks::Words), ["  in"]);
        assert_eq!(wrapped("a\n         in", 6, Breaks::Words), ["a", "   in"]);
        assert_eq!(wrapped("   in", 6, Breaks::Words), ["   in"]);
        assert_eq!(wrapped("    in", 6, Breaks::Words), ["   in"]);
    }

    #[test]
    fn scripts_without_spaces_break_anywhere_and_addresses_do_not() {
        assert_eq!(wrapped("你好世界", 5, Breaks::Words), ["你好", "世界"]);
        assert_eq!(wrapped("e\u{301}e\u{301}e\u{301}", 2, Breaks::Words), ["e\u{301}e\u{301}", "e\u{301}"]);
        assert_eq!(
            wrapped("see https://a.example/long?x there", 8, Breaks::Words),
            ["see", "https://a.example/long?x", "there"]
        );
        assert_eq!(wrapped("👩\u{200d}👧x", 1, Breaks::Words), ["👩\u{200d}👧", "x"]);
    }

    #[test]
    fn code_keeps_its_white_space() {
        assert_eq!(wrapped("  if x {  y", 6, Breaks::Anywhere), ["  if x", " {  y"]);
        assert_eq!(wrapped("\tx", 8, Breaks::Anywhere), ["    x"]);
    }

    #[test]
    fn a_line_is_shortened_within_its_spans() {
        let spans = [Span::new("abc", Style::BOLD), Span::new("def", Style::PLAIN)];
        let text = |columns| shortened_line(&spans, columns).into_iter().map(|span| span.text).collect::<String>();
        assert_eq!(
            (text(6), text(5), text(4), text(3), text(2)),
            ("abcdef".into(), "abcd…".into(), "abc…".into(), "ab…".into(), "a…".into())
        );
        assert_eq!(shortened("你好", 3), "你…");
    }

    proptest! {
        #[test]
        fn every_line_fits_and_nothing_but_spaces_is_lost(text in "[ a-c你é\u{301}\n]{0,60}", columns in 2..20usize) {
            for breaks in [Breaks::Words, Breaks::Anywhere] {
                let lines = wrapped(&text, columns, breaks);
                prop_assert!(lines.iter().all(|line| width(line) <= columns), "{lines:?}");
                let dense = |text: &str| text.replace([' ', '\n'], "");
                prop_assert_eq!(dense(&lines.concat()), dense(&text));
            }
        }
    }
}
