//! Usage in session files: totals of the thread, and figures of single calls.
//!
//! Input: token counts. Output: the usage of each call within a turn. Never: tokens outside of a turn added to the next one.

use super::super::usage::Tokens;
use super::Rollout;
use crate::json::Object;
use crate::normalizer::Normalizer;

impl Rollout {
    /// Handles the record of one request, which has the thread's total.
    pub(super) fn usage_record(&mut self, record: &Object<'_>, normalizer: &mut Normalizer) {
        let read = |key| record.object(key).and_then(|tokens| Tokens::read(&tokens));
        match (read("thread_token_usage"), read("usage")) {
            (Some(total), last) => {
                self.recorded = Some(total);
                self.usage(total, last, normalizer);
            }
            (None, Some(call)) => self.call_usage(call, normalizer),
            (None, None) => {}
        }
        self.call_over(normalizer);
    }

    /// Handles the counts that were shown. They begin again after an error of the context window; the records of requests need not.
    pub(super) fn token_count(&mut self, event: &Object<'_>, normalizer: &mut Normalizer) {
        let info = event.object("info").unwrap_or_default();
        let read = |key| info.object(key).and_then(|tokens| Tokens::read(&tokens));
        if let Some(total) = read("total_token_usage") {
            if self.recorded.is_some_and(|recorded| total.since(recorded).is_none()) {
                return;
            }
            self.usage(total, read("last_token_usage"), normalizer);
        } else if let Some(call) = read("last_token_usage").or_else(|| Tokens::read(event)) {
            self.call_usage(call, normalizer);
        }
    }

    pub(super) fn usage(&mut self, total: Tokens, last: Option<Tokens>, normalizer: &mut Normalizer) {
        if self.meter.is_fresh() && last.is_none() {
            self.meter.recall(&normalizer.known_totals(), total);
        }
        let added = self.meter.total(total, last);
        self.added(added, normalizer);
    }

    pub(super) fn call_usage(&mut self, call: Tokens, normalizer: &mut Normalizer) {
        let added = self.meter.call(call);
        self.added(added, normalizer);
    }

    fn added(&mut self, added: Option<Tokens>, normalizer: &mut Normalizer) {
        let model = self.model.clone();
        if self.running.is_none() {
            // These tokens belong to no turn.
            self.meter.end_turn();
        } else if let Some(added) = added {
            self.with_context(normalizer, |context, _| context.call_used(added, model));
        }
    }
}
