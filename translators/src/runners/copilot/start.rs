//! The command line of `copilot` for one run.

use crate::runners::{Modes, Preset};

/// `copilot -p --output-format json`.
pub(super) const PRESET: Preset = Preset {
    name: "copilot",
    aliases: &[],
    program: "copilot",
    has_dialogue: false,
    // The account, a provider of one's own, and the program's own settings.
    environment: &["COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN"],
    mode_options: &[],
    arguments: |start| {
        let prompt = format!("--prompt={}", start.prompt);
        let options = [("--resume", start.session), ("--model", start.model)];
        let mut arguments = start.arguments(&["--output-format", "json"], &options);
        arguments.push(prompt);
        arguments
    },
};

/// The program asks for nothing without a terminal: what is not allowed is denied.
pub(super) const MODES: Modes = Modes::NONE;
