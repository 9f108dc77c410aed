//! Cuts streamed Markdown into segments that can be shown on their own, as early as their meaning is settled.
//!
//! Input: pieces of a text. Output: paragraphs, headings, tables and single items of lists as Markdown; fenced code line by line. The
//! segments depend only on the text, not on how it was cut into pieces. Never: more than [`SEGMENT_BYTES`] and one line held.

use std::mem::take;

/// The longest segment, in bytes. A longer one is cut, and marked.
pub(crate) const SEGMENT_BYTES: usize = 32 << 10;

/// The longest line, in bytes. A longer one is cut.
const LINE_BYTES: usize = 8 << 10;

/// The columns between two tab stops.
const TAB: usize = 4;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) kind: SegmentKind,
    /// Markdown, a line of code without its end, or the word after the fence.
    pub(crate) text: String,
    /// There was a blank line between the segment before and this one.
    pub(crate) is_spaced: bool,
}

/// What a segment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SegmentKind {
    /// Blocks of Markdown.
    Blocks,
    /// An item of a list.
    Item,
    /// A part of a segment that was too long. What it means may depend on the part before.
    Cut,
    /// The beginning of fenced code.
    CodeStart,
    /// A line of fenced code.
    CodeLine,
    /// The end of fenced code.
    CodeEnd,
}

/// Reads a text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Splitter {
    /// The line that has not ended.
    line: String,
    /// The line is the rest of one that was cut.
    is_rest: bool,
    /// The lines of the segment that has not ended.
    held: String,
    block: Block,
    /// There was a blank line before the held lines.
    is_spaced: bool,
    /// There was a blank line after the held lines.
    is_blank: bool,
    /// The segment before was cut.
    is_cut: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Block {
    #[default]
    None,
    Paragraph,
    /// Lines that are indented by this many columns belong to the item.
    Item(usize),
    Fence(Fence),
}

/// The line that begins fenced code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
}

impl Splitter {
    /// Takes the next piece.
    pub(crate) fn feed(&mut self, mut piece: &str, out: &mut Vec<Segment>) {
        while !piece.is_empty() {
            let end = piece.find('\n');
            let (own, has_end) = end.map_or((piece, false), |at| (piece.get(..at).unwrap_or_default(), true));
            let room = LINE_BYTES.saturating_sub(self.line.len());
            if own.len() > room {
                let cut = own.floor_char_boundary(room);
                let (now, later) = own.split_at_checked(cut).unwrap_or((own, ""));
                self.line.push_str(now);
                piece = piece.get(now.len()..).unwrap_or_default();
                if !later.is_empty() {
                    self.end_line(true, out);
                }
                continue;
            }
            self.line.push_str(own);
            if has_end {
                self.end_line(false, out);
            }
            piece = piece.get(own.len() + usize::from(has_end)..).unwrap_or_default();
        }
    }

    /// Ends the text.
    pub(crate) fn finish(&mut self, out: &mut Vec<Segment>) {
        if !self.line.is_empty() {
            self.end_line(false, out);
        }
        self.flush(out);
        if matches!(self.block, Block::Fence(_)) {
            self.push(SegmentKind::CodeEnd, String::new(), out);
        }
        *self = Self::default();
    }

    /// What is held, to show it before it is settled: Markdown, or the beginning of a line of code.
    pub(crate) fn preview(&self) -> (SegmentKind, String) {
        match self.block {
            Block::Fence(_) => (SegmentKind::CodeLine, self.line.clone()),
            _ => (SegmentKind::Blocks, format!("{}{}", self.held, self.line)),
        }
    }

    fn end_line(&mut self, is_cut: bool, out: &mut Vec<Segment>) {
        let mut line = take(&mut self.line);
        let is_rest = std::mem::replace(&mut self.is_rest, is_cut);
        if !is_cut && line.ends_with('\r') {
            line.pop();
        }
        match self.block {
            Block::Fence(fence) if !is_rest && !is_cut && fence.is_closed_by(&line) => {
                self.block = Block::None;
                self.push(SegmentKind::CodeEnd, String::new(), out);
            }
            Block::Fence(fence) => {
                let code = if is_rest { &line } else { without_indent(&line, fence.indent) };
                self.push(SegmentKind::CodeLine, code.to_owned(), out);
            }
            _ if is_rest => self.hold(&line, is_cut, out),
            _ => self.text_line(&line, is_cut, out),
        }
    }

