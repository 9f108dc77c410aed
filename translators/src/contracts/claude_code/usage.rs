//! The usage of a run: of its main thread, and of all models.
//!
//! Input: the usage of each model call, and the runner's own total. Output: what a `message_delta` reports, and the tables of the
//! `result`. Never: a figure counted twice.

use super::line::escaped;
use crate::frame::{Figures, SharedStr, Usage, UsageScope};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The maximum number of models whose figures are kept apart.
const MAX_MODELS: usize = 32;

/// The figures so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reported {
    /// Calls of the main thread that no `message_delta` has reported.
    pending: Option<Figures>,
    /// All calls of the main thread.
    main_thread: Option<Figures>,
    /// All calls, by model; the model is "" if unknown.
    models: Vec<(SharedStr, Figures)>,
    /// There were more models.
    is_cut: bool,
    /// The runner's own total.
    total: Option<Box<Usage>>,
}

/// The usage of a whole run.
#[derive(Debug, Default)]
pub(super) struct Totals {
    /// The part of the main thread.
    pub(super) main_thread: Figures,
    /// The figures by model, as a JSON object; `{}` if there are none.
    pub(super) by_model: String,
    pub(super) cost_usd: f64,
}

impl Reported {
    /// Adds a figure. `turn_model` is the model of the thread's turn.
    pub(super) fn add(&mut self, usage: &Usage, is_subagent: bool, turn_model: Option<&SharedStr>) {
        if usage.scope == UsageScope::Run {
            self.total = Some(Box::new(usage.clone()));
            return;
        }
        let figures = usage.figures();
        if !is_subagent {
            self.pending.get_or_insert_default().add(&figures);
            self.main_thread.get_or_insert_default().add(&figures);
        }
        let model = usage.model.as_ref().or(turn_model).cloned().unwrap_or_default();
        if let Some((_, known)) = self.models.iter_mut().find(|(name, _)| *name == model) {
            known.add(&figures);
        } else if self.models.len() < MAX_MODELS {
            self.models.push((model, figures));
        } else {
            self.is_cut = true;
        }
    }

    /// Whether a call was reported since the last `message_delta`.
    pub(super) fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Takes the calls since the last `message_delta`.
    pub(super) fn take_pending(&mut self) -> Figures {
        self.pending.take().unwrap_or_default()
    }

    /// The usage of the run. `fallback` is the name of an unknown model.
    pub(super) fn totals(&self, fallback: &str) -> Totals {
        let sum = self.models.iter().fold(None, |sum: Option<Figures>, (_, figures)| {
            let mut sum = sum.unwrap_or_default();
            sum.add(figures);
            Some(sum)
        });
        let Some(all) = self.total.as_ref().map(|total| total.figures()).or_else(|| sum.clone()) else {
            return Totals { by_model: "{}".to_owned(), ..Totals::default() };
        };
        let of_main_thread = self.total.as_ref().and_then(|total| total.main_thread.as_deref());
        let main_thread = of_main_thread.or(self.main_thread.as_ref()).unwrap_or(&all).clone();
        let name_of = |model: &str| if model.is_empty() { fallback.to_owned() } else { model.to_owned() };
        let single = self.total.as_ref().and_then(|total| total.model.as_deref());
        let mut table = Map::new();
        match (single, &*self.models) {
            // The calls add up to the total, so each model has its part.
            (None, [_, _, ..]) if !self.is_cut && sum.is_some_and(|sum| sum == all) => {
                for (model, figures) in &self.models {
                    table.insert(name_of(model), entry(figures));
                }
            }
            (None, [(model, _)]) => drop(table.insert(name_of(model), entry(&all))),
            (model, _) => drop(table.insert(name_of(model.unwrap_or_default()), entry(&all))),
        }
        let cost_usd = all.cost_usd.filter(|cost| cost.is_finite()).unwrap_or_default();
        Totals { main_thread, by_model: escaped(&Value::Object(table).to_string()), cost_usd }
    }
}

/// An entry of `modelUsage`, whose fields the document requires.
fn entry(figures: &Figures) -> Value {
    let mut entry = json!({
        "inputTokens": figures.input_tokens,
        "outputTokens": figures.output_tokens,
        "cacheReadInputTokens": figures.cache_read_tokens.unwrap_or_default(),
        "cacheCreationInputTokens": figures.cache_creation_tokens.unwrap_or_default(),
        "webSearchRequests": 0,
        "costUSD": figures.cost_usd.filter(|cost| cost.is_finite()).unwrap_or_default(),
        "contextWindow": 0,
        "maxOutputTokens": 0,
    });
    if let (Some(thinking), Some(fields)) = (figures.reasoning_tokens, entry.as_object_mut()) {
        fields.insert("thinkingTokens".to_owned(), thinking.into());
    }
    entry
}
