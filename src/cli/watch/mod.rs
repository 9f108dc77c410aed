//! `framegate watch`: follows the runs of a running proxy as text, and answers their questions.
//!
//! Input: where the proxy is, perhaps a run; keys, if standard input and output are a terminal. Output: text, line by line; answers to
//! the proxy. Never: a line twice or left out because the connection was lost; a terminal that stays changed; a question that is answered
//! without a terminal.

mod frames;

use super::asking::{Act, Asking};
use super::bridge::{self, Events, Failure, Proxy};
use super::text::{self, TextArgs, View};
use super::{EXIT_CLEAN, EXIT_FINDINGS};
use crate::platform::keys::Keys;
use crate::platform::signals::EndSignals;
use crate::platform::suspension::Suspensions;
use crate::render::terminal::label;
use anyhow::{Context, bail};
use framegate_translators::contracts::{Contract, FRAMES};
use framegate_translators::frame::{Body, EndReason, Frame, StreamKind};
use framegate_translators::host::Answer;
use hyper::StatusCode;
use serde_json::Value;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

/// The contract that is read.
const CONTRACT: &Contract = FRAMES;

/// How many frames wait to be shown.
const WAITING: usize = 256;

/// How many runs are searched for the beginning or the end of an id.
const SEARCHED: usize = 1000;

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct Args {
    /// The run: its id, or the beginning or the end of it [default: all runs, from now on]
    #[arg(value_name = "RUN")]
    run: Option<String>,
    /// The URL of the proxy
    #[arg(long, value_name = "URL", env = "FRAMEGATE_URL", default_value = "http://127.0.0.1:8080")]
    url: String,
    /// A file with the token for the proxy; answers need the scope control
    #[arg(long, value_name = "FILE", env = "FRAMEGATE_TOKEN_FILE")]
    token_file: Option<PathBuf>,
    /// A file with the certificates to trust, as PEM [default: those of the machine]
    #[arg(long, value_name = "FILE", env = "FRAMEGATE_CA_FILE")]
    ca_file: Option<PathBuf>,
    #[command(flatten)]
    text: TextArgs,
}

const AFTER_HELP: &str = "\
On a terminal, an open question is shown with its keys: y approves, n rejects, a approves for the session if the runner offers that,
digits choose, s leaves the question to other clients. Ctrl-C ends the command; the runs go on.

Exit codes:
  0   the run was completed
  1   the run failed or was interrupted
  2   there is no such run; the proxy cannot be reached, or refuses; invalid arguments
  130 Ctrl-C (143: SIGTERM)";

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let proxy = bridge::running(&args.url, args.token_file.as_deref(), args.ca_file.as_deref())?;
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot start the async runtime")?;
    let code = runtime.block_on(async {
        let run = match &args.run {
            Some(text) => Some(find(&proxy, text).await?),
            None => None,
        };
        let events = match run {
            Some(run) => proxy.events(run, CONTRACT, &format!("event_type={}", frames::TYPES.join(","))),
            None => proxy.feed(CONTRACT, frames::TYPES),
        };
        Watch::new(args, proxy, run, events.patient())?.follow().await
    })?;
    // A thread may still wait for a key.
    runtime.shutdown_background();
    Ok(ExitCode::from(code))
}

/// The run whose id begins or ends like this.
async fn find(proxy: &Proxy, text: &str) -> anyhow::Result<Uuid> {
    if let Ok(run) = Uuid::try_parse(text) {
        return Ok(run);
    }
    let digits: String = text.chars().filter(|letter| *letter != '-').collect::<String>().to_ascii_lowercase();
    if digits.len() < 4 || !digits.chars().all(|digit| digit.is_ascii_hexdigit()) {
        bail!("invalid run id {text:?}: use an id, or at least 4 digits of its beginning or its end");
    }
    let page = proxy.get(&format!("/v1/runs?limit={SEARCHED}")).await?;
    let runs = page.get("data").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let ids = runs.iter().filter_map(|run| Uuid::try_parse(run.get("run_id")?.as_str()?).ok());
    let fits = |id: &Uuid| {
        let id = id.simple().to_string();
        id.starts_with(&digits) || id.ends_with(&digits)
    };
    let found: Vec<Uuid> = ids.filter(fits).collect();
    match found.as_slice() {
        [run] => Ok(*run),
        [] => bail!("there is no run {text} among the newest {SEARCHED} of the proxy"),
        [one, other, ..] => bail!("{text:?} fits {} runs, such as {one} and {other}", found.len()),
    }
}

/// What an answer led to.
struct Answered {
    run: Uuid,
    approval: String,
    result: Result<(), Failure>,
}

struct Watch {
    proxy: Proxy,
    run: Option<Uuid>,
    view: View,
    keys: Option<Keys>,
    asking: Asking,
    events: Option<Events>,
    trouble: Arc<Mutex<String>>,
    /// The trouble that was reported in a pipe.
    told: String,
    end: Option<EndReason>,
}

impl Watch {
    fn new(args: &Args, proxy: Proxy, run: Option<Uuid>, events: Events) -> anyhow::Result<Self> {
        let view = View::new(&args.text, run.is_none(), false);
        let is_interactive = view.is_live() && io::stdin().is_terminal();
        let keys = if is_interactive { Some(Keys::open().context("cannot read keys")?) } else { None };
        let trouble = events.trouble();
        let (asking, told) = (Asking::default(), String::new());
        Ok(Self { proxy, run, view, keys, asking, events: Some(events), trouble, told, end: None })
    }

