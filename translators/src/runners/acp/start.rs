//! The command lines of agents. The dialogue sends the prompt, the session, the model and the mode.

use crate::runners::{Preset, Start};

/// Every agent with a built-in command line.
pub(super) const PRESETS: &[&Preset] =
    &[&GEMINI, &QWEN, &COPILOT, &KIMI, &VIBE, &OPENCODE, &KILO, &CLAUDE, &CODEX, &GOOSE];

const GEMINI: Preset = Preset {
    name: "gemini-cli-acp",
    program: "gemini",
    environment: &["CODE_ASSIST_ENDPOINT", "GEMINI_*", "GOOGLE_*"],
    mode_options: &["--approval-mode", "--yolo", "-y"],
    arguments: |start| start.arguments(&["--acp"], &[]),
    ..AGENT
};

const QWEN: Preset = Preset {
    name: "qwen-code-acp",
    program: "qwen",
    environment: &["DASHSCOPE_*", "OPENAI_*", "QWEN_*"],
    mode_options: &["--approval-mode", "--yolo", "-y"],
    arguments: |start| start.arguments(&["--acp"], &[]),
    ..AGENT
};

const COPILOT: Preset = Preset {
    name: "copilot-acp",
    program: "copilot",
    environment: &["COPILOT_*", "GH_*"],
    mode_options: &["--allow-all-tools", "--allow-all", "--yolo", "--mode"],
    arguments: |start| start.arguments(&["--acp"], &[]),
    ..AGENT
};

const KIMI: Preset = Preset {
    name: "kimi-acp",
    program: "kimi",
    environment: &["KIMI_*", "MOONSHOT_*"],
    mode_options: &["--yolo", "-y"],
    arguments: after_options,
    ..AGENT
};

const VIBE: Preset = Preset {
    name: "mistral-vibe-acp",
    program: "vibe-acp",
    environment: &["MISTRAL_*", "VIBE_*"],
    arguments: |start| start.arguments(&[], &[]),
    ..AGENT
};

const OPENCODE: Preset = Preset {
    name: "opencode-acp",
    program: "opencode",
    environment: &[
        "ANTHROPIC_*",
        "GEMINI_API_KEY",
        "GOOGLE_*",
        "GROQ_API_KEY",
        "MISTRAL_API_KEY",
        "OPENAI_*",
        "OPENCODE_*",
        "OPENROUTER_API_KEY",
        "XAI_API_KEY",
    ],
    arguments: |start| start.arguments(&["acp"], &[]),
    ..AGENT
};

const KILO: Preset = Preset {
    name: "kilo-acp",
    program: "kilo",
    environment: &["ANTHROPIC_*", "KILO_*", "OPENAI_*", "OPENROUTER_API_KEY"],
    arguments: |start| start.arguments(&["acp"], &[]),
    ..AGENT
};

const CLAUDE: Preset = Preset {
    name: "claude-agent-acp",
    program: "claude-agent-acp",
    environment: &["ANTHROPIC_*", "CLAUDE_*", "MAX_THINKING_TOKENS"],
    arguments: |start| start.arguments(&[], &[]),
    ..AGENT
};

const CODEX: Preset = Preset {
    name: "codex-acp",
    program: "codex-acp",
    environment: &["CODEX_*", "DBUS_SESSION_BUS_ADDRESS", "OPENAI_*"],
    arguments: |start| start.arguments(&[], &[]),
    ..AGENT
};

const GOOSE: Preset = Preset {
    name: "goose-acp",
    program: "goose",
    environment: &["ANTHROPIC_*", "GOOGLE_API_KEY", "GOOSE_*", "OPENAI_*", "OPENROUTER_API_KEY"],
    arguments: |start| start.arguments(&["acp"], &[]),
    ..AGENT
};

/// What all of them have in common.
const AGENT: Preset = Preset {
    name: "",
    aliases: &[],
    program: "",
    has_dialogue: true,
    environment: &[],
    mode_options: &[],
    arguments: |start| start.arguments(&[], &[]),
};

/// The options come before the command.
fn after_options(start: &Start<'_>) -> Vec<String> {
    let mut arguments = start.arguments(&[], &[]);
    arguments.push("acp".to_owned());
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_is_never_an_argument() {
        let further = ["--extra".to_owned()];
        let start =
            Start { prompt: "--yolo", session: Some("s"), model: Some("m"), mode: Some("plan"), further: &further };
        let lines: Vec<String> = PRESETS.iter().map(|preset| (preset.arguments)(&start).join(" ")).collect();
        let flag = "--acp --extra".to_owned();
        let command = "acp --extra".to_owned();
        let own = "--extra".to_owned();
        assert_eq!(lines.first(), Some(&flag));
        assert_eq!(lines.get(3), Some(&"--extra acp".to_owned()));
        assert!(
            lines.iter().all(|line| [&flag, &command, &own, &"--extra acp".to_owned()].contains(&line)),
            "{lines:?}"
        );
    }
}
