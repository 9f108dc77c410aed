//! `framegate claude-compat UPSTREAM`: an upstream behind the flags and the control protocol of `claude`, for the Claude Agent SDK and for what
//! was written against `claude -p`.
//!
//! Input: the arguments of `claude`, and prompts and control messages on standard input. Output: the messages of `claude`, and its exit codes.
//! Never: a flag that is ignored although the outcome depends on it; an approval that no flag and no client gave; anything else on standard output.
//!
//! Each prompt is a run of the proxy, whose events in the contract are the messages of the conversation.

mod conversation;
mod decision;
mod fields;
mod flags;
mod incoming;
mod invocation;
mod memory;
mod permissions;
mod printer;
mod replies;
mod text_input;
mod work;

use super::bridge::{Input, Opened, Output, Place, Waiting};
use super::{named_upstream, threads};
use crate::clock::Clock;
use crate::platform::signals::EndSignals;
use anyhow::{Context, anyhow};
use conversation::{Action, Conversation, Report, Session, Settings, States};
use framegate_translators::contracts::claude_code::RELEASE;
use incoming::{Content, Prompt};
use invocation::{Asked, Instructions, Invocation};
use memory::Memory;
use printer::Printer;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use uuid::Uuid;
use work::Worker;

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP, override_usage = "framegate claude-compat [OPTIONS] UPSTREAM [CLAUDE'S ARGUMENTS]")]
pub(super) struct Args {
    #[command(flatten)]
    place: Place,
    /// Let runs work in the upstream's own directory, not in the current one: for a proxy on another machine
    #[arg(long, env = "FRAMEGATE_NO_CWD", value_parser = clap::builder::FalseyValueParser::new())]
    no_cwd: bool,
    #[arg(value_name = "ARGUMENTS", help = arguments_help(), trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// The help of the arguments.
fn arguments_help() -> String {
    let presets = named_upstream::presets_help();
    format!(
        "An upstream of the proxy (without a URL, a configured one or a preset: {presets}), then the arguments of claude. If \
         FRAMEGATE_UPSTREAM names the upstream, all are arguments of claude"
    )
}

/// The end of `--help`.
const AFTER_HELP: &str = "\
The Claude Agent SDK starts a program by its path. This script is one:
  #!/bin/sh
  exec framegate claude-compat codex \"$@\"

Exit codes:
  0     the last run was completed
  1     it failed or was interrupted; invalid arguments
  130   Ctrl-C interrupted the run (143: SIGTERM)";

/// The environment variable that names the upstream.
const UPSTREAM: &str = "FRAMEGATE_UPSTREAM";

/// What goes to standard error: what concerns the conversation, and errors. The client may show it to its user.
pub(super) const LOG_FILTER: &str = "error,framegate::cli=warn";

/// The exit code of `claude` for whatever went wrong.
const FAILED: u8 = 1;

/// Reports that wait for the conversation. Beyond it, the tasks that follow runs wait.
const REPORTS: usize = 64;

/// How long a run may take to end after a signal.
const GRACE: Duration = Duration::from_secs(10);

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let code = try_run(args).unwrap_or_else(|error| {
        // If standard error is closed too, the error cannot be reported.
        let _ = writeln!(std::io::stderr(), "error: {error:#}");
        FAILED
    });
    Ok(ExitCode::from(code))
}

fn try_run(args: &Args) -> anyhow::Result<u8> {
    let (upstream, arguments) = arguments(args)?;
    let is_behind_others = args.place.url.is_some();
    let asked = Asked::read(&arguments, is_behind_others, std::io::stdin().is_terminal());
    let invocation = match asked.map_err(|error| anyhow!(error))? {
        Asked::Version => {
            writeln!(std::io::stdout(), "{RELEASE} (Claude Code)")?;
            return Ok(0);
        }
        Asked::Conversation(invocation) => *invocation,
    };
    for warning in &invocation.warnings {
        tracing::warn!("{warning}");
    }
    let upstream = upstream.context("no upstream is named: framegate claude-compat UPSTREAM, or FRAMEGATE_UPSTREAM")?;
    let runtime = threads::runtime(0)?;
    let code = runtime.block_on(serve(args, upstream, invocation))?;
    // A thread that waits for standard input would keep the runtime from ending.
    runtime.shutdown_background();
    Ok(code)
}

