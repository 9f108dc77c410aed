//! Tokens and cost, in the provider's and the runner's spelling.
//!
//! Input: `usage` objects of messages, stream events and results, and the `modelUsage` tables of results. Output: usage frames.
//! Never: a figure counted twice; a placeholder taken for a final figure; a zero for a missing figure.

use crate::frame::{Figures, ModelPart, SharedStr, Usage, UsageScope};
use crate::json::Object;

/// The reported figures of one model call or run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tokens {
    input: Option<u64>,
    output: Option<u64>,
    cache_read: Option<u64>,
    cache_creation: Option<u64>,
    /// The part of it that lives for one hour.
    cache_creation_1h: Option<u64>,
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
            cache_creation_1h: usage
                .object("cache_creation")
                .and_then(|parts| parts.u64("ephemeral_1h_input_tokens"))
                .filter(|tokens| *tokens > 0),
            reasoning: usage.object("output_tokens_details").and_then(|details| details.u64("thinking_tokens")),
        }
    }

    /// Takes over newer figures. They replace the older ones and are not added to them.
    pub(super) fn update(&mut self, newer: Self) {
        self.input = newer.input.or(self.input);
        self.output = newer.output.or(self.output);
        self.cache_read = newer.cache_read.or(self.cache_read);
        self.cache_creation = newer.cache_creation.or(self.cache_creation);
        self.cache_creation_1h = newer.cache_creation_1h.or(self.cache_creation_1h);
        self.reasoning = newer.reasoning.or(self.reasoning);
    }

    /// Whether every reported figure is zero.
    pub(super) fn is_zero(&self) -> bool {
        [self.input, self.output, self.cache_read, self.cache_creation].into_iter().flatten().all(|figure| figure == 0)
    }

    /// The figures as a frame; `None` if input or output tokens are missing.
    pub(super) fn report(&self, scope: UsageScope, model: Option<SharedStr>, cost_usd: Option<f64>) -> Option<Usage> {
        Some(Usage {
            scope,
            model,
            input_tokens: self.input?,
            output_tokens: self.output?,
            cache_read_tokens: self.cache_read,
            cache_creation_tokens: self.cache_creation,
            cache_creation_1h_tokens: self.cache_creation_1h,
            reasoning_tokens: self.reasoning,
            cost_usd,
            main_thread: None,
            running: None,
            by_model: Vec::new(),
        })
    }

    /// The figures, with missing input and output tokens counted as zero.
    pub(super) fn figures(&self, cost_usd: Option<f64>) -> Figures {
        Figures {
            input_tokens: self.input.unwrap_or_default(),
            output_tokens: self.output.unwrap_or_default(),
            cache_read_tokens: self.cache_read,
            cache_creation_tokens: self.cache_creation,
            cache_creation_1h_tokens: self.cache_creation_1h,
            reasoning_tokens: self.reasoning,
            cost_usd,
        }
    }
}

/// An amount of money; `None` if it is missing or negative.
pub(super) fn money(fields: &Object<'_>, key: &str) -> Option<f64> {
    fields.f64(key).filter(|amount| *amount >= 0.0)
}

/// A `modelUsage` table: the figures of all calls, by model.
#[derive(Debug, Default)]
pub(super) struct ModelUsage {
    /// The sum of the tokens.
    pub(super) tokens: Tokens,
    /// The sum of the costs; `None` if a model has no cost.
    pub(super) cost_usd: Option<f64>,
    /// The model, if there is exactly one.
    pub(super) model: Option<SharedStr>,
    /// The figures of each model.
    pub(super) parts: Vec<ModelPart>,
}

impl ModelUsage {
    /// Reads a result's table, which is a running total; `None` if the result has none.
    pub(super) fn running(result: &Object<'_>) -> Option<Self> {
        result.object("modelUsage").filter(|table| !table.is_empty()).map(|table| Self::read(&table))
    }

