//! Supervises one program from its start to its end.
//!
//! Input: the program's output, messages from clients, the time, the request to stop. Output: frames in the log; messages to
//! the program; signals; the end of its runs. Never: waiting without a bound for a program that must end; judging its exit
//! before its output was read.

mod deadlines;

use super::argv;
use super::lingering::Lingerer;
use super::process::Process;
use super::shutdown::{self, Cause, ProgramShutdown};
use super::writer::Writer;
use crate::clock::sleep_until;
use crate::config::upstream::Command;
use crate::ingest::{Ingest, IngestError, Seen, Stopped};
use crate::log::StreamId;
use crate::runs::{Exited, Ingested, Runs};
use crate::shutdown::Phase;
use crate::telemetry::metrics::IngestMeter;
use crate::upstream::services::Services;
use crate::upstream::{Claim, Conversation, Envelope, MessageError, StartError};
use framegate_translators::frame::{SharedStr, StreamKind};
use framegate_translators::host::{HostMessage, Outgoing, SendError, Served, ServiceError};
use framegate_translators::normalizer::RunEnd;
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
    /// The exit status; `None` if the system did not report one.
    pub status: Option<ExitStatus>,
    /// Why the proxy ended the program or stopped keeping its output; `None` if the program ended on its own.
    pub cut: Option<String>,
    /// The last lines of its standard error.
    pub stderr: Vec<String>,
    /// What the ingest saw of its output; `None` if the output was not kept to its end.
    pub seen: Option<Seen>,
}

/// Bytes read at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// The largest capacity of a pipe (the usual `/proc/sys/fs/pipe-max-size`): the most output that a program can leave behind.
const PIPE_BYTES: usize = 1 << 20;

/// How long to wait for a read while draining a pipe that should hold data.
const AT_HAND: Duration = Duration::from_millis(50);

/// What a [`Supervisor`] is made of.
pub(super) struct Parts {
    pub(super) settings: Arc<Command>,
    pub(super) runs: Arc<Runs>,
    pub(super) ingest: Ingest,
    pub(super) conversation: Conversation,
    pub(super) has_dialogue: bool,
    /// What the program may ask the proxy to do; `None` if nothing.
    pub(super) services: Option<Services>,
    pub(super) inbox: mpsc::Receiver<Envelope>,
    pub(super) writer: Writer,
    pub(super) process: Process,
    pub(super) output: ChildStdout,
    pub(super) phase: watch::Receiver<Phase>,
    pub(super) run_begins: oneshot::Sender<Result<Uuid, StartError>>,
    /// Held until there is a run.
    pub(super) claim: Option<Claim>,
    pub(super) lingerer: Lingerer,
}

/// The supervisor of one program.
pub(super) struct Supervisor {
    settings: Arc<Command>,
    runs: Arc<Runs>,
    ingest: Ingest,
    ingested: Ingested,
    conversation: Conversation,
    has_dialogue: bool,
    services: Option<Services>,
    inbox: mpsc::Receiver<Envelope>,
    writer: Writer,
    process: Process,
    output: ChildStdout,
    phase: watch::Receiver<Phase>,
    run_begins: Option<oneshot::Sender<Result<Uuid, StartError>>>,
    claim: Option<Claim>,
    /// The conversation's change counter ([`Conversation::turns`]) and when it last changed.
    turns: (u64, Instant),
    began: Instant,
    /// When the program last wrote output.
    heard: Instant,
    /// Since when no run has been open, once the first run has begun.
    idle: Option<Instant>,
    lingerer: Lingerer,
    /// Whether another run needs the program's place.
    makes_way: bool,
    shutdown: Option<ProgramShutdown>,
    output_is_over: bool,
    left: Option<(Option<ExitStatus>, Instant)>,
    chunk: Vec<u8>,
}

enum Event {
    Output(std::io::Result<usize>),
    Left(std::io::Result<ExitStatus>),
    Message(Envelope),
    Sent(Result<(), String>),
    Served(u64, Result<Served, ServiceError>),
    Phase,
    MakeWay,
    Due,
}

