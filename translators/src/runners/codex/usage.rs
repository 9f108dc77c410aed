//! Tokens: a thread's running totals, converted to the usage of its turns.
//!
//! Input: totals and last-call figures, in the spelling of any of the three surfaces. Output: the increase since the last
//! report. Never: a repeated total counted twice; cached input tokens counted twice.

use crate::frame::{Figures, SharedStr, Usage, UsageScope};
use crate::json::Object;

/// Tokens as the runner counts them: cached tokens are part of the input, reasoning tokens are part of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tokens {
    input: u64,
    cached: Option<u64>,
    cache_write: Option<u64>,
    output: u64,
    reasoning: Option<u64>,
}

impl Tokens {
    /// Reads the figures; `None` if neither input nor output is present.
    pub(super) fn read(fields: &Object<'_>) -> Option<Self> {
        let get = |snake: &str, camel: &str| fields.u64(snake).or_else(|| fields.u64(camel));
        let (input, output) = (get("input_tokens", "inputTokens"), get("output_tokens", "outputTokens"));
        (input.is_some() || output.is_some()).then(|| Self {
            input: input.unwrap_or_default(),
            cached: get("cached_input_tokens", "cachedInputTokens"),
            cache_write: get("cache_write_input_tokens", "cacheWriteInputTokens"),
            output: output.unwrap_or_default(),
            reasoning: get("reasoning_output_tokens", "reasoningOutputTokens"),
        })
    }

    /// Whether input and output are zero. The runner reports zeros if the provider reported nothing.
    pub(super) fn is_zero(&self) -> bool {
        self.input == 0 && self.output == 0
    }

    /// The increase since an earlier total; `None` if that is not below this one.
    pub(super) fn since(self, before: Self) -> Option<Self> {
        let part = |now: Option<u64>, before: Option<u64>| match now {
            Some(now) => now.checked_sub(before.unwrap_or_default()).map(Some),
            None => Some(None),
        };
        Some(Self {
            input: self.input.checked_sub(before.input)?,
            cached: part(self.cached, before.cached)?,
            cache_write: part(self.cache_write, before.cache_write)?,
            output: self.output.checked_sub(before.output)?,
            reasoning: part(self.reasoning, before.reasoning)?,
        })
    }

    fn plus(self, more: Self) -> Self {
        let part = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or_default().saturating_add(b.unwrap_or_default())),
        };
        Self {
            input: self.input.saturating_add(more.input),
            cached: part(self.cached, more.cached),
            cache_write: part(self.cache_write, more.cache_write),
            output: self.output.saturating_add(more.output),
            reasoning: part(self.reasoning, more.reasoning),
        }
    }

    /// The usage as frames contain it, with cached tokens not counted in the input.
    pub(super) fn usage(&self, scope: UsageScope, model: Option<SharedStr>) -> Usage {
        let beside = self.cached.unwrap_or_default().saturating_add(self.cache_write.unwrap_or_default());
        Usage {
            scope,
            model,
            input_tokens: self.input.saturating_sub(beside),
            output_tokens: self.output,
            cache_read_tokens: self.cached,
            cache_creation_tokens: self.cache_write,
            cache_creation_1h_tokens: None,
            reasoning_tokens: self.reasoning,
            cost_usd: None,
            main_thread: None,
            running: None,
            by_model: Vec::new(),
        }
    }

    /// The figures as stored for later inputs, in the runner's way of counting.
    fn kept(&self) -> Figures {
        Figures {
            input_tokens: self.input,
            output_tokens: self.output,
            cache_read_tokens: self.cached,
            cache_creation_tokens: self.cache_write,
            cache_creation_1h_tokens: None,
            reasoning_tokens: self.reasoning,
            cost_usd: None,
        }
    }

    fn of_kept(kept: &Figures) -> Self {
        Self {
            input: kept.input_tokens,
            cached: kept.cache_read_tokens,
            cache_write: kept.cache_creation_tokens,
            output: kept.output_tokens,
            reasoning: kept.reasoning_tokens,
        }
    }
}

/// The running total of one thread.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Meter {
    total: Option<Tokens>,
    turn: Option<Tokens>,
}

