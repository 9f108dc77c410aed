//! `framegate acp UPSTREAM`: an upstream as an agent of the Agent Client Protocol (ACP), version 1, on standard input and output.
//!
//! Input: the messages of an editor or another ACP client. Output: the messages of an agent, one on each line. Never: anything else on standard
//! output; a line of the client that waits because the client does not read; a second turn of a session beside the first one.
//!
//! Each prompt is a run of the proxy, whose events in the contract are the messages of the turn. When standard input ends, the command leaves: a
//! proxy of its own ends its runs, a run of another proxy goes on.

mod agent;
mod event;
mod memory;
mod modes;
mod prompt;
mod rpc;
mod session;
mod terminals;
mod work;

use super::bridge::{Input, Opened, Output, Place, Waiting};
use super::{EXIT_CLEAN, named_upstream, threads};
use crate::clock::Clock;
use crate::config::upstream::Upstream;
use crate::platform::signals::EndSignals;
use agent::{Action, Agent, Report, Settings};
use anyhow::{Context, anyhow};
use framegate_translators::runners::Freedom;
use memory::Memory;
use session::Sessions;
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use work::Worker;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[arg(help = upstream_help())]
    upstream: String,
    #[command(flatten)]
    place: Place,
    /// A model that the client may choose; may be given several times. The first one is used unless the client chooses another one
    /// [default: the upstream's model, and no choice]
    #[arg(long = "model", value_name = "NAME")]
    models: Vec<String>,
    /// A mode of the runner that the client may choose; may be given several times. The first one is used unless the client chooses another
    /// one [default: those of the upstream; with an own proxy and no such settings, all but those without questions]
    #[arg(long = "mode", value_name = "NAME")]
    modes: Vec<String>,
    /// Let runs work in the upstream's own directory, not in that of the client: for a proxy on another machine
    #[arg(long, requires = "url")]
    no_cwd: bool,
}

/// The help of the first argument.
fn upstream_help() -> String {
    let presets = named_upstream::presets_help();
    format!("An upstream of the proxy; without a URL, a configured one or a preset: {presets}")
}

/// Reports that wait for the agent. Beyond it, the tasks that follow runs wait.
const REPORTS: usize = 64;

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let runtime = threads::runtime(0)?;
    runtime.block_on(serve(args))?;
    // A thread that waits for standard input would keep the runtime from ending.
    runtime.shutdown_background();
    Ok(ExitCode::from(EXIT_CLEAN))
}

/// Lets the client choose modes of the own proxy's upstream: those of the command line, or else of the settings, or else all but those in which
/// no question protects the machine.
fn offer_modes(upstream: &mut Upstream, wanted: &[String]) -> anyhow::Result<()> {
    if !wanted.is_empty() {
        return upstream.offer(wanted).map_err(|error| anyhow!("--mode: {error}"));
    }
    if upstream.modes.names.is_empty() {
        upstream.modes.names = upstream.modes_up_to(Freedom::Edits);
    }
    Ok(())
}

async fn serve(args: &Args) -> anyhow::Result<()> {
    let offer = |upstream: &mut Upstream| offer_modes(upstream, &args.modes);
    let Opened { proxy, embedded } = args.place.open(&args.upstream, offer).await?;
    let url = args.place.url.as_deref();
    let memory = url.and_then(|url| Memory::of(url, &args.upstream, |name| std::env::var_os(name).map(PathBuf::from)));
    let settings = Settings {
        upstream: args.upstream.clone(),
        models: args.models.clone(),
        modes: args.modes.clone(),
        sends_cwd: !args.no_cwd,
        clock: Clock::System,
    };
    let agent = Agent::new(settings, Sessions::remembered(memory.as_ref().map(Memory::read).unwrap_or_default()));
    let (reports, reported) = mpsc::channel(REPORTS);
    let worker = Worker::new(proxy, args.upstream.clone(), reports)?;
    let (output, written) = Output::open().context("cannot write to standard output")?;
    let talked =
        talk(agent, worker, reported, memory, Input::open().context("cannot read standard input")?, output).await;
    if let Some(embedded) = embedded {
        embedded.stop().await;
    }
    written.wait().await;
    talked
}

/// Passes messages on until the client leaves or a signal comes.
async fn talk(
    mut agent: Agent,
    worker: Worker,
    mut reports: mpsc::Receiver<Report>,
    memory: Option<Memory>,
    mut input: Input,
    output: Output,
) -> anyhow::Result<()> {
    let mut signals = EndSignals::listen().context("cannot listen for signals")?;
    let mut waiting = Waiting::default();
    let mut tasks = JoinSet::new();
    loop {
        let actions = tokio::select! {
            () = output.closed() => return Ok(()),
            place = output.place(), if !waiting.is_empty() => {
                let Ok(place) = place else { return Ok(()) };
                if let Some(line) = waiting.pop() {
                    place.send(line);
                }
                continue;
            }
            line = input.next(), if !waiting.is_full() => match line {
                Some(line) => agent.line(&line),
                None => {
                    // The answers to the last lines of the client.
                    waiting.flush(&output).await;
                    return Ok(());
                }
            },
            Some(report) = reports.recv(), if !waiting.is_long() => agent.report(report),
            Some(_) = tasks.join_next() => continue,
            _ = signals.next() => return Ok(()),
        };
        for action in actions {
            match action {
                Action::Send(message) => {
                    waiting.push(serde_json::to_vec(&message).context("cannot write a message")?);
                }
                Action::Remember(record) => {
                    if let Some(memory) = memory.clone() {
                        tokio::task::spawn_blocking(move || memory.keep(record));
                    }
                }
                Action::Warn(text) => tracing::warn!("{text}"),
                action => drop(tasks.spawn(worker.clone().run(action))),
            }
        }
    }
}
