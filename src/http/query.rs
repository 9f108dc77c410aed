//! Parses the query of a request.
//!
//! Input: a query string, and the parameters that the path accepts. Output: their values, validated. Never: a parameter or
//! value that is silently ignored. An unknown one is answered with 400 and the list of known ones.

use super::percent;
use super::problem::Problem;
use crate::config::unknown;
use crate::runs::RunState;
use crate::runs::filter::RunFilter;
use crate::runs::labels::{Label, LabelError, Labels, MOST_LABELS};
use crate::search::Kind;
use crate::stats::{By, Zone};
use framegate_translators::contracts::Contract;
use framegate_translators::runners::{RUNNERS, Workspace};
use uuid::Uuid;

/// The parsed values.
#[derive(Debug, Default)]
pub(super) struct Query {
    pub(super) contract: Option<String>,
    pub(super) experimental: bool,
    pub(super) user_messages: bool,
    /// Whether the body is a session file that the runner has written.
    pub(super) history: bool,
    pub(super) after: Option<String>,
    pub(super) limit: Option<usize>,
    pub(super) skip: usize,
    pub(super) session_id: Option<Uuid>,
    pub(super) task_id: Option<String>,
    pub(super) run_id: Option<Uuid>,
    /// The words of a search.
    pub(super) q: Option<String>,
    /// The kinds of texts that a search finds; empty for all.
    pub(super) kinds: Vec<Kind>,
    pub(super) runner: Option<&'static str>,
    pub(super) state: Option<RunState>,
    /// The model that runs named last.
    model: Option<String>,
    /// Where runs work.
    workspace: Workspace,
    /// Labels, each key once.
    pub(super) labels: Vec<Label>,
    /// What figures are grouped by, in the order of the query.
    pub(super) by: Vec<By>,
    /// Unix epoch milliseconds: runs that began then or later.
    pub(super) since: Option<u64>,
    /// Unix epoch milliseconds: runs that began before.
    pub(super) until: Option<u64>,
    /// Where days begin.
    pub(super) tz: Zone,
    event_type: Option<String>,
}

impl Query {
    /// Parses a query string. `known` lists the parameters that the path accepts.
    ///
    /// # Errors
    /// 400: a parameter that the path does not accept or that occurs twice, or an invalid value.
    pub(super) fn read(text: Option<&str>, known: &[&str]) -> Result<Self, Problem> {
        let mut query = Self::default();
        let mut seen: Vec<&str> = Vec::new();
        for pair in text.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            if !known.contains(&key) {
                return Err(Problem::bad_request(match known {
                    [] => format!("unknown parameter {key:?}: this path has no parameters"),
                    _ => unknown("parameter", key, known.iter().copied()),
                }));
            }
            if seen.contains(&key) && key != "label" {
                return Err(Problem::bad_request(format!("the parameter {key:?} is given twice")));
            }
            seen.push(key);
            let value = percent::of_query(value)
                .ok_or_else(|| Problem::bad_request(format!("the value of {key:?} is not percent-encoded UTF-8")))?;
            query.set(key, value).map_err(Problem::bad_request)?;
        }
        if seen.contains(&"after") && seen.contains(&"after_sequence") {
            return Err(Problem::bad_request("after and after_sequence are the same parameter; use only one of them"));
        }
        Ok(query)
    }

    fn set(&mut self, key: &str, value: String) -> Result<(), String> {
        match key {
            "contract" => self.contract = Some(value),
            "experimental" => self.experimental = flag(key, &value)?,
            "history" => self.history = flag(key, &value)?,
            "user_messages" => self.user_messages = flag(key, &value)?,
            "after" | "after_sequence" => self.after = Some(value),
            "limit" => self.limit = Some(number(key, &value, 1)?),
            "skip" => self.skip = number(key, &value, 0)?,
            "session_id" | "run_id" => {
                let id = Uuid::try_parse(&value).map_err(|_| format!("{key} must be a UUID, as in GET /v1/runs"))?;
                *(if key == "run_id" { &mut self.run_id } else { &mut self.session_id }) = Some(id);
            }
            "model" => self.model = Some(value),
            "directory" => self.workspace.directory = Some(value),
            "repository" => self.workspace.repository = Some(value),
            "branch" => self.workspace.branch = Some(value),
            "q" => self.q = Some(value),
            "kind" => self.kinds = Kind::list(&value)?,
            "task_id" => self.task_id = Some(value),
            "event_type" => self.event_type = Some(value),
            "label" => {
                if self.labels.len() == MOST_LABELS {
                    return Err(format!("more than {MOST_LABELS} labels are given, which is the limit"));
                }
                self.labels.push(value.parse().map_err(|error: LabelError| error.to_string())?);
                Labels::of(self.labels.iter().cloned()).map_err(|error| error.to_string())?;
            }
            "by" => self.by = By::list(&value)?,
            "since" => self.since = Some(unix_ms(key, &value)?),
            "until" => self.until = Some(unix_ms(key, &value)?),
            // In a query, a plus sign that is not encoded is a space.
            "tz" => self.tz = value.replace(' ', "+").parse()?,
            "runner" => {
                let found = RUNNERS.iter().find(|runner| runner.name == value);
                let known = RUNNERS.iter().map(|runner| runner.name);
                self.runner = Some(found.ok_or_else(|| unknown("runner", &value, known))?.name);
            }
            "state" => {
                let found = RunState::ALL.into_iter().find(|state| state.as_str() == value);
                let known = RunState::ALL.into_iter().map(RunState::as_str);
                self.state = Some(found.ok_or_else(|| unknown("state", &value, known))?);
            }
            _ => return Err(format!("the parameter {key:?} cannot be read")),
        }
        Ok(())
    }

    /// The runs that are asked for.
    pub(super) fn runs(&self) -> RunFilter {
        let Workspace { directory, repository, branch } = self.workspace.clone();
        let labels = self.labels.clone();
        let (runner, session_id, model) = (self.runner, self.session_id, self.model.clone());
        RunFilter { runner, session_id, model, directory, repository, branch, labels }
    }

    /// The requested event types; `None`: all.
    ///
    /// # Errors
    /// 400: a type that the contract does not have.
    pub(super) fn event_types(&self, contract: &Contract) -> Result<Option<Vec<String>>, Problem> {
        let Some(list) = self.event_type.as_deref().filter(|list| !list.is_empty()) else { return Ok(None) };
        let known = || contract.schemas.iter().map(|schema| schema.kind);
        let mut types = Vec::new();
        for kind in list.split(',').map(str::trim) {
            if !known().any(|known| known == kind) {
                let what = format!("event_type of {}:", contract.name);
                return Err(Problem::bad_request(unknown(&what, kind, known())));
            }
            types.push(kind.to_owned());
        }
        Ok(Some(types))
    }
}

