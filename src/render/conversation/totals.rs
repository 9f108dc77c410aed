//! What a run used: turns, calls, tokens, money.

use framegate_translators::frame::{Figures, SharedStr, Usage, UsageScope};

/// How many models are listed one by one.
const MODELS: usize = 16;

/// The sums of a run so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    /// Milliseconds since 1970 of the first and of the newest frame.
    pub(crate) started_ms: u64,
    pub(crate) newest_ms: u64,
    /// Model calls of the main thread.
    pub(crate) turns: u64,
    /// Calls of tools that ran, and how many of them failed.
    pub(crate) calls: u64,
    pub(crate) failed_calls: u64,
    /// Subagents that were started.
    pub(crate) subagents: u64,
    turn_figures: Vec<(Option<SharedStr>, Figures)>,
    run_figures: Vec<(Option<SharedStr>, Figures)>,
}

impl Totals {
    /// Adds a usage figure.
    pub(crate) fn add(&mut self, usage: &Usage) {
        let list = match usage.scope {
            UsageScope::Turn => &mut self.turn_figures,
            UsageScope::Run => &mut self.run_figures,
        };
        // Figures beyond the limit count as those of an unknown model.
        let model = if list.len() < MODELS { usage.model.clone() } else { None };
        let known = list.iter_mut().find(|(known, _)| *known == usage.model || (known.is_none() && model.is_none()));
        match known {
            Some((_, figures)) => figures.add(&usage.figures()),
            None => list.push((model, usage.figures())),
        }
    }

    /// The figures by model; `None` for an unknown one. The runner's own total of the run counts if there is one, because it covers
    /// the turns.
    pub(crate) fn by_model(&self) -> &[(Option<SharedStr>, Figures)] {
        if self.run_figures.is_empty() { &self.turn_figures } else { &self.run_figures }
    }

    /// The sum of all models; `None` if the runner reported nothing.
    pub(crate) fn figures(&self) -> Option<Figures> {
        let mut all = self.by_model().iter();
        let mut sum = all.next()?.1.clone();
        all.for_each(|(_, figures)| sum.add(figures));
        Some(sum)
    }

    /// Milliseconds from the first to the newest frame.
    pub(crate) fn duration_ms(&self) -> u64 {
        self.newest_ms.saturating_sub(self.started_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(scope: UsageScope, model: &str, input_tokens: u64) -> Usage {
        Usage { scope, model: Some(model.into()), input_tokens, ..Usage::default() }
    }

    #[test]
    fn the_runners_own_total_replaces_the_turns() {
        let mut totals = Totals::default();
        assert_eq!(totals.figures(), None);
        totals.add(&usage(UsageScope::Turn, "a", 1));
        totals.add(&usage(UsageScope::Turn, "a", 2));
        assert_eq!(totals.figures().unwrap().input_tokens, 3);
        totals.add(&usage(UsageScope::Run, "a", 10));
        totals.add(&usage(UsageScope::Run, "b", 20));
        assert_eq!((totals.figures().unwrap().input_tokens, totals.by_model().len()), (30, 2));
    }

    #[test]
    fn the_list_of_models_is_bounded() {
        let mut totals = Totals::default();
        (0..1000).for_each(|nth| totals.add(&usage(UsageScope::Turn, &format!("m{nth}"), 1)));
        assert_eq!((totals.by_model().len(), totals.figures().unwrap().input_tokens), (MODELS + 1, 1000));
    }
}
