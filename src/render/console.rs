//! What a terminal would show at the end of a tool's output: its last lines.
//!
//! Input: pieces of output, with escape sequences and progress bars. Output: the last lines as text, and how many came before. A line
//! that a `\r` began again shows its last state. Sequences that set colours or move the cursor are dropped; others stay and are made
//! visible by the code that shows the line. Never: more than [`LINES`] lines of [`LINE_BYTES`] held.

use std::collections::VecDeque;

/// How many lines are held.
pub(crate) const LINES: usize = 100;

/// How many bytes of a line are held.
const LINE_BYTES: usize = 1000;

/// The end of an output.
#[derive(Clone, Debug, Default)]
pub(crate) struct Console {
    lines: VecDeque<Text>,
    current: Text,
    /// How many lines came before the held ones.
    earlier: u64,
    escape: Escape,
    /// A `\r` came: the next character begins the line again.
    is_returned: bool,
}

#[derive(Clone, Debug, Default)]
struct Text {
    text: String,
    is_cut: bool,
}

/// Where an escape sequence is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    /// After ESC.
    Begun,
    /// After ESC and a character between space and slash.
    Short,
    /// In a control sequence.
    Control,
}

impl Text {
    fn push(&mut self, char: char) {
        if self.text.len() + char.len_utf8() <= LINE_BYTES {
            self.text.push(char);
        } else {
            self.is_cut = true;
        }
    }

    fn shown(&self) -> String {
        format!("{}{}", self.text, if self.is_cut { "…" } else { "" })
    }
}

impl Console {
    /// Takes the next piece.
    pub(crate) fn feed(&mut self, piece: &str) {
        for char in piece.chars() {
            self.char(char);
        }
    }

    fn char(&mut self, char: char) {
        match (self.escape, char) {
            (Escape::Control, '@'..='~') => self.escape = Escape::None,
            (Escape::Control, ' '..='?') => {}
            (Escape::Begun, '[') => self.escape = Escape::Control,
            (Escape::Begun | Escape::Short, ' '..='/') => self.escape = Escape::Short,
            // Strings for the terminal, such as titles and links, are shown.
            (Escape::Begun, ']' | 'P' | 'X' | '^' | '_') => {
                self.escape = Escape::None;
                self.plain('\x1b');
                self.plain(char);
            }
            (Escape::Begun | Escape::Short, '0'..='~') => self.escape = Escape::None,
            (_, '\x1b') => self.escape = Escape::Begun,
            (_, '\u{9b}') => self.escape = Escape::Control,
            _ => {
                self.escape = Escape::None;
                self.plain(char);
            }
        }
    }

    fn plain(&mut self, char: char) {
        match char {
            '\n' => {
                self.is_returned = false;
                let line = std::mem::take(&mut self.current);
                self.lines.push_back(line);
                if self.lines.len() > LINES {
                    self.lines.pop_front();
                    self.earlier += 1;
                }
                return;
            }
            '\r' => {
                self.is_returned = true;
                return;
            }
            _ => {}
        }
        if std::mem::take(&mut self.is_returned) {
            self.current = Text::default();
        }
        match char {
            '\x08' => drop(self.current.text.pop()),
            '\x0b' | '\x0c' => self.current.push(' '),
            _ => self.current.push(char),
        }
    }

    /// Puts output before everything so far.
    pub(crate) fn put_before(&mut self, front: Self) {
        let mut front = front;
        if front.current.text.is_empty() {
            // Its last line has ended.
        } else if self.earlier == 0
            && let Some(first) = self.lines.front_mut().or(Some(&mut self.current))
        {
            let rest = std::mem::replace(first, std::mem::take(&mut front.current));
            rest.text.chars().for_each(|char| first.push(char));
            first.is_cut |= rest.is_cut;
        }
        let mut earlier = front.earlier;
        while let Some(line) = front.lines.pop_back() {
            if self.earlier == 0 && self.lines.len() < LINES {
                self.lines.push_front(line);
            } else {
                earlier += 1;
            }
        }
        self.earlier += earlier;
    }

    /// Whether nothing was written but white space.
    pub(crate) fn is_blank(&self) -> bool {
        self.earlier == 0 && self.lines.iter().chain([&self.current]).all(|line| line.text.trim().is_empty())
    }

    /// The number of lines. A last line without an end counts if it has text.
    pub(crate) fn count(&self) -> u64 {
        self.earlier + self.lines.len() as u64 + u64::from(!self.current.text.is_empty())
    }

    /// The last lines, at most `most` of them, without blank lines at the end; and how many lines came before them.
    pub(crate) fn last(&self, most: usize) -> (Vec<String>, u64) {
        let mut lines: Vec<String> = self.lines.iter().map(Text::shown).collect();
        if !self.current.text.is_empty() {
            lines.push(self.current.shown());
        }
        while lines.last().is_some_and(|line| line.trim().is_empty()) {
            lines.pop();
        }
        let first = lines.len().saturating_sub(most);
        (lines.split_off(first), self.earlier + first as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(output: &str) -> Vec<String> {
        let mut console = Console::default();
        console.feed(output);
        console.last(LINES).0
    }

    #[test]
    fn progress_bars_show_their_last_state() {
        assert_eq!(shown("10%\r50%\r100%\ndone\r\n"), ["100%", "done"]);
        assert_eq!(shown("half\r\x1b[Kfull"), ["full"]);
        assert_eq!(shown("a\rb\r"), ["b"]);
        assert_eq!(shown("abx\x08c"), ["abc"]);
    }

    #[test]
    fn colours_and_movements_are_dropped_and_other_sequences_stay_visible() {
        assert_eq!(shown("\x1b[1;31mred\x1b[0m \u{9b}2Jx\x1b(B\x1b7y\x1b[?25l"), ["red xy"]);
        assert_eq!(shown("\x1b]0;title\x07x"), ["\x1b]0;title\x07x"]);
        assert_eq!(shown("\x1b]8;;http://a\x1b\\text"), ["\x1b]8;;http://atext"]);
        // A line end ends a sequence that was cut off.
        assert_eq!(shown("a\x1b[31\nb\x1b\nc"), ["a", "b", "c"]);
    }

    #[test]
    fn only_the_last_lines_are_held() {
        let mut console = Console::default();
        (0..1000).for_each(|line| console.feed(&format!("line {line}\n")));
        let (lines, earlier) = console.last(3);
        assert_eq!(
            (lines, earlier, console.count()),
            (vec!["line 997".to_owned(), "line 998".into(), "line 999".into()], 997, 1000)
        );
        console.feed(&"x".repeat(1 << 20));
        assert_eq!(console.last(1).0[0].chars().count(), LINE_BYTES + 1);
        assert!(!console.is_blank() && Console::default().is_blank());
    }

    #[test]
    fn a_front_comes_before_the_rest() {
        let mut console = Console::default();
        console.feed("c\nd\n");
        let mut front = Console::default();
        front.feed("a\nb");
        console.put_before(front);
        assert_eq!((console.last(9), console.count()), ((vec!["a".to_owned(), "bc".into(), "d".into()], 0), 3));
    }

    proptest! {
        #[test]
        fn pieces_do_not_matter(output in "(\x1b\\[[0-9;]{0,3}m?|\r|\n|[a-c]|\x1b|\u{9b}|\x08|\\]0;t\x07){0,30}", at in 0..100usize) {
            let mut console = Console::default();
            let (one, two) = output.split_at(output.floor_char_boundary(at.min(output.len())));
            console.feed(one);
            console.feed(two);
            prop_assert_eq!(console.last(LINES).0, shown(&output));
        }
    }
}
