//! Tokens, in the runner's counting: cached tokens are part of the input, reasoning tokens are part of the output. The stream has
//! none for a provider of one's own.
//!
//! Input: `session.usage_record` of each model call in a session file, `assistant.usage` in the stream, and the session's running
//! total in `session.shutdown`. Output: figures as frames have them, with the input outside the cache. Never: zeros of a provider
//! that reported nothing about its cache; the runner's `cost`, which counts premium requests, taken for money; a session's total
//! reported as the usage of one run.

use super::decoder::{Copilot, Event};
use crate::frame::{Body, Figures, SharedStr, Usage, UsageScope};
use crate::json::Object;
use crate::normalizer::{Covers, Normalizer};

/// Reads the figures of a call or a total; `None` if there are none.
fn figures(usage: &Object<'_>, has_cache: bool) -> Option<Figures> {
    let (input, output) = (usage.u64("inputTokens"), usage.u64("outputTokens"));
    if input.is_none() && output.is_none() {
        return None;
    }
    let cached = usage.u64("cacheReadTokens");
    let written = usage.u64("cacheWriteTokens");
    let in_cache = cached.unwrap_or_default().saturating_add(written.unwrap_or_default());
    let known = |tokens: Option<u64>| tokens.filter(|tokens| has_cache || *tokens > 0);
    Some(Figures {
        input_tokens: input.unwrap_or_default().saturating_sub(in_cache),
        output_tokens: output.unwrap_or_default(),
        cache_read_tokens: known(cached),
        cache_creation_tokens: known(written),
        cache_creation_1h_tokens: None,
        reasoning_tokens: usage.u64("reasoningTokens"),
        cost_usd: None,
    })
}

/// The sum over all models of a shutdown.
fn total(metrics: &Object<'_>) -> Option<Figures> {
    let mut sum: Option<Figures> = None;
    for usage in metrics.iter().filter_map(|(_, model)| figures(&model.object()?.object("usage")?, false)) {
        sum.get_or_insert_default().add(&usage);
    }
    sum
}

impl Copilot {
    /// Handles the figures of one model call, which precede its message in a session file.
    pub(super) fn call_used(&mut self, event: &Event<'_>, usage: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(target) = self.speaker(event, normalizer) else { return };
        let model = usage.str("model").map(|model| SharedStr::from(&*model));
        let is_main = target.parent.is_none();
        // A summary, or the request of an MCP server, is no part of the conversation.
        let is_turn = is_main
            && usage
                .str("interactionType")
                .is_none_or(|kind| matches!(&*kind, "conversation-agent" | "conversation-user"));
        if is_turn {
            self.session.model = model.clone().or_else(|| self.session.model.take());
            self.in_turn(target, normalizer);
        }
        let reason = usage.str("finishReason").map(|reason| SharedStr::from(&*reason));
        let has_cache = usage.bool("cacheDetailsReported") != Some(false);
        let figures = figures(usage, has_cache);
        if let Some(run) = self.run_of(target.stream).filter(|_| is_main) {
            if is_turn {
                run.stop_reason = reason.clone();
                run.course.finish_reason = reason;
            }
            if let Some(figures) = &figures {
                run.spent.get_or_insert_default().add(figures);
            }
        }
        if let Some(figures) = figures {
            self.session.since.add(&figures);
            normalizer.call_used(target, Usage::of(UsageScope::Turn, model, &figures));
        }
    }

    /// Takes over the session's running total. It covers calls that have no record of their own.
    pub(super) fn totalled(&mut self, data: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(total) = data.object("modelMetrics").and_then(|metrics| total(&metrics)) else { return };
        let since = std::mem::take(&mut self.session.since);
        let Some(before) = self.session.total.replace(total.clone()) else { return };
        let mut grown = total;
        grown.subtract(&before);
        let covered = grown.input_tokens <= since.input_tokens && grown.output_tokens <= since.output_tokens;
        if let Some(run) = self.run.as_ref().filter(|_| !covered) {
            // Earlier runs of the process are part of what grew.
            let mut earlier = since;
            let main = run.spent.clone();
            earlier.subtract(&normalizer.reported_usage(run.key).unwrap_or_default());
            grown.subtract(&earlier);
            normalizer.run_used(run.key, Usage::of(UsageScope::Run, None, &grown), Covers::Run(main));
        }
    }

    /// Handles the end of a compaction. One that was cancelled changed nothing.
    pub(super) fn compacted(&mut self, event: &Event<'_>, normalizer: &mut Normalizer) {
        let Some(target) = self.speaker(event, normalizer) else { return };
        let data = &event.data;
        if data.bool("success") != Some(true) {
            return;
        }
        let body = Body::HistoryCompacted {
            trigger: data.str("trigger").map(|trigger| SharedStr::from(&*trigger)),
            tokens_before: data.u64("preCompactionTokens"),
            tokens_after: data.u64("postCompactionTokens"),
            summary: data.str("summaryContent").filter(|summary| !summary.is_empty()).map(|text| text.into_owned()),
        };
        normalizer.push(target, body);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_is_a_part_of_the_input() {
        let usage = r#"{"inputTokens":1500,"outputTokens":30,"cacheReadTokens":1000,"cacheWriteTokens":200}"#;
        let read = figures(&Object::parse(usage).unwrap(), true).unwrap();
        assert_eq!(
            (read.input_tokens, read.cache_read_tokens, read.cache_creation_tokens),
            (300, Some(1000), Some(200))
        );
        assert_eq!((read.reasoning_tokens, read.cost_usd), (None, None));
    }

    #[test]
    fn zeros_of_a_provider_without_cache_details_are_no_figures() {
        let usage =
            Object::parse(r#"{"inputTokens":5,"outputTokens":1,"cacheReadTokens":0,"cacheWriteTokens":0}"#).unwrap();
        let read = figures(&usage, false).unwrap();
        assert_eq!((read.cache_read_tokens, read.cache_creation_tokens), (None, None));
        assert_eq!(figures(&usage, true).unwrap().cache_read_tokens, Some(0));
        assert_eq!(figures(&Object::default(), true), None);
    }
}
