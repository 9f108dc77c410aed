//! The rows as CSV (RFC 4180).
//!
//! Input: a report. Output: a header and one line for each row; a report without groups has one line, its total. Never: a text from a
//! run that a spreadsheet takes for a formula; a cell that breaks out of its column.

use super::{Figures, Report, Row};
use std::fmt::Write as _;

/// What begins a formula in a spreadsheet, or is skipped before one.
const STARTS: &[char] = &['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];

impl Report {
    /// The names of the columns: what makes a group, `rest`, and every figure.
    pub fn columns(&self) -> Vec<&'static str> {
        let figures = columns(&Figures::default()).map(|(name, _)| name);
        self.by.iter().map(|by| by.as_str()).chain(["rest"]).chain(figures).collect()
    }

    /// The cells of each row, in the order of the columns; without groups, the total is the only row. What is absent is "".
    pub fn cells(&self) -> Vec<Vec<String>> {
        let cells = |row: &Row| {
            let keys = self.by.iter().map(|by| row.key(*by).unwrap_or_default().to_owned());
            let rest = if row.rest { "true" } else { "" };
            keys.chain([rest.to_owned()]).chain(columns(&row.figures).map(|(_, figure)| figure)).collect()
        };
        if self.by.is_empty() {
            return vec![cells(&Row { figures: self.total.clone(), ..Row::default() })];
        }
        self.data.iter().map(cells).collect()
    }

    /// The rows as CSV, in UTF-8. A figure that is absent is an empty cell. A text that a spreadsheet would take for a formula has an
    /// apostrophe before it.
    pub fn csv(&self) -> String {
        let mut out = self.columns().join(",");
        out.push_str("\r\n");
        for row in self.cells() {
            for (at, cell) in row.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                match at < self.by.len() {
                    true => text(&mut out, cell),
                    false => out.push_str(cell),
                }
            }
            out.push_str("\r\n");
        }
        out
    }
}

/// The figures with their names, in order. An absent one is "".
fn columns(figures: &Figures) -> impl Iterator<Item = (&'static str, String)> + use<> {
    let count = |count: Option<u64>| count.map_or_else(String::new, |count| count.to_string());
    [
        ("runs", count(Some(figures.runs))),
        ("completed", count(Some(figures.completed))),
        ("failed", count(Some(figures.failed))),
        ("interrupted", count(Some(figures.interrupted))),
        ("open", count(Some(figures.open))),
        ("duration_ms", count(figures.duration_ms)),
        ("turns", count(figures.turns)),
        ("tool_calls", count(Some(figures.tool_calls))),
        ("failed_tool_calls", count(figures.failed_tool_calls)),
        ("tool_duration_ms", count(figures.tool_duration_ms)),
        ("input_tokens", count(figures.input_tokens)),
        ("output_tokens", count(figures.output_tokens)),
        ("cache_read_tokens", count(figures.cache_read_tokens)),
        ("cache_creation_tokens", count(figures.cache_creation_tokens)),
        ("reasoning_tokens", count(figures.reasoning_tokens)),
        ("cost_usd", figures.cost_usd.map_or_else(String::new, |cost| cost.to_string())),
        ("computed_cost_usd", figures.computed_cost_usd.map_or_else(String::new, |cost| cost.to_string())),
        ("runs_with_usage", count(figures.runs_with_usage)),
        ("runs_with_cost", count(figures.runs_with_cost)),
        ("runs_with_computed_cost", count(figures.runs_with_computed_cost)),
        ("runs_with_approximate_cost", count(figures.runs_with_approximate_cost)),
        ("unpriced_runs", count(figures.unpriced_runs)),
        ("warnings", count(figures.warnings)),
    ]
    .into_iter()
}

