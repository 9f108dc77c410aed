//! Approval requests that are forms: which answers are valid, and which parts of an answer reach whom.

use crate::approvals::{SECRET, claude, claude_table};
use crate::started::Started;
use serde_json::{Value, json};

#[test]
fn the_form_of_an_mcp_server_is_answered_as_a_question() {
    let started = claude("form", "");
    let run = started.run();
    let status = started.wait_for_question(&run, "ask-one");
    // The previous request was answered automatically, and that was reported before the runner continued.
    assert_eq!(status["pending_approvals"], json!(["ask-one"]));
    let listed = &status["approvals"][0];
    assert_eq!(
        (&listed["tool_name"], &listed["reason"]),
        (&json!("mcp_elicitation"), &json!("Which zone?")),
        "{listed}"
    );
    let yes = |answers: Value| json!({"decision": "approved", "answers": answers});
    for (answers, expected) in [
        (json!([]), "send it in `answers`"),
        (json!(["here", "many"]), "the field \"count\" requires a whole number"),
        (json!([[], "1"]), "the field \"zone\" requires an answer"),
        (json!(["here", "1", "more"]), "the form has 2 fields"),
    ] {
        let answer = started.answer(&run, "ask-one", &yes(answers));
        assert_eq!(answer.status, 422);
        let detail = answer.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.contains(expected), "{detail}");
    }
    assert_eq!(started.answer(&run, "ask-one", &yes(json!(["here", "2"]))).status, 200);
    started.folder.write("leave", "");
    assert_eq!(started.wait_for_end(&run)["state"], "completed");
    let why = "ask-deep rejected by policy:unanswerable: its field \"zone\" is of the type \"object\"";
    assert_eq!(started.decisions(&run), [why, "ask-one approved by anonymous: here\n2"]);
    let answers = started.folder.read("answers");
    let answers: Vec<Value> = answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers[0]["response"]["response"], json!({"action": "decline"}));
    assert_eq!(
        answers[1]["response"]["response"],
        json!({"action": "accept", "content": {"zone": "here", "count": 2}})
    );
}

#[test]
fn the_answer_to_a_secret_field_reaches_only_the_runner() {
    let (password, note) = ("hunter two", format!("use {SECRET}"));
    let claude_code = claude_table("login", "");
    let codex = claude_table("secrets", "").replace("claude-code", "codex-app-server").replace("claude.sh", "codex.sh");
    let answers = json!(["ann", password, note]);
    for (table, id, answers, heard, expected) in [
        (&claude_code, "ask-one", &answers, "answers", "ann\n[REDACTED:key]\nuse [REDACTED:github-token]"),
        (&codex, "request-0", &json!(["ann", password]), "heard", "ann\n[REDACTED:key]"),
        (
            &format!("[redaction]\nenabled = false\n{codex}"),
            "request-0",
            &json!(["ann", password]),
            "heard",
            "ann\n[REDACTED:key]",
        ),
    ] {
        let started = Started::with(table, &[("FRAMEGATE__TELEMETRY__FILTER", "info")]);
        let run = started.run();
        started.wait_for_question(&run, id);
        let answer = started.answer(&run, id, &json!({"decision": "approved", "answers": answers}));
        assert_eq!(answer.status, 200, "{id}");
        started.folder.write("leave", "");
        started.wait_for_end(&run);
        assert_eq!(started.decisions(&run), [format!("{id} approved by anonymous: {expected}")]);
        assert!(started.folder.read(heard).contains(password), "the runner must receive it");
        for contract in framegate_translators::contracts::names() {
            let events = serde_json::to_string(&started.events(&run, contract)).unwrap();
            assert!(!events.contains(password) && !events.contains(SECRET), "{contract}: {events}");
        }
        assert!(!started.folder.read("log").contains(password));
    }
}
