//! `framegate completions` and `framegate man`: what shells and `man` know of the command line, made from it.

use super::{Cli, EXIT_CLEAN};
use anyhow::bail;
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::{self, Write};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// The command; without it, the page of framegate itself
    command: Option<String>,
}

pub(super) fn completions(args: &CompletionsArgs) -> anyhow::Result<ExitCode> {
    // Into memory first: the generator panics where its output cannot be written.
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "framegate", &mut text);
    io::stdout().lock().write_all(&text)?;
    Ok(ExitCode::from(EXIT_CLEAN))
}

pub(super) fn man(args: &ManArgs) -> anyhow::Result<ExitCode> {
    let mut all = Cli::command();
    all.build();
    let command = match &args.command {
        None => all,
        Some(name) => match all.find_subcommand(name) {
            Some(command) => command.clone(),
            None => {
                let known: Vec<&str> = all.get_subcommands().map(clap::Command::get_name).collect();
                bail!("there is no command {name:?}; there is {}", known.join(", "));
            }
        },
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    io::stdout().lock().write_all(&text)?;
    Ok(ExitCode::from(EXIT_CLEAN))
}
