//! The modes of its runner that requests to an upstream may choose.
//!
//! Input: the settings `modes` and `mode`, the kind of the upstream and its runner. Output: names that the runner can be started with, or why the
//! upstream can have no modes. Never: a mode that the settings do not name.

use super::{Kind, Upstream};
use crate::config::error::unknown;
use framegate_translators::runners::{Freedom, runner};

/// The modes of an upstream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Modes {
    /// The modes that requests may choose. Empty: none.
    pub names: Vec<String>,
    /// The mode of requests that choose none; `None` for the choice of the runner.
    pub default: Option<String>,
}

/// The placeholder for a mode in the arguments of an upstream without a preset.
const PLACEHOLDER: &str = "{mode}";

impl Upstream {
    /// Lets requests choose these modes too. For the upstream of a program that serves only the user who started it.
    ///
    /// # Errors
    /// The upstream cannot have one of them.
    pub fn offer(&mut self, names: &[String]) -> Result<(), String> {
        for name in names {
            check_name(self, name)?;
        }
        check_support(self)?;
        let new = names.iter().filter(|name| !self.modes.names.contains(name)).cloned().collect::<Vec<_>>();
        self.modes.names.extend(new);
        Ok(())
    }

    /// The modes of its runner with at most this freedom; none if the upstream can have no modes.
    pub fn modes_up_to(&self, most: Freedom) -> Vec<String> {
        let modes = runner(&self.runner).filter(|_| check_support(self).is_ok()).map(|runner| runner.modes);
        let names = modes.into_iter().flat_map(|modes| modes.up_to(most).map(|mode| mode.name.to_owned()));
        names.filter(|name| check_name(self, name).is_ok()).collect()
    }
}

/// Checks the settings of an upstream.
pub(super) fn check(upstream: &Upstream, report: &mut dyn FnMut(&str, String)) {
    let Modes { names, default } = &upstream.modes;
    for (key, name) in names.iter().map(|name| ("modes", name)).chain(default.iter().map(|name| ("mode", name))) {
        if let Err(message) = check_support(upstream).and_then(|()| check_name(upstream, name)) {
            return report(key, message);
        }
    }
    let repeated = names.iter().enumerate().find(|(at, name)| names.iter().take(*at).any(|other| other == *name));
    if let Some((_, name)) = repeated {
        report("modes", format!("{name:?} is listed twice"));
    }
}

/// Whether an upstream can have modes.
fn check_support(upstream: &Upstream) -> Result<(), String> {
    let Kind::Command(command) = &upstream.kind else {
        return match &upstream.kind {
            Kind::Sse(_) => Ok(()),
            Kind::Responses(_) | Kind::Command(_) => Err("an upstream of this kind has no modes".to_owned()),
        };
    };
    let Some(preset) = command.preset.built_in() else {
        // The protocol chooses the mode.
        if command.agent.is_some() {
            return Ok(());
        }
        let has_place = |arguments: &[String]| arguments.iter().any(|argument| argument.contains(PLACEHOLDER));
        let resumes = command.resume_arguments.is_empty() || has_place(&command.resume_arguments);
        return match has_place(&command.arguments) && resumes {
            true => Ok(()),
            false => Err(format!("without a preset, the arguments must contain {PLACEHOLDER}, which becomes the mode")),
        };
    };
    match preset.mode_option(&command.arguments) {
        Some(option) => Err(format!("the arguments choose a mode with {option}: remove it to let requests choose")),
        None => Ok(()),
    }
}

fn check_name(upstream: &Upstream, name: &str) -> Result<(), String> {
    if !is_word(name) {
        let shown: String = name.chars().take(64).collect();
        return Err(format!("invalid mode {shown:?}: use at most 64 letters, digits, \"-\", \"_\" and \".\""));
    }
    // Without a preset, the settings say what the program is started with.
    let is_free = matches!(&upstream.kind, Kind::Command(command) if command.preset.is_none());
    let modes = runner(&upstream.runner).map(|runner| runner.modes).filter(|_| !is_free);
    match modes {
        Some(modes) if modes.known.is_empty() && !modes.users_define => {
            Err(format!("the runner {} has no modes", upstream.runner))
        }
        Some(modes) if modes.find(name).is_none() && !modes.users_define => {
            let known = modes.known.iter().map(|mode| mode.name);
            Err(unknown(&format!("mode of the runner {}", upstream.runner), name, known))
        }
        _ => Ok(()),
    }
}

/// Whether a name is a single word that no program reads as an option.
fn is_word(name: &str) -> bool {
    super::is_name(name) && !name.starts_with('-')
}
