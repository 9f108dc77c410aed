//! The runners whose output is understood: one folder and one line of [`RUNNERS`] each.

use crate::decode::{Decoder, Record};
use crate::host::Dialogue;
use crate::redact::Pieces;
use crate::schema::SchemaFile;
use std::borrow::Cow;

pub mod claude_code;
pub mod codex;
mod elicitation;
mod names;
pub mod open_responses;
pub mod opencode;

/// One runner.
pub struct Runner {
    /// The name on the command line and in paths.
    pub name: &'static str,
    /// The `provider` of its frames.
    pub provider: &'static str,
    /// One line for people.
    pub about: &'static str,
    /// Whether its output is a standard's that anyone may extend. The schemas then say nothing of other fields, which are no
    /// fault; but they are drift.
    pub extensible: bool,
    /// What its output comes as: surface by surface.
    pub surfaces: &'static [Surface],
    /// Where its records carry pieces of longer texts.
    pub pieces: &'static [Pieces],
    /// Makes a decoder at the start of an input.
    pub decoder: fn() -> Box<dyn Decoder>,
    /// Makes what speaks to it, where it takes input; `None` where it takes none but its prompt.
    pub dialogue: Option<fn() -> Box<dyn Dialogue>>,
}

/// One form in which a runner's output comes.
pub struct Surface {
    /// Its name.
    pub name: &'static str,
    /// The command or file that gives it.
    pub source: &'static str,
    /// Says why a record must be of this surface; `None` where it may be of another one, or of none.
    pub recognise: fn(&Record<'_>) -> Option<&'static str>,
    /// The kind of a record of this surface, which is the name of its schema: `assistant`, `system.init`, …; `None` where
    /// the record says no type.
    pub kind_of: for<'r> fn(&'r Record<'_>) -> Option<Cow<'r, str>>,
    /// What is known of the surface's records: one schema for each kind.
    pub schemas: &'static [SchemaFile],
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Every runner, in the order of `--help` and of the documentation.
pub const RUNNERS: &[Runner] = &[claude_code::RUNNER, codex::RUNNER, opencode::RUNNER, open_responses::RUNNER];

/// The runner of that name.
pub fn runner(name: &str) -> Option<&'static Runner> {
    RUNNERS.iter().find(|runner| runner.name == name)
}
