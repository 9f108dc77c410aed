//! The command lines of Codex for one run.

use super::modes;
use crate::runners::{Preset, Start};

/// `codex exec --json`.
pub(super) const EXEC: Preset = Preset {
    name: "codex-exec",
    aliases: &["codex"],
    program: "codex",
    has_dialogue: false,
    environment: ENVIRONMENT,
    mode_options: &[
        "--sandbox",
        "-s",
        "--full-auto",
        "--approve-for-me",
        "--dangerously-bypass-approvals-and-sandbox",
        "--yolo",
    ],
    arguments: exec,
};

/// `codex app-server`, controlled through its standard input. The dialogue sends the session, the model and the mode.
pub(super) const APP_SERVER: Preset = Preset {
    name: "codex-app-server",
    aliases: &[],
    program: "codex",
    has_dialogue: true,
    environment: ENVIRONMENT,
    // The program has options for other commands only.
    mode_options: &[],
    arguments: |start| start.arguments(&["app-server"], &[]),
};

/// The D-Bus address is needed because Codex may keep its login in the desktop's key ring.
const ENVIRONMENT: &[&str] = &["AZURE_OPENAI_*", "CODEX_*", "DBUS_SESSION_BUS_ADDRESS", "OPENAI_*"];

fn exec(start: &Start<'_>) -> Vec<String> {
    // This command never asks: what the sandbox does not permit fails.
    let sandbox = start.mode.and_then(modes::sandbox);
    let mut arguments = start.arguments(&["exec", "--json"], &[("--model", start.model), ("--sandbox", sandbox)]);
    if let Some(session) = start.session {
        arguments.extend(["resume".to_owned(), session.to_owned()]);
    }
    start.with_prompt(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_resumed_by_a_command_after_all_options() {
        let start =
            Start { prompt: "-x; rm", session: None, model: None, mode: None, further: &["--extra".to_owned()] };
        assert_eq!(exec(&start).join(" "), "exec --json --extra -- -x; rm");
        let start = Start { session: Some("a-b"), model: Some("m"), mode: Some("auto"), ..start };
        assert_eq!(
            exec(&start).join(" "),
            "exec --json --model m --sandbox workspace-write --extra resume a-b -- -x; rm"
        );
        assert_eq!((APP_SERVER.arguments)(&start).join(" "), "app-server --extra");
    }
}
