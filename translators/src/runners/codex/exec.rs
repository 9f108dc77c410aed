//! `codex exec --json`: one process, one turn, one run.
//!
//! In: the process's events. Out: one run from `thread.started` to `turn.completed` or `turn.failed`. Never: a retry notice
//! taken for a failure, or the thread's running total taken for the turn's.

use super::super::names::NameMap;
use super::errors::{Failure, attempts};
use super::items::{Agents, Item, Phase, tell};
use super::stage::{Stage, Turn};
use super::usage::{Meter, Tokens};
use crate::frame::{Name, UsageScope};
use crate::json::Object;
use crate::ledger::{Ledger, Place, RunEnd, STREAM_ENDED};
use crate::sequence::StreamKey;
use uuid::Uuid;

/// How many threads' totals are remembered, for turns that resume one of them.
const REMEMBERED: usize = 256;

/// The events of `exec`.
#[derive(Debug, Default)]
pub(super) struct Exec {
    run: State,
    turn: Turn,
    agents: Agents,
    thread: Option<Name>,
    /// A prompt that was echoed before the thread began.
    prompt: Option<String>,
    meters: NameMap<Meter>,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// Nothing came yet.
    #[default]
    Fresh,
    Open {
        run: StreamKey,
        /// Whether its turn has begun.
        turn: bool,
    },
    /// The turn is over; what still comes belongs to no run.
    Over,
}

impl Exec {
    /// A prompt that an older version echoes before anything else.
    pub(super) fn prompt(&mut self, prompt: &str) {
        self.prompt = Some(prompt.to_owned());
    }

    pub(super) fn record(&mut self, word: &str, fields: &Object<'_>, ledger: &mut Ledger) {
        match word {
            "thread.started" | "session.created" | "thread.resumed" => {
                let id = fields.str("thread_id").or_else(|| fields.str("session_id")).unwrap_or_default();
                self.thread = Some(Name::from(&*id));
                ledger.set_session(&id);
                let run = self.open_anew(ledger);
                ledger.record_on(run);
            }
            "turn.started" => {
                let run = match self.run {
                    State::Open { run, turn: false } => run,
                    _ => self.open_anew(ledger),
                };
                self.run = State::Open { run, turn: true };
                ledger.turn_started(run, None);
            }
            "turn.completed" => {
                let Some(run) = self.current(ledger) else { return };
                let usage = fields.object("usage").and_then(|usage| Tokens::read(&usage));
                // A review and a silent provider give zeros; the thread's total stays what it was.
                if let Some(total) = usage.filter(|total| !total.is_zero()) {
                    self.usage(run, total, ledger);
                }
                self.end(run, RunEnd::completed(), "completed", ledger);
            }
            "turn.failed" => {
                let Some(run) = self.current(ledger) else { return };
                let error = fields.object("error").unwrap_or_default();
                let failure = Failure::read(&error);
                self.stage(run, ledger).fatal(&failure);
                let end = RunEnd::failed(failure.code(), failure.message.clone().into_owned());
                self.end(run, end, "failed", ledger);
            }
            "error" => {
                let Some(run) = self.current(ledger) else { return };
                let failure = Failure::text(fields.str("message").unwrap_or_default());
                let retries = attempts(&failure.message).is_some();
                let mut stage = self.stage(run, ledger);
                if retries { stage.retry(&failure) } else { stage.fatal(&failure) }
            }
            "item.started" => self.item(Phase::Started, fields, ledger),
            "item.updated" => self.item(Phase::Updated, fields, ledger),
            "item.completed" => self.item(Phase::Completed, fields, ledger),
            _ => {
                ledger.fault(format!("unknown event type {word:?}"));
                ledger.record_on_current();
            }
        }
    }

    /// The input is over: what was begun and never told is told, before the run is closed.
    pub(super) fn finish(&mut self, ledger: &mut Ledger) {
        if let State::Open { run, .. } = self.run {
            self.stage(run, ledger).end_of_turn();
        }
    }

    fn item(&mut self, phase: Phase, fields: &Object<'_>, ledger: &mut Ledger) {
        let Some(run) = self.current(ledger) else { return };
        let Some(item) = fields.object("item") else {
            ledger.fault("an item event without an item");
            ledger.record_on(run);
            return;
        };
        let item = Item::read(item);
        let scope = scope(run, ledger);
        let place = Place::main(run);
        let mut stage = Stage { ledger, place, scope, turn: &mut self.turn, depth: 0 };
        if !tell(&mut stage, &mut self.agents, &item, phase) {
            stage.ledger.fault(format!("unknown item type {:?}", item.word));
        }
        stage.ledger.record_on(run);
    }

    fn stage<'l>(&'l mut self, run: StreamKey, ledger: &'l mut Ledger) -> Stage<'l> {
        let scope = scope(run, ledger);
        Stage { ledger, place: Place::main(run), scope, turn: &mut self.turn, depth: 0 }
    }

    /// The run that a record belongs to; where the input began in its middle, it begins here.
    fn current(&mut self, ledger: &mut Ledger) -> Option<StreamKey> {
        let run = match self.run {
            State::Over => return None,
            State::Fresh => self.open(ledger),
            State::Open { run, .. } => run,
        };
        Some(run)
    }

    fn open(&mut self, ledger: &mut Ledger) -> StreamKey {
        let run = ledger.open_run(self.prompt.take().unwrap_or_default());
        self.run = State::Open { run, turn: false };
        run
    }

    /// Begins a run. Where one is still open its process is gone, and did not say how its turn ended.
    fn open_anew(&mut self, ledger: &mut Ledger) -> StreamKey {
        let before = self.run;
        let run = self.open(ledger);
        if let State::Open { run: before, .. } = before {
            // The record that tells it is the new run's.
            ledger.record_on(run);
            let why = "the next turn began before the runner said how this one ended";
            self.end(before, RunEnd::interrupted(STREAM_ENDED, why), "", ledger);
            self.run = State::Open { run, turn: false };
        }
        run
    }

    fn usage(&mut self, run: StreamKey, total: Tokens, ledger: &mut Ledger) {
        let thread = self.thread.clone().unwrap_or_else(|| Name::from(""));
        if self.meters.len() >= REMEMBERED && !self.meters.contains_key(&thread) {
            self.meters.clear();
        }
        let meter = self.meters.entry(thread).or_default();
        meter.total(total, None);
        if let Some(tokens) = meter.end_turn() {
            self.stage(run, ledger).usage(tokens, UsageScope::Run, None);
        }
    }

    fn end(&mut self, run: StreamKey, end: RunEnd, stop_reason: &str, ledger: &mut Ledger) {
        self.stage(run, ledger).end_of_turn();
        ledger.close_work(run);
        ledger.turn_ended(run, (!stop_reason.is_empty()).then(|| Name::from(stop_reason)));
        ledger.end_run(run, end);
        self.run = State::Over;
    }
}

/// Item ids begin again in every process, so the run keeps them apart.
fn scope(run: StreamKey, ledger: &Ledger) -> Uuid {
    ledger.stream(run).map_or(Uuid::nil(), |stream| stream.id)
}
