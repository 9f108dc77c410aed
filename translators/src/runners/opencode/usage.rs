//! Tokens and cost of one step.
//!
//! Input: the `tokens` and `cost` of a step. Output: one usage report with scope `turn`. Never: a figure that the runner did
//! not report; reasoning tokens counted twice.

use crate::frame::{Body, SharedStr, Usage, UsageScope};
use crate::json::Object;

/// The usage of a step; `None` if it reports no tokens.
///
/// Today reasoning tokens are separate from `output`; in the first release they were part of it. `total` shows which applies.
/// For a step without `total`, `old` decides: it says whether the records are of the first release.
pub(super) fn of_step(step: &Object<'_>, model: Option<SharedStr>, old: bool) -> Option<Body> {
    let tokens = step.object("tokens")?;
    let (input, output) = (tokens.u64("input"), tokens.u64("output"));
    if input.is_none() && output.is_none() {
        return None;
    }
    let (input, output) = (input.unwrap_or_default(), output.unwrap_or_default());
    let cache = tokens.object("cache").unwrap_or_default();
    let (read, write) = (cache.u64("read"), cache.u64("write"));
    let reasoning = tokens.u64("reasoning");
    let within = match tokens.u64("total") {
        Some(total) => {
            let rest = read.unwrap_or_default().saturating_add(write.unwrap_or_default());
            total == input.saturating_add(output).saturating_add(rest)
        }
        None => old,
    };
    let output_tokens = if within { output } else { output.saturating_add(reasoning.unwrap_or_default()) };
    Some(Body::UsageReported(Box::new(Usage {
        scope: UsageScope::Turn,
        model,
        input_tokens: input,
        output_tokens,
        cache_read_tokens: read,
        cache_creation_tokens: write,
        cache_creation_1h_tokens: None,
        reasoning_tokens: reasoning,
        cost_usd: step.f64("cost").filter(|cost| *cost >= 0.0),
        main_thread: None,
        running: None,
        by_model: Vec::new(),
    })))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(tokens: &str, old: bool) -> (u64, Option<u64>) {
        let step = format!("{{\"tokens\":{tokens},\"cost\":0}}");
        let Some(Body::UsageReported(usage)) = of_step(&Object::parse(&step).unwrap(), None, old) else {
            panic!("no usage")
        };
        (usage.output_tokens, usage.reasoning_tokens)
    }

    #[test]
    fn reasoning_tokens_are_part_of_the_output() {
        let beside = r#"{"total":1200,"input":600,"output":150,"reasoning":50,"cache":{"read":400,"write":0}}"#;
        assert_eq!(output(beside, true), (200, Some(50)));
        let within = r#"{"input":600,"output":200,"reasoning":50,"cache":{"read":400,"write":0}}"#;
        assert_eq!(output(within, true), (200, Some(50)));
        assert_eq!(output(within, false), (250, Some(50)));
    }

    #[test]
    fn missing_figures_are_absent() {
        let step = Object::parse(r#"{"cost":0.5}"#).unwrap();
        assert!(of_step(&step, None, false).is_none());
        let step = Object::parse(r#"{"tokens":{"input":1,"output":2}}"#).unwrap();
        let Some(Body::UsageReported(usage)) = of_step(&step, None, false) else { panic!("no usage") };
        assert_eq!((usage.cache_read_tokens, usage.reasoning_tokens, usage.cost_usd), (None, None, None));
    }
}
