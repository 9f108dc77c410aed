//! Tests of the conversation: what it writes and asks for, line by line and report by report.

use super::*;
use hyper::StatusCode;
use serde_json::json;

const RUN: Uuid = Uuid::from_u128(7);
const PLACE: Uuid = Uuid::from_u128(8);

fn settings() -> Settings {
    Settings {
        upstream: "fake".to_owned(),
        cwd: Some("/work".to_owned()),
        shown_cwd: "/work".to_owned(),
        model: None,
        has_partial_messages: false,
        repeats_prompts: false,
        max_turns: None,
        states: States::None,
        names_sessions: false,
        clock: Clock::Fixed(1000),
    }
}

fn with(settings: Settings, answerer: Answerer) -> Conversation {
    let permissions = Permissions { answerer, ..Permissions::default() };
    Conversation::new(settings, permissions, Session::default(), Vec::new())
}

fn conversation() -> Conversation {
    with(settings(), Answerer::Client)
}

fn send(conversation: &mut Conversation, message: &Value) -> Vec<Action> {
    conversation.line(&Line::Whole(message.to_string().into_bytes()))
}

fn prompt(conversation: &mut Conversation, text: &str) -> Vec<Action> {
    let message = json!({"role": "user", "content": [{"type": "text", "text": text}]});
    send(conversation, &json!({"type": "user", "message": message, "uuid": format!("id of {text}")}))
}

fn request(conversation: &mut Conversation, request: Value) -> Vec<Action> {
    send(conversation, &json!({"type": "control_request", "request_id": "r", "request": request}))
}

fn answer(conversation: &mut Conversation, request: &str, response: Value) -> Vec<Action> {
    let response = json!({"subtype": "success", "request_id": request, "response": response});
    send(conversation, &json!({"type": "control_response", "response": response}))
}

fn begun(conversation: &mut Conversation, turn: u64) -> Vec<Action> {
    let started = Started { run_id: RUN, session_id: PLACE };
    conversation.report(Report::Started { turn, outcome: Ok((started, "name".to_owned())) })
}

fn event(conversation: &mut Conversation, turn: u64, event: Value) -> Vec<Action> {
    conversation.report(Report::Event { turn, event: Fields::of(&event) })
}

fn result(conversation: &mut Conversation, turn: u64) -> Vec<Action> {
    let end = json!({"type": "result", "subtype": "success", "is_error": false, "result": "ok", "session_id": PLACE});
    event(conversation, turn, end)
}

fn ask(conversation: &mut Conversation, approval: &str) -> Vec<Action> {
    let asked = json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": "ls"}, "tool_use_id": "t"});
    event(conversation, 1, json!({"type": "control_request", "request_id": approval, "request": asked}))
}

fn written(actions: &[Action]) -> Vec<Value> {
    let messages = actions.iter().filter_map(|action| match action {
        Action::Write(message) => Some(serde_json::from_str(&message.line()).unwrap()),
        _ => None,
    });
    messages.collect()
}

fn orders(actions: &[Action]) -> Vec<&Order> {
    let orders = actions.iter().filter_map(|action| match action {
        Action::Start(_, order) => Some(order),
        _ => None,
    });
    orders.collect()
}

fn decisions(actions: &[Action]) -> Vec<(&str, &Value)> {
    let decisions = actions.iter().filter_map(|action| match action {
        Action::Decide { approval, decision, .. } => Some((approval.as_str(), decision)),
        _ => None,
    });
    decisions.collect()
}

fn interruptions(actions: &[Action]) -> usize {
    actions.iter().filter(|action| matches!(action, Action::Interrupt { run, .. } if *run == RUN)).count()
}