    /// A line outside of fenced code.
    fn text_line(&mut self, line: &str, is_cut: bool, out: &mut Vec<Segment>) {
        let trimmed = line.trim_start_matches([' ', '\t']);
        if trimmed.trim_end().is_empty() {
            match self.block {
                Block::Item(_) if !self.held.is_empty() => self.held.push('\n'),
                _ => self.flush(out),
            }
            self.is_blank = true;
            return;
        }
        let indent = indent_of(line);
        let item = item_of(trimmed, indent);
        if let Block::Item(content) = self.block
            && !self.held.is_empty()
        {
            let is_lazy = !self.is_blank && item.is_none() && !interrupts(trimmed);
            if indent >= content || is_lazy {
                self.is_blank = false;
                return self.hold(line, is_cut, out);
            }
            self.flush(out);
        }
        let is_paragraph = self.block == Block::Paragraph && !self.held.is_empty();
        if indent >= TAB {
            // Code by indentation, or more of the paragraph.
            return self.hold(line, is_cut, out);
        }
        if is_paragraph && is_underline(trimmed) {
            self.hold(line, is_cut, out);
            return self.flush(out);
        }
        if let Some(fence) = Fence::of(trimmed, indent) {
            self.flush(out);
            self.block = Block::Fence(fence);
            let word = trimmed.trim_start_matches(fence.mark).trim();
            return self.push(SegmentKind::CodeStart, word.to_owned(), out);
        }
        if is_heading(trimmed) || is_rule(trimmed) {
            self.flush(out);
            self.hold(line, is_cut, out);
            if !is_cut {
                self.flush(out);
            }
            return;
        }
        if let Some(item) = item.filter(|item| !is_paragraph || item.may_interrupt) {
            self.flush(out);
            self.block = Block::Item(item.content);
            return self.hold(line, is_cut, out);
        }
        self.hold(line, is_cut, out);
    }

    fn hold(&mut self, line: &str, is_cut: bool, out: &mut Vec<Segment>) {
        if self.held.is_empty() {
            self.is_spaced = take(&mut self.is_blank);
            if matches!(self.block, Block::None) {
                self.block = Block::Paragraph;
            }
        }
        self.held.push_str(line);
        if !is_cut {
            self.held.push('\n');
        }
        if self.held.len() > SEGMENT_BYTES {
            let block = self.block;
            self.flush_as(SegmentKind::Cut, out);
            (self.block, self.is_cut) = (block, true);
        }
    }

    /// Emits the held lines.
    fn flush(&mut self, out: &mut Vec<Segment>) {
        let kind = match self.block {
            _ if take(&mut self.is_cut) => SegmentKind::Cut,
            Block::Item(_) => SegmentKind::Item,
            _ => SegmentKind::Blocks,
        };
        self.flush_as(kind, out);
    }

    fn flush_as(&mut self, kind: SegmentKind, out: &mut Vec<Segment>) {
        let is_fence = matches!(self.block, Block::Fence(_));
        if !is_fence {
            self.block = Block::None;
        }
        let held = take(&mut self.held);
        if !held.is_empty() {
            let text = held.trim_end_matches('\n').to_owned();
            out.push(Segment { kind, text, is_spaced: take(&mut self.is_spaced) });
        }
    }

    fn push(&mut self, kind: SegmentKind, text: String, out: &mut Vec<Segment>) {
        out.push(Segment { kind, text, is_spaced: take(&mut self.is_blank) });
    }
}

impl Fence {
    fn of(trimmed: &str, indent: usize) -> Option<Self> {
        let mark = trimmed.chars().next().filter(|char| matches!(char, '`' | '~'))?;
        let length = trimmed.chars().take_while(|char| *char == mark).count();
        // Backticks in the word would be code within a line.
        let is_code_span = mark == '`' && trimmed.trim_start_matches('`').contains('`');
        (length >= 3 && !is_code_span).then_some(Self { mark, length, indent })
    }

