//! The command lines of Codex for one run.

use crate::runners::{Preset, Start};

/// `codex exec --json`.
pub(super) const EXEC: Preset = Preset {
    name: "codex-exec",
    aliases: &["codex"],
    program: "codex",
    has_dialogue: false,
    environment: ENVIRONMENT,
    arguments: exec,
};

/// `codex app-server`, controlled through its standard input. The dialogue sends the session and the model.
pub(super) const APP_SERVER: Preset = Preset {
    name: "codex-app-server",
    aliases: &[],
    program: "codex",
    has_dialogue: true,
    environment: ENVIRONMENT,
    arguments: |start| start.arguments(&["app-server"], &[]),
};

/// The D-Bus address is needed because Codex may keep its login in the desktop's key ring.
const ENVIRONMENT: &[&str] = &["AZURE_OPENAI_*", "CODEX_*", "DBUS_SESSION_BUS_ADDRESS", "OPENAI_*"];

fn exec(start: &Start<'_>) -> Vec<String> {
    let mut arguments = start.arguments(&["exec", "--json"], &[("--model", start.model)]);
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
        let start = Start { prompt: "-x; rm", session: None, model: None, further: &["--extra".to_owned()] };
        assert_eq!(exec(&start).join(" "), "exec --json --extra -- -x; rm");
        let start = Start { session: Some("a-b"), model: Some("m"), ..start };
        assert_eq!(exec(&start).join(" "), "exec --json --model m --extra resume a-b -- -x; rm");
        assert_eq!((APP_SERVER.arguments)(&start).join(" "), "app-server --extra");
    }
}
