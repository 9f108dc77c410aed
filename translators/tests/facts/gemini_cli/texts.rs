//! Texts, reasoning and prompts.

use super::case::*;
use framegate_translators::frame::Body;

#[test]
fn texts_are_those_of_the_model() {
    each(|case| same_texts("texts", &case.texts(), list(&case.facts["texts"])));
}

#[test]
fn every_text_is_the_sum_of_its_pieces() {
    each(|case| {
        let mut pieces = String::new();
        for frame in case.own_frames() {
            match &frame.body {
                Body::OutputTextDelta(block) => pieces.push_str(&block.delta),
                Body::OutputTextCompleted(block) => {
                    same("pieces", &pieces.as_str(), &block.text.as_str())?;
                    pieces.clear();
                }
                _ => {}
            }
        }
        same("rest", &pieces.as_str(), &"")
    });
}

#[test]
fn only_chat_files_have_reasoning() {
    each(|case| {
        let frames = case.own_frames().into_iter();
        let ours: Vec<&str> = frames
            .filter_map(|frame| match &frame.body {
                Body::ReasoningCompleted { block, .. } => Some(block.text.as_str()),
                _ => None,
            })
            .collect();
        let theirs = if case.is_chat_file() { list(&case.facts["reasoning"]) } else { &[] };
        same_texts("reasoning", &ours, theirs)
    });
}

#[test]
fn the_prompt_is_what_was_typed() {
    each(|case| {
        let frames = case.own_frames().into_iter();
        let ours: Vec<&str> = frames
            .filter_map(|frame| match &frame.body {
                Body::UserMessage(message) => Some(message.text.as_str()),
                _ => None,
            })
            .collect();
        // A document does not have the prompt, and a run without a prompt has no records.
        let is_absent = case.surface == "json" || case.count == 0;
        if case.name == "shell-ok.jsonl" {
            // The manifest has another prompt than the command line.
            return same("prompt", &ours.as_slice(), &["Run echo"].as_slice());
        }
        let theirs = if is_absent { &[] } else { std::slice::from_ref(&case.facts["prompt"]) };
        same_texts("prompt", &ours, theirs)
    });
}
