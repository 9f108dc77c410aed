//! The mapping of calls, approvals, plans and edits.

use super::harness::*;
use framegate_translators::frame::{
    Body, Decision, FileChangeKind, FileChanged, PlanEntry, RUN_ENDED_FIRST, RUN_INTERRUPTED_FIRST, SharedStr, ToolKind,
};
use serde_json::{Value, json};

#[test]
fn a_call_is_proposed_started_and_ended() {
    let mut run = Run::core().in_turn();
    let http = call("c", "fetch", ToolKind::Fetch, &json!({"url": "http://x", "headers": {"Authorization": "s"}}));
    assert_eq!(
        run.one("assistant.tool_call_proposed", Body::ToolCallProposed(Box::new(http.clone())))["input"]["url"],
        "http://x"
    );
    let begun = json!({"tool_call_id": "c", "tool_name": "fetch", "kind": "http", "turn_index": 0});
    assert_eq!(
        run.encode(started(http)),
        data(&[
            ("tool.invoked", begun.clone()),
            ("tool.started", begun),
            (
                "tool.http.requested",
                json!({"tool_call_id": "c", "tool_name": "fetch", "url": "http://x", "header_keys": ["Authorization"]})
            ),
        ])
    );
    assert_eq!(run.encode(stdout("c", "\n  page\n")), []);
    assert_eq!(
        run.encode(exited("c", 0)),
        data(&[
            ("tool.http.response", json!({"tool_call_id": "c", "tool_name": "fetch", "duration_ms": 7})),
            (
                "tool.completed",
                json!({"tool_call_id": "c", "tool_name": "fetch", "kind": "http", "turn_index": 0, "duration_ms": 7,
                    "summary": "page"})
            ),
        ])
    );
    assert_eq!(run.encode(exited("c", 0)), [], "a call ends once");
    assert_eq!(run.encode(turn_ended(0, None))[0].1["tool_calls"], 1);
}

#[test]
fn a_call_that_ran_out_of_time_or_was_interrupted_did_not_fail() {
    let bash = || call("c", "bash", ToolKind::Shell, &json!({"command": "sleep 9"}));
    let end = |timeout_ms, body| {
        let mut run = Run::core().in_turn();
        run.encode(Body::ToolStarted { call: Box::new(bash()), timeout_ms });
        run.kinds(body).pop().unwrap()
    };
    assert_eq!(end(Some(1000), exited("c", 124)), "tool.timed_out");
    assert_eq!(end(None, exited("c", 124)), "tool.failed", "the command itself may give this code");
    assert_eq!(end(Some(1000), exited("c", 1)), "tool.failed");
    assert_eq!(end(None, refused("c", RUN_INTERRUPTED_FIRST)), "tool.cancelled");
    assert_eq!(end(None, refused("c", RUN_ENDED_FIRST)), "tool.failed");
}

