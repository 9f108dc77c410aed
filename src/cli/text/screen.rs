//! Text that stays, and below it lines that are drawn again.
//!
//! Input: text, and the lines below it. Output: bytes for the terminal, in one write. Never: a drawn line that is left behind, also if
//! the terminal became narrower and broke it into several rows.

use crate::render::terminal::Live;
use std::io::{self, Write};

/// A terminal, or a pipe, in which nothing is drawn.
pub(in crate::cli) struct Screen<W: Write> {
    out: W,
    is_live: bool,
    drawn: Live,
    columns: usize,
}

impl<W: Write> Screen<W> {
    /// Nothing is drawn yet.
    pub(in crate::cli) fn new(out: W, is_live: bool) -> Self {
        Self { out, is_live, drawn: Live::default(), columns: usize::MAX }
    }

    pub(in crate::cli) fn is_live(&self) -> bool {
        self.is_live
    }

    /// The terminal has this many columns now.
    pub(in crate::cli) fn resize(&mut self, columns: usize) {
        self.columns = columns.max(1);
    }

    /// Appends text, which is empty or ends with a line end, and draws these lines below it instead of those before.
    ///
    /// # Errors
    /// The output's error.
    pub(in crate::cli) fn show(&mut self, text: &str, live: Live) -> io::Result<()> {
        let live = if self.is_live { live } else { Live::default() };
        if text.is_empty() && live == self.drawn {
            return Ok(());
        }
        let mut bytes = String::with_capacity(text.len() + 256);
        self.erase(&mut bytes);
        bytes.push_str(text);
        bytes.push_str(&live.lines.join("\n"));
        self.drawn = live;
        self.out.write_all(bytes.as_bytes())?;
        self.out.flush()
    }

    /// Appends what removes the drawn lines. The cursor is at the end of the last one.
    fn erase(&self, bytes: &mut String) {
        if self.drawn.lines.is_empty() {
            return;
        }
        // A terminal that became narrower may have broken a line into several rows.
        let rows: usize = self.drawn.widths.iter().map(|width| width.div_ceil(self.columns).max(1)).sum();
        bytes.push('\r');
        if rows > 1 {
            bytes.push_str(&format!("\x1b[{}A", rows - 1));
        }
        bytes.push_str("\x1b[J");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(lines: &[&str]) -> Live {
        Live {
            lines: lines.iter().map(|line| (*line).to_owned()).collect(),
            widths: lines.iter().map(|line| line.len()).collect(),
        }
    }

    fn written(is_live: bool, columns: usize, shows: &[(&str, &[&str])]) -> String {
        let mut out = Vec::new();
        let mut screen = Screen::new(&mut out, is_live);
        for (text, lines) in shows {
            screen.show(text, live(lines)).unwrap();
            screen.resize(columns);
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn drawn_lines_are_removed_before_text() {
        let shows: &[(&str, &[&str])] = &[("a\n", &["one", "two"]), ("", &["one", "two"]), ("b\n", &["x"]), ("", &[])];
        assert_eq!(written(true, 80, shows), "a\none\ntwo\r\x1b[1A\x1b[Jb\nx\r\x1b[J");
        // The line takes three rows of a narrower terminal.
        assert_eq!(written(true, 4, &[("", &["123456789"]), ("", &[])]), "123456789\r\x1b[2A\x1b[J");
    }

    #[test]
    fn a_pipe_gets_only_text() {
        assert_eq!(written(false, 80, &[("a\n", &["one"]), ("", &["two"]), ("b\n", &[])]), "a\nb\n");
    }
}
