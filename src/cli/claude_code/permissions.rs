//! Who answers the upstream's questions.
//!
//! Input: the permission flags, and a question's tool. Output: the answer, or who gives it. Never: an approval that no flag and no client
//! gave; a rule that is applied to more than it names.

use std::collections::BTreeSet;

/// A permission mode of Claude Code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    /// Questions are asked.
    #[default]
    Default,
    /// The same here, because a question does not say whether it is about an edit.
    AcceptEdits,
    /// The same here, because there is no classifier.
    Auto,
    /// Questions are denied.
    DontAsk,
    /// Questions are approved.
    BypassPermissions,
}

impl Mode {
    /// Reads the name of a mode.
    ///
    /// # Errors
    /// The name is unknown, or the mode cannot be kept.
    pub(super) fn read(name: &str) -> Result<Self, String> {
        match name {
            "default" | "manual" => Ok(Self::Default),
            "acceptEdits" => Ok(Self::AcceptEdits),
            "auto" => Ok(Self::Auto),
            "dontAsk" => Ok(Self::DontAsk),
            "bypassPermissions" => Ok(Self::BypassPermissions),
            "plan" => {
                Err("the permission mode plan is not supported: the upstream would not keep from changes".to_owned())
            }
            _ => Err(format!(
                "unknown permission mode {name:?}: use acceptEdits, auto, bypassPermissions, default, dontAsk or manual"
            )),
        }
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Auto => "auto",
            Self::DontAsk => "dontAsk",
            Self::BypassPermissions => "bypassPermissions",
        }
    }

    /// What the mode leaves out; `None` for a mode that is as in Claude Code.
    pub(super) fn caveat(self) -> Option<&'static str> {
        match self {
            Self::AcceptEdits => {
                Some("the permission mode acceptEdits is treated as default: edits are asked about too")
            }
            Self::Auto => Some("the permission mode auto is treated as default: there is no classifier"),
            Self::Default | Self::DontAsk | Self::BypassPermissions => None,
        }
    }
}

/// Who is there to answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Answerer {
    /// The client, over the control protocol.
    Client,
    /// Other clients of the proxy.
    Others,
    #[default]
    None,
}

/// What becomes of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is approved.
    Approve,
    /// It is denied, for this reason.
    Deny(&'static str),
    /// The client is asked.
    Ask,
    /// Other clients of the proxy see it too, and answer.
    Leave,
}

/// The permissions of the conversation.
#[derive(Clone, Debug, Default)]
pub(super) struct Permissions {
    pub(super) mode: Mode,
    /// Whether the client may switch to [`Mode::BypassPermissions`].
    pub(super) may_bypass: bool,
    pub(super) answerer: Answerer,
    /// Tools that need no question.
    pub(super) allowed: BTreeSet<String>,
}

impl Permissions {
    /// Decides about a question. `wants_answers`: it asks the user for a choice or a text.
    pub(super) fn verdict(&self, tool: &str, wants_answers: bool) -> Verdict {
        match self.mode {
            _ if wants_answers => {}
            Mode::BypassPermissions => return Verdict::Approve,
            _ if self.allowed.contains(tool) => return Verdict::Approve,
            _ => {}
        }
        match self.answerer {
            _ if self.mode == Mode::DontAsk => Verdict::Deny("the permission mode dontAsk denies what is not allowed"),
            Answerer::Client => Verdict::Ask,
            Answerer::Others => Verdict::Leave,
            Answerer::None => Verdict::Deny("no user can answer: the client has no permission prompt"),
        }
    }

    /// Allows the tools of `--allowedTools`. Returns the rules that cannot be kept, because they are about more than a tool's name.
    pub(super) fn allow(&mut self, lists: &[String]) -> Vec<String> {
        let (rules, names): (Vec<String>, _) =
            lists.iter().flat_map(|list| split(list)).partition(|rule| rule.contains(['(', '*']));
        self.allowed.extend(names);
        rules
    }
}

/// The rules of a list. They are separated by commas or spaces, except within parentheses.
fn split(list: &str) -> Vec<String> {
    let (mut depth, mut rules) = (0_usize, vec![String::new()]);
    for letter in list.chars() {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (letter == ',' || letter.is_whitespace()) {
            rules.push(String::new());
        } else if let Some(rule) = rules.last_mut() {
            rule.push(letter);
        }
    }
    rules.retain(|rule| !rule.is_empty());
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_answered_as_the_mode_says() {
        let denied = |verdict| matches!(verdict, Verdict::Deny(_));
        let mut permissions = Permissions { answerer: Answerer::Client, ..Permissions::default() };
        assert_eq!(permissions.allow(&["bash,Read".to_owned(), "Bash(git log:*, x) mcp__a__*".to_owned()]).len(), 2);
        assert_eq!(permissions.verdict("bash", false), Verdict::Approve);
        assert_eq!(permissions.verdict("Bash", false), Verdict::Ask);
        assert_eq!(permissions.verdict("bash", true), Verdict::Ask, "a choice is no permission");
        permissions.mode = Mode::DontAsk;
        assert_eq!(permissions.verdict("bash", false), Verdict::Approve);
        assert!(denied(permissions.verdict("Bash", false)) && denied(permissions.verdict("bash", true)));
        permissions.mode = Mode::BypassPermissions;
        assert_eq!(permissions.verdict("Bash", false), Verdict::Approve);
        assert_eq!(permissions.verdict("Bash", true), Verdict::Ask);
        permissions.answerer = Answerer::None;
        assert!(denied(permissions.verdict("Bash", true)));
        permissions.mode = Mode::Default;
        assert!(denied(permissions.verdict("Bash", false)));
        permissions.answerer = Answerer::Others;
        assert_eq!(permissions.verdict("Bash", false), Verdict::Leave);
    }

    #[test]
    fn a_mode_that_cannot_be_kept_is_refused() {
        for name in ["default", "acceptEdits", "auto", "dontAsk", "bypassPermissions"] {
            assert_eq!(Mode::read(name).unwrap().name(), name);
        }
        assert_eq!(Mode::read("manual"), Ok(Mode::Default));
        assert!(Mode::read("plan").unwrap_err().contains("not supported"));
        assert!(Mode::read("PLAN").unwrap_err().contains("unknown"));
    }
}
