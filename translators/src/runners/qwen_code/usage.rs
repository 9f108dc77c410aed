//! Tokens, in the runner's counting: cached tokens are part of the input, reasoning tokens are part of the output.
//!
//! Input: `usage` objects of messages and results, `stats` of results, `usageMetadata` of session files. Output: figures as frames
//! have them, with the input outside the cache; the growth of a session's running total. Never: the zeros that the runner writes
//! where the provider gave no figures; cached tokens counted twice; a session's total reported as the usage of one run.

use super::runs::Session;
use crate::frame::{Figures, SharedStr, Usage, UsageScope};
use crate::json::{Json, Object};

/// The figures of one model call, or of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tokens {
    input: u64,
    output: u64,
    /// The part of the input that was cached; `None` if unknown.
    cached: Option<u64>,
    /// The part of the output that was reasoning; `None` if unknown.
    reasoning: Option<u64>,
}

impl Tokens {
    /// Reads a `usage` object; `None` if the provider gave no figures. The runner then writes zeros without a total.
    pub(super) fn of_usage(usage: &Object<'_>) -> Option<Self> {
        let (input, output) = (usage.u64("input_tokens"), usage.u64("output_tokens"));
        let is_given = usage.u64("total_tokens").is_some() || input > Some(0) || output > Some(0);
        is_given.then(|| Self {
            input: input.unwrap_or_default(),
            output: output.unwrap_or_default(),
            cached: usage.u64("cache_read_input_tokens"),
            reasoning: None,
        })
    }

    /// Reads the `usageMetadata` of a session file; `None` if it has no figures.
    pub(super) fn of_metadata(usage: &Object<'_>) -> Option<Self> {
        let keys = ["promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount", "thoughtsTokenCount"];
        Self::of_keys(usage, keys)
    }

    /// Reads what a session file measured of a model call; `None` if it has no figures.
    pub(super) fn of_telemetry(event: &Object<'_>) -> Option<Self> {
        let keys = ["input_token_count", "output_token_count", "cached_content_token_count", "thoughts_token_count"];
        Self::of_keys(event, keys)
    }

    fn of_keys(fields: &Object<'_>, [input, output, cached, reasoning]: [&str; 4]) -> Option<Self> {
        let (input, output) = (fields.u64(input).unwrap_or_default(), fields.u64(output).unwrap_or_default());
        let (cached, reasoning) = (fields.u64(cached), fields.u64(reasoning));
        (input > 0 || output > 0).then_some(Self { input, output, cached, reasoning })
    }

    /// Adds the reasoning tokens of all models from the `stats` of a result, which cover the session as its usage does.
    pub(super) fn with_stats(self, stats: Option<Object<'_>>) -> Self {
        let Some(models) = stats.and_then(|stats| stats.object("models")) else { return self };
        let of_model = |model: Json<'_>| model.object()?.object("tokens")?.u64("thoughts");
        let all = models.iter().filter_map(|(_, model)| of_model(model));
        Self { reasoning: all.reduce(u64::saturating_add), ..self }
    }

    /// The increase since an earlier total; `None` if that is not below this one.
    pub(super) fn since(self, before: Self) -> Option<Self> {
        let part = |now: Option<u64>, before: Option<u64>| match now {
            Some(now) => now.checked_sub(before.unwrap_or_default()).map(Some),
            None => Some(None),
        };
        Some(Self {
            input: self.input.checked_sub(before.input)?,
            output: self.output.checked_sub(before.output)?,
            cached: part(self.cached, before.cached)?,
            // The earlier total may lack the figure.
            reasoning: part(self.reasoning, before.reasoning)?
                .filter(|_| before.reasoning.is_some() || before.is_zero()),
        })
    }

    fn is_zero(self) -> bool {
        self.input == 0 && self.output == 0
    }

    fn plus(self, more: Self) -> Self {
        let part = |one: Option<u64>, two: Option<u64>| match (one, two) {
            (Some(one), Some(two)) => Some(one.saturating_add(two)),
            (one, two) => one.or(two),
        };
        Self {
            input: self.input.saturating_add(more.input),
            output: self.output.saturating_add(more.output),
            cached: part(self.cached, more.cached),
            reasoning: part(self.reasoning, more.reasoning),
        }
    }

    /// The figures as frames have them.
    pub(super) fn figures(self) -> Figures {
        Figures {
            input_tokens: self.input.saturating_sub(self.cached.unwrap_or_default()),
            output_tokens: self.output,
            cache_read_tokens: self.cached,
            cache_creation_tokens: None,
            cache_creation_1h_tokens: None,
            reasoning_tokens: self.reasoning,
            cost_usd: None,
        }
    }

