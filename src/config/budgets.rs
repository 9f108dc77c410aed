//! `[[budgets.limit]]`: what runs may cost.
//!
//! Input: the tables of budgets in the file. Output: valid budgets, in the order of the file. Never: a budget that is silently left out, or that
//! counts other runs than intended because one of its keys is unknown.

use super::error::{Problem, unknown};
use super::lists::{List, read_all};
use super::table::settings;
use crate::prices::Usd;
use figment::value::Value;
use std::str::FromStr;

settings! {
    /// One budget.
    pub struct Limit {
        /// Name for log lines, metrics and refusals: letters, digits, `-`, `_` and `.`, at most 64. Each budget must have one.
        name: String = String::new();
        /// What the runs that share the amount have in common: run, session, day (in UTC, on which the run began), label:KEY. With several, such
        /// as ["label:team", "day"], each combination has the amount: each team on each day. A run without the label does not count.
        per: Vec<String> = Vec::new();
        /// The amount in US dollars, as a decimal number in quotes: "12.50".
        usd: String = String::new();
        /// The part of the amount at which a warning is logged, in percent. 100: only at the amount itself.
        warn_percent: u64 = 80, in 1..=100;
        /// What happens when the amount is spent: warn (a log line, a metric and a notification), or stop (also, the open runs are
        /// interrupted, and new prompts that would count are refused).
        action: String = Action::Warn.as_str().to_owned();
    }
}

/// One budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Its configured name.
    pub name: String,
    /// What the runs of an account have in common.
    pub per: Vec<Share>,
    /// What they may cost together.
    pub limit: Usd,
    /// The part of the limit at which it warns, in percent.
    pub warn_percent: u64,
    /// What happens at the limit.
    pub action: Action,
}

/// What the runs of an account have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Share {
    /// Each run has its own account.
    Run,
    /// The session.
    Session,
    /// The day on which the run began, in UTC.
    Day,
    /// The value of the label with this key.
    Label(String),
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.strip_prefix("label:")) {
            ("run", _) => Ok(Self::Run),
            ("session", _) => Ok(Self::Session),
            ("day", _) => Ok(Self::Day),
            (_, Some("")) => Err(format!("{text:?} names no label; use for example \"label:team\"")),
            (_, Some(key)) => Ok(Self::Label(key.to_owned())),
            _ => Err(format!("unknown share {text:?}; use run, session, day or label:KEY")),
        }
    }
}

/// What happens when the amount of a budget is spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is only reported.
    Warn,
    /// The open runs are interrupted as well, and new prompts are refused.
    Stop,
}

impl Action {
    /// Every action.
    pub const ALL: [Self; 2] = [Self::Warn, Self::Stop];

    /// Its name in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Stop => "stop",
        }
    }

    /// The action with this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == name)
    }
}

/// The budgets in the file.
pub(super) const LIST: List = List {
    section: "budgets",
    key: "limit",
    one: "budget",
    several: "budgets",
    most: 100,
    has_names: true,
    required: &[("per", "use for example [\"day\"]"), ("usd", "use for example \"12.50\"")],
};

/// Reads the tables. Adds problems to `problems`; `spell` formats the position of a key.
pub(super) fn read(tables: &Value, spell: &dyn Fn(&str) -> String, problems: &mut Vec<Problem>) -> Vec<Limit> {
    read_all(&LIST, tables, spell, problems, Limit::check)
}

impl Limit {
    fn check(&self, report: &mut dyn FnMut(&str, String)) {
        for (at, share) in self.per.iter().enumerate() {
            if let Err(message) = share.parse::<Share>() {
                report("per", message);
            } else if self.per.iter().take(at).any(|other| other == share) {
                report("per", format!("names {share:?} twice"));
            }
        }
        if self.per.is_empty() {
            report("per", "is empty; use for example [\"day\"]".to_owned());
        }
        if let Err(message) = Usd::parse(&self.usd) {
            report("usd", message);
        }
        if Action::find(&self.action).is_none() {
            report("action", unknown("action", &self.action, Action::ALL.into_iter().map(Action::as_str)));
        }
    }

    /// The budget; `None` only if the settings were not checked.
    pub fn budget(&self) -> Option<Budget> {
        Some(Budget {
            name: self.name.clone(),
            per: self.per.iter().map(|share| share.parse().ok()).collect::<Option<_>>()?,
            limit: Usd::parse(&self.usd).ok()?,
            warn_percent: self.warn_percent,
            action: Action::find(&self.action)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use figment::providers::{Format, Toml};
    use figment::value::Dict;

    fn load(text: &str) -> Result<Vec<Limit>, String> {
        let file: Dict = Toml::from_str(text).unwrap();
        let tables = &file["budgets"].as_dict().unwrap()["limit"];
        let mut problems = Vec::new();
        let found = read(tables, &|key| key.to_owned(), &mut problems);
        let message = problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("; ");
        if message.is_empty() { Ok(found) } else { Err(message) }
    }

    const LEAST: &str = "[[budgets.limit]]\nname = \"daily\"\nper = [\"day\"]\nusd = \"12.50\"\n";

    #[test]
    fn a_budget_needs_a_name_what_it_is_for_and_an_amount() {
        let found = load(LEAST).unwrap();
        let budget = found[0].budget().unwrap();
        assert_eq!((budget.name.as_str(), budget.limit.to_string().as_str()), ("daily", "12.5"));
        assert_eq!((budget.per, budget.action, budget.warn_percent), (vec![Share::Day], Action::Warn, 80));
        let stop = load(&LEAST.replace("[\"day\"]", "[\"label:team\", \"day\"]\naction = \"stop\"")).unwrap();
        let budget = stop[0].budget().unwrap();
        assert_eq!((budget.per, budget.action), (vec![Share::Label("team".to_owned()), Share::Day], Action::Stop));
    }

    #[test]
    fn errors_name_their_budget() {
        for (text, expected) in [
            ("[budgets]\nlimit = 1".to_owned(), "budgets.limit: must be a list of tables: write [[budgets.limit]]"),
            ("[budgets]\nlimit = [1]".to_owned(), "budgets, budget 1: must be a table"),
            ("[[budgets.limit]]".to_owned(), "budgets, budget 1, per: is missing"),
            ("[[budgets.limit]]".to_owned(), "budgets, budget 1, usd: is missing"),
            (LEAST.repeat(2), "budget \"daily\", name: another budget has the same name"),
            (LEAST.replace("daily", "a b"), "budget \"a b\", name: invalid name"),
            (LEAST.replace("[\"day\"]", "[\"week\"]"), "per: unknown share \"week\""),
            (LEAST.replace("[\"day\"]", "[\"label:\"]"), "per: \"label:\" names no label"),
            (LEAST.replace("[\"day\"]", "[\"day\", \"day\"]"), "per: names \"day\" twice"),
            (LEAST.replace("12.50", "-1"), "usd: -1 is not an amount"),
            (LEAST.replace("\"12.50\"", "12"), "usd: 12 is not a string; put it in quotes"),
            (format!("{LEAST}action = \"kill\"\n"), "action: unknown action \"kill\""),
            (format!("{LEAST}warn_percent = 0\n"), "warn_percent: 0 is out of range"),
            (format!("{LEAST}perr = []\n"), "did you mean \"per\"?"),
            (LEAST.repeat(LIST.most + 1), "budgets.limit: has 101 budgets; the maximum is 100"),
        ] {
            let message = load(&text).unwrap_err();
            assert!(message.contains(expected), "{text:?} should say {expected:?}, but says: {message}");
        }
    }
}
