//! Agents of the Agent Client Protocol.

use super::host::*;
use framegate_translators::frame::{Body, Decision, EndReason, Frame};
use framegate_translators::host::{FileContent, HostMessage, Opening, Outgoing, PromptFile, SendError};
use serde_json::{Value, json};

fn line(value: &Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}

/// The last line that the host sent.
fn last(host: &Host) -> Value {
    host.lines().pop().unwrap()
}

/// Answers the request that the host sent last.
fn answer(host: &mut Host, result: &Value) {
    let id = last(host)["id"].clone();
    host.receive(&line(&json!({"jsonrpc": "2.0", "id": id, "result": result})));
}

fn fail(host: &mut Host, code: i64, message: &str) {
    let id = last(host)["id"].clone();
    host.receive(&line(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})));
}

fn opening() -> Opening {
    Opening { prompt: "go".into(), cwd: Some("/w".into()), ..Opening::default() }
}

/// A host whose agent has greeted it with these abilities.
fn greeted(opening: Opening, abilities: &Value) -> Host {
    let mut host = Host::new("acp");
    host.open(opening);
    answer(
        &mut host,
        &json!({"protocolVersion": 1, "agentCapabilities": abilities,
        "authMethods": [{"id": "t", "name": "T", "type": "terminal"}, {"id": "key", "name": "Key"}]}),
    );
    host
}

/// A host with a running turn.
fn running() -> Host {
    let mut host = greeted(opening(), &json!({}));
    answer(&mut host, &json!({"sessionId": "S"}));
    assert_eq!(last(&host)["method"], "session/prompt");
    host
}

fn update(update: &Value) -> Vec<u8> {
    line(&json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "S", "update": update}}))
}

fn permission(id: &Value, options: &[(&str, &str)]) -> Vec<u8> {
    let options: Vec<Value> =
        options.iter().map(|(id, kind)| json!({"optionId": id, "name": id, "kind": kind})).collect();
    line(&json!({"jsonrpc": "2.0", "id": id, "method": "session/request_permission", "params": {"sessionId": "S",
        "toolCall": {"toolCallId": "c", "title": "run", "kind": "execute", "rawInput": {"command": "ls"}}, "options": options}}))
}

const OPTIONS: [(&str, &str); 3] = [("no", "reject_once"), ("yes", "allow_once"), ("ever", "allow_always")];

fn ends(host: &Host) -> Vec<EndReason> {
    let end = |frame: &Frame| match &frame.body {
        Body::SessionEnded(end) => Some(end.reason),
        _ => None,
    };
    host.frames.iter().filter_map(end).collect()
}

#[test]
fn a_session_is_opened_step_by_step() {
    let mut host = Host::new("acp");
    host.open(opening());
    let first = last(&host);
    assert_eq!((&first["method"], &first["params"]["protocolVersion"]), (&json!("initialize"), &json!(1)));
    let offered = &first["params"]["clientCapabilities"];
    assert_eq!((&offered["fs"]["writeTextFile"], &offered["terminal"]), (&json!(false), &json!(false)));
    assert_eq!(host.lines().len(), 1, "nothing else before the answer");
    answer(&mut host, &json!({"protocolVersion": 1, "agentCapabilities": {}}));
    assert_eq!(
        (&last(&host)["method"], &last(&host)["params"]),
        (&json!("session/new"), &json!({"cwd": "/w", "mcpServers": []}))
    );
    answer(&mut host, &json!({"sessionId": "S"}));
    let params = json!({"sessionId": "S", "prompt": [{"type": "text", "text": "go"}]});
    assert_eq!((&last(&host)["method"], &last(&host)["params"]), (&json!("session/prompt"), &params));
    host.send(HostMessage::Prompt("more".into())).unwrap();
    assert_eq!(host.lines().len(), 3, "one prompt at a time");
    host.receive(&update(&json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "one"}})));
    answer(&mut host, &json!({"stopReason": "end_turn"}));
    assert_eq!(last(&host)["params"]["prompt"][0]["text"], "more");
    answer(&mut host, &json!({"stopReason": "end_turn"}));
    host.send(HostMessage::Close).unwrap();
    assert_eq!(host.sent.last(), Some(&Outgoing::EndOfInput));
    host.finish();
    assert_eq!(ends(&host), [EndReason::Completed, EndReason::Completed], "a turn without a word is a run as well");
}