#[test]
fn prompts_are_runs_one_after_the_other() {
    let mut conversation = conversation();
    let actions = prompt(&mut conversation, "one");
    let order = orders(&actions)[0];
    assert_eq!((order.upstream.as_str(), order.prompt.as_str()), ("fake", "one"));
    assert_eq!((&order.session_id, order.cwd.as_deref()), (&None, Some("/work")));
    assert!(prompt(&mut conversation, "two").is_empty(), "one run at a time");
    let remembered = begun(&mut conversation, 1);
    assert!(matches!(&remembered[..], [Action::Remember { shown, session }]
        if *shown == PLACE.to_string() && *session == PLACE.to_string()));
    let actions =
        event(&mut conversation, 1, json!({"type": "system", "subtype": "init", "session_id": PLACE, "cwd": ""}));
    assert_eq!(
        (&written(&actions)[0]["cwd"], &written(&actions)[0]["permissionMode"]),
        (&json!("/work"), &json!("default"))
    );
    let actions = result(&mut conversation, 1);
    assert_eq!(written(&actions)[0]["result"], "ok");
    let order = orders(&actions)[0];
    assert_eq!((order.prompt.as_str(), order.session_id.clone()), ("two", Some(PLACE.to_string())));
    // What comes of the first run now is late.
    let late = conversation.report(Report::Ended { turn: 1, reason: "over".to_owned() });
    assert!(late.is_empty() && conversation.exit_code().is_none());
    assert!(begun(&mut conversation, 2).is_empty(), "the session is remembered already");
    assert!(conversation.end().is_empty() && conversation.exit_code().is_none());
    result(&mut conversation, 2);
    assert_eq!(conversation.exit_code(), Some(0));
}

#[test]
fn a_run_that_does_not_begin_or_breaks_off_has_a_result() {
    let mut conversation = conversation();
    prompt(&mut conversation, "one");
    prompt(&mut conversation, "two");
    let actions = conversation.report(Report::Started { turn: 1, outcome: Err("no such session".to_owned()) });
    let failure = &written(&actions)[0];
    assert_eq!((&failure["is_error"], &failure["errors"]), (&json!(true), &json!(["no such session"])));
    assert_eq!(orders(&actions)[0].prompt, "two");
    begun(&mut conversation, 2);
    let asked = json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": {}, "tool_use_id": "t"});
    event(&mut conversation, 2, json!({"type": "control_request", "request_id": "a", "request": asked}));
    let actions = conversation.report(Report::Ended { turn: 2, reason: "the proxy is gone".to_owned() });
    let messages = written(&actions);
    assert_eq!(
        (&messages[0]["type"], &messages[1]["errors"][0]),
        (&json!("control_cancel_request"), &json!("the proxy is gone"))
    );
    assert_eq!(messages[1]["session_id"], failure["session_id"], "the session stays the same for the client");
    conversation.end();
    assert_eq!(conversation.exit_code(), Some(1));
}

#[test]
fn the_client_sees_its_own_session_id() {
    let session = Session { shown: Some("mine".to_owned()), continues: Some("theirs".to_owned()) };
    let settings = Settings { names_sessions: true, ..settings() };
    let mut conversation = Conversation::new(settings, Permissions::default(), session, vec!["Be brief.".to_owned()]);
    let actions = prompt(&mut conversation, "one");
    let order = orders(&actions)[0];
    assert_eq!((order.session_id.as_deref(), order.prompt.as_str()), (Some("theirs"), "one"), "no instructions again");
    let actions = begun(&mut conversation, 1);
    assert!(matches!(&actions[..], [Action::Remember { shown, session }] if shown == "mine" && session == "name"));
    assert_eq!(written(&result(&mut conversation, 1))[0]["session_id"], "mine");
}

#[test]
fn instructions_precede_the_first_prompt() {
    let mut conversation =
        Conversation::new(settings(), Permissions::default(), Session::default(), vec!["Be brief.".to_owned()]);
    let initialize =
        json!({"subtype": "initialize", "systemPrompt": [""], "appendSystemPrompt": "And kind.", "hooks": null});
    let actions = request(&mut conversation, initialize.clone());
    let response = &written(&actions)[0]["response"];
    assert_eq!((&response["subtype"], &response["response"]["output_style"]), (&json!("success"), &json!("default")));
    request(&mut conversation, initialize);
    let actions = prompt(&mut conversation, "one");
    assert_eq!(orders(&actions)[0].prompt, "Be brief.\n\nAnd kind.\n\none");
    begun(&mut conversation, 1);
    result(&mut conversation, 1);
    assert_eq!(orders(&prompt(&mut conversation, "two"))[0].prompt, "two");
}

