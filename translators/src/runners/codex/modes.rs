//! The modes of Codex: what its sandbox permits, and when it asks.
//!
//! Input: the name of a mode. Output: the words of the command line and of the app-server for it. Never: a mode for an unknown name.

use crate::runners::{Freedom, Mode, Modes};

/// The modes, as Codex's own editor integration names them.
pub(super) const MODES: Modes = Modes {
    known: &[
        Mode {
            name: "read-only",
            title: "Read only",
            about: "Reads files. Changes, commands that change something, and the network need an approval.",
            freedom: Freedom::Usual,
        },
        Mode {
            name: "auto",
            title: "Auto",
            about: "Changes files and runs commands in the working directory. Everything beyond it needs an approval.",
            freedom: Freedom::Edits,
        },
        Mode {
            name: "full-access",
            title: "Full access",
            about: "Does everything without a question, also outside of the working directory and on the network.",
            freedom: Freedom::Acts,
        },
    ],
    users_define: false,
};

/// The sandbox of a mode, in the words of the command line and of the app-server.
pub(super) fn sandbox(mode: &str) -> Option<&'static str> {
    match mode {
        "read-only" => Some("read-only"),
        "auto" => Some("workspace-write"),
        "full-access" => Some("danger-full-access"),
        _ => None,
    }
}

/// The approval policy of a mode.
pub(super) fn approval_policy(mode: &str) -> Option<&'static str> {
    match mode {
        "read-only" | "auto" => Some("on-request"),
        "full-access" => Some("never"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mode_has_a_sandbox_and_a_policy() {
        for mode in MODES.known {
            assert!(sandbox(mode.name).is_some() && approval_policy(mode.name).is_some(), "{mode:?}");
            let acts = mode.freedom == Freedom::Acts;
            assert_eq!(approval_policy(mode.name) == Some("never"), acts, "{mode:?}");
        }
        assert_eq!((sandbox("other"), approval_policy("other")), (None, None));
    }
}
