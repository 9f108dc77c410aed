//! Tokens, in the runner's counting: cached tokens are part of the input, reasoning tokens are beside the output.
//!
//! Input: `stats` of results, the long `stats` of documents, and `tokens` of messages in chat files. Output: figures as frames have them:
//! input outside the cache, output with reasoning. Never: the zeros that the runner writes if the provider gave no figures.

use crate::frame::{Figures, ModelPart, SharedStr, Usage, UsageScope};
use crate::json::{Json, Object};

/// The `stats` of a `result`: all models, with those of subagents. `None` if nothing was counted.
pub(super) fn of_result(stats: &Object<'_>) -> Option<Usage> {
    let figures = of_short(stats)?;
    let models = stats.object("models").unwrap_or_default();
    let part =
        |(name, model): (&str, Json<'_>)| Some(ModelPart { model: name.into(), figures: of_short(&model.object()?)? });
    let by_model = ModelPart::several(models.iter().filter_map(part).collect());
    Some(Usage { by_model, ..Usage::of(UsageScope::Run, only_model(&models), &figures) })
}

/// The figures of all models or of one; `None` if nothing was counted.
fn of_short(stats: &Object<'_>) -> Option<Figures> {
    let (input, output) = (stats.u64("input_tokens"), stats.u64("output_tokens"));
    let total = stats.u64("total_tokens");
    if [input, output, total].into_iter().flatten().all(|count| count == 0) {
        return None;
    }
    let (input, output) = (input.unwrap_or_default(), output.unwrap_or_default());
    let cached = stats.u64("cached");
    // The runner does not name the reasoning; only the total has it.
    let reasoning = total.and_then(|total| total.checked_sub(input)?.checked_sub(output));
    Some(Figures {
        input_tokens: stats.u64("input").unwrap_or_else(|| input.saturating_sub(cached.unwrap_or_default())),
        output_tokens: output.saturating_add(reasoning.unwrap_or_default()),
        cache_read_tokens: cached,
        reasoning_tokens: reasoning,
        ..Figures::default()
    })
}

/// The long `stats` of a document: the figures of all models, and those of the main thread. `None` if nothing was counted.
pub(super) fn of_document(stats: &Object<'_>) -> Option<(Usage, Option<Figures>)> {
    let models = stats.object("models")?;
    let (mut all, mut main) = (Figures::default(), None::<Figures>);
    let mut parts = Vec::new();
    for (name, model) in models.iter() {
        let Some(model) = model.object() else { continue };
        if let Some(figures) = model.object("tokens").and_then(|tokens| of_long(&tokens)) {
            all.add(&figures);
            parts.push(ModelPart { model: name.into(), figures });
        }
        let of_main = model.object("roles").and_then(|roles| of_long(&roles.object("main")?.object("tokens")?));
        if let Some(figures) = of_main {
            main.get_or_insert_default().add(&figures);
        }
    }
    (!parts.is_empty()).then(|| {
        let by_model = ModelPart::several(parts);
        (Usage { by_model, ..Usage::of(UsageScope::Run, only_model(&models), &all) }, main)
    })
}

/// The `tokens` of a message in a chat file; `None` if nothing was counted.
pub(super) fn of_message(tokens: &Object<'_>, model: Option<SharedStr>) -> Option<Usage> {
    let figures = of_parts(tokens, tokens.u64("input"), tokens.u64("output"))?;
    Some(Usage::of(UsageScope::Turn, model, &figures))
}

fn of_long(tokens: &Object<'_>) -> Option<Figures> {
    of_parts(tokens, tokens.u64("prompt"), tokens.u64("candidates"))
}

fn of_parts(tokens: &Object<'_>, input: Option<u64>, output: Option<u64>) -> Option<Figures> {
    let (cached, thoughts, tool) = (tokens.u64("cached"), tokens.u64("thoughts"), tokens.u64("tool"));
    if [input, output, thoughts, tool].into_iter().flatten().all(|count| count == 0) {
        return None;
    }
    let input = input.unwrap_or_default().saturating_sub(cached.unwrap_or_default());
    Some(Figures {
        // What tools of the provider put into the prompt is counted beside it.
        input_tokens: input.saturating_add(tool.unwrap_or_default()),
        output_tokens: output.unwrap_or_default().saturating_add(thoughts.unwrap_or_default()),
        cache_read_tokens: cached,
        reasoning_tokens: thoughts,
        ..Figures::default()
    })
}

fn only_model(models: &Object<'_>) -> Option<SharedStr> {
    let mut used = models.iter().filter(|(_, model)| is_used(*model)).map(|(name, _)| name);
    match (used.next(), used.next()) {
        (Some(name), None) => Some(SharedStr::from(name)),
        _ => None,
    }
}

/// Whether a model counted something. The runner also lists models whose requests all failed.
fn is_used(model: Json<'_>) -> bool {
    let Some(model) = model.object() else { return false };
    let total = model.u64("total_tokens").or_else(|| model.object("tokens")?.u64("total"));
    total != Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(text: &str) -> Option<Usage> {
        of_result(&Object::parse(text).unwrap())
    }

    #[test]
    fn cached_tokens_are_in_the_input_and_reasoning_only_in_the_total() {
        let usage = result(
            r#"{"total_tokens":692,"input_tokens":650,"output_tokens":35,"cached":50,"input":600,"models":{"a":{"total_tokens":692}}}"#,
        );
        let usage = usage.unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens), (600, 42));
        assert_eq!((usage.cache_read_tokens, usage.reasoning_tokens), (Some(50), Some(7)));
        assert_eq!(usage.model.as_deref(), Some("a"));
        assert_eq!((usage.cache_creation_tokens, usage.cost_usd), (None, None));
    }

    #[test]
    fn zeros_are_no_figures() {
        assert!(result(r#"{"total_tokens":0,"input_tokens":0,"output_tokens":0,"cached":0}"#).is_none());
        assert!(result("{}").is_none());
        assert_eq!(result(r#"{"input_tokens":3}"#).unwrap().reasoning_tokens, None);
    }

    #[test]
    fn a_total_of_several_models_names_none() {
        let models = r#"{"total_tokens":9,"input_tokens":9,"models":{"a":{"total_tokens":5},"b":{"total_tokens":4}}}"#;
        assert_eq!(result(models).unwrap().model, None);
    }
}