    pub(super) fn read(table: &Object<'_>) -> Self {
        let mut this = Self { cost_usd: Some(0.0), ..Self::default() };
        for (name, figures) in table.iter() {
            let Some(figures) = figures.object() else { continue };
            let cost_usd = money(&figures, "costUSD");
            this.cost_usd = this.cost_usd.zip(cost_usd).map(|(sum, cost)| sum + cost);
            let (tokens, mut own) = (&mut this.tokens, Tokens::default());
            for (sum, own, key) in [
                (&mut tokens.input, &mut own.input, "inputTokens"),
                (&mut tokens.output, &mut own.output, "outputTokens"),
                (&mut tokens.cache_read, &mut own.cache_read, "cacheReadInputTokens"),
                (&mut tokens.cache_creation, &mut own.cache_creation, "cacheCreationInputTokens"),
                (&mut tokens.reasoning, &mut own.reasoning, "thinkingTokens"),
                (&mut tokens.cache_creation_1h, &mut own.cache_creation_1h, "cacheCreationEphemeral1hInputTokens"),
            ] {
                *own = figures.u64(key);
                if let Some(figure) = *own {
                    *sum = Some(sum.unwrap_or_default().saturating_add(figure));
                }
            }
            own.cache_creation_1h = own.cache_creation_1h.filter(|tokens| *tokens > 0);
            this.parts.push(ModelPart { model: name.into(), figures: own.figures(cost_usd) });
            this.model = (table.len() == 1).then(|| SharedStr::from(name));
        }
        this.tokens.cache_creation_1h = this.tokens.cache_creation_1h.filter(|tokens| *tokens > 0);
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
    fn writes_of_one_hour_are_a_part_of_all_writes_and_absent_if_there_are_none() {
        let read = |text| Tokens::read(&Object::parse(text).unwrap()).figures(None);
        let split = r#"{"cache_creation_input_tokens":9,
            "cache_creation":{"ephemeral_5m_input_tokens":2,"ephemeral_1h_input_tokens":7}}"#;
        let figures = read(split);
        assert_eq!((figures.cache_creation_tokens, figures.cache_creation_1h_tokens), (Some(9), Some(7)));
        assert_eq!(read(r#"{"cache_creation":{"ephemeral_1h_input_tokens":0}}"#).cache_creation_1h_tokens, None);
        let table = r#"{"a":{"cacheCreationInputTokens":9,"cacheCreationEphemeral1hInputTokens":7},
            "b":{"cacheCreationInputTokens":1,"cacheCreationEphemeral1hInputTokens":0}}"#;
        let table = ModelUsage::read(&Object::parse(table).unwrap());
        assert_eq!(table.tokens.figures(None).cache_creation_1h_tokens, Some(7));
        let parts: Vec<_> = table.parts.iter().map(|part| part.figures.cache_creation_1h_tokens).collect();
        assert_eq!(parts, [Some(7), None]);
    }

    #[test]
    fn a_table_is_summed_and_a_single_model_is_named() {
        let read = |text| ModelUsage::read(&Object::parse(text).unwrap());
        let one = read(r#"{"a":{"inputTokens":1,"outputTokens":2,"costUSD":0.5}}"#);
        assert_eq!((one.model.as_deref(), one.cost_usd), (Some("a"), Some(0.5)));
        let two = read(r#"{"a":{"inputTokens":1,"costUSD":0.5},"b":{"inputTokens":4,"costUSD":0.25}}"#);
        assert_eq!((two.model, two.cost_usd, two.tokens.input), (None, Some(0.75), Some(5)));
        let parts: Vec<_> = two.parts.iter().map(|part| (&*part.model, part.figures.input_tokens)).collect();
        assert_eq!(parts, [("a", 1), ("b", 4)]);
        assert_eq!(read(r#"{"a":{"inputTokens":1}}"#).cost_usd, None);
        assert_eq!(read("{}").cost_usd, Some(0.0));
    }
}