    /// The figures of frames in the runner's counting.
    pub(super) fn of_figures(figures: &Figures) -> Self {
        Self {
            input: figures.input_tokens.saturating_add(figures.cache_read_tokens.unwrap_or_default()),
            output: figures.output_tokens,
            cached: figures.cache_read_tokens,
            reasoning: figures.reasoning_tokens,
        }
    }

    /// The usage of one model call.
    pub(super) fn call(self, model: Option<SharedStr>) -> Usage {
        Usage::of(UsageScope::Turn, model, &self.figures())
    }

    /// The total before the first run of this input: the greatest total of an earlier input that leaves room for the calls of
    /// this run. The same input again therefore has the same usage again. `None` if no earlier total fits.
    pub(super) fn recall(self, known: &[Figures], calls: Self) -> Option<Self> {
        let fits = |before: &Self| *before != self && self.since(before.plus(calls)).is_some();
        known.iter().map(Self::of_figures).filter(fits).max_by_key(|before| (before.input, before.output))
    }
}

impl Session {
    /// Takes over a running total. Returns the increase; `None` if there is none.
    pub(super) fn grow(&mut self, total: Tokens) -> Option<Tokens> {
        let before = self.total.replace(total).unwrap_or_default();
        // A total that shrinks began again at zero.
        let grown = total.since(before).unwrap_or(total);
        (!grown.is_zero()).then_some(grown)
    }

    /// A run ended without a total: what it reported call by call is part of the next total.
    pub(super) fn add_calls(&mut self, spent: &Figures) {
        self.total = Some(self.total.unwrap_or_default().plus(Tokens::of_figures(spent)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(text: &str) -> Option<Tokens> {
        Tokens::of_usage(&Object::parse(text).unwrap())
    }

    fn tokens(input: u64, output: u64) -> Tokens {
        Tokens { input, output, cached: Some(0), reasoning: None }
    }

    #[test]
    fn cached_tokens_are_a_part_of_the_input() {
        let read = usage(r#"{"input_tokens":460,"output_tokens":40,"cache_read_input_tokens":150,"total_tokens":500}"#);
        let figures = read.unwrap().figures();
        assert_eq!((figures.input_tokens, figures.output_tokens, figures.cache_read_tokens), (310, 40, Some(150)));
        assert_eq!((figures.cache_creation_tokens, figures.reasoning_tokens), (None, None));
        assert_eq!(Tokens::of_figures(&figures), read.unwrap());
    }

    #[test]
    fn zeros_without_a_total_are_no_figures() {
        assert_eq!(usage(r#"{"input_tokens":0,"output_tokens":0}"#), None);
        assert_eq!(usage(r#"{"input_tokens":0,"output_tokens":0,"cache_read_input_tokens":0}"#), None);
        assert_eq!(usage("{}"), None);
        assert!(usage(r#"{"input_tokens":0,"output_tokens":0,"total_tokens":0}"#).is_some());
        assert!(usage(r#"{"input_tokens":1}"#).is_some());
    }

    #[test]
    fn an_earlier_total_must_leave_room_for_the_calls() {
        let known = [tokens(90, 6), tokens(390, 28), tokens(300, 20)].map(Tokens::figures);
        assert_eq!(tokens(390, 28).recall(&known, tokens(300, 22)), Some(tokens(90, 6)));
        assert_eq!(tokens(570, 32).recall(&known, tokens(180, 4)), Some(tokens(390, 28)));
        assert_eq!(tokens(80, 5).recall(&known, tokens(80, 5)), None);
    }

    #[test]
    fn a_total_that_shrinks_began_again() {
        let mut session = Session::default();
        assert_eq!(session.grow(tokens(90, 4)), Some(tokens(90, 4)));
        assert_eq!(session.grow(tokens(210, 8)), Some(tokens(120, 4)));
        assert_eq!(session.grow(tokens(210, 8)), None);
        assert_eq!(session.grow(tokens(50, 2)), Some(tokens(50, 2)));
    }

    #[test]
    fn what_a_run_without_a_total_used_is_part_of_the_next_total() {
        let mut session = Session::default();
        session.grow(tokens(90, 4));
        session.add_calls(&tokens(100, 5).figures());
        assert_eq!(session.grow(tokens(260, 12)), Some(tokens(70, 3)));
    }

    #[test]
    fn reasoning_comes_from_the_statistics() {
        let stats = r#"{"models":{"a":{"tokens":{"thoughts":7}},"b":{"tokens":{"thoughts":2}},"c":{}}}"#;
        assert_eq!(tokens(9, 9).with_stats(Object::parse(stats)).reasoning, Some(9));
        assert_eq!(tokens(9, 9).with_stats(None).reasoning, None);
    }
}
