//! A run's usage: one total for each run, which every contract uses.
//!
//! Input: figures of model calls, of the main thread and of subagents, and a runner's own totals. Output: `usage_reported`
//! frames: one of scope `turn` for each call, and one of scope `run` before the run's end. The latter is the total of all calls
//! of the run, including those of subagents, and also contains the part of the main thread. Never: a run with reported calls
//! but without a total, or a total that is less than the main thread's part.

use super::{Normalizer, Target};
use crate::frame::{Body, Figures, SharedStr, Usage, UsageScope};
use crate::sequence::StreamKey;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use uuid::Uuid;

/// What a runner's own total of a run covers.
#[derive(Clone, Debug)]
pub enum Covers {
    /// The calls of the main thread only. Subagents report their calls one by one, or not at all.
    MainThread,
    /// All calls, with the part of the main thread if it is known.
    Run(Option<Figures>),
}

/// Running totals from earlier inputs of a session. A runner that resumes a session continues counting from there.
pub trait Memory: Send + Sync {
    /// The known totals of a session, oldest first; possibly only the newest ones.
    fn totals(&self, session: Uuid) -> Vec<Figures>;
}

/// The reported usage of one stream.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Spent {
    /// The calls of the main thread.
    main: Option<Figures>,
    /// The calls of subagents.
    subagents: Option<Figures>,
    /// The total was reported.
    #[serde(default)]
    totalled: bool,
    /// The model of the calls.
    #[serde(default)]
    model: CalledModel,
}

/// The model of some calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
enum CalledModel {
    #[default]
    NoCalls,
    One(SharedStr),
    /// There are several, or a call does not name its model.
    Unclear,
}

impl CalledModel {
    fn note(&mut self, model: Option<&SharedStr>) {
        if !model.is_some_and(|model| self.is_only(model)) {
            *self = match (&*self, model) {
                (Self::NoCalls, Some(model)) => Self::One(model.clone()),
                _ => Self::Unclear,
            };
        }
    }

    fn is_only(&self, model: &SharedStr) -> bool {
        matches!(self, Self::One(known) if known == model)
    }

    fn only(&self) -> Option<SharedStr> {
        if let Self::One(model) = self { Some(model.clone()) } else { None }
    }
}

impl Spent {
    /// Records a reported figure.
    pub(super) fn note(&mut self, parent: Option<Uuid>, usage: &Usage) {
        if usage.scope == UsageScope::Run {
            self.totalled = true;
            return;
        }
        let sum = if parent.is_some() { &mut self.subagents } else { &mut self.main };
        sum.get_or_insert_default().add(&usage.figures());
        self.model.note(usage.model.as_ref());
    }

    /// The total of the calls; `None` if a total was already reported.
    fn total(&self) -> Option<Usage> {
        if self.totalled || (self.main.is_none() && self.subagents.is_none()) {
            return None;
        }
        let mut total = self.main.clone().unwrap_or_default();
        total.add(&self.subagents.clone().unwrap_or_default());
        let mut usage = Usage::of(UsageScope::Run, self.model.only(), &total);
        usage.main_thread = Some(Box::new(self.main.clone().unwrap_or_default()));
        Some(usage)
    }
}

impl Normalizer {
    /// Sets where running totals of earlier inputs are looked up.
    pub(crate) fn remember_by(&mut self, memory: Arc<dyn Memory>) {
        self.memory = Some(memory);
    }

    /// The running totals from earlier inputs of the session that was named last.
    pub fn known_totals(&mut self) -> Vec<Figures> {
        let Some(memory) = self.memory.clone() else { return Vec::new() };
        let thread = self.thread();
        self.stream(thread).map(|stream| memory.totals(stream.session.id)).unwrap_or_default()
    }

    /// Reports the usage of a model call by the main thread or a subagent.
    pub fn call_used(&mut self, target: Target, usage: Usage) {
        self.emit(target, Body::UsageReported(Box::new(usage)));
    }

    /// Reports the runner's own total of a run. Its model is dropped if calls of subagents had another one, or an unknown one.
    pub fn run_used(&mut self, run: StreamKey, usage: Usage, covers: Covers) {
        let main = match covers {
            Covers::Run(main) => main,
            Covers::MainThread => Some(usage.figures()),
        };
        let mut total = usage;
        total.scope = UsageScope::Run;
        if let (Some(main), Some(open)) = (&main, self.open.get(&run)) {
            let mut least = main.clone();
            if let Some(subagents) = &open.spent.subagents {
                least.add(subagents);
                total.model = total.model.filter(|model| open.spent.model.is_only(model));
            }
            total.raise_to(&least);
        }
        total.main_thread = main.map(Box::new);
        self.emit(Target::main(run), Body::UsageReported(Box::new(total)));
    }

    /// The sum of the calls that a run has reported, for all threads.
    pub fn reported_usage(&self, run: StreamKey) -> Option<Figures> {
        let spent = &self.open.get(&run)?.spent;
        let mut total = spent.main.clone()?;
        total.add(&spent.subagents.clone().unwrap_or_default());
        Some(total)
    }

    /// The sum of the calls of a run's main thread.
    pub fn main_usage(&self, run: StreamKey) -> Option<Figures> {
        self.open.get(&run)?.spent.main.clone()
    }

    /// A run ends: if the runner gave no total, reports the sum of the calls.
    pub(super) fn total_usage(&mut self, run: StreamKey) {
        if let Some(total) = self.open.get(&run).and_then(|open| open.spent.total()) {
            self.emit(Target::main(run), Body::UsageReported(Box::new(total)));
        }
    }
}
