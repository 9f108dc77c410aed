//! The runners whose output is understood: one folder and one line of [`RUNNERS`] each.

use crate::decode::Decoder;

pub mod claude_code;
pub mod codex;

/// One runner.
pub struct Runner {
    /// The name on the command line and in paths.
    pub name: &'static str,
    /// The `provider` of its frames.
    pub provider: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// What its output comes as: surface by surface.
    pub surfaces: &'static [Surface],
    /// Makes a decoder at the start of an input.
    pub decoder: fn() -> Box<dyn Decoder>,
}

/// One form in which a runner's output comes.
pub struct Surface {
    /// Its name.
    pub name: &'static str,
    /// The command or file that gives it.
    pub source: &'static str,
}

/// Every runner, in the order of `--help` and of the documentation.
pub const RUNNERS: &[Runner] = &[claude_code::RUNNER, codex::RUNNER];

/// The runner of that name.
pub fn runner(name: &str) -> Option<&'static Runner> {
    RUNNERS.iter().find(|runner| runner.name == name)
}
