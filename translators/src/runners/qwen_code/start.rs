//! The command line of `qwen` for one run, controlled through its standard input.

use crate::runners::{Freedom, Mode, Modes, Preset};

/// `qwen --input-format stream-json`.
pub(super) const PRESET: Preset = Preset {
    name: "qwen-code",
    aliases: &["qwen"],
    program: "qwen",
    has_dialogue: true,
    // The keys, base URLs and models of the vendors, and the program's own settings.
    environment: &[
        "ANTHROPIC_*",
        "BAILIAN_*",
        "DASHSCOPE_*",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "MODELSCOPE_API_KEY",
        "OPENAI_*",
        "OPENROUTER_API_KEY",
        "QWEN_*",
    ],
    mode_options: &[MODE, "--yolo", "-y"],
    arguments: |start| {
        let options = [("--resume", start.session), ("--model", start.model), (MODE, start.mode)];
        start.arguments(FIXED, &options)
    },
};

/// The option that chooses a mode.
const MODE: &str = "--approval-mode";

/// The approval modes.
pub(super) const MODES: Modes = Modes {
    known: &[
        Mode {
            name: "default",
            title: "Ask",
            about: "Asks before it changes files or runs commands.",
            freedom: Freedom::Usual,
        },
        Mode {
            name: "plan",
            title: "Plan",
            about: "Reads and makes a plan, without changes to files and without commands.",
            freedom: Freedom::Usual,
        },
        Mode {
            name: "auto-edit",
            title: "Accept edits",
            about: "Changes files without a question. It asks before it runs commands.",
            freedom: Freedom::Edits,
        },
        Mode {
            name: "auto",
            title: "Auto",
            about: "A model judges whether a call is safe enough to run without a question.",
            freedom: Freedom::Acts,
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

const FIXED: &[&str] =
    &["--input-format", "stream-json", "--output-format", "stream-json", "--include-partial-messages"];

#[cfg(test)]
mod tests {
    use super::PRESET;
    use crate::runners::Start;

    #[test]
    fn options_follow_the_fixed_arguments_and_further_ones_are_last() {
        let further = ["--extra".to_owned()];
        let start = Start { prompt: "-x; rm", session: Some("a"), model: None, mode: None, further: &further };
        let arguments = (PRESET.arguments)(&start).join(" ");
        assert!(arguments.ends_with("--include-partial-messages --resume a --extra"), "{arguments}");
        assert!(!arguments.contains("-x;"), "the prompt goes to standard input: {arguments}");
        let start = Start { model: Some("m"), mode: Some("plan"), session: None, ..start };
        let arguments = (PRESET.arguments)(&start).join(" ");
        assert!(arguments.ends_with("--model m --approval-mode plan --extra"), "{arguments}");
    }

    #[test]
    fn an_option_of_the_settings_that_chooses_a_mode_is_found() {
        for (argument, found) in [("--approval-mode=yolo", true), ("-y", true), ("--yolo", true), ("--extra", false)] {
            assert_eq!(PRESET.mode_option(&[argument.to_owned()]).is_some(), found, "{argument}");
        }
    }
}
