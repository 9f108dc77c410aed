//! Questions to a person, and their answers.

use super::records::*;
use serde_json::{Value, json};

/// The questions and answers of a run with a question and its end.
fn asked(kind: &str, question: Value, answer: Value) -> Vec<String> {
    let ask = passing(&format!("{kind}.requested"), question);
    let answered = passing(&format!("{kind}.completed"), answer);
    let records = [prompt("x"), ask, answered.clone(), answered, message("m", "Yes", json!([])), result(0)];
    lines(&records).into_iter().filter(|line| line.starts_with("ask") || line.starts_with("answer")).collect()
}

#[test]
fn a_permission_has_one_question_and_one_answer() {
    let ask = json!({"requestId": "q", "permissionRequest": {"kind": "shell", "intention": "to build"}});
    for (kind, answer) in [
        ("approved", "approved once"),
        ("approved-for-session", "approved session"),
        ("approved-for-location", "approved always"),
        ("denied-by-rules", "rejected -"),
        ("cancelled", "cancelled -"),
        // Neither an approval nor a refusal.
        ("a-new-word", "cancelled -"),
        ("", "cancelled -"),
    ] {
        let lines = asked("permission", ask.clone(), json!({"requestId": "q", "result": {"kind": kind}}));
        assert_eq!(lines, ["ask q shell to build".to_owned(), format!("answer q {answer}")], "{kind}");
    }
}

#[test]
fn a_form_is_accepted_declined_or_closed() {
    let ask = json!({"requestId": "q", "message": "Which port?", "mode": "form"});
    for (action, decision) in [("accept", "approved"), ("decline", "rejected"), ("cancel", "cancelled")] {
        let lines = asked("elicitation", ask.clone(), json!({"requestId": "q", "action": action}));
        assert_eq!(lines, ["ask q mcp_elicitation Which port?".to_owned(), format!("answer q {decision} -")]);
    }
}

#[test]
fn a_question_of_the_model_is_answered_or_closed() {
    let ask = json!({"requestId": "q", "question": "Which file?", "choices": ["a", "b"]});
    for (answer, decision) in
        [(json!({"requestId": "q", "answer": "a"}), "approved"), (json!({"requestId": "q"}), "cancelled")]
    {
        let lines = asked("user_input", ask.clone(), answer);
        assert_eq!(lines, ["ask q ask_user Which file?".to_owned(), format!("answer q {decision} -")]);
    }
}

#[test]
fn a_plan_is_approved_or_rejected() {
    let ask = json!({"requestId": "q", "summary": "Two steps", "planContent": "1. a", "actions": []});
    for (approved, decision) in [(true, "approved"), (false, "rejected")] {
        let lines = asked("exit_plan_mode", ask.clone(), json!({"requestId": "q", "approved": approved}));
        assert_eq!(lines, ["ask q exit_plan_mode Two steps".to_owned(), format!("answer q {decision} -")]);
    }
}

#[test]
fn a_question_that_is_not_answered_is_cancelled_with_the_run() {
    let ask = event("permission.requested", json!({"requestId": "q", "permissionRequest": {"kind": "write"}}));
    let abort = event("abort", json!({"reason": "user_initiated"}));
    let lines = lines(&[prompt("x"), ask, abort, result(0)]);
    assert_eq!(lines, ["ask q write -", "answer q cancelled -", "end interrupted interrupted"]);
}