#[test]
fn what_would_have_no_effect_is_refused_at_the_start() {
    let mut conversation = conversation();
    for refused in [
        json!({"hooks": {"PreToolUse": [{"hookCallbackIds": ["hook_0"]}]}}),
        json!({"sdkMcpServers": ["a"]}),
        json!({"jsonSchema": {"type": "object"}}),
        json!({"disallowedTools": ["Bash"]}),
    ] {
        let mut fields = refused.clone();
        fields["subtype"] = json!("initialize");
        let actions = request(&mut conversation, fields);
        assert_eq!(written(&actions)[0]["response"]["subtype"], "error", "{refused}");
        // What was refused may be there to guard the prompts.
        let actions = prompt(&mut conversation, &refused.to_string());
        assert!(orders(&actions).is_empty(), "{refused}");
        let result = written(&actions).pop().unwrap();
        assert!(
            result["is_error"] == true && result["errors"][0].as_str().unwrap().contains("does not support"),
            "{result}"
        );
    }
}

#[test]
fn a_question_is_asked_and_answered() {
    let mut conversation = conversation();
    prompt(&mut conversation, "one");
    begun(&mut conversation, 1);
    let actions = ask(&mut conversation, "0");
    let question = written(&actions)[0].clone();
    let id = question["request_id"].as_str().unwrap().to_owned();
    assert_ne!(id, "0", "runners begin again with 0");
    assert_eq!(question["request"]["input"], json!({"command": "ls"}));
    assert!(ask(&mut conversation, "0").is_empty(), "a question that is repeated after a reconnect");
    let actions = answer(&mut conversation, &id, json!({"behavior": "allow", "updatedInput": {"command": "ls"}}));
    assert_eq!(decisions(&actions), [("0", &json!({"decision": "approved"}))]);
    assert!(answer(&mut conversation, &id, json!({"behavior": "deny", "message": "no"})).is_empty(), "it counts once");
    // The client does not hear that its own answer has settled the question.
    let withdrawn = json!({"type": "control_cancel_request", "request_id": "0"});
    assert!(event(&mut conversation, 1, withdrawn.clone()).is_empty());
    // The same id may be used again, and others may decide.
    let again = written(&ask(&mut conversation, "0"))[0]["request_id"].clone();
    assert_ne!(again, json!(id));
    let actions = event(&mut conversation, 1, withdrawn);
    assert_eq!(written(&actions), [json!({"type": "control_cancel_request", "request_id": again})]);
    assert!(answer(&mut conversation, again.as_str().unwrap(), json!({"behavior": "allow"})).is_empty());
}

#[test]
fn an_answer_that_the_proxy_refuses_is_not_lost() {
    let mut conversation = conversation();
    prompt(&mut conversation, "one");
    begun(&mut conversation, 1);
    let not_decided = |conversation: &mut Conversation, decision: &str, status: u16| {
        let status = StatusCode::from_u16(status).unwrap();
        let detail = "it wants a choice".to_owned();
        let failure = Failure::Refused { status, detail, later: None, available_after: None };
        let decision = json!({"decision": decision});
        conversation.report(Report::NotDecided { turn: 1, run: RUN, approval: "a".to_owned(), decision, failure })
    };
    let actions = not_decided(&mut conversation, "approved", 422);
    let (_, decision) = decisions(&actions)[0];
    assert_eq!(decision["decision"], "rejected");
    assert!(decision["reason"].as_str().unwrap().contains("it wants a choice"));
    assert_eq!(interruptions(&not_decided(&mut conversation, "rejected", 502)), 1);
    assert!(not_decided(&mut conversation, "approved", 409).is_empty(), "the question is over");
    result(&mut conversation, 1);
    assert!(not_decided(&mut conversation, "approved", 422).is_empty(), "the run is over");
}

