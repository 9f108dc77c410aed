//! The further settings of an upstream of kind `acp`.

use super::Preset;
use crate::config::error::unknown;
use crate::config::table::settings;
use framegate_translators::runners::AGENTS;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

settings! {
    /// An agent of the Agent Client Protocol (ACP), which is started for each session. All settings of kind `command` hold, too.
    pub struct Agent {
        /// Id of the method with which the proxy authenticates, one of those that the agent offers. Empty: a method that needs no
        /// person, if the agent asks for one.
        authentication: String = String::new();
        /// What the agent may do, through the proxy, with files within the directory of its run: none, read or write. Most agents
        /// also have tools of their own for files, which this does not limit.
        files: FileAccess = FileAccess::None;
        /// Whether the agent may run commands through the proxy. They start within the directory of the run, but nothing keeps them
        /// there.
        terminals: bool = false;
        /// Maximum size of a file that the agent reads or writes through the proxy.
        max_file_bytes: usize = 8 << 20, in 1..=256 << 20;
        /// Maximum number of terminals that an agent has at a time.
        max_terminals: usize = 16, in 1..=1024;
        /// Bytes of the end of a terminal's output that are kept.
        max_terminal_output_bytes: usize = 1 << 20, in 1024..=64 << 20;
        /// JSON file with the MCP servers of each session, in the form {"mcpServers": {"name": {"command": …}}}. It is read whenever an
        /// agent is started. Empty: none.
        mcp_servers_file: PathBuf = PathBuf::new();
    }
}

/// What an agent may do with files through the proxy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FileAccess {
    /// Nothing.
    #[default]
    None,
    /// Read them.
    Read,
    /// Read and write them.
    Write,
}

/// The end of the names of presets that start an ACP agent. Upstreams of kind `acp` can leave it out.
const SUFFIX: &str = "-acp";

/// The full name of a preset of this kind.
///
/// # Errors
/// No such preset starts an ACP agent.
pub(super) fn preset_name(given: &str) -> Result<&'static str, String> {
    let names = || AGENTS.presets.iter().map(|preset| preset.name);
    let is_it = |name: &&str| *name == given || name.strip_suffix(SUFFIX) == Some(given);
    names().find(is_it).ok_or_else(|| unknown("preset of an ACP agent", given, names()))
}

impl Agent {
    /// Checks constraints between settings.
    pub(super) fn check(&self, preset: Preset, resumes: bool, report: &mut dyn FnMut(&str, String)) {
        if preset.is_none() && resumes {
            report("resume_arguments", "must not be set: the protocol continues sessions; remove it".to_owned());
        }
        let path = &self.mcp_servers_file;
        if !path.as_os_str().is_empty() && !path.is_absolute() {
            report("mcp_servers_file", format!("{:?} is not an absolute path", path.display().to_string()));
        }
    }
}
