//! The answer: rows, their total, and the tools.
//!
//! Input: the sums. Output: JSON, and back. Never: a key that does not belong to the question.

use super::group::{Key, Part};
use super::{By, Figures, UnpricedRuns};
use crate::runs::tool_figures::ToolFigures;
use serde::{Deserialize, Serialize};

/// The figures that answer a question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// What the answer is.
    pub(super) object: Object,
    /// What makes a group.
    pub by: Vec<By>,
    /// The groups, in order; empty if nothing makes a group.
    pub data: Vec<Row>,
    /// All runs that count, each once.
    pub total: Figures,
    /// The tools that they called, those with the most calls first.
    pub tools: Vec<ToolFigures>,
    /// Runs whose tools are not known, because an older version stored their status.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub runs_without_tools: u64,
    /// The runs without a computed cost by the reason, the most frequent first.
    #[serde(default)]
    pub unpriced: Vec<UnpricedRuns>,
}

/// Always `list`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Object {
    #[default]
    List,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// One group. What its runs do not have, such as a label, is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The day on which the runs began, as YYYY-MM-DD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<String>,
    /// Their runner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<String>,
    /// The last model that they named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The id of their session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// A label of theirs, as key:value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Their working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// Their repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Their branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// A tool that they called; its calls are the only ones in the row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Whether the row sums what is beyond a limit: without other keys, the groups that have no row of their own; with other keys,
    /// the tools of runs that called more tools than are counted by name.
    #[serde(default, skip_serializing_if = "is_false")]
    pub rest: bool,
    /// The sums.
    #[serde(flatten)]
    pub figures: Figures,
}

impl Row {
    pub(super) fn of(key: &Key, figures: Figures) -> Self {
        let mut row = Self { figures, ..Self::default() };
        for part in key {
            match part {
                Part::Day(day) => row.day = Some(day.to_string()),
                Part::Runner(runner) => row.runner = Some((*runner).to_owned()),
                Part::Model(model) => row.model = Some(model.to_string()),
                Part::Session(session) => row.session = Some(session.to_string()),
                Part::Label(label) => row.label = Some(label.to_string()),
                Part::Directory(directory) => row.directory = Some(directory.to_string()),
                Part::Repository(repository) => row.repository = Some(repository.to_string()),
                Part::Branch(branch) => row.branch = Some(branch.to_string()),
                Part::Tool(tool) => row.tool = Some(tool.to_string()),
                Part::OtherTools => row.rest = true,
                Part::Without => {}
            }
        }
        row
    }

    /// The value of a key; `None` if the runs of the group do not have it.
    pub fn key(&self, by: By) -> Option<&str> {
        match by {
            By::Day => self.day.as_deref(),
            By::Runner => self.runner.as_deref(),
            By::Model => self.model.as_deref(),
            By::Session => self.session.as_deref(),
            By::Label => self.label.as_deref(),
            By::Directory => self.directory.as_deref(),
            By::Repository => self.repository.as_deref(),
            By::Branch => self.branch.as_deref(),
            By::Tool => self.tool.as_deref(),
        }
    }
}
