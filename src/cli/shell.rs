//! `framegate completions` and `framegate man`, both generated from the definition of the command line.

use super::{Cli, EXIT_CLEAN};
use anyhow::{Context, bail};
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// The command, such as serve, or log list; without it, the page of framegate itself
    command: Vec<String>,
    /// Write the pages of all commands to this directory instead, which must exist
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    dir: Option<PathBuf>,
}

pub(super) fn completions(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    // Generate into memory first: the generator panics if its output cannot be written.
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "framegate", &mut text);
    io::stdout().lock().write_all(&text)?;
    Ok(ExitCode::from(EXIT_CLEAN))
}

pub(super) fn man(args: &ManArgs) -> anyhow::Result<ExitCode> {
    let mut all = Cli::command();
    all.build();
    if let Some(directory) = &args.dir {
        write_pages(&all, directory)?;
        return Ok(ExitCode::from(EXIT_CLEAN));
    }
    let mut command = &all;
    for name in &args.command {
        let Some(found) = command.find_subcommand(name) else {
            let known: Vec<&str> = subcommands(command).map(clap::Command::get_name).collect();
            bail!(
                "{} has no subcommand {name:?}; {}",
                name_of(command),
                match known.is_empty() {
                    true => "it has no subcommands".to_owned(),
                    false => format!("use one of {}", known.join(", ")),
                }
            );
        };
        command = found;
    }
    io::stdout().lock().write_all(&page(command)?)?;
    Ok(ExitCode::from(EXIT_CLEAN))
}

/// Writes the manual page of a command and those of its subcommands.
fn write_pages(command: &clap::Command, directory: &Path) -> anyhow::Result<()> {
    let path = directory.join(format!("{}.1", name_of(command)));
    std::fs::write(&path, page(command)?).with_context(|| format!("cannot write {}", path.display()))?;
    subcommands(command).try_for_each(|command| write_pages(command, directory))
}

fn page(command: &clap::Command) -> anyhow::Result<Vec<u8>> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    Ok(text)
}

/// The subcommands of a command, except `help` and hidden ones.
fn subcommands(command: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    command.get_subcommands().filter(|command| command.get_name() != "help" && !command.is_hide_set())
}

/// The full name of a command, such as `framegate-log-list`.
fn name_of(command: &clap::Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}
