//! The command line of `copilot` for one run.
//!
//! Input: what a run starts with. Output: the arguments. Without a terminal the program cannot ask: what is not allowed is denied. Never: a
//! prompt in a position where the program could read it as an option.

use crate::runners::{Freedom, Mode, Modes, Preset, Start};

/// `copilot --output-format json`.
pub(super) const PRESET: Preset = Preset {
    name: "copilot",
    aliases: &[],
    program: "copilot",
    has_dialogue: false,
    // The account, a provider of one's own, and the program's own settings.
    environment: &["COPILOT_*", "GH_TOKEN", "GITHUB_TOKEN"],
    mode_options: &[ALL, "--allow-all", "--yolo"],
    arguments,
};

/// The option that allows every tool.
const ALL: &str = "--allow-all-tools";

/// The name of the mode in which every tool is allowed.
const ALL_MODE: &str = "allow-all-tools";

/// What the program may do. Users can allow single tools with further arguments.
pub(super) const MODES: Modes = Modes {
    known: &[
        Mode {
            name: "default",
            title: "Deny",
            about: "Reads. What its settings do not allow is denied without a question.",
            freedom: Freedom::Usual,
        },
        Mode {
            name: ALL_MODE,
            title: "Allow all tools",
            about: "Does everything without a question.",
            freedom: Freedom::Acts,
        },
    ],
    users_define: false,
};

fn arguments(start: &Start<'_>) -> Vec<String> {
    let mut fixed = vec!["--output-format", "json"];
    if start.mode == Some(ALL_MODE) {
        fixed.push(ALL);
    }
    let options = [("--resume", start.session), ("--model", start.model)];
    let mut arguments = start.arguments(&fixed, &options);
    arguments.push(format!("--prompt={}", start.prompt));
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_is_no_option() {
        let further = ["--extra".to_owned()];
        let start = Start { prompt: "-x; rm", session: Some("a"), model: None, mode: None, further: &further };
        assert_eq!(arguments(&start).join(" "), "--output-format json --resume a --extra --prompt=-x; rm");
        let start = Start { model: Some("m"), mode: Some(ALL_MODE), session: None, further: &[], ..start };
        assert_eq!(arguments(&start).join(" "), "--output-format json --allow-all-tools --model m --prompt=-x; rm");
    }

    #[test]
    fn an_option_of_the_settings_that_chooses_a_mode_is_found() {
        for (argument, found) in [("--allow-all-tools", true), ("--yolo", true), ("--allow-tool", false)] {
            assert_eq!(PRESET.mode_option(&[argument.to_owned()]).is_some(), found, "{argument}");
        }
    }
}
