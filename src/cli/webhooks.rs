//! `framegate webhooks`: lists the notifications that were given up, and sends them again.
//!
//! Input: the configuration, whose folder has these notifications. Output: a table or JSON; requests to the endpoints of the configuration. Never: a file
//! removed whose notification was not delivered.

use super::serve::engine;
use super::{EXIT_CLEAN, EXIT_FINDINGS};
use crate::config::{Config, Sources};
use crate::visible;
use crate::webhooks::{DeadLetter, DeadLetters, Target, remove, send_again};
use anyhow::{Context, bail};
use framegate_translators::contracts::rfc3339_seconds;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the notifications that were given up, oldest first
    List(ListArgs),
    /// Send them again, each once, and remove those that are delivered (exit code 1 if one is not)
    Redeliver(RedeliverArgs),
}

#[derive(Debug, clap::Args)]
struct Selection {
    /// Only those of this endpoint
    #[arg(long, value_name = "NAME")]
    webhook: Option<String>,
    /// The configuration file [default: the one that FRAMEGATE_CONFIG names, or config.toml if it is there]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    #[command(flatten)]
    selection: Selection,
    /// Print one JSON object on each line instead of a table, with the body
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct RedeliverArgs {
    /// The ids of the notifications
    #[arg(value_name = "ID", required_unless_present = "all")]
    ids: Vec<String>,
    /// All that are listed
    #[arg(long, conflicts_with = "ids")]
    all: bool,
    #[command(flatten)]
    selection: Selection,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    match &args.command {
        Command::List(args) => list(args),
        Command::Redeliver(args) => redeliver(args),
    }
}

/// The notifications that were given up, with their files.
fn letters(selection: &Selection) -> anyhow::Result<(Config, Vec<(PathBuf, DeadLetter)>)> {
    let config = Sources::new(selection.config.clone(), std::env::vars_os())?.load()?;
    let Some(folder) = engine::dead_letters(&config, config.log.kind) else {
        bail!("the configuration has no folder for notifications that were given up; set webhooks.failed_folder");
    };
    let letters = read(&folder)?;
    if let Some(name) = &selection.webhook {
        let configured = config.webhooks.endpoint.iter().map(|endpoint| endpoint.name.as_str());
        let known: BTreeSet<&str> =
            configured.chain(letters.iter().map(|(_, letter)| letter.webhook.as_str())).collect();
        if !known.contains(name.as_str()) {
            let known: Vec<String> = known.into_iter().map(|name| visible::line(name).into_owned()).collect();
            let known =
                if known.is_empty() { "there is none".to_owned() } else { format!("known: {}", known.join(", ")) };
            bail!("there is no webhook {name:?}; {known}");
        }
    }
    let is_wanted = |letter: &DeadLetter| selection.webhook.as_ref().is_none_or(|name| *name == letter.webhook);
    Ok((config, letters.into_iter().filter(|(_, letter)| is_wanted(letter)).collect()))
}

fn read(folder: &DeadLetters) -> anyhow::Result<Vec<(PathBuf, DeadLetter)>> {
    let mut letters = Vec::new();
    for (path, letter) in folder.list().context("cannot read the notifications that were given up")? {
        match letter {
            Ok(letter) => letters.push((path, letter)),
            Err(error) => {
                let path = visible::line(&path.display().to_string()).into_owned();
                tracing::warn!(path, %error, "a file cannot be read as a notification");
            }
        }
    }
    Ok(letters)
}

fn list(args: &ListArgs) -> anyhow::Result<ExitCode> {
    let (_, letters) = letters(&args.selection)?;
    let mut out = std::io::stdout().lock();
    for (_, letter) in &letters {
        if args.json {
            writeln!(out, "{}", serde_json::to_string(letter)?)?;
            continue;
        }
        let DeadLetter { id, webhook, r#type, run_id, given_up_ms, attempts, error, .. } = letter;
        let tried = if *attempts == 1 { "1 attempt".to_owned() } else { format!("{attempts} attempts") };
        let line =
            format!("{id}  {}  {webhook}  {}  {run_id}  {tried}  {error}", rfc3339_seconds(*given_up_ms), r#type);
        writeln!(out, "{}", visible::line(&line))?;
    }
    out.flush()?;
    Ok(ExitCode::from(EXIT_CLEAN))
}

fn redeliver(args: &RedeliverArgs) -> anyhow::Result<ExitCode> {
    let (config, letters) = letters(&args.selection)?;
    for id in &args.ids {
        if !letters.iter().any(|(_, letter)| letter.id == *id) {
            bail!("there is no notification {id:?}; `framegate webhooks list` lists all");
        }
    }
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start the async runtime")?;
    let mut out = std::io::stdout().lock();
    let mut are_all_delivered = true;
    for (path, letter) in letters.iter().filter(|(_, letter)| args.all || args.ids.contains(&letter.id)) {
        let sent = runtime.block_on(send(&config, letter));
        let line = match sent {
            Ok(()) => {
                remove(path).with_context(|| format!("cannot remove {}", path.display()))?;
                format!("{}  {}  delivered", letter.id, letter.webhook)
            }
            Err(error) => {
                are_all_delivered = false;
                format!("{}  {}  {error}", letter.id, letter.webhook)
            }
        };
        writeln!(out, "{}", visible::line(&line))?;
        out.flush()?;
    }
    Ok(ExitCode::from(if are_all_delivered { EXIT_CLEAN } else { EXIT_FINDINGS }))
}

async fn send(config: &Config, letter: &DeadLetter) -> Result<(), String> {
    let endpoint = config.webhooks.endpoint.iter().find(|endpoint| endpoint.name == letter.webhook);
    let endpoint = endpoint.ok_or_else(|| "the configuration has no such endpoint".to_owned())?;
    let target = Target::read(endpoint).map_err(|error| error.to_string())?;
    send_again(&target, letter).await
}