#[test]
fn each_kind_of_tool_has_its_own_events() {
    let events_of = |name: &str, kind: ToolKind, args: Value, output: &str| {
        let mut run = Run::core().in_turn();
        let mut events = run.encode(started(call("c", name, kind, &args))).split_off(2);
        run.encode(stdout("c", output));
        events.extend(run.encode(exited("c", 0)));
        let kind = events.pop().unwrap().1["kind"].as_str().unwrap().to_owned();
        (kind, events)
    };
    let names = |events: &[(String, Value)]| events.iter().map(|(kind, _)| kind.clone()).collect::<Vec<_>>();
    let (kind, events) = events_of("Glob", ToolKind::Search, json!({"pattern": "*"}), "/a b\nc\nNo more files\n");
    assert_eq!(kind, "glob");
    assert_eq!(
        events,
        data(&[(
            "tool.glob.completed",
            json!({"tool_call_id": "c", "tool_name": "Glob", "pattern": "*", "matches": ["/a b", "c"],
                "match_count": 2, "truncated": false})
        )])
    );
    let (kind, events) = events_of("Grep", ToolKind::Search, json!({"pattern": "x"}), "a.rs:3:x: y\nb.rs\nFound 2\n");
    assert_eq!(kind, "grep");
    assert_eq!(events[0].1["matches"], json!([{"path": "a.rs", "line": 3, "text": "x: y"}, {"path": "b.rs"}]));
    let (_, events) = events_of("Grep", ToolKind::Search, json!({"pattern": "x"}), "No matches found");
    assert_eq!(events[0].1, json!({"tool_call_id": "c", "tool_name": "Grep", "pattern": "x"}));
    let (_, events) = events_of("Glob", ToolKind::Search, json!({"pattern": "x"}), &"/path\n".repeat(20_000));
    assert_eq!((events[0].1.get("match_count"), &events[0].1["truncated"]), (None, &json!(true)));
    let whole = events[0].1["matches"].as_array().unwrap();
    assert!(whole.len() > 10_000 && whole.iter().all(|path| path == "/path"), "no half of a line");
    let (kind, events) = events_of("Read", ToolKind::Read, json!({"filePath": "/f"}), "x");
    assert_eq!((&kind[..], &events[0].1["path"]), ("file_read", &json!("/f")));
    let (kind, events) = events_of("WebFetch", ToolKind::Fetch, json!({"url": "u"}), "x");
    assert_eq!(
        (&kind[..], names(&events)),
        ("web_fetch", vec!["tool.web_fetch.requested".into(), "tool.web_fetch.response".into()])
    );
    let (kind, events) = events_of("web_search", ToolKind::Search, json!({"query": "q"}), "x");
    assert_eq!(
        (&kind[..], names(&events)),
        ("web_search", vec!["tool.web_search.requested".into(), "tool.web_search.response".into()])
    );
    let (kind, events) = events_of("bash", ToolKind::Shell, json!({"command": ["ls", "-l"], "cwd": "/w"}), "");
    assert_eq!((&kind[..], &events[0].1["argv"], &events[0].1["cwd"]), ("shell", &json!(["ls", "-l"]), &json!("/w")));
    let (_, events) = events_of("BashOutput", ToolKind::Shell, json!({"bash_id": "1"}), "");
    assert_eq!(names(&events), ["tool.shell.exited"], "no command, no such event");
    for (kind, word) in [
        (ToolKind::Write, "file_write"),
        (ToolKind::Edit, "edit"),
        (ToolKind::Subagent, "subagent"),
        (ToolKind::Other, "other"),
    ] {
        assert_eq!(events_of("t", kind, empty(), "x"), (word.to_owned(), vec![]));
    }
    let mut run = Run::core().in_turn();
    run.encode(started(call("c", "mcp__files__read", ToolKind::Mcp, &empty())));
    let over = run.one("tool.completed", exited("c", 0));
    assert_eq!(
        (&over["mcp_server"], &over["mcp_tool"], &over["result"]),
        (&json!("files"), &json!("read"), &json!("dispatched"))
    );
}

#[test]
fn an_unfinished_call_has_a_reason() {
    let mut run = Run::core().in_turn();
    for (error, kind) in [
        ("timeout", "tool.timed_out"),
        ("Command timed out after 2m", "tool.timed_out"),
        ("the run ended before the tool did", "tool.failed"),
    ] {
        run.encode(started(call(error, "bash", ToolKind::Shell, &empty())));
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
        run.encode(started(call("c", "bash", ToolKind::Shell, &json!({"command": "rm -rf x"}))));
        assert_eq!(
            run.one("approval.requested", asked("a", "c")),
            json!({"approval_id": "a", "tool_call_id": "c", "kind": "bash", "summary": "rm -rf x"})
        );
        run.now_ms += 300_999;
        let events = run.encode(answered("a", decision, by));
        assert_eq!(events.iter().map(|(kind, _)| &kind[..]).collect::<Vec<_>>(), event, "{decision:?} {by:?}");
        if decision == Decision::TimedOut {
            assert_eq!(events[0].1, json!({"approval_id": "a", "after_seconds": 300}));
        }
        run.one(end, refused("c", "declined"));
    }
    // The request may arrive before the call starts, or belong to no call.
    let mut run = Run::core().in_turn();
    run.encode(Body::ToolCallProposed(Box::new(call("c", "bash", ToolKind::Shell, &empty()))));
    assert_eq!(run.one("approval.requested", asked("a", "c"))["tool_call_id"], "c");
}