/// The upstream, and the arguments of `claude`.
fn arguments(args: &Args) -> anyhow::Result<(Option<String>, Vec<String>)> {
    let mut texts = Vec::new();
    for argument in &args.arguments {
        let text = argument.to_str().with_context(|| format!("{} is not valid Unicode", argument.display()))?;
        texts.push(text.to_owned());
    }
    if let Some(upstream) = std::env::var(UPSTREAM).ok().filter(|name| !name.is_empty()) {
        return Ok((Some(upstream), texts));
    }
    let has_upstream = texts.first().is_some_and(|first| !first.starts_with('-'));
    let upstream = has_upstream.then(|| texts.remove(0));
    Ok((upstream, texts))
}

async fn serve(args: &Args, upstream: String, invocation: Invocation) -> anyhow::Result<u8> {
    let cwd = std::env::current_dir().context("cannot find the current directory")?;
    let cwd = cwd.into_os_string().into_string().map_err(|_| anyhow!("the current directory is not valid Unicode"))?;
    let url = args.place.url.as_deref();
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let memory = Memory::of(url.unwrap_or_default(), &upstream, &cwd, variable);
    let session = session(&invocation.session, memory.as_ref())?;
    let instructions = invocation.instructions.iter().map(text_of).collect::<anyhow::Result<Vec<_>>>()?;
    // Standard input is read before anything is started.
    let (input, prompt) = match invocation.reads_messages {
        true => (Some(Input::open().context("cannot read standard input")?), invocation.prompt.clone()),
        false => {
            let given = invocation.prompt.clone();
            let read = tokio::task::spawn_blocking(move || text_input::read(given.as_deref())).await;
            (None, Some(read.context("cannot read standard input")??))
        }
    };
    let Opened { proxy, embedded } = args.place.open(&upstream, |_| Ok(())).await?;
    let checked = work::check(&proxy, &upstream).await;
    let settings = Settings {
        upstream,
        cwd: (!args.no_cwd).then(|| cwd.clone()),
        shown_cwd: cwd,
        model: invocation.model.clone(),
        has_partial_messages: invocation.has_partial_messages,
        repeats_prompts: invocation.repeats_prompts,
        max_turns: invocation.max_turns,
        states: states(|name| std::env::var(name).ok()),
        names_sessions: embedded.is_some(),
        clock: Clock::System,
    };
    let mut conversation = Conversation::new(settings, invocation.permissions.clone(), session, instructions);
    let (reports, reported) = mpsc::channel(REPORTS);
    let worker = Worker::new(proxy, reports, invocation.has_partial_messages);
    let first = prompt.map(|text| {
        let content = Content { text, files: Vec::new() };
        Prompt { content: Ok(content), uuid: String::new(), message: None, bytes: 0 }
    });
    let first = first.map(|prompt| conversation.prompt(prompt)).unwrap_or_default();
    let channel = Channel {
        conversation,
        worker,
        memory: memory.filter(|_| invocation.is_remembered),
        printer: Printer::new(invocation.output, invocation.is_verbose),
        waiting: Waiting::default(),
        tasks: JoinSet::new(),
    };
    let talked = match checked {
        Ok(()) => write_all(channel, first, input, reported).await,
        Err(error) => Err(error),
    };
    if let Some(embedded) = embedded {
        embedded.stop().await;
    }
    talked
}

/// Holds the conversation, and waits until its last message has been written.
async fn write_all(
    channel: Channel,
    first: Vec<Action>,
    input: Option<Input>,
    reports: mpsc::Receiver<Report>,
) -> anyhow::Result<u8> {
    let (output, written) = Output::open().context("cannot write to standard output")?;
    let talked = channel.talk(first, input, reports, output).await;
    written.wait().await;
    talked
}

/// The session that a call continues or begins.
fn session(asked: &invocation::Session, memory: Option<&Memory>) -> anyhow::Result<Session> {
    let known = |id: &str| memory.and_then(|memory| memory.find(id));
    Ok(match asked {
        invocation::Session::New => Session::default(),
        invocation::Session::Named(id) if known(id).is_some() => {
            return Err(anyhow!("Session ID {id} is already in use."));
        }
        invocation::Session::Named(id) => Session { shown: Some(id.clone()), continues: None },
        invocation::Session::Resumed(id) => match known(id) {
            Some(record) => Session { shown: Some(record.shown), continues: Some(record.session) },
            // The upstream's own name of a session is not a UUID with all runners; the proxy then derives one.
            None => Session { shown: Uuid::try_parse(id).is_ok().then(|| id.clone()), continues: Some(id.clone()) },
        },
        invocation::Session::Latest => match memory.and_then(Memory::latest) {
            Some(record) => Session { shown: Some(record.shown), continues: Some(record.session) },
            None => return Err(anyhow!("No conversation found to continue")),
        },
    })
}

