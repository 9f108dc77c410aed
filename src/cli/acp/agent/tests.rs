//! Tests of the agent: what it sends and asks for, line by line and report by report.

use super::*;
use crate::cli::acp::modes::tests::listed;
use crate::cli::acp::rpc::{INVALID_PARAMS, RESOURCE_NOT_FOUND};

const RUN: Uuid = Uuid::from_u128(7);
const PLACE: Uuid = Uuid::from_u128(8);

fn agent() -> Agent {
    agent_with(SETTINGS)
}

const SETTINGS: Settings = Settings {
    upstream: String::new(),
    models: Vec::new(),
    modes: Vec::new(),
    sends_cwd: true,
    clock: Clock::Fixed(1000),
};

fn agent_with(settings: Settings) -> Agent {
    agent_of(settings, Vec::new())
}

/// An agent whose upstream offers these modes.
fn agent_of(settings: Settings, modes: Vec<Mode>) -> Agent {
    let mut agent = Agent::new(settings, Sessions::default());
    let check = ask(&mut agent, json!(0), "initialize", json!({"protocolVersion": 1, "clientCapabilities": {}}));
    assert_eq!(check, [Action::Check { request: json!(0) }]);
    let outcome = Ok(Abilities { takes_images: true, modes, mode: None });
    let actions = agent.report(Report::Checked { request: json!(0), outcome });
    assert_eq!(result(&actions)["protocolVersion"], 1);
    assert_eq!(result(&actions)["agentCapabilities"]["promptCapabilities"]["image"], true);
    agent
}

fn text_prompt(text: &str) -> Prompt {
    Prompt { text: text.to_owned(), files: Vec::new() }
}

fn send(agent: &mut Agent, message: &Value) -> Vec<Action> {
    agent.line(&Line::Whole(message.to_string().into_bytes()))
}

fn ask(agent: &mut Agent, id: Value, method: &str, params: Value) -> Vec<Action> {
    send(agent, &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
}

fn tell(agent: &mut Agent, method: &str, params: Value) -> Vec<Action> {
    send(agent, &json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

/// The only message among the actions.
fn sent(actions: &[Action]) -> &Value {
    let mut messages = actions.iter().filter_map(|action| match action {
        Action::Send(message) => Some(message),
        _ => None,
    });
    let message = messages.next().unwrap_or_else(|| panic!("nothing was sent: {actions:?}"));
    assert!(messages.next().is_none(), "several messages: {actions:?}");
    message
}

fn result(actions: &[Action]) -> &Value {
    sent(actions).get("result").unwrap_or_else(|| panic!("no result: {actions:?}"))
}

fn code(actions: &[Action]) -> i64 {
    sent(actions)["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {actions:?}"))
}

fn session(agent: &mut Agent) -> String {
    let actions = ask(agent, json!(1), "session/new", json!({"cwd": "/work", "mcpServers": []}));
    result(&actions)["sessionId"].as_str().unwrap().to_owned()
}

fn prompt(agent: &mut Agent, session: &str, text: &str) -> Vec<Action> {
    let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]});
    ask(agent, json!(2), "session/prompt", prompt)
}

/// A session with a run in progress, and its turn.
fn at_work(agent: &mut Agent) -> (String, u64) {
    let session = session(agent);
    let turn = turn_of(&prompt(agent, &session, "Go"));
    let outcome = Ok(Started { run_id: RUN, session_id: PLACE });
    agent.report(Report::Started { turn, outcome });
    (session, turn)
}

fn turn_of(actions: &[Action]) -> u64 {
    match actions {
        [Action::Start { turn, .. }] => *turn,
        other => panic!("no run is started: {other:?}"),
    }
}

fn event(agent: &mut Agent, turn: u64, event: Value) -> Vec<Action> {
    agent.report(Report::Event { turn, event })
}

fn question(agent: &mut Agent, turn: u64, approval: &str) -> Value {
    let params = json!({"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": []});
    let asked = event(agent, turn, json!({"id": approval, "method": "session/request_permission", "params": params}));
    sent(&asked)["id"].clone()
}

fn chosen(id: &Value, option: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": {"outcome": "selected", "optionId": option}}})
}

