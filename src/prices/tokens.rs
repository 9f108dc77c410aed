//! Tokens that are billed.
//!
//! Input: the figures of a model call or of a run, as frames have them. Output: parts that do not overlap, which can be added and subtracted. Never: a token that is
//! in two parts, such as a cached one that also counts as input.

use super::SIZE_LIMITS;
use super::money::Usd;
use super::table::Rates;

/// Tokens by what they cost. The parts do not overlap, except that `reasoning` is a part of `output`, and `cache_creation_1h` one of `cache_creation`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Input tokens read outside the cache.
    pub input: u64,
    /// Output tokens, including reasoning.
    pub output: u64,
    /// Input tokens read from the cache.
    pub cache_read: u64,
    /// Input tokens written to the cache.
    pub cache_creation: u64,
    /// The part of `cache_creation` that was written to entries which live for one hour.
    pub cache_creation_1h: u64,
    /// The part of `output` that was reasoning.
    pub reasoning: u64,
}

impl Tokens {
    /// The whole input.
    pub fn whole_input(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_creation)
    }

    /// What is left of these tokens without others, at least 0.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        Self {
            input: self.input.saturating_sub(other.input),
            output: self.output.saturating_sub(other.output),
            cache_read: self.cache_read.saturating_sub(other.cache_read),
            cache_creation: self.cache_creation.saturating_sub(other.cache_creation),
            cache_creation_1h: self.cache_creation_1h.saturating_sub(other.cache_creation_1h),
            reasoning: self.reasoning.saturating_sub(other.reasoning),
        }
    }

    /// The largest limit of an input's size that these tokens of one call exceed; 0 if they exceed none.
    pub fn size_limit(&self) -> u64 {
        let input = self.whole_input();
        SIZE_LIMITS.iter().copied().rfind(|limit| input > *limit).unwrap_or_default()
    }
}

/// A difference of tokens, which may be negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Difference {
    input: i128,
    answer: i128,
    cache_read: i128,
    cache_creation: i128,
    cache_creation_1h: i128,
    reasoning: i128,
}

impl Difference {
    /// These tokens, added `times` times: 1, or -1 to subtract them.
    pub(super) fn add(&mut self, tokens: &Tokens, times: i128) {
        // A runner that reports more reasoning than output has the rest of the output at 0.
        let answer = tokens.output.saturating_sub(tokens.reasoning);
        let reasoning = tokens.output.min(tokens.reasoning);
        let hour = tokens.cache_creation.min(tokens.cache_creation_1h);
        for (sum, more) in [
            (&mut self.input, tokens.input),
            (&mut self.answer, answer),
            (&mut self.cache_read, tokens.cache_read),
            (&mut self.cache_creation, tokens.cache_creation - hour),
            (&mut self.cache_creation_1h, hour),
            (&mut self.reasoning, reasoning),
        ] {
            *sum = sum.saturating_add(i128::from(more).saturating_mul(times));
        }
    }

    pub(super) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// The input in it, as far as there is any.
    pub(super) fn whole_input(&self) -> i128 {
        [self.input, self.cache_read, self.cache_creation, self.cache_creation_1h]
            .iter()
            .fold(0, |sum, part| sum.saturating_add((*part).max(0)))
    }

    /// What these tokens cost.
    pub(super) fn cost(&self, rates: &Rates) -> Usd {
        [
            rates.input.times(self.input),
            rates.output.times(self.answer),
            rates.cache_read.times(self.cache_read),
            rates.cache_write.times(self.cache_creation),
            rates.cache_write_1h.times(self.cache_creation_1h),
            rates.reasoning.times(self.reasoning),
        ]
        .into_iter()
        .fold(Usd::default(), Usd::plus)
    }
}