#[test]
fn an_agent_that_speaks_another_version_is_left() {
    for version in [json!(2), json!(0), json!("1"), json!(null)] {
        let mut host = Host::new("acp");
        host.open(opening());
        answer(&mut host, &json!({"protocolVersion": version}));
        assert!(host.dialogue.refusal().unwrap().contains("of the protocol, but not version 1"), "{version}");
        assert_eq!(host.lines().len(), 1);
    }
}

#[test]
fn authentication_is_tried_once_with_a_method_that_needs_no_terminal() {
    let mut host = greeted(opening(), &json!({}));
    fail(&mut host, -32000, "Authentication required");
    assert_eq!((&last(&host)["method"], &last(&host)["params"]), (&json!("authenticate"), &json!({"methodId": "key"})));
    answer(&mut host, &json!({}));
    assert_eq!(last(&host)["method"], "session/new");
    fail(&mut host, -32000, "Authentication required");
    assert_eq!(host.dialogue.refusal(), Some("Authentication required"));
    assert_eq!(host.lines().len(), 4, "no second attempt");
}

#[test]
fn a_session_is_continued_as_the_agent_is_able_to() {
    let session = || Opening { session: Some("S".into()), ..opening() };
    let both = json!({"loadSession": true, "sessionCapabilities": {"resume": {}}});
    for (abilities, method) in [(both, "session/resume"), (json!({"loadSession": true}), "session/load")] {
        let mut host = greeted(session(), &abilities);
        assert_eq!(last(&host)["method"], method);
        host.receive(&update(&json!({"sessionUpdate": "user_message_chunk", "messageId": "u", "content": {"type": "text", "text": "old"}})));
        host.receive(&update(&json!({"sessionUpdate": "agent_message_chunk", "messageId": "a", "content": {"type": "text", "text": "old"}})));
        answer(&mut host, &json!({}));
        host.receive(&update(&json!({"sessionUpdate": "agent_message_chunk", "messageId": "b", "content": {"type": "text", "text": "new"}})));
        answer(&mut host, &json!({"stopReason": "end_turn"}));
        host.finish();
        assert_eq!(ends(&host), [EndReason::Completed]);
        let is_old = |frame: &Frame| matches!(&frame.body, Body::OutputTextDelta(delta) if delta.delta == "old");
        assert!(!host.frames.iter().any(is_old), "history is no output");
    }
    let host = greeted(session(), &json!({}));
    assert_eq!(host.dialogue.refusal(), Some("the agent is not able to continue a session"));
}

#[test]
fn the_model_and_the_mode_are_chosen_before_the_first_prompt() {
    let mut host = greeted(Opening { model: Some("m2".into()), mode: Some("plan".into()), ..opening() }, &json!({}));
    answer(
        &mut host,
        &json!({"sessionId": "S",
        "configOptions": [{"id": "model", "name": "Model", "type": "select", "category": "model", "currentValue": "m1",
            "options": [{"group": "g", "name": "G", "options": [{"value": "m2", "name": "Two"}]}]}],
        "modes": {"currentModeId": "a", "availableModes": [{"id": "plan", "name": "Plan"}]}}),
    );
    let params = json!({"sessionId": "S", "configId": "model", "value": "m2"});
    assert_eq!((&last(&host)["method"], &last(&host)["params"]), (&json!("session/set_config_option"), &params));
    answer(&mut host, &json!({"configOptions": []}));
    assert_eq!(last(&host)["params"], json!({"sessionId": "S", "modeId": "plan"}));
    answer(&mut host, &json!({}));
    assert_eq!(last(&host)["method"], "session/prompt");

    let mut host = greeted(Opening { mode: Some("yolo".into()), ..opening() }, &json!({}));
    answer(&mut host, &json!({"sessionId": "S", "modes": {"currentModeId": "a", "availableModes": []}}));
    assert_eq!(host.dialogue.refusal(), Some("the agent does not offer the mode \"yolo\""));
    assert_eq!(host.lines().len(), 2, "no prompt in another mode");
    let more = host.send(HostMessage::Prompt("more".into()));
    assert!(matches!(more, Err(SendError::Unsupported("the agent's session did not begin"))));
    assert_eq!(host.lines().len(), 2, "nor a later one");
}