#[test]
fn questions_that_the_client_cannot_answer_are_decided() {
    for (answerer, expected) in [(Answerer::None, Some("rejected")), (Answerer::Others, None)] {
        let mut conversation = with(settings(), answerer);
        prompt(&mut conversation, "one");
        begun(&mut conversation, 1);
        let actions = ask(&mut conversation, "a");
        assert!(written(&actions).is_empty());
        let decision = decisions(&actions).first().map(|(_, decision)| decision["decision"].clone());
        assert_eq!(decision, expected.map(|word| json!(word)));
        assert!(event(&mut conversation, 1, json!({"type": "control_cancel_request", "request_id": "a"})).is_empty());
    }
    // After its end, the client can answer no more.
    let mut conversation = conversation();
    prompt(&mut conversation, "one");
    begun(&mut conversation, 1);
    ask(&mut conversation, "a");
    let actions = conversation.end();
    assert_eq!(decisions(&actions)[0].1["decision"], "rejected");
    assert_eq!(decisions(&ask(&mut conversation, "b"))[0].1["decision"], "rejected");
}

#[test]
fn the_mode_may_change_within_bounds() {
    let mut conversation = conversation();
    let set = |conversation: &mut Conversation, mode: &str| {
        let actions = request(conversation, json!({"subtype": "set_permission_mode", "mode": mode}));
        written(&actions)[0]["response"]["subtype"].as_str().unwrap().to_owned()
    };
    assert_eq!(set(&mut conversation, "bypassPermissions"), "error", "it was not allowed at the start");
    assert_eq!(set(&mut conversation, "plan"), "error");
    assert_eq!(set(&mut conversation, "dontAsk"), "success");
    prompt(&mut conversation, "one");
    begun(&mut conversation, 1);
    assert_eq!(decisions(&ask(&mut conversation, "a"))[0].1["decision"], "rejected");
    conversation.permissions.may_bypass = true;
    assert_eq!(set(&mut conversation, "bypassPermissions"), "success");
    assert_eq!(decisions(&ask(&mut conversation, "b"))[0].1, &json!({"decision": "approved"}));
}

#[test]
fn the_model_is_that_of_the_next_run() {
    let mut conversation = with(Settings { model: Some("first".to_owned()), ..settings() }, Answerer::None);
    let model = |actions: &[Action]| orders(actions)[0].model.clone();
    assert_eq!(model(&prompt(&mut conversation, "one")).as_deref(), Some("first"));
    request(&mut conversation, json!({"subtype": "set_model", "model": "second"}));
    begun(&mut conversation, 1);
    result(&mut conversation, 1);
    assert_eq!(model(&prompt(&mut conversation, "two")).as_deref(), Some("second"));
    request(&mut conversation, json!({"subtype": "set_model"}));
    begun(&mut conversation, 2);
    result(&mut conversation, 2);
    assert_eq!(model(&prompt(&mut conversation, "three")).as_deref(), Some("first"));
}

#[test]
fn an_interruption_waits_for_the_run_and_names_what_still_waits() {
    let mut conversation = conversation();
    let actions = request(&mut conversation, json!({"subtype": "interrupt"}));
    assert_eq!(written(&actions)[0]["response"]["response"], json!({"still_queued": []}), "nothing to interrupt");
    prompt(&mut conversation, "one");
    prompt(&mut conversation, "two");
    assert!(request(&mut conversation, json!({"subtype": "interrupt"})).is_empty(), "the run has not begun");
    assert_eq!(interruptions(&begun(&mut conversation, 1)), 1);
    let actions = conversation.report(Report::Interrupted { request: Some("r".to_owned()), outcome: Ok(()) });
    assert_eq!(written(&actions)[0]["response"]["response"], json!({"still_queued": ["id of two"]}));
    let actions = conversation
        .report(Report::Interrupted { request: Some("r".to_owned()), outcome: Err("it cannot".to_owned()) });
    assert_eq!(written(&actions)[0]["response"]["error"], "it cannot");
    let actions = request(&mut conversation, json!({"subtype": "interrupt", "cancel_queued": true}));
    let receipt = json!({"still_queued": [], "cancelled": ["id of two"]});
    assert_eq!((&written(&actions)[0]["response"]["response"], interruptions(&actions)), (&receipt, 1));
    assert!(orders(&result(&mut conversation, 1)).is_empty());
}

