//! What each group of frames becomes.

use crate::stage::*;
use framegate_translators::contracts::hecate::{V1, ids};
use framegate_translators::encode::EncoderOptions;
use framegate_translators::frame::{
    ApprovalRequested, ApprovalResolved, Attachment, BlockDelta, BlockText, Body, Decision, EndReason, ErrorReported,
    ErrorScope, FileChangeKind, FileChanged, Name, PlanEntry, StreamKind, ToolKind, Usage, UsageScope, UserMessage,
};
use serde_json::{Value, json};

fn text_delta(message_id: &str, block_index: u32, delta: &str) -> Body {
    Body::OutputTextDelta(BlockDelta { message_id: Name::from(message_id), block_index, delta: delta.to_owned() })
}

fn block(message_id: &str, block_index: u32, text: &str) -> BlockText {
    BlockText { message_id: Name::from(message_id), block_index, text: text.to_owned() }
}

fn usage(scope: UsageScope, input_tokens: u64, cost_usd: Option<f64>) -> Body {
    Body::UsageReported(Box::new(Usage {
        scope,
        input_tokens,
        output_tokens: 2,
        cache_read_tokens: Some(10),
        cache_creation_tokens: Some(100),
        cost_usd,
        ..Usage::default()
    }))
}

fn turn_ended(turn_index: u32, stop_reason: Option<&str>) -> Body {
    Body::TurnEnded { turn_index, stop_reason: stop_reason.map(Name::from), duration_ms: Some(0) }
}

fn error(scope: ErrorScope, code: &str, attempt: Option<u32>, max_attempts: Option<u32>) -> Body {
    Body::ErrorReported(Box::new(ErrorReported {
        scope,
        code: Name::from(code),
        message: "no".to_owned(),
        retryable: true,
        attempt,
        max_attempts,
        http_status: Some(529),
    }))
}

fn asked(approval_id: &str, call_id: &str) -> Body {
    Body::ApprovalRequested(Box::new(ApprovalRequested {
        approval_id: Name::from(approval_id),
        tool_id: Some(tool(call_id).id),
        tool_name: Name::from("bash"),
        args: raw(&json!({"command": "rm -rf x"})),
        reason: None,
    }))
}

fn answered(approval_id: &str, decision: Decision, by: Option<&str>) -> Body {
    Body::ApprovalResolved(Box::new(ApprovalResolved {
        approval_id: Name::from(approval_id),
        decision,
        by: by.map(Name::from),
        reason: Some("why".to_owned()),
        scope: Some(Name::from("once")),
    }))
}

fn refused(call_id: &str, error: &str) -> Body {
    Body::ToolFailed { tool: tool(call_id), error: error.to_owned() }
}

#[test]
fn only_runs_are_told() {
    for kind in [StreamKind::Task, StreamKind::Thread, StreamKind::Artifact] {
        assert!((V1.encoder)(&stream(kind), &EncoderOptions::default()).is_none(), "{kind:?}");
    }
}

#[test]
fn each_end_has_its_words() {
    let mut run = Run::core().in_turn();
    run.kinds(turn_ended(0, None));
    run.now_ms += 5;
    assert_eq!(
        run.say(ended(EndReason::Completed, None, None, Some("Done."))),
        data(&[
            ("assistant.final_answer", json!({"turn_index": 0, "summary": "Done."})),
            ("run.finished", json!({"final_status": "completed", "turns": 1, "duration_ms": 5})),
        ])
    );
    let end = Run::core().say(ended(EndReason::Completed, None, None, None));
    assert_eq!(end[0].0, "run.finished", "no last text, no answer");
    let mut run = Run::core();
    run.say(error(ErrorScope::Run, "overloaded", None, None));
    assert_eq!(
        run.one("run.failed", ended(EndReason::Failed, Some("overloaded"), Some("busy"), None)),
        json!({"code": "overloaded", "message": "busy", "retriable": true, "turns": 0})
    );
    assert_eq!(
        Run::core().one("run.failed", ended(EndReason::Failed, Some(""), None, None)),
        json!({"code": "execution_error", "message": "execution_error", "retriable": false, "turns": 0})
    );
    for (code, by) in [("aborted_tools", "operator"), ("interrupted", "operator"), ("max_output_tokens", "runtime")] {
        let cancelled = Run::core().one("run.cancelled", ended(EndReason::Interrupted, Some(code), None, None));
        assert_eq!(cancelled, json!({"by": by, "reason": code}));
    }
    let lost = Run::core().say(ended(EndReason::Interrupted, Some("stream_ended"), Some("cut off"), None));
    assert_eq!(
        lost,
        data(&[
            (
                "gap.run_disconnected",
                json!({"since_sequence": 0, "since_at": "2026-02-02T02:40:00.000Z", "reason": "stream_ended"})
            ),
            ("run.cancelled", json!({"by": "runtime", "reason": "cut off"})),
        ])
    );
}