    async fn follow(mut self) -> anyhow::Result<u8> {
        let mut signals = EndSignals::listen().context("cannot listen for signals")?;
        let mut suspensions = Suspensions::listen().context("cannot listen for signals")?;
        let mut ticks = tokio::time::interval(text::TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let (answers, mut answered) = mpsc::channel::<Answered>(8);
        let (sender, mut frames) = mpsc::channel(WAITING);
        let Some(events) = self.events.take() else { bail!("the events were followed already") };
        let _reader = AbortOnDropHandle::new(tokio::spawn(read(events, sender)));
        let code = loop {
            let keys = async {
                match &mut self.keys {
                    Some(keys) => keys.next().await,
                    None => None,
                }
            };
            tokio::select! {
                frame = frames.recv() => match frame {
                    Some(Ok(frame)) => {
                        self.frame(&frame);
                        // What came at once is drawn once.
                        while let Ok(Ok(frame)) = frames.try_recv() {
                            self.frame(&frame);
                        }
                        self.draw(false)?;
                    }
                    Some(Err(failure)) => {
                        self.view.end()?;
                        return Err(failure.into());
                    }
                    None => break self.code(),
                },
                Some(key) = keys => self.key(key, &answers)?,
                Some(answer) = answered.recv() => self.answered(answer)?,
                _ = ticks.tick() => self.draw(true)?,
                signal = signals.next() => break 128 + signal.number(),
                () = suspensions.next() => {
                    self.view.stop_here(self.keys.as_ref())?;
                    self.draw(true)?;
                }
            }
        };
        self.view.finish().context("cannot write")?;
        Ok(code)
    }

    /// The exit code at the end of the events.
    fn code(&self) -> u8 {
        match self.end {
            Some(EndReason::Failed | EndReason::Interrupted) => EXIT_FINDINGS,
            Some(EndReason::Completed) | None => EXIT_CLEAN,
        }
    }

    fn frame(&mut self, frame: &Frame) {
        if let Body::SessionEnded(end) = &frame.body
            && frame.stream.kind == StreamKind::Session
            && self.run == Some(frame.stream.id)
        {
            self.end = Some(end.reason);
        }
        if self.keys.is_some() && self.asking.frame(frame) {
            let run = label(frame.stream.id);
            self.view.message(&format!("{run}: too many questions wait here; another one is left to other clients"));
        }
        self.view.frame(frame);
    }

    fn draw(&mut self, is_tick: bool) -> anyhow::Result<()> {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if !self.view.is_live() && trouble != self.told {
            let text = match trouble.is_empty() {
                true => "connected again".to_owned(),
                false => format!("the connection is lost, and tried again: {trouble}"),
            };
            self.view.message(&text);
            self.told.clone_from(&trouble);
        }
        let mut below = self.asking.lines();
        if !trouble.is_empty() {
            below.push(format!("! the connection is lost, and tried again: {trouble}"));
        } else if self.view.is_idle() && below.is_empty() {
            below.push("● waiting for runs; Ctrl-C ends".to_owned());
        }
        // A new question is shown at once.
        let is_due = is_tick || !below.is_empty();
        self.view.draw(&below, is_due).context("cannot write")
    }

    fn key(&mut self, key: u8, answers: &mpsc::Sender<Answered>) -> anyhow::Result<()> {
        match self.asking.key(key) {
            Act::Nothing => return Ok(()),
            Act::Redraw => {}
            Act::Skip(tool) => self.view.message(&format!("the question about {tool} is left to other clients")),
            Act::Send { run, approval, answer } => {
                let (approval, decision) = (approval.to_string(), json_of(&answer));
                let (proxy, answers) = (self.proxy.clone(), answers.clone());
                tokio::spawn(async move {
                    let result = proxy.decide(run, &approval, &decision).await;
                    // The command may have ended.
                    let _ = answers.send(Answered { run, approval, result }).await;
                });
            }
        }
        self.draw(true)
    }

    /// Reports what became of an answer. A decision is an event, which everything else shows.
    fn answered(&mut self, answer: Answered) -> anyhow::Result<()> {
        let Answered { run, approval, result } = answer;
        match result {
            Ok(()) => self.asking.settled(run, &approval),
            Err(failure) if failure.status() == Some(StatusCode::CONFLICT) => {
                self.asking.settled(run, &approval);
                self.view.message(&format!("{}: the question was settled before this answer: {failure}", label(run)));
            }
            Err(failure) => {
                self.asking.not_sent(run, &approval);
                self.view.message(&format!("{}: the answer was not accepted: {failure}", label(run)));
            }
        }
        self.draw(true)
    }
}

/// An answer as the proxy takes it.
fn json_of(answer: &Answer) -> Value {
    // A field that is null counts as absent.
    let Answer { decision, reason, scope, answers } = answer;
    serde_json::json!({"decision": decision.as_str(), "reason": reason, "scope": scope, "answers": answers})
}

/// Reads events to their end.
async fn read(mut events: Events, frames: mpsc::Sender<Result<Frame, Failure>>) {
    loop {
        let frame = match events.next().await {
            Ok(Some(event)) => match frames::read(&event) {
                Some(frame) => Ok(frame),
                None => continue,
            },
            Ok(None) => return,
            Err(failure) => Err(failure),
        };
        let is_over = frame.is_err();
        if frames.send(frame).await.is_err() || is_over {
            return;
        }
    }
}