    fn is_closed_by(self, line: &str) -> bool {
        let trimmed = line.trim_start_matches(' ');
        let marks = trimmed.chars().take_while(|char| *char == self.mark).count();
        line.len() - trimmed.len() < TAB
            && marks >= self.length
            && trimmed.trim_start_matches(self.mark).trim().is_empty()
    }
}

/// The marker of a list's item.
struct Item {
    /// The column of its content.
    content: usize,
    /// Whether it may follow a paragraph without a blank line.
    may_interrupt: bool,
}

fn item_of(trimmed: &str, indent: usize) -> Option<Item> {
    if indent >= TAB || is_rule(trimmed) {
        return None;
    }
    let digits = trimmed.chars().take_while(char::is_ascii_digit).count();
    let (number, after) = trimmed.split_at_checked(digits)?;
    let mark = after.chars().next()?;
    let fits = if digits == 0 { matches!(mark, '-' | '*' | '+') } else { digits <= 9 && matches!(mark, '.' | ')') };
    let content = after.get(1..).filter(|_| fits)?;
    let spaces = content.len() - content.trim_start_matches([' ', '\t']).len();
    if spaces == 0 && !content.is_empty() {
        return None;
    }
    let is_empty = content.trim().is_empty();
    let gap = if is_empty || spaces > TAB { 1 } else { spaces };
    Some(Item { content: indent + digits + 1 + gap, may_interrupt: !is_empty && (digits == 0 || number == "1") })
}

fn indent_of(line: &str) -> usize {
    let mut columns = 0;
    for char in line.chars() {
        match char {
            ' ' => columns += 1,
            '\t' => columns += TAB - columns % TAB,
            _ => break,
        }
    }
    columns
}

fn without_indent(line: &str, most: usize) -> &str {
    let spaces = line.len() - line.trim_start_matches(' ').len();
    line.get(spaces.min(most)..).unwrap_or_default()
}

