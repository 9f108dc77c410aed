//! Texts and reasoning: each once, although the runner gives them up to three times.

use super::case::*;
use framegate_translators::frame::Body;
use serde_json::Value;

/// The texts that a recording must have: those of complete messages, and those of replies that were broken off, which only the
/// stream shows. The order is that of the stream.
fn expected(case: &Case) -> (Vec<Value>, Vec<Value>) {
    let broken = if case.is_session_file() { &[] } else { list(&case.facts["deltas_without_message"]) };
    (list(&case.facts["texts"]).to_vec(), broken.to_vec())
}

#[test]
fn texts() {
    each(|case| {
        let (whole, broken) = expected(case);
        let ours = case.texts(false);
        let is_broken = |ours: &&str| {
            broken.iter().any(|fact| is_text(ours, fact)) && !whole.iter().any(|fact| is_text(ours, fact))
        };
        let (cut, complete): (Vec<&str>, Vec<&str>) = ours.into_iter().partition(is_broken);
        same_texts("complete", &complete, &whole)?;
        same_texts("broken off", &cut, &broken)
    });
}

#[test]
fn reasoning() {
    each(|case| {
        let own = case.own_frames();
        let thoughts = own.iter().filter_map(|frame| match &frame.body {
            Body::ReasoningCompleted { block, .. } => Some(block.text.as_str()),
            _ => None,
        });
        same_texts("reasoning", &thoughts.collect::<Vec<_>>(), list(&case.facts["reasoning"]))?;
        same("incomplete", &list(&case.facts["reasoning_incomplete"]).len(), &0)
    });
}

#[test]
fn sealed_reasoning_is_kept() {
    for (name, count) in [("anthropic.jsonl", 1), ("responses.session.jsonl", 1), ("thought-tool.jsonl", 0)] {
        let case = cases().into_iter().find(|case| case.name == name).unwrap();
        let sealed = case.frames.iter().filter(|frame| match &frame.body {
            Body::ReasoningCompleted { opaque, .. } => opaque.is_some(),
            _ => false,
        });
        assert_eq!(sealed.count(), count, "{name}");
    }
}

#[test]
fn texts_of_subagents_are_on_their_own_thread() {
    each(|case| same_texts("of subagents", &case.texts(true), list(&case.facts["child_texts"])));
}

#[test]
fn final_text() {
    each(|case| {
        let ends = case.ends();
        let ours = ends.last().unwrap().1.final_text.as_deref();
        if case.facts["terminal"] != "completed" {
            // A run that failed has its last complete text.
            let last = list(&case.facts["texts"]).last();
            return same("last text", &ours.map(|_| true), &last.map(|last| is_text(ours.unwrap_or("none"), last)));
        }
        // The facts of a session file are those of its stream, without the last text.
        let fact = match &case.facts["final_text"] {
            Value::Null => list(&case.facts["texts"]).last(),
            fact => Some(fact),
        };
        same("final text", &ours.map(|ours| fact.is_some_and(|fact| is_text(ours, fact))), &fact.map(|_| true))
    });
}
