//! The settings of an upstream of kind `command`.

use crate::config::table::settings;
use crate::suggest::nearest;
use framegate_translators::runners::{self, Runner};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

settings! {
    /// A program that is started for each run.
    pub struct Command {
        /// Runner whose command line is built in: {presets}, or none.
        preset: Preset = Preset::default();
        /// Program: a path, or a name that is looked up in the `PATH` of the proxy. Empty: that of the preset.
        program: String = String::new();
        /// Its arguments; with a preset, further ones. `{prompt}`, `{session}`, `{model}`, `{mode}` and `{cwd}` are replaced by
        /// the values of the request.
        arguments: Vec<String> = Vec::new();
        /// Its arguments if a session is continued. Empty: sessions cannot be continued. A preset has its own.
        resume_arguments: Vec<String> = Vec::new();
        /// Absolute paths of directories in which, or inside which, runs may work. The first one is the default. Empty: runs
        /// work where the proxy does.
        directories: Vec<PathBuf> = Vec::new();
        /// Further environment variables.
        environment: BTreeMap<String, String> = BTreeMap::new();
        /// Variables of the proxy that are passed on; a `*` at the end matches any suffix. Without it: those that every
        /// program needs, and those of the preset.
        pass_environment: Option<Vec<String>> = None;
        /// Environment variables whose values are in files.
        secret_files: BTreeMap<String, PathBuf> = BTreeMap::new();
        /// Environment variables whose values are those of variables of the proxy, perhaps under other names.
        secret_variables: BTreeMap<String, String> = BTreeMap::new();
        /// Model if the request names none. Empty: the choice of the runner.
        model: String = String::new();
        /// Maximum size of a prompt. As an argument it cannot be longer than 131071.
        max_prompt_bytes: usize = 1 << 20, in 1..=8 << 20;
        /// Time until the records of the runner begin a run.
        start_timeout_ms: u64 = 60_000, in 100..=3_600_000;
        /// Silence of the runner after which its run fails. Time spent waiting for an answer does not count. 0: no limit.
        idle_timeout_ms: u64 = 1_800_000, in 0..=604_800_000;
        /// Lifetime of the process. 0: no limit.
        run_timeout_ms: u64 = 21_600_000, in 0..=604_800_000;
        /// Time that a runner that takes several prompts waits for the next one, unless another run needs its place.
        linger_ms: u64 = 300_000, in 0..=86_400_000;
        /// Time for the runner to stop after it was asked to, before it gets a signal.
        interrupt_grace_ms: u64 = 5000, in 0..=600_000;
        /// Time for it to stop after the signal, before it is killed.
        signal_grace_ms: u64 = 5000, in 0..=600_000;
        /// Time that its output may stay open after its exit, and that it may live after the end of its output.
        exit_grace_ms: u64 = 5000, in 0..=600_000;
        /// Maximum length of a logged line of its standard error.
        stderr_line_bytes: usize = 2048, in 64..=65_536;
        /// Bytes of its standard error that are logged.
        stderr_bytes: usize = 65_536, in 0..=16 << 20;
    }
    /// The further settings of kind `acp`; `None` for kind `command`.
    with agent: Option<Box<super::Agent>>;
}

/// What arguments get of a request.
const PLACEHOLDERS: [&str; 5] = ["prompt", "session", "model", "mode", "cwd"];

/// The words in braces that look like placeholders with a mistake, and what was meant.
fn misspelled_placeholders(argument: &str) -> impl Iterator<Item = (&str, &'static str)> {
    let words = argument.split('{').skip(1).filter_map(|behind| Some(behind.split_once('}')?.0));
    let is_word = |word: &&str| word.len() > 2 && word.chars().all(|letter| letter.is_ascii_alphabetic());
    let unknown = words.filter(is_word).filter(|word| !PLACEHOLDERS.contains(word));
    unknown.filter_map(|word| Some((word, nearest(word, PLACEHOLDERS)?)))
}

/// A runner whose command line is built in, or `none`: the settings name the program and all arguments.
#[derive(Clone, Copy, Debug, Default)]
pub struct Preset(Option<(&'static Runner, &'static runners::Preset)>);

impl Preset {
    /// The spelling of no preset.
    pub(super) const NONE: &str = "none";

    /// The preset of that name, which may be an alias if `aliases` are allowed.
    pub fn find(name: &str, aliases: bool) -> Option<Self> {
        let mut all = runners::presets();
        let found = all.find(|(_, preset)| preset.name == name || aliases && preset.aliases.contains(&name));
        found.map(|found| Self(Some(found)))
    }

    /// A preset that no configuration can name.
    pub fn of(runner: &'static Runner, preset: &'static runners::Preset) -> Self {
        Self(Some((runner, preset)))
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
        for (key, arguments) in [("arguments", &self.arguments), ("resume_arguments", &self.resume_arguments)] {
            let misspelled = arguments.iter().flat_map(|argument| misspelled_placeholders(argument));
            for (given, meant) in misspelled.filter(|_| self.preset.is_none()).take(1) {
                report(key, format!("{{{given}}} is no placeholder, did you mean {{{meant}}}?"));
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
            let resumes =
                self.agent.is_some() || self.resume_arguments.iter().any(|argument| argument.contains("{session}"));
            if !self.resume_arguments.is_empty() && !resumes {
                report("resume_arguments", "must contain {session}, which becomes the session to continue".to_owned());
            }
        } else if !self.resume_arguments.is_empty() {
            report(
                "resume_arguments",
                "must not be set with a preset, which has its own arguments for continuing a session".to_owned(),
            );
        }
        if let Some(agent) = &self.agent {
            agent.check(self.preset, !self.resume_arguments.is_empty(), report);
        }
        let texts = self.arguments.iter().chain(&self.resume_arguments).chain(self.environment.values());
        if texts.chain([&self.program, &self.model]).any(|text| text.contains('\0')) {
            report("arguments", "arguments and variables cannot contain NUL".to_owned());
        }
    }
}
