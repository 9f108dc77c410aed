//! Texts, thoughts, and what is no text of the model.

use super::case::*;
use framegate_translators::frame::Body;
use serde_json::Value;

#[test]
fn texts() {
    each(|case| {
        let (facts, incomplete) = (list(&case.facts["texts"]), list(&case.facts["texts_incomplete"]));
        // Broken attempts whose text stays are one text.
        let joined = Value::from(incomplete.iter().filter_map(Value::as_str).collect::<String>());
        let is_other = |ours: &&str| {
            let unfinished = incomplete.iter().chain([&joined]).chain(list(&case.facts["texts_of_the_cli"]));
            !facts.iter().any(|fact| is_text(ours, fact)) && unfinished.into_iter().any(|fact| is_text(ours, fact))
        };
        let ours: Vec<&str> = case.texts(false).into_iter().filter(|ours| !is_other(ours)).collect();
        same_texts("texts", &ours, facts)?;
        for shown in list(&case.facts["incomplete_shown"]) {
            same("incomplete text", &case.texts(false).iter().any(|ours| is_text(ours, shown)), &true)?;
        }
        Ok(())
    });
}

#[test]
fn reasoning() {
    each(|case| {
        let thoughts = case.own_frames().into_iter().filter_map(|frame| match &frame.body {
            Body::ReasoningCompleted { block, opaque } => Some((block.text.as_str(), opaque.is_none())),
            _ => None,
        });
        let (texts, plain): (Vec<&str>, Vec<bool>) = thoughts.unzip();
        same("opaque", &plain.iter().all(|plain| *plain), &true)?;
        same_texts("reasoning", &texts, list(&case.facts["reasoning"]))
    });
}

#[test]
fn the_texts_of_subagents_are_not_invented() {
    each(|case| {
        same_texts("shown", &case.texts(true), list(&case.facts["child_texts_shown"]))?;
        let is_said = |text: &Value| case.texts(false).iter().any(|ours| is_text(ours, text));
        same("said", &list(&case.facts["child_texts"]).iter().any(is_said), &false)
    });
}

#[test]
fn final_text() {
    each(|case| {
        if case.is_session_file() {
            let last = list(&case.facts["texts"]).last();
            let ours = case.ends().last().unwrap().1.final_text.as_deref();
            return same(
                "final text",
                &ours.map(|ours| last.is_some_and(|last| is_text(ours, last))),
                &last.map(|_| true),
            );
        }
        for ((_, end), result) in case.ends().iter().zip(list(&case.facts["results"])) {
            let theirs = result["result"].as_str().filter(|text| !text.is_empty());
            if result["is_error"] == false {
                match &result["result"] {
                    Value::Object(_) => {
                        let ours = end.final_text.as_deref().unwrap_or_default();
                        same("final text", &is_text(ours, &result["result"]), &true)?;
                    }
                    _ => same("final text", &end.final_text.as_deref(), &theirs)?,
                }
            }
        }
        let ours = case.ends().last().unwrap().1.final_text.as_deref();
        match (&case.facts["final_text"], ours) {
            // A run that failed has its last complete text.
            (Value::Null, Some(ours)) if case.facts["terminal"] != "completed" => {
                same(ours, &list(&case.facts["texts"]).last().is_some_and(|last| is_text(ours, last)), &true)
            }
            // The output of the program, and output that follows a schema.
            (Value::Null, Some(ours)) => {
                let own = case.facts["results"][0]["result"].as_str() == Some(ours);
                same(&format!("final text {ours:?}"), &own, &true)
            }
            (Value::Null, None) => Ok(()),
            (fact, ours) => same_texts("final text", &[ours.unwrap_or("none")], std::slice::from_ref(fact)),
        }
    });
}

#[test]
fn errors_of_the_api_are_errors_and_no_text() {
    each(|case| {
        let errors: Vec<&str> = case
            .frames
            .iter()
            .filter_map(|frame| match &frame.body {
                Body::ErrorReported(error) if error.attempt.is_none() => Some(error.message.as_str()),
                _ => None,
            })
            .collect();
        for fact in list(&case.facts["error_texts"]) {
            let message = &text(fact)[text(fact).find("[API Error: ").unwrap()..];
            same("times reported", &errors.iter().filter(|error| **error == message).count(), &1)?;
            let (_, end) = case.ends()[case.ends().len() - 1];
            same("message of the end", &end.message.as_deref(), &Some(message))?;
        }
        let said = case.frames.iter().filter(|frame| match &frame.body {
            Body::OutputTextDelta(block) => block.delta.contains("API Error"),
            Body::OutputTextCompleted(block) => block.text.contains("API Error"),
            _ => false,
        });
        same("said", &said.count(), &0)
    });
}
