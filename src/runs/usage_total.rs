//! The tokens and the cost of a run.
//!
//! Input: the usage that the runner reports. Output: the run's total. Never: a model call counted twice because the runner also reports the
//! total of the run; a 0 for a figure that no record reported.

use super::model_calls::{is_zero, short, tokens};
use crate::prices::Tokens;
use framegate_translators::frame::{ModelPart, SharedStr, Usage, UsageScope};
use serde::{Deserialize, Serialize};

/// Tokens and cost of a run. A figure that no record reported is absent.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct UsageTotal {
    /// Input tokens read outside the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Output tokens, including reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// Input tokens read from the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_read_tokens: Option<u64>,
    /// Input tokens written to the cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_creation_tokens: Option<u64>,
    /// The part of `cache_creation_tokens` that was written to entries which live for one hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_creation_1h_tokens: Option<u64>,
    /// The part of `output_tokens` that was reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// The cost in US dollars that the runner reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The model of all these tokens, if the runner's own total names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<SharedStr>,
    /// The part of each model, if the runner's own total has several models and gives their parts; otherwise empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_model: Vec<ModelTotal>,
    /// The runner reported its own total, which includes the turns.
    #[serde(skip)]
    is_run_total: bool,
}

/// The part of a run's total that belongs to one model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelTotal {
    /// The model as the runner spells it.
    pub model: SharedStr,
    /// Input tokens read outside the cache.
    pub input_tokens: u64,
    /// Output tokens, including reasoning.
    pub output_tokens: u64,
    /// Input tokens read from the cache.
    pub cache_read_tokens: u64,
    /// Input tokens written to the cache.
    pub cache_creation_tokens: u64,
    /// The part of `cache_creation_tokens` that was written to entries which live for one hour.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_creation_1h_tokens: u64,
    /// The part of `output_tokens` that was reasoning.
    pub reasoning_tokens: u64,
}

impl ModelTotal {
    /// The parts of a total; none if they are not all of it.
    fn parts_of(total: &Usage) -> Vec<Self> {
        let of = |part: &ModelPart| {
            let figures = &part.figures;
            Self {
                model: short(&part.model),
                input_tokens: figures.input_tokens,
                output_tokens: figures.output_tokens,
                cache_read_tokens: figures.cache_read_tokens.unwrap_or_default(),
                cache_creation_tokens: figures.cache_creation_tokens.unwrap_or_default(),
                cache_creation_1h_tokens: figures.cache_creation_1h_tokens.unwrap_or_default(),
                reasoning_tokens: figures.reasoning_tokens.unwrap_or_default(),
            }
        };
        let parts: Vec<Self> = total.by_model.iter().map(of).collect();
        let sum = |figure: fn(&Self) -> u64| parts.iter().fold(0_u64, |sum, part| sum.saturating_add(figure(part)));
        let all = tokens(total);
        let is_all = sum(|part| part.input_tokens) == all.input
            && sum(|part| part.output_tokens) == all.output
            && sum(|part| part.cache_read_tokens) == all.cache_read
            && sum(|part| part.cache_creation_tokens) == all.cache_creation;
        if is_all { parts } else { Vec::new() }
    }

    /// The tokens in the form from which their cost is computed.
    pub(super) fn tokens(&self) -> Tokens {
        Tokens {
            input: self.input_tokens,
            output: self.output_tokens,
            cache_read: self.cache_read_tokens,
            cache_creation: self.cache_creation_tokens,
            cache_creation_1h: self.cache_creation_1h_tokens,
            reasoning: self.reasoning_tokens,
        }
    }
}

impl UsageTotal {
    pub(super) fn add(&mut self, usage: &Usage) {
        match (usage.scope, self.is_run_total) {
            (UsageScope::Turn, true) => return,
            (UsageScope::Run, false) => {
                let (model, by_model) = (usage.model.as_ref().map(short), ModelTotal::parts_of(usage));
                *self = Self { is_run_total: true, model, by_model, ..Self::default() };
            }
            // Another total of the same run, perhaps of other models.
            (UsageScope::Run, true) => {
                let model = usage.model.as_ref().map(short);
                self.model = self.model.take().filter(|known| model.as_ref() == Some(known));
                self.by_model.clear();
            }
            (UsageScope::Turn, false) => {}
        }
        plus(&mut self.input_tokens, Some(usage.input_tokens));
        plus(&mut self.output_tokens, Some(usage.output_tokens));
        plus(&mut self.cache_read_tokens, usage.cache_read_tokens);
        plus(&mut self.cache_creation_tokens, usage.cache_creation_tokens);
        plus(&mut self.cache_creation_1h_tokens, usage.cache_creation_1h_tokens);
        plus(&mut self.reasoning_tokens, usage.reasoning_tokens);
        if let Some(cost) = usage.cost_usd {
            self.cost_usd = Some(self.cost_usd.unwrap_or_default() + cost);
        }
    }
}

impl UsageTotal {
    /// The tokens in the form from which their cost is computed; `None` if no record reported any.
    pub(super) fn tokens(&self) -> Option<Tokens> {
        let is_reported = self.input_tokens.is_some() || self.output_tokens.is_some();
        is_reported.then(|| Tokens {
            input: self.input_tokens.unwrap_or_default(),
            output: self.output_tokens.unwrap_or_default(),
            cache_read: self.cache_read_tokens.unwrap_or_default(),
            cache_creation: self.cache_creation_tokens.unwrap_or_default(),
            cache_creation_1h: self.cache_creation_1h_tokens.unwrap_or_default(),
            reasoning: self.reasoning_tokens.unwrap_or_default(),
        })
    }
}

fn plus(sum: &mut Option<u64>, more: Option<u64>) {
    if let Some(more) = more {
        *sum = Some(sum.unwrap_or_default().saturating_add(more));
    }
}
