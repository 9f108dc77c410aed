//! The command line of `gemini` for one run.

use crate::runners::{Freedom, Mode, Modes, Preset, Start};

/// `gemini --output-format stream-json`.
pub(super) const PRESET: Preset = Preset {
    name: "gemini-cli",
    aliases: &["gemini"],
    program: "gemini",
    has_dialogue: false,
    environment: &["GEMINI_*", "GOOGLE_*"],
    mode_options: &[MODE, "--yolo", "-y"],
    arguments: run,
};

/// The option that chooses a mode.
const MODE: &str = "--approval-mode";

/// The approval modes. A run without a terminal never asks: what a mode does not permit is not there.
pub(super) const MODES: Modes = Modes {
    known: &[
        Mode {
            name: "default",
            title: "Read",
            about: "Reads. It has no tools that change files or run commands, because nothing can ask.",
            freedom: Freedom::Usual,
        },
        Mode {
            name: "plan",
            title: "Plan",
            about: "Reads and makes a plan, without changes to files and without commands.",
            freedom: Freedom::Usual,
        },
        Mode {
            name: "auto_edit",
            title: "Accept edits",
            about: "Changes files without a question. It has no tool that runs commands.",
            freedom: Freedom::Edits,
        },
        Mode {
            name: "yolo",
            title: "Bypass approvals",
            about: "Does everything without a question.",
            freedom: Freedom::Acts,
        },
    ],
    users_define: false,
};

fn run(start: &Start<'_>) -> Vec<String> {
    let options = [("--resume", start.session), ("--model", start.model), (MODE, start.mode)];
    let mut arguments = start.arguments(&["--output-format", "stream-json"], &options);
    // One argument: the program cannot read a prompt that begins with a dash as an option.
    arguments.push(format!("--prompt={}", start.prompt));
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_is_one_argument_with_its_option() {
        let further = ["--extra".to_owned()];
        let start =
            Start { prompt: "-x; rm", session: Some("a"), model: Some("m"), mode: Some("yolo"), further: &further };
        assert_eq!(
            run(&start),
            [
                "--output-format",
                "stream-json",
                "--resume",
                "a",
                "--model",
                "m",
                "--approval-mode",
                "yolo",
                "--extra",
                "--prompt=-x; rm"
            ]
        );
    }

    #[test]
    fn an_option_of_the_settings_that_chooses_a_mode_is_found() {
        for (argument, found) in [("--approval-mode=yolo", true), ("-y", true), ("--yolo", true), ("--extra", false)] {
            assert_eq!(PRESET.mode_option(&[argument.to_owned()]).is_some(), found, "{argument}");
        }
    }
}
