//! The settings of an upstream of kind `command`.

use framegate_translators::runners::{self, Runner};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

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

/// A runner whose command line is built in, or `none`: the settings name the program and all arguments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Preset(Option<(&'static Runner, &'static runners::Preset)>);

impl Preset {
    /// The spelling of no preset.
    const NONE: &str = "none";

    /// The preset of that name, which may be an alias if `aliases` are allowed.
    pub fn find(name: &str, aliases: bool) -> Option<Self> {
        let mut all = runners::presets();
        let found = all.find(|(_, preset)| preset.name == name || aliases && preset.aliases.contains(&name));
        found.map(|found| Self(Some(found)))
    }

    /// Whether the settings name the program and all arguments.
    pub fn is_none(self) -> bool {
        self.0.is_none()
    }

    /// The preset of a runner.
    pub fn built_in(self) -> Option<&'static runners::Preset> {
        self.0.map(|(_, preset)| preset)
    }

    /// Its name in the configuration.
    pub fn name(self) -> &'static str {
        self.built_in().map_or(Self::NONE, |preset| preset.name)
    }

    /// The name of the runner; empty without a preset.
    pub fn runner(self) -> &'static str {
        self.0.map_or("", |(runner, _)| runner.name)
    }

    /// The default program; empty without a preset.
    pub fn program(self) -> &'static str {
        self.built_in().map_or("", |preset| preset.program)
    }
}

impl PartialEq for Preset {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Preset {}

impl Serialize for Preset {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Preset {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| {
            [Preset::NONE].into_iter().chain(runners::presets().map(|(_, preset)| preset.name)).collect()
        });
        let name = String::deserialize(deserializer)?;
        if name == Self::NONE {
            return Ok(Self::default());
        }
        Self::find(&name, false).ok_or_else(|| D::Error::unknown_variant(&name, &NAMES))
    }
}

impl Default for Command {
    fn default() -> Self {
        Self {
            preset: Preset::default(),
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
            if let Some(wrong) = arguments.iter().find(of_option).filter(|_| self.preset.is_none()) {
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
        if self.preset.is_none() {
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
