//! The rules that decide questions without a person, and the decision if no answer arrives in time.
//!
//! Input: a question of a runner: the upstream, the tool, and the arguments in the runner's spelling. Output: allow, deny, or
//! ask. Never: a rule that matches a part of a name or value when the whole was meant.

use framegate_translators::frame::RawJson;
use framegate_translators::json::Json;
use regex::Regex;
use std::borrow::Cow;

/// Size limit for one compiled pattern, in bytes.
const PATTERN_BYTES: usize = 1 << 20;

/// The decision of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The tool may run.
    Allow,
    /// The tool may not run.
    Deny,
    /// A person is asked.
    Ask,
}

/// One rule. It applies if all its conditions match.
#[derive(Clone, Debug)]
pub struct Rule {
    name: String,
    upstream: Option<String>,
    tool: Option<Regex>,
    arguments: Vec<(String, Regex)>,
    verdict: Verdict,
    reason: Option<String>,
}

/// Why a rule is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the pattern of {of} is not a valid regular expression: {why}")]
pub struct RuleError {
    /// The condition with the pattern: `tool`, or the name of an argument.
    pub of: String,
    /// Why the pattern is invalid.
    pub why: String,
}

impl Rule {
    /// A rule that applies to every question.
    pub fn new(name: impl Into<String>, verdict: Verdict) -> Self {
        Self { name: name.into(), upstream: None, tool: None, arguments: Vec::new(), verdict, reason: None }
    }

    /// Restricts the rule to the questions of one upstream.
    #[must_use]
    pub fn of_upstream(self, upstream: impl Into<String>) -> Self {
        Self { upstream: Some(upstream.into()), ..self }
    }

    /// Restricts the rule to tools whose whole name matches the regular expression.
    ///
    /// # Errors
    /// The regular expression is invalid.
    pub fn of_tool(self, pattern: &str) -> Result<Self, RuleError> {
        Ok(Self { tool: Some(whole("tool", pattern)?), ..self })
    }

    /// Restricts the rule to questions with this argument whose whole value matches the regular expression. A key that begins
    /// with `/` is a JSON Pointer. A value that is not a string is matched as its JSON text.
    ///
    /// # Errors
    /// The regular expression is invalid.
    pub fn where_argument(mut self, key: &str, pattern: &str) -> Result<Self, RuleError> {
        self.arguments.push((key.to_owned(), whole(key, pattern)?));
        Ok(self)
    }

    /// Sets the reason that the runner and the frame receive.
    #[must_use]
    pub fn because(self, reason: impl Into<String>) -> Self {
        Self { reason: Some(reason.into()), ..self }
    }

    /// The name that the frame receives.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The decision.
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// The reason for the decision; `None` if the rule has none.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    fn fits(&self, upstream: &str, tool: &str, args: &RawJson) -> bool {
        self.upstream.as_deref().is_none_or(|name| name == upstream)
            && self.tool.as_ref().is_none_or(|pattern| pattern.is_match(tool))
            && self.arguments.iter().all(|(key, pattern)| argument_fits(args, key, pattern))
    }
}

fn whole(of: &str, pattern: &str) -> Result<Regex, RuleError> {
    // Compile the bare pattern first: a pattern that closes the group would match more than it says.
    let checked = regex::RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).build();
    checked
        .and_then(|_| regex::RegexBuilder::new(&format!("^(?:{pattern})$")).size_limit(PATTERN_BYTES).build())
        .map_err(|error| RuleError { of: of.to_owned(), why: error.to_string() })
}

fn argument_fits(args: &RawJson, key: &str, pattern: &Regex) -> bool {
    let args = Json::new(args);
    let value = match key.strip_prefix('/') {
        None => args.object().and_then(|fields| fields.get(key)),
        Some(pointer) => pointer.split('/').try_fold(args, |value, token| {
            let token = token.replace("~1", "/").replace("~0", "~");
            match value.object() {
                Some(fields) => fields.get(&token),
                None => value.items().get(token.parse::<usize>().ok()?).copied(),
            }
        }),
    };
    value.is_some_and(|value| pattern.is_match(&text_of(value)))
}