fn flag(key: &str, value: &str) -> Result<bool, String> {
    match value {
        "1" | "true" => Ok(true),
        "0" | "false" => Ok(false),
        _ => Err(format!("{key} must be 1, true, 0 or false, not {value:?}")),
    }
}

fn number(key: &str, value: &str, least: usize) -> Result<usize, String> {
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    // A number too large to represent means the largest page.
    let number = is_number.then(|| value.parse().unwrap_or(usize::MAX));
    number
        .filter(|number| *number >= least)
        .ok_or_else(|| format!("{key} must be a whole number, {least} or more, not {value:?}"))
}

fn unix_ms(key: &str, value: &str) -> Result<u64, String> {
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    is_number
        .then(|| value.parse().ok())
        .flatten()
        .ok_or_else(|| format!("{key} must be a time in Unix epoch milliseconds, such as 1795564800000, not {value:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::contracts::contract;

    const OF_RUNS: &[&str] = &["limit", "skip", "session_id", "runner", "state", "label"];
    const OF_STATS: &[&str] = &["by", "tz", "since", "until", "runner", "session_id", "label"];
    const OF_RUN: &[&str] = &["contract", "experimental", "after", "limit", "user_messages"];
    const OF_ALL: &[&str] =
        &["contract", "experimental", "after", "limit", "session_id", "event_type", "user_messages"];
    const OF_HECATE_RUN: &[&str] = &["contract", "experimental", "after", "after_sequence", "limit", "user_messages"];
    const NONE: &[&str] = &[];

    fn refusal(text: &str, known: &[&str]) -> String {
        let problem = Query::read(Some(text), known).unwrap_err();
        assert_eq!(problem.status().as_u16(), 400, "{text}");
        problem.detail().to_owned()
    }

    #[test]
    fn values_are_read() {
        let query = Query::read(Some("limit=7&skip=0&runner=open-responses&state=waiting_approval"), OF_RUNS).unwrap();
        assert_eq!((query.limit, query.skip), (Some(7), 0));
        assert_eq!((query.runner, query.state), (Some("open-responses"), Some(RunState::WaitingApproval)));
        assert_eq!(Query::read(Some("limit=99999999999999999999"), OF_RUNS).unwrap().limit, Some(usize::MAX));
        assert!(Query::read(Some("experimental=true"), OF_RUN).unwrap().experimental);
        assert!(!Query::read(Some("&experimental=0&"), OF_RUN).unwrap().experimental);
    }

    #[test]
    fn labels_may_be_repeated_and_nothing_else() {
        let query = Query::read(Some("label=team:web&label=url:http://x&label=b:c%20d"), OF_RUNS).unwrap();
        let labels: Vec<String> = query.labels.iter().map(Label::to_string).collect();
        assert_eq!(labels, ["team:web", "url:http://x", "b:c d"]);
        let most: Vec<String> = (0..=MOST_LABELS).map(|nth| format!("label=k{nth}:v")).collect();
        assert!(Query::read(Some(&most[1..].join("&")), OF_RUNS).is_ok());
        assert!(refusal(&most.join("&"), OF_RUNS).contains("more than 16 labels"));
    }

    #[test]
    fn an_unencoded_plus_sign_is_part_of_a_time_zone() {
        for (text, zone) in
            [("tz=+05:30", "+05:30"), ("tz=%2B05:30", "+05:30"), ("tz=-08:00", "-08:00"), ("", "+00:00")]
        {
            assert_eq!(Query::read(Some(text), OF_STATS).unwrap().tz.to_string(), zone, "{text}");
        }
    }

    #[test]
    fn invalid_parameters_are_refused_with_the_valid_ones() {
        for (text, known, parts) in [
            ("runner=openresponses", OF_RUNS, &["did you mean \"open-responses\"?", "claude-code, codex"][..]),
            ("runner=", OF_RUNS, &["unknown runner \"\"", "opencode"]),
            ("state=done", OF_RUNS, &["running, waiting_approval, completed, failed, interrupted"]),
            ("state=Completed", OF_RUNS, &["did you mean \"completed\"?"]),
            ("limit=0", OF_RUN, &["limit must be a whole number, 1 or more, not \"0\""]),
            ("limit=-1", OF_RUN, &["not \"-1\""]),
            ("limit=+1", OF_RUN, &["limit must be"]),
            ("limit=1e3", OF_RUN, &["not \"1e3\""]),
            ("skip=x", OF_RUNS, &["skip must be a whole number, 0 or more"]),
            ("experimental=yes", OF_RUN, &["1, true, 0 or false"]),
            ("session_id=s", OF_RUNS, &["session_id must be a UUID"]),
            ("limits=1", OF_RUN, &["unknown parameter \"limits\", did you mean \"limit\"?", "contract"]),
            ("after=1", OF_RUNS, &["unknown parameter \"after\""]),
            ("limit=1&limit=2", OF_RUN, &["\"limit\" is given twice"]),
            ("after=1&after_sequence=2", OF_HECATE_RUN, &["use only one of them"]),
            ("label=team", OF_RUNS, &["\"team\" has no value; write it as key:value"]),
            ("label=a:1&label=a:2", OF_RUNS, &["the label \"a\" is given twice"]),
            ("label=a%20b:1", OF_RUNS, &["label key \"a b\" is invalid", "1 to 64 of the characters"]),
            ("by=days", OF_STATS, &["unknown group \"days\", did you mean \"day\"?"]),
            ("by=day,day", OF_STATS, &["by names \"day\" twice"]),
            ("tz=Europe/Berlin", OF_STATS, &["an offset from UTC such as +02:00"]),
            ("since=2026-11-25", OF_STATS, &["since must be a time in Unix epoch milliseconds", "not \"2026-11-25\""]),
            ("until=-1", OF_STATS, &["until must be a time"]),
            ("x=1", NONE, &["this path has no parameters"]),
            ("contract=%ff", OF_RUN, &["not percent-encoded"]),
        ] {
            let detail = refusal(text, known);
            assert!(parts.iter().all(|part| detail.contains(part)), "{text}: {detail}");
        }
    }

    #[test]
    fn event_types_are_checked_against_the_contract() {
        let types = |text: &str, name: &str| {
            let query = Query::read(Some(text), OF_ALL).unwrap();
            query.event_types(contract(name).unwrap()).map_err(|problem| problem.detail().to_owned())
        };
        assert_eq!(types("limit=1", "hecate.v1"), Ok(None));
        let both = Some(vec!["run.started".to_owned(), "run.finished".to_owned()]);
        assert_eq!(types("event_type=run.started,%20run.finished", "hecate.v1"), Ok(both));
        let refused = types("event_type=run.started", "frames.v2").unwrap_err();
        assert!(refused.contains("event_type of frames.v2") && refused.contains("session_started"), "{refused}");
    }
}
