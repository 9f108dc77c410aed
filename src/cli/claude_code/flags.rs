//! The flags of `claude`, and what becomes of each.
//!
//! Input: arguments. Output: the flags with their values, and the prompt. Never: a flag that is ignored although the outcome depends on it;
//! an unknown flag that is passed over.

use crate::suggest;

/// A flag.
#[derive(Debug)]
pub(super) struct Flag {
    /// Its names; the first one is how messages name it.
    pub(super) names: &'static [&'static str],
    takes: Takes,
    pub(super) effect: Effect,
}

/// The values that belong to a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Nothing,
    One,
    /// One, unless the next argument is another flag.
    Perhaps,
    /// One at least, up to the next flag.
    Several,
}

/// What a flag does here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// What it does in Claude Code.
    Works,
    /// Nothing, and nothing is missed.
    Nothing,
    /// Nothing; standard error says so.
    Ignored,
    /// The command ends with an error that names the reason, because the outcome would differ.
    Refused(&'static str),
}

const fn flag(names: &'static [&'static str], takes: Takes, effect: Effect) -> Flag {
    Flag { names, takes, effect }
}

/// Only the proxy's configuration, the upstream's own settings or the prompt can have this effect.
const OWN: &str = "configure the upstream itself instead";

/// The flags, in the order of the documentation.
pub(super) const FLAGS: &[Flag] = &[
    flag(&["--print", "-p"], Takes::Nothing, Effect::Works),
    flag(&["--output-format"], Takes::One, Effect::Works),
    flag(&["--input-format"], Takes::One, Effect::Works),
    flag(&["--verbose"], Takes::Nothing, Effect::Works),
    flag(&["--include-partial-messages"], Takes::Nothing, Effect::Works),
    flag(&["--replay-user-messages"], Takes::Nothing, Effect::Works),
    flag(&["--model"], Takes::One, Effect::Works),
    flag(&["--resume", "-r"], Takes::Perhaps, Effect::Works),
    flag(&["--continue", "-c"], Takes::Nothing, Effect::Works),
    flag(&["--session-id"], Takes::One, Effect::Works),
    flag(&["--no-session-persistence"], Takes::Nothing, Effect::Works),
    flag(&["--permission-mode"], Takes::One, Effect::Works),
    flag(&["--permission-prompt-tool"], Takes::One, Effect::Works),
    flag(&["--permission-prompts"], Takes::One, Effect::Works),
    flag(&["--dangerously-skip-permissions"], Takes::Nothing, Effect::Works),
    flag(&["--allow-dangerously-skip-permissions"], Takes::Nothing, Effect::Works),
    flag(&["--allowedTools", "--allowed-tools"], Takes::Several, Effect::Works),
    flag(&["--max-turns"], Takes::One, Effect::Works),
    flag(&["--system-prompt"], Takes::One, Effect::Works),
    flag(&["--system-prompt-file"], Takes::One, Effect::Works),
    flag(&["--append-system-prompt"], Takes::One, Effect::Works),
    flag(&["--append-system-prompt-file"], Takes::One, Effect::Works),
    flag(&["--version", "-v"], Takes::Nothing, Effect::Works),
    // With these, nothing is left out that this command could have.
    flag(&["--setting-sources"], Takes::One, Effect::Nothing),
    flag(&["--strict-mcp-config"], Takes::Nothing, Effect::Nothing),
    flag(&["--await-initialize"], Takes::Nothing, Effect::Nothing),
    flag(&["--initialize-fields"], Takes::One, Effect::Nothing),
    flag(&["--managed-settings-in-initialize"], Takes::Nothing, Effect::Nothing),
    flag(&["--forward-subagent-text"], Takes::Nothing, Effect::Nothing),
    flag(&["--system-prompt-snapshot"], Takes::One, Effect::Nothing),
    flag(&["--exclude-dynamic-system-prompt-sections"], Takes::Nothing, Effect::Nothing),
    flag(&["--debug", "-d"], Takes::Perhaps, Effect::Nothing),
    flag(&["--debug-file"], Takes::One, Effect::Nothing),
    flag(&["--debug-to-stderr"], Takes::Nothing, Effect::Nothing),
    flag(&["--no-chrome"], Takes::Nothing, Effect::Nothing),
    flag(&["--ide"], Takes::Nothing, Effect::Nothing),
    flag(&["--name", "-n"], Takes::One, Effect::Nothing),
    flag(&["--add-dir"], Takes::Several, Effect::Ignored),
    flag(&["--fallback-model"], Takes::One, Effect::Ignored),
    flag(&["--effort"], Takes::One, Effect::Ignored),
    flag(&["--thinking"], Takes::One, Effect::Ignored),
    flag(&["--thinking-display"], Takes::One, Effect::Ignored),
    flag(&["--max-thinking-tokens"], Takes::One, Effect::Ignored),
    flag(&["--task-budget"], Takes::One, Effect::Ignored),
    flag(&["--autocompact"], Takes::One, Effect::Ignored),
    flag(&["--betas"], Takes::Several, Effect::Ignored),
    flag(&["--include-hook-events"], Takes::Nothing, Effect::Ignored),
    flag(&["--prompt-suggestions"], Takes::Perhaps, Effect::Ignored),
    flag(&["--project-config-root"], Takes::One, Effect::Ignored),
    // Whether these are refused depends on their value.
    flag(&["--tools"], Takes::Several, Effect::Works),
    flag(&["--mcp-config"], Takes::Several, Effect::Works),
    flag(&["--settings"], Takes::One, Effect::Works),
    flag(
        &["--disallowedTools", "--disallowed-tools"],
        Takes::Several,
        Effect::Refused("the upstream would run these tools all the same if it does not ask before"),
    ),
    flag(&["--max-budget-usd"], Takes::One, Effect::Refused("the cost of a run is known at its end only")),
    flag(&["--json-schema"], Takes::One, Effect::Refused("the upstream writes text")),
    flag(&["--fork-session"], Takes::Nothing, Effect::Refused("a session cannot be copied")),
    flag(&["--resume-session-at"], Takes::One, Effect::Refused("a session continues at its end")),
    flag(&["--resume-drops-turn"], Takes::One, Effect::Refused("a session continues at its end")),
    flag(&["--session-mirror"], Takes::Nothing, Effect::Refused("there are no transcripts of Claude Code")),
    flag(&["--managed-settings"], Takes::One, Effect::Refused(OWN)),
    flag(&["--agent"], Takes::One, Effect::Refused(OWN)),
    flag(&["--agents"], Takes::One, Effect::Refused(OWN)),
    flag(&["--plugin-dir"], Takes::One, Effect::Refused(OWN)),
    flag(&["--plugin-dir-no-mcp"], Takes::One, Effect::Refused(OWN)),
    flag(&["--plugin-url"], Takes::One, Effect::Refused(OWN)),
    flag(&["--restricted"], Takes::Nothing, Effect::Refused(OWN)),
    flag(&["--safe-mode"], Takes::Nothing, Effect::Refused(OWN)),
    flag(&["--bare"], Takes::Nothing, Effect::Refused(OWN)),
    flag(&["--disable-slash-commands"], Takes::Nothing, Effect::Refused(OWN)),
    flag(&["--file"], Takes::Several, Effect::Refused("prompts are text")),
    flag(&["--channels"], Takes::One, Effect::Refused(OWN)),
    flag(
        &["--worktree", "-w"],
        Takes::Perhaps,
        Effect::Refused("create the worktree before, and run the command in it"),
    ),
];

