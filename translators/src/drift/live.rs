//! Drift while records pass: one runner's output, whatever surface it shows.
//!
//! In: records, on their way to the decoder. Out: the kinds of drift in each, and every place once. Never: a record held
//! back; a comparison before the surface has shown.

use super::{Drift, DriftKey, DriftKind, Known};
use crate::decode::Record;
use crate::hash::HashMap;
use crate::recognise::recognise_as;
use crate::runners::{RUNNERS, Runner};
use std::sync::{Mutex, PoisonError};

/// Watches one input.
pub struct LiveDrift {
    runner: &'static str,
    state: State,
    news: Vec<(DriftKey, String)>,
}

enum State {
    /// No record has shown the surface.
    Waiting,
    Comparing(Box<Drift>),
    /// Nothing is known of the surface.
    Blind,
}

impl LiveDrift {
    /// Nothing has come yet.
    pub fn new(runner: &Runner) -> Self {
        Self { runner: runner.name, state: State::Waiting, news: Vec::new() }
    }

    /// Takes the next record.
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

    /// What drifts in a place where nothing did before, with what is wrong there.
    pub fn take_news(&mut self) -> Vec<(DriftKey, String)> {
        std::mem::take(&mut self.news)
    }

    fn settle(&mut self, record: &Record<'_>) {
        let runner = RUNNERS.iter().find(|runner| runner.name == self.runner);
        let Some(found) = runner.and_then(|runner| recognise_as(runner, record, None)) else { return };
        self.state = match known(found.runner, found.surface.name) {
            Some(known) => State::Comparing(Box::new(Drift::of(known))),
            None => State::Blind,
        };
    }
}

/// What is known of a surface, compiled once: that takes a thousand times as long as to compare a record.
fn known(runner: &'static Runner, surface: &'static str) -> Option<Known> {
    type All = HashMap<(&'static str, &'static str), Option<Known>>;
    static ALL: Mutex<Option<All>> = Mutex::new(None);
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let all = all.get_or_insert_with(HashMap::default);
    let compile = || {
        let surface = runner.surfaces.iter().find(|known| known.name == surface)?;
        Known::new(runner, surface).ok()
    };
    all.entry((runner.name, surface)).or_insert_with(compile).clone()
}
