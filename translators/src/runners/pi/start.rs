//! The command line of `pi` for one run, controlled through its standard input.

use crate::runners::Preset;

/// `pi --mode rpc`.
pub(super) const PRESET: Preset = Preset {
    name: "pi",
    aliases: &[],
    program: "pi",
    has_dialogue: true,
    // The keys of the vendors, and the program's own settings.
    environment: &[
        "ANTHROPIC_*",
        "AZURE_OPENAI_*",
        "CEREBRAS_API_KEY",
        "GEMINI_API_KEY",
        "GROQ_API_KEY",
        "MISTRAL_API_KEY",
        "OPENAI_*",
        "OPENROUTER_API_KEY",
        "PI_*",
        "XAI_API_KEY",
        "ZAI_API_KEY",
    ],
    mode_options: &[],
    arguments: |start| {
        let options = [("--session", start.session), ("--model", start.model)];
        start.arguments(FIXED, &options)
    },
};

const FIXED: &[&str] = &["--mode", "rpc"];

#[cfg(test)]
mod tests {
    use super::PRESET;
    use crate::runners::Start;

    #[test]
    fn options_follow_the_fixed_arguments_and_further_ones_are_last() {
        let further = ["--extra".to_owned()];
        let start = Start { prompt: "-x; rm", session: Some("a"), model: Some("m"), mode: None, further: &further };
        let arguments = (PRESET.arguments)(&start).join(" ");
        assert_eq!(arguments, "--mode rpc --session a --model m --extra", "the prompt goes to standard input");
    }
}
