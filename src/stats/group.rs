//! Groups of runs.
//!
//! Input: what makes a group, and a run. Output: the groups that the run is in: one for each of its labels or tools, if these make
//! groups. Never: a run that is in the same group twice.

use super::Question;
use crate::config::unknown;
use crate::runs::RunStatus;
use crate::runs::labels::Label;
use framegate_translators::frame::SharedStr;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use uuid::Uuid;

/// What makes a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// The day on which the run began.
    Day,
    /// The runner.
    Runner,
    /// The last model that the run named.
    Model,
    /// The session.
    Session,
    /// A label. A run is in the group of each of its labels.
    Label,
    /// The working directory.
    Directory,
    /// The repository.
    Repository,
    /// The branch.
    Branch,
    /// A tool. A run is in the group of each tool that it called.
    Tool,
}

impl By {
    /// Every kind of group.
    pub const ALL: [Self; 9] = [
        Self::Day,
        Self::Runner,
        Self::Model,
        Self::Session,
        Self::Label,
        Self::Directory,
        Self::Repository,
        Self::Branch,
        Self::Tool,
    ];

    /// The name in the APIs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Runner => "runner",
            Self::Model => "model",
            Self::Session => "session",
            Self::Label => "label",
            Self::Directory => "directory",
            Self::Repository => "repository",
            Self::Branch => "branch",
            Self::Tool => "tool",
        }
    }

    /// Reads names separated by commas. An empty text has none.
    ///
    /// # Errors
    /// A name is unknown or occurs twice.
    pub fn list(text: &str) -> Result<Vec<Self>, String> {
        let mut list = Vec::new();
        for name in text.split(',').map(str::trim).filter(|_| !text.is_empty()) {
            let found = Self::ALL.into_iter().find(|by| by.as_str() == name);
            let by = found.ok_or_else(|| unknown("group", name, Self::ALL.into_iter().map(Self::as_str)))?;
            if list.contains(&by) {
                return Err(format!("by names {name:?} twice"));
            }
            list.push(by);
        }
        Ok(list)
    }
}

/// What the runs of a group have in common, in the order of the question.
pub(super) type Key = Vec<Part>;

/// One thing that the runs of a group have in common. Runs without it come last.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Part {
    Day(Date),
    Runner(&'static str),
    Model(SharedStr),
    Session(Uuid),
    Label(Label),
    Directory(SharedStr),
    Repository(SharedStr),
    Branch(SharedStr),
    Tool(SharedStr),
    /// The tools beyond the limit of a run.
    OtherTools,
    /// The run has no such thing, or it is not known.
    Without,
}

/// The calls of one tool in one run.
#[derive(Clone, Debug)]
pub(super) struct Calls {
    /// As in [`Part::Tool`]; "" with the other parts.
    pub(super) name: SharedStr,
    pub(super) calls: u64,
    pub(super) failed: Option<u64>,
    pub(super) duration_ms: Option<u64>,
}

/// The groups of a run, each with the calls that belong to it if tools make groups.
pub(super) fn keys(question: &Question, run: &RunStatus) -> Vec<(Key, Option<Calls>)> {
    let mut found: Vec<(Key, Option<Calls>)> = vec![(Vec::with_capacity(question.by.len()), None)];
    for by in &question.by {
        found = match by {
            By::Label => {
                let labels: Vec<Part> = run.labels.iter().cloned().map(Part::Label).collect();
                let labels = if labels.is_empty() { vec![Part::Without] } else { labels };
                times(found, &labels.into_iter().map(|part| (part, None)).collect::<Vec<_>>())
            }
            By::Tool => times(found, &tools(run)),
            by => {
                let part = match by {
                    By::Day => Part::Day(question.zone.day(run.started_at_ms)),
                    By::Runner => Part::Runner(run.runner),
                    By::Model => part(&run.model, Part::Model),
                    By::Directory => part(&run.workspace.directory, Part::Directory),
                    By::Repository => part(&run.workspace.repository, Part::Repository),
                    By::Branch => part(&run.workspace.branch, Part::Branch),
                    By::Session | By::Label | By::Tool => Part::Session(run.session_id),
                };
                found.iter_mut().for_each(|(key, _)| key.push(part.clone()));
                found
            }
        };
    }
    found
}

fn part(text: &Option<String>, part: fn(SharedStr) -> Part) -> Part {
    text.as_deref().map_or(Part::Without, |text| part(text.into()))
}

/// Each group so far with each part.
fn times(found: Vec<(Key, Option<Calls>)>, parts: &[(Part, Option<Calls>)]) -> Vec<(Key, Option<Calls>)> {
    let with = |(key, calls): &(Key, Option<Calls>), (part, more): &(Part, Option<Calls>)| {
        let key = key.iter().chain([part]).cloned().collect();
        (key, calls.clone().or_else(|| more.clone()))
    };
    found.iter().flat_map(|one| parts.iter().map(move |part| with(one, part))).collect()
}

/// The tools that a run called. A run without calls is in no group.
fn tools(run: &RunStatus) -> Vec<(Part, Option<Calls>)> {
    let Some(tools) = &run.tools else {
        let unknown =
            Calls { name: "".into(), calls: run.tool_calls, failed: run.failed_tool_calls, duration_ms: None };
        return if run.tool_calls > 0 { vec![(Part::Without, Some(unknown))] } else { Vec::new() };
    };
    // Tools of the same name can differ in their kind.
    let mut by_part: BTreeMap<Part, Calls> = BTreeMap::new();
    for tool in tools.figures() {
        let (part, name) = match tool.rest {
            true => (Part::OtherTools, "".into()),
            false => (Part::Tool(tool.name.clone()), tool.name.clone()),
        };
        let calls = by_part.entry(part).or_insert(Calls { name, calls: 0, failed: Some(0), duration_ms: None });
        calls.calls = calls.calls.saturating_add(tool.calls);
        calls.failed = calls.failed.map(|failed| failed.saturating_add(tool.failed));
        if let Some(more) = tool.duration_ms {
            calls.duration_ms = Some(calls.duration_ms.unwrap_or_default().saturating_add(more));
        }
    }
    by_part.into_iter().map(|(part, calls)| (part, Some(calls))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_each_kind_of_group_once() {
        assert_eq!(By::list("").unwrap(), []);
        assert_eq!(By::list("day, tool").unwrap(), [By::Day, By::Tool]);
        for by in By::ALL {
            assert_eq!(By::list(by.as_str()).unwrap(), [by]);
            assert_eq!(serde_json::to_value(by).unwrap(), by.as_str());
        }
        for (text, says) in
            [("day,", "unknown group \"\""), ("Day", "did you mean \"day\"?"), ("tool,day,tool", "twice")]
        {
            assert!(By::list(text).unwrap_err().contains(says), "{text}");
        }
    }
}
