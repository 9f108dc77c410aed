//! The schemas of what runs cost: in a run's status, and in figures over runs.

use crate::prices::{Approximation, SIZE_LIMITS};
use crate::runs::model_calls::MOST_MODELS;
use crate::stats::MOST_UNPRICED;
use serde_json::{Value, json};

/// The reasons for which a run has no computed cost, in the APIs.
const REASONS: [&str; 3] = ["no_usage", "no_model", "no_price"];

/// The fields of a run's status.
pub(super) fn of_run() -> Value {
    let count = json!({"type": "integer", "minimum": 0});
    json!({
        "usage": {"type": "object", "description": "Tokens, and the cost that the runner reported. Figures that no record reported are absent.",
            "properties": {"input_tokens": count, "output_tokens": count, "cache_read_tokens": count,
                "cache_creation_tokens": count, "reasoning_tokens": count,
                "cache_creation_1h_tokens": {"type": "integer", "minimum": 0,
                    "description": "The part of `cache_creation_tokens` that was written to entries which live for one hour."},
                "cost_usd": {"type": "number", "description": "US dollars, as the runner reported them."},
                "model": {"type": "string", "description": "The model of all these tokens, if the runner's own total names one."},
                "by_model": {"type": "array", "items": {"$ref": "#/components/schemas/ModelTotal"},
                    "description": "The part of each model, if the runner's own total has several and gives their parts."}}},
        "models": {"type": "array", "items": {"$ref": "#/components/schemas/ModelFigures"},
            "description": "The model calls that the runner reported one by one, by model; absent if an older version stored the status."},
        "computed_cost": {"$ref": "#/components/schemas/ComputedCost"},
    })
}

/// The figures over runs.
pub(super) fn figures() -> Value {
    let count = |about: &str| json!({"type": "integer", "minimum": 0, "description": about});
    json!({
        "cost_usd": {"type": "number", "description": "The cost in US dollars that runners reported."},
        "computed_cost_usd": {"type": "number", "description": "The cost in US dollars, computed from tokens and prices."},
        "runs_with_computed_cost": count("The runs with a computed cost."),
        "runs_with_approximate_cost": count("Those of them whose computed cost is not exact."),
        "unpriced_runs": count("The runs without a computed cost."),
    })
}

/// The list of reasons in an answer with figures.
pub(super) fn unpriced() -> Value {
    let unpriced = json!({
        "type": "object",
        "required": ["reason", "runs"],
        "properties": {
            "reason": {"enum": REASONS},
            "model": {"type": "string", "description": "The model without a price; absent with the other reasons."},
            "runs": {"type": "integer", "minimum": 0, "description": "A run with several models without a price is in the entry of each."},
            "rest": {"type": "boolean", "description": format!("True in the last entry if it sums the models beyond the first {MOST_UNPRICED}.")},
        },
    });
    json!({"type": "array", "items": unpriced,
        "description": "The runs without a computed cost by the reason, the most frequent first."})
}

pub(super) fn schemas() -> Value {
    let count = |about: &str| json!({"type": "integer", "minimum": 0, "description": about});
    let limits = SIZE_LIMITS.map(|limit| limit.to_string()).join(", ");
    json!({
        "ComputedCost": {
            "type": "object",
            "description": "What the run's tokens cost by the price table of the proxy: an amount, or the reason why there is none.",
            "properties": {
                "usd": {"type": "number", "description": "US dollars."},
                "approximate": {"type": "array", "items": {"enum": Approximation::ALL.map(Approximation::as_str)},
                    "description": "Why the amount is not exact; absent if it is."},
                "unpriced": {"enum": REASONS, "description": "Why there is no amount."},
                "message": {"type": "string", "description": "The same for people."},
                "models": {"type": "array", "items": {"type": "string"}, "description": "The models without a price."},
            },
        },
        "ModelTotal": {
            "type": "object",
            "description": "The part of a run's total that belongs to one model.",
            "required": ["model", "input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens", "reasoning_tokens"],
            "properties": {
                "model": {"type": "string", "description": "The model as the runner spells it."},
                "input_tokens": count("Input tokens read outside the cache."),
                "output_tokens": count("Output tokens, including reasoning."),
                "cache_read_tokens": count("Input tokens read from the cache."),
                "cache_creation_tokens": count("Input tokens written to the cache."),
                "cache_creation_1h_tokens": count("The part of `cache_creation_tokens` that was written to entries which live for one hour; absent if there is none."),
                "reasoning_tokens": count("The part of `output_tokens` that was reasoning."),
            },
        },
        "ModelFigures": {
            "type": "object",
            "description": "Calls of a model whose inputs have a size between the same limits.",
            "required": ["calls", "input_tokens", "output_tokens"],
            "properties": {
                "model": {"type": "string", "description": "The model as the runner spells it; absent if the runner does not name it."},
                "above_input_tokens": count(&format!("The size that the whole input of each of these calls exceeds, in tokens: {limits}. Absent for smaller calls.")),
                "calls": count("Calls that the runner reported one by one."),
                "input_tokens": count("Input tokens read outside the cache."),
                "output_tokens": count("Output tokens, including reasoning."),
                "cache_read_tokens": count("Input tokens read from the cache; absent if there are none."),
                "cache_creation_tokens": count("Input tokens written to the cache; absent if there are none."),
                "cache_creation_1h_tokens": count("The part of `cache_creation_tokens` that was written to entries which live for one hour; absent if there is none."),
                "reasoning_tokens": count("The part of `output_tokens` that was reasoning; absent if there are none."),
                "rest": {"type": "boolean", "description": format!("True in the last entry if it sums what is beyond the first {MOST_MODELS} entries of a run; its model is `other`.")},
            },
        },
    })
}
