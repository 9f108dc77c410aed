//! The command line: its arguments and its commands.
//!
//! A new command is a module with its arguments and a `run`, a variant of `Command` and an arm of [`run`].

mod acp;
mod artifacts;
mod asking;
mod bad;
mod bridge;
mod browser;
mod check;
mod claude_code;
mod demo_agent;
mod diagnostics;
mod export;
mod frame_log;
mod health;
mod import;
mod input;
mod lines;
mod list;
mod named_upstream;
mod names;
mod output;
mod prices;
mod recordings;
mod run;
mod run_end;
mod runs_at;
mod search;
mod serve;
mod shell;
mod stats;
mod stop;
mod text;
mod threads;
mod translate;
mod view;
mod watch;
mod webhooks;

use crate::config::{LogFormat, Telemetry};
use clap::{Args, Parser, Subcommand};
use framegate_translators::runners::DEMO_COMMAND;
use std::io::ErrorKind;
use std::process::ExitCode;

/// The input was read and no problem was found.
pub const EXIT_CLEAN: u8 = 0;
/// `check` found problems, or `search` found nothing.
pub const EXIT_FINDINGS: u8 = 1;
/// The work could not be done: invalid arguments, or a file that cannot be read.
pub const EXIT_FAILED: u8 = 2;

/// The proxy cannot start with its configuration. Retrying is useless until the configuration changes (`EX_CONFIG`).
pub const EXIT_CONFIGURATION: u8 = 78;

/// Reads the output of coding agents, and emits it in the contract that a client understands.
#[derive(Debug, Parser)]
#[command(name = "framegate", version, about, arg_required_else_help = true)]
pub struct Cli {
    #[command(flatten)]
    log: LogArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Diagnostics")]
struct LogArgs {
    /// Which log lines go to stderr: a level (off, error, warn, info, debug, trace) or targets (warn,framegate=debug)
    /// [default: warn; serve: as configured]
    #[arg(long, global = true, value_name = "FILTER", env = "FRAMEGATE_LOG")]
    log: Option<String>,
    /// How log lines are written [default: text; serve: as configured]
    #[arg(long, global = true, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
}

impl LogArgs {
    /// The flags on top of `settings`.
    fn over(&self, settings: &Telemetry) -> Telemetry {
        Telemetry {
            format: self.log_format.unwrap_or(settings.format),
            filter: self.log.as_ref().unwrap_or(&settings.filter).clone(),
        }
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the proxy
    Serve(serve::Args),
    /// Start a runner, translate its output, and pass its exit status on
    Run(run::Args),
    /// Be an agent of the Agent Client Protocol on standard input and output, for an editor
    Acp(acp::Args),
    /// Be Claude Code: take its flags and its control protocol, for the Claude Agent SDK, and let another runner do the work
    ClaudeCompat(claude_code::Args),
    /// Follow the runs of a running proxy as text, and answer their questions
    Watch(watch::Args),
    /// Translate a runner's output to a contract's events, record by record
    Translate(translate::Args),
    /// Check a stream of events against its contract: schemas, order, pairing
    Check(check::Args),
    /// Show recordings in a browser
    View(view::Args),
    /// Write runs to one file that can be read without framegate
    Export(export::Args),
    /// Inspect a frame log, copy it, clean it up
    Log(frame_log::Args),
    /// Import the sessions that runners keep on this machine
    Import(import::Args),
    /// Print figures over runs: how they ended, time, tokens, cost, tools
    Stats(stats::Args),
    /// Search prompts, answers, and the inputs and outputs of tools
    Search(search::Args),
    /// Check a file of prices, or list the prices of models
    Prices(prices::Args),
    /// List the notifications over HTTP that were given up, or send them again
    Webhooks(webhooks::Args),
    /// List the contracts that clients can request
    Contracts(list::TableArgs),
    /// List the runners whose output is understood
    Runners(list::TableArgs),
    /// Print the JSON Schema of an event type or of a whole contract, or its TypeScript declarations
    Schema(list::SchemaArgs),
    /// List the rules that detect secrets: their names, for redaction.disabled_rules, and what they find
    Rules(list::TableArgs),
    /// Ask a running proxy whether it is healthy
    Health(health::Args),
    /// Print the completions of a shell
    Completions(shell::CompletionsArgs),
    /// Print a manual page
    Man(shell::ManArgs),
    /// Play a coding agent by a script, for `serve --demo`
    #[command(name = DEMO_COMMAND, hide = true)]
    DemoAgent(demo_agent::Args),
}

/// Runs the command.
///
/// # Errors
/// Returns the command's failure. [`is_closed_pipe`] recognises a broken pipe, which is not a failure.
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    // The default filter is quiet on stderr; a command's results go to stdout. `serve` reads its settings first and sets up
    // logging itself.
    if !matches!(cli.command, Command::Serve(_)) {
        let filter = match cli.command {
            Command::ClaudeCompat(_) => claude_code::LOG_FILTER,
            Command::View(_) | Command::Export(_) | Command::Import(_) => recordings::LOG_FILTER,
            _ => "warn",
        };
        let quiet = Telemetry { filter: filter.to_owned(), ..Telemetry::default() };
        crate::telemetry::init(&cli.log.over(&quiet))?;
    }
    match cli.command {
        Command::Serve(args) => serve::run(&args, &cli.log),
        Command::Run(args) => run::run(&args),
        Command::Acp(args) => acp::run(&args),
        Command::ClaudeCompat(args) => claude_code::run(&args),
        Command::Watch(args) => watch::run(&args),
        Command::Translate(args) => translate::run(&args),
        Command::Check(args) => check::run(&args),
        Command::View(args) => view::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Log(args) => frame_log::run(&args),
        Command::Import(args) => import::run(&args),
        Command::Stats(args) => stats::run(&args),
        Command::Search(args) => search::run(&args),
        Command::Prices(args) => prices::run(&args),
        Command::Webhooks(args) => webhooks::run(&args),
        Command::Contracts(args) => list::contracts(&args),
        Command::Runners(args) => list::runners(&args),
        Command::Schema(args) => list::schema(&args),
        Command::Rules(args) => list::rules(&args),
        Command::Health(args) => health::run(&args),
        Command::Completions(args) => shell::completions(&args),
        Command::Man(args) => shell::man(&args),
        Command::DemoAgent(args) => demo_agent::run(&args),
    }
}

/// Whether the error is only a broken pipe: the reader of our output has closed it.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .any(|cause| cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