fn text_of(value: Json<'_>) -> Cow<'_, str> {
    value.str().unwrap_or_else(|| Cow::Borrowed(value.text()))
}

/// The rules, and what happens if no answer arrives in time.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The rules, in order. The first that applies decides; if none applies, a person is asked.
    pub rules: Vec<Rule>,
    /// How long an answer may take, in milliseconds; 0 if no client can answer.
    pub timeout_ms: u64,
    /// Whether a question is approved if it is not answered in time. A question that asks for a choice or a text never is.
    pub allow_unanswered: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self { rules: Vec::new(), timeout_ms: 10 * 60 * 1000, allow_unanswered: false }
    }
}

impl Policy {
    /// The first rule that applies to a question; `None` if none applies.
    pub fn rule(&self, upstream: &str, tool: &str, args: &RawJson) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.fits(upstream, tool, args))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::json::to_raw;
    use serde_json::json;

    fn verdict(rules: Vec<Rule>, tool: &str, args: &serde_json::Value) -> Option<Verdict> {
        let policy = Policy { rules, ..Policy::default() };
        policy.rule("here", tool, &to_raw(args)).map(Rule::verdict)
    }

    fn reads() -> Result<Rule, RuleError> {
        Rule::new("reads", Verdict::Allow).of_tool("Read|Bash")?.where_argument("command", "git (log|status)")
    }

    #[test]
    fn the_first_rule_that_matches_completely_decides() -> Result<(), RuleError> {
        let rules = || -> Result<Vec<Rule>, RuleError> { Ok(vec![reads()?, Rule::new("rest", Verdict::Deny)]) };
        let of = |tool, args| Ok::<_, RuleError>(verdict(rules()?, tool, &args));
        assert_eq!(of("Bash", json!({"command": "git log"}))?, Some(Verdict::Allow));
        for (tool, args) in [
            ("Bash", json!({"command": "git log; rm -rf /"})),
            ("Bash", json!({"command": "git log\nrm -rf /"})),
            ("Bash", json!({"command": "git log\n"})),
            ("Bash", json!({"other": "git log"})),
            ("Bash", json!({"command": ["git log"]})),
            ("Bash", json!("git log")),
            ("BashOutput", json!({"command": "git log"})),
            ("bash", json!({"command": "git log"})),
        ] {
            assert_eq!(of(tool, args.clone())?, Some(Verdict::Deny), "{tool} {args}");
        }
        assert_eq!(verdict(vec![reads()?], "Write", &json!({})), None);
        Ok(())
    }

    #[test]
    fn pointers_reach_nested_values_and_other_values_are_matched_as_json() -> Result<(), RuleError> {
        let deep = Rule::new("deep", Verdict::Deny).where_argument("/changes/0/a~1b", "x.*")?;
        let number = Rule::new("number", Verdict::Allow).where_argument("depth", "[0-3]")?;
        let rules = || vec![deep.clone(), number.clone()];
        assert_eq!(verdict(rules(), "t", &json!({"changes": [{"a/b": "xyz"}]})), Some(Verdict::Deny));
        assert_eq!(verdict(rules(), "t", &json!({"changes": []})), None);
        assert_eq!(verdict(rules(), "t", &json!({"depth": 2})), Some(Verdict::Allow));
        assert_eq!(verdict(rules(), "t", &json!({"depth": 22})), None);
        Ok(())
    }

    #[test]
    fn a_rule_for_another_upstream_does_not_apply() {
        let rules = vec![Rule::new("there", Verdict::Allow).of_upstream("there")];
        assert_eq!(verdict(rules, "t", &json!({})), None);
        assert_eq!(
            verdict(vec![Rule::new("here", Verdict::Ask).of_upstream("here")], "t", &json!({})),
            Some(Verdict::Ask)
        );
    }

    #[test]
    fn an_invalid_pattern_is_an_error() {
        let error = Rule::new("bad", Verdict::Allow).of_tool("(").expect_err("an invalid pattern must be refused");
        assert_eq!(error.of, "tool");
        // Closing the group around the pattern must not make it match a part.
        assert!(Rule::new("bad", Verdict::Allow).of_tool("a)|(?:b").is_err());
    }
}
