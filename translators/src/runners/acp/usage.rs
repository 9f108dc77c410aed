//! Tokens and money.
//!
//! Input: the figures of an answer, of a state or of a chunk, and the session's cost so far. Output: the usage of a run. Never: a
//! figure that an agent counts for something else: some agents count the whole session, some the last model call only.

use super::sessions::Session;
use crate::frame::{Figures, SharedStr, Usage, UsageScope};
use crate::json::Object;
use crate::normalizer::{Covers, Normalizer, Target};
use crate::sequence::StreamKey;

/// What the usage of an answer counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Counting {
    /// The prompt.
    #[default]
    Run,
    /// The session so far.
    Session,
    /// The last model call.
    LastCall,
}

impl Counting {
    /// The way of counting of an agent with this name.
    pub(super) fn of(agent: &str) -> Self {
        let name = agent.to_ascii_lowercase();
        match name.rsplit('/').next().unwrap_or_default() {
            "copilot" | "mistral-vibe" => Self::Session,
            "opencode" | "kilo" => Self::LastCall,
            _ => Self::Run,
        }
    }
}

/// The cost of a session, which agents count from its beginning.
#[derive(Debug, Default)]
pub(super) struct Cost {
    /// US dollars so far.
    now: Option<f64>,
    /// US dollars that were reported; `None` if the session began before the input.
    before: Option<f64>,
    /// The session had a run.
    had_run: bool,
}

impl Cost {
    /// The cost of a session that begins.
    pub(super) fn fresh() -> Self {
        Self { now: None, before: Some(0.0), had_run: false }
    }

    /// Notes the cost so far. A figure before the first run is of earlier runs; one after a run may be its own, and is
    /// reported with the next one.
    pub(super) fn note(&mut self, update: &Object<'_>, is_in_run: bool) {
        let Some(cost) = update.object("cost").filter(|cost| cost.str("currency").is_none_or(|word| word == "USD"))
        else {
            return;
        };
        let Some(amount) = cost.f64("amount").filter(|amount| amount.is_finite() && *amount >= 0.0) else { return };
        self.now = Some(amount);
        if !(is_in_run || self.had_run && self.before.is_some()) {
            self.before = Some(amount);
        }
    }

    /// A run ends. Returns what was spent since the last report.
    fn end_run(&mut self) -> Option<f64> {
        self.had_run = true;
        let of_run = self.now.zip(self.before).map(|(now, before)| (now - before).max(0.0));
        if of_run.is_none() {
            self.before = self.now;
        }
        of_run
    }

    /// The cost so far was reported.
    fn reported(&mut self) {
        self.before = self.now.or(self.before);
    }
}

/// Reads figures in the spellings of the protocol and of its agents; `None` if there are none.
pub(super) fn figures(usage: &Object<'_>) -> Option<Figures> {
    let read = |keys: &[&str]| keys.iter().find_map(|key| usage.u64(key));
    let input = read(&["inputTokens", "input_tokens"])?;
    let output = read(&["outputTokens", "output_tokens"])?;
    let cache_read_tokens = read(&["cachedReadTokens", "cachedInputTokens"]);
    let cache_creation_tokens = read(&["cachedWriteTokens", "cacheWriteInputTokens"]);
    let reasoning_tokens = read(&["thoughtTokens", "reasoningOutputTokens"]);
    let cached = cache_read_tokens.unwrap_or_default().saturating_add(cache_creation_tokens.unwrap_or_default());
    let thought = reasoning_tokens.unwrap_or_default();
    let (mut input_tokens, mut output_tokens) = (input, output);
    // Agents differ in whether the input contains what was cached, and the output the thoughts. The total decides.
    if let Some(total) = read(&["totalTokens"]) {
        let base = input.saturating_add(output);
        if cached > 0 && (total == base || total == base.saturating_add(thought)) {
            input_tokens = input.saturating_sub(cached);
        }
        if thought > 0
            && (total == base.saturating_add(thought) || total == base.saturating_add(thought).saturating_add(cached))
        {
            output_tokens = output.saturating_add(thought);
        }
    }
    Some(Figures {
        input_tokens,
        output_tokens,
        cache_read_tokens,
        cache_creation_tokens,
        cache_creation_1h_tokens: None,
        reasoning_tokens,
        cost_usd: None,
    })
}

