//! The message's metadata: where the message comes from, the model, and what it cost.
//!
//! Input: the model and the usage of each call, and the runner's own total. Output: the sum of the calls while the run works, the
//! total at its end. Never: a figure that the runner did not give.

use crate::encode::data;
use crate::frame::{Figures, SharedStr, Usage, UsageScope};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

data! {
    pub(super) struct MessageMetadata<'a> {
        pub(super) run_id: Option<&'a Uuid> => "runId",
        pub(super) task_id: Option<&'a Uuid> => "taskId",
        pub(super) session_id: Option<&'a Uuid> => "sessionId",
        pub(super) runner: Option<&'a str>,
        pub(super) model: Option<&'a str>,
        pub(super) usage: Option<UsageData>,
        pub(super) error_code: Option<&'a str> => "errorCode",
    }

    pub(super) struct UsageData {
        input_tokens: u64 => "inputTokens",
        output_tokens: u64 => "outputTokens",
        cache_read_tokens: Option<u64> => "cacheReadTokens",
        cache_creation_tokens: Option<u64> => "cacheCreationTokens",
        reasoning_tokens: Option<u64> => "reasoningTokens",
        cost_usd: Option<f64> => "costUsd",
    }
}

/// Metadata without any field.
pub(super) const EMPTY: MessageMetadata<'static> = MessageMetadata {
    run_id: None,
    task_id: None,
    session_id: None,
    runner: None,
    model: None,
    usage: None,
    error_code: None,
};

/// The run's model and usage so far.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reported {
    model: Option<SharedStr>,
    /// The sum of the calls, of subagents too.
    calls: Option<Figures>,
    /// The runner's own total.
    total: Option<Figures>,
}

impl Reported {
    /// A turn begins; returns its model if that was not known before.
    pub(super) fn model<'m>(&mut self, model: Option<&'m SharedStr>) -> Option<&'m SharedStr> {
        let new = model.filter(|model| !model.is_empty() && self.model.as_ref() != Some(model))?;
        self.model = Some(new.clone());
        Some(new)
    }

    /// Adds a figure; returns the sum of the calls if it was one of a call.
    pub(super) fn add(&mut self, usage: &Usage) -> Option<UsageData> {
        if usage.scope == UsageScope::Run {
            self.total = Some(usage.figures());
            return None;
        }
        let sum = self.calls.get_or_insert_default();
        sum.add(&usage.figures());
        usage_data(sum)
    }

    /// The usage of the whole run.
    pub(super) fn usage(&self) -> Option<UsageData> {
        self.total.as_ref().or(self.calls.as_ref()).and_then(usage_data)
    }
}

/// `None` if the cost is not a number that JSON can express.
fn usage_data(figures: &Figures) -> Option<UsageData> {
    Some(UsageData {
        input_tokens: figures.input_tokens,
        output_tokens: figures.output_tokens,
        cache_read_tokens: figures.cache_read_tokens,
        cache_creation_tokens: figures.cache_creation_tokens,
        reasoning_tokens: figures.reasoning_tokens,
        cost_usd: figures.cost_usd.filter(|cost| cost.is_finite()),
    })
}
