//! Figures over runs: how many, how they ended, how long they took, what they cost, and which tools they called.
//!
//! Input: a question, and the statuses of runs, newest first. Output: sums by day, runner, model, session, label, workspace or tool, and the
//! sum of all. Never: the frames of a run; a 0 in place of a figure that no run reported; more than [`MOST_ROWS`] rows or [`MOST_TOOLS`]
//! tools, however many runs there are (what is beyond is summed in a row that says so).

mod csv;
mod figures;
mod group;
mod report;
mod unpriced;
mod zone;

pub use figures::Figures;
pub use group::By;
pub use report::{Report, Row};
pub use unpriced::{MOST_UNPRICED, UnpricedRuns};
pub use zone::Zone;

use crate::prices::{ComputedCost, Prices};
use crate::runs::RunStatus;
use crate::runs::filter::RunFilter;
use crate::runs::tool_figures::ToolFigures;
use framegate_translators::frame::{SharedStr, ToolKind};
use group::{Key, keys};
use std::collections::{HashMap, HashSet};
use unpriced::Reasons;

/// How many rows an answer has, besides the one for all further groups.
pub const MOST_ROWS: usize = 10_000;

/// How many tools an answer lists, besides the entry for all further tools.
pub const MOST_TOOLS: usize = 500;

/// Which runs count, and how they are grouped.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// What makes a group; empty for only the sum of all runs.
    pub by: Vec<By>,
    /// Where days begin.
    pub zone: Zone,
    /// Only runs that began then or later, in Unix epoch milliseconds.
    pub since_ms: Option<u64>,
    /// Only runs that began before, in Unix epoch milliseconds.
    pub until_ms: Option<u64>,
    /// Only runs that have all of this.
    pub runs: RunFilter,
}

impl Question {
    /// Whether a run counts.
    pub fn admits(&self, run: &RunStatus) -> bool {
        self.since_ms.is_none_or(|since| run.started_at_ms >= since)
            && self.until_ms.is_none_or(|until| run.started_at_ms < until)
            && self.runs.admits(run)
    }
}

/// The figures of the runs so far.
#[derive(Debug)]
pub struct Stats {
    question: Question,
    total: Figures,
    rows: HashMap<Key, Figures>,
    /// The groups beyond the limit; `None` if there are none.
    rest: Option<Figures>,
    tools: HashMap<(SharedStr, ToolKind), ToolFigures>,
    /// The tools beyond the limit of a run or of the answer.
    other_tools: ToolFigures,
    runs_without_tools: u64,
    prices: Prices,
    unpriced: Reasons,
}

impl Stats {
    /// Without runs, and with the prices of the program.
    pub fn new(question: Question) -> Self {
        Self::with_prices(question, Prices::default())
    }

    /// Without runs.
    pub fn with_prices(question: Question, prices: Prices) -> Self {
        Self {
            question,
            prices,
            unpriced: Reasons::default(),
            total: Figures::default(),
            rows: HashMap::new(),
            rest: None,
            tools: HashMap::new(),
            other_tools: ToolFigures::of_rest(),
            runs_without_tools: 0,
        }
    }

    /// Adds a run, if it counts. Returns the number of steps that this took: the rows that the run is in, and 1.
    pub fn add(&mut self, run: &RunStatus) -> usize {
        if !self.question.admits(run) {
            return 1;
        }
        let cost = run.cost(&self.prices);
        if let ComputedCost::Unpriced(reason) = &cost {
            self.unpriced.add(reason);
        }
        let whole = Figures::of(run, &cost);
        self.total.add(&whole);
        self.add_tools(run);
        if self.question.by.is_empty() {
            return 1;
        }
        let mut steps = 1;
        // A run or a tool that is in several groups beyond the limit counts once there.
        let mut left_over: HashSet<Option<SharedStr>> = HashSet::new();
        for (key, tool) in keys(&self.question, run) {
            steps += 1;
            let figures = match &tool {
                None => whole.clone(),
                Some(tool) => whole.of_calls(tool.calls, tool.failed, tool.duration_ms),
            };
            if let Some(row) = self.rows.get_mut(&key) {
                row.add(&figures);
            } else if self.rows.len() < MOST_ROWS {
                self.rows.insert(key, figures);
            } else {
                let is_first = left_over.is_empty();
                if left_over.insert(tool.map(|tool| tool.name)) {
                    let figures = if is_first { figures } else { figures.calls_alone() };
                    self.rest.get_or_insert_default().add(&figures);
                }
            }
        }
        steps
    }

    fn add_tools(&mut self, run: &RunStatus) {
        let Some(tools) = &run.tools else {
            self.runs_without_tools += 1;
            return;
        };
        for tool in tools.figures() {
            let key = (tool.name.clone(), tool.kind);
            if tool.rest {
                self.other_tools.add(tool);
            } else if let Some(known) = self.tools.get_mut(&key) {
                known.add(tool);
            } else if self.tools.len() < MOST_TOOLS {
                self.tools.insert(key, tool.clone());
            } else {
                self.other_tools.add(tool);
            }
        }
    }

    /// The figures of all runs that were added. Rows are in the order of their groups, tools by the number of calls.
    pub fn report(self) -> Report {
        let mut rows: Vec<(Key, Figures)> = self.rows.into_iter().collect();
        rows.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut data: Vec<Row> = rows.into_iter().map(|(key, figures)| Row::of(&key, figures)).collect();
        data.extend(self.rest.map(|figures| Row { rest: true, figures, ..Row::default() }));
        let mut tools: Vec<ToolFigures> = self.tools.into_values().collect();
        tools.sort_by(|one, other| {
            let by_name = || (&one.name, one.kind.as_str()).cmp(&(&other.name, other.kind.as_str()));
            other.calls.cmp(&one.calls).then_with(by_name)
        });
        tools.extend(Some(self.other_tools).filter(|tool| tool.calls > 0));
        Report {
            by: self.question.by,
            data,
            total: self.total,
            tools,
            runs_without_tools: self.runs_without_tools,
            unpriced: self.unpriced.list(),
            ..Report::default()
        }
    }
}

#[cfg(test)]
mod tests;