fn is_heading(trimmed: &str) -> bool {
    let marks = trimmed.chars().take_while(|char| *char == '#').count();
    (1..=6).contains(&marks)
        && trimmed.get(marks..).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

fn is_rule(trimmed: &str) -> bool {
    let mut marks = trimmed.chars().filter(|char| !matches!(char, ' ' | '\t'));
    let Some(first) = marks.next().filter(|char| matches!(char, '-' | '*' | '_')) else { return false };
    let mut count = 1;
    marks.all(|char| {
        count += 1;
        char == first
    }) && count >= 3
}

/// Whether the line makes the paragraph before it a heading.
fn is_underline(trimmed: &str) -> bool {
    let marks = trimmed.trim_end();
    !marks.is_empty() && (marks.chars().all(|char| char == '=') || marks.chars().all(|char| char == '-'))
}

/// Whether the line cannot be more of a paragraph.
fn interrupts(trimmed: &str) -> bool {
    is_heading(trimmed) || is_rule(trimmed) || trimmed.starts_with('>') || Fence::of(trimmed, 0).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn segments(pieces: &[&str]) -> Vec<Segment> {
        let (mut splitter, mut out) = (Splitter::default(), Vec::new());
        pieces.iter().for_each(|piece| splitter.feed(piece, &mut out));
        splitter.finish(&mut out);
        out
    }

    fn texts(text: &str) -> Vec<(SegmentKind, String)> {
        segments(&[text]).into_iter().map(|segment| (segment.kind, segment.text)).collect()
    }

    #[test]
    fn blocks_are_cut_where_their_meaning_is_settled() {
        use SegmentKind::{Blocks, CodeEnd, CodeLine, CodeStart, Item};
        let text = "# Title\nOne\ntwo\n\n- a\n  more\n\n  still\n- b\nlazy\n\nafter\n```rust\nfn x() {}\n\n```\nHead\n---\n***\n\
                    1. one\n2) two\n| a |\n|---|\n| b |\n";
        let expected = [
            (Blocks, "# Title"),
            (Blocks, "One\ntwo"),
            (Item, "- a\n  more\n\n  still"),
            (Item, "- b\nlazy"),
            (Blocks, "after"),
            (CodeStart, "rust"),
            (CodeLine, "fn x() {}"),
            (CodeLine, ""),
            (CodeEnd, ""),
            (Blocks, "Head\n---"),
            (Blocks, "***"),
            (Item, "1. one"),
            (Item, "2) two\n| a |\n|---|\n| b |"),
        ];
        assert_eq!(texts(text), expected.map(|(kind, text)| (kind, text.to_owned())));
    }

    #[test]
    fn fences_close_as_they_were_opened() {
        use SegmentKind::{CodeEnd, CodeLine, CodeStart};
        let expected = [(CodeStart, "md"), (CodeLine, "```"), (CodeLine, "  x"), (CodeLine, "~~~~"), (CodeEnd, "")];
        assert_eq!(
            texts("  ````md\n```\n    x\n~~~~\n`````  \n"),
            expected.map(|(kind, text)| (kind, text.to_owned()))
        );
        // The end of the text closes it too.
        assert_eq!(
            texts("~~~\nx"),
            [(CodeStart, ""), (CodeLine, "x"), (CodeEnd, "")].map(|(kind, text)| (kind, text.to_owned()))
        );
    }

    #[test]
    fn a_number_does_not_begin_a_list_within_a_paragraph() {
        assert_eq!(texts("It was in\n2019. Then\n").len(), 1);
        assert_eq!(texts("It was in\n1. Then\n").len(), 2);
    }

    #[test]
    fn a_segment_is_shown_as_soon_as_it_is_settled() {
        let (mut splitter, mut out) = (Splitter::default(), Vec::new());
        splitter.feed("One para", &mut out);
        assert_eq!((out.len(), splitter.preview().1.as_str()), (0, "One para"));
        splitter.feed("graph\n\n- it", &mut out);
        assert_eq!((out.len(), splitter.preview().1.as_str()), (1, "- it"));
        splitter.feed("em\n- next\n```\ncode\nmo", &mut out);
        assert_eq!((out.len(), splitter.preview()), (5, (SegmentKind::CodeLine, "mo".to_owned())));
    }

    #[test]
    fn a_long_text_without_line_ends_is_cut() {
        let word = "word ".repeat(100_000);
        let (mut splitter, mut out) = (Splitter::default(), Vec::new());
        for _ in 0..10 {
            splitter.feed(&word, &mut out);
            assert!(splitter.held.len() + splitter.line.len() <= SEGMENT_BYTES + LINE_BYTES);
        }
        splitter.finish(&mut out);
        assert!(
            out.iter()
                .all(|segment| segment.kind == SegmentKind::Cut && segment.text.len() <= SEGMENT_BYTES + LINE_BYTES)
        );
        assert_eq!(out.iter().map(|segment| segment.text.as_str()).collect::<String>(), word.repeat(10));
        let code = segments(&["```\n", &"x".repeat(100_000), "```\n```"]);
        let all: String = code.iter().map(|segment| segment.text.as_str()).collect();
        assert_eq!(all, "x".repeat(100_000) + "```");
    }

    proptest! {
        #[test]
        fn segments_do_not_depend_on_the_pieces(text in "(# |- |1\\. |```|~~~|    |>|\\||a|b c|é|\r?\n|\n\n|---|===|\\[x\\]: y|\t){0,40}", cuts in prop::collection::vec(0..100usize, 0..6), long in 0..3usize) {
            let text = match long {
                0 => "x".repeat(LINE_BYTES - 3) + &text,
                _ => text,
            };
            let mut pieces = Vec::new();
            let mut rest = &*text;
            for cut in cuts {
                let at = rest.floor_char_boundary((if long == 0 { cut * 97 } else { cut }).min(rest.len()));
                let (piece, later) = rest.split_at(at);
                pieces.push(piece);
                rest = later;
            }
            pieces.push(rest);
            prop_assert_eq!(segments(&pieces), segments(&[&text]));
        }
    }
}
