//! What an upstream of kind `command` is set to.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A program that is started for each run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Command {
    /// The runner whose command line is known.
    pub preset: Preset,
    /// The program: a path, or a name that is looked for in the proxy's `PATH`; empty: the preset's.
    pub program: String,
    /// Its arguments; with a preset, further ones. `{prompt}`, `{session}`, `{model}` and `{cwd}` stand for what was asked for.
    pub arguments: Vec<String>,
    /// The arguments where a session is continued; empty: it cannot be. A preset has its own.
    pub resume_arguments: Vec<String>,
    /// The directories that runs may work in, and below; the first one is where they do unless asked otherwise. Empty: they
    /// work where the proxy does.
    pub directories: Vec<PathBuf>,
    /// Variables of its environment.
    pub environment: BTreeMap<String, String>,
    /// Variables that it has of the proxy's environment.
    pub pass_environment: Vec<String>,
    /// Variables whose value is the content of a file.
    pub secret_files: BTreeMap<String, PathBuf>,
    /// Variables whose value is that of a variable of the proxy's, which may have another name.
    pub secret_variables: BTreeMap<String, String>,
    /// The model where nobody asks for one; empty: the runner's own choice.
    pub model: String,
    /// The largest prompt.
    pub max_prompt_bytes: usize,
    /// How long it may take until the runner has said enough for a run.
    pub start_timeout_ms: u64,
    /// How long the runner may say nothing; 0 is for ever. While it waits for an answer, this does not count.
    pub idle_timeout_ms: u64,
    /// How long the process may take in all; 0 is for ever.
    pub run_timeout_ms: u64,
    /// How long a runner that takes several prompts waits for the next one.
    pub linger_ms: u64,
    /// How long the runner may take to end what it was asked to end, before it gets a signal.
    pub interrupt_grace_ms: u64,
    /// How long it may take after the signal, before it is killed.
    pub signal_grace_ms: u64,
    /// How long its output may stay open behind its exit, and how long it may live behind the end of its output.
    pub exit_grace_ms: u64,
    /// The longest line of its standard error in the log.
    pub stderr_line_bytes: usize,
    /// How much of its standard error is in the log.
    pub stderr_bytes: usize,
}

/// A runner whose command line is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// None: program and arguments say everything.
    #[default]
    None,
    /// `claude -p`, which is talked to by its standard input.
    ClaudeCode,
    /// `codex exec --json`.
    CodexExec,
    /// `codex app-server`, which is talked to by its standard input.
    CodexAppServer,
    /// `opencode run --format json`.
    OpencodeRun,
}

impl Preset {
    /// Whose output it gives; "" where nobody knows.
    pub fn runner(self) -> &'static str {
        match self {
            Self::None => "",
            Self::ClaudeCode => "claude-code",
            Self::CodexExec | Self::CodexAppServer => "codex",
            Self::OpencodeRun => "opencode",
        }
    }

    /// The program, where none is named.
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
        // What a program needs to be found, and to find its own settings and login.
        let passed = ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TMPDIR", "TZ", "USER"];
        Self {
            preset: Preset::None,
            program: String::new(),
            arguments: Vec::new(),
            resume_arguments: Vec::new(),
            directories: Vec::new(),
            environment: BTreeMap::new(),
            pass_environment: passed.map(str::to_owned).to_vec(),
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
    /// What no single value shows.
    pub(super) fn check(&self, report: &mut dyn FnMut(&str, String)) {
        let is_variable = |name: &&String| name.is_empty() || name.contains(['=', '\0']);
        let names = [
            ("environment", self.environment.keys().find(is_variable)),
            ("pass_environment", self.pass_environment.iter().find(is_variable)),
            ("secret_files", self.secret_files.keys().find(is_variable)),
            ("secret_variables", self.secret_variables.keys().find(is_variable)),
        ];
        for (key, wrong) in names {
            if let Some(wrong) = wrong {
                report(key, format!("{wrong:?} is no name of a variable"));
            }
        }
        if let Some(path) = self.directories.iter().find(|path| !path.is_absolute()) {
            report("directories", format!("{:?} is no absolute path", path.display().to_string()));
        }
        if let Some((name, _)) = self.secret_files.iter().find(|(_, path)| **path == *Path::new("")) {
            report("secret_files", format!("names no file for {name:?}"));
        }
        if self.preset == Preset::None {
            if self.program.is_empty() {
                report("program", "is missing, and so is a preset".to_owned());
            }
            let resumes = self.resume_arguments.iter().any(|argument| argument.contains("{session}"));
            if !self.resume_arguments.is_empty() && !resumes {
                report("resume_arguments", "has no {session}: nobody would know which one goes on".to_owned());
            }
        } else if !self.resume_arguments.is_empty() {
            report("resume_arguments", "a preset knows how its sessions are continued; leave it out".to_owned());
        }
        let texts = self.arguments.iter().chain(&self.resume_arguments).chain(self.environment.values());
        if texts.chain([&self.program, &self.model]).any(|text| text.contains('\0')) {
            report("arguments", "a NUL can stand in no argument and no variable".to_owned());
        }
    }
}