impl Supervisor {
    pub(super) fn new(parts: Parts) -> Self {
        let now = Instant::now();
        Self {
            settings: parts.settings,
            runs: parts.runs,
            ingested: parts.ingest.ingested(),
            ingest: parts.ingest,
            conversation: parts.conversation,
            has_dialogue: parts.has_dialogue,
            services: parts.services,
            inbox: parts.inbox,
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
            lingerer: parts.lingerer,
            makes_way: false,
            shutdown: None,
            output_is_over: false,
            left: None,
            chunk: vec![0; CHUNK_BYTES],
        }
    }

    /// Supervises the program to its end. Returns how it ended, and an outcome label for metrics.
    pub(super) async fn run(mut self, meter: &IngestMeter) -> (Exit, &'static str) {
        let taken = self.take_in(meter).await;
        // Ends the commands that it had the proxy run.
        self.services = None;
        let status = self.left.and_then(|(status, _)| status);
        let cause = self.shutdown.as_ref().map(|shutdown| shutdown.cause.clone());
        // If ingestion failed, the runs are already closed. The remaining output is not needed.
        let stderr_output = self.process.finish().await;
        let (code, message) = shutdown::of_run(cause.as_ref(), &self.settings, status);
        let is_stopped = matches!(cause, Some(Cause::Interrupt { .. } | Cause::Stopping));
        let is_by_us = cause.as_ref().is_some_and(|cause| *cause != Cause::Leaving);
        let mut seen = None;
        let stopped = match taken {
            Ok(()) => {
                // A run that was not asked to stop has failed.
                let end = if is_stopped { RunEnd::interrupted } else { RunEnd::failed };
                self.ingest.cut_by(end(SharedStr::from(code), message.clone()));
                match self.ingest.finish_seen().await {
                    Ok(all) => {
                        seen = Some(all);
                        None
                    }
                    Err(error) => Some(Stopped::from(error)),
                }
            }
            Err(error) => Some(Stopped::from(error)),
        };
        let unanswered = self.conversation.due_runs();
        if unanswered > 0 && self.run_begins.is_none() {
            tracing::warn!(unanswered, "the runner ended before it answered prompts that it had received");
        }
        self.conversation.over(&self.runs);
        if let (Some(status), Some(run)) = (status, self.ingested.runs().pop()) {
            self.runs.exited(&run, Exited::of(status)).await;
        }
        let ended = status.map_or_else(|| "ended".to_owned(), shutdown::exit_text);
        if let Some(run_begins) = self.run_begins.take() {
            let run = self.ingested.first_run().map(|run| run.stream.id);
            let why = stopped.as_ref().map_or_else(
                || shutdown::before_run(cause.as_ref(), &self.settings, &ended, stderr_output.bytes),
                Stopped::reason,
            );
            let _ = run_begins.send(run.ok_or(StartError::Failed(why)));
        }
        if let Some(stopped) = &stopped {
            tracing::warn!(
                reason = stopped.reason(),
                ended,
                "the output of a run could no longer be stored, so the runner was ended"
            );
        } else if is_by_us {
            tracing::info!(code, ended, "the runner was ended");
        } else {
            tracing::info!(ended, stderr_bytes = stderr_output.bytes, "the runner exited");
        }
        let reason = stopped.as_ref().map_or(if is_by_us { code } else { "finished" }, Stopped::code);
        let cut = stopped.map(|stopped| stopped.reason()).or_else(|| is_by_us.then_some(message));
        (Exit { status, cut, stderr: stderr_output.last_lines.into(), seen }, reason)
    }

