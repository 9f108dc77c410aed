//! The usage of a run, as the Chat Completions API counts it.
//!
//! Input: `usage_reported` frames. Output: the total at the end. Never: a total that no frame reported.
//!
//! `prompt_tokens` includes cached tokens, which frames count separately. A total for the run replaces the sum of its turns.

use crate::encode::data;
use crate::frame::{Figures, Usage, UsageScope};
use serde::{Deserialize, Serialize};

/// The usage so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RunUsage {
    turns: Option<Figures>,
    total: Option<Figures>,
}

data! {
    /// The `usage` of a chunk.
    pub(super) struct Total {
        prompt_tokens: u64,
        completion_tokens: u64,
        total_tokens: u64,
        prompt_tokens_details: Option<PromptDetails>,
        completion_tokens_details: Option<CompletionDetails>,
        /// US dollars. Not part of the API; several servers send it under this name.
        cost: Option<f64>,
    }

    struct PromptDetails {
        cached_tokens: u64,
    }

    struct CompletionDetails {
        reasoning_tokens: u64,
    }
}

impl RunUsage {
    /// Counts a report.
    pub(super) fn add(&mut self, usage: &Usage) {
        match usage.scope {
            UsageScope::Run => self.total = Some(usage.figures()),
            UsageScope::Turn => self.turns.get_or_insert_default().add(&usage.figures()),
        }
    }

    /// The total; `None` if nothing was reported.
    pub(super) fn total(&self) -> Option<Total> {
        let figures = self.total.as_ref().or(self.turns.as_ref())?;
        let cached = [figures.cache_read_tokens, figures.cache_creation_tokens].into_iter().flatten();
        let prompt_tokens = cached.fold(figures.input_tokens, u64::saturating_add);
        Some(Total {
            prompt_tokens,
            completion_tokens: figures.output_tokens,
            total_tokens: prompt_tokens.saturating_add(figures.output_tokens),
            prompt_tokens_details: figures.cache_read_tokens.map(|cached_tokens| PromptDetails { cached_tokens }),
            completion_tokens_details: figures
                .reasoning_tokens
                .map(|reasoning_tokens| CompletionDetails { reasoning_tokens }),
            cost: figures.cost_usd,
        })
    }
}
