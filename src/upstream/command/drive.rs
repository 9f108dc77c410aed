//! Drives one program from its start to its end.
//!
//! In: its output, what somebody wants said to it, the time, the order to stop. Out: frames in the log; what is said to it;
//! signals; the end of its runs. Never: waiting for a program that is to end, its exit judged before its output was read.

use super::ending::{self, Cause, Ending};
use super::process::Process;
use super::stderr;
use super::writer::Writer;
use crate::config::upstream::Command;
use crate::ingest::{Ingest, IngestError, Stopped};
use crate::log::StreamId;
use crate::runs::{Entry, Exited, Ingested, Runs};
use crate::stopping::Phase;
use crate::telemetry::metrics::IngestMeter;
use crate::upstream::{Claim, Conversation, Said, SayError, StartError};
use framegate_translators::frame::{Name, StreamKind};
use framegate_translators::host::Wish;
use framegate_translators::ledger::RunEnd;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::process::ChildStdout;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use uuid::Uuid;

/// How a program ended.
#[derive(Clone, Debug)]
pub struct Exit {
    /// Its status; `None` where the system gave none.
    pub status: Option<ExitStatus>,
    /// Why it was ended, or its output not kept, where that was not its own doing.
    pub cut: Option<String>,
}

/// What is read at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// The most that a pipe may hold (`/proc/sys/fs/pipe-max-size` as systems have it): what a program can have left behind.
const PIPE_BYTES: usize = 1 << 20;

/// How long reading from a pipe may take that has something.
const AT_HAND: Duration = Duration::from_millis(50);

/// What a drive is made of.
pub(super) struct Parts {
    pub(super) settings: Arc<Command>,
    pub(super) runs: Arc<Runs>,
    pub(super) ingest: Ingest,
    pub(super) conversation: Conversation,
    pub(super) has_dialogue: bool,
    pub(super) said: mpsc::Receiver<Said>,
    pub(super) writer: Writer,
    pub(super) process: Process,
    pub(super) output: ChildStdout,
    pub(super) phase: watch::Receiver<Phase>,
    pub(super) run_begins: oneshot::Sender<Result<Uuid, StartError>>,
    /// Held until there is a run.
    pub(super) claim: Option<Claim>,
}

/// See the module.
pub(super) struct Drive {
    settings: Arc<Command>,
    runs: Arc<Runs>,
    ingest: Ingest,
    ingested: Ingested,
    conversation: Conversation,
    has_dialogue: bool,
    said: mpsc::Receiver<Said>,
    writer: Writer,
    process: Process,
    output: ChildStdout,
    phase: watch::Receiver<Phase>,
    run_begins: Option<oneshot::Sender<Result<Uuid, StartError>>>,
    claim: Option<Claim>,
    /// What became of its prompts so far, and since when.
    turns: (u64, Instant),
    began: Instant,
    /// When it said something last.
    heard: Instant,
    /// Since when no run goes on, behind the first.
    idle: Option<Instant>,
    ending: Option<Ending>,
    output_is_over: bool,
    left: Option<(Option<ExitStatus>, Instant)>,
    chunk: Vec<u8>,
}

enum Event {
    Output(std::io::Result<usize>),
    Left(std::io::Result<ExitStatus>),
    Said(Said),
    Sent(Result<(), String>),
    Phase,
    Due,
}

impl Drive {
    pub(super) fn new(parts: Parts) -> Self {
        let now = Instant::now();
        Self {
            settings: parts.settings,
            runs: parts.runs,
            ingested: parts.ingest.ingested(),
            ingest: parts.ingest,
            conversation: parts.conversation,
            has_dialogue: parts.has_dialogue,
            said: parts.said,
            writer: parts.writer,
            process: parts.process,
            output: parts.output,
            phase: parts.phase,
            run_begins: Some(parts.run_begins),
            claim: parts.claim,
            turns: (0, now),
            began: now,
            heard: now,
            idle: None,
            ending: None,
            output_is_over: false,
            left: None,
            chunk: vec![0; CHUNK_BYTES],
        }
    }