#[test]
fn a_call_is_proposed_before_a_person_is_asked_about_it() {
    // The runner asks first: the call keeps the id of the proposal.
    let mut run = Run::core().in_turn();
    let events = run.encode(asked("a", "c"));
    let call_id = events[0].1["tool_call_id"].clone();
    let proposed =
        json!({"turn_index": 0, "tool_call_id": call_id, "tool_name": "bash", "input": {"command": "rm -rf x"}});
    let request = json!({"approval_id": "a", "tool_call_id": call_id, "kind": "bash", "summary": "rm -rf x"});
    assert_eq!(events, data(&[("assistant.tool_call_proposed", proposed), ("approval.requested", request)]));
    let inner = call("c", "bash", ToolKind::Shell, &empty());
    assert_eq!(run.encode(Body::ToolCallProposed(Box::new(inner.clone()))), [], "it was proposed");
    assert_eq!(run.one("approval.requested", asked("b", "c"))["tool_call_id"], call_id);
    assert!(run.encode(started(inner)).iter().all(|(_, data)| data["tool_call_id"] == call_id));
    assert!(run.encode(exited("c", 0)).iter().all(|(_, data)| data["tool_call_id"] == call_id));
    assert_eq!(run.one("turn.completed", turn_ended(0, None))["tool_calls"], 1);
    // A request without a call becomes a separate call.
    let mut run = Run::core().in_turn();
    let Body::ApprovalRequested(mut question) = asked("q", "c") else { panic!() };
    question.tool_id = None;
    let events = run.encode(Body::ApprovalRequested(question));
    assert_eq!(
        events.iter().map(|(kind, _)| &kind[..]).collect::<Vec<_>>(),
        ["assistant.tool_call_proposed", "approval.requested"]
    );
    assert!(events.iter().all(|(_, data)| data["tool_call_id"] == "q"));
    // A subagent's proposals are left out, except those that need approval.
    run.parent = Some(uuid(9));
    assert_eq!(run.encode(Body::ToolCallProposed(Box::new(call("s", "bash", ToolKind::Shell, &empty())))), []);
    let events = run.encode(asked("d", "s"));
    assert_eq!(
        events.iter().map(|(kind, _)| &kind[..]).collect::<Vec<_>>(),
        ["assistant.tool_call_proposed", "approval.requested"]
    );
    assert!(events.iter().all(|(_, data)| data["tool_call_id"] == "s"));
}

#[test]
fn a_plan_belongs_to_its_call_or_is_a_call_itself() {
    let entry = PlanEntry { content: "x".to_owned(), status: SharedStr::from("pending"), priority: None };
    let plan = || Body::PlanUpdated { entries: vec![entry.clone()] };
    let mut run = Run::core().in_turn();
    run.encode(started(call("c", "TodoWrite", ToolKind::Plan, &empty())));
    assert_eq!(
        run.one("tool.todo_write.updated", plan()),
        json!({"tool_call_id": "c", "tool_name": "TodoWrite", "todos": [{"content": "x", "status": "pending"}]})
    );
    run.encode(exited("c", 0));
    let (one, two) = (run.encode(plan()), run.encode(plan()));
    assert_eq!(
        one.iter().map(|(kind, _)| &kind[..]).collect::<Vec<_>>(),
        ["tool.invoked", "tool.started", "tool.todo_write.updated", "tool.completed"]
    );
    assert_ne!(one[0].1["tool_call_id"], two[0].1["tool_call_id"]);
    run.parent = Some(uuid(9));
    assert_eq!(run.encode(plan()), [], "a subagent's plan is its own");
}

#[test]
fn only_the_tools_of_a_subagent_are_emitted() {
    let mut run = Run::core().in_turn();
    run.encode(started(call("outer", "Task", ToolKind::Subagent, &empty())));
    run.parent = Some(tool("outer").id);
    assert_eq!(run.encode(text_delta("m", 0, "x")), []);
    assert_eq!(run.encode(Body::OutputTextCompleted(block("m", 0, "x"))), []);
    let inner = call("inner", "bash", ToolKind::Shell, &json!({"command": "ls"}));
    assert_eq!(run.encode(Body::ToolCallProposed(Box::new(inner.clone()))), []);
    assert_eq!(run.encode(started(inner))[0].1["parent_tool_call_id"], "outer");
    assert_eq!(run.one("approval.requested", asked("a", "inner"))["tool_call_id"], "inner");
}

