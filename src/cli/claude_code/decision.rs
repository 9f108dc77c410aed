//! What the client's answer to a question is at the proxy.
//!
//! Input: the question's arguments, and the client's response. Output: the decision as the proxy takes it. Never: an approval of anything but
//! the arguments that were asked about.

use serde_json::{Map, Value, json};

/// The reason for a denial without one.
const DENIED: &str = "The user does not want this to be done.";

/// What is decided, and what of the client's answer has no effect.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Decided {
    /// The body of the request to the proxy.
    pub(super) decision: Value,
    /// For standard error.
    pub(super) warning: Option<&'static str>,
}

/// A rejection.
pub(super) fn rejected(reason: &str) -> Value {
    json!({"decision": "rejected", "reason": reason})
}

/// Reads the client's response to `can_use_tool`.
pub(super) fn of(input: &Value, response: &Result<Value, String>) -> Decided {
    let response = match response {
        Ok(response) => response,
        Err(error) => {
            return Decided { decision: rejected(&format!("the permission prompt failed: {error}")), warning: None };
        }
    };
    match response.get("behavior").and_then(Value::as_str) {
        Some("allow") => allowed(input, response),
        Some("deny") => {
            let message = response.get("message").and_then(Value::as_str).filter(|message| !message.is_empty());
            let ends = response.get("interrupt").and_then(Value::as_bool).unwrap_or_default();
            let decision = if ends { "cancelled" } else { "rejected" };
            Decided { decision: json!({"decision": decision, "reason": message.unwrap_or(DENIED)}), warning: None }
        }
        _ => Decided {
            decision: rejected("the client's answer is neither allow nor deny"),
            warning: Some("the client answered a permission request with neither allow nor deny: it is denied"),
        },
    }
}

fn allowed(input: &Value, response: &Value) -> Decided {
    let updates = response.get("updatedPermissions").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
    let warning = updates.then_some("updatedPermissions has no effect: the call is allowed once");
    let updated = response.get("updatedInput").filter(|updated| !updated.is_null());
    let answers = updated.and_then(|updated| answers(input, updated));
    let decision = match (updated, answers) {
        (None, _) => json!({"decision": "approved"}),
        (Some(updated), _) if updated == input => json!({"decision": "approved"}),
        (Some(_), Some(answers)) => json!({"decision": "approved", "answers": answers}),
        (Some(_), None) => {
            let reason = "The client wants other arguments (updatedInput), but arguments cannot be changed here.";
            return Decided {
                decision: rejected(reason),
                warning: Some(
                    "the client changed a call's arguments (updatedInput), which is not supported: the call is denied",
                ),
            };
        }
    };
    Decided { decision, warning }
}

/// The answers to questions of the user: for each question, what was chosen or written. `None` if these are not the same questions.
fn answers(input: &Value, updated: &Value) -> Option<Vec<Vec<String>>> {
    let (input, updated) = (input.as_object()?, updated.as_object()?);
    let others = |fields: &Map<String, Value>| {
        let mut fields = fields.clone();
        // Both are the client's.
        fields.remove("answers");
        fields.remove("annotations");
        fields
    };
    if others(input) != others(updated) {
        return None;
    }
    let given = updated.get("answers")?.as_object()?;
    let questions = input.get("questions")?.as_array()?;
    Some(questions.iter().map(|question| answer(question, given)).collect())
}

fn answer(question: &Value, given: &Map<String, Value>) -> Vec<String> {
    let keys = ["question", "id"].into_iter().filter_map(|key| question.get(key)?.as_str());
    match keys.filter_map(|key| given.get(key)).next() {
        Some(Value::String(text)) => choices(question, text),
        Some(Value::Array(texts)) => texts.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// The choices in a text. Several are separated by commas, if the question lets the user choose several.
fn choices(question: &Value, text: &str) -> Vec<String> {
    let is_true = |key: &str| question.get(key).and_then(Value::as_bool).unwrap_or_default();
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let options = question.get("options").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let is_option =
        |part: &&str| options.iter().any(|option| option.get("label").and_then(Value::as_str) == Some(part));
    match (is_true("multiSelect") || is_true("multiple")) && parts.iter().all(is_option) {
        true => parts.into_iter().map(str::to_owned).collect(),
        false => vec![text.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decided(input: &Value, response: Value) -> Value {
        of(input, &Ok(response)).decision
    }

    #[test]
    fn an_answer_is_a_decision() {
        let input = json!({"command": "ls"});
        let approved = json!({"decision": "approved"});
        assert_eq!(decided(&input, json!({"behavior": "allow", "updatedInput": {"command": "ls"}})), approved);
        assert_eq!(decided(&input, json!({"behavior": "allow"})), approved);
        assert_eq!(
            decided(&input, json!({"behavior": "deny", "message": "no"})),
            json!({"decision": "rejected", "reason": "no"})
        );
        assert_eq!(
            decided(&input, json!({"behavior": "deny", "message": "", "interrupt": true}))["decision"],
            "cancelled"
        );
        let failed = of(&input, &Err("oops".to_owned())).decision;
        assert_eq!(failed, json!({"decision": "rejected", "reason": "the permission prompt failed: oops"}));
        let rules = of(&input, &Ok(json!({"behavior": "allow", "updatedPermissions": [{"type": "addRules"}]})));
        assert!(rules.decision == approved && rules.warning.is_some());
    }

    #[test]
    fn nothing_else_is_approved() {
        let input = json!({"command": "ls"});
        for response in [
            json!({"behavior": "allow", "updatedInput": {"command": "rm"}}),
            json!({"behavior": "allow", "updatedInput": {"command": "ls", "answers": {}}}),
            json!({"behavior": "allow", "updatedInput": "ls"}),
            json!({"behavior": "ALLOW"}),
            json!({}),
            json!(null),
        ] {
            assert_eq!(decided(&input, response.clone())["decision"], "rejected", "{response}");
        }
    }

    #[test]
    fn answers_are_in_the_order_of_the_questions() {
        let options = json!([{"label": "Red"}, {"label": "Blue"}]);
        let input = json!({"questions": [
            {"question": "Which?", "options": options, "multiSelect": true},
            {"question": "Who?", "options": options},
            {"id": "why", "question": "Why?"},
            {"question": "None?"},
        ]});
        let mut updated = input.clone();
        updated["answers"] = json!({"why": "because", "Who?": "Red, Blue", "Which?": "Red, Blue"});
        let decision = decided(&input, json!({"behavior": "allow", "updatedInput": updated}));
        assert_eq!(decision["answers"], json!([["Red", "Blue"], ["Red, Blue"], ["because"], []]));
        updated["answers"] = json!({"Which?": "Red, Green", "Who?": ["a", "b"]});
        let decision = decided(&input, json!({"behavior": "allow", "updatedInput": updated}));
        assert_eq!(decision["answers"], json!([["Red, Green"], ["a", "b"], [], []]));
        updated["questions"][0]["question"] = json!("Other?");
        assert_eq!(decided(&input, json!({"behavior": "allow", "updatedInput": updated}))["decision"], "rejected");
    }
}