    /// Drives it to its end; gives how it ended, and a short word for metrics.
    pub(super) async fn run(mut self, meter: &IngestMeter) -> (Exit, &'static str) {
        let taken = self.take_in(meter).await;
        let status = self.left.and_then(|(status, _)| status);
        let cause = self.ending.as_ref().map(|ending| ending.cause.clone());
        // On failure the runs are closed already. What the program still does is of no use to anybody.
        let said = self.process.finish().await;
        let (code, message) = ending::of_run(cause.as_ref(), &self.settings, status);
        let is_stopped = matches!(cause, Some(Cause::Interrupt { .. } | Cause::Stopping));
        let is_by_us = cause.as_ref().is_some_and(|cause| *cause != Cause::Leaving);
        let stopped = match taken {
            Ok(()) => {
                // What nobody wanted to end has failed.
                let end = if is_stopped { RunEnd::interrupted } else { RunEnd::failed };
                self.ingest.cut_by(end(Name::from(code), message.clone()));
                self.ingest.finish().await.err().map(Stopped::from)
            }
            Err(error) => Some(Stopped::from(error)),
        };
        self.conversation.over(&self.runs);
        if let (Some(status), Some(run)) = (status, last_run(&self.ingested)) {
            self.runs.exited(&run, Exited::of(status)).await;
        }
        let ended = status.map_or_else(|| "ended".to_owned(), ending::told);
        if let Some(run_begins) = self.run_begins.take() {
            let run = first_run(&self.ingested);
            let why = match (&stopped, &cause) {
                (Some(stopped), _) => stopped.reason(),
                (None, Some(Cause::Refused(words))) => format!("the runner refuses: {words}"),
                (None, Some(Cause::NoRun)) => {
                    let ms = self.settings.start_timeout_ms;
                    format!("the runner said nothing of a run within {ms} ms (upstream.start_timeout_ms)")
                }
                (None, _) => format!(
                    "the runner {ended} before it said anything of a run; its standard error has {} bytes (log target {})",
                    said.bytes,
                    stderr::TARGET
                ),
            };
            let _ = run_begins.send(run.ok_or(StartError::Failed(why)));
        }
        if let Some(stopped) = &stopped {
            tracing::warn!(
                reason = stopped.reason(),
                ended,
                "a run's output is not kept any more, and the runner was ended"
            );
        } else if is_by_us {
            tracing::info!(code, ended, "the runner was ended");
        } else {
            tracing::info!(ended, stderr_bytes = said.bytes, "the runner left");
        }
        let reason = stopped.as_ref().map_or(if is_by_us { code } else { "finished" }, Stopped::code);
        let cut = stopped.map(|stopped| stopped.reason()).or_else(|| is_by_us.then_some(message));
        (Exit { status, cut }, reason)
    }

    async fn take_in(&mut self, meter: &IngestMeter) -> Result<(), IngestError> {
        loop {
            let now = Instant::now();
            self.look(now);
            // Behind it, for it may want something said.
            self.speak().await?;
            if self.output_is_over && self.left.is_some() {
                return Ok(());
            }
            if let Some((_, at)) = self.left
                && now >= at + Duration::from_millis(self.settings.exit_grace_ms)
            {
                // Something that it started holds the pipe. What the program itself wrote is in it.
                return self.drain(meter).await;
            }
            let due = self.due();
            let event = {
                let (left, output_is_over) = (self.left.is_some(), self.output_is_over);
                tokio::select! {
                    biased;
                    // That an answer was taken is told before what the runner does with it.
                    sent = self.writer.sent() => Event::Sent(sent),
                    Ok(()) = self.phase.changed() => Event::Phase,
                    Some(said) = self.said.recv() => Event::Said(said),
                    left = self.process.left(), if !left => Event::Left(left),
                    read = self.output.read(&mut self.chunk), if !output_is_over => Event::Output(read),
                    // What is due is also seen to before each of the others.
                    () = sleep_until(due) => Event::Due,
                }
            };
            match event {
                Event::Output(Ok(length @ 1..)) => self.feed(length, meter).await?,
                Event::Output(_) => self.output_is_over = true,
                Event::Left(status) => {
                    if let Err(error) = &status {
                        tracing::warn!(%error, "the runner's exit is not known");
                    }
                    self.left = Some((status.ok(), Instant::now()));
                }
                Event::Said(said) => self.hear(said),
                Event::Sent(outcome) => self.conversation.sent(outcome.map(|()| Vec::new())),
                Event::Phase | Event::Due => {}
            }
            if self.ingest.patience() == Some(Duration::ZERO) {
                self.ingest.flush_to(&mut self.conversation).await?;
            }
        }
    }