#[test]
fn edits_are_emitted_if_artifacts_are_requested() {
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
    let events_of = |mut run: Run, changes: Vec<Body>| {
        run = run.in_turn();
        run.encode(started(call("c", "Edit", ToolKind::Edit, &empty())));
        for change in changes {
            assert_eq!(run.encode(change), []);
        }
        run.encode(exited("c", 0))
    };
    let names = |events: &[(String, Value)]| events.iter().map(|(kind, _)| kind.clone()).collect::<Vec<_>>();
    let modify = || changed("f", FileChangeKind::Modify, Some(diff));
    let one = events_of(Run::experimental(), vec![modify()]);
    assert_eq!(names(&one), ["artifact.created", "tool.edit.proposed", "tool.edit.applied", "tool.completed"]);
    assert_eq!((&one[0].1["summary"], &one[0].1["size_bytes"]), (&json!("f: 1 hunk, +2/-1"), &json!(diff.len())));
    assert_eq!(one[0].1["artifact_id"], one[1].1["patch_artifact_id"]);
    let new = events_of(Run::experimental(), vec![changed("n", FileChangeKind::Add, None)]);
    assert_eq!(names(&new), ["tool.file_write.proposed", "tool.edit.applied", "tool.completed"]);
    let two = events_of(Run::experimental(), vec![modify(), changed("g", FileChangeKind::Delete, None)]);
    assert_eq!(
        names(&two),
        ["artifact.created", "tool.multi_edit.proposed", "tool.multi_edit.applied", "tool.completed"]
    );
    assert_eq!(two[1].1["paths"], json!(["f", "g"]));
    assert_eq!(two[1].1["auto_apply"], true);
    assert_eq!(names(&events_of(Run::core(), vec![modify()])), ["tool.completed"]);
    // An edit that needed approval is not auto-applied.
    let mut run = Run::experimental().in_turn();
    run.encode(started(call("c", "Edit", ToolKind::Edit, &empty())));
    run.encode(asked("a", "c"));
    run.encode(answered("a", Decision::Approved, None));
    run.encode(modify());
    assert_eq!(run.encode(exited("c", 0))[1].1["auto_apply"], false);
}

#[test]
fn every_terminal_event_has_a_summary() {
    let one = |kind: ToolKind, args: Value, end: Body| {
        let mut run = Run::core().in_turn();
        run.encode(started(call("c", "tool", kind, &args)));
        run.encode(end)
            .into_iter()
            .find(|(kind, _)| kind.starts_with("tool.") && kind.matches('.').count() == 1)
            .unwrap()
    };
    let file = |path: &str| json!({"path": path, "kind": "add"});
    for (kind, args, end, event, summary) in [
        (ToolKind::Edit, json!({"file_path": "a.txt"}), exited("c", 0), "tool.completed", "completed: a.txt"),
        (ToolKind::Edit, json!({"files": [file("a")]}), exited("c", 0), "tool.completed", "completed: a"),
        (
            ToolKind::Edit,
            json!({"files": [file("a"), file("b")]}),
            exited("c", 1),
            "tool.failed",
            "failed: a and 1 more",
        ),
        (ToolKind::Fetch, json!({"query": "x\ny"}), exited("c", 0), "tool.completed", "completed: x"),
        (ToolKind::Other, json!({}), exited("c", 0), "tool.completed", "completed"),
        (ToolKind::Other, json!({}), refused("c", ""), "tool.failed", "failed"),
        (ToolKind::Shell, json!({"command": "x"}), exited("c", 3), "tool.failed", "exited with status 3"),
    ] {
        let (event_type, data) = one(kind, args, end);
        assert_eq!((event_type.as_str(), &data["summary"]), (event, &json!(summary)));
    }
}

#[test]
fn calls_of_the_last_256_subagents_name_the_call_that_started_them() {
    let mut run = Run::core().in_turn();
    let agent = |nth: u32| format!("agent-{nth:03}");
    let invoked = |run: &mut Run, nth: u32, of: &str| {
        run.parent = Some(tool(&agent(nth)).id);
        let events = run.encode(started(call(of, "bash", ToolKind::Shell, &json!({"command": "x"}))));
        run.parent = None;
        assert_eq!(events[0].0, "tool.invoked");
        events[0].1["parent_tool_call_id"].clone()
    };
    for nth in 0..257 {
        run.encode(started(call(&agent(nth), "Task", ToolKind::Subagent, &json!({}))));
        run.encode(exited(&agent(nth), 0));
    }
    assert_eq!(invoked(&mut run, 0, "a"), Value::Null);
    assert_eq!(invoked(&mut run, 1, "b"), json!(agent(1)));
    assert_eq!(invoked(&mut run, 256, "c"), json!(agent(256)));
}