#[test]
fn questions_are_answered_by_the_kind_of_an_option() {
    let selected = |id: &str| json!({"outcome": {"outcome": "selected", "optionId": id}});
    let cancelled = json!({"outcome": {"outcome": "cancelled"}});
    for (given, expected) in [
        (decided(Decision::Approved), selected("yes")),
        (scoped("always"), selected("ever")),
        (scoped("session"), selected("ever")),
        (decided(Decision::Rejected), selected("no")),
        (decided(Decision::TimedOut), selected("no")),
        (decided(Decision::Cancelled), cancelled.clone()),
    ] {
        let mut host = running();
        let given_decision = given.decision;
        let asked = host.receive(&permission(&json!("a"), &OPTIONS));
        let question = host.dialogue.question(&asked[0].approval_id).unwrap();
        assert_eq!(question.args.unwrap().get(), r#"{"command":"ls"}"#);
        host.answer(&asked[0].approval_id, given).unwrap();
        let ends_work = given_decision == Decision::Cancelled;
        let lines = host.lines();
        let answer = &lines[lines.len() - 1 - usize::from(ends_work)];
        assert_eq!((&answer["id"], &answer["result"]), (&json!("a"), &expected));
        assert_eq!(last(&host)["method"] == "session/cancel", ends_work);
        host.finish();
        assert_eq!(host.decisions().len(), 1);
    }
    // Without options, nothing can be approved, and a rejection is a cancellation.
    let mut host = running();
    let asked = host.receive(&permission(&json!(0), &[]));
    let id = asked[0].approval_id.clone();
    assert!(matches!(host.answer(&id, decided(Decision::Approved)), Err(SendError::Unsupported(_))));
    host.answer(&id, decided(Decision::Rejected)).unwrap();
    assert_eq!(last(&host)["result"], cancelled);
    assert!(
        matches!(host.answer(&id, decided(Decision::Rejected)), Err(SendError::UnknownQuestion(_))),
        "answered once"
    );
}

#[test]
fn an_interrupt_cancels_the_turn_and_its_questions() {
    let mut host = running();
    let prompt = last(&host)["id"].clone();
    host.receive(&permission(&json!(7), &OPTIONS));
    host.send(HostMessage::Interrupt).unwrap();
    let lines = host.lines();
    let [.., cancel, answer] = lines.as_slice() else { panic!("{lines:?}") };
    assert_eq!((&cancel["method"], cancel.get("id")), (&json!("session/cancel"), None));
    assert_eq!((&answer["id"], &answer["result"]["outcome"]["outcome"]), (&json!(7), &json!("cancelled")));
    host.receive(&line(&json!({"jsonrpc": "2.0", "id": prompt, "result": {"stopReason": "cancelled"}})));
    // The end of the run may not be reported yet. The agent has nothing to stop.
    let sent = host.sent.len();
    host.send(HostMessage::Interrupt).unwrap();
    assert_eq!(host.sent.len(), sent);
    host.finish();
    assert_eq!(ends(&host), [EndReason::Interrupted]);
    let decisions = host.frames.iter().filter_map(|frame| match &frame.body {
        Body::ApprovalResolved(answer) => Some(answer.decision),
        _ => None,
    });
    assert_eq!(decisions.collect::<Vec<_>>(), [Decision::Cancelled]);
}

#[test]
fn every_request_of_an_agent_is_answered() {
    let mut host = running();
    let before = host.lines().len();
    let requests =
        ["fs/read_text_file", "fs/write_text_file", "terminal/create", "craft/drainMidTurnQueue", "session/prompt"];
    for nth in 0..2000_usize {
        let method = requests[nth % requests.len()];
        host.receive(&line(&json!({"jsonrpc": "2.0", "id": nth, "method": method,
            "params": {"sessionId": "S", "path": "/../etc/passwd", "command": "rm"}})));
        let refused = last(&host);
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(nth), &json!(-32601)), "{method}");
    }
    assert_eq!(host.lines().len(), before + 2000);
    // A flood of questions: each is open or cancelled, and the end of the turn closes all.
    for nth in 0..2000 {
        host.receive(&permission(&json!(format!("q{nth}")), &OPTIONS));
    }
    let prompt = host.lines().iter().find(|line| line["method"] == "session/prompt").unwrap()["id"].clone();
    host.receive(&line(&json!({"jsonrpc": "2.0", "id": prompt, "result": {"stopReason": "end_turn"}})));
    assert_eq!(host.lines().len(), before + 4000);
    // Outside of a turn, or about another session, a question is cancelled.
    host.receive(&permission(&json!("late"), &OPTIONS));
    assert_eq!(
        (&last(&host)["id"], &last(&host)["result"]["outcome"]["outcome"]),
        (&json!("late"), &json!("cancelled"))
    );
}