#[test]
fn a_gap_in_the_stream_is_told() {
    let gap = Body::GapDetected { first_seq: Some(3), last_seq: None, reason: "worker_lease_expired".to_owned() };
    assert_eq!(Run::core().one("gap.run_disconnected", gap)["reason"], "worker_lease_expired");
}

#[test]
fn a_run_s_duration_is_of_one_clock() {
    let mut run = Run::core().in_turn();
    // The runner's own clock shows an hour later; the turn took 20 ms by it.
    run.now_ms += 3_600_000;
    run.say(Body::TurnEnded { turn_index: 0, stop_reason: None, duration_ms: Some(20) });
    run.now_ms += 2;
    assert_eq!(run.say(ended(EndReason::Completed, None, None, None))[0].1["duration_ms"], 22);
}

#[test]
fn blocks_are_counted_within_a_turn() {
    let mut run = Run::core().in_turn();
    let delta = |run: &mut Run, body: Body| run.one("assistant.text_delta", body)["block_index"].clone();
    assert_eq!(
        run.say(Body::ReasoningDelta(BlockDelta { message_id: Name::from("r"), block_index: 0, delta: "Hm".into() })),
        []
    );
    assert_eq!(run.say(Body::ReasoningCompleted { block: block("r", 0, "Hm"), opaque: None }), []);
    assert_eq!(delta(&mut run, text_delta("m", 0, "a")), 1, "thinking counts, be it told or not");
    assert_eq!(run.say(text_delta("m", 0, "")), [], "an empty delta says nothing");
    assert_eq!(delta(&mut run, text_delta("n", 0, "b")), 2, "another message");
    assert_eq!(
        run.one("assistant.text_complete", Body::OutputTextCompleted(block("m", 0, "a"))),
        json!({"turn_index": 0, "block_index": 1, "text": "a"})
    );
    run.say(turn_ended(0, None));
    run.say(Body::TurnStarted { turn_index: 1, model: Some(Name::from("m")) });
    assert_eq!(
        run.one("assistant.text_complete", Body::OutputTextCompleted(block("n", 0, "b"))),
        json!({"turn_index": 0, "block_index": 2, "text": "b"}),
        "a block keeps its place"
    );
    assert_eq!(delta(&mut run, text_delta("m", 0, "c")), 0);
    let mut run = Run::experimental().in_turn();
    let thinking = Body::ReasoningDelta(BlockDelta { message_id: Name::from("r"), block_index: 0, delta: "Hm".into() });
    assert_eq!(
        run.one("assistant.thinking_delta", thinking),
        json!({"turn_index": 0, "block_index": 0, "delta": "Hm"})
    );
    let whole = Body::ReasoningCompleted { block: block("r", 0, "Hm"), opaque: None };
    assert_eq!(run.one("assistant.thinking_complete", whole)["text"], "Hm");
    let sealed = Body::ReasoningCompleted { block: block("q", 0, ""), opaque: Some(raw(&json!({"sealed": 1}))) };
    assert_eq!(run.say(sealed), [], "an encrypted item has no text");
}

