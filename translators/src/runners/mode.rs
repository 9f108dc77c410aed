//! The modes in which a runner can work, such as one that only plans.
//!
//! Input: none; each runner declares its modes. Output: their names, and how much a runner does in each of them without a question. Never: a
//! decision about who may choose which mode, which belongs to the host.

/// The modes of a runner.
#[derive(Clone, Copy, Debug)]
pub struct Modes {
    /// The modes that it always has, the usual one first. Empty: it has no modes.
    pub known: &'static [Mode],
    /// Whether its users can define further modes, so that a name that is not known may still be one.
    pub users_define: bool,
}

/// A mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mode {
    /// The name by which requests choose it: the runner's own, if it has one.
    pub name: &'static str,
    /// A title for users.
    pub title: &'static str,
    /// What the runner does in this mode, for users.
    pub about: &'static str,
    /// How much it does without a question.
    pub freedom: Freedom,
}

/// What a runner does in a mode without a question, beyond what it does as it is installed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Freedom {
    /// Nothing more, perhaps less.
    #[default]
    Usual,
    /// It also changes files where it works, and perhaps runs commands that can change nothing else.
    Edits,
    /// It also runs any command. No question protects the machine.
    Acts,
}

impl Modes {
    /// No modes.
    pub const NONE: Self = Self { known: &[], users_define: false };

    /// The known mode of that name.
    pub fn find(self, name: &str) -> Option<&'static Mode> {
        self.known.iter().find(|mode| mode.name == name)
    }

    /// The modes with at most this freedom.
    pub fn up_to(self, most: Freedom) -> impl Iterator<Item = &'static Mode> {
        self.known.iter().filter(move |mode| mode.freedom <= most)
    }
}

#[cfg(test)]
mod tests {
    use super::Freedom;
    use crate::runners::RUNNERS;
    use std::collections::HashSet;

    #[test]
    fn the_modes_of_a_runner_have_names_of_one_word_and_the_usual_one_is_first() {
        for runner in RUNNERS {
            let mut names = HashSet::new();
            for mode in runner.modes.known {
                assert!(names.insert(mode.name), "{runner:?} has two modes {}", mode.name);
                assert!(
                    !mode.name.is_empty()
                        && mode.name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
                );
                assert!(!mode.title.is_empty() && mode.about.ends_with('.'), "{mode:?}");
            }
            let first = runner.modes.known.first().map_or(Freedom::Usual, |mode| mode.freedom);
            assert_eq!(first, Freedom::Usual, "{runner:?}");
            assert_eq!(runner.modes.up_to(Freedom::Acts).count(), runner.modes.known.len());
        }
    }
}