    async fn take_in(&mut self, meter: &IngestMeter) -> Result<(), IngestError> {
        loop {
            let now = Instant::now();
            self.look(now);
            // After `look`, because `look` may queue a message.
            self.speak().await?;
            if self.output_is_over && self.left.is_some() {
                return Ok(());
            }
            if let Some((_, at)) = self.left
                && now >= at + Duration::from_millis(self.settings.exit_grace_ms)
            {
                // A child process of the program still holds the pipe. The program's own output is already in the pipe.
                return self.drain(meter).await;
            }
            let due = self.due();
            let event = {
                let (left, output_is_over) = (self.left.is_some(), self.output_is_over);
                tokio::select! {
                    biased;
                    // Handle a completed write before the output that the runner produces in response to it.
                    sent = self.writer.sent() => Event::Sent(sent),
                    Ok(()) = self.phase.changed() => Event::Phase,
                    () = self.lingerer.asked() => Event::MakeWay,
                    Some(envelope) = self.inbox.recv() => Event::Message(envelope),
                    left = self.process.left(), if !left => Event::Left(left),
                    (ticket, result) = Services::done_of(&mut self.services) => Event::Served(ticket, result),
                    read = self.output.read(&mut self.chunk), if !output_is_over => Event::Output(read),
                    // Anything due is also handled at the start of each iteration.
                    () = sleep_until(due) => Event::Due,
                }
            };
            if self.waits_for_host() {
                // The runner's silence begins when it has what it waits for.
                self.heard = Instant::now();
            }
            match event {
                Event::Output(Ok(length @ 1..)) => self.feed(length, meter).await?,
                Event::Output(_) => self.output_is_over = true,
                Event::Left(status) => {
                    if let Err(error) = &status {
                        tracing::warn!(%error, "the exit status of the runner is unknown");
                    }
                    self.left = Some((status.ok(), Instant::now()));
                }
                Event::Message(envelope) => self.receive(envelope),
                Event::Sent(outcome) => self.was_sent(outcome),
                Event::Served(ticket, result) => self.conversation.served(ticket, result),
                Event::MakeWay => self.makes_way = true,
                Event::Phase | Event::Due => {}
            }
            if self.ingest.patience() == Some(Duration::ZERO) {
                self.ingest.flush_to(&mut self.conversation).await?;
                self.tell_first_run();
            }
        }
    }

    async fn feed(&mut self, length: usize, meter: &IngestMeter) -> Result<(), IngestError> {
        self.heard = Instant::now();
        meter.bytes(length);
        let chunk = self.chunk.get(..length).unwrap_or_default();
        self.ingest.feed_to(chunk, &mut self.conversation).await?;
        self.tell_first_run();
        Ok(())
    }

    /// Answers the request that started the program, once there is a run. The run may begin with records that were held back.
    fn tell_first_run(&mut self) {
        if self.run_begins.is_some()
            && let Some(run) = self.ingested.first_run().map(|run| run.stream.id)
            && let Some(begins) = self.run_begins.take()
        {
            // From here on, the session's handle marks it as taken.
            self.claim = None;
            let _ = begins.send(Ok(run));
        }
    }

    /// Reads what the pipe still holds, at most its capacity.
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

    /// Sends what is queued, and records the decisions that were passed on.
    async fn speak(&mut self) -> Result<(), IngestError> {
        // The conversation's clock: milliseconds since the program started.
        let now_ms = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.conversation.step(now_ms);
        if let Some(services) = &mut self.services {
            for request in self.conversation.take_services() {
                services.begin(request);
            }
        }
        while let Some(sending) = self.conversation.take_sending() {
            if let Outgoing::Input(line) = &sending {
                self.ingest.sent_to(line, &mut self.conversation).await?;
                self.tell_first_run();
            }
            match self.writer.send(sending) {
                Some(outcome) => self.was_sent(outcome),
                None => break,
            }
        }
        for (stream, answer) in self.conversation.take_resolutions() {
            self.ingest.resolve(stream, answer).await?;
        }
        Ok(())
    }

    fn was_sent(&mut self, outcome: Result<(), String>) {
        if outcome.is_err() {
            // A runner that reads no more answers no prompt.
            self.ingest.forget_prompts();
        }
        self.conversation.sent(outcome.map(|()| Vec::new()));
    }

