//! The command line of `claude -p` for one run, controlled through its standard input.

use crate::runners::{Freedom, Mode, Modes, Preset};

/// `claude -p`.
pub(super) const PRESET: Preset = Preset {
    name: "claude-code",
    aliases: &["claude"],
    program: "claude",
    has_dialogue: true,
    // The vendor's keys, base URLs and models, and the program's own settings.
    environment: &[
        "ANTHROPIC_*",
        "CLAUDE_*",
        "DISABLE_AUTOUPDATER",
        "DISABLE_TELEMETRY",
        "MAX_THINKING_TOKENS",
        "MCP_TIMEOUT",
    ],
    mode_options: &[MODE, "--dangerously-skip-permissions", "--allow-dangerously-skip-permissions"],
    arguments: |start| {
        let options = [("--resume", start.session), ("--model", start.model), (MODE, start.mode)];
        start.arguments(FIXED, &options)
    },
};

/// The option that chooses a mode.
const MODE: &str = "--permission-mode";

/// The permission modes.
pub(super) const MODES: Modes = Modes {
    known: &[
        Mode {
            name: "default",
            title: "Ask",
            about: "Asks before it changes files or runs commands, unless its rules allow them.",
            freedom: Freedom::Usual,
        },
        Mode {
            name: "plan",
            title: "Plan",
            about: "Reads and makes a plan. It asks before it begins to change anything.",
            freedom: Freedom::Usual,
        },
        Mode {
            name: "dontAsk",
            title: "Don't ask",
            about: "Does what its rules allow. Everything else is denied without a question.",
            freedom: Freedom::Usual,
        },
        Mode {
            name: "acceptEdits",
            title: "Accept edits",
            about: "Changes files without a question. It asks before it runs commands.",
            freedom: Freedom::Edits,
        },
        Mode {
            name: "auto",
            title: "Auto",
            about: "A model judges whether a call needs a question.",
            freedom: Freedom::Acts,
        },
        Mode {
            name: "bypassPermissions",
            title: "Bypass permissions",
            about: "Does everything without a question.",
            freedom: Freedom::Acts,
        },
    ],
    users_define: false,
};

const FIXED: &[&str] = &[
    "-p",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--verbose",
    "--include-partial-messages",
    // A prompt that arrives during a run begins the next one, or joins the run: only the runner knows.
    "--replay-user-messages",
    "--permission-prompt-tool",
    "stdio",
];

#[cfg(test)]
mod tests {
    use super::PRESET;
    use crate::runners::Start;

    #[test]
    fn options_follow_the_fixed_arguments_and_further_ones_are_last() {
        let start =
            Start { prompt: "-x; rm", session: Some("a"), model: None, mode: None, further: &["--extra".to_owned()] };
        let arguments = (PRESET.arguments)(&start).join(" ");
        assert!(arguments.ends_with("--permission-prompt-tool stdio --resume a --extra"), "{arguments}");
        let start = Start { model: Some("m"), mode: Some("plan"), session: None, ..start };
        let arguments = (PRESET.arguments)(&start).join(" ");
        assert!(
            arguments.ends_with("--permission-prompt-tool stdio --model m --permission-mode plan --extra"),
            "{arguments}"
        );
    }

    #[test]
    fn an_option_of_the_settings_that_chooses_a_mode_is_found() {
        let option = |arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|&argument| argument.to_owned()).collect();
            PRESET.mode_option(&arguments)
        };
        assert_eq!(option(&["--extra", "--permission-mode", "plan"]), Some("--permission-mode"));
        assert_eq!(option(&["--permission-mode=plan"]), Some("--permission-mode"));
        assert_eq!(option(&["--permission-mode-x", "--", "--permission-mode"]), None);
    }
}