    async fn feed(&mut self, length: usize, meter: &IngestMeter) -> Result<(), IngestError> {
        self.heard = Instant::now();
        meter.bytes(length);
        let chunk = self.chunk.get(..length).unwrap_or_default();
        self.ingest.feed_to(chunk, &mut self.conversation).await?;
        if self.run_begins.is_some()
            && let Some(run) = first_run(&self.ingested)
            && let Some(begins) = self.run_begins.take()
        {
            // From now on the session's link says that it is taken.
            self.claim = None;
            let _ = begins.send(Ok(run));
        }
        Ok(())
    }

    /// Reads what is in the pipe, and no more than it can hold.
    async fn drain(&mut self, meter: &IngestMeter) -> Result<(), IngestError> {
        let mut drained = 0;
        while drained < PIPE_BYTES {
            match tokio::time::timeout(AT_HAND, self.output.read(&mut self.chunk)).await {
                Ok(Ok(length @ 1..)) => {
                    drained += length;
                    self.feed(length, meter).await?;
                }
                _ => break,
            }
        }
        Ok(())
    }

    /// Says what is to be said, and what was decided.
    async fn speak(&mut self) -> Result<(), IngestError> {
        self.conversation.step(self.conversation_ms());
        while let Some(sending) = self.conversation.take_sending() {
            match self.writer.send(sending) {
                Some(outcome) => self.conversation.sent(outcome.map(|()| Vec::new())),
                None => break,
            }
        }
        for (stream, answer) in self.conversation.take_resolutions() {
            self.ingest.resolve(stream, answer).await?;
        }
        Ok(())
    }

    fn hear(&mut self, said: Said) {
        let (wish, to, by) = (said.wish.clone(), said.to, said.by.clone());
        match wish {
            Wish::Close if self.is_at_work() => {
                let _ = said.done.send(Err(SayError::AtWork));
                return;
            }
            // What has no word for it leaves by itself, or is made to.
            Wish::Close if !self.has_dialogue => {
                let _ = said.done.send(Ok(()));
                self.leave();
                return;
            }
            Wish::Prompt(_) if self.is_leaving() => {
                let _ = said.done.send(Err(SayError::Leaving));
                return;
            }
            _ => {}
        }
        let cannot = self.conversation.said(said);
        if wish == Wish::Interrupt {
            let cause = Cause::Interrupt { by, of: to };
            let now = Instant::now();
            match cannot {
                // One interruption is as good as two.
                _ if self.ending.is_some() => {}
                None => self.ending = Some(Ending::asked(cause, &self.settings, now)),
                Some(_) => self.ending = Some(Ending::at_once(cause, &self.settings, now)),
            }
            if let Some(said) = cannot {
                let _ = said.done.send(Ok(()));
            }
        } else if wish == Wish::Close {
            self.leave();
        }
    }

    /// It is to leave by itself, and is made to where it does not.
    fn leave(&mut self) {
        let leaving = || Ending::asked(Cause::Leaving, &self.settings, Instant::now());
        self.ending.get_or_insert_with(leaving);
    }

    /// Whether a prompt would find nobody.
    fn is_leaving(&self) -> bool {
        // A run that is only asked to end leaves its runner where it is.
        let ends = |ending: &Ending| !matches!(ending.cause, Cause::Interrupt { .. }) || !ending.is_asked();
        self.left.is_some() || self.output_is_over || self.ending.as_ref().is_some_and(ends)
    }

    /// Whether a run goes on, or is about to begin.
    fn is_at_work(&self) -> bool {
        self.conversation.open_runs() > 0 || self.run_begins.is_some() || self.conversation.due_runs() > 0
    }

    /// When a run must have begun, where there is none and a prompt is to have one. Each run before it gives it new time.
    fn run_due(&self) -> Option<Instant> {
        let waits = self.conversation.open_runs() == 0 && self.conversation.due_runs() > 0;
        waits.then(|| self.turns.1 + Duration::from_millis(self.settings.start_timeout_ms))
    }

