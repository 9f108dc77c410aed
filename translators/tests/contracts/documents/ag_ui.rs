//! `ag-ui.v1`.

use super::{fails, passes, warns};
use serde_json::{Value, json};

const NAME: &str = "ag-ui.v1";

/// A stream of another producer: chunks, a tool of the front end, several steps at once, no metadata.
fn of_a_producer() -> Vec<Value> {
    let message = json!({"id": "u", "role": "user", "content": [{"type": "text", "text": "hi"}]});
    vec![
        json!({"type": "RUN_STARTED", "threadId": "t", "runId": "r",
            "input": {"threadId": "t", "runId": "r", "messages": [message]}}),
        json!({"type": "STEP_STARTED", "stepName": "graph"}),
        json!({"type": "STEP_STARTED", "stepName": "graph", "subagentRunId": "s"}),
        json!({"type": "STEP_FINISHED", "stepName": "graph", "subagentRunId": "s"}),
        json!({"type": "TEXT_MESSAGE_CHUNK", "messageId": "a", "delta": "Hel"}),
        json!({"type": "TEXT_MESSAGE_CHUNK", "delta": "lo"}),
        json!({"type": "STATE_SNAPSHOT", "snapshot": null}),
        json!({"type": "STATE_DELTA", "delta": [{"op": "remove", "path": "/a~1b", "value": 1}]}),
        json!({"type": "TEXT_MESSAGE_START", "messageId": "b", "role": "developer"}),
        json!({"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "pick", "parentMessageId": "b"}),
        json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "b", "delta": ""}),
        json!({"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "{\"a\":1}"}),
        json!({"type": "TEXT_MESSAGE_END", "messageId": "b", "metadata": {"tokens": 3}}),
        json!({"type": "TOOL_CALL_END", "toolCallId": "c"}),
        json!({"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "b", "role": "assistant", "content": "x"}]}),
        json!({"type": "RAW", "event": null, "source": "lab"}),
        json!({"type": "STEP_FINISHED", "stepName": "graph"}),
        json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r"}),
    ]
}

#[test]
fn streams_of_other_producers_pass() {
    passes(NAME, "another producer's", &of_a_producer());
    let mut two = of_a_producer();
    two.extend(of_a_producer());
    passes(NAME, "two runs, one after the other", &two);
    let mut failed = of_a_producer();
    failed.truncate(10);
    failed.push(json!({"type": "RUN_ERROR", "message": "no"}));
    passes(NAME, "a run that failed at once", &failed);
    passes(NAME, "only an error", &failed[10..]);
    let mut asks = of_a_producer();
    asks[17]["outcome"] = json!({"type": "interrupt", "interrupts": [{"id": "i", "reason": "approval"}]});
    passes(NAME, "an interrupt", &asks);
}

#[test]
fn what_the_client_reads_although_it_is_unusual_is_a_warning() {
    let all = of_a_producer();
    warns(NAME, "no end", &all[..17], &[(0, "end.missing")]);
    let mut reused = all.clone();
    reused.insert(13, json!({"type": "TEXT_MESSAGE_START", "messageId": "b"}));
    reused.insert(14, json!({"type": "TEXT_MESSAGE_END", "messageId": "b"}));
    warns(NAME, "an id again", &reused, &[(14, "id.reused")]);
    let mut unknown = all.clone();
    unknown.insert(14, json!({"type": "TOOL_CALL_RESULT", "messageId": "m", "toolCallId": "d", "content": "x"}));
    warns(NAME, "the result of no call", &unknown, &[(15, "call.unknown")]);
    let mut other = all;
    other[17]["runId"] = json!("q");
    warns(NAME, "the end of another run", &other, &[(18, "end.other_run")]);
}

#[test]
fn what_the_client_refuses_is_an_error() {
    for (what, event, rule) in [
        ("an unknown type", json!({"type": "THINKING_START"}), "schema.type"),
        ("null", json!({"type": "STEP_STARTED", "stepName": "x", "subagentRunId": null}), "schema"),
        ("a float", json!({"type": "CUSTOM", "name": "x", "value": 1, "timestamp": 0.5}), "schema"),
        ("no value", json!({"type": "CUSTOM", "name": "x"}), "schema"),
        ("no pointer", json!({"type": "STATE_DELTA", "delta": [{"op": "remove", "path": "a"}]}), "schema"),
        ("no such message", json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "x", "delta": "x"}), "pair.not_open"),
        ("no such span", json!({"type": "REASONING_END", "messageId": "x"}), "pair.not_open"),
        ("no such call", json!({"type": "TOOL_CALL_ARGS", "toolCallId": "x", "delta": "x"}), "pair.not_open"),
        (
            "another's step",
            json!({"type": "STEP_FINISHED", "stepName": "graph", "subagentRunId": "s"}),
            "pair.not_open",
        ),
        ("a step again", json!({"type": "STEP_STARTED", "stepName": "graph"}), "pair.opened_twice"),
        ("a second run", json!({"type": "RUN_STARTED", "threadId": "t", "runId": "q"}), "start.repeat"),
        (
            "a call of another message",
            json!({"type": "TOOL_CALL_START", "toolCallId": "x", "toolCallName": "x", "parentMessageId": "b",
                "subagentRunId": "s"}),
            "owner.differs",
        ),
        (
            "a parent that never started",
            json!({"type": "SUBAGENT_STARTED", "subagentRunId": "s", "name": "x", "parentSubagentRunId": "p"}),
            "subagent.unknown_parent",
        ),
    ] {
        let mut events = of_a_producer();
        events.insert(14, event);
        let found = super::found(NAME, &events, None);
        let first =
            found.iter().find(|located| located.finding.severity == framegate_translators::verify::Severity::Error);
        assert_eq!(first.map(|located| (located.record, located.finding.rule)), Some((15, rule)), "{what}: {found:#?}");
    }
    let mut after = of_a_producer();
    after.push(json!({"type": "RAW", "event": 1}));
    fails(NAME, "an event after the end", &after, &[(19, "end.not_last")]);
    let mut open = of_a_producer();
    open.remove(16);
    fails(NAME, "an open step", &open, &[(17, "pair.left_open")]);
}