fn answer() -> Value {
    json!({"jsonrpc": "2.0", "id": RUN.to_string(), "result": {"stopReason": "end_turn", "usage": {"totalTokens": 3}}})
}

fn failure() -> Value {
    json!({"jsonrpc": "2.0", "id": RUN.to_string(), "error": {"code": -32603, "message": "lost", "data": {"code": "stream_ended"}}})
}

#[test]
fn a_prompt_is_a_run_of_the_sessions_directory_and_its_messages_are_the_turn() {
    let mut agent = agent();
    let session = session(&mut agent);
    let actions = prompt(&mut agent, &session, "Fix it\nplease");
    let order = OrderKey {
        prompt: text_prompt("Fix it\nplease"),
        session_id: None,
        cwd: Some("/work".to_owned()),
        model: None,
        mode: None,
    };
    let turn = turn_of(&actions);
    assert_eq!(actions, [Action::Start { turn, order: order.clone() }]);
    // While the run begins and works, there is no second turn.
    assert_eq!(code(&prompt(&mut agent, &session, "More")), i64::from(INVALID_REQUEST));
    let actions = agent.report(Report::Started { turn, outcome: Ok(Started { run_id: RUN, session_id: PLACE }) });
    assert_eq!(sent(&actions)["params"]["update"], json!({"sessionUpdate": "session_info_update", "title": "Fix it"}));
    assert!(matches!(&actions[1], Action::Remember(record) if record.session_id == PLACE && record.title == "Fix it"));
    let update = json!({"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "plan"}}});
    assert_eq!(sent(&event(&mut agent, turn, update))["params"]["sessionId"], session.as_str());
    let actions = event(&mut agent, turn, answer());
    assert_eq!((&sent(&actions)["id"], &result(&actions)["stopReason"]), (&json!(2), &json!("end_turn")));
    // Nothing follows the answer, and the session goes on at the proxy.
    assert!(event(&mut agent, turn, answer()).is_empty());
    assert!(agent.report(Report::Ended { turn, reason: "over".to_owned() }).is_empty());
    let actions = prompt(&mut agent, &session, "More");
    let order = OrderKey { prompt: text_prompt("More"), session_id: Some(PLACE), ..order };
    assert_eq!(actions, [Action::Start { turn: turn_of(&actions), order }]);
}

#[test]
fn each_answer_to_a_question_is_a_decision() {
    let decided = |answer: &dyn Fn(&Value) -> Value| {
        let mut agent = agent();
        let (_, turn) = at_work(&mut agent);
        let id = question(&mut agent, turn, "a1");
        let answer = answer(&id);
        let actions = send(&mut agent, &answer);
        // The same answer again is no news, and neither is that the proxy takes note of the decision.
        assert!(send(&mut agent, &answer).is_empty());
        let withdrawn = json!({"method": "$/cancel_request", "params": {"requestId": "a1"}});
        assert!(event(&mut agent, turn, withdrawn).is_empty());
        match actions.last() {
            Some(Action::Decide { run: RUN, approval, decision }) if approval == "a1" => decision.clone(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(decided(&|id| chosen(id, "allow_once")), json!({"decision": "approved"}));
    assert_eq!(decided(&|id| chosen(id, "allow_always")), json!({"decision": "approved", "scope": "session"}));
    assert_eq!(decided(&|id| chosen(id, "reject_once")), json!({"decision": "rejected"}));
    assert_eq!(decided(&|id| chosen(id, "whatever")), json!({"decision": "rejected"}));
    let cancelled = |id: &Value| json!({"id": id, "result": {"outcome": {"outcome": "cancelled"}}});
    assert_eq!(decided(&cancelled), json!({"decision": "cancelled"}));
    let failed = |id: &Value| json!({"id": id, "error": {"code": -32601, "message": "cannot ask"}});
    assert_eq!(decided(&failed), json!({"decision": "rejected", "reason": "cannot ask"}));
}

#[test]
fn an_answer_that_is_refused_is_followed_by_weaker_ones() {
    let mut agent = agent();
    let refused = |agent: &mut Agent, decision: Value| {
        let report =
            Report::NotDecided { run: RUN, approval: "a".to_owned(), decision, reason: "not offered".to_owned() };
        agent.report(report).into_iter().find_map(|action| match action {
            Action::Decide { decision, .. } => Some(decision),
            _ => None,
        })
    };
    let mut decision = json!({"decision": "approved", "scope": "session"});
    let mut given = Vec::new();
    while let Some(next) = refused(&mut agent, decision) {
        given.push(next["decision"].as_str().unwrap().to_owned());
        decision = next;
    }
    assert_eq!(given, ["approved", "rejected", "cancelled"]);
}

#[test]
fn a_question_that_is_over_is_withdrawn_unless_the_client_answered_it() {
    let mut agent = agent();
    let (_, turn) = at_work(&mut agent);
    let (one, two) = (question(&mut agent, turn, "a1"), question(&mut agent, turn, "a2"));
    assert_ne!(one, two);
    let actions = event(&mut agent, turn, json!({"method": "$/cancel_request", "params": {"requestId": "a1"}}));
    assert_eq!(sent(&actions), &json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": one}}));
    // An answer after that is ignored.
    assert!(send(&mut agent, &chosen(&one, "allow_once")).is_empty());
    // A turn does not end before its questions, not even if the proxy is lost.
    let actions = agent.report(Report::Ended { turn, reason: "the proxy is gone".to_owned() });
    let messages: Vec<&Value> = actions.iter().map(|action| sent(std::slice::from_ref(action))).collect();
    assert_eq!((messages[0]["params"]["requestId"].clone(), messages[1]["id"].clone()), (two, json!(2)));
    assert_eq!(messages[1]["error"]["message"], "the proxy is gone");
}

#[test]
fn a_cancelled_turn_is_answered_as_cancelled_however_it_ends() {
    for (end, usage) in [(answer(), json!({"totalTokens": 3})), (failure(), Value::Null)] {
        let mut agent = agent();
        let (session, turn) = at_work(&mut agent);
        let cancel = json!({"sessionId": session});
        assert_eq!(tell(&mut agent, "session/cancel", cancel.clone()), [Action::Interrupt { run: RUN }]);
        assert!(tell(&mut agent, "session/cancel", cancel.clone()).is_empty());
        let actions = event(&mut agent, turn, end);
        assert_eq!((&result(&actions)["stopReason"], &result(&actions)["usage"]), (&json!("cancelled"), &usage));
        assert!(tell(&mut agent, "session/cancel", cancel).is_empty());
    }
    // Without the proxy.
    let mut agent = self::agent();
    let (session, turn) = at_work(&mut agent);
    tell(&mut agent, "session/cancel", json!({"sessionId": session}));
    let actions = agent.report(Report::NotInterrupted { run: RUN, reason: "lost".to_owned() });
    assert_eq!(result(&actions)["stopReason"], "cancelled");
    assert!(event(&mut agent, turn, answer()).is_empty());
    // Before the run begins, and by the id of the request.
    let mut agent = self::agent();
    let session = self::session(&mut agent);
    let turn = turn_of(&prompt(&mut agent, &session, "Go"));
    assert!(tell(&mut agent, "$/cancel_request", json!({"requestId": 2})).is_empty());
    let actions = agent.report(Report::Started { turn, outcome: Ok(Started { run_id: RUN, session_id: PLACE }) });
    assert!(actions.contains(&Action::Interrupt { run: RUN }));
    let actions = agent.report(Report::Ended { turn, reason: "lost".to_owned() });
    assert_eq!(result(&actions)["stopReason"], "cancelled");
}

#[test]
fn a_run_that_cannot_be_started_or_fails_is_an_error_of_the_prompt() {
    let mut agent = agent();
    let session = session(&mut agent);
    let turn = turn_of(&prompt(&mut agent, &session, "Go"));
    let actions = agent.report(Report::Started { turn, outcome: Err("no such program".to_owned()) });
    assert_eq!(sent(&actions)["error"], json!({"code": INTERNAL_ERROR, "message": "no such program"}));
    let turn = turn_of(&prompt(&mut agent, &session, "Go"));
    agent.report(Report::Started { turn, outcome: Ok(Started { run_id: RUN, session_id: PLACE }) });
    let actions = event(&mut agent, turn, failure());
    assert_eq!((&sent(&actions)["id"], &sent(&actions)["error"]["data"]["code"]), (&json!(2), &json!("stream_ended")));
}

#[test]
fn requests_that_do_not_fit_are_refused_with_what_is_wrong() {
    let mut early = Agent::new(agent().settings, Sessions::default());
    assert_eq!(code(&ask(&mut early, json!(1), "session/new", json!({"cwd": "/"}))), i64::from(INVALID_REQUEST));
    assert_eq!(code(&ask(&mut early, json!(1), "initialize", json!({}))), i64::from(INVALID_PARAMS));
    let mut agent = agent();
    let open = session(&mut agent);
    for (method, params, expected) in [
        ("session/new", json!({"cwd": "relative"}), INVALID_PARAMS),
        ("session/new", json!({"cwd": format!("/{}", "x".repeat(4096))}), INVALID_PARAMS),
        ("session/new", json!({}), INVALID_PARAMS),
        ("session/new", json!([]), INVALID_PARAMS),
        ("session/prompt", json!({"sessionId": "other", "prompt": []}), RESOURCE_NOT_FOUND),
        ("session/prompt", json!({"sessionId": open, "prompt": []}), INVALID_PARAMS),
        ("session/prompt", json!({"sessionId": 7, "prompt": []}), INVALID_PARAMS),
        ("session/load", json!({"sessionId": "other", "cwd": "/"}), RESOURCE_NOT_FOUND),
        ("session/set_config_option", json!({"sessionId": open, "configId": "model", "value": "m"}), INVALID_PARAMS),
        ("session/set_mode", json!({"sessionId": open, "modeId": "m"}), INVALID_PARAMS),
        ("authenticate", json!({"methodId": "m"}), INVALID_PARAMS),
        ("_own/method", Value::Null, METHOD_NOT_FOUND),
    ] {
        let actions = ask(&mut agent, json!("x"), method, params.clone());
        assert_eq!((code(&actions), &sent(&actions)["id"]), (i64::from(expected), &json!("x")), "{method} {params}");
    }
    assert_eq!(code(&agent.line(&Line::TooLong(9))), i64::from(PARSE_ERROR));
    assert!(tell(&mut agent, "_own/notification", Value::Null).is_empty());
    assert!(send(&mut agent, &json!({"id": 99, "result": {}})).is_empty());
}

#[test]
fn an_upstream_that_is_missing_is_reported_to_initialize() {
    let mut agent = agent();
    let actions = agent.report(Report::Checked { request: json!(5), outcome: Err("no upstream".to_owned()) });
    assert_eq!((&sent(&actions)["id"], &sent(&actions)["error"]["message"]), (&json!(5), &json!("no upstream")));
}

#[test]
fn the_client_chooses_among_the_models_of_the_command_line() {
    let models = vec!["small".to_owned(), "large".to_owned()];
    let mut agent = agent_with(Settings { models, ..SETTINGS });
    let actions = ask(&mut agent, json!(1), "session/new", json!({"cwd": "/"}));
    let option = &result(&actions)["configOptions"][0];
    assert_eq!((&option["currentValue"], option["options"].as_array().unwrap().len()), (&json!("small"), 2));
    let session = result(&actions)["sessionId"].as_str().unwrap().to_owned();
    let choose = |agent: &mut Agent, model: &str| {
        let params = json!({"sessionId": session, "configId": "model", "value": model});
        ask(agent, json!(1), "session/set_config_option", params)
    };
    assert_eq!(code(&choose(&mut agent, "huge")), i64::from(INVALID_PARAMS));
    let model = |actions: Vec<Action>| match &actions[..] {
        [Action::Start { order, .. }] => order.model.clone().unwrap(),
        other => panic!("{other:?}"),
    };
    let actions = prompt(&mut agent, &session, "Go");
    let turn = turn_of(&actions);
    assert_eq!(model(actions), "small");
    agent.report(Report::Ended { turn, reason: String::new() });
    assert_eq!(result(&choose(&mut agent, "large"))["configOptions"][0]["currentValue"], "large");
    assert_eq!(model(prompt(&mut agent, &session, "Go")), "large");
}

/// The mode of the run that a prompt starts, which is then over.
fn mode_of_prompt(agent: &mut Agent, session: &str) -> Option<String> {
    let actions = prompt(agent, session, "Go");
    let turn = turn_of(&actions);
    agent.report(Report::Ended { turn, reason: String::new() });
    match &actions[..] {
        [Action::Start { order, .. }] => order.mode.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_client_chooses_a_mode_by_either_of_two_requests() {
    let mut agent = agent_of(SETTINGS, listed(&["default", "plan"]));
    let actions = ask(&mut agent, json!(1), "session/new", json!({"cwd": "/"}));
    let modes = &result(&actions)["modes"];
    assert_eq!(
        (&modes["currentModeId"], modes["availableModes"].as_array().unwrap().len()),
        (&json!("as-configured"), 3)
    );
    assert_eq!(result(&actions)["configOptions"][0]["id"], "mode");
    let session = result(&actions)["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(mode_of_prompt(&mut agent, &session), None);
    let set = |agent: &mut Agent, mode: &str| {
        ask(agent, json!(1), "session/set_mode", json!({"sessionId": session, "modeId": mode}))
    };
    let refused = set(&mut agent, "bypassPermissions");
    assert_eq!(code(&refused), i64::from(INVALID_PARAMS));
    assert!(sent(&refused)["error"]["message"].as_str().unwrap().contains("there are as-configured, default, plan"));
    let messages = |actions: Vec<Action>| {
        actions
            .into_iter()
            .map(|action| match action {
                Action::Send(message) => message,
                other => panic!("{other:?}"),
            })
            .collect::<Vec<_>>()
    };
    let both = messages(set(&mut agent, "plan"));
    assert_eq!(both[0]["params"]["update"]["configOptions"][0]["currentValue"], "plan");
    assert_eq!((both.len(), &both[1]["result"]), (2, &json!({})));
    assert_eq!(mode_of_prompt(&mut agent, &session).as_deref(), Some("plan"));
    let option = json!({"sessionId": session, "configId": "mode", "value": "default"});
    let both = messages(ask(&mut agent, json!(1), "session/set_config_option", option));
    assert_eq!(
        both[0]["params"]["update"],
        json!({"sessionUpdate": "current_mode_update", "currentModeId": "default"})
    );
    assert_eq!(both[1]["result"]["configOptions"][0]["currentValue"], "default");
    assert_eq!(mode_of_prompt(&mut agent, &session).as_deref(), Some("default"));
    // A session that is opened again has its mode.
    let again = ask(&mut agent, json!(3), "session/resume", json!({"sessionId": session, "cwd": "/"}));
    assert_eq!(result(&again)["modes"]["currentModeId"], "default");
}

#[test]
fn a_mode_of_the_command_line_that_the_upstream_does_not_offer_is_reported_to_initialize() {
    let mut agent = agent();
    agent.settings.modes = vec!["plan".to_owned()];
    let outcome = Ok(Abilities { modes: listed(&["default"]), ..Abilities::default() });
    let actions = agent.report(Report::Checked { request: json!(5), outcome });
    assert!(sent(&actions)["error"]["message"].as_str().unwrap().contains("does not offer the mode \"plan\""));
}

#[test]
fn a_history_comes_before_the_answer_and_a_run_in_progress_goes_on() {
    let mut agent = agent();
    let place = PLACE.to_string();
    let params = json!({"sessionId": place, "cwd": "/", "mcpServers": []});
    let actions = ask(&mut agent, json!(3), "session/load", params.clone());
    let [Action::Load { load, session_id: PLACE, replays: true }] = actions[..] else { panic!("{actions:?}") };
    assert_eq!(code(&ask(&mut agent, json!(4), "session/load", params)), i64::from(INVALID_REQUEST));
    let update = json!({"method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "plan"}}});
    let history = |agent: &mut Agent, event: Value| agent.report(Report::History { load, event });
    assert_eq!(sent(&history(&mut agent, update.clone()))["params"]["sessionId"], place.as_str());
    // Answers and questions of the past are no news.
    assert!(history(&mut agent, answer()).is_empty());
    let asked = json!({"id": "a", "method": "session/request_permission", "params": {}});
    assert!(history(&mut agent, asked).is_empty());
    let open = Open { run: RUN, after: Some(4) };
    let actions = agent.report(Report::Loaded { load, outcome: Ok(Some(Some(open))) });
    assert_eq!(sent(&actions), &json!({"jsonrpc": "2.0", "id": 3, "result": {}}));
    let Some(&Action::Follow { turn, run: RUN, after: Some(4) }) = actions.last() else { panic!("{actions:?}") };
    // The client sees and answers the questions of the run, can cancel it, and gets no answer for a prompt of another client.
    assert_eq!(code(&prompt(&mut agent, &place, "Go")), i64::from(INVALID_REQUEST));
    let id = question(&mut agent, turn, "a1");
    assert_eq!(send(&mut agent, &chosen(&id, "allow_once")).len(), 1);
    assert_eq!(tell(&mut agent, "session/cancel", json!({"sessionId": place})), [Action::Interrupt { run: RUN }]);
    assert!(event(&mut agent, turn, answer()).is_empty());
    turn_of(&prompt(&mut agent, &place, "Go"));
}

#[test]
fn a_session_that_cannot_be_read_is_not_open() {
    for (outcome, expected) in [(Ok(None), RESOURCE_NOT_FOUND), (Err("no".to_owned()), INTERNAL_ERROR)] {
        let mut agent = agent();
        let params = json!({"sessionId": PLACE.to_string(), "cwd": "/"});
        let actions = ask(&mut agent, json!(3), "session/resume", params);
        let [Action::Load { load, replays: false, .. }] = actions[..] else { panic!("{actions:?}") };
        assert_eq!(code(&agent.report(Report::Loaded { load, outcome })), i64::from(expected));
        assert_eq!(code(&prompt(&mut agent, &PLACE.to_string(), "Go")), i64::from(RESOURCE_NOT_FOUND));
    }
}

#[test]
fn a_closed_session_ends_its_turn_and_can_be_opened_again() {
    let mut agent = agent();
    let (session, turn) = at_work(&mut agent);
    let actions = ask(&mut agent, json!(3), "session/close", json!({"sessionId": session}));
    assert_eq!(actions[0], Action::Interrupt { run: RUN });
    assert_eq!(result(&actions), &json!({}));
    assert_eq!(result(&event(&mut agent, turn, answer()))["stopReason"], "cancelled");
    assert_eq!(code(&prompt(&mut agent, &session, "Go")), i64::from(RESOURCE_NOT_FOUND));
    let list = ask(&mut agent, json!(4), "session/list", json!({}));
    assert_eq!(result(&list)["sessions"][0]["sessionId"], session.as_str());
    let params = json!({"sessionId": session, "cwd": "/work", "mcpServers": []});
    let load = ask(&mut agent, json!(5), "session/load", params);
    assert!(matches!(load[..], [Action::Load { session_id: PLACE, .. }]), "{load:?}");
}

#[test]
fn what_the_client_has_is_not_sent_again() {
    let mut agent = agent();
    let (session, turn) = at_work(&mut agent);
    let asked = question(&mut agent, turn, "a1");
    let params = json!({"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": []});
    let repeated = json!({"id": "a1", "method": "session/request_permission", "params": params});
    assert!(event(&mut agent, turn, repeated).is_empty(), "the question waits already");
    let decided = send(&mut agent, &chosen(&asked, "allow_once"));
    assert!(matches!(&decided[..], [Action::Decide { approval, .. }] if approval == "a1"));
    let echo = |kind: &str| {
        let update = json!({"sessionUpdate": kind, "content": {"type": "text", "text": "Go"}});
        json!({"method": "session/update", "params": {"sessionId": "s", "update": update}})
    };
    assert!(event(&mut agent, turn, echo("user_message_chunk")).is_empty(), "it is the client's own prompt");
    assert_eq!(event(&mut agent, turn, echo("agent_message_chunk")).len(), 1);
    // In a run that another client began, the prompt is news.
    event(&mut agent, turn, answer());
    let load = json!({"sessionId": session, "cwd": "/work", "mcpServers": []});
    ask(&mut agent, json!(3), "session/load", load);
    let load = *agent.loads.keys().next().unwrap();
    let followed = agent.report(Report::Loaded { load, outcome: Ok(Some(Some(Open { run: RUN, after: None }))) });
    let turn = followed.iter().find_map(|action| match action {
        Action::Follow { turn, .. } => Some(*turn),
        _ => None,
    });
    assert_eq!(event(&mut agent, turn.unwrap(), echo("user_message_chunk")).len(), 1);
}