    /// Looks whether the program is to end, and does what is due then.
    fn look(&mut self, now: Instant) {
        let phase = *self.phase.borrow_and_update();
        let turns = self.conversation.turns();
        if self.turns.0 != turns {
            self.turns = (turns, now);
        }
        if self.run_due().is_some_and(|due| due <= now) {
            self.conversation.forget_due_runs();
        }
        self.idle = if self.is_at_work() { None } else { self.idle.or(Some(now)) };
        if self.ending.as_ref().is_some_and(|ending| ending.is_asked() && self.is_done(&ending.cause)) {
            self.ending = None;
        }
        let is_stopping = self.ending.as_ref().is_some_and(|ending| ending.cause == Cause::Stopping);
        if phase == Phase::Cutting && !is_stopping {
            self.ending = Some(Ending::at_once(Cause::Stopping, &self.settings, now));
        } else if self.ending.is_none() && self.left.is_none() {
            self.ending = self.cause(now, phase).map(|cause| {
                if cause != Cause::Leaving {
                    return Ending::at_once(cause, &self.settings, now);
                }
                let (done, _) = oneshot::channel();
                let _ = self.conversation.said(Said { wish: Wish::Close, to: None, by: "proxy".to_owned(), done });
                Ending::asked(cause, &self.settings, now)
            });
        }
        if let Some(signal) = self.ending.as_mut().and_then(|ending| ending.step(now)) {
            self.process.signal(signal);
        }
    }

    /// Whether an interruption has done what it was to do.
    fn is_done(&self, cause: &Cause) -> bool {
        let Cause::Interrupt { of, .. } = cause else { return false };
        match of {
            Some(run @ (StreamKind::Session, _)) => self.is_over(*run),
            _ => self.conversation.open_runs() == 0,
        }
    }

    fn is_over(&self, run: StreamId) -> bool {
        self.runs.find(run).is_none_or(|entry| entry.status().ended)
    }

    /// Why it is to end, if it is.
    fn cause(&self, now: Instant, phase: Phase) -> Option<Cause> {
        if let Some(words) = self.conversation.refusal().filter(|_| self.run_begins.is_some()) {
            return Some(Cause::Refused(words.to_owned()));
        }
        let waits_for_us = self.has_dialogue && self.idle.is_some();
        if self.output_is_over || (waits_for_us && phase >= Phase::Draining) {
            return Some(Cause::Leaving);
        }
        self.timers().into_iter().flatten().find(|(at, _)| *at <= now).map(|(_, cause)| cause)
    }

    /// When it is to end, and why, if nothing happens until then.
    fn timers(&self) -> [Option<(Instant, Cause)>; 3] {
        let after = |since: Instant, ms: u64| (ms > 0).then(|| since + Duration::from_millis(ms));
        let whole = after(self.began, self.settings.run_timeout_ms).map(|at| (at, Cause::TooLong));
        let start = self
            .run_begins
            .is_some()
            .then(|| (self.began + Duration::from_millis(self.settings.start_timeout_ms), Cause::NoRun));
        let silence = match self.idle.filter(|_| self.has_dialogue) {
            Some(since) => Some((since + Duration::from_millis(self.settings.linger_ms), Cause::Leaving)),
            // It is not its silence where it waits for an answer.
            None if self.conversation.deadline().is_some() => None,
            None => after(self.heard, self.settings.idle_timeout_ms).map(|at| (at, Cause::Idle)),
        };
        [whole, start, silence]
    }

    /// When something is due; `None`: only what happens matters.
    fn due(&self) -> Option<Instant> {
        let now = Instant::now();
        let patience = self.ingest.patience().map(|patience| now + patience);
        let question = self.conversation.deadline().map(|ms| self.began + Duration::from_millis(ms));
        let grace = Duration::from_millis(self.settings.exit_grace_ms);
        let end = match (&self.ending, self.left) {
            (_, Some((_, at))) => Some(at + grace),
            (Some(ending), None) => ending.next(),
            (None, None) => self.timers().into_iter().flatten().map(|(at, _)| at).min(),
        };
        [patience, question, end, self.run_due()].into_iter().flatten().min()
    }

    /// The clock of the conversation: milliseconds since the program began.
    fn conversation_ms(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// The run in which a program left, or behind which: the last one that it made.
fn last_run(ingested: &Ingested) -> Option<Arc<Entry>> {
    ingested.entries().into_iter().rev().find(|entry| entry.stream.kind == StreamKind::Session)
}

/// The first run that an ingest made.
fn first_run(ingested: &Ingested) -> Option<Uuid> {
    ingested.entries().iter().find(|entry| entry.stream.kind == StreamKind::Session).map(|entry| entry.stream.id)
}

async fn sleep_until(at: Option<Instant>) {
    match at {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
