//! Texts, thinking, and unfinished messages.

use super::case::*;
use framegate_translators::frame::Body;
use serde_json::Value;

#[test]
fn texts() {
    each(|case| {
        let facts = list(&case.facts["texts"]);
        let facts = if case.is_result_alone() { &facts[facts.len() - 1..] } else { facts };
        same_texts("texts", &case.texts(), facts)
    });
}

#[test]
fn final_text() {
    each(|case| {
        let ends = case.ends();
        let (_, end) = ends.last().unwrap();
        let ours = end.final_text.as_deref();
        let last = list(&case.facts["results"]).last();
        match (&case.facts["final_text"], last) {
            // The script has no text, but the runner has an answer: the output of a command or of a hook, or the model's output
            // in the requested schema.
            (Value::Null, Some(result)) if result["is_error"] == false => {
                let own = &result["result"];
                match ours {
                    None => same("final text", &own["text"], &Value::from("")),
                    Some(ours) => same("final text", &is_answer(ours, own, case), &true),
                }
            }
            (Value::Null, _) => same("final text", &ours, &None),
            (fact, _) => same_texts("final text", &[ours.unwrap_or("none")], std::slice::from_ref(fact)),
        }
    });
}

#[test]
fn each_runs_final_text_is_its_result() {
    each(|case| {
        for ((_, end), result) in case.ends().iter().zip(list(&case.facts["results"])) {
            let text = &result["result"];
            if result["is_error"] == true || text["text"] == "" {
                continue;
            }
            let ours = end.final_text.as_deref();
            let answer = ours.is_some_and(|ours| is_answer(ours, text, case));
            same(&format!("{ours:?} is {text}"), &answer, &true)?;
        }
        Ok(())
    });
}

#[test]
fn thinking() {
    each(|case| {
        let reasoning = case.frames.iter().filter_map(|frame| match &frame.body {
            Body::ReasoningCompleted { block, opaque } if frame.parent_tool_id.is_none() => Some((block, opaque)),
            _ => None,
        });
        let all: Vec<_> = reasoning.collect();
        let redacted = |block: &&Value| *block == "redacted_thinking";
        let hidden = case.main_messages().iter().flat_map(|m| list(&m["blocks"])).filter(redacted).count();
        let is_hidden = |opaque: &Option<framegate_translators::frame::RawJson>| {
            opaque.as_ref().is_some_and(|opaque| opaque.get().contains("\"redacted_thinking\""))
        };
        same("redacted", &all.iter().filter(|(_, opaque)| is_hidden(opaque)).count(), &hidden)?;
        for (block, opaque) in &all {
            same(&format!("seal of {:?}", block.text), &opaque.is_some(), &true)?;
        }
        let open = all.iter().filter(|(_, opaque)| !is_hidden(opaque));
        let ours: Vec<&str> = open.map(|(block, _)| block.text.as_str()).collect();
        same_texts("thinking", &ours, list(&case.facts["thinking"]))
    });
}

#[test]
fn incomplete_blocks() {
    each(|case| {
        for fact in list(&case.facts["incomplete_blocks"]) {
            let (id, index) = (fact["message_id"].as_str().unwrap(), fact["block_index"].as_u64().unwrap());
            let ours = case.frames.iter().find_map(|frame| match &frame.body {
                Body::OutputTextCompleted(block)
                    if *block.message_id == *id && u64::from(block.block_index) == index =>
                {
                    Some(block.text.as_str())
                }
                _ => None,
            });
            let said = fact["text_in_aborted_frame"].as_str().or(fact["text_in_stream_events"].as_str());
            same("cut text", &ours, &said.filter(|text| !text.is_empty()))?;
            same(
                "final text",
                &case.ends().iter().any(|(_, end)| end.final_text.as_deref() == ours && ours.is_some()),
                &false,
            )?;
        }
        Ok(())
    });
}

#[test]
fn subagent_texts() {
    each(|case| {
        let texts = case.frames.iter().filter_map(|frame| match &frame.body {
            Body::OutputTextCompleted(block) if frame.parent_tool_id.is_some() => Some(block.text.as_str()),
            _ => None,
        });
        let shown = list(&case.facts["subagent_texts"]).iter().filter(|fact| fact["has_assistant_frame"] == true);
        let shown: Vec<Value> = shown.map(|fact| fact["text"].clone()).collect();
        same_texts("texts of subagents", &texts.collect::<Vec<_>>(), &shown)
    });
}
