//! Tokens and money, in the provider's and in the runner's spelling.
//!
//! In: `usage` objects of messages, stream events and results, and the `modelUsage` tables of results. Out: usage frames.
//! Never: a figure twice, a placeholder for a final figure, a zero where nothing was said.

use crate::frame::{Name, Usage, UsageScope};
use crate::json::Object;

/// The figures of one model call or run, as far as they were told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tokens {
    input: Option<u64>,
    output: Option<u64>,
    cache_read: Option<u64>,
    cache_creation: Option<u64>,
    reasoning: Option<u64>,
}

impl Tokens {
    /// Reads the provider's `usage` object.
    pub(super) fn read(usage: &Object<'_>) -> Self {
        Self {
            input: usage.u64("input_tokens"),
            output: usage.u64("output_tokens"),
            cache_read: usage.u64("cache_read_input_tokens"),
            cache_creation: usage.u64("cache_creation_input_tokens"),
            reasoning: usage.object("output_tokens_details").and_then(|details| details.u64("thinking_tokens")),
        }
    }

    /// Takes over the newer figures; they replace the older ones, and are not added to them.
    pub(super) fn update(&mut self, newer: Self) {
        self.input = newer.input.or(self.input);
        self.output = newer.output.or(self.output);
        self.cache_read = newer.cache_read.or(self.cache_read);
        self.cache_creation = newer.cache_creation.or(self.cache_creation);
        self.reasoning = newer.reasoning.or(self.reasoning);
    }

    /// Whether every figure that was told is zero.
    pub(super) fn is_zero(&self) -> bool {
        [self.input, self.output, self.cache_read, self.cache_creation].into_iter().flatten().all(|figure| figure == 0)
    }

    /// The frame's form; `None` where the figures are not whole.
    pub(super) fn report(&self, scope: UsageScope, model: Option<Name>, cost_usd: Option<f64>) -> Option<Usage> {
        Some(Usage {
            scope,
            model,
            input_tokens: self.input?,
            output_tokens: self.output?,
            cache_read_tokens: self.cache_read,
            cache_creation_tokens: self.cache_creation,
            reasoning_tokens: self.reasoning,
            cost_usd,
        })
    }
}

/// An amount of money; a negative one is none.
pub(super) fn money(fields: &Object<'_>, key: &str) -> Option<f64> {
    fields.f64(key).filter(|amount| *amount >= 0.0)
}

/// A `modelUsage` table: the figures of all calls, model by model.
#[derive(Debug, Default)]
pub(super) struct ModelUsage {
    /// The sum of the tokens.
    pub(super) tokens: Tokens,
    /// The sum of the costs; `None` where a model has none.
    pub(super) cost_usd: Option<f64>,
    /// The model, where there is one alone.
    pub(super) model: Option<Name>,
}

impl ModelUsage {
    /// Reads the table.
    pub(super) fn read(table: &Object<'_>) -> Self {
        let mut this = Self { cost_usd: Some(0.0), ..Self::default() };
        for (name, figures) in table.iter() {
            let Some(figures) = figures.object() else { continue };
            this.cost_usd = this.cost_usd.zip(money(&figures, "costUSD")).map(|(sum, cost)| sum + cost);
            let tokens = &mut this.tokens;
            for (sum, key) in [
                (&mut tokens.input, "inputTokens"),
                (&mut tokens.output, "outputTokens"),
                (&mut tokens.cache_read, "cacheReadInputTokens"),
                (&mut tokens.cache_creation, "cacheCreationInputTokens"),
                (&mut tokens.reasoning, "thinkingTokens"),
            ] {
                if let Some(figure) = figures.u64(key) {
                    *sum = Some(sum.unwrap_or_default().saturating_add(figure));
                }
            }
            this.model = (table.len() == 1).then(|| Name::from(name));
        }
        this
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_message_replaces_its_start() {
        let read = |text| Tokens::read(&Object::parse(text).unwrap());
        let mut tokens = read(r#"{"input_tokens":11,"output_tokens":3,"cache_read_input_tokens":5}"#);
        tokens.update(read(r#"{"output_tokens":14}"#));
        let usage = tokens.report(UsageScope::Turn, None, None).unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens, usage.cache_read_tokens), (11, 14, Some(5)));
        assert_eq!(usage.cache_creation_tokens, None);
        assert_eq!(read(r#"{"output_tokens":14}"#).report(UsageScope::Turn, None, None), None);
    }

    #[test]
    fn a_table_is_summed_and_names_its_model_where_it_is_alone() {
        let read = |text| ModelUsage::read(&Object::parse(text).unwrap());
        let one = read(r#"{"a":{"inputTokens":1,"outputTokens":2,"costUSD":0.5}}"#);
        assert_eq!((one.model.as_deref(), one.cost_usd), (Some("a"), Some(0.5)));
        let two = read(r#"{"a":{"inputTokens":1,"costUSD":0.5},"b":{"inputTokens":4,"costUSD":0.25}}"#);
        assert_eq!((two.model, two.cost_usd, two.tokens.input), (None, Some(0.75), Some(5)));
        assert_eq!(read(r#"{"a":{"inputTokens":1}}"#).cost_usd, None);
        assert_eq!(read("{}").cost_usd, Some(0.0));
    }
}
