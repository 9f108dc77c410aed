//! The running totals in transcripts, which also cover subagents, summaries and cost.
//!
//! Input: `cost-state` lines, which the runner writes when its process ends. A resumed session continues the totals. Output: the
//! usage of a run, if the totals before and after it are known. Never: the usage of several runs reported as that of one.

use super::decoder::Claude;
use super::runs::Stated;
use super::side_chains::is_side_chain;
use super::usage::{ModelUsage, money};
use crate::frame::{Usage, UsageScope};
use crate::json::Object;
use crate::normalizer::{Covers, Normalizer, Target};
use crate::sequence::StreamKey;

impl Claude {
    /// Opens a run of a transcript.
    pub(super) fn begin_entry_run(
        &mut self,
        input: &str,
        fields: &Object<'_>,
        normalizer: &mut Normalizer,
    ) -> StreamKey {
        let key = self.runs.begin(normalizer, input);
        let session = self.runs.session(normalizer);
        let is_alone = !std::mem::replace(&mut session.has_untotalled_run, true);
        let totals_before = is_alone.then(|| session.running.clone().unwrap_or_default());
        if let Some(run) = self.runs.run(key) {
            run.transcript = true;
            run.is_side_chain = is_side_chain(fields);
            run.totals_before = totals_before;
        }
        key
    }

    /// Handles the session's running totals.
    pub(super) fn totals(&mut self, fields: &Object<'_>, normalizer: &mut Normalizer) {
        let Some(table) = ModelUsage::running(fields) else { return };
        // The runner counts models without a known price as free.
        let is_complete = fields.bool("hasUnknownModelCost") != Some(true);
        let cost = money(fields, "totalCostUSD").filter(|_| is_complete);
        let running = table.tokens.figures(cost);
        let session = self.runs.session(normalizer);
        session.running = Some(running.clone());
        session.has_untotalled_run = false;
        let Some(run) = self.runs.current(normalizer).filter(|run| run.transcript) else { return };
        let Some(before) = &run.totals_before else { return };
        let mut total = running.clone();
        // The totals restart from zero if the conversation was cleared.
        if before.input_tokens <= running.input_tokens && before.output_tokens <= running.output_tokens {
            total.subtract(before);
            total.cost_usd = total.cost_usd.filter(|_| before.is_nothing() || before.cost_usd.is_some());
        }
        run.stated = Some(Box::new(Stated { total, running, model: table.model }));
    }

    /// Reports the run's usage according to the running totals.
    pub(super) fn report_totals(&mut self, key: StreamKey, normalizer: &mut Normalizer) {
        let Some(Stated { total, running, model }) =
            self.runs.run(key).and_then(|run| run.stated.take()).map(|stated| *stated)
        else {
            return;
        };
        if total.is_nothing() {
            return;
        }
        // The calls of the open turn must be counted before the total.
        self.runs.leave_children(normalizer, key);
        self.runs.leave(normalizer, Target::main(key));
        self.runs.end_turn(normalizer, key);
        let main = normalizer.main_usage(key);
        let usage = Usage { running: Some(Box::new(running)), ..Usage::of(UsageScope::Run, model, &total) };
        normalizer.run_used(key, usage, Covers::Run(main));
    }
}
