//! `[[webhooks.endpoint]]`: the systems that are notified over HTTP.
//!
//! Input: the tables of endpoints in the file. Output: valid endpoints, in the order of the file. Never: a table that is silently left out; a
//! secret (secrets are in files and variables, which are read when the proxy starts and at a reload).

use super::error::{Problem, unknown};
use super::lists::{List, read_all};
use super::table::settings;
use crate::features::WITHOUT_TLS;
use figment::value::Value;
use framegate_translators::runners::{RUNNERS, runner};
use hyper::Uri;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// What an endpoint can be notified of. A new kind is a variant here with its name, and the place in `webhooks::event` that finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    /// A run ended, and its runner reported success.
    RunCompleted,
    /// A run ended, and its runner reported failure.
    RunFailed,
    /// A run was stopped, or its stream broke off.
    RunInterrupted,
    /// A runner waits for a decision or for the answer to a question.
    ApprovalRequested,
    /// The runs that share a budget have cost the part of it at which it warns.
    BudgetWarning,
    /// The runs that share a budget have cost all of it.
    BudgetSpent,
}

impl EventKind {
    /// Every kind, with its name in settings and in the bodies of notifications.
    pub const ALL: [(Self, &'static str); 6] = [
        (Self::RunCompleted, "run.completed"),
        (Self::RunFailed, "run.failed"),
        (Self::RunInterrupted, "run.interrupted"),
        (Self::ApprovalRequested, "approval.requested"),
        (Self::BudgetWarning, "budget.warning"),
        (Self::BudgetSpent, "budget.spent"),
    ];

    /// Its name.
    pub fn as_str(self) -> &'static str {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }

    /// The kind with this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(kind, _)| *kind)
    }

    /// The names of all kinds.
    fn names() -> impl Iterator<Item = &'static str> + Clone {
        Self::ALL.iter().map(|(_, name)| *name)
    }
}

settings! {
    /// One system that is notified. An empty filter admits everything.
    pub struct Endpoint {
        /// Name for metrics, log lines and commands: letters, digits, `-`, `_` and `.`, at most 64. Each endpoint must have one.
        name: String = String::new();
        /// URL that notifications are posted to: http://HOST/PATH or https://HOST/PATH. It may have a query.
        url: String = String::new();
        /// Files with the secrets that sign notifications, as `whsec_` and 24 to 64 bytes in base64. With several, a notification has one
        /// signature for each, so that a secret can be replaced without a gap.
        secret_files: Vec<PathBuf> = Vec::new();
        /// Environment variables with further secrets. Each endpoint must have a secret.
        secret_env: Vec<String> = Vec::new();
        /// Certificates to trust for https, as PEM. Empty: those of the machine.
        ca_file: PathBuf = PathBuf::new();
        /// Kinds of events, as the first table in docs/webhooks.md has them. Empty: all.
        events: Vec<String> = Vec::new();
        /// Upstreams whose runs count. Empty: all, and the runs that clients send.
        upstreams: Vec<String> = Vec::new();
        /// Runners whose runs count. Empty: all.
        runners: Vec<String> = Vec::new();
        /// Labels that a run must have, as `{ team = "web" }`.
        labels: BTreeMap<String, String> = BTreeMap::new();
        /// Time that an approval waits before it is sent. An approval that has been answered by then, for example by a rule, is not sent.
        approval_delay_ms: u64 = 1000, in 0..=3_600_000;
        /// Time to connect.
        connect_timeout_ms: u64 = 5000, in 100..=600_000;
        /// Time for the endpoint to answer.
        timeout_ms: u64 = 15_000, in 100..=600_000;
        /// Attempts before a delivery is given up.
        attempts: u32 = 12, in 1..=1000;
        /// Pause before the second attempt. It doubles with each further attempt, and a random part of up to a half is taken off.
        backoff_min_ms: u64 = 1000, in 10..=3_600_000;
        /// Longest pause, also if the endpoint asks for a longer one with Retry-After.
        backoff_max_ms: u64 = 600_000, in 10..=86_400_000;
        /// Age of an event beyond which it is not sent any more. Older events are those of runs that ended before the proxy received them.
        max_age_ms: u64 = 3_600_000, in 1000..=2_678_400_000;
        /// Deliveries that may wait. Beyond it, a further delivery is given up at once.
        queue: usize = 1024, in 1..=1_000_000;
        /// Requests at the same time.
        max_requests: usize = 4, in 1..=256;
    }
}

/// The endpoints in the file. Each event is compared with each of them.
pub(super) const LIST: List = List {
    section: "webhooks",
    key: "endpoint",
    one: "endpoint",
    several: "endpoints",
    most: 100,
    has_names: true,
    required: &[],
};

/// Reads the tables. Adds problems to `problems`; `spell` formats the position of a key.
pub(super) fn read(tables: &Value, spell: &dyn Fn(&str) -> String, problems: &mut Vec<Problem>) -> Vec<Endpoint> {
    read_all(&LIST, tables, spell, problems, Endpoint::check)
}

