//! Checks a runner's records for drift as they pass, on any surface.
//!
//! Input: records on their way to the decoder. Output: the kinds of drift in each record, and every new place once. Never: a
//! record that is delayed, or a comparison before the surface is known.

use super::{Drift, DriftKey, DriftKind, SurfaceSchemas};
use crate::decode::Record;
use crate::hash::HashMap;
use crate::recognise::recognise_as;
use crate::runners::Runner;
use std::sync::{Mutex, PoisonError};

/// Watches one input.
pub struct LiveDrift {
    runner: &'static Runner,
    state: State,
    news: Vec<(DriftKey, String)>,
}

enum State {
    /// The surface is not known yet.
    Waiting,
    Comparing(Box<Drift>),
    /// The surface has no schemas.
    Blind,
}

impl LiveDrift {
    /// A check at the start of its input.
    pub fn new(runner: &'static Runner) -> Self {
        Self { runner, state: State::Waiting, news: Vec::new() }
    }

    /// Processes the next record.
    pub fn record(&mut self, record: &Record<'_>) -> Vec<DriftKind> {
        if matches!(self.state, State::Waiting) {
            self.settle(record);
        }
        let mut kinds = Vec::new();
        if let State::Comparing(drift) = &mut self.state {
            let news = &mut self.news;
            drift.record_with(record, &mut |key, is_new, expected| {
                kinds.push(key.kind);
                if is_new {
                    news.push((key.clone(), expected.to_owned()));
                }
            });
        }
        kinds
    }

    /// Takes the drift in new places, with what was expected there.
    pub fn take_news(&mut self) -> Vec<(DriftKey, String)> {
        std::mem::take(&mut self.news)
    }

    fn settle(&mut self, record: &Record<'_>) {
        let Some(found) = recognise_as(self.runner, record, None) else { return };
        self.state = match schemas_of(found.runner, found.surface.name) {
            Some(schemas) => State::Comparing(Box::new(Drift::of(schemas))),
            None => State::Blind,
        };
    }
}

/// The compiled schemas of a surface. They are compiled once, because that takes a thousand times as long as comparing a
/// record.
fn schemas_of(runner: &'static Runner, surface: &'static str) -> Option<SurfaceSchemas> {
    type All = HashMap<(&'static str, &'static str), Option<SurfaceSchemas>>;
    static ALL: Mutex<Option<All>> = Mutex::new(None);
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let all = all.get_or_insert_with(HashMap::default);
    let compile = || {
        let surface = runner.surfaces.iter().find(|known| known.name == surface)?;
        SurfaceSchemas::new(runner, surface).ok()
    };
    all.entry((runner.name, surface)).or_insert_with(compile).clone()
}