impl Meter {
    /// Applies a new total, and the last call's figures if reported. Returns the increase; `None` if there is none.
    ///
    /// A resumed or forked thread starts above zero, and anything beyond the last call belongs to earlier turns. A total that
    /// shrinks was overwritten by the runner, as after a context-window error; counting continues from the new value.
    pub(super) fn total(&mut self, total: Tokens, last: Option<Tokens>) -> Option<Tokens> {
        let added = match self.total {
            Some(before) => total.since(before).or(last).unwrap_or(total),
            None => last.filter(|last| total.since(*last).is_some()).unwrap_or(total),
        };
        self.total = Some(total);
        if added.is_zero() || total.is_zero() {
            return None;
        }
        self.turn = Some(self.turn.unwrap_or_default().plus(added));
        Some(added)
    }

    /// Whether this input has not reported any total for the thread.
    pub(super) fn is_fresh(&self) -> bool {
        self.total.is_none()
    }

    /// Restores the thread's total from earlier inputs: the greatest stored total below the current one. If the same input is
    /// ingested again, each of its turns therefore gets the same usage as before.
    pub(super) fn recall(&mut self, known: &[Figures], now: Tokens) {
        let before = known.iter().map(Tokens::of_kept).filter(|before| *before != now && now.since(*before).is_some());
        self.total = before.max_by_key(|before| (before.input, before.output)).or(self.total);
    }

    /// The running total, to be stored for later inputs.
    pub(super) fn running(&self) -> Option<Box<Figures>> {
        self.total.map(|total| Box::new(total.kept()))
    }

    /// Adds the figures of one call, for surfaces that report no total.
    pub(super) fn call(&mut self, tokens: Tokens) -> Option<Tokens> {
        let total = self.total.unwrap_or_default().plus(tokens);
        self.total(total, Some(tokens))
    }

    /// Takes the increase of the turn that ends here.
    pub(super) fn end_turn(&mut self) -> Option<Tokens> {
        self.turn.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(input: u64, cached: u64, output: u64) -> Tokens {
        Tokens { input, cached: Some(cached), cache_write: Some(0), output, reasoning: Some(0) }
    }

    #[test]
    fn totals_become_differences() {
        let mut meter = Meter::default();
        assert_eq!(meter.total(tokens(10, 4, 1), None), Some(tokens(10, 4, 1)));
        assert_eq!(meter.total(tokens(10, 4, 1), None), None);
        assert_eq!(meter.total(tokens(30, 14, 2), None), Some(tokens(20, 10, 1)));
        assert_eq!(meter.end_turn(), Some(tokens(30, 14, 2)));
        assert_eq!(meter.end_turn(), None);
    }

    #[test]
    fn a_thread_continues_from_an_earlier_input() {
        let known: Vec<_> =
            [tokens(100, 0, 10), tokens(300, 0, 30), tokens(610, 0, 61)].iter().map(Tokens::kept).collect();
        let spent = |total: Tokens| {
            let mut meter = Meter::default();
            meter.recall(&known, total);
            meter.total(total, None)
        };
        assert_eq!(spent(tokens(710, 0, 71)), Some(tokens(100, 0, 10)));
        assert_eq!(spent(tokens(610, 0, 61)), Some(tokens(310, 0, 31)), "the same input again");
        assert_eq!(spent(tokens(100, 0, 10)), Some(tokens(100, 0, 10)));
        assert_eq!(spent(tokens(7, 0, 1)), Some(tokens(7, 0, 1)), "a total that was overwritten");
    }

    #[test]
    fn a_resumed_thread_starts_above_zero() {
        let mut meter = Meter::default();
        assert_eq!(meter.total(tokens(100, 0, 10), Some(tokens(20, 0, 3))), Some(tokens(20, 0, 3)));
    }

    #[test]
    fn an_overwritten_total_is_the_new_baseline() {
        let mut meter = Meter::default();
        meter.total(tokens(100, 0, 10), None);
        assert_eq!(meter.total(tokens(0, 0, 0), Some(tokens(0, 0, 0))), None);
        assert_eq!(meter.total(tokens(7, 0, 1), Some(tokens(7, 0, 1))), Some(tokens(7, 0, 1)));
        assert_eq!(meter.end_turn(), Some(tokens(107, 0, 11)));
    }

    #[test]
    fn the_cached_part_is_not_counted_twice() {
        let usage = tokens(1200, 1024, 31).usage(UsageScope::Run, None);
        assert_eq!((usage.input_tokens, usage.cache_read_tokens), (176, Some(1024)));
    }
}