/// The arguments as flags.
#[derive(Debug, Default)]
pub(super) struct Given {
    flags: Vec<(&'static Flag, Vec<String>)>,
    /// The arguments that belong to no flag.
    pub(super) words: Vec<String>,
}

impl Given {
    /// Reads arguments.
    ///
    /// # Errors
    /// A flag is unknown, or lacks its value, or has one too many; the message names it.
    pub(super) fn read(arguments: &[String]) -> Result<Self, String> {
        let mut given = Self::default();
        let mut rest = arguments.iter().peekable();
        let is_flag = |text: &str| text.len() > 1 && text.starts_with('-');
        while let Some(argument) = rest.next() {
            if argument == "--" {
                given.words.extend(rest.by_ref().cloned());
                break;
            }
            if !is_flag(argument) {
                given.words.push(argument.clone());
                continue;
            }
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (argument.as_str(), None),
            };
            let flag = find(name)?;
            let mut values: Vec<String> = value.into_iter().collect();
            match flag.takes {
                Takes::Nothing if !values.is_empty() => return Err(format!("option '{name}' takes no value")),
                Takes::Nothing => {}
                Takes::One if values.is_empty() => values.extend(rest.next().cloned()),
                Takes::Perhaps if values.is_empty() => values.extend(rest.next_if(|next| !is_flag(next)).cloned()),
                Takes::Several if values.is_empty() => {
                    values.extend(rest.next().cloned());
                    while let Some(next) = rest.next_if(|next| !is_flag(next)) {
                        values.push(next.clone());
                    }
                }
                Takes::One | Takes::Perhaps | Takes::Several => {}
            }
            if values.is_empty() && matches!(flag.takes, Takes::One | Takes::Several) {
                return Err(format!("option '{name}' argument missing"));
            }
            given.flags.push((flag, values));
        }
        Ok(given)
    }

