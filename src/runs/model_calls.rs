//! The model calls of a run, by model.
//!
//! Input: usage of scope `turn`. Output: for each model and size of the input, the calls and their tokens. Never: more than [`MOST_MODELS`] entries, whatever names a
//! runner invents (further ones are summed in an entry that says so).

use framegate_translators::frame::{SharedStr, Usage};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

use crate::prices::{Calls, Tokens};

/// How many entries a run has, besides the one for all further models.
pub const MOST_MODELS: usize = 32;

/// The name in the entry of all further models.
pub const OTHER: &str = "other";

/// How many characters of a model's name are kept.
const NAME_CHARS: usize = 200;

/// The calls of one model whose inputs have a size between the same limits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFigures {
    /// The model as the runner spells it; absent if the runner does not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<SharedStr>,
    /// The size that the whole input of each of these calls exceeds, in tokens. Some vendors have other prices for such calls. Absent for
    /// smaller calls.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub above_input_tokens: u64,
    /// Calls that the runner reported one by one.
    pub calls: u64,
    /// Input tokens read outside the cache.
    pub input_tokens: u64,
    /// Output tokens, including reasoning.
    pub output_tokens: u64,
    /// Input tokens read from the cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_read_tokens: u64,
    /// Input tokens written to the cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_creation_tokens: u64,
    /// The part of `cache_creation_tokens` that was written to entries which live for one hour.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cache_creation_1h_tokens: u64,
    /// The part of `output_tokens` that was reasoning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
    /// Whether this is the sum of all models beyond the limit.
    #[serde(default, skip_serializing_if = "is_false")]
    pub rest: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl ModelFigures {
    fn of(model: Option<SharedStr>, above_input_tokens: u64) -> Self {
        Self {
            model,
            above_input_tokens,
            calls: 0,
            input_tokens: 0,
            output_tokens: 0,
            cache_read_tokens: 0,
            cache_creation_tokens: 0,
            cache_creation_1h_tokens: 0,
            reasoning_tokens: 0,
            rest: false,
        }
    }

    fn add(&mut self, call: &Tokens) {
        self.calls = self.calls.saturating_add(1);
        for (sum, more) in [
            (&mut self.input_tokens, call.input),
            (&mut self.output_tokens, call.output),
            (&mut self.cache_read_tokens, call.cache_read),
            (&mut self.cache_creation_tokens, call.cache_creation),
            (&mut self.cache_creation_1h_tokens, call.cache_creation_1h),
            (&mut self.reasoning_tokens, call.reasoning),
        ] {
            *sum = sum.saturating_add(more);
        }
    }

    /// The calls in the form from which their cost is computed.
    pub(super) fn spent(&self) -> Calls<'_> {
        Calls {
            model: self.model.as_deref(),
            above_input_tokens: self.above_input_tokens,
            tokens: Tokens {
                input: self.input_tokens,
                output: self.output_tokens,
                cache_read: self.cache_read_tokens,
                cache_creation: self.cache_creation_tokens,
                cache_creation_1h: self.cache_creation_1h_tokens,
                reasoning: self.reasoning_tokens,
            },
        }
    }
}

/// The model calls of a run. A copy is cheap: statuses are copied for every append.
#[derive(Clone, Debug, Default)]
pub struct ModelCalls(Arc<Vec<ModelFigures>>);

impl ModelCalls {
    /// The figures, in the order of the first calls; the entry of further models is the last one.
    pub fn figures(&self) -> &[ModelFigures] {
        &self.0
    }

