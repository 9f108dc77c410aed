//! The usage of a run, as the Chat Completions API counts it: `prompt_tokens` includes cached tokens, which frames count separately.
//!
//! Input: the run's total. Output: the `usage` of the last chunk. Never: a detail that the runner did not give.

use crate::encode::data;
use crate::frame::Figures;

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

impl Total {
    pub(super) fn of(figures: &Figures) -> Self {
        let cached = [figures.cache_read_tokens, figures.cache_creation_tokens].into_iter().flatten();
        let prompt_tokens = cached.fold(figures.input_tokens, u64::saturating_add);
        let (read, reasoning) = (figures.cache_read_tokens, figures.reasoning_tokens);
        Self {
            prompt_tokens,
            completion_tokens: figures.output_tokens,
            total_tokens: prompt_tokens.saturating_add(figures.output_tokens),
            prompt_tokens_details: read.map(|cached_tokens| PromptDetails { cached_tokens }),
            completion_tokens_details: reasoning.map(|reasoning_tokens| CompletionDetails { reasoning_tokens }),
            cost: figures.cost_usd,
        }
    }
}