    /// Whether a flag was given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.flags.iter().any(|(flag, _)| flag.names.contains(&name))
    }

    /// The value of a flag, the last one if it was given several times.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        let mut given = self.flags.iter().rev().filter(|(flag, _)| flag.names.contains(&name));
        given.find_map(|(_, values)| values.last()).map(String::as_str)
    }

    /// All values of a flag; `None` if it was not given.
    pub(super) fn values(&self, name: &str) -> Option<Vec<String>> {
        let mut given = self.flags.iter().filter(|(flag, _)| flag.names.contains(&name)).peekable();
        given.peek()?;
        Some(given.flat_map(|(_, values)| values.clone()).collect())
    }

    /// The flags that were given, with their values.
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static Flag, &[String])> {
        self.flags.iter().map(|(flag, values)| (*flag, values.as_slice()))
    }
}

/// The flag of that name.
fn find(name: &str) -> Result<&'static Flag, String> {
    FLAGS.iter().find(|flag| flag.names.contains(&name)).ok_or_else(|| {
        let known = FLAGS.iter().flat_map(|flag| flag.names).copied();
        let hint = suggest::nearest(name, known).map(|like| format!(" (Did you mean {like}?)")).unwrap_or_default();
        format!("unknown option '{name}'{hint}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &[&str]) -> Result<Given, String> {
        Given::read(&arguments.iter().map(|argument| (*argument).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn flags_and_words_are_told_apart() {
        let given =
            read(&["-p", "--model=a", "--allowedTools", "Bash", "Read", "--resume", "--verbose", "hi"]).unwrap();
        assert_eq!((given.value("--model"), given.words.as_slice()), (Some("a"), &["hi".to_owned()][..]));
        assert_eq!(given.values("--allowedTools").unwrap(), ["Bash", "Read"]);
        assert!(given.has("--print") && given.has("-p") && given.has("--resume") && !given.has("--continue"));
        assert_eq!(given.value("--resume"), None);
        // A value may begin with a dash, and the last one counts.
        let given = read(&["--system-prompt", "- be brief", "--system-prompt=", "--", "-p"]).unwrap();
        assert_eq!((given.value("--system-prompt"), given.words.as_slice()), (Some(""), &["-p".to_owned()][..]));
        assert_eq!(read(&["-r", "x", "-"]).unwrap().words, ["-"]);
    }

    #[test]
    fn wrong_arguments_are_named() {
        for (arguments, expected) in [
            (&["--modle", "x"][..], "unknown option '--modle' (Did you mean --model?)"),
            (&["-x"], "unknown option '-x'"),
            (&["--model"], "option '--model' argument missing"),
            (&["--allowedTools"], "option '--allowedTools' argument missing"),
            (&["--print=yes"], "option '--print' takes no value"),
        ] {
            assert_eq!(read(arguments).unwrap_err().split(" (").next(), expected.split(" (").next(), "{arguments:?}");
        }
        assert!(read(&["--modle"]).unwrap_err().contains("--model"));
    }

    #[test]
    fn no_name_is_there_twice() {
        let mut names: Vec<&str> = FLAGS.iter().flat_map(|flag| flag.names).copied().collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    /// The documentation lists each flag where it belongs.
    #[test]
    fn every_flag_is_documented() {
        let page = include_str!("../../../docs/claude-compat.md");
        let rows: Vec<&str> = page.lines().filter(|line| line.starts_with("| `-")).collect();
        for flag in FLAGS {
            let row = rows.iter().find(|row| flag.names.iter().all(|name| row.contains(&format!("`{name}`"))));
            let row = row.unwrap_or_else(|| panic!("docs/claude-compat.md has no row with {:?}", flag.names));
            let expected = match flag.effect {
                Effect::Works => "",
                Effect::Nothing => "| no effect",
                Effect::Ignored => "| ignored",
                Effect::Refused(_) => "| refused",
            };
            assert!(row.contains(expected), "{row} should have {expected:?}");
        }
    }
}