    /// Adds a call.
    pub(super) fn add(&mut self, usage: &Usage) {
        let call = tokens(usage);
        let above = call.size_limit();
        let name = usage.model.as_ref().filter(|name| !name.is_empty()).map(short);
        let figures = Arc::make_mut(&mut self.0);
        let is_it = |known: &ModelFigures| !known.rest && known.model == name && known.above_input_tokens == above;
        let place = figures.iter().position(is_it).unwrap_or_else(|| {
            if figures.last().is_none_or(|last| !last.rest) {
                let is_full = figures.len() == MOST_MODELS;
                let rest = || ModelFigures { rest: true, ..ModelFigures::of(Some(OTHER.into()), 0) };
                figures.push(if is_full { rest() } else { ModelFigures::of(name, above) });
            }
            figures.len() - 1
        });
        if let Some(known) = figures.get_mut(place) {
            known.add(&call);
        }
    }
}

/// The tokens of a call or of a run in the form from which their cost is computed.
pub(super) fn tokens(usage: &Usage) -> Tokens {
    Tokens {
        input: usage.input_tokens,
        output: usage.output_tokens,
        cache_read: usage.cache_read_tokens.unwrap_or_default(),
        cache_creation: usage.cache_creation_tokens.unwrap_or_default(),
        cache_creation_1h: usage.cache_creation_1h_tokens.unwrap_or_default(),
        reasoning: usage.reasoning_tokens.unwrap_or_default(),
    }
}

/// A name that may be arbitrarily long, cut.
pub(super) fn short(name: &SharedStr) -> SharedStr {
    match name.char_indices().nth(NAME_CHARS) {
        None => name.clone(),
        Some((at, _)) => name.get(..at).unwrap_or_default().into(),
    }
}

impl Serialize for ModelCalls {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ModelCalls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Arc::new(Vec::deserialize(deserializer)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(model: &str, input_tokens: u64) -> Usage {
        Usage { model: Some(model.into()), input_tokens, output_tokens: 2, ..Usage::default() }
    }

    #[test]
    fn calls_are_summed_by_model_and_size() {
        let mut calls = ModelCalls::default();
        for usage in [
            call("a", 200_000),
            Usage { cache_read_tokens: Some(1), ..call("a", 200_000) },
            Usage { cache_creation_tokens: Some(5), reasoning_tokens: Some(1), ..call("a", 199_990) },
            call("b", 1),
            Usage { model: None, ..call("", 3) },
            call("", 4),
        ] {
            calls.add(&usage);
        }
        let json = serde_json::to_value(&calls).unwrap();
        assert_eq!(
            json,
            serde_json::json!([
                {"model": "a", "above_input_tokens": 128_000, "calls": 2, "input_tokens": 399_990, "output_tokens": 4,
                    "cache_creation_tokens": 5, "reasoning_tokens": 1},
                {"model": "a", "above_input_tokens": 200_000, "calls": 1, "input_tokens": 200_000, "output_tokens": 2, "cache_read_tokens": 1},
                {"model": "b", "calls": 1, "input_tokens": 1, "output_tokens": 2},
                {"calls": 2, "input_tokens": 7, "output_tokens": 4},
            ])
        );
        let read: ModelCalls = serde_json::from_value(json).unwrap();
        assert_eq!(read.figures(), calls.figures());
    }

    #[test]
    fn models_beyond_the_limit_are_summed_in_an_entry_that_says_so() {
        let mut calls = ModelCalls::default();
        for nth in 0..MOST_MODELS + 9 {
            calls.add(&call(&format!("model {nth}"), 1));
        }
        calls.add(&call("model 0", 1));
        let figures = calls.figures();
        assert_eq!((figures.len(), figures[0].calls), (MOST_MODELS + 1, 2));
        let rest = figures.last().unwrap();
        assert_eq!((rest.rest, rest.calls, rest.input_tokens, rest.model.as_deref()), (true, 9, 9, Some(OTHER)));
    }

    #[test]
    fn a_long_name_is_cut_between_characters() {
        let mut calls = ModelCalls::default();
        let long = "ä".repeat(1 << 16);
        calls.add(&call(&long, 1));
        calls.add(&call(&format!("{long}!"), 1));
        assert_eq!(calls.figures().len(), 1);
        assert_eq!(calls.figures()[0].model.as_ref().unwrap().chars().count(), NAME_CHARS);
    }
}