#[test]
fn what_a_person_says_belongs_to_the_turn_it_begins() {
    let message = |text: &str, attachments: Vec<Attachment>| {
        Body::UserMessage(Box::new(UserMessage { message_id: Name::from("u"), text: text.to_owned(), attachments }))
    };
    let mut run = Run::core();
    assert_eq!(run.one("user.message", message("hi", vec![])), json!({"turn_index": 0, "text": "hi"}));
    run = run.in_turn();
    assert_eq!(run.one("user.message", message("more", vec![]))["turn_index"], 0);
    run.say(turn_ended(0, None));
    assert_eq!(run.one("user.message", message("next", vec![]))["turn_index"], 1);
    let image = Attachment {
        kind: Name::from("image"),
        mime: Some(Name::from("image/png")),
        artifact_id: Some(Name::from(format!("sha256:{}", "0".repeat(64)))),
        name: None,
        bytes: Some(1),
    };
    assert_eq!(
        run.say(message("", vec![image])),
        data(&[(
            "user.attachment",
            json!({"turn_index": 1, "kind": "image", "mime": "image/png",
                "artifact_id": "art_00000000000000000000000000"})
        )])
    );
}

#[test]
fn figures_are_told_where_they_are_known() {
    let mut run = Run::core().in_turn();
    assert_eq!(
        run.say(turn_ended(0, Some("end_turn"))),
        data(&[(
            "turn.completed",
            json!({"turn_index": 0, "duration_ms": 0, "tool_calls": 0, "stop_reason": "end_turn"})
        )])
    );
    run.say(Body::TurnStarted { turn_index: 1, model: None });
    run.say(usage(UsageScope::Turn, 1, Some(0.000_25)));
    run.parent = Some(uuid(9));
    run.say(usage(UsageScope::Turn, 1000, None));
    run.parent = None;
    assert_eq!(
        run.say(turn_ended(1, None)),
        data(&[
            (
                "turn.completed",
                json!({"turn_index": 1, "input_tokens": 111, "output_tokens": 2, "cached_input_tokens": 10,
                    "cost_micros_usd": 250, "duration_ms": 0, "tool_calls": 0})
            ),
            // A subagent's figures count for the run and for no turn.
            (
                "cost.tick",
                json!({"cumulative_input_tokens": 1221, "cumulative_output_tokens": 4,
                    "cumulative_cost_micros_usd": 250})
            ),
        ])
    );
    // The runner's own total is smaller in one figure: none goes down.
    run.say(usage(UsageScope::Run, 5, Some(0.5)));
    let end = run.say(ended(EndReason::Completed, None, None, None));
    assert_eq!(end[0].1["cumulative_input_tokens"], 1221);
    assert_eq!((&end[1].0[..], &end[1].1["cost_micros_usd"]), ("run.finished", &json!(500_000)));
    // The total of a run of one turn is that turn's; of a later turn it is not.
    let mut run = Run::core().in_turn();
    run.say(usage(UsageScope::Run, 1, None));
    assert_eq!(run.say(turn_ended(0, None))[0].1["input_tokens"], 111);
    run.say(Body::TurnStarted { turn_index: 1, model: None });
    run.say(usage(UsageScope::Run, 2, None));
    assert_eq!(run.say(turn_ended(1, None))[0].1.get("input_tokens"), None);
}

