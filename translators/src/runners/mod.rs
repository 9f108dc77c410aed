//! The supported runners: one folder and one entry of [`RUNNERS`] each.

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
mod stops;

/// One runner.
pub struct Runner {
    /// The name, as used on the command line and in paths.
    pub name: &'static str,
    /// The `provider` value in its frames.
    pub provider: &'static str,
    /// A one-line description for users.
    pub about: &'static str,
    /// Whether the output follows a public standard that permits extensions. If so, the schemas permit unknown fields: they are
    /// no violation, but still reported as drift.
    pub extensible: bool,
    /// The forms in which its output can arrive.
    pub surfaces: &'static [Surface],
    /// Which record fields carry pieces of longer texts.
    pub pieces: &'static [Pieces],
    /// Reads the timestamp of a record, in Unix epoch milliseconds. An input that was recorded earlier starts at the first
    /// timestamp found in it.
    pub time: fn(&Record<'_>) -> Option<u64>,
    /// Creates a decoder for one input.
    pub decoder: fn() -> Box<dyn Decoder>,
    /// Creates the dialogue that sends input to the runner; `None` if the runner accepts nothing but its prompt.
    pub dialogue: Option<fn() -> Box<dyn Dialogue>>,
}

/// One form in which a runner's output can arrive.
pub struct Surface {
    /// Its name.
    pub name: &'static str,
    /// The command or file that produces it.
    pub source: &'static str,
    /// Returns the reason why a record must belong to this surface; `None` if it may belong to another surface or to none.
    pub recognise: fn(&Record<'_>) -> Option<&'static str>,
    /// The kind of a record, which is also the name of its schema: `assistant`, `system.init`, …; `None` if the record has no
    /// type.
    pub kind_of: for<'r> fn(&'r Record<'_>) -> Option<Cow<'r, str>>,
    /// The schemas of the known record kinds, one for each kind.
    pub schemas: &'static [SchemaFile],
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// Every runner, in the order of `--help` and of the documentation.
pub const RUNNERS: &[Runner] = &[claude_code::RUNNER, codex::RUNNER, opencode::RUNNER, open_responses::RUNNER];

/// The name of the runner that uses this `provider` value. Only frames use `provider`; everything else uses the runner's name.
pub fn name_of(provider: &str) -> &str {
    RUNNERS.iter().find(|runner| runner.provider == provider).map_or(provider, |runner| runner.name)
}

/// Finds a runner by name.
pub fn runner(name: &str) -> Option<&'static Runner> {
    RUNNERS.iter().find(|runner| runner.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::PROVIDERS;

    #[test]
    fn stored_frames_of_every_runner_can_be_read_again() {
        let providers: Vec<&str> = RUNNERS.iter().map(|runner| runner.provider).collect();
        assert_eq!(providers, PROVIDERS);
    }
}
