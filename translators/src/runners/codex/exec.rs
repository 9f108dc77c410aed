//! `codex exec --json`: one process, one turn, one run.
//!
//! Input: the events of the process. Output: one run from `thread.started` to `turn.completed` or `turn.failed`. Never: a retry
//! notice taken for a failure; the thread's running total taken for the turn's usage.

use super::super::names::NameMap;
use super::errors::{Failure, attempts};
use super::items::{Agents, Item, Phase, report};
use super::thread_context::{ThreadContext, Turn};
use super::usage::{Meter, Tokens};
use crate::frame::SharedStr;
use crate::json::Object;
use crate::normalizer::{Normalizer, RunEnd, STREAM_ENDED, Target};
use crate::sequence::StreamKey;
use uuid::Uuid;

/// The number of threads whose totals are remembered, for turns that resume one of them.
const REMEMBERED: usize = 256;

/// Decodes the events of `exec`.
#[derive(Debug, Default)]
pub(super) struct Exec {
    run: State,
    turn: Turn,
    agents: Agents,
    thread: Option<SharedStr>,
    /// A prompt that was echoed before the thread started.
    prompt: Option<String>,
    meters: NameMap<Meter>,
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// No record has arrived.
    #[default]
    Fresh,
    Open {
        run: StreamKey,
        /// Whether its turn has started.
        turn: bool,
    },
    /// The turn is over. Later records belong to no run.
    Over,
}

impl Exec {
    /// Notes a prompt, which an older version echoes before anything else.
    pub(super) fn prompt(&mut self, prompt: &str) {
        self.prompt = Some(prompt.to_owned());
    }

    pub(super) fn record(&mut self, word: &str, fields: &Object<'_>, normalizer: &mut Normalizer) {
        match word {
            "thread.started" | "session.created" | "thread.resumed" => {
                let id = fields.str("thread_id").or_else(|| fields.str("session_id")).unwrap_or_default();
                self.thread = Some(SharedStr::from(&*id));
                normalizer.set_session(&id);
                let run = self.open_anew(normalizer);
                normalizer.record_on(run);
            }
            "turn.started" => {
                let run = match self.run {
                    State::Open { run, turn: false } => run,
                    _ => self.open_anew(normalizer),
                };
                self.run = State::Open { run, turn: true };
                normalizer.turn_started(run, None);
            }
            "turn.completed" => {
                let Some(run) = self.current(normalizer) else { return };
                let usage = fields.object("usage").and_then(|usage| Tokens::read(&usage));
                // A review, or a provider that reports nothing, yields zeros. The thread's total then stays unchanged.
                if let Some(total) = usage.filter(|total| !total.is_zero()) {
                    self.usage(run, total, normalizer);
                }
                self.end(run, RunEnd::completed(), "completed", normalizer);
            }
            "turn.failed" => {
                let Some(run) = self.current(normalizer) else { return };
                let failure = Failure::of_event(fields);
                self.context(run, normalizer).fatal(&failure);
                self.end(run, failure.run_end(), failure.stop_reason(), normalizer);
            }
            "error" => {
                let Some(run) = self.current(normalizer) else { return };
                let failure = Failure::of_event(fields);
                let retries = attempts(&failure.message).is_some();
                let mut context = self.context(run, normalizer);
                if retries { context.retry(&failure) } else { context.fatal(&failure) }
            }
            "item.started" => self.item(Phase::Started, fields, normalizer),
            "item.updated" => self.item(Phase::Updated, fields, normalizer),
            "item.completed" => self.item(Phase::Completed, fields, normalizer),
            _ => {
                normalizer.unknown(format!("unknown event type {word:?}"));
                normalizer.record_on_current();
            }
        }
    }

    /// Handles the end of the input. Emits pending searches before the run is closed.
    pub(super) fn finish(&mut self, normalizer: &mut Normalizer) {
        if let State::Open { run, .. } = self.run {
            self.context(run, normalizer).end_of_turn();
        }
    }

    fn item(&mut self, phase: Phase, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(run) = self.current(normalizer) else { return };
        let Some(item) = fields.object("item") else {
            normalizer.add_error("an item event without an item");
            normalizer.record_on(run);
            return;
        };
        let item = Item::read(item);
        let scope = scope(run, normalizer);
        let target = Target::main(run);
        let mut context = ThreadContext { normalizer, target, scope, turn: &mut self.turn, depth: 0 };
        if !report(&mut context, &mut self.agents, &item, phase) {
            context.normalizer.unknown(format!("unknown item type {:?}", item.word));
        }
        context.normalizer.record_on(run);
    }

    fn context<'l>(&'l mut self, run: StreamKey, normalizer: &'l mut Normalizer) -> ThreadContext<'l> {
        let scope = scope(run, normalizer);
        ThreadContext { normalizer, target: Target::main(run), scope, turn: &mut self.turn, depth: 0 }
    }

    /// The run of the current record. Opens one if the input started in the middle of a run.
    fn current(&mut self, normalizer: &mut Normalizer) -> Option<StreamKey> {
        let run = match self.run {
            State::Over => return None,
            State::Fresh => self.open(normalizer),
            State::Open { run, .. } => run,
        };
        Some(run)
    }

    fn open(&mut self, normalizer: &mut Normalizer) -> StreamKey {
        let run = normalizer.open_run(self.prompt.take().unwrap_or_default());
        self.run = State::Open { run, turn: false };
        run
    }

    /// Opens a run. A run that is still open is ended: its process is gone and did not report how its turn ended.
    fn open_anew(&mut self, normalizer: &mut Normalizer) -> StreamKey {
        let before = self.run;
        let run = self.open(normalizer);
        if let State::Open { run: before, .. } = before {
            // The current record belongs to the new run.
            normalizer.record_on(run);
            let why = "the next turn began before the runner said how this one ended";
            self.end(before, RunEnd::interrupted(STREAM_ENDED, why), "", normalizer);
            self.run = State::Open { run, turn: false };
        }
        run
    }

    fn usage(&mut self, run: StreamKey, total: Tokens, normalizer: &mut Normalizer) {
        let thread = self.thread.clone().unwrap_or_else(|| SharedStr::from(""));
        if self.meters.len() >= REMEMBERED && !self.meters.contains_key(&thread) {
            self.meters.clear();
        }
        let meter = self.meters.entry(thread).or_default();
        if meter.is_fresh() {
            meter.recall(&normalizer.known_totals(), total);
        }
        meter.total(total, None);
        let running = meter.running();
        if let Some(tokens) = meter.end_turn() {
            self.context(run, normalizer).run_used(tokens, None, running);
        }
    }

    fn end(&mut self, run: StreamKey, end: RunEnd, stop_reason: &str, normalizer: &mut Normalizer) {
        self.context(run, normalizer).end_of_turn();
        normalizer.close_work(run, &end);
        normalizer.turn_ended(run, (!stop_reason.is_empty()).then(|| SharedStr::from(stop_reason)));
        normalizer.end_run(run, end);
        self.run = State::Over;
    }
}

/// The scope for item ids. They restart in every process, so the run keeps them apart.
fn scope(run: StreamKey, normalizer: &Normalizer) -> Uuid {
    normalizer.stream(run).map_or(Uuid::nil(), |stream| stream.id)
}