fn text_of(instructions: &Instructions) -> anyhow::Result<String> {
    match instructions {
        Instructions::Text(text) => Ok(text.clone()),
        Instructions::File(path) => std::fs::read_to_string(path).with_context(|| format!("cannot read {path}")),
    }
}

/// Whether the client wants to know the state. The SDK sets the first variable, its user the second one.
fn states(variable: impl Fn(&str) -> Option<String>) -> States {
    let is_set =
        |name| variable(name).is_some_and(|value| matches!(value.to_lowercase().as_str(), "1" | "true" | "yes" | "on"));
    if is_set("CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS") {
        States::All
    } else if is_set("CLAUDE_CODE_SDK_READS_SESSION_STATE") {
        States::Host
    } else {
        States::None
    }
}

/// The way between the client and the proxy.
struct Channel {
    conversation: Conversation,
    worker: Worker,
    memory: Option<Memory>,
    printer: Printer,
    /// Lines for the client.
    waiting: Waiting,
    tasks: JoinSet<()>,
}

impl Channel {
    /// Passes messages on until the conversation is over, the client has left or a signal came. Returns the exit code.
    async fn talk(
        mut self,
        first: Vec<Action>,
        mut input: Option<Input>,
        mut reports: mpsc::Receiver<Report>,
        output: Output,
    ) -> anyhow::Result<u8> {
        let mut signals = EndSignals::listen().context("cannot listen for signals")?;
        let mut stopped: Option<u8> = None;
        let give_up = tokio::time::sleep(GRACE);
        tokio::pin!(give_up);
        self.perform(first);
        if input.is_none() {
            let actions = self.conversation.end();
            self.perform(actions);
        }
        loop {
            if let Some(code) = self.conversation.exit_code() {
                if let Some(last) = self.printer.end() {
                    self.waiting.push(last.into_bytes());
                }
                self.waiting.flush(&output).await;
                return Ok(stopped.unwrap_or(code));
            }
            let actions = tokio::select! {
                // The client has left: a run for it is of no use.
                () = output.closed() => return self.leave(&mut reports).await,
                place = output.place(), if !self.waiting.is_empty() => {
                    let Ok(place) = place else { return self.leave(&mut reports).await };
                    if let Some(line) = self.waiting.pop() {
                        place.send(line);
                    }
                    continue;
                }
                line = next(&mut input), if input.is_some() && !self.waiting.is_full() => match line {
                    Some(line) => self.conversation.line(&line),
                    None => {
                        input = None;
                        self.conversation.end()
                    }
                },
                Some(report) = reports.recv(), if !self.waiting.is_long() => self.conversation.report(report),
                Some(_) = self.tasks.join_next() => continue,
                signal = signals.next() => {
                    let number = signal.number();
                    if stopped.replace(128 + number).is_some() {
                        return Ok(128 + number);
                    }
                    input = None;
                    give_up.as_mut().reset(tokio::time::Instant::now() + GRACE);
                    self.conversation.stop()
                }
                () = &mut give_up, if stopped.is_some() => return Ok(stopped.unwrap_or(FAILED)),
            };
            self.perform(actions);
        }
    }

    fn perform(&mut self, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Write(message) => {
                    if let Some(text) = self.printer.message(&message) {
                        self.waiting.push(text.into_bytes());
                    }
                }
                Action::Remember { shown, session } => {
                    if let Some(memory) = &self.memory {
                        memory.add(&shown, &session);
                    }
                }
                Action::Warn(text) => tracing::warn!("{text}"),
                action => drop(self.tasks.spawn(self.worker.clone().run(action))),
            }
        }
    }

    /// Interrupts the run in progress without anything to write.
    async fn leave(mut self, reports: &mut mpsc::Receiver<Report>) -> anyhow::Result<u8> {
        let actions = self.conversation.stop();
        self.perform(actions);
        let ended = async {
            while self.conversation.exit_code().is_none() {
                let Some(report) = reports.recv().await else { break };
                let actions = self.conversation.report(report);
                self.perform(actions);
                self.waiting.clear();
            }
        };
        // A run that does not end is left to the proxy.
        let _ = tokio::time::timeout(GRACE, ended).await;
        Ok(FAILED)
    }
}

async fn next(input: &mut Option<Input>) -> Option<super::bridge::Line> {
    match input {
        Some(input) => input.next().await,
        None => None,
    }
}
