//! The command line of `opencode run` for one run.

use crate::runners::{Freedom, Mode, Modes, Preset, Start};

/// `opencode run --format json`.
pub(super) const PRESET: Preset = Preset {
    name: "opencode-run",
    aliases: &["opencode"],
    program: "opencode",
    has_dialogue: false,
    // OpenCode supports many vendors.
    environment: &[
        "ANTHROPIC_*",
        "AZURE_API_KEY",
        "AZURE_RESOURCE_NAME",
        "CEREBRAS_API_KEY",
        "DEEPSEEK_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "GOOGLE_GENERATIVE_AI_API_KEY",
        "GROQ_API_KEY",
        "MISTRAL_API_KEY",
        "MOONSHOT_API_KEY",
        "OPENAI_*",
        "OPENCODE_*",
        "OPENROUTER_API_KEY",
        "TOGETHER_API_KEY",
        "XAI_API_KEY",
        "ZHIPU_API_KEY",
    ],
    mode_options: &[AGENT],
    arguments: run,
};

/// The option that chooses an agent.
const AGENT: &str = "--agent";

/// The primary agents. Users can define others.
pub(super) const MODES: Modes = Modes {
    known: &[
        Mode {
            name: "build",
            title: "Build",
            about: "Works with all tools, as its permission settings allow.",
            freedom: Freedom::Usual,
        },
        Mode {
            name: "plan",
            title: "Plan",
            about: "Analyses and makes a plan, without changes to files.",
            freedom: Freedom::Usual,
        },
    ],
    users_define: true,
};

fn run(start: &Start<'_>) -> Vec<String> {
    let options = [("--session", start.session), ("--model", start.model), (AGENT, start.mode)];
    start.with_prompt(start.arguments(&["run", "--format", "json"], &options))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prompt_follows_all_options() {
        let start = Start {
            prompt: "-x; rm",
            session: Some("ses_1"),
            model: None,
            mode: Some("plan"),
            further: &["--extra".to_owned()],
        };
        assert_eq!(run(&start).join(" "), "run --format json --session ses_1 --agent plan --extra -- -x; rm");
    }
}
