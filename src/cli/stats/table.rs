//! Figures as text.
//!
//! Input: a report. Output: an aligned table with short units for people, or tab-separated values with whole numbers for programs.
//! Never: a control character from a run; in the table for people, a column without a value.

use crate::runs::tool_figures::ToolFigures;
use crate::stats::{By, Figures, Report};
use crate::visible;

/// How many characters of a name are shown to people.
const NAME_CHARS: usize = 48;

/// How many tools are shown if nothing makes a group.
const TOOLS: usize = 10;

/// The rows as tab-separated values with a header: the columns of the CSV, in which a control character becomes a space.
pub(super) fn for_programs(report: &Report) -> String {
    let mut out = report.columns().join("\t") + "\n";
    for row in report.cells() {
        let cells: Vec<String> = row.iter().map(|cell| visible::line(cell).into_owned()).collect();
        out.push_str(&cells.join("\t"));
        out.push('\n');
    }
    out
}

/// The rows and their total; without groups, also the tools with the most calls.
pub(super) fn for_people(report: &Report) -> String {
    let mut heads: Vec<&str> = report.by.iter().map(|by| head(*by)).collect();
    let keys = heads.len();
    heads.extend(FIGURES.iter().map(|(head, _)| *head));
    let mut lines = Vec::new();
    for row in &report.data {
        let name = |by: &By| match row.key(*by) {
            Some(name) => short(name),
            None if row.rest => "(others)".to_owned(),
            None => "-".to_owned(),
        };
        lines.push(report.by.iter().map(name).chain(figures(&row.figures)).collect::<Vec<_>>());
    }
    let total = (0..keys).map(|at| if at == 0 { "total".to_owned() } else { String::new() });
    lines.push(total.chain(figures(&report.total)).collect());
    let mut out = aligned(&heads, &lines, keys);
    if keys == 0 && !report.tools.is_empty() {
        out.push('\n');
        out.push_str(&tools(&report.tools));
    }
    out
}

fn head(by: By) -> &'static str {
    match by {
        By::Day => "DAY",
        By::Runner => "RUNNER",
        By::Model => "MODEL",
        By::Session => "SESSION",
        By::Label => "LABEL",
        By::Directory => "DIRECTORY",
        By::Repository => "REPOSITORY",
        By::Branch => "BRANCH",
        By::Tool => "TOOL",
    }
}

/// A figure in the table for people; "" if it is absent.
type Shown = fn(&Figures) -> String;

/// The columns of the table for people.
const FIGURES: [(&str, Shown); 16] = [
    ("RUNS", |figures| short_count(figures.runs)),
    ("COMPLETED", |figures| short_count(figures.completed)),
    ("FAILED", |figures| short_count(figures.failed)),
    ("INTERRUPTED", |figures| short_count(figures.interrupted)),
    ("OPEN", |figures| short_count(figures.open)),
    ("TIME", |figures| or_nothing(figures.duration_ms, duration)),
    ("TOOLS", |figures| short_count(figures.tool_calls)),
    ("FAILED TOOLS", |figures| or_nothing(figures.failed_tool_calls, short_count)),
    ("TOOL TIME", |figures| or_nothing(figures.tool_duration_ms, duration)),
    ("INPUT", |figures| or_nothing(figures.input_tokens, short_count)),
    ("CACHED", |figures| or_nothing(figures.cache_read_tokens, short_count)),
    ("OUTPUT", |figures| or_nothing(figures.output_tokens, short_count)),
    ("COST", |figures| figures.cost_usd.map_or_else(String::new, dollars)),
    ("COMPUTED", |figures| figures.computed_cost_usd.map_or_else(String::new, |cost| dollars(cost.to_f64()))),
    ("UNPRICED", |figures| figures.unpriced_runs.filter(|runs| *runs > 0).map_or_else(String::new, short_count)),
    ("WARNINGS", |figures| or_nothing(figures.warnings, short_count)),
];

fn figures(figures: &Figures) -> impl Iterator<Item = String> {
    FIGURES.iter().map(|(_, shown)| shown(figures))
}

fn or_nothing(figure: Option<u64>, shown: fn(u64) -> String) -> String {
    figure.map_or_else(String::new, shown)
}

fn tools(tools: &[ToolFigures]) -> String {
    let line = |tool: &ToolFigures| {
        let name = match tool.rest {
            true => "(others)".to_owned(),
            false => short(&tool.name),
        };
        let time = or_nothing(tool.duration_ms, duration);
        vec![name, tool.kind.as_str().to_owned(), short_count(tool.calls), short_count(tool.failed), time]
    };
    let lines: Vec<Vec<String>> = tools.iter().take(TOOLS).map(line).collect();
    let mut out = aligned(&["TOOL", "KIND", "CALLS", "FAILED", "TIME"], &lines, 2);
    if let Some(more) = tools.len().checked_sub(TOOLS).filter(|more| *more > 0) {
        out.push_str(&format!("and {more} more: --by tool\n"));
    }
    out
}