#[test]
fn a_question_that_the_agent_withdraws_is_answered() {
    let mut host = running();
    host.receive(&permission(&json!(3), &OPTIONS));
    host.receive(&line(&json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": 3}})));
    assert_eq!((&last(&host)["id"], &last(&host)["result"]["outcome"]["outcome"]), (&json!(3), &json!("cancelled")));
    host.finish();
    assert_eq!(host.decisions(), ["cancelled by runner"]);
}

#[test]
fn a_request_whose_id_is_null_is_answered() {
    let mut host = running();
    host.receive(&line(&json!({"jsonrpc": "2.0", "id": null, "method": "_own/question", "params": {}})));
    let before = host.lines().len();
    host.receive(&line(&json!({"jsonrpc": "2.0", "id": null, "method": "own/question", "params": {}})));
    assert_eq!((host.lines().len(), &last(&host)["id"]), (before + 1, &json!(null)));
    assert_eq!(last(&host)["error"]["code"], -32601);
    let asked = host.receive(&permission(&json!(null), &OPTIONS));
    host.answer(&asked[0].approval_id, decided(Decision::Approved)).unwrap();
    assert_eq!((&last(&host)["id"], &last(&host)["result"]["outcome"]["optionId"]), (&json!(null), &json!("yes")));
}

#[test]
fn a_call_that_was_refused_or_left_unanswered_did_not_run() {
    let failed = update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "failed"}));
    for decision in [Some(Decision::Approved), Some(Decision::Rejected), None] {
        let mut host = running();
        let asked = host.receive(&permission(&json!(0), &OPTIONS));
        match decision {
            Some(decision) => host.answer(&asked[0].approval_id, decided(decision)).unwrap(),
            None => host.send(HostMessage::Interrupt).unwrap(),
        }
        host.receive(&failed);
        let ran = host.frames.iter().any(|frame| matches!(frame.body, Body::ToolEnded { exit_code: 1, .. }));
        let refused = host.frames.iter().any(|frame| matches!(frame.body, Body::ToolFailed { .. }));
        assert_eq!((ran, refused), (decision == Some(Decision::Approved), decision != Some(Decision::Approved)));
    }
}

#[test]
fn a_run_begins_with_its_prompt() {
    let mut host = running();
    let begins = host.frames.iter().any(|frame| matches!(&frame.body, Body::SessionStarted { input } if input == "go"));
    assert!(begins, "{:?}", host.frames);
    // Nothing was said in it yet, and the next prompt begins another run.
    answer(&mut host, &json!({"stopReason": "end_turn"}));
    host.send(HostMessage::Prompt("again".into())).unwrap();
    let begun = || host.frames.iter().filter(|frame| matches!(frame.body, Body::SessionStarted { .. })).count();
    assert_eq!((begun(), ends(&host)), (2, vec![EndReason::Completed]));
}