#[test]
fn a_budget_warns_once_and_is_exceeded_once() {
    let options = EncoderOptions { task_budget_micros_usd: Some(100), ..EncoderOptions::default() };
    for (costs, expected) in [
        (&[79.0, 0.0][..], vec![]),
        (&[80.0, 1.0], vec!["cost.budget_warning"]),
        (&[100.0, 0.0], vec!["cost.budget_warning"]),
        (&[101.0, 50.0], vec!["cost.budget_warning", "cost.budget_exceeded"]),
        (&[80.0, 21.0], vec!["cost.budget_warning", "cost.budget_exceeded"]),
    ] {
        let mut run = Run::new(&options);
        let mut told = Vec::new();
        for (index, cost) in costs.iter().enumerate() {
            let turn_index = u32::try_from(index).unwrap();
            run.say(Body::TurnStarted { turn_index, model: None });
            run.say(usage(UsageScope::Turn, 1, Some(cost / 1e6)));
            told.extend(run.say(turn_ended(turn_index, None)));
        }
        let budget: Vec<&str> = told.iter().map(|(kind, _)| &kind[..]).filter(|kind| kind.contains("budget")).collect();
        assert_eq!(budget, expected, "{costs:?}");
        let ticks: Vec<&Value> = told.iter().filter(|(kind, _)| kind == "cost.tick").map(|(_, data)| data).collect();
        let total = costs.iter().sum::<f64>() as u64;
        assert_eq!(ticks[1]["task_budget_remaining_micros_usd"], 100u64.saturating_sub(total));
    }
    let mut run = Run::new(&options).in_turn();
    run.say(usage(UsageScope::Turn, 1, None));
    let tick = run.say(turn_ended(0, None)).remove(1).1;
    assert_eq!((tick.get("task_budget_remaining_micros_usd"), &tick["task_budget_micros_usd"]), (None, &json!(100)));
}

#[test]
fn errors_belong_to_a_turn_or_to_what_is_upstream() {
    let mut run = Run::core();
    assert_eq!(
        run.one("error.upstream", error(ErrorScope::Provider, "", Some(2), Some(3))),
        json!({"provider": "codex", "status": 529, "code": "execution_error", "message": "no", "retriable": true,
            "attempt": 2, "max_attempts": 3})
    );
    run.one("error.upstream", error(ErrorScope::Turn, "x", None, None));
    run = run.in_turn();
    for (attempt, max, retries) in [(Some(1), Some(2), true), (Some(1), None, true), (Some(2), Some(2), false)] {
        let events = run.say(error(ErrorScope::Turn, "x", attempt, max));
        let expected = json!({"turn_index": 0, "code": "x", "message": "no", "will_retry": true});
        assert_eq!(events, if retries { data(&[("turn.failed", expected)]) } else { vec![] }, "{attempt:?} {max:?}");
    }
    assert_eq!(
        run.one("turn.failed", turn_ended(0, None)),
        json!({"turn_index": 0, "code": "x", "message": "no", "will_retry": false})
    );
    // An error of the run is the turn's where the turn says that it failed.
    for (stop_reason, kind) in [(Some("failed"), "turn.failed"), (Some("end_turn"), "turn.completed")] {
        let mut run = Run::core().in_turn();
        run.one("error.upstream", error(ErrorScope::Run, "x", None, None));
        run.one(kind, turn_ended(0, stop_reason));
    }
    assert_eq!(Run::core().in_turn().one("turn.failed", turn_ended(0, Some("failed")))["code"], "execution_error");
}

#[test]
fn a_call_goes_from_proposal_to_end() {
    let mut run = Run::core().in_turn();
    let http = call("c", "fetch", ToolKind::Fetch, &json!({"url": "http://x", "headers": {"Authorization": "s"}}));
    assert_eq!(
        run.one("assistant.tool_call_proposed", Body::ToolCallProposed(Box::new(http.clone())))["input"]["url"],
        "http://x"
    );
    let begun = json!({"tool_call_id": "c", "tool_name": "fetch", "kind": "http", "turn_index": 0});
    assert_eq!(
        run.say(started(http)),
        data(&[
            ("tool.invoked", begun.clone()),
            ("tool.started", begun),
            (
                "tool.http.requested",
                json!({"tool_call_id": "c", "tool_name": "fetch", "url": "http://x", "header_keys": ["Authorization"]})
            ),
        ])
    );
    assert_eq!(run.say(stdout("c", "\n  page\n")), []);
    assert_eq!(
        run.say(exited("c", 0)),
        data(&[
            ("tool.http.response", json!({"tool_call_id": "c", "tool_name": "fetch", "duration_ms": 7})),
            (
                "tool.completed",
                json!({"tool_call_id": "c", "tool_name": "fetch", "kind": "http", "turn_index": 0, "duration_ms": 7,
                    "summary": "page"})
            ),
        ])
    );
    assert_eq!(run.say(exited("c", 0)), [], "a call ends once");
    assert_eq!(run.say(turn_ended(0, None))[0].1["tool_calls"], 1);
}