impl Endpoint {
    /// Checks forms and constraints between settings.
    fn check(&self, report: &mut dyn FnMut(&str, String)) {
        if !is_url(&self.url) {
            let message = "must be a URL of the form https://HOST:PORT/PATH, without a user";
            report("url", if self.url.is_empty() { "is missing".to_owned() } else { message.to_owned() });
        }
        if self.url.starts_with("https:") && !cfg!(feature = "tls") {
            report("url", format!("is an https URL, but {WITHOUT_TLS}"));
        }
        if self.secret_files.is_empty() && self.secret_env.is_empty() {
            let message =
                "is empty, and so is secret_env: an endpoint needs a secret to tell notifications from forgeries";
            report("secret_files", message.to_owned());
        }
        if let Some(other) = self.events.iter().find(|name| EventKind::find(name).is_none()) {
            report("events", unknown("kind of event", other, EventKind::names()));
        }
        if let Some(other) = self.runners.iter().find(|name| runner(name).is_none()) {
            report("runners", unknown("runner", other, RUNNERS.iter().map(|runner| runner.name)));
        }
        if self.backoff_min_ms > self.backoff_max_ms {
            let message = format!("{} is more than backoff_max_ms ({})", self.backoff_min_ms, self.backoff_max_ms);
            report("backoff_min_ms", message);
        }
    }
}

fn is_url(url: &str) -> bool {
    url.parse::<Uri>().is_ok_and(|url| {
        let is_http = matches!(url.scheme_str(), Some("http" | "https"));
        let is_plain = url.authority().is_some_and(|authority| !authority.as_str().contains('@'));
        is_http && is_plain && url.host().is_some_and(|host| !host.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::table::Table;
    use figment::providers::{Format, Toml};
    use figment::value::Dict;

    fn load(text: &str) -> Result<Vec<Endpoint>, String> {
        let file: Dict = Toml::from_str(text).unwrap();
        let tables = &file["webhooks"].as_dict().unwrap()["endpoint"];
        let mut problems = Vec::new();
        let found = read(tables, &|key| key.to_owned(), &mut problems);
        let message = problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("; ");
        if message.is_empty() { Ok(found) } else { Err(message) }
    }

    const LEAST: &str = "[[webhooks.endpoint]]\nname = \"a\"\nurl = \"http://h/p?q=1\"\nsecret_env = [\"S\"]\n";

    #[test]
    fn an_endpoint_needs_a_name_a_url_and_a_secret() {
        let found = load(LEAST).unwrap();
        let expected = Endpoint {
            name: "a".to_owned(),
            url: "http://h/p?q=1".to_owned(),
            secret_env: vec!["S".to_owned()],
            ..Endpoint::default()
        };
        assert_eq!(found, [expected]);
        for (kind, name) in EventKind::ALL {
            assert_eq!((kind.as_str(), EventKind::find(name)), (name, Some(kind)));
        }
    }

    #[test]
    fn errors_name_their_endpoint() {
        let more = |line: &str| format!("{LEAST}{line}\n");
        let tls = if cfg!(feature = "tls") { "" } else { "; webhooks, endpoint \"a\", url: is an https URL, but" };
        for (text, expected) in [
            ("[webhooks]\nendpoint = 1".to_owned(), "webhooks.endpoint: must be a list of tables"),
            ("[webhooks]\nendpoint = [1]".to_owned(), "webhooks, endpoint 1: must be a table"),
            ("[[webhooks.endpoint]]".to_owned(), "webhooks, endpoint 1, url: is missing"),
            ("[[webhooks.endpoint]]".to_owned(), "endpoint 1, secret_files: is empty, and so is secret_env"),
            ("[[webhooks.endpoint]]\nname = \"a b\"".to_owned(), "endpoint \"a b\", name: invalid name"),
            (LEAST.repeat(2), "endpoint \"a\", name: another endpoint has the same name"),
            (LEAST.replace("http://h", "ftp://h"), "endpoint \"a\", url: must be a URL of the form"),
            (LEAST.replace("http://h", "http://u:p@h"), "without a user"),
            (LEAST.replace("http://h", "https://u@h"), tls),
            (more("events = [\"run.complete\"]"), "did you mean \"run.completed\"?"),
            (more("runners = [\"claude\"]"), "runners: unknown runner \"claude\""),
            (more("time_out_ms = 1"), "time_out_ms: unknown setting of an endpoint \"time_out_ms\""),
            (more("timeout_ms = 1"), "timeout_ms: 1 is out of range: use a whole number from 100 to 600000"),
            (more("labels = { a = 1 }"), "labels: a table is not a table of strings"),
            (more("backoff_min_ms = 20\nbackoff_max_ms = 10"), "backoff_min_ms: 20 is more than backoff_max_ms (10)"),
            (LEAST.repeat(LIST.most + 1), "webhooks.endpoint: has 101 endpoints; the maximum is 100"),
        ] {
            let message = load(&text).unwrap_err();
            assert!(message.contains(expected), "{text:?} should say {expected:?}, but says: {message}");
        }
    }

    #[test]
    fn each_number_is_accepted_at_its_bounds_and_refused_beyond_them() {
        for setting in Endpoint::SETTINGS {
            let Some((least, most)) = setting.range.clone().map(std::ops::RangeInclusive::into_inner) else { continue };
            let key = setting.key;
            // These two settings are also compared with each other.
            let other = match key {
                "backoff_min_ms" => "backoff_max_ms = 86400000",
                "backoff_max_ms" => "backoff_min_ms = 10",
                _ => "",
            };
            let with = |value: i128| load(&format!("{LEAST}{other}\n{key} = {value}"));
            assert!(with(i128::from(least)).is_ok() && with(i128::from(most)).is_ok(), "{key}");
            for beyond in [i128::from(least) - 1, i128::from(most) + 1] {
                let message = with(beyond).unwrap_err();
                assert!(message.contains(&format!("endpoint \"a\", {key}: {beyond} is out of range")), "{message}");
            }
        }
    }
}