#[test]
fn a_run_with_too_many_turns_is_interrupted() {
    let mut conversation = with(Settings { max_turns: Some(1), ..settings() }, Answerer::None);
    prompt(&mut conversation, "one");
    begun(&mut conversation, 1);
    let turn = |id: &str, parent: Value| json!({"type": "assistant", "message": {"id": id}, "parent_tool_use_id": parent, "session_id": PLACE});
    assert_eq!(interruptions(&event(&mut conversation, 1, turn("a", Value::Null))), 0);
    assert_eq!(interruptions(&event(&mut conversation, 1, turn("a", Value::Null))), 0, "another block of the same");
    assert_eq!(interruptions(&event(&mut conversation, 1, turn("s", json!("call")))), 0, "a subagent's");
    assert_eq!(interruptions(&event(&mut conversation, 1, turn("b", Value::Null))), 1);
    assert_eq!(interruptions(&event(&mut conversation, 1, turn("c", Value::Null))), 0, "once");
    let end = written(&result(&mut conversation, 1))[0].clone();
    assert_eq!((&end["subtype"], &end["is_error"]), (&json!("error_max_turns"), &json!(true)));
    assert_eq!(end["errors"], json!(["Reached maximum number of turns (1)"]));
    conversation.end();
    assert_eq!(conversation.exit_code(), Some(1));
}

#[test]
fn prompts_are_repeated_with_the_clients_id() {
    let mut conversation = with(Settings { repeats_prompts: true, ..settings() }, Answerer::None);
    prompt(&mut conversation, "one");
    begun(&mut conversation, 1);
    let actions = event(&mut conversation, 1, json!({"type": "system", "subtype": "init", "session_id": PLACE}));
    let repeated = &written(&actions)[1];
    assert_eq!((&repeated["uuid"], &repeated["isReplay"]), (&json!("id of one"), &json!(true)));
    assert_eq!(repeated["message"]["content"][0]["text"], "one");
    let own = json!({"type": "user", "isReplay": true, "session_id": PLACE});
    assert!(event(&mut conversation, 1, own).is_empty(), "it is repeated once");
    assert!(event(&mut conversation, 1, json!({"type": "stream_event"})).is_empty(), "not asked for");
}