#[test]
fn each_kind_has_its_own_events() {
    let told = |name: &str, kind: ToolKind, args: Value, output: &str| {
        let mut run = Run::core().in_turn();
        let mut events = run.say(started(call("c", name, kind, &args))).split_off(2);
        run.say(stdout("c", output));
        events.extend(run.say(exited("c", 0)));
        let kind = events.pop().unwrap().1["kind"].as_str().unwrap().to_owned();
        (kind, events)
    };
    let names = |events: &[(String, Value)]| events.iter().map(|(kind, _)| kind.clone()).collect::<Vec<_>>();
    let (kind, events) = told("Glob", ToolKind::Search, json!({"pattern": "*"}), "/a b\nc\nNo more files\n");
    assert_eq!(kind, "glob");
    assert_eq!(
        events,
        data(&[(
            "tool.glob.completed",
            json!({"tool_call_id": "c", "tool_name": "Glob", "pattern": "*", "matches": ["/a b", "c"],
                "match_count": 2, "truncated": false})
        )])
    );
    let (kind, events) = told("Grep", ToolKind::Search, json!({"pattern": "x"}), "a.rs:3:x: y\nb.rs\nFound 2\n");
    assert_eq!(kind, "grep");
    assert_eq!(events[0].1["matches"], json!([{"path": "a.rs", "line": 3, "text": "x: y"}, {"path": "b.rs"}]));
    let (_, events) = told("Grep", ToolKind::Search, json!({"pattern": "x"}), "No matches found");
    assert_eq!(events[0].1, json!({"tool_call_id": "c", "tool_name": "Grep", "pattern": "x"}));
    let (_, events) = told("Glob", ToolKind::Search, json!({"pattern": "x"}), &"/path\n".repeat(20_000));
    assert_eq!((events[0].1.get("match_count"), &events[0].1["truncated"]), (None, &json!(true)));
    let whole = events[0].1["matches"].as_array().unwrap();
    assert!(whole.len() > 10_000 && whole.iter().all(|path| path == "/path"), "no half of a line");
    let (kind, events) = told("Read", ToolKind::Read, json!({"filePath": "/f"}), "x");
    assert_eq!((&kind[..], &events[0].1["path"]), ("file_read", &json!("/f")));
    let (kind, events) = told("WebFetch", ToolKind::Fetch, json!({"url": "u"}), "x");
    assert_eq!(
        (&kind[..], names(&events)),
        ("web_fetch", vec!["tool.web_fetch.requested".into(), "tool.web_fetch.response".into()])
    );
    let (kind, events) = told("web_search", ToolKind::Search, json!({"query": "q"}), "x");
    assert_eq!(
        (&kind[..], names(&events)),
        ("web_search", vec!["tool.web_search.requested".into(), "tool.web_search.response".into()])
    );
    let (kind, events) = told("bash", ToolKind::Shell, json!({"command": ["ls", "-l"], "cwd": "/w"}), "");
    assert_eq!((&kind[..], &events[0].1["argv"], &events[0].1["cwd"]), ("shell", &json!(["ls", "-l"]), &json!("/w")));
    let (_, events) = told("BashOutput", ToolKind::Shell, json!({"bash_id": "1"}), "");
    assert_eq!(names(&events), ["tool.shell.exited"], "no command, no such event");
    for (kind, word) in [
        (ToolKind::Write, "file_write"),
        (ToolKind::Edit, "edit"),
        (ToolKind::Subagent, "subagent"),
        (ToolKind::Other, "other"),
    ] {
        assert_eq!(told("t", kind, empty(), "x"), (word.to_owned(), vec![]));
    }
    let mut run = Run::core().in_turn();
    run.say(started(call("c", "mcp__files__read", ToolKind::Mcp, &empty())));
    let over = run.one("tool.completed", exited("c", 0));
    assert_eq!(
        (&over["mcp_server"], &over["mcp_tool"], &over["result"]),
        (&json!("files"), &json!("read"), &json!("dispatched"))
    );
}