/// The lines under their heads: the first `names` columns to the left, the others to the right. Columns without a value are left out.
fn aligned(heads: &[&str], lines: &[Vec<String>], names: usize) -> String {
    let width = |text: &str| text.chars().count();
    let cell = |line: &[String], at: usize| line.get(at).cloned().unwrap_or_default();
    let widths: Vec<Option<usize>> = (0..heads.len())
        .map(|at| {
            let widest = lines.iter().map(|line| width(&cell(line, at))).max().filter(|widest| *widest > 0)?;
            Some(widest.max(heads.get(at).map_or(0, |head| width(head))))
        })
        .collect();
    let heads: Vec<String> = heads.iter().map(|head| (*head).to_owned()).collect();
    let mut out = String::new();
    for line in std::iter::once(&heads).chain(lines) {
        let cells = widths.iter().enumerate().filter_map(|(at, wide)| {
            let (wide, cell) = ((*wide)?, cell(line, at));
            Some(if at < names { format!("{cell:wide$}") } else { format!("{cell:>wide$}") })
        });
        out.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        out.push('\n');
    }
    out
}

fn short(name: &str) -> String {
    let name = visible::line(name);
    match name.char_indices().nth(NAME_CHARS) {
        None => name.into_owned(),
        Some((at, _)) => format!("{}…", name.get(..at).unwrap_or_default()),
    }
}

/// A number with three or four digits and a unit.
#[expect(clippy::cast_precision_loss, reason = "the result has four digits")]
fn short_count(count: u64) -> String {
    if count < 10_000 {
        return count.to_string();
    }
    let mut value = count as f64 / 1e3;
    for unit in ["k", "M", "G", "T", "P"] {
        // 999.95 would be written as 1000.0.
        if value < 999.5 {
            return if value < 99.95 { format!("{value:.1}{unit}") } else { format!("{value:.0}{unit}") };
        }
        value /= 1e3;
    }
    format!("{value:.0}E")
}

/// A duration in its two largest units.
fn duration(ms: u64) -> String {
    let (seconds, minutes, hours) = (ms / 1_000, ms / 60_000, ms / 3_600_000);
    match ms {
        0..1_000 => format!("{ms}ms"),
        1_000..60_000 => format!("{seconds}.{}s", ms % 1_000 / 100),
        60_000..3_600_000 => format!("{minutes}m{:02}s", seconds % 60),
        3_600_000..86_400_000 => format!("{hours}h{:02}m", minutes % 60),
        _ => format!("{}d{:02}h", hours / 24, hours % 24),
    }
}

fn dollars(cost: f64) -> String {
    match cost.abs() {
        0.0 => "$0".to_owned(),
        0.0..0.01 => format!("${cost:.4}"),
        _ => format!("${cost:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn report() -> Report {
        let figures = json!({"runs": 12_345, "completed": 12_000, "failed": 345, "interrupted": 0, "open": 0, "tool_calls": 9,
            "duration_ms": 81_234, "input_tokens": 1_234_567, "output_tokens": 950, "cost_usd": 0.0042});
        let row = |more: serde_json::Value| {
            let mut row = figures.as_object().unwrap().clone();
            row.extend(more.as_object().unwrap().clone());
            serde_json::Value::Object(row)
        };
        let tools: Vec<_> = (0..12)
            .map(|nth| json!({"name": format!("tool {nth}"), "kind": "shell", "calls": 1, "failed": 0, "timed_calls": 0}))
            .collect();
        let report = json!({"object": "list", "by": ["day", "model"], "total": figures, "tools": tools, "data": [
            row(json!({"day": "2026-11-25", "model": "gpt-5.5", "runs": 7})),
            row(json!({"day": "2026-11-25", "model": "evil\u{1b}[2J\tmodel\u{202e}"})),
            row(json!({"rest": true, "runs": 2})),
        ]});
        serde_json::from_value(report).unwrap()
    }

    #[test]
    fn a_table_for_people_is_aligned_and_has_no_empty_columns() {
        insta::assert_snapshot!(for_people(&report()));
    }

    #[test]
    fn without_groups_the_tools_follow() {
        let mut report = report();
        (report.by, report.data) = (Vec::new(), Vec::new());
        insta::assert_snapshot!(for_people(&report));
    }

    #[test]
    fn a_table_for_programs_has_whole_numbers_and_every_column() {
        let text = for_programs(&report());
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
        assert_eq!(lines.len(), 4);
        assert!(lines.iter().all(|line| line.len() == lines[0].len()));
        assert_eq!(&lines[0][..4], ["day", "model", "rest", "runs"]);
        assert_eq!(&lines[2][..4], ["2026-11-25", "evil␛[2J model‹U+202E›", "", "12345"]);
        assert_eq!(&lines[3][..4], ["", "", "true", "2"]);
    }

    #[test]
    fn units_are_short() {
        let counts = [0, 9_999, 10_000, 99_949, 99_950, 999_499, 999_500, 1_500_000, u64::MAX].map(short_count);
        assert_eq!(counts, ["0", "9999", "10.0k", "99.9k", "100k", "999k", "1.0M", "1.5M", "18E"]);
        let times =
            [0, 999, 1_000, 59_999, 60_000, 3_599_999, 3_600_000, 86_399_999, 86_400_000, 260_000_000].map(duration);
        assert_eq!(times, ["0ms", "999ms", "1.0s", "59.9s", "1m00s", "59m59s", "1h00m", "23h59m", "1d00h", "3d00h"]);
        assert_eq!([0.0, 0.00192, 0.01, 12.345].map(dollars), ["$0", "$0.0019", "$0.01", "$12.35"]);
    }
}
