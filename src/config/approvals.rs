//! `[[approvals.rule]]`: the rules that decide a runner's requests without asking a client.
//!
//! Input: the tables of rules in the file. Output: valid rules, in the order of the file, and the policy of the proxy. Never: a
//! rule that is silently left out, or that matches more than intended because one of its keys is unknown.

use super::error::Problem;
use super::lists::{List, read_all};
use super::table::settings;
use super::{Approvals, Unanswered};
use figment::value::Value;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The decision of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The tool may run.
    Allow,
    /// The tool may not run.
    Deny,
    /// The clients are asked.
    Ask,
}

settings! {
    /// One rule. Rules match what the runner sent; an empty setting matches everything.
    pub struct Rule {
        /// Name, for the frames that report decisions of the rule. Empty: its number.
        name: String = String::new();
        /// Upstream whose questions the rule decides. Empty: any.
        upstream: String = String::new();
        /// Regular expression that must match the whole name of the tool. Empty: any tool.
        tool: String = String::new();
        /// Arguments, by name or JSON Pointer, and regular expressions that must match their whole values.
        arguments: BTreeMap<String, String> = BTreeMap::new();
        /// The decision: allow, deny, or ask (the clients decide). Each rule must have one.
        decision: Verdict = Verdict::Ask;
        /// Reason that the runner and its model are given.
        reason: String = String::new();
    }
}

/// The rules in the file. Each is tried for each request.
pub(super) const LIST: List = List {
    section: "approvals",
    key: "rule",
    one: "rule",
    several: "rules",
    most: 1000,
    has_names: false,
    required: &[("decision", "use one of allow, deny, ask")],
};

/// Reads the tables of rules. Adds problems to `problems`; `spell` formats the position of a key.
pub(super) fn read(tables: &Value, spell: &dyn Fn(&str) -> String, problems: &mut Vec<Problem>) -> Vec<Rule> {
    let mut rules: Vec<Rule> = read_all(&LIST, tables, spell, problems, |rule: &Rule, report| {
        if let Err(error) = rule.made() {
            report("", error.to_string());
        }
    });
    for (at, rule) in rules.iter_mut().enumerate().filter(|(_, rule)| rule.name.is_empty()) {
        rule.name = (at + 1).to_string();
    }
    rules
}

impl Rule {
    /// Compiles the rule.
    ///
    /// # Errors
    /// An invalid pattern.
    pub fn made(&self) -> Result<crate::policy::Rule, crate::policy::RuleError> {
        use crate::policy::Verdict as Made;
        let verdict = match self.decision {
            Verdict::Allow => Made::Allow,
            Verdict::Deny => Made::Deny,
            Verdict::Ask => Made::Ask,
        };
        let mut made = crate::policy::Rule::new(&self.name, verdict);
        if !self.upstream.is_empty() {
            made = made.of_upstream(&self.upstream);
        }
        if !self.tool.is_empty() {
            made = made.of_tool(&self.tool)?;
        }
        for (key, pattern) in &self.arguments {
            made = made.where_argument(key, pattern)?;
        }
        Ok(if self.reason.is_empty() { made } else { made.because(&self.reason) })
    }
}

impl Approvals {
    /// Compiles the rules and the other settings.
    ///
    /// # Errors
    /// An invalid pattern.
    pub fn policy(&self) -> Result<crate::policy::Policy, crate::policy::RuleError> {
        Ok(crate::policy::Policy {
            rules: self.rule.iter().map(Rule::made).collect::<Result<_, _>>()?,
            timeout_ms: self.timeout_ms,
            allow_unanswered: self.unanswered == Unanswered::Allow,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use figment::providers::{Format, Toml};
    use figment::value::Dict;

    fn load(text: &str) -> Result<Vec<Rule>, String> {
        let file: Dict = Toml::from_str(text).unwrap();
        let tables = &file["approvals"].as_dict().unwrap()["rule"];
        let mut problems = Vec::new();
        let found = read(tables, &|key| key.to_owned(), &mut problems);
        let message = problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("; ");
        if message.is_empty() { Ok(found) } else { Err(message) }
    }

    #[test]
    fn rules_keep_their_order_and_get_names() {
        let rules = load(
            "[[approvals.rule]]\ndecision = \"deny\"\ntool = \"Bash\"\narguments = { command = \"rm .*\" }\n\
             [[approvals.rule]]\nname = \"rest\"\nupstream = \"claude\"\ndecision = \"ask\"\nreason = \"why not\"",
        )
        .unwrap();
        let names: Vec<(&str, Verdict)> = rules.iter().map(|rule| (rule.name.as_str(), rule.decision)).collect();
        assert_eq!(names, [("1", Verdict::Deny), ("rest", Verdict::Ask)]);
        let approvals = Approvals { rule: rules, unanswered: Unanswered::Allow, ..Approvals::default() };
        let policy = approvals.policy().unwrap();
        let args = framegate_translators::json::to_raw(&serde_json::json!({"command": "rm -rf /"}));
        assert_eq!(policy.rule("codex", "Bash", &args).unwrap().verdict(), crate::policy::Verdict::Deny);
        assert_eq!(policy.rule("claude", "Read", &args).unwrap().reason(), Some("why not"));
        assert!(policy.rule("codex", "Read", &args).is_none());
        assert!(policy.allow_unanswered);
    }

    #[test]
    fn errors_name_their_rule() {
        let many = "[[approvals.rule]]\ndecision = \"ask\"\n".repeat(LIST.most + 1);
        for (text, expected) in [
            ("[approvals]\nrule = 1", "approvals.rule: must be a list of tables"),
            ("[approvals]\nrule = [1]", "approvals, rule 1: must be a table"),
            ("[[approvals.rule]]\nname = \"a\"", "approvals, rule \"a\", decision: is missing"),
            ("[[approvals.rule]]\ndecision = \"alow\"", "did you mean \"allow\"?"),
            ("[[approvals.rule]]\ndecision = \"allow\"\ntools = \"a\"", "did you mean \"tool\"?"),
            ("[[approvals.rule]]\ndecision = \"allow\"\ntool = 1", "tool: 1 is not a string"),
            (
                "[[approvals.rule]]\ndecision = \"allow\"\narguments = { a = 1 }",
                "arguments: a table is not a table of strings",
            ),
            (
                "[[approvals.rule]]\ndecision = \"allow\"\ntool = \"(\"",
                "the pattern of tool is not a valid regular expression",
            ),
            (
                "[[approvals.rule]]\ndecision = \"deny\"\narguments = { path = \"[\" }",
                "the pattern of path is not a valid regular expression",
            ),
            (many.as_str(), "approvals.rule: has 1001 rules; the maximum is 1000"),
        ] {
            let message = load(text).unwrap_err();
            assert!(message.contains(expected), "{text:?} should say {expected:?}, but says: {message}");
        }
        assert_eq!(load(&"[[approvals.rule]]\ndecision = \"ask\"\n".repeat(LIST.most)).unwrap().len(), LIST.most);
    }
}