#[test]
fn a_call_that_did_not_run_to_its_end_says_why() {
    let mut run = Run::core().in_turn();
    for (error, kind) in [
        ("timeout", "tool.timed_out"),
        ("Command timed out after 2m", "tool.timed_out"),
        ("the run ended before the tool did", "tool.failed"),
    ] {
        run.say(started(call(error, "bash", ToolKind::Shell, &empty())));
        assert_eq!(run.one(kind, refused(error, error))["message"], error);
    }
}

#[test]
fn answers_decide_how_a_call_ends() {
    for (decision, by, event, end) in [
        (Decision::Rejected, Some("user_reject"), vec!["approval.resolved"], "tool.cancelled"),
        (Decision::Rejected, None, vec!["approval.resolved"], "tool.cancelled"),
        (Decision::Cancelled, None, vec!["approval.resolved"], "tool.cancelled"),
        (Decision::Rejected, Some("config"), vec!["approval.resolved", "policy.tool_blocked"], "tool.failed"),
        (Decision::TimedOut, None, vec!["approval.timed_out"], "tool.failed"),
        (Decision::Approved, None, vec!["approval.resolved"], "tool.failed"),
    ] {
        let mut run = Run::core().in_turn();
        run.say(started(call("c", "bash", ToolKind::Shell, &json!({"command": "rm -rf x"}))));
        assert_eq!(
            run.one("approval.requested", asked("a", "c")),
            json!({"approval_id": "a", "tool_call_id": "c", "kind": "bash", "summary": "rm -rf x"})
        );
        run.now_ms += 300_999;
        let events = run.say(answered("a", decision, by));
        assert_eq!(events.iter().map(|(kind, _)| &kind[..]).collect::<Vec<_>>(), event, "{decision:?} {by:?}");
        if decision == Decision::TimedOut {
            assert_eq!(events[0].1, json!({"approval_id": "a", "after_seconds": 300}));
        }
        run.one(end, refused("c", "declined"));
    }
    // The question may come before the call starts, or about no call.
    let mut run = Run::core().in_turn();
    run.say(Body::ToolCallProposed(Box::new(call("c", "bash", ToolKind::Shell, &empty()))));
    assert_eq!(run.one("approval.requested", asked("a", "c"))["tool_call_id"], "c");
    assert_eq!(run.one("approval.requested", asked("b", "unknown")).get("tool_call_id"), None);
}

#[test]
fn a_plan_belongs_to_its_call_or_is_one() {
    let entry = PlanEntry { content: "x".to_owned(), status: Name::from("pending"), priority: None };
    let plan = || Body::PlanUpdated { entries: vec![entry.clone()] };
    let mut run = Run::core().in_turn();
    run.say(started(call("c", "TodoWrite", ToolKind::Plan, &empty())));
    assert_eq!(
        run.one("tool.todo_write.updated", plan()),
        json!({"tool_call_id": "c", "tool_name": "TodoWrite", "todos": [{"content": "x", "status": "pending"}]})
    );
    run.say(exited("c", 0));
    let (one, two) = (run.say(plan()), run.say(plan()));
    assert_eq!(
        one.iter().map(|(kind, _)| &kind[..]).collect::<Vec<_>>(),
        ["tool.invoked", "tool.started", "tool.todo_write.updated", "tool.completed"]
    );
    assert_ne!(one[0].1["tool_call_id"], two[0].1["tool_call_id"]);
    run.parent = Some(uuid(9));
    assert_eq!(run.say(plan()), [], "a subagent's plan is its own");
}

