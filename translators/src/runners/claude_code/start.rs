//! The command line of `claude -p` for one run, controlled through its standard input.

use crate::runners::Preset;

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
    arguments: |start| start.arguments(FIXED, &[("--resume", start.session), ("--model", start.model)]),
};

const FIXED: &[&str] = &[
    "-p",
    "--input-format",
    "stream-json",
    "--output-format",
    "stream-json",
    "--verbose",
    "--include-partial-messages",
    "--permission-prompt-tool",
    "stdio",
];

#[cfg(test)]
mod tests {
    use super::PRESET;
    use crate::runners::Start;

    #[test]
    fn options_follow_the_fixed_arguments_and_further_ones_are_last() {
        let start = Start { prompt: "-x; rm", session: Some("a"), model: None, further: &["--extra".to_owned()] };
        let arguments = (PRESET.arguments)(&start).join(" ");
        assert!(arguments.ends_with("--permission-prompt-tool stdio --resume a --extra"), "{arguments}");
        let start = Start { model: Some("m"), session: None, ..start };
        let arguments = (PRESET.arguments)(&start).join(" ");
        assert!(arguments.ends_with("--permission-prompt-tool stdio --model m --extra"), "{arguments}");
    }
}
