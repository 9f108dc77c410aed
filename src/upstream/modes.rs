//! The modes that requests to an upstream may choose.
//!
//! Input: the settings of the upstream, and its runner's description of its modes. Output: the mode of a request, or why it is refused. Never: a mode
//! that the settings do not permit.

use super::StartError;
use crate::config::upstream::Modes as Configured;
use framegate_translators::runners::Runner;
use serde::Serialize;

/// The modes of an upstream.
#[derive(Clone, Debug, Default)]
pub struct Modes {
    offered: Vec<Mode>,
    default: Option<String>,
}

/// A mode that requests may choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Mode {
    /// The name by which requests choose it.
    pub name: String,
    /// A title for users.
    pub title: String,
    /// What the runner does in this mode; absent if that is not known, because the runner's users define the mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<&'static str>,
}

/// No modes.
static NONE: Modes = Modes { offered: Vec::new(), default: None };

impl Modes {
    /// The modes in the settings of an upstream with this runner.
    pub fn new(configured: &Configured, runner: &Runner) -> Self {
        let mode = |name: &String| match runner.modes.find(name) {
            Some(known) => Mode { name: name.clone(), title: known.title.to_owned(), about: Some(known.about) },
            None => Mode { name: name.clone(), title: name.clone(), about: None },
        };
        let Configured { names, default } = configured;
        // A request may also name the mode that it gets anyway.
        let unlisted = default.iter().filter(|default| !names.contains(default));
        Self { offered: unlisted.chain(names).map(mode).collect(), default: default.clone() }
    }

    /// No modes.
    pub fn none() -> &'static Self {
        &NONE
    }

    /// The modes that requests may choose.
    pub fn offered(&self) -> &[Mode] {
        &self.offered
    }

    /// The mode of requests that choose none; `None` for the choice of the runner.
    pub fn default_name(&self) -> Option<&str> {
        self.default.as_deref()
    }

    /// The mode of a request.
    ///
    /// # Errors
    /// The request may not choose it.
    pub fn choose(&self, asked: Option<String>) -> Result<Option<String>, StartError> {
        let Some(asked) = asked else { return Ok(self.default.clone()) };
        if self.offered.iter().any(|mode| mode.name == asked) {
            return Ok(Some(asked));
        }
        let asked: String = asked.chars().take(64).collect();
        Err(StartError::Refused(if self.offered.is_empty() {
            format!("the mode {asked:?} cannot be chosen: requests to this upstream choose no modes (upstream.modes)")
        } else {
            let names: Vec<&str> = self.offered.iter().map(|mode| mode.name.as_str()).collect();
            format!("this upstream does not offer the mode {asked:?}: it offers {} (upstream.modes)", names.join(", "))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use framegate_translators::runners::runner;

    fn modes(names: &[&str], default: Option<&str>) -> Modes {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        Modes::new(&Configured { names, default: default.map(str::to_owned) }, runner("claude-code").unwrap())
    }

    #[test]
    fn a_request_gets_a_mode_that_the_settings_list_or_the_default() {
        let both = modes(&["plan", "own"], Some("default"));
        let names: Vec<&str> = both.offered().iter().map(|mode| mode.name.as_str()).collect();
        assert_eq!(names, ["default", "plan", "own"]);
        assert!(
            both.offered()[1].about.is_some()
                && both.offered()[2] == Mode { name: "own".into(), title: "own".into(), about: None }
        );
        assert_eq!(both.choose(None).unwrap().as_deref(), Some("default"));
        assert_eq!(both.choose(Some("plan".into())).unwrap().as_deref(), Some("plan"));
        let refused = both.choose(Some("bypassPermissions".into())).unwrap_err().to_string();
        assert!(
            refused.contains("bypassPermissions") && refused.contains("plan") && refused.contains("upstream.modes"),
            "{refused}"
        );
        let refused = Modes::none().choose(Some("plan".into())).unwrap_err().to_string();
        assert!(refused.contains("choose no modes"), "{refused}");
        assert_eq!(modes(&["plan"], None).choose(None).unwrap(), None);
    }
}