#[test]
fn of_a_subagent_its_tools_are_told() {
    let mut run = Run::core().in_turn();
    run.say(started(call("outer", "Task", ToolKind::Subagent, &empty())));
    run.parent = Some(tool("outer").id);
    assert_eq!(run.say(text_delta("m", 0, "x")), []);
    assert_eq!(run.say(Body::OutputTextCompleted(block("m", 0, "x"))), []);
    let inner = call("inner", "bash", ToolKind::Shell, &json!({"command": "ls"}));
    assert_eq!(run.say(Body::ToolCallProposed(Box::new(inner.clone()))), []);
    assert_eq!(run.say(started(inner))[0].1["parent_tool_call_id"], "outer");
    assert_eq!(run.one("approval.requested", asked("a", "inner"))["tool_call_id"], "inner");
}

#[test]
fn edits_are_told_where_artifacts_are_asked_for() {
    let changed = |path: &str, kind: FileChangeKind, diff: Option<&str>| {
        Body::FileChanged(Box::new(FileChanged {
            tool_id: Some(tool("c").id),
            path: path.to_owned(),
            kind,
            diff: diff.map(str::to_owned),
            artifact_id: None,
        }))
    };
    let diff = "--- a/f\n+++ b/f\n@@ -1 +1,2 @@\n-x\n+y\n+z\n";
    let told = |mut run: Run, changes: Vec<Body>| {
        run = run.in_turn();
        run.say(started(call("c", "Edit", ToolKind::Edit, &empty())));
        for change in changes {
            assert_eq!(run.say(change), []);
        }
        run.say(exited("c", 0))
    };
    let names = |events: &[(String, Value)]| events.iter().map(|(kind, _)| kind.clone()).collect::<Vec<_>>();
    let modify = || changed("f", FileChangeKind::Modify, Some(diff));
    let one = told(Run::experimental(), vec![modify()]);
    assert_eq!(names(&one), ["artifact.created", "tool.edit.proposed", "tool.edit.applied", "tool.completed"]);
    assert_eq!((&one[0].1["summary"], &one[0].1["size_bytes"]), (&json!("f: 1 hunk, +2/-1"), &json!(diff.len())));
    assert_eq!(one[0].1["artifact_id"], one[1].1["patch_artifact_id"]);
    let new = told(Run::experimental(), vec![changed("n", FileChangeKind::Add, None)]);
    assert_eq!(names(&new), ["tool.file_write.proposed", "tool.edit.applied", "tool.completed"]);
    let two = told(Run::experimental(), vec![modify(), changed("g", FileChangeKind::Delete, None)]);
    assert_eq!(
        names(&two),
        ["artifact.created", "tool.multi_edit.proposed", "tool.multi_edit.applied", "tool.completed"]
    );
    assert_eq!(two[1].1["paths"], json!(["f", "g"]));
    assert_eq!(two[1].1["auto_apply"], true);
    assert_eq!(names(&told(Run::core(), vec![modify()])), ["tool.completed"]);
    // Where a person was asked, it was not applied by itself.
    let mut run = Run::experimental().in_turn();
    run.say(started(call("c", "Edit", ToolKind::Edit, &empty())));
    run.say(asked("a", "c"));
    run.say(answered("a", Decision::Approved, None));
    run.say(modify());
    assert_eq!(run.say(exited("c", 0))[1].1["auto_apply"], false);
}

#[test]
fn a_checkpoint_is_saved() {
    let body = Body::CheckpointCreated {
        checkpoint_id: uuid(1),
        label: String::new(),
        created_at_ms: 0,
        files: vec![],
        auto: true,
        tool_name: None,
    };
    assert_eq!(Run::core().one("run.checkpoint_saved", body)["checkpoint_id"], "ckpt_00000000000000000000000001");
    assert_eq!(ids::uuid_of("run_", &ids::run_id(uuid(7))), Some(uuid(7)));
}