    fn receive(&mut self, envelope: Envelope) {
        let (message, to, by) = (envelope.message.clone(), envelope.to, envelope.by.clone());
        match message {
            HostMessage::Close if self.is_at_work() => {
                let _ = envelope.done.send(Err(MessageError::AtWork));
                return;
            }
            // A runner without a dialogue has no close message: it exits on its own or is ended.
            HostMessage::Close if !self.has_dialogue => {
                let _ = envelope.done.send(Ok(()));
                self.leave();
                return;
            }
            HostMessage::Prompt(_) if self.is_leaving() => {
                let _ = envelope.done.send(Err(MessageError::Leaving));
                return;
            }
            HostMessage::Prompt(ref prompt) if let Err(why) = argv::check_prompt(&self.settings, prompt) => {
                let _ = envelope.done.send(Err(SendError::InvalidAnswer(why).into()));
                return;
            }
            _ => {}
        }
        let due = self.conversation.due_runs();
        let cannot = self.conversation.deliver(envelope);
        if let HostMessage::Prompt(prompt) = &message
            && self.conversation.due_runs() > due
        {
            self.ingest.expect_prompt(prompt, &[]);
        }
        if message == HostMessage::Interrupt {
            let cause = Cause::Interrupt { by, of: to };
            let now = Instant::now();
            match cannot {
                // An interruption during a shutdown changes nothing.
                _ if self.shutdown.is_some() => {}
                None => self.shutdown = Some(ProgramShutdown::asked(cause, &self.settings, now)),
                Some(_) => self.shutdown = Some(ProgramShutdown::at_once(cause, &self.settings, now)),
            }
            if let Some(envelope) = cannot {
                let _ = envelope.done.send(Ok(()));
            }
        } else if message == HostMessage::Close {
            self.leave();
        }
    }

    /// Lets the program exit on its own, and ends it if it does not.
    fn leave(&mut self) {
        let leaving = || ProgramShutdown::asked(Cause::Leaving, &self.settings, Instant::now());
        self.shutdown.get_or_insert_with(leaving);
    }

    /// Whether the program is leaving, so that a prompt would not be handled.
    fn is_leaving(&self) -> bool {
        // Interrupting a run by message does not end its runner.
        let ends =
            |shutdown: &ProgramShutdown| !matches!(shutdown.cause, Cause::Interrupt { .. }) || !shutdown.is_asked();
        self.left.is_some() || self.output_is_over || self.shutdown.as_ref().is_some_and(ends)
    }

    /// Whether a run is open or about to begin.
    fn is_at_work(&self) -> bool {
        self.conversation.open_runs() > 0 || self.run_begins.is_some() || self.conversation.due_runs() > 0
    }

    /// Checks whether the program must end, and performs the next step of its shutdown.
    fn look(&mut self, now: Instant) {
        let phase = *self.phase.borrow_and_update();
        let turns = self.conversation.turns();
        if self.turns.0 != turns {
            self.turns = (turns, now);
        }
        if self.run_due().is_some_and(|due| due <= now) {
            self.conversation.forget_due_runs();
            self.ingest.forget_prompts();
        }
        self.idle = if self.is_at_work() { None } else { self.idle.or(Some(now)) };
        self.makes_way &= self.idle.is_some();
        let waits = self.has_dialogue && self.idle.is_some() && !self.is_leaving();
        self.lingerer.waits(waits);
        if self.shutdown.as_ref().is_some_and(|shutdown| shutdown.is_asked() && self.is_done(&shutdown.cause)) {
            self.shutdown = None;
        }
        let is_stopping = self.shutdown.as_ref().is_some_and(|shutdown| shutdown.cause == Cause::Stopping);
        if phase == Phase::Cutting && !is_stopping {
            self.shutdown = Some(ProgramShutdown::at_once(Cause::Stopping, &self.settings, now));
        } else if self.shutdown.is_none() && self.left.is_none() {
            self.shutdown = self.cause(now, phase).map(|cause| {
                if cause != Cause::Leaving {
                    return ProgramShutdown::at_once(cause, &self.settings, now);
                }
                let (done, _) = oneshot::channel();
                let _ = self.conversation.deliver(Envelope {
                    message: HostMessage::Close,
                    to: None,
                    by: "proxy".to_owned(),
                    done,
                });
                ProgramShutdown::asked(cause, &self.settings, now)
            });
        }
        if let Some(how) = self.shutdown.as_mut().and_then(|shutdown| shutdown.step(now)) {
            self.process.stop(how);
        }
    }

    /// Whether an interruption has achieved its purpose.
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
}
