//! Counts of tokens, as attributes.

use super::super::attributes::count;
use framegate_translators::frame::Usage;
use opentelemetry_proto::tonic::common::v1::KeyValue;

#[derive(Clone, Copy)]
pub(super) struct Tokens {
    input: u64,
    output: u64,
    cache_read: Option<u64>,
    cache_creation: Option<u64>,
    reasoning: Option<u64>,
}

impl Tokens {
    pub(super) fn of(usage: &Usage) -> Self {
        Self {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cache_read: usage.cache_read_tokens,
            cache_creation: usage.cache_creation_tokens,
            reasoning: usage.reasoning_tokens,
        }
    }

    pub(super) fn plus(self, more: Option<Self>) -> Self {
        let Some(more) = more else { return self };
        let both = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        };
        Self {
            input: self.input.saturating_add(more.input),
            output: self.output.saturating_add(more.output),
            cache_read: both(self.cache_read, more.cache_read),
            cache_creation: both(self.cache_creation, more.cache_creation),
            reasoning: both(self.reasoning, more.reasoning),
        }
    }

    /// Adds the known counts. The conventions count cached tokens as input.
    pub(super) fn add_to(self, attributes: &mut Vec<KeyValue>) {
        let cached = self.cache_read.unwrap_or_default().saturating_add(self.cache_creation.unwrap_or_default());
        let input = self.input.saturating_add(cached);
        for (key, tokens) in [
            ("gen_ai.usage.input_tokens", Some(input)),
            ("gen_ai.usage.output_tokens", Some(self.output)),
            ("gen_ai.usage.cache_read.input_tokens", self.cache_read),
            ("gen_ai.usage.cache_creation.input_tokens", self.cache_creation),
            ("gen_ai.usage.reasoning.output_tokens", self.reasoning),
        ] {
            if let Some(tokens) = tokens {
                attributes.push(count(key, tokens));
            }
        }
    }
}