/// Writes a text as a cell.
fn text(out: &mut String, text: &str) {
    let mark = if text.starts_with(STARTS) { "'" } else { "" };
    if text.contains(['"', ',', '\r', '\n']) {
        let _ = write!(out, "\"{mark}{}\"", text.replace('"', "\"\""));
    } else {
        let _ = write!(out, "{mark}{text}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::By;
    use proptest::prelude::*;

    fn report(by: Vec<By>, data: Vec<Row>) -> Report {
        Report { by, data, ..Report::default() }
    }

    /// Reads CSV as RFC 4180 says: the cells of each line.
    fn read(text: &str) -> Vec<Vec<String>> {
        let (mut lines, mut line, mut cell, mut is_quoted) = (Vec::new(), Vec::new(), String::new(), false);
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            match letter {
                '"' if is_quoted && letters.peek() == Some(&'"') => cell.extend(letters.next()),
                '"' => is_quoted = !is_quoted,
                ',' if !is_quoted => line.push(std::mem::take(&mut cell)),
                '\r' if !is_quoted && letters.peek() == Some(&'\n') => {
                    letters.next();
                    line.push(std::mem::take(&mut cell));
                    lines.push(std::mem::take(&mut line));
                }
                letter => cell.push(letter),
            }
        }
        assert!(!is_quoted && line.is_empty() && cell.is_empty(), "{text:?}");
        lines
    }

    #[test]
    fn every_figure_has_a_column_and_an_absent_one_is_empty() {
        let names: Vec<&str> = columns(&Figures::default()).map(|(name, _)| name).collect();
        let all = Figures {
            duration_ms: Some(1),
            turns: Some(2),
            failed_tool_calls: Some(3),
            tool_duration_ms: Some(4),
            input_tokens: Some(5),
            output_tokens: Some(6),
            cache_read_tokens: Some(7),
            cache_creation_tokens: Some(8),
            reasoning_tokens: Some(9),
            cost_usd: Some(0.25),
            computed_cost_usd: Some(serde_json::from_str("0.0053").unwrap()),
            runs_with_usage: Some(10),
            runs_with_cost: Some(11),
            runs_with_computed_cost: Some(12),
            runs_with_approximate_cost: Some(13),
            unpriced_runs: Some(14),
            warnings: Some(15),
            ..Figures::default()
        };
        let serde_json::Value::Object(json) = serde_json::to_value(&all).unwrap() else { panic!("no object") };
        assert_eq!(names.len(), json.len());
        for (name, text) in columns(&all) {
            assert_eq!(text, json[name].to_string(), "{name}");
        }
        let line = read(&report(Vec::new(), Vec::new()).csv()).remove(1);
        assert_eq!(line.join("|"), "|0|0|0|0|0|||0|||||||||||||||");
    }

    #[test]
    fn a_text_is_never_a_formula() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "=HYPERLINK(\"http://x\",\"y\")"] {
            let row = Row { model: Some(text.to_owned()), ..Row::default() };
            let lines = read(&report(vec![By::Model], vec![row]).csv());
            assert_eq!(lines[1][0], format!("'{text}"));
        }
        let row = Row { model: Some("gpt-5=x".to_owned()), ..Row::default() };
        assert_eq!(read(&report(vec![By::Model], vec![row]).csv())[1][0], "gpt-5=x");
    }

    proptest! {
        #[test]
        fn any_text_stays_in_its_cell(texts in prop::collection::vec(any::<String>(), 1..5)) {
            let row = |text: &String| Row { tool: Some(text.clone()), label: Some("a:b".to_owned()), ..Row::default() };
            let lines = read(&report(vec![By::Tool, By::Label], texts.iter().map(row).collect()).csv());
            prop_assert_eq!(lines.len(), texts.len() + 1);
            for (line, text) in lines[1..].iter().zip(&texts) {
                prop_assert_eq!(line.len(), lines[0].len());
                prop_assert_eq!(line[0].strip_prefix('\'').filter(|_| text.starts_with(STARTS)).unwrap_or(&line[0]), text);
                prop_assert_eq!(&line[1], "a:b");
            }
        }
    }
}
