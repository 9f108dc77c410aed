//! Every recording in `ag-ui.v1`, interrupted at some of its events and continued: the protocol's rules hold, and the messages are those
//! of the run that was not interrupted.

use crate::support::*;
use framegate_translators::contracts::ag_ui::{Conversation, Names, Segment, V1};
use framegate_translators::verify::{Basis, Severity};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const FIRST: Names<'_> = Names { thread: "thread", run: "first" };
const SECOND: Names<'_> = Names { thread: "thread", run: "second" };

/// How many events of a run it is interrupted at.
const CUTS: usize = 24;

fn runs(recording: &Recording) -> BTreeMap<String, Vec<Value>> {
    let mut runs: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for event in events(recording.runner, &V1, &recording.bytes) {
        runs.entry(event["metadata"]["runId"].as_str().unwrap().to_owned()).or_default().push(event);
    }
    runs
}

/// What the rules of the protocol, and its reducer, have against these events.
fn findings<'e>(events: impl IntoIterator<Item = &'e Value>) -> Vec<String> {
    let (mut verifier, mut findings) = ((V1.verifier)(), Vec::new());
    events.into_iter().for_each(|event| verifier.event(event, &mut findings));
    verifier.end(&mut findings);
    let counts = |basis| matches!(basis, Basis::Document | Basis::Usual);
    let errors = findings.iter().filter(|finding| finding.severity == Severity::Error && counts(finding.basis));
    errors.map(|finding| format!("{} {}", finding.rule, finding.message)).collect()
}

fn conversation<'e>(events: impl IntoIterator<Item = &'e Value>) -> (Vec<Value>, Option<Value>) {
    let mut conversation = Conversation::default();
    conversation.prompt("u", "hello");
    events.into_iter().for_each(|event| conversation.event(&serde_json::to_vec(event).unwrap()));
    conversation.finish()
}

/// The events of a run that is interrupted before event `cut`, and those of the run that continues it.
fn cut(events: &[Value], cut: usize) -> (Vec<Value>, Vec<Value>) {
    let (before, after) = events.split_at(cut);
    let mut segment = Segment::default();
    before.iter().for_each(|event| segment.event(&serde_json::to_vec(event).unwrap()));
    let renamed = |event: &Value, names: Names<'_>| {
        let mut event = event.clone();
        if ["RUN_STARTED", "RUN_FINISHED"].contains(&event["type"].as_str().unwrap()) {
            (event["threadId"], event["runId"]) = (json!(names.thread), json!(names.run));
        }
        event
    };
    let first = before.iter().map(|event| renamed(event, FIRST)).chain(segment.closing(FIRST)).collect();
    let second = segment.opening(SECOND).into_iter().chain(after.iter().map(|event| renamed(event, SECOND))).collect();
    (first, second)
}

#[test]
fn an_interrupted_run_goes_on_with_the_same_messages() {
    let (mut cuts, mut interrupts, mut suspended) = (0, 0, 0);
    for recording in recordings() {
        for (run, events) in runs(&recording) {
            let whole = conversation(&events);
            let asked = |at: &usize| *at > 0 && events[at - 1]["name"] == "approval_requested";
            let places = (1..events.len()).step_by(events.len().div_ceil(CUTS));
            for at in places.chain((1..events.len()).filter(asked)) {
                let what = format!("{} {run} at {at}", recording.name);
                let (first, second) = cut(&events, at);
                let outcome = &first.last().unwrap()["outcome"];
                let is_interrupt = outcome["type"] == "interrupt";
                assert!(is_interrupt || !asked(&at), "{what}: {outcome}");
                let both = || first.iter().chain(&second);
                if is_interrupt {
                    assert_eq!(findings(both()), Vec::<String>::new(), "{what}");
                    assert_eq!(findings(&first), Vec::<String>::new(), "{what}");
                }
                assert_eq!(conversation(both()), whole, "{what}");
                cuts += 1;
                interrupts += usize::from(is_interrupt);
                suspended += first.iter().filter(|event| event["outcome"]["type"] == "suspended").count();
            }
        }
    }
    assert!(cuts > 2000 && interrupts > 20 && suspended > 20, "{cuts} {interrupts} {suspended}");
}

#[test]
fn a_question_is_an_interrupt_until_it_is_answered() {
    let event = |kind: &str, fields: Value| {
        let mut event = json!({"type": kind, "timestamp": 5, "metadata": {"runId": "r"}});
        event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        serde_json::to_vec(&event).unwrap()
    };
    let custom =
        |name: &str, value: Value| event("CUSTOM", json!({"subagentRunId": "s", "name": name, "value": value}));
    let mut segment = Segment::default();
    segment.event(&event("RUN_STARTED", json!({"threadId": "t", "runId": "r"})));
    segment.event(&event("SUBAGENT_STARTED", json!({"subagentRunId": "s", "name": "n"})));
    segment.event(&event("STEP_STARTED", json!({"stepName": "turn-0"})));
    segment.event(b"not JSON");
    for id in ["one", "two"] {
        let value = json!({"approvalId": id, "toolName": "Bash", "toolCallId": "c", "args": {"command": "ls"}});
        segment.event(&custom("approval_requested", value));
    }
    segment.event(&custom("approval_resolved", json!({"approvalId": "one", "decision": "approved"})));
    let closing = segment.closing(FIRST);
    let kinds: Vec<&str> = closing.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["SUBAGENT_FINISHED", "STEP_FINISHED", "RUN_FINISHED"]);
    assert_eq!(closing[0]["outcome"], json!({"type": "suspended", "interruptIds": ["two"]}));
    let end = &closing[2];
    assert_eq!((&end["threadId"], &end["runId"], &end["timestamp"]), (&json!("thread"), &json!("first"), &json!(5)));
    let [interrupt] = end["outcome"]["interrupts"].as_array().unwrap().as_slice() else { panic!("{end}") };
    assert_eq!(
        (&interrupt["id"], &interrupt["toolCallId"], &interrupt["message"], &interrupt["subagentRunId"]),
        (&json!("two"), &json!("c"), &json!("Allow Bash?"), &json!("s"))
    );
    assert_eq!(interrupt["metadata"], json!({"toolName": "Bash", "args": {"command": "ls"}}));
    assert!(segment.asks() && !segment.is_over());
    segment.event(&custom("approval_resolved", json!({"approvalId": "two", "decision": "rejected"})));
    assert!(!segment.asks());
    assert_eq!(segment.closing(FIRST)[2]["outcome"], json!({"type": "success"}));
    segment.event(&event("RUN_FINISHED", json!({})));
    assert!(segment.is_over() && segment.closing(FIRST).len() == 1);
}

/// The client asks the user all the same.
#[test]
fn a_question_with_deep_arguments_interrupts_the_run() {
    let deep = format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000));
    let mut segment = Segment::default();
    segment.event(br#"{"type":"RUN_STARTED","threadId":"t","runId":"r","metadata":{"runId":"r"}}"#);
    let question = format!(
        r#"{{"type":"CUSTOM","name":"approval_requested","value":{{"approvalId":"a1","toolName":"Bash","args":{{"x":{deep}}}}}}}"#
    );
    segment.event(question.as_bytes());
    let end = segment.closing(FIRST).pop().unwrap();
    assert_eq!(end["outcome"]["interrupts"][0]["id"], "a1");
    assert_eq!(end["outcome"]["interrupts"][0]["metadata"]["args"], "(left out: nested too deeply)");
    segment.event(br#"{"type":"CUSTOM","name":"approval_resolved","value":{"approvalId":"a1"}}"#);
    assert!(!segment.asks());
}
