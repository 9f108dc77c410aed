//! Rollout files.

use super::*;

const META: &str =
    r#"{"type":"session_meta","payload":{"id":"01a1ffca-0000-7000-8000-000000000002","cwd":"/w"ORIGIN}}"#;

fn meta(origin: &str) -> String {
    META.replace("ORIGIN", origin)
}

fn event(payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-11-21T20:26:02.295Z","type":"event_msg","payload":{payload}}}"#)
}

fn api(payload: &str) -> String {
    format!(r#"{{"timestamp":"2026-11-21T20:26:02.295Z","type":"response_item","payload":{payload}}}"#)
}

#[test]
fn a_copied_history_is_not_repeated() {
    let origin = r#","forked_from_id":"01a1ffca-0000-7000-8000-000000000001""#;
    let start = |turn: &str| event(&format!(r#"{{"type":"task_started","turn_id":"{turn}"}}"#));
    let stop =
        |turn: &str| event(&format!(r#"{{"type":"task_complete","turn_id":"{turn}","last_agent_message":null}}"#));
    let (old, new) = ("01a1ffca-0000-7000-8000-0000000000a1", "01a1ffcb-0000-7000-8000-0000000000a2");
    let old = old.replace("01a1ffca", "01a1ffc9");
    let lines = [
        meta(origin),
        r#"{"type":"session_meta","payload":{"id":"01a1ffca-0000-7000-8000-000000000001"}}"#.to_owned(),
        start(&old),
        event(r#"{"type":"user_message","message":"before"}"#),
        event(r#"{"type":"agent_message","message":"old answer"}"#),
        stop(&old),
        start(new),
        event(r#"{"type":"user_message","message":"now"}"#),
        event(r#"{"type":"agent_message","message":"new answer"}"#),
        stop(new),
    ];
    check(
        &refs(&lines),
        &["session_started ", "user_message now", "output_text_completed new answer", "session_ended completed"],
    );
}

#[test]
fn a_message_recorded_by_both_families_is_emitted_once() {
    let item = r#"{"type":"item_completed","turn_id":"1","item":{"type":"AgentMessage","id":"m","content":[{"type":"Text","text":"Hi"}]}}"#;
    for mode in ["paginated", "legacy"] {
        let lines = [
            meta(&format!(r#","history_mode":"{mode}""#)),
            event(r#"{"type":"task_started","turn_id":"1"}"#),
            event(item),
            event(r#"{"type":"agent_message","message":"Hi"}"#),
            api(r#"{"type":"message","role":"assistant","id":"m","content":[{"type":"output_text","text":"Hi"}]}"#),
            event(r#"{"type":"task_complete","turn_id":"1","last_agent_message":"Hi"}"#),
        ];
        check(&refs(&lines), &["session_started ", "output_text_completed Hi", "session_ended completed"]);
    }
}

#[test]
fn zeros_do_not_reset_a_total() {
    let turn = |input: u64| {
        let used = format!(r#"{{"input_tokens":{input},"cached_input_tokens":0,"output_tokens":{}}}"#, input / 10);
        [
            r#"{"type":"thread.started","thread_id":"t"}"#.to_owned(),
            r#"{"type":"turn.started"}"#.to_owned(),
            format!(r#"{{"type":"turn.completed","usage":{used}}}"#),
        ]
    };
    let lines = [turn(100), turn(0), turn(150)].concat();
    let figures: Vec<_> =
        brief(&frames_of(&refs(&lines))).into_iter().filter(|text| text.starts_with("usage")).collect();
    assert_eq!(figures, ["usage_reported run 100 10", "usage_reported run 50 5"]);
}

fn call(id: &str, name: &str, args: &str) -> String {
    api(&format!(r#"{{"type":"function_call","name":"{name}","arguments":{args:?},"call_id":"{id}"}}"#))
}

fn output(id: &str, text: &str) -> String {
    api(&format!(r#"{{"type":"function_call_output","call_id":"{id}","output":{text:?}}}"#))
}

#[test]
fn calls_without_items_end_at_their_outputs() {
    let lines = [
        meta(""),
        event(r#"{"type":"task_started","turn_id":"1"}"#),
        call("c1", "exec_command", r#"{"cmd":"sleep 9"}"#),
        output("c1", "Wall time: 10.0 seconds\nProcess running with session ID 7\nOutput:\n"),
        call("c2", "write_stdin", r#"{"session_id":7,"chars":"x"}"#),
        output("c2", "Wall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nbye"),
        call("c3", "exec_command", "not json"),
        output("c3", "failed to parse function arguments: expected value"),
        call("c4", "no_such_tool", "{}"),
        output("c4", "unsupported call: no_such_tool"),
        event(r#"{"type":"turn_aborted","turn_id":"1","reason":"interrupted"}"#),
    ];
    check(
        &refs(&lines),
        &[
            "session_started ",
            r#"tool_started bash {"command":"sleep 9"}"#,
            r#"tool_started write_stdin {"chars":"x","session_id":7}"#,
            "tool_stdout bye",
            "tool_ended 0",
            "tool_stdout Wall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nbye",
            "tool_ended 0",
            "tool_started bash not json",
            "tool_failed failed to parse function arguments: expected value",
            "tool_started no_such_tool {}",
            "tool_failed unsupported call: no_such_tool",
            "session_ended interrupted interrupted",
        ],
    );
}

#[test]
fn a_file_without_turn_starts_has_one_run_per_prompt() {
    let lines = [
        meta(""),
        event(r#"{"type":"user_message","message":"one"}"#),
        event(r#"{"type":"agent_message","message":"first"}"#),
        event(r#"{"type":"user_message","message":"two"}"#),
    ];
    check(
        &refs(&lines),
        &[
            "session_started ",
            "user_message one",
            "output_text_completed first",
            "session_ended completed",
            "session_started ",
            "user_message two",
            "session_ended interrupted stream_ended",
        ],
    );
}

#[test]
fn a_command_that_outlives_its_call_ends_with_all_of_its_output() {
    let start = event(r#"{"type":"task_started","turn_id":"1"}"#);
    let running = |text: &str| format!("Process running with session ID 7\nOutput:\n{text}");
    let write = |id: &str| call(id, "write_stdin", r#"{"session_id":7,"chars":""}"#);
    let lines = [
        meta(""),
        start.clone(),
        call("c1", "exec_command", r#"{"cmd":"make"}"#),
        output("c1", &running("one\n")),
        write("c2"),
        output("c2", &running("two\n")),
        write("c3"),
        output("c3", "Process exited with code 3\nOutput:\nthree\n"),
    ];
    let frames = frames_of(&refs(&lines));
    let id = frames.iter().find(|frame| frame["type"] == "tool_started").unwrap()["tool_id"].clone();
    let of_command: Vec<_> = frames.iter().filter(|frame| frame["tool_id"] == id).cloned().collect();
    assert_eq!(
        brief(&of_command),
        [r#"tool_started bash {"command":"make"}"#, "tool_stdout one\ntwo\nthree\n", "tool_ended 3"]
    );
    let stopped = event(r#"{"type":"turn_aborted","turn_id":"1","reason":"interrupted"}"#);
    check(
        &refs(&[meta(""), start, lines[2].clone(), lines[3].clone(), stopped]),
        &[
            "session_started ",
            r#"tool_started bash {"command":"make"}"#,
            "tool_stdout one\n",
            "tool_failed the run was interrupted before the tool ended",
            "session_ended interrupted interrupted",
        ],
    );
}

#[test]
fn outputs_of_older_versions_are_documents() {
    let document = |text: &str, code: u8| {
        let text = text.replace('\n', "\\n");
        format!(r#"{{"output":"{text}","metadata":{{"exit_code":{code},"duration_seconds":0.5}}}}"#)
    };
    let patch = "*** Begin Patch\\n*** Add File: n.txt\\n+x\\n*** End Patch";
    let lines = [
        meta(""),
        event(r#"{"type":"task_started","turn_id":"1"}"#),
        call("c1", "shell", r#"{"command":["bash","-lc","ls"]}"#),
        output("c1", &document("a\n", 0)),
        call("c2", "shell", r#"{"command":["bash","-lc","false"]}"#),
        output("c2", &document("", 1)),
        call("c3", "shell", &format!(r#"{{"command":["apply_patch","{patch}"]}}"#)),
        output("c3", &document("Success.\n", 0)),
        event(r#"{"type":"task_complete","turn_id":"1","last_agent_message":null}"#),
    ];
    check(
        &refs(&lines),
        &[
            "session_started ",
            r#"tool_started bash {"command":"ls"}"#,
            "tool_stdout a\n",
            "tool_ended 0",
            r#"tool_started bash {"command":"false"}"#,
            "tool_ended 1",
            r#"tool_started file_change {"files":[{"kind":"add","path":"/w/n.txt"}],"status":"in_progress"}"#,
            "file_changed /w/n.txt add",
            "tool_stdout Success.\n",
            "tool_ended 0",
            "session_ended completed",
        ],
    );
}

#[test]
fn reasoning_without_an_id_is_a_block_of_its_own() {
    let reasoning = |text: &str| {
        api(&format!(
            r#"{{"type":"reasoning","summary":[{{"type":"summary_text","text":"{text}"}}],"encrypted_content":"x"}}"#
        ))
    };
    let lines = [
        meta(""),
        event(r#"{"type":"user_message","message":"Go"}"#),
        reasoning("one"),
        reasoning("two"),
        event(r#"{"type":"agent_message","message":"Hi"}"#),
    ];
    let frames = frames_of(&refs(&lines));
    let blocks: Vec<_> = frames.iter().filter(|frame| frame["type"] == "reasoning_completed").collect();
    assert_eq!(blocks.iter().map(|block| block["text"].as_str().unwrap()).collect::<Vec<_>>(), ["one", "two"]);
    let mut ids: Vec<_> = frames.iter().filter_map(|frame| frame["message_id"].as_str()).collect();
    assert!(ids.iter().all(|id| !id.is_empty()), "{ids:?}");
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "{ids:?}");
}

#[test]
fn a_text_of_a_legacy_file_belongs_to_the_call_that_said_it() {
    let lines = [
        meta(r#","history_mode":"legacy""#),
        event(r#"{"type":"task_started","turn_id":"t"}"#),
        api(r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"go"}]}"#),
        event(r#"{"type":"user_message","message":"go"}"#),
        event(r#"{"type":"agent_message","message":"done"}"#),
        api(r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]}"#),
        event(r#"{"type":"task_complete","turn_id":"t","last_agent_message":"done"}"#),
    ];
    let frames = frames_of(&refs(&lines));
    let kinds: Vec<&str> = frames.iter().map(|frame| frame["type"].as_str().unwrap()).collect();
    let at = |kind: &str| kinds.iter().position(|one| *one == kind).unwrap();
    assert!(at("turn_started") < at("output_text_completed"), "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| **kind == "turn_started").count(), 1, "{kinds:?}");
}

#[test]
fn a_compaction_that_is_a_line_and_an_event_is_one() {
    let compacted = r#"{"timestamp":"2026-11-21T20:26:02.295Z","type":"compacted","payload":{"message":"so far"}}"#;
    let event_of_it = event(r#"{"type":"context_compacted"}"#);
    let count = |records: &[&str]| {
        let begin = [meta(""), event(r#"{"type":"task_started","turn_id":"t"}"#)];
        let lines: Vec<&str> = begin.iter().map(String::as_str).chain(records.iter().copied()).collect();
        frames_of(&lines).iter().filter(|frame| frame["type"] == "history_compacted").count()
    };
    assert_eq!(count(&[compacted, &event_of_it]), 1);
    assert_eq!(count(&[compacted, &event_of_it, compacted, &event_of_it]), 2);
    assert_eq!(count(&[&event_of_it, &event_of_it, compacted]), 2);
}

#[test]
fn outputs_and_notices_name_the_agents_of_a_file_without_items() {
    let call = |id: &str, name: &str, args: &str| {
        api(&format!(
            r#"{{"type":"function_call","name":"{name}","namespace":"multi_agent_v1","arguments":{args:?},"call_id":"{id}"}}"#
        ))
    };
    let output =
        |id: &str, text: &str| api(&format!(r#"{{"type":"function_call_output","call_id":"{id}","output":{text:?}}}"#));
    let notice = |agent: &str| {
        let text = format!(
            "<subagent_notification>\n{{\"agent_path\":\"{agent}\",\"status\":{{\"errored\":\"boom\"}}}}\n</subagent_notification>"
        );
        api(&format!(r#"{{"type":"message","role":"user","content":[{{"type":"input_text","text":{text:?}}}]}}"#))
    };
    let lines = [
        meta(r#","history_mode":"legacy""#),
        event(r#"{"type":"task_started","turn_id":"t"}"#),
        call("c1", "spawn_agent", r#"{"message":"say pong"}"#),
        call("c2", "spawn_agent", r#"{"message":"fail"}"#),
        call("c3", "spawn_agent", r#"{"message":"too many"}"#),
        output("c2", r#"{"agent_id":"agent-2","nickname":"Ada"}"#),
        output("c1", r#"{"agent_id":"agent-1"}"#),
        output("c3", "collab spawn failed: agent thread limit reached"),
        call("c4", "wait_agent", r#"{"targets":["agent-1"]}"#),
        output("c4", r#"{"status":{"agent-1":{"completed":"pong"},"stranger":"shutdown"},"timed_out":false}"#),
        notice("agent-1"),
        notice("agent-2"),
        notice("agent-3"),
        event(r#"{"type":"task_complete","turn_id":"t","last_agent_message":null}"#),
    ];
    let frames = frames_of(&refs(&lines));
    let of = |kind: &str| frames.iter().filter(|frame| frame["type"] == kind).collect::<Vec<_>>();
    let tool = |call: &str| &of("tool_started").into_iter().find(|frame| frame["call_id"] == call).unwrap()["tool_id"];
    let started = of("subagent_started");
    assert_eq!(started.len(), 2, "{started:?}");
    assert_eq!((&started[0]["agent"], &started[0]["task"]), (&"Ada".into(), &"fail".into()));
    assert_eq!((&started[0]["tool_id"], &started[1]["tool_id"]), (tool("c2"), tool("c1")));
    assert_eq!((&started[1]["agent"], &started[1]["task"]), (&serde_json::Value::Null, &"say pong".into()));
    let ended = of("subagent_ended");
    let ends: Vec<_> =
        ended.iter().map(|end| (end["status"].as_str().unwrap(), end["summary"].as_str().unwrap())).collect();
    assert_eq!(ends, [("completed", "pong"), ("failed", "boom")]);
    let failed: Vec<_> = of("tool_ended").into_iter().filter(|end| end["exit_code"] == 1).collect();
    assert_eq!(failed.len(), 1, "{frames:?}");
}

#[test]
fn counts_that_begin_again_beside_records_that_do_not_are_no_usage() {
    let tokens = |input: u64, output: u64| {
        format!(r#"{{"input_tokens":{input},"cached_input_tokens":0,"output_tokens":{output}}}"#)
    };
    let record = |total: String, call: String| {
        format!(
            r#"{{"timestamp":"2026-11-21T20:26:02.295Z","type":"token_usage_record","payload":{{"usage":{call},"thread_token_usage":{total}}}}}"#
        )
    };
    let count = |total: String, call: String| {
        event(&format!(r#"{{"type":"token_count","info":{{"total_token_usage":{total},"last_token_usage":{call}}}}}"#))
    };
    let start = |turn: &str| event(&format!(r#"{{"type":"task_started","turn_id":"{turn}"}}"#));
    let end =
        |turn: &str| event(&format!(r#"{{"type":"task_complete","turn_id":"{turn}","last_agent_message":null}}"#));
    let lines = [
        meta(""),
        start("t1"),
        record(tokens(1000, 50), tokens(1000, 50)),
        count(tokens(1000, 50), tokens(1000, 50)),
        end("t1"),
        start("t2"),
        // The context is full: the count is that of the window, without parts.
        count(tokens(0, 0), tokens(0, 0)),
        end("t2"),
        start("t3"),
        record(tokens(1100, 60), tokens(100, 10)),
        count(tokens(100, 10), tokens(100, 10)),
        end("t3"),
    ];
    let frames = frames_of(&refs(&lines));
    let of_runs = frames.iter().filter(|frame| frame["type"] == "usage_reported" && frame["scope"] == "run");
    let totals: Vec<_> =
        of_runs.map(|frame| (frame["input_tokens"].as_u64(), frame["output_tokens"].as_u64())).collect();
    assert_eq!(totals, [(Some(1000), Some(50)), (Some(100), Some(10))]);
}
