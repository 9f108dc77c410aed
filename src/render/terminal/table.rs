//! Tables.
//!
//! Input: cells. Output: lines with columns, whose cells are wrapped if the table is wider than there is room for; a list of cells if
//! there is not even room for that. Never: a line that is wider than the room.

use crate::render::style::{Line, Span, Style};
use crate::render::wrap::{Breaks, line_width, prefixed, wrap};
use pulldown_cmark::Alignment;

/// The least columns of a cell.
const LEAST: usize = 5;

/// What is between two cells.
const BETWEEN: &str = "  ";

/// A table that is being read. The first row is the head.
#[derive(Debug)]
pub(super) struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<Line>>,
    row: Vec<Line>,
}

impl Table {
    pub(super) fn new(alignments: &[Alignment]) -> Self {
        Self { alignments: alignments.to_vec(), rows: Vec::new(), row: Vec::new() }
    }

    pub(super) fn cell(&mut self, cell: Line) {
        self.row.push(cell);
    }

    pub(super) fn end_row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }

    /// The table in this many columns.
    pub(super) fn lines(&self, room: usize) -> Vec<Line> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let between = BETWEEN.len() * count.saturating_sub(1);
        if between + count * LEAST > room {
            return self.list(room);
        }
        let widths = fitting(self.widths(count), room - between);
        let mut lines = Vec::new();
        for (nth, row) in self.rows.iter().enumerate() {
            self.row_lines(row, &widths, &mut lines);
            if nth == 0 {
                let rule = widths.iter().map(|width| "─".repeat(*width)).collect::<Vec<_>>().join(BETWEEN);
                lines.push(vec![Span::new(rule, Style::DIM)]);
            }
        }
        lines
    }

    /// The widest cell of each column.
    fn widths(&self, count: usize) -> Vec<usize> {
        let mut widths = vec![1; count];
        for row in &self.rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = line_width(cell).max(*width);
            }
        }
        widths
    }

    fn row_lines(&self, row: &[Line], widths: &[usize], out: &mut Vec<Line>) {
        let empty = Line::new();
        let cells: Vec<Vec<Line>> = widths
            .iter()
            .enumerate()
            .map(|(nth, width)| fitted(wrap(row.get(nth).unwrap_or(&empty), *width, Breaks::Words), *width))
            .collect();
        for nth in 0..cells.iter().map(Vec::len).max().unwrap_or_default() {
            let mut line = Line::new();
            for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
                if column > 0 {
                    line.push(Span::new(BETWEEN, Style::PLAIN));
                }
                let own = cell.get(nth).unwrap_or(&empty);
                let free = width.saturating_sub(line_width(own));
                let before = match self.alignments.get(column) {
                    Some(Alignment::Right) => free,
                    Some(Alignment::Center) => free / 2,
                    _ => 0,
                };
                line.push(Span::new(" ".repeat(before), Style::PLAIN));
                line.extend(own.iter().cloned());
                line.push(Span::new(" ".repeat(free - before), Style::PLAIN));
            }
            out.push(line);
        }
    }

    /// Each cell on a line of its own, after the name of its column.
    fn list(&self, room: usize) -> Vec<Line> {
        let Some((head, rows)) = self.rows.split_first() else { return Vec::new() };
        let mut lines = Vec::new();
        let indent = [Span::new("  ", Style::PLAIN)];
        for row in rows {
            for (nth, cell) in row.iter().enumerate() {
                let mut line = head.get(nth).cloned().unwrap_or_default();
                line.push(Span::new(": ", Style::BOLD));
                line.extend(cell.iter().cloned());
                let mark = [Span::new(if nth == 0 { "• " } else { "  " }, Style::PLAIN)];
                lines.extend(prefixed(wrap(&line, room.saturating_sub(2), Breaks::Words), &mark, &indent));
            }
        }
        lines
    }
}

/// Breaks lines that are still too wide, such as addresses.
fn fitted(lines: Vec<Line>, width: usize) -> Vec<Line> {
    lines
        .into_iter()
        .flat_map(|line| if line_width(&line) > width { wrap(&line, width, Breaks::Anywhere) } else { vec![line] })
        .collect()
}

/// Takes columns from the widest cells until all fit.
fn fitting(mut widths: Vec<usize>, room: usize) -> Vec<usize> {
    loop {
        let sum: usize = widths.iter().sum();
        let Some(widest) = widths.iter().max().copied().filter(|widest| sum > room && *widest > LEAST) else {
            return widths;
        };
        let second = widths.iter().filter(|width| **width < widest).max().copied().unwrap_or(LEAST).max(LEAST);
        let equal = widths.iter().filter(|width| **width == widest).count();
        // Shrinks all widest ones to the second widest, or as far as needed.
        let less = (sum - room).div_ceil(equal).min((widest - second).max(1));
        widths.iter_mut().filter(|width| **width == widest).for_each(|width| *width = (widest - less).max(LEAST));
    }
}
