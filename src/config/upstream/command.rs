//! The settings of an upstream of kind `command`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A program that is started for each run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Command {
    /// The runner whose command line is built in.
    pub preset: Preset,
    /// The program: a path, or a name to look up in the proxy's `PATH`. Empty: the preset's.
    pub program: String,
    /// Its arguments; with a preset, additional ones. `{prompt}`, `{session}`, `{model}` and `{cwd}` are replaced by the
    /// request's values.
    pub arguments: Vec<String>,
    /// The arguments for continuing a session. Empty: sessions cannot be continued. Not allowed with a preset, which has its
    /// own.
    pub resume_arguments: Vec<String>,
    /// The directories in which runs may work, including subdirectories. The first one is the default. Empty: runs work in the
    /// proxy's directory.
    pub directories: Vec<PathBuf>,
    /// Additional environment variables.
    pub environment: BTreeMap<String, String>,
    /// Variables that are passed on from the proxy's environment; a final `*` matches any suffix. `None`: those that every
    /// program needs, and those of the preset ([`environment::passed`](super::environment::passed)).
    pub pass_environment: Option<Vec<String>>,
    /// Environment variables whose values are read from files.
    pub secret_files: BTreeMap<String, PathBuf>,
    /// Environment variables whose values are copied from variables of the proxy, possibly under other names.
    pub secret_variables: BTreeMap<String, String>,
    /// The model if a request does not specify one. Empty: the runner's own choice.
    pub model: String,
    /// The maximum size of a prompt.
    pub max_prompt_bytes: usize,
    /// The timeout until the runner has sent enough records for a run to begin.
    pub start_timeout_ms: u64,
    /// How long the runner may be silent; 0: no limit. Time spent waiting for an answer does not count.
    pub idle_timeout_ms: u64,
    /// The maximum lifetime of the process; 0: no limit.
    pub run_timeout_ms: u64,
    /// How long a runner that accepts several prompts waits for the next one.
    pub linger_ms: u64,
    /// How long the runner may take to stop after it was asked to, before it gets a signal.
    pub interrupt_grace_ms: u64,
    /// How long it may take after the signal before it is killed.
    pub signal_grace_ms: u64,
    /// How long its output may stay open after it exits, and how long it may live after its output ends.
    pub exit_grace_ms: u64,
    /// The maximum length of a line of its standard error in the log.
    pub stderr_line_bytes: usize,
    /// How much of its standard error is logged.
    pub stderr_bytes: usize,
}

/// A runner whose command line is built in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// No preset: the settings name the program and all arguments.
    #[default]
    None,
    /// `claude -p`, controlled through its standard input.
    ClaudeCode,
    /// `codex exec --json`.
    CodexExec,
    /// `codex app-server`, controlled through its standard input.
    CodexAppServer,
    /// `opencode run --format json`.
    OpencodeRun,
}

impl Preset {
    /// The name of the runner; empty for `None`.
    pub fn runner(self) -> &'static str {
        match self {
            Self::None => "",
            Self::ClaudeCode => "claude-code",
            Self::CodexExec | Self::CodexAppServer => "codex",
            Self::OpencodeRun => "opencode",
        }
    }

    /// The default program.
    pub fn program(self) -> &'static str {
        match self {
            Self::None => "",
            Self::ClaudeCode => "claude",
            Self::CodexExec | Self::CodexAppServer => "codex",
            Self::OpencodeRun => "opencode",
        }
    }
}

impl Default for Command {
    fn default() -> Self {
        Self {
            preset: Preset::None,
            program: String::new(),
            arguments: Vec::new(),
            resume_arguments: Vec::new(),
            directories: Vec::new(),
            environment: BTreeMap::new(),
            pass_environment: None,
            secret_files: BTreeMap::new(),
            secret_variables: BTreeMap::new(),
            model: String::new(),
            max_prompt_bytes: 1 << 20,
            start_timeout_ms: 60_000,
            idle_timeout_ms: 1_800_000,
            run_timeout_ms: 21_600_000,
            linger_ms: 300_000,
            interrupt_grace_ms: 5000,
            signal_grace_ms: 5000,
            exit_grace_ms: 5000,
            stderr_line_bytes: 2048,
            stderr_bytes: 65_536,
        }
    }
}

impl Command {
    /// Checks constraints between settings.
    pub(super) fn check(&self, report: &mut dyn FnMut(&str, String)) {
        let is_variable = |name: &&String| name.is_empty() || name.contains(['=', '\0']);
        // `*` is only allowed at the end.
        let is_listed = |name: &&String| is_variable(name) || name.strip_suffix('*').unwrap_or(name).contains('*');
        let names = [
            ("environment", self.environment.keys().find(is_variable)),
            ("pass_environment", self.pass_environment.iter().flatten().find(is_listed)),
            ("secret_files", self.secret_files.keys().find(is_variable)),
            ("secret_variables", self.secret_variables.keys().find(is_variable)),
        ];
        for (key, wrong) in names {
            if let Some(wrong) = wrong {
                report(key, format!("{wrong:?} is not a variable name"));
            }
        }
        let of_option = |argument: &&String| {
            let dashes = argument.split('{').next().unwrap_or_default();
            argument.contains("{prompt}") && !dashes.is_empty() && dashes.chars().all(|letter| letter == '-')
        };
        for (key, arguments) in [("arguments", &self.arguments), ("resume_arguments", &self.resume_arguments)] {
            if let Some(wrong) = arguments.iter().find(of_option).filter(|_| self.preset == Preset::None) {
                report(
                    key,
                    format!("the program could take a prompt in {wrong:?} for an option; write \"--\", \"{{prompt}}\""),
                );
            }
        }
        if let Some(path) = self.directories.iter().find(|path| !path.is_absolute()) {
            report("directories", format!("{:?} is not an absolute path", path.display().to_string()));
        }
        if let Some((name, _)) = self.secret_files.iter().find(|(_, path)| **path == *Path::new("")) {
            report("secret_files", format!("has no path for {name:?}"));
        }
        if self.preset == Preset::None {
            if self.program.is_empty() {
                report("program", "is missing; set it, or choose a preset".to_owned());
            }
            let resumes = self.resume_arguments.iter().any(|argument| argument.contains("{session}"));
            if !self.resume_arguments.is_empty() && !resumes {
                report("resume_arguments", "must contain {session}, which becomes the session to continue".to_owned());
            }
        } else if !self.resume_arguments.is_empty() {
            report(
                "resume_arguments",
                "must not be set with a preset, which has its own arguments for continuing a session".to_owned(),
            );
        }
        let texts = self.arguments.iter().chain(&self.resume_arguments).chain(self.environment.values());
        if texts.chain([&self.program, &self.model]).any(|text| text.contains('\0')) {
            report("arguments", "arguments and variables cannot contain NUL".to_owned());
        }
    }
}