#[test]
fn the_state_is_written_when_it_changes() {
    let mut conversation = with(Settings { states: States::Host, ..settings() }, Answerer::Client);
    let states = |actions: &[Action]| {
        let states = written(actions).into_iter().filter(|message| message["subtype"] == "session_state_changed");
        states.map(|message| message["state"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(states(&prompt(&mut conversation, "one")).is_empty(), "there is no session yet");
    prompt(&mut conversation, "two");
    assert_eq!(states(&begun(&mut conversation, 1)), ["running"]);
    let actions = ask(&mut conversation, "a");
    assert_eq!(states(&actions), ["requires_action"]);
    let id = written(&actions)[0]["request_id"].as_str().unwrap().to_owned();
    assert_eq!(states(&answer(&mut conversation, &id, json!({"behavior": "allow"}))), ["running"]);
    assert!(states(&result(&mut conversation, 1)).is_empty(), "the next run begins");
    begun(&mut conversation, 2);
    let actions = result(&mut conversation, 2);
    assert_eq!(states(&actions), ["idle"]);
    assert_eq!(written(&actions)[1]["sdk_host_only"], true, "after the result");
}

#[test]
fn prompts_that_cannot_be_sent_and_too_many_fail() {
    let mut conversation = conversation();
    let audio = json!([{"type": "text", "text": "Listen"}, {"type": "audio", "source": {"data": ""}}]);
    let actions = send(&mut conversation, &json!({"type": "user", "message": {"role": "user", "content": audio}}));
    assert!(written(&actions)[0]["errors"][0].as_str().unwrap().contains("\"audio\""));
    assert!(orders(&actions).is_empty());
    for at in 0..=1000 {
        assert!(written(&prompt(&mut conversation, &at.to_string())).is_empty());
    }
    assert_eq!(written(&prompt(&mut conversation, "more"))[0]["errors"], json!(["too many prompts wait"]));
    for (id, cancelled) in [("id of 7", true), ("id of 7", false), ("id of more", false), ("", false)] {
        let cancel = json!({"subtype": "cancel_async_message", "message_uuid": id});
        let said = written(&request(&mut conversation, cancel));
        assert_eq!(said[0]["response"]["response"], json!({"cancelled": cancelled}), "{id}");
    }
    assert!(written(&prompt(&mut conversation, "more")).is_empty(), "there is room again");
}

#[test]
fn a_prompt_that_is_sent_again_runs_once() {
    let mut conversation = with(Settings { repeats_prompts: true, ..settings() }, Answerer::Client);
    assert_eq!(orders(&prompt(&mut conversation, "one")).len(), 1);
    begun(&mut conversation, 1);
    for _ in 0..2 {
        let again = prompt(&mut conversation, "one");
        assert!(orders(&again).is_empty());
        let repeated = &written(&again)[0];
        assert_eq!((&repeated["uuid"], &repeated["isReplay"]), (&json!("id of one"), &json!(true)));
    }
    assert!(orders(&result(&mut conversation, 1)).is_empty(), "nothing waits");
    assert!(orders(&prompt(&mut conversation, "one")).is_empty());
    assert_eq!(orders(&prompt(&mut conversation, "two")).len(), 1);
}

#[test]
fn a_question_with_deep_arguments_is_asked_and_answered() {
    let mut conversation = conversation();
    prompt(&mut conversation, "one");
    begun(&mut conversation, 1);
    let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    let asked = format!(
        r#"{{"type":"control_request","request_id":"a","request":{{"subtype":"can_use_tool","tool_name":"Bash","tool_use_id":"t","input":{{"x":{deep}}}}}}}"#
    );
    let actions = conversation.report(Report::Event { turn: 1, event: Fields::read(asked.as_bytes()).unwrap() });
    let [Action::Write(question)] = &actions[..] else { panic!("{actions:?}") };
    assert!(question.line().contains(&deep), "the client gets the arguments as they are");
    let allowed = format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{}","response":{{"behavior":"allow","updatedInput":{{"x":{deep}}}}}}}}}"#,
        question.text("request_id")
    );
    let actions = conversation.line(&Line::Whole(allowed.into_bytes()));
    assert_eq!(decisions(&actions)[0].0, "a", "the question does not stay open");
    // One that is no question at all does not stay open either.
    let actions = event(&mut conversation, 1, json!({"type": "control_request", "request_id": "b", "request": 7}));
    assert_eq!(decisions(&actions)[0].1["decision"], "rejected");
}

#[test]
fn unknown_requests_are_answered_and_unknown_lines_reported() {
    let mut conversation = conversation();
    let actions = request(&mut conversation, json!({"subtype": "mcp_status"}));
    let response = &written(&actions)[0]["response"];
    assert_eq!((&response["subtype"], &response["request_id"]), (&json!("error"), &json!("r")));
    assert!(response["error"].as_str().unwrap().contains("mcp_status"));
    assert!(matches!(&conversation.line(&Line::Whole(b"what?".to_vec()))[..], [Action::Warn(_)]));
    assert!(matches!(&send(&mut conversation, &json!({"type": "dance"}))[..], [Action::Warn(_)]));
    assert!(answer(&mut conversation, "unknown", json!({})).is_empty());
}

#[test]
fn a_stop_interrupts_and_begins_nothing() {
    let mut conversation = conversation();
    prompt(&mut conversation, "one");
    prompt(&mut conversation, "two");
    begun(&mut conversation, 1);
    assert_eq!(interruptions(&conversation.stop()), 1);
    assert_eq!(conversation.exit_code(), None);
    assert!(orders(&result(&mut conversation, 1)).is_empty());
    assert_eq!(conversation.exit_code(), Some(0));
}
