//! Finds the upstream that a command line names: a configured one, a preset without settings, or the demo.
//!
//! Input: the configuration and a name. Output: the upstream. Never: a guess; an unknown name is an error that lists the known ones.

use crate::config::upstream::{Command, Kind, Modes, Preset, Upstream};
use crate::config::{Config, unknown};
use crate::demo;
use anyhow::Context;
use framegate_translators::runners::{Runner, presets};

/// The name of an upstream that is a command line.
const COMMAND: &str = "command";

/// Returns the configured upstream of that name, or else the preset of that name, or else the demo's upstream. The program of an upstream gets the whole environment of
/// the caller, who could have started it directly, unless the settings name the variables.
///
/// # Errors
/// There is neither; the message has the known names.
pub(super) fn find(config: &Config, name: &str) -> anyhow::Result<Upstream> {
    let configured = config.upstream.iter().find(|upstream| upstream.name == name).cloned();
    let demo = || if name == demo::UPSTREAM { demo::upstream().transpose() } else { None };
    let found = configured.or_else(|| preset(name)).map(Ok).or_else(demo);
    let mut found = found.with_context(|| {
        let configured = config.upstream.iter().map(|upstream| upstream.name.as_str());
        let known: Vec<&str> = configured.chain(preset_names()).chain([demo::UPSTREAM]).collect();
        unknown("upstream or preset", name, known.into_iter())
    })??;
    if let Kind::Command(settings) = &mut found.kind {
        settings.pass_environment.get_or_insert_with(|| vec!["*".to_owned()]);
    }
    Ok(found)
}

/// A command line of this runner that is not in the configuration.
pub(super) fn of_command(runner: &Runner, program: &str, arguments: &[String]) -> Upstream {
    let command = Command {
        program: program.to_owned(),
        arguments: arguments.to_vec(),
        pass_environment: Some(vec!["*".to_owned()]),
        ..Command::default()
    };
    let kind = Kind::Command(Box::new(command));
    Upstream { name: COMMAND.to_owned(), runner: runner.name.to_owned(), max_runs: 1, modes: Modes::default(), kind }
}

fn preset(name: &str) -> Option<Upstream> {
    let preset = Preset::find(name, true)?;
    let kind = Kind::Command(Box::new(Command { preset, ..Command::default() }));
    let (runner, modes) = (preset.runner().to_owned(), Modes::default());
    Some(Upstream { name: name.to_owned(), runner, max_runs: 8, modes, kind })
}

/// The names of the presets, then their aliases.
fn preset_names<'n>() -> impl Iterator<Item = &'n str> {
    presets().map(|(_, preset)| preset.name).chain(presets().flat_map(|(_, preset)| preset.aliases).copied())
}

/// The presets with their aliases, and the demo, for the help of an argument.
pub(super) fn presets_help() -> String {
    let names = presets().map(|(_, preset)| match preset.aliases {
        [] => preset.name.to_owned(),
        aliases => format!("{} (or {})", preset.name, aliases.join(" or ")),
    });
    let demo = format!("{} (a script that needs no runner)", demo::UPSTREAM);
    names.chain([demo]).collect::<Vec<_>>().join(", ")
}