/// The figures of an answer or of the state that ends a turn.
fn of_answer(answer: &Object<'_>) -> Option<Figures> {
    let own = answer.object("usage").and_then(|usage| figures(&usage));
    own.or_else(|| {
        let quota = answer.object("_meta")?.object("quota")?;
        figures(&quota.object("token_count")?)
    })
}

/// Reports the usage of a model call that a chunk carries.
pub(super) fn of_chunk(
    update: &Object<'_>,
    target: Target,
    model: Option<SharedStr>,
    normalizer: &mut Normalizer,
) -> bool {
    let Some(meta) = update.object("_meta") else { return false };
    let Some(figures) = meta.object("usage").and_then(|usage| figures(&usage)) else { return false };
    normalizer.call_used(target, Usage::of(UsageScope::Turn, model, &figures));
    true
}

impl Session {
    /// Reports the usage of a run that ends. The cost of a run without usable tokens is reported with that of the next run.
    pub(super) fn total(
        &mut self,
        run: StreamKey,
        answer: &Object<'_>,
        counting: Counting,
        normalizer: &mut Normalizer,
    ) {
        let cost = self.cost.end_run();
        let Some(mut figures) = of_answer(answer) else { return };
        let mut running = None;
        match counting {
            Counting::Run => {}
            Counting::LastCall if self.turn.used_tools => return,
            Counting::LastCall => {}
            Counting::Session => {
                let whole = figures.clone();
                let before = self.spent.replace(whole.clone()).or_else(|| {
                    let fits = |known: &Figures| {
                        known.input_tokens <= whole.input_tokens && known.output_tokens <= whole.output_tokens
                    };
                    // A session that seems new may continue an earlier one: without the client's lines, the answers are equal.
                    let known = normalizer.known_totals().into_iter().rev().find(fits);
                    known.or_else(|| self.is_new.then(Figures::default))
                });
                let Some(before) = before else { return };
                figures.subtract(&before);
                running = Some(Box::new(whole));
            }
        }
        figures.cost_usd = cost;
        self.cost.reported();
        let usage = Usage { running, ..Usage::of(UsageScope::Run, self.model.clone(), &figures) };
        normalizer.run_used(run, usage, Covers::Run(None));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (u64, u64) {
        let figures = figures(&Object::parse(text).unwrap()).unwrap();
        (figures.input_tokens, figures.output_tokens)
    }

    #[test]
    fn the_total_says_what_the_parts_contain() {
        assert_eq!(read(r#"{"inputTokens":100,"outputTokens":50,"totalTokens":150,"cachedReadTokens":30}"#), (70, 50));
        assert_eq!(read(r#"{"inputTokens":100,"outputTokens":50,"totalTokens":180,"cachedReadTokens":30}"#), (100, 50));
        assert_eq!(read(r#"{"inputTokens":100,"outputTokens":50,"totalTokens":157,"thoughtTokens":7}"#), (100, 57));
        assert_eq!(read(r#"{"input_tokens":100,"output_tokens":50}"#), (100, 50));
        assert!(figures(&Object::parse(r#"{"inputTokens":"1"}"#).unwrap()).is_none());
    }

    #[test]
    fn agents_that_count_otherwise_are_known_by_name() {
        assert_eq!(Counting::of("@mistralai/mistral-vibe"), Counting::Session);
        assert_eq!((Counting::of("OpenCode"), Counting::of("other")), (Counting::LastCall, Counting::Run));
    }
}
