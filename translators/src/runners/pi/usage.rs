//! Tokens and cost of one reply.
//!
//! Input: the `usage` of a whole message: `input` without the cache, `output` with reasoning. Output: the figures of one model call.
//! Never: the zeros of a reply whose provider gave no figures.

use crate::frame::{Figures, SharedStr, Usage, UsageScope};
use crate::json::Object;

/// The usage of one reply; `None` if the provider gave no figures.
pub(super) fn of(usage: &Object<'_>, model: Option<SharedStr>) -> Option<Usage> {
    let figure = |key: &str| usage.u64(key);
    let keys = ["input", "output", "cacheRead", "cacheWrite"];
    if keys.iter().all(|key| figure(key).unwrap_or_default() == 0) {
        return None;
    }
    let cost = usage.object("cost").and_then(|cost| cost.f64("total")).filter(|cost| cost.is_finite() && *cost > 0.0);
    let figures = Figures {
        input_tokens: figure("input").unwrap_or_default(),
        output_tokens: figure("output").unwrap_or_default(),
        cache_read_tokens: figure("cacheRead"),
        cache_creation_tokens: figure("cacheWrite"),
        cache_creation_1h_tokens: figure("cacheWrite1h").filter(|tokens| *tokens > 0),
        reasoning_tokens: figure("reasoning"),
        cost_usd: cost,
    };
    Some(Usage::of(UsageScope::Turn, model, &figures))
}

/// The model that was asked for. A provider may name another one (`responseModel`), but not before the reply is over.
pub(super) fn model_of(message: &Object<'_>) -> Option<SharedStr> {
    message.str("model").filter(|name| !name.is_empty()).map(|name| SharedStr::from(&*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Usage> {
        of(&Object::parse(text).unwrap(), None)
    }

    #[test]
    fn reasoning_is_a_part_of_the_output() {
        let usage =
            read(r#"{"input":310,"output":40,"cacheRead":150,"cacheWrite":0,"reasoning":23,"cost":{"total":0.5}}"#);
        let figures = usage.unwrap().figures();
        assert_eq!((figures.input_tokens, figures.output_tokens, figures.reasoning_tokens), (310, 40, Some(23)));
        assert_eq!(
            (figures.cache_read_tokens, figures.cache_creation_tokens, figures.cost_usd),
            (Some(150), Some(0), Some(0.5))
        );
    }

    #[test]
    fn zeros_are_no_figures_and_a_cost_of_nothing_is_none() {
        assert!(read(r#"{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"cost":{"total":0}}"#).is_none());
        assert!(read("{}").is_none());
        let free = read(r#"{"input":1,"output":2,"cost":{"total":0}}"#).unwrap().figures();
        assert_eq!((free.cost_usd, free.cache_read_tokens, free.reasoning_tokens), (None, None, None));
    }
}