#[test]
fn what_only_a_client_may_send_changes_no_run() {
    let says = |session: &str, text: &str| {
        line(&json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session,
            "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}}}))
    };
    let mut host = running();
    host.receive(&says("T", "of another session"));
    host.receive(&line(&json!({"jsonrpc": "2.0", "id": "prompt-99", "result": {"stopReason": "end_turn"}})));
    host.receive(&line(&json!({"jsonrpc": "2.0", "id": 7, "method": "session/prompt",
        "params": {"sessionId": "S", "prompt": [{"type": "text", "text": "forged"}]}})));
    host.receive(&line(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": "S"}})));
    host.receive(&line(&json!({"jsonrpc": "2.0", "id": 7, "result": {"stopReason": "cancelled"}})));
    host.receive(&permission(&json!(0), &OPTIONS));
    host.receive(&line(&json!({"jsonrpc": "2.0", "id": 0,
        "result": {"outcome": {"outcome": "selected", "optionId": "yes"}}})));
    host.receive(&update(&json!({"sessionUpdate": "state_update", "state": "running"})));
    host.receive(&says("S", "done"));
    assert_eq!(ends(&host), []);
    let prompt = host.lines().iter().find(|line| line["method"] == "session/prompt").unwrap()["id"].clone();
    host.receive(&line(&json!({"jsonrpc": "2.0", "id": prompt, "result": {"stopReason": "end_turn"}})));
    host.receive(&says("S", "late"));
    host.finish();
    assert_eq!(ends(&host), [EndReason::Completed]);
    assert_eq!(host.decisions(), ["cancelled by runner"]);
    let final_texts = host.frames.iter().filter_map(|frame| match &frame.body {
        Body::SessionEnded(end) => Some(end.final_text.clone()),
        _ => None,
    });
    assert_eq!(final_texts.collect::<Vec<_>>(), [Some("done".to_owned())]);
    let inputs = host.frames.iter().filter_map(|frame| match &frame.body {
        Body::SessionStarted { input } => Some(input.as_str()),
        _ => None,
    });
    assert_eq!(inputs.collect::<Vec<_>>(), ["go"]);
}

#[test]
fn answers_that_nobody_asked_for_change_nothing() {
    let mut host = running();
    let before = host.lines();
    for id in [json!(0), json!("request-99"), json!("request-1"), json!(null), json!(2)] {
        host.receive(&line(&json!({"jsonrpc": "2.0", "id": id, "result": {"sessionId": "T", "protocolVersion": 9}})));
    }
    assert_eq!(host.lines(), before);
    assert_eq!(host.dialogue.refusal(), None);
    assert!(host.dialogue.send(Some("T"), &HostMessage::Interrupt).is_err(), "the session is still the first one");
}

#[test]
fn a_failed_prompt_is_a_failed_run_and_the_session_goes_on() {
    let mut host = running();
    host.send(HostMessage::Prompt("again".into())).unwrap();
    fail(&mut host, -32602, "the prompt is wrong");
    assert_eq!(last(&host)["params"]["prompt"][0]["text"], "again");
    answer(&mut host, &json!({"stopReason": "end_turn"}));
    host.finish();
    assert_eq!(ends(&host), [EndReason::Failed, EndReason::Completed]);
}

#[test]
fn forms_are_filled_in() {
    let mut host = running();
    let asked = host.receive(&line(&json!({"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {
        "sessionId": "S", "mode": "form", "message": "Which?",
        "requestedSchema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}})));
    let id = asked[0].approval_id.clone();
    assert!(host.dialogue.question(&id).unwrap().wants_answers);
    assert!(matches!(host.answer(&id, chosen(&[&["x"]])), Err(SendError::InvalidAnswer(_))));
    host.answer(&id, chosen(&[&["2"]])).unwrap();
    assert_eq!(last(&host)["result"], json!({"action": "accept", "content": {"n": 2}}));
}

#[test]
fn an_image_is_only_sent_to_an_agent_that_takes_images() {
    let image = PromptFile { media_type: "image/png".into(), name: None, content: FileContent::Base64("AAAA".into()) };
    let with = || Opening { files: vec![image.clone()], ..opening() };
    let mut host = greeted(with(), &json!({"promptCapabilities": {"image": true}}));
    answer(&mut host, &json!({"sessionId": "S"}));
    let block = json!({"type": "image", "mimeType": "image/png", "data": "AAAA"});
    assert_eq!(last(&host)["params"]["prompt"][0], block);
    let mut host = greeted(with(), &json!({}));
    answer(&mut host, &json!({"sessionId": "S"}));
    assert_eq!(host.dialogue.refusal(), Some("the agent takes no images"));
}
